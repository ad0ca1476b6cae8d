//! Traces of violations of communicating systems: an initial state, then one step after the other, each with the rules
//! that the threads take together and the state they lead to.
//!
//! As with pushdown systems, the states are there for readers, and the replayer compares them. Threads and rules count
//! from 1; a local state is `control:stack`, the stack from bottom to top, joined by dots, `-` for the empty one. A file
//! may hold several traces.

use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::rendezvous::{Control, Local, Move, State, Symbol};

use crate::read::{Lines, Unreadable};
use crate::write::comment_text;

/// One step: the moves of all threads that take part, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who takes which rule.
    pub moves: Vec<Move>,
    /// The state that the step leads to.
    pub after: State,
}

/// A way from the initial state to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The model that takes the steps.
    pub model: Digest,
    /// The name of the property that the last state violates.
    pub property: String,
    /// What that property forbids.
    pub never: Digest,
    /// The initial state.
    pub start: State,
    /// The steps.
    pub steps: Vec<Step>,
}

impl Trace {
    /// The first line.
    pub const HEAD: &str = "tepui trace of rendezvous 1";

    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[Self::HEAD];

    /// The model that takes the steps.
    pub fn model(&self) -> Digest {
        self.model
    }

    /// The last state.
    pub fn last(&self) -> &State {
        self.steps.last().map_or(&self.start, |step| &step.after)
    }

    /// How many contexts the trace has: maximal runs of steps of the same threads.
    pub fn contexts(&self) -> u32 {
        let threads = |step: &Step| step.moves.iter().map(|own| own.thread).collect::<Vec<_>>();
        crate::contexts(self.steps.iter().map(threads))
    }

    /// The text form. `comment` says something for people about a step; it ends up behind a `#`.
    pub fn to_text(&self, comment: impl Fn(&Step) -> String) -> String {
        let mut out =
            format!("{}\nmodel {}\nproperty {}\nnever {}\n", Self::HEAD, self.model, self.property, self.never);
        let _ = writeln!(out, "start {}", state_text(&self.start));
        for step in &self.steps {
            let moves: Vec<_> = step.moves.iter().map(ToString::to_string).collect();
            let (after, comment) = (state_text(&step.after), comment_text(&comment(step)));
            let _ = writeln!(out, "step {} : {after}  # {comment}", moves.join(", "));
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
        let never = lines.expect("never")?;
        let never = never.parse().map_err(|message| lines.error(message))?;
        let start = lines.expect("start")?;
        let mut trace = Self { model, property, never, start: read_state(lines, start)?, steps: Vec::new() };
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
    let local = |local: &Local| {
        let symbols: Vec<_> = local.stack.iter().map(|symbol| symbol.0.to_string()).collect();
        let stack = if symbols.is_empty() { "-".to_owned() } else { symbols.join(".") };
        format!("{}:{stack}", local.control.0)
    };
    state.iter().map(local).collect::<Vec<_>>().join(" ")
}

fn read_state(lines: &Lines<'_>, text: &str) -> Result<State, Unreadable> {
    let local = |text: &str| {
        let parts = text.split_once(':').ok_or_else(|| lines.error("a local state has the form `control:stack`"));
        let (control, stack) = parts?;
        let stack = match stack {
            "-" => Vec::new(),
            symbols => symbols.split('.').map(|symbol| Ok(Symbol(lines.number(symbol)?))).collect::<Result<_, _>>()?,
        };
        Ok(Local { control: Control(lines.number(control)?), stack })
    };
    text.split_whitespace().map(local).collect()
}

fn read_step(lines: &Lines<'_>, text: &str) -> Result<Step, Unreadable> {
    let shape = || lines.error("a step has the form `step thread T rule R, thread T rule R, ... : STATE`");
    let (moves, after) = text.split_once(" : ").ok_or_else(shape)?;
    let from_one =
        |text: &str| lines.number::<usize>(text)?.checked_sub(1).ok_or_else(|| lines.error("numbers start at 1"));
    let one = |text: &str| {
        let fields: Vec<_> = text.split_whitespace().collect();
        let &["thread", thread, "rule", rule] = fields.as_slice() else { return Err(shape()) };
        Ok(Move { thread: from_one(thread)?, rule: from_one(rule)? })
    };
    let moves = moves.split(',').map(one).collect::<Result<_, _>>()?;
    Ok(Step { moves, after: read_state(lines, after)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Trace {
        let local = |control, stack: &[u32]| Local {
            control: Control(control),
            stack: stack.iter().copied().map(Symbol).collect(),
        };
        let step = |threads: &[usize], after| Step {
            moves: threads.iter().map(|&thread| Move { thread, rule: 4 }).collect(),
            after,
        };
        Trace {
            model: Digest::of(b""),
            property: "p".to_owned(),
            never: Digest::of(b"p"),
            start: vec![local(0, &[1, 2]), local(1, &[])],
            steps: vec![
                step(&[0], vec![local(1, &[1]), local(1, &[])]),
                step(&[0], vec![local(1, &[]), local(1, &[])]),
                step(&[0, 1], vec![local(1, &[3]), local(0, &[1])]),
            ],
        }
    }

    #[test]
    fn printing_and_reading_agree() {
        let trace = sample();
        let text = trace.to_text(|step| format!("{} threads\nsay # hi", step.moves.len()));
        assert!(text.contains("step thread 1 rule 5, thread 2 rule 5 : 1:3 0:1  # 2 threads say # hi\n"), "{text}");
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
