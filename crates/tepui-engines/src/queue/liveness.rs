//! Whether a spec can stay hot for ever.
//!
//! An execution that never ends violates a spec if it is hot again and again, and cold only finitely often. It counts if it
//! is fair: a machine that can move from some time on does move, and a fair choice that is made again and again goes both
//! ways. Every such execution ends up in a strongly connected component of the rows, after those in which the spec is cold
//! are taken away. A component in which a machine can always move and never does has no fair execution, nor has any part of
//! it. If a fair choice goes only one way inside, executions that stay there cannot make it for ever: the steps that make it
//! are taken away, and what is left is looked at again. So if no component is left, the spec is cold again and again, or
//! some day not hot any more, on every fair execution. Where rows are states, a component that is left is a violation: there
//! is a circle through all of it.

use std::collections::{BTreeSet, HashMap, VecDeque};

use tepui_core::{Budget, Stop};
use tepui_model::queue::Temperature;
use tepui_model::queue::run::Site;

use super::explorer::{Explorer, Step};
use crate::components::components;

/// A step between two rows.
#[derive(Clone)]
struct Edge {
    to: usize,
    machine: u32,
    fair: Vec<(Site, u32)>,
    /// Whether the spec is hot on the way.
    hot: bool,
}

/// A circle on which a spec stays hot: the row where the circle begins, and its steps.
pub(super) struct Circle {
    pub(super) start: u32,
    pub(super) steps: Vec<Step>,
}

/// Looks for a spec that can stay hot for ever.
pub(super) fn hot_for_ever(explorer: &mut Explorer, budget: &mut Budget) -> Result<Option<Circle>, Stop> {
    for spec in 0..explorer.tables().program().specs.len() {
        let rows: Vec<u32> = (0..explorer.len() as u32)
            .filter(|row| explorer.temperature(*row, spec) != Some(Temperature::Cold))
            .collect();
        let graph = Graph::of(explorer, spec, &rows, budget)?;
        if let Some(component) = graph.fair_component(budget)? {
            let (start, edges) = graph.circle(&component);
            let steps = edges.iter().filter_map(|(from, edge)| graph.step(explorer, *from, edge)).collect();
            return Ok(Some(Circle { start: rows[start], steps }));
        }
    }
    Ok(None)
}

/// Rows in which a spec is not cold, and the steps between them.
struct Graph {
    spec: usize,
    rows: Vec<u32>,
    hot: Vec<bool>,
    /// For each row whether its machines cannot move.
    stuck: Vec<Vec<bool>>,
    edges: Vec<Vec<Edge>>,
}

/// A component with the steps that are left in it.
struct Component {
    nodes: Vec<usize>,
    edges: HashMap<usize, Vec<Edge>>,
}

impl Graph {
    fn of(explorer: &mut Explorer, spec: usize, rows: &[u32], budget: &mut Budget) -> Result<Self, Stop> {
        let mut place = vec![usize::MAX; explorer.len()];
        rows.iter().enumerate().for_each(|(number, row)| place[*row as usize] = number);
        let hot = rows.iter().map(|row| explorer.temperature(*row, spec) == Some(Temperature::Hot)).collect();
        let (mut stuck, mut edges) = (Vec::new(), Vec::new());
        for row in rows {
            budget.pass(8)?;
            let mut own = Vec::new();
            stuck.push(explorer.steps_from(*row, &mut |step, led| {
                let (to, [hot, cold]) = (place[led.to as usize], led.passed[spec]);
                if to != usize::MAX && !cold {
                    own.push(Edge { to, machine: step().machine, fair: led.way.fair.clone(), hot });
                }
            }));
            edges.push(own);
        }
        Ok(Self { spec, rows: rows.to_vec(), hot, stuck, edges })
    }

    /// A component with a hot row in which everything is fair.
    fn fair_component(&self, budget: &mut Budget) -> Result<Option<Component>, Stop> {
        let all = (0..self.rows.len()).collect();
        let edges = self.edges.iter().cloned().enumerate().collect();
        let mut open = vec![Component { nodes: all, edges }];
        while let Some(part) = open.pop() {
            budget.pass(part.nodes.len() as u64)?;
            for component in part.split() {
                if !self.is_hot(&component) || !self.is_fair(&component) {
                    continue;
                }
                match component.without_one_way_choices() {
                    None => return Ok(Some(component)),
                    Some(less) => open.push(less),
                }
            }
        }
        Ok(None)
    }

    fn is_hot(&self, component: &Component) -> bool {
        let mut edges = component.edges.values().flatten();
        component.nodes.iter().any(|node| self.hot[*node]) || edges.any(|edge| edge.hot)
    }

    /// Whether each machine moves, or cannot at some time.
    fn is_fair(&self, component: &Component) -> bool {
        let machines = component.nodes.first().map_or(0, |node| self.stuck[*node].len());
        let moving: BTreeSet<u32> = component.edges.values().flatten().map(|edge| edge.machine).collect();
        let rests = |machine: usize| component.nodes.iter().any(|node| self.stuck[*node][machine]);
        (0..machines).all(|machine| moving.contains(&(machine as u32)) || rests(machine))
    }

    /// A circle on which the spec is hot, with every machine that moves somewhere in the component, through every row in which one
    /// that never moves cannot, and with each fair choice both ways.
    fn circle(&self, component: &Component) -> (usize, Vec<(usize, Edge)>) {
        let hot = component.nodes.iter().copied().find(|node| self.hot[*node]);
        let start = hot.unwrap_or(component.nodes[0]);
        let (mut circle, mut at) = (Vec::new(), start);
        let (mut seen, mut chosen) = (BTreeSet::new(), BTreeSet::new());
        let mut is_hot = hot.is_some();
        for &node in &component.nodes {
            for edge in component.edges.get(&node).into_iter().flatten() {
                let news = edge.fair.iter().any(|(site, value)| !chosen.contains(&(edge.machine, *site, *value)));
                if !seen.contains(&edge.machine) || news || edge.hot && !is_hot {
                    is_hot |= edge.hot;
                    component.walk(&mut at, node, &mut circle);
                    circle.push((node, edge.clone()));
                    at = edge.to;
                    for (_, taken) in &circle {
                        seen.insert(taken.machine);
                        chosen.extend(taken.fair.iter().map(|(site, value)| (taken.machine, *site, *value)));
                    }
                }
            }
        }
        let machines = self.stuck[start].len();
        for machine in (0..machines).filter(|machine| !seen.contains(&(*machine as u32))) {
            if let Some(&node) = component.nodes.iter().find(|node| self.stuck[**node][machine]) {
                component.walk(&mut at, node, &mut circle);
            }
        }
        component.walk(&mut at, start, &mut circle);
        (start, circle)
    }

    /// The step that an edge stands for.
    fn step(&self, explorer: &mut Explorer, from: usize, edge: &Edge) -> Option<Step> {
        let (mut found, to) = (None, self.rows[edge.to]);
        explorer.steps_from(self.rows[from], &mut |step, led| {
            let same = led.to == to && led.way.fair == edge.fair && step().machine == edge.machine;
            let same = same && led.passed[self.spec] == [edge.hot, false];
            if found.is_none() && same {
                found = Some(step());
            }
        });
        found
    }
}

impl Component {
    /// The strongly connected parts that have a step.
    fn split(&self) -> Vec<Self> {
        let place: HashMap<usize, usize> = self.nodes.iter().copied().zip(0..).collect();
        let own = |node: &usize| self.edges.get(node).into_iter().flatten();
        let edges: Vec<Vec<usize>> =
            self.nodes.iter().map(|node| own(node).filter_map(|edge| place.get(&edge.to).copied()).collect()).collect();
        let numbers = components(&edges);
        let mut parts: HashMap<usize, Self> = HashMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let part =
                parts.entry(numbers[number]).or_insert_with(|| Self { nodes: Vec::new(), edges: HashMap::new() });
            let inside = |edge: &&Edge| place.get(&edge.to).is_some_and(|to| numbers[*to] == numbers[number]);
            part.nodes.push(*node);
            part.edges.insert(*node, own(node).filter(inside).cloned().collect());
        }
        let mut parts: Vec<_> =
            parts.into_values().filter(|part| part.edges.values().any(|own| !own.is_empty())).collect();
        parts.sort_by_key(|part| part.nodes[0]);
        parts
    }

    /// The same without the steps that make fair choices which go only one way; nothing, if there are none.
    fn without_one_way_choices(&self) -> Option<Self> {
        let mut ways: HashMap<(u32, Site), BTreeSet<u32>> = HashMap::new();
        for edge in self.edges.values().flatten() {
            for (site, value) in &edge.fair {
                ways.entry((edge.machine, *site)).or_default().insert(*value);
            }
        }
        ways.retain(|_, values| values.len() < 2);
        if ways.is_empty() {
            return None;
        }
        let stays = |edge: &Edge| edge.fair.iter().all(|(site, _)| !ways.contains_key(&(edge.machine, *site)));
        let edges =
            self.edges.iter().map(|(node, own)| (*node, own.iter().filter(|edge| stays(edge)).cloned().collect()));
        Some(Self { nodes: self.nodes.clone(), edges: edges.collect() })
    }

    /// Goes from one node to another, by the fewest steps.
    fn walk(&self, at: &mut usize, to: usize, way: &mut Vec<(usize, Edge)>) {
        if *at == to {
            return;
        }
        let (mut before, mut open) = (HashMap::new(), VecDeque::from([*at]));
        while let Some(node) = open.pop_front() {
            if node == to {
                break;
            }
            for edge in self.edges.get(&node).into_iter().flatten() {
                if edge.to != *at && !before.contains_key(&edge.to) {
                    before.insert(edge.to, (node, edge.clone()));
                    open.push_back(edge.to);
                }
            }
        }
        let (mut back, mut node) = (Vec::new(), to);
        while let Some((from, edge)) = before.get(&node) {
            back.push((*from, edge.clone()));
            node = *from;
        }
        way.extend(back.into_iter().rev());
        *at = to;
    }
}
