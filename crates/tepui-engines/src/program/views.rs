//! Views of programs: the shared values, and the topmost b frames of each stack.
//!
//! Everything that a thread does to the frames in sight leads from equal views to equal views. A return brings a frame to
//! light that may lie below what is in sight; and that frame takes the results, so it becomes another one, and the shared
//! values may change with it. So a return owes a view for each frame that may lie below and for each way in which it goes on.
//! Which frames may lie below is learned from what threads do to the words in sight ([`words`](crate::pushdown::words)).
//!
//! Only here is anything computed that need not occur: what a frame that is not really there makes of results. It is numbered
//! like the rest, stands in views that are owed, and nothing is asked of it. What a frame makes of a return is worked out
//! once.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_cert::program::{Certificate, Trace};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::Symbol;

use super::cache::{Key as HeadKey, Seen};
use super::certificate::certificate;
use super::machine::{Machine, Outcome};
use super::system::Programs;
use super::tables::News;
use super::word_rows::WordRows;
use crate::abstraction::{Abstraction, Key, Way};
use crate::explored::{Chosen, Explored, is_explored};
use crate::ids::{Id, ThreadId, Threads, ViewId, WordId};
use crate::obligations::Targets;
use crate::packed::PackedSet;
use crate::pushdown::grams::moving;
use crate::pushdown::words::{Fact, Words};
use crate::system::PathStep;
use crate::workers::Workers;

/// Views that show the topmost frames of stacks, as many as the level says.
pub struct FrameViews {
    pub(super) words: Words,
    /// For each thread that speaks for others and each stack, the number of the stack's word.
    of_stack: Vec<Vec<WordId>>,
    /// Whether cells of views are stacks instead of words, because no thread ever calls a procedure.
    pub(super) exact: bool,
    /// Where threads have last been seen: what they do to words there is known.
    learned: Seen,
    /// What threads have been seen to do to words.
    effects: FxHashSet<(ThreadId, WordId, Effect)>,
    /// What procedures return: the shared row, whether the thread insists, and the values.
    returned: WordRows,
    /// For a shared row and a frame that returns, what it returns.
    returns: FxHashMap<(u32, Symbol), Vec<u32>>,
    /// What a thread's word that comes to light becomes when something is returned to it, and the shared row with it.
    resumed: FxHashMap<(ThreadId, WordId, u32), Vec<(u32, WordId)>>,
}

/// What a thread does to its stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Effect {
    Become(Symbol),
    Call(Symbol, Symbol),
    Begin(Symbol),
}

/// A return that owes a view: the place of the thread, and the word that would come to light.
#[derive(Clone, Copy, Debug)]
pub struct Return {
    pub(super) place: ThreadId,
    pub(super) revealed: WordId,
}

/// What is looked for: whether deadlocks are.
#[derive(Clone, Debug)]
pub struct Wanted {
    deadlock: bool,
}

impl FrameViews {
    fn at_depth(system: &Programs, depth: usize, exact: bool) -> Self {
        let threads = Threads::all(system.kind_of.len());
        let stacks: Vec<_> = threads.clone().map(|thread| system.first_word(thread)).collect();
        // Whether a return is refused depends on the frame below.
        let depth = if system.sees_refusals() { depth.max(2) } else { depth };
        let (words, _) = Words::new(&system.symmetry, depth, &stacks);
        Self {
            words,
            of_stack: vec![Vec::new(); stacks.len()],
            exact,
            learned: Seen::default(),
            effects: FxHashSet::default(),
            returned: WordRows::default(),
            returns: FxHashMap::default(),
            resumed: FxHashMap::default(),
        }
    }

    /// The topmost frame that a cell of a view shows, and the one below it, as far as it is in sight.
    #[inline]
    fn shown(&self, system: &Programs, thread: ThreadId, cell: u32) -> (Symbol, Option<Symbol>) {
        if self.exact {
            return system.top_two(thread, cell);
        }
        let word = self.words.word(thread, WordId(cell));
        (word[0], word.get(1).copied().filter(|symbol| !symbol.is_bottom()))
    }

    #[inline]
    fn top(&self, system: &Programs, thread: ThreadId, cell: u32) -> Symbol {
        self.shown(system, thread, cell).0
    }

    /// The words of a flat program, where nothing lies below any frame, and for each stack its word.
    fn flat_words(&self, system: &Programs) -> (Words, Vec<Vec<WordId>>) {
        let mut flat = Self::at_depth(system, 1, false);
        for thread in Threads::all(system.kind_of.len()).filter(|&thread| system.symmetry.leader(thread) == thread) {
            let stacks = system.tables.stacks(system.kind_of[thread.index()]);
            for stack in 0..stacks.count() as u32 {
                let word = stacks.word(stack, flat.words.depth());
                flat.of_stack[thread.index()].push(flat.words.word_of(thread, &word));
                if !word[0].is_bottom() && flat.words.depth() == 1 {
                    flat.words.allow(thread, word[0], Symbol::BOTTOM);
                }
            }
        }
        (flat.words, flat.of_stack)
    }

    /// What the threads explored at a view do to words, where that is new; frames may be provisional.
    fn effects_of(
        &self,
        system: &Programs,
        (view, explored): (&[u32], Chosen<'_>),
        news: &mut News,
        learned: &mut FxHashSet<HeadKey>,
        found: &mut Vec<(ThreadId, WordId, Effect)>,
    ) {
        let word = |thread: ThreadId| WordId(view[thread.field()]);
        for thread in moving(&system.symmetry, view, explored) {
            let top = self.words.word(thread, word(thread))[0];
            if top.is_bottom() {
                continue;
            }
            let leader = self.words.leader(thread);
            let key = (view[0], word(thread).0, leader.index() as u32);
            if self.learned.has(key) || learned.contains(&key) {
                continue;
            }
            let mut alone = true;
            let mut machine = std::mem::take(&mut news.machine);
            let (shared, frame) = (system.tables.shared(view[0]), system.tables.frame(top));
            system.code.steps(shared, frame, &mut machine, &mut |machine, outcome| {
                if matches!(outcome, Outcome::Returns | Outcome::Ends) {
                    return;
                }
                let top = Symbol(system.tables.find_frame(&machine.frame, news));
                let effect = match outcome {
                    Outcome::Calls => Effect::Call(top, Symbol(system.tables.find_frame(&machine.caller, news))),
                    _ => Effect::Become(top),
                };
                found.push((leader, word(thread), effect));
                alone &= !matches!(outcome, Outcome::Starts(_) | Outcome::Wakes(..));
                match outcome {
                    Outcome::Starts(_) => self.begin_effects(system, view, thread, machine, news, found),
                    Outcome::Wakes(condition, _) => {
                        self.wake_effects(system, (view, thread), condition, machine, news, found);
                    }
                    _ => {}
                }
            });
            news.machine = machine;
            // What is done to the words of others depends on those.
            if alone {
                learned.insert(key);
            }
        }
    }

    fn begin_effects(
        &self,
        system: &Programs,
        view: &[u32],
        thread: ThreadId,
        machine: &mut Machine,
        news: &mut News,
        found: &mut Vec<(ThreadId, WordId, Effect)>,
    ) {
        let first = std::mem::take(&mut machine.started);
        for place in Threads::of(view).filter(|&place| place != thread) {
            let word = WordId(view[place.field()]);
            if self.words.word(place, word)[0].is_bottom() {
                system.code.begin(&first, machine, &mut |machine| {
                    let frame = Symbol(system.tables.find_frame(&machine.frame, news));
                    found.push((self.words.leader(place), word, Effect::Begin(frame)));
                });
            }
        }
        machine.started = first;
    }

    fn wake_effects(
        &self,
        system: &Programs,
        (view, thread): (&[u32], ThreadId),
        condition: u32,
        machine: &mut Machine,
        news: &mut News,
        found: &mut Vec<(ThreadId, WordId, Effect)>,
    ) {
        for other in Threads::of(view).filter(|&other| other != thread) {
            let word = WordId(view[other.field()]);
            let top = self.words.word(other, word)[0];
            if let Some(awake) = system.awake(top, condition) {
                system.code.begin(&awake, machine, &mut |machine| {
                    let frame = Symbol(system.tables.find_frame(&machine.frame, news));
                    found.push((self.words.leader(other), word, Effect::Become(frame)));
                });
            }
        }
    }

    fn apply(&mut self, (leader, word, effect): (ThreadId, WordId, Effect)) {
        if !self.effects.insert((leader, word, effect)) {
            return;
        }
        match effect {
            Effect::Become(frame) => _ = self.words.overwritten(leader, word, frame),
            Effect::Call(callee, caller) => _ = self.words.pushed(leader, word, callee, caller),
            Effect::Begin(frame) => _ = self.words.pushed(leader, word, frame, Symbol::BOTTOM),
        }
    }

    /// The words that a thread explored at a view returns from without knowing what lies below.
    fn returning<'a>(
        &'a self,
        system: &'a Programs,
        view: &'a [u32],
        explored: Chosen<'a>,
    ) -> impl Iterator<Item = (ThreadId, WordId, Symbol)> {
        moving(&system.symmetry, view, explored).filter_map(move |thread| {
            let word = WordId(view[thread.field()]);
            let text = self.words.word(thread, word);
            (system.may_return(text[0]) && self.words.is_open(text)).then_some((thread, word, text[0]))
        })
    }

    /// Whether all is known that a view owes.
    fn is_resolved(&self, system: &Programs, view: &[u32], explored: Chosen<'_>) -> bool {
        self.returning(system, view, explored).all(|(thread, word, top)| {
            let Some(returned) = self.returns.get(&(view[0], top)) else { return false };
            let (leader, revealed) = (self.words.leader(thread), self.words.revealed(thread, word));
            returned.iter().all(|&returned| {
                revealed.iter().all(|&revealed| self.resumed.contains_key(&(leader, revealed, returned)))
            })
        })
    }

    /// Works out what a thread returns with a frame on top, where that is not known.
    fn find_returned(&mut self, system: &Programs, shared: u32, top: Symbol, machine: &mut Machine) -> Vec<u32> {
        if let Some(known) = self.returns.get(&(shared, top)) {
            return known.clone();
        }
        let mut found = Vec::new();
        let (row, frame) = (system.tables.shared(shared), system.tables.frame(top));
        system.code.steps(row, frame, machine, &mut |machine, outcome| {
            if outcome == Outcome::Returns {
                let insists = u64::from(machine.head().insists());
                let values = machine.values.iter().map(|&value| value as u64);
                let row: Vec<_> = machine.shared.iter().copied().chain([insists]).chain(values).collect();
                found.push(self.returned.intern(&row));
            }
        });
        found.sort_unstable();
        found.dedup();
        self.returns.insert((shared, top), found.clone());
        found
    }

    /// Works out what a word that comes to light makes of what is returned, where that is not known.
    fn find_resumed(
        &mut self,
        system: &mut Programs,
        leader: ThreadId,
        revealed: WordId,
        returned: u32,
        machine: &mut Machine,
    ) {
        if self.resumed.contains_key(&(leader, revealed, returned)) {
            return;
        }
        let below = self.words.word(leader, revealed)[0];
        let mut results = Vec::new();
        if !below.is_bottom() {
            let row = self.returned.get(returned);
            let (shared, rest) = row.split_at(system.code.shared.words);
            let insists = rest[0] == 1;
            let values: Vec<_> = rest[1..].iter().map(|&value| value as i64).collect();
            system.code.returns(shared, system.tables.frame(below), (&values, insists), machine, &mut |machine| {
                results.push((machine.shared.clone(), machine.frame.clone()));
            });
        }
        let mut found = Vec::new();
        for (shared, frame) in results {
            let (shared, frame) = (system.tables.add_shared(&shared), system.add_frame(&frame));
            found.push((shared, self.words.overwritten(leader, revealed, frame)));
        }
        self.resumed.insert((leader, revealed, returned), found);
    }
}

impl Abstraction<Programs> for FrameViews {
    type Fact = Fact;
    type Why = Return;
    type Prefilter = Wanted;
    type Certificate = Certificate;
    type Trace = Trace;

    fn new(system: &Programs, level: usize) -> Self {
        Self::at_depth(system, level, false)
    }

    fn exact(system: &Programs, level: usize) -> Option<Self> {
        (level <= 1 && system.is_flat()).then(|| Self::at_depth(system, level, true))
    }

    fn level(&self) -> usize {
        self.words.depth()
    }

    fn fields(&self, system: &Programs) -> Vec<u32> {
        vec![1; system.kind_of.len() + 1]
    }

    fn prepare(&mut self, system: &Programs, budget: &mut Budget) -> Result<(), Stop> {
        for thread in Threads::all(system.kind_of.len()).filter(|&thread| system.symmetry.leader(thread) == thread) {
            let stacks = system.tables.stacks(system.kind_of[thread.index()]);
            for stack in self.of_stack[thread.index()].len()..stacks.count() {
                let word = stacks.word(stack as u32, self.words.depth());
                self.of_stack[thread.index()].push(self.words.word_of(thread, &word));
                budget.pass(word.len() as u64)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn view(&self, system: &Programs, row: &[u32], view: &mut [u32]) {
        view[0] = row[0];
        for thread in Threads::of(row) {
            let words = &self.of_stack[system.symmetry.leader(thread).index()];
            view[thread.field()] = words[row[thread.field()] as usize].0;
        }
        system.symmetry.canonicalise(view);
    }

    #[inline]
    fn orbit(&self, system: &Programs, view: &[u32]) -> u64 {
        system.symmetry.orbit(view)
    }

    fn properties(system: &Programs) -> usize {
        system.property_count()
    }

    fn prefilter(system: &Programs, mut properties: Range<usize>) -> Wanted {
        Wanted { deadlock: properties.any(|property| system.is_deadlock(property)) }
    }

    #[inline]
    fn may_violate(&self, system: &Programs, wanted: &Wanted, view: &[u32]) -> bool {
        let mut threads = Threads::of(view);
        let top = |thread: ThreadId| self.top(system, thread, view[thread.field()]);
        threads.clone().any(|thread| system.may_be_bad(top(thread)))
            || wanted.deadlock && !threads.any(|thread| system.moves_for_sure(view[0], top(thread)))
    }

    fn violates(&self, system: &Programs, property: usize, view: &[u32]) -> bool {
        let shown = |thread: ThreadId| self.shown(system, thread, view[thread.field()]);
        system.violates(property, view[0], Threads::of(view).map(shown))
    }

    fn state_violates(system: &Programs, _: &Wanted, property: usize, row: &[u32]) -> bool {
        let shown = |thread: ThreadId| system.top_two(thread, row[thread.field()]);
        system.violates(property, row[0], Threads::of(row).map(shown))
    }

    fn learn(
        &mut self,
        system: &mut Programs,
        views: &PackedSet<ViewId>,
        which: &[ViewId],
        explored: &Explored,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (this, known) = (&*self, &*system);
        let chunks = workers.cut(which, |which| {
            let (mut row, mut found, mut news) = (vec![0; views.width()], Vec::new(), News::default());
            let mut learned = FxHashSet::default();
            for &view in which {
                views.get(view, &mut row);
                this.effects_of(known, (&row, explored.at(view.index())), &mut news, &mut learned, &mut found);
            }
            found.retain(|effect| !this.effects.contains(effect));
            found.dedup();
            (found, (news, learned))
        });
        let (found, news): (Vec<_>, Vec<_>) = chunks.into_iter().unzip();
        let (mut news, learned): (Vec<_>, Vec<_>) = news.into_iter().unzip();
        news.iter().try_for_each(|news| news.machine.require_all_steps(budget))?;
        system.admit_frames(&mut news);
        for (found, news) in found.into_iter().zip(news) {
            for (leader, word, effect) in found {
                self.apply((
                    leader,
                    word,
                    match effect {
                        Effect::Become(frame) => Effect::Become(news.frame(frame)),
                        Effect::Call(callee, caller) => Effect::Call(news.frame(callee), news.frame(caller)),
                        Effect::Begin(frame) => Effect::Begin(news.frame(frame)),
                    },
                ));
            }
            budget.pass(1)?;
        }
        learned.into_iter().flatten().for_each(|key| self.learned.add(key));
        Ok(())
    }

    fn resolve(
        &mut self,
        system: &mut Programs,
        views: &PackedSet<ViewId>,
        which: &[ViewId],
        explored: &Explored,
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let (this, known) = (&*self, &*system);
        let open = workers.cut(which, |which| {
            let mut row = vec![0; views.width()];
            let open = which.iter().copied().filter(|&view| {
                views.get(view, &mut row);
                !this.is_resolved(known, &row, explored.at(view.index()))
            });
            open.collect::<Vec<_>>()
        });
        let (mut row, mut machine) = (vec![0; views.width()], Machine::default());
        for view in open.into_iter().flatten() {
            views.get(view, &mut row);
            let returning: Vec<_> = self.returning(system, &row, explored.at(view.index())).collect();
            for (thread, word, top) in returning {
                let leader = self.words.leader(thread);
                for returned in self.find_returned(system, row[0], top, &mut machine) {
                    // What is found may add to what comes to light.
                    let mut next = 0;
                    while let Some(&revealed) = self.words.revealed(thread, word).get(next) {
                        self.find_resumed(system, leader, revealed, returned, &mut machine);
                        next += 1;
                    }
                }
            }
            machine.require_all_steps(budget)?;
            budget.pass(1)?;
        }
        Ok(())
    }

    fn next_fact(&mut self) -> Option<Fact> {
        self.words.next_fact()
    }

    fn key(fact: Fact) -> Key {
        fact.key()
    }

    fn watches(&self, system: &Programs, view: &[u32], explored: Chosen<'_>, keys: &mut Vec<Key>) {
        let returning = self.returning(system, view, explored);
        keys.extend(returning.map(|(thread, word, _)| (self.words.leader(thread), word.0)));
    }

    fn owed(&self, system: &Programs, view: &[u32], explored: Chosen<'_>, targets: &mut Targets<Return>) {
        for (thread, word, top) in self.returning(system, view, explored) {
            let leader = self.words.leader(thread);
            for &returned in self.returns.get(&(view[0], top)).into_iter().flatten() {
                for &revealed in self.words.revealed(thread, word) {
                    self.owed_by((view, thread), (leader, revealed, returned), system, targets);
                }
            }
        }
    }

    fn owed_for(
        &self,
        system: &Programs,
        fact: Fact,
        view: &[u32],
        explored: Chosen<'_>,
        targets: &mut Targets<Return>,
    ) {
        let place = system.symmetry.place_of(view, fact.thread, fact.word.0);
        let Some(place) = place.filter(|place| is_explored(explored, *place)) else { return };
        let top = self.words.word(place, fact.word)[0];
        for &returned in self.returns.get(&(view[0], top)).into_iter().flatten() {
            self.owed_by((view, place), (fact.thread, fact.revealed, returned), system, targets);
        }
    }

    fn shown_of(&self, system: &Programs, row: &[u32], thread: ThreadId) -> u32 {
        self.of_stack[system.symmetry.leader(thread).index()][row[thread.field()] as usize].0
    }

    fn way(&self, system: &Programs, view: &[u32], thread: ThreadId) -> Way {
        let (leader, word) = (self.words.leader(thread), WordId(view[thread.field()]));
        let text = self.words.word(thread, word);
        if !system.may_return(text[0]) {
            return Way::Each;
        }
        if !self.words.is_open(text) {
            return Way::Together;
        }
        let returned = self.returns.get(&(view[0], text[0])).map_or(&[][..], Vec::as_slice);
        let goes_on = |&returned: &u32| {
            let resumed = |&revealed: &WordId| self.resumed.get(&(leader, revealed, returned));
            self.words.revealed(thread, word).iter().all(|word| resumed(word).is_some_and(|found| !found.is_empty()))
        };
        if returned.iter().all(goes_on) { Way::Owed } else { Way::Unsure }
    }

    fn certificate(
        &self,
        system: &Programs,
        views: PackedSet<ViewId>,
        explored: Option<Explored>,
        violated: &[bool],
        workers: &Workers,
        budget: &mut Budget,
    ) -> Result<Certificate, Stop> {
        let views = (views, explored);
        if !self.exact {
            return certificate(system, &self.words, views, |_, word| WordId(word), violated, workers, budget);
        }
        let (words, of_stack) = self.flat_words(system);
        let word = |thread: ThreadId, stack: u32| of_stack[system.symmetry.leader(thread).index()][stack as usize];
        certificate(system, &words, views, word, violated, workers, budget)
    }

    fn trace(
        system: &Programs,
        property: usize,
        initial: &[u32],
        path: &[PathStep],
        budget: &mut Budget,
    ) -> Result<Trace, Stop> {
        super::follow::trace(system, property, initial, path, budget)
    }

    fn bytes(&self) -> u64 {
        let stacks: usize = self.of_stack.iter().map(|words| words.len() * 4).sum();
        let returns = self.returned.bytes() + self.returns.capacity() * 40 + self.resumed.capacity() * 48;
        self.words.bytes() + (stacks + returns + self.effects.capacity() * 24) as u64
    }
}

impl FrameViews {
    /// What a return may lead to.
    fn owed_by(
        &self,
        (view, place): (&[u32], ThreadId),
        key: (ThreadId, WordId, u32),
        system: &Programs,
        targets: &mut Targets<Return>,
    ) {
        let revealed = key.1;
        for &(shared, word) in self.resumed.get(&key).into_iter().flatten() {
            let target = targets.add(view, Return { place, revealed });
            (target[0], target[place.field()]) = (shared, word.0);
            system.symmetry.canonicalise_at(target, place);
        }
    }
}
