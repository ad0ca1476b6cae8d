//! The symbolic representation: a local is a regular set of stacks.
//!
//! Sets are minimal automata in canonical form, interned, so a set is one number and equal sets have equal numbers. What
//! a context makes of a shared state and a set is a post* computation; it depends on nothing else, so it is done once and
//! remembered, however many states it occurs in. A state is subsumed by another with the same shared state if each of its
//! sets is included in the other's; inclusion of two sets is remembered as well.

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::dfa::{Dfa, split};
use super::post_star::PostStar;
use super::search::Locals;
use crate::pushdown::compiled::Compiled;

/// The sets of stacks of all kinds of threads.
pub struct Languages {
    kinds: Vec<KindLanguages>,
    /// The rows that were stored, by shared state.
    stored: FxHashMap<u32, Vec<Box<[u32]>>>,
}

#[derive(Default)]
struct KindLanguages {
    sets: Vec<Dfa>,
    tops: Vec<Vec<u32>>,
    numbers: FxHashMap<Dfa, u32>,
    contexts: FxHashMap<(u32, u32), Vec<(u32, u32)>>,
    included: FxHashMap<(u32, u32), bool>,
}

impl Languages {
    /// No sets yet.
    pub fn new(compiled: &Compiled) -> Self {
        Self { kinds: compiled.kinds.iter().map(|_| KindLanguages::default()).collect(), stored: FxHashMap::default() }
    }

    /// A set.
    pub fn set(&self, kind: usize, number: u32) -> &Dfa {
        &self.kinds[kind].sets[number as usize]
    }
}

impl KindLanguages {
    fn intern(&mut self, set: Dfa) -> u32 {
        if let Some(&number) = self.numbers.get(&set) {
            return number;
        }
        let number = self.sets.len() as u32;
        self.tops.push(set.tops().map(|symbol| symbol.0).collect());
        self.numbers.insert(set.clone(), number);
        self.sets.push(set);
        number
    }

    fn includes(&mut self, large: u32, small: u32) -> bool {
        let sets = &self.sets;
        large == small
            || *(self.included.entry((large, small)))
                .or_insert_with(|| sets[small as usize].included_in(&sets[large as usize]))
    }
}

impl Locals for Languages {
    const WHOLE_CONTEXTS: bool = true;

    fn initial(&mut self, kind: usize, stack: &[Symbol]) -> u32 {
        self.kinds[kind].intern(Dfa::single(stack))
    }

    fn successors(
        &mut self,
        compiled: &Compiled,
        kind: usize,
        from: (u32, u32),
        into: &mut Vec<(u32, u32)>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let languages = &mut self.kinds[kind];
        if !languages.contexts.contains_key(&from) {
            let saturated = PostStar::new(&compiled.kinds[kind], from.0, &languages.sets[from.1 as usize], budget)?;
            let images = split(&saturated, budget)?;
            let images = images.into_iter().map(|(shared, set)| (shared, languages.intern(set))).collect();
            languages.contexts.insert(from, images);
        }
        into.extend(&languages.contexts[&from]);
        Ok(())
    }

    fn tops(&self, kind: usize, set: u32) -> &[u32] {
        &self.kinds[kind].tops[set as usize]
    }

    fn covered(&mut self, compiled: &Compiled, row: &[u32]) -> bool {
        let stored = self.stored.entry(row[0]).or_default();
        let kinds = &mut self.kinds;
        let covers = |large: &[u32]| {
            (1..row.len()).all(|field| kinds[compiled.kind_of[field - 1]].includes(large[field], row[field]))
        };
        let covered = stored.iter().map(|large| &**large).any(covers);
        if !covered {
            stored.push(row.into());
        }
        covered
    }

    fn bytes(&self) -> u64 {
        let kind = |kind: &KindLanguages| {
            let edges: usize = kind.sets.iter().map(Dfa::edge_count).sum();
            // Each automaton is held twice, as a value and as a key; 16 is the size of an edge, 40 that of a memo entry.
            edges * 2 * 16 + (kind.contexts.values().map(Vec::len).sum::<usize>()) * 8 + kind.included.len() * 40
        };
        let rows: usize = self.stored.values().flatten().map(|row| row.len() * 4 + 16).sum();
        (self.kinds.iter().map(kind).sum::<usize>() + rows) as u64
    }
}
