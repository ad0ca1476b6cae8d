//! Evidence about pushdown systems: inductive sets of views, and schedules of single steps.

mod build;
mod certificate;
mod lemma;
mod read;
mod regular;
mod rows;
mod trace;
mod write;

pub use certificate::Certificate;
pub use lemma::{Explored, Lemma, LemmaThread};
pub use regular::{Language, Regular, RegularThread};
pub use rows::{Row, Rows};
pub use trace::{Step, Trace};
