//! Numbers of threads in places, in ascending order of the places.

use tepui_model::counters::{Bag, Pattern, Step};

/// Whether one has no more of anything than the other.
pub(super) fn is_below(small: &[(u32, u32)], large: &[(u32, u32)]) -> bool {
    let mut rest = large.iter();
    small.len() <= large.len() && small.iter().all(|&(place, count)| rest.any(|own| own.0 == place && own.1 >= count))
}

/// Sorted, and each place once.
pub(super) fn collect(mut parts: Bag) -> Bag {
    parts.sort_unstable();
    let mut bag: Bag = Vec::with_capacity(parts.len());
    for (place, count) in parts {
        match bag.last_mut().filter(|last| last.0 == place) {
            Some(last) => last.1 = last.1.saturating_add(count),
            None => bag.push((place, count)),
        }
    }
    bag
}

/// How many there are in a place.
pub(super) fn count(bag: &[(u32, u32)], place: u32) -> u32 {
    bag.binary_search_by_key(&place, |(own, _)| *own).map_or(0, |found| bag[found].1)
}

/// How many there are in all.
pub(super) fn total(bag: &[(u32, u32)]) -> u64 {
    bag.iter().map(|(_, count)| u64::from(*count)).sum()
}

/// The most ways in which threads may have come together.
const MOST_WAYS: f64 = 1e6;

/// The least states from which a step leads to something that covers a pattern; none, if there are too many of them.
pub(super) fn before(step: &Step, pattern: &[(u32, u32)]) -> Option<Vec<Pattern>> {
    let mut partial = vec![step.taken.clone()];
    let mut ways = 1.0;
    for &(place, wanted) in pattern {
        let missing = wanted.saturating_sub(count(&step.put, place));
        if missing == 0 {
            continue;
        }
        let sources = sources(step, place);
        // In how many ways so many come from so many places.
        let each = (1..sources.len()).map(|number| (f64::from(missing) + number as f64) / number as f64);
        ways *= each.product::<f64>();
        if ways > MOST_WAYS {
            return None;
        }
        partial = partial.iter().flat_map(|bag| spread(bag, &sources, missing)).collect();
    }
    Some(partial.into_iter().map(|counts| Pattern { shared: step.from, counts: collect(counts) }).collect())
}

/// The places from which those that are not taken come to a place.
fn sources(step: &Step, place: u32) -> Vec<u32> {
    if step.moves.is_empty() {
        return if step.allows(place) { vec![place] } else { Vec::new() };
    }
    let moved = step.moves.iter().filter(|(_, to)| *to == Some(place)).map(|(from, _)| *from);
    let is_moved = step.moves.iter().any(|(from, _)| *from == place);
    moved.chain((!is_moved).then_some(place)).filter(|from| step.allows(*from)).collect()
}

/// All ways to take some from places.
fn spread(bag: &Bag, sources: &[u32], number: u32) -> Vec<Bag> {
    let with = |place: u32, number: u32| bag.iter().copied().chain((number > 0).then_some((place, number))).collect();
    match sources {
        [] => Vec::new(),
        [last] => vec![with(*last, number)],
        [first, rest @ ..] => (0..=number).flat_map(|here| spread(&with(*first, here), rest, number - here)).collect(),
    }
}
