//! Evidence about communicating pushdown systems: languages with no word in common, views that no step leaves, and steps
//! that threads take together.

mod languages;
mod read;
mod trace;
mod views;
mod write;

use tepui_model::Digest;

pub use languages::{Automaton, Claim, Direction, Languages};
pub use trace::{Step, Trace};
pub use views::{Forbidden, Frame, Views};

use crate::read::Unreadable;

/// A proof that no reachable state violates the properties.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certificate {
    /// Languages that have no word in common.
    Languages(Languages),
    /// Views that no step leaves.
    Views(Views),
}

impl Certificate {
    /// The text form.
    pub fn to_text(&self) -> String {
        match self {
            Self::Languages(languages) => languages.to_text(),
            Self::Views(views) => views.to_text(),
        }
    }

    /// The first lines that a text may have.
    pub const HEADS: &[&str] = &[Languages::HEAD, Views::HEAD];

    /// Reads the text form; the first line tells which it is.
    pub fn from_text(text: &str) -> Result<Self, Unreadable> {
        if crate::starts_with(text, &[Views::HEAD]) {
            return Views::from_text(text).map(Self::Views);
        }
        Languages::from_text(text).map(Self::Languages)
    }

    /// The model that the proof is about.
    pub fn model(&self) -> Digest {
        match self {
            Self::Languages(languages) => languages.model,
            Self::Views(views) => views.model,
        }
    }
}
