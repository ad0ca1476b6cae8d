//! A concrete trace from a chain of symbolic contexts.
//!
//! A violating view picks one stack from each set of the last state. Going back along the links, only the thread that
//! ran has another set before: there a witness of post* says from which stack of the earlier set, and by which rules,
//! the stack came about. At the first state every set is a single stack, the initial one.

use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::languages::Languages;
use super::post_star::PostStar;
use super::search::Search;

/// The steps (thread, rule) from the initial state to a violation of a property that was found.
pub fn concretize(
    search: &Search<Languages>,
    property: usize,
    budget: &mut Budget,
) -> Result<Vec<(usize, usize)>, Stop> {
    let Some(violation) = &search.violations[property] else { return Ok(Vec::new()) };
    let defect = || Stop::GaveUp("a symbolic state could not be made concrete; this is a defect".to_owned());
    let mut stacks = stacks_with(search, violation.state, &violation.view.tops).ok_or_else(defect)?;
    let mut state = violation.state;
    let mut contexts = Vec::new();
    while search.level_of(state) > 0 {
        let link = search.links[state as usize];
        let thread = usize::from(link.thread);
        let kind = search.compiled.kind_of[thread];
        let (before, after) = (search.states.field(link.parent, 0), search.states.field(state, 0));
        let set = search.locals.set(kind, search.states.field(link.parent, thread + 1));
        let saturated = PostStar::new(&search.compiled.kinds[kind], before, set, budget)?;
        let witness = saturated.witness(after, &stacks[thread], budget)?.ok_or_else(defect)?;
        stacks[thread] = witness.origin;
        contexts.push((thread, witness.rules));
        state = link.parent;
    }
    let steps = contexts.into_iter().rev();
    Ok(steps.flat_map(|(thread, rules)| rules.into_iter().map(move |rule| (thread, rule as usize))).collect())
}

fn stacks_with(search: &Search<Languages>, state: u32, tops: &[Symbol]) -> Option<Vec<Vec<Symbol>>> {
    let stack = |(thread, &top): (usize, &Symbol)| {
        let set = search.states.field(state, thread + 1);
        search.locals.set(search.compiled.kind_of[thread], set).shortest(top)
    };
    tops.iter().enumerate().map(stack).collect()
}
