//! A program whose names have been looked up.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::{Kind, Value};
use super::tree::{Operation, Operator};

/// Where a statement is: the number of a statement of the body, the number of one of its blocks, the number of a
/// statement of that, and so on. The last number may be that of no statement: that is the end of the block.
pub(super) type Path = Vec<u16>;

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    Shared(usize),
    Local(usize),
}

/// A variable, or a part of one, and what it takes.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) slot: Slot,
    pub(super) parts: Vec<Part>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Part {
    Field(usize),
    /// The index, and how many elements there are.
    Element(Term, usize),
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Constant(Value),
    Old(Place),
    New(Place),
    /// Any of these.
    Any(Vec<Value>),
    Not(Box<Term>),
    Negative(Box<Term>),
    Binary(Operator, Box<Term>, Box<Term>),
    Choice(Box<[Term; 3]>),
    Schoose(Box<[Term; 2]>),
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) statements: Vec<Statement>,
    pub(super) last: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) labels: Vec<String>,
    /// The number in the order of the text, by which it is known what it violates.
    pub(super) number: usize,
    pub(super) step: Step,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Change {
        targets: Vec<Place>,
        values: Vec<Term>,
        constraint: Option<Term>,
    },
    Operate {
        operation: Operation,
        target: Option<Place>,
        place: Place,
        operands: Vec<Term>,
    },
    Call {
        targets: Vec<Option<Place>>,
        callee: usize,
        arguments: Vec<Term>,
    },
    Return(Vec<Term>),
    If(Term, Box<[Block; 2]>),
    While(Term, Block),
    /// The number of the local variable, and the values that it takes.
    For(usize, Vec<Value>, Block),
    Goto(Vec<Path>),
    /// With the name of the property.
    Assert(Term, String),
    Atomic(Block),
    AtomicBegin,
    AtomicEnd,
    /// On what, and the lock that becomes 0.
    Sleep(Option<(Place, Place)>),
    /// All threads that sleep on it.
    Broadcast(Option<Place>),
    /// One of them.
    Signal(Place),
    Start {
        callee: usize,
        arguments: Vec<Term>,
        count: usize,
    },
    StartAt(Path),
    Exit,
    Yield,
    /// Until a condition holds.
    Wait(Term),
}

impl Step {
    /// The blocks in a statement.
    pub(super) fn blocks(&self) -> &[Block] {
        match self {
            Self::If(_, blocks) => blocks.as_slice(),
            Self::While(_, block) | Self::Atomic(block) | Self::For(_, _, block) => std::slice::from_ref(block),
            _ => &[],
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Procedure {
    /// What the parameters take.
    pub(super) parameters: Vec<Kind>,
    /// What each other local variable may be at first.
    pub(super) locals: Vec<Vec<Value>>,
    /// What each result can be, if nobody says.
    pub(super) results: Vec<Kind>,
    pub(super) enforced: Vec<Term>,
    pub(super) body: Block,
}

/// What a statement can violate beside an assertion: the names of the properties, if there are any.
#[derive(Clone, Default, Debug)]
pub(super) struct Doubts {
    pub(super) range: Option<String>,
    pub(super) index: Option<String>,
}

/// In which order tasks are dispatched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Order {
    Bag,
    Fifo,
    Lifo,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// What each shared variable may be at first.
    pub(super) shared: Vec<Vec<Value>>,
    pub(super) procedures: Vec<Procedure>,
    /// The procedures that run at first, each as a thread.
    pub(super) first: Vec<usize>,
    /// Those that run when the thread that is there at first has returned.
    pub(super) then: Vec<usize>,
    /// Whether the first procedure is called, so that what it enforces must hold when it begins.
    pub(super) begins_with_a_call: bool,
    /// What statements can violate, by their numbers.
    pub(super) doubts: BTreeMap<usize, Doubts>,
    pub(super) properties: Vec<String>,
    /// In which order tasks are dispatched, if there are tasks.
    pub(super) tasks: Option<Order>,
    /// Labels at which only one thread may stand.
    pub(super) exclusive: Vec<String>,
}

impl Program {
    /// The names of the properties: of the assertions, in the order of the text; then those of ranges, and those of
    /// indices, where they are in doubt.
    pub fn properties(&self) -> &[String] {
        &self.properties
    }

    /// The names of all labels, but for those in loops that have no round.
    pub fn labels(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.procedures.iter().for_each(|procedure| collect(&procedure.body, &mut found));
        found
    }
}

fn collect(block: &Block, found: &mut BTreeSet<String>) {
    found.extend(block.last.iter().cloned());
    for statement in &block.statements {
        found.extend(statement.labels.iter().cloned());
        if !matches!(&statement.step, Step::For(_, values, _) if values.is_empty()) {
            statement.step.blocks().iter().for_each(|inner| collect(inner, found));
        }
    }
}
