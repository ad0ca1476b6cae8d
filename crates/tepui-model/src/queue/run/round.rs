//! Handlers that go round in circles.
//!
//! A step that comes back to a state of its machine may go on for ever. Whether it must end depends on fair choices: one
//! that is made again and again goes both ways. So it goes on for ever if there is a set of states that it can go round in
//! without leaving any way of a fair choice aside. States are looked at where code goes back, calls or raises something:
//! every circle passes there. Circles on which specs are told something are not looked for: what the specs do matters.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::step::Run;
use super::{Choices, Effect, Local, Site};
use crate::queue::Program;

/// The most states that are looked at, and the most ways from one.
const MOST: usize = 2_000;

/// A way from one state to another: where it leads, and what fair choices are made.
type Way = (usize, Vec<(Site, u32)>);

/// Whether a machine can go round for ever from a state; none, if that would take too long.
pub(super) fn goes_round(program: &Program, kind: usize, this: u32, local: &Local) -> Option<bool> {
    let mut states = vec![local.clone()];
    let mut numbers: HashMap<Local, usize> = [(local.clone(), 0)].into();
    let mut ways: Vec<Vec<Way>> = Vec::new();
    while ways.len() < states.len() {
        let (mut choices, mut own) = (Choices::default(), Vec::new());
        let mut tried = 0;
        loop {
            let mut run = Run::probing(program, kind, this, states[ways.len()].clone(), &mut choices);
            let ended = run.step(None);
            let (next, silent) = (run.local, run.told.is_empty());
            match ended {
                Err(Effect::Repeats) if silent => {
                    let fresh = states.len();
                    let number = *numbers.entry(next.clone()).or_insert(fresh);
                    if number == fresh {
                        states.push(next);
                    }
                    own.push((number, choices.fair()));
                }
                Ok(Effect::Endless) | Err(Effect::Endless) => return None,
                _ => {}
            }
            tried += 1;
            if tried > MOST || states.len() > MOST {
                return None;
            }
            if !choices.advance() {
                break;
            }
        }
        ways.push(own);
    }
    Some(has_fair_circle(ways))
}

/// Whether there is a circle that leaves no way of a fair choice aside.
fn has_fair_circle(mut ways: Vec<Vec<Way>>) -> bool {
    loop {
        let component = components(&ways);
        for (from, own) in ways.iter_mut().enumerate() {
            own.retain(|(to, _)| component[*to] == component[from]);
        }
        // For each component and fair choice in it the ways that it goes.
        let mut values: BTreeMap<(usize, Site), BTreeSet<u32>> = BTreeMap::new();
        for (from, own) in ways.iter().enumerate() {
            for (site, value) in own.iter().flat_map(|(_, fair)| fair) {
                values.entry((component[from], *site)).or_default().insert(*value);
            }
        }
        let before: usize = ways.iter().map(Vec::len).sum();
        for (from, own) in ways.iter_mut().enumerate() {
            own.retain(|(_, fair)| fair.iter().all(|(site, _)| values[&(component[from], *site)].len() > 1));
        }
        let after: usize = ways.iter().map(Vec::len).sum();
        if after == before {
            return after > 0;
        }
    }
}

/// For each state the least of those that it can come to and that can come to it. States that are on no circle with others
/// are alone.
fn components(ways: &[Vec<Way>]) -> Vec<usize> {
    let reached: Vec<BTreeSet<usize>> = (0..ways.len())
        .map(|from| {
            let (mut found, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(at) = open.pop() {
                open.extend(ways[at].iter().map(|(to, _)| *to).filter(|to| found.insert(*to)));
            }
            found
        })
        .collect();
    let same = |one: usize, two: usize| reached[one].contains(&two) && reached[two].contains(&one);
    (0..ways.len()).map(|own| (0..own).find(|&other| same(own, other)).unwrap_or(own)).collect()
}
