//! Programs that start any number of threads: what is said of them, against the second reading of programs with few threads,
//! and proofs of them against forgers.

use std::fmt::Write as _;

use fastrand::Rng;
use tepui::{Answer, Cores, Options, Reading};
use tepui_cert::counters::Lemma;
use tepui_cert::program::Certificate;
use tepui_cert::pushdown::Rows;
use tepui_check::program::check;
use tepui_core::{Budget, Reason, Status, Verdict};
use tepui_lang::boolean::{Dialect, read_program};
use tepui_lang::source::Source;
use tepui_model::program::{Program, Property};
use tepui_tests::facade::{program_certificate, verify_program};
use tepui_tests::second::{self, Limits, explore};

const PROGRAMS: u64 = 250;

/// The programs whose proofs are forged.
const FORGED: u64 = 120;

fn programs() -> u64 {
    std::env::var("TEPUI_RANDOM_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(PROGRAMS)
}

/// A program whose `main` starts any number of threads.
struct Writer<'r> {
    rng: &'r mut Rng,
    text: String,
    /// Whether threads recurse, sleep, or start others themselves.
    calls: bool,
    sleeps: bool,
    starts: bool,
}

impl Writer<'_> {
    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.rng.usize(..texts.len())]
    }

    fn condition(&mut self) -> &'static str {
        self.pick(&["a", "!a", "b", "!b", "a = b", "a | b", "n = 0", "n < 2", "mine", "mine = a", "*", "!(a & b)"])
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text}");
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..self.rng.usize(1..=4) {
            self.statement(depth);
        }
    }

    fn block(&mut self, head: &str, depth: usize) {
        self.line(&format!("{head} {{"));
        self.statements(depth - 1);
        self.line("}");
    }

    fn statement(&mut self, depth: usize) {
        let condition = self.condition();
        match self.rng.u32(..20) {
            0 | 1 => {
                let value = self.pick(&["0", "1", "!a", "b", "mine"]);
                self.line(&format!("a := {value};"));
            }
            2 => self.line(&format!("b := {condition};")),
            3 => self.line("mine := a;"),
            4 => self.line("n := (n + 1) % 3;"),
            5 => self.line("if (n < 2) { n := n + 1; }"),
            6 | 7 => self.line(&format!("assert({condition});")),
            8 if depth > 0 => self.block(&format!("if ({condition})"), depth),
            9 if depth > 0 => self.block("while (*)", depth),
            10 | 11 if depth > 0 => self.block("atomic", depth),
            12 | 13 if depth > 0 => {
                self.line("lock(l);");
                self.statements(depth - 1);
                self.line("unlock(l);");
            }
            14 => self.line(&format!("assume({condition});")),
            15 if self.calls => self.line("walk();"),
            16 if self.calls => self.line("mine := ask(mine);"),
            17 if self.starts => self.line("thread worker();"),
            18 if self.sleeps => {
                let text = self.pick(&["sleep;", "broadcast;", "wait(c, l);", "signal(c);", "broadcast(c);"]);
                self.line(text);
            }
            19 if depth == 0 => self.line("exit;"),
            _ => self.line("mine := *;"),
        }
    }
}

fn write(rng: &mut Rng) -> String {
    let [calls, sleeps, starts] = [rng.u32(..3) == 0, rng.u32(..4) == 0, rng.u32(..6) == 0];
    let mut writer = Writer { rng, text: String::new(), calls, sleeps, starts };
    writer.line("decl a := 0; decl b := 0; decl n: 0..2; decl l;");
    if sleeps {
        writer.line("condition c;");
    }
    if calls {
        writer.line("void walk() { decl mine; if (*) { walk(); }");
        writer.statement(1);
        writer.line("}");
        writer.line("bool ask(mine) {");
        writer.statement(1);
        writer.line("if (*) { mine := ask(!mine); }");
        writer.line("return mine; }");
    }
    writer.line("void worker() { decl mine;");
    writer.statements(2);
    writer.line("assert(a | !a) \"true\";");
    writer.statements(1);
    writer.line("}");
    writer.line("void main() { decl mine;");
    if writer.rng.bool() {
        writer.statement(1);
    }
    let starts =
        writer.pick(&["thread worker() * any;", "while (*) { thread worker(); }", "while (1) { thread worker(); }"]);
    writer.line(starts);
    if writer.rng.bool() {
        writer.statement(1);
    }
    writer.line("}");
    writer.text
}

fn read(text: &str) -> Program {
    read_program(&Source::new("random", text.as_bytes()), Some(Dialect::Tepui), &[]).unwrap().program
}

fn verify(program: &Program) -> Answer {
    let options = Options { cores: Cores::new(1), ..Options::default() };
    verify_program(program, &Reading::default(), &options, &Budget::unlimited().with_work(100_000)).unwrap()
}

/// Whether what was proved was proved for any number of threads.
fn crowd(answer: &Answer) -> Option<&Certificate> {
    program_certificate(answer).filter(|certificate| certificate.crowd.is_some())
}

#[test]
fn proofs_hold_with_few_threads() {
    let (mut safe, mut violated, mut open, mut by_crowd) = (0, 0, 0, 0);
    for seed in 0..programs() {
        let text = write(&mut Rng::with_seed(seed));
        let program = read(&text);
        let answer = verify(&program);
        let reading = second::read(&text, second::Dialect::Tepui).unwrap();
        let found = explore(&reading.program, &[], Limits { threads: 4, frames: 3, states: 3_000 });
        for property in &answer.outcome.properties {
            let bad = found.violated.contains(&property.name);
            let doubted = matches!(property.verdict, Verdict::Unknown(Reason::SelfCheckFailed(_)));
            assert!(!doubted, "seed {seed}: {:?}\n{text}", property.verdict);
            match property.verdict.status() {
                Status::Safe => {
                    assert!(!bad, "seed {seed}: {} is said to be safe\n{text}", property.name);
                    safe += 1;
                    by_crowd += usize::from(crowd(&answer).is_some());
                }
                Status::Unsafe => violated += 1,
                Status::Unknown => open += 1,
            }
        }
        if let Some(certificate) = crowd(&answer) {
            assert_eq!(Certificate::from_text(&certificate.to_text()).as_ref(), Ok(certificate), "seed {seed}");
        }
    }
    println!("{safe} safe, {by_crowd} of them for any number of threads, {violated} violated, {open} open");
    if programs() >= PROGRAMS {
        assert!(by_crowd > 350 && violated > 120 && open < safe / 10);
    }
}

/// Changes a proof somewhere.
fn change(certificate: &mut Certificate, rng: &mut Rng) {
    let Some(crowd) = &mut certificate.crowd else { return };
    let Some(Lemma::Views(first)) = crowd.lemmas.first_mut() else { return };
    let rows = first.rows.len().max(1);
    match rng.u32(..14) {
        0 if !first.rows.is_empty() => drop(first.rows.remove(rng.usize(..rows))),
        1 if !first.rows.is_empty() => {
            let (victim, at) = (first.rows[rng.usize(..rows)].clone(), rng.usize(..first.size));
            first.rows.retain(|row| row.1[at] != victim.1[at]);
        }
        2 if !first.rows.is_empty() => {
            let victim = first.rows[rng.usize(..rows)].0;
            first.rows.retain(|row| row.0 != victim);
        }
        3 if !crowd.states.is_empty() => drop(crowd.states.remove(rng.usize(..crowd.states.len()))),
        4 if !crowd.states.is_empty() => {
            let at = rng.usize(..crowd.states.len());
            crowd.states[at].1 = !crowd.states[at].1;
            crowd.states.sort_unstable();
        }
        5 => {
            let below = &mut crowd.threads[rng.usize(..2)].below;
            if !below.is_empty() {
                let at = rng.usize(..below.len());
                if rng.bool() { drop(below.remove(at)) } else { _ = below[at].1.pop() }
            }
        }
        6 => _ = crowd.threads[rng.usize(..2)].words.pop(),
        7 => crowd.depth += 1,
        8 if crowd.lemmas.len() > 1 => drop(crowd.lemmas.remove(rng.usize(1..crowd.lemmas.len()))),
        9 => {
            for lemma in &mut crowd.lemmas {
                match lemma {
                    Lemma::Never(patterns) if !patterns.is_empty() => {
                        let at = rng.usize(..patterns.len());
                        match rng.bool() {
                            true => drop(patterns.remove(at)),
                            false => patterns[at].counts.iter_mut().for_each(|(_, count)| *count *= 2),
                        }
                    }
                    Lemma::Weight(weight) => weight.bound /= 2,
                    Lemma::Never(_) | Lemma::Views(_) => {}
                }
            }
        }
        10 => _ = certificate.kept.shared.pop(),
        11 if !certificate.frames.is_empty() => {
            let at = rng.usize(..certificate.frames.len());
            let frame = &mut certificate.frames[at];
            match rng.u32(..5) {
                0 => frame.root = !frame.root,
                1 => frame.under = !frame.under,
                2 => frame.insists = !frame.insists,
                3 => frame.position += 1,
                _ => drop(certificate.frames.remove(at)),
            }
        }
        12 if !certificate.shared.is_empty() => {
            let victim = rng.usize(..certificate.shared.len());
            let kept = certificate.shared.iter().enumerate().filter(|(number, _)| *number != victim);
            certificate.shared = Rows::of(certificate.shared.width(), &kept.map(|(_, row)| row).collect::<Vec<_>>());
        }
        _ => crowd.threads.swap(0, 1),
    }
}

#[test]
fn no_forgery_proves_what_is_violated() {
    let (mut programs, mut forgeries) = (0, 0);
    for seed in 0..FORGED {
        let rng = &mut Rng::with_seed(seed);
        let program = read(&write(rng));
        let answer = verify(&program);
        let Some(certificate) = crowd(&answer) else { continue };
        let violated = |property: &Property| {
            let own = answer.outcome.properties.iter().find(|own| own.name == property.name);
            own.is_some_and(|own| own.verdict.status() == Status::Unsafe)
        };
        let violated: Vec<Property> = program.properties(false).into_iter().filter(violated).collect();
        if violated.is_empty() {
            continue;
        }
        let claiming = Certificate { properties: violated.clone(), ..certificate.clone() };
        assert!(check(&program, &violated, &claiming, &|| false).is_err(), "seed {seed}");
        for _ in 0..30 {
            let mut forged = claiming.clone();
            (0..rng.usize(1..=3)).for_each(|_| change(&mut forged, rng));
            assert!(check(&program, &violated, &forged, &|| false).is_err(), "seed {seed}: {}", forged.to_text());
            forgeries += 1;
        }
        programs += 1;
    }
    println!("{programs} programs, {forgeries} forgeries");
    assert!(programs > 40);
}

/// A check that is cut short says so, and nothing else, wherever that happens.
#[test]
fn checks_that_are_cut_short_say_so() {
    let mut cut = 0;
    for seed in 0..100 {
        let program = read(&write(&mut Rng::with_seed(seed)));
        let answer = verify(&program);
        let Some(certificate) = program_certificate(&answer) else { continue };
        for patience in 0..40 {
            let asked = std::cell::Cell::new(0);
            let stop = || asked.replace(asked.get() + 1) >= patience;
            match check(&program, &certificate.properties, certificate, &stop) {
                Ok(_) => break,
                Err(rejected) => {
                    assert_eq!(rejected.cause, tepui_check::Cause::Stopped, "seed {seed}: {rejected}");
                    cut += 1;
                }
            }
        }
    }
    assert!(cut > 200, "{cut} checks");
}

/// Programs with known answers, and the fewest threads besides `main` that show a violation.
const KNOWN: &[(&str, &str, Option<u64>)] = &[
    (
        "spinlock",
        "decl x; exclusive critical; void w() { while (1) { atomic { wait(!x); x := 1; } critical: x := 0; } }",
        None,
    ),
    (
        "spinlock-torn",
        "decl x; exclusive critical; void w() { while (1) { wait(!x); x := 1; critical: x := 0; } }",
        Some(2),
    ),
    (
        "ticket-wrap",
        "decl n: 0..2; decl s: 0..2; exclusive critical; void w() { decl m: 0..2; while (1) { \
         atomic { m := n; n := n = 2 ? 0 : n + 1; } wait(s = m); critical: s := s = 2 ? 0 : s + 1; } }",
        Some(4),
    ),
    (
        "recursive-lock",
        "decl l; exclusive critical; void walk() { if (*) { walk(); } } \
         void w() { while (1) { walk(); lock(l); critical: unlock(l); } }",
        None,
    ),
    (
        "init-once",
        "decl state: 0..2; decl data: 0..42; void w() { if (state = 2) { assert(data = 42); } else { \
         atomic { assume(state = 0); state := 1; } data := 42; state := 2; assert(data = 42); } }",
        None,
    ),
    (
        "semaphore",
        "decl x: 0..3 := 3; decl c: 0..4; void w() { while (1) { atomic { wait(x > 0); x := x - 1; } \
         c := c + 1; assert(c <= 3); c := c - 1; x := x + 1; } }",
        None,
    ),
    (
        "semaphore-torn",
        "decl x: -1..1 := 1; decl c: 0..2; void w() { while (1) { wait(x > 0); x := x > -1 ? x - 1 : x; \
         c := c < 2 ? c + 1 : c; assert(c <= 1); c := c > 0 ? c - 1 : c; x := x < 1 ? x + 1 : x; } }",
        Some(2),
    ),
    (
        "buffer",
        "decl n: 0..10; void w() { if (*) { while (1) { atomic { wait(n < 10); n := n + 1; } } } \
         else { while (1) { atomic { wait(n > 0); n := n - 1; } } } }",
        None,
    ),
    (
        "buffer-torn",
        "decl n: -1..2; void w() { if (*) { while (1) { atomic { wait(n < 2); n := n + 1; } } } \
         else { while (1) { wait(n > 0); n := n > -1 ? n - 1 : n; assert(n >= 0); } } }",
        Some(3),
    ),
    ("fifty", "decl n: 0..60; void w() { atomic { n := n + 1; assert(n < 50); } wait(n = 60); }", Some(50)),
];

#[test]
fn known_answers() {
    for (name, text, threads) in KNOWN {
        let program = read(&format!("{text} void main() {{ thread w() * any; }}"));
        let options = Options::default();
        let answer = verify_program(&program, &Reading::default(), &options, &Budget::unlimited()).unwrap();
        let expected = if threads.is_some() { Status::Unsafe } else { Status::Safe };
        assert_eq!(answer.outcome.status(), expected, "{name}: {:?}", answer.outcome.properties);
        for property in &answer.outcome.properties {
            if let Verdict::Unsafe(refuted) = &property.verdict {
                let fewest = refuted.bound().map(|bound| bound.amounts().to_vec());
                assert_eq!(fewest, threads.map(|threads| vec![threads as u32 + 1]), "{name}");
            }
        }
    }
}
