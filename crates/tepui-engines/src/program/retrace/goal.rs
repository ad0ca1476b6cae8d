//! A state of the model, in terms of the program.

use tepui_model::program::step::{self, Runner, Stage, Value};
use tepui_model::program::{self, run::State};

/// A state of an engine, in the terms of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Situation {
    /// The values of the shared variables.
    pub shared: Vec<Value>,
    /// For each thread its frames, the topmost one last; none, if that is not known.
    pub threads: Vec<Option<Vec<Frame>>>,
}

/// A frame of an engine, in the terms of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The procedure.
    pub procedure: usize,
    /// The position.
    pub position: usize,
    /// The values of the local variables.
    pub locals: Vec<Value>,
    /// How it has failed there, if it has.
    pub failed: Option<program::Goal>,
    /// What it does.
    pub stage: Stage,
}

/// What the program's state must be like.
pub(super) struct Goal {
    shared: Vec<Value>,
    /// For each thread of the program that is where the engine says its frames; none, if nothing is known of it.
    threads: Vec<(usize, Option<Vec<Frame>>)>,
    choices: bool,
    /// How many threads must have been started.
    started: usize,
    /// Who has just moved: if the engine says that its assertion failed, it must be able to. Of others that has been seen.
    actor: Option<usize>,
    /// Whom it has woken.
    woken: Vec<usize>,
}

impl Goal {
    pub(super) fn new(threads: &[Option<usize>], arrived: &[bool], situation: &Situation) -> Self {
        let known = threads.iter().enumerate().filter_map(|(thread, number)| Some((thread, (*number)?)));
        let known: Vec<_> = known.map(|(thread, number)| (thread, number, situation.threads[thread].clone())).collect();
        let started = known.iter().map(|(_, number, _)| number + 1).max().unwrap_or(0);
        let choices = known.iter().any(|(.., frames)| frames.is_none());
        let known = known.into_iter().filter(|(thread, ..)| arrived[*thread]);
        let threads = known.map(|(_, number, frames)| (number, frames)).collect();
        Self { shared: situation.shared.clone(), threads, choices, started, actor: None, woken: Vec::new() }
    }

    /// The same, after a thread of the program has moved and woken others.
    pub(super) fn of(self, actor: usize, woken: Vec<usize>) -> Self {
        Self { actor: Some(actor), woken, ..self }
    }

    /// Whether values of local variables are still to be chosen.
    pub(super) fn has_choices(&self) -> bool {
        self.choices
    }

    pub(super) fn is_met(&self, runner: &Runner<'_>, state: &State) -> bool {
        agree(&self.shared, &state.shared)
            && state.threads.len() >= self.started
            && self.woken.iter().all(|&thread| !is_asleep(state, thread))
            && self.threads.iter().all(|(thread, frames)| match (state.threads.get(*thread), frames) {
                (Some(_), None) => true,
                (Some(found), Some(frames)) => {
                    frames.len() == found.len()
                        && frames.iter().enumerate().all(|(depth, frame)| {
                            let top = depth + 1 == frames.len();
                            stands(runner, frame, &found[depth], top)
                                && (self.actor != Some(*thread) || fails(runner, state, *thread, frame))
                        })
                }
                (None, _) => false,
            })
    }
}

fn is_asleep(state: &State, thread: usize) -> bool {
    let top = state.threads.get(thread).and_then(|frames| frames.last());
    top.is_some_and(|frame| matches!(frame.stage, Stage::Asleep(_)))
}

/// Whether `main` stands where it does at the start.
pub(super) fn is_at_start(runner: &Runner<'_>, main: Option<usize>, state: &State) -> bool {
    match (main, state.threads[0].last()) {
        (Some(position), Some(frame)) => {
            runner.first_of(frame.procedure, frame.position) == runner.first_of(frame.procedure, position)
        }
        (None, None) => true,
        _ => false,
    }
}

/// Whether values agree, where both are known.
pub(super) fn agree(one: &[Value], other: &[Value]) -> bool {
    let open = |value: &Value| *value == Value::Forgotten;
    one.iter().zip(other).all(|(one, other)| open(one) || open(other) || one == other)
}

fn stands(runner: &Runner<'_>, frame: &Frame, found: &step::Frame, top: bool) -> bool {
    if frame.procedure != found.procedure {
        return false;
    }
    let procedure = frame.procedure;
    let same = match (found.stage, frame.stage) {
        // One that the model lets sleep may be awake: it need not move.
        (Stage::Running, Stage::Running | Stage::Asleep(_)) if top => {
            runner.first_of(procedure, found.position) == runner.first_of(procedure, frame.position)
        }
        (Stage::Asleep(on), Stage::Asleep(condition)) if top => found.position == frame.position && on == condition,
        (Stage::Storing, Stage::Storing) if !top => found.position == frame.position,
        // The model's frame waits, or is already where it goes on.
        (Stage::Waiting, Stage::Waiting | Stage::Running) if !top => found.position == frame.position,
        _ => false,
    };
    same && agree(&frame.locals, &found.locals)
}

fn fails(runner: &Runner<'_>, state: &State, thread: usize, frame: &Frame) -> bool {
    frame.failed.is_none() || runner.ways_of(state, thread).iter().any(|step| step.failed == frame.failed)
}
