//! A proof from an empty level of enumerated states.

use tepui_core::{Budget, Stop};

use crate::abstraction::Abstraction;
use crate::ids::StateId;
use crate::obligations::Obligations;
use crate::packed::PackedSet;
use crate::proof::Proof;
use crate::system::System;
use crate::workers::Workers;

/// All states are known and have been expanded, so the views of some level are closed, at the latest of one at which views
/// are states. Small levels give small certificates and are tried one by one; where they do not do, levels are doubled,
/// because each one costs a pass over the states. The states are given up in the end to make room for the certificate.
pub fn collapsed<S: System, A: Abstraction<S>>(
    system: &mut S,
    states: &mut PackedSet<StateId>,
    violated: &[bool],
    workers: &Workers,
    budget: &mut Budget,
) -> Result<Proof<A::Certificate>, Stop> {
    let all: Vec<_> = states.ids().collect();
    for level in (1..=4).chain((3..).map(|exponent| 1 << exponent)) {
        let mut views = Obligations::<S, A>::new(system, level);
        views.add(system, states, &all, workers, budget)?;
        budget.spend(all.len() as u64)?;
        let shown: Vec<_> = views.views.ids().collect();
        views.look_at(&shown, system, workers, budget)?;
        if views.open() == 0 {
            *states = PackedSet::new([1]);
            let (abstraction, views, _) = views.into_views();
            let certificate = abstraction.certificate(system, views, None, violated, workers, budget)?;
            let because = "one more context brings no new state, so all states are known".to_owned();
            return Ok(Proof { certificate, because, kind: "states", level });
        }
    }
    unreachable!("at some level views are states, and these are closed")
}
