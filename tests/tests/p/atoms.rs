//! Chosen numbers that are only compared with each other: what is proved with atoms holds, and forgeries are refused. And
//! letters that come early into bags: what is proved so holds as well.

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
use tepui_model::queue::{Program, Value};
use tepui_tests::queues::explore;
use tepui_tests::random_p;

/// A client writes values that it chooses under keys that it chooses, and reads them again; there are three rounds.
const STORE: &str = "
event eWrite: (from: machine, key: string, value: int); event eWritten; event eRead: (from: machine, key: string);
event eFound: (key: string, value: int);
machine Main { start state Init { entry { new Client(new Store()); } } }
machine Client {
  var store: machine; var key: string; var value: int; var rounds: int;
  start state Init { entry (s: machine) { store = s; goto Write; } }
  state Write {
    entry {
      key = format(\"{0}\", choose(COUNT)); value = choose(COUNT);
      send store, eWrite, (from = this, key = key, value = value);
    }
    on eWritten goto Read;
  }
  state Read {
    entry { send store, eRead, (from = this, key = key); }
    on eFound do (found: (key: string, value: int)) {
      assert found.key == key && found.value == value; assert found.key != \"none\";
      rounds = rounds + 1;
      if (rounds < 3) { goto Write; }
    }
  }
}
machine Store {
  var kept: map[string, int];
  start state Serve {
    on eWrite do (write: (from: machine, key: string, value: int)) {
      kept[write.key] = write.value; send write.from, eWritten;
    }
    on eRead do (asked: (from: machine, key: string)) {
      if (asked.key in kept) { send asked.from, eFound, (key = asked.key, value = kept[asked.key]); }
      else { send asked.from, eFound, (key = \"none\", value = -1); }
    }
  }
}
test t [main=Main]: { Main, Client, Store };
";

const CLAIMED: [Error; 5] = [Error::Assert, Error::Key, Error::Unhandled, Error::NullTarget, Error::Deadlock];

fn program(text: &str) -> Program {
    let parsed = read(&[Source::new("x.p", text.as_bytes())], Options::default());
    let parsed = parsed.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"));
    parsed.tests.into_iter().next().unwrap().program
}

fn store(count: u32) -> String {
    STORE.replace("COUNT", &count.to_string())
}

/// A search with atoms; none, if there are none, if something depends on one, or if it takes too long.
fn with_atoms(program: &Program, precision: &[Precision], most: u64) -> Option<Explorer> {
    let explorer = Explorer::with_atoms(program, program.chosen_numbers(), precision.to_vec())?;
    let mut explorer = explorer.with_partial_order().again(precision.to_vec());
    explorer.run(&mut |own| own.steps() > most).then_some(explorer)
}

fn ends(program: &Program) -> Vec<Precision> {
    vec![Precision::ENDS; program.kinds.len()]
}

fn judge(program: &Program, certificate: &Certificate) -> Result<Proved, String> {
    let read = Certificate::from_text(&certificate.to_text()).unwrap();
    assert_eq!(read, *certificate);
    check(program, &certificate.properties, &read, &|| false).map_err(|rejected| rejected.to_string())
}

#[test]
fn values_may_be_of_any_number() {
    let mut rows = Vec::new();
    for count in [3, 4, 30] {
        let program = program(&store(count));
        let explorer = with_atoms(&program, &ends(&program), 200_000).unwrap();
        assert!(explorer.errors().is_empty(), "{:?}", explorer.errors());
        judge(&program, &explorer.certificate(&CLAIMED)).unwrap();
        rows.push(explorer.len());
    }
    assert!(rows.iter().all(|own| *own == rows[0]), "{rows:?}");
    for (right, wrong) in [
        ("kept[write.key] = write.value;", "if (!(write.key in kept)) { kept[write.key] = write.value; }"),
        ("found.value == value", "found.value != value"),
        ("value = kept[asked.key]", "value = choose(COUNT)"),
    ] {
        let text = STORE.replace(right, wrong);
        assert_ne!(text, STORE);
        let program = self::program(&text.replace("COUNT", "4"));
        // What is chosen elsewhere is of another class, so nobody knows whether it is equal.
        let Some(mut explorer) = with_atoms(&program, &ends(&program), 200_000) else {
            assert!(wrong.contains("choose"));
            continue;
        };
        assert!(explorer.errors().contains_key(&Error::Assert), "{wrong}");
        replay(&program, &explorer.trace(Error::Assert).unwrap()).unwrap();
    }
}

/// What is more than an atom is noticed.
#[test]
fn numbers_are_no_atoms() {
    for (right, wrong) in [
        ("found.value == value", "found.value <= value"),
        ("found.value == value", "found.value == value && value != 3"),
        ("found.value == value", "found.value == value && value + 0 == value"),
        ("found.key != \"none\"", "found.key != \"3\""),
        ("found.key != \"none\"", "found.key + \"x\" != \"none\""),
        ("kept[write.key] = write.value;", "kept[write.key] = write.value; if (write.value > 2) { return; }"),
    ] {
        let text = store(4).replace(right, wrong);
        assert_ne!(text, store(4));
        let program = program(&text);
        assert!(with_atoms(&program, &ends(&program), 200_000).is_none(), "{wrong}");
    }
}

/// Something that makes a certificate wrong.
type Forgery = (&'static str, fn(&mut Certificate, &mut Rng));

/// Changes an atom of a row that is kept, in one state of a machine.
fn change_an_atom(certificate: &mut Certificate, rng: &mut Rng) {
    let has = |local: usize| {
        let mut found = false;
        certificate.locals[local].1.clone().values_mut(&mut |value| found |= matches!(value, Value::Atom { .. }));
        found
    };
    let in_rows =
        |local: usize| certificate.rows.iter().any(|row| row.iter().step_by(2).any(|own| *own as usize == local));
    let which: Vec<_> = (0..certificate.locals.len()).filter(|local| has(*local) && in_rows(*local)).collect();
    let local = &mut certificate.locals[which[rng.usize(..which.len())]].1;
    local.values_mut(&mut |value| {
        if let Value::Atom { class, number, text } = value {
            *value = Value::Atom { class: *class, number: *number + 7, text: *text };
        }
    });
}

const FORGERIES: &[Forgery] = &[
    ("no atoms", |certificate, _| certificate.atoms.clear()),
    ("fewer atoms", |certificate, _| _ = certificate.atoms.pop()),
    ("other places", |certificate, rng| certificate.atoms[0].1 += rng.usize(1..3)),
    ("another function", |certificate, _| certificate.atoms[0].0 += 1),
    ("a place twice", |certificate, _| certificate.atoms.push(certificate.atoms[0])),
    ("a place that is not there", |certificate, _| certificate.atoms.push((usize::MAX, 0))),
    ("classes exchanged", |certificate, _| certificate.atoms.reverse()),
    ("another atom", change_an_atom),
    ("a row less", |certificate, rng| _ = certificate.rows.remove(rng.usize(..certificate.rows.len()))),
    ("with symmetry", |certificate, _| certificate.symmetric = true),
    ("with liveness", |certificate, _| certificate.properties.push(Error::HotForEver.name().to_owned())),
];

#[test]
fn forgeries_are_refused() {
    let program = program(&store(4));
    let right = with_atoms(&program, &ends(&program), 200_000).unwrap().certificate(&CLAIMED);
    judge(&program, &right).unwrap();
    for (name, forge) in FORGERIES {
        for seed in 0..20 {
            let mut forged = right.clone();
            forge(&mut forged, &mut Rng::with_seed(seed));
            assert!(check(&program, &forged.properties, &forged, &|| false).is_err(), "{name}, seed {seed}");
        }
    }
    // Values that are not all compared are no reason to accept what is wrong elsewhere.
    let broken = self::program(&store(4).replace("kept[write.key] = write.value;", "kept[write.key] = 0;"));
    let mut forged = right;
    forged.program = broken.digest();
    assert!(check(&broken, &forged.properties, &forged, &|| false).is_err());
}

/// A client and a store with values that are chosen, some of them used as what they are not.
fn random(rng: &mut Rng) -> String {
    fn some<'t>(rng: &mut Rng, these: &[&'t str]) -> &'t str {
        these[rng.usize(..these.len())]
    }
    let count = rng.u8(2..=4);
    let asked = some(
        rng,
        &[
            "assert got.value == value;",
            "assert got.value == value || got.key != key;",
            "assert got.key == key; if (got.value != value) { rounds = rounds + 1; }",
            "assert got.value in past;",
            "assert sizeof(past) < 3;",
            "assert got.value != value || got.key != \"no\";",
            "assert got.value < 3;",
        ],
    );
    let written = some(
        rng,
        &[
            "kept[write.key] = write.value;",
            "if (write.key in kept && kept[write.key] == write.value) { kept -= (write.key); } \
             else { kept[write.key] = write.value; }",
            "if (last == write.value) { kept[write.key] = write.value; } last = write.value; kept[write.key] = last;",
            "if (sizeof(kept) == 0) { kept[write.key] = write.value; }",
        ],
    );
    let found = some(rng, &["kept[asked.key]", "kept[asked.key]", "kept[asked.key]", "choose(kept)", "last"]);
    let found = found.replace("choose(kept)", "kept[choose(keys(kept))]");
    let sends = some(rng, &["", "if ($) { send store, eRead, (from = this, key = key); }", "send this, eTick;"]);
    let chosen = some(rng, &["choose(N)", "choose(N)", "choose(N) + 0"]).replace('N', &count.to_string());
    let rounds = rng.u8(1..=2);
    let watched = some(
        rng,
        &[
            "assert !(got.key in last) || last[got.key] == got.value;",
            "assert got.value in values(last) || got.key == \"no\";",
            "assert sizeof(keys(last)) < 3;",
            "foreach (one in values(last)) { if (one == got.value) { return; } } assert sizeof(last) == 0;",
            "assert !(got in all) || got.key == \"no\"; all += (got);",
            "if (sizeof(values(last)) > 1) { assert values(last)[0] != values(last)[1]; }",
        ],
    );
    let watch = some(rng, &["", "assert Watch in "]);
    let helps = some(rng, &["", "if ($) { new Helper((store = store, key = key)); }"]);
    format!(
        "event eWrite: (from: machine, key: string, value: int); event eWritten; event eTick;
event eRead: (from: machine, key: string); event eFound: (key: string, value: int);
machine Main {{ start state Init {{ entry {{ new Client(new Store()); }} }} }}
machine Client {{ var store: machine; var key: string; var value: int; var rounds: int; var past: set[int];
  start state Init {{ entry (s: machine) {{ store = s; goto Write; }} }}
  state Write {{
    entry {{ key = format(\"{{0}}\", choose({count})); value = {chosen}; past += (value);
      send store, eWrite, (from = this, key = key, value = value); {sends} {helps} }}
    on eWritten goto Read; ignore eTick; ignore eFound; }}
  state Read {{ entry {{ send store, eRead, (from = this, key = key); }} ignore eTick;
    on eFound do (got: (key: string, value: int)) {{ {asked} rounds = rounds + 1;
      if (rounds < {rounds}) {{ goto Write; }} }} }} }}
machine Store {{ var kept: map[string, int]; var last: int;
  start state Serve {{
    on eWrite do (write: (from: machine, key: string, value: int)) {{ {written} send write.from, eWritten; }}
    on eRead do (asked: (from: machine, key: string)) {{
      if (asked.key in kept) {{ send asked.from, eFound, (key = asked.key, value = {found}); }}
      else {{ send asked.from, eFound, (key = \"no\", value = 0 - 1); }} }} }} }}
machine Helper {{ start state Init {{
  entry (own: (store: machine, key: string)) {{ send own.store, eRead, (from = this, key = own.key); }}
  on eFound do (got: (key: string, value: int)) {{ assert got.key == \"no\" || got.value != -1; raise halt; }} }} }}
spec Watch observes eWrite, eFound {{ var last: map[string, int]; var all: set[(key: string, value: int)];
  start state Watching {{
    on eWrite do (write: (from: machine, key: string, value: int)) {{ last[write.key] = write.value; }}
    on eFound do (got: (key: string, value: int)) {{ var one: int; {watched} }} }} }}
test t [main=Main]: {watch}{{ Main, Client, Store, Helper }};
"
    )
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn what_is_proved_with_atoms_holds() {
    let (first, count) = (number("TEPUI_RANDOM_SEED", 0), number("TEPUI_RANDOM_PROGRAMS", 300));
    let mut counts = BTreeMap::<_, usize>::new();
    for seed in first..first + count {
        let text = random(&mut Rng::with_seed(seed));
        let program = program(&text);
        let mixed = bags(&program, &mut Rng::with_seed(seed));
        for precision in [ends(&program), mixed] {
            let Some(mut explorer) = with_atoms(&program, &precision, 20_000) else { continue };
            *counts.entry("closed").or_default() += 1;
            let slow = explore(&program, 3, 6_000);
            let missed = slow.errors.keys().find(|error| !explorer.errors().contains_key(error));
            assert_eq!(missed, None, "seed {seed}: missed\n{text}");
            let claimed: Vec<_> = CLAIMED.into_iter().filter(|error| !explorer.errors().contains_key(error)).collect();
            let certificate = explorer.certificate(&claimed);
            let proved = judge(&program, &certificate).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
            let missed = slow.handled.difference(&proved.handled).next();
            assert_eq!(missed, None, "seed {seed}: a handler that is used\n{text}");
            *counts.entry("proved").or_default() += usize::from(claimed.contains(&Error::Assert));
            if explorer.errors().contains_key(&Error::Assert) {
                *counts.entry("broken").or_default() += 1;
                let trace = explorer.trace(Error::Assert).unwrap();
                *counts.entry("replayed").or_default() += usize::from(replay(&program, &trace).is_ok());
                let all = explorer.certificate(&CLAIMED);
                assert!(judge(&program, &all).is_err(), "seed {seed}: an error is accepted\n{text}");
            }
        }
    }
    println!("{counts:?}");
    let count = count as usize;
    assert!(counts["proved"] * 5 > count && counts["broken"] * 20 > count, "{counts:?}");
    assert!(counts["replayed"] * 2 > counts["broken"], "{counts:?}");
}

/// Bags for some kinds of machines, and ends for the others.
fn bags(program: &Program, rng: &mut Rng) -> Vec<Precision> {
    program.kinds.iter().map(|_| if rng.bool() { Precision::BAG } else { Precision::ENDS }).collect()
}

#[test]
fn letters_that_come_early_hide_nothing() {
    let (first, count) = (number("TEPUI_RANDOM_SEED", 0), number("TEPUI_RANDOM_PROGRAMS", 1_000));
    let mut counts = BTreeMap::<_, usize>::new();
    for seed in first..first + count {
        let mut rng = Rng::with_seed(seed);
        let text = if rng.u8(..3) == 0 { random_p::program(&mut rng) } else { random_p::races::program(&mut rng) };
        let program = program(&text);
        let precision = bags(&program, &mut rng);
        let search = |less: bool| {
            let explorer = Explorer::new(Arc::new(program.clone()), precision.clone(), usize::MAX);
            let explorer = if less { explorer.with_partial_order() } else { explorer };
            let mut explorer = explorer.again(precision.clone());
            explorer.run(&mut |own| own.steps() > 20_000).then_some(explorer)
        };
        let (Some(all), Some(some)) = (search(false), search(true)) else { continue };
        let slow = explore(&program, 3, 3_000);
        let missed = slow.errors.keys().find(|error| !some.errors().contains_key(error));
        assert_eq!(missed, None, "seed {seed}: missed with {precision:?}\n{text}");
        let claimed: Vec<_> = CLAIMED.into_iter().filter(|error| !some.errors().contains_key(error)).collect();
        let proved =
            judge(&program, &some.certificate(&claimed)).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let missed = slow.handled.difference(&proved.handled).next();
        assert_eq!(missed, None, "seed {seed}: a handler that is used\n{text}");
        *counts.entry("closed").or_default() += 1;
        *counts.entry("broken").or_default() += usize::from(!slow.errors.is_empty());
        *counts.entry("fewer").or_default() += usize::from(some.len() < all.len());
    }
    println!("{counts:?}");
    assert!(counts["fewer"] * 3 > counts["closed"] && counts["broken"] * 5 > counts["closed"], "{counts:?}");
}

/// Finds an assertion that fails, with a bag for the receiver, although others may wait.
fn is_found(text: &str) {
    let program = program(text);
    let bag = |kind: &str| if kind == "Receiver" { Precision::BAG } else { Precision::ENDS };
    let precision: Vec<_> = program.told.kinds.iter().map(|kind| bag(&kind.name)).collect();
    let explorer = Explorer::new(Arc::new(program.clone()), precision.clone(), usize::MAX).with_partial_order();
    let mut explorer = explorer.again(precision);
    assert!(explorer.run(&mut |_| false));
    assert!(explorer.errors().contains_key(&Error::Assert), "{:?}\n{text}", explorer.errors());
    assert!(judge(&program, &explorer.certificate(&CLAIMED)).is_err(), "{text}");
}

/// What is in a bag may have come early, so its owner must not take it before somebody has had the chance to send more.
#[test]
fn owners_of_bags_wait() {
    is_found(
        "event eGo; event eLetter; event eBad; event eSeen;
machine Main { start state Init { entry {
  var receiver: machine; var early: machine; receiver = new Receiver(); early = new Early(receiver);
  send early, eGo; new Late(receiver); } } }
machine Early { var receiver: machine;
  start state Init { entry (own: machine) { receiver = own; } on eGo do { send receiver, eLetter; } } }
machine Late { start state Init { entry (own: machine) { announce eSeen; send own, eBad; } } }
machine Receiver {
  start state First { on eLetter goto Second; on eBad do { assert false; } }
  state Second { ignore eBad, eLetter; } }
spec Watch observes eSeen { start state Watching { on eSeen do { } } }
test t [main=Main]: assert Watch in { Main, Early, Late, Receiver };
",
    );
}

/// Who does something because nothing is there may notice that a letter comes early.
#[test]
fn nothing_comes_early_to_who_asks_for_null() {
    is_found(
        "event eGo; event eStart; event eLetter;
machine Main { start state Init { entry {
  var receiver: machine; var early: machine; receiver = new Receiver(); early = new Early(receiver);
  send early, eGo; send receiver, eStart; } } }
machine Early { var receiver: machine;
  start state Init { entry (own: machine) { receiver = own; } on eGo do { send receiver, eLetter; } } }
machine Receiver {
  start state First { defer eLetter; on eStart goto Second; }
  state Second { on null do { assert false; } on eLetter goto Third; }
  state Third { ignore eLetter; } }
test t [main=Main]: { Main, Early, Receiver };
",
    );
}

/// A letter that all states ignore may still be received.
#[test]
fn letters_that_are_received_are_of_use() {
    is_found(
        "event eGo; event eLetter;
machine Main { start state Init { entry {
  var receiver: machine; receiver = new Receiver(); send receiver, eGo; send receiver, eLetter; } } }
machine Receiver {
  start state First { ignore eLetter; on eGo do { receive { case eLetter: { assert false; } } } } }
test t [main=Main]: { Main, Receiver };
",
    );
}
