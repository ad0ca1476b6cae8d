//! From a way with open values to an execution.

use tepui_model::program::run::{State, Step};
use tepui_model::program::step::{Frame, Keep, Runner, Stage, Value};
use tepui_model::program::{DEADLOCK, Slot};

use super::goal::agree;
use super::{Execution, Lost, Way};
use crate::program::table::THREAD_LIMIT;
use crate::program::variables::Kept;

/// What the model forgets is left open.
pub(super) struct Forgetting<'l> {
    pub(super) kept: &'l Kept,
}

impl Keep for Forgetting<'_> {
    fn stored(&self, procedure: usize, position: usize, slot: Slot, values: Vec<u32>) -> Vec<Value> {
        let kept = match slot {
            Slot::Shared(number) => self.kept.shared.contains(number),
            Slot::Local(number) => self.kept.at[procedure][position].contains(number),
        };
        if kept { values.into_iter().map(Value::Known).collect() } else { vec![Value::Forgotten] }
    }

    fn forget(&self, frame: &mut Frame) {
        let kept = match frame.stage {
            Stage::Storing => &self.kept.during[frame.procedure][frame.position],
            _ => &self.kept.at[frame.procedure][frame.position],
        };
        for (number, value) in frame.locals.iter_mut().enumerate() {
            if !kept.contains(number) {
                *value = Value::Forgotten;
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
        let wanted: Vec<Value> = match slot {
            Slot::Shared(number) => vec![self.goal.shared[number]],
            Slot::Local(number) => {
                let frames = self.goal.threads.iter().flatten();
                let here = frames.filter(|frame| (frame.procedure, frame.position) == (procedure, position));
                here.map(|frame| frame.locals[number]).collect()
            }
        };
        let open = wanted.is_empty() || wanted.contains(&Value::Forgotten);
        let first = values.first().copied().filter(|_| open);
        let wanted = |value: &u32| Some(*value) == first || wanted.contains(&Value::Known(*value));
        values.into_iter().filter(wanted).map(Value::Known).collect()
    }

    fn unset(&self, _: usize, _: usize, _: Slot) -> Value {
        Value::Unset
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
        DEADLOCK => runner.stuck(&state).is_some(),
        THREAD_LIMIT => way.full,
        _ if label => true,
        _ => {
            let failure = failure(runner, &state, property);
            let fails = failure.is_some();
            steps.extend(failure);
            fails
        }
    };
    if property == DEADLOCK
        && let Some(stuck) = runner.stuck(&state)
    {
        for (number, value) in stuck.shared.iter().enumerate().filter(|(number, _)| state.shared[*number] == Value::Unset) {
            set_before(&mut start, &mut steps, number, *value, usize::MAX);
        }
    }
    choose_at_start(runner, &mut start, &mut steps);
    match violated {
        true => Ok(Execution { start, steps }),
        false => Err(Lost::Refused(format!("the program does not violate {property} there"))),
    }
}

/// Variables that have no value until somebody reads them have the one that is read from the start. One that is written
/// before it is read has none.
fn choose_at_start(runner: &Runner<'_>, start: &mut State, steps: &mut [(usize, Step)]) {
    for number in (0..start.shared.len()).filter(|&number| start.shared[number] == Value::Unset).collect::<Vec<_>>() {
        let Some(end) = steps.iter().position(|(_, step)| step.after.shared[number] != Value::Unset) else { continue };
        let before = end.checked_sub(1).map_or(&*start, |before| &steps[before].1.after);
        let (thread, taken) = &steps[end];
        let leads = |value: &u32| {
            let mut before = before.clone();
            before.shared[number] = Value::Known(*value);
            runner.steps_of(&before, *thread).contains(taken)
        };
        let values = runner.program().values(runner.program().shared[number].kind);
        let fitting: Vec<_> = (0..values).filter(leads).collect();
        if let Some(&value) = fitting.first().filter(|_| fitting.len() < values as usize) {
            set_before(start, steps, number, Value::Known(value), end);
        }
    }
}

/// Gives a shared variable a value at the start and after the first few steps.
fn set_before(start: &mut State, steps: &mut [(usize, Step)], number: usize, value: Value, end: usize) {
    start.shared[number] = value;
    steps.iter_mut().take(end).for_each(|(_, step)| step.after.shared[number] = value);
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
