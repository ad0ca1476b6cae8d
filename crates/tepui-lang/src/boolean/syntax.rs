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
    pub(super) shared: Vec<Declaration>,
    pub(super) procedures: Vec<Procedure>,
    /// The procedure that the program begins with, if it is not the one called `main`.
    pub(super) start: Option<usize>,
}

/// What values a variable takes, as written.
#[derive(Clone, Debug)]
pub(super) enum KindName {
    Bool,
    Named(Name),
}

/// One variable.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: Name,
    pub(super) kind: KindName,
    pub(super) init: Option<Expression>,
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

#[derive(Debug)]
pub(super) enum Action {
    Skip,
    Goto(Vec<Name>),
    Assign {
        targets: Vec<Name>,
        values: Vec<Expression>,
        constraint: Option<Expression>,
    },
    Assume(Expression),
    Wait(Expression),
    /// With the name of the property, if it is given one.
    Assert(Expression, Option<Name>),
    If(Expression, Vec<Statement>, Vec<Statement>),
    While(Expression, Vec<Statement>),
    Atomic(Vec<Statement>),
    AtomicBegin,
    AtomicEnd,
    Lock(Name),
    Unlock(Name),
    Call {
        targets: Vec<Name>,
        procedure: Name,
        arguments: Vec<Expression>,
    },
    Return(Vec<Expression>),
    Start {
        procedure: Name,
        arguments: Vec<Expression>,
        count: u32,
    },
    StartAt(Name),
    EndThread,
    Sleep,
    Broadcast,
    Dead(Vec<Name>),
}

#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) span: Range<usize>,
    pub(super) operation: Operation,
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    Truth(bool),
    Any,
    Name(String),
    New(String),
    Not(Box<Expression>),
    Binary(tepui_model::program::Operator, Box<Expression>, Box<Expression>),
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    Choose(Box<Expression>, Box<Expression>),
}
