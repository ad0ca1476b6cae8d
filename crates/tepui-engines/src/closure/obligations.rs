//! What a proof still owes at one depth of views.
//!
//! Let A be the views, of depth b, of the states reached. A is closed if every step from a view of A leads to a view
//! of A, where a pop may bring anything to light that may lie below. Then A holds all views, because the states were
//! reached, and no others, because A is inductive.
//!
//! Steps other than pops respect views: they lead from equal views to equal views. So if, for each view of A, one state
//! that shows it has been expanded, their results are in A, and nothing has to be done for them. What has to be looked
//! after is the pops of words with something unknown below: each symbol that may lie below such a word is an
//! *obligation* to reach the view that it would bring to light. An obligation is met when a state with that view is
//! reached; those that are not met yet are counted. Each pair of a view and a rule is looked at once, when the view is
//! new, and once more for each symbol that turns out to lie below its word later: the pops wait for that.

use rustc_hash::FxHashMap;
use tepui_cert::Lemma;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use crate::crew::Crew;
use crate::explorer::number_rows;
use crate::packed::PackedSet;
use crate::pushdown::abstraction::lemma;
use crate::pushdown::compiled::Compiled;
use crate::pushdown::grams::{Grams, Reaction};
use crate::pushdown::stacks::Stacks;
use crate::pushdown::system::Pushdown;
use crate::symmetry::Symmetry;

/// The obligations of one depth.
pub struct Obligations {
    grams: Grams,
    /// For each thread and stack, the number of the stack's word.
    words: Vec<Vec<u32>>,
    /// The views reached.
    pub views: PackedSet,
    /// How many of them have been looked at.
    seen: u32,
    /// For each thread and word, the views from which the thread, or one that is interchangeable with it, pops the word.
    waiting: Vec<Vec<Vec<u32>>>,
    /// All views that were ever owed, and for each where it came from.
    owed: PackedSet,
    dues: Vec<Due>,
    open: usize,
    /// For views with obligations that are not met, how many.
    wanting: FxHashMap<u32, u32>,
    /// Views that are shown by no state that has been expanded.
    unexpanded: usize,
    /// Views that pops may lead to and that have not been looked up yet, each with where it comes from.
    targets: Vec<u32>,
    origins: Vec<(u32, u16, Symbol)>,
}

/// How many views are looked up together.
const GROUP: usize = 64;

/// An obligation: a view, a thread that may pop there, and what would come to light.
#[derive(Clone, Copy)]
struct Due {
    view: u32,
    place: u16,
    symbol: Symbol,
    met: bool,
}

impl Obligations {
    /// No views yet.
    pub fn new(compiled: &Compiled, symmetry: &Symmetry, depth: usize) -> Self {
        let (grams, _) = Grams::new(compiled, symmetry, depth);
        let threads = compiled.threads();
        let empty = || PackedSet::new((0..=threads).map(|field| if field == 0 { compiled.shared_count() } else { 1 }));
        Self {
            grams,
            words: vec![Vec::new(); threads],
            views: empty(),
            seen: 0,
            waiting: vec![Vec::new(); threads],
            owed: empty(),
            dues: Vec::new(),
            open: 0,
            wanting: FxHashMap::default(),
            unexpanded: 0,
            targets: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Nothing but the views of other obligations, which can be listed.
    pub fn with_views(compiled: &Compiled, symmetry: &Symmetry, other: &Self) -> Self {
        let mut new = Self::new(compiled, symmetry, other.depth());
        new.views = other.views.clone();
        for thread in 0..compiled.threads() {
            for word in 0..other.grams.word_count(thread) as u32 {
                new.grams.word_of(thread, other.grams.word(thread, word));
            }
        }
        new
    }

    /// The views in the notation of the model, sorted.
    pub fn list(&self, compiled: &Compiled, symmetry: &Symmetry, violating: bool) -> Vec<String> {
        let word = |thread: usize, word: u32| self.grams.word(thread, word).to_vec();
        compiled.list_views(&self.views, symmetry, word, violating)
    }

    /// How many symbols of each stack the views show.
    pub fn depth(&self) -> usize {
        self.grams.depth()
    }

    /// How many obligations are not met.
    pub fn open(&self) -> usize {
        self.open
    }

    /// How many views have been looked at.
    pub fn looked_at(&self) -> u32 {
        self.seen
    }

    /// Whether the views are closed: every obligation is met, and a state of each view has been expanded.
    pub fn closed(&self) -> bool {
        self.open == 0 && self.unexpanded == 0
    }

    /// Whether a view has obligations that are not met.
    pub fn wants(&self, view: u32) -> bool {
        self.wanting.contains_key(&view)
    }

    /// A state that shows a new view will be expanded, or has been.
    pub fn will_expand(&mut self) {
        self.unexpanded += 1;
    }

    /// A state that was the first to show some view has been expanded.
    pub fn has_expanded(&mut self) {
        self.unexpanded -= 1;
    }

    /// Adds the views of states; returns the number of each one's view.
    pub fn add(&mut self, system: &Pushdown<Stacks>, states: &PackedSet, which: &[u32], crew: &Crew) -> Vec<u32> {
        let Pushdown { compiled, locals, symmetry } = system;
        let depth = self.grams.depth();
        for thread in (0..compiled.threads()).filter(|&thread| symmetry.leader(thread) == thread) {
            let kind = compiled.kind_of[thread];
            for stack in self.words[thread].len()..locals.count(kind) {
                let word = self.grams.word_of(thread, &locals.word(kind, stack as u32, depth));
                self.words[thread].push(word);
            }
        }
        let words = &self.words;
        number_rows(states, which, &mut self.views, crew, |row, view| {
            view[0] = row[0];
            for thread in 0..row.len() - 1 {
                view[thread + 1] = words[symmetry.leader(thread)][row[thread + 1] as usize];
            }
            symmetry.sort(view);
        })
    }

    /// Works out what the new views owe, and which obligations they meet.
    pub fn update(&mut self, compiled: &Compiled, symmetry: &Symmetry, budget: &mut Budget) -> Result<(), Stop> {
        let mut row = vec![0; self.views.width()];
        if self.open > 0 {
            for view in self.seen..self.views.len() as u32 {
                self.views.get(view, &mut row);
                self.meet(&row);
            }
        }
        while (self.seen as usize) < self.views.len() {
            self.views.get(self.seen, &mut row);
            self.look_at(compiled, symmetry, &row);
            self.seen += 1;
            budget.spend(1)?;
            if self.origins.len() >= GROUP {
                self.look_up();
            }
        }
        while let Some(fresh) = self.grams.next_fresh() {
            let waiting = self.waiting[fresh.thread].get(fresh.word as usize).map_or(0, Vec::len);
            for index in 0..waiting {
                let view = self.waiting[fresh.thread][fresh.word as usize][index];
                self.views.get(view, &mut row);
                let Some(place) = symmetry.place_of(&row, fresh.thread, fresh.word) else { continue };
                let (start, end) = self.grams.react(compiled, place, (row[0], fresh.word));
                for index in start..end {
                    if let Reaction::Reveal(shared) = self.grams.reaction(place, index) {
                        self.aim(symmetry, &row, (view, place as u16), shared, fresh.symbol);
                    }
                }
                budget.spend(1)?;
            }
        }
        self.look_up();
        Ok(())
    }

    /// The views as a lemma of a certificate. The views are given up for it.
    pub fn into_lemma(mut self, compiled: &Compiled, symmetry: &Symmetry) -> Lemma {
        self.owed = PackedSet::new([1]);
        lemma(compiled, symmetry, &self.grams, self.views)
    }

    /// The topmost symbol of a word.
    pub fn top(&self, thread: usize, word: u32) -> Symbol {
        self.grams.word(thread, word)[0]
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let waiting: usize = self.waiting.iter().flatten().map(|list| list.capacity() * 4 + 24).sum();
        let words: usize = self.words.iter().map(|words| words.len() * 4).sum();
        self.views.bytes() + self.owed.bytes() + self.grams.bytes() + (waiting + words + self.dues.len() * 16) as u64
    }

    /// Some obligations that are not met, in words.
    pub fn explain(&self, compiled: &Compiled, most: usize) -> Vec<String> {
        let model = &compiled.model;
        let mut row = vec![0; self.views.width()];
        let unmet = self.dues.iter().filter(|due| !due.met).take(most);
        let explain = |due: &Due| {
            self.views.get(due.view, &mut row);
            let place = usize::from(due.place);
            let words: Vec<_> = (1..row.len()).map(|field| self.grams.word(field - 1, row[field]).to_vec()).collect();
            let thread = &model.threads()[place];
            format!(
                "at {} thread {} may pop {}; {} may lie below, but no state reached so far shows that",
                compiled.show_view(compiled.shared(row[0]), &words),
                thread.name,
                thread.symbol_name(self.top(place, row[place + 1])),
                match due.symbol.is_bottom() {
                    true => "nothing",
                    false => thread.symbol_name(due.symbol),
                },
            )
        };
        unmet.map(explain).collect()
    }

    fn look_at(&mut self, compiled: &Compiled, symmetry: &Symmetry, row: &[u32]) {
        let view = self.seen;
        for thread in 0..row.len() - 1 {
            if symmetry.repeats(row, thread) {
                continue;
            }
            let word = row[thread + 1];
            let (start, end) = self.grams.react(compiled, thread, (row[0], word));
            let mut waits = false;
            for index in start..end {
                let Reaction::Reveal(shared) = self.grams.reaction(thread, index) else { continue };
                waits = true;
                for below in 0..self.grams.below(thread, word).len() {
                    let symbol = self.grams.below(thread, word)[below];
                    self.aim(symmetry, row, (view, thread as u16), shared, symbol);
                }
            }
            if waits {
                let waiting = &mut self.waiting[symmetry.leader(thread)];
                if waiting.len() <= word as usize {
                    waiting.resize(word as usize + 1, Vec::new());
                }
                waiting[word as usize].push(view);
            }
        }
    }

    /// A pop from a view, whose row is given, may bring a symbol to light.
    fn aim(&mut self, symmetry: &Symmetry, row: &[u32], (view, place): (u32, u16), shared: u32, symbol: Symbol) {
        let (start, thread) = (self.targets.len(), usize::from(place));
        self.targets.extend_from_slice(row);
        let target = &mut self.targets[start..];
        (target[0], target[thread + 1]) = (shared, self.grams.revealed(thread, row[thread + 1], symbol));
        symmetry.settle(target, thread);
        self.origins.push((view, place, symbol));
    }

    /// Finds out which of the views that pops may lead to have not been reached.
    fn look_up(&mut self) {
        let targets = std::mem::take(&mut self.targets);
        self.views.warm(&targets);
        for (target, (view, place, symbol)) in targets.chunks_exact(self.views.width()).zip(self.origins.drain(..)) {
            if self.views.find(target).is_none() && self.owed.insert(target).1 {
                self.dues.push(Due { view, place, symbol, met: false });
                *self.wanting.entry(view).or_insert(0) += 1;
                self.open += 1;
            }
        }
        self.targets = targets;
        self.targets.clear();
    }

    fn meet(&mut self, row: &[u32]) {
        let Some(number) = self.owed.find(row) else { return };
        let due = &mut self.dues[number as usize];
        if !std::mem::replace(&mut due.met, true) {
            self.open -= 1;
            if let Some(count) = self.wanting.get_mut(&due.view) {
                *count -= 1;
                if *count == 0 {
                    self.wanting.remove(&due.view);
                }
            }
        }
    }
}
