//! The explicit representation: a local is one stack.
//!
//! Stacks are interned as nodes of a tree, a top symbol above the number of the rest, so that a stack is one number,
//! pushing and popping touch one node, and stacks that share their lower part share the memory. Number 0 is the empty
//! stack, whose top is the marker. Valid only where every context reaches finitely many states.

use hashbrown::HashTable;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::search::Locals;
use crate::pushdown::compiled::Compiled;

/// The stacks of all kinds of threads.
pub struct Stacks {
    kinds: Vec<StackTree>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    top: u32,
    rest: u32,
}

struct StackTree {
    nodes: Vec<Node>,
    table: HashTable<u32>,
}

const EMPTY: u32 = 0;

impl Stacks {
    /// No stacks but the empty one, for each kind.
    pub fn new(compiled: &Compiled) -> Self {
        let tree = || StackTree { nodes: vec![Node { top: Symbol::BOTTOM.0, rest: EMPTY }], table: HashTable::new() };
        Self { kinds: compiled.kinds.iter().map(|_| tree()).collect() }
    }

    /// How many stacks of a kind there are.
    pub fn count(&self, kind: usize) -> usize {
        self.kinds[kind].nodes.len()
    }

    /// The topmost symbols of a stack, top first, at most so many, the marker at the end counting as one.
    pub fn word(&self, kind: usize, mut stack: u32, length: usize) -> Vec<Symbol> {
        let mut word = Vec::new();
        while word.len() < length {
            let node = self.kinds[kind].nodes[stack as usize];
            word.push(Symbol(node.top));
            if stack == EMPTY {
                break;
            }
            stack = node.rest;
        }
        word
    }

    /// The top of a stack.
    pub fn top(&self, kind: usize, stack: u32) -> Symbol {
        Symbol(self.kinds[kind].nodes[stack as usize].top)
    }

    /// What lies under the top.
    pub fn rest(&self, kind: usize, stack: u32) -> u32 {
        self.kinds[kind].nodes[stack as usize].rest
    }

    /// The number of a stack with a symbol above another stack, if it was ever seen. The marker above the empty stack
    /// is the empty stack.
    pub fn find(&self, kind: usize, top: Symbol, rest: u32) -> Option<u32> {
        if top.is_bottom() {
            return Some(EMPTY);
        }
        let (tree, node) = (&self.kinds[kind], Node { top: top.0, rest });
        tree.table.find(hash(node), |&index| tree.nodes[index as usize] == node).copied()
    }
}

impl StackTree {
    fn push(&mut self, rest: u32, top: Symbol) -> u32 {
        if top.is_bottom() {
            return EMPTY;
        }
        let node = Node { top: top.0, rest };
        let nodes = &mut self.nodes;
        let entry =
            self.table.entry(hash(node), |&index| nodes[index as usize] == node, |&index| hash(nodes[index as usize]));
        *entry
            .or_insert_with(|| {
                nodes.push(node);
                u32::try_from(nodes.len() - 1).expect("at most 2^32 stacks fit the index")
            })
            .get()
    }
}

fn hash(node: Node) -> u64 {
    // A Fibonacci multiplier; the rotation brings the well-mixed upper bits where the table looks for its bucket.
    (u64::from(node.top) << 32 | u64::from(node.rest)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26)
}

impl Locals for Stacks {
    const WHOLE_CONTEXTS: bool = false;

    fn initial(&mut self, kind: usize, stack: &[Symbol]) -> u32 {
        stack.iter().rev().fold(EMPTY, |rest, &symbol| self.kinds[kind].push(rest, symbol))
    }

    fn successors(
        &mut self,
        compiled: &Compiled,
        kind: usize,
        (shared, stack): (u32, u32),
        into: &mut Vec<(u32, u32)>,
        _: &mut Budget,
    ) -> Result<(), Stop> {
        let tree = &mut self.kinds[kind];
        let Node { top, rest } = tree.nodes[stack as usize];
        for step in compiled.kinds[kind].moves(shared, Symbol(top)) {
            let next = match step.action {
                Action::Pop => rest,
                Action::Overwrite(symbol) => tree.push(rest, symbol),
                Action::Push { top, below } => {
                    let rest = tree.push(rest, below);
                    tree.push(rest, top)
                }
            };
            into.push((step.to, next));
        }
        Ok(())
    }

    fn tops(&self, kind: usize, stack: u32) -> &[u32] {
        std::slice::from_ref(&self.kinds[kind].nodes[stack as usize].top)
    }

    fn covered(&mut self, _: &Compiled, _: &[u32], _: &mut Budget) -> Result<bool, Stop> {
        Ok(false)
    }

    fn bytes(&self) -> u64 {
        let bytes = |tree: &StackTree| tree.nodes.len() * size_of::<Node>() + tree.table.capacity() * 5;
        self.kinds.iter().map(bytes).sum::<usize>() as u64
    }
}
