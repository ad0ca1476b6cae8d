//! All states of a program with queues up to a length, breadth first.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use super::setup::Setup;
use super::state::State;
use super::step::Outcome;
use super::transitions::enabled;
use super::tree::{Program, Temperature};
use super::values::Value;

/// How far to go, and how sends are read.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The name of the test; the only one if it is empty.
    pub test: &'a str,
    /// Whether others may move between what specs hear and what a queue gets.
    pub split: bool,
    /// The longest queue.
    pub longest: usize,
    /// The most states.
    pub states: usize,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The names of errors, each with the fewest steps that lead to it.
    pub errors: BTreeMap<&'static str, usize>,
    /// How many states there are.
    pub states: usize,
    /// Whether something was refused because a queue would be too long.
    pub refused: bool,
    /// Whether a step was too long to be followed.
    pub unknown: bool,
    /// Whether all states were seen that have such queues.
    pub finished: bool,
    /// The handlers that were used: the names of a kind, a state and an event.
    pub handled: BTreeSet<[String; 3]>,
}

/// Explores a program.
///
/// # Errors
/// If the test is not there, or does not say what runs.
pub fn explore(program: &Program, limits: Limits<'_>) -> Result<Found, String> {
    let setup = Setup::new(program, limits.test, limits.split)?;
    let mut found = Found::default();
    program.handled.take();
    let (mut seen, mut open) = (HashMap::new(), VecDeque::new());
    for outcome in setup.first() {
        let first = found.note(outcome, 0).filter(|first| !seen.contains_key(first));
        seen.extend(first.clone().map(|first| (first, 0)));
        open.extend(first);
    }
    while let Some(state) = open.pop_front() {
        let depth = seen[&state];
        for wrong in setup.at_end(&state) {
            found.errors.entry(wrong).or_insert(depth);
        }
        for index in 0..state.machines.len() {
            for outcome in setup.steps(&state, index, limits.longest) {
                let Some(next) = found.note(outcome, depth + 1) else { continue };
                if !seen.contains_key(&next) {
                    seen.insert(next.clone(), depth + 1);
                    open.push_back(next);
                }
            }
        }
        if seen.len() > limits.states || found.unknown {
            break;
        }
    }
    let word = |name: u32| program.words[name as usize].clone();
    let named = |(kind, state, event): (usize, u32, u32)| [word(program.kinds[kind].name), word(state), word(event)];
    found.handled = program.handled.take().into_iter().map(named).collect();
    found.states = seen.len();
    found.finished = open.is_empty() && !found.unknown;
    Ok(found)
}

impl Found {
    /// Notes what happened; a state is handed back.
    fn note(&mut self, outcome: Outcome, depth: usize) -> Option<State> {
        match outcome {
            Outcome::Next(state) => return Some(state),
            Outcome::Wrong(wrong) => _ = self.errors.entry(wrong).or_insert(depth),
            Outcome::Refused => self.refused = true,
            Outcome::Unknown => self.unknown = true,
            Outcome::Left => {}
        }
        None
    }
}

impl Setup<'_> {
    /// Specs have entered their first states; the main machine is there.
    fn first(&self) -> Vec<Outcome> {
        let main = Rc::new(self.made(self.main, Value::Null));
        let mut states = vec![State { machines: vec![main], specs: Vec::new() }];
        let mut outcomes = Vec::new();
        for (kind, _) in &self.specs {
            let (specs, ended) = self.complete(self.made(*kind, Value::Null));
            outcomes.extend(if states.is_empty() { Vec::new() } else { ended });
            let with = |state: &State| {
                let state = state.clone();
                specs.iter().map(move |spec| State {
                    specs: [&state.specs[..], &[Rc::new(spec.clone())]].concat(),
                    ..state.clone()
                })
            };
            states = states.iter().flat_map(with).collect();
        }
        outcomes.extend(states.into_iter().map(Outcome::Next));
        outcomes
    }

    /// What is wrong with a state in which nothing can move.
    fn at_end(&self, state: &State) -> Vec<&'static str> {
        if state.machines.iter().any(|machine| enabled(self.program, machine)) {
            return Vec::new();
        }
        let waits = !self.program.old && state.machines.iter().any(|machine| machine.waits().is_some());
        let hot = state.specs.iter().any(|spec| {
            let at = spec.states.last().and_then(|state| self.program.kinds[spec.kind].states.get(state));
            at.is_some_and(|state| state.temperature == Some(Temperature::Hot))
        });
        waits.then_some("deadlock").into_iter().chain(hot.then_some("hot-at-end")).collect()
    }
}
