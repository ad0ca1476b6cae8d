//! Checking evidence about pushdown systems.

mod patterns;
mod replay;
mod show;
mod system;
mod waiting;

use tepui_cert::pushdown::Certificate;
use tepui_model::pushdown::{Model, Property};

use crate::lemma::{Checked, check_lemmas};
use crate::system::System;
use crate::{Rejected, regular};
use patterns::{avoids, rows_avoid};
pub use replay::replay;
use system::Rules;

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The properties that hold in every reachable state.
    pub properties: Vec<String>,
    /// How many views the last lemma has, the largest number if they are more: no others are reachable, unless it is reduced.
    pub views: u64,
    /// How many rows of the last lemma stand for them.
    pub orbits: usize,
    /// The depth of the last lemma's views.
    pub depth: u32,
    /// How many lemmas there are.
    pub lemmas: usize,
    /// Whether the last one is reduced: where some threads can wait, it does not follow them.
    pub reduced: bool,
}

/// Decides whether a certificate proves every property of a model. A model without properties is asked for the bare
/// claim that the last lemma's views are all that can be reached. From time to time it is asked whether to stop.
pub fn check(model: &Model, certificate: &Certificate, stop: &dyn Fn() -> bool) -> Result<crate::Accepted, Rejected> {
    if certificate.model != model.digest() {
        return Err(Rejected::new("model", "the certificate is about another model (the digests differ)"));
    }
    let rules = Rules::new(model, stop);
    let properties: Vec<_> = model.properties().iter().map(|property| property.name.clone()).collect();
    let judged = |property: &Property, avoided: Result<(), String>| {
        let place = || format!("property {}", property.name);
        match avoided {
            Err(reason) => Err(Rejected::new(place(), reason)),
            Ok(()) if stop() => Err(Rejected::stopped(place())),
            Ok(()) => Ok(()),
        }
    };
    if let Some(regular) = certificate.regular.as_ref().filter(|_| certificate.lemmas.is_empty()) {
        let rows = regular::check(&rules, regular)?;
        for property in model.properties() {
            covers(certificate, property)?;
            judged(property, rows_avoid(&rows, property))?;
        }
        let languages = regular.threads.iter().map(|thread| thread.languages.len()).sum();
        return Ok(crate::Accepted::Regular { properties, rows: regular.rows.len(), languages });
    }
    let lemmas = check_lemmas(&rules, &certificate.lemmas)?;
    let Some(last) = lemmas.last() else { return Err(Rejected::new("lemmas", "there is none")) };
    for property in model.properties() {
        covers(certificate, property)?;
        judged(property, avoids(&rules, last, property))?;
    }
    Ok(crate::Accepted::Views(Accepted::of(&lemmas, last, properties)))
}

impl Accepted {
    /// What lemmas prove, of which the last one avoids some properties.
    pub(crate) fn of<S: System>(lemmas: &[Checked<'_, S>], last: &Checked<'_, S>, properties: Vec<String>) -> Self {
        let (views, orbits) = (last.views(), last.lemma.views.len());
        let (depth, reduced) = (last.lemma.depth, last.is_reduced());
        Self { properties, views, orbits, depth, lemmas: lemmas.len(), reduced }
    }
}

/// A certificate must say itself that it is about a property, even where its views happen to avoid it.
fn covers(certificate: &Certificate, property: &Property) -> Result<(), Rejected> {
    if property.never.is_empty() || certificate.properties.iter().any(|claimed| claimed.never == property.never) {
        return Ok(());
    }
    let reason = match certificate.properties.iter().any(|claimed| claimed.name == property.name) {
        true => "the certificate means other views by this name than the model",
        false => "the certificate makes no claim about it",
    };
    Err(Rejected::new(format!("property {}", property.name), reason))
}
