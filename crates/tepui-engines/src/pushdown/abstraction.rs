//! The least inductive set of views of depth b: an over-approximation of what is reachable.
//!
//! The least set of views, with the [`Grams`] that go with it, that holds the initial view and is closed under all
//! steps contains the view of every reachable state, and is itself the certificate of that. With b = 1 it is a
//! finite-state system with call-return pairs derived from the rules that really fire; with growing b it gets tighter;
//! with b at least the height of every reachable stack it is exact.
//!
//! The fixpoint is computed without scanning anything twice: a pop that waits for what may come to light is woken when
//! something new does.

use tepui_cert::{Lemma, Rows};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::compiled::Compiled;
use super::grams::{Fresh, Grams, Reaction};
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;

/// Where a fixpoint computation may go.
#[derive(Clone, Copy)]
pub enum Fence<'f> {
    /// Everywhere.
    Open,
    /// To views that, cut to a smaller depth, are among those reached.
    Reached(Reached<'f>),
}

/// Views that were reached.
#[derive(Clone, Copy)]
pub struct Reached<'f> {
    /// The views as rows: a shared state, and the number of a word for each thread.
    pub views: &'f PackedSet,
    /// How many symbols of each stack they show.
    pub depth: usize,
    /// The number of a thread's word in the rows.
    pub number: &'f dyn Fn(usize, &[Symbol]) -> Option<u32>,
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
    symmetry: &'a Symmetry,
    grams: Grams,
    start: Vec<u32>,
    views: PackedSet,
    /// For each thread and word, the views that popped the word's top: the view, the thread's place in it, and the
    /// shared state they went to.
    waiting: Vec<Vec<Vec<(u32, u16, u32)>>>,
    escaped: bool,
    /// For each thread and word, the number that the word has within the fence, if that is known.
    outer: Vec<Vec<Option<Option<u32>>>>,
    /// The view at hand, cut to the depth of the fence.
    cut: Vec<u32>,
    next: Vec<u32>,
    /// Views that steps have led to and that have not been looked up yet, one row after the other.
    targets: Vec<u32>,
}

/// How many views are looked up together.
const GROUP: usize = 64;

impl<'a> Abstraction<'a> {
    /// An empty set of views of the given depth, which is at least 1.
    pub fn new(compiled: &'a Compiled, symmetry: &'a Symmetry, depth: usize) -> Self {
        let (grams, start) = Grams::new(compiled, symmetry, depth);
        let threads = compiled.threads();
        let views = PackedSet::new((0..=threads).map(|field| if field == 0 { compiled.shared_count() } else { 1 }));
        Self {
            compiled,
            symmetry,
            grams,
            views,
            waiting: vec![Vec::new(); threads],
            escaped: false,
            outer: vec![Vec::new(); threads],
            cut: vec![0; threads + 1],
            next: start.clone(),
            targets: Vec::new(),
            start,
        }
    }

    /// Computes the least inductive set. Ends early when it has more than `limit` views, or leaves the fence.
    pub fn fixpoint(&mut self, limit: usize, fence: Fence<'_>, budget: &mut Budget) -> Result<Fixpoint, Stop> {
        let mut row = self.start.clone();
        self.targets.extend_from_slice(&row);
        self.admit_all(fence);
        let mut expanded = 0;
        loop {
            if self.targets.len() > GROUP * row.len() || expanded == self.views.len() {
                self.admit_all(fence);
            }
            if self.escaped || (expanded == self.views.len() && !self.grams.has_fresh()) {
                break;
            }
            let steps = if expanded < self.views.len() {
                expanded += 1;
                self.expand(expanded as u32 - 1, &mut row)
            } else if let Some(fresh) = self.grams.next_fresh() {
                self.wake(fresh)
            } else {
                0
            };
            if !self.escaped && self.views.len() > limit {
                return Ok(Fixpoint::TooLarge);
            }
            budget.spend(steps)?;
        }
        Ok(if self.escaped { Fixpoint::Escaped } else { Fixpoint::Complete })
    }

    /// Triples of a thread, a word that some view pops, and a symbol below it.
    pub fn revealed(&self) -> impl Iterator<Item = (usize, &[Symbol], Symbol)> {
        (0..self.compiled.threads()).flat_map(move |thread| {
            let leader = self.symmetry.leader(thread);
            let popped = move |word: u32| self.waiting[leader].get(word as usize).is_some_and(|list| !list.is_empty());
            let words = self.grams.words_with_below(thread).filter(move |&(number, ..)| popped(number));
            words.flat_map(move |(_, word, below)| below.iter().map(move |&symbol| (thread, word, symbol)))
        })
    }

    /// The set as a lemma of a certificate.
    pub fn into_lemma(self) -> Lemma {
        lemma(self.compiled, self.symmetry, &self.grams, self.views)
    }

    /// Puts the views that steps have led to into the set.
    fn admit_all(&mut self, fence: Fence<'_>) {
        let mut targets = std::mem::take(&mut self.targets);
        self.views.warm(&targets);
        for target in targets.chunks_exact(self.next.len()) {
            self.next.copy_from_slice(target);
            self.admit(fence);
        }
        targets.clear();
        self.targets = targets;
    }

    /// Puts the next view into the set, if it may be there.
    fn admit(&mut self, fence: Fence<'_>) {
        let known = |views: &PackedSet, row: &[u32]| views.find(row).is_some();
        match fence {
            Fence::Reached(reached) => {
                if !known(&self.views, &self.next) {
                    match self.was_reached(reached) {
                        true => drop(self.views.insert(&self.next)),
                        false => self.escaped = true,
                    }
                }
            }
            Fence::Open => drop(self.views.insert(&self.next)),
        }
    }

    fn was_reached(&mut self, reached: Reached<'_>) -> bool {
        self.cut[0] = self.next[0];
        for thread in 0..self.next.len() - 1 {
            let word = self.next[thread + 1];
            let known = &mut self.outer[self.symmetry.leader(thread)];
            if known.len() <= word as usize {
                known.resize(word as usize + 1, None);
            }
            let number = *known[word as usize].get_or_insert_with(|| {
                let word = self.grams.word(thread, word);
                (reached.number)(thread, &word[..reached.depth.min(word.len())])
            });
            let Some(number) = number else { return false };
            self.cut[thread + 1] = number;
        }
        self.symmetry.sort(&mut self.cut);
        reached.views.find(&self.cut).is_some()
    }

    /// Adds the successors of one view; returns how many there were.
    fn expand(&mut self, view: u32, row: &mut [u32]) -> u64 {
        self.views.get(view, row);
        let mut steps = 1;
        for thread in 0..row.len() - 1 {
            if self.symmetry.repeats(row, thread) {
                continue;
            }
            let pair = (row[0], row[thread + 1]);
            let (start, end) = self.grams.react(self.compiled, thread, pair);
            for index in start..end {
                match self.grams.reaction(thread, index) {
                    Reaction::Become(shared, word) => {
                        self.step(row, thread, (shared, word));
                        steps += 1;
                    }
                    Reaction::Reveal(shared) => {
                        self.wait(thread, pair.1, (view, thread as u16, shared));
                        for index in 0..self.grams.revealed(thread, pair.1).len() {
                            let word = self.grams.revealed(thread, pair.1)[index];
                            self.step(row, thread, (shared, word));
                            steps += 1;
                        }
                    }
                }
            }
        }
        steps
    }

    fn step(&mut self, row: &[u32], thread: usize, (shared, word): (u32, u32)) {
        let start = self.targets.len();
        self.targets.extend_from_slice(row);
        let target = &mut self.targets[start..];
        (target[0], target[thread + 1]) = (shared, word);
        self.symmetry.settle(target, thread);
    }

    fn wait(&mut self, thread: usize, word: u32, entry: (u32, u16, u32)) {
        let waiting = &mut self.waiting[self.symmetry.leader(thread)];
        if waiting.len() <= word as usize {
            waiting.resize(word as usize + 1, Vec::new());
        }
        waiting[word as usize].push(entry);
    }

    /// A symbol was found below a word: tells the pops that waited for it.
    fn wake(&mut self, Fresh { thread, word, revealed }: Fresh) -> u64 {
        let Some(waiting) = self.waiting[thread].get(word as usize).map(Vec::len).filter(|&count| count > 0) else {
            return 1;
        };
        let mut row = vec![0; self.next.len()];
        for index in 0..waiting {
            let (view, place, shared) = self.waiting[thread][word as usize][index];
            self.views.get(view, &mut row);
            self.step(&row, usize::from(place), (shared, revealed));
        }
        waiting as u64 + 1
    }
}

/// How many views a set of orbits stands for.
pub fn count(views: &PackedSet, symmetry: &Symmetry) -> u64 {
    if symmetry.is_trivial() {
        return views.len() as u64;
    }
    let mut row = vec![0; views.width()];
    (0..views.len() as u32).fold(0, |sum: u64, view| {
        views.get(view, &mut row);
        sum.saturating_add(symmetry.orbit(&row))
    })
}

/// Views and grams as a lemma of a certificate. The views are given up to make room.
pub fn lemma(compiled: &Compiled, symmetry: &Symmetry, grams: &Grams, views: PackedSet) -> Lemma {
    let threads = compiled.threads();
    let mut row = vec![0; threads + 1];
    let mut used: Vec<Vec<Option<u32>>> = (0..threads).map(|thread| vec![None; grams.word_count(thread)]).collect();
    for view in 0..views.len() as u32 {
        views.get(view, &mut row);
        (0..threads).for_each(|thread| used[symmetry.leader(thread)][row[thread + 1] as usize] = Some(0));
    }
    let parts: Vec<_> = (0..threads).map(|thread| grams.lemma_thread(thread, &mut used[thread])).collect();
    let renumber = |row: &mut [u32]| {
        row[0] = compiled.shared(row[0]).0;
        for thread in 0..threads {
            row[thread + 1] = used[symmetry.leader(thread)][row[thread + 1] as usize].unwrap_or(0);
        }
        symmetry.sort(row);
    };
    let words = |thread: usize| parts[symmetry.leader(thread)].words.len().saturating_sub(1) as u32;
    let shared = compiled.shared(compiled.shared_count() - 1).0;
    let widths: Vec<_> =
        [shared].into_iter().chain((0..threads).map(words)).map(|number| 32 - number.leading_zeros()).collect();
    let views = sorted_rows(views, &widths, renumber);
    Lemma { depth: grams.depth() as u32, threads: parts, views }
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
