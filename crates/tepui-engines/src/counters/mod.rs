//! Any number of threads in finitely many places: can what is forbidden be covered?
//!
//! [`coverability`] decides it: from above with `weights` and [`views`] of a few threads, backwards from what is forbidden
//! relative to both (`backward`), and forwards with places that hold any number (`forward`). [`few`] looks for violations
//! with few threads, one after the other.

mod backward;
mod bag;
pub mod coverability;
pub mod few;
mod forward;
mod simplex;
pub mod views;
mod weights;

use rustc_hash::FxHashMap;
use tepui_cert::counters::{Step as Taken, Trace};
use tepui_model::counters::{Net, Pattern, State};

/// The trace that takes these steps until something forbidden is covered, if they are possible and lead there.
fn trace(net: &Net, property: usize, start: State, steps: impl IntoIterator<Item = usize>) -> Option<Trace> {
    let listed = |state: &State| {
        let counts = (0..).zip(&state.counts).filter(|(_, count)| **count > 0);
        let counts = counts.map(|(place, count)| Some((place, u32::try_from(*count).ok()?)));
        Some(Pattern { shared: state.shared, counts: counts.collect::<Option<_>>()? })
    };
    if !net.is_initial(&start) {
        return None;
    }
    let steps = shortened(net, &start, steps.into_iter().collect())?;
    let name = net.properties[property].name.clone();
    let mut trace = Trace { model: net.digest(), property: name, start: listed(&start)?, steps: Vec::new() };
    let violates = |state: &State| net.properties[property].never.iter().any(|pattern| pattern.is_covered_by(state));
    let mut state = start;
    for number in steps {
        if violates(&state) {
            break;
        }
        state = net.after(&state, &net.steps[number])?;
        trace.steps.push(Taken { number: number as u32, after: listed(&state)? });
    }
    violates(&state).then_some(trace)
}

/// The longest way in which each two states are compared.
const COMPARED: usize = 2_000;

/// The most numbers of threads that are kept for the states of a way.
const MOST_KEPT: usize = 1 << 24;

/// A way without circles: where a later state has no more of anything than an earlier one, what follows can be done from there
/// as well, unless a step asks where all others are.
fn shortened(net: &Net, start: &State, mut steps: Vec<usize>) -> Option<Vec<usize>> {
    if steps.len().saturating_mul(start.counts.len()) > MOST_KEPT {
        return Some(steps);
    }
    let states = |steps: &[usize]| {
        let mut states = vec![start.clone()];
        for step in steps {
            states.push(net.after(states.last()?, &net.steps[*step])?);
        }
        Some(states)
    };
    let mut known = states(&steps)?;
    let last: FxHashMap<&State, usize> = known.iter().enumerate().map(|(at, state)| (state, at)).collect();
    let (mut kept, mut at) = (Vec::new(), 0);
    while let Some(step) = steps.get(last[&known[at]]) {
        at = last[&known[at]] + 1;
        kept.push(*step);
    }
    drop(last);
    if kept.len() > COMPARED || net.steps.iter().any(|step| step.others.is_some()) {
        return Some(kept);
    }
    (steps, known) = (kept.clone(), states(&kept)?);
    let is_below = |small: &State, large: &State| {
        small.shared == large.shared && small.counts.iter().zip(&large.counts).all(|(small, large)| small <= large)
    };
    (kept, at) = (Vec::new(), 0);
    while at < steps.len() {
        at = (at..=steps.len()).rev().find(|&later| is_below(&known[later], &known[at])).unwrap_or(at);
        kept.extend(steps.get(at));
        at += 1;
    }
    Some(kept)
}

/// For each shared state the steps that begin there, and those that end there.
fn steps_by_shared(net: &Net) -> [Vec<Vec<usize>>; 2] {
    let mut lists = [vec![Vec::new(); net.shared.count() as usize], vec![Vec::new(); net.shared.count() as usize]];
    for (number, step) in net.steps.iter().enumerate() {
        lists[0][step.from as usize].push(number);
        lists[1][step.to as usize].push(number);
    }
    lists
}
