//! From a model and options to an outcome: which engines apply, and which of them run.

use std::fmt;

use tepui_core::{Budget, Engine, Entrant, Outcome, Task, drive, race};
use tepui_engines::contexts::{self, Options as Sequences};
use tepui_engines::pushdown::abstraction::{Abstraction, Fence};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::finite_context::finite_context;
use tepui_lang::pushdown::Matching;
use tepui_model::pushdown::{Model, Property, Symbol};

use crate::ENGINES;

/// Which engine to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Whatever applies, side by side.
    Contexts,
    /// Enumerated states, with either sequence as evidence.
    Explicit,
    /// Enumerated states, and nothing but their collapse as evidence.
    States,
    /// Enumerated states, and nothing but the generator test as evidence.
    Views,
    /// Sets of stacks.
    Symbolic,
}

/// How to verify.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engine.
    pub engine: Choice,
    /// The last bound to explore.
    pub bound_limit: Option<u32>,
    /// Whether to look for proofs; without, this is bounded exploration.
    pub prove: bool,
    /// Whether to list the views.
    pub list_views: bool,
    /// The depth at which the generator test cuts stacks, to begin with.
    pub z_depth: usize,
    /// How many engines may run at the same time.
    pub cores: usize,
    /// What the user claims may come to light after a pop.
    pub matching: Option<Matching>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: Choice::Contexts,
            bound_limit: None,
            prove: true,
            list_views: false,
            z_depth: 1,
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            matching: None,
        }
    }
}

/// A pair that a matching omits although it is needed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnsupportedMatching {
    /// The thread.
    pub thread: usize,
    /// The popped symbol.
    pub popped: Symbol,
    /// What may come to light.
    pub revealed: Symbol,
}

impl fmt::Display for UnsupportedMatching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the matching omits a pair that is needed: {self:?}")
    }
}

impl std::error::Error for UnsupportedMatching {}

/// Verifies the properties of a model. A model without properties is asked for all its views.
pub fn verify(model: &Model, options: &Options, budget: &Budget) -> Result<Outcome, UnsupportedMatching> {
    let model = &with_some_property(model);
    if let Some(matching) = &options.matching {
        confirm(model, matching, &mut budget.clone())?;
    }
    let names = model.properties().iter().map(|property| property.name.clone()).collect();
    let task = Task {
        properties: names,
        bound_limit: options.bound_limit,
        prove: options.prove,
        list_views: options.list_views,
    };
    let finite = finite_context(&Compiled::new(model));
    let explicit = match options.engine {
        Choice::Contexts => finite.iter().all(|&finite| finite),
        Choice::Explicit | Choice::States | Choice::Views => {
            if let Some(thread) = finite.iter().position(|&finite| !finite) {
                return Ok(refuse(model, thread, options.engine, &task));
            }
            true
        }
        Choice::Symbolic => false,
    };
    let symbolic = matches!(options.engine, Choice::Contexts | Choice::Symbolic);
    let sequences = |states, views| Sequences { states, views, z_depth: options.z_depth };
    let mut entrants: Vec<Entrant<'_>> = Vec::new();
    if explicit {
        let (name, sequences) = match options.engine {
            Choice::States => ("contexts-states", sequences(true, false)),
            Choice::Views => ("contexts-views", sequences(false, true)),
            _ => ("contexts-explicit", sequences(true, true)),
        };
        entrants.push(entrant(&task, move || contexts::explicit(name, model, sequences)));
    }
    if symbolic {
        let sequences = sequences(false, true);
        entrants.push(entrant(&task, move || contexts::symbolic("contexts-symbolic", model, sequences)));
    }
    if !options.prove {
        entrants.truncate(1); // Bounded exploration has no proof to race for: each would run to the bound.
    }
    let outcome = race(entrants, budget, options.cores);
    Ok(outcome.unwrap_or_else(|| Outcome::not_applicable("contexts", "contexts", &task, "no engine applies")))
}

fn entrant<'a, E: Engine>(task: &'a Task, engine: impl FnOnce() -> E + Send + 'a) -> Entrant<'a> {
    Box::new(move |budget| drive(&mut engine(), task, budget))
}

fn refuse(model: &Model, thread: usize, engine: Choice, task: &Task) -> Outcome {
    let why = format!(
        "thread {} may grow its stack without bound within one context, so its states cannot be enumerated",
        model.threads()[thread].name
    );
    let name = ENGINES.iter().find(|info| info.choice == engine).map_or("contexts", |info| info.name);
    Outcome::not_applicable(name, "contexts", task, &why)
}

/// A model without a property gets one that nothing violates: the question is then which views there are.
fn with_some_property(model: &Model) -> Model {
    if !model.properties().is_empty() {
        return model.clone();
    }
    let all_views = Property { name: "views".to_owned(), never: Vec::new() };
    model.clone().with_properties(vec![all_views]).unwrap_or_else(|_| model.clone())
}

/// Compares a matching with what may come to light according to the rules that fire in the least inductive set of
/// views. That the stack may be empty after a pop is always allowed.
fn confirm(model: &Model, matching: &Matching, budget: &mut Budget) -> Result<(), UnsupportedMatching> {
    let compiled = Compiled::new(model);
    let mut views = Abstraction::new(&compiled, 1);
    if views.fixpoint(usize::MAX, Fence::Open, budget).is_err() {
        return Ok(()); // A limit ends the run that follows as well.
    }
    let omitted = |&(thread, word, revealed): &(usize, &[Symbol], Symbol)| {
        !revealed.is_bottom() && !matching.0[thread].contains(&(word[0], revealed))
    };
    match views.revealed().find(omitted) {
        Some((thread, word, revealed)) => Err(UnsupportedMatching { thread, popped: word[0], revealed }),
        None => Ok(()),
    }
}
