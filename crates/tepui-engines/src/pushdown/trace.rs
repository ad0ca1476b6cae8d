//! From the steps that an engine found to a trace of the model, in real threads.

use tepui_cert::pushdown::{Step, Trace};
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Model, Property, Shared, State, Symbol};

use super::stacks::Stacks;
use super::system::Pushdown;
use crate::ids::{ThreadId, Threads};
use crate::symmetry::Symmetry;
use crate::system::PathStep;

/// A step as an engine finds it: the thread, and what it makes of the shared state and its stack (from bottom to top).
pub struct Found {
    /// The thread.
    pub thread: ThreadId,
    /// The shared state afterwards.
    pub shared: Shared,
    /// The thread's stack afterwards.
    pub stack: Vec<Symbol>,
}

/// The trace that takes the given steps from the initial state to a state that violates a property, if need be with
/// interchangeable threads renamed.
pub fn trace(
    model: &Model,
    property: usize,
    symmetry: &Symmetry,
    steps: Vec<Found>,
    budget: &mut Budget,
) -> Result<Trace, Stop> {
    let property = &model.properties()[property];
    let names = renaming(model, property, symmetry, &steps);
    let mut trace = empty(model, property);
    let mut state = model.init().clone();
    for Found { thread, shared, stack } in steps {
        budget.spend(state.stacks.iter().map(|stack| stack.len() as u64).sum())?;
        let thread = names[thread.index()].index();
        let mut after = State { shared, ..state.clone() };
        after.stacks[thread] = stack;
        let rules = 0..model.threads()[thread].rules.len();
        let rule = rules.into_iter().find(|&rule| model.step(&state, thread, rule).as_ref() == Some(&after));
        let rule = rule.ok_or_else(|| Stop::defect("a trace does not execute"))?;
        state = after;
        trace.steps.push(Step { thread, rule, after: state.clone() });
    }
    Ok(trace)
}

/// A trace without steps.
pub fn empty(model: &Model, property: &Property) -> Trace {
    Trace { model: model.digest(), property: property.clone(), start: model.init().clone(), steps: Vec::new() }
}

/// What threads have to be called so that the last state violates the property as it stands.
fn renaming(model: &Model, property: &Property, symmetry: &Symmetry, steps: &[Found]) -> Vec<ThreadId> {
    let mut tops: Vec<_> = (0..model.threads().len()).map(|thread| model.init().top(thread)).collect();
    let mut shared = model.init().shared;
    for step in steps {
        shared = step.shared;
        tops[step.thread.index()] = step.stack.last().copied().unwrap_or(Symbol::BOTTOM);
    }
    let top = |thread: ThreadId| tops[thread.index()];
    let pattern = property.never.iter().find(|pattern| symmetry.covers(pattern, shared, top));
    pattern.map_or_else(|| Threads::all(tops.len()).collect(), |pattern| symmetry.renaming(pattern, top))
}

impl Pushdown<Stacks> {
    /// The steps of a path from a state, in real threads.
    pub(crate) fn real_steps(&self, initial: &[u32], path: &[PathStep]) -> Vec<Found> {
        let (threads, _) = self.symmetry.real_threads(initial, path);
        threads.into_iter().zip(path).map(|(thread, step)| self.found(thread, step.after, &step.row)).collect()
    }

    /// The step of a thread that leads to a state, in which its stack is at a place.
    pub fn found(&self, thread: ThreadId, place: ThreadId, row: &[u32]) -> Found {
        let mut stack = self.locals.word(self.compiled.kind_of[thread.index()], row[place.field()], usize::MAX);
        stack.pop();
        stack.reverse();
        Found { thread, shared: self.compiled.shared(row[0]), stack }
    }
}
