//! What every engine for pushdown models stands on.

pub mod abstraction;
pub mod compiled;
pub mod evidence;
pub mod finite_context;
pub mod generators;
pub mod grams;
pub mod obligations;
pub mod observed;
pub mod returns;
pub mod shorten;
pub mod stacks;
pub mod suspects;
pub mod system;
pub mod trace;
pub mod waiting;
