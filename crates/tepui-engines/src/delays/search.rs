//! The search for `R(r, d)`, the states that a round-robin scheduler reaches within r rounds and d delays.
//!
//! Turn T belongs to thread T mod n. In its turn a thread takes one step, or is delayed, which costs a delay; a thread
//! that has no enabled step lets its turn pass for nothing. `R(r, d)` holds the states that are reached within r n turns
//! and d delays. A way to a state is summed up by a *label* (T, d); of two labels of a state whose turns belong to the
//! same thread, one is of no use if the other has neither more rounds nor more delays.
//!
//! Bounds only ever grow, one at a time, and that makes it easy to tell. While r grows to r + 1, all new labels have
//! turns in the new round, so a new one is of no use iff the state has a label, for this thread's turn, with as few
//! delays. While d grows to d + 1, all new labels have d + 1 delays, so a new one is of no use iff the state has one with
//! as few rounds. So it is enough to keep, for each state and thread, the fewest rounds and the fewest delays of any
//! label, although no single label need have both.
//!
//! Nothing is done twice. When r grows, only labels at the end of the last round go on; when d grows, only labels with d
//! delays are delayed. Both are kept in lists: `edge`, and `delayable`. Levels of equal T are explored together, in
//! the order of T, so that a better label of the same level is known before a worse one is expanded. Levels and lists are
//! kept in the order of turns and states.

use std::sync::atomic::{AtomicU16, Ordering};

use tepui_core::{Budget, Stop};

use crate::explorer::{Explorer, Visitor, WORTH_OBSERVING, add_rows};
use crate::ids::{StateId, ThreadId, Threads, ViewId};
use crate::packed::PackedSet;
use crate::system::Observed;
use crate::workers::Workers;

/// More rounds or delays than these are not counted.
pub const MOST: u32 = u16::MAX as u32 - 1;

/// How many parts of a list are one chunk of work.
const PARTS_AT_ONCE: usize = 2;

/// A state with the delays that it took to get there, at a turn that is known from elsewhere.
#[derive(Clone, Copy)]
struct Label {
    state: StateId,
    delays: u16,
}

/// The fewest rounds and the fewest delays of a state's labels for one thread's turn.
struct Fewest {
    rounds: AtomicU16,
    delays: AtomicU16,
}

impl Default for Fewest {
    fn default() -> Self {
        Self { rounds: AtomicU16::new(u16::MAX), delays: AtomicU16::new(u16::MAX) }
    }
}

/// For each state and each thread's turn, the fewest rounds and delays, in segments that stay where they are.
struct Table {
    threads: usize,
    states: usize,
    segments: Vec<Vec<Fewest>>,
    /// A segment holds two to the power of so many states.
    segment_bits: u32,
}

impl Table {
    /// About how many entries there are in a segment.
    const ENTRIES: usize = 1 << 16;

    fn new(threads: usize) -> Self {
        let segment_bits = (Self::ENTRIES / threads.max(1)).max(1).ilog2();
        Self { threads, states: 0, segments: Vec::new(), segment_bits }
    }

    /// There are now so many states.
    fn grow(&mut self, states: usize) {
        let segment = 1 << self.segment_bits;
        while self.states < states {
            if self.states == self.segments.len() * segment {
                // The first segment grows; after that, whole ones are worth it.
                let capacity = if self.segments.is_empty() { 0 } else { segment * self.threads };
                self.segments.push(Vec::with_capacity(capacity));
            }
            let first = (self.segments.len() - 1) * segment;
            self.states = states.min(first + segment);
            if let Some(last) = self.segments.last_mut() {
                last.resize_with((self.states - first) * self.threads, Fewest::default);
            }
        }
    }

    /// What is known of a state, for each thread's turn.
    #[inline]
    fn of(&self, state: StateId) -> &[Fewest] {
        let (segment, place) = (state.0 >> self.segment_bits, state.0 & ((1 << self.segment_bits) - 1));
        &self.segments[segment as usize][place as usize * self.threads..][..self.threads]
    }

    /// Notes a label for a turn; says whether it is of use.
    fn offer(&self, label: Label, turn: u32, growing: Growing) -> bool {
        let (round, place) = (turn / self.threads as u32, turn as usize % self.threads);
        let known = &self.of(label.state)[place];
        // Workers offer labels in any order, and a label may get through before a better one of the same state does.
        // `in_order` keeps the best one of each state, so that the result does not depend on the order.
        let old_rounds = known.rounds.fetch_min(round as u16, Ordering::Relaxed);
        let old_delays = known.delays.fetch_min(label.delays, Ordering::Relaxed);
        match growing {
            Growing::Rounds => label.delays < old_delays,
            Growing::Delays => (round as u16) < old_rounds,
        }
    }
}

/// A violated property: the fewest rounds and, with so many, delays that show it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Violation {
    /// Rounds.
    pub rounds: u32,
    /// Delays.
    pub delays: u32,
}

/// What is known at the present bounds.
pub struct Search<S: Observed> {
    /// The states.
    pub explorer: Explorer<S>,
    /// Their views.
    pub views: PackedSet<ViewId>,
    /// For each property, the first violation.
    pub violations: Vec<Option<Violation>>,
    /// How often the successors of a state were computed.
    pub calls: u64,
    /// The bounds.
    pub rounds: u32,
    /// The bounds.
    pub delays: u32,
    /// How many states have had their views noted.
    observed: usize,
    /// Whether the present bounds have been explored to their end.
    pub complete: bool,
    fewest: Table,
    /// Labels at the end of the last round.
    edge: Vec<Label>,
    /// Labels with as many delays as are allowed, of threads that could be delayed: parts with the turn and the states.
    delayable: Vec<(u32, Vec<StateId>)>,
}

/// Which bound grows, and so which labels are of use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growing {
    Rounds,
    Delays,
}

/// What a turn brings: labels for the next turn, and states whose labels could be delayed if there were one more delay.
#[derive(Default)]
struct Brought {
    labels: Vec<Label>,
    delayable: Vec<StateId>,
}

/// One turn of one thread, from many states.
struct Turn<'a> {
    fewest: &'a mut Table,
    /// The number of the turn.
    turn: u32,
    /// The most delays.
    most: u16,
    growing: Growing,
}

impl Visitor for Turn<'_> {
    type Job = Label;
    type Found = Brought;

    fn job(&self, label: &Label) -> (StateId, Threads) {
        let thread = ThreadId::new(self.turn as usize % self.fewest.threads);
        (label.state, Threads::one(thread))
    }

    fn grown(&mut self, states: usize) {
        self.fewest.grow(states);
    }

    fn image(&self, label: &Label, state: StateId, _: ThreadId, found: &mut Brought) {
        let next = Label { state, ..*label };
        if self.fewest.offer(next, self.turn + 1, self.growing) {
            found.labels.push(next);
        }
    }

    fn done(&self, label: &Label, enabled: bool, found: &mut Brought) {
        if enabled && label.delays == self.most {
            found.delayable.push(label.state);
            return;
        }
        let next = Label { delays: label.delays + u16::from(enabled), ..*label };
        if self.fewest.offer(next, self.turn + 1, self.growing) {
            found.labels.push(next);
        }
    }
}

impl<S: Observed> Search<S> {
    /// A search that has found nothing yet.
    pub fn new(system: S, workers: Workers) -> Self {
        Self {
            views: PackedSet::new(system.view_fields()),
            violations: vec![None; system.properties()],
            fewest: Table::new(system.threads()),
            explorer: Explorer::new(system, workers),
            calls: 0,
            rounds: 0,
            delays: 0,
            observed: 0,
            complete: true,
            edge: Vec::new(),
            delayable: Vec::new(),
        }
    }

    /// Finds `R(0, d)`, the initial state.
    pub fn start(&mut self, delays: u32, budget: &mut Budget) -> Result<(), Stop> {
        self.delays = delays;
        self.explorer.start(budget)?;
        self.fewest.grow(1);
        let label = Label { state: StateId::INITIAL, delays: 0 };
        self.fewest.offer(label, 0, Growing::Rounds);
        self.edge.push(label);
        self.complete = false;
        self.watch(Ok(()), (0, 0), budget)
    }

    /// Forgets everything but the number of images and calls and what the system has interned: for recomputing.
    pub fn forget(&mut self) {
        self.explorer.states = PackedSet::new(self.explorer.system.fields());
        self.views = PackedSet::new(self.explorer.system.view_fields());
        self.fewest = Table::new(self.threads());
        self.edge.clear();
        self.delayable.clear();
        (self.rounds, self.delays, self.observed) = (0, 0, 0);
    }

    /// One more round.
    pub(crate) fn grow_rounds(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let known = (self.explorer.states.len(), self.views.len());
        self.complete = false;
        let stopped = self.one_more_round(budget);
        self.watch(stopped, known, budget)
    }

    /// One more delay.
    pub(crate) fn grow_delays(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let known = (self.explorer.states.len(), self.views.len());
        self.complete = false;
        let stopped = self.one_more_delay(budget);
        self.watch(stopped, known, budget)
    }

    /// Looks at what a bound has brought, also if the run ends there: a violation may be among it.
    fn watch(&mut self, stopped: Result<(), Stop>, known: (usize, usize), budget: &mut Budget) -> Result<(), Stop> {
        let mut watch = |budget: &mut Budget| {
            self.observe(budget)?;
            self.note_violations(known, budget)
        };
        let stopped = stopped.and_then(|()| watch(budget));
        if stopped.is_err() {
            let _ = budget.with_grace(watch);
        }
        self.complete = stopped.is_ok();
        stopped
    }

    fn one_more_round(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let threads = self.threads() as u32;
        let mut level = std::mem::take(&mut self.edge);
        let start = self.rounds * threads;
        self.rounds += 1;
        for turn in start..start + threads {
            // A better label of the same turn may have come later.
            let of_use = |label: &Label| {
                let known = &self.fewest.of(label.state)[(turn % threads) as usize];
                known.delays.load(Ordering::Relaxed) == label.delays
            };
            level = self.explorer.workers.filter(&level, of_use);
            let brought = self.turn(&level, turn, Growing::Rounds, budget)?;
            level = self.in_order(brought);
        }
        self.edge = level;
        Ok(())
    }

    fn one_more_delay(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let threads = self.threads() as u32;
        let mut held = std::mem::take(&mut self.delayable);
        debug_assert!(held.is_sorted());
        // A better label may have come since. It must be one of earlier bounds: those to come have more delays.
        self.explorer.workers.map(held.chunks_mut(PARTS_AT_ONCE).collect(), |parts: &mut [(u32, Vec<StateId>)]| {
            for (turn, states) in parts {
                let known = |state: StateId| &self.fewest.of(state)[(*turn % threads) as usize];
                states.retain(|&state| u32::from(known(state).rounds.load(Ordering::Relaxed)) == *turn / threads);
            }
        });
        self.delays += 1;
        let (last, mut level, mut next_held) = (self.rounds * threads, Vec::new(), 0);
        let mut turn = held.first().map_or(last, |held| held.0);
        while turn < last {
            // Labels of this turn that are delayed join those that delayed ones led to.
            let parts = held[next_held..].partition_point(|held| held.0 == turn);
            let now = &held[next_held..next_held + parts];
            next_held += parts;
            let mut brought = self.turn(&level, turn, Growing::Delays, budget)?;
            let delays = self.delays as u16;
            brought.extend(self.explorer.workers.map(
                now.chunks(PARTS_AT_ONCE).collect(),
                |parts: &[(u32, Vec<StateId>)]| {
                    let labels = parts.iter().flat_map(|(_, states)| states).map(|&state| Label { state, delays });
                    labels.filter(|&label| self.fewest.offer(label, turn + 1, Growing::Delays)).collect()
                },
            ));
            budget.spend(now.iter().map(|(_, states)| states.len() as u64).sum())?;
            level = self.in_order(brought);
            turn = match level.is_empty() {
                true => held.get(next_held).map_or(last, |held| held.0),
                false => turn + 1,
            };
        }
        let edge = vec![std::mem::take(&mut self.edge), level];
        self.edge = self.in_order(edge);
        Ok(())
    }

    /// Whether no bound will bring anything new.
    pub fn exhausted(&self) -> bool {
        self.edge.is_empty() && self.delayable.is_empty()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let delayable: usize = self.delayable.iter().map(|(_, states)| states.capacity() * 4 + 32).sum();
        let lists = self.edge.capacity() * size_of::<Label>() + delayable;
        let labels = self.fewest.states * self.fewest.threads * size_of::<Fewest>();
        let system = self.explorer.system.bytes();
        self.explorer.states.bytes() + self.views.bytes() + system + (lists + labels) as u64
    }

    fn threads(&self) -> usize {
        self.explorer.system.threads()
    }

    /// Lets the thread whose turn it is act on all labels; returns lists of those of the next turn.
    fn turn(
        &mut self,
        level: &[Label],
        turn: u32,
        growing: Growing,
        budget: &mut Budget,
    ) -> Result<Vec<Vec<Label>>, Stop> {
        let mut visitor = Turn { fewest: &mut self.fewest, turn, most: self.delays as u16, growing };
        self.calls += level.len() as u64;
        let mut brought = Vec::new();
        self.explorer.run(level, &mut visitor, &mut brought, budget)?;
        if self.explorer.states.len() - self.observed >= WORTH_OBSERVING {
            self.observe(budget)?;
        }
        let mut labels = Vec::with_capacity(brought.len());
        for part in brought {
            if !part.delayable.is_empty() {
                self.delayable.push((turn, part.delayable));
            }
            labels.push(part.labels);
        }
        budget.progress(self.rounds, self.explorer.states.len() as u64, self.views.len() as u64);
        Ok(labels)
    }

    /// A label for each state that has one, the one with the fewest delays, in the order of the states.
    fn in_order(&self, labels: Vec<Vec<Label>>) -> Vec<Label> {
        let key = |label: &Label| u64::from(label.state.0) << 16 | u64::from(label.delays);
        self.explorer.workers.sorted(labels, key, |one, other| one.state == other.state)
    }

    /// Notes the views of all states.
    fn observe(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        self.explorer.system.prepare(budget)?;
        let Explorer { system, states, workers, .. } = &self.explorer;
        let which: Vec<_> = states.ids_from(self.observed).collect();
        let (noted, stopped) =
            add_rows(states, &which, &mut self.views, workers, budget, |row, view| system.view(row, view));
        self.observed += noted;
        stopped
    }

    /// Finds out which properties the states and views from some numbers on violate, and with which bounds.
    fn note_violations(&mut self, (first_state, first_view): (usize, usize), budget: &mut Budget) -> Result<(), Stop> {
        for property in 0..self.violations.len() {
            if self.violations[property].is_some() || !self.violated_among(property, first_view, budget)? {
                continue;
            }
            let system = &self.explorer.system;
            let (mut row, mut view) = (vec![0; self.explorer.states.width()], vec![0; self.views.width()]);
            let mut least = None;
            for state in self.explorer.states.ids_from(first_state) {
                self.explorer.states.get(state, &mut row);
                system.view(&row, &mut view);
                if system.violates(property, &view) {
                    least = least.into_iter().chain(self.least(state)).min();
                }
                if let Err(stop) = budget.pass(1) {
                    self.violations[property] = least;
                    return Err(stop);
                }
            }
            self.violations[property] = least;
        }
        Ok(())
    }

    /// Whether a view from some number on violates a property.
    fn violated_among(&self, property: usize, first: usize, budget: &mut Budget) -> Result<bool, Stop> {
        let mut view = vec![0; self.views.width()];
        for id in self.views.ids_from(first) {
            self.views.get(id, &mut view);
            if self.explorer.system.violates(property, &view) {
                return Ok(true);
            }
            budget.pass(1)?;
        }
        Ok(false)
    }

    /// The bounds at which a state was found that is new at the present ones.
    fn least(&self, state: StateId) -> Option<Violation> {
        let bounds = self.fewest.of(state).iter().enumerate().filter_map(|(place, known)| {
            let rounds = known.rounds.load(Ordering::Relaxed);
            let delays = known.delays.load(Ordering::Relaxed);
            let rounds = (rounds < u16::MAX).then(|| u32::from(rounds) + u32::from(place > 0))?;
            Some(Violation { rounds, delays: u32::from(delays) })
        });
        bounds.min()
    }
}
