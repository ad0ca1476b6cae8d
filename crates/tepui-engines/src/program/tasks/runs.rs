//! What is reached from where a task is dispatched, or a procedure called, until the task ends or yields, or the procedure
//! returns.
//!
//! This is tabulation: each *entry* has its *items*, which are nodes, ways to leave it, and failures. A call goes on with each way in
//! which the entry that it leads to is left. A [`Ledger`] says what is noted of the tasks that are posted; where it refuses,
//! a run is not followed any further.

use std::collections::VecDeque;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tepui_core::{Budget, Stop};
use tepui_model::program::Goal;
use tepui_model::program::step::Runner;

use super::{ENDED, Machine, Move, Point, spend};

/// What is noted of the tasks that are posted.
pub(super) trait Ledger {
    /// A note.
    type Sum: Clone + Eq + Hash;

    /// Nothing has been posted.
    fn nothing(&self) -> Self::Sum;

    /// One after the other, if that is allowed.
    fn add(&self, one: &Self::Sum, other: &Self::Sum) -> Option<Self::Sum>;

    /// These tasks, if that is allowed.
    fn post(&self, tasks: &[u32]) -> Option<Self::Sum>;
}

/// Nothing is noted.
pub(super) struct Nothing;

impl Ledger for Nothing {
    type Sum = ();

    fn nothing(&self) {}

    fn add(&self, (): &(), (): &()) -> Option<()> {
        Some(())
    }

    fn post(&self, _: &[u32]) -> Option<()> {
        Some(())
    }
}

/// What an item is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form {
    /// A pending task that is dispatched.
    Begun,
    /// A stack. If it is pending, or empty, the entry is left.
    Stack(u32),
    /// The entry is left with results.
    Returned(u32),
    /// Something happens that must not.
    Failed(Goal),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Item<S> {
    pub(super) entry: u32,
    pub(super) shared: u32,
    pub(super) form: Form,
    /// What has been posted since the entry.
    pub(super) posted: S,
}

/// How an item is reached.
#[derive(Clone, Debug)]
pub(super) enum How {
    /// The entry begins with it.
    Start,
    /// By a step.
    Step { from: u32, posted: SmallVec<[u32; 2]> },
    /// By a call: the stack that waits meanwhile, and how the entry is left that it leads to.
    Call { from: u32, caller: u32, exit: u32 },
}

/// Where a task is dispatched, or a procedure called.
pub(super) struct Entry {
    pub(super) point: Point,
    /// The items by which it is left.
    pub(super) exits: Vec<u32>,
    /// What must not happen.
    pub(super) failures: Vec<u32>,
    /// Calls that lead here: the item, and the stack that waits.
    callers: Vec<(u32, u32)>,
    /// Calls from here: the item, the stack that waits, and the entry.
    pub(super) calls: Vec<(u32, u32, u32)>,
}

/// All runs from some entries.
pub(super) struct Runs<L: Ledger> {
    ledger: L,
    numbers: FxHashMap<Point, u32>,
    pub(super) entries: Vec<Entry>,
    keys: FxHashMap<Item<L::Sum>, u32>,
    pub(super) items: Vec<Item<L::Sum>>,
    /// How each item was reached first.
    pub(super) how: Vec<How>,
    /// How items are reached, in all ways, if that is wanted.
    pub(super) ways: Option<Vec<(u32, How)>>,
    todo: VecDeque<u32>,
    /// The most frames of a task that yields.
    pub(super) most_frames: usize,
    /// Whether some run was not followed to its end.
    pub(super) cut: bool,
    spent: u64,
}

impl<L: Ledger> Runs<L> {
    pub(super) fn new(ledger: L, all_ways: bool) -> Self {
        Self {
            ledger,
            numbers: FxHashMap::default(),
            entries: Vec::new(),
            keys: FxHashMap::default(),
            items: Vec::new(),
            how: Vec::new(),
            ways: all_ways.then(Vec::new),
            todo: VecDeque::new(),
            most_frames: usize::MAX,
            cut: false,
            spent: 0,
        }
    }

    /// Finds all runs from an entry.
    pub(super) fn run(
        &mut self,
        machine: &mut Machine,
        runner: &Runner<'_>,
        point: Point,
        budget: &mut Budget,
    ) -> Result<u32, Stop> {
        let entry = self.entry(machine, point);
        while let Some(item) = self.todo.pop_front() {
            self.follow(machine, runner, item);
            spend(machine, &mut self.spent, budget)?;
            budget.spend(1)?;
        }
        Ok(entry)
    }

    fn entry(&mut self, machine: &mut Machine, point: Point) -> u32 {
        if let Some(known) = self.numbers.get(&point) {
            return *known;
        }
        let entry = self.entries.len() as u32;
        self.numbers.insert(point, entry);
        let none = Vec::new;
        self.entries.push(Entry { point, exits: none(), failures: none(), callers: Vec::new(), calls: Vec::new() });
        let form = if machine.is_pending(point.1) { Form::Begun } else { Form::Stack(point.1) };
        let item = Item { entry, shared: point.0, form, posted: self.ledger.nothing() };
        self.add(machine, None, item, How::Start);
        entry
    }

    /// Notes an item.
    fn add(&mut self, machine: &mut Machine, runner: Option<&Runner<'_>>, item: Item<L::Sum>, how: How) {
        if let Form::Stack(stack) = item.form
            && machine.stacks[stack].len() > self.most_frames
        {
            self.cut = true;
            return;
        }
        if let Some(&known) = self.keys.get(&item) {
            self.ways.iter_mut().for_each(|ways| ways.push((known, how.clone())));
            return;
        }
        let number = self.items.len() as u32;
        self.ways.iter_mut().for_each(|ways| ways.push((number, how.clone())));
        self.keys.insert(item.clone(), number);
        let (entry, form) = (item.entry as usize, item.form);
        self.items.push(item);
        self.how.push(how);
        let leaves = match form {
            Form::Begun => false,
            Form::Stack(stack) => stack == ENDED || machine.is_pending(stack),
            Form::Returned(_) => true,
            Form::Failed(_) => {
                self.entries[entry].failures.push(number);
                return;
            }
        };
        if !leaves {
            self.todo.push_back(number);
            return;
        }
        self.entries[entry].exits.push(number);
        if let Some(runner) = runner {
            for (from, caller) in self.entries[entry].callers.clone() {
                self.go_on(machine, runner, (from, caller), number);
            }
        }
    }

    /// All that an item leads to.
    fn follow(&mut self, machine: &mut Machine, runner: &Runner<'_>, from: u32) {
        let Item { entry, shared, form, posted } = self.items[from as usize].clone();
        let stack = match form {
            Form::Begun => self.entries[entry as usize].point.1,
            Form::Stack(stack) => stack,
            Form::Returned(_) | Form::Failed(_) => return,
        };
        for step in machine.moves(runner, (shared, stack)).iter() {
            let (shared, form, tasks) = match step {
                Move::To { shared, stack, posted } => (*shared, Form::Stack(*stack), posted.clone()),
                Move::Return { shared, results } => (*shared, Form::Returned(*results), SmallVec::new()),
                Move::Fail(goal) => (shared, Form::Failed(*goal), SmallVec::new()),
                Move::Call { shared, callee, caller } => {
                    self.call(machine, runner, (from, *caller), (*shared, *callee));
                    continue;
                }
            };
            let sum = match tasks.is_empty() {
                true => Some(posted.clone()),
                false => self.ledger.post(&tasks).and_then(|more| self.ledger.add(&posted, &more)),
            };
            match sum {
                Some(posted) => {
                    let item = Item { entry, shared, form, posted };
                    self.add(machine, Some(runner), item, How::Step { from, posted: tasks });
                }
                None => self.cut = true,
            }
        }
    }

    fn call(&mut self, machine: &mut Machine, runner: &Runner<'_>, (from, caller): (u32, u32), point: Point) {
        let called = self.entry(machine, point);
        self.entries[called as usize].callers.push((from, caller));
        let own = self.items[from as usize].entry as usize;
        self.entries[own].calls.push((from, caller, called));
        for exit in self.entries[called as usize].exits.clone() {
            self.go_on(machine, runner, (from, caller), exit);
        }
    }

    /// A call goes on with a way in which the entry is left that it leads to.
    fn go_on(&mut self, machine: &mut Machine, runner: &Runner<'_>, (from, caller): (u32, u32), exit: u32) {
        let (Item { entry, posted, .. }, left) = (self.items[from as usize].clone(), self.items[exit as usize].clone());
        let Some(posted) = self.ledger.add(&posted, &left.posted) else {
            self.cut = true;
            return;
        };
        let how = How::Call { from, caller, exit };
        match left.form {
            Form::Stack(stack) => {
                let whole = if stack == ENDED { ENDED } else { machine.above(caller, stack) };
                let item = Item { entry, shared: left.shared, form: Form::Stack(whole), posted };
                self.add(machine, Some(runner), item, how);
            }
            Form::Returned(results) => {
                for resumed in machine.resumed(runner, left.shared, results, caller).iter() {
                    let (shared, form) = match *resumed {
                        Ok((shared, stack)) => (shared, Form::Stack(stack)),
                        Err(goal) => (left.shared, Form::Failed(goal)),
                    };
                    let item = Item { entry, shared, form, posted: posted.clone() };
                    self.add(machine, Some(runner), item, how.clone());
                }
            }
            Form::Begun | Form::Failed(_) => {}
        }
    }

    /// The entries that runs from one pass through, each with the call that leads there first, itself first.
    pub(super) fn passed(&self, entry: u32) -> Vec<(u32, Option<(u32, u32)>)> {
        let (mut found, mut seen) = (vec![(entry, None)], FxHashMap::from_iter([(entry, ())]));
        let mut next = 0;
        while let Some(&(entry, _)) = found.get(next) {
            next += 1;
            for &(item, caller, called) in &self.entries[entry as usize].calls {
                if seen.insert(called, ()).is_none() {
                    found.push((called, Some((item, caller))));
                }
            }
        }
        found
    }
}
