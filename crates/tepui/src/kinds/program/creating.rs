//! Programs that create threads.
//!
//! The number of places for threads is a bound like any other: [`Creating`] is an engine that the driver raises. It holds
//! an engine for the present number and hands on its rounds. When places are never wanting, the answer is for any number.

use std::sync::{Arc, Mutex, PoisonError};

use tepui_cert::Trace;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Limit, Notes, Round, Stop};
use tepui_engines::program::code::Code;
use tepui_model::program::{Program, THREAD_LIMIT};

use super::Compiling;
use super::engines::Engines;
use crate::{Error, Options};

/// The number of threads is the bound.
pub(super) static CREATING: Facts = Facts {
    restarts: true,
    at_limit: "the limit on simultaneous threads was reached",
    ..Facts::new("auto", &["threads"])
};

/// The same, where the engine inside is bounded as well.
static CREATING_WITHIN_BOUNDS: Facts =
    Facts { explored: "explored up to the bound, with up to {}", at_limit: "the bound limit was reached", ..CREATING };

/// An engine whose bound is the number of threads that there may be at the same time: it holds an engine for the present
/// number, and hands on its rounds. Properties that are violated with fewer threads are not asked for again.
pub(super) struct Creating {
    program: Arc<Program>,
    compiling: Compiling,
    options: Options,
    properties: Vec<String>,
    places: u32,
    model: Option<Model>,
    inside: Inside,
    /// For each property whether there is a trace.
    traced: Vec<bool>,
}

/// What can be seen of the engine inside, even while others work beside it.
#[derive(Clone)]
pub(super) struct Inside(Arc<Mutex<(Option<&'static Facts>, Arc<Code>)>>);

impl Inside {
    /// The facts of the engine inside, and the program as it sees it.
    pub(super) fn look(&self) -> (Option<&'static Facts>, Arc<Code>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, facts: Option<&'static Facts>, code: Arc<Code>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (facts, code);
    }
}

/// The program with the present number of places.
struct Model {
    engine: Box<dyn Engine>,
    names: Vec<String>,
    /// The last round.
    last: Option<Round>,
    /// Whether all is known about this number.
    done: bool,
    /// Where threads are started for which there are no places, if that happens.
    full: Option<Full>,
}

/// More threads are wanted than there are places; at which line, if that is known.
#[derive(Clone, Copy)]
struct Full(Option<u32>);

impl Model {
    /// Notes that there are too few places, if the round shows it.
    fn look_for_more(&mut self, program: &Program, round: &Round, budget: &mut Budget) {
        let Some(own) = self.names.iter().position(|name| name == THREAD_LIMIT) else { return };
        if self.full.is_some() || !round.violated.contains(&own) {
            return;
        }
        let trace = budget.with_grace(|budget| self.engine.trace(own, budget));
        let line = trace.ok().and_then(|(trace, _)| {
            let Trace::Program(trace) = trace else { return None };
            let (procedure, position) = trace.steps.last()?.at;
            Some(program.procedures[procedure].statements.get(position)?.line)
        });
        self.full = Some(Full(line));
    }
}

impl Creating {
    pub(super) fn new(
        program: &Arc<Program>,
        compiling: &Compiling,
        options: &Options,
        properties: Vec<String>,
        budget: &Budget,
    ) -> Result<Self, Error> {
        let traced = vec![false; properties.len()];
        let code = Engines::new(program, compiling, options, 1, Vec::new(), budget)?.code;
        let (program, compiling, options) = (Arc::clone(program), compiling.clone(), options.clone());
        let inside = Inside(Arc::new(Mutex::new((None, code))));
        Ok(Self { program, compiling, options, properties, places: 0, model: None, inside, traced })
    }

    /// What can be seen of the engine inside.
    pub(super) fn inside(&self) -> Inside {
        self.inside.clone()
    }

    /// Goes on to the next number.
    fn raise(&mut self, budget: &Budget) -> Result<(), Stop> {
        self.places += 1;
        let violated =
            |name: &str| self.properties.iter().zip(&self.traced).any(|(own, traced)| own == name && *traced);
        let mut open = self.compiling.properties(&self.program);
        open.retain(|property| !violated(&property.name));
        let engines = Engines::new(&self.program, &self.compiling, &self.options, self.places, open, budget);
        let engines = engines.map_err(|error| Stop::GaveUp(error.to_string()))?;
        let (engine, names) = (engines.chosen(budget)?, engines.names());
        self.inside.note(Some(engine.facts()), engines.code);
        self.model = Some(Model { engine, names, last: None, done: false, full: None });
        Ok(())
    }

    fn bound(&self, places: u32) -> Bound {
        CREATING.bound(&[places])
    }

    fn own_facts(&self) -> &'static Facts {
        if self.options.prove { &CREATING } else { &CREATING_WITHIN_BOUNDS }
    }

    fn wants_more(&self) -> bool {
        self.model.as_ref().is_some_and(|model| model.full.is_some())
    }

    /// A round of the engine inside, as one about the program.
    fn told(&self, round: Round, again: bool) -> Round {
        let inside: Vec<&String> = self.model.iter().flat_map(|model| &model.names).collect();
        let violated = |number: &usize| {
            self.traced[*number]
                || round.violated.iter().any(|&own| inside.get(own) == Some(&&self.properties[*number]))
        };
        Round {
            by: self.own_facts(),
            bound: self.bound(self.places),
            violated: (0..self.properties.len()).filter(violated).collect(),
            exhausted: round.exhausted && !self.wants_more(),
            test_due: round.test_due && !self.wants_more(),
            again,
            ..round
        }
    }
}

impl Engine for Creating {
    fn facts(&self) -> &'static Facts {
        self.own_facts()
    }

    fn next_bound(&self) -> Option<Bound> {
        let more = self.model.as_ref().is_none_or(|model| model.done);
        Some(self.bound(self.places + u32::from(more)))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        if self.model.as_ref().is_none_or(|model| model.done) {
            self.raise(budget)?;
        }
        let (prove, limit) = (self.options.prove, self.options.bound_limit.as_deref());
        let Some(model) = &mut self.model else { return Err(Stop::defect("there is no model")) };
        if limit.zip(model.engine.next_bound()).is_some_and(|(limit, bound)| bound.exceeds(limit)) {
            // Bounded exploration goes on with more threads.
            let last = model.last.clone().filter(|_| !prove).ok_or(Stop::Limit(Limit::Bound))?;
            model.done = true;
            return Ok(self.told(last, true));
        }
        let round = model.engine.explore(budget)?;
        let (_, code) = self.inside.look();
        self.inside.note(Some(model.engine.facts()), code);
        model.look_for_more(&self.program, &round, budget);
        // A proof uses the states up, and ways to violations are found among them.
        let wanted = |&own: &usize| {
            let known = self.properties.iter().position(|name| model.names.get(own) == Some(name));
            known.is_some_and(|property| !self.traced[property])
        };
        let traced = !round.violated.iter().any(wanted);
        let closed = match prove && model.full.is_some() && round.test_due && traced {
            true => model.engine.converged(budget)?.is_some(),
            false => false,
        };
        model.done = closed || (round.exhausted && (model.full.is_some() || !prove));
        // Of several engines, one may have seen less than another had before.
        let views = model.last.as_ref().map_or(0, |last| last.views).max(round.views);
        let again = model.last.replace(Round { views, ..round.clone() }).is_some();
        Ok(self.told(Round { views, ..round }, again))
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        self.model.as_mut().map_or(Ok(None), |model| model.engine.converged(budget))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let Some(model) = &mut self.model else { return Err(Stop::defect("there is no model")) };
        let name = &self.properties[property];
        let Some(own) = model.names.iter().position(|own| own == name) else {
            return Err(Stop::defect("a property is not one of the model"));
        };
        let (trace, _) = model.engine.trace(own, budget)?;
        self.traced[property] = true;
        // Within another bound, fewer threads may be enough if that is raised.
        Ok((trace, self.options.prove.then(|| self.bound(self.places))))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.model.as_ref().map(|model| model.engine.views(violating, budget)).unwrap_or_default()
    }

    fn notes(&self) -> Notes {
        let Some(model) = &self.model else { return Notes::default() };
        let mut notes = model.engine.notes();
        if let Some(Full(line)) = model.full {
            let line = line.map_or(String::new(), |line| format!(" at line {line}"));
            notes.obstacles = vec![format!(
                "threads are started{line} while {} run already: nothing is known about more of them at the same time",
                self.places
            )];
        }
        notes
    }
}
