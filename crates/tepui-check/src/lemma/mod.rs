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
use tepui_cert::pushdown::Lemma;
use tepui_model::pushdown::Symbol;

use crate::Rejected;
use crate::system::{Change, Move, NOWHERE, Others, System};
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

/// A lemma that has been proved.
pub(crate) struct Checked<'a> {
    pub(crate) lemma: &'a Lemma,
    pub(crate) groups: Groups,
    index: Index,
    /// The words and what lies below them, at the leader of each group.
    words: Vec<FxHashMap<Word<'a>, u32>>,
    below: Vec<FxHashMap<Word<'a>, Vec<Symbol>>>,
    /// For each view the threads that are explored there, if not all are; empty, if all are at every view.
    explored: Vec<Option<&'a [usize]>>,
}

/// What one move makes of a thread's word.
struct Consequence {
    step: Rc<Move>,
    to: u32,
    /// The number of the new word, if it has one.
    known: Option<u32>,
    word: Vec<Symbol>,
    /// Whether every state has this move that shows the view, whatever lies below the word.
    sure: bool,
}

/// What a leader's threads can do in a shared state with a word.
type Memo = FxHashMap<(usize, u32, u32), Rc<[Consequence]>>;

/// Why a lemma is not accepted.
enum Trouble {
    /// What is wrong.
    Wrong(String),
    /// The caller wanted it to end.
    Stopped,
}

impl From<String> for Trouble {
    fn from(reason: String) -> Self {
        Self::Wrong(reason)
    }
}

/// Checks lemmas, each relative to those before it.
pub(crate) fn check_lemmas<'a>(system: &impl System, lemmas: &'a [Lemma]) -> Result<Vec<Checked<'a>>, Rejected> {
    let mut proved: Vec<Checked<'_>> = Vec::new();
    for (number, lemma) in lemmas.iter().enumerate() {
        let place = format!("lemma {}", number + 1);
        if !lemma.explored.is_empty() && number + 1 < lemmas.len() {
            return Err(Rejected::new(place, "it is reduced, so that no other can rest on it"));
        }
        system.begin();
        proved.push(check(system, lemma, &proved).map_err(|trouble| match trouble {
            Trouble::Wrong(reason) => Rejected::new(place, reason),
            Trouble::Stopped => Rejected::stopped(place),
        })?);
    }
    Ok(proved)
}

/// Checks a lemma; the error says at which view and step it fails.
fn check<'a, S: System>(system: &S, lemma: &'a Lemma, earlier: &[Checked<'a>]) -> Result<Checked<'a>, Trouble> {
    let checked = Checked::well_formed(system, lemma)?;
    checked.holds_initially(system)?;
    checked.is_closed(system, earlier)?;
    Ok(checked)
}

impl<'a> Checked<'a> {
    /// The number of views, or the largest number if there are more.
    pub(crate) fn views(&self) -> u64 {
        self.lemma.views.iter().fold(0, |sum, row| sum.saturating_add(self.groups.orbit(row)))
    }

    /// The number of orbits.
    pub(crate) fn orbits(&self) -> usize {
        self.lemma.views.len()
    }

    /// Whether it explores, somewhere, some threads only.
    pub(crate) fn is_reduced(&self) -> bool {
        !self.explored.is_empty()
    }

    /// Whether a thread is explored at a view.
    pub(crate) fn explores(&self, view: usize, thread: usize) -> bool {
        self.explored.get(view).copied().flatten().is_none_or(|explored| explored.contains(&thread))
    }

    /// The depth of the views.
    pub(crate) fn depth(&self) -> u32 {
        self.lemma.depth
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

    fn well_formed(system: &impl System, lemma: &'a Lemma) -> Result<Self, String> {
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
        Ok(Self { lemma, groups, index, words, below, explored })
    }

    fn holds_initially(&self, system: &impl System) -> Result<(), String> {
        let depth = self.lemma.depth as usize;
        for (number, (shared, stacks)) in system.initial().iter().enumerate() {
            let mut row = vec![*shared];
            for (thread, stack) in stacks.iter().enumerate() {
                let stack: Vec<_> = stack.iter().copied().chain([Symbol::BOTTOM]).collect();
                for stretch in stack.windows(depth.saturating_add(1)) {
                    self.require_below(system, thread, &stretch[..depth], stretch[depth])
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

    fn is_closed<S: System>(&self, system: &S, earlier: &[Self]) -> Result<(), Trouble> {
        let mut exclusions: Vec<Exclusion<'_, '_>> = earlier.iter().map(|lemma| Exclusion::new(lemma, self)).collect();
        let mut memo = Memo::default();
        let (mut next, mut shared) = (Vec::new(), NOWHERE);
        let mut reduction = self.is_reduced().then(|| Reduction::new(self, system));
        for (number, row) in self.lemma.views.iter().enumerate() {
            if number.is_multiple_of(LOOK_EVERY) && system.stop() {
                return Err(Trouble::Stopped);
            }
            // Rows with the same shared state follow each other.
            if std::mem::replace(&mut shared, row[0]) != row[0] {
                memo.clear();
                system.forget();
            }
            next.clear();
            next.extend_from_slice(row);
            let holders = if S::TURNS { self.holders(system, row) } else { Holders::Nobody };
            if let Some(reduction) = &mut reduction {
                let blame = |reason| format!("at the view {}: {reason}", self.show(system, row));
                reduction.view(row, &holders, self.explored[number]).map_err(blame)?;
            }
            for thread in (0..system.threads()).filter(|&thread| !self.groups.repeats(row, thread)) {
                if !holders.let_move(thread) || !self.explores(number, thread) {
                    continue;
                }
                let consequences = self.consequences_at(system, &mut memo, row, thread)?;
                let mut place = thread;
                for consequence in consequences.iter() {
                    next[0] = consequence.to;
                    place = self.groups.put(&mut next, place, consequence.known.unwrap_or(NOWHERE));
                    if consequence.step.others.is_some() {
                        let mover = (place, consequence);
                        let found = self.joint(system, &mut memo, (row, &next), (thread, mover), &mut exclusions)?;
                        if let Some(reduction) = &mut reduction {
                            found.iter().for_each(|&to| reduction.leads(number, &consequence.step, to));
                        }
                        continue;
                    }
                    let found = consequence.known.and_then(|_| self.index.find(&self.lemma.views, &next));
                    if let Some(reduction) = &mut reduction {
                        reduction.leads(number, &consequence.step, found.filter(|_| consequence.sure));
                    }
                    if found.is_some() {
                        continue;
                    }
                    let changed = (place, consequence.word.as_slice());
                    if !exclusions.iter_mut().any(|exclusion| exclusion.excludes(&next, Some(changed))) {
                        let missing = format!("leads to {}, which is missing", self.show_with(system, &next, changed));
                        return Err(self.blame(system, row, (thread, &consequence.step), &missing).into());
                    }
                }
                next[0] = row[0];
                self.groups.put(&mut next, place, row[thread + 1]);
            }
        }
        reduction.map_or(Ok(()), Reduction::heeds_all)?;
        // A system that was told to stop may have left results out.
        if system.stop() { Err(Trouble::Stopped) } else { Ok(()) }
    }

    /// What a thread can do in a row, worked out when it is first asked.
    fn consequences_at(
        &self,
        system: &impl System,
        memo: &mut Memo,
        row: &[u32],
        thread: usize,
    ) -> Result<Rc<[Consequence]>, Trouble> {
        let pair = (self.groups.leader(thread), row[0], row[thread + 1]);
        if let Some(known) = memo.get(&pair) {
            return Ok(Rc::clone(known));
        }
        let found = self.consequences(system, pair);
        if system.stop() {
            return Err(Trouble::Stopped);
        }
        let found = found.map_err(|(step, reason)| self.blame(system, row, (thread, &step), &reason))?;
        let found: Rc<[Consequence]> = found.into();
        memo.insert(pair, Rc::clone(&found));
        Ok(found)
    }

    /// Who must not be interrupted.
    pub(crate) fn holders(&self, system: &impl System, row: &[u32]) -> Holders {
        let holds = |thread: &usize| system.is_uninterrupted(self.word(*thread, row[thread + 1])[0]);
        let mut holders = (0..row.len() - 1).filter(holds);
        match (holders.next(), holders.next()) {
            (None, _) => Holders::Nobody,
            (Some(holder), None) => Holders::One(holder),
            (Some(_), Some(_)) => Holders::Several,
        }
    }

    /// All that the threads of a leader's group can do in a shared state with a word. The error names the move that
    /// brings something below a word that is not listed there. A move that needs other threads may never happen, so it
    /// is given no word then: whoever finds that it happens finds that its view is missing.
    fn consequences(
        &self,
        system: &impl System,
        (leader, shared, word): (usize, u32, u32),
    ) -> Result<Vec<Consequence>, (Rc<Move>, String)> {
        let word = self.word(leader, word);
        let mut found = Vec::new();
        for step in system.moves(leader, shared, word[0]) {
            let step = Rc::new(step);
            let goes_on = |lower: &Vec<Symbol>| !system.revealed(leader, &step, lower[0]).is_empty();
            let sure = !matches!(step.change, Change::Pop) || self.lower(leader, word).iter().all(goes_on);
            let result = |(to, word): (u32, Vec<Symbol>)| {
                let known = self.words[leader].get(word.as_slice()).copied();
                Consequence { step: Rc::clone(&step), to, known, word, sure }
            };
            match self.changed(system, leader, word, &step) {
                Ok(results) => found.extend(results.into_iter().map(result)),
                Err(_) if matches!(step.others, Some(Others::Meet(_))) => found.push(result((step.to, Vec::new()))),
                Err(missing) => return Err((Rc::clone(&step), missing)),
            }
        }
        Ok(found)
    }

    /// What a move makes of a word, and of the shared state. The error says what would come to lie below a word where it is
    /// not listed.
    fn changed(
        &self,
        system: &impl System,
        leader: usize,
        word: Word<'_>,
        step: &Move,
    ) -> Result<Vec<(u32, Vec<Symbol>)>, String> {
        let depth = self.lemma.depth as usize;
        let beneath = self.beneath(leader, word);
        match &step.change {
            Change::Pop => {
                let mut results = Vec::new();
                for lower in self.lower(leader, word) {
                    for (to, top) in system.revealed(leader, step, lower[0]) {
                        let mut changed = lower.clone();
                        changed[0] = top;
                        if top != lower[0] {
                            for &symbol in self.beneath(leader, &lower) {
                                self.require_below(system, leader, &changed, symbol)?;
                            }
                        }
                        results.push((to, changed));
                    }
                }
                Ok(results)
            }
            Change::Replace(symbols) => {
                let mut written = [symbols.as_slice(), &word[1..]].concat();
                for stretch in written.windows(depth + 1) {
                    self.require_below(system, leader, &stretch[..depth], stretch[depth])?;
                }
                for &symbol in beneath {
                    self.require_below(system, leader, &written[symbols.len() - 1..], symbol)?;
                }
                written.truncate(depth);
                Ok(vec![(step.to, written)])
            }
            Change::Clear => Ok(vec![(step.to, vec![Symbol::BOTTOM])]),
        }
    }

    /// What a pop may leave of a word.
    fn lower(&self, leader: usize, word: Word<'_>) -> Vec<Vec<Symbol>> {
        match self.is_open(word) {
            true => self.beneath(leader, word).iter().map(|&symbol| [&word[1..], &[symbol]].concat()).collect(),
            false => vec![word[1..].to_vec()],
        }
    }

    /// The rest of a step that changes several threads, from a row to one in which the mover has changed: all views that it
    /// leads to must be there or be excluded. Returns the numbers of those that are there.
    fn joint(
        &self,
        system: &impl System,
        memo: &mut Memo,
        (row, next): (&[u32], &[u32]),
        (thread, (place, consequence)): (usize, (usize, &Consequence)),
        exclusions: &mut [Exclusion<'_, '_>],
    ) -> Result<Vec<Option<u32>>, Trouble> {
        let blame = |reason: String| self.blame(system, row, (thread, &consequence.step), &reason);
        let mut rows = vec![next.to_vec()];
        let missing = || blame("leads to a view that is missing".to_owned());
        match &consequence.step.others {
            // The first of the threads that meet moves for all of them.
            Some(Others::Meet(action)) => match system.meeting(*action) {
                [first, others @ ..] if *first == thread => {
                    for &other in others {
                        let moves = self.consequences_at(system, memo, row, other)?;
                        rows = met(&rows, other, *action, &moves);
                        if rows.len() >= LOOK_EVERY && system.stop() {
                            return Err(Trouble::Stopped);
                        }
                    }
                }
                _ => return Ok(Vec::new()),
            },
            _ if consequence.known.is_none() => return Err(missing().into()),
            Some(Others::Start(threads)) => {
                for symbols in threads {
                    rows = self.started(system, &rows, symbols).map_err(blame)?;
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
                        true => rows = self.woken(system, &rows, thread, woken.condition).map_err(blame)?,
                        false => rows.extend(self.woken(system, &before, thread, woken.condition).map_err(blame)?),
                    }
                }
            }
            None => {}
        }
        let mut found = Vec::new();
        for mut row in rows {
            if row.contains(&NOWHERE) {
                return Err(missing().into());
            }
            self.groups.sort(&mut row);
            found.push(self.index.find(&self.lemma.views, &row));
            if found.last() == Some(&None) && !exclusions.iter_mut().any(|exclusion| exclusion.excludes(&row, None)) {
                return Err(blame(format!("leads to {}, which is missing", self.show(system, &row))).into());
            }
        }
        Ok(found)
    }

    /// A thread begins with one of some symbols in any place that is empty.
    fn started(&self, system: &impl System, rows: &[Vec<u32>], symbols: &[Symbol]) -> Result<Vec<Vec<u32>>, String> {
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
                        self.require_below(system, place, &[symbol], Symbol::BOTTOM)?;
                        word.pop();
                    }
                    found.push(self.replaced(system, row, place, &word)?);
                }
            }
            if taken.is_empty() {
                return Err("starts more threads than there are places".to_owned());
            }
        }
        Ok(found)
    }

    /// A thread, if it sleeps on a condition, is woken.
    fn woken(
        &self,
        system: &impl System,
        rows: &[Vec<u32>],
        thread: usize,
        condition: u32,
    ) -> Result<Vec<Vec<u32>>, String> {
        let mut found = Vec::new();
        for row in rows {
            let word = self.word(thread, row[thread + 1]);
            let Some(tops) = system.woken(word[0], condition) else {
                found.push(row.clone());
                continue;
            };
            for top in tops {
                let changed: Vec<_> = [top].iter().chain(&word[1..]).copied().collect();
                for &symbol in self.beneath(thread, word) {
                    self.require_below(system, thread, &changed, symbol)?;
                }
                found.push(self.replaced(system, row, thread, &changed)?);
            }
        }
        Ok(found)
    }

    fn replaced(&self, system: &impl System, row: &[u32], thread: usize, word: Word<'_>) -> Result<Vec<u32>, String> {
        let number = self.words[self.groups.leader(thread)].get(word).copied();
        let missing = || {
            format!("brings {} to {}, which no view has", system.thread_name(thread), show_word(system, thread, word))
        };
        let mut row = row.to_vec();
        row[thread + 1] = number.ok_or_else(missing)?;
        Ok(row)
    }

    fn require_below(&self, system: &impl System, thread: usize, word: Word<'_>, symbol: Symbol) -> Result<(), String> {
        let below = &self.below[self.groups.leader(thread)];
        match below.get(word).is_some_and(|listed| listed.binary_search(&symbol).is_ok()) {
            true => Ok(()),
            false => Err(format!(
                "{} may come to lie below {}, which is not listed",
                system.show_symbol(thread, symbol),
                show_word(system, thread, word)
            )),
        }
    }
}

/// One more thread moves with an action, in each way that it can.
fn met(rows: &[Vec<u32>], thread: usize, action: u32, moves: &[Consequence]) -> Vec<Vec<u32>> {
    let takes_part =
        |consequence: &&Consequence| matches!(consequence.step.others, Some(Others::Meet(own)) if own == action);
    let moved = |row: &Vec<u32>, consequence: &Consequence| {
        let mut row = row.clone();
        row[thread + 1] = consequence.known.unwrap_or(NOWHERE);
        row
    };
    rows.iter().flat_map(|row| moves.iter().filter(takes_part).map(|consequence| moved(row, consequence))).collect()
}
