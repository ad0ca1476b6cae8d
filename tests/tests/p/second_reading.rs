//! P programs read twice: by Tepui, and by a second reader and explorer that were written from the description of the
//! language alone.
//!
//! There are 1,000 random programs, or as many as the environment variable `TEPUI_RANDOM_PROGRAMS` says.
//! `TEPUI_RANDOM_SEED` is the first seed.

use std::collections::BTreeMap;
use std::path::Path;

use fastrand::Rng;
use tepui::{Budget, Options as Settings, Problem, Status, verify};
use tepui_lang::p::{Dialect, Options, Send, read};
use tepui_lang::source::Source;
use tepui_model::queue::Program;
use tepui_tests::corpus::corpus;
use tepui_tests::queues::{Explored, explore};
use tepui_tests::random_p::{self, rich::Rich};
use tepui_tests::second_p::{self, Found, Limits, productions};

use super::corpus::{sources, table};
use super::semantics::{EVENTS, OLD, TODAY};

const LONGEST: usize = 3;
const MOST: usize = 3_000;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// How two explorations differ.
fn differ(program: &Program, first: &Explored, second: &Found) -> Option<String> {
    // The second reading leaves scenarios out: nothing is wrong with what they say.
    let scenarios = program.specs.iter().filter(|spec| spec.scenario).map(|spec| &program.told.kinds[spec.kind].name);
    let scenarios: Vec<_> = scenarios.collect();
    let mut handled = first.handled(program);
    handled.retain(|[kind, ..]| !scenarios.contains(&kind));
    if let Some(one) = handled.symmetric_difference(&second.handled).next() {
        return Some(format!(
            "only {} uses the handler {one:?}",
            if handled.contains(one) { "Tepui" } else { "the second reading" }
        ));
    }
    let errors: BTreeMap<_, _> = first.errors.iter().map(|(error, (steps, _))| (error.name(), *steps)).collect();
    let expected = &second.errors;
    let same = errors == *expected && first.refused == second.refused;
    (!same).then(|| {
        format!(
            "Tepui: {errors:?}, refused: {}, {} states; second reading: {expected:?}, refused: {}, {} states",
            first.refused, first.states, second.refused, second.states
        )
    })
}

/// What was compared.
#[derive(Default, Debug)]
struct Measured {
    read: usize,
    explored: usize,
    /// Among them those with an error.
    wrong: usize,
    /// Among them those of which both readings have as many states.
    as_many: usize,
    errors: BTreeMap<&'static str, usize>,
    productions: BTreeMap<String, usize>,
}

/// Reads and explores a program twice; the error is a difference.
fn both(Rich { text, old }: &Rich, split: bool, measured: &mut Measured) -> Result<(), String> {
    let send = if split { Send::Split } else { Send::Atomic };
    let dialect = Some(if *old { Dialect::Old } else { Dialect::Today });
    let source = Source::new("x.p", text.as_bytes());
    let parsed = read(&[source], Options { send, dialect, ..Options::default() });
    let parsed = parsed.map_err(|errors| format!("Tepui: {}, {}", errors[0].message, &text[errors[0].span.clone()]))?;
    let reading = second_p::read(text, *old).map_err(|why| format!("second reading: {why}"))?;
    measured.read += 1;
    for (name, count) in reading.productions {
        *measured.productions.entry(name).or_default() += count;
    }
    let first = explore(&parsed.tests[0].program, LONGEST, MOST);
    let limits = Limits { test: "", split, longest: LONGEST, states: 2 * MOST };
    let second = second_p::explore(&reading.program, limits)?;
    if first.states > MOST || first.unknown.is_some() || !second.finished {
        return Ok(());
    }
    measured.explored += 1;
    measured.wrong += usize::from(!second.errors.is_empty());
    measured.as_many += usize::from(first.states == second.states);
    for error in second.errors.keys() {
        *measured.errors.entry(error).or_default() += 1;
    }
    differ(&parsed.tests[0].program, &first, &second).map_or(Ok(()), Err)
}

/// Compares many programs. What cannot be read by both is a difference.
fn compare(program: impl Fn(&mut Rng) -> Rich) -> Measured {
    let (first, count) = (number("TEPUI_RANDOM_SEED", 0), number("TEPUI_RANDOM_PROGRAMS", 1_000));
    let (mut measured, mut wrong) = (Measured::default(), Vec::new());
    for seed in first..first + count {
        let rich = program(&mut Rng::with_seed(seed));
        if let Err(why) = both(&rich, seed % 2 == 1, &mut measured) {
            wrong.push((seed, why, rich.text));
        }
    }
    println!("{measured:#?}");
    wrong.sort_by_key(|(.., text)| text.len());
    let list: Vec<_> = wrong.iter().map(|(seed, why, _)| format!("seed {seed}: {why}")).collect();
    let shown: Vec<_> = wrong.iter().take(2).map(|(seed, _, text)| format!("seed {seed}:\n{text}")).collect();
    assert!(wrong.is_empty(), "{} differ\n{}\n{}", wrong.len(), list.join("\n"), shown.join("\n"));
    let enough = measured.explored * 10 > count as usize * 9 && measured.wrong * 5 > measured.explored;
    assert!(enough, "{measured:?}");
    measured
}

#[test]
fn two_readings_agree() {
    compare(|rng| {
        let text = random_p::program(rng);
        let text = if rng.u8(..4) == 0 { random_p::asking(rng, &text) } else { text };
        Rich { text, old: false }
    });
}

#[test]
fn two_readings_of_rich_programs_agree() {
    let measured = compare(random_p::rich::write);
    // Fewer programs cannot have everything.
    if measured.read >= 1_000 {
        let missing: Vec<_> =
            productions().into_iter().filter(|name| !measured.productions.contains_key(name)).collect();
        assert!(missing.is_empty(), "no program has {missing:?}");
    }
    let unknown: Vec<_> = measured.productions.keys().filter(|name| !productions().contains(name)).collect();
    assert!(unknown.is_empty(), "not in the list of productions: {unknown:?}");
}

/// What the second reading finds in a sentence.
fn errors(text: &str, old: bool, split: bool) -> Vec<&'static str> {
    let reading = second_p::read(&format!("{EVENTS}{text}"), old).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let found = second_p::explore(&reading.program, Limits { test: "", split, longest: 5, states: 5_000 }).unwrap();
    assert!(found.finished && !found.refused, "{text}: {found:?}");
    found.errors.into_keys().collect()
}

#[test]
fn sentences_hold_in_the_second_reading() {
    for (cases, old) in [(TODAY, false), (OLD, true)] {
        for (sentence, text, expected) in cases.iter() {
            let mut expected: Vec<_> = expected.iter().map(|error| error.name()).collect();
            expected.sort_unstable();
            for split in [false, true] {
                assert_eq!(errors(text, old, split), expected, "{sentence}\n{text}");
            }
        }
    }
}

/// The texts of a folder, one after the other.
fn texts(folder: &Path) -> String {
    sources(folder).into_iter().map(|source| source.text + "\n").collect()
}

/// What is wrong with what was found, given the error that is known, or that there is none.
fn judge(found: &Found, known: Option<&str>, steps: &str) -> Option<String> {
    let shortest = found.errors.iter().min_by_key(|(_, steps)| **steps);
    let right = match (known, shortest) {
        (None, shortest) => shortest.is_none(),
        (Some(_), None) => !found.finished,
        (Some(known), Some((name, least))) => *name == known && (steps.is_empty() || steps == least.to_string()),
    };
    (!right).then(|| format!("expected {known:?} after {steps} steps: {found:?}"))
}

#[test]
#[ignore = "needs the corpus"]
fn programs_of_others_do_what_is_known() {
    let folder = corpus().join("p/today");
    let (mut wrong, mut finished, mut others) = (Vec::new(), 0, Vec::new());
    for row in table(&folder.join("expected.tsv")) {
        if !matches!(row["oracle"].as_str(), "safe" | "unsafe") || row["kind"] == "liveness" {
            continue;
        }
        let place = format!("{} {}", row["path"], row["test"]);
        let limits = Limits { test: &row["test"], split: false, longest: 8, states: 20_000 };
        let found = second_p::read(&texts(&folder.join(&row["path"])), false)
            .and_then(|reading| second_p::explore(&reading.program, limits));
        let kind = row["kind"].replace(' ', "-");
        match found {
            Err(why) => others.push(format!("{place}: {why}")),
            Ok(found) => {
                finished += usize::from(found.finished);
                others.extend((!found.finished).then(|| place.clone()));
                let known = (row["oracle"] == "unsafe").then_some(kind.as_str());
                wrong.extend(judge(&found, known, &row["steps"]).map(|why| format!("{place}: {why}")));
            }
        }
    }
    println!("{finished} explored, others: {others:#?}");
    assert!(wrong.is_empty() && finished > 80, "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs the corpus"]
fn old_programs_of_others_are_read_alike() {
    let folder = corpus().join("p/old");
    let (mut wrong, mut finished) = (Vec::new(), 0);
    for row in table(&folder.join("expected.tsv")) {
        let sources = sources(&folder.join(&row["dir"]));
        let parsed = read(&sources, Options { dialect: Some(Dialect::Old), ..Options::default() }).unwrap();
        let text: String = sources.iter().map(|source| source.text.clone() + "\n").collect();
        let reading = second_p::read(&text, true).unwrap_or_else(|why| panic!("{}: {why}", row["dir"]));
        for longest in 1..=2 {
            let first = explore(&parsed.tests[0].program, longest, 6_000);
            let limits = Limits { test: "", split: false, longest, states: 12_000 };
            let second = second_p::explore(&reading.program, limits).unwrap();
            println!("{} {longest}: {} and {} states, {:?}", row["name"], first.states, second.states, second.errors);
            if first.states <= 6_000 && second.finished {
                finished += 1;
                let program = &parsed.tests[0].program;
                wrong.extend(differ(program, &first, &second).map(|why| format!("{} {longest}: {why}", row["name"])));
            }
        }
    }
    assert!(wrong.is_empty() && finished > 10, "{}", wrong.join("\n"));
}

/// Small programs, a line each: the dialect, the errors with the steps that they take, and the text.
const TRAPS: &str = include_str!("traps.txt");

/// What both readings find in a small program; the error is a difference.
fn found(text: &str, old: bool, split: bool) -> Result<String, String> {
    let send = if split { Send::Split } else { Send::Atomic };
    let dialect = Some(if old { Dialect::Old } else { Dialect::Today });
    let source = Source::new("x.p", text.as_bytes());
    let parsed = read(&[source], Options { send, dialect, ..Options::default() });
    let parsed = parsed.map_err(|errors| format!("Tepui: {}", errors[0].message))?;
    let first = explore(&parsed.tests[0].program, LONGEST, MOST);
    let limits = Limits { test: "", split, longest: LONGEST, states: 2 * MOST };
    let second = second_p::explore(&second_p::read(text, old)?.program, limits)?;
    if first.unknown.is_some() || !second.finished {
        return Err(format!("not explored: {first:?}, {second:?}"));
    }
    let errors: Vec<_> = second.errors.iter().map(|(name, steps)| format!("{name} {steps}")).collect();
    differ(&parsed.tests[0].program, &first, &second).map_or(Ok(errors.join(", ")), Err)
}

#[test]
fn both_readings_see_the_traps() {
    let mut wrong = Vec::new();
    for line in TRAPS.lines() {
        let mut parts = line.splitn(3, "; ");
        let mut next = || parts.next().unwrap_or_default();
        let (dialect, expected, text) = (next(), next(), next());
        let text = format!("{EVENTS}{text}");
        // With split sends some take more steps; both readings must say which.
        let found = found(&text, dialect == "old", false);
        wrong.extend((found.as_deref() != Ok(expected)).then(|| format!("{found:?}, expected {expected:?}: {line}")));
        wrong.extend(self::found(&text, dialect == "old", true).err().map(|why| format!("split: {why}: {line}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the engines say about a program, beside what the second reading found; the error is a difference.
fn answered(rich: &Rich, split: bool, confirmed: &mut usize) -> Result<(), String> {
    let send = if split { Send::Split } else { Send::Atomic };
    let dialect = Some(if rich.old { Dialect::Old } else { Dialect::Today });
    let source = Source::new("x.p", rich.text.as_bytes());
    let parsed = read(&[source], Options { send, dialect, ..Options::default() });
    let parsed = parsed.map_err(|errors| format!("Tepui: {}", errors[0].message))?;
    let limits = Limits { test: "", split, longest: LONGEST, states: MOST };
    let second = second_p::explore(&second_p::read(&rich.text, rich.old)?.program, limits)?;
    let settings = Settings { self_check: true, bound_limit: Some(vec![4]), ..Settings::default() };
    let problem = Problem::from(parsed.tests[0].program.clone());
    let answer = verify(&problem, &settings, &Budget::unlimited().with_work(20_000)).map_err(|why| why.to_string())?;
    for property in &answer.outcome.properties {
        let name = property.name.as_str();
        let happens = second.errors.contains_key(name);
        let known = second.finished && !second.refused && name != "liveness";
        match property.verdict.status() {
            Status::Safe if happens => {
                return Err(format!("{name} is called safe: {second:?}"));
            }
            Status::Unsafe if known && !happens => return Err(format!("{name} does not happen: {second:?}")),
            Status::Unknown => {}
            Status::Safe | Status::Unsafe => *confirmed += usize::from(known || happens),
        }
    }
    let asked = |name: &str| answer.outcome.properties.iter().any(|property| property.name == name);
    second.errors.keys().find(|name| !asked(name)).map_or(Ok(()), |name| Err(format!("{name} is not asked for")))
}

#[test]
fn answers_are_those_of_the_second_reading() {
    let (first, count) = (number("TEPUI_RANDOM_SEED", 0), number("TEPUI_RANDOM_PROGRAMS", 1_000) / 4);
    let (mut confirmed, mut wrong) = (0, Vec::new());
    for seed in first..first + count {
        let rich = random_p::rich::write(&mut Rng::with_seed(seed));
        if let Err(why) = answered(&rich, seed % 2 == 1, &mut confirmed) {
            wrong.push(format!("seed {seed}: {why}"));
        }
    }
    println!("{confirmed} answers are confirmed");
    assert!(wrong.is_empty() && confirmed as u64 > count, "{confirmed}\n{}", wrong.join("\n"));
}
