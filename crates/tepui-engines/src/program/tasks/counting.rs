//! Decides what can happen in any order of dispatch, however many tasks there are.
//!
//! For assertions and labels, tasks may be lost: one that is lost is one that is never dispatched, and nothing else changes. So a
//! state is a shared state with how many tasks of which kind are pending, and only states that are not within others matter. To
//! dispatch a task leads, for each way in which its run ends or yields, to what is left and what the run may have posted
//! (`posts`). States are explored breadth first. If one has more pending than another one before it on its path,
//! with the same shared state, what is between them can be repeated: there can be any number of what has become more (Karp and
//! Miller). This always ends.
//!
//! A violation is found at a state whose numbers may be *any number*. How many it takes is worked out backwards along the path: what
//! must be pending before each dispatch, and how often what can be repeated has to be.

use std::collections::VecDeque;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use tepui_cert::Trace;
use tepui_cert::program::{ANY, Pending};
use tepui_core::text::count;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::program::schedulers::Dispatcher;
use tepui_model::program::step::Runner;
use tepui_model::program::{Action, Goal, Order, Program, Property};

use super::certificate::certificate;
use super::concrete::{Way, follow, way};
use super::dispatch::fewest_delays;
use super::markings::Index;
use super::posts::{Posts, insert, is_within, plus};
use super::runs::{Form, Ledger, Nothing, Runs};
use super::{ENDED, Machine, Point};

/// What is true of it on every program.
pub static FACTS: Facts = Facts { explored: "with up to {}", ..Facts::unbounded("counting", &["dispatches"]) };

/// How much work may be spent on a violation with fewer delays, at least; as much as was spent on finding one, if that is more.
const MORE_WORK: u64 = 200_000;

/// A way in which a run ends or yields.
struct Outcome {
    shared: u32,
    posted: Pending,
    /// What may be pending besides: what was posted, and the task itself if it has yielded.
    more: Pending,
    exit: u32,
}

/// A state at which nobody runs.
struct Marked {
    shared: u32,
    pending: Pending,
    /// The state before, the task that was dispatched there, and how its run ended; none for `main`.
    before: Option<u32>,
    task: u32,
    exit: u32,
    /// What the run has posted.
    posted: Pending,
    /// What became any number, one time after the other: since which state on the path, and how many there were.
    grown: Vec<(u32, Pending)>,
    depth: u32,
    /// Whether it is within another one.
    covered: bool,
}

fn hash_of(marked: &Marked) -> u64 {
    FxBuildHasher.hash_one((marked.shared, &marked.pending))
}

/// The engine.
pub struct Counting {
    program: Arc<Program>,
    properties: Vec<Property>,
    dispatchers: Vec<Dispatcher>,
    machine: Machine,
    runs: Runs<Nothing>,
    posts: Posts,
    outcomes: FxHashMap<u32, Arc<[Outcome]>>,
    states: Vec<Marked>,
    by_shared: FxHashMap<u32, Index>,
    /// All of them.
    known: HashTable<u32>,
    todo: VecDeque<u32>,
    /// For each goal that something happens: the state, if any, and the task that is dispatched there.
    happens: FxHashMap<Goal, (Option<u32>, Point)>,
    bound: u32,
    begun: bool,
}

impl Counting {
    /// Looks at all properties of a program. Violations are told with the fewest delays of some schedulers, if they can be found
    /// with little work.
    pub fn new(program: Arc<Program>, properties: Vec<Property>, dispatchers: Vec<Dispatcher>) -> Self {
        Self {
            dispatchers,
            machine: Machine::new(Arc::clone(&program), &properties),
            program,
            properties,
            runs: Runs::new(Nothing, true),
            posts: Posts::default(),
            outcomes: FxHashMap::default(),
            states: Vec::new(),
            by_shared: FxHashMap::default(),
            known: HashTable::new(),
            todo: VecDeque::new(),
            happens: FxHashMap::default(),
            bound: 0,
            begun: false,
        }
    }

    /// How a run ends or yields, in all ways.
    fn outcomes(
        &mut self,
        runner: &Runner<'_>,
        state: Option<u32>,
        point: Point,
        budget: &mut Budget,
    ) -> Result<Arc<[Outcome]>, Stop> {
        let entry = self.runs.run(&mut self.machine, runner, point, budget)?;
        if let Some(known) = self.outcomes.get(&entry) {
            return Ok(Arc::clone(known));
        }
        self.posts.extend(&self.runs, budget)?;
        for (passed, _) in self.runs.passed(entry) {
            for &failure in &self.runs.entries[passed as usize].failures {
                if let Form::Failed(goal) = self.runs.items[failure as usize].form {
                    self.happens.entry(goal).or_insert((state, point));
                }
            }
        }
        let mut found: Vec<(u32, Vec<Pending>, Vec<Outcome>)> = Vec::new();
        for &exit in &self.runs.entries[entry as usize].exits {
            let item = &self.runs.items[exit as usize];
            let Form::Stack(stack) = item.form else { continue };
            let own: Pending = if stack == ENDED { Pending::new() } else { vec![(stack, 1)] };
            for posted in self.posts.at(exit).iter() {
                let more = plus(posted, &own);
                let place = found.iter().position(|(shared, ..)| *shared == item.shared).unwrap_or_else(|| {
                    found.push((item.shared, Vec::new(), Vec::new()));
                    found.len() - 1
                });
                insert(&mut found[place].1, more.clone());
                found[place].2.push(Outcome { shared: item.shared, posted: posted.clone(), more, exit });
            }
        }
        // Of those that lead to the same shared state, those count that are not within others.
        let mut outcomes = Vec::new();
        for (_, mut most, all) in found {
            for outcome in all {
                if let Some(at) = most.iter().position(|more| *more == outcome.more) {
                    most.swap_remove(at);
                    outcomes.push(outcome);
                }
            }
        }
        let outcomes: Arc<[Outcome]> = outcomes.into();
        self.outcomes.insert(entry, Arc::clone(&outcomes));
        Ok(outcomes)
    }

    fn start(&mut self, runner: &Runner<'_>, budget: &mut Budget) -> Result<(), Stop> {
        for point in self.machine.start(runner) {
            for outcome in self.outcomes(runner, None, point, budget)?.iter() {
                self.reach(None, point.1, outcome, &Pending::new(), budget)?;
            }
        }
        Ok(())
    }

    /// Dispatches each task that is pending at a state.
    fn expand(&mut self, runner: &Runner<'_>, state: u32, budget: &mut Budget) -> Result<(), Stop> {
        let Marked { shared, ref pending, .. } = self.states[state as usize];
        for (task, _) in pending.clone() {
            let rest = without(&self.states[state as usize].pending, task);
            for outcome in self.outcomes(runner, Some(state), (shared, task), budget)?.iter() {
                self.reach(Some(state), task, outcome, &rest, budget)?;
            }
        }
        Ok(())
    }

    /// A state that a dispatch leads to.
    fn reach(
        &mut self,
        before: Option<u32>,
        task: u32,
        outcome: &Outcome,
        rest: &Pending,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (shared, mut pending) = (outcome.shared, plus(rest, &outcome.more));
        budget.spend(1)?;
        let less = |from: u32| {
            let from = &self.states[from as usize];
            from.shared == shared && is_within(&pending, &from.pending)
        };
        if before.is_some_and(less) || self.is_known(shared, &pending) {
            return Ok(());
        }
        let among = self.by_shared.entry(shared).or_default();
        budget.spend(among.words() as u64 / 4)?;
        if among.above(&pending).any(|known| is_within(&pending, &self.states[known as usize].pending)) {
            return Ok(());
        }
        let (mut grown, mut depth, mut ancestor) = (Vec::new(), 0, before);
        while let Some(at) = ancestor {
            let own = &self.states[at as usize];
            if own.shared == shared && own.pending != pending && is_within(&own.pending, &pending) {
                let old = pending.clone();
                grow(&mut pending, &own.pending);
                if old != pending {
                    grown.push((at, old));
                }
            }
            ancestor = own.before;
            depth += 1;
        }
        budget.spend(u64::from(depth) / 64)?;
        let number = self.states.len() as u32;
        let (states, among) = (&mut self.states, self.by_shared.entry(shared).or_default());
        among.remove_below(&pending, |known| {
            let covered = is_within(&states[known as usize].pending, &pending);
            states[known as usize].covered |= covered;
            covered
        });
        among.add(number, &pending);
        let (exit, posted) = (outcome.exit, outcome.posted.clone());
        states.push(Marked { shared, pending, before, task, exit, posted, grown, depth, covered: false });
        let hash = |number: &u32| hash_of(&states[*number as usize]);
        self.known.insert_unique(hash(&number), number, hash);
        self.todo.push_back(number);
        Ok(())
    }

    /// Whether a marking was reached before.
    fn is_known(&self, shared: u32, pending: &Pending) -> bool {
        let same = |known: &u32| {
            let known = &self.states[*known as usize];
            known.shared == shared && known.pending == *pending
        };
        self.known.find(FxBuildHasher.hash_one((shared, pending)), same).is_some()
    }

    /// The properties that are violated. Where the order is prescribed, nothing is known to be.
    fn violated(&self) -> Vec<usize> {
        let happens = |property: &Property| property.never.iter().any(|goal| self.happens.contains_key(goal));
        let found = (0..self.properties.len()).filter(|&own| happens(&self.properties[own]));
        if self.program.order == Some(Order::Bag) { found.collect() } else { Vec::new() }
    }

    /// The properties that are proved when everything has been looked at.
    fn safe(&self) -> Vec<usize> {
        let may = |goal: &Goal| *goal == Goal::Deadlock || self.happens.contains_key(goal);
        (0..self.properties.len()).filter(|&own| !self.properties[own].never.iter().any(may)).collect()
    }

    fn is_done(&self) -> bool {
        self.begun && self.todo.is_empty()
    }

    fn evidence(&self) -> Evidence {
        let properties = self.safe().into_iter().map(|own| self.properties[own].clone()).collect();
        let markings = self.markings();
        let (most, any) = Self::figures(&markings);
        let posted = |item: u32| self.posts.at(item).to_vec();
        let certificate = certificate(&self.machine, properties, true, &self.runs, &posted, markings);
        let because = Self::because((most, any));
        let figures = vec![("counters", most.into()), ("unbounded_kinds", any as u64)];
        Evidence { figures, ..Evidence::new(certificate, because, "counting") }
    }

    fn markings(&self) -> Vec<(u32, Pending)> {
        let listed = self.states.iter().filter(|state| !state.covered);
        listed.map(|state| (state.shared, state.pending.clone())).collect()
    }

    /// The most tasks of one kind that are pending where there is a limit, and how many kinds there are without one.
    fn figures(markings: &[(u32, Pending)]) -> (u32, usize) {
        let counts = || markings.iter().flat_map(|(_, pending)| pending);
        let most = counts().map(|own| own.1).filter(|&own| own < ANY).max();
        let any: FxHashSet<_> = counts().filter(|own| own.1 == ANY).map(|own| own.0).collect();
        (most.unwrap_or(0), any.len())
    }

    fn because((most, any): (u32, usize)) -> String {
        let most = format!("at most {} of one kind at a time", count(most.into(), "task"));
        match any {
            0 => format!("every order of dispatch was looked at: {most}"),
            kinds => format!(
                "every order of dispatch was looked at: any number of tasks of {}, and {most} otherwise",
                count(kinds as u64, "kind")
            ),
        }
    }

    /// What happens, dispatch by dispatch: the points at which tasks are dispatched, how their runs end, and what of that is needed.
    fn schedule(&self, state: Option<u32>, task: Point, budget: &mut Budget) -> Result<Vec<Dispatched>, Stop> {
        let mut backward = Backward { engine: self, found: Vec::new(), demand: vec![(task.1, 1)] };
        if let Some(state) = state {
            backward.back_to_start(state, budget)?;
        }
        backward.found.reverse();
        Ok(backward.found)
    }
}

/// A dispatch on the way to a violation: the item by which the run is left, and how many tasks it must have posted at least.
struct Dispatched {
    exit: u32,
    demand: Pending,
}

/// Works out how many tasks must have been posted, backwards.
struct Backward<'a> {
    engine: &'a Counting,
    found: Vec<Dispatched>,
    /// What must be pending.
    demand: Pending,
}

impl Backward<'_> {
    /// From a state to the start.
    fn back_to_start(&mut self, mut state: u32, budget: &mut Budget) -> Result<(), Stop> {
        loop {
            self.repeat(state, budget)?;
            match self.step(state, budget)? {
                Some(before) => state = before,
                None => return Ok(()),
            }
        }
    }

    /// What became any number at a state is repeated often enough.
    fn repeat(&mut self, state: u32, budget: &mut Budget) -> Result<(), Stop> {
        let states = &self.engine.states;
        for (since, before) in states[state as usize].grown.iter().rev() {
            let has = |task: u32| before.iter().find(|own| own.0 == task).map_or(0, |own| own.1);
            let had = |task: u32| {
                let earlier = &states[*since as usize].pending;
                earlier.iter().find(|own| own.0 == task).map_or(0, |own| own.1)
            };
            // Only what has grown between the two.
            let lacks = |own: &(u32, u32)| has(own.0) < ANY && had(own.0) < has(own.0) && own.1 > has(own.0);
            while self.demand.iter().any(lacks) {
                let mut at = state;
                while at != *since {
                    if at != state {
                        self.repeat(at, budget)?;
                    }
                    at = self.step(at, budget)?.ok_or_else(|| Stop::defect("a state is not on its path"))?;
                }
            }
        }
        Ok(())
    }

    /// From a state to the one before it.
    fn step(&mut self, state: u32, budget: &mut Budget) -> Result<Option<u32>, Stop> {
        budget.spend(1)?;
        let own = &self.engine.states[state as usize];
        let item = &self.engine.runs.items[own.exit as usize];
        // The task itself may be what is needed.
        if let Form::Stack(stack) = item.form
            && stack != ENDED
        {
            self.demand = without(&self.demand, stack);
        }
        let posted = |task: u32| own.posted.iter().find(|own| own.0 == task).map_or(0, |own| own.1);
        let demand = self.demand.iter().map(|need| (need.0, need.1.min(posted(need.0))));
        let demand: Pending = demand.filter(|own| own.1 > 0).collect();
        self.demand = minus(&self.demand, &demand);
        self.found.push(Dispatched { exit: own.exit, demand });
        if own.before.is_some() {
            self.demand = plus(&self.demand, &[(own.task, 1)]);
        }
        Ok(own.before)
    }
}

/// Without one of some kind.
fn without(pending: &Pending, task: u32) -> Pending {
    minus(pending, &[(task, 1)])
}

fn minus(pending: &Pending, less: &[(u32, u32)]) -> Pending {
    let left = pending.iter().map(|&(task, number)| {
        let taken = less.iter().find(|own| own.0 == task).map_or(0, |own| own.1);
        (task, if number == ANY { ANY } else { number.saturating_sub(taken) })
    });
    left.filter(|own| own.1 > 0).collect()
}

/// There is any number of what there is more of than before.
fn grow(pending: &mut Pending, before: &Pending) {
    let had = |task: u32| before.iter().find(|own| own.0 == task).map_or(0, |own| own.1);
    pending.iter_mut().filter(|own| own.1 > had(own.0)).for_each(|own| own.1 = ANY);
}

/// Notes how many tasks were posted, as far as they are needed.
struct Needed(Pending);

impl Ledger for Needed {
    type Sum = Pending;

    fn nothing(&self) -> Pending {
        Pending::new()
    }

    fn add(&self, one: &Pending, other: &Pending) -> Option<Pending> {
        let need = |task: u32| self.0.iter().find(|own| own.0 == task).map_or(0, |own| own.1);
        let sum = plus(one, other).into_iter().map(|(task, number)| (task, number.min(need(task))));
        Some(sum.filter(|own| own.1 > 0).collect())
    }

    fn post(&self, tasks: &[u32]) -> Option<Pending> {
        self.add(&super::posts::counted(tasks), &Pending::new())
    }
}

impl Counting {
    fn find_trace(&mut self, property: usize, budget: &mut Budget) -> Result<Trace, Stop> {
        let program = Arc::clone(&self.program);
        let runner = Runner::new(&program);
        let property = self.properties[property].clone();
        let goal = property.never.iter().find(|goal| self.happens.contains_key(goal));
        let goal = *goal.ok_or_else(|| Stop::defect("nothing happens that must not"))?;
        let (state, point) = self.happens[&goal];
        let mut ways = Vec::new();
        let mut known: FxHashMap<(u32, Pending), Way> = FxHashMap::default();
        for Dispatched { exit, demand } in self.schedule(state, point, budget)? {
            let key = (exit, demand);
            if !known.contains_key(&key) {
                let found = self.run_with(&runner, key.0, &key.1, budget)?;
                known.insert(key.clone(), found);
            }
            ways.push(known[&key].clone());
        }
        ways.push(self.last(&runner, point, goal, budget)?);
        Ok(follow(&self.machine, &runner, &ways, goal, &property, budget)?.into())
    }

    /// A run that leaves its entry by an item, and posts at least so much.
    fn run_with(&mut self, runner: &Runner<'_>, exit: u32, demand: &Pending, budget: &mut Budget) -> Result<Way, Stop> {
        let wanted = &self.runs.items[exit as usize];
        let (point, shared, form) = (self.runs.entries[wanted.entry as usize].point, wanted.shared, wanted.form);
        if demand.is_empty() {
            return Ok(way(&mut self.machine, &self.runs, &[], exit));
        }
        let mut runs = Runs::new(Needed(demand.clone()), false);
        let entry = runs.run(&mut self.machine, runner, point, budget)?;
        let fits = |&&item: &&u32| {
            let item = &runs.items[item as usize];
            item.shared == shared && item.form == form && item.posted == *demand
        };
        let found = runs.entries[entry as usize].exits.iter().find(fits).copied();
        let found = found.ok_or_else(|| Stop::defect("a run does not post what it should"))?;
        Ok(way(&mut self.machine, &runs, &[], found))
    }

    /// The last run, to what must not happen.
    fn last(&mut self, runner: &Runner<'_>, point: Point, goal: Goal, budget: &mut Budget) -> Result<Way, Stop> {
        let entry = self.runs.run(&mut self.machine, runner, point, budget)?;
        let found = self.runs.way_to_failure(&mut self.machine, entry, goal);
        found.ok_or_else(|| Stop::defect("a run does not fail"))
    }
}

impl Engine for Counting {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(FACTS.bound(&[if self.begun { self.bound.saturating_mul(2).max(1) } else { 1 }]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        if let Some(why) = unbounded_height(&self.program) {
            return Err(Stop::NotApplicable(why));
        }
        let program = Arc::clone(&self.program);
        let runner = Runner::new(&program);
        let bound = if self.begun { self.bound.saturating_mul(2).max(1) } else { 1 };
        let mut stopped = None;
        if !self.begun {
            stopped = self.start(&runner, budget).err();
            self.begun = stopped.is_none();
        }
        while let Some(&next) = self.todo.front().filter(|_| stopped.is_none()) {
            let state = &self.states[next as usize];
            if state.depth >= bound {
                break;
            }
            if !state.covered {
                stopped = self.expand(&runner, next, budget).err();
            }
            if stopped.is_none() {
                self.todo.pop_front();
            }
        }
        self.bound = bound;
        let violated = self.violated();
        let (done, safe) = (self.is_done() && stopped.is_none(), self.safe());
        let open = self.properties.len() - safe.len();
        let given_up = done && open > violated.len();
        let stuck = given_up.then(|| Stop::GaveUp(self.silence()));
        let bytes = self.states.iter().map(|state| 80 + 8 * state.pending.len() as u64).sum();
        Ok(Round {
            states: self.states.len() as u64,
            views: self.states.len() as u64,
            steps: self.machine.steps,
            state_bytes: bytes,
            violated,
            exhausted: done && !given_up,
            test_due: done && open == 0,
            some_due: done && open > 0 && !safe.is_empty(),
            open: self.todo.len() as u64,
            stopped: stopped.or(stuck),
            ..Round::empty(&FACTS, FACTS.bound(&[bound]))
        })
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok((self.is_done() && self.safe().len() == self.properties.len()).then(|| self.evidence()))
    }

    fn proved(&mut self, _: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        let safe = self.safe();
        Ok((self.is_done() && !safe.is_empty()).then(|| (safe, self.evidence())))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let (work, own) = (MORE_WORK.max(budget.work()), self.properties[property].clone());
        if let Some(found) = fewest_delays(&self.program, &own, &self.dispatchers, work, budget)? {
            return Ok(found);
        }
        Ok((self.find_trace(property, budget)?, None))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        Notes { stored: ["marking", "markings"], view: "marking", from_above: true, ..Notes::default() }
    }
}

impl Counting {
    /// Why nothing is known of what is left when everything has been looked at.
    fn silence(&self) -> String {
        let ordered = self.program.order != Some(Order::Bag);
        match ordered && self.properties.iter().flat_map(|own| &own.never).any(|goal| self.happens.contains_key(goal)) {
            true => "in some order of dispatch it is violated, but it is not known whether in the one that the program prescribes",
            false => "tasks that are counted say nothing about deadlocks",
        }
        .to_owned()
    }
}

/// Why tasks may yield with stacks of any height, if they may: a procedure that may yield, in itself or in what it calls, calls
/// itself, by whatever detours.
pub fn unbounded_height(program: &Program) -> Option<String> {
    let yielding = program.yielding();
    let calls = |procedure: usize| {
        let called = program.procedures[procedure].statements.iter().filter_map(|statement| match statement.action {
            Action::Call { procedure, .. } => Some(procedure),
            _ => None,
        });
        called.filter(|&called| yielding[called]).collect::<Vec<_>>()
    };
    let edges: Vec<_> = (0..yielding.len()).map(|own| if yielding[own] { calls(own) } else { Vec::new() }).collect();
    let component = crate::components::components(&edges);
    let on_cycle = |own: &usize| edges[*own].iter().any(|&to| component[to] == component[*own]);
    let found = (0..yielding.len()).find(on_cycle)?;
    let name = &program.procedures[found].name;
    Some(format!("`{name}` may call itself and yield, so that pending tasks have stacks of any height"))
}
