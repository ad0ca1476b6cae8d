//! Random executions: each step is taken by a machine that is chosen at random, with random choices.
//!
//! This proves nothing. It is for programs that are too large for anything else, and it gets where a search that looks at
//! everything near the start does not. A way to an error is made shorter by leaving steps out as long as it still leads to
//! the error. The same seed gives the same executions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tepui_cert::queue::{Step, Trace};
use tepui_core::text::count;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Choices, Handled};
use tepui_model::queue::state::{Happens, State, Takes};

use super::handlers;

/// What is true of it on every program.
pub static FACTS: Facts = Facts {
    explored: "{} were tried at random, which proves nothing",
    at_limit: "random executions prove nothing",
    ..Facts::unbounded("walk", &["schedules"])
};

/// How to walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// What the executions depend on.
    pub seed: u64,
    /// How many there are at most.
    pub schedules: u32,
    /// How long each may be.
    pub steps: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, schedules: 10_000, steps: 1_000 }
    }
}

/// How many executions there are in a round.
const IN_A_ROUND: u32 = 100;

/// How many steps may be taken to make a way shorter.
const SHORTENING: usize = 200_000;

/// A way to an error.
#[derive(Clone)]
struct Found {
    /// What specs choose before the first step.
    start: Vec<u32>,
    steps: Vec<Step>,
}

/// The engine.
pub struct Walk {
    program: Arc<Program>,
    errors: Vec<Error>,
    options: Options,
    walked: u32,
    steps: u64,
    found: BTreeMap<Error, Found>,
    /// For each kind of machine and spec the states that they were in.
    reached: BTreeSet<(u32, u32)>,
    /// The handlers that they used.
    handled: BTreeSet<Handled>,
}

impl Walk {
    /// Walks through a program and looks for some errors.
    pub fn new(program: Arc<Program>, errors: Vec<Error>, options: Options) -> Self {
        let (reached, handled) = (BTreeSet::new(), program.handled_at_first().into_iter().collect());
        Self { program, errors, options, walked: 0, steps: 0, found: BTreeMap::new(), reached, handled }
    }

    /// One execution.
    fn walk(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let mut lot = Lot::new(self.options.seed, self.walked);
        let program = Arc::clone(&self.program);
        let mut choices = Choices::random(Lot::new(self.options.seed, self.walked).next());
        let start = program.initial(&mut choices);
        let mut found = Found { start: choices.made(), steps: Vec::new() };
        let mut state = match start {
            Ok(state) => state,
            Err(happens) => return self.ends(happens, found),
        };
        for _ in 0..self.options.steps {
            budget.spend(1)?;
            // A single step may take long.
            budget.look()?;
            self.cover(&state);
            let able: Vec<_> = (0..state.machines.len())
                .filter(|machine| program.takes(&state.machines[*machine]) != Takes::Stuck)
                .collect();
            let Some(&machine) = able.get(lot.below(able.len())) else {
                for violation in program.end(&state) {
                    self.note(violation.error, found.clone());
                }
                return Ok(());
            };
            let mut choices = Choices::random(lot.next());
            let Some(step) = program.step_of(&state, machine, usize::MAX, &mut choices) else { return Ok(()) };
            self.steps += 1;
            self.handled.extend(step.handled);
            found.steps.push(Step { machine, choices: step.choices });
            match step.result {
                Happens::State(next) => state = next,
                other => return self.ends(other, found),
            }
        }
        Ok(())
    }

    /// An execution does not go on.
    fn ends(&mut self, happens: Happens, found: Found) -> Result<(), Stop> {
        match happens {
            Happens::Error(violation) => self.note(violation.error, found),
            Happens::Unknown(why) => return Err(Stop::GaveUp(super::cannot_text(&self.program, why))),
            Happens::State(_) | Happens::Pruned | Happens::Refused => {}
        }
        Ok(())
    }

    /// The states that machines and specs are in.
    fn cover(&mut self, state: &State) {
        let machines = state.machines.iter().map(|machine| (machine.kind, &machine.local));
        let specs = self.program.specs.iter().zip(&state.specs).map(|(spec, local)| (spec.kind as u32, local));
        let tops = machines.chain(specs).filter_map(|(kind, local)| Some((kind, *local.states.last()?)));
        self.reached.extend(tops);
    }

    fn note(&mut self, error: Error, found: Found) {
        if self.errors.contains(&error) {
            self.found.entry(error).or_insert(found);
        }
    }

    /// Leaves steps out, many at first and then single ones, as long as the rest still leads to the error.
    fn shortened(&self, error: Error, Found { start, mut steps }: Found) -> Found {
        let (mut chunk, mut left) = (steps.len().div_ceil(2), SHORTENING);
        while chunk > 0 {
            let mut end = steps.len();
            while end > 0 && left >= steps.len() {
                let from = end.saturating_sub(chunk);
                let fewer: Vec<_> = steps[..from].iter().chain(&steps[end..]).cloned().collect();
                left -= fewer.len();
                if let Some(length) = self.leads_to(error, &start, &fewer) {
                    steps = fewer;
                    steps.truncate(length);
                }
                end = from.min(steps.len());
            }
            chunk /= 2;
        }
        Found { start, steps }
    }

    /// How many of the steps lead to an error.
    fn leads_to(&self, error: Error, start: &[u32], steps: &[Step]) -> Option<usize> {
        let mut state = self.program.initial(&mut Choices::of(start)).ok()?;
        for (number, step) in steps.iter().enumerate() {
            if step.machine >= state.machines.len() {
                return None;
            }
            let mut choices = Choices::of(&step.choices);
            let taken = self.program.step_of(&state, step.machine, usize::MAX, &mut choices)?;
            match taken.result {
                Happens::State(next) if taken.choices == step.choices => state = next,
                Happens::Error(violation) if violation.error == error && taken.choices == step.choices => {
                    return Some(number + 1);
                }
                _ => return None,
            }
        }
        let ends = self.program.end(&state).iter().any(|violation| violation.error == error);
        ends.then_some(steps.len())
    }

    /// Which handlers no execution came to.
    fn coverage(&self) -> Vec<String> {
        let kinds: BTreeSet<_> = self.reached.iter().map(|(kind, _)| *kind).collect();
        let states: usize = kinds.iter().map(|kind| self.program.kinds[*kind as usize].states.len()).sum();
        let handlers = handlers::of(&self.program, &kinds);
        let executions = count(u64::from(self.walked), "execution");
        let (came, used) = (self.reached.len(), handlers.intersection(&self.handled).count());
        let all = handlers.len();
        let mut remarks = vec![format!("{executions} came to {came} of {states} states and {used} of {all} handlers")];
        let missing = handlers::missing(&self.program, &kinds, &self.handled);
        remarks.extend(missing.map(|missing| format!("handlers that none of them came to: {missing}")));
        remarks
    }
}

/// Numbers that look as if they were drawn.
struct Lot(u64);

impl Lot {
    fn new(seed: u64, number: u32) -> Self {
        let mut lot = Self(seed ^ (u64::from(number) << 32) ^ 0x9e37_79b9_7f4a_7c15);
        lot.next();
        lot
    }

    /// The next one, which is not 0 (split-mix).
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).max(1)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }
}

impl Engine for Walk {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        let next = self.walked.saturating_add(IN_A_ROUND).min(self.options.schedules);
        // After the last one, what comes next would be more than that.
        Some(FACTS.bound(&[next.max(self.walked.saturating_add(1))]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let until = self.walked.saturating_add(IN_A_ROUND).min(self.options.schedules);
        if self.walked == until {
            return Err(Stop::GaveUp(FACTS.at_limit.to_owned()));
        }
        let mut stopped = None;
        while self.walked < until && stopped.is_none() {
            stopped = self.walk(budget).err();
            self.walked += u32::from(stopped.is_none());
        }
        budget.progress(self.walked, self.steps, self.reached.len() as u64);
        let violated = (0..).zip(&self.errors).filter(|(_, error)| self.found.contains_key(error));
        Ok(Round {
            states: self.steps,
            views: self.reached.len() as u64,
            steps: self.steps,
            violated: violated.map(|(number, _)| number).collect(),
            stopped,
            ..Round::empty(&FACTS, FACTS.bound(&[until]))
        })
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(None)
    }

    fn trace(&mut self, property: usize, _: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let error = self.errors.get(property).copied();
        let found = error.and_then(|error| Some((error, self.found.get(&error)?.clone())));
        let (error, found) = found.ok_or_else(|| Stop::defect("a trace is asked for where none was found"))?;
        let Found { start, steps } = self.shortened(error, found);
        let (program, property) = (self.program.digest(), error.name().to_owned());
        let trace = Trace { program, property, start, steps, circle: None };
        Ok((trace.into(), None))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        Notes { stored: ["step", "steps"], view: "state", remarks: self.coverage(), ..Notes::default() }
    }
}
