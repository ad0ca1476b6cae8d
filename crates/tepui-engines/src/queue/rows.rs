//! Rows of numbers of any length, each once, in the order in which they were found.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// A set of rows. They stand one after the other, and the table has their numbers only.
#[derive(Default)]
pub(super) struct Rows {
    numbers: Vec<u32>,
    /// Where each row ends.
    ends: Vec<usize>,
    table: HashTable<u32>,
}

fn hash(row: &[u32]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    row.iter().for_each(|number| hasher.write_u32(*number));
    hasher.finish()
}

fn slice<'r>(numbers: &'r [u32], ends: &[usize], row: u32) -> &'r [u32] {
    let row = row as usize;
    let start = if row == 0 { 0 } else { ends[row - 1] };
    &numbers[start..ends[row]]
}

impl Rows {
    /// The number of a row, and whether it is new.
    pub(super) fn intern(&mut self, row: &[u32]) -> (u32, bool) {
        let Self { numbers, ends, table } = self;
        let known = |number: &u32| slice(numbers, ends, *number) == row;
        let again = |number: &u32| hash(slice(numbers, ends, *number));
        let fresh = ends.len() as u32;
        let number = *table.entry(hash(row), known, again).or_insert(fresh).get();
        if number == fresh {
            numbers.extend_from_slice(row);
            ends.push(numbers.len());
        }
        (number, number == fresh)
    }

    /// A row.
    pub(super) fn get(&self, row: u32) -> &[u32] {
        slice(&self.numbers, &self.ends, row)
    }

    /// The number of a row that is among them.
    pub(super) fn find(&self, row: &[u32]) -> Option<u32> {
        self.table.find(hash(row), |number| self.get(*number) == row).copied()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// All of them, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.ends.len() as u32).map(|row| self.get(row))
    }

    /// How many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.numbers.capacity() * 4 + self.ends.capacity() * 8 + self.table.allocation_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_once_and_in_order() {
        let mut rows = Rows::default();
        let found: Vec<_> = [&[1, 2][..], &[], &[1, 2], &[2]].into_iter().map(|row| rows.intern(row)).collect();
        assert_eq!(found, [(0, true), (1, true), (0, false), (2, true)]);
        assert_eq!(rows.iter().collect::<Vec<_>>(), [&[1, 2][..], &[], &[2]]);
        assert_eq!(rows.len(), 3);
    }
}
