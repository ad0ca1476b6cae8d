//! Forged certificates: the checker answers as the judge does.

use std::collections::BTreeSet;

use crate::check;
use fastrand::Rng;
use tepui_cert::pushdown::{Certificate, Rows};
use tepui_model::Digest;
use tepui_model::pushdown::{Model, State};
use tepui_tests::oracle::{self};

use crate::judge::*;
use crate::models::*;
use crate::proofs::*;
use crate::samples::*;
use crate::{CAP, FORGERIES_AT_LEAST, Tally};

/// Holds the checker against the judge, and what it accepts against the states known to be reachable.
pub(crate) fn compare(
    model: &Model,
    forged: &Certificate,
    reachable: &BTreeSet<State>,
    place: &str,
    tally: &mut Tally,
) {
    let answer = check(model, forged);
    assert_eq!(answer.is_ok(), judge(model, forged), "{place}: {answer:?}\n{forged:?}\n{model:?}");
    let Ok(accepted) = answer else {
        tally.rejected += 1;
        return;
    };
    tally.accepted += 1;
    let claims: Vec<_> = forged.lemmas.iter().filter_map(|lemma| Claim::of(model, lemma)).collect();
    let sizes = claims.last().zip(forged.lemmas.last()).map(|(claim, lemma)| (claim.views.len(), lemma.views.len()));
    assert_eq!(sizes, Some((accepted.views as usize, accepted.orbits)), "{place}");
    for state in reachable {
        assert!(claims.iter().all(|claim| claim.has(state)), "{place}: {state:?} is missing");
        let violates = |property| oracle::violates(property, state);
        assert!(!model.properties().iter().any(violates), "{place}: {state:?} violates a property");
    }
}

#[test]
fn the_checker_agrees_with_the_judge_on_forged_certificates() {
    let samples = samples();
    let mut tally = Tally::default();
    let mut rng = Rng::with_seed(1);
    for sample in samples {
        compare(&sample.model, &sample.certificate, &sample.reachable, &sample.name, &mut tally);
        assert_eq!(tally.rejected, 0, "{}: the certificate itself", sample.name);
    }
    for sample in samples {
        for (number, forged) in forgeries(sample, &mut rng).iter().enumerate() {
            let place = format!("{}, forgery {number}", sample.name);
            compare(&sample.model, forged, &sample.reachable, &place, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.total() >= FORGERIES_AT_LEAST && tally.accepted * 50 > tally.rejected, "{tally:?}");
}

#[test]
fn the_checker_agrees_with_the_judge_on_changed_models() {
    let mut tally = Tally::default();
    let mut rng = Rng::with_seed(2);
    for sample in samples() {
        for number in 0..40 {
            let Some(model) = change_model(&sample.model, &mut rng) else { continue };
            let reachable = oracle::reachable(&model, CAP).0;
            let place = format!("{}, change {number}", sample.name);
            let renamed = Certificate { model: model.digest(), ..sample.certificate.clone() };
            compare(&model, &renamed, &reachable, &place, &mut tally);
            let claiming = Certificate { properties: model.properties().to_vec(), ..renamed };
            compare(&model, &claiming, &reachable, &place, &mut tally);
            assert_eq!(check(&model, &sample.certificate).is_ok(), judge(&model, &sample.certificate), "{place}");
        }
    }
    println!("{tally:?}");
    assert!(tally.accepted > 1000 && tally.rejected > 1000, "{tally:?}");
}

#[test]
fn what_must_be_rejected_is_rejected() {
    let samples = samples();
    for (number, sample) in samples.iter().enumerate() {
        let Sample { name, model, certificate, from_engine, .. } = sample;
        let reject = |forged: &Certificate| assert!(check(model, forged).is_err(), "{name}: {forged:?}");
        if *from_engine {
            drop_views(certificate).iter().for_each(reject);
        }
        add_violations(model, certificate, certificate.lemmas.len() - 1).iter().for_each(reject);
        reject(&Certificate { model: Digest::of(b"another"), ..certificate.clone() });
        let other = &samples[(number + 1) % samples.len()];
        if other.model.digest() != model.digest() {
            reject(&other.certificate);
            reject(&Certificate { model: other.certificate.model, ..certificate.clone() });
        }
        if model.properties().iter().any(|property| !property.never.is_empty()) {
            reject(&Certificate { properties: vec![], ..certificate.clone() });
        }
    }
}

#[test]
fn certificates_of_other_models_are_judged_by_what_they_prove() {
    let samples = samples();
    let mut tally = Tally::default();
    for sample in samples {
        for other in samples {
            let (model, properties) = (sample.model.digest(), sample.model.properties().to_vec());
            let adopted = Certificate { model, properties, lemmas: other.certificate.lemmas.clone(), regular: None };
            let place = format!("{} with the proof of {}", sample.name, other.name);
            compare(&sample.model, &adopted, &sample.reachable, &place, &mut tally);
        }
    }
    println!("{tally:?}");
}

#[test]
fn an_accepted_certificate_stays_accepted_when_written_and_read() {
    for sample in samples() {
        let read = Certificate::from_text(&sample.certificate.to_text());
        assert_eq!(read.as_ref(), Ok(&sample.certificate), "{}", sample.name);
    }
}

#[test]
fn changed_text_is_noticed() {
    let samples = samples();
    let accepted = |sample: &Sample, text: &str| {
        Certificate::from_text(text).is_ok_and(|certificate| check(&sample.model, &certificate).is_ok())
    };
    for sample in samples.iter().step_by(samples.len() / 8) {
        let text = sample.certificate.to_text();
        assert!(accepted(sample, &text), "{}", sample.name);
        for cut in (0..text.len() - 1).filter(|&cut| text.is_char_boundary(cut)) {
            assert!(!accepted(sample, &text[..cut]), "{}: cut at {cut}", sample.name);
        }
        for at in (0..text.len()).filter(|&at| text.as_bytes()[at].is_ascii_digit()) {
            for digit in ('0'..='9').filter(|&digit| digit as u8 != text.as_bytes()[at]) {
                let changed = format!("{}{digit}{}", &text[..at], &text[at + 1..]);
                assert!(!accepted(sample, &changed), "{}: {digit} at {at}", sample.name);
            }
        }
    }
}

#[test]
fn rows_are_in_ascending_order() {
    for sample in samples().iter().filter(|sample| sample.certificate.lemmas[0].views.len() > 1) {
        let mut forged = sample.certificate.clone();
        let views = &mut forged.lemmas[0].views;
        let backwards: Vec<_> = (0..views.len()).rev().map(|row| views.get(row)).collect();
        *views = Rows::of(views.width(), &backwards);
        let refused = tepui_check::pushdown::check(&sample.model, &forged, &|| false).unwrap_err();
        assert!(refused.reason.contains("not in ascending order"), "{refused}");
    }
}
