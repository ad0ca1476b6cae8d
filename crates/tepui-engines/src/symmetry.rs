//! Interchangeable threads.
//!
//! Threads with the same rules and the same initial stack form a *group*. Permuting the locals of a group's threads
//! maps executions to executions and the initial state to itself, so the set of reachable states is closed under it,
//! and it is enough to keep one state of each orbit, the *canonical* one, whose locals ascend within each group. A row is a shared
//! state and one local for each thread; equal locals must have equal numbers in all threads of a group.
//!
//! What is the same for all members of an orbit may be read off the one that is kept: whether a thread is enabled,
//! the number of contexts that it takes to get there, whether *some* member matches a pattern. What is not the same
//! must not be asked of it; the order of turns of a round-robin scheduler is such a thing.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use tepui_model::pushdown::{Pattern, Shared, Symbol};

use crate::system::PathStep;

/// Which threads are interchangeable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symmetry {
    /// The groups of two threads or more, each in ascending order.
    groups: Vec<Vec<usize>>,
    /// For each thread its group and its place there.
    place: Vec<Option<(usize, usize)>>,
}

impl Symmetry {
    /// Only a thread itself is like it.
    pub fn none(threads: usize) -> Self {
        Self { groups: Vec::new(), place: vec![None; threads] }
    }

    /// Threads are in a group if their labels are equal.
    pub(crate) fn by_label<T: Eq + Hash>(labels: &[T]) -> Self {
        let mut symmetry = Self::none(labels.len());
        let mut leaders = FxHashMap::default();
        for (thread, label) in labels.iter().enumerate() {
            let leader = *leaders.entry(label).or_insert(thread);
            if leader == thread {
                continue;
            }
            let group = match symmetry.place[leader] {
                Some((group, _)) => group,
                None => {
                    symmetry.groups.push(vec![leader]);
                    symmetry.place[leader] = Some((symmetry.groups.len() - 1, 0));
                    symmetry.groups.len() - 1
                }
            };
            symmetry.place[thread] = Some((group, symmetry.groups[group].len()));
            symmetry.groups[group].push(thread);
        }
        symmetry
    }

    /// Whether no two threads are interchangeable.
    pub(crate) fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups of two threads or more.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// The first thread that a thread is interchangeable with: itself, if there is no earlier one.
    #[inline]
    pub fn leader(&self, thread: usize) -> usize {
        self.place[thread].map_or(thread, |(group, _)| self.groups[group][0])
    }

    /// Whether an earlier thread of the same group has the same local, in a canonical row.
    #[inline]
    pub fn repeats(&self, row: &[u32], thread: usize) -> bool {
        match self.place[thread] {
            Some((group, place)) if place > 0 => {
                let before = row[self.groups[group][place - 1] + 1];
                debug_assert!(before <= row[thread + 1], "only canonical rows tell repetitions");
                before == row[thread + 1]
            }
            _ => false,
        }
    }

    /// The first place where a thread, or one that is interchangeable with it, has a local.
    pub(crate) fn place_of(&self, row: &[u32], thread: usize, local: u32) -> Option<usize> {
        match self.place[thread] {
            Some((group, _)) => self.groups[group].iter().copied().find(|&place| row[place + 1] == local),
            None => (row[thread + 1] == local).then_some(thread),
        }
    }

    /// Makes a row canonical again in which one thread's local has changed; returns where that local is now, the first place
    /// where there are equal ones.
    #[inline]
    pub(crate) fn canonicalise_at(&self, row: &mut [u32], thread: usize) -> usize {
        let Some((group, mut place)) = self.place[thread] else { return thread };
        let (group, local) = (&self.groups[group], row[thread + 1]);
        while place > 0 && row[group[place - 1] + 1] >= local {
            row[group[place] + 1] = row[group[place - 1] + 1];
            row[group[place - 1] + 1] = local;
            place -= 1;
        }
        while place + 1 < group.len() && row[group[place + 1] + 1] < local {
            row[group[place] + 1] = row[group[place + 1] + 1];
            row[group[place + 1] + 1] = local;
            place += 1;
        }
        debug_assert!(group.is_sorted_by_key(|&thread| row[thread + 1]), "the other locals were in canonical order");
        group[place]
    }

    /// Makes a row canonical.
    #[inline]
    pub(crate) fn canonicalise(&self, row: &mut [u32]) {
        for group in &self.groups {
            // Insertion sort: groups are small, and rows are mostly canonical already.
            for end in 1..group.len() {
                let mut place = end;
                while place > 0 && row[group[place - 1] + 1] > row[group[place] + 1] {
                    row.swap(group[place - 1] + 1, group[place] + 1);
                    place -= 1;
                }
            }
            debug_assert!(group.is_sorted_by_key(|&thread| row[thread + 1]));
        }
    }

    /// How many rows an orbit has, given the canonical one.
    #[inline]
    pub fn orbit(&self, row: &[u32]) -> u64 {
        let mut size = 1_u128;
        for group in &self.groups {
            let mut equal = 0;
            for (place, &thread) in (1..).zip(group) {
                equal = if self.repeats(row, thread) { equal + 1 } else { 1 };
                // A multinomial coefficient, factor by factor: each prefix is one itself, so the division is exact.
                size = size.saturating_mul(place) / equal;
                if size > u128::from(u64::MAX) {
                    return u64::MAX;
                }
            }
        }
        size as u64
    }

    /// Calls `each` with every row of an orbit, given the canonical one.
    pub fn unfold(&self, row: &[u32], each: &mut impl FnMut(&[u32])) {
        self.unfold_from(0, &mut row.to_vec(), each);
    }

    fn unfold_from(&self, index: usize, row: &mut Vec<u32>, each: &mut impl FnMut(&[u32])) {
        let Some(group) = self.groups.get(index) else { return each(row) };
        let start: Vec<u32> = group.iter().map(|&thread| row[thread + 1]).collect();
        let mut locals = start.clone();
        loop {
            group.iter().zip(&locals).for_each(|(&thread, &local)| row[thread + 1] = local);
            self.unfold_from(index + 1, row, each);
            if !next_permutation(&mut locals) {
                break;
            }
        }
        group.iter().zip(&start).for_each(|(&thread, &local)| row[thread + 1] = local);
    }

    /// Whether a pattern covers some member of the orbit of a view, given in parts.
    pub fn covers(&self, pattern: &Pattern, shared: Shared, top: impl Fn(usize) -> Symbol) -> bool {
        let alone = |thread: usize| {
            self.place[thread].is_some() || pattern.tops[thread].is_none_or(|wanted| wanted == top(thread))
        };
        let enough = |group: &Vec<usize>| {
            group.iter().filter_map(|&thread| pattern.tops[thread]).all(|wanted| {
                let wants = group.iter().filter(|&&thread| pattern.tops[thread] == Some(wanted)).count();
                group.iter().filter(|&&thread| top(thread) == wanted).count() >= wants
            })
        };
        pattern.shared.is_none_or(|wanted| wanted == shared)
            && (0..self.place.len()).all(alone)
            && self.groups.iter().all(enough)
    }

    /// New names for threads, within groups, under which a view that a pattern covers up to symmetry is covered as it
    /// is: the thread that was `t` is to be called `renaming[t]`.
    pub(crate) fn renaming(&self, pattern: &Pattern, top: impl Fn(usize) -> Symbol) -> Vec<usize> {
        let mut names: Vec<usize> = (0..self.place.len()).collect();
        for group in &self.groups {
            let mut free = group.clone();
            let mut give = |fits: &dyn Fn(usize) -> bool, name: usize| {
                if let Some(place) = free.iter().position(|&thread| fits(thread)) {
                    names[free.remove(place)] = name;
                }
            };
            for &name in group {
                if let Some(wanted) = pattern.tops[name] {
                    give(&|thread| top(thread) == wanted, name);
                }
            }
            for &name in group.iter().filter(|&&name| pattern.tops[name].is_none()) {
                give(&|_| true, name);
            }
        }
        names
    }

    /// Which thread really takes each step of a path through canonical rows. Also returns the last state as it really is.
    pub(crate) fn real_threads(&self, start: &[u32], path: &[PathStep]) -> (Vec<usize>, Vec<u32>) {
        let mut at: Vec<usize> = (0..self.place.len()).collect();
        let mut real = start.to_vec();
        let mut threads = Vec::with_capacity(path.len());
        for PathStep { before, after, row } in path {
            let thread = at[*before];
            threads.push(thread);
            (real[0], real[thread + 1]) = (row[0], row[after + 1]);
            for group in &self.groups {
                let mut members = group.clone();
                members.sort_by_key(|&member| real[member + 1]);
                group.iter().zip(members).for_each(|(&place, member)| at[place] = member);
            }
            // Of several with the same local, the one that moved is the one that goes on.
            if let Some(now) = at.iter().position(|&member| member == thread) {
                at.swap(now, *after);
            }
        }
        (threads, real)
    }
}

/// The lexicographically next arrangement; `false` after the last one.
fn next_permutation(items: &mut [u32]) -> bool {
    let Some(pivot) = items.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let Some(swap) = items.iter().rposition(|&item| item > items[pivot]) else { return false };
    items.swap(pivot, swap);
    items[pivot + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn sample() -> Symmetry {
        Symmetry::by_label(&["a", "b", "a", "c", "b", "a"])
    }

    #[test]
    fn groups_are_found_and_rows_become_canonical() {
        let symmetry = sample();
        assert_eq!(symmetry.groups(), [vec![0, 2, 5], vec![1, 4]]);
        assert_eq!((0..6).map(|thread| symmetry.leader(thread)).collect::<Vec<_>>(), [0, 1, 0, 3, 1, 0]);
        let mut row = [9, 1, 5, 4, 7, 6, 4];
        row[1] = 8;
        assert_eq!(symmetry.canonicalise_at(&mut row, 0), 5);
        assert_eq!(row, [9, 4, 5, 4, 7, 6, 8]);
        row[6] = 4;
        assert_eq!(symmetry.canonicalise_at(&mut row, 5), 0, "the first of equal ones");
        let mut mixed = [0, 3, 9, 1, 0, 2, 2];
        symmetry.canonicalise(&mut mixed);
        assert_eq!(mixed, [0, 1, 2, 2, 0, 9, 3]);
    }

    #[test]
    fn an_orbit_has_as_many_rows_as_it_unfolds_to() {
        let symmetry = sample();
        for seed in 0..500_u32 {
            let mut row: Vec<u32> = (0..7).map(|field| seed.wrapping_mul(2_654_435_761) >> (3 * field) & 3).collect();
            symmetry.canonicalise(&mut row);
            let mut rows = BTreeSet::new();
            symmetry.unfold(&row, &mut |row| assert!(rows.insert(row.to_vec())));
            assert_eq!(rows.len() as u64, symmetry.orbit(&row));
            for member in rows {
                let mut sorted = member.clone();
                symmetry.canonicalise(&mut sorted);
                assert_eq!(sorted, row);
                let wanted = |thread: usize| (member[thread + 1] > 1).then_some(Symbol(member[thread + 1]));
                let pattern = Pattern { shared: None, tops: (0..6).map(wanted).collect() };
                let top = |thread: usize| Symbol(row[thread + 1]);
                assert!(symmetry.covers(&pattern, Shared(0), top));
                let names = symmetry.renaming(&pattern, top);
                for (thread, &name) in names.iter().enumerate() {
                    assert_eq!(symmetry.leader(name), symmetry.leader(thread));
                    assert!(pattern.tops[name].is_none_or(|wanted| wanted == top(thread)));
                }
            }
        }
        let all = Symmetry::by_label(&[0; 70]);
        assert_eq!(all.orbit(&(0..71).collect::<Vec<_>>()), u64::MAX);
    }

    #[test]
    fn patterns_count_what_they_want() {
        let symmetry = Symmetry::by_label(&[0, 0, 0]);
        let pattern =
            |tops: [u32; 3]| Pattern { shared: None, tops: tops.map(|top| (top > 0).then_some(Symbol(top))).into() };
        let covers = |tops| symmetry.covers(&pattern(tops), Shared(0), |thread| Symbol([1, 1, 2][thread]));
        assert!(covers([0, 0, 1]) && covers([2, 0, 1]) && covers([2, 1, 1]) && covers([0, 0, 0]));
        assert!(!covers([2, 2, 0]) && !covers([1, 1, 1]) && !covers([3, 0, 0]));
    }
}
