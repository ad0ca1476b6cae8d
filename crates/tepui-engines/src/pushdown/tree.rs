//! Stacks as nodes of a tree: a top symbol above the number of the rest.
//!
//! So a stack is one number, pushing and popping touch one node, and stacks that share their lower part share the memory.
//! Number 0 is the empty stack, whose top is the marker.

use hashbrown::HashTable;
use tepui_model::pushdown::Symbol;

/// The number of the empty stack.
pub const EMPTY: u32 = 0;

/// Stacks, each once.
#[derive(Debug)]
pub struct StackTree {
    nodes: Vec<Node>,
    table: HashTable<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Node {
    top: u32,
    rest: u32,
}

impl Default for StackTree {
    fn default() -> Self {
        Self { nodes: vec![Node { top: Symbol::BOTTOM.0, rest: EMPTY }], table: HashTable::new() }
    }
}

impl StackTree {
    /// How many stacks there are.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The top of a stack, and what lies under it.
    #[inline]
    pub fn split(&self, stack: u32) -> (Symbol, u32) {
        let Node { top, rest } = self.nodes[stack as usize];
        (Symbol(top), rest)
    }

    /// The top of a stack, for those who want it as a list.
    pub fn top(&self, stack: u32) -> &u32 {
        &self.nodes[stack as usize].top
    }

    /// The topmost symbols of a stack, top first, at most so many, the marker at the end counting as one.
    pub fn word(&self, mut stack: u32, length: usize) -> Vec<Symbol> {
        let mut word = Vec::new();
        while word.len() < length {
            let (top, rest) = self.split(stack);
            word.push(top);
            if stack == EMPTY {
                break;
            }
            stack = rest;
        }
        word
    }

    /// The number of a stack with a symbol above another stack, if it was ever seen. The marker above the empty stack
    /// is the empty stack.
    #[inline]
    pub fn find(&self, top: Symbol, rest: u32) -> Option<u32> {
        if top.is_bottom() {
            return Some(EMPTY);
        }
        let node = Node { top: top.0, rest };
        self.table.find(hash(node), |&index| self.nodes[index as usize] == node).copied()
    }

    /// The stack with a symbol above another one.
    pub fn push(&mut self, rest: u32, top: Symbol) -> u32 {
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

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>() + self.table.capacity() * 5
    }
}

fn hash(node: Node) -> u64 {
    // A Fibonacci multiplier; the rotation brings the well-mixed upper bits where the table looks for its bucket.
    (u64::from(node.top) << 32 | u64::from(node.rest)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26)
}
