//! Partial-order reduction: at each state some threads are explored, and the others wait.
//!
//! Which threads can wait, the system says ([`System::choose`]). Without more, some thread might wait for ever: one that runs
//! in a circle by itself hides all others. So the search goes in *rounds*. When nothing is left to expand, the states and the
//! steps taken are a graph. If in each of its *bottom* components, those that no step leaves, every thread is explored
//! somewhere or cannot move anywhere, then from every state a way leads to one where a given thread is explored, or cannot
//! move: nobody is ignored. In each component where somebody is, one more thread is explored at one state, the first
//! of each, and the search goes on. Opening all of them at once would visit every set of threads that have begun.
//!
//! While a thread must not be interrupted, nobody else could be explored. States of this kind do not count as places where
//! others are heeded; and where only they follow, the component before them is looked at instead.
//!
//! States from which a good component can be reached stay *settled*, and later rounds do not look at them again.

use crate::abstraction::Explored;
use crate::components::components;
use crate::explorer::{Explorer, Visitor};
use crate::ids::{Id, StateId, ThreadId, Threads};
use crate::interner::Interner;
use crate::system::{Choice, System};

/// The threads of a state that are explored: all, or none, or those of the set with a number and one.
const ALL: u32 = 0;
const NONE: u32 = u32::MAX;

/// A thread to be explored at a state.
pub(super) type Job = (StateId, ThreadId);

/// What is explored.
#[derive(Default)]
pub struct Reduced {
    /// Sets of threads.
    sets: Interner<Vec<ThreadId>>,
    /// For each state the number of its set.
    chosen: Vec<u32>,
    /// For each state what else is known of it.
    marks: Vec<Mark>,
    /// The steps taken.
    edges: Vec<(StateId, StateId)>,
    /// Whether nobody is ignored.
    pub(super) heeds_all: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Everybody may move there.
    Open,
    /// One thread must not be interrupted.
    Held,
    /// Nothing follows that matters.
    Left,
    /// Nobody is ignored from there on.
    Settled,
}

/// Explores threads, and notes where their steps lead.
pub(super) struct Follow;

impl Visitor for Follow {
    type Job = Job;
    type Found = Vec<(StateId, StateId, ThreadId)>;

    fn job(&self, &(state, thread): &Job) -> (StateId, Threads) {
        (state, Threads::one(thread))
    }

    fn grown(&mut self, _: usize) {}

    fn image(&self, &(from, _): &Job, to: StateId, place: ThreadId, found: &mut Self::Found) {
        found.push((from, to, place));
    }

    fn done(&self, _: &Job, _: bool, _: &mut Self::Found) {}
}

/// States that are not settled, numbered from 0 on.
struct Graph {
    states: Vec<StateId>,
    /// For each where steps lead among them.
    edges: Vec<Vec<usize>>,
    /// For each whether a step leads to a state that is settled.
    escapes: Vec<bool>,
}

/// What is known of a component.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rank {
    /// Nobody is ignored.
    Good,
    /// It leads nowhere where others may move.
    Dead,
    /// Somebody is ignored: there, or in all that it leads to.
    Bad,
}

impl Reduced {
    /// Whether somebody waits somewhere.
    pub(super) fn waits(&self) -> bool {
        !self.sets.is_empty()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        (self.chosen.capacity() * 4 + self.marks.capacity() + self.edges.capacity() * 8) as u64
    }

    /// Which threads were explored, for a certificate.
    pub(super) fn into_explored(self) -> Explored {
        Explored { sets: self.sets.into_items(), of: self.chosen }
    }

    /// The threads that are explored at a state.
    fn threads(&self, state: StateId, all: usize) -> Vec<ThreadId> {
        match self.chosen[state.index()] {
            ALL => Threads::all(all).collect(),
            NONE => Vec::new(),
            set => self.sets[set - 1].clone(),
        }
    }

    /// What is to be explored at some states.
    pub(super) fn jobs(&self, states: &[StateId], all: usize) -> Vec<Job> {
        let jobs = |&state: &StateId| self.threads(state, all).into_iter().map(move |thread| (state, thread));
        states.iter().flat_map(jobs).collect()
    }

    /// Notes steps, and chooses threads for the states that are new.
    pub(super) fn note<S: System>(
        &mut self,
        explorer: &Explorer<S>,
        found: impl Iterator<Item = (StateId, StateId, ThreadId)>,
    ) {
        let known = self.chosen.len();
        let mut movers: Vec<Option<ThreadId>> = vec![None; explorer.states.len() - known];
        for (from, to, mover) in found {
            self.edges.push((from, to));
            if let Some(new) = to.index().checked_sub(known) {
                movers[new].get_or_insert(mover);
            }
        }
        let new: Vec<_> = explorer.states.ids_from(known).zip(movers).collect();
        let chosen = explorer.workers.cut(&new, |new| {
            let (mut row, mut news) = (vec![0; explorer.states.width()], S::News::default());
            let choose = |&(state, mover): &(StateId, Option<ThreadId>)| {
                explorer.states.get(state, &mut row);
                let mut chosen = Vec::new();
                let choice = explorer.system.choose(&row, mover.unwrap_or(ThreadId(0)), &mut news, &mut chosen);
                S::recycle(&mut news);
                (choice, chosen)
            };
            new.iter().map(choose).collect::<Vec<_>>()
        });
        for (choice, chosen) in chosen.into_iter().flatten() {
            let (set, mark) = match choice {
                Choice::All => (ALL, Mark::Open),
                Choice::Some => (self.sets.intern(chosen) + 1, Mark::Open),
                Choice::Alone => (ALL, Mark::Held),
                Choice::Nobody => (NONE, Mark::Left),
            };
            self.chosen.push(set);
            self.marks.push(mark);
        }
    }

    /// The states that are not settled, and the steps between them.
    fn graph<S: System>(&self, explorer: &Explorer<S>) -> Graph {
        let unsettled = |state: &StateId| matches!(self.marks[state.index()], Mark::Open | Mark::Held);
        let states: Vec<_> = explorer.states.ids().filter(unsettled).collect();
        let mut number = vec![usize::MAX; self.marks.len()];
        states.iter().enumerate().for_each(|(place, state)| number[state.index()] = place);
        let (mut edges, mut escapes) = (vec![Vec::new(); states.len()], vec![false; states.len()]);
        for &(from, to) in self.edges.iter().filter(|(from, _)| number[from.index()] != usize::MAX) {
            match self.marks[to.index()] {
                Mark::Open | Mark::Held => edges[number[from.index()]].push(number[to.index()]),
                Mark::Settled => escapes[number[from.index()]] = true,
                Mark::Left => {}
            }
        }
        Graph { states, edges, escapes }
    }

    /// What has to be explored as well so that nobody is ignored; nothing, if nobody is.
    pub(super) fn round<S: System>(&mut self, explorer: &Explorer<S>) -> Vec<Job> {
        let graph = self.graph(explorer);
        let component = components(&graph.edges);
        let count = component.iter().max().map_or(0, |last| last + 1);
        let mut members = vec![Vec::new(); count];
        component.iter().enumerate().for_each(|(place, &component)| members[component].push(place));
        let alike: Vec<_> =
            Threads::all(explorer.system.threads()).map(|thread| explorer.system.alike(thread)).collect();
        let (mut ranks, mut jobs) = (Vec::with_capacity(count), Vec::new());
        // A component has a greater number than those that it leads to.
        for (own, members) in members.iter().enumerate() {
            let follow = || members.iter().flat_map(|&place| &graph.edges[place]).map(|&to| component[to]);
            let leads_to = |rank: Rank| follow().any(|to| to != own && ranks[to] == rank);
            let rank = if leads_to(Rank::Good) || members.iter().any(|&place| graph.escapes[place]) {
                Rank::Good
            } else if leads_to(Rank::Bad) {
                Rank::Bad
            } else {
                self.rank(explorer, (&graph, members), &alike, &mut jobs)
            };
            ranks.push(rank);
        }
        for (place, state) in graph.states.iter().enumerate() {
            if ranks[component[place]] == Rank::Good {
                self.marks[state.index()] = Mark::Settled;
            }
        }
        jobs.sort_unstable();
        jobs
    }

    /// What is to be said of a component that leads nowhere else. If somebody is ignored there, one more thread is explored.
    fn rank<S: System>(
        &mut self,
        explorer: &Explorer<S>,
        (graph, members): (&Graph, &[usize]),
        alike: &[Vec<ThreadId>],
        jobs: &mut Vec<Job>,
    ) -> Rank {
        let states = members.iter().map(|&place| graph.states[place]);
        let open: Vec<_> = states.filter(|state| self.marks[state.index()] == Mark::Open).collect();
        if open.is_empty() {
            return Rank::Dead;
        }
        let ignored = match alike.iter().any(|group| group.len() > 1) {
            false => self.ignored(explorer, &open),
            true => Followed::new(self, explorer, (graph, members), alike).ignored(),
        };
        let Some((state, thread)) = ignored else { return Rank::Good };
        jobs.extend(self.open(explorer, state, thread));
        Rank::Bad
    }

    /// The first thread that is not explored at any of some states although it can move at one of them, the first of which
    /// is named.
    fn ignored<S: System>(&self, explorer: &Explorer<S>, states: &[StateId]) -> Option<Job> {
        let mut seen = vec![false; explorer.system.threads()];
        for &state in states {
            match self.chosen[state.index()] {
                ALL => return None,
                _ => self.threads(state, 0).iter().for_each(|thread| seen[thread.index()] = true),
            }
        }
        let mut states = states.to_vec();
        states.sort_unstable();
        Threads::all(seen.len()).filter(|thread| !seen[thread.index()]).find_map(|thread| {
            states.iter().find(|&&state| can_move(explorer, state, thread)).map(|&state| (state, thread))
        })
    }

    /// Explores one more thread at a state, and whoever cannot wait then.
    fn open<S: System>(&mut self, explorer: &Explorer<S>, state: StateId, thread: ThreadId) -> Vec<Job> {
        let before = self.threads(state, 0);
        let mut chosen = before.clone();
        explorer.system.widen(&explorer.row(state), thread, &mut chosen);
        let more = chosen.iter().filter(|thread| !before.contains(thread)).map(|&thread| (state, thread)).collect();
        self.chosen[state.index()] = self.sets.intern(chosen) + 1;
        more
    }
}

fn can_move<S: System>(explorer: &Explorer<S>, state: StateId, thread: ThreadId) -> bool {
    explorer.system.expand(thread, &explorer.row(state), &mut Vec::new(), &mut S::News::default(), &mut |_, _| {})
}

/// The states of a component where some threads are interchangeable, and who is heeded there.
///
/// A thread that does not move may change places with others, but keeps its local state. So it is followed by that, and
/// of equal ones the first stands for all.
struct Followed<'a, S: System> {
    explorer: &'a Explorer<S>,
    /// For each thread those that it is interchangeable with, itself included.
    alike: &'a [Vec<ThreadId>],
    /// The states in ascending order, and whether everybody may move there.
    states: Vec<(StateId, bool)>,
    /// For each state those that lead there.
    into: Vec<Vec<usize>>,
    /// For each state and thread whether it is known to be heeded.
    heeded: Vec<Vec<bool>>,
}

impl<'a, S: System> Followed<'a, S> {
    fn new(
        reduced: &Reduced,
        explorer: &'a Explorer<S>,
        (graph, members): (&Graph, &[usize]),
        alike: &'a [Vec<ThreadId>],
    ) -> Self {
        let mut members = members.to_vec();
        members.sort_unstable();
        let mut into = vec![Vec::new(); members.len()];
        for (from, &place) in members.iter().enumerate() {
            let to = graph.edges[place].iter().filter_map(|to| members.binary_search(to).ok());
            to.for_each(|to| into[to].push(from));
        }
        let states = members.iter().map(|&place| graph.states[place]);
        let states = states.map(|state| (state, reduced.marks[state.index()] == Mark::Open)).collect();
        let threads = explorer.system.threads();
        let mut followed = Self { explorer, alike, states, into, heeded: Vec::new() };
        for &(state, open) in &followed.states {
            let explored = if open { reduced.threads(state, threads) } else { Vec::new() };
            let mut heeded = vec![false; threads];
            explored.into_iter().for_each(|thread| heeded[thread.index()] = true);
            followed.heeded.push(heeded);
        }
        followed
    }

    /// Whether a thread, or one like it with an equal local state, is heeded at a state.
    fn is_heeded(&self, row: &[u32], state: usize, thread: ThreadId, local: u32) -> bool {
        let mut alike = self.alike[thread.index()].iter();
        alike.any(|other| row[other.field()] == local && self.heeded[state][other.index()])
    }

    /// Carries what is known of some states back along steps.
    fn spread(&mut self, mut changed: Vec<usize>) {
        while let Some(to) = changed.pop() {
            let target = self.explorer.row(self.states[to].0);
            for from in self.into[to].clone() {
                let row = self.explorer.row(self.states[from].0);
                let new: Vec<_> = Threads::of(&row)
                    .filter(|thread| !self.heeded[from][thread.index()])
                    .filter(|&thread| self.is_heeded(&target, to, thread, row[thread.field()]))
                    .collect();
                new.iter().for_each(|thread| self.heeded[from][thread.index()] = true);
                if !new.is_empty() {
                    changed.push(from);
                }
            }
        }
    }

    /// The first thread that is ignored although it can move, at the first state where that is so.
    fn ignored(mut self) -> Option<Job> {
        self.spread((0..self.states.len()).collect());
        let (mut changed, mut missing) = (Vec::new(), Vec::new());
        for place in 0..self.states.len() {
            let (state, open) = self.states[place];
            let row = self.explorer.row(state);
            for thread in Threads::of(&row).filter(|_| open) {
                let repeats = |other: &ThreadId| *other < thread && row[other.field()] == row[thread.field()];
                if self.alike[thread.index()].iter().any(repeats)
                    || self.is_heeded(&row, place, thread, row[thread.field()])
                {
                    continue;
                }
                if can_move(self.explorer, state, thread) {
                    missing.push((place, thread));
                } else {
                    self.heeded[place][thread.index()] = true;
                    changed.push(place);
                }
            }
        }
        self.spread(changed);
        missing.retain(|&(place, thread)| !self.heeded[place][thread.index()]);
        let first = missing.into_iter().min_by_key(|&(place, thread)| (thread, place));
        first.map(|(place, thread)| (self.states[place].0, thread))
    }
}
