//! What the queries see of one thread's stack while it grows and shrinks.
//!
//! Whether a stack is meant may depend on all of its symbols. But it is read from the bottom to the top, so it is enough
//! to know, for each symbol on the stack, where the automata are that have read what lies beneath: then the top
//! symbol decides. Where an automaton is matters only for what it reads next, so nodes that read alike count as one.

use super::{Control, LocalSet, Property, StackSet, Symbol};

/// Where each automaton is; none, if it can read nothing more.
pub type Nodes = Vec<Option<u32>>;

/// The automata of some properties that read the stacks of one thread.
#[derive(Clone, Debug)]
pub struct Observers<'a> {
    sets: Vec<&'a StackSet>,
}

impl<'a> Observers<'a> {
    /// Those of one thread.
    pub fn new(properties: impl IntoIterator<Item = &'a Property>, thread: usize) -> Self {
        let targets = properties.into_iter().flat_map(|property| &property.never);
        let mut sets: Vec<&StackSet> = Vec::new();
        for stacks in targets.filter_map(|target| target.locals[thread].as_ref()).flat_map(LocalSet::values) {
            if !sets.contains(&stacks) {
                sets.push(stacks);
            }
        }
        Self { sets }
    }

    /// The sets of stacks that are looked for.
    pub fn sets(&self) -> &[&'a StackSet] {
        &self.sets
    }

    /// Whether there are automata with such nodes.
    pub fn have(&self, nodes: &[Option<u32>]) -> bool {
        let has = |(set, node): (&&StackSet, &Option<u32>)| node.is_none_or(|node| (node as usize) < set.size());
        nodes.len() == self.sets.len() && self.sets.iter().zip(nodes).all(has)
    }

    /// Where the automata are beneath the lowest symbol.
    pub fn ground(&self) -> Nodes {
        self.alike(&vec![Some(StackSet::START); self.sets.len()])
    }

    /// Where they are above a symbol. `BOTTOM` stands for the floor, which is no symbol to them.
    pub fn above(&self, below: &[Option<u32>], symbol: Symbol) -> Nodes {
        self.alike(&self.read(below, symbol))
    }

    /// Whether a thread is in a set of local states, with a symbol on top.
    pub fn meant(&self, set: &LocalSet, control: Control, symbol: Symbol, below: &[Option<u32>]) -> bool {
        let Some(stacks) = set.get(&control) else { return false };
        let index = self.sets.iter().position(|known| *known == stacks);
        let node = index.and_then(|index| self.read(below, symbol)[index]);
        node.is_some_and(|node| stacks.accepts(node))
    }

    fn read(&self, below: &[Option<u32>], symbol: Symbol) -> Nodes {
        let read = |(set, node): (&&StackSet, &Option<u32>)| match symbol.is_bottom() {
            true => Some(StackSet::START),
            false => set.next((*node)?, symbol),
        };
        self.sets.iter().zip(below).map(read).collect()
    }

    /// The first of the nodes that read alike.
    fn alike(&self, nodes: &[Option<u32>]) -> Nodes {
        let first = |(set, node): (&&StackSet, &Option<u32>)| {
            let edges = set.edges((*node)?);
            (0..set.size() as u32).find(|&other| set.edges(other) == edges).filter(|_| !edges.is_empty())
        };
        self.sets.iter().zip(nodes).map(first).collect()
    }
}
