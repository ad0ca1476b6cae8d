//! Machines that go first.
//!
//! Let all that a machine can do in a row be *harmless*: it goes on, or takes a letter whose number nobody asserts, and then
//! rests, waiting for a letter; it fails in no way, sends, creates and tells nothing, and does not halt. Then only its steps
//! must lead to rows.
//!
//! For take a state that the row stands for, and the shortest way from there to an error or to an end. Until the machine
//! moves, the others can at most send it letters, behind the one that it takes. So its step can be taken at once instead of
//! where the way has it, and the others do what they did: they see nothing of it but a shorter queue, which prunes no send
//! and fails none. The way gets shorter by a step. If the machine does not move on the way at all, it can move before; and
//! that happens finitely often, since each such step makes a queue shorter, or lets a busy machine rest. An end that the
//! machine has not come to is none.

use tepui_model::queue::Bound;
use tepui_model::queue::run::{Effect, Waiting};

use super::{Checker, Wrong};

impl Checker<'_> {
    /// The first machine that can take harmless steps only.
    pub(super) fn goes_first(&mut self, row: &[u32], machines: usize) -> Result<Option<usize>, Wrong> {
        for machine in 0..machines {
            let (local, queue) = (row[2 * machine], row[2 * machine + 1]);
            let letters: Vec<_> = match self.local(local)?.1.waiting(self.program) {
                Waiting::Halted => continue,
                Waiting::Busy => vec![None],
                Waiting::Idle | Waiting::Receive(_) => {
                    self.offered(local, queue)?.iter().map(|(letter, _)| Some(*letter)).collect()
                }
            };
            let mut harmless = !letters.is_empty();
            for letter in letters {
                harmless = harmless && self.is_harmless(machine, local, letter)?;
            }
            if harmless {
                return Ok(Some(machine));
            }
        }
        Ok(None)
    }

    fn is_harmless(&mut self, machine: usize, local: u32, letter: Option<u32>) -> Result<bool, Wrong> {
        let asserted = |bound: &Option<Bound>| matches!(bound, Some(Bound::Assert(_)));
        let kind = self.local(local)?.0 as usize;
        let event = letter.map(|letter| self.certificate.letters[letter as usize].event as usize);
        let counted = |event: usize| asserted(&self.program.events[event]) || asserted(&self.program.kinds[kind].bound);
        if event.is_some_and(counted) {
            return Ok(false);
        }
        let ways = self.ways(machine, local, letter)?;
        Ok(ways.iter().all(|way| {
            let waits = matches!(way.local.waiting(self.program), Waiting::Idle | Waiting::Receive(_));
            matches!(way.effect, Effect::Rests) && way.told.is_empty() && waits
        }))
    }
}
