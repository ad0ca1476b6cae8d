//! What threads were last seen to do: a table of fixed size, which may forget.
//!
//! Steps depend on the shared row and the thread's stack alone, so nothing depends on what is remembered. Where few are found
//! again, it is not looked at for a while.

/// How many entries there are.
const SIZE: usize = 1 << 12;
/// So many lookups are judged together.
const WINDOW: u32 = 1 << 12;
/// For so many lookups it is not looked at, if too few were found.
const PAUSE: u32 = 1 << 16;

/// A shared row, the stack of a thread and its kind.
pub(crate) type Key = (u32, u32, u32);

/// What was seen last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache {
    entries: Vec<Entry>,
    asked: u32,
    found: u32,
    paused: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    key: Key,
    results: Results,
}

/// At most two results of a step: the shared row and the stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Results {
    /// How many there are, and one more; too many, if that is more than three.
    count: u8,
    results: [(u32, u32); 2],
}

impl Results {
    /// None yet.
    pub(crate) fn none() -> Self {
        Self { count: 1, results: [(0, 0); 2] }
    }

    /// Adds one.
    #[inline]
    pub(crate) fn push(&mut self, result: (u32, u32)) {
        if let Some(place) = self.results.get_mut(usize::from(self.count) - 1) {
            *place = result;
        }
        self.count = self.count.saturating_add(1);
    }

    /// All of them.
    #[inline]
    pub(crate) fn all(&self) -> &[(u32, u32)] {
        &self.results[..usize::from(self.count) - 1]
    }
}

impl Cache {
    /// One that remembers nothing, for those who ask once.
    pub(crate) fn off() -> Self {
        Self { paused: u32::MAX, ..Self::default() }
    }

    /// What was seen, if it is remembered.
    #[inline]
    pub(crate) fn get(&mut self, key: Key) -> Option<Results> {
        if self.paused > 0 {
            self.paused -= 1;
            return None;
        }
        let found = self.entries.get(place(key)).filter(|entry| entry.key == key && entry.results.count > 0);
        let found = found.map(|entry| entry.results);
        self.asked += 1;
        self.found += u32::from(found.is_some());
        if self.asked == WINDOW {
            self.paused = if self.found < WINDOW / 3 { PAUSE } else { 0 };
            (self.asked, self.found) = (0, 0);
        }
        found
    }

    /// Remembers what was seen, if that is not too much.
    #[inline]
    pub(crate) fn put(&mut self, key: Key, results: Results) {
        if self.paused > 0 || results.count > 3 {
            return;
        }
        if self.entries.is_empty() {
            self.entries.resize(SIZE, Entry::default());
        }
        self.entries[place(key)] = Entry { key, results };
    }
}

/// Some of the keys that were added: a table of fixed size, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    keys: Vec<Option<Key>>,
}

impl Seen {
    /// Whether a key was added and is remembered.
    #[inline]
    pub(crate) fn has(&self, key: Key) -> bool {
        self.keys.get(place(key)).is_some_and(|seen| *seen == Some(key))
    }

    /// Remembers a key.
    pub(crate) fn add(&mut self, key: Key) {
        if self.keys.is_empty() {
            self.keys.resize(SIZE, None);
        }
        self.keys[place(key)] = Some(key);
    }
}

#[inline]
fn place((shared, stack, kind): Key) -> usize {
    let mixed = (u64::from(shared) << 32 | u64::from(stack)) ^ u64::from(kind).rotate_left(20);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize & (SIZE - 1)
}
