//! Taking many steps at once, on all threads of the crew.
//!
//! An engine decides which threads take steps from which states, in *jobs*; here the steps are taken, and the states
//! that they lead to are stored and numbered. A [`Visitor`] hears of every image and picks what the engine wants to
//! know. With one thread, jobs are done one after the other. With more, a batch of jobs is cut into pieces: the
//! steps of all pieces are taken and looked up side by side, then the strangers among them are numbered, then the
//! visitor hears of all images side by side. States get the same numbers either way.

use tepui_core::{Budget, Stop};

use crate::crew::Crew;
use crate::packed::{PackedSet, Strangers};
use crate::system::System;

/// How many pieces of work are looked at before states are numbered: few enough that the caches still hold what the
/// steps have touched.
const BATCH: usize = 24;
/// How many jobs have their images looked up together.
const GROUP: usize = 16;

/// What an engine wants done and to know.
pub trait Visitor: Sync {
    /// A state, and which threads are to take a step from it, together with what the engine remembers of it.
    type Job: Sync;
    /// What the engine wants to know of an image.
    type Found: Send;

    /// The state and the threads of a job.
    fn job(&self, job: &Self::Job) -> (u32, std::ops::Range<usize>);

    /// There are now so many states.
    fn grown(&mut self, states: usize);

    /// A step leads to a state, in which the thread has a place. Called from several threads in any order.
    fn image(&self, job: &Self::Job, state: u32, place: usize, found: &mut Vec<Self::Found>);

    /// All steps of a job have been taken; says whether a thread was enabled.
    fn done(&self, job: &Self::Job, enabled: bool, found: &mut Vec<Self::Found>);
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
}

#[derive(Clone, Copy)]
struct Image {
    job: u32,
    place: u16,
    stranger: bool,
    /// The number of the state, or of the stranger in its piece.
    state: u32,
}

/// What one piece of work brings.
struct Piece {
    images: Vec<Image>,
    enabled: Vec<bool>,
    strangers: Strangers,
}

impl<S: System> Explorer<S> {
    /// An explorer that has found nothing yet.
    pub fn new(system: S, crew: Crew) -> Self {
        Self { states: PackedSet::new(system.fields()), system, images: 0, crew }
    }

    /// Finds the initial state, which gets the number 0.
    pub fn start(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let initial = self.system.initial();
        self.system.covered(&initial, budget)?;
        self.states.insert(&initial);
        self.system.learn(&initial, budget)
    }

    /// Does all jobs, and adds what the visitor found to a list, also if it has to stop.
    pub fn run<V: Visitor>(
        &mut self,
        jobs: &[V::Job],
        visitor: &mut V,
        found: &mut Vec<V::Found>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        for batch in jobs.chunks(BATCH * self.crew.grain()) {
            let before = self.images;
            if S::SUBSUMES || !self.crew.shares(batch.len()) {
                self.alone(batch, visitor, found, budget)?;
            } else {
                self.together(batch, visitor, found, budget)?;
                budget.spend(batch.len() as u64 + self.images - before)?;
            }
        }
        Ok(())
    }

    fn alone<V: Visitor>(
        &mut self,
        jobs: &[V::Job],
        visitor: &mut V,
        found: &mut Vec<V::Found>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let width = self.width();
        let (mut row, mut next, mut rows) = (vec![0; width], Vec::with_capacity(width), Vec::new());
        // For each image its place; for each job the number of its images, and whether a thread was enabled.
        let (mut places, mut taken) = (Vec::new(), Vec::new());
        for jobs in jobs.chunks(GROUP) {
            for job in jobs {
                let (state, threads) = visitor.job(job);
                self.states.get(state, &mut row);
                let (mut enabled, before) = (false, places.len());
                for thread in threads {
                    enabled |= self.system.steps(thread, &row, &mut next, &mut |row, place| {
                        rows.extend_from_slice(row);
                        places.push(place);
                    });
                }
                taken.push((places.len() - before, enabled));
            }
            self.images += places.len() as u64;
            budget.spend((jobs.len() + places.len()) as u64)?;
            self.states.warm(&rows);
            let mut images = rows.chunks_exact(width).zip(&places);
            for (job, &(count, enabled)) in jobs.iter().zip(&taken) {
                for (row, &place) in images.by_ref().take(count) {
                    if S::SUBSUMES && self.states.find(row).is_none() && self.system.covered(row, budget)? {
                        continue;
                    }
                    let (state, new) = self.states.insert(row);
                    if new {
                        if !self.system.knows(row) {
                            self.system.learn(row, budget)?;
                        }
                        visitor.grown(self.states.len());
                    }
                    visitor.image(job, state, place, found);
                }
                visitor.done(job, enabled, found);
            }
            rows.clear();
            places.clear();
            taken.clear();
        }
        Ok(())
    }

    fn together<V: Visitor>(
        &mut self,
        jobs: &[V::Job],
        visitor: &mut V,
        found: &mut Vec<V::Found>,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let asked = &*visitor;
        let mut pieces = self.crew.map(jobs.chunks(self.crew.grain()).collect(), |jobs| self.piece(jobs, asked));
        let mut lists: Vec<_> = pieces.iter_mut().map(|piece| std::mem::take(&mut piece.strangers)).collect();
        let first = self.states.len();
        let numbers = self.states.insert_all(&mut lists, &self.crew);
        self.learn_from(first, budget)?;
        visitor.grown(self.states.len());
        let mut start = 0;
        let parts = pieces.into_iter().zip(lists).zip(jobs.chunks(self.crew.grain())).map(|((piece, list), jobs)| {
            let own = &numbers[start..start + list.len()];
            start += list.len();
            self.images += piece.images.len() as u64;
            (jobs, piece, own)
        });
        let (parts, told) = (parts.collect(), &*visitor);
        let all = self.crew.map(parts, |(jobs, piece, own): (&[V::Job], Piece, &[u32])| {
            let mut found = Vec::new();
            for image in piece.images {
                let state = if image.stranger { own[image.state as usize] } else { image.state };
                told.image(&jobs[image.job as usize], state, usize::from(image.place), &mut found);
            }
            jobs.iter().zip(piece.enabled).for_each(|(job, enabled)| told.done(job, enabled, &mut found));
            found
        });
        all.into_iter().for_each(|part| found.extend(part));
        Ok(())
    }

    fn piece<V: Visitor>(&self, jobs: &[V::Job], visitor: &V) -> Piece {
        let (mut row, mut next) = (vec![0; self.width()], Vec::with_capacity(self.width()));
        let mut piece =
            Piece { images: Vec::new(), enabled: Vec::with_capacity(jobs.len()), strangers: Strangers::default() };
        let (mut rows, mut from) = (Vec::new(), Vec::new());
        for (first, jobs) in (0..).step_by(GROUP).zip(jobs.chunks(GROUP)) {
            for (index, job) in (first..).zip(jobs) {
                let (state, threads) = visitor.job(job);
                self.states.get(state, &mut row);
                let mut enabled = false;
                for thread in threads {
                    enabled |= self.system.steps(thread, &row, &mut next, &mut |row, place| {
                        rows.extend_from_slice(row);
                        from.push((index, place as u16));
                    });
                }
                piece.enabled.push(enabled);
            }
            self.states.warm(&rows);
            for (row, (job, place)) in rows.chunks_exact(self.width()).zip(from.drain(..)) {
                let (stranger, state) = match self.states.find_or_note(row, &mut piece.strangers) {
                    Ok(state) => (false, state),
                    Err(place) => (true, place),
                };
                piece.images.push(Image { job, place, stranger, state });
            }
            rows.clear();
        }
        piece
    }

    /// Lets the system learn from all states with numbers from `first` on.
    fn learn_from(&mut self, first: usize, budget: &mut Budget) -> Result<(), Stop> {
        let grain = self.crew.grain();
        let starts = (first..self.states.len()).step_by(grain).collect();
        let unknown = self.crew.map(starts, |start: usize| {
            let mut row = vec![0; self.width()];
            let states = start as u32..self.states.len().min(start + grain) as u32;
            let unknown = states.filter(|&state| {
                self.states.get(state, &mut row);
                !self.system.knows(&row)
            });
            unknown.collect::<Vec<_>>()
        });
        let mut row = vec![0; self.width()];
        for state in unknown.into_iter().flatten() {
            self.states.get(state, &mut row);
            if !self.system.knows(&row) {
                self.system.learn(&row, budget)?;
            }
        }
        Ok(())
    }

    fn width(&self) -> usize {
        self.states.width()
    }
}

/// Makes a row from each of some states, puts it into a set, and returns the numbers that these rows have there. New
/// ones are numbered in the order of the states.
pub fn number_rows(
    states: &PackedSet,
    which: &[u32],
    into: &mut PackedSet,
    crew: &Crew,
    make: impl Fn(&[u32], &mut [u32]) + Sync,
) -> Vec<u32> {
    let mut numbers = Vec::with_capacity(which.len());
    if !crew.shares(which.len()) {
        let (mut row, mut made) = (vec![0; states.width()], Vec::new());
        for group in which.chunks(2 * GROUP) {
            make_all(states, group, &mut row, &mut made, into.width(), &make);
            into.warm(&made);
            numbers.extend(made.chunks_exact(into.width()).map(|made| into.insert(made).0));
        }
        return numbers;
    }
    for batch in which.chunks(BATCH * crew.grain()) {
        let known = &*into;
        let found = crew.map(batch.chunks(crew.grain()).collect(), |piece: &[u32]| {
            let (mut row, mut made) = (vec![0; states.width()], Vec::new());
            let (mut numbers, mut strangers) = (Vec::with_capacity(piece.len()), Strangers::default());
            for group in piece.chunks(2 * GROUP) {
                make_all(states, group, &mut row, &mut made, known.width(), &make);
                known.warm(&made);
                let made = made.chunks_exact(known.width());
                numbers.extend(made.map(|made| known.find_or_note(made, &mut strangers)));
            }
            (numbers, strangers)
        });
        let (found, mut strangers): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let counts: Vec<_> = strangers.iter().map(Strangers::len).collect();
        let given = into.insert_all(&mut strangers, crew);
        let mut start = 0;
        for (found, count) in found.into_iter().zip(counts) {
            let own = &given[start..start + count];
            numbers.extend(found.into_iter().map(|number| number.unwrap_or_else(|place| own[place as usize])));
            start += count;
        }
    }
    numbers
}

/// Makes a row from each of some states, one after the other.
fn make_all(
    states: &PackedSet,
    which: &[u32],
    row: &mut [u32],
    made: &mut Vec<u32>,
    width: usize,
    make: impl Fn(&[u32], &mut [u32]),
) {
    made.clear();
    made.resize(which.len() * width, 0);
    for (&state, made) in which.iter().zip(made.chunks_exact_mut(width)) {
        states.get(state, row);
        make(row, made);
    }
}
