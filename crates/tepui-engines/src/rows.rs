//! Rows of numbers of any length, each once, in the order in which they were found.
//!
//! Most numbers are small, so a row is written with a byte for each seven bits of a number. Rows stand one after the other
//! in blocks, so that what is there is not moved when more come, and the table has their numbers only. Together that is 20
//! to 30 bytes for a row of ten numbers.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// How many rows there are in a block, as a power of two.
const BLOCK: u32 = 14;

/// A set of rows.
#[derive(Default)]
pub(crate) struct Rows {
    store: Store,
    table: HashTable<u32>,
    /// The row that is looked for.
    wanted: Vec<u8>,
}

/// Rows, written.
#[derive(Default)]
struct Store {
    blocks: Vec<Vec<u8>>,
    /// Where each row ends in its block.
    ends: Vec<u32>,
}

impl Store {
    fn get(&self, row: u32) -> &[u8] {
        let first = row & ((1 << BLOCK) - 1) == 0;
        let start = if first { 0 } else { self.ends[row as usize - 1] as usize };
        &self.blocks[(row >> BLOCK) as usize][start..self.ends[row as usize] as usize]
    }

    fn push(&mut self, row: &[u8]) {
        let block = self.ends.len() >> BLOCK;
        if block == self.blocks.len() {
            self.blocks.push(Vec::new());
        }
        self.blocks[block].extend_from_slice(row);
        self.ends.push(self.blocks[block].len() as u32);
    }
}

fn hash(row: &[u8]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(row);
    hasher.finish()
}

fn write(row: &[u32], bytes: &mut Vec<u8>) {
    bytes.clear();
    for &number in row {
        let mut rest = number;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
}

fn read(bytes: &[u8]) -> Vec<u32> {
    let (mut row, mut number, mut shift) = (Vec::with_capacity(bytes.len()), 0, 0);
    for byte in bytes {
        number |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            row.push(number);
            (number, shift) = (0, 0);
        }
    }
    row
}

impl Rows {
    /// The number of a row, and whether it is new.
    pub(crate) fn intern(&mut self, row: &[u32]) -> (u32, bool) {
        let Self { store, table, wanted } = self;
        write(row, wanted);
        let known = |number: &u32| store.get(*number) == wanted.as_slice();
        let fresh = store.ends.len() as u32;
        let number = *table.entry(hash(wanted), known, |number| hash(store.get(*number))).or_insert(fresh).get();
        if number == fresh {
            store.push(wanted);
        }
        (number, number == fresh)
    }

    /// A row.
    pub(crate) fn get(&self, row: u32) -> Vec<u32> {
        read(self.store.get(row))
    }

    /// The number of a row that is among them.
    pub(crate) fn find(&self, row: &[u32]) -> Option<u32> {
        let mut wanted = Vec::new();
        write(row, &mut wanted);
        self.table.find(hash(&wanted), |number| self.store.get(*number) == wanted.as_slice()).copied()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.store.ends.len()
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Vec<u32>> {
        (0..self.len() as u32).map(|row| self.get(row))
    }

    /// How many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        let blocks: usize = self.store.blocks.iter().map(Vec::capacity).sum();
        blocks + self.store.ends.capacity() * 4 + self.table.allocation_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_once_and_in_order() {
        let mut rows = Rows::default();
        let all = [&[1, 200][..], &[], &[1, 200], &[u32::MAX, 128, 127, 1 << 14]];
        let found: Vec<_> = all.into_iter().map(|row| rows.intern(row)).collect();
        assert_eq!(found, [(0, true), (1, true), (0, false), (2, true)]);
        assert_eq!(rows.iter().collect::<Vec<_>>(), [all[0], all[1], all[3]]);
        assert_eq!((rows.len(), rows.find(all[3]), rows.find(&[1])), (3, Some(2), None));
    }

    #[test]
    fn blocks_are_filled_one_after_the_other() {
        let mut rows = Rows::default();
        let count = 3 << BLOCK;
        for number in 0..count {
            assert_eq!(rows.intern(&[number, number / 7]), (number, true));
        }
        assert!((0..count).all(|number| rows.get(number) == [number, number / 7]));
        assert!(rows.bytes() / (count as usize) < 30, "{}", rows.bytes());
    }
}
