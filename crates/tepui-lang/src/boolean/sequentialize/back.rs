//! From an execution of the sequential program to a schedule of the asynchronous one.
//!
//! The execution is cut into runs: from the call that a post has become, or from a yield, to the end of the task or its next
//! yield. Rounds come one after the other, and within a round runs begin in the order in which they are simulated. What
//! comes after the violation is left out.

use std::collections::HashMap;

use tepui_model::program::run::{State, Step};
use tepui_model::program::step::Value;
use tepui_model::program::{Action, Program, Run, Schedule};

use super::{Mark, Sequentialized};

/// A run that was found, with its round.
struct Found {
    round: u32,
    run: Run,
    violates: bool,
}

struct Cutter<'s> {
    /// How many shared variables the asynchronous program has. They come first in the sequential one.
    count: usize,
    /// Where the sequential program keeps the round, and the number of the property that is violated.
    round: usize,
    hit: usize,
    marks: HashMap<usize, Mark>,
    sequential: &'s Program,
    runs: Vec<Found>,
    posted: Vec<Option<(usize, usize)>>,
    /// For each task how many it has posted.
    posts: Vec<usize>,
    /// The tasks that are simulated, each within the one before, and the run of each, while it lasts.
    open: Vec<(usize, Option<usize>)>,
}

impl Sequentialized {
    /// The schedule of an execution of the sequential program that violates a property; or why there is none.
    pub fn schedule(
        &self,
        program: &Program,
        sequential: &Program,
        start: &State,
        steps: &[(usize, Step)],
    ) -> Result<Schedule, String> {
        let named = |name: &str| {
            let name = format!("{}{name}", self.prefix);
            let found = sequential.shared.iter().position(|variable| variable.name == name);
            found.ok_or_else(|| format!("the sequential program has no variable {name}"))
        };
        let mut cutter = Cutter {
            count: program.shared.len(),
            round: named("k")?,
            hit: named("hit")?,
            marks: self.marks.iter().copied().collect(),
            sequential,
            runs: Vec::new(),
            posted: vec![None],
            posts: vec![0],
            open: Vec::new(),
        };
        let mut before = start;
        cutter.begin(0, before);
        for (_, step) in steps {
            cutter.step(before, step);
            before = &step.after;
        }
        while !cutter.open.is_empty() {
            cutter.end(before);
        }
        cutter.finish(program, before)
    }
}

impl Cutter<'_> {
    /// A run of a task begins.
    fn begin(&mut self, task: usize, state: &State) {
        self.open.push((task, None));
        self.resume(state);
    }

    fn resume(&mut self, state: &State) {
        let round = state.shared[self.round].known().unwrap_or(0);
        if let Some((task, run)) = self.open.last_mut() {
            *run = Some(self.runs.len());
            self.runs.push(Found { round, run: Run { task: *task, leaves: None }, violates: false });
        }
    }

    /// The run of the last task is over.
    fn pause(&mut self, state: &State) {
        if let Some(run) = self.open.last_mut().and_then(|(_, run)| run.take()) {
            self.runs[run].run.leaves = Some(state.shared[..self.count].to_vec());
        }
    }

    fn end(&mut self, state: &State) {
        self.pause(state);
        self.open.pop();
    }

    fn step(&mut self, before: &State, step: &Step) {
        let (procedure, position) = step.at;
        let hit = |state: &State| state.shared[self.hit] != Value::Known(0);
        if !hit(before) && hit(&step.after) {
            if let Some(run) = self.open.last_mut().and_then(|(_, run)| run.take()) {
                self.runs[run].violates = true;
            }
            return;
        }
        let Some(statement) = self.sequential.procedures[procedure].statements.get(position) else { return };
        let Some(mark) = self.marks.get(&(statement.line as usize)) else { return };
        let task = self.open.last().map_or(0, |(task, _)| *task);
        match (mark, &statement.action) {
            (Mark::Post, Action::If(..)) => self.posts[task] += 1,
            (Mark::Begin, Action::Call { .. }) => {
                let posted = self.posted.len();
                self.posted.push(Some((task, self.posts[task] - 1)));
                self.posts.push(0);
                self.begin(posted, before);
            }
            (Mark::End, Action::If(..)) => self.end(before),
            (Mark::Yield, Action::Assume(_)) => self.pause(before),
            (Mark::Resume, Action::If(..)) => self.resume(before),
            _ => {}
        }
    }

    fn finish(self, program: &Program, last: &State) -> Result<Schedule, String> {
        let mut runs = self.runs;
        runs.sort_by_key(|found| found.round);
        let end = runs.iter().position(|found| found.violates).ok_or("the trace does not violate anything")?;
        runs.truncate(end + 1);
        let number = last.shared[self.hit].known().unwrap_or(0) as usize;
        let properties = program.properties(false);
        let property = number.checked_sub(1).and_then(|number| properties.get(number));
        let property = property.ok_or("the trace violates nothing that the program asserts")?.name.clone();
        Ok(Schedule { runs: runs.into_iter().map(|found| found.run).collect(), posted: self.posted, property })
    }
}
