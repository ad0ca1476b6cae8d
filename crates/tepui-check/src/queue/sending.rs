//! Letters that are sent.

use tepui_cert::queue::language::{Claims, Known};
use tepui_model::queue::Bound;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Effect, Letter};

use super::{Checker, Way, Wrong, summary};

/// What becomes of a letter that is sent.
pub(super) enum Sent {
    /// The execution ends, or nobody looks at it.
    Ends,
    /// The receiver has halted, or makes no use of it.
    Lost,
    /// It is in a queue.
    Queue(u32),
}

impl Checker<'_> {
    /// The event that is sent, if its receiver may not get it. That is asked before specs hear of it.
    pub(super) fn forbidden(&self, machines: &[u32], way: &Way) -> Option<u32> {
        let (target, event) = match &way.effect {
            Effect::Sends(target, letter) => (*target, letter.event),
            _ => way.local.pending.as_ref().map(|(target, letter)| (*target, letter.event))?,
        };
        let receiver = self.local(*machines.get(2 * target as usize)?).ok()?;
        (!self.program.may_get(receiver.0 as usize, event)).then_some(event)
    }

    /// A letter goes to a machine, whose queue has changed before if that is given.
    pub(super) fn append(
        &mut self,
        row: &[u32],
        target: usize,
        letter: &Letter,
        number: Option<u32>,
        before: Option<u32>,
    ) -> Result<Sent, Wrong> {
        let machines = (row.len() - self.program.specs.len()) / 2;
        if target >= machines {
            return Err("something is sent to a machine that is not there".to_owned());
        }
        let (kind, local) = self.local(row[2 * target])?;
        let own = &self.program.kinds[*kind as usize];
        if local.halted || self.is_useless(*kind as usize, letter.event) {
            return Ok(Sent::Lost);
        }
        let queue = before.unwrap_or(row[2 * target + 1]);
        let known = self.queues.get(queue).ok_or("there is no such queue")?;
        let precision = &self.certificate.precision[*kind as usize];
        let bounds =
            [(self.program.events[letter.event as usize], Error::EventBound), (own.bound, Error::MachineBound)];
        for (bound, error) in bounds.into_iter().filter(|(bound, _)| bound.is_some()) {
            let event = |other: u32| self.certificate.letters[other as usize].event;
            let counted = |other: u32| error == Error::MachineBound || event(other) == letter.event;
            let (least, exact) = summary::count(precision, known, &counted);
            match bound {
                Some(Bound::Assume(most)) if least >= most as usize => return Ok(Sent::Ends),
                Some(Bound::Assert(most)) if least >= most as usize => return self.fails(error).map(|()| Sent::Ends),
                // It may be too much, and it may not.
                Some(Bound::Assert(_)) if !exact => self.fails(error)?,
                _ => {}
            }
        }
        let number = number.ok_or("a letter that is sent is not listed once")?;
        let formulas = self.formulas(*kind as usize, target);
        if !formulas.is_empty() {
            let event = |letter: u32| self.certificate.letters[letter as usize].event;
            let claims = Claims { formulas: &formulas, event: &event };
            if !self.claimed(claims.push(Known { precision, queue: known }, number))? {
                return Ok(Sent::Ends);
            }
        }
        let longer = self.queues.push(*kind, precision, queue, number);
        Ok(Sent::Queue(longer.ok_or("there is no such queue")?))
    }
}
