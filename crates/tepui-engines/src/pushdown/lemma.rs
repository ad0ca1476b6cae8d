//! From views and grams to a lemma of a certificate.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use tepui_cert::pushdown::{Lemma, Row, Rows};
use tepui_core::{Budget, Stop};

use super::words::Words;
use crate::explored::Explored;
use crate::ids::{Id, ThreadId, Threads, ViewId, WordId};
use crate::interner::Interner;
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;
use crate::workers::Workers;

/// The most rows that are dealt with before limits are looked at.
const ROWS_AT_ONCE: usize = 1 << 18;

/// Views and words as a lemma of a certificate. The views are given up to make room. `shared` gives the number that the
/// certificate has for a shared state, the largest of which is `most`; `word` gives the number of the word that a thread's
/// cell stands for.
pub fn lemma(
    symmetry: &Symmetry,
    words: &Words,
    (views, explored): (PackedSet<ViewId>, Option<Explored>),
    (shared, most): (impl Fn(u32) -> u32 + Sync, u32),
    word: impl Fn(ThreadId, u32) -> WordId + Sync,
    workers: &Workers,
    budget: &mut Budget,
) -> Result<Lemma, Stop> {
    let threads = views.width() - 1;
    let unused = |thread| (0..words.word_count(thread)).map(|_| AtomicBool::new(false)).collect();
    let in_use: Vec<Vec<_>> = Threads::all(threads).map(unused).collect();
    for first in (0..views.len()).step_by(ROWS_AT_ONCE) {
        let all: Vec<_> = views.ids_from(first).take(ROWS_AT_ONCE).collect();
        workers.cut(&all, |chunk| {
            let mut row = vec![0; threads + 1];
            for &view in chunk {
                views.get(view, &mut row);
                for thread in Threads::all(threads) {
                    let word = word(thread, row[thread.field()]);
                    let used: &AtomicBool = &in_use[symmetry.leader(thread).index()][word.index()];
                    // Most words are marked already. Reading keeps the cache line shared; a write would claim it.
                    if !used.load(Ordering::Relaxed) {
                        used.store(true, Ordering::Relaxed);
                    }
                }
            }
        });
        budget.pass(all.len() as u64)?;
    }
    let mut used: Vec<Vec<Option<u32>>> = in_use
        .iter()
        .map(|words| words.iter().map(|used| used.load(Ordering::Relaxed).then_some(0)).collect())
        .collect();
    let parts: Vec<_> =
        Threads::all(threads).zip(&mut used).map(|(thread, used)| words.lemma_thread(thread, used)).collect();
    let renumber = |row: &mut [u32]| {
        row[0] = shared(row[0]);
        for thread in Threads::all(threads) {
            let word = word(thread, row[thread.field()]);
            row[thread.field()] = used[symmetry.leader(thread).index()][word.index()].unwrap_or(0);
        }
    };
    let count = |thread: ThreadId| parts[symmetry.leader(thread).index()].words.len().saturating_sub(1) as u32;
    let largest = [most].into_iter().chain(Threads::all(threads).map(count));
    let widths: Vec<_> = largest.map(|number| 32 - (number | 1).leading_zeros()).collect();
    let (views, explored) = match explored {
        None => {
            let canonical = |row: &mut [u32]| {
                renumber(row);
                symmetry.canonicalise(row);
            };
            (sorted_rows(views, &widths, canonical, workers, budget)?, Vec::new())
        }
        Some(explored) => reduced_rows((&views, &explored), &widths, symmetry, renumber, budget)?,
    };
    Ok(Lemma { depth: words.depth() as u32, threads: parts, views, explored })
}

/// The renumbered rows in ascending order, and which threads were explored at them. If rows become equal, what was
/// explored at one of them was explored at all.
fn reduced_rows(
    (views, explored): (&PackedSet<ViewId>, &Explored),
    widths: &[u32],
    symmetry: &Symmetry,
    renumber: impl Fn(&mut [u32]),
    budget: &mut Budget,
) -> Result<(Rows, Vec<tepui_cert::pushdown::Explored>), Stop> {
    let threads = views.width() - 1;
    let mut sets: Interner<Vec<ThreadId>> = Interner::default();
    // The number of the set comes last in each row.
    let mut rows = Rows::with_bits(&[widths, &[32]].concat());
    let mut row = vec![0; threads + 1];
    for view in views.ids() {
        views.get(view, &mut row);
        renumber(&mut row);
        let set = explored.at(view.index());
        let mut is_explored = vec![set.is_none(); threads];
        set.into_iter().flatten().for_each(|thread| is_explored[thread.index()] = true);
        symmetry.canonicalise_with(&mut row, &mut is_explored);
        let set = sets.intern(Threads::all(threads).filter(|thread| is_explored[thread.index()]).collect());
        row.push(set);
        rows.push(&row);
        row.pop();
        budget.pass(1)?;
    }
    let sorted = rows.sorted();
    let (mut rows, mut named) = (Rows::with_bits(widths), BTreeMap::<_, Vec<_>>::new());
    let mut all = sorted.iter().peekable();
    while let Some(mut row) = all.next() {
        let explored = |row: &Row| sets[row[threads + 1]].iter().map(|thread| thread.index()).collect::<Vec<_>>();
        let mut set = explored(&row);
        while let Some(equal) = all.next_if(|next| next[..=threads] == row[..=threads]) {
            set.extend(explored(&equal));
            set.sort_unstable();
            set.dedup();
        }
        row.pop();
        if set.len() < threads {
            named.entry(set).or_default().push(rows.len());
        }
        rows.push(row);
    }
    let sets = named.into_iter().map(|(threads, views)| tepui_cert::pushdown::Explored { threads, views });
    Ok((rows, sets.collect()))
}

/// The renumbered rows in ascending order. Those that fit into a machine word are sorted as such, in place.
fn sorted_rows(
    views: PackedSet<ViewId>,
    widths: &[u32],
    renumber: impl Fn(&mut [u32]) + Sync,
    workers: &Workers,
    budget: &mut Budget,
) -> Result<Rows, Stop> {
    match views.into_words(widths, &renumber, workers) {
        Ok(words) => {
            budget.look()?;
            let words = workers.sorted(words, |&word| word, |one, other| one == other);
            budget.look()?;
            Ok(Rows::from_words(widths, words))
        }
        Err(views) => {
            let mut rows = Rows::with_bits(widths);
            let mut row = vec![0; widths.len()];
            for view in views.ids() {
                views.get(view, &mut row);
                renumber(&mut row);
                rows.push(&row);
                budget.pass(1)?;
            }
            Ok(rows.sorted().into_owned())
        }
    }
}
