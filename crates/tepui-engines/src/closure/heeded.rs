//! Who is heeded where only some threads are explored.
//!
//! A thread is heeded at a node, which is a state or a view, if it is explored there or cannot move; or if a way leads from
//! there to nodes at each of which it is heeded. A way is a step; where it is not known what lies below a stack, a return is
//! one that may end in several nodes, and the thread has to be heeded at all of them.
//!
//! A thread that does not move may change places with others that are interchangeable, but keeps its local state. So it is
//! followed by that, and of equal ones the first stands for all.

use crate::components::components;
use crate::explored::{Chosen, is_explored};
use crate::ids::{ThreadId, Threads};
use crate::system::System;

/// A state or a view.
pub(super) struct Node<'a> {
    pub(super) row: Vec<u32>,
    /// Whether everybody may move there. While a thread must not be interrupted, nobody else could be explored: such a node
    /// is none where others are heeded.
    pub(super) open: bool,
    pub(super) explored: Chosen<'a>,
}

/// Nodes, and who is heeded there.
pub(super) struct Heeded<'a, S> {
    system: &'a S,
    nodes: &'a [Node<'a>],
    /// From where, and to which nodes.
    ways: &'a [(usize, Vec<usize>)],
    /// For each node the ways that may end there.
    into: Vec<Vec<usize>>,
    /// For each node and thread whether it is known to be heeded.
    heeded: Vec<Vec<bool>>,
}

impl<'a, S: System> Heeded<'a, S> {
    pub(super) fn new(system: &'a S, nodes: &'a [Node<'a>], ways: &'a [(usize, Vec<usize>)]) -> Self {
        let mut into = vec![Vec::new(); nodes.len()];
        for (number, (_, to)) in ways.iter().enumerate() {
            to.iter().for_each(|&node| into[node].push(number));
        }
        let heeded = nodes
            .iter()
            .map(|node| Threads::of(&node.row).map(|thread| node.open && is_explored(node.explored, thread)).collect());
        Self { system, nodes, ways, into, heeded: heeded.collect() }
    }

    /// The threads that are ignored although they can move, and the nodes where that is so.
    pub(super) fn ignored(mut self, can_move: impl Fn(usize, ThreadId) -> bool) -> Vec<(usize, ThreadId)> {
        self.spread((0..self.nodes.len()).collect());
        let (mut changed, mut missing) = (Vec::new(), Vec::new());
        for (place, node) in self.nodes.iter().enumerate().filter(|(_, node)| node.open) {
            for thread in Threads::of(&node.row) {
                let repeats = |other: &ThreadId| *other < thread && node.row[other.field()] == node.row[thread.field()];
                if alike(self.system, &thread).iter().any(repeats)
                    || self.is_heeded(place, thread, node.row[thread.field()])
                {
                    continue;
                }
                if can_move(place, thread) {
                    missing.push((place, thread));
                } else {
                    self.heeded[place][thread.index()] = true;
                    changed.push(place);
                }
            }
        }
        self.spread(changed);
        missing.retain(|&(place, thread)| !self.heeded[place][thread.index()]);
        missing
    }

    /// Whether a thread, or one like it with an equal local state, is heeded at a node.
    fn is_heeded(&self, node: usize, thread: ThreadId, local: u32) -> bool {
        let mut alike = alike(self.system, &thread).iter();
        alike.any(|other| self.heeded[node][other.index()] && self.nodes[node].row[other.field()] == local)
    }

    /// Carries what is known of some nodes back along ways.
    fn spread(&mut self, mut changed: Vec<usize>) {
        while let Some(node) = changed.pop() {
            for &number in &self.into[node] {
                let (from, to) = &self.ways[number];
                let row = &self.nodes[*from].row;
                let everywhere =
                    |thread: ThreadId| to.iter().all(|&node| self.is_heeded(node, thread, row[thread.field()]));
                let is_new = |thread: &ThreadId| !self.heeded[*from][thread.index()] && everywhere(*thread);
                let new: Vec<_> = Threads::of(row).filter(is_new).collect();
                new.iter().for_each(|thread| self.heeded[*from][thread.index()] = true);
                if !new.is_empty() {
                    changed.push(*from);
                }
            }
        }
    }
}

/// The threads that a thread is interchangeable with, itself included.
pub(super) fn alike<'a, S: System>(system: &'a S, thread: &'a ThreadId) -> &'a [ThreadId] {
    system.alike(*thread).unwrap_or(std::slice::from_ref(thread))
}

/// Of threads that are ignored at nodes those that are to be explored as well: in each part of the graph that leads to no
/// other where somebody is, the first thread at the first node.
pub(super) fn first_ignored(
    nodes: usize,
    ways: &[(usize, Vec<usize>)],
    mut ignored: Vec<(usize, ThreadId)>,
) -> Vec<(usize, ThreadId)> {
    let mut edges = vec![Vec::new(); nodes];
    ways.iter().for_each(|(from, to)| edges[*from].extend(to));
    let component = components(&edges);
    let count = component.iter().max().map_or(0, |last| last + 1);
    let mut first: Vec<Option<(usize, ThreadId)>> = vec![None; count];
    ignored.sort_unstable_by_key(|&(node, thread)| (thread, node));
    for (node, thread) in ignored {
        first[component[node]].get_or_insert((node, thread));
    }
    // A component has a greater number than those that it leads to.
    let mut members = vec![Vec::new(); count];
    component.iter().enumerate().for_each(|(node, &number)| members[number].push(node));
    let (mut bad, mut found) = (vec![false; count], Vec::new());
    for (own, members) in members.iter().enumerate() {
        let follow = members.iter().flat_map(|&node| &edges[node]).map(|&to| component[to]);
        let leads_to_bad = follow.filter(|&to| to != own).any(|to| bad[to]);
        bad[own] = leads_to_bad || first[own].is_some();
        found.extend(first[own].filter(|_| !leads_to_bad));
    }
    found
}
