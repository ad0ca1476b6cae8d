//! Traces of violations of programs: which thread executes which statement, and in which way.
//!
//! A trace begins where the program does, with `main` alone; the first few steps, in which it starts the threads that are
//! there from the start, are *hidden*: they are taken, but not told. A step names the statement, and which of the results it
//! is that the interpreter has for this thread, in its order. The values of the shared variables afterwards are redundant,
//! which is the point: the replayer compares them with what the step really leads to. Threads and results count from 1,
//! procedures and positions from 0. A file may hold several traces.

use std::fmt::Write as _;

use tepui_model::Digest;
use tepui_model::program::step::Value;

use super::read::read_values;
use super::write::values_text;
use crate::read::{Lines, Unreadable};
use crate::write::comment_text;

/// One step of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The thread, in the order in which they are started.
    pub thread: usize,
    /// The statement: its procedure and position.
    pub at: (usize, usize),
    /// Which of the results of the thread it is.
    pub result: usize,
    /// The values of the shared variables afterwards.
    pub shared: Vec<Value>,
}

/// A way from the start of a program to a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The program.
    pub program: Digest,
    /// The name of the property that is violated in the end.
    pub property: String,
    /// The values of the shared variables at the start. One that may start with any value has none if nobody reads it.
    pub start: Vec<Value>,
    /// How many steps are hidden.
    pub hidden: usize,
    /// The scheduler of tasks that was followed, if one was.
    pub scheduler: Option<String>,
    /// The steps.
    pub steps: Vec<Step>,
}

const HEAD: &str = "tepui trace of a program 1";

impl Trace {
    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[HEAD];

    /// The program that takes the steps.
    pub fn model(&self) -> Digest {
        self.program
    }

    /// The steps that are told.
    pub fn told(&self) -> &[Step] {
        self.steps.get(self.hidden..).unwrap_or_default()
    }

    /// How many contexts the execution has: maximal runs of steps of one thread.
    pub fn contexts(&self) -> u32 {
        crate::contexts(self.told().iter().map(|step| step.thread))
    }

    /// The text form. `comment` says something for people about a step; it ends up behind a `#`.
    pub fn to_text(&self, mut comment: impl FnMut(&Step) -> String) -> String {
        let mut out = format!("{HEAD}\nprogram {}\nproperty {}\n", self.program, self.property);
        let _ = writeln!(out, "start {}\nhidden {}", values_text(&self.start), self.hidden);
        self.scheduler.iter().for_each(|name| _ = writeln!(out, "scheduler {name}"));
        for step in &self.steps {
            let (thread, result) = (step.thread.saturating_add(1), step.result.saturating_add(1));
            let (procedure, position) = step.at;
            let (shared, comment) = (values_text(&step.shared), comment_text(&comment(step)));
            let _ = writeln!(out, "step {thread} at {procedure} {position} result {result} {shared}  # {comment}");
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
        let program = lines.expect("program")?;
        let program = program.parse().map_err(|message| lines.error(message))?;
        let property = lines.expect("property")?.to_owned();
        let start = lines.expect("start")?;
        let start = read_values(lines, start)?;
        let hidden = lines.expect("hidden")?;
        let hidden = lines.number(hidden)?;
        let scheduler = lines.accept("scheduler").map(str::to_owned);
        let mut trace = Self { program, property, start, hidden, scheduler, steps: Vec::new() };
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

fn read_step(lines: &Lines<'_>, text: &str) -> Result<Step, Unreadable> {
    let shape = || lines.error("a step has the form `step T at PROCEDURE POSITION result R : VALUES`");
    let colon = text.find(':').ok_or_else(shape)?;
    let (action, shared) = text.split_at(colon);
    let fields: Vec<_> = action.split_whitespace().collect();
    let &[thread, "at", procedure, position, "result", result] = fields.as_slice() else { return Err(shape()) };
    let from_one = |text| lines.number::<usize>(text)?.checked_sub(1).ok_or_else(|| lines.error("numbers start at 1"));
    Ok(Step {
        thread: from_one(thread)?,
        at: (lines.number(procedure)?, lines.number(position)?),
        result: from_one(result)?,
        shared: read_values(lines, shared)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Trace {
        let step = |thread, result| Step {
            thread,
            at: (1, 7),
            result,
            shared: vec![Value::Known(3), Value::Unset, Value::Forgotten],
        };
        Trace {
            program: Digest::of(b""),
            property: "a property".to_owned(),
            start: vec![Value::Known(0), Value::Unset, Value::Known(1)],
            hidden: 1,
            scheduler: Some("rr".to_owned()),
            steps: vec![step(0, 0), step(2, 4), step(2, 0), step(1, 1)],
        }
    }

    #[test]
    fn printing_and_reading_agree() {
        let trace = sample();
        let text = trace.to_text(|step| format!("thread {}\nsays # hi", step.thread));
        assert!(text.contains("step 3 at 1 7 result 5 : 3 ? -  # thread 2 says # hi\n"), "{text}");
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
