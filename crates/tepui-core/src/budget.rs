//! Limits, and the clock of work.
//!
//! Engines do not look at time, memory or signals. They count the work they do ([`Budget::spend`]) and are told when to
//! stop; whoever watches the world holds a [`Stopper`]. Work is counted in images computed (successor states, automaton
//! transitions), which makes it the same on every machine: races between engines are decided on it (see
//! [`race()`](crate::race())), and it is what progress displays show.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::race::Lane;

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
        }
    }

    fn from_flag(flag: u8) -> Option<Self> {
        [Self::Time, Self::Memory, Self::Interrupt].into_iter().find(|&limit| limit as u8 == flag)
    }
}

/// Why an engine stops without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stop {
    /// A limit was reached.
    Limit(Limit),
    /// The engine sees that it will not get any further, and says why.
    GaveUp(String),
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
}

/// The right to go on. Cloning gives a second budget with the same limits and the same progress.
#[derive(Clone, Default, Debug)]
pub struct Budget {
    flags: Arc<Flags>,
    lane: Option<Lane>,
    work: u64,
    next_look: u64,
}

/// Ends the runs of a budget from outside.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Flags>);

impl Stopper {
    /// Ends the run. The first reason given is the one reported.
    pub fn stop(&self, limit: Limit) {
        let _ = self.0.stop.compare_exchange(0, limit as u8, Ordering::Relaxed, Ordering::Relaxed);
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

    /// A handle to end the run from outside.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.flags))
    }

    /// The work done so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The same limits, for one participant of a race, who is credited with some work.
    pub(crate) fn in_lane(&self, lane: Lane, work: u64) -> Self {
        Self { flags: Arc::clone(&self.flags), lane: Some(lane), work, next_look: 0 }
    }

    /// Counts work; an error means that the run must end now.
    #[inline]
    pub fn spend(&mut self, work: u64) -> Result<(), Stop> {
        self.work += work;
        if self.work < self.next_look { Ok(()) } else { self.look() }
    }

    /// Looks at the flags at once.
    #[cold]
    pub fn look(&mut self) -> Result<(), Stop> {
        self.next_look = self.work + LOOK_EVERY;
        self.flags.progress.work.fetch_max(self.work, Ordering::Relaxed);
        if let Some(lane) = &self.lane {
            lane.report(self.work).map_err(Stop::Limit)?;
        }
        let flag = self.flags.stop.load(Ordering::Relaxed);
        Limit::from_flag(flag).map_or(Ok(()), |limit| Err(Stop::Limit(limit)))
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
    }
}
