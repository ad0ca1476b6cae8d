//! Families with known answers: deep bugs, long plateaus, views that grow with the number of threads.

use tepui::{CLOSURE, CONTEXTS, Cores, DELAYS, Facts, Options, SYMBOLIC};
use tepui_core::{Budget, Outcome, Status, Verdict};
use tepui_model::pushdown::Model;
use tepui_tests::facade::{self_check, verify};
use tepui_tests::systems::{never, rule, state, system, thread};

fn run(model: &Model, options: &Options, place: &str) -> Outcome {
    let mut outcome = verify(model, options, &Budget::unlimited()).unwrap();
    self_check(model, &mut outcome).unwrap_or_else(|why| panic!("{place}: {why}"));
    outcome
}

fn with(engine: &'static Facts) -> Options {
    Options { engine, cores: Cores::new(1), ..Options::default() }
}

/// n threads that push in three shared phases and pop in one.
fn climbers(count: usize) -> Model {
    let rules = || {
        vec![
            rule(0, 1, 1, &[2, 1]),
            rule(1, 2, 2, &[3, 1]),
            rule(2, 3, 0, &[2]),
            rule(0, 2, 0, &[]),
            rule(0, 1, 0, &[]),
        ]
    };
    let threads = (0..count).map(|number| thread(&format!("climber{number}"), 3, rules())).collect();
    let stacks: Vec<&[u32]> = (0..count).map(|_| &[1_u32][..]).collect();
    system(3, threads, state(0, &stacks))
}

#[test]
fn climbers_have_the_known_number_of_views() {
    for (count, views) in [(2, 20), (3, 73), (4, 254), (5, 859), (6, 2852)] {
        let model = climbers(count);
        for (engine, symmetry) in [(&CLOSURE, false), (&CLOSURE, true), (&SYMBOLIC, true)] {
            let outcome = run(&model, &Options { symmetry, ..with(engine) }, &format!("{count} climbers, {engine:?}"));
            assert_eq!(outcome.status(), Status::Safe);
            assert_eq!(outcome.iterations.last().unwrap().views, views, "{count} climbers, {engine:?}, {symmetry}");
        }
    }
}

/// Thread 1 pushes m symbols, then pops one for each time that thread 2 hands over; the bug is at the bottom.
fn countdown(height: u32) -> Model {
    // Shared states: 0 pushing, 1 the first may pop, 2 the second may move, 3 bad. Symbol 1 is what is pushed; the symbols
    // above it count while pushing.
    let mut down = vec![rule(0, 1, 1, &[1]), rule(1, 1, 2, &[]), rule(1, 0, 3, &[])];
    down.extend((2..=height).map(|symbol| rule(0, symbol, 0, &[symbol + 1, 1])));
    down.push(rule(0, height + 1, 0, &[1]));
    let second = thread("hand", 1, vec![rule(2, 1, 1, &[1])]);
    let model = system(4, vec![thread("down", height + 1, down), second], state(0, &[&[2], &[1]]));
    model.with_properties(vec![never(Some(3), &[None, None])]).unwrap()
}

#[test]
fn a_bug_at_the_bottom_of_a_deep_stack_is_found() {
    for height in [1, 2, 3, 7, 20, 60] {
        let model = countdown(height);
        for engine in [&CLOSURE, &DELAYS, &CONTEXTS] {
            let place = format!("countdown from {height}, {engine:?}");
            let outcome = run(&model, &with(engine), &place);
            let Verdict::Unsafe(refuted) = &outcome.properties[0].verdict else { panic!("{place}") };
            assert_eq!(refuted.trace().contexts(), 2 * height + 1, "{place}");
        }
    }
}

/// Each phase moves one stack to the other and doubles it; the bug comes after so many phases.
fn doubling(phases: u32) -> Model {
    // Three shared states a phase: the source pops, the target pushes, the target pushes again.
    let mut rules = [Vec::new(), Vec::new()];
    for phase in 0..phases {
        let (source, base) = ((phase % 2) as usize, 3 * phase);
        rules[source].extend([rule(base, 1, base + 1, &[]), rule(base, 0, base + 3, &[])]);
        for (from, to) in [(base + 1, base + 2), (base + 2, base)] {
            rules[1 - source].extend([rule(from, 1, to, &[1, 1]), rule(from, 0, to, &[1])]);
        }
    }
    let [left, right] = rules;
    let threads = vec![thread("left", 1, left), thread("right", 1, right)];
    let model = system(3 * phases + 1, threads, state(0, &[&[1], &[]]));
    model.with_properties(vec![never(Some(3 * phases), &[None, None])]).unwrap()
}

#[test]
fn a_bug_after_ever_longer_plateaus_is_found() {
    for phases in 1..=6 {
        let model = doubling(phases);
        for engine in [&CLOSURE, &DELAYS, &CONTEXTS] {
            let place = format!("doubling, {phases} phases, {engine:?}");
            let outcome = run(&model, &with(engine), &place);
            assert_eq!(outcome.status(), Status::Unsafe, "{place}");
        }
    }
}

/// Where no depth will do, the answer is unknown, and says which views fail.
#[test]
fn what_cannot_be_closed_is_named() {
    // Two stacks that count each other: the shared state 1 with an empty left and a full right stack is not reachable,
    // but no view of any depth knows that the heights are equal.
    let left = thread(
        "left",
        1,
        vec![rule(0, 0, 1, &[1]), rule(0, 1, 1, &[1, 1]), rule(0, 1, 2, &[1]), rule(2, 1, 3, &[]), rule(2, 0, 4, &[])],
    );
    let right =
        thread("right", 1, vec![rule(1, 0, 0, &[1]), rule(1, 1, 0, &[1, 1]), rule(3, 1, 2, &[]), rule(4, 1, 5, &[])]);
    let model = system(6, vec![left, right], state(0, &[&[], &[]]));
    let model = model.with_properties(vec![never(Some(5), &[None, None])]).unwrap();
    let outcome = run(&model, &Options { bound_limit: Some(vec![12]), ..with(&CLOSURE) }, "counters");
    assert_eq!(outcome.status(), Status::Unknown);
    assert!(outcome.obstacles.len() >= 2, "{:?}", outcome.obstacles);
    assert!(outcome.obstacles[1].contains("may lie below"), "{:?}", outcome.obstacles);
}
