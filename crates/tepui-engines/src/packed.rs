//! Sets of tuples, packed into machine words.
//!
//! States and views are tuples of small numbers. A row is stored in as few 64-bit words as its fields need (no field
//! straddles two words), rows lie in one long vector in the order of insertion, and a hash table holds their 32-bit
//! numbers. So a set of tuples of up to 64 bits costs 8 bytes a row plus 11 to 16 bytes of table, and the row
//! number is an identity that other vectors can be indexed by. Fields start narrow; when a value does not fit, all
//! rows are packed anew with one more bit for that field than the value needs. That happens at most 32 times for a
//! field.
//!
//! The table is cut into shards, so that several threads can fill it. Rows that a batch of work brings are looked up
//! by whoever finds them; those that are not there are *strangers*, and are put in together at the end of the batch
//! ([`PackedSet::insert_all`]): each shard takes its strangers in and finds out which of them are equal, then they get
//! numbers in the order in which they came, then each shard notes the numbers. The numbers are those that inserting one by
//! one would have given. Growing a shard at a time also keeps the peak of memory low.
//!
//! Large sets are bound by the latency of memory. Two things help. A slot of the table holds 32 bits of the hash beside the
//! number, so that one access tells whether it is worth looking at the row; and whoever has several rows to look up can
//! [`warm`](PackedSet::warm) the set for them, which makes all these accesses at once.

use crate::crew::Crew;

/// How many parts the hash table has.
const SHARDS: usize = 16;
/// Sets with fewer words than these are in the caches anyway.
const WORTH_WARMING: usize = 1 << 15;

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
    rows: Vec<u64>,
    shards: Vec<Shard>,
    scratch: Vec<u64>,
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

    /// Makes room for so many more rows, so that inserting them moves no slot.
    fn reserve(&mut self, more: usize) {
        while (self.used + more) * 4 > self.slots.len() * 3 {
            self.grow();
        }
    }

    /// Gives a row another number, at a place where it was inserted.
    fn renumber(&mut self, place: usize, number: u32) {
        self.slots[place] = (self.slots[place] >> 32 << 32) | u64::from(number + 1);
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
        self.slots[place] = (hash >> 32 << 32) | u64::from(number + 1);
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

/// A stranger that a shard has taken in: its number among the strangers, that of the shard, and its place there.
type Placed = (usize, usize, usize);

/// Rows that were looked up in a set and not found, in order.
#[derive(Default)]
pub struct Strangers {
    /// The rows, packed as the set packs them.
    words: Vec<u64>,
    hashes: Vec<u64>,
    /// Rows with values that do not fit the set's fields, and their places in the lists above, where nothing stands.
    wide: Vec<(usize, Vec<u32>)>,
}

impl Strangers {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }
}

impl PackedSet {
    /// A set of rows with fields that are wide enough for the given largest values, for a start.
    pub fn new(largest: impl IntoIterator<Item = u32>) -> Self {
        let widths: Vec<_> = largest.into_iter().map(bits).collect();
        let (fields, words) = layout(&widths);
        let shards = vec![Shard::default(); SHARDS];
        Self { fields, words, rows: Vec::new(), shards, scratch: vec![0; words] }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len() / self.words
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many numbers a row has.
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        (self.rows.len() * 8 + self.shards.iter().map(|shard| shard.slots.len()).sum::<usize>() * 8) as u64
    }

    /// Adds a row; returns its number, and whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> (u32, bool) {
        while !self.pack(row) {
            self.widen(row);
        }
        let (words, rows, scratch) = (self.words, &self.rows, &self.scratch);
        let hash = hash(scratch);
        let shard = &mut self.shards[shard(hash)];
        if let Some(number) = shard.find(hash, |number| same(&rows[number as usize * words..][..words], scratch)) {
            return (number, false);
        }
        let number = u32::try_from(rows.len() / words).ok().filter(|&number| number < u32::MAX);
        let number = number.expect("fewer than 2^32 rows fit the index");
        shard.insert(hash, number);
        self.rows.extend_from_slice(&self.scratch);
        (number, true)
    }

    /// Looks rows up, one after the other in a list, and forgets what it found: what follows need not wait for memory.
    pub fn warm(&self, rows: &[u32]) {
        const AT_ONCE: usize = 32;
        if self.rows.len() < WORTH_WARMING {
            return;
        }
        let mut seen = 0;
        for group in rows.chunks(AT_ONCE * self.fields.len()) {
            // The accesses of a loop do not depend on each other, so that they overlap.
            let (mut hashes, mut found) = ([0; AT_ONCE], [0; AT_ONCE]);
            for (hashed, row) in hashes.iter_mut().zip(group.chunks_exact(self.fields.len())) {
                *hashed = self.with_packed(row, |words| words.map_or(0, hash));
                let shard = &self.shards[shard(*hashed)];
                seen ^= shard.slots.get(shard.home(*hashed)).copied().unwrap_or(0);
            }
            for (number, &hash) in found.iter_mut().zip(&hashes) {
                *number = self.shards[shard(hash)].find(hash, |_| true).unwrap_or(0);
            }
            for number in found {
                seen ^= self.rows[number as usize * self.words];
            }
        }
        std::hint::black_box(seen);
    }

    /// The number of a row, if it is there.
    pub fn find(&self, row: &[u32]) -> Option<u32> {
        self.with_packed(row, |words| {
            let words = words?;
            let hash = hash(words);
            self.shards[shard(hash)].find(hash, |number| same(self.slice(number), words))
        })
    }

    /// The number of a row; if it is not there, it joins the strangers, and the error is its place among them.
    pub fn find_or_note(&self, row: &[u32], strangers: &mut Strangers) -> Result<u32, u32> {
        self.with_packed(row, |words| {
            let place = strangers.len();
            let Some(words) = words else {
                strangers.wide.push((place, row.to_vec()));
                strangers.words.resize((place + 1) * self.words, 0);
                strangers.hashes.push(0);
                return Err(place as u32);
            };
            let hash = hash(words);
            let found = self.shards[shard(hash)].find(hash, |number| same(self.slice(number), words));
            found.ok_or_else(|| {
                strangers.words.extend_from_slice(words);
                strangers.hashes.push(hash);
                place as u32
            })
        })
    }

    /// Adds strangers, list by list, and returns the numbers of all of them in the same order.
    pub fn insert_all(&mut self, lists: &mut [Strangers], crew: &Crew) -> Vec<u32> {
        self.make_room(lists);
        let hashes: Vec<u64> = lists.iter().flat_map(|list| &list.hashes).copied().collect();
        let words: Vec<u64> = lists.iter().flat_map(|list| &list.words).copied().collect();
        let (first, width) = (self.len(), self.words);
        assert!(first + hashes.len() < u32::MAX as usize, "fewer than 2^32 rows fit the index");
        // Each shard takes its strangers in, for the time being numbered as if no two were equal, and finds those that
        // are.
        let per = SHARDS.div_ceil(crew.size());
        let shares = self.shards.chunks_mut(per).enumerate().collect();
        let taken = crew.map(shares, |(share, shards): (usize, &mut [Shard])| {
            let (mut repeats, mut places) = (Vec::new(), Vec::new());
            let own = |hash: u64| shard(hash).checked_sub(share * per).filter(|&at| at < shards.len());
            let mine: Vec<_> =
                (0..).zip(&hashes).filter_map(|(index, &hash)| Some((index, hash, own(hash)?))).collect();
            for (at, shard) in shards.iter_mut().enumerate() {
                shard.reserve(mine.iter().filter(|one| one.2 == at).count());
            }
            for (index, hash, at) in mine {
                let row = |index: usize| &words[index * width..][..width];
                let is_it = |number: u32| {
                    (number as usize).checked_sub(first).is_some_and(|other| same(row(other), row(index)))
                };
                match shards[at].find(hash, is_it) {
                    Some(number) => repeats.push((index, number as usize - first)),
                    None => places.push((index, at, shards[at].insert(hash, (first + index) as u32))),
                }
            }
            (repeats, places)
        });
        let (repeats, places): (Vec<_>, Vec<Vec<Placed>>) = taken.into_iter().unzip();
        let mut numbers: Vec<u32> = (first as u32..).take(hashes.len()).collect();
        if repeats.iter().all(Vec::is_empty) {
            self.rows.extend_from_slice(&words);
            return numbers;
        }
        let mut first_of = vec![u32::MAX; hashes.len()];
        repeats.into_iter().flatten().for_each(|(index, other): (usize, usize)| first_of[index] = other as u32);
        for index in 0..numbers.len() {
            numbers[index] = match first_of[index] {
                u32::MAX => {
                    self.rows.extend_from_slice(&words[index * width..][..width]);
                    self.len() as u32 - 1
                }
                other => numbers[other as usize],
            };
        }
        let shares = self.shards.chunks_mut(per).zip(places).collect();
        crew.map(shares, |(shards, places): (&mut [Shard], Vec<Placed>)| {
            places.into_iter().for_each(|(index, at, place)| shards[at].renumber(place, numbers[index]));
        });
        numbers
    }

    /// Makes the fields wide enough for all strangers, and packs them anew.
    fn make_room(&mut self, lists: &mut [Strangers]) {
        if lists.iter().all(|list| list.wide.is_empty()) {
            return;
        }
        let width = self.fields.len();
        let mut rows: Vec<Vec<u32>> = Vec::new();
        for list in &mut *lists {
            let mut unpacked = vec![0; list.len() * width];
            for (row, words) in unpacked.chunks_exact_mut(width).zip(list.words.chunks_exact(self.words)) {
                unpack(&self.fields, words, row);
            }
            for (place, row) in list.wide.drain(..) {
                unpacked[place * width..][..width].copy_from_slice(&row);
            }
            rows.push(unpacked);
        }
        let mut largest = vec![0; width];
        for row in rows.iter().flat_map(|rows| rows.chunks_exact(width)) {
            largest.iter_mut().zip(row).for_each(|(largest, &value)| *largest = value.max(*largest));
        }
        self.widen(&largest);
        for (list, rows) in lists.iter_mut().zip(rows) {
            list.words = vec![0; list.len() * self.words];
            let packed = list.words.chunks_exact_mut(self.words).zip(rows.chunks_exact(width));
            for (hashed, (words, row)) in list.hashes.iter_mut().zip(packed) {
                pack_into(&self.fields, row, words);
                *hashed = hash(words);
            }
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
    pub fn into_words(mut self, widths: &[u32], change: impl Fn(&mut [u32])) -> Result<Vec<u64>, Self> {
        if self.words > 1 || widths.iter().sum::<u32>() > 64 {
            return Err(self);
        }
        self.shards.clear();
        let mut row = vec![0; self.fields.len()];
        for word in &mut self.rows {
            unpack(&self.fields, std::slice::from_ref(word), &mut row);
            change(&mut row);
            *word = row.iter().zip(widths).fold(0, |key, (&value, width)| key << width | u64::from(value));
        }
        Ok(self.rows)
    }

    fn slice(&self, index: u32) -> &[u64] {
        &self.rows[index as usize * self.words..][..self.words]
    }

    fn pack(&mut self, row: &[u32]) -> bool {
        self.scratch.fill(0);
        pack_into(&self.fields, row, &mut self.scratch)
    }

    #[cold]
    fn widen(&mut self, row: &[u32]) {
        let wider = |(field, &value): (&Field, &u32)| {
            if u64::from(value) > field.mask() { (bits(value) + 1).min(32) } else { field.width }
        };
        let widths: Vec<_> = self.fields.iter().zip(row).map(wider).collect();
        let (fields, words) = layout(&widths);
        let mut rows = vec![0; self.len() * words];
        let mut values = vec![0; fields.len()];
        for (old, new) in self.rows.chunks_exact(self.words).zip(rows.chunks_exact_mut(words)) {
            unpack(&self.fields, old, &mut values);
            pack_into(&fields, &values, new);
        }
        (self.fields, self.words, self.rows) = (fields, words, rows);
        self.scratch = vec![0; words];
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
                let mut lists = [Strangers::default(), Strangers::default()];
                for (index, row) in batch.iter().enumerate() {
                    for list in lists.iter_mut().take(1 + index % 2) {
                        assert!(other.find_or_note(row, list).is_err());
                    }
                }
                let numbers = other.insert_all(&mut lists, &crew);
                let (first, second) = numbers.split_at(batch.len());
                assert!(first.iter().copied().eq((start * 700..).take(batch.len())));
                assert!(second.iter().eq(first.iter().skip(1).step_by(2)));
            }
            assert_eq!((other.rows.len() / other.words, other.len()), (set.len(), set.len()));
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
