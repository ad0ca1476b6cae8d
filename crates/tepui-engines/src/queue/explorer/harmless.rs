//! Machines that may go first: where all that a machine can do is harmless, the others can wait.
//!
//! A machine that goes on, or takes what it has been sent, and then rests without telling anybody neither hinders the others
//! nor depends on them. Whatever they do can be done afterwards just as well, and leads to the same errors. Nobody waits for
//! ever, because such steps come to an end: each makes a queue shorter, or a machine that was busy rests.

use tepui_model::queue::Bound;

use super::Explorer;
use crate::queue::tables::{Ends, Way};

impl Explorer {
    /// The same, but where a machine can only take harmless steps, no other one is looked at. Of rows some are left out, of
    /// errors none.
    #[must_use]
    pub fn with_partial_order(self) -> Self {
        // What is claimed of a queue must hold of every queue there is on the way.
        let partial_order = self.tables.program().claims.is_empty();
        Self { partial_order, ..self }
    }

    /// Whether others may have waited while a machine took harmless steps.
    pub fn has_partial_order(&self) -> bool {
        self.partial_order
    }

    /// The first machine that can take harmless steps only.
    pub(super) fn goes_first(&mut self, row: &[u32]) -> Option<usize> {
        let mut found = Vec::new();
        (0..self.machines(row)).find(|&machine| {
            found.clear();
            self.takes(row, machine, &mut found) && {
                let local = row[2 * machine];
                let takes = self.tables.rest(local).takes;
                found
                    .iter()
                    .all(|&(letter, _)| (letter.is_some() || !takes) && self.is_harmless(machine, local, letter))
            }
        })
    }

    fn is_harmless(&mut self, machine: usize, local: u32, letter: Option<u32>) -> bool {
        let asserted = |bound: &Option<Bound>| matches!(bound, Some(Bound::Assert(_)));
        if let Some(letter) = letter {
            // What is taken makes room, where there should be too much.
            let (program, kind) = (self.tables.program(), self.tables.local_of(local).0 as usize);
            let event = self.tables.event_of(letter) as usize;
            if asserted(&program.events[event]) || asserted(&program.kinds[kind].bound) {
                return false;
            }
        }
        let ways = self.tables.ways(machine as u32, local, letter);
        let rests = |way: &Way| matches!(way.effect, Ends::Rests) && self.tables.rest(way.local).takes;
        ways.iter().all(|way| way.told.is_empty() && rests(way))
    }
}
