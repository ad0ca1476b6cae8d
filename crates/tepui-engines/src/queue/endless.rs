//! Handlers that go on for ever while values change on which nothing depends.
//!
//! A loop that counts what nobody asks for never comes back to a state of its machine. It does once the count is forgotten,
//! and what it does then it does whatever the count is. So a trace to such a loop also lists the state before the last step,
//! without the values that are forgotten.

use tepui_cert::queue::{Circle, Step as Listed, Trace};
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::Choices;
use tepui_model::queue::state::{Happens, State};

use super::slice::Needed;

/// A state without what nothing depends on, and what a machine chooses there if its step goes on for ever.
pub(super) fn goes_on(program: &Program, needed: &Needed, state: &State, step: &Listed) -> Option<(State, Vec<u32>)> {
    if !program.forgets.is_empty() {
        // Values are forgotten on which something does depend.
        return None;
    }
    let mut known = state.clone();
    for machine in &mut known.machines {
        needed.forget(machine.kind as usize, &mut machine.local);
        machine.queue.iter_mut().for_each(|letter| *letter = needed.letter(letter));
    }
    let taken = program.step_of(&known, step.machine, usize::MAX, &mut Choices::of(&step.choices))?;
    let endless = matches!(&taken.result, Happens::Error(violation) if violation.error == Error::Diverges);
    endless.then_some((known, taken.choices))
}

/// A trace to a handler that goes on for ever, with the state before its last step if values have to be forgotten there.
pub(super) fn told(program: &Program, needed: &Needed, mut trace: Trace) -> Trace {
    let Ok(mut state) = program.initial(&mut Choices::of(&trace.start)) else { return trace };
    let Some(after) = trace.steps.len().checked_sub(1) else { return trace };
    for (number, step) in trace.steps.iter().enumerate() {
        let Some(taken) = program.step_of(&state, step.machine, usize::MAX, &mut Choices::of(&step.choices)) else {
            break;
        };
        match taken.result {
            Happens::State(next) if number < after => state = next,
            Happens::Error(_) if taken.choices == step.choices => return trace,
            _ if number < after => return trace,
            _ => {}
        }
    }
    if let Some((state, choices)) = goes_on(program, needed, &state, &trace.steps[after]) {
        trace.steps[after].choices = choices;
        trace.circle = Some(Circle { after, state });
    }
    trace
}
