//! Lemmas: inductive sets of views.

use tepui_model::pushdown::Symbol;

/// One inductive set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// How many symbols of each stack a view shows.
    pub depth: u32,
    /// The words and the symbols below them, for each thread.
    pub threads: Vec<LemmaThread>,
    /// The views: a shared state, then for each thread the index of a word in its own list or that of its leader. Each
    /// row stands for all that arise by permuting cells within groups, and has them in ascending order.
    pub views: Rows,
    /// Where not all threads are explored: which are, and at which views.
    pub explored: Vec<Explored>,
}

/// Views at which only some threads are explored. A lemma with any of them is *reduced*: it says that nothing bad happens,
/// but not that there are no other views.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    /// The threads, in ascending order.
    pub threads: Vec<usize>,
    /// The numbers of the views among all in ascending order, in ascending order.
    pub views: Vec<usize>,
}

/// One thread's part of a lemma.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LemmaThread {
    /// An earlier thread with which this one is interchangeable, and which is like no other itself: the words and what
    /// lies below them are listed there, and nothing here.
    pub like: Option<usize>,
    /// The words that occur in views, top first.
    pub words: Vec<Vec<Symbol>>,
    /// For words of `depth` real symbols, what may lie directly beneath.
    pub below: Vec<(Vec<Symbol>, Vec<Symbol>)>,
}

/// A table of numbers with rows of equal width.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows {
    width: usize,
    cells: Vec<u32>,
}

impl Rows {
    /// An empty table. A row has at least one cell.
    pub fn new(width: usize) -> Self {
        assert!(width > 0, "a row has at least one cell");
        Self { width, cells: Vec::new() }
    }

    /// An empty table with room for a number of rows.
    pub fn with_capacity(width: usize, rows: usize) -> Self {
        Self { cells: Vec::with_capacity(width * rows), ..Self::new(width) }
    }

    /// A table with the cells of one row after the other.
    pub fn from_cells(width: usize, cells: Vec<u32>) -> Self {
        assert!(cells.len().is_multiple_of(width), "a row has {width} cells");
        Self { cells, ..Self::new(width) }
    }

    /// Adds a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.cells.extend(row);
        assert!(self.cells.len().is_multiple_of(self.width), "a row has {} cells", self.width);
    }

    /// Removes the last row.
    pub fn pop(&mut self) {
        self.cells.truncate(self.cells.len().saturating_sub(self.width));
    }

    /// The number of cells in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// All rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.cells.chunks_exact(self.width)
    }

    /// One row.
    pub fn get(&self, row: usize) -> &[u32] {
        &self.cells[row * self.width..][..self.width]
    }
}
