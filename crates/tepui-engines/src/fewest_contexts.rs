//! A way to a violation among the states reached, with the fewest contexts that these allow.
//!
//! The search keeps no parents, and its order has nothing to do with contexts. So the states that it stored are walked
//! once more, context by context: from all states that the last context reached for the first time, each thread runs
//! as far as stored states go. A *place* of the walk is a state and the thread that moved last. Places are found in
//! waves, shared by all workers, and kept wave by wave, in order; nothing else is. The way back looks for the first
//! place of the wave before from which a step leads on. What the search did not store may allow a shorter way: the result
//! is an upper bound, and exact where all states are stored.

use std::sync::atomic::{AtomicBool, Ordering};

use tepui_core::{Budget, Stop};

use crate::bits::Bits;
use crate::explorer::Explorer;
use crate::ids::{Id, StateId, ThreadId, Threads};
use crate::packed::Batch;
use crate::system::{PathStep, System};

/// A state, and the place there of the thread that moved last, or that is to move.
type Place = (StateId, ThreadId);

/// Moves made before limits are looked at.
const MOVES_AT_ONCE: usize = 1 << 15;
/// Places compared with the property before limits are looked at: a property may have thousands of patterns.
const PLACES_AT_ONCE: usize = 1 << 13;

/// A path from the initial state to one that is a violation. The error is a limit, or that there is none.
pub fn fewest_contexts<S: System>(
    explorer: &Explorer<S>,
    is_violation: impl Fn(&[u32]) -> bool + Sync,
    budget: &mut Budget,
) -> Result<Vec<PathStep>, Stop> {
    let mut walk = Walk::new(explorer, is_violation);
    if walk.violates(StateId::INITIAL, &mut vec![0; explorer.states.width()]) {
        return Ok(Vec::new());
    }
    let mut seeds = vec![StateId::INITIAL];
    while !seeds.is_empty() {
        let mut wave = walk.start(&seeds, budget)?;
        let (mut waves, mut entered, mut violation) = (Vec::new(), Vec::new(), None);
        while !wave.is_empty() && violation.is_none() {
            violation = walk.enter(&wave, &mut entered, budget)?;
            let next = if violation.is_none() { walk.run_on(&wave, budget)? } else { Vec::new() };
            waves.push(std::mem::replace(&mut wave, next));
        }
        walk.contexts.push(Context { seeds, waves });
        if let Some(state) = violation {
            return walk.way_back(state, budget);
        }
        seeds = entered;
    }
    Err(lost())
}

/// One more context: the states from which threads start, in which others moved last, and where they come to.
struct Context {
    seeds: Vec<StateId>,
    waves: Vec<Vec<Place>>,
}

struct Walk<'a, S: System, V> {
    explorer: &'a Explorer<S>,
    is_violation: V,
    contexts: Vec<Context>,
    /// The places found.
    visited: Bits,
    /// The states found.
    entered: Vec<AtomicBool>,
}

impl<'a, S: System, V: Fn(&[u32]) -> bool + Sync> Walk<'a, S, V> {
    fn new(explorer: &'a Explorer<S>, is_violation: V) -> Self {
        let (states, mut visited) = (explorer.states.len(), Bits::new(explorer.system.threads(), StateId::INITIAL));
        visited.grow(states);
        let mut entered = Vec::new();
        entered.resize_with(states, AtomicBool::default);
        Self { explorer, is_violation, contexts: Vec::new(), visited, entered }
    }

    /// Where threads come to with the first step of a context.
    fn start(&self, seeds: &[StateId], budget: &mut Budget) -> Result<Vec<Place>, Stop> {
        let mut parts = Vec::new();
        for seeds in seeds.chunks(self.seeds_at_once()) {
            // A thread that came to a seed itself has run on.
            let has_moved = |&(seed, mover): &Place| self.visited.has(seed, mover);
            let moves = self.explorer.workers.cut(seeds, |seeds| {
                let moves = self.moves(seeds).filter(|place| !has_moved(place));
                moves.collect::<Vec<_>>()
            });
            self.make(&moves.concat(), &mut parts, budget)?;
        }
        Ok(self.in_order(parts))
    }

    /// Where threads come to with one more step.
    fn run_on(&self, wave: &[Place], budget: &mut Budget) -> Result<Vec<Place>, Stop> {
        let mut parts = Vec::new();
        self.make(wave, &mut parts, budget)?;
        Ok(self.in_order(parts))
    }

    fn seeds_at_once(&self) -> usize {
        (MOVES_AT_ONCE / self.explorer.system.threads()).max(1)
    }

    /// All threads, from all of some states.
    fn moves(&self, seeds: &[StateId]) -> impl Iterator<Item = Place> {
        let threads = Threads::all(self.explorer.system.threads());
        seeds.iter().flat_map(move |&seed| threads.clone().map(move |mover| (seed, mover)))
    }

    /// Makes moves; adds lists of the places that were not found before.
    fn make(&self, moves: &[Place], parts: &mut Vec<Vec<Place>>, budget: &mut Budget) -> Result<(), Stop> {
        let Explorer { system, states, workers, .. } = self.explorer;
        for moves in moves.chunks(MOVES_AT_ONCE) {
            parts.extend(workers.cut(moves, |moves| {
                let (mut row, mut next) = (vec![0; states.width()], Vec::new());
                let (mut batch, mut places) = (Batch::default(), Vec::new());
                for &(state, mover) in moves {
                    states.get(state, &mut row);
                    system.steps(mover, &row, &mut next, &mut |row, place| {
                        states.pack(row, &mut batch);
                        places.push(place);
                    });
                }
                let found = states.find_all(&batch).zip(places).filter_map(|(state, place)| Some((state?, place)));
                found.filter(|&(state, place)| state > StateId::INITIAL && self.visited.set(state, place)).collect()
            }));
            budget.spend(moves.len() as u64)?;
        }
        Ok(())
    }

    fn in_order(&self, parts: Vec<Vec<Place>>) -> Vec<Place> {
        let key = |&(state, place): &Place| u64::from(state.0) << 16 | u64::from(place.0);
        self.explorer.workers.sorted(parts, key, |one, other| one == other)
    }

    /// Adds the states of a wave that are new to those from which the next context starts; returns the first violation.
    fn enter(&self, wave: &[Place], seeds: &mut Vec<StateId>, budget: &mut Budget) -> Result<Option<StateId>, Stop> {
        for wave in wave.chunks(PLACES_AT_ONCE) {
            let parts = self.explorer.workers.cut(wave, |places| {
                let new = places.iter().map(|place| place.0);
                let new: Vec<_> =
                    new.filter(|&state| !self.entered[state.index()].swap(true, Ordering::Relaxed)).collect();
                let mut row = vec![0; self.explorer.states.width()];
                let violation = new.iter().copied().find(|&state| self.violates(state, &mut row));
                (new, violation)
            });
            let violation = parts.iter().find_map(|(_, violation)| *violation);
            if violation.is_some() {
                return Ok(violation);
            }
            parts.into_iter().for_each(|(new, _)| seeds.extend(new));
            budget.pass(wave.len() as u64)?;
        }
        Ok(None)
    }

    /// Whether a state is a violation; `row` is room for it.
    fn violates(&self, state: StateId, row: &mut [u32]) -> bool {
        self.explorer.states.get(state, row);
        (self.is_violation)(row)
    }

    /// The way to a state that the last context came to.
    fn way_back(&self, mut state: StateId, budget: &mut Budget) -> Result<Vec<PathStep>, Stop> {
        let mut path = Vec::new();
        for Context { seeds, waves } in self.contexts.iter().rev() {
            let found = waves.iter().enumerate().find_map(|(wave, places)| Some((wave, first_place(places, state)?)));
            let (wave, mut to) = found.ok_or_else(lost)?;
            for wave in (0..=wave).rev() {
                let from = match wave {
                    0 => self.leading_from(seeds, to, budget)?,
                    _ => self.leading_to(to, &waves[wave - 1], budget)?,
                };
                let from = from.ok_or_else(lost)?;
                path.push(PathStep { before: from.1, after: to.1, row: self.explorer.row(to.0) });
                to = from;
            }
            state = to.0;
        }
        path.reverse();
        Ok(path)
    }

    /// The first move from some states that leads to a place.
    fn leading_from(&self, seeds: &[StateId], to: Place, budget: &mut Budget) -> Result<Option<Place>, Stop> {
        for seeds in seeds.chunks(self.seeds_at_once()) {
            let found = self.leading_to(to, &self.moves(seeds).collect::<Vec<_>>(), budget)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The first of some moves that leads to a place.
    fn leading_to(&self, (to, place): Place, moves: &[Place], budget: &mut Budget) -> Result<Option<Place>, Stop> {
        let Explorer { system, states, workers, .. } = self.explorer;
        let mut target = vec![0; states.width()];
        states.get(to, &mut target);
        for moves in moves.chunks(MOVES_AT_ONCE) {
            let found = workers.cut(moves, |moves| {
                let (mut row, mut next) = (vec![0; states.width()], Vec::new());
                moves.iter().copied().find(|&(state, mover)| {
                    let mut leads = false;
                    states.get(state, &mut row);
                    system.steps(mover, &row, &mut next, &mut |row, moved| {
                        leads |= row == target && moved == place;
                    });
                    leads
                })
            });
            budget.spend(moves.len() as u64)?;
            if let Some(from) = found.into_iter().flatten().next() {
                return Ok(Some(from));
            }
        }
        Ok(None)
    }
}

/// The first place of a state in a wave.
fn first_place(wave: &[Place], state: StateId) -> Option<Place> {
    let place = wave.get(wave.partition_point(|place| place.0 < state))?;
    (place.0 == state).then_some(*place)
}

fn lost() -> Stop {
    Stop::defect("no way to a violation was found among the states reached")
}
