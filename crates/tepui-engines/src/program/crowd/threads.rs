//! What a single thread of a crowd does: what is seen of its stack, what may lie below that, and its moves.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::super::layout::Head;
use super::super::machine::{Machine, Outcome};
use super::super::system::Programs;
use crate::ids::ThreadId;
use crate::interner::Interner;

/// The two kinds of threads.
pub(super) const MAIN: usize = 0;
pub(super) const OTHERS: usize = 1;

/// In the place of a word: a thread that is not there, or has ended.
pub(super) const NOBODY: u32 = u32::MAX;

/// A thread of some kind with a word, in a shared state.
pub(super) type Acting = (usize, u32, u32);

/// What a thread does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Moved {
    /// The shared state afterwards.
    pub(super) shared: u32,
    /// What is seen of its stack afterwards.
    pub(super) word: u32,
    pub(super) effect: Effect,
}

/// What becomes of other threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    Nothing,
    /// So many threads begin, each with one of these words.
    Starts(Vec<u32>, u32),
    /// Those that sleep on a condition are woken, all or one of them.
    Wakes(u32, bool),
}

/// A step as the machine has it.
struct Raw {
    outcome: Outcome,
    shared: Vec<u64>,
    frame: Vec<u64>,
    caller: Vec<u64>,
    started: Vec<u64>,
    values: Vec<i64>,
}

/// All that is known of single threads.
pub(super) struct Threads {
    pub(super) programs: Programs,
    /// How many symbols of a stack are seen.
    pub(super) depth: usize,
    /// For each kind the words.
    pub(super) words: [Interner<Vec<Symbol>>; 2],
    /// For each kind and word what may lie below, and the words below which it may lie as well.
    below: [FxHashMap<u32, Below>; 2],
    moves: FxHashMap<Acting, Rc<[Moved]>>,
    /// For each kind and word the shared states in which it returned to what lies below.
    returned: FxHashMap<(usize, u32), Vec<u32>>,
    /// Those whose moves are to be looked at again, since more may lie below.
    pub(super) stale: Vec<Acting>,
    /// Who violates a property with a step.
    pub(super) failed: FxHashSet<(usize, Acting)>,
    machine: Machine,
}

#[derive(Default)]
struct Below {
    symbols: Vec<Symbol>,
    heirs: Vec<u32>,
}

impl Threads {
    pub(super) fn new(programs: Programs, depth: usize) -> Self {
        Self {
            programs,
            depth,
            words: Default::default(),
            below: Default::default(),
            moves: FxHashMap::default(),
            returned: FxHashMap::default(),
            stale: Vec::new(),
            failed: FxHashSet::default(),
            machine: Machine::default(),
        }
    }

    /// The shared state at the start, and what is seen of `main`.
    pub(super) fn start(&mut self) -> (u32, u32) {
        let first = self.programs.first_word(ThreadId(0));
        (0, self.whole(MAIN, first))
    }

    /// The word of a whole stack, with its marker.
    fn whole(&mut self, kind: usize, stack: Vec<Symbol>) -> u32 {
        self.stretches(kind, &stack);
        self.word(kind, stack)
    }

    /// Notes what lies below each stretch of symbols.
    fn stretches(&mut self, kind: usize, symbols: &[Symbol]) {
        for stretch in symbols.windows(self.depth + 1) {
            let (word, symbol) = (stretch[..self.depth].to_vec(), stretch[self.depth]);
            let word = self.word(kind, word);
            self.add_below(kind, word, symbol);
        }
    }

    /// The number of the word with which a stack begins.
    fn word(&mut self, kind: usize, mut symbols: Vec<Symbol>) -> u32 {
        symbols.truncate(self.depth);
        self.words[kind].intern(symbols)
    }

    /// Whether something lies below a word that is not seen.
    pub(super) fn is_open(&self, word: &[Symbol]) -> bool {
        word.len() == self.depth && word.last().is_some_and(|last| !last.is_bottom())
    }

    /// What may lie below words.
    pub(super) fn below(&self, kind: usize) -> impl Iterator<Item = (u32, &[Symbol])> {
        self.below[kind].iter().map(|(word, below)| (*word, below.symbols.as_slice()))
    }

    /// Notes what may lie below a word, and all that follows from it.
    fn add_below(&mut self, kind: usize, word: u32, symbol: Symbol) {
        let mut open = vec![word];
        while let Some(word) = open.pop() {
            let below = self.below[kind].entry(word).or_default();
            if below.symbols.contains(&symbol) {
                continue;
            }
            below.symbols.push(symbol);
            open.extend(&below.heirs);
            for &shared in self.returned.get(&(kind, word)).into_iter().flatten() {
                self.stale.push((kind, shared, word));
            }
        }
    }

    /// Notes that what lies below a word may lie below another one.
    fn inherit(&mut self, kind: usize, from: u32, to: u32) {
        let below = self.below[kind].entry(from).or_default();
        if from == to || below.heirs.contains(&to) {
            return;
        }
        below.heirs.push(to);
        for symbol in below.symbols.clone() {
            self.add_below(kind, to, symbol);
        }
    }

    /// Whether a thread violates a property, by where it stands or by a step.
    pub(super) fn violates(&self, property: usize, acting: Acting) -> bool {
        let (kind, _, word) = acting;
        self.failed.contains(&(property, acting)) || self.programs.is_bad(property, self.words[kind][word][0])
    }

    /// What a thread can do.
    pub(super) fn moves(&mut self, acting: Acting, budget: &mut Budget) -> Result<Rc<[Moved]>, Stop> {
        if let Some(known) = self.moves.get(&acting) {
            return Ok(Rc::clone(known));
        }
        self.look_again(acting, budget)
    }

    /// Finds out what a thread can do, even if that was known.
    pub(super) fn look_again(&mut self, acting: Acting, budget: &mut Budget) -> Result<Rc<[Moved]>, Stop> {
        let mut found = Vec::new();
        for raw in self.raw_steps(acting, budget)? {
            self.moved(acting, &raw, &mut found);
            budget.spend(1)?;
        }
        self.machine.require_all_steps(budget)?;
        let found: Rc<[Moved]> = found.into();
        self.moves.insert(acting, Rc::clone(&found));
        Ok(found)
    }

    fn raw_steps(&mut self, (kind, shared, word): Acting, budget: &mut Budget) -> Result<Vec<Raw>, Stop> {
        let (programs, mut found) = (&self.programs, Vec::new());
        let top = self.words[kind][word][0];
        if !top.is_bottom() {
            let (shared, frame) = (programs.tables.shared(shared), programs.tables.frame(top));
            programs.code.steps(shared, frame, &mut self.machine, &mut |machine, outcome| {
                let Machine { shared, frame, caller, started, values, .. } = machine.clone();
                found.push(Raw { outcome, shared, frame, caller, started, values });
            });
        }
        self.machine.require_all_steps(budget).map(|()| found)
    }

    /// What a step makes of the stack and of others.
    fn moved(&mut self, acting: Acting, raw: &Raw, found: &mut Vec<Moved>) {
        let (kind, _, word) = acting;
        let old = self.words[kind][word].clone();
        match raw.outcome {
            Outcome::Blocked => {}
            Outcome::Fails => self.fails(acting, &raw.frame),
            Outcome::Returns => self.returns(acting, &old, raw, found),
            Outcome::Ends => {
                let word = if kind == MAIN { self.word(MAIN, vec![Symbol::BOTTOM]) } else { NOBODY };
                let shared = self.programs.tables.add_shared(&raw.shared);
                found.push(Moved { shared, word, effect: Effect::Nothing });
            }
            Outcome::Calls => {
                let tops = [&raw.frame, &raw.caller].map(|frame| self.programs.add_frame(frame));
                let word = self.replaced(kind, word, &tops);
                let shared = self.programs.tables.add_shared(&raw.shared);
                found.push(Moved { shared, word, effect: Effect::Nothing });
            }
            Outcome::Goes | Outcome::Starts(_) | Outcome::Wakes(..) => {
                let top = self.programs.add_frame(&raw.frame);
                let word = self.replaced(kind, word, &[top]);
                let shared = self.programs.tables.add_shared(&raw.shared);
                let effect = match raw.outcome {
                    Outcome::Starts(count) => Effect::Starts(self.begun(&raw.started), count),
                    Outcome::Wakes(condition, all) => Effect::Wakes(condition, all),
                    _ => Effect::Nothing,
                };
                found.push(Moved { shared, word, effect });
            }
        }
    }

    /// A thread fails, in the way that its frame says.
    fn fails(&mut self, acting: Acting, frame: &[u64]) {
        let symbol = self.programs.add_frame(frame);
        for property in 0..self.programs.properties.len() {
            if self.programs.is_bad(property, symbol) {
                self.failed.insert((property, acting));
            }
        }
    }

    /// The word whose topmost symbol is replaced by others, the new top first.
    fn replaced(&mut self, kind: usize, word: u32, tops: &[Symbol]) -> u32 {
        let old = self.words[kind][word].clone();
        let written: Vec<_> = tops.iter().chain(&old[1..]).copied().collect();
        self.stretches(kind, &written);
        if self.is_open(&old) {
            let lower = self.word(kind, written[tops.len() - 1..].to_vec());
            self.inherit(kind, word, lower);
        }
        self.word(kind, written)
    }

    /// A thread returns to what lies below.
    fn returns(&mut self, acting: Acting, old: &[Symbol], raw: &Raw, found: &mut Vec<Moved>) {
        let (kind, shared, word) = acting;
        let mut lower = vec![old[1..].to_vec()];
        if self.is_open(old) {
            let known = self.returned.entry((kind, word)).or_default();
            if !known.contains(&shared) {
                known.push(shared);
            }
            let below = self.below[kind].get(&word).map_or(&[][..], |below| &below.symbols);
            lower = below.iter().map(|symbol| old[1..].iter().chain([symbol]).copied().collect()).collect();
        }
        for lower in lower.into_iter().filter(|lower| !lower[0].is_bottom()) {
            let (programs, mut resumed) = (&self.programs, Vec::new());
            let results = (raw.values.as_slice(), Head(raw.frame[0]).insists());
            let waiting = programs.tables.frame(lower[0]);
            programs.code.returns(&raw.shared, waiting, results, &mut self.machine, &mut |machine| {
                resumed.push((machine.shared.clone(), machine.frame.clone()));
            });
            for (shared, frame) in resumed {
                if Head(frame[0]).stage().has_failed() {
                    self.fails(acting, &frame);
                    continue;
                }
                let (shared, top) = (self.programs.tables.add_shared(&shared), self.programs.add_frame(&frame));
                let changed: Vec<_> = [top].iter().chain(&lower[1..]).copied().collect();
                let [from, word] = [lower.clone(), changed].map(|word| self.word(kind, word));
                if self.is_open(&lower) {
                    self.inherit(kind, from, word);
                }
                found.push(Moved { shared, word, effect: Effect::Nothing });
            }
        }
    }

    /// The words of a thread that is started.
    fn begun(&mut self, first: &[u64]) -> Vec<u32> {
        let mut frames = Vec::new();
        self.programs.code.begin(first, &mut self.machine, &mut |machine| frames.push(machine.frame.clone()));
        let begin = |frame: Vec<u64>| {
            let top = self.programs.add_frame(&frame);
            self.whole(OTHERS, vec![top, Symbol::BOTTOM])
        };
        let mut words: Vec<_> = frames.into_iter().map(begin).collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// What another thread becomes when it is woken, if it sleeps.
    pub(super) fn awake(&mut self, word: u32) -> Vec<u32> {
        let top = self.words[OTHERS][word][0];
        let condition = (!top.is_bottom()).then(|| Head(self.programs.tables.frame(top)[0]).condition());
        condition.and_then(|condition| self.woken(OTHERS, word, condition)).unwrap_or_default()
    }

    /// What a thread may become when those are woken that sleep on a condition; none, if it does not.
    pub(super) fn woken(&mut self, kind: usize, word: u32, condition: u32) -> Option<Vec<u32>> {
        let old = self.words[kind][word].clone();
        let awake = self.programs.awake(old[0], condition)?;
        // One that sleeps uninterrupted is never woken.
        if self.programs.code.is_uninterrupted(Head(awake[0])) {
            return None;
        }
        let mut frames = Vec::new();
        self.programs.code.begin(&awake, &mut self.machine, &mut |machine| frames.push(machine.frame.clone()));
        let tops: Vec<_> = frames.iter().map(|frame| self.programs.add_frame(frame)).collect();
        Some(tops.into_iter().map(|top| self.replaced(kind, word, &[top])).collect())
    }
}
