//! What can be seen of k threads at a time, from above: the least set of views that no step leaves.
//!
//! A step needs the threads that it takes, and changes what is seen of the others: for each `u` of k threads (nobodies among
//! them, where there are fewer) such that each k of `u` and the threads that are taken are a view, every view of what `u`
//! becomes together with what is put. Whenever a view is new, it is looked for those `u` for which it was the last one that was
//! missing: as `u` itself, or as some of the threads that are taken with a part of `u`.

use tepui_cert::counters::{Row, Views as Listed};
use tepui_core::{Budget, Stop};
use tepui_model::counters::Net;

use super::steps_by_shared;

/// The most bits that views are kept in.
const MOST_BITS: u64 = 1 << 30;

/// A set of views that no step leaves, once it is [closed](Self::close).
pub struct Views {
    size: usize,
    nobody: u32,
    bits: Vec<u64>,
    /// All views, one after the other: shared state and places.
    rows: Vec<u32>,
    /// How many of them were followed.
    followed: usize,
    /// For each shared state the steps from there, together where they take the same threads.
    steps: Vec<Vec<Group>>,
}

/// Steps that take the same threads in the same shared state.
struct Group {
    /// One place for each thread; more than are seen make no difference.
    taken: Vec<u32>,
    /// The steps, each with what it puts.
    steps: Vec<(usize, Vec<u32>)>,
}

impl Views {
    /// The views of the start, if views of this size can be kept.
    pub fn of(net: &Net, size: usize) -> Option<Self> {
        let nobody = net.places.count();
        let all = (u64::from(nobody) + 1).checked_pow(size as u32)?.checked_mul(u64::from(net.shared.count()))?;
        if all > MOST_BITS {
            return None;
        }
        let steps = groups(net, size);
        let bits = vec![0; all as usize / 64 + 1];
        let mut views = Self { size, nobody, bits, rows: Vec::new(), followed: 0, steps };
        let counts = (0..).zip(&net.counts);
        let start = counts
            .flat_map(|(place, count)| vec![place; if count.or_more { size } else { size.min(count.least as usize) }]);
        let start: Vec<u32> = start.chain(vec![nobody; size]).collect();
        views.add_all(net.start, &start);
        Some(views)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len() / (self.size + 1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Follows every view.
    pub fn close(&mut self, net: &Net, budget: &mut Budget) -> Result<(), Stop> {
        while self.followed < self.len() {
            let at = self.followed * (self.size + 1);
            let row = self.rows[at..=at + self.size].to_vec();
            self.followed += 1;
            let tried = self.follow(net, row[0], &row[1..]);
            budget.spend(1 + tried / 64)?;
        }
        Ok(())
    }

    /// The lemma.
    pub fn lemma(&self) -> Listed {
        let mut rows: Vec<Row> = self.rows.chunks(self.size + 1).map(|row| (row[0], row[1..].into())).collect();
        rows.sort_unstable();
        Listed { size: self.size, rows }
    }

    /// Whether each choice of so many threads is a view.
    pub fn admit(&self, shared: u32, bag: &[(u32, u32)]) -> bool {
        let times = |&(place, count): &(u32, u32)| vec![place; (count as usize).min(self.size)];
        let mut all: Vec<u32> = bag.iter().flat_map(times).collect();
        all.resize(all.len().max(self.size), self.nobody);
        self.admit_all(shared, &all)
    }

    fn index(&self, shared: u32, row: &[u32]) -> usize {
        let base = self.nobody as usize + 1;
        row.iter().fold(shared as usize, |index, place| index * base + *place as usize)
    }

    fn has(&self, shared: u32, row: &[u32]) -> bool {
        let index = self.index(shared, row);
        self.bits[index / 64] >> (index % 64) & 1 == 1
    }

    /// Whether each choice from a list in ascending order is a view.
    fn admit_all(&self, shared: u32, all: &[u32]) -> bool {
        each_choice(all, self.size, &mut Vec::with_capacity(self.size), &mut |row| self.has(shared, row))
    }

    /// Adds each choice from a list in ascending order.
    fn add_all(&mut self, shared: u32, all: &[u32]) {
        let size = self.size;
        each_choice(all, size, &mut Vec::with_capacity(size), &mut |row| {
            let index = self.index(shared, row);
            if self.bits[index / 64] >> (index % 64) & 1 == 0 {
                self.bits[index / 64] |= 1 << (index % 64);
                self.rows.push(shared);
                self.rows.extend_from_slice(row);
            }
            true
        });
    }

    /// Looks for all that a new view was missing for; says how much was tried.
    fn follow(&mut self, net: &Net, shared: u32, row: &[u32]) -> u64 {
        let groups = std::mem::take(&mut self.steps[shared as usize]);
        let mut tried = groups.len() as u64;
        for group in &groups {
            self.step(net, shared, group, row);
            if !group.taken.iter().any(|place| row.contains(place)) {
                continue;
            }
            // The parts of the row that may be threads that are taken.
            for part in common(row, &group.taken).into_iter().filter(|part| !part.is_empty()) {
                let mut rest = row.to_vec();
                for place in &part {
                    rest.remove(rest.partition_point(|own| own < place));
                }
                tried += self.complete(net, shared, group, &rest, part.len(), 0);
            }
        }
        self.steps[shared as usize] = groups;
        tried
    }

    /// Tries all `u` that consist of some threads and others, none of them in a place before `from`.
    fn complete(&mut self, net: &Net, shared: u32, group: &Group, rest: &[u32], missing: usize, from: u32) -> u64 {
        let mut tried = 0;
        let mut more = Vec::with_capacity(self.size);
        for place in from..=self.nobody {
            tried += 1;
            more.clear();
            let at = rest.partition_point(|own| *own <= place);
            more.extend_from_slice(&rest[..at]);
            more.push(place);
            more.extend_from_slice(&rest[at..]);
            if missing > 1 {
                tried += self.complete(net, shared, group, &more, missing - 1, place);
            } else if self.has(shared, &more) {
                self.step(net, shared, group, &more);
            }
        }
        tried
    }

    /// Adds what becomes of `u` when somebody takes a step, if that is possible.
    fn step(&mut self, net: &Net, shared: u32, group: &Group, row: &[u32]) {
        // Most threads that could take a step are not there at all, or not together with the first one in sight.
        let alone = |taken: u32| !self.has_two(shared, taken, self.nobody) || !self.has_two(shared, taken, row[0]);
        if matches!(group.taken[..], [taken] if alone(taken)) {
            return;
        }
        let mut together: Vec<u32> = row.iter().chain(&group.taken).copied().collect();
        together.sort_unstable();
        if !self.admit_all(shared, &together) {
            return;
        }
        let nobody = self.nobody;
        let threads = || row.iter().copied().filter(|place| *place != nobody);
        let mut after = Vec::with_capacity(2 * self.size + 2);
        for (number, put) in &group.steps {
            let step = &net.steps[*number];
            if step.others.is_some() && !threads().all(|place| step.allows(place)) {
                continue;
            }
            after.clear();
            after.extend(threads().filter_map(|place| step.goes(place)).chain(put.iter().copied()));
            after.sort_unstable();
            after.resize(after.len() + self.size, self.nobody);
            self.add_all(step.to, &after);
        }
    }

    /// Whether two threads are seen together, with nobody else.
    fn has_two(&self, shared: u32, one: u32, other: u32) -> bool {
        let base = self.nobody as usize + 1;
        let (one, other) = (one.min(other) as usize, one.max(other) as usize);
        let first = shared as usize * base + one;
        let index = match self.size {
            1 => return self.has(shared, &[one as u32]) && self.has(shared, &[other as u32]),
            size => (2..size).fold(first * base + other, |index, _| index * base + base - 1),
        };
        self.bits[index / 64] >> (index % 64) & 1 == 1
    }
}

/// For each shared state the steps from there, together where they take the same threads.
fn groups(net: &Net, size: usize) -> Vec<Vec<Group>> {
    let listed = |bag: &[(u32, u32)]| -> Vec<u32> {
        bag.iter().flat_map(|&(place, count)| vec![place; (count as usize).min(size)]).collect()
    };
    let [mut steps, _] = steps_by_shared(net);
    let mut all = Vec::new();
    for steps in &mut steps {
        steps.sort_by_key(|step| listed(&net.steps[*step].taken));
        let same = steps.chunk_by(|one, other| listed(&net.steps[*one].taken) == listed(&net.steps[*other].taken));
        let group = |same: &[usize]| Group {
            taken: listed(&net.steps[same[0]].taken),
            steps: same.iter().map(|step| (*step, listed(&net.steps[*step].put))).collect(),
        };
        all.push(same.map(group).collect());
    }
    all
}

/// All that two lists in ascending order have in common, part by part: nothing, each thread, each two of them and so on.
fn common(row: &[u32], taken: &[u32]) -> Vec<Vec<u32>> {
    let mut parts: Vec<Vec<u32>> = vec![Vec::new()];
    for places in taken.chunk_by(|one, other| one == other) {
        let place = places[0];
        let most = row.iter().filter(|own| **own == place).count().min(places.len());
        let with = |part: &Vec<u32>, number: usize| part.iter().copied().chain(vec![place; number]).collect();
        parts = parts.iter().flat_map(|part| (0..=most).map(move |number| with(part, number))).collect();
    }
    parts
}

/// Goes through each choice of so many from a list in ascending order, equal ones once, as long as they are wanted.
fn each_choice<F: FnMut(&[u32]) -> bool>(all: &[u32], size: usize, row: &mut Vec<u32>, wanted: &mut F) -> bool {
    let is_first = |from: usize, at: usize| at == from || all[at] != all[at - 1];
    match size - row.len() {
        0 => wanted(row),
        // The usual case, without a detour.
        2 if row.is_empty() => (0..all.len()).filter(|&one| is_first(0, one)).all(|one| {
            let others = (one + 1..all.len()).filter(|&other| is_first(one + 1, other));
            let mut others = others.map(|other| wanted(&[all[one], all[other]]));
            others.all(|wanted| wanted)
        }),
        missing => (0..(all.len() + 1).saturating_sub(missing)).filter(|&at| is_first(0, at)).all(|at| {
            row.push(all[at]);
            let goes_on = each_choice(&all[at + 1..], size, row, wanted);
            row.pop();
            goes_on
        }),
    }
}
