//! One lemma: is its set of views inductive, relative to the lemmas before it?
//!
//! Claim, proved by induction over the steps of an execution: the view of every reachable state is in the lemma's
//! set, and whatever lies directly below a word of `depth` real symbols, anywhere in a reachable stack, is listed as
//! *below* that word.
//!
//! * At the start: the initial view is in the set, and every stretch of `depth + 1` symbols of an initial stack is
//!   listed.
//! * A step changes the top of one stack. An overwrite or a push leads to one definite view, a pop to one for each
//!   symbol listed below the popped word. Each of these views must be in the set, unless an earlier lemma, which has
//!   been proved for all reachable states, excludes it. And every new stretch of `depth + 1` symbols must be listed:
//!   after an overwrite or a push, the changed topmost word has below it what the old one had.
//!
//! A lemma may have groups of interchangeable threads, see [`Groups`]. A row stands for its orbit then, and the set is
//! that of all views in the orbits of the rows. Let a permutation move the stacks of a state within the groups.
//!
//! * What it makes of a reachable state is reachable as well. It makes an initial state an initial state, because the
//!   threads of a group start alike; and it makes a step of one thread a step of another of the group, which has the rule
//!   too.
//! * Hence the canonical rows are enough. Let a step lead from a reachable state to a next one, and let the view of the
//!   first be in the set. Some permutation makes this view a row, and if several threads of a group have the word of the
//!   thread that moves, it makes that one the first of them. The permuted states are reachable, a step leads from one to
//!   the other, and so the view of the permuted next state is among the results that are looked at for this row. It is
//!   of the same orbit as the view of the next state itself: if the canonical row of the orbit is there, both are in the
//!   set.
//! * If that row is not there, it is enough that an earlier lemma excludes one view of the orbit, whatever groups the
//!   earlier lemma has: this view is the view of another permutation of the next state, which would be reachable too.
//!   The one that is tried is the missing row itself, in which a word without a number comes last in its group.
//! * What lies below a word is listed once for a group. It lies there in the permuted states as well, in the stack of
//!   another thread of the group, and what is new there is looked at in the same step.
//! * A reachable state whose view a pattern matches has its view in the orbit of a row. So a row avoids a pattern if no
//!   permutation of it matches: if in some group more threads are wanted with a symbol on top than have it.
//!
//! What a step does depends on the shared state and one thread's word only, so it is worked out once for each such
//! pair, and for each view it remains to look up the results. Where the steps come from, [`System`] says: from the rules
//! of a pushdown system, or from the interpreter of programs.
//!
//! Some steps of programs change other threads, too. A thread that is started takes *any* place whose stack is empty, so
//! the view must be in the set for each of them; then what earlier lemmas exclude does not depend on who takes which
//! place. Threads that are woken all change at once. A frame that waits may become another one when a procedure returns
//! to it: then what lay below it must be listed below what it becomes.
//!
//! Threads may also move together, all those that an action needs. What each of them does is worked out by itself, and the
//! first of them answers for all: every combination of what they can do leads to a view that must be in the set.

mod groups;
mod projection;
mod reduced;
mod rows;
mod show;
mod table;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::smallvec;
use tepui_cert::pushdown::Lemma;
use tepui_model::pushdown::Symbol;

use crate::Rejected;
use crate::system::{Change, Move, NOWHERE, Others, Symbols, System};
pub(crate) use groups::Groups;
use projection::Exclusion;
use reduced::Reduction;
pub(crate) use reduced::{Footprint, Things, Touched};
pub(crate) use rows::Holders;
use rows::{as_set, check_rows, explored, is_word};
use show::show_word;
use table::Index;

/// A word: the topmost symbols of a stack, top first.
pub(crate) type Word<'a> = &'a [Symbol];

/// After how many rows the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// What is wrong if it was told to stop.
const STOPPED: &str = "it has not been looked at to its end";

/// A lemma that has been proved.
pub(crate) struct Checked<'a, S> {
    pub(crate) system: &'a S,
    pub(crate) lemma: &'a Lemma,
    pub(crate) groups: Groups,
    index: Index,
    /// The words and what lies below them, at the leader of each group.
    words: Vec<FxHashMap<Word<'a>, u32>>,
    below: Vec<FxHashMap<Word<'a>, Vec<Symbol>>>,
    /// For each view the threads that are explored there, if not all are; empty, if all are at every view.
    explored: Vec<Option<&'a [usize]>>,
}

/// What a leader's threads can do in a shared state with a word.
#[derive(Default)]
struct Moves {
    moves: Vec<Move>,
    consequences: Vec<Consequence>,
}

/// What one move makes of a thread's word.
struct Consequence {
    /// Which of the moves it is.
    step: usize,
    to: u32,
    /// The number of the new word, if it has one.
    known: Option<u32>,
    word: Symbols,
    /// Whether every state has this move that shows the view, whatever lies below the word.
    sure: bool,
}

/// What is known of leaders, shared states and words.
type Memo = FxHashMap<(usize, u32, u32), Rc<Moves>>;

/// Checks lemmas, each relative to those before it.
pub(crate) fn check_lemmas<'a, S: System>(system: &'a S, lemmas: &'a [Lemma]) -> Result<Vec<Checked<'a, S>>, Rejected> {
    let mut proved: Vec<Checked<'_, S>> = Vec::new();
    for (number, lemma) in lemmas.iter().enumerate() {
        let place = format!("lemma {}", number + 1);
        if !lemma.explored.is_empty() && number + 1 < lemmas.len() {
            return Err(Rejected::new(place, "it is reduced, so that no other can rest on it"));
        }
        system.begin();
        let holds = |checked: &Checked<'a, S>| checked.holds_initially().and_then(|()| checked.is_closed(&proved));
        let checked = Checked::well_formed(system, lemma).and_then(|checked| holds(&checked).map(|()| checked));
        // A system that was told to stop may have left results out: then nothing is known.
        match checked {
            _ if system.stop() => return Err(Rejected::stopped(place)),
            checked => proved.push(checked.map_err(|reason| Rejected::new(place, reason))?),
        }
    }
    Ok(proved)
}

impl<'a, S: System> Checked<'a, S> {
    /// The number of views, or the largest number if there are more.
    pub(crate) fn views(&self) -> u64 {
        self.lemma.views.iter().fold(0, |sum, row| sum.saturating_add(self.groups.orbit(&row)))
    }

    /// Whether it explores, somewhere, some threads only.
    pub(crate) fn is_reduced(&self) -> bool {
        !self.explored.is_empty()
    }

    /// Whether a thread is explored at a view.
    pub(crate) fn explores(&self, view: usize, thread: usize) -> bool {
        self.explored.get(view).copied().flatten().is_none_or(|explored| explored.contains(&thread))
    }

    /// The symbols of a word.
    pub(crate) fn word(&self, thread: usize, number: u32) -> Word<'a> {
        &self.lemma.threads[self.groups.leader(thread)].words[number as usize]
    }

    /// What may lie below a word that is not the whole of a stack.
    pub(crate) fn beneath(&self, thread: usize, word: Word<'_>) -> &[Symbol] {
        match self.is_open(word) {
            true => self.below[self.groups.leader(thread)].get(word).map_or(&[][..], Vec::as_slice),
            false => &[],
        }
    }

    /// Whether something lies below a word.
    fn is_open(&self, word: Word<'_>) -> bool {
        word.len() == self.lemma.depth as usize && word.last().is_some_and(|last| !last.is_bottom())
    }

    pub(crate) fn well_formed(system: &'a S, lemma: &'a Lemma) -> Result<Self, String> {
        let threads = system.threads();
        if lemma.depth == 0 || lemma.threads.len() != threads || lemma.views.width() != threads + 1 {
            return Err(format!("it does not have the shape of a lemma about {threads} threads"));
        }
        let groups = Groups::new(system, lemma)?;
        let (mut words, mut below) = (Vec::new(), Vec::new());
        for (thread, part) in lemma.threads.iter().enumerate() {
            let (symbols, name) = (system.symbols(thread), || system.thread_name(thread));
            if let Some(word) = part.words.iter().find(|word| !is_word(word, lemma.depth, symbols)) {
                return Err(format!("thread {} has no word {}", name(), show_word(system, thread, word)));
            }
            words.push(part.words.iter().map(Vec::as_slice).zip(0..).collect::<FxHashMap<_, _>>());
            if part.below.iter().flat_map(|(_, listed)| listed).any(|symbol| symbol.0 >= symbols) {
                return Err(format!("thread {} lists a symbol that does not exist", name()));
            }
            let listed = part.below.iter().map(|(word, symbols)| (word.as_slice(), as_set(symbols)));
            below.push(listed.collect::<FxHashMap<_, _>>());
            if words[thread].len() != part.words.len() || below[thread].len() != part.below.len() {
                return Err(format!("thread {} lists a word twice", name()));
            }
        }
        check_rows(system, lemma, &groups)?;
        let (index, explored) = (Index::new(&lemma.views), explored(lemma)?);
        Ok(Self { system, lemma, groups, index, words, below, explored })
    }

    fn holds_initially(&self) -> Result<(), String> {
        let (system, depth) = (self.system, self.lemma.depth as usize);
        for (number, (shared, stacks)) in system.initial().iter().enumerate() {
            let mut row = vec![*shared];
            for (thread, stack) in stacks.iter().enumerate() {
                let stack: Vec<_> = stack.iter().copied().chain([Symbol::BOTTOM]).collect();
                for stretch in stack.windows(depth.saturating_add(1)) {
                    self.require_below(thread, &stretch[..depth], stretch[depth])
                        .map_err(|missing| format!("the initial stack of {}: {missing}", system.thread_name(thread)))?;
                }
                let word = &stack[..depth.min(stack.len())];
                row.push(self.words[self.groups.leader(thread)].get(word).copied().unwrap_or(NOWHERE));
            }
            self.groups.sort(&mut row);
            if self.index.find(&self.lemma.views, &row).is_none() {
                return Err(format!("the initial view, that of {}, is missing", system.show_initial(number)));
            }
        }
        Ok(())
    }

    fn is_closed(&self, earlier: &[Self]) -> Result<(), String> {
        let system = self.system;
        let mut exclusions: Vec<Exclusion<'_, '_, S>> =
            earlier.iter().map(|lemma| Exclusion::new(lemma, self)).collect();
        let mut memo = Memo::default();
        let (mut next, mut shared) = (Vec::new(), NOWHERE);
        let mut reduction = self.is_reduced().then(|| Reduction::new(self));
        for (number, row) in self.lemma.views.iter().enumerate() {
            let row = row.as_slice();
            if number.is_multiple_of(LOOK_EVERY) && system.stop() {
                return Err(STOPPED.to_owned());
            }
            // Rows with the same shared state follow each other.
            if std::mem::replace(&mut shared, row[0]) != row[0] {
                memo.clear();
                system.forget();
            }
            next.clear();
            next.extend_from_slice(row);
            let holders = if S::TURNS { self.holders(row) } else { Holders::Nobody };
            if let Some(reduction) = &mut reduction {
                let blame = |reason| format!("at the view {}: {reason}", self.show(row));
                reduction.view(row, &holders, self.explored[number]).map_err(blame)?;
            }
            for thread in (0..system.threads()).filter(|&thread| !self.groups.repeats(row, thread)) {
                if !holders.let_move(thread) || !self.explores(number, thread) {
                    continue;
                }
                let Moves { moves, consequences } = &*self.moves_at(&mut memo, row, thread)?;
                let mut place = thread;
                for consequence in consequences {
                    let step = &moves[consequence.step];
                    next[0] = consequence.to;
                    place = self.groups.put(&mut next, place, consequence.known.unwrap_or(NOWHERE));
                    if step.others.is_some() {
                        let mover = (place, consequence.known.is_some());
                        let moved = (thread, step, mover);
                        let found = self.joint(&mut memo, (row, &next), moved, &mut exclusions)?;
                        if let Some(reduction) = &mut reduction {
                            found.iter().for_each(|&to| reduction.leads(number, (thread, step), to));
                        }
                        continue;
                    }
                    let found = consequence.known.and_then(|_| self.index.find(&self.lemma.views, &next));
                    if let Some(reduction) = &mut reduction {
                        reduction.leads(number, (thread, step), found.filter(|_| consequence.sure));
                    }
                    if found.is_some() {
                        continue;
                    }
                    let changed = (place, consequence.word.as_slice());
                    if !exclusions.iter_mut().any(|exclusion| exclusion.excludes(&next, Some(changed))) {
                        let missing = format!("leads to {}, which is missing", self.show_with(&next, changed));
                        return Err(self.blame(row, (thread, step), &missing));
                    }
                }
                next[0] = row[0];
                self.groups.put(&mut next, place, row[thread + 1]);
            }
        }
        reduction.map_or(Ok(()), Reduction::heeds_all)
    }

    /// What a thread can do in a row, worked out when it is first asked.
    fn moves_at(&self, memo: &mut Memo, row: &[u32], thread: usize) -> Result<Rc<Moves>, String> {
        let pair = (self.groups.leader(thread), row[0], row[thread + 1]);
        if let Some(known) = memo.get(&pair) {
            return Ok(Rc::clone(known));
        }
        let mut found =
            Moves { moves: self.system.moves(pair.0, pair.1, self.word(pair.0, pair.2)[0]), ..Moves::default() };
        let closed = self.add_consequences(pair, &mut found);
        closed.map_err(|(step, reason)| self.blame(row, (thread, &found.moves[step]), &reason))?;
        let found = Rc::new(found);
        // With one thread, no row asks again.
        if row.len() > 2 {
            memo.insert(pair, Rc::clone(&found));
        }
        Ok(found)
    }

    /// Who must not be interrupted.
    pub(crate) fn holders(&self, row: &[u32]) -> Holders {
        let holds = |thread: &usize| self.system.is_uninterrupted(self.word(*thread, row[thread + 1])[0]);
        let mut holders = (0..row.len() - 1).filter(holds);
        match (holders.next(), holders.next()) {
            (None, _) => Holders::Nobody,
            (Some(holder), None) => Holders::One(holder),
            (Some(_), Some(_)) => Holders::Several,
        }
    }

    /// What the moves of a leader's threads make of a word. The error names the move that brings something below a word
    /// that is not listed there. A move that needs other threads may never happen, so it
    /// is given no word then: whoever finds that it happens finds that its view is missing.
    fn add_consequences(
        &self,
        (leader, _, word): (usize, u32, u32),
        Moves { moves, consequences }: &mut Moves,
    ) -> Result<(), (usize, String)> {
        let (system, word) = (self.system, self.word(leader, word));
        for (number, step) in moves.iter().enumerate() {
            let goes_on = |lower: &Symbols| !system.revealed(leader, step, lower[0]).is_empty();
            let sure = !matches!(step.change, Change::Pop) || self.lower(leader, word).iter().all(goes_on);
            let mut add = |to: u32, word: Symbols| {
                let known = self.words[leader].get(word.as_slice()).copied();
                consequences.push(Consequence { step: number, to, known, word, sure });
            };
            match self.changed(leader, word, step, &mut add) {
                Ok(()) => {}
                Err(_) if matches!(step.others, Some(Others::Meet(_))) => add(step.to, Symbols::new()),
                Err(missing) => return Err((number, missing)),
            }
        }
        Ok(())
    }

    /// What a move makes of a word, and of the shared state. The error says what would come to lie below a word where it is
    /// not listed.
    pub(crate) fn changed(
        &self,
        leader: usize,
        word: Word<'_>,
        step: &Move,
        found: &mut impl FnMut(u32, Symbols),
    ) -> Result<(), String> {
        let depth = self.lemma.depth as usize;
        let beneath = self.beneath(leader, word);
        match &step.change {
            Change::Pop => {
                for lower in self.lower(leader, word) {
                    for (to, top) in self.system.revealed(leader, step, lower[0]) {
                        let mut changed = lower.clone();
                        changed[0] = top;
                        if top != lower[0] {
                            for &symbol in self.beneath(leader, &lower) {
                                self.require_below(leader, &changed, symbol)?;
                            }
                        }
                        found(to, changed);
                    }
                }
            }
            Change::Replace(symbols) => {
                let mut written: Symbols = symbols.iter().chain(&word[1..]).copied().collect();
                for stretch in written.windows(depth + 1) {
                    self.require_below(leader, &stretch[..depth], stretch[depth])?;
                }
                for &symbol in beneath {
                    self.require_below(leader, &written[symbols.len() - 1..], symbol)?;
                }
                written.truncate(depth);
                found(step.to, written);
            }
            Change::Clear => found(step.to, smallvec![Symbol::BOTTOM]),
        }
        Ok(())
    }

    /// What a pop may leave of a word.
    fn lower(&self, leader: usize, word: Word<'_>) -> Vec<Symbols> {
        let with = |symbol: &Symbol| word[1..].iter().chain([symbol]).copied().collect();
        match self.is_open(word) {
            true => self.beneath(leader, word).iter().map(with).collect(),
            false => vec![word[1..].into()],
        }
    }

    /// The rest of a step that changes several threads, from a row to one in which the mover has changed: all views that it
    /// leads to must be there or be excluded. Returns the numbers of those that are there.
    fn joint(
        &self,
        memo: &mut Memo,
        (row, next): (&[u32], &[u32]),
        (thread, step, (place, is_known)): (usize, &Move, (usize, bool)),
        exclusions: &mut [Exclusion<'_, '_, S>],
    ) -> Result<Vec<Option<u32>>, String> {
        let system = self.system;
        let blame = |reason: String| self.blame(row, (thread, step), &reason);
        let mut rows = vec![next.to_vec()];
        let missing = || blame("leads to a view that is missing".to_owned());
        match &step.others {
            // The first of the threads that meet moves for all of them.
            Some(Others::Meet(action)) => match system.meeting(*action) {
                [first, others @ ..] if *first == thread => {
                    for &other in others {
                        let moves = self.moves_at(memo, row, other)?;
                        rows = met(&rows, other, *action, &moves);
                        if rows.len() >= LOOK_EVERY && system.stop() {
                            return Err(STOPPED.to_owned());
                        }
                    }
                }
                _ => return Ok(Vec::new()),
            },
            _ if !is_known => return Err(missing()),
            Some(Others::Start(threads)) => {
                for symbols in threads {
                    rows = self.started(&rows, symbols).map_err(blame)?;
                }
            }
            Some(Others::Wake(woken)) => {
                let sleeps = |&thread: &usize| {
                    let top = self.word(thread, next[thread + 1])[0];
                    thread != place && system.woken(top, woken.condition).is_some()
                };
                let (before, asleep) = (rows.clone(), (0..row.len() - 1).filter(sleeps).collect::<Vec<_>>());
                rows = if woken.all || asleep.is_empty() { rows } else { Vec::new() };
                for thread in asleep {
                    match woken.all {
                        true => rows = self.woken(&rows, thread, woken.condition).map_err(blame)?,
                        false => rows.extend(self.woken(&before, thread, woken.condition).map_err(blame)?),
                    }
                }
            }
            None => {}
        }
        let mut found = Vec::new();
        for mut row in rows {
            if row.contains(&NOWHERE) {
                return Err(missing());
            }
            self.groups.sort(&mut row);
            found.push(self.index.find(&self.lemma.views, &row));
            if found.last() == Some(&None) && !exclusions.iter_mut().any(|exclusion| exclusion.excludes(&row, None)) {
                return Err(blame(format!("leads to {}, which is missing", self.show(&row))));
            }
        }
        Ok(found)
    }

    /// A thread begins with one of some symbols in any place that is empty.
    fn started(&self, rows: &[Vec<u32>], symbols: &[Symbol]) -> Result<Vec<Vec<u32>>, String> {
        let mut found = Vec::new();
        for row in rows {
            let is_empty = |&thread: &usize| self.word(thread, row[thread + 1]) == [Symbol::BOTTOM];
            let mut taken = Vec::new();
            for place in (0..row.len() - 1).filter(is_empty) {
                // Of the empty places of a group one is as good as another.
                let leader = self.groups.leader(place);
                if taken.contains(&leader) {
                    continue;
                }
                taken.push(leader);
                for &symbol in symbols {
                    let mut word = vec![symbol, Symbol::BOTTOM];
                    if self.lemma.depth == 1 {
                        self.require_below(place, &[symbol], Symbol::BOTTOM)?;
                        word.pop();
                    }
                    found.push(self.replaced(row, place, &word)?);
                }
            }
            if taken.is_empty() {
                return Err("starts more threads than there are places".to_owned());
            }
        }
        Ok(found)
    }

    /// A thread, if it sleeps on a condition, is woken.
    fn woken(&self, rows: &[Vec<u32>], thread: usize, condition: u32) -> Result<Vec<Vec<u32>>, String> {
        let mut found = Vec::new();
        for row in rows {
            let word = self.word(thread, row[thread + 1]);
            let Some(tops) = self.system.woken(word[0], condition) else {
                found.push(row.clone());
                continue;
            };
            for top in tops {
                let changed: Vec<_> = [top].iter().chain(&word[1..]).copied().collect();
                for &symbol in self.beneath(thread, word) {
                    self.require_below(thread, &changed, symbol)?;
                }
                found.push(self.replaced(row, thread, &changed)?);
            }
        }
        Ok(found)
    }

    fn replaced(&self, row: &[u32], thread: usize, word: Word<'_>) -> Result<Vec<u32>, String> {
        let mut row = row.to_vec();
        row[thread + 1] = self.word_number(thread, word)?;
        Ok(row)
    }

    /// The number of a word that a thread gets.
    pub(crate) fn word_number(&self, thread: usize, word: Word<'_>) -> Result<u32, String> {
        let number = self.words[self.groups.leader(thread)].get(word).copied();
        number.ok_or_else(|| self.no_view_has(thread, word))
    }

    pub(crate) fn require_below(&self, thread: usize, word: Word<'_>, symbol: Symbol) -> Result<(), String> {
        let below = &self.below[self.groups.leader(thread)];
        match below.get(word).is_some_and(|listed| listed.binary_search(&symbol).is_ok()) {
            true => Ok(()),
            false => Err(self.not_below(thread, word, symbol)),
        }
    }
}

/// One more thread moves with an action, in each way that it can.
fn met(rows: &[Vec<u32>], thread: usize, action: u32, known: &Moves) -> Vec<Vec<u32>> {
    let takes_part = |consequence: &&Consequence| matches!(known.moves[consequence.step].others, Some(Others::Meet(own)) if own == action);
    let moved = |row: &Vec<u32>, consequence: &Consequence| {
        let mut row = row.clone();
        row[thread + 1] = consequence.known.unwrap_or(NOWHERE);
        row
    };
    let taken = || known.consequences.iter().filter(takes_part);
    rows.iter().flat_map(|row| taken().map(|consequence| moved(row, consequence))).collect()
}
