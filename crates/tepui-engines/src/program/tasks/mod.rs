//! Programs with tasks: any number of them, in every order, or in the order of a scheduler.
//!
//! Between two dispatches a task is alone, so what it does is a matter of the shared values and of its stack. `runs` finds out
//! what that may be: the nodes that are reached, how the task ends or yields, and what it has posted by then. Calls are looked at
//! once for each way in which they begin, so that recursion may be as deep as it likes.
//!
//! * [`counting`] decides what can happen in any order of dispatch: what is posted is counted, and what matters of the counts is
//!   known in the end (`posts`, coverability by Karp and Miller).
//! * [`dispatch`] follows schedulers: it raises the number of tasks that may be pending, and of delays.
//!
//! * [`bounding`] counts executions, for comparison with other ways to bound a search.
//!
//! Both engines find traces as ways through runs, which are then followed on the interpreter (`concrete`).

pub mod bounding;
mod certificate;
mod concrete;
pub mod counting;
pub mod dispatch;
mod dispatched;
mod markings;
mod policy;
mod posts;
mod runs;
pub mod scheduled;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tepui_core::{Budget, Stop};
use tepui_model::program::flow::Flow;
use tepui_model::program::step::{Effect, Frame, Results, Runner, Shared, Value};
use tepui_model::program::{Goal, Program, Property};

use super::variables::Kept;
use crate::interner::Interner;

/// What a task does at a point, or what happens then.
#[derive(Clone, Debug)]
pub(super) enum Move {
    /// It goes on with a stack, and has posted tasks; the stack is empty if it has ended, and pending if it has yielded.
    To { shared: u32, stack: u32, posted: SmallVec<[u32; 2]> },
    /// It calls a procedure: the stack of that alone, and the stack that waits.
    Call { shared: u32, callee: u32, caller: u32 },
    /// The only frame is left, with results.
    Return { shared: u32, results: u32 },
    /// Something happens that must not.
    Fail(Goal),
}

/// A shared state and a stack.
pub(super) type Point = (u32, u32);

/// What becomes of a frame that waits, or what happens then.
type Resumed = Arc<[Result<Point, Goal>]>;

/// The stack of a task that has ended.
pub(super) const ENDED: u32 = 0;

/// A program with what is known of its tasks' steps. The interpreter is asked once about each.
pub(super) struct Machine {
    pub(super) program: Arc<Program>,
    pub(super) kept: Kept,
    pub(super) shared: Interner<Arc<[Value]>>,
    pub(super) stacks: Interner<Arc<[Frame]>>,
    results: Interner<Results>,
    moves: FxHashMap<Point, Arc<[Move]>>,
    resumed: FxHashMap<(u32, u32, u32), Resumed>,
    /// Statements that must not be reached.
    labels: Vec<(usize, usize)>,
    /// For each stack whether its topmost frame is pending.
    pending: Vec<bool>,
    /// How many steps the interpreter was asked for.
    pub(super) steps: u64,
}

impl Machine {
    pub(super) fn new(program: Arc<Program>, properties: &[Property]) -> Self {
        let goals = properties.iter().flat_map(|property| &property.never);
        let label = |goal: &Goal| if let Goal::Reached(procedure, at) = *goal { Some((procedure, at)) } else { None };
        let labels = goals.filter_map(label).collect();
        let flows: Vec<_> = program.procedures.iter().map(Flow::of).collect();
        let kept = Kept::what_matters(&program, &flows, false);
        let mut machine = Self {
            program,
            kept,
            shared: Interner::default(),
            stacks: Interner::default(),
            results: Interner::default(),
            moves: FxHashMap::default(),
            resumed: FxHashMap::default(),
            labels,
            pending: Vec::new(),
            steps: 0,
        };
        machine.stack(Vec::new());
        machine
    }

    /// Where `main` begins.
    pub(super) fn start(&mut self, runner: &Runner<'_>) -> Vec<Point> {
        let (shared, frames) = runner.start(&self.kept);
        let shared = self.shared.intern(shared[..].into());
        frames.into_iter().map(|frame| (shared, self.stack(vec![frame]))).collect()
    }

    pub(super) fn stack(&mut self, frames: Vec<Frame>) -> u32 {
        let is_pending = frames.last().is_some_and(|top| top.stage.is_pending());
        let number = self.stacks.intern(frames.into());
        if number as usize == self.pending.len() {
            self.pending.push(is_pending);
        }
        number
    }

    pub(super) fn is_pending(&self, stack: u32) -> bool {
        self.pending[stack as usize]
    }

    /// The stack of some frames above others.
    pub(super) fn above(&mut self, below: u32, frames: u32) -> u32 {
        let whole = [&self.stacks[below][..], &self.stacks[frames][..]].concat();
        self.stack(whole)
    }

    /// All that a task does next.
    pub(super) fn moves(&mut self, runner: &Runner<'_>, (shared, stack): Point) -> Arc<[Move]> {
        if let Some(known) = self.moves.get(&(shared, stack)) {
            return Arc::clone(known);
        }
        let (values, frames) = (Arc::clone(&self.shared[shared]), Arc::clone(&self.stacks[stack]));
        let mut found = Vec::new();
        if let Some((top, below)) = frames.split_last() {
            self.labelled(runner, top, &mut found);
            for (values, effect) in runner.steps(&values[..].into(), top, &self.kept) {
                self.steps += 1;
                self.effect(runner, below, top, &values, effect, &mut found);
            }
        }
        let found: Arc<[Move]> = found.into();
        self.moves.insert((shared, stack), Arc::clone(&found));
        found
    }

    /// Which labels a task has reached that runs.
    fn labelled(&self, runner: &Runner<'_>, top: &Frame, found: &mut Vec<Move>) {
        let stands = |&&(procedure, position): &&(usize, usize)| {
            procedure == top.procedure && runner.stands_at(procedure, top.position).any(|at| at == position)
        };
        if !top.stage.is_pending() && !self.labels.is_empty() {
            let reached = self.labels.iter().filter(stands);
            found.extend(reached.map(|&(procedure, position)| Move::Fail(Goal::Reached(procedure, position))));
        }
    }

    fn effect(
        &mut self,
        runner: &Runner<'_>,
        below: &[Frame],
        top: &Frame,
        values: &Shared,
        effect: Effect,
        found: &mut Vec<Move>,
    ) {
        let over = |frame: Frame| [below, &[frame]].concat();
        match effect {
            Effect::Become(frame) => {
                let (shared, stack) = (self.shared.intern(values[..].into()), self.stack(over(frame)));
                found.push(Move::To { shared, stack, posted: SmallVec::new() });
            }
            Effect::Start { next, started } => {
                let (shared, stack) = (self.shared.intern(values[..].into()), self.stack(over(next)));
                let posted = started.into_iter().map(|frame| self.stack(vec![frame])).collect();
                found.push(Move::To { shared, stack, posted });
            }
            Effect::Call { caller, callee } => {
                let (shared, callee) = (self.shared.intern(values[..].into()), self.stack(vec![callee]));
                found.push(Move::Call { shared, callee, caller: self.stack(over(caller)) });
            }
            Effect::Return(results) => {
                let (shared, results) = (self.shared.intern(values[..].into()), self.results.intern(results));
                match below.is_empty() {
                    true => found.push(Move::Return { shared, results }),
                    false => {
                        let waiting = self.stack(below.to_vec());
                        found.extend(self.resumed(runner, shared, results, waiting).iter().map(|one| match *one {
                            Ok((shared, stack)) => Move::To { shared, stack, posted: SmallVec::new() },
                            Err(goal) => Move::Fail(goal),
                        }));
                    }
                }
            }
            Effect::End => {
                found.push(Move::To {
                    shared: self.shared.intern(values[..].into()),
                    stack: ENDED,
                    posted: SmallVec::new(),
                });
            }
            Effect::Fail(failure) => {
                let at = (top.procedure, runner.first_of(top.procedure, top.position));
                found.push(Move::Fail(failure.at(at)));
            }
            // Tasks neither sleep nor wake up.
            Effect::Wake(..) => {}
        }
    }

    /// What becomes of a stack that waits when a procedure returns to it.
    pub(super) fn resumed(&mut self, runner: &Runner<'_>, shared: u32, results: u32, waiting: u32) -> Resumed {
        if let Some(known) = self.resumed.get(&(shared, results, waiting)) {
            return Arc::clone(known);
        }
        let (values, frames) = (Arc::clone(&self.shared[shared]), Arc::clone(&self.stacks[waiting]));
        let returned = self.results[results].clone();
        let mut found = Vec::new();
        if let Some((top, below)) = frames.split_last() {
            for stored in runner.resume(&values[..].into(), top, &returned, &self.kept) {
                self.steps += 1;
                found.push(match stored {
                    Ok((values, frame)) => {
                        Ok((self.shared.intern(values[..].into()), self.stack([below, &[frame]].concat())))
                    }
                    Err(failure) => Err(failure.at((top.procedure, top.position))),
                });
            }
        }
        let found: Resumed = found.into();
        self.resumed.insert((shared, results, waiting), Arc::clone(&found));
        found
    }
}

/// Spends what a machine has done since the last time.
pub(super) fn spend(machine: &Machine, before: &mut u64, budget: &mut Budget) -> Result<(), Stop> {
    let done = machine.steps - *before;
    *before = machine.steps;
    budget.spend(done)
}
