//! Every example program: the answers must be those that its header promises, with and without reductions; what is
//! printed is the same program.
//!
//! The header's lines: `// expect: PROPERTY safe|unsafe`, for a program whose `main` starts adders and stoppers
//! `// expect A+B: ...` for so many of them, and `// options: --deadlock`.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use tepui::{CONTEXTS, Options, Reading};
use tepui_core::{Budget, Status};
use tepui_lang::boolean::{self, Dialect, compile, print_program, read_program};
use tepui_lang::source::Source;
use tepui_model::program::Program;
use tepui_model::program::run::State;
use tepui_model::program::step::Frame;
use tepui_tests::facade::verify_program;
use tepui_tests::programs::{Limits, explore, explore_with};

struct Example {
    name: String,
    program: Program,
    deadlock: bool,
    expected: Vec<(String, String)>,
}

fn read(name: &str, text: &str) -> Program {
    let source = Source::new(name, text.as_bytes());
    assert_eq!(Dialect::of(&source), Dialect::Tepui, "{name}");
    read_program(&source, Some(Dialect::Tepui), &[]).unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program
}

/// The text with other numbers of threads.
fn with_threads(text: &str, adders: &str, stoppers: &str) -> String {
    let count = |text: &str, thread: &str, count: &str| -> String {
        let from = text.find(&format!("thread {thread}() * ")).unwrap();
        let end = from + text[from..].find(';').unwrap();
        format!("{}thread {thread}() * {count}{}", &text[..from], &text[end..])
    };
    count(&count(text, "adder", adders), "stopper", stoppers)
}

fn examples() -> Vec<Example> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples");
    let mut files: Vec<_> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "bp"));
    files.sort();
    let mut examples: Vec<Example> = Vec::new();
    for file in files {
        let (text, name) = (std::fs::read_to_string(&file).unwrap(), file.file_name().unwrap().to_str().unwrap());
        let deadlock = text.contains("// options: --deadlock");
        for line in text.lines().filter_map(|line| line.strip_prefix("// expect")) {
            let (threads, claim) = line.split_once(':').unwrap();
            let (property, verdict) = claim.trim().split_once(' ').unwrap();
            let (name, program) = match threads.trim().split_once('+') {
                Some((adders, stoppers)) => {
                    let text = with_threads(&text, adders, stoppers);
                    (format!("{name} {}", threads.trim()), read(name, &text))
                }
                None => (name.to_owned(), read(name, &text)),
            };
            let expected = (property.to_owned(), verdict.to_owned());
            match examples.iter_mut().find(|example| example.name == name) {
                Some(example) => example.expected.push(expected),
                None => examples.push(Example { name, program, deadlock, expected: vec![expected] }),
            }
        }
    }
    assert!(examples.len() >= 20, "only {} examples", examples.len());
    examples
}

#[test]
fn examples_are_what_their_headers_say() {
    for Example { name, program, deadlock, expected } in examples() {
        for reduce in [true, false] {
            // Without reduction, all threads are created by `main`, and are counted with it.
            let reading = Reading { no_reduction: !reduce, deadlock, max_threads: Some(6), ..Reading::default() };
            let options = Options { self_check: true, ..Options::default() };
            let verified = verify_program(&program, &reading, &options, &Budget::unlimited()).unwrap();
            let found = verified.outcome.properties.iter();
            let found = found.map(|p| (p.name.clone(), p.verdict.status().word().to_owned()));
            let (mut found, mut expected) = (found.collect::<Vec<_>>(), expected.clone());
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{name}, reduce {reduce}");
        }
    }
}

#[test]
fn the_interpreter_agrees_with_the_headers() {
    for Example { name, program, deadlock, expected } in examples() {
        let found = explore(&program, Limits { threads: 6, frames: 3, states: 40_000 });
        let wrong = found.bad() || (deadlock && found.stuck);
        if found.complete {
            assert_eq!(wrong, expected.iter().any(|(_, verdict)| verdict == "unsafe"), "{name}");
        } else if wrong {
            assert!(expected.iter().any(|(_, verdict)| verdict == "unsafe"), "{name}");
        }
    }
}

#[test]
fn examples_printed_and_read_again_are_the_same_model() {
    for Example { name, program, deadlock, .. } in examples() {
        let again = read(&name, &print_program(&program));
        for reduce in [true, false] {
            let options = boolean::Options { places: 2, reduce, deadlock, keep_dead: false, keep_steps: false };
            let digest = |program| compile(program, options, &|| false).unwrap().model.digest();
            assert_eq!(digest(&again), digest(&program), "{name}");
        }
    }
}

/// Whether values are those that a part of an invariant states.
fn agrees(program: &Program, values: &serde_json::Value, state: &State, frame: Option<&Frame>) -> bool {
    let shared = program.shared.iter().zip(&state.shared);
    let local = frame.iter().flat_map(|frame| program.procedures[frame.procedure].locals.iter().zip(&frame.locals));
    shared.chain(local).all(|(variable, &value)| {
        values[&variable.name]
            .as_str()
            .is_none_or(|stated| Some(stated) == value.map(|value| program.value_name(variable.kind, value)).as_deref())
    })
}

/// Threads that run different procedures and are interchangeable nevertheless.
const TWINS: &str = "lock m;
void reader() { lock(m); unlock(m); }
void writer() { lock(m); unlock(m); }
void other() { decl x := 0; x := m; x := 0; }
void main() { thread reader(); thread writer(); thread reader(); thread other(); }";

#[test]
fn invariants_hold_in_every_state() {
    let mut checked = 0;
    let safe = |example: &Example| example.expected.iter().all(|(_, verdict)| verdict == "safe");
    let twins =
        Example { name: "twins".to_owned(), program: read("twins", TWINS), deadlock: false, expected: Vec::new() };
    for Example { name, program, .. } in examples().into_iter().filter(safe).chain([twins]) {
        if name == "pool.bp" {
            continue; // Its threads are created, and the interpreter does not use their places again.
        }
        let options = Options { invariant: true, ..Options::default() };
        let verified = verify_program(&program, &Reading::default(), &options, &Budget::unlimited()).unwrap();
        let invariant = tepui_report::json::invariant(&verified.invariant.unwrap());
        let place = |frame: &Frame| {
            let procedure = &program.procedures[frame.procedure];
            let line = procedure.statements.get(frame.position).map(|statement| statement.line);
            let before = procedure.statements[..frame.position].iter().filter(|other| Some(other.line) == line).count();
            (procedure.name.clone(), line.map(u64::from), line.map(|_| before as u64 + 1))
        };
        let at = |value: &serde_json::Value| {
            (value["procedure"].as_str().unwrap().to_owned(), value["line"].as_u64(), value["number"].as_u64())
        };
        let lines: Vec<_> = invariant["lines"].as_array().unwrap().iter().map(|line| (at(line), line)).collect();
        let pairs = invariant["pairs"].as_array().unwrap();
        let pairs: Vec<_> = pairs.iter().map(|pair| ((at(&pair["first"]), at(&pair["second"])), pair)).collect();
        explore_with(&program, Limits { threads: 6, frames: 3, states: 3_000 }, &mut |state| {
            let tops: Vec<_> = state.threads.iter().filter_map(|thread| thread.last()).collect();
            let tops: Vec<_> = tops.into_iter().filter(|frame| frame.procedure != program.main).collect();
            assert!(agrees(&program, &invariant["always"], state, None), "{name}: {state:?}");
            for (index, frame) in tops.iter().enumerate() {
                let (_, line) = lines.iter().find(|(line, _)| *line == place(frame)).unwrap();
                assert!(agrees(&program, &line["values"], state, Some(frame)), "{name}: {line} {state:?}");
                for other in &tops[index + 1..] {
                    let (one, other) = (place(frame), place(other));
                    let pair = pairs.iter().find(|((first, second), _)| {
                        (*first == one && *second == other) || (*first == other && *second == one)
                    });
                    let pair = pair.unwrap_or_else(|| panic!("{name}: {one:?} {other:?}")).1;
                    assert!(pair["together"].as_bool().unwrap(), "{name}: {pair} {state:?}");
                    assert!(agrees(&program, &pair["values"], state, None), "{name}: {pair} {state:?}");
                    checked += 1;
                }
            }
        });
    }
    assert!(checked > 10_000, "{checked}");
}

/// Bounded exploration of a program that creates threads goes on with more of them after a violation, and its trace is that
/// of the model in which it was found.
#[test]
fn exploration_of_created_threads_has_a_trace() {
    let flood = examples().into_iter().find(|example| example.name == "flood.bp").unwrap();
    let options = Options { engine: &CONTEXTS, prove: false, bound_limit: Some(vec![12]), ..Options::default() };
    let budget = Budget::unlimited();
    let options = Options { self_check: true, ..options };
    let verified = verify_program(&flood.program, &Reading::default(), &options, &budget).unwrap();
    assert_eq!(verified.outcome.status(), Status::Unsafe);
}
