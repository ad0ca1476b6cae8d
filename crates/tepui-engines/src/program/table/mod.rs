//! From programs to pushdown systems.
//!
//! A shared state is a valuation of the shared variables with a `Mode`; a stack symbol is a `Point`: a position in a
//! procedure with the values of the local variables. Most statements overwrite the top of the stack; a call pushes, a
//! return pops. Three things take several steps of the pushdown system, between which no other thread moves; the mode
//! says what is going on:
//!
//! * *Results.* A return pops and leaves the results in the mode; the caller, whose frame is now on top, takes them.
//! * *Starting a thread.* The mode carries the first point of the new thread; a thread whose stack is empty takes it.
//! * *Waking.* A broadcast sets the mode; threads that sleep may wake in it, until the one that broadcasts ends it.
//!   That some go on sleeping does no harm: one that is awake need not move either.
//!
//! *Atomic sections.* While a thread is in one, the shared state says so, and so do the points of this thread and of no other.
//!
//! Only pairs of a shared state and a point that may occur together get rules. Which may is computed with the threads
//! apart from each other: a thread's pairs are closed under its own steps and under the changes of shared states by
//! others; a return may bring any frame to light that some call of the same procedure has left. So the pairs are more than
//! those that really occur, but twenty shared variables do not mean a million shared states.
//!
//! *Deadlocks.* Where it is asked for them, a thread that cannot move may say so, and then nothing else happens but that
//! others say the same. If all have done so, and not all have ended, the program is stuck.
//!
//! Here are shared states and points; `raw` has the steps as rules, `pairs` says what occurs together, and `model` is what
//! follows.

mod call_return;
mod explain;
mod legend;
mod model;
mod pairs;
mod raw;

use tepui_model::program::Program;
use tepui_model::pushdown::Model;

pub use super::retrace::Frame;
pub use call_return::CallReturn;
pub use explain::{Explained, explain};
pub use legend::{Legend, Meaning, Phase};
pub use pairs::LOOK_EVERY;
pub(super) use raw::tells_always;
pub use tepui_model::program::THREAD_LIMIT;

pub use super::Options;
use super::Patience;
use super::setup::Setup;
use pairs::Exploration;
use raw::Steps;

/// What is going on besides the shared variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Mode {
    /// Nothing: threads take steps.
    Open,
    /// A procedure has returned these values, and whether its thread insists on not being interrupted.
    Returned(u32, bool),
    /// So many threads are to be started with a frame.
    Starting { first: u32, count: u32 },
    /// A broadcast.
    Waking,
    /// A procedure, whose frame is given, cannot return to the frame below, whatever it returns; so many threads have found
    /// before that they cannot move.
    Refusing { callee: u32, count: u32 },
    /// A thread ends with all its frames.
    Ending,
    /// A thread is to be started, and there is no place for it.
    Full,
    /// So many threads have found that they cannot move, one of which has not ended.
    Probing(u32),
    /// No thread can move.
    Stuck,
}

/// A stack symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Point {
    /// The number of its frame.
    frame: u32,
    doing: Doing,
}

/// What a thread does besides what its frame says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Doing {
    /// Nothing.
    Plain,
    /// It wakes others.
    Waking,
    /// It has found that it cannot move.
    Probed,
}

/// A shared state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Global {
    /// The number of the shared row.
    shared: u32,
    mode: Mode,
    /// How many threads have not ended, where threads are created.
    live: u32,
    /// How many threads sleep, where that is counted.
    asleep: u32,
}

/// The shared row after a step, and the mode.
type Change = (u32, Mode);

/// What a step does to the stack.
enum Effect {
    Become(Point),
    Call { callee: Point, caller: Point },
    Leave,
}

/// Why there is no model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Uncompiled {
    /// The program has something that is more than can be dealt with.
    Unsupported(String),
    /// There is no such table, or it would have too many rules.
    NoTable(String),
    /// The caller wanted it to end.
    Stopped,
}

impl std::fmt::Display for Uncompiled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported(why) | Self::NoTable(why) => f.write_str(why),
            Self::Stopped => f.write_str("the compilation was stopped"),
        }
    }
}

impl std::error::Error for Uncompiled {}

/// A program as a pushdown system.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The system.
    pub model: Model,
    /// What its numbers mean.
    pub legend: Legend,
}

/// The pushdown system of a program. Where threads are created and there are too few places for them, the property
/// [`THREAD_LIMIT`] is violated. Each assertion is a property, and so is each label that must not be reached.
///
/// From time to time it is asked whether to stop.
pub fn compile(program: &Program, options: Options, patience: &Patience) -> Result<Compiled, Uncompiled> {
    let steps = Steps::new(program, options, patience)?;
    let compiled = Exploration::new(&steps)?.run(patience)?;
    if steps.is_stopped() { Err(Uncompiled::Stopped) } else { Ok(compiled) }
}

/// Whether threads are created while others run, so that their number is a bound.
pub fn creates_threads(program: &Program, reduce: bool) -> bool {
    Setup::of(program).is_none_or(|setup| !reduce && !setup.started.is_empty())
}
