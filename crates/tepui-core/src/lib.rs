//! Observation sequences: the one idea behind every engine.
//!
//! Raise a bound on some resource; for each bound compute the views reachable within it. A violation ends the run
//! with a trace. A bound that brings no new view is a plateau, and a plateau is never a proof: the engine's
//! convergence test is asked, and only its *evidence* ends the run as safe. Everything else goes on, until a limit
//! ends it as unknown.
//!
//! * [`Engine`] is a technique; it answers for one bound at a time.
//! * [`drive`] is the loop over bounds, the only one, and the only place that builds a [`Verdict`].
//! * [`Budget`] is how limits reach an engine, and how work is counted.
//! * [`race()`] runs several engines side by side, and the winner does not depend on the clock.

mod bound;
mod budget;
mod driver;
mod engine;
mod measuring;
mod race;
mod verdict;

pub use bound::Bound;
pub use budget::{Budget, Limit, Progress, Stop, Stopper};
pub use driver::{Iteration, Outcome, PropertyOutcome, Task, drive};
pub use engine::{Approximation, Engine, Evidence, Round};
pub use measuring::Measuring;
pub use race::{Entrant, race};
pub use verdict::{Proven, Reason, Refuted, Status, Verdict};
