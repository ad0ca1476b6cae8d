//! What the explorers know of a model: threads that take steps between rows of numbers.
//!
//! A state is a row of numbers. What the numbers mean (a stack, a queue, the value of a variable) is the system's
//! business; large things are interned, so that a row stays small. Several threads explore a system at the same time,
//! so [`steps`](System::steps) must not change it. There are two ways to give numbers to large things, and with both they are
//! the same for any number of threads. Either what a row's steps need is interned before, by [`intern`](System::intern), which
//! is called for one row after the other in the order of their numbers. That is the way if it is worked out once and
//! remembered. Or steps are worked out whenever they are asked for: then each chunk of work notes what is
//! [new](System::News), and when many chunks are done it is [admitted](System::admit), chunk by chunk.

use tepui_core::{Budget, Stop};

use crate::ids::{ThreadId, ViewId};
use crate::packed::PackedSet;
use crate::workers::Workers;

/// A model with threads and steps.
pub trait System: Send + Sync {
    /// Whether a row may be left out because others that are stored cover it. Such systems are explored by one thread.
    const SUBSUMES: bool = false;

    /// How many threads there are, which are at most 65535.
    fn threads(&self) -> usize;

    /// For each number of a row, the largest value to expect for a start.
    fn fields(&self) -> Vec<u32>;

    /// The initial state.
    fn initial(&mut self) -> Vec<u32>;

    /// Whether all that is needed for the steps from a state is interned.
    fn is_interned(&self, _row: &[u32]) -> bool {
        true
    }

    /// Interns what is needed for the steps from a state.
    fn intern(&mut self, _row: &[u32], _budget: &mut Budget) -> Result<(), Stop> {
        Ok(())
    }

    /// Whether a row that is not yet stored is covered by rows that are; if not, it will be stored.
    fn covered(&mut self, _row: &[u32], _budget: &mut Budget) -> Result<bool, Stop> {
        Ok(false)
    }

    /// Takes every step that a thread can take from a state, and calls `found` with each result: the row, which stands in
    /// `next`, and the place of the thread in it, which may be another one where threads are interchangeable. Returns
    /// whether the thread is enabled. A thread that is interchangeable with an earlier one in the same local state may
    /// be left out.
    fn steps(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool;

    /// What the steps of some rows lead to that has no number yet.
    type News: Default + Send + Sync;

    /// Whether steps lead to things that have no number yet. Then [`expand`](Self::expand) is asked instead of `steps` where
    /// states are searched for.
    const ADMITS: bool = false;

    /// The same as [`steps`](Self::steps), with all that is new. Rows may hold numbers that mean something in the news at
    /// hand only, and need not be canonical: [`settle`](Self::settle) makes rows of them.
    fn expand(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        _news: &mut Self::News,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        self.steps(thread, row, next, found)
    }

    /// Gives numbers to what is new: in the order of the list, so that they are the same for any number of workers.
    fn admit(&mut self, _news: &mut [Self::News], _workers: &Workers, _budget: &mut Budget) -> Result<(), Stop> {
        Ok(())
    }

    /// Forgets news, whose memory is used again.
    fn recycle(_news: &mut Self::News) {}

    /// Makes a row of one that was found, when its news have been admitted, and returns the place of the thread in it.
    fn settle(&self, _news: &Self::News, _row: &mut [u32], place: ThreadId) -> ThreadId {
        place
    }

    /// Whether it can be told which threads can wait while others are explored.
    fn reduces(&self) -> bool {
        false
    }

    /// Which threads to explore at a row that a step of some thread led to first. If these are some, they are added to a list,
    /// in ascending order; all others can wait. What is new on the way is of no use. Without a thread, nobody is to wait.
    fn choose(
        &self,
        _row: &[u32],
        _mover: Option<ThreadId>,
        _news: &mut Self::News,
        _chosen: &mut Vec<ThreadId>,
    ) -> Choice {
        Choice::All
    }

    /// The threads that are interchangeable with a thread, itself included, in ascending order; nothing, if there is no other.
    fn alike(&self, _thread: ThreadId) -> Option<&[ThreadId]> {
        None
    }

    /// Whether a thread can take a step from a row, or could if others lay below what it has on top.
    fn can_move(&self, row: &[u32], thread: ThreadId) -> bool {
        self.expand(thread, row, &mut Vec::new(), &mut Self::News::default(), &mut |_, _| {})
    }

    /// Adds all threads to a set that cannot wait while its threads are explored at a row. That may be more than it was
    /// before, if [more is known](Self::futures) of what threads may ever do.
    fn complete(&self, _row: &[u32], _chosen: &mut Vec<ThreadId>) {}

    /// How often more has become known of what threads may ever do.
    fn futures(&self) -> usize {
        0
    }

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// Which threads are explored at a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// All.
    All,
    /// Some, and others may move as well.
    Some,
    /// All, but only one of them may move.
    Alone,
    /// None: nothing follows that matters.
    Nobody,
}

/// A step of a path through states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathStep {
    /// The place of the thread before the step.
    pub before: ThreadId,
    /// Its place afterwards, which may be another one where threads are interchangeable.
    pub after: ThreadId,
    /// The state afterwards.
    pub row: Vec<u32>,
}

/// A system whose states are observed through views.
pub trait Observed: System {
    /// What a closed set of views is handed out as.
    type Proof;

    /// For each number of a view's row, the largest value to expect for a start.
    fn view_fields(&self) -> Vec<u32>;

    /// Interns what [`view`](Self::view) needs for all rows that were interned.
    fn prepare(&mut self, budget: &mut Budget) -> Result<(), Stop>;

    /// The view of a state.
    fn view(&self, row: &[u32], view: &mut [u32]);

    /// Adds all views of a row, where it stands for several states.
    fn add_views(&self, row: &[u32], views: &mut PackedSet<ViewId>, _budget: &mut Budget) -> Result<(), Stop> {
        let mut view = vec![0; views.width()];
        self.view(row, &mut view);
        views.insert(&view);
        Ok(())
    }

    /// How many views a view stands for, where threads are interchangeable.
    fn orbit(&self, _view: &[u32]) -> u64 {
        1
    }

    /// How many properties there are.
    fn properties(&self) -> usize;

    /// Whether a view may violate a property: a cheap test that need not be precise.
    fn may_violate(&self, _view: &[u32]) -> bool {
        true
    }

    /// Whether a view violates a property.
    fn violates(&self, property: usize, view: &[u32]) -> bool;

    /// A proof that the views reached are all there are, if they are closed under the actions that do not respect views;
    /// those that do are the caller's business. `states` is how many states were reached, and `exhausted` whether these
    /// are all. `violated` tells which properties are left out of the proof.
    fn closed(
        &mut self,
        reached: &PackedSet<ViewId>,
        states: usize,
        exhausted: bool,
        violated: &[bool],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Option<Self::Proof>, Stop>;

    /// Views in the notation of the model, sorted; only those that violate a property, if that is asked for.
    fn list(&self, views: &PackedSet<ViewId>, violating: bool, workers: &Workers, budget: &mut Budget) -> Vec<String>;
}

/// An observed system whose rows are states, so that a path through rows is an execution.
pub trait Traced: Observed {
    /// What a path to a violation is handed out as.
    type Trace;

    /// The trace that takes a path from the initial state to a violation of a property.
    fn trace(
        &self,
        property: usize,
        initial: &[u32],
        path: &[PathStep],
        budget: &mut Budget,
    ) -> Result<Self::Trace, Stop>;
}
