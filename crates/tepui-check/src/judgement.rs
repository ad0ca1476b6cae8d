//! What is said of traces, and of evidence that is refused.

use std::fmt;

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
