//! Tasks: what an asynchronous program posts, and who runs.
//!
//! A task is a thread that nobody interrupts. `post` adds one to those that are *pending*. The task that runs goes on until it
//! ends, or yields, and is pending again. Then nobody runs, and one of the pending tasks is dispatched, which is a step of its
//! own: it begins, or goes on where it has yielded.
//!
//! Where a thread would have to wait, at `wait`, `lock` and `acquire`, a task that runs yields. A pending task is *blocked* as
//! long as it cannot go on, for that reason or since its procedure enforces something; it is not dispatched. `assume` blocks for good: nobody else can change what the task that runs sees,
//! so the execution ends there. That is no deadlock. It is one if nobody runs, some tasks are pending, and all of them are
//! blocked.

use std::rc::Rc;

use super::run::State;
use super::step::execute::Step;
use super::step::{Effect, Few, Frame, Keep, KeepAll, Reading, Runner, Stage, Tell, Value};
use super::{Action, Place, Program, Slot, Statement};

/// In which order pending tasks are dispatched. Those that are blocked keep their places and are passed over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// In any order.
    Bag,
    /// The one that has been pending longest.
    Fifo,
    /// The one that has been pending shortest.
    Lifo,
}

impl Order {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bag, Self::Fifo, Self::Lifo];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bag => "bag",
            Self::Fifo => "fifo",
            Self::Lifo => "lifo",
        }
    }
}

impl Stage {
    /// Whether a task is pending that has such a frame on top.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Posted | Self::Yielded)
    }

    /// Whether a frame does something by itself.
    pub(super) fn may_step(self) -> bool {
        self == Self::Running || self.is_pending()
    }
}

impl Step<'_, '_> {
    /// What a task does at a position that no thread does. Whether that is all that it does.
    pub(super) fn as_task(&self, position: usize, found: &mut Tell<'_>) -> Reading<bool> {
        let action = self.runner.action(self.frame.procedure, position);
        let yields = match (self.frame.stage, action) {
            (Stage::Posted, _) => {
                found(Rc::clone(self.shared), Effect::Become(self.at(self.frame.position)));
                return Ok(true);
            }
            (Stage::Running, Some(Action::Yield)) => true,
            (Stage::Running, Some(Action::Wait(condition))) => self.may(condition)?.1,
            (Stage::Running, Some(Action::Lock(place))) => self.may_be(place, |number| number != 0)?,
            (Stage::Running, Some(Action::Acquire(place))) => self.may_be(place, |number| number <= 0)?,
            _ => false,
        };
        if yields {
            found(Rc::clone(self.shared), Effect::Become(Frame { stage: Stage::Yielded, ..self.at(position) }));
        }
        Ok(yields && action == Some(&Action::Yield))
    }

    /// Whether what a place holds may be such a number.
    fn may_be(&self, place: &Place, fits: impl Fn(i64) -> bool) -> Reading<bool> {
        let mut may = false;
        for slot in self.slots(place)?.0 {
            may |= self.numbers(slot)?.into_iter().any(&fits);
        }
        Ok(may)
    }
}

impl Action {
    /// Whether a task may yield at such a statement.
    pub fn may_yield(&self) -> bool {
        *self == Self::Yield || self.may_block()
    }

    /// Whether a task that has yielded at such a statement may be blocked there.
    pub fn may_block(&self) -> bool {
        matches!(self, Self::Wait(_) | Self::Lock(_) | Self::Acquire(_))
    }
}

impl Program {
    /// For each procedure, whether a task may yield in it, or in what it calls.
    pub fn yielding(&self) -> Vec<bool> {
        let mut yielding = vec![false; self.procedures.len()];
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (number, procedure) in self.procedures.iter().enumerate() {
                let calls = |action: &Action| matches!(action, Action::Call { procedure, .. } if yielding[*procedure]);
                let yields = |statement: &Statement| statement.action.may_yield() || calls(&statement.action);
                if !yielding[number] && procedure.statements.iter().any(yields) {
                    (yielding[number], changed) = (true, true);
                }
            }
        }
        yielding
    }
}

impl State {
    /// The task that runs, where a program has tasks.
    pub fn running(&self) -> Option<usize> {
        self.threads.iter().position(|task| task.last().is_some_and(|top| !top.stage.is_pending()))
    }

    /// After a step of a task: whether it is pending now, and those that it has posted.
    pub(super) fn update_pending(&mut self, task: usize, known: usize) {
        self.pending.retain(|&other| other != task);
        self.pending.extend(known..self.threads.len());
        if self.threads[task].last().is_some_and(|top| top.stage == Stage::Yielded) {
            self.pending.push(task);
        }
    }
}

impl Runner<'_> {
    /// The first frames of what is started: those of tasks are pending.
    pub(super) fn begun(&self, procedure: usize, arguments: &[Few<u32>], keep: &dyn Keep) -> Vec<Frame> {
        let mut frames = self.first_frames(procedure, arguments, keep);
        if self.program().order.is_some() {
            frames.iter_mut().for_each(|frame| frame.stage = Stage::Posted);
        }
        frames
    }

    /// Whether what the procedure of a frame enforces mentions a variable whose value is not known.
    pub fn enforces_unknown(&self, shared: &[Value], frame: &Frame) -> bool {
        let mut unknown = false;
        if let Some(condition) = &self.program().procedures[frame.procedure].enforced {
            condition.slots(&mut |slot| {
                let value = match slot {
                    Slot::Shared(number) => shared[number],
                    Slot::Local(number) => frame.locals[number],
                };
                unknown |= value.known().is_none();
            });
        }
        unknown
    }

    /// Whether a task runs, or may be dispatched.
    pub(super) fn may_run(&self, state: &State, task: usize, order: Order) -> bool {
        if let Some(running) = state.running() {
            return running == task;
        }
        let free = |other: &&usize| !self.is_blocked(state, **other);
        match order {
            Order::Bag => true,
            Order::Fifo => state.pending.iter().find(free) == Some(&task),
            Order::Lifo => state.pending.iter().rev().find(free) == Some(&task),
        }
    }

    /// Whether a pending task cannot go on where it has yielded.
    pub fn is_blocked(&self, state: &State, task: usize) -> bool {
        state.threads[task].last().is_some_and(|top| self.steps(&state.shared, top, &KeepAll).is_empty())
    }
}
