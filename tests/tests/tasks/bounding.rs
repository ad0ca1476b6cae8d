//! Ways to bound a search: executions and states that are counted, compared with executions one by one.

use fastrand::Rng;
use tepui::{Bounding, CountLimits, Counted, Dispatcher, Options, Problem, Schedulers, Status, scheduler};
use tepui_core::Budget;
use tepui_tests::dispatches::{self, Limits, enumerate, schedules};
use tepui_tests::random_tasks::{Shape, tasks};

use super::delays::segments;
use super::{program, programs};

fn counted(text: &str, bounding: &Bounding, bound: u32) -> Counted {
    let limits = CountLimits { bound, tasks: 16, dispatches: 60 };
    let problem = Problem::from(program(text));
    problem.executions(bounding, limits, &Budget::unlimited().with_work(2_000_000)).unwrap()
}

fn executions(text: &str, bounding: &Bounding, bound: u32) -> Vec<u128> {
    counted(text, bounding, bound).rows.iter().map(|row| row.executions).collect()
}

/// Executions of n tasks with four segments each: delays of `rr` from 0, preemptions, and all of them.
#[test]
fn executions_are_counted() {
    let rr = Bounding::Delays(scheduler("rr").unwrap());
    let expected: &[(usize, [u128; 4], [u128; 4])] = &[
        (2, [1, 5, 17, 35], [2, 8, 26, 44]),
        (3, [1, 9, 53, 195], [6, 60, 402, 1_752]),
        (4, [1, 13, 105, 543], [24, 456, 5_280, 42_240]),
        (5, [1, 17, 173, 1_139], [120, 3_720, 66_720, 839_520]),
        (6, [1, 21, 257, 2_047], [720, 33_120, 853_920, 15_477_120]),
    ];
    for (count, delays, preemptions) in expected {
        let text = segments(*count, 4);
        assert_eq!(executions(&text, &rr, 3), delays, "{count} tasks");
        assert_eq!(executions(&text, &Bounding::Preemptions, 3), preemptions, "{count} tasks");
    }
    for (count, all) in [(2, 70), (3, 34_650), (4, 63_063_000)] {
        let most = 4 * count as u32;
        for bounding in [&Bounding::Preemptions, &Bounding::Contexts, &Bounding::Depth] {
            // The first context is that of main.
            assert_eq!(executions(&segments(count, 4), bounding, most + 1).last(), Some(&all), "{count} tasks");
        }
    }
}

/// Executions are counted as they are enumerated.
#[test]
fn counts_are_those_of_an_enumeration() {
    for (count, each) in [(2, 2), (2, 3), (3, 2), (4, 1)] {
        let text = segments(count, each);
        for name in ["rr", "rr-reverse", "dfs", "fifo", "lifo"] {
            let own = scheduler(name).unwrap();
            let expected: Vec<_> = (0..=5)
                .map(|most| u128::from(schedules(&program(&text), dispatches::Bounding::Delays(&*own, most))))
                .collect();
            assert_eq!(executions(&text, &Bounding::Delays(own), 5), expected, "{name}\n{text}");
        }
        let expected: Vec<_> = (0..=3)
            .map(|most| u128::from(schedules(&program(&text), dispatches::Bounding::Preemptions(most))))
            .collect();
        assert_eq!(executions(&text, &Bounding::Preemptions, 3), expected);
    }
}

/// What is reached grows with each bound, and without one it is the same in all ways. Violations are found with as many delays
/// as in executions one by one.
#[test]
fn all_ways_reach_the_same_in_the_end() {
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..programs(200) {
        let mut rng = Rng::with_seed(seed);
        let shape =
            Shape { yields: true, waits: seed % 2 == 0, recursion: false, asserts: true, endless: false, values: 2 };
        let text = tasks(&mut rng, shape);
        let names = ["rr", "dfs", "lifo"];
        let delays = names.map(|name| Bounding::Delays(scheduler(name).unwrap()));
        let all: Vec<_> =
            [Bounding::Preemptions, Bounding::Contexts, Bounding::Depth].into_iter().chain(delays).collect();
        let found: Vec<_> = all.iter().map(|bounding| counted(&text, bounding, 40)).collect();
        if found.iter().any(|counted| counted.cut || counted.stopped.is_some()) {
            continue;
        }
        for counted in &found {
            assert!(counted.rows.is_sorted_by_key(|row| row.states), "{text}");
            assert_eq!(
                counted.rows.last().unwrap().states,
                found[0].rows.last().unwrap().states,
                "seed {seed}\n{text}"
            );
            let names = |counted: &Counted| counted.violated.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
            assert_eq!(names(counted), names(&found[0]), "seed {seed}\n{text}");
            compared += 1;
        }
        for (name, counted) in names.iter().zip(&found[3..]) {
            let limits = Limits { delays: 40, tasks: 16, frames: 4, states: 3_000 };
            let slow = enumerate(&program(&text), &*scheduler(name).unwrap(), limits);
            for (property, bound) in counted.violated.iter().filter(|_| slow.complete) {
                assert_eq!(slow.violated.get(property), Some(bound), "seed {seed}, {name}\n{text}");
                violated += 1;
            }
        }
    }
    println!("{compared} compared, {violated} violations");
    assert!(compared > 300 && violated > 100, "{compared} {violated}");
}

/// What happens in K contexts of n tasks happens with (n - 1) K delays of `rr`. Preemptions are no such bound: four tasks that must
/// run in the reverse order need none of them, and six delays.
#[test]
fn contexts_are_within_delays() {
    let mut compared = 0;
    for seed in 0..programs(200) {
        let mut rng = Rng::with_seed(seed);
        let count = rng.u32(2..=3);
        let mut text = "decl a, b;\n".to_owned();
        for task in 0..count {
            let statements = ["a := 1; ", "a := b; ", "b := !a; ", "a := a != b; ", "yield; ", "yield; "];
            let body: String = (0..rng.u32(3..7)).map(|_| *rng.choice(&statements).unwrap()).collect();
            let checked = ["!(a & b)", "a | b", "a != b"][rng.usize(..3)];
            text += &format!("void t{task}() {{ {body}assert({checked}); }}\n");
        }
        let posts: String = (0..count).map(|task| format!("post t{task}(); ")).collect();
        text += &format!("void main() {{ {posts}}}\n");
        let rr = counted(&text, &Bounding::Delays(scheduler("rr").unwrap()), 30);
        for (property, contexts) in counted(&text, &Bounding::Contexts, 16).violated {
            let delays = rr.violated.iter().find(|(name, _)| *name == property).unwrap().1;
            // The first context is that of main, which does not come back.
            assert!(delays <= (count - 1) * (contexts - 1), "{property}: {contexts} contexts, {delays} delays\n{text}");
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
    let reversed = "decl n: 0..4;\n\
        void t0() { assume(n = 3); assert(0); }\nvoid t1() { assume(n = 2); n := 3; }\n\
        void t2() { assume(n = 1); n := 2; }\nvoid t3() { n := 1; }\n\
        void main() { post t0(); post t1(); post t2(); post t3(); }\n";
    assert_eq!(counted(reversed, &Bounding::Preemptions, 3).violated[0].1, 0);
    for name in ["rr", "dfs", "fifo"] {
        assert_eq!(counted(reversed, &Bounding::Delays(scheduler(name).unwrap()), 9).violated[0].1, 6, "{name}");
    }
    assert_eq!(counted(reversed, &Bounding::Delays(scheduler("lifo").unwrap()), 9).violated[0].1, 0);
}

/// A bag offers every task, and finds what schedulers find. One that drops tasks finds less, and proves nothing by that.
#[test]
fn bags_offer_every_task() {
    let verify = |text: &str, name: &str| {
        let schedulers = Schedulers(vec![Dispatcher::named(name).unwrap()]);
        let options = Options { engine: &tepui::DISPATCH, schedulers, self_check: true, ..Options::default() };
        let budget = Budget::unlimited().with_work(500_000);
        tepui::verify(&Problem::from(program(text)), &options, &budget).unwrap().outcome.status()
    };
    let (mut unsafe_ones, mut less) = (0, 0);
    for seed in 0..programs(150) {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape {
            yields: true,
            waits: seed % 2 == 0,
            recursion: false,
            asserts: true,
            endless: seed % 3 == 0,
            values: 2,
        };
        let text = tasks(&mut rng, shape);
        let (any, bounded, fifo) = (verify(&text, "bag"), verify(&text, "bounded-bag:1"), verify(&text, "fifo"));
        if any != Status::Unknown && fifo != Status::Unknown {
            assert_eq!(any, fifo, "seed {seed}\n{text}");
        }
        unsafe_ones += usize::from(any == Status::Unsafe);
        less += usize::from(any == Status::Unsafe && bounded == Status::Unknown);
        assert!(bounded == any || bounded == Status::Unknown || any == Status::Unknown, "seed {seed}\n{text}");
    }
    println!("{unsafe_ones} unsafe, {less} of them not found where tasks are dropped");
    assert!(unsafe_ones > 30, "{unsafe_ones}");
    let twice = "decl n: 0..2;\nvoid t() { n := n + 1; assert(n < 2); }\nvoid main() { post t() * 2; }\n";
    assert_eq!(verify(twice, "bag"), Status::Unsafe);
    assert_eq!(verify(twice, "bounded-bag:1"), Status::Unknown);
    assert_eq!(verify(twice, "bounded-bag:2"), Status::Unsafe);
}
