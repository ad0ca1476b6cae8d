//! Forged certificates that explore some threads only.
//!
//! Sets of states that are closed under the steps of some threads are easily made: an explorer on the interpreter follows
//! whomever it is told to follow. Where that hides a violation, no checker may accept what comes out.

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use tepui::{CLOSURE, Cores, Options, Reading};
use tepui_cert::program::{Certificate, Kept};
use tepui_cert::pushdown::{Explored, Lemma, LemmaThread, Rows};
use tepui_check::program::check;
use tepui_core::Budget;
use tepui_lang::boolean::read_program;
use tepui_lang::source::Source;
use tepui_model::program::run::State;
use tepui_model::program::step::{Runner, Value};
use tepui_model::program::{Program, Property};
use tepui_model::pushdown::Symbol;
use tepui_tests::facade::{program_certificate, verify_program};
use tepui_tests::random_programs::apart;

/// The most states that are explored, and the most frames that a stack may have.
const MOST: usize = 600;
const HIGHEST: usize = 3;

/// At this depth views are states.
const EXACT: usize = HIGHEST + 1;

fn read(text: &str) -> Program {
    let parsed = read_program(&Source::new("program.bp", text.as_bytes()), None, &[]);
    parsed.unwrap_or_else(|errors| panic!("{text}: {errors:?}")).program
}

/// States, each with the threads that were followed there.
type Followed = BTreeMap<State, BTreeSet<usize>>;

/// Whom to follow at a state, given who moved last and who can move.
type Whom<'a> = dyn FnMut(&State, Option<usize>, &[usize]) -> BTreeSet<usize> + 'a;

/// Follows some threads from the state in which `main` has ended. None, if there are too many states, or one that a
/// certificate here has no form for; and whether something failed.
fn follow(program: &Program, whom: &mut Whom<'_>) -> Option<(Followed, bool)> {
    let runner = Runner::new(program);
    let mut start = runner.initial();
    let mut state = start.pop().filter(|_| start.is_empty())?;
    while !state.threads[0].is_empty() {
        state = runner.steps_of(&state, 0).into_iter().next()?.after;
    }
    let threads = state.threads.len();
    let (mut found, mut failed) = (Followed::new(), false);
    let mut open = vec![(state, None)];
    while let Some((state, mover)) = open.pop() {
        if found.contains_key(&state) {
            continue;
        }
        if found.len() == MOST
            || state.threads.len() > threads
            || state.threads.iter().any(|stack| stack.len() > HIGHEST)
        {
            return None;
        }
        let enabled: Vec<_> = (1..threads).filter(|&thread| !runner.steps_of(&state, thread).is_empty()).collect();
        let followed = whom(&state, mover, &enabled);
        for &thread in &followed {
            for step in runner.steps_of(&state, thread) {
                failed |= step.failed.is_some();
                open.push((step.after, Some(thread)));
            }
        }
        found.insert(state, followed);
    }
    Some((found, failed))
}

/// The certificate that consists of views of states, of a depth. Whom nobody follows at one of the states that show a view is
/// not explored there.
fn certificate(program: &Program, claimed: &[Property], followed: &Followed, depth: usize) -> Certificate {
    let threads = followed.keys().next().unwrap().threads.len() - 1;
    let shared: BTreeSet<_> = followed.keys().map(|state| state.shared.clone()).collect();
    let frames: BTreeSet<_> = followed.keys().flat_map(|state| state.threads.iter().flatten().cloned()).collect();
    let (shared, frames): (Vec<_>, Vec<_>) = (shared.into_iter().collect(), frames.into_iter().collect());
    let symbols = |stack: &Vec<_>| -> Vec<Symbol> {
        let symbol = |frame| Symbol(frames.binary_search(frame).unwrap() as u32 + 1);
        stack.iter().rev().map(symbol).chain([Symbol::BOTTOM]).collect()
    };
    let word = |stack: &Vec<_>| symbols(stack).into_iter().take(depth).collect::<Vec<_>>();
    let words: Vec<BTreeSet<_>> =
        (1..=threads).map(|thread| followed.keys().map(|state| word(&state.threads[thread])).collect()).collect();
    let mut rows: BTreeMap<Vec<u32>, BTreeSet<usize>> = BTreeMap::new();
    for (state, followed) in followed {
        let mut row = vec![shared.binary_search(&state.shared).unwrap() as u32];
        let number = |(words, stack): (&BTreeSet<Vec<_>>, &Vec<_>)| words.range(..word(stack)).count() as u32;
        row.extend(words.iter().zip(&state.threads[1..]).map(number));
        rows.entry(row).or_insert_with(|| followed.clone()).retain(|thread| followed.contains(thread));
    }
    let mut explored: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    let mut views = Rows::new(threads + 1);
    for (number, (row, followed)) in rows.into_iter().enumerate() {
        views.push(row);
        if followed.len() < threads {
            explored.entry(followed.iter().map(|thread| thread - 1).collect()).or_default().push(number);
        }
    }
    let part = |thread: usize| {
        let mut below: BTreeMap<Vec<Symbol>, BTreeSet<Symbol>> = BTreeMap::new();
        for state in followed.keys() {
            for stretch in symbols(&state.threads[thread]).windows(depth + 1) {
                below.entry(stretch[..depth].to_vec()).or_default().insert(stretch[depth]);
            }
        }
        LemmaThread {
            like: None,
            words: words[thread - 1].iter().cloned().collect(),
            below: below.into_iter().map(|(word, symbols)| (word, symbols.into_iter().collect())).collect(),
        }
    };
    let lemma = Lemma {
        depth: depth as u32,
        threads: (1..=threads).map(part).collect(),
        views,
        explored: explored.into_iter().map(|(threads, views)| Explored { threads, views }).collect(),
    };
    let all = |count: usize| (0..count).collect::<Vec<_>>();
    let positions: Vec<_> = (program.procedures.iter())
        .map(|procedure| {
            (0..=procedure.statements.len()).map(|position| (position, all(procedure.locals.len()))).collect()
        })
        .collect();
    let listed: Vec<Vec<_>> = shared.iter().map(|state| state.iter().copied().map(Value::number).collect()).collect();
    Certificate {
        program: program.digest(),
        properties: claimed.to_vec(),
        kept: Kept { shared: all(program.shared.len()), locals: positions.clone(), storing: positions },
        shared: Rows::of(program.shared.len(), &listed),
        frames,
        lemmas: vec![lemma],
        regular: None,
        crowd: None,
        tasks: None,
    }
}

fn is_accepted(program: &Program, certificate: &Certificate) -> bool {
    let read = Certificate::from_text(&certificate.to_text()).unwrap();
    assert_eq!(read, *certificate);
    check(program, &program.properties(false), certificate, &|| false).is_ok()
}

#[test]
fn whom_nobody_follows_hides_nothing() {
    let (mut hidden, mut deep, mut honest) = (0, 0, 0);
    for seed in 0..3_000 {
        let mut rng = Rng::with_seed(seed);
        let text = apart(&mut rng).text;
        // From some seed on only programs with calls.
        if seed >= 1_500 && !text.contains(" := g") {
            continue;
        }
        let program = read(&text);
        let claimed = program.properties(false);
        if claimed.is_empty() {
            continue;
        }
        let mut everybody = |state: &State, _: Option<usize>, _: &[usize]| (1..state.threads.len()).collect();
        let Some((all, violated)) = follow(&program, &mut everybody) else { continue };
        let full = certificate(&program, &claimed, &all, EXACT);
        assert_eq!(is_accepted(&program, &full), !violated, "seed {seed}:\n{}", full.to_text());
        honest += usize::from(!violated);
        let mut one = |_: &State, mover: Option<usize>, enabled: &[usize]| {
            mover.filter(|mover| enabled.contains(mover)).or(enabled.first().copied()).into_iter().collect()
        };
        let mut forged = vec![follow(&program, &mut one)];
        for _ in 0..6 {
            let mut some = |state: &State, _: Option<usize>, _: &[usize]| {
                (1..state.threads.len()).filter(|_| rng.bool()).collect::<BTreeSet<_>>()
            };
            forged.push(follow(&program, &mut some));
        }
        for (found, failed) in forged.into_iter().flatten() {
            if violated && !failed {
                hidden += 1;
                deep += usize::from(found.keys().any(|state| state.threads.iter().any(|stack| stack.len() > 1)));
                for depth in 1..=EXACT {
                    let forgery = certificate(&program, &claimed, &found, depth);
                    assert!(!is_accepted(&program, &forgery), "seed {seed}:\n{}", forgery.to_text());
                }
            }
        }
    }
    assert!(hidden > 300 && honest > 60, "{hidden} violations hidden, {honest} sound programs");
    println!("{hidden} violations hidden, {deep} of them with calls, {honest} sound programs");
    assert!(deep > 10, "only {deep} of them with calls");
}

/// What the engine proves with threads that wait.
fn proved(program: &Program) -> Certificate {
    let options = Options { engine: &CLOSURE, cores: Cores::new(1), ..Options::default() };
    let answer = verify_program(program, &Reading::default(), &options, &Budget::unlimited()).unwrap();
    program_certificate(&answer).unwrap().clone()
}

const PIPELINE: &str = "
    decl filled0; decl filled1; decl cell0; decl cell1;
    void source() { while (1) { wait(!filled0); cell0 := 1; filled0 := 1; } }
    void stage() { decl x; while (1) { wait(filled0); x := cell0; filled0 := 0; wait(!filled1); cell1 := x; filled1 := 1; } }
    void sink() { while (1) { wait(filled1); assert(cell1); filled1 := 0; } }
    void main() { thread source(); thread stage(); thread sink(); }";

fn refusal(program: &Program, certificate: &Certificate) -> String {
    check(program, &program.properties(false), certificate, &|| false).unwrap_err().to_string()
}

#[test]
fn every_view_of_a_reduced_proof_is_needed() {
    let program = read(PIPELINE);
    let proof = proved(&program);
    assert!(is_accepted(&program, &proof) && !proof.lemmas[0].explored.is_empty());
    for victim in 0..proof.lemmas[0].views.len() {
        let mut forged = proof.clone();
        let lemma = &mut forged.lemmas[0];
        let kept = lemma.views.iter().enumerate().filter(|(row, _)| *row != victim);
        lemma.views = Rows::of(lemma.views.width(), &kept.map(|(_, row)| row).collect::<Vec<_>>());
        for explored in &mut lemma.explored {
            explored.views.retain(|&view| view != victim);
            explored.views.iter_mut().filter(|view| **view > victim).for_each(|view| *view -= 1);
        }
        assert!(!is_accepted(&program, &forged), "view {victim}");
    }
}

#[test]
fn a_thread_that_others_disturb_does_not_wait() {
    let program = read(
        "decl x; decl y; void f() { y := 1; x := 1; } void g() { y := 0; assert(!x | !x); }
         void main() { thread f(); thread g(); }",
    );
    let mut everybody = |state: &State, _: Option<usize>, _: &[usize]| (1..state.threads.len()).collect();
    let (all, violated) = follow(&program, &mut everybody).unwrap();
    assert!(violated);
    // Only the second thread moves as long as it can.
    let mut last = |_: &State, _: Option<usize>, enabled: &[usize]| enabled.last().into_iter().copied().collect();
    let (some, failed) = follow(&program, &mut last).unwrap();
    assert!(!failed && some.len() < all.len());
    let claimed = program.properties(false);
    let refused = refusal(&program, &certificate(&program, &claimed, &some, EXACT));
    assert!(refused.contains("may disturb"), "{refused}");
}

#[test]
fn a_circle_ignores_nobody() {
    let program = read(
        "decl x; decl y; void f() { while (1) { x := !x; } } void g() { y := 1; assert(!y); }
         void main() { thread f(); thread g(); }",
    );
    let mut first = |_: &State, _: Option<usize>, _: &[usize]| BTreeSet::from([1]);
    let (circle, failed) = follow(&program, &mut first).unwrap();
    assert!(!failed);
    let refused = refusal(&program, &certificate(&program, &program.properties(false), &circle, EXACT));
    assert!(refused.contains("ignored"), "{refused}");
}

#[test]
fn nothing_rests_on_a_reduced_lemma() {
    let program = read(PIPELINE);
    let mut proof = proved(&program);
    proof.lemmas.push(proof.lemmas[0].clone());
    assert!(refusal(&program, &proof).contains("no other can rest on it"));
    // Nor does it say which views there are.
    let proof = proved(&program);
    assert!(check(&program, &[], &proof, &|| false).unwrap_err().reason.contains("reduced"));
}

#[test]
fn a_step_that_disturbs_ends_the_waiting() {
    let program = read(PIPELINE);
    for added in ["cell1 := 0;", "filled1 := 0;", "cell0 := 0;", "filled0 := 0;", "assume(filled1);"] {
        let other =
            read(&PIPELINE.replace(
                "{ while (1) { wait(!filled0); cell0",
                &format!("{{ {added} while (1) {{ wait(!filled0); cell0"),
            ));
        let mut proof = proved(&program);
        proof.program = other.digest();
        proof.properties = other.properties(false);
        assert!(!is_accepted(&other, &proof), "{added}");
    }
}

#[test]
fn what_lies_below_is_to_come() {
    // The first thread is in a procedure that touches nothing; but it comes back, and then disturbs the second.
    let program = read(
        "decl x; void p() { skip; skip; } void f() { p(); x := 1; } void g() { assert(!x); }
         void main() { thread f(); thread g(); }",
    );
    let mut last = |_: &State, _: Option<usize>, enabled: &[usize]| enabled.last().into_iter().copied().collect();
    let (some, failed) = follow(&program, &mut last).unwrap();
    assert!(!failed);
    for depth in 1..=EXACT {
        let refused = refusal(&program, &certificate(&program, &program.properties(false), &some, depth));
        assert!(refused.contains("may disturb"), "{refused}");
    }
}

#[test]
fn of_equal_threads_the_first_are_explored() {
    let program = read(
        "decl x; void f() { decl y; while (1) { y := !y; x := y; } } void g() { assert(1); }
         void main() { thread f() * 2; thread g(); }",
    );
    let mut proof = proved(&program);
    let lemma = &mut proof.lemmas[0];
    let equal = lemma.views.iter().position(|row| row[1] == row[2]).unwrap();
    for explored in &mut lemma.explored {
        explored.views.retain(|&view| view != equal);
    }
    lemma.explored.push(Explored { threads: vec![1], views: vec![equal] });
    assert!(refusal(&program, &proof).contains("not the first"), "{}", refusal(&program, &proof));
}
