//! Evidence about any number of threads in finitely many places: lemmas that exclude what must not be covered, and steps
//! that cover it.
//!
//! A certificate is a list of lemmas about all reachable states; a lemma may rely on those before it.

mod read;
mod trace;
mod write;

use tepui_model::Digest;
use tepui_model::counters::{Pattern, Property};

pub use trace::{Step, Trace};

/// A proof that no reachable state covers what the properties forbid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// The model.
    pub model: Digest,
    /// The properties.
    pub claims: Vec<Property>,
    /// What holds in every reachable state.
    pub lemmas: Vec<Lemma>,
}

/// Something that holds in every reachable state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lemma {
    /// What all weigh together is bounded.
    Weight(Weight),
    /// Any few of them are in one of these combinations.
    Views(Views),
    /// None of these is covered.
    Never(Vec<Pattern>),
}

/// A weight for each shared state and place: no step makes the sum larger, so it never exceeds a bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Weight {
    /// The bound.
    pub bound: u64,
    /// The weights of shared states that weigh something.
    pub shared: Vec<(u32, u64)>,
    /// The weights of places in which a thread weighs something.
    pub places: Vec<(u32, u64)>,
}

/// What may be seen of so many threads at a time. Where there are fewer, *nobody* takes their place: the number after the last
/// place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Views {
    /// How many threads are seen.
    pub size: usize,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A shared state with the places of some threads, in ascending order.
pub type Row = (u32, Box<[u32]>);

impl Certificate {
    const HEAD: &str = "tepui certificate of counters 1";

    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[Self::HEAD];

    /// The model that the proof is about.
    pub fn model(&self) -> Digest {
        self.model
    }
}
