//! Policies, abstractions and closure against a bounded search, on random systems.

use std::collections::HashSet;

use tepui::{Abstraction, CLOSURE, Policy, Refinement};
use tepui_check::rendezvous::check;
use tepui_core::Status;
use tepui_engines::rendezvous::product::product;
use tepui_model::pushdown;
use tepui_model::rendezvous::{Model, Property};
use tepui_tests::facade::rendezvous_certificate;
use tepui_tests::rendezvous::{Searched, search, successors};

use super::{drawn, for_each_model, longest, refine, run, unknown, with, word_lengths};

const LONGEST: u32 = 7;

/// A random system with a single target: with several of them, the first that is reached counts, which need not be the
/// one with the shortest word.
fn with_one_target(seed: u64) -> Model {
    let model = drawn(seed);
    let properties = model.properties().iter().map(|property| {
        let never = property.never[..1].to_vec();
        Property { name: property.name.clone(), never }
    });
    let properties = properties.collect();
    model.with_properties(properties).unwrap()
}

/// The status must be what the search found, as far as it found anything.
fn compare(model: &Model, searched: &Searched, status: Status, place: &str) {
    let fewest = searched.fewest_actions(&model.properties()[0]);
    match status {
        Status::Safe => assert_eq!(fewest, None, "{place}: safe, but reachable"),
        Status::Unsafe if searched.complete => {
            assert!(fewest.is_some(), "{place}: unsafe, but unreachable");
        }
        Status::Unsafe | Status::Unknown => {}
    }
}

#[derive(Default, Debug)]
struct Tally {
    safe: u32,
    not_safe: u32,
    left_open: u32,
    by_more: u32,
    found_later: u32,
}

#[test]
fn all_policies_agree_with_a_bounded_search() {
    let mut tally = Tally::default();
    for_each_model(1_500, with_one_target, |model, seed| {
        let searched = search(model, 6, 3_000);
        let fewest = searched.fewest_actions(&model.properties()[0]);
        let mut answers = Vec::new();
        for (name, policy) in Policy::ALL {
            for abstraction in [Abstraction::Prefix, Abstraction::Suffix, Abstraction::Bifix] {
                let place = format!("seed {seed}, {name}, {abstraction:?}");
                let outcome = refine(model, Refinement { policy, abstraction, shuffle_first: false }, LONGEST);
                compare(model, &searched, outcome.status(), &place);
                if let Some((actions, projection)) = word_lengths(model, &outcome) {
                    // A word that is shorter, for every thread, than the length up to which all are exact is the shortest.
                    if policy != Policy::NonGreedy {
                        let least = fewest.unwrap_or(u32::MAX);
                        assert!(actions <= least, "{place}: {actions} actions, {least} are enough");
                        assert!(!searched.complete || actions == least, "{place}: {actions} actions, not {least}");
                    }
                    assert!(projection < longest(&outcome), "{place}");
                }
                if abstraction == Abstraction::Prefix {
                    answers.push(outcome.status());
                }
            }
        }
        let first = answers.iter().find(|status| **status != Status::Unknown);
        let agree = |status: &Status| *status == Status::Unknown || Some(status) == first;
        assert!(answers.iter().all(agree), "seed {seed}: {answers:?}");
        match first {
            Some(Status::Safe) => tally.safe += 1,
            Some(_) => tally.not_safe += 1,
            None => tally.left_open += 1,
        }
        let closure = run(model, &CLOSURE, Refinement::default(), Some(4));
        compare(model, &searched, closure.status(), &format!("seed {seed}, closure"));
        assert!(unknown(&closure) || agree(&closure.status()) || first.is_none(), "seed {seed}: closure differs");
        tally.by_more += u32::from(first.is_none() && !unknown(&closure));
        tally.found_later += u32::from(fewest.is_some_and(|actions| actions > 3));
    });
    assert!(tally.safe > 300 && tally.not_safe > 300 && tally.by_more > 5 && tally.found_later > 20, "{tally:?}");
}

/// Theorem 1: putting unknown actions in after the abstraction never needs a greater length than putting them in before.
#[test]
fn to_shuffle_first_is_never_more_precise() {
    let (mut decided, mut better) = (0, 0);
    for_each_model(1_000, with_one_target, |model, seed| {
        let first = refine(model, Refinement { shuffle_first: true, ..with(Policy::Succinct) }, 5);
        if unknown(&first) {
            return;
        }
        let succinct = refine(model, with(Policy::Succinct), 5);
        decided += 1;
        assert_eq!(succinct.status(), first.status(), "seed {seed}");
        assert!(longest(&succinct) <= longest(&first), "seed {seed}");
        better += u32::from(longest(&succinct) < longest(&first));
    });
    assert!(decided > 300 && better > 5, "{decided} {better}");
}

/// Theorem 2: where succinct finds a word at k, non-greedy finds one without a length beyond k. That it always needs
/// exactly k, as the theorem puts it, is too much: see `examples::succinct_may_look_further_than_it_must`.
#[test]
fn non_greedy_needs_no_greater_length() {
    let (mut decided, mut less) = (0, 0);
    for_each_model(1_000, with_one_target, |model, seed| {
        let succinct = refine(model, with(Policy::Succinct), LONGEST);
        if succinct.status() != Status::Unsafe {
            return;
        }
        decided += 1;
        let even = refine(model, with(Policy::NonGreedy), LONGEST);
        assert_eq!(even.status(), Status::Unsafe, "seed {seed}");
        assert!(longest(&even) <= longest(&succinct), "seed {seed}");
        let (_, projection) = word_lengths(model, &even).unwrap();
        let (_, other) = word_lengths(model, &succinct).unwrap();
        assert!(projection <= other, "seed {seed}");
        less += u32::from(projection + 1 < longest(&succinct));
    });
    assert!(decided > 200, "{decided}");
    println!("{decided} reachable, of those {less} where succinct went further than the shortest longest projection");
}

/// The states of the product between two steps are those of the system, and queries are answered by their phases.
#[test]
fn the_product_has_the_same_states() {
    let mut compared = 0;
    for_each_model(1_000, drawn, |model, seed| {
        let searched = search(model, 4, 300);
        if !searched.complete {
            return;
        }
        compared += 1;
        let product = product(model);
        let pushdown = product.model();
        let mut seen: HashSet<pushdown::State> = HashSet::new();
        let mut work = vec![pushdown.init().clone()];
        let mut running = 0;
        while let Some(state) = work.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            running += usize::from(state.shared.0 == 0);
            for (thread, rules) in pushdown.threads().iter().enumerate() {
                work.extend((0..rules.rules.len()).filter_map(|rule| pushdown.step(&state, thread, rule)));
            }
        }
        assert_eq!(running, searched.states.len(), "seed {seed}");
        let bad = seen.iter().any(|state| pushdown.properties()[0].forbids(state.shared, |thread| state.top(thread)));
        assert_eq!(bad, searched.fewest_actions(&model.properties()[0]).is_some(), "seed {seed}");
    });
    assert!(compared > 300, "{compared}");
}

/// The model's own steps are those of the definition.
#[test]
fn steps_are_those_of_the_definition() {
    for_each_model(300, drawn, |model, seed| {
        for state in search(model, 3, 30).states.keys() {
            let mut expected: Vec<_> = successors(model, state).into_iter().map(|(_, state)| state).collect();
            let mut found = Vec::new();
            let mut choices: Vec<Vec<tepui_model::rendezvous::Move>> = vec![Vec::new()];
            for (thread, rules) in model.threads().iter().enumerate() {
                let with = |chosen: &Vec<_>| {
                    (0..rules.rules.len())
                        .map(|rule| {
                            let mut more = chosen.clone();
                            more.push(tepui_model::rendezvous::Move { thread, rule });
                            more
                        })
                        .collect::<Vec<_>>()
                };
                let longer: Vec<_> = choices.iter().flat_map(with).collect();
                choices.extend(longer);
            }
            found.extend(choices.iter().filter_map(|moves| model.step(state, moves)));
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "seed {seed}");
        }
    });
}

/// A random system with a second property, of another system, if it fits.
fn with_another_property(seed: u64) -> Model {
    let model = drawn(seed);
    let other = Property { name: "other".to_owned(), ..with_one_target(seed + 1_000_000).properties()[0].clone() };
    let both = vec![model.properties()[0].clone(), other];
    model.clone().with_properties(both).unwrap_or(model)
}

/// A certificate about all properties is one about each of them, and one about a property survives that others are asked.
#[test]
fn certificates_do_not_depend_on_what_else_is_asked() {
    let mut checked = 0;
    for_each_model(200, with_another_property, |model, seed| {
        let whole = run(model, &CLOSURE, Refinement::default(), Some(3));
        for name in ["q", "other"] {
            let part = model.clone().restricted(|property| property.name == name);
            if whole.is_safe(name) {
                checked += 1;
                check(&part, rendezvous_certificate(&whole.evidence().unwrap().certificate), &|| false).unwrap();
            }
            let outcome = run(&part, &CLOSURE, Refinement::default(), Some(3));
            if let Some(evidence) = outcome.evidence() {
                check(&part, rendezvous_certificate(&evidence.certificate), &|| false).unwrap();
                // Of the others it says nothing.
                let refused = check(model, rendezvous_certificate(&evidence.certificate), &|| false).is_err();
                assert!(
                    refused
                        || model.properties().len() == 1
                        || model.properties()[0].never == model.properties()[1].never,
                    "seed {seed}"
                );
            }
        }
    });
    assert!(checked > 25, "{checked}");
}
