//! The tree of a program as it is written: names are not looked up yet.
//!
//! There are few kinds of statements, because many are the same thing in other words: `assume(c)` is an assignment of
//! nothing that is constrained, `dead x` is `x := *`, and `lock(l)`, `acquire(s)` and `cas(x, e, d)` are operations on
//! one place. What takes two steps is two statements: they have the same number.

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operator {
    And,
    Or,
    Xor,
    Equal,
    Unequal,
    Implies,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

impl Operator {
    /// Whether both sides may be of any kind, if they are of the same.
    pub(super) fn compares(self) -> bool {
        matches!(self, Self::Equal | Self::Unequal)
    }

    /// Whether both sides are numbers, and so is the result.
    pub(super) fn computes(self) -> bool {
        matches!(self, Self::Plus | Self::Minus | Self::Times | Self::Divide | Self::Modulo)
    }

    /// Whether both sides are numbers.
    pub(super) fn wants_numbers(self) -> bool {
        self.computes() || matches!(self, Self::Less | Self::AtMost | Self::Greater | Self::AtLeast)
    }
}

/// A variable, or a part of one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) name: String,
    pub(super) parts: Vec<Part>,
}

impl Place {
    /// A whole variable.
    pub(super) fn whole(name: &str) -> Self {
        Self { name: name.to_owned(), parts: Vec::new() }
    }

    /// A field of it.
    pub(super) fn field(&self, field: &str) -> Self {
        let mut place = self.clone();
        place.parts.push(Part::Field(field.to_owned()));
        place
    }
}

/// How to get from something to a part of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Element(Expression),
    Field(String),
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Expression {
    /// `true` or `false`; where there is `begin`, `0` and `1` as well.
    Truth(bool),
    Number(i64),
    /// A place, a constant or a value of an enumeration.
    Old(Place),
    /// `'x`.
    New(Place),
    /// `*`.
    Any,
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Choice(Box<[Expression; 3]>),
    Schoose(Box<[Expression; 2]>),
}

impl Expression {
    pub(super) fn binary(operator: Operator, left: Self, right: Self) -> Self {
        Self::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Whether there is a `*` in it.
    pub(super) fn has_any(&self) -> bool {
        match self {
            Self::Any | Self::Schoose(_) => true,
            Self::Truth(_) | Self::Number(_) => false,
            Self::Old(place) | Self::New(place) => place.has_any(),
            Self::Not(inner) | Self::Negative(inner) => inner.has_any(),
            Self::Binary(_, left, right) => left.has_any() || right.has_any(),
            Self::Choice(parts) => parts.iter().any(Self::has_any),
        }
    }
}

impl Place {
    /// Whether there is a `*` in an index.
    pub(super) fn has_any(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Element(index) if index.has_any()))
    }
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
    /// Its number in the order of the text.
    pub(super) number: usize,
    pub(super) action: Action,
}

/// What is done with one place, in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Lock,
    Unlock,
    Acquire,
    /// Adds the operand. Its result is what was there before.
    FetchAdd,
    /// Stores the second operand if the first is there. Its result is whether it was.
    Cas,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    /// All values are computed, then stored; then the constraint must hold.
    Change {
        targets: Vec<Place>,
        values: Vec<Expression>,
        constraint: Option<Expression>,
    },
    /// The result of an operation goes to the target, if there is one.
    Operate {
        operation: Operation,
        target: Option<Place>,
        place: Place,
        operands: Vec<Expression>,
    },
    /// A result without target goes nowhere.
    Call {
        targets: Vec<Option<Place>>,
        callee: String,
        arguments: Vec<Expression>,
    },
    Return(Vec<Expression>),
    If(Expression, Block, Block),
    While(Expression, Block),
    For {
        variable: String,
        over: Kind,
        body: Block,
    },
    Goto(Vec<String>),
    Assert(Expression, Option<String>),
    Atomic(Block),
    AtomicBegin,
    AtomicEnd,
    /// On a condition, if it has a name, and with a lock that becomes 0.
    Sleep(Option<(Place, Place)>),
    /// Wakes all; on a condition, if it has a name.
    Broadcast(Option<Place>),
    /// Wakes one.
    Signal(Place),
    /// The first step of `arrive`: counts the thread, and the last one opens the barrier.
    Arrive(Place),
    /// The second one: waits until the barrier is open.
    Pass(Place),
    Start {
        callee: String,
        arguments: Vec<Expression>,
        count: Expression,
        /// Whether it is a task.
        posts: bool,
    },
    StartAt(String),
    Exit,
    Yield,
    /// Until a condition holds.
    Wait(Expression),
}

/// What a variable takes, or each of its elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Boolean,
    /// An enumeration, a record, or another kind that has a name.
    Named(String),
    Range(Expression, Expression),
    Semaphore,
    /// With the number of threads.
    Barrier(Expression),
    Condition,
}

/// What a variable is at first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Initial {
    /// Nothing was written.
    Unsaid,
    Value(Expression),
    List(Vec<Initial>),
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    /// What its indices are, if it is an array: sizes or names of kinds.
    pub(super) dimensions: Vec<Expression>,
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

/// Something that gives a name to a number or a kind. The order matters: each uses only those before it.
#[derive(Clone, Debug)]
pub(super) enum Definition {
    Constant(String, Expression),
    Kind(String, Kind),
    Record(String, Vec<Variable>),
}

#[derive(Clone, Default, Debug)]
pub(super) struct Tree {
    pub(super) enumerations: Vec<(String, Vec<String>)>,
    pub(super) definitions: Vec<Definition>,
    pub(super) shared: Vec<Variable>,
    /// Labels at which only one thread may stand.
    pub(super) exclusive: Vec<String>,
    /// In which order tasks are dispatched, if it is said.
    pub(super) tasks: Option<String>,
    pub(super) procedures: Vec<Procedure>,
}
