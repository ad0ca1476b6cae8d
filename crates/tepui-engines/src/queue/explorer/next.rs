//! What comes of one way to take a step.

use tepui_model::queue::evaluate::Error;
use tepui_model::queue::state::Cannot;

/// What comes of a way.
pub(in crate::queue) enum Next {
    /// Another row; and errors, where a summary does not say whether bounds are kept.
    Row(Vec<Error>),
    /// Errors, and nothing else.
    Errors(Vec<Error>),
    /// A queue is full.
    Refused,
    /// Nobody looks at it.
    Nothing,
    /// It cannot be said.
    Unknown(Cannot),
}

impl Next {
    /// Nothing but errors.
    pub(super) fn without_row(errors: Vec<Error>) -> Self {
        if errors.is_empty() { Self::Nothing } else { Self::Errors(errors) }
    }
}
