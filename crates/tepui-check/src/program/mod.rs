//! Checking evidence about programs, on their interpreter.
//!
//! A certificate states views of the program itself: values of shared variables and words of frames. Two ideas make that
//! possible without believing a compiler. A value that is not kept is *any* value: the interpreter gives each of them
//! where it is read. And a frame that is not listed must be one that its thread leaves without being seen: the checker
//! tests that and *runs on* (`passing`).
//!
//! **Why this is sound.** Call the *completions* of a state what arises if every thread runs on until its topmost frame is
//! listed, and what is not kept is forgotten. A state is covered if all its completions are in the lemma's set. Claim: every
//! reachable state is covered.
//!
//! * At the start: that is what is tested for the initial states (`start`).
//! * A thread whose frame is passed takes a step, and none is uninterrupted. Its completions are among those of the
//!   state before, and others have the ones they had, since nothing shared was touched. A passed frame always has a result,
//!   and no way through passed frames meets a frame twice, so that completions exist: a thread in an endless loop of its
//!   own must not cover everything.
//! * A thread whose frame is listed takes a step. Take any completion of the others: the view with this frame and that
//!   completion is in the set, and the step depends on the shared values and this frame only, so it was looked at, and
//!   the views that it leads to are there. A broadcast meets no frame that sleeps only in the completion, since nothing
//!   passes `sleep`.
//! * While a thread is uninterrupted nobody else moves, so what it passes may read and write shared values. If its way
//!   has no end or is blocked, there is no completion, and no successor that matters.
//! * In a program that starts no threads `main` is always in that position.
//!
//! A frame is not passed if an assertion may fail there, or if it stands at a label that is asked for. So what must not
//! happen can be seen in the views of the last lemma (`avoids`).

mod avoids;
mod crowd;
mod footprints;
mod passing;
mod replay;
mod rows;
mod show;
mod start;
mod system;
mod tables;
mod tasks;

pub use replay::{Execution, replay};
pub use tasks::OfTasks;
use tepui_cert::program::Certificate;
use tepui_model::program::{Program, Property};

use crate::lemma::check_lemmas;
use crate::program::system::Interpreted;
use crate::{Accepted, Rejected, pushdown, regular};

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proof {
    /// The properties, and how they are proved.
    pub accepted: Accepted,
    /// Statements at which no thread ever stands: procedures and positions.
    pub unreached: Vec<(usize, usize)>,
}

/// Decides whether a certificate proves properties of a program. Without properties it is asked for the bare claim that
/// the last lemma's views are all that can be reached. From time to time it is asked whether to stop.
pub fn check(
    program: &Program,
    properties: &[Property],
    certificate: &Certificate,
    stop: &dyn Fn() -> bool,
) -> Result<Proof, Rejected> {
    let names = || properties.iter().map(|property| property.name.clone()).collect();
    if certificate.program != program.digest() {
        return Err(Rejected::new("program", "the certificate is about another program (the digests differ)"));
    }
    properties.iter().try_for_each(|property| covers(certificate, property))?;
    if let Some(judged) = tasks::judge(program, properties, certificate, stop) {
        return judged;
    }
    let system = Interpreted::new(program, properties, certificate, stop)?;
    // What was cut short may look like a violation.
    let judged = |avoided: Result<(), (usize, String)>| match avoided {
        _ if system.tables.is_stopped() => Err(Rejected::stopped("properties")),
        Err((property, reason)) => Err(Rejected::new(format!("property {}", properties[property].name), reason)),
        Ok(()) => Ok(()),
    };
    if let Some(regular) = certificate.regular.as_ref().filter(|_| certificate.lemmas.is_empty()) {
        let rows = regular::check(&system, regular)?;
        judged(rows::avoid(&system, &rows, properties))?;
        let languages = regular.threads.iter().map(|thread| thread.languages.len()).sum();
        let accepted = Accepted::Regular { properties: names(), rows: regular.rows.len(), languages };
        return Ok(system.proof(accepted));
    }
    if let Some(own) = certificate.crowd.as_ref().filter(|_| certificate.lemmas.is_empty()) {
        return Ok(system.proof(Accepted::Lemmas(crowd::check(&system, own, properties)?)));
    }
    let lemmas = check_lemmas(&system, &certificate.lemmas)?;
    let Some(last) = lemmas.last() else { return Err(Rejected::new("lemmas", "there is none")) };
    if last.is_reduced() && properties.iter().all(|property| property.never.is_empty()) {
        return Err(Rejected::new("lemmas", "the last one is reduced: it does not say which views there are"));
    }
    judged(avoids::avoids(last, properties))?;
    Ok(system.proof(Accepted::Views(pushdown::Accepted::of(&lemmas, last, names()))))
}

/// A certificate must say itself that it is about a property, even where its views happen to avoid it.
fn covers(certificate: &Certificate, property: &Property) -> Result<(), Rejected> {
    if property.never.is_empty() || certificate.properties.iter().any(|claimed| claimed.never == property.never) {
        return Ok(());
    }
    let reason = match certificate.properties.iter().any(|claimed| claimed.name == property.name) {
        true => "the certificate means something else by this name than the program",
        false => "the certificate makes no claim about it",
    };
    Err(Rejected::new(format!("property {}", property.name), reason))
}
