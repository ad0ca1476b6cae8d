//! The tree of a program as it is written: names are not looked up yet.
//!
//! There are few kinds of statements, because many are the same thing in other words: `lock(l)` is `l := 1 constrain !l`,
//! `assume(c)` is an assignment of nothing that is constrained, `dead x` is `x := *`.

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    And,
    Or,
    Xor,
    Equal,
    Unequal,
    Implies,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expression {
    Constant(bool),
    /// A variable or a value of an enumeration.
    Name(String),
    /// `'x`.
    New(String),
    /// `*`.
    Any,
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Choice(Box<[Expression; 3]>),
    Schoose(Box<[Expression; 2]>),
}

/// Statements with their labels, and the labels before the end.
#[derive(Clone, Default, Debug)]
pub(super) struct Block {
    pub(super) statements: Vec<Statement>,
    pub(super) last: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Statement {
    pub(super) labels: Vec<String>,
    /// Where the statement itself begins, after its labels.
    pub(super) line: usize,
    pub(super) action: Action,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// All values are computed, then stored; then the constraint must hold.
    Change {
        targets: Vec<String>,
        values: Vec<Expression>,
        constraint: Option<Expression>,
    },
    /// A result without target goes nowhere.
    Call {
        targets: Vec<Option<String>>,
        callee: String,
        arguments: Vec<Expression>,
    },
    Return(Vec<Expression>),
    If(Expression, Block, Block),
    While(Expression, Block),
    Goto(Vec<String>),
    Assert(Expression, Option<String>),
    Atomic(Block),
    AtomicBegin,
    AtomicEnd,
    Sleep,
    Broadcast,
    Start {
        callee: String,
        arguments: Vec<Expression>,
        count: usize,
    },
    StartAt(String),
    Exit,
}

/// What a variable takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Boolean,
    Enumeration(String),
}

/// What a variable is at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Initial {
    /// Nothing was written.
    Unsaid,
    Value(Expression),
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) initial: Initial,
}

#[derive(Clone, Debug)]
pub(super) struct Procedure {
    pub(super) name: String,
    pub(super) results: Vec<Kind>,
    pub(super) parameters: Vec<Variable>,
    pub(super) locals: Vec<Variable>,
    pub(super) enforced: Vec<Expression>,
    pub(super) body: Block,
}

#[derive(Clone, Default, Debug)]
pub(super) struct Tree {
    pub(super) enumerations: Vec<(String, Vec<String>)>,
    pub(super) shared: Vec<Variable>,
    pub(super) procedures: Vec<Procedure>,
}
