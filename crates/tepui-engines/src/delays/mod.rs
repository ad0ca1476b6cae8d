//! Delay- and round-unbounded analysis (after Johnson and Wahl, 2021).
//!
//! A round-robin scheduler gives each thread one step in turn; a delay skips a turn. `R(r, d)` holds the states reached
//! within r rounds and d delays ([`search`]); it is finite for every bound, whatever the stacks do, and in the limit
//! it is all of R. The views of `R(r, d)` are all views if
//!
//! * they do not change when r grows by 1 and d by n - 1, where n is the number of threads; and
//! * they are closed under actions that do not respect views, for pushdown models the pops.
//!
//! For let a step of thread i lead from a reached view elsewhere. If its action does not respect views, the second
//! condition says that the result is reached. If it does, take a state that was reached within (r, d) and shows the view,
//! and delay all threads until it is thread i's turn: at most n - 1 delays, and at most one more round. The step from
//! there shows the same result, within (r + 1, d + n - 1), so by the first condition within (r, d).
//!
//! The schedule: more rounds until one brings no new view; then more delays until n - 1 in a row bring none; a new view
//! on the way starts it all over. Then the views are tested for closure. A test that fails proves nothing either, and the
//! schedule starts again.
//!
//! The order of turns tells threads apart that are otherwise alike, so interchangeable threads are not treated as such
//! here: `R(r, d)` is not closed under permuting them.
//!
//! The engine asks nothing of a model but what [`Observed`] says: threads, steps, views and a closure test.

pub mod search;
pub mod trace;

use tepui_cert::Trace;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Round, Stop};

use crate::explorer::Explorer;
use crate::ids::StateId;
use crate::system::{Observed, Traced};
use crate::workers::{Cores, Workers};
use search::{MOST, Search};

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Explore just these rounds with these delays, instead of looking for a plateau.
    pub delays: Option<u32>,
    /// Test for closure at every bound, plateau or not.
    pub test_always: bool,
    /// Compute each set from the initial state, instead of going on from what the last bound held back.
    pub from_scratch: bool,
    /// How many threads share the search.
    pub cores: Cores,
}

/// Where the schedule is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// The initial state.
    Start,
    /// One more round.
    Round,
    /// One more delay, after so many that brought nothing new.
    Delay(u32),
}

/// The engine.
pub struct Delays<S: Observed> {
    search: Search<S>,
    options: Options,
    next: Next,
}

impl<S: Observed> Delays<S> {
    /// An engine for a system.
    pub fn new(system: S, options: Options) -> Self {
        Self { search: Search::new(system, Workers::of(options.cores)), options, next: Next::Start }
    }

    /// The states reached so far, as rows.
    pub fn states(&self) -> Vec<Vec<u32>> {
        let explorer = &self.search.explorer;
        explorer.states.ids().map(|state| explorer.row(state)).collect()
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.search.explorer.system
    }

    fn grow(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let (rounds, delays) = self.target();
        if rounds > MOST || delays > MOST {
            return Err(Stop::GaveUp(format!("more than {MOST} rounds or delays are not supported")));
        }
        if self.next == Next::Start {
            return self.search.start(delays, budget);
        }
        if self.options.from_scratch {
            self.search.forget();
            self.search.start(delays, budget)?;
        }
        while self.search.rounds < rounds {
            self.search.grow_rounds(budget)?;
        }
        while self.search.delays < delays {
            self.search.grow_delays(budget)?;
        }
        Ok(())
    }

    /// The rounds and delays that come next.
    fn target(&self) -> (u32, u32) {
        let Search { rounds, delays, .. } = self.search;
        match self.next {
            Next::Start => (0, self.options.delays.unwrap_or(0)),
            Next::Round => (rounds + 1, delays),
            Next::Delay(_) => (rounds, delays + 1),
        }
    }

    /// Goes on in the schedule; says whether a plateau of the required lengths has just been reached.
    fn schedule(&mut self, new_views: bool) -> bool {
        let plateau = self.search.explorer.system.threads() as u32 - 1;
        let quiet = match self.next {
            Next::Start => None,
            Next::Round if new_views || self.options.delays.is_some() => None,
            Next::Round => Some(0),
            Next::Delay(_) if new_views => None,
            Next::Delay(quiet) => Some(quiet + 1),
        };
        let complete = quiet == Some(plateau);
        self.next = match quiet {
            Some(quiet) if !complete => Next::Delay(quiet),
            _ => Next::Round,
        };
        complete
    }

    fn violated(&self) -> Vec<bool> {
        self.search.violations.iter().map(Option::is_some).collect()
    }

    /// Explores up to the next bound of the schedule and reports what is known then.
    pub fn advance(&mut self, budget: &mut Budget) -> Round {
        let (rounds, delays) = self.target();
        let before = self.search.views.len();
        let stopped = self.grow(budget).and_then(|()| budget.look()).err();
        let plateau = self.schedule(self.search.views.len() > before);
        let violated = self.violated().into_iter().enumerate().filter(|(_, violated)| *violated);
        Round {
            states: self.search.explorer.states.len() as u64,
            views: self.search.views.len() as u64,
            steps: self.search.calls,
            state_bytes: self.search.bytes(),
            violated: violated.map(|(property, _)| property).collect(),
            exhausted: stopped.is_none() && self.search.exhausted(),
            test_due: stopped.is_none() && (plateau || self.options.test_always),
            stopped,
            ..Round::empty(&FACTS, FACTS.bound(&[rounds, delays]))
        }
    }

    /// A proof that the views reached are all there are, if the system has one. Ask it when a round says that a test is due.
    pub fn proof(&mut self, budget: &mut Budget) -> Result<Option<S::Proof>, Stop> {
        let (violated, exhausted) = (self.violated(), self.search.exhausted());
        let Search { explorer, views, .. } = &mut self.search;
        explorer.system.closed(views, explorer.states.len(), exhausted, &violated, &explorer.workers, budget)
    }
}

impl<S: Traced> Delays<S> {
    /// A trace to a violation, and the rounds and delays that it needs; none, if less of them may do because exploration
    /// stopped in the middle of a bound.
    pub fn violation(&self, property: usize, budget: &mut Budget) -> Result<(S::Trace, Option<Bound>), Stop> {
        let Some(bounds) = self.search.violations[property] else {
            return Err(Stop::defect("a trace of no violation"));
        };
        let explorer = &self.search.explorer;
        let path = trace::within(explorer, property, bounds, budget)?;
        let trace = explorer.system.trace(property, &explorer.row(StateId::INITIAL), &path, budget)?;
        let least = FACTS.bound(&[bounds.rounds, bounds.delays]);
        Ok((trace, self.search.complete.then_some(least)))
    }
}

/// What is true of the engine on every model.
pub static FACTS: Facts = Facts::new("delays", &["rounds", "delays"]);

impl<S: Traced> Engine for Delays<S>
where
    S::Proof: Into<Evidence>,
    S::Trace: Into<Trace>,
{
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        let (rounds, delays) = self.target();
        Some(FACTS.bound(&[rounds, delays]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        Ok(self.advance(budget))
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(self.proof(budget)?.map(Into::into))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let (trace, bound) = self.violation(property, budget)?;
        Ok((trace.into(), bound))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        let Explorer { system, workers, .. } = &self.search.explorer;
        system.list(&self.search.views, violating, workers, budget)
    }
}
