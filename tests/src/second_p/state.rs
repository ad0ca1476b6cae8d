//! States: what machines stand at, remember, and have in their queues.
//!
//! A machine stands at places in the tree: for each function that runs, what is left to do, the innermost last. What is
//! left of a transition is its agenda, the next item last.

use std::collections::VecDeque;
use std::rc::Rc;

use super::tree::{BlockId, ExprId, Handler, Name, StmtId};
use super::values::Value;

/// Something that a function still has to do.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Item {
    /// The statements of a block, from one on.
    Rest(BlockId, usize),
    /// A `while`, whose condition is next.
    Again(StmtId),
    /// A `foreach`: its elements, and which is next.
    Each(StmtId, Rc<Vec<Value>>, usize),
    /// The end of a case: later local variables are gone.
    EndCase(usize),
    /// A `receive`, which waits.
    Wait(StmtId),
    /// The expressions of a statement, or one expression: which effect is next, and the values of those before.
    Evaluate(Whole, usize, Vec<(ExprId, Value)>),
}

/// What is evaluated as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Whole {
    Stmt(StmtId),
    Expr(ExprId),
}

/// A function that runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Frame {
    pub(super) function: usize,
    pub(super) locals: Vec<(Name, Value)>,
    pub(super) items: Vec<Item>,
}

/// A part of a transition.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Agenda {
    /// The exit function of the state on top.
    Exit,
    /// A function with a payload.
    Run(Function, Value),
    /// Another state instead of the one on top, with its entry function.
    Enter(Name, Value),
    /// Another state above the one on top, with its entry function.
    Push(Name, Value),
    /// The state on top is gone; `pop` wants one below.
    Pop { asked: bool },
    /// An event is handled in the state on top.
    Handle(Name, Value),
}

/// A function, by its number.
pub(super) type Function = usize;

/// A send that specs have heard of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Letter {
    pub(super) target: usize,
    pub(super) event: Name,
    pub(super) payload: Value,
}

/// A machine or a spec.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Machine {
    pub(super) kind: usize,
    /// States, the one on top last.
    pub(super) states: Vec<Name>,
    pub(super) agenda: Vec<Agenda>,
    pub(super) frames: Vec<Frame>,
    pub(super) variables: Vec<(Name, Value)>,
    pub(super) queue: VecDeque<(Name, Value)>,
    /// What is appended next, where hearing and sending are two steps.
    pub(super) announced: Option<Letter>,
    pub(super) halted: bool,
}

/// A state of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct State {
    pub(super) machines: Vec<Rc<Machine>>,
    pub(super) specs: Vec<Rc<Machine>>,
}

impl Machine {
    /// The `receive` that the machine stands at.
    pub(super) fn waits(&self) -> Option<StmtId> {
        match self.frames.last()?.items.last()? {
            Item::Wait(stmt) => Some(*stmt),
            _ => None,
        }
    }

    /// Whether it goes on only with an event.
    pub(super) fn about_to_take(&self) -> bool {
        self.announced.is_none() && (self.waits().is_some() || self.frames.is_empty() && self.agenda.is_empty())
    }

    /// Ends it.
    pub(super) fn halt(&mut self) {
        self.states.clear();
        self.agenda.clear();
        self.frames.clear();
        self.variables.clear();
        self.queue.clear();
        self.halted = true;
    }

    /// Ends everything that runs, and does something else.
    pub(super) fn instead(&mut self, agenda: Vec<Agenda>) {
        self.frames.clear();
        self.agenda = agenda;
    }
}

/// The number of a function that a handler is.
pub(super) fn function_of(kind: &super::tree::Kind, handler: Handler) -> Option<Function> {
    match handler {
        Handler::Here(function) => Some(function),
        Handler::Called(name) => kind.functions.get(&name).copied(),
    }
}
