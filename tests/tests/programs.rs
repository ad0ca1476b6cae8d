//! Boolean programs: what is read, and what it does.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use tepui::{CLOSURE, CONTEXTS, Cores, Options, Reading, SYMBOLIC};
use tepui_core::{Budget, Status, Verdict};
use tepui_engines::program::Patience;
use tepui_engines::program::retrace::retrace;
use tepui_engines::program::table::{self, CallReturn, compile};
use tepui_lang::boolean::{DEADLOCK, Dialect, THREAD_LIMIT, print_program, read_program};
use tepui_lang::source::Source;
use tepui_model::program::step::Runner;
use tepui_model::program::{Goal, Program};
use tepui_tests::facade::{pushdown_trace, verify, verify_program};
use tepui_tests::programs::{Limits, explore, fewest_contexts};
use tepui_tests::random_programs;

/// A program of the corpus with the answer that is known.
struct Row {
    file: String,
    verdict: String,
    program: Program,
}

fn read(name: &str, text: &[u8], labels: &[String]) -> Program {
    let source = Source::new(name, text);
    match read_program(&source, None, labels) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{name}: {errors:#?}"),
    }
}

fn corpus() -> Vec<Row> {
    let directory = tepui_tests::corpus::corpus().join("bp");
    let table = std::fs::read_to_string(directory.join("expected.tsv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<_> = line.split('\t').collect();
        let flags: Vec<_> = cells[3].split_whitespace().collect();
        let labels = flags.windows(2).filter(|pair| pair[0] == "-l").map(|pair| pair[1].to_owned());
        let text = std::fs::read(directory.join(cells[0])).unwrap();
        let program = read(cells[0], &text, &labels.collect::<Vec<_>>());
        Row { file: cells[0].to_owned(), verdict: cells[1].to_owned(), program }
    };
    table.lines().skip(1).map(row).collect()
}

/// The program without what depends on how it was laid out.
fn bare(mut program: Program) -> Program {
    program.unreachable.clear();
    for procedure in &mut program.procedures {
        procedure.line = 0;
        procedure.statements.iter_mut().for_each(|statement| (statement.line, statement.text) = (0, (0, 0)));
    }
    program
}

#[test]
#[ignore = "needs the corpus"]
fn what_is_printed_reads_back() {
    for row in corpus() {
        let text = print_program(&row.program);
        assert_eq!(bare(read(&row.file, text.as_bytes(), &[])), bare(row.program), "{}:\n{text}", row.file);
    }
}

#[test]
#[ignore = "needs the corpus"]
fn the_interpreter_agrees_with_the_corpus() {
    for row in corpus() {
        let limits = |threads| Limits { threads, frames: 4, states: 60_000 };
        let bad =
            (1..=4).map(|threads| explore(&row.program, limits(threads))).find(|found| found.bad() || found.complete);
        match row.verdict.as_str() {
            "UNSAFE" => assert!(bad.is_none_or(|found| found.bad()), "{}: no bug found", row.file),
            _ => assert!(bad.is_none_or(|found| !found.bad()), "{}: a bug found", row.file),
        }
    }
}

/// What the property of an assertion is called.
fn goal_name(program: &Program, goal: Goal) -> String {
    let properties = program.properties(false);
    properties.into_iter().find(|property| property.never.contains(&goal)).map(|property| property.name).unwrap()
}

/// Compares what the interpreter and the compiled model find violated. Returns whether both came to their end.
fn compare(name: &str, program: &Program, compiling: table::Options, limits: Limits) -> bool {
    let places = compiling.places;
    let found = explore(program, Limits { threads: places, ..limits });
    let compiled = compile(program, compiling, &Patience::default()).unwrap();
    let model = &compiled.model;
    if model.threads().iter().map(|thread| thread.rules.len()).sum::<usize>() > 4_000 {
        return false;
    }
    let options = Options { bound_limit: Some(vec![2]), engine: &CLOSURE, ..Options::default() };
    let outcome = verify(model, &options, &Budget::unlimited()).unwrap();
    let at = |goal: &Goal| goal_name(program, *goal);
    let labels = found.reached.iter().map(|&label| program.unreachable[label].label.clone());
    let stuck = (found.stuck && compiling.deadlock).then(|| DEADLOCK.to_owned());
    let expected: BTreeSet<_> = found.failures.iter().map(at).chain(labels).chain(stuck).collect();
    let known: BTreeSet<_> = model.properties().iter().map(|property| property.name.clone()).collect();
    assert!(expected.is_subset(&known), "{name}: {expected:?} {known:?}");
    let mut complete = found.complete;
    for property in outcome.properties {
        let bad = expected.contains(&property.name);
        if let Verdict::Unsafe(refuted) = &property.verdict {
            let trace = pushdown_trace(refuted.trace());
            let steps: Vec<_> = trace.steps.iter().map(|step| (step.thread, &step.after)).collect();
            if let Err(why) = retrace(program, &compiled, &property.name, &trace.start, &steps, &|| false) {
                panic!("{name}, {compiling:?}, {}: {why}\n{}\n{trace:?}", property.name, print_program(program));
            }
        }
        let text = || format!("{name}, {compiling:?}, {}\n{}", property.name, print_program(program));
        match property.verdict.status() {
            Status::Safe => assert!(!bad, "safe, but it fails: {}", text()),
            Status::Unsafe if property.name == THREAD_LIMIT => assert!(!found.complete, "there are places: {}", text()),
            Status::Unsafe if found.complete => assert!(bad, "unsafe, but it holds: {}", text()),
            Status::Unsafe => {}
            Status::Unknown => complete = false,
        }
    }
    complete
}

#[test]
fn compiled_programs_do_what_the_interpreter_does() {
    let limits = Limits { threads: 0, frames: 4, states: 1_500 };
    let mut complete = [0, 0];
    for seed in 0..1_200 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = match seed % 4 {
            0 => random_programs::fixed_program(&mut rng),
            _ => random_programs::program(&mut rng),
        };
        let program = read(&format!("seed {seed}"), text.as_bytes(), &[]);
        for reduce in [false, true] {
            let (places, deadlock) = (2 + seed as usize % 2, seed % 3 == 0);
            let options = table::Options { places, reduce, deadlock, ..table::Options::default() };
            complete[usize::from(reduce)] += usize::from(compare(&format!("seed {seed}"), &program, options, limits));
        }
    }
    assert!(complete.iter().all(|&complete| complete > 300), "{complete:?}");
}

#[test]
#[ignore = "needs the corpus"]
fn compiled_programs_of_the_corpus_do_what_the_interpreter_does() {
    for row in corpus() {
        for (places, reduce) in [(1, true), (2, true), (2, false)] {
            let options = table::Options { places, reduce, deadlock: false, ..table::Options::default() };
            compare(&row.file, &row.program, options, Limits { threads: 0, frames: 4, states: 20_000 });
        }
    }
}

/// Steps that a careless reduction would lose: one before an endless loop, and a start before an assignment.
#[test]
fn reductions_keep_what_others_see() {
    let texts = [
        "decl x; void f() { x := 1; while (1) { skip; } } void g() { assert(!x); } void main() { thread f(); thread g(); }",
        "decl x; void g() { if (!x) { assert(0); } } void main() { thread g(); x := 1; }",
        "decl x; void f() { atomic { x := 1; } while (1) { skip; } } void g() { assert(!x); } void main() { thread f(); thread g(); }",
    ];
    for text in texts {
        let program = read("seen", text.as_bytes(), &[]);
        for reduce in [true, false] {
            let reading = Reading { no_reduction: !reduce, ..Reading::default() };
            let verified = verify_program(&program, &reading, &Options::default(), &Budget::unlimited()).unwrap();
            assert_eq!(verified.outcome.status(), Status::Unsafe, "reduce {reduce}: {text}");
        }
    }
}

/// A statement may choose values for many variables of which few matter: a way to an error is found, and followed.
#[test]
fn values_that_do_not_matter_are_not_tried() {
    let array = "decl a[60]: 0..3; void f() { a := *; assert(a[0] < 3); } void main() { thread f(); }";
    let stuck = "decl a[60]: 0..3; void f() { a := *; assume(a[7] = 4); } void main() { thread f(); thread f(); }";
    let many = "void f() { decl a[8]: 0..3; a := *; assert(a[1] < 3); } void main() { thread f(); }";
    for (text, deadlock) in [(array, false), (stuck, true), (many, false)] {
        let program = read("values", text.as_bytes(), &[]);
        let reading = Reading { deadlock, ..Reading::default() };
        let options = Options { self_check: true, ..Options::default() };
        let verified = verify_program(&program, &reading, &options, &Budget::unlimited()).unwrap();
        assert_eq!(verified.outcome.status(), Status::Unsafe, "{text}");
    }
    // In a frame they are told apart by number, and these are too many: that is said.
    let program = read("values", many.replace("a[8]", "a[30]").as_bytes(), &[]);
    let verified = verify_program(&program, &Reading::default(), &Options::default(), &Budget::unlimited()).unwrap();
    assert_eq!(verified.outcome.status(), Status::Unknown);
}

/// Reductions do not change how many contexts a violation needs.
#[test]
fn the_fewest_contexts_are_those_of_the_interpreter() {
    let (mut compared, mut several) = (0, 0);
    for seed in 0..600 {
        let text = random_programs::fixed_program(&mut fastrand::Rng::with_seed(seed));
        let program = read(&format!("seed {seed}"), text.as_bytes(), &[]);
        let runner = Runner::new(&program);
        let mut state = runner.initial().remove(0);
        while !state.threads[0].is_empty() {
            state = runner.steps_of(&state, 0).remove(0).after;
        }
        let limits = Limits { threads: 4, frames: 4, states: 20_000 };
        let Some(fewest) = fewest_contexts(&program, state, limits) else { continue };
        let options = Options { engine: &CONTEXTS, bound_limit: Some(vec![8]), ..Options::default() };
        let verified = verify_program(&program, &Reading::default(), &options, &Budget::unlimited()).unwrap();
        for property in &verified.outcome.properties {
            let Verdict::Unsafe(refuted) = &property.verdict else { continue };
            let expected = fewest.iter().find(|(at, _)| goal_name(&program, **at) == property.name).unwrap().1;
            let bound = refuted.bound().unwrap().first();
            assert_eq!(bound, *expected, "seed {seed}, {}\n{text}", property.name);
            compared += 1;
            several += usize::from(bound > 1);
        }
    }
    assert!(compared > 50 && several > 5, "{compared} {several}");
}

/// The verdicts of the corpus. Where threads are created without end, a proof is not to be had; then nothing wrong is
/// claimed.
#[test]
#[ignore = "needs the corpus"]
fn the_corpus_is_answered() {
    for row in corpus() {
        let most = row.verdict.strip_prefix("no-bug<=").map(|rest| rest.trim_end_matches("-threads").parse().unwrap());
        let reading = Reading { max_threads: most, ..Reading::default() };
        let options = Options { self_check: true, ..Options::default() };
        let verified = verify_program(&row.program, &reading, &options, &Budget::unlimited()).unwrap();
        let status = verified.outcome.status();
        match row.verdict.as_str() {
            "UNSAFE" => assert_eq!(status, Status::Unsafe, "{}", row.file),
            "SAFE" if row.file.contains("Threads4") => assert_eq!(status, Status::Unknown, "{}", row.file),
            "SAFE" => assert_eq!(status, Status::Safe, "{}", row.file),
            _ => assert_ne!(status, Status::Unsafe, "{}", row.file),
        }
    }
}

/// With any call-return relation in place of what is derived, the generator test never proves what is wrong.
#[test]
fn call_return_relations_are_sound() {
    let mut proved = [0, 0, 0, 0];
    for seed in 0..250 {
        let text = random_programs::program(&mut fastrand::Rng::with_seed(seed));
        let program = read(&format!("seed {seed}"), text.as_bytes(), &[]);
        let found = explore(&program, Limits { threads: 3, frames: 4, states: 1_500 });
        let relations = [None, Some(CallReturn::Plain), Some(CallReturn::Local), Some(CallReturn::Live)];
        for (index, call_return) in relations.into_iter().enumerate() {
            let reading = Reading { max_threads: Some(3), ..Reading::default() };
            let (bound_limit, cores) = (Some(vec![5]), Cores::new(1));
            let options = Options { engine: &SYMBOLIC, bound_limit, cores, call_return, ..Options::default() };
            let verified = verify_program(&program, &reading, &options, &Budget::unlimited()).unwrap();
            if verified.outcome.status() == Status::Safe {
                assert!(!found.bad(), "seed {seed}, {call_return:?}\n{text}");
                proved[index] += 1;
            }
        }
    }
    // A model that keeps dead values has other sets of stacks, which may collapse sooner.
    assert!(proved.iter().all(|&proved| proved > 12) && proved[0] + 2 >= *proved.iter().max().unwrap(), "{proved:?}");
}

/// Each relation proves what the one before does not: a variable whose value is known at the call, and one that is dead.
#[test]
fn call_return_relations_differ() {
    let text = "
        decl s, t;
        void work() { if (*) { work(); } }
        void user() {
          decl known, unused, i;
          known := 0;
          unused := *;
          work();
          if (known) { s := 1; }
          unused := s;
          if (unused & i) { t := 1; }
          while (1) { known := 1; work(); known := 0; }
        }
        void other() { assert(!t); }
        void main() { thread user(); thread other(); }";
    let program = read("relations", text.as_bytes(), &[]);
    let plain = table::Options { places: 1, reduce: true, deadlock: false, keep_dead: false, keep_steps: false };
    let pairs = |call_return: CallReturn| {
        let options = table::Options { keep_dead: call_return.keeps_dead(), ..plain };
        let compiled = compile(&program, options, &Patience::default()).unwrap();
        compiled.call_return(call_return).iter().map(Vec::len).sum::<usize>()
    };
    let [plain, local, live] = [CallReturn::Plain, CallReturn::Local, CallReturn::Live].map(pairs);
    assert!(plain >= local && local > live && live > 0, "{plain} {local} {live}");
}

/// Programs with words left out, doubled, swapped and replaced, and bytes that make no sense: readers answer, and what
/// they accept can be printed and compiled.
#[test]
fn readers_take_any_text() {
    let words =
        ["{", "}", "(", ")", ";", ":=", "if", "begin", "end", "decl", "s0", "*", "goto", "atomic", "é", "\0", "'", "<"];
    let mut accepted = 0;
    for seed in 0..3_000 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let text = random_programs::program(&mut rng);
        let mut tokens: Vec<&str> = text.split_inclusive([' ', '\n', ';', '(']).collect();
        for _ in 0..rng.usize(1..=3) {
            let (one, other) = (rng.usize(..tokens.len()), rng.usize(..tokens.len()));
            match rng.usize(..4) {
                0 => drop(tokens.remove(one)),
                1 => tokens.insert(one, tokens[other]),
                2 => tokens.swap(one, other),
                _ => tokens[one] = words[rng.usize(..words.len())],
            }
        }
        let source = Source::new("any", tokens.concat().as_bytes());
        for dialect in [Dialect::Tepui, Dialect::Satabs, Dialect::Boppo, Dialect::Getafix] {
            if let Ok(parsed) = read_program(&source, Some(dialect), &[]) {
                accepted += 1;
                let text = print_program(&parsed.program);
                assert_eq!(bare(read("printed", text.as_bytes(), &[])), bare(parsed.program.clone()), "{text}");
            }
        }
    }
    assert!(accepted > 100, "{accepted}");
}
