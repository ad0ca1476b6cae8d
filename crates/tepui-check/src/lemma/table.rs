//! Looking up rows of numbers in ascending order.

use tepui_cert::pushdown::Rows;

/// Where the rows begin that have a first number, for each such number; and where they end.
pub(super) struct Index(Vec<u32>);

impl Index {
    /// An index of rows in ascending order.
    pub(super) fn new(rows: &Rows) -> Self {
        let mut starts = Vec::new();
        for row in 0..rows.len() {
            starts.resize(starts.len().max(rows.number(row, 0) as usize + 1), row as u32);
        }
        starts.push(rows.len() as u32);
        Self(starts)
    }

    /// The number of a row, if it is there.
    pub(super) fn find(&self, rows: &Rows, cells: &[u32]) -> Option<u32> {
        let first = cells[0] as usize;
        let (start, end) = (*self.0.get(first)?, *self.0.get(first.checked_add(1)?)?);
        rows.find(cells.iter().copied(), start as usize..end as usize).map(|row| row as u32)
    }
}
