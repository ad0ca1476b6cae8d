//! Partial-order reduction: at each state some threads are explored, and the others wait.
//!
//! Which threads can wait, the system says ([`System::choose`]), of each state when it is expanded. Without more, some
//! thread might wait for ever: one that runs in a circle by itself hides all others. So the search goes in *rounds*.
//! When nothing is left to expand, the states and the steps taken are a graph. If in each of its *bottom* components,
//! those that no step leaves, every thread is explored somewhere or cannot move anywhere, then from every state a way
//! leads to one where a given thread is explored, or cannot move: nobody is ignored. In each component where somebody
//! is, one more thread is explored at one state, the first of each, and the search goes on. Opening all of them at once
//! would visit every set of threads that have begun.
//!
//! While a thread must not be interrupted, nobody else could be explored. States of this kind do not count as places where
//! others are heeded; and where only they follow, the component before them is looked at instead.
//!
//! Where views are states and somebody waits at few of them, all are explored after all: the search is then one without
//! reduction, and so is its proof.
//!
//! States from which a good component can be reached stay *settled*, and later rounds do not look at them again.

use super::heeded::{Heeded, Node};
use crate::components::components;
use crate::explored::Explored;
use crate::explorer::{Explorer, Visitor};
use crate::ids::{Id, StateId, ThreadId, Threads};
use crate::system::{Choice, System};

/// A thread to be explored at a state.
pub(super) type Job = (StateId, ThreadId);

/// What is explored.
#[derive(Default)]
pub struct Reduced {
    /// For each state that was expanded the threads explored.
    pub(super) explored: Explored,
    /// For each state the thread whose step led to it first.
    movers: Vec<ThreadId>,
    /// For each state what else is known of it.
    marks: Vec<Mark>,
    /// The steps taken.
    pub(super) edges: Vec<(StateId, StateId)>,
    /// Whose steps they are; not where views are states.
    pub(super) by: Vec<ThreadId>,
    /// Whether somebody waits somewhere.
    pub(super) waits: bool,
    /// For how many states it has been asked lately who can wait, and whether somebody could.
    asked: (usize, bool),
    /// For how many more states it is not asked.
    paused: usize,
    /// How many states were expanded, and at how many of them somebody waits.
    expanded: usize,
    waiting: usize,
}

/// If nobody can wait at so many states, it is not asked for a while.
const WINDOW: usize = 1 << 12;
/// For so many states.
const PAUSE: usize = 1 << 14;
/// If somebody waits at less than one of so many states, nobody has to.
const RARE: usize = 8;
/// But that is not decided before so many states are expanded.
const ENOUGH: usize = 1 << 14;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// It has not been expanded.
    New,
    /// Everybody may move there.
    Open,
    /// One thread must not be interrupted.
    Held,
    /// Nothing follows that matters.
    Left,
    /// Nobody is ignored from there on.
    Settled,
}

/// A step: from where and by whom, where to, and where the thread is then.
pub(super) type Taken = (Job, StateId, ThreadId);

/// Explores threads, and notes where their steps lead.
pub(super) struct Follow;

impl Visitor for Follow {
    type Job = Job;
    type Found = Vec<Taken>;

    fn job(&self, &(state, thread): &Job) -> (StateId, Threads) {
        (state, Threads::one(thread))
    }

    fn grown(&mut self, _: usize) {}

    fn image(&self, &job: &Job, to: StateId, place: ThreadId, found: &mut Self::Found) {
        found.push((job, to, place));
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
    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let steps = self.edges.capacity() * 8 + self.by.capacity() * 2;
        (self.explored.bytes() + self.movers.capacity() * 2 + self.marks.capacity() + steps) as u64
    }

    /// What is known of a state.
    pub(super) fn mark(&self, state: StateId) -> Mark {
        self.marks[state.index()]
    }

    /// Chooses threads for states that are expanded for the first time; returns what is to be explored there.
    pub(super) fn choose<S: System>(&mut self, explorer: &Explorer<S>, states: &[StateId]) -> Vec<Job> {
        let (movers, asks) = (&self.movers, self.paused == 0);
        let chosen = explorer.workers.cut(states, |states| {
            let (mut row, mut news) = (vec![0; explorer.states.width()], S::News::default());
            let choose = |&state: &StateId| {
                explorer.states.get(state, &mut row);
                let mut chosen = Vec::new();
                let choice =
                    explorer.system.choose(&row, asks.then_some(movers[state.index()]), &mut news, &mut chosen);
                S::recycle(&mut news);
                (choice, chosen)
            };
            states.iter().map(choose).collect::<Vec<_>>()
        });
        self.paused = self.paused.saturating_sub(states.len());
        let (mut jobs, mut waits) = (Vec::new(), false);
        for (&state, (choice, chosen)) in states.iter().zip(chosen.into_iter().flatten()) {
            let (chosen, mark) = match choice {
                Choice::All => (None, Mark::Open),
                Choice::Some => (Some(chosen), Mark::Open),
                Choice::Alone => (None, Mark::Held),
                Choice::Nobody => (Some(Vec::new()), Mark::Left),
            };
            waits |= choice == Choice::Some;
            self.marks[state.index()] = mark;
            match &chosen {
                None => jobs.extend(Threads::all(explorer.system.threads()).map(|thread| (state, thread))),
                Some(chosen) => jobs.extend(chosen.iter().map(|&thread| (state, thread))),
            }
            self.waiting += usize::from(chosen.is_some());
            self.explored.set(state.index(), chosen);
        }
        self.waits |= waits;
        self.expanded += states.len();
        if asks {
            self.asked = (self.asked.0 + states.len(), self.asked.1 | waits);
        }
        if self.asked.0 >= WINDOW {
            let (_, waits) = std::mem::take(&mut self.asked);
            self.paused = if waits { 0 } else { PAUSE };
        }
        jobs
    }

    /// Whether somebody waits so seldom that it costs more to find out where than it saves.
    pub(super) fn is_futile(&self) -> bool {
        self.expanded >= ENOUGH && self.waiting * RARE < self.expanded
    }

    /// All that was left out at states that were expanded.
    pub(super) fn left_out<S: System>(&self, explorer: &Explorer<S>) -> Vec<Job> {
        let at = |state: StateId| self.explored.at(state.index()).map(|explored| (state, explored));
        let rest = |(state, explored): (StateId, &[ThreadId])| {
            let others = Threads::all(explorer.system.threads()).filter(|thread| !explored.contains(thread));
            others.map(|thread| (state, thread)).collect::<Vec<_>>()
        };
        explorer.states.ids().filter_map(at).flat_map(rest).collect()
    }

    /// Notes steps, and by whom states were found that are new; `by` says whether it matters whose steps they are.
    pub(super) fn note<S: System>(&mut self, explorer: &Explorer<S>, by: bool, found: impl Iterator<Item = Taken>) {
        let known = self.movers.len();
        let mut movers: Vec<Option<ThreadId>> = vec![None; explorer.states.len() - known];
        for ((from, thread), to, place) in found {
            self.edges.push((from, to));
            self.by.extend(by.then_some(thread));
            if let Some(new) = to.index().checked_sub(known) {
                movers[new].get_or_insert(place);
            }
        }
        self.movers.extend(movers.into_iter().map(|mover| mover.unwrap_or(ThreadId(0))));
        self.marks.resize(self.movers.len(), Mark::New);
    }

    /// Explores one more thread at a state, and whoever cannot wait then; returns those that are new.
    pub(super) fn open<S: System>(
        &mut self,
        explorer: &Explorer<S>,
        state: StateId,
        thread: Option<ThreadId>,
    ) -> Vec<Job> {
        let Some(before) = self.explored.at(state.index()).map(<[_]>::to_vec) else { return Vec::new() };
        let mut chosen = before.clone();
        chosen.extend(thread);
        explorer.system.complete(&explorer.row(state), &mut chosen);
        let more = chosen.iter().filter(|thread| !before.contains(thread)).map(|&thread| (state, thread)).collect();
        self.explored.set(state.index(), Some(chosen));
        more
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
                Mark::Left | Mark::New => {}
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
                self.rank(explorer, (&graph, members), &mut jobs)
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
        jobs: &mut Vec<Job>,
    ) -> Rank {
        let mut members = members.to_vec();
        members.sort_unstable();
        let states: Vec<_> = members.iter().map(|&place| graph.states[place]).collect();
        if !states.iter().any(|&state| self.mark(state) == Mark::Open) {
            return Rank::Dead;
        }
        let mut threads = Threads::all(explorer.system.threads());
        let ignored = match threads.any(|thread| explorer.system.alike(thread).is_some()) {
            false => self.ignored(explorer, &states),
            true => {
                let node = |&state: &StateId| Node {
                    row: explorer.row(state),
                    open: self.mark(state) == Mark::Open,
                    explored: self.explored.at(state.index()),
                };
                let nodes: Vec<_> = states.iter().map(node).collect();
                let ways = members.iter().enumerate().flat_map(|(from, &place)| {
                    let to = graph.edges[place].iter().filter_map(|to| members.binary_search(to).ok());
                    to.map(move |to| (from, vec![to]))
                });
                let ignored = Heeded::new(&explorer.system, &nodes, &ways.collect::<Vec<_>>())
                    .ignored(|node, thread| explorer.system.can_move(&nodes[node].row, thread));
                let first = ignored.into_iter().min_by_key(|&(node, thread)| (thread, node));
                first.map(|(node, thread)| (states[node], thread))
            }
        };
        let Some((state, thread)) = ignored else { return Rank::Good };
        jobs.extend(self.open(explorer, state, Some(thread)));
        Rank::Bad
    }

    /// The first thread that is not explored at any of some states although it can move at one of them, the first of which
    /// is named.
    fn ignored<S: System>(&self, explorer: &Explorer<S>, states: &[StateId]) -> Option<Job> {
        let open = states.iter().filter(|&&state| self.mark(state) == Mark::Open);
        let mut seen = vec![false; explorer.system.threads()];
        for state in open.clone() {
            self.explored.at(state.index())?.iter().for_each(|thread| seen[thread.index()] = true);
        }
        Threads::all(seen.len()).filter(|thread| !seen[thread.index()]).find_map(|thread| {
            let can_move = |state: StateId| explorer.system.can_move(&explorer.row(state), thread);
            open.clone().find(|&&state| can_move(state)).map(|&state| (state, thread))
        })
    }
}
