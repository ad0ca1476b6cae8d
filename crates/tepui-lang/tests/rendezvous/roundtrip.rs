//! What is printed reads back as the same model.

use fastrand::Rng;
use tepui_lang::rendezvous::{Unprintable, print_rpds};
use tepui_model::rendezvous::{
    Action, Control, Draft, Local, LocalSet, Model, Property, Rule, StackSet, Symbol, Target, Thread,
};

use super::{MODEL, model};

/// The model without the lines of its rules.
fn without_lines(model: &Model) -> Model {
    let strip = |rule: &Rule| Rule { line: 0, ..rule.clone() };
    let threads = model.threads().iter();
    let threads =
        threads.map(|thread| Thread { rules: thread.rules.iter().map(strip).collect(), ..thread.clone() }).collect();
    Model::new(model.actions().to_vec(), threads, model.init().clone(), model.properties().to_vec()).unwrap()
}

#[test]
fn a_written_model() {
    let read = model(MODEL);
    let printed = print_rpds(&read).unwrap();
    assert_eq!(without_lines(&model(&printed)), without_lines(&read), "{printed}");
}

/// `_` is any symbol, and `tau` is no action: who uses them as names can do so in other forms only.
#[test]
fn reserved_names_are_refused() {
    let read = model(MODEL);
    let mut threads = read.threads().to_vec();
    threads[0].symbols[0] = "_".to_owned();
    let renamed = |actions: Vec<String>, threads: Vec<Thread>| {
        Model::new(actions, threads, read.init().clone(), read.properties().to_vec()).unwrap()
    };
    let symbol = renamed(read.actions().to_vec(), threads);
    assert_eq!(print_rpds(&symbol), Err(Unprintable::Reserved("_")));
    let mut actions = read.actions().to_vec();
    actions[0] = "tau".to_owned();
    assert_eq!(print_rpds(&renamed(actions, read.threads().to_vec())), Err(Unprintable::Reserved("tau")));
}

/// Sets that differ from one control state to the other need a tuple for each, so properties are compared by their
/// states, on small stacks.
#[test]
fn random_models() {
    for seed in 0..1_000 {
        let mut rng = Rng::with_seed(seed);
        let original = random(&mut rng);
        let printed = print_rpds(&original).unwrap();
        let read = model(&printed);
        assert_eq!(read.digest(), original.digest(), "seed {seed}\n{printed}");
        assert_eq!(read.actions(), original.actions());
        for _ in 0..60 {
            let local = |thread: &Thread, rng: &mut Rng| Local {
                control: Control(rng.u32(0..thread.controls.len() as u32)),
                stack: (0..rng.usize(0..5)).map(|_| Symbol(rng.u32(1..thread.symbol_count()))).collect(),
            };
            let state = original.threads().iter().map(|thread| local(thread, &mut rng)).collect();
            let forbidden = |model: &Model| model.properties().iter().map(|p| p.forbids(&state)).collect::<Vec<_>>();
            assert_eq!(forbidden(&read), forbidden(&original), "seed {seed}\n{printed}");
        }
    }
}

/// Names that mean something elsewhere, and some that differ in little.
const HOSTILE: [&str; 20] = [
    "or", "at", "reach", "thread", "control", "stack", "init", "action", "nothing", "internal", "_x", "__", "'", "0",
    "00", "1", "a/b", "@", "$", "it's",
];

/// So many of them; for some models harmless ones.
fn names(rng: &mut Rng, prefix: &str, count: u32) -> Vec<String> {
    if rng.bool() {
        return (0..count).map(|number| format!("{prefix}{number}")).collect();
    }
    let mut names = HOSTILE;
    rng.shuffle(&mut names);
    names[..count as usize].iter().map(|&name| name.to_owned()).collect()
}

pub(super) fn random(rng: &mut Rng) -> Model {
    let actions = rng.u32(1..=3);
    let count = rng.u32(1..=3);
    let thread_names = names(rng, "t/", count);
    let threads: Vec<_> = (0..count as usize)
        .map(|number| {
            let (controls, symbols) = (rng.u32(1..=3), rng.u32(1..=3));
            let mut knows: std::collections::BTreeSet<_> = (0..actions).map(Action).filter(|_| rng.bool()).collect();
            if number == 0 {
                knows.extend((0..actions).map(Action));
            }
            let labels: Vec<_> = knows.iter().copied().map(Some).chain([None]).collect();
            let rule = |rng: &mut Rng| Rule {
                from: Control(rng.u32(0..controls)),
                top: Symbol(rng.u32(0..=symbols)),
                action: labels[rng.usize(0..labels.len())],
                to: Control(rng.u32(0..controls)),
                right: (0..rng.usize(0..4)).map(|_| Symbol(rng.u32(1..=symbols))).collect(),
                line: 0,
            };
            Thread {
                name: thread_names[number].clone(),
                controls: names(rng, "c", controls),
                symbols: names(rng, "s", symbols),
                rules: (0..rng.usize(0..5)).map(|_| rule(rng)).collect(),
                knows,
            }
        })
        .collect();
    let init = (threads.iter())
        .map(|thread| Local {
            control: Control(rng.u32(0..thread.controls.len() as u32)),
            stack: (0..rng.usize(0..3)).map(|_| Symbol(rng.u32(1..thread.symbol_count()))).collect(),
        })
        .collect();
    let never = |rng: &mut Rng| {
        let locals = threads.iter().map(|thread| rng.bool().then(|| local_set(rng, thread)));
        Target { locals: locals.collect() }
    };
    let property = |rng: &mut Rng, number: usize| Property {
        name: if number == 0 { HOSTILE[rng.usize(..HOSTILE.len())].to_owned() } else { format!("q-{number}") },
        never: (0..rng.usize(0..3)).map(|_| never(rng)).collect(),
    };
    let properties = (0..rng.usize(0..3)).map(|number| property(rng, number)).collect();
    let names = names(rng, "a", actions);
    Model::new(names, threads, init, properties).unwrap()
}

fn local_set(rng: &mut Rng, thread: &Thread) -> LocalSet {
    let mut set = LocalSet::new();
    while set.is_empty() {
        for control in (0..thread.controls.len() as u32).map(Control) {
            let stacks = stack_set(rng, thread.symbol_count());
            if rng.bool() && !stacks.is_empty() {
                set.insert(control, stacks);
            }
        }
    }
    set
}

fn stack_set(rng: &mut Rng, symbols: u32) -> StackSet {
    let mut draft = Draft::default();
    let mut nodes = vec![Draft::START];
    nodes.extend((0..rng.usize(0..4)).map(|_| draft.node()));
    for _ in 0..rng.usize(1..9) {
        let (from, to) = (nodes[rng.usize(0..nodes.len())], nodes[rng.usize(0..nodes.len())]);
        draft.edge(from, (rng.u8(0..5) > 0).then(|| Symbol(rng.u32(1..symbols))), to);
    }
    (0..rng.usize(1..3)).for_each(|_| draft.accept(nodes[rng.usize(0..nodes.len())]));
    draft.build(100).unwrap()
}
