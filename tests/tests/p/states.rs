//! How many states programs with queues have: exactly those that are known.

use std::sync::Arc;

use tepui::{Budget, CLOSURE, COVER, Options as Settings, Problem, Status, verify};
use tepui_engines::queue::explorer::Explorer;
use tepui_engines::queue::summary::{Order, Precision};
use tepui_lang::p::{Dialect, Options, read};
use tepui_lang::source::Source;
use tepui_model::queue::Program;
use tepui_model::queue::state::Cannot;
use tepui_tests::corpus::corpus;

fn old(file: &str) -> Program {
    let path = corpus().join("p/old").join(file);
    let mut files: Vec<_> = if path.is_file() {
        vec![path]
    } else {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    files.sort();
    let sources: Vec<_> = files.iter().map(|file| Source::new("p", &std::fs::read(file).unwrap())).collect();
    let parsed = read(&sources, Options { dialect: Some(Dialect::Old), ..Options::default() }).unwrap();
    parsed.tests.into_iter().next().unwrap().program
}

fn without_bounds(mut program: Program) -> Program {
    program.events.iter_mut().for_each(|bound| *bound = None);
    program.kinds.iter_mut().for_each(|kind| kind.bound = None);
    program
}

/// The numbers of states for queues of length 1, 2, ...
fn per_length(program: Program, most: usize) -> Vec<usize> {
    let kinds = program.kinds.len();
    let mut explorer = Explorer::new(Arc::new(program), vec![Precision::EXACT; kinds], 1);
    let mut counts = Vec::new();
    for longest in 1..=most {
        assert!(explorer.raise(longest, &mut |_| false), "{:?}", explorer.unknown());
        counts.push(explorer.len());
        if !explorer.has_refused() {
            break;
        }
    }
    assert!(explorer.errors().is_empty(), "{:?}", explorer.errors());
    counts
}

fn closed(program: Program, precision: Precision, most: usize) -> Option<(usize, bool)> {
    let kinds = program.kinds.len();
    let mut explorer = Explorer::new(Arc::new(program), vec![precision; kinds], usize::MAX);
    let mut steps = 0;
    let done = explorer.run(&mut |_| {
        steps += 1;
        steps > most
    });
    done.then(|| (explorer.len(), explorer.errors().is_empty()))
}

/// For each program the numbers of states with queues up to 1, 2, ... letters, until no more come.
const STATES: &[(&str, &[usize])] = &[
    ("01-german-1", &[89, 217, 415, 583]),
    ("06-osr", &[521, 2688, 5576, 8164, 9064]),
    ("07-openwsn", &[15925, 69753, 73803, 74127]),
    ("09-maxinstances", &[16, 21, 24]),
    ("10-pingpong", &[8, 12]),
    ("11-boundedasync", &[5297, 29360, 53637, 75197, 85417]),
    ("14-elevator-fixed", &[392, 2371, 3932, 4390]),
    ("earlier/german_1_share1.p", &[89, 193, 277]),
];

#[test]
#[ignore = "needs the corpus"]
fn states_are_those_that_are_known() {
    for (file, expected) in STATES {
        assert_eq!(per_length(old(file), 8), *expected, "{file}");
    }
    assert_eq!(per_length(old("12-pingflood"), 8), [3, 4, 5, 21, 26, 31, 36, 41]);
    let open = per_length(without_bounds(old("01-german-1")), 6);
    assert_eq!(open, [89, 241, 601, 1433, 3321, 7545]);
}

#[test]
#[ignore = "needs the corpus"]
fn closed_sets_are_those_that_are_known() {
    let of = |order, cap, prefix| Precision { prefix, order, cap };
    let (ends, list) = (Precision::ENDS, of(Order::List, 2, 0));
    for (file, precision, expected) in [
        ("12-pingflood", ends, 18),
        ("12-pingflood", list, 24),
        ("12-pingflood", of(Order::Bag, 2, 0), 20),
        ("12-pingflood", of(Order::Ends, 3, 0), 26),
        ("12-pingflood", of(Order::List, 1, 4), 26),
        ("01-german-1", ends, 1_453),
        ("01-german-1", list, 777),
        ("01-german-1", of(Order::Bag, 2, 0), 345),
        ("01-german-1", of(Order::Ends, 3, 0), 3_757),
        ("10-pingpong", ends, 12),
        ("10-pingpong", list, 12),
        ("14-elevator-fixed", ends, 87_531),
    ] {
        let program = without_bounds(old(file));
        assert_eq!(closed(program, precision, usize::MAX), Some((expected, true)), "{file} {precision:?}");
    }
    for (file, precision) in [("10-pingpong", of(Order::Bag, 2, 0)), ("12-pingflood", of(Order::List, 1, 0))] {
        let (_, safe) = closed(without_bounds(old(file)), precision, usize::MAX).unwrap();
        assert!(!safe, "{file} {precision:?}");
    }
}

/// Programs are covered, with queues of any length, or broken.
#[test]
#[ignore = "needs the corpus"]
fn covers_are_precise_enough() {
    for (file, safe) in [
        ("01-german-1", true),
        ("09-maxinstances", true),
        ("10-pingpong", true),
        ("12-pingflood", true),
        ("tutorial/choice_1.p", true),
        ("tutorial/choice_2.p", true),
        ("tutorial/nonresponsive.p", false),
        ("13-elevator-buggy", false),
    ] {
        let problem = Problem::from(without_bounds(old(file)));
        let options = Settings { engine: &COVER, self_check: true, ..Settings::default() };
        let outcome = verify(&problem, &options, &Budget::unlimited()).unwrap().outcome;
        let expected = if safe { Status::Safe } else { Status::Unsafe };
        assert_eq!(outcome.status(), expected, "{file}: {outcome:?}");
    }
}

/// Where what follows from the views is no more than what was reached, closure finds exactly these views, although queues
/// are of any length.
#[test]
#[ignore = "needs the corpus"]
fn closure_finds_the_views_that_there_are() {
    let list = Precision { prefix: 0, order: Order::List, cap: 2 };
    for (file, precision, views) in [
        ("12-pingflood", Precision::ENDS, 18),
        ("01-german-1", Precision::ENDS, 1_453),
        ("01-german-1", list, 777),
        ("10-pingpong", Precision::ENDS, 12),
    ] {
        let problem = Problem::from(without_bounds(old(file)));
        let queue_precision = Some(precision);
        let options = Settings { engine: &CLOSURE, queue_precision, self_check: true, ..Settings::default() };
        let outcome = verify(&problem, &options, &Budget::unlimited()).unwrap().outcome;
        assert_eq!(outcome.status(), Status::Safe, "{file}");
        assert_eq!(outcome.iterations.last().unwrap().views, views, "{file}");
    }
}

/// All ways of a step together may take no longer than some do alone.
#[test]
fn steps_with_long_ways_are_given_up() {
    let text = "machine Main { var b: int; start state S { entry { var i: int; \
                while (i < 50000) { if ($) { b = b + 1; } i = i + 1; } assert b != 7; } } }";
    let parsed = read(&[Source::new("x.p", text.as_bytes())], Options::default()).unwrap();
    let program = parsed.tests.into_iter().next().unwrap().program;
    let mut explorer = Explorer::new(Arc::new(program), vec![Precision::ENDS], usize::MAX);
    explorer.run(&mut |_| false);
    assert_eq!(explorer.unknown(), Some(Cannot::Endless));
}

/// A row from which there are very many ways is left in the middle, and the search goes on from there.
#[test]
fn a_search_stops_in_the_middle_of_a_row() {
    let text = "machine Main { var a: int; var b: int; start state S { entry { a = choose(200); b = choose(200); \
                assert a + b < 398; } } }";
    let parsed = read(&[Source::new("x.p", text.as_bytes())], Options::default()).unwrap();
    let program = parsed.tests.into_iter().next().unwrap().program;
    let mut explorer = Explorer::new(Arc::new(program), vec![Precision::EXACT], 1).up_to_symmetry();
    let patience = 1_000;
    assert!(!explorer.run(&mut |own| own.steps() >= patience));
    assert!(explorer.steps() < 2 * patience, "{} steps", explorer.steps());
    assert!(explorer.run(&mut |_| false));
    assert_eq!(explorer.errors().len(), 1);
}
