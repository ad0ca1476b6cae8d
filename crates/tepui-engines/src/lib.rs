//! Techniques, one folder each; none knows another. What several of them need stands beside them: [`system`] is what they
//! know of a model, [`explorer`] takes its steps with all [`workers`], [`packed`] holds states and views in a
//! few bytes each, numbered by [`ids`], [`symmetry`] is about interchangeable threads. [`abstraction`] is what a proof by views knows of a model,
//! and [`obligations`] what such a proof still owes. [`pushdown`] is all that has to do with stacks.

pub mod abstraction;
pub mod automata;
pub mod bits;
pub mod closure;
pub(crate) mod components;
pub mod contexts;
pub mod counters;
pub mod delays;
pub mod explored;
pub mod explorer;
pub mod fewest_contexts;
pub mod ids;
pub mod interner;
pub mod obligations;
pub mod observing;
pub mod packed;
pub(crate) mod persistent;
pub mod program;
pub mod proof;
pub mod pushdown;
pub mod queue;
pub mod rendezvous;
pub(crate) mod rows;
pub mod symmetry;
pub mod system;
pub(crate) mod watchers;
pub mod workers;
