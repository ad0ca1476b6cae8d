//! Integers that are only compared with each other: what is proved with names holds, and forgeries are refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use fastrand::Rng;
use tepui_cert::queue::Certificate;
use tepui_check::queue::{Proved, check, replay};
use tepui_engines::queue::explorer::Explorer;
use tepui_engines::queue::summary::Precision;
use tepui_lang::p::{Options, read};
use tepui_lang::source::Source;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::names::Named;
use tepui_model::queue::{Program, Value};
use tepui_tests::queues::explore;

/// A client numbers its requests for ever, and a spec remembers all of them.
const NUMBERED: &str = "
event eAsk: (from: machine, id: int); event eTold: int;
machine Main { start state Init { entry { new Client(new Server()); } } }
machine Client {
  var server: machine; var next: int;
  start state Init { entry (s: machine) { server = s; next = 7; goto Ask; } }
  state Ask {
    entry { send server, eAsk, (from = this, id = next); next = next + 1; }
    on eTold do (id: int) { assert id == next - 1; goto Ask; }
  }
}
machine Server {
  start state Serve { on eAsk do (ask: (from: machine, id: int)) { send ask.from, eTold, ask.id; } }
}
spec Answered observes eAsk, eTold {
  var asked: map[int, int]; var open: set[int];
  start state S {
    on eAsk do (ask: (from: machine, id: int)) { asked[ask.id] = ask.id; open += (ask.id); }
    on eTold do (id: int) { assert id in asked; assert asked[id] == id; open -= (id); assert sizeof(open) == 0; }
  }
}
test t [main=Main]: assert Answered in { Main, Client, Server };
";

const CLAIMED: [Error; 4] = [Error::Assert, Error::Key, Error::Unhandled, Error::NullTarget];

fn program(text: &str) -> Program {
    let parsed = read(&[Source::new("x.p", text.as_bytes())], Options::default());
    let parsed = parsed.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    parsed.tests.into_iter().next().unwrap().program
}

fn with_names(program: &Program, most: u64) -> Option<Explorer> {
    let precision = vec![Precision::ENDS; program.kinds.len()];
    let mut explorer = Explorer::new(Arc::new(program.clone()), precision, usize::MAX).with_names();
    explorer.run(&mut |own| own.steps() > most).then_some(explorer)
}

fn judge(program: &Program, certificate: &Certificate) -> Result<Proved, String> {
    let read = Certificate::from_text(&certificate.to_text()).unwrap();
    assert_eq!(read, *certificate);
    check(program, &certificate.properties, &read, &|| false).map_err(|rejected| rejected.to_string())
}

#[test]
fn requests_may_be_numbered_for_ever() {
    let program = program(NUMBERED);
    let explorer = with_names(&program, 100_000).unwrap();
    assert!(explorer.has_names() && explorer.errors().is_empty(), "{:?}", explorer.errors());
    assert!(explorer.len() < 40, "{} rows", explorer.len());
    judge(&program, &explorer.certificate(&CLAIMED)).unwrap();
    for (right, wrong) in [
        ("id == next - 1", "id != next - 1"),
        ("eTold, ask.id", "eTold, ask.id + 1"),
        ("asked[ask.id] = ask.id;", ""),
        ("asked[id] == id", "asked[id] == id - 1"),
        ("open -= (id);", ""),
    ] {
        let text = NUMBERED.replace(right, wrong);
        assert_ne!(text, NUMBERED);
        let program = self::program(&text);
        let mut explorer = with_names(&program, 100_000).unwrap();
        assert!(explorer.errors().contains_key(&Error::Assert), "{wrong}");
        replay(&program, &explorer.trace(Error::Assert).unwrap()).unwrap();
    }
}

/// What is more than a name is noticed.
#[test]
fn numbers_are_no_names() {
    for (right, wrong) in [
        ("assert id == next - 1", "assert id < next"),
        ("assert id == next - 1", "assert id == 7"),
        ("assert sizeof(open) == 0", "assert sizeof(asked) < 3"),
        ("assert sizeof(open) == 0", "assert 7 in asked"),
        ("assert id in asked", "assert id / 2 < 9"),
        ("new Client(new Server());", "new Client(new Server()); new Client(new Server());"),
    ] {
        let text = NUMBERED.replace(right, wrong);
        assert_ne!(text, NUMBERED);
        let named = with_names(&program(&text), 100_000);
        assert!(named.is_none_or(|explorer| !explorer.has_names()), "{wrong}");
    }
}

/// Something that makes a certificate wrong.
type Forgery = (&'static str, fn(&mut Certificate, &mut Rng));

fn names_of(certificate: &mut Certificate, change: fn(i64) -> Value, rng: &mut Rng) {
    let named = |(_, local): &(u32, tepui_model::queue::run::Local)| !local.names().is_empty();
    // Others are only on the way to what is kept, or hold the only name of a row, which may be any. With one spec, states of
    // machines stand at even places.
    let kept = |row: usize| !certificate.named.iter().any(|&(from, to)| [from, to].contains(&(row as u32)));
    let rows = certificate.rows.iter().enumerate().filter(|(number, _)| kept(*number)).map(|(_, row)| row);
    let occurs = |local: usize| rows.clone().any(|row| row.iter().step_by(2).any(|&own| own as usize == local));
    let which: Vec<_> =
        (0..certificate.locals.len()).filter(|&local| named(&certificate.locals[local]) && occurs(local)).collect();
    let local = &mut certificate.locals[which[rng.usize(..which.len())]].1;
    local.values_mut(&mut |value| {
        if let Value::Name(name) = value {
            *value = change(*name);
        }
    });
}

const FORGERIES: &[Forgery] = &[
    ("nothing stands for the rows without names", |certificate, _| certificate.named.clear()),
    ("another row stands for one without names", |certificate, rng| {
        let rows = certificate.rows.len() as u32;
        let pair = rng.usize(..certificate.named.len());
        certificate.named[pair].1 = (certificate.named[pair].1 + rng.u32(1..rows)) % rows;
    }),
    ("a row with names needs no steps", |certificate, rng| {
        let rows = certificate.rows.len() as u32 - certificate.named.len() as u32;
        let row = rng.u32(..rows);
        certificate.named.push((row, row));
    }),
    ("a row is missing", |certificate, rng| {
        let last = certificate.rows.len() - certificate.named.len();
        certificate.rows[rng.usize(..last)] = Box::from([0, 0, 0]);
    }),
    ("a name is another one", |certificate, rng| names_of(certificate, |name| Value::Name(name + 1), rng)),
    ("a name is a number", |certificate, rng| names_of(certificate, Value::Int, rng)),
    ("a name is forgotten", |certificate, rng| names_of(certificate, |_| Value::Forgotten, rng)),
    ("no map is open", |certificate, _| {
        for (_, local) in &mut certificate.locals {
            local.values_mut(&mut |value| {
                if let Value::Map(entries) = value {
                    *value = Value::Map(entries.iter().filter(|(key, _)| *key != Value::Forgotten).cloned().collect());
                }
            });
        }
    }),
    ("machines may change places", |certificate, _| certificate.symmetric = true),
];

#[test]
fn forgeries_are_refused() {
    let program = program(NUMBERED);
    let certificate = with_names(&program, 100_000).unwrap().certificate(&CLAIMED);
    for (name, forge) in FORGERIES {
        for seed in 0..30 {
            let mut forged = certificate.clone();
            forge(&mut forged, &mut Rng::with_seed(seed));
            assert!(forged == certificate || judge(&program, &forged).is_err(), "{name}, seed {seed}");
        }
    }
}

/// A client that numbers its requests in some way, a server that answers somehow, and a spec that remembers something.
fn random(rng: &mut Rng) -> String {
    fn one<'t>(rng: &mut Rng, these: &[&'t str]) -> &'t str {
        these[rng.usize(..these.len())]
    }
    let first = one(rng, &["next = 3;", "", "next = 0;"]);
    let asks = one(rng, &["", "send server, eAsk, next - 1;", "if ($) { send server, eAsk, next; }"]);
    let grows = one(rng, &["next = next + 1;", "next = next + 2;", "if ($) { next = next + 1; }"]);
    let told =
        one(rng, &["", "assert id != next;", "assert id == next - 1;", "assert id != next - 2;", "assert id < 5;"]);
    let again = one(rng, &["goto Ask;", "", "if ($) { goto Ask; }", "if (last != id) { last = id; goto Ask; }"]);
    let serves = one(
        rng,
        &[
            "send boss, eTold, id;",
            "send boss, eTold, id; send boss, eTold, id;",
            "if (last == id) { last = 0; } else { last = id; } send boss, eTold, id;",
            "if (id in known) { send boss, eTold, id; } known += (id); send boss, eTold, id;",
            "send boss, eTold, id + 1;",
        ],
    );
    let hears = one(rng, &["asked[id] = id;", "if (id in asked) { twice += (id); } asked[id] = id;", "asked[0] = 0;"]);
    let answered = one(
        rng,
        &[
            "assert id in asked;",
            "if (id in asked) { asked -= (id); }",
            "assert !(id in twice);",
            "if (id in asked) { assert asked[id] == id; }",
            "assert sizeof(twice) < 2;",
            "assert asked[id] == id;",
        ],
    );
    format!(
        "event eAsk: int; event eTold: int;
machine Main {{ var server: machine; var next: int; var last: int;
  start state Init {{ entry {{ server = new Server(this); {first} goto Ask; }} }}
  state Ask {{ entry {{ send server, eAsk, next; {asks} {grows} }}
    on eTold do (id: int) {{ {told} {again} }} }} }}
machine Server {{ var boss: machine; var last: int; var known: set[int];
  start state Serve {{ entry (m: machine) {{ boss = m; }} on eAsk do (id: int) {{ {serves} }} }} }}
spec Answered observes eAsk, eTold {{ var asked: map[int, int]; var twice: set[int];
  start state S {{ on eAsk do (id: int) {{ {hears} }} on eTold do (id: int) {{ {answered} }} }} }}
test t [main=Main]: assert Answered in {{ Main, Server }};
"
    )
}

#[test]
fn what_is_proved_with_names_holds() {
    let number = |variable: &str, otherwise| std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap());
    let (first, count): (u64, u64) = (number("TEPUI_RANDOM_SEED", 0), number("TEPUI_RANDOM_PROGRAMS", 1_000));
    let mut counts = BTreeMap::<_, usize>::new();
    for seed in first..first + count {
        let text = random(&mut Rng::with_seed(seed));
        let program = program(&text);
        let Some(mut named) = with_names(&program, 4_000) else { continue };
        if !named.has_names() {
            continue;
        }
        *counts.entry("closed").or_default() += 1;
        let slow = explore(&program, 2, 1_000);
        let missed = slow.errors.keys().find(|error| !named.errors().contains_key(error));
        assert_eq!(missed, None, "seed {seed}: missed\n{text}");
        let claimed: Vec<_> = CLAIMED.into_iter().filter(|error| !named.errors().contains_key(error)).collect();
        let certificate = named.certificate(&claimed);
        let proved = judge(&program, &certificate).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let missed = slow.handled.difference(&proved.handled).next();
        assert_eq!(missed, None, "seed {seed}: a handler that is used\n{text}");
        *counts.entry("proved").or_default() += usize::from(claimed.contains(&Error::Assert));
        if named.errors().contains_key(&Error::Assert) {
            *counts.entry("broken").or_default() += 1;
            let trace = named.trace(Error::Assert).unwrap();
            *counts.entry("replayed").or_default() += usize::from(replay(&program, &trace).is_ok());
        }
    }
    println!("{counts:?}");
    let count = count as usize;
    assert!(counts["proved"] * 20 > count && counts["broken"] * 20 > count, "{counts:?}");
    assert!(counts["replayed"] * 10 > counts["broken"] * 8, "{counts:?}");
}
