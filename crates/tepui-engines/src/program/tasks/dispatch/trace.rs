//! Traces: with the fewest delays, and then with the fewest tasks.

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tepui_cert::Trace;
use tepui_core::{Bound, Budget, Stop};
use tepui_model::program::schedulers::{Memory, Scheduler};
use tepui_model::program::step::Runner;
use tepui_model::program::{Goal, Program, Property};

use super::super::concrete::{Way, follow, way};
use super::super::runs::Form;
use super::super::{ENDED, Point};
use super::{Dispatch, FACTS, Outcome, State};

/// How much work may be spent on a violation with fewer tasks, at least; as much as was spent before, if that is more.
const MORE_WORK: u64 = 200_000;

/// How many bounds are tried, at most, where the fewest delays are wanted.
const MOST_BOUNDS: u32 = 200;

/// A violation of a property with the fewest delays, if it is found within some work.
pub(in super::super) fn fewest_delays(
    program: &Arc<Program>,
    property: &Property,
    schedulers: &[Arc<dyn Scheduler>],
    work: u64,
    budget: &mut Budget,
) -> Result<Option<(Trace, Option<Bound>)>, Stop> {
    let mut engine = Dispatch::new(Arc::clone(program), vec![property.clone()], schedulers.to_vec());
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
        let mut smaller = Self::new(Arc::clone(&self.program), asked, self.schedulers.clone());
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
            at = self.states[number as usize].before.map(|before| before.0);
        }
        path.reverse();
        let mut ways = Vec::new();
        for &number in &path {
            ways.push(self.way_to(&runner, number, budget)?);
        }
        if let Some(point) = found.task {
            ways.push(self.last(&runner, point, goal, budget)?);
        }
        let scheduler = self.schedulers[found.scheduler as usize].name();
        let mut trace = follow(&self.machine, &runner, &ways, goal, &self.properties[property].clone(), budget)?;
        if !self.is_prescribed() {
            trace.scheduler = Some(scheduler);
        }
        Ok(trace.into())
    }

    /// The run that leads to a state.
    fn way_to(&mut self, runner: &Runner<'_>, number: u32, budget: &mut Budget) -> Result<Way, Stop> {
        let (shared, memory) = (self.states[number as usize].shared, self.states[number as usize].memory.clone());
        let (scheduler, before) = (self.states[number as usize].scheduler, self.states[number as usize].before);
        let points = match before {
            Some((before, task)) => vec![(self.states[before as usize].shared, task)],
            None => self.machine.start(runner),
        };
        for point in points {
            let entry = self.runs.run(&mut self.machine, runner, point, budget)?;
            for exit in self.runs.entries[entry as usize].exits.clone() {
                let item = &self.runs.items[exit as usize];
                let Form::Stack(stack) = item.form else { continue };
                let outcome = Outcome {
                    shared: item.shared,
                    posted: Arc::clone(&item.posted),
                    yielded: (stack != ENDED).then_some(stack),
                };
                if item.shared == shared && self.leads(runner, scheduler, before, &outcome, &memory) {
                    return Ok(way(&mut self.machine, &self.runs, &[], exit));
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
        let own = Arc::clone(&self.schedulers[scheduler as usize]);
        let gives = |mut memory: Memory| {
            outcome.posted.iter().for_each(|&task| own.give(&mut memory, task, true));
            outcome.yielded.iter().for_each(|&task| own.give(&mut memory, task, false));
            memory == wanted
        };
        let Some((before, task)) = before else { return gives(own.start()) };
        let State { shared, ref memory, .. } = self.states[before as usize];
        let mut memory = memory.to_vec();
        let pending = own.pending(&memory).to_vec();
        let machine = &mut self.machine;
        let stuck: FxHashSet<u32> =
            pending.iter().copied().filter(|&task| Self::is_blocked(machine, runner, (shared, task)).0).collect();
        for _ in 0..=pending.len() {
            let Some(front) = own.take(&mut memory, &|task| stuck.contains(&task)) else { return false };
            if front == task && gives(memory.clone()) {
                return true;
            }
            own.delay(&mut memory, front);
        }
        false
    }

    /// The last run, to what must not happen.
    fn last(&mut self, runner: &Runner<'_>, point: Point, goal: Goal, budget: &mut Budget) -> Result<Way, Stop> {
        let entry = self.runs.run(&mut self.machine, runner, point, budget)?;
        let found = self.runs.way_to_failure(&mut self.machine, entry, goal);
        found.ok_or_else(|| Stop::defect("a run does not fail"))
    }
}
