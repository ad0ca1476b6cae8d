//! What an earlier lemma excludes.
//!
//! Two lemmas may look at stacks with different depths. A view is excluded by an earlier lemma if, cut to the depth
//! they have in common, none of the earlier lemma's views, cut as well, equals it.

use rustc_hash::FxHashMap;
use tepui_cert::Rows;
use tepui_model::pushdown::Symbol;

use crate::lemma::Checked;
use crate::table::Index;

/// The views of an earlier lemma, cut to the depth that a later one can see. Built when first asked.
pub(crate) struct Exclusion<'c, 'a> {
    earlier: &'c Checked<'a>,
    later: &'c Checked<'a>,
    depth: usize,
    built: Option<Projection>,
    row: Vec<u32>,
}

struct Projection {
    words: Vec<FxHashMap<Vec<Symbol>, u32>>,
    rows: Rows,
    index: Index,
    /// For each word of the later lemma the number of its projection.
    later: Vec<Vec<Option<u32>>>,
}

impl<'c, 'a> Exclusion<'c, 'a> {
    pub(crate) fn new(earlier: &'c Checked<'a>, later: &'c Checked<'a>) -> Self {
        let depth = earlier.depth().min(later.depth()) as usize;
        Self { earlier, later, depth, built: None, row: Vec::new() }
    }

    /// Whether a view of the later lemma's depth is excluded: a row in which one thread has a word of its own.
    pub(crate) fn excludes(&mut self, row: &[u32], (changed, word): (usize, &[Symbol])) -> bool {
        let (earlier, later, depth) = (self.earlier, self.later, self.depth);
        let projection = self.built.get_or_insert_with(|| Projection::new(earlier, later, depth));
        self.row.clear();
        self.row.push(row[0]);
        for thread in 0..row.len() - 1 {
            let number = match thread == changed {
                true => projection.words[thread].get(cut(word, depth)).copied(),
                false => projection.later[thread][row[thread + 1] as usize],
            };
            let Some(number) = number else { return true };
            self.row.push(number);
        }
        !projection.index.contains(&projection.rows, &self.row)
    }
}

impl Projection {
    fn new(earlier: &Checked<'_>, later: &Checked<'_>, depth: usize) -> Self {
        let threads = earlier.lemma.threads.len();
        let mut words: Vec<FxHashMap<Vec<Symbol>, u32>> = vec![FxHashMap::default(); threads];
        let mut renumbered = Vec::new();
        for (thread, words) in words.iter_mut().enumerate() {
            let number = |word: &Vec<Symbol>| {
                let next = words.len() as u32;
                *words.entry(cut(word, depth).to_vec()).or_insert(next)
            };
            renumbered.push(earlier.lemma.threads[thread].words.iter().map(number).collect::<Vec<_>>());
        }
        let later = (0..threads).map(|thread| {
            let find = |word: &Vec<Symbol>| words[thread].get(cut(word, depth)).copied();
            later.lemma.threads[thread].words.iter().map(find).collect()
        });
        let later = later.collect();
        let mut projection = Self { words, rows: Rows::new(threads + 1), index: Index::new(), later };
        projection.fill(earlier, &renumbered);
        projection
    }

    fn fill(&mut self, earlier: &Checked<'_>, renumbered: &[Vec<u32>]) {
        for row in earlier.lemma.views.iter() {
            let words = row[1..].iter().zip(renumbered).map(|(&word, numbers)| numbers[word as usize]);
            self.rows.push([row[0]].into_iter().chain(words));
            if !self.index.add(&self.rows, self.rows.len() - 1) {
                self.rows.pop();
            }
        }
    }
}

fn cut(word: &[Symbol], depth: usize) -> &[Symbol] {
    &word[..depth.min(word.len())]
}
