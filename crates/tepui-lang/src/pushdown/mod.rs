//! Reading and printing concurrent pushdown systems.
//!
//! Two forms are read: [`read_cuba`] takes the numeric one of the tool CUBA, spread over up to four files, and
//! [`read_cpds`] the one with names, all in one file. Both are lines of the same rules and states, so they share
//! lexer, grammar and the way from words to a model; they differ in what surrounds the rules and in what a name is.
//! The printers are their inverses: what is printed reads back as the same model.

mod assemble;
mod cpds;
mod cuba;
mod lints;
mod matching;
mod names;
mod print;
mod syntax;

use tepui_model::pushdown::{Model, Symbol};

use crate::diagnostic::{Diagnostic, Sink};
use crate::source::Source;

pub use cpds::read_cpds;
pub use cuba::{CubaInput, read_cuba};
pub use print::{print_cpds, print_init, print_pds, print_spec};

/// What a reader understood.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parsed {
    /// The model.
    pub model: Model,
    /// The matching pairs, if they were given.
    pub matching: Option<Matching>,
    /// What may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
}

/// For each thread the pairs of a symbol that is popped and a symbol that may surface then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matching(pub Vec<Vec<(Symbol, Symbol)>>);

/// The last steps of every reader: the model, the matching, and what was said on the way.
fn conclude(draft: &assemble::Draft<'_>, matching: Option<&Source>, mut sink: Sink) -> Result<Parsed, Vec<Diagnostic>> {
    let model = assemble::assemble(draft, &mut sink);
    let matching = matching.map(|source| {
        let threads = model.as_ref().map(Model::threads);
        matching::read(source, MATCHING, draft.form, threads, &mut sink)
    });
    match model {
        Some(model) if !sink.has_errors() => Ok(Parsed { model, matching, warnings: sink.into_warnings() }),
        _ => Err(sink.into_errors()),
    }
}

/// The index of the main source in diagnostics.
const MAIN: usize = 0;
/// The index of the source with the initial state.
const INIT: usize = 1;
/// The index of the source with the targets.
const TARGETS: usize = 2;
/// The index of the source with the matching pairs.
const MATCHING: usize = 3;
