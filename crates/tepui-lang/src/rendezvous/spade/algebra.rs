//! Values of terms: sets of states.
//!
//! An automaton that reads a term in all possible ways gives it the set of states that it can lead to; of an operator
//! with two arguments, the set follows from those of the arguments. Where the set is empty the term is of no interest,
//! nor is any term that contains it.
//!
//! `idle` is neutral for both operators, and a term is in a set iff some term equal to it is. Let the idle states be
//! those that terms made of nothing but `idle` lead to. A transition with an idle state on one side is then a silent step
//! from its other side, because an idle term can be added anywhere; and values are closed under silent steps. With that,
//! an idle term can always be left out: it is the neutral value, beside the sets.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// A value, by its number.
pub(super) type Value = usize;

/// The value of `idle`.
pub(super) const NEUTRAL: Value = 0;

/// The transitions for an operator: where two states lead to.
pub(super) type Pairs = FxHashMap<(usize, usize), Vec<usize>>;

/// That something would take too long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Exhausted;

/// How much work may still be done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(u64);

impl Budget {
    /// A second or two.
    pub(super) fn full() -> Self {
        Self(300_000_000)
    }

    pub(super) fn spend(&mut self, work: usize) -> Result<(), Exhausted> {
        self.0 = self.0.checked_sub(work as u64).ok_or(Exhausted)?;
        Ok(())
    }
}

/// The values that have come up.
#[derive(Debug)]
pub(super) struct Algebra {
    /// The states of the values, in ascending order; the neutral value has an entry, too, which is not used.
    sets: Vec<Vec<usize>>,
    index: FxHashMap<Vec<usize>, Value>,
    /// The silent steps from each state, and how many there are.
    silent: Vec<Vec<usize>>,
    silent_count: usize,
    accepting: BTreeSet<usize>,
    /// Whether `idle` is accepted.
    accepts_idle: bool,
}

impl Algebra {
    /// No values but the neutral one.
    pub(super) fn new(silent: Vec<Vec<usize>>, accepting: BTreeSet<usize>, accepts_idle: bool) -> Self {
        let silent_count = silent.iter().map(Vec::len).sum();
        Self { sets: vec![Vec::new()], index: FxHashMap::default(), silent, silent_count, accepting, accepts_idle }
    }

    /// The value of a set of states, closed under silent steps; none if it is empty.
    pub(super) fn value(&mut self, states: impl IntoIterator<Item = usize>) -> Option<Value> {
        let mut set = BTreeSet::new();
        let mut work: Vec<_> = states.into_iter().collect();
        while let Some(state) = work.pop() {
            if set.insert(state) {
                work.extend(self.silent.get(state).into_iter().flatten());
            }
        }
        let set: Vec<_> = set.into_iter().collect();
        if set.is_empty() {
            return None;
        }
        let next = self.sets.len();
        let found = *self.index.entry(set.clone()).or_insert(next);
        if found == next {
            self.sets.push(set);
        }
        Some(found)
    }

    /// How many values there are, the neutral one included.
    pub(super) fn count(&self) -> usize {
        self.sets.len()
    }

    /// The value of an operator applied to two values.
    pub(super) fn combine(
        &mut self,
        pairs: &Pairs,
        (left, right): (Value, Value),
        budget: &mut Budget,
    ) -> Result<Option<Value>, Exhausted> {
        if left == NEUTRAL || right == NEUTRAL {
            return Ok(Some(left.max(right)));
        }
        let (first, second) = (&self.sets[left], &self.sets[right]);
        budget.spend(10 + 10 * first.len().saturating_mul(second.len()))?;
        let mut states = BTreeSet::new();
        for &one in first {
            states.extend(second.iter().filter_map(|&other| pairs.get(&(one, other))).flatten().copied());
        }
        if !states.is_empty() {
            budget.spend(10 * (states.len() + self.silent_count))?;
        }
        Ok(self.value(states))
    }

    /// Whether a term with this value is accepted.
    pub(super) fn accepts(&self, value: Value) -> bool {
        match value {
            NEUTRAL => self.accepts_idle,
            _ => self.sets[value].iter().any(|state| self.accepting.contains(state)),
        }
    }
}
