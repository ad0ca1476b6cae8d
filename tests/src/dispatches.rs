//! Tasks, dispatched one by one on the interpreter: slow, and as the book says it.
//!
//! A task runs alone until it ends or yields, in all ways that the interpreter knows. Then a scheduler says who is next, and any
//! number of tasks may be delayed before. Nothing is tabulated and nothing is forgotten.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use tepui_model::program::run::{State, Thread};
use tepui_model::program::schedulers::{Memory, Scheduler};
use tepui_model::program::step::{Runner, Shared, Value};
use tepui_model::program::{DEADLOCK, Program};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most delays.
    pub delays: u32,
    /// The most tasks that are pending at the same time.
    pub tasks: usize,
    /// The most frames of a task.
    pub frames: usize,
    /// The most states, in each run and between runs.
    pub states: usize,
}

/// What was found.
#[derive(Clone, Default, Debug)]
pub struct Found {
    /// For each property that is violated the fewest delays.
    pub violated: BTreeMap<String, u32>,
    /// The values of the shared variables when nothing is left to do.
    pub finals: BTreeSet<Vec<Value>>,
    /// Whether no limit but that on delays was in the way.
    pub complete: bool,
    /// How many states there are between runs.
    pub states: usize,
}

/// The tasks that are pending and what a scheduler remembers of them, by their numbers in the list.
type Between = (Shared, Vec<Thread>, Memory);

struct Enumerator<'a> {
    program: &'a Program,
    runner: Runner<'a>,
    scheduler: &'a dyn Scheduler,
    limits: Limits,
    found: Found,
    best: HashMap<Between, u32>,
    queue: Vec<VecDeque<Between>>,
}

/// All executions under a scheduler with at most so many delays.
pub fn enumerate(program: &Program, scheduler: &dyn Scheduler, limits: Limits) -> Found {
    let queue = (0..=limits.delays).map(|_| VecDeque::new()).collect();
    let found = Found { complete: true, ..Found::default() };
    let (runner, best) = (Runner::new(program), HashMap::new());
    let mut enumerator = Enumerator { program, runner, scheduler, limits, found, best, queue };
    for state in enumerator.runner.initial() {
        enumerator.run(state, &scheduler.start(), 0);
    }
    for delays in 0..=limits.delays {
        while let Some(between) = enumerator.queue[delays as usize].pop_front() {
            if enumerator.best[&between] == delays {
                enumerator.dispatch(&between, delays);
            }
        }
    }
    enumerator.found.states = enumerator.best.len();
    enumerator.found
}

impl Enumerator<'_> {
    fn violate(&mut self, name: String, delays: u32) {
        let known = self.found.violated.entry(name).or_insert(delays);
        *known = delays.min(*known);
    }

    /// Runs the task that runs in a state, in all ways. What is remembered is given those that become pending.
    fn run(&mut self, start: State, memory: &Memory, delays: u32) {
        let before = start.threads.len();
        let Some(task) = start.running() else { return };
        let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
        while let Some(state) = open.pop() {
            for label in self.runner.reached(&state) {
                self.violate(self.program.unreachable[label].label.clone(), delays);
            }
            if state.running().is_none() {
                self.rest(state, task, before, memory.clone(), delays);
                continue;
            }
            for step in self.runner.steps_of(&state, task) {
                if let Some(goal) = step.failed {
                    let properties = self.program.properties(false);
                    let named = properties.iter().find(|property| property.never.contains(&goal));
                    self.violate(named.map_or(String::new(), |property| property.name.clone()), delays);
                    continue;
                }
                let high = step.after.threads[task].len() > self.limits.frames;
                let full = step.after.pending.len() > self.limits.tasks || seen.len() >= self.limits.states;
                if high || full {
                    self.found.complete = false;
                } else if seen.insert(step.after.clone()) {
                    open.push(step.after);
                }
            }
        }
    }

    /// A state in which nobody runs, after a run of a task.
    fn rest(&mut self, state: State, task: usize, before: usize, mut memory: Memory, delays: u32) {
        let scheduler = self.scheduler;
        (before..state.threads.len()).for_each(|posted| scheduler.give(&mut memory, posted as u32, true));
        if state.pending.contains(&task) {
            scheduler.give(&mut memory, task as u32, false);
        }
        let pending = scheduler.pending(&memory).to_vec();
        if pending.is_empty() {
            self.found.finals.insert(state.shared.to_vec());
            return;
        }
        if pending.iter().all(|&task| self.runner.is_blocked(&state, task as usize)) {
            self.violate(DEADLOCK.to_owned(), delays);
        }
        // Tasks get new numbers, in the order in which they are remembered.
        let head = memory.len() - pending.len();
        let tasks = pending.iter().map(|&task| state.threads[task as usize].clone()).collect();
        memory.truncate(head);
        memory.extend(0..pending.len() as u32);
        let between = (state.shared, tasks, memory);
        if self.best.len() >= self.limits.states {
            self.found.complete = false;
        } else if self.best.get(&between).is_none_or(|&known| delays < known) {
            self.best.insert(between.clone(), delays);
            self.queue[delays as usize].push_back(between);
        }
    }

    /// Dispatches what is next, after some delays.
    fn dispatch(&mut self, (shared, tasks, memory): &Between, delays: u32) {
        let state = State { shared: shared.clone(), threads: tasks.clone(), pending: (0..tasks.len()).collect() };
        let stuck: Vec<bool> = (0..tasks.len()).map(|task| self.runner.is_blocked(&state, task)).collect();
        let blocked = |task: u32| stuck[task as usize];
        let passes = self.scheduler.passes_over_blocked();
        let takeable = stuck.iter().filter(|stuck| !passes || !**stuck).count();
        let mut memory = memory.clone();
        for delayed in 0..takeable as u32 {
            let Some(task) = self.scheduler.take(&mut memory, &blocked) else { return };
            if !blocked(task) {
                for step in self.runner.steps_of(&state, task as usize) {
                    if step.failed.is_none() {
                        self.run(step.after, &memory, delays + delayed);
                    }
                }
            }
            if delays + delayed + 1 > self.limits.delays {
                return;
            }
            self.scheduler.delay(&mut memory, task);
        }
    }
}

/// How schedules are bounded where they are counted.
#[derive(Clone, Copy)]
pub enum Bounding<'a> {
    /// By delays of a scheduler.
    Delays(&'a dyn Scheduler, u32),
    /// By switches at a yield although the task could go on.
    Preemptions(u32),
}

/// How many schedules a program has whose runs are all alike: orders of dispatch, from the start to the end.
pub fn schedules(program: &Program, bounding: Bounding<'_>) -> u64 {
    let runner = Runner::new(program);
    let memory = if let Bounding::Delays(scheduler, _) = bounding { scheduler.start() } else { Memory::new() };
    runner.initial().into_iter().map(|state| after_run(&runner, &state, 0, &memory, bounding)).sum()
}

/// The schedules that go on with the run of a task, which has one result at each step.
fn after_run(runner: &Runner<'_>, start: &State, task: usize, memory: &Memory, bounding: Bounding<'_>) -> u64 {
    let mut state = start.clone();
    while state.running().is_some() {
        let mut steps = runner.steps_of(&state, task);
        assert!(steps.len() == 1 && steps[0].failed.is_none(), "a run is not the only one");
        state = steps.remove(0).after;
    }
    let before = start.threads.len();
    let yielded = state.pending.contains(&task);
    if state.pending.is_empty() {
        return 1;
    }
    let next = |other: usize, memory: &Memory, bounding: Bounding<'_>| {
        let after = runner.steps_of(&state, other).remove(0).after;
        after_run(runner, &after, other, memory, bounding)
    };
    match bounding {
        Bounding::Preemptions(most) => {
            let dispatched = state.pending.iter().filter(|&&other| other == task || !yielded || most > 0);
            let cost = |other: usize| u32::from(yielded && other != task);
            dispatched.map(|&other| next(other, memory, Bounding::Preemptions(most - cost(other)))).sum()
        }
        Bounding::Delays(scheduler, most) => {
            let mut memory = memory.clone();
            (before..state.threads.len()).for_each(|posted| scheduler.give(&mut memory, posted as u32, true));
            if yielded {
                scheduler.give(&mut memory, task as u32, false);
            }
            let (mut sum, pending) = (0, state.pending.len() as u32);
            for delayed in 0..pending.min(most + 1) {
                let Some(other) = scheduler.take(&mut memory, &|_| false) else { break };
                sum += next(other as usize, &memory, Bounding::Delays(scheduler, most - delayed));
                scheduler.delay(&mut memory, other);
            }
            sum
        }
    }
}
