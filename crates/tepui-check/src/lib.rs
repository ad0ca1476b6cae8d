//! The independent checker. It trusts nobody: not the engine that wrote a certificate, not the file it was read from.
//!
//! There is a module for each kind of model. Its `check` decides whether a certificate proves the properties of a model,
//! and its `replay` whether a trace breaks one. Both know the model's semantics and the vocabulary of evidence, and
//! nothing else; this crate depends on no engine, no language and not on the driver. What it says is all that has to be
//! believed of a verdict.

mod lemma;
pub mod program;
pub mod pushdown;
mod regular;
pub mod rendezvous;
mod show;
mod system;

use std::fmt;

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
    /// The proof is about languages of actions.
    Languages {
        /// The properties that hold in every reachable state.
        properties: Vec<String>,
        /// How many automata there are.
        automata: usize,
        /// How many states they have together.
        states: usize,
    },
}

/// What an accepted trace shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The property that is violated.
    pub property: String,
    /// The number of steps.
    pub steps: usize,
    /// The number of contexts.
    pub contexts: u32,
}

/// Why evidence is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    /// Where: a lemma, a step.
    pub place: String,
    /// What is wrong there.
    pub reason: String,
    /// Whether it is wrong.
    pub cause: Cause,
}

/// Whether evidence is wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// It is.
    Wrong,
    /// The caller wanted to stop before that was known.
    Stopped,
}

impl Rejected {
    /// Evidence that is wrong.
    pub fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { place: place.into(), reason: reason.into(), cause: Cause::Wrong }
    }

    pub(crate) fn stopped(place: impl Into<String>) -> Self {
        Self { place: place.into(), reason: "a limit was reached here".to_owned(), cause: Cause::Stopped }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.reason)
    }
}

impl std::error::Error for Rejected {}
