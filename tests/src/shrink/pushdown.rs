//! Concurrent pushdown systems, made smaller.

use tepui_lang::pushdown::print_cpds;
use tepui_model::pushdown::{Action, Model, Pattern, Property, State, Symbol, Thread};

use super::Case;

impl Case for Model {
    /// Without a thread, a property, a pattern, a rule, a symbol of an initial stack, or a symbol that nothing names.
    fn smaller(&self) -> Vec<Self> {
        let threads = 0..self.threads().len();
        let mut found: Vec<Option<Self>> = threads.clone().map(|thread| without_thread(self, thread)).collect();
        found.extend((0..self.properties().len()).flat_map(|property| without_property(self, property)));
        for thread in threads {
            let own = &self.threads()[thread];
            found.extend((0..own.rules.len()).map(|rule| without_rule(self, thread, rule)));
            found.extend((0..self.init().stacks[thread].len()).map(|place| without_frame(self, thread, place)));
            found.extend((1..own.symbol_count()).map(|symbol| without_symbol(self, thread, Symbol(symbol))));
        }
        found.into_iter().flatten().collect()
    }

    fn show(&self) -> String {
        print_cpds(self)
    }
}

/// The model of parts, if they fit each other.
fn rebuilt(model: &Model, threads: Vec<Thread>, init: State, properties: Vec<Property>) -> Option<Model> {
    Model::new(model.shared().clone(), threads, init, properties).ok()
}

fn without_thread(model: &Model, thread: usize) -> Option<Model> {
    let (mut threads, mut init) = (model.threads().to_vec(), model.init().clone());
    threads.remove(thread);
    init.stacks.remove(thread);
    let mut properties = model.properties().to_vec();
    for pattern in patterns(&mut properties) {
        pattern.tops.remove(thread);
    }
    rebuilt(model, threads, init, properties)
}

fn patterns(properties: &mut [Property]) -> impl Iterator<Item = &mut Pattern> {
    properties.iter_mut().flat_map(|property| &mut property.never)
}

/// Without a property, and without each of its patterns.
fn without_property(model: &Model, property: usize) -> Vec<Option<Model>> {
    let mut fewer = model.properties().to_vec();
    let never = fewer.remove(property).never;
    let mut found = vec![model.clone().with_properties(fewer).ok()];
    for pattern in 0..never.len() {
        let mut smaller = model.properties().to_vec();
        smaller[property].never.remove(pattern);
        found.push(model.clone().with_properties(smaller).ok());
    }
    found
}

fn without_rule(model: &Model, thread: usize, rule: usize) -> Option<Model> {
    let mut threads = model.threads().to_vec();
    threads[thread].rules.remove(rule);
    rebuilt(model, threads, model.init().clone(), model.properties().to_vec())
}

fn without_frame(model: &Model, thread: usize, place: usize) -> Option<Model> {
    let mut init = model.init().clone();
    init.stacks[thread].remove(place);
    rebuilt(model, model.threads().to_vec(), init, model.properties().to_vec())
}

/// Without a symbol of a thread that no rule, no initial stack and no pattern names; those after it move up.
fn without_symbol(model: &Model, thread: usize, symbol: Symbol) -> Option<Model> {
    let (mut threads, mut init) = (model.threads().to_vec(), model.init().clone());
    let mut properties = model.properties().to_vec();
    let in_rules = threads[thread].rules.iter_mut().flat_map(|rule| {
        let (first, second) = match &mut rule.action {
            Action::Pop => (None, None),
            Action::Overwrite(symbol) => (Some(symbol), None),
            Action::Push { top, below } => (Some(top), Some(below)),
        };
        [Some(&mut rule.top), first, second].into_iter().flatten()
    });
    let in_patterns = patterns(&mut properties).filter_map(|pattern| pattern.tops[thread].as_mut());
    for named in in_rules.chain(&mut init.stacks[thread]).chain(in_patterns) {
        if *named == symbol {
            return None;
        }
        named.0 -= u32::from(named.0 > symbol.0);
    }
    threads[thread].symbols.remove(symbol.0 as usize - 1);
    rebuilt(model, threads, init, properties)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{Cap, reachable, violates};
    use crate::random::{Shape, small_model};
    use crate::shrink::{TRIES, shrink};

    fn size(model: &Model) -> usize {
        let rules = |(thread, stack): (&Thread, &Vec<_>)| 1 + thread.rules.len() + thread.symbols.len() + stack.len();
        let threads: usize = model.threads().iter().zip(&model.init().stacks).map(rules).sum();
        threads + model.properties().iter().map(|property| 1 + property.never.len()).sum::<usize>()
    }

    #[test]
    fn every_case_is_smaller() {
        for seed in 0..200 {
            let model = small_model(&mut fastrand::Rng::with_seed(seed), Shape::Any);
            assert!(model.smaller().iter().all(|smaller| size(smaller) < size(&model)), "seed {seed}");
        }
    }

    /// A model with a violation that takes a step shrinks to one with one pattern, in which everything is needed.
    #[test]
    fn a_violation_keeps_what_it_needs() {
        let violated = |model: &Model| {
            let (states, _) = reachable(model, Cap { height: 5, states: 500 });
            let broken = |property: &&Property| states.iter().any(|state| violates(property, state));
            let first = |property: &&Property| !violates(property, model.init());
            model.properties().iter().any(|property| broken(&property) && first(&property)).then_some(())
        };
        let mut shrunk = 0;
        for seed in 0..200 {
            let model = small_model(&mut fastrand::Rng::with_seed(seed), Shape::Any);
            if violated(&model).is_none() {
                continue;
            }
            let small = shrink(&model, TRIES, Case::smaller, violated).map_or(model, |(small, ())| small);
            let patterns: usize = small.properties().iter().map(|property| property.never.len()).sum();
            assert_eq!((small.properties().len(), patterns), (1, 1), "seed {seed}\n{}", small.show());
            let needed = small.smaller().iter().all(|smaller| violated(smaller).is_none());
            assert!(needed, "seed {seed}\n{}", small.show());
            shrunk += 1;
        }
        assert!(shrunk > 50, "{shrunk}");
    }
}
