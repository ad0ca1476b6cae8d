//! Pops that wait for what may come to light.
//!
//! When a symbol turns out to lie below a word, the views that were looked at before and from which a thread pops that
//! word have to be told. As a rule, what may lie below has come to light by the time most views are looked at, and
//! nobody has to be told. So a list of views for each word is made when it is first asked for; until then it is enough to
//! know which views have been looked at. Each view is put into lists once.

use tepui_core::{Budget, Stop};

use super::grams::{Fresh, Grams, Reaction};
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;

/// Views that were looked at, and from which threads pop.
#[derive(Default)]
pub struct Waiting {
    /// For each thread and word, the views from which the thread, or one that is interchangeable with it, pops the word.
    lists: Vec<Vec<Vec<u32>>>,
    /// Views that are in no list yet.
    unlisted: Vec<Vec<u32>>,
}

impl Waiting {
    /// These views have been looked at.
    pub fn note(&mut self, views: Vec<u32>) {
        self.unlisted.push(views);
    }

    /// The views from which a word may come to light. Give the list back ([`keep`](Self::keep)): it may grow.
    pub fn take(
        &mut self,
        fresh: Fresh,
        grams: &Grams,
        symmetry: &Symmetry,
        views: &PackedSet,
        budget: &mut Budget,
    ) -> Result<Vec<u32>, Stop> {
        if !self.unlisted.is_empty() {
            self.list(grams, symmetry, views, budget)?;
        }
        let list = self.lists.get_mut(fresh.thread).and_then(|lists| lists.get_mut(fresh.word as usize));
        Ok(list.map(std::mem::take).unwrap_or_default())
    }

    /// Puts a list back that was taken.
    pub fn keep(&mut self, fresh: Fresh, list: Vec<u32>) {
        if !list.is_empty() {
            self.lists[fresh.thread][fresh.word as usize] = list;
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let lists = self.lists.iter().flatten().chain(&self.unlisted);
        lists.map(|list| list.capacity() * 4 + 24).sum()
    }

    /// Puts views into lists that are in none yet.
    fn list(&mut self, grams: &Grams, symmetry: &Symmetry, views: &PackedSet, budget: &mut Budget) -> Result<(), Stop> {
        let mut row = vec![0; views.width()];
        self.lists.resize(row.len() - 1, Vec::new());
        for view in std::mem::take(&mut self.unlisted).into_iter().flatten() {
            views.get(view, &mut row);
            for thread in (0..row.len() - 1).filter(|&thread| !symmetry.repeats(&row, thread)) {
                let word = row[thread + 1] as usize;
                if pops(grams, thread, (row[0], row[thread + 1])).next().is_some() {
                    let lists = &mut self.lists[symmetry.leader(thread)];
                    lists.resize(lists.len().max(word + 1), Vec::new());
                    lists[word].push(view);
                }
            }
            budget.pass(1)?;
        }
        Ok(())
    }
}

/// Tells of a word that may come to light from views that wait for it: `tell` gets each of them, as a number and as a
/// row, the place of the thread that pops, and the shared state that it goes to.
pub fn wake(
    fresh: Fresh,
    waiting: &[u32],
    grams: &Grams,
    symmetry: &Symmetry,
    views: &PackedSet,
    mut tell: impl FnMut(u32, &[u32], usize, u32),
) {
    let mut row = vec![0; views.width()];
    for &view in waiting {
        views.get(view, &mut row);
        if let Some(place) = symmetry.place_of(&row, fresh.thread, fresh.word) {
            pops(grams, place, (row[0], fresh.word)).for_each(|shared| tell(view, &row, place, shared));
        }
    }
}

/// The shared states that a thread goes to when it pops a word with something unknown below.
fn pops(grams: &Grams, thread: usize, pair: (u32, u32)) -> impl Iterator<Item = u32> {
    let reactions = grams.known_reactions(thread, pair).unwrap_or_default().iter();
    reactions.filter_map(|reaction| match *reaction {
        Reaction::Reveal(shared) => Some(shared),
        Reaction::Become(..) => None,
    })
}
