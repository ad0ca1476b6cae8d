//! Certificates about programs: inductive sets of views of the source.
//!
//! A certificate says what it keeps: which shared variables, and for each position of a procedure which local ones. It
//! has a table of shared states, with a value for each variable that is kept, and one of [`Frame`]s: a position of a
//! procedure with values, and what is going on there. Lemmas are those of [pushdown proofs](crate::pushdown), over the
//! numbers of these tables: the n-th shared state is n - 1, the n-th frame is the symbol n, and 0 is the end of a stack.
//!
//! What is not in the tables a thread must pass without being seen. The steps of the program are nowhere in a
//! certificate: the checker takes them from the interpreter.
//!
//! Where any number of threads is created, a [`Crowd`] takes the place of lemmas about a fixed number; where a program has
//! tasks, [`Tasks`] do.

mod crowd;
mod read;
mod tasks;
mod trace;
mod write;

use std::collections::BTreeMap;

use tepui_model::Digest;
use tepui_model::program::Property;
use tepui_model::program::step::Frame;

use crate::pushdown::{Lemma, Regular, Rows};
pub use crowd::Crowd;
pub use tasks::{ANY, Entry, Marking, Node, Pending, Tasks};
pub use trace::{Step, Trace};
pub use write::bits_of;

/// A proof about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The program.
    pub program: Digest,
    /// What is proved; nothing, if the proof is only that the views of the last lemma are all there are.
    pub properties: Vec<Property>,
    /// Which values are told apart.
    pub kept: Kept,
    /// The shared states, in ascending order: for each variable the [number](tepui_model::program::step::Value::number)
    /// of its value.
    pub shared: Rows,
    /// The frames.
    pub frames: Vec<Frame>,
    /// The lemmas, each relative to those before it.
    pub lemmas: Vec<Lemma>,
    /// Regular sets, instead of lemmas.
    pub regular: Option<Regular>,
    /// Lemmas about any number of threads, instead of others.
    pub crowd: Option<Box<Crowd>>,
    /// What tasks do, instead of lemmas, where a program has tasks.
    pub tasks: Option<Box<Tasks>>,
}

/// Which variables are kept, by number, in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// The shared ones.
    pub shared: Vec<usize>,
    /// For each procedure, and positions of it, the local ones; none, where a position is not mentioned.
    pub locals: Vec<Positions>,
    /// The same while a frame waits at that position for results that it stores.
    pub storing: Vec<Positions>,
}

/// Variables that are kept at positions of a procedure.
pub type Positions = BTreeMap<usize, Vec<usize>>;
