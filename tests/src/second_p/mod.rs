//! A second reading of P: its own lexer, parser, interpreter and explorer.
//!
//! It is written from the description of the language alone, so that it does not share the mistakes of the parser, the
//! compiler and the interpreter that it is compared with. Where those keep lists of instructions, this keeps the tree: a
//! machine stands at places in the text.
//!
//! Left out: tests with parameters, foreign types, project files, what only the deductive back end of P reads, and the
//! checks of types and names. Programs are taken to be well-typed.

mod explore;
mod expressions;
mod lexer;
mod machines;
mod parser;
mod productions;
mod pure;
mod run;
mod setup;
mod state;
mod statements;
mod step;
mod transitions;
mod tree;
mod values;

use std::collections::BTreeMap;

pub use explore::{Found, Limits, explore};
pub use productions::productions;
pub use tree::Program;

/// What a text says.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The program.
    pub program: Program,
    /// How often each production was used. Those that were not are not there.
    pub productions: BTreeMap<String, usize>,
}

/// Reads a program in the old dialect, or in today's.
///
/// # Errors
/// If the text is not in the language.
pub fn read(text: &str, old: bool) -> Result<Reading, String> {
    let mut parser = parser::Parser::new(text, old)?;
    parser.declarations()?;
    // The position of an element of a set depends on the order.
    let uses = |production| parser.used.contains_key(production);
    let seen = uses("type set") && uses("index");
    // A text shows it, which is nobody's business if the text is printed.
    let told = (uses("type set") || uses("type map")) && parser.program.keeps_texts();
    parser.program.ordered |= seen || told;
    Ok(Reading { program: parser.program, productions: parser.used })
}
