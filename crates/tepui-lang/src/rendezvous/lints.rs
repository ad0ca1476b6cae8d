//! Rules that can never be taken because of how they are written: as a rule a name is misspelt.

use std::collections::HashSet;

use super::rpds::Block;
use crate::diagnostic::Sink;
use crate::token::tell_unknown as tell;

/// Tells about control states that are never entered and symbols that are never written.
pub(super) fn warn(block: &Block<'_>, sink: &mut Sink) {
    let Some((control, stack)) = &block.init else { return };
    let entered: HashSet<_> = block.rules.iter().map(|rule| rule.to.text).chain([control.text]).collect();
    tell(block.rules.iter().map(|rule| rule.from), &entered, "no rule enters control state", "is never taken", sink);
    let written = block.rules.iter().flat_map(|rule| &rule.right).chain(stack);
    let written: HashSet<_> = written.map(|symbol| symbol.text).collect();
    tell(
        block.rules.iter().filter_map(|rule| rule.top),
        &written,
        "nothing puts on the stack the symbol",
        "is never taken",
        sink,
    );
}
