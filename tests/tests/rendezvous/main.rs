//! Communicating systems: languages, refinement, the product, certificates and traces, against slow readings of the
//! definitions.
//!
//! `TEPUI_RANDOM_SYSTEMS=N` runs N systems in each test instead of the usual number.

#![allow(clippy::unwrap_used)]

mod agreement;
mod examples;
mod forgeries;
mod languages;
mod spade;
mod views;

use tepui::{Cores, Facts, Options, Policy, RENDEZVOUS, Refinement};
use tepui_core::{Budget, Outcome, Reason, Status, Verdict};
use tepui_lang::rendezvous::read_rpds;
use tepui_lang::source::Source;
use tepui_model::rendezvous::Model;
use tepui_tests::facade::{rendezvous_trace, self_check, verify};
use tepui_tests::rendezvous::small_model;
use tepui_tests::shrink;

fn systems(usual: u64) -> std::ops::Range<u64> {
    0..std::env::var("TEPUI_RANDOM_SYSTEMS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Runs a test on systems that are drawn with seeds; one that fails is made smaller before it is reported.
fn for_each_model(usual: u64, draw: impl Fn(u64) -> Model, mut test: impl FnMut(&Model, u64)) {
    for seed in systems(usual) {
        shrink::check(seed, &draw(seed), |model| test(model, seed));
    }
}

/// A random system.
fn drawn(seed: u64) -> Model {
    small_model(&mut fastrand::Rng::with_seed(seed))
}

/// The languages alone, up to a length of words.
fn refine(model: &Model, refinement: Refinement, longest: u32) -> Outcome {
    run(model, &RENDEZVOUS, refinement, Some(longest))
}

/// An engine, whose answer must survive the independent check.
fn run(model: &Model, engine: &'static Facts, refinement: Refinement, longest: Option<u32>) -> Outcome {
    let bound_limit = longest.map(|longest| vec![longest]);
    let options = Options { engine, refinement, bound_limit, cores: Cores::new(1), ..Options::default() };
    let mut outcome = verify(model, &options, &Budget::unlimited()).unwrap();
    for property in &outcome.properties {
        if let Verdict::Unknown(reason @ Reason::SelfCheckFailed(_)) = &property.verdict {
            panic!("{engine:?}, {refinement:?}: {reason:?}\n{}", text(model));
        }
    }
    self_check(model, &mut outcome).unwrap_or_else(|why| panic!("{refinement:?}: {why}\n{}", text(model)));
    outcome
}

fn text(model: &Model) -> String {
    tepui_lang::rendezvous::print_rpds(model).unwrap()
}

fn parse(text: &str) -> Model {
    let source = Source::new("model", text.as_bytes());
    read_rpds(&source, None).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).model
}

/// The greatest length up to which words were exact.
fn longest(outcome: &Outcome) -> u32 {
    let last = outcome.iterations.last().unwrap();
    last.approximations.iter().flat_map(|one| &one.lengths).copied().max().unwrap()
}

/// How many actions the trace of the first property has, and its longest projection to a thread.
fn word_lengths(model: &Model, outcome: &Outcome) -> Option<(u32, u32)> {
    let Verdict::Unsafe(refuted) = &outcome.properties[0].verdict else { return None };
    let trace = rendezvous_trace(refuted.trace());
    let mut projections = vec![0; model.threads().len()];
    let mut length = 0;
    for step in &trace.steps {
        if model.rule(step.moves[0]).unwrap().action.is_some() {
            length += 1;
            step.moves.iter().for_each(|own| projections[own.thread] += 1);
        }
    }
    Some((length, projections.into_iter().max().unwrap()))
}

fn with(policy: Policy) -> Refinement {
    Refinement { policy, ..Refinement::default() }
}

fn unknown(outcome: &Outcome) -> bool {
    outcome.status() == Status::Unknown
}
