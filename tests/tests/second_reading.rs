//! Programs read twice: by Tepui, and by a second reader and explorer that were written from the book alone.
//!
//! Random programs of all dialects are compared: 1,500, or as many as the environment variable `TEPUI_RANDOM_PROGRAMS`
//! says. `TEPUI_RANDOM_SEED` is the first seed, 0 if it is not there.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use tepui::{Choice, Compiling, Cores, Options, verify_program};
use tepui_core::{Budget, Reason, Status, Verdict};
use tepui_lang::boolean::{self, DEADLOCK, read_program};
use tepui_lang::source::Source;
use tepui_model::program::Program;
use tepui_tests::random_programs::{Random, write};
use tepui_tests::second::{self, Dialect, Found, Limits, explore, productions};

/// Whether Tepui reads programs for Getafix.
const READS_GETAFIX: bool = false;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// The seeds of the programs that are compared.
fn seeds() -> std::ops::Range<u64> {
    let first = number("TEPUI_RANDOM_SEED", 0);
    first..first + number("TEPUI_RANDOM_PROGRAMS", 1_500)
}

fn program(seed: u64) -> Random {
    write(&mut Rng::with_seed(seed))
}

/// What Tepui reads.
fn theirs(random: &Random) -> Result<Program, String> {
    let source = Source::new("random", random.text.as_bytes());
    let dialect = match random.dialect {
        _ if !random.forced => boolean::Dialect::of(&source),
        Dialect::Tepui => boolean::Dialect::Tepui,
        Dialect::Satabs => boolean::Dialect::Satabs,
        Dialect::Boppo | Dialect::Getafix => boolean::Dialect::Boppo,
    };
    let read = read_program(&source, dialect, &random.labels);
    read.map(|parsed| parsed.program).map_err(|errors| format!("Tepui does not read it: {errors:?}"))
}

/// The options that a seed is verified with, with what they are called.
fn option_sets(seed: u64) -> [(&'static str, bool, Options); 3] {
    let plain = || Options { bound_limit: Some(vec![12]), cores: Cores::new(1), ..Options::default() };
    let engine = |engine| Options { engine, ..plain() };
    let other = match seed % 5 {
        0 => ("contexts", true, engine(Choice::Contexts)),
        1 => ("delays", true, engine(Choice::Delays)),
        2 => ("symbolic", false, engine(Choice::Symbolic)),
        3 => ("no symmetry", true, Options { symmetry: false, ..plain() }),
        _ => ("two cores", true, Options { cores: Cores::new(2), ..plain() }),
    };
    [("reduced", true, plain()), ("not reduced", false, plain()), other]
}

/// Compares the verdicts with what the second explorer found. Returns how many of them it could confirm.
fn compare(program: &Program, seed: u64, random: &Random, found: &Found, threads: usize) -> Result<usize, String> {
    let mut confirmed = 0;
    for (name, reduce, options) in option_sets(seed) {
        let compiling =
            Compiling { max_threads: threads as u32, reduce, deadlock: random.deadlock, ..Compiling::default() };
        let verified = verify_program(program, &compiling, &options, &Budget::unlimited())
            .map_err(|why| format!("{name}: Tepui does not compile it: {why}"))?;
        for property in &verified.outcome.properties {
            let bad = found.violated.contains(&property.name) || property.name == DEADLOCK && found.stuck;
            let differs = |what| Err(format!("{name}, {}: {what}; the second reading found {found:?}", property.name));
            match property.verdict.status() {
                Status::Safe if bad => return differs("safe, but it is violated"),
                Status::Unsafe if found.complete && !bad => return differs("unsafe, but it holds"),
                Status::Unknown if doubted(&property.verdict) => return differs("no confidence in the answer"),
                Status::Unknown => {}
                Status::Safe | Status::Unsafe => confirmed += usize::from(bad || found.complete),
            }
        }
    }
    Ok(confirmed)
}

/// Whether Tepui found an answer and did not believe it.
fn doubted(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Unknown(Reason::SelfCheckFailed(_)))
}

#[derive(Default, Debug)]
struct Measured {
    read: usize,
    complete: usize,
    violated: usize,
    properties: usize,
    confirmed: usize,
    states: usize,
}

fn both(seed: u64, measured: &mut Measured) -> Result<(), String> {
    let random = program(seed);
    let reading = second::read(&random.text, random.dialect).map_err(|why| format!("second: {why}"))?;
    let threads = 2 + usize::from(seed % 3 != 0);
    let labels: Vec<_> = random.labels.iter().map(String::as_str).collect();
    let found = explore(&reading.program, &labels, Limits { threads, frames: 4, states: 4_000 });
    measured.read += 1;
    measured.complete += usize::from(found.complete);
    measured.violated += usize::from(found.complete && !found.violated.is_empty());
    measured.states += found.states;
    let names: BTreeSet<_> = reading.program.properties().iter().collect();
    if found.complete {
        measured.properties += names.len();
    }
    if random.dialect == Dialect::Getafix && !READS_GETAFIX {
        return Ok(());
    }
    let program = theirs(&random)?;
    measured.confirmed += compare(&program, seed, &random, &found, threads)?;
    Ok(())
}

#[test]
fn two_readings_agree() {
    let (mut measured, mut differences) = (Measured::default(), Vec::new());
    for seed in seeds() {
        if let Err(why) = both(seed, &mut measured) {
            differences.push((seed, why));
        }
    }
    eprintln!("{measured:?}");
    for (seed, why) in differences.iter().take(20) {
        let random = program(*seed);
        eprintln!("--- seed {seed}, {:?}, labels {:?}: {why}\n{}", random.dialect, random.labels, random.text);
    }
    let all: Vec<_> = differences.iter().map(|(seed, why)| (seed, &why[..why.len().min(120)])).collect();
    assert!(differences.is_empty(), "{} of {} programs differ: {all:#?}", differences.len(), measured.read);
    assert!(measured.confirmed * 2 > measured.read, "{measured:?}");
}

#[test]
fn random_programs_use_every_production() {
    let mut table: BTreeMap<String, usize> = productions().into_iter().map(|name| (name, 0)).collect();
    for seed in seeds() {
        let random = program(seed);
        let reading = match second::read(&random.text, random.dialect) {
            Ok(reading) => reading,
            Err(why) => panic!("seed {seed}: {why}\n{}", random.text),
        };
        for (production, count) in reading.productions {
            *table.entry(production).or_default() += count;
        }
    }
    let mut rows: Vec<_> = table.iter().map(|(name, count)| (*count, name)).collect();
    rows.sort();
    eprintln!("fewest: {:?}", &rows[..8]);
    assert!(rows[0].0 > 0, "{}", rows.iter().map(|(count, name)| format!("{count:6} {name}\n")).collect::<String>());
}
