//! All that a program can do, found by running it in every way.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use tepui_model::program::run::State;
use tepui_model::program::step::Runner;
use tepui_model::program::{Goal, Program};

/// What a search through all executions found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// Statements that fail, and how.
    pub failures: BTreeSet<Goal>,
    /// The numbers of the labels that are reached, of those that must not be.
    pub reached: BTreeSet<usize>,
    /// Whether some execution gets stuck.
    pub stuck: bool,
    /// Whether nothing was left out: no thread too many was started, no stack was too high, no state too many.
    pub complete: bool,
    /// How many states there were.
    pub states: usize,
}

impl Found {
    /// Whether something was found that must not be.
    pub fn bad(&self) -> bool {
        !self.failures.is_empty() || !self.reached.is_empty()
    }
}

/// Where a search gives up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most threads that have not ended.
    pub threads: usize,
    /// The most procedures that a thread is in at once.
    pub frames: usize,
    /// The most states.
    pub states: usize,
}

/// Runs a program in every way within limits.
pub fn explore(program: &Program, limits: Limits) -> Found {
    explore_with(program, limits, &mut |_| {})
}

/// The same, and calls back for every state.
pub fn explore_with(program: &Program, limits: Limits, visit: &mut dyn FnMut(&State)) -> Found {
    let runner = Runner::new(program);
    let mut found = Found { complete: true, ..Found::default() };
    let (mut seen, mut open): (HashSet<State>, Vec<State>) = (HashSet::new(), Vec::new());
    for state in runner.initial() {
        if seen.insert(state.clone()) {
            open.push(state);
        }
    }
    while let Some(state) = open.pop() {
        visit(&state);
        found.reached.extend(runner.reached(&state));
        found.stuck |= runner.stuck(&state).is_some();
        for thread in 0..state.threads.len() {
            for step in runner.steps_of(&state, thread) {
                if let Some(failure) = step.failed {
                    found.failures.insert(failure);
                    continue;
                }
                let after = without_ended(step.after);
                let high = after.threads.iter().any(|thread| thread.len() > limits.frames);
                if high || after.threads.len() > limits.threads || seen.len() >= limits.states {
                    found.complete = false;
                } else if seen.insert(after.clone()) {
                    open.push(after);
                }
            }
        }
    }
    found.states = seen.len();
    found
}

/// The state without threads that have ended; nobody can tell the difference.
fn without_ended(mut state: State) -> State {
    state.threads.retain(|thread| !thread.is_empty());
    state
}

/// For each failure, the fewest contexts of an execution from a state to its failure; nothing, if there are
/// too many states to know.
pub fn fewest_contexts(program: &Program, start: State, limits: Limits) -> Option<BTreeMap<Goal, u32>> {
    let runner = Runner::new(program);
    let mut fewest = BTreeMap::new();
    let mut seen: HashSet<(State, Option<usize>)> = HashSet::new();
    let mut level = vec![(start, None)];
    for contexts in 0.. {
        // All that can be reached without a switch.
        let mut next = Vec::new();
        while let Some((state, active)) = level.pop() {
            if !seen.insert((state.clone(), active)) {
                continue;
            }
            if seen.len() > limits.states {
                return None;
            }
            for thread in 0..state.threads.len() {
                let switch = active != Some(thread);
                for step in runner.steps_of(&state, thread) {
                    if let Some(failure) = step.failed {
                        let contexts = contexts + u32::from(switch);
                        fewest
                            .entry(failure)
                            .and_modify(|known: &mut u32| *known = contexts.min(*known))
                            .or_insert(contexts);
                    } else if step.after.threads.iter().any(|thread| thread.len() > limits.frames) {
                        return None;
                    } else if switch {
                        next.push((step.after, Some(thread)));
                    } else {
                        level.push((step.after, Some(thread)));
                    }
                }
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    Some(fewest)
}
