//! What is asked of states on a path: who may move, and what has come to pass. Proofs do not rest on it.

use std::cell::Cell;
use std::rc::Rc;

use super::run::{State, Step};
use super::step::{Few, Keep, KeepAll, Runner, Value};
use super::{Action, Kind, Slot, Target};

/// The most ways in which a statement is tried.
const MOST_WAYS: usize = 262_144;

/// Values are stored as they are wanted in shared variables, in all ways elsewhere.
struct Wanted<'s> {
    shared: &'s [Value],
    tried: Cell<usize>,
}

impl Keep for Wanted<'_> {
    fn stored(&self, _: usize, _: usize, slot: Slot, values: &[u32]) -> Few<Value> {
        let known = values.iter().copied().map(Value::Known);
        match slot {
            Slot::Shared(number) => known.filter(|value| self.shared[number] == *value).collect(),
            Slot::Local(_) => known.collect(),
        }
    }

    fn goes_on(&self) -> bool {
        self.tried.set(self.tried.get() + 1);
        self.tried.get() <= MOST_WAYS
    }
}

/// Of all values that may be stored, the first.
struct First;

impl Keep for First {
    fn stored(&self, _: usize, _: usize, _: Slot, values: &[u32]) -> Few<Value> {
        values.first().copied().map(Value::Known).into_iter().collect()
    }
}

impl State {
    /// The thread that no other may interrupt.
    pub fn uninterrupted(&self, runner: &Runner<'_>) -> Option<usize> {
        self.threads.iter().position(|thread| thread.last().is_some_and(|top| runner.is_uninterrupted(top)))
    }
}

impl Runner<'_> {
    /// The steps of a thread after which the shared variables have these values, and those that fail; none, if there are too
    /// many ways to tell.
    pub fn steps_to(&self, state: &State, thread: usize, shared: &[Value]) -> Option<Vec<Step>> {
        let wanted = Wanted { shared, tried: Cell::new(0) };
        let mut steps = self.steps_keeping(state, thread, &wanted);
        steps.retain(|step| step.failed.is_some() || step.after.shared[..] == *shared);
        (wanted.tried.get() <= MOST_WAYS).then_some(steps)
    }

    /// The number of a step among those after which the shared variables have the values that they have after it.
    pub fn number_of(&self, state: &State, thread: usize, taken: &Step) -> Option<usize> {
        self.steps_to(state, thread, &taken.after.shared)?.iter().position(|step| step == taken)
    }

    /// A step for each way of a thread to go on or to fail, with any of the values that it may store.
    pub fn ways_of(&self, state: &State, thread: usize) -> Vec<Step> {
        let enforces = self.program().procedures.iter().any(|procedure| procedure.enforced.is_some());
        let all: &dyn Keep = if enforces { &KeepAll } else { &First };
        self.steps_keeping(state, thread, all)
    }

    /// The labels, of those that must not be reached, at which a thread stands.
    pub fn reached(&self, state: &State) -> Vec<usize> {
        let tops = || state.threads.iter().filter_map(|thread| thread.last()).filter(|top| !top.stage.is_pending());
        let there = |at: &Target| tops().any(|top| self.is_at(top, (at.procedure, at.position)));
        let labels = self.program().unreachable.iter().enumerate();
        labels.filter(|(_, label)| there(label)).map(|(number, _)| number).collect()
    }

    /// Whether some thread has not ended and none can take a step: for some values of variables that have none yet, the same
    /// for all threads. Those are given to it.
    pub fn stuck(&self, state: &State) -> Option<State> {
        // A task that is blocked although it runs has come to an end that nobody else sees.
        let runs = self.program().order.is_some() && state.running().is_some();
        if runs || state.threads.iter().all(Vec::is_empty) {
            return None;
        }
        let unset = (0..state.threads.len()).find_map(|thread| self.decisive(state, thread));
        let Some((owner, slot, kind)) = unset else {
            let stuck = (0..state.threads.len()).all(|thread| self.ways_of(state, thread).is_empty());
            return stuck.then(|| state.clone());
        };
        (0..self.program().values(kind)).find_map(|value| {
            let mut given = state.clone();
            match slot {
                Slot::Shared(number) => Rc::make_mut(&mut given.shared)[number] = Value::Known(value),
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
        // What the statement reads, and what is enforced in the frame on top, in one that it may return to, and in one that
        // it may call.
        let own = stack.len() - 1;
        let mut mentioned: Vec<_> =
            self.wants(&state.shared, top, &KeepAll).map(|slot| (own, slot)).into_iter().collect();
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
