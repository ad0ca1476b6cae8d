//! Models of concurrent programs and their step semantics.
//!
//! A model says which states there are, which steps each thread may take, and which views are forbidden. Nothing here
//! parses, searches or touches a file. One module for each form of model:
//! [`pushdown`] systems, and [`program`]s with variables and procedures.

mod digest;
pub mod program;
pub mod pushdown;

pub use digest::Digest;
