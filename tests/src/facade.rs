//! The facade, as most tests want it: an outcome and nothing else.

use tepui::{Answer, Error, Options, Problem, Reading};
use tepui_core::{Budget, Outcome};
use tepui_model::program::Program;

/// Verifies the properties of a model of any kind.
pub fn verify<M: Clone + Into<Problem>>(model: &M, options: &Options, budget: &Budget) -> Result<Outcome, Error> {
    Ok(tepui::verify(&model.clone().into(), options, budget)?.outcome)
}

/// Verifies the properties of a program, in the way in which it is to be read.
pub fn verify_program(
    program: &Program,
    reading: &Reading,
    options: &Options,
    budget: &Budget,
) -> Result<Answer, Error> {
    tepui::verify(&Problem::from(program.clone()).asking(reading)?, options, budget)
}

/// Checks every answer about a model.
pub fn self_check<M: Clone + Into<Problem>>(model: &M, outcome: &mut Outcome) -> Result<(), String> {
    model.clone().into().self_check(outcome)
}

/// A trace that must be one of a pushdown system.
pub fn pushdown_trace(trace: &tepui_cert::Trace) -> &tepui_cert::pushdown::Trace {
    match trace {
        tepui_cert::Trace::Pushdown(trace) => trace,
        other => panic!("no trace of a pushdown system: {other:?}"),
    }
}

/// A trace that must be one of threads that meet.
pub fn rendezvous_trace(trace: &tepui_cert::Trace) -> &tepui_cert::rendezvous::Trace {
    match trace {
        tepui_cert::Trace::Rendezvous(trace) => trace,
        other => panic!("no trace of threads that meet: {other:?}"),
    }
}

/// A certificate that must be one about threads that meet.
pub fn rendezvous_certificate(certificate: &tepui_cert::Certificate) -> &tepui_cert::rendezvous::Certificate {
    match certificate {
        tepui_cert::Certificate::Rendezvous(certificate) => certificate,
        other => panic!("no certificate about threads that meet: {other:?}"),
    }
}

/// The certificate of a program that was proved.
pub fn program_certificate(answer: &Answer) -> Option<&tepui_cert::program::Certificate> {
    match &answer.outcome.evidence()?.certificate {
        tepui_cert::Certificate::Program(certificate) => Some(certificate),
        _ => None,
    }
}
