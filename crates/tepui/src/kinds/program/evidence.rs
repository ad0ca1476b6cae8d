//! Evidence about programs, whether they have threads or tasks.

use tepui_cert::{Certificate, Trace};
use tepui_check::Rejected;
use tepui_lang::boolean::print_head;
use tepui_model::program::{Program, Property};

use super::super::{Checked, Entry, Replayed, Stopping, of_another_kind};

/// A certificate, if it is one about a program.
pub(super) fn evidence_of<'c>(
    entry: &Entry,
    certificate: &'c Certificate,
) -> Result<&'c tepui_cert::program::Certificate, Rejected> {
    let Certificate::Program(certificate) = certificate else { return Err(older(entry, "certificate")) };
    Ok(certificate)
}

/// A trace, if it is one of a program.
pub(super) fn trace_of<'t>(entry: &Entry, trace: &'t Trace) -> Result<&'t tepui_cert::program::Trace, Rejected> {
    let Trace::Program(trace) = trace else { return Err(older(entry, "trace")) };
    Ok(trace)
}

fn older(entry: &Entry, evidence: &str) -> Rejected {
    let Rejected { place, reason, .. } = of_another_kind(entry, evidence);
    Rejected::new(place, reason + ", or was made by an older version of tepui")
}

/// Checks a certificate.
pub(super) fn check(
    program: &Program,
    properties: &[Property],
    certificate: &tepui_cert::program::Certificate,
    stop: Stopping<'_>,
) -> Result<Checked, Rejected> {
    let proof = tepui_check::program::check(program, properties, certificate, stop)?;
    Ok(Checked { unreached: proof.unreached, ..Checked::of(proof.accepted) })
}

/// Executes a trace.
pub(super) fn replay(
    program: &Program,
    trace: &tepui_cert::program::Trace,
    stop: Stopping<'_>,
) -> Result<Replayed, Rejected> {
    let execution = tepui_check::program::replay(program, trace, stop)?;
    Ok(Replayed {
        property: trace.property.clone(),
        steps: execution.steps.len(),
        contexts: trace.contexts(),
        confirmed_by: Some("the program's interpreter"),
    })
}

/// The text form of a trace, with what is executed behind each step.
pub(super) fn trace_text(program: &Program, trace: &Trace) -> String {
    let Trace::Program(trace) = trace else { return String::new() };
    trace.to_text(|step| {
        let (procedure, position) = step.at;
        let own = &program.procedures[procedure];
        match own.statements.get(position) {
            Some(statement) => {
                let text = print_head(program, procedure, position);
                format!("{}, line {}: {text}", own.name, statement.line)
            }
            None => format!("the end of {}", own.name),
        }
    })
}
