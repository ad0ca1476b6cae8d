//! The queues that are meant by what is known of a queue, and what becomes of them where claims hold.
//!
//! Queues are read from their ends. Of the letters behind the prefix, those between two marks may be any that have occurred
//! before and occur again later (for *ends*), or that have occurred before (for *list*), and the counts must be right.

use std::collections::HashSet;

use tepui_model::queue::formula::{Formula, Truth};

use super::{Order, Precision, Queue};

/// What is known of a queue, and how.
#[derive(Clone, Copy)]
pub struct Known<'q> {
    /// How precisely.
    pub precision: &'q Precision,
    /// The queue.
    pub queue: &'q Queue,
}

/// Claims about queues, and the events of letters.
pub struct Claims<'c> {
    /// The claims, all of which hold.
    pub formulas: &'c [&'c Formula],
    /// The event of a letter.
    pub event: &'c dyn Fn(u32) -> u32,
}

/// Whether all claims may hold of a queue that has changed, and whether one may not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fate {
    /// They may hold.
    pub may_hold: bool,
    /// One may fail.
    pub may_fail: bool,
}

/// The most combinations of how far queues have been read. Beyond, anything may be.
const MOST: usize = 5_000;

/// How far a queue has been read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct At {
    /// How much of the prefix is left.
    prefix: usize,
    /// How many marks are left.
    marks: usize,
    /// How often each letter that is counted was read, not above what decides.
    counts: Vec<u8>,
}

impl Known<'_> {
    fn start(&self) -> At {
        let Queue { prefix, marks, counts } = self.queue;
        At { prefix: prefix.len(), marks: marks.len(), counts: vec![0; counts.len()] }
    }

    fn letters(&self) -> Vec<u32> {
        let Queue { prefix, marks, counts } = self.queue;
        let marked = marks.iter().map(|(letter, _)| letter);
        let mut letters: Vec<u32> =
            prefix.iter().chain(marked).chain(counts.iter().map(|(letter, _)| letter)).copied().collect();
        letters.sort_unstable();
        letters.dedup();
        letters
    }

    /// Whether a letter may stand behind so many marks and before the next.
    fn is_open(&self, letter: u32, marks: usize) -> bool {
        let (before, after) = self.queue.marks.split_at(marks);
        match self.precision.order {
            Order::Bag => self.queue.counts.iter().any(|(other, _)| *other == letter),
            Order::List => before.iter().any(|(other, _)| *other == letter),
            Order::Ends => before.contains(&(letter, false)) && after.contains(&(letter, true)),
        }
    }

    /// Whether all behind the prefix has been read.
    fn is_at_prefix(&self, at: &At) -> bool {
        let cap = self.precision.cap.max(1);
        let right = |((_, wanted), own): (&(u32, u8), &u8)| own == wanted || *wanted >= cap && own >= wanted;
        at.marks == 0 && self.queue.counts.iter().zip(&at.counts).all(right)
    }

    fn is_read(&self, at: &At) -> bool {
        at.prefix == 0 && self.is_at_prefix(at)
    }

    /// Where one can be after reading a letter.
    fn read(&self, at: &At, letter: u32) -> Vec<At> {
        let mut found = Vec::new();
        if self.is_at_prefix(at) && at.prefix > 0 && self.queue.prefix[at.prefix - 1] == letter {
            found.push(At { prefix: at.prefix - 1, ..at.clone() });
        }
        if at.prefix < self.queue.prefix.len() {
            return found;
        }
        let mut counted = at.clone();
        if let Some(place) = self.queue.counts.iter().position(|(other, _)| *other == letter) {
            let most = self.queue.counts[place].1.saturating_add(1);
            counted.counts[place] = counted.counts[place].saturating_add(1).min(most);
        }
        if at.marks > 0 && self.queue.marks[at.marks - 1].0 == letter {
            found.push(At { marks: at.marks - 1, ..counted.clone() });
        }
        if self.is_open(letter, at.marks) {
            found.push(counted);
        }
        found
    }
}

impl Claims<'_> {
    fn of_empty(&self) -> Vec<Truth> {
        self.formulas.iter().map(|formula| formula.of_empty()).collect()
    }

    fn with_head(&self, truths: &[Truth], letter: u32) -> Vec<Truth> {
        let event = (self.event)(letter);
        self.formulas.iter().zip(truths).map(|(formula, truth)| formula.with_head(truth, event)).collect()
    }

    fn hold(&self, truths: &[Truth]) -> bool {
        self.formulas.iter().zip(truths).all(|(formula, truth)| formula.is_true(truth))
    }

    /// A letter is put at the end of a queue.
    pub fn push(&self, before: Known<'_>, letter: u32) -> Fate {
        let (empty, mut fate) = (self.of_empty(), Fate::default());
        let longer = self.with_head(&empty, letter);
        let letters = before.letters();
        let mut open = vec![(before.start(), empty, longer)];
        let mut seen: HashSet<_> = open.iter().cloned().collect();
        while let Some((at, own, longer)) = open.pop() {
            if seen.len() > MOST || fate.may_hold && fate.may_fail {
                return Fate { may_hold: true, may_fail: true };
            }
            if before.is_read(&at) && self.hold(&own) {
                fate.note(self.hold(&longer));
            }
            for &letter in &letters {
                for next in before.read(&at, letter) {
                    let next = (next, self.with_head(&own, letter), self.with_head(&longer, letter));
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
        fate
    }

    /// A letter is taken from a queue: the first of those that may be taken.
    pub fn take(&self, before: Known<'_>, after: Known<'_>, letter: u32, takes: &dyn Fn(u32) -> bool) -> Fate {
        let (mut fate, letters) = (Fate::default(), before.letters());
        let mut open = vec![(before.start(), after.start(), self.of_empty(), self.of_empty(), false)];
        let mut seen: HashSet<_> = open.iter().cloned().collect();
        while let Some((at, left, own, rest, taken)) = open.pop() {
            if seen.len() > MOST || fate.may_hold && fate.may_fail {
                return Fate { may_hold: true, may_fail: true };
            }
            if taken && before.is_read(&at) && after.is_read(&left) && self.hold(&own) {
                fate.note(self.hold(&rest));
            }
            for &other in &letters {
                let mut nexts = Vec::new();
                for next in before.read(&at, other) {
                    let longer = self.with_head(&own, other);
                    if !taken && other == letter {
                        nexts.push((next.clone(), left.clone(), longer.clone(), rest.clone(), true));
                    }
                    if !taken || !takes(other) {
                        let rest = self.with_head(&rest, other);
                        let both = after.read(&left, other).into_iter();
                        nexts.extend(both.map(|left| (next.clone(), left, longer.clone(), rest.clone(), taken)));
                    }
                }
                for next in nexts {
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
        fate
    }
}

impl Fate {
    fn note(&mut self, holds: bool) {
        self.may_hold |= holds;
        self.may_fail |= !holds;
    }
}
