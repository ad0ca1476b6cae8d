//! Evidence of pushdown proofs.

use tepui_cert::Certificate;
use tepui_cert::pushdown::{self, Lemma, Regular};
use tepui_core::Evidence;
use tepui_model::pushdown::Model;

use super::compiled::Compiled;

/// Evidence whose properties are still to be filled in.
pub fn evidence(compiled: &Compiled, lemma: Lemma, kind: &'static str, because: String) -> Evidence {
    let view_depth = Some(lemma.depth);
    let (model, lemmas) = (compiled.model.digest(), vec![lemma]);
    let certificate = pushdown::Certificate { model, properties: Vec::new(), lemmas, regular: None };
    Evidence { view_depth, ..Evidence::new(certificate, because, kind) }
}

/// Evidence of regular sets, whose properties are still to be filled in.
pub fn regular(compiled: &Compiled, regular: Regular, because: String) -> Evidence {
    let (model, regular) = (compiled.model.digest(), Some(regular));
    let certificate = pushdown::Certificate { model, properties: Vec::new(), lemmas: Vec::new(), regular };
    Evidence::new(certificate, because, "regular-sets")
}

/// The evidence with the properties that it proves: those that are not violated.
pub(crate) fn certified(mut evidence: Evidence, model: &Model, violated: impl Fn(usize) -> bool) -> Evidence {
    let open = model.properties().iter().enumerate().filter(|&(index, _)| !violated(index));
    if let Certificate::Pushdown(certificate) = &mut evidence.certificate {
        certificate.properties = open.map(|(_, property)| property.clone()).collect();
    }
    evidence
}
