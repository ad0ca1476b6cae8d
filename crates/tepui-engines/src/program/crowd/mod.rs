//! Programs that create any number of threads.
//!
//! What is seen is `main`, the shared variables and k of the other threads, of each the topmost frames of its stack. From above
//! (`views`), the least set of views is found that contains the start and that no step leaves, of a thread in sight or out
//! of sight: whatever any number of threads does, no other view appears. That names the words that threads may have, and which
//! of them occur in which state: a *net* of threads in finitely many places (`net`), for which coverability is decided
//! ([`counters`](crate::counters)). Where no thread calls procedures the net is the program; where they recurse it contains all
//! that the program does, and more frames are looked at if that is too much.
//!
//! Nothing is ever found to be violated here: whoever looks for violations with few threads, one after the other, finds them
//! with the fewest. But it is known, if the net is the program, how many threads are enough.

mod engine;
mod net;
mod threads;
mod views;

pub use engine::Crowd;
