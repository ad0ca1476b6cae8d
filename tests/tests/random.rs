//! Keeps the random systems telling: a comparison on systems that hardly move would show nothing.

use std::collections::BTreeSet;

use fastrand::Rng;
use tepui_model::pushdown::{Action, Model, Property, Rule, Shared, State, Symbol, Thread};
use tepui_tests::oracle::{Cap, contexts, finite_context, reachable, successors, views, violates};
use tepui_tests::random::{Shape, small_model, symmetric_model};

const SEEDS: u64 = 500;
const CAP: Cap = Cap { height: 6, states: 600 };

/// How many of the systems of one shape have some trait.
#[derive(Default, Debug)]
struct Shares {
    more_than_5_views: usize,
    pop_fires: usize,
    push_fires: usize,
    rule_on_empty_fires: usize,
    needs_3_contexts: usize,
    view_after_plateau: usize,
    some_context_infinite: usize,
    finite_contexts_many_states: usize,
    exact: usize,
    equal_threads: usize,
    four_threads: usize,
    dead_rule: usize,
    properties: usize,
    violated: usize,
    violated_late: usize,
}

impl Shares {
    fn count(&mut self, model: &Model) {
        let (states, exact) = reachable(model, CAP);
        let fired: Vec<_> = states.iter().flat_map(|state| successors(model, state)).collect();
        let rule = |&(thread, rule, _): &(usize, usize, _)| model.threads()[thread].rules[rule];
        let some = |wanted: fn(Action) -> bool| usize::from(fired.iter().any(|step| wanted(rule(step).action)));
        let bounded = contexts(model, 6, CAP);
        let sizes: Vec<_> = bounded.levels.iter().map(|level| views(level).len()).collect();
        let plateau = sizes.windows(2).position(|pair| pair[0] == pair[1]).unwrap_or(sizes.len() - 1);
        let infinite = finite_context(model, 20_000).contains(&Some(false));
        let all_rules: usize = model.threads().iter().map(|thread| thread.rules.len()).sum();
        let live: BTreeSet<_> = fired.iter().map(|(thread, rule, _)| (thread, rule)).collect();
        let threads = model.threads();
        let equal = (1..threads.len()).any(|i| (0..i).any(|j| threads[i].behaves_like(&threads[j])));

        self.more_than_5_views += usize::from(views(&states).len() > 5);
        self.pop_fires += some(|action| matches!(action, Action::Pop));
        self.push_fires += some(|action| matches!(action, Action::Push { .. }));
        self.rule_on_empty_fires += usize::from(fired.iter().any(|step| rule(step).top.is_bottom()));
        self.needs_3_contexts += usize::from(sizes[3] > sizes[2]);
        self.view_after_plateau += usize::from(bounded.exact && sizes[plateau] < sizes[sizes.len() - 1]);
        self.some_context_infinite += usize::from(infinite);
        self.finite_contexts_many_states += usize::from(!infinite && !exact);
        self.exact += usize::from(exact);
        self.equal_threads += usize::from(equal);
        self.four_threads += usize::from(threads.len() == 4);
        self.dead_rule += usize::from(exact && live.len() < all_rules);
        for property in model.properties() {
            self.properties += 1;
            self.violated += usize::from(states.iter().any(|state| violates(property, state)));
            self.violated_late += usize::from(bounded.first_violation(property) >= Some(2));
        }
    }
}

fn shares(shape: Shape) -> Shares {
    let mut shares = Shares::default();
    (0..SEEDS).for_each(|seed| shares.count(&small_model(&mut Rng::with_seed(seed), shape)));
    println!("{shape:?}: {shares:#?}");
    shares
}

/// Whether a count is more than so many percent of the systems.
fn more_than(percent: usize, count: usize) -> bool {
    100 * count > percent * SEEDS as usize
}

#[test]
fn systems_of_any_shape_move() {
    let all = [Shape::Any, Shape::FiniteContext, Shape::Recursive].map(shares);
    for shares in &all {
        assert!(more_than(40, shares.more_than_5_views), "{shares:?}");
        assert!(more_than(30, shares.pop_fires), "{shares:?}");
        assert!(more_than(30, shares.push_fires), "{shares:?}");
        assert!(more_than(10, shares.rule_on_empty_fires), "{shares:?}");
        assert!(more_than(10, shares.needs_3_contexts), "{shares:?}");
        assert!(more_than(10, shares.some_context_infinite), "{shares:?}");
        assert!(more_than(10, shares.equal_threads), "{shares:?}");
        assert!(more_than(10, shares.dead_rule), "{shares:?}");
        assert!(more_than(20, shares.exact), "{shares:?}");
        assert!(shares.four_threads > 0 && shares.view_after_plateau > 0, "{shares:?}");
        assert!(shares.finite_contexts_many_states > 0, "{shares:?}");
        let (violated, properties) = (shares.violated, shares.properties);
        assert!(properties > 500 && violated * 10 > properties && violated * 10 < 9 * properties, "{shares:?}");
        assert!(shares.violated_late > 20, "{shares:?}");
    }
    let [_, finite, recursive] = all;
    assert!(finite.some_context_infinite < recursive.some_context_infinite, "{finite:?} {recursive:?}");
    assert!(finite.exact > recursive.exact, "{finite:?} {recursive:?}");
}

#[test]
fn a_seed_gives_one_system() {
    let model = |seed| small_model(&mut Rng::with_seed(seed), Shape::Any);
    assert_eq!(model(7), model(7));
    assert_ne!(model(7), model(8));
    let model = |seed| symmetric_model(&mut Rng::with_seed(seed), Shape::Any);
    assert_eq!(model(7), model(7));
    assert_ne!(model(7), model(8));
}

/// How two threads of a system compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Likeness {
    /// Equal rules in the same order and equal initial stacks.
    Equal,
    /// Equal rules, but in another order or some of them more often, and equal initial stacks.
    EqualButForWriting,
    /// Equal initial stacks, and one rule is different, or one of them has one more.
    OneRuleApart,
    /// Equal rules in the same order, but different initial stacks.
    StacksApart,
    /// Anything else.
    Unlike,
}

fn likeness(model: &Model, i: usize, j: usize) -> Likeness {
    let (one, other) = (&model.threads()[i], &model.threads()[j]);
    let equal_stacks = model.init().stacks[i] == model.init().stacks[j];
    let (rules, other_rules) = (rules_of(one), rules_of(other));
    let apart = [rules.difference(&other_rules).count(), other_rules.difference(&rules).count()];
    match (one.symbols.len() == other.symbols.len(), equal_stacks, apart) {
        (true, true, _) if one.behaves_like(other) => Likeness::Equal,
        (true, true, [0, 0]) => Likeness::EqualButForWriting,
        (true, true, [0 | 1, 0 | 1]) => Likeness::OneRuleApart,
        (true, false, _) if one.behaves_like(other) => Likeness::StacksApart,
        _ => Likeness::Unlike,
    }
}

fn rules_of(thread: &Thread) -> BTreeSet<(Shared, Symbol, Shared, Action)> {
    thread.rules.iter().map(|&Rule { from, top, to, action, .. }| (from, top, to, action)).collect()
}

fn pairs(model: &Model) -> impl Iterator<Item = (usize, usize)> {
    let threads = model.threads().len();
    (0..threads).flat_map(move |j| (0..j).map(move |i| (i, j)))
}

/// Whether a property forbids the same views when two threads change places, its patterns being compared as they are.
fn allows_swap(property: &Property, i: usize, j: usize) -> bool {
    property.never.iter().all(|pattern| {
        let mut image = pattern.clone();
        image.tops.swap(i, j);
        property.never.contains(&image)
    })
}

fn swapped(mut state: State, i: usize, j: usize) -> State {
    state.stacks.swap(i, j);
    state
}

/// How many of the systems with equal threads have some trait.
#[derive(Default, Debug)]
struct GroupShares {
    equal: usize,
    group_of_3: usize,
    group_of_4: usize,
    two_groups: usize,
    not_side_by_side: usize,
    equal_but_for_writing: usize,
    one_rule_apart: usize,
    stacks_apart: usize,
    fewer_orbits: usize,
    more_than_5_views: usize,
    needs_3_contexts: usize,
    exact: usize,
    some_context_infinite: usize,
    properties: usize,
    violated: usize,
    symmetric: usize,
    symmetric_of_many_patterns: usize,
    symmetric_violated: usize,
    asymmetric: usize,
    asymmetric_violated: usize,
    one_pattern_missing: usize,
}

impl GroupShares {
    fn count(&mut self, model: &Model) {
        let threads = model.threads().len();
        let some = |wanted| usize::from(pairs(model).any(|(i, j)| likeness(model, i, j) == wanted));
        let equal: Vec<_> = pairs(model).filter(|&(i, j)| likeness(model, i, j) == Likeness::Equal).collect();
        // The first thread of the group of each thread, and the sizes of the groups.
        let first = |j| equal.iter().filter(|pair| pair.1 == j).map(|pair| pair.0).min().unwrap_or(j);
        let firsts: Vec<_> = (0..threads).map(first).collect();
        let sizes = (0..threads).map(|thread| firsts.iter().filter(|&&first| first == thread).count());
        let sizes: Vec<_> = sizes.filter(|&size| size > 1).collect();
        let (states, exact) = reachable(model, CAP);
        let orbits: BTreeSet<_> = states.iter().map(|state| sorted(state, &firsts)).collect();
        let bounded = contexts(model, 3, CAP);
        let new_view = views(&bounded.levels[3]).len() > views(&bounded.levels[2]).len();

        self.equal += usize::from(!equal.is_empty());
        self.group_of_3 += usize::from(sizes.contains(&3));
        self.group_of_4 += usize::from(sizes.contains(&4));
        self.two_groups += usize::from(sizes.len() == 2);
        self.not_side_by_side += usize::from(equal.iter().any(|&(i, j)| (i..j).any(|k| firsts[k] != firsts[i])));
        self.equal_but_for_writing += some(Likeness::EqualButForWriting);
        self.one_rule_apart += some(Likeness::OneRuleApart);
        self.stacks_apart += some(Likeness::StacksApart);
        self.fewer_orbits += usize::from(orbits.len() < states.len());
        self.more_than_5_views += usize::from(views(&states).len() > 5);
        self.needs_3_contexts += usize::from(new_view);
        self.exact += usize::from(exact);
        self.some_context_infinite += usize::from(finite_context(model, 20_000).contains(&Some(false)));
        for property in model.properties() {
            let violated = usize::from(states.iter().any(|state| violates(property, state)));
            self.properties += 1;
            self.violated += violated;
            if equal.is_empty() || property.never.is_empty() {
                continue;
            }
            let symmetric = equal.iter().all(|&(i, j)| allows_swap(property, i, j));
            let many = symmetric && property.never.len() > 1;
            self.symmetric += usize::from(symmetric);
            self.symmetric_of_many_patterns += usize::from(many);
            self.asymmetric += usize::from(!symmetric);
            self.one_pattern_missing += usize::from(!symmetric && one_missing(property, &equal));
            if symmetric { self.symmetric_violated += violated } else { self.asymmetric_violated += violated }
        }
    }
}

/// The state with the stacks of each group in order.
fn sorted(state: &State, firsts: &[usize]) -> State {
    let mut sorted = state.clone();
    for j in 0..firsts.len() {
        for i in 0..j {
            if firsts[i] == firsts[j] && sorted.stacks[i] > sorted.stacks[j] {
                sorted.stacks.swap(i, j);
            }
        }
    }
    sorted
}

/// Whether a property would treat equal threads alike if it had one more pattern.
fn one_missing(property: &Property, equal: &[(usize, usize)]) -> bool {
    let mut missing = vec![];
    for pattern in &property.never {
        for &(i, j) in equal {
            let mut image = pattern.clone();
            image.tops.swap(i, j);
            if !property.never.contains(&image) && !missing.contains(&image) {
                missing.push(image);
            }
        }
    }
    missing.len() == 1 && property.never.len() > 1
}

#[test]
fn systems_with_equal_threads_have_groups_and_near_misses() {
    for shape in [Shape::Any, Shape::FiniteContext, Shape::Recursive] {
        let mut shares = GroupShares::default();
        (0..SEEDS).for_each(|seed| shares.count(&symmetric_model(&mut Rng::with_seed(seed), shape)));
        println!("{shape:?}: {shares:#?}");
        assert!(more_than(60, shares.equal) && more_than(40, shares.fewer_orbits), "{shares:?}");
        assert!(more_than(15, shares.group_of_3) && more_than(2, shares.group_of_4), "{shares:?}");
        assert!(more_than(5, shares.two_groups) && more_than(10, shares.not_side_by_side), "{shares:?}");
        assert!(more_than(5, shares.equal_but_for_writing), "{shares:?}");
        assert!(more_than(10, shares.one_rule_apart) && more_than(5, shares.stacks_apart), "{shares:?}");
        assert!(more_than(40, shares.more_than_5_views) && more_than(10, shares.needs_3_contexts), "{shares:?}");
        assert!(more_than(20, shares.exact) && more_than(10, shares.some_context_infinite), "{shares:?}");
        let (violated, properties) = (shares.violated, shares.properties);
        assert!(properties > 500 && violated * 10 > properties && violated * 10 < 9 * properties, "{shares:?}");
        assert!(shares.symmetric > 100 && shares.symmetric_of_many_patterns > 50, "{shares:?}");
        assert!(shares.asymmetric > 100 && shares.one_pattern_missing > 10, "{shares:?}");
        assert!(shares.symmetric_violated > 30 && shares.asymmetric_violated > 30, "{shares:?}");
    }
}

#[test]
fn equal_threads_may_change_places_and_others_may_not() {
    let (mut equal, mut rewritten, mut rule_tells, mut stack_tells) = (0, 0, 0, 0);
    for seed in 0..2 * SEEDS {
        let shape = [Shape::Any, Shape::FiniteContext, Shape::Recursive][seed as usize % 3];
        let model = symmetric_model(&mut Rng::with_seed(seed), shape);
        let (states, exact) = reachable(&model, CAP);
        if !exact {
            continue;
        }
        for (i, j) in pairs(&model) {
            let same = states.iter().all(|state| states.contains(&swapped(state.clone(), i, j)));
            match likeness(&model, i, j) {
                Likeness::Equal => equal += 1,
                Likeness::EqualButForWriting => rewritten += 1,
                Likeness::OneRuleApart => rule_tells += usize::from(!same),
                Likeness::StacksApart => stack_tells += usize::from(!same),
                Likeness::Unlike => {}
            }
            let alike = matches!(likeness(&model, i, j), Likeness::Equal | Likeness::EqualButForWriting);
            assert!(same || !alike, "seed {seed}, threads {i} and {j}");
        }
    }
    let counts = format!("{equal} equal, {rewritten} written otherwise, {rule_tells} and {stack_tells} told apart");
    assert!(equal > 300 && rewritten > 30 && rule_tells > 20 && stack_tells > 20, "{counts}");
}
