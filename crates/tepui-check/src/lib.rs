//! The independent checker. It trusts nobody: not the engine that wrote a certificate, not the file it was read from.
//!
//! There is a module for each kind of model. Its `check` decides whether a certificate proves the properties of a model,
//! and its `replay` whether a trace breaks one. Both know the model's semantics and the vocabulary of evidence, and
//! nothing else; this crate depends on no engine, no language and not on the driver. What it says is all that has to be
//! believed of a verdict.

pub mod counters;
mod judgement;
mod lemma;
pub mod program;
pub mod pushdown;
pub mod queue;
mod regular;
pub mod rendezvous;
mod show;
mod system;

pub use judgement::{Cause, Rejected, Replayed};

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Accepted {
    /// The proof is about views: of the model, or of the product of its threads.
    Views(pushdown::Accepted),
    /// The proof is about regular sets of stacks.
    Regular {
        /// The properties that hold in every reachable state.
        properties: Vec<String>,
        /// How many rows there are.
        rows: usize,
        /// How many languages they are made of.
        languages: usize,
    },
    /// The proof is about states with summaries of queues.
    Rows {
        /// The errors that do not happen.
        properties: Vec<String>,
        /// How many rows there are.
        rows: usize,
        /// What is assumed and not proved, in sentences.
        assumed: Vec<String>,
    },
    /// The proof is a list of lemmas about any number of threads.
    Lemmas(counters::Accepted),
    /// The proof says what tasks do, and how many may be pending.
    Tasks(program::OfTasks),
    /// The proof is about languages of actions.
    Languages(rendezvous::Compared),
}
