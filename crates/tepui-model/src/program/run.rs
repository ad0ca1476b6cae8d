//! What a program does: states of all its threads, and the steps between them.
//!
//! Threads are interleaved in every possible way, one step at a time. While a thread is uninterrupted no other one
//! moves, even if it is blocked. A thread that returns from its first procedure has ended. What a step is, [`step`]
//! says; here it is put into a whole state.
//!
//! [`step`]: super::step

use super::step::{Effect, Frame, Keep, KeepAll, Runner, Stage, Stored, Value, Woken};
use super::{Action, Goal, Kind, Program, Slot};

/// A state: everything that the future depends on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// The values of the shared variables.
    pub shared: Vec<Value>,
    /// The threads, in the order in which they were started.
    pub threads: Vec<Thread>,
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

impl State {
    /// The thread that no other may interrupt.
    pub fn uninterrupted(&self, runner: &Runner<'_>) -> Option<usize> {
        self.threads.iter().position(|thread| thread.last().is_some_and(|top| runner.is_uninterrupted(top)))
    }

    /// Whether a thread may take a step, as far as others are concerned.
    pub(crate) fn has_turn(&self, runner: &Runner<'_>, thread: usize) -> bool {
        let holds = |(_, other): &(usize, &Thread)| other.last().is_some_and(|top| runner.is_uninterrupted(top));
        !self.threads.iter().enumerate().filter(|(other, _)| *other != thread).any(|other| holds(&other))
    }
}

impl Runner<'_> {
    /// The states in which the program may start.
    pub fn initial(&self) -> Vec<State> {
        self.initial_keeping(&KeepAll)
    }

    /// The same, where some values may be left open.
    pub fn initial_keeping(&self, keep: &dyn Keep) -> Vec<State> {
        let program: &Program = self.program();
        let Some(main) = program.procedures.get(program.main) else { return Vec::new() };
        let position = main.body.first().copied().unwrap_or(main.statements.len());
        let shared = program.shared.iter().enumerate().map(|(number, variable)| {
            let slot = Slot::Shared(number);
            match variable.init {
                Some(value) => keep.stored(program.main, position, slot, vec![value])[0],
                None => keep.unset(program.main, position, slot),
            }
        });
        let shared: Vec<_> = shared.collect();
        let frames = self.first_frames(program.main, &[], keep);
        frames.into_iter().map(|frame| State { shared: shared.clone(), threads: vec![vec![frame]] }).collect()
    }

    /// All steps that a thread can take.
    pub fn steps_of(&self, state: &State, thread: usize) -> Vec<Step> {
        self.steps_keeping(state, thread, &KeepAll)
    }

    /// The same, where some values may be left open.
    pub fn steps_keeping(&self, state: &State, thread: usize, keep: &dyn Keep) -> Vec<Step> {
        let Some(frame) = state.threads[thread].last().filter(|_| state.has_turn(self, thread)) else {
            return Vec::new();
        };
        let at = (frame.procedure, self.first_of(frame.procedure, frame.position));
        let mut steps = Vec::new();
        for (shared, effect) in self.steps(&state.shared, frame, keep) {
            let after = self.after(state, thread, shared, (effect, at), keep);
            steps.extend(after.into_iter().map(|(failed, after)| Step { at, failed, after }));
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
        shared: Vec<Value>,
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
                        let mut after = State { shared, threads: after.threads.clone() };
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

    /// The labels, of those that must not be reached, at which a thread stands.
    pub fn reached(&self, state: &State) -> Vec<usize> {
        let tops = || state.threads.iter().filter_map(|thread| thread.last());
        let stands = |label: &usize| tops().any(|top| self.stands_at_label(top, *label));
        (0..self.program().unreachable.len()).filter(stands).collect()
    }

    /// Whether a frame stands at one of the labels that must not be reached.
    pub(crate) fn stands_at_label(&self, frame: &Frame, label: usize) -> bool {
        let target = &self.program().unreachable[label];
        frame.procedure == target.procedure
            && self.stands_at(frame.procedure, frame.position).contains(&target.position)
    }

    /// Whether some thread has not ended and none can take a step: for some values of variables that have none yet, the same
    /// for all threads. Those are given to it.
    pub fn stuck(&self, state: &State) -> Option<State> {
        if state.threads.iter().all(Vec::is_empty) {
            return None;
        }
        let unset = (0..state.threads.len()).find_map(|thread| self.decisive(state, thread));
        let Some((owner, slot, kind)) = unset else {
            let stuck = (0..state.threads.len()).all(|thread| self.steps_of(state, thread).is_empty());
            return stuck.then(|| state.clone());
        };
        (0..self.program().values(kind)).find_map(|value| {
            let mut given = state.clone();
            match slot {
                Slot::Shared(number) => given.shared[number] = Value::Known(value),
                Slot::Local(number) => given.threads[owner.0][owner.1].locals[number] = Value::Known(value),
            }
            self.stuck(&given)
        })
    }

    /// A variable without a value on which it may depend whether a thread is blocked, with the frame that it belongs to.
    fn decisive(&self, state: &State, thread: usize) -> Option<((usize, usize), Slot, Kind)> {
        let stack = &state.threads[thread];
        let top = stack.last()?;
        let program = self.program();
        let action = self.action(top.procedure, self.first_of(top.procedure, top.position));
        // What is mentioned in the frame on top, in one that it may return to, and in one that it may call.
        let mut mentioned: Vec<(usize, Slot)> = Vec::new();
        let own = stack.len() - 1;
        action.into_iter().for_each(|action| action.slots(&mut |slot| mentioned.push((own, slot))));
        for depth in (0..stack.len()).rev().take(2) {
            let enforced = &program.procedures[stack[depth].procedure].enforced;
            enforced.iter().for_each(|condition| condition.slots(&mut |slot| mentioned.push((depth, slot))));
        }
        if let Some(Action::Call { procedure, .. }) = action {
            let shared = |slot: Slot| matches!(slot, Slot::Shared(_));
            let enforced = program.procedures[*procedure].enforced.iter();
            enforced.for_each(|condition| {
                condition.slots(&mut |slot| mentioned.extend(shared(slot).then_some((own, slot))));
            });
        }
        mentioned.into_iter().find_map(|(depth, slot)| {
            let value = match slot {
                Slot::Shared(number) => state.shared[number],
                Slot::Local(number) => stack[depth].locals[number],
            };
            let kind = program.variable(stack[depth].procedure, slot).kind;
            (value == Value::Unset).then_some(((thread, depth), slot, kind))
        })
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
