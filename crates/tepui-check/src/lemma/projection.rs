//! What an earlier lemma excludes.
//!
//! Two lemmas may look at stacks with different depths. A view is excluded by an earlier lemma if, cut to the depth
//! they have in common, none of the earlier lemma's views, cut as well, equals it.
//!
//! They may have different groups too. The views of the earlier lemma are orbits of its own groups, so what is cut is
//! made canonical for these: the rows, whose words may come in another order when they are cut and numbered anew, and
//! the view that is asked for, whose thread may have any other leader in the later lemma. That is why the numbers of cut
//! words are the same for all threads.

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_cert::pushdown::Row;
use tepui_model::pushdown::Symbol;

use super::Checked;
use crate::system::System;

/// The views of an earlier lemma, cut to the depth that a later one can see. Built when first asked.
pub(super) struct Exclusion<'c, 'a, S> {
    earlier: &'c Checked<'a, S>,
    later: &'c Checked<'a, S>,
    depth: usize,
    built: Option<Projection<'a>>,
    row: Vec<u32>,
}

struct Projection<'a> {
    /// The words of the earlier lemma, cut.
    words: FxHashMap<&'a [Symbol], u32>,
    rows: FxHashSet<Vec<u32>>,
    /// For each word of the later lemma the number of its projection.
    later: Vec<Vec<Option<u32>>>,
}

impl<'c, 'a, S: System> Exclusion<'c, 'a, S> {
    pub(super) fn new(earlier: &'c Checked<'a, S>, later: &'c Checked<'a, S>) -> Self {
        let depth = earlier.lemma.depth.min(later.lemma.depth) as usize;
        Self { earlier, later, depth, built: None, row: Vec::new() }
    }

    /// Whether a view of the later lemma's depth is excluded: a row in which one thread may have a word of its own.
    pub(super) fn excludes(&mut self, row: &[u32], own: Option<(usize, &[Symbol])>) -> bool {
        let (earlier, later, depth) = (self.earlier, self.later, self.depth);
        let projection = self.built.get_or_insert_with(|| Projection::new(earlier, later, depth));
        self.row.clear();
        self.row.push(row[0]);
        for thread in 0..row.len() - 1 {
            let number = match own.filter(|(changed, _)| *changed == thread) {
                Some((_, word)) => projection.words.get(cut(word, depth)).copied(),
                None => projection.later[later.groups.leader(thread)][row[thread + 1] as usize],
            };
            let Some(number) = number else { return true };
            self.row.push(number);
        }
        earlier.groups.sort(&mut self.row);
        !projection.rows.contains(&self.row)
    }
}

impl<'a> Projection<'a> {
    fn new<S: System>(earlier: &Checked<'a, S>, later: &Checked<'a, S>, depth: usize) -> Self {
        let mut words = FxHashMap::default();
        let mut number = |word: &'a Vec<Symbol>| {
            let next = words.len() as u32;
            *words.entry(cut(word, depth)).or_insert(next)
        };
        let threads = &earlier.lemma.threads;
        let renumbered: Vec<Vec<_>> =
            threads.iter().map(|thread| thread.words.iter().map(&mut number).collect()).collect();
        let find = |word: &Vec<Symbol>| words.get(cut(word, depth)).copied();
        let later = later.lemma.threads.iter().map(|thread| thread.words.iter().map(find).collect()).collect();
        let cut = |row: Row| {
            let number = |(thread, &word): (usize, &u32)| renumbered[earlier.groups.leader(thread)][word as usize];
            let mut cut: Vec<_> = [row[0]].into_iter().chain(row[1..].iter().enumerate().map(number)).collect();
            earlier.groups.sort(&mut cut);
            cut
        };
        let rows = earlier.lemma.views.iter().map(cut).collect();
        Self { words, rows, later }
    }
}

fn cut(word: &[Symbol], depth: usize) -> &[Symbol] {
    &word[..depth.min(word.len())]
}
