//! Random programs with queues: the engine's search against the slow one, and what it proves against the checker.
//!
//! There are 1,000 programs, or as many as the environment variable `TEPUI_RANDOM_PROGRAMS` says. `TEPUI_RANDOM_SEED` is the
//! first seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use tepui::{
    AUTO, Budget, CLOSURE, COVER, Certificate, Options as Settings, Outcome, PartialOrder, Problem, QUEUES, Reason,
    Status, Verdict, WALK, Walking, verify,
};
use tepui_check::queue::{check, replay};
use tepui_engines::queue::explorer::Explorer;
use tepui_engines::queue::summary::{Order, Precision};
use tepui_lang::p::claims::read_claim;
use tepui_lang::p::{Options, Send, read};
use tepui_lang::source::Source;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::{Handler, Program};
use tepui_tests::live::hot_for_ever;
use tepui_tests::queues::{Explored, explore};
use tepui_tests::random_p;

const LONGEST: usize = 3;
const MOST: usize = 3_000;

/// States among which circles are looked for.
const FEW: usize = 300;

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// Which rows are left out.
#[derive(Clone, Copy, Default)]
struct Less {
    symmetry: bool,
    partial_order: bool,
}

fn search(program: &Program, precision: Precision, longest: usize, most: u64, less: Less) -> Option<Explorer> {
    let kinds = program.kinds.len();
    let mut explorer = Explorer::new(Arc::new(program.clone()), vec![precision; kinds], longest);
    if less.symmetry {
        explorer = explorer.up_to_symmetry();
    }
    if less.partial_order {
        explorer = explorer.with_partial_order().again(vec![precision; kinds]);
    }
    explorer.run(&mut |own| own.steps() > most).then_some(explorer)
}

const ALL: [Error; 19] = [
    Error::Assert,
    Error::Unhandled,
    Error::NullTarget,
    Error::NullEvent,
    Error::Index,
    Error::Key,
    Error::DuplicateKey,
    Error::Division,
    Error::Cast,
    Error::Null,
    Error::Choose,
    Error::EventBound,
    Error::MachineBound,
    Error::Pop,
    Error::Permission,
    Error::Diverges,
    Error::Deadlock,
    Error::HotAtEnd,
    Error::Invariant,
];

/// What is found by both, with queues up to a length, and how many states there are.
fn bounded(program: &Program, slow: &Explored, symmetry: bool) -> Result<usize, String> {
    let less = Less { symmetry, ..Less::default() };
    let Some(mut fast) = search(program, Precision::EXACT, LONGEST, u64::MAX, less) else { return Ok(0) };
    let (found, expected): (Vec<_>, Vec<_>) = (fast.errors().keys().collect(), slow.errors.keys().collect());
    if found != expected || fast.len() > slow.states.max(1) || fast.has_refused() != slow.refused {
        return Err(format!("{found:?} in {} states, expected {expected:?} in {}", fast.len(), slow.states));
    }
    for error in expected {
        let trace = fast.trace(*error).unwrap();
        replay(program, &trace).map_err(|rejected| format!("{}: {rejected}", error.name()))?;
        let steps = slow.errors[error].0;
        if trace.steps.len() > steps {
            return Err(format!("{}: {} steps, {steps} are enough", error.name(), trace.steps.len()));
        }
    }
    Ok(fast.len())
}

/// The same errors are found where others wait while a machine takes harmless steps.
fn left_out(program: &Program, slow: &Explored, counts: &mut BTreeMap<&'static str, usize>) -> Result<(), String> {
    let less = Less { partial_order: true, ..Less::default() };
    let most = 40_000;
    let Some(all) = search(program, Precision::EXACT, usize::MAX, most, Less::default()) else { return Ok(()) };
    let Some(mut some) = search(program, Precision::EXACT, usize::MAX, most, less) else {
        return Err("there are more rows if some are left out".to_owned());
    };
    let (found, expected): (Vec<_>, Vec<_>) = (some.errors().keys().collect(), all.errors().keys().collect());
    if found != expected || some.len() > all.len() || slow.errors.keys().any(|error| !found.contains(&error)) {
        return Err(format!("if others wait: {found:?}, expected {expected:?}"));
    }
    // Where letters are left out that are only ignored, the steps that ignore them are missing.
    let habits = program.habits();
    let all_used = habits.iter().all(|kind| kind.uses.iter().all(|used| *used));
    let mut missing = false;
    for error in expected {
        let trace = some.trace(*error).unwrap();
        match replay(program, &trace) {
            Ok(_) => {}
            Err(_) if !all_used => missing = true,
            Err(rejected) => return Err(format!("if others wait: {}: {rejected}", error.name())),
        }
    }
    *counts.entry("steps that ignore are missing").or_default() += usize::from(missing);
    *counts.entry("fewer if others wait").or_default() += usize::from(some.len() < all.len());
    Ok(())
}

/// What summaries prove holds, and the checker agrees.
fn proved(
    program: &Program,
    slow: &Explored,
    less: Less,
    counts: &mut BTreeMap<&'static str, usize>,
) -> Result<(), String> {
    for (name, precision) in [
        ("bag", Precision { prefix: 0, order: Order::Bag, cap: 2 }),
        ("list", Precision { prefix: 0, order: Order::List, cap: 1 }),
        ("ends", Precision::ENDS),
        ("ends with a prefix and counts", Precision { prefix: 1, order: Order::Ends, cap: 3 }),
    ] {
        let Some(cover) = search(program, precision, usize::MAX, 40_000, less) else { continue };
        if let Some(missed) = slow.errors.keys().find(|error| !cover.errors().contains_key(error)) {
            return Err(format!("{name}: {} is missed", missed.name()));
        }
        let claimed: Vec<_> = ALL.into_iter().filter(|error| !cover.errors().contains_key(error)).collect();
        let names: Vec<_> = claimed.iter().map(|error| error.name().to_owned()).collect();
        let certificate = cover.certificate(&claimed);
        if cover.errors().contains_key(&Error::Invariant) {
            // What claims leave out is left out wrongly if they do not hold.
            match check(program, &names, &certificate, &|| false) {
                Ok(_) => return Err(format!("{name}: a claim that may not hold is relied on")),
                Err(_) => continue,
            }
        }
        check(program, &names, &certificate, &|| false).map_err(|rejected| format!("{name}: {rejected}"))?;
        *counts.entry(name).or_default() += 1;
        let all: Vec<_> = ALL.iter().map(|error| error.name().to_owned()).collect();
        if !cover.errors().is_empty() && check(program, &all, &cover.certificate(&ALL), &|| false).is_ok() {
            return Err(format!("{name}: errors are accepted"));
        }
    }
    Ok(())
}

/// Why it is wrong which handlers a proof says are never used.
fn missed_handlers(program: &Program, slow: &Explored, outcome: &Outcome) -> Option<String> {
    let Some(Certificate::Queue(certificate)) = outcome.evidence().map(|evidence| &evidence.certificate) else {
        return None;
    };
    let safe = outcome.properties.iter().filter(|property| property.verdict.status() == Status::Safe);
    let names: Vec<_> = safe.map(|property| property.name.clone()).collect();
    let proved = check(program, &names, certificate, &|| false).unwrap();
    let missed = slow.handled.difference(&proved.handled).next()?;
    Some(format!("the handler {missed:?} is used"))
}

/// What engines say is right, and comes with evidence.
fn answered(program: &Program, slow: &Explored, counts: &mut BTreeMap<&'static str, usize>) -> Result<(), String> {
    let problem = Problem::from(program.clone());
    let asked = problem.asked();
    if let Some(missed) = slow.errors.keys().find(|error| !asked.iter().any(|name| name == error.name())) {
        return Err(format!("{} is not asked for", missed.name()));
    }
    let walking = Walking { schedules: 50, steps: 60, ..Walking::default() };
    let usual = [&AUTO, &CLOSURE, &COVER, &QUEUES, &WALK].map(|engine| (engine, PartialOrder::Auto));
    for (engine, partial_order) in usual.into_iter().chain([(&COVER, PartialOrder::Always)]) {
        let bound_limit = (*engine != WALK).then(|| vec![4]);
        let options = Settings { engine, self_check: true, walking, partial_order, bound_limit, ..Settings::default() };
        let live = if slow.complete { hot_for_ever(program, FEW) } else { None };
        let answer = verify(&problem, &options, &Budget::unlimited().with_work(50_000)).unwrap();
        missed_handlers(program, slow, &answer.outcome).map_or(Ok(()), |why| Err(format!("{}: {why}", engine.name)))?;
        for property in &answer.outcome.properties {
            let status = property.verdict.status();
            let mut happens = slow.errors.keys().any(|error| error.name() == property.name);
            if property.name == Error::HotForEver.name() {
                // What is violated has been replayed.
                happens = live.unwrap_or(status == Status::Unsafe);
                let name = if happens { "hot for ever" } else { "not hot for ever" };
                *counts.entry(name).or_default() += usize::from(*engine == AUTO && live.is_some());
            }
            match &property.verdict {
                Verdict::Safe(_) if happens => return Err(format!("{}: {} is missed", engine.name, property.name)),
                Verdict::Unknown(Reason::SelfCheckFailed(why) | Reason::Defect(why)) => {
                    return Err(format!("{}: {}: {why}", engine.name, property.name));
                }
                // Without anything refused, all states are known.
                Verdict::Unsafe(_) if !happens && !slow.refused => {
                    return Err(format!("{}: {} does not happen", engine.name, property.name));
                }
                _ => {}
            }
            if *engine == AUTO {
                let name = match status {
                    Status::Safe => "proved",
                    Status::Unsafe => "broken",
                    Status::Unknown => "open",
                };
                *counts.entry(name).or_default() += 1;
            }
        }
    }
    Ok(())
}

/// Claims something of queues that is true of the empty one.
fn claim(program: &mut Program, rng: &mut Rng) {
    let kinds = program.kinds.len() - program.specs.len();
    let name = program.told.kinds[rng.usize(..kinds)].name.clone();
    for _ in 0..20 {
        let text = format!("{name}: {}", random_p::formula(rng, 3));
        if let Ok(claim) = read_claim(&text, program) {
            program.claims.push(claim);
            break;
        }
    }
}

/// Lets machines of a kind only ignore or defer an event.
fn leave_alone(program: &mut Program, rng: &mut Rng) {
    let kind = rng.usize(..program.kinds.len() - program.specs.len());
    let event = rng.usize(..program.events.len()) as u32;
    for state in &mut program.kinds[kind].states {
        state.defers.retain(|own| *own != event);
        state.handlers.retain(|(own, _)| *own != event);
        if rng.u8(..3) == 0 {
            state.defers.push(event);
        } else {
            state.handlers.push((event, Handler::Ignore));
        }
    }
}

#[test]
fn searches_agree() {
    let (first, count) = (number("TEPUI_RANDOM_SEED", 0), number("TEPUI_RANDOM_PROGRAMS", 1_000));
    let mut counts = BTreeMap::new();
    for seed in first..first + count {
        let mut rng = Rng::with_seed(seed);
        let text = if seed % 5 == 4 { random_p::races::program(&mut rng) } else { random_p::program(&mut rng) };
        let asks = seed % 7 == 3;
        let text = if asks { random_p::asking(&mut rng, &text) } else { text };
        let send = if seed % 2 == 0 { Send::Atomic } else { Send::Split };
        let options = Options { send, ..Options::default() };
        let parsed = read(&[Source::new("x.p", text.as_bytes())], options);
        let parsed = parsed.unwrap_or_else(|errors| panic!("seed {seed} is not read: {errors:#?}\n{text}"));
        let mut program = parsed.tests.into_iter().next().unwrap().program;
        if seed % 3 == 0 {
            claim(&mut program, &mut Rng::with_seed(seed));
        } else if seed % 3 == 1 {
            leave_alone(&mut program, &mut Rng::with_seed(seed));
        }
        let program = &program;
        let slow = explore(program, LONGEST, MOST);
        for (word, name) in [("defer", "defer"), ("receive", "receive"), ("on null", "null"), ("halt", "halt")] {
            *counts.entry(name).or_default() += usize::from(text.contains(word));
        }
        if slow.states > MOST || slow.unknown.is_some() {
            continue;
        }
        *counts.entry("explored").or_default() += 1;
        *counts.entry("specs, some of which ask").or_default() += usize::from(asks && !program.specs.is_empty());
        *counts.entry("claims").or_default() += program.claims.len();
        *counts.entry("broken claims").or_default() += usize::from(slow.errors.contains_key(&Error::Invariant));
        *counts.entry("unsafe").or_default() += usize::from(!slow.errors.is_empty());
        let judged = bounded(program, &slow, false)
            .and_then(|all| {
                let kept = bounded(program, &slow, true)?;
                *counts.entry("fewer up to symmetry").or_default() += usize::from(kept < all);
                if kept > all { Err(format!("{kept} states up to symmetry, {all} without")) } else { Ok(()) }
            })
            .and_then(|()| left_out(program, &slow, &mut counts))
            .and_then(|()| proved(program, &slow, Less::default(), &mut counts))
            .and_then(|()| proved(program, &slow, Less { symmetry: true, partial_order: true }, &mut counts))
            .and_then(|()| answered(program, &slow, &mut counts));
        judged.unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
    }
    println!("{counts:?}");
    let explored = counts["explored"];
    assert!(explored * 2 > count as usize && counts["unsafe"] * 5 > explored, "{counts:?}");
    assert!(counts["fewer if others wait"] * 3 > explored, "{counts:?}");
    let missing = counts["steps that ignore are missing"];
    assert!(missing > 0 && missing * 4 < counts["unsafe"], "{counts:?}");
    for name in ["hot for ever", "not hot for ever", "specs, some of which ask"] {
        assert!(counts[name] * 50 > explored, "{counts:?}");
    }
    for name in ["defer", "receive", "null", "halt"] {
        assert!(counts[name] * 10 > count as usize, "{name}: {counts:?}");
    }
}
