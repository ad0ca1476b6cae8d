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
pub mod explicit_trace;
pub mod finite;
pub mod languages;
pub mod post_star;
pub mod regular;
pub mod search;
pub mod symbolic_trace;

use std::sync::Arc;

use tepui_cert::Trace;
use tepui_cert::pushdown::Step;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::pushdown::Symbol;

use crate::crew::{Cores, Crew};
use crate::pushdown::abstraction::Reached;
use crate::pushdown::compiled::Compiled;
use crate::pushdown::evidence::certified;
use crate::pushdown::generators::{GeneratorTest, Pairs};
use crate::pushdown::stacks::Stacks;
use crate::pushdown::system::Locals;
use crate::pushdown::trace;
use crate::symmetry::Symmetry;
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

/// What a representation adds to the search: its name, its traces, and what it can conclude from an empty level.
pub trait Representation: Locals + Sized {
    /// A trace to a violation with the fewest contexts.
    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<Trace, Stop>;

    /// A certificate from an empty level. It may use up the states.
    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Option<Evidence>, Stop>;
}

impl Representation for Stacks {
    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<Trace, Stop> {
        let steps = explicit_trace::shortest(search, property, budget)?;
        Ok(trace::trace(&search.compiled().model, property, search.symmetry(), steps, budget)?.into())
    }

    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        finite::collapsed(search, budget).map(Some)
    }
}

impl Representation for Languages {
    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<Trace, Stop> {
        let model = &search.compiled().model;
        let steps = symbolic_trace::concretize(search, property, budget)?;
        let mut trace = trace::empty(model, &model.properties()[property]);
        let mut state = model.init().clone();
        for (thread, rule) in steps {
            budget.spend(state.stacks.iter().map(|stack| stack.len() as u64).sum())?;
            let after = model.step(&state, thread, rule);
            state = after.ok_or_else(|| Stop::defect("a trace does not execute"))?;
            trace.steps.push(Step { thread, rule, after: state.clone() });
        }
        Ok(trace.into())
    }

    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        regular::collapsed(search, budget).map(Some)
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

/// The engine.
pub struct Contexts<L> {
    facts: &'static Facts,
    search: Search<L>,
    options: Options,
    test: GeneratorTest,
    /// How many views the last plateau has, and the work that was done when it was first seen.
    plateau: (usize, u64),
}

/// From this many views on, a test costs more than a second or so.
const LARGE: usize = 100_000;

/// An engine that enumerates states. Terminates its first level only where contexts are finite: ask
/// [`finite_context`](crate::pushdown::finite_context::finite_context) before.
pub fn explicit(facts: &'static Facts, model: impl Into<Arc<Compiled>>, options: Options) -> Contexts<Stacks> {
    let compiled = model.into();
    let stacks = Stacks::new(&compiled);
    Contexts::new(facts, compiled, stacks, options)
}

/// An engine that works with sets of stacks.
pub fn symbolic(model: impl Into<Arc<Compiled>>, options: Options) -> Contexts<Languages> {
    let compiled = model.into();
    let languages = Languages::new(&compiled);
    Contexts::new(&SYMBOLIC, compiled, languages, options)
}

impl<L: Representation> Contexts<L> {
    fn new(facts: &'static Facts, compiled: Arc<Compiled>, locals: L, options: Options) -> Self {
        let test = GeneratorTest::new(options.z_depth);
        let symmetry = if options.symmetry { compiled.symmetry() } else { Symmetry::none(compiled.threads()) };
        Self {
            facts,
            search: Search::new(compiled, locals, symmetry, Crew::of(options.cores)),
            options,
            test,
            plateau: (0, 0),
        }
    }

    /// The engine with a relation of what may come to light after a pop, for its generator test.
    #[must_use]
    pub fn with_pairs(mut self, pairs: Option<Pairs>) -> Self {
        self.test = self.test.with_pairs(pairs);
        self
    }

    /// Whether it is worth waiting for a level without states instead of testing a large number of views: the levels since
    /// the last new view have cost less than the test would.
    fn collapse_is_near(&mut self, exhausted: bool, budget: &Budget) -> bool {
        let views = self.search.views.len();
        if self.plateau.0 < views {
            self.plateau = (views, budget.work());
        }
        let spent = budget.work() - self.plateau.1;
        self.options.states && !exhausted && views >= LARGE && spent < views as u64
    }

    fn contexts(&self, level: usize) -> Bound {
        self.facts.bound(&[level as u32])
    }
}

impl<L: Representation> Engine for Contexts<L> {
    fn facts(&self) -> &'static Facts {
        self.facts
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(self.contexts(self.search.levels()))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        let bound = self.contexts(self.search.levels());
        let before = self.search.views.len();
        let stopped = self.search.next_level(budget).and_then(|()| budget.look()).err();
        let violated = self.search.violations.iter().enumerate().filter(|(_, violation)| violation.is_some());
        Ok(Round {
            states: u64::from(self.search.len()),
            views: self.search.view_count,
            steps: self.search.explorer.images,
            state_bytes: self.search.bytes(),
            violated: violated.map(|(property, _)| property).collect(),
            exhausted: stopped.is_none() && self.search.exhausted(),
            test_due: stopped.is_none() && before == self.search.views.len(),
            stopped,
            ..Round::empty(self.facts, bound)
        })
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let exhausted = self.search.exhausted();
        let mut evidence = None;
        if self.options.states && exhausted {
            evidence = L::collapsed(&mut self.search, budget)?;
        }
        if self.options.views && evidence.is_none() && !self.collapse_is_near(exhausted, budget) {
            let search = &self.search;
            let top = |_: usize, word: &[Symbol]| word.first().map(|symbol| symbol.0);
            let reached = Reached { views: &search.views, states: search.len() as usize, depth: 1, number: &top };
            let (compiled, crew) = (search.compiled(), &search.explorer.crew);
            evidence = self.test.run(compiled, search.symmetry(), reached, exhausted, crew, budget)?;
            if evidence.is_none() && exhausted {
                self.test.nothing_new_will_come()?;
            }
        }
        let violations = &self.search.violations;
        let violated = |property: usize| violations[property].is_some();
        Ok(evidence.map(|evidence| certified(evidence, &self.search.compiled().model, violated)))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let level = self.search.violations[property].map_or(0, |violation| violation.level);
        Ok((L::trace(&self.search, property, budget)?, Some(self.contexts(level))))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        let search = &self.search;
        search.compiled().list_views(&search.views, search.symmetry(), |_, top| vec![Symbol(top)], violating, budget)
    }

    fn notes(&self) -> Notes {
        let stored = match (L::WHOLE_CONTEXTS, self.search.symmetry().is_trivial()) {
            (false, true) => ["state", "states"],
            (false, false) => ["orbit of states", "orbits of states"],
            (true, true) => ["set of states", "sets of states"],
            (true, false) => ["orbit of sets of states", "orbits of sets of states"],
        };
        Notes { stored, ..Notes::default() }
    }
}
