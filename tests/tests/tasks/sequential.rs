//! Sequential programs of asynchronous ones, compared with executions under the scheduler `dfs`, one by one.

use std::collections::{BTreeSet, HashSet};

use fastrand::Rng;
use tepui::{Options, Problem, SequentialForm, Verdict, scheduler};
use tepui_core::Budget;
use tepui_lang::boolean::{Mistake, Purpose, Sequential, sequentialize};
use tepui_model::program::Program;
use tepui_model::program::step::{Runner, Value};
use tepui_tests::dispatches::{Found, Limits, enumerate};
use tepui_tests::random_tasks::{Shape, tasks};

use super::{program, programs};

/// What a sequential program does in all ways: the values of the first few shared variables in the end, and what fails.
struct Ran {
    finals: BTreeSet<Vec<Value>>,
    violated: BTreeSet<String>,
    complete: bool,
}

fn run(program: &Program, shared: usize) -> Ran {
    let runner = Runner::new(program);
    let mut ran = Ran { finals: BTreeSet::new(), violated: BTreeSet::new(), complete: true };
    let mut open = runner.initial();
    let mut seen: HashSet<_> = open.iter().cloned().collect();
    while let Some(state) = open.pop() {
        if state.threads[0].is_empty() {
            ran.finals.insert(state.shared[..shared].to_vec());
        }
        for step in runner.steps_of(&state, 0) {
            if let Some(goal) = step.failed {
                let properties = program.properties(false);
                let property = properties.iter().find(|property| property.never.contains(&goal)).unwrap();
                ran.violated.insert(property.name.clone());
            } else if step.after.threads[0].len() > 12 || seen.len() > 60_000 {
                ran.complete = false;
            } else if seen.insert(step.after.clone()) {
                open.push(step.after);
            }
        }
    }
    ran
}

fn made(source: &Program, delays: u32, purpose: Purpose, mistake: Option<Mistake>) -> Program {
    let text = sequentialize(source, "random", Sequential { delays, purpose, mistake });
    let text = text.unwrap_or_else(|why| panic!("{why}"));
    program(&text.text)
}

pub(crate) fn depth_first(source: &Program, delays: u32) -> Found {
    let limits = Limits { delays, tasks: 10, frames: 5, states: 4_000 };
    enumerate(source, &*scheduler("dfs").unwrap(), limits)
}

/// Values that nobody has read yet are any.
fn is_known(finals: &BTreeSet<Vec<Value>>) -> bool {
    finals.iter().flatten().all(|value| value.known().is_some())
}

fn shape(seed: u64, asserts: bool) -> Shape {
    Shape {
        yields: !seed.is_multiple_of(4),
        waits: seed.is_multiple_of(3),
        recursion: seed.is_multiple_of(5),
        asserts,
        endless: false,
        values: 2,
    }
}

/// The values in the end are those of executions with at most so many delays.
#[test]
fn values_are_those_of_depth_first_exploration() {
    let (mut compared, mut several) = (0, 0);
    for seed in 0..programs(400) {
        let delays = match seed % 20 {
            0..=8 => 0,
            9..=17 => 1,
            _ => 2,
        };
        let text = tasks(&mut Rng::with_seed(seed), shape(seed, false));
        let source = program(&text);
        let (expected, ran) = (depth_first(&source, delays), run(&made(&source, delays, Purpose::Values, None), 1));
        if expected.complete && ran.complete && is_known(&expected.finals) && is_known(&ran.finals) {
            assert_eq!(ran.finals, expected.finals, "seed {seed}, {delays} delays\n{text}");
            compared += 1;
            several += usize::from(expected.finals.len() > 1);
        }
    }
    println!("{compared} compared, {several} with several values");
    assert!(compared > 250 && several > 50);
}

/// What fails is what fails with at most so many delays.
#[test]
fn violations_are_those_of_depth_first_exploration() {
    let (mut compared, mut violated) = (0, 0);
    for seed in 0..programs(300) {
        let delays = match seed % 20 {
            0..=9 => 0,
            10..=18 => 1,
            _ => 2,
        };
        let text = tasks(&mut Rng::with_seed(seed), shape(seed, true));
        let source = program(&text);
        let (expected, ran) = (depth_first(&source, delays), run(&made(&source, delays, Purpose::Violations, None), 1));
        if expected.complete && ran.complete {
            let names = |name: &String| name.replace('@', " at line ");
            let expected: BTreeSet<_> = expected.violated.keys().filter(|name| name.contains('@')).map(names).collect();
            assert_eq!(ran.violated, expected, "seed {seed}, {delays} delays\n{text}");
            compared += 1;
            violated += usize::from(!expected.is_empty());
        }
    }
    println!("{compared} compared, {violated} violated");
    assert!(compared > 150 && violated > 50);
}

/// The same with three and four delays, on small programs: each further round takes five to ten times longer.
#[test]
fn values_are_those_of_more_delays() {
    let (mut compared, mut several) = (0, 0);
    for seed in 0..programs(120) {
        let delays = 3 + u32::from(seed % 3 == 0);
        let text = tasks(&mut Rng::with_seed(seed), shape(seed, false));
        if text.len() > 420 {
            continue;
        }
        let source = program(&text);
        let expected = depth_first(&source, delays);
        if !expected.complete || !is_known(&expected.finals) {
            continue;
        }
        let ran = run(&made(&source, delays, Purpose::Values, None), 1);
        if ran.complete && is_known(&ran.finals) {
            assert_eq!(ran.finals, expected.finals, "seed {seed}, {delays} delays\n{text}");
            compared += 1;
            several += usize::from(expected.finals.len() > 1);
        }
    }
    println!("{compared} compared, {several} with several values");
    assert!(compared > 5, "{compared}");
}

/// Engines for threads answer for the one thread of the sequential program, and each of their traces is one of the asynchronous
/// program.
#[test]
fn engines_answer_for_sequential_programs() {
    let (mut answered, mut open, mut back) = (0, 0, 0);
    for seed in 0..programs(80) {
        let text = tasks(&mut Rng::with_seed(seed), shape(seed, true));
        let source = program(&text);
        let delays = u32::from(seed % 4 == 0);
        let expected = depth_first(&source, delays);
        let problem = Problem::from(source);
        let made = problem.sequential(delays, SequentialForm::Tepui).unwrap().text;
        let sequential = tepui::read("sequential.bp", made.as_bytes()).unwrap();
        let budget = Budget::unlimited().with_work(400_000);
        let outcome = tepui::verify(&sequential, &Options::default(), &budget).unwrap().outcome;
        for property in outcome.properties {
            let name = property.name.replace(" at line ", "@");
            let violated = expected.violated.contains_key(&name);
            let place = format!("seed {seed}: {name}\n{text}");
            match &property.verdict {
                Verdict::Safe(_) => assert!(!violated, "{place}"),
                Verdict::Unsafe(refuted) => {
                    assert!(violated || !expected.complete, "{place}");
                    let found = problem.schedule(delays, refuted.trace(), &Budget::unlimited());
                    let trace = found.unwrap_or_else(|error| panic!("{error}\n{place}\n{made}"));
                    let replayed = problem.replay(&trace, &|| false);
                    assert_eq!(replayed.unwrap_or_else(|why| panic!("{why}\n{place}")).property, name, "{place}");
                    back += 1;
                }
                Verdict::Unknown(_) => open += 1,
            }
            answered += 1;
        }
    }
    println!("{answered} answered, {open} open, {back} traces come back");
    assert!(answered > 80 && open * 4 < answered && back > 20);
}

/// As published: arguments are evaluated after the shared values were exchanged, so that they are read in the future.
#[test]
fn arguments_are_evaluated_before() {
    let source = program("decl g; void store(a) { g := a; } void main() { g := 1; post store(g); g := 0; }");
    let finals = |mistake| run(&made(&source, 0, Purpose::Values, mistake), 1).finals;
    let one = BTreeSet::from([vec![Value::Known(1)]]);
    assert_eq!(depth_first(&source, 0).finals, one);
    assert_eq!(finals(None), one);
    assert_ne!(finals(Some(Mistake::LateArguments)), one);
}

/// As published: a procedure that is called does not hand its round back, so that what comes after it is in the wrong round.
#[test]
fn rounds_are_handed_back() {
    let text =
        "decl g: 0..2; void p() { yield; g := 1; } void q() { g := (g + 1) % 3; } void main() { p(); post q(); }";
    let source = program(text);
    let finals = |mistake| run(&made(&source, 1, Purpose::Values, mistake), 1).finals;
    let expected = depth_first(&source, 1).finals;
    assert_eq!(expected, BTreeSet::from([vec![Value::Known(2)]]));
    assert_eq!(finals(None), expected);
    assert!(finals(Some(Mistake::RoundByValue)).contains(&vec![Value::Known(1)]));
}

/// Programs with a trap each.
#[test]
fn traps() {
    let cases = [
        (
            "a guess that is not checked is believed by nobody",
            0,
            false,
            "decl g; void a() { assert(!g); } void b() { skip; } void main() { post a(); post b(); }",
        ),
        (
            "a task that yields for ever keeps others out without a delay",
            0,
            false,
            "void forever() { while (1) { yield; } } void other() { assert(0); } \
             void main() { post forever(); post other(); }",
        ),
        (
            "and not with one",
            1,
            true,
            "void forever() { while (1) { yield; } } void other() { assert(0); } \
             void main() { post forever(); post other(); }",
        ),
        (
            "a child's failure does not hide its parent's",
            0,
            true,
            "decl g; void child() { assert(0) \"child\"; } void t() { post child(); assert(g); } void main() { post t(); }",
        ),
        (
            "what never ends has violations, too",
            0,
            true,
            "decl b; void ping() { assert(!b); post pong(); } void pong() { b := 1; post ping(); } void main() { post ping(); }",
        ),
    ];
    for (why, delays, expected, text) in cases {
        let source = program(text);
        let sequential = made(&source, delays, Purpose::Violations, None);
        let ran = run(&sequential, 0);
        assert_eq!(ran.violated.iter().any(|name| !name.contains("child")), expected, "{why}: {:?}", ran.violated);
    }
}

#[test]
fn what_cannot_be_made_sequential_is_said() {
    let refused = |text: &str| {
        let sequential = Sequential { delays: 1, purpose: Purpose::Violations, mistake: None };
        sequentialize(&program(text), "none", sequential).unwrap_err()
    };
    assert!(refused("tasks fifo; void t() { } void main() { post t(); }").contains("nothing to delay"));
    assert!(refused("decl g; void t() { enforce g; } void main() { post t(); }").contains("enforces"));
    assert!(refused("void main() { skip; }").contains("no tasks"));
}
