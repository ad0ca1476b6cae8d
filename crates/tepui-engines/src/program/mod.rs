//! Concurrent Boolean programs.
//!
//! [`table`] turns a program into a pushdown system, with rules for all that may happen; [`retrace`] follows what engines
//! find there on the interpreter.

pub mod retrace;
pub mod table;
