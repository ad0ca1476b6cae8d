//! Random systems whose shared state has several parts, of which most rules touch only one or two: so that threads may wait.

use fastrand::Rng;
use tepui_model::pushdown::{Action, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

use crate::oracle::{Cap, reachable, view, violates};

/// A rule that touches some parts of the shared state: which, what they are before, and afterwards.
struct Touching {
    top: Symbol,
    action: Action,
    parts: Vec<(usize, u32, u32)>,
}

/// A system of 2 to 4 threads, some of them alike, whose shared state has 2 to 4 parts; in one of three, stacks grow. Its one or
/// two properties resemble states that are reached.
pub fn of_parts(rng: &mut Rng) -> Model {
    let sizes: Vec<u32> = (0..rng.usize(3..=4)).map(|_| rng.u32(2..=3)).collect();
    let recursive = rng.u8(0..3) == 0;
    let (mut kinds, mut kind_of) = (Vec::new(), Vec::new());
    for thread in 0..rng.usize(2..=4) {
        if thread == 0 || rng.u8(0..4) > 0 {
            kinds.push(kind(rng, &sizes, kinds.len(), recursive));
        }
        kind_of.push(kinds.len() - 1);
    }
    let threads: Vec<_> = kind_of.iter().enumerate().map(|(thread, &kind)| named(&kinds[kind], thread)).collect();
    let stack = |kind: usize| match kinds[kind].0 {
        0 => vec![],
        symbols => vec![Symbol(1 + kind as u32 % symbols)],
    };
    let stacks = kind_of.iter().map(|&kind| stack(kind)).collect();
    let shared = sizes.iter().product();
    let init = State { shared: Shared(rng.u32(0..shared)), stacks };
    let model = Model::new(Names::Numbers(shared), threads, init, vec![]).expect("the parts fit each other");
    let (known, _) = reachable(&model, Cap { height: 3, states: 200 });
    let known: Vec<_> = known.into_iter().collect();
    let mut property = |number: usize| {
        let mut draw = || property(rng, &model, &sizes, (number, &known));
        let holds = |property: &Property| !known.iter().any(|state| violates(property, state));
        // Who violates a property soon tells little.
        (0..4).map(|_| draw()).find(holds).unwrap_or_else(draw)
    };
    let properties = (0..[1, 1, 2][known.len() % 3]).map(&mut property).collect();
    model.with_properties(properties).expect("patterns of the model's own size")
}

fn named((symbols, rules): &(u32, Vec<Rule>), thread: usize) -> Thread {
    let symbols = (1..=*symbols).map(|symbol| format!("s{symbol}")).collect();
    Thread { name: format!("t{thread}"), symbols, rules: rules.clone() }
}

/// How many symbols a thread has, and its rules, most of which touch the parts next to its number.
fn kind(rng: &mut Rng, sizes: &[u32], number: usize, recursive: bool) -> (u32, Vec<Rule>) {
    let symbols = rng.u32(1..=4);
    let mut rules = Vec::new();
    for _ in 0..rng.usize(3..=9) {
        let symbol = |rng: &mut Rng| Symbol(rng.u32(1..=symbols));
        let (mut top, next) = (symbol(rng), symbol(rng));
        let action = match rng.u8(0..12) {
            0 if recursive => {
                top = Symbol::BOTTOM;
                Action::Push { top: next, below: Symbol::BOTTOM }
            }
            1..=2 if recursive => Action::Push { top: next, below: symbol(rng) },
            1..=4 if recursive => Action::Pop,
            3 => Action::Pop,
            _ => Action::Overwrite(next),
        };
        let mut parts: Vec<(usize, u32, u32)> = Vec::new();
        for _ in 0..[0, 1, 1, 1, 2][rng.usize(0..5)] {
            let part =
                if rng.u8(0..5) == 0 { rng.usize(0..sizes.len()) } else { (number + rng.usize(0..2)) % sizes.len() };
            if parts.iter().all(|&(known, ..)| known != part) {
                parts.push((part, rng.u32(0..sizes[part]), rng.u32(0..sizes[part])));
            }
        }
        rules.extend(written_out(&Touching { top, action, parts }, sizes));
        // Sometimes something is lacking, so that the rule depends on more than it seems to.
        if rng.u8(0..20) == 0 {
            rules.pop();
        }
    }
    (symbols, rules)
}

/// The rule for all values of the parts that it does not touch.
fn written_out(rule: &Touching, sizes: &[u32]) -> Vec<Rule> {
    let all: u32 = sizes.iter().product();
    let applies = |&from: &u32| rule.parts.iter().all(|&(part, before, _)| value(from, part, sizes) == before);
    let to = |from: u32| {
        rule.parts.iter().fold(from, |shared, &(part, before, after)| {
            let weight: u32 = sizes[..part].iter().product();
            shared - before * weight + after * weight
        })
    };
    let rule =
        |from: u32| Rule { from: Shared(from), top: rule.top, to: Shared(to(from)), action: rule.action, line: 0 };
    (0..all).filter(applies).map(rule).collect()
}

fn value(shared: u32, part: usize, sizes: &[u32]) -> u32 {
    shared / sizes[..part].iter().product::<u32>() % sizes[part]
}

/// A property about one or two threads, the whole shared state or one part of it.
fn property(rng: &mut Rng, model: &Model, sizes: &[u32], (number, states): (usize, &[State])) -> Property {
    let state = view(&states[rng.usize(0..states.len())]);
    let (threads, invented) = (model.threads().len(), rng.u8(0..3) > 0);
    let mut tops: Vec<Option<Symbol>> = vec![None; threads];
    for _ in 0..[0, 1, 1, 2][rng.usize(0..4)] {
        let thread = rng.usize(0..threads);
        let other = Symbol(rng.u32(0..model.threads()[thread].symbol_count()));
        tops[thread] = Some(if invented && rng.bool() { other } else { state.tops[thread] });
    }
    let part = rng.usize(0..sizes.len());
    let wanted = match invented && rng.bool() {
        true => rng.u32(0..sizes[part]),
        false => value(state.shared.0, part, sizes),
    };
    let all = tops.iter().all(Option::is_none);
    let shared: Vec<Option<Shared>> = match rng.u8(0..4) {
        0 if !all => vec![None],
        1 => vec![Some(state.shared)],
        _ => {
            let count = sizes.iter().product();
            (0..count)
                .filter(|&shared| value(shared, part, sizes) == wanted)
                .map(|shared| Some(Shared(shared)))
                .collect()
        }
    };
    let never = shared.into_iter().map(|shared| Pattern { shared, tops: tops.clone() }).collect();
    Property { name: format!("p{number}"), never }
}
