//! Evidence about pushdown systems: inductive sets of views, and schedules of single steps.

mod certificate;
mod lemma;
mod read;
mod regular;
mod trace;
mod write;

pub use certificate::Certificate;
pub use lemma::{Explored, Lemma, LemmaThread, Rows};
pub use regular::{Language, Regular, RegularThread};
pub use trace::{Step, Trace};
