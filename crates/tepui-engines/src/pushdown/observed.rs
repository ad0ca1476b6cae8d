//! Pushdown models with enumerated stacks, observed through the topmost symbols of each stack.

use std::sync::Arc;

use tepui_cert::pushdown::Trace;
use tepui_core::{Budget, Evidence, Stop};
use tepui_model::pushdown::Symbol;

use super::compiled::Compiled;
use super::evidence::certified;
use super::generators::{GeneratorTest, Pairs};
use super::least_set::Reached;
use super::stacks::Stacks;
use super::system::{Locals, Pushdown};
use super::trace::trace;
use crate::ids::{ThreadId, ViewId, WordId};
use crate::interner::Interner;
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;
use crate::system::{Observed, PathStep, System, Traced};
use crate::workers::Workers;

/// A pushdown model, whose threads keep their places, and its views of some depth.
pub struct ObservedPushdown {
    system: Pushdown<Stacks>,
    depth: usize,
    /// For each kind, the words that its stacks show.
    words: Vec<Words>,
    test: GeneratorTest,
}

#[derive(Default)]
struct Words {
    words: Interner<Vec<Symbol>>,
    /// For each stack the number of its word.
    of: Vec<WordId>,
}

impl ObservedPushdown {
    /// A model with views that show so many symbols of each stack. `first_depth` is where its closure test cuts stacks at
    /// first.
    pub fn new(model: impl Into<Arc<Compiled>>, depth: usize, first_depth: usize) -> Self {
        let compiled = model.into();
        let (stacks, symmetry) = (Stacks::new(&compiled), Symmetry::none(compiled.threads()));
        let words = compiled.kinds.iter().map(|_| Words::default()).collect();
        let test = GeneratorTest::new(first_depth.max(depth));
        Self { system: Pushdown::new(compiled, stacks, symmetry), depth: depth.max(1), words, test }
    }

    /// The same with a relation of what may come to light after a pop, for the closure test.
    #[must_use]
    pub fn with_pairs(mut self, pairs: Option<Pairs>) -> Self {
        self.test = self.test.with_pairs(pairs);
        self
    }
}

impl System for ObservedPushdown {
    type News = ();

    fn threads(&self) -> usize {
        self.system.threads()
    }

    fn fields(&self) -> Vec<u32> {
        self.system.fields()
    }

    fn initial(&mut self) -> Vec<u32> {
        self.system.initial()
    }

    fn is_interned(&self, row: &[u32]) -> bool {
        self.system.is_interned(row)
    }

    fn intern(&mut self, row: &[u32], budget: &mut Budget) -> Result<(), Stop> {
        self.system.intern(row, budget)
    }

    #[inline]
    fn steps(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        self.system.steps(thread, row, next, found)
    }

    fn bytes(&self) -> u64 {
        let words = |words: &Words| words.of.len() * 4 + words.words.len() * (96 + 8 * self.depth);
        self.system.bytes() + self.words.iter().map(words).sum::<usize>() as u64
    }
}

impl Observed for ObservedPushdown {
    type Proof = Evidence;

    fn view_fields(&self) -> Vec<u32> {
        self.fields()
    }

    fn prepare(&mut self, _: &mut Budget) -> Result<(), Stop> {
        for (kind, words) in self.words.iter_mut().enumerate() {
            for stack in words.of.len()..self.system.locals.count(kind) {
                let word = self.system.locals.word(kind, stack as u32, self.depth);
                words.of.push(WordId(words.words.intern(word)));
            }
        }
        Ok(())
    }

    fn view(&self, row: &[u32], view: &mut [u32]) {
        view[0] = row[0];
        for (field, &kind) in (1..).zip(&self.system.compiled.kind_of) {
            view[field] = self.words[kind].of[row[field] as usize].0;
        }
    }

    fn properties(&self) -> usize {
        self.system.compiled.model.properties().len()
    }

    fn violates(&self, property: usize, view: &[u32]) -> bool {
        let compiled = &self.system.compiled;
        let top = |thread: usize| self.words[compiled.kind_of[thread]].words[view[thread + 1]][0];
        compiled.model.properties()[property].forbids(compiled.shared(view[0]), top)
    }

    fn closed(
        &mut self,
        reached: &PackedSet<ViewId>,
        states: usize,
        exhausted: bool,
        violated: &[bool],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Option<Evidence>, Stop> {
        let Pushdown { compiled, symmetry, .. } = &self.system;
        let number = |thread: ThreadId, word: &[Symbol]| {
            let words = &self.words[compiled.kind_of[thread.index()]].words;
            words.get(word).map(WordId)
        };
        let reached = Reached { views: reached, states, depth: self.depth, number: &number };
        let evidence = self.test.run(compiled, symmetry, reached, exhausted, workers, budget)?;
        if evidence.is_none() && exhausted {
            self.test.nothing_new_will_come()?;
        }
        Ok(evidence.map(|evidence| certified(evidence, &compiled.model, |property| violated[property])))
    }

    fn list(&self, views: &PackedSet<ViewId>, violating: bool, _: &Workers, budget: &mut Budget) -> Vec<String> {
        let Pushdown { compiled, symmetry, .. } = &self.system;
        let word = |thread: ThreadId, word: u32| self.words[compiled.kind_of[thread.index()]].words[word].clone();
        compiled.list_views(views, symmetry, word, violating, budget)
    }
}

impl Traced for ObservedPushdown {
    type Trace = Trace;

    fn trace(&self, property: usize, initial: &[u32], path: &[PathStep], budget: &mut Budget) -> Result<Trace, Stop> {
        let Pushdown { compiled, symmetry, .. } = &self.system;
        trace(&compiled.model, property, symmetry, self.system.real_steps(initial, path), budget)
    }
}
