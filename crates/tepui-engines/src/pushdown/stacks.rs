//! The stacks of pushdown models: what a thread makes of a shared state and a stack is worked out once.

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::compiled::{Compiled, Kind};
use super::system::Locals;
use super::tree::{EMPTY, StackTree};

/// The stacks of all kinds of threads.
pub struct Stacks {
    kinds: Vec<KindStacks>,
}

#[derive(Default)]
struct KindStacks {
    tree: StackTree,
    /// For a shared state and a stack, where in `results` it stands what a step makes of them.
    places: FxHashMap<(u32, u32), (u32, u32)>,
    results: Vec<(u32, u32)>,
}

impl Stacks {
    /// No stacks but the empty one, for each kind.
    pub fn new(compiled: &Compiled) -> Self {
        Self { kinds: compiled.kinds.iter().map(|_| KindStacks::default()).collect() }
    }

    /// The topmost symbols of a stack, top first, at most so many, the marker at the end counting as one.
    pub fn word(&self, kind: usize, stack: u32, length: usize) -> Vec<Symbol> {
        self.kinds[kind].tree.word(stack, length)
    }

    /// The top of a stack.
    #[inline]
    pub fn top(&self, kind: usize, stack: u32) -> Symbol {
        self.kinds[kind].tree.split(stack).0
    }

    /// What lies under the top.
    pub fn rest(&self, kind: usize, stack: u32) -> u32 {
        self.kinds[kind].tree.split(stack).1
    }

    /// The number of a stack with a symbol above another stack, if it was ever seen. The marker above the empty stack
    /// is the empty stack.
    pub fn find(&self, kind: usize, top: Symbol, rest: u32) -> Option<u32> {
        self.kinds[kind].tree.find(top, rest)
    }
}

impl Locals for Stacks {
    const WHOLE_CONTEXTS: bool = false;

    fn initial(&mut self, kind: usize, stack: &[Symbol]) -> u32 {
        stack.iter().rev().fold(EMPTY, |rest, &symbol| self.kinds[kind].tree.push(rest, symbol))
    }

    fn results(&self, kind: usize, from: (u32, u32)) -> Option<&[(u32, u32)]> {
        let stacks = &self.kinds[kind];
        stacks.places.get(&from).map(|&(start, end)| &stacks.results[start as usize..end as usize])
    }

    fn intern_results(&mut self, rules: &Kind, kind: usize, from: (u32, u32), _: &mut Budget) -> Result<(), Stop> {
        let stacks = &mut self.kinds[kind];
        let (top, rest) = stacks.tree.split(from.1);
        let start = stacks.results.len() as u32;
        for step in rules.moves(from.0, top) {
            let next = match step.action {
                Action::Pop => rest,
                Action::Overwrite(symbol) => stacks.tree.push(rest, symbol),
                Action::Push { top, below } => {
                    let rest = stacks.tree.push(rest, below);
                    stacks.tree.push(rest, top)
                }
            };
            stacks.results.push((step.to, next));
        }
        stacks.places.insert(from, (start, stacks.results.len() as u32));
        Ok(())
    }

    fn tops(&self, kind: usize, stack: u32) -> &[u32] {
        std::slice::from_ref(self.kinds[kind].tree.top(stack))
    }

    fn count(&self, kind: usize) -> usize {
        self.kinds[kind].tree.count()
    }

    fn split(&self, kind: usize, stack: u32) -> Option<(Symbol, u32)> {
        Some(self.kinds[kind].tree.split(stack))
    }

    fn bytes(&self) -> u64 {
        let kind = |stacks: &KindStacks| stacks.tree.bytes() + stacks.places.capacity() * 17 + stacks.results.len() * 8;
        self.kinds.iter().map(kind).sum::<usize>() as u64
    }
}
