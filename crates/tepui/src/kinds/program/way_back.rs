//! The way back from the model of a program to the program.

use std::sync::Arc;

use tepui_cert::{Certificate, Trace};
use tepui_core::{Budget, Engine, Stop, Translated, WayBack};
use tepui_engines::program::retrace::{Lost, retrace};
use tepui_engines::program::table::Compiled;
use tepui_model::program::{Program, Property};

use super::Compiling;
use super::certify::certify;
use super::view;

/// From a model of a program to the program: proofs are restated in the terms of the source, traces are followed on the
/// interpreter.
#[derive(Clone)]
pub(super) struct ToSource {
    program: Arc<Program>,
    compiled: Arc<Compiled>,
    properties: Arc<Vec<Property>>,
    /// Whether nobody will look at proofs.
    without_proofs: bool,
}

impl ToSource {
    pub(super) fn new(program: &Arc<Program>, compiling: &Compiling, compiled: &Arc<Compiled>) -> Self {
        Self {
            program: Arc::clone(program),
            compiled: Arc::clone(compiled),
            properties: Arc::new(compiling.properties(program)),
            without_proofs: compiling.without_proofs,
        }
    }

    /// Puts the way back around engines.
    pub(super) fn wrap(self) -> impl Fn(Box<dyn Engine>) -> Box<dyn Engine> {
        move |engine| Box::new(Translated::new(engine, self.clone()))
    }
}

impl WayBack for ToSource {
    fn certificate(&self, proof: Certificate, _: &mut Budget) -> Result<Certificate, Stop> {
        if self.without_proofs {
            return Ok(proof);
        }
        let Certificate::Pushdown(proof) = proof else {
            return Err(Stop::defect("a proof is not one about the model"));
        };
        Ok(certify(&self.program, &self.compiled, &proof, &self.properties).into())
    }

    fn trace(&self, property: usize, trace: Trace, budget: &mut Budget) -> Result<Trace, Stop> {
        let name = self.compiled.model.properties().get(property).map_or("", |property| &property.name);
        let Trace::Pushdown(found) = trace else { return Err(Stop::defect("a trace is not one of the model")) };
        let steps: Vec<_> = found.steps.iter().map(|step| (step.thread, &step.after)).collect();
        let stop = || budget.clone().look().is_err();
        let followed = retrace(&self.program, &self.compiled, name, &found.start, &steps, &stop);
        match followed.and_then(|execution| execution.trace(&self.program, name)) {
            Ok(trace) => Ok(trace.into()),
            Err(lost) => Err(unfollowed(&lost, budget)),
        }
    }

    fn views(&self, views: Vec<String>) -> Vec<String> {
        view::tell(&self.program, &self.compiled, &views)
    }
}

/// Why a violation is not believed.
fn unfollowed(lost: &Lost, budget: &Budget) -> Stop {
    match (lost, budget.clone().look()) {
        (Lost::Stopped, Err(stop)) => stop,
        (Lost::TooMany, _) => Stop::GaveUp(lost.to_string()),
        _ => Stop::NotConfirmed(format!("the program's interpreter cannot follow a trace: {lost}")),
    }
}
