//! Words of stacks, and what lies below them.
//!
//! A *word* is what a view of depth b shows of one stack: its topmost b symbols, top first, ended early by the marker
//! of the empty stack. *Below* collects, for each thread and each word of b real symbols, what lies directly beneath
//! that word somewhere in a stack; word and symbol together are a gram of length b + 1. A step changes the stack's top
//! only, so it is known what it does to both:
//!
//! * overwrite `s -> t`: the word `s u` becomes `t u`, and whatever lay below `s u` may lie below `t u`;
//! * push `s -> a b`: the word `s u` becomes `a b u` cut to length; the symbol that was cut off lies below it, and
//!   whatever lay below `s u` may lie below `b u`;
//! * pop `s`: the word `s u` becomes `u y`, for every `y` that may lie below `s u`.
//!
//! *Below* flows along edges between words, so nothing is looked at twice. Interchangeable threads share their words.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use tepui_cert::pushdown::LemmaThread;
use tepui_model::pushdown::Symbol;

use crate::abstraction::Key;
use crate::ids::{Id, ThreadId, Threads, WordId};
use crate::symmetry::Symmetry;

/// The words of all threads.
pub struct Words {
    depth: usize,
    threads: Vec<ThreadWords>,
    /// For each thread the first one that it is interchangeable with, whose words are its own.
    leader: Vec<ThreadId>,
    /// Symbols that were found below words and not returned yet.
    facts: Vec<Fact>,
}

/// A symbol that was found below a word of a thread (and of those interchangeable with it).
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    /// The thread.
    pub thread: ThreadId,
    /// The word.
    pub word: WordId,
    /// The word that comes to light when the top is popped above it.
    pub revealed: WordId,
}

impl Fact {
    /// The thread and the word: views from which the thread pops the word watch this.
    pub fn key(self) -> Key {
        (self.thread, self.word.0)
    }
}

/// What is known about the words of one thread.
#[derive(Default)]
struct ThreadWords {
    /// The numbers of the words, found by their symbols. Words may be long, and are held once.
    numbers: HashTable<WordId>,
    words: Vec<WordInfo>,
}

struct WordInfo {
    word: Box<[Symbol]>,
    below: Vec<Symbol>,
    /// For each symbol below, the word that comes to light when the top is popped.
    revealed: Vec<WordId>,
    /// Words that inherit what lies below this one.
    heirs: Vec<WordId>,
    /// Whether the thread pops it somewhere, and has to ask what lies below.
    popped: bool,
}

impl ThreadWords {
    fn intern(&mut self, word: &[Symbol]) -> WordId {
        debug_assert!(!word.is_empty(), "even an empty stack shows its marker");
        debug_assert!(!word[..word.len() - 1].iter().any(|symbol| symbol.is_bottom()), "nothing lies below the marker");
        let words = &mut self.words;
        let entry = self.numbers.entry(
            hash(word),
            |&number| *words[number.index()].word == *word,
            |&number| hash(&words[number.index()].word),
        );
        let new = || {
            let word = word.into();
            words.push(WordInfo { word, below: Vec::new(), revealed: Vec::new(), heirs: Vec::new(), popped: false });
            WordId(words.len() as u32 - 1)
        };
        *entry.or_insert_with(new).get()
    }
}

impl Words {
    /// The words of stacks, given top first with the marker at the end, of a depth that is at least 1; and the number of each
    /// one's word.
    pub fn new(symmetry: &Symmetry, depth: usize, stacks: &[Vec<Symbol>]) -> (Self, Vec<WordId>) {
        let leader: Vec<_> = Threads::all(stacks.len()).map(|thread| symmetry.leader(thread)).collect();
        let threads = leader.iter().map(|_| ThreadWords::default()).collect();
        let mut words = Self { depth: depth.max(1), threads, leader, facts: Vec::new() };
        let mut numbers = Vec::new();
        for (thread, stack) in Threads::all(stacks.len()).zip(stacks) {
            numbers.push(words.word_of(thread, stack));
            for window in stack.windows(words.depth + 1) {
                let word = words.word_of(thread, window);
                words.add_below(words.leader(thread), word, window[words.depth]);
            }
        }
        (words, numbers)
    }

    /// The first thread that a thread is interchangeable with, whose words are its own.
    #[inline]
    pub fn leader(&self, thread: ThreadId) -> ThreadId {
        self.leader[thread.index()]
    }

    /// How many symbols of each stack a word shows.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The number of a stack's word, given top first with the marker at the end.
    pub(crate) fn word_of(&mut self, thread: ThreadId, stack: &[Symbol]) -> WordId {
        let length = self.depth.min(stack.len());
        self.threads[self.leader[thread.index()].index()].intern(&stack[..length])
    }

    /// Notes a symbol that may lie below another one. For words of one symbol.
    pub fn allow(&mut self, thread: ThreadId, symbol: Symbol, below: Symbol) {
        let word = self.word_of(thread, &[symbol]);
        self.add_below(self.leader[thread.index()], word, below);
    }

    /// The grams of a thread.
    #[inline]
    fn of(&self, thread: ThreadId) -> &ThreadWords {
        &self.threads[self.leader[thread.index()].index()]
    }

    /// The symbols of a word, top first.
    #[inline]
    pub fn word(&self, thread: ThreadId, word: WordId) -> &[Symbol] {
        &self.of(thread).words[word.index()].word
    }

    /// All words that a thread pops in some view, and what may come to light.
    pub fn popped(&self, thread: ThreadId) -> impl Iterator<Item = (&[Symbol], &[Symbol])> {
        let words = self.of(thread).words.iter().filter(|info| info.popped);
        words.map(|info| (&*info.word, info.below.as_slice()))
    }

    /// The words that come to light when a word's top is popped, one for each symbol below it.
    #[inline]
    pub fn revealed(&self, thread: ThreadId, word: WordId) -> &[WordId] {
        &self.of(thread).words[word.index()].revealed
    }

    /// The next symbol that was found below a word; each is returned once.
    pub fn next_fact(&mut self) -> Option<Fact> {
        self.facts.pop()
    }

    /// Whether symbols were found below words that were not returned yet.
    pub(crate) fn has_facts(&self) -> bool {
        !self.facts.is_empty()
    }

    /// How many words of a thread there are.
    pub(crate) fn word_count(&self, thread: ThreadId) -> usize {
        self.of(thread).words.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let bytes = |info: &WordInfo| info.word.len() * 4 + info.below.len() * 8 + 120;
        self.threads.iter().flat_map(|thread| &thread.words).map(bytes).sum::<usize>() as u64
    }

    /// A thread's part of a lemma: its words that are in use, sorted and renumbered (the numbers go to `used`), and what
    /// lies below any word.
    pub(crate) fn lemma_thread(&self, thread: ThreadId, used: &mut [Option<u32>]) -> LemmaThread {
        let leader = self.leader[thread.index()];
        if leader != thread {
            return LemmaThread { like: Some(leader.index()), ..LemmaThread::default() };
        }
        let words = &self.of(thread).words;
        let mut order: Vec<_> = (0..used.len()).filter(|&word| used[word].is_some()).collect();
        order.sort_unstable_by_key(|&word| &words[word].word);
        order.iter().zip(0..).for_each(|(&word, number)| used[word] = Some(number));
        let with_below = words.iter().filter(|info| !info.below.is_empty());
        let mut below: Vec<_> = with_below.map(|info| (info.word.to_vec(), info.below.clone())).collect();
        below.iter_mut().for_each(|(_, symbols)| symbols.sort_unstable());
        below.sort_unstable();
        LemmaThread { like: None, words: order.into_iter().map(|word| words[word].word.to_vec()).collect(), below }
    }

    /// A leader's thread overwrites the top of a word.
    pub fn overwritten(&mut self, leader: ThreadId, word: WordId, symbol: Symbol) -> WordId {
        let text = self.word(leader, word);
        if text[0] == symbol {
            return word;
        }
        let next = replace_top(text, &[symbol]);
        self.inherit(leader, word, &next)
    }

    /// A leader's thread pushes.
    pub fn pushed(&mut self, leader: ThreadId, word: WordId, top: Symbol, below: Symbol) -> WordId {
        self.overwritten(leader, word, below);
        let long = replace_top(self.word(leader, word), &[top, below]);
        let next = self.word_of(leader, &long);
        if let Some(&cut) = long.get(self.depth) {
            self.add_below(leader, next, cut);
        }
        next
    }

    /// A leader's thread pops: the word that comes to light, if it is certain. Otherwise the word is noted as popped.
    pub fn popped_to(&mut self, leader: ThreadId, word: WordId) -> Option<WordId> {
        let text = self.word(leader, word);
        if self.is_open(text) {
            self.threads[leader.index()].words[word.index()].popped = true;
            return None;
        }
        let rest = text[1..].to_vec();
        Some(self.threads[leader.index()].intern(&rest))
    }

    /// Whether something unknown lies below a word.
    pub fn is_open(&self, word: &[Symbol]) -> bool {
        word.len() == self.depth && word.last().is_some_and(|symbol| !symbol.is_bottom())
    }

    /// Whatever lies below `from` may lie below `to` as well, a word with the same symbols under its top.
    fn inherit(&mut self, leader: ThreadId, from: WordId, to: &[Symbol]) -> WordId {
        let number = self.threads[leader.index()].intern(to);
        if number != from && self.is_open(to) {
            let info = &mut self.threads[leader.index()].words[from.index()];
            if !info.heirs.contains(&number) {
                info.heirs.push(number);
                for symbol in info.below.clone() {
                    self.add_below(leader, number, symbol);
                }
            }
        }
        number
    }

    /// Notes a symbol below a word and below all that inherit it: a worklist along the edges between words. A word is entered
    /// once for each symbol, so cycles of overwrites end.
    fn add_below(&mut self, leader: ThreadId, word: WordId, symbol: Symbol) {
        debug_assert!(self.is_open(self.word(leader, word)), "nothing lies below a short word");
        let mut work = vec![word];
        while let Some(word) = work.pop() {
            let grams = &mut self.threads[leader.index()];
            let info = &grams.words[word.index()];
            debug_assert_eq!(info.below.len(), info.revealed.len(), "each symbol below reveals one word");
            if !info.below.contains(&symbol) {
                let under: Vec<_> = info.word[1..].iter().copied().chain([symbol]).collect();
                let revealed = grams.intern(&under);
                let info = &mut grams.words[word.index()];
                info.below.push(symbol);
                info.revealed.push(revealed);
                work.extend(&info.heirs);
                self.facts.push(Fact { thread: leader, word, revealed });
            }
        }
    }
}

fn hash(word: &[Symbol]) -> u64 {
    let mut hasher = FxHasher::default();
    word.iter().for_each(|symbol| hasher.write_u32(symbol.0));
    hasher.finish()
}

fn replace_top(word: &[Symbol], top: &[Symbol]) -> Vec<Symbol> {
    top.iter().chain(&word[1..]).copied().collect()
}
