//! Holds the oracle to the exact answers known for published systems, with a reader of their files of its own.

use std::fs;
use std::path::Path;

use tepui_model::pushdown::{Model, Property, Rule};
use tepui_tests::corpus::{ExpectedRow, TargetK, corpus, expected_cpds};
use tepui_tests::oracle::{Cap, contexts, finite_context, reachable, views, views_at_depth};
use tepui_tests::systems::{never, rule, state, system, thread};

/// One thread as the file has it: each rule as `from top to word`, 0 in `top` for the empty stack. The numbers of the
/// file are moved up by 1 to make room for that.
#[derive(Default)]
struct Section {
    rules: Vec<Rule>,
    greatest: u32,
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("{text} is not a number"))
}

fn symbol(text: &str) -> u32 {
    if text == "-" { 0 } else { number(text) + 1 }
}

fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| line.split('#').next().unwrap_or("").trim()).collect::<Vec<_>>().join("\n")
}

fn read_model(base: &Path) -> Model {
    let text = read(&base.with_extension("pds"));
    let (mut shared, mut sections) = (None, Vec::<Section>::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        let fields: Vec<_> = line.split_whitespace().collect();
        match fields[..] {
            ["PDA", ..] => sections.push(Section::default()),
            [count] => shared = Some(number(count)),
            [from, top, "->", to, ref word @ ..] => {
                let section = sections.last_mut().expect("a thread before its rules");
                let word: Vec<_> = word.iter().map(|text| symbol(text)).filter(|&symbol| symbol != 0).collect();
                section.greatest = word.iter().copied().chain([symbol(top), section.greatest]).max().unwrap_or(0);
                section.rules.push(rule(number(from), symbol(top), number(to), &word));
            }
            _ => panic!("cannot read {line}"),
        }
    }
    let (init_shared, stacks) = read_state(&read(&base.with_extension("init")));
    let stacks: Vec<_> = stacks.iter().map(Vec::as_slice).collect();
    let greatest = |(section, stack): (&Section, &&[u32])| stack.iter().copied().chain([section.greatest]).max();
    let counts: Vec<_> = sections.iter().zip(&stacks).filter_map(greatest).collect();
    let threads = sections.into_iter().zip(counts).map(|(section, count)| thread("t", count, section.rules)).collect();
    system(shared.expect("a number of shared states"), threads, state(init_shared, &stacks))
}

/// A state `q|w1,w2,...` in numbers.
fn read_state(text: &str) -> (u32, Vec<Vec<u32>>) {
    let (shared, stacks) = text.trim().split_once('|').expect("a bar after the shared state");
    let stack = |text: &str| text.split('.').map(|text| symbol(text.trim())).filter(|&symbol| symbol != 0).collect();
    (number(shared.trim()), stacks.split(',').map(stack).collect())
}

fn read_target(text: &str) -> Property {
    let (shared, stacks) = read_state(text);
    let tops: Vec<_> = stacks.iter().map(|stack| Some(stack.last().copied().unwrap_or(0))).collect();
    never(Some(shared), &tops)
}

fn check_size_and_finiteness(row: &ExpectedRow, model: &Model) {
    let rules: Vec<_> = model.threads().iter().map(|thread| thread.rules.len()).collect();
    assert_eq!(
        (model.threads().len(), model.shared().count(), rules),
        (row.threads, row.shared_states, row.rules.clone())
    );
    let finite: Option<Vec<_>> = finite_context(model, 200_000).into_iter().collect();
    let finite = finite.expect("an answer");
    assert_eq!(finite.iter().all(|finite| *finite), row.fcr);
    if let Some(letters) = &row.fcr_threads {
        assert_eq!(finite.iter().map(|finite| if *finite { 'y' } else { 'n' }).collect::<String>(), *letters);
    }
}

fn check_contexts(row: &ExpectedRow, model: &Model, cap: Cap) {
    let bounded = contexts(model, row.views_per_k.len() - 1, cap);
    assert_eq!(bounded.exact, row.fcr);
    let per_k: Vec<_> = bounded.levels.iter().map(|level| views(level).len() as u64).collect();
    assert_eq!(per_k, row.views_per_k);
    assert_eq!(per_k.iter().position(|count| *count == row.views_depth1), Some(row.k_views_complete as usize));
    let found = row.target.as_ref().map(|target| bounded.first_violation(&read_target(target)));
    let expected = match row.target_k {
        TargetK::None => None,
        TargetK::Unreachable => Some(None),
        TargetK::At(k) => Some(Some(k as usize)),
    };
    assert_eq!(found, expected);
    if let Some(count) = row.states {
        let collapse = bounded.levels.iter().position(|level| level.len() as u64 == count);
        assert_eq!(collapse, row.k_states_collapse.map(|k| k as usize));
    }
}

fn check_reachable(row: &ExpectedRow, model: &Model, cap: Cap) {
    let (states, exact) = reachable(model, cap);
    assert_eq!(exact.then_some(states.len() as u64), row.states);
    assert_eq!(
        (views(&states).len() as u64, views_at_depth(&states, 2).len() as u64),
        (row.views_depth1, row.views_top2)
    );
}

/// Compares the rows that are wanted; returns how many there are.
fn check_rows(wanted: impl Fn(&ExpectedRow) -> bool) -> usize {
    let directory = corpus();
    let rows: Vec<_> = expected_cpds().into_iter().filter(wanted).collect();
    for row in &rows {
        println!("{}", row.file);
        let model = read_model(&directory.join("cpds").join(&row.file));
        let cap = Cap { height: if row.fcr { 20 } else { 5 }, states: 60_000 };
        check_size_and_finiteness(row, &model);
        check_contexts(row, &model, cap);
        check_reachable(row, &model, cap);
    }
    rows.len()
}

fn is_large(row: &ExpectedRow) -> bool {
    row.states.is_some_and(|states| states > 10_000)
}

#[test]
#[ignore = "needs the corpus"]
fn published_systems_have_their_exact_answers() {
    assert_ne!(check_rows(|row| !is_large(row)), 0);
}

#[test]
#[ignore = "needs the corpus"]
fn large_published_systems_have_their_exact_answers() {
    assert_ne!(check_rows(is_large), 0);
}
