//! Which tasks a scheduler has delayed in an execution.

use tepui_core::story::{Mark, Story};
use tepui_model::program::run::{State, Step};
use tepui_model::program::schedulers::{Memory, Scheduler};
use tepui_model::program::step::Runner;

/// Marks the steps with which tasks are dispatched, where a scheduler has delayed others before.
pub(super) fn mark(
    story: &mut Story,
    scheduler: &dyn Scheduler,
    runner: &Runner<'_>,
    start: &State,
    steps: &[(usize, Step)],
) {
    let (mut memory, mut before) = (scheduler.start(), start);
    for (told, (task, step)) in story.steps.iter_mut().zip(steps) {
        if before.running().is_none() {
            let Some(delayed) = taken(scheduler, runner, &mut memory, before, *task) else { return };
            told.marks.extend(delayed.into_iter().map(Mark::Delayed));
        }
        let known = before.threads.len();
        (known..step.after.threads.len()).for_each(|posted| scheduler.give(&mut memory, posted as u32, true));
        if step.after.pending.contains(task) {
            scheduler.give(&mut memory, *task as u32, false);
        }
        before = &step.after;
    }
}

/// Takes a task, or one that is the same but for its number, and says which were delayed.
fn taken(
    scheduler: &dyn Scheduler,
    runner: &Runner<'_>,
    memory: &mut Memory,
    state: &State,
    task: usize,
) -> Option<Vec<usize>> {
    let blocked = |other: u32| runner.is_blocked(state, other as usize);
    let mut delayed = Vec::new();
    for _ in 0..=state.pending.len() {
        let front = scheduler.take(memory, &blocked)? as usize;
        if state.threads[front] == state.threads[task] {
            // The two change places.
            let own = memory.iter_mut().rev().find(|other| **other == task as u32).filter(|_| front != task);
            own.into_iter().for_each(|other| *other = front as u32);
            return Some(delayed);
        }
        scheduler.delay(memory, front as u32);
        delayed.push(front);
    }
    None
}
