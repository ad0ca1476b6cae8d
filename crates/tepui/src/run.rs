//! Running an engine about a problem of any kind, and not believing it.

use std::sync::Arc;

use tepui_cert::{Certificate, Trace};
use tepui_check::{Cause, Rejected};
use tepui_core::{Budget, Engine, Evidence, Outcome, Query, Reason, Status, Stop, Verdict, drive_believing};

use crate::Options;
use crate::kinds::{Checked, Kind};

/// Drives an engine, and holds what it says up to the checker, where the kind wants that or the user does.
pub(crate) fn run(
    kind: &dyn Kind,
    engine: &mut dyn Engine,
    query: &Query,
    options: &Options,
    budget: &Budget,
) -> (Outcome, Option<Checked>) {
    let mut known = None;
    let outcome = drive_believing(engine, query, &mut budget.clone(), &mut |evidence, some| {
        if !kind.entry().checks_proofs {
            return true;
        }
        let about = |name: &str| some.iter().any(|&property| query.properties[property] == name);
        let stop = || budget.clone().look().is_err();
        let checked = kind.check(&evidence.certificate, &about, &stop);
        let late = checked.as_ref().is_err_and(|rejected| rejected.cause == Cause::Stopped);
        known = checked.ok().map(|checked| (Arc::clone(evidence), checked)).or(known.take());
        // What is refused is told in the end.
        !late
    });
    let same = |evidence: &Evidence| outcome.evidence().is_some_and(|own| std::ptr::eq(own, evidence));
    let known = known.filter(|(evidence, _)| same(evidence)).map(|(_, checked)| checked);
    confirmed(kind, outcome, known, options, budget)
}

/// An outcome without the answers that are not confirmed. The evidence may have been checked already.
pub(crate) fn confirmed(
    kind: &dyn Kind,
    mut outcome: Outcome,
    mut checked: Option<Checked>,
    options: &Options,
    budget: &Budget,
) -> (Outcome, Option<Checked>) {
    // The checker is asked about the properties of the problem: an answer about anything else would pass unseen.
    let asked = kind.asked();
    let stray = |name: &String| outcome.is_safe(name) && !asked.is_empty() && !asked.contains(name);
    if outcome.properties.iter().any(|property| stray(&property.name)) {
        outcome.take_back(Status::Safe, &Stop::defect("an answer is about a property that nobody asked for").into());
    }
    if let Some(evidence) = outcome.evidence().filter(|_| kind.entry().checks_proofs && checked.is_none()) {
        let stop = || budget.clone().look().is_err();
        match kind.check(&evidence.certificate, &|name| outcome.is_safe(name), &stop) {
            Ok(proof) => checked = Some(proof),
            Err(rejected) => outcome.take_back(Status::Safe, &refusal(&rejected, budget)),
        }
    }
    for property in &mut outcome.properties {
        if let Verdict::Unsafe(refuted) = &property.verdict
            && let Err(rejected) = kind.replay(refuted.trace(), &|| false)
        {
            property.verdict = Verdict::Unknown(Reason::SelfCheckFailed(format!("the trace fails: {rejected}")));
        }
    }
    if options.self_check {
        // A failed check shows in the verdict.
        let _ = self_check(kind, &mut outcome);
    }
    (outcome, checked)
}

/// Checks every answer in the form in which it is written to files; one that does not hold becomes unknown.
pub(crate) fn self_check(kind: &dyn Kind, outcome: &mut Outcome) -> Result<(), String> {
    let mut traces = outcome.properties.iter().filter_map(|property| match &property.verdict {
        Verdict::Unsafe(refuted) => Some(refuted.trace()),
        Verdict::Safe(_) | Verdict::Unknown(_) => None,
    });
    let traces = traces.try_for_each(|trace| check_trace(kind, trace));
    let proof = outcome.evidence().map_or(Ok(()), |evidence| check_certificate(kind, &evidence.certificate, outcome));
    let mut failed = Ok(());
    for (result, status) in [(traces, Status::Unsafe), (proof, Status::Safe)] {
        if let Err(why) = result {
            outcome.take_back(status, &Reason::SelfCheckFailed(why.clone()));
            failed = Err(why);
        }
    }
    failed
}

fn check_trace(kind: &dyn Kind, trace: &Trace) -> Result<(), String> {
    let text = kind.trace_text(trace);
    let read = Trace::from_text(&text).map_err(|error| format!("the trace is unreadable: {error}"))?;
    // What is read may be of another kind, whose steps the kind at hand borrows.
    let same = |read: &Trace| std::mem::discriminant(read) != std::mem::discriminant(trace) || read == trace;
    match read.as_slice() {
        [read] if same(read) => {
            kind.replay(read, &|| false).map(|_| ()).map_err(|rejected| format!("the trace fails: {rejected}"))
        }
        _ => Err("the trace does not survive being written and read".to_owned()),
    }
}

fn check_certificate(kind: &dyn Kind, certificate: &Certificate, outcome: &Outcome) -> Result<(), String> {
    let read = Certificate::from_text(&certificate.to_text());
    let read = read.map_err(|error| format!("the certificate is unreadable: {error}"))?;
    let checked = kind.check(&read, &|name| outcome.is_safe(name), &|| false);
    checked.map(|_| ()).map_err(|rejected| format!("the certificate fails: {rejected}"))
}

/// Why an answer does not count whose evidence the checker refuses: it is wrong, or there was no time to see that it is right.
fn refusal(rejected: &Rejected, budget: &Budget) -> Reason {
    match (rejected.cause, budget.clone().look()) {
        (Cause::Stopped, Err(stop)) => stop.into(),
        _ => Reason::SelfCheckFailed(format!("the certificate fails: {rejected}")),
    }
}
