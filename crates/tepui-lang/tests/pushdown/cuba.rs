//! The numeric form: what is understood and what is refused.

use tepui_model::pushdown::{Action, Names, Shared, Symbol};

use crate::{Texts, lines};

const PDS: &str = "2\nPDA 1 3\n0 1 -> 1 2\n1 2 -> 0 -\n0 3 -> 0 3\nPDA 1 1\n0 1 -> 1 1\n";

/// Reads texts (empty: not given) and compares what is said.
#[track_caller]
fn check(pds: &str, init: &str, targets: &str, matching: &str, expected: &str) {
    let optional = |text: &str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
    let [init, targets, matching] = [init, targets, matching].map(optional);
    let texts = Texts::new(pds.as_bytes(), init.as_deref(), targets.as_deref(), matching.as_deref());
    let result = texts.cuba();
    let said = texts.said(&result);
    assert_eq!(said, lines(expected), "\n{}\n", said.join("\n"));
}

/// A thread with one rule on line 3, under two shared states.
#[track_caller]
fn check_rule(rule: &str, expected: &str) {
    check(&format!("2\nPDA\n{rule}\n1 7 -> 1 7\n"), "0|7", "", "", expected);
}

#[test]
fn a_model_is_understood() {
    let pds = "# opening\r\n\r\n3 # shared\r\nPDA 2 900\n0 900 -> 1 7\n1\t007->2 5 900 # push\n2 5 -> 0 -\r\nPDA\n0 - -> 1 4\n1 - -> 0 -";
    let texts = Texts::new(pds.as_bytes(), Some(b"0|5.900,-\n"), Some(b"2|5.7,*\n\n*|*,4 or 1|900,-"), None);
    let parsed = texts.cuba().unwrap();
    let model = &parsed.model;
    assert_eq!(texts.said(&Ok(parsed.clone())), [] as [&str; 0]);
    assert_eq!(*model.shared(), Names::Numbers(3));
    let names: Vec<_> = model.threads().iter().map(|thread| (thread.name.as_str(), thread.symbols.join(" "))).collect();
    assert_eq!(names, [("T1", "5 7 900".to_owned()), ("T2", "4".to_owned())]);
    let shown: Vec<_> = (model.threads().iter().enumerate())
        .flat_map(|(number, thread)| thread.rules.iter().map(move |rule| (rule.line, model.display_rule(number, rule))))
        .collect();
    let expected =
        [(5, "0 900 -> 1 7"), (6, "1 7 -> 2 5 900"), (7, "2 5 -> 0 -"), (9, "0 - -> 1 4"), (10, "1 - -> 0 -")];
    assert_eq!(shown, expected.map(|(line, rule)| (line, rule.to_owned())));
    let push = Action::Push { top: Symbol(1), below: Symbol(3) };
    assert_eq!(model.threads()[0].rules[1].action, push);
    assert_eq!(model.threads()[1].rules[0].action, Action::Push { top: Symbol(1), below: Symbol::BOTTOM });
    assert_eq!(model.threads()[1].rules[1].action, Action::Overwrite(Symbol::BOTTOM));
    assert_eq!((model.init().shared, model.display_state(model.init())), (Shared(0), "0|5.900,-".to_owned()));
    let properties: Vec<_> = (model.properties().iter())
        .map(|property| {
            let patterns: Vec<_> = property.never.iter().map(|pattern| model.display_pattern(pattern)).collect();
            (property.name.as_str(), patterns.join(" "))
        })
        .collect();
    assert_eq!(properties, [("target-1", "2|7,*".to_owned()), ("target-2", "*|*,4 1|900,-".to_owned())]);
}

#[test]
fn a_single_target_has_a_plain_name() {
    let texts = Texts::new(PDS.as_bytes(), Some(b"0|1,1"), Some(b"# why\n1|2 , -\n"), None);
    assert_eq!(texts.cuba().unwrap().model.properties()[0].name, "target");
    let texts = Texts::new(PDS.as_bytes(), Some(b"0|1,1"), None, None);
    assert_eq!(texts.cuba().unwrap().model.properties(), []);
}

#[test]
fn matching_is_understood() {
    let texts = Texts::new(PDS.as_bytes(), Some(b"0|1,1"), None, Some(b"PDA 1\n2 3\n2 -\nProcess two\n1 1\n"));
    let matching = texts.cuba().unwrap().matching.unwrap();
    assert_eq!(matching.0, [vec![(Symbol(2), Symbol(3))], vec![(Symbol(1), Symbol(1))]]);
}

#[test]
fn large_numbers_cost_nothing() {
    let texts = Texts::new(b"4294967295\nPDA 0 4294967295\n4294967294 4294967295 -> 0 0", Some(b"0|0"), None, None);
    let model = texts.cuba().unwrap().model;
    assert_eq!((model.shared().count(), model.threads()[0].symbols.len()), (u32::MAX, 2));
}

#[test]
fn the_frame_of_a_file() {
    let hint = "the first line gives the number of shared states";
    check("", "0|1", "", "", &format!("main 1:1 the file is empty | {hint}"));
    check("# nothing\n\n", "0|1", "", "", &format!("main 1:1 the file is empty | {hint}"));
    check("4\n", "0|1", "", "", "main 2:1 no thread | a thread starts with a line `PDA`, its rules follow");
    let missing = "the number of shared states is missing | expected a number alone on its line";
    check("\nPDA 1 2\n0 1 -> 0 1\n", "0|1", "", "", &format!("main 2:1 {missing} | {hint}, such as `4`"));
    check(
        "0 1 -> 0 1\n0 1 -> 0 1\nPDA\n",
        "0|1",
        "",
        "",
        &format!(
            "main 1:1 {missing} | {hint}, such as `4`
             main 1:1 a rule before the first thread | which thread is meant? | a thread starts with a line `PDA`, its rules follow"
        ),
    );
    check(
        "2\n0 1 -> 0 1\n0 1 ->\n",
        "0|1",
        "",
        "",
        "main 2:1 a rule before the first thread | which thread is meant? | a thread starts with a line `PDA`, its rules follow",
    );
    check("0\nPDA\n", "0|-", "", "", "main 1:1 a model needs a shared state | at least 1");
    check("x\nPDA\n", "0|-", "", "", "main 1:1 expected a number, found `x` | not a number");
    check(
        "4 5\nPDA\n",
        "0|-",
        "",
        "",
        "main 1:3 unexpected `5` after the end of the statement | nothing may follow here",
    );
    check("4294967296\nPDA\n", "0|-", "", "", "main 1:1 the number `4294967296` is too large | at most 4294967295");
    check(
        "2\nPDA 1\n",
        "0|-",
        "",
        "",
        "main 2:6 expected the largest symbol | the line ends before the largest symbol",
    );
    check("2\nPDA 1 x\n", "0|-", "", "", "main 2:7 expected a number, found `x` | not a number");
    check(
        "2\nPDA 1 2 3\n",
        "0|-",
        "",
        "",
        "main 2:9 unexpected `3` after the end of the statement | nothing may follow here",
    );
    check("2\nPDA -\n", "0|-", "", "", "main 2:5 expected the least symbol, found `-` | unexpected");
    check(
        "2\nPDA\npda\n",
        "0|-",
        "",
        "",
        "main 3:1 expected a rule or `PDA`, found `pda` | unexpected | a rule is written `q a -> p b`",
    );
}

#[test]
fn rules_that_are_none() {
    check_rule(
        "0 1 -> 1",
        "main 3:9 the rule has no right-hand symbol | expected a symbol or `-` | a pop is written `0 1 -> 1 -`",
    );
    check_rule(
        "0 - -> 1",
        "main 3:9 the rule has no right-hand symbol | expected a symbol or `-` | a change of the shared state alone is written `0 - -> 1 -`",
    );
    check_rule(
        "0 1 -> 1 2 -",
        "main 3:12 `-` beneath a symbol | nothing to push here | without `-` the rule replaces the top by `2`",
    );
    check_rule(
        "0 - -> 1 2 3",
        "main 3:12 two symbols on the empty stack | one too many | a rule on the empty stack pushes one symbol: `q - -> p b`",
    );
    check_rule("0 1 -> 1 - 2", "main 3:12 unexpected `2` after the end of the statement | nothing may follow here");
    check_rule(
        "0 1 -> 1 2 3 4 5",
        "main 3:14 unexpected `4` after the end of the statement | nothing may follow here | a rule leaves at most two symbols: push more with a second rule",
    );
    check_rule("0 1 1 2", "main 3:5 expected `->`, found `1` | unexpected");
    check_rule("0 1", "main 3:4 expected `->` | the line ends before `->`");
    check_rule("0 -> 1 2", "main 3:3 expected the top of the stack, found `->` | unexpected");
    check_rule("- 1 -> 1 2", "main 3:1 expected a shared state, found `-` | unexpected");
    check_rule("0 1 -> - 2", "main 3:8 expected a shared state, found `-` | unexpected");
    check_rule("0 1 -> 1 , 2", "main 3:10 expected a symbol or `-`, found `,` | unexpected");
    check_rule("2 1 -> 1 1", "main 3:1 unknown shared state `2` | the shared states are 0 to 1");
    check_rule("0 1 -> 5 1", "main 3:8 unknown shared state `5` | the shared states are 0 to 1");
    check_rule("0 a -> 1 1", "main 3:3 expected a number, found `a` | not a number");
    check_rule("0 1 -> 1 99999999999", "main 3:10 the number `99999999999` is too large | at most 4294967295");
    check_rule("4294967296 1 -> 1 1", "main 3:1 the number `4294967296` is too large | at most 4294967295");
    check_rule(
        "0 1 → 1 1",
        "main 3:5 unexpected character `→` | not part of any word or mark | an arrow is written `->`",
    );
    check_rule("0 1 -> 1 \u{fffd}", "main 3:10 the text is not valid UTF-8 | not part of any word or mark");
    check_rule("0 1 -> 1 1 # \u{fffd} → %", "");
}

#[test]
fn one_run_reports_many_defects() {
    check(
        "2\nPDA\n0 1 ->\n0 1 -> 9 8\nPDA 5\n0 & 1\n0 1 -> 1 2 -\n",
        "7|1",
        "0|1,2,3\n0\n",
        "1 2\n",
        "main 3:7 expected a shared state | the line ends before a shared state
         main 4:8 unknown shared state `9` | the shared states are 0 to 1
         main 5:6 expected the largest symbol | the line ends before the largest symbol
         main 6:3 unexpected character `&` | not part of any word or mark
         main 7:12 `-` beneath a symbol | nothing to push here | without `-` the rule replaces the top by `2`
         init 1:1 unknown shared state `7` | the shared states are 0 to 1
         init 1:1 expected 2 stacks, found 1 | one stack for each thread | the threads are T1, T2
         targets 1:1 expected 2 stacks, found 3 | one stack for each thread | the threads are T1, T2
         targets 2:2 expected `|` after the shared state | the line ends before `|` after the shared state
         matching 1:1 a pair before the first section | which thread is meant? | open the section of the first thread with a line `PDA`",
    );
}

#[test]
fn errors_are_capped() {
    let pds = format!("2\nPDA\n{}", "0 1 ->\n".repeat(50));
    let texts = Texts::new(pds.as_bytes(), Some(b"0|1"), None, None);
    let errors = texts.cuba().unwrap_err();
    assert_eq!(errors.len(), 21);
    assert_eq!(texts.show(&errors[20]), "main 23:7 and 30 more errors | the next one is here");
}

#[test]
fn initial_states() {
    let init = |text: &str, expected: &str| check(PDS, text, "", "", expected);
    check(PDS, "", "", "", "main 1:1 no initial state | write it to `main.init`, or name its file with `--init`");
    init(
        "\n# x\n",
        "init 1:1 no initial state | the file holds nothing | a state is written `q|w1,w2,...`, with a stack for each thread",
    );
    init("0|1", "init 1:1 expected 2 stacks, found 1 | one stack for each thread | the threads are T1, T2");
    init("0|1,1,-", "init 1:1 expected 2 stacks, found 3 | one stack for each thread | the threads are T1, T2");
    init("2|1,1", "init 1:1 unknown shared state `2` | the shared states are 0 to 1");
    init("0|1,1\n0|1,1\n", "init 2:1 stray text after the initial state | only one state may be given");
    init("0|1,1 1", "init 1:7 unexpected `1` after the end of the statement | nothing may follow here");
    init("0 1,1", "init 1:3 expected `|` after the shared state, found `1` | unexpected");
    init("0|1,", "init 1:5 expected a stack | the line ends before a stack");
    init("0|1,1.", "init 1:7 expected a symbol after `.` | the line ends before a symbol after `.`");
    init("0|1,1.-", "init 1:7 expected a symbol after `.`, found `-` | unexpected");
    init(
        "*|1,1",
        "init 1:1 an initial state leaves nothing open | `*` is for properties | the empty stack is written `-`",
    );
    init(
        "0|1,*",
        "init 1:5 an initial state leaves nothing open | `*` is for properties | the empty stack is written `-`",
    );
    init("0|1 * 0,1", "init 1:7 repeated 0 times | at least 1");
    init(
        "0|1 * 4000000000",
        "init 1:1 expected 2 stacks, found 4000000000 | one stack for each thread | the threads are T1, T2",
    );
    init("0|1 * 2", "");
    init("0|1,99999999999", "init 1:5 the number `99999999999` is too large | at most 4294967295");
    init("0|99999999999 * 2", "init 1:3 the number `99999999999` is too large | at most 4294967295");
    init(
        "0|1,9.8.9",
        "init 1:5 no rule of thread `T2` mentions symbol `9` | a slip of the pen?\ninit 1:7 no rule of thread `T2` mentions symbol `8` | a slip of the pen?",
    );
}

#[test]
fn targets() {
    let target = |text: &str, expected: &str| check(PDS, "0|1,1", text, "", expected);
    target("# none\n", "targets 1:1 no target | the file holds nothing");
    target("1|2,1\n7|2,1\n", "targets 2:1 unknown shared state `7` | the shared states are 0 to 1");
    target("1|2,1,1\n", "targets 1:1 expected 2 stacks, found 3 | one stack for each thread | the threads are T1, T2");
    target(
        "1|2,1 or *|*\n",
        "targets 1:10 expected 2 stacks, found 1 | one stack for each thread | the threads are T1, T2",
    );
    target("1|2,1 or\n", "targets 1:9 expected a shared state | the line ends before a shared state");
    target("1|2,1 1|2,1\n", "targets 1:7 unexpected `1` after the end of the statement | nothing may follow here");
    target("1|2,5\n*|*,5", "targets 1:5 no rule of thread `T2` mentions symbol `5` | a slip of the pen?");
    target("1|x.2,1\n", "targets 1:3 expected a number, found `x` | not a number");
    target("* | * * 2 or 0|3.4.1,-", "");
}

#[test]
fn matching_pairs() {
    let matching = |text: &str, expected: &str| check(PDS, "0|1,1", "", text, expected);
    matching(
        "PDA\n1 2\n",
        "matching 1:1 expected 2 sections, found 1 | one section for each thread | a section opens with a line `PDA`, even if it holds no pair",
    );
    matching(
        "1 2\n1 3\nPDA\nPDA\n",
        "matching 1:1 a pair before the first section | which thread is meant? | open the section of the first thread with a line `PDA`",
    );
    matching(
        "P\n1\nP\n",
        "matching 2:2 expected the symbol that may surface | the line ends before the symbol that may surface",
    );
    matching("P\n1 2 3\nP\n", "matching 2:5 unexpected `3` after the end of the statement | nothing may follow here");
    matching("P\n- 2\nP\n", "matching 2:1 expected a symbol or `PDA`, found `-` | unexpected");
    matching("P\nx 2\nP\n", "matching 2:1 expected a number, found `x` | not a number");
    matching("P\n1 2\nP\n1 2\n", "matching 4:3 thread `T2` has no symbol `2` | the pair is left out");
}

#[test]
fn warnings() {
    check(
        "2\nPDA 1 2\n0 1 -> 1 2\n1 3 -> 0 4\nPDA 1 2\n0 0 -> 0 -\n",
        "0|1,0",
        "",
        "",
        "main 4:3 thread `T1` uses symbol 3 outside its range | declared are 1 to 2
         main 6:3 thread `T2` uses symbol 0 outside its range | declared are 1 to 2",
    );
    check(
        "2\nPDA\n0 1 -> 1 2\n0 1 -> 0 1\n0 01 -> 1 2 # again\n",
        "0|1",
        "",
        "",
        "main 5:1 thread `T1` states a rule twice | the same as line 3",
    );
    check(
        "2\nPDA\n0 1 -> 1 2\n0 1 -> 1 2\n0 1 -> 1 2\n",
        "0|1",
        "",
        "",
        "main 4:1 thread `T1` repeats 2 rules | the same as line 3",
    );
}

#[test]
fn too_many_threads() {
    let pds = format!("1\n{}", "PDA\n".repeat(70_000));
    check(&pds, "0|- * 65535", "", "", "main 65537:1 more than 65535 threads | one too many");
    let pds = format!("1\n{}", "PDA\n".repeat(65_535));
    check(&pds, "0|- * 65535", "", "", "");
    let targets = "*|* * 65535\n".repeat(65);
    let expected = "targets 64:1 repetition makes the model too large | no room for so many copies
        targets 65:1 repetition makes the model too large | no room for so many copies";
    check(&pds, "0|-* 65535", &targets, "", expected);
}
