//! Machines that go first.
//!
//! Let all that a machine can do in a row be *harmless*: it goes on, or takes a letter whose number nobody asserts, and then
//! rests, waiting for a letter; it fails in no way, sends, creates and tells nothing, and does not halt. Then only its steps
//! must lead to rows.
//!
//! It may also send letters to machines whose queues are *bags*, if its own is not one, no spec hears of it, no bound counts
//! them, and the receiver never does anything because there is nothing to take. What is proved then is proved of more: where
//! queues of which bags are known are taken for bags, from which any letter that can be taken may be the next. Therefore the
//! owner of a bag does not go first where it takes a letter: what somebody sends it later may be what it takes.
//!
//! A letter of which its receiver makes no use need not be put into its queue: all it could ever do is to ignore it, at any
//! time before its end, or to leave it there. No error, and no end, is another one without it: no `receive` waits for it, and
//! no bound counts it.
//!
//! For take a state that the row stands for, and the shortest way from there to an error or to an end. Until the machine moves,
//! the others can at most send it letters, behind the one that it takes, if it takes one. So its step can be taken at once
//! instead of where the way has it, and the others do what they did: they see nothing of it but a shorter queue, which prunes
//! no send and fails none, and perhaps a letter more in a bag, which they can leave there. The way gets shorter by a step. If
//! the machine does not move on the way at all, it can move before, and the way stays as long. In the states themselves, if not
//! in the rows, that happens finitely often: each such step takes a letter from a queue that is no bag, or lets a busy machine
//! rest, and puts letters into bags only. An end that the machine has not come to is none.

use tepui_cert::queue::{Order, Precision};
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
                harmless = harmless && self.is_harmless(row, machine, letter)?;
            }
            if harmless {
                return Ok(Some(machine));
            }
        }
        Ok(None)
    }

    fn is_harmless(&mut self, row: &[u32], machine: usize, letter: Option<u32>) -> Result<bool, Wrong> {
        let asserted = |bound: &Option<Bound>| matches!(bound, Some(Bound::Assert(_)));
        let (program, local) = (self.program, row[2 * machine]);
        let kind = self.local(local)?.0 as usize;
        let event = letter.map(|letter| self.certificate.letters[letter as usize].event as usize);
        let counted = |event: usize| asserted(&program.events[event]) || asserted(&program.kinds[kind].bound);
        // What comes into a bag later may be taken before what is there.
        if event.is_some_and(|event| counted(event) || self.is_bag(kind)) {
            return Ok(false);
        }
        let (ways, machines) = (self.ways(machine, local, letter)?, row.len() - program.specs.len());
        for way in &*ways {
            let waits = matches!(way.local.waiting(program), Waiting::Idle | Waiting::Receive(_));
            let heard = way.told.iter().any(|letter| program.is_heard(kind, letter.event));
            let does_no_harm = match &way.effect {
                Effect::Rests => true,
                Effect::Sends(target, letter) => {
                    let target = row[..machines].get(2 * *target as usize);
                    self.forbidden(&row[..machines], way).is_none()
                        && self.may_come_unseen(target, letter.event, !self.is_bag(kind))?
                }
                _ => false,
            };
            if heard || !waits || !does_no_harm {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_bag(&self, kind: usize) -> bool {
        self.certificate.precision[kind].order == Order::Bag
    }

    /// Whether nobody can tell when an event comes to a machine in a state: it never does, or may come `early` into a bag.
    fn may_come_unseen(&self, local: Option<&u32>, event: u32, early: bool) -> Result<bool, Wrong> {
        let Some(local) = local else { return Ok(false) };
        let (program, kind) = (self.program, self.local(*local)?.0 as usize);
        if self.is_useless(kind, event) {
            return Ok(true);
        }
        let Precision { prefix, .. } = self.certificate.precision[kind];
        let bounded = program.events[event as usize].is_some() || program.kinds[kind].bound.is_some();
        let asks = || self.habits.get(kind).is_none_or(|habits| habits.asks_for_null);
        Ok(early && self.is_bag(kind) && prefix == Some(0) && !bounded && !asks())
    }

    /// Whether machines of a kind do nothing with an event, so that it need not be sent to them.
    pub(super) fn is_useless(&self, kind: usize, event: u32) -> bool {
        self.habits.get(kind).is_some_and(|habits| !habits.uses[event as usize])
    }
}
