//! What threads of a pushdown model do to views: [words](super::words) and the reactions to them.
//!
//! A thread's reaction to a (shared state, word) pair is worked out when the pair first occurs, so that nothing is looked at
//! twice.

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Action;

use super::compiled::Compiled;
use super::words::{Fact, Words};
use crate::abstraction::Key;
use crate::explored::{Chosen, Explored, is_explored};
use crate::ids::{Id, ThreadId, Threads, ViewId, WordId};
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;
use crate::workers::Workers;

/// The words of all threads, and what threads do that show them.
pub(crate) struct Grams {
    /// The words.
    pub words: Words,
    /// For each thread that speaks for those interchangeable with it.
    threads: Vec<Reacting>,
}

/// What a thread does to a view: a definite successor, or a pop that has to ask what lies below.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reaction {
    /// The shared state and the word afterwards.
    Become(u32, WordId),
    /// The shared state afterwards; the word depends on what comes to light.
    Reveal(u32),
}

/// What a thread does, for shared states and words.
#[derive(Default)]
struct Reacting {
    /// Where in the list the reactions to a shared state and a word stand.
    places: FxHashMap<(u32, WordId), (u32, u32)>,
    reactions: Vec<Reaction>,
}

impl Grams {
    /// The grams of the initial stacks, with words of a depth that is at least 1; and the initial view.
    pub(crate) fn new(compiled: &Compiled, symmetry: &Symmetry, depth: usize) -> (Self, Vec<u32>) {
        let (words, numbers) = Words::new(symmetry, depth, &compiled.initial_words().collect::<Vec<_>>());
        let threads = numbers.iter().map(|_| Reacting::default()).collect();
        let row = [compiled.init].into_iter().chain(numbers.into_iter().map(|word| word.0)).collect();
        (Self { words, threads }, row)
    }

    /// Works out what threads do in some views, where that is not known.
    pub(crate) fn react_to(
        &mut self,
        compiled: &Compiled,
        symmetry: &Symmetry,
        (views, explored): (&PackedSet<ViewId>, &Explored),
        which: &[ViewId],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        // Few pairs are new, and finding them is most of the work: that is shared. Compiling interns words, whose numbers depend
        // on the order, and is left to one thread.
        let known = &*self;
        let unknown = workers.cut(which, |which| {
            let (mut row, mut unknown) = (vec![0; views.width()], Vec::new());
            for &view in which {
                views.get(view, &mut row);
                for thread in moving(symmetry, &row, explored.at(view.index())) {
                    let pair = (row[0], WordId(row[thread.field()]));
                    if known.known_reactions(thread, pair).is_none() {
                        unknown.push((known.words.leader(thread), pair));
                    }
                }
            }
            unknown
        });
        for (leader, pair) in unknown.into_iter().flatten() {
            if self.known_reactions(leader, pair).is_none() {
                self.compile(compiled, leader, pair);
                budget.pass(self.words.word(leader, pair.1).len() as u64)?;
            }
        }
        Ok(())
    }

    /// What a thread does when it shows a word in a shared state, if that has been worked out.
    #[inline]
    pub(crate) fn known_reactions(&self, thread: ThreadId, pair: (u32, WordId)) -> Option<&[Reaction]> {
        let grams = &self.threads[self.words.leader(thread).index()];
        grams.places.get(&pair).map(|&(start, end)| &grams.reactions[start as usize..end as usize])
    }

    /// The shared states that a thread goes to when it pops a word with something unknown below.
    fn pops(&self, thread: ThreadId, pair: (u32, WordId)) -> impl Iterator<Item = u32> {
        let reactions = self.known_reactions(thread, pair).unwrap_or_default().iter();
        reactions.filter_map(|reaction| match *reaction {
            Reaction::Reveal(shared) => Some(shared),
            Reaction::Become(..) => None,
        })
    }

    /// Adds the threads, each the first of those interchangeable with it, that pop words with something unknown below in a
    /// view, with these words.
    pub(crate) fn popped_words(&self, symmetry: &Symmetry, view: &[u32], explored: Chosen<'_>, keys: &mut Vec<Key>) {
        for thread in moving(symmetry, view, explored) {
            if self.pops(thread, (view[0], WordId(view[thread.field()]))).next().is_some() {
                keys.push((self.words.leader(thread), view[thread.field()]));
            }
        }
    }

    /// The pops of a view that bring a newly found symbol to light: `found` gets the place of the thread, and the shared
    /// state that it goes to.
    pub(crate) fn pops_above(
        &self,
        fact: Fact,
        symmetry: &Symmetry,
        (view, explored): (&[u32], Chosen<'_>),
        mut found: impl FnMut(ThreadId, u32),
    ) {
        let place = symmetry.place_of(view, fact.thread, fact.word.0);
        if let Some(place) = place.filter(|&place| is_explored(explored, place)) {
            self.pops(place, (view[0], fact.word)).for_each(|shared| found(place, shared));
        }
    }

    /// Bytes held.
    pub(crate) fn bytes(&self) -> u64 {
        let thread = |thread: &Reacting| thread.places.capacity() * 17 + thread.reactions.len() * 12;
        self.words.bytes() + self.threads.iter().map(thread).sum::<usize>() as u64
    }

    fn compile(&mut self, compiled: &Compiled, leader: ThreadId, (shared, word): (u32, WordId)) {
        let reacting = &mut self.threads[leader.index()];
        debug_assert!(!reacting.places.contains_key(&(shared, word)), "a pair is compiled once");
        let start = reacting.reactions.len() as u32;
        let top = self.words.word(leader, word)[0];
        for step in compiled.kind(leader).moves(shared, top) {
            let next = match step.action {
                Action::Pop => self.words.popped_to(leader, word),
                Action::Overwrite(symbol) => Some(self.words.overwritten(leader, word, symbol)),
                Action::Push { top, below } => Some(self.words.pushed(leader, word, top, below)),
            };
            reacting.reactions.push(next.map_or(Reaction::Reveal(step.to), |next| Reaction::Become(step.to, next)));
        }
        reacting.places.insert((shared, word), (start, reacting.reactions.len() as u32));
    }
}

/// The threads explored at a view, of equal ones the first.
pub(crate) fn moving(symmetry: &Symmetry, view: &[u32], explored: Chosen<'_>) -> impl Iterator<Item = ThreadId> {
    Threads::of(view).filter(move |&thread| is_explored(explored, thread) && !symmetry.repeats(view, thread))
}
