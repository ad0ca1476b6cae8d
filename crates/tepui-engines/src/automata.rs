//! Subset construction and minimisation, over any symbols.
//!
//! Words end with a symbol that occurs nowhere else in them. So acceptance is an edge that leads nowhere, and a state is
//! determined by its edges.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};

use crate::interner::Interner;

/// What a state can read: a symbol and the state after it, `None` at the end of a word. Sorted by symbol.
pub(crate) type Edges<T> = Vec<(T, Option<u32>)>;

/// The subset construction: the states that follow from some single nodes, and the numbers of these. `leaving` gives what
/// can be read from a node, and `end` is the node that words end in.
pub(crate) fn determinise<T: Copy + Ord, I: Iterator<Item = (T, u32)>>(
    starts: &[u32],
    leaving: impl Fn(u32) -> I,
    end: u32,
    budget: &mut Budget,
) -> Result<(Vec<u32>, Vec<Edges<T>>), Stop> {
    let mut subsets: Interner<Vec<u32>> = Interner::default();
    let starts = starts.iter().map(|&node| subsets.intern(vec![node])).collect();
    let mut states = Vec::new();
    while states.len() < subsets.len() {
        let mut targets: Vec<_> = subsets[states.len() as u32].iter().flat_map(|&node| leaving(node)).collect();
        budget.spend(targets.len() as u64 + 1)?;
        targets.sort_unstable();
        targets.dedup();
        let groups = targets.chunk_by(|one, other| one.0 == other.0);
        let edge = |group: &[(T, u32)]| {
            let set: Vec<_> = group.iter().map(|&(_, node)| node).collect();
            (group[0].0, if set == [end] { None } else { Some(subsets.intern(set)) })
        };
        states.push(groups.map(edge).collect());
    }
    Ok((starts, states))
}

/// Numbers the states by the words they accept: partition refinement, from all states equal, until nothing changes.
pub(crate) fn minimise<T: Copy + Eq + Hash>(states: &[Edges<T>], budget: &mut Budget) -> Result<Vec<u32>, Stop> {
    let mut class = vec![0; states.len()];
    let mut count = 1;
    loop {
        let mut signatures: FxHashMap<(u32, Edges<T>), u32> = FxHashMap::default();
        let mut refined = Vec::with_capacity(states.len());
        for (state, edges) in states.iter().enumerate() {
            budget.spend(1)?;
            let edges = edges.iter().map(|&(symbol, to)| (symbol, to.map(|to| class[to as usize]))).collect();
            let next = signatures.len() as u32;
            refined.push(*signatures.entry((class[state], edges)).or_insert(next));
        }
        debug_assert!(signatures.len() >= count || states.is_empty(), "classes are only ever split");
        if signatures.len() == count {
            return Ok(refined);
        }
        (class, count) = (refined, signatures.len());
    }
}

/// The part of an automaton that a start state reaches, with one state for each class, numbered breadth first.
pub fn canonical<T: Copy>(states: &[Edges<T>], class: &[u32], start: u32) -> Vec<Edges<T>> {
    let mut number: FxHashMap<u32, u32> = FxHashMap::from_iter([(class[start as usize], 0)]);
    let (mut order, mut reached) = (vec![start], Vec::new());
    while let Some(&state) = order.get(reached.len()) {
        let edge = |&(symbol, to): &(T, Option<u32>)| {
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
        reached.push(edges);
    }
    reached
}
