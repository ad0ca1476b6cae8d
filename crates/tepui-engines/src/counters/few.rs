//! Few threads, one after the other: all states with at most n of them at the same time.
//!
//! What n threads can do, n + 1 can do as well. So the states for n are kept, and so are the steps that would have led to
//! more threads. A violation that is found with n was not there with fewer.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use tepui_cert::Trace;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::counters::{Net, State, Step};

use super::{steps_by_shared, trace};
use crate::interner::Interner;

/// What is true of it on every model.
pub static FACTS: Facts = Facts {
    explored: "explored completely with at most {} at the same time",
    at_limit: "more threads may do what fewer cannot",
    ..Facts::new("threads", &["threads"])
};

/// The engine.
pub struct Few {
    net: Arc<Net>,
    steps: Vec<Vec<usize>>,
    /// Shared state, then the place of each thread in ascending order.
    states: Interner<Box<[u32]>>,
    /// The state before each state, and the step.
    from: Vec<Option<(u32, u32)>>,
    open: VecDeque<u32>,
    /// Steps that lead to so many threads, each with the state where it is possible.
    later: BTreeMap<usize, Vec<(u32, u32)>>,
    threads: u32,
    taken: u64,
    /// For each property a state that violates it, and the number of threads with which it was found.
    violated: Vec<Option<(u32, u32)>>,
    /// Initial states with too few threads, each with the first place that may get another one.
    starts: Vec<(usize, Vec<u32>)>,
    /// Whether it was stopped before all states with so many threads were known.
    stopped: bool,
}

/// How many threads a violation needs.
pub(super) enum Fewest {
    /// Fewer than were known.
    Found(Trace, Bound),
    /// As many as were known.
    NotFewer(Bound),
    /// That would take too long.
    Unknown,
}

impl Few {
    /// Looks at one thread, then at two and so on.
    pub fn new(net: Arc<Net>) -> Self {
        let [steps, _] = steps_by_shared(&net);
        let violated = vec![None; net.properties.len()];
        Self {
            steps,
            states: Interner::default(),
            from: Vec::new(),
            open: VecDeque::new(),
            later: BTreeMap::new(),
            threads: 0,
            taken: 0,
            violated,
            starts: Vec::new(),
            stopped: false,
            net,
        }
    }

    /// Goes on for so much work, as long as there are fewer threads than so many and no violation of a property is known.
    pub(super) fn go_on(&mut self, property: usize, below: u64, effort: u64, budget: &mut Budget) -> Result<(), Stop> {
        let mut own = budget.with_work(effort);
        let mut stopped = false;
        while !stopped && self.violated[property].is_none() && self.next() < below && !self.is_complete() {
            stopped = self.raise(&mut own).is_err();
        }
        budget.spend(own.work())
    }

    /// A violation with the fewest threads, if that is known: one with so many is known.
    pub(super) fn fewest(&mut self, property: usize, known: u64, budget: &mut Budget) -> Result<Fewest, Stop> {
        match self.violated[property] {
            // A violation with more threads than were explored is one with the fewest, since all with fewer were.
            Some(_) => {
                let (found, bound) = self.trace(property, budget)?;
                Ok(bound.map_or(Fewest::Unknown, |bound| Fewest::Found(found, bound)))
            }
            None if self.next() >= known || self.is_complete() => {
                Ok(u32::try_from(known).map_or(Fewest::Unknown, |known| Fewest::NotFewer(FACTS.bound(&[known]))))
            }
            None => Ok(Fewest::Unknown),
        }
    }

    /// The number of threads that is looked at next, or still.
    fn next(&self) -> u64 {
        u64::from(self.threads) + u64::from(!self.stopped)
    }

    /// Whether there are never more threads.
    fn is_complete(&self) -> bool {
        let endless = self.net.counts.iter().any(|count| count.or_more);
        !self.stopped
            && self.threads > 0
            && u64::from(self.threads) >= self.least()
            && self.later.is_empty()
            && !endless
    }

    /// Looks at one thread more, or goes on where it was stopped.
    fn raise(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        if !std::mem::replace(&mut self.stopped, true) {
            self.threads += 1;
            if u64::from(self.threads) >= self.least() {
                let least = (0..).zip(&self.net.counts).flat_map(|(place, count)| vec![place; count.least as usize]);
                self.starts.push((0, least.collect()));
            }
            for (number, step) in self.later.remove(&(self.threads as usize)).unwrap_or_default() {
                let row = self.states[number].clone();
                self.take(number, &row, step as usize);
            }
        }
        self.start(budget)?;
        while let Some(number) = self.open.pop_front() {
            self.follow(number, budget)?;
            budget.progress(self.threads, self.from.len() as u64, self.from.len() as u64);
        }
        self.stopped = false;
        Ok(())
    }

    fn least(&self) -> u64 {
        self.net.counts.iter().map(|count| u64::from(count.least)).sum()
    }

    /// Adds the initial states that have so many threads.
    fn start(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        let open = (0..).zip(&self.net.counts).filter(|(_, count)| count.or_more).map(|(place, _)| place);
        let open: Vec<u32> = open.collect();
        while let Some((from, places)) = self.starts.pop() {
            if places.len() == self.threads as usize {
                self.add(self.net.start, places, None);
            } else {
                let more = (from..open.len()).map(|at| (at, places.iter().copied().chain([open[at]]).collect()));
                self.starts.extend(more);
            }
            budget.spend(1)?;
        }
        Ok(())
    }

    fn add(&mut self, shared: u32, mut places: Vec<u32>, from: Option<(u32, u32)>) {
        places.sort_unstable();
        places.insert(0, shared);
        let number = self.states.intern(places.into());
        if (number as usize) < self.from.len() {
            return;
        }
        self.from.push(from);
        self.open.push_back(number);
        let row = &self.states[number];
        for (property, violated) in self.net.properties.iter().zip(&mut self.violated) {
            let covers = || {
                property.never.iter().any(|pattern| {
                    let enough = |&(place, count): &(u32, u32)| {
                        row[1..].iter().filter(|own| **own == place).take(count as usize).count() == count as usize
                    };
                    pattern.shared == row[0] && pattern.counts.iter().all(enough)
                })
            };
            if violated.is_none() && covers() {
                *violated = Some((number, self.threads));
            }
        }
    }

    fn follow(&mut self, number: u32, budget: &mut Budget) -> Result<(), Stop> {
        let row = self.states[number].clone();
        let steps = std::mem::take(&mut self.steps[row[0] as usize]);
        let before = self.taken;
        for &own in &steps {
            self.take(number, &row, own);
        }
        // What a step costs grows with the number of threads.
        let each = 1 + row.len() as u64 / 8;
        let tried = steps.len() as u64 / 8;
        self.steps[row[0] as usize] = steps;
        budget.spend(1 + tried + (self.taken - before) * each)
    }

    /// Takes a step, if it is possible, and leaves it for later if it leads to more threads than there may be.
    fn take(&mut self, number: u32, row: &[u32], own: usize) {
        let step = &self.net.steps[own];
        let Some(places) = after(&row[1..], step) else { return };
        self.taken += 1;
        let to = step.to;
        match places.len() > self.threads as usize {
            true => self.later.entry(places.len()).or_default().push((number, own as u32)),
            false => self.add(to, places, Some((number, own as u32))),
        }
    }

    fn round(&self, bound: Bound) -> Round {
        let states = self.from.len() as u64;
        let violated = (0..self.violated.len()).filter(|&number| self.violated[number].is_some()).collect();
        let bytes = self.states.iter().map(|row| row.len() as u64 * 4 + 40).sum();
        Round { states, views: states, steps: self.taken, state_bytes: bytes, violated, ..Round::empty(&FACTS, bound) }
    }
}

/// Where threads are after a step, if it is possible.
fn after(places: &[u32], step: &Step) -> Option<Vec<u32>> {
    let there = |&(place, count): &(u32, u32)| {
        let first = places.partition_point(|own| *own < place);
        places.get(first + count as usize - 1) == Some(&place)
    };
    if !step.taken.iter().all(there) {
        return None;
    }
    let mut rest = places.to_vec();
    for &(place, count) in &step.taken {
        let first = rest.partition_point(|own| *own < place);
        rest.drain(first..first + count as usize);
    }
    if !rest.iter().all(|place| step.allows(*place)) {
        return None;
    }
    if !step.moves.is_empty() {
        rest = rest.iter().filter_map(|place| step.goes(*place)).collect();
    }
    for &(place, count) in &step.put {
        rest.extend(std::iter::repeat_n(place, count as usize));
    }
    Some(rest)
}

impl Engine for Few {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(FACTS.bound(&[self.threads + 1]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        if self.is_complete() {
            return Err(Stop::GaveUp("there are never more threads, and no proof is looked for here".to_owned()));
        }
        let done = self.raise(budget);
        let bound = FACTS.bound(&[self.threads]);
        Ok(Round { stopped: done.err(), ..self.round(bound) })
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(None)
    }

    fn trace(&mut self, property: usize, _: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
        let found = self.violated[property];
        let (mut at, threads) = found.ok_or_else(|| Stop::defect("there is no violation"))?;
        let mut steps = Vec::new();
        while let Some((before, step)) = self.from[at as usize] {
            steps.push(step as usize);
            at = before;
        }
        steps.reverse();
        let row = &self.states[at];
        let mut start = State { shared: row[0], counts: vec![0; self.net.counts.len()] };
        row[1..].iter().for_each(|place| start.counts[*place as usize] += 1);
        let found =
            trace(&self.net, property, start, steps).ok_or_else(|| Stop::defect("a way does not lead there"))?;
        // All states with fewer threads were known then.
        Ok((found.into(), Some(FACTS.bound(&[threads]))))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        Notes::default()
    }
}
