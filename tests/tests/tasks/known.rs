//! Programs whose answers are known.

use std::path::PathBuf;

use tepui::{AUTO, COUNTING, DISPATCH, Dispatcher, Facts, Input, Options, Order, Problem, Reading, Schedulers};
use tepui_core::{Budget, Outcome, Status, Verdict};
use tepui_tests::corpus::corpus;

use super::program;

/// The rows of a table of the corpus.
pub(super) fn rows(folder: &str) -> Vec<(PathBuf, Vec<String>)> {
    let folder = corpus().join(folder);
    let table = std::fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let row = |line: &str| {
        let cells: Vec<_> = line.split('\t').map(str::to_owned).collect();
        (folder.join(&cells[0]), cells)
    };
    let rows: Vec<_> = rows.map(row).collect();
    assert!(!rows.is_empty(), "{} has no rows", folder.display());
    rows
}

pub(super) fn verify(problem: &Problem, engine: &'static Facts, schedulers: &[&str]) -> Outcome {
    let mut options = Options { engine, self_check: true, ..Options::default() };
    if !schedulers.is_empty() {
        options.schedulers = Schedulers(schedulers.iter().map(|name| Dispatcher::named(name).unwrap()).collect());
    }
    tepui::verify(problem, &options, &Budget::unlimited().with_work(3_000_000)).unwrap().outcome
}

/// The worst status of all properties, and the fewest delays of a violation.
pub(super) fn answer(outcome: &Outcome) -> (Status, Option<u32>) {
    let statuses: Vec<_> = outcome.properties.iter().map(|property| property.verdict.status()).collect();
    let delays = outcome.properties.iter().filter_map(|property| match &property.verdict {
        Verdict::Unsafe(refuted) => refuted.bound().and_then(|bound| bound.amounts().get(1).copied()),
        _ => None,
    });
    let worst = [Status::Unsafe, Status::Unknown].into_iter().find(|status| statuses.contains(status));
    (worst.unwrap_or(Status::Safe), delays.min())
}

pub(super) fn status(word: &str) -> Status {
    if word == "safe" { Status::Safe } else { Status::Unsafe }
}

#[test]
#[ignore = "needs the corpus"]
fn programs_with_exact_answers() {
    for (path, cells) in rows("async/bp") {
        let text = std::fs::read(&path).unwrap();
        let problem = Problem::read(&Input::new(&cells[0], text), &Reading::default()).unwrap();
        let found = verify(&problem, &COUNTING, &[]);
        assert_eq!(answer(&found).0, status(&cells[1]), "{}", cells[0]);
        if cells[1] == "safe" {
            let because = &found.evidence().unwrap().because;
            assert_eq!(because.contains("any number"), cells[7] == "yes", "{}: {because}", cells[0]);
        }
        for (column, name) in [(2, "rr"), (3, "dfs"), (4, "fifo"), (5, "lifo")] {
            let (found, delays) = answer(&verify(&problem, &DISPATCH, &[name]));
            match cells[column].parse::<u32>() {
                Ok(expected) => assert_eq!((found, delays), (Status::Unsafe, Some(expected)), "{} {name}", cells[0]),
                Err(_) => assert_ne!(found, Status::Unsafe, "{} {name}", cells[0]),
            }
        }
    }
}

#[test]
#[ignore = "needs the corpus"]
fn programs_of_c2s() {
    let mut read = 0;
    for (path, cells) in rows("async") {
        let text = std::fs::read(&path).unwrap();
        let reading = |order| Reading { order: Some(order), int_range: Some((0, 110)), ..Reading::default() };
        let input = Input::new(&cells[0], text);
        let Ok(bag) = Problem::read(&input, &reading(Order::Bag)) else {
            assert!(["fifo-creator.cp", "simple2.cp", "syntax-tutorial.cp"].contains(&cells[0].as_str()));
            continue;
        };
        read += 1;
        if cells[3] == "-" {
            continue;
        }
        assert_eq!(answer(&verify(&bag, &AUTO, &[])).0, status(&cells[3]), "{}", cells[0]);
        for (column, name) in [(4, "rr"), (5, "dfs")] {
            if let Ok(expected) = cells[column].parse::<u32>() {
                let found = answer(&verify(&bag, &DISPATCH, &[name]));
                assert_eq!(found, (Status::Unsafe, Some(expected)), "{} {name}", cells[0]);
            }
        }
        let fifo = Problem::read(&input, &reading(Order::Fifo)).unwrap();
        let found = answer(&verify(&fifo, &AUTO, &[])).0;
        // Queues without a bound are not proved.
        let endless = cells[0].starts_with("fifo-flipper");
        assert_eq!(found, if endless { Status::Unknown } else { status(&cells[2]) }, "{}", cells[0]);
    }
    assert!(read >= 10, "{read} were read");
}

/// What a program is told apart by.
#[rustfmt::skip]
const CASES: &[(&str, &str, Status)] = &[
    ("arguments are evaluated when a task is posted",
        "decl g; void t(a) { assert(a); } void main() { g := 1; post t(g); g := 0; }", Status::Safe),
    ("a task runs alone until it yields",
        "decl g; void t() { assert(!g); g := 1; g := 0; } void main() { post t() * any; }", Status::Safe),
    ("where it yields, others run",
        "decl g; void t() { assert(!g); g := 1; yield; g := 0; } void main() { post t(); post t(); }", Status::Unsafe),
    ("a procedure that is called may yield",
        "decl g; void f() { yield; } void t() { assert(!g); g := 1; f(); g := 0; } void main() { post t(); post t(); }",
        Status::Unsafe),
    ("a condition that holds is no place of dispatch",
        "decl g; decl h := 1; void t() { assert(!g); g := 1; wait(h); g := 0; } void main() { post t(); post t(); }",
        Status::Safe),
    ("a task that waits is not dispatched before its condition holds",
        "decl g, h; void t() { wait(g); assert(h); } void s() { h := 1; g := 1; } void main() { post t(); post s(); }",
        Status::Safe),
    ("`assume` ends an execution",
        "decl g; void t() { assume(g); assert(0); } void s() { g := 1; yield; g := 0; } void main() { post t(); }",
        Status::Safe),
    ("`exit` ends the task, wherever it is",
        "decl g; void f() { exit; } void t() { f(); assert(0); } void main() { post t(); }", Status::Safe),
    ("results of tasks are dropped",
        "bool t() { return 1; } void main() { post t(); post t(); assert(1); }", Status::Safe),
    ("tasks that are posted in pairs keep no parity",
        "decl odd; void t() { odd := !odd; } void end() { assert(!odd); } \
         void main() { while (*) { post t(); post t(); } post end(); }", Status::Unsafe),
    ("a task may post itself and `main`",
        "decl n: 0..2; void main() { if (n < 2) { n := n + 1; post main(); } else { assert(0); } }", Status::Unsafe),
    ("posts before, between and after two calls of itself",
        "decl n: 0..3; void leaf() { if (n < 3) { n := n + 1; } else { assert(0); } } \
         void tree() { if (*) { post leaf(); tree(); post leaf(); tree(); post leaf(); } } void main() { tree(); }",
        Status::Unsafe),
    ("any number through any number",
        "decl n: 0..4; void a() { post b() * any; } void b() { post c() * any; } \
         void c() { if (n < 4) { n := n + 1; } else { assert(0); } } void main() { post a(); }", Status::Unsafe),
    ("a kind that is posted and never taken",
        "decl g; void idle() { wait(g); assert(0); } void main() { post idle() * any; }", Status::Safe),
    ("what begins with any value gets it when it is read",
        "decl g; void t() { decl x := *; g := x; assert(g = x); } void main() { post t() * 3; }", Status::Safe),
];

#[test]
fn sentences_of_the_book() {
    for (why, text, expected) in CASES {
        let problem = Problem::from(program(text));
        for engine in [&AUTO, &COUNTING] {
            let outcome = verify(&problem, engine, &[]);
            assert_eq!(answer(&outcome).0, *expected, "{why}: {:?}", outcome.properties);
        }
        let found = answer(&verify(&problem, &DISPATCH, &[])).0;
        assert!(found == *expected || found == Status::Unknown && *expected == Status::Safe, "{why}");
    }
}

/// `2^n` tasks by n procedures that double: more are needed than can be tried one after the other.
#[test]
fn many_tasks_are_counted() {
    let levels = 8;
    let mut text = "decl n: 0..200;\nvoid leaf() { if (n < 200) { n := n + 1; } else { assert(0); } }\n".to_owned();
    for level in 0..levels {
        let below = if level == 0 { "post leaf();".to_owned() } else { format!("f{}();", level - 1) };
        text += &format!("void f{level}() {{ {below} {below} }}\n");
    }
    text += &format!("void main() {{ f{}(); }}\n", levels - 1);
    let problem = Problem::from(program(&text));
    let outcome = verify(&problem, &COUNTING, &[]);
    assert_eq!(answer(&outcome).0, Status::Unsafe, "{:?}", outcome.properties);
}

/// Arguments that nobody reads do not multiply kinds, and many kinds are no trouble.
#[test]
fn kinds_are_those_that_matter() {
    let text = "decl g; void t(a: 0..99, b: 0..99) { assert(a < 100 | g); } void main() { post t(*, *); }";
    let outcome = verify(&Problem::from(program(text)), &COUNTING, &[]);
    assert_eq!(answer(&outcome).0, Status::Safe);
    let last = outcome.iterations.last().unwrap().states;
    assert!(last <= 101, "{last} markings");
}

/// Where a procedure yields and calls itself, stacks may have any height: violations are found, and nothing is proved.
#[test]
fn recursion_and_yields_together() {
    let text = "decl n: 0..3; void r() { if (*) { r(); } yield; if (n < 3) { n := n + 1; } } \
                void t() { assert(n < 3); } void main() { post r(); post t(); }";
    let problem = Problem::from(program(text));
    assert_eq!(answer(&verify(&problem, &AUTO, &[])).0, Status::Unsafe);
    assert_eq!(answer(&verify(&problem, &COUNTING, &[])).0, Status::Unknown);
    let safe = Problem::from(program(&text.replace("n < 3);", "n <= 3);")));
    assert_eq!(answer(&verify(&safe, &DISPATCH, &[])).0, Status::Unknown);
}

/// Options for threads mean nothing to tasks.
#[test]
fn options_for_threads_are_refused() {
    let problem = Problem::from(program("decl g; void t() { assert(!g); } void main() { post t(); }"));
    for flag in ["--max-threads", "--no-reduction", "--all-views", "--invariant", "--threads-at-start"] {
        assert!(problem.require_fitting_model("t.bp", &[flag]).is_err(), "{flag}");
    }
    assert!(problem.require_fitting_model("t.bp", &["--order", "--deadlock", "--label"]).is_ok());
}

/// What one engine proves in part does not hide what another one proves of more.
#[test]
fn the_most_that_is_proved_counts() {
    for text in [
        "decl b; void t() { assert(!b); } void main() { post t() * 2; assert(b); }",
        "decl b := 1; void t() { assert(b); } void u() { assert(!b); } void main() { post t(); post u(); }",
    ] {
        let problem = Problem::from(program(text)).asking(&Reading { deadlock: true, ..Reading::default() }).unwrap();
        let outcome = verify(&problem, &AUTO, &[]);
        let count = |status| outcome.properties.iter().filter(|own| own.verdict.status() == status).count();
        assert_eq!((count(Status::Safe), count(Status::Unsafe)), (2, 1), "{text}: {:?}", outcome.properties);
    }
}
