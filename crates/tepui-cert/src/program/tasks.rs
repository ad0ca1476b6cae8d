//! What the tasks of a program do between two dispatches, and how many of which are pending when one is dispatched.

use tepui_model::pushdown::Symbol;

/// A proof about a program with tasks.
///
/// An [`Entry`] is where a task is dispatched, or a procedure called: it lists the [`Node`]s that are reached from there before
/// the task ends or yields, or the procedure returns, each with what may have been posted since. A [`Marking`] says what may be
/// pending when nobody runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tasks {
    /// Whether tasks are counted, so that fewer may be pending than are listed, or listed in the order in which they are posted.
    pub counted: bool,
    /// Stacks of frames, the topmost last. They are what is pending, and what runs.
    pub stacks: Vec<Vec<Symbol>>,
    /// What begins where.
    pub entries: Vec<Entry>,
    /// What may be pending.
    pub markings: Vec<Marking>,
}

/// What happens when a task is dispatched, or a procedure called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The shared state.
    pub shared: u32,
    /// The stack.
    pub stack: u32,
    /// What is reached.
    pub nodes: Vec<Node>,
}

/// A shared state and a stack that are reached from an entry. The stack is empty if the task has ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// The shared state.
    pub shared: u32,
    /// The stack.
    pub stack: u32,
    /// All that may have been posted since the entry.
    pub posted: Vec<Pending>,
}

/// What may be pending with a shared state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Marking {
    /// The shared state.
    pub shared: u32,
    /// The tasks.
    pub pending: Pending,
}

/// Stacks of tasks, and how many there are of each. Where they are counted, in ascending order.
pub type Pending = Vec<(u32, u32)>;

/// Any number of tasks.
pub const ANY: u32 = u32::MAX;
