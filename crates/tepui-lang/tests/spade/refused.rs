//! Texts that are refused, and why.

use super::*;

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
