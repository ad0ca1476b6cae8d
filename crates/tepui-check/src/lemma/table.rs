//! Looking up rows of numbers in ascending order.

use tepui_cert::pushdown::Rows;

/// Where the rows begin that have a first number, for each such number; and where they end.
pub(super) struct Index(Vec<u32>);

impl Index {
    /// An index of rows in ascending order.
    pub(super) fn new(rows: &Rows) -> Self {
        let mut starts = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            starts.resize(starts.len().max(row[0] as usize + 1), number as u32);
        }
        starts.push(rows.len() as u32);
        Self(starts)
    }

    /// The number of a row, if it is there.
    pub(super) fn find(&self, rows: &Rows, cells: &[u32]) -> Option<u32> {
        let first = cells[0] as usize;
        let (mut low, mut high) = (*self.0.get(first)?, *self.0.get(first.checked_add(1)?)?);
        while low < high {
            let middle = low + (high - low) / 2;
            match rows.get(middle as usize).cmp(cells) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}
