//! Traces of violations: an initial state, then one step after the other, each with the state it leads to.
//!
//! The states are redundant, which is the point: a reader follows the trace without executing rules in their head,
//! and the replayer compares each with what the step really leads to. Threads and rules count from 1, stacks are
//! written from bottom to top. A file may hold several traces.

use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::pushdown::{Property, Shared, State, Symbol};

use crate::read::{Lines, Unreadable, read_patterns};
use crate::write::{comment_text, write_property};

/// One step of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The thread, counted from 0.
    pub thread: usize,
    /// The rule of that thread, counted from 0.
    pub rule: usize,
    /// The state that the step leads to.
    pub after: State,
}

/// A way from the initial state to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The model that takes the steps.
    pub model: Digest,
    /// The property that the last state violates.
    pub property: Property,
    /// The initial state.
    pub start: State,
    /// The steps.
    pub steps: Vec<Step>,
}

const HEAD: &str = "tepui trace 1";

impl Trace {
    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[HEAD];

    /// The model that takes the steps.
    pub fn model(&self) -> Digest {
        self.model
    }

    /// The last state.
    pub fn last(&self) -> &State {
        self.steps.last().map_or(&self.start, |step| &step.after)
    }

    /// How many contexts the trace has: maximal runs of steps of one thread.
    pub fn contexts(&self) -> u32 {
        crate::contexts(self.steps.iter().map(|step| step.thread))
    }

    /// The text form. `comment` says something for people about a step; it ends up behind a `#`.
    pub fn to_text(&self, mut comment: impl FnMut(&Step) -> String) -> String {
        let mut out = format!("{HEAD}\nmodel {}\n", self.model);
        write_property(&mut out, &self.property);
        let _ = writeln!(out, "start {}", state_text(&self.start));
        for step in &self.steps {
            let comment = comment_text(&comment(step));
            let after = state_text(&step.after);
            let _ = writeln!(
                out,
                "step thread {} rule {} : {after}  # {comment}",
                step.thread.saturating_add(1),
                step.rule.saturating_add(1)
            );
        }
        let _ = writeln!(out, "end {}", self.steps.len());
        out
    }

    /// Reads one or more traces.
    pub fn from_text(text: &str) -> Result<Vec<Self>, Unreadable> {
        let mut lines = Lines::new(text);
        let mut traces = Vec::new();
        while traces.is_empty() || lines.peek().is_some() {
            if lines.next_line() != Some(HEAD) {
                return Err(lines.error(format!("this is no trace: it does not start with `{HEAD}`")));
            }
            traces.push(Self::read(&mut lines)?);
        }
        Ok(traces)
    }

    fn read(lines: &mut Lines<'_>) -> Result<Self, Unreadable> {
        let model = lines.expect("model")?;
        let model = model.parse().map_err(|message| lines.error(message))?;
        let name = lines.expect("property")?;
        let property = read_patterns(lines, name)?;
        let start = lines.expect("start")?;
        let mut trace = Self { model, property, start: read_state(lines, start)?, steps: Vec::new() };
        while let Some(text) = lines.accept("step") {
            trace.steps.push(read_step(lines, text)?);
        }
        let count = lines.expect("end")?;
        if lines.number::<usize>(count)? != trace.steps.len() {
            return Err(lines.error(format!("{} steps were read, {count} were announced", trace.steps.len())));
        }
        Ok(trace)
    }
}

fn state_text(state: &State) -> String {
    let stack = |stack: &Vec<Symbol>| match stack.as_slice() {
        [] => "-".to_owned(),
        symbols => symbols.iter().map(|symbol| symbol.0.to_string()).collect::<Vec<_>>().join("."),
    };
    let stacks: Vec<_> = state.stacks.iter().map(stack).collect();
    format!("{} | {}", state.shared.0, stacks.join(" "))
}

fn read_state(lines: &Lines<'_>, text: &str) -> Result<State, Unreadable> {
    let (shared, stacks) = text.split_once('|').ok_or_else(|| lines.error("a state has the form `q | w1 w2 ...`"))?;
    let stack = |text: &str| match text {
        "-" => Ok(Vec::new()),
        symbols => symbols.split('.').map(|symbol| Ok(Symbol(lines.number(symbol)?))).collect(),
    };
    let stacks = stacks.split_whitespace().map(stack).collect::<Result<_, _>>()?;
    Ok(State { shared: Shared(lines.number(shared)?), stacks })
}

fn read_step(lines: &Lines<'_>, text: &str) -> Result<Step, Unreadable> {
    let shape = || lines.error("a step has the form `step thread T rule R : STATE`");
    let (action, after) = text.split_once(':').ok_or_else(shape)?;
    let fields: Vec<_> = action.split_whitespace().collect();
    let &["thread", thread, "rule", rule] = fields.as_slice() else { return Err(shape()) };
    let from_one = |text| lines.number::<usize>(text)?.checked_sub(1).ok_or_else(|| lines.error("numbers start at 1"));
    Ok(Step { thread: from_one(thread)?, rule: from_one(rule)?, after: read_state(lines, after)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tepui_model::pushdown::Pattern;

    fn sample() -> Trace {
        let state = |shared, stack: &[u32]| State {
            shared: Shared(shared),
            stacks: vec![stack.iter().copied().map(Symbol).collect(), Vec::new()],
        };
        let step = |thread, after| Step { thread, rule: 4, after };
        Trace {
            model: Digest::of(b""),
            property: Property {
                name: "p".to_owned(),
                never: vec![Pattern { shared: Some(Shared(1)), tops: vec![None, Some(Symbol(0))] }],
            },
            start: state(0, &[1, 2]),
            steps: vec![step(0, state(1, &[1])), step(0, state(0, &[])), step(1, state(1, &[]))],
        }
    }

    #[test]
    fn printing_and_reading_agree() {
        let trace = sample();
        let text = trace.to_text(|step| format!("thread {}\nsays # hi", step.thread));
        assert!(text.contains("step thread 2 rule 5 : 1 | - -  # thread 1 says # hi\n"), "{text}");
        assert_eq!(Trace::from_text(&text), Ok(vec![trace.clone()]));
        assert_eq!(Trace::from_text(&text.repeat(2)).map(|traces| traces.len()), Ok(2));
        assert_eq!(trace.contexts(), 2);
    }

    #[test]
    fn truncation_is_noticed() {
        let text = sample().to_text(|_| String::new());
        for cut in 0..text.len() - 2 {
            assert!(Trace::from_text(&text[..cut]).is_err(), "cut at {cut}");
        }
    }
}
