//! Lemmas that explore, at some views, some threads only.
//!
//! Where threads do not touch what others touch, most orders of their steps lead to nothing new. At a view, a set T of threads
//! is explored; the others may wait. Three things are tested, and give this: *no state that violates a property can be
//! reached*. Nothing is said about the number of views.
//!
//! 1. T is *persistent*: what a thread of T does next does not collide with anything that a thread outside of T may ever
//!    do. Two of them collide if one writes what the other reads or writes ([`Footprint`]). So a step of T can change
//!    places with any steps of others before or after it.
//! 2. What the steps of T lead to is in the set.
//! 3. *Nobody is ignored*: from every view a way through steps of explored threads leads to one where a given thread is
//!    explored, or cannot move.
//!
//! *Why that is right.* Suppose that a state whose view is in the set can get to a violation, and take one with the fewest
//! steps to go. If one of them is a step of T, the first such step can be taken at once; it leads to a view of the set from
//! where there is less to go. If none is, let j be the thread that moves first. A step of T can be put before all of them:
//! the way is as long as before, and the one who fails, or stands where nobody must, still does, since it is not one of T that
//! moved; where properties are about more than one thread, steps that they may notice collide with everybody's. On the way that 3 promises this is done again and again, j can still take its step, and in the end j is
//! explored: contradiction. If it is a deadlock, some thread of T can move at first, which is tested as well, and still
//! could at the end, unless somebody who must not be interrupted is blocked there; and that one is explored in the end.
//!
//! While a thread must not be interrupted it alone moves, so all that it does until it may be interrupted is one step here,
//! with all that it touches, and 3 asks for ways to views at which everybody may move. A way has to exist for every state
//! of a view: a return must go on whatever lies below.
//!
//! All this is about a system in which what is forgotten has any value each time it is read. It does all that the model
//! does, and what is forgotten collides with nothing.
//!
//! With groups a thread is followed by its word: as long as it does not move, some place of its group has this word, and
//! equal words may change places. Of equal words the first are explored.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tepui_model::pushdown::Symbol;

use super::{Checked, Holders};
use crate::system::{Change, Move, System};

/// Numbers of things that threads have in common, as the system counts them.
#[derive(Clone, Default)]
pub(crate) struct Things(Vec<u64>);

impl Things {
    pub(crate) fn insert(&mut self, thing: usize) {
        self.0.resize(self.0.len().max(thing / 64 + 1), 0);
        self.0[thing / 64] |= 1 << (thing % 64);
    }

    fn add(&mut self, others: &Self) {
        self.0.resize(self.0.len().max(others.0.len()), 0);
        self.0.iter_mut().zip(&others.0).for_each(|(word, other)| *word |= other);
    }

    fn word(&self, number: usize) -> u64 {
        self.0.get(number).copied().unwrap_or(0)
    }
}

/// What is read and what is written.
#[derive(Clone, Default)]
pub(crate) struct Footprint {
    pub(crate) reads: Things,
    pub(crate) writes: Things,
}

impl Footprint {
    pub(crate) fn add(&mut self, other: &Self) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
    }

    /// Whether one writes what the other touches. Who reads a thing that has no value yet gives it one.
    fn collides(&self, other: &Self, unset: &Things) -> bool {
        let words = self.reads.0.len().max(self.writes.0.len());
        (0..words).any(|number| {
            let [(reads, writes), (their_reads, their_writes)] =
                [self, other].map(|footprint| (footprint.reads.word(number), footprint.writes.word(number)));
            let unset = unset.word(number);
            (writes | reads & unset) & (their_reads | their_writes) != 0
                || (their_writes | their_reads & unset) & (reads | writes) != 0
        })
    }
}

/// What a thread touches: with what it does next until it may be interrupted, and with all that it may ever do.
pub(crate) struct Touched {
    pub(crate) next: Footprint,
    pub(crate) ever: Footprint,
}

/// A move from a view, and where its results begin in the list of results.
struct Way {
    from: u32,
    first: usize,
    /// Whether it counts.
    sure: bool,
}

/// What is found out about the views of a lemma, one after the other.
pub(super) struct Reduction<'l, 'a, S> {
    lemma: &'l Checked<'a, S>,
    /// What threads touch, by leader and word.
    touched: FxHashMap<(usize, u32), Option<Rc<Touched>>>,
    /// What may lie anywhere in the stack of a leader.
    below: FxHashMap<usize, BTreeSet<Symbol>>,
    ways: Vec<Way>,
    results: Vec<u32>,
    /// Of which view and move the last way is.
    last: Option<(u32, Option<(usize, usize)>)>,
    /// For each view the threads that are known not to be ignored there, as bits of some words.
    heeded: Vec<u64>,
    /// For each view whether everybody may move there.
    open: Vec<bool>,
}

impl<'l, 'a, S: System> Reduction<'l, 'a, S> {
    pub(super) fn new(lemma: &'l Checked<'a, S>) -> Self {
        let (touched, below, ways, results) = (FxHashMap::default(), FxHashMap::default(), Vec::new(), Vec::new());
        Self { lemma, touched, below, ways, results, last: None, heeded: Vec::new(), open: Vec::new() }
    }

    /// The next view: the threads that are explored there.
    pub(super) fn view(&mut self, row: &[u32], holders: &Holders, explored: Option<&[usize]>) -> Result<(), String> {
        let (view, threads) = (self.open.len(), row.len() - 1);
        self.heeded.resize(self.heeded.len() + threads.div_ceil(64), 0);
        self.open.push(matches!(holders, Holders::Nobody));
        match (holders, explored) {
            (Holders::Nobody, Some(explored)) => {
                explored.iter().for_each(|&thread| self.heed(view, thread));
                self.can_wait(row, explored)
            }
            (Holders::Nobody, None) => {
                (0..threads).for_each(|thread| self.heed(view, thread));
                Ok(())
            }
            (Holders::One(holder), Some(explored)) if !explored.contains(holder) => {
                Err(format!("{} is not explored, and nobody else may move", self.lemma.system.thread_name(*holder)))
            }
            (Holders::One(_) | Holders::Several, _) => Ok(()),
        }
    }

    /// Whether threads are explored that no other can disturb.
    fn can_wait(&mut self, row: &[u32], explored: &[usize]) -> Result<(), String> {
        let is_explored = |thread: &usize| explored.contains(thread);
        let groups = &self.lemma.groups;
        if explored.iter().any(|&thread| groups.repeats(row, thread) && !is_explored(&groups.before(thread))) {
            return Err("of threads with equal words it is not the first that are explored".to_owned());
        }
        let unset = self.lemma.system.unset(row[0]);
        let others: Vec<_> = (0..row.len() - 1).filter(|thread| !is_explored(thread)).collect();
        for &thread in explored {
            let own = self.touched(row, thread)?;
            for &other in &others {
                if own.next.collides(&self.touched(row, other)?.ever, &unset) {
                    return Err(self.lemma.disturbs(thread, other));
                }
            }
        }
        Ok(())
    }

    fn touched(&mut self, row: &[u32], thread: usize) -> Result<Rc<Touched>, String> {
        let (lemma, system) = (self.lemma, self.lemma.system);
        let leader = lemma.groups.leader(thread);
        let touched = self.touched.entry((leader, row[thread + 1])).or_insert_with(|| {
            let word = lemma.word(leader, row[thread + 1]);
            let all = || lemma.below[leader].values().flatten().copied().collect::<BTreeSet<_>>();
            let below = lemma.is_open(word).then(|| self.below.entry(leader).or_insert_with(all).iter());
            let stack: Vec<_> = word.iter().chain(below.into_iter().flatten()).copied().collect();
            system.touched(leader, &stack).map(Rc::new)
        });
        touched.clone().ok_or_else(|| "models of this kind have all threads explored".to_owned())
    }

    /// A result of a move from a view, if it is one that counts. The results of a return are there for what may lie below, and
    /// have to count all of them; others are ways by themselves.
    pub(super) fn leads(&mut self, from: usize, (thread, step): (usize, &Move), to: Option<u32>) {
        let from = from as u32;
        let step = matches!(step.change, Change::Pop).then_some((thread, step.number));
        if self.last.replace((from, step)) != Some((from, step)) || step.is_none() {
            self.ways.push(Way { from, first: self.results.len(), sure: true });
        }
        self.results.extend(to);
        if let Some(way) = self.ways.last_mut() {
            way.sure &= to.is_some();
        }
    }

    /// Whether nobody is ignored; if somebody is, where and who.
    pub(super) fn heeds_all(mut self) -> Result<(), String> {
        self.spread((0..self.open.len()).collect());
        let (mut changed, mut blocked) = (Vec::new(), FxHashMap::default());
        for view in 0..self.open.len() {
            if !self.open[view] {
                continue;
            }
            let row = self.lemma.lemma.views.get(view);
            for thread in self.ignored(view).collect::<Vec<_>>() {
                let top = self.lemma.word(thread, row[thread + 1])[0];
                let leader = self.lemma.groups.leader(thread);
                let is_blocked = || self.lemma.system.moves(leader, row[0], top).is_empty();
                if *blocked.entry((leader, row[0], top)).or_insert_with(is_blocked) {
                    self.heed(view, thread);
                    changed.push(view);
                }
            }
        }
        self.spread(changed);
        let open = (0..self.open.len()).filter(|&view| self.open[view]);
        match open.filter_map(|view| Some((view, self.ignored(view).next()?))).next() {
            None => Ok(()),
            Some((view, thread)) => Err(self.lemma.ignores(thread, view)),
        }
    }

    /// The threads of which it is not known that they are heeded at a view.
    fn ignored(&self, view: usize) -> impl Iterator<Item = usize> {
        let row = self.lemma.lemma.views.get(view);
        (0..row.len() - 1).filter(move |&thread| !self.is_heeded(view, thread, row[thread + 1]))
    }

    /// Where it is kept whether a thread is heeded at a view.
    fn bit(&self, view: usize, thread: usize) -> (usize, u64) {
        let words = (self.lemma.lemma.views.width() - 1).div_ceil(64);
        (view * words + thread / 64, 1 << (thread % 64))
    }

    /// Whether a thread, or one like it that has the same word, is known to be heeded at a view.
    fn is_heeded(&self, view: usize, thread: usize, word: u32) -> bool {
        let mut alike = self.lemma.groups.members(self.lemma.groups.leader(thread));
        alike.any(|place| {
            let (number, bit) = self.bit(view, place);
            self.heeded[number] & bit != 0 && self.lemma.lemma.views.number(view, place + 1) == word
        })
    }

    fn heed(&mut self, view: usize, thread: usize) {
        let (word, bit) = self.bit(view, thread);
        self.heeded[word] |= bit;
    }

    /// Carries what is known of some views back along ways.
    fn spread(&mut self, mut changed: Vec<usize>) {
        let mut into: Vec<Vec<u32>> = vec![Vec::new(); self.open.len()];
        for number in (0..self.ways.len()).filter(|&number| self.ways[number].sure) {
            self.results_of(number).iter().for_each(|&to| into[to as usize].push(number as u32));
        }
        while let Some(view) = changed.pop() {
            for &number in &into[view] {
                if self.carry_back(number as usize) {
                    changed.push(self.ways[number as usize].from as usize);
                }
            }
        }
    }

    fn results_of(&self, way: usize) -> &[u32] {
        let end = self.ways.get(way + 1).map_or(self.results.len(), |next| next.first);
        &self.results[self.ways[way].first..end]
    }

    /// Who is heeded at all results of a way is heeded where it begins; whether that is new.
    fn carry_back(&mut self, way: usize) -> bool {
        let from = self.ways[way].from as usize;
        let row = self.lemma.lemma.views.get(from);
        let everywhere = |&thread: &usize| {
            self.results_of(way).iter().all(|&to| self.is_heeded(to as usize, thread, row[thread + 1]))
        };
        let new: Vec<_> = self.ignored(from).filter(everywhere).collect();
        new.iter().for_each(|&thread| self.heed(from, thread));
        !new.is_empty()
    }
}
