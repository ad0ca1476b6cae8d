//! From a communicating system to an outcome.
//!
//! There are two ways to an answer. The product of the threads is a pushdown system, so closure applies to it: a fair
//! search that finds shallow violations at once, and often enough a proof. And the languages of the threads can be
//! compared, by the engine that this kind of model is known for. Both run side by side; who answers with the least work
//! is heard, and says by its name which of the two it was. What the product proves is translated back, and no proof counts
//! before the checker has accepted it.

use std::sync::Arc;

use tepui_cert::rendezvous::{Step, Trace};
use tepui_core::{
    Bound, Budget, Decorator, Deferred, Engine, Evidence, Limit, Member, Notes, Outcome, Portfolio, Query, Status,
    Stop, drive,
};
use tepui_engines::closure::{self, Closure};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::rendezvous::product::{Product, product_unless};
use tepui_engines::rendezvous::{Rendezvous, approximate};
use tepui_engines::workers::{Cores, Pooled};
use tepui_model::rendezvous::{Model, Property, Target};

use crate::selfcheck::refusal;
use crate::{Choice, Options, Refinement};

/// How much work closure may do alone before languages are compared beside it: a fraction of a second.
const HEAD_START_OF_CLOSURE: u64 = 500_000;

/// How much work may go into languages alone before there is a search beside it: a second or so.
const HEAD_START_OF_LANGUAGES: u64 = 4_000_000;

/// How deep the search beside languages looks into stacks: it is there for what is shallow, and ends when they give up.
const DEPTH_BESIDE_LANGUAGES: u32 = 64;

/// The most targets of a property of which it is asked whether a thread alone could get there.
const MOST_DOUBTED: usize = 20;

/// Whether an engine can be chosen for communicating systems.
pub fn applies_to_rendezvous(choice: Choice) -> bool {
    matches!(choice, Choice::Auto | Choice::Rendezvous | Choice::Closure)
}

/// Verifies the properties of a model, of which there must be one. Engines that do not apply are taken for `auto`.
pub fn verify_rendezvous(model: &Model, options: &Options, budget: &Budget) -> Outcome {
    let names = model.properties().iter().map(|property| property.name.clone()).collect();
    let query = Query { list_views: false, ..options.query(names) };
    let model = &Arc::new(model.clone());
    let languages = |after: u64| {
        Member::after(after, Rendezvous::new(Arc::clone(model), options.rendezvous)).within(query.bound_limit.clone())
    };
    let closure = |after: u64, limit: Option<Vec<u32>>| {
        let build = building(model, options.cores);
        Member::after(after, Deferred::new(&closure::FACTS, build)).within(limit)
    };
    let mut members = match options.engine {
        Choice::Closure => vec![closure(0, query.bound_limit.clone())],
        Choice::Rendezvous => {
            vec![languages(0), closure(HEAD_START_OF_LANGUAGES, Some(vec![DEPTH_BESIDE_LANGUAGES]))]
        }
        _ => vec![closure(0, query.bound_limit.clone()), languages(HEAD_START_OF_CLOSURE)],
    };
    if !options.prove || (options.engine == Choice::Rendezvous && options.bound_limit.is_some()) {
        members.truncate(1); // The bound is one of the engine that was chosen.
    }
    let mut engine = Portfolio::of(members, options.cores.threads);
    let mut outcome = drive(&mut *engine, &query, &mut budget.clone());
    certified(model, &mut outcome, budget);
    let doubtful = lonely(model, &outcome, budget);
    outcome.remarks.extend(doubtful);
    outcome
}

/// Closure on the product of the threads.
fn building(
    model: &Arc<Model>,
    cores: Cores,
) -> impl FnOnce(&mut Budget) -> Result<Box<dyn Engine>, Stop> + Send + 'static {
    let model = Arc::clone(model);
    move |budget| {
        let Some(product) = product_unless(&model, &mut || budget.look().is_err()) else {
            return Err(budget.look().err().unwrap_or(Stop::Limit(Limit::Interrupt)));
        };
        // Threads that meet are told apart by their proofs.
        let chosen = closure::Options { view_depth: 1, symmetry: false, cores };
        let engine = Pooled::new(Closure::new(Compiled::new(product.model()), chosen), cores);
        Ok(Box::new(OnProduct { engine, product, model }))
    }
}

/// Holds the proof up to the checker: what it does not accept is not proved.
fn certified(model: &Model, outcome: &mut Outcome, budget: &Budget) {
    let Some(evidence) = outcome.evidence() else { return };
    let claimed = model.clone().restricted(|property| outcome.is_safe(&property.name));
    let stop = || budget.clone().look().is_err();
    if let Err(rejected) = tepui_check::rendezvous::check(&claimed, &evidence.certificate, &stop) {
        outcome.take_back(Status::Safe, &refusal(&rejected, budget));
    }
}

/// Properties that hold because, for each of their targets, a thread would not get there even if all others did what it
/// wants: as a rule the query is not what was meant.
fn lonely(model: &Arc<Model>, outcome: &Outcome, budget: &Budget) -> Vec<String> {
    let alone = |target: &Target| {
        (0..target.locals.len()).find(|&thread| {
            let set = target.locals[thread].as_ref();
            let automata = approximate(model, thread, set, 1, Refinement::default(), &mut budget.clone());
            automata.is_ok_and(|automata| automata.iter().any(|automaton| automaton.states.is_empty()))
        })
    };
    let few = |property: &&Property| (1..=MOST_DOUBTED).contains(&property.never.len());
    let remark = |property: &Property| {
        let threads: Option<Vec<_>> = property.never.iter().map(alone).collect();
        let thread = &model.threads()[*threads?.first()?].name;
        Some(format!("{}: thread {thread} would not get there even if all others helped it", property.name))
    };
    model
        .properties()
        .iter()
        .filter(|property| outcome.is_safe(&property.name))
        .filter(few)
        .filter_map(remark)
        .collect()
}

/// An engine that works on the product, and speaks about the system.
struct OnProduct {
    engine: Pooled<Closure>,
    product: Product,
    model: Arc<Model>,
}

impl Decorator for OnProduct {
    fn inner(&self) -> &dyn Engine {
        &self.engine
    }

    fn inner_mut(&mut self) -> &mut dyn Engine {
        &mut self.engine
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let Some(evidence) = self.inner_mut().converged(budget)? else { return Ok(None) };
        let proof = evidence.certificate.as_pushdown();
        let views = proof.and_then(|proof| self.product.certificate(&self.model, proof));
        let defect = || Stop::defect("a proof about the product cannot be translated");
        let certificate = tepui_cert::rendezvous::Certificate::Views(views.ok_or_else(defect)?).into();
        Ok(Some(Evidence { certificate, ..evidence }))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let (found, _) = self.inner_mut().trace(property, budget)?;
        let defect = || Stop::defect("a trace of the product does not execute");
        let found = found.as_pushdown().ok_or_else(defect)?;
        let steps = found.steps.iter().map(|step| (step.thread, step.rule));
        let stated = &self.model.properties()[property];
        let mut trace = Trace {
            model: self.model.digest(),
            property: stated.name.clone(),
            never: stated.digest(),
            start: self.model.init().clone(),
            steps: Vec::new(),
        };
        for moves in self.product.steps(&self.model, steps) {
            budget.spend(1)?;
            let after = self.model.step(trace.last(), &moves).ok_or_else(defect)?;
            trace.steps.push(Step { moves, after });
        }
        Ok((trace.into(), None))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new() // Those are views of the product, which mean nothing to anyone.
    }

    fn notes(&self) -> Notes {
        let stored = ["state of the product", "states of the product"];
        Notes { stored, view: "view of the product", ..self.inner().notes() }
    }
}
