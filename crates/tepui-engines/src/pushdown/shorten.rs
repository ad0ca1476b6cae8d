//! Fewer contexts for a trace that is known to work.
//!
//! Steps of different threads often commute. So contexts are moved next to earlier ones of the same thread, or left
//! out, as long as the trace still executes and ends in a violation. What comes out is no longer than what went in; it
//! need not be the shortest there is.

use tepui_cert::pushdown::{Step, Trace};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Model, Property, State};

/// Traces beyond this many contexts are left as they are.
const MOST_CONTEXTS: usize = 200;
/// So many steps may be tried.
const MOST_STEPS: usize = 2_000_000;

/// A context: a thread and the rules it applies.
type Context = (usize, Vec<usize>);

/// The trace with as few contexts as moving and leaving out contexts gives. A limit ends the attempts, and is no reason
/// to lose the trace.
pub(crate) fn shorten(model: &Model, trace: Trace, budget: &mut Budget) -> Trace {
    let mut contexts = contexts_of(&trace);
    if contexts.len() > MOST_CONTEXTS {
        return trace;
    }
    let (before, length) = (contexts.len(), trace.steps.len());
    let mut tries = MOST_STEPS / trace.steps.len().max(1);
    while let Ok(Some(better)) = improve(model, &trace.property, &contexts, &mut tries, budget) {
        contexts = better;
    }
    let steps: usize = contexts.iter().map(|(_, rules)| rules.len()).sum();
    if (contexts.len(), steps) >= (before, length) {
        return trace;
    }
    let mut state = model.init().clone();
    let mut shorter = Vec::with_capacity(steps);
    for (thread, rules) in contexts {
        for rule in rules {
            let Some(after) = model.step(&state, thread, rule) else { return trace };
            state = after;
            shorter.push(Step { thread, rule, after: state.clone() });
        }
    }
    Trace { steps: shorter, ..trace }
}

fn contexts_of(trace: &Trace) -> Vec<Context> {
    let mut contexts: Vec<Context> = Vec::new();
    for step in &trace.steps {
        match contexts.last_mut() {
            Some((thread, rules)) if *thread == step.thread => rules.push(step.rule),
            _ => contexts.push((step.thread, vec![step.rule])),
        }
    }
    contexts
}

/// One context fewer, if one of the simple changes brings that.
fn improve(
    model: &Model,
    property: &Property,
    contexts: &[Context],
    tries: &mut usize,
    budget: &mut Budget,
) -> Result<Option<Vec<Context>>, Stop> {
    for index in (0..contexts.len()).rev() {
        let mut without = contexts.to_vec();
        let (thread, rules) = without.remove(index);
        let earlier = without[..index].iter().rposition(|context| context.0 == thread);
        let later = (index..without.len()).find(|&other| without[other].0 == thread);
        let mut changed = vec![without.clone()];
        if let Some(earlier) = earlier {
            let mut joined = without.clone();
            joined[earlier].1.extend(&rules);
            changed.push(joined);
        }
        if let Some(later) = later {
            without[later].1.splice(0..0, rules);
            changed.push(without);
        }
        for contexts in changed {
            if *tries == 0 {
                return Ok(None);
            }
            *tries -= 1;
            let contexts = merged(contexts);
            budget.spend(contexts.iter().map(|(_, rules)| rules.len() as u64).sum())?;
            if works(model, property, &contexts) {
                return Ok(Some(contexts));
            }
        }
    }
    Ok(None)
}

/// Neighbouring contexts of one thread are one.
fn merged(contexts: Vec<Context>) -> Vec<Context> {
    let mut merged: Vec<Context> = Vec::with_capacity(contexts.len());
    for (thread, rules) in contexts {
        match merged.last_mut() {
            Some(last) if last.0 == thread => last.1.extend(rules),
            _ => merged.push((thread, rules)),
        }
    }
    merged
}

fn works(model: &Model, property: &Property, contexts: &[Context]) -> bool {
    let steps = contexts.iter().flat_map(|(thread, rules)| rules.iter().map(move |&rule| (*thread, rule)));
    let mut state: State = model.init().clone();
    for (thread, rule) in steps {
        match model.step(&state, thread, rule) {
            Some(after) => state = after,
            None => return false,
        }
    }
    property.forbids(state.shared, |thread| state.top(thread))
}
