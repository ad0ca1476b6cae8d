//! From above: rows in which queues are summarised, closed under every step, and more precise where that is needed.
//!
//! If no error is among what the rows lead to, none happens, with queues of any length. Otherwise the steps to the error
//! are taken in the program. Either they are real, or at some step a machine takes a letter that its queue does not offer:
//! the summary of that queue stands for too much, and queues of that kind of machine become known more precisely.

use std::sync::Arc;

use tepui_cert::queue::Trace;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::Choices;
use tepui_model::queue::state::{Happens, Takes};
use tepui_model::queue::{NULL, Program};

use super::explorer::Explorer;
use super::slice::Needed;
use super::summary::{Order, Precision};

/// How precise summaries become, one after the other.
const LADDER: [Precision; 6] = [
    Precision::ENDS,
    Precision { prefix: 1, order: Order::Ends, cap: 0 },
    Precision { prefix: 1, order: Order::Ends, cap: 3 },
    Precision { prefix: 2, order: Order::Ends, cap: 3 },
    Precision { prefix: 3, order: Order::Ends, cap: 4 },
    Precision { prefix: 4, order: Order::Ends, cap: 5 },
];

/// What came of it.
pub enum Covered {
    /// None of the errors happens: the rows are the proof.
    Safe(Box<Explorer>),
    /// An error happens.
    Unsafe(Trace),
    /// The rows lead to an error, and it is not known whether it happens. The kind of machine whose queue is not known well
    /// enough, if that is the reason.
    Open(Option<usize>),
}

/// Covers a program until it is known whether some errors happen, or `stop` ends it.
pub fn cover(program: &Arc<Program>, errors: &[Error], stop: &mut dyn FnMut(u64) -> bool) -> Covered {
    let mut levels = vec![0_usize; program.kinds.len()];
    loop {
        let precision = levels.iter().map(|level| LADDER[*level]).collect();
        let mut explorer = Explorer::new(Arc::clone(program), precision, usize::MAX);
        let done = explorer.run(&mut |steps| stop(steps));
        let found = errors.iter().find(|error| explorer.errors().contains_key(error));
        let Some(error) = found else {
            return if done { Covered::Safe(Box::new(explorer)) } else { Covered::Open(None) };
        };
        match follow(program, &explorer, *error) {
            Ok(trace) => return Covered::Unsafe(trace),
            Err(Some(kind)) if levels[kind] + 1 < LADDER.len() => levels[kind] += 1,
            Err(kind) => return Covered::Open(kind),
        }
    }
}

/// Takes the steps to an error in the program; if that is not possible, the kind of the machine that stands in the way.
fn follow(program: &Program, explorer: &Explorer, error: Error) -> Result<Trace, Option<usize>> {
    let trace = explorer.trace(error).ok_or(None)?;
    let needed = Needed::of(program);
    let Ok(mut state) = program.initial() else { return Ok(trace) };
    for (step, letter) in trace.steps.iter().zip(explorer.letters_to(error)) {
        let machine = state.machines.get(step.machine).ok_or(None)?;
        let kind = machine.kind as usize;
        // What it takes in the program must be what it took in the rows.
        let offered = match program.takes(machine) {
            Takes::Stuck => return Err(Some(kind)),
            Takes::Nothing | Takes::Null => None,
            Takes::Letter(place) => Some(needed.letter(&machine.queue[place])),
        };
        let wanted = letter.map(|letter| explorer.tables().letter_of(letter).clone());
        if offered != wanted.filter(|letter| letter.event != NULL) {
            return Err(Some(kind));
        }
        let taken = program.step_of(&state, step.machine, usize::MAX, &mut Choices::of(&step.choices));
        match taken.ok_or(Some(kind))?.result {
            Happens::State(next) => state = next,
            Happens::Error(violation) if violation.error == error => return Ok(trace),
            // A bound that the summary did not decide.
            Happens::Pruned => return Err(Some(kind)),
            _ => return Err(None),
        }
    }
    match program.end(&state) {
        Some(violation) if violation.error == error => Ok(trace),
        // Somebody could go on whose queue seemed to be empty of what he takes, or a bound was not known to be kept.
        _ => Err(trace.steps.last().and_then(|step| Some(state.machines.get(step.machine)?.kind as usize))),
    }
}
