//! From a model and options to an outcome: which engines apply, and which of them run.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use tepui_core::{Budget, Engine, Entrant, Evidence, Limit, Measuring, Outcome, Reason, Task, drive, race};
use tepui_engines::closure::{self, Closure};
use tepui_engines::contexts::{self, Options as Sequences};
use tepui_engines::crew::{Cores, Crew};
use tepui_engines::delays::{self, Delays};
use tepui_engines::pushdown::abstraction::{Abstraction, Fence};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::finite_context::finite_context_within;
use tepui_engines::pushdown::generators::Pairs;
use tepui_engines::pushdown::observed::ObservedPushdown;
use tepui_engines::symmetry::Symmetry;
use tepui_lang::pushdown::Matching;
use tepui_model::pushdown::{Model, Property, Symbol};

use crate::{ENGINES, Refinement};

/// Which engine to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Closure, and after a while a context engine beside it.
    Auto,
    /// Closure-driven search.
    Closure,
    /// Rounds and delays.
    Delays,
    /// The context engines that apply, side by side.
    Contexts,
    /// Enumerated states, with either sequence as evidence.
    Explicit,
    /// Enumerated states, and nothing but their collapse as evidence.
    States,
    /// Enumerated states, and nothing but the generator test as evidence.
    Views,
    /// Sets of stacks.
    Symbolic,
    /// Languages of threads, for communicating systems only.
    Rendezvous,
}

/// The resource of which the smallest amount is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Minimal {
    /// Contexts.
    Contexts,
    /// Rounds and delays.
    Delays,
}

/// How to verify.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engine.
    pub engine: Choice,
    /// The resource of which the smallest amount is wanted, besides an answer. For [`Choice::Auto`] only.
    pub minimal: Option<Minimal>,
    /// The last bound to explore: an amount of each resource, or one for all of them.
    pub bound_limit: Option<Vec<u32>>,
    /// Whether to look for proofs; without, this is bounded exploration.
    pub prove: bool,
    /// Whether to list the views.
    pub list_views: bool,
    /// Whether the first violation ends the run, although other properties are open.
    pub stop_at_first: bool,
    /// How many symbols of each stack a view shows; only closure and delays know more than one.
    pub view_depth: usize,
    /// The depth at which the generator test cuts stacks, to begin with.
    pub z_depth: usize,
    /// Whether interchangeable threads are treated as such, where that is sound.
    pub symmetry: bool,
    /// Delays: test for closure at every bound.
    pub test_always: bool,
    /// Delays: compute every bound from the initial state.
    pub from_scratch: bool,
    /// Rendezvous: how languages are refined.
    pub rendezvous: Refinement,
    /// How many threads work.
    pub cores: Cores,
    /// What the user claims may come to light after a pop.
    pub matching: Option<Matching>,
    /// What the generator test takes for what may come to light after a pop, instead of what it derives.
    pub call_return: Option<Pairs>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            engine: Choice::Auto,
            minimal: None,
            bound_limit: None,
            prove: true,
            list_views: false,
            stop_at_first: false,
            view_depth: 1,
            z_depth: 1,
            symmetry: true,
            test_always: false,
            from_scratch: false,
            rendezvous: Refinement::default(),
            cores: Cores::new(std::thread::available_parallelism().map_or(1, usize::from)),
            matching: None,
            call_return: None,
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

/// How much work closure may do alone before a context engine starts beside it: a second or so.
const HEAD_START: u64 = 4_000_000;

/// Verifies the properties of a model. A model without properties is asked for all its views.
pub fn verify(model: &Model, options: &Options, budget: &Budget) -> Result<Outcome, UnsupportedMatching> {
    let model = &*with_some_property(model);
    let names = model.properties().iter().map(|property| property.name.clone()).collect();
    let task = Task {
        properties: names,
        bound_limit: options.bound_limit.clone(),
        prove: options.prove,
        list_views: options.list_views,
        stop_at_first: options.stop_at_first,
    };
    let stop = || budget.clone().look().is_err();
    let Some(compiled) = Compiled::new_unless(model, &stop) else {
        let reason = budget.clone().look().err().map_or(Reason::Limit(Limit::Interrupt), Reason::from);
        let first = if options.engine == Choice::Auto { Choice::Closure } else { options.engine };
        let info = ENGINES.iter().find(|info| info.choice == first).unwrap_or(&ENGINES[0]);
        return Ok(Outcome::without_answer(info.name, info.resource, &task, &reason));
    };
    if let Some(matching) = &options.matching {
        confirm(&compiled, matching, &mut budget.clone())?;
    }
    let run = Run { compiled: &Arc::new(compiled), options, task: &task, budget };
    Ok(match options.minimal.filter(|_| options.engine == Choice::Auto && options.prove) {
        Some(minimal) => run.minimal(minimal),
        None => run.chosen(options.engine),
    })
}

#[derive(Clone, Copy)]
struct Run<'a> {
    compiled: &'a Arc<Compiled>,
    options: &'a Options,
    task: &'a Task,
    budget: &'a Budget,
}

impl<'a> Run<'a> {
    fn chosen(&self, choice: Choice) -> Outcome {
        let entrants = match self.entrants(choice) {
            Ok(entrants) => entrants,
            Err(refused) => return *refused,
        };
        let outcome = race(entrants, self.budget, self.options.cores.threads);
        outcome.unwrap_or_else(|| Outcome::not_applicable("contexts", "contexts", self.task, "no engine applies"))
    }

    /// The engines that a choice stands for; the error is the outcome where it does not apply.
    fn entrants(&self, choice: Choice) -> Result<Vec<Entrant<'a>>, Box<Outcome>> {
        let Self { compiled, options, task, .. } = *self;
        let cores = options.cores;
        let mut entrants = match choice {
            Choice::Closure => vec![self.closure(0)],
            Choice::Rendezvous => {
                let why = "the threads share a variable; this engine is for threads that meet in actions";
                return Err(Box::new(Outcome::not_applicable("rendezvous", "actions", task, why)));
            }
            Choice::Auto => {
                let deep = options.view_depth > 1;
                // One thread is decided by one context, however deep its recursion is; views of no depth may do.
                let start = if compiled.threads() == 1 && !compiled.is_flat() { 0 } else { HEAD_START };
                let beside = (!deep).then(|| self.symbolic(start));
                [self.closure(0)].into_iter().chain(beside).collect()
            }
            Choice::Delays => {
                let limit = options.bound_limit.as_ref().and_then(|limit| limit.last().copied());
                let delays = limit.filter(|_| !options.prove);
                let Options { test_always, from_scratch, .. } = *options;
                let chosen = delays::Options { delays, test_always, from_scratch, cores };
                let (depth, z_depth) = (options.view_depth, options.z_depth);
                vec![Entrant::new(move |budget| {
                    cores.run(|| {
                        let system = ObservedPushdown::new(Arc::clone(compiled), depth, z_depth);
                        let mut engine = Delays::new(system.with_pairs(options.call_return.clone()), chosen);
                        drive(&mut engine, task, budget)
                    })
                })]
            }
            Choice::Contexts | Choice::Explicit | Choice::States | Choice::Views | Choice::Symbolic => {
                self.contexts(choice)?
            }
        };
        if !options.prove {
            entrants.truncate(1); // Bounded exploration has no proof to race for: each would run to the bound.
        }
        Ok(entrants)
    }

    fn closure(&self, after: u64) -> Entrant<'a> {
        let Self { compiled, options, task, .. } = *self;
        let chosen =
            closure::Options { view_depth: options.view_depth, symmetry: options.symmetry, cores: options.cores };
        Entrant::after(after, move |budget| {
            chosen.cores.run(|| drive(&mut Closure::new(Arc::clone(compiled), chosen), task, budget))
        })
    }

    fn symbolic(&self, after: u64) -> Entrant<'a> {
        let (Self { compiled, task, options, .. }, sequences) = (*self, self.sequences(true, true));
        Entrant::after(after, move |budget| {
            let engine = contexts::symbolic("contexts-symbolic", Arc::clone(compiled), sequences);
            drive(&mut engine.with_pairs(options.call_return.clone()), task, budget)
        })
    }

    fn explicit(&self, name: &'static str, states: bool, views: bool) -> Entrant<'a> {
        let (Self { compiled, task, options, .. }, sequences) = (*self, self.sequences(states, views));
        Entrant::new(move |budget| {
            let engine = contexts::explicit(name, Arc::clone(compiled), sequences);
            sequences.cores.run(|| drive(&mut engine.with_pairs(options.call_return.clone()), task, budget))
        })
    }

    fn sequences(&self, states: bool, views: bool) -> Sequences {
        let Options { z_depth, symmetry, cores, .. } = *self.options;
        Sequences { states, views, z_depth, symmetry, cores }
    }

    fn contexts(&self, choice: Choice) -> Result<Vec<Entrant<'a>>, Box<Outcome>> {
        let finite = self.finite_context()?;
        let infinite = finite.iter().position(|&finite| !finite);
        let explicit = |name, states, views| match infinite {
            Some(thread) => Err(Box::new(refuse(&self.compiled.model, thread, choice, self.task))),
            None => Ok(vec![self.explicit(name, states, views)]),
        };
        match choice {
            Choice::Explicit => explicit("contexts-explicit", true, true),
            Choice::States => explicit("contexts-states", true, false),
            Choice::Views => explicit("contexts-views", false, true),
            Choice::Symbolic => Ok(vec![self.symbolic(0)]),
            _ => {
                Ok(explicit("contexts-explicit", true, true).into_iter().flatten().chain([self.symbolic(0)]).collect())
            }
        }
    }

    /// For each thread whether its contexts are finite; the error is the outcome if a limit is reached before.
    fn finite_context(&self) -> Result<Vec<bool>, Box<Outcome>> {
        let finite = finite_context_within(self.compiled, &mut self.budget.clone());
        finite.map_err(|stop| Box::new(Outcome::without_answer("contexts", "contexts", self.task, &stop.into())))
    }

    /// An answer with the smallest bound: closure runs beside the engine that knows bounds. If closure is first, the
    /// other one goes on, and needs no test of its own any more: it has reached the cutoff when it has reached all views.
    fn minimal(&self, minimal: Minimal) -> Outcome {
        let choice = match minimal {
            Minimal::Contexts => Choice::Contexts,
            Minimal::Delays => Choice::Delays,
        };
        let bounded = match self.entrants(choice) {
            Ok(entrants) => entrants,
            Err(refused) => return *refused,
        };
        let field = [self.closure(0)].into_iter().chain(bounded).collect();
        let Some(first) = race(field, self.budget, self.options.cores.threads) else { return self.chosen(choice) };
        if first.engine != "closure" || !first.conclusive() {
            return first;
        }
        let views = first.iterations.last().map_or(0, |last| last.views);
        let second = match first.evidence() {
            Some(evidence) => self.up_to(minimal, (evidence.clone(), views)).unwrap_or_else(|refused| *refused),
            None => self.chosen(choice),
        };
        if let Some(why) = first.contradiction(&second) {
            return first.disputed(&why);
        }
        match second.conclusive() {
            true => second,
            false => first.with_bounds_of(&second),
        }
    }

    /// The bounded engine, up to the bound at which it has reached all views.
    fn up_to(&self, minimal: Minimal, (evidence, views): (Evidence, u64)) -> Result<Outcome, Box<Outcome>> {
        let Self { compiled, options, task, budget } = *self;
        let compiled = || Arc::clone(compiled);
        let finite = self.finite_context()?.into_iter().all(|finite| finite);
        Ok(options.cores.run(|| {
            let engine: Box<dyn Engine> = match minimal {
                Minimal::Delays => {
                    let chosen =
                        delays::Options { delays: None, test_always: false, from_scratch: false, cores: options.cores };
                    Box::new(Delays::new(ObservedPushdown::new(compiled(), options.view_depth, 1), chosen))
                }
                Minimal::Contexts if finite => {
                    Box::new(contexts::explicit("contexts-explicit", compiled(), self.sequences(false, false)))
                }
                Minimal::Contexts => {
                    Box::new(contexts::symbolic("contexts-symbolic", compiled(), self.sequences(false, false)))
                }
            };
            drive(&mut Measuring::new(engine, evidence, views), task, &mut budget.clone())
        }))
    }
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
fn with_some_property(model: &Model) -> Cow<'_, Model> {
    if !model.properties().is_empty() {
        return Cow::Borrowed(model);
    }
    let all_views = Property { name: "views".to_owned(), never: Vec::new() };
    model.clone().with_properties(vec![all_views]).map_or(Cow::Borrowed(model), Cow::Owned)
}

/// Compares a matching with what may come to light according to the rules that fire in the least inductive set of
/// views. That the stack may be empty after a pop is always allowed.
fn confirm(compiled: &Compiled, matching: &Matching, budget: &mut Budget) -> Result<(), UnsupportedMatching> {
    let none = Symmetry::none(compiled.threads());
    let mut views = Abstraction::new(compiled, &none, 1);
    if views.fixpoint(usize::MAX, Fence::Open, &Crew::of(Cores::new(1)), budget).is_err() {
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
