//! Pushdown models as systems of threads: a row is a shared state and, for each thread, its *local*.
//!
//! A local is a stack, or a regular set of stacks; what a thread can make of a shared state and a local is up to the
//! [`Locals`], and is the same for all threads of a kind. Rows are kept in the order of the [`Symmetry`].

use std::sync::Arc;

use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::compiled::{Compiled, Kind};
use super::stacks::Stacks;
use super::waiting::Waiting;
use crate::ids::ThreadId;
use crate::symmetry::Symmetry;
use crate::system::{Choice, System};

/// The locals of threads: stacks, or sets of stacks.
pub trait Locals: Send + Sync {
    /// Whether a result covers a whole context instead of a single step. Then rows may cover each other.
    const WHOLE_CONTEXTS: bool;

    /// The local of a kind that holds just this stack, given top first with the marker at the end.
    fn initial(&mut self, kind: usize, stack: &[Symbol]) -> u32;

    /// What a thread of a kind can make of a shared state and its local, if it is interned.
    fn results(&self, kind: usize, from: (u32, u32)) -> Option<&[(u32, u32)]>;

    /// Works out what a thread of a kind can make of a shared state and its local.
    fn intern_results(&mut self, rules: &Kind, kind: usize, from: (u32, u32), budget: &mut Budget) -> Result<(), Stop>;

    /// The tops of the stacks in a local.
    fn tops(&self, kind: usize, local: u32) -> &[u32];

    /// Whether a row that is not yet stored is part of rows that are; if not, it will be stored.
    fn covered(&mut self, _: &Compiled, _: &[u32], _: &mut Budget) -> Result<bool, Stop> {
        Ok(false)
    }

    /// How many locals of a kind there are, where they are stacks.
    fn count(&self, _kind: usize) -> usize {
        0
    }

    /// The top of a local that is a stack, and what lies under it.
    fn split(&self, _kind: usize, _local: u32) -> Option<(Symbol, u32)> {
        None
    }

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// A pushdown model as a system.
pub struct Pushdown<L> {
    /// The model.
    pub compiled: Arc<Compiled>,
    /// The locals.
    pub locals: L,
    /// Which threads are interchangeable.
    pub symmetry: Symmetry,
    /// Which of them can wait, if some shall.
    waiting: Option<Waiting>,
}

impl<L: Locals> Pushdown<L> {
    /// A system with the given locals.
    pub fn new(compiled: Arc<Compiled>, locals: L, symmetry: Symmetry) -> Self {
        Self { compiled, locals, symmetry, waiting: None }
    }

    fn intern_results(&mut self, row: &[u32], budget: &mut Budget) -> Result<(), Stop> {
        for (&kind, &local) in self.compiled.kind_of.iter().zip(&row[1..]) {
            if self.locals.results(kind, (row[0], local)).is_none() {
                self.locals.intern_results(&self.compiled.kinds[kind], kind, (row[0], local), budget)?;
            }
        }
        Ok(())
    }

    /// The tops of the stacks in a thread's local.
    pub fn tops(&self, thread: ThreadId, local: u32) -> &[u32] {
        self.locals.tops(self.compiled.kind_of[thread.index()], local)
    }
}

impl<L: Locals> System for Pushdown<L> {
    type News = ();
    const SUBSUMES: bool = L::WHOLE_CONTEXTS;

    fn threads(&self) -> usize {
        self.compiled.threads()
    }

    fn fields(&self) -> Vec<u32> {
        let symbols = self.compiled.kind_of.iter().map(|&kind| self.compiled.kinds[kind].symbols);
        [self.compiled.shared_count()].into_iter().chain(symbols).collect()
    }

    fn initial(&mut self) -> Vec<u32> {
        let mut row = vec![self.compiled.init];
        let words: Vec<_> = self.compiled.initial_words().collect();
        for (&kind, word) in self.compiled.kind_of.iter().zip(words) {
            row.push(self.locals.initial(kind, &word));
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.note(&self.locals);
        }
        row
    }

    fn is_interned(&self, row: &[u32]) -> bool {
        let locals = self.compiled.kind_of.iter().zip(&row[1..]);
        locals.into_iter().all(|(&kind, &local)| self.locals.results(kind, (row[0], local)).is_some())
    }

    fn intern(&mut self, row: &[u32], budget: &mut Budget) -> Result<(), Stop> {
        self.intern_results(row, budget)?;
        if let Some(waiting) = &mut self.waiting {
            waiting.note(&self.locals);
        }
        Ok(())
    }

    fn covered(&mut self, row: &[u32], budget: &mut Budget) -> Result<bool, Stop> {
        self.locals.covered(&self.compiled, row, budget)
    }

    #[inline]
    fn steps(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        if self.symmetry.repeats(row, thread) {
            return false;
        }
        let kind = self.compiled.kind_of[thread.index()];
        let results = self.locals.results(kind, (row[0], row[thread.field()])).unwrap_or_default();
        for &(shared, local) in results {
            next.clear();
            next.extend_from_slice(row);
            (next[0], next[thread.field()]) = (shared, local);
            let place = self.symmetry.canonicalise_at(next, thread);
            found(next, place);
        }
        !results.is_empty()
    }

    fn reduces(&self) -> bool {
        self.waiting.is_some()
    }

    fn choose(&self, row: &[u32], mover: Option<ThreadId>, (): &mut (), chosen: &mut Vec<ThreadId>) -> Choice {
        match (&self.waiting, mover) {
            (Some(waiting), Some(mover)) => {
                waiting.choose((&self.compiled, &self.symmetry, &self.locals), row, mover, chosen)
            }
            _ => Choice::All,
        }
    }

    fn alike(&self, thread: ThreadId) -> Option<&[ThreadId]> {
        self.symmetry.group(thread)
    }

    fn can_move(&self, row: &[u32], thread: ThreadId) -> bool {
        let may = |&top: &u32| !self.compiled.kind(thread).moves(row[0], Symbol(top)).is_empty();
        !self.symmetry.repeats(row, thread) && self.tops(thread, row[thread.field()]).iter().any(may)
    }

    fn complete(&self, row: &[u32], chosen: &mut Vec<ThreadId>) {
        if let Some(waiting) = &self.waiting {
            waiting.complete(&self.compiled, &self.locals, row, chosen);
        }
    }

    fn futures(&self) -> usize {
        self.waiting.as_ref().map_or(0, |waiting| waiting.grown)
    }

    fn bytes(&self) -> u64 {
        self.locals.bytes() + self.waiting.as_ref().map_or(0, Waiting::bytes)
    }
}

impl Pushdown<Stacks> {
    /// From now on it can be told which threads can wait, if any can.
    #[must_use]
    pub fn reducing(mut self) -> Self {
        self.waiting = Waiting::new(&self.compiled);
        self
    }
}
