//! Sets of tuples, packed into machine words.
//!
//! States and views are tuples of small numbers. A row is stored in as few 64-bit words as its fields need (no field
//! straddles two words), rows lie one after the other in the order of insertion, and a hash table holds their 32-bit
//! numbers. So a set of tuples of up to 64 bits costs 8 bytes a row plus 11 to 16 bytes of table, and the row
//! number is an identity that other vectors can be indexed by. Fields start narrow; when a value does not fit, all
//! rows are packed anew with one more bit for that field than the value needs. That happens at most 32 times for a
//! field.
//!
//! Rows come in [batches](Batch): packed and hashed when they are found, looked up or added together. Large sets are bound
//! by the latency of memory, and two things help: a slot of the table holds 32 bits of the hash beside the number, so that
//! one access tells whether it is worth looking at the row; and the accesses for many rows are made at once, in loops that
//! do nothing else, before anything is decided.
//!
//! The table is cut into shards, so that several threads can add batches ([`PackedSet::insert_all`]). Each thread takes
//! the rows of its own shards in, those that are new with a number for the time being; then the new rows get numbers in
//! the order in which they came, then each thread puts these into its shards. The numbers are those that adding one by
//! one would have given. Growing a shard at a time also keeps the peak of memory low.

use crate::crew::Crew;

/// How many parts the hash table has.
const SHARDS: usize = 16;
/// How many rows have their accesses made at once.
const AT_ONCE: usize = 32;
/// Sets with fewer rows than these are in the caches anyway.
const WORTH_WARMING: usize = 1 << 15;
/// With so many fields, all but the first get wider together.
const MANY_FIELDS: usize = 64;
/// Fewer rows than these are not worth sharing.
const WORTH_SHARING: usize = 256;

#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    width: u32,
}

impl Field {
    fn mask(self) -> u64 {
        (1 << self.width) - 1
    }
}

/// A set of rows of equally many numbers.
#[derive(Clone, Debug)]
pub struct PackedSet {
    fields: Vec<Field>,
    words: usize,
    rows: Rows,
    shards: Vec<Shard>,
    scratch: Batch,
}

/// Packed rows, one after the other, in chunks that stay where they are.
#[derive(Clone, Debug)]
struct Rows {
    width: usize,
    chunks: Vec<Vec<u64>>,
    len: usize,
}

impl Rows {
    const CHUNK: usize = 1 << 14;

    fn new(width: usize) -> Self {
        Self { width, chunks: vec![Vec::new()], len: 0 }
    }

    #[inline]
    fn get(&self, number: usize) -> &[u64] {
        &self.chunks[number / Self::CHUNK][number % Self::CHUNK * self.width..][..self.width]
    }

    #[inline]
    fn push(&mut self, row: &[u64]) {
        if self.len == self.chunks.len() * Self::CHUNK {
            self.chunks.push(Vec::with_capacity(Self::CHUNK * self.width));
        }
        self.chunks[self.len / Self::CHUNK].extend_from_slice(row);
        self.len += 1;
    }
}

/// A part of the hash table: open addressing, where a slot is 0 or the upper half of a hash above a number that is one
/// more than that of the row. The place of a slot ascends with its hash, so growing is one pass from front to back.
#[derive(Clone, Debug, Default)]
struct Shard {
    slots: Vec<u64>,
    used: usize,
}

impl Shard {
    const SMALLEST: usize = 8;

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    /// The number of a row, if there is one with this hash for which `is_it` holds.
    #[inline]
    fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
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
            if slot >> 32 == hash >> 32 && is_it(number) {
                return Some(number);
            }
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
    }

    /// The place of the slot of a row that is there.
    fn place_of(&self, hash: u64, number: u32) -> usize {
        let mut place = self.home(hash);
        while self.slots[place] as u32 != number + 1 {
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
        place
    }

    /// Adds a row that is not there; returns the place of its slot.
    #[inline]
    fn insert(&mut self, hash: u64, number: u32) -> usize {
        if (self.used + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        self.used += 1;
        let mut place = self.home(hash);
        while self.slots[place] != 0 {
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
        self.slots[place] = slot(hash, number);
        place
    }

    #[cold]
    fn grow(&mut self) {
        let length = (self.slots.len() / 2 * 3).max(Self::SMALLEST);
        let old = std::mem::replace(&mut self.slots, vec![0; length]);
        self.used = 0;
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            self.insert(slot, slot as u32 - 1);
        }
    }
}

/// Rows packed as a set packs them, in order.
#[derive(Clone, Default, Debug)]
pub struct Batch {
    words: Vec<u64>,
    hashes: Vec<u64>,
    /// Rows with values that do not fit the set's fields, and their places in the lists above, where nothing stands.
    wide: Vec<(usize, Vec<u32>)>,
}

impl Batch {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.words.clear();
        self.hashes.clear();
        self.wide.clear();
    }

    fn row(&self, index: usize, width: usize) -> &[u64] {
        &self.words[index * width..][..width]
    }
}

/// What a thread has found out about the rows of its shards.
#[derive(Default)]
struct Share {
    /// For each row its number; those that are new are numbered among themselves, from the size of the set on.
    numbers: Vec<u32>,
    /// For each batch, where its rows begin in the list above.
    starts: Vec<usize>,
    /// The rows that are new, in order.
    new: Vec<New>,
    /// Whether slots were moved.
    moved: bool,
}

/// A row that a shard has taken in: the batch, its index there, and the place of its slot, if no slot was moved since.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct New {
    batch: u32,
    index: u32,
    place: usize,
}

impl PackedSet {
    /// A set of rows with fields that are wide enough for the given largest values, for a start.
    pub fn new(largest: impl IntoIterator<Item = u32>) -> Self {
        let widths: Vec<_> = largest.into_iter().map(bits).collect();
        let (fields, words) = layout(&widths);
        let shards = vec![Shard::default(); SHARDS];
        Self { fields, words, rows: Rows::new(words), shards, scratch: Batch::default() }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many numbers a row has.
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        (self.len() * self.words * 8 + self.shards.iter().map(|shard| shard.slots.len()).sum::<usize>() * 8) as u64
    }

    /// Adds a row; returns its number, and whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> (u32, bool) {
        let mut batch = [std::mem::take(&mut self.scratch)];
        self.pack(row, &mut batch[0]);
        self.make_room(&mut batch);
        assert!(self.len() + 1 < u32::MAX as usize, "fewer than 2^32 rows fit the index");
        let found = self.insert_packed(&batch[0].words, batch[0].hashes[0]);
        let [mut batch] = batch;
        batch.clear();
        self.scratch = batch;
        found
    }

    /// The number of a row, if it is there.
    pub fn find(&self, row: &[u32]) -> Option<u32> {
        self.with_packed(row, |words| {
            let words = words?;
            let hash = hash(words);
            self.shards[shard(hash)].find(hash, |number| same(self.slice(number), words))
        })
    }

    /// Puts a row into a batch.
    #[inline]
    pub fn pack(&self, row: &[u32], batch: &mut Batch) {
        let start = batch.words.len();
        batch.words.resize(start + self.words, 0);
        let words = &mut batch.words[start..];
        if !pack_into(&self.fields, row, words) {
            words.fill(0);
            batch.wide.push((batch.hashes.len(), row.to_vec()));
        }
        batch.hashes.push(hash(words));
    }

    /// The numbers of the rows of a batch, as far as they are there, in order.
    pub fn find_all<'s>(&'s self, batch: &'s Batch) -> impl Iterator<Item = Option<u32>> + 's {
        let mut wide = batch.wide.iter().map(|wide| wide.0).peekable();
        batch.hashes.iter().enumerate().map(move |(index, &hash)| {
            if index % AT_ONCE == 0 {
                self.warm(&batch.hashes[index..]);
            }
            if wide.next_if_eq(&index).is_some() {
                return None;
            }
            let row = batch.row(index, self.words);
            self.shards[shard(hash)].find(hash, |number| same(self.slice(number), row))
        })
    }

    /// Adds the rows of batches, one after the other, and returns the numbers of all of them in the same order.
    pub fn insert_all(&mut self, batches: &mut [Batch], crew: &Crew) -> Vec<Vec<u32>> {
        self.make_room(batches);
        let rows: usize = batches.iter().map(Batch::len).sum();
        assert!(self.len() + rows < u32::MAX as usize, "fewer than 2^32 rows fit the index");
        if crew.size() == 1 || rows < WORTH_SHARING {
            return batches.iter().map(|batch| self.insert_alone(batch)).collect();
        }
        let (batches, first) = (&*batches, self.len() as u32);
        let per = SHARDS.div_ceil(crew.size());
        let owned = self.shards.chunks_mut(per).enumerate().collect();
        let shares =
            crew.map(owned, |(owner, shards): (usize, &mut [Shard])| take_in(batches, &self.rows, owner * per, shards));
        let numbers = self.number_new(&shares, batches);
        let owned = self.shards.chunks_mut(per).zip(&shares).zip(&numbers).collect();
        crew.map(owned, |((shards, share), numbers): ((&mut [Shard], &Share), &Vec<u32>)| {
            // From the last to the first: a number for good is never smaller than the one before, so it is not taken
            // for one that is still to come.
            for (old, (new, &number)) in share.new.iter().zip(numbers).enumerate().rev() {
                let hash = batches[new.batch as usize].hashes[new.index as usize];
                let shard = &mut shards[shard(hash) % per];
                let place = if share.moved { shard.place_of(hash, first + old as u32) } else { new.place };
                shard.slots[place] = slot(hash, number);
            }
        });
        crew.map((0..batches.len()).collect(), |batch: usize| {
            let mut rests: Vec<_> = shares.iter().map(|share| share.numbers[share.starts[batch]..].iter()).collect();
            let number = |&hash: &u64| {
                let owner = shard(hash) / per;
                let number = rests[owner].next().copied().unwrap_or(0);
                number.checked_sub(first).map_or(number, |new| numbers[owner][new as usize])
            };
            batches[batch].hashes.iter().map(number).collect()
        })
    }

    /// Stores the new rows in the order of their batches, and returns the numbers that they get.
    fn number_new(&mut self, shares: &[Share], batches: &[Batch]) -> Vec<Vec<u32>> {
        let mut next = self.len() as u32;
        let mut numbers: Vec<_> = shares.iter().map(|share| Vec::with_capacity(share.new.len())).collect();
        let at = |share: usize, place: usize| shares[share].new.get(place);
        let mut heads: Vec<_> = (0..shares.len()).map(|share| at(share, 0)).collect();
        while let Some((head, share)) = (0..).zip(&heads).filter_map(|(share, head)| Some(((*head)?, share))).min() {
            self.rows.push(batches[head.batch as usize].row(head.index as usize, self.words));
            numbers[share].push(next);
            next += 1;
            heads[share] = at(share, numbers[share].len());
        }
        numbers
    }

    fn insert_alone(&mut self, batch: &Batch) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(batch.len());
        for (index, &hash) in batch.hashes.iter().enumerate() {
            if index % AT_ONCE == 0 {
                self.warm(&batch.hashes[index..]);
            }
            numbers.push(self.insert_packed(batch.row(index, self.words), hash).0);
        }
        numbers
    }

    fn insert_packed(&mut self, row: &[u64], hash: u64) -> (u32, bool) {
        let rows = &self.rows;
        let shard = &mut self.shards[shard(hash)];
        if let Some(number) = shard.find(hash, |number| same(rows.get(number as usize), row)) {
            return (number, false);
        }
        let number = rows.len as u32;
        shard.insert(hash, number);
        self.rows.push(row);
        (number, true)
    }

    /// Touches what the first few of some hashes lead to, so that what follows need not wait for memory.
    fn warm(&self, hashes: &[u64]) {
        if self.len() >= WORTH_WARMING {
            let hashes = hashes.iter().take(AT_ONCE).map(|&hash| (&self.shards[shard(hash)], hash));
            warm(hashes, &self.rows);
        }
    }

    /// Makes the fields wide enough for all rows of some batches, and packs these anew.
    fn make_room(&mut self, batches: &mut [Batch]) {
        if batches.iter().all(|batch| batch.wide.is_empty()) {
            return;
        }
        let width = self.fields.len();
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for batch in &mut *batches {
            let mut unpacked = vec![0; batch.len() * width];
            for (row, words) in unpacked.chunks_exact_mut(width).zip(batch.words.chunks_exact(self.words)) {
                unpack(&self.fields, words, row);
            }
            for (place, row) in batch.wide.drain(..) {
                unpacked[place * width..][..width].copy_from_slice(&row);
            }
            rows.push(unpacked);
        }
        let mut largest = vec![0; width];
        for row in rows.iter().flat_map(|rows| rows.chunks_exact(width)) {
            largest.iter_mut().zip(row).for_each(|(largest, &value)| *largest = value.max(*largest));
        }
        self.widen(&largest);
        for (batch, rows) in batches.iter_mut().zip(rows) {
            batch.clear();
            rows.chunks_exact(width).for_each(|row| self.pack(row, batch));
        }
    }

    /// Packs a row without changing the set, if it fits.
    #[inline]
    fn with_packed<R>(&self, row: &[u32], then: impl FnOnce(Option<&[u64]>) -> R) -> R {
        let mut packed = [0; 8];
        let mut long;
        let words = if self.words <= packed.len() {
            &mut packed[..self.words]
        } else {
            long = vec![0; self.words];
            &mut long[..]
        };
        let fits = pack_into(&self.fields, row, words);
        then(fits.then_some(&*words))
    }

    /// Writes a row's fields into `row`.
    pub fn get(&self, index: u32, row: &mut [u32]) {
        unpack(&self.fields, self.slice(index), row);
    }

    /// One field of a row.
    pub fn field(&self, index: u32, field: usize) -> u32 {
        let field = self.fields[field];
        (self.slice(index)[field.word as usize] >> field.shift & field.mask()) as u32
    }

    /// Gives up the set for its rows, one machine word each if they fit: unpacked, changed by `change`, and packed
    /// again, first field first, into fields of the given widths. The result is in no particular order.
    pub fn into_words(
        mut self,
        widths: &[u32],
        change: impl Fn(&mut [u32]) + Sync,
        crew: &Crew,
    ) -> Result<Vec<u64>, Box<Self>> {
        if self.words > 1 || widths.iter().sum::<u32>() > 64 {
            return Err(Box::new(self));
        }
        self.shards.clear();
        let chunks = crew.map(self.rows.chunks, |mut words: Vec<u64>| {
            let mut row = vec![0; self.fields.len()];
            for word in &mut words {
                unpack(&self.fields, std::slice::from_ref(word), &mut row);
                change(&mut row);
                *word = row.iter().zip(widths).fold(0, |key, (&value, width)| key << width | u64::from(value));
            }
            words
        });
        let mut words = Vec::with_capacity(self.rows.len);
        chunks.into_iter().for_each(|chunk| words.extend(chunk));
        Ok(words)
    }

    fn slice(&self, index: u32) -> &[u64] {
        self.rows.get(index as usize)
    }

    #[cold]
    fn widen(&mut self, row: &[u32]) {
        let wider = |(field, &value): (&Field, &u32)| {
            if u64::from(value) > field.mask() { (bits(value) + 1).min(32) } else { field.width }
        };
        let mut widths: Vec<_> = self.fields.iter().zip(row).map(wider).collect();
        if widths.len() > MANY_FIELDS {
            // One after the other would take them for ever.
            let widest = widths[1..].iter().copied().max().unwrap_or(1);
            widths[1..].fill(widest);
        }
        let (fields, words) = layout(&widths);
        let mut rows = Rows::new(words);
        let (mut values, mut new) = (vec![0; fields.len()], vec![0; words]);
        for old in 0..self.rows.len {
            unpack(&self.fields, self.rows.get(old), &mut values);
            new.fill(0);
            pack_into(&fields, &values, &mut new);
            rows.push(&new);
        }
        (self.fields, self.words, self.rows) = (fields, words, rows);
        self.rebuild_table();
    }

    fn rebuild_table(&mut self) {
        self.shards.iter_mut().for_each(|shard| {
            shard.slots.fill(0);
            shard.used = 0;
        });
        for number in 0..self.len() as u32 {
            let hash = hash(self.slice(number));
            self.shards[shard(hash)].insert(hash, number);
        }
    }
}

/// The part of one thread in [`PackedSet::insert_all`]: looks the rows of its shards up, and takes in those that are new.
fn take_in(batches: &[Batch], rows: &Rows, first_shard: usize, shards: &mut [Shard]) -> Share {
    let (mut share, mut own) = (Share::default(), Vec::new());
    let (first, width) = (rows.len as u32, rows.width);
    let slots = |shards: &[Shard]| shards.iter().map(|shard| shard.slots.len()).sum::<usize>();
    let before = slots(shards);
    for (number, batch) in (0..).zip(batches) {
        share.starts.push(share.numbers.len());
        // Which rows are its own cannot be foreseen, so this does not branch.
        own.resize(batch.len(), 0);
        let mut count = 0;
        for (index, &hash) in (0..).zip(&batch.hashes) {
            own[count] = index;
            count += usize::from(shard(hash).wrapping_sub(first_shard) < shards.len());
        }
        for group in own[..count].chunks(AT_ONCE) {
            let hash = |index: u32| batch.hashes[index as usize];
            if rows.len >= WORTH_WARMING {
                let hashes = group.iter().map(|&index| (&shards[shard(hash(index)) - first_shard], hash(index)));
                warm(hashes, rows);
            }
            for &index in group {
                let (hash, row) = (hash(index), batch.row(index as usize, width));
                let shard = shard(hash) - first_shard;
                let new = &share.new;
                let found = shards[shard].find(hash, |number| match number.checked_sub(first) {
                    None => same(rows.get(number as usize), row),
                    Some(other) => {
                        let New { batch, index, .. } = new[other as usize];
                        same(batches[batch as usize].row(index as usize, width), row)
                    }
                });
                share.numbers.push(found.unwrap_or_else(|| {
                    let taken = first + share.new.len() as u32;
                    let place = shards[shard].insert(hash, taken);
                    share.new.push(New { batch: number, index, place });
                    taken
                }));
            }
        }
    }
    share.moved = slots(shards) != before;
    share
}

/// Touches the slots that hashes lead to, and the rows that these lead to. The accesses of a loop do not depend on each
/// other, and there is little else in it, so that they overlap.
#[inline]
fn warm<'s>(hashes: impl Iterator<Item = (&'s Shard, u64)> + Clone, rows: &Rows) {
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
    std::hint::black_box(seen);
}

fn bits(value: u32) -> u32 {
    (32 - value.leading_zeros()).max(1)
}

fn layout(widths: &[u32]) -> (Vec<Field>, usize) {
    let (mut word, mut shift) = (0, 0);
    let place = |&width: &u32| {
        if shift + width > 64 {
            (word, shift) = (word + 1, 0);
        }
        let field = Field { word, shift, width };
        shift += width;
        field
    };
    let fields: Vec<_> = widths.iter().map(place).collect();
    (fields, word as usize + 1)
}

#[inline]
fn pack_into(fields: &[Field], row: &[u32], words: &mut [u64]) -> bool {
    debug_assert_eq!(fields.len(), row.len());
    let mut fits = true;
    for (field, &value) in fields.iter().zip(row) {
        words[field.word as usize] |= u64::from(value) << field.shift;
        fits &= u64::from(value) <= field.mask();
    }
    fits
}

#[inline]
fn unpack(fields: &[Field], words: &[u64], row: &mut [u32]) {
    for (field, value) in fields.iter().zip(row) {
        *value = (words[field.word as usize] >> field.shift & field.mask()) as u32;
    }
}

/// Rows are a word or two: a loop beats a call.
#[inline]
fn same(one: &[u64], other: &[u64]) -> bool {
    one.iter().eq(other)
}

/// A multiplication to the double width, folded: every bit of the result depends on every bit of the words.
#[inline]
fn hash(words: &[u64]) -> u64 {
    let fold = |hash: u64, &word: &u64| {
        let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        (product as u64) ^ (product >> 64) as u64
    };
    words.iter().fold(0x2545_f491_4f6c_dd1d, fold)
}

/// A slot for a row.
#[inline]
fn slot(hash: u64, number: u32) -> u64 {
    (hash >> 32 << 32) | u64::from(number + 1)
}

/// The shard that a hash belongs to; other bits than those by which shards place their entries.
#[inline]
fn shard(hash: u64) -> usize {
    hash as usize % SHARDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crew::Cores;
    use std::collections::HashMap;

    /// The rows of a set once more, in batches with repetitions, by crews of different sizes: the numbers must not differ.
    fn compare_batches(set: &PackedSet, fields: usize) {
        let mut rows = vec![vec![0; fields]; set.len()];
        rows.iter_mut().zip(0..).for_each(|(row, index)| set.get(index, row));
        for threads in [1, 2, 3] {
            let (crew, mut other) = (Crew::of(Cores::new(threads)), PackedSet::new(vec![1; fields]));
            for (start, batch) in (0..).zip(rows.chunks(700)) {
                let mut batches = [Batch::default(), Batch::default()];
                for (index, row) in batch.iter().enumerate() {
                    batches.iter_mut().take(1 + index % 2).for_each(|batch| other.pack(row, batch));
                }
                assert!(other.find_all(&batches[0]).all(|number| number.is_none()));
                let [first, second] = &other.insert_all(&mut batches, &crew)[..] else { unreachable!() };
                assert!(first.iter().copied().eq((start * 700..).take(batch.len())));
                assert!(second.iter().eq(first.iter().skip(1).step_by(2)));
                assert!(other.find_all(&batches[0]).eq(first.iter().copied().map(Some)));
            }
            assert_eq!(other.len(), set.len());
        }
    }

    #[test]
    fn behaves_like_a_map_from_rows_to_numbers() {
        for fields in [1, 2, 5, 9, 40] {
            let mut set = PackedSet::new(vec![1; fields]);
            let mut reference = HashMap::new();
            let mut seed = 7_u64;
            for round in 0..4000 {
                let row: Vec<u32> = (0..fields)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        (seed >> 33) as u32 & if round > 3990 { u32::MAX } else { 3 }
                    })
                    .collect();
                assert_eq!(set.find(&row), reference.get(&row).copied());
                let next = reference.len() as u32;
                let number = *reference.entry(row.clone()).or_insert(next);
                assert_eq!(set.insert(&row), (number, number == next));
            }
            assert_eq!(set.len(), reference.len());
            compare_batches(&set, fields);
            let mut row = vec![0; fields];
            for (expected, number) in reference {
                set.get(number, &mut row);
                assert_eq!(row, expected);
                assert_eq!(set.field(number, fields - 1), row[fields - 1]);
            }
        }
    }
}
