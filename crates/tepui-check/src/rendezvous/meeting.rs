//! Is there a word that passes the automata of all threads?
//!
//! Every automaton reads those actions of a word that it is meant to read, and stands still at the others. All that can
//! be reached together is enumerated; if no tuple is accepting in every part, there is no such word. Where there are too
//! many tuples for that, the certificate is refused.

use std::collections::HashSet;

use tepui_cert::rendezvous::{Automaton, Direction};
use tepui_model::rendezvous::{Action, Model};

use super::reader::{Edge, Reader};
use super::{LOOK_EVERY, Why};

/// The most tuples that are looked at.
const MOST_TUPLES: usize = 20_000_000;

/// Checks that no word passes the automata of all threads.
pub(super) fn check(model: &Model, threads: &[Vec<Automaton>], stop: &dyn Fn() -> bool) -> Result<(), Why> {
    // Where all read from the back, words are read from there: then there are no choices.
    let reverse = threads.iter().flatten().all(|automaton| automaton.direction == Direction::Backward);
    let mut readers = Vec::new();
    // For each action those that read it.
    let mut reading: Vec<Vec<usize>> = vec![Vec::new(); model.actions().len()];
    for (thread, automata) in threads.iter().enumerate() {
        for automaton in automata {
            for (action, reading) in reading.iter_mut().enumerate() {
                if automaton.reads_all || model.threads()[thread].knows.contains(&Action(action as u32)) {
                    reading.push(readers.len());
                }
            }
            readers.push(Reader::of(model, thread, automaton, false, reverse));
        }
    }
    let mut found = Found { seen: HashSet::new(), work: Vec::new(), stop };
    let starts: Vec<_> = readers.iter().map(|reader| reader.starts.as_slice()).collect();
    let all: Vec<_> = (0..readers.len()).collect();
    found.add_all(&vec![0; readers.len()], &all, &starts)?;
    while let Some(states) = found.work.pop() {
        if states.iter().zip(&readers).all(|(&state, reader)| reader.accepting[state as usize]) {
            return Err("a word passes the automata of all threads".to_owned().into());
        }
        for (action, reading) in reading.iter().enumerate() {
            let next = |&reader: &usize| readers[reader].next(states[reader], Action(action as u32));
            if !reading.iter().any(|reader| next(reader).is_empty()) {
                let choices: Vec<_> = reading.iter().map(next).collect();
                found.add_all(&states, reading, &choices)?;
            }
        }
    }
    Ok(())
}

/// The tuples that have been found, and those of them that have not been looked at.
struct Found<'a> {
    seen: HashSet<Vec<u32>>,
    work: Vec<Vec<u32>>,
    stop: &'a dyn Fn() -> bool,
}

impl Found<'_> {
    /// Adds a tuple for each way to choose a state for some of its parts.
    fn add_all(&mut self, states: &[u32], parts: &[usize], choices: &[&[Edge]]) -> Result<(), Why> {
        let ways = choices.iter().try_fold(1, |ways: usize, choice| ways.checked_mul(choice.len()));
        if ways.is_none_or(|ways| self.seen.len().saturating_add(ways) > MOST_TUPLES) {
            return Err(
                format!("the automata have more than {MOST_TUPLES} combinations of states: too many to check").into()
            );
        }
        for way in 0..ways.unwrap_or(0) {
            let (mut tuple, mut rest) = (states.to_vec(), way);
            for (&part, choice) in parts.iter().zip(choices) {
                tuple[part] = choice[rest % choice.len()].1;
                rest /= choice.len();
            }
            if self.seen.contains(&tuple) {
                continue;
            }
            if self.seen.len().is_multiple_of(LOOK_EVERY) && (self.stop)() {
                return Err(Why::Stopped);
            }
            self.seen.insert(tuple.clone());
            self.work.push(tuple);
        }
        Ok(())
    }
}
