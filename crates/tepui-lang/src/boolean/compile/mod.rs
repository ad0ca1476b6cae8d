//! From programs to pushdown systems.
//!
//! A shared state is a valuation of the shared variables with a [`Mode`]; a stack symbol is a [`Point`]: a position in a
//! procedure with the values of the local variables. Most statements overwrite the top of the stack; a call pushes, a
//! return pops. Three things take several steps of the pushdown system, between which no other thread moves; the mode
//! says what is going on:
//!
//! * *Results.* A return pops and leaves the results in the mode; the caller, whose frame is now on top, takes them.
//! * *Starting a thread.* The mode carries the first point of the new thread; a thread whose stack is empty takes it.
//! * *Waking.* A broadcast sets the mode; threads that sleep may wake in it, until the one that broadcasts ends it.
//!   That some go on sleeping does no harm: one that is awake need not move either.
//!
//! *Atomic sections.* While a thread is in one, the mode says so, and so do the points of this thread and of no other.
//!
//! Only pairs of a shared state and a point that may occur together get rules. Which may is computed with the threads
//! apart from each other: a thread's pairs are closed under its own steps and under the changes of shared states by
//! others; a return may bring any frame to light that some call of the same procedure has left. So the pairs are more than
//! those that really occur, but twenty shared variables do not mean a million shared states.
//!
//! Here are shared states and points; [`steps`] says what a thread does at a point, [`pairs`] which occur together.

mod layout;
mod pairs;
mod steps;

use tepui_model::program::Program;
use tepui_model::pushdown::Model;

use layout::Values;
use pairs::Exploration;
use steps::Steps;

/// What is going on besides the shared variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Mode {
    /// Nothing.
    Calm,
    /// Some thread is in an atomic section.
    Atomic,
    /// A procedure has returned these results, and whether its thread insists on not being interrupted.
    Returned(Values, bool),
    /// So many threads are to be started at a point, whether the values of local variables other than parameters are
    /// still to be chosen, and whether the starter is in an atomic section.
    Starting { first: Point, fresh: bool, count: u32, atomic: bool },
    /// A broadcast, and whether its thread is in an atomic section.
    Waking(bool),
    /// A thread ends with all its frames.
    Ending,
    /// A thread is to be started, and there is no place for it.
    Full,
    /// Variables have no value yet.
    Begin,
}

/// A stack symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Point {
    procedure: u32,
    position: u32,
    locals: Values,
    /// Whether it is the first procedure of its thread.
    root: bool,
    /// Whether it was called from an atomic block.
    under: bool,
    /// Whether it is inside an atomic block of its own.
    within: bool,
    /// Whether its thread is between the beginning and the end of an atomic section.
    insists: bool,
    stage: Stage,
}

/// What a frame does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    /// It runs.
    Running,
    /// It waits for a procedure that it has called.
    Calling,
    /// It sleeps.
    Asleep,
    /// It wakes others.
    Waking,
    /// An assertion has failed.
    Failed,
    /// Nothing has begun.
    Begin,
}

/// A shared state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Global {
    shared: Values,
    mode: Mode,
    /// How many threads have not ended.
    live: u32,
}

/// The values of the shared variables after a step, and the mode.
type Change = (Values, Mode);

/// What a step does to the stack.
enum Effect {
    Become(Point),
    Call { callee: Point, caller: Point },
    Leave,
}

/// Why a program cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge(String);

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooLarge {}

/// The name of the property that more threads are wanted than there are places for.
pub const THREAD_LIMIT: &str = "thread-limit";

/// The pushdown system of a program, with places for some threads at the same time. Where that is too few, the property
/// [`THREAD_LIMIT`] is violated. Each assertion is a property, and so is each label that must not be reached.
pub fn compile(program: &Program, places: usize) -> Result<Model, TooLarge> {
    let steps = Steps::new(program)?;
    Exploration::new(&steps, places).run()
}
