//! The way back from the model of a program to the program.

use std::sync::Arc;

use tepui_cert::{Certificate, Trace, program};
use tepui_core::{Budget, Engine, Stop, Translated, WayBack};
use tepui_engines::program::retrace::{Execution, Lost, retrace};
use tepui_engines::program::table::{Compiled, THREAD_LIMIT};
use tepui_model::program::{Program, Property};

use super::Compiling;
use super::certify::certify;
use crate::kinds::pushdown::comment;

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
        let model = &self.compiled.model;
        let name = model.properties().get(property).map_or("", |property| &property.name);
        if name == THREAD_LIMIT {
            return Ok(trace); // The compiler's own property is none of the program.
        }
        let Trace::Pushdown(found) = trace else { return Err(Stop::defect("a trace is not one of the model")) };
        let stop = || budget.clone().look().is_err();
        match execution(&self.program, &self.compiled, &found, name, &stop) {
            Ok(Execution { start, steps }) => {
                let comments = found.steps.iter().map(|step| comment(model, step)).collect();
                Ok(program::Trace { compiled: found, comments, start, steps }.into())
            }
            Err(lost) => Err(unfollowed(&lost, budget)),
        }
    }
}

/// The execution of a program that a trace of its model stands for. From time to time it is asked whether to stop.
pub(super) fn execution(
    program: &Program,
    compiled: &Compiled,
    trace: &tepui_cert::pushdown::Trace,
    property: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Execution, Lost> {
    let steps: Vec<_> = trace.steps.iter().map(|step| (step.thread, &step.after)).collect();
    retrace(program, compiled, property, &trace.start, &steps, stop)
}

/// Why a violation is not believed.
fn unfollowed(lost: &Lost, budget: &Budget) -> Stop {
    match (lost, budget.clone().look()) {
        (Lost::Stopped, Err(stop)) => stop,
        _ => Stop::NotConfirmed(format!("the program's interpreter cannot follow a trace: {lost}")),
    }
}
