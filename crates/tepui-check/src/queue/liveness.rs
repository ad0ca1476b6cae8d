//! No spec is hot for ever.
//!
//! An execution that never ends follows steps between rows, and from some time on it stays in a set of rows that all lead to
//! each other by steps that it takes again and again. It violates a spec if it is hot there and never cold. It is fair: each
//! machine moves, or cannot at some row of the set; and each fair choice that is made goes both ways. So it is enough that no
//! set of rows is left after what cannot belong to one is taken away, again and again: cold rows and steps, rows that do not
//! lead back, sets that are nowhere hot, sets in which a machine can always move and never does, and steps with a fair choice
//! that goes only one way inside of the set.

use std::collections::{BTreeMap, BTreeSet};

use tepui_model::queue::run::Site;
use tepui_model::queue::{Program, Temperature};

use crate::Rejected;

/// How a spec was on the way of a step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Passed {
    hot: bool,
    cold: bool,
}

impl Passed {
    pub(super) fn note(&mut self, temperature: Option<Temperature>) {
        self.hot |= temperature == Some(Temperature::Hot);
        self.cold |= temperature == Some(Temperature::Cold);
    }
}

/// A step between rows.
struct Edge {
    from: u32,
    to: u32,
    machine: usize,
    fair: Vec<(Site, u32)>,
    passed: Vec<Passed>,
}

/// Rows and the steps between them.
#[derive(Default)]
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// For each row how each spec is.
    temperatures: Vec<Vec<Option<Temperature>>>,
    /// For each row whether each machine can move.
    moves: Vec<Vec<bool>>,
}

impl Graph {
    /// The next row.
    pub(super) fn node(&mut self, number: u32, temperatures: Vec<Option<Temperature>>) {
        debug_assert_eq!(number as usize, self.temperatures.len(), "rows come one after the other");
        self.temperatures.push(temperatures);
        self.moves.push(Vec::new());
    }

    /// Whether the next machine of the last row can move.
    pub(super) fn can_move(&mut self, moves: bool) {
        self.moves.last_mut().into_iter().for_each(|own| own.push(moves));
    }

    /// A step from the last row.
    pub(super) fn edge(&mut self, to: u32, machine: usize, fair: &[(Site, u32)], passed: &[Passed]) {
        let from = (self.temperatures.len() as u32).saturating_sub(1);
        self.edges.push(Edge { from, to, machine, fair: fair.to_vec(), passed: passed.to_vec() });
    }
}

/// Decides whether no spec can be hot for ever.
pub(super) fn check(program: &Program, graph: &Graph, stop: &dyn Fn() -> bool) -> Result<(), Rejected> {
    for spec in 0..program.specs.len() {
        let cold = |row: u32| graph.temperatures[row as usize][spec] == Some(Temperature::Cold);
        let warm = |edge: &&Edge| !cold(edge.from) && !cold(edge.to) && !edge.passed[spec].cold;
        let mut open = vec![graph.edges.iter().filter(warm).collect::<Vec<_>>()];
        while let Some(edges) = open.pop() {
            if stop() {
                return Err(Rejected::stopped(format!("spec {spec}")));
            }
            for set in connected(&edges) {
                if !is_hot(graph, spec, &set) || !is_fair(graph, &set) {
                    continue;
                }
                let less = without_one_way_choices(&set);
                if less.len() == set.len() {
                    let name = &program.told.kinds[program.specs[spec].kind].name;
                    return Err(Rejected::new(format!("spec {name}"), "it may be hot for ever"));
                }
                open.push(less);
            }
        }
    }
    Ok(())
}

fn is_hot(graph: &Graph, spec: usize, set: &[&Edge]) -> bool {
    let hot = |row: u32| graph.temperatures[row as usize][spec] == Some(Temperature::Hot);
    set.iter().any(|edge| hot(edge.from) || hot(edge.to) || edge.passed[spec].hot)
}

/// Whether each machine moves, or cannot at some row. Machines are never taken away, so there are as many in all rows.
fn is_fair(graph: &Graph, set: &[&Edge]) -> bool {
    let moving: BTreeSet<usize> = set.iter().map(|edge| edge.machine).collect();
    let machines = set.first().map_or(0, |edge| graph.moves[edge.from as usize].len());
    let rests = |machine: usize| set.iter().any(|edge| !graph.moves[edge.from as usize][machine]);
    (0..machines).all(|machine| moving.contains(&machine) || rests(machine))
}

fn without_one_way_choices<'g>(set: &[&'g Edge]) -> Vec<&'g Edge> {
    let mut ways: BTreeMap<(usize, Site), BTreeSet<u32>> = BTreeMap::new();
    for edge in set {
        for (site, value) in &edge.fair {
            ways.entry((edge.machine, *site)).or_default().insert(*value);
        }
    }
    let both = |edge: &&&Edge| edge.fair.iter().all(|(site, _)| ways[&(edge.machine, *site)].len() > 1);
    set.iter().filter(both).copied().collect()
}

/// The steps between rows that lead to each other, in sets: those with the same rows before and behind them. Rows are
/// numbered in the order in which they are left behind going forwards, and sets are found going backwards from the last.
fn connected<'g>(edges: &[&'g Edge]) -> Vec<Vec<&'g Edge>> {
    let (mut forth, mut back): (BTreeMap<u32, Vec<u32>>, BTreeMap<u32, Vec<u32>>) = Default::default();
    for edge in edges {
        forth.entry(edge.from).or_default().push(edge.to);
        back.entry(edge.to).or_default().push(edge.from);
    }
    let (mut seen, mut left) = (BTreeSet::new(), Vec::new());
    for &root in forth.keys() {
        visit(root, &forth, &mut seen, &mut left);
    }
    let (mut seen, mut set_of) = (BTreeSet::new(), BTreeMap::new());
    for (set, root) in left.into_iter().rev().enumerate() {
        let mut own = Vec::new();
        visit(root, &back, &mut seen, &mut own);
        own.into_iter().for_each(|row| _ = set_of.insert(row, set));
    }
    let mut sets: BTreeMap<usize, Vec<&Edge>> = BTreeMap::new();
    for edge in edges.iter().filter(|edge| set_of[&edge.from] == set_of[&edge.to]) {
        sets.entry(set_of[&edge.from]).or_default().push(edge);
    }
    sets.into_values().collect()
}

/// Visits all rows that a row leads to and that have not been seen; each is left when what it leads to is.
fn visit(root: u32, edges: &BTreeMap<u32, Vec<u32>>, seen: &mut BTreeSet<u32>, left: &mut Vec<u32>) {
    if !seen.insert(root) {
        return;
    }
    let mut path = vec![(root, 0)];
    while let Some((row, next)) = path.last_mut() {
        match edges.get(row).and_then(|own| own.get(*next)) {
            Some(&to) => {
                *next += 1;
                if seen.insert(to) {
                    path.push((to, 0));
                }
            }
            None => {
                left.push(*row);
                path.pop();
            }
        }
    }
}
