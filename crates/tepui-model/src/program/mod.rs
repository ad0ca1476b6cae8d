//! Concurrent programs with finite data and recursive procedures.
//!
//! A program has shared variables and procedures; a procedure has local variables, of which the first are its
//! parameters, and statements. Statements lie in one list for each procedure, blocks refer to them by their index, and
//! this index, the *position*, is where a thread stands; the number of statements is the position of the end.
//!
//! Every variable is a scalar: a Boolean, a value of an enumeration, or a number of a range. Its value is kept as a *code*,
//! 0, 1, 2 and so on; the number that a code stands for is the lowest of the range and the code. Arrays and records are
//! taken apart: each of their parts is a variable of its own, one after the other, and an element whose index is not a
//! constant is found by counting from the first one ([`Element`]).
//!
//! [`step`] says what one thread does, [`run`] what a program does.

mod around;
mod data;
mod declared;
mod digest;
pub mod flow;
mod intervals;
mod names;
mod property;
mod replay;
pub mod run;
mod schedule;
pub mod schedulers;
pub mod step;
mod tasks;

pub use data::{Condition, Element, Index, Place};
pub use declared::{Conditions, Declared, Dimension, Record, Shape};
pub use intervals::Interval;
pub use property::{DEADLOCK, Goal, Property, THREAD_LIMIT};
pub use schedule::{Run, Schedule};
pub use tasks::Order;

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The enumerations.
    pub enumerations: Vec<Enumeration>,
    /// The records.
    pub records: Vec<Record>,
    /// The shared variables.
    pub shared: Vec<Variable>,
    /// The same as they were declared.
    pub declared: Vec<Declared>,
    /// What threads sleep on.
    pub conditions: Vec<Conditions>,
    /// The procedures.
    pub procedures: Vec<Procedure>,
    /// The procedure that the first thread runs.
    pub main: usize,
    /// Places that must not be reached, besides failing assertions.
    pub unreachable: Vec<Target>,
    /// If it is asynchronous, so that what is started are tasks: in which order they are dispatched.
    pub order: Option<Order>,
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
    /// The numbers from the first to the second.
    Range(i32, i32),
}

/// A variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its values.
    pub kind: Kind,
    /// The code of its value at the start; none, if it may be any.
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
    /// The same as they were declared.
    pub declared: Vec<Declared>,
    /// What it returns.
    pub results: Vec<Kind>,
    /// The same as it was declared.
    pub returned: Vec<Shape>,
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
    /// A block for each value of a local variable, which becomes the first one. Its last statement is [`Self::Next`].
    For(usize, Block),
    /// The local variable of a loop becomes the next value, and the block begins again at its first position. After the last
    /// value the variable becomes the first one, and the loop is done.
    Next(usize, usize),
    /// A block during which no other thread moves.
    Atomic(Block),
    /// From here on no other thread moves.
    AtomicBegin,
    /// Until here.
    AtomicEnd,
    /// Waits until a variable is 0 and makes it 1.
    Lock(Place),
    /// Makes a variable 0.
    Unlock(Place),
    /// Waits until a number is above 0 and takes 1 away.
    Acquire(Place),
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
    /// The task goes back to those that are pending.
    Yield,
    /// Sleeps until a broadcast.
    Sleep,
    /// Makes a lock 0 and sleeps on a condition.
    SleepOn(Condition, Place),
    /// Wakes all threads that sleep without a condition.
    Broadcast,
    /// Wakes threads that sleep on a condition: all of them, or one, if there is one.
    Wake {
        /// The condition.
        condition: Condition,
        /// Whether it wakes all of them.
        all: bool,
    },
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
    /// A lower number than the right one.
    Less,
    /// Not a higher number.
    AtMost,
    /// A higher number.
    Greater,
    /// Not a lower number.
    AtLeast,
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The product.
    Multiply,
    /// The quotient, rounded down; the right operand is a constant above 0.
    Divide,
    /// The rest of that division.
    Modulo,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// The code of a value, and of what kind.
    Value(u32, Kind),
    /// A number.
    Number(i64),
    /// Any value, each time anew.
    Any(Kind),
    /// The value of a variable.
    Read(Slot),
    /// In a constraint, the new value of a variable.
    New(Slot),
    /// The value of an element.
    Element(Box<Element>),
    /// In a constraint, the new value of an element; its indices are those of before.
    NewElement(Box<Element>),
    /// The other Boolean value.
    Not(Box<Self>),
    /// The number with the other sign.
    Negate(Box<Self>),
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
    /// Calls back for itself and every expression in it.
    pub fn parts<'a>(&'a self, found: &mut dyn FnMut(&'a Self)) {
        found(self);
        match self {
            Self::Value(..) | Self::Number(_) | Self::Any(_) | Self::Read(_) | Self::New(_) => {}
            Self::Element(element) | Self::NewElement(element) => {
                element.indices.iter().for_each(|index| index.value.parts(found));
            }
            Self::Not(operand) | Self::Negate(operand) => operand.parts(found),
            Self::Binary(_, left, right) | Self::Choose(left, right) => {
                [left, right].into_iter().for_each(|part| part.parts(found));
            }
            Self::Choice(condition, then, otherwise) => {
                [condition, then, otherwise].into_iter().for_each(|part| part.parts(found));
            }
        }
    }

    /// Calls back for every variable that is mentioned, old or new.
    pub fn slots(&self, found: &mut dyn FnMut(Slot)) {
        self.parts(&mut |part| match part {
            Self::Read(slot) | Self::New(slot) => found(*slot),
            Self::Element(element) | Self::NewElement(element) => element.slots().into_iter().for_each(&mut *found),
            _ => {}
        });
    }

    /// Calls back for every element that is mentioned.
    pub fn elements(&self, found: &mut dyn FnMut(&Element)) {
        self.parts(&mut |part| {
            if let Self::Element(element) | Self::NewElement(element) = part {
                found(element);
            }
        });
    }
}

impl Action {
    /// Calls back for every variable that is read.
    pub fn slots(&self, found: &mut dyn FnMut(Slot)) {
        self.expressions(&mut |expression| expression.slots(found));
        match self {
            Self::Lock(place) | Self::Acquire(place) => place.slots().into_iter().for_each(found),
            Self::Next(variable, _) => found(Slot::Local(*variable)),
            _ => {}
        }
    }

    /// Calls back for every expression that is evaluated, in the order of evaluation.
    pub fn expressions<'a>(&'a self, found: &mut dyn FnMut(&'a Expression)) {
        match self {
            Self::Assign { targets, values, constraint } => {
                targets.iter().for_each(|target| target.indices(found));
                values.iter().chain(constraint).for_each(found);
            }
            Self::Assume(condition) | Self::Wait(condition) | Self::Assert(condition) => found(condition),
            Self::If(condition, ..) | Self::While(condition, _) => found(condition),
            Self::Call { targets, arguments, .. } => {
                targets.iter().for_each(|target| target.indices(found));
                arguments.iter().for_each(found);
            }
            Self::Start { arguments: terms, .. } | Self::Return(terms) => terms.iter().for_each(found),
            Self::Lock(place) | Self::Unlock(place) | Self::Acquire(place) => place.indices(found),
            Self::SleepOn(condition, lock) => {
                condition.indices.iter().for_each(|index| found(&index.value));
                lock.indices(found);
            }
            Self::Wake { condition, .. } => condition.indices.iter().for_each(|index| found(&index.value)),
            Self::Skip | Self::Goto(_) | Self::Atomic(_) | Self::AtomicBegin | Self::AtomicEnd => {}
            Self::For(..) | Self::Next(..) | Self::StartAt(_) | Self::EndThread => {}
            Self::Yield | Self::Sleep | Self::Broadcast | Self::Dead(_) => {}
        }
    }

    /// The places that it stores values in, those of a call included.
    pub fn targets(&self) -> &[Place] {
        match self {
            Self::Assign { targets, .. } | Self::Call { targets, .. } => targets,
            Self::Lock(place) | Self::Unlock(place) | Self::Acquire(place) | Self::SleepOn(_, place) => {
                std::slice::from_ref(place)
            }
            _ => &[],
        }
    }
}

impl Program {
    /// Whether some statement starts threads. If not, `main` is the only one.
    pub fn starts_threads(&self) -> bool {
        let starts = |statement: &Statement| matches!(statement.action, Action::Start { .. } | Action::StartAt(_));
        self.procedures.iter().any(|procedure| procedure.statements.iter().any(starts))
    }

    /// How many values a kind has.
    pub fn values(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Bool => 2,
            Kind::Enumeration(number) => self.enumerations[number].values.len() as u32,
            Kind::Range(low, high) => high.abs_diff(low).saturating_add(1),
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
