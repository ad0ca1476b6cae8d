//! Whether a spec can stay hot for ever, by definition: rows of who leads where.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tepui_model::queue::run::Site;
use tepui_model::queue::state::{Happens, State, Step, Takes};
use tepui_model::queue::{Program, Temperature};

/// A step between two states.
#[derive(Clone, Debug)]
struct Edge {
    from: usize,
    to: usize,
    machine: usize,
    fair: Vec<(Site, u32)>,
    /// How each spec was after what it heard.
    heard: Vec<(usize, Option<Temperature>)>,
}

/// Whether a spec can stay hot for ever, if there are at most so many states.
pub fn hot_for_ever(program: &Program, most: usize) -> Option<bool> {
    let (mut states, mut known, mut open) = (Vec::new(), BTreeMap::new(), VecDeque::new());
    for (_, start) in program.starts() {
        let start: State = start.ok()?;
        if !known.contains_key(&start) {
            known.insert(start.clone(), states.len());
            open.push_back(states.len());
            states.push(start);
        }
    }
    let mut edges = Vec::new();
    while let Some(from) = open.pop_front() {
        for machine in 0..states[from].machines.len() {
            for step in program.steps(&states[from].clone(), machine, usize::MAX) {
                let Happens::State(next) = &step.result else { continue };
                let to = *known.entry(next.clone()).or_insert(states.len());
                if to == states.len() {
                    states.push(next.clone());
                    open.push_back(to);
                }
                edges.push(edge(program, from, to, &step));
            }
        }
        if states.len() > most {
            return None;
        }
    }
    Some((0..program.specs.len()).any(|spec| stays_hot(program, &states, &edges, spec)))
}

fn edge(program: &Program, from: usize, to: usize, step: &Step) -> Edge {
    let heard = step.heard.iter().map(|(spec, local)| (*spec, program.temperature(*spec, local))).collect();
    Edge { from, to, machine: step.machine, fair: step.fair.clone(), heard }
}

fn stays_hot(program: &Program, states: &[State], edges: &[Edge], spec: usize) -> bool {
    let is = |state: usize, wanted| program.temperature(spec, &states[state].specs[spec]) == Some(wanted);
    let passes = |edge: &Edge, wanted| edge.heard.contains(&(spec, Some(wanted)));
    let (hot, cold) = (Temperature::Hot, Temperature::Cold);
    let warm = |edge: &&Edge| !is(edge.from, cold) && !is(edge.to, cold) && !passes(edge, cold);
    let mut sets: Vec<Vec<Edge>> = vec![edges.iter().filter(warm).cloned().collect()];
    while let Some(edges) = sets.pop() {
        let leads = reachable(&edges);
        let together = |one: usize, other: usize| leads[&one].contains(&other) && leads[&other].contains(&one);
        let mut left: BTreeSet<usize> = leads.keys().copied().filter(|state| together(*state, *state)).collect();
        while let Some(first) = left.pop_first() {
            let own: BTreeSet<usize> = leads.keys().copied().filter(|other| together(first, *other)).collect();
            left.retain(|state| !own.contains(state));
            let inside: Vec<Edge> =
                edges.iter().filter(|edge| own.contains(&edge.from) && own.contains(&edge.to)).cloned().collect();
            let is_hot = own.iter().any(|state| is(*state, hot)) || inside.iter().any(|edge| passes(edge, hot));
            let idle = |machine: usize| {
                let stuck = |state: &usize| program.takes(&states[*state].machines[machine]) == Takes::Stuck;
                !inside.iter().any(|edge| edge.machine == machine) && !own.iter().any(stuck)
            };
            if !is_hot || (0..states[first].machines.len()).any(idle) {
                continue;
            }
            let goes = |edge: &Edge, site: &Site, value: u32| {
                inside.iter().any(|other| other.machine == edge.machine && other.fair.contains(&(*site, value)))
            };
            let one_way = |edge: &Edge| edge.fair.iter().any(|(site, _)| !goes(edge, site, 0) || !goes(edge, site, 1));
            if !inside.iter().any(one_way) {
                return true;
            }
            sets.push(inside.iter().filter(|edge| !one_way(edge)).cloned().collect());
        }
    }
    false
}

/// For each state those that it leads to, by one step or more.
fn reachable(edges: &[Edge]) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut leads: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for edge in edges {
        leads.entry(edge.from).or_default().insert(edge.to);
        leads.entry(edge.to).or_default();
    }
    let next = leads.clone();
    for found in leads.values_mut() {
        let mut open: Vec<usize> = found.iter().copied().collect();
        while let Some(state) = open.pop() {
            open.extend(next[&state].iter().copied().filter(|to| found.insert(*to)));
        }
    }
    leads
}
