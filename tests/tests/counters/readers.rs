//! What is read, and what is refused.

use fastrand::Rng;
use tepui_cert::counters::{Certificate, Trace};
use tepui_cert::sealed;
use tepui_lang::counters::{AtStart, print_spec, read_spec, read_tts};
use tepui_lang::source::Source;
use tepui_model::counters::{Net, State};
use tepui_model::pushdown::Names;

use crate::random::{Shape, net};

fn spec(text: &str) -> Result<Net, String> {
    let read = read_spec(&Source::new("x.spec", text.as_bytes()), None);
    read.map(|parsed| parsed.net).map_err(|errors| errors[0].message.clone())
}

fn rule(rule: &str) -> Result<Net, String> {
    spec(&format!("vars x y z rules {rule} init x = 2, y >= 1, z = 0 target z >= 1, y >= 2\n x >= 7"))
}

fn after(net: &Net, counts: [u64; 3]) -> Option<Vec<u64>> {
    net.after(&State { shared: 0, counts: counts.to_vec() }, &net.steps[0]).map(|state| state.counts)
}

#[test]
fn rules_do_what_they_say() {
    let net = rule("x >= 1 -> x' = x - 1, y' = y + 1;").unwrap();
    assert_eq!(after(&net, [2, 1, 0]), Some(vec![1, 2, 0]));
    assert_eq!(after(&net, [0, 1, 0]), None);
    assert_eq!(net.properties[0].never.len(), 2);
    // A guard that asks for less than is taken, one that asks for more, and none.
    let net = rule("x >= 1 -> x' = x - 2;").unwrap();
    assert_eq!((after(&net, [1, 1, 0]), after(&net, [2, 1, 0])), (None, Some(vec![0, 1, 0])));
    let net = rule("x >= 3 -> x' = x - 1;").unwrap();
    assert_eq!((after(&net, [2, 1, 0]), after(&net, [3, 1, 0])), (None, Some(vec![2, 1, 0])));
    assert_eq!(after(&rule("true -> y' = y + 2;").unwrap(), [0, 0, 0]), Some(vec![0, 2, 0]));
    assert_eq!(after(&rule("-> ;").unwrap(), [1, 0, 0]), Some(vec![1, 0, 0]));
    // Everybody goes somewhere, swaps, or disappears.
    let net = rule("x >= 1 -> x' = 1, y' = y + x + 1;").unwrap();
    assert_eq!(after(&net, [3, 2, 0]), Some(vec![1, 6, 0]));
    let net = rule("x >= 2, y >= 1 -> x' = y, y' = x + 1;").unwrap();
    assert_eq!(after(&net, [3, 2, 0]), Some(vec![2, 4, 0]));
    let net = rule("x >= 1 -> x' = 0, y' = 1, z' = x + y + z - 1;").unwrap();
    assert_eq!((after(&net, [3, 2, 1]), after(&net, [0, 2, 1])), (Some(vec![0, 1, 5]), None));
    let net = rule("x >= 1 -> x' = 0;").unwrap();
    assert_eq!(after(&net, [3, 2, 0]), Some(vec![0, 2, 0]));
}

#[test]
fn what_cannot_be_decided_or_understood_is_refused() {
    for (text, why) in [
        ("x = 0 -> x' = x + 1;", "`>=`"),
        ("x in [1, 2] -> x' = x + 1;", "`>=`"),
        ("x >= 1 -> x' = x, y' = x;", "copied"),
        ("x >= 1 -> y' = y + z - 1;", "less a number"),
        ("x >= 1 -> x' = y - x;", "subtracted"),
        ("x >= 1 -> x' = x, x' = 1;", "two new values"),
        ("x >= 1 -> w' = w + 1;", "no variable"),
        ("x >= 1 -> x = x + 1;", "`'`"),
        ("x >= 1 -> x' = x + 99999999999;", "too large"),
        ("x >= 1 -> x' = x + 1", "`,` or `;`"),
    ] {
        let error = rule(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    for (text, why) in [
        ("", "empty"),
        ("vars x", "`rules`"),
        ("vars x x rules init x = 0 target x >= 1", "declared twice"),
        ("vars x y rules init x = 0 target x >= 1", "start of `y`"),
        ("vars x rules init x = 0, x = 1 target x >= 1", "starts twice"),
        ("vars x rules init x = 0 target", "target"),
        ("vars x rules init x = 0 target x = 1", "`>=`"),
    ] {
        let error = spec(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
    assert!(spec("vars x rules init x = 0 target x >= 1\ninvariants x = 1").is_ok());
    assert!(spec("vars x # caf\u{fffd}\nrules init\nx\n= 0 target x >= 1").is_ok());
}

#[test]
fn thread_transition_systems() {
    let read = |text: &str, target: &str, at_start| {
        let (tts, target) = (Source::new("x.tts", text.as_bytes()), Source::new("x.prop", target.as_bytes()));
        read_tts(&tts, Some(&target), at_start).map(|parsed| parsed.net).map_err(|errors| errors[0].message.clone())
    };
    let net = read("2 3 # sizes\n0 0 -> 1 1\n1 1 +> 0 0\n1 1 +> 1 1\n", "1|1,0,1\n0", AtStart::Any).unwrap();
    assert_eq!(net.properties[0].never[0].counts, [(0, 1), (1, 2)]);
    assert_eq!(net.properties[0].never[1].counts, []);
    assert!(net.counts[0].or_more && net.counts[0].least == 1);
    let state = State { shared: 1, counts: vec![0, 1, 0] };
    assert_eq!(net.after(&state, &net.steps[1]).unwrap().counts, [1, 1, 0]);
    assert_eq!(net.after(&state, &net.steps[2]).unwrap().counts, [0, 2, 0]);
    assert!(!read("1 1\n", "0|0", AtStart::One).unwrap().counts[0].or_more);
    for (text, target, why) in [
        ("", "0|0", "empty"),
        ("0 1", "0|0", "one at least"),
        ("1 1 0 0 -> 0 1", "0|0", "no such state"),
        ("1 2\n0 0 -> 0 1 0 ~> 1", "0|0", "more than it should"),
        ("1 2\n0 0 => 0 1", "0|0", "`->` or `+>`"),
        ("1 2\n0 0 -> 0 1", "1|0", "no such state"),
        ("1 2\n0 0 -> 0 1", "0|2", "no such state"),
        ("1 2\n0 0 -> 0 1", "", "ends"),
        ("99999999 1", "0|0", "too large"),
    ] {
        let error = read(text, target, AtStart::Any).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

/// A text with some bytes changed, left out, doubled or exchanged with words that occur elsewhere.
fn damaged(rng: &mut Rng, text: &str) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n', '|', '*', ',']).collect();
    for _ in 0..rng.usize(1..=2) {
        let (at, other) = (rng.usize(0..words.len()), rng.usize(0..words.len()));
        match rng.u32(0..5) {
            0 => words[at] = words[other],
            1 => words.insert(at, words[other]),
            2 if words.len() > 1 => drop(words.remove(at)),
            3 => words[at] = "4294967295",
            _ => words[at] = ["1000000 ", "-1 ", "\u{e4}", "0-7 ", "|", ":", "\n"][rng.usize(0..7)],
        }
    }
    words.concat()
}

#[test]
fn damaged_texts_do_no_harm() {
    let models = [
        "vars x y z\nrules x >= 1 -> x' = x - 1, y' = y + z + 1, z' = 0;\ninit x >= 1, y = 0, z = 2\ntarget y >= 2, z >= 1\n",
        "3 4\n0 0 -> 1 1\n1 1 +> 2 0\n2 1 -> 0 3\n",
    ];
    let net = spec(models[0]).unwrap();
    let head = format!("tepui certificate of counters 1\nmodel {}\nproperty target\nnever 0 | 1*2 2*1\n", net.digest());
    let lemmas = "lemma weight 2\nweigh | 1*1 2*1\nlemma views 2\nrows 2\n0 | 0 : 0 2-3\n0 | 2 : 2-3\nlemma never\nnever 0 | 1*2\n";
    let trace = format!(
        "tepui trace of counters 1\nmodel {}\nproperty target\nstart 0 | 0*1 2*2\nstep 1 : 0 | 1*3\nend 1\n",
        net.digest()
    );
    let (mut read, mut mended) = (0, 0);
    for seed in 0..20_000 {
        let mut rng = Rng::with_seed(seed);
        let text = damaged(&mut rng, models[seed as usize % 2]);
        let source = Source::new("x", text.as_bytes());
        read +=
            usize::from(read_spec(&source, None).is_ok()) + usize::from(read_tts(&source, None, AtStart::Any).is_ok());
        if let Ok(certificate) = Certificate::from_text(&sealed(&format!("{head}{}", damaged(&mut rng, lemmas)))) {
            mended += 1;
            assert!(tepui_check::counters::check(&net, &["target".to_owned()], &certificate, &|| false).is_err());
        }
        for trace in Trace::from_text(&damaged(&mut rng, &trace)).unwrap_or_default() {
            let _ = tepui_check::counters::replay(&net, &trace);
        }
    }
    assert!(read > 500 && mended > 500, "{read} {mended}");
}

#[test]
fn what_is_printed_is_read_again() {
    let mut printed = 0;
    for seed in 0..2_000 {
        let mut rng = Rng::with_seed(seed);
        let shape = Shape { transfers: seed % 2 == 0, guards: false, meetings: true };
        let mut net = net(&mut rng, shape);
        net.shared = Names::Numbers(1);
        net.steps.iter_mut().for_each(|step| (step.from, step.to) = (0, 0));
        // To stay where one is is no move.
        net.steps.iter_mut().for_each(|step| step.moves.retain(|(from, to)| *to != Some(*from)));
        net.properties[0].never.iter_mut().for_each(|pattern| pattern.shared = 0);
        let Ok(text) = print_spec(&net) else { continue };
        let again = spec(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        assert_eq!((again.digest(), &again.properties), (net.digest(), &net.properties), "seed {seed}\n{text}");
        printed += 1;
    }
    assert!(printed > 1_500, "{printed}");
}
