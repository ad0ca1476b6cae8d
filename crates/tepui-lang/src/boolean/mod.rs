//! Reading and printing concurrent programs with finite data.
//!
//! Three dialects are read: that of Tepui, with braces, and the two of tools for predicate abstraction, with `begin` and
//! `end`. They differ on the surface only: all are read as one syntax tree, whose names are then looked up. The
//! printer writes the dialect of Tepui; what is printed reads back as the same program.

mod c2s;
mod exclusive;
mod expressions;
mod getafix;
mod hints;
mod lints;
mod others;
mod parse;
mod print;
mod resolve;
mod sequentialize;
mod syntax;
mod token;

use tepui_model::program::Program;
pub use tepui_model::program::{DEADLOCK, THREAD_LIMIT};

use crate::diagnostic::{Diagnostic, Sink};
use crate::source::Source;

pub use others::{print_boogie, print_c};
pub use print::{print_head, print_program, print_with_remarks};
pub use sequentialize::{Mistake, Purpose, Sequential, Sequentialized, sequentialize};

/// How a program is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// With braces; variables are 0 at first.
    Tepui,
    /// With `begin` and `end`, as SATABS writes it: one procedure, threads start at labels. Variables are anything at
    /// first.
    Satabs,
    /// With `begin` and `end`, as Boppo reads it: procedures with results. Variables are anything at first.
    Boppo,
    /// The same for Getafix: `init` runs first, then every procedure that nobody calls is a thread. Operators bind as they
    /// do in the dialect of Tepui.
    Getafix,
}

impl Dialect {
    /// The dialect that a text seems to be written in.
    pub fn of(source: &Source) -> Self {
        let tokens = token::tokens(source, &mut Sink::default());
        let words: Vec<_> = tokens.iter().map(|token| token.text).collect();
        match begins_with_a_word(&words) {
            false => Self::Tepui,
            true if words.windows(2).any(|pair| pair == ["start_thread", "goto"]) => Self::Satabs,
            true => Self::Boppo,
        }
    }

    fn has_braces(self) -> bool {
        self == Self::Tepui
    }
}

/// Whether the head of the first procedure is followed by `begin`.
fn begins_with_a_word(words: &[&str]) -> bool {
    let mut rest = words;
    let after = |rest: &[&str], mark: &str| rest.iter().position(|word| *word == mark).map(|found| found + 1);
    loop {
        let end = match rest.first() {
            Some(
                &("decl" | "lock" | "const" | "kind" | "semaphore" | "barrier" | "condition" | "exclusive" | "tasks"),
            ) => ";",
            Some(&("enum" | "record")) => "}",
            _ => break,
        };
        match after(rest, end) {
            Some(next) => rest = &rest[next..],
            None => return false,
        }
    }
    // Several results stand in brackets of their own.
    if let (Some(&"("), Some(end)) = (rest.first(), after(rest, ")")) {
        rest = &rest[end..];
    }
    let head = after(rest, "(").and_then(|open| Some(open + after(&rest[open..], ")")?));
    head.is_some_and(|head| rest.get(head) == Some(&"begin"))
}

/// What a reader understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The program.
    pub program: Program,
    /// What may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a program. Threads must not reach any of the labels given. Where no dialect is given it is found out, and
/// expressions that tools for such programs read in different ways are refused.
pub fn read_program(
    source: &Source,
    chosen: Option<Dialect>,
    unreachable: &[String],
) -> Result<Parsed, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let mut tokens = token::tokens(source, &mut sink);
    let dialect = chosen.unwrap_or_else(|| Dialect::of(source));
    tokens = match dialect.has_braces() {
        true => token::without_dots(tokens),
        false => token::with_braced_names(tokens, source),
    };
    let grammars = expressions::Grammar::of(dialect, chosen.is_some());
    let mut module = parse::Parser::new(tokens, dialect, grammars, &mut sink).module();
    if dialect == Dialect::Getafix {
        module.start = Some(getafix::add_start(&mut module));
    }
    exclusive::write_out(&mut module, &mut sink);
    let program = resolve::resolve(&module, source, dialect, unreachable, &mut sink);
    match program {
        Some(program) if !sink.has_errors() => Ok(Parsed { program, warnings: sink.into_warnings() }),
        _ => Err(sink.into_errors()),
    }
}

/// Reads an asynchronous program in the language of c2s. Its integers are the numbers of a range, which must be given if there are
/// any. Tasks must not reach any of the labels given.
pub fn read_c2s(
    source: &Source,
    integers: Option<(i32, i32)>,
    unreachable: &[String],
) -> Result<Parsed, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let tokens = token::tokens(source, &mut sink);
    let module = match c2s::Parser::new(tokens, integers).module() {
        Ok(module) => module,
        Err(error) => {
            sink.push(error);
            return Err(sink.into_errors());
        }
    };
    let program = resolve::resolve(&module, source, Dialect::Tepui, unreachable, &mut sink);
    match program {
        Some(program) if !sink.has_errors() => Ok(Parsed { program, warnings: sink.into_warnings() }),
        _ => Err(sink.into_errors()),
    }
}
