//! Proofs to forge: from the engines, on random systems and on systems made by hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use fastrand::Rng;
use tepui::{CLOSURE, CONTEXTS, DELAYS, Facts, Options, STATES, SYMBOLIC, VIEWS};
use tepui_cert::pushdown::{Certificate, Lemma};
use tepui_core::{Budget, Outcome, Verdict};
use tepui_model::pushdown::{Model, Property, State};
use tepui_tests::facade::verify;
use tepui_tests::oracle::{self};
use tepui_tests::random::{Shape, small_model};
use tepui_tests::systems::{self, never, rule, state, system, thread};

use crate::judge::*;
use crate::{CAP, LARGEST_SAMPLE, SAMPLES_OF_A_SORT, SEEDS};

pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) model: Model,
    pub(crate) certificate: Certificate,
    pub(crate) reachable: BTreeSet<State>,
    /// Whether an engine wrote it.
    pub(crate) from_engine: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Sort {
    /// One lemma of depth 1.
    Shallow,
    /// One lemma of a greater depth.
    Deep,
    /// Two lemmas, of which the second proves nothing without the first.
    Chain,
    /// Several lemmas, each of which stands alone.
    Row,
}

pub(crate) fn sort_of(model: &Model, certificate: &Certificate) -> Sort {
    let stands = |lemma: &Lemma| Claim::of(model, lemma).is_some_and(|claim| claim.is_closed(model, &[]));
    match certificate.lemmas.as_slice() {
        [lemma] if lemma.depth == 1 => Sort::Shallow,
        [_] => Sort::Deep,
        lemmas if lemmas.iter().all(stands) => Sort::Row,
        _ => Sort::Chain,
    }
}

/// A deep proof and the coarser ones that lean on it; a coarse lemma before a deep one.
pub(crate) fn longer_proofs(model: &Model, certificate: &Certificate) -> Vec<Certificate> {
    let [lemma] = certificate.lemmas.as_slice() else { return vec![] };
    let Some(claim) = Claim::of(model, lemma).filter(|claim| claim.depth > 1) else { return vec![] };
    let alone = Claim::least(model, 1, &[]).map(|first| vec![first.lemma(), lemma.clone()]);
    let earlier = [claim];
    let leaning = |depth: usize| Claim::least(model, depth, &earlier).map(|claim| claim.lemma());
    let chain = leaning(1).map(|second| vec![lemma.clone(), second]);
    let long = leaning(2).zip(leaning(1)).map(|(third, second)| vec![lemma.clone(), second, third]);
    let with = |lemmas| Certificate { lemmas, ..certificate.clone() };
    [alone, chain, long].into_iter().flatten().map(with).collect()
}

/// Two stacks of height `m` that are popped in turn. That both have the same height shows at depth `m` only.
pub(crate) fn lockstep(m: usize) -> Model {
    let popper = |from, to| thread("popper", 1, vec![rule(from, 1, to, &[])]);
    let stack = vec![1; m];
    let model = system(2, vec![popper(0, 1), popper(1, 0)], state(0, &[&stack, &stack]));
    model.with_properties(vec![never(Some(0), &[Some(0), Some(1)])]).expect("it fits")
}

pub(crate) fn handmade() -> Vec<Model> {
    let with = |model: Model, property| model.with_properties(vec![property]).expect("it fits");
    vec![
        with(systems::handshake(), never(Some(0), &[Some(2), None])),
        with(systems::stutter(), never(Some(1), &[Some(0), None])),
        with(systems::countdown(4), never(Some(0), &[Some(0), Some(0)])),
        systems::tower(),
        with(systems::ladder(), never(None, &[Some(0), None])),
        lockstep(3),
    ]
}

pub(crate) fn run(model: &Model, engine: &'static Facts) -> Outcome {
    let limits = [(&CLOSURE, 3), (&DELAYS, 5)];
    let limit = limits.iter().find(|(own, _)| *own == engine).map_or(8, |(_, limit)| *limit);
    let options = Options { engine, bound_limit: Some(vec![limit]), cores: tepui::Cores::new(1), ..Options::default() };
    verify(model, &options, &Budget::unlimited()).expect("there is no matching")
}

/// The certificate of a run, with the model cut to the properties that it proves.
pub(crate) fn proof(model: &Model, outcome: &Outcome) -> Option<(Model, Certificate)> {
    let certificate = outcome.properties.iter().find_map(|property| match &property.verdict {
        Verdict::Safe(proven) => Certificate::try_from(proven.evidence().certificate.clone()).ok(),
        _ => None,
    })?;
    let proved = |property: &&Property| certificate.properties.contains(property);
    let properties = model.properties().iter().filter(proved).cloned().collect();
    Some((model.clone().with_properties(properties).expect("they are its own"), certificate))
}

pub(crate) const ENGINES: [&Facts; 6] = [&CLOSURE, &DELAYS, &CONTEXTS, &STATES, &VIEWS, &SYMBOLIC];

pub(crate) fn random_model(seed: u64) -> Model {
    let shape = [Shape::Any, Shape::FiniteContext, Shape::Recursive][seed as usize % 3];
    small_model(&mut Rng::with_seed(seed), shape)
}

/// Certificates of all sorts, of none more than are wanted: those of the engines, and longer ones made of them.
pub(crate) fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let random = (0..SEEDS).map(|seed| (format!("seed {seed}"), random_model(seed)));
        let handmade = handmade().into_iter().enumerate().map(|(number, model)| (format!("system {number}"), model));
        let mut collection = Collection::default();
        for (name, model) in handmade.chain(random) {
            for engine in ENGINES {
                let Some((model, certificate)) = proof(&model, &run(&model, engine)) else { continue };
                let name = format!("{name}, {engine:?}");
                collection.add_all(&name, &model, certificate);
            }
        }
        collection.finish()
    })
}

#[derive(Default)]
pub(crate) struct Collection {
    pub(crate) samples: Vec<Sample>,
    pub(crate) counts: BTreeMap<Sort, usize>,
}

impl Collection {
    pub(crate) fn add_all(&mut self, name: &str, model: &Model, certificate: Certificate) {
        let views = |certificate: &Certificate| certificate.lemmas.iter().map(|lemma| lemma.views.len()).sum::<usize>();
        let known = self.samples.iter().rev().take(12).any(|sample| sample.certificate == certificate);
        if known || !(3..=LARGEST_SAMPLE).contains(&views(&certificate)) {
            return;
        }
        let longer = longer_proofs(model, &certificate);
        let made = longer.into_iter().map(|certificate| (false, certificate));
        for (from_engine, certificate) in [(true, certificate)].into_iter().chain(made) {
            let count = self.counts.entry(sort_of(model, &certificate)).or_default();
            if *count < SAMPLES_OF_A_SORT {
                *count += 1;
                let reachable = oracle::reachable(model, CAP).0;
                let (name, model) = (format!("{name}, {} lemmas", certificate.lemmas.len()), model.clone());
                self.samples.push(Sample { name, model, certificate, reachable, from_engine });
            }
        }
    }

    pub(crate) fn finish(self) -> Vec<Sample> {
        println!("samples: {:?}", self.counts);
        let sorts = [Sort::Shallow, Sort::Deep, Sort::Chain, Sort::Row];
        let enough = |sort| self.counts.get(sort).is_some_and(|&count| count >= 10);
        assert!(sorts.iter().all(enough), "{:?}", self.counts);
        self.samples
    }
}
