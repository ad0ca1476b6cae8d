//! The closure-driven search.
//!
//! The search keeps the states reached, U, and for one or more depths b the views A of U with what a proof at that
//! depth still owes ([`Obligations`]). A violating view ends it: unsafe. A depth at which nothing is owed ends it:
//! safe. Otherwise more states are expanded, one representative of each view first. No bound and no order of the
//! search matters for either answer; order is only a matter of speed, and of fairness.
//!
//! The search goes through stages with growing depths m = 1, 2, 3, 4, 6, 8, 12, ... In stage m, of the states that
//! show the same topmost m symbols of each stack only the first that was found is expanded. The others wait; in a
//! later stage, where more symbols are told apart, some of them become representatives. Representatives of views with
//! open obligations come first. With each stage comes its depth as one more at which a proof may succeed; the smaller
//! ones stay, since a proof at a small depth may need representatives of a greater one.
//!
//! *Each stage ends*: there are finitely many views of depth m.
//!
//! *The search is fair*: every reachable state is found. Let a state be reached by a path on which no stack is higher
//! than h. In a stage m > h, a state none of whose stacks is higher than h shows a view that no other state shows: each
//! word ends with the marker of the empty stack. So, by induction along the path, each of its states is stored by the end of that stage: the first one is the
//! initial state; and if one is stored, it is either expanded or has the same view of depth m as a representative,
//! which then is the state itself; so it is expanded, and the next one is stored. Hence a violation that breadth-first
//! search finds at depth d is found by the end of the first stage beyond d plus the height of the initial stacks.
//!
//! *Flat models.* Where no stack is ever higher than one symbol, a view of depth 1 is the state, and nothing lies below:
//! nothing is ever owed, and no views are kept besides the states.
//!
//! *It stops where all is known*: if no state waits and none is left to expand, U is all of R, and the depths go on
//! growing without a search, at the latest until they exceed every stack; then views are states, and are closed.

use std::collections::VecDeque;
use std::sync::Arc;

use tepui_core::{Budget, Stop};

use crate::crew::Crew;
use crate::explorer::{Explorer, Visitor};
use crate::pushdown::compiled::Compiled;
use crate::pushdown::obligations::Obligations;
use crate::pushdown::stacks::Stacks;
use crate::pushdown::suspects::Suspects;
use crate::pushdown::system::{Locals as _, Pushdown};
use crate::symmetry::Symmetry;

/// The fewest and the most states that are expanded before obligations are looked at again.
const BATCH: std::ops::RangeInclusive<usize> = 64..=1 << 15;

/// The most views that are compared with the properties before limits are looked at.
const REPORTED_AT_ONCE: usize = 1 << 14;

/// A state to be expanded, with a bit for each depth at which it is the first to show its view.
type Candidate = (u32, u64);

/// The search.
pub struct Search {
    /// The states reached.
    pub explorer: Explorer<Pushdown<Stacks>>,
    /// What is owed, for each depth; the first is the one that is reported.
    pub depths: Vec<Obligations>,
    /// How many views of the first depth there are, permutations of interchangeable threads counted.
    pub view_count: u64,
    /// How many views of the first depth have been counted.
    reported: u32,
    /// Whether views are states.
    pub flat: bool,
    suspects: Suspects,
    /// For each property, whether it is violated.
    pub violated: Vec<bool>,
    /// The depth of the next stage, or of the one that is not finished.
    stage: usize,
    begun: bool,
    /// To be expanded, those with open obligations apart.
    urgent: VecDeque<Candidate>,
    ordinary: VecDeque<Candidate>,
    /// Not the first of their view in this stage.
    waiting: Vec<u32>,
}

/// Expands candidates with all threads, and wants to know nothing.
struct Expand {
    threads: usize,
}

impl Visitor for Expand {
    type Job = Candidate;
    type Found = ();
    const LISTENS: bool = false;

    fn job(&self, &(state, _): &Candidate) -> (u32, std::ops::Range<usize>) {
        (state, 0..self.threads)
    }

    fn grown(&mut self, _: usize) {}

    fn image(&self, _: &Candidate, _: u32, _: usize, _: &mut ()) {}

    fn done(&self, _: &Candidate, _: bool, _: &mut ()) {}
}

impl Search {
    /// A search that has found nothing yet and reports views of a depth.
    pub fn new(compiled: Arc<Compiled>, symmetry: Symmetry, crew: Crew, depth: usize) -> Self {
        let violated = vec![false; compiled.model.properties().len()];
        let locals = Stacks::new(&compiled);
        let flat = depth <= 1 && compiled.is_flat();
        let suspects = Suspects::of(&compiled, &symmetry, compiled.model.properties());
        Self {
            flat,
            suspects,
            explorer: Explorer::new(Pushdown::new(compiled, locals, symmetry), crew),
            depths: Vec::new(),
            view_count: 0,
            reported: 0,
            violated,
            stage: depth.max(1),
            begun: false,
            urgent: VecDeque::new(),
            ordinary: VecDeque::new(),
            waiting: Vec::new(),
        }
    }

    /// The depth of the stage that the next call of [`advance`](Self::advance) begins or continues.
    pub fn stage(&self) -> usize {
        self.stage
    }

    /// Whether no state is left that has not been expanded.
    pub fn exhausted(&self) -> bool {
        !self.depths.is_empty() && self.urgent.is_empty() && self.ordinary.is_empty() && self.waiting.is_empty()
    }

    /// The first depth at which the views are closed.
    pub fn closed(&self) -> Option<usize> {
        self.depths.iter().position(Obligations::closed)
    }

    /// The fewest obligations that are open at any depth.
    pub fn open(&self) -> usize {
        self.depths.iter().map(Obligations::open).min().unwrap_or(0)
    }

    /// Bytes held for states, views and obligations.
    pub fn bytes(&self) -> u64 {
        let depths: u64 = self.depths.iter().map(Obligations::bytes).sum();
        let Explorer { states, system, .. } = &self.explorer;
        let lists = (self.urgent.capacity() + self.ordinary.capacity()) * 16 + self.waiting.capacity() * 4;
        states.bytes() + system.locals.bytes() + depths + lists as u64
    }

    /// Begins or continues a stage. Ends with it, or before, at a new violation or when some depth gets closed. Who goes
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
            if batch.is_empty() {
                self.begun = false;
                self.stage = next_stage(self.stage);
                break;
            }
            self.expand(&batch, budget)?;
        }
        Ok(())
    }

    fn violations(&self) -> usize {
        self.violated.iter().filter(|&&violated| violated).count()
    }

    fn expand(&mut self, batch: &[Candidate], budget: &mut Budget) -> Result<(), Stop> {
        let before = self.explorer.states.len() as u32;
        let mut visitor = Expand { threads: self.explorer.system.compiled.threads() };
        let stopped = self.explorer.run(batch, &mut visitor, &mut Vec::new(), budget).err();
        for (index, depth) in self.depths.iter_mut().enumerate().filter(|_| stopped.is_none()) {
            depth.has_expanded(batch.iter().filter(|(_, depths)| depths & 1 << index != 0).count());
        }
        let found: Vec<_> = (before..self.explorer.states.len() as u32).collect();
        let stopped = stopped.map_or_else(|| self.sort_in(&found, budget), Err);
        if let Err(stop) = stopped.and_then(|()| self.report_views(budget)) {
            // A violation may be among what was found last.
            let _ = budget.with_grace(|budget| self.note(&found, budget));
            return Err(stop);
        }
        for index in (0..self.depths.len()).filter(|_| !self.flat) {
            let first = batch.iter().filter(|(_, depths)| depths & 1 << index != 0).map(|&(state, _)| state);
            let first: Vec<_> = first.collect();
            let Explorer { system, states, crew, .. } = &self.explorer;
            let views = self.depths[index].add(system, states, &first, crew, budget)?;
            self.depths[index].look_at(&views, &system.compiled, &system.symmetry, crew, budget)?;
        }
        budget.progress(self.stage as u32, self.explorer.states.len() as u64, self.view_count);
        budget.still_open(self.open() as u64);
        Ok(())
    }

    /// New states of a flat model: each has a view of its own.
    fn queue(&mut self, found: &[u32]) {
        if let Some(only) = self.depths.first_mut() {
            only.will_expand(found.len());
            self.ordinary.extend(found.iter().map(|&state| (state, 1)));
        }
    }

    /// New states, of which the run ends before they are sorted in: their views have been reached all the same.
    fn note(&mut self, found: &[u32], budget: &mut Budget) -> Result<(), Stop> {
        let Explorer { system, states, crew, .. } = &self.explorer;
        if let Some(reported) = self.depths.first_mut().filter(|_| !self.flat) {
            reported.add(system, states, found, crew, budget)?;
        }
        self.report_views(budget)
    }

    /// New states: those with a view of their own in this stage are to be expanded, the others wait.
    fn sort_in(&mut self, found: &[u32], budget: &mut Budget) -> Result<(), Stop> {
        if self.flat {
            self.queue(found);
            return Ok(());
        }
        let Some(last) = self.depths.len().checked_sub(1) else { return Ok(()) };
        let mut candidates = self.add(last, found, budget)?;
        let states: Vec<_> = candidates.iter().map(|candidate| candidate.0).collect();
        let mut urgent = vec![false; states.len()];
        for index in 0..last {
            let (first, Explorer { system, states: all, crew, .. }) = (self.depths[index].views.len(), &self.explorer);
            let numbers = self.depths[index].add(system, all, &states, crew, budget)?;
            for (place, new) in first_shown(&numbers, first) {
                urgent[place] |= self.depths[index].wants(numbers[place]);
                candidates[place].1 |= u64::from(new) << index;
            }
            let new = self.depths[index].views.len() - first;
            self.depths[index].will_expand(new);
        }
        for (candidate, urgent) in candidates.into_iter().zip(urgent) {
            if urgent { self.urgent.push_back(candidate) } else { self.ordinary.push_back(candidate) }
        }
        Ok(())
    }

    /// Adds the views of states that have not been expanded, at the last depth; returns those that are the first to show
    /// theirs, the rest wait.
    fn add(&mut self, last: usize, which: &[u32], budget: &mut Budget) -> Result<Vec<Candidate>, Stop> {
        let first = self.depths[last].views.len();
        let Explorer { system, states, crew, .. } = &self.explorer;
        let numbers = self.depths[last].add(system, states, which, crew, budget)?;
        let mut candidates = Vec::new();
        for (place, new) in first_shown(&numbers, first) {
            if new { candidates.push((which[place], 1 << last)) } else { self.waiting.push(which[place]) }
        }
        self.depths[last].will_expand(candidates.len());
        Ok(candidates)
    }

    /// Begins a stage: its depth is one more at which a proof may succeed.
    fn begin(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        if self.flat && !self.depths.is_empty() {
            return Ok(());
        }
        let Pushdown { compiled, symmetry, .. } = &self.explorer.system;
        self.depths.push(Obligations::new(compiled, symmetry, self.stage));
        let last = self.depths.len() - 1;
        let count = self.explorer.states.len() as u32;
        if self.flat {
            self.queue(&(0..count).collect::<Vec<_>>());
            return self.report_views(budget);
        }
        let waiting = match last {
            0 => (0..count).collect(),
            _ => std::mem::take(&mut self.waiting),
        };
        let mut expanded = vec![true; count as usize];
        waiting.iter().for_each(|&state| expanded[state as usize] = false);
        let expanded: Vec<u32> = (0..count).filter(|&state| expanded[state as usize]).collect();
        let Explorer { system, states, crew, .. } = &self.explorer;
        self.depths[last].add(system, states, &expanded, crew, budget)?;
        let shown: Vec<u32> = (0..self.depths[last].views.len() as u32).collect();
        let (mut urgent, mut ordinary) = (Vec::new(), Vec::new());
        let wanted = self.wanted(&waiting, budget)?;
        for (state, wanted) in waiting.into_iter().zip(wanted) {
            if wanted { urgent.push(state) } else { ordinary.push(state) }
        }
        self.urgent = self.add(last, &urgent, budget)?.into();
        self.ordinary = self.add(last, &ordinary, budget)?.into();
        self.report_views(budget)?;
        let Explorer { system, crew, .. } = &self.explorer;
        self.depths[last].look_at(&shown, &system.compiled, &system.symmetry, crew, budget)
    }

    /// Which states show views with open obligations at some smaller depth.
    fn wanted(&mut self, states: &[u32], budget: &mut Budget) -> Result<Vec<bool>, Stop> {
        let mut wanted = vec![false; states.len()];
        for depth in self.depths.iter_mut().rev().skip(1).filter(|depth| depth.open() > 0) {
            let Explorer { system, states: all, crew, .. } = &self.explorer;
            let numbers = depth.add(system, all, states, crew, budget)?;
            wanted.iter_mut().zip(numbers).for_each(|(wanted, view)| *wanted |= depth.wants(view));
        }
        Ok(wanted)
    }

    /// Brings the number of views and the violations up to date.
    fn report_views(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let Some(reported) = self.depths.first() else { return Ok(()) };
        let views = if self.flat { self.explorer.states.len() } else { reported.views.len() };
        let new: Vec<_> = (self.reported..views as u32).collect();
        for new in new.chunks(REPORTED_AT_ONCE) {
            self.report(new);
            budget.pass(new.len() as u64)?;
        }
        Ok(())
    }

    /// Counts views that are new, and looks for violations among them.
    fn report(&mut self, new: &[u32]) {
        let Pushdown { compiled, symmetry, locals } = &self.explorer.system;
        let Some(reported) = self.depths.first() else { return };
        let views = if self.flat { &self.explorer.states } else { &reported.views };
        let parts = self.explorer.crew.cut(new, |piece| {
            let (mut count, mut violated) = (0_u64, self.violated.clone());
            let mut view = vec![0; views.width()];
            for &number in piece {
                views.get(number, &mut view);
                count = count.saturating_add(symmetry.orbit(&view));
                for thread in 0..view.len() - 1 {
                    view[thread + 1] = match self.flat {
                        true => locals.top(compiled.kind_of[thread], view[thread + 1]).0,
                        false => reported.top(thread, view[thread + 1]).0,
                    };
                }
                if self.suspects.include(&view) {
                    for (property, violated) in compiled.model.properties().iter().zip(&mut violated) {
                        *violated = *violated || compiled.violates(property, symmetry, &view);
                    }
                }
            }
            (count, violated)
        });
        self.reported += new.len() as u32;
        for (count, violated) in parts {
            self.view_count = self.view_count.saturating_add(count);
            self.violated.iter_mut().zip(violated).for_each(|(known, violated)| *known |= violated);
        }
    }
}

/// The places in a list of numbers, and whether the number there occurs for the first time: numbers from `known` on
/// are new, and were given in this order.
fn first_shown(numbers: &[u32], known: usize) -> impl Iterator<Item = (usize, bool)> {
    let mut next = known as u32;
    numbers.iter().enumerate().map(move |(place, &number)| {
        let new = number == next;
        next += u32::from(new);
        (place, new)
    })
}

/// 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: one by one where that is cheap, then so that deep stacks are soon told apart.
fn next_stage(depth: usize) -> usize {
    if depth < 4 {
        depth + 1
    } else if depth.is_power_of_two() {
        depth / 2 * 3
    } else {
        (depth + 1).next_power_of_two()
    }
}
