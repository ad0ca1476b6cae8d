//! Checking evidence about communicating pushdown systems.
//!
//! A proof that is about views is one about the product of the threads (see `tepui_model::rendezvous::product`) and goes
//! the way of all pushdown proofs. A proof that is about languages is checked on the system itself: that the automata of
//! each thread accept its language is the business of `containment`, that no word passes all of them that of `meeting`.

mod containment;
mod meeting;
mod reader;
mod replay;

use tepui_cert::Certificate;
use tepui_cert::rendezvous::{self, Automaton, Claim};
use tepui_model::rendezvous::{LocalSet, Model, Property, product};

use crate::{Accepted, Rejected, pushdown};
pub use replay::replay;

/// Decides whether a certificate proves every property of a model. From time to time it is asked whether to stop.
pub fn check(model: &Model, certificate: &Certificate, stop: &dyn Fn() -> bool) -> Result<Accepted, Rejected> {
    match certificate {
        Certificate::Program(_) => Err(Rejected::new("model", "the certificate is about a program")),
        Certificate::Pushdown(views) => pushdown::check(product(model).model(), views, stop),
        Certificate::Rendezvous(languages) => check_languages(model, languages),
    }
}

fn check_languages(model: &Model, certificate: &rendezvous::Certificate) -> Result<Accepted, Rejected> {
    if certificate.model != model.digest() {
        return Err(Rejected::new("model", "the certificate is about another model (the digests differ)"));
    }
    let (mut automata, mut states) = (0, 0);
    // Targets often agree about a thread; what has been found out once need not be found out again.
    let mut contained: Vec<(usize, Option<&LocalSet>, &Automaton)> = Vec::new();
    for property in model.properties().iter().filter(|property| !property.never.is_empty()) {
        let claim = claim_about(certificate, property)?;
        for (number, (target, threads)) in property.never.iter().zip(&claim.targets).enumerate() {
            let place = |thread: usize| {
                format!("property {}, target {}, thread {}", property.name, number + 1, model.threads()[thread].name)
            };
            for (thread, own) in threads.iter().enumerate() {
                for automaton in own {
                    automata += 1;
                    states += automaton.states.len();
                    let claim = (thread, target.locals[thread].as_ref(), automaton);
                    if contained.contains(&claim) {
                        continue;
                    }
                    reader::fits(model, thread, automaton).map_err(|why| Rejected::new(place(thread), why))?;
                    containment::check(model, thread, claim.1, automaton)
                        .map_err(|why| Rejected::new(place(thread), why))?;
                    contained.push(claim);
                }
            }
            meeting::check(model, threads)
                .map_err(|why| Rejected::new(format!("property {}, target {}", property.name, number + 1), why))?;
        }
    }
    let properties = model.properties().iter().map(|property| property.name.clone()).collect();
    Ok(Accepted::Languages { properties, automata, states })
}

/// The claim about a property: it must mean the same states, and speak of all targets and threads.
fn claim_about<'a>(certificate: &'a rendezvous::Certificate, property: &Property) -> Result<&'a Claim, Rejected> {
    let refuse = |why: &str| Rejected::new(format!("property {}", property.name), why);
    let never = property.digest();
    let Some(claim) = certificate.claims.iter().find(|claim| claim.never == never) else {
        return Err(match certificate.claims.iter().any(|claim| claim.name == property.name) {
            true => refuse("the certificate means other states by this name than the model"),
            false => refuse("the certificate makes no claim about it"),
        });
    };
    let threads = |(target, threads): (_, &Vec<Vec<Automaton>>)| {
        let target: &tepui_model::rendezvous::Target = target;
        threads.len() == target.locals.len()
    };
    match claim.targets.len() == property.never.len() && property.never.iter().zip(&claim.targets).all(threads) {
        true => Ok(claim),
        false => Err(refuse("the certificate does not speak of all its targets and threads")),
    }
}
