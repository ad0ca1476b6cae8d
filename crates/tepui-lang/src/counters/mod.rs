//! Systems of any number of threads: the text forms of two families of tools.

mod lexer;
mod print;
mod spec;
mod tts;

use tepui_model::counters::Net;

use crate::diagnostic::Diagnostic;

pub use print::print_spec;
pub use spec::read_spec;
pub use tts::{AtStart, read_tts};

/// What was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The model.
    pub net: Net,
    /// What else there is to say.
    pub warnings: Vec<Diagnostic>,
}

/// The source of the model, in diagnostics.
const MAIN: usize = 0;
/// The source of what must not be covered, where it is a text of its own.
const TARGET: usize = 2;

/// The most shared states, places and threads of one line.
const MOST: u32 = 1_000_000;
