//! The reader of SPADE files, as its users see it.
//!
//! Most tests are data: a text and what the reader has to say about it, one line for each diagnostic, as
//! `line:column message | label | hint`. Verdicts are found by a search over the states of the model.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod harm;
mod refused;
mod targets;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fastrand::Rng;
use tepui_lang::diagnostic::{Diagnostic, LIMIT, Severity};
use tepui_lang::rendezvous::{Parsed, read_spade};
use tepui_lang::source::Source;
use tepui_model::rendezvous::{Action, Control, Local, Model, Move, State, Symbol};

fn source(text: &str) -> Source {
    Source::new("x", text.as_bytes())
}

/// What the reader says, line by line: its errors, or its warnings if it succeeds.
fn said(text: &str) -> Vec<String> {
    let source = source(text);
    let result = read_spade(&source);
    let said = match &result {
        Ok(parsed) => &parsed.warnings,
        Err(errors) => errors,
    };
    said.iter().map(|diagnostic| show(&source, diagnostic)).collect()
}

fn show(source: &Source, diagnostic: &Diagnostic) -> String {
    let (line, column) = source.position(diagnostic.span.start);
    let hint = diagnostic.hint.clone().unwrap_or_default();
    let parts = [diagnostic.message.clone(), diagnostic.label.clone(), hint];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("{line}:{column} {}", parts.join(" | "))
}

/// The model of a text without a flaw.
fn model(text: &str) -> Model {
    let source = source(text);
    let parsed = read_spade(&source).unwrap_or_else(|errors| {
        let shown: Vec<_> = errors.iter().map(|error| show(&source, error)).collect();
        panic!("{shown:#?}")
    });
    assert_eq!(parsed.warnings, [], "{text}");
    parsed.model
}

/// A file with a client that calls and a server that answers, and other parts as given.
fn file(rules: &str, init: &str, bad: &str) -> String {
    let operators = "seq:2 par:2 idle:0 call:0 work:0 done:0 free:0 taken:0";
    format!("Ops {operators}\nActs get put\nSPAD\n{rules}\n{init}\n{bad}\n")
}

const RULES: &str = "call -> seq(work, done) : get!
work -> idle : Tau
done -> call : put!
free -> taken : get?
taken -> free : put?";
const INIT: &str = "Set init par(call, free)";
const BAD: &str = "Set bad par(done, taken)";

/// Line 4 is the first one of the rules, which are five.
fn sample() -> String {
    file(RULES, INIT, BAD)
}

/// All steps from a state: the moves, what they cost, and where they lead. The first half of a rule for two constants
/// costs nothing.
fn steps(model: &Model, state: &State) -> Vec<(usize, State)> {
    let enabled = |thread: usize, action: Option<Action>| -> Vec<Move> {
        let rules = model.threads()[thread].rules.iter().enumerate();
        let rules = rules.filter(|(_, rule)| rule.action == action && state[thread].after(rule).is_some());
        rules.map(|(rule, _)| Move { thread, rule }).collect()
    };
    let mut found = Vec::new();
    for thread in 0..model.threads().len() {
        for step in enabled(thread, None) {
            let halfway = model.threads()[thread].control_name(model.rule(step).unwrap().to).starts_with("after_");
            found.push((usize::from(!halfway), model.step(state, &[step]).unwrap()));
        }
    }
    for action in (0..model.actions().len() as u32).map(Action) {
        let mut together = vec![Vec::new()];
        for thread in model.knowing(action) {
            let moves = enabled(thread, Some(action));
            let extended = together.iter().flat_map(|before: &Vec<Move>| {
                moves.iter().map(move |&step| before.iter().copied().chain([step]).collect())
            });
            together = extended.collect();
        }
        let moves = together.into_iter().filter(|moves| !moves.is_empty());
        found.extend(moves.map(|moves| (1, model.step(state, &moves).unwrap())));
    }
    found
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// After so many steps.
    Reachable(usize),
    /// There are so many states in which all threads run, not counting those twice that differ in idle leaves.
    Not(usize),
    /// Some stack is higher than the search goes.
    NotFound,
}

/// How many terms some states stand for: where a thread has ended, it does not matter which of two it is.
fn terms<'s>(model: &Model, states: impl Iterator<Item = &'s State>) -> usize {
    let running = states.filter(|state| state.iter().all(|local| local.control == Control(0)));
    let term = |state: &State| -> Vec<String> {
        let locals = state.iter().enumerate().filter(|(_, local)| !local.stack.is_empty());
        locals.map(|(thread, local)| model.display_local(thread, local, usize::MAX)).collect()
    };
    running.map(term).collect::<BTreeSet<_>>().len()
}

/// Searches for a bad state.
fn search(model: &Model) -> Verdict {
    let mut costs: HashMap<State, usize> = [(model.init().clone(), 0)].into();
    let mut queue: VecDeque<(usize, State)> = [(0, model.init().clone())].into();
    let mut cut = false;
    while let Some((cost, state)) = queue.pop_front() {
        if costs[&state] < cost {
            continue;
        }
        if model.properties()[0].forbids(&state) {
            return Verdict::Reachable(cost);
        }
        assert!(costs.len() < 200_000, "too many states");
        if state.iter().any(|local| local.stack.len() > 30) {
            cut = true;
            continue;
        }
        for (more, next) in steps(model, &state) {
            let total = cost + more;
            if costs.get(&next).is_none_or(|&known| total < known) {
                costs.insert(next.clone(), total);
                match more {
                    0 => queue.push_front((total, next)),
                    _ => queue.push_back((total, next)),
                }
            }
        }
    }
    if cut { Verdict::NotFound } else { Verdict::Not(terms(model, costs.keys())) }
}

#[test]
fn leaves_become_threads() {
    let model = model(&sample());
    let names: Vec<_> = model.threads().iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["call", "free"]);
    assert_eq!(model.actions(), ["get@call@free", "put@call@free"]);
    assert_eq!(model.threads()[0].symbols, ["call", "work", "done"]);
    assert_eq!(model.threads()[1].symbols, ["free", "taken"]);
    let rules: Vec<_> = (0..2)
        .flat_map(|thread| model.threads()[thread].rules.iter().map(move |rule| (thread, rule)))
        .map(|(thread, rule)| format!("{} {}", rule.line, model.display_rule(thread, rule)))
        .collect();
    let expected = [
        "4 run call -> run work done : get@call@free",
        "5 run work -> run -",
        "6 run done -> run call : put@call@free",
        "7 run free -> run taken : get@call@free",
        "8 run taken -> run free : put@call@free",
    ];
    assert_eq!(rules, expected);
    assert_eq!(model.display_state(model.init(), 9), "call | free");
    assert_eq!(search(&model), Verdict::Reachable(2));
}

#[test]
fn sequences_are_words() {
    let text = file(RULES, "Set init par(seq(idle, seq(seq(work, done), call)), seq(free, idle))", "Set bad call");
    let model = model(&text);
    assert_eq!(model.display_state(model.init(), 9), "call.done.work | free");
    assert_eq!(search(&model), Verdict::Not(2));
}

#[test]
fn two_constants_take_two_rules() {
    let rules = "call -> seq(work, done) : get!\nseq(work, done) -> idle : put!\nseq(work, call) -> done : Tau
                 free -> taken : get?\ntaken -> free : put?\nwork -> work : Tau";
    let model = model(&file(rules, INIT, "Set bad free"));
    let client = &model.threads()[0];
    assert_eq!(client.controls, ["run", "after_work"]);
    let shown: Vec<_> = client.rules.iter().map(|rule| model.display_rule(0, rule)).collect();
    let expected = [
        "run call -> run work done : get@call@free",
        "run work -> after_work -",
        "after_work done -> run - : put@call@free",
        "after_work call -> run done",
        "run work -> run work",
    ];
    assert_eq!(shown, expected);
    assert_eq!(client.rules[1].line, 5);
    assert_eq!(search(&model), Verdict::Reachable(2));
}

#[test]
fn equal_names_are_numbered() {
    let model = model(&file(RULES, "Set init par(par(call, call), par(idle, free))", "Set bad par(call, taken)"));
    let names: Vec<_> = model.threads().iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["call/1", "call/2", "idle", "free"]);
    assert_eq!(model.actions().len(), 4);
    assert!(model.threads()[2].symbols.is_empty() && model.threads()[2].rules.is_empty());
}

#[test]
fn several_initial_terms_are_chosen_from() {
    let text =
        file(RULES, "Set init par(call, free) par(done, taken) par(call, seq(free, idle))", "Set bad par(work, free)");
    let parsed = read_spade(&source(&text)).unwrap();
    let model = parsed.model;
    assert_eq!(model.actions()[..2], ["choose@1", "choose@2"]);
    assert_eq!(model.threads()[1].controls, ["run", "start"]);
    assert_eq!(model.display_state(model.init(), 9), "start - | start -");
    assert_eq!(model.display_rule(0, &model.threads()[0].rules[1]), "start - -> run done : choose@2");
    assert_eq!(steps(&model, model.init()).len(), 2);
    let reached = |bad: &str| search(&self::model(&file(RULES, "Set init par(call, free) par(done, taken)", bad)));
    assert_eq!(reached("Set bad par(done, taken)"), Verdict::Reachable(1));
    assert_eq!(reached("Set bad par(call, free)"), Verdict::Reachable(1));
    assert_eq!(reached("Set bad par(seq(work, done), taken)"), Verdict::Reachable(2));
    assert_eq!(reached("Set bad par(call, taken)"), Verdict::Not(3));
}

#[test]
fn an_automaton_may_list_the_initial_terms() {
    let automaton = "Automaton init States p q r dead loop Final States r Transitions
        call -> p done -> p free -> q par(p, q) -> r par(p, dead) -> p free -> loop par(loop, q) -> loop";
    let model = model(&file(RULES, automaton, BAD));
    assert_eq!(model.actions()[..2], ["choose@1", "choose@2"]);
    assert_eq!(search(&model), Verdict::Reachable(3));
}

#[test]
fn idle_leaves_do_not_count() {
    let rules = "call -> idle : get!\nfree -> idle : get?\nwork -> done : put!\ntaken -> taken : put?";
    let init = "Set init par(call, par(free, work))";
    let verdict = |bad: &str| search(&model(&file(rules, init, bad)));
    assert_eq!(verdict("Set bad work"), Verdict::Reachable(1));
    assert_eq!(verdict("Set bad par(idle, par(idle, seq(idle, work)))"), Verdict::Reachable(1));
    assert_eq!(verdict("Set bad par(call, par(free, work)) done"), Verdict::Reachable(0));
    assert_eq!(verdict("Set bad done"), Verdict::Not(2));
    assert_eq!(verdict("Set bad idle"), Verdict::Not(2));
    assert_eq!(verdict("Automaton bad States q Final States q Transitions work -> q"), Verdict::Reachable(1));
    let ended = "work -> idle : put!\ncall -> idle : put?\nfree -> idle : get!\ntaken -> idle : get?";
    let verdict = |bad: &str| search(&model(&file(ended, "Set init par(call, work)", bad)));
    assert_eq!(verdict("Set bad idle"), Verdict::Reachable(1));
    assert_eq!(verdict("Automaton bad States q Final States q Transitions idle -> q"), Verdict::Reachable(1));
    let pair = "Automaton bad States q r Final States r Transitions idle -> q par(q, q) -> r";
    assert_eq!(verdict(pair), Verdict::Reachable(1));
    let other = "Automaton bad States q r Final States q Transitions call -> q idle -> r";
    assert_eq!(verdict(other), Verdict::Not(2));
}

#[test]
fn few_targets() {
    let bad = "Automaton bad States s e Final States e Transitions
        call -> s work -> s done -> e free -> s taken -> s seq(s, s) -> s seq(s, e) -> e seq(e, s) -> e seq(e, e) -> e
        par(s, s) -> s par(s, e) -> e par(e, s) -> e par(e, e) -> e";
    let init = "Set init par(par(call, call), par(free, call))";
    let model = model(&file(RULES, init, bad));
    let never = &model.properties()[0].never;
    assert_eq!(never.len(), 3);
    assert!(never.iter().all(|target| target.locals[2].is_none()));
    assert_eq!(search(&model), Verdict::Reachable(1));
}

fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let corpus = std::env::var_os("TEPUI_CORPUS").map_or(beside, PathBuf::from);
    let folder = corpus.join("spade");
    if !folder.is_dir() {
        eprintln!("NOT TESTED: there is no corpus at {}", corpus.display());
        return None;
    }
    Some(folder)
}

/// The files of the corpus with their texts and the rows of the table.
fn corpus_files() -> Vec<(Vec<String>, String)> {
    let Some(folder) = corpus() else { return vec![] };
    let table = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows = table.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let files: Vec<_> = rows.map(|row| (fs::read_to_string(folder.join(&row[0])).unwrap(), row)).collect();
    let found = fs::read_dir(&folder).unwrap().filter_map(Result::ok).map(|entry| entry.path());
    let found = found.filter(|path| path.extension().is_some_and(|extension| extension == "spad")).count();
    assert_eq!(found, files.len());
    files.into_iter().map(|(text, row)| (row, text)).collect()
}

/// Whether a refusal gives the reason that the table gives, where it gives one.
fn refused_for(row: &[String], errors: &[Diagnostic]) -> bool {
    let reason = match row[2].as_str() {
        "no (infinite init)" => "not supported: `init` is infinite",
        "no (par in rule RHS)" | "no" => "not supported: a rule that creates processes",
        _ => return false,
    };
    errors.iter().any(|error| error.message == reason)
        && errors.iter().all(|error| error.message.starts_with("not supported: "))
}

/// Whether a verdict is the one that the table gives, with the number of steps or of states where there is one.
fn agrees(expected: &str, verdict: Verdict) -> bool {
    let number = expected.split(|character: char| !character.is_ascii_digit()).find_map(|word| word.parse().ok());
    match verdict {
        Verdict::Reachable(steps) => expected.starts_with("REACHABLE") && number == Some(steps),
        Verdict::Not(states) => expected.starts_with("NOT") && number == Some(states),
        Verdict::NotFound => expected.starts_with("not found"),
    }
}

#[test]
#[ignore = "needs the corpus"]
fn the_corpus_is_understood() {
    assert!(corpus().is_some());
    for (row, text) in corpus_files() {
        let source = source(&text);
        match read_spade(&source) {
            Ok(parsed) => {
                let verdict = search(&parsed.model);
                assert!(row[2] == "yes" && agrees(&row[1], verdict), "{}: {verdict:?}, expected {}", row[0], row[1]);
                assert!(parsed.model.properties()[0].never.len() <= 2, "{}", row[0]);
            }
            Err(errors) => {
                let shown: Vec<_> = errors.iter().map(|error| show(&source, error)).collect();
                assert!(refused_for(&row, &errors), "{}: {shown:#?}", row[0]);
            }
        }
    }
}
