//! Views of depth b, and the least inductive set of them: an over-approximation of what is reachable.
//!
//! A *word* is what a view of depth b shows of one stack: its topmost b symbols, top first, ended early by the marker
//! of the empty stack. *Below* collects, for each thread and each word of b real symbols, what lies directly beneath
//! that word somewhere in a stack. A step changes the stack's top only, so it is known what it does to both sets:
//!
//! * overwrite `s -> t`: the word `s u` becomes `t u`, and whatever lay below `s u` may lie below `t u`;
//! * push `s -> a b`: the word `s u` becomes `a b u` cut to length; the symbol that was cut off lies below it, and
//!   whatever lay below `s u` may lie below `b u`;
//! * pop `s`: the word `s u` becomes `u y`, for every `y` that may lie below `s u`.
//!
//! The least pair of sets that holds the initial state and is closed under these rules contains the view of every
//! reachable state, and is itself the certificate of that. With b = 1 it is a finite-state system with call-return
//! pairs derived from the rules that really fire; with growing b it gets tighter; with b at least the height of every
//! reachable stack it is exact.
//!
//! The fixpoint is computed without scanning anything twice: a thread's reaction to a (shared state, word) pair is
//! compiled when the pair first occurs, *below* flows along edges between words, and a pop that waits for what may
//! come to light is woken when something new does.

use rustc_hash::FxHashMap;
use tepui_cert::{Lemma, LemmaThread, Rows};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::compiled::Compiled;
use crate::packed::PackedSet;

/// Where a fixpoint computation may go.
#[derive(Clone, Copy)]
pub enum Fence<'f> {
    /// Everywhere.
    Open,
    /// To views whose tops are in this set, given as rows of a shared state and symbols.
    Tops(&'f PackedSet),
    /// To no views but those that were preloaded.
    Preloaded,
}

/// How a fixpoint computation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fixpoint {
    /// The least inductive set is complete.
    Complete,
    /// More views than the caller allowed for.
    TooLarge,
    /// A view beyond the fence turned up.
    Escaped,
}

/// The inductive set, under construction or complete.
pub struct Abstraction<'a> {
    compiled: &'a Compiled,
    depth: usize,
    threads: Vec<ThreadWords>,
    views: PackedSet,
    /// Pairs of a thread and a word with a symbol newly found below it.
    fresh: Vec<(usize, u32, Symbol)>,
    escaped: bool,
    /// The tops of the view at hand.
    tops: Vec<u32>,
}

/// What is known about the words of one thread.
#[derive(Default)]
struct ThreadWords {
    number: FxHashMap<Box<[Symbol]>, u32>,
    words: Vec<WordInfo>,
    /// For a shared state and a word, where in `reactions` the thread's reactions stand.
    reacting: FxHashMap<(u32, u32), (usize, usize)>,
    reactions: Vec<Reaction>,
}

struct WordInfo {
    word: Box<[Symbol]>,
    below: Vec<Symbol>,
    /// Words that inherit what lies below this one.
    heirs: Vec<u32>,
    /// Views that popped this word's top, with the shared state they went to.
    waiting: Vec<(u32, u32)>,
}

/// What a thread does to a view: a definite successor, or a pop that has to ask what lies below.
#[derive(Clone, Copy)]
enum Reaction {
    Become(u32, u32),
    Reveal(u32),
}

impl ThreadWords {
    fn intern(&mut self, word: &[Symbol]) -> u32 {
        if let Some(&number) = self.number.get(word) {
            return number;
        }
        let number = self.words.len() as u32;
        let word: Box<[Symbol]> = word.into();
        self.number.insert(word.clone(), number);
        self.words.push(WordInfo { word, below: Vec::new(), heirs: Vec::new(), waiting: Vec::new() });
        number
    }
}

impl<'a> Abstraction<'a> {
    /// An empty set of views of the given depth, which is at least 1.
    pub fn new(compiled: &'a Compiled, depth: usize) -> Self {
        let threads: Vec<_> = (0..compiled.threads()).map(|_| ThreadWords::default()).collect();
        let largest = (0..=threads.len()).map(|field| if field == 0 { compiled.shared_count() } else { 1 });
        let (views, tops) = (PackedSet::new(largest), vec![0; threads.len() + 1]);
        Self { compiled, depth: depth.max(1), threads, views, fresh: Vec::new(), escaped: false, tops }
    }

    /// The number of a stack's word, given top first with the marker at the end.
    pub fn word_of(&mut self, thread: usize, stack: &[Symbol]) -> u32 {
        let length = self.depth.min(stack.len());
        self.threads[thread].intern(&stack[..length])
    }

    /// Computes the least inductive set. Ends early when it has more than `limit` views, or leaves the fence.
    pub fn fixpoint(&mut self, limit: usize, fence: Fence<'_>, budget: &mut Budget) -> Result<Fixpoint, Stop> {
        let mut row = self.start();
        self.admit(&row, fence);
        let mut next = 0;
        while next < self.views.len() || !self.fresh.is_empty() {
            let steps = if next < self.views.len() {
                next += 1;
                self.expand(next as u32 - 1, &mut row, fence)
            } else if let Some((thread, word, symbol)) = self.fresh.pop() {
                self.wake(thread, word, symbol, &mut row, fence)
            } else {
                0
            };
            if self.escaped {
                return Ok(Fixpoint::Escaped);
            }
            if self.views.len() > limit {
                return Ok(Fixpoint::TooLarge);
            }
            budget.spend(steps)?;
        }
        Ok(if self.escaped { Fixpoint::Escaped } else { Fixpoint::Complete })
    }

    /// Pairs of a thread, a word that some view pops, and a symbol below it.
    pub fn revealed(&self) -> impl Iterator<Item = (usize, &[Symbol], Symbol)> {
        self.threads.iter().enumerate().flat_map(|(thread, words)| {
            let popped = words.words.iter().filter(|info| !info.waiting.is_empty());
            popped.flat_map(move |info| info.below.iter().map(move |&symbol| (thread, &*info.word, symbol)))
        })
    }

    /// Puts a view into the set before the fixpoint is computed: a row of a shared state and, for each thread, a number
    /// from [`word_of`](Self::word_of).
    pub fn preload(&mut self, row: &[u32]) {
        self.views.insert(row);
    }

    /// The set as a lemma of a certificate.
    pub fn into_lemma(self) -> Lemma {
        let mut row = vec![0; self.threads.len() + 1];
        let mut used: Vec<Vec<Option<u32>>> = self.threads.iter().map(|words| vec![None; words.words.len()]).collect();
        for view in 0..self.views.len() as u32 {
            self.views.get(view, &mut row);
            row[1..].iter().zip(&mut used).for_each(|(&word, used)| used[word as usize] = Some(0));
        }
        let threads: Vec<_> =
            self.threads.iter().zip(&mut used).map(|(words, used)| lemma_thread(words, used)).collect();
        let renumber = |row: &mut [u32]| {
            row[0] = self.compiled.shared(row[0]).0;
            row[1..].iter_mut().zip(&used).for_each(|(word, used)| *word = used[*word as usize].unwrap_or(0));
        };
        let largest = threads.iter().map(|thread| thread.words.len().saturating_sub(1) as u32);
        let shared = self.compiled.shared(self.compiled.shared_count() - 1).0;
        let widths: Vec<_> = [shared].into_iter().chain(largest).map(|number| 32 - number.leading_zeros()).collect();
        let views = sorted_rows(self.views, &widths, renumber);
        Lemma { depth: self.depth as u32, threads, views }
    }

    /// The row of the initial view; what lies below its words is noted.
    fn start(&mut self) -> Vec<u32> {
        let stacks: Vec<_> = self.compiled.initial_words().collect();
        let mut row = vec![self.compiled.init];
        for (thread, stack) in stacks.iter().enumerate() {
            row.push(self.word_of(thread, stack));
            for window in stack.windows(self.depth + 1) {
                let word = self.word_of(thread, window);
                self.add_below(thread, word, window[self.depth]);
            }
        }
        row
    }

    fn admit(&mut self, row: &[u32], fence: Fence<'_>) {
        match fence {
            Fence::Preloaded => self.escaped |= self.views.find(row).is_none(),
            Fence::Tops(allowed) if self.views.find(row).is_none() && allowed.find(self.tops_of(row)).is_none() => {
                self.escaped = true;
            }
            Fence::Open | Fence::Tops(_) => {
                self.views.insert(row);
            }
        }
    }

    fn tops_of(&mut self, row: &[u32]) -> &[u32] {
        self.tops[0] = row[0];
        for ((top, words), &word) in self.tops[1..].iter_mut().zip(&self.threads).zip(&row[1..]) {
            *top = words.words[word as usize].word[0].0;
        }
        &self.tops
    }

    /// Adds the successors of one view; returns how many there were.
    fn expand(&mut self, view: u32, row: &mut [u32], fence: Fence<'_>) -> u64 {
        self.views.get(view, row);
        let mut steps = 1;
        for thread in 0..self.threads.len() {
            let pair = (row[0], row[thread + 1]);
            let (start, end) = match self.threads[thread].reacting.get(&pair) {
                Some(&range) => range,
                None => self.compile(thread, pair),
            };
            for reaction in start..end {
                match self.threads[thread].reactions[reaction] {
                    Reaction::Become(shared, word) => {
                        (row[0], row[thread + 1]) = (shared, word);
                        self.admit(row, fence);
                        steps += 1;
                    }
                    Reaction::Reveal(shared) => {
                        self.threads[thread].words[pair.1 as usize].waiting.push((view, shared));
                        for index in 0..self.threads[thread].words[pair.1 as usize].below.len() {
                            let info = &self.threads[thread].words[pair.1 as usize];
                            let revealed = reveal(&info.word, info.below[index]);
                            (row[0], row[thread + 1]) = (shared, self.threads[thread].intern(&revealed));
                            self.admit(row, fence);
                            steps += 1;
                        }
                    }
                }
            }
            (row[0], row[thread + 1]) = pair;
        }
        steps
    }

    /// A symbol was found below a word: tells the heirs, and the pops that waited for it.
    fn wake(&mut self, thread: usize, word: u32, symbol: Symbol, row: &mut [u32], fence: Fence<'_>) -> u64 {
        for heir in self.threads[thread].words[word as usize].heirs.clone() {
            self.add_below(thread, heir, symbol);
        }
        let words = &mut self.threads[thread];
        let waiting = words.words[word as usize].waiting.len();
        if waiting > 0 {
            let revealed = reveal(&words.words[word as usize].word, symbol);
            let revealed = words.intern(&revealed);
            for index in 0..waiting {
                let (view, shared) = self.threads[thread].words[word as usize].waiting[index];
                self.views.get(view, row);
                (row[0], row[thread + 1]) = (shared, revealed);
                self.admit(row, fence);
            }
        }
        waiting as u64 + 1
    }

    /// Works out, once, what a thread does when it shows a word in a shared state.
    fn compile(&mut self, thread: usize, (shared, word): (u32, u32)) -> (usize, usize) {
        let compiled = self.compiled;
        let text = self.threads[thread].words[word as usize].word.clone();
        let mut reactions = Vec::new();
        for step in compiled.kind(thread).moves(shared, text[0]) {
            reactions.push(match step.action {
                Action::Pop if self.is_open(&text) => Reaction::Reveal(step.to),
                Action::Pop => Reaction::Become(step.to, self.threads[thread].intern(&text[1..])),
                Action::Overwrite(symbol) => {
                    let next = self.inherit(thread, word, &replace_top(&text, &[symbol]));
                    Reaction::Become(step.to, next)
                }
                Action::Push { top, below } => {
                    self.inherit(thread, word, &replace_top(&text, &[below]));
                    let long = replace_top(&text, &[top, below]);
                    let next = self.word_of(thread, &long);
                    if let Some(&cut) = long.get(self.depth) {
                        self.add_below(thread, next, cut);
                    }
                    Reaction::Become(step.to, next)
                }
            });
        }
        let words = &mut self.threads[thread];
        let range = (words.reactions.len(), words.reactions.len() + reactions.len());
        words.reactions.extend(reactions);
        words.reacting.insert((shared, word), range);
        range
    }

    /// Whether something unknown lies below a word.
    fn is_open(&self, word: &[Symbol]) -> bool {
        word.len() == self.depth && word.last().is_some_and(|symbol| !symbol.is_bottom())
    }

    /// Whatever lies below `from` may lie below `to` as well, a word with the same symbols under its top.
    fn inherit(&mut self, thread: usize, from: u32, to: &[Symbol]) -> u32 {
        let number = self.threads[thread].intern(to);
        if number != from && self.is_open(to) {
            let info = &mut self.threads[thread].words[from as usize];
            if !info.heirs.contains(&number) {
                info.heirs.push(number);
                for symbol in info.below.clone() {
                    self.add_below(thread, number, symbol);
                }
            }
        }
        number
    }

    fn add_below(&mut self, thread: usize, word: u32, symbol: Symbol) {
        let info = &mut self.threads[thread].words[word as usize];
        if !info.below.contains(&symbol) {
            info.below.push(symbol);
            self.fresh.push((thread, word, symbol));
        }
    }
}

fn replace_top(word: &[Symbol], top: &[Symbol]) -> Vec<Symbol> {
    top.iter().chain(&word[1..]).copied().collect()
}

fn reveal(word: &[Symbol], symbol: Symbol) -> Vec<Symbol> {
    word[1..].iter().copied().chain([symbol]).collect()
}

/// The renumbered rows in ascending order. Those that fit into a machine word are sorted as such, in place.
fn sorted_rows(views: PackedSet, widths: &[u32], renumber: impl Fn(&mut [u32])) -> Rows {
    let mut rows = Rows::with_capacity(widths.len(), views.len());
    let mut row = vec![0; widths.len()];
    match views.into_words(widths, &renumber) {
        Ok(mut words) => {
            words.sort_unstable();
            for mut word in words {
                for (cell, &width) in row.iter_mut().zip(widths).rev() {
                    *cell = (word & ((1 << width) - 1)) as u32;
                    word >>= width;
                }
                rows.push(row.iter().copied());
            }
            rows
        }
        Err(views) => {
            for view in 0..views.len() as u32 {
                views.get(view, &mut row);
                renumber(&mut row);
                rows.push(row.iter().copied());
            }
            rows.sorted().into_owned()
        }
    }
}

/// A thread's words that occur in views, sorted and renumbered (the numbers go to `used`), and what lies below any
/// word.
fn lemma_thread(words: &ThreadWords, used: &mut [Option<u32>]) -> LemmaThread {
    let mut order: Vec<_> = (0..used.len()).filter(|&word| used[word].is_some()).collect();
    order.sort_unstable_by_key(|&word| &words.words[word].word);
    order.iter().zip(0..).for_each(|(&word, number)| used[word] = Some(number));
    let with_below = words.words.iter().filter(|info| !info.below.is_empty());
    let mut below: Vec<_> = with_below.map(|info| (info.word.to_vec(), info.below.clone())).collect();
    below.iter_mut().for_each(|(_, symbols)| symbols.sort_unstable());
    below.sort_unstable();
    LemmaThread { like: None, words: order.into_iter().map(|word| words.words[word].word.to_vec()).collect(), below }
}
