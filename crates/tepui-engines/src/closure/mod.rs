//! Closure-driven search: no bound, one representative of each view, until the views are closed.
//!
//! [`search`] is the search and the proof that it is fair, [`obligations`](crate::obligations) what a proof still owes,
//! [`fewest_contexts`](crate::fewest_contexts) the way to a violation. Any system will do that has an [`Abstraction`]. What
//! the driver calls a bound is the level of the views by which representatives are told apart, for pushdown models a number
//! of symbols of each stack; it orders the search and limits no schedule, so no smallest one is reported.

mod heeded;
mod reduced;
mod rounds;
pub mod search;

use std::sync::Arc;

use tepui_cert::{Certificate, Trace};
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};

use crate::abstraction::{Abstraction, Describe, violation_test};
use crate::explorer::Explorer;
use crate::fewest_contexts::fewest_contexts;
use crate::ids::StateId;
use crate::obligations::Obligations;
use crate::packed::PackedSet;
use crate::proof::Proof;
use crate::pushdown::compiled::Compiled;
use crate::pushdown::stack_views::StackViews;
use crate::pushdown::stacks::Stacks;
use crate::pushdown::system::Pushdown;
use crate::symmetry::Symmetry;
use crate::system::System;
use crate::workers::{Cores, Workers};
use search::Search;

/// What is true of the engine on every pushdown model.
pub static FACTS: Facts =
    Facts { explored: "representatives told apart by {} of each stack", ..Facts::unbounded("closure", &["symbols"]) };

/// The same of one that joins a search in which all threads are explored: it begins anew.
pub static WAITING: Facts =
    Facts { explored: "representatives told apart by {} of each stack, where some threads wait", ..FACTS };

/// Why it is a proof that views are closed where some threads wait.
const REDUCED: &str =
    "the views reached are closed under the steps of the threads explored; the others can wait, and none is ignored";

/// How many failing views are reported.
const EXPLAINED: usize = 3;

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many symbols of each stack a view shows; a proof may need more.
    pub view_depth: usize,
    /// Whether interchangeable threads are treated as such.
    pub symmetry: bool,
    /// Whether threads wait that can.
    pub waiting: bool,
    /// How many threads share the search.
    pub cores: Cores,
}

/// The engine: for pushdown models, unless it is said for which system and which views of it.
pub struct Closure<S: System = Pushdown<Stacks>, A: Abstraction<S> = StackViews> {
    facts: &'static Facts,
    search: Search<S, A>,
    /// Whether views may have to be listed after a proof.
    lists: bool,
}

impl Closure {
    /// An engine for a pushdown model.
    pub fn new(model: impl Into<Arc<Compiled>>, options: Options) -> Self {
        let compiled = model.into();
        let symmetry = if options.symmetry { compiled.symmetry() } else { Symmetry::none(compiled.threads()) };
        let stacks = Stacks::new(&compiled);
        let system = Pushdown::new(compiled, stacks, symmetry);
        let system = if options.waiting { system.reducing() } else { system };
        Self::of(&FACTS, system, options.view_depth, options.cores)
    }
}

impl<S: System, A: Abstraction<S>> Closure<S, A> {
    /// An engine for a system that reports views of a level; a proof may need a greater one.
    pub fn of(facts: &'static Facts, system: S, level: usize, cores: Cores) -> Self {
        Self { facts, search: Search::new(system, Workers::of(cores), level), lists: true }
    }

    /// The same; whether anybody will ask for all views after a proof. If not, they need not be kept.
    #[must_use]
    pub fn listing(self, lists: bool) -> Self {
        Self { lists, ..self }
    }

    /// The same beside a search in which all threads are explored: it gives up if it turns out that no thread waits.
    #[must_use]
    pub fn if_some_wait(mut self) -> Self {
        (self.facts, self.search.only_waiting) = (&WAITING, true);
        self
    }

    /// The system that is searched.
    pub fn system(&self) -> &S {
        &self.search.explorer.system
    }

    /// Searches up to the end of a stage, a new violation or a closed set of views, and reports what is known then.
    pub fn advance(&mut self, budget: &mut Budget) -> Round {
        let bound = self.bound();
        let stopped = self.search.advance(budget).and_then(|()| budget.look()).err();
        let violated = self.search.violated.iter().enumerate().filter(|(_, violated)| **violated);
        Round {
            states: self.search.explorer.states.len() as u64,
            views: self.search.view_count,
            steps: self.search.explorer.images,
            state_bytes: self.search.bytes(),
            violated: violated.map(|(property, _)| property).collect(),
            exhausted: stopped.is_none() && self.search.exhausted(),
            test_due: stopped.is_none() && self.search.closed().is_some(),
            open: self.search.open() as u64,
            stopped,
            ..Round::empty(self.facts, bound)
        }
    }

    /// The level and the certificate of views that are closed, if some are. It uses up the search.
    pub fn certificate(&mut self, budget: &mut Budget) -> Result<Option<(usize, A::Certificate)>, Stop> {
        let Some(closed) = self.search.closed() else { return Ok(None) };
        let Search { explorer, levels, exact, violated, reduced, .. } = &mut self.search;
        let reduced = reduced.take();
        let states = std::mem::replace(&mut explorer.states, PackedSet::new([1]));
        levels.truncate(closed + 1);
        let Some(last) = levels.pop() else { return Ok(None) };
        let (abstraction, mut views, of_views) = last.into_views();
        let explored = reduced.map(|reduced| if *exact { reduced.explored } else { of_views });
        if *exact {
            if self.lists {
                explorer.states = states.clone();
            }
            views = states.cast();
        } else {
            drop(states);
        }
        let keep = self.lists && !*exact;
        let listed = levels.is_empty().then(|| if keep { views.clone() } else { PackedSet::new([1]) });
        let Explorer { system, workers, .. } = &*explorer;
        let certificate = abstraction.certificate(system, views, explored, violated, workers, budget);
        let level = abstraction.level();
        levels.extend(listed.map(|listed| Obligations::with_views(system, abstraction, listed)));
        Ok(Some((level, certificate?)))
    }

    /// A trace to a violation.
    pub fn violation(&self, property: usize, budget: &mut Budget) -> Result<A::Trace, Stop> {
        let explorer = &self.search.explorer;
        let path = fewest_contexts(explorer, violation_test::<S, A>(&explorer.system, property), budget)?;
        A::trace(&explorer.system, property, &explorer.row(StateId::INITIAL), &path, budget)
    }

    fn bound(&self) -> Bound {
        self.facts.bound(&[self.search.stage() as u32])
    }
}

impl<S: System, A: Describe<S>> Closure<S, A> {
    /// What stands in the way of a proof: the level at which the least is owed, and some of that.
    fn obstacles(&self) -> Vec<String> {
        let owing = self.search.levels.iter().filter(|level| level.open() > 0);
        let Some(best) = owing.min_by_key(|level| level.open()) else { return Vec::new() };
        let mut obstacles = vec![A::unmet(best.abstraction().level(), best.open())];
        obstacles.extend(best.explain(&self.search.explorer.system, EXPLAINED));
        obstacles
    }
}

impl<S: System, A: Describe<S>> Engine for Closure<S, A>
where
    A::Certificate: Into<Certificate>,
    A::Trace: Into<Trace>,
{
    fn facts(&self) -> &'static Facts {
        self.facts
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(self.bound())
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        Ok(self.advance(budget))
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let Some((level, certificate)) = self.certificate(budget)? else { return Ok(None) };
        let because = match self.search.is_reduced {
            true => REDUCED.to_owned(),
            false => A::because(&self.search.explorer.system, level),
        };
        Ok(Some(Proof { certificate, because, kind: "closure", level }.into()))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        Ok((self.violation(property, budget)?.into(), None))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        let Some(reported) = self.search.levels.first() else { return Vec::new() };
        let Explorer { system, states, workers, .. } = &self.search.explorer;
        match self.search.exact {
            true => reported.abstraction().list(system, states, violating, workers, budget),
            false => reported.abstraction().list(system, &reported.views, violating, workers, budget),
        }
    }

    fn notes(&self) -> Notes {
        let stored = A::stored(&self.search.explorer.system);
        Notes { stored, reduced: self.search.is_reduced, obstacles: self.obstacles(), ..Notes::default() }
    }
}
