//! From a communicating system to an outcome.
//!
//! There are two ways to an answer. The product of the threads is a pushdown system, so closure applies to it: a fair
//! search that finds shallow violations at once, and often enough a proof. And the languages of the threads can be
//! compared, by the engine that this kind of model is known for. Both run side by side; who answers with the least work
//! is heard, and says by its name which of the two it was. What the product proves is translated back, and no proof counts
//! before the checker has accepted it.

use std::sync::{Mutex, PoisonError};

use tepui_cert::rendezvous::{Step, Trace};
use tepui_core::{
    Bound, Budget, Engine, Entrant, Evidence, Limit, Outcome, Reason, Round, Status, Stop, Task, drive, race,
};
use tepui_engines::closure::{self, Closure};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::rendezvous::product::{Product, product_unless};
use tepui_engines::rendezvous::{Rendezvous, approximate};
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
    let task = Task {
        properties: model.properties().iter().map(|property| property.name.clone()).collect(),
        bound_limit: options.bound_limit.clone(),
        prove: options.prove,
        list_views: false,
        stop_at_first: options.stop_at_first,
    };
    let obstacles = Mutex::new(Vec::new());
    let languages = |after: u64| {
        let (task, obstacles) = (&task, &obstacles);
        Entrant::after(after, move |budget| {
            let outcome = drive(&mut Rendezvous::new(model, options.rendezvous), task, budget);
            *obstacles.lock().unwrap_or_else(PoisonError::into_inner) = outcome.obstacles.clone();
            outcome
        })
    };
    // Threads that meet are told apart by their proofs.
    let chosen = closure::Options { view_depth: 1, symmetry: false, cores: options.cores };
    let beside = Task { bound_limit: Some(vec![DEPTH_BESIDE_LANGUAGES]), ..task.clone() };
    let closure = |after: u64| {
        let task = if options.engine == Choice::Rendezvous { &beside } else { &task };
        Entrant::after(after, move |budget| {
            let Some(product) = product_unless(model, &mut || budget.look().is_err()) else {
                let reason = budget.look().err().map_or(Reason::Limit(Limit::Interrupt), Reason::from);
                return Outcome::without_answer("closure", "symbols", task, &reason);
            };
            chosen.cores.run(|| {
                let engine = Box::new(Closure::new(Compiled::new(product.model()), chosen));
                drive(&mut OnProduct { engine, product: &product, model }, task, budget)
            })
        })
    };
    let mut entrants = match options.engine {
        Choice::Closure => vec![closure(0)],
        Choice::Rendezvous => vec![languages(0), closure(HEAD_START_OF_LANGUAGES)],
        _ => vec![closure(0), languages(HEAD_START_OF_CLOSURE)],
    };
    if !options.prove || (options.engine == Choice::Rendezvous && options.bound_limit.is_some()) {
        entrants.truncate(1); // The bound is one of the engine that was chosen.
    }
    let outcome = race(entrants, budget, options.cores.threads);
    let mut outcome =
        outcome.unwrap_or_else(|| Outcome::not_applicable("rendezvous", "actions", &task, "no engine applies"));
    if !outcome.conclusive() && outcome.engine != "rendezvous" {
        outcome.obstacles.extend(obstacles.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    certified(model, &mut outcome, budget);
    let doubtful = lonely(model, &outcome, budget);
    outcome.remarks.extend(doubtful);
    outcome
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
fn lonely(model: &Model, outcome: &Outcome, budget: &Budget) -> Vec<String> {
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
struct OnProduct<'a> {
    engine: Box<dyn Engine + 'a>,
    product: &'a Product,
    model: &'a Model,
}

impl Engine for OnProduct<'_> {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn resource(&self) -> &'static str {
        self.engine.resource()
    }

    fn stored(&self) -> [&'static str; 2] {
        ["state of the product", "states of the product"]
    }

    fn limits_schedules(&self) -> bool {
        false
    }

    fn next_bound(&self) -> Bound {
        self.engine.next_bound()
    }

    fn explore(&mut self, budget: &mut Budget) -> Round {
        self.engine.explore(budget)
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let Some(evidence) = self.engine.converged(budget)? else { return Ok(None) };
        let proof = evidence.certificate.as_pushdown();
        let views = proof.and_then(|proof| self.product.certificate(self.model, proof));
        let defect = || Stop::GaveUp("a proof about the product cannot be translated; this is a defect".to_owned());
        let certificate = tepui_cert::rendezvous::Certificate::Views(views.ok_or_else(defect)?).into();
        Ok(Some(Evidence { certificate, ..evidence }))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let (found, _) = self.engine.trace(property, budget)?;
        let defect = || Stop::GaveUp("a trace of the product does not execute; this is a defect".to_owned());
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
        for moves in self.product.steps(self.model, steps) {
            budget.spend(1)?;
            let after = self.model.step(trace.last(), &moves).ok_or_else(defect)?;
            trace.steps.push(Step { moves, after });
        }
        Ok((trace.into(), None))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new() // Those are views of the product, which mean nothing to anyone.
    }

    fn obstacles(&self) -> Vec<String> {
        self.engine.obstacles()
    }
}
