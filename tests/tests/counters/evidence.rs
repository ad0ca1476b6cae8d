//! Proofs are accepted, and forgeries are not.

use fastrand::Rng;
use tepui::{Options, Problem};
use tepui_cert::counters::{Certificate, Lemma, Row, Trace, Views, Weight};
use tepui_check::counters::{check, replay};
use tepui_core::{Budget, Verdict};
use tepui_lang::counters::{AtStart, read_spec, read_tts};
use tepui_lang::source::Source;
use tepui_model::counters::{Net, Pattern};

use crate::random::{Shape, net};

/// A lock: any number of threads, one token.
const LOCK: &str = "
vars idle busy free
rules idle >= 1, free >= 1 -> idle' = idle - 1, free' = free - 1, busy' = busy + 1;
      busy >= 1 -> busy' = busy - 1, idle' = idle + 1, free' = free + 1;
init idle >= 1, busy = 0, free = 1
target busy >= 2
";

/// The same as threads with a shared state.
const THREADS: &str = "2 2\n0 0 -> 1 1\n1 1 -> 0 0\n1 1 +> 1 0\n";

fn lock() -> Net {
    read_spec(&Source::new("lock.spec", LOCK.as_bytes()), None).unwrap().net
}

fn threads() -> Net {
    let (tts, prop) = (Source::new("lock.tts", THREADS.as_bytes()), Source::new("lock.prop", b"1|1,1"));
    read_tts(&tts, Some(&prop), AtStart::One).unwrap().net
}

fn judge(net: &Net, certificate: &Certificate) -> Result<usize, String> {
    let read = Certificate::from_text(&certificate.to_text()).unwrap();
    assert_eq!(read, *certificate);
    let accepted = check(net, &["target".to_owned()], &read, &|| false);
    accepted.map(|accepted| accepted.lemmas).map_err(|rejected| rejected.to_string())
}

fn proof(net: &Net, lemmas: Vec<Lemma>) -> Certificate {
    Certificate { model: net.digest(), claims: net.properties.clone(), lemmas }
}

fn weight(bound: u64, places: &[(u32, u64)]) -> Lemma {
    Lemma::Weight(Weight { bound, shared: Vec::new(), places: places.to_vec() })
}

#[test]
fn weights_are_checked() {
    let net = lock();
    let right = || weight(1, &[(1, 1), (2, 1)]);
    assert_eq!(judge(&net, &proof(&net, vec![right()])), Ok(1));
    for (wrong, why) in [
        (weight(0, &[(1, 1), (2, 1)]), "start"),
        (weight(2, &[(1, 1), (2, 1)]), "no lemma excludes"),
        (weight(1, &[(1, 2), (2, 1)]), "puts more"),
        (weight(1, &[(2, 1)]), "puts more"),
        (weight(1, &[(1, 1)]), "puts more"),
        (weight(1, &[(0, 1), (1, 1), (2, 1)]), "any number"),
        (weight(1, &[(1, 1), (2, 1), (3, 1)]), "no shared state or place"),
    ] {
        let rejected = judge(&net, &proof(&net, vec![wrong.clone()])).unwrap_err();
        assert!(rejected.contains(why), "{wrong:?}: {rejected}");
    }
    // Nothing is proved by nothing, nor by a certificate of another net or about something else.
    assert!(judge(&net, &proof(&net, Vec::new())).is_err());
    let other = threads();
    assert!(judge(&other, &proof(&net, vec![right()])).unwrap_err().contains("another model"));
    let mut claims = proof(&net, vec![right()]);
    claims.claims[0].never[0].counts = vec![(1, 3)];
    assert!(judge(&net, &claims).unwrap_err().contains("does not claim"));
}

#[test]
fn patterns_are_checked() {
    let net = threads();
    // Two in the critical section come from one there and one before it, which is excluded by nothing.
    let never = |patterns: &[(u32, &[(u32, u32)])]| {
        let pattern = |&(shared, counts): &(u32, &[(u32, u32)])| Pattern { shared, counts: counts.to_vec() };
        Lemma::Never(patterns.iter().map(pattern).collect())
    };
    let right = never(&[(1, &[(1, 2)]), (0, &[(1, 1)])]);
    assert_eq!(judge(&net, &proof(&net, vec![right])), Ok(1));
    assert!(judge(&net, &proof(&net, vec![never(&[(1, &[(1, 2)])])])).unwrap_err().contains("can be reached"));
    assert!(judge(&net, &proof(&net, vec![never(&[(1, &[(1, 2)]), (0, &[(1, 2)])])])).is_err());
    assert!(judge(&net, &proof(&net, vec![never(&[(0, &[(0, 1)])])])).unwrap_err().contains("start"));
    assert!(judge(&net, &proof(&net, vec![never(&[(7, &[(0, 1)])])])).unwrap_err().contains("no such"));
}

/// All views of two threads of the lock.
fn rows() -> Vec<Row> {
    let nobody = 2;
    let pairs = [
        (0, 0, 0),
        (0, 0, nobody),
        (0, nobody, nobody),
        (1, 0, 0),
        (1, 0, 1),
        (1, 0, nobody),
        (1, 1, nobody),
        (1, nobody, nobody),
    ];
    pairs.into_iter().map(|(shared, one, other)| (shared, vec![one, other].into())).collect()
}

#[test]
fn views_are_checked() {
    let net = threads();
    let views = |rows: Vec<Row>| Lemma::Views(Views { size: 2, rows });
    assert_eq!(judge(&net, &proof(&net, vec![views(rows())])), Ok(1));
    // Each of them is needed, those with nobody among them.
    for missing in 0..rows().len() {
        let mut rest = rows();
        let row = rest.remove(missing);
        let rejected = judge(&net, &proof(&net, vec![views(rest)])).unwrap_err();
        assert!(rejected.contains("missing"), "{row:?}: {rejected}");
    }
    let one = |rows: &[(u32, u32)]| {
        let rows = rows.iter().map(|(shared, place)| (*shared, vec![*place].into())).collect();
        Lemma::Views(Views { size: 1, rows })
    };
    // One thread at a time says nothing about two.
    let all = one(&[(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]);
    assert!(judge(&net, &proof(&net, vec![all])).unwrap_err().contains("no lemma excludes"));
    let broken = Lemma::Views(Views { size: 2, rows: vec![(0, vec![1, 0].into())] });
    assert!(judge(&net, &proof(&net, vec![broken])).unwrap_err().contains("ascending"));
    let huge = Lemma::Views(Views { size: 100, rows: Vec::new() });
    assert!(judge(&net, &proof(&net, vec![huge])).unwrap_err().contains("missing"));
    let none = Lemma::Views(Views { size: 0, rows: Vec::new() });
    assert!(judge(&net, &proof(&net, vec![none])).unwrap_err().contains("nobody"));
}

/// A certificate or a trace of a random system.
fn evidence(net: &Net) -> Option<Result<Certificate, Trace>> {
    let options = Options { engine: &tepui::COVERABILITY, ..Options::default() };
    let budget = Budget::unlimited().with_work(1_000_000);
    let outcome = tepui::verify(&Problem::try_from(net.clone()).unwrap(), &options, &budget).unwrap().outcome;
    match &outcome.properties[0].verdict {
        Verdict::Safe(_) => Some(Ok(outcome.evidence()?.certificate.clone().try_into().unwrap())),
        Verdict::Unsafe(refuted) => Some(Err(refuted.trace().clone().try_into().unwrap())),
        Verdict::Unknown(_) => None,
    }
}

/// Changes something.
fn forge(rng: &mut Rng, certificate: &mut Certificate) {
    let Some(number) = (!certificate.lemmas.is_empty()).then(|| rng.usize(0..certificate.lemmas.len())) else { return };
    if rng.u32(0..4) == 0 {
        certificate.lemmas.remove(number);
        return;
    }
    match &mut certificate.lemmas[number] {
        Lemma::Weight(weight) => match rng.u32(0..3) {
            0 => weight.bound = weight.bound.saturating_sub(1),
            1 if !weight.places.is_empty() => {
                let at = rng.usize(0..weight.places.len());
                weight.places[at].1 *= 2;
            }
            _ => weight.bound += 1,
        },
        Lemma::Views(views) if !views.rows.is_empty() => {
            let at = rng.usize(0..views.rows.len());
            views.rows.remove(at);
        }
        Lemma::Never(patterns) if !patterns.is_empty() => {
            let at = rng.usize(0..patterns.len());
            match rng.bool() || patterns[at].counts.is_empty() {
                true => drop(patterns.remove(at)),
                false => {
                    let place = rng.usize(0..patterns[at].counts.len());
                    patterns[at].counts[place].1 *= 2;
                }
            }
        }
        Lemma::Views(_) | Lemma::Never(_) => {}
    }
}

/// A forged certificate may still be a proof. But never of something that is wrong: what the certificate of a safe system is
/// turned into is held against systems in which the target can be covered.
#[test]
fn forgeries_prove_nothing_that_is_wrong() {
    let (mut proofs, mut refused, mut traces) = (0, 0, 0);
    for seed in 0..800 {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape { transfers: seed % 2 == 0, guards: seed % 4 == 1, meetings: seed % 3 > 0 };
        let net = net(&mut rng, shape);
        match evidence(&net) {
            None => {}
            Some(Ok(certificate)) => {
                assert!(judge(&net, &certificate).is_ok(), "seed {seed}");
                proofs += 1;
                // The same net with one more step, and the same with a larger start.
                for _ in 0..4 {
                    let mut other = net.clone();
                    let place = rng.usize(0..other.counts.len());
                    match rng.bool() {
                        true => other.counts[place].least += 1,
                        false => {
                            let from = rng.u32(0..other.shared.count());
                            let mut more = other.steps[0].clone();
                            (more.from, more.put) = (from, vec![(place as u32, 1)]);
                            other.steps.push(more);
                        }
                    }
                    let mut moved = certificate.clone();
                    moved.model = other.digest();
                    if judge(&other, &moved).is_err() {
                        refused += 1;
                    } else if let Some(Err(_)) = evidence(&other) {
                        panic!("seed {seed}: a proof of something that is wrong: {other:?}\n{moved:?}");
                    }
                }
                for _ in 0..6 {
                    let mut forged = certificate.clone();
                    forge(&mut rng, &mut forged);
                    refused += usize::from(judge(&net, &forged).is_err());
                }
            }
            Some(Err(trace)) => {
                traces += 1;
                assert!(replay(&net, &trace).is_ok());
                let read = Trace::from_text(&trace.to_text(|_| "# x".to_owned())).unwrap();
                assert_eq!(read, std::slice::from_ref(&trace));
                let mut forged = trace.clone();
                if forged.steps.pop().is_some() && replay(&net, &forged).is_ok() {
                    panic!("seed {seed}: the last step is not needed: {trace:?}");
                }
                let mut forged = trace.clone();
                forged.start.counts.push((net.counts.len() as u32, 1));
                assert!(replay(&net, &forged).is_err());
                for step in 0..trace.steps.len() {
                    let mut forged = trace.clone();
                    forged.steps[step].after.shared = (forged.steps[step].after.shared + 1) % 4;
                    assert!(replay(&net, &forged).is_err(), "seed {seed}");
                }
            }
        }
    }
    println!("{proofs} proofs, {refused} forgeries refused, {traces} traces");
    assert!(proofs > 100 && traces > 100 && refused > 2 * proofs, "{proofs} {refused} {traces}");
}
