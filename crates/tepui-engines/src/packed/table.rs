//! Packed rows, and the hash table by which they are found.

/// How many parts the hash table has.
pub(crate) const SHARDS: usize = 16;
/// How many rows have their accesses made at once.
pub(crate) const AT_ONCE: usize = 32;
/// Sets with fewer rows than these are in the caches anyway.
const WORTH_PREFETCHING: usize = 1 << 15;

/// Packed rows, one after the other, in segments that stay where they are.
#[derive(Clone, Debug)]
pub struct Rows {
    /// How many words a row has.
    pub width: usize,
    /// The segments.
    pub segments: Vec<Vec<u64>>,
    /// How many rows there are.
    pub len: usize,
}

impl Rows {
    const SEGMENT: usize = 1 << 14;

    /// No rows yet.
    pub fn new(width: usize) -> Self {
        Self { width, segments: vec![Vec::new()], len: 0 }
    }

    /// A row.
    #[inline]
    pub fn get(&self, number: usize) -> &[u64] {
        &self.segments[number / Self::SEGMENT][number % Self::SEGMENT * self.width..][..self.width]
    }

    /// Adds a row.
    #[inline]
    pub fn push(&mut self, row: &[u64]) {
        if self.len == self.segments.len() * Self::SEGMENT {
            self.segments.push(Vec::with_capacity(Self::SEGMENT * self.width));
        }
        push_row(&mut self.segments[self.len / Self::SEGMENT], row);
        self.len += 1;
    }

    /// Adds rows that lie one after the other.
    pub fn append(&mut self, mut rows: &[u64]) {
        while let Some(row) = rows.get(..self.width) {
            self.push(row);
            let space = self.segments.len() * Self::SEGMENT - self.len;
            let (now, later) = rows[self.width..].split_at((space * self.width).min(rows.len() - self.width));
            if let Some(last) = self.segments.last_mut() {
                last.extend_from_slice(now);
            }
            self.len += now.len() / self.width;
            rows = later;
        }
    }
}

/// A part of the hash table: open addressing, where a slot is 0 or the upper half of a hash above a number that is one
/// more than that of the row. The place of a slot ascends with its hash, so growing is one pass from front to back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shard {
    /// The slots.
    pub slots: Vec<u64>,
    used: usize,
}

impl Shard {
    const SMALLEST: usize = 8;

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    /// The number of a row, if there is one with this hash for which `is_it` holds.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut place = self.home(hash);
        loop {
            let slot = self.slots[place];
            if slot == 0 {
                return None;
            }
            let number = slot as u32 - 1;
            // The half of the hash in the slot rules out almost all other rows without an access to them.
            if slot >> 32 == hash >> 32 && is_it(number) {
                return Some(number);
            }
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
    }

    /// The place of the slot of a row that is there.
    pub(crate) fn place_of(&self, hash: u64, number: u32) -> usize {
        let mut place = self.home(hash);
        while self.slots[place] as u32 != number + 1 {
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
        place
    }

    /// Adds a row that is not there; returns the place of its slot.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, number: u32) -> usize {
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.used += 1;
        let mut place = self.home(hash);
        while self.slots[place] != 0 {
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
        self.slots[place] = slot(hash, number);
        debug_assert!(self.used < self.slots.len(), "a search ends at a free slot");
        place
    }

    #[cold]
    fn grow(&mut self) {
        // By half, not by two: the table is most of the memory of small rows, and rehashing needs no rows, only slots.
        let length = (self.slots.len() / 2 * 3).max(Self::SMALLEST);
        let old = std::mem::replace(&mut self.slots, vec![0; length]);
        self.used = 0;
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            self.insert(slot, slot as u32 - 1);
        }
    }
}

/// Touches the slots that hashes lead to, and the rows that these lead to. The accesses of a loop do not depend on each
/// other, and there is little else in it, so that they overlap.
#[inline]
pub(crate) fn prefetch<'s>(hashes: impl Iterator<Item = (&'s Shard, u64)> + Clone, rows: &Rows) {
    if rows.len < WORTH_PREFETCHING {
        return;
    }
    let (mut slots, mut numbers) = ([0; AT_ONCE], [0; AT_ONCE]);
    for (slot, (shard, hash)) in slots.iter_mut().zip(hashes.clone()) {
        *slot = shard.slots.get(shard.home(hash)).copied().unwrap_or(0);
    }
    let mut seen = 0;
    for (number, (&slot, (shard, hash))) in numbers.iter_mut().zip(slots.iter().zip(hashes)) {
        *number = match slot >> 32 == hash >> 32 {
            true => slot as u32,
            false => shard.find(hash, |_| true).map_or(0, |number| number + 1),
        };
    }
    for number in numbers.into_iter().filter(|&number| number > 0) {
        if number as usize <= rows.len {
            seen ^= rows.get(number as usize - 1)[0];
        }
    }
    // Without a use of what was read, the compiler would leave the reads out.
    std::hint::black_box(seen);
}

/// Adds a row to others. Most are a single word, which needs no call.
#[inline]
pub(crate) fn push_row(rows: &mut Vec<u64>, row: &[u64]) {
    match row {
        &[word] => rows.push(word),
        row => rows.extend_from_slice(row),
    }
}

/// Rows are a word or two: a loop beats a call.
#[inline]
pub fn same(one: &[u64], other: &[u64]) -> bool {
    one.iter().eq(other)
}

/// A multiplication to the double width, folded: every bit of the result depends on every bit of the words.
#[inline]
pub fn hash(words: &[u64]) -> u64 {
    let fold = |hash: u64, &word: &u64| {
        let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        (product as u64) ^ (product >> 64) as u64
    };
    words.iter().fold(0x2545_f491_4f6c_dd1d, fold)
}

/// A slot for a row.
#[inline]
pub fn slot(hash: u64, number: u32) -> u64 {
    (hash >> 32 << 32) | u64::from(number + 1)
}

/// The shard that a hash belongs to; other bits than those by which shards place their entries.
#[inline]
pub fn shard(hash: u64) -> usize {
    hash as usize % SHARDS
}
