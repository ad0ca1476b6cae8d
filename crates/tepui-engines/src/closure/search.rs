//! The closure-driven search.
//!
//! The search keeps the states reached, U, and for one or more levels the views A of U with what a proof at that level
//! still owes ([`Obligations`]). A violating view ends it: unsafe. A level at which nothing is owed ends it: safe.
//! Otherwise more states are expanded, one representative of each view first. No bound and no order of the search
//! matters for either answer; order is only a matter of speed, and of fairness.
//!
//! The search goes through stages with growing levels m, for stacks of 1, 2, 3, 4, 6, 8, 12, ... symbols. In stage m, of
//! the states that show the same view of level m only the first that was found is expanded. The others are deferred; in a later
//! stage, where more is told apart, some of them become representatives. Representatives of views with open obligations
//! come first. With each stage comes its level as one more at which a proof may succeed; the smaller ones stay, since a
//! proof at a small level may need representatives of a greater one.
//!
//! *Each stage ends*: there are finitely many views of level m.
//!
//! *The search is fair*: every reachable state is found. Let a state be reached by a path, and let m be a stage in which
//! each state of the path shows a view that no other state shows; for stacks, m is greater than the height of every stack on
//! the path, so that each word ends with the marker of the empty stack. By induction along the path, each of its states is
//! stored by the end of that stage: the first one is the initial state; and if one is stored, it is either expanded or has
//! the same view of level m as a representative, which then is the state itself; so it is expanded, and the next one is
//! stored. Hence a violation that breadth-first search finds at depth d is found, for stacks, by the end of the first stage
//! beyond d plus the height of the initial stacks.
//!
//! *Exact views.* Where a view of the first level is the state (for stacks, where none is ever higher than one symbol),
//! nothing is ever owed, and no views are kept besides the states.
//!
//! *It stops where all is known*: if no state is deferred and none is left to expand, U is all of R, and the levels go on
//! growing without a search, at the latest until views are states, and so are closed.

use std::collections::VecDeque;

use tepui_core::{Budget, Stop};

use super::reduced::Reduced;
use super::rounds::Representatives;
use crate::abstraction::Abstraction;
use crate::explorer::{Explorer, Visitor};
use crate::ids::{Id, StateId, ThreadId, Threads, ViewId};
use crate::obligations::Obligations;
use crate::packed::PackedSet;
use crate::system::System;
use crate::workers::Workers;

/// The fewest and the most states that are expanded before obligations are looked at again.
const BATCH: std::ops::RangeInclusive<usize> = 64..=1 << 15;

/// The most views that are compared with the properties before limits are looked at.
const REPORTED_AT_ONCE: usize = 1 << 14;

/// Among so many states there should be one where a thread waits, if any can.
const SOME_SHOULD_WAIT: usize = 1 << 12;

/// A state to be expanded, with a bit for each level at which it is the first to show its view.
type Candidate = (StateId, u64);

/// The search.
pub struct Search<S: System, A: Abstraction<S>> {
    /// The states reached.
    pub explorer: Explorer<S>,
    /// What is owed, for each level; the first is the one that is reported.
    pub levels: Vec<Obligations<S, A>>,
    /// How many views of the first level there are, permutations of interchangeable threads counted.
    pub view_count: u64,
    /// How many views of the first level have been counted.
    reported: usize,
    /// Whether views are states.
    pub exact: bool,
    prefilter: A::Prefilter,
    /// For each property, whether it is violated.
    pub violated: Vec<bool>,
    /// The level of the next stage, or of the one that is not finished.
    stage: usize,
    begun: bool,
    /// To be expanded, those with open obligations apart.
    urgent: VecDeque<Candidate>,
    ordinary: VecDeque<Candidate>,
    /// Not the first of their view in this stage.
    deferred: Vec<StateId>,
    /// Which threads are explored, where not all need be.
    pub reduced: Option<Reduced>,
    /// For each level the states that stand for its views then.
    pub(super) representatives: Vec<Representatives>,
    /// Whether some thread waits somewhere.
    pub is_reduced: bool,
    /// Whether the search is of no use if none does.
    pub only_waiting: bool,
}

/// Expands candidates with all threads, and wants to know nothing.
struct Expand {
    threads: usize,
}

impl Visitor for Expand {
    type Job = Candidate;
    type Found = ();
    const VISITS_IMAGES: bool = false;

    fn job(&self, &(state, _): &Candidate) -> (StateId, Threads) {
        (state, Threads::all(self.threads))
    }

    fn grown(&mut self, _: usize) {}

    fn image(&self, _: &Candidate, _: StateId, _: ThreadId, _: &mut ()) {}

    fn done(&self, _: &Candidate, _: bool, _: &mut ()) {}
}

impl<S: System, A: Abstraction<S>> Search<S, A> {
    /// A search that has found nothing yet and reports views of a level.
    pub fn new(system: S, workers: Workers, level: usize) -> Self {
        let properties = A::properties(&system);
        Self {
            exact: false,
            prefilter: A::prefilter(&system, 0..properties),
            explorer: Explorer::new(system, workers),
            levels: Vec::new(),
            view_count: 0,
            reported: 0,
            violated: vec![false; properties],
            stage: level.max(1),
            begun: false,
            urgent: VecDeque::new(),
            ordinary: VecDeque::new(),
            deferred: Vec::new(),
            reduced: None,
            representatives: Vec::new(),
            is_reduced: false,
            only_waiting: false,
        }
    }

    /// The level of the stage that the next call of [`advance`](Self::advance) begins or continues.
    pub fn stage(&self) -> usize {
        self.stage
    }

    /// Whether no state is left that has not been expanded.
    pub fn exhausted(&self) -> bool {
        let ignores = self.reduced.is_some() && self.closed().is_none();
        !self.levels.is_empty()
            && !ignores
            && self.urgent.is_empty()
            && self.ordinary.is_empty()
            && self.deferred.is_empty()
    }

    /// The first level at which the views are closed.
    pub fn closed(&self) -> Option<usize> {
        self.levels.iter().position(Obligations::closed)
    }

    /// The fewest obligations that are open at any level.
    pub fn open(&self) -> usize {
        self.levels.iter().map(Obligations::open).min().unwrap_or(0)
    }

    /// Bytes held for states, views and obligations.
    pub fn bytes(&self) -> u64 {
        let levels: u64 = self.levels.iter().map(Obligations::bytes).sum();
        let Explorer { states, system, .. } = &self.explorer;
        let lists = (self.urgent.capacity() + self.ordinary.capacity()) * 16 + self.deferred.capacity() * 4;
        let reduced = self.reduced.as_ref().map_or(0, Reduced::bytes);
        states.bytes() + system.bytes() + levels + reduced + lists as u64
    }

    /// Begins or continues a stage. Ends with it, or before, at a new violation or when some level gets closed. Who goes
    /// on after that gets further stages.
    pub fn advance(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        if self.explorer.states.is_empty() {
            self.explorer.start(budget)?;
        }
        let (violations, was_closed) = (self.violations(), self.closed().is_some());
        if !self.begun {
            self.begun = true;
            self.begin(budget)?;
        }
        while (was_closed || self.closed().is_none()) && self.violations() == violations {
            let most = (self.explorer.states.len() / 2).clamp(*BATCH.start(), *BATCH.end());
            let mut batch: Vec<_> = self.urgent.drain(..most.min(self.urgent.len())).collect();
            // A few that are urgent are not worth a batch of their own; the threads need something to share.
            let more = most - batch.len();
            batch.extend(self.ordinary.drain(..more.min(self.ordinary.len())));
            if !batch.is_empty() {
                self.expand(&batch, budget)?;
                self.give_up_waiting(budget)?;
            }
            if self.only_waiting && !self.is_reduced && self.explorer.states.len() > SOME_SHOULD_WAIT {
                return Err(Stop::GaveUp("no thread can wait".to_owned()));
            }
            let round = self.reduced.is_some() && self.begin_round(batch.is_empty(), budget)?;
            if batch.is_empty() && !round {
                self.begun = false;
                self.stage = A::next_level(self.stage);
                break;
            }
        }
        Ok(())
    }

    fn violations(&self) -> usize {
        self.violated.iter().filter(|&&violated| violated).count()
    }

    fn expand(&mut self, batch: &[Candidate], budget: &mut Budget) -> Result<(), Stop> {
        let before = self.explorer.states.len();
        let threads = self.explorer.system.threads();
        let stopped = match &mut self.reduced {
            None => self.explorer.run(batch, &mut Expand { threads }, &mut Vec::new(), budget),
            Some(reduced) => {
                let states: Vec<_> = batch.iter().map(|&(state, _)| state).collect();
                let jobs = reduced.choose(&self.explorer, &states);
                self.follow(&jobs, budget)
            }
        };
        for (index, level) in self.levels.iter_mut().enumerate().filter(|_| stopped.is_ok()) {
            level.has_expanded(batch.iter().filter(|(_, levels)| levels & 1 << index != 0).count());
        }
        self.take_in(before, stopped, budget)?;
        let levels = if self.exact { 0 } else { self.levels.len() };
        for index in 0..levels {
            let first = batch.iter().filter(|(_, levels)| levels & 1 << index != 0).map(|&(state, _)| state);
            let first: Vec<_> = first.collect();
            let Explorer { system, states, workers, .. } = &mut self.explorer;
            let views = self.levels[index].add(system, states, &first, workers, budget)?;
            self.represent(index, &views, &first);
            let Explorer { system, workers, .. } = &mut self.explorer;
            self.levels[index].look_at(&views, system, workers, budget)?;
        }
        budget.progress(self.stage as u32, self.explorer.states.len() as u64, self.view_count);
        budget.still_open(self.open() as u64);
        Ok(())
    }

    /// Takes in the states that were found, even if there was a stop.
    pub(super) fn take_in(
        &mut self,
        before: usize,
        stopped: Result<(), Stop>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let found: Vec<_> = self.explorer.states.ids_from(before).collect();
        let stopped = stopped.and_then(|()| self.sort_in(&found, budget));
        stopped.and_then(|()| self.report_views(budget)).inspect_err(|_| {
            // A violation may be among what was found last.
            let _ = budget.with_grace(|budget| self.note(&found, budget));
        })
    }

    /// New states where views are states: each has a view of its own.
    fn queue(&mut self, found: &[StateId]) {
        if let Some(only) = self.levels.first_mut() {
            only.will_expand(found.len());
            self.ordinary.extend(found.iter().map(|&state| (state, 1)));
        }
    }

    /// New states, of which the run ends before they are sorted in: their views have been reached all the same.
    fn note(&mut self, found: &[StateId], budget: &mut Budget) -> Result<(), Stop> {
        let Explorer { system, states, workers, .. } = &self.explorer;
        if let Some(reported) = self.levels.first_mut().filter(|_| !self.exact) {
            reported.add(system, states, found, workers, budget)?;
        }
        self.report_views(budget)
    }

    /// New states: those with a view of their own in this stage are to be expanded, the others are deferred.
    fn sort_in(&mut self, found: &[StateId], budget: &mut Budget) -> Result<(), Stop> {
        if self.exact {
            self.queue(found);
            return Ok(());
        }
        let Some(last) = self.levels.len().checked_sub(1) else { return Ok(()) };
        let mut candidates = self.add(last, found, budget)?;
        let states: Vec<_> = candidates.iter().map(|candidate| candidate.0).collect();
        let mut urgent = vec![false; states.len()];
        for index in 0..last {
            let (first, Explorer { system, states: all, workers, .. }) =
                (self.levels[index].views.len(), &self.explorer);
            let numbers = self.levels[index].add(system, all, &states, workers, budget)?;
            for (place, new) in first_shown(&numbers, first) {
                urgent[place] |= self.levels[index].owes(numbers[place]);
                candidates[place].1 |= u64::from(new) << index;
            }
            let new = self.levels[index].views.len() - first;
            self.levels[index].will_expand(new);
        }
        for (candidate, urgent) in candidates.into_iter().zip(urgent) {
            if urgent { self.urgent.push_back(candidate) } else { self.ordinary.push_back(candidate) }
        }
        Ok(())
    }

    /// Adds the views of states that have not been expanded, at the last level; returns those that are the first to show
    /// theirs; the rest are deferred.
    fn add(&mut self, last: usize, which: &[StateId], budget: &mut Budget) -> Result<Vec<Candidate>, Stop> {
        let first = self.levels[last].views.len();
        let Explorer { system, states, workers, .. } = &self.explorer;
        let numbers = self.levels[last].add(system, states, which, workers, budget)?;
        let mut candidates = Vec::new();
        for (place, new) in first_shown(&numbers, first) {
            if new { candidates.push((which[place], 1 << last)) } else { self.deferred.push(which[place]) }
        }
        self.levels[last].will_expand(candidates.len());
        Ok(candidates)
    }

    /// Begins a stage: its level is one more at which a proof may succeed.
    fn begin(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        if self.exact && !self.levels.is_empty() {
            return Ok(());
        }
        let (system, last) = (&self.explorer.system, self.levels.len());
        let exact = if last == 0 { A::exact(system, self.stage) } else { None };
        self.exact = exact.is_some();
        let abstraction = exact.unwrap_or_else(|| A::new(system, self.stage));
        self.levels.push(Obligations::of(system, abstraction));
        if system.reduces() {
            self.reduced.get_or_insert_default().note(&self.explorer, !self.exact, std::iter::empty());
        }
        let all = self.explorer.states.ids();
        if self.exact {
            self.queue(&all.collect::<Vec<_>>());
            return self.report_views(budget);
        }
        let deferred = match last {
            0 => all.collect(),
            _ => std::mem::take(&mut self.deferred),
        };
        let mut expanded = vec![true; self.explorer.states.len()];
        deferred.iter().for_each(|&state| expanded[state.index()] = false);
        let expanded: Vec<_> = self.explorer.states.ids().filter(|state| expanded[state.index()]).collect();
        let Explorer { system, states, workers, .. } = &self.explorer;
        let shown = self.levels[last].add(system, states, &expanded, workers, budget)?;
        let first: Vec<_> = first_shown(&shown, 0).filter(|&(_, new)| new).map(|(place, _)| expanded[place]).collect();
        let shown: Vec<_> = self.levels[last].views.ids().collect();
        self.represent(last, &shown, &first);
        let (mut urgent, mut ordinary) = (Vec::new(), Vec::new());
        let owing = self.owing(&deferred, budget)?;
        for (state, owing) in deferred.into_iter().zip(owing) {
            if owing { urgent.push(state) } else { ordinary.push(state) }
        }
        self.urgent = self.add(last, &urgent, budget)?.into();
        self.ordinary = self.add(last, &ordinary, budget)?.into();
        self.report_views(budget)?;
        let Explorer { system, workers, .. } = &mut self.explorer;
        self.levels[last].look_at(&shown, system, workers, budget)
    }

    /// Which states show views with open obligations at some smaller level.
    fn owing(&mut self, states: &[StateId], budget: &mut Budget) -> Result<Vec<bool>, Stop> {
        let mut owing = vec![false; states.len()];
        for level in self.levels.iter_mut().rev().skip(1).filter(|level| level.open() > 0) {
            let Explorer { system, states: all, workers, .. } = &self.explorer;
            let numbers = level.add(system, all, states, workers, budget)?;
            owing.iter_mut().zip(numbers).for_each(|(owing, view)| *owing |= level.owes(view));
        }
        Ok(owing)
    }

    /// Brings the number of views and the violations up to date.
    fn report_views(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let Some(reported) = self.levels.first() else { return Ok(()) };
        let views = if self.exact { self.explorer.states.len() } else { reported.views.len() };
        while self.reported < views {
            let before = self.reported;
            self.report();
            budget.pass((self.reported - before) as u64)?;
        }
        Ok(())
    }

    /// Counts some of the views that are new, and looks for violations among them.
    fn report(&mut self) {
        let Some(reported) = self.levels.first() else { return };
        let (seen, parts) = match self.exact {
            true => self.look_through(reported.abstraction(), &self.explorer.states),
            false => self.look_through(reported.abstraction(), &reported.views),
        };
        self.reported += seen;
        for (count, violated) in parts {
            self.view_count = self.view_count.saturating_add(count);
            self.violated.iter_mut().zip(violated).for_each(|(known, violated)| *known |= violated);
        }
    }

    /// How many views were looked at; and for parts of them, how many views they stand for, and which properties are
    /// violated there or were before.
    fn look_through<I: Id>(&self, abstraction: &A, views: &PackedSet<I>) -> (usize, Vec<(u64, Vec<bool>)>) {
        let (system, prefilter) = (&self.explorer.system, &self.prefilter);
        let new: Vec<_> = views.ids_from(self.reported).take(REPORTED_AT_ONCE).collect();
        let parts = self.explorer.workers.cut(&new, |chunk| {
            let (mut count, mut violated) = (0_u64, self.violated.clone());
            let mut view = vec![0; views.width()];
            for &id in chunk {
                views.get(id, &mut view);
                count = count.saturating_add(abstraction.orbit(system, &view));
                if abstraction.may_violate(system, prefilter, &view) {
                    for (property, violated) in violated.iter_mut().enumerate() {
                        *violated = *violated || abstraction.violates(system, property, &view);
                    }
                }
            }
            (count, violated)
        });
        (new.len(), parts)
    }
}

/// The places in a list of numbers, and whether the number there occurs for the first time: numbers from `known` on
/// are new, and were given in this order.
fn first_shown(numbers: &[ViewId], known: usize) -> impl Iterator<Item = (usize, bool)> {
    let mut next = known;
    numbers.iter().enumerate().map(move |(place, &number)| {
        let new = number.index() == next;
        next += usize::from(new);
        (place, new)
    })
}
