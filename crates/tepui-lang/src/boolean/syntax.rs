//! The syntax tree: what all dialects are read as. Names are as written; nothing has been looked up yet.

use std::ops::Range;

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// A whole program.
#[derive(Default, Debug)]
pub(super) struct Module {
    pub(super) enumerations: Vec<(Name, Vec<Name>)>,
    /// Constants, names of kinds and records, in the order in which they are declared.
    pub(super) definitions: Vec<Definition>,
    /// Names of conditions, and their dimensions.
    pub(super) conditions: Vec<(Name, Vec<Expression>)>,
    pub(super) shared: Vec<Declaration>,
    /// Labels at which no two threads stand at the same time.
    pub(super) exclusive: Vec<Name>,
    /// In which order tasks are dispatched, where it is said.
    pub(super) order: Option<Name>,
    pub(super) procedures: Vec<Procedure>,
    /// The procedure that the program begins with, if it is not the one called `main`.
    pub(super) start: Option<usize>,
}

/// Something that has a name and that others may use.
#[derive(Debug)]
pub(super) enum Definition {
    Constant(Name, Expression),
    Kind(Name, KindName),
    Record(Name, Vec<Declaration>),
}

/// What values a variable takes, as written.
#[derive(Clone, Debug)]
pub(super) enum KindName {
    Bool,
    Named(Name),
    /// The numbers from one to another.
    Range(Expression, Expression),
    /// That of a place where so many threads meet.
    Barrier(Expression),
}

/// One variable.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: Name,
    /// If it is an array: how many elements it has, or of which enumeration the indices are.
    pub(super) dimensions: Vec<Expression>,
    pub(super) kind: KindName,
    pub(super) init: Option<Init>,
}

/// What a variable is at first.
#[derive(Clone, Debug)]
pub(super) enum Init {
    One(Expression),
    List(Vec<Self>, Range<usize>),
}

/// A variable, or a part of one.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) name: Name,
    pub(super) steps: Vec<Access>,
    pub(super) span: Range<usize>,
}

/// How to get from an array or a record to a part of it.
#[derive(Clone, Debug)]
pub(super) enum Access {
    Index(Expression),
    Field(Name),
}

/// What a loop runs through.
#[derive(Debug)]
pub(super) enum Bounds {
    Kind(Name),
    Range(Expression, Expression),
}

#[derive(Debug)]
pub(super) struct Procedure {
    pub(super) name: Name,
    pub(super) parameters: Vec<Declaration>,
    pub(super) locals: Vec<Declaration>,
    pub(super) results: Vec<KindName>,
    pub(super) enforced: Option<Expression>,
    pub(super) body: Vec<Statement>,
    /// The mark that ends it.
    pub(super) end: Range<usize>,
}

#[derive(Debug)]
pub(super) struct Statement {
    pub(super) labels: Vec<Name>,
    pub(super) span: Range<usize>,
    pub(super) action: Action,
}

/// Whether something holds of a statement of a block or of the blocks in it.
pub(super) fn any(block: &[Statement], wanted: &dyn Fn(&Statement) -> bool) -> bool {
    block.iter().any(|statement| wanted(statement) || statement.action.blocks().iter().any(|inner| any(inner, wanted)))
}

/// Calls back for each statement of a block and of the blocks in it.
pub(super) fn each<'s>(block: &'s [Statement], found: &mut dyn FnMut(&'s Statement)) {
    for statement in block {
        found(statement);
        statement.action.blocks().into_iter().for_each(|inner| each(inner, found));
    }
}

#[derive(Debug)]
pub(super) enum Action {
    Skip,
    Goto(Vec<Name>),
    Assign {
        targets: Vec<Path>,
        values: Vec<Expression>,
        constraint: Option<Expression>,
    },
    Assume(Expression),
    Wait(Expression),
    /// With the name of the property, if it is given one.
    Assert(Expression, Option<Name>),
    If(Expression, Vec<Statement>, Vec<Statement>),
    While(Expression, Vec<Statement>),
    For(Name, Bounds, Vec<Statement>),
    Atomic(Vec<Statement>),
    AtomicBegin,
    AtomicEnd,
    Lock(Path),
    Unlock(Path),
    Call {
        targets: Vec<Path>,
        procedure: Name,
        arguments: Vec<Expression>,
    },
    Return(Vec<Expression>),
    Start {
        procedure: Name,
        arguments: Vec<Expression>,
        /// One, if nothing is said.
        count: Option<Expression>,
        /// Whether it is a task.
        posts: bool,
    },
    Yield,
    StartAt(Name),
    EndThread,
    Sleep,
    /// On a condition, while a lock is free.
    SleepOn(Path, Path),
    Broadcast,
    /// Wakes one thread that sleeps on a condition, or all of them.
    Wake(Path, bool),
    Dead(Vec<Path>),
}

impl Action {
    fn blocks(&self) -> [&[Statement]; 2] {
        match self {
            Self::If(_, then, otherwise) => [then, otherwise],
            Self::While(_, body) | Self::For(_, _, body) | Self::Atomic(body) => [body, &[]],
            _ => [&[], &[]],
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) span: Range<usize>,
    pub(super) operation: Operation,
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Truth(bool),
    Number(i64),
    Any,
    Place(Path),
    New(Path),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    Binary(tepui_model::program::Operator, Box<Expression>, Box<Expression>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    Choose(Box<Expression>, Box<Expression>),
}
