//! Rows of a few threads that no step leaves.
//!
//! A row is a shared state and k places; where there are fewer threads, nobody takes a place. A reachable state has all its
//! views among the rows, by induction. Take a view after a step, and let `u` be the threads in it that were neither taken nor
//! put, where they were before, filled up with nobodies. Then `u` and the threads that are taken are together in the state
//! before, so that all k of them are rows: the rows *admit* them. So what is owed is this: for each step and each `u` that the
//! rows admit together with what is taken, and that the step allows, all views of what `u` becomes and what is put.
//!
//! Since `u` itself is admitted, it is a row, and it suffices to look at rows.

use smallvec::SmallVec;
use tepui_cert::counters::Views;
use tepui_model::counters::{Bag, Net, Step};

use super::{Stopping, Wrong, because};

/// The most bits that rows are kept in: 32 megabytes.
const MOST_BITS: u128 = 1 << 28;

/// Rows, and one bit for each that there could be, unless these are too many.
pub(crate) struct Rows {
    size: usize,
    nobody: u32,
    bits: Vec<u64>,
    /// For each shared state its rows, in ascending order.
    by_shared: Vec<Vec<Box<[u32]>>>,
}

impl Rows {
    pub(super) fn new(net: &Net, listed: &Views) -> Result<Self, Wrong> {
        let (nobody, shared) = (net.places.count(), net.shared.count());
        if listed.size == 0 {
            return because("nobody is seen");
        }
        let mut by_shared = vec![Vec::new(); shared as usize];
        for (shared, row) in &listed.rows {
            let fits = row.len() == listed.size && row.is_sorted() && row.iter().all(|place| *place <= nobody);
            let Some(own) = by_shared.get_mut(*shared as usize).filter(|_| fits) else {
                return because("a row has an unknown shared state or place, or is not in ascending order");
            };
            own.push(row.clone());
        }
        by_shared.iter_mut().for_each(|rows| rows.sort_unstable());
        let mut rows = Self { size: listed.size, nobody, bits: Vec::new(), by_shared };
        let all = u32::try_from(listed.size).ok().and_then(|size| (u128::from(nobody) + 1).checked_pow(size));
        let all = all.and_then(|all| all.checked_mul(u128::from(shared))).filter(|all| *all <= MOST_BITS);
        if let Some(all) = all {
            rows.bits = vec![0; (all / 64) as usize + 1];
            for (shared, row) in &listed.rows {
                let index = rows.index(*shared, row);
                rows.bits[index / 64] |= 1 << (index % 64);
            }
        }
        Ok(rows)
    }

    fn index(&self, shared: u32, row: &[u32]) -> usize {
        let base = self.nobody as usize + 1;
        row.iter().fold(shared as usize, |index, place| index * base + *place as usize)
    }

    /// Whether a row is listed; its places are in ascending order.
    fn has(&self, shared: u32, row: &[u32]) -> bool {
        if self.bits.is_empty() {
            return self.by_shared[shared as usize].binary_search_by(|own| (**own).cmp(row)).is_ok();
        }
        let index = self.index(shared, row);
        self.bits[index / 64] >> (index % 64) & 1 == 1
    }

    /// One place for each thread. More of them than a row has makes no difference.
    fn listed(&self, bag: &Bag) -> Vec<u32> {
        bag.iter().flat_map(|&(place, count)| vec![place; (count as usize).min(self.size)]).collect()
    }

    /// Whether each choice of so many threads is a row.
    pub(super) fn admit(&self, shared: u32, bag: &Bag) -> bool {
        let mut all = self.listed(bag);
        all.resize(all.len().max(self.size), self.nobody);
        self.admit_all(shared, &all)
    }

    /// The same for a list in ascending order, at least as long as a row.
    fn admit_all(&self, shared: u32, all: &[u32]) -> bool {
        each_choice(all, self.size, &mut SmallVec::new(), &mut |row| self.has(shared, row))
    }

    /// Whether the rows contain all views of the start, and what is owed for each step.
    pub(super) fn check(&self, net: &Net, stop: Stopping<'_>) -> Result<(), Wrong> {
        let places = (0..).zip(&net.counts).flat_map(|(place, count)| {
            let number = if count.or_more { self.size } else { (count.least as usize).min(self.size) };
            vec![place; number]
        });
        let start: Vec<u32> = places.chain(vec![self.nobody; self.size]).collect();
        if !self.admit_all(net.start, &start) {
            return because("a view of the start is missing");
        }
        for step in &net.steps {
            if stop() {
                return Err(Wrong::Stopped);
            }
            let (taken, put) = (self.listed(&step.taken), self.listed(&step.put));
            if !self.beside(step.from, &taken, self.nobody) {
                continue; // Those that are taken are never there together.
            }
            // Who can be there together with those that are taken, with nobody else in sight.
            let beside: Vec<bool> = (0..=self.nobody).map(|place| self.beside(step.from, &taken, place)).collect();
            let all_beside = |row: &[u32]| row.iter().all(|place| beside[*place as usize]);
            for row in self.by_shared[step.from as usize].iter().filter(|row| all_beside(row)) {
                if !self.closed(step, &taken, &put, row) {
                    return because(format!("a view after the step of line {} is missing", step.line));
                }
            }
        }
        Ok(())
    }

    /// Whether the rows admit somebody together with those that are taken.
    fn beside(&self, shared: u32, taken: &[u32], place: u32) -> bool {
        let mut together: SmallVec<[u32; 8]> = taken.iter().copied().chain([place]).collect();
        together.resize(together.len() + self.size, self.nobody);
        together.sort_unstable();
        self.admit_all(shared, &together)
    }

    /// Whether all views are there of what a row becomes when somebody takes a step.
    fn closed(&self, step: &Step, taken: &[u32], put: &[u32], row: &[u32]) -> bool {
        let threads = || row.iter().copied().filter(|place| *place != self.nobody);
        if step.others.is_some() && !threads().all(|place| step.allows(place)) {
            return true;
        }
        let mut together: SmallVec<[u32; 8]> = row.iter().chain(taken).copied().collect();
        together.sort_unstable();
        if !self.admit_all(step.from, &together) {
            return true;
        }
        let mut after: Vec<u32> = threads().filter_map(|place| step.goes(place)).chain(put.iter().copied()).collect();
        after.sort_unstable();
        after.resize(after.len() + self.size, self.nobody);
        self.admit_all(step.to, &after)
    }
}

/// Whether something is true of each choice of so many from a list in ascending order; equal choices are looked at once.
fn each_choice<F: FnMut(&[u32]) -> bool>(
    all: &[u32],
    size: usize,
    row: &mut SmallVec<[u32; 8]>,
    holds: &mut F,
) -> bool {
    if row.len() == size {
        return holds(row);
    }
    let missing = size - row.len();
    let mut last = None;
    for (number, &place) in all.iter().enumerate() {
        if all.len() - number < missing {
            break;
        }
        if last == Some(place) {
            continue;
        }
        last = Some(place);
        row.push(place);
        let holds = each_choice(&all[number + 1..], size, row, holds);
        row.pop();
        if !holds {
            return false;
        }
    }
    true
}
