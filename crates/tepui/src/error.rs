//! What can be wrong with a question, as opposed to an answer.

use tepui_cert::Unreadable;
use tepui_check::Rejected;
use tepui_lang::diagnostic::Diagnostic;
use tepui_lang::source::Source;

/// Why a problem cannot be read, or a question not be asked of it.
#[derive(thiserror::Error, Clone, Debug)]
pub enum Error {
    /// No language has the extension of the file.
    #[error("{file} is not a {} file; `tepui languages` lists what can be read", list(known, "or"))]
    UnknownLanguage {
        /// The name of the file.
        file: String,
        /// The extensions that are known.
        known: Vec<String>,
    },
    /// The text is no model.
    #[error("{}", first(diagnostics))]
    Refused {
        /// What is wrong, and where.
        diagnostics: Vec<Diagnostic>,
        /// The texts that the diagnostics point into.
        sources: Vec<Option<Source>>,
    },
    /// An option means nothing to the model or the engine.
    #[error("{0}")]
    Misuse(String),
    /// The model has no such property.
    #[error("the model has no property {name}; it has: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    NoSuchProperty {
        /// The name that was asked for.
        name: String,
        /// The names of those that there are.
        known: Vec<String>,
    },
    /// There are several tests.
    #[error("there are several tests, and one has to be chosen: {}", names.join(", "))]
    SeveralTests {
        /// What they are called.
        names: Vec<String>,
    },
    /// There is no such test.
    #[error("there is no test {name}; there is: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    NoSuchTest {
        /// The name that was asked for.
        name: String,
        /// The names of those that there are.
        known: Vec<String>,
    },
    /// The model has more than can be dealt with.
    #[error("{0}")]
    Unsupported(String),
    /// The user's claim about what may come to light after a pop is wrong.
    #[error("{0}")]
    WrongMatching(String),
}

/// Why evidence does not count.
#[derive(thiserror::Error, Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is not written as evidence is.
    #[error("{0}")]
    Unreadable(#[from] Unreadable),
    /// The checker does not accept it.
    #[error("{0}")]
    Rejected(#[from] Rejected),
}

fn first(diagnostics: &[Diagnostic]) -> &str {
    diagnostics.first().map_or("the text is no model", |diagnostic| diagnostic.message.as_str())
}

/// Things with commas between them, and a word before the last one.
pub(crate) fn list(things: &[String], word: &str) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} {word} {last}", others.join(", ")),
    }
}
