//! Context-unbounded analysis of recursive threads (after Liu, Wahl and Reps, TOPLAS 2020).
//!
//! The bound k counts contexts. Two sequences are observed while it grows:
//!
//! * `R_k`, the states reachable with at most k contexts. It cannot stutter: once a level brings no new state, no
//!   later one does. Observable where states are enumerated ([`stacks`]).
//! * `T(R_k)`, their views. It is finite, so it converges, but it may stutter; whether a plateau is the end is
//!   decided by the generator test ([`generators`]). Observable with enumerated states and with sets of stacks
//!   ([`languages`]) alike.
//!
//! [`search`] is the search itself, the same for both representations.

pub mod dfa;
pub mod explicit_trace;
pub mod generators;
pub mod languages;
pub mod post_star;
pub mod search;
pub mod stacks;
pub mod symbolic_trace;

use tepui_cert::{Certificate, Lemma, Step, Trace};
use tepui_core::{Budget, Engine, Evidence, Round, Stop};
use tepui_model::pushdown::Model;

use crate::pushdown::compiled::Compiled;
use generators::GeneratorTest;
use languages::Languages;
use search::{Locals, Search};
use stacks::Stacks;

/// Which sequences may give evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The collapse of `R_k`, where states are enumerated.
    pub states: bool,
    /// The generator test on `T(R_k)`.
    pub views: bool,
    /// The depth at which the generator test cuts stacks, to begin with.
    pub z_depth: usize,
}

/// What a representation adds to the search: its name, its traces, and what it can conclude from an empty level.
pub trait Representation: Locals + Sized {
    /// The steps (thread, rule) of a violation with the fewest contexts.
    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<Vec<(usize, usize)>, Stop>;

    /// A certificate from an empty level, if enumerated states allow one. It may use up the states.
    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Option<Evidence>, Stop>;
}

impl Representation for Stacks {
    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<Vec<(usize, usize)>, Stop> {
        explicit_trace::shortest(search, property, budget)
    }

    fn collapsed(search: &mut Search<Self>, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        generators::finite(search, budget).map(Some)
    }
}

impl Representation for Languages {
    fn trace(search: &Search<Self>, property: usize, budget: &mut Budget) -> Result<Vec<(usize, usize)>, Stop> {
        symbolic_trace::concretize(search, property, budget)
    }

    fn collapsed(_: &mut Search<Self>, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(None)
    }
}

/// The engine.
pub struct Contexts<L> {
    name: &'static str,
    search: Search<L>,
    options: Options,
    test: GeneratorTest,
}

/// An engine that enumerates states. Terminates its first level only where contexts are finite: ask
/// [`finite_context`](crate::pushdown::finite_context::finite_context) before.
pub fn explicit(name: &'static str, model: &Model, options: Options) -> Contexts<Stacks> {
    let compiled = Compiled::new(model);
    let stacks = Stacks::new(&compiled);
    Contexts::new(name, compiled, stacks, options)
}

/// An engine that works with sets of stacks.
pub fn symbolic(name: &'static str, model: &Model, options: Options) -> Contexts<Languages> {
    let compiled = Compiled::new(model);
    let languages = Languages::new(&compiled);
    Contexts::new(name, compiled, languages, options)
}

impl<L: Representation> Contexts<L> {
    fn new(name: &'static str, compiled: Compiled, locals: L, options: Options) -> Self {
        let test = GeneratorTest::new(options.z_depth);
        Self { name, search: Search::new(compiled, locals), options, test }
    }

    fn certified(&self, mut evidence: Evidence) -> Evidence {
        let (model, violations) = (&self.search.compiled.model, &self.search.violations);
        let open = model.properties().iter().zip(violations).filter(|(_, violation)| violation.is_none());
        evidence.certificate.properties = open.map(|(property, _)| property.clone()).collect();
        evidence
    }
}

impl<L: Representation> Engine for Contexts<L> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn resource(&self) -> &'static str {
        "contexts"
    }

    fn stored(&self) -> [&'static str; 2] {
        if L::WHOLE_CONTEXTS { ["set of states", "sets of states"] } else { ["state", "states"] }
    }

    fn explore(&mut self, _: u32, budget: &mut Budget) -> Round {
        let stopped = self.search.next_level(budget).and_then(|()| budget.look()).err();
        let violated = self.search.violations.iter().enumerate().filter(|(_, violation)| violation.is_some());
        Round {
            states: self.search.states.len() as u64,
            views: self.search.views.len() as u64,
            steps: self.search.steps,
            state_bytes: self.search.bytes(),
            violated: violated.map(|(property, _)| property).collect(),
            exhausted: self.search.exhausted(),
            stopped,
        }
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let exhausted = self.search.exhausted();
        let mut evidence = None;
        if self.options.states && exhausted {
            evidence = L::collapsed(&mut self.search, budget)?;
        }
        if self.options.views && evidence.is_none() {
            let Search { compiled, views, states, .. } = &self.search;
            evidence = self.test.run(compiled, views, states.len(), exhausted, budget)?;
            if evidence.is_none() && exhausted {
                self.test.nothing_new_will_come()?;
            }
        }
        Ok(evidence.map(|evidence| self.certified(evidence)))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<Trace, Stop> {
        let steps = L::trace(&self.search, property, budget)?;
        let model = &self.search.compiled.model;
        let mut state = model.init().clone();
        let mut trace = Trace {
            model: model.digest(),
            property: model.properties()[property].clone(),
            start: state.clone(),
            steps: Vec::with_capacity(steps.len()),
        };
        for (thread, rule) in steps {
            budget.spend(state.stacks.iter().map(|stack| stack.len() as u64).sum())?;
            let after = model.step(&state, thread, rule);
            state = after.ok_or_else(|| Stop::GaveUp("a trace does not execute; this is a defect".to_owned()))?;
            trace.steps.push(Step { thread, rule, after: state.clone() });
        }
        Ok(trace)
    }

    fn views(&self) -> Vec<String> {
        let mut row = vec![0; self.search.compiled.threads() + 1];
        let mut views: Vec<_> = (0..self.search.views.len() as u32)
            .map(|view| {
                self.search.views.get(view, &mut row);
                self.search.compiled.view(&row)
            })
            .collect();
        views.sort_unstable();
        let model = &self.search.compiled.model;
        views.into_iter().map(|view| model.display_view(view.shared, |thread| view.tops[thread])).collect()
    }
}

/// Evidence whose properties are still to be filled in.
fn evidence(compiled: &Compiled, lemma: Lemma, kind: &'static str, because: String) -> Evidence {
    let view_depth = lemma.depth;
    let certificate = Certificate { model: compiled.model.digest(), properties: Vec::new(), lemmas: vec![lemma] };
    Evidence { certificate, because, kind, view_depth }
}
