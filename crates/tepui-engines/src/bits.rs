//! Which threads have come to which states.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::ids::{Id, StateId, ThreadId};

/// One bit for each thread, for all states from a first one on. Several threads may set bits at the same time.
pub(crate) struct Bits {
    stride: usize,
    first: StateId,
    bytes: Vec<AtomicU8>,
}

impl Bits {
    /// No states yet.
    pub(crate) fn new(threads: usize, first: StateId) -> Self {
        Self { stride: threads.div_ceil(8), first, bytes: Vec::new() }
    }

    /// The first state that has bits.
    pub(crate) fn first(&self) -> StateId {
        self.first
    }

    /// There are now so many states, those without bits counted; the bits of new ones are clear.
    pub(crate) fn grow(&mut self, states: usize) {
        self.bytes.resize_with((states - self.first.index()) * self.stride, AtomicU8::default);
    }

    /// Whether a bit is set.
    pub(crate) fn has(&self, state: StateId, thread: ThreadId) -> bool {
        let (byte, bit) = self.place(state, thread);
        self.bytes[byte].load(Ordering::Relaxed) & bit != 0
    }

    /// Sets a bit; returns whether it was clear.
    pub(crate) fn set(&self, state: StateId, thread: ThreadId) -> bool {
        let (byte, bit) = self.place(state, thread);
        // Reading first keeps the cache line shared where the bit is set, as it mostly is; a write would claim it.
        !self.has(state, thread) && self.bytes[byte].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    fn place(&self, state: StateId, thread: ThreadId) -> (usize, u8) {
        ((state.index() - self.first.index()) * self.stride + thread.index() / 8, 1 << (thread.0 % 8))
    }
}
