//! Checks proofs about any number of threads, and replays traces of them.
//!
//! Each lemma holds in every reachable state, by induction over steps, given the lemmas before it:
//!
//! - *weight*: an initial state weighs no more than the bound; no step makes the sum larger, and neither does moving a thread.
//!   A place that may hold any number at the start must weigh nothing.
//! - *views*: every k threads of an initial state, with the shared state, are a row (`views.rs` says what steps are owed).
//! - *never*: no initial state covers a pattern. What covers one after a step has covered, before it, one of the least states
//!   from which the step leads there; each of them covers a pattern, or an earlier lemma excludes it.
//!
//! A pattern is excluded if it weighs more than the bound, if some k threads of it are no row, or if it covers a pattern that
//! is never covered; then so is all that covers it. Weights are natural numbers, and rows are asked for each choice of
//! threads, so what is excluded is closed upwards.

mod views;

use tepui_cert::counters::{Certificate, Lemma, Trace, Weight};
use tepui_model::counters::{Bag, Net, Pattern, State, Step};

use crate::{Rejected, Replayed};
use views::Rows;

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Accepted {
    /// The properties.
    pub properties: Vec<String>,
    /// How many lemmas there are.
    pub lemmas: usize,
}

/// From time to time asked whether to stop.
type Stopping<'a> = &'a dyn Fn() -> bool;

/// A lemma that was accepted, ready to exclude patterns.
pub(crate) enum Fact<'c> {
    Weight { bound: u128, shared: Vec<u64>, places: Vec<u64> },
    Views(Rows),
    Never(&'c [Pattern]),
}

/// Decides whether a certificate proves those properties of a model that have one of these names.
pub fn check(
    net: &Net,
    properties: &[String],
    certificate: &Certificate,
    stop: Stopping<'_>,
) -> Result<Accepted, Rejected> {
    if certificate.model != net.digest() {
        return Err(Rejected::new("model", "the certificate is about another model"));
    }
    let facts = prove(net, &certificate.lemmas, stop)?;
    for name in properties {
        let own = net.properties.iter().find(|property| property.name == *name);
        let own = own.ok_or_else(|| Rejected::new("properties", format!("the model has no property {name}")))?;
        let claimed = certificate.claims.iter().any(|claim| claim.name == *name && claim.never == own.never);
        if !claimed {
            return Err(Rejected::new("properties", format!("the certificate does not claim {name}")));
        }
        if let Some(open) = own.never.iter().position(|pattern| !excluded(&facts, pattern)) {
            return Err(Rejected::new(
                format!("property {name}"),
                format!("no lemma excludes its pattern {}", open + 1),
            ));
        }
    }
    Ok(Accepted { properties: properties.to_vec(), lemmas: facts.len() })
}

/// Checks lemmas, each relative to those before it.
pub(crate) fn prove<'c>(net: &Net, lemmas: &'c [Lemma], stop: Stopping<'_>) -> Result<Vec<Fact<'c>>, Rejected> {
    let mut facts: Vec<Fact<'_>> = Vec::new();
    for (number, lemma) in lemmas.iter().enumerate() {
        let place = format!("lemma {}", number + 1);
        let fact = match lemma {
            Lemma::Weight(weight) => weighed(net, weight),
            Lemma::Views(listed) => {
                Rows::new(net, listed).and_then(|rows| rows.check(net, stop).map(|()| rows)).map(Fact::Views)
            }
            Lemma::Never(patterns) => never(net, patterns, &facts, stop).map(|()| Fact::Never(patterns)),
        };
        facts.push(fact.map_err(|wrong| wrong.at(place))?);
    }
    Ok(facts)
}

/// Why a lemma does not hold.
enum Wrong {
    Because(String),
    Stopped,
}

impl Wrong {
    fn at(self, place: String) -> Rejected {
        match self {
            Self::Because(reason) => Rejected::new(place, reason),
            Self::Stopped => Rejected::stopped(place),
        }
    }
}

fn because<T>(reason: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong::Because(reason.into()))
}

/// A weight that no step increases.
fn weighed<'c>(net: &Net, weight: &Weight) -> Result<Fact<'c>, Wrong> {
    let shared = spread(&weight.shared, net.shared.count())?;
    let places = spread(&weight.places, net.places.count())?;
    let sum = |state: u32, bag: &Bag| weighs(&shared, &places, state, bag);
    if (net.counts.iter().zip(&places)).any(|(count, weight)| count.or_more && *weight > 0) {
        return because("a place weighs something and may hold any number at the start");
    }
    let start: Bag = (0..).zip(net.counts.iter().map(|count| count.least)).collect();
    let bound = u128::from(weight.bound);
    if sum(net.start, &start) > bound {
        return because("the start weighs more than the bound");
    }
    for step in &net.steps {
        if sum(step.to, &step.put) > sum(step.from, &step.taken) {
            return because(format!("the step of line {} puts more than it takes", step.line));
        }
        let gains = |&(from, to): &(u32, Option<u32>)| to.is_some_and(|to| places[to as usize] > places[from as usize]);
        if step.moves.iter().any(gains) {
            return because(format!("the step of line {} moves threads to where they weigh more", step.line));
        }
    }
    Ok(Fact::Weight { bound, shared, places })
}

fn spread(weights: &[(u32, u64)], count: u32) -> Result<Vec<u64>, Wrong> {
    let mut all = vec![0; count as usize];
    for &(number, weight) in weights {
        match all.get_mut(number as usize) {
            Some(own) => *own = weight,
            None => return because(format!("there is no shared state or place {number}")),
        }
    }
    Ok(all)
}

/// Fewer than 2^32 summands, each below 2^96.
fn weighs(shared: &[u64], places: &[u64], state: u32, bag: &Bag) -> u128 {
    let threads = bag.iter().map(|&(place, count)| u128::from(places[place as usize]) * u128::from(count));
    u128::from(shared[state as usize]) + threads.sum::<u128>()
}

/// Patterns that are not covered at the start, and not after a step unless they were before, or unless an earlier lemma does
/// not hold.
fn never(net: &Net, patterns: &[Pattern], facts: &[Fact<'_>], stop: Stopping<'_>) -> Result<(), Wrong> {
    let exists = |pattern: &Pattern| {
        pattern.shared < net.shared.count() && pattern.counts.iter().all(|(place, _)| *place < net.places.count())
    };
    if !patterns.iter().all(exists) {
        return because("there is no such shared state or place");
    }
    let mut by_shared: Vec<Vec<&Pattern>> = vec![Vec::new(); net.shared.count() as usize];
    patterns.iter().for_each(|pattern| by_shared[pattern.shared as usize].push(pattern));
    for (number, pattern) in patterns.iter().enumerate() {
        let at_start = |&(place, count): &(u32, u32)| {
            let own = net.counts[place as usize];
            own.or_more || own.least >= count
        };
        if pattern.shared == net.start && pattern.counts.iter().all(at_start) {
            return because(format!("pattern {} is covered at the start", number + 1));
        }
        for step in net.steps.iter().filter(|step| step.to == pattern.shared) {
            let (mut looked, mut stopped) = (0_u32, stop());
            let mut known = |before: &Pattern| {
                // There may be very many of them.
                looked = looked.wrapping_add(1);
                stopped |= looked.is_multiple_of(1 << 10) && stop();
                let smaller = |other: &Pattern| is_below(&other.counts, &before.counts);
                !stopped
                    && (by_shared[step.from as usize].iter().any(|other| smaller(other)) || excluded(facts, before))
            };
            let all_known = each_before(step, pattern, &mut known);
            if stopped {
                return Err(Wrong::Stopped);
            }
            if !all_known {
                return because(format!("pattern {} can be reached by the step of line {}", number + 1, step.line));
            }
        }
    }
    Ok(())
}

/// Goes through the least states from which a step leads to something that covers a pattern; says whether `holds` is true of
/// all of them.
fn each_before(step: &Step, pattern: &Pattern, holds: &mut dyn FnMut(&Pattern) -> bool) -> bool {
    // What is left to come from threads that are not taken.
    let put = |place: u32| step.put.iter().find(|(own, _)| *own == place).map_or(0, |(_, count)| *count);
    let left = pattern.counts.iter().map(|&(place, count)| (place, count.saturating_sub(put(place))));
    let left: Vec<_> = left.filter(|(_, count)| *count > 0).collect();
    // The places from which threads go to each of them.
    let sources = |place: u32| {
        let moved = step.moves.iter().filter(|(_, to)| *to == Some(place)).map(|(from, _)| *from);
        let stays =
            Some(place).filter(|_| step.goes(place) == Some(place) && !step.moves.contains(&(place, Some(place))));
        stays.into_iter().chain(moved).filter(|from| step.allows(*from)).collect::<Vec<_>>()
    };
    let choices: Vec<_> = left.iter().map(|&(place, count)| (sources(place), count)).collect();
    let mut counts = vec![];
    counts.extend(step.taken.iter().copied());
    distribute(&choices, 0, counts, &mut |counts| {
        let mut counts = counts.to_vec();
        counts.sort_unstable();
        let mut bag: Bag = Vec::new();
        for (place, count) in counts {
            match bag.last_mut().filter(|last| last.0 == place) {
                Some(last) => last.1 = last.1.saturating_add(count),
                None => bag.push((place, count)),
            }
        }
        holds(&Pattern { shared: step.from, counts: bag })
    })
}

/// Distributes threads over the places that they may come from, in all ways.
fn distribute(choices: &[(Vec<u32>, u32)], from: usize, counts: Bag, each: &mut dyn FnMut(&Bag) -> bool) -> bool {
    let Some(((sources, count), rest)) = choices.split_first() else { return each(&counts) };
    match sources.get(from..) {
        None | Some([]) => true,
        // All that are left come from the last one.
        Some([last]) => {
            let counts = counts.into_iter().chain([(*last, *count)]).collect();
            distribute(rest, 0, counts, each)
        }
        Some([first, ..]) => (0..=*count).all(|number| {
            let mut counts = counts.clone();
            counts.extend(Some((*first, number)).filter(|_| number > 0));
            let mut choices = choices.to_vec();
            choices[0].1 = count - number;
            match number == *count {
                true => distribute(rest, 0, counts, each),
                false => distribute(&choices, from + 1, counts, each),
            }
        }),
    }
}

/// Whether one bag has no more of anything than another; both are in ascending order.
fn is_below(small: &Bag, large: &Bag) -> bool {
    let mut rest = large.iter();
    small.iter().all(|&(place, count)| rest.any(|own| own.0 == place && own.1 >= count))
}

/// Whether no reachable state covers a pattern, by one of the lemmas.
pub(crate) fn excluded(facts: &[Fact<'_>], pattern: &Pattern) -> bool {
    facts.iter().any(|fact| match fact {
        Fact::Weight { bound, shared, places } => weighs(shared, places, pattern.shared, &pattern.counts) > *bound,
        Fact::Views(rows) => !rows.admit(pattern.shared, &pattern.counts),
        Fact::Never(patterns) => {
            patterns.iter().any(|own| own.shared == pattern.shared && is_below(&own.counts, &pattern.counts))
        }
    })
}

/// Takes the steps of a trace; the last state must violate the property that it claims.
pub fn replay(net: &Net, trace: &Trace) -> Result<Replayed, Rejected> {
    if trace.model != net.digest() {
        return Err(Rejected::new("model", "the trace is about another model"));
    }
    let mut state = state_of(net, &trace.start).filter(|state| net.is_initial(state));
    let mut now = state.take().ok_or_else(|| Rejected::new("start", "this is no initial state"))?;
    for (number, listed) in trace.steps.iter().enumerate() {
        let place = || format!("step {}", number + 1);
        let step = net.steps.get(listed.number as usize);
        let step = step.ok_or_else(|| Rejected::new(place(), "the model has no such step"))?;
        now = net.after(&now, step).ok_or_else(|| Rejected::new(place(), "the step is not possible"))?;
        if state_of(net, &listed.after).as_ref() != Some(&now) {
            return Err(Rejected::new(place(), "the step leads to another state"));
        }
    }
    let property = net.properties.iter().find(|property| property.name == trace.property);
    let property = property.ok_or_else(|| Rejected::new("property", "the model has no such property"))?;
    match property.never.iter().any(|pattern| pattern.is_covered_by(&now)) {
        true => {
            let (property, steps) = (trace.property.clone(), trace.steps.len());
            Ok(Replayed { property, steps, contexts: trace.contexts() })
        }
        false => Err(Rejected::new("end", "the last state does not violate the property")),
    }
}

fn state_of(net: &Net, listed: &Pattern) -> Option<State> {
    let mut counts = vec![0; net.places.count() as usize];
    for &(place, count) in &listed.counts {
        *counts.get_mut(place as usize)? = u64::from(count);
    }
    Some(State { shared: listed.shared, counts })
}
