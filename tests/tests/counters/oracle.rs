//! What the engines say, against searches that are slow and plain: backwards without any index or pruning, forwards with few
//! threads, and views by their definition.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use fastrand::Rng;
use tepui::{COVERABILITY, Options, Problem, THREADS};
use tepui_core::{Budget, Verdict};
use tepui_engines::counters::views::Views;
use tepui_model::counters::{Bag, Count, Net, Pattern, Property, State, Step};
use tepui_model::pushdown::Names;

use crate::random::{Shape, net};

const SYSTEMS: u64 = 1_200;

fn systems() -> u64 {
    std::env::var("TEPUI_RANDOM_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(SYSTEMS)
}

/// How many there are in each place.
type Counts = Vec<u64>;

/// Whether what is forbidden can be covered: the least states from which it can, by counting in all ways how many threads may
/// have come from where. None, if that takes too long.
fn backwards(net: &Net) -> Option<bool> {
    let places = net.counts.len();
    let mut known: Vec<(u32, Counts)> = Vec::new();
    let mut open: VecDeque<(u32, Counts)> = VecDeque::new();
    for pattern in &net.properties[0].never {
        let mut counts = vec![0; places];
        pattern.counts.iter().for_each(|(place, count)| counts[*place as usize] += u64::from(*count));
        open.push_back((pattern.shared, counts));
    }
    let covers = |large: &Counts, small: &Counts| large.iter().zip(small).all(|(large, small)| large >= small);
    while let Some((shared, counts)) = open.pop_front() {
        if known.iter().any(|(own, least)| *own == shared && covers(&counts, least)) {
            continue;
        }
        if known.len() > 300 {
            return None;
        }
        let enough = |(own, count): (&Count, &u64)| own.or_more || u64::from(own.least) >= *count;
        if shared == net.start && net.counts.iter().zip(&counts).all(enough) {
            return Some(true);
        }
        known.retain(|(own, least)| *own != shared || !covers(least, &counts));
        known.push((shared, counts.clone()));
        for step in net.steps.iter().filter(|step| step.to == shared) {
            open.extend(all_before(step, &counts).into_iter().map(|before| (step.from, before)));
        }
    }
    Some(false)
}

/// All small states from which a step leads to something that has at least so many: enumerated, and tried.
fn all_before(step: &Step, wanted: &Counts) -> Vec<Counts> {
    let most: u64 = wanted.iter().sum();
    let mut taken = vec![0; wanted.len()];
    step.taken.iter().for_each(|(place, count)| taken[*place as usize] += u64::from(*count));
    let mut found = Vec::new();
    let mut rests = vec![Vec::new()];
    for _ in 0..wanted.len() {
        rests = rests
            .into_iter()
            .flat_map(|rest: Counts| {
                let left = most - rest.iter().sum::<u64>();
                (0..=left).map(move |count| rest.iter().copied().chain([count]).collect())
            })
            .collect();
    }
    for rest in rests {
        let mut after = vec![0; wanted.len()];
        for (place, count) in (0..).zip(&rest) {
            if let Some(to) = step.goes(place) {
                after[to as usize] += count;
            }
        }
        step.put.iter().for_each(|(place, count)| after[*place as usize] += u64::from(*count));
        if after.iter().zip(wanted).all(|(after, wanted)| after >= wanted) {
            found.push(rest.iter().zip(&taken).map(|(rest, taken)| rest + taken).collect());
        }
    }
    found
}

/// All states with at most so many threads, from all starts with at most so many.
fn forwards(net: &Net, most: u64) -> HashSet<State> {
    let mut starts = vec![net.least()];
    for (place, _) in net.counts.iter().enumerate().filter(|(_, count)| count.or_more) {
        starts = starts
            .into_iter()
            .flat_map(|state| {
                (0..=most).map(move |more| {
                    let mut state = state.clone();
                    state.counts[place] += more;
                    state
                })
            })
            .collect();
    }
    let total = |state: &State| state.counts.iter().sum::<u64>();
    let mut open: Vec<_> = starts.into_iter().filter(|state| total(state) <= most).collect();
    let mut known = HashSet::new();
    while let Some(state) = open.pop() {
        if known.insert(state.clone()) {
            let next = net.steps.iter().filter_map(|step| net.after(&state, step));
            open.extend(next.filter(|next| total(next) <= most));
        }
    }
    known
}

fn violates(net: &Net, state: &State) -> bool {
    net.properties[0].never.iter().any(|pattern| pattern.is_covered_by(state))
}

fn answer(net: &Net, options: &Options, work: u64) -> Option<bool> {
    let problem = Problem::try_from(net.clone()).unwrap();
    let options = Options { self_check: true, ..options.clone() };
    let budget = Budget::unlimited().with_work(work);
    let outcome = tepui::verify(&problem, &options, &budget).unwrap().outcome;
    match &outcome.properties[0].verdict {
        Verdict::Safe(_) => Some(false),
        Verdict::Unsafe(_) => Some(true),
        Verdict::Unknown(reason) => {
            assert!(!format!("{reason:?}").contains("SelfCheck"), "{reason:?}\n{net:?}");
            None
        }
    }
}

#[test]
fn every_question_without_guards_is_decided_rightly() {
    let mut answers = [0; 3];
    for seed in 0..systems() {
        let mut rng = Rng::with_seed(seed);
        let (transfers, meetings) = (seed % 2 == 0, seed % 3 > 0);
        let net = net(&mut rng, Shape { transfers, guards: false, meetings });
        let Some(expected) = backwards(&net) else {
            answers[2] += 1;
            continue;
        };
        for engine in [&tepui::AUTO, &COVERABILITY] {
            let found = answer(&net, &Options { engine, ..Options::default() }, 3_000_000);
            assert_eq!(found, Some(expected), "seed {seed}, {}: {net:?}", engine.name);
        }
        answers[usize::from(expected)] += 1;
        if forwards(&net, 4).iter().any(|state| violates(&net, state)) {
            assert!(expected, "seed {seed}: the oracles differ: {net:?}");
        }
    }
    println!("{} safe, {} unsafe, {} too large for the oracle", answers[0], answers[1], answers[2]);
    let least = systems() / 5;
    assert!(answers[0] > least && answers[1] > least, "{answers:?}");
}

#[test]
fn what_is_proved_with_guards_is_not_found_with_few_threads() {
    let mut answers = [0; 3];
    for seed in 0..systems() {
        let mut rng = Rng::with_seed(seed);
        let net = net(&mut rng, Shape { transfers: seed % 2 == 0, guards: true, meetings: seed % 3 == 0 });
        let real = forwards(&net, 5).iter().any(|state| violates(&net, state));
        let found = answer(&net, &Options::default(), 200_000);
        if real {
            assert_ne!(found, Some(false), "seed {seed}: {net:?}");
        }
        answers[found.map_or(2, usize::from)] += 1;
    }
    println!("{} safe, {} unsafe, {} unknown", answers[0], answers[1], answers[2]);
    let least = systems() / 6;
    assert!(answers[0] > least && answers[1] > least, "{answers:?}");
}

#[test]
fn the_fewest_threads_are_the_fewest() {
    let mut found = 0;
    for seed in 0..systems() / 4 {
        let mut rng = Rng::with_seed(seed);
        let net = net(&mut rng, Shape { transfers: true, guards: seed % 2 == 0, meetings: true });
        let fewest = (1..=5).find(|most| forwards(&net, *most).iter().any(|state| violates(&net, state)));
        let options = Options { engine: &THREADS, bound_limit: Some(vec![5]), ..Options::default() };
        let outcome =
            tepui::verify(&Problem::try_from(net.clone()).unwrap(), &options, &Budget::unlimited()).unwrap().outcome;
        let bound = match &outcome.properties[0].verdict {
            Verdict::Unsafe(refuted) => refuted.bound().map(|bound| u64::from(bound.first())),
            Verdict::Safe(_) | Verdict::Unknown(_) => None,
        };
        assert_eq!(bound, fewest, "seed {seed}: {net:?}");
        found += usize::from(fewest.is_some());
    }
    assert!(found > 50, "{found}");
}

/// Each property has a number of its own, also where the search went on for another one.
#[test]
fn each_property_has_its_own_fewest_threads() {
    let step = |taken: Bag, put: Bag| Step { from: 0, to: 0, taken, put, moves: Vec::new(), others: None, line: 1 };
    let property = |name: &str, count: u32| Property {
        name: name.to_owned(),
        never: vec![Pattern { shared: 0, counts: vec![(1, count)] }],
    };
    let net = Net {
        shared: Names::Numbers(1),
        places: Names::Numbers(2),
        start: 0,
        counts: vec![Count { least: 1, or_more: true }, Count::default()],
        steps: vec![step(vec![(0, 1)], vec![(1, 1)])],
        properties: vec![property("two", 2), property("five", 5), property("three", 3)],
    };
    for engine in [&tepui::AUTO, &COVERABILITY, &THREADS] {
        let options = Options { engine, ..Options::default() };
        let outcome =
            tepui::verify(&Problem::try_from(net.clone()).unwrap(), &options, &Budget::unlimited()).unwrap().outcome;
        let bounds = outcome.properties.iter().map(|property| match &property.verdict {
            Verdict::Unsafe(refuted) => refuted.bound().map(|bound| bound.first()),
            Verdict::Safe(_) | Verdict::Unknown(_) => None,
        });
        assert_eq!(bounds.collect::<Vec<_>>(), [Some(2), Some(5), Some(3)], "{}", engine.name);
    }
}

/// A view: the shared state, and the places of some threads in ascending order; nobody is the number after the last place.
type View = (u32, Vec<u32>);

fn choices(all: &[u32], size: usize) -> BTreeSet<Vec<u32>> {
    let mut found = BTreeSet::from([Vec::new()]);
    for &place in all {
        let more: Vec<_> = found.iter().map(|row: &Vec<u32>| row.iter().copied().chain([place]).collect()).collect();
        found.extend(more);
    }
    found.into_iter().filter(|row: &Vec<u32>| row.len() == size).collect()
}

/// The least closed set of views, by its definition: all ways to choose threads, again and again.
fn views_by_definition(net: &Net, size: usize) -> BTreeSet<View> {
    let nobody = net.counts.len() as u32;
    let mut all = BTreeSet::new();
    let add = |all: &mut BTreeSet<View>, shared: u32, threads: &[u32]| {
        let mut threads = threads.to_vec();
        threads.resize(threads.len() + size, nobody);
        threads.sort_unstable();
        let before = all.len();
        all.extend(choices(&threads, size).into_iter().map(|row| (shared, row)));
        all.len() > before
    };
    let start: Vec<u32> = (0..)
        .zip(&net.counts)
        .flat_map(|(place, count)| vec![place; if count.or_more { size + 2 } else { count.least as usize }])
        .collect();
    add(&mut all, net.start, &start);
    // Every choice of so many places.
    let everybody: Vec<u32> = (0..=nobody).flat_map(|place| vec![place; size]).collect();
    let rows = choices(&everybody, size);
    loop {
        let mut changed = false;
        for step in &net.steps {
            let taken: Vec<u32> = step.taken.iter().flat_map(|(place, count)| vec![*place; *count as usize]).collect();
            for row in &rows {
                let threads: Vec<u32> = row.iter().copied().filter(|place| *place != nobody).collect();
                let mut together: Vec<u32> = threads.iter().chain(&taken).copied().collect();
                together.resize(together.len() + size, nobody);
                together.sort_unstable();
                let admitted = choices(&together, size).into_iter().all(|view| all.contains(&(step.from, view)));
                if !admitted || !threads.iter().all(|place| step.allows(*place)) {
                    continue;
                }
                let put = step.put.iter().flat_map(|(place, count)| vec![*place; *count as usize]);
                let after: Vec<u32> = threads.iter().filter_map(|place| step.goes(*place)).chain(put).collect();
                changed |= add(&mut all, step.to, &after);
            }
        }
        if !changed {
            return all;
        }
    }
}

#[test]
fn views_are_what_their_definition_says() {
    for seed in 0..systems() / 4 {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape { transfers: seed % 2 == 0, guards: seed % 3 == 0, meetings: seed % 5 < 2 };
        let net = Arc::new(net(&mut rng, shape));
        let reached = forwards(&net, 4);
        for size in 1..=3 {
            let mut views = Views::of(&net, size).unwrap();
            views.close(&net, &mut Budget::unlimited()).unwrap();
            let found: BTreeSet<View> =
                views.lemma().rows.into_iter().map(|(shared, row)| (shared, row.to_vec())).collect();
            let expected = views_by_definition(&net, size);
            assert_eq!(found, expected, "seed {seed}, size {size}: {net:?}");
            // And they show what is really there.
            for state in &reached {
                let threads =
                    (0..).zip(&state.counts).flat_map(|(place, count)| vec![place; (*count as usize).min(size)]);
                let threads: Vec<u32> = threads.chain(vec![net.counts.len() as u32; size]).collect();
                for row in choices(&threads, size) {
                    assert!(found.contains(&(state.shared, row)), "seed {seed}, size {size}: {state:?} {net:?}");
                }
            }
        }
    }
}
