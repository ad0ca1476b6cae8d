//! Forged evidence. The checker is held against a judge that reads the definition of a proof as naively as possible,
//! and against the oracle: whatever is accepted contains every reachable view and no violating one.
//!
//! Certificates come from the engines, on random systems and on systems made by hand; proofs with several lemmas are
//! made of them. A forgery changes one as a value, so that its seal is always right, or changes its model by one rule
//! and keeps the certificate. Not every change makes a proof wrong, which is why the expected answer is computed and
//! not assumed; where it is known beforehand (a view less, a violating view more, another model's digest) it is
//! asserted as well.
//!
//! Certificates with interchangeable threads are made here, of systems in which some threads are copies of others: the
//! judge's least set of views is folded into orbits.

mod certificates;
mod groupings;
mod judge;
mod models;
mod orbits;
mod programs;
mod proofs;
mod rules;
mod samples;
mod symmetric;
mod symmetry;
mod traces;
mod waiting;

use tepui_cert::pushdown::Certificate;
use tepui_check::Rejected;
use tepui_check::pushdown::Accepted;
use tepui_model::pushdown::Model;
use tepui_tests::oracle::Cap;

/// Checks a proof by views, whose rows are put in the order that they have in files.
fn check(model: &Model, certificate: &Certificate) -> Result<Accepted, Rejected> {
    let mut certificate = certificate.clone();
    certificate.lemmas.iter_mut().for_each(|lemma| lemma.views = lemma.views.sorted().into_owned());
    tepui_check::pushdown::check(model, &certificate, &|| false).map(|accepted| match accepted {
        tepui_check::Accepted::Views(accepted) => accepted,
        other => panic!("not about views: {other:?}"),
    })
}

const SEEDS: u64 = 900;
const CAP: Cap = Cap { height: 6, states: 400 };
const LARGEST_SAMPLE: usize = 60;
const SAMPLES_OF_A_SORT: usize = 30;
const FORGERIES_AT_LEAST: usize = 20_000;

/// How the judge decided.
#[derive(Default, Debug)]
struct Tally {
    accepted: usize,
    rejected: usize,
}

impl Tally {
    fn total(&self) -> usize {
        self.accepted + self.rejected
    }
}
