//! Forged certificates of pushdown systems that explore some threads only: sets of states that are closed under the steps of
//! whoever was followed. Where that hides a violation, no checker may accept what comes out.

use std::collections::{BTreeMap, BTreeSet};

use fastrand::Rng;
use tepui_cert::pushdown::{Certificate, Explored, Lemma, LemmaThread, Rows};
use tepui_model::pushdown::{Model, State, Symbol};
use tepui_tests::oracle::{Cap, reachable, successors, violates};
use tepui_tests::parts::of_parts;

use super::check;

/// The most states, and the most symbols that a stack may have.
const CAP: Cap = Cap { height: 3, states: 500 };

/// At this depth views are states.
const EXACT: usize = CAP.height + 1;

/// States, each with the threads that were followed there.
type Followed = BTreeMap<State, BTreeSet<usize>>;

/// Follows some threads, as `whom` says, of those that can move, given who moved last.
fn follow(model: &Model, mut whom: impl FnMut(Option<usize>, &[usize]) -> BTreeSet<usize>) -> Followed {
    let (mut found, mut open) = (Followed::new(), vec![(model.init().clone(), None)]);
    while let Some((state, mover)) = open.pop() {
        if found.contains_key(&state) {
            continue;
        }
        let steps = successors(model, &state);
        let mut enabled: Vec<_> = steps.iter().map(|step| step.0).collect();
        enabled.dedup();
        let followed = whom(mover, &enabled);
        let taken = steps.into_iter().filter(|(thread, ..)| followed.contains(thread));
        open.extend(taken.map(|(thread, _, next)| (next, Some(thread))));
        found.insert(state, followed);
    }
    found
}

/// The certificate that consists of these states.
fn certificate(model: &Model, followed: &Followed) -> Certificate {
    let threads = model.threads().len();
    let symbols =
        |stack: &Vec<Symbol>| -> Vec<Symbol> { stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect() };
    let words: Vec<BTreeSet<_>> =
        (0..threads).map(|thread| followed.keys().map(|state| symbols(&state.stacks[thread])).collect()).collect();
    let mut rows: BTreeMap<Vec<u32>, &BTreeSet<usize>> = BTreeMap::new();
    for (state, followed) in followed {
        let number = |(words, stack): (&BTreeSet<_>, _)| words.range(..symbols(stack)).count() as u32;
        let row = [state.shared.0].into_iter().chain(words.iter().zip(&state.stacks).map(number)).collect();
        rows.insert(row, followed);
    }
    let (mut views, mut explored) = (Rows::new(threads + 1), BTreeMap::<Vec<usize>, Vec<usize>>::new());
    for (number, (row, followed)) in rows.into_iter().enumerate() {
        views.push(row);
        if followed.len() < threads {
            explored.entry(followed.iter().copied().collect()).or_default().push(number);
        }
    }
    let part =
        |thread: usize| LemmaThread { like: None, words: words[thread].iter().cloned().collect(), below: Vec::new() };
    let lemma = Lemma {
        depth: EXACT as u32,
        threads: (0..threads).map(part).collect(),
        views,
        explored: explored.into_iter().map(|(threads, views)| Explored { threads, views }).collect(),
    };
    let properties = model.properties().to_vec();
    Certificate { model: model.digest(), properties, lemmas: vec![lemma], regular: None }
}

#[test]
fn whoever_is_followed_hides_no_violation() {
    let (mut hiding, mut accepted, mut rejected) = (0, 0, 0);
    for seed in 0..1_500 {
        let mut rng = Rng::with_seed(700_000 + seed);
        let model = of_parts(&mut rng);
        let (states, all) = reachable(&model, CAP);
        if !all {
            continue;
        }
        let threads = model.threads().len();
        let violated = |state: &State| model.properties().iter().any(|property| violates(property, state));
        let is_unsafe = states.iter().any(violated);
        for attempt in 0..4 {
            let one = |rng: &mut Rng, enabled: &[usize]| match enabled {
                [] => BTreeSet::new(),
                _ => BTreeSet::from([enabled[rng.usize(0..enabled.len())]]),
            };
            let whom = |mover: Option<usize>, enabled: &[usize]| match (attempt, mover) {
                // The one that moved last goes on as long as it can.
                (0, Some(mover)) if enabled.contains(&mover) => BTreeSet::from([mover]),
                (0 | 1, _) => one(&mut rng, enabled),
                (2, _) if rng.bool() => (0..threads).collect(),
                (2, _) => one(&mut rng, enabled),
                _ => (0..threads).filter(|_| rng.u8(0..3) > 0).collect(),
            };
            let followed = follow(&model, whom);
            if followed.keys().any(violated) {
                continue;
            }
            hiding += usize::from(is_unsafe);
            match check(&model, &certificate(&model, &followed)) {
                Ok(_) if is_unsafe => panic!("seed {seed}, attempt {attempt}: a violation is hidden\n{model:?}"),
                Ok(_) => accepted += 1,
                Err(_) => rejected += 1,
            }
        }
    }
    println!("{hiding} hide a violation; {accepted} accepted, {rejected} rejected");
    assert!(hiding > 100, "{hiding}");
    assert!(accepted > 300, "{accepted}");
}
