//! The reader of SPADE files, as its users see it.
//!
//! Most tests are data: a text and what the reader has to say about it, one line for each diagnostic, as
//! `line:column message | label | hint`. Verdicts are found by a search over the states of the model.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

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

/// A file whose only flaw is in one part, and what is said about it.
fn check(text: &str, expected: &[&str]) {
    assert_eq!(said(text), expected, "{text}");
}

#[test]
fn broken_tokens() {
    check(
        &sample().replace("Set bad par(done", "Set bad (* a (* b *) par(done"),
        &["10:9 this comment does not end | it begins here | comments nest: each `(*` needs a `*)` of its own"],
    );
    check(&sample().replace("get put", "get (* (* *) ** (**) *) put"), &[]);
    check(
        &sample().replace("work -> idle", "work %% idle"),
        &[
            "5:6 `%` does not belong here | not part of any word or mark",
            "5:9 expected `->`, found `idle` | unexpected",
        ],
    );
    check(
        &sample().replace("work -> idle", "work → idle"),
        &[
            "5:6 `→` does not belong here | not part of any word or mark | an arrow is written `->`",
            "5:8 expected `->`, found `idle` | unexpected",
        ],
    );
}

#[test]
fn broken_sections() {
    let order = "the sections are `Ops`, `Acts`, `SPAD`, and `Set` or `Automaton` for `init` and `bad`";
    check("", &[&format!("1:1 expected the section `Ops` | the text ends here | {order}")]);
    check("Opss a:0", &["1:1 expected the section `Ops`, found `Opss` | unexpected | did you mean `Ops`?"]);
    check(
        &sample().replace("SPAD", ""),
        &[
            "4:6 expected the name of an action, found `->` | unexpected | rules stand in the section `SPAD`",
            "5:6 expected the name of an action, found `->` | unexpected | rules stand in the section `SPAD`",
            "6:6 expected the name of an action, found `->` | unexpected | rules stand in the section `SPAD`",
            "7:6 expected the name of an action, found `->` | unexpected | rules stand in the section `SPAD`",
            "8:7 expected the name of an action, found `->` | unexpected | rules stand in the section `SPAD`",
            "9:1 expected the section `SPAD`, found `Set` | unexpected | the sections are `Ops`, `Acts`, `SPAD`, and `Set` or `Automaton` for `init` and `bad`",
        ],
    );
    check(
        &file(RULES, "", ""),
        &[
            "11:1 there is no `init` | the text ends here | give it by `Set init` or `Automaton init`",
            "11:1 there is no `bad` | the text ends here | give it by `Set bad` or `Automaton bad`",
        ],
    );
    check(
        &file(RULES, INIT, ""),
        &["11:1 there is no `bad` | the text ends here | give it by `Set bad` or `Automaton bad`"],
    );
    check(
        &file(RULES, INIT, "Set bed call"),
        &["10:5 expected `init` or `bad`, found `bed` | no other set of terms has a meaning | did you mean `bad`?"],
    );
    check(&file(RULES, INIT, "Set bad call Set bad done"), &["10:18 `bad` is given twice | again here"]);
    check(
        &file(RULES, INIT, "Set bad call Ops a:0"),
        &["10:14 expected `Set` or `Automaton`, found `Ops` | unexpected"],
    );
    check(&file(RULES, INIT, "Set"), &["11:1 expected `init` or `bad` | the text ends here"]);
    check(&file(RULES, "Set init", BAD), &["9:5 there is no initial term | this set is empty"]);
    check(
        &file(RULES, "Automaton init States p Final States Transitions call -> p", BAD),
        &["9:11 there is no initial term | this set is empty"],
    );
}

#[test]
fn broken_operators_and_actions() {
    check(&sample().replace("idle:0", "idle:1"), &["1:22 `idle` must be declared as `idle:0` | another arity"]);
    check(&sample().replace("seq:2", ""), &["1:1 the operator `seq:2` is not declared | in this section"]);
    check(
        &sample().replace("free:0", "free:0 fork:1"),
        &[
            "1:57 not supported: the operator `fork` with arguments | only `seq` and `par` may have arguments, all others are constants",
        ],
    );
    check(&sample().replace("free:0", "free:0 fork:x"), &["1:57 expected a number of arguments, found `x`"]);
    check(
        &sample().replace("free:0", "free:0 fork"),
        &["1:57 expected `:` and the number of arguments, found `taken` | unexpected"],
    );
    check(&sample().replace("free:0", "free:0 free:0"), &["1:52 operator `free` is declared twice | again here"]);
    check(&sample().replace("get put", "get put get"), &["2:14 action `get` is declared twice | again here"]);
    check(&sample().replace("get put", "get , put"), &["2:10 expected the name of an action, found `,` | unexpected"]);
}

#[test]
fn broken_rules() {
    let with = |rule: &str| file(&format!("{RULES}\n{rule}"), INIT, BAD);
    check(&with("wrok -> idle : Tau"), &["9:1 unknown constant `wrok` | not declared | did you mean `work`?"]);
    check(
        &with("work -> idel : Tau\nwork idle : Tau\nwork -> work : Tau"),
        &[
            "9:9 unknown constant `idel` | not declared | did you mean `idle`?",
            "10:6 expected `->`, found `idle` | unexpected",
        ],
    );
    check(&with("work -> idle : gett!"), &["9:16 unknown action `gett` | not declared | did you mean `get`?"]);
    check(&with("work -> idle : get"), &["10:1 expected `!` or `?` after the action, found `Set` | unexpected"]);
    check(&with("work -> idle"), &["10:1 expected `:` and a label, found `Set` | unexpected"]);
    check(&with("work -> seq(idle) : Tau"), &["9:17 expected `,` and the second term, found `)` | unexpected"]);
    check(&with("work -> seq : Tau"), &["9:9 `seq` needs two arguments | expected `(` behind it"]);
    check(
        &with("work -> sec(work, work) : Tau"),
        &["9:9 `sec` is not an operator with arguments | expected `seq` or `par` | did you mean `seq`?"],
    );
    check(
        &with("work -> par(work, work) : Tau"),
        &[
            "9:9 not supported: a rule that creates processes | `par` on the right of a rule | only files whose rules start no processes are sets of threads",
        ],
    );
    check(
        &with("work -> seq(work, par(work, seq(work, par(work, work)))) : Tau"),
        &[
            "9:19 not supported: a rule that creates processes | `par` on the right of a rule | only files whose rules start no processes are sets of threads",
        ],
    );
    check(
        &with("par(work, work) -> work : Tau"),
        &[
            "9:1 not supported: `par` on the left of a rule | a rule of several processes | the left side is `x` or `seq(x, y)`",
        ],
    );
    check(
        &with("seq(work, seq(work, work)) -> work : Tau"),
        &[
            "9:1 not supported: a rule that replaces more than two constants | too many on the left | the left side is `x` or `seq(x, y)`",
        ],
    );
    check(
        &with("seq(work, idle) -> work : Tau"),
        &["9:1 not supported: `idle` on the left of a rule | replaces nothing | the left side is `x` or `seq(x, y)`"],
    );
    check(
        &with("idle -> work : Tau"),
        &["9:1 not supported: `idle` on the left of a rule | replaces nothing | the left side is `x` or `seq(x, y)`"],
    );
}

#[test]
fn refused_initial_terms() {
    let with = |init: &str| file(RULES, init, BAD);
    check(
        &with("Set init seq(call, par(call, free))"),
        &["9:20 not supported: par below seq | only `par` may stand above `par`"],
    );
    check(
        &with("Set init par(call, free) par(call, par(free, idle))"),
        &["9:26 not supported: initial terms with different nestings of `par` | not nested as those before it"],
    );
    check(&with("Set init par(call, feee)"), &["9:20 unknown constant `feee` | not declared | did you mean `free`?"]);
    let many = ["call", "work", "done", "free"]
        .map(|one| ["call", "work", "done", "free"].map(|other| format!("seq({one}, {other})")));
    let many: Vec<_> = many
        .iter()
        .flatten()
        .flat_map(|one| many.iter().flatten().map(move |other| format!("par({one}, {other})")))
        .collect();
    check(
        &with(&format!("Set init {}", many.join("\n"))),
        &["9:5 not supported: so many or so large initial terms | at most 64 terms with 10000 operators in all"],
    );
    let automaton = |rest: &str| with(&format!("Automaton init\nStates p q r\nFinal States r\nTransitions {rest}"));
    check(
        &automaton("call -> p free -> q par(p, p) -> p par(p, q) -> r"),
        &[
            "10:8 not supported: `init` is infinite | this state can stand below itself, so the terms grow without bound | the number of processes must be fixed: give a term for each number in a file of its own",
        ],
    );
    check(
        &automaton("call -> p free -> q par(p, q) -> r par(r, q) -> p"),
        &[
            "10:8 not supported: `init` is infinite | this state can stand below itself, so the terms grow without bound | the number of processes must be fixed: give a term for each number in a file of its own",
        ],
    );
    check(
        &automaton("call -> p free -> p par(p, p) -> q seq(q, q) -> r"),
        &["9:11 not supported: par below seq | in a term of this set"],
    );
    check(
        &automaton("call -> p p -> r"),
        &["12:23 not supported: a transition from a state to a state | this is a state, not a constant"],
    );
    check(&automaton("call -> pp"), &["12:21 unknown state `pp` | not declared | did you mean `p`?"]);
    check(
        &automaton("pax(p, q) -> p par(p q) -> p par(p, q) p"),
        &["12:13 `pax` is not an operator with arguments | expected `seq` or `par` | did you mean `par`?"],
    );
    check(
        &with("Automaton init States p p Final States s Transitions call -> p"),
        &["9:25 state `p` is declared twice | again here", "9:40 unknown state `s` | not declared"],
    );
    check(
        &with("Automaton init States p Final State p Transitions call -> p"),
        &["9:31 expected `States`, found `State` | unexpected | did you mean `States`?"],
    );
    let doubling: String = (0..30).map(|number| format!("seq(q{number}, q{number}) -> q{} ", number + 1)).collect();
    let states: String = (0..31).map(|number| format!("q{number} ")).collect();
    let huge = format!("Automaton init States {states} Final States q30 Transitions call -> q0 {doubling}");
    check(
        &with(&huge),
        &["9:11 not supported: so many or so large initial terms | at most 64 terms with 10000 operators in all"],
    );
    let crowd = (1..300).fold("call".to_owned(), |crowd, _| format!("par({crowd}, call)"));
    check(&with(&format!("Set init {crowd}")), &["9:5 not supported: so many processes | 300, more than 200"]);
}

#[test]
fn refused_bad_terms() {
    let with = |bad: &str| file(RULES, INIT, bad);
    check(
        &with("Set bad par(call, par(free, free))"),
        &[
            "10:9 no state can be equal to this term | not nested as the initial term | `par` is taken as it is written, neither associative nor commutative",
        ],
    );
    check(
        &with("Set bad seq(par(call, free), free)"),
        &["10:13 not supported: par below seq | only `par` may stand above `par`"],
    );
    check(&with("Set bad"), &["10:5 `bad` forbids nothing | no tree of stacks of these processes is in it"]);
    check(
        &with("Set bad par(free, call)"),
        &["10:5 `bad` forbids nothing | no tree of stacks of these processes is in it"],
    );
    let bracketed = "Automaton bad States p q r Final States r Transitions call -> p work -> p done -> p
        seq(p, p) -> q seq(q, p) -> r";
    check(
        &with(bracketed),
        &[
            "10:11 not supported: the automaton tells seq(a, seq(b, c)) from seq(seq(a, b), c) | for `call`, `call` and `call`, for instance | a stack is a word and has no brackets",
        ],
    );
    let crowd = |states: usize| {
        let names: Vec<_> = (0..states).map(|number| format!("q{number}")).collect();
        let sums = (0..states)
            .flat_map(|one| (0..states - one).map(move |other| format!("seq(q{one}, q{other}) -> q{}\n", one + other)));
        let sums: String = sums.collect();
        with(&format!("Automaton bad States {} Final States q1 Transitions call -> q1 {sums}", names.join(" ")))
    };
    check(&crowd(190), &[]);
    check(&crowd(210), &["10:11 not supported: so large an automaton | words have more than 200 values"]);
}

#[test]
fn actions_without_a_partner() {
    let with = |rule: &str| file(rule, "Set init par(call, free)", "Set bad par(call, free)");
    check(
        &with("call -> call : get!"),
        &[
            "2:6 action `get` is never received | no rule has it with `?`, so those with `!` never apply",
            "2:10 action `put` is not used | no rule has it",
        ],
    );
    check(
        &with("call -> call : get? free -> free : put? call -> call : put!"),
        &["2:6 action `get` is never sent | no rule has it with `!`, so those with `?` never apply"],
    );
}

/// A set of states of an automaton.
type States = BTreeSet<usize>;

/// An automaton at random, and what it says of a term: whether some term is accepted that is equal to it but for `idle`.
struct Random {
    states: usize,
    constants: Vec<(usize, usize)>,
    idle: States,
    seq: Vec<[usize; 3]>,
    par: Vec<[usize; 3]>,
    accepting: States,
}

impl Random {
    fn new(rng: &mut Rng) -> Self {
        let states = rng.usize(2..4);
        let mut some = |most: usize, width: usize| -> Vec<Vec<usize>> {
            (0..rng.usize(..=most)).map(|_| (0..width).map(|_| rng.usize(..states)).collect()).collect()
        };
        let triples = |list: Vec<Vec<usize>>| list.into_iter().map(|list| [list[0], list[1], list[2]]).collect();
        let constants = some(4, 2).into_iter().map(|pair| (pair[0] % 2, pair[1])).collect();
        let (seq, par) = (triples(some(4, 3)), triples(some(6, 3)));
        let idle = some(1, 1).concat().into_iter().collect();
        Self { states, constants, idle, seq, par, accepting: [rng.usize(..states)].into() }
    }

    fn text(&self) -> String {
        let states: Vec<_> = (0..self.states).map(|state| format!("q{state}")).collect();
        let accepting: Vec<_> = self.accepting.iter().map(|state| format!("q{state}")).collect();
        let mut text =
            format!("Automaton bad States {} Final States {} Transitions\n", states.join(" "), accepting.join(" "));
        self.constants.iter().for_each(|(one, to)| text.push_str(&format!("{} -> q{to}\n", ["a", "b"][*one])));
        self.idle.iter().for_each(|to| text.push_str(&format!("idle -> q{to}\n")));
        self.seq.iter().for_each(|[one, other, to]| text.push_str(&format!("seq(q{one}, q{other}) -> q{to}\n")));
        self.par.iter().for_each(|[one, other, to]| text.push_str(&format!("par(q{one}, q{other}) -> q{to}\n")));
        text
    }

    fn apply(table: &[[usize; 3]], left: &States, right: &States) -> States {
        let fits = table.iter().filter(|[one, other, _]| left.contains(one) && right.contains(other));
        fits.map(|transition| transition[2]).collect()
    }

    /// The states of `idle`, with any number of `idle`s put together.
    fn idle(&self) -> States {
        let mut idle = self.idle.clone();
        for _ in 0..=self.states {
            for table in [&self.seq, &self.par] {
                idle.extend(Self::apply(table, &idle, &idle));
            }
        }
        idle
    }

    /// The states of a term that has some states by itself, with any number of `idle`s around it.
    fn wrapped(&self, mut states: States) -> States {
        let idle = self.idle();
        for _ in 0..=self.states {
            for table in [&self.seq, &self.par] {
                states.extend(Self::apply(table, &idle, &states));
                states.extend(Self::apply(table, &states, &idle));
            }
        }
        states
    }

    /// The states of a word, top first.
    fn word(&self, word: &[usize]) -> Option<States> {
        let (first, rest) = word.split_first()?;
        let one = self.constants.iter().filter(|(constant, _)| constant == first).map(|(_, to)| *to);
        let one = self.wrapped(one.collect());
        Some(match self.word(rest) {
            Some(rest) => self.wrapped(Self::apply(&self.seq, &one, &rest)),
            None => one,
        })
    }

    fn join(&self, left: Option<States>, right: Option<States>) -> Option<States> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.wrapped(Self::apply(&self.par, &left, &right))),
            (one, other) => one.or(other),
        }
    }

    fn accepts(&self, [first, second, third]: [Option<States>; 3]) -> bool {
        let states = self.join(self.join(first, second), third).unwrap_or_else(|| self.idle());
        !states.is_disjoint(&self.accepting)
    }
}

#[test]
fn targets_are_what_the_automaton_accepts() {
    let rng = &mut Rng::with_seed(0x7ee5);
    let words: [&[usize]; 9] = [&[], &[0], &[1], &[0, 0], &[0, 1], &[1, 0], &[1, 1], &[0, 1, 1], &[1, 0, 0]];
    let start = "Ops seq:2 par:2 idle:0 a:0 b:0 Acts SPAD Set init par(par(seq(a, b), seq(a, b)), seq(a, b))";
    let (mut read, mut bad, mut good, mut open) = (0, 0, 0, 0);
    for _ in 0..1_000 {
        let random = Random::new(rng);
        let text = format!("{start}\n{}", random.text());
        let Ok(Parsed { model, .. }) = read_spade(&source(&text)) else { continue };
        read += 1;
        open +=
            model.properties()[0].never.iter().flat_map(|target| &target.locals).filter(|set| set.is_none()).count();
        let local = |word: &[usize]| Local {
            control: Control(0),
            stack: word.iter().rev().map(|&constant| Symbol(constant as u32 + 1)).collect(),
        };
        let values = words.map(|word| random.word(word));
        for number in 0..words.len().pow(3) {
            let tuple = [number % 9, number / 9 % 9, number / 81];
            let expected = random.accepts(tuple.map(|index| values[index].clone()));
            let state: State = tuple.iter().map(|&index| local(words[index])).collect();
            assert_eq!(model.properties()[0].forbids(&state), expected, "{text}\n{tuple:?}");
            if expected { bad += 1 } else { good += 1 }
        }
    }
    assert!(read > 250 && bad > 10_000 && good > 10_000 && open > 30, "{read} {bad} {good} {open}");
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

/// What must hold of every reading.
fn judge(source: &Source, result: &Result<Parsed, Vec<Diagnostic>>) {
    let said = match result {
        Ok(parsed) => &parsed.warnings,
        Err(errors) => errors,
    };
    let sound = |diagnostic: &Diagnostic| {
        source.text.get(diagnostic.span.clone()).is_some()
            && !diagnostic.message.is_empty()
            && (diagnostic.severity == Severity::Error) == result.is_err()
    };
    assert!(said.len() <= LIMIT + 1 && said.iter().all(sound), "{said:?}");
    assert!(result.is_ok() || !said.is_empty());
    if let Ok(parsed) = result {
        let never = &parsed.model.properties()[0].never;
        assert!((1..never.len()).all(|index| !never[..index].contains(&never[index])));
    }
}

/// Reads a text; whether it is accepted.
fn run(bytes: &[u8]) -> bool {
    let source = Source::new("x", bytes);
    let start = Instant::now();
    let outcome = std::panic::catch_unwind(|| {
        let result = read_spade(&source);
        judge(&source, &result);
        result.is_ok()
    });
    assert!(start.elapsed() < Duration::from_secs(20), "this text takes too long:\n{:.5000}", source.text);
    outcome.unwrap_or_else(|_| panic!("this text does harm:\n{:.5000}", source.text))
}

/// Changes one character, or cuts the text off.
fn damage(rng: &mut Rng, text: &str) -> Vec<u8> {
    const CHARACTERS: &[u8] = b"()(),->:!?*'_ \n\tabqsTS0129\xff\0";
    let mut bytes = text.as_bytes().to_vec();
    let at = rng.usize(..bytes.len());
    let other = CHARACTERS[rng.usize(..CHARACTERS.len())];
    match rng.u8(..10) {
        0 => bytes.truncate(at),
        1..4 => drop(bytes.remove(at)),
        4..7 => bytes.insert(at, other),
        _ => bytes[at] = other,
    }
    bytes
}

const SUMS: &str = "Automaton bad States s e Final States e Transitions call -> s work -> s done -> e free -> s
    taken -> s seq(s, s) -> s seq(s, e) -> e seq(e, s) -> e seq(e, e) -> e idle -> s
    par(s, s) -> s par(s, e) -> e par(e, s) -> e par(e, e) -> e";

#[test]
fn damaged_texts_do_no_harm() {
    let lister = "Automaton init States p q r Final States r Transitions call -> p free -> q done -> p par(p, q) -> r";
    let own = [sample(), file(RULES, lister, SUMS), file(RULES, "Set init par(call, par(free, call))", SUMS)];
    let texts: Vec<_> = own.into_iter().chain(corpus_files().into_iter().map(|(_, text)| text)).collect();
    let rng = &mut Rng::with_seed(0x5bad);
    for text in texts {
        let accepted = (0..300).filter(|_| run(&damage(rng, &text))).count();
        assert!(accepted < 300);
    }
}

#[test]
fn length_is_no_harm() {
    let start = "Ops seq:2 par:2 idle:0 a:0 b:0\nActs c\nSPAD\na -> a : c!\nb -> b : c?\n";
    let pieces = [
        "(*",
        "*)",
        "(",
        ")",
        "a ",
        "a:0 ",
        "seq(",
        "par(",
        "par(a, ",
        "seq(a, b) -> ",
        "a -> a : c! ",
        "Set ",
        "%",
        "é",
        "Set init ",
        "par(a, a) ",
        "par(p, q) -> p ",
        "Automaton ",
        "a -> p ",
        "-> ",
        ", ",
        "x",
        "\n",
        "(**)",
        "\0",
    ];
    let sections = [
        "",
        "Set init ",
        "Set init par(a, b) Set bad ",
        "Automaton init States p q Final States p Transitions a -> p b -> q ",
        "Set init par(a, b) Automaton bad States p q Final States p Transitions a -> p b -> q ",
        "Automaton bad States ",
    ];
    for piece in pieces {
        run(piece.repeat(300_000 / piece.len()).as_bytes());
        run(format!("Ops {}", piece.repeat(100_000 / piece.len())).as_bytes());
        for section in sections {
            run(format!("{start}{section}{}", piece.repeat(300_000 / piece.len())).as_bytes());
        }
    }
}

#[test]
fn size_is_no_harm() {
    let nested =
        |operator: &str, depth: usize| format!("{}a{}", format!("{operator}(b, ").repeat(depth), ")".repeat(depth));
    let wide = (1..200).fold("a".to_owned(), |tree, _| format!("par({tree}, b)"));
    let start = "Ops seq:2 par:2 idle:0 a:0 b:0\nActs c\nSPAD\na -> b : c!\nb -> a : c?\nb -> idle : Tau\na -> seq(a, a) : Tau\n";
    let bad = "Automaton bad States s e Final States e Transitions a -> s b -> e seq(s, s) -> s seq(s, e) -> e
        seq(e, s) -> e seq(e, e) -> e par(s, s) -> s par(s, e) -> e par(e, s) -> e par(e, e) -> e";
    assert!(run(format!("{start}Set init {} {bad}", nested("seq", 4_000)).as_bytes()));
    assert!(!run(format!("{start}Set init {} {bad}", nested("seq", 40_000)).as_bytes()));
    assert!(run(format!("{start}Set init {} {bad}", nested("par", 60)).as_bytes()));
    run(format!("{start}Set init {wide} {bad}").as_bytes());
    run(format!("{start}Set init {wide} Set bad {}", nested("par", 100)).as_bytes());
    let comb = |count: usize| (1..count).fold("a".to_owned(), |tree, _| format!("par(b, {tree})"));
    run(format!("{start}Set init {} Set bad {}", comb(40), comb(20)).as_bytes());
    let rng = &mut Rng::with_seed(0xb16);
    let states = 40;
    let mut state = || format!("q{}", rng.usize(..states));
    let names: String = (0..states).map(|number| format!("q{number} ")).collect();
    let random: String = (0..3_000)
        .map(|number| match number {
            0..100 => format!("a -> {}\nb -> {}\nidle -> {}\n", state(), state(), state()),
            _ => format!("par({}, {}) -> {}\n", state(), state(), state()),
        })
        .collect();
    let bad = format!("Automaton bad States {names} Final States q0 q1 Transitions {random}");
    run(format!("{start}Set init {} {bad}", nested("par", 20)).as_bytes());

    let states = 300;
    let names: String = (0..states).map(|number| format!("q{number} ")).collect();
    for idle in [0, 30] {
        let mut state = || format!("q{}", rng.usize(..states));
        let leaves: String = (0..300).map(|_| format!("a -> {}\nb -> {}\n", state(), state())).collect();
        let idle: String = (0..idle).map(|_| format!("idle -> {}\n", state())).collect();
        let both: String =
            (0..15_000).map(|_| format!("par(q1, {}) -> {}\nseq({1}, {0}) -> {0}\n", state(), state())).collect();
        let bad = format!("Automaton bad States {names} Final States q0 q1 Transitions {leaves}{idle}{both}");
        run(format!("{start}Set init {} {bad}", nested("par", 20)).as_bytes());
        run(format!("{start}{} Set bad a", bad.replace("Automaton bad", "Automaton init")).as_bytes());
    }
    let chain: String = (0..9_000).map(|number| format!("seq(q0, q{number}) -> q{}\n", number + 1)).collect();
    let names: String = (0..=9_000).map(|number| format!("q{number} ")).collect();
    for last in [4_000, 9_000] {
        let init = format!("Automaton init States {names} Final States q{last} Transitions a -> q0 {chain}");
        run(format!("{start}{init} Set bad a").as_bytes());
    }
    let terms: String =
        (0..5_000).map(|number| format!("par(par({0}, {0}), par({0}, {0}))\n", nested("seq", number % 50))).collect();
    run(format!("{start}Set init par(par(seq(a, b), a), par(a, a)) Set bad {terms}").as_bytes());
    let acts: String = (0..2_000).map(|number| format!("c{number} ")).collect();
    let rules: String = (0..2_000).map(|number| format!("a -> b : c{number}!\nb -> a : c{number}?\n")).collect();
    for threads in [5, 60, 200] {
        let init = (1..threads).fold("a".to_owned(), |tree, _| format!("par({tree}, b)"));
        run(format!("Ops seq:2 par:2 idle:0 a:0 b:0 Acts {acts} SPAD\n{rules} Set init {init} Set bad {init}")
            .as_bytes());
    }
}
