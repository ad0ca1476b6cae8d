//! Programs of state machines that send each other events: each machine has a queue of any length.
//!
//! A program is compiled to states with handlers and functions over slots; what stands in the source, names and lines, is
//! kept apart ([`Told`]), and nothing depends on it. This is the reference: small, slow, and meant to be read beside the
//! semantics page of the book. [`run`] says what one machine does alone, [`state`] what a program does.

pub mod atoms;
mod digest;
pub mod evaluate;
pub mod formula;
pub mod habits;
pub mod names;
pub mod rename;
pub mod run;
pub mod state;
mod value;

use std::collections::BTreeSet;

pub use value::Value;

/// The event that ends a machine.
pub const HALT: u32 = 0;

/// What is taken where nothing else can be.
pub const NULL: u32 = 1;

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// How it is to be read.
    pub rules: Rules,
    /// For each event its bound, if there is one; `halt` and `null` come first.
    pub events: Vec<Option<Bound>>,
    /// For each event what its payload must be where which event it is was not known when the payload was looked at.
    pub payloads: Vec<Type>,
    /// The kinds of machines, specs included.
    pub kinds: Vec<Kind>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The kind of the first machine.
    pub main: usize,
    /// The specs, in the order in which they hear of an event.
    pub specs: Vec<Spec>,
    /// What is claimed of queues. Claims that do not hold are an error.
    pub claims: Vec<formula::Claim>,
    /// Variables that are forgotten although something depends on them, each with its kind. Where there are such, a condition
    /// that depends on a forgotten value may be true and may be false; otherwise nobody may go on.
    pub forgets: BTreeSet<(usize, usize)>,
    /// What is where in the source.
    pub told: Told,
}

/// What the dialects differ in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Whether `halt` is always received, and a machine that waits when nothing can move is in a deadlock.
    pub today: bool,
    /// Whether others may move between the time when specs hear of an event and the time when it is in the queue.
    pub split_sends: bool,
    /// Whether sets and maps are kept in the order of insertion.
    pub insertion_order: bool,
    /// Whether executions in which a claim does not hold are not looked at.
    pub assume_claims: bool,
}

/// How many instances there may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Executions with more are not looked at.
    Assume(u32),
    /// More are an error.
    Assert(u32),
}

/// A kind of machines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kind {
    /// The states.
    pub states: Vec<State>,
    /// The one that it starts in.
    pub start: usize,
    /// What its variables start with.
    pub variables: Vec<Value>,
    /// How long its queue may be.
    pub bound: Option<Bound>,
    /// The events that it may be sent, if not all.
    pub receives: Option<Vec<u32>>,
    /// The events that it may send, if not all.
    pub sends: Option<Vec<u32>>,
}

/// A state of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The function that runs when it is entered.
    pub entry: Option<usize>,
    /// The function that runs when it is left.
    pub exit: Option<usize>,
    /// Events that stay in the queue.
    pub defers: Vec<u32>,
    /// What is done with others.
    pub handlers: Vec<(u32, Handler)>,
    /// Of a spec.
    pub temperature: Option<Temperature>,
}

impl State {
    /// What is done with an event.
    pub fn handler(&self, event: u32) -> Option<Handler> {
        self.handlers.iter().find(|(other, _)| *other == event).map(|(_, handler)| *handler)
    }
}

/// Whether something is still to happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Temperature {
    /// Something is.
    Hot,
    /// Nothing is.
    Cold,
}

/// What is done with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handler {
    /// A function runs.
    Do(usize),
    /// Nothing.
    Ignore,
    /// The state is left, a function runs, if there is one, and another state is entered.
    Goto(usize, Option<usize>),
    /// Another state is entered on top of this one.
    Push(usize),
}

/// A spec that is attached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spec {
    /// Its kind.
    pub kind: usize,
    /// The events that it observes.
    pub observes: Vec<u32>,
    /// The kinds of machines that it listens to.
    pub hears: Vec<usize>,
    /// Whether what it says is no error.
    pub scenario: bool,
}

/// A function, or a handler without a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// How many of its slots are parameters: the first ones.
    pub parameters: usize,
    /// How many slots it has.
    pub slots: usize,
    /// What it does. At the end it returns.
    pub code: Vec<Instruction>,
}

/// Where a value is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Slot {
    /// In a variable of the machine.
    Variable(usize),
    /// In the function.
    Local(usize),
}

/// A place that can be changed: a slot, or a part of what is in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The slot.
    pub slot: Slot,
    /// The way to the part.
    pub path: Vec<Part>,
}

/// A part of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// An item of a tuple.
    Item(usize),
    /// What is at an index of a sequence or at a key of a map.
    At(Expression),
}

/// What a function does in one go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Instruction {
    /// Stores a value. At a key of a map that has none, it is inserted.
    Set(Place, Expression),
    /// Inserts into a sequence at an index, or into a map at a new key.
    Insert(Place, Expression, Expression),
    /// Adds to a set.
    Add(Place, Expression),
    /// Removes an index, a key or an element.
    Remove(Place, Expression),
    /// Goes on elsewhere.
    Jump(usize),
    /// Goes on elsewhere unless a condition holds.
    Unless(Expression, usize),
    /// Calls a function; its result goes into a slot of this one.
    Call(usize, Vec<Expression>, Option<usize>),
    /// Returns.
    Return(Option<Expression>),
    /// Puts one of several values into a slot.
    Choose(Among, usize),
    /// Creates a machine, whose reference goes into a slot.
    New(usize, Expression, Option<usize>),
    /// Sends an event with a payload to a machine.
    Send(Expression, Expression, Expression),
    /// Tells the specs of an event.
    Announce(Expression, Expression),
    /// Ends the handler and handles an event at once.
    Raise(Expression, Expression),
    /// Ends the handler and goes to another state.
    Goto(usize, Expression),
    /// Ends the handler and goes back to the state below.
    Pop,
    /// Waits for one of some events; the payload goes into a slot, and the function goes on at the place that belongs to it.
    Receive(Vec<(u32, usize)>, usize),
    /// Fails unless a condition holds, with a message.
    Assert(Expression, Expression),
    /// Executions in which it does not hold are not looked at.
    Assume(Expression),
    /// Says something.
    Print(Expression),
}

impl Instruction {
    /// The expressions that it evaluates, but for messages to people, which decide nothing.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Self::Set(place, one) | Self::Add(place, one) | Self::Remove(place, one) => place.with_keys(&[one]),
            Self::Insert(place, one, two) => place.with_keys(&[one, two]),
            Self::Announce(one, two) | Self::Raise(one, two) => vec![one, two],
            Self::Unless(one, _)
            | Self::Return(Some(one))
            | Self::Choose(Among::Of(one), _)
            | Self::New(_, one, _)
            | Self::Goto(_, one)
            | Self::Assert(one, _)
            | Self::Assume(one) => vec![one],
            Self::Call(_, arguments, _) => arguments.iter().collect(),
            Self::Send(target, event, payload) => vec![target, event, payload],
            Self::Print(_) | Self::Return(None) | Self::Choose(..) | Self::Jump(_) | Self::Pop | Self::Receive(..) => {
                Vec::new()
            }
        }
    }
}

impl Place {
    /// The keys on the way to it, and some expressions more.
    fn with_keys<'e>(&'e self, more: &[&'e Expression]) -> Vec<&'e Expression> {
        let keys = self.path.iter().filter_map(|part| if let Part::At(key) = part { Some(key) } else { None });
        keys.chain(more.iter().copied()).collect()
    }
}

/// What is chosen from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Among {
    /// False and true; whether both must come if this is asked again and again.
    Bool {
        /// Whether they must.
        fair: bool,
    },
    /// The numbers below a number, or the elements of a collection.
    Of(Expression),
    /// All of these: what a foreign function may return.
    These(Vec<Value>),
    /// Values that are not finite in number, for the foreign function with this number in [`Told::foreign`].
    Unknown(usize),
}

/// An expression without effects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expression {
    /// A constant.
    Value(Value),
    /// What is in a slot.
    Read(Slot),
    /// The machine itself.
    This,
    /// An item of a tuple.
    Item(Box<Expression>, usize),
    /// What is at an index of a sequence or a set, or at a key of a map.
    At(Box<Expression>, Box<Expression>),
    /// Of one value.
    Unary(Unary, Box<Expression>),
    /// Of two.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// A value that must be of a type.
    Cast(Box<Expression>, Type),
    /// A tuple.
    Tuple(Vec<Expression>),
    /// A tuple with names, given by the number of their list.
    Record(u32, Vec<Expression>),
    /// A text with values in it: what is between them, and those.
    Format(Vec<String>, Vec<Expression>),
}

/// An operator with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unary {
    /// Whether a condition does not hold.
    Not,
    /// A number with the other sign.
    Minus,
    /// The keys of a map, as a sequence.
    Keys,
    /// The values of a map, as a sequence.
    Values,
    /// The number of elements.
    Size,
    /// An integer from a number or a constant.
    ToInt,
    /// A number with a point from an integer.
    ToFloat,
}

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Binary {
    Times,
    Divide,
    Modulo,
    Plus,
    Minus,
    Less,
    AtMost,
    Greater,
    AtLeast,
    In,
    Equal,
    Unequal,
    And,
    Or,
}

/// A type.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Type {
    Any,
    Bool,
    Int,
    Float,
    Text,
    Constant(u32),
    Event,
    Machine,
    Tuple(Vec<Type>),
    Record(u32, Vec<Type>),
    Seq(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
    Foreign,
}

/// What is where in the source, and what things are called. Nothing depends on it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Told {
    /// The events.
    pub events: Vec<String>,
    /// The kinds.
    pub kinds: Vec<ToldKind>,
    /// The functions.
    pub functions: Vec<ToldFunction>,
    /// The enumerations with their constants.
    pub enumerations: Vec<(String, Vec<(String, i64)>)>,
    /// The lists of names of records.
    pub records: Vec<Vec<String>>,
    /// The foreign functions.
    pub foreign: Vec<String>,
}

/// What belongs to a kind in the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToldKind {
    /// Its name.
    pub name: String,
    /// Those of its states.
    pub states: Vec<String>,
    /// Those of its variables.
    pub variables: Vec<String>,
}

/// What belongs to a function in the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ToldFunction {
    /// Its name.
    pub name: String,
    /// What its slots are called; nothing, where they have no name.
    pub slots: Vec<String>,
    /// For each instruction the source and the bytes of it that it stands for.
    pub places: Vec<(u32, u32, u32)>,
}
