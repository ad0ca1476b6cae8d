//! Regular sets of stacks: minimal deterministic automata that read a stack from bottom to top.
//!
//! Automata here have no state from which nothing is accepted, no two states that accept the same words, and are
//! numbered breadth first from the start: two sets are equal iff their automata are, number by number.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::pushdown::Symbol;

/// A set of stacks.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct StackSet {
    nodes: Vec<Node>,
}

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
struct Node {
    accepting: bool,
    /// Sorted by symbol, at most one for each.
    edges: Vec<(Symbol, u32)>,
}

/// An automaton with choices and silent edges, from which a set is built. Node 0 is the start.
#[derive(Clone, Debug)]
pub struct Draft {
    edges: Vec<Vec<(Option<Symbol>, usize)>>,
    accepting: BTreeSet<usize>,
}

/// That an automaton would become too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl Default for Draft {
    /// The empty set: nothing but a start.
    fn default() -> Self {
        Self { edges: vec![Vec::new()], accepting: BTreeSet::new() }
    }
}

impl Draft {
    /// The node where reading starts.
    pub const START: usize = 0;

    /// A new node.
    pub fn node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// An edge that reads a symbol, or nothing.
    pub fn edge(&mut self, from: usize, symbol: Option<Symbol>, to: usize) {
        self.edges[from].push((symbol, to));
    }

    /// Lets stacks end in a node.
    pub fn accept(&mut self, node: usize) {
        self.accepting.insert(node);
    }

    /// The set, unless its automaton has more nodes than `most`.
    pub fn build(&self, most: usize) -> Result<StackSet, TooLarge> {
        let mut sets: Vec<BTreeSet<usize>> = vec![self.closed([Self::START].into())];
        let mut numbers: HashMap<BTreeSet<usize>, u32> = [(sets[0].clone(), 0)].into();
        let mut nodes = Vec::new();
        while nodes.len() < sets.len() {
            let set = sets[nodes.len()].clone();
            let mut reached: BTreeMap<Symbol, BTreeSet<usize>> = BTreeMap::new();
            for &(symbol, to) in set.iter().flat_map(|&node| &self.edges[node]) {
                if let Some(symbol) = symbol {
                    reached.entry(symbol).or_default().insert(to);
                }
            }
            let mut edges = Vec::new();
            for (symbol, set) in reached {
                let set = self.closed(set);
                let next = sets.len() as u32;
                let number = *numbers.entry(set.clone()).or_insert(next);
                if number == next {
                    sets.push(set);
                }
                edges.push((symbol, number));
            }
            if sets.len() > most {
                return Err(TooLarge);
            }
            nodes.push(Node { accepting: !set.is_disjoint(&self.accepting), edges });
        }
        Ok(StackSet::canonical(&nodes))
    }

    fn closed(&self, mut set: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut work: Vec<_> = set.iter().copied().collect();
        while let Some(node) = work.pop() {
            for &(symbol, to) in &self.edges[node] {
                if symbol.is_none() && set.insert(to) {
                    work.push(to);
                }
            }
        }
        set
    }
}

impl StackSet {
    /// The node where reading starts.
    pub const START: u32 = 0;

    /// All stacks over symbols `1..symbol_count`.
    pub fn everything(symbol_count: u32) -> Self {
        let edges = (1..symbol_count).map(|symbol| (Symbol(symbol), 0)).collect();
        Self { nodes: vec![Node { accepting: true, edges }] }
    }

    /// Whether no stack is in the set.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1 && !self.nodes[0].accepting
    }

    /// How many nodes the automaton has.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a stack may end in a node.
    pub fn accepts(&self, node: u32) -> bool {
        self.nodes[node as usize].accepting
    }

    /// What can be read from a node, in the order of the symbols.
    pub fn edges(&self, node: u32) -> &[(Symbol, u32)] {
        &self.nodes[node as usize].edges
    }

    /// The node after reading a symbol, if there is one.
    pub fn next(&self, node: u32, symbol: Symbol) -> Option<u32> {
        let edges = self.edges(node);
        edges.binary_search_by_key(&symbol, |edge| edge.0).ok().map(|index| edges[index].1)
    }

    /// Whether a stack, from bottom to top, is in the set.
    pub fn contains(&self, stack: &[Symbol]) -> bool {
        let end = stack.iter().try_fold(Self::START, |node, &symbol| self.next(node, symbol));
        end.is_some_and(|node| self.accepts(node))
    }

    /// Whether every symbol is below a number.
    pub fn fits(&self, symbol_count: u32) -> bool {
        let symbols = self.nodes.iter().flat_map(|node| &node.edges).map(|edge| edge.0);
        symbols.into_iter().all(|symbol| !symbol.is_bottom() && symbol.0 < symbol_count)
    }

    /// The form that is the same for equal sets.
    fn canonical(nodes: &[Node]) -> Self {
        let live = live(nodes);
        let class = classes(nodes, &live);
        let mut number: HashMap<usize, u32> = [(class[0], 0)].into();
        let mut order = vec![0];
        let mut result: Vec<Node> = Vec::new();
        while result.len() < order.len() {
            let node = &nodes[order[result.len()]];
            let mut edges = Vec::new();
            for &(symbol, to) in node.edges.iter().filter(|edge| live[edge.1 as usize]) {
                let next = order.len() as u32;
                let found = *number.entry(class[to as usize]).or_insert(next);
                if found == next {
                    order.push(to as usize);
                }
                edges.push((symbol, found));
            }
            result.push(Node { accepting: node.accepting, edges });
        }
        Self { nodes: result }
    }
}

/// From which nodes something is accepted.
fn live(nodes: &[Node]) -> Vec<bool> {
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (from, node) in nodes.iter().enumerate() {
        node.edges.iter().for_each(|edge| into[edge.1 as usize].push(from));
    }
    let mut live: Vec<_> = nodes.iter().map(|node| node.accepting).collect();
    let mut work: Vec<_> = (0..nodes.len()).filter(|&node| live[node]).collect();
    while let Some(node) = work.pop() {
        for &from in &into[node] {
            if !std::mem::replace(&mut live[from], true) {
                work.push(from);
            }
        }
    }
    live
}

/// The class of each node: two nodes are in the same one iff they accept the same words.
fn classes(nodes: &[Node], live: &[bool]) -> Vec<usize> {
    let mut class: Vec<usize> = nodes.iter().map(|node| usize::from(node.accepting)).collect();
    let mut count = 0;
    loop {
        let mut signatures = HashMap::new();
        let next: Vec<_> = (nodes.iter().zip(&class))
            .map(|(node, &own)| {
                let edges = node.edges.iter().filter(|edge| live[edge.1 as usize]);
                let edges: Vec<_> = edges.map(|edge| (edge.0, class[edge.1 as usize])).collect();
                let fresh = signatures.len();
                *signatures.entry((own, edges)).or_insert(fresh)
            })
            .collect();
        class = next;
        if std::mem::replace(&mut count, signatures.len()) == signatures.len() {
            return class;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stacks of any height that end with symbol 2, built in a roundabout way.
    fn roundabout() -> StackSet {
        let mut draft = Draft::default();
        let (other, dead, end) = (draft.node(), draft.node(), draft.node());
        draft.edge(Draft::START, None, other);
        for symbol in [Symbol(1), Symbol(2)] {
            draft.edge(other, Some(symbol), Draft::START);
            draft.edge(other, Some(symbol), dead);
        }
        draft.edge(other, Some(Symbol(2)), end);
        draft.accept(end);
        draft.build(10).unwrap()
    }

    #[test]
    fn equal_sets_have_equal_automata() {
        let mut draft = Draft::default();
        let end = draft.node();
        for from in [Draft::START, end] {
            draft.edge(from, Some(Symbol(1)), Draft::START);
            draft.edge(from, Some(Symbol(2)), end);
        }
        draft.accept(end);
        let set = draft.build(10).unwrap();
        assert_eq!((set.size(), &set), (2, &roundabout()));
        assert!(set.contains(&[Symbol(1), Symbol(2)]) && !set.contains(&[Symbol(2), Symbol(1)]) && !set.contains(&[]));
        assert!(set.fits(3) && !set.fits(2) && !set.is_empty());
        assert_eq!(draft.build(1), Err(TooLarge));
    }

    #[test]
    fn the_extremes() {
        let empty = Draft::default().build(1).unwrap();
        assert!(empty.is_empty() && !empty.contains(&[]));
        let all = StackSet::everything(3);
        assert!(all.contains(&[]) && all.contains(&[Symbol(2), Symbol(1)]) && !all.is_empty());
        let mut draft = Draft::default();
        draft.accept(Draft::START);
        (1..3).for_each(|symbol| draft.edge(Draft::START, Some(Symbol(symbol)), Draft::START));
        assert_eq!(draft.build(5).unwrap(), all);
    }
}
