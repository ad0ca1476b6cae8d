//! Rules that can never be taken because of how they are written: as a rule a name is misspelt.

use std::collections::HashSet;

use super::rpds::Block;
use crate::diagnostic::{Severity, Sink, quote};
use crate::suggestion::suggestion;
use crate::token::Token;

/// Tells about control states that are never entered and symbols that are never written.
pub(super) fn warn(block: &Block<'_>, sink: &mut Sink) {
    let Some((control, stack)) = &block.init else { return };
    let entered: HashSet<_> = block.rules.iter().map(|rule| rule.to.text).chain([control.text]).collect();
    tell(block.rules.iter().map(|rule| rule.from), &entered, "no rule enters control state", sink);
    let written = block.rules.iter().flat_map(|rule| &rule.right).chain(stack);
    let written: HashSet<_> = written.map(|symbol| symbol.text).collect();
    tell(block.rules.iter().filter_map(|rule| rule.top), &written, "nothing puts on the stack the symbol", sink);
}

/// One warning for each name, at its first place.
fn tell<'a>(places: impl Iterator<Item = Token<'a>>, known: &HashSet<&str>, what: &str, sink: &mut Sink) {
    let mut told = HashSet::new();
    for place in places {
        if !known.contains(place.text) && told.insert(place.text) {
            let full = sink.is_full(Severity::Warning);
            let mut names: Vec<_> = known.iter().copied().filter(|_| !full).collect();
            names.sort_unstable();
            let hint = suggestion(place.text, names.into_iter(), full);
            let message = format!("{what} {}, so this rule is never taken", quote(place.text));
            sink.push(place.warning(message, "a slip of the pen?").hint_if(hint));
        }
    }
}
