//! What every engine for pushdown models stands on.

pub mod compiled;
pub mod evidence;
pub mod finite_context;
pub mod generators;
pub(crate) mod grams;
pub mod least_set;
pub mod lemma;
pub mod observed;
pub mod prefilter;
pub mod returns;
pub(crate) mod shorten;
pub(crate) mod stack_views;
pub mod stacks;
pub mod system;
pub(crate) mod top_views;
pub mod trace;
pub mod tree;
mod waiting;
pub mod words;
