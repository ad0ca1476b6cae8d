//! What becomes of a queue of which only a summary is known: the definition, spelled out.
//!
//! A queue is its prefix and the rest. Of the rest there are marks and counts. A mark `(a, false)` says that `a` occurs first
//! at this place, `(a, true)` that it occurs last there; one mark for both means that it occurs once. A count below the cap
//! is exact, one at the cap means at least so often.

use tepui_cert::queue::{Order, Precision, Queue};

/// Up to which number letters are counted: where there are no marks for last occurrences, at least to 1; ends say already
/// whether a letter occurs once or more often.
fn cap(precision: &Precision) -> u8 {
    match precision.order {
        Order::Ends => {
            if precision.cap > 2 {
                precision.cap
            } else {
                0
            }
        }
        Order::Bag | Order::List => precision.cap.max(1),
    }
}

fn count_of(queue: &Queue, letter: u32) -> u8 {
    queue.counts.iter().find(|(other, _)| *other == letter).map_or(0, |(_, count)| *count)
}

fn with_count(queue: &Queue, letter: u32, count: u8) -> Queue {
    let mut counts: Vec<_> = queue.counts.iter().copied().filter(|(other, _)| *other != letter).collect();
    if count > 0 {
        counts.push((letter, count));
        counts.sort_unstable();
    }
    Queue { counts, ..queue.clone() }
}

fn has_rest(queue: &Queue) -> bool {
    !queue.marks.is_empty() || !queue.counts.is_empty()
}

/// The letters behind the prefix, each once, in the order of their first occurrences, if that is known.
fn letters(precision: &Precision, queue: &Queue) -> Vec<u32> {
    match precision.order {
        Order::Bag => queue.counts.iter().map(|(letter, _)| *letter).collect(),
        Order::List | Order::Ends => queue.marks.iter().filter(|(_, last)| !last).map(|(letter, _)| *letter).collect(),
    }
}

/// The queue with one more letter at its end.
pub(super) fn push(precision: &Precision, queue: &Queue, letter: u32) -> Queue {
    if !has_rest(queue) && precision.prefix.is_none_or(|prefix| queue.prefix.len() < prefix) {
        let prefix = queue.prefix.iter().copied().chain([letter]).collect();
        return Queue { prefix, ..queue.clone() };
    }
    let occurs = letters(precision, queue).contains(&letter);
    let mut longer = queue.clone();
    match (precision.order, occurs) {
        (Order::Bag, _) | (Order::List, true) => {}
        (Order::List | Order::Ends, false) => longer.marks.push((letter, false)),
        (Order::Ends, true) => {
            longer.marks.retain(|mark| *mark != (letter, true));
            longer.marks.push((letter, true));
        }
    }
    match cap(precision) {
        0 => longer,
        most => with_count(&longer, letter, count_of(queue, letter).saturating_add(1).min(most)),
    }
}

/// All letters that may be taken first, each with what may be left.
pub(super) fn take(precision: &Precision, queue: &Queue, takes: &dyn Fn(u32) -> bool) -> Vec<(u32, Queue)> {
    for (place, &letter) in queue.prefix.iter().enumerate() {
        if !takes(letter) {
            continue;
        }
        let mut shorter = queue.clone();
        shorter.prefix.remove(place);
        if !has_rest(queue) {
            return vec![(letter, shorter)];
        }
        // Something moves up from the rest, whatever it is.
        let moved = take_behind(precision, &shorter, &|_| true).into_iter().map(|(next, mut left)| {
            left.prefix.push(next);
            (letter, left)
        });
        return moved.collect();
    }
    take_behind(precision, queue, takes)
}

/// The same for the letters behind the prefix.
fn take_behind(precision: &Precision, queue: &Queue, takes: &dyn Fn(u32) -> bool) -> Vec<(u32, Queue)> {
    let mut candidates = letters(precision, queue);
    candidates.retain(|letter| takes(*letter));
    if precision.order != Order::Bag {
        candidates.truncate(1);
    }
    let mut found = Vec::new();
    for letter in candidates {
        for fewer in one_less(precision, queue, letter) {
            found.extend(where_next(precision, &fewer, letter).into_iter().map(|left| (letter, left)));
        }
    }
    found
}

/// The counts after one occurrence has been taken.
fn one_less(precision: &Precision, queue: &Queue, letter: u32) -> Vec<Queue> {
    let (most, count) = (cap(precision), count_of(queue, letter));
    match count {
        _ if most == 0 => vec![queue.clone()],
        0 => Vec::new(),
        count if count < most => vec![with_count(queue, letter, count - 1)],
        _ => vec![with_count(queue, letter, most - 1), with_count(queue, letter, most)],
    }
}

/// The marks after the first occurrence has been taken: the next one may be anywhere up to the last.
fn where_next(precision: &Precision, queue: &Queue, letter: u32) -> Vec<Queue> {
    let place_of = |last: bool| queue.marks.iter().position(|mark| *mark == (letter, last));
    let Some(first) = place_of(false) else { return vec![queue.clone()] };
    let left = count_of(queue, letter);
    let counted = cap(precision) > 0;
    let rest: Vec<_> = queue.marks.iter().copied().filter(|mark| *mark != (letter, false)).collect();
    let marked = |marks: Vec<(u32, bool)>| Queue { marks, ..queue.clone() };
    let inserted = |place: usize| {
        let (before, after) = rest.split_at(place);
        marked([before, &[(letter, false)], after].concat())
    };
    match (precision.order, place_of(true)) {
        (Order::List, _) if left == 0 => vec![marked(rest)],
        (Order::List, _) => (first..=rest.len()).map(inserted).collect(),
        (_, None) if counted && left > 0 => Vec::new(),
        (_, None) => vec![marked(rest)],
        (_, Some(last)) => {
            // Without the first mark the last one has moved up.
            let last = last - 1;
            let once = rest.iter().map(|&mark| if mark == (letter, true) { (letter, false) } else { mark }).collect();
            let (may_be_one, may_be_more) = (!counted || left == 1, !counted || left > 1);
            let more = (first..=last).map(inserted).filter(|_| may_be_more);
            may_be_one.then(|| marked(once)).into_iter().chain(more).collect()
        }
    }
}

/// How many of some letters there are at least, and whether there are no more.
pub(super) fn count(precision: &Precision, queue: &Queue, wanted: &dyn Fn(u32) -> bool) -> (usize, bool) {
    let (mut least, mut exact) = (queue.prefix.iter().filter(|letter| wanted(**letter)).count(), true);
    let most = cap(precision);
    for letter in letters(precision, queue).into_iter().filter(|letter| wanted(*letter)) {
        if most > 0 {
            let count = count_of(queue, letter);
            least += usize::from(count);
            exact &= count < most;
        } else {
            let twice = queue.marks.contains(&(letter, true));
            least += 1 + usize::from(twice);
            exact &= !twice;
        }
    }
    (least, exact)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    type Key = (Vec<u32>, Vec<(u32, bool)>, Vec<(u32, u8)>);

    fn key(queue: &Queue) -> Key {
        (queue.prefix.clone(), queue.marks.clone(), queue.counts.clone())
    }

    fn words(letters: u32, longest: usize) -> Vec<Vec<u32>> {
        let mut all: Vec<Vec<u32>> = vec![Vec::new()];
        let mut start = 0;
        for _ in 0..longest {
            let end = all.len();
            let longer: Vec<_> = all[start..end]
                .iter()
                .flat_map(|word| (0..letters).map(move |letter| [&word[..], &[letter]].concat()))
                .collect();
            all.extend(longer);
            start = end;
        }
        all
    }

    /// Every queue that a summary stands for leads to a summary that is found.
    #[test]
    fn nothing_that_can_happen_is_missing() {
        for prefix in 0..=1 {
            let words = words(3, prefix + 7);
            for (order, cap) in [Order::Bag, Order::List, Order::Ends]
                .into_iter()
                .flat_map(|order| (0..=3).map(move |cap| (order, cap)))
            {
                let precision = Precision { prefix: Some(prefix), order, cap };
                let of = |word: &[u32]| {
                    word.iter().fold(Queue::default(), |queue, &letter| push(&precision, &queue, letter))
                };
                for deferred in 0..8_u32 {
                    let takes = |letter: u32| deferred >> letter & 1 == 0;
                    let mut taken: BTreeMap<Key, BTreeSet<(u32, Key)>> = BTreeMap::new();
                    for word in &words {
                        let queue = of(word);
                        let known = taken.entry(key(&queue)).or_insert_with(|| {
                            take(&precision, &queue, &takes).iter().map(|(letter, left)| (*letter, key(left))).collect()
                        });
                        let Some(place) = word.iter().position(|letter| takes(*letter)) else {
                            assert!(known.is_empty(), "{precision:?} {word:?}");
                            continue;
                        };
                        let left = [&word[..place], &word[place + 1..]].concat();
                        assert!(known.contains(&(word[place], key(&of(&left)))), "{precision:?} {word:?}");
                        let ones = word.iter().filter(|letter| **letter == 1).count();
                        let (least, exact) = count(&precision, &queue, &|letter| letter == 1);
                        assert!(if exact { least == ones } else { least <= ones }, "{precision:?} {word:?}");
                    }
                }
            }
        }
    }
}
