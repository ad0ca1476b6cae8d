//! Tables of numbers, packed.

use std::cmp::Ordering;
use std::ops::Range;

use smallvec::{SmallVec, smallvec};

/// A table of numbers with rows of equal width. Each row is packed into machine words, in which each column has so many
/// bits: the first column first, so that packed rows compare as their numbers do.
#[derive(Clone, Debug)]
pub struct Rows {
    pub(super) fields: Vec<Field>,
    /// How many words a row has.
    pub(super) words: usize,
    pub(super) packed: Vec<u64>,
}

/// Where a column is found in the words of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    word: usize,
    shift: u32,
    bits: u32,
}

/// The numbers of a row.
pub type Row = SmallVec<[u32; 16]>;

/// The words of a row.
type Packed = SmallVec<[u64; 4]>;

impl Rows {
    /// An empty table for rows of numbers with so many bits, which are at least one for each.
    pub fn with_bits(bits: &[u32]) -> Self {
        assert!(bits.iter().all(|bits| (1..=32).contains(bits)), "numbers have 1 to 32 bits");
        // The last column is the lowest of the last word.
        let (mut later, mut used) = (0, 0);
        let mut place = |&bits: &u32| {
            if used + bits > u64::BITS {
                (later, used) = (later + 1, 0);
            }
            used += bits;
            Field { word: later, shift: used - bits, bits }
        };
        let mut fields: Vec<_> = bits.iter().rev().map(&mut place).collect();
        fields.reverse();
        fields.iter_mut().for_each(|field| field.word = later - field.word);
        Self { fields, words: later + 1, packed: Vec::new() }
    }

    /// How many numbers a row has.
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.packed.len() / self.words
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Row> {
        (0..self.len()).map(|row| self.get(row))
    }

    /// One row.
    pub fn get(&self, row: usize) -> Row {
        self.numbers(row).collect()
    }

    /// The numbers of one row.
    pub fn numbers(&self, row: usize) -> impl ExactSizeIterator<Item = u32> {
        let words = self.words(row);
        self.fields.iter().map(|field| field.of(words))
    }

    /// One number of a row.
    pub fn number(&self, row: usize, column: usize) -> u32 {
        self.fields[column].of(self.words(row))
    }

    /// Whether each row is less than the next.
    pub fn ascends(&self) -> bool {
        self.packed.chunks_exact(self.words).is_sorted_by(|one, next| one < next)
    }

    /// Where a row is found among some that are in ascending order.
    pub fn find(&self, row: impl IntoIterator<Item = u32>, among: Range<usize>) -> Option<usize> {
        let (row, Range { mut start, mut end }) = (self.pack(row)?, among);
        if let [word] = row[..] {
            return self.packed[start..end].binary_search(&word).ok().map(|place| start + place);
        }
        while start < end {
            let middle = start + (end - start) / 2;
            match self.words(middle).cmp(&row) {
                Ordering::Less => start = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => end = middle,
            }
        }
        None
    }

    pub(super) fn words(&self, row: usize) -> &[u64] {
        &self.packed[row * self.words..][..self.words]
    }

    /// The words of a row, unless a number has too many bits.
    pub(super) fn pack(&self, row: impl IntoIterator<Item = u32>) -> Option<Packed> {
        let mut packed: Packed = smallvec![0; self.words];
        let words = &mut packed[..];
        for (field, number) in self.fields.iter().zip(row) {
            if u64::from(number) >> field.bits != 0 {
                return None;
            }
            words[field.word] |= u64::from(number) << field.shift;
        }
        Some(packed)
    }
}

impl Field {
    fn of(self, words: &[u64]) -> u32 {
        (words[self.word] >> self.shift & ((1 << self.bits) - 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were() {
        let rows = [[0, 7, 1], [3, 0, 0], [u32::MAX, 5, 1]];
        let mut table = Rows::with_bits(&[2, 3, 1]);
        let wide = |table: &Rows| table.words > 1;
        for (number, row) in rows.iter().enumerate() {
            table.push(row);
            assert_eq!(wide(&table), number == 2, "one number is too large for one word");
        }
        assert!(table.iter().eq(rows.iter().map(|row| Row::from_slice(row))));
        assert!(table.ascends());
        for (number, row) in rows.iter().enumerate() {
            assert_eq!(table.find(*row, 0..3), Some(number));
            assert_eq!(table.find(*row, number + 1..3), None);
        }
        table.pop();
        assert_eq!(table.find(rows[2], 0..2), None);
    }

    #[test]
    fn packed_rows_compare_as_their_numbers_do() {
        let bits: Vec<_> = (1..=32).collect();
        let mut table = Rows::with_bits(&bits);
        let largest = |column: usize| u32::MAX >> (32 - bits[column]);
        for column in 0..bits.len() {
            table.push(
                (0..bits.len()).map(|other| if other == column { largest(column) } else { 0 }).collect::<Vec<_>>(),
            );
            table
                .push((0..bits.len()).map(|other| if other > column { largest(other) } else { 0 }).collect::<Vec<_>>());
        }
        let mut rows: Vec<_> = table.iter().collect();
        rows.sort();
        assert!(table.sorted().iter().eq(rows));
        assert!(!table.ascends() && table.sorted().into_owned() != table);
    }
}
