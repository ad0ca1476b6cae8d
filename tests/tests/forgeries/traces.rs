//! Forged traces: the replayer answers as a judge of its own does.

use fastrand::Rng;
use tepui_cert::pushdown::{Step, Trace};
use tepui_check::pushdown::replay;
use tepui_core::Verdict;
use tepui_model::Digest;
use tepui_model::pushdown::{Model, Names, Shared, State, Symbol, Thread};
use tepui_tests::facade::pushdown_trace;
use tepui_tests::oracle::{self};
use tepui_tests::systems::{never, rule, state, thread};

use crate::samples::*;
use crate::{SEEDS, Tally};

/// Whether a trace leads from the initial state, step by step, to a violation of a property of the model.
fn judge_trace(model: &Model, trace: &Trace) -> bool {
    let mut state = model.init().clone();
    for step in &trace.steps {
        let taken = (step.thread, step.rule, step.after.clone());
        if !oracle::successors(model, &state).contains(&taken) {
            return false;
        }
        state = taken.2;
    }
    let stated = model.properties().iter().any(|property| property.never == trace.property.never);
    trace.model == model.digest() && stated && trace.start == *model.init() && oracle::violates(&trace.property, &state)
}

fn traces() -> Vec<(Model, Trace)> {
    let mut found = Vec::new();
    for seed in 0..SEEDS {
        let model = random_model(seed);
        let engine = ENGINES[seed as usize % 4];
        for property in run(&model, engine).properties {
            if let Verdict::Unsafe(refuted) = property.verdict {
                found.push((model.clone(), pushdown_trace(refuted.trace()).clone()));
            }
        }
    }
    found
}

fn change_state(state: &mut State, rng: &mut Rng) {
    let thread = rng.usize(0..state.stacks.len());
    let symbol = Symbol(rng.u32(0..4));
    match rng.u32(0..6) {
        0 => state.shared = Shared(rng.u32(0..4)),
        1 => state.stacks[thread].push(symbol),
        2 => drop(state.stacks[thread].pop()),
        3 => state.stacks[thread].insert(0, symbol),
        4 => drop(state.stacks.pop()),
        _ => state.stacks.push(vec![symbol]),
    }
}

fn change_step(step: &mut Step, rng: &mut Rng) {
    match rng.u32(0..6) {
        0 | 1 => step.rule = rng.usize(0..8),
        2 => step.thread = rng.usize(0..5),
        3 => step.rule = usize::MAX / 2,
        4 => step.thread = usize::MAX / 2,
        _ => change_state(&mut step.after, rng),
    }
}

/// A trace with one thing changed.
fn change_trace(model: &Model, trace: &Trace, rng: &mut Rng) -> Trace {
    let mut forged = trace.clone();
    let steps = &mut forged.steps;
    let at = rng.usize(0..steps.len().max(1));
    match rng.u32(0..12) {
        0 => forged.model = Digest::of(b"another"),
        1 => forged.property.never.clear(),
        2 => forged.property.name.push('!'),
        3 => forged.property = never(Some(0), &vec![None; model.threads().len()]),
        4 if !model.properties().is_empty() => {
            forged.property = model.properties()[rng.usize(0..model.properties().len())].clone();
        }
        5 => change_state(&mut forged.start, rng),
        6 if !steps.is_empty() => drop(steps.remove(at)),
        7 if !steps.is_empty() => {
            let other = rng.usize(0..steps.len());
            steps.swap(at, other);
        }
        8 if !steps.is_empty() => steps.insert(at, steps[at].clone()),
        9 => steps.truncate(at),
        10 => lengthen(model, &mut forged, rng),
        _ if !steps.is_empty() => change_step(&mut steps[at], rng),
        _ => lengthen(model, &mut forged, rng),
    }
    forged
}

/// One more step; it may lead to a violation again.
fn lengthen(model: &Model, trace: &mut Trace, rng: &mut Rng) {
    let mut next = oracle::successors(model, trace.last());
    if !next.is_empty() {
        let (thread, rule, after) = next.swap_remove(rng.usize(0..next.len()));
        trace.steps.push(Step { thread, rule, after });
    }
}

#[test]
fn replaying_agrees_with_the_judge_on_forged_traces() {
    let mut rng = Rng::with_seed(3);
    let mut tally = Tally::default();
    let traces = traces();
    for (number, (model, trace)) in traces.iter().enumerate() {
        assert!(replay(model, trace).is_ok() && judge_trace(model, trace), "{number}: {trace:?}");
        for _ in 0..60 {
            let forged = change_trace(model, trace, &mut rng);
            let answer = replay(model, &forged);
            assert_eq!(answer.is_ok(), judge_trace(model, &forged), "{number}: {answer:?}\n{forged:?}\n{model:?}");
            *(if answer.is_ok() { &mut tally.accepted } else { &mut tally.rejected }) += 1;
        }
        let (other, _) = &traces[(number + 1) % traces.len()];
        assert_eq!(replay(other, trace).is_ok(), judge_trace(other, trace), "{number}: another model");
        let adopted = Trace { model: other.digest(), ..trace.clone() };
        assert_eq!(replay(other, &adopted).is_ok(), judge_trace(other, &adopted), "{number}: adopted");
    }
    println!("{} traces, {tally:?}", traces.len());
    assert!(traces.len() > 200 && tally.accepted > 500 && tally.rejected > 5000, "{tally:?}");
}

#[test]
fn a_rule_of_another_thread_or_number_is_noticed() {
    let rules = |to| vec![rule(0, 1, 0, &[2]), rule(0, 1, to, &[2])];
    let threads: Vec<Thread> = vec![thread("a", 2, rules(1)), thread("b", 2, rules(1))];
    let init = state(0, &[&[1], &[1]]);
    let model = Model::new(Names::Numbers(2), threads, init.clone(), vec![never(Some(1), &[Some(2), None])]).unwrap();
    let trace = |thread, rule| Trace {
        model: model.digest(),
        property: model.properties()[0].clone(),
        start: init.clone(),
        steps: vec![Step { thread, rule, after: state(1, &[&[2], &[1]]) }],
    };
    assert!(replay(&model, &trace(0, 1)).is_ok());
    for (thread, rule) in [(0, 0), (1, 1), (1, 0), (0, 2), (2, 1)] {
        assert!(replay(&model, &trace(thread, rule)).is_err(), "thread {thread}, rule {rule}");
    }
}
