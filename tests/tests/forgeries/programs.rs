//! Forged certificates of programs.
//!
//! The judge is simple: where an execution violates a property, no certificate proves it, whatever it looks like. So programs with
//! violations get certificates that come as close to a proof as possible, the views of all their reachable states, and
//! then the violation is covered up in every way that comes to mind, and in random ones.

#![allow(clippy::unwrap_used)]

use fastrand::Rng;
use tepui::{CLOSURE, Cores, Options, Reading};
use tepui_cert::program::Certificate;
use tepui_cert::pushdown::{Lemma, Rows};
use tepui_check::program::check;
use tepui_core::{Budget, Status};
use tepui_lang::boolean::{Dialect, read_program};
use tepui_lang::source::Source;
use tepui_model::program::step::{Stage, Value};
use tepui_model::program::{Goal, Program, Property};
use tepui_tests::facade::{program_certificate, verify_program};
use tepui_tests::random_programs;

fn read(text: &str) -> Program {
    let source = Source::new("program", text.as_bytes());
    read_program(&source, Some(Dialect::Tepui), &[]).unwrap().program
}

/// The views of all reachable states of a program, with the claim that they avoid some properties.
fn all_views(program: &Program, claimed: &[Property], symmetry: bool) -> Option<Certificate> {
    let options =
        Options { engine: &CLOSURE, bound_limit: Some(vec![3]), cores: Cores::new(1), symmetry, ..Options::default() };
    let reading = Reading { max_threads: Some(3), all_views: true, ..Reading::default() };
    let answer = verify_program(program, &reading, &options, &Budget::unlimited()).ok()?;
    let mut certificate = program_certificate(&answer)?.clone();
    certificate.properties = claimed.to_vec();
    Some(certificate)
}

fn is_accepted(program: &Program, claimed: &[Property], certificate: &Certificate) -> bool {
    check(program, claimed, certificate, &|| false).is_ok()
}

fn rows_without(rows: &Rows, leaves: impl Fn(usize, &[u32]) -> bool) -> Rows {
    let kept = rows.iter().enumerate().filter(|(number, row)| !leaves(*number, row));
    Rows::of(rows.width(), &kept.map(|(_, row)| row).collect::<Vec<_>>())
}

/// Changes a certificate somewhere.
fn change(certificate: &mut Certificate, rng: &mut Rng) {
    let pick = |rng: &mut Rng, count: usize| if count == 0 { 0 } else { rng.usize(..count) };
    let lemma: &mut Lemma = &mut certificate.lemmas[0];
    match rng.u32(..12) {
        // Rows: one, or all with a shared state or a word.
        0 => {
            let victim = pick(rng, lemma.views.len());
            lemma.views = rows_without(&lemma.views, |number, _| number == victim);
        }
        1 | 2 => {
            let column = pick(rng, lemma.views.width());
            let values: Vec<u32> = lemma.views.iter().map(|row| row[column]).collect();
            if let Some(&victim) = values.get(pick(rng, values.len())) {
                lemma.views = rows_without(&lemma.views, |_, row| row[column] == victim);
            }
        }
        // What lies below.
        3 => {
            let thread = pick(rng, lemma.threads.len());
            let below = &mut lemma.threads[thread].below;
            if !below.is_empty() {
                let at = rng.usize(..below.len());
                if rng.bool() { drop(below.remove(at)) } else { _ = below[at].1.pop() }
            }
        }
        // What is kept, where frames are, and what they do.
        4 => _ = certificate.kept.shared.pop(),
        5 => {
            let lists = if rng.bool() { &mut certificate.kept.locals } else { &mut certificate.kept.storing };
            let procedure = pick(rng, lists.len());
            if let Some(list) = lists.get_mut(procedure).and_then(|list| list.values_mut().next()) {
                list.pop();
            }
        }
        6 => {
            if !certificate.frames.is_empty() {
                let at = rng.usize(..certificate.frames.len());
                let frame = &mut certificate.frames[at];
                match rng.u32(..6) {
                    0 => frame.root = !frame.root,
                    1 => frame.under = !frame.under,
                    2 => frame.insists = !frame.insists,
                    3 => frame.position += 1,
                    4 => {
                        let asleep = Stage::Asleep(rng.u32(..3));
                        frame.stage = [Stage::Running, asleep, Stage::Storing, Stage::Waiting][rng.usize(..4)];
                    }
                    _ => frame.locals.iter_mut().for_each(|value| *value = Value::Forgotten),
                }
            }
        }
        7 => {
            if !certificate.shared.is_empty() {
                let at = rng.usize(..certificate.shared.len());
                let mut states: Vec<_> = certificate.shared.iter().collect();
                for number in &mut states[at] {
                    *number = Value::of(*number).known().map_or(*number, |code| Value::Known(1 - code.min(1)).number());
                }
                certificate.shared = Rows::of(certificate.shared.width(), &states);
            }
        }
        // Groups.
        8 => {
            let count = lemma.threads.len();
            if count > 1 {
                let thread = rng.usize(1..count);
                lemma.threads[thread].like = Some(rng.usize(..thread));
                lemma.threads[thread].words.clear();
                lemma.threads[thread].below.clear();
            }
        }
        9 => lemma.threads.iter_mut().for_each(|thread| thread.like = None),
        // A lemma that excludes everything, or nothing.
        10 => {
            let mut first = lemma.clone();
            first.views = rows_without(&first.views, |number, _| number > 0);
            certificate.lemmas.insert(0, first);
        }
        _ => {
            let copy = lemma.clone();
            certificate.lemmas.push(copy);
        }
    }
}

/// Views in which the violation shows are left out.
fn cover_up(certificate: &mut Certificate, goals: &[Goal]) {
    let shows = |frame: &tepui_model::program::step::Frame| {
        goals.iter().any(|goal| match *goal {
            Goal::Failure(procedure, position)
            | Goal::Range(procedure, position)
            | Goal::Index(procedure, position)
            | Goal::Reached(procedure, position) => (frame.procedure, frame.position) == (procedure, position),
            Goal::Deadlock => false,
        })
    };
    let bad: Vec<u32> =
        (1..).zip(&certificate.frames).filter(|(_, frame)| shows(frame)).map(|(symbol, _)| symbol).collect();
    for lemma in &mut certificate.lemmas {
        let words: Vec<Vec<bool>> = (lemma.threads.iter())
            .map(|thread| thread.words.iter().map(|word| bad.contains(&word[0].0)).collect())
            .collect();
        let leaders: Vec<usize> =
            lemma.threads.iter().enumerate().map(|(thread, part)| part.like.unwrap_or(thread)).collect();
        lemma.views = rows_without(&lemma.views, |_, row| {
            row[1..].iter().enumerate().any(|(thread, &word)| words[leaders[thread]][word as usize])
        });
    }
}

#[test]
fn no_certificate_covers_up_a_violation() {
    let (mut programs, mut forged) = (0, 0);
    for seed in 0..600 {
        let mut rng = Rng::with_seed(seed);
        let program = read(&random_programs::program(&mut rng));
        let reading = Reading { max_threads: Some(3), ..Reading::default() };
        let options = Options { bound_limit: Some(vec![3]), cores: Cores::new(1), ..Options::default() };
        let verified = verify_program(&program, &reading, &options, &Budget::unlimited()).unwrap();
        let violated = |property: &Property| {
            let mut properties = verified.outcome.properties.iter();
            properties.any(|found| found.name == property.name && found.verdict.status() == Status::Unsafe)
        };
        let claimed: Vec<_> = program.properties(false).into_iter().filter(violated).take(1).collect();
        if claimed.is_empty() {
            continue;
        }
        let Some(views) = all_views(&program, &claimed, seed % 2 == 0) else { continue };
        programs += 1;
        assert!(!is_accepted(&program, &claimed, &views), "seed {seed}");
        let mut covered = views.clone();
        cover_up(&mut covered, &claimed[0].never);
        for base in [&views, &covered] {
            assert!(!is_accepted(&program, &claimed, base), "seed {seed}");
            for _ in 0..25 {
                let mut certificate = base.clone();
                (0..rng.usize(1..=3)).for_each(|_| change(&mut certificate, &mut rng));
                forged += 1;
                assert!(!is_accepted(&program, &claimed, &certificate), "seed {seed}:\n{}", certificate.to_text());
                if let Ok(read) = Certificate::from_text(&certificate.to_text()) {
                    assert_eq!(read, certificate, "seed {seed}");
                }
            }
        }
    }
    assert!(programs > 60 && forged > 3_000, "{programs} programs, {forged} forgeries");
}

/// A proof of a program is none of another: the digests differ; and with the right digest it is still none of a broken one.
#[test]
fn a_proof_of_a_sound_program_is_none_of_a_broken_one() {
    let pairs = [
        (
            "decl x; void f() { atomic { x := 1; x := 0; } } void g() { assert(!x); }",
            "decl x; void f() { x := 1; x := 0; } void g() { assert(!x); }",
        ),
        (
            "decl x; void f() { wait(x); x := 0; } void g() { assert(!x); }",
            "decl x; void f() { wait(!x); x := 1; } void g() { assert(!x); }",
        ),
        (
            "decl x; void f() { decl a; a := 0; x := a; } void g() { assert(!x); }",
            "decl x; void f() { decl a; a := *; x := a; } void g() { assert(!x); }",
        ),
        (
            "decl x; bool h() { return 0; } void f() { x := h(); } void g() { assert(!x); }",
            "decl x; bool h() { return 1; } void f() { x := h(); } void g() { assert(!x); }",
        ),
        (
            "decl x; void f() { sleep; x := 1; } void g() { assert(!x); }",
            "decl x; void f() { broadcast; x := 1; } void g() { assert(!x); }",
        ),
    ];
    for (sound, broken) in pairs {
        let starts = " void main() { thread f(); thread g(); }";
        let (sound, broken) = (read(&format!("{sound}{starts}")), read(&format!("{broken}{starts}")));
        let verified = verify_program(&sound, &Reading::default(), &Options::default(), &Budget::unlimited()).unwrap();
        let mut certificate = program_certificate(&verified).unwrap().clone();
        let properties = sound.properties(false);
        assert!(is_accepted(&sound, &properties, &certificate));
        let claimed = broken.properties(false);
        let refused = check(&broken, &claimed, &certificate, &|| false).unwrap_err();
        assert!(refused.reason.contains("another program"), "{refused}");
        certificate.program = broken.digest();
        certificate.properties = claimed.clone();
        assert!(!is_accepted(&broken, &claimed, &certificate));
    }
}
