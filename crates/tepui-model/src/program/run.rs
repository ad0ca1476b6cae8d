//! What a program does: states of all its threads, and the steps between them.
//!
//! Threads are interleaved in every possible way, one step at a time. While a thread is uninterrupted no other one
//! moves, even if it is blocked. A thread that returns from its first procedure has ended. What a step is, [`step`]
//! says; here it is put into a whole state. In a program with tasks, one of them runs alone until it ends or yields; then one
//! of those that are pending is next ([`Order`](super::Order)).
//!
//! [`step`]: super::step

use super::Goal;
use super::step::{Effect, Frame, Keep, KeepAll, Runner, Shared, Stage, Stored, Woken};

/// A state: everything that the future depends on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// The values of the shared variables.
    pub shared: Shared,
    /// The threads, in the order in which they were started.
    pub threads: Vec<Thread>,
    /// The tasks that are pending, in the order in which they became it, where a program has tasks.
    pub pending: Vec<usize>,
}

/// The procedures that a thread is in, the last one called at the end. None, if it has ended.
pub type Thread = Vec<Frame>;

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The statement that was executed: the procedure and the position.
    pub at: (usize, usize),
    /// How it failed, if it did. Then nothing changed.
    pub failed: Option<Goal>,
    /// The state afterwards.
    pub after: State,
}

impl Runner<'_> {
    /// Whether a thread may take a step, as far as others are concerned.
    fn has_turn(&self, state: &State, thread: usize) -> bool {
        if let Some(order) = self.program().order {
            return self.may_run(state, thread, order);
        }
        let holds = |(_, other): &(usize, &Thread)| other.last().is_some_and(|top| self.is_uninterrupted(top));
        !state.threads.iter().enumerate().filter(|(other, _)| *other != thread).any(|other| holds(&other))
    }

    /// The states in which the program may start.
    pub fn initial(&self) -> Vec<State> {
        self.initial_keeping(&KeepAll)
    }

    /// The same, where some values may be left open.
    pub fn initial_keeping(&self, keep: &dyn Keep) -> Vec<State> {
        let (shared, frames) = self.start(keep);
        frames
            .into_iter()
            .map(|frame| State { shared: shared.clone(), threads: vec![vec![frame]], pending: Vec::new() })
            .collect()
    }

    /// All steps that a thread can take.
    pub fn steps_of(&self, state: &State, thread: usize) -> Vec<Step> {
        self.steps_keeping(state, thread, &KeepAll)
    }

    /// The same, where some values may be left open.
    pub fn steps_keeping(&self, state: &State, thread: usize, keep: &dyn Keep) -> Vec<Step> {
        let Some(frame) = state.threads[thread].last().filter(|_| self.has_turn(state, thread)) else {
            return Vec::new();
        };
        let at = (frame.procedure, self.first_of(frame.procedure, frame.position));
        let mut steps = Vec::new();
        for (shared, effect) in self.steps(&state.shared, frame, keep) {
            let after = self.after(state, thread, shared, (effect, at), keep);
            steps.extend(after.into_iter().map(|(failed, mut after)| {
                if failed.is_none() && self.program().order.is_some() {
                    after.update_pending(thread, state.threads.len());
                }
                Step { at, failed, after }
            }));
        }
        steps.dedup();
        steps
    }

    /// The states that a step leads to: one, but for a return whose results may be stored in several ways or in none, and
    /// for a signal that may wake several threads. If it fails, that is said.
    fn after(
        &self,
        state: &State,
        thread: usize,
        shared: Shared,
        (effect, at): (Effect, (usize, usize)),
        keep: &dyn Keep,
    ) -> Vec<(Option<Goal>, State)> {
        let mut after = State { shared, ..state.clone() };
        let stack = &mut after.threads[thread];
        match effect {
            Effect::Become(frame) => replace(stack, frame),
            Effect::Call { caller, callee } => {
                replace(stack, caller);
                stack.push(callee);
            }
            Effect::Return(results) => {
                stack.pop();
                let Some(waiting) = stack.pop() else { return Vec::new() };
                let resumed = self.resume(&after.shared, &waiting, &results, keep);
                let state = |stored: Stored| match stored {
                    Ok((shared, frame)) => {
                        let mut after = State { shared, ..after.clone() };
                        after.threads[thread].push(frame);
                        (None, after)
                    }
                    Err(failure) => (Some(failure.at((waiting.procedure, waiting.position))), state.clone()),
                };
                return resumed.into_iter().map(state).collect();
            }
            Effect::End => stack.clear(),
            Effect::Start { next, started } => {
                replace(stack, next);
                after.threads.extend(started.into_iter().map(|frame| vec![frame]));
            }
            Effect::Wake(next, woken) => {
                replace(stack, next);
                return awoken(after, woken).into_iter().map(|state| (None, state)).collect();
            }
            Effect::Fail(failure) => return vec![(Some(failure.at(at)), state.clone())],
        }
        vec![(None, after)]
    }
}

/// The states in which threads that sleep have been woken.
fn awoken(mut state: State, woken: Woken) -> Vec<State> {
    let sleeps = |thread: &Thread| thread.last().is_some_and(|top| top.stage == Stage::Asleep(woken.condition));
    let wake = |thread: &mut Thread| {
        if let Some(top) = thread.last_mut() {
            top.stage = Stage::Running;
        }
    };
    let mut asleep = (0..state.threads.len()).filter(|&thread| sleeps(&state.threads[thread])).collect::<Vec<_>>();
    if woken.all || asleep.is_empty() {
        asleep.drain(..).for_each(|thread| wake(&mut state.threads[thread]));
        return vec![state];
    }
    let with = |thread: usize| {
        let mut state = state.clone();
        wake(&mut state.threads[thread]);
        state
    };
    asleep.into_iter().map(with).collect()
}

fn replace(stack: &mut Thread, frame: Frame) {
    stack.pop();
    stack.push(frame);
}
