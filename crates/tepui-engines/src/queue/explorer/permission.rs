//! What machines may be sent.

use super::Explorer;
use crate::queue::tables::{Ends, Way};

impl Explorer {
    /// Whether the receiver may not get what is sent; and whether specs would have heard of it.
    pub(super) fn forbidden(&self, row: &[u32], way: &Way) -> Option<bool> {
        let program = self.tables.program();
        program.kinds.iter().find(|kind| kind.receives.is_some())?;
        let (kind, local) = self.tables.local_of(way.local);
        let (target, event) = match &way.effect {
            Ends::Sends(target, letter) => (*target, self.tables.event_of(*letter)),
            _ => local.pending.as_ref().map(|(target, letter)| (*target, letter.event))?,
        };
        let receiver = self.tables.local_of(*row.get(2 * target as usize)?).0 as usize;
        (!program.may_get(receiver, event)).then(|| program.is_heard(*kind as usize, event))
    }
}
