//! Threads that wait: a search that explores only some threads at a state against one that explores all.
//!
//! Random programs are compared: 2,000, or as many as the environment variable `TEPUI_RANDOM_PROGRAMS` says. So are as many
//! random pushdown systems, and with the slow oracle. `TEPUI_RANDOM_SEED` is the first seed.

#![allow(clippy::unwrap_used)]

use fastrand::Rng;
use tepui::{Answer, CLOSURE, Cores, Options, PartialOrder, Problem, Reading};
use tepui_core::{Budget, Limit, Outcome, Reason, Status, Stop, Verdict};
use tepui_lang::boolean::read_program;
use tepui_lang::source::Source;
use tepui_tests::facade::{program_certificate, self_check, verify};
use tepui_tests::oracle::{Cap, reachable, violates};
use tepui_tests::parts::of_parts;
use tepui_tests::random_programs::{Apart, apart};

/// How much work a program may cost; few need it.
const WORK: u64 = 200_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

fn answer(random: &Apart, options: &Options) -> Answer {
    let source = Source::new("random.bp", random.text.as_bytes());
    let program = read_program(&source, None, &random.labels).map_err(|errors| format!("{errors:?}"));
    let program = program.unwrap_or_else(|errors| panic!("{}\n{errors}", random.text)).program;
    let reading = Reading {
        labels: random.labels.clone(),
        deadlock: random.deadlock,
        max_threads: Some(5),
        ..Reading::default()
    };
    let problem = Problem::from(program).asking(&reading).unwrap();
    let mut answer = tepui::verify(&problem, options, &Budget::unlimited().with_work(WORK)).unwrap();
    problem.self_check(&mut answer.outcome).unwrap_or_else(|why| panic!("{why}\n{}", random.text));
    answer
}

fn is_limited(answer: &Answer) -> bool {
    let limits = [Limit::Work, Limit::Bound];
    answer.outcome.properties.iter().any(|property| match &property.verdict {
        Verdict::Unknown(Reason::Limit(limit) | Reason::Untraced { stop: Stop::Limit(limit), .. }) => {
            limits.contains(limit)
        }
        _ => false,
    })
}

/// The states and views after each bound.
fn counted(answer: &Answer) -> Vec<(u64, u64)> {
    answer.outcome.iterations.iter().map(|iteration| (iteration.states, iteration.views)).collect()
}

#[test]
fn what_waits_hides_nothing() {
    let first = number("TEPUI_RANDOM_SEED", 0);
    let count = number("TEPUI_RANDOM_PROGRAMS", 2_000);
    let (mut compared, mut reduced, mut calling, mut violated, mut states) = (0, 0, 0, 0, [0, 0]);
    for seed in first..first + count {
        let random = apart(&mut Rng::with_seed(seed));
        let partial_order = PartialOrder::Always;
        let plain = Options { engine: &CLOSURE, cores: Cores::new(1), partial_order, ..Options::default() };
        let full = answer(&random, &Options { partial_order: PartialOrder::Off, ..plain.clone() });
        let waiting = answer(&random, &plain);
        if is_limited(&full) || is_limited(&waiting) {
            continue;
        }
        if seed % 4 == 0 {
            // Neither numbers nor choices nor rounds depend on who does the work.
            for (one, partial_order) in [(&full, PartialOrder::Off), (&waiting, PartialOrder::Always)] {
                let cores = Cores { threads: 2, chunk: 1 };
                let two = answer(&random, &Options { cores, partial_order, ..plain.clone() });
                assert_eq!(program_certificate(&two), program_certificate(one), "seed {seed}");
                assert_eq!(counted(&two), counted(one), "seed {seed}");
            }
        }
        let shown =
            || format!("seed {seed}, labels {:?}, deadlock {}\n{}", random.labels, random.deadlock, random.text);
        for (one, other) in full.outcome.properties.iter().zip(&waiting.outcome.properties) {
            assert_eq!(one.verdict.status(), other.verdict.status(), "{}: {:?} {}", one.name, other.verdict, shown());
            violated += usize::from(one.verdict.status() == Status::Unsafe);
        }
        let about = |answer: &Answer| answer.about.clone().map(|about| (about.unreached, about.vacuous));
        assert_eq!(about(&full), about(&waiting), "{}", shown());
        compared += 1;
        if waiting.outcome.reduced {
            reduced += 1;
            calling += usize::from(random.text.contains(" := g"));
            let last = |answer: &Answer| answer.outcome.iterations.last().map_or(0, |last| last.states);
            states = [states[0] + last(&full), states[1] + last(&waiting)];
        }
    }
    println!("{compared} compared, {reduced} reduced ({calling} with calls), {violated} violated, {states:?} states");
    assert!(compared * 10 > count * 9, "{compared} of {count}");
    assert!(reduced * 3 > compared, "only {reduced} of {compared} programs have threads that wait");
    assert!(calling * 10 > count as usize, "only {calling} programs with calls");
    assert!(violated * 8 > count as usize, "only {violated} violations");
}

#[test]
fn rules_that_wait_hide_nothing() {
    let first = number("TEPUI_RANDOM_SEED", 0);
    let count = number("TEPUI_RANDOM_PROGRAMS", 2_000);
    let (mut compared, mut reduced, mut growing, mut violated, mut open, mut states) = (0, 0, 0, 0, 0, [0, 0]);
    for seed in first..first + count {
        let model = of_parts(&mut Rng::with_seed(seed));
        let (found, all) = reachable(&model, Cap { height: 5, states: 3_000 });
        let answer = |partial_order: PartialOrder, cores: Cores, symmetry: bool| {
            let options = Options { engine: &CLOSURE, cores, symmetry, partial_order, ..Options::default() };
            let mut outcome = verify(&model, &options, &Budget::unlimited().with_work(WORK)).unwrap();
            self_check(&model, &mut outcome).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
            outcome
        };
        let symmetry = seed % 3 > 0;
        let full = answer(PartialOrder::Off, Cores::new(1), symmetry);
        let waiting = answer(PartialOrder::Always, Cores::new(1), symmetry);
        if seed % 4 == 0 {
            // Where work is limited, the end depends on how large the chunks are, and on nothing else.
            let [one, two] = [1, 2].map(|threads| {
                let outcome = answer(PartialOrder::Always, Cores { threads, chunk: 1 }, symmetry);
                outcome.iterations.iter().map(|iteration| iteration.states).collect::<Vec<_>>()
            });
            assert_eq!(one, two, "seed {seed}");
        }
        for (number, (one, other)) in full.properties.iter().zip(&waiting.properties).enumerate() {
            let is_violated = found.iter().any(|state| violates(&model.properties()[number], state));
            for (status, of) in [(one.verdict.status(), "full"), (other.verdict.status(), "waiting")] {
                match status {
                    Status::Safe => assert!(!is_violated, "seed {seed}: {} {of}", one.name),
                    Status::Unsafe => assert!(is_violated || !all, "seed {seed}: {} {of}", one.name),
                    Status::Unknown => open += 1,
                }
            }
            violated += usize::from(other.verdict.status() == Status::Unsafe);
        }
        compared += 1;
        if waiting.reduced {
            reduced += 1;
            growing += usize::from(!all);
            let last = |outcome: &Outcome| outcome.iterations.last().map_or(0, |last| last.states);
            states = [states[0] + last(&full), states[1] + last(&waiting)];
        }
    }
    println!(
        "{compared} compared, {reduced} reduced ({growing} growing), {violated} violated, {open} open, {states:?} states"
    );
    assert!(reduced * 4 > compared, "only {reduced} of {compared} systems have threads that wait");
    assert!(growing * 50 > compared, "only {growing} systems with stacks that grow");
    assert!(violated * 4 > compared, "only {violated} violations");
    assert!(open * 10 < compared, "{open} open");
}
