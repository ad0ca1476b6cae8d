//! What becomes of tasks that are dispatched: how their runs end, yield or fail, and what they post, in the order in which they do.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::program::step::{Frame, Runner, Stage};
use tepui_model::program::{Action, Goal, Program, Property};

use super::counting::unbounded_height;
use super::runs::{Form, Ledger, Runs};
use super::{ENDED, Machine, Move, Point};

/// How a run ends or yields: what it leaves behind.
pub(super) struct Outcome {
    pub(super) shared: u32,
    pub(super) posted: Arc<[u32]>,
    /// The stack, if it has yielded.
    pub(super) yielded: Option<u32>,
}

impl Outcome {
    /// The tasks that are pending then, and whether they are new.
    pub(super) fn given(&self) -> impl Iterator<Item = (&u32, bool)> {
        self.posted.iter().map(|task| (task, true)).chain(self.yielded.iter().map(|task| (task, false)))
    }
}

/// What may become of a task that is dispatched.
pub(super) struct Running {
    pub(super) outcomes: Vec<Outcome>,
    pub(super) failures: Vec<Goal>,
}

/// How many frames more than the most tasks a task may have that yields, where stacks may have any height.
const FRAMES: usize = 4;

/// Tasks and their runs, each looked at once.
pub(super) struct Dispatched {
    pub(super) machine: Machine,
    pub(super) runs: Runs<Listed>,
    known: FxHashMap<Point, Arc<Running>>,
    /// For each stack whether its task may be blocked at all, once that was asked.
    may_block: Vec<Option<bool>>,
}

impl Dispatched {
    pub(super) fn new(program: Arc<Program>, properties: &[Property]) -> Self {
        let runs = Runs::new(Listed { most: 0 }, false);
        Self { machine: Machine::new(program, properties), runs, known: FxHashMap::default(), may_block: Vec::new() }
    }

    /// Runs may post so many tasks, and not more, from now on. If tasks may yield with stacks of any height, the height is
    /// limited as well.
    pub(super) fn allow(&mut self, most: usize) {
        self.runs = Runs::new(Listed { most }, false);
        if unbounded_height(&self.machine.program).is_some() {
            self.runs.most_frames = FRAMES.saturating_add(most);
        }
        self.known.clear();
    }

    /// What may become of a task that is dispatched.
    pub(super) fn running(
        &mut self,
        runner: &Runner<'_>,
        point: Point,
        budget: &mut Budget,
    ) -> Result<Arc<Running>, Stop> {
        if let Some(known) = self.known.get(&point) {
            return Ok(Arc::clone(known));
        }
        let entry = self.runs.run(&mut self.machine, runner, point, budget)?;
        let mut failures = Vec::new();
        for (passed, _) in self.runs.passed(entry) {
            let items = self.runs.entries[passed as usize].failures.iter();
            failures.extend(items.filter_map(|&item| match self.runs.items[item as usize].form {
                Form::Failed(goal) => Some(goal),
                _ => None,
            }));
        }
        let exits = self.runs.entries[entry as usize].exits.iter();
        let outcomes = exits.filter_map(|&exit| self.outcome(exit)).collect();
        let found = Arc::new(Running { outcomes, failures });
        self.known.insert(point, Arc::clone(&found));
        Ok(found)
    }

    /// How a run ends or yields with an item.
    pub(super) fn outcome(&self, exit: u32) -> Option<Outcome> {
        let item = &self.runs.items[exit as usize];
        let Form::Stack(stack) = item.form else { return None };
        let yielded = (stack != ENDED).then_some(stack);
        Some(Outcome { shared: item.shared, posted: Arc::clone(&item.posted), yielded })
    }

    /// Whether a pending task cannot go on, and whether it can for certain, whatever values are still open.
    pub(super) fn is_blocked(&mut self, runner: &Runner<'_>, (shared, stack): Point) -> (bool, bool) {
        if !self.may_block(runner, stack) {
            return (false, true);
        }
        let machine = &mut self.machine;
        let frames = Arc::clone(&machine.stacks[stack]);
        let Some((top, below)) = frames.split_last() else { return (true, false) };
        let blocked = machine.moves(runner, (shared, stack)).is_empty();
        if blocked || runner.enforces_unknown(&machine.shared[shared], top) {
            return (blocked, false);
        }
        if !waits(runner, top) {
            return (false, true);
        }
        let again = machine.stack([below, &[Frame { stage: Stage::Running, ..top.clone() }]].concat());
        let yields = |step: &Move| matches!(step, Move::To { stack: to, .. } if *to == stack);
        (false, !machine.moves(runner, (shared, again)).iter().any(yields))
    }

    /// Whether a pending task may be blocked, whatever the shared variables are.
    fn may_block(&mut self, runner: &Runner<'_>, stack: u32) -> bool {
        if let Some(Some(known)) = self.may_block.get(stack as usize) {
            return *known;
        }
        let enforces = |top: &Frame| self.machine.program.procedures[top.procedure].enforced.is_some();
        let may = self.machine.stacks[stack].last().is_none_or(|top| enforces(top) || waits(runner, top));
        if self.may_block.len() <= stack as usize {
            self.may_block.resize(stack as usize + 1, None);
        }
        self.may_block[stack as usize] = Some(may);
        may
    }

    /// Those of some tasks that cannot go on.
    pub(super) fn blocked(&mut self, runner: &Runner<'_>, shared: u32, tasks: &[u32]) -> Vec<u32> {
        tasks.iter().copied().filter(|&task| self.is_blocked(runner, (shared, task)).0).collect()
    }
}

/// Whether a task that has yielded goes on with a statement that waits.
fn waits(runner: &Runner<'_>, top: &Frame) -> bool {
    let action = runner.action(top.procedure, top.position).filter(|_| top.stage == Stage::Yielded);
    action.is_some_and(Action::may_block)
}

/// Notes which tasks were posted, in their order, up to a number.
pub(super) struct Listed {
    most: usize,
}

impl Ledger for Listed {
    type Sum = Arc<[u32]>;

    fn nothing(&self) -> Self::Sum {
        Arc::new([])
    }

    fn add(&self, one: &Self::Sum, other: &Self::Sum) -> Option<Self::Sum> {
        match (one.len(), other.len()) {
            (0, _) => Some(Arc::clone(other)),
            (_, 0) => Some(Arc::clone(one)),
            (here, there) if here + there > self.most => None,
            _ => Some(one.iter().chain(&**other).copied().collect()),
        }
    }

    fn post(&self, tasks: &[u32]) -> Option<Self::Sum> {
        (tasks.len() <= self.most).then(|| tasks.into())
    }
}
