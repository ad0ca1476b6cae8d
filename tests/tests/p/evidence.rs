//! Evidence about programs with queues: what a search finds is accepted, and forgeries are not.

use std::sync::Arc;

use fastrand::Rng;
use tepui::{AUTO, Budget, COVER, Options as Settings, Problem, QUEUES, Status, verify};
use tepui_cert::queue::{Certificate, Precision as Known, Trace};
use tepui_check::queue::{check, replay};
use tepui_engines::queue::explorer::Explorer;
use tepui_engines::queue::summary::{Order, Precision};
use tepui_lang::p::{Dialect, Options, read};
use tepui_lang::source::Source;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::Letter;
use tepui_model::queue::state::Cannot;
use tepui_model::queue::{Program, Value};
use tepui_tests::queues::explore;

/// A client that floods a server which defers, a spec, and a timer that sends to itself.
const FLOOD: &str = "
event eWait; event eDone; event ePing: int; event eTick;
machine Main {
  var server: machine; var open: bool;
  start state Init { entry { server = new Server(this); new Timer(); send server, eWait; send server, eDone; goto Flood; } }
  state Flood { entry { send server, ePing, 7; if (open) { goto Flood; } open = true; goto Flood; } }
}
machine Server {
  var boss: machine; var got: int;
  start state Init { entry (m: machine) { boss = m; } defer eWait, ePing; on eDone goto Serve; }
  state Serve { on ePing do (n: int) { got = got + 1; assert n == 7; } ignore eWait; }
}
machine Timer { start state Run { entry { send this, eTick; } on eTick goto Run; } }
spec Once observes eDone, ePing {
  start state Before { on eDone goto After; }
  state After { ignore ePing; }
}
test safe [main=Main]: assert Once in { Main, Server, Timer };
";

/// The same with mistakes of several sorts, and what happens.
const BROKEN: &[(&str, &str, Error)] = &[
    ("assert n == 7", "assert n == 8", Error::Assert),
    ("ignore eWait;", "", Error::Unhandled),
    ("send server, eDone; goto", "send null as machine, eDone; goto", Error::NullTarget),
    ("ignore ePing; }", "}", Error::Unhandled),
    ("on eTick goto Run", "on eTick do { while ($) { } }", Error::Diverges),
];

fn program(text: &str) -> Program {
    let parsed = read(&[Source::new("x.p", text.as_bytes())], Options::default()).unwrap();
    parsed.tests.into_iter().next().unwrap().program
}

const CLAIMED: [Error; 4] = [Error::Assert, Error::Unhandled, Error::NullTarget, Error::Diverges];

fn closed(program: &Program, precision: Precision) -> Explorer {
    let kinds = program.kinds.len();
    let mut explorer = Explorer::new(Arc::new(program.clone()), vec![precision; kinds], usize::MAX);
    assert!(explorer.run(&mut |_| false), "{:?}", explorer.unknown());
    explorer
}

fn judge(program: &Program, certificate: &Certificate) -> Result<usize, String> {
    let read = Certificate::from_text(&certificate.to_text()).unwrap();
    assert_eq!(read, *certificate);
    let names: Vec<_> = CLAIMED.iter().map(|error| error.name().to_owned()).collect();
    check(program, &names, &read, &|| false).map(|proved| proved.rows).map_err(|rejected| rejected.to_string())
}

#[test]
fn closed_sets_are_accepted() {
    let program = program(FLOOD);
    let mut rows = Vec::new();
    for (order, cap, prefix) in [(Order::Ends, 0, 0), (Order::Ends, 3, 0), (Order::List, 2, 0), (Order::Ends, 0, 2)] {
        let explorer = closed(&program, Precision { prefix, order, cap });
        assert!(explorer.errors().is_empty(), "{order:?} {cap} {prefix}: {:?}", explorer.errors());
        rows.push(judge(&program, &explorer.certificate(&CLAIMED)).unwrap());
        assert_eq!(rows.last(), Some(&explorer.len()));
    }
    assert!(rows.iter().all(|rows| (10..5_000).contains(rows)), "{rows:?}");
}

#[test]
fn errors_are_replayed() {
    for (right, wrong, error) in BROKEN {
        let text = FLOOD.replace(right, wrong);
        assert_ne!(text, FLOOD, "{right}");
        let program = program(&text);
        let kinds = program.kinds.len();
        let mut explorer = Explorer::new(Arc::new(program.clone()), vec![Precision::EXACT; kinds], 4);
        assert!(explorer.run(&mut |_| false));
        assert!(explorer.errors().contains_key(error), "{wrong}: {:?}", explorer.errors());
        let trace = explorer.trace(*error).unwrap();
        let read = Trace::from_text(&trace.to_text(|_| String::new())).unwrap().remove(0);
        assert_eq!(replay(&program, &read).unwrap().property, error.name(), "{wrong}");
        // Without its last step it shows nothing, nor with another error or other machines.
        let mut forged = read.clone();
        forged.steps.pop();
        assert!(replay(&program, &forged).is_err(), "{wrong}");
        let forged = Trace { property: "pop".to_owned(), ..read.clone() };
        assert!(replay(&program, &forged).is_err());
        let mut forged = read;
        forged.steps.iter_mut().for_each(|step| step.machine += 1);
        assert!(replay(&program, &forged).is_err());
        // What is closed with the error in it is no proof.
        let closed = closed(&program, Precision::ENDS);
        assert!(judge(&program, &closed.certificate(&CLAIMED)).is_err(), "{wrong}");
    }
}

/// Terms grow for ever, and what is asked of them decides nothing that matters, unless `seen` is more than a number.
const TERMS: &str = "
event eBeat: int; event eAck;
machine Leader {
  var term: int; var peer: machine;
  start state Init { entry { peer = new Follower(this); goto Lead; } }
  state Lead { entry { term = term + 1; send peer, eBeat, term * term; } on eAck goto Lead; }
}
machine Follower {
  var leader: machine; var seen: int; var late: bool;
  start state Init { entry (l: machine) { leader = l; goto Follow; } }
  state Follow { on eBeat do (t: int) { assert !late; if (t > seen) { seen = t; } send leader, eAck; } }
}
test terms [main=Leader]: { Leader, Follower };
";

#[test]
fn what_is_to_be_forgotten_may_go_either_way() {
    let whole = program(TERMS);
    let mut endless = Explorer::new(Arc::new(whole.clone()), vec![Precision::ENDS; whole.kinds.len()], usize::MAX);
    assert!(!endless.run(&mut |explorer| explorer.len() > 10_000));
    let variable = |name: &str| {
        let of = |kind: usize| whole.told.kinds[kind].variables.iter().position(|known| known == name);
        (0..whole.kinds.len()).find_map(|kind| Some((kind, of(kind)?))).unwrap()
    };
    let less = Program { forgets: [variable("term")].into(), ..whole.clone() };
    let certificate = closed(&less, Precision::ENDS).certificate(&CLAIMED);
    assert!(judge(&less, &certificate).unwrap() < 20);
    // Whoever does not know that something was to be forgotten does not accept that a step depends on it.
    assert!(judge(&whole, &certificate).unwrap_err().contains("--forget"));
    // What depends on it is not proved.
    let decisive = program(&TERMS.replace("if (t > seen)", "late = t < seen; if (t > seen)"));
    let less = Program { forgets: [variable("term"), variable("seen")].into(), ..decisive };
    assert!(closed(&less, Precision::ENDS).errors().contains_key(&Error::Assert));
}

/// A spec that counts, with something instead of `BEGIN` and `ACT`.
const COUNTING: &str = "
event eA; event eT; fun F(): bool;
machine Main { start state Init { entry { send this, eT; } on eT do { announce eA; send this, eT; } } }
spec S observes eA { var n: int; start state I { entry { BEGIN } on eA do { n = n + 1; ACT } } hot state H { ignore eA; } }
test t [main=Main]: assert S in { Main };
";

/// A spec that asks what a foreign function returns, or what was forgotten, goes on in every way.
#[test]
fn specs_follow_every_choice() {
    let counting = |begin: &str, act: &str| COUNTING.replace("BEGIN", begin).replace("ACT", act);
    let forgetting = |text: &str| {
        let whole = program(text);
        let kind = whole.specs[0].kind;
        Program { forgets: [(kind, 0)].into(), ..whole }
    };
    let statuses = |program: &Program, error: Error, engine| {
        let settings = Settings { self_check: true, engine, ..Settings::default() };
        let problem = Problem::from(program.clone());
        let answer = verify(&problem, &settings, &Budget::unlimited().with_work(20_000)).unwrap();
        let property = answer.outcome.properties.iter().find(|property| property.name == error.name()).unwrap();
        property.verdict.status()
    };
    for (act, error) in [("if (n > 2) { assert false; }", Error::Assert), ("if (n > 2) { goto H; }", Error::HotForEver)]
    {
        assert_ne!(statuses(&forgetting(&counting("", act)), error, &AUTO), Status::Safe, "{act}");
    }
    for (begin, act, error) in [
        ("", "n = 0; assert !F();", Error::Assert),
        ("", "n = 0; if (F()) { goto H; }", Error::HotForEver),
        ("assert !F();", "n = 0;", Error::Assert),
        ("if (F()) { n = 3; }", "n = n - 1; assert n != 3; n = n - n;", Error::Assert),
        ("if (F()) { goto H; }", "n = 0;", Error::HotForEver),
        ("if (F()) { n = 3; }", "if (F()) { n = 1; } else { assert n < 3 || F(); }", Error::Assert),
    ] {
        for engine in [&AUTO, &QUEUES] {
            let found = statuses(&program(&counting(begin, act)), error, engine);
            assert_eq!(found, Status::Unsafe, "{begin} {act}: {}", engine.name);
        }
    }
    for act in ["n = 0; if (F()) { n = 1; } assert n < 2;", "if (F()) { n = 0; } if (n > 1) { n = 1; } assert n < 2;"] {
        for engine in [&AUTO, &COVER, &QUEUES] {
            let found = statuses(&program(&counting("if (F()) { n = 1; }", act)), Error::Assert, engine);
            assert_eq!(found, Status::Safe, "{act}: {}", engine.name);
        }
    }
}

/// Rows that are closed if specs go one way only.
#[test]
fn rows_for_one_way_of_a_spec_are_refused() {
    let counting = |begin: &str, act: &str| program(&COUNTING.replace("BEGIN", begin).replace("ACT", act));
    let rows = |own: &Program| closed(own, Precision::ENDS).certificate(&CLAIMED);
    for (begin, act) in [("", "if (F()) { n = 0; } else { n = 1; }"), ("n = 1; if (F()) { n = 0; }", "n = 0;")] {
        let own = counting(begin, act);
        let honest = rows(&own);
        judge(&own, &honest).unwrap();
        // One after the other, what there is for one of the ways is left out.
        for row in 0..honest.rows.len() {
            let mut forged = honest.clone();
            forged.rows.remove(row);
            assert!(judge(&own, &forged).is_err(), "{begin} {act}: row {row}");
        }
    }
    let harmless = rows(&counting("", "n = 0;"));
    for (begin, act) in [("", "n = 0; assert !F();"), ("assert !F();", "n = 0;"), ("", "n = 0; if (F()) { goto H; }")] {
        let own = counting(begin, act);
        let forged = Certificate { program: own.digest(), ..harmless.clone() };
        assert!(judge(&own, &forged).is_err(), "{begin} {act}");
    }
}

/// Whether a value is null, or of another type, is not seen by static types.
#[test]
fn what_is_not_of_its_type_proves_nothing() {
    let sends = "machine Main { var x: int; start state S { entry { var v: event; v = eN; send this, v; } on eN do (i: int) { x = i + 1; } } }";
    let raises = "machine Main { var x: int; start state S { entry { var v: event; v = eN; raise v, true; } on eN do (i: int) { x = -i; } } }";
    let casts = "machine Main { var t: (int, int); var x: int; start state S { entry { var a: any; a = (null, 1); t = a as (int, int); \
                 send this, eA; } on eA do { x = t.0 * 2; } } }";
    let tells = "machine Main { start state S { entry { var v: event; v = eN; announce v; } } } \
                 spec P observes eN { var x: int; start state A { on eN do (i: int) { x = x + i; } } } \
                 test t [main=Main]: assert P in { Main };";
    for text in [sends, raises, casts, tells] {
        let program = program(&format!("event eA; event eN: int;\n{text}"));
        let mut explorer =
            Explorer::new(Arc::new(program.clone()), vec![Precision::ENDS; program.kinds.len()], usize::MAX);
        explorer.run(&mut |_| false);
        assert_eq!(explorer.unknown(), Some(Cannot::Mistyped), "{text}");
        let certificate = explorer.certificate(&[Error::Null]);
        assert!(check(&program, &["null".to_owned()], &certificate, &|| false).is_err(), "{text}");
    }
    // Nobody looks at what comes with an event, or it is what it should be.
    let idle = sends.replace("(i: int) { x = i + 1; }", "{ x = x + 1; }");
    let right = sends.replace("send this, v;", "send this, v, 3;");
    for text in [idle, right] {
        let program = program(&format!("event eA; event eN: int;\n{text}"));
        assert!(closed(&program, Precision::ENDS).errors().is_empty(), "{text}");
    }
}

/// A loop that counts what nobody asks for has no end, and one that asks for it has one.
#[test]
fn loops_that_only_count_have_no_end() {
    let ends = |text: &str| {
        let program = program(&format!("machine Main {{ start state S {{ entry {{ F(); }} }} fun F() {{ {text} }} }}"));
        !explore(&program, 1, 10).errors.contains_key(&Error::Diverges)
    };
    assert!(!ends("var i, j: int; while (j < 3) { i = i + 1; j = 2 - j; }"));
    assert!(!ends("var i: int; var s: seq[int]; while (sizeof(s) == 0) { i = i * 2 + 1; }"));
    assert!(ends("var i: int; while (i < 3000) { i = i + 1; }"));
    assert!(ends("var i, j: int; while (j < 3000) { i = i + 1; if (i > 1500) { j = i; } }"));
    assert!(ends("var i: int; while (i < 3000) { i = i + 1; } while (i > 0) { i = i - 1; }"));
}

/// A step that goes on for ever although something changes on which nothing depends.
#[test]
fn what_does_not_matter_may_change_for_ever() {
    for (begin, act) in [("true", ""), ("$", ""), ("true", "if ($) { break; }"), ("b", "b = $; b = !b || true;")] {
        let text = format!(
            "event eA;\nmachine Main {{ var i, k: int; var b: bool; start state S {{ entry {{ send this, eA; b = true; }}\n\
             on eA do {{ while ({begin}) {{ i = i + 1; {act} }} k = 1; }} }} }}"
        );
        let program = program(&text);
        let mut explorer = Explorer::new(Arc::new(program.clone()), vec![Precision::EXACT], 4);
        assert!(explorer.run(&mut |_| false));
        let trace = explorer.trace(Error::Diverges).unwrap();
        let read = Trace::from_text(&trace.to_text(|_| String::new())).unwrap().remove(0);
        assert_eq!(read, trace);
        assert_eq!(replay(&program, &read).unwrap().property, "diverges", "{text}");
        // Of a program in which the number decides it, nothing is shown.
        let other = self::program(&text.replace(&format!("while ({begin})"), &format!("while (({begin}) && i < 9)")));
        assert!(replay(&other, &Trace { program: other.digest(), ..read.clone() }).is_err(), "{text}");
        let forgets = Program { forgets: [(0, 0)].into(), ..other };
        assert!(replay(&forgets, &Trace { program: forgets.digest(), ..read.clone() }).is_err(), "{text}");
        // The program itself comes to it where nothing is chosen.
        assert_eq!(read.circle.is_some(), begin != "true" || act.contains('$'), "{text}");
        let Some(_) = read.circle else { continue };
        // Nor where other values are forgotten, or none, or where the circle begins elsewhere.
        let mut forged = read.clone();
        forged.circle.as_mut().unwrap().state.machines[0].queue.clear();
        assert!(replay(&program, &forged).is_err(), "{text}");
        let mut forged = read.clone();
        forged.circle.as_mut().unwrap().after = 0;
        assert!(replay(&program, &forged).is_err(), "{text}");
        let mut forged = read;
        forged.circle.as_mut().unwrap().state.machines[0].local.variables[0] = Value::Int(0);
        assert!(replay(&program, &forged).is_err(), "{text}");
    }
}

#[test]
fn what_foreign_functions_are_given_is_worked_out() {
    for (argument, error) in [("m[7]", Error::Key), ("1 / sizeof(m)", Error::Division)] {
        let text = format!(
            "fun F(x: int): bool; machine Main {{ var m: map[int, int]; var b: bool;\n\
             start state Init {{ entry {{ b = F({argument}); }} }} }}\ntest t [main=Main]: {{ Main }};"
        );
        let program = program(&text);
        assert!(closed(&program, Precision::ENDS).errors().contains_key(&error), "{argument}");
        assert!(explore(&program, 1, 100).errors.contains_key(&error), "{argument}");
    }
}

/// An event and a machine are bounded, and it is not known of either whether there is too much.
#[test]
fn both_bounds_may_be_in_doubt() {
    let sends = "send this, eX; ".repeat(6);
    let text =
        format!("event eX assert 10;\nmachine Main assert 4 {{ start state S {{ entry {{ {sends} }} defer eX; }} }}");
    let old = Options { dialect: Some(Dialect::Old), ..Options::default() };
    let parsed = read(&[Source::new("x.p", text.as_bytes())], old).unwrap();
    let program = parsed.tests.into_iter().next().unwrap().program;
    let found = closed(&program, Precision::ENDS);
    assert!(found.errors().contains_key(&Error::EventBound) && found.errors().contains_key(&Error::MachineBound));
    assert!(explore(&program, 8, 100).errors.contains_key(&Error::MachineBound));
}

/// Something that makes a certificate wrong.
type Forgery = (&'static str, fn(&mut Certificate, &mut Rng));

const FORGERIES: &[Forgery] = &[
    ("a row is missing", |certificate, rng| {
        let row = rng.usize(..certificate.rows.len());
        certificate.rows.remove(row);
    }),
    ("a state of a machine is another", |certificate, rng| {
        let (row, locals) = (rng.usize(..certificate.rows.len()), certificate.locals.len());
        certificate.rows[row][0] = rng.u32(..locals as u32);
    }),
    ("there is no such state", |certificate, _| certificate.rows[0][0] = u32::MAX),
    ("there is no such queue", |certificate, _| certificate.rows[0][1] = u32::MAX),
    ("a row is too short", |certificate, _| certificate.rows[0] = [0].into()),
    ("another program", |certificate, _| certificate.program = tepui_model::Digest::of(b"other")),
    ("less is claimed", |certificate, _| certificate.properties.clear()),
    ("a last mark is missing", |certificate, _| {
        let queue = certificate.queues.iter_mut().find(|queue| queue.marks.iter().any(|(_, last)| *last)).unwrap();
        queue.marks.retain(|(_, last)| !last);
    }),
    ("a last mark comes first", |certificate, _| {
        let queue = certificate.queues.iter_mut().find(|queue| queue.marks.len() > 2).unwrap();
        queue.marks.reverse();
    }),
    ("another precision", |certificate, _| {
        let more = |known: &mut Known| known.prefix = known.prefix.map(|prefix| prefix + 1);
        certificate.precision.iter_mut().for_each(more);
    }),
    ("all is known", |certificate, _| certificate.precision.iter_mut().for_each(|known| known.prefix = None)),
    ("a payload is another", |certificate, _| {
        let letter = certificate.letters.iter_mut().find(|letter| letter.payload == Value::Int(7)).unwrap();
        letter.payload = Value::Int(8);
    }),
    ("a value that matters is forgotten", |certificate, _| {
        let letter = certificate.letters.iter_mut().find(|letter| letter.payload == Value::Int(7)).unwrap();
        letter.payload = Value::Forgotten;
    }),
    ("a machine is at another instruction", |certificate, _| {
        let local = certificate.locals.iter_mut().find(|(_, local)| !local.frames.is_empty()).unwrap();
        local.1.frames[0].at = u32::MAX;
    }),
    ("a machine has another number of variables", |certificate, _| certificate.locals[0].1.variables.push(Value::Null)),
    ("a machine has halted", |certificate, _| certificate.locals.iter_mut().for_each(|(_, local)| local.halted = true)),
    ("a state is listed twice", |certificate, _| {
        let first = certificate.locals[0].clone();
        certificate.locals.push(first);
    }),
];

#[test]
fn forgeries_are_rejected() {
    let program = program(FLOOD);
    let honest = closed(&program, Precision::ENDS).certificate(&CLAIMED);
    let rng = &mut Rng::with_seed(18);
    for (what, forge) in FORGERIES {
        for _ in 0..30 {
            let mut forged = honest.clone();
            forge(&mut forged, rng);
            if forged != honest {
                assert!(judge(&program, &forged).is_err(), "{what}");
            }
        }
    }
}

/// Items that no row needs make nothing true: neither a distance that is listed beside another, nor a letter or a state of
/// which less is known.
#[test]
fn decoys_make_nothing_true() {
    let counts = "event eA; event eB; machine Main { var i: int; var j: int; start state S { entry { send this, eA; } \
        on eA do { i = i + 5; j = j + 7; send this, eB; } on eB do { assert i + 2 != j; } } }";
    let program = program(counts);
    let mut forged = closed(&program, Precision::ENDS).certificate(&CLAIMED);
    let last = forged.locals.iter().position(|(_, local)| local.variables == [Value::Distance(0), Value::Distance(2)]);
    let last = last.unwrap();
    forged.locals[last].1.variables = vec![Value::Distance(5), Value::Distance(0)];
    let mut decoy = forged.locals[last].clone();
    decoy.1.variables = vec![Value::Int(0), Value::Distance(0)];
    forged.locals.push(decoy);
    assert!(judge(&program, &forged).is_err());

    let tells = self::program(
        "event eFirst: machine; event eUse: machine; event eTick; \
        machine Main { var a: machine; var b: machine; var x: machine; start state S { entry { \
          a = new C(); b = new C(); announce eFirst, a; if ($) { x = a; } else { x = b; } send a, eTick; \
          while (true) { announce eUse, x; send a, eTick; } } } } \
        machine C { start state T { ignore eTick; } } \
        spec Sp observes eFirst, eUse { var f: machine; start state S { \
          on eFirst do (m: machine) { f = m; } on eUse do (m: machine) { assert m == f; } } } \
        test t [main=Main]: assert Sp in { Main, C };",
    );
    let rows = closed(&tells, Precision::ENDS);
    for number in 0..rows.len() {
        let mut forged = rows.certificate(&CLAIMED);
        forged.symmetric = true;
        forged.rows.remove(number);
        assert!(judge(&tells, &forged).is_err());
        let mut letters: Vec<_> = forged.letters.iter().map(|letter| letter.event).collect();
        letters.dedup();
        forged.letters.extend(letters.iter().map(|&event| Letter { event, payload: Value::Forgotten }));
        assert!(judge(&tells, &forged).is_err());
    }
}

/// Whatever is changed in the text: it is refused, or it is a proof.
#[test]
fn damage_does_no_harm() {
    let program = program(FLOOD);
    let honest = closed(&program, Precision::ENDS).certificate(&CLAIMED).to_text();
    let body = honest.rsplit_once("end ").unwrap().0;
    let rng = &mut Rng::with_seed(19);
    let names: Vec<_> = CLAIMED.iter().map(|error| error.name().to_owned()).collect();
    for _ in 0..3_000 {
        let mut lines: Vec<String> = body.lines().map(str::to_owned).collect();
        let line = rng.usize(..lines.len());
        let mut words: Vec<String> = lines[line].split(' ').map(str::to_owned).collect();
        let word = rng.usize(..words.len());
        words[word] =
            ["0", "1", "7", "_", "(", ")", "null", "m9", "e0", "( seq 1 )", "-1", "x"][rng.usize(..12)].to_owned();
        lines[line] = words.join(" ");
        let text = tepui_cert::sealed(&(lines.join("\n") + "\n"));
        if let Ok(certificate) = Certificate::from_text(&text) {
            let _ = check(&program, &names, &certificate, &|| false);
        }
    }
}
