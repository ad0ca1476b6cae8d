//! Proofs by regular sets of stacks: is every step from a row part of another row?
//!
//! A row stands for all states with its shared state whose stacks are in its languages. Claim, proved by induction over
//! the steps of an execution: every reachable state is in some row. The initial states are; and a step changes the top of
//! one stack, so what it makes of the states of a row is again a product of sets: the changed thread has some symbols
//! in front of what an edge of its automaton leads to, the others have what they had. This product must be part of one row.
//! Contexts play no role.
//!
//! *Pieces.* What a thread has after a step is a list of pieces: a word, and a state of one of its languages from which the
//! rest of the stack is read. A piece is part of a language if the language can read its word and then everything that
//! the piece can: both automata are walked through together, and the larger one is deterministic, so it never has a choice.
//!
//! *Groups.* A row stands for all that arise by permuting the languages of interchangeable threads; what a permutation
//! makes of a reachable state is reachable, see [`lemma`](crate::lemma). So the pieces of a group's threads may be
//! parts of the languages of a row in any order: a matching is looked for.
//!
//! *Turns.* Where a thread may have to wait for one that must not be interrupted, a step is taken from those states of a
//! row in which no other thread is like that.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_cert::pushdown::{Language, Regular, Row};
use tepui_model::pushdown::Symbol;

use crate::Rejected;
use crate::system::{Change, Move, NOWHERE, Others, System};

/// After how many steps the caller is asked whether to stop.
const LOOK_EVERY: usize = 256;

/// The rest of a stack: what a state of a language reads; none, if nothing is left.
type Rest = Option<u32>;

/// Some symbols, and the rest of the stack: the number of the language, and the state from which it is read.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Piece {
    word: Vec<Symbol>,
    language: u32,
    rest: Rest,
}

/// Rows that were found to be closed under steps.
pub(crate) struct Checked<'a, 's, S> {
    system: &'s S,
    regular: &'a Regular,
    leaders: Vec<usize>,
    by_shared: FxHashMap<u32, Vec<usize>>,
    /// Which pieces of a leader's languages are parts of which others.
    known: RefCell<FxHashMap<(usize, Piece, u32), bool>>,
}

/// Checks that the rows contain every reachable state.
pub(crate) fn check<'a, 's, S: System>(system: &'s S, regular: &'a Regular) -> Result<Checked<'a, 's, S>, Rejected> {
    // A system that was told to stop may have left results out: then nothing is known.
    let wrong = |reason: String| match system.stop() {
        true => Rejected::stopped("regular sets"),
        false => Rejected::new("regular sets", reason),
    };
    let checked = Checked::well_formed(system, regular).map_err(wrong)?;
    checked.holds_initially().map_err(wrong)?;
    match checked.is_closed().map_err(wrong)? {
        true => Ok(checked),
        false => Err(Rejected::stopped("regular sets")),
    }
}

impl<'a, 's, S: System> Checked<'a, 's, S> {
    fn well_formed(system: &'s S, regular: &'a Regular) -> Result<Self, String> {
        let threads = system.threads();
        if regular.threads.len() != threads || regular.rows.width() != threads + 1 {
            return Err(format!("they are not about {threads} threads"));
        }
        let mut leaders = Vec::new();
        for (thread, part) in regular.threads.iter().enumerate() {
            let name = || system.thread_name(thread);
            leaders.push(part.like.unwrap_or(thread));
            if let Some(leader) = part.like {
                let leads = leader < thread && regular.threads[leader].like.is_none() && part.languages.is_empty();
                if !leads {
                    return Err(format!("thread {} is not like an earlier one that is like no other", name()));
                }
                system.alike(thread, leader).map_err(|why| format!("thread {} {why}", name()))?;
            }
            if !part.languages.iter().all(|language| is_language(language, system.symbols(thread))) {
                return Err(format!("thread {} has a language that is no deterministic automaton", name()));
            }
        }
        let mut by_shared: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (number, row) in regular.rows.iter().enumerate() {
            let has =
                |(thread, &cell): (usize, &u32)| (cell as usize) < regular.threads[leaders[thread]].languages.len();
            if row[0] >= system.shared_states() || !row[1..].iter().enumerate().all(has) {
                return Err(format!("the row {row:?} names a shared state or language that does not exist"));
            }
            by_shared.entry(row[0]).or_default().push(number);
        }
        Ok(Self { system, regular, leaders, by_shared, known: RefCell::default() })
    }

    /// A language of a thread.
    fn language(&self, thread: usize, number: u32) -> &'a Language {
        &self.regular.threads[self.leaders[thread]].languages[number as usize]
    }

    /// The rows.
    pub(crate) fn rows(&self) -> impl ExactSizeIterator<Item = Row> {
        self.regular.rows.iter()
    }

    /// The symbols that may lie on top of a thread's stack in a row, each with those that may lie below it.
    pub(crate) fn tops(&self, thread: usize, row: &[u32]) -> Vec<(Symbol, Vec<Symbol>)> {
        let language = self.language(thread, row[thread + 1]);
        let below = |to: Rest| to.map_or(Vec::new(), |to| edges(language, to).map(|(symbol, _)| symbol).collect());
        edges(language, 0).map(|(symbol, to)| (symbol, below(to))).collect()
    }

    /// A row, for people: the shared state, and what may lie on top of each stack.
    pub(crate) fn show(&self, row: &[u32]) -> String {
        let tops = |thread: usize| {
            let names: Vec<_> =
                self.tops(thread, row).iter().map(|(symbol, _)| self.system.show_symbol(thread, *symbol)).collect();
            if names.len() == 1 { names.concat() } else { format!("{{{}}}", names.join(" ")) }
        };
        let tops: Vec<_> = (0..row.len() - 1).map(tops).collect();
        format!("{}|{}", self.system.show_shared(row[0]), tops.join(","))
    }

    fn holds_initially(&self) -> Result<(), String> {
        for (number, (shared, stacks)) in self.system.initial().iter().enumerate() {
            let piece = |stack: &Vec<Symbol>| {
                let word = stack.iter().copied().chain([Symbol::BOTTOM]).collect();
                vec![Piece { word, language: 0, rest: None }]
            };
            if !self.is_covered(*shared, &stacks.iter().map(piece).collect::<Vec<_>>()) {
                return Err(format!("the initial state, {}, is in no row", self.system.show_initial(number)));
            }
        }
        Ok(())
    }

    /// Whether every step from every row is part of a row; false, if the caller wanted to stop.
    fn is_closed(&self) -> Result<bool, String> {
        let mut steps = 0_usize;
        let mut memo: FxHashMap<(usize, u32, Symbol), Vec<Move>> = FxHashMap::default();
        for row in self.rows() {
            for thread in 0..row.len() - 1 {
                let Some(others) = self.others(thread, &row) else { continue };
                for (top, rest) in edges(self.language(thread, row[thread + 1]), 0) {
                    let moves = memo
                        .entry((self.leaders[thread], row[0], top))
                        .or_insert_with(|| self.system.moves(self.leaders[thread], row[0], top));
                    for step in moves.iter() {
                        steps += 1;
                        if steps.is_multiple_of(LOOK_EVERY) && self.system.stop() {
                            return Ok(false);
                        }
                        self.follow((thread, &row), (step, rest), &others).map_err(|reason| {
                            let step = self.system.show_move(self.leaders[thread], step);
                            format!("in row {}, {step}: {reason}", self.show(&row))
                        })?;
                    }
                }
            }
        }
        Ok(!self.system.stop())
    }

    /// What the other threads have while one moves; none, if one of them never lets it.
    fn others(&self, mover: usize, row: &[u32]) -> Option<Vec<Vec<Piece>>> {
        let whole = |thread: usize| {
            let (number, language) = (row[thread + 1], self.language(thread, row[thread + 1]));
            let held = |symbol: Symbol| S::TURNS && thread != mover && self.system.is_uninterrupted(symbol);
            if !edges(language, 0).any(|(symbol, _)| held(symbol)) {
                return Some(vec![Piece { word: Vec::new(), language: number, rest: Some(0) }]);
            }
            let free = edges(language, 0).filter(|(symbol, _)| !held(*symbol));
            let pieces: Vec<_> =
                free.map(|(symbol, rest)| Piece { word: vec![symbol], language: number, rest }).collect();
            (!pieces.is_empty()).then_some(pieces)
        };
        (0..row.len() - 1).map(whole).collect()
    }

    /// Whether what a step leads to is part of a row.
    fn follow(
        &self,
        (thread, row): (usize, &[u32]),
        (step, rest): (&Move, Rest),
        others: &[Vec<Piece>],
    ) -> Result<(), String> {
        let language = row[thread + 1];
        let piece = |word: Vec<Symbol>, rest: Rest| Piece { word, language, rest };
        let changed: Vec<(u32, Piece)> = match &step.change {
            Change::Replace(symbols) => vec![(step.to, piece(symbols.to_vec(), rest))],
            Change::Clear => vec![(step.to, piece(vec![Symbol::BOTTOM], None))],
            Change::Pop => {
                let lower = rest.into_iter().flat_map(|rest| edges(self.language(thread, language), rest));
                let mut found = Vec::new();
                for (symbol, rest) in lower {
                    let results = self.system.revealed(self.leaders[thread], step, symbol).into_iter();
                    found.extend(results.map(|(to, symbol)| (to, piece(vec![symbol], rest))));
                }
                found
            }
        };
        for (to, changed) in changed {
            let mut pieces = others.to_vec();
            pieces[thread] = vec![changed];
            match &step.others {
                None => self.require(to, &pieces)?,
                Some(Others::Wake(woken)) => {
                    if !woken.all {
                        return Err("wakes one of several threads: regular sets do not tell".to_owned());
                    }
                    self.wake(thread, woken.condition, &mut pieces);
                    self.require(to, &pieces)?;
                }
                Some(Others::Start(started)) => self.start((thread, row), to, &pieces, started)?,
                Some(Others::Meet(_)) => return Err("is one of several threads: regular sets do not tell".to_owned()),
            }
        }
        Ok(())
    }

    /// Replaces tops that sleep in all threads but one.
    fn wake(&self, mover: usize, condition: u32, pieces: &mut [Vec<Piece>]) {
        for (thread, own) in pieces.iter_mut().enumerate().filter(|(thread, _)| *thread != mover) {
            let mut woken = Vec::new();
            for piece in own.iter() {
                for (symbol, rest) in self.unfolded(thread, piece) {
                    let with = |symbol: Symbol| Piece { word: vec![symbol], language: piece.language, rest };
                    match self.system.woken(symbol, condition) {
                        Some(awake) => woken.extend(awake.into_iter().map(with)),
                        None => woken.push(with(symbol)),
                    }
                }
            }
            *own = woken;
        }
    }

    /// The first symbols of a piece of at most one symbol.
    fn unfolded(&self, thread: usize, piece: &Piece) -> Vec<(Symbol, Rest)> {
        match piece.word.first() {
            Some(&symbol) => vec![(symbol, piece.rest)],
            None => piece.rest.map_or(Vec::new(), |rest| edges(self.language(thread, piece.language), rest).collect()),
        }
    }

    /// Threads are started in any places that are empty; there must be enough of them in every state of the row.
    fn start(
        &self,
        (mover, row): (usize, &[u32]),
        to: u32,
        pieces: &[Vec<Piece>],
        started: &[Vec<Symbol>],
    ) -> Result<(), String> {
        let others = || (0..pieces.len()).filter(|&thread| thread != mover);
        let tops = |thread: usize| edges(self.language(thread, row[thread + 1]), 0).map(|(symbol, _)| symbol);
        if others().filter(|&thread| tops(thread).all(Symbol::is_bottom)).count() < started.len() {
            return Err("starts more threads than there are places".to_owned());
        }
        let mut rows = vec![(pieces.to_vec(), Vec::new())];
        for symbols in started {
            let mut next = Vec::new();
            for (pieces, taken) in &rows {
                let free = |thread: &usize| !taken.contains(thread) && tops(*thread).any(Symbol::is_bottom);
                for place in others().filter(free) {
                    let (mut pieces, mut taken) = (pieces.clone(), taken.clone());
                    let begin = |&symbol: &Symbol| Piece {
                        word: vec![symbol, Symbol::BOTTOM],
                        language: row[place + 1],
                        rest: None,
                    };
                    pieces[place] = symbols.iter().map(begin).collect();
                    taken.push(place);
                    next.push((pieces, taken));
                }
            }
            rows = next;
        }
        rows.iter().try_for_each(|(pieces, _)| self.require(to, pieces))
    }

    fn require(&self, shared: u32, pieces: &[Vec<Piece>]) -> Result<(), String> {
        match self.is_covered(shared, pieces) {
            true => Ok(()),
            false => Err(format!("leads to states with {} that are in no row", self.system.show_shared(shared))),
        }
    }

    /// Whether a product of pieces is part of a row.
    fn is_covered(&self, shared: u32, pieces: &[Vec<Piece>]) -> bool {
        let rows = self.by_shared.get(&shared).map_or(&[][..], Vec::as_slice);
        rows.iter().any(|&row| self.fits(pieces, &self.regular.rows.get(row)))
    }

    /// Whether the pieces of the threads of each group are parts of the languages of a row, in some order.
    fn fits(&self, pieces: &[Vec<Piece>], row: &[u32]) -> bool {
        self.can_be_placed(&|thread, place| {
            pieces[thread].iter().all(|piece| self.is_part(self.leaders[thread], piece, row[place + 1]))
        })
    }

    /// Whether every thread can have a place of its own in its group that suits it.
    pub(crate) fn can_be_placed(&self, suits: &dyn Fn(usize, usize) -> bool) -> bool {
        let mut taken: Vec<Option<usize>> = vec![None; self.leaders.len()];
        (0..taken.len()).all(|thread| self.place(thread, suits, &mut taken, &mut FxHashSet::default()))
    }

    /// Finds a place for a thread in its group, moving others if need be (augmenting paths).
    fn place(
        &self,
        thread: usize,
        suits: &dyn Fn(usize, usize) -> bool,
        taken: &mut [Option<usize>],
        tried: &mut FxHashSet<usize>,
    ) -> bool {
        for place in 0..taken.len() {
            if self.leaders[place] != self.leaders[thread] || tried.contains(&place) || !suits(thread, place) {
                continue;
            }
            tried.insert(place);
            let free = match taken[place] {
                None => true,
                Some(other) => self.place(other, suits, taken, tried),
            };
            if free {
                taken[place] = Some(thread);
                return true;
            }
        }
        false
    }

    /// Whether a piece is part of a language of the same group.
    fn is_part(&self, leader: usize, piece: &Piece, other: u32) -> bool {
        if piece.word.iter().any(|symbol| symbol.0 == NOWHERE) {
            return false;
        }
        if piece.word.is_empty() && piece.language == other && piece.rest == Some(0) {
            return true;
        }
        let key = (leader, piece.clone(), other);
        if let Some(&known) = self.known.borrow().get(&key) {
            return known;
        }
        let found = self.walk(leader, piece, other);
        self.known.borrow_mut().insert(key, found);
        found
    }

    fn walk(&self, leader: usize, piece: &Piece, other: u32) -> bool {
        let larger = self.language(leader, other);
        let mut at: Rest = Some(0);
        for symbol in &piece.word {
            let Some(&(_, to)) = at.and_then(|state| edge(larger, state, *symbol)) else { return false };
            at = to;
        }
        let (Some(rest), Some(at)) = (piece.rest, at) else { return piece.rest.is_none() && at.is_none() };
        let smaller = self.language(leader, piece.language);
        let mut seen = FxHashSet::from_iter([(rest, at)]);
        let mut open = vec![(rest, at)];
        while let Some((mine, theirs)) = open.pop() {
            for (symbol, to) in edges(smaller, mine) {
                match (to, edge(larger, theirs, symbol)) {
                    (None, Some((_, None))) => {}
                    (Some(mine), Some(&(_, Some(theirs)))) => {
                        if seen.insert((mine, theirs)) {
                            open.push((mine, theirs));
                        }
                    }
                    _ => return false,
                }
            }
        }
        true
    }
}

/// Whether an automaton is deterministic, ends words with the marker and nowhere else, and can always get to the end.
fn is_language(language: &Language, symbols: u32) -> bool {
    let count = language.states.len();
    let is_edge = |&(symbol, to): &(Symbol, Option<u32>)| {
        symbol.0 < symbols && symbol.is_bottom() == to.is_none() && to.is_none_or(|to| (to as usize) < count)
    };
    let ascends = |edges: &[(Symbol, Option<u32>)]| edges.windows(2).all(|pair| pair[0].0 < pair[1].0);
    count > 0
        && language.states.iter().all(|edges| !edges.is_empty() && edges.iter().all(is_edge) && ascends(edges))
        && ends(language)
}

/// Whether every state can get to the end of a word.
fn ends(language: &Language) -> bool {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); language.states.len()];
    let mut open = Vec::new();
    for (state, edges) in language.states.iter().enumerate() {
        for (_, to) in edges {
            match to {
                Some(to) => before[*to as usize].push(state as u32),
                None => open.push(state as u32),
            }
        }
    }
    let mut seen = vec![false; language.states.len()];
    while let Some(state) = open.pop() {
        if !std::mem::replace(&mut seen[state as usize], true) {
            open.extend(&before[state as usize]);
        }
    }
    seen.into_iter().all(|seen| seen)
}

fn edges(language: &Language, state: u32) -> impl Iterator<Item = (Symbol, Rest)> + '_ {
    language.states[state as usize].iter().copied()
}

fn edge(language: &Language, state: u32, symbol: Symbol) -> Option<&(Symbol, Rest)> {
    let edges = &language.states[state as usize];
    edges.binary_search_by_key(&symbol, |edge| edge.0).ok().map(|found| &edges[found])
}
