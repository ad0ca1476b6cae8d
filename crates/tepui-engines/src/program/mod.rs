//! Concurrent Boolean programs.
//!
//! A program is a system that answers one question: which steps has a thread in this state. The answer is computed when it
//! is asked for. [`code`] is the program, made ready; [`machine`] executes a statement, and [`steps`] adds what follows it
//! without being seen. What the program's text says about that stands in [`variables`] (which values matter where),
//! [`local_steps`] (which steps nobody can see) and [`setup`] (which threads there are from the start).
//!
//! [`table`] turns a program into a pushdown system, with rules for all that may happen; [`retrace`] follows what engines
//! find there on the interpreter.

pub mod certificate;
pub mod code;
pub mod follow;
pub mod layout;
pub mod local_steps;
pub mod machine;
pub mod retrace;
pub mod setup;
pub mod steps;
pub mod system;
pub mod table;
pub mod tables;
pub mod variables;
pub mod views;
pub mod word_rows;

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

/// As what the steps of a program are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Face {
    /// As steps of the program.
    Composed,
    /// As rules of a pushdown system, of which a step of the program may take several.
    Raw,
}
