//! From a way with open values to an execution.

use tepui_model::program::run::{State, Step};
use tepui_model::program::step::{Frame, Keep, Runner, Stage, Value};
use tepui_model::program::{DEADLOCK, Slot};

use super::goal::agree;
use super::{Execution, Lost, Way};
use crate::program::table::{Legend, THREAD_LIMIT};

/// What the model forgets is left open.
pub(super) struct Forgetting<'l> {
    pub(super) legend: &'l Legend,
}

impl Keep for Forgetting<'_> {
    fn stored(&self, procedure: usize, position: usize, slot: Slot, values: Vec<u32>) -> Vec<Value> {
        let forgotten = match slot {
            Slot::Shared(number) => self.legend.forgets(number),
            Slot::Local(number) => self.legend.forgets_local(procedure, position, number),
        };
        if forgotten { vec![None] } else { values.into_iter().map(Some).collect() }
    }

    fn forget(&self, frame: &mut Frame) {
        for number in 0..frame.locals.len() {
            let forgotten = match frame.stage {
                Stage::Storing => self.legend.forgets_during(frame.procedure, frame.position, number),
                _ => self.legend.forgets_local(frame.procedure, frame.position, number),
            };
            if forgotten {
                frame.locals[number] = None;
            }
        }
    }
}

/// Values are chosen as a state wants them, or the first that there is.
struct Steer<'s> {
    goal: &'s State,
}

impl Keep for Steer<'_> {
    fn stored(&self, procedure: usize, position: usize, slot: Slot, values: Vec<u32>) -> Vec<Value> {
        let mut wanted: Vec<Value> = match slot {
            Slot::Shared(number) => vec![self.goal.shared[number]],
            Slot::Local(number) => {
                let frames = self.goal.threads.iter().flatten();
                let here = frames.filter(|frame| (frame.procedure, frame.position) == (procedure, position));
                here.map(|frame| frame.locals[number]).collect()
            }
        };
        wanted.sort_unstable();
        wanted.dedup();
        let open = wanted.is_empty() || wanted.contains(&None);
        let first = values.first().copied().filter(|_| open);
        let chosen = values.into_iter().filter(|value| Some(*value) == first || wanted.contains(&Some(*value)));
        chosen.map(Some).collect()
    }

    fn forget(&self, _: &mut Frame) {}
}

/// The execution that goes a way and violates a property at its end.
pub(super) fn execution(
    runner: &Runner<'_>,
    property: &str,
    way: &Way,
    stop: &dyn Fn() -> bool,
) -> Result<Execution, Lost> {
    let initial = runner.initial_keeping(&Steer { goal: &way.first });
    let first = initial.into_iter().find(|state| matches(&way.first, state));
    let mut state = first.ok_or("the program does not start like its model")?;
    let (mut start, mut steps) = (state.clone(), Vec::new());
    for (number, (thread, goal)) in way.steps.iter().enumerate() {
        if stop() {
            return Err(Lost::Stopped);
        }
        let mut taken = runner.steps_keeping(&state, *thread, &Steer { goal }).into_iter();
        let step = taken.find(|step| !step.failed && matches(goal, &step.after));
        let step = step.ok_or("what the model has forgotten matters to the program")?;
        state = step.after.clone();
        match number < way.hidden {
            true => start = state.clone(),
            false => steps.push((*thread, step)),
        }
    }
    let program = runner.program();
    let label = runner.reached(&state).iter().any(|&label| program.unreachable[label].label == property);
    let violated = match property {
        DEADLOCK => runner.stuck(&state),
        THREAD_LIMIT => way.full,
        _ if label => true,
        _ => {
            let failure = failure(runner, &state, property);
            let fails = failure.is_some();
            steps.extend(failure);
            fails
        }
    };
    match violated {
        true => Ok(Execution { start, steps }),
        false => Err(Lost::Refused(format!("the program does not violate {property} there"))),
    }
}

/// The step that fails an assertion.
fn failure(runner: &Runner<'_>, state: &State, property: &str) -> Option<(usize, Step)> {
    let steps = |thread| runner.steps_of(state, thread).into_iter().map(move |step| (thread, step));
    let fails = |step: &Step| step.failed && runner.program().assertion_name(step.at.0, step.at.1) == property;
    (0..state.threads.len()).flat_map(steps).find(|(_, step)| fails(step))
}

/// Whether a state is like one with open values.
fn matches(open: &State, state: &State) -> bool {
    let same = |open: &Frame, frame: &Frame| {
        let plain = Frame { locals: open.locals.clone(), ..frame.clone() };
        plain == *open && agree(&open.locals, &frame.locals)
    };
    agree(&open.shared, &state.shared)
        && open.threads.len() == state.threads.len()
        && open.threads.iter().zip(&state.threads).all(|(open, thread)| {
            open.len() == thread.len() && open.iter().zip(thread).all(|(open, frame)| same(open, frame))
        })
}
