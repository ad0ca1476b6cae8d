//! The engines on a kind of model that is no pushdown system: threads that share one unbounded counter.
//!
//! The model, its views and its closedness test are here and nowhere else: no certificate or trace of the project knows
//! them. The search for a closed set, the search by rounds and delays and the search by contexts are those of the engines.

#![allow(clippy::unwrap_used)]

mod check;
mod model;
mod views;

use std::collections::BTreeSet;
use std::sync::Arc;

use tepui_core::{Budget, Facts, Round, Stop};
use tepui_engines::closure::Closure;
use tepui_engines::contexts::{Contexts, EXPLICIT, Sequences};
use tepui_engines::delays::{self, Delays};
use tepui_engines::observing::Observing;
use tepui_engines::workers::Cores;

use check::{check, replay};
use model::{Machine, Op, Property, Rule, State, explore, random};
use views::{Claim, CounterViews, Counting};

static FACTS: Facts = Facts::unbounded("closure", &["counters"]);

const MACHINES: u64 = 1000;
/// The oracle counts up to this.
const MOST: u32 = 12;
/// Work that the closure search may do, and that of bounded engines, which have more states to look at.
const WORK: u64 = 20_000;
const BOUNDED_WORK: u64 = 4_000;

type Path = Vec<(usize, State)>;

/// What an engine says: for each property a path to a violation, if there is one, and the proof of the others.
#[derive(Default, PartialEq, Eq, Debug)]
struct Answer {
    paths: Vec<Option<Path>>,
    claim: Option<Claim>,
    /// What was known after each round, but for the bytes held.
    rounds: Vec<(u64, u64, u64, u64)>,
}

/// One of the engines under test.
trait Searching {
    fn advance(&mut self, budget: &mut Budget) -> Round;
    fn proof(&mut self, budget: &mut Budget) -> Result<Option<Claim>, Stop>;
    fn path(&mut self, property: usize, budget: &mut Budget) -> Result<Path, Stop>;
}

impl Searching for Closure<Counting, CounterViews> {
    fn advance(&mut self, budget: &mut Budget) -> Round {
        Closure::advance(self, budget)
    }

    fn proof(&mut self, budget: &mut Budget) -> Result<Option<Claim>, Stop> {
        Ok(self.certificate(budget)?.map(|(level, claim)| {
            assert_eq!(level, claim.level as usize);
            claim
        }))
    }

    fn path(&mut self, property: usize, budget: &mut Budget) -> Result<Path, Stop> {
        self.violation(property, budget)
    }
}

impl Searching for Delays<Observing<Counting, CounterViews>> {
    fn advance(&mut self, budget: &mut Budget) -> Round {
        Delays::advance(self, budget)
    }

    fn proof(&mut self, budget: &mut Budget) -> Result<Option<Claim>, Stop> {
        Ok(Delays::proof(self, budget)?.map(|proof| proof.certificate))
    }

    fn path(&mut self, property: usize, budget: &mut Budget) -> Result<Path, Stop> {
        Ok(self.violation(property, budget)?.0)
    }
}

impl Searching for Contexts<Observing<Counting, CounterViews>> {
    fn advance(&mut self, budget: &mut Budget) -> Round {
        Contexts::advance(self, budget)
    }

    fn proof(&mut self, budget: &mut Budget) -> Result<Option<Claim>, Stop> {
        Ok(Contexts::proof(self, budget)?.map(|proof| proof.certificate))
    }

    fn path(&mut self, property: usize, budget: &mut Budget) -> Result<Path, Stop> {
        let (path, bound) = self.violation(property, budget)?;
        let switches = path.windows(2).filter(|pair| pair[0].0 != pair[1].0).count();
        let contexts = if path.is_empty() { 0 } else { switches + 1 };
        assert_eq!(bound.amounts(), [contexts as u32], "a path with the fewest contexts");
        Ok(path)
    }
}

/// Asks an engine until all properties are decided, or a limit is reached.
fn ask(machine: &Machine, mut engine: impl Searching, work: u64) -> Answer {
    let (mut budget, mut paths) = (Budget::unlimited().with_work(work), vec![None; machine.properties.len()]);
    let (mut claim, mut rounds) = (None, Vec::new());
    while claim.is_none() && paths.iter().any(Option::is_none) {
        let round = engine.advance(&mut budget);
        rounds.push((round.states, round.views, round.steps, round.open));
        for property in round.violated {
            if paths[property].is_none() {
                let path = engine.path(property, &mut Budget::unlimited()).unwrap();
                replay(machine, property, &path).unwrap();
                paths[property] = Some(path);
            }
        }
        if round.stopped.is_some() {
            break;
        }
        if round.test_due && paths.iter().any(Option::is_none) {
            claim = engine.proof(&mut Budget::unlimited()).unwrap();
        }
    }
    if let Some(claim) = &claim {
        check(machine, claim).unwrap();
        let unviolated: Vec<_> = paths.iter().map(Option::is_none).collect();
        assert_eq!(claim.proved, unviolated);
    }
    Answer { paths, claim, rounds }
}

fn cores(threads: usize) -> Cores {
    Cores { threads, chunk: 2 }
}

fn system(machine: &Machine) -> Counting {
    Counting(Arc::new(machine.clone()))
}

fn by_closure(machine: &Machine, threads: usize, work: u64) -> Answer {
    ask(machine, Closure::<_, CounterViews>::of(&FACTS, system(machine), 1, cores(threads)), work)
}

fn by_delays(machine: &Machine, level: usize, from_scratch: bool) -> Answer {
    let options = delays::Options { delays: None, test_always: false, from_scratch, cores: cores(1) };
    ask(machine, Delays::new(Observing::<_, CounterViews>::new(system(machine), level), options), BOUNDED_WORK)
}

fn by_contexts(machine: &Machine, level: usize, sequences: Sequences) -> Answer {
    let system = Observing::<_, CounterViews>::new(system(machine), level);
    ask(machine, Contexts::of(&EXPLICIT, system, sequences, cores(1)), BOUNDED_WORK)
}

/// Compares an answer with all states up to some counter. A claim that was checked holds all views; that it holds no others
/// can be seen where all states are known.
fn compare(machine: &Machine, answer: &Answer, place: &str) {
    let (states, complete) = explore(machine, MOST);
    for (property, path) in answer.paths.iter().enumerate() {
        let violated = states.iter().any(|state| machine.violates(property, state));
        assert!(path.is_some() || answer.claim.is_none() || !violated, "{place}: a violation is missed");
        assert!(path.is_none() || violated || !complete, "{place}: there is no violation");
    }
    if let Some(claim) = &answer.claim {
        let shown: BTreeSet<_> =
            states.into_iter().map(|(shared, at, counter)| (shared, at, counter.min(claim.level))).collect();
        let claimed: BTreeSet<_> = claim.views.iter().cloned().collect();
        assert!(claimed.is_superset(&shown), "{place}: a reachable view is missing");
        assert!(!complete || claimed == shown, "{place}: a view is claimed that cannot be reached");
    }
}

/// Views of reached states are all needed: without one of them, a set is not closed.
fn attack(machine: &Machine, claim: &Claim) {
    for missing in 0..claim.views.len() {
        let mut forged = claim.clone();
        forged.views.remove(missing);
        assert!(check(machine, &forged).is_err(), "{forged:?}");
    }
    if claim.beyond {
        assert!(check(machine, &Claim { beyond: false, ..claim.clone() }).is_err());
    }
}

#[derive(Default, Debug)]
struct Tally {
    safe: u64,
    unsafe_: u64,
    undecided: u64,
    beyond: u64,
    higher: u64,
}

impl Tally {
    fn count(&mut self, answer: &Answer) {
        self.safe += u64::from(answer.claim.is_some());
        self.unsafe_ += u64::from(answer.paths.iter().any(Option::is_some));
        self.undecided += u64::from(answer.claim.is_none() && answer.paths.iter().any(Option::is_none));
        self.beyond += u64::from(answer.claim.as_ref().is_some_and(|claim| claim.beyond));
        self.higher += u64::from(answer.claim.as_ref().is_some_and(|claim| claim.level > 1));
    }
}

#[test]
fn closure_decides_random_machines() {
    let mut tally = Tally::default();
    for seed in 0..MACHINES {
        let machine = random(&mut fastrand::Rng::with_seed(seed));
        let answer = by_closure(&machine, 1, WORK);
        compare(&machine, &answer, &format!("seed {seed}"));
        if let Some(claim) = &answer.claim {
            attack(&machine, claim);
        }
        assert_eq!(answer, by_closure(&machine, 2, WORK), "seed {seed}: the number of threads matters");
        tally.count(&answer);
    }
    println!("{tally:?}");
    assert!(tally.safe > MACHINES / 5 && tally.unsafe_ > MACHINES / 5, "{tally:?}");
    assert!(
        tally.undecided < MACHINES / 10 && tally.beyond > MACHINES / 50 && tally.higher > MACHINES / 50,
        "{tally:?}"
    );
}

#[test]
fn bounded_engines_agree_on_random_machines() {
    let (mut delays, mut contexts) = (Tally::default(), Tally::default());
    for seed in 0..MACHINES / 2 {
        let machine = random(&mut fastrand::Rng::with_seed(seed));
        let level = 1 + seed as usize % 3;
        let answer = by_delays(&machine, level, seed % 5 == 0);
        compare(&machine, &answer, &format!("delays, seed {seed}"));
        delays.count(&answer);
        let sequences = [(true, true), (true, false), (false, true)][seed as usize % 3];
        let answer = by_contexts(&machine, level, Sequences { states: sequences.0, views: sequences.1 });
        compare(&machine, &answer, &format!("contexts, seed {seed}"));
        contexts.count(&answer);
    }
    println!("{delays:?} {contexts:?}");
    for tally in [delays, contexts] {
        assert!(tally.safe > MACHINES / 20 && tally.unsafe_ > MACHINES / 20, "{tally:?}");
    }
}

fn rule(from: u32, op: Op, to: u32) -> Rule {
    Rule { from: (0, from), op, to: (0, to) }
}

/// A machine without a shared variable; a violation is that threads are at the given positions.
fn machine(threads: Vec<Vec<Rule>>, never: &[Option<u32>], zero: Option<bool>) -> Machine {
    let property = Property { shared: None, positions: never.to_vec(), zero };
    Machine { shared: 1, positions: 10, threads, properties: vec![property] }
}

/// A producer that may go on for ever, and a consumer that finds nothing only where there is nothing.
#[test]
fn an_unbounded_counter_is_proved_with_few_views() {
    let producer = vec![rule(0, Op::Increment, 0)];
    let consumer = vec![rule(0, Op::Decrement, 1), rule(1, Op::Keep, 0), rule(0, Op::IsZero, 0)];
    let machine = machine(vec![producer, consumer], &[Some(1), None], None);
    let answer = by_closure(&machine, 1, WORK);
    let claim = answer.claim.unwrap();
    assert_eq!((claim.level, claim.views.len(), claim.beyond), (1, 4, true));
}

/// Three items are produced, and three are consumed: the consumer may then find nothing, but not before.
#[test]
fn a_proof_may_need_a_higher_level() {
    let producer = vec![rule(0, Op::Increment, 1), rule(1, Op::Increment, 2), rule(2, Op::Increment, 3)];
    let mut consumer = vec![rule(0, Op::Decrement, 1), rule(1, Op::Decrement, 2), rule(2, Op::Decrement, 3)];
    consumer.push(rule(3, Op::Decrement, 4));
    let machine = machine(vec![producer, consumer], &[None, Some(4)], None);
    let answer = by_closure(&machine, 1, WORK);
    let claim = answer.claim.unwrap();
    assert!(claim.level > 1, "{claim:?}");
    attack(&machine, &claim);
    let all = Sequences { states: true, views: true };
    assert!(by_contexts(&machine, 3, all).claim.is_some());
    assert!(by_delays(&machine, 3, false).claim.is_some());
}

/// A violation that needs a counter of six: stages with greater levels find it.
#[test]
fn a_violation_may_need_a_high_counter() {
    let mut rules = vec![rule(0, Op::Increment, 0), rule(0, Op::Keep, 1)];
    rules.extend((1..7).map(|position| rule(position, Op::Decrement, position + 1)));
    rules.push(rule(7, Op::IsZero, 8));
    let machine = machine(vec![rules], &[Some(8)], Some(true));
    let path = by_closure(&machine, 1, WORK).paths.remove(0).unwrap();
    assert_eq!(path.len(), 14);
    assert_eq!(path.iter().map(|(_, state)| state.2).max(), Some(6));
}

/// No level tells odd counters from even ones. The search goes on, and a limit ends it without an answer.
#[test]
fn what_views_cannot_tell_is_not_claimed() {
    let rules = vec![
        rule(0, Op::Increment, 1),
        rule(1, Op::Increment, 0),
        rule(0, Op::Keep, 2),
        rule(2, Op::Decrement, 3),
        rule(3, Op::Decrement, 2),
        rule(3, Op::IsZero, 4),
    ];
    let machine = machine(vec![rules], &[Some(4)], None);
    let answer = by_closure(&machine, 1, WORK);
    assert_eq!((answer.claim, answer.paths), (None, vec![None]));
    assert!(answer.rounds.len() > 5, "{:?}", answer.rounds);
    for level in 1..4 {
        let answer = by_delays(&machine, level, false);
        assert_eq!((answer.claim, answer.paths), (None, vec![None]));
    }
}

/// Without increments, views are states, and none are stored besides them.
#[test]
fn a_counter_that_stays_at_zero() {
    let rules = vec![rule(0, Op::IsZero, 1), rule(1, Op::Decrement, 2), rule(1, Op::Keep, 0)];
    let machine = machine(vec![rules.clone(), rules], &[Some(2), None], None);
    let answer = by_closure(&machine, 1, WORK);
    let claim = answer.claim.unwrap();
    assert_eq!((claim.level, claim.views.len(), claim.beyond), (1, 4, false));
    attack(&machine, &claim);
}
