//! Schedulers and delays, compared with executions on the interpreter, one by one.

use fastrand::Rng;
use tepui::{DISPATCH, Options, Problem, Schedulers, scheduler};
use tepui_core::{Budget, Status, Verdict};
use tepui_lang::boolean::DEADLOCK;
use tepui_tests::dispatches::{Bounding, Limits, enumerate, schedules};
use tepui_tests::random_tasks::{Shape, tasks};

use super::{program, programs};

/// n tasks of so many segments.
pub(crate) fn segments(tasks: usize, each: usize) -> String {
    let body = "skip; ".to_owned() + &"yield; skip; ".repeat(each - 1);
    format!("void t() {{ {body}}}\nvoid main() {{ {}}}\n", "post t(); ".repeat(tasks))
}

/// How many schedules there are: delays of round robin grow with a power of the length, preemptions with the number of tasks.
#[test]
fn delays_and_preemptions_are_counted() {
    let expected: &[(usize, [u64; 3], [u64; 3])] =
        &[(2, [5, 17, 35], [2, 8, 26]), (3, [9, 53, 195], [6, 60, 402]), (4, [13, 105, 543], [24, 456, 5_280])];
    let rr = scheduler("rr").unwrap();
    for (count, delays, preemptions) in expected {
        let program = program(&segments(*count, 4));
        let delayed = [1, 2, 3].map(|most| schedules(&program, Bounding::Delays(&*rr, most)));
        assert_eq!(delayed, *delays, "{count} tasks");
        let preempted = [0, 1, 2].map(|most| schedules(&program, Bounding::Preemptions(most)));
        assert_eq!(preempted, *preemptions, "{count} tasks");
    }
}

/// Without a bound each order is produced once: `(nm)! / (m!)^n` of n tasks with m segments.
#[test]
fn every_order_is_produced_once() {
    for (count, all) in [(2, 6), (3, 90)] {
        let program = program(&segments(count, 2));
        for name in ["rr", "rr-reverse", "dfs", "fifo", "lifo"] {
            let scheduler = scheduler(name).unwrap();
            assert_eq!(schedules(&program, Bounding::Delays(&*scheduler, 1_000)), all, "{name}");
        }
        assert_eq!(schedules(&program, Bounding::Preemptions(1_000)), all);
    }
}

/// With I dispatches there are at most `binom(I + K, K)` ways to spend at most K delays.
#[test]
fn what_delays_cost_is_bounded() {
    let binomial = |n: u64, k: u64| (0..k).fold(1_u64, |product, i| product * (n - i) / (i + 1));
    let rr = scheduler("rr").unwrap();
    for count in 2..=4 {
        let dispatches = 4 * count as u64;
        for most in 0..=3 {
            let found = schedules(&program(&segments(count, 4)), Bounding::Delays(&*rr, most));
            assert!(found <= binomial(dispatches + u64::from(most), u64::from(most)));
        }
    }
}

/// The engine finds what executions one by one find, with the same number of delays, for each scheduler.
#[test]
fn the_fewest_delays_are_found() {
    let (mut compared, mut delayed, mut safe) = (0, 0, 0);
    for seed in 0..programs(250) {
        let mut rng = Rng::with_seed(seed);
        let values = if rng.bool() { 2 } else { 3 };
        let shape =
            Shape { yields: true, waits: seed % 2 == 0, recursion: false, asserts: true, endless: false, values };
        let text = tasks(&mut rng, shape);
        let program = program(&text);
        for name in ["rr", "rr-reverse", "dfs", "fifo", "lifo", "priority"] {
            let scheduler = scheduler(name).unwrap();
            let limits = Limits { delays: 12, tasks: 12, frames: 4, states: 3_000 };
            let found = enumerate(&program, &*scheduler, limits);
            if !found.complete {
                continue;
            }
            let schedulers = Schedulers(vec![scheduler.into()]);
            let options = Options { engine: &DISPATCH, schedulers, self_check: true, ..Options::default() };
            let problem =
                Problem::from(program.clone()).asking(&tepui::Reading { deadlock: true, ..Default::default() });
            let problem = problem.unwrap();
            let outcome = tepui::verify(&problem, &options, &Budget::unlimited().with_work(2_000_000)).unwrap().outcome;
            for property in &outcome.properties {
                let expected = found.violated.get(&property.name).copied();
                let place = format!("seed {seed}, {name}, {}: {:?}\n{text}", property.name, property.verdict);
                compared += 1;
                match &property.verdict {
                    Verdict::Unsafe(refuted) => {
                        let amounts = refuted.bound().map(|bound| bound.amounts()[1]);
                        assert_eq!(amounts, expected, "{place}");
                        delayed += usize::from(expected > Some(0));
                    }
                    Verdict::Safe(_) => {
                        assert_eq!(expected, None, "{place}");
                        safe += 1;
                    }
                    Verdict::Unknown(_) => assert!(property.name == DEADLOCK && expected.is_none(), "{place}"),
                }
            }
            assert!(outcome.status() != Status::Unknown || found.violated.is_empty(), "seed {seed}");
        }
    }
    println!("{compared} answers, {delayed} with delays, {safe} safe");
    assert!(compared > 1_000 && delayed > 20 && safe > 500);
}
