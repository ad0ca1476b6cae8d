//! Rules that can never fire because of how they are written.
//!
//! A rule looks at the shared state and at the top of its thread's stack. If nothing in the whole text ever enters
//! that shared state, or puts that symbol on a stack of that thread, the rule is dead, and as a rule a name is
//! misspelt. A model with such a slip may be "safe" for the wrong reason, so it is worth a warning. Told only about
//! texts with names: generated files with numbers are full of rules that nobody misses.

use std::collections::HashSet;

use crate::diagnostic::Sink;
use crate::pushdown::assemble::{Block, Draft};
use crate::pushdown::names::Form;
use crate::pushdown::syntax::{Right, RuleText};
use crate::token::tell_unknown as tell;

/// Tells about shared states that are tested and never entered, and symbols that are awaited and never pushed.
pub(super) fn warn(draft: &Draft<'_>, sink: &mut Sink) {
    let Some(init) = draft.init.as_ref().filter(|_| draft.form == Form::Words) else { return };
    let rules = || draft.blocks.iter().flat_map(|block| &block.rules);
    let mut entered: HashSet<_> = rules().map(|rule| rule.to.text).collect();
    entered.insert(init.shared.text);
    let tested = rules().map(|rule| rule.from);
    tell(tested, &entered, "no rule enters shared state", "never fires", sink);
    let stacks: Vec<_> = init.entries.iter().flat_map(|entry| (0..entry.count).map(move |_| &entry.stack)).collect();
    let mut stacks = stacks.into_iter();
    for block in &draft.blocks {
        let initial = stacks.by_ref().take(block.threads.len()).flatten().flatten().map(|token| token.text);
        let produced: HashSet<_> = initial.collect::<Vec<_>>().into_iter().chain(pushed(block)).collect();
        let awaited = block.rules.iter().filter_map(|rule| rule.top);
        tell(awaited, &produced, "nothing puts on the stack the symbol", "never fires", sink);
    }
}

fn pushed<'a>(block: &Block<'a>) -> impl Iterator<Item = &'a str> {
    let right = |rule: &RuleText<'a>| match rule.right {
        Right::Nothing => [None, None],
        Right::One(symbol) => [Some(symbol), None],
        Right::Two { top, below } => [Some(top), Some(below)],
    };
    block.rules.iter().flat_map(right).flatten().map(|token| token.text).collect::<Vec<_>>().into_iter()
}
