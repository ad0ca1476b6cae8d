//! Claims about queues that would settle what a proof leaves open.
//!
//! What is suggested has been tried: it holds of all queues of the states that were reached with short queues, and with it, a
//! search from above leads neither to the error that was open nor to a queue of which the claim does not hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tepui_core::Budget;
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::formula::{Claim, Comparison, Formula};

use super::explorer::Explorer;
use super::spend_on;
use super::summary::Precision;

/// How long queues are in the states that claims are compared with.
const LONGEST: usize = 4;

/// How many such states there are, and how many rows a proof with a claim may have.
const STATES: usize = 10_000;
const ROWS: usize = 20_000;

/// The most claims that are tried.
const TRIED: usize = 12;

/// A claim about the queues of a kind of machine with which an error is excluded, after which an event seemed to be the next
/// one. Shorter ones come first.
pub(super) fn claim_that_settles(
    program: &Arc<Program>,
    error: Error,
    (kind, event): (usize, u32),
    precisions: &[Precision],
    budget: &mut Budget,
) -> Option<String> {
    let queues = short_queues(program, kind, budget)?;
    let candidates = candidates(&queues, event);
    let holds = |formula: &Formula| queues.iter().all(|queue| formula.holds(queue.iter().copied()));
    let told = candidates.into_iter().filter(|(formula, _)| holds(formula)).take(TRIED).find(|(formula, _)| {
        let mut with_claim = Program::clone(program);
        with_claim.claims.push(Claim { kind, machine: None, formula: formula.clone() });
        let mut rows = Explorer::new(Arc::new(with_claim), precisions.to_vec(), usize::MAX);
        let done = search(&mut rows, ROWS, budget);
        done && !rows.errors().contains_key(&error) && !rows.errors().contains_key(&Error::Invariant)
    });
    let (_, text) = told?;
    Some(format!("{}: {}", program.told.kinds[kind].name, text.in_words(program)))
}

/// Searches until no row is left; says whether that is so.
fn search(explorer: &mut Explorer, most: usize, budget: &mut Budget) -> bool {
    let done = spend_on(explorer, budget, |rows, stop| rows.run(&mut |own| own.len() > most || stop(own)));
    done.unwrap_or(false)
}

/// The queues, as events, of machines of a kind in states with short queues.
fn short_queues(program: &Arc<Program>, kind: usize, budget: &mut Budget) -> Option<BTreeSet<Vec<u32>>> {
    let exact = vec![Precision::EXACT; program.kinds.len()];
    let mut states = Explorer::new(Arc::clone(program), exact, LONGEST);
    search(&mut states, STATES, budget);
    let mut queues = BTreeSet::new();
    for row in states.rows() {
        let machines = &row[..row.len() - program.specs.len()];
        for pair in machines.chunks_exact(2).filter(|pair| states.tables().local_of(pair[0]).0 as usize == kind) {
            let letters = states.queue(pair[1]).prefix.iter();
            queues.insert(letters.map(|letter| states.tables().event_of(*letter)).collect());
        }
    }
    Some(queues).filter(|queues: &BTreeSet<Vec<u32>>| !queues.is_empty())
}

/// What a claim says.
enum Told {
    AtMost(u32, usize),
    NoneBehind(u32, u32),
}

impl Told {
    fn in_words(&self, program: &Program) -> String {
        match self {
            Self::AtMost(event, most) => format!("#{} <= {most}", program.event_name(*event)),
            Self::NoneBehind(first, then) => {
                format!("G ({} => G !{})", program.event_name(*first), program.event_name(*then))
            }
        }
    }
}

/// Claims that may be worth a try, about an event first: that it occurs at most so often, and that one does not stand behind
/// another.
fn candidates(queues: &BTreeSet<Vec<u32>>, event: u32) -> Vec<(Formula, Told)> {
    let mut most = BTreeMap::from([(event, 0)]);
    for queue in queues {
        for own in queue {
            let often = queue.iter().filter(|other| *other == own).count();
            let most = most.entry(*own).or_insert(0);
            *most = often.max(*most);
        }
    }
    let mut events: Vec<u32> = most.keys().copied().collect();
    events.sort_by_key(|own| (*own != event, *own));
    let few = events.iter().filter(|own| most[own] < LONGEST);
    let at_most = |own: &u32| {
        let number = most[own];
        (Formula::Count(*own, Comparison::AtMost, number as u32), Told::AtMost(*own, number))
    };
    let not = |formula| Formula::Not(Box::new(formula));
    let none_behind = |first: u32, then: u32| {
        let none = Formula::All(Box::new(not(Formula::Head(then))));
        let formula = Formula::All(Box::new(Formula::Or(Box::new(not(Formula::Head(first))), Box::new(none))));
        (formula, Told::NoneBehind(first, then))
    };
    let pairs = events.iter().flat_map(|then| events.iter().map(move |first| (*first, *then)));
    let pairs = pairs.filter(|(first, then)| first != then);
    few.map(at_most).chain(pairs.map(|(first, then)| none_behind(first, then))).collect()
}
