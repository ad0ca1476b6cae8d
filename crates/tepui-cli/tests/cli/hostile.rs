//! Programs that fooled or broke a verifier once, with what must come out.
//!
//! What limits cost is measured on a machine that may be busy: what is asserted about time is generous.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Room, tests_folder};

/// A line of options, the exit status, and the properties that must have the status of the whole.
type Row = (&'static str, &'static str, i32, &'static [&'static str]);

const ROWS: &[Row] = &[
    ("T1", "", 2, &[]),
    ("T2", "", 2, &[]),
    ("enf", "--deadlock", 1, &["deadlock-freedom"]),
    ("nested-label", "--label L", 1, &["L"]),
    ("label-local", "--label L", 1, &["L"]),
    ("label-start", "--label L", 1, &["L"]),
    ("label-broadcast", "--label L", 1, &["L"]),
    ("m_fd2", "--deadlock", 1, &["p@2", "deadlock-freedom"]),
    ("m_late", "--engine delays", 1, &["q@2", "p@3"]),
    ("m_fail_atomic", "--engine delays", 1, &["p@2", "q@3"]),
    ("lost", "", 1, &["main@25"]),
    ("m_cr", "--engine contexts --call-return plain", 1, &["main@9"]),
    ("hang12", "--timeout 30", 1, &[]),
    ("hang17", "--timeout 30", 1, &[]),
    ("kws", "", 0, &["main@6"]),
    ("prec_eq", "", 2, &[]),
    ("prec_xor", "", 2, &[]),
    ("prec_impl", "", 2, &[]),
    ("prec_eq", "--dialect boppo", 1, &["main@4"]),
    ("prec_xor", "--dialect boppo", 1, &["main@4"]),
    ("prec_impl", "--dialect boppo", 1, &["main@4"]),
    ("prec_eq", "--dialect getafix", 0, &["main@4"]),
    ("prec_xor", "--dialect getafix", 0, &["main@4"]),
    ("prec_impl", "--dialect getafix", 0, &["main@4"]),
    ("uncalled", "--dialect getafix", 0, &["main@10"]),
    ("fails-outside", "", 0, &["main@5"]),
    ("woken-to-label", "--label L", 1, &["L"]),
    ("woken-to-label", "--label L --no-reduction", 1, &["L"]),
    ("woken-to-label", "--label L --engine contexts", 1, &["L"]),
    ("elements-of-any-value", "--deadlock", 1, &["deadlock-freedom"]),
    ("outrun-crowd", "", 1, &["range@7"]),
    ("started-inside", "--label L", 1, &["L"]),
    ("started-blocked", "--label L", 0, &["L"]),
    ("woken-blocked", "--label L", 0, &["L"]),
    ("enforce-result", "--deadlock", 0, &["main@4", "deadlock-freedom"]),
    ("enforce-tautology", "--deadlock", 0, &["deadlock-freedom"]),
    ("join-after-call", "", 0, &["p@11"]),
    ("label-then-limit", "--label L2", 1, &["L2"]),
    ("label-and-deadlock", "--label L2 --deadlock", 1, &["L2"]),
    ("one-value-for-all", "--deadlock", 0, &["deadlock-freedom"]),
    ("unread-argument", "--label L5 --property L5", 0, &["L5"]),
    ("read-too-early", "", 1, &["f@5"]),
    ("broadcast-in-circle", "", 1, &["q@3"]),
    ("label-in-no-round", "--label L", 2, &[]),
    ("copied-value", "", 0, &["f@3"]),
    ("copied-value", "--no-reduction", 0, &["f@3"]),
    ("uncalled-wide", "", 0, &["main@4"]),
    ("wide-for-nothing", "", 0, &["main@3"]),
    ("returned-into-a-circle", "--deadlock", 0, &["deadlock-freedom"]),
    ("returned-into-a-circle", "--deadlock --engine contexts", 0, &["deadlock-freedom"]),
    ("returned-into-a-circle", "--deadlock --engine delays", 0, &["deadlock-freedom"]),
    ("init19", "", 0, &[]),
    ("lateinit19", "", 0, &[]),
    ("late19", "", 0, &[]),
    ("declinit", "", 0, &["main@3"]),
    ("duplabel", "--label ERR", 1, &["ERR"]),
    ("qmark", "", 1, &["main@4"]),
    ("print", "", 0, &["main@5"]),
    ("braceid", "", 0, &["main@4"]),
    ("passive", "", 2, &[]),
    ("schoose3", "", 2, &[]),
    ("abortif", "", 2, &[]),
    ("dfs", "", 2, &[]),
    ("sync", "", 2, &[]),
    ("startgotomulti", "", 2, &[]),
];

fn room() -> Room {
    let room = Room::new();
    for entry in std::fs::read_dir(tests_folder("hostile")).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), room.path(entry.file_name().to_str().unwrap())).unwrap();
    }
    room
}

#[test]
fn verdicts_are_right() {
    let room = room();
    for (file, options, code, properties) in ROWS {
        let run = room.expect(&format!("verify {file}.bp {options} --format json"), *code);
        if *code == 2 {
            continue;
        }
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let status = if *code == 0 { "safe" } else { "unsafe" };
        for property in *properties {
            let all = document["properties"].as_array().unwrap();
            let found = all.iter().find(|found| found["name"] == *property);
            assert_eq!(found.map(|found| &found["verdict"]), Some(&status.into()), "{file} {property}: {document}");
        }
    }
}

/// What is proved is accepted by `check`, and what is refuted by `replay`.
#[test]
fn evidence_is_accepted() {
    let room = room();
    for (file, options, code, _) in ROWS.iter().filter(|(_, _, code, _)| *code < 2) {
        let engine = options.split("--engine ").nth(1).map_or("", |rest| rest.split(' ').next().unwrap_or(""));
        let kept = options.replace(&format!("--engine {engine}"), "").replace("--call-return plain", "");
        let kept = kept.replace("--timeout 2", "");
        match code {
            0 => {
                room.expect(&format!("verify {file}.bp {options} --certificate c"), 0);
                room.expect(&format!("check c {file}.bp {kept}"), 0);
            }
            _ => {
                room.expect(&format!("verify {file}.bp {options} --trace t"), 1);
                room.expect(&format!("replay t {file}.bp {kept}"), 0);
            }
        }
    }
}

#[test]
fn names_are_refused_or_explained() {
    let room = room();
    let run = room.expect("verify T1.bp", 2);
    assert!(run.stderr.contains("T1.bp:1:6") && run.stderr.contains("constant"), "{}", run.stderr);
    let run = room.expect("verify prec_eq.bp", 2);
    for part in ["(a | b) = c", "a | (b = c)", "--dialect boppo", "--dialect getafix"] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    let run = room.expect("verify uncalled-assert.bp", 0);
    assert!(run.stderr.contains("`never` is never called"), "{}", run.stderr);
    let run = room.expect("verify uncalled.bp", 1);
    assert!(
        run.stderr.contains("`init` is never called") && run.stderr.contains("--dialect getafix"),
        "{}",
        run.stderr
    );
}

/// What is known and not supported is refused by its name.
#[test]
fn unsupported_constructs_are_named() {
    let room = room();
    let refused = [
        ("passive", "`l$` is the value of `l` in all other threads"),
        ("schoose3", "`schoose` with three values is not supported"),
        ("abortif", "the statement `abortif` is not supported"),
        ("dfs", "a procedure that is marked `dfs` is not supported"),
        ("sync", "the statement `sync` is not supported"),
        ("startgotomulti", "a thread that starts at one of several labels is not supported"),
    ];
    for (file, message) in refused {
        let run = room.expect(&format!("verify {file}.bp"), 2);
        assert!(run.stderr.contains(message), "{file}: {}", run.stderr);
    }
}

#[test]
fn printing_keeps_the_verdict() {
    let room = room();
    for file in ["kws", "braceid"] {
        let printed = room.expect(&format!("show {file}.bp --format bp"), 0).stdout;
        room.write("printed.bp", printed);
        room.expect("verify printed.bp", 0);
    }
}

#[test]
fn limits_hold() {
    let room = room();
    for file in ["blow10", "blow12", "hang12", "hang17"] {
        let start = Instant::now();
        let run = room.run(&format!("verify {file}.bp --timeout 2 --memory 500MB --format json"));
        assert!(start.elapsed() < Duration::from_secs(60), "{file}: {:?}", start.elapsed());
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        assert!(document["peak_memory_bytes"].as_u64().unwrap() < 600_000_000, "{file}: {document}");
        assert!(matches!(run.code, Some(0 | 1 | 3)), "{file}: {document}");
    }
}
