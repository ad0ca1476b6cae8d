//! Closure, delays and contexts give the same answers, with and without symmetry, with one thread and with several.
//!
//! Every certificate goes through the checker, every trace is replayed. The pieces of work are made so small that small
//! systems are shared among threads.

use tepui::{AUTO, CLOSURE, CONTEXTS, Cores, DELAYS, Options};
use tepui_core::{Budget, Outcome, Reason, Status, Verdict};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::returns::deterministic_returns;
use tepui_model::pushdown::{Action, Model};
use tepui_tests::facade::{self_check, verify};
use tepui_tests::oracle::{self, Cap};
use tepui_tests::random::{small_model, symmetric_model};

use crate::{for_each_model, shape_of};

const SYSTEMS: u64 = 1000;
const CAP: Cap = Cap { height: 6, states: 2000 };

#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    safe: usize,
    unsafe_: usize,
    unknown: usize,
    compared: usize,
    symmetric: usize,
    decidable: usize,
}

#[test]
fn engines_agree_with_each_other() {
    let draw = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x5eed);
        let shape = shape_of(seed);
        let model =
            if seed.is_multiple_of(2) { small_model(&mut rng, shape) } else { symmetric_model(&mut rng, shape) };
        if seed % 5 < 2 { flat(&model) } else { model }
    };
    let (count, tallies) = for_each_model(SYSTEMS, draw, |model, seed, tally: &mut Tally| {
        compare(model, &format!("seed {seed}"), tally);
    });
    let tally = tallies.into_iter().fold(Tally::default(), |one, other| Tally {
        safe: one.safe + other.safe,
        unsafe_: one.unsafe_ + other.unsafe_,
        unknown: one.unknown + other.unknown,
        compared: one.compared + other.compared,
        symmetric: one.symmetric + other.symmetric,
        decidable: one.decidable + other.decidable,
    });
    println!("{tally:?}");
    let count = count as usize;
    assert!(tally.safe > count && tally.unsafe_ > count, "too few conclusive runs: {tally:?}");
    assert!(tally.decidable > count / 100, "too few decidable systems: {tally:?}");
    assert!(tally.compared > count && tally.symmetric > count / 4, "too few comparisons: {tally:?}");
}

/// The model with overwrites in place of pushes, and stacks of one symbol at first: where stacks do not grow, `closure`
/// takes a shorter way.
fn flat(model: &Model) -> Model {
    let mut threads = model.threads().to_vec();
    for rule in threads.iter_mut().flat_map(|thread| &mut thread.rules) {
        match rule.action {
            Action::Push { top, below } if !below.is_bottom() => rule.action = Action::Overwrite(top),
            _ => {}
        }
    }
    let mut init = model.init().clone();
    init.stacks.iter_mut().for_each(|stack| stack.truncate(1));
    Model::new(model.shared().clone(), threads, init, model.properties().to_vec()).unwrap()
}

fn compare(model: &Model, place: &str, tally: &mut Tally) {
    if deterministic_returns(&Compiled::new(model)) == Some(true) {
        let options = Options { engine: &CLOSURE, bound_limit: Some(vec![1]), ..Options::default() };
        let outcome = verify(model, &options, &Budget::unlimited()).unwrap();
        assert!(outcome.conclusive(), "{place}: this is decidable, with views of depth 1");
        tally.decidable += 1;
    }
    let (states, exact) = oracle::reachable(model, CAP);
    let views = oracle::views(&states).len() as u64;
    let mut complete: Vec<(String, u64)> = Vec::new();
    let runs = [
        (&CLOSURE, vec![3], false),
        (&CLOSURE, vec![3], true),
        (&DELAYS, vec![5], false),
        (&CONTEXTS, vec![4], false),
        (&CONTEXTS, vec![4], true),
    ];
    for (engine, limit, symmetry) in runs {
        let place = format!("{place}, {engine:?}, symmetry {symmetry}");
        let run = |cores: Cores| {
            let bound_limit = Some(limit.clone());
            let options = Options { engine, bound_limit, symmetry, list_views: true, cores, ..Options::default() };
            verify(model, &options, &Budget::unlimited()).unwrap()
        };
        let mut outcome = run(Cores::new(1));
        same(&outcome, &run(Cores { threads: 2, chunk: 1 }), &place);
        self_check(model, &mut outcome).unwrap_or_else(|why| panic!("{place}: {why}"));
        tally.symmetric += usize::from(outcome.stored[0].contains("orbit"));
        for (property, answer) in model.properties().iter().zip(&outcome.properties) {
            let violated = states.iter().any(|state| oracle::violates(property, state));
            match &answer.verdict {
                Verdict::Safe(_) => assert!(!violated, "{place}: {} is violated", answer.name),
                Verdict::Unsafe(_) => assert!(violated || !exact, "{place}: {} holds", answer.name),
                Verdict::Unknown(reason) => assert!(matches!(reason, Reason::Limit(_)), "{place}: {reason:?}"),
            }
            match answer.verdict.status() {
                Status::Safe => tally.safe += 1,
                Status::Unsafe => tally.unsafe_ += 1,
                Status::Unknown => tally.unknown += 1,
            }
        }
        if outcome.evidence().is_some() {
            let claimed = outcome.iterations.last().unwrap().views;
            assert!(claimed >= views && (claimed == views || !exact), "{place}: {claimed} views, at least {views}");
            assert_eq!(claimed, outcome.views.len() as u64, "{place}");
            complete.push((place, claimed));
        }
    }
    for pair in complete.windows(2) {
        tally.compared += 1;
        assert_eq!(pair[0].1, pair[1].1, "{} and {}", pair[0].0, pair[1].0);
    }
}

/// The same answers, traces, certificates and numbers.
fn same(one: &Outcome, other: &Outcome, place: &str) {
    assert_eq!(one.properties, other.properties, "{place}");
    assert_eq!((one.engine, one.cutoff), (other.engine, other.cutoff), "{place}");
    assert_eq!(one.views, other.views, "{place}");
    let numbers = |outcome: &Outcome| -> Vec<_> {
        outcome.iterations.iter().map(|it| (it.bound, it.states, it.views, it.steps, it.open)).collect()
    };
    assert_eq!(numbers(one), numbers(other), "{place}");
}

/// The smallest bound is the one that the engine for it finds alone, and the answers do not depend on asking.
#[test]
fn asking_for_the_smallest_bound_changes_no_answer() {
    let draw = |seed: u64| symmetric_model(&mut fastrand::Rng::with_seed(seed), shape_of(seed));
    for_each_model(250, draw, |model, seed, _: &mut ()| {
        let run = |engine, minimal| {
            let bound_limit = Some(vec![6]);
            let options = Options { engine, minimal, bound_limit, cores: Cores::new(1), ..Options::default() };
            verify(model, &options, &Budget::unlimited()).unwrap()
        };
        for (minimal, choice) in [(tepui::Minimal::Contexts, &CONTEXTS), (tepui::Minimal::Delays, &DELAYS)] {
            let (both, alone, closure) = (run(&AUTO, Some(minimal)), run(choice, None), run(&CLOSURE, None));
            if alone.conclusive() {
                assert!(both.conclusive() && both.agrees_with(&alone), "seed {seed}, {minimal:?}");
                let bounds = |outcome: &Outcome| -> Vec<_> {
                    let bound = |verdict: &Verdict| match verdict {
                        Verdict::Unsafe(refuted) => refuted.bound(),
                        Verdict::Safe(_) | Verdict::Unknown(_) => None,
                    };
                    outcome.properties.iter().map(|property| bound(&property.verdict)).collect()
                };
                assert_eq!((both.cutoff, bounds(&both)), (alone.cutoff, bounds(&alone)), "seed {seed}, {minimal:?}");
            }
            assert!(!closure.conclusive() || both.agrees_with(&closure), "seed {seed}, {minimal:?}");
        }
    });
}
