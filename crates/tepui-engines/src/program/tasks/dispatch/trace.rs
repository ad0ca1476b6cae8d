//! Traces: with the fewest delays, and then with the fewest tasks.

use std::sync::Arc;

use tepui_cert::Trace;
use tepui_core::{Bound, Budget, Stop};
use tepui_model::program::schedulers::{Dispatcher, Memory, Scheduler};
use tepui_model::program::step::Runner;
use tepui_model::program::{Goal, Program, Property};

use super::super::Point;
use super::super::concrete::{Way, follow, way};
use super::{Dispatch, FACTS, Outcome};

/// How much work may be spent on a violation with fewer tasks, at least; as much as was spent before, if that is more.
const MORE_WORK: u64 = 200_000;

/// How many bounds are tried, at most, where the fewest delays are wanted.
const MOST_BOUNDS: u32 = 200;

/// A violation of a property with the fewest delays, if it is found within some work.
pub(in super::super) fn fewest_delays(
    program: &Arc<Program>,
    property: &Property,
    dispatchers: &[Dispatcher],
    work: u64,
    budget: &mut Budget,
) -> Result<Option<(Trace, Option<Bound>)>, Stop> {
    let mut engine = Dispatch::new(Arc::clone(program), vec![property.clone()], dispatchers.to_vec());
    let mut own = budget.with_work(work);
    let mut found = None;
    for _ in 0..MOST_BOUNDS {
        if engine.explore_next(&mut own).is_err() {
            break;
        }
        if engine.first(0).is_some() {
            found = engine.fewest(0, &mut own).ok();
            break;
        }
        if engine.is_exhausted() {
            break;
        }
    }
    budget.spend(own.work())?;
    Ok(found)
}

impl Dispatch {
    /// A violation with the fewest delays, and among these with the fewest tasks that are pending at the same time. If that takes too
    /// much work, any with so many delays, and no bound.
    pub(super) fn fewest(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let (_, found) = self.first(property).ok_or_else(|| Stop::defect("nothing happens that must not"))?;
        let delays = self.delays_of(&found);
        let asked = vec![self.properties[property].clone()];
        let mut smaller = Self::new(Arc::clone(&self.program), asked, self.dispatchers.clone());
        let mut own = budget.with_work(MORE_WORK.max(budget.work()));
        let mut found = None;
        for tasks in 1.. {
            if smaller.explore_up_to((tasks, delays), &mut own).is_err() {
                break;
            }
            smaller.bound = Some((tasks, delays));
            if smaller.first(0).is_some() {
                found = Some((smaller.find_trace(0, &mut own)?, Some(FACTS.bound(&[tasks, delays]))));
                break;
            }
        }
        budget.spend(own.work())?;
        match found {
            Some(found) => Ok(found),
            None => Ok((self.find_trace(property, budget)?, None)),
        }
    }

    fn find_trace(&mut self, property: usize, budget: &mut Budget) -> Result<Trace, Stop> {
        let (goal, found) = self.first(property).ok_or_else(|| Stop::defect("nothing happens that must not"))?;
        let program = Arc::clone(&self.program);
        let runner = Runner::new(&program);
        let (mut path, mut at) = (Vec::new(), found.state);
        while let Some(number) = at {
            path.push(number);
            at = self.reached[number as usize].before.map(|before| before.0);
        }
        path.reverse();
        let mut ways = Vec::new();
        for &number in &path {
            ways.push(self.way_to(&runner, number, budget)?);
        }
        if let Some(point) = found.task {
            ways.push(self.last(&runner, point, goal, budget)?);
        }
        let scheduler = self.policies[found.scheduler as usize].scheduler().map(Scheduler::name);
        let mut trace = follow(&self.tasks.machine, &runner, &ways, goal, &self.properties[property].clone(), budget)?;
        trace.scheduler = scheduler;
        Ok(trace.into())
    }

    /// The run that leads to a state.
    fn way_to(&mut self, runner: &Runner<'_>, number: u32, budget: &mut Budget) -> Result<Way, Stop> {
        let ((scheduler, shared, memory), before) = (self.state(number), self.reached[number as usize].before);
        let points = match before {
            Some((before, task)) => vec![(self.state(before).1, task)],
            None => self.tasks.machine.start(runner),
        };
        for point in points {
            let entry = self.tasks.runs.run(&mut self.tasks.machine, runner, point, budget)?;
            for exit in self.tasks.runs.entries[entry as usize].exits.clone() {
                let Some(outcome) = self.tasks.outcome(exit) else { continue };
                if outcome.shared == shared && self.leads(runner, scheduler, before, &outcome, &memory) {
                    return Ok(way(&mut self.tasks.machine, &self.tasks.runs, &[], exit));
                }
            }
        }
        Err(Stop::defect("no run leads to a state"))
    }

    /// Whether an outcome of a task leads to what a scheduler remembers, by some number of delays.
    fn leads(
        &mut self,
        runner: &Runner<'_>,
        scheduler: u8,
        before: Option<(u32, u32)>,
        outcome: &Outcome,
        wanted: &[u32],
    ) -> bool {
        let own = Arc::clone(&self.policies[scheduler as usize]);
        let gives = |mut memory: Memory| {
            for (&task, posted) in outcome.given() {
                own.give(&mut memory, task, posted);
            }
            memory == wanted
        };
        let Some((before, task)) = before else { return gives(own.start()) };
        let (_, shared, memory) = self.state(before);
        let stuck = self.tasks.blocked(runner, shared, own.pending(&memory));
        let choices = (0..).map_while(|number| own.choice(&memory, number, &|task| stuck.contains(&task)));
        choices.take(own.pending(&memory).len()).any(|choice| choice.task == task && gives(choice.memory))
    }

    /// The last run, to what must not happen.
    fn last(&mut self, runner: &Runner<'_>, point: Point, goal: Goal, budget: &mut Budget) -> Result<Way, Stop> {
        let entry = self.tasks.runs.run(&mut self.tasks.machine, runner, point, budget)?;
        let found = self.tasks.runs.way_to_failure(&mut self.tasks.machine, entry, goal);
        found.ok_or_else(|| Stop::defect("a run does not fail"))
    }
}
