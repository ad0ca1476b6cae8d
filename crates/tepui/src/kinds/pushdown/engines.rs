//! From a model and options to an outcome: which engines apply, and which of them run.

use std::sync::Arc;

use tepui_core::{
    Budget, Deferred, Engine, Evidence, Facts, Limit, Measuring, Member, Outcome, Portfolio, PropertyOutcome, Query,
    Stop, Verdict, drive,
};
use tepui_engines::closure::{self, Closure};
use tepui_engines::contexts::{self, Options as Sequences};
use tepui_engines::delays::{self, Delays};
use tepui_engines::ids::ThreadId;
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::finite_context::finite_context_within;
use tepui_engines::pushdown::generators::Pairs;
use tepui_engines::pushdown::least_set::{Fence, LeastInductiveSet};
use tepui_engines::pushdown::observed::ObservedPushdown;
use tepui_engines::symmetry::Symmetry;
use tepui_engines::workers::{Cores, Pooled, Workers};
use tepui_lang::pushdown::Matching;
use tepui_model::pushdown::{Model, Symbol};

use crate::{AUTO, Minimal, Options, PartialOrder};

/// How much work closure may do alone before a context engine starts beside it: a second or so.
pub(crate) const HEAD_START: u64 = 4_000_000;

/// How much work closure may do before one in which threads wait joins, where procedures are called: a fraction of a second.
pub(crate) const WAITING_START: u64 = 1_000_000;

/// The context engines side by side.
pub static CONTEXTS: Facts = Facts::new("contexts", &["contexts"]);

/// Why there is no engine to run: it cannot be started, or a limit was reached before.
pub(crate) struct Refused {
    pub(crate) engine: &'static Facts,
    pub(crate) stop: Stop,
}

/// Which engine to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Choice {
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
}

const CHOICES: [(Choice, &Facts); 8] = [
    (Choice::Auto, &AUTO),
    (Choice::Closure, &closure::FACTS),
    (Choice::Delays, &delays::FACTS),
    (Choice::Contexts, &CONTEXTS),
    (Choice::Explicit, &contexts::EXPLICIT),
    (Choice::States, &contexts::STATES),
    (Choice::Views, &contexts::VIEWS),
    (Choice::Symbolic, &contexts::SYMBOLIC),
];

impl Choice {
    /// The engine with these facts, or else the first one.
    fn of(facts: &Facts) -> Self {
        CHOICES.iter().find(|(_, known)| *known == facts).map_or(Self::Auto, |(choice, _)| *choice)
    }

    fn facts(self) -> &'static Facts {
        CHOICES.iter().find(|(choice, _)| *choice == self).map_or(&AUTO, |(_, facts)| facts)
    }
}

/// Puts an engine around each one that is driven.
pub(crate) type Wrap<'a> = &'a dyn Fn(Box<dyn Engine>) -> Box<dyn Engine>;

/// A model and how it is to be verified.
pub(crate) struct Setup<'a> {
    compiled: Arc<Compiled>,
    options: &'a Options,
    pairs: Option<Pairs>,
    budget: &'a Budget,
    wrap: Wrap<'a>,
    /// Whether threads may wait that can, as far as the options go.
    waits: bool,
}

impl Refused {
    pub(crate) fn outcome(&self, query: &Query) -> Outcome {
        Outcome::without_answer(self.engine, &query.properties, &self.stop.clone().into())
    }
}

impl<'a> Setup<'a> {
    /// Prepares for a model, of which every property is asked for.
    pub(crate) fn new(
        model: &Model,
        options: &'a Options,
        budget: &'a Budget,
        wrap: Wrap<'a>,
    ) -> Result<Self, Refused> {
        let stop = || budget.clone().look().is_err();
        let Some(compiled) = Compiled::new_unless(model, &stop) else {
            let stop = budget.clone().look().err().unwrap_or(Stop::Limit(Limit::Interrupt));
            let engine = if *options.engine == AUTO { &closure::FACTS } else { options.engine };
            return Err(Refused { engine, stop });
        };
        Ok(Self { compiled: Arc::new(compiled), options, pairs: None, budget, wrap, waits: false })
    }

    /// The same with what the generator test takes for what may come to light after a pop.
    pub(crate) fn with_pairs(self, pairs: Option<Pairs>) -> Self {
        Self { pairs, ..self }
    }

    /// The same for a model that is asked for its properties, so that threads may wait if nobody sees it.
    pub(crate) fn letting_wait(self) -> Self {
        let Options { partial_order, prove, list_views, .. } = *self.options;
        let asked = self.compiled.model.properties().iter().any(|property| !property.never.is_empty());
        Self { waits: partial_order != PartialOrder::Off && prove && !list_views && asked, ..self }
    }

    /// What the engines say that the options choose.
    pub(crate) fn search(&self, query: &Query) -> Outcome {
        let minimal = self.options.minimal.filter(|_| *self.options.engine == AUTO && self.options.prove);
        let outcome = match minimal {
            Some(minimal) => self.minimal(minimal, query),
            None => self.answer(Choice::of(self.options.engine), query),
        };
        outcome.unwrap_or_else(|refused| refused.outcome(query))
    }

    /// The engine that the options choose, ready to be driven.
    pub(crate) fn chosen(&self) -> Result<Box<dyn Engine>, Refused> {
        Ok(self.side_by_side(self.members(Choice::of(self.options.engine))?))
    }

    fn answer(&self, choice: Choice, query: &Query) -> Result<Outcome, Refused> {
        let mut engine = self.side_by_side(self.members(choice)?);
        Ok(drive(&mut *engine, query, &mut self.budget.clone()))
    }

    fn side_by_side(&self, members: Vec<Member>) -> Box<dyn Engine> {
        let limited = |member: Member| member.within(self.options.bound_limit.clone());
        (self.wrap)(Portfolio::of(members.into_iter().map(limited).collect(), self.options.cores.threads))
    }

    /// The engines that a choice stands for.
    fn members(&self, choice: Choice) -> Result<Vec<Member>, Refused> {
        let Self { compiled, options, .. } = self;
        let mut members = match choice {
            Choice::Closure => self.with_waiting(),
            Choice::Auto => {
                let deep = options.view_depth > 1;
                // One thread is decided by one context, however deep its recursion is; views of no depth may do.
                let start = if compiled.threads() == 1 && !compiled.is_flat() { 0 } else { HEAD_START };
                let beside = (!deep).then(|| self.symbolic(start));
                self.with_waiting().into_iter().chain(beside).collect()
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

    /// Closure in which all threads are explored.
    fn closure(&self) -> Member {
        Member::new(Pooled::new(Closure::new(Arc::clone(&self.compiled), self.searching(false)), self.options.cores))
    }

    /// Closure in which threads wait, if they may and no stack grows; else closure in which all are explored, joined after a
    /// while by one in which they wait, if they may.
    fn with_waiting(&self) -> Vec<Member> {
        let Self { compiled, options, .. } = self;
        if !self.waits || compiled.threads() < 2 || options.bound_limit.is_some() {
            return vec![self.closure()];
        }
        let (cores, searching) = (options.cores, self.searching(true));
        if compiled.is_flat() || options.partial_order == PartialOrder::Always {
            return vec![Member::new(Pooled::new(Closure::new(Arc::clone(compiled), searching), cores))];
        }
        let compiled = Arc::clone(compiled);
        let build = move |_: &mut Budget| -> Result<Box<dyn Engine>, Stop> {
            Ok(Box::new(Pooled::new(Closure::new(compiled, searching).if_some_wait(), cores)))
        };
        vec![self.closure(), Member::after(WAITING_START, Deferred::new(&closure::WAITING, build))]
    }

    fn searching(&self, waiting: bool) -> closure::Options {
        let Options { view_depth, symmetry, cores, .. } = *self.options;
        closure::Options { view_depth, symmetry, waiting, cores }
    }

    fn delays(&self) -> Pooled<Delays<ObservedPushdown>> {
        let options = self.options;
        let limit = options.bound_limit.as_ref().and_then(|limit| limit.last().copied());
        let delays = limit.filter(|_| !options.prove);
        let Options { test_always, from_scratch, cores, .. } = *options;
        let chosen = delays::Options { delays, test_always, from_scratch, cores };
        let system = ObservedPushdown::new(Arc::clone(&self.compiled), options.view_depth, options.z_depth);
        Pooled::new(Delays::new(system.with_pairs(self.pairs.clone()), chosen), cores)
    }

    /// The symbolic engine, when the others have done some work; until then, it costs nothing.
    fn symbolic(&self, after: u64) -> Member {
        let (compiled, sequences) = (Arc::clone(&self.compiled), self.sequences(true, true));
        let pairs = self.pairs.clone();
        let build = move |_: &mut Budget| -> Result<Box<dyn Engine>, Stop> {
            Ok(Box::new(contexts::symbolic(compiled, sequences).with_pairs(pairs)))
        };
        Member::after(after, Deferred::new(&contexts::SYMBOLIC, build))
    }

    fn explicit(&self, facts: &'static Facts, states: bool, views: bool) -> Member {
        let sequences = self.sequences(states, views);
        let engine = contexts::explicit(facts, Arc::clone(&self.compiled), sequences);
        Member::new(Pooled::new(engine.with_pairs(self.pairs.clone()), sequences.cores))
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
            None => self.answer(choice, query)?,
        };
        if let Some(why) = first.contradiction(&second) {
            return Ok(first.disputed(&why));
        }
        Ok(if second.conclusive() { second } else { first.with_bounds_of(&second) })
    }

    /// The bounded engine, up to the bound at which it has reached all views.
    fn up_to(&self, minimal: Minimal, (evidence, views): (Evidence, u64), query: &Query) -> Result<Outcome, Refused> {
        let Self { compiled, options, budget, wrap, .. } = self;
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
        Ok(drive(&mut Measuring::new(wrap(engine), evidence, views), query, &mut (*budget).clone()))
    }
}

fn refusal(model: &Model, thread: usize) -> Stop {
    Stop::NotApplicable(format!(
        "thread {} may grow its stack without bound within one context, so its states cannot be enumerated",
        model.threads()[thread].name
    ))
}

/// A pair that a matching omits although it is needed.
pub(super) struct Omitted {
    pub(super) thread: usize,
    pub(super) popped: Symbol,
    pub(super) revealed: Symbol,
}

/// Compares a matching with what may come to light according to the rules that fire in the least inductive set of
/// views. That the stack may be empty after a pop is always allowed.
pub(super) fn omitted(model: &Model, matching: &Matching, budget: &mut Budget) -> Option<Omitted> {
    let stop = || budget.clone().look().is_err();
    let compiled = &Compiled::new_unless(model, &stop)?;
    let none = Symmetry::none(compiled.threads());
    let mut views = LeastInductiveSet::new(compiled, &none, 1);
    if views.fixpoint(usize::MAX, Fence::Open, &Workers::of(Cores::new(1)), budget).is_err() {
        return None; // A limit ends the run that follows as well.
    }
    let omitted = |&(thread, word, revealed): &(ThreadId, &[Symbol], Symbol)| {
        !revealed.is_bottom() && !matching.0[thread.index()].contains(&(word[0], revealed))
    };
    let (thread, word, revealed) = views.revealed().find(omitted)?;
    Some(Omitted { thread: thread.index(), popped: word[0], revealed })
}
