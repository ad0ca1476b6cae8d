//! Looking for markings that are within others, among very many.
//!
//! Whoever has at least as many of each task has at least one of each. So there is a row of bits for each task, with one for each
//! marking that has it, and words of such rows are compared: few markings are left to be looked at in full.

use rustc_hash::FxHashMap;
use tepui_cert::program::Pending;

/// The markings of one shared state.
#[derive(Default)]
pub(super) struct Index {
    /// For each marking its state.
    states: Vec<u32>,
    /// Those that count, and for each task those that have it.
    live: Vec<u64>,
    having: FxHashMap<u32, Vec<u64>>,
}

impl Index {
    /// How many words are compared.
    pub(super) fn words(&self) -> usize {
        self.live.len()
    }

    /// Adds the marking of a state.
    pub(super) fn add(&mut self, state: u32, pending: &Pending) {
        let number = self.states.len();
        self.states.push(state);
        set(&mut self.live, number);
        pending.iter().for_each(|(task, _)| set(self.having.entry(*task).or_default(), number));
    }

    /// The states that have each task of a marking.
    pub(super) fn above(&self, pending: &Pending) -> impl Iterator<Item = u32> {
        let rows: Vec<&[u64]> =
            pending.iter().map(|(task, _)| self.having.get(task).map_or(&[][..], Vec::as_slice)).collect();
        let words = rows.iter().map(|row| row.len()).min().unwrap_or(self.live.len());
        let all = move |word: usize| {
            let both = |all: u64, row: &&[u64]| Some(all & row[word]).filter(|all| *all != 0);
            rows.iter().try_fold(self.live[word], both).unwrap_or(0)
        };
        (0..words).flat_map(move |word| bits(word, all(word))).map(|number| self.states[number])
    }

    /// Leaves out those states of which a marking has each task, and which are within it.
    pub(super) fn remove_below(&mut self, pending: &Pending, mut is_within: impl FnMut(u32) -> bool) {
        let has = |task: u32| pending.iter().any(|(own, _)| *own == task);
        let others: Vec<&[u64]> =
            self.having.iter().filter(|(task, _)| !has(**task)).map(|(_, row)| row.as_slice()).collect();
        let mut removed = Vec::new();
        for (word, live) in self.live.iter().enumerate() {
            let without = |left: u64, row: &&[u64]| left & !row.get(word).copied().unwrap_or(0);
            let left = others.iter().fold(*live, without);
            removed.extend(bits(word, left).filter(|&number| is_within(self.states[number])));
        }
        removed.into_iter().for_each(|number| self.live[number / 64] &= !(1 << (number % 64)));
    }
}

fn set(row: &mut Vec<u64>, number: usize) {
    row.resize(row.len().max(number / 64 + 1), 0);
    row[number / 64] |= 1 << (number % 64);
}

/// The numbers of the bits of a word.
fn bits(word: usize, mut left: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
        left &= left - 1;
        Some(word * 64 + bit)
    })
}
