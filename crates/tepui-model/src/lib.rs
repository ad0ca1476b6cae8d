//! Models of concurrent programs and their step semantics.
//!
//! A model says which states there are, which steps each thread may take, and what is forbidden. Nothing here parses,
//! searches or touches a file. There is one module for each kind of model: [`pushdown`] systems whose threads share a
//! variable, communicating ones whose threads meet in a [`rendezvous`], [`program`]s with variables and procedures,
//! machines with [`queue`]s, and [`counters`] of any number of threads.

pub mod counters;
mod digest;
pub mod program;
pub mod pushdown;
pub mod queue;
pub mod rendezvous;

pub use digest::Digest;

/// The list of kinds, and the only one. `kinds!(each)` expands to `each! { Pushdown => pushdown, ... }`, so that
/// whatever has to exist for every kind follows from this line.
#[macro_export]
macro_rules! kinds {
    ($each:ident) => {
        $each! { Pushdown => pushdown, Rendezvous => rendezvous, Program => program, Queue => queue, Counters => counters }
    };
}
