//! Which pending task may be dispatched next, and at what price.
//!
//! A delaying scheduler has one task for each number of delays, and the price is that number. An order that a program
//! prescribes leaves no choice. A bag offers each task for nothing.

use std::sync::Arc;

use tepui_model::program::Order;
use tepui_model::program::schedulers::{Dispatcher, IsBlocked, Memory, Scheduler};

/// One task that may be dispatched.
pub(super) struct Choice {
    /// The task. Nobody is dispatched, if it is blocked.
    pub(super) task: u32,
    /// What is remembered when it has been taken.
    pub(super) memory: Memory,
    /// How many tasks that are pending it stands for.
    pub(super) ways: u32,
}

pub(super) trait Policy: Send + Sync {
    /// What is remembered when nothing is pending.
    fn start(&self) -> Memory;

    /// The tasks that are pending.
    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32];

    /// A task is pending: one that was posted just now, or one that has yielded. Whether it is: it may be dropped.
    fn give(&self, memory: &mut Memory, task: u32, posted: bool) -> bool;

    /// The price of a choice, by its number. Prices ascend; there is none for numbers of which there is no choice.
    fn price(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<u32>;

    /// A choice, by its number.
    fn choice(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<Choice>;

    /// The scheduler whose delays are the price.
    fn scheduler(&self) -> Option<&dyn Scheduler>;
}

/// How tasks are chosen in a program: as it prescribes, or as somebody wants it.
pub(super) fn policies(order: Option<Order>, wanted: &[Dispatcher]) -> Vec<Arc<dyn Policy>> {
    let policy = |wanted: &Dispatcher| -> Arc<dyn Policy> {
        match wanted {
            Dispatcher::Delaying(scheduler) => Arc::new(Delaying(Arc::clone(scheduler))),
            Dispatcher::Bag { most } => Arc::new(Bag { most: *most, price: 0 }),
        }
    };
    match order {
        Some(order) if order != Order::Bag => vec![Arc::new(Prescribed { last: order == Order::Lifo })],
        _ => wanted.iter().map(policy).collect(),
    }
}

/// Delays of a scheduler. Delaying all tasks that could be taken brings back the first, so at most one less is delayed: each
/// schedule is tried once.
struct Delaying(Arc<dyn Scheduler>);

impl Policy for Delaying {
    fn start(&self) -> Memory {
        self.0.start()
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        self.0.pending(memory)
    }

    fn give(&self, memory: &mut Memory, task: u32, posted: bool) -> bool {
        self.0.give(memory, task, posted);
        true
    }

    fn price(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<u32> {
        let skips = self.0.passes_over_blocked();
        let takeable = self.0.pending(memory).iter().filter(|&&task| !skips || !blocked(task)).count();
        ((number as usize) < takeable).then_some(number)
    }

    fn choice(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<Choice> {
        let mut memory = memory.clone();
        let mut task = self.0.take(&mut memory, blocked)?;
        for _ in 0..number {
            self.0.delay(&mut memory, task);
            task = self.0.take(&mut memory, blocked)?;
        }
        Some(Choice { task, memory, ways: 1 })
    }

    fn scheduler(&self) -> Option<&dyn Scheduler> {
        Some(&*self.0)
    }
}

/// The order that a program prescribes: the task that has been pending longest, or shortest.
struct Prescribed {
    last: bool,
}

impl Policy for Prescribed {
    fn start(&self) -> Memory {
        Memory::new()
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        memory
    }

    fn give(&self, memory: &mut Memory, task: u32, _: bool) -> bool {
        memory.push(task);
        true
    }

    fn price(&self, _: &Memory, number: u32, _: IsBlocked<'_>) -> Option<u32> {
        (number == 0).then_some(0)
    }

    fn choice(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<Choice> {
        let free = |at: &usize| number == 0 && !blocked(memory[*at]);
        let at = if self.last { (0..memory.len()).rfind(free) } else { (0..memory.len()).find(free) }?;
        let mut memory = memory.clone();
        Some(Choice { task: memory.remove(at), memory, ways: 1 })
    }

    fn scheduler(&self) -> Option<&dyn Scheduler> {
        None
    }
}

/// Any task, at the same price. What is remembered is sorted. If only so many of a kind may be pending, others are dropped.
pub(super) struct Bag {
    pub(super) most: u32,
    pub(super) price: u32,
}

/// The kinds of tasks in a sorted list that are not blocked, with the first place and the number of each.
pub(super) fn kinds<'m>(tasks: &'m [u32], blocked: IsBlocked<'m>) -> impl Iterator<Item = (usize, &'m [u32])> {
    let mut first = 0;
    let placed = move |same: &'m [u32]| {
        first += same.len();
        (first - same.len(), same)
    };
    tasks.chunk_by(|one, other| one == other).map(placed).filter(move |(_, same)| !blocked(same[0]))
}

/// Adds a task to a sorted list.
pub(super) fn insert(tasks: &mut Memory, from: usize, task: u32) {
    let at = from + tasks[from..].partition_point(|&other| other < task);
    tasks.insert(at, task);
}

impl Policy for Bag {
    fn start(&self) -> Memory {
        Memory::new()
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        memory
    }

    fn give(&self, memory: &mut Memory, task: u32, _: bool) -> bool {
        let room = memory.iter().filter(|&&other| other == task).count() < self.most as usize;
        if room {
            insert(memory, 0, task);
        }
        room
    }

    fn price(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<u32> {
        kinds(memory, blocked).nth(number as usize).map(|_| self.price)
    }

    fn choice(&self, memory: &Memory, number: u32, blocked: IsBlocked<'_>) -> Option<Choice> {
        let (at, same) = kinds(memory, blocked).nth(number as usize)?;
        let mut rest = memory.clone();
        Some(Choice { task: rest.remove(at), memory: rest, ways: same.len() as u32 })
    }

    fn scheduler(&self) -> Option<&dyn Scheduler> {
        None
    }
}
