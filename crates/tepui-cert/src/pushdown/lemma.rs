//! Lemmas: inductive sets of views.

use tepui_model::pushdown::Symbol;

use super::rows::Rows;

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
