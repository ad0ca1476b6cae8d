//! The vocabulary of evidence: certificates of safety and traces of violations, each with a stable text form.
//!
//! This crate says what a [`Certificate`] and a [`Trace`] *are* and how they are written down. It does not say whether
//! they are right: that is the business of the checker, which trusts nothing it reads here. There is a module for each
//! kind of model that evidence can be about.

pub mod program;
pub mod pushdown;
mod read;
pub mod rendezvous;
mod write;

pub use read::Unreadable;
use tepui_model::Digest;
pub use write::sealed;

/// A proof of safety.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certificate {
    /// Views that no step leaves.
    Pushdown(pushdown::Certificate),
    /// Languages that have no word in common, or views of threads that meet.
    Rendezvous(rendezvous::Certificate),
    /// Views of a program that no step of it leaves.
    Program(program::Certificate),
}

impl Certificate {
    /// The text form.
    pub fn to_text(&self) -> String {
        match self {
            Self::Pushdown(certificate) => certificate.to_text(),
            Self::Rendezvous(certificate) => certificate.to_text(),
            Self::Program(certificate) => certificate.to_text(),
        }
    }

    /// Reads the text form of any kind; the first line tells which it is.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        if let Some(found) = rendezvous::Certificate::from_text(text) {
            found.map(Self::Rendezvous)
        } else if text.trim_start().starts_with(program::Certificate::HEAD) {
            program::Certificate::from_text(text).map(Self::Program)
        } else {
            pushdown::Certificate::from_text(text).map(Self::Pushdown)
        }
    }

    /// The model that the proof is about.
    pub fn model(&self) -> Digest {
        match self {
            Self::Pushdown(certificate) => certificate.model,
            Self::Rendezvous(certificate) => certificate.model(),
            Self::Program(certificate) => certificate.program,
        }
    }

    /// The certificate, if it is about views.
    pub fn as_pushdown(&self) -> Option<&pushdown::Certificate> {
        match self {
            Self::Pushdown(certificate) => Some(certificate),
            Self::Rendezvous(_) | Self::Program(_) => None,
        }
    }
}

/// A way to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trace {
    /// Steps of one thread each.
    Pushdown(pushdown::Trace),
    /// Steps of all threads that an action needs.
    Rendezvous(rendezvous::Trace),
}

impl Trace {
    /// Reads one or more traces of either kind; the first line tells which it is.
    pub fn from_text(text: &str) -> Result<Vec<Self>, Unreadable> {
        match text.trim_start().starts_with(rendezvous::Trace::HEAD) {
            true => Ok(rendezvous::Trace::from_text(text)?.into_iter().map(Self::Rendezvous).collect()),
            false => Ok(pushdown::Trace::from_text(text)?.into_iter().map(Self::Pushdown).collect()),
        }
    }

    /// The model that takes the steps.
    pub fn model(&self) -> Digest {
        match self {
            Self::Pushdown(trace) => trace.model,
            Self::Rendezvous(trace) => trace.model,
        }
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        match self {
            Self::Pushdown(trace) => trace.steps.len(),
            Self::Rendezvous(trace) => trace.steps.len(),
        }
    }

    /// How many contexts there are: maximal runs of steps of the same threads.
    pub fn contexts(&self) -> u32 {
        match self {
            Self::Pushdown(trace) => trace.contexts(),
            Self::Rendezvous(trace) => trace.contexts(),
        }
    }

    /// The trace, if it is one of a pushdown system.
    pub fn as_pushdown(&self) -> Option<&pushdown::Trace> {
        match self {
            Self::Pushdown(trace) => Some(trace),
            Self::Rendezvous(_) => None,
        }
    }

    /// The trace, if it is one of a communicating system.
    pub fn as_rendezvous(&self) -> Option<&rendezvous::Trace> {
        match self {
            Self::Pushdown(_) => None,
            Self::Rendezvous(trace) => Some(trace),
        }
    }
}

impl From<pushdown::Certificate> for Certificate {
    fn from(certificate: pushdown::Certificate) -> Self {
        Self::Pushdown(certificate)
    }
}

impl From<rendezvous::Certificate> for Certificate {
    fn from(certificate: rendezvous::Certificate) -> Self {
        Self::Rendezvous(certificate)
    }
}

impl From<program::Certificate> for Certificate {
    fn from(certificate: program::Certificate) -> Self {
        Self::Program(certificate)
    }
}

impl From<pushdown::Trace> for Trace {
    fn from(trace: pushdown::Trace) -> Self {
        Self::Pushdown(trace)
    }
}

impl From<rendezvous::Trace> for Trace {
    fn from(trace: rendezvous::Trace) -> Self {
        Self::Rendezvous(trace)
    }
}
