//! Holds the oracle to answers worked out by hand, to the model's own steps, and to second ways of saying the same.

use std::collections::BTreeSet;

use fastrand::Rng;
use tepui_model::pushdown::{Model, Shared, State, Symbol};
use tepui_tests::oracle::{
    Bounded, Cap, contexts, fewest_contexts, finite_context, reachable, round_robin, successors, view, views,
    views_at_depth, violates,
};
use tepui_tests::random::{Shape, small_model};
use tepui_tests::systems::{countdown, handshake, ladder, never, rule, state, stutter, system, thread, tower};

const CAP: Cap = Cap { height: 8, states: 3000 };

fn random_models(count: u64) -> impl Iterator<Item = (u64, Model)> {
    (0..count).map(|seed| {
        let shape = [Shape::Any, Shape::FiniteContext, Shape::Recursive][seed as usize % 3];
        (seed, small_model(&mut Rng::with_seed(seed), shape))
    })
}

fn shown(model: &Model, states: &BTreeSet<State>) -> String {
    states.iter().map(|state| model.display_state(state)).collect::<Vec<_>>().join("  ")
}

fn view_counts(bounded: &Bounded) -> Vec<usize> {
    bounded.levels.iter().map(|level| views(level).len()).collect()
}

#[test]
fn the_handshake_takes_three_contexts() {
    let model = handshake();
    let bounded = contexts(&model, 4, CAP);
    let levels: Vec<_> = bounded.levels.iter().map(|level| shown(&model, level)).collect();
    assert!(bounded.exact);
    assert_eq!(levels[0], "0|1,1");
    assert_eq!(levels[1], "0|1,1  1|2,1");
    assert_eq!(levels[2], "0|1,1  1|2,1  2|2,2");
    assert_eq!(levels[3], "0|1,1  0|3,2  1|2,1  2|2,2");
    assert_eq!(levels[4], levels[3]);
    assert_eq!(reachable(&model, CAP), (bounded.levels[3].clone(), true));
    let done = never(None, &[Some(3), None]);
    assert_eq!(fewest_contexts(&model, &done, 4, CAP), Some(3));
    assert_eq!(fewest_contexts(&model, &done, 2, CAP), None);
    assert_eq!(fewest_contexts(&model, &never(Some(0), &[None, None]), 4, CAP), Some(0));
}

#[test]
fn a_view_may_appear_after_a_plateau() {
    let bounded = contexts(&stutter(), 6, CAP);
    assert!(bounded.exact);
    assert_eq!(view_counts(&bounded), [1, 2, 2, 3, 4, 4, 4]);
    assert_eq!(bounded.first_violation(&never(Some(1), &[Some(2), None])), Some(3));
    assert_eq!(bounded.first_violation(&never(None, &[Some(0), None])), None);
}

#[test]
fn a_plateau_may_be_as_long_as_one_likes() {
    for m in 2..=7_usize {
        let model = countdown(m as u32);
        let bounded = contexts(&model, 2 * m + 1, CAP);
        let mut expected = vec![1, m + 1, m + 2];
        expected.resize(2 * m - 1, m + 2);
        expected.extend([m + 3, m + 4, m + 4]);
        assert_eq!(view_counts(&bounded), expected);
        assert!(bounded.exact);
        assert_eq!(fewest_contexts(&model, &never(None, &[Some(0), None]), 2 * m, CAP), Some(2 * m - 1));
        assert_eq!(finite_context(&model, 1000), [Some(true), Some(true)]);
    }
}

#[test]
fn an_endless_context_is_cut_off_and_says_so() {
    let bounded = contexts(&tower(), 2, Cap { height: 3, states: 100 });
    assert!(!bounded.exact);
    let shown: Vec<_> = bounded.levels.iter().map(|level| shown(&tower(), level)).collect();
    assert_eq!(shown[1], "0|-  0|1  0|1.1  0|1.1.1  1|-  1|1  1|1.1");
    assert_eq!(shown[1], shown[2]);
    assert_eq!(views(&bounded.levels[1]).len(), 4);
    assert_eq!(finite_context(&tower(), 100), [Some(false)]);
    let (states, exact) = reachable(&tower(), Cap { height: 100, states: 10 });
    assert_eq!((states.len(), exact), (10, false));
    assert!(!contexts(&tower(), 1, Cap { height: 100, states: 10 }).exact);
}

#[test]
fn a_cap_that_cuts_nothing_off_leaves_the_levels_exact() {
    let tight = Cap { height: 3, states: 5 };
    assert!(contexts(&stutter(), 9, tight).exact);
    assert!(reachable(&stutter(), tight).1);
    for cap in [Cap { height: 3, states: 4 }, Cap { height: 1, states: 5 }] {
        assert!(!contexts(&stutter(), 9, cap).exact);
        assert!(!reachable(&stutter(), cap).1);
    }
}

#[test]
fn contexts_may_be_finite_and_states_infinite() {
    let bounded = contexts(&ladder(), 5, CAP);
    assert!(bounded.exact);
    assert_eq!(bounded.levels.iter().map(BTreeSet::len).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(view_counts(&bounded), [1, 2, 2, 2, 2, 2]);
    assert!(!reachable(&ladder(), CAP).1);
    assert_eq!(finite_context(&ladder(), 100), [Some(true), Some(true)]);
}

#[test]
fn depth_cuts_stacks_from_the_top() {
    let states = [state(1, &[&[3, 2, 1], &[]])];
    let at = |depth| views_at_depth(&states, depth).pop_first().map(|(_, stacks)| stacks);
    let numbers = |stack: &[u32]| stack.iter().copied().map(Symbol).collect::<Vec<_>>();
    assert_eq!(at(0), Some(vec![vec![], vec![]]));
    assert_eq!(at(1), Some(vec![numbers(&[1]), vec![]]));
    assert_eq!(at(2), Some(vec![numbers(&[1, 2]), vec![]]));
    assert_eq!(at(9), Some(vec![numbers(&[1, 2, 3]), vec![]]));
    assert_eq!(view(&states[0]).tops, [Symbol(1), Symbol::BOTTOM]);
}

#[test]
fn finite_contexts_are_told_from_infinite_ones() {
    let alone = |rules| {
        let model = system(3, vec![thread("t", 3, rules)], state(0, &[&[1]]));
        finite_context(&model, 10_000)[0]
    };
    // No rule at all, and a climb through different symbols that stops.
    assert_eq!(alone(vec![]), Some(true));
    assert_eq!(alone(vec![rule(0, 1, 0, &[2, 1]), rule(0, 2, 0, &[3, 2])]), Some(true));
    // A climb through every pair of shared state and symbol reaches the greatest height that is finite: 9.
    let pairs: Vec<_> = (0..3).flat_map(|shared| (1..=3).map(move |symbol| (shared, symbol))).collect();
    let climb = |from: (u32, u32), to: (u32, u32)| rule(from.0, from.1, to.0, &[to.1, from.1]);
    let mut climbs: Vec<_> = pairs.windows(2).map(|pair| climb(pair[0], pair[1])).collect();
    assert_eq!(alone(climbs.clone()), Some(true));
    climbs.push(climb(pairs[8], pairs[0]));
    assert_eq!(alone(climbs), Some(false));
    // A call that returns before the next one.
    assert_eq!(alone(vec![rule(0, 1, 1, &[2, 1]), rule(1, 2, 0, &[])]), Some(true));
    // The same, but each return leaves something behind.
    let returns = [rule(0, 1, 1, &[2, 3]), rule(1, 2, 2, &[])];
    assert_eq!(alone([&returns[..], &[rule(2, 3, 0, &[1, 2])]].concat()), Some(false));
    assert_eq!(alone([&returns[..], &[rule(2, 3, 0, &[1])]].concat()), Some(true));
    // Recursion that the initial state does not reach counts.
    assert_eq!(alone(vec![rule(2, 3, 2, &[3, 3])]), Some(false));
    // A push on the empty stack, once and without end.
    assert_eq!(alone(vec![rule(0, 0, 0, &[1])]), Some(true));
    assert_eq!(alone(vec![rule(0, 0, 0, &[1]), rule(0, 1, 0, &[1, 1])]), Some(false));
}

#[test]
fn finite_contexts_may_stay_undecided() {
    assert_eq!(finite_context(&countdown(9), 5), [None, Some(true)]);
}

#[test]
fn threads_alone_agree_with_their_exact_states() {
    let (mut finite, mut infinite) = (0, 0);
    for (seed, model) in random_models(600) {
        for (answer, thread) in finite_context(&model, 20_000).into_iter().zip(model.threads()) {
            let bound = model.shared().count() as usize * thread.symbols.len();
            let cap = Cap { height: 2 * bound + 2, states: 3000 };
            let starts = (0..model.shared().count()).flat_map(|shared| {
                let empty = state(shared, &[&[]]);
                std::iter::once(empty).chain((1..thread.symbol_count()).map(move |top| state(shared, &[&[top]])))
            });
            let runs: Vec<_> = starts
                .map(|start| reachable(&system(model.shared().count(), vec![thread.clone()], start), cap))
                .collect();
            let tallest = runs.iter().flat_map(|(states, _)| states).map(|state| state.stacks[0].len()).max();
            match answer {
                Some(true) => assert!(runs.iter().all(|(_, exact)| *exact) && tallest <= Some(bound), "seed {seed}"),
                Some(false) => assert!(runs.iter().any(|(_, exact)| !exact), "seed {seed}"),
                None => {}
            }
            finite += usize::from(answer == Some(true));
            infinite += usize::from(answer == Some(false));
        }
    }
    assert!(finite > 200 && infinite > 200, "{finite} finite, {infinite} infinite");
}

/// A state of the right form that need not be reachable.
fn any_state(rng: &mut Rng, model: &Model) -> State {
    let mut state = State { shared: Shared(rng.u32(0..model.shared().count())), stacks: vec![] };
    for thread in model.threads() {
        state.stacks.push((0..rng.usize(0..4)).map(|_| Symbol(rng.u32(1..thread.symbol_count()))).collect());
    }
    state
}

#[test]
fn steps_views_and_properties_agree_with_the_model() {
    let mut steps = 0;
    for (seed, model) in random_models(500) {
        let mut rng = Rng::with_seed(seed);
        let (mut states, _) = reachable(&model, Cap { height: 5, states: 50 });
        states.extend((0..50).map(|_| any_state(&mut rng, &model)));
        for state in &states {
            let mut expected = vec![];
            for (thread, rules) in model.threads().iter().map(|thread| &thread.rules).enumerate() {
                let of_thread = (0..rules.len())
                    .filter_map(|rule| model.step(state, thread, rule).map(|next| (thread, rule, next)));
                expected.extend(of_thread);
            }
            steps += expected.len();
            assert_eq!(successors(&model, state), expected, "seed {seed}");
            assert_eq!(view(state), state.view());
            for property in model.properties() {
                assert_eq!(violates(property, state), property.forbids(state.shared, |thread| state.top(thread)));
            }
        }
    }
    assert!(steps > 10_000, "{steps}");
}

#[test]
fn levels_grow_up_to_the_reachable_states() {
    let mut collapsed = 0;
    for (seed, model) in random_models(200) {
        let bounded = contexts(&model, 6, CAP);
        assert_eq!(bounded.levels.len(), 7);
        assert_eq!(bounded.levels[0], BTreeSet::from([model.init().clone()]));
        assert!(bounded.levels.windows(2).all(|pair| pair[0].is_subset(&pair[1])), "seed {seed}");
        let (all, exact) = reachable(&model, CAP);
        if exact && bounded.exact {
            assert!(bounded.levels[6].is_subset(&all), "seed {seed}");
        }
        if exact && bounded.exact && bounded.levels[5] == bounded.levels[6] {
            assert_eq!(bounded.levels[6], all, "seed {seed}");
            collapsed += 1;
        }
        for property in model.properties() {
            let expected =
                (0..=6).find(|&k| bounded.levels[k].iter().any(|s| property.forbids(s.shared, |t| s.top(t))));
            assert_eq!(bounded.first_violation(property), expected, "seed {seed}");
        }
    }
    assert!(collapsed > 50, "{collapsed}");
}

/// The next level said in another way: the steps of one thread alone, any number of them, from the level before.
fn next_level(model: &Model, level: &BTreeSet<State>) -> BTreeSet<State> {
    let mut next = BTreeSet::new();
    for thread in 0..model.threads().len() {
        let mut closed = level.clone();
        loop {
            let more: Vec<_> = closed.iter().flat_map(|state| successors(model, state)).collect();
            let before = closed.len();
            closed.extend(more.into_iter().filter(|step| step.0 == thread).map(|step| step.2));
            if closed.len() == before {
                break;
            }
        }
        next.extend(closed);
    }
    next
}

#[test]
fn each_level_is_one_context_more() {
    let mut compared = 0;
    for (seed, model) in random_models(300) {
        let bounded = contexts(&model, 4, Cap { height: 10, states: 500 });
        if bounded.exact {
            for (k, pair) in bounded.levels.windows(2).enumerate() {
                assert_eq!(next_level(&model, &pair[0]), pair[1], "seed {seed}, context {}", k + 1);
            }
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// The states at the end of all runs of at most `length` steps and at most `k_max` contexts, by number of contexts:
/// every run is kept as the list of its threads. `None` if there are more than `max_runs` of one length.
fn by_all_runs(model: &Model, k_max: usize, length: usize, max_runs: usize) -> Option<Vec<BTreeSet<State>>> {
    let mut levels = vec![BTreeSet::new(); k_max + 1];
    let mut runs = vec![(vec![], model.init().clone())];
    for _ in 0..=length {
        let mut longer = vec![];
        for (threads, state) in runs {
            let switches = threads.windows(2).filter(|pair: &&[usize]| pair[0] != pair[1]).count();
            let used = if threads.is_empty() { 0 } else { switches + 1 };
            levels.iter_mut().skip(used).for_each(|level| _ = level.insert(state.clone()));
            if used <= k_max {
                let extended = |(thread, _, next)| ([&threads[..], &[thread]].concat(), next);
                longer.extend(successors(model, &state).into_iter().map(extended));
            }
        }
        if longer.len() > max_runs {
            return None;
        }
        runs = longer;
    }
    Some(levels)
}

#[test]
fn levels_are_what_all_runs_reach() {
    // Within one context no state need be visited twice, so that runs of `k * (|R| - 1)` steps reach everything.
    let (k_max, mut compared, mut telling) = (3, 0, 0);
    for (seed, model) in random_models(3000) {
        let (all, exact) = reachable(&model, Cap { height: 8, states: 6 });
        if !exact || all.len() == 1 {
            continue;
        }
        let Some(levels) = by_all_runs(&model, k_max, k_max * (all.len() - 1), 5000) else { continue };
        let bounded = contexts(&model, k_max, CAP);
        assert_eq!((bounded.levels, bounded.exact), (levels.clone(), true), "seed {seed}");
        compared += 1;
        telling += usize::from(levels[3].len() > levels[2].len() || levels[2].len() > levels[1].len());
    }
    assert!(compared > 200 && telling > 50, "{compared} compared, {telling} of them with more than one context");
}

/// The three threads of Example 8 of Johnson and Wahl, which change the shared state only: 0 to 1, 0 to 1, and 0 to 2.
fn example_8() -> Model {
    let to = |name, shared| thread(name, 1, vec![rule(0, 0, shared, &[])]);
    system(3, vec![to("T0", 1), to("T1", 1), to("T2", 2)], state(0, &[&[], &[], &[]]))
}

#[test]
fn rounds_and_delays_of_the_published_example() {
    let grid = round_robin(&example_8(), 3, 4, CAP);
    assert!(grid.exact);
    let shared = |r, d| grid.views(r, d).iter().map(|view| view.shared.0).collect::<Vec<_>>();
    assert_eq!((0..=4).map(|d| shared(0, d)).collect::<Vec<_>>(), vec![vec![0]; 5]);
    for r in 1..=3 {
        assert_eq!(shared(r, 0), [0, 1]);
        assert_eq!(shared(r, 1), [0, 1]);
        for d in 2..=4 {
            assert_eq!(shared(r, d), [0, 1, 2]);
        }
    }
}

#[test]
fn a_turn_passes_for_nothing_where_no_rule_is_enabled() {
    let model = handshake();
    let grid = round_robin(&model, 2, 1, CAP);
    assert_eq!(shown(&model, &grid.cells[1][0]), "0|1,1  1|2,1  2|2,2");
    assert_eq!(shown(&model, &grid.cells[2][0]), "0|1,1  0|3,2  1|2,1  2|2,2");
    assert_eq!(grid.cells[2][0], grid.cells[2][1]);
    // With the threads in the other order the first turn passes, and so the second round is needed for the answer.
    let mut threads = model.threads().to_vec();
    threads.reverse();
    let reversed = system(3, threads, model.init().clone());
    let grid = round_robin(&reversed, 3, 0, CAP);
    let shown: Vec<_> = grid.cells.iter().map(|row| shown(&reversed, &row[0])).collect();
    assert_eq!(shown[1], "0|1,1  1|1,2");
    assert_eq!(shown[2], "0|1,1  0|2,3  1|1,2  2|2,2");
    assert_eq!(shown[3], shown[2]);
    assert!(grid.exact);
}

#[test]
fn delays_may_save_rounds() {
    // The first thread gets in the way of the third one, once, and the second one needs two turns to put that right.
    // Two rounds without delays, or one round in which the first thread is delayed, lead to shared state 2.
    let first = thread("first", 1, vec![rule(0, 1, 1, &[])]);
    let second = thread("second", 2, vec![rule(1, 1, 1, &[2]), rule(1, 2, 0, &[])]);
    let third = thread("third", 1, vec![rule(0, 1, 2, &[])]);
    let model = system(3, vec![first, second, third], state(0, &[&[1], &[1], &[1]]));
    let grid = round_robin(&model, 3, 3, CAP);
    let at = |shared| grid.first_violation(&never(Some(shared), &[None, None, None]));
    assert_eq!(at(2), [(1, 1), (2, 0)]);
    assert_eq!(at(1), [(1, 0)]);
    assert_eq!(at(0), [(0, 0)]);
    assert_eq!(grid.first_violation(&never(Some(2), &[Some(1), None, Some(0)])), [(1, 1)]);
    assert_eq!(grid.first_violation(&never(Some(0), &[None, None, Some(0)])), []);
}

#[test]
fn a_step_that_is_cut_off_is_no_passing_turn() {
    // The first thread can do nothing but push. Where the cap forbids that, the second one still has to wait.
    let first = thread("first", 1, vec![rule(0, 1, 0, &[1, 1])]);
    let second = thread("second", 1, vec![rule(0, 1, 1, &[1])]);
    let model = system(2, vec![first, second], state(0, &[&[1], &[1]]));
    let grid = |height| round_robin(&model, 1, 1, Cap { height, states: 100 });
    let (low, high) = (grid(1), grid(2));
    assert!(!low.exact && high.exact);
    assert_eq!(shown(&model, &low.cells[1][0]), "0|1,1");
    assert_eq!(shown(&model, &low.cells[1][1]), "0|1,1  1|1,1");
    assert_eq!(shown(&model, &high.cells[1][0]), "0|1,1  0|1.1,1  1|1.1,1");
    assert!(!round_robin(&model, 1, 0, Cap { height: 2, states: 2 }).exact);
}

#[test]
fn cells_grow_with_rounds_and_with_delays() {
    let (r_max, d_max) = (4, 4);
    let (mut by_rounds, mut by_delays, mut violated) = (0, 0, 0);
    for (seed, model) in random_models(300) {
        let grid = round_robin(&model, r_max, d_max, CAP);
        let (all, all_exact) = reachable(&model, CAP);
        assert_eq!((grid.cells.len(), grid.cells[0].len()), (r_max + 1, d_max + 1));
        for (r, row) in grid.cells.iter().enumerate() {
            for (d, cell) in row.iter().enumerate() {
                assert!(r > 0 || *cell == BTreeSet::from([model.init().clone()]), "seed {seed}, delays {d}");
                assert!(r == 0 || grid.cells[r - 1][d].is_subset(cell), "seed {seed}, rounds {r}, delays {d}");
                assert!(d == 0 || row[d - 1].is_subset(cell), "seed {seed}, rounds {r}, delays {d}");
                assert!(!all_exact || cell.is_subset(&all), "seed {seed}, rounds {r}, delays {d}");
            }
        }
        by_rounds += usize::from(grid.cells[r_max][0].len() > grid.cells[r_max - 1][0].len());
        by_delays += usize::from(grid.cells[r_max][d_max].len() > grid.cells[r_max][0].len());
        for property in model.properties() {
            let pairs = grid.first_violation(property);
            violated += usize::from(pairs.len() > 1);
            assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 > two[1].1), "seed {seed}: {pairs:?}");
            for (r, row) in grid.cells.iter().enumerate() {
                for (d, cell) in row.iter().enumerate() {
                    let found = cell.iter().any(|s| property.forbids(s.shared, |t| s.top(t)));
                    assert_eq!(found, pairs.iter().any(|&(least_r, least_d)| least_r <= r && least_d <= d));
                }
            }
        }
    }
    assert!(by_rounds > 30 && by_delays > 100 && violated > 5, "{by_rounds} {by_delays} {violated}");
}

#[test]
fn enough_rounds_and_delays_reach_everything() {
    // A state is at most `|R| - 1` steps away, and for each step the others are delayed in less than a round.
    let (mut compared, mut telling) = (0, 0);
    for (seed, model) in random_models(900) {
        let (all, exact) = reachable(&model, Cap { height: 8, states: 12 });
        if !exact {
            continue;
        }
        let steps = all.len() - 1;
        let grid = round_robin(&model, steps, steps * (model.threads().len() - 1), CAP);
        let row = grid.cells.last().expect("there is a row for no rounds at least");
        assert!(grid.exact, "seed {seed}");
        assert_eq!(row.last(), Some(&all), "seed {seed}");
        compared += 1;
        telling += usize::from(row[0] != all);
    }
    assert!(compared > 200 && telling > 30, "{compared} compared, {telling} of them need delays");
}

/// The delays of a scheduling function: `d_p` of Definition 1.
fn delays_of(schedule: &[usize], threads: usize) -> usize {
    let skipped = |pair: &[usize]| (pair[1] as i64 - pair[0] as i64 - 1).rem_euclid(threads as i64) as usize;
    schedule.first().copied().unwrap_or(0) + schedule.windows(2).map(skipped).sum::<usize>()
}

/// The rounds of a scheduling function: its length and its delays, in rounds.
fn rounds_of(schedule: &[usize], threads: usize) -> usize {
    (schedule.len() + delays_of(schedule, threads)).div_ceil(threads)
}

#[test]
fn published_schedules_have_the_published_costs() {
    let perfect = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3];
    let delayed = [0, 1, 3, 0, 1, 2, 1, 2, 3];
    assert_eq!((delays_of(&perfect, 4), rounds_of(&perfect, 4)), (0, 3));
    assert_eq!((delays_of(&delayed, 4), rounds_of(&delayed, 4)), (3, 3));
    assert_eq!((delays_of(&[], 4), rounds_of(&[], 4)), (0, 0));
    assert_eq!((delays_of(&[2], 4), rounds_of(&[2, 2], 4)), (2, 2));
}

/// The cells said as Definition 1 says it: the ends of all paths, each with its scheduling function, sorted by the two
/// formulas. A path has a step that leaves the state as it is for each thread without an enabled rule. Delays do not
/// become fewer when a path is continued, so that paths with too many need not be. `None` if there are more than
/// `max_paths` of one length.
fn by_all_schedules(model: &Model, r_max: usize, d_max: usize, max_paths: usize) -> Option<Vec<Vec<BTreeSet<State>>>> {
    let threads = model.threads().len();
    let mut cells = vec![vec![BTreeSet::new(); d_max + 1]; r_max + 1];
    let mut paths = BTreeSet::from([(vec![], model.init().clone())]);
    for _ in 0..=r_max * threads {
        let mut longer = BTreeSet::new();
        for (schedule, end) in paths {
            let (rounds, delays) = (rounds_of(&schedule, threads), delays_of(&schedule, threads));
            for row in cells.iter_mut().skip(rounds) {
                row.iter_mut().skip(delays).for_each(|cell| _ = cell.insert(end.clone()));
            }
            for thread in 0..threads {
                let mut ends: Vec<_> = successors(model, &end).into_iter().filter(|step| step.0 == thread).collect();
                if ends.is_empty() {
                    ends.push((thread, 0, end.clone()));
                }
                let schedule = [&schedule[..], &[thread]].concat();
                if delays_of(&schedule, threads) <= d_max {
                    longer.extend(ends.into_iter().map(|(.., end)| (schedule.clone(), end)));
                }
            }
        }
        if longer.len() > max_paths {
            return None;
        }
        paths = longer;
    }
    Some(cells)
}

#[test]
fn cells_are_what_all_schedules_reach() {
    let (mut compared, mut telling, mut passing) = (0, 0, 0);
    for (seed, model) in random_models(600) {
        let (r_max, d_max) = (1 + seed as usize / 3 % 3, seed as usize / 9 % 4);
        let Some(cells) = by_all_schedules(&model, r_max, d_max, 5000) else { continue };
        let grid = round_robin(&model, r_max, d_max, Cap { height: 20, states: 20_000 });
        assert!(grid.exact, "seed {seed}");
        assert_eq!(grid.cells, cells, "seed {seed}");
        compared += 1;
        telling += usize::from(cells[r_max][d_max] != cells[r_max][0]);
        passing += usize::from(passes(&model, &cells[r_max - 1][0]));
    }
    let counts = format!("{compared} compared, {telling} of them with delays, {passing} with turns that pass");
    assert!(compared > 300 && telling > 100 && passing > 100, "{counts}");
}

/// Whether in one of the states one thread has an enabled rule and another one has none.
fn passes(model: &Model, states: &BTreeSet<State>) -> bool {
    states.iter().any(|state| {
        let moving: BTreeSet<_> = successors(model, state).into_iter().map(|(thread, ..)| thread).collect();
        !moving.is_empty() && moving.len() < model.threads().len()
    })
}
