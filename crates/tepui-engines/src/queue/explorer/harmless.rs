//! Machines that may go first: where all that a machine can do is harmless, the others can wait.
//!
//! A machine that goes on, or takes what it has been sent, and then rests without telling anybody neither hinders the others
//! nor depends on them. Whatever they do can be done afterwards just as well, and leads to the same errors. Nobody waits for
//! ever, because such steps come to an end: each makes a queue shorter, or a machine that was busy rests.
//!
//! A letter that is sent on the way does no harm if its receiver's queue is a bag: there it does not matter when it comes,
//! only that it is there. The sender's own queue must not be one, so that letters go from queues to bags and never back. The
//! owner of a bag takes nothing before the others: what it is sent later may be what it takes first.
//!
//! A letter that its receiver never does anything with, but to ignore it, is not put into its queue at all. Nothing depends
//! on it: it may only keep the receiver busy, for a while.

use tepui_model::queue::Bound;

use super::Explorer;
use crate::queue::summary::{Order, Precision};
use crate::queue::tables::{Ends, Way};

impl Explorer {
    /// The same, but where a machine can only take harmless steps, no other one is looked at. Of rows some are left out, of
    /// errors none.
    #[must_use]
    pub fn with_partial_order(self) -> Self {
        // What is claimed of a queue must hold of every queue there is on the way.
        let program = self.tables.program();
        let partial_order = program.claims.is_empty().then(|| program.habits().into());
        Self { partial_order, ..self }
    }

    /// Whether others may have waited while a machine took harmless steps.
    pub fn has_partial_order(&self) -> bool {
        self.partial_order.is_some()
    }

    /// Whether machines of a kind do nothing with an event, so that it need not be sent to them.
    pub(in crate::queue) fn is_useless(&self, kind: usize, event: u32) -> bool {
        self.partial_order.as_ref().is_some_and(|habits| !habits[kind].uses[event as usize])
    }

    /// The first machine that can take harmless steps only.
    pub(super) fn goes_first(&mut self, row: &[u32]) -> Option<usize> {
        let mut found = Vec::new();
        (0..self.machines(row)).find(|&machine| {
            found.clear();
            self.takes(row, machine, &mut found) && {
                let local = row[2 * machine];
                let takes = self.tables.rest(local).takes;
                found.iter().all(|&(letter, _)| (letter.is_some() || !takes) && self.is_harmless(row, machine, letter))
            }
        })
    }

    fn is_harmless(&mut self, row: &[u32], machine: usize, letter: Option<u32>) -> bool {
        let local = row[2 * machine];
        let kind = self.tables.local_of(local).0 as usize;
        if let Some(letter) = letter {
            // What is taken makes room, where there should be too much.
            let program = self.tables.program();
            let asserted = |bound: &Option<Bound>| matches!(bound, Some(Bound::Assert(_)));
            let event = self.tables.event_of(letter) as usize;
            let counted = asserted(&program.events[event]) || asserted(&program.kinds[kind].bound);
            // What comes into a bag later may be taken before what is there.
            if counted || self.precision[kind].order == Order::Bag {
                return false;
            }
        }
        let ways = self.tables.ways(machine as u32, local, letter);
        let silent = |way: &Way| {
            let program = self.tables.program();
            !way.told.iter().any(|&letter| program.is_heard(kind, self.tables.event_of(letter)))
        };
        let unseen = |way: &Way, target: u32, letter: u32| {
            let (event, early) = (self.tables.event_of(letter), self.precision[kind].order != Order::Bag);
            self.forbidden(row, way).is_none() && self.may_come_unseen(row, target as usize, event, early)
        };
        ways.iter().all(|way| {
            let does_no_harm = match way.effect {
                Ends::Rests => true,
                Ends::Sends(target, letter) => unseen(way, target, letter),
                _ => false,
            };
            does_no_harm && silent(way) && self.tables.rest(way.local).takes
        })
    }

    /// Whether nobody can tell when an event comes into the queue of a machine: it never does, or may come `early` into a bag.
    fn may_come_unseen(&self, row: &[u32], target: usize, event: u32, early: bool) -> bool {
        let (true, Some(habits)) = (target < self.machines(row), &self.partial_order) else { return false };
        let (program, kind) = (self.tables.program(), self.tables.local_of(row[2 * target]).0 as usize);
        let is_bag = matches!(self.precision[kind], Precision { prefix: 0, order: Order::Bag, .. });
        let bounded = program.events[event as usize].is_some() || program.kinds[kind].bound.is_some();
        !habits[kind].uses[event as usize] || early && is_bag && !bounded && !habits[kind].asks_for_null
    }
}
