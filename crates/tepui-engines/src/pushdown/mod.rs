//! What every engine for pushdown models stands on.

pub mod abstraction;
pub mod compiled;
pub mod finite_context;
