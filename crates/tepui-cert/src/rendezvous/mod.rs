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

    /// Reads the text form, unless its first line tells that it is of another kind.
    pub fn from_text(text: &str) -> Option<Result<Self, Unreadable>> {
        let starts = |head: &str| text.trim_start().starts_with(head);
        if starts(Languages::HEAD) {
            return Some(Languages::from_text(text).map(Self::Languages));
        }
        starts(Views::HEAD).then(|| Views::from_text(text).map(Self::Views))
    }

    /// The model that the proof is about.
    pub fn model(&self) -> Digest {
        match self {
            Self::Languages(languages) => languages.model,
            Self::Views(views) => views.model,
        }
    }
}
