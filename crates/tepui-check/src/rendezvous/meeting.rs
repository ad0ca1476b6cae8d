//! Is there a word that passes the automata of all threads?
//!
//! Every automaton reads those actions of a word that it is meant to read, and stands still at the others. All that can
//! be reached together is enumerated; if no tuple is accepting in every part, there is no such word.

use std::collections::HashSet;

use tepui_cert::rendezvous::{Automaton, Direction};
use tepui_model::rendezvous::{Action, Model};

use super::reader::Reader;

/// Checks that no word passes the automata of all threads.
pub(super) fn check(model: &Model, threads: &[Vec<Automaton>]) -> Result<(), String> {
    // Where all read from the back, words are read from there: then there are no choices.
    let reverse = threads.iter().flatten().all(|automaton| automaton.direction == Direction::Backward);
    let mut readers = Vec::new();
    for (thread, automata) in threads.iter().enumerate() {
        for automaton in automata {
            let knows = |action: Action| automaton.reads_all || model.threads()[thread].knows.contains(&action);
            let reads: Vec<_> = (0..model.actions().len() as u32).map(|action| knows(Action(action))).collect();
            readers.push((Reader::of(model, thread, automaton, false, reverse), reads));
        }
    }
    let mut seen: HashSet<Vec<u32>> = HashSet::new();
    let mut work: Vec<Vec<u32>> = combinations(readers.iter().map(|(reader, _)| reader.starts.as_slice()));
    while let Some(states) = work.pop() {
        if seen.contains(&states) {
            continue;
        }
        if states.iter().zip(&readers).all(|(&state, (reader, _))| reader.accepting[state as usize]) {
            return Err("a word passes the automata of all threads".to_owned());
        }
        for action in 0..model.actions().len() {
            let next: Vec<_> = (states.iter().zip(&readers))
                .map(|(state, (reader, reads))| match reads[action] {
                    true => reader.next(*state, Action(action as u32)),
                    false => std::slice::from_ref(state),
                })
                .collect();
            work.extend(combinations(next.into_iter()));
        }
        seen.insert(states);
    }
    Ok(())
}

/// All ways to choose one of each.
fn combinations<'a>(choices: impl Iterator<Item = &'a [u32]>) -> Vec<Vec<u32>> {
    choices.fold(vec![Vec::new()], |chosen, next| {
        let extend = |one: &Vec<u32>| next.iter().map(|&state| [one.as_slice(), &[state]].concat()).collect::<Vec<_>>();
        chosen.iter().flat_map(extend).collect()
    })
}
