//! What is claimed of queues: what becomes of claims where only a summary is known, against all queues that it stands for.

use std::collections::BTreeMap;

use fastrand::Rng;
use tepui::{AUTO, Budget, CLOSURE, COVER, Options as Settings, Outcome, Problem, QUEUES, Reading, Status};
use tepui_cert::queue::language::{Claims, Fate, Known};
use tepui_cert::queue::{self as cert};
use tepui_engines::queue::summary::{Order, Precision, Queue};
use tepui_lang::p::claims::{Unclear, read_claim};
use tepui_lang::p::{Options, read};
use tepui_lang::source::Source;
use tepui_model::queue::Program;
use tepui_model::queue::formula::Formula;
use tepui_tests::random_p;

const PROGRAM: &str = "event eA; event eB; event eC; event eD;\n\
                       machine Main { start state I { ignore eA, eB, eC, eD; } }";

fn program() -> Program {
    read(&[Source::new("x.p", PROGRAM.as_bytes())], Options::default()).unwrap().tests.remove(0).program
}

fn written(precision: Precision, queue: &Queue) -> (cert::Precision, cert::Queue) {
    let order = match precision.order {
        Order::Bag => cert::Order::Bag,
        Order::List => cert::Order::List,
        Order::Ends => cert::Order::Ends,
    };
    let counts = queue.counts.iter().map(|(letter, count)| (*letter, *count)).collect();
    let queue = cert::Queue { prefix: queue.prefix.clone(), marks: queue.marks.clone(), counts };
    (cert::Precision { prefix: Some(precision.prefix), order, cap: precision.cap }, queue)
}

/// All words up to a length; letters are the events 2, 3 and 4.
fn words(length: usize) -> Vec<Vec<u32>> {
    let mut words = vec![Vec::new()];
    let mut last = words.clone();
    for _ in 0..length {
        last = last.iter().flat_map(|word| (2..5).map(move |letter| [&word[..], &[letter]].concat())).collect();
        words.extend(last.iter().cloned());
    }
    words
}

fn holds(formula: &Formula, word: &[u32]) -> bool {
    formula.holds(word.iter().copied())
}

/// What the definition says, for queues up to a length.
fn fate(formula: &Formula, changes: impl Iterator<Item = (Vec<u32>, Vec<u32>)>) -> Fate {
    let mut fate = Fate::default();
    for (before, after) in changes.filter(|(before, _)| holds(formula, before)) {
        assert!(holds(formula, &before));
        fate.may_hold |= holds(formula, &after);
        fate.may_fail |= !holds(formula, &after);
    }
    fate
}

#[test]
fn claims_are_decided_as_defined() {
    let (program, mut rng) = (program(), Rng::with_seed(18));
    let all = words(7);
    let mut compared = 0;
    for precision in [
        Precision { prefix: 0, order: Order::Bag, cap: 2 },
        Precision { prefix: 0, order: Order::List, cap: 1 },
        Precision { prefix: 1, order: Order::List, cap: 2 },
        Precision::ENDS,
        Precision { prefix: 1, order: Order::Ends, cap: 3 },
    ] {
        let mut groups: BTreeMap<Queue, Vec<&Vec<u32>>> = BTreeMap::new();
        all.iter().for_each(|word| groups.entry(precision.of(word)).or_default().push(word));
        let short: Vec<_> = groups.iter().filter(|(_, words)| words[0].len() <= 3).collect();
        for _ in 0..150 {
            let text = format!("Main: {}", random_p::formula(&mut rng, 2));
            let Ok(claim) = read_claim(&text, &program) else { continue };
            let formulas = [&claim.formula];
            let claims = Claims { formulas: &formulas, event: &|letter| letter };
            let (queue, words) = short[rng.usize(..short.len())];
            let (known_as, known) = written(precision, queue);
            let before = Known { precision: &known_as, queue: &known };
            let letter = rng.u32(2..5);
            let longer = words.iter().map(|word| ((*word).clone(), [&word[..], &[letter]].concat()));
            assert_eq!(claims.push(before, letter), fate(&claim.formula, longer), "{text} {precision:?} {queue:?}");
            let deferred = rng.u32(2..6);
            let takes = |letter: u32| letter != deferred;
            for (letter, left) in precision.take(queue, &takes) {
                let (_, after) = written(precision, &left);
                let after = Known { precision: &known_as, queue: &after };
                let shorter = words.iter().filter_map(|word| {
                    let place = word.iter().position(|letter| takes(*letter))?;
                    let mut rest = (*word).clone();
                    (rest.remove(place) == letter && precision.of(&rest) == left).then(|| ((*word).clone(), rest))
                });
                let (found, expected) = (claims.take(before, after, letter, &takes), fate(&claim.formula, shorter));
                // Where it would take too long, anything may be.
                if found != (Fate { may_hold: true, may_fail: true }) {
                    assert_eq!(found, expected, "{text} {precision:?} {queue:?} without {letter}: {left:?}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn claims_are_read() {
    let program = program();
    let right = [
        "Main: #eA <= 1",
        "Main#0 : empty",
        " Main : G (eA => G !eB) & (empty | X true | eB)",
        "Main: !X true | F eA | #eA != 3",
    ];
    for text in right {
        assert!(read_claim(text, &program).is_ok(), "{text}: {:?}", read_claim(text, &program));
    }
    for (text, at, what) in [
        ("#eA <= 1", 0, "expected `MACHINE: FORMULA`"),
        ("Other: #eA <= 1", 0, "there is no machine `Other`"),
        ("Main: #eX <= 1", 7, "there is no event `eX`"),
        ("Main: eA eB", 9, "expected the end of the formula"),
        ("Main: eA => ()", 13, "expected an event"),
        ("Main: (eA", 9, "expected `)`"),
        ("Main: #eA 1", 10, "expected `<`"),
        ("Main: #eA < 300", 12, "expected a number up to 255"),
        ("Main#x: true", 5, "expected the number of a machine"),
        ("Main: F eA", 5, "it is not true of the empty queue"),
        ("Main: eA eB ! G => () G", 9, "expected the end of the formula"),
    ] {
        let Unclear { at: found, message } = read_claim(text, &program).unwrap_err();
        assert!(found == at && message.starts_with(what), "{text}: {found}: {message}");
    }
    let deep = format!("Main: {}eA", "!".repeat(100_000));
    assert!(read_claim(&deep, &program).is_err());
    let deep = format!("Main: {}eA", "(".repeat(100_000));
    assert!(read_claim(&deep, &program).is_err());
}

/// A program with something claimed of its queues.
fn claimed(text: &str, claim: &str) -> Problem {
    let parsed = read(&[Source::new("x.p", text.as_bytes())], Options::default()).unwrap();
    let mut program = parsed.tests.into_iter().next().unwrap().program;
    if !claim.is_empty() {
        program.claims.push(read_claim(claim, &program).unwrap());
    }
    Problem::from(program)
}

fn answer(problem: &Problem, options: &Settings) -> Outcome {
    tepui::verify(problem, options, &Budget::unlimited().with_work(100_000)).unwrap().outcome
}

fn status(outcome: &Outcome, property: &str) -> Status {
    outcome.properties.iter().find(|own| own.name == property).unwrap().verdict.status()
}

#[test]
fn claims_may_be_about_one_machine() {
    let text = "event eA; machine Main { start state I { entry { var c: machine; new Client(); c = new Client(); \
                send c, eA; send c, eA; } } } machine Client { start state I { ignore eA; } }";
    for engine in [&AUTO, &CLOSURE, &COVER, &QUEUES] {
        let options = Settings { engine, self_check: true, ..Settings::default() };
        for (claim, expected) in [
            ("Client: #eA <= 1", Status::Unsafe),
            ("Client#2: #eA <= 1", Status::Unsafe),
            ("Client#1: #eA <= 1", Status::Safe),
            ("Client#1: #eA <= 0", Status::Safe),
            ("Client#2: #eA <= 2", Status::Safe),
            ("Client#0: #eA <= 0", Status::Safe),
        ] {
            let outcome = answer(&claimed(text, claim), &options);
            assert_eq!(status(&outcome, "invariant"), expected, "{claim} {}", engine.name);
        }
    }
}

/// One `eLast` and any number of `ePing`: after the first `eLast`, a list of first occurrences shows another one.
const FLOOD: &str = "event eLast; event ePing; machine Main { start state I { entry { var c: machine; c = new Client(); \
                     send c, eLast; while (true) { send c, ePing; } } } } \
                     machine Client { start state Busy { ignore ePing; on eLast goto Idle; } \
                     state Idle { ignore ePing; } }";

#[test]
fn what_settles_an_open_error_is_suggested() {
    let precision = Precision { prefix: 0, order: Order::List, cap: 1 };
    let options =
        Settings { engine: &COVER, queue_precision: Some(precision), self_check: true, ..Settings::default() };
    let open = answer(&claimed(FLOOD, ""), &options);
    assert_eq!(status(&open, "unhandled"), Status::Unknown);
    let told = open.obstacles.join("\n");
    let (_, rest) = told.split_once("This claim settles it: --queue-invariant '").unwrap_or_else(|| panic!("{told}"));
    let (claim, _) = rest.split_once('\'').unwrap();
    assert_eq!(claim, "Client: #eLast <= 1");
    let settled = answer(&claimed(FLOOD, claim), &options);
    assert_eq!(settled.status(), Status::Safe);
}

/// Places are added where there are more machines than places.
#[test]
fn closure_has_places_for_all_machines() {
    let text = "event eA; machine Main { start state I { entry { var n: int; var c: machine; while (n < 20) { \
                c = new Client(); send c, eA; n = n + 1; } } } } \
                machine Client { start state I { on eA goto J; } state J { entry { assert false; } } }";
    let options = Settings { engine: &CLOSURE, self_check: true, ..Settings::default() };
    let outcome = answer(&claimed(text, ""), &options);
    assert_eq!(status(&outcome, "assert"), Status::Unsafe);
    let one_by_one = text.replace("n < 20", "n < 12").replace("assert false;", "raise halt;");
    let options = Settings { self_check: true, ..options };
    let outcome = tepui::verify(&claimed(&one_by_one, ""), &options, &Budget::unlimited()).unwrap().outcome;
    assert_eq!(outcome.status(), Status::Safe, "{:?}", outcome.obstacles);
}

/// A claim is proved or refuted whatever else is asked.
#[test]
fn claims_are_decided_along_with_what_is_asked() {
    let text = "event eA; machine Main { start state S { entry { var c: machine; c = new C(); send c, eA; send c, eA; \
                send c, eA; } } } machine C { start state S { on eA do { assert true; } } }";
    let reading = Reading { properties: vec!["assert".to_owned()], ..Reading::default() };
    for engine in [&AUTO, &CLOSURE, &COVER, &QUEUES] {
        let options = Settings { engine, self_check: true, ..Settings::default() };
        for (claim, expected) in
            [("C: #eA <= 3", Status::Safe), ("C: #eA <= 5", Status::Safe), ("C: #eA <= 1", Status::Unsafe)]
        {
            let outcome = answer(&claimed(text, claim).asking(&reading).unwrap(), &options);
            assert_eq!(status(&outcome, "invariant"), expected, "{claim} {}", engine.name);
            assert_eq!(outcome.properties.len(), 2, "{claim} {}", engine.name);
        }
    }
}

/// When all that is asked for is violated, or the first violation is enough, nobody waits for the rest.
#[test]
fn what_is_violated_is_told_at_once() {
    let text = "event eGo; machine Main { var n: int; start state S { entry { assert $; send this, eGo; } \
                on eGo do { n = n + 1; if (n < 0) { n = 0; } send this, eGo; } } }";
    let only = Reading { properties: vec!["assert".to_owned()], ..Reading::default() };
    for engine in [&AUTO, &CLOSURE, &COVER, &QUEUES] {
        for (reading, stop_at_first) in [(&only, false), (&Reading::default(), true)] {
            let options = Settings { engine, stop_at_first, self_check: true, ..Settings::default() };
            let outcome = answer(&claimed(text, "").asking(reading).unwrap(), &options);
            assert_eq!(status(&outcome, "assert"), Status::Unsafe, "{}", engine.name);
            assert!(outcome.iterations.last().is_none_or(|last| last.states < 100), "{}: {outcome:?}", engine.name);
        }
    }
}
