//! Automata of certificates as automata that read words from the front, with choices.

use tepui_cert::rendezvous::{Automaton, Direction};
use tepui_model::rendezvous::{Action, Model};

/// An automaton with choices.
pub(super) struct Reader {
    pub(super) starts: Vec<Edge>,
    pub(super) accepting: Vec<bool>,
    /// For each state where actions lead, in ascending order.
    next: Vec<Vec<Edge>>,
}

/// An action, and the state after it; where reading starts, the action means nothing.
pub(super) type Edge = (Action, u32);

/// What an automaton reads: the actions that its thread knows, or all of them.
fn alphabet(model: &Model, thread: usize, automaton: &Automaton) -> Vec<Action> {
    match automaton.reads_all {
        true => (0..model.actions().len() as u32).map(Action).collect(),
        false => model.threads()[thread].knows.iter().copied().collect(),
    }
}

/// Whether an automaton reads only what it may, and leads only to states that it has.
pub(super) fn fits(model: &Model, thread: usize, automaton: &Automaton) -> Result<(), String> {
    let alphabet = alphabet(model, thread, automaton);
    let states = automaton.states.len();
    for (state, (_, edges)) in automaton.states.iter().enumerate() {
        if let Some((action, _)) = edges.iter().find(|(action, _)| !alphabet.contains(action)) {
            return Err(format!("state {state} reads action {}, which the thread does not know", action.0));
        }
        if edges.iter().any(|&(_, to)| to as usize >= states) {
            return Err(format!("state {state} leads to a state that does not exist"));
        }
        if !edges.is_sorted_by(|one, other| one.0 < other.0) {
            return Err(format!("state {state} has two edges for one action, or they are out of order"));
        }
    }
    Ok(())
}

impl Reader {
    /// The words that an automaton accepts, or those that it does not. `reverse` reads them from the other end.
    pub(super) fn of(model: &Model, thread: usize, automaton: &Automaton, complement: bool, reverse: bool) -> Self {
        let states = automaton.states.len();
        let sink = states as u32;
        let turned = (automaton.direction == Direction::Backward) != reverse;
        let mut next = vec![Vec::new(); states + 1];
        let mut edge = |from: u32, action: Action, to: u32| {
            let (from, to) = if turned { (to, from) } else { (from, to) };
            next[from as usize].push((action, to));
        };
        for action in alphabet(model, thread, automaton) {
            for (state, (_, edges)) in automaton.states.iter().enumerate() {
                let found = edges.binary_search_by_key(&action, |edge| edge.0).ok().map(|index| edges[index].1);
                // Where words are accepted, nothing that matters happens in the sink.
                if let Some(to) = found.or(complement.then_some(sink)) {
                    edge(state as u32, action, to);
                }
            }
            edge(sink, action, sink);
        }
        next.iter_mut().for_each(|edges| edges.sort_unstable());
        let accepts = |state: u32| automaton.states.get(state as usize).is_some_and(|state| state.0) != complement;
        // Without a state of its own, the automaton starts in the sink.
        let (start, ends) = (0, (0..=sink).map(accepts));
        if turned {
            let starts = ends.zip(0..).filter(|end| end.0).map(|end| (Action(0), end.1)).collect();
            return Self { starts, accepting: (0..=sink).map(|state| state == start).collect(), next };
        }
        Self { starts: vec![(Action(0), start)], accepting: ends.collect(), next }
    }

    pub(super) fn states(&self) -> u32 {
        self.accepting.len() as u32
    }

    /// The edges of a state that read an action.
    pub(super) fn next(&self, state: u32, action: Action) -> &[Edge] {
        let edges = &self.next[state as usize];
        let first = edges.partition_point(|edge| edge.0 < action);
        let count = edges[first..].partition_point(|edge| edge.0 == action);
        &edges[first..first + count]
    }
}
