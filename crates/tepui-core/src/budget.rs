//! Limits, and the clock of work.
//!
//! Engines do not look at time, memory or signals. They count the work they do ([`Budget::spend`]) and are told when to
//! stop; whoever watches the world holds a [`Stopper`]. Work is counted in images computed (successor states, automaton
//! transitions), which makes it the same on every machine: the members of a [`Portfolio`](crate::Portfolio) are compared by
//! it, and it is what progress displays show. Whatever else takes time, such as noting the views
//! of states or sorting a certificate, is no work, but looks at the limits as well ([`Budget::pass`]).
//!
//! A violation that was found is worth a moment more than the limits allow: its trace is built with a grace period
//! ([`Budget::with_grace`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::portfolio::Lane;

/// What ended a run before it had an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Limit {
    /// The time that was given is used up.
    Time = 1,
    /// The memory that was given is used up.
    Memory = 2,
    /// The user interrupted the run.
    Interrupt = 3,
    /// The largest bound that was given has been explored.
    Bound = 4,
    /// Another engine answered with less work.
    Outrun = 5,
    /// A violation was found, and the task was to stop there.
    FirstViolation = 6,
    /// The work that was given is done.
    Work = 7,
}

impl Limit {
    /// The word for it in machine-readable output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Time => "timeout",
            Self::Memory => "memory-limit",
            Self::Interrupt => "interrupted",
            Self::Bound => "bound-limit",
            Self::Outrun => "outrun",
            Self::FirstViolation => "first-violation",
            Self::Work => "work-limit",
        }
    }

    fn from_flag(flag: u8) -> Option<Self> {
        [Self::Time, Self::Memory, Self::Interrupt, Self::Outrun].into_iter().find(|&limit| limit as u8 == flag)
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Time => "the time limit was reached",
            Self::Memory => "the memory limit was reached",
            Self::Interrupt => "interrupted",
            Self::Bound => "the bound limit was reached",
            Self::Outrun => "another engine answered first",
            Self::FirstViolation => "the run stopped at the first violation",
            Self::Work => "the work limit was reached",
        })
    }
}

/// Why an engine stops without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A limit was reached.
    Limit(Limit),
    /// The engine sees that it will not get any further, and says why.
    GaveUp(String),
    /// The engine does not apply to the model.
    NotApplicable(String),
    /// What was found was not confirmed where it has to hold, so it does not count.
    NotConfirmed(String),
    /// Something happened that never should.
    Defect(String),
}

impl Stop {
    /// Something happened that never should: a panic where mistakes are looked for, and no answer elsewhere.
    pub fn defect(what: &str) -> Self {
        debug_assert!(false, "{what}");
        Self::Defect(what.to_owned())
    }
}

/// What a progress display wants to know, written by engines now and then.
#[derive(Default, Debug)]
pub struct Progress {
    /// The bound that is being explored.
    pub bound: AtomicU64,
    /// States stored.
    pub states: AtomicU64,
    /// Views reached.
    pub views: AtomicU64,
    /// Views that a proof still has to account for, where the engine counts them.
    pub open: AtomicU64,
    /// Work done.
    pub work: AtomicU64,
}

#[derive(Default, Debug)]
struct Flags {
    stop: AtomicU8,
    progress: Progress,
    fuse: Option<Fuse>,
}

impl Flags {
    /// Why the run must end.
    fn limit(&self) -> Option<Limit> {
        Limit::from_flag(self.stop.load(Ordering::Relaxed))
    }

    fn stop(&self, limit: Limit) {
        let _ = self.stop.compare_exchange(0, limit as u8, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Ends a run at a chosen look at the limits; every call that counts work is one.
#[derive(Debug)]
struct Fuse {
    looks_left: AtomicU64,
    limit: Limit,
}

impl Fuse {
    fn burn(&self, flags: &Flags) {
        let left = self.looks_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_err() {
            flags.stop(self.limit);
        }
    }
}

/// How long a trace may go on being built after a limit was reached.
const GRACE: Duration = Duration::from_millis(400);

/// The same where memory is short, and may get shorter with every moment.
const GRACE_OF_MEMORY: Duration = Duration::from_millis(50);

/// Whether limits are felt at once, or later. There is one grace period in a run, however many traces need it.
#[derive(Clone, Copy, Default, Debug)]
struct Grace {
    granted: bool,
    ends: Option<Instant>,
}

impl Grace {
    fn allows(&mut self, limit: Limit, timed: bool) -> bool {
        // Who is outrun has nothing to tell that the winner does not know.
        if !self.granted || limit == Limit::Outrun {
            return false;
        }
        let period = if limit == Limit::Memory { GRACE_OF_MEMORY } else { GRACE };
        !timed || Instant::now() < *self.ends.get_or_insert_with(|| Instant::now() + period)
    }
}

/// The right to go on. Cloning gives a second budget with the same limits and the same progress.
#[derive(Clone, Default, Debug)]
pub struct Budget {
    flags: Arc<Flags>,
    lane: Option<Lane>,
    /// The work that the lane is told of, where this is a budget within another one: whose it is charges for all of it later.
    told: Option<u64>,
    work: u64,
    /// The most work, if that is limited.
    most: Option<u64>,
    next_look: u64,
    /// How much effort that is no work may pass before the next look.
    unhurried: u64,
    grace: Grace,
}

/// Ends the runs of a budget from outside.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Flags>);

impl Stopper {
    /// Ends the run. The first reason given is the one reported.
    pub fn stop(&self, limit: Limit) {
        self.0.stop(limit);
    }

    /// Why the run was ended, if it was.
    pub fn stopped(&self) -> Option<Limit> {
        self.0.limit()
    }

    /// How far the run is.
    pub fn progress(&self) -> &Progress {
        &self.0.progress
    }
}

/// How much work passes between two looks at the flags.
const LOOK_EVERY: u64 = 2048;

impl Budget {
    /// A budget that only a [`Stopper`] ends.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// A budget that ends at a limit after so many looks, where every call that counts work is a look. It is for tests,
    /// which stop engines at every moment. No clock is read: a grace period lasts as long as it is used, so the outcome is
    /// the same on a busy machine.
    pub fn stopping_after(looks: u64, limit: Limit) -> Self {
        let fuse = Some(Fuse { looks_left: AtomicU64::new(looks), limit });
        Self { flags: Arc::new(Flags { fuse, ..Flags::default() }), ..Self::default() }
    }

    /// A handle to end the run from outside.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.flags))
    }

    /// The work that this budget has been charged with. A run works with a copy: [`Outcome::work`](crate::Outcome) tells what
    /// it did.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The same limits, for one member of a portfolio, who is credited with some work.
    pub(crate) fn in_lane(&self, lane: Lane, work: u64) -> Self {
        let most = self.most.map(|most| most.saturating_sub(self.work) + work);
        Self { flags: Arc::clone(&self.flags), lane: Some(lane), work, most, ..Self::default() }
    }

    /// Does something with the grace that another budget grants.
    pub(crate) fn with_grace_of<R>(&mut self, other: &mut Self, job: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.grace, other.grace);
        let result = job(self);
        other.grace = std::mem::replace(&mut self.grace, before);
        result
    }

    /// The same limits, and no more than so much work, whoever does it.
    #[must_use]
    pub fn with_work(&self, most: u64) -> Self {
        let most = Some(self.most.map_or(most, |own| own.saturating_sub(self.work).min(most)));
        let told = Some(self.told.unwrap_or(self.work));
        Self { flags: Arc::clone(&self.flags), lane: self.lane.clone(), told, most, ..Self::default() }
    }

    /// Does something with limits that are felt a moment later, if they are reached; all calls share that moment.
    pub fn with_grace<R>(&mut self, job: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.grace.granted, true);
        let result = job(self);
        self.grace.granted = before;
        result
    }

    /// Counts work; an error means that the run must end now.
    #[inline]
    pub fn spend(&mut self, work: u64) -> Result<(), Stop> {
        self.work += work;
        if self.work < self.next_look { Ok(()) } else { self.look() }
    }

    /// Counts effort that takes time but is no work: it is the same for all engines, or differs between machines.
    #[inline]
    pub fn pass(&mut self, effort: u64) -> Result<(), Stop> {
        if effort < self.unhurried {
            self.unhurried -= effort;
            return Ok(());
        }
        self.look()
    }

    /// Looks at the flags at once.
    #[cold]
    pub fn look(&mut self) -> Result<(), Stop> {
        let pause = if self.flags.fuse.is_some() { 0 } else { LOOK_EVERY };
        // Work beyond the limit is noticed at once, whenever it was looked before.
        let limit = self.most.map_or(u64::MAX, |most| most.saturating_add(1));
        (self.next_look, self.unhurried) = ((self.work + pause).min(limit), pause);
        self.flags.progress.work.fetch_max(self.work, Ordering::Relaxed);
        if let Some(fuse) = &self.flags.fuse {
            fuse.burn(&self.flags);
        }
        if let (Some(lane), None) = (&self.lane, self.flags.limit()) {
            lane.report(self.told.unwrap_or(self.work), || self.flags.limit().is_some()).map_err(Stop::Limit)?;
        }
        match self.flags.limit() {
            Some(limit) if !self.grace.allows(limit, self.flags.fuse.is_none()) => Err(Stop::Limit(limit)),
            _ if self.most.is_some_and(|most| self.work > most) => Err(Stop::Limit(Limit::Work)),
            _ => Ok(()),
        }
    }

    /// Tells the progress display how far the engine is.
    pub fn progress(&self, bound: u32, states: u64, views: u64) {
        let progress = &self.flags.progress;
        progress.bound.fetch_max(u64::from(bound), Ordering::Relaxed);
        progress.states.fetch_max(states, Ordering::Relaxed);
        progress.views.fetch_max(views, Ordering::Relaxed);
    }

    /// Tells the progress display how much a proof still owes.
    pub fn still_open(&self, open: u64) {
        self.flags.progress.open.store(open, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_to_stop_is_kept() {
        let mut budget = Budget::unlimited();
        assert_eq!(budget.spend(LOOK_EVERY), Ok(()));
        budget.stopper().stop(Limit::Memory);
        budget.stopper().stop(Limit::Time);
        assert_eq!(budget.spend(LOOK_EVERY), Err(Stop::Limit(Limit::Memory)));
        assert_eq!(budget.work(), 2 * LOOK_EVERY);
    }

    #[test]
    fn small_work_adds_up_to_a_look() {
        let mut budget = Budget::unlimited();
        budget.spend(1).unwrap();
        budget.stopper().stop(Limit::Interrupt);
        let unnoticed = (0..).take_while(|_| budget.spend(1).is_ok()).count() as u64;
        assert!(unnoticed < LOOK_EVERY, "{unnoticed}");
        let mut budget = Budget::unlimited();
        budget.pass(1).unwrap();
        budget.stopper().stop(Limit::Interrupt);
        let unnoticed = (0..).take_while(|_| budget.pass(1).is_ok()).count() as u64;
        assert!(unnoticed < LOOK_EVERY && budget.work() == 0, "{unnoticed}");
    }

    #[test]
    fn a_budget_stops_at_the_look_that_was_chosen() {
        let mut budget = Budget::stopping_after(2, Limit::Memory);
        assert_eq!((budget.spend(1), budget.pass(1)), (Ok(()), Ok(())));
        assert_eq!(budget.clone().spend(1), Err(Stop::Limit(Limit::Memory)));
        assert_eq!((budget.stopper().stopped(), budget.look()), (Some(Limit::Memory), budget.spend(1)));
    }

    #[test]
    fn grace_is_for_what_asks_for_it_and_ends() {
        let mut budget = Budget::unlimited();
        budget.stopper().stop(Limit::Time);
        assert!(budget.look().is_err());
        assert_eq!(budget.with_grace(Budget::look), Ok(()));
        assert!(budget.look().is_err());
        let start = Instant::now();
        while budget.with_grace(Budget::look).is_ok() {
            assert!(start.elapsed() < 100 * GRACE);
        }
        assert!(Budget::stopping_after(0, Limit::Outrun).with_grace(Budget::look).is_err());
    }
}
