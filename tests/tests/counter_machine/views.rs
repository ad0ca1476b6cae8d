//! The machine as a system, with views that show the counter up to some value: the instance of the traits under test.
//!
//! A view of level b shows the counter as one of 0, ..., b - 1, or as *many*. Only decrements at *many* do not respect
//! views: the counter may be b - 1 afterwards, or *many* again. The latter takes a counter of more than b, and so an
//! increment at *many* somewhere: that is a fact, which may be learned after the decrements have been looked at.

use std::ops::Range;
use std::sync::Arc;

use tepui_core::{Budget, Stop};
use tepui_engines::abstraction::{Abstraction, Describe, Key};
use tepui_engines::explored::{Chosen, Explored};
use tepui_engines::ids::{Id, ThreadId, Threads, ViewId};
use tepui_engines::obligations::Targets;
use tepui_engines::packed::PackedSet;
use tepui_engines::system::{PathStep, System};
use tepui_engines::workers::Workers;

use crate::model::{Machine, Op, State};

/// The machine; a row is a state.
pub(crate) struct Counting(pub(crate) Arc<Machine>);

pub(crate) fn row_of((shared, positions, counter): &State) -> Vec<u32> {
    [*shared].into_iter().chain(positions.iter().copied()).chain([*counter]).collect()
}

pub(crate) fn state_of(row: &[u32]) -> State {
    let last = row.len() - 1;
    (row[0], row[1..last].to_vec(), row[last])
}

impl System for Counting {
    type News = ();

    fn threads(&self) -> usize {
        self.0.threads.len()
    }

    fn fields(&self) -> Vec<u32> {
        row_of(&(self.0.shared, vec![self.0.positions; self.threads()], 1))
    }

    fn initial(&mut self) -> Vec<u32> {
        row_of(&self.0.initial())
    }

    fn is_interned(&self, _: &[u32]) -> bool {
        true
    }

    fn intern(&mut self, _: &[u32], _: &mut Budget) -> Result<(), Stop> {
        Ok(())
    }

    fn steps(&self, thread: ThreadId, row: &[u32], _: &mut Vec<u32>, found: &mut impl FnMut(&[u32], ThreadId)) -> bool {
        let successors = self.0.successors(&state_of(row), thread.index());
        successors.iter().for_each(|next| found(&row_of(next), thread));
        !successors.is_empty()
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// Views of a level.
pub(crate) struct CounterViews {
    level: u32,
    /// Whether some thread increments the counter at *many*, and whether that has not been told yet.
    beyond: bool,
    untold: bool,
}

/// A set of views that is claimed to be closed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Claim {
    pub(crate) level: u32,
    /// A counter of `level` stands for that and all greater ones.
    pub(crate) views: Vec<State>,
    /// Whether the counter may be greater than `level`.
    pub(crate) beyond: bool,
    /// Which properties are claimed to hold.
    pub(crate) proved: Vec<bool>,
}

/// The counter is incremented at *many*.
#[derive(Clone, Copy)]
pub(crate) struct Beyond;

/// The key of the only fact, which is about no thread.
const BEYOND: Key = (ThreadId(0), 0);

impl CounterViews {
    /// Where the rules of a kind that threads can apply in a view lead to: the thread, and what it goes to.
    fn enabled(machine: &Machine, view: &[u32], op: Op) -> Vec<(ThreadId, (u32, u32))> {
        let of_thread = |thread: ThreadId| {
            let rules = machine.threads[thread.index()].iter();
            let fits = rules.filter(move |rule| rule.op == op && rule.from == (view[0], view[thread.field()]));
            fits.map(move |rule| (thread, rule.to))
        };
        Threads::all(machine.threads.len()).flat_map(of_thread).collect()
    }

    fn is_many(&self, view: &[u32]) -> bool {
        view.last() == Some(&self.level)
    }

    /// Decrements at *many* owe views with a counter.
    fn owe(&self, machine: &Machine, view: &[u32], counter: u32, targets: &mut Targets<ThreadId>) {
        for (thread, (shared, position)) in Self::enabled(machine, view, Op::Decrement) {
            let target = targets.add(view, thread);
            (target[0], target[thread.field()]) = (shared, position);
            target[view.len() - 1] = counter;
        }
    }
}

impl Abstraction<Counting> for CounterViews {
    type Fact = Beyond;
    type Why = ThreadId;
    type Prefilter = ();
    type Certificate = Claim;
    type Trace = Vec<(usize, State)>;

    fn new(_: &Counting, level: usize) -> Self {
        Self { level: level as u32, beyond: false, untold: false }
    }

    fn level(&self) -> usize {
        self.level as usize
    }

    /// Without increments the counter stays at 0.
    fn exact(system: &Counting, level: usize) -> Option<Self> {
        let increments = system.0.threads.iter().flatten().any(|rule| rule.op == Op::Increment);
        (!increments).then(|| Self::new(system, level))
    }

    fn fields(&self, system: &Counting) -> Vec<u32> {
        system.fields()
    }

    fn prepare(&mut self, _: &Counting, _: &mut Budget) -> Result<(), Stop> {
        Ok(())
    }

    fn view(&self, _: &Counting, row: &[u32], view: &mut [u32]) {
        view.copy_from_slice(row);
        view[row.len() - 1] = self.level.min(row[row.len() - 1]);
    }

    fn properties(system: &Counting) -> usize {
        system.0.properties.len()
    }

    fn prefilter(_: &Counting, _: Range<usize>) {}

    fn may_violate(&self, _: &Counting, (): &(), _: &[u32]) -> bool {
        true
    }

    fn violates(&self, system: &Counting, property: usize, view: &[u32]) -> bool {
        system.0.violates(property, &state_of(view))
    }

    fn state_violates(system: &Counting, (): &(), property: usize, row: &[u32]) -> bool {
        system.0.violates(property, &state_of(row))
    }

    fn learn(
        &mut self,
        system: &mut Counting,
        views: &PackedSet<ViewId>,
        which: &[ViewId],
        _: &Explored,
        _: &Workers,
        _: &mut Budget,
    ) -> Result<(), Stop> {
        let mut row = vec![0; views.width()];
        for &view in which {
            views.get(view, &mut row);
            let increments = self.is_many(&row) && !Self::enabled(&system.0, &row, Op::Increment).is_empty();
            if increments && !self.beyond {
                (self.beyond, self.untold) = (true, true);
            }
        }
        Ok(())
    }

    fn next_fact(&mut self) -> Option<Beyond> {
        std::mem::take(&mut self.untold).then_some(Beyond)
    }

    fn key(_: Beyond) -> Key {
        BEYOND
    }

    fn watches(&self, system: &Counting, view: &[u32], _: Chosen<'_>, keys: &mut Vec<Key>) {
        if self.is_many(view) && !Self::enabled(&system.0, view, Op::Decrement).is_empty() {
            keys.push(BEYOND);
        }
    }

    fn owed(&self, system: &Counting, view: &[u32], _: Chosen<'_>, targets: &mut Targets<ThreadId>) {
        if self.is_many(view) {
            self.owe(&system.0, view, self.level - 1, targets);
        }
        if self.is_many(view) && self.beyond {
            self.owe(&system.0, view, self.level, targets);
        }
    }

    fn owed_for(&self, system: &Counting, _: Beyond, view: &[u32], _: Chosen<'_>, targets: &mut Targets<ThreadId>) {
        self.owe(&system.0, view, self.level, targets);
    }

    fn certificate(
        &self,
        _: &Counting,
        views: PackedSet<ViewId>,
        _: Option<Explored>,
        violated: &[bool],
        _: &Workers,
        _: &mut Budget,
    ) -> Result<Claim, Stop> {
        let mut row = vec![0; views.width()];
        let view = |view: ViewId| {
            views.get(view, &mut row);
            state_of(&row)
        };
        let mut listed: Vec<_> = views.ids().map(view).collect();
        listed.sort_unstable();
        let proved = violated.iter().map(|violated| !violated).collect();
        Ok(Claim { level: self.level, views: listed, beyond: self.beyond, proved })
    }

    fn trace(
        _: &Counting,
        _: usize,
        _: &[u32],
        path: &[PathStep],
        _: &mut Budget,
    ) -> Result<Vec<(usize, State)>, Stop> {
        Ok(path.iter().map(|step| (step.before.index(), state_of(&step.row))).collect())
    }

    fn bytes(&self) -> u64 {
        0
    }
}

impl Describe<Counting> for CounterViews {
    fn explain(&self, _: &Counting, view: &[u32], ThreadId(thread): ThreadId) -> String {
        format!("thread {thread} may decrement the counter at {view:?}")
    }

    fn list<I: Id>(&self, _: &Counting, views: &PackedSet<I>, _: bool, _: &Workers, _: &mut Budget) -> Vec<String> {
        let mut row = vec![0; views.width()];
        let show = |view: I| {
            views.get(view, &mut row);
            format!("{row:?}")
        };
        let mut listed: Vec<_> = views.ids().map(show).collect();
        listed.sort_unstable();
        listed
    }
}
