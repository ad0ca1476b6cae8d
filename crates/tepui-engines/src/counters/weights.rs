//! Weights: natural numbers for shared states and places such that no step makes the sum over all threads larger.
//!
//! The sum never exceeds that of the start, so whatever weighs more cannot be covered. A weight that excludes a pattern is the
//! solution of a linear program; it is multiplied until it seems to consist of integers, rounded, and verified.

use tepui_cert::counters::Weight;
use tepui_model::counters::{Net, Pattern};

use super::simplex::maximise;

/// What a solution is multiplied with.
const FACTORS: [u32; 17] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 24, 30, 60, 120, 360, 720, 2520];

/// The largest table of a linear program.
const LARGEST: usize = 1 << 18;

/// Unsuccessful attempts after which the next ones are left out.
const PATIENCE: u32 = 6;

/// The weights that are known.
pub(super) struct Weights {
    /// For each shared state and place, and the bound; the one that was useful last comes first.
    known: Vec<(Vec<u64>, u64)>,
    rows: Vec<Vec<(usize, f64)>>,
    /// How many attempts in a row brought nothing.
    failures: u32,
}

impl Weights {
    pub(super) fn new(net: &Net) -> Self {
        let shared = net.shared.count() as usize;
        let column = |place: u32| shared + place as usize;
        let mut rows = Vec::new();
        for step in &net.steps {
            let mut row = vec![(step.to as usize, 1.0), (step.from as usize, -1.0)];
            row.extend(step.put.iter().map(|&(place, count)| (column(place), f64::from(count))));
            row.extend(step.taken.iter().map(|&(place, count)| (column(place), -f64::from(count))));
            rows.push(row);
            let moves = step.moves.iter().filter_map(|&(from, to)| Some((from, to?)));
            rows.extend(moves.map(|(from, to)| vec![(column(to), 1.0), (column(from), -1.0)]));
        }
        let counts = (0..).zip(&net.counts);
        rows.extend(counts.filter(|(_, count)| count.or_more).map(|(place, _)| vec![(column(place), 1.0)]));
        rows.sort_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal));
        rows.dedup();
        Self { known: Vec::new(), rows, failures: 0 }
    }

    /// Whether a known weight excludes a pattern.
    pub(super) fn exclude(&mut self, net: &Net, pattern: &Pattern) -> bool {
        let found = self.known.iter().position(|(weights, bound)| sum(net, weights, pattern) > u128::from(*bound));
        if let Some(found) = found {
            self.known[..=found].rotate_right(1);
        }
        found.is_some()
    }

    /// Looks for a weight that excludes a pattern, unless that has been in vain too often or is too much work.
    pub(super) fn find(&mut self, net: &Net, pattern: &Pattern) -> bool {
        let columns = (net.shared.count() + net.places.count()) as usize;
        if self.failures >= PATIENCE || (self.rows.len() + columns).saturating_mul(columns) > LARGEST {
            return false;
        }
        let shared = net.shared.count() as usize;
        let mut objective = vec![0.0; columns];
        objective[pattern.shared as usize] += 1.0;
        objective[net.start as usize] -= 1.0;
        pattern.counts.iter().for_each(|&(place, count)| objective[shared + place as usize] += f64::from(count));
        for (place, count) in net.counts.iter().enumerate() {
            objective[shared + place] -= f64::from(count.least);
        }
        let solution = maximise(&objective, &self.rows);
        let found =
            solution.and_then(|solution| FACTORS.iter().find_map(|factor| rounded(net, &solution, *factor, pattern)));
        self.failures = if found.is_some() { 0 } else { self.failures + 1 };
        found.is_some_and(|weight| {
            self.known.insert(0, weight);
            true
        })
    }

    /// All of them, as lemmas.
    pub(super) fn lemmas(&self, net: &Net) -> Vec<Weight> {
        let shared = net.shared.count() as usize;
        let listed = |weights: &[u64]| (0..).zip(weights.iter().copied()).filter(|(_, weight)| *weight > 0).collect();
        let lemma = |(weights, bound): &(Vec<u64>, u64)| Weight {
            bound: *bound,
            shared: listed(&weights[..shared]),
            places: listed(&weights[shared..]),
        };
        self.known.iter().map(lemma).collect()
    }
}

/// What a pattern weighs.
fn sum(net: &Net, weights: &[u64], pattern: &Pattern) -> u128 {
    let shared = net.shared.count() as usize;
    let threads = pattern.counts.iter();
    let threads = threads.map(|&(place, count)| u128::from(weights[shared + place as usize]) * u128::from(count));
    u128::from(weights[pattern.shared as usize]) + threads.sum::<u128>()
}

/// A solution in integers, if it is one and excludes the pattern.
fn rounded(net: &Net, solution: &[f64], factor: u32, pattern: &Pattern) -> Option<(Vec<u64>, u64)> {
    let weights: Vec<u64> = solution.iter().map(|value| (value.max(0.0) * f64::from(factor)).round() as u64).collect();
    let shared = net.shared.count() as usize;
    let of =
        |state: u32, counts: &[(u32, u32)]| sum(net, &weights, &Pattern { shared: state, counts: counts.to_vec() });
    let holds = net.steps.iter().all(|step| {
        let moves = |&(from, to): &(u32, Option<u32>)| {
            to.is_none_or(|to| weights[shared + to as usize] <= weights[shared + from as usize])
        };
        of(step.to, &step.put) <= of(step.from, &step.taken) && step.moves.iter().all(moves)
    });
    let start: Vec<_> = (0..).zip(net.counts.iter().map(|count| count.least)).collect();
    let open = net.counts.iter().zip(&weights[shared..]).any(|(count, weight)| count.or_more && *weight > 0);
    let bound = u64::try_from(of(net.start, &start)).ok()?;
    (holds && !open && of(pattern.shared, &pattern.counts) > u128::from(bound)).then_some((weights, bound))
}
