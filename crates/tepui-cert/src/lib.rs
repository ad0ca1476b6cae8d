//! The vocabulary of evidence: certificates of safety and traces of violations, each with a stable text form.
//!
//! This crate says what a [`Certificate`] and a [`Trace`] *are* and how they are written down. It does not say whether
//! they are right: that is the business of the checker, which trusts nothing it reads here.

mod certificate;
mod text;
mod trace;

pub use certificate::{Certificate, Lemma, LemmaThread, Rows};
pub use text::Unreadable;
pub use trace::{Step, Trace};
