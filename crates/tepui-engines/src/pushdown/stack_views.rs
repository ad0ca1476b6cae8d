//! Views of stacks: the shared state, and the topmost b symbols of each stack.
//!
//! Pushes and overwrites respect these views, and so do pops of words that end with the marker of the empty stack. A pop of
//! a word with something unknown below owes a view for each symbol that may lie there; which ones may is learned from the
//! views ([`grams`](super::grams)), and each one that is found is a fact.

use std::ops::Range;

use tepui_cert::pushdown::{Certificate, Lemma, Trace};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::grams::{Grams, Reaction, moving};
use super::lemma::lemma;
use super::prefilter::Prefilter;
use super::returns::deterministic_returns;
use super::shorten::shorten;
use super::stacks::Stacks;
use super::system::{Locals, Pushdown};
use super::trace::trace;
use super::words::Fact;
use crate::abstraction::{Abstraction, Describe, Key, Way};
use crate::explored::{Chosen, Explored};
use crate::explorer::number_rows;
use crate::ids::{Id, ThreadId, Threads, ViewId, WordId};
use crate::obligations::Targets;
use crate::packed::PackedSet;
use crate::system::PathStep;
use crate::workers::Workers;

/// Views that show the topmost symbols of stacks, as many as the level says.
pub struct StackViews {
    grams: Grams,
    /// For each thread and stack, the number of the stack's word.
    words: Vec<Vec<WordId>>,
    /// Whether cells of views are stacks instead of words, because no stack is ever higher than one symbol.
    exact: bool,
}

/// A pop that owes a view: the place of the thread, and the word that would come to light.
#[derive(Clone, Copy, Debug)]
pub struct Pop {
    place: ThreadId,
    revealed: WordId,
}

impl StackViews {
    fn at_depth(system: &Pushdown<Stacks>, depth: usize, exact: bool) -> Self {
        let Pushdown { compiled, symmetry, .. } = system;
        let (grams, _) = Grams::new(compiled, symmetry, depth);
        Self { grams, words: vec![Vec::new(); compiled.threads()], exact }
    }

    /// The topmost symbol that a cell of a view shows.
    #[inline]
    fn top(&self, system: &Pushdown<Stacks>, thread: ThreadId, cell: u32) -> Symbol {
        if self.exact {
            system.locals.top(system.compiled.kind_of[thread.index()], cell)
        } else {
            self.grams.words.word(thread, WordId(cell))[0]
        }
    }

    /// The lemma of a closed set of views, or of all states where these are views.
    pub fn lemma(
        &self,
        system: &Pushdown<Stacks>,
        views: (PackedSet<ViewId>, Option<Explored>),
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Lemma, Stop> {
        let Pushdown { compiled, symmetry, .. } = system;
        if !self.exact {
            return lemma(
                symmetry,
                &self.grams.words,
                views,
                compiled.shared_numbers(),
                |_, word| WordId(word),
                workers,
                budget,
            );
        }
        let (grams, words) = self.flat_grams(system);
        let word = |thread: ThreadId, stack: u32| words[symmetry.leader(thread).index()][stack as usize];
        lemma(symmetry, &grams.words, views, compiled.shared_numbers(), word, workers, budget)
    }

    /// The words of a flat model, where nothing lies below any symbol, and for each stack its word.
    fn flat_grams(&self, system: &Pushdown<Stacks>) -> (Grams, Vec<Vec<WordId>>) {
        let Pushdown { compiled, locals, symmetry, .. } = system;
        let (mut grams, _) = Grams::new(compiled, symmetry, 1);
        let mut words = vec![Vec::new(); compiled.threads()];
        for thread in Threads::all(compiled.threads()).filter(|&thread| symmetry.leader(thread) == thread) {
            let kind = compiled.kind_of[thread.index()];
            for stack in 0..locals.count(kind) as u32 {
                let word = locals.word(kind, stack, 1);
                words[thread.index()].push(grams.words.word_of(thread, &word));
                if !word[0].is_bottom() {
                    grams.words.allow(thread, word[0], Symbol::BOTTOM);
                }
            }
        }
        (grams, words)
    }
}

impl Abstraction<Pushdown<Stacks>> for StackViews {
    type Fact = Fact;
    type Why = Pop;
    type Prefilter = Prefilter;
    type Certificate = Certificate;
    type Trace = Trace;

    fn new(system: &Pushdown<Stacks>, level: usize) -> Self {
        Self::at_depth(system, level, false)
    }

    fn exact(system: &Pushdown<Stacks>, level: usize) -> Option<Self> {
        (level <= 1 && system.compiled.is_flat()).then(|| Self::at_depth(system, level, true))
    }

    fn level(&self) -> usize {
        self.grams.words.depth()
    }

    fn fields(&self, system: &Pushdown<Stacks>) -> Vec<u32> {
        let threads = system.compiled.threads();
        (0..=threads).map(|field| if field == 0 { system.compiled.shared_count() } else { 1 }).collect()
    }

    fn prepare(&mut self, system: &Pushdown<Stacks>, budget: &mut Budget) -> Result<(), Stop> {
        let Pushdown { compiled, locals, symmetry, .. } = system;
        let depth = self.grams.words.depth();
        for thread in Threads::all(compiled.threads()).filter(|&thread| symmetry.leader(thread) == thread) {
            let kind = compiled.kind_of[thread.index()];
            for stack in self.words[thread.index()].len()..locals.count(kind) {
                let word = locals.word(kind, stack as u32, depth);
                self.words[thread.index()].push(self.grams.words.word_of(thread, &word));
                budget.pass(word.len() as u64)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn view(&self, system: &Pushdown<Stacks>, row: &[u32], view: &mut [u32]) {
        view[0] = row[0];
        for thread in Threads::of(row) {
            view[thread.field()] = self.words[system.symmetry.leader(thread).index()][row[thread.field()] as usize].0;
        }
        system.symmetry.canonicalise(view);
    }

    #[inline]
    fn orbit(&self, system: &Pushdown<Stacks>, view: &[u32]) -> u64 {
        system.symmetry.orbit(view)
    }

    fn properties(system: &Pushdown<Stacks>) -> usize {
        system.compiled.model.properties().len()
    }

    fn prefilter(system: &Pushdown<Stacks>, properties: Range<usize>) -> Prefilter {
        let Pushdown { compiled, symmetry, .. } = system;
        Prefilter::of(compiled, symmetry, &compiled.model.properties()[properties])
    }

    #[inline]
    fn may_violate(&self, system: &Pushdown<Stacks>, prefilter: &Prefilter, view: &[u32]) -> bool {
        prefilter.include(view[0], |thread| self.top(system, thread, view[thread.field()]).0)
    }

    fn violates(&self, system: &Pushdown<Stacks>, property: usize, view: &[u32]) -> bool {
        let top = |thread: ThreadId| self.top(system, thread, view[thread.field()]);
        let property = &system.compiled.model.properties()[property];
        system.compiled.violates(property, &system.symmetry, view[0], top)
    }

    fn state_violates(system: &Pushdown<Stacks>, prefilter: &Prefilter, property: usize, row: &[u32]) -> bool {
        let top = |thread: ThreadId| system.locals.top(system.compiled.kind_of[thread.index()], row[thread.field()]);
        let property = &system.compiled.model.properties()[property];
        prefilter.include(row[0], |thread| top(thread).0)
            && system.compiled.violates(property, &system.symmetry, row[0], top)
    }

    fn learn(
        &mut self,
        system: &mut Pushdown<Stacks>,
        views: &PackedSet<ViewId>,
        which: &[ViewId],
        explored: &Explored,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        self.grams.react_to(&system.compiled, &system.symmetry, (views, explored), which, workers, budget)
    }

    fn next_fact(&mut self) -> Option<Fact> {
        self.grams.words.next_fact()
    }

    fn key(fact: Fact) -> Key {
        fact.key()
    }

    fn watches(&self, system: &Pushdown<Stacks>, view: &[u32], explored: Chosen<'_>, keys: &mut Vec<Key>) {
        self.grams.popped_words(&system.symmetry, view, explored, keys);
    }

    #[inline]
    fn owed(&self, system: &Pushdown<Stacks>, view: &[u32], explored: Chosen<'_>, targets: &mut Targets<Pop>) {
        for thread in moving(&system.symmetry, view, explored) {
            let word = WordId(view[thread.field()]);
            for reaction in self.grams.known_reactions(thread, (view[0], word)).unwrap_or_default() {
                let Reaction::Reveal(shared) = *reaction else { continue };
                for &revealed in self.grams.words.revealed(thread, word) {
                    let target = targets.add(view, Pop { place: thread, revealed });
                    (target[0], target[thread.field()]) = (shared, revealed.0);
                    system.symmetry.canonicalise_at(target, thread);
                }
            }
        }
    }

    fn owed_for(
        &self,
        system: &Pushdown<Stacks>,
        fact: Fact,
        view: &[u32],
        explored: Chosen<'_>,
        targets: &mut Targets<Pop>,
    ) {
        let Fact { revealed, .. } = fact;
        self.grams.pops_above(fact, &system.symmetry, (view, explored), |thread, shared| {
            let target = targets.add(view, Pop { place: thread, revealed });
            (target[0], target[thread.field()]) = (shared, revealed.0);
            system.symmetry.canonicalise_at(target, thread);
        });
    }

    fn shown_of(&self, system: &Pushdown<Stacks>, row: &[u32], thread: ThreadId) -> u32 {
        self.words[system.symmetry.leader(thread).index()][row[thread.field()] as usize].0
    }

    fn way(&self, _: &Pushdown<Stacks>, view: &[u32], thread: ThreadId) -> Way {
        let word = WordId(view[thread.field()]);
        let reactions = self.grams.known_reactions(thread, (view[0], word)).unwrap_or_default();
        let pops = reactions.iter().filter(|reaction| matches!(reaction, Reaction::Reveal(_))).count();
        match pops {
            0 => Way::Each,
            pops if pops == reactions.len() => Way::Owed,
            _ => Way::Unsure,
        }
    }

    fn certificate(
        &self,
        system: &Pushdown<Stacks>,
        views: PackedSet<ViewId>,
        explored: Option<Explored>,
        violated: &[bool],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Certificate, Stop> {
        let model = &system.compiled.model;
        let lemmas = vec![self.lemma(system, (views, explored), workers, budget)?];
        let proved = model.properties().iter().zip(violated).filter(|(_, violated)| !**violated);
        let properties = proved.map(|(property, _)| property.clone()).collect();
        Ok(Certificate { model: model.digest(), properties, lemmas, regular: None })
    }

    fn trace(
        system: &Pushdown<Stacks>,
        property: usize,
        initial: &[u32],
        path: &[PathStep],
        budget: &mut Budget,
    ) -> Result<Trace, Stop> {
        let (steps, model) = (system.real_steps(initial, path), &system.compiled.model);
        let found = trace(model, property, &system.symmetry, steps, budget)?;
        Ok(shorten(model, found, budget))
    }

    fn bytes(&self) -> u64 {
        let words: usize = self.words.iter().map(|words| words.len() * 4).sum();
        self.grams.bytes() + words as u64
    }
}

impl Describe<Pushdown<Stacks>> for StackViews {
    fn because(system: &Pushdown<Stacks>, depth: usize) -> String {
        match depth {
            1 if deterministic_returns(&system.compiled) == Some(true) => {
                "the views reached are closed under every step; every return leads to one place only, so this is decidable"
                    .to_owned()
            }
            1 => "the views reached are closed under every step".to_owned(),
            depth => format!("the views reached, of depth {depth}, are closed under every step"),
        }
    }

    fn stored(system: &Pushdown<Stacks>) -> [&'static str; 2] {
        if system.symmetry.is_trivial() { ["state", "states"] } else { ["orbit of states", "orbits of states"] }
    }

    fn unmet(depth: usize, open: usize) -> String {
        let views = match depth {
            1 => "showing the top of each stack".to_owned(),
            depth => format!("showing the topmost {depth} symbols of each stack"),
        };
        let count = match open {
            1 => "1 view that a pop may lead to has not been reached".to_owned(),
            open => format!("{open} views that pops may lead to have not been reached"),
        };
        format!("with views {views}, {count}")
    }

    fn explain(&self, system: &Pushdown<Stacks>, view: &[u32], why: Pop) -> String {
        let (compiled, place) = (&system.compiled, why.place.index());
        let word = |thread: ThreadId| self.grams.words.word(thread, WordId(view[thread.field()])).to_vec();
        let words: Vec<_> = Threads::of(view).map(word).collect();
        let thread = &compiled.model.threads()[place];
        format!(
            "at {} thread {} may pop {}; {} may lie below, but no state reached so far shows that",
            compiled.show_view(compiled.shared(view[0]), &words),
            thread.name,
            thread.symbol_name(words[place][0]),
            match self.grams.words.word(why.place, why.revealed).last() {
                Some(&symbol) if !symbol.is_bottom() => thread.symbol_name(symbol),
                _ => "nothing",
            },
        )
    }

    fn list<I: Id>(
        &self,
        system: &Pushdown<Stacks>,
        views: &PackedSet<I>,
        violating: bool,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Vec<String> {
        let Pushdown { compiled, symmetry, .. } = system;
        if self.exact {
            // States are listed by their words, as views of other models are.
            let mut words = Self::new(system, self.level());
            let mut listed = PackedSet::<ViewId>::new(words.fields(system));
            let all: Vec<_> = views.ids().collect();
            let _ = words.prepare(system, budget).and_then(|()| {
                number_rows(views, &all, &mut listed, workers, budget, |row, view| words.view(system, row, view))
            });
            return words.list(system, &listed, violating, workers, budget);
        }
        let word = |thread: ThreadId, word: u32| self.grams.words.word(thread, WordId(word)).to_vec();
        compiled.list_views(views, symmetry, word, violating, budget)
    }
}
