//! Checking evidence about pushdown systems.

mod groups;
mod lemma;
mod projection;
mod replay;
mod table;

use tepui_cert::pushdown::Certificate;
use tepui_model::pushdown::{Model, Property};

use crate::Rejected;
pub use replay::replay;

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The properties that hold in every reachable state.
    pub properties: Vec<String>,
    /// How many views the last lemma has, the largest number if they are more: no others are reachable.
    pub views: u64,
    /// How many rows of the last lemma stand for them.
    pub orbits: usize,
    /// The depth of the last lemma's views.
    pub depth: u32,
    /// How many lemmas there are.
    pub lemmas: usize,
}

/// Decides whether a certificate proves every property of a model. A model without properties is asked for the bare
/// claim that the last lemma's views are all that can be reached.
pub fn check(model: &Model, certificate: &Certificate) -> Result<Accepted, Rejected> {
    if certificate.model != model.digest() {
        return Err(Rejected::new("model", "the certificate is about another model (the digests differ)"));
    }
    let mut lemmas: Vec<lemma::Checked<'_>> = Vec::new();
    for (number, lemma) in certificate.lemmas.iter().enumerate() {
        let place = format!("lemma {}", number + 1);
        let checked = lemma::check(model, lemma, &lemmas).map_err(|reason| Rejected::new(place, reason))?;
        lemmas.push(checked);
    }
    let Some(last) = lemmas.last() else { return Err(Rejected::new("lemmas", "there is none")) };
    for property in model.properties() {
        covers(certificate, property)?;
        last.avoids(model, property).map_err(|reason| Rejected::new(format!("property {}", property.name), reason))?;
    }
    Ok(Accepted {
        properties: model.properties().iter().map(|property| property.name.clone()).collect(),
        views: last.views(),
        orbits: last.orbits(),
        depth: last.depth(),
        lemmas: lemmas.len(),
    })
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
