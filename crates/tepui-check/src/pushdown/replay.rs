//! Replaying: does a trace execute, step by step, and does it end in a violation?

use tepui_cert::pushdown::Trace;
use tepui_model::pushdown::Model;

use crate::{Rejected, Replayed};

/// Executes a trace on the model and compares every state on the way.
pub fn replay(model: &Model, trace: &Trace) -> Result<Replayed, Rejected> {
    if trace.model != model.digest() {
        return Err(Rejected::new("model", "the trace is about another model (the digests differ)"));
    }
    let stated = model.properties().iter().find(|property| property.never == trace.property.never);
    let Some(property) = stated else {
        let reason = "no property of the model forbids what the trace says it does";
        return Err(Rejected::new(format!("property {}", trace.property.name), reason));
    };
    if trace.start != *model.init() {
        return Err(Rejected::new(
            "start",
            format!("this is not the initial state {}", model.display_state(model.init())),
        ));
    }
    let mut state = trace.start.clone();
    for (number, step) in trace.steps.iter().enumerate() {
        let place = || format!("step {}", number + 1);
        let Some(after) = model.step(&state, step.thread, step.rule) else {
            let reason = format!(
                "rule {} of thread {} does not exist or is not enabled in {}",
                step.rule.saturating_add(1),
                step.thread.saturating_add(1),
                model.display_state(&state)
            );
            return Err(Rejected::new(place(), reason));
        };
        if after != step.after {
            let reason = format!("the step leads to {}, not to the state given", model.display_state(&after));
            return Err(Rejected::new(place(), reason));
        }
        state = after;
    }
    if !property.forbids(state.shared, |thread| state.top(thread)) {
        let reason = format!("the last state {} does not violate {}", model.display_state(&state), property.name);
        return Err(Rejected::new("end", reason));
    }
    Ok(Replayed { property: property.name.clone(), steps: trace.steps.len(), contexts: trace.contexts() })
}
