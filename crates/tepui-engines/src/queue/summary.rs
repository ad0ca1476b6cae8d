//! What is known of a queue: its first letters, and a summary of the rest.
//!
//! A summary is computed letter by letter, so that sending to a queue of which only a summary is known gives the summary of
//! the longer queue. Taking does not: which letter comes next may be open, and where the next one of its kind stands. Then
//! there are several results, one for each queue that the summary may stand for.
//!
//! * *Bag*: how often each letter occurs, up to a cap.
//! * *List*: the same, and the order in which letters occur first.
//! * *Ends*: the order of first *and last* occurrences, one mark where they coincide; with a cap also how often.

use std::collections::BTreeMap;

/// What a summary keeps of the order of letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Order {
    /// Nothing.
    Bag,
    /// Of first occurrences.
    List,
    /// Of first and last occurrences.
    Ends,
}

/// How precisely a queue is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Precision {
    /// How many letters at its head are kept as they are.
    pub prefix: usize,
    /// What is kept of the order of the others.
    pub order: Order,
    /// Up to which number they are counted; 0, if they are not.
    pub cap: u8,
}

impl Precision {
    /// Queues are known letter by letter.
    pub const EXACT: Self = Self { prefix: usize::MAX, order: Order::Ends, cap: 0 };

    /// A bag in which one letter is told from several.
    pub const BAG: Self = Self { prefix: 0, order: Order::Bag, cap: 2 };

    /// Ends without a prefix and without counts.
    pub const ENDS: Self = Self { prefix: 0, order: Order::Ends, cap: 0 };
}

/// What is known of a queue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Queue {
    /// Its first letters.
    pub prefix: Vec<u32>,
    /// Marks for the rest: a letter, and whether this is its last occurrence and not its first.
    pub marks: Vec<(u32, bool)>,
    /// How often each letter occurs in the rest; at the cap, at least so often.
    pub counts: BTreeMap<u32, u8>,
}

impl Queue {
    /// The same with other letters.
    pub(super) fn with_letters(&self, letter: &mut dyn FnMut(u32) -> u32) -> Self {
        Self {
            prefix: self.prefix.iter().map(|own| letter(*own)).collect(),
            marks: self.marks.iter().map(|(own, last)| (letter(*own), *last)).collect(),
            counts: self.counts.iter().map(|(own, count)| (letter(*own), *count)).collect(),
        }
    }

    /// In words: the letters at its head, and the marks of the others.
    pub(super) fn text(&self, name: &dyn Fn(u32) -> String) -> String {
        let Self { prefix, marks, counts } = self;
        let mark = |(letter, last): &(u32, bool)| if *last { format!("last {}", name(*letter)) } else { name(*letter) };
        let counted = counts.keys().filter(|_| marks.is_empty());
        let parts = prefix.iter().map(|letter| name(*letter)).chain(marks.iter().map(mark));
        let parts: Vec<_> = parts.chain(counted.map(|letter| name(*letter))).collect();
        if parts.is_empty() { "empty".to_owned() } else { parts.join(", ") }
    }

    fn rest_is_empty(&self) -> bool {
        self.marks.is_empty() && self.counts.is_empty()
    }

    /// The letters of the rest, each once.
    fn letters(&self) -> impl Iterator<Item = u32> + '_ {
        let marked = self.marks.iter().filter(|(_, last)| !last).map(|(letter, _)| *letter);
        let counted = self.counts.keys().copied().filter(|_| self.marks.is_empty());
        marked.chain(counted)
    }
}

impl Precision {
    /// How many of some letters there are at least, and whether there are exactly so many.
    pub fn count(&self, queue: &Queue, wanted: &dyn Fn(u32) -> bool) -> (usize, bool) {
        let first = queue.prefix.iter().filter(|letter| wanted(**letter)).count();
        let marks = queue.marks.iter().filter(|(letter, _)| wanted(*letter)).count();
        let counted: Vec<_> = queue.counts.iter().filter(|(letter, _)| wanted(**letter)).collect();
        let sum: usize = counted.iter().map(|(_, count)| usize::from(**count)).sum();
        // A letter that is there twice, or as often as is counted, may be there more often.
        let twice = |(letter, last): &(u32, bool)| *last && wanted(*letter) && !queue.counts.contains_key(letter);
        let open = queue.marks.iter().any(twice) || counted.iter().any(|(_, count)| **count >= self.counted());
        (first + sum.max(marks), !open)
    }

    /// The queue with one more letter at its end.
    pub fn push(&self, queue: &Queue, letter: u32) -> Queue {
        let mut queue = queue.clone();
        if queue.rest_is_empty() && queue.prefix.len() < self.prefix {
            queue.prefix.push(letter);
            return queue;
        }
        let known = queue.letters().any(|other| other == letter);
        match self.order {
            Order::Bag => {}
            Order::List if known => {}
            Order::List => queue.marks.push((letter, false)),
            Order::Ends => {
                queue.marks.retain(|mark| *mark != (letter, true));
                queue.marks.push((letter, known));
            }
        }
        if let cap @ 1.. = self.counted() {
            let count = queue.counts.entry(letter).or_insert(0);
            *count = count.saturating_add(1).min(cap);
        }
        queue
    }

    /// Up to which number letters are counted. Two marks tell one from more, so that ends need not count to that; whoever
    /// has no marks for last occurrences says at least whether a letter is there.
    fn counted(&self) -> u8 {
        match self.order {
            Order::Bag | Order::List => self.cap.max(1),
            Order::Ends if self.cap <= 2 => 0,
            Order::Ends => self.cap,
        }
    }

    /// The first letter that can be taken, in all ways, each with what is left.
    pub fn take(&self, queue: &Queue, takes: &dyn Fn(u32) -> bool) -> Vec<(u32, Queue)> {
        let Some(place) = queue.prefix.iter().position(|letter| takes(*letter)) else {
            return self.take_from_rest(queue, takes);
        };
        let mut left = queue.clone();
        let letter = left.prefix.remove(place);
        if left.rest_is_empty() {
            return vec![(letter, left)];
        }
        // The prefix is filled up with whatever comes next.
        let refilled = self.take_from_rest(&left, &|_| true).into_iter().map(|(next, mut left)| {
            left.prefix.push(next);
            (letter, left)
        });
        refilled.collect()
    }

    fn take_from_rest(&self, queue: &Queue, takes: &dyn Fn(u32) -> bool) -> Vec<(u32, Queue)> {
        let mut found = Vec::new();
        match self.order {
            Order::Bag => {
                for letter in queue.letters().filter(|letter| takes(*letter)) {
                    found.extend(self.fewer(queue, letter).into_iter().map(|left| (letter, left)));
                }
            }
            Order::List | Order::Ends => {
                let Some(letter) = queue.letters().find(|letter| takes(*letter)) else { return found };
                let left = self.fewer(queue, letter);
                found.extend(left.into_iter().flat_map(|left| self.moved(&left, letter)).map(|left| (letter, left)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// One occurrence of a letter less, as far as they are counted: what is left may be none, one or more.
    fn fewer(&self, queue: &Queue, letter: u32) -> Vec<Queue> {
        let with = |count: u8| {
            let mut queue = queue.clone();
            match count {
                0 => _ = queue.counts.remove(&letter),
                _ => _ = queue.counts.insert(letter, count),
            }
            queue
        };
        let cap = self.counted();
        match queue.counts.get(&letter) {
            None => vec![queue.clone()],
            Some(&count) if count < cap => vec![with(count - 1)],
            Some(_) => vec![with(cap - 1), with(cap)],
        }
    }

    /// Where the next occurrence of a letter may stand after the first one has been taken.
    fn moved(&self, queue: &Queue, letter: u32) -> Vec<Queue> {
        let Some(place) = queue.marks.iter().position(|mark| *mark == (letter, false)) else { return Vec::new() };
        let left = queue.counts.get(&letter).copied();
        let mut without = queue.clone();
        without.marks.remove(place);
        let at = |place: usize| {
            let mut queue = without.clone();
            queue.marks.insert(place, (letter, false));
            queue
        };
        if self.order == Order::List {
            return match left {
                None => vec![without],
                Some(_) => (place..=without.marks.len()).map(at).collect(),
            };
        }
        let Some(last) = without.marks.iter().position(|mark| *mark == (letter, true)) else { return vec![without] };
        let mut single = without.clone();
        single.marks[last] = (letter, false);
        let several = (place..=last).map(at);
        match left {
            Some(1) => vec![single],
            Some(_) => several.collect(),
            None => std::iter::once(single).chain(several).collect(),
        }
    }

    /// What is kept of a word.
    pub fn of(&self, word: &[u32]) -> Queue {
        word.iter().fold(Queue::default(), |queue, &letter| self.push(&queue, letter))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    /// All words over so many letters up to a length.
    fn words(letters: u32, longest: usize) -> Vec<Vec<u32>> {
        let mut all: Vec<Vec<u32>> = vec![Vec::new()];
        let mut last = all.clone();
        for _ in 0..longest {
            last = last.iter().flat_map(|word| (0..letters).map(|letter| [&word[..], &[letter]].concat())).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    /// What taking leads to by definition: from all words that a summary stands for.
    fn by_definition(precision: &Precision, words: &[Vec<u32>], longest: usize, deferred: u32) {
        let takes = |letter: u32| deferred >> letter & 1 == 0;
        let mut found: BTreeMap<Queue, (BTreeSet<(u32, Queue)>, bool)> = BTreeMap::new();
        let summaries: BTreeMap<&[u32], Queue> = words.iter().map(|word| (&word[..], precision.of(word))).collect();
        for word in words {
            let (all, has) = found.entry(summaries[&word[..]].clone()).or_default();
            let Some(place) = word.iter().position(|letter| takes(*letter)) else { continue };
            let mut left = word.clone();
            let letter = left.remove(place);
            all.insert((letter, summaries[&left[..]].clone()));
            *has = true;
        }
        for (queue, (expected, has)) in found {
            let taken: BTreeSet<_> = precision.take(&queue, &takes).into_iter().collect();
            assert_eq!(!taken.is_empty(), has, "{precision:?}, {deferred:b}: {queue:?}");
            // The longest words are followed by longer ones that would show more.
            if precision.count(&queue, &|_| true).0 + 2 < longest {
                assert_eq!(taken, expected, "{precision:?}, {deferred:b}: {queue:?}");
            }
            assert!(expected.is_subset(&taken), "{precision:?}, {deferred:b}: {queue:?}");
        }
    }

    #[test]
    fn taking_is_as_precise_as_can_be() {
        for prefix in 0..=1 {
            let words = words(3, prefix + 7);
            for order in [Order::Bag, Order::List, Order::Ends] {
                for cap in 1..=3 {
                    let precision = Precision { prefix, order, cap };
                    (0..8).for_each(|deferred| by_definition(&precision, &words, prefix + 7, deferred));
                }
            }
        }
    }

    #[test]
    fn counts_are_those_of_words() {
        for (word, precision) in [([1, 2, 1, 1], Precision::ENDS), ([1, 2, 1, 1], Precision::EXACT)] {
            let queue = precision.of(&word);
            let (least, exact) = precision.count(&queue, &|letter| letter == 1);
            assert_eq!((least, exact), if precision == Precision::EXACT { (3, true) } else { (2, false) });
            assert_eq!(precision.count(&queue, &|letter| letter == 2), (1, true));
        }
    }

    #[test]
    fn queues_may_be_known_exactly() {
        let word = [3, 1, 3, 2];
        let queue = Precision::EXACT.of(&word);
        assert_eq!(queue.prefix, word);
        let left = Precision::EXACT.of(&[3, 3, 2]);
        assert_eq!(Precision::EXACT.take(&queue, &|letter| letter == 1), vec![(1, left)]);
    }
}
