//! Any number of threads, each in one of finitely many places: what counts is how many are where.
//!
//! A state is a shared state and a number of threads for each place. A step takes threads from places and puts threads into
//! places: one that moves is taken and put, one that is started is put, and where several are taken they meet. The threads that
//! are not taken stay where they are, unless the step *moves* places: then everybody in such a place goes to another one, or
//! disappears. A step may ask that all threads that are not taken are in certain places.
//!
//! At the start there is a number of threads in each place, or any number from one on. A property lists what must not be
//! *covered*: a shared state with at least some threads in some places, whatever else is there.

use crate::Digest;
use crate::pushdown::{Malformed, Names};

/// How many threads are in which places, in ascending order, and none of them 0.
pub type Bag = Vec<(u32, u32)>;

/// A system of threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Net {
    /// The shared states.
    pub shared: Names,
    /// The places.
    pub places: Names,
    /// The shared state at the start.
    pub start: u32,
    /// How many threads are in each place at the start.
    pub counts: Vec<Count>,
    /// The steps.
    pub steps: Vec<Step>,
    /// What must not happen.
    pub properties: Vec<Property>,
}

/// How many threads there are in a place at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Count {
    /// So many.
    pub least: u32,
    /// Or any number from there on.
    pub or_more: bool,
}

/// What may happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The shared state in which it is possible.
    pub from: u32,
    /// The shared state afterwards.
    pub to: u32,
    /// The threads that are taken.
    pub taken: Bag,
    /// The threads that are put.
    pub put: Bag,
    /// Where those go that are in certain places and are not taken, in ascending order: to other places, or nowhere.
    pub moves: Vec<(u32, Option<u32>)>,
    /// The places in which all must be that are not taken, in ascending order; all places, if there is no such condition.
    pub others: Option<Vec<u32>>,
    /// The line of the source that states it, 0 if there is none.
    pub line: u32,
}

/// What must not be covered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Each of these.
    pub never: Vec<Pattern>,
}

/// A shared state with at least some threads in some places.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Pattern {
    /// The shared state.
    pub shared: u32,
    /// The threads.
    pub counts: Bag,
}

/// A state.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// The shared state.
    pub shared: u32,
    /// How many threads there are in each place.
    pub counts: Vec<u64>,
}

impl Step {
    /// Where those go that are in a place and are not taken.
    pub fn goes(&self, place: u32) -> Option<u32> {
        match self.moves.binary_search_by_key(&place, |(from, _)| *from) {
            Ok(found) => self.moves[found].1,
            Err(_) => Some(place),
        }
    }

    /// Whether somebody who is not taken may be in a place.
    pub fn allows(&self, place: u32) -> bool {
        self.others.as_ref().is_none_or(|others| others.binary_search(&place).is_ok())
    }
}

impl Pattern {
    /// Whether a state is covered.
    pub fn is_covered_by(&self, state: &State) -> bool {
        let enough = |&(place, count): &(u32, u32)| state.counts[place as usize] >= u64::from(count);
        self.shared == state.shared && self.counts.iter().all(enough)
    }
}

impl Net {
    /// The same, if all that it mentions is there, and lists are in ascending order; or what is wrong with it.
    pub fn well_formed(self) -> Result<Self, Malformed> {
        let (shared, places) = (self.shared.count(), self.places.count());
        let is_bag = |bag: &Bag| {
            let exists = bag.iter().all(|(place, count)| *place < places && *count > 0);
            exists && bag.is_sorted_by(|one, other| one.0 < other.0)
        };
        let is_there = |place: &u32| *place < places;
        let is_step = |step: &Step| {
            let moves = step.moves.iter().all(|(from, to)| is_there(from) && to.iter().all(is_there));
            let others = step.others.iter().all(|others| others.iter().all(is_there) && others.is_sorted());
            let ascending = step.moves.is_sorted_by(|one, other| one.0 < other.0);
            step.from < shared
                && step.to < shared
                && is_bag(&step.taken)
                && is_bag(&step.put)
                && moves
                && ascending
                && others
        };
        let is_pattern = |pattern: &Pattern| pattern.shared < shared && is_bag(&pattern.counts);
        let wrong = if self.start >= shared {
            "it starts in a shared state that does not exist".to_owned()
        } else if self.counts.len() != places as usize {
            format!("it has {places} places, and says of {} how many threads are there", self.counts.len())
        } else if let Some(step) = self.steps.iter().position(|step| !is_step(step)) {
            format!("step {} mentions what does not exist, or not in ascending order", step + 1)
        } else if let Some(property) = self.properties.iter().find(|property| !property.never.iter().all(is_pattern)) {
            format!("property {} mentions what does not exist, or not in ascending order", property.name)
        } else {
            return Ok(self);
        };
        Err(Malformed::because(wrong))
    }

    /// The initial state with the least number of threads.
    pub fn least(&self) -> State {
        let counts = self.counts.iter().map(|count| u64::from(count.least)).collect();
        State { shared: self.start, counts }
    }

    /// Whether a state is an initial one.
    pub fn is_initial(&self, state: &State) -> bool {
        let fits = |(count, &number): (&Count, &u64)| {
            let least = u64::from(count.least);
            if count.or_more { number >= least } else { number == least }
        };
        let places = self.counts.len() == state.counts.len();
        state.shared == self.start && places && self.counts.iter().zip(&state.counts).all(fits)
    }

    /// The state after a step, if it is possible.
    pub fn after(&self, state: &State, step: &Step) -> Option<State> {
        let mut rest = state.counts.clone();
        for &(place, count) in &step.taken {
            let left = &mut rest[place as usize];
            *left = left.checked_sub(u64::from(count))?;
        }
        let mut counts = vec![0_u64; rest.len()];
        for (place, &count) in (0..).zip(&rest) {
            if count > 0 && !step.allows(place) {
                return None;
            }
            if let Some(to) = step.goes(place) {
                counts[to as usize] = counts[to as usize].checked_add(count)?;
            }
        }
        for &(place, count) in &step.put {
            counts[place as usize] = counts[place as usize].checked_add(u64::from(count))?;
        }
        (state.shared == step.from).then_some(State { shared: step.to, counts })
    }

    /// The fingerprint of what can happen; what must not happen is not part of it.
    pub fn digest(&self) -> Digest {
        let step =
            |step: &Step| format!("{:?}", (step.from, step.to, &step.taken, &step.put, &step.moves, &step.others));
        let steps: Vec<_> = self.steps.iter().map(step).collect();
        let sizes = (self.shared.count(), self.places.count());
        Digest::of(format!("counters {sizes:?} {} {:?} {steps:?}", self.start, self.counts).as_bytes())
    }
}
