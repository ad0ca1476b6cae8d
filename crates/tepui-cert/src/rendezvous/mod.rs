//! Evidence about communicating pushdown systems: languages with no word in common, and steps that threads take together.

mod certificate;
mod trace;

pub use certificate::{Automaton, Certificate, Claim, Direction};
pub use trace::{Step, Trace};
