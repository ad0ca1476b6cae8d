//! A schedule of tasks: in which order they run, and what each run leaves behind. Enough to find an execution again.

use super::step::Value;

/// A schedule, up to the violation of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The runs, in their order. The last one violates the property.
    pub runs: Vec<Run>,
    /// For each task who posts it: the task, and how many it has posted before. The first task is `main`.
    pub posted: Vec<Option<(usize, usize)>>,
    /// The name of the property.
    pub property: String,
}

/// From a dispatch of a task to where it ends or yields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The task.
    pub task: usize,
    /// The values of the shared variables afterwards; none, if nobody knows.
    pub leaves: Option<Vec<Value>>,
}
