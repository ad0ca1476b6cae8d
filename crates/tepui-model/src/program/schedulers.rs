//! Delaying schedulers: which pending task is next, and what it means to delay it.
//!
//! A scheduler is deterministic. An execution under it that delays at most K tasks is one of a few, and every execution is one
//! with some number of delays: whatever is pending can be brought to the front by delays alone. With e tasks pending, e - 1
//! delays bring each of them to the front, and e delays the first one again.
//!
//! | name | next | a task that is delayed | one that is posted | one that has yielded |
//! | --- | --- | --- | --- | --- |
//! | `rr` | the one at the pointer, or behind it | stays, and the pointer moves on | goes to the end | stays at the pointer |
//! | `rr-reverse` | the one at the pointer, or before it | stays, and the pointer moves back | goes to the end | stays at the pointer |
//! | `dfs` | the first that was posted last | waits for the next round | goes before those posted earlier | comes after those that it has posted |
//! | `fifo` | the one that came first | goes to the back | goes to the back | goes to the back |
//! | `lifo` | the one that came last | goes to the bottom | goes on top | goes on top |
//! | `priority` | that of the highest priority | gets the lowest | gets one at random | gets one at random |
//!
//! `rr`, `rr-reverse` and `priority` pass over tasks that are blocked. The others do not look: a task that is blocked has to be
//! delayed like any other.

use std::sync::Arc;

/// What a scheduler remembers: numbers, among them those of all pending tasks.
pub type Memory = Vec<u32>;

/// Whether a task is blocked.
pub type IsBlocked<'a> = &'a dyn Fn(u32) -> bool;

/// A delaying scheduler. It must not lose tasks: what was given is taken or pending. Tasks of the same kind have the same
/// number.
pub trait Scheduler: Send + Sync {
    /// What it is called.
    fn name(&self) -> String;

    /// What it remembers when nothing is pending.
    fn start(&self) -> Memory;

    /// The tasks that are pending.
    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32];

    /// Whether it passes over tasks that are blocked.
    fn passes_over_blocked(&self) -> bool;

    /// A task is pending: one that was posted just now, or one that has yielded.
    fn give(&self, memory: &mut Memory, task: u32, posted: bool);

    /// Takes the task that is next; none, if none is pending, or all are blocked and it passes over these.
    fn take(&self, memory: &mut Memory, blocked: IsBlocked<'_>) -> Option<u32>;

    /// Delays the task that was taken just now.
    fn delay(&self, memory: &mut Memory, task: u32);
}

/// How the next task is chosen.
#[derive(Clone)]
pub enum Dispatcher {
    /// By a scheduler, whose delays count.
    Delaying(Arc<dyn Scheduler>),
    /// Any of them. If as many of a kind are pending as there may be, those that are posted are dropped, so that less happens than could.
    Bag {
        /// The most of a kind.
        most: u32,
    },
}

impl Dispatcher {
    /// The one with a name: that of a scheduler, `bag`, or `bounded-bag:MOST`.
    pub fn named(name: &str) -> Option<Self> {
        match name.strip_prefix("bounded-bag:") {
            Some(most) => Some(Self::Bag { most: most.parse().ok().filter(|most| *most > 0)? }),
            None if name == "bag" => Some(Self::Bag { most: u32::MAX }),
            None => scheduler(name).map(Self::Delaying),
        }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Delaying(scheduler) => scheduler.name(),
            Self::Bag { most: u32::MAX } => "bag".to_owned(),
            Self::Bag { most } => format!("bounded-bag:{most}"),
        }
    }
}

impl From<Arc<dyn Scheduler>> for Dispatcher {
    fn from(scheduler: Arc<dyn Scheduler>) -> Self {
        Self::Delaying(scheduler)
    }
}

/// The scheduler with a name.
pub fn scheduler(name: &str) -> Option<Arc<dyn Scheduler>> {
    let seed = name.strip_prefix("priority:").map_or(Some(0), |seed| seed.parse().ok())?;
    Some(match name {
        "rr" => Arc::new(RoundRobin { reverse: false }),
        "rr-reverse" => Arc::new(RoundRobin { reverse: true }),
        "dfs" => Arc::new(DepthFirst),
        "fifo" => Arc::new(Line { top: false }),
        "lifo" => Arc::new(Line { top: true }),
        _ if name == "priority" || name.starts_with("priority:") => Arc::new(Priority { seed }),
        _ => return None,
    })
}

/// The names of all of them. `priority:SEED` is one with another seed.
pub const NAMES: &[&str] = &["rr", "rr-reverse", "dfs", "fifo", "lifo", "priority"];

/// A list with a pointer, which comes first.
struct RoundRobin {
    reverse: bool,
}

/// The pointer where it stands before the first task.
const BEFORE: u32 = u32::MAX;

impl Scheduler for RoundRobin {
    fn name(&self) -> String {
        if self.reverse { "rr-reverse" } else { "rr" }.to_owned()
    }

    fn start(&self) -> Memory {
        // As if the only task had been taken.
        vec![if self.reverse { BEFORE } else { 0 }]
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        &memory[1..]
    }

    fn passes_over_blocked(&self) -> bool {
        true
    }

    fn give(&self, memory: &mut Memory, task: u32, posted: bool) {
        match posted {
            true => memory.push(task),
            false => self.put_back(memory, task, false),
        }
    }

    fn take(&self, memory: &mut Memory, blocked: IsBlocked<'_>) -> Option<u32> {
        let count = memory.len() - 1;
        if count == 0 {
            return None;
        }
        let pointer = match (self.reverse, memory[0] as usize) {
            (true, pointer) if pointer >= count => count - 1,
            (_, pointer) => pointer % count,
        };
        let at = |step: usize| if self.reverse { (pointer + count - step) % count } else { (pointer + step) % count };
        let found = (0..count).map(at).find(|&at| !blocked(memory[1 + at]))?;
        let task = memory.remove(1 + found);
        memory[0] = if self.reverse { (found as u32).wrapping_sub(1) } else { found as u32 };
        Some(task)
    }

    fn delay(&self, memory: &mut Memory, task: u32) {
        self.put_back(memory, task, true);
    }
}

impl RoundRobin {
    /// Puts a task back to where it was; the pointer stands there, or has moved on.
    fn put_back(&self, memory: &mut Memory, task: u32, moves_on: bool) {
        let pointer = memory[0];
        let at = if self.reverse { pointer.wrapping_add(1) } else { pointer };
        memory.insert(1 + at as usize, task);
        memory[0] = match (self.reverse, moves_on) {
            (false, true) => pointer + 1,
            (true, false) => at,
            _ => pointer,
        };
        debug_assert!(memory[0] == BEFORE || (memory[0] as usize) < memory.len());
    }
}

/// Three stacks, one after the other: delayed, this round, just posted. The lengths of the first two come first.
struct DepthFirst;

impl Scheduler for DepthFirst {
    fn name(&self) -> String {
        "dfs".to_owned()
    }

    fn start(&self) -> Memory {
        vec![0, 0]
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        &memory[2..]
    }

    fn passes_over_blocked(&self) -> bool {
        false
    }

    fn give(&self, memory: &mut Memory, task: u32, _: bool) {
        memory.push(task);
    }

    fn take(&self, memory: &mut Memory, _: IsBlocked<'_>) -> Option<u32> {
        let (delayed, round) = (memory[0] as usize, memory[1] as usize);
        // What was posted first comes to lie on top.
        memory[2 + delayed + round..].reverse();
        memory[1] = (memory.len() - 2 - delayed) as u32;
        if memory[1] == 0 {
            memory[2..].reverse();
            (memory[0], memory[1]) = (0, delayed as u32);
        }
        memory[1] = memory[1].checked_sub(1)?;
        memory.pop()
    }

    fn delay(&self, memory: &mut Memory, task: u32) {
        let top = 2 + memory[0] as usize;
        memory.insert(top, task);
        memory[0] += 1;
    }
}

/// A queue, or a stack: the last one is next.
struct Line {
    top: bool,
}

impl Scheduler for Line {
    fn name(&self) -> String {
        if self.top { "lifo" } else { "fifo" }.to_owned()
    }

    fn start(&self) -> Memory {
        Memory::new()
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        memory
    }

    fn passes_over_blocked(&self) -> bool {
        false
    }

    fn give(&self, memory: &mut Memory, task: u32, _: bool) {
        memory.insert(if self.top { memory.len() } else { 0 }, task);
    }

    fn take(&self, memory: &mut Memory, _: IsBlocked<'_>) -> Option<u32> {
        memory.pop()
    }

    fn delay(&self, memory: &mut Memory, task: u32) {
        memory.insert(0, task);
    }
}

/// Tasks by their priorities, the highest last. How many have been given comes first, as far as draws differ.
struct Priority {
    seed: u64,
}

/// After how many draws they repeat.
const DRAWS: u32 = 1 << 10;

impl Scheduler for Priority {
    fn name(&self) -> String {
        if self.seed == 0 { "priority".to_owned() } else { format!("priority:{}", self.seed) }
    }

    fn start(&self) -> Memory {
        vec![0]
    }

    fn pending<'m>(&self, memory: &'m Memory) -> &'m [u32] {
        &memory[1..]
    }

    fn passes_over_blocked(&self) -> bool {
        true
    }

    fn give(&self, memory: &mut Memory, task: u32, _: bool) {
        let mut drawn = (u64::from(memory[0]) + 1).wrapping_add(self.seed << 20).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let at = ((drawn ^ (drawn >> 27)) >> 8) % memory.len() as u64;
        memory.insert(1 + at as usize, task);
        memory[0] = (memory[0] + 1) % DRAWS;
    }

    fn take(&self, memory: &mut Memory, blocked: IsBlocked<'_>) -> Option<u32> {
        let found = (1..memory.len()).rev().find(|&at| !blocked(memory[at]))?;
        Some(memory.remove(found))
    }

    fn delay(&self, memory: &mut Memory, task: u32) {
        memory.insert(1, task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives and takes at random; whatever is pending is never lost, and delays bring it to the front.
    #[test]
    fn nothing_is_lost_and_everything_can_be_reached() {
        let mut drawn = 1_u64;
        let mut draw = |below: u64| {
            drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (drawn >> 33) % below
        };
        for name in NAMES.iter().copied().chain(["priority:7"]) {
            let own = scheduler(name).unwrap();
            assert_eq!(own.name(), name);
            for _ in 0..300 {
                let (mut memory, mut next, mut all) = (own.start(), 0_u32, Vec::new());
                // The first task runs, and may yield.
                let mut taken: Option<u32> = Some(1_000);
                for _ in 0..draw(40) {
                    match draw(4) {
                        0 | 1 => {
                            own.give(&mut memory, next, true);
                            all.push(next);
                            next += 1;
                        }
                        2 if taken.is_some() => {
                            own.give(&mut memory, taken.unwrap(), false);
                            all.push(taken.take().unwrap());
                        }
                        _ => {
                            taken = own.take(&mut memory, &|_| false).or(taken);
                            all.retain(|task| Some(*task) != taken);
                        }
                    }
                    let mut pending = own.pending(&memory).to_vec();
                    pending.sort_unstable();
                    all.sort_unstable();
                    assert_eq!(pending, all, "{name}");
                }
                let mut front = Vec::new();
                for _ in 0..all.len() {
                    let task = own.take(&mut memory, &|_| false).unwrap();
                    front.push(task);
                    own.delay(&mut memory, task);
                }
                let again = own.take(&mut memory, &|_| false);
                assert_eq!(again, front.first().copied(), "{name}");
                front.sort_unstable();
                assert_eq!(front, all, "{name}");
            }
        }
    }

    #[test]
    fn blocked_tasks_are_passed_over_where_that_is_said() {
        for name in NAMES {
            let own = scheduler(name).unwrap();
            let mut memory = own.start();
            (0..3).for_each(|task| own.give(&mut memory, task, true));
            let mut taken = Vec::new();
            while let Some(task) = own.take(&mut memory, &|task| task == 1) {
                taken.push(task);
            }
            assert_eq!(taken.contains(&1), !own.passes_over_blocked(), "{name}");
        }
        assert!(scheduler("bag").is_none() && scheduler("priority:x").is_none());
    }
}
