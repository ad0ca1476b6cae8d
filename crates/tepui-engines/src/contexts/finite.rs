//! Evidence from an empty level of enumerated states.

use tepui_core::{Budget, Evidence, Stop};

use super::search::Search;
use crate::packed::PackedSet;
use crate::pushdown::abstraction::{Abstraction, Fence, Fixpoint};
use crate::pushdown::evidence::evidence;
use crate::pushdown::stacks::Stacks;
use crate::pushdown::system::Pushdown;

/// All states are known, so the views of some depth, at the latest that of the highest stack, form an inductive set.
/// Small depths give small certificates and are tried one by one; where they do not do, depths are doubled, because
/// each one costs a pass over the states. The states are given up in the end to make room for the certificate.
pub fn collapsed(search: &mut Search<Stacks>, budget: &mut Budget) -> Result<Evidence, Stop> {
    let explorer = &mut search.explorer;
    for depth in (1..=4).chain((3..).map(|exponent| 1 << exponent)) {
        let mut set = views_of_depth(&explorer.system, &explorer.states, depth, budget)?;
        if set.fixpoint(usize::MAX, Fence::Preloaded, budget)? == Fixpoint::Complete {
            explorer.states = PackedSet::new([1]);
            let because = "one more context brings no new state, so all states are known".to_owned();
            return Ok(evidence(&explorer.system.compiled, set.into_lemma(), "states", because));
        }
    }
    unreachable!("at the height of the highest stack the views are the states, which are closed")
}

fn views_of_depth<'c>(
    system: &'c Pushdown<Stacks>,
    states: &PackedSet,
    depth: usize,
    budget: &mut Budget,
) -> Result<Abstraction<'c>, Stop> {
    let Pushdown { compiled, locals, symmetry } = system;
    let mut set = Abstraction::new(compiled, symmetry, depth);
    let mut words: Vec<Vec<Option<u32>>> =
        compiled.kind_of.iter().map(|&kind| vec![None; locals.count(kind)]).collect();
    let mut row = vec![0; compiled.threads() + 1];
    for state in 0..states.len() as u32 {
        states.get(state, &mut row);
        for (thread, words) in words.iter_mut().enumerate() {
            let stack = row[thread + 1];
            let word = || set.word_of(thread, &locals.word(compiled.kind_of[thread], stack, depth));
            row[thread + 1] = *words[stack as usize].get_or_insert_with(word);
        }
        set.preload(&mut row);
        budget.spend(1)?;
    }
    Ok(set)
}
