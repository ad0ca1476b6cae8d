//! Rows with names, in the form in which they are listed.
//!
//! What a step leads to is made more general, in ways that [names](tepui_model::queue::names) allow: entries of maps are dropped if their keys are names that occur
//! in no other place than such entries; and the names are shifted so that the least is 0. The row that stands for the rest must be listed.
//! A row without names may be listed with another one that stands for it: then that one is looked at instead, and no other one may stand for it in turn.

use std::collections::BTreeSet;

use tepui_cert::queue::Queue;
use tepui_model::queue::names::Named;

use super::Checker;

impl Checker<'_> {
    /// A row that stands for all that another one stands for.
    pub(super) fn as_listed(&mut self, mut row: Vec<u32>) -> Option<Vec<u32>> {
        let names = self.names(&row)?;
        if names.is_empty() {
            return Some(row);
        }
        let live: BTreeSet<i64> = names.iter().filter(|(_, entry)| !entry).map(|(name, _)| *name).collect();
        if names.iter().any(|(name, _)| !live.contains(name)) {
            for place in 0..row.len() {
                if !self.is_queue(&row, place) {
                    let (kind, local) = self.certificate.locals.get(row[place] as usize)?;
                    row[place] = self.locals.number(&(*kind, local.without_keys(&|name| !live.contains(&name))))?;
                }
            }
        }
        let least = self.names(&row)?.into_iter().map(|(name, _)| name).min().unwrap_or_default();
        if least != 0 {
            for place in 0..row.len() {
                row[place] = self.shifted(self.is_queue(&row, place), row[place], least.wrapping_neg())?;
            }
        }
        Some(row)
    }

    pub(super) fn is_queue(&self, row: &[u32], place: usize) -> bool {
        place < row.len() - self.program.specs.len() && place % 2 == 1
    }

    /// The names in a row, and whether each belongs to such an entry.
    fn names(&self, row: &[u32]) -> Option<Vec<(i64, bool)>> {
        let mut names = Vec::new();
        for (place, &number) in row.iter().enumerate() {
            if self.is_queue(row, place) {
                let letters = &self.certificate.letters;
                let queue = self.certificate.queues.get(number as usize)?;
                letters_of(queue).for_each(|letter| names.extend(letters[letter as usize].names()));
            } else {
                names.extend(self.certificate.locals.get(number as usize)?.1.names());
            }
        }
        Some(names)
    }

    /// Whether a row without names stands for nothing that another one does not stand for.
    pub(super) fn is_meant_by(&self, row: &[u32], by: &[u32]) -> Option<bool> {
        let (mut base, mut fits) = (None, self.names(row)?.is_empty() && row.len() == by.len());
        for (place, (&own, &other)) in row.iter().zip(by).enumerate() {
            fits &= if self.is_queue(row, place) {
                let queues = &self.certificate.queues;
                let (own, other) = (queues.get(own as usize)?, queues.get(other as usize)?);
                self.is_queue_meant_by(own, other, &mut base)
            } else {
                let locals = &self.certificate.locals;
                let (own, other) = (locals.get(own as usize)?, locals.get(other as usize)?);
                own.0 == other.0 && own.1.is_meant_by(&other.1, &mut base)
            };
        }
        Some(fits)
    }

    fn is_queue_meant_by(&self, queue: &Queue, by: &Queue, base: &mut Option<i64>) -> bool {
        let letters = &self.certificate.letters;
        let shape = |queue: &Queue| {
            let marks: Vec<_> = queue.marks.iter().map(|(_, last)| *last).collect();
            (queue.prefix.len(), marks, queue.counts.iter().map(|(_, count)| *count).collect::<Vec<_>>())
        };
        // What occurs several times is the same letter each time.
        let mut pairs: Vec<_> = letters_of(queue).zip(letters_of(by)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let once = pairs.windows(2).all(|pair| pair[0].0 != pair[1].0);
        let of = |letter: u32| &letters[letter as usize];
        let meant = |&(own, other): &(u32, u32)| {
            of(own).event == of(other).event && of(own).payload.is_meant_by(&of(other).payload, base)
        };
        once && shape(queue) == shape(by) && pairs.iter().all(meant)
    }

    /// A state of a machine, or a queue, with its names shifted.
    fn shifted(&mut self, is_queue: bool, number: u32, by: i64) -> Option<u32> {
        if let Some(known) = self.shifted.get(&(is_queue, number, by)) {
            return *known;
        }
        let insertion_order = self.program.rules.insertion_order;
        let found = if is_queue {
            let letters = &self.certificate.letters;
            let letter = |letter: u32| self.letters.number(&letters[letter as usize].shifted(by, insertion_order));
            let queue = self.certificate.queues.get(number as usize).and_then(|queue| with_letters(queue, &letter));
            queue.and_then(|queue| {
                let number = self.queues.number(queue);
                self.queues.listed(number).first().copied()
            })
        } else {
            let (kind, local) = self.certificate.locals.get(number as usize)?;
            self.locals.number(&(*kind, local.shifted(by, insertion_order)))
        };
        self.shifted.insert((is_queue, number, by), found);
        found
    }
}

fn letters_of(queue: &Queue) -> impl Iterator<Item = u32> {
    let marks = queue.marks.iter().map(|(letter, _)| letter);
    queue.prefix.iter().chain(marks).chain(queue.counts.iter().map(|(letter, _)| letter)).copied()
}

/// A queue with other letters.
pub(super) fn with_letters(queue: &Queue, letter: &dyn Fn(u32) -> Option<u32>) -> Option<Queue> {
    let mut counts =
        queue.counts.iter().map(|(own, count)| Some((letter(*own)?, *count))).collect::<Option<Vec<_>>>()?;
    counts.sort_unstable();
    let marks = queue.marks.iter().map(|(own, last)| Some((letter(*own)?, *last))).collect::<Option<_>>()?;
    Some(Queue { prefix: queue.prefix.iter().map(|own| letter(*own)).collect::<Option<_>>()?, marks, counts })
}
