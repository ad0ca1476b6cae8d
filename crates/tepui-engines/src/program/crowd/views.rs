//! The least set of views that no step leaves, with the states and words that are found on the way.
//!
//! A row is a state (what all threads share, and `main`) and k others. A step of `main` or of one in sight leads to every choice
//! of k from what is there afterwards. A step of one that is not in sight changes what the others see. It is there if each k
//! of it and those in sight are a row: whenever a row is new, it is looked for those threads for which it was the last one
//! that was missing.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tepui_core::{Budget, Stop};

use super::threads::{Acting, Effect, MAIN, Moved, NOBODY, OTHERS, Threads};
use crate::interner::Interner;

/// A state, and the words of k threads in ascending order; nobody comes last.
pub(super) type Row = SmallVec<[u32; 4]>;

/// A set of rows that no step leaves, once it is [closed](Self::close).
pub(super) struct Views {
    pub(super) size: usize,
    /// Shared states, with the word of `main`.
    pub(super) states: Interner<(u32, u32)>,
    pub(super) rows: Interner<Row>,
    /// For a row without one of its threads those that complete it.
    completions: FxHashMap<Row, Vec<u32>>,
    /// Rows in which a thread was seen that returns to what lies below it.
    seen: FxHashMap<Acting, Vec<u32>>,
    open: VecDeque<u32>,
}

impl Views {
    pub(super) fn new(threads: &mut Threads, size: usize) -> Self {
        let mut views = Self {
            size,
            states: Interner::default(),
            rows: Interner::default(),
            completions: FxHashMap::default(),
            seen: FxHashMap::default(),
            open: VecDeque::new(),
        };
        let start = views.states.intern(threads.start());
        views.add_all(start, &[]);
        views
    }

    /// Follows every row.
    pub(super) fn close(&mut self, threads: &mut Threads, budget: &mut Budget) -> Result<(), Stop> {
        while let Some(number) = self.open.pop_front() {
            let row = self.rows[number].clone();
            self.follow(number, &row, threads, budget)?;
            while let Some(acting) = threads.stale.pop() {
                threads.look_again(acting, budget)?;
                self.open.extend(self.seen.remove(&acting).into_iter().flatten());
            }
        }
        Ok(())
    }

    /// The thread of a row with a word, or `main`.
    pub(super) fn acting(&self, state: u32, word: Option<u32>) -> Acting {
        let (shared, main) = self.states[state];
        word.map_or((MAIN, shared, main), |word| (OTHERS, shared, word))
    }

    fn follow(&mut self, number: u32, row: &Row, threads: &mut Threads, budget: &mut Budget) -> Result<(), Stop> {
        let (state, others) = (row[0], &row[1..]);
        self.step(number, row, None, threads, budget)?;
        for word in distinct(others) {
            self.step(number, row, Some(word), threads, budget)?;
        }
        for more in self.beside(state, others, budget)? {
            let mut all: Row = others.iter().copied().chain([more]).collect();
            all.sort_unstable();
            for word in distinct(&all) {
                let rest = without(&all, word);
                let acting = self.acting(state, Some(word));
                for moved in &*threads.moves(acting, budget)? {
                    if moved.shared != acting.1 || matches!(moved.effect, Effect::Wakes(..)) {
                        self.moved(state, &rest, &Moved { word: NOBODY, ..moved.clone() }, threads, budget)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The steps of one that is in sight.
    fn step(
        &mut self,
        number: u32,
        row: &Row,
        word: Option<u32>,
        threads: &mut Threads,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let acting = self.acting(row[0], word);
        let moves = threads.moves(acting, budget)?;
        if threads.is_open(&threads.words[acting.0][acting.2]) {
            self.seen.entry(acting).or_default().push(number);
        }
        let rest = word.map_or_else(|| row[1..].into(), |word| without(&row[1..], word));
        for moved in &*moves {
            match word {
                Some(_) => self.moved(row[0], &rest, moved, threads, budget)?,
                None => self.main_moved(&rest, moved, threads, budget)?,
            }
        }
        Ok(())
    }

    /// One of the others has moved; the rest is what else is in sight.
    fn moved(
        &mut self,
        state: u32,
        rest: &[u32],
        moved: &Moved,
        threads: &mut Threads,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let main = self.states[state].1;
        let mut ways = vec![(main, rest.to_vec())];
        if let Effect::Wakes(condition, all) = moved.effect {
            ways = woken(threads, Some(main), rest, condition, all);
        }
        let own: Vec<u32> = Some(moved.word).filter(|word| *word != NOBODY).into_iter().collect();
        for (main, rest) in ways {
            let state = self.states.intern((moved.shared, main));
            self.with_started(state, &[rest, own.clone()].concat(), &moved.effect, budget)?;
        }
        Ok(())
    }

    fn main_moved(
        &mut self,
        rest: &[u32],
        moved: &Moved,
        threads: &mut Threads,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        let state = self.states.intern((moved.shared, moved.word));
        let mut ways = vec![(NOBODY, rest.to_vec())];
        if let Effect::Wakes(condition, all) = moved.effect {
            ways = woken(threads, None, rest, condition, all);
        }
        ways.into_iter().try_for_each(|(_, rest)| self.with_started(state, &rest, &moved.effect, budget))
    }

    /// Adds what is seen of some threads and those that are started.
    fn with_started(&mut self, state: u32, all: &[u32], effect: &Effect, budget: &mut Budget) -> Result<(), Stop> {
        budget.spend(1)?;
        match effect {
            // No more of them are seen at the same time.
            Effect::Starts(words, count) => {
                each_choice(words, (*count as usize).min(self.size), &mut Vec::new(), &mut |more| {
                    self.add_all(state, &[all, more].concat());
                    budget.spend(1)
                })?;
            }
            Effect::Nothing | Effect::Wakes(..) => self.add_all(state, all),
        }
        Ok(())
    }

    /// Adds each choice of threads.
    fn add_all(&mut self, state: u32, all: &[u32]) {
        let mut all: Vec<u32> = all.iter().copied().filter(|word| *word != NOBODY).collect();
        all.sort_unstable();
        all.resize(all.len() + self.size, NOBODY);
        let mut row = Row::from_slice(&[state]);
        self.add_choices(&all, &mut row);
    }

    fn add_choices(&mut self, all: &[u32], row: &mut Row) {
        let missing = self.size + 1 - row.len();
        if missing == 0 {
            return self.add(row);
        }
        for (at, &word) in all.iter().enumerate().take((all.len() + 1).saturating_sub(missing)) {
            if at == 0 || word != all[at - 1] {
                row.push(word);
                self.add_choices(&all[at + 1..], row);
                row.pop();
            }
        }
    }

    fn add(&mut self, row: &Row) {
        let (before, number) = (self.rows.len(), self.rows.intern(row.clone()));
        if self.rows.len() == before {
            return;
        }
        self.open.push_back(number);
        for word in row[1..].iter().copied().collect::<std::collections::BTreeSet<_>>() {
            let rest = with_state(row[0], &without(&row[1..], word));
            self.completions.entry(rest).or_default().push(word);
        }
    }

    /// Who else may be there: each choice of threads is a row.
    fn beside(&self, state: u32, others: &[u32], budget: &mut Budget) -> Result<Vec<u32>, Stop> {
        let completing = |rest: &Row| self.completions.get(rest).map_or(&[][..], Vec::as_slice);
        let rests: SmallVec<[Row; 4]> =
            all_distinct(others).map(|word| with_state(state, &without(others, word))).collect();
        let Some(fewest) = rests.iter().map(completing).min_by_key(|words| words.len()) else { return Ok(Vec::new()) };
        budget.spend(fewest.len() as u64 / 16)?;
        let joins = |&more: &u32| {
            more != NOBODY
                && rests.iter().all(|rest| {
                    let mut row = rest.clone();
                    row.push(more);
                    row[1..].sort_unstable();
                    self.rows.get(&row).is_some()
                })
        };
        Ok(fewest.iter().copied().filter(joins).collect())
    }
}

fn with_state(state: u32, words: &[u32]) -> Row {
    [state].iter().chain(words).copied().collect()
}

/// Each word once, of a list in ascending order.
fn all_distinct(words: &[u32]) -> impl Iterator<Item = u32> {
    words.chunk_by(|one, other| one == other).map(|same| same[0])
}

/// The same without nobody.
fn distinct(words: &[u32]) -> impl Iterator<Item = u32> {
    all_distinct(words).filter(|word| *word != NOBODY)
}

/// A list without one of its words.
fn without(words: &[u32], word: u32) -> Row {
    let at = words.iter().position(|own| *own == word);
    words.iter().enumerate().filter(|(own, _)| Some(*own) != at).map(|(_, word)| *word).collect()
}

/// Goes through all multisets of so many words, which are in ascending order.
pub(super) fn each_choice<F: FnMut(&[u32]) -> Result<(), Stop>>(
    words: &[u32],
    count: usize,
    chosen: &mut Vec<u32>,
    each: &mut F,
) -> Result<(), Stop> {
    if chosen.len() == count {
        return each(chosen);
    }
    for (at, &word) in words.iter().enumerate() {
        chosen.push(word);
        each_choice(&words[at..], count, chosen, each)?;
        chosen.pop();
    }
    Ok(())
}

/// What becomes of `main`, unless it is the one that wakes others, and of those in sight: all that sleep on a condition are woken,
/// or one or none of them.
fn woken(threads: &mut Threads, main: Option<u32>, rest: &[u32], condition: u32, all: bool) -> Vec<(u32, Vec<u32>)> {
    let mut ways = vec![(main.unwrap_or(NOBODY), rest.to_vec())];
    let mut singles = ways.clone();
    if let Some(awake) = main.and_then(|main| threads.woken(MAIN, main, condition)) {
        ways = awake.into_iter().map(|main| (main, rest.to_vec())).collect();
        singles.extend(ways.clone());
    }
    for (at, &word) in rest.iter().enumerate().filter(|(_, word)| **word != NOBODY) {
        let Some(awake) = threads.woken(OTHERS, word, condition) else { continue };
        let with = |(main, rest): &(u32, Vec<u32>), word: u32| {
            let mut rest = rest.clone();
            rest[at] = word;
            (*main, rest)
        };
        singles.extend(awake.iter().map(|&word| with(&(main.unwrap_or(NOBODY), rest.to_vec()), word)));
        ways = ways.iter().flat_map(|way| awake.iter().map(move |&word| with(way, word))).collect();
    }
    if all { ways } else { singles }
}
