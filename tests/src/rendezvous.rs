//! Communicating systems, read slowly: all states within a height of stacks, and random small systems.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use fastrand::Rng;
use tepui_model::rendezvous::{
    Action, Control, Draft, Local, LocalSet, Model, Property, Rule, StackSet, State, Symbol, Target, Thread,
};

/// All that a local state may become by one rule: the action, and what is then.
fn moves(thread: &Thread, local: &Local) -> Vec<(Option<Action>, Local)> {
    let mut found = Vec::new();
    for rule in &thread.rules {
        let fits = match local.stack.split_last() {
            _ if rule.from != local.control => None,
            Some((top, rest)) => (*top == rule.top).then_some(rest),
            None => rule.top.is_bottom().then_some([].as_slice()),
        };
        if let Some(rest) = fits {
            let mut stack = rest.to_vec();
            for &symbol in rule.right.iter().rev() {
                stack.push(symbol);
            }
            found.push((rule.action, Local { control: rule.to, stack }));
        }
    }
    found
}

/// All states after one step, each with its action, from the definition: an internal step of one thread, or an action that
/// every thread that knows it takes.
pub fn successors(model: &Model, state: &State) -> Vec<(Option<Action>, State)> {
    let all: Vec<_> = model.threads().iter().zip(state).map(|(thread, local)| moves(thread, local)).collect();
    let mut found = Vec::new();
    for (thread, moves) in all.iter().enumerate() {
        for (_, local) in moves.iter().filter(|(action, _)| action.is_none()) {
            let mut next = state.clone();
            next[thread] = local.clone();
            found.push((None, next));
        }
    }
    for action in (0..model.actions().len() as u32).map(Action) {
        let mut states = vec![state.clone()];
        let mut known = false;
        for (thread, moves) in
            all.iter().enumerate().filter(|(thread, _)| model.threads()[*thread].knows.contains(&action))
        {
            known = true;
            let choices: Vec<_> =
                moves.iter().filter(|(label, _)| *label == Some(action)).map(|(_, local)| local).collect();
            states = states
                .iter()
                .flat_map(|state| {
                    choices.iter().map(move |local| {
                        let mut next = state.clone();
                        next[thread] = (*local).clone();
                        next
                    })
                })
                .collect();
        }
        if known {
            found.extend(states.into_iter().map(|state| (Some(action), state)));
        }
    }
    found
}

/// What a bounded search found out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Searched {
    /// The states found, each with the fewest actions on the way there.
    pub states: HashMap<State, u32>,
    /// Whether these are all.
    pub complete: bool,
}

/// All states up to a height of stacks, and no more than some number of them: few actions first.
pub fn search(model: &Model, height: usize, most: usize) -> Searched {
    let mut states: HashMap<State, u32> = HashMap::new();
    let mut complete = true;
    let mut queue = VecDeque::from([(model.init().clone(), 0)]);
    while let Some((state, actions)) = queue.pop_front() {
        if states.contains_key(&state) {
            continue;
        }
        if states.len() >= most {
            complete = false;
            break;
        }
        for (action, next) in successors(model, &state) {
            if next.iter().any(|local| local.stack.len() > height) {
                complete = false;
            } else if action.is_none() {
                queue.push_front((next, actions));
            } else {
                queue.push_back((next, actions + 1));
            }
        }
        states.insert(state, actions);
    }
    Searched { states, complete }
}

/// Whether a state is in a target, from the definition.
pub fn meant(target: &Target, state: &State) -> bool {
    target.locals.iter().zip(state).all(|(set, local)| {
        let Some(set) = set else { return true };
        let Some(stacks) = set.get(&local.control) else { return false };
        let mut node = Some(StackSet::START);
        for symbol in &local.stack {
            node = node.and_then(|node| stacks.edges(node).iter().find(|edge| edge.0 == *symbol).map(|edge| edge.1));
        }
        node.is_some_and(|node| stacks.accepts(node))
    })
}

impl Searched {
    /// The fewest actions on a way into one of the targets.
    pub fn fewest_actions(&self, property: &Property) -> Option<u32> {
        let hits = self.states.iter().filter(|(state, _)| property.never.iter().any(|target| meant(target, state)));
        hits.map(|(_, actions)| *actions).min()
    }
}

/// The words of at most so many actions with which a thread, alone, gets into a set; and whether the search was complete.
pub fn words(
    thread: &Thread,
    init: &Local,
    set: Option<&LocalSet>,
    most: usize,
    height: usize,
) -> (BTreeSet<Vec<Action>>, bool) {
    let mut seen: BTreeSet<(Vec<Action>, Local)> = BTreeSet::new();
    let mut queue = vec![(Vec::new(), init.clone())];
    let mut complete = true;
    let target = Target { locals: vec![set.cloned()] };
    let mut found = BTreeSet::new();
    while let Some((word, local)) = queue.pop() {
        if !seen.insert((word.clone(), local.clone())) {
            continue;
        }
        if meant(&target, &vec![local.clone()]) {
            found.insert(word.clone());
        }
        for (action, next) in moves(thread, &local) {
            let longer: Vec<_> = word.iter().copied().chain(action).collect();
            if next.stack.len() > height {
                complete = false;
            } else if longer.len() <= most {
                queue.push((longer, next));
            }
        }
    }
    (found, complete)
}

/// A random system: 1 to 3 threads, 1 to 4 actions, each known to some of them, 1 or 2 control states, 1 to 3 symbols and 2
/// to 8 rules a thread, and one property with 1 or 2 targets, some of them near the end of a random run.
pub fn small_model(rng: &mut Rng) -> Model {
    let (threads, actions) = (rng.usize(1..=3), rng.u32(1..=4));
    let mut known: Vec<BTreeSet<Action>> = vec![BTreeSet::new(); threads];
    for action in (0..actions).map(Action) {
        known[rng.usize(0..threads)].insert(action);
        known[rng.usize(0..threads)].insert(action);
        known[rng.usize(0..threads)].extend(rng.bool().then_some(action));
    }
    let mut init = Vec::new();
    let threads: Vec<_> = (known.into_iter().enumerate())
        .map(|(number, knows)| {
            let (controls, symbols) = (rng.u32(1..=2), rng.u32(1..=3));
            let stack = (0..rng.usize(0..=2)).map(|_| Symbol(rng.u32(1..=symbols))).collect();
            init.push(Local { control: Control(rng.u32(0..controls)), stack });
            Thread {
                name: format!("t{number}"),
                controls: (0..controls).map(|control| format!("c{control}")).collect(),
                symbols: (1..=symbols).map(|symbol| format!("s{symbol}")).collect(),
                rules: rules(rng, controls, symbols, &knows, init.last()),
                knows,
            }
        })
        .collect();
    let names = (0..actions).map(|action| format!("a{action}")).collect();
    let bare = Model::new(names, threads, init, Vec::new()).unwrap_or_else(|malformed| unreachable!("{malformed}"));
    let targets = (0..rng.usize(1..=2)).map(|_| match rng.bool() {
        true => target(rng, bare.threads()),
        false => target_after_run(rng, &bare),
    });
    let property = Property { name: "q".to_owned(), never: targets.collect() };
    bare.with_properties(vec![property]).unwrap_or_else(|malformed| unreachable!("{malformed}"))
}

fn rules(rng: &mut Rng, controls: u32, symbols: u32, knows: &BTreeSet<Action>, init: Option<&Local>) -> Vec<Rule> {
    let labels: Vec<_> = knows.iter().copied().collect();
    let mut rules: Vec<Rule> = Vec::new();
    for _ in 0..rng.usize(2..=8) {
        // Most rules start where something leads to: at the initial local state, or after another rule.
        let heads: Vec<_> = (rules.iter().filter_map(|rule| Some((rule.to, *rule.right.first()?))))
            .chain(init.map(|local| (local.control, local.top())))
            .collect();
        let blind = (Control(rng.u32(0..controls)), Symbol(rng.u32(0..=symbols)));
        let (from, top) = if rng.u8(0..4) == 0 { blind } else { heads[rng.usize(0..heads.len())] };
        let length = [0, 0, 1, 1, 1, 2, 2, 3][rng.usize(0..8)];
        rules.push(Rule {
            from,
            top,
            action: if labels.is_empty() || rng.u8(0..6) == 0 {
                None
            } else {
                Some(labels[rng.usize(0..labels.len())])
            },
            to: Control(rng.u32(0..controls)),
            right: (0..length).map(|_| Symbol(rng.u32(1..=symbols))).collect(),
            line: 0,
        });
    }
    rules
}

/// The end of a random run, perhaps with one thread somewhere else.
fn target_after_run(rng: &mut Rng, model: &Model) -> Target {
    let mut state = model.init().clone();
    for _ in 0..rng.usize(3..=14) {
        let next = successors(model, &state);
        let low: Vec<_> =
            next.into_iter().filter(|(_, state)| state.iter().all(|local| local.stack.len() < 6)).collect();
        if low.is_empty() {
            break;
        }
        state = low[rng.usize(0..low.len())].1.clone();
    }
    let mut locals: Vec<_> = state.iter().map(|local| Some([(local.control, only(&local.stack))].into())).collect();
    let other = rng.usize(0..locals.len());
    match rng.u8(0..3) {
        0 => locals[other] = None,
        1 => locals[other] = Some(local_set(rng, &model.threads()[other])),
        _ => {}
    }
    Target { locals }
}

fn only(stack: &[Symbol]) -> StackSet {
    let mut draft = Draft::default();
    let mut end = Draft::START;
    for &symbol in stack {
        let next = draft.node();
        draft.edge(end, Some(symbol), next);
        end = next;
    }
    draft.accept(end);
    draft.build(64).unwrap_or_else(|_| unreachable!("a stack of a few symbols"))
}

fn target(rng: &mut Rng, threads: &[Thread]) -> Target {
    let locals = threads.iter().map(|thread| if rng.u8(0..4) == 0 { None } else { Some(local_set(rng, thread)) });
    Target { locals: locals.collect() }
}

fn local_set(rng: &mut Rng, thread: &Thread) -> LocalSet {
    let mut set = BTreeMap::new();
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

/// A random set of stacks.
pub fn stack_set(rng: &mut Rng, symbol_count: u32) -> StackSet {
    let mut draft = Draft::default();
    let mut nodes = vec![Draft::START];
    nodes.extend((0..rng.usize(0..=2)).map(|_| draft.node()));
    for _ in 0..rng.usize(1..=5) {
        let (from, to) = (nodes[rng.usize(0..nodes.len())], nodes[rng.usize(0..nodes.len())]);
        let symbol = (rng.u8(0..6) > 0 && symbol_count > 1).then(|| Symbol(rng.u32(1..symbol_count)));
        draft.edge(from, symbol, to);
    }
    draft.accept(nodes[rng.usize(0..nodes.len())]);
    draft.build(64).unwrap_or_else(|_| StackSet::everything(symbol_count))
}
