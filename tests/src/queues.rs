//! A slow and obviously correct exploration of programs with queues.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::Handled;
use tepui_model::queue::state::{Cannot, Happens, Violation};
use tepui_model::queue::{Handler, NULL, Program};

/// What an exploration found.
#[derive(Debug)]
pub struct Explored {
    /// All errors, each with the fewest steps that lead to it.
    pub errors: BTreeMap<Error, (usize, Violation)>,
    /// The number of states.
    pub states: usize,
    /// Whether these are all states, with queues of any length.
    pub complete: bool,
    /// Whether a send was refused because a queue was full.
    pub refused: bool,
    /// What cannot be said, if something cannot.
    pub unknown: Option<Cannot>,
    /// The longest queue that was seen.
    pub longest: usize,
    /// The handlers that were used. That an event is ignored is none.
    pub handled: BTreeSet<Handled>,
}

/// Explores all states with queues up to a length, breadth first, up to a number of states or until an error.
pub fn explore(program: &Program, longest: usize, most: usize) -> Explored {
    let mut found = Explored {
        errors: BTreeMap::new(),
        states: 0,
        complete: false,
        refused: false,
        unknown: None,
        longest: 0,
        handled: program.handled_at_first().into_iter().collect(),
    };
    let (mut seen, mut open) = (BTreeMap::new(), VecDeque::new());
    for (_, start) in program.starts() {
        match start {
            Ok(first) if !seen.contains_key(&first) => {
                seen.insert(first.clone(), 0);
                open.push_back(first);
            }
            Ok(_) => {}
            Err(happens) => found.note(happens, 0),
        }
    }
    while let Some(state) = open.pop_front() {
        let depth = seen[&state];
        for violation in program.end(&state) {
            found.errors.entry(violation.error).or_insert((depth, violation));
        }
        for machine in 0..state.machines.len() {
            for step in program.steps(&state, machine, longest) {
                found.handled.extend(&step.handled);
                let Happens::State(next) = step.result else {
                    found.note(step.result, depth + 1);
                    continue;
                };
                if !seen.contains_key(&next) {
                    seen.insert(next.clone(), depth + 1);
                    open.push_back(next);
                }
            }
        }
        if seen.len() > most || found.unknown.is_some() {
            break;
        }
    }
    let ignores = |(kind, state, event): &Handled| {
        let state = &program.kinds[*kind as usize].states[*state as usize];
        state.handler(*event) == Some(Handler::Ignore)
    };
    found.handled.retain(|handled| !ignores(handled));
    let queues = seen.keys().flat_map(|state| &state.machines).map(|machine| machine.queue.len());
    found.longest = queues.max().unwrap_or(0);
    found.states = seen.len();
    found.complete = open.is_empty() && !found.refused && found.unknown.is_none();
    found
}

impl Explored {
    /// The handlers that were used: the names of a kind, a state and an event.
    pub fn handled(&self, program: &Program) -> BTreeSet<[String; 3]> {
        let event = |event: u32| if event == NULL { "null".to_owned() } else { program.event_name(event) };
        let named = |&(kind, state, of): &Handled| {
            let kind = &program.told.kinds[kind as usize];
            [kind.name.clone(), kind.states[state as usize].clone(), event(of)]
        };
        self.handled.iter().map(named).collect()
    }

    fn note(&mut self, happens: Happens, depth: usize) {
        match happens {
            Happens::Error(violation) => _ = self.errors.entry(violation.error).or_insert((depth, violation)),
            Happens::Refused => self.refused = true,
            Happens::Unknown(why) => self.unknown = self.unknown.or(Some(why)),
            Happens::State(_) | Happens::Pruned => {}
        }
    }
}
