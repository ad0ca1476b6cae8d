//! Systems in which some threads are copies of others, and proofs that make use of it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use fastrand::Rng;
use tepui_cert::pushdown::Certificate;
use tepui_model::pushdown::{Model, Pattern, Property, Shared, Symbol, Thread};
use tepui_tests::oracle;
use tepui_tests::random::{Shape, small_model, symmetric_model};

use crate::groupings::split;
use crate::judge::*;
use crate::models::change_model;
use crate::orbits::largest_groups;
use crate::samples::Sample;
use crate::{CAP, SAMPLES_OF_A_SORT, SEEDS};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Sort {
    /// One lemma with the largest groups.
    Largest,
    /// One lemma with smaller groups.
    Smaller,
    /// Two lemmas with any groups, of which the second proves nothing without the first.
    Chain,
}

/// A random system with equal threads, or with some that are told in different ways.
fn model_with_copies(rng: &mut Rng) -> Model {
    let shape = [Shape::Any, Shape::FiniteContext, Shape::Recursive][rng.usize(0..3)];
    if rng.bool() { symmetric_model(rng, shape) } else { copies(rng, shape) }
}

/// Two or three copies of a random thread among at most two of another.
fn copies(rng: &mut Rng, shape: Shape) -> Model {
    let model = small_model(rng, shape);
    let any = |rng: &mut Rng| rng.usize(0..model.threads().len());
    let mut copies = vec![any(rng); rng.usize(2..=3)];
    copies.extend(vec![any(rng); rng.usize(0..=2)]);
    rng.shuffle(&mut copies);
    let threads: Vec<_> = copies.iter().map(|&thread| tell_anew(&model.threads()[thread], rng)).collect();
    let mut init = model.init().clone();
    init.stacks = copies.iter().map(|&thread| init.stacks[thread].clone()).collect();
    let properties = (0..rng.usize(0..=3)).map(|_| property(rng, model.shared().count(), &threads)).collect();
    Model::new(model.shared().clone(), threads, init, properties).expect("the parts fit each other")
}

/// The same thread with other names and lines, and its rules in another order, some of them twice.
fn tell_anew(thread: &Thread, rng: &mut Rng) -> Thread {
    let mut thread = thread.clone();
    thread.name = format!("copy{}", rng.u32(0..1000));
    thread.symbols.iter_mut().for_each(|symbol| symbol.push('x'));
    let twice = thread.rules[rng.usize(0..thread.rules.len())];
    thread.rules.extend(rng.bool().then_some(twice));
    rng.shuffle(&mut thread.rules);
    thread.rules.iter_mut().for_each(|rule| rule.line = rng.u32(0..9));
    thread
}

fn property(rng: &mut Rng, shared_count: u32, threads: &[Thread]) -> Property {
    let mut pattern = || Pattern {
        shared: (rng.u32(0..3) > 0).then(|| Shared(rng.u32(0..shared_count))),
        tops: threads.iter().map(|t| rng.bool().then(|| Symbol(rng.u32(0..t.symbol_count())))).collect(),
    };
    Property { name: "p".to_owned(), never: vec![pattern(), pattern()] }
}

/// The model with one thing changed, in all threads of a group alike.
pub(crate) fn change_alike(model: &Model, rng: &mut Rng) -> Option<Model> {
    let changed = change_model(model, rng)?;
    let groups = largest_groups(model);
    let (mut threads, mut init) = (changed.threads().to_vec(), changed.init().clone());
    let differs = |thread: &usize| {
        changed.threads()[*thread] != model.threads()[*thread]
            || changed.init().stacks[*thread] != model.init().stacks[*thread]
    };
    let Some(at) = (0..threads.len()).find(differs) else { return Some(changed) };
    for thread in (0..threads.len()).filter(|&thread| groups[thread] == groups[at]) {
        threads[thread] = changed.threads()[at].clone();
        init.stacks[thread].clone_from(&changed.init().stacks[at]);
    }
    Model::new(model.shared().clone(), threads, init, changed.properties().to_vec()).ok()
}

/// A lemma to be: a claim, and the groups to tell it with.
type Draft = (Claim, Vec<usize>);

/// Proofs of one model with groups.
fn proofs(model: &Model, rng: &mut Rng) -> Vec<(Sort, Vec<Draft>)> {
    let groups = largest_groups(model);
    let mut found = Vec::new();
    for depth in 1..=3 {
        let Some(claim) = Claim::least(model, depth, &[]) else { continue };
        found.push((Sort::Largest, vec![(claim.clone(), groups.clone())]));
        found.push((Sort::Smaller, vec![(claim.clone(), split(&groups, rng))]));
        for coarse in 1..depth {
            let leaning = Claim::least(model, coarse, std::slice::from_ref(&claim));
            if let Some(leaning) = leaning.filter(|leaning| !leaning.is_closed(model, &[])) {
                let (one, other) = (split(&groups, rng), split(&groups, rng));
                found.push((Sort::Chain, vec![(claim.clone(), one.clone()), (leaning.clone(), other.clone())]));
                found.push((Sort::Chain, vec![(claim.clone(), groups.clone()), (leaning.clone(), groups.clone())]));
                found.push((Sort::Chain, vec![(claim.clone(), one), (leaning, groups.clone())]));
            }
        }
    }
    found.retain(|(_, claims)| claims.iter().all(|(claim, _)| claim.views.len() >= 3));
    found
}

fn sample(name: String, model: &Model, claims: &[Draft]) -> Sample {
    let last = &claims.last().expect("a proof has a lemma").0;
    let held: Vec<_> = model.properties().iter().filter(|property| last.avoids(property)).cloned().collect();
    let lemmas: Vec<_> = claims.iter().map(|(claim, groups)| claim.folded(groups)).collect();
    for (lemma, (claim, _)) in lemmas.iter().zip(claims) {
        let unfolded = Claim::of(model, lemma).expect("the groups are right");
        assert!(unfolded.views == claim.views && unfolded.below == claim.below, "{name}");
    }
    let certificate = Certificate { model: model.digest(), properties: held.clone(), lemmas, regular: None };
    let model = model.clone().with_properties(held).expect("they are its own");
    let reachable = oracle::reachable(&model, CAP).0;
    Sample { name, model, certificate, reachable, from_engine: false }
}

/// Proofs of all sorts, of none more than are wanted.
pub(crate) fn symmetric_samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let (mut samples, mut counts) = (vec![], BTreeMap::<Sort, usize>::new());
        for seed in 0..SEEDS {
            let mut rng = Rng::with_seed(seed);
            let model = model_with_copies(&mut rng);
            let mut known = vec![];
            for (sort, claims) in proofs(&model, &mut rng) {
                let count = counts.entry(sort).or_default();
                if *count < SAMPLES_OF_A_SORT && known.iter().filter(|&&other| other == sort).count() < 3 {
                    *count += 1;
                    known.push(sort);
                    samples.push(sample(format!("seed {seed}, {sort:?}"), &model, &claims));
                }
            }
        }
        println!("symmetric samples: {counts:?}");
        assert!(counts.len() == 3 && counts.values().all(|&count| count >= 20), "{counts:?}");
        samples
    })
}
