//! Traces of violations of programs.
//!
//! What is written to a file are the steps of the pushdown system that the program is compiled to. With the same program
//! and options at hand they are replayed there, and then followed on the interpreter. In memory a trace also has what the
//! interpreter made of it: that is what is told to people.

use tepui_model::Digest;
use tepui_model::program::run::{State, Step};

use crate::pushdown;
use crate::read::Unreadable;

/// A way from the start of a program to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The steps of the compiled model.
    pub compiled: pushdown::Trace,
    /// What the text form says about each of them.
    pub comments: Vec<String>,
    /// The state of the program at the start, when the threads that are there from the start have been started.
    pub start: State,
    /// The steps of the program, each with the number of the thread that takes it.
    pub steps: Vec<(usize, Step)>,
}

impl Trace {
    /// No text is that of such a trace: the steps of the compiled model are read as what they are.
    pub const HEADS: &[&str] = &[];

    /// Never asked, since no first line is its own.
    pub(crate) fn from_text(_: &str) -> Result<Vec<Self>, Unreadable> {
        Ok(Vec::new())
    }

    /// The text form.
    pub fn to_text(&self) -> String {
        let mut comments = self.comments.iter();
        self.compiled.to_text(|_| comments.next().cloned().unwrap_or_default())
    }

    /// The compiled model that takes the steps.
    pub fn model(&self) -> Digest {
        self.compiled.model
    }

    /// How many contexts the execution has: maximal runs of steps of one thread.
    pub fn contexts(&self) -> u32 {
        crate::contexts(self.steps.iter().map(|(thread, _)| *thread))
    }
}
