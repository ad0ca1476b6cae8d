//! Context-unbounded analysis of recursive threads (after Liu, Wahl and Reps, TOPLAS 2020).
//!
//! The bound k counts contexts. Two sequences are observed while it grows:
//!
//! * `R_k`, the states reachable with at most k contexts. It cannot stutter: once a level brings no new state, no
//!   later one does. With sets of stacks that means: no set that is not part of one that is known. With one thread the
//!   first context brings all of them.
//! * `T(R_k)`, their views. It is finite, so it converges, but it may stutter; whether a plateau is the end is
//!   decided by the generator test ([`generators`](crate::pushdown::generators)). Observable with enumerated states and with sets of stacks
//!   ([`languages`]) alike.
//!
//! [`search`] is the search itself, the same for both representations.

pub mod dfa;
pub(crate) mod explicit_trace;
pub mod finite;
pub mod languages;
pub mod post_star;
pub mod regular;
pub mod search;
pub(crate) mod symbolic_trace;

use std::sync::Arc;

use tepui_cert::Trace;
use tepui_cert::pushdown::{self, Step};
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};

use crate::abstraction::{Describe, violation_test};
use crate::explorer::Explorer;
use crate::fewest_contexts::fewest_contexts;
use crate::ids::StateId;
use crate::observing::Observing;
use crate::proof::Proof;
use crate::pushdown::compiled::Compiled;
use crate::pushdown::generators::Pairs;
use crate::pushdown::stack_views::StackViews;
use crate::pushdown::stacks::Stacks;
use crate::pushdown::system::Locals;
use crate::pushdown::top_views::TopViews;
use crate::pushdown::trace;
use crate::symmetry::Symmetry;
use crate::system::{Observed, System};
use crate::workers::{Cores, Workers};
use languages::Languages;
use search::Search;

/// How to search, and which sequences may give evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The collapse of `R_k`.
    pub states: bool,
    /// The generator test on `T(R_k)`.
    pub views: bool,
    /// The depth at which the generator test cuts stacks, to begin with.
    pub z_depth: usize,
    /// Whether interchangeable threads are treated as such.
    pub symmetry: bool,
    /// How many threads share the search.
    pub cores: Cores,
}

/// What a system adds to the search: its traces, and what it can conclude from an empty level.
pub trait Representation: Observed {
    /// What a violation is handed out as.
    type Trace;

    /// A trace to a violation with the fewest contexts.
    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<Self::Trace, Stop>
    where
        Self: Sized;

    /// A proof from an empty level. It may use up the states.
    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Self::Proof, Stop>
    where
        Self: Sized;

    /// What the rows are called, one and several.
    fn stored(&self) -> [&'static str; 2];
}

/// Any system with an abstraction. A violation is found again among the states stored, which are all that its contexts reach.
impl<S: System, A: Describe<S>> Representation for Observing<S, A> {
    type Trace = A::Trace;

    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<A::Trace, Stop> {
        let (explorer, system) = (&search.explorer, &search.explorer.system.system);
        let path = fewest_contexts(explorer, violation_test::<S, A>(system, property), budget)?;
        A::trace(system, property, &explorer.row(StateId::INITIAL), &path, budget)
    }

    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Proof<A::Certificate>, Stop> {
        let violated = search.violated();
        let Explorer { system, states, workers, .. } = &mut search.explorer;
        finite::collapsed::<S, A>(&mut system.system, states, &violated, workers, budget)
    }

    fn stored(&self) -> [&'static str; 2] {
        A::stored(&self.system)
    }
}

impl Representation for TopViews<Stacks> {
    type Trace = pushdown::Trace;

    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<pushdown::Trace, Stop> {
        let steps = explicit_trace::shortest(search, property, budget)?;
        trace::trace(&search.compiled().model, property, search.symmetry(), steps, budget)
    }

    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Evidence, Stop> {
        let violated = search.violated();
        let Explorer { system, states, workers, .. } = &mut search.explorer;
        Ok(finite::collapsed::<_, StackViews>(&mut system.system, states, &violated, workers, budget)?.into())
    }

    fn stored(&self) -> [&'static str; 2] {
        StackViews::stored(&self.system)
    }
}

impl Representation for TopViews<Languages> {
    type Trace = pushdown::Trace;

    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<pushdown::Trace, Stop> {
        let model = &search.compiled().model;
        let steps = symbolic_trace::concretize(search, property, budget)?;
        let mut trace = trace::empty(model, &model.properties()[property]);
        let mut state = model.init().clone();
        for (thread, rule) in steps.into_iter().map(|(thread, rule)| (thread.index(), rule)) {
            budget.spend(state.stacks.iter().map(|stack| stack.len() as u64).sum())?;
            let after = model.step(&state, thread, rule);
            state = after.ok_or_else(|| Stop::defect("a trace does not execute"))?;
            trace.steps.push(Step { thread, rule, after: state.clone() });
        }
        Ok(trace)
    }

    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Evidence, Stop> {
        regular::collapsed(search, budget)
    }

    fn stored(&self) -> [&'static str; 2] {
        match self.system.symmetry.is_trivial() {
            true => ["set of states", "sets of states"],
            false => ["orbit of sets of states", "orbits of sets of states"],
        }
    }
}

const fn counting_contexts(name: &'static str) -> Facts {
    Facts::new(name, &["contexts"])
}

/// Enumerated states, with either sequence as evidence.
pub static EXPLICIT: Facts = counting_contexts("contexts-explicit");
/// Enumerated states, and nothing but their collapse as evidence.
pub static STATES: Facts = counting_contexts("contexts-states");
/// Enumerated states, and nothing but the generator test as evidence.
pub static VIEWS: Facts = counting_contexts("contexts-views");
/// Sets of stacks.
pub static SYMBOLIC: Facts = counting_contexts("contexts-symbolic");

/// Which sequences may give evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sequences {
    /// The collapse of `R_k`.
    pub states: bool,
    /// The test of a plateau of `T(R_k)`.
    pub views: bool,
}

/// The engine.
pub struct Contexts<S: Observed> {
    facts: &'static Facts,
    search: Search<S>,
    sequences: Sequences,
    /// How many views the last plateau has, and the work that was done when it was first seen.
    plateau: (usize, u64),
}

/// From this many views on, a test costs more than a second or so.
const LARGE: usize = 100_000;

/// An engine that enumerates states. Terminates its first level only where contexts are finite: ask
/// [`finite_context`](crate::pushdown::finite_context::finite_context) before.
pub fn explicit(
    facts: &'static Facts,
    model: impl Into<Arc<Compiled>>,
    options: Options,
) -> Contexts<TopViews<Stacks>> {
    let compiled = model.into();
    let stacks = Stacks::new(&compiled);
    pushdown_contexts(facts, compiled, stacks, options)
}

/// An engine that works with sets of stacks.
pub fn symbolic(model: impl Into<Arc<Compiled>>, options: Options) -> Contexts<TopViews<Languages>> {
    let compiled = model.into();
    let languages = Languages::new(&compiled);
    pushdown_contexts(&SYMBOLIC, compiled, languages, options)
}

fn pushdown_contexts<L: Locals>(
    facts: &'static Facts,
    compiled: Arc<Compiled>,
    locals: L,
    options: Options,
) -> Contexts<TopViews<L>> {
    let symmetry = if options.symmetry { compiled.symmetry() } else { Symmetry::none(compiled.threads()) };
    let system = TopViews::new(compiled, locals, symmetry, options.z_depth);
    Contexts::of(facts, system, Sequences { states: options.states, views: options.views }, options.cores)
}

impl<L: Locals> Contexts<TopViews<L>> {
    /// The engine with a relation of what may come to light after a pop, for its generator test.
    #[must_use]
    pub fn with_pairs(mut self, pairs: Option<Pairs>) -> Self {
        self.search.explorer.system = self.search.explorer.system.with_pairs(pairs);
        self
    }
}

impl<S: Observed> Contexts<S> {
    /// An engine for a system, each context of which reaches finitely many rows.
    pub fn of(facts: &'static Facts, system: S, sequences: Sequences, cores: Cores) -> Self {
        Self { facts, search: Search::new(system, Workers::of(cores)), sequences, plateau: (0, 0) }
    }

    /// Explores one more context and reports what is known then.
    pub fn advance(&mut self, budget: &mut Budget) -> Round {
        let bound = self.contexts(self.search.levels());
        let before = self.search.views.len();
        let stopped = self.search.next_level(budget).and_then(|()| budget.look()).err();
        let violated = self.search.violated().into_iter().enumerate().filter(|(_, violated)| *violated);
        Round {
            states: self.search.len() as u64,
            views: self.search.view_count,
            steps: self.search.explorer.images,
            state_bytes: self.search.bytes(),
            violated: violated.map(|(property, _)| property).collect(),
            exhausted: stopped.is_none() && self.search.exhausted(),
            test_due: stopped.is_none() && before == self.search.views.len(),
            stopped,
            ..Round::empty(self.facts, bound)
        }
    }

    /// Whether it is worth waiting for a level without states instead of testing a large number of views: the levels since
    /// the last new view have cost less than the test would.
    fn collapse_is_near(&mut self, exhausted: bool, budget: &Budget) -> bool {
        let views = self.search.views.len();
        if self.plateau.0 < views {
            self.plateau = (views, budget.work());
        }
        let spent = budget.work() - self.plateau.1;
        self.sequences.states && !exhausted && views >= LARGE && spent < views as u64
    }

    fn contexts(&self, level: usize) -> Bound {
        self.facts.bound(&[level as u32])
    }
}

impl<S: Representation> Contexts<S> {
    /// A proof that the views reached are all there are, if there is one. Ask for it when a round says that a test is due.
    pub fn proof(&mut self, budget: &mut Budget) -> Result<Option<S::Proof>, Stop> {
        let exhausted = self.search.exhausted();
        if self.sequences.states && exhausted {
            return S::collapsed(&mut self.search, budget).map(Some);
        }
        if !self.sequences.views || self.collapse_is_near(exhausted, budget) {
            return Ok(None);
        }
        let violated = self.search.violated();
        let Search { explorer: Explorer { system, states, workers, .. }, views, .. } = &mut self.search;
        system.closed(views, states.len(), exhausted, &violated, workers, budget)
    }

    /// A trace to a violation, and its contexts.
    pub fn violation(&self, property: usize, budget: &mut Budget) -> Result<(S::Trace, Bound), Stop> {
        let level = self.search.violations[property].map_or(0, |violation| violation.level);
        Ok((S::trace(&self.search, property, budget)?, self.contexts(level)))
    }
}

impl<S: Representation> Engine for Contexts<S>
where
    S::Proof: Into<Evidence>,
    S::Trace: Into<Trace>,
{
    fn facts(&self) -> &'static Facts {
        self.facts
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(self.contexts(self.search.levels()))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        Ok(self.advance(budget))
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(self.proof(budget)?.map(Into::into))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let (trace, bound) = self.violation(property, budget)?;
        Ok((trace.into(), Some(bound)))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        let Explorer { system, workers, .. } = &self.search.explorer;
        system.list(&self.search.views, violating, workers, budget)
    }

    fn notes(&self) -> Notes {
        Notes { stored: self.search.explorer.system.stored(), ..Notes::default() }
    }
}
