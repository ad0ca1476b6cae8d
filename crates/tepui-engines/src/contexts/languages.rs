//! The symbolic representation: a local is a regular set of stacks.
//!
//! Sets are minimal automata in canonical form, interned, so a set is one number and equal sets have equal numbers.
//! What a context makes of a shared state and a set is a post* computation; it depends on nothing else, so it is done
//! once and remembered, however many states it occurs in. A state is subsumed by another with the same shared state
//! if each of its sets is included in the other's; inclusion of two sets is remembered as well. Stored states form a
//! tree with one level for each thread, so that looking for one that subsumes another follows only branches whose
//! sets are large enough.

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::dfa::{Dfa, split};
use super::post_star::PostStar;
use crate::interner::Interner;
use crate::pushdown::compiled::{Compiled, Kind};
use crate::pushdown::system::Locals;

/// The sets of stacks of all kinds of threads.
pub struct Languages {
    kinds: Vec<KindLanguages>,
    /// The rows that were stored, as trees; for each shared state the root of one.
    roots: FxHashMap<u32, u32>,
    /// For each node of a tree, the sets that the next thread has, each with the node below.
    branches: Vec<Vec<(u32, u32)>>,
}

#[derive(Default)]
struct KindLanguages {
    sets: Interner<Dfa>,
    tops: Vec<Vec<u32>>,
    contexts: FxHashMap<(u32, u32), Vec<(u32, u32)>>,
    included: FxHashMap<(u32, u32), bool>,
}

impl Languages {
    /// No sets yet.
    pub fn new(compiled: &Compiled) -> Self {
        Self {
            kinds: compiled.kinds.iter().map(|_| KindLanguages::default()).collect(),
            roots: FxHashMap::default(),
            branches: Vec::new(),
        }
    }

    /// A set.
    pub fn set(&self, kind: usize, number: u32) -> &Dfa {
        &self.kinds[kind].sets[number]
    }

    fn new_node(&mut self) -> u32 {
        self.branches.push(Vec::new());
        self.branches.len() as u32 - 1
    }

    fn root(&mut self, shared: u32) -> u32 {
        if let Some(&root) = self.roots.get(&shared) {
            return root;
        }
        let root = self.new_node();
        self.roots.insert(shared, root);
        root
    }

    fn store(&mut self, row: &[u32]) {
        let mut node = self.root(row[0]);
        for &set in &row[1..] {
            let below = self.branches[node as usize].iter().find(|branch| branch.0 == set).map(|branch| branch.1);
            node = below.unwrap_or_else(|| {
                let new = self.new_node();
                self.branches[node as usize].push((set, new));
                new
            });
        }
    }
}

impl KindLanguages {
    fn intern(&mut self, set: Dfa) -> u32 {
        let number = self.sets.intern(set);
        if number as usize == self.tops.len() {
            self.tops.push(self.sets[number].tops().map(|symbol| symbol.0).collect());
        }
        number
    }

    fn includes(&mut self, large: u32, small: u32, budget: &mut Budget) -> Result<bool, Stop> {
        if large == small {
            return Ok(true);
        }
        if let Some(&known) = self.included.get(&(large, small)) {
            return Ok(known);
        }
        let included = self.sets[small].included_in(&self.sets[large], budget)?;
        self.included.insert((large, small), included);
        Ok(included)
    }
}

impl Locals for Languages {
    const WHOLE_CONTEXTS: bool = true;

    fn initial(&mut self, kind: usize, stack: &[Symbol]) -> u32 {
        self.kinds[kind].intern(Dfa::single(stack))
    }

    fn results(&self, kind: usize, from: (u32, u32)) -> Option<&[(u32, u32)]> {
        self.kinds[kind].contexts.get(&from).map(Vec::as_slice)
    }

    fn intern_results(&mut self, rules: &Kind, kind: usize, from: (u32, u32), budget: &mut Budget) -> Result<(), Stop> {
        let languages = &mut self.kinds[kind];
        let saturated = PostStar::new(rules, from.0, &languages.sets[from.1], budget)?;
        let images = split(&saturated, budget)?;
        let images = images.into_iter().map(|(shared, set)| (shared, languages.intern(set))).collect();
        languages.contexts.insert(from, images);
        Ok(())
    }

    fn tops(&self, kind: usize, set: u32) -> &[u32] {
        &self.kinds[kind].tops[set as usize]
    }

    fn covered(&mut self, compiled: &Compiled, row: &[u32], budget: &mut Budget) -> Result<bool, Stop> {
        let mut work = vec![(self.root(row[0]), 1)];
        while let Some((node, field)) = work.pop() {
            if field == row.len() {
                return Ok(true);
            }
            let languages = &mut self.kinds[compiled.kind_of[field - 1]];
            for &(set, below) in &self.branches[node as usize] {
                if languages.includes(set, row[field], budget)? {
                    work.push((below, field + 1));
                }
            }
            budget.spend(1)?;
        }
        self.store(row);
        Ok(false)
    }

    fn bytes(&self) -> u64 {
        let kind = |kind: &KindLanguages| {
            let edges: usize = kind.sets.iter().map(Dfa::edge_count).sum();
            // Each automaton is held twice, as a value and as a key; 16 is the size of an edge, 40 that of a memo entry.
            edges * 2 * 16 + (kind.contexts.values().map(Vec::len).sum::<usize>()) * 8 + kind.included.len() * 40
        };
        let branches: usize = self.branches.iter().map(|branches| branches.len() * 8 + 24).sum();
        (self.kinds.iter().map(kind).sum::<usize>() + branches) as u64
    }
}
