//! post*: everything that one thread reaches, alone, from a regular set of stacks (after Schwoon).
//!
//! A set of (shared state, stack) pairs is an automaton that reads a stack from its top: from the node of shared
//! state q it accepts the stacks that occur with q. Saturation adds, for each rule and each edge that its head can
//! read, the edges that read the result. With `t` the node after the head:
//!
//! * overwrite to (q', a): the edge `q' -a-> t`;
//! * push to (q', a b): a node m for the pair (q', a), and the edges `q' -a-> m` and `m -b-> t`;
//! * pop to q': from q' everything that can be read from t, now and later.
//!
//! The marker of the empty stack is an ordinary last symbol here, so every stack is a non-empty word, and rules on
//! the empty stack need no case of their own. Each edge remembers why it was added, always by edges that are older.
//! Undoing the first edge of an accepted word, as long as it was added by a rule, therefore ends at a word of the
//! original set, and gives the rules that lead from there: the witness of a trace.

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::dfa::Dfa;
use crate::pushdown::compiled::Kind;

/// A node: a shared state, a state of the original automaton, or one made by a push.
type Node = u32;
type EdgeNumber = u32;

/// The node in which every stack ends.
pub(crate) const FINAL: Node = 0;

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: Node,
    symbol: Symbol,
    to: Node,
    why: Why,
}

/// Why an edge is there.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// It belongs to the original set.
    Given,
    /// An overwrite changed this edge.
    Overwrite { rule: u32, read: EdgeNumber },
    /// A pop read the first edge, which uncovered the second.
    Pop { rule: u32, read: EdgeNumber, uncovered: EdgeNumber },
    /// The upper edge of a push; the lower one, which follows it in every word, knows the rest.
    PushedTop,
    /// The lower edge of a push that read this edge.
    Push { rule: u32, read: EdgeNumber },
}

/// How a stack came about.
pub struct Witness {
    /// A stack of the original set.
    pub origin: Vec<Symbol>,
    /// The rules that lead from it.
    pub rules: Vec<u32>,
}

/// The saturated automaton.
pub struct PostStar {
    edges: Vec<Edge>,
    /// The edges that leave a node.
    leaving: Vec<Vec<EdgeNumber>>,
    known: FxHashMap<(Node, Symbol, Node), EdgeNumber>,
    /// The node of a shared state.
    control: FxHashMap<u32, Node>,
    /// The shared state of a node.
    shared_of: FxHashMap<Node, u32>,
    pushed: FxHashMap<(u32, Symbol), Node>,
    /// Who reads whatever can be read from a node: a shared state, with the rule and the edge that popped.
    readers: Vec<Vec<(u32, u32, EdgeNumber)>>,
    work: Vec<EdgeNumber>,
}

impl PostStar {
    /// Saturates the set of stacks that `stacks` accepts, all with the shared state `shared`.
    pub fn new(kind: &Kind, shared: u32, stacks: &Dfa, budget: &mut Budget) -> Result<Self, Stop> {
        let mut automaton = Self::start(shared, stacks);
        let mut next = 0;
        // The worklist holds each edge of a control node once; `add` keeps repetitions out.
        while next < automaton.work.len() {
            let edge = automaton.work[next];
            next += 1;
            automaton.saturate(kind, edge);
            budget.spend(1)?;
        }
        Ok(automaton)
    }

    /// The shared states that are reached, in ascending order, each with its node.
    pub fn controls(&self) -> Vec<(u32, Node)> {
        let reached = self.control.iter().filter(|&(_, &node)| !self.leaving[node as usize].is_empty());
        let mut controls: Vec<_> = reached.map(|(&shared, &node)| (shared, node)).collect();
        controls.sort_unstable();
        controls
    }

    /// What can be read from a node: symbols, each with the node it leads to.
    pub fn edges(&self, node: Node) -> impl Iterator<Item = (Symbol, Node)> + '_ {
        self.leaving[node as usize].iter().map(|&edge| (self.edges[edge as usize].symbol, self.edges[edge as usize].to))
    }

    /// How a reached shared state and stack (top first, the marker at the end) came about: a stack of the original set,
    /// and the rules that lead from it. `None` if the pair is not accepted.
    pub fn witness(&self, shared: u32, stack: &[Symbol], budget: &mut Budget) -> Result<Option<Witness>, Stop> {
        let Some(mut path) = self.accepting_path(shared, stack) else { return Ok(None) };
        path.reverse();
        let mut rules = Vec::new();
        while let Some(edge) = path.pop() {
            budget.spend(1)?;
            match self.edges[edge as usize].why {
                Why::Given => {
                    path.push(edge);
                    break;
                }
                Why::Overwrite { rule, read } => {
                    path.push(read);
                    rules.push(rule);
                }
                Why::Pop { rule, read, uncovered } => {
                    path.extend([uncovered, read]);
                    rules.push(rule);
                }
                Why::PushedTop => {
                    let lower = path.pop().map(|lower| self.edges[lower as usize].why);
                    let Some(Why::Push { rule, read }) = lower else { return Ok(None) };
                    path.push(read);
                    rules.push(rule);
                }
                Why::Push { .. } => return Ok(None),
            }
        }
        rules.reverse();
        let origin = path.iter().rev().map(|&edge| self.edges[edge as usize].symbol).collect();
        Ok(Some(Witness { origin, rules }))
    }

    fn start(shared: u32, stacks: &Dfa) -> Self {
        let mut automaton = Self {
            edges: Vec::new(),
            leaving: Vec::new(),
            known: FxHashMap::default(),
            control: FxHashMap::default(),
            shared_of: FxHashMap::default(),
            pushed: FxHashMap::default(),
            readers: Vec::new(),
            work: Vec::new(),
        };
        automaton.new_node(); // FINAL
        let copies: Vec<_> = (0..stacks.size()).map(|_| automaton.new_node()).collect();
        let target = |state: Option<u32>| state.map_or(FINAL, |state| copies[state as usize]);
        for (state, &copy) in copies.iter().enumerate() {
            for (symbol, to) in stacks.edges(state as u32) {
                automaton.add(copy, symbol, target(to), Why::Given);
            }
        }
        for (symbol, to) in stacks.edges(Dfa::START) {
            automaton.add_control(shared, symbol, target(to), Why::Given);
        }
        automaton
    }

    fn new_node(&mut self) -> Node {
        self.leaving.push(Vec::new());
        self.readers.push(Vec::new());
        self.leaving.len() as Node - 1
    }

    fn control_node(&mut self, shared: u32) -> Node {
        if let Some(&node) = self.control.get(&shared) {
            return node;
        }
        let node = self.new_node();
        self.control.insert(shared, node);
        self.shared_of.insert(node, shared);
        node
    }

    fn add_control(&mut self, shared: u32, symbol: Symbol, to: Node, why: Why) {
        let from = self.control_node(shared);
        if let Some(edge) = self.add(from, symbol, to, why) {
            self.work.push(edge);
        }
    }

    /// Adds an edge; `None` if it was there.
    fn add(&mut self, from: Node, symbol: Symbol, to: Node, why: Why) -> Option<EdgeNumber> {
        let number = self.edges.len() as EdgeNumber;
        if *self.known.entry((from, symbol, to)).or_insert(number) != number {
            return None;
        }
        self.edges.push(Edge { from, symbol, to, why });
        self.leaving[from as usize].push(number);
        Some(number)
    }

    fn saturate(&mut self, kind: &Kind, number: EdgeNumber) {
        let edge = self.edges[number as usize];
        let shared = self.shared_of[&edge.from];
        for step in kind.moves(shared, edge.symbol) {
            let rule = step.rule;
            match step.action {
                Action::Pop => self.pop(step.to, rule, number, edge.to),
                Action::Overwrite(symbol) => {
                    self.add_control(step.to, symbol, edge.to, Why::Overwrite { rule, read: number });
                }
                Action::Push { top, below } => self.push((step.to, top), below, edge.to, (rule, number)),
            }
        }
    }

    fn pop(&mut self, shared: u32, rule: u32, read: EdgeNumber, node: Node) {
        self.readers[node as usize].push((shared, rule, read));
        for index in 0..self.leaving[node as usize].len() {
            self.uncover(self.leaving[node as usize][index], (shared, rule, read));
        }
    }

    fn uncover(&mut self, uncovered: EdgeNumber, (shared, rule, read): (u32, u32, EdgeNumber)) {
        let Edge { symbol, to, .. } = self.edges[uncovered as usize];
        self.add_control(shared, symbol, to, Why::Pop { rule, read, uncovered });
    }

    fn push(&mut self, (shared, top): (u32, Symbol), below: Symbol, to: Node, (rule, read): (u32, EdgeNumber)) {
        let middle = match self.pushed.get(&(shared, top)) {
            Some(&node) => node,
            None => {
                let node = self.new_node();
                self.pushed.insert((shared, top), node);
                node
            }
        };
        self.add_control(shared, top, middle, Why::PushedTop);
        if let Some(lower) = self.add(middle, below, to, Why::Push { rule, read }) {
            for index in 0..self.readers[middle as usize].len() {
                self.uncover(lower, self.readers[middle as usize][index]);
            }
        }
    }

    /// The edges that accept a stack, by breadth-first search over (node, position).
    fn accepting_path(&self, shared: u32, stack: &[Symbol]) -> Option<Vec<EdgeNumber>> {
        let start = *self.control.get(&shared)?;
        let mut layers: Vec<FxHashMap<Node, EdgeNumber>> = Vec::new();
        let mut nodes = vec![start];
        for &symbol in stack {
            let mut layer = FxHashMap::default();
            let mut reached = Vec::new();
            for number in nodes.iter().flat_map(|&node| &self.leaving[node as usize]) {
                let edge = &self.edges[*number as usize];
                if edge.symbol == symbol && !layer.contains_key(&edge.to) {
                    layer.insert(edge.to, *number);
                    reached.push(edge.to);
                }
            }
            layers.push(layer);
            nodes = reached;
        }
        let mut node = FINAL;
        let mut path = Vec::new();
        for layer in layers.iter().rev() {
            let edge = *layer.get(&node)?;
            path.push(edge);
            node = self.edges[edge as usize].from;
        }
        path.reverse();
        Some(path)
    }
}
