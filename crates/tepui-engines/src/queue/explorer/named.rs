//! Integers that are names.

use std::collections::BTreeMap;

use tepui_model::queue::state::Cannot;

use super::Explorer;
use crate::queue::names::Names;

impl Explorer {
    /// The same from the start, but integers that are only compared with each other are names, if there are such. Machines
    /// do not change places then.
    #[must_use]
    pub fn with_names(mut self) -> Self {
        if self.tables.name() {
            return Self::with(self.tables, self.precision, self.longest, Some(Names::default()));
        }
        self
    }

    /// Whether some integers are names.
    pub fn has_names(&self) -> bool {
        self.names.is_some()
    }

    /// Rows that were replaced by others, in which integers are names.
    pub(in crate::queue) fn meant(&self) -> &BTreeMap<Vec<u32>, Vec<u32>> {
        static NONE: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        self.names.as_ref().map_or(&NONE, |names| &names.meant)
    }

    /// Whether the row that was put together stands for another one, in which there are no names.
    pub(super) fn give_names(&mut self, before: &[u32]) -> bool {
        let Some(names) = &mut self.names else { return false };
        if *before == self.next {
            return true;
        }
        let meant = names.is_meant_by(&self.tables, &self.queues, before, &self.next);
        if meant {
            let mut row = self.next.clone();
            names.reduce(&mut self.tables, &mut self.queues, &mut row);
            names.meant.insert(before.to_vec(), row);
        } else {
            self.unknown = self.unknown.or(Some(Cannot::Forgotten));
        }
        meant
    }
}
