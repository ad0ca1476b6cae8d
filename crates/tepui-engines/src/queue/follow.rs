//! The steps to an error that rows lead to, taken in the program: either they are real, or somewhere a machine takes a letter
//! that its queue does not offer.

use tepui_cert::queue::{Circle, Step as Listed, Trace};
use tepui_core::text::count;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Choices, Letter};
use tepui_model::queue::state::{Happens, State, Takes};
use tepui_model::queue::{NULL, Program};

use super::endless::goes_on;
use super::explorer::{Explorer, Took};
use super::slice::Needed;

/// What a way of the rows comes to in the program.
pub(super) enum Followed {
    Real(Trace),
    /// Nothing comes of it.
    Spurious(Open),
}

/// Why an error that the rows lead to is open.
#[derive(Default)]
pub(super) struct Open {
    /// The kind of machine whose queue is not known well enough, if that is the reason, and the event that it takes.
    pub(super) at: Option<(usize, Option<u32>)>,
    /// What is known of that queue, and what it is in the program.
    queues: Option<[String; 2]>,
    /// How many steps the rows need to the error.
    steps: usize,
    /// A claim that would settle it.
    pub(super) claim: Option<String>,
}

impl Open {
    /// What stands in the way, in words.
    pub(super) fn told(&self, program: &Program, error: Error) -> String {
        if error == Error::HotForEver {
            return "a spec seems to stay hot for ever, and it is not known whether it does".to_owned();
        }
        let steps = count(self.steps as u64, "step");
        let seem = if self.steps == 1 { "seems" } else { "seem" };
        let about = format!("{steps} {seem} to lead to the error {}", error.name());
        let Some((kind, event)) = self.at else {
            return format!("{about}, and it is not known whether that is so");
        };
        let kind = &program.told.kinds[kind].name;
        let queues = self
            .queues
            .as_ref()
            .map(|[known, real]| format!(" (what is known of its queue: {known}; on this way it is in truth: {real})"));
        let queues = queues.unwrap_or_default();
        match event {
            Some(event) => {
                let question = format!("can {} be the next event that {kind} takes there?", program.event_name(event));
                let claim = match &self.claim {
                    Some(claim) => format!("This claim settles it: --queue-invariant '{claim}'"),
                    None => "A claim about its queue may tell: --queue-invariant".to_owned(),
                };
                format!("{about}: {question}{queues} {claim}")
            }
            None if !program.forgets.is_empty() => {
                format!("{about}, and it is not known whether that is so: it may depend on what is forgotten")
            }
            None => format!("{about}: can the queue of {kind} be without anything to take there?{queues}"),
        }
    }
}

/// Takes the steps to an error in the program.
pub(super) fn follow(program: &Program, explorer: &mut Explorer, error: Error) -> Followed {
    let Some((mut trace, taken)) = explorer.trace_with_letters(error) else {
        return Followed::Spurious(Open::default());
    };
    let mut choices = Choices::of(&trace.start);
    let start = program.initial(&mut choices);
    trace.start = choices.made();
    match followed(program, explorer, start, &trace, &taken, error) {
        Ok((steps, circle)) => {
            (trace.steps, trace.circle) = (steps, circle);
            Followed::Real(trace)
        }
        Err(parting) => {
            let tables = explorer.tables();
            let text = |(known, real): (u32, Vec<Letter>)| {
                let name = |letter: u32| program.event_name(tables.event_of(letter));
                let real: Vec<_> = real.iter().map(|letter| program.event_name(letter.event)).collect();
                [explorer.queue(known).text(&name), if real.is_empty() { "empty".to_owned() } else { real.join(", ") }]
            };
            let Parting { at, queues } = parting;
            let at = at.map(|(kind, letter)| (kind, letter.map(|letter| tables.event_of(letter))));
            Followed::Spurious(Open { at, queues: queues.map(text), steps: trace.steps.len(), claim: None })
        }
    }
}

/// Where the steps of the rows part from those of the program.
#[derive(Default)]
struct Parting {
    /// The kind of machine, and what it takes.
    at: Option<(usize, Option<u32>)>,
    /// The number of what is known of its queue, and the queue in the program.
    queues: Option<(u32, Vec<Letter>)>,
}

impl From<Option<(usize, Option<u32>)>> for Parting {
    fn from(at: Option<(usize, Option<u32>)>) -> Self {
        Self { at, queues: None }
    }
}

/// The steps of the program that those of the rows stand for: more of them, where the rows leave out letters that a machine
/// only ignores. Values may have to be forgotten before the last one.
fn followed(
    program: &Program,
    explorer: &Explorer,
    start: Result<State, Happens>,
    trace: &Trace,
    taken: &[Took],
    error: Error,
) -> Result<(Vec<Listed>, Option<Circle>), Parting> {
    let needed = Needed::of(program);
    let mut steps = Vec::new();
    let mut state = match start {
        Ok(state) => state,
        Err(Happens::Error(violation)) if violation.error == error => return Ok((steps, None)),
        Err(_) => return Err(Parting::default()),
    };
    for (number, (step, took)) in trace.steps.iter().zip(taken).enumerate() {
        ignore(program, explorer, &mut state, step.machine, &mut steps);
        let machine = state.machines.get(step.machine).ok_or_else(Parting::default)?;
        let at = || Parting {
            at: Some((machine.kind as usize, took.letter)),
            queues: Some((took.queue, machine.queue.to_vec())),
        };
        // What it takes in the program must be what it took in the rows.
        let offered = match program.takes(machine) {
            Takes::Stuck => return Err(at()),
            Takes::Nothing | Takes::Null => None,
            Takes::Letter(place) => Some(needed.letter(&machine.queue[place])),
        };
        let wanted = took.letter.map(|letter| explorer.tables().letter_of(letter).clone());
        let same = match (offered, wanted.filter(|letter| letter.event != NULL)) {
            (Some(offered), Some(wanted)) => {
                offered.event == wanted.event && offered.payload.is_meant_by(&wanted.payload, &mut None)
            }
            (offered, wanted) => offered.is_none() && wanted.is_none(),
        };
        if !same {
            return Err(at());
        }
        let taken = program.step_of(&state, step.machine, usize::MAX, &mut Choices::of(&step.choices));
        let taken = taken.ok_or_else(at)?;
        let target = taken.sent.and_then(|(target, _)| state.machines.get(target as usize));
        match taken.result {
            Happens::Error(violation) if violation.error == error => {
                steps.push(Listed { machine: step.machine, choices: taken.choices });
                return Ok((steps, None));
            }
            _ if error == Error::Diverges && number + 1 == trace.steps.len() => {
                let (known, choices) = goes_on(program, &needed, &state, step).ok_or_else(Parting::default)?;
                let circle = Circle { after: steps.len(), state: known };
                steps.push(Listed { machine: step.machine, choices });
                return Ok((steps, Some(circle)));
            }
            Happens::State(next) => {
                steps.push(Listed { machine: step.machine, choices: taken.choices });
                state = next;
            }
            // A bound that the summary did not decide.
            Happens::Pruned => {
                return Err(target.map_or_else(at, |target| Some((target.kind as usize, None)).into()));
            }
            _ => return Err(Parting::default()),
        }
    }
    (0..state.machines.len()).for_each(|machine| ignore(program, explorer, &mut state, machine, &mut steps));
    match program.end(&state).iter().any(|violation| violation.error == error) {
        true => Ok((steps, None)),
        // Somebody could go on whose queue seemed to be empty of what he takes, or a bound was not known to be kept.
        false => {
            let able = state.machines.iter().find(|machine| program.takes(machine) != Takes::Stuck);
            let last = trace.steps.last().and_then(|step| state.machines.get(step.machine));
            Err(able.or(last).map(|machine| (machine.kind as usize, None)).into())
        }
    }
}

/// A machine takes the letters next to each other that it only ignores.
fn ignore(program: &Program, explorer: &Explorer, state: &mut State, machine: usize, steps: &mut Vec<Listed>) {
    while let Some(own) = state.machines.get(machine)
        && let Takes::Letter(place) = program.takes(own)
        && explorer.is_useless(own.kind as usize, own.queue[place].event)
        && let Some(taken) = program.step_of(state, machine, usize::MAX, &mut Choices::of(&[]))
        && let Happens::State(next) = taken.result
    {
        *state = next;
        steps.push(Listed { machine, choices: Vec::new() });
    }
}
