//! Sets of tuples, packed into machine words.
//!
//! States and views are tuples of small numbers. A row is stored in as few 64-bit words as its fields need (no field
//! straddles two words), rows lie in one long vector in the order of insertion, and a hash table holds only their
//! 32-bit indices. So a set of tuples of up to 64 bits costs 8 bytes a row plus 6 to 12 bytes of table, and the row
//! number is an identity that other vectors can be indexed by. Fields start narrow; when a value does not fit, all
//! rows are packed anew with one more bit for that field than the value needs. That happens at most 32 times for a
//! field.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    width: u32,
}

impl Field {
    fn mask(self) -> u64 {
        (1 << self.width) - 1
    }
}

/// A set of rows of equally many numbers.
#[derive(Clone, Debug)]
pub struct PackedSet {
    fields: Vec<Field>,
    words: usize,
    rows: Vec<u64>,
    table: HashTable<u32>,
    scratch: Vec<u64>,
}

impl PackedSet {
    /// A set of rows with fields that are wide enough for the given largest values, for a start.
    pub fn new(largest: impl IntoIterator<Item = u32>) -> Self {
        let widths: Vec<_> = largest.into_iter().map(bits).collect();
        let (fields, words) = layout(&widths);
        Self { fields, words, rows: Vec::new(), table: HashTable::new(), scratch: vec![0; words] }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len() / self.words
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        (self.rows.len() * 8 + self.table.capacity() * 5) as u64
    }

    /// Adds a row; returns its number, and whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> (u32, bool) {
        while !self.pack(row) {
            self.widen(row);
        }
        let (words, rows, scratch) = (self.words, &self.rows, &self.scratch);
        let slice = |index: u32| &rows[index as usize * words..][..words];
        let found = self.table.entry(hash(scratch), |&index| same(slice(index), scratch), |&index| hash(slice(index)));
        match found {
            hashbrown::hash_table::Entry::Occupied(entry) => (*entry.get(), false),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let index = u32::try_from(rows.len() / words).expect("at most 2^32 rows fit the index");
                entry.insert(index);
                self.rows.extend_from_slice(&self.scratch);
                (index, true)
            }
        }
    }

    /// The number of a row, if it is there.
    pub fn find(&self, row: &[u32]) -> Option<u32> {
        let mut packed = [0; 8];
        let mut long;
        let words = if self.words <= packed.len() {
            &mut packed[..self.words]
        } else {
            long = vec![0; self.words];
            &mut long[..]
        };
        if !pack_into(&self.fields, row, words) {
            return None;
        }
        self.table.find(hash(words), |&index| same(self.slice(index), words)).copied()
    }

    /// Writes a row's fields into `row`.
    pub fn get(&self, index: u32, row: &mut [u32]) {
        unpack(&self.fields, self.slice(index), row);
    }

    /// One field of a row.
    pub fn field(&self, index: u32, field: usize) -> u32 {
        let field = self.fields[field];
        (self.slice(index)[field.word as usize] >> field.shift & field.mask()) as u32
    }

    /// Gives up the set for its rows, one machine word each if they fit: unpacked, changed by `change`, and packed
    /// again, first field first, into fields of the given widths. The result is in no particular order.
    pub fn into_words(mut self, widths: &[u32], change: impl Fn(&mut [u32])) -> Result<Vec<u64>, Self> {
        if self.words > 1 || widths.iter().sum::<u32>() > 64 {
            return Err(self);
        }
        self.table = HashTable::new();
        let mut row = vec![0; self.fields.len()];
        for word in &mut self.rows {
            unpack(&self.fields, std::slice::from_ref(word), &mut row);
            change(&mut row);
            *word = row.iter().zip(widths).fold(0, |key, (&value, width)| key << width | u64::from(value));
        }
        Ok(self.rows)
    }

    fn slice(&self, index: u32) -> &[u64] {
        &self.rows[index as usize * self.words..][..self.words]
    }

    fn pack(&mut self, row: &[u32]) -> bool {
        self.scratch.fill(0);
        pack_into(&self.fields, row, &mut self.scratch)
    }

    #[cold]
    fn widen(&mut self, row: &[u32]) {
        let wider = |(field, &value): (&Field, &u32)| {
            if u64::from(value) > field.mask() { (bits(value) + 1).min(32) } else { field.width }
        };
        let widths: Vec<_> = self.fields.iter().zip(row).map(wider).collect();
        let (fields, words) = layout(&widths);
        let mut rows = vec![0; self.len() * words];
        let mut values = vec![0; fields.len()];
        for (old, new) in self.rows.chunks_exact(self.words).zip(rows.chunks_exact_mut(words)) {
            unpack(&self.fields, old, &mut values);
            pack_into(&fields, &values, new);
        }
        (self.fields, self.words, self.rows) = (fields, words, rows);
        self.scratch = vec![0; words];
        self.rebuild_table();
    }

    fn rebuild_table(&mut self) {
        let mut table = std::mem::take(&mut self.table);
        table.clear();
        for index in 0..self.len() as u32 {
            table.insert_unique(hash(self.slice(index)), index, |&index| hash(self.slice(index)));
        }
        self.table = table;
    }
}

fn bits(value: u32) -> u32 {
    (32 - value.leading_zeros()).max(1)
}

fn layout(widths: &[u32]) -> (Vec<Field>, usize) {
    let (mut word, mut shift) = (0, 0);
    let place = |&width: &u32| {
        if shift + width > 64 {
            (word, shift) = (word + 1, 0);
        }
        let field = Field { word, shift, width };
        shift += width;
        field
    };
    let fields: Vec<_> = widths.iter().map(place).collect();
    (fields, word as usize + 1)
}

#[inline]
fn pack_into(fields: &[Field], row: &[u32], words: &mut [u64]) -> bool {
    debug_assert_eq!(fields.len(), row.len());
    let mut fits = true;
    for (field, &value) in fields.iter().zip(row) {
        words[field.word as usize] |= u64::from(value) << field.shift;
        fits &= u64::from(value) <= field.mask();
    }
    fits
}

#[inline]
fn unpack(fields: &[Field], words: &[u64], row: &mut [u32]) {
    for (field, value) in fields.iter().zip(row) {
        *value = (words[field.word as usize] >> field.shift & field.mask()) as u32;
    }
}

/// Rows are a word or two: a loop beats a call.
#[inline]
fn same(one: &[u64], other: &[u64]) -> bool {
    one.iter().eq(other)
}

#[inline]
fn hash(words: &[u64]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    words.iter().for_each(|&word| hasher.write_u64(word));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn behaves_like_a_map_from_rows_to_numbers() {
        for fields in [1, 2, 5, 9, 40] {
            let mut set = PackedSet::new(vec![1; fields]);
            let mut reference = HashMap::new();
            let mut seed = 7_u64;
            for round in 0..4000 {
                let row: Vec<u32> = (0..fields)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        (seed >> 33) as u32 & if round > 3990 { u32::MAX } else { 3 }
                    })
                    .collect();
                assert_eq!(set.find(&row), reference.get(&row).copied());
                let next = reference.len() as u32;
                let number = *reference.entry(row.clone()).or_insert(next);
                assert_eq!(set.insert(&row), (number, number == next));
            }
            assert_eq!(set.len(), reference.len());
            let mut row = vec![0; fields];
            for (expected, number) in reference {
                set.get(number, &mut row);
                assert_eq!(row, expected);
                assert_eq!(set.field(number, fields - 1), row[fields - 1]);
            }
        }
    }
}
