//! Threads that are interchangeable.
//!
//! Nobody is trusted for that: [`System::alike`] says whether two threads can be exchanged in every run of the model.
//!
//! Two views are of one *orbit* if they differ by permutations of words within groups. The row that stands for an orbit,
//! its *canonical* row, has the cells of each group in ascending order along the group's threads.

use std::iter::successors;

use tepui_cert::pushdown::{Lemma, LemmaThread};

use crate::system::System;

/// Which threads of a lemma are interchangeable. A thread like no other is a group by itself.
pub(crate) struct Groups {
    /// For each thread the first one of its group.
    leaders: Vec<usize>,
    /// For each thread the one before and the one after it in its group; the thread itself, where there is none.
    neighbours: Vec<(usize, usize)>,
    /// The leaders of groups with more than one thread.
    led: Vec<usize>,
}

impl Groups {
    /// The groups that a lemma claims, if its threads are interchangeable indeed. There are as many threads in the lemma
    /// as in the model.
    pub(super) fn new(system: &impl System, lemma: &Lemma) -> Result<Self, String> {
        let alone: Vec<_> = (0..lemma.threads.len()).collect();
        let neighbours = alone.iter().map(|&thread| (thread, thread)).collect();
        let mut groups = Self { leaders: alone.clone(), neighbours, led: Vec::new() };
        let mut last = alone;
        for (thread, part) in lemma.threads.iter().enumerate() {
            let Some(leader) = part.like else { continue };
            let place = |reason: &str| format!("thread {} {reason}", system.thread_name(thread));
            follows(lemma, thread, leader, part).map_err(place)?;
            system.alike(thread, leader).map_err(place)?;
            if last[leader] == leader {
                groups.led.push(leader);
            }
            groups.leaders[thread] = leader;
            groups.neighbours[thread].0 = last[leader];
            groups.neighbours[last[leader]].1 = thread;
            last[leader] = thread;
        }
        Ok(groups)
    }

    /// The first thread of a thread's group, where the words of the group are listed.
    pub(crate) fn leader(&self, thread: usize) -> usize {
        self.leaders[thread]
    }

    /// The threads of a group from its leader on.
    pub(crate) fn members(&self, leader: usize) -> impl Iterator<Item = usize> {
        successors(Some(leader), |&thread| Some(self.neighbours[thread].1).filter(|&after| after != thread))
    }

    /// Whether every thread is a group by itself.
    pub(crate) fn are_trivial(&self) -> bool {
        self.led.is_empty()
    }

    /// Whether a thread is a group by itself.
    pub(crate) fn is_alone(&self, thread: usize) -> bool {
        let (before, after) = self.neighbours[thread];
        before == after
    }

    /// The thread before in the group; the thread itself, if there is none.
    pub(super) fn before(&self, thread: usize) -> usize {
        self.neighbours[thread].0
    }

    /// Whether the thread before in the group has the same word. In a canonical row it is enough to look at the first of
    /// equal ones.
    pub(crate) fn repeats(&self, row: &[u32], thread: usize) -> bool {
        let before = self.before(thread);
        before != thread && row[before + 1] == row[thread + 1]
    }

    /// Whether a row stands for its orbit.
    pub(super) fn is_canonical(&self, row: &[u32]) -> bool {
        self.led.iter().all(|&leader| self.members(leader).is_sorted_by_key(|thread| row[thread + 1]))
    }

    /// Makes any row canonical.
    pub(super) fn sort(&self, row: &mut [u32]) {
        for &leader in &self.led {
            let mut cells: Vec<_> = self.members(leader).map(|thread| row[thread + 1]).collect();
            cells.sort_unstable();
            self.members(leader).zip(cells).for_each(|(thread, cell)| row[thread + 1] = cell);
        }
    }

    /// Changes one thread's cell in a canonical row and makes it canonical again. Returns the thread that the cell comes to.
    #[inline]
    pub(super) fn put(&self, row: &mut [u32], thread: usize, cell: u32) -> usize {
        row[thread + 1] = cell;
        if self.is_alone(thread) { thread } else { self.settle(row, thread) }
    }

    fn settle(&self, row: &mut [u32], mut thread: usize) -> usize {
        while row[self.neighbours[thread].0 + 1] > row[thread + 1] {
            row.swap(self.neighbours[thread].0 + 1, thread + 1);
            thread = self.neighbours[thread].0;
        }
        while row[self.neighbours[thread].1 + 1] < row[thread + 1] {
            row.swap(self.neighbours[thread].1 + 1, thread + 1);
            thread = self.neighbours[thread].1;
        }
        thread
    }

    /// The number of views in the orbit of a canonical row, or the largest number if it is larger.
    ///
    /// For `n` cells with runs of `k1, k2, ...` equal ones there are `n! / (k1! k2! ...)` arrangements. Cell by cell each
    /// intermediate result is such a number again, so that every division is exact, and none is less than the one before.
    pub(super) fn orbit(&self, row: &[u32]) -> u64 {
        let mut size = 1;
        for &leader in &self.led {
            let mut run = 0;
            for (cells, thread) in (1..).zip(self.members(leader)) {
                run = if self.repeats(row, thread) { run + 1 } else { 1 };
                match u64::try_from(u128::from(size) * cells / run) {
                    Ok(larger) => size = larger,
                    Err(_) => return u64::MAX,
                }
            }
        }
        size
    }
}

/// Whether a thread's part of a lemma has the form of one that is like another.
fn follows(lemma: &Lemma, thread: usize, leader: usize, part: &LemmaThread) -> Result<(), &'static str> {
    if leader >= thread || lemma.threads[leader].like.is_some() {
        return Err("is not like an earlier one that is like no other");
    }
    match part.words.is_empty() && part.below.is_empty() {
        true => Ok(()),
        false => Err("is like another, but has lists of its own"),
    }
}
