//! Looking up rows of numbers.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use tepui_cert::pushdown::Rows;

/// An index of the rows of a table.
pub(super) struct Index {
    table: HashTable<u32>,
}

impl Index {
    /// An index of no rows.
    pub(super) fn new() -> Self {
        Self { table: HashTable::new() }
    }

    /// Indexes all rows; `Err` names one that occurs twice.
    pub(super) fn of(rows: &Rows) -> Result<Self, usize> {
        let mut index = Self { table: HashTable::with_capacity(rows.len()) };
        (0..rows.len()).find(|&row| !index.add(rows, row)).map_or(Ok(index), Err)
    }

    /// Indexes one more row; `false` if an equal one is there.
    pub(super) fn add(&mut self, rows: &Rows, row: usize) -> bool {
        let cells = rows.get(row);
        let equal = |&other: &u32| rows.get(other as usize) == cells;
        let entry = self.table.entry(hash(cells), equal, |&other| hash(rows.get(other as usize)));
        match entry {
            hashbrown::hash_table::Entry::Occupied(_) => false,
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                vacant.insert(row as u32);
                true
            }
        }
    }

    /// The number of a row, if it is there.
    pub(super) fn find(&self, rows: &Rows, cells: &[u32]) -> Option<u32> {
        self.table.find(hash(cells), |&row| rows.get(row as usize) == cells).copied()
    }

    /// Whether a row is there.
    pub(super) fn contains(&self, rows: &Rows, cells: &[u32]) -> bool {
        self.find(rows, cells).is_some()
    }
}

fn hash(cells: &[u32]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    cells.iter().for_each(|&cell| hasher.write_u32(cell));
    hasher.finish()
}
