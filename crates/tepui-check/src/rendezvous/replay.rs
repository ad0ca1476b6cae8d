//! Replaying: does a trace execute, step by step, and does it end in a violation?

use tepui_cert::rendezvous::Trace;
use tepui_model::rendezvous::Model;

use crate::{Rejected, Replayed};

/// Executes a trace on the model and compares every state on the way.
pub fn replay(model: &Model, trace: &Trace) -> Result<Replayed, Rejected> {
    if trace.model != model.digest() {
        return Err(Rejected::new("model", "the trace is about another model (the digests differ)"));
    }
    let stated = model.properties().iter().find(|property| property.digest() == trace.never);
    let Some(property) = stated else {
        let reason = "no property of the model forbids what the trace says it does";
        return Err(Rejected::new(format!("property {}", trace.property), reason));
    };
    if trace.start != *model.init() {
        let init = model.display_state(model.init(), usize::MAX);
        return Err(Rejected::new("start", format!("this is not the initial state {init}")));
    }
    let mut state = trace.start.clone();
    for (number, step) in trace.steps.iter().enumerate() {
        let place = || format!("step {}", number + 1);
        let Some(after) = model.step(&state, &step.moves) else {
            let moves: Vec<_> = step.moves.iter().map(ToString::to_string).collect();
            let before = model.display_state(&state, usize::MAX);
            let reason = format!("{} make no step in {before}", moves.join(", "));
            return Err(Rejected::new(place(), reason));
        };
        if after != step.after {
            let reason =
                format!("the step leads to {}, not to the state given", model.display_state(&after, usize::MAX));
            return Err(Rejected::new(place(), reason));
        }
        state = after;
    }
    if !property.forbids(&state) {
        let last = model.display_state(&state, usize::MAX);
        return Err(Rejected::new("end", format!("the last state {last} does not violate {}", property.name)));
    }
    Ok(Replayed { property: property.name.clone(), steps: trace.steps.len(), contexts: trace.contexts() })
}
