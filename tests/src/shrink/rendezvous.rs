//! Communicating pushdown systems, made smaller.

use tepui_lang::rendezvous::print_rpds;
use tepui_model::rendezvous::{Action, Model, Property, State, Thread};

use super::Case;

impl Case for Model {
    /// Without a thread, a property, a target, an action, a rule, a symbol of the right side of a rule or of an initial
    /// stack, or a symbol that nothing names.
    fn smaller(&self) -> Vec<Self> {
        let threads = 0..self.threads().len();
        let mut found: Vec<Option<Self>> = threads.clone().map(|thread| without_thread(self, thread)).collect();
        found.extend((0..self.properties().len()).flat_map(|property| without_property(self, property)));
        found.extend((0..self.actions().len() as u32).map(|action| without_action(self, Action(action))));
        for thread in threads {
            let rules = &self.threads()[thread].rules;
            found.extend((0..rules.len()).map(|rule| without_rule(self, thread, rule)));
            for (rule, own) in rules.iter().enumerate() {
                found.extend((0..own.right.len()).map(|place| without_pushed(self, thread, rule, place)));
            }
            found.extend((0..self.init()[thread].stack.len()).map(|place| without_frame(self, thread, place)));
            found.push(without_last_symbol(self, thread));
        }
        found.into_iter().flatten().collect()
    }

    fn show(&self) -> String {
        print_rpds(self).unwrap_or_else(|error| format!("{error}: {self:?}"))
    }
}

/// The model of parts, if they fit each other.
fn rebuilt(model: &Model, threads: Vec<Thread>, init: State, properties: Vec<Property>) -> Option<Model> {
    Model::new(model.actions().to_vec(), threads, init, properties).ok()
}

/// Without a thread and the actions that only it knows.
fn without_thread(model: &Model, thread: usize) -> Option<Model> {
    let (mut actions, mut threads, mut init) =
        (model.actions().to_vec(), model.threads().to_vec(), model.init().clone());
    let mut properties = model.properties().to_vec();
    threads.remove(thread);
    init.remove(thread);
    for target in properties.iter_mut().flat_map(|property| &mut property.never) {
        target.locals.remove(thread);
    }
    for action in (0..actions.len() as u32).map(Action).rev() {
        if !threads.iter().any(|thread| thread.knows.contains(&action)) {
            leave_out(action, &mut actions, &mut threads);
        }
    }
    Model::new(actions, threads, init, properties).ok()
}

/// Leaves out an action and all rules that take it; the actions after it move up.
fn leave_out(action: Action, actions: &mut Vec<String>, threads: &mut [Thread]) {
    let renumbered = |other: Action| Action(other.0 - u32::from(other.0 > action.0));
    actions.remove(action.0 as usize);
    for thread in threads {
        thread.knows.remove(&action);
        thread.knows = thread.knows.iter().copied().map(renumbered).collect();
        thread.rules.retain(|rule| rule.action != Some(action));
        thread.rules.iter_mut().for_each(|rule| rule.action = rule.action.map(renumbered));
    }
}

fn without_action(model: &Model, action: Action) -> Option<Model> {
    let (mut actions, mut threads) = (model.actions().to_vec(), model.threads().to_vec());
    leave_out(action, &mut actions, &mut threads);
    Model::new(actions, threads, model.init().clone(), model.properties().to_vec()).ok()
}

/// Without a property, and without each of its targets.
fn without_property(model: &Model, property: usize) -> Vec<Option<Model>> {
    let mut fewer = model.properties().to_vec();
    let never = fewer.remove(property).never;
    let mut found = vec![model.clone().with_properties(fewer).ok()];
    for target in 0..never.len() {
        let mut smaller = model.properties().to_vec();
        smaller[property].never.remove(target);
        found.push(model.clone().with_properties(smaller).ok());
    }
    found
}

fn without_rule(model: &Model, thread: usize, rule: usize) -> Option<Model> {
    let mut threads = model.threads().to_vec();
    threads[thread].rules.remove(rule);
    rebuilt(model, threads, model.init().clone(), model.properties().to_vec())
}

fn without_pushed(model: &Model, thread: usize, rule: usize, place: usize) -> Option<Model> {
    let mut threads = model.threads().to_vec();
    threads[thread].rules[rule].right.remove(place);
    rebuilt(model, threads, model.init().clone(), model.properties().to_vec())
}

fn without_frame(model: &Model, thread: usize, place: usize) -> Option<Model> {
    let mut init = model.init().clone();
    init[thread].stack.remove(place);
    rebuilt(model, model.threads().to_vec(), init, model.properties().to_vec())
}

/// Without the last symbol of a thread; the parts do not fit if something names it. Those before it stay: a set of stacks
/// cannot be renumbered.
fn without_last_symbol(model: &Model, thread: usize) -> Option<Model> {
    let mut threads = model.threads().to_vec();
    threads[thread].symbols.pop()?;
    rebuilt(model, threads, model.init().clone(), model.properties().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rendezvous::{search, small_model};
    use crate::shrink::{TRIES, shrink};

    /// A model whose target takes an action to reach shrinks to one with one target, in which everything is needed.
    #[test]
    fn a_violation_keeps_what_it_needs() {
        let violated = |model: &Model| {
            let searched = search(model, 5, 500);
            let actions = |property| searched.fewest_actions(property).is_some_and(|actions| actions > 0);
            model.properties().iter().any(actions).then_some(())
        };
        let mut shrunk = 0;
        for seed in 0..200 {
            let model = small_model(&mut fastrand::Rng::with_seed(seed));
            if violated(&model).is_none() {
                continue;
            }
            let small = shrink(&model, TRIES, Case::smaller, violated).map_or(model, |(small, ())| small);
            let targets: usize = small.properties().iter().map(|property| property.never.len()).sum();
            assert_eq!((small.properties().len(), targets), (1, 1), "seed {seed}\n{}", small.show());
            let needed = small.smaller().iter().all(|smaller| violated(smaller).is_none());
            assert!(needed, "seed {seed}\n{}", small.show());
            shrunk += 1;
        }
        assert!(shrunk > 30, "{shrunk}");
    }
}
