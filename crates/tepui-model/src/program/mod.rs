//! Concurrent Boolean programs with recursive procedures.
//!
//! A program has shared variables and procedures; a procedure has local variables, of which the first are its
//! parameters, and statements. Statements lie in one list for each procedure, blocks refer to them by their index, and
//! this index, the *position*, is where a thread stands; the number of statements is the position of the end. Variables
//! are Booleans (0 and 1) or take the values of an enumeration (0, 1, 2, ...).
//!
//! [`step`] says what one thread does, [`run`] what a program does.

mod digest;
pub mod flow;
mod property;
pub mod run;
pub mod step;

pub use property::{DEADLOCK, Goal, Property, THREAD_LIMIT};

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The enumerations.
    pub enumerations: Vec<Enumeration>,
    /// The shared variables.
    pub shared: Vec<Variable>,
    /// The procedures.
    pub procedures: Vec<Procedure>,
    /// The procedure that the first thread runs.
    pub main: usize,
    /// Places that must not be reached, besides failing assertions.
    pub unreachable: Vec<Target>,
}

/// A named list of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enumeration {
    /// Its name.
    pub name: String,
    /// The names of its values.
    pub values: Vec<String>,
}

/// What values a variable takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// 0 and 1.
    Bool,
    /// Those of an enumeration.
    Enumeration(usize),
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its values.
    pub kind: Kind,
    /// Its value at the start; none, if it may be any.
    pub init: Option<u32>,
}

/// A procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// The line of its head.
    pub line: u32,
    /// How many of its local variables are parameters.
    pub parameters: usize,
    /// The local variables, parameters first.
    pub locals: Vec<Variable>,
    /// What it returns.
    pub results: Vec<Kind>,
    /// What holds before and after each of its steps.
    pub enforced: Option<Expression>,
    /// All its statements, those of a block after the one that the block belongs to.
    pub statements: Vec<Statement>,
    /// The outermost block.
    pub body: Block,
}

/// Positions of statements, one after the other.
pub type Block = Vec<usize>;

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its labels.
    pub labels: Vec<String>,
    /// The line where it begins.
    pub line: u32,
    /// Where its text stands in the source: from and to, in bytes.
    pub text: (u32, u32),
    /// What it does.
    pub action: Action,
    /// The name of the property that an assertion states, if it was given one.
    pub property: Option<String>,
}

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Nothing.
    Skip,
    /// Goes on at one of these positions.
    Goto(Vec<usize>),
    /// Assigns all values at once. New values must satisfy the constraint.
    Assign {
        /// The variables.
        targets: Vec<Place>,
        /// Their new values.
        values: Vec<Expression>,
        /// What old and new values satisfy.
        constraint: Option<Expression>,
    },
    /// Goes on if a condition holds; otherwise the thread is blocked.
    Assume(Expression),
    /// The same, said of a thread that waits for others.
    Wait(Expression),
    /// A condition that must hold.
    Assert(Expression),
    /// One block or the other.
    If(Expression, Block, Block),
    /// A block as long as a condition holds.
    While(Expression, Block),
    /// A block during which no other thread moves.
    Atomic(Block),
    /// From here on no other thread moves.
    AtomicBegin,
    /// Until here.
    AtomicEnd,
    /// Waits until a variable is 0 and makes it 1.
    Lock(Slot),
    /// Makes a variable 0.
    Unlock(Slot),
    /// Calls a procedure and assigns its results.
    Call {
        /// Where the results go.
        targets: Vec<Place>,
        /// The procedure.
        procedure: usize,
        /// The values of its parameters.
        arguments: Vec<Expression>,
    },
    /// Ends the procedure.
    Return(Vec<Expression>),
    /// Starts threads that run a procedure.
    Start {
        /// The procedure.
        procedure: usize,
        /// The values of its parameters.
        arguments: Vec<Expression>,
        /// How many.
        count: u32,
    },
    /// Starts a thread at a position, with a copy of the local variables.
    StartAt(usize),
    /// Ends the thread.
    EndThread,
    /// Sleeps until a broadcast.
    Sleep,
    /// Wakes all threads that sleep.
    Broadcast,
    /// These variables will not be read before they are written: any value will do.
    Dead(Vec<Slot>),
}

/// Which variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// A shared one.
    Shared(usize),
    /// A local one of the procedure at hand.
    Local(usize),
}

/// Where a value goes, if anywhere.
pub type Place = Option<Slot>;

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// Both.
    And,
    /// At least one.
    Or,
    /// Exactly one.
    Xor,
    /// The left one only if the right one.
    Implies,
    /// The same value.
    Equal,
    /// Different values.
    Unequal,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A value, and of what kind.
    Value(u32, Kind),
    /// Any value, each time anew.
    Any(Kind),
    /// The value of a variable.
    Read(Slot),
    /// In a constraint, the new value of a variable.
    New(Slot),
    /// The other Boolean value.
    Not(Box<Self>),
    /// Two operands.
    Binary(Operator, Box<Self>, Box<Self>),
    /// The second if the first holds, else the third.
    Choice(Box<Self>, Box<Self>, Box<Self>),
    /// 1 if the first holds, else 0 if the second holds, else any.
    Choose(Box<Self>, Box<Self>),
}

/// A labelled statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The label.
    pub label: String,
    /// The procedure.
    pub procedure: usize,
    /// The statement.
    pub position: usize,
}

impl Expression {
    /// Calls back for every variable that is mentioned, old or new.
    pub fn slots(&self, found: &mut dyn FnMut(Slot)) {
        match self {
            Self::Value(..) | Self::Any(_) => {}
            Self::Read(slot) | Self::New(slot) => found(*slot),
            Self::Not(operand) => operand.slots(found),
            Self::Binary(_, left, right) | Self::Choose(left, right) => {
                left.slots(found);
                right.slots(found);
            }
            Self::Choice(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| part.slots(found));
            }
        }
    }
}

impl Action {
    /// Calls back for every variable that is read.
    pub fn slots(&self, found: &mut dyn FnMut(Slot)) {
        match self {
            Self::Assign { values, constraint, .. } => values.iter().chain(constraint).for_each(|e| e.slots(found)),
            Self::Assume(condition) | Self::Wait(condition) | Self::Assert(condition) => condition.slots(found),
            Self::If(condition, ..) | Self::While(condition, _) => condition.slots(found),
            Self::Call { arguments: terms, .. } | Self::Start { arguments: terms, .. } | Self::Return(terms) => {
                terms.iter().for_each(|term| term.slots(found));
            }
            Self::Lock(slot) => found(*slot),
            Self::Skip | Self::Goto(_) | Self::Atomic(_) | Self::AtomicBegin | Self::AtomicEnd => {}
            Self::Unlock(_) | Self::StartAt(_) | Self::EndThread | Self::Sleep | Self::Broadcast | Self::Dead(_) => {}
        }
    }
}

impl Program {
    /// How many values a kind has.
    pub fn values(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Bool => 2,
            Kind::Enumeration(number) => self.enumerations[number].values.len() as u32,
        }
    }

    /// The name of a value.
    pub fn value_name(&self, kind: Kind, value: u32) -> String {
        match kind {
            Kind::Bool => value.to_string(),
            Kind::Enumeration(number) => self.enumerations[number].values[value as usize].clone(),
        }
    }

    /// A variable as seen from a procedure.
    pub fn variable(&self, procedure: usize, variable: Slot) -> &Variable {
        match variable {
            Slot::Shared(number) => &self.shared[number],
            Slot::Local(number) => &self.procedures[procedure].locals[number],
        }
    }
}
