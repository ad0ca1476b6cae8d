//! Words that all threads seem to allow: the intersection of their approximations, on the fly.
//!
//! A tuple of states, one for each component, is followed action by action: a component that reads the action moves, and
//! the others stand still, which is how the actions that a thread does not know come in. Two searches go through the
//! tuples: breadth first to a shortest word, and one for a word whose longest projection to a thread is as short as
//! possible. The second keeps for each tuple the lengths of projections that no other way beats in all parts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;
use tepui_core::{Budget, Stop};
use tepui_model::rendezvous::Action;

use super::words::{NONE, Words};

/// An automaton over the actions of one thread.
pub(super) struct Component<'a> {
    words: &'a Words,
    root: u32,
    /// For each action of the model the letter that it is to this component.
    letters: Vec<Option<u32>>,
    /// If it is read from the other end: which nodes lead to a node with a letter, and where words may start.
    turned: Option<Turned>,
}

struct Turned {
    before: FxHashMap<(u32, u32), Vec<u32>>,
    starts: Vec<u32>,
}

impl<'a> Component<'a> {
    /// The words of a set, read from the front.
    pub(super) fn new(words: &'a Words, root: u32, alphabet: &[Action], actions: usize) -> Self {
        let mut letters = vec![None; actions];
        (alphabet.iter().zip(0..)).for_each(|(action, letter)| letters[action.0 as usize] = Some(letter));
        Self { words, root, letters, turned: None }
    }

    /// The same words, turned around.
    #[must_use]
    pub(super) fn turned(self) -> Self {
        let mut before: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        let (mut seen, mut order) = (rustc_hash::FxHashSet::default(), vec![self.root]);
        seen.insert(self.root);
        let mut index = 0;
        while let Some(&node) = order.get(index) {
            index += 1;
            for letter in 0..self.words.letters() {
                let next = self.words.next(node, letter);
                if next != NONE {
                    before.entry((next, letter)).or_default().push(node);
                    if seen.insert(next) {
                        order.push(next);
                    }
                }
            }
        }
        let starts = order.into_iter().filter(|&node| self.words.accepts(node)).collect();
        Self { turned: Some(Turned { before, starts }), ..self }
    }

    fn starts(&self) -> Vec<u32> {
        match &self.turned {
            Some(turned) => turned.starts.clone(),
            None => [self.root].into_iter().filter(|&root| root != NONE).collect(),
        }
    }

    fn accepts(&self, state: u32) -> bool {
        if self.turned.is_some() { state == self.root } else { self.words.accepts(state) }
    }

    /// The states after an action.
    fn next(&self, state: u32, action: usize, found: &mut Vec<u32>) {
        found.clear();
        let Some(letter) = self.letters[action] else { return found.push(state) };
        match &self.turned {
            Some(turned) => found.extend(turned.before.get(&(state, letter)).into_iter().flatten()),
            None => found.extend([self.words.next(state, letter)].into_iter().filter(|&next| next != NONE)),
        }
    }
}

/// The tuples that have been found, numbered.
struct Tuples {
    width: usize,
    cells: Vec<u32>,
    table: HashTable<u32>,
}

impl Tuples {
    fn new(width: usize) -> Self {
        Self { width, cells: Vec::new(), table: HashTable::new() }
    }

    fn get(&self, number: u32) -> &[u32] {
        &self.cells[number as usize * self.width..][..self.width]
    }

    /// The number of a tuple, and whether it is new.
    fn number(&mut self, tuple: &[u32]) -> (u32, bool) {
        let hash = |tuple: &[u32]| {
            let mut hasher = FxHasher::default();
            tuple.iter().for_each(|&state| hasher.write_u32(state));
            hasher.finish()
        };
        let (cells, width) = (&self.cells, self.width);
        let row = |number: u32| &cells[number as usize * width..][..width];
        if let Some(&known) = self.table.find(hash(tuple), |&number| row(number) == tuple) {
            return (known, false);
        }
        let number = (self.cells.len() / self.width.max(1)) as u32;
        self.cells.extend_from_slice(tuple);
        let cells = &self.cells;
        self.table.insert_unique(hash(tuple), number, |&number| hash(&cells[number as usize * width..][..width]));
        (number, true)
    }
}

/// The tuples of some components.
pub(super) struct Meeting<'a> {
    components: Vec<Component<'a>>,
    actions: usize,
    /// Tuples that were looked at.
    pub(super) visited: u64,
}

impl<'a> Meeting<'a> {
    /// The words that all components accept.
    pub(super) fn new(components: Vec<Component<'a>>, actions: usize) -> Self {
        Self { components, actions, visited: 0 }
    }

    fn accepts(&self, tuple: &[u32]) -> bool {
        self.components.iter().zip(tuple).all(|(component, &state)| component.accepts(state))
    }

    /// All ways to choose one of each, of which there may be very many.
    fn combine(choices: &[Vec<u32>], budget: &mut Budget, found: &mut impl FnMut(&[u32])) -> Result<(), Stop> {
        if choices.iter().any(Vec::is_empty) {
            return Ok(());
        }
        let mut places = vec![0; choices.len()];
        let mut tuple: Vec<_> = choices.iter().map(|all| all[0]).collect();
        loop {
            found(&tuple);
            budget.pass(1)?;
            let Some(index) = (0..choices.len()).find(|&index| places[index] + 1 < choices[index].len()) else {
                return Ok(());
            };
            for reset in 0..index {
                (places[reset], tuple[reset]) = (0, choices[reset][0]);
            }
            places[index] += 1;
            tuple[index] = choices[index][places[index]];
        }
    }

    fn starts(&self, budget: &mut Budget, found: &mut impl FnMut(&[u32])) -> Result<(), Stop> {
        let starts: Vec<_> = self.components.iter().map(Component::starts).collect();
        Self::combine(&starts, budget, found)
    }

    fn after(
        &self,
        tuple: &[u32],
        action: usize,
        choices: &mut [Vec<u32>],
        budget: &mut Budget,
        found: &mut impl FnMut(&[u32]),
    ) -> Result<(), Stop> {
        for ((component, &state), choice) in self.components.iter().zip(tuple).zip(choices.iter_mut()) {
            component.next(state, action, choice);
            if choice.is_empty() {
                return Ok(());
            }
        }
        Self::combine(choices, budget, found)
    }

    /// A shortest word, if there is any.
    pub(super) fn shortest(&mut self, budget: &mut Budget) -> Result<Option<Vec<Action>>, Stop> {
        let mut tuples = Tuples::new(self.components.len());
        // For each tuple the one before it and the action that led here.
        let mut before: Vec<(u32, u32)> = Vec::new();
        let mut choices = vec![Vec::new(); self.components.len()];
        self.starts(budget, &mut |tuple| {
            if tuples.number(tuple).1 {
                before.push((u32::MAX, 0));
            }
        })?;
        let mut next = 0;
        while next < before.len() {
            budget.spend(self.actions as u64)?;
            self.visited += 1;
            let tuple = tuples.get(next as u32).to_vec();
            if self.accepts(&tuple) {
                let mut word = Vec::new();
                let mut at = next as u32;
                while before[at as usize].0 != u32::MAX {
                    word.push(Action(before[at as usize].1));
                    at = before[at as usize].0;
                }
                word.reverse();
                return Ok(Some(word));
            }
            for action in 0..self.actions {
                self.after(&tuple, action, &mut choices, budget, &mut |tuple| {
                    if tuples.number(tuple).1 {
                        before.push((next as u32, action as u32));
                    }
                })?;
            }
            next += 1;
        }
        Ok(None)
    }

    /// A word whose longest projection is as short as possible, and the word itself as short as possible among those.
    /// `projects` says for each action and thread whether the action counts for the thread; `most` is a length that
    /// some word does not exceed.
    pub(super) fn most_even(
        &mut self,
        projects: &[Vec<bool>],
        most: u32,
        budget: &mut Budget,
    ) -> Result<Option<Vec<Action>>, Stop> {
        let threads = projects.first().map_or(0, Vec::len);
        let mut tuples = Tuples::new(self.components.len());
        let mut labels: Vec<Label> = Vec::new();
        let mut at: Vec<Vec<u32>> = Vec::new();
        let mut heap = BinaryHeap::new();
        let mut choices = vec![Vec::new(); self.components.len()];
        let mut reach =
            |tuple: &[u32], label: Label, labels: &mut Vec<Label>, tuples: &mut Tuples, heap: &mut BinaryHeap<_>| {
                let (number, new) = tuples.number(tuple);
                if new {
                    at.push(Vec::new());
                }
                let beaten =
                    |&other: &u32| labels[other as usize].lengths.iter().zip(&label.lengths).all(|(a, b)| a <= b);
                if label.longest() > most || at[number as usize].iter().any(beaten) {
                    return;
                }
                let index = labels.len() as u32;
                at[number as usize]
                    .retain(|&other| !label.lengths.iter().zip(&labels[other as usize].lengths).all(|(a, b)| a <= b));
                at[number as usize].push(index);
                heap.push(Reverse((label.longest(), label.length, index)));
                labels.push(Label { tuple: number, ..label });
            };
        let start = Label { tuple: 0, lengths: vec![0; threads], length: 0, before: None };
        self.starts(budget, &mut |tuple| reach(tuple, start.clone(), &mut labels, &mut tuples, &mut heap))?;
        while let Some(Reverse((_, _, index))) = heap.pop() {
            budget.spend(self.actions as u64)?;
            self.visited += 1;
            let label = labels[index as usize].clone();
            let tuple = tuples.get(label.tuple).to_vec();
            if self.accepts(&tuple) {
                return Ok(Some(word_of(&labels, index)));
            }
            for (action, counts) in projects.iter().enumerate() {
                let lengths = label.lengths.iter().zip(counts);
                let lengths: Vec<_> = lengths.map(|(length, &counts)| length + u32::from(counts)).collect();
                let before = Some((index, Action(action as u32)));
                let next = Label { tuple: 0, lengths, length: label.length + 1, before };
                self.after(&tuple, action, &mut choices, budget, &mut |tuple| {
                    reach(tuple, next.clone(), &mut labels, &mut tuples, &mut heap);
                })?;
            }
        }
        Ok(None)
    }
}

/// A way to a tuple: the lengths of its projections, its own, and the last step.
#[derive(Clone)]
struct Label {
    tuple: u32,
    lengths: Vec<u32>,
    length: u32,
    before: Option<(u32, Action)>,
}

impl Label {
    fn longest(&self) -> u32 {
        self.lengths.iter().copied().max().unwrap_or(0)
    }
}

fn word_of(labels: &[Label], last: u32) -> Vec<Action> {
    let mut word = Vec::new();
    let mut at = last;
    while let Some((before, action)) = labels[at as usize].before {
        word.push(action);
        at = before;
    }
    word.reverse();
    word
}
