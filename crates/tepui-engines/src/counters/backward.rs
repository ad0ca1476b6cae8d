//! Backwards from what is forbidden: the least states from which it can be covered, relative to what is known from above.
//!
//! A pattern stands for all states that cover it. If a step leads there, it does so from one of a few least patterns. One that
//! is excluded from above, or covers a pattern that is known, is dropped; a new one removes those that cover it. There is no
//! infinite sequence of patterns none of which covers an earlier one, so this ends: with a pattern that the start covers, or
//! with a set that nothing enters.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::counters::{Bag, Net, Pattern, State};

use super::{bag, steps_by_shared};

/// A pattern, and how it leads to what is forbidden.
struct Element {
    pattern: Pattern,
    /// The step, and the element after it.
    next: Option<(usize, usize)>,
    /// Whether nothing that is known is smaller.
    least: bool,
}

/// The search.
pub(super) struct Backward {
    elements: Vec<Element>,
    /// Those that were not followed yet, the smallest first.
    open: BinaryHeap<Reverse<(u64, usize)>>,
    /// Elements by their shared state and their last place, or by none.
    by_last: FxHashMap<(u32, Option<u32>), Vec<usize>>,
    /// By their shared state and each of their places.
    by_place: FxHashMap<(u32, u32), Vec<usize>>,
    into: Vec<Vec<usize>>,
    /// How many are least.
    len: usize,
}

/// Whether something is excluded from above.
pub(super) type Excluded<'a> = &'a mut dyn FnMut(&Pattern) -> bool;

impl Backward {
    pub(super) fn new(net: &Net) -> Self {
        let [_, into] = steps_by_shared(net);
        Self {
            elements: Vec::new(),
            open: BinaryHeap::new(),
            by_last: FxHashMap::default(),
            by_place: FxHashMap::default(),
            into,
            len: 0,
        }
    }

    /// How many patterns there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The patterns.
    pub(super) fn patterns(&self) -> Vec<Pattern> {
        let least = self.elements.iter().filter(|element| element.least);
        least.map(|element| element.pattern.clone()).collect()
    }

    /// Adds something that must not be covered; says which element the start covers, if it does.
    pub(super) fn forbid(&mut self, net: &Net, pattern: &Pattern) -> Option<usize> {
        self.add(net, pattern.clone(), None)
    }

    /// Goes on until so many patterns were followed, or none is left, or the start covers one. Says which, and whether none is
    /// left.
    pub(super) fn run(
        &mut self,
        net: &Net,
        most: usize,
        excluded: Excluded<'_>,
        budget: &mut Budget,
    ) -> Result<(Option<usize>, bool), Stop> {
        for _ in 0..most {
            let Some(Reverse((_, number))) = self.open.pop() else { return Ok((None, true)) };
            if !self.elements[number].least {
                continue;
            }
            let shared = self.elements[number].pattern.shared as usize;
            for at in 0..self.into[shared].len() {
                let step = self.into[shared][at];
                budget.spend(1)?;
                let before = bag::before(&net.steps[step], &self.elements[number].pattern.counts);
                let before = before.ok_or_else(|| Stop::GaveUp("a step comes from too many states".to_owned()))?;
                for before in before {
                    if self.is_known(&before) || excluded(&before) {
                        continue;
                    }
                    let covered = self.add(net, before, Some((step, number)));
                    if covered.is_some() {
                        return Ok((covered, false));
                    }
                }
            }
        }
        Ok((None, self.open.is_empty()))
    }

    /// Whether a pattern covers one that is known.
    fn is_known(&self, pattern: &Pattern) -> bool {
        let places = pattern.counts.iter().map(|(place, _)| Some(*place)).chain([None]);
        let lists = places.filter_map(|place| self.by_last.get(&(pattern.shared, place)));
        lists.flatten().any(|&number| {
            let own = &self.elements[number];
            own.least && bag::is_below(&own.pattern.counts, &pattern.counts)
        })
    }

    fn add(&mut self, net: &Net, pattern: Pattern, next: Option<(usize, usize)>) -> Option<usize> {
        if next.is_none() && self.is_known(&pattern) {
            return None;
        }
        self.remove_above(&pattern);
        let number = self.elements.len();
        let last = pattern.counts.last().map(|(place, _)| *place);
        self.by_last.entry((pattern.shared, last)).or_default().push(number);
        for (place, _) in &pattern.counts {
            self.by_place.entry((pattern.shared, *place)).or_default().push(number);
        }
        self.open.push(Reverse((bag::total(&pattern.counts), number)));
        let at_start = |&(place, count): &(u32, u32)| {
            let own = net.counts[place as usize];
            own.or_more || own.least >= count
        };
        let covered = pattern.shared == net.start && pattern.counts.iter().all(at_start);
        self.elements.push(Element { pattern, next, least: true });
        self.len += 1;
        covered.then_some(number)
    }

    /// Removes what covers a new pattern.
    fn remove_above(&mut self, pattern: &Pattern) {
        let lists = pattern.counts.iter().map(|(place, _)| self.by_place.get(&(pattern.shared, *place)));
        let Some(shortest) = lists.min_by_key(|list| list.map_or(0, Vec::len)) else {
            // It is about the shared state only.
            let all = self.elements.iter_mut().filter(|own| own.least && own.pattern.shared == pattern.shared);
            self.len -= all.map(|own| own.least = false).count();
            return;
        };
        for &number in shortest.into_iter().flatten() {
            let own = &mut self.elements[number];
            if own.least && bag::is_below(&pattern.counts, &own.pattern.counts) {
                own.least = false;
                self.len -= 1;
            }
        }
    }

    /// The start that covers an element, and the steps from there.
    pub(super) fn way(&self, net: &Net, number: usize) -> (State, Vec<usize>) {
        let mut start = net.least();
        for &(place, count) in &self.elements[number].pattern.counts as &Bag {
            let own = &mut start.counts[place as usize];
            *own = (*own).max(u64::from(count));
        }
        let links = std::iter::successors(self.elements[number].next, |(_, after)| self.elements[*after].next);
        (start, links.map(|(step, _)| step).collect())
    }
}
