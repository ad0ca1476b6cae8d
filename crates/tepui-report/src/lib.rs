//! From outcomes to what people and programs read. Strings in, strings out: nothing here touches a terminal.

mod about;
pub mod chart;
pub mod diagnostics;
pub mod human;
mod invariant;
pub mod json;
mod numbers;
mod story;
mod visible;

use tepui_core::{About, Invariant, Outcome, Reason, Story, Verdict};

pub use numbers::{bytes, seconds};
pub use tepui_core::text::{count, grouped};
use visible::visible_json;
pub use visible::{guarded, visible, visible_lines};

/// A finished run, with all that its report mentions.
pub struct Report<'a> {
    /// The model's file, as the user gave it.
    pub file: &'a str,
    /// The test, where there are several.
    pub test: Option<&'a str>,
    /// Whether little is said about what is safe, since there is more to come.
    pub brief: bool,
    /// The model's file and the options that select what was verified, to be repeated in a command.
    pub again: &'a str,
    /// What may not be as the model's author meant it, in one line each.
    pub warnings: &'a [String],
    /// What was found out.
    pub outcome: &'a Outcome,
    /// For each property the execution that violates it, if one does.
    pub stories: &'a [Option<Story>],
    /// The violating views in the terms of a source, where they have such.
    pub violating: &'a [String],
    /// What a proof says about each line, if it is asked for and there is one.
    pub invariant: Option<&'a Invariant>,
    /// What the answer is about, in the terms of a source.
    pub about: Option<&'a About>,
    /// The fingerprint of what was verified.
    pub digest: Option<String>,
    /// Whether there is no property that could be violated.
    pub open: bool,
    /// How to ask for something, where nothing is asked for.
    pub ask: &'a str,
    /// What might be worth trying besides.
    pub advice: &'a [String],
    /// Whether the calls that a thread is in are shown at each step.
    pub stacks: bool,
    /// Seconds of wall-clock time.
    pub seconds: f64,
    /// The largest amount of memory that the process held.
    pub peak_memory_bytes: u64,
    /// Where the certificate was written.
    pub certificate: Option<&'a str>,
    /// Where the traces were written.
    pub trace: Option<&'a str>,
    /// Where the views were written.
    pub views: Option<&'a str>,
    /// Where the chart was drawn.
    pub svg: Option<&'a str>,
    /// Whether certificate and trace were asked for, even if there is none to write.
    pub asked: (bool, bool),
    /// Whether the invariant was asked for, even if there is none.
    pub asked_invariant: bool,
    /// Whether the answers went through the independent checker.
    pub self_checked: bool,
    /// Whether the run looked for proofs.
    pub proving: bool,
}

impl<'a> Report<'a> {
    /// A report of an outcome and nothing else.
    pub fn new(file: &'a str, again: &'a str, outcome: &'a Outcome) -> Self {
        Self {
            file,
            test: None,
            brief: false,
            again,
            outcome,
            warnings: &[],
            stories: &[],
            violating: &[],
            invariant: None,
            about: None,
            digest: None,
            open: false,
            ask: "",
            advice: &[],
            stacks: false,
            seconds: 0.0,
            peak_memory_bytes: 0,
            certificate: None,
            trace: None,
            views: None,
            svg: None,
            asked: (false, false),
            asked_invariant: false,
            self_checked: false,
            proving: true,
        }
    }

    /// Whether the run ended before it began, since nothing was asked for.
    fn asks_nothing(&self) -> bool {
        let nothing = Verdict::Unknown(Reason::NothingAsked);
        self.outcome.properties.iter().any(|property| property.verdict == nothing)
    }

    /// The execution that violates a property.
    fn story(&self, property: usize) -> Option<&Story> {
        self.stories.get(property).and_then(Option::as_ref)
    }
}
