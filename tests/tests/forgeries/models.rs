//! Changes of a model by one thing.

use fastrand::Rng;
use tepui_model::pushdown::{Model, Rule, Shared, Symbol};
use tepui_tests::systems::rule;

/// The model with one thing changed, if that makes a model.
pub(crate) fn change_model(model: &Model, rng: &mut Rng) -> Option<Model> {
    let (mut threads, mut init) = (model.threads().to_vec(), model.init().clone());
    let mut properties = model.properties().to_vec();
    let number = rng.usize(0..threads.len());
    let symbols = threads[number].symbol_count();
    match rng.u32(0..7) {
        0 => init.shared = Shared(rng.u32(0..model.shared().count())),
        1 => init.stacks[number].insert(0, Symbol(rng.u32(1..symbols.max(2)))),
        2 => drop(init.stacks[number].pop()),
        3 if !properties.is_empty() => {
            let property = rng.usize(0..properties.len());
            let mut pattern = properties[property].never.first()?.clone();
            pattern.tops[number] = None;
            properties[property].never.push(pattern);
        }
        4 if !threads[number].rules.is_empty() => {
            let at = rng.usize(0..threads[number].rules.len());
            threads[number].rules[at] = random_rule(rng, model.shared().count(), symbols);
        }
        5 => threads[number].symbols.push("more".to_owned()),
        _ => threads[number].rules.push(random_rule(rng, model.shared().count(), symbols)),
    }
    Model::new(model.shared().clone(), threads, init, properties).ok()
}

pub(crate) fn random_rule(rng: &mut Rng, shared_count: u32, symbols: u32) -> Rule {
    let mut symbol = || rng.u32(0..symbols);
    let (top, first, second) = (symbol(), symbol(), symbol());
    let most = if top == 0 { 2 } else { 3 };
    let word = [first, second];
    let length = rng.usize(0..most);
    rule(rng.u32(0..shared_count), top, rng.u32(0..shared_count), &word[..length])
}
