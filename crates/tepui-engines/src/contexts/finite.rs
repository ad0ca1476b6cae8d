//! Evidence from an empty level of enumerated states.

use tepui_core::{Budget, Evidence, Stop};

use super::search::Search;
use crate::explorer::Explorer;
use crate::packed::PackedSet;
use crate::pushdown::evidence::evidence;
use crate::pushdown::obligations::Obligations;
use crate::pushdown::stacks::Stacks;
use crate::pushdown::system::Pushdown;

/// All states are known and have been expanded, so the views of some depth, at the latest that of the highest stack, are
/// closed. Small depths give small certificates and are tried one by one; where they do not do, depths are doubled,
/// because each one costs a pass over the states. The states are given up in the end to make room for the certificate.
pub fn collapsed(search: &mut Search<Stacks>, budget: &mut Budget) -> Result<Evidence, Stop> {
    let Explorer { system, states, crew, .. } = &mut search.explorer;
    let Pushdown { compiled, symmetry, .. } = &*system;
    let all: Vec<u32> = (0..states.len() as u32).collect();
    for depth in (1..=4).chain((3..).map(|exponent| 1 << exponent)) {
        let mut views = Obligations::new(compiled, symmetry, depth);
        views.add(system, states, &all, crew, budget)?;
        budget.spend(all.len() as u64)?;
        let shown: Vec<u32> = (0..views.views.len() as u32).collect();
        views.look_at(&shown, compiled, symmetry, crew, budget)?;
        if views.open() == 0 {
            *states = PackedSet::new([1]);
            let because = "one more context brings no new state, so all states are known".to_owned();
            let lemma = views.into_lemma(compiled, symmetry, crew, budget)?;
            return Ok(evidence(compiled, lemma, "states", because));
        }
    }
    unreachable!("at the height of the highest stack the views are the states, which are closed")
}
