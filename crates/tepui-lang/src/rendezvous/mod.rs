//! Reading and printing communicating pushdown systems.
//!
//! Two forms are read: [`read_rpds`] takes Tepui's own, [`read_spade`] the fragment of the tool SPADE that is a set of
//! pushdown threads. Both may speak of handshakes between a sender and a receiver, which become actions, one for each
//! pair of partners.
//! [`print_rpds`] is the inverse of the first.

mod assemble;
mod handshakes;
mod lints;
mod print;
mod rpds;
mod sets;
mod spade;

use tepui_model::rendezvous::Model;

use crate::diagnostic::Diagnostic;
pub use print::{Unprintable, print_query, print_rpds};
pub use rpds::read_rpds;
pub use spade::read_spade;

/// What a reader understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The model.
    pub model: Model,
    /// What may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
}

/// The most nodes that the automaton of a set of stacks may have.
const LARGEST_SET: usize = 5_000;
