//! Minimal deterministic automata for sets of stacks, in a canonical form.
//!
//! Every word ends with the marker of the empty stack and holds it nowhere else, so acceptance is an edge that reads
//! the marker and leads nowhere, and a state is determined by its other edges. Automata here are deterministic, every
//! state leads to acceptance, no two states accept the same words, and states are numbered breadth first from the
//! start: two sets of stacks are equal iff their automata are, number by number.

use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::post_star::{FINAL, PostStar};
use crate::automata::{Edges, canonical, determinise, minimise};

/// A set of stacks.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dfa {
    states: Vec<Edges<Symbol>>,
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
    pub(crate) fn edge_count(&self) -> usize {
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
    let (shared, nodes): (Vec<_>, Vec<_>) = automaton.controls().into_iter().unzip();
    let (starts, states) = determinise(&nodes, |node| automaton.edges(node), FINAL, budget)?;
    let class = minimise(&states, budget)?;
    let part = |(shared, start)| {
        let dfa = Dfa { states: canonical(&states, &class, start) };
        budget.pass(dfa.size() as u64)?;
        Ok((shared, dfa))
    };
    shared.into_iter().zip(starts).map(part).collect()
}
