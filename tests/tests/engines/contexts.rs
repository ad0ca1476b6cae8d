//! The context engines against the oracle: views, levels, cutoffs, verdicts, traces and certificates.

use std::collections::BTreeSet;

use tepui::{CONTEXTS, Cores, EXPLICIT, Facts, Options, STATES, SYMBOLIC, VIEWS};
use tepui_core::{Budget, Outcome, Reason, Status, Verdict};
use tepui_engines::pushdown::{compiled::Compiled, finite_context};
use tepui_model::pushdown::{Model, State};
use tepui_tests::facade::{self_check, verify};
use tepui_tests::oracle::{self, Bounded, Cap};

use crate::{for_each_model, shape_of};
use tepui_tests::random::{small_model, symmetric_model};

const SYSTEMS: u64 = 600;
const BOUND: u32 = 5;
const CAP: Cap = Cap { height: 7, states: 3000 };

struct Truth {
    model: Model,
    finite: bool,
    levels: Bounded,
    reachable: (BTreeSet<State>, bool),
}

#[test]
fn context_engines_agree_with_the_oracle() {
    let alike = |seed: u64| seed % 4 == 3;
    let draw = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(seed);
        if alike(seed) { symmetric_model(&mut rng, shape_of(seed)) } else { small_model(&mut rng, shape_of(seed)) }
    };
    let (count, tallies) = for_each_model(SYSTEMS, draw, |model: &Model, seed, tally: &mut Tally| {
        let model = model.clone();
        let levels = oracle::contexts(&model, BOUND as usize, CAP);
        let reachable = oracle::reachable(&model, CAP);
        let finite = check_finite_context(&model, seed);
        let truth = Truth { model, finite, levels, reachable };
        for engine in [&CONTEXTS, &EXPLICIT, &STATES, &VIEWS, &SYMBOLIC] {
            compare(&truth, engine, false, &format!("seed {seed}, {engine:?}"), tally);
            if alike(seed) {
                compare(&truth, engine, true, &format!("seed {seed}, {engine:?}, symmetric"), tally);
            }
        }
        if truth.levels.exact && seed % 4 == 0 {
            compare_each_level(&truth, &format!("seed {seed}"));
        }
    });
    let tally = tallies.into_iter().fold(Tally::default(), Tally::add);
    println!("{tally:?}");
    assert!(tally.safe as u64 > count / 2 && tally.unsafe_ as u64 > count / 2, "too few conclusive runs: {tally:?}");
    assert!(tally.exact_levels as u64 > count, "too few exact comparisons: {tally:?}");
}

#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    safe: usize,
    unsafe_: usize,
    unknown: usize,
    exact_levels: usize,
    exact_cutoffs: usize,
}

impl Tally {
    fn add(self, other: Self) -> Self {
        Self {
            safe: self.safe + other.safe,
            unsafe_: self.unsafe_ + other.unsafe_,
            unknown: self.unknown + other.unknown,
            exact_levels: self.exact_levels + other.exact_levels,
            exact_cutoffs: self.exact_cutoffs + other.exact_cutoffs,
        }
    }
}

fn check_finite_context(model: &Model, seed: u64) -> bool {
    let ours = finite_context::finite_context(&Compiled::new(model));
    for (thread, theirs) in oracle::finite_context(model, 20_000).into_iter().enumerate() {
        assert!(theirs.is_none_or(|theirs| theirs == ours[thread]), "seed {seed}: thread {thread} is {ours:?}");
    }
    ours.into_iter().all(|finite| finite)
}

fn compare(truth: &Truth, engine: &'static Facts, symmetry: bool, place: &str, tally: &mut Tally) {
    let (bound_limit, cores) = (Some(vec![BOUND]), Cores::new(1));
    let options = Options { engine, bound_limit, list_views: true, symmetry, cores, ..Options::default() };
    let mut outcome = verify(&truth.model, &options, &Budget::unlimited()).unwrap();
    if !truth.finite && [&EXPLICIT, &STATES, &VIEWS].contains(&engine) {
        let refused = |verdict: &Verdict| matches!(verdict, Verdict::Unknown(Reason::NotApplicable(_)));
        assert!(outcome.properties.iter().all(|property| refused(&property.verdict)), "{place}");
        return;
    }
    self_check(&truth.model, &mut outcome).unwrap_or_else(|why| panic!("{place}: {why}"));
    compare_levels(truth, &outcome, symmetry, place, tally);
    compare_verdicts(truth, &outcome, place, tally);
    if outcome.cutoff.is_some() {
        compare_convergence(truth, &outcome, place, tally);
    }
}

/// Bounded exploration, bound by bound: the views themselves, not only their number.
fn compare_each_level(truth: &Truth, place: &str) {
    let engines: &[_] = if truth.finite { &[&EXPLICIT, &SYMBOLIC] } else { &[&SYMBOLIC] };
    for (bound, level) in (0..).zip(&truth.levels.levels) {
        for &engine in engines {
            let bound_limit = Some(vec![bound]);
            let options = Options { engine, bound_limit, prove: false, list_views: true, ..Options::default() };
            let outcome = verify(&truth.model, &options, &Budget::unlimited()).unwrap();
            let last = outcome.iterations.last().unwrap().bound.first();
            assert_eq!(last, bound, "{place}, {engine:?}");
            assert_eq!(outcome.views, shown(&truth.model, level), "{place}, {engine:?} at {bound}");
            let violates =
                |state: &&State| truth.model.properties().iter().any(|property| oracle::violates(property, state));
            let violating = level.iter().filter(violates).cloned().collect();
            assert_eq!(outcome.violating, shown(&truth.model, &violating), "{place}, {engine:?} at {bound}");
        }
    }
}

/// The views of states in the notation of the model, in the order of a listing.
fn shown(model: &Model, states: &BTreeSet<State>) -> Vec<String> {
    oracle::views(states).iter().map(|view| model.display_view(view.shared, |thread| view.tops[thread])).collect()
}

fn compare_levels(truth: &Truth, outcome: &Outcome, symmetry: bool, place: &str, tally: &mut Tally) {
    for iteration in &outcome.iterations {
        let level = &truth.levels.levels[(iteration.bound.first() as usize).min(truth.levels.levels.len() - 1)];
        let views = oracle::views(level).len() as u64;
        if truth.levels.exact {
            tally.exact_levels += 1;
            assert_eq!(iteration.views, views, "{place}: views at {}", iteration.bound);
            if outcome.engine.name != "contexts-symbolic" && !symmetry {
                assert_eq!(iteration.states, level.len() as u64, "{place}: states at {}", iteration.bound);
            }
        } else {
            assert!(iteration.views >= views, "{place}: views at {}", iteration.bound);
        }
    }
    let last = outcome.iterations.last().unwrap().bound.first() as usize;
    let theirs: BTreeSet<_> = shown(&truth.model, &truth.levels.levels[last]).into_iter().collect();
    let ours: BTreeSet<_> = outcome.views.iter().cloned().collect();
    assert!(theirs.is_subset(&ours), "{place}: views are missing");
    assert!(!truth.levels.exact || ours == theirs, "{place}: views differ");
}

fn compare_verdicts(truth: &Truth, outcome: &Outcome, place: &str, tally: &mut Tally) {
    for (index, answer) in outcome.properties.iter().enumerate() {
        let property = truth.model.properties().get(index);
        let expected = property.and_then(|property| truth.levels.first_violation(property));
        match &answer.verdict {
            Verdict::Unsafe(refuted) => {
                tally.unsafe_ += 1;
                let bound = refuted.bound().unwrap().first();
                assert_eq!(refuted.trace().contexts(), bound, "{place}: the trace has another length");
                if truth.levels.exact {
                    assert_eq!(expected, Some(bound as usize), "{place}: {}", answer.name);
                    let fewest = property.and_then(|property| oracle::cheapest(&truth.model, property, CAP));
                    let cost = (bound as usize, refuted.trace().steps());
                    let symbolic = outcome.engine.name == "contexts-symbolic";
                    assert!(symbolic || fewest.is_none_or(|fewest| fewest == cost), "{place}: {cost:?}, {fewest:?}");
                } else {
                    assert!(expected.is_none_or(|k| k >= bound as usize), "{place}: {}", answer.name);
                }
            }
            Verdict::Safe(_) => {
                tally.safe += 1;
                assert_eq!(expected, None, "{place}: {} is violated", answer.name);
                let violated = |state| property.is_some_and(|property| oracle::violates(property, state));
                assert!(!truth.reachable.0.iter().any(violated), "{place}: {} is violated", answer.name);
            }
            Verdict::Unknown(reason) => {
                tally.unknown += 1;
                assert_eq!(expected, None, "{place}: {} is violated but {reason:?}", answer.name);
                assert!(matches!(reason, Reason::Limit(_)), "{place}: {reason:?}");
            }
        }
    }
}

/// Convergence was claimed: the views are all there are, and the cutoff is the least bound that has them.
fn compare_convergence(truth: &Truth, outcome: &Outcome, place: &str, tally: &mut Tally) {
    assert_ne!(outcome.status(), Status::Unknown, "{place}");
    let views = outcome.iterations.last().unwrap().views;
    let theirs = oracle::views(&truth.reachable.0).len() as u64;
    assert!(theirs <= views, "{place}: {theirs} views are reachable, {views} were claimed");
    if truth.reachable.1 {
        assert_eq!(views, theirs, "{place}");
    }
    if truth.levels.exact {
        let complete = |level: &BTreeSet<_>| oracle::views(level).len() as u64 == views;
        let cutoff = truth.levels.levels.iter().position(complete);
        assert_eq!(outcome.cutoff.map(|k| k.first() as usize), cutoff, "{place}");
        tally.exact_cutoffs += 1;
    }
}
