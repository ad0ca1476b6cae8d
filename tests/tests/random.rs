//! Keeps the random systems telling: a comparison on systems that hardly move would show nothing.

use fastrand::Rng;
use tepui_model::pushdown::{Action, Model};
use tepui_tests::oracle::{Cap, contexts, finite_context, reachable, successors, views, violates};
use tepui_tests::random::{Shape, small_model};

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
        let live: std::collections::BTreeSet<_> = fired.iter().map(|(thread, rule, _)| (thread, rule)).collect();
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
}
