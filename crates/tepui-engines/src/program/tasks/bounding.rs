//! How many executions and states there are with a bound on delays, preemptions, contexts or dispatches.
//!
//! This compares ways to bound a search; it proves nothing. Executions are counted, not enumerated: dispatch by dispatch it is
//! known in how many ways each state is reached, and at what price. Runs of a task count once if they end or yield with the
//! same values and have posted the same tasks.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::program::schedulers::{Dispatcher, IsBlocked, Memory, Scheduler};
use tepui_model::program::step::Runner;
use tepui_model::program::{Goal, Program, Property};

use super::dispatched::{Dispatched, Running};
use super::policy::{Bag, Choice, Policy, insert, kinds, policies};

/// What is bounded.
#[derive(Clone)]
pub enum Bounding {
    /// How often a scheduler is made to delay a task.
    Delays(Arc<dyn Scheduler>),
    /// How often a task that has yielded and could go on does not.
    Preemptions,
    /// How many times another task goes on, the first one included.
    Contexts,
    /// How many tasks are dispatched after the first one.
    Depth,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest bound.
    pub bound: u32,
    /// The most tasks that may be pending.
    pub tasks: u32,
    /// The most dispatches.
    pub dispatches: u32,
}

/// What there is with a bound.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The bound.
    pub bound: u32,
    /// How many executions there are. Those that are cut off by a limit count as if they ended there.
    pub executions: u128,
    /// How many states there are when nobody runs: shared values and pending tasks.
    pub states: u64,
}

/// What was counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// One row for each bound from 0 on.
    pub rows: Vec<Row>,
    /// For each property that is violated the smallest bound.
    pub violated: Vec<(String, u32)>,
    /// Whether more tasks would have been pending than allowed, or more dispatched.
    pub cut: bool,
    /// Why it was not counted to the end: then there is more.
    pub stopped: Option<Stop>,
}

/// Counts the executions and states of a program whose order is not prescribed.
pub fn count(
    program: &Arc<Program>,
    properties: &[Property],
    bounding: &Bounding,
    limits: Limits,
    budget: &mut Budget,
) -> Counted {
    let policy: Arc<dyn Policy> = match bounding {
        Bounding::Delays(scheduler) => policies(None, &[Dispatcher::Delaying(Arc::clone(scheduler))]).remove(0),
        Bounding::Preemptions => Arc::new(Switches { every: false }),
        Bounding::Contexts => Arc::new(Switches { every: true }),
        Bounding::Depth => Arc::new(Bag { most: u32::MAX, price: 1 }),
    };
    let first = u32::from(matches!(bounding, Bounding::Contexts));
    let mut tasks = Dispatched::new(Arc::clone(program), properties);
    tasks.allow(limits.tasks as usize);
    let bounds = limits.bound as usize + 1;
    let mut counting = Counting {
        runner: &Runner::new(program),
        tasks,
        policy,
        limits,
        ended: vec![0; bounds],
        stopped: vec![0; bounds],
        states: FxHashMap::default(),
        happens: FxHashMap::default(),
        cut: false,
    };
    let stopped = counting.all(first, budget).err();
    counting.told(properties, stopped)
}

/// In how many ways states are reached, with what is remembered, and what has been spent.
type Layer = FxHashMap<(u32, Memory, u32), u128>;

struct Counting<'r> {
    runner: &'r Runner<'r>,
    tasks: Dispatched,
    policy: Arc<dyn Policy>,
    limits: Limits,
    /// For each price how many executions end with it.
    ended: Vec<u128>,
    /// For each bound how many executions cannot go on because of it.
    stopped: Vec<u128>,
    /// For each state, shared values and sorted tasks, the smallest price.
    states: FxHashMap<(u32, Memory), u32>,
    happens: FxHashMap<Goal, u32>,
    cut: bool,
}

impl Counting<'_> {
    fn all(&mut self, first: u32, budget: &mut Budget) -> Result<(), Stop> {
        let mut layer = Layer::default();
        if first > self.limits.bound {
            return Ok(());
        }
        for point in self.tasks.machine.start(self.runner) {
            let running = self.tasks.running(self.runner, point, budget)?;
            let memory = self.policy.start();
            self.ran(&running, &memory, first, 1, &mut layer);
        }
        for dispatched in 0.. {
            if layer.is_empty() {
                break;
            }
            let mut next = Layer::default();
            for ((shared, memory, spent), ways) in layer {
                budget.spend(1)?;
                let done = self.policy.pending(&memory).is_empty();
                if done || dispatched == self.limits.dispatches {
                    self.cut |= !done;
                    self.end(spent, ways);
                } else {
                    self.dispatch(shared, &memory, spent, ways, &mut next, budget)?;
                }
            }
            layer = next;
        }
        self.cut |= self.tasks.runs.cut;
        Ok(())
    }

    fn end(&mut self, spent: u32, ways: u128) {
        let ended = &mut self.ended[spent as usize];
        *ended = ended.saturating_add(ways);
    }

    /// A task has run, in all ways.
    fn ran(&mut self, running: &Running, memory: &Memory, spent: u32, ways: u128, next: &mut Layer) {
        for goal in &running.failures {
            let known = self.happens.entry(*goal).or_insert(spent);
            *known = spent.min(*known);
            self.end(spent, ways);
        }
        for outcome in &running.outcomes {
            let mut memory = memory.clone();
            for (&task, posted) in outcome.given() {
                self.policy.give(&mut memory, task, posted);
            }
            let mut pending = self.policy.pending(&memory).to_vec();
            if pending.len() > self.limits.tasks as usize {
                self.cut = true;
                self.end(spent, ways);
                continue;
            }
            pending.sort_unstable();
            let known = self.states.entry((outcome.shared, pending)).or_insert(spent);
            *known = spent.min(*known);
            let reached = next.entry((outcome.shared, memory, spent)).or_insert(0);
            *reached = reached.saturating_add(ways);
        }
    }

    /// Nobody runs, and somebody is dispatched, as far as the bound allows.
    fn dispatch(
        &mut self,
        shared: u32,
        memory: &Memory,
        spent: u32,
        ways: u128,
        next: &mut Layer,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let policy = Arc::clone(&self.policy);
        let stuck = self.tasks.blocked(self.runner, shared, policy.pending(memory));
        let blocked = |task: u32| stuck.contains(&task);
        let mut cheapest = None;
        for number in 0.. {
            let Some(price) = policy.price(memory, number, &blocked) else { break };
            let Some(choice) = policy.choice(memory, number, &blocked) else { break };
            if blocked(choice.task) {
                continue;
            }
            let spent = spent.saturating_add(price);
            cheapest = cheapest.or(Some(spent));
            if spent > self.limits.bound {
                break;
            }
            budget.spend(1)?;
            let running = self.tasks.running(self.runner, (shared, choice.task), budget)?;
            let ways = ways.saturating_mul(u128::from(choice.ways));
            self.ran(&running, &choice.memory, spent, ways, next);
        }
        match cheapest {
            None => self.end(spent, ways),
            // With a smaller bound it ends here.
            Some(cheapest) => {
                let last = cheapest.min(self.limits.bound.saturating_add(1));
                for bound in spent..last {
                    let stopped = &mut self.stopped[bound as usize];
                    *stopped = stopped.saturating_add(ways);
                }
            }
        }
        Ok(())
    }

    fn told(&self, properties: &[Property], stopped: Option<Stop>) -> Counted {
        let mut found = vec![0; self.ended.len()];
        self.states.values().for_each(|&price| found[price as usize] += 1);
        let (mut executions, mut states) = (0u128, 0);
        let row = |(bound, ended): (usize, &u128)| {
            executions = executions.saturating_add(*ended);
            states += found[bound];
            Row { bound: bound as u32, executions: executions.saturating_add(self.stopped[bound]), states }
        };
        let rows = self.ended.iter().enumerate().map(row).collect();
        let least = |own: &Property| {
            let bound = own.never.iter().filter_map(|goal| self.happens.get(goal)).min();
            bound.map(|bound| (own.name.clone(), *bound))
        };
        Counted { rows, violated: properties.iter().filter_map(least).collect(), cut: self.cut, stopped }
    }
}

/// No task.
const NOBODY: u32 = u32::MAX;

/// Another task goes on than the last one: that costs something if the last one could go on, or in any case. What is remembered
/// is the task that has yielded last, and the others, sorted.
struct Switches {
    every: bool,
}

impl Switches {
    /// Whether the last task may go on.
    fn goes_on(memory: &Memory, blocked: IsBlocked<'_>) -> bool {
        memory[0] != NOBODY && !blocked(memory[0])
    }
}

impl Policy for Switches {
    fn start(&self) -> Memory {
        vec![NOBODY]
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        &memory[usize::from(memory[0] == NOBODY)..]
    }

    fn give(&self, memory: &mut Memory, task: u32, posted: bool) -> bool {
        match posted {
            true => insert(memory, 1, task),
            false => memory[0] = task,
        }
        true
    }

    fn price(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<u32> {
        let goes_on = Self::goes_on(memory, blocked);
        match number.checked_sub(u32::from(goes_on)) {
            None => Some(0),
            Some(other) => kinds(&memory[1..], blocked).nth(other as usize).map(|_| u32::from(self.every || goes_on)),
        }
    }

    fn choice(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<Choice> {
        let mut rest = memory.clone();
        let Some(other) = number.checked_sub(u32::from(Self::goes_on(memory, blocked))) else {
            let task = std::mem::replace(&mut rest[0], NOBODY);
            return Some(Choice { task, memory: rest, ways: 1 });
        };
        let (at, same) = kinds(&memory[1..], blocked).nth(other as usize)?;
        let task = rest.remove(1 + at);
        let last = std::mem::replace(&mut rest[0], NOBODY);
        if last != NOBODY {
            insert(&mut rest, 1, last);
        }
        Some(Choice { task, memory: rest, ways: same.len() as u32 })
    }

    fn scheduler(&self) -> Option<&dyn Scheduler> {
        None
    }
}
