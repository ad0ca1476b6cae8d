//! Proofs by regular sets of stacks.
//!
//! For each thread there is a list of *languages*: deterministic automata that read stacks from the top, with the marker
//! 0 at the end. A row is a shared state with a language for each thread, and stands for all states with this shared
//! state whose stacks are in the languages. The claim: every reachable state is in some row. It is proved by induction
//! over steps: a step changes the top of one stack, so what it makes of a row must be part of another row.
//!
//! Threads that are interchangeable form groups, as in [`Lemma`](super::Lemma)s: the first thread of a group lists the
//! languages of all, and a row stands for all that arise by permuting languages within groups.

use tepui_model::pushdown::Symbol;

use super::rows::Rows;

/// Rows of regular sets that no step leaves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Regular {
    /// The languages of each thread.
    pub threads: Vec<RegularThread>,
    /// The rows: a shared state, then for each thread the index of a language in its own list or that of its leader.
    pub rows: Rows,
}

/// One thread's languages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RegularThread {
    /// An earlier thread with which this one is interchangeable, and which is like no other itself.
    pub like: Option<usize>,
    /// The languages.
    pub languages: Vec<Language>,
}

/// A deterministic automaton; its first state is the start.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Language {
    /// For each state what it can read, with the state after it; none after the marker, which ends every word.
    pub states: Vec<Vec<(Symbol, Option<u32>)>>,
}
