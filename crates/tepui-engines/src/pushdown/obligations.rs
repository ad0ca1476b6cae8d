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
//! reached; those that are not met yet are counted. Each pair of a view and a rule is looked at once, and once more for
//! each symbol that turns out to lie below its word later: the pops wait for that.

use tepui_cert::pushdown::Lemma;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::abstraction::lemma;
use super::compiled::Compiled;
use super::grams::{Fresh, Grams, Reaction};
use super::stacks::Stacks;
use super::system::Pushdown;
use super::waiting::{Waiting, wake};
use crate::crew::Crew;
use crate::explorer::number_rows;
use crate::packed::{Batch, PackedSet};
use crate::symmetry::Symmetry;

/// The obligations of one depth.
pub struct Obligations {
    grams: Grams,
    /// For each thread and stack, the number of the stack's word.
    words: Vec<Vec<u32>>,
    /// The views reached.
    pub views: PackedSet,
    /// How many of them have been compared with what is owed.
    compared: u32,
    waiting: Waiting,
    /// All views that were ever owed, and for each where it came from.
    owed: PackedSet,
    dues: Vec<Due>,
    open: usize,
    /// For each view, how many of its obligations are not met; may end before the last view.
    wanting: Vec<u32>,
    /// Views that are shown by no state that has been expanded.
    unexpanded: usize,
}

/// How many views are looked up together.
const GROUP: usize = 64;
/// The most views that are looked at before what was found is put into lists.
const VIEWS_AT_ONCE: usize = 1 << 15;

/// An obligation: a view, a thread that may pop there, and the word that would come to light.
#[derive(Clone, Copy)]
struct Due {
    view: u32,
    place: u16,
    revealed: u32,
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
            compared: 0,
            waiting: Waiting::default(),
            owed: empty(),
            dues: Vec::new(),
            open: 0,
            wanting: Vec::new(),
            unexpanded: 0,
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
    pub fn list(&self, compiled: &Compiled, symmetry: &Symmetry, violating: bool, budget: &mut Budget) -> Vec<String> {
        let word = |thread: usize, word: u32| self.grams.word(thread, word).to_vec();
        compiled.list_views(&self.views, symmetry, word, violating, budget)
    }

    /// How many symbols of each stack the views show.
    pub fn depth(&self) -> usize {
        self.grams.depth()
    }

    /// How many obligations are not met.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Whether the views are closed: every obligation is met, and a state of each view has been expanded.
    pub fn closed(&self) -> bool {
        self.open == 0 && self.unexpanded == 0
    }

    /// Whether a view has obligations that are not met.
    pub fn wants(&self, view: u32) -> bool {
        self.wanting.get(view as usize).is_some_and(|&open| open > 0)
    }

    /// So many states that show new views will be expanded, one for each.
    pub fn will_expand(&mut self, count: usize) {
        self.unexpanded += count;
    }

    /// So many states that were the first to show some view have been expanded.
    pub fn has_expanded(&mut self, count: usize) {
        self.unexpanded -= count;
    }

    /// Adds the views of states; returns the number of each one's view.
    pub fn add(
        &mut self,
        system: &Pushdown<Stacks>,
        states: &PackedSet,
        which: &[u32],
        crew: &Crew,
        budget: &mut Budget,
    ) -> Result<Vec<u32>, Stop> {
        let Pushdown { compiled, locals, symmetry } = system;
        let depth = self.grams.depth();
        for thread in (0..compiled.threads()).filter(|&thread| symmetry.leader(thread) == thread) {
            let kind = compiled.kind_of[thread];
            for stack in self.words[thread].len()..locals.count(kind) {
                let word = locals.word(kind, stack as u32, depth);
                self.words[thread].push(self.grams.word_of(thread, &word));
                budget.pass(word.len() as u64)?;
            }
        }
        let words = &self.words;
        number_rows(states, which, &mut self.views, crew, budget, |row, view| {
            view[0] = row[0];
            for thread in 0..row.len() - 1 {
                view[thread + 1] = words[symmetry.leader(thread)][row[thread + 1] as usize];
            }
            symmetry.sort(view);
        })
    }

    /// Works out what views owe, given by their numbers, each once. It is best asked when a state that shows the view has
    /// been expanded: then most of what may come to light has been reached already.
    pub fn look_at(
        &mut self,
        views: &[u32],
        compiled: &Compiled,
        symmetry: &Symmetry,
        crew: &Crew,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        if self.open > 0 {
            let new: Vec<_> = (self.compared..self.views.len() as u32).collect();
            for new in new.chunks(VIEWS_AT_ONCE) {
                let met = crew.cut(new, |piece| self.owed_among(piece));
                met.into_iter().flatten().for_each(|due| self.meet(due));
                budget.pass(new.len() as u64)?;
            }
        }
        self.compared = self.views.len() as u32;
        for views in views.chunks(VIEWS_AT_ONCE) {
            self.grams.react_to(compiled, symmetry, &self.views, views, crew, budget)?;
            // The views at hand see all that may lie below; those that were looked at before have to be told.
            while let Some(fresh) = self.grams.next_fresh() {
                self.wake(fresh, symmetry, crew, budget)?;
            }
            let demands = crew.cut(views, |piece| {
                let mut demand = self.demands(piece, symmetry);
                self.owed.seal(&mut demand.batch, crew);
                demand
            });
            budget.spend(views.len() as u64)?;
            self.waiting.note(views.to_vec());
            self.owe(demands, crew);
        }
        Ok(())
    }

    /// Tells views that were looked at before of a word that may come to light.
    fn wake(&mut self, fresh: Fresh, symmetry: &Symmetry, crew: &Crew, budget: &mut Budget) -> Result<(), Stop> {
        let waiting = self.waiting.take(fresh, &self.grams, symmetry, &self.views, budget)?;
        budget.spend(1)?;
        for views in waiting.chunks(VIEWS_AT_ONCE) {
            let (mut targets, mut demand) = (Targets::default(), Demand::default());
            wake(fresh, views, &self.grams, symmetry, &self.views, |view, row, place, shared| {
                targets.aim(symmetry, row, (view, place as u16), shared, fresh.revealed);
            });
            budget.spend(targets.origins.len() as u64)?;
            self.demand(&mut targets, &mut demand);
            self.owe(vec![demand], crew);
        }
        self.waiting.keep(fresh, waiting);
        Ok(())
    }

    /// The obligations that some views meet.
    fn owed_among(&self, views: &[u32]) -> Vec<u32> {
        let (mut row, mut batch) = (vec![0; self.views.width()], Batch::default());
        for &view in views {
            self.views.get(view, &mut row);
            self.owed.pack(&row, &mut batch);
        }
        self.owed.find_all(&batch).flatten().collect()
    }

    /// What some views demand: views that pops from them may lead to and that are not there.
    fn demands(&self, views: &[u32], symmetry: &Symmetry) -> Demand {
        let (mut row, mut demand, mut targets) = (vec![0; self.views.width()], Demand::default(), Targets::default());
        for group in views.chunks(GROUP) {
            for &view in group {
                self.views.get(view, &mut row);
                for thread in 0..row.len() - 1 {
                    let word = row[thread + 1];
                    if symmetry.repeats(&row, thread) {
                        continue;
                    }
                    for reaction in self.grams.known_reactions(thread, (row[0], word)).unwrap_or_default() {
                        let Reaction::Reveal(shared) = *reaction else { continue };
                        for &revealed in self.grams.revealed(thread, word) {
                            targets.aim(symmetry, &row, (view, thread as u16), shared, revealed);
                        }
                    }
                }
            }
            self.demand(&mut targets, &mut demand);
        }
        demand
    }

    /// Demands the targets that are not there, and forgets all of them.
    fn demand(&self, targets: &mut Targets, demand: &mut Demand) {
        let rows = targets.rows.chunks_exact(self.views.width());
        rows.clone().for_each(|row| self.views.pack(row, &mut targets.batch));
        for ((row, &origin), number) in rows.zip(&targets.origins).zip(self.views.find_all(&targets.batch)) {
            if number.is_none() {
                self.owed.pack(row, &mut demand.batch);
                demand.origins.push(origin);
            }
        }
        targets.rows.clear();
        targets.origins.clear();
        targets.batch.clear();
    }

    /// The views as a lemma of a certificate. The views are given up for it.
    pub fn into_lemma(
        mut self,
        compiled: &Compiled,
        symmetry: &Symmetry,
        crew: &Crew,
        budget: &mut Budget,
    ) -> Result<Lemma, Stop> {
        self.owed = PackedSet::new([1]);
        lemma(compiled, symmetry, &self.grams, self.views, |_, word| word, crew, budget)
    }

    /// The states of a flat model as a lemma: they are views, and nothing lies below any symbol.
    pub fn flat_lemma(
        system: &Pushdown<Stacks>,
        states: PackedSet,
        crew: &Crew,
        budget: &mut Budget,
    ) -> Result<Lemma, Stop> {
        let Pushdown { compiled, locals, symmetry } = system;
        let (mut grams, _) = Grams::new(compiled, symmetry, 1);
        let mut words = vec![Vec::new(); compiled.threads()];
        for thread in (0..compiled.threads()).filter(|&thread| symmetry.leader(thread) == thread) {
            let kind = compiled.kind_of[thread];
            for stack in 0..locals.count(kind) as u32 {
                let word = locals.word(kind, stack, 1);
                words[thread].push(grams.word_of(thread, &word));
                if !word[0].is_bottom() {
                    grams.allow(thread, word[0], Symbol::BOTTOM);
                }
            }
        }
        let word = |thread: usize, stack: u32| words[symmetry.leader(thread)][stack as usize];
        lemma(compiled, symmetry, &grams, states, word, crew, budget)
    }

    /// The topmost symbol of a word.
    pub fn top(&self, thread: usize, word: u32) -> Symbol {
        self.grams.word(thread, word)[0]
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        let words: usize = self.words.iter().map(|words| words.len() * 4).sum();
        self.views.bytes()
            + self.owed.bytes()
            + self.grams.bytes()
            + (self.waiting.bytes() + words + self.dues.len() * 16 + self.wanting.len() * 4) as u64
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
                match self.grams.word(place, due.revealed).last() {
                    Some(&symbol) if !symbol.is_bottom() => thread.symbol_name(symbol),
                    _ => "nothing",
                },
            )
        };
        unmet.map(explain).collect()
    }

    /// Notes views that are not there as owed.
    fn owe(&mut self, demands: Vec<Demand>, crew: &Crew) {
        let (batches, origins): (Vec<_>, Vec<_>) =
            demands.into_iter().map(|demand| (demand.batch, demand.origins)).unzip();
        let numbers = self.owed.insert_all(batches, crew);
        if self.owed.len() > self.dues.len() {
            self.wanting.resize(self.views.len(), 0);
        }
        for (number, (view, place, revealed)) in numbers.into_iter().flatten().zip(origins.into_iter().flatten()) {
            if number as usize == self.dues.len() {
                self.dues.push(Due { view, place, revealed, met: false });
                self.wanting[view as usize] += 1;
                self.open += 1;
            }
        }
    }

    fn meet(&mut self, due: u32) {
        let due = &mut self.dues[due as usize];
        if !std::mem::replace(&mut due.met, true) {
            self.open -= 1;
            self.wanting[due.view as usize] -= 1;
        }
    }
}

/// Where an owed view comes from: the view, the place of the thread that pops, and the word that comes to light.
type Origin = (u32, u16, u32);

/// What views demand of a proof.
#[derive(Default)]
struct Demand {
    /// Views that pops may lead to and that are not there.
    batch: Batch,
    origins: Vec<Origin>,
}

/// Views that pops may lead to, one row after the other.
#[derive(Default)]
struct Targets {
    rows: Vec<u32>,
    origins: Vec<Origin>,
    /// Empty, except while they are looked up.
    batch: Batch,
}

impl Targets {
    /// A pop from a view, whose row is given, may bring a word to light.
    fn aim(&mut self, symmetry: &Symmetry, row: &[u32], (view, place): (u32, u16), shared: u32, revealed: u32) {
        let (start, thread) = (self.rows.len(), usize::from(place));
        self.rows.extend_from_slice(row);
        let target = &mut self.rows[start..];
        (target[0], target[thread + 1]) = (shared, revealed);
        symmetry.settle(target, thread);
        self.origins.push((view, place, revealed));
    }
}
