//! Finite-context reachability: can one thread alone, within one context, reach infinitely many states?
//!
//! Heads are pairs of a shared state and the top of the stack. From a head, an overwrite leads to another head on the
//! same level of the stack. A push leads to the head of the pushed symbol, one level higher, and, for every shared
//! state in which what was pushed can be popped again (a *summary*), to the head that comes to light on the old
//! level. The stack grows without bound from some stack of height one iff an edge that leads higher lies on a cycle
//! of this graph: around the cycle the stack comes back to the same head with something more beneath it. Without such
//! a cycle, climbing edges can be numbered along every path, so heights and hence reachable states are bounded.

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::compiled::{Compiled, Kind};

use crate::components::components;

type Head = (u32, Symbol);

/// For each thread, whether every context of it reaches finitely many states only.
pub fn finite_context(compiled: &Compiled) -> Vec<bool> {
    finite_context_within(compiled, &mut Budget::unlimited()).unwrap_or_default()
}

/// The same, unless a limit is reached.
pub fn finite_context_within(compiled: &Compiled, budget: &mut Budget) -> Result<Vec<bool>, Stop> {
    let kinds = compiled.kinds.iter().map(|kind| is_finite(kind, budget)).collect::<Result<Vec<_>, _>>()?;
    Ok(compiled.kind_of.iter().map(|&kind| kinds[kind]).collect())
}

fn is_finite(kind: &Kind, budget: &mut Budget) -> Result<bool, Stop> {
    let graph = Graph::new(kind, budget)?;
    let component = components(&graph.edges);
    Ok(graph.climbs.iter().all(|&(from, to)| component[from] != component[to]))
}

/// The graph of heads.
#[derive(Default)]
struct Graph {
    number: FxHashMap<Head, usize>,
    edges: Vec<Vec<usize>>,
    climbs: Vec<(usize, usize)>,
}

impl Graph {
    fn new(kind: &Kind, budget: &mut Budget) -> Result<Self, Stop> {
        let summaries = summaries(kind, budget)?;
        let mut graph = Self::default();
        for head in kind.heads() {
            let from = graph.node(head);
            for step in kind.moves(head.0, head.1) {
                match step.action {
                    Action::Pop => {}
                    Action::Overwrite(symbol) => graph.edge(from, (step.to, symbol)),
                    Action::Push { top, below } => {
                        let callee = graph.node((step.to, top));
                        graph.edges[from].push(callee);
                        graph.climbs.push((from, callee));
                        let returns = summaries.get(&(step.to, top)).into_iter().flatten();
                        returns.for_each(|&shared| graph.edge(from, (shared, below)));
                    }
                }
                budget.pass(1 + graph.edges[from].len() as u64)?;
            }
        }
        Ok(graph)
    }

    fn node(&mut self, head: Head) -> usize {
        let next = self.edges.len();
        let node = *self.number.entry(head).or_insert(next);
        if node == next {
            self.edges.push(Vec::new());
        }
        node
    }

    fn edge(&mut self, from: usize, to: Head) {
        let to = self.node(to);
        self.edges[from].push(to);
    }
}

/// For each head, the shared states in which its symbol can be popped, with the stack beneath untouched until then.
fn summaries(kind: &Kind, budget: &mut Budget) -> Result<FxHashMap<Head, Vec<u32>>, Stop> {
    let mut known: FxHashSet<(Head, u32)> = FxHashSet::default();
    let mut by_head: FxHashMap<Head, Vec<u32>> = FxHashMap::default();
    // Which heads depend on a head: a caller inherits its summaries, or goes on with the symbol that comes to light.
    let mut dependents: FxHashMap<Head, Vec<(Head, Option<Symbol>)>> = FxHashMap::default();
    let mut work = Vec::new();
    for head in kind.heads() {
        for step in kind.moves(head.0, head.1) {
            match step.action {
                Action::Pop => work.push((head, step.to)),
                Action::Overwrite(symbol) => dependents.entry((step.to, symbol)).or_default().push((head, None)),
                Action::Push { top, below } => dependents.entry((step.to, top)).or_default().push((head, Some(below))),
            }
        }
    }
    while let Some((head, popped)) = work.pop() {
        if !known.insert((head, popped)) {
            continue;
        }
        by_head.entry(head).or_default().push(popped);
        let depending = dependents.get(&head).cloned().unwrap_or_default();
        budget.pass(1 + depending.len() as u64)?;
        for (dependent, below) in depending {
            match below {
                None => work.push((dependent, popped)),
                Some(below) => {
                    let next = (popped, below);
                    dependents.entry(next).or_default().push((dependent, None));
                    work.extend(by_head.get(&next).into_iter().flatten().map(|&popped| (dependent, popped)));
                }
            }
        }
    }
    Ok(by_head)
}
