//! Programs read twice: by Tepui, and by a second reader and explorer that were written from the book alone.
//!
//! Random programs of all dialects are compared: 900, or as many as the environment variable `TEPUI_RANDOM_PROGRAMS`
//! says. `TEPUI_RANDOM_SEED` is the first seed, 0 if it is not there; `TEPUI_RANDOM_SHOWN` is how many differences of a kind
//! are shown with shortened programs, 2 if it is not there.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc;
use std::time::Duration;

use fastrand::Rng;
use tepui::{CONTEXTS, COUNTING, Cores, DELAYS, DISPATCH, Dispatcher, Options, Reading, SYMBOLIC, Schedulers};
use tepui_core::{Budget, Limit, Reason, Status, Verdict};
use tepui_lang::boolean::{self, DEADLOCK, read_program};
use tepui_lang::source::Source;
use tepui_model::program::Program;
use tepui_tests::facade::verify_program;
use tepui_tests::random_programs::{Random, write};
use tepui_tests::second::{self, Dialect, Found, Limits, explore, productions};
use tepui_tests::shrink::{TRIES, shrink, smaller_texts};

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |number| number.parse().unwrap())
}

/// The seeds of the programs that are compared.
fn seeds() -> std::ops::Range<u64> {
    let first = number("TEPUI_RANDOM_SEED", 0);
    first..first + number("TEPUI_RANDOM_PROGRAMS", 900)
}

fn program(seed: u64) -> Random {
    write(&mut Rng::with_seed(seed))
}

/// What Tepui reads.
fn theirs(random: &Random) -> Result<Program, String> {
    let source = Source::new("random", random.text.as_bytes());
    let dialect = match random.dialect {
        Dialect::Getafix => Some(boolean::Dialect::Getafix),
        _ if !random.forced => None,
        Dialect::Tepui => Some(boolean::Dialect::Tepui),
        Dialect::Satabs => Some(boolean::Dialect::Satabs),
        Dialect::Boppo => Some(boolean::Dialect::Boppo),
    };
    let read = read_program(&source, dialect, &random.labels);
    read.map(|parsed| parsed.program).map_err(|errors| format!("Tepui does not read it: {errors:?}"))
}

/// How much work may be done on a program, unless `TEPUI_RANDOM_WORK` says otherwise: not every engine comes to an end on every
/// one.
const WORK: u64 = 200_000;

/// The options that a seed is verified with, with what they are called.
fn option_sets(seed: u64, tasks: bool) -> [(&'static str, bool, Options); 3] {
    let plain = || Options { bound_limit: Some(vec![12]), cores: Cores::new(1), ..Options::default() };
    let engine = |engine| Options { engine, ..plain() };
    if tasks {
        let others = ["fifo", "lifo", "priority"].into_iter().filter_map(Dispatcher::named).collect();
        let other = Options { schedulers: Schedulers(others), ..engine(&DISPATCH) };
        return [("counting", true, engine(&COUNTING)), ("dispatch", true, other), ("auto", true, plain())];
    }
    let other = match seed % 5 {
        0 => ("contexts", true, engine(&CONTEXTS)),
        1 => ("delays", true, engine(&DELAYS)),
        2 => ("symbolic", false, engine(&SYMBOLIC)),
        3 => ("no symmetry", true, Options { symmetry: false, ..plain() }),
        _ => ("two cores", true, Options { cores: Cores::new(2), ..plain() }),
    };
    [("reduced", true, plain()), ("not reduced", false, plain()), other]
}

/// Gives something a budget that ends after some seconds: not every engine comes to an end on every program.
fn within_seconds<T>(seconds: u64, run: impl FnOnce(&Budget) -> T) -> T {
    let budget = Budget::unlimited();
    let stopper = budget.stopper();
    let (done, wait) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        if wait.recv_timeout(Duration::from_secs(seconds)) == Err(mpsc::RecvTimeoutError::Timeout) {
            stopper.stop(Limit::Time);
        }
    });
    let result = run(&budget);
    drop(done);
    watch.join().unwrap();
    result
}

/// Compares the verdicts with what the second explorer found. Returns how many of them it could confirm. Wrong verdicts
/// come before those that Tepui itself does not believe.
fn compare(
    program: &Program,
    seed: u64,
    random: &Random,
    (found, threads): (&Found, usize),
    measured: &mut Measured,
) -> Result<usize, String> {
    let (mut confirmed, mut doubt) = (0, None);
    for (name, reduce, options) in option_sets(seed, program.order.is_some()) {
        let max_threads = Some(threads as u32);
        let reading = Reading { max_threads, no_reduction: !reduce, deadlock: random.deadlock, ..Reading::default() };
        let verified = match within_seconds(3, |budget| {
            verify_program(program, &reading, &options, &budget.with_work(number("TEPUI_RANDOM_WORK", WORK)))
        }) {
            // A limit of Tepui's, and it says so.
            Err(why) if why.to_string().contains("can be executed in more than") => {
                measured.refused += 1;
                continue;
            }
            other => other.map_err(|why| format!("{name}: Tepui does not compile it: {why}"))?,
        };
        for property in &verified.outcome.properties {
            let bad = found.violated.contains(&property.name) || property.name == DEADLOCK && found.stuck;
            let differs = |what: &str| format!("{name}, {}: {what}; the second reading found {found:?}", property.name);
            match property.verdict.status() {
                Status::Safe if bad => return Err(differs("safe, but it is violated")),
                Status::Unsafe if found.complete && !bad => return Err(differs("unsafe, but it holds")),
                Status::Unknown if doubted(&property.verdict) => {
                    let what = format!("no confidence in the answer; {:?}", property.verdict);
                    doubt = doubt.or_else(|| Some(differs(&what)));
                }
                Status::Unknown => {}
                Status::Safe | Status::Unsafe => confirmed += usize::from(bad || found.complete),
            }
        }
    }
    doubt.map_or(Ok(confirmed), Err)
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
    confirmed: usize,
    /// Because a statement can be executed in too many ways.
    refused: usize,
}

impl Measured {
    fn with(&self, other: &Self) -> Self {
        Self {
            read: self.read + other.read,
            complete: self.complete + other.complete,
            violated: self.violated + other.violated,
            confirmed: self.confirmed + other.confirmed,
            refused: self.refused + other.refused,
        }
    }
}

/// Reads and verifies a program twice.
fn both(random: &Random, seed: u64, measured: &mut Measured) -> Result<(), String> {
    let reading = second::read(&random.text, random.dialect).map_err(|why| format!("second: {why}"))?;
    let known = reading.program.labels();
    if let Some(label) = random.labels.iter().find(|label| !known.contains(*label)) {
        return theirs(random).err().map(|_| ()).ok_or_else(|| format!("second: no label {label}"));
    }
    let threads = 2 + usize::from(!seed.is_multiple_of(3));
    let labels: Vec<_> = random.labels.iter().map(String::as_str).collect();
    let found = explore(&reading.program, &labels, Limits { threads, frames: 4, states: 4_000 });
    measured.read += 1;
    measured.complete += usize::from(found.complete);
    measured.violated += usize::from(found.complete && !found.violated.is_empty());
    let program = theirs(random)?;
    if reading.program.properties().is_empty() && labels.is_empty() && !random.deadlock {
        return Ok(());
    }
    measured.confirmed += compare(&program, seed, random, (&found, threads), measured)?;
    Ok(())
}

/// What a difference is, without what is particular to a program.
fn gist(why: &str) -> String {
    if let Some(reason) = why.split("SelfCheckFailed(\"").nth(1) {
        // What is particular has numbers, or comes after them.
        let words = reason.split(|c: char| c.is_ascii_digit() || c == '"' || c == '|').next().unwrap_or_default();
        return format!("not believed: {}", words.split(" violate ").next().unwrap_or_default());
    }
    let gist = why.split("message: \"").nth(1).unwrap_or_else(|| why.split(": ").nth(1).unwrap_or(why));
    gist.split([';', '"', '`']).next().unwrap_or_default().to_owned()
}

/// A shorter program with the same difference, and what it is then. Texts that the second reader does not take count as
/// no try, unless the difference is that it does not.
fn shortened(random: &Random, seed: u64, why: &str) -> (Random, String) {
    let reads = |text: &String| second::read(text, random.dialect).is_ok();
    let read = reads(&random.text);
    let shorter = |random: &Random| {
        let texts = smaller_texts(&random.text).into_iter().filter(|text| reads(text) == read);
        texts.map(|text| Random { text, ..random.clone() }).collect()
    };
    let differs = |random: &Random| {
        let other = both(random, seed, &mut Measured::default()).err()?;
        (gist(&other) == gist(why)).then_some(other)
    };
    shrink(random, TRIES, shorter, differs).unwrap_or_else(|| (random.clone(), why.to_owned()))
}

/// All differences, by what they are: their seeds, and some of the programs, shortened.
fn report(differences: &BTreeMap<String, Vec<(u64, String)>>) -> String {
    let (mut report, most) = (String::new(), number("TEPUI_RANDOM_SHOWN", 2) as usize);
    for (gist, found) in differences {
        let seeds: Vec<_> = found.iter().map(|(seed, _)| seed).collect();
        report += &format!("=== {gist}: seeds {seeds:?}\n");
        for (seed, why) in found.iter().take(most) {
            let (Random { text, dialect, labels, forced, .. }, why) = shortened(&program(*seed), *seed, why);
            report += &format!("--- seed {seed}, {dialect:?}, forced {forced}, labels {labels:?}: {why}\n{text}\n");
        }
    }
    report
}

#[test]
fn two_readings_agree() {
    let compared = |part: usize| {
        let (mut measured, mut differ) = (Measured::default(), Vec::new());
        for seed in seeds().skip(part).step_by(2) {
            let random = program(seed);
            if let Err(why) = both(&random, seed, &mut measured) {
                let family = if random.dialect == Getafix { "Getafix: " } else { "" };
                differ.push((format!("{family}{}", gist(&why)), (seed, why)));
            }
        }
        (measured, differ)
    };
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| compared(1));
        (compared(0), other.join().unwrap())
    });
    let (measured, mut differences) = (one.0.with(&other.0), BTreeMap::<String, Vec<_>>::new());
    for (gist, difference) in one.1.into_iter().chain(other.1) {
        differences.entry(gist).or_default().push(difference);
    }
    eprintln!("{measured:?}");
    assert!(differences.is_empty(), "{}", report(&differences));
    assert!(measured.confirmed > measured.read, "{measured:?}");
    assert!(measured.refused * 500 <= measured.read, "{measured:?}");
}

#[test]
fn random_programs_use_every_production() {
    let mut table: BTreeMap<String, usize> = productions().into_iter().map(|name| (name, 0)).collect();
    // Some productions are rare.
    for seed in seeds().start..seeds().end.max(seeds().start + 1_500) {
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

/// A program whose answers follow from a sentence of the book.
struct Case {
    /// The sentence, in short.
    why: &'static str,
    dialect: Dialect,
    text: &'static str,
    labels: &'static [&'static str],
    /// The assertions that fail and the labels that are reached.
    violated: &'static [&'static str],
    deadlock: bool,
}

use Dialect::{Boppo, Getafix, Satabs, Tepui};

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { why: "a thread before an atomic block stands at every block that begins there, and at the first statement",
        dialect: Tepui, labels: &["a", "b", "c", "d"], violated: &["a", "b", "c"], deadlock: true,
        text: "decl x; void main() { a: atomic { b: atomic { c: assume(x); d: x := 1; } } }" },
    Case { why: "an empty block is a statement that does nothing",
        dialect: Tepui, labels: &["a", "b", "c", "d"], violated: &["a", "b", "c"], deadlock: true,
        text: "void main() { a: atomic { b: atomic { } } c: assume(0); d: skip; }" },
    Case { why: "an empty block is a step of its own",
        dialect: Tepui, labels: &[], violated: &["main@1"], deadlock: false,
        text: "decl x; void f() { x := 1; } void main() { thread f(); x := 0; atomic { } assert(!x); }" },
    Case { why: "an empty block that begins a block is its first statement",
        dialect: Tepui, labels: &["in_f"], violated: &[], deadlock: true,
        text: "decl x; void f() { x := 1; in_f: skip; } void main() { atomic { atomic { } thread f(); assume(x); } }" },
    Case { why: "a label at the beginning of a block that is not atomic is reached when the condition holds",
        dialect: Tepui, labels: &["a", "b"], violated: &["a"], deadlock: false,
        text: "void main() { atomic { a: if (0) { b: skip; } } }" },
    Case { why: "a return is a step into the caller, whose condition must hold after it",
        dialect: Tepui, labels: &["after"], violated: &[], deadlock: true,
        text: "decl x; void f() { x := 1; } void main() { enforce !x; f(); after: skip; }" },
    Case { why: "the caller's condition is that after the results are stored",
        dialect: Tepui, labels: &["after"], violated: &["after"], deadlock: false,
        text: "decl x; bool f() { x := 1; return 0; } void main() { enforce !x; x := f(); after: skip; }" },
    Case { why: "a call is a step into the called procedure, whose condition must hold",
        dialect: Tepui, labels: &["in_f"], violated: &[], deadlock: true,
        text: "decl x; void f() { enforce x; in_f: skip; } void main() { f(); }" },
    Case { why: "the condition of `enforce` is tested by the first step of a thread, not when it starts",
        dialect: Tepui, labels: &["in_f", "after"], violated: &["in_f"], deadlock: true,
        text: "decl x; void f() { enforce x; in_f: skip; after: skip; } void main() { thread f(); }" },
    Case { why: "a procedure takes steps only in states in which its condition holds: an assertion is a step",
        dialect: Tepui, labels: &[], violated: &[], deadlock: true,
        text: "decl x; void f() { enforce x; assert(0); } void main() { thread f(); }" },
    Case { why: "`=` binds tighter than `|` in Tepui's dialect",
        dialect: Tepui, labels: &[], violated: &[], deadlock: false,
        text: "decl a := 1; decl b; decl c; void main() { c := 0; assert(a | b = c); }" },
    Case { why: "`|` binds tighter than `=` in Boppo's",
        dialect: Boppo, labels: &[], violated: &["main@1"], deadlock: false,
        text: "decl a, b, c; void main() begin a, b, c := 1, 0, 0; assert(a | b = c); end" },
    Case { why: "`=` binds tighter than `|` for Getafix",
        dialect: Getafix, labels: &[], violated: &[], deadlock: false,
        text: "decl a, b, c; void main() begin a, b, c := 1, 0, 0; assert(a | b = c); end" },
    Case { why: "`=>` and `=` are one level, to the right, in SATABS's dialect",
        dialect: Satabs, labels: &[], violated: &["main@1"], deadlock: false,
        text: "decl a; void main() begin a := F; assert(a = T => T); end" },
    Case { why: "`^` is looser than `|` in Boppo's dialect",
        dialect: Boppo, labels: &[], violated: &["main@1"], deadlock: false,
        text: "decl a; void main() begin a := 1; assert(a | F ^ a); end" },
    Case { why: "`^` is tighter than `|` in Tepui's",
        dialect: Tepui, labels: &[], violated: &[], deadlock: false,
        text: "decl a; void main() { a := 1; assert(a | 0 ^ a); }" },
    Case { why: "`T` and `F` are names in Tepui's dialect",
        dialect: Tepui, labels: &[], violated: &["main@1.3"], deadlock: false,
        text: "decl T, F; void main() { T := 0; F := 1; assert(F); assert(!T); assert(T); }" },
    Case { why: "`T` and `F` are constants where there is `begin`",
        dialect: Boppo, labels: &[], violated: &["main@1.2"], deadlock: false,
        text: "void main() begin assert(T); assert(F); end" },
    Case { why: "variables may be anything at first where there is `begin`",
        dialect: Boppo, labels: &[], violated: &["main@1", "main@1.2"], deadlock: false,
        text: "decl a; void main() begin decl b; assert(a); assert(!b); end" },
    Case { why: "only what `main` calls and starts is executed",
        dialect: Boppo, labels: &[], violated: &[], deadlock: false,
        text: "void f() begin assert(F); end void main() begin skip; end" },
    Case { why: "for Getafix every procedure without callers runs as a thread",
        dialect: Getafix, labels: &[], violated: &["f@1"], deadlock: false,
        text: "void f() begin assert(F); end void main() begin skip; end" },
    Case { why: "for Getafix `init` runs first, and the others when it has returned",
        dialect: Getafix, labels: &[], violated: &["g@1"], deadlock: false,
        text: "decl a, b; void init() begin a := T; b := F; end \
            void f() begin assert(a); b := T; end void g() begin assert(!b); end" },
    Case { why: "for Getafix the parameters of a thread may have any values",
        dialect: Getafix, labels: &[], violated: &["f@1"], deadlock: false,
        text: "void f(a, b) begin assert(a | !b); assert(a = a); end" },
    Case { why: "a thread that is blocked inside an atomic section stops everything",
        dialect: Tepui, labels: &["after"], violated: &[], deadlock: true,
        text: "decl x; void f() { x := 1; after: skip; } void main() { atomic { thread f(); assume(x); } }" },
    Case { why: "a section whose first statement is blocked has not begun",
        dialect: Tepui, labels: &["after"], violated: &["after"], deadlock: false,
        text: "decl x; void f() { x := 1; } void main() { thread f(); atomic { assume(x); x := 0; } after: skip; }" },
    Case { why: "`atomic_begin` is a statement of its own",
        dialect: Tepui, labels: &["after"], violated: &["after"], deadlock: true,
        text: "decl x; void f() { x := 1; } void main() { thread f(); atomic_begin; assume(x); atomic_end; after: skip; }" },
    Case { why: "leaving a block and entering another one are not one section",
        dialect: Tepui, labels: &[], violated: &["main@1"], deadlock: false,
        text: "decl x; void f() { x := 1; } void main() { thread f(); atomic { x := 0; } atomic { assert(!x); } }" },
    Case { why: "a section goes on in procedures that are called",
        dialect: Tepui, labels: &[], violated: &[], deadlock: false,
        text: "decl x, y; void f() { y := 1; x := 1; } void g() { x := y; } \
            void main() { thread f(); atomic { x := 0; g(); assert(x = y); } }" },
    Case { why: "a thread that ends in a section ends it",
        dialect: Tepui, labels: &["in_f"], violated: &["in_f"], deadlock: false,
        text: "void f() { assume(1); in_f: skip; } void main() { atomic_begin; thread f(); exit; assert(0); }" },
    Case { why: "a thread at an assertion that fails can still move",
        dialect: Tepui, labels: &["after"], violated: &["main@1"], deadlock: false,
        text: "void main() { assert(0); after: skip; }" },
    Case { why: "a thread that sleeps moves after a broadcast",
        dialect: Tepui, labels: &["awake"], violated: &["awake"], deadlock: true,
        text: "void f() { sleep; awake: skip; } void main() { thread f(); broadcast; }" },
    Case { why: "a broadcast wakes those that sleep at that moment",
        dialect: Boppo, labels: &["awake"], violated: &[], deadlock: true,
        text: "void main() begin broadcast; wait; skip; awake: skip; end" },
    Case { why: "to sleep is a step, after which the thread is at its next statement",
        dialect: Tepui, labels: &["asleep"], violated: &["asleep"], deadlock: true,
        text: "void main() { sleep; asleep: skip; }" },
    Case { why: "arguments are evaluated once for all threads that are started",
        dialect: Tepui, labels: &[], violated: &[], deadlock: false,
        text: "decl one, zero; void f(a) { if (a) { one := 1; } else { zero := 1; } assert(!(one & zero)); } \
            void main() { thread f(*) * 2; }" },
    Case { why: "`'x` is the new value and `x` the old one",
        dialect: Tepui, labels: &[], violated: &[], deadlock: false,
        text: "decl x := *; decl y; void main() { y := x; x := * constrain 'x != x; assert(x != y); }" },
    Case { why: "a thread starts at a label with a copy of the local variables",
        dialect: Satabs, labels: &[], violated: &["main@1.2"], deadlock: false,
        text: "void main() begin decl a; a := T; start_thread goto there; a := F; end_thread; \
            there: assert(a); assert(!a); end" },
    Case { why: "a label is reached after steps that nobody else sees",
        dialect: Tepui, labels: &["here", "end"], violated: &["here", "end"], deadlock: false,
        text: "void main() { skip; here: skip; end: }" },
    Case { why: "what follows an atomic block is not part of it, whatever the block ends with",
        dialect: Tepui, labels: &[], violated: &["f@1"], deadlock: false,
        text: "decl x; void main() { thread f(); atomic { x := 1; atomic { } } x := 0; } void f() { assert(!x); }" },
    Case { why: "a label may be at the end of a block",
        dialect: Tepui, labels: &["end"], violated: &["end"], deadlock: true,
        text: "decl x; void main() { if (!x) { x := 1; end: } assume(0); }" },
    Case { why: "a value is for the variables since the last colon",
        dialect: Tepui, labels: &["end"], violated: &["end"], deadlock: false,
        text: "decl a: bool, b: bool := 1; void main() { decl c: bool, d, e := 1; assert(!a & b & !c & d & e); end: }" },
    Case { why: "a value without a colon is for all variables",
        dialect: Tepui, labels: &[], violated: &["main@1.3"], deadlock: false,
        text: "decl a, b := 1; void main() { assert(a); assert(b); assert(!b); }" },
    Case { why: "an enumeration may stand in a declaration",
        dialect: Tepui, labels: &["low_first"], violated: &["low_first"], deadlock: false,
        text: "decl d: enum { low, high }; void main() { decl c: enum { red, green } := green; \
            assert(c = green); if (d = low) low_first: skip; }" },
    Case { why: "a label may be a number",
        dialect: Tepui, labels: &["7", "8"], violated: &["7"], deadlock: false,
        text: "void main() { goto 7; 8: skip; 7: skip; }" },
    Case { why: "a label may be a number where there is `begin`",
        dialect: Satabs, labels: &["7", "8", "9"], violated: &["7", "9"], deadlock: false,
        text: "void main() begin start_thread goto 9; goto 7; 8: skip; 9: end_thread; 7: skip; end" },
    Case { why: "`dead` makes several variables anything at once",
        dialect: Tepui, labels: &[], violated: &["main@1", "main@1.2"], deadlock: false,
        text: "decl x, y; void main() { dead x, y; assert(!(x & y)); assert(!(x & !y)); assert(x = x); }" },
    Case { why: "a call without targets wants none of the results",
        dialect: Tepui, labels: &["after"], violated: &["after"], deadlock: false,
        text: "decl x; bool<2> f(a) { x := a; return a, a; } void main() { f(1); assert(x); after: skip; }" },
    Case { why: "a call without targets wants none of the results where there is `begin`",
        dialect: Boppo, labels: &["after"], violated: &["after"], deadlock: false,
        text: "decl x; bool f(a) begin x := a; return a; end void main() begin f(1); assert(x); after: skip; end" },
    Case { why: "an empty statement is no step, and its labels are reached with what follows",
        dialect: Tepui, labels: &["a", "b"], violated: &["a"], deadlock: true,
        text: "void main() { enforce 0; a: ; ; skip; b: ; }" },
    Case { why: "the last statement of a block needs no semicolon where there is `begin`",
        dialect: Boppo, labels: &["a"], violated: &["a"], deadlock: false,
        text: "decl x; void main() begin x := 1; if x then skip else skip fi; while x do x := 0 od; if !x then goto a fi; \
            assert(F); a: skip end" },
    Case { why: "`elsif` is an `if` in `else`",
        dialect: Boppo, labels: &["a", "b", "c"], violated: &["b"], deadlock: false,
        text: "decl x; void main() begin x := 1; if !x then a: skip; elsif x then b: skip; else c: skip; fi; end" },
    Case { why: "an assertion with a name does not count on its line",
        dialect: Tepui, labels: &[], violated: &["main@1.2"], deadlock: false,
        text: "void main() { assert(1); assert(1) \"p\"; assert(0); }" },
    Case { why: "the word `label` before another label is left out",
        dialect: Satabs, labels: &["PC7", "label"], violated: &["PC7", "label"], deadlock: false,
        text: "void main() begin label: PC7: skip; label: skip; end" },
    Case { why: "for Getafix a procedure that calls itself has a caller",
        dialect: Getafix, labels: &[], violated: &["g@1"], deadlock: false,
        text: "void f() begin assert(F); if * then f(); fi; end void g() begin assert(F); end" },
    Case { why: "for Getafix a procedure that is started has a caller, and so may main",
        dialect: Getafix, labels: &["in_main"], violated: &["in_main", "main@1"], deadlock: false,
        text: "decl a; void init() begin a := F; end void main() begin in_main: assert(a); end \
            void f() begin a := T; start_thread main(); a := F; end" },
    Case { why: "for Getafix nothing else begins if init ends its thread",
        dialect: Getafix, labels: &["in_f"], violated: &[], deadlock: false,
        text: "void init() begin end_thread; end void f() begin in_f: skip; end" },
    Case { why: "a thread may start at the statement that comes next",
        dialect: Tepui, labels: &["after"], violated: &["after"], deadlock: false,
        text: "void main() { thread goto here; here: assert(1); after: skip; }" },
    Case { why: "each value that a thread may have at first leads to a step of its own",
        dialect: Tepui, labels: &[], violated: &["one", "zero"], deadlock: true,
        text: "void f(a) { decl b := *; assume(a | b); if (!b) { assert(!a) \"one\"; } else { assert(a) \"zero\"; } } \
            void main() { thread f(*); skip; }" },
    Case { why: "shared variables start with each of their possible values",
        dialect: Tepui, labels: &["here"], violated: &["here"], deadlock: false,
        text: "decl s := *; decl t := 1; void main() { goto here; here: skip; }" },
    Case { why: "for Getafix init is called, so what it enforces must hold when it begins",
        dialect: Getafix, labels: &["here", "after"], violated: &[], deadlock: true,
        text: "void init() begin enforce F; here: skip; after: skip; end" },
    Case { why: "for Getafix init is called with values with which it can move, if there are any",
        dialect: Getafix, labels: &["after"], violated: &["after"], deadlock: false,
        text: "void init() begin decl y; enforce y; skip; after: skip; end" },
    Case { why: "sleeping may be the last statement of a block, without a semicolon",
        dialect: Boppo, labels: &[], violated: &[], deadlock: true,
        text: "void main() begin wait end" },
    Case { why: "arguments are those of the moment when a thread starts",
        dialect: Tepui, labels: &[], violated: &[], deadlock: true,
        text: "decl t := *; void p(x) { assume(x); assert(1); } void main() { thread p(t); while (*) { t := 0; } }" },
    Case { why: "assertions with the same name are one property",
        dialect: Tepui, labels: &[], violated: &["p q"], deadlock: false,
        text: "void main() { assert(1) \"p q\"; assert(0) \"p q\"; assert(1) \"r\"; }" },
];

/// What Tepui says about a case; the error is a difference.
fn check_case(case: &Case) -> Result<(), String> {
    let reading = second::read(case.text, case.dialect)?;
    let found = explore(&reading.program, case.labels, Limits { threads: 3, frames: 4, states: 10_000 });
    let expected: BTreeSet<String> = case.violated.iter().map(|&name| name.to_owned()).collect();
    if !found.complete || found.violated != expected || found.stuck != case.deadlock {
        return Err(format!("the second reading finds {found:?}"));
    }
    let labels = case.labels.iter().map(|&label| label.to_owned()).collect();
    let random = Random { text: case.text.to_owned(), dialect: case.dialect, forced: true, labels, deadlock: true };
    let program = theirs(&random)?;
    (0..5).try_for_each(|seed| compare(&program, seed, &random, (&found, 3), &mut Measured::default()).map(|_| ()))
}

#[test]
fn sentences_of_the_book_hold() {
    let wrong = CASES.iter().filter_map(|case| check_case(case).err().map(|why| (case, why)));
    let wrong: Vec<_> = wrong.map(|(case, why)| format!("{}: {why}\n    {}", case.why, case.text)).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}

/// Texts that the book says are refused, with their dialects.
const REFUSED: &[(Dialect, &str)] = &[
    (Tepui, "void main() { goto a; atomic { skip; a: skip; } }"),
    (Tepui, "void main() { atomic { skip; a: skip; } atomic { goto a; } }"),
    (Tepui, "void main() { thread goto a; atomic { skip; a: skip; } }"),
    (Tepui, "void main() { atomic { thread goto a; a: skip; } }"),
    (Tepui, "decl x; void main() { x, x := 0, 1; }"),
    (Tepui, "decl x; bool<2> f() { return 0, 1; } void main() { x, x := f(); }"),
    (Tepui, "bool f() { } void main() { f(); }"),
    (Tepui, "bool f() { if (*) { return 1; } } void main() { f(); }"),
    (Boppo, "bool f() begin a: if * then return 1; fi; goto a, b; b: end void main() begin f(); end"),
    (Tepui, "void main() { lock l; lock(l); }"),
    (Tepui, "void main() { 7: skip; 7: skip; }"),
    (Tepui, "void main() { assert(1) \"\"; }"),
    (Tepui, "void main() { assert(1) \"a@1\"; }"),
    (Tepui, "void main() { assert(T); }"),
    (Tepui, "decl atomic; void main() { }"),
    (Boppo, "decl T; void main() begin end"),
    (Boppo, "void F() begin end void main() begin end"),
    (Boppo, "void main() begin T: skip; end"),
    (Satabs, "void main() begin decl F; end"),
    (Boppo, "void main() begin atomic { skip; } end"),
    (Boppo, "void f() begin end"),
    (Tepui, "decl x; void f(a) { y := a; } void main() { thread f(1); }"),
    (Tepui, "decl x; void f(a) { x := a; } void main() { thread f(); }"),
];

#[test]
fn both_readers_refuse_what_the_book_refuses() {
    let mut wrong = Vec::new();
    for &(dialect, text) in REFUSED {
        assert!(second::read(text, dialect).is_err(), "the second reader takes {text}");
        let random = Random { text: text.to_owned(), dialect, forced: true, labels: Vec::new(), deadlock: false };
        wrong.extend(theirs(&random).ok().map(|_| text));
    }
    assert!(wrong.is_empty(), "Tepui takes {wrong:#?}");
}

/// The dialect is seen by what follows the head of a procedure, whatever names there are.
#[test]
fn names_do_not_hide_the_dialect() {
    for text in [
        "decl begin; void main() { if (1) begin := 0; }",
        "decl begin, end; void f(begin, end) { begin := end; } void main() { f(begin, end); }",
        "void main() /* begin */ { skip; /* start_thread goto */ }",
    ] {
        second::read(text, Tepui).unwrap();
        let random = Random { text: text.to_owned(), dialect: Tepui, forced: false, labels: vec![], deadlock: false };
        theirs(&random).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
}
