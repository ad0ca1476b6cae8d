//! The reader and the printer of `.rpds` texts, as their users see them.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod fuzz;
mod roundtrip;

use tepui_lang::diagnostic::Diagnostic;
use tepui_lang::rendezvous::{Parsed, print_rpds, read_rpds};
use tepui_lang::source::Source;
use tepui_model::rendezvous::{Control, Model, StackSet, Symbol};

const MODEL: &str = "\
# Two who meet, and a third that shakes hands.
action meet: one, two
handshake hand
thread one {
  init p a.b
  p b -> q c b : meet
  q c -> q - : hand!
  q b -> p -
}
thread two * 2 { init p -
  p - -> p x : meet
  p x -> p - : hand?
  control p, r
}
reach end: one at q _*.b, two at p x
reach both-of-two: two at p, two at p x or one at (p|q) -
";

fn read(text: &str) -> Result<Parsed, Vec<Diagnostic>> {
    read_rpds(&Source::new("main", text.as_bytes()), None)
}

fn show(text: &str, diagnostic: &Diagnostic) -> String {
    let (line, column) = Source::new("main", text.as_bytes()).position(diagnostic.span.start);
    let parts = [Some(&diagnostic.label), diagnostic.hint.as_ref()];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty()).map(|part| format!(" | {part}"));
    format!("{line}:{column} {}{}", diagnostic.message, parts.collect::<String>())
}

/// What the reader says: its errors, or its warnings.
fn said(text: &str) -> Vec<String> {
    let said = match read(text) {
        Ok(parsed) => parsed.warnings,
        Err(errors) => errors,
    };
    said.iter().map(|diagnostic| show(text, diagnostic)).collect()
}

fn model(text: &str) -> Model {
    read(text).unwrap_or_else(|errors| panic!("{:?}", errors.iter().map(|e| show(text, e)).collect::<Vec<_>>())).model
}

/// A whole model with one thread, whose query is the given one.
fn asking(query: &str) -> String {
    format!("thread t {{\n  init p a.b\n  p a -> q b c\n  q b -> p -\n}}\n{query}\n")
}

#[test]
fn names_copies_and_handshakes() {
    let model = model(MODEL);
    let names: Vec<_> = model.threads().iter().map(|thread| thread.name.as_str()).collect();
    assert_eq!(names, ["one", "two/1", "two/2"]);
    assert_eq!(model.actions(), ["meet", "hand@one@two/1", "hand@one@two/2"]);
    let knows: Vec<Vec<u32>> =
        model.threads().iter().map(|thread| thread.knows.iter().map(|action| action.0).collect()).collect();
    assert_eq!(knows, [vec![0, 1, 2], vec![0, 1], vec![0, 2]]);
    assert_eq!(model.threads()[0].rules.len(), 4, "one rule for each partner");
    assert_eq!(model.threads()[1].controls, ["p", "r"]);
    let targets: Vec<_> = model.properties().iter().map(|property| property.never.len()).collect();
    // Some copy is meant; two entries of one name are different copies, in either order.
    assert_eq!(targets, [2, 3]);
    assert_eq!(model.init()[0].stack, [Symbol(1), Symbol(2)]);
}

#[test]
fn sets_of_stacks_are_regular_expressions_from_the_bottom_up() {
    let set = |query: &str| -> StackSet {
        let model = model(&asking(&format!("reach x: t at p {query}")));
        model.properties()[0].never[0].locals[0].clone().unwrap().get(&Control(0)).unwrap().clone()
    };
    let stack =
        |text: &str| -> Vec<Symbol> { text.chars().map(|c| Symbol(1 + "abc".find(c).unwrap() as u32)).collect() };
    for (query, inside, outside) in [
        ("", "abc a - ", ""),
        ("*", "abc a - ", ""),
        ("-", "-", "a b"),
        ("a", "a", "- b aa"),
        ("a.b", "ab", "ba a abb"),
        ("a.b|c", "ab c", "abc ac a"),
        ("a.(b|c)", "ab ac", "a abc"),
        ("a*", "- a aaa", "b ab"),
        ("a+", "a aaa", "- b"),
        ("a?", "- a", "aa"),
        ("(a.b)*", "- ab abab", "a aba"),
        ("(a.b)+?", "- ab abab", "a"),
        ("_*.c", "c abc cc", "- ca"),
        ("_._", "ab cc", "a abc -"),
        ("(-|a).b", "b ab", "a -"),
        ("a.-.b", "ab", "a b"),
        ("((a|b)*.c)+", "c abc cabc", "- ab ca"),
    ] {
        let set = set(query);
        let stacks = |texts: &str| texts.split_whitespace().map(|text| text.replace('-', "")).collect::<Vec<_>>();
        stacks(inside).iter().for_each(|text| assert!(set.contains(&stack(text)), "{query} has {text}"));
        stacks(outside).iter().for_each(|text| assert!(!set.contains(&stack(text)), "{query} has no {text}"));
    }
}

#[test]
fn mistakes_are_explained() {
    let thread = "thread t {\n  init p a\n  p a -> p -\n}\n";
    for (text, expected) in [
        ("", "1:1 the file is empty | a model needs at least one `thread`"),
        ("reach x: t at p", "1:1 no thread | a thread is written `thread name {`, `init` and rules line by line, `}`"),
        ("thread t {\n", "1:8 the block of thread `t` is not closed | no `}` for this one"),
        (
            "thread t {\n}",
            "1:8 thread `t` has no initial local state | no `init` in its block | write `init control stack`, `-` for the empty stack",
        ),
        (
            "thread t {\n init p\n}",
            "2:8 expected a stack, or `-` for the empty one | the line ends before a stack, or `-` for the empty one",
        ),
        ("thread t {\n init p a\n init q a\n}", "3:2 the initial local state is given twice | again here"),
        ("thread t {\n init p a\n p a ->\n}", "3:8 expected a control state | the line ends before a control state"),
        (
            "thread t {\n init p a\n p a -> q\n}",
            "3:10 the rule has no right-hand side | expected symbols, or `-` for none | a rule is written `p a -> q w : action`",
        ),
        (
            "thread t {\n init p a\n p a -> q - b\n}",
            "3:13 unexpected `b` after the end of the statement | nothing may follow here",
        ),
        (
            "thread t {\n init p a\n p a -> p - : meet\n}",
            "3:15 unknown action `meet` | not declared | declare it: `action meet: ...` or `handshake meet`",
        ),
        (
            "thread t {\n init p a\n nonsense\n}",
            "3:2 expected a rule, found `nonsense` | unexpected | a rule is written `p a -> q w : action`, the initial local state `init p w`",
        ),
        ("thread t * 0 {\n}", "1:12 0 threads | from 1 to 10000"),
        ("thread t * x {\n}", "1:12 expected a number, found `x` | not a number"),
        (
            "thread t\n",
            "1:9 expected `{` | the line ends before `{` | a thread is written `thread name {`, `init` and rules line by line, `}`",
        ),
        (
            "shared a b\n",
            "1:1 unknown statement `shared` | expected a statement | threads share nothing here: they meet in actions",
        ),
        (
            "never x\n",
            "1:1 unknown statement `never` | expected a statement | what must not happen is asked by `reach name: thread at control stack, ...`",
        ),
        (
            "init p a\n",
            "1:1 unknown statement `init` | expected a statement | each thread has its own `init` within its block",
        ),
        ("raech x: t at p\n", "1:1 unknown statement `raech` | expected a statement | did you mean `reach`?"),
        (
            "p a -> p -\n",
            "1:1 unknown statement `p` | expected a statement | rules stand in the block of a thread: `thread name {`",
        ),
    ] {
        assert_eq!(said(text)[0], expected, "{text}");
    }
    for (rest, expected) in [
        ("thread t {\n init p -\n}", "5:8 two threads are named `t` | again here"),
        ("action a: x", "5:11 there is no thread `x` | unknown"),
        ("action a", "5:9 expected `:` | the line ends before `:` | an action is written `action a: thread, thread`"),
        ("action a: t\naction a: t", "6:8 action `a` is declared twice | again here"),
        ("action a: t\nhandshake a", "6:11 `a` is declared twice | again here"),
        (
            "handshake a: t",
            "5:12 unexpected `:` after the end of the statement | nothing may follow here | who sends and who receives shows in the rules: `a!` and `a?`",
        ),
        (
            "reach x",
            "5:8 expected `:` | the line ends before `:` | a query is written `reach name: thread at control stack, ...`",
        ),
        (
            "reach x: t",
            "5:11 expected `at` | the line ends before `at` | write `thread at control stack`, for example `reader at busy main._*`",
        ),
        ("reach x: s at p", "5:10 there is no thread `s` | unknown"),
        ("reach x: t at q", "5:15 thread `t` has no control state `q` | unknown"),
        ("reach x: t at p b", "5:17 thread `t` has no symbol `b` | unknown"),
        ("reach x: t at p (a", "5:19 expected `)` | the line ends before `)`"),
        (
            "reach x: t at p a b",
            "5:19 unexpected `b` after the end of the statement | nothing may follow here | what is said of threads is separated by `,`, alternatives by `or`",
        ),
        (
            "reach x: t at p, t at p a",
            "5:18 more is said of `t` than there are threads | one too many | several sets of one thread are written with `|`; `thread name * 2` makes two threads",
        ),
        ("reach x: t at p\nreach x: t at p", "6:1 two queries are named `x` | again here"),
    ] {
        let text = format!("{thread}{rest}");
        assert_eq!(said(&text)[0], expected, "{rest}");
    }
    let knows = "action a: other\nhandshake h\nthread other {\n  init p -\n  p - -> p - : a\n}\nthread t {\n  init p -\n  p - -> p - : LABEL\n}\n";
    for (label, expected) in [
        (
            "a",
            "9:16 thread `t` does not know action `a` | not one of its actions | add the thread to the line that declares the action",
        ),
        (
            "a!",
            "9:16 `a` is an action of all who know it | no sender or receiver | leave the mark away, or declare `handshake a`",
        ),
        ("h", "9:16 `h` is a handshake | send or receive? | write `h!` or `h?`"),
    ] {
        assert_eq!(said(&knows.replace("LABEL", label))[0], expected);
    }
}

/// What looks like a name and is none.
#[test]
fn words_with_a_meaning_of_their_own() {
    assert_eq!(
        said("action tau: t\nthread t {\n  init p -\n}")[0],
        "1:8 `tau` is the word for internal steps | choose another name"
    );
    assert_eq!(
        said("handshake tau\nthread t {\n  init p -\n}")[0],
        "1:11 `tau` is the word for internal steps | choose another name"
    );
    for line in ["init p _", "init p a\n  p _ -> p -", "init p a\n  p a -> p _", "init p a\n  stack _"] {
        assert!(said(&format!("thread t {{\n  {line}\n}}"))[0].contains("`_` stands for any symbol"), "{line}");
    }
    // `or` is a symbol where it cannot begin an alternative.
    let model = model("thread t {\n  init p or\n  p or -> p -\n}\nreach x: t at p (or).or or t at p");
    assert_eq!(model.properties()[0].never.len(), 2);
    let printed = print_rpds(&model).unwrap();
    assert_eq!(read(&printed).unwrap().model.properties(), model.properties(), "{printed}");
    let blowup = asking("reach x: t at p _*.a._._._._._._._._._");
    assert!(print_rpds(&self::model(&blowup)).is_err());
}

/// What is wrong with one copy of a thread only is wrong.
#[test]
fn every_copy_is_looked_at() {
    let text = "action a: x/1, y\nthread x * 2 {\n  init p -\n  p - -> q - : a\n}\nthread y {\n  init p -\n}";
    assert!(said(text)[0].starts_with("4:16 thread `x` does not know action `a`"), "{:?}", said(text));
}

#[test]
fn one_mistake_is_one_message() {
    assert_eq!(said("thread a * 0 {\n  init p -\n}\nthread b {\n  init p -\n}").len(), 1);
    let alone = "handshake h\nthread t {\n  init p -\n  p - -> p - : h!\n  p - -> p - : h?\n}";
    assert_eq!(said(alone), ["1:11 handshake `h` is sent and received by one thread only | so it never happens"]);
}

#[test]
fn slips_are_pointed_out() {
    let text = "action lone: t, u\nhandshake h, k, n\nthread t {\n  init run main\n  run main -> run enter : lone\n  run enetr -> rum - : h!\n  rum x -> run - : k?\n}\nthread u {\n  init p -\n}\nreach x: t at run";
    assert_eq!(
        said(text),
        [
            "1:8 thread u knows `lone` but has no rule for it | so this action never happens",
            "2:11 handshake `h` is sent and never received | so it never happens",
            "2:14 handshake `k` is received and never sent | so it never happens",
            "2:17 handshake `n` is never used | so it never happens",
            "6:7 nothing puts on the stack the symbol `enetr`, so this rule is never taken | a slip of the pen? | did you mean `enter`?",
            "7:7 nothing puts on the stack the symbol `x`, so this rule is never taken | a slip of the pen?",
        ]
    );
}

#[test]
fn a_target_of_its_own_replaces_the_queries() {
    let source = Source::new("main", MODEL.as_bytes());
    let target = Source::new("--target", b"one at q\ntwo/2 at p x");
    let model = read_rpds(&source, Some(&target)).unwrap().model;
    assert_eq!(model.properties().len(), 1);
    assert_eq!((model.properties()[0].name.as_str(), model.properties()[0].never.len()), ("target", 2));
    let bad = read_rpds(&source, Some(&Source::new("--target", b"one at"))).unwrap_err();
    assert_eq!((bad[0].source, bad[0].message.as_str()), (1, "expected a control state or `*`"));
    assert!(read_rpds(&source, Some(&Source::new("--target", b""))).is_err());
}

#[test]
fn hostile_sizes_are_refused_or_read_quickly() {
    let deep = format!("reach x: t at p {}a{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(said(&asking(&deep))[0].contains("nested more than 200 deep"));
    let blowup = format!("reach x: t at p _*.a{}", "._".repeat(40));
    assert!(said(&asking(&blowup))[0].contains("more than 5000 states"), "{:?}", said(&asking(&blowup)));
    let many = "handshake h\nthread t * 2000 {\n  init p -\n  p - -> p - : h!\n  p - -> p - : h?\n}\n";
    assert!(said(many)[0].contains("need more than 200000 rules"), "{:?}", said(many));
    assert!(said("thread t * 9999 {\n  init p -\n}\nthread u * 9999 {\n  init p -\n}")[0].contains("19998 threads"));
    let tuples = "thread t * 100 {\n  init p -\n}\nreach x: t at p, t at p, t at p";
    assert!(said(tuples)[0].contains("more than 1000 tuples"), "{:?}", said(tuples));
    let long = format!("thread {} {{\n  init p -\n}}", "x".repeat(300));
    assert!(said(&long)[0].contains("too long"));
    for piece in ["(", "a.", "|", "or ", "t at p, ", "*", "{", "}\n", "thread t {\n"] {
        let _ = read(&asking(&format!("reach x: t at p {}", piece.repeat(50_000))));
    }
}
