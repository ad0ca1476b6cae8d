//! Which threads are explored at the rows of a set, where not all are.

use crate::ids::ThreadId;
use crate::interner::Interner;

/// The threads explored at a row, in ascending order; or all.
pub type Chosen<'a> = Option<&'a [ThreadId]>;

/// Whether a thread is explored at a row.
#[inline]
pub(crate) fn is_explored(chosen: Chosen<'_>, thread: ThreadId) -> bool {
    chosen.is_none_or(|chosen| chosen.contains(&thread))
}

/// For rows, by their numbers, the threads explored there.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    sets: Interner<Vec<ThreadId>>,
    /// For each row the number of a set and one, or 0 for all threads; may end before the last row.
    of: Vec<u32>,
}

impl Explored {
    /// The threads explored at a row.
    #[inline]
    pub fn at(&self, row: usize) -> Chosen<'_> {
        let set = self.of.get(row).copied().unwrap_or(0).checked_sub(1)?;
        Some(&self.sets[set])
    }

    /// Says which threads are explored at a row.
    pub fn set(&mut self, row: usize, chosen: Option<Vec<ThreadId>>) {
        let number = chosen.map_or(0, |chosen| self.sets.intern(chosen) + 1);
        if number > 0 || row < self.of.len() {
            self.of.resize(self.of.len().max(row + 1), 0);
            self.of[row] = number;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.of.capacity() * 4
    }
}
