//! From a way with open values to an execution.

use std::rc::Rc;

use tepui_model::program::run::{State, Step};
use tepui_model::program::step::{Few, Frame, Keep, Runner, Value};
use tepui_model::program::{DEADLOCK, Slot};

use super::goal::agree;
use super::{Execution, Lost, Way};
use crate::program::table::THREAD_LIMIT;
use crate::program::variables::Kept;

/// Values are chosen as a state wants them, or the first that there is.
struct Steer<'s> {
    goal: &'s State,
}

impl Keep for Steer<'_> {
    fn stored(&self, procedure: usize, position: usize, slot: Slot, values: &[u32]) -> Few<Value> {
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
        let wanted = |value: &&u32| Some(**value) == first || wanted.contains(&Value::Known(**value));
        values.iter().filter(wanted).copied().map(Value::Known).collect()
    }
}

/// The most steps that are tried.
const MOST_TRIED: usize = 1 << 17;

/// The execution that goes a way and violates a property at its end. Where the program reads a variable that has no value
/// yet, although the model need not, the values are tried one after the other.
pub(super) fn execution(
    runner: &Runner<'_>,
    kept: &Kept,
    property: &str,
    way: &Way,
    stop: &dyn Fn() -> bool,
) -> Result<Execution, Lost> {
    let mut initial = runner.initial_keeping(&Steer { goal: &way.first });
    let known = values_at_start(runner, kept, way);
    for state in &mut initial {
        known.iter().for_each(|&(number, value)| Rc::make_mut(&mut state.shared)[number] = value);
    }
    let first = initial.into_iter().find(|state| matches(&way.first, state));
    let first = first.ok_or("the program does not start like its model")?;
    let mut taken: Vec<Step> = Vec::new();
    let mut open = vec![next_steps(runner, &first, way, 0)];
    for _ in 0..MOST_TRIED {
        if stop() {
            return Err(Lost::Stopped);
        }
        if taken.len() == way.steps.len() {
            let last = taken.last().map_or(&first, |step| &step.after);
            if let Some(end) = violation(runner, property, way, last) {
                return Ok(told(runner, way, first, taken, end));
            }
        } else if let Some(step) = open.last_mut().and_then(Iterator::next) {
            open.push(next_steps(runner, &step.after, way, taken.len() + 1));
            taken.push(step);
            continue;
        }
        open.pop();
        if taken.pop().is_none() {
            break;
        }
    }
    Err(Lost::Refused(format!("the program does not violate {property} where its model does")))
}

/// The steps that lead on along a way.
fn next_steps(runner: &Runner<'_>, state: &State, way: &Way, number: usize) -> std::vec::IntoIter<Step> {
    let Some((thread, goal)) = way.steps.get(number) else { return Vec::new().into_iter() };
    let mut steps = runner.steps_keeping(state, *thread, &Steer { goal });
    steps.retain(|step| step.failed.is_none() && matches(goal, &step.after));
    steps.into_iter()
}

/// What the violation of a property at the end of a way adds to it.
struct End {
    failure: Option<(usize, Step)>,
    stuck: Option<State>,
}

fn violation(runner: &Runner<'_>, property: &str, way: &Way, state: &State) -> Option<End> {
    let program = runner.program();
    let label = runner.reached(state).iter().any(|&label| program.unreachable[label].label == property);
    let (failure, stuck) = match property {
        DEADLOCK => (None, Some(runner.stuck(state)?)),
        THREAD_LIMIT => {
            let thread = way.full?;
            let starts = runner.ways_of(state, thread).into_iter().next()?;
            (Some((thread, starts)), None)
        }
        _ if label => (None, None),
        _ => (Some(failure(runner, state, property)?), None),
    };
    Some(End { failure, stuck })
}

/// The execution: values that are chosen on the way are there from the start.
fn told(runner: &Runner<'_>, way: &Way, mut start: State, taken: Vec<Step>, end: End) -> Execution {
    let threads = way.steps.iter().map(|(thread, _)| *thread);
    let mut steps: Vec<_> = threads.zip(taken).chain(end.failure).collect();
    if let Some(stuck) = end.stuck {
        let last = steps.last().map_or(&start, |(_, step)| &step.after).clone();
        for (number, value) in
            stuck.shared.iter().enumerate().filter(|(number, _)| last.shared[*number] == Value::Unset)
        {
            set_before(&mut start, &mut steps, number, *value, usize::MAX);
        }
    }
    choose_at_start(runner, &mut start, &mut steps);
    Execution { start, steps, hidden: way.hidden }
}

/// The values of shared variables that a way chooses when it first reads them.
fn values_at_start(runner: &Runner<'_>, kept: &Kept, way: &Way) -> Vec<(usize, Value)> {
    let unset = (0..way.first.shared.len()).filter(|&number| way.first.shared[number] == Value::Unset);
    let value = |number: usize| {
        let end = way.steps.iter().position(|(_, state)| state.shared[number] != Value::Unset)?;
        let before = end.checked_sub(1).map_or(&way.first, |before| &way.steps[before].1);
        let (thread, goal) = &way.steps[end];
        let leads = |value: &u32| {
            let mut before = before.clone();
            Rc::make_mut(&mut before.shared)[number] = Value::Known(*value);
            runner.steps_keeping(&before, *thread, kept).iter().any(|step| step.after == *goal)
        };
        let values = runner.program().values(runner.program().shared[number].kind);
        let fitting: Vec<_> = (0..values).filter(leads).collect();
        let value = fitting.first().filter(|_| fitting.len() < values as usize)?;
        Some((number, Value::Known(*value)))
    };
    unset.filter_map(value).collect()
}

/// Variables that have no value until somebody reads them have the one that is read from the start. One that is written
/// before it is read has none.
fn choose_at_start(runner: &Runner<'_>, start: &mut State, steps: &mut [(usize, Step)]) {
    for number in (0..start.shared.len()).filter(|&number| start.shared[number] == Value::Unset).collect::<Vec<_>>() {
        let chosen = |(_, step): &(usize, Step)| step.failed.is_some() || step.after.shared[number] != Value::Unset;
        let Some(end) = steps.iter().position(chosen) else { continue };
        let before = end.checked_sub(1).map_or(&*start, |before| &steps[before].1.after);
        let (thread, taken) = &steps[end];
        let leads = |value: &u32| {
            let mut before = before.clone();
            Rc::make_mut(&mut before.shared)[number] = Value::Known(*value);
            let same = |step: &Step| {
                step.at == taken.at
                    && step.failed == taken.failed
                    && (step.failed.is_some() || step.after == taken.after)
            };
            let steps = runner.steps_to(&before, *thread, &taken.after.shared);
            steps.is_some_and(|steps| steps.iter().any(same))
        };
        let values = runner.program().values(runner.program().shared[number].kind);
        let fitting: Vec<_> = (0..values).filter(leads).collect();
        if let Some(&value) = fitting.first().filter(|_| fitting.len() < values as usize) {
            let end = if steps[end].1.failed.is_some() { steps.len() } else { end };
            set_before(start, steps, number, Value::Known(value), end);
        }
    }
}

/// Gives a shared variable a value at the start and after the first few steps.
fn set_before(start: &mut State, steps: &mut [(usize, Step)], number: usize, value: Value, end: usize) {
    Rc::make_mut(&mut start.shared)[number] = value;
    steps.iter_mut().take(end).for_each(|(_, step)| Rc::make_mut(&mut step.after.shared)[number] = value);
}

/// The step that fails, and violates a property by that.
fn failure(runner: &Runner<'_>, state: &State, property: &str) -> Option<(usize, Step)> {
    let steps = |thread| runner.ways_of(state, thread).into_iter().map(move |step| (thread, step));
    let properties = runner.program().properties(false);
    let wanted = properties.iter().find(|other| other.name == property)?;
    let fails = |step: &Step| step.failed.is_some_and(|goal| wanted.never.contains(&goal));
    (0..state.threads.len()).flat_map(steps).find(|(_, step)| fails(step))
}

/// Whether a state is like one with open values.
fn matches(open: &State, state: &State) -> bool {
    let same = |open: &Frame, frame: &Frame| {
        let plain = Frame { locals: open.locals.clone(), ..frame.clone() };
        plain == *open && fit(&open.locals, &frame.locals)
    };
    fit(&open.shared, &state.shared)
        && open.threads.len() == state.threads.len()
        && open.threads.iter().zip(&state.threads).all(|(open, thread)| {
            open.len() == thread.len() && open.iter().zip(thread).all(|(open, frame)| same(open, frame))
        })
}

/// Whether values are like those that are open. One that the model has not read yet may be any, and
/// one that the program has not read yet may still become what the model took it for: with forgotten
/// values the model may read a variable earlier than the program does.
fn fit(open: &[Value], values: &[Value]) -> bool {
    let unread = |open: &Value, value: &Value| [open, value].contains(&&Value::Unset);
    open.iter().zip(values).all(|(open, value)| unread(open, value) || agree(&[*open], &[*value]))
}
