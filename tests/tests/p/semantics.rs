//! What programs in P do, sentence by sentence: small programs with the errors that can happen in them.

use tepui_lang::p::{Dialect, Options, Send, read};
use tepui_lang::source::Source;
use tepui_model::queue::evaluate::Error;
use tepui_tests::queues::explore;

use Error::{
    Assert, Cast, Choose, Deadlock, Diverges, Division, DuplicateKey, EventBound, HotAtEnd, Index, Key, MachineBound,
    NullTarget, Permission, Pop, Unhandled,
};

/// A sentence, a program, and the errors that can happen.
pub(super) type Case = (&'static str, &'static str, &'static [Error]);

pub(super) const EVENTS: &str = "event eA; event eB; event eN: int; event eM: machine;\n";

pub(super) const TODAY: &[Case] = &[
    (
        "an event that is deferred stays where it is, and the next one is taken",
        "machine Main { start state S { entry { send this, eA; send this, eB; } defer eA; on eB goto T; } \
      state T { on eA do { assert false; } } }",
        &[Assert],
    ),
    (
        "what a text is made from is worked out, even if it does not show it",
        "machine Main { var m: map[int, int]; var s: string; start state S { entry { s = format(\"x\", m[7]); } } }",
        &[Key],
    ),
    (
        "what a text is made from is worked out in the order in which it is given",
        "machine Main { var m: map[int, int]; var s: string; start state S { entry { \
      s = format(\"{1}{0}\", m[7], 1 / sizeof(m)); } } }",
        &[Key],
    ),
    (
        "a message is worked out only where the assertion fails",
        "machine Main { var m: map[int, int]; start state S { entry { assert sizeof(m) == 0, format(\"x\", m[7]); } } }",
        &[],
    ),
    (
        "what is done for a message does not make the assertion true",
        "machine Main { var x: int; fun F(): string { x = 1; return \"x\"; } \
      start state S { entry { assert x == 1, F(); } } }",
        &[Assert],
    ),
    (
        "a text shows in which order a set is kept",
        "machine Main { var s, t: set[int]; start state S { entry { s += (1); s += (2); t += (2); t += (1); \
      assert format(\"{0}\", s) == format(\"{0}\", t); } } }",
        &[Assert],
    ),
    (
        "an event that nobody handles is an error",
        "machine Main { start state S { entry { send this, eA; } } }",
        &[Unhandled],
    ),
    ("an event that is ignored is not", "machine Main { start state S { entry { send this, eA; } ignore eA; } }", &[]),
    (
        "halt is taken from behind what is deferred, and ends the machine",
        "machine Main { start state S { entry { send this, eA; send this, halt; } defer eA; } }",
        &[],
    ),
    (
        "the exit function runs before an event is found to be unhandled",
        "machine Main { start state S { entry { raise eA; } exit { assert false; } } }",
        &[Assert],
    ),
    (
        "what is raised is not deferred",
        "machine Main { start state S { entry { raise eA; } defer eA; } }",
        &[Unhandled],
    ),
    (
        "what is raised is handled before the queue",
        "machine Main { var n: int; start state S { entry { send this, eB; raise eA; } on eA do { n = 1; } on eB do { assert n == 1; } } }",
        &[],
    ),
    (
        "goto leaves, and enters with its payload",
        "machine Main { var n: int; start state S { entry { goto T, 7; } exit { n = 1; } } \
      state T { entry (x: int) { assert x == 7 && n == 1; } } }",
        &[],
    ),
    (
        "a transition runs exit, its function, and entry",
        "machine Main { var n: int; start state S { entry { send this, eN, 5; } exit { n = 1; } \
      on eN goto T with (x: int) { assert n == 1; n = x; } } state T { entry (x: int) { assert n == 5 && x == 5; } } }",
        &[],
    ),
    (
        "receive takes what it names, whatever the state defers",
        "machine Main { var n: int; start state S { entry { send this, eA; send this, eB; receive { case eB: { n = 1; } } assert n == 1; } \
      defer eA, eB; } }",
        &[],
    ),
    (
        "a machine that waits when nothing can move is in a deadlock",
        "machine Main { start state S { entry { receive { case eA: { } } } } }",
        &[Deadlock],
    ),
    (
        "null is received when nothing else can be",
        "machine Main { start state S { entry { send this, eA; receive { case eA: { } case null: { assert false; } } } } }",
        &[],
    ),
    (
        "null is received at last",
        "machine Main { start state S { entry { receive { case eA: { } case null: { assert false; } } } } }",
        &[Assert],
    ),
    (
        "halt is always received",
        "machine Main { start state S { entry { send this, halt; receive { case eA: { } } assert false; } } }",
        &[],
    ),
    (
        "a function may receive, and return afterwards",
        "machine Main { start state S { entry { send this, eN, 3; assert Get() == 3; } } \
      fun Get(): int { var n: int; receive { case eN: (x: int) { n = x; } } return n; } }",
        &[],
    ),
    (
        "null handlers run when there is nothing to take",
        "machine Main { start state S { on null goto T; } state T { entry { assert false; } } }",
        &[Assert],
    ),
    (
        "what is sent to a machine that has halted is lost",
        "machine Main { var m: machine; start state S { entry { m = new N(); send m, halt; send m, eA; } } } machine N { start state S { } }",
        &[],
    ),
    (
        "nobody gets an event without a target",
        "machine Main { var m: machine; start state S { entry { send m, eA; } } }",
        &[NullTarget],
    ),
    (
        "a queue keeps the order",
        "machine Main { var n: int; start state S { entry { send this, eA; send this, eB; } on eA do { n = 1; } on eB do { assert n == 1; } } }",
        &[],
    ),
    (
        "senders are not ordered",
        "machine Main { start state S { entry { new N(this); send this, eB; } on eA goto T; on eB goto U; } \
      state T { on eB do { assert false; } } state U { ignore eA; } } \
      machine N { start state S { entry (m: machine) { send m, eA; } } }",
        &[Assert],
    ),
    (
        "values are copied when they are sent",
        "event eL: seq[int]; machine Main { var l: seq[int]; start state S { entry { l += (0, 1); send this, eL, l; l += (0, 2); } \
      on eL do (x: seq[int]) { assert sizeof(x) == 1 && sizeof(l) == 2; } } }",
        &[],
    ),
    ("an index must be there", "machine Main { var l: seq[int]; start state S { entry { l[0] = 1; } } }", &[Index]),
    (
        "a key must be there",
        "machine Main { var m: map[int, int]; start state S { entry { assert m[1] == 0; } } }",
        &[Key],
    ),
    (
        "an assignment makes a key",
        "machine Main { var m: map[int, int]; start state S { entry { m[1] = 2; assert m[1] == 2; } } }",
        &[],
    ),
    (
        "an insertion needs a new one",
        "machine Main { var m: map[int, int]; start state S { entry { m += (1, 1); m += (1, 2); } } }",
        &[DuplicateKey],
    ),
    (
        "division by zero is an error",
        "machine Main { var n: int; start state S { entry { n = 1 / n; } } }",
        &[Division],
    ),
    ("a cast is tested", "machine Main { var a: any; start state S { entry { a = 1; assert a as bool; } } }", &[Cast]),
    (
        "something must be there to choose from",
        "machine Main { var l: seq[int]; start state S { entry { assert choose(l) == 0; } } }",
        &[Choose],
    ),
    ("both values are chosen", "machine Main { start state S { entry { assert $ || choose(2) == 1; } } }", &[Assert]),
    (
        "the second operand is looked at only if it matters",
        "machine Main { var n: int; start state S { entry { assert true || Inc(); assert n == 0; assert !(false && Inc()) && n == 0; } } \
      fun Inc(): bool { n = n + 1; return true; } }",
        &[],
    ),
    (
        "calls come before the rest of an expression",
        "machine Main { var n: int; start state S { entry { assert n + Inc() == 2; } } fun Inc(): int { n = n + 1; return n; } }",
        &[],
    ),
    ("a loop without an end is an error", "machine Main { start state S { entry { while ($) { } } } }", &[Diverges]),
    ("unless a fair choice ends it", "machine Main { start state S { entry { while ($$) { } } } }", &[]),
    (
        "states that lead to each other for ever are one, too",
        "machine Main { start state S { entry { goto T; } } state T { entry { goto S; } } }",
        &[Diverges],
    ),
    (
        "a machine sends what it may",
        "machine Main sends eA; { start state S { entry { send this, eB; } ignore eA, eB; } }",
        &[Permission],
    ),
    (
        "and is sent what it may get",
        "machine Main receives eA; { start state S { entry { send this, eB; } ignore eA, eB; } }",
        &[Permission],
    ),
    (
        "integers wrap around",
        "machine Main { var n: int; var i: int; start state S { entry { n = 1; while (i < 63) { n = n * 2; i = i + 1; } assert n < 0; } } }",
        &[],
    ),
    (
        "specs hear of what is sent",
        "machine Main { start state S { entry { send this, eA; } ignore eA; } } \
      spec P observes eA { start state S { on eA do { assert false; } } } test t [main=Main]: assert P in { Main };",
        &[Assert],
    ),
    (
        "and of what is announced",
        "machine Main { start state S { entry { announce eA; } } } \
      spec P observes eA { start state S { on eA do { assert false; } } } test t [main=Main]: assert P in { Main };",
        &[Assert],
    ),
    (
        "what is announced again and again is heard each time",
        "machine Main { start state S { entry { while ($$) { announce eA; } } } } \
      spec P observes eA { var n: int; start state S { on eA do { n = n + 1; assert n < 3; } } } \
      test t [main=Main]: assert P in { Main };",
        &[Assert],
    ),
    (
        "a loop that no fair choice ends goes on for ever",
        "machine Main { start state S { entry { var b: bool; while (true) { b = $$; } } } }",
        &[Diverges],
    ),
    ("one that a fair choice ends does not", "machine Main { start state S { entry { while ($$) { } } } }", &[]),
    (
        "a spec that is hot at the end is an error",
        "machine Main { start state S { entry { announce eA; } } } \
      spec P observes eA { start cold state S { on eA goto H; } hot state H { } } test t [main=Main]: assert P in { Main };",
        &[HotAtEnd],
    ),
    (
        "a scenario that is not",
        "machine Main { start state S { entry { announce eA; } } } \
      scenario P observes eA { start cold state S { on eA goto H; } hot state H { } } test t [main=Main]: { Main };",
        &[],
    ),
    (
        "a spec hears only the machines that it is attached to",
        "machine Main { start state S { entry { new N(); } } } machine N { start state S { entry { announce eA; } } } \
      spec P observes eA { start state S { on eA do { assert false; } } } test t [main=Main]: union (assert P in { Main }), { N };",
        &[],
    ),
    (
        "assume leaves executions out",
        "machine Main { var b: bool; start state S { entry { b = $; assume b; assert b; } } }",
        &[],
    ),
    (
        "foreign functions return anything",
        "enum E { X, Y } fun F(): E; machine Main { start state S { entry { assert F() == X; } } }",
        &[Assert],
    ),
];

pub(super) const OLD: &[Case] = &[
    (
        "a state on top inherits what is done below",
        "machine Main { start state S { entry { raise eA; } on eA push T; on eB do { assert false; } } \
      state T { entry { send this, eB; } } }",
        &[Assert],
    ),
    (
        "and what is deferred below, unless it handles it",
        "machine Main { start state S { entry { raise eA; } on eA push T; defer eB; } \
      state T { entry { send this, eB; } on eB do { assert false; } } }",
        &[Assert],
    ),
    (
        "an event that the top does not handle pops it",
        "machine Main { start state S { entry { raise eA; } on eA push T; on eB goto U; } \
      state T { entry { send this, eB; } exit { assert true; } } state U { entry { assert false; } } }",
        &[Assert],
    ),
    (
        "pop goes back without entry",
        "machine Main { var n: int; start state S { entry { n = n + 1; assert n < 2; raise eA; } on eA push T; } state T { entry { pop; } } }",
        &[],
    ),
    ("pop needs a state below", "machine Main { start state S { entry { pop; } } }", &[Pop]),
    (
        "more events than asserted are an error",
        "event eX assert 1; machine Main { start state S { entry { send this, eX; send this, eX; } ignore eX; } }",
        &[EventBound],
    ),
    (
        "more than assumed are not looked at",
        "event eX assume 1; machine Main { start state S { entry { send this, eX; send this, eX; assert false; } defer eX; } }",
        &[],
    ),
    (
        "so is it for whole queues",
        "machine Main assert 1 { start state S { entry { send this, eA; send this, eB; } ignore eA, eB; } }",
        &[MachineBound],
    ),
    ("a machine may wait for ever", "machine Main { start state S { entry { receive { case eA: { } } } } }", &[]),
    (
        "halt is received only where it is named",
        "machine Main { start state S { entry { send this, halt; send this, eA; receive { case eA: { } } assert false; } } }",
        &[Assert],
    ),
];

fn errors(text: &str, dialect: Dialect, send: Send) -> Vec<Error> {
    let source = Source::new("x.p", format!("{EVENTS}{text}").as_bytes());
    let options = Options { dialect: Some(dialect), send, ..Options::default() };
    let parsed = read(&[source], options).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    let found = explore(&parsed.tests[0].program, 5, 5_000);
    assert!(found.complete, "{text}: {found:?}");
    found.errors.into_keys().collect()
}

#[test]
fn sentences_hold_today() {
    for (sentence, text, expected) in TODAY {
        for send in [Send::Atomic, Send::Split] {
            assert_eq!(errors(text, Dialect::Today, send), *expected, "{sentence}\n{text}");
        }
    }
}

#[test]
fn sentences_hold_in_the_old_dialect() {
    for (sentence, text, expected) in OLD {
        assert_eq!(errors(text, Dialect::Old, Send::AsTheDialect), *expected, "{sentence}\n{text}");
    }
}

/// Two senders may be observed in one order and queued in the other.
#[test]
fn observing_and_sending_may_be_two_steps() {
    let text = "machine Main { start state S { entry { new N(this, 1); new N(this, 2); } on eN goto T; } \
        state T { entry (x: int) { announce eM, this; if (x == 1) { announce eB; } } ignore eN; } } \
        machine N { start state S { entry (x: (machine, int)) { send x.0, eN, x.1; } } } \
        spec P observes eN, eB { var first: int; start state S { \
          on eN do (x: int) { if (first == 0) { first = x; } } on eB do { assert first == 1; } } } \
        test t [main=Main]: assert P in { Main, N };";
    assert_eq!(errors(text, Dialect::Today, Send::Atomic), []);
    assert_eq!(errors(text, Dialect::Today, Send::Split), [Assert]);
    assert_eq!(errors(text, Dialect::Today, Send::AsTheDialect), [Assert]);
}
