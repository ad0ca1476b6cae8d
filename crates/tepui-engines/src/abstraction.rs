//! Views of a system, and what a proof about them owes: all that the closure test has to know of a kind of model.
//!
//! A view shows part of a state: the topmost symbols of each stack, or a counter up to some value. How much it shows is its
//! *level*. Steps that *respect* views lead from equal views to equal views, so it is enough to take them from one state
//! for each view. All other steps are answered by an over-approximation: a view *owes* the views that these steps may lead
//! to. A set of views of reached states is closed if a state of each view has been expanded, and all that its views owe is in
//! it; then it is exactly the set of reachable views ([`obligations`](crate::obligations)).

use std::ops::Range;

use tepui_core::{Budget, Stop};

use crate::explored::{Chosen, Explored};
use crate::ids::{Id, ThreadId, ViewId};
use crate::obligations::Targets;
use crate::packed::PackedSet;
use crate::system::{PathStep, System};
use crate::workers::Workers;

/// What a fact is about: a thread, if the fact is about one, and something of it. A view owes more because of a fact only if
/// it watches the fact's key. The numbers should be small: lists are indexed by them.
pub type Key = (ThreadId, u32);

/// Views of a system at one level. A view is a row of numbers, in canonical order where threads are interchangeable.
///
/// 1. *Respect.* A step leads from a view to what [`owed`](Self::owed) says of it, or it leads from all states of the view
///    to the same views.
/// 2. *Soundness.* If every view of a set is shown by a state that has been expanded, with all results in the set, and the
///    set holds what its views owe under all facts that follow from them, it holds the view of every reachable state.
/// 3. *Monotony.* Facts only add to what is owed. What a view owes depends on the view and the facts alone; a fact changes
///    it only for views that watch the fact's key.
/// 4. *Fairness.* Each state has a level from which on no other state shows its view, and there are finitely many views of
///    each level. So the search ends each stage, and finds every reachable state in the end. From finitely many states
///    that are all there are, some level follows at which nothing is owed that is not there.
/// 5. *Determinism.* Nothing depends on the number of workers.
pub trait Abstraction<S: System>: Send + Sync + Sized {
    /// What is learned from views and changes what others owe: for stacks, that a symbol may lie below a word.
    type Fact: Copy;
    /// Where an owed view comes from, besides the view that owes it.
    type Why: Copy + Send + Sync;
    /// What is worked out once so that most views need not be compared with properties.
    type Prefilter: Send + Sync;
    /// What a closed set of views is handed out as.
    type Certificate;
    /// What a path to a violation is handed out as.
    type Trace;

    /// No views yet, of a level that is at least 1.
    fn new(system: &S, level: usize) -> Self;

    /// The level.
    fn level(&self) -> usize;

    /// The level that the search tries after this one: 1, 2, 3, 4, 6, 8, 12, 16, 24, ... One by one where that is cheap, then
    /// so that distant states are soon told apart.
    fn next_level(level: usize) -> usize {
        if level < 4 {
            level + 1
        } else if level.is_power_of_two() {
            (level / 2).saturating_mul(3)
        } else {
            level.checked_add(1).and_then(usize::checked_next_power_of_two).unwrap_or(usize::MAX)
        }
    }

    /// The same where views of the level are states: then a state's row serves as its view, no views are stored besides the
    /// states, and nothing is owed, so that nobody asks for that. Used for the first level of a search only.
    fn exact(_system: &S, _level: usize) -> Option<Self> {
        None
    }

    /// For each number of a view's row, the largest value to expect for a start.
    fn fields(&self, system: &S) -> Vec<u32>;

    /// Interns what [`view`](Self::view) needs for all states that the system has interned, in the order of their numbers.
    fn prepare(&mut self, system: &S, budget: &mut Budget) -> Result<(), Stop>;

    /// The view of a state.
    fn view(&self, system: &S, row: &[u32], view: &mut [u32]);

    /// How many views a view stands for, where threads are interchangeable.
    fn orbit(&self, _system: &S, _view: &[u32]) -> u64 {
        1
    }

    /// How many properties there are.
    fn properties(system: &S) -> usize;

    /// Prepares to look for violations of some properties.
    fn prefilter(system: &S, properties: Range<usize>) -> Self::Prefilter;

    /// Whether a view may violate one of the properties that were prepared for: a cheap test that need not be precise.
    fn may_violate(&self, system: &S, prefilter: &Self::Prefilter, view: &[u32]) -> bool;

    /// Whether a view violates a property: whether one, and hence each, of its states does.
    fn violates(&self, system: &S, property: usize, view: &[u32]) -> bool;

    /// Whether a state violates a property that was prepared for.
    fn state_violates(system: &S, prefilter: &Self::Prefilter, property: usize, row: &[u32]) -> bool;

    /// Works out what follows from some views of a set, a batch at a time, and the threads explored there. Facts that are
    /// new are returned by [`next_fact`](Self::next_fact).
    fn learn(
        &mut self,
        system: &mut S,
        views: &PackedSet<ViewId>,
        which: &[ViewId],
        explored: &Explored,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop>;

    /// Works out what views owe that were learned from, where that takes more than looking at them. It is asked for just
    /// before what they owe is.
    fn resolve(
        &mut self,
        _system: &mut S,
        _views: &PackedSet<ViewId>,
        _which: &[ViewId],
        _explored: &Explored,
        _workers: &Workers,
        _budget: &mut Budget,
    ) -> Result<(), Stop> {
        Ok(())
    }

    /// The next fact that is new; each is returned once.
    fn next_fact(&mut self) -> Option<Self::Fact>;

    /// What a fact is about.
    fn key(fact: Self::Fact) -> Key;

    /// Adds the keys of facts that a view, which was learned from, watches.
    fn watches(&self, system: &S, view: &[u32], explored: Chosen<'_>, keys: &mut Vec<Key>);

    /// What a view, which was learned from, owes under all facts so far.
    fn owed(&self, system: &S, view: &[u32], explored: Chosen<'_>, targets: &mut Targets<Self::Why>);

    /// What a view owes because of a fact.
    fn owed_for(
        &self,
        system: &S,
        fact: Self::Fact,
        view: &[u32],
        explored: Chosen<'_>,
        targets: &mut Targets<Self::Why>,
    );

    /// What a view shows of a thread of a state, in whatever place it stands there.
    fn shown_of(&self, _system: &S, row: &[u32], thread: ThreadId) -> u32 {
        row[thread.field()]
    }

    /// How the steps of a thread from a view, which was learned from, count as a way on.
    fn way(&self, _system: &S, _view: &[u32], _thread: ThreadId) -> Way {
        Way::Each
    }

    /// The certificate of a closed set of views, for the properties that are not violated. The set is given up to make room.
    /// Where not all threads were explored, it is said which were; that is so, here and above, only for systems that
    /// [reduce](System::reduces).
    fn certificate(
        &self,
        system: &S,
        views: PackedSet<ViewId>,
        explored: Option<Explored>,
        violated: &[bool],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Self::Certificate, Stop>;

    /// The trace that takes a path from the initial state to a violation of a property.
    fn trace(
        system: &S,
        property: usize,
        initial: &[u32],
        path: &[PathStep],
        budget: &mut Budget,
    ) -> Result<Self::Trace, Stop>;

    /// Bytes held.
    fn bytes(&self) -> u64;
}

/// How the steps of a thread from a view count as a way on, for every state of the view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Each of them is one.
    Each,
    /// They are one that may end in any of their results.
    Together,
    /// The same; and their results are the views that are owed for them.
    Owed,
    /// They are none: a state of the view may not have such a step.
    Unsure,
}

/// Views in words for people.
pub trait Describe<S: System>: Abstraction<S> {
    /// Why a closed set of views of a level is a proof.
    fn because(_system: &S, level: usize) -> String {
        format!("the views reached, of level {level}, are closed under every step")
    }

    /// What the states of a system are called, one and several.
    fn stored(_system: &S) -> [&'static str; 2] {
        ["state", "states"]
    }

    /// Says that so many owed views of a level have not been reached.
    fn unmet(level: usize, open: usize) -> String {
        format!("with views of level {level}, views that steps may lead to have not been reached: {open}")
    }

    /// Why a view owes another one, which has not been reached.
    fn explain(&self, system: &S, view: &[u32], why: Self::Why) -> String;

    /// Views in the notation of the model, sorted; only those that violate a property, if that is asked for. Where they
    /// [are exact](Abstraction::exact), they are states.
    fn list<I: Id>(
        &self,
        system: &S,
        views: &PackedSet<I>,
        violating: bool,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Vec<String>;
}

/// A test whether states violate a property.
pub(crate) fn violation_test<S: System, A: Abstraction<S>>(
    system: &S,
    property: usize,
) -> impl Fn(&[u32]) -> bool + Sync {
    let prefilter = A::prefilter(system, property..property + 1);
    move |row| A::state_violates(system, &prefilter, property, row)
}
