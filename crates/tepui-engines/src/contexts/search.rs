//! The search for `R_k`, level by level, whatever a thread's local state is.
//!
//! `R_k` holds the states reachable with at most k contexts, a context being consecutive steps of one thread. So
//! `R_(k+1)` adds to `R_k` what one thread after the other reaches, alone, from the states that are new in `R_k`. A
//! state is a row of a shared state and one *local* for each thread; what a local is (a stack, or a set of stacks)
//! and what a thread can make of it is up to the [`Locals`].
//!
//! Levels must be exact, and equality of states is not enough for that: a state that two threads reach in the same
//! level can be continued by either of them without a new context. Therefore each state of the level under
//! construction has a bit for each thread that reached it within the level, and each of these threads runs on from
//! it. From a finished level, the threads whose bits are set need not run again: what they reach is there already.

use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Symbol, View};

use crate::packed::PackedSet;
use crate::pushdown::compiled::Compiled;

/// How often the progress display hears of the search.
const SEEDS_BETWEEN_REPORTS: u32 = 64;

/// A row of so many threads is handled in one unit of work.
const THREADS_IN_ONE_GO: u64 = 64;

/// The locals of threads: stacks, or sets of stacks.
pub trait Locals {
    /// Whether `successors` covers a whole context instead of a single step.
    const WHOLE_CONTEXTS: bool;

    /// The local of a kind that holds just this stack, given top first with the marker at the end.
    fn initial(&mut self, kind: usize, stack: &[Symbol]) -> u32;

    /// Appends what a thread of a kind can make of a shared state and its local.
    fn successors(
        &mut self,
        compiled: &Compiled,
        kind: usize,
        from: (u32, u32),
        into: &mut Vec<(u32, u32)>,
        budget: &mut Budget,
    ) -> Result<(), Stop>;

    /// The tops of the stacks in a local.
    fn tops(&self, kind: usize, local: u32) -> &[u32];

    /// Whether a row that is not yet stored is part of rows that are; if not, it will be stored.
    fn covered(&mut self, compiled: &Compiled, row: &[u32], budget: &mut Budget) -> Result<bool, Stop>;

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// How a state came about: the state before, and the thread whose context it was. Kept for whole contexts only.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The state before.
    pub parent: u32,
    /// The thread that ran.
    pub thread: u16,
}

/// A violated property: a state, and the view of it that violates the property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The level at which it was found.
    pub level: usize,
    /// The number of the state.
    pub state: u32,
    /// The view.
    pub view: View,
}

/// The levels found so far.
pub struct Search<L> {
    /// The model.
    pub compiled: Compiled,
    /// The locals.
    pub locals: L,
    /// All states, in the order in which they were found.
    pub states: PackedSet,
    /// The views of all states.
    pub views: PackedSet,
    /// Links to earlier states, where contexts are whole.
    pub links: Vec<Link>,
    /// For each property, the first violation.
    pub violations: Vec<Option<Violation>>,
    /// Images computed.
    pub steps: u64,
    starts: Vec<u32>,
    reached_by: Bits,
}

/// One bit for each thread, for a range of states.
#[derive(Default)]
struct Bits {
    stride: usize,
    first: u32,
    bytes: Vec<u8>,
}

impl Bits {
    fn new(threads: usize, first: u32) -> Self {
        Self { stride: threads.div_ceil(8), first, bytes: Vec::new() }
    }

    fn place(&self, state: u32, thread: u16) -> (usize, u8) {
        ((state - self.first) as usize * self.stride + usize::from(thread / 8), 1 << (thread % 8))
    }

    fn grow(&mut self) {
        self.bytes.resize(self.bytes.len() + self.stride, 0);
    }

    fn has(&self, state: u32, thread: u16) -> bool {
        let (byte, bit) = self.place(state, thread);
        self.bytes[byte] & bit != 0
    }

    /// Sets a bit; returns whether it was clear.
    fn set(&mut self, state: u32, thread: u16) -> bool {
        let clear = !self.has(state, thread);
        let (byte, bit) = self.place(state, thread);
        self.bytes[byte] |= bit;
        clear
    }
}

impl<L: Locals> Search<L> {
    /// A search that has found nothing yet.
    pub fn new(compiled: Compiled, locals: L) -> Self {
        let shared = compiled.shared_count();
        let symbols: Vec<_> = (0..compiled.threads()).map(|thread| compiled.kind(thread).symbols).collect();
        Self {
            states: PackedSet::new([shared].into_iter().chain(symbols.iter().copied())),
            views: PackedSet::new([shared].into_iter().chain(symbols)),
            links: Vec::new(),
            violations: vec![None; compiled.model.properties().len()],
            steps: 0,
            starts: Vec::new(),
            reached_by: Bits::new(compiled.threads(), 0),
            compiled,
            locals,
        }
    }

    /// Finds the next level, the first of which is the initial state.
    pub fn next_level(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let seeds = self.starts.last().map_or(0..0, |&start| start..self.states.len() as u32);
        self.starts.push(seeds.end);
        let threads = self.compiled.threads();
        let mut level = Level {
            reached_by: Bits::new(threads, seeds.end),
            work: Vec::new(),
            images: Vec::new(),
            row: vec![0; threads + 1],
            view: vec![0; threads + 1],
            digits: vec![0; threads],
        };
        if self.starts.len() == 1 {
            self.store_initial(&mut level, budget)?;
        }
        for seed in seeds {
            self.states.get(seed, &mut level.row);
            for thread in 0..threads as u16 {
                if !self.reached_by.has(seed, thread) && self.run_from(seed, thread, &mut level, budget)? {
                    self.run_on(thread, &mut level, budget)?;
                    self.states.get(seed, &mut level.row);
                }
            }
            if seed.is_multiple_of(SEEDS_BETWEEN_REPORTS) {
                budget.progress(self.level() as u32, self.states.len() as u64, self.views.len() as u64);
            }
        }
        self.reached_by = level.reached_by;
        Ok(())
    }

    /// The number of the last level.
    pub fn level(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The level of a state.
    pub fn level_of(&self, state: u32) -> usize {
        self.starts.partition_point(|&start| start <= state) - 1
    }

    /// The states of a level.
    pub fn states_of(&self, level: usize) -> std::ops::Range<u32> {
        self.starts[level]..self.starts.get(level + 1).copied().unwrap_or(self.states.len() as u32)
    }

    /// Whether the last level is empty, so that all later ones would be as well.
    pub fn exhausted(&self) -> bool {
        self.starts.last().is_some_and(|&start| start as usize == self.states.len())
    }

    /// Bytes held for states and views.
    pub fn bytes(&self) -> u64 {
        let links = self.links.len() * size_of::<Link>();
        self.states.bytes() + self.views.bytes() + self.locals.bytes() + links as u64
    }

    fn store_initial(&mut self, level: &mut Level, budget: &mut Budget) -> Result<(), Stop> {
        level.row[0] = self.compiled.init;
        for (thread, stack) in self.compiled.initial_words().enumerate() {
            level.row[thread + 1] = self.locals.initial(self.compiled.kind_of[thread], &stack);
        }
        let covered = self.locals.covered(&self.compiled, &level.row, budget)?;
        debug_assert!(!covered, "nothing covers the first state");
        let (state, _) = self.states.insert(&level.row);
        level.reached_by.grow();
        if L::WHOLE_CONTEXTS {
            self.links.push(Link { parent: 0, thread: 0 });
        }
        self.observe(state, level, budget)
    }

    /// The rest of a thread's context: what it reaches from the states that its first steps reached.
    fn run_on(&mut self, thread: u16, level: &mut Level, budget: &mut Budget) -> Result<(), Stop> {
        while let Some(state) = level.work.pop() {
            self.states.get(state, &mut level.row);
            self.run_from(state, thread, level, budget)?;
        }
        Ok(())
    }

    /// What a thread makes of a state whose row is at hand. Says whether that is anything else; then the row has
    /// changed.
    fn run_from(&mut self, state: u32, thread: u16, level: &mut Level, budget: &mut Budget) -> Result<bool, Stop> {
        let field = usize::from(thread) + 1;
        let from = (level.row[0], level.row[field]);
        level.images.clear();
        self.locals.successors(&self.compiled, self.compiled.kind_of[field - 1], from, &mut level.images, budget)?;
        self.steps += level.images.len() as u64;
        budget.spend(1)?;
        for image in 0..level.images.len() {
            if level.images[image] != from {
                (level.row[0], level.row[field]) = level.images[image];
                budget.spend(1 + self.compiled.threads() as u64 / THREADS_IN_ONE_GO)?;
                self.store(state, thread, level, budget)?;
            }
        }
        Ok(level.images.iter().any(|&image| image != from))
    }

    fn store(&mut self, parent: u32, thread: u16, level: &mut Level, budget: &mut Budget) -> Result<(), Stop> {
        if L::WHOLE_CONTEXTS && self.states.find(&level.row).is_none() {
            // A stored row may be larger than this one: then there is nothing new in it.
            if self.locals.covered(&self.compiled, &level.row, budget)? {
                return Ok(());
            }
        }
        let (state, new) = self.states.insert(&level.row);
        if new {
            level.reached_by.grow();
            if L::WHOLE_CONTEXTS {
                self.links.push(Link { parent, thread });
            }
            self.observe(state, level, budget)?;
        }
        let runs_on = state >= level.reached_by.first && level.reached_by.set(state, thread);
        if runs_on && !L::WHOLE_CONTEXTS {
            level.work.push(state);
        }
        Ok(())
    }

    /// Notes the views of a new state, whose row is at hand: one for each combination of its locals' tops.
    fn observe(&mut self, state: u32, level: &mut Level, budget: &mut Budget) -> Result<(), Stop> {
        let threads = self.compiled.threads();
        level.view[0] = level.row[0];
        level.digits.fill(0);
        loop {
            let mut more = None;
            for thread in 0..threads {
                let tops = self.locals.tops(self.compiled.kind_of[thread], level.row[thread + 1]);
                level.view[thread + 1] = tops[level.digits[thread]];
                if more.is_none() && level.digits[thread] + 1 < tops.len() {
                    more = Some(thread);
                }
            }
            if self.views.insert(&level.view).1 {
                let found = (self.starts.len() - 1, state);
                note_violations(&self.compiled, &mut self.violations, &level.view, found);
            }
            let Some(thread) = more else { return Ok(()) };
            budget.spend(1)?;
            level.digits[thread] += 1;
            level.digits[..thread].fill(0);
        }
    }
}

/// What a level under construction needs.
struct Level {
    reached_by: Bits,
    work: Vec<u32>,
    images: Vec<(u32, u32)>,
    row: Vec<u32>,
    view: Vec<u32>,
    /// Which of its tops each local shows in the view at hand.
    digits: Vec<usize>,
}

fn note_violations(
    compiled: &Compiled,
    violations: &mut [Option<Violation>],
    view: &[u32],
    (level, state): (usize, u32),
) {
    for (property, violation) in compiled.model.properties().iter().zip(violations) {
        if violation.is_none() && property.forbids(compiled.shared(view[0]), |thread| Symbol(view[thread + 1])) {
            *violation = Some(Violation { level, state, view: compiled.view(view) });
        }
    }
}
