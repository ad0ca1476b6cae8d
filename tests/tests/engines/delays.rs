//! `R(r, d)` against brute force, and the delays engine on a system that is no pushdown model.

use std::collections::BTreeSet;

use tepui::{Cores, DELAYS, Options};
use tepui_cert::pushdown::Certificate;
use tepui_core::{Budget, Engine as _, Evidence, Query, Status, Stop, Verdict, drive};
use tepui_engines::delays::{self, Delays};
use tepui_engines::ids::{ThreadId, ViewId};
use tepui_engines::packed::PackedSet;
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::observed::ObservedPushdown;
use tepui_engines::system::{Observed, PathStep, System, Traced};
use tepui_engines::workers::Workers;
use tepui_model::Digest;
use tepui_tests::facade::{pushdown_trace, verify};
use tepui_tests::oracle::{self, Cap};
use tepui_tests::random::{small_model, symmetric_model};

use crate::{for_each_model, shape_of};

const SYSTEMS: u64 = 400;
const MOST: usize = 8;
const CAP: Cap = Cap { height: 20, states: 120 };

/// Every bound that the schedule visits, every bound that exploration with a fixed number of delays visits, and the
/// baseline without a frontier.
#[test]
fn bounded_sets_are_those_of_the_definition() {
    let draw = |seed: u64| {
        let mut rng = fastrand::Rng::with_seed(seed ^ 0xde1a);
        let shape = shape_of(seed);
        if seed.is_multiple_of(3) { symmetric_model(&mut rng, shape) } else { small_model(&mut rng, shape) }
    };
    let (count, tallies) = for_each_model(SYSTEMS, draw, |model, seed, exact: &mut u64| {
        let grid = oracle::round_robin(model, MOST, MOST, CAP);
        if !grid.exact {
            return;
        }
        *exact += 1;
        let show = |view: &tepui_model::pushdown::View| model.display_view(view.shared, |thread| view.tops[thread]);
        let shown = |states: &BTreeSet<_>| -> Vec<_> { oracle::views(states).iter().map(show).collect() };
        let shown: Vec<Vec<_>> = grid.cells.iter().map(|row| row.iter().map(shown).collect()).collect();
        let fixed = (0..=MOST as u32).map(Some);
        for (delays, from_scratch) in fixed.map(|delays| (delays, false)).chain([(None, false), (None, true)]) {
            let cores = Cores { threads: 1 + seed as usize % 2, chunk: 2 };
            let options = delays::Options { delays, test_always: false, from_scratch, cores };
            let mut engine = Delays::new(ObservedPushdown::new(Compiled::new(model), 1, 1), options);
            let mut budget = Budget::unlimited();
            while let Some(bound) = engine.next_bound().filter(|bound| !bound.exceeds(&[MOST as u32])) {
                let round = tepui_core::Engine::explore(&mut engine, &mut budget).unwrap();
                let &[rounds, delays] = bound.amounts() else { panic!("{bound}") };
                let expected = &grid.cells[rounds as usize][delays as usize];
                let place = format!("seed {seed} at {bound}, {options:?}");
                assert_eq!(round.states, expected.len() as u64, "{place}");
                assert_eq!(
                    engine.views(false, &mut Budget::unlimited()),
                    shown[rounds as usize][delays as usize],
                    "{place}"
                );
            }
        }
    });
    let exact: u64 = tallies.iter().sum();
    println!("{exact} of {count} systems compared");
    assert!(exact * 2 > count, "only {exact} of {count} systems could be compared");
}

/// The bounds of a violation are among the smallest, and its trace keeps to them.
#[test]
fn violations_are_found_at_smallest_bounds() {
    let draw = |seed: u64| small_model(&mut fastrand::Rng::with_seed(seed ^ 0xb0b), shape_of(seed));
    let (count, tallies) = for_each_model(250, draw, |model, seed, found: &mut u64| {
        let grid = oracle::round_robin(model, MOST, MOST, CAP);
        for (prove, limit) in [(true, vec![MOST as u32]), (false, vec![MOST as u32, 3])] {
            let bound_limit = Some(limit.clone());
            let options = Options { engine: &DELAYS, prove, bound_limit, ..Options::default() };
            let outcome = verify(model, &options, &Budget::unlimited()).unwrap();
            for (property, answer) in model.properties().iter().zip(&outcome.properties) {
                let Verdict::Unsafe(refuted) = &answer.verdict else {
                    let within = |&(r, d): &(usize, usize)| r <= MOST && d <= limit[limit.len() - 1] as usize;
                    let missed = !prove && grid.exact && grid.first_violation(property).iter().any(within);
                    assert!(!missed, "seed {seed}: {} is not found", answer.name);
                    continue;
                };
                *found += 1;
                let bound = refuted.bound().unwrap();
                let &[rounds, delays] = bound.amounts() else { panic!("{bound}") };
                let smallest = grid.first_violation(property);
                assert!(
                    !grid.exact || smallest.contains(&(rounds as usize, delays as usize)),
                    "seed {seed}: {bound}, {smallest:?}"
                );
                tepui_check::pushdown::replay(model, pushdown_trace(refuted.trace())).unwrap();
            }
        }
    });
    assert!(tallies.iter().sum::<u64>() > count / 2);
}

/// Three threads that update one shared variable, each in its own way; there is nothing else in a state.
struct Updates {
    rules: Vec<Vec<(u32, u32)>>,
}

impl System for Updates {
    type News = ();

    fn threads(&self) -> usize {
        self.rules.len()
    }

    fn fields(&self) -> Vec<u32> {
        vec![2]
    }

    fn initial(&mut self) -> Vec<u32> {
        vec![0]
    }

    fn is_interned(&self, _: &[u32]) -> bool {
        true
    }

    fn intern(&mut self, _: &[u32], _: &mut Budget) -> Result<(), Stop> {
        Ok(())
    }

    fn steps(&self, thread: ThreadId, row: &[u32], _: &mut Vec<u32>, found: &mut impl FnMut(&[u32], ThreadId)) -> bool {
        let enabled = self.rules[thread.index()].iter().filter(|rule| rule.0 == row[0]);
        enabled.map(|&(_, to)| found(&[to], thread)).count() > 0
    }

    fn bytes(&self) -> u64 {
        0
    }
}

impl Observed for Updates {
    type Proof = Evidence;

    fn view_fields(&self) -> Vec<u32> {
        vec![2]
    }

    fn prepare(&mut self, _: &mut Budget) -> Result<(), Stop> {
        Ok(())
    }

    fn view(&self, row: &[u32], view: &mut [u32]) {
        view[0] = row[0];
    }

    fn properties(&self) -> usize {
        1
    }

    fn violates(&self, _: usize, _: &[u32]) -> bool {
        false
    }

    /// All actions respect the view, which is the whole state: nothing is left to be tested.
    fn closed(
        &mut self,
        _: &PackedSet<ViewId>,
        _: usize,
        _: bool,
        _: &[bool],
        _: &Workers,
        _: &mut Budget,
    ) -> Result<Option<Evidence>, Stop> {
        let certificate =
            Certificate { model: Digest::of(b"updates"), properties: Vec::new(), lemmas: Vec::new(), regular: None };
        let because = "all actions respect the view".to_owned();
        Ok(Some(Evidence::new(certificate, because, "respect")))
    }

    fn list(&self, views: &PackedSet<ViewId>, _: bool, _: &Workers, _: &mut Budget) -> Vec<String> {
        let mut listed: Vec<_> = views.ids().map(|view| views.field(view, 0).to_string()).collect();
        listed.sort_unstable();
        listed
    }
}

impl Traced for Updates {
    type Trace = tepui_cert::Trace;

    fn trace(&self, _: usize, _: &[u32], _: &[PathStep], _: &mut Budget) -> Result<tepui_cert::Trace, Stop> {
        Err(Stop::GaveUp("nothing is violated".to_owned()))
    }
}

fn updates(delays: Option<u32>) -> Delays<Updates> {
    let system = Updates { rules: vec![vec![(0, 1)], vec![(0, 1)], vec![(0, 2)]] };
    let cores = Cores { threads: 2, chunk: 1 };
    Delays::new(system, delays::Options { delays, test_always: false, from_scratch: false, cores })
}

/// Johnson and Wahl, Example 8 and Table 1. A plateau of one delay is not enough there.
#[test]
fn a_system_that_is_no_pushdown_model() {
    for delays in 0..=4 {
        let mut engine = updates(Some(delays));
        for rounds in 0..=3 {
            let round = tepui_core::Engine::explore(&mut engine, &mut Budget::unlimited()).unwrap();
            assert_eq!(round.stopped, None);
            let expected: &[_] = match (rounds, delays) {
                (0, _) => &["0"],
                (_, 0..=1) => &["0", "1"],
                _ => &["0", "1", "2"],
            };
            assert_eq!(engine.views(false, &mut Budget::unlimited()), expected, "{rounds} rounds, {delays} delays");
        }
    }
    let query = Query { list_views: true, ..Query::new(vec!["p".to_owned()]) };
    let outcome = drive(&mut updates(None), &query, &mut Budget::unlimited());
    assert_eq!((outcome.status(), outcome.views.len()), (Status::Safe, 3));
    assert_eq!(outcome.cutoff.unwrap().amounts(), [2, 2]);
    let path: Vec<_> = outcome.iterations.iter().map(|it| it.bound.amounts().to_vec()).collect();
    assert_eq!(path, [[0, 0], [1, 0], [2, 0], [2, 1], [2, 2], [3, 2], [3, 3], [3, 4]]);
    assert_eq!(outcome.iterations.iter().filter(|it| it.tested).count(), 1);
}
