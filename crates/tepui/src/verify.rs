//! From a model and options to an outcome: which engines apply, and which of them run.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use tepui_core::{
    Budget, Deferred, Engine, Evidence, Facts, Limit, Measuring, Member, Outcome, Portfolio, PropertyOutcome, Query,
    Stop, Verdict, drive,
};
use tepui_engines::closure::{self, Closure};
use tepui_engines::contexts::{self, Options as Sequences};
use tepui_engines::delays::{self, Delays};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::finite_context::finite_context_within;
use tepui_engines::pushdown::generators::Pairs;
use tepui_engines::pushdown::least_set::{Fence, LeastInductiveSet};
use tepui_engines::pushdown::observed::ObservedPushdown;
use tepui_engines::symmetry::Symmetry;
use tepui_engines::workers::{Cores, Pooled, Workers};
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

impl Choice {
    /// What is true of the engine, whatever the model is.
    pub fn facts(self) -> &'static Facts {
        ENGINES.iter().find(|info| info.choice == self).map_or(&AUTO, |info| info.facts)
    }
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

/// Closure, and after a while another engine beside it.
pub(crate) static AUTO: Facts =
    Facts { explored: "representatives told apart by {} of each stack", ..Facts::unbounded("auto", &["symbols"]) };

/// The context engines side by side.
pub(crate) static CONTEXTS: Facts = Facts::new("contexts", &["contexts"]);

/// Why there is no engine to run: it cannot be started, or a limit was reached before.
pub(crate) struct Refused {
    pub(crate) engine: &'static Facts,
    pub(crate) stop: Stop,
}

impl Options {
    /// What is asked of a run about some properties.
    pub(crate) fn query(&self, properties: Vec<String>) -> Query {
        Query {
            properties,
            bound_limit: self.bound_limit.clone(),
            prove: self.prove,
            list_views: self.list_views,
            stop_at_first: self.stop_at_first,
        }
    }
}

/// Verifies the properties of a model. A model without properties is asked for all its views.
pub fn verify(model: &Model, options: &Options, budget: &Budget) -> Result<Outcome, UnsupportedMatching> {
    let model = &*with_some_property(model);
    let query = options.query(model.properties().iter().map(|property| property.name.clone()).collect());
    let setup = match Setup::new(model, options, budget) {
        Ok(setup) => setup,
        Err(refused) => return Ok(refused.outcome(&query)),
    };
    if let Some(matching) = &options.matching {
        confirm(&setup.compiled, matching, &mut budget.clone())?;
    }
    Ok(match options.minimal.filter(|_| options.engine == Choice::Auto && options.prove) {
        Some(minimal) => setup.minimal(minimal, &query).unwrap_or_else(|refused| refused.outcome(&query)),
        None => setup.answer(options.engine, &query),
    })
}

/// The engine that the options choose for a model, ready to be driven.
pub(crate) fn engine(model: &Model, options: &Options, budget: &Budget) -> Result<Box<dyn Engine>, Refused> {
    Setup::new(&with_some_property(model), options, budget)?.engine(options.engine)
}

impl Refused {
    fn outcome(&self, query: &Query) -> Outcome {
        Outcome::without_answer(self.engine, query, &self.stop.clone().into())
    }
}

/// A model and how it is to be verified.
struct Setup<'a> {
    compiled: Arc<Compiled>,
    options: &'a Options,
    budget: &'a Budget,
}

impl<'a> Setup<'a> {
    fn new(model: &Model, options: &'a Options, budget: &'a Budget) -> Result<Self, Refused> {
        let stop = || budget.clone().look().is_err();
        let Some(compiled) = Compiled::new_unless(model, &stop) else {
            let stop = budget.clone().look().err().unwrap_or(Stop::Limit(Limit::Interrupt));
            let first = if options.engine == Choice::Auto { Choice::Closure } else { options.engine };
            return Err(Refused { engine: first.facts(), stop });
        };
        Ok(Self { compiled: Arc::new(compiled), options, budget })
    }

    fn answer(&self, choice: Choice, query: &Query) -> Outcome {
        match self.engine(choice) {
            Ok(mut engine) => drive(&mut *engine, query, &mut self.budget.clone()),
            Err(refused) => refused.outcome(query),
        }
    }

    fn engine(&self, choice: Choice) -> Result<Box<dyn Engine>, Refused> {
        Ok(self.side_by_side(self.members(choice)?))
    }

    fn side_by_side(&self, members: Vec<Member>) -> Box<dyn Engine> {
        let limited = |member: Member| member.within(self.options.bound_limit.clone());
        Portfolio::of(members.into_iter().map(limited).collect(), self.options.cores.threads)
    }

    /// The engines that a choice stands for.
    fn members(&self, choice: Choice) -> Result<Vec<Member>, Refused> {
        let Self { compiled, options, .. } = self;
        let mut members = match choice {
            Choice::Closure => vec![self.closure()],
            Choice::Rendezvous => {
                let why = "the threads share a variable; this engine is for threads that meet in actions";
                return Err(Refused { engine: choice.facts(), stop: Stop::NotApplicable(why.to_owned()) });
            }
            Choice::Auto => {
                let deep = options.view_depth > 1;
                // One thread is decided by one context, however deep its recursion is; views of no depth may do.
                let start = if compiled.threads() == 1 && !compiled.is_flat() { 0 } else { HEAD_START };
                let beside = (!deep).then(|| self.symbolic(start));
                [self.closure()].into_iter().chain(beside).collect()
            }
            Choice::Delays => vec![Member::new(self.delays())],
            Choice::Contexts | Choice::Explicit | Choice::States | Choice::Views | Choice::Symbolic => {
                self.contexts(choice)?
            }
        };
        if !options.prove {
            members.truncate(1); // Bounded exploration has no proof to look for: each would run to the bound.
        }
        Ok(members)
    }

    fn closure(&self) -> Member {
        let Options { view_depth, symmetry, cores, .. } = *self.options;
        let engine = Closure::new(Arc::clone(&self.compiled), closure::Options { view_depth, symmetry, cores });
        Member::new(Pooled::new(engine, cores))
    }

    fn delays(&self) -> Pooled<Delays<ObservedPushdown>> {
        let options = self.options;
        let limit = options.bound_limit.as_ref().and_then(|limit| limit.last().copied());
        let delays = limit.filter(|_| !options.prove);
        let Options { test_always, from_scratch, cores, .. } = *options;
        let chosen = delays::Options { delays, test_always, from_scratch, cores };
        let system = ObservedPushdown::new(Arc::clone(&self.compiled), options.view_depth, options.z_depth);
        Pooled::new(Delays::new(system.with_pairs(options.call_return.clone()), chosen), cores)
    }

    /// The symbolic engine, when the others have done some work; until then, it costs nothing.
    fn symbolic(&self, after: u64) -> Member {
        let (compiled, sequences) = (Arc::clone(&self.compiled), self.sequences(true, true));
        let pairs = self.options.call_return.clone();
        let build = move |_: &mut Budget| -> Result<Box<dyn Engine>, Stop> {
            Ok(Box::new(contexts::symbolic(compiled, sequences).with_pairs(pairs)))
        };
        Member::after(after, Deferred::new(&contexts::SYMBOLIC, build))
    }

    fn explicit(&self, facts: &'static Facts, states: bool, views: bool) -> Member {
        let sequences = self.sequences(states, views);
        let engine = contexts::explicit(facts, Arc::clone(&self.compiled), sequences);
        Member::new(Pooled::new(engine.with_pairs(self.options.call_return.clone()), sequences.cores))
    }

    fn sequences(&self, states: bool, views: bool) -> Sequences {
        let Options { z_depth, symmetry, cores, .. } = *self.options;
        Sequences { states, views, z_depth, symmetry, cores }
    }

    fn contexts(&self, choice: Choice) -> Result<Vec<Member>, Refused> {
        if choice == Choice::Symbolic {
            return Ok(vec![self.symbolic(0)]);
        }
        let infinite = self.finite_context()?.iter().position(|&finite| !finite);
        let explicit = |states: bool, views: bool| match infinite {
            Some(thread) => Err(Refused { engine: choice.facts(), stop: refusal(&self.compiled.model, thread) }),
            None => Ok(vec![self.explicit(choice.facts(), states, views)]),
        };
        match choice {
            Choice::Explicit => explicit(true, true),
            Choice::States => explicit(true, false),
            Choice::Views => explicit(false, true),
            _ => {
                let enumerated = infinite.is_none().then(|| self.explicit(&contexts::EXPLICIT, true, true));
                Ok(enumerated.into_iter().chain([self.symbolic(0)]).collect())
            }
        }
    }

    /// For each thread whether its contexts are finite.
    fn finite_context(&self) -> Result<Vec<bool>, Refused> {
        let finite = finite_context_within(&self.compiled, &mut self.budget.clone());
        finite.map_err(|stop| Refused { engine: &CONTEXTS, stop })
    }

    /// An answer with the smallest bound: closure runs beside the engine that knows bounds. If closure is first, the
    /// other one goes on, and needs no test of its own any more: it has reached the cutoff when it has reached all views.
    fn minimal(&self, minimal: Minimal, query: &Query) -> Result<Outcome, Refused> {
        let choice = match minimal {
            Minimal::Contexts => Choice::Contexts,
            Minimal::Delays => Choice::Delays,
        };
        let members = [self.closure()].into_iter().chain(self.members(choice)?).collect();
        let first = drive(&mut *self.side_by_side(members), query, &mut self.budget.clone());
        let without_bound = |property: &PropertyOutcome| matches!(&property.verdict, Verdict::Unsafe(refuted) if refuted.bound().is_none());
        let by_closure = *first.engine == closure::FACTS;
        if !first.conclusive() || !(by_closure || first.properties.iter().any(without_bound)) {
            return Ok(first);
        }
        let views = first.iterations.last().map_or(0, |last| last.views);
        let second = match first.evidence().filter(|_| by_closure) {
            Some(evidence) => self.up_to(minimal, (evidence.clone(), views), query)?,
            None => self.answer(choice, query),
        };
        if let Some(why) = first.contradiction(&second) {
            return Ok(first.disputed(&why));
        }
        Ok(if second.conclusive() { second } else { first.with_bounds_of(&second) })
    }

    /// The bounded engine, up to the bound at which it has reached all views.
    fn up_to(&self, minimal: Minimal, (evidence, views): (Evidence, u64), query: &Query) -> Result<Outcome, Refused> {
        let Self { compiled, options, budget } = self;
        let (sequences, cores) = (self.sequences(false, false), options.cores);
        let compiled = || Arc::clone(compiled);
        let engine: Box<dyn Engine> = match minimal {
            Minimal::Delays => {
                let chosen = delays::Options { delays: None, test_always: false, from_scratch: false, cores };
                Box::new(Pooled::new(
                    Delays::new(ObservedPushdown::new(compiled(), options.view_depth, 1), chosen),
                    cores,
                ))
            }
            Minimal::Contexts if self.finite_context()?.into_iter().all(|finite| finite) => {
                Box::new(Pooled::new(contexts::explicit(&contexts::EXPLICIT, compiled(), sequences), cores))
            }
            Minimal::Contexts => Box::new(contexts::symbolic(compiled(), sequences)),
        };
        Ok(drive(&mut Measuring::new(engine, evidence, views), query, &mut (*budget).clone()))
    }
}

fn refusal(model: &Model, thread: usize) -> Stop {
    Stop::NotApplicable(format!(
        "thread {} may grow its stack without bound within one context, so its states cannot be enumerated",
        model.threads()[thread].name
    ))
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
    let mut views = LeastInductiveSet::new(compiled, &none, 1);
    if views.fixpoint(usize::MAX, Fence::Open, &Workers::of(Cores::new(1)), budget).is_err() {
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
