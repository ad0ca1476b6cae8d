//! The tables: small suites and short limits. What is measured varies, what is printed around it does not.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::path::{Path, PathBuf};

use serde_json::Value;

#[path = "../../tepui-cli/tests/cli/room.rs"]
mod room;
#[path = "../../tepui-cli/tests/cli/suite.rs"]
mod suite;

use room::{Room, Run};
use suite::{document, line, room, room_of_all_forms, rows};

impl Room {
    fn new() -> Self {
        Self::of(env!("CARGO_BIN_EXE_tepui-bench"))
    }
}

fn add_family(room: &Room, family: &str) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/families").join(family);
    std::fs::create_dir_all(room.path("suite/families")).unwrap();
    std::fs::copy(source, room.path("suite/families").join(family)).unwrap();
}

#[test]
fn models_that_no_table_is_about_are_named() {
    let room = room_of_all_forms("");
    let run = room.expect("suite --table threads --runs 1 --timeout 0", 0);
    assert_eq!(run.stderr, "skipped in suite: doors.rpds, hello.spad, more/, notes.txt\n");
    assert!(run.stdout.contains("begin"), "{}", run.stdout);
}

#[test]
fn published_figures_stand_beside_ours() {
    let room = room("lock.cpds");
    std::fs::copy(room.path("race.cpds"), room.path("suite/driver-2-3.cpds")).unwrap();
    std::fs::copy(room.path("lock.cpds"), room.path("suite/dekker.cpds")).unwrap();
    let run = room.expect("suite --table delays --runs 1 --json x.json", 0);
    let (table_2, table_3) = run.stdout.split_once("Calls to Image").unwrap();
    // Rows without our file have the published figures alone.
    let published = "Bluetooth3 2+3 460,684 — 654 s — 2085 s — TO — 56, 56 —";
    assert_eq!(line(table_2, &["Bluetooth3", "2+3"]).join(" "), published);
    assert_eq!(line(table_3, &["Stefan", "5"]).join(" "), "Stefan 5 10,299,275 — 16,920,446 — — —");
    let dekker = line(table_2, &["Dekker", "2", "1,507"]);
    assert!(dekker[3].parse::<u64>().is_ok(), "our views: {dekker:?}");
    assert_eq!(line(table_2, &["lock", "2", "—"])[4], "—");
    // Our own model stands below the line that it resembles, with a mark that is explained.
    let lines: Vec<_> = table_2.lines().collect();
    let place = lines.iter().position(|line| line.contains("460,684")).unwrap();
    assert!(lines[place + 1].starts_with(" driver-2-3 *") || lines[place + 1].starts_with("driver-2-3 *"), "{table_2}");
    for part in ["* Our own model of the same kind", "3.2 GHz i5", "its d is larger by one"] {
        assert!(run.stdout.contains(part), "{part}: {}", run.stdout);
    }
    let document = document(&room, "x.json");
    let rows = rows(&document, "delays");
    assert_eq!(rows.len(), 22 + 2);
    let of = |file: &str| rows.iter().find(|row| row["file"] == format!("suite/{file}.cpds")).unwrap();
    assert_eq!(of("dekker")["published"]["images_without_frontier"], 688_836);
    assert_eq!(of("driver-2-3")["like"], "Bluetooth3 2+3");
    let ours = &of("lock")["ours"];
    for name in ["views", "rounds", "delays", "images_before_plateau", "images_during_plateau"] {
        assert!(ours[name].is_u64(), "{name}: {ours}");
    }
    let images = |name: &str| ours[name].as_u64().unwrap();
    assert_eq!(images("images_before_plateau") + images("images_during_plateau"), images("images"));
    for name in ["every_iteration", "closure", "without_frontier"] {
        assert_eq!(ours[name]["verdict"], "safe", "{ours}");
    }
}

#[test]
fn one_thread_and_two_give_the_same_answers() {
    let room = room("lock.cpds");
    let run = room.expect("suite --table threads --runs 2 --json x.json", 0);
    for engine in ["closure", "delays", "contexts-explicit"] {
        assert_eq!(line(&run.stdout, &["lock", engine, "safe"]).last(), Some(&"equal"));
    }
    assert!(run.stdout.contains("3 answers compared: verdict, states, views and certificate bytes are equal"));
    for row in rows(&document(&room, "x.json"), "threads") {
        assert_eq!((&row["same"], &row["differences"]), (&true.into(), &Value::Array(vec![])), "{row}");
        assert!(row["certificate_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{row}");
        assert!(row["speedup"].as_f64().is_some_and(|ratio| ratio > 0.0), "{row}");
    }
}

#[test]
fn threads_without_an_answer_are_not_compared() {
    let run = room("lock.cpds").expect("suite --table threads --timeout 0", 0);
    assert_eq!(line(&run.stdout, &["lock", "closure", "unknown:", "timeout"]).last(), Some(&"compared"));
    assert!(run.stdout.contains("nothing was compared"), "{}", run.stdout);
}

#[test]
fn growth_is_a_table_and_plots() {
    let room = room("lock.cpds");
    add_family(&room, "stefan.cpds");
    add_family(&room, "driver.cpds");
    let run = room.expect("suite --table growth --runs 1 --timeout 0.15s --json x.json --svg plots", 0);
    let shared = ["closure", "closure --no-symmetry", "delays"];
    let families = [("stefan", "contexts-symbolic"), ("driver", "contexts-explicit")];
    let document = document(&room, "x.json");
    for (family, other) in families {
        let svg = room.read_text(&format!("plots/growth-{family}.svg"));
        check_svg(&svg);
        assert!(run.stdout.contains(&format!("growth-{family}.svg")), "{}", run.stdout);
        for engine in shared.into_iter().chain([other]) {
            assert!(svg.contains(engine), "{family}: {engine}");
            let of = |row: &&Value| row["family"] == family && row["engine"] == engine;
            let rows: Vec<_> = rows(&document, "growth").iter().filter(of).collect();
            assert!(!rows.is_empty(), "{family}: {engine}");
            let unfinished = rows.iter().position(|row| row["verdict"] == "unknown");
            assert!(unfinished.is_none_or(|place| place + 1 == rows.len()), "{family}: {engine}: {rows:?}");
            assert!(rows.iter().all(|row| row["threads"].is_u64() && row["peak_memory_bytes"].is_u64()), "{rows:?}");
        }
    }
}

#[test]
fn growth_without_time_is_still_a_plot() {
    let room = room("lock.cpds");
    add_family(&room, "driver.cpds");
    let run = room.expect("suite --table growth --timeout 0 --svg plots", 0);
    assert_eq!(line(&run.stdout, &["driver", "closure", "unknown:", "timeout"])[4], "1+1");
    let svg = room.read_text("plots/growth-driver.svg");
    check_svg(&svg);
    assert_eq!(svg.matches("no run was finished").count(), 3);
    assert!(!room.path("plots/growth-stefan.svg").exists());
}

/// Tags are balanced, and every number is one.
#[track_caller]
fn check_svg(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("not closed: {tag}"));
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{svg}"),
            None if tag.ends_with('/') => {}
            None => open.extend(tag.split_whitespace().next()),
        }
        for attribute in [" x=\"", " y=\"", " d=\"", "viewBox=\""] {
            let Some((_, rest)) = tag.split_once(attribute) else { continue };
            let numbers = rest.split('"').next().unwrap();
            let numbers = numbers.split(|c: char| c == ' ' || "MLHVmlhvaz".contains(c)).filter(|n| !n.is_empty());
            numbers.for_each(|number| assert!(number.parse::<f64>().is_ok_and(f64::is_finite), "{number}: {tag}"));
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
}

#[test]
fn all_tables_are_made_together() {
    let room = room("lock.cpds");
    let run = room.expect("suite --runs 1 --json x.json", 0);
    assert!(run.stdout.contains("no family found"), "{}", run.stdout);
    let document = document(&room, "x.json");
    let names: Vec<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["engines", "delays", "threads", "growth"]);
    let two = room.expect("suite --runs 1 --table threads --table growth", 0);
    assert!(two.stdout.contains("One thread and two") && !two.stdout.contains("Calls to Image"), "{}", two.stdout);
}

#[test]
fn what_cannot_be_run_is_explained() {
    let room = room("broken.cpds");
    std::fs::create_dir(room.path("empty")).unwrap();
    let cases = [
        ("", "there is no directory benches or examples here"),
        ("empty", "no models found in empty"),
        ("nowhere", "cannot read nowhere"),
        ("suite", "broken.cpds"),
        ("lock.cpds --svg plots --table engines", "--svg draws the tables of growth and rendezvous"),
        ("lock.cpds --table engines --runs 1 --json no/such.json", "cannot write no/such.json"),
        ("lock.cpds --table speed", "invalid value 'speed'"),
    ];
    for (line, part) in cases {
        let run = room.expect(line, 2);
        assert!(run.stderr.contains(part) && !run.stderr.contains("panicked"), "tepui-bench {line}: {}", run.stderr);
    }
    let nowhere: PathBuf = room.path("no-corpus");
    let run = Run::from(room.command("").env("TEPUI_CORPUS", &nowhere).output().unwrap());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("TEPUI_CORPUS") && run.stderr.contains("no-corpus"), "{}", run.stderr);
}

#[test]
fn what_was_measured_before_a_failure_is_kept() {
    let room = room("lock.cpds");
    std::fs::create_dir_all(room.path("suite/families")).unwrap();
    std::fs::write(room.path("suite/families/driver.cpds"), "shared q\n").unwrap();
    let run = room.expect("suite --runs 1 --table engines --table growth --json x.json", 2);
    assert!(run.stderr.contains("cannot scale suite/families/driver.cpds"), "{}", run.stderr);
    assert_eq!(rows(&document(&room, "x.json"), "engines").len(), 8);
}

#[test]
fn what_is_read_is_not_overwritten() {
    let room = Room::new();
    std::fs::create_dir_all(room.path("suite/families")).unwrap();
    for file in ["suite/race.cpds", "suite/families/driver.cpds"] {
        std::fs::copy(room.path("race.cpds"), room.path(file)).unwrap();
        room.expect(&format!("suite --table growth --json {file}"), 2);
        assert_eq!(room.read(file), room.read("race.cpds"));
    }
    let run = room.expect("lock.cpds --table growth --json growth-driver.svg --svg .", 2);
    assert!(run.stderr.contains("two outputs cannot share a file"), "{}", run.stderr);
}
