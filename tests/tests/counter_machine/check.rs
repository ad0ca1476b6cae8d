//! Whether a claim holds, and whether a path is an execution: by the definition of the machine alone.

use std::collections::BTreeSet;

use crate::model::{Machine, State};
use crate::views::Claim;

/// The counters that a view stands for, as far as they behave differently. Of those beyond the level all but the least
/// behave alike: they stay beyond it, or come to it, with one step.
fn meanings(claim: &Claim, counter: u32) -> Vec<u32> {
    match (counter < claim.level, claim.beyond) {
        (true, _) | (false, false) => vec![counter],
        (false, true) => vec![claim.level, claim.level + 1, claim.level + 2],
    }
}

/// Whether the views hold the initial state and are closed under every step, and no property is violated that is claimed to
/// hold. The error says what is wrong.
pub(crate) fn check(machine: &Machine, claim: &Claim) -> Result<(), String> {
    let views: BTreeSet<&State> = claim.views.iter().collect();
    if !views.contains(&machine.initial()) {
        return Err("the initial state is missing".to_owned());
    }
    for view @ (shared, positions, counter) in &claim.views {
        for property in (0..machine.properties.len()).filter(|&property| claim.proved[property]) {
            if machine.violates(property, view) {
                return Err(format!("{view:?} violates property {property}"));
            }
        }
        for counter in meanings(claim, *counter) {
            let state = (*shared, positions.clone(), counter);
            for next in (0..positions.len()).flat_map(|thread| machine.successors(&state, thread)) {
                if next.2 > claim.level && !claim.beyond {
                    return Err(format!("{state:?} leads beyond the counters allowed"));
                }
                if !views.contains(&(next.0, next.1.clone(), next.2.min(claim.level))) {
                    return Err(format!("{state:?} leads to {next:?}"));
                }
            }
        }
    }
    Ok(())
}

/// Whether a path is an execution that ends with a violation.
pub(crate) fn replay(machine: &Machine, property: usize, path: &[(usize, State)]) -> Result<(), String> {
    let mut state = machine.initial();
    for (thread, next) in path {
        if !machine.successors(&state, *thread).contains(next) {
            return Err(format!("thread {thread} does not lead from {state:?} to {next:?}"));
        }
        state = next.clone();
    }
    if machine.violates(property, &state) { Ok(()) } else { Err(format!("{state:?} violates nothing")) }
}
