//! Small systems whose answers can be worked out on paper, and a short notation to write more of them.
//!
//! The answers are stated with each system; the tests hold the oracle to them.

use tepui_model::pushdown::{Action, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

/// The rule `from top -> to word` in numbers. The word, top first, replaces the top of the stack: none, one or two
/// symbols. For `top` 0, the empty stack, the word is what is pushed: none or one symbol.
///
/// # Panics
/// If the word is longer than a rule allows.
pub fn rule(from: u32, top: u32, to: u32, word: &[u32]) -> Rule {
    let action = match (top, word) {
        (0, []) => Action::Overwrite(Symbol::BOTTOM),
        (0, [pushed]) => Action::Push { top: Symbol(*pushed), below: Symbol::BOTTOM },
        (1.., []) => Action::Pop,
        (1.., [symbol]) => Action::Overwrite(Symbol(*symbol)),
        (1.., [top, below]) => Action::Push { top: Symbol(*top), below: Symbol(*below) },
        _ => panic!("no rule on {top} writes {word:?}"),
    };
    Rule { from: Shared(from), top: Symbol(top), to: Shared(to), action, line: 0 }
}

/// A thread whose `symbol_count` symbols are named by their numbers from 1 on.
pub fn thread(name: &str, symbol_count: u32, rules: Vec<Rule>) -> Thread {
    let symbols = (1..=symbol_count).map(|symbol| symbol.to_string()).collect();
    Thread { name: name.to_owned(), symbols, rules }
}

/// A state in numbers, stacks from bottom to top.
pub fn state(shared: u32, stacks: &[&[u32]]) -> State {
    let stack = |stack: &&[u32]| stack.iter().copied().map(Symbol).collect();
    State { shared: Shared(shared), stacks: stacks.iter().map(stack).collect() }
}

/// The property that forbids one pattern, in numbers, 0 being the top of an empty stack.
pub fn never(shared: Option<u32>, tops: &[Option<u32>]) -> Property {
    let tops = tops.iter().map(|top| top.map(Symbol)).collect();
    Property { name: "never".to_owned(), never: vec![Pattern { shared: shared.map(Shared), tops }] }
}

/// A model with numbered shared states and without properties.
///
/// # Panics
/// If the parts do not fit each other.
pub fn system(shared_count: u32, threads: Vec<Thread>, init: State) -> Model {
    Model::new(Names::Numbers(shared_count), threads, init, vec![]).expect("the parts fit each other")
}

/// Thread 1 offers, thread 2 accepts, thread 1 is done: one run of three contexts through the states
/// `0|1,1  1|2,1  2|2,2  0|3,2`, of which the last is not reachable with fewer.
pub fn handshake() -> Model {
    let left = thread("left", 3, vec![rule(0, 1, 1, &[2]), rule(2, 2, 0, &[3])]);
    let right = thread("right", 2, vec![rule(1, 1, 2, &[2])]);
    system(3, vec![left, right], state(0, &[&[1], &[1]]))
}

/// Thread 1 starts with the stack `2.1.1` and pops 1s, thread 2 permits each pop but the first. Each context is one
/// step: `0|2.1.1  1|2.1  0|2.1  1|2  0|2`. Context 2 brings no new view, contexts 3 and 4 do.
pub fn stutter() -> Model {
    let popper = thread("popper", 2, vec![rule(0, 1, 1, &[])]);
    let permit = thread("permit", 1, vec![rule(1, 1, 0, &[1])]);
    system(2, vec![popper, permit], state(0, &[&[2, 1, 1], &[1]]))
}

/// Thread 1 piles up `m >= 2` symbols in its first context, of which it pops one then and one in each further context,
/// while thread 2 permits each pop but the first. The stack of thread 1 is empty after `2m - 1` contexts, and contexts
/// 3 to `2m - 2` bring no new view. The symbols of thread 1 are `1..=m`, the progress of the piling up, and `m + 1`.
pub fn countdown(m: u32) -> Model {
    let filler = m + 1;
    let mut rules: Vec<_> = (1..m).map(|done| rule(0, done, 0, &[done + 1, filler])).collect();
    rules.push(rule(0, m, 1, &[]));
    rules.push(rule(0, filler, 1, &[]));
    let permit = thread("permit", 1, vec![rule(1, 1, 0, &[1])]);
    system(2, vec![thread("counter", filler, rules), permit], state(0, &[&[1], &[1]]))
}

/// One thread that may push without end in shared state 0, and then pop everything in shared state 1. Its three views
/// beside the initial one, `0|1`, are `1|1`, `1|-` and, after a last rule on the empty stack, `0|-`.
pub fn tower() -> Model {
    let rules = vec![rule(0, 1, 0, &[1, 1]), rule(0, 1, 1, &[]), rule(1, 1, 1, &[]), rule(1, 0, 0, &[])];
    system(2, vec![thread("tower", 1, rules)], state(0, &[&[1]]))
}

/// Two threads with finite contexts whose stacks grow without end: each pushes once and hands over to the other.
pub fn ladder() -> Model {
    let left = thread("left", 1, vec![rule(0, 1, 1, &[1, 1])]);
    let right = thread("right", 1, vec![rule(1, 1, 0, &[1, 1])]);
    system(2, vec![left, right], state(0, &[&[1], &[1]]))
}
