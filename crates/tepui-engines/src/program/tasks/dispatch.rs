//! Follows schedulers: with at most so many tasks pending, and so many delays.
//!
//! A state is a shared state with what a scheduler remembers, when nobody runs. A pending task is brought to the front by delays, and
//! dispatched; each way in which its run ends or yields leads to a state, with the tasks that the run has posted, in the order in which
//! it has. Delaying all tasks that could be taken brings back the first, so at most one less is delayed at one dispatch: each schedule is
//! tried once. States are explored in the order of their delays, so that the first violation has the fewest. What a bound
//! holds back is kept, and a larger one goes on from there.
//!
//! One task more is allowed as long as that brings new views, which are the shared state and which kinds of tasks are pending;
//! then one delay more. Where nothing is held back any more, everything is known, and the states are a proof. If a program
//! prescribes an order, there is nothing to delay. If tasks may yield with stacks of any height, the height is limited along with
//! the number of tasks, so that something is always held back.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_cert::Trace;
use tepui_cert::program::Pending;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::program::schedulers::{Dispatcher, Memory};
use tepui_model::program::step::Runner;
use tepui_model::program::{Goal, Order, Program, Property};

use super::Point;
use super::certificate::certificate;
use super::dispatched::{Dispatched, Outcome};
use super::policy::{Choice, Policy, policies};
use crate::rows::Rows;

mod trace;

pub(super) use trace::fewest_delays;

/// What is true of it on every program.
pub static FACTS: Facts = Facts::new("dispatch", &["pending tasks", "delays"]);

/// How a state is reached with the fewest delays.
struct Reached {
    delays: u32,
    /// The state before, and which task was dispatched there.
    before: Option<(u32, u32)>,
}

/// A choice that is to be made in a state.
#[derive(Clone, Copy)]
struct Todo {
    state: u32,
    choice: u32,
    /// With how many delays the state had been reached then.
    delays: u32,
}

/// Something that happens: with how many delays, under which scheduler, after which state, and in the run of which task.
#[derive(Clone, Copy, Debug)]
struct Happens {
    delays: u32,
    scheduler: u8,
    state: Option<u32>,
    task: Option<Point>,
}

/// The engine.
pub struct Dispatch {
    program: Arc<Program>,
    properties: Vec<Property>,
    dispatchers: Vec<Dispatcher>,
    policies: Vec<Arc<dyn Policy>>,
    tasks: Dispatched,
    /// States when nobody runs: the scheduler, the shared state, and what the scheduler remembers.
    states: Rows,
    /// For each of them.
    reached: Vec<Reached>,
    /// The state that is being put together.
    row: Vec<u32>,
    /// For each number of delays the states to go on with, and which of the choices is made there.
    todo: Vec<VecDeque<Todo>>,
    /// States from which something was held back because too many tasks would be pending.
    full: FxHashSet<u32>,
    /// Whether the same is true of the start.
    full_at_start: bool,
    /// Whether tasks were dropped.
    lossy: bool,
    /// The shared state, and the kinds of tasks that are pending.
    views: Rows,
    happens: FxHashMap<Goal, Happens>,
    /// Whether there may be a deadlock, if values that are still open are chosen badly.
    doubtful: bool,
    /// The last bound that was explored: tasks and delays.
    bound: Option<(u32, u32)>,
    /// The most tasks and delays.
    limit: (u32, u32),
    /// Whether the last bound had one task more than the one before, and brought new views.
    fruitful: bool,
    steps: u64,
}

impl Dispatch {
    /// Looks at all properties of a program, under some schedulers. If the program prescribes an order, they are not asked.
    pub fn new(program: Arc<Program>, properties: Vec<Property>, dispatchers: Vec<Dispatcher>) -> Self {
        Self {
            tasks: Dispatched::new(Arc::clone(&program), &properties),
            policies: policies(program.order, &dispatchers),
            program,
            properties,
            dispatchers,
            states: Rows::default(),
            reached: Vec::new(),
            row: Vec::new(),
            todo: Vec::new(),
            full: FxHashSet::default(),
            full_at_start: false,
            lossy: false,
            views: Rows::default(),
            happens: FxHashMap::default(),
            doubtful: false,
            bound: None,
            limit: (u32::MAX, u32::MAX),
            fruitful: true,
            steps: 0,
        }
    }

    /// The same with a limit on tasks and delays: as long as one of them can be raised, it is.
    #[must_use]
    pub fn within(mut self, limit: Option<&[u32]>) -> Self {
        self.limit = match limit {
            Some([both]) => (*both, *both),
            Some([tasks, delays, ..]) => (*tasks, *delays),
            _ => (u32::MAX, u32::MAX),
        };
        self
    }

    /// Whether there is nothing to delay.
    fn is_prescribed(&self) -> bool {
        self.program.order != Some(Order::Bag)
    }

    /// Whether states are held back by the number of delays.
    fn has_delayed(&self) -> bool {
        self.todo.iter().any(|states| !states.is_empty())
    }

    /// Whether something is held back because too many tasks would be pending.
    fn has_full(&self) -> bool {
        !self.full.is_empty() || self.full_at_start || self.tasks.runs.cut
    }

    /// Tasks and delays of the next bound.
    fn next(&self) -> (u32, u32) {
        match self.bound {
            None => (1, 0),
            Some((tasks, delays)) => {
                let (more_tasks, more_delays) = (tasks < self.limit.0, delays < self.limit.1);
                let delayed = self.has_delayed() && (more_delays || !more_tasks);
                match self.has_full() && (more_tasks && self.fruitful || !delayed) {
                    true => (tasks.saturating_add(1), delays),
                    false => (tasks, delays.saturating_add(1)),
                }
            }
        }
    }

    fn is_exhausted(&self) -> bool {
        self.bound.is_some() && !self.has_full() && !self.has_delayed()
    }

    fn note(&mut self, goal: Goal, found: Happens) {
        let known = self.happens.entry(goal).or_insert(found);
        if (found.delays, found.scheduler) < (known.delays, known.scheduler) {
            *known = found;
        }
    }

    fn start(&mut self, runner: &Runner<'_>, most: u32, budget: &mut Budget) -> Result<(), Stop> {
        self.full_at_start = false;
        for point in self.tasks.machine.start(runner) {
            let running = self.tasks.running(runner, point, budget)?;
            for &goal in &running.failures {
                self.note(goal, Happens { delays: 0, scheduler: 0, state: None, task: Some(point) });
            }
            for scheduler in 0..self.policies.len() as u8 {
                let memory = self.policies[scheduler as usize].start();
                for outcome in &running.outcomes {
                    self.full_at_start |= !self.reach(runner, scheduler, None, (&memory, 0), outcome, most);
                }
            }
        }
        Ok(())
    }

    /// A state that a run leads to. Not, if too many tasks are pending there.
    fn reach(
        &mut self,
        runner: &Runner<'_>,
        scheduler: u8,
        before: Option<(u32, u32)>,
        (memory, delays): (&Memory, u32),
        outcome: &Outcome,
        most: u32,
    ) -> bool {
        let own = Arc::clone(&self.policies[scheduler as usize]);
        self.steps += 1;
        let count = own.pending(memory).len() + outcome.posted.len() + usize::from(outcome.yielded.is_some());
        if count > most as usize {
            return false;
        }
        let mut memory = memory.clone();
        for (&task, posted) in outcome.given() {
            self.lossy |= !own.give(&mut memory, task, posted);
        }
        self.row.clear();
        self.row.extend([u32::from(scheduler), outcome.shared]);
        self.row.extend_from_slice(&memory);
        let (number, new) = self.states.intern(&self.row);
        if new {
            self.reached.push(Reached { delays, before });
            self.look_at(runner, number, (scheduler, outcome.shared, &memory));
        } else if self.reached[number as usize].delays <= delays {
            return true;
        } else {
            self.reached[number as usize] = Reached { delays, before };
        }
        self.later(number, 0, 0);
        true
    }

    /// What there is to see in a new state.
    fn look_at(&mut self, runner: &Runner<'_>, number: u32, (scheduler, shared, memory): (u8, u32, &Memory)) {
        let mut kinds = self.policies[scheduler as usize].pending(memory).to_vec();
        kinds.sort_unstable();
        kinds.dedup();
        let (mut stuck, mut certain) = (!kinds.is_empty(), kinds.is_empty());
        for &task in &kinds {
            let (blocked, goes_on) = self.tasks.is_blocked(runner, (shared, task));
            (stuck, certain) = (stuck && blocked, certain || goes_on);
        }
        self.doubtful |= !certain;
        kinds.insert(0, shared);
        self.views.intern(&kinds);
        if stuck {
            let found = Happens { delays: u32::MAX, scheduler, state: Some(number), task: None };
            self.happens.entry(Goal::Deadlock).or_insert(found);
        }
    }

    /// A state: the scheduler, the shared state, and what the scheduler remembers.
    fn state(&self, number: u32) -> (u8, u32, Memory) {
        let mut memory = self.states.get(number);
        let (scheduler, shared) = (memory[0] as u8, memory[1]);
        memory.drain(..2);
        (scheduler, shared, memory)
    }

    /// A choice in a state is made later, at some price.
    fn later(&mut self, state: u32, choice: u32, price: u32) {
        let delays = self.reached[state as usize].delays;
        let at = delays.saturating_add(price) as usize;
        if self.todo.len() <= at {
            self.todo.resize_with(at + 1, VecDeque::new);
        }
        self.todo[at].push_back(Todo { state, choice, delays });
    }

    /// Goes on with a state, where one of the choices is made.
    fn expand(
        &mut self,
        runner: &Runner<'_>,
        Todo { state: number, choice, .. }: Todo,
        most: u32,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (scheduler, shared, memory) = self.state(number);
        let (own, delays) = (Arc::clone(&self.policies[scheduler as usize]), self.reached[number as usize].delays);
        let stuck = self.tasks.blocked(runner, shared, own.pending(&memory));
        let blocked = |task: u32| stuck.contains(&task);
        budget.spend(1 + u64::from(choice))?;
        let price = own.price(&memory, choice, &blocked);
        let (Some(price), Some(found)) = (price, own.choice(&memory, choice, &blocked)) else { return Ok(()) };
        if let Some(more) = own.price(&memory, choice + 1, &blocked) {
            self.later(number, choice + 1, more);
        }
        let Choice { task, memory, .. } = found;
        if blocked(task) {
            return Ok(());
        }
        let total = delays.saturating_add(price);
        let running = self.tasks.running(runner, (shared, task), budget)?;
        for &goal in &running.failures {
            self.note(goal, Happens { delays: total, scheduler, state: Some(number), task: Some((shared, task)) });
        }
        for outcome in &running.outcomes {
            if !self.reach(runner, scheduler, Some((number, task)), (&memory, total), outcome, most) {
                self.full.insert(number);
            }
        }
        budget.spend(running.outcomes.len() as u64)?;
        if self.tasks.runs.cut {
            self.full.insert(number);
        }
        Ok(())
    }

    fn explore_up_to(&mut self, (most, delays): (u32, u32), budget: &mut Budget) -> Result<(), Stop> {
        let program = Arc::clone(&self.program);
        let runner = Runner::new(&program);
        if self.bound.is_none_or(|bound| bound.0 < most) {
            if self.tasks.runs.cut || self.bound.is_none() {
                // Runs may post one task more.
                self.tasks.allow(most as usize);
            }
            for state in std::mem::take(&mut self.full) {
                self.later(state, 0, 0);
            }
            self.start(&runner, most, budget)?;
        }
        let mut at = 0;
        while at <= delays as usize {
            let Some(next) = self.todo.get_mut(at).and_then(VecDeque::pop_front) else {
                at += 1;
                continue;
            };
            // Meanwhile it may have been reached with fewer delays.
            if self.reached[next.state as usize].delays == next.delays
                && let Err(stop) = self.expand(&runner, next, most, budget)
            {
                self.todo[at].push_front(next);
                return Err(stop);
            }
        }
        Ok(())
    }

    fn explore_next(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let (bound, before) = (self.next(), self.views.len());
        self.explore_up_to(bound, budget)?;
        let more = self.bound.is_none_or(|last| last.0 < bound.0);
        self.fruitful = !more || self.views.len() > before;
        self.bound = Some(bound);
        Ok(())
    }

    fn violated(&self) -> Vec<usize> {
        let happens = |property: &Property| property.never.iter().any(|goal| self.happens.contains_key(goal));
        (0..self.properties.len()).filter(|&own| happens(&self.properties[own])).collect()
    }

    /// The properties that are proved when everything has been looked at.
    fn safe(&self) -> Vec<usize> {
        let violated = self.violated();
        let deadlock = |own: &usize| self.properties[*own].never.contains(&Goal::Deadlock);
        let open = |own: &usize| self.lossy || self.doubtful && deadlock(own);
        (0..self.properties.len()).filter(|own| !violated.contains(own) && !open(own)).collect()
    }

    /// The markings of all states, each as it is dispatched from.
    fn evidence(&self) -> Evidence {
        let bag = !self.is_prescribed();
        let mut markings: FxHashSet<(u32, Pending)> = FxHashSet::default();
        for number in 0..self.states.len() as u32 {
            let (scheduler, shared, memory) = self.state(number);
            let mut tasks = self.policies[scheduler as usize].pending(&memory).to_vec();
            if bag {
                tasks.sort_unstable();
            }
            markings.insert((shared, runs_of(&tasks)));
        }
        let mut markings: Vec<_> = markings.into_iter().collect();
        markings.sort_unstable();
        let posted = |item: u32| {
            let tasks = &self.tasks.runs.items[item as usize].posted;
            vec![runs_of(tasks)]
        };
        let properties = self.safe().into_iter().map(|own| self.properties[own].clone()).collect();
        let certificate = certificate(&self.tasks.machine, properties, false, &self.tasks.runs, &posted, markings);
        let because = "all states were explored: nothing is held back".to_owned();
        Evidence::new(certificate, because, "dispatch")
    }

    /// With how many delays something happens.
    fn delays_of(&self, found: &Happens) -> u32 {
        match *found {
            // States may be reached with fewer delays after they were found.
            Happens { task: None, state: Some(state), .. } => self.reached[state as usize].delays,
            Happens { delays, .. } => delays,
        }
    }

    /// What must not happen of a property that happens with the fewest delays.
    fn first(&self, property: usize) -> Option<(Goal, Happens)> {
        let found = self.properties[property].never.iter().filter_map(|goal| Some((*goal, *self.happens.get(goal)?)));
        found.min_by_key(|found| (self.delays_of(&found.1), found.1.scheduler))
    }
}

/// Tasks as pairs of what they are and how many of them follow each other.
fn runs_of(tasks: &[u32]) -> Pending {
    tasks.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u32)).collect()
}

impl Engine for Dispatch {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        let (tasks, delays) = self.next();
        Some(FACTS.bound(&[tasks, delays]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let bound = self.next();
        let stopped = self.explore_next(budget).err();
        let exhausted = stopped.is_none() && self.is_exhausted();
        let (violated, safe) = (self.violated(), self.safe());
        let open = self.properties.len() - safe.len();
        let given_up = exhausted && (self.lossy || open > violated.len());
        let why = match self.lossy {
            true => "tasks were dropped, so that there may be more",
            false => "whether all tasks are blocked depends on values that are still open",
        };
        let stopped = stopped.or_else(|| given_up.then(|| Stop::GaveUp(why.to_owned())));
        Ok(Round {
            states: self.states.len() as u64,
            views: self.views.len() as u64,
            steps: self.steps + self.tasks.machine.steps,
            state_bytes: (self.states.bytes() + self.reached.capacity() * size_of::<Reached>()) as u64,
            exhausted: exhausted && !given_up,
            test_due: exhausted && !given_up && open == 0,
            some_due: exhausted && open > 0 && !safe.is_empty(),
            violated,
            stopped,
            ..Round::empty(&FACTS, FACTS.bound(&[bound.0, bound.1]))
        })
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let all = !self.lossy && self.safe().len() == self.properties.len();
        Ok((self.is_exhausted() && all).then(|| self.evidence()))
    }

    fn proved(&mut self, _: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        let safe = self.safe();
        Ok((self.is_exhausted() && !safe.is_empty()).then(|| (safe, self.evidence())))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        self.fewest(property, budget)
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        Notes::default()
    }
}
