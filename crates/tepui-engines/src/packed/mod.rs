//! Sets of tuples, packed into machine words.
//!
//! States and views are tuples of small numbers. A row is stored in as few 64-bit words as its fields need ([`layout`]),
//! rows lie one after the other in the order of insertion, and a hash table holds their 32-bit numbers ([`table`]). So a
//! set of tuples of up to 64 bits costs 8 bytes a row plus 11 to 16 bytes of table, and the row number is an identity that
//! other vectors can be indexed by. Fields start narrow, but for what is left over in the words; when a value does not
//! fit, all rows are packed anew with one more bit for that field than the value needs. That happens at most 32 times for
//! a field.
//!
//! Rows come in [batches](Batch): packed when they are found, looked up or added together. Large sets are bound by the
//! latency of memory, and two things help: a slot of the table holds 32 bits of the hash beside the number, so that one
//! access tells whether it is worth looking at the row; and the accesses for many rows are made at once, in loops that do
//! nothing else, before anything is decided.
//!
//! The table is cut into shards, so that several threads can add batches ([`together`]). The numbers are those that
//! adding one by one would have given. Growing a shard at a time also keeps the peak of memory low.

pub mod layout;
pub mod table;
pub mod together;

use std::borrow::Cow;
use std::marker::PhantomData;

use crate::ids::Id;
use crate::workers::{Cores, Workers};
use layout::{Field, bits, fill_up, lay_out, pack, unpack};
use table::{AT_ONCE, Rows, SHARDS, Shard, hash, prefetch, push_row, same, shard};
use together::{Cut, Share};

/// With so many fields, all but the first get wider together.
const MANY_FIELDS: usize = 64;
/// The memory of so many batches is kept.
const RECYCLED: usize = 64;

/// A set of rows of equally many numbers. The numbers of the rows themselves are of type `I`, so that those of different
/// sets are not taken for each other.
#[derive(Clone, Debug)]
pub struct PackedSet<I> {
    /// How wide the fields have to be, as far as that is known.
    needed: Vec<u32>,
    fields: Vec<Field>,
    words: usize,
    rows: Rows,
    shards: Vec<Shard>,
    /// Batches that have been added, kept for their memory.
    recycled: Vec<Batch>,
    ids: PhantomData<I>,
}

/// Rows packed as a set packs them, in order.
#[derive(Clone, Default, Debug)]
pub struct Batch {
    words: Vec<u64>,
    rows: usize,
    /// Rows with values that do not fit the set's fields, and their places in the list above, where nothing stands.
    wide: Vec<(usize, Vec<u32>)>,
    /// The same rows, cut up by their shards, if the batch is sealed.
    cut: Cut,
    sealed: bool,
}

impl Batch {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.words.clear();
        self.wide.clear();
        self.rows = 0;
        self.sealed = false;
    }

    fn seal(&mut self, width: usize) {
        if !std::mem::replace(&mut self.sealed, true) {
            self.cut.fill(&self.words, width);
        }
    }
}

/// Batches that have been added.
pub struct Added<I> {
    batches: Vec<Batch>,
    numbers: Numbers<I>,
}

enum Numbers<I> {
    Known(Vec<Vec<I>>),
    /// What was found out about the rows of each shard; the number of the first new row; words in a row.
    Shared(Vec<Share>, u32, usize),
}

impl<I: Id> Added<I> {
    /// The numbers of the rows of a batch, in order.
    pub fn numbers(&self, batch: usize) -> Cow<'_, [I]> {
        match &self.numbers {
            Numbers::Known(numbers) => Cow::Borrowed(&numbers[batch]),
            Numbers::Shared(shares, first, width) => {
                together::numbers(batch, &self.batches, shares, *first, *width).into()
            }
        }
    }
}

impl<I: Id> PackedSet<I> {
    /// A set of rows with fields that are wide enough for the given largest values, for a start.
    pub fn new(largest: impl IntoIterator<Item = u32>) -> Self {
        Self::with_widths(largest.into_iter().map(bits).collect())
    }

    fn with_widths(needed: Vec<u32>) -> Self {
        let (fields, words) = lay_out(&fill_up(&needed));
        let shards = vec![Shard::default(); SHARDS];
        Self { needed, fields, words, rows: Rows::new(words), shards, recycled: Vec::new(), ids: PhantomData }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of all rows.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I> {
        self.ids_from(0)
    }

    /// The numbers of all rows but the first few.
    pub(crate) fn ids_from(&self, first: usize) -> impl Iterator<Item = I> + use<I> {
        (first as u32..self.len() as u32).map(I::new)
    }

    /// The same rows, which are now taken for something else.
    pub(crate) fn cast<J: Id>(self) -> PackedSet<J> {
        let Self { needed, fields, words, rows, shards, recycled, .. } = self;
        PackedSet { needed, fields, words, rows, shards, recycled, ids: PhantomData }
    }

    /// How many numbers a row has.
    #[inline]
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        (self.len() * self.words * 8 + self.shards.iter().map(|shard| shard.slots.len()).sum::<usize>() * 8) as u64
    }

    /// Adds a row; returns its number, and whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> (I, bool) {
        assert!(self.len() + 1 < u32::MAX as usize, "fewer than 2^32 rows fit the index");
        if self.with_packed(row, |words| words.is_none()) {
            self.widen(row, &Workers::of(Cores::new(1)));
        }
        let mut batch = self.recycled.pop().unwrap_or_default();
        self.pack(row, &mut batch);
        let (number, new) = self.insert_packed(&batch.words, hash(&batch.words));
        batch.clear();
        self.recycled.push(batch);
        (I::new(number), new)
    }

    /// A set of rows that are so many words, as they are.
    pub(crate) fn of_words(words: usize) -> Self {
        Self::new(vec![u32::MAX; words * 2])
    }

    /// The words of a row.
    #[inline]
    pub(crate) fn words(&self, id: I) -> &[u64] {
        self.slice(id.number())
    }

    /// The number of a row of words, if it is there.
    #[inline]
    pub(crate) fn find_words(&self, words: &[u64]) -> Option<I> {
        let hash = hash(words);
        self.shards[shard(hash)].find(hash, |number| same(self.slice(number), words)).map(I::new)
    }

    /// Puts a row of words into a batch.
    pub(crate) fn push_words(&self, words: &[u64], batch: &mut Batch) {
        debug_assert_eq!(words.len(), self.words, "rows of words are taken as they are");
        push_row(&mut batch.words, words);
        batch.rows += 1;
    }

    /// The number of a row, if it is there.
    pub fn find(&self, row: &[u32]) -> Option<I> {
        self.with_packed(row, |words| {
            let words = words?;
            let hash = hash(words);
            self.shards[shard(hash)].find(hash, |number| same(self.slice(number), words)).map(I::new)
        })
    }

    /// Batches to put rows into.
    pub(crate) fn batches(&mut self, count: usize) -> Vec<Batch> {
        let mut batches = self.recycled.split_off(self.recycled.len().saturating_sub(count));
        batches.resize_with(count, Batch::default);
        batches
    }

    /// Puts a row into a batch.
    #[inline]
    pub(crate) fn pack(&self, row: &[u32], batch: &mut Batch) {
        debug_assert!(!batch.sealed, "a sealed batch is cut into shards already");
        self.with_packed(row, |words| match words {
            Some(words) => push_row(&mut batch.words, words),
            // A field is too narrow. The set is shared by all workers here, so it is widened later, when the batch is added.
            None => {
                batch.wide.push((batch.rows, row.to_vec()));
                batch.words.resize(batch.words.len() + self.words, 0);
            }
        });
        batch.rows += 1;
    }

    /// Does what can be done for a batch before it is added; nothing may be put into it afterwards.
    pub fn seal(&self, batch: &mut Batch, workers: &Workers) {
        if workers.size() > 1 && batch.wide.is_empty() {
            batch.seal(self.words);
        }
    }

    /// The numbers of the rows of a batch, as far as they are there, in order.
    pub(crate) fn find_all(&self, batch: &Batch) -> impl Iterator<Item = Option<I>> {
        let mut wide = batch.wide.iter().map(|wide| wide.0).peekable();
        let groups = batch.words.chunks(AT_ONCE * self.words).zip((0..).step_by(AT_ONCE));
        groups.flat_map(move |(group, start)| {
            let hashes = self.hashes(group);
            let mut numbers = [None; AT_ONCE];
            for ((number, row), (hash, place)) in
                numbers.iter_mut().zip(group.chunks_exact(self.words)).zip(hashes.into_iter().zip(start..))
            {
                if wide.next_if_eq(&place).is_none() {
                    let found = self.shards[shard(hash)].find(hash, |number| same(self.slice(number), row));
                    *number = found.map(I::new);
                }
            }
            numbers.into_iter().take(group.len() / self.words)
        })
    }

    /// Adds the rows of batches, one after the other, and returns the numbers of all of them in the same order.
    pub(crate) fn insert_all(&mut self, batches: Vec<Batch>, workers: &Workers) -> Vec<Vec<I>> {
        let count = batches.len();
        let mut added = self.add(batches, workers, true);
        let numbers = match &mut added.numbers {
            Numbers::Known(numbers) => std::mem::take(numbers),
            Numbers::Shared(..) => workers.map((0..count).collect(), |batch| added.numbers(batch).into_owned()),
        };
        self.recycle(added);
        numbers
    }

    /// Adds the rows of batches, one after the other.
    pub fn add_all(&mut self, batches: Vec<Batch>, workers: &Workers) {
        let added = self.add(batches, workers, false);
        self.recycle(added);
    }

    /// Adds the rows of batches, one after the other. Their numbers can be asked for if they are `wanted`.
    pub fn add(&mut self, mut batches: Vec<Batch>, workers: &Workers, wanted: bool) -> Added<I> {
        self.make_room(&mut batches, workers);
        let rows: usize = batches.iter().map(Batch::len).sum();
        assert!(self.len() + rows < u32::MAX as usize, "fewer than 2^32 rows fit the index");
        let first = self.len() as u32;
        let numbers = match workers.shares(rows / 2) {
            true => Numbers::Shared(self.add_together(&mut batches, workers, wanted), first, self.words),
            false => Numbers::Known(batches.iter().map(|batch| self.add_in_turn(batch, wanted)).collect()),
        };
        Added { batches, numbers }
    }

    /// Takes the memory of batches back that have been added.
    pub(crate) fn recycle(&mut self, mut added: Added<I>) {
        added.batches.truncate(RECYCLED.saturating_sub(self.recycled.len()));
        added.batches.iter_mut().for_each(Batch::clear);
        self.recycled.append(&mut added.batches);
    }

    fn add_in_turn(&mut self, batch: &Batch, wanted: bool) -> Vec<I> {
        let mut numbers = Vec::with_capacity(if wanted { batch.len() } else { 0 });
        for group in batch.words.chunks(AT_ONCE * self.words) {
            let hashes = self.hashes(group);
            for (row, hash) in group.chunks_exact(self.words).zip(hashes) {
                let number = self.insert_packed(row, hash).0;
                if wanted {
                    numbers.push(I::new(number));
                }
            }
        }
        numbers
    }

    #[inline]
    fn insert_packed(&mut self, row: &[u64], hash: u64) -> (u32, bool) {
        let rows = &self.rows;
        let shard = &mut self.shards[shard(hash)];
        if let Some(number) = shard.find(hash, |number| same(rows.get(number as usize), row)) {
            return (number, false);
        }
        debug_assert_eq!(row.len(), self.words, "rows are packed as the set packs them");
        let number = rows.len as u32;
        shard.insert(hash, number);
        self.rows.push(row);
        (number, true)
    }

    /// The hashes of a few rows. Their slots and rows have been touched, so that a lookup finds them in the caches.
    #[inline]
    fn hashes(&self, rows: &[u64]) -> [u64; AT_ONCE] {
        let mut hashes = [0; AT_ONCE];
        hashes.iter_mut().zip(rows.chunks_exact(self.words)).for_each(|(place, row)| *place = hash(row));
        let used = &hashes[..rows.len() / self.words];
        prefetch(used.iter().map(|&hash| (&self.shards[shard(hash)], hash)), &self.rows);
        hashes
    }

    /// Makes the fields wide enough for all rows of some batches, and packs these anew.
    fn make_room(&mut self, batches: &mut [Batch], workers: &Workers) {
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
        rows.iter().flat_map(|rows| rows.chunks_exact(width)).for_each(|row| raise(&mut largest, row));
        self.widen(&largest, workers);
        for (batch, rows) in batches.iter_mut().zip(rows) {
            batch.clear();
            rows.chunks_exact(width).for_each(|row| self.pack(row, batch));
        }
    }

    /// Packs a row without changing the set, if it fits.
    #[inline]
    fn with_packed<R>(&self, row: &[u32], then: impl FnOnce(Option<&[u64]>) -> R) -> R {
        if self.words == 1 {
            let mut word = [0];
            let fits = pack(&self.fields, row, &mut word);
            return then(fits.then_some(&word));
        }
        let mut packed = [0; 8];
        let mut long;
        let words = if self.words <= packed.len() {
            &mut packed[..self.words]
        } else {
            long = vec![0; self.words];
            &mut long[..]
        };
        let fits = pack(&self.fields, row, words);
        then(fits.then_some(&*words))
    }

    /// Writes a row's fields into `row`.
    #[inline]
    pub fn get(&self, id: I, row: &mut [u32]) {
        debug_assert_eq!(row.len(), self.fields.len());
        unpack(&self.fields, self.slice(id.number()), row);
    }

    /// One field of a row.
    pub fn field(&self, id: I, field: usize) -> u32 {
        self.fields[field].of(self.slice(id.number()))
    }

    /// Gives up the set for its rows, one machine word each if they fit: unpacked, changed by `change`, and packed
    /// again, first field first, into fields of the given widths; in lists, in no particular order.
    pub(crate) fn into_words(
        mut self,
        widths: &[u32],
        change: impl Fn(&mut [u32]) + Sync,
        workers: &Workers,
    ) -> Result<Vec<Vec<u64>>, Box<Self>> {
        if self.words > 1 || widths.iter().sum::<u32>() > 64 {
            return Err(Box::new(self));
        }
        self.shards.clear();
        Ok(workers.map(self.rows.segments, |mut words: Vec<u64>| {
            let mut row = vec![0; self.fields.len()];
            for word in &mut words {
                unpack(&self.fields, std::slice::from_ref(word), &mut row);
                change(&mut row);
                *word = row.iter().zip(widths).fold(0, |key, (&value, width)| key << width | u64::from(value));
            }
            words
        }))
    }

    fn slice(&self, number: u32) -> &[u64] {
        self.rows.get(number as usize)
    }

    /// Packs all rows anew, into fields for which the given row is not too wide.
    #[cold]
    fn widen(&mut self, row: &[u32], workers: &Workers) {
        const SEGMENTS_AT_ONCE: usize = 8;
        let mut segments = std::mem::take(&mut self.rows.segments);
        let each_row = |segment: &[u64], then: &mut dyn FnMut(&[u32])| {
            let mut row = vec![0; self.fields.len()];
            for words in segment.chunks_exact(self.words) {
                unpack(&self.fields, words, &mut row);
                then(&row);
            }
        };
        let largest = workers.map(segments.iter().collect(), |segment: &Vec<u64>| {
            let mut largest = row.to_vec();
            each_row(segment, &mut |row| raise(&mut largest, row));
            largest
        });
        let largest = largest.into_iter().reduce(|mut one, other| {
            raise(&mut one, &other);
            one
        });
        let widths = self.needed.iter().zip(largest.as_deref().unwrap_or(row));
        let mut needed: Vec<_> = widths
            .map(|(&needed, &value)| if bits(value) > needed { (bits(value) + 1).min(32) } else { needed })
            .collect();
        if needed.len() > MANY_FIELDS {
            // One after the other would take them for ever.
            let widest = needed[1..].iter().copied().max().unwrap_or(1);
            needed[1..].fill(widest);
        }
        self.shards.clear();
        let mut wider = Self::with_widths(needed);
        while !segments.is_empty() {
            let some = segments.drain(..SEGMENTS_AT_ONCE.min(segments.len()));
            let batches = wider.batches(some.len());
            let batches = workers.map(some.zip(batches).collect(), |(segment, mut batch): (Vec<u64>, Batch)| {
                each_row(&segment, &mut |row| wider.pack(row, &mut batch));
                wider.seal(&mut batch, workers);
                batch
            });
            wider.add_all(batches, workers);
        }
        wider.recycled = std::mem::take(&mut self.recycled);
        *self = wider;
    }
}

/// Makes values as large as others, where they are smaller.
fn raise(values: &mut [u32], others: &[u32]) {
    values.iter_mut().zip(others).for_each(|(value, &other)| *value = other.max(*value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::StateId;
    use std::collections::HashMap;

    /// The rows of a set once more, in batches with repetitions, by workers of different sizes: the numbers must not differ.
    fn compare_batches(set: &PackedSet<StateId>, fields: usize) {
        let mut rows = vec![vec![0; fields]; set.len()];
        rows.iter_mut().zip(set.ids()).for_each(|(row, id)| set.get(id, row));
        for threads in [1, 2, 3] {
            let (workers, mut other) = (Workers::of(Cores::new(threads)), PackedSet::<StateId>::new(vec![1; fields]));
            let mut numbers = Vec::new();
            for some in rows.chunks(700) {
                let (known, mut batches) = (other.len(), other.batches(2));
                for (index, row) in some.iter().enumerate() {
                    batches.iter_mut().take(1 + index % 2).for_each(|batch| other.pack(row, batch));
                }
                assert!(other.find_all(&batches[0]).all(|number| number.is_none()));
                let [first, second] = &other.insert_all(batches.clone(), &workers)[..] else { unreachable!() };
                assert!(second.iter().eq(first.iter().skip(1).step_by(2)));
                assert!(first.iter().copied().eq(other.ids_from(known)), "new rows get the next numbers");
                let mut batch = Batch::default();
                some.iter().for_each(|row| other.pack(row, &mut batch));
                assert!(other.find_all(&batch).eq(first.iter().copied().map(Some)));
                other.add_all(vec![batch], &workers);
                assert_eq!(other.len(), known + some.len(), "nothing is added twice");
                numbers.extend_from_slice(first);
            }
            let mut row = vec![0; fields];
            for (expected, &number) in rows.iter().zip(&numbers) {
                other.get(number, &mut row);
                assert_eq!(&row, expected);
                assert_eq!(other.find(expected), Some(number));
            }
        }
    }

    #[test]
    fn rows_keep_their_numbers_when_fields_get_wider() {
        for threads in [1, 2] {
            let (workers, mut set) = (Workers::of(Cores::new(threads)), PackedSet::<StateId>::new([3, 1, 1]));
            let row = |number: u32| [number % 4, number, number / 7];
            for numbers in (0..50_000).collect::<Vec<_>>().chunks(20_000) {
                let mut batches = set.batches(2);
                for (batch, numbers) in batches.iter_mut().zip(numbers.chunks(10_000)) {
                    numbers.iter().for_each(|&number| set.pack(&row(number), batch));
                }
                assert!(
                    set.insert_all(batches, &workers).into_iter().flatten().eq(numbers.iter().copied().map(StateId))
                );
            }
            assert_eq!(set.insert(&[0, u32::MAX, u32::MAX]), (StateId(50_000), true));
            let mut found = [0; 3];
            for number in 0..50_000 {
                set.get(StateId(number), &mut found);
                assert_eq!((found, set.find(&found)), (row(number), Some(StateId(number))));
            }
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
                let next = StateId(reference.len() as u32);
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
