//! `tepui bench`: small suites and short limits. What is measured varies, what is printed around it does not.

use crate::escapes::SPADE;
use crate::suite::{document, line, room, room_of_all_forms, rows};

const ENGINES: [&str; 4] = ["closure", "delays", "contexts-explicit", "contexts-symbolic"];

#[test]
fn the_table_of_engines_has_a_row_for_each_engine_and_job() {
    let room = room("lock.cpds");
    let run = room.expect("bench suite --runs 2 --json x.json", 0);
    assert_eq!(run.stderr, "", "progress is for terminals");
    for engine in ENGINES {
        for job in ["views", "properties"] {
            assert_eq!(line(&run.stdout, &["lock", engine, job])[3], "safe");
        }
        assert!(run.stdout.contains(&format!("{engine}, views: 1 row, 0 unknown")), "{}", run.stdout);
    }
    let document = document(&room, "x.json");
    assert_eq!(document.as_object().unwrap().keys().collect::<Vec<_>>(), ["engines"]);
    assert_eq!(rows(&document, "engines").len(), 8);
    for row in rows(&document, "engines") {
        for name in ["views", "states", "steps", "peak_memory_bytes"] {
            assert!(row[name].as_u64().is_some_and(|number| number > 0), "{name}: {row}");
        }
        assert!(row["seconds"].is_f64() && row["check_seconds"].is_f64() && row["reason"].is_null(), "{row}");
    }
}

#[test]
fn a_run_without_an_answer_says_why() {
    let room = room("heights.cpds");
    let run = room.expect("bench suite --engine contexts-states --timeout 0.2s --json x.json", 0);
    assert_eq!(line(&run.stdout, &["heights", "contexts-states", "properties"])[3..5], ["unknown:", "timeout"]);
    let document = document(&room, "x.json");
    assert!(rows(&document, "engines").iter().all(|row| row["reason"] == "timeout"), "{document}");
}

#[test]
fn an_engine_that_does_not_apply_has_no_row() {
    let run = room("mixed.cpds").expect("bench suite --engine contexts-states --runs 1", 0);
    assert!(!run.stdout.contains("contexts-states"), "{}", run.stdout);
}

#[test]
fn models_in_every_form_are_run_and_the_rest_is_named() {
    let room = room_of_all_forms(SPADE);
    room.expect("verify suite/hello.spad", room.run("verify suite/hello.spad").code.filter(|&code| code != 2).unwrap());
    let run = room.expect("bench suite --engine closure --runs 1 --json x.json", 0);
    assert_eq!(run.stderr, "skipped in suite: more/, notes.txt\n");
    let document = document(&room, "x.json");
    for model in ["lock", "relay", "begin", "doors", "hello"] {
        assert!(rows(&document, "engines").iter().any(|row| row["model"] == model), "{model}: {document}");
    }
}

#[test]
fn engines_are_run_where_they_apply() {
    let room = room_of_all_forms(SPADE);
    let run = room.expect("bench suite --engine rendezvous --runs 1 --json x.json", 0);
    assert!(!run.stdout.contains("lock"), "{}", run.stdout);
    let document = document(&room, "x.json");
    assert!(rows(&document, "engines").iter().any(|row| row["model"] == "doors"), "{document}");
}

#[test]
fn what_cannot_be_run_is_explained() {
    let room = room("broken.cpds");
    std::fs::create_dir(room.path("empty")).unwrap();
    let cases = [
        ("bench", "SUITE"),
        ("bench empty", "no models found in empty"),
        ("bench nowhere", "cannot read nowhere"),
        ("bench suite", "broken.cpds"),
        ("bench lock.cpds --runs 1 --json no/such.json", "cannot write no/such.json"),
        ("bench lock.cpds --engine speed", "invalid value 'speed'"),
    ];
    for (line, part) in cases {
        let run = room.expect(line, 2);
        assert!(run.stderr.contains(part) && !run.stderr.contains("panicked"), "tepui {line}: {}", run.stderr);
    }
}
