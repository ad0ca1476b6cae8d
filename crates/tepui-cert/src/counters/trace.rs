//! Traces of counters: how many threads there are at the start, then one step after the other.
//!
//! Steps count from 1, in the order of the model. Behind each step stands what it leads to, for readers; the replayer
//! compares it. A file may hold several traces.

use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::counters::{Bag, Pattern};

use super::read::read_times;
use super::write::times;
use crate::read::{Lines, Unreadable};
use crate::write::comment_text;

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Which step of the model it is.
    pub number: u32,
    /// What it leads to: the shared state, and how many threads are where.
    pub after: Pattern,
}

/// A way from an initial state to one that covers what is forbidden.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The model that takes the steps.
    pub model: Digest,
    /// The name of the property that the last state violates.
    pub property: String,
    /// The initial state.
    pub start: Pattern,
    /// The steps.
    pub steps: Vec<Step>,
}

impl Trace {
    const HEAD: &str = "tepui trace of counters 1";

    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[Self::HEAD];

    /// The model that takes the steps.
    pub fn model(&self) -> Digest {
        self.model
    }

    /// The last state.
    pub fn last(&self) -> &Pattern {
        self.steps.last().map_or(&self.start, |step| &step.after)
    }

    /// The largest number of threads at the same time.
    pub fn threads(&self) -> u64 {
        let states = std::iter::once(&self.start).chain(self.steps.iter().map(|step| &step.after));
        let total = |counts: &Bag| counts.iter().map(|(_, count)| u64::from(*count)).sum();
        states.map(|state| total(&state.counts)).max().unwrap_or(0)
    }

    /// How many contexts there are. Threads in the same place are not told apart: each step is a context of its own.
    pub fn contexts(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// The text form. `comment` says something for people about a step; it ends up behind a `#`.
    pub fn to_text(&self, comment: impl Fn(&Step) -> String) -> String {
        let mut out = format!("{}\nmodel {}\nproperty {}\n", Self::HEAD, self.model, self.property);
        let _ = writeln!(out, "start {}", state_text(&self.start));
        for step in &self.steps {
            let (number, after) = (u64::from(step.number) + 1, state_text(&step.after));
            let _ = writeln!(out, "step {number} : {after}  # {}", comment_text(&comment(step)));
        }
        let _ = writeln!(out, "end {}", self.steps.len());
        out
    }

    /// Reads one or more traces.
    pub fn from_text(text: &str) -> Result<Vec<Self>, Unreadable> {
        let mut lines = Lines::new(text);
        let mut traces = Vec::new();
        while traces.is_empty() || lines.peek().is_some() {
            if lines.next_line() != Some(Self::HEAD) {
                return Err(lines.error(format!("this is no trace: it does not start with `{}`", Self::HEAD)));
            }
            traces.push(Self::read(&mut lines)?);
        }
        Ok(traces)
    }

    fn read(lines: &mut Lines<'_>) -> Result<Self, Unreadable> {
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let property = lines.expect("property")?.to_owned();
        let start = lines.expect("start")?;
        let mut trace = Self { model, property, start: read_state(lines, start)?, steps: Vec::new() };
        while let Some(text) = lines.accept("step") {
            let (number, after) = text.split_once(':').ok_or_else(|| lines.error("expected `step N : STATE`"))?;
            let number =
                lines.number::<u32>(number)?.checked_sub(1).ok_or_else(|| lines.error("steps count from 1"))?;
            trace.steps.push(Step { number, after: read_state(lines, after)? });
        }
        let count = lines.expect("end")?;
        if lines.number::<usize>(count)? != trace.steps.len() {
            return Err(lines.error(format!("{} steps were read, {count} were announced", trace.steps.len())));
        }
        Ok(trace)
    }
}

fn state_text(state: &Pattern) -> String {
    format!("{} |{}", state.shared, times(&state.counts))
}

fn read_state(lines: &Lines<'_>, text: &str) -> Result<Pattern, Unreadable> {
    let (shared, counts) = text.split_once('|').ok_or_else(|| lines.error("a state has the form `SHARED | COUNTS`"))?;
    Ok(Pattern { shared: lines.number(shared)?, counts: read_times(lines, counts)? })
}
