//! Evidence about pushdown systems: inductive sets of views, and schedules of single steps.

mod certificate;
mod trace;

pub use certificate::{Certificate, Lemma, LemmaThread, Rows};
pub use trace::{Step, Trace};
