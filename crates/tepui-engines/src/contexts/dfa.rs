//! Minimal deterministic automata for sets of stacks, in a canonical form.
//!
//! Every word ends with the marker of the empty stack and holds it nowhere else, so acceptance is an edge that reads
//! the marker and leads nowhere, and a state is determined by its other edges. Automata here are deterministic, every
//! state leads to acceptance, no two states accept the same words, and states are numbered breadth first from the
//! start: two sets of stacks are equal iff their automata are, number by number.

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::post_star::{FINAL, PostStar};

/// What a state can read: a symbol and the state after it, `None` at the end of the stack. Sorted by symbol.
type Edges = Vec<(Symbol, Option<u32>)>;

/// A set of stacks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dfa {
    states: Vec<Edges>,
}

impl Dfa {
    /// The number of the start state.
    pub const START: u32 = 0;

    /// The set of a single stack, given top first with the marker at the end.
    pub fn single(stack: &[Symbol]) -> Self {
        let last = stack.len() - 1;
        let next = |position: usize| (position < last).then_some(position as u32 + 1);
        Self { states: stack.iter().enumerate().map(|(position, &symbol)| vec![(symbol, next(position))]).collect() }
    }

    /// The number of states.
    pub fn size(&self) -> usize {
        self.states.len()
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.states.iter().map(Vec::len).sum()
    }

    /// The edges that leave a state.
    pub fn edges(&self, state: u32) -> impl Iterator<Item = (Symbol, Option<u32>)> + '_ {
        self.states[state as usize].iter().copied()
    }

    /// The symbols that lie on top of stacks of the set.
    pub fn tops(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.edges(Self::START).map(|(symbol, _)| symbol)
    }

    /// Whether every stack of this set is in the other.
    pub fn included_in(&self, other: &Self, budget: &mut Budget) -> Result<bool, Stop> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work = vec![(Self::START, Self::START)];
        while let Some((mine, theirs)) = work.pop() {
            if !seen.insert((mine, theirs)) {
                continue;
            }
            budget.pass(1)?;
            for (symbol, to) in self.edges(mine) {
                let edges = &other.states[theirs as usize];
                let Ok(found) = edges.binary_search_by_key(&symbol, |edge| edge.0) else { return Ok(false) };
                // Both lead on or both end: the marker ends a stack, and nothing else does.
                work.extend(to.zip(edges[found].1));
            }
        }
        Ok(true)
    }

    /// A shortest stack of the set with a given top.
    pub fn shortest(&self, top: Symbol) -> Option<Vec<Symbol>> {
        let first = self.edges(Self::START).find(|edge| edge.0 == top)?;
        let mut paths = std::collections::VecDeque::from([(first.1, vec![top])]);
        let mut seen = vec![false; self.size()];
        while let Some((state, path)) = paths.pop_front() {
            let Some(state) = state else { return Some(path) };
            if !std::mem::replace(&mut seen[state as usize], true) {
                let extend = |(symbol, to)| (to, path.iter().copied().chain([symbol]).collect());
                paths.extend(self.edges(state).map(extend));
            }
        }
        None
    }
}

/// The stacks that a saturated automaton accepts with each shared state, as minimal automata.
pub fn split(automaton: &PostStar, budget: &mut Budget) -> Result<Vec<(u32, Dfa)>, Stop> {
    let mut subsets = Subsets::default();
    let starts: Vec<_> =
        automaton.controls().into_iter().map(|(shared, node)| (shared, subsets.number(vec![node]))).collect();
    let mut next = 0;
    while next < subsets.sets.len() {
        let edges = subsets.expand(automaton, next, budget)?;
        subsets.edges.push(edges);
        next += 1;
    }
    let class = minimize(&subsets.edges, budget)?;
    let part = |(shared, start)| {
        let dfa = canonical(&subsets.edges, &class, start);
        budget.pass(dfa.size() as u64)?;
        Ok((shared, dfa))
    };
    starts.into_iter().map(part).collect()
}

/// The subset construction.
#[derive(Default)]
struct Subsets {
    numbers: FxHashMap<Vec<u32>, u32>,
    sets: Vec<Vec<u32>>,
    edges: Vec<Edges>,
}

impl Subsets {
    fn number(&mut self, set: Vec<u32>) -> u32 {
        let next = self.sets.len() as u32;
        let number = *self.numbers.entry(set.clone()).or_insert(next);
        if number == next {
            self.sets.push(set);
        }
        number
    }

    fn expand(&mut self, automaton: &PostStar, subset: usize, budget: &mut Budget) -> Result<Edges, Stop> {
        let mut targets: Vec<_> = self.sets[subset].iter().flat_map(|&node| automaton.edges(node)).collect();
        budget.spend(targets.len() as u64 + 1)?;
        targets.sort_unstable();
        targets.dedup();
        let groups = targets.chunk_by(|one, other| one.0 == other.0);
        let edge = |group: &[(Symbol, u32)]| {
            let set: Vec<_> = group.iter().map(|&(_, node)| node).collect();
            (group[0].0, if set == [FINAL] { None } else { Some(self.number(set)) })
        };
        Ok(groups.map(edge).collect())
    }
}

/// Numbers the states by the words they accept: partition refinement, from all states equal, until nothing changes.
fn minimize(states: &[Edges], budget: &mut Budget) -> Result<Vec<u32>, Stop> {
    let mut class = vec![0; states.len()];
    let mut count = 1;
    loop {
        let mut signatures: FxHashMap<(u32, Edges), u32> = FxHashMap::default();
        let mut refined = Vec::with_capacity(states.len());
        for (state, edges) in states.iter().enumerate() {
            budget.spend(1)?;
            let edges = edges.iter().map(|&(symbol, to)| (symbol, to.map(|to| class[to as usize]))).collect();
            let next = signatures.len() as u32;
            refined.push(*signatures.entry((class[state], edges)).or_insert(next));
        }
        if signatures.len() == count {
            return Ok(refined);
        }
        (class, count) = (refined, signatures.len());
    }
}

/// The part of a minimized automaton that a start state reaches, numbered breadth first.
fn canonical(states: &[Edges], class: &[u32], start: u32) -> Dfa {
    let mut number: FxHashMap<u32, u32> = FxHashMap::from_iter([(class[start as usize], 0)]);
    let mut order = vec![start];
    let mut dfa = Dfa { states: Vec::new() };
    while let Some(&state) = order.get(dfa.states.len()) {
        let edge = |&(symbol, to): &(Symbol, Option<u32>)| {
            let to = to.map(|to| {
                let next = order.len() as u32;
                let number = *number.entry(class[to as usize]).or_insert(next);
                if number == next {
                    order.push(to);
                }
                number
            });
            (symbol, to)
        };
        let edges = states[state as usize].iter().map(edge).collect();
        dfa.states.push(edges);
    }
    dfa
}
