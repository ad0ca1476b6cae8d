//! Closure of programs with queues: places for machines are added when there are too few.

use std::collections::BTreeSet;
use std::sync::Arc;

use tepui_cert::Certificate;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_engines::closure::Closure;
use tepui_engines::queue::machines::Machines;
use tepui_engines::queue::summary::Precision;
use tepui_engines::queue::views::QueueViews;
use tepui_engines::workers::Cores;
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error as Wrong;

/// What is true of it on every program.
static FACTS: Facts =
    Facts { explored: "representatives told apart at {}", restarts: true, ..Facts::unbounded("closure", &["levels"]) };

/// For how many machines there are places at first.
const FIRST: usize = 8;

/// For how many machines there are places at most.
const MOST: usize = 512;

/// The closure search, begun again with more places where there are more machines.
pub(super) struct Growing {
    program: Arc<Program>,
    errors: Vec<Wrong>,
    precision: Precision,
    places: usize,
    search: Closure<Machines, QueueViews>,
    /// What was found to be violated, also by searches before.
    violated: BTreeSet<usize>,
    /// A proof of some properties, where others are open.
    some: Option<(Vec<usize>, Evidence)>,
}

impl Growing {
    /// Searches a program for some errors, and sees queues with a precision at first.
    pub(super) fn new(program: Arc<Program>, errors: Vec<Wrong>, precision: Precision) -> Self {
        let search = search(&program, &errors, precision, FIRST, 1);
        Self { program, errors, precision, places: FIRST, search, violated: BTreeSet::new(), some: None }
    }
}

fn search(
    program: &Arc<Program>,
    errors: &[Wrong],
    precision: Precision,
    places: usize,
    level: usize,
) -> Closure<Machines, QueueViews> {
    let system = Machines::new(Arc::clone(program), errors.to_vec(), places, precision);
    // What machines do gets its numbers when it is asked for, so one worker asks.
    Closure::of(&FACTS, system, level, Cores::new(1)).listing(false)
}

impl Engine for Growing {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        self.search.next_bound()
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let level = self.search.next_bound().and_then(|bound| bound.amounts().first().copied()).unwrap_or(1);
        loop {
            let mut round = self.search.explore(budget)?;
            if !self.search.system().is_crowded() || self.places >= MOST {
                // Errors, and what is before all states, have rows but are no states.
                let others = round.violated.len() as u64 + u64::from(self.search.system().begins_in_several_ways());
                round.states = round.states.saturating_sub(others);
                round.views = round.views.saturating_sub(others);
                self.violated.extend(&round.violated);
                round.violated = self.violated.iter().copied().collect();
                return Ok(round);
            }
            self.places *= 2;
            self.search = search(&self.program, &self.errors, self.precision, self.places, level as usize);
        }
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let Some(evidence) = self.search.converged(budget)? else { return Ok(None) };
        let Certificate::Queue(certificate) = &evidence.certificate else { return Ok(None) };
        let is_claimed = |number: &usize| certificate.properties.iter().any(|name| name == self.errors[*number].name());
        let held = |number: &usize| !self.violated.contains(number);
        let claimed: Vec<_> = (0..self.errors.len()).filter(is_claimed).collect();
        if (0..self.errors.len()).filter(held).all(|number| claimed.contains(&number)) {
            return Ok(Some(evidence));
        }
        self.some = Some((claimed, evidence));
        Err(Stop::GaveUp("a spec seems to stay hot for ever, and it is not known whether it does".to_owned()))
    }

    fn proved(&mut self, _: &mut Budget) -> Result<Option<(Vec<usize>, Evidence)>, Stop> {
        Ok(self.some.take())
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        self.search.trace(property, budget)
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.search.views(violating, budget)
    }

    fn notes(&self) -> Notes {
        self.search.notes()
    }
}
