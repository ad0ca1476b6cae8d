//! The form with names: what is understood and what is refused.

use tepui_lang::pushdown::Parsed;
use tepui_model::pushdown::{Names, Symbol};

use crate::{Texts, lines};

const MODEL: &str = "\
# two workers
shared idle, busy done
thread worker * 2 {
  stack main loop ret
  idle main -> busy loop   # overwrite
  busy loop -> busy main ret
  busy ret -> idle -
  idle - -> busy main
  idle - -> busy -
}
thread boss {
  done a -> idle b
}
init idle | main * 2, b.a
never both: busy | loop, loop, * or done | * * 3
never done | *, ret, -
";

fn read(text: &str) -> (Texts, Result<Parsed, Vec<tepui_lang::diagnostic::Diagnostic>>) {
    let texts = Texts::new(text.as_bytes(), None, None, None);
    let result = texts.cpds();
    (texts, result)
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let (texts, result) = read(text);
    let said = texts.said(&result);
    assert_eq!(said, lines(expected), "\n{}\n", said.join("\n"));
}

/// One thread `t` over the shared states `idle` and `busy`, with given lines in its block.
#[track_caller]
fn check_block(block: &str, expected: &str) {
    check(&format!("shared idle busy\nthread t {{\n{block}\nidle main -> idle main }}\ninit idle | main\n"), expected);
}

/// The thread `t`, with given statements after it.
#[track_caller]
fn check_statements(statements: &str, expected: &str) {
    check(&format!("shared idle busy\nthread t * 2 {{\nidle main -> idle main\n}}\n{statements}"), expected);
}

/// The threads' symbols, and the properties.
fn summary(text: &str) -> (Vec<String>, Vec<String>) {
    let model = read(text).1.unwrap().model;
    let threads = model.threads().iter().map(|thread| format!("{}: {}", thread.name, thread.symbols.join(" ")));
    let properties = model.properties().iter().map(|property| {
        let patterns: Vec<_> = property.never.iter().map(|pattern| model.display_pattern(pattern)).collect();
        format!("{}: {}", property.name, patterns.join(" or "))
    });
    (threads.collect(), properties.collect())
}

#[test]
fn a_model_is_understood() {
    check(MODEL, "main 12:3 no rule enters shared state `done`, so this rule never fires | a slip of the pen?");
    let model = read(MODEL).1.unwrap().model;
    assert_eq!(*model.shared(), Names::List(["idle", "busy", "done"].map(str::to_owned).into()));
    assert_eq!(model.display_state(model.init()), "idle|main,main,b.a");
    let rules: Vec<_> = model.threads()[1].rules.iter().map(|rule| (rule.line, model.display_rule(1, rule))).collect();
    let expected = [
        (5, "idle main -> busy loop"),
        (6, "busy loop -> busy main ret"),
        (7, "busy ret -> idle -"),
        (8, "idle - -> busy main"),
        (9, "idle - -> busy -"),
    ];
    assert_eq!(rules, expected.map(|(line, rule)| (line, rule.to_owned())));
    let (threads, properties) = summary(MODEL);
    assert_eq!(threads, ["worker#1: main loop ret", "worker#2: main loop ret", "boss: a b"]);
    assert_eq!(properties, ["both: busy|loop,loop,* or done|*,*,*", "never-2: done|*,ret,-"]);
}

#[test]
fn symbols_are_numbered_by_occurrence() {
    let text = "thread t{\n q c -> q b a }\nthread u {}\nshared q\ninit q | x.c, y.x\nnever q | w, c";
    assert_eq!(summary(text).0, ["t: c b a x w", "u: y x c"]);
    let text = "shared q\nthread t * 3..4 {\n stack a,b c d\n q c -> q -\n}\ninit q | d, a.b";
    assert_eq!(summary(text).0, ["t#3: c d", "t#4: a b c"]);
}

#[test]
fn keywords_are_ordinary_words_elsewhere() {
    let text = "shared shared thread init never stack or
        thread thread {
          stack stack or
          stack stack -> init or
          init or -> never stack or
          shared - -> thread stack
        }
        init init | or
        never or | or or or | stack.or
        never or: or | -
        never-x: or | stack";
    let fixed = text.replace("never-x:", "never never-1-x:");
    assert_eq!(summary(&fixed).1, ["never-1: or|or or or|or", "or: or|-", "never-1-x: or|stack"]);
}

#[test]
fn ranges_of_shared_states() {
    let shared = |line: &str| {
        let text = format!("shared {line}\nthread t {{}}\ninit 2 | -");
        read(&text).1.map(|parsed| parsed.model.shared().clone()).ok()
    };
    let list = |names: &[&str]| Some(Names::List(names.iter().map(|&name| name.to_owned()).collect()));
    assert_eq!(shared("0..128"), Some(Names::Numbers(129)));
    assert_eq!(shared("0..4294967294"), Some(Names::Numbers(u32::MAX)));
    assert_eq!(shared("0 .. 2, x"), list(&["0", "1", "2", "x"]));
    assert_eq!(shared("2..3"), list(&["2", "3"]));
    assert_eq!(shared("0 1 2"), list(&["0", "1", "2"]));
    assert_eq!(shared("0..4294967295"), None);
}

#[test]
fn other_sources_replace_statements() {
    let replaced = |text: &str, init: &str, targets: &str| {
        let texts = Texts::new(text.as_bytes(), Some(init.as_bytes()), Some(targets.as_bytes()), None);
        let result = texts.cpds();
        (texts.said(&result), result.map(|parsed| parsed.model))
    };
    let (said, model) = replaced(MODEL, "done | -, ret.main, a", "busy|main,*,*\n\n*|-,-,-");
    let model = model.unwrap();
    assert_eq!((said, model.display_state(model.init())), (vec![], "done|-,ret.main,a".to_owned()));
    let names: Vec<_> = model.properties().iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["target-1", "target-2"]);
    let without = MODEL.replace("init idle | main * 2, b.a\n", "");
    assert!(replaced(&without, "idle|main,main,a", "*|-,-,-").1.is_ok());
    let (said, _) = replaced(&without, "idel|mian,main,a", "*|-,-");
    let expected = "init 1:1 unknown shared state `idel` | not declared | did you mean `idle`?
        init 1:6 unknown symbol `mian` | not in the `stack` line | did you mean `main`?
        targets 1:1 expected 3 stacks, found 2 | one stack for each thread | the threads are worker#1, worker#2, boss";
    assert_eq!(said, lines(expected));
}

#[test]
fn matching_goes_by_names() {
    let pairs = b"PDA\nmain ret\nPDA one two\nloop -\nPDA\na Pb\n";
    let texts = Texts::new(MODEL.replace("b.a", "Pb.a").as_bytes(), None, None, Some(pairs));
    let matching = texts.cpds().unwrap().matching.unwrap();
    let threads = [vec![(Symbol(1), Symbol(3))], vec![], vec![(Symbol(1), Symbol(3))]];
    assert_eq!(matching.0, threads);
}

#[test]
fn the_frame_of_a_file() {
    check("# nothing\n", "main 1:1 the file is empty | a model needs `shared`, at least one `thread`, and `init`");
    let shared = "main 1:1 no shared states | declare them by a line such as `shared idle busy` or `shared 0..3`";
    let thread = "main 1:1 no thread | a thread is written `thread name {`, rules line by line, `}`";
    let init = "main 1:1 no initial state | add a line such as `init idle | main, -`, or name a file with `--init`";
    check("shared q\n", &format!("{thread}\n{init}"));
    check("thread t {}\n", &format!("{shared}\n{init}"));
    check("init q | -\n", &format!("{shared}\n{thread}"));
    check_statements("init idle | -, -\ninit idle | -, -\n", "main 6:1 the initial state is given twice | again here");
    check_statements("init idle | -, -\nshared q\n", "main 6:1 the shared states are declared twice | again here");
    check_statements(
        "init idle | -, -\nnver idle | -, -\n",
        "main 6:1 unknown statement `nver` | expected `shared`, `thread`, `init` or `never` | did you mean `never`?",
    );
    check_statements(
        "init idle | -, -\nidle a -> idle b\n",
        "main 6:1 unknown statement `idle` | expected `shared`, `thread`, `init` or `never` | rules stand inside a block `thread name {` ... `}`",
    );
    check_statements("init idle | -, -\n}\n", "main 6:1 `}` without a block | nothing to close here");
    check_statements("init idle | -, -\n%\n", "main 6:1 unexpected character `%` | not part of any word or mark");
}

#[test]
fn shared_states() {
    let shared = |line: &str, expected: &str| check(&format!("{line}\nthread t {{}}\ninit q | -"), expected);
    shared("shared", "main 1:7 expected a shared state | the line ends before a shared state");
    shared("shared q, p q", "main 1:13 shared state `q` is declared twice | again here");
    shared("shared q, 2..3 3", "main 1:16 shared state `3` is declared twice | again here");
    shared("shared q,", "main 1:10 expected a name after `,` | the line ends before a name after `,`");
    shared("shared q -", "main 1:10 expected a name, found `-` | unexpected");
    shared("shared 3..1", "main 1:8 the range 3..1 is empty | the first is larger than the last");
    shared("shared 0..", "main 1:11 expected the last number | the line ends before the last number");
    shared("shared 0..x", "main 1:11 expected a number, found `x` | not a number");
    shared("shared 0..4294967295", "main 1:11 too many shared states | at most 4294967294");
    shared("shared 0..9999999999", "main 1:11 the number `9999999999` is too large | at most 4294967295");
    shared(
        "shared 1..4000000000",
        "main 1:8 ranges of more than 65536 shared states | too many to be named one by one | a single range that starts at 0 may be larger",
    );
    shared("shared 0..3", "main 3:6 unknown shared state `q` | the shared states are 0 to 3");
    shared("shared qq", "main 3:6 unknown shared state `q` | not declared");
}

#[test]
fn headers_of_threads() {
    let thread = |header: &str, expected: &str| {
        check(&format!("shared q\nthread t {{}}\nthread {header}\n q a -> q -\n}}\ninit q | - * 3"), expected);
    };
    let hint = "a thread is written `thread name {`, rules line by line, `}`";
    let dead = "main 4:4 nothing puts on the stack the symbol `a`, so this rule never fires | a slip of the pen?";
    thread("u * 2 {", dead);
    thread("", "main 3:7 expected the name of the thread | the line ends before the name of the thread");
    thread("{", "main 3:8 expected the name of the thread, found `{` | unexpected");
    thread("u * 2", &format!("main 3:13 expected `{{` | the line ends before `{{` | {hint}"));
    thread("u 2 {", &format!("main 3:10 expected `{{`, found `2` | unexpected | {hint}"));
    thread("u * {", "main 3:12 expected a number of threads, found `{` | unexpected");
    thread("u * 0 {", "main 3:12 repeated 0 times | at least 1");
    thread("u * 2..1 {", "main 3:12 the range 2..1 is empty | the first is larger than the last");
    thread("u * 4000000000 {", "main 3:8 more than 65535 threads | 4000000000 more here");
    thread("t {", "main 3:8 two threads are named `t` | again here");
    thread("u * 1..2 {", dead);
    thread("u * x {", "main 3:12 expected a number, found `x` | not a number");
}

#[test]
fn blocks() {
    check_block("idle main -> busy b", "");
    check_block(
        "idel a -> busyy -",
        "main 3:1 unknown shared state `idel` | not declared | did you mean `idle`?\nmain 3:11 unknown shared state `busyy` | not declared | did you mean `busy`?",
    );
    check_block(
        "stack main rest\nidle main -> idle mian ret",
        "main 4:19 unknown symbol `mian` | not in the `stack` line | did you mean `main`?\nmain 4:24 unknown symbol `ret` | not in the `stack` line | did you mean `rest`?",
    );
    check_block("stack main main", "main 3:12 symbol `main` is declared twice | again here");
    check_block("stack main\nstack main", "main 4:1 the symbols are declared twice | again here");
    check_block("stack 1..3", "main 3:7 a range of symbols | only shared states come in ranges");
    check_block("stack main extra", "main 3:12 symbol `extra` is never used | left out of the model");
    check_block("stak main", "main 3:10 expected `->` | the line ends before `->` | did you mean `stack`?");
    check_block(
        "idle main busy -",
        "main 3:11 expected `->`, found `busy` | unexpected | a rule is written `q a -> p b`",
    );
    check_block(
        "idle main -> busy",
        "main 3:18 the rule has no right-hand symbol | expected a symbol or `-` | a pop is written `idle main -> busy -`",
    );
    check_block(
        "idle - -> busy a b",
        "main 3:18 two symbols on the empty stack | one too many | a rule on the empty stack pushes one symbol: `q - -> p b`",
    );
    check_block(
        "idle a -> busy b -",
        "main 3:18 `-` beneath a symbol | nothing to push here | without `-` the rule replaces the top by `b`",
    );
    check_block("idle main -> idle main", "main 4:1 thread `t` states a rule twice | the same as line 3");
    check_block("idle % main", "main 3:6 unexpected character `%` | not part of any word or mark");
    check(
        "shared q\nthread t { q a -> q b\nq b -> q - } x\ninit q | a",
        "main 3:14 unexpected `x` after the end of the statement | nothing may follow here",
    );
    check(
        "shared q\nthread t {\nq a -> q b\ninit q | a\n",
        "main 2:10 the block of thread `t` is not closed | opened here | a block ends with `}`",
    );
    check(
        "shared q\ninit q | a\nthread t {\nq a -> q b\n",
        "main 3:10 the block of thread `t` is not closed | opened here | a block ends with `}`",
    );
}

#[test]
fn states_and_properties() {
    check_statements(
        "init idle | main",
        "main 5:6 expected 2 stacks, found 1 | one stack for each thread | the threads are t#1, t#2",
    );
    check_statements(
        "init idle | main * 3",
        "main 5:6 expected 2 stacks, found 3 | one stack for each thread | the threads are t#1, t#2",
    );
    check_statements(
        "init idle | main, *",
        "main 5:19 an initial state leaves nothing open | `*` is for properties | the empty stack is written `-`",
    );
    check_statements(
        "init idle | mian * 2",
        "main 5:13 no rule of thread `t#1` mentions symbol `mian` | a slip of the pen? | did you mean `main`?",
    );
    let init = "init idle | - * 2\n";
    check_statements(
        &format!("{init}never bsy | *, *"),
        "main 6:7 unknown shared state `bsy` | not declared | did you mean `busy`?",
    );
    check_statements(
        &format!("{init}never a: busy | *, *\nnever a: * | -, -"),
        "main 7:7 two properties are named `a` | again here",
    );
    check_statements(
        &format!("{init}never never-2: busy | *, *\nnever * | -, -"),
        "main 7:1 two properties are named `never-2` | again here",
    );
    check_statements(
        &format!("{init}never a b: busy | *, *"),
        "main 6:9 expected `|` after the shared state, found `b` | unexpected",
    );
    check_statements(
        &format!("{init}never a:"),
        "main 6:9 expected a shared state | the line ends before a shared state",
    );
    check_statements(
        &format!("{init}never busy | * * *"),
        "main 6:18 expected a number of threads, found `*` | unexpected",
    );
    check_statements(
        &format!("{init}never busy | *, main or | -"),
        "main 6:25 expected a shared state, found `|` | unexpected",
    );
}

#[test]
fn a_repeated_entry_is_judged_for_each_block() {
    let text = "shared q\nthread t * 2 {\nstack a\nq a -> q -\n}\nthread u * 2 {\nstack b\nq b -> q -\n}\n";
    let unknown = |place: &str, name: &str| format!("main {place} unknown symbol `{name}` | not in the `stack` line");
    check(&format!("{text}init q | a * 4"), &unknown("10:10", "a"));
    check(
        &format!("{text}init q | - * 4\nnever q | b * 4 or q | *, b.a, *, *"),
        &[unknown("11:11", "b"), unknown("11:27", "b")].join("\n"),
    );
    check(&format!("{text}init q | a * 2, b * 2"), "");
}

#[test]
fn repetition_is_bounded() {
    let rules = "q a -> q a\n".repeat(100);
    let text = format!("shared q\nthread t * 65535 {{\n{rules}}}\ninit q | a * 65535");
    check(&text, "main 2:8 repetition makes the model too large | no room for so many copies");
    let deep = ["a"; 100].join(".");
    let text = format!("shared q\nthread t * 65535 {{\nq a -> q a\n}}\ninit q | {deep} * 65535");
    check(&text, "main 5:6 repetition makes the model too large | no room for so many copies");
    let text = "shared q\nthread t * 65535 {\nq a -> q a\n}\ninit q | a * 65535\nnever * | a * 65534, -";
    check(text, "");
    let text = "shared q\nthread t * 65000 {}\nthread u * 536 {}\ninit q | -";
    check(text, "main 3:8 more than 65535 threads | 536 more here");
}

#[test]
fn a_rule_names_one_shared_state() {
    let hint = "unexpected | a rule names one shared state: write one rule for each";
    check_block("* main -> idle -", &format!("main 3:1 expected a shared state, found `*` | {hint}"));
    check_block("idle main -> * -", &format!("main 3:14 expected a shared state, found `*` | {hint}"));
}

#[test]
fn rules_that_never_fire() {
    check_block(
        "idle main -> busy loop\nbusy lop -> idle -",
        "main 4:6 nothing puts on the stack the symbol `lop`, so this rule never fires | a slip of the pen? | did you mean `loop`?",
    );
    check_block("busy main -> idle -\nbusy main -> busy -", "");
    check_block(
        "busy main -> idle -",
        "main 3:1 no rule enters shared state `busy`, so this rule never fires | a slip of the pen?",
    );
    check_block("idle main -> idle a b\nidle a -> idle -\nidle b -> idle -", "");
}

#[test]
fn patterns_speak_of_tops() {
    check_statements(
        "init idle | main * 2\nnever deep: idle | main.main, *",
        "main 6:25 only the top `main` of this stack is looked at | a property speaks of tops",
    );
}
