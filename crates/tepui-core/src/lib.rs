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
//! * [`Portfolio`] is several engines as one; which of them answers does not depend on the clock.
//! * [`Decorator`] is an engine around another one, and [`WayBack`] what takes its answers back to a source.
//! * [`Story`] is an execution as it is told, whatever it is one of.

mod about;
mod bound;
mod budget;
mod contract;
mod decorator;
mod driver;
mod engine;
mod outcome;
mod portfolio;
pub mod story;
pub mod text;
mod verdict;
mod way_back;

pub use about::{About, Invariant, Place, Unreached};
pub use bound::Bound;
pub use budget::{Budget, Limit, Progress, Stop, Stopper};
pub use decorator::{Decorator, Deferred, Measuring};
pub use driver::{Believes, Query, drive, drive_believing};
pub use engine::{Approximation, Engine, Evidence, Facts, Notes, Round};
pub use outcome::{Iteration, Outcome, PropertyOutcome};
pub use portfolio::{Member, Portfolio};
pub use story::Story;
pub use verdict::{Proven, Reason, Refuted, Status, Verdict};
pub use way_back::{Translated, WayBack};
