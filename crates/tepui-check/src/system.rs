//! What a check has to know of a model: its threads, and what they do.

use smallvec::SmallVec;
use tepui_model::program::step::Woken;
use tepui_model::pushdown::Symbol;

use crate::lemma::{Things, Touched};
use crate::show::Show;

/// A shared state or a symbol that a certificate does not have.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// A few symbols, which need no memory of their own.
pub(crate) type Symbols = SmallVec<[Symbol; 2]>;

/// A state at the start: a shared state, and for each thread its stack, top first, without the marker.
pub(crate) type Start = (u32, Vec<Vec<Symbol>>);

/// What the check of a lemma has to know of a model: its threads, and what they do.
pub(crate) trait System: Show {
    /// Whether a thread may have to wait for another one that must not be interrupted.
    const TURNS: bool;

    /// How many threads there are.
    fn threads(&self) -> usize;
    /// How many symbols a thread has, the marker included.
    fn symbols(&self, thread: usize) -> u32;
    /// How many shared states there are.
    fn shared_states(&self) -> u32;
    /// Whether a thread can be exchanged with another in every run of the model; if not, why.
    fn alike(&self, thread: usize, leader: usize) -> Result<(), &'static str>;
    /// The states at the start.
    fn initial(&self) -> &[Start];
    /// All that it is asked from now on is about one set of views.
    fn begin(&self) {}
    /// Nobody will ask about the moves found so far.
    fn forget(&self) {}
    /// What a thread may do in a shared state with a symbol on top.
    fn moves(&self, thread: usize, shared: u32, top: Symbol) -> Vec<Move>;
    /// What a symbol becomes that comes to light, and the shared state with it.
    fn revealed(&self, thread: usize, step: &Move, symbol: Symbol) -> Vec<(u32, Symbol)>;
    /// Whether no other thread may move as long as a symbol is on top.
    fn is_uninterrupted(&self, top: Symbol) -> bool;
    /// What a symbol on top may become when one that sleeps on a condition is woken; none, if it does not sleep on it.
    fn woken(&self, top: Symbol, condition: u32) -> Option<Vec<Symbol>>;
    /// The threads that an action needs, in ascending order.
    fn meeting(&self, _action: u32) -> &[usize] {
        &[]
    }
    /// What a thread touches whose stack has some symbols, the top first, and may have some of the others; none, if nobody
    /// can tell.
    fn touched(&self, _thread: usize, _stack: &[Symbol]) -> Option<Touched> {
        None
    }
    /// What has no value yet in a shared state: who reads it gives it one.
    fn unset(&self, _shared: u32) -> Things {
        Things::default()
    }
    /// Whether to stop.
    fn stop(&self) -> bool;
}

/// What a thread does.
pub(crate) struct Move {
    /// The shared state afterwards.
    pub(crate) to: u32,
    /// What becomes of its stack.
    pub(crate) change: Change,
    /// What becomes of other threads.
    pub(crate) others: Option<Others>,
    /// Which rule or result it is, as the system counts.
    pub(crate) number: usize,
}

/// What becomes of a stack.
pub(crate) enum Change {
    /// Its top is removed.
    Pop,
    /// Its top is replaced by some symbols, the new top first; there is at least one.
    Replace(Symbols),
    /// It is emptied.
    Clear,
}

/// What becomes of other threads.
#[derive(Clone)]
pub(crate) enum Others {
    /// Threads are started: for each of them the symbols with which it may begin.
    Start(Vec<Vec<Symbol>>),
    /// Those that sleep on a condition are woken: all of them, or one if there is one.
    Wake(Woken),
    /// Threads move together, as [`System::meeting`] says: each of them with a move that belongs to the same action.
    Meet(u32),
}
