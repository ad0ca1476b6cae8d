//! The property: boxes of values as sets of stacks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tepui_model::rendezvous::{Draft, LocalSet, StackSet, Symbol, Target, TooLarge};

use crate::rendezvous::LARGEST_SET;

use super::algebra::{Budget, Exhausted, Value};
use super::boxes::bad_boxes;
use super::recognizer::{EMPTY, Reader, Recognizer};
use super::terms::{Constant, Step};
use super::threads::RUN;

/// The targets that a recognizer stands for, with the constants of the threads in the order of their symbols.
pub(super) fn targets(
    recognizer: &mut Recognizer,
    shape: &[Step],
    alphabets: &[Vec<Constant>],
    mut budget: Budget,
) -> Result<Vec<Target>, Exhausted> {
    let mut views: Vec<_> = alphabets.iter().map(|alphabet| View::new(&recognizer.reader, alphabet)).collect();
    let offers: Vec<_> = views.iter().map(|view| view.values.clone()).collect();
    let boxes = bad_boxes(shape, &offers, recognizer, &mut budget)?;
    let mut targets = Vec::new();
    for cells in boxes {
        let locals = views.iter_mut().zip(&cells).map(|(view, values)| view.local_set(values, &mut budget));
        targets.push(Target { locals: locals.collect::<Result<_, _>>()? });
    }
    Ok(targets)
}

/// What a reader can meet on the stacks of one thread.
struct View {
    /// The values of the nodes that can be reached; the empty stack comes first.
    nodes: Vec<Option<Value>>,
    /// Where the thread's symbols lead from each of them.
    edges: Vec<Vec<(Symbol, usize)>>,
    values: BTreeSet<Value>,
    /// Whether every stack has a value.
    complete: bool,
    /// The sets that have been made.
    made: HashMap<BTreeSet<Value>, StackSet>,
}

impl View {
    fn new(reader: &Reader, alphabet: &[Constant]) -> Self {
        let mut order = vec![EMPTY];
        let mut number: BTreeMap<usize, usize> = [(EMPTY, 0)].into();
        let mut edges = Vec::new();
        let mut complete = true;
        while let Some(&node) = order.get(edges.len()) {
            let mut leaving = Vec::new();
            for (symbol, constant) in (1..).map(Symbol).zip(alphabet) {
                let Some(&to) = reader.edges[node].get(constant) else {
                    complete = false;
                    continue;
                };
                let next = order.len();
                let found = *number.entry(to).or_insert(next);
                if found == next {
                    order.push(to);
                }
                leaving.push((symbol, found));
            }
            edges.push(leaving);
        }
        let nodes: Vec<_> = order.into_iter().map(|node| reader.values[node]).collect();
        let values = nodes.iter().copied().flatten().collect();
        complete &= nodes.iter().all(Option::is_some);
        Self { nodes, edges, values, complete, made: HashMap::new() }
    }

    /// The local states whose stacks have one of some values; none stands for all.
    fn local_set(&mut self, values: &BTreeSet<Value>, budget: &mut Budget) -> Result<Option<LocalSet>, Exhausted> {
        if self.complete && *values == self.values {
            return Ok(None);
        }
        let stacks = match self.made.get(values) {
            Some(stacks) => stacks.clone(),
            None => {
                budget.spend(100 * self.edges.iter().map(|edges| edges.len() + 10).sum::<usize>())?;
                let stacks = self.stacks(values).map_err(|TooLarge| Exhausted)?;
                self.made.insert(values.clone(), stacks.clone());
                stacks
            }
        };
        budget.spend(10 * stacks.size())?;
        Ok(Some([(RUN, stacks)].into()))
    }

    fn stacks(&self, values: &BTreeSet<Value>) -> Result<StackSet, TooLarge> {
        let mut draft = Draft::default();
        for _ in 1..self.nodes.len() {
            draft.node();
        }
        for (node, leaving) in self.edges.iter().enumerate() {
            leaving.iter().for_each(|&(symbol, to)| draft.edge(node, Some(symbol), to));
            if self.nodes[node].is_some_and(|value| values.contains(&value)) {
                draft.accept(node);
            }
        }
        draft.build(LARGEST_SET)
    }
}
