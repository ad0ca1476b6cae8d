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

use crate::ids::{ThreadId, Threads};
use crate::system::PathStep;

/// Which threads are interchangeable.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Symmetry {
    /// The groups of two threads or more, each in ascending order.
    groups: Vec<Vec<ThreadId>>,
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
        for (thread, label) in Threads::all(labels.len()).zip(labels) {
            let leader = *leaders.entry(label).or_insert(thread);
            if leader == thread {
                continue;
            }
            let group = match symmetry.place[leader.index()] {
                Some((group, _)) => group,
                None => {
                    symmetry.groups.push(vec![leader]);
                    symmetry.place[leader.index()] = Some((symmetry.groups.len() - 1, 0));
                    symmetry.groups.len() - 1
                }
            };
            symmetry.place[thread.index()] = Some((group, symmetry.groups[group].len()));
            symmetry.groups[group].push(thread);
        }
        symmetry
    }

    /// Whether no two threads are interchangeable.
    pub(crate) fn is_trivial(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups of two threads or more.
    pub fn groups(&self) -> &[Vec<ThreadId>] {
        &self.groups
    }

    /// The group of a thread, if there is another one in it.
    pub(crate) fn group(&self, thread: ThreadId) -> Option<&[ThreadId]> {
        self.place[thread.index()].map(|(group, _)| self.groups[group].as_slice())
    }

    /// The first thread that a thread is interchangeable with: itself, if there is no earlier one.
    #[inline]
    pub fn leader(&self, thread: ThreadId) -> ThreadId {
        self.place[thread.index()].map_or(thread, |(group, _)| self.groups[group][0])
    }

    /// Whether an earlier thread of the same group has the same local, in a canonical row.
    #[inline]
    pub fn repeats(&self, row: &[u32], thread: ThreadId) -> bool {
        match self.place[thread.index()] {
            Some((group, place)) if place > 0 => {
                let before = row[self.groups[group][place - 1].field()];
                debug_assert!(before <= row[thread.field()], "only canonical rows tell repetitions");
                before == row[thread.field()]
            }
            _ => false,
        }
    }

    /// The first place where a thread, or one that is interchangeable with it, has a local.
    pub(crate) fn place_of(&self, row: &[u32], thread: ThreadId, local: u32) -> Option<ThreadId> {
        match self.place[thread.index()] {
            Some((group, _)) => self.groups[group].iter().copied().find(|&place| row[place.field()] == local),
            None => (row[thread.field()] == local).then_some(thread),
        }
    }

    /// Makes a row canonical again in which one thread's local has changed; returns where that local is now, the first place
    /// where there are equal ones.
    #[inline]
    pub(crate) fn canonicalise_at(&self, row: &mut [u32], thread: ThreadId) -> ThreadId {
        let Some((group, mut place)) = self.place[thread.index()] else { return thread };
        let (group, local) = (&self.groups[group], row[thread.field()]);
        while place > 0 && row[group[place - 1].field()] >= local {
            row[group[place].field()] = row[group[place - 1].field()];
            row[group[place - 1].field()] = local;
            place -= 1;
        }
        while place + 1 < group.len() && row[group[place + 1].field()] < local {
            row[group[place].field()] = row[group[place + 1].field()];
            row[group[place + 1].field()] = local;
            place += 1;
        }
        debug_assert!(
            group.is_sorted_by_key(|&thread| row[thread.field()]),
            "the other locals were in canonical order"
        );
        group[place]
    }

    /// Makes a row canonical, and lets something that is said of each thread follow. Of equal locals those come first of which
    /// it is true.
    pub(crate) fn canonicalise_with(&self, row: &mut [u32], said: &mut [bool]) {
        for group in &self.groups {
            let mut locals: Vec<_> = group.iter().map(|thread| (row[thread.field()], !said[thread.index()])).collect();
            locals.sort_unstable();
            for (thread, (local, not)) in group.iter().zip(locals) {
                (row[thread.field()], said[thread.index()]) = (local, !not);
            }
        }
    }

    /// Makes a row canonical.
    #[inline]
    pub(crate) fn canonicalise(&self, row: &mut [u32]) {
        for group in &self.groups {
            // Insertion sort: groups are small, and rows are mostly canonical already.
            for end in 1..group.len() {
                let mut place = end;
                while place > 0 && row[group[place - 1].field()] > row[group[place].field()] {
                    row.swap(group[place - 1].field(), group[place].field());
                    place -= 1;
                }
            }
            debug_assert!(group.is_sorted_by_key(|&thread| row[thread.field()]));
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
        let start: Vec<u32> = group.iter().map(|&thread| row[thread.field()]).collect();
        let mut locals = start.clone();
        loop {
            group.iter().zip(&locals).for_each(|(&thread, &local)| row[thread.field()] = local);
            self.unfold_from(index + 1, row, each);
            if !next_permutation(&mut locals) {
                break;
            }
        }
        group.iter().zip(&start).for_each(|(&thread, &local)| row[thread.field()] = local);
    }

    /// Whether a pattern covers some member of the orbit of a view, given in parts.
    pub fn covers(&self, pattern: &Pattern, shared: Shared, top: impl Fn(ThreadId) -> Symbol) -> bool {
        let alone = |thread: ThreadId| {
            self.place[thread.index()].is_some()
                || pattern.tops[thread.index()].is_none_or(|wanted| wanted == top(thread))
        };
        let enough = |group: &Vec<ThreadId>| {
            group.iter().filter_map(|&thread| pattern.tops[thread.index()]).all(|wanted| {
                let wants = group.iter().filter(|&&thread| pattern.tops[thread.index()] == Some(wanted)).count();
                group.iter().filter(|&&thread| top(thread) == wanted).count() >= wants
            })
        };
        pattern.shared.is_none_or(|wanted| wanted == shared)
            && Threads::all(self.place.len()).all(alone)
            && self.groups.iter().all(enough)
    }

    /// New names for threads, within groups, under which a view that a pattern covers up to symmetry is covered as it
    /// is: the thread that was `t` is to be called `renaming[t]`.
    pub(crate) fn renaming(&self, pattern: &Pattern, top: impl Fn(ThreadId) -> Symbol) -> Vec<ThreadId> {
        let mut names: Vec<_> = Threads::all(self.place.len()).collect();
        for group in &self.groups {
            let mut free = group.clone();
            let mut give = |fits: &dyn Fn(ThreadId) -> bool, name: ThreadId| {
                if let Some(place) = free.iter().position(|&thread| fits(thread)) {
                    names[free.remove(place).index()] = name;
                }
            };
            for &name in group {
                if let Some(wanted) = pattern.tops[name.index()] {
                    give(&|thread| top(thread) == wanted, name);
                }
            }
            for &name in group.iter().filter(|&&name| pattern.tops[name.index()].is_none()) {
                give(&|_| true, name);
            }
        }
        names
    }

    /// Which thread really takes each step of a path through canonical rows. Also returns the last state as it really is.
    pub(crate) fn real_threads(&self, start: &[u32], path: &[PathStep]) -> (Vec<ThreadId>, Vec<u32>) {
        let mut at: Vec<_> = Threads::all(self.place.len()).collect();
        let mut real = start.to_vec();
        let mut threads = Vec::with_capacity(path.len());
        for PathStep { before, after, row } in path {
            let thread = at[before.index()];
            threads.push(thread);
            (real[0], real[thread.field()]) = (row[0], row[after.field()]);
            for group in &self.groups {
                let mut members = group.clone();
                members.sort_by_key(|&member| real[member.field()]);
                group.iter().zip(members).for_each(|(&place, member)| at[place.index()] = member);
            }
            // Of several with the same local, the one that moved is the one that goes on.
            if let Some(now) = at.iter().position(|&member| member == thread) {
                at.swap(now, after.index());
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
        assert_eq!(symmetry.groups(), [[0, 2, 5].map(ThreadId).to_vec(), [1, 4].map(ThreadId).to_vec()]);
        let leaders = Threads::all(6).map(|thread| symmetry.leader(thread).0);
        assert_eq!(leaders.collect::<Vec<_>>(), [0, 1, 0, 3, 1, 0]);
        let mut row = [9, 1, 5, 4, 7, 6, 4];
        row[1] = 8;
        assert_eq!(symmetry.canonicalise_at(&mut row, ThreadId(0)), ThreadId(5));
        assert_eq!(row, [9, 4, 5, 4, 7, 6, 8]);
        row[6] = 4;
        assert_eq!(symmetry.canonicalise_at(&mut row, ThreadId(5)), ThreadId(0), "the first of equal ones");
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
                let wanted = |thread: ThreadId| (member[thread.field()] > 1).then_some(Symbol(member[thread.field()]));
                let pattern = Pattern { shared: None, tops: Threads::all(6).map(wanted).collect() };
                let top = |thread: ThreadId| Symbol(row[thread.field()]);
                assert!(symmetry.covers(&pattern, Shared(0), top));
                let names = symmetry.renaming(&pattern, top);
                for (thread, name) in Threads::all(6).zip(names) {
                    assert_eq!(symmetry.leader(name), symmetry.leader(thread));
                    assert!(pattern.tops[name.index()].is_none_or(|wanted| wanted == top(thread)));
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
        let covers = |tops| symmetry.covers(&pattern(tops), Shared(0), |thread| Symbol([1, 1, 2][thread.index()]));
        assert!(covers([0, 0, 1]) && covers([2, 0, 1]) && covers([2, 1, 1]) && covers([0, 0, 0]));
        assert!(!covers([2, 2, 0]) && !covers([1, 1, 1]) && !covers([3, 0, 0]));
    }
}
