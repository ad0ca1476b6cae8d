//! The least inductive set of views of depth b: an over-approximation of what is reachable.
//!
//! The least set of views, with the `Grams` that go with it, that holds the initial view and is closed under all
//! steps contains the view of every reachable state, and is itself the certificate of that. With b = 1 it is a
//! finite-state system with call-return pairs derived from the rules that really fire; with growing b it gets tighter;
//! with b at least the height of every reachable stack it is exact.
//!
//! The fixpoint is computed in waves, without scanning anything twice: views watch the words that threads pop there, and are
//! expanded again when something new is found below one.

use tepui_cert::pushdown::Lemma;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::compiled::Compiled;
use super::grams::{Grams, Reaction};
use super::lemma::lemma;
use crate::explored::Explored;
use crate::ids::{ThreadId, Threads, ViewId, WordId};
use crate::packed::{Batch, PackedSet};
use crate::symmetry::Symmetry;
use crate::watchers::Watchers;
use crate::workers::Workers;

/// Where a fixpoint computation may go.
#[derive(Clone, Copy)]
pub enum Fence<'f> {
    /// Everywhere.
    Open,
    /// To views that, cut to a smaller depth, are among those reached.
    Reached(Reached<'f>),
}

/// Views that were reached.
#[derive(Clone, Copy)]
pub struct Reached<'f> {
    /// The views as rows: a shared state, and the number of a word for each thread.
    pub views: &'f PackedSet<ViewId>,
    /// How many states show them.
    pub states: usize,
    /// How many symbols of each stack they show.
    pub depth: usize,
    /// The number of a thread's word in the rows.
    pub number: &'f dyn Fn(ThreadId, &[Symbol]) -> Option<WordId>,
}

/// How a fixpoint computation ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fixpoint {
    /// The least inductive set is complete.
    Complete,
    /// More views than the caller allowed for.
    TooLarge,
    /// A view beyond the fence turned up.
    Escaped,
}

/// The inductive set, under construction or complete.
pub struct LeastInductiveSet<'a> {
    compiled: &'a Compiled,
    symmetry: &'a Symmetry,
    grams: Grams,
    start: Vec<u32>,
    views: PackedSet<ViewId>,
    watchers: Watchers,
    /// For each thread and word, the number that the word has within the fence.
    outer: Vec<Vec<Option<WordId>>>,
}

/// The most views that are expanded before the fence is looked at.
const WAVE: usize = 1 << 13;

impl<'a> LeastInductiveSet<'a> {
    /// An empty set of views of the given depth, which is at least 1.
    pub fn new(compiled: &'a Compiled, symmetry: &'a Symmetry, depth: usize) -> Self {
        let (grams, start) = Grams::new(compiled, symmetry, depth);
        let threads = compiled.threads();
        let views = PackedSet::new((0..=threads).map(|field| if field == 0 { compiled.shared_count() } else { 1 }));
        let outer = vec![Vec::new(); threads];
        Self { compiled, symmetry, grams, start, views, watchers: Watchers::default(), outer }
    }

    /// Allows for symbols to lie below others, whether or not some rule puts them there. The depth must be 1.
    pub fn allow(&mut self, pairs: &[Vec<(Symbol, Symbol)>]) {
        for (thread, pairs) in Threads::all(pairs.len()).zip(pairs) {
            pairs.iter().for_each(|&(symbol, below)| self.grams.words.allow(thread, symbol, below));
        }
    }

    /// Computes the least inductive set. Ends early when it has more than `limit` views, or leaves the fence.
    pub fn fixpoint(
        &mut self,
        limit: usize,
        fence: Fence<'_>,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Fixpoint, Stop> {
        let (mut batches, mut expanded, mut known) = (vec![Batch::default()], 0, 0);
        self.views.pack(&self.start, &mut batches[0]);
        loop {
            self.views.add_all(batches, workers);
            let new: Vec<_> = self.views.ids_from(known).collect();
            if let Fence::Reached(reached) = fence
                && !self.all_within(&new, reached, workers)
            {
                return Ok(Fixpoint::Escaped);
            }
            if self.views.len() > limit {
                return Ok(Fixpoint::TooLarge);
            }
            known = self.views.len();
            let wave: Vec<_> = self.views.ids_from(expanded).take(WAVE).collect();
            expanded += wave.len();
            let views = (&self.views, &Explored::default());
            self.grams.react_to(self.compiled, self.symmetry, views, &wave, workers, budget)?;
            if wave.is_empty() && !self.grams.words.has_facts() {
                return Ok(Fixpoint::Complete);
            }
            // The views of this wave are expanded with all that may lie below; those before them, again for what is new.
            self.expand_again(workers, budget)?;
            batches = workers.cut(&wave, |views| {
                let mut batch = self.expand(views);
                self.views.seal(&mut batch, workers);
                batch
            });
            budget.spend(batches.iter().map(|batch| batch.len() as u64).sum::<u64>() + wave.len() as u64)?;
            self.watchers.add(wave);
        }
    }

    /// Triples of a thread, a word that some view pops, and a symbol below it.
    pub fn revealed(&self) -> impl Iterator<Item = (ThreadId, &[Symbol], Symbol)> {
        Threads::all(self.compiled.threads()).flat_map(move |thread| {
            let words = self.grams.words.popped(thread);
            words.flat_map(move |(word, below)| below.iter().map(move |&symbol| (thread, word, symbol)))
        })
    }

    /// The set as a lemma of a certificate.
    pub(crate) fn into_lemma(self, workers: &Workers, budget: &mut Budget) -> Result<Lemma, Stop> {
        lemma(
            self.symmetry,
            &self.grams.words,
            (self.views, None),
            self.compiled.shared_numbers(),
            |_, word| WordId(word),
            workers,
            budget,
        )
    }

    /// Whether views, cut to the depth of a fence, are within.
    fn all_within(&mut self, views: &[ViewId], reached: Reached<'_>, workers: &Workers) -> bool {
        for (thread, outer) in Threads::all(self.outer.len()).zip(&mut self.outer) {
            for word in outer.len() as u32..self.grams.words.word_count(thread) as u32 {
                let word = self.grams.words.word(thread, WordId(word));
                outer.push((reached.number)(thread, &word[..reached.depth.min(word.len())]));
            }
        }
        let (inner, fence) = (&*self, reached.views);
        let within = workers.cut(views, |views| {
            let (mut row, mut batch) = (vec![0; fence.width()], Batch::default());
            for &view in views {
                inner.views.get(view, &mut row);
                for thread in Threads::of(&row) {
                    match inner.outer[thread.index()][row[thread.field()] as usize] {
                        Some(number) => row[thread.field()] = number.0,
                        None => return false,
                    }
                }
                inner.symmetry.canonicalise(&mut row);
                fence.pack(&row, &mut batch);
            }
            fence.find_all(&batch).all(|number| number.is_some())
        });
        within.into_iter().all(|within| within)
    }

    /// The successors of views, as far as it is known what may come to light.
    fn expand(&self, views: &[ViewId]) -> Batch {
        let (mut row, mut batch) = (vec![0; self.views.width()], Batch::default());
        let mut next = row.clone();
        let mut step = |row: &[u32], thread: ThreadId, to: (u32, WordId)| {
            self.pack_step(row, thread, to, &mut next, &mut batch);
        };
        for &view in views {
            self.views.get(view, &mut row);
            for thread in Threads::of(&row).filter(|&thread| !self.symmetry.repeats(&row, thread)) {
                let (shared, word) = (row[0], WordId(row[thread.field()]));
                for reaction in self.grams.known_reactions(thread, (shared, word)).unwrap_or_default() {
                    match *reaction {
                        Reaction::Become(shared, word) => step(&row, thread, (shared, word)),
                        Reaction::Reveal(shared) => {
                            let revealed = self.grams.words.revealed(thread, word);
                            revealed.iter().for_each(|&word| step(&row, thread, (shared, word)));
                        }
                    }
                }
            }
        }
        batch
    }

    fn pack_step(&self, row: &[u32], thread: ThreadId, to: (u32, WordId), next: &mut [u32], batch: &mut Batch) {
        next.copy_from_slice(row);
        (next[0], next[thread.field()]) = (to.0, to.1.0);
        self.symmetry.canonicalise_at(next, thread);
        self.views.pack(next, batch);
    }

    /// Expands again the views that pop words below which symbols were found, and adds where that leads.
    fn expand_again(&mut self, workers: &Workers, budget: &mut Budget) -> Result<(), Stop> {
        let (mut row, mut next) = (self.start.clone(), self.start.clone());
        while let Some(fact) = self.grams.words.next_fact() {
            let (grams, symmetry) = (&self.grams, self.symmetry);
            let watches = |_, view: &[u32], keys: &mut Vec<_>| grams.popped_words(symmetry, view, None, keys);
            let watching = self.watchers.take(fact.key(), &self.views, budget, watches)?;
            for views in watching.chunks(WAVE) {
                let mut batch = Batch::default();
                for &view in views {
                    self.views.get(view, &mut row);
                    self.grams.pops_above(fact, symmetry, (&row, None), |place, shared| {
                        self.pack_step(&row, place, (shared, fact.revealed), &mut next, &mut batch);
                    });
                }
                budget.spend(batch.len() as u64)?;
                self.views.add_all(vec![batch], workers);
            }
            self.watchers.put_back(fact.key(), watching);
        }
        Ok(())
    }
}
