//! Random small models, of every shape that the readers can make: each symbol occurs in a rule, in the initial stack or
//! in a property of its thread, and names can be written.

use fastrand::Rng;
use tepui_model::pushdown::{Action, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

/// A model from a seed.
pub(crate) fn model(seed: u64) -> Model {
    let rng = &mut Rng::with_seed(seed);
    let shared = shared(rng);
    let threads = threads(rng, shared.count());
    let stacks = threads.iter().map(|thread| stack(rng, thread)).collect();
    let mut init = State { shared: Shared(rng.u32(..shared.count())), stacks };
    let mut properties: Vec<_> = (0..rng.usize(..4)).map(|_| vec![pattern(rng, &shared, &threads)]).collect();
    for never in &mut properties {
        never.extend((0..rng.usize(..3)).map(|_| pattern(rng, &shared, &threads)));
    }
    use_all_symbols(rng, &threads, &mut init, &mut properties);
    let named = |(position, never)| Property { name: property_name(rng, position), never };
    let properties = (1..).zip(properties).map(named).collect();
    Model::new(shared, threads, init, properties).unwrap()
}

fn shared(rng: &mut Rng) -> Names {
    let count = rng.u32(1..6);
    if rng.bool() { Names::Numbers(count) } else { Names::List(hostile(rng, count as usize)) }
}

/// Names that mean something elsewhere, and some that differ in little.
const HOSTILE: [&str; 22] = [
    "shared", "thread", "init", "never", "stack", "or", "at", "reach", "_", "__", "'", "0", "00", "1", "7", "it's",
    "@", "$", "a/b", "never-1x", "idle", "PDA",
];

fn hostile(rng: &mut Rng, count: usize) -> Vec<String> {
    let mut names = HOSTILE.map(|name| name.replace('-', "_"));
    rng.shuffle(&mut names);
    names[..count].to_vec()
}

fn property_name(rng: &mut Rng, position: usize) -> String {
    match rng.u8(..4) {
        0 => format!("never-{position}"),
        1 => format!("target-{position}"),
        2 => HOSTILE[position % HOSTILE.len()].to_owned(),
        _ => format!("or_{position}"),
    }
}

/// Threads with single names and threads with numbers, some of which behave alike.
fn threads(rng: &mut Rng, shared: u32) -> Vec<Thread> {
    let mut threads = Vec::new();
    for group in 0..rng.usize(1..4) {
        let name = format!("{}{group}", ["t", "or", "never", "init", "_", "0"][rng.usize(..6)]);
        let mut thread = Thread { name, symbols: symbols(rng), rules: Vec::new() };
        thread.rules = rules(rng, shared, thread.symbol_count());
        let start = rng.u32(..5);
        if start == 0 {
            threads.push(thread);
            continue;
        }
        for number in start..=start + rng.u32(..3) {
            if rng.u8(..4) == 0 {
                thread.rules = rules(rng, shared, thread.symbol_count());
            }
            threads.push(Thread { name: format!("{}#{number}", thread.name), ..thread.clone() });
        }
    }
    threads
}

fn symbols(rng: &mut Rng) -> Vec<String> {
    let count = rng.usize(..=5);
    match rng.u8(..3) {
        0 => hostile(rng, count),
        1 => (0..count).map(|number| (number * 7).to_string()).collect(),
        _ => (0..count).map(|number| (40 - number * 7).to_string()).collect(),
    }
}

fn rules(rng: &mut Rng, shared: u32, symbols: u32) -> Vec<Rule> {
    (0..rng.usize(..8)).map(|_| rule(rng, shared, symbols)).collect()
}

fn rule(rng: &mut Rng, shared: u32, symbols: u32) -> Rule {
    let top = Symbol(rng.u32(..symbols));
    let mut real = || Symbol(if symbols > 1 { rng.u32(1..symbols) } else { 0 });
    let (first, second) = (real(), real());
    let action = match (rng.u8(..3), top.is_bottom()) {
        (0, true) => Action::Overwrite(Symbol::BOTTOM),
        (_, true) if symbols == 1 => Action::Overwrite(Symbol::BOTTOM),
        (_, true) => Action::Push { top: first, below: Symbol::BOTTOM },
        (0, false) => Action::Pop,
        (1, false) => Action::Overwrite(first),
        (_, false) => Action::Push { top: first, below: second },
    };
    Rule { from: Shared(rng.u32(..shared)), top, to: Shared(rng.u32(..shared)), action, line: 0 }
}

fn stack(rng: &mut Rng, thread: &Thread) -> Vec<Symbol> {
    let symbols = thread.symbol_count();
    let length = if symbols == 1 { 0 } else { rng.usize(..4) };
    (0..length).map(|_| Symbol(rng.u32(1..symbols))).collect()
}

fn pattern(rng: &mut Rng, shared: &Names, threads: &[Thread]) -> Pattern {
    let mut some = |count: u32| rng.bool().then(|| rng.u32(..count));
    let tops = threads.iter().map(|thread| some(thread.symbol_count()).map(Symbol)).collect();
    Pattern { shared: some(shared.count()).map(Shared), tops }
}

/// Gives each symbol that does not occur a place in the initial stack or in a property.
fn use_all_symbols(rng: &mut Rng, threads: &[Thread], init: &mut State, properties: &mut Vec<Vec<Pattern>>) {
    for (number, thread) in threads.iter().enumerate() {
        for symbol in (1..thread.symbol_count()).map(Symbol) {
            let in_patterns = properties.iter().flatten().any(|pattern| pattern.tops[number] == Some(symbol));
            if in_patterns || init.stacks[number].contains(&symbol) || occurs(thread, symbol) {
                continue;
            }
            if rng.bool() {
                init.stacks[number].insert(0, symbol);
                continue;
            }
            let mut tops = vec![None; threads.len()];
            tops[number] = Some(symbol);
            properties.push(vec![Pattern { shared: None, tops }]);
        }
    }
}

fn occurs(thread: &Thread, symbol: Symbol) -> bool {
    thread.rules.iter().any(|rule| {
        let (first, second) = match rule.action {
            Action::Pop => (rule.top, rule.top),
            Action::Overwrite(first) => (first, rule.top),
            Action::Push { top, below } => (top, below),
        };
        [rule.top, first, second].contains(&symbol)
    })
}
