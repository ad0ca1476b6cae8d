//! Concurrent programs with finite data.
//!
//! A program is a system that answers one question: which steps has a thread in this state. The answer is computed when it
//! is asked for. [`code`] is the program, made ready; [`machine`] executes a statement, and [`steps`] adds what follows it
//! without being seen. What the program's text says about that stands in [`variables`] (which values matter where),
//! [`local_steps`] (which steps nobody can see) and [`setup`] (which threads there are from the start).
//!
//! [`table`] turns a program into a pushdown system, with rules for all that may happen; [`retrace`] follows what engines
//! find there on the interpreter. [`crowd`] looks at programs that create any number of threads.

pub(crate) mod cache;
pub mod certificate;
pub mod code;
mod compiler;
pub mod crowd;
mod describe;
pub mod follow;
mod footprints;
pub mod layout;
pub mod local_steps;
pub mod machine;
mod persistent;
pub mod retrace;
pub mod setup;
pub mod steps;
pub mod system;
pub mod table;
pub mod tables;
pub mod tasks;
pub mod terms;
pub mod variables;
pub mod views;
mod violations;
pub mod word_rows;

use std::sync::{Arc, Mutex, PoisonError};

use tepui_core::Budget;

/// How a program is made ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Places for threads at the same time, where threads are created.
    pub places: usize,
    /// Whether what no verdict depends on may be left out.
    pub reduce: bool,
    /// Whether it is asked for deadlocks.
    pub deadlock: bool,
    /// Whether the values of dead local variables are kept all the same.
    pub keep_dead: bool,
    /// Whether every step is seen all the same.
    pub keep_steps: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { places: 2, reduce: true, deadlock: false, keep_dead: false, keep_steps: false }
    }
}

/// Why a program is not made ready: it has something that is more than can be dealt with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported(pub String);

/// Whether to stop, which is asked from time to time.
#[derive(Clone)]
pub struct Patience(Arc<dyn Fn() -> bool + Send + Sync>);

impl Patience {
    /// One that ends when it is said.
    pub fn until(ends: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(ends))
    }

    /// One that ends when a limit is reached; each time it is asked, so much work has been done.
    pub fn of(budget: &Budget, work: u64) -> Self {
        let budget = Mutex::new(budget.clone());
        Self::until(move || {
            let mut budget = budget.lock().unwrap_or_else(PoisonError::into_inner);
            budget.spend(work).and_then(|()| budget.look()).is_err()
        })
    }

    /// Whether it has ended.
    pub fn ends(&self) -> bool {
        (self.0)()
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self::until(|| false)
    }
}

impl std::fmt::Debug for Patience {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Patience")
    }
}

/// As what the steps of a program are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Face {
    /// As steps of the program.
    Composed,
    /// As rules of a pushdown system, of which a step of the program may take several.
    Raw,
}
