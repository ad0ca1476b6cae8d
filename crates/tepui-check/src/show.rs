//! What is said to people when a proof is refused. Nothing here has to be believed.

use tepui_model::pushdown::Symbol;

use crate::system::Move;

/// What things of a model are called.
pub(crate) trait Show {
    /// The name of a thread.
    fn thread_name(&self, thread: usize) -> String;
    /// A symbol, for people.
    fn show_symbol(&self, thread: usize, symbol: Symbol) -> String;
    /// A shared state, for people.
    fn show_shared(&self, shared: u32) -> String;
    /// A state at the start, for people.
    fn show_initial(&self, number: usize) -> String;
    /// What is done, for people.
    fn show_move(&self, thread: usize, step: &Move) -> String;
}
