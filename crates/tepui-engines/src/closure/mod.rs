//! Closure-driven search: no bound, one representative of each view, until the views are closed.
//!
//! [`search`] is the search and the proof that it is fair, [`obligations`](crate::pushdown::obligations) what a proof
//! still owes, [`trace`] the way to a violation. What the driver calls a bound is the number of symbols of each stack by which representatives are told
//! apart; it orders the search and limits no schedule, so no smallest one is reported.

pub mod search;
pub mod trace;

use std::sync::Arc;

use tepui_cert::Trace;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};

use crate::crew::{Cores, Crew};
use crate::explorer::Explorer;
use crate::packed::PackedSet;
use crate::pushdown::compiled::Compiled;
use crate::pushdown::evidence::{certified, evidence};
use crate::pushdown::obligations::Obligations;
use crate::pushdown::returns::deterministic_returns;
use crate::pushdown::shorten::shorten;
use crate::pushdown::system::Pushdown;
use crate::pushdown::trace::trace as in_real_threads;
use crate::symmetry::Symmetry;
use search::Search;

/// What is true of the engine on every model.
pub static FACTS: Facts =
    Facts { explored: "representatives told apart by {} of each stack", ..Facts::unbounded("closure", &["symbols"]) };

/// How many failing views are reported.
const EXPLAINED: usize = 3;

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many symbols of each stack a view shows; a proof may need more.
    pub view_depth: usize,
    /// Whether interchangeable threads are treated as such.
    pub symmetry: bool,
    /// How many threads share the search.
    pub cores: Cores,
}

/// The engine.
pub struct Closure {
    search: Search,
}

impl Closure {
    /// An engine for a model.
    pub fn new(model: impl Into<Arc<Compiled>>, options: Options) -> Self {
        let compiled = model.into();
        let symmetry = if options.symmetry { compiled.symmetry() } else { Symmetry::none(compiled.threads()) };
        Self { search: Search::new(compiled, symmetry, Crew::of(options.cores), options.view_depth) }
    }
}

impl Engine for Closure {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(FACTS.bound(&[self.search.stage() as u32]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let bound = FACTS.bound(&[self.search.stage() as u32]);
        let stopped = self.search.advance(budget).and_then(|()| budget.look()).err();
        let violated = self.search.violated.iter().enumerate().filter(|(_, violated)| **violated);
        Ok(Round {
            states: self.search.explorer.states.len() as u64,
            views: self.search.view_count,
            steps: self.search.explorer.images,
            state_bytes: self.search.bytes(),
            violated: violated.map(|(property, _)| property).collect(),
            exhausted: stopped.is_none() && self.search.exhausted(),
            test_due: stopped.is_none() && self.search.closed().is_some(),
            open: self.search.open() as u64,
            stopped,
            ..Round::empty(&FACTS, bound)
        })
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let Some(closed) = self.search.closed() else { return Ok(None) };
        let states = std::mem::replace(&mut self.search.explorer.states, PackedSet::new([1]));
        if self.search.flat {
            self.search.explorer.states = states.clone(); // They may have to be listed.
        }
        let Explorer { system, crew, .. } = &self.search.explorer;
        let Pushdown { compiled, symmetry, .. } = system;
        let depths = &mut self.search.depths;
        depths.truncate(closed + 1);
        let Some(last) = depths.pop() else { return Ok(None) };
        if depths.is_empty() {
            depths.push(Obligations::with_views(compiled, symmetry, &last));
        }
        let because = match last.depth() {
            1 if deterministic_returns(compiled) == Some(true) => {
                "the views reached are closed under every step; every return leads to one place only, so this is decidable"
                    .to_owned()
            }
            1 => "the views reached are closed under every step".to_owned(),
            depth => format!("the views reached, of depth {depth}, are closed under every step"),
        };
        let lemma = match self.search.flat {
            true => Obligations::flat_lemma(system, states, crew, budget)?,
            false => {
                drop(states);
                last.into_lemma(compiled, symmetry, crew, budget)?
            }
        };
        let found = evidence(compiled, lemma, "closure", because);
        Ok(Some(certified(found, &compiled.model, |property| self.search.violated[property])))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let explorer = &self.search.explorer;
        let path = trace::fewest_contexts(explorer, property, budget)?;
        let (steps, Pushdown { compiled, symmetry, .. }) = (explorer.real_steps(&path), &explorer.system);
        let found = in_real_threads(&compiled.model, property, symmetry, steps, budget)?;
        Ok((shorten(&compiled.model, found, budget).into(), None))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        let Some(reported) = self.search.depths.first() else { return Vec::new() };
        let Explorer { system, states, crew, .. } = &self.search.explorer;
        let Pushdown { compiled, symmetry, .. } = system;
        if self.search.flat {
            let mut views = Obligations::new(compiled, symmetry, 1);
            let all: Vec<_> = (0..states.len() as u32).collect();
            let _ = views.add(system, states, &all, crew, budget);
            return views.list(compiled, symmetry, violating, budget);
        }
        reported.list(compiled, symmetry, violating, budget)
    }

    fn notes(&self) -> Notes {
        let stored = match self.search.explorer.system.symmetry.is_trivial() {
            true => ["state", "states"],
            false => ["orbit of states", "orbits of states"],
        };
        Notes { stored, obstacles: self.obstacles(), ..Notes::default() }
    }
}

impl Closure {
    /// What stands in the way of a proof: the depth at which the least is owed, and some of that.
    fn obstacles(&self) -> Vec<String> {
        let Some(best) = self.search.depths.iter().filter(|depth| depth.open() > 0).min_by_key(|depth| depth.open())
        else {
            return Vec::new();
        };
        let compiled = &self.search.explorer.system.compiled;
        let depth = match best.depth() {
            1 => "showing the top of each stack".to_owned(),
            depth => format!("showing the topmost {depth} symbols of each stack"),
        };
        let count = match best.open() {
            1 => "1 view that a pop may lead to has not been reached".to_owned(),
            open => format!("{open} views that pops may lead to have not been reached"),
        };
        let mut obstacles = vec![format!("with views {depth}, {count}")];
        obstacles.extend(best.explain(compiled, EXPLAINED));
        obstacles
    }
}
