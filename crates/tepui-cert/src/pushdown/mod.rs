//! Evidence about pushdown systems: inductive sets of views, and schedules of single steps.

mod certificate;
mod regular;
mod trace;

pub use certificate::{Certificate, Lemma, LemmaThread, Rows};
pub use regular::{Language, Regular, RegularThread};
pub use trace::{Step, Trace};
