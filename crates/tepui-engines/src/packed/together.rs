//! Adding batches to a set by several threads.
//!
//! The rows of each batch are cut up by their shards. No two shards have anything in common, so threads can take rows
//! into different ones. But numbers have to be given in the order in which rows come, and who works on one shard cannot know
//! what is new in the others. So new rows are numbered within their shard for the time being; then those of each batch
//! are put in order, then the shards get the final numbers. Each of these steps is shared by the threads; what remains
//! between them is to put the new rows behind the others.

use super::table::{AT_ONCE, Rows, SHARDS, Shard, hash, prefetch, push_row, same, shard, slot};
use super::{Batch, PackedSet};
use crate::ids::Id;
use crate::workers::Workers;

/// The rows of a batch, one shard after the other.
#[derive(Clone, Default, Debug)]
pub(crate) struct Cut {
    rows: Vec<u64>,
    /// Their places in the batch.
    places: Vec<u32>,
    /// Where the shards begin, and where the last one ends.
    starts: [u32; SHARDS + 1],
    /// The shards of the rows in the order of the batch.
    shards: Vec<u8>,
}

impl Cut {
    /// Cuts rows up.
    pub(crate) fn fill(&mut self, rows: &[u64], width: usize) {
        let mut counts = [0; SHARDS];
        self.shards.clear();
        self.shards.extend(rows.chunks_exact(width).map(|row| {
            let shard = shard(hash(row));
            counts[shard] += 1;
            shard as u8
        }));
        for (shard, count) in counts.into_iter().enumerate() {
            self.starts[shard + 1] = self.starts[shard] + count;
        }
        // What was there before is written over.
        self.rows.resize(rows.len(), 0);
        self.places.resize(self.shards.len(), 0);
        let mut next = self.starts;
        for ((row, &shard), place) in rows.chunks_exact(width).zip(&self.shards).zip(0..) {
            let next = &mut next[usize::from(shard)];
            let at = *next as usize;
            *next += 1;
            self.places[at] = place;
            match row {
                &[word] => self.rows[at] = word,
                row => self.rows[at * width..][..width].copy_from_slice(row),
            }
        }
    }

    /// The rows of a shard, and their places in the batch.
    fn part(&self, shard: usize, width: usize) -> (&[u64], &[u32]) {
        let range = self.starts[shard] as usize..self.starts[shard + 1] as usize;
        (&self.rows[range.start * width..range.end * width], &self.places[range])
    }
}

/// What was found out about the rows of a shard.
#[derive(Default)]
pub struct Share {
    /// For each row its number, if wanted; those that are new are numbered among themselves, from the size of the set on.
    numbers: Vec<u32>,
    /// The rows that are new, and where they are: the place in the batch, and the slot, if none was moved since.
    new: Vec<u64>,
    places: Vec<u32>,
    slots: Vec<u32>,
    moved: bool,
    /// For each batch, where its part of the numbers and of the new rows begins; and where the last one ends.
    starts: Vec<(usize, usize)>,
    /// The final numbers of the new rows.
    final_numbers: Vec<u32>,
}

impl Share {
    /// Looks the rows of a shard up, and takes in those that are new.
    fn of(batches: &[Batch], number: usize, shard: &mut Shard, rows: &Rows, wanted: bool) -> Self {
        let (length, width, first) = (shard.slots.len(), rows.width, rows.len as u32);
        let mut share = Self::default();
        // A shard sees only its own rows, so it cannot know how many new rows come before one of them. New rows get
        // provisional numbers from the size of the set on, until those of all shards are counted.
        for (those, places) in batches.iter().map(|batch| batch.cut.part(number, width)) {
            share.starts.push((share.numbers.len(), share.places.len()));
            for (group, places) in those.chunks(AT_ONCE * width).zip(places.chunks(AT_ONCE)) {
                let mut hashes = [0; AT_ONCE];
                hashes.iter_mut().zip(group.chunks_exact(width)).for_each(|(place, row)| *place = hash(row));
                prefetch(hashes[..places.len()].iter().map(|&hash| (&*shard, hash)), rows);
                for ((row, &hash), &place) in group.chunks_exact(width).zip(&hashes).zip(places) {
                    let found = shard.find(hash, |number| match number.checked_sub(first) {
                        None => same(rows.get(number as usize), row),
                        Some(new) => same(&share.new[new as usize * width..][..width], row),
                    });
                    let number = found.unwrap_or_else(|| {
                        let number = first + share.places.len() as u32;
                        push_row(&mut share.new, row);
                        share.places.push(place);
                        share.slots.push(shard.insert(hash, number) as u32);
                        number
                    });
                    if wanted {
                        share.numbers.push(number);
                    }
                }
            }
        }
        share.starts.push((share.numbers.len(), share.places.len()));
        share.moved = shard.slots.len() != length;
        share
    }

    /// The places that new rows have in a batch.
    fn new_in(&self, batch: usize) -> &[u32] {
        &self.places[self.starts[batch].1..self.starts[batch + 1].1]
    }

    /// Puts the final numbers into the shard. From the last to the first: a final number is never smaller than the one
    /// before, so it is not taken for one that is still to be replaced.
    fn renumber(&mut self, arrivals: &[Arrivals], shard: &mut Shard, first: u32, width: usize) {
        let mut final_numbers = Vec::with_capacity(self.places.len());
        for (batch, arrivals) in arrivals.iter().enumerate() {
            final_numbers.extend(self.new_in(batch).iter().map(|&place| arrivals.first + arrivals.rank(place)));
        }
        self.final_numbers = final_numbers;
        let rows = self.new.chunks_exact(width).zip(&self.final_numbers);
        for (index, (&place, (row, &number))) in self.slots.iter().zip(rows).enumerate().rev() {
            let hash = hash(row);
            let place = if self.moved { shard.place_of(hash, first + index as u32) } else { place as usize };
            shard.slots[place] = slot(hash, number);
        }
    }
}

/// The new rows of a batch. The number of a new row is that of the batch's first one plus its rank: the bits of all rows
/// before it, counted a word at a time.
struct Arrivals {
    /// The number of the first one.
    first: u32,
    /// A bit for each row of the batch, and for each word of these how many are set before it.
    bits: Vec<u64>,
    before: Vec<u32>,
    /// The new rows in order.
    rows: Vec<u64>,
}

impl Arrivals {
    /// Puts the new rows of a batch in order.
    fn of(number: usize, batch: &Batch, shares: &[Share], width: usize) -> Self {
        let mut bits = vec![0; batch.len().div_ceil(64)];
        for &place in shares.iter().flat_map(|share| share.new_in(number)) {
            bits[place as usize / 64] |= 1 << (place % 64);
        }
        let (mut before, mut rows) = (Vec::with_capacity(bits.len()), Vec::new());
        for (&word, group) in bits.iter().zip(batch.words.chunks(64 * width)) {
            before.push((rows.len() / width) as u32);
            let mut rest: u64 = word;
            while rest != 0 {
                push_row(&mut rows, &group[rest.trailing_zeros() as usize * width..][..width]);
                rest &= rest - 1;
            }
        }
        Self { first: 0, bits, before, rows }
    }

    /// How many new rows come before the one at a place in the batch.
    fn rank(&self, place: u32) -> u32 {
        let word = place as usize / 64;
        self.before[word] + (self.bits[word] & ((1 << (place % 64)) - 1)).count_ones()
    }
}

/// The numbers of a batch's rows, where `first` is the number of the first new one.
pub fn numbers<I: Id>(batch: usize, batches: &[Batch], shares: &[Share], first: u32, width: usize) -> Vec<I> {
    let mut numbers = vec![I::new(0); batches[batch].len()];
    for (shard, share) in shares.iter().enumerate() {
        let (_, places) = batches[batch].cut.part(shard, width);
        for (&place, &number) in places.iter().zip(&share.numbers[share.starts[batch].0..]) {
            let final_number = |new: u32| share.final_numbers[new as usize];
            numbers[place as usize] = I::new(number.checked_sub(first).map_or(number, final_number));
        }
    }
    numbers
}

impl<I: Id> PackedSet<I> {
    /// Adds the rows of batches; returns what was found out about them.
    pub(super) fn add_together(&mut self, batches: &mut [Batch], workers: &Workers, wanted: bool) -> Vec<Share> {
        let (first, width) = (self.len() as u32, self.words);
        workers.map(batches.iter_mut().filter(|batch| !batch.sealed).collect(), |batch| batch.seal(width));
        let batches = &*batches;
        let shards = self.shards.iter_mut().enumerate().collect();
        let mut shares = workers.map(shards, |(number, shard)| Share::of(batches, number, shard, &self.rows, wanted));
        let chunks = batches.iter().enumerate().collect();
        let mut arrivals = workers.map(chunks, |(number, batch)| Arrivals::of(number, batch, &shares, width));
        for arrivals in &mut arrivals {
            arrivals.first = self.len() as u32;
            self.rows.append(&arrivals.rows);
        }
        let shards = self.shards.iter_mut().zip(&mut shares).collect();
        workers.map(shards, |(shard, share): (&mut Shard, &mut Share)| share.renumber(&arrivals, shard, first, width));
        debug_assert_eq!(self.shards.iter().map(Shard::len).sum::<usize>(), self.len(), "each row is in one shard");
        shares
    }
}
