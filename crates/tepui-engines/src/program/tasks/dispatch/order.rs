//! The order that a program prescribes, and the order in which a run posts.

use std::sync::Arc;

use tepui_model::program::Order;
use tepui_model::program::schedulers::{IsBlocked, Memory, Scheduler};

use super::super::runs::Ledger;

/// The order that a program prescribes, as a scheduler that is never asked to delay.
pub(super) struct Prescribed(pub(super) Order);

impl Scheduler for Prescribed {
    fn name(&self) -> String {
        self.0.name().to_owned()
    }

    fn start(&self) -> Memory {
        Memory::new()
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        memory
    }

    fn passes_over_blocked(&self) -> bool {
        true
    }

    fn give(&self, memory: &mut Memory, task: u32, _: bool) {
        memory.push(task);
    }

    fn take(&self, memory: &mut Memory, blocked: IsBlocked<'_>) -> Option<u32> {
        let free = |at: &usize| !blocked(memory[*at]);
        let found = match self.0 {
            Order::Lifo => (0..memory.len()).rev().find(free),
            Order::Bag | Order::Fifo => (0..memory.len()).find(free),
        };
        found.map(|at| memory.remove(at))
    }

    fn delay(&self, memory: &mut Memory, task: u32) {
        memory.push(task);
    }
}

/// Notes which tasks were posted, in their order, up to a number.
pub(super) struct Listed {
    pub(super) most: usize,
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
