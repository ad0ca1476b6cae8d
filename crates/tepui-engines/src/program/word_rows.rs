//! Rows of words, each once, with numbers in the order in which they were found.

use std::hash::Hasher as _;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// Rows of words, of different lengths.
#[derive(Clone, Debug, Default)]
pub struct WordRows {
    words: Vec<u64>,
    /// For each row where it ends.
    ends: Vec<usize>,
    table: HashTable<u32>,
}

impl WordRows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The row with a number.
    #[inline]
    pub fn get(&self, number: u32) -> &[u64] {
        row(&self.words, &self.ends, number)
    }

    /// The number of a row, if it is there.
    #[inline]
    pub fn find(&self, wanted: &[u64]) -> Option<u32> {
        self.table.find(hash(wanted), |&number| self.get(number) == wanted).copied()
    }

    /// The number of a row, which is added if it is not there.
    pub fn intern(&mut self, wanted: &[u64]) -> u32 {
        if let Some(known) = self.find(wanted) {
            return known;
        }
        let number = u32::try_from(self.ends.len()).expect("at most 2^32 rows fit the index");
        self.words.extend_from_slice(wanted);
        self.ends.push(self.words.len());
        let (words, ends) = (&self.words, &self.ends);
        self.table.insert_unique(hash(wanted), number, |&number| hash(row(words, ends, number)));
        number
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
        self.table.clear();
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8 + self.ends.len() * 8 + self.table.capacity() * 5
    }
}

#[inline]
fn row<'a>(words: &'a [u64], ends: &[usize], number: u32) -> &'a [u64] {
    let index = number as usize;
    let start = index.checked_sub(1).map_or(0, |before| ends[before]);
    &words[start..ends[index]]
}

#[inline]
fn hash(words: &[u64]) -> u64 {
    let mut hasher = FxHasher::default();
    words.iter().for_each(|&word| hasher.write_u64(word));
    hasher.finish()
}
