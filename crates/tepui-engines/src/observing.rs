//! Any system, observed through the views of an abstraction.
//!
//! An engine that observes views while a bound grows takes care of the steps that respect them: on a plateau each view is
//! shown by a state from which every thread has taken its steps. What remains for the closure test is that all that the
//! views owe is among them: the same [`Obligations`] as in the closure search, over the views reached.

use tepui_core::{Budget, Stop};

use crate::abstraction::Describe;
use crate::explorer::add_rows;
use crate::ids::{ThreadId, ViewId};
use crate::obligations::Obligations;
use crate::packed::PackedSet;
use crate::proof::Proof;
use crate::system::{Observed, PathStep, System, Traced};
use crate::workers::Workers;

/// A system with views of one level.
pub struct Observing<S: System, A: Describe<S>> {
    /// The system.
    pub system: S,
    obligations: Obligations<S, A>,
}

impl<S: System, A: Describe<S>> Observing<S, A> {
    /// A system with views of a level that is at least 1.
    pub fn new(system: S, level: usize) -> Self {
        Self { obligations: Obligations::new(&system, level.max(1)), system }
    }
}

impl<S: System, A: Describe<S>> System for Observing<S, A> {
    type News = S::News;
    const ADMITS: bool = S::ADMITS;

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

    #[inline]
    fn expand(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        news: &mut S::News,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        self.system.expand(thread, row, next, news, found)
    }

    fn admit(&mut self, news: &mut [S::News], workers: &Workers, budget: &mut Budget) -> Result<(), Stop> {
        self.system.admit(news, workers, budget)
    }

    fn recycle(news: &mut S::News) {
        S::recycle(news);
    }

    fn settle(&self, news: &S::News, row: &mut [u32], place: ThreadId) -> ThreadId {
        self.system.settle(news, row, place)
    }

    fn bytes(&self) -> u64 {
        self.system.bytes() + self.obligations.bytes()
    }
}

impl<S: System, A: Describe<S>> Observed for Observing<S, A> {
    type Proof = Proof<A::Certificate>;

    fn view_fields(&self) -> Vec<u32> {
        self.obligations.abstraction().fields(&self.system)
    }

    fn prepare(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        self.obligations.prepare(&self.system, budget)
    }

    fn view(&self, row: &[u32], view: &mut [u32]) {
        self.obligations.abstraction().view(&self.system, row, view);
    }

    fn orbit(&self, view: &[u32]) -> u64 {
        self.obligations.abstraction().orbit(&self.system, view)
    }

    fn properties(&self) -> usize {
        A::properties(&self.system)
    }

    fn violates(&self, property: usize, view: &[u32]) -> bool {
        self.obligations.abstraction().violates(&self.system, property, view)
    }

    fn closed(
        &mut self,
        reached: &PackedSet<ViewId>,
        _: usize,
        _: bool,
        violated: &[bool],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Option<Self::Proof>, Stop> {
        let Self { system, obligations } = self;
        let (known, all) = (obligations.views.len(), reached.ids().collect::<Vec<_>>());
        let copy = |row: &[u32], view: &mut [u32]| view.copy_from_slice(row);
        add_rows(reached, &all, &mut obligations.views, workers, budget, copy).1?;
        let new: Vec<_> = obligations.views.ids_from(known).collect();
        obligations.look_at(&new, system, workers, budget)?;
        if obligations.open() > 0 {
            return Ok(None);
        }
        let abstraction = obligations.abstraction();
        let certificate = abstraction.certificate(system, reached.clone(), None, violated, workers, budget)?;
        let level = abstraction.level();
        Ok(Some(Proof { certificate, because: A::because(system, level), kind: "closure", level }))
    }

    fn list(&self, views: &PackedSet<ViewId>, violating: bool, workers: &Workers, budget: &mut Budget) -> Vec<String> {
        self.obligations.abstraction().list(&self.system, views, violating, workers, budget)
    }
}

impl<S: System, A: Describe<S>> Traced for Observing<S, A> {
    type Trace = A::Trace;

    fn trace(
        &self,
        property: usize,
        initial: &[u32],
        path: &[PathStep],
        budget: &mut Budget,
    ) -> Result<A::Trace, Stop> {
        A::trace(&self.system, property, initial, path, budget)
    }
}
