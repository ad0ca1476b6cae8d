//! Threads with finite control that share a variable and one unbounded counter: the definition, and random machines.

use std::collections::BTreeSet;

/// What a rule does to the counter. A rule that cannot do that does not fire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Keep,
    Increment,
    Decrement,
    IsZero,
}

/// From a shared value and a position to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Rule {
    pub(crate) from: (u32, u32),
    pub(crate) op: Op,
    pub(crate) to: (u32, u32),
}

/// What must never be. Whether the counter is zero is all that a property may ask of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Property {
    pub(crate) shared: Option<u32>,
    pub(crate) positions: Vec<Option<u32>>,
    pub(crate) zero: Option<bool>,
}

/// The shared value, the positions of the threads, the counter.
pub(crate) type State = (u32, Vec<u32>, u32);

/// A machine. It starts with the shared value 0, all threads at position 0, and the counter at 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Machine {
    pub(crate) shared: u32,
    pub(crate) positions: u32,
    pub(crate) threads: Vec<Vec<Rule>>,
    pub(crate) properties: Vec<Property>,
}

impl Machine {
    pub(crate) fn initial(&self) -> State {
        (0, vec![0; self.threads.len()], 0)
    }

    /// What a rule of a thread makes of a state.
    pub(crate) fn step(&self, state: &State, thread: usize, rule: &Rule) -> Option<State> {
        let (shared, positions, counter) = state;
        if rule.from != (*shared, positions[thread]) {
            return None;
        }
        let counter = match rule.op {
            Op::Keep => *counter,
            Op::Increment => counter + 1,
            Op::Decrement => counter.checked_sub(1)?,
            Op::IsZero if *counter == 0 => 0,
            Op::IsZero => return None,
        };
        let mut positions = positions.clone();
        positions[thread] = rule.to.1;
        Some((rule.to.0, positions, counter))
    }

    /// The states that a thread can go to with one step.
    pub(crate) fn successors(&self, state: &State, thread: usize) -> Vec<State> {
        self.threads[thread].iter().filter_map(|rule| self.step(state, thread, rule)).collect()
    }

    pub(crate) fn violates(&self, property: usize, (shared, positions, counter): &State) -> bool {
        let property = &self.properties[property];
        property.shared.is_none_or(|wanted| wanted == *shared)
            && property.zero.is_none_or(|zero| zero == (*counter == 0))
            && property.positions.iter().zip(positions).all(|(wanted, at)| wanted.is_none_or(|wanted| wanted == *at))
    }
}

/// All states up to a value of the counter, and whether there are no others.
pub(crate) fn explore(machine: &Machine, most: u32) -> (BTreeSet<State>, bool) {
    let mut found = BTreeSet::from([machine.initial()]);
    let (mut open, mut complete) = (vec![machine.initial()], true);
    while let Some(state) = open.pop() {
        for next in (0..machine.threads.len()).flat_map(|thread| machine.successors(&state, thread)) {
            if next.2 > most {
                complete = false;
            } else if found.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    (found, complete)
}

/// A random machine with up to three threads. Where `bounded`, threads only increment when they move to a higher position,
/// and never come back, so that the counter is bounded.
pub(crate) fn random(rng: &mut fastrand::Rng) -> Machine {
    let (threads, shared, positions) = (rng.usize(1..=3), rng.u32(1..=2), rng.u32(2..=4));
    let bounded = rng.u32(..4) == 0;
    let rules = (0..threads).map(|_| {
        let rules = (0..rng.usize(2..=6)).map(|_| random_rule(rng, shared, positions, bounded));
        rules.collect()
    });
    let threads: Vec<Vec<Rule>> = rules.collect();
    let properties = (0..rng.usize(1..=2)).map(|_| random_property(rng, shared, positions, threads.len())).collect();
    Machine { shared, positions, threads, properties }
}

fn random_rule(rng: &mut fastrand::Rng, shared: u32, positions: u32, bounded: bool) -> Rule {
    let op = [Op::Keep, Op::Increment, Op::Increment, Op::Decrement, Op::Decrement, Op::IsZero][rng.usize(..6)];
    let (mut from, mut to) = (rng.u32(..positions), rng.u32(..positions));
    if bounded {
        from = rng.u32(..positions - 1);
        to = rng.u32(from + 1..positions);
    }
    Rule { from: (rng.u32(..shared), from), op, to: (rng.u32(..shared), to) }
}

fn random_property(rng: &mut fastrand::Rng, shared: u32, positions: u32, threads: usize) -> Property {
    let mut maybe = |most: u32| rng.bool().then(|| rng.u32(..most));
    let (shared, positions) = (maybe(shared), (0..threads).map(|_| maybe(positions)).collect());
    Property { shared, positions, zero: [None, Some(true), Some(false)][rng.usize(..3)] }
}
