//! Views that may violate something, known by a single cell.
//!
//! A property may have thousands of patterns, and most views are covered by none of them. A pattern that names a top, or
//! else a shared state, covers only views that show it, so that one access for each cell of a view says whether it has to be
//! compared at all.

use rustc_hash::FxHashMap;
use tepui_model::pushdown::Property;

use super::compiled::Compiled;
use crate::ids::{ThreadId, Threads};
use crate::symmetry::Symmetry;

/// The views that may violate something.
pub struct Prefilter {
    shared: Vec<bool>,
    /// For each thread its symbols.
    tops: Vec<Vec<bool>>,
    /// Whether some pattern covers everything.
    all: bool,
}

impl Prefilter {
    /// The views that may violate some of the properties.
    pub fn of(compiled: &Compiled, symmetry: &Symmetry, properties: &[Property]) -> Self {
        let threads = compiled.model.threads();
        let symbols = threads.iter().map(|thread| vec![false; thread.symbol_count() as usize]);
        let shared = vec![false; compiled.shared_count() as usize];
        let numbers: FxHashMap<_, _> = (0..compiled.shared_count()).map(|n| (compiled.shared(n), n)).collect();
        let mut prefilter = Self { shared, tops: symbols.collect(), all: false };
        for pattern in properties.iter().flat_map(|property| &property.never) {
            let top = Threads::all(threads.len()).zip(&pattern.tops).find_map(|(thread, top)| Some((thread, (*top)?)));
            match (top, pattern.shared) {
                (Some((thread, top)), _) => {
                    let alike =
                        Threads::all(threads.len()).filter(|&other| symmetry.leader(other) == symmetry.leader(thread));
                    alike.for_each(|other| prefilter.tops[other.index()][top.0 as usize] = true);
                }
                (None, Some(wanted)) => {
                    numbers.get(&wanted).into_iter().for_each(|&shared| prefilter.shared[shared as usize] = true);
                }
                (None, None) => prefilter.all = true,
            }
        }
        prefilter
    }

    /// Whether a view, given as a shared state and symbols, has to be compared.
    #[inline]
    pub fn include(&self, shared: u32, top: impl Fn(ThreadId) -> u32) -> bool {
        let may_violate = |(thread, tops): (ThreadId, &Vec<bool>)| tops[top(thread) as usize];
        self.all || self.shared[shared as usize] || Threads::all(self.tops.len()).zip(&self.tops).any(may_violate)
    }
}
