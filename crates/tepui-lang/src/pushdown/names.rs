//! Names: of shared states, of symbols, and the names that somebody may have meant.
//!
//! Numbered shared states are never listed, since their number is only declared; a lookup in them is arithmetic. All
//! other names occur in the text one by one, or are bounded by [`LARGEST_RANGE`].

use std::collections::HashMap;

use tepui_model::pushdown::Names;

use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::suggestion::suggestion;
use crate::token::{Fallible, Token};

/// How many names a range may introduce, unless it stands for all shared states.
pub(super) const LARGEST_RANGE: usize = 1 << 16;

/// How names are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Every name is a decimal number, and leading zeros do not matter.
    Numerals,
    /// A name is a word.
    Words,
}

impl Form {
    /// What a word stands for: equal keys are equal names.
    pub(super) fn key<'a>(self, word: Token<'a>) -> Fallible<&'a str> {
        match self {
            Self::Numerals => word.number().map(|_| word.digits()),
            Self::Words => Ok(word.text),
        }
    }
}

/// Names with their numbers, in the order of their first occurrence.
#[derive(Clone, Default, Debug)]
pub(super) struct Interner<'a> {
    order: Vec<&'a str>,
    index: HashMap<&'a str, u32>,
}

impl<'a> Interner<'a> {
    /// The number of a name, and whether it is new.
    pub(super) fn intern(&mut self, name: &'a str) -> (u32, bool) {
        let next = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        let number = *self.index.entry(name).or_insert(next);
        let new = number == next;
        if new {
            self.order.push(name);
        }
        (number, new)
    }

    pub(super) fn get(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    pub(super) fn names(&self) -> &[&'a str] {
        &self.order
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

/// The shared states and how to find them.
#[derive(Clone, Debug)]
pub(super) struct SharedNames {
    names: Names,
    index: HashMap<String, u32>,
}

impl SharedNames {
    pub(super) fn numbers(count: u32) -> Self {
        Self { names: Names::Numbers(count), index: HashMap::new() }
    }

    /// Listed names, which must differ.
    pub(super) fn list(list: Vec<String>) -> Self {
        let index = list.iter().cloned().zip(0..).collect();
        Self { names: Names::List(list), index }
    }

    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// The number of the shared state that a word names.
    pub(super) fn find(&self, word: Token<'_>, form: Form, sink: &mut Sink) -> Option<u32> {
        let key = sink.take(form.key(word))?;
        let found = match &self.names {
            Names::Numbers(count) => canonical(key).filter(|number| number < count),
            Names::List(_) => self.index.get(key).copied(),
        };
        if found.is_none() {
            let error = self.unknown(word, sink);
            sink.push(error);
        }
        found
    }

    fn unknown(&self, word: Token<'_>, sink: &Sink) -> Diagnostic {
        let message = format!("unknown shared state {}", quote(word.text));
        match &self.names {
            Names::Numbers(0) => word.error(message, "there are no shared states"),
            Names::Numbers(1) => word.error(message, "the only shared state is 0"),
            Names::Numbers(count) => word.error(message, format!("the shared states are 0 to {}", count - 1)),
            Names::List(names) => {
                let hint = suggestion(word.text, names.iter().map(String::as_str), sink.is_full(Severity::Error));
                word.error(message, "not declared").hint_if(hint)
            }
        }
    }
}

/// The number that a text spells, if it is spelled without needless zeros.
pub(super) fn canonical(text: &str) -> Option<u32> {
    let plain = text == "0" || !text.starts_with(['0', '+']);
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_numerals() {
        let read: Vec<_> = ["0", "10", "00", "07", "+7", "", "4294967296", "x"].map(canonical).into();
        assert_eq!(read, [Some(0), Some(10), None, None, None, None, None, None]);
    }
}
