//! A program whose names have been looked up.

use std::collections::BTreeSet;

use super::tree::Operator;

/// Where a statement is: the number of a statement of the body, the number of one of its blocks, the number of a
/// statement of that, and so on. The last number may be that of no statement: that is the end of the block.
pub(super) type Path = Vec<u16>;

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    Shared(usize),
    Local(usize),
}

/// A set of values: bit `n` stands for the value `n`.
pub(super) type Set = u32;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Constant(u8),
    Old(Slot),
    New(Slot),
    /// Any of these.
    Any(Set),
    Not(Box<Term>),
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
    pub(super) step: Step,
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Change {
        targets: Vec<Slot>,
        values: Vec<Term>,
        constraint: Option<Term>,
    },
    Call {
        targets: Vec<Option<Slot>>,
        callee: usize,
        arguments: Vec<Term>,
    },
    Return(Vec<Term>),
    If(Term, Box<[Block; 2]>),
    While(Term, Block),
    Goto(Vec<Path>),
    /// With the name of the property.
    Assert(Term, String),
    Atomic(Block),
    AtomicBegin,
    AtomicEnd,
    Sleep,
    Broadcast,
    Start {
        callee: usize,
        arguments: Vec<Term>,
        count: usize,
    },
    StartAt(Path),
    Exit,
}

impl Step {
    /// The blocks in a statement.
    pub(super) fn blocks(&self) -> &[Block] {
        match self {
            Self::If(_, blocks) => blocks.as_slice(),
            Self::While(_, block) | Self::Atomic(block) => std::slice::from_ref(block),
            _ => &[],
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Procedure {
    pub(super) parameters: usize,
    /// What each parameter and each other local variable may be at first. Parameters of a call have the values of
    /// its arguments instead.
    pub(super) locals: Vec<Set>,
    /// What each result can be.
    pub(super) results: Vec<Set>,
    pub(super) enforced: Vec<Term>,
    pub(super) body: Block,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// What each shared variable may be at first.
    pub(super) shared: Vec<Set>,
    pub(super) procedures: Vec<Procedure>,
    /// The procedures that run at first, each as a thread.
    pub(super) first: Vec<usize>,
    /// Those that run when the thread that is there at first has returned.
    pub(super) then: Vec<usize>,
    /// Whether the first procedure is called, so that what it enforces must hold when it begins.
    pub(super) begins_with_a_call: bool,
    pub(super) properties: Vec<String>,
}

impl Program {
    /// The names of the assertions, in the order of the text.
    pub fn properties(&self) -> &[String] {
        &self.properties
    }

    /// The names of all labels.
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
        statement.step.blocks().iter().for_each(|inner| collect(inner, found));
    }
}
