//! Several properties in one run: each gets its own verdict, whatever becomes of the others.

use tepui::{AUTO, CLOSURE, CONTEXTS, Cores, DELAYS, Options, RENDEZVOUS};
use tepui_core::{Budget, Limit, Outcome, Reason, Status, Verdict};
use tepui_model::pushdown::{Model, Property};
use tepui_tests::facade::{self_check, verify};
use tepui_tests::oracle::{self, Cap};
use tepui_tests::random::{small_model, symmetric_model};

use crate::{for_each_model, shape_of};

const CAP: Cap = Cap { height: 8, states: 1500 };
/// Enough for every system whose states the oracle has enumerated.
const BOUND: u32 = 40;

/// A random system with 2 to 4 properties.
fn system(seed: u64) -> Model {
    let mut rng = fastrand::Rng::with_seed(seed ^ 0x2b4d);
    let model = if seed.is_multiple_of(2) { small_model } else { symmetric_model }(&mut rng, shape_of(seed));
    let mut properties: Vec<Property> = model.properties().to_vec();
    // A single view, reached or not, is a property as well.
    let views: Vec<_> = oracle::views(&oracle::reachable(&model, CAP).0).into_iter().collect();
    while properties.len() < 2 + seed as usize % 3 {
        let mut view = views[rng.usize(0..views.len())].clone();
        if rng.bool() {
            view.tops[0] = tepui_model::pushdown::Symbol(rng.u32(0..model.threads()[0].symbol_count()));
        }
        let tops = view.tops.iter().map(|&top| Some(top)).collect();
        let pattern = tepui_model::pushdown::Pattern { shared: Some(view.shared), tops };
        properties.push(Property { name: format!("q{}", properties.len()), never: vec![pattern] });
    }
    model.with_properties(properties).unwrap()
}

/// Which properties are violated, if all states are known.
fn violated(model: &Model) -> Option<Vec<bool>> {
    let (states, exact) = oracle::reachable(model, CAP);
    let broken = |property| states.iter().any(|state| oracle::violates(property, state));
    exact.then(|| model.properties().iter().map(broken).collect())
}

#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    runs: usize,
    mixed: usize,
    open: usize,
}

#[test]
fn every_property_gets_its_verdict() {
    let (count, tallies) = for_each_model(500, system, |model, seed, tally: &mut Tally| {
        let Some(violated) = violated(model) else { return };
        for engine in [&CLOSURE, &DELAYS, &CONTEXTS, &AUTO] {
            let place = format!("seed {seed}, {engine:?}");
            let run = |cores: Cores, stop_at_first: bool| {
                let bound_limit = Some(vec![BOUND]);
                let options = Options { engine, bound_limit, stop_at_first, cores, ..Options::default() };
                verify(model, &options, &Budget::unlimited()).unwrap()
            };
            let mut outcome = run(Cores::new(1), false);
            let shared = run(Cores { threads: 4, chunk: 1 }, false);
            assert_eq!(outcome.properties, shared.properties, "{place}");
            assert_eq!((outcome.cutoff, outcome.engine), (shared.cutoff, shared.engine), "{place}");
            self_check(model, &mut outcome).unwrap_or_else(|why| panic!("{place}: {why}"));
            tally.runs += 1;
            tally.mixed += usize::from(violated.contains(&true) && violated.contains(&false));
            tally.open += usize::from(!outcome.conclusive());
            compare(model, &outcome, &violated, &place);
            stops_at_first(&outcome, &run(Cores::new(1), true), &place);
        }
    });
    let tally = tallies.into_iter().fold(Tally::default(), |one, other| Tally {
        runs: one.runs + other.runs,
        mixed: one.mixed + other.mixed,
        open: one.open + other.open,
    });
    println!("{tally:?}");
    assert!(tally.runs > count as usize && tally.mixed > tally.runs / 4, "{tally:?}");
    assert!(tally.open < tally.runs / 50, "{tally:?}");
}

fn compare(model: &Model, outcome: &Outcome, violated: &[bool], place: &str) {
    for ((property, answer), &violated) in model.properties().iter().zip(&outcome.properties).zip(violated) {
        match &answer.verdict {
            Verdict::Safe(_) => assert!(!violated, "{place}: {} is violated", answer.name),
            Verdict::Unsafe(refuted) => {
                assert!(violated, "{place}: {} holds", answer.name);
                if outcome.raised.resources == ["contexts"] {
                    let fewest = oracle::cheapest(model, property, CAP).map(|(contexts, _)| contexts as u32);
                    let bound = refuted.bound().map(|bound| bound.first());
                    assert!(fewest.is_none() || bound == fewest, "{place}: {bound:?}, not {fewest:?}");
                }
            }
            // A generator test may have nothing more to try, and violations are found all the same.
            Verdict::Unknown(reason) => assert!(!violated, "{place}: {} is violated, {reason:?}", answer.name),
        }
    }
}

/// A run that stops at the first violation has the same answers as far as it goes, and the same traces.
fn stops_at_first(whole: &Outcome, first: &Outcome, place: &str) {
    if whole.status() != Status::Unsafe {
        assert_eq!(whole.properties, first.properties, "{place}");
        return;
    }
    assert_eq!(first.status(), Status::Unsafe, "{place}");
    for (whole, first) in whole.properties.iter().zip(&first.properties) {
        match &first.verdict {
            Verdict::Unknown(reason) => assert_eq!(*reason, Reason::Limit(Limit::FirstViolation), "{place}"),
            Verdict::Unsafe(_) => assert_eq!(whole.verdict.status(), Status::Unsafe, "{place}"),
            Verdict::Safe(_) => panic!("{place}: {} is proved although the run stopped", first.name),
        }
    }
}

/// Languages that have no word in common and never show it, and a query that a glance settles: what is proved stays
/// proved although the other query is open for ever.
#[test]
fn a_query_that_stays_open_does_not_take_back_the_proof_of_another() {
    let text = include_str!("../../../examples/counting.rpds").to_owned() + "\nreach nothing: odd at more n\n";
    let source = tepui_lang::source::Source::new("model", text.as_bytes());
    let model = tepui_lang::rendezvous::read_rpds(&source, None).unwrap().model;
    let options = Options { engine: &RENDEZVOUS, bound_limit: Some(vec![6]), ..Options::default() };
    let mut outcome = verify(&model, &options, &Budget::unlimited()).unwrap();
    let statuses: Vec<_> = outcome.properties.iter().map(|property| property.verdict.status()).collect();
    assert_eq!(statuses, [Status::Unknown, Status::Safe], "{:?}", outcome.properties);
    self_check(&model, &mut outcome).unwrap();
}
