//! Pushdown systems, as the check of a lemma sees them: every move is a rule.
//!
//! Threads are interchangeable if they have the same number of symbols, the same set of rules and equal initial stacks.
//! Names, lines, and the order and repetition of rules do not matter.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::smallvec;
use tepui_model::pushdown::{Action, Model, Shared, Symbol, Thread};

use super::waiting::Written;
use crate::lemma::{Things, Touched};
use crate::system::{Change, Move, Start, System};

pub(super) struct Rules<'m> {
    pub(super) model: &'m Model,
    stop: &'m dyn Fn() -> bool,
    initial: Vec<Start>,
    /// The rules of all threads by head.
    pub(super) by_head: Vec<FxHashMap<(u32, Symbol), Vec<usize>>>,
    /// For each thread the number of its first head, a symbol on top of it.
    pub(super) first_head: Vec<usize>,
    /// What heads [write](super::waiting), and what rules write, for leaders of groups.
    pub(super) writes: RefCell<FxHashMap<(usize, Symbol), Things>>,
    pub(super) written: RefCell<FxHashMap<usize, Written>>,
    /// What the leaders of groups can do.
    meanings: RefCell<FxHashMap<usize, Rc<[Meaning]>>>,
}

impl<'m> Rules<'m> {
    pub(super) fn new(model: &'m Model, stop: &'m dyn Fn() -> bool) -> Self {
        let by_head = |thread: &Thread| {
            let mut heads: FxHashMap<_, Vec<usize>> = FxHashMap::default();
            for (index, rule) in thread.rules.iter().enumerate() {
                heads.entry((rule.from.0, rule.top)).or_default().push(index);
            }
            heads
        };
        let top_first = |stack: &Vec<Symbol>| stack.iter().rev().copied().collect();
        let init = model.init();
        let first_head = |first: &mut usize, thread: &Thread| {
            Some(std::mem::replace(first, *first + thread.symbol_count() as usize))
        };
        Self {
            model,
            stop,
            initial: vec![(init.shared.0, init.stacks.iter().map(top_first).collect())],
            by_head: model.threads().iter().map(by_head).collect(),
            first_head: model.threads().iter().scan(0, first_head).collect(),
            writes: RefCell::default(),
            written: RefCell::default(),
            meanings: RefCell::default(),
        }
    }
}

impl System for Rules<'_> {
    const TURNS: bool = false;

    fn threads(&self) -> usize {
        self.model.threads().len()
    }

    fn symbols(&self, thread: usize) -> u32 {
        self.model.threads()[thread].symbol_count()
    }

    fn shared_states(&self) -> u32 {
        self.model.shared().count()
    }

    fn alike(&self, thread: usize, leader: usize) -> Result<(), &'static str> {
        let (threads, stacks) = (self.model.threads(), &self.model.init().stacks);
        if threads[thread].symbol_count() != threads[leader].symbol_count() {
            return Err("has another number of symbols than the one it is said to be like");
        }
        let mut known = self.meanings.borrow_mut();
        let rules = known.entry(leader).or_insert_with(|| meanings(&threads[leader]).into());
        if meanings(&threads[thread]) != **rules {
            return Err("has other rules than the one it is said to be like");
        }
        match stacks[thread] == stacks[leader] {
            true => Ok(()),
            false => Err("starts with another stack than the one it is said to be like"),
        }
    }

    fn initial(&self) -> &[Start] {
        &self.initial
    }

    fn moves(&self, thread: usize, shared: u32, top: Symbol) -> Vec<Move> {
        let rules = self.by_head[thread].get(&(shared, top)).map_or(&[][..], Vec::as_slice);
        let step = |&number: &usize| {
            let rule = &self.model.threads()[thread].rules[number];
            let change = match rule.action {
                Action::Pop => Change::Pop,
                Action::Overwrite(symbol) => Change::Replace(smallvec![symbol]),
                Action::Push { top, below } => Change::Replace(smallvec![top, below]),
            };
            Move { to: rule.to.0, change, others: None, number }
        };
        rules.iter().map(step).collect()
    }

    fn revealed(&self, _: usize, step: &Move, symbol: Symbol) -> Vec<(u32, Symbol)> {
        vec![(step.to, symbol)]
    }

    fn is_uninterrupted(&self, _: Symbol) -> bool {
        false
    }

    fn woken(&self, _: Symbol, _: u32) -> Option<Vec<Symbol>> {
        None
    }

    fn touched(&self, thread: usize, stack: &[Symbol]) -> Option<Touched> {
        self.touched_by(thread, stack)
    }

    fn stop(&self) -> bool {
        (self.stop)()
    }
}

type Meaning = (Shared, Symbol, Shared, Action);

/// What a thread can do: its rules as a set.
fn meanings(thread: &Thread) -> Vec<Meaning> {
    let mut meanings: Vec<_> = thread.rules.iter().map(|rule| (rule.from, rule.top, rule.to, rule.action)).collect();
    meanings.sort_unstable();
    meanings.dedup();
    meanings
}
