//! Checking evidence about communicating pushdown systems.
//!
//! A proof by views goes the way of all such proofs, with steps that threads take together: `views`. In a proof by
//! languages the automata of each thread must accept its language, which is the business of `containment`, and no word
//! may pass all of them, which is that of `meeting`.

mod containment;
mod meeting;
mod reader;
mod replay;
mod show;
mod views;

use tepui_cert::rendezvous::{Automaton, Certificate, Claim, Languages};
use tepui_model::rendezvous::{LocalSet, Model, Property};

use crate::{Accepted, Rejected};

/// What languages that have no word in common prove.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// The properties that hold in every reachable state.
    pub properties: Vec<String>,
    /// How many automata there are.
    pub automata: usize,
    /// How many states they have together.
    pub states: usize,
}
pub use replay::replay;

/// After how many steps the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// Why a part of a certificate is refused.
enum Why {
    /// It is wrong.
    Wrong(String),
    /// The caller wanted to stop before that was known.
    Stopped,
}

impl From<String> for Why {
    fn from(reason: String) -> Self {
        Self::Wrong(reason)
    }
}

/// Decides whether a certificate proves every property of a model. From time to time it is asked whether to stop.
pub fn check(model: &Model, certificate: &Certificate, stop: &dyn Fn() -> bool) -> Result<Accepted, Rejected> {
    match certificate {
        Certificate::Views(views) => views::check(model, views, stop),
        Certificate::Languages(languages) => check_languages(model, languages, stop),
    }
}

fn check_languages(model: &Model, certificate: &Languages, stop: &dyn Fn() -> bool) -> Result<Accepted, Rejected> {
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
                    reader::fits(model, thread, automaton).map_err(|why| refused(place(thread), why.into()))?;
                    containment::check(model, thread, claim.1, automaton, stop)
                        .map_err(|why| refused(place(thread), why))?;
                    contained.push(claim);
                }
            }
            meeting::check(model, threads, stop)
                .map_err(|why| refused(format!("property {}, target {}", property.name, number + 1), why))?;
        }
    }
    let properties = model.properties().iter().map(|property| property.name.clone()).collect();
    Ok(Accepted::Languages(Compared { properties, automata, states }))
}

fn refused(place: String, why: Why) -> Rejected {
    match why {
        Why::Wrong(reason) => Rejected::new(place, reason),
        Why::Stopped => Rejected::stopped(place),
    }
}

/// The claim about a property: it must mean the same states, and speak of all targets and threads.
fn claim_about<'a>(certificate: &'a Languages, property: &Property) -> Result<&'a Claim, Rejected> {
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
