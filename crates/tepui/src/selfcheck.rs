//! Checking an outcome in the run that produced it: certificates go through the checker, traces are replayed, both in
//! the form in which they are written to files.

use tepui_cert::{Certificate, Trace};
use tepui_check::{Cause, Rejected, check, replay};
use tepui_core::{Budget, Outcome, Reason, Status, Verdict};
use tepui_model::Model;
use tepui_model::program::Program;

use crate::program::{Compiling, Verified};

/// Checks every answer about a model; one that does not hold is turned into unknown, and the reason is returned.
pub fn self_check(model: &Model, outcome: &mut Outcome) -> Result<(), String> {
    let traces = traces(outcome).try_for_each(|trace| check_trace(model, trace));
    let proof = outcome.evidence();
    let proof = proof.map_or(Ok(()), |evidence| check_certificate(model, &evidence.certificate, outcome));
    taken_back(outcome, traces, proof)
}

/// The same for answers about a program. Its traces are about models of it, which may have different numbers of places.
pub fn self_check_program(program: &Program, compiling: &Compiling, verified: &mut Verified) -> Result<(), String> {
    let Verified { outcome, compiled, smaller, certificate, .. } = verified;
    let models: Vec<_> = compiled.iter().chain(smaller.iter()).map(|compiled| &compiled.model).collect();
    let traces = traces(outcome).try_for_each(|trace| {
        let own = models.iter().find(|model| model.digest() == trace.model());
        let own = own.ok_or_else(|| "a trace is about no model of the program".to_owned())?;
        check_trace(&Model::Pushdown((*own).clone()), trace)
    });
    let proof = certificate.as_ref().map_or(Ok(()), |certificate| {
        let mut properties = compiling.properties(program);
        properties.retain(|property| outcome.is_safe(&property.name));
        match Certificate::from_text(&certificate.to_text()) {
            Ok(Certificate::Program(read)) => tepui_check::program::check(program, &properties, &read, &|| false)
                .map(|_| ())
                .map_err(|rejected| format!("the certificate fails: {rejected}")),
            Ok(_) => Err("the certificate does not survive being written and read".to_owned()),
            Err(error) => Err(format!("the certificate is unreadable: {error}")),
        }
    });
    taken_back(outcome, traces, proof)
}

fn traces(outcome: &Outcome) -> impl Iterator<Item = &Trace> {
    outcome.properties.iter().filter_map(|property| match &property.verdict {
        Verdict::Unsafe(refuted) => Some(refuted.trace()),
        Verdict::Safe(_) | Verdict::Unknown(_) => None,
    })
}

/// Takes back the answers whose evidence does not hold.
fn taken_back(outcome: &mut Outcome, traces: Result<(), String>, proof: Result<(), String>) -> Result<(), String> {
    let mut failed = Ok(());
    for (result, status) in [(traces, Status::Unsafe), (proof, Status::Safe)] {
        if let Err(why) = result {
            outcome.take_back(status, &Reason::SelfCheckFailed(why.clone()));
            failed = Err(why);
        }
    }
    failed
}

fn check_trace(model: &Model, trace: &Trace) -> Result<(), String> {
    let text = match trace {
        Trace::Pushdown(trace) => trace.to_text(|_| String::new()),
        Trace::Rendezvous(trace) => trace.to_text(|_| String::new()),
    };
    let read = Trace::from_text(&text).map_err(|error| format!("the trace is unreadable: {error}"))?;
    match read.as_slice() {
        [read] if read == trace => {
            replay(model, read).map(|_| ()).map_err(|rejected| format!("the trace fails: {rejected}"))
        }
        _ => Err("the trace does not survive being written and read".to_owned()),
    }
}

fn check_certificate(model: &Model, certificate: &Certificate, outcome: &Outcome) -> Result<(), String> {
    let read = Certificate::from_text(&certificate.to_text());
    let read = read.map_err(|error| format!("the certificate is unreadable: {error}"))?;
    // A property that the outcome does not mention is one that the answer relies on.
    let claimed = model.clone().restricted(|name| {
        let known = outcome.properties.iter().find(|known| known.name == name);
        known.is_none_or(|known| known.verdict.status() == Status::Safe)
    });
    check(&claimed, &read).map(|_| ()).map_err(|rejected| format!("the certificate fails: {rejected}"))
}

/// Why an answer does not count whose evidence the checker refuses: it is wrong, or there was no time to see that it is right.
pub(crate) fn refusal(rejected: &Rejected, budget: &Budget) -> Reason {
    match (rejected.cause, budget.clone().look()) {
        (Cause::Stopped, Err(stop)) => stop.into(),
        _ => Reason::SelfCheckFailed(format!("the certificate fails: {rejected}")),
    }
}
