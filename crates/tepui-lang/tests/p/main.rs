//! Reading P: what is refused and where, and that nothing does harm.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use fastrand::Rng;
use tepui_lang::diagnostic::{Diagnostic, LIMIT, Severity};
use tepui_lang::p::{Dialect, Options, Parsed, read};
use tepui_lang::source::Source;
use tepui_model::queue::run::Choices;
use tepui_model::queue::state::Happens;

const EVERYTHING: &str = include_str!("everything.p");
const OLD: &str = include_str!("old.p");

fn parse(text: &str, dialect: Option<Dialect>) -> Result<Parsed, Vec<Diagnostic>> {
    read(&[Source::new("x.p", text.as_bytes())], Options { dialect, ..Options::default() })
}

#[test]
fn everything_is_read() {
    let parsed = parse(EVERYTHING, None).unwrap();
    assert_eq!(parsed.dialect, Dialect::Today);
    let names: Vec<_> = parsed.tests.iter().map(|test| test.name.as_str()).collect();
    let many = ["many___pCount_1__pLoud_true", "many___pCount_neg2__pLoud_true", "many___pCount_1__pLoud_false"];
    assert_eq!(names, [&["plain", "checked"][..], &many].concat());
    let parsed = parse(OLD, None).unwrap();
    assert_eq!((parsed.dialect, parsed.tests.len()), (Dialect::Old, 1));
}

#[test]
fn dialects_are_told_apart() {
    let messages = |text: &str, dialect| -> String {
        let errors = parse(text, dialect).unwrap_err();
        errors.iter().map(|error| format!("{} {}; ", error.message, error.hint.clone().unwrap_or_default())).collect()
    };
    let today = messages(OLD, Some(Dialect::Today));
    assert!(today.contains("`push` is not in today's dialect") && today.contains("--dialect old"), "{today}");
    let old = messages(EVERYTHING, Some(Dialect::Old));
    assert!(old.contains("`foreach` is not in the old dialect") && old.contains("--dialect today"), "{old}");
    let mixed = messages(&OLD.replace("if ($)", "if (choose())"), None);
    assert!(mixed.contains("makes it a project in the old dialect"), "{mixed}");
}

/// A line of a machine, and what is wrong with it.
const WRONG: &[(&str, &str)] = &[
    ("var x: nothing; start state S { }", "there is no type `nothing`"),
    ("state S { }", "there is no start state"),
    ("start state S { } start state T { }", "two start states"),
    ("start state S { on E goto T; }", "there is no state `T`"),
    ("start state S { on F do { } }", "there is no event `F`"),
    ("start state S { on E do f; }", "there is no function `f`"),
    ("start state S { on E do Global; }", "belongs to no machine"),
    ("start state S { defer E; ignore E; }", "the state does two things with `E`"),
    ("start state S { entry { x = 1; } }", "there is no variable `x`"),
    ("start state S { entry { 1 = 2; } }", "nothing that can be changed"),
    ("start state S { entry { break; } }", "outside of a loop"),
    ("start state S { entry { send this, E, 1; } }", "expected null, found int"),
    ("start state S { entry { send this, N; } }", "a payload of type int is expected"),
    ("start state S { entry { send 1, E; } }", "expected a machine, found int"),
    ("start state S { entry { raise null; } }", "`null` is no event"),
    ("start state S { exit { raise E; } }", "an exit function may not leave the state"),
    ("start state S { exit (x: int) { } }", "an exit function has no parameter"),
    ("start state S { on E goto S with { goto S; } }", "a transition function may not leave the state"),
    ("start state S { on N do (x: bool) { } }", "this event carries int, and bool is taken here"),
    ("start state S { entry { assert 1; } }", "expected bool, found int"),
    ("start state S { entry { assert \"a\" % \"b\" == \"\"; } }", "not for string and string"),
    ("start state S { entry { print format(\"{x}\"); } }", "a placeholder is a number"),
    ("start state S { entry { print format(\"{0}\"); } }", "a placeholder is a number"),
    ("start state S { entry { if (choose(10001) > 2) { } } }", "more than 10000"),
    ("start state S { entry { assert 99999999999 > 0; } }", "32 bits"),
    ("fun f(): int { if ($) { return 1; } } start state S { }", "without `return`"),
    ("fun f(): int { return true; } start state S { }", "expected int, found bool"),
    ("fun f() { return 1; } start state S { }", "returns nothing"),
    ("fun f(): int { raise E; } start state S { }", "may not leave the state"),
    ("var t: (int, bool); start state S { entry { t.2 = 1; } }", "there are 2 items"),
    ("var t: (a: int, b: bool); start state S { entry { t = (b = true, a = 1); } }", "expected (a: int, b: bool)"),
    ("var t: (a: int); start state S { entry { t.c = 1; } }", "there is no field `c`"),
    ("var x: int, x: bool; start state S { }", "expected `;`"),
    ("var x, x: int; start state S { }", "declared twice"),
    ("start state S { entry { receive { case E: { } case E: { } } } }", "two cases for `E`"),
    ("start state S { entry { foreach (i in 3) { } } }", "expected a collection"),
    ("start state S { entry { new Watch(); } }", "a spec is not created"),
    ("start state S { hot state T { } }", "expected `entry`"),
    ("start hot state S { }", "only states of specs"),
    ("start state S { entry { goto T; } } state T { entry (x: int) { } }", "a payload of type int is expected"),
];

#[test]
fn what_is_wrong_is_named() {
    for (line, expected) in WRONG {
        let text = format!(
            "event E; event N: int; fun Global() {{ }}\nspec Watch observes E {{ start state S {{ }} }}\n\
             machine Main {{\n{line}\n}}"
        );
        let errors = parse(&text, Some(Dialect::Today)).err().unwrap_or_default();
        let found = errors.iter().any(|error| {
            let line = text[..error.span.start].matches('\n').count() + 1;
            error.message.contains(expected) && (line == 4 || line == 3)
        });
        assert!(found, "{line}\nexpected {expected}, found {errors:#?}");
    }
}

#[test]
fn specs_only_look() {
    for line in ["send null as machine, E;", "new Main();", "receive { case E: { } }", "announce E;", "Global();"] {
        let text = format!(
            "event E; fun Global() {{ if ($) {{ }} }}\nmachine Main {{ start state S {{ }} }}\n\
             spec Watch observes E {{ start state S {{ entry {{ {line} }} }} }}"
        );
        let errors = parse(&text, Some(Dialect::Today)).unwrap_err();
        assert!(errors.iter().any(|error| error.message.contains("a spec does not")), "{line}: {errors:?}");
    }
}

const PIECES: &[&str] = &[
    "event",
    "machine",
    "state",
    "start",
    "entry",
    "on",
    "do",
    "goto",
    "send",
    "raise",
    "receive",
    "case",
    "null",
    "halt",
    "this",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".",
    "0",
    "7",
    "=",
    "==",
    "+=",
    "-=",
    "$",
    "$$",
    "choose(",
    "format(\"{0}\", ",
    "seq[",
    "map[",
    "int",
    "any",
    "default(",
    "as",
    "to",
    "in",
    "var",
    "fun",
    "return",
    "test",
    "spec",
    "assert",
    "\"",
    "/*",
    "*/",
    "//",
    "->",
    "\u{0}",
    "é",
    "Client",
    "eGo",
    "pair",
    "list",
    "total",
    "pop",
];

fn mutate(rng: &mut Rng, text: &mut String) {
    let boundary = |at: usize| (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let (from, to) = (boundary(rng.usize(..=text.len())), boundary(rng.usize(..=text.len())));
    let (from, to) = (from.min(to), boundary(from.max(to).min(from.min(to) + rng.usize(..20))));
    let (from, to) = (from.min(to), from.max(to));
    let piece = PIECES[rng.usize(..PIECES.len())];
    match rng.u8(..4) {
        0 => text.replace_range(from..to, ""),
        1 => text.replace_range(from..to, piece),
        2 => text.insert_str(from, &format!(" {piece} ")),
        _ => {
            let copied = text[from..to].to_owned();
            let at = boundary(rng.usize(..=text.len()));
            text.insert_str(at, &copied);
        }
    }
}

/// Nothing that is said is about a place that there is not, and what is read can be executed.
fn judge(text: &str) -> bool {
    let result = parse(text, None);
    let said = match &result {
        Ok(parsed) => &parsed.warnings,
        Err(errors) => errors,
    };
    assert!(said.len() <= LIMIT + 1, "{}", said.len());
    for one in said {
        assert!(text.get(one.span.clone()).is_some() && !one.message.is_empty(), "{one:?}");
    }
    match &result {
        Ok(parsed) => parsed.tests.iter().take(2).for_each(|test| execute(&test.program)),
        Err(errors) => assert!(errors.iter().any(|error| error.severity == Severity::Error)),
    }
    result.is_ok()
}

/// Takes a few steps, the first that there are.
fn execute(program: &tepui_model::queue::Program) {
    let Ok(mut state) = program.initial(&mut Choices::default()) else { return };
    for round in 0..30 {
        let count = state.machines.len();
        let steps = (0..count).flat_map(|machine| program.steps(&state, (machine + round) % count, 3)).take(40);
        let next =
            steps.filter_map(|step| if let Happens::State(state) = step.result { Some(state) } else { None }).last();
        let Some(next) = next else { return };
        state = next;
    }
}

#[test]
fn damaged_texts_do_no_harm() {
    let rng = &mut Rng::with_seed(0x9);
    let (mut accepted, runs) = (0, 10_000);
    for _ in 0..runs {
        let mut text = if rng.u8(..4) == 0 { OLD } else { EVERYTHING }.to_owned();
        for _ in 0..rng.usize(1..4) {
            mutate(rng, &mut text);
        }
        let outcome = std::panic::catch_unwind(|| judge(&text));
        accepted += usize::from(outcome.unwrap_or_else(|_| panic!("this text does harm:\n{text}")));
    }
    assert!(accepted > runs / 50 && accepted < runs, "{accepted} of {runs} were accepted: the damage is of no use");
}

#[test]
fn length_and_depth_do_no_harm() {
    for piece in PIECES {
        judge(&piece.repeat(100_000 / piece.len()));
        judge(&format!("machine Main {{ start state S {{ entry {{ {} }} }} }}", format!("{piece} ").repeat(20_000)));
    }
    for (open, close) in [("(", ")"), ("seq[", "]"), ("!", ""), ("{", "}"), ("if (true) ", ";"), ("x[", "]")] {
        let nested = format!("{}1{}", open.repeat(5_000), close.repeat(5_000));
        judge(&format!("machine Main {{ var x: {nested}; start state S {{ entry {{ x = {nested}; {nested} }} }} }}"));
    }
    judge(&format!("machine Main {{ start state S {{ entry {{ assert 1 {} > 0; }} }} }}", "+ 1".repeat(100_000)));
    judge("type A = B; type B = seq[A]; machine Main { var a: A; start state S { } }");
    judge("module a = b; module b = a; test t [main=Main]: a; machine Main { start state S { } }");
}
