//! How tables of numbers are made. What is judged is the table that is there, so that nothing here has to be believed.

use std::borrow::Cow;

use super::rows::Rows;

impl Rows {
    /// An empty table for rows of any numbers.
    pub fn new(width: usize) -> Self {
        Self::with_bits(&vec![32; width])
    }

    /// A table of rows that have been packed into a word each: the first number first, the last one lowest.
    pub fn from_words(bits: &[u32], words: Vec<u64>) -> Self {
        let rows = Self::with_bits(bits);
        assert!(rows.words == 1, "a row has one word");
        Self { packed: words, ..rows }
    }

    /// Adds a row. If one of its numbers has too many bits, all may have 32 from now on.
    pub fn push(&mut self, row: impl AsRef<[u32]>) {
        let row = row.as_ref();
        assert!(row.len() == self.width(), "a row has {} numbers", self.width());
        let packed = self.pack(row.iter().copied()).unwrap_or_else(|| {
            let narrow = std::mem::replace(self, Self::new(row.len()));
            narrow.iter().for_each(|row| self.push(row));
            self.pack(row.iter().copied()).unwrap_or_default()
        });
        self.packed.extend_from_slice(&packed);
    }

    /// Makes room for more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.packed.reserve_exact(rows * self.words);
    }

    /// Removes the last row.
    pub fn pop(&mut self) {
        self.packed.truncate(self.packed.len().saturating_sub(self.words));
    }

    /// A table of some rows, with as many bits for each column as they need.
    pub fn of(width: usize, rows: &[impl AsRef<[u32]>]) -> Self {
        let mut union = vec![1; width];
        for row in rows {
            union.iter_mut().zip(row.as_ref()).for_each(|(union, number)| *union |= number);
        }
        let mut table =
            Self::with_bits(&union.iter().map(|union| u32::BITS - union.leading_zeros()).collect::<Vec<_>>());
        rows.iter().for_each(|row| table.push(row));
        table
    }

    /// The rows in ascending order, each once, and for each as it was its number there.
    pub fn ranked(&self) -> (Self, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        order.sort_unstable_by_key(|&number| self.words(number as usize));
        let mut ranks = vec![0; order.len()];
        let mut ranked = Self { packed: Vec::with_capacity(self.packed.len()), ..Self::like(self) };
        let mut last = None;
        for number in order {
            let row = self.words(number as usize);
            if last.replace(row) != Some(row) {
                ranked.packed.extend_from_slice(row);
            }
            ranks[number as usize] = ranked.len() as u32 - 1;
        }
        (ranked, ranks)
    }

    /// The same rows in ascending order.
    pub fn sorted(&self) -> Cow<'_, Self> {
        let rows = || self.packed.chunks_exact(self.words);
        if rows().is_sorted() {
            return Cow::Borrowed(self);
        }
        let mut order: Vec<_> = rows().collect();
        order.sort_unstable();
        Cow::Owned(Self { packed: order.concat(), ..Self::like(self) })
    }

    /// An empty table for rows as those of another.
    fn like(other: &Self) -> Self {
        Self { fields: other.fields.clone(), words: other.words, packed: Vec::new() }
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.width() == other.width() && self.iter().eq(other.iter())
    }
}

impl Eq for Rows {}
