//! Steps that are worked out when they are asked for against the table of rules: both lead to the same rows.
//!
//! In the table a step of the program may be several, with *modes* in between: a return and what the frame below makes of
//! it, a start and the places that new threads take. Rows in a mode are left out. Random programs are compared: 150 of each
//! sort, or as many as the environment variable `TEPUI_RANDOM_PROGRAMS` says. `TEPUI_RANDOM_SEED` is the first seed.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use fastrand::Rng;
use tepui::Cores;
use tepui_core::Budget;
use tepui_engines::closure::{self, Closure};
use tepui_engines::program::code::Code;
use tepui_engines::program::system::Programs;
use tepui_engines::program::table::{self, Phase, compile};
use tepui_engines::program::views::FrameViews;
use tepui_engines::program::{Face, Patience};
use tepui_lang::boolean::{Dialect, read_program};
use tepui_lang::source::Source;
use tepui_model::program::Program;
use tepui_model::program::step::{Frame, Value};
use tepui_tests::oracle::{Cap, reachable};
use tepui_tests::{random_programs, second};

/// The shared values, and the frames of each thread from the bottom to the top.
type Row = (Vec<Value>, Vec<Vec<Frame>>);

/// The highest stacks, and the most states, with those in a mode.
const CAP: Cap = Cap { height: 4, states: 2_000 };

/// How much work a table may cost.
const WORK: u64 = 200_000;

fn read(text: &str, dialect: Option<Dialect>) -> Program {
    let parsed = read_program(&Source::new("program.bp", text.as_bytes()), dialect, &[]);
    parsed.unwrap_or_else(|errors| panic!("{text}: {errors:?}")).program
}

/// Writes a random program, and says in which dialect it is, if it has to be said.
type Write = fn(&mut Rng) -> (String, Option<Dialect>);

const SORTS: [(&str, Write); 4] = [
    ("plain", |rng| (random_programs::program(rng), None)),
    ("fixed threads", |rng| (random_programs::fixed_program(rng), None)),
    ("threads apart", |rng| (random_programs::apart(rng).text, None)),
    ("all constructs", |rng| {
        let random = random_programs::write(rng);
        let dialect = match random.dialect {
            second::Dialect::Tepui => Dialect::Tepui,
            second::Dialect::Satabs => Dialect::Satabs,
            second::Dialect::Boppo => Dialect::Boppo,
            second::Dialect::Getafix => Dialect::Getafix,
        };
        (random.text, Some(dialect))
    }),
];

/// The rows of the table; none, if there are too many.
fn of_table(program: &Program, options: table::Options) -> Option<BTreeSet<Row>> {
    let patience = Patience::of(&Budget::unlimited().with_work(WORK), table::LOOK_EVERY as u64);
    let compiled = compile(program, options, &patience).ok()?;
    let (states, complete) = reachable(&compiled.model, CAP);
    let legend = &compiled.legend;
    let row = |state: &tepui_model::pushdown::State| -> Option<Row> {
        let stack = |(thread, stack): (usize, &Vec<_>)| -> Option<Vec<Frame>> {
            let frame = |(height, &symbol)| match height + 1 == stack.len() {
                true => legend.on_top(thread, symbol),
                false => legend.below(thread, symbol),
            };
            stack.iter().enumerate().map(frame).collect()
        };
        let stacks = state.stacks.iter().enumerate().map(stack).collect::<Option<_>>()?;
        (legend.phase(state.shared) == Phase::Open).then(|| (legend.shared(state.shared), stacks))
    };
    complete.then(|| states.iter().filter_map(row).collect())
}

/// The rows that steps on demand lead to; none, if a stack gets too high.
fn on_demand(program: &Program, options: table::Options) -> Option<BTreeSet<Row>> {
    let code = Code::new(program, options, Face::Composed, Patience::default()).ok()?;
    let system = Programs::new(Arc::new(code), false, Vec::new());
    // Where no procedure is called, a view of one frame is all; elsewhere it shows all that there are.
    let level = if system.is_flat() { 1 } else { CAP.height + 1 };
    let mut closure = Closure::<Programs, FrameViews>::of(&closure::FACTS, system, level, Cores::new(1));
    let mut budget = Budget::unlimited();
    let certificate = loop {
        closure.advance(&mut budget);
        if let Some((_, certificate)) = closure.certificate(&mut budget).unwrap() {
            break certificate;
        }
    };
    let [lemma] = certificate.lemmas.as_slice() else { return None };
    let row = |row: &[u32]| -> Option<Row> {
        let stack = |(thread, &word): (usize, &u32)| -> Option<Vec<Frame>> {
            let word = &lemma.threads[thread].words[word as usize];
            let closed = lemma.depth == 1 || word.last().is_some_and(|symbol| symbol.is_bottom());
            let frames = word.iter().rev().filter(|symbol| !symbol.is_bottom());
            closed.then(|| frames.map(|symbol| certificate.frames[symbol.0 as usize - 1].clone()).collect())
        };
        let stacks = row[1..].iter().enumerate().map(stack).collect::<Option<_>>()?;
        Some((certificate.shared.get(row[0] as usize).into_iter().map(Value::of).collect(), stacks))
    };
    lemma.views.iter().map(|numbers| row(&numbers)).collect()
}

fn compare(name: &str, (text, dialect): (&str, Option<Dialect>), reduce: bool, places: usize) -> Option<usize> {
    let program = read(text, dialect);
    // Where threads need not rest, the two may differ. A table knows who sleeps only where it is asked for deadlocks:
    // otherwise a thread may sleep on after a broadcast.
    let deadlock = text.contains("broadcast");
    let options = table::Options { places, reduce, deadlock, keep_steps: true, ..table::Options::default() };
    let expected = of_table(&program, options)?;
    let found = on_demand(&program, options)?;
    let only = |rows: &BTreeSet<Row>, others: &BTreeSet<Row>| rows.difference(others).next().cloned();
    let (missing, added) = (only(&expected, &found), only(&found, &expected));
    assert!(missing.is_none(), "{name}, reduce {reduce}: {missing:?} is missing\n{text}");
    assert!(added.is_none(), "{name}, reduce {reduce}: {added:?} is added\n{text}");
    Some(found.len())
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

#[test]
fn steps_on_demand_lead_to_the_rows_of_the_table() {
    let (first, count) = (number("TEPUI_RANDOM_SEED", 0), number("TEPUI_RANDOM_PROGRAMS", 150));
    for (sort, write) in SORTS {
        let (mut compared, mut rows) = (0, 0);
        for seed in first..first + count {
            let (text, dialect) = write(&mut Rng::with_seed(seed));
            let found = compare(&format!("{sort} {seed}"), (&text, dialect), seed % 2 == 0, 2 + seed as usize % 2);
            compared += u64::from(found.is_some());
            rows += found.unwrap_or(0);
        }
        println!("{sort}: {compared} of {count} compared, {rows} rows");
        assert!(compared * 3 > count, "{sort}: only {compared} of {count} compared");
    }
}

/// Compares all programs under a folder; returns how many could be.
fn compare_all(folder: &Path) -> usize {
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            compared += compare_all(&path);
        } else if path.extension().is_some_and(|extension| extension == "bp") {
            let text = std::fs::read_to_string(&path).unwrap();
            for reduce in [false, true] {
                compared += usize::from(compare(&path.display().to_string(), (&text, None), reduce, 3).is_some());
            }
        }
    }
    compared
}

#[test]
fn examples_have_the_same_rows() {
    assert!(compare_all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")) > 10);
}

#[test]
#[ignore = "needs the corpus"]
fn the_corpus_has_the_same_rows() {
    assert!(compare_all(&tepui_tests::corpus::corpus().join("bp")) > 4);
}
