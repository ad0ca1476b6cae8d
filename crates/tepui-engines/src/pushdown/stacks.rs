//! Stacks as numbers.
//!
//! Stacks are interned as nodes of a tree, a top symbol above the number of the rest, so that a stack is one number,
//! pushing and popping touch one node, and stacks that share their lower part share the memory. Number 0 is the empty
//! stack, whose top is the marker. What a thread makes of a shared state and a stack is worked out once.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::compiled::{Compiled, Kind};
use super::system::Locals;

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
    /// For a shared state and a stack, where in `results` it stands what a step makes of them.
    places: FxHashMap<(u32, u32), (u32, u32)>,
    results: Vec<(u32, u32)>,
}

impl Default for StackTree {
    fn default() -> Self {
        Self {
            nodes: vec![Node { top: Symbol::BOTTOM.0, rest: EMPTY }],
            table: HashTable::new(),
            places: FxHashMap::default(),
            results: Vec::new(),
        }
    }
}

const EMPTY: u32 = 0;

impl Stacks {
    /// No stacks but the empty one, for each kind.
    pub fn new(compiled: &Compiled) -> Self {
        Self { kinds: compiled.kinds.iter().map(|_| StackTree::default()).collect() }
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
    #[inline]
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

    fn results(&self, kind: usize, from: (u32, u32)) -> Option<&[(u32, u32)]> {
        let tree = &self.kinds[kind];
        tree.places.get(&from).map(|&(start, end)| &tree.results[start as usize..end as usize])
    }

    fn intern_results(&mut self, rules: &Kind, kind: usize, from: (u32, u32), _: &mut Budget) -> Result<(), Stop> {
        let tree = &mut self.kinds[kind];
        let Node { top, rest } = tree.nodes[from.1 as usize];
        let start = tree.results.len() as u32;
        for step in rules.moves(from.0, Symbol(top)) {
            let next = match step.action {
                Action::Pop => rest,
                Action::Overwrite(symbol) => tree.push(rest, symbol),
                Action::Push { top, below } => {
                    let rest = tree.push(rest, below);
                    tree.push(rest, top)
                }
            };
            tree.results.push((step.to, next));
        }
        tree.places.insert(from, (start, tree.results.len() as u32));
        Ok(())
    }

    fn tops(&self, kind: usize, stack: u32) -> &[u32] {
        std::slice::from_ref(&self.kinds[kind].nodes[stack as usize].top)
    }

    fn bytes(&self) -> u64 {
        let tree = |tree: &StackTree| {
            let nodes = tree.nodes.len() * size_of::<Node>() + tree.table.capacity() * 5;
            nodes + tree.places.capacity() * 17 + tree.results.len() * 8
        };
        self.kinds.iter().map(tree).sum::<usize>() as u64
    }
}
