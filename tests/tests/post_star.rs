//! One context of one thread: the saturated automaton accepts what the thread reaches alone, no more and no less, the
//! split automata agree with it, and every witness can be executed.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use tepui_core::Budget;
use tepui_engines::contexts::dfa::{Dfa, split};
use tepui_engines::contexts::post_star::PostStar;
use tepui_engines::ids::ThreadId;
use tepui_engines::pushdown::compiled::Compiled;
use tepui_model::pushdown::{Model, State, Symbol};
use tepui_tests::oracle;
use tepui_tests::random::{Shape, small_model};

const HEIGHT: usize = 6;
const SYSTEMS: u64 = 1500;

/// What the first thread reaches alone with stacks up to a height, and whether the height cut anything off.
fn alone(model: &Model) -> (BTreeSet<State>, bool) {
    let (mut reached, mut exact) = (BTreeSet::from([model.init().clone()]), true);
    let mut work = vec![model.init().clone()];
    while let Some(state) = work.pop() {
        for (thread, _, next) in oracle::successors(model, &state) {
            let low = next.stacks[0].len() <= HEIGHT;
            exact &= low || thread != 0;
            if thread == 0 && low && reached.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    (reached, exact)
}

fn word(stack: &[Symbol]) -> Vec<Symbol> {
    stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect()
}

fn accepts(set: &Dfa, word: &[Symbol]) -> bool {
    let mut state = Some(Dfa::START);
    for symbol in word {
        let edge = state.and_then(|state| set.edges(state).find(|edge| edge.0 == *symbol));
        let Some((_, next)) = edge else { return false };
        state = next;
    }
    state.is_none()
}

/// All words of a set that belong to stacks up to a height.
fn words(set: &Dfa) -> Vec<Vec<Symbol>> {
    let mut found = Vec::new();
    let mut work = vec![(Some(Dfa::START), Vec::new())];
    while let Some((state, word)) = work.pop() {
        match state {
            None => found.push(word),
            Some(state) if word.len() <= HEIGHT => {
                let longer = |(symbol, to)| (to, word.iter().copied().chain([symbol]).collect());
                work.extend(set.edges(state).map(longer));
            }
            Some(_) => {}
        }
    }
    found
}

#[test]
fn a_context_is_what_the_thread_reaches_alone() {
    let (mut exact_systems, mut witnesses) = (0, 0);
    for seed in 0..SYSTEMS {
        let model = small_model(&mut fastrand::Rng::with_seed(seed), Shape::Any);
        let compiled = Compiled::new(&model);
        let mut budget = Budget::unlimited();
        let start = Dfa::single(&word(&model.init().stacks[0]));
        let saturated = PostStar::new(compiled.kind(ThreadId(0)), compiled.init, &start, &mut budget).unwrap();
        let sets = split(&saturated, &mut budget).unwrap();
        let (reached, exact) = alone(&model);
        for state in &reached {
            let (shared, word) = (compiled.number(state.shared).unwrap(), word(&state.stacks[0]));
            let set = sets.iter().find(|(of, _)| *of == shared);
            assert!(set.is_some_and(|(_, set)| accepts(set, &word)), "seed {seed}: {state:?} is missing");
            let witness = saturated.witness(shared, &word, &mut budget).unwrap().unwrap();
            assert_eq!(witness.origin, self::word(&model.init().stacks[0]), "seed {seed}");
            let run = |state: State, rule: &u32| model.step(&state, 0, *rule as usize).unwrap();
            assert_eq!(&witness.rules.iter().fold(model.init().clone(), run), state, "seed {seed}");
            witnesses += 1;
        }
        if exact {
            exact_systems += 1;
            let accepted: usize = sets.iter().map(|(_, set)| words(set).len()).sum();
            assert_eq!(accepted, reached.len(), "seed {seed}: too much is accepted");
        }
    }
    assert!(exact_systems > SYSTEMS / 3 && witnesses > 5000, "{exact_systems} exact systems, {witnesses} witnesses");
}

#[test]
fn sets_are_compared_as_sets() {
    for seed in 0..SYSTEMS {
        let model = small_model(&mut fastrand::Rng::with_seed(seed), Shape::Recursive);
        let compiled = Compiled::new(&model);
        let mut budget = Budget::unlimited();
        let start = Dfa::single(&word(&model.init().stacks[0]));
        let saturated = PostStar::new(compiled.kind(ThreadId(0)), compiled.init, &start, &mut budget).unwrap();
        let sets = split(&saturated, &mut budget).unwrap();
        for (_, one) in &sets {
            for (_, other) in &sets {
                let included = words(one).iter().all(|word| accepts(other, word));
                let mut inside = |small: &Dfa, large: &Dfa| small.included_in(large, &mut budget).unwrap();
                assert!(included || !inside(one, other), "seed {seed}");
                assert_eq!(one == other, inside(one, other) && inside(other, one), "seed {seed}");
            }
            for top in one.tops() {
                let shortest = one.shortest(top).unwrap();
                assert!(accepts(one, &shortest) && shortest[0] == top, "seed {seed}");
            }
        }
    }
}
