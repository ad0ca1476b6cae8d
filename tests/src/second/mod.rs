//! A second reading of programs: its own lexer, parser, name resolution and explorer.
//!
//! It is written from the book's pages on programs, what they do, their data and their dialects, and from nothing
//! else, so that it does not share the mistakes of the reader, the compiler and the interpreter that it is compared
//! with. Where those keep lists of statements, this keeps the tree: a thread's position is a path in the tree of its
//! procedure. A variable has a tree of values: arrays and records are kept as they are.

mod declarations;
mod definitions;
mod explore;
mod expressions;
mod kinds;
mod lexer;
mod operations;
mod parser;
mod position;
mod productions;
mod program;
mod resolve;
mod statements;
mod stepper;
mod steps;
mod terms;
mod tree;
mod values;

use std::collections::BTreeMap;

pub use explore::{Found, Limits, explore};
pub use productions::{PRODUCTIONS, productions};
pub use program::Program;

/// A dialect, as `--dialect` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Tepui's own.
    Tepui,
    /// What SATABS writes.
    Satabs,
    /// What Boppo reads. The book gives it the grammar of SATABS.
    Boppo,
    /// What Getafix reads: the grammar of Boppo, other operators, and another way to start threads.
    Getafix,
}

impl Dialect {
    /// Whether blocks are between braces, rather than between words.
    fn braces(self) -> bool {
        self == Self::Tepui
    }
}

/// What a text says.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The program.
    pub program: Program,
    /// How often each production was used. Those that were not are not there.
    pub productions: BTreeMap<String, usize>,
    /// Whether there is an expression that the two grammars for expressions read differently.
    pub ambiguous: bool,
}

/// Reads a program.
pub fn read(text: &str, dialect: Dialect) -> Result<Reading, String> {
    let lexed = lexer::lex(text)?;
    let mut parser = parser::Parser::new(lexed, dialect);
    let tree = parser.program()?;
    let (mut productions, ambiguous) = parser.counted();
    let (program, counts) = resolve::resolve(&tree, dialect)?;
    for production in counts.into_iter().filter(|_| dialect.braces()) {
        *productions.entry(format!("{}: {production}", productions::family(dialect))).or_default() += 1;
    }
    Ok(Reading { program, productions, ambiguous })
}
