//! The numbers of shared rows, frames and stacks, given in the order in which they are found.
//!
//! Several workers compute steps side by side, and none of them may give numbers. So a worker looks up what it has found;
//! what is not there it notes in its [`News`], with a *provisional* number that counts what is new there. When many chunks
//! of work are done, their news are admitted one after the other. A thing's number is its rank by first occurrence in the
//! order of the chunks, and depends neither on the workers nor on how the work was cut.

use rustc_hash::FxHashMap;
use tepui_model::pushdown::Symbol;

use super::cache::Cache;
use super::machine::Machine;
use super::word_rows::WordRows;
use crate::ids::{Id, SharedId};
use crate::packed::PackedSet;
use crate::pushdown::tree::{EMPTY, StackTree};
use crate::workers::Workers;

/// Provisional numbers have this bit.
const PROVISIONAL: u32 = 1 << 31;

/// What has numbers.
#[derive(Debug)]
pub struct Tables {
    shared: PackedSet<SharedId>,
    frames: WordRows,
    /// For each kind of thread its stacks. The symbol of a frame is its number and 1.
    stacks: Vec<StackTree>,
}

/// What a chunk of work has found that has no number yet.
#[derive(Debug, Default)]
pub struct News {
    /// What computes the steps.
    pub machine: Machine,
    /// What was computed last.
    pub(super) cache: Cache,
    shared: WordRows,
    frames: WordRows,
    /// The kind, the symbol on top and the rest.
    stacks: Vec<(usize, u32, u32)>,
    found: FxHashMap<(usize, u32, u32), u32>,
    /// The numbers that they have been given.
    numbers: Numbers,
}

impl News {
    /// News of a single question: nothing is remembered for the next one.
    pub(super) fn of_one_question() -> Self {
        Self { cache: Cache::off(), ..Self::default() }
    }
}

#[derive(Debug, Default)]
struct Numbers {
    shared: Vec<SharedId>,
    frames: Vec<u32>,
    stacks: Vec<u32>,
}

impl Tables {
    /// Empty tables for shared rows of some length and some kinds of threads.
    pub fn new(words: usize, kinds: usize) -> Self {
        Self {
            shared: PackedSet::of_words(words),
            frames: WordRows::default(),
            stacks: (0..kinds).map(|_| StackTree::default()).collect(),
        }
    }

    /// A shared row.
    #[inline]
    pub fn shared(&self, number: u32) -> &[u64] {
        self.shared.words(SharedId(number))
    }

    /// How many shared rows there are.
    pub fn shared_count(&self) -> usize {
        self.shared.len()
    }

    /// The frame of a symbol that is not the marker.
    #[inline]
    pub fn frame(&self, symbol: Symbol) -> &[u64] {
        self.frames.get(symbol.0 - 1)
    }

    /// How many frames there are.
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// The stacks of a kind of threads.
    #[inline]
    pub fn stacks(&self, kind: usize) -> &StackTree {
        &self.stacks[kind]
    }

    /// The number of a shared row, which may be provisional.
    #[inline]
    pub fn find_shared(&self, row: &[u64], news: &mut News) -> u32 {
        match self.shared.find_words(row) {
            Some(known) => known.number(),
            None => news.shared.intern(row) | PROVISIONAL,
        }
    }

    /// The symbol of a frame, which may be provisional.
    #[inline]
    pub fn find_frame(&self, frame: &[u64], news: &mut News) -> u32 {
        match self.frames.find(frame) {
            Some(known) => known + 1,
            None => news.frames.intern(frame) | PROVISIONAL,
        }
    }

    /// The number of a stack of a kind with a symbol above another one; all of them may be provisional.
    #[inline]
    pub fn find_stack(&self, kind: usize, top: u32, rest: u32, news: &mut News) -> u32 {
        if (top | rest) & PROVISIONAL == 0
            && let Some(known) = self.stacks[kind].find(Symbol(top), rest)
        {
            return known;
        }
        let next = news.stacks.len() as u32 | PROVISIONAL;
        let number = *news.found.entry((kind, top, rest)).or_insert(next);
        if number == next {
            news.stacks.push((kind, top, rest));
        }
        number
    }

    /// Gives numbers to what is new.
    pub fn admit(&mut self, news: &mut [News], workers: &Workers) {
        if news.iter().any(|news| !news.shared.is_empty()) {
            let mut batches = self.shared.batches(news.len());
            for (batch, news) in batches.iter_mut().zip(&*news) {
                (0..news.shared.len() as u32).for_each(|row| self.shared.push_words(news.shared.get(row), batch));
            }
            let numbers = self.shared.insert_all(batches, workers);
            news.iter_mut().zip(numbers).for_each(|(news, numbers)| news.numbers.shared = numbers);
        }
        self.admit_frames(news);
        for news in news {
            for &(kind, top, rest) in &news.stacks {
                let top = news.numbers.frame(top);
                let rest = news.numbers.stack(rest);
                news.numbers.stacks.push(self.stacks[kind].push(rest, Symbol(top)));
            }
        }
    }

    /// Gives numbers to frames that are new.
    pub fn admit_frames(&mut self, news: &mut [News]) {
        for news in news {
            for frame in 0..news.frames.len() as u32 {
                news.numbers.frames.push(1 + self.frames.intern(news.frames.get(frame)));
            }
        }
    }

    /// The number of a shared row that is added if it is not there.
    pub fn add_shared(&mut self, row: &[u64]) -> u32 {
        let mut batch = self.shared.batches(1);
        self.shared.push_words(row, &mut batch[0]);
        let workers = Workers::of(crate::workers::Cores::new(1));
        self.shared.insert_all(batch, &workers)[0][0].number()
    }

    /// The symbol of a frame that is added if it is not there.
    pub fn add_frame(&mut self, frame: &[u64]) -> Symbol {
        Symbol(1 + self.frames.intern(frame))
    }

    /// The number of a stack of one frame that is added if it is not there.
    pub fn add_stack(&mut self, kind: usize, frame: Symbol) -> u32 {
        self.stacks[kind].push(EMPTY, frame)
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let stacks: usize = self.stacks.iter().map(StackTree::bytes).sum();
        self.shared.bytes() + (self.frames.bytes() + stacks) as u64
    }
}

impl Numbers {
    fn frame(&self, symbol: u32) -> u32 {
        if symbol & PROVISIONAL == 0 { symbol } else { self.frames[(symbol & !PROVISIONAL) as usize] }
    }

    #[inline]
    fn stack(&self, stack: u32) -> u32 {
        if stack & PROVISIONAL == 0 { stack } else { self.stacks[(stack & !PROVISIONAL) as usize] }
    }
}

impl News {
    /// Whether a row has a number that is not known.
    pub fn is_new(row: &[u32]) -> bool {
        row.iter().any(|cell| cell & PROVISIONAL != 0)
    }

    /// The symbol of a frame that may have been provisional.
    pub fn frame(&self, symbol: Symbol) -> Symbol {
        Symbol(self.numbers.frame(symbol.0))
    }

    /// Forgets what was new.
    pub fn clear(&mut self) {
        self.shared.clear();
        self.frames.clear();
        self.stacks.clear();
        self.found.clear();
        self.numbers.shared.clear();
        self.numbers.frames.clear();
        self.numbers.stacks.clear();
    }

    /// Puts the numbers into a row that they have been given.
    #[inline]
    pub fn settle(&self, row: &mut [u32]) {
        if row[0] & PROVISIONAL != 0 {
            row[0] = self.numbers.shared[(row[0] & !PROVISIONAL) as usize].number();
        }
        row[1..].iter_mut().for_each(|cell| *cell = self.numbers.stack(*cell));
    }
}
