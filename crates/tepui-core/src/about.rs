//! What an answer is about and what else it says, in the terms of the source.

use crate::story::Values;

/// What an answer is about: which threads, what no execution reaches, and whether it can get stuck, which nobody asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct About {
    /// The threads.
    pub threads: String,
    /// What no execution reaches, if there is a proof.
    pub unreached: Vec<Unreached>,
    /// Properties that hold only because what they forbid stands where no execution comes.
    pub vacuous: Vec<String>,
    /// Whether it can get stuck, if that was looked for without being asked for.
    pub stuck: Option<bool>,
}

/// Statements one after the other that no execution reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreached {
    /// The procedure.
    pub procedure: String,
    /// The lines of the first and the last one.
    pub lines: (usize, usize),
    /// The first one.
    pub statement: String,
}

/// What a proof says about lines of the source.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Invariant {
    /// Values that never change.
    pub always: Values,
    /// What holds when a thread is at a line, besides.
    pub lines: Vec<(Place, Values)>,
    /// What holds when two threads are at two lines, besides; nothing, if they never are at the same time.
    pub pairs: Vec<(Place, Place, Option<Values>)>,
}

/// A place in a procedure.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// Where it is among all places.
    pub number: (usize, usize),
    /// The procedure.
    pub procedure: String,
    /// The line, and the number of the statement among those that begin there; none for the end of the procedure.
    pub line: Option<(u32, usize)>,
    /// The statement.
    pub statement: String,
}
