//! Pushdown models observed through the tops of stacks, whatever a thread's local is.
//!
//! Whether the views reached are all there are is decided by the generator test ([`generators`](super::generators)).

use std::sync::Arc;

use tepui_core::{Budget, Evidence, Stop};
use tepui_model::pushdown::Symbol;

use super::compiled::Compiled;
use super::evidence::certified;
use super::generators::{GeneratorTest, Pairs};
use super::least_set::Reached;
use super::prefilter::Prefilter;
use super::system::{Locals, Pushdown};
use crate::ids::{ThreadId, Threads, ViewId, WordId};
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;
use crate::system::{Observed, System};
use crate::workers::Workers;

/// A pushdown model with views of depth 1.
pub struct TopViews<L> {
    /// The model.
    pub system: Pushdown<L>,
    prefilter: Prefilter,
    test: GeneratorTest,
}

impl<L: Locals> TopViews<L> {
    /// A model whose generator test cuts stacks at a depth, to begin with.
    pub fn new(compiled: Arc<Compiled>, locals: L, symmetry: Symmetry, first_depth: usize) -> Self {
        let prefilter = Prefilter::of(&compiled, &symmetry, compiled.model.properties());
        let test = GeneratorTest::new(first_depth);
        Self { system: Pushdown::new(compiled, locals, symmetry), prefilter, test }
    }

    /// The same with a relation of what may come to light after a pop, for the generator test.
    #[must_use]
    pub fn with_pairs(self, pairs: Option<Pairs>) -> Self {
        Self { test: self.test.with_pairs(pairs), ..self }
    }
}

impl<L: Locals> System for TopViews<L> {
    type News = ();
    const SUBSUMES: bool = L::WHOLE_CONTEXTS;

    fn threads(&self) -> usize {
        self.system.threads()
    }

    fn fields(&self) -> Vec<u32> {
        self.system.fields()
    }

    fn initial(&mut self) -> Vec<u32> {
        self.system.initial()
    }

    fn is_interned(&self, row: &[u32]) -> bool {
        self.system.is_interned(row)
    }

    fn intern(&mut self, row: &[u32], budget: &mut Budget) -> Result<(), Stop> {
        self.system.intern(row, budget)
    }

    fn covered(&mut self, row: &[u32], budget: &mut Budget) -> Result<bool, Stop> {
        self.system.covered(row, budget)
    }

    #[inline]
    fn steps(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        self.system.steps(thread, row, next, found)
    }

    fn bytes(&self) -> u64 {
        self.system.bytes()
    }
}

impl<L: Locals> Observed for TopViews<L> {
    type Proof = Evidence;

    fn view_fields(&self) -> Vec<u32> {
        self.fields()
    }

    fn prepare(&mut self, _: &mut Budget) -> Result<(), Stop> {
        Ok(())
    }

    #[inline]
    fn view(&self, row: &[u32], view: &mut [u32]) {
        view[0] = row[0];
        for thread in Threads::of(row) {
            view[thread.field()] = self.system.tops(thread, row[thread.field()])[0];
        }
        self.system.symmetry.canonicalise(view);
    }

    fn add_views(&self, row: &[u32], views: &mut PackedSet<ViewId>, budget: &mut Budget) -> Result<(), Stop> {
        each_view(&self.system, row, views, budget)
    }

    fn orbit(&self, view: &[u32]) -> u64 {
        self.system.symmetry.orbit(view)
    }

    fn properties(&self) -> usize {
        self.system.compiled.model.properties().len()
    }

    fn may_violate(&self, view: &[u32]) -> bool {
        self.prefilter.include(view[0], |thread| view[thread.field()])
    }

    fn violates(&self, property: usize, view: &[u32]) -> bool {
        let Pushdown { compiled, symmetry, .. } = &self.system;
        let top = |thread: ThreadId| Symbol(view[thread.field()]);
        compiled.violates(&compiled.model.properties()[property], symmetry, view[0], top)
    }

    fn closed(
        &mut self,
        reached: &PackedSet<ViewId>,
        states: usize,
        exhausted: bool,
        violated: &[bool],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Option<Evidence>, Stop> {
        let Pushdown { compiled, symmetry, .. } = &self.system;
        let top = |_: ThreadId, word: &[Symbol]| word.first().map(|symbol| WordId(symbol.0));
        let reached = Reached { views: reached, states, depth: 1, number: &top };
        let evidence = self.test.run(compiled, symmetry, reached, exhausted, workers, budget)?;
        if evidence.is_none() && exhausted {
            self.test.nothing_new_will_come()?;
        }
        Ok(evidence.map(|evidence| certified(evidence, &compiled.model, |property| violated[property])))
    }

    fn list(&self, views: &PackedSet<ViewId>, violating: bool, _: &Workers, budget: &mut Budget) -> Vec<String> {
        let Pushdown { compiled, symmetry, .. } = &self.system;
        compiled.list_views(views, symmetry, |_, top| vec![Symbol(top)], violating, budget)
    }
}

/// Adds all views of a state whose locals are sets: one for each combination of their tops. Interchangeable threads with
/// the same set take tops from it in ascending order only; other combinations are in the same orbits.
fn each_view<L: Locals>(
    system: &Pushdown<L>,
    row: &[u32],
    views: &mut PackedSet<ViewId>,
    budget: &mut Budget,
) -> Result<(), Stop> {
    let (threads, symmetry) = (row.len() - 1, &system.symmetry);
    let tops: Vec<_> = Threads::all(threads).map(|thread| system.tops(thread, row[thread.field()])).collect();
    let alike: Vec<_> = Threads::all(threads).map(|thread| (symmetry.leader(thread), row[thread.field()])).collect();
    let next_like: Vec<_> =
        (0..threads).map(|thread| (thread + 1..threads).find(|&other| alike[thread] == alike[other])).collect();
    let (mut view, mut digits) = (row.to_vec(), vec![0; threads]);
    loop {
        view[0] = row[0];
        (0..threads).for_each(|thread| view[thread + 1] = tops[thread][digits[thread]]);
        symmetry.canonicalise(&mut view);
        views.insert(&view);
        budget.spend(1)?;
        let last = |thread: usize| next_like[thread].map_or(tops[thread].len() - 1, |other| digits[other]);
        let Some(thread) = (0..threads).find(|&thread| digits[thread] < last(thread)) else { return Ok(()) };
        digits[thread] += 1;
        digits[..thread].fill(0);
    }
}
