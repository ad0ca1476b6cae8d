//! Taking many steps at once, shared by all workers.
//!
//! An engine decides which threads take steps from which states, in *jobs*; here the steps are taken, and the states
//! that they lead to are stored and numbered. A [`Visitor`] is called for every image and picks what the engine needs. Jobs are cut into chunks: the steps of some chunks are taken side by side, then the states that they lead to are
//! numbered, then the visitor is called for all images side by side. States get the same numbers with any number of threads.

use tepui_core::{Budget, Stop};

use crate::ids::{Id, StateId, ThreadId, Threads};
use crate::packed::{Batch, PackedSet};
use crate::system::System;
use crate::workers::Workers;

/// How many chunks of work are done before states are numbered: enough to keep all threads busy, and few enough that the
/// caches still hold what the steps have touched.
const CHUNKS: usize = 64;

/// About how many images are computed before states are numbered.
const IMAGES_AT_ONCE: usize = 1 << 20;

/// So many new states are worth a pass of their own over the views; fewer can wait for more of them.
pub(crate) const WORTH_OBSERVING: usize = 1 << 16;

/// What an engine wants done and to know.
pub trait Visitor: Sync {
    /// A state, and which threads are to take a step from it, together with what the engine remembers of it.
    type Job: Sync;
    /// What the engine wants to know of images: it is collected chunk by chunk.
    type Found: Default + Send;
    /// Whether it is called for images and for jobs that are done.
    const VISITS_IMAGES: bool = true;

    /// The state and the threads of a job.
    fn job(&self, job: &Self::Job) -> (StateId, Threads);

    /// There are now so many states.
    fn grown(&mut self, states: usize);

    /// A step leads to a state, in which the thread has a place. Called from several threads in any order.
    fn image(&self, job: &Self::Job, state: StateId, place: ThreadId, found: &mut Self::Found);

    /// All steps of a job have been taken; says whether a thread was enabled.
    fn done(&self, job: &Self::Job, enabled: bool, found: &mut Self::Found);
}

/// States, stored as rows and numbered in the order in which they are found, and the system they belong to.
pub struct Explorer<S: System> {
    /// The system.
    pub system: S,
    /// The states.
    pub states: PackedSet<StateId>,
    /// Images computed.
    pub images: u64,
    /// The threads that share the work.
    pub workers: Workers,
    /// How many images a job had on average when this was seen last.
    branching: usize,
    /// News that have been admitted, kept for their memory.
    pool: Vec<S::News>,
}

/// What one chunk of work brings.
struct Chunk<'j, J> {
    jobs: &'j [J],
    /// For each job, whether a thread was enabled, and how many images there are up to its last one.
    taken: Vec<(bool, usize)>,
    /// For each image, the place of the thread that took the step.
    places: Vec<ThreadId>,
}

/// Chunks of work, and for each the rows that its steps lead to.
type Taken<'j, J> = (Vec<Chunk<'j, J>>, Vec<Batch>);

/// Something, as far as a limit let it come, and the limit.
type Limited<T> = (T, Result<(), Stop>);

/// A chunk, and the rows that its steps lead to.
type Results<'j, J> = (Chunk<'j, J>, Vec<u32>);

impl<S: System> Explorer<S> {
    /// An explorer that has found nothing yet.
    pub fn new(system: S, workers: Workers) -> Self {
        Self { states: PackedSet::new(system.fields()), system, images: 0, workers, branching: 1, pool: Vec::new() }
    }

    /// Finds the initial state, which gets the number 0.
    pub fn start(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let initial = self.system.initial();
        self.system.covered(&initial, budget)?;
        self.states.insert(&initial);
        self.system.intern(&initial, budget)
    }

    /// The state with a number.
    pub fn row(&self, state: StateId) -> Vec<u32> {
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
        let chunk = chunk_size(self.states.width(), &self.workers);
        let most = if self.workers.shares(jobs.len()) { CHUNKS } else { 1 };
        let mut rest = jobs;
        while !rest.is_empty() {
            // States with very many successors would need much memory and time before limits are looked at.
            let few = (IMAGES_AT_ONCE / self.branching).max(1);
            let size = if few < chunk { few } else { chunk * most.min(few / chunk) }.min(rest.len());
            let (jobs, before) = (&rest[..size], self.images);
            rest = &rest[size..];
            self.together((jobs, chunk), visitor, found, budget)?;
            self.branching = ((self.images - before) as usize / size).max(1);
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
                if new && !self.system.is_interned(row) {
                    self.system.intern(row, budget)?;
                }
            }
            visitor.done(job, enabled, found);
        }
        Ok(())
    }

    /// Does jobs side by side: workers take the steps of their chunks and pack the results, then all results are numbered as
    /// if one thread had added them in order, then workers visit the images of their chunks. If a limit is reached on the way,
    /// that is after the same chunk for any number of workers.
    fn together<V: Visitor>(
        &mut self,
        jobs: (&[V::Job], usize),
        visitor: &mut V,
        found: &mut Vec<V::Found>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let ((chunks, batches), limited) =
            if S::ADMITS { self.admitted(jobs, visitor, budget)? } else { self.taken(jobs, visitor, budget) };
        self.images += batches.iter().map(|batch: &Batch| batch.len() as u64).sum::<u64>();
        let first = self.states.len();
        if !V::VISITS_IMAGES {
            self.states.add_all(batches, &self.workers);
            visitor.grown(self.states.len());
            return self.intern_from(first, budget).and(limited);
        }
        let added = self.states.add(batches, &self.workers, true);
        visitor.grown(self.states.len());
        let interned = self.intern_from(first, budget);
        let visited = &*visitor;
        found.extend(self.workers.map((0..).zip(chunks).collect(), |(number, chunk): (usize, Chunk<'_, _>)| {
            let numbers = added.numbers(number);
            let (mut found, mut start) = (V::Found::default(), 0);
            for (job, (enabled, end)) in chunk.jobs.iter().zip(chunk.taken) {
                for (&state, &place) in numbers[start..end].iter().zip(&chunk.places[start..end]) {
                    visited.image(job, state, place, &mut found);
                }
                visited.done(job, enabled, &mut found);
                start = end;
            }
            found
        }));
        self.states.recycle(added);
        interned.and(limited)
    }

    /// Takes the steps of all jobs, unless a limit is reached before.
    fn taken<'j, V: Visitor>(
        &mut self,
        (jobs, size): (&'j [V::Job], usize),
        visitor: &V,
        budget: &mut Budget,
    ) -> Limited<Taken<'j, V::Job>> {
        let batches = self.states.batches(jobs.len().div_ceil(size));
        let chunks = jobs.chunks(size).zip(batches).collect();
        let mut taken = self.workers.map(chunks, |(jobs, batch)| self.chunk(jobs, batch, visitor));
        let limited = charge(&mut taken, |(chunk, batch)| chunk.jobs.len() + batch.len(), budget);
        (taken.into_iter().unzip(), limited)
    }

    /// The same where steps lead to things that have no number yet: first all steps are taken, then what is new gets its
    /// numbers, then rows are made of the results.
    fn admitted<'j, V: Visitor>(
        &mut self,
        (jobs, size): (&'j [V::Job], usize),
        visitor: &V,
        budget: &mut Budget,
    ) -> Result<Limited<Taken<'j, V::Job>>, Stop> {
        let count = jobs.len().div_ceil(size);
        let mut pool = std::mem::take(&mut self.pool);
        pool.resize_with(count.max(pool.len()), S::News::default);
        let chunks = jobs.chunks(size).zip(pool.drain(..count)).collect();
        let mut expanded = self.workers.map(chunks, |(jobs, news)| self.expand(jobs, visitor, news));
        let limited = charge(&mut expanded, |((chunk, _), _)| chunk.jobs.len() + chunk.places.len(), budget);
        let (results, mut news): (Vec<_>, Vec<_>) = expanded.into_iter().unzip();
        self.system.admit(&mut news, &self.workers, budget)?;
        let batches = self.states.batches(results.len());
        let results = results.into_iter().zip(&news).zip(batches).collect();
        let width = self.states.width();
        let made =
            self.workers.map(results, |(((mut chunk, mut rows), news), mut batch): ((Results<'j, V::Job>, _), _)| {
                for (row, place) in rows.chunks_exact_mut(width).zip(&mut chunk.places) {
                    *place = self.system.settle(news, row, *place);
                    self.states.pack(row, &mut batch);
                }
                self.states.seal(&mut batch, &self.workers);
                (chunk, batch)
            });
        Ok((made.into_iter().unzip(), limited))
    }

    /// Takes the steps of some jobs; returns the rows that they lead to, and what is new in them.
    fn expand<'j, V: Visitor>(
        &self,
        jobs: &'j [V::Job],
        visitor: &V,
        mut news: S::News,
    ) -> (Results<'j, V::Job>, S::News) {
        let (mut row, mut next) = (vec![0; self.states.width()], Vec::with_capacity(self.states.width()));
        let mut chunk = Chunk { jobs, taken: Vec::new(), places: Vec::new() };
        let mut rows = Vec::new();
        for job in jobs {
            let (state, threads) = visitor.job(job);
            self.states.get(state, &mut row);
            let mut enabled = false;
            for thread in threads {
                enabled |= self.system.expand(thread, &row, &mut next, &mut news, &mut |row, place| {
                    rows.extend_from_slice(row);
                    chunk.places.push(place);
                });
            }
            chunk.taken.push((enabled, chunk.places.len()));
        }
        ((chunk, rows), news)
    }

    fn chunk<'j, V: Visitor>(&self, jobs: &'j [V::Job], mut batch: Batch, visitor: &V) -> (Chunk<'j, V::Job>, Batch) {
        let (mut row, mut next) = (vec![0; self.states.width()], Vec::with_capacity(self.states.width()));
        let mut chunk = Chunk { jobs, taken: Vec::new(), places: Vec::new() };
        for job in jobs {
            let (state, threads) = visitor.job(job);
            self.states.get(state, &mut row);
            let mut enabled = false;
            for thread in threads {
                enabled |= self.system.steps(thread, &row, &mut next, &mut |row, place| {
                    self.states.pack(row, &mut batch);
                    if V::VISITS_IMAGES {
                        chunk.places.push(place);
                    }
                });
            }
            if V::VISITS_IMAGES {
                chunk.taken.push((enabled, batch.len()));
            }
        }
        self.states.seal(&mut batch, &self.workers);
        (chunk, batch)
    }

    /// Lets the system intern what it needs for all states with numbers from `first` on.
    fn intern_from(&mut self, first: usize, budget: &mut Budget) -> Result<(), Stop> {
        let chunk = self.workers.chunk();
        let starts = (first..self.states.len()).step_by(chunk).collect();
        // Whether something is missing is asked side by side, and is mostly answered with no. What is missing is interned by
        // one thread in the order of the states, so that its numbers do not depend on the number of workers.
        let unknown = self.workers.map(starts, |start: usize| {
            let mut row = vec![0; self.states.width()];
            let states = self.states.ids_from(start).take(chunk);
            let unknown = states.filter(|&state| {
                self.states.get(state, &mut row);
                !self.system.is_interned(&row)
            });
            unknown.collect::<Vec<_>>()
        });
        let mut row = vec![0; self.states.width()];
        for state in unknown.into_iter().flatten() {
            self.states.get(state, &mut row);
            if !self.system.is_interned(&row) {
                self.system.intern(&row, budget)?;
            }
        }
        Ok(())
    }
}

/// Charges chunks of work in order. Those behind the one with which a limit is reached are dropped.
fn charge<T>(chunks: &mut Vec<T>, work: impl Fn(&T) -> usize, budget: &mut Budget) -> Result<(), Stop> {
    for number in 0..chunks.len() {
        if let Err(stop) = budget.spend(work(&chunks[number]) as u64) {
            chunks.truncate(number + 1);
            return Err(stop);
        }
    }
    Ok(())
}

/// How many jobs are one chunk of work. Wide states have many successors.
fn chunk_size(width: usize, workers: &Workers) -> usize {
    const WIDE: usize = 64;
    if width <= WIDE { workers.chunk() } else { (workers.chunk() * WIDE * WIDE / (width * width)).max(1) }
}

/// How many rows are made before limits are looked at.
fn batch_size(rows: usize, workers: &Workers) -> usize {
    workers.chunk() * if workers.shares(rows) { CHUNKS } else { 1 }
}

/// Makes a row from each of some states, puts it into a set, and returns the numbers that these rows have there. New
/// ones are numbered in the order of the states. If it has to stop, the rows made so far are in the set.
pub(crate) fn number_rows<I: Id, J: Id>(
    states: &PackedSet<I>,
    which: &[I],
    into: &mut PackedSet<J>,
    workers: &Workers,
    budget: &mut Budget,
    make: impl Fn(&[u32], &mut [u32]) + Sync,
) -> Result<Vec<J>, Stop> {
    let mut numbers = Vec::with_capacity(which.len());
    for which in which.chunks(batch_size(which.len(), workers)) {
        let batches = make_rows(states, which, into, workers, &make);
        into.insert_all(batches, workers).into_iter().for_each(|part| numbers.extend(part));
        budget.pass(which.len() as u64)?;
    }
    Ok(numbers)
}

/// The same without the numbers; returns how many states had their rows made.
pub(crate) fn add_rows<I: Id, J: Id>(
    states: &PackedSet<I>,
    which: &[I],
    into: &mut PackedSet<J>,
    workers: &Workers,
    budget: &mut Budget,
    make: impl Fn(&[u32], &mut [u32]) + Sync,
) -> (usize, Result<(), Stop>) {
    let mut made = 0;
    for which in which.chunks(batch_size(which.len(), workers)) {
        let batches = make_rows(states, which, into, workers, &make);
        into.add_all(batches, workers);
        made += which.len();
        if let Err(stop) = budget.pass(which.len() as u64) {
            return (made, Err(stop));
        }
    }
    (made, Ok(()))
}

fn make_rows<I: Id, J: Id>(
    states: &PackedSet<I>,
    which: &[I],
    into: &mut PackedSet<J>,
    workers: &Workers,
    make: impl Fn(&[u32], &mut [u32]) + Sync,
) -> Vec<Batch> {
    let batches = into.batches(which.len().div_ceil(workers.chunk()));
    workers.map(which.chunks(workers.chunk()).zip(batches).collect(), |(chunk, mut batch): (&[I], Batch)| {
        let (mut row, mut made) = (vec![0; states.width()], vec![0; into.width()]);
        for &state in chunk {
            states.get(state, &mut row);
            make(&row, &mut made);
            into.pack(&made, &mut batch);
        }
        into.seal(&mut batch, workers);
        batch
    })
}
