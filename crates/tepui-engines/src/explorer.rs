//! Taking many steps at once, on all threads of the crew.
//!
//! An engine decides which threads take steps from which states, in *jobs*; here the steps are taken, and the states
//! that they lead to are stored and numbered. A [`Visitor`] hears of every image and picks what the engine wants to
//! know. Jobs are cut into pieces: the steps of some pieces are taken side by side, then the states that they lead to are
//! numbered, then the visitor hears of all images side by side. States get the same numbers with any number of threads.

use tepui_core::{Budget, Stop};

use crate::crew::Crew;
use crate::packed::{Batch, PackedSet};
use crate::system::System;

/// How many pieces of work are done before states are numbered: enough to keep all threads busy, and few enough that the
/// caches still hold what the steps have touched.
const PIECES: usize = 64;

/// About how many images are computed before states are numbered.
const IMAGES_AT_ONCE: usize = 1 << 20;

/// So many new states are worth a pass of their own over the views; fewer can wait for more of them.
pub const WORTH_OBSERVING: usize = 1 << 16;

/// What an engine wants done and to know.
pub trait Visitor: Sync {
    /// A state, and which threads are to take a step from it, together with what the engine remembers of it.
    type Job: Sync;
    /// What the engine wants to know of images: it is collected piece by piece.
    type Found: Default + Send;
    /// Whether it wants to hear of images and of jobs that are done.
    const LISTENS: bool = true;

    /// The state and the threads of a job.
    fn job(&self, job: &Self::Job) -> (u32, std::ops::Range<usize>);

    /// There are now so many states.
    fn grown(&mut self, states: usize);

    /// A step leads to a state, in which the thread has a place. Called from several threads in any order.
    fn image(&self, job: &Self::Job, state: u32, place: usize, found: &mut Self::Found);

    /// All steps of a job have been taken; says whether a thread was enabled.
    fn done(&self, job: &Self::Job, enabled: bool, found: &mut Self::Found);
}

/// States, stored as rows and numbered in the order in which they are found, and the system they belong to.
pub struct Explorer<S> {
    /// The system.
    pub system: S,
    /// The states.
    pub states: PackedSet,
    /// Images computed.
    pub images: u64,
    /// The threads that share the work.
    pub crew: Crew,
    /// How many images a job had on average when this was seen last.
    branching: usize,
}

/// What one piece of work brings.
struct Piece<'j, J> {
    jobs: &'j [J],
    /// For each job, whether a thread was enabled, and how many images there are up to its last one.
    taken: Vec<(bool, usize)>,
    /// For each image, the place of the thread that took the step.
    places: Vec<u16>,
}

impl<S: System> Explorer<S> {
    /// An explorer that has found nothing yet.
    pub fn new(system: S, crew: Crew) -> Self {
        Self { states: PackedSet::new(system.fields()), system, images: 0, crew, branching: 1 }
    }

    /// Finds the initial state, which gets the number 0.
    pub fn start(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let initial = self.system.initial();
        self.system.covered(&initial, budget)?;
        self.states.insert(&initial);
        self.system.learn(&initial, budget)
    }

    /// The state with a number.
    pub fn row(&self, state: u32) -> Vec<u32> {
        let mut row = vec![0; self.states.width()];
        self.states.get(state, &mut row);
        row
    }

    /// Does all jobs, and adds what the visitor found to a list, in order, also if it has to stop.
    pub fn run<V: Visitor>(
        &mut self,
        jobs: &[V::Job],
        visitor: &mut V,
        found: &mut Vec<V::Found>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        if S::SUBSUMES {
            let mut all = V::Found::default();
            let stopped = self.one_by_one(jobs, visitor, &mut all, budget);
            found.push(all);
            return stopped;
        }
        let most = batch_size(jobs.len(), self.states.width(), &self.crew);
        let mut rest = jobs;
        while !rest.is_empty() {
            // States with very many successors would need much memory and time before limits are looked at.
            let size = most.min((IMAGES_AT_ONCE / self.branching).max(1)).min(rest.len());
            let (jobs, before) = (&rest[..size], self.images);
            rest = &rest[size..];
            self.together(jobs, visitor, found, budget)?;
            let images = self.images - before;
            self.branching = (images as usize / size).max(1);
            budget.spend(size as u64 + images)?;
        }
        Ok(())
    }

    /// Does jobs where whether an image is stored depends on those before it.
    fn one_by_one<V: Visitor>(
        &mut self,
        jobs: &[V::Job],
        visitor: &mut V,
        found: &mut V::Found,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let width = self.states.width();
        let (mut row, mut next) = (vec![0; width], Vec::with_capacity(width));
        for job in jobs {
            let (mut rows, mut places, mut enabled) = (Vec::new(), Vec::new(), false);
            let (state, threads) = visitor.job(job);
            self.states.get(state, &mut row);
            for thread in threads {
                enabled |= self.system.steps(thread, &row, &mut next, &mut |row, place| {
                    rows.extend_from_slice(row);
                    places.push(place);
                });
            }
            self.images += places.len() as u64;
            budget.spend(1 + places.len() as u64)?;
            for (row, place) in rows.chunks_exact(width).zip(places) {
                if self.states.find(row).is_none() && self.system.covered(row, budget)? {
                    continue;
                }
                let (state, new) = self.states.insert(row);
                visitor.grown(self.states.len());
                // A state that is stored is one that the visitor has heard of, even if the run ends here.
                visitor.image(job, state, place, found);
                if new && !self.system.knows(row) {
                    self.system.learn(row, budget)?;
                }
            }
            visitor.done(job, enabled, found);
        }
        Ok(())
    }

    /// Does jobs side by side.
    fn together<V: Visitor>(
        &mut self,
        jobs: &[V::Job],
        visitor: &mut V,
        found: &mut Vec<V::Found>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let asked = &*visitor;
        let batches = self.states.batches(jobs.len().div_ceil(self.crew.grain()));
        let pieces = jobs.chunks(self.crew.grain()).zip(batches).collect();
        let pieces = self.crew.map(pieces, |(jobs, batch)| self.piece(jobs, batch, asked));
        let (pieces, batches): (Vec<_>, Vec<_>) = pieces.into_iter().unzip();
        self.images += batches.iter().map(|batch: &Batch| batch.len() as u64).sum::<u64>();
        let first = self.states.len();
        if !V::LISTENS {
            self.states.add_all(batches, &self.crew);
            visitor.grown(self.states.len());
            return self.learn_from(first, budget);
        }
        let added = self.states.add(batches, &self.crew, true);
        visitor.grown(self.states.len());
        let learned = self.learn_from(first, budget);
        let told = &*visitor;
        found.extend(self.crew.map((0..).zip(pieces).collect(), |(number, piece): (usize, Piece<'_, _>)| {
            let numbers = added.numbers(number);
            let (mut found, mut start) = (V::Found::default(), 0);
            for (job, (enabled, end)) in piece.jobs.iter().zip(piece.taken) {
                for (&state, &place) in numbers[start..end].iter().zip(&piece.places[start..end]) {
                    told.image(job, state, usize::from(place), &mut found);
                }
                told.done(job, enabled, &mut found);
                start = end;
            }
            found
        }));
        self.states.recycle(added);
        learned
    }

    fn piece<'j, V: Visitor>(&self, jobs: &'j [V::Job], mut batch: Batch, visitor: &V) -> (Piece<'j, V::Job>, Batch) {
        let (mut row, mut next) = (vec![0; self.states.width()], Vec::with_capacity(self.states.width()));
        let mut piece = Piece { jobs, taken: Vec::new(), places: Vec::new() };
        for job in jobs {
            let (state, threads) = visitor.job(job);
            self.states.get(state, &mut row);
            let mut enabled = false;
            for thread in threads {
                enabled |= self.system.steps(thread, &row, &mut next, &mut |row, place| {
                    self.states.pack(row, &mut batch);
                    if V::LISTENS {
                        piece.places.push(place as u16);
                    }
                });
            }
            if V::LISTENS {
                piece.taken.push((enabled, batch.len()));
            }
        }
        self.states.seal(&mut batch, &self.crew);
        (piece, batch)
    }

    /// Lets the system learn from all states with numbers from `first` on.
    fn learn_from(&mut self, first: usize, budget: &mut Budget) -> Result<(), Stop> {
        let grain = self.crew.grain();
        let starts = (first..self.states.len()).step_by(grain).collect();
        let unknown = self.crew.map(starts, |start: usize| {
            let mut row = vec![0; self.states.width()];
            let states = start as u32..self.states.len().min(start + grain) as u32;
            let unknown = states.filter(|&state| {
                self.states.get(state, &mut row);
                !self.system.knows(&row)
            });
            unknown.collect::<Vec<_>>()
        });
        let mut row = vec![0; self.states.width()];
        for state in unknown.into_iter().flatten() {
            self.states.get(state, &mut row);
            if !self.system.knows(&row) {
                self.system.learn(&row, budget)?;
            }
        }
        Ok(())
    }
}

/// How many jobs are done before states are numbered, and limits are looked at. Wide states have many successors.
fn batch_size(jobs: usize, width: usize, crew: &Crew) -> usize {
    const WIDE: usize = 64;
    let size = crew.grain() * if crew.shares(jobs) { PIECES } else { 1 };
    if width <= WIDE { size } else { (size * WIDE * WIDE / (width * width)).max(1) }
}

/// Makes a row from each of some states, puts it into a set, and returns the numbers that these rows have there. New
/// ones are numbered in the order of the states. If it has to stop, the rows made so far are in the set.
pub fn number_rows(
    states: &PackedSet,
    which: &[u32],
    into: &mut PackedSet,
    crew: &Crew,
    budget: &mut Budget,
    make: impl Fn(&[u32], &mut [u32]) + Sync,
) -> Result<Vec<u32>, Stop> {
    let mut numbers = Vec::with_capacity(which.len());
    for which in which.chunks(batch_size(which.len(), 1, crew)) {
        let batches = make_rows(states, which, into, crew, &make);
        into.insert_all(batches, crew).into_iter().for_each(|part| numbers.extend(part));
        budget.pass(which.len() as u64)?;
    }
    Ok(numbers)
}

/// The same without the numbers; returns how many states had their rows made.
pub fn add_rows(
    states: &PackedSet,
    which: &[u32],
    into: &mut PackedSet,
    crew: &Crew,
    budget: &mut Budget,
    make: impl Fn(&[u32], &mut [u32]) + Sync,
) -> (usize, Result<(), Stop>) {
    let mut made = 0;
    for which in which.chunks(batch_size(which.len(), 1, crew)) {
        let batches = make_rows(states, which, into, crew, &make);
        into.add_all(batches, crew);
        made += which.len();
        if let Err(stop) = budget.pass(which.len() as u64) {
            return (made, Err(stop));
        }
    }
    (made, Ok(()))
}

fn make_rows(
    states: &PackedSet,
    which: &[u32],
    into: &mut PackedSet,
    crew: &Crew,
    make: impl Fn(&[u32], &mut [u32]) + Sync,
) -> Vec<Batch> {
    let batches = into.batches(which.len().div_ceil(crew.grain()));
    crew.map(which.chunks(crew.grain()).zip(batches).collect(), |(piece, mut batch): (&[u32], Batch)| {
        let (mut row, mut made) = (vec![0; states.width()], vec![0; into.width()]);
        for &state in piece {
            states.get(state, &mut row);
            make(&row, &mut made);
            into.pack(&made, &mut batch);
        }
        into.seal(&mut batch, crew);
        batch
    })
}
