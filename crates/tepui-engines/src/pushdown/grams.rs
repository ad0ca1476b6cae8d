//! Words and what lies below them: the part of a state that a view of depth b shows, and the part that a pop reveals.
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
//! A thread's reaction to a (shared state, word) pair is worked out when the pair first occurs, and *below* flows along
//! edges between words, so nothing is looked at twice. Interchangeable threads share their grams.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use tepui_cert::pushdown::LemmaThread;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::compiled::Compiled;
use crate::abstraction::Key;
use crate::ids::{Id, ThreadId, Threads, ViewId, WordId};
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;
use crate::workers::Workers;

/// The grams of all threads.
pub struct Grams {
    depth: usize,
    threads: Vec<ThreadGrams>,
    /// For each thread the first one that it is interchangeable with, whose grams are its own.
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

/// What a thread does to a view: a definite successor, or a pop that has to ask what lies below.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reaction {
    /// The shared state and the word afterwards.
    Become(u32, WordId),
    /// The shared state afterwards; the word depends on what comes to light.
    Reveal(u32),
}

/// What is known about the words of one thread.
#[derive(Default)]
struct ThreadGrams {
    /// The numbers of the words, found by their symbols. Words may be long, and are held once.
    numbers: HashTable<WordId>,
    words: Vec<WordInfo>,
    /// For a shared state and a word, where in `reactions` the thread's reactions stand.
    reacting: FxHashMap<(u32, WordId), (u32, u32)>,
    reactions: Vec<Reaction>,
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

impl ThreadGrams {
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

impl Grams {
    /// The grams of the initial stacks, with words of a depth that is at least 1; and the initial view.
    pub fn new(compiled: &Compiled, symmetry: &Symmetry, depth: usize) -> (Self, Vec<u32>) {
        let leader: Vec<_> = Threads::all(compiled.threads()).map(|thread| symmetry.leader(thread)).collect();
        let threads = leader.iter().map(|_| ThreadGrams::default()).collect();
        let mut grams = Self { depth: depth.max(1), threads, leader, facts: Vec::new() };
        let mut row = vec![compiled.init];
        for (thread, stack) in Threads::all(compiled.threads()).zip(compiled.initial_words()) {
            row.push(grams.word_of(thread, &stack).0);
            for window in stack.windows(grams.depth + 1) {
                let word = grams.word_of(thread, window);
                grams.add_below(grams.leader[thread.index()], word, window[grams.depth]);
            }
        }
        (grams, row)
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
    fn of(&self, thread: ThreadId) -> &ThreadGrams {
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

    /// Works out what threads do in some views, where that is not known.
    pub(crate) fn react_to(
        &mut self,
        compiled: &Compiled,
        symmetry: &Symmetry,
        views: &PackedSet<ViewId>,
        which: &[ViewId],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        // Few pairs are new, and finding them is most of the work: that is shared. Compiling interns words, whose numbers depend
        // on the order, and is left to one thread.
        let known = &*self;
        let unknown = workers.cut(which, |which| {
            let (mut row, mut unknown) = (vec![0; views.width()], Vec::new());
            for &view in which {
                views.get(view, &mut row);
                for thread in Threads::of(&row).filter(|&thread| !symmetry.repeats(&row, thread)) {
                    let pair = (row[0], WordId(row[thread.field()]));
                    if known.known_reactions(thread, pair).is_none() {
                        unknown.push((known.leader[thread.index()], pair));
                    }
                }
            }
            unknown
        });
        for (leader, pair) in unknown.into_iter().flatten() {
            if self.known_reactions(leader, pair).is_none() {
                self.compile(compiled, leader, pair);
                budget.pass(self.word(leader, pair.1).len() as u64)?;
            }
        }
        Ok(())
    }

    /// What a thread does when it shows a word in a shared state, if that has been worked out.
    #[inline]
    pub(crate) fn known_reactions(&self, thread: ThreadId, pair: (u32, WordId)) -> Option<&[Reaction]> {
        let grams = self.of(thread);
        grams.reacting.get(&pair).map(|&(start, end)| &grams.reactions[start as usize..end as usize])
    }

    /// The shared states that a thread goes to when it pops a word with something unknown below.
    fn pops(&self, thread: ThreadId, pair: (u32, WordId)) -> impl Iterator<Item = u32> {
        let reactions = self.known_reactions(thread, pair).unwrap_or_default().iter();
        reactions.filter_map(|reaction| match *reaction {
            Reaction::Reveal(shared) => Some(shared),
            Reaction::Become(..) => None,
        })
    }

    /// Adds the threads, each the first of those interchangeable with it, that pop words with something unknown below in a
    /// view, with these words.
    pub(crate) fn popped_words(&self, symmetry: &Symmetry, view: &[u32], keys: &mut Vec<Key>) {
        for thread in Threads::of(view).filter(|&thread| !symmetry.repeats(view, thread)) {
            if self.pops(thread, (view[0], WordId(view[thread.field()]))).next().is_some() {
                keys.push((self.leader[thread.index()], view[thread.field()]));
            }
        }
    }

    /// The pops of a view that bring a newly found symbol to light: `found` gets the place of the thread, and the shared
    /// state that it goes to.
    pub(crate) fn pops_above(
        &self,
        fact: Fact,
        symmetry: &Symmetry,
        view: &[u32],
        mut found: impl FnMut(ThreadId, u32),
    ) {
        if let Some(place) = symmetry.place_of(view, fact.thread, fact.word.0) {
            self.pops(place, (view[0], fact.word)).for_each(|shared| found(place, shared));
        }
    }

    /// How many words of a thread there are.
    pub(crate) fn word_count(&self, thread: ThreadId) -> usize {
        self.of(thread).words.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let thread = |thread: &ThreadGrams| {
            let words: usize = thread.words.iter().map(|info| info.word.len() * 4 + info.below.len() * 8 + 120).sum();
            words + thread.reacting.capacity() * 17 + thread.reactions.len() * 12
        };
        self.threads.iter().map(thread).sum::<usize>() as u64
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

    fn compile(&mut self, compiled: &Compiled, leader: ThreadId, (shared, word): (u32, WordId)) {
        debug_assert!(self.known_reactions(leader, (shared, word)).is_none(), "a pair is compiled once");
        let text = self.word(leader, word).to_vec();
        let mut reactions = Vec::new();
        for step in compiled.kind(leader).moves(shared, text[0]) {
            reactions.push(match step.action {
                Action::Pop if self.is_open(&text) => Reaction::Reveal(step.to),
                Action::Pop => Reaction::Become(step.to, self.threads[leader.index()].intern(&text[1..])),
                Action::Overwrite(symbol) => {
                    let next = self.inherit(leader, word, &replace_top(&text, &[symbol]));
                    Reaction::Become(step.to, next)
                }
                Action::Push { top, below } => {
                    self.inherit(leader, word, &replace_top(&text, &[below]));
                    let long = replace_top(&text, &[top, below]);
                    let next = self.word_of(leader, &long);
                    if let Some(&cut) = long.get(self.depth) {
                        self.add_below(leader, next, cut);
                    }
                    Reaction::Become(step.to, next)
                }
            });
        }
        let words = &mut self.threads[leader.index()];
        words.words[word.index()].popped |= reactions.iter().any(|reaction| matches!(reaction, Reaction::Reveal(_)));
        let range = (words.reactions.len() as u32, (words.reactions.len() + reactions.len()) as u32);
        words.reactions.extend(reactions);
        words.reacting.insert((shared, word), range);
    }

    /// Whether something unknown lies below a word.
    fn is_open(&self, word: &[Symbol]) -> bool {
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
