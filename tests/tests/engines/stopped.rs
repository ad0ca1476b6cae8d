//! Engines that are stopped at any moment, by any limit.
//!
//! A budget can be made to end a run at its n-th look at the limits, where every call that counts work is a look. So each
//! engine is stopped at one moment after the other, and asked for all that the driver asks for after that: it must not
//! panic, a violation that it reports must have a trace, and it must not claim anything that does not hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use tepui::{AUTO, CLOSURE, CONTEXTS, Cores, DELAYS, Minimal, Options, Problem};
use tepui_core::{Budget, Engine, Evidence, Limit, Measuring, Outcome, Reason, Stop, Verdict};
use tepui_engines::closure::{self, Closure};
use tepui_engines::contexts::{self, Options as Sequences};
use tepui_engines::delays::{self, Delays};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::finite_context::finite_context;
use tepui_engines::pushdown::observed::ObservedPushdown;
use tepui_engines::rendezvous::Rendezvous;
use tepui_model::pushdown::Model;
use tepui_tests::facade::verify;
use tepui_tests::oracle::{self, Cap};
use tepui_tests::random::{small_model, symmetric_model};

use crate::{for_each_model, shape_of};

const LIMITS: [Limit; 4] = [Limit::Time, Limit::Memory, Limit::Interrupt, Limit::Outrun];
const CAP: Cap = Cap { height: 6, states: 1500 };
/// The most bounds that an engine is asked for.
const BOUNDS: usize = 5;

/// Moments to stop at: all of the first ones, then ever fewer.
fn moments() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(0), |&moment| Some(moment + 1 + moment / 6))
}

#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    stopped: usize,
    traces: usize,
}

fn total(tallies: Vec<Tally>) -> Tally {
    tallies.into_iter().fold(Tally::default(), |one, other| Tally {
        stopped: one.stopped + other.stopped,
        traces: one.traces + other.traces,
    })
}

/// What holds of a model, as far as it could be found out.
struct Truth {
    model: Problem,
    names: Vec<String>,
    /// For each property whether it is violated, if that is known.
    violated: Vec<Option<bool>>,
    /// All views, if they are known.
    views: Option<BTreeSet<String>>,
}

impl Truth {
    fn of(model: &Model) -> Self {
        let (states, exact) = oracle::reachable(model, CAP);
        let violated = |property| match states.iter().any(|state| oracle::violates(property, state)) {
            true => Some(true),
            false => exact.then_some(false),
        };
        let show = |view: &tepui_model::pushdown::View| model.display_view(view.shared, |thread| view.tops[thread]);
        let views = exact.then(|| oracle::views(&states).iter().map(show).collect());
        let names = model.properties().iter().map(|property| property.name.clone()).collect();
        Self { model: model.clone().into(), names, violated: model.properties().iter().map(violated).collect(), views }
    }
}

/// Runs an engine as the driver does, up to a moment. Returns whether it was stopped by then.
fn stop_at(moment: u64, limit: Limit, engine: &mut dyn Engine, truth: &Truth, place: &str, tally: &mut Tally) -> bool {
    let mut budget = Budget::stopping_after(moment, limit);
    let mut traced = BTreeSet::new();
    for _ in 0..BOUNDS {
        engine.next_bound();
        let round = engine.explore(&mut budget).unwrap_or_else(|stop| panic!("{place}: {stop:?}"));
        for &property in &round.violated {
            assert_ne!(truth.violated[property], Some(false), "{place}: property {property} holds");
            if traced.insert(property) {
                let (trace, _) = engine
                    .trace(property, &mut Budget::unlimited())
                    .unwrap_or_else(|stop| panic!("{place}: a violation is lost: {stop:?}"));
                truth.model.replay(&trace, &|| false).unwrap_or_else(|why| panic!("{place}: {why}"));
                tally.traces += 1;
                // What is left of the budget may be used up in the middle of a trace.
                let _ = engine.trace(property, &mut budget.clone());
            }
        }
        if let Some(stop) = round.stopped {
            let gave_up = matches!(stop, Stop::GaveUp(_));
            assert!(gave_up || (stop == Stop::Limit(limit) && !round.exhausted && !round.test_due), "{place}");
            ask_for_the_rest(engine, truth, place);
            return !gave_up;
        }
        if round.test_due {
            match engine.converged(&mut budget) {
                Err(_) => {
                    ask_for_the_rest(engine, truth, place);
                    return budget.stopper().stopped().is_some();
                }
                Ok(Some(evidence)) => {
                    check_evidence(&evidence, &round.violated, truth, place);
                    ask_for_the_rest(engine, truth, place);
                    return false;
                }
                Ok(None) => {}
            }
        }
    }
    false
}

fn ask_for_the_rest(engine: &dyn Engine, truth: &Truth, place: &str) {
    engine.notes();
    let budget = &mut Budget::unlimited();
    let (views, violating) = (engine.views(false, budget), engine.views(true, budget));
    if let Some(known) = &truth.views {
        for view in views.iter().chain(&violating) {
            assert!(known.contains(view), "{place}: {view} cannot be reached");
        }
    }
}

fn check_evidence(evidence: &Evidence, violated: &[usize], truth: &Truth, place: &str) {
    let number = |name: &str| truth.names.iter().position(|own| *own == name);
    let claimed = |name: &str| number(name).is_none_or(|number| !violated.contains(&number));
    let checked = truth.model.check_some(&evidence.certificate, &claimed, &|| false);
    checked.unwrap_or_else(|why| panic!("{place}: {why}"));
    for (property, known) in truth.violated.iter().enumerate() {
        assert!(*known != Some(true) || violated.contains(&property), "{place}: property {property} is violated");
    }
}

/// Stops engines, made anew each time, at one moment after the other.
fn at_every_moment(place: &str, truth: &Truth, tally: &mut Tally, mut make: impl FnMut() -> Box<dyn Engine>) {
    for (moment, &limit) in moments().zip(LIMITS.iter().cycle()) {
        let place = format!("{place}, stopped by {limit:?} after {moment} looks");
        if !stop_at(moment, limit, &mut *make(), truth, &place, tally) {
            return;
        }
        tally.stopped += 1;
    }
}

#[test]
fn engines_stop_at_any_moment() {
    let draw = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x570b);
        let shape = shape_of(seed);
        if seed.is_multiple_of(2) { small_model(&mut rng, shape) } else { symmetric_model(&mut rng, shape) }
    };
    let (count, tallies) = for_each_model(120, draw, |model, seed, tally: &mut Tally| {
        let (truth, symmetry) = (Truth::of(model), seed % 4 < 2);
        let cores = if seed.is_multiple_of(3) { Cores { threads: 2, chunk: 1 } } else { Cores::new(1) };
        let place = |name: &str| format!("seed {seed}, {name}");
        let searching = closure::Options { view_depth: 1 + seed as usize % 2, symmetry, waiting: false, cores };
        let shallow = closure::Options { view_depth: 1, ..searching };
        at_every_moment(&place("closure"), &truth, tally, || Box::new(Closure::new(Compiled::new(model), shallow)));
        let deep = Truth { views: None, ..Truth::of(model) };
        at_every_moment(&place("deep closure"), &deep, tally, || {
            Box::new(Closure::new(Compiled::new(model), searching))
        });
        let symbolic = Sequences { states: false, views: true, z_depth: 1, symmetry, cores };
        let run = || Box::new(contexts::symbolic(Compiled::new(model), symbolic)) as Box<dyn Engine>;
        at_every_moment(&place("symbolic"), &truth, tally, run);
        if finite_context(&Compiled::new(model)).into_iter().all(|finite| finite) {
            for (states, views) in [(true, true), (true, false), (false, true)] {
                let options = Sequences { states, views, ..symbolic };
                let run = || {
                    Box::new(contexts::explicit(&contexts::EXPLICIT, Compiled::new(model), options)) as Box<dyn Engine>
                };
                at_every_moment(&place("explicit"), &truth, tally, run);
            }
        }
        let turns = delays::Options {
            delays: None,
            test_always: seed.is_multiple_of(5),
            from_scratch: seed.is_multiple_of(7),
            cores,
        };
        let run = || Box::new(Delays::new(ObservedPushdown::new(Compiled::new(model), 1, 1), turns)) as Box<dyn Engine>;
        at_every_moment(&place("delays"), &truth, tally, run);
        if let Some((evidence, views)) = all_views(model) {
            let measured = || Box::new(Delays::new(ObservedPushdown::new(Compiled::new(model), 1, 1), turns));
            let run = || Box::new(Measuring::new(measured(), evidence.clone(), views)) as Box<dyn Engine>;
            at_every_moment(&place("measuring"), &truth, tally, run);
        }
    });
    let tally = total(tallies);
    println!("{tally:?}");
    assert!(tally.stopped > 50 * count as usize && tally.traces > 10 * count as usize, "{tally:?}");
}

/// Evidence that some views are all, and their number.
fn all_views(model: &Model) -> Option<(Evidence, u64)> {
    let options = Options { engine: &CLOSURE, bound_limit: Some(vec![3]), ..Options::default() };
    let outcome = verify(model, &options, &Budget::unlimited()).unwrap();
    let views = outcome.iterations.last()?.views;
    outcome.evidence().map(|evidence| (evidence.clone(), views))
}

#[test]
fn runs_stop_at_any_moment() {
    let draw = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0x4a17);
        let draw = if seed.is_multiple_of(2) { small_model } else { symmetric_model };
        draw(&mut rng, shape_of(seed))
    };
    let (count, tallies) = for_each_model(120, draw, |model, seed, tally: &mut Tally| {
        let truth = Truth::of(model);
        for (engine, minimal) in [
            (&AUTO, None),
            (&CLOSURE, None),
            (&CONTEXTS, None),
            (&DELAYS, None),
            (&AUTO, Some(Minimal::Contexts)),
            (&AUTO, Some(Minimal::Delays)),
        ] {
            let cores = Cores { threads: 1 + seed as usize % 2, chunk: 1 };
            let options =
                Options { engine, minimal, bound_limit: Some(vec![4]), list_views: true, cores, ..Options::default() };
            for (moment, &limit) in moments().zip(LIMITS.iter().cycle()) {
                let budget = Budget::stopping_after(moment, limit);
                let mut outcome = verify(model, &options, &budget).unwrap();
                let place = format!("seed {seed}, {engine:?}, {minimal:?}, {limit:?} after {moment} looks");
                check_outcome(&mut outcome, &truth, limit, &place, tally);
                if budget.stopper().stopped().is_none() {
                    break;
                }
                tally.stopped += 1;
            }
        }
    });
    let tally = total(tallies);
    println!("{tally:?}");
    assert!(tally.stopped > 50 * count as usize && tally.traces > 10 * count as usize, "{tally:?}");
}

/// The answers are right, their evidence holds, and what is open has a reason.
fn check_outcome(outcome: &mut Outcome, truth: &Truth, limit: Limit, place: &str, tally: &mut Tally) {
    truth.model.self_check(outcome).unwrap_or_else(|why| panic!("{place}: {why}"));
    for (number, property) in outcome.properties.iter().enumerate() {
        let violated = truth.violated.get(number).copied().flatten();
        match &property.verdict {
            Verdict::Safe(_) => assert_ne!(violated, Some(true), "{place}: {}", property.name),
            Verdict::Unsafe(_) => {
                tally.traces += 1;
                assert_ne!(violated, Some(false), "{place}: {}", property.name);
            }
            Verdict::Unknown(Reason::Untraced { property: named, stop }) => {
                assert_ne!(violated, Some(false), "{place}: {}", property.name);
                // Only who is outrun gets no time for it, and then the winner speaks.
                assert!(*named == property.name && *stop == Stop::Limit(Limit::Outrun), "{place}: {stop:?}");
            }
            Verdict::Unknown(reason) => {
                let known = [Reason::Limit(limit), Reason::Limit(Limit::Bound)];
                let gave_up = matches!(reason, Reason::GaveUp(_));
                assert!(gave_up || known.contains(reason), "{place}: {reason:?}");
            }
        }
    }
}

#[test]
fn languages_stop_at_any_moment() {
    let draw = |seed: u64| tepui_tests::rendezvous::small_model(&mut fastrand::Rng::with_seed(seed ^ 0x1a46));
    let (count, tallies) = for_each_model(80, draw, |model, seed, tally: &mut Tally| {
        let searched = tepui_tests::rendezvous::search(model, 5, 1500);
        let violated = |property| searched.fewest_actions(property).map(|_| true);
        let violated = model.properties().iter().map(violated).collect();
        let names = model.properties().iter().map(|property| property.name.clone()).collect();
        let truth = Truth { model: model.clone().into(), names, violated, views: None };
        for (moment, &limit) in moments().zip(LIMITS.iter().cycle()) {
            let place = format!("seed {seed}, rendezvous, stopped by {limit:?} after {moment} looks");
            let mut engine = Rendezvous::new(Arc::new(model.clone()), tepui::Refinement::default());
            if !stop_at(moment, limit, &mut engine, &truth, &place, tally) {
                break;
            }
            tally.stopped += 1;
            let budget = Budget::stopping_after(moment, limit);
            let options = Options { bound_limit: Some(vec![4]), cores: Cores::new(1), ..Options::default() };
            let mut outcome = verify(model, &options, &budget).unwrap();
            check_outcome(&mut outcome, &truth, limit, &place, tally);
        }
    });
    let tally = total(tallies);
    println!("{tally:?}");
    assert!(tally.stopped > 10 * count as usize && tally.traces > count as usize, "{tally:?}");
}
