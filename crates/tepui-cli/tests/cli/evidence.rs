//! Certificates and traces in files: who accepts them, and that the same run writes the same bytes.

use std::io::Read as _;

use crate::Room;

/// Drops each line in turn; `command` must reject every one of these texts.
#[track_caller]
fn every_line_matters(room: &Room, command: &str, evidence: &str, model: &str) {
    let text = room.read_text(evidence);
    let lines: Vec<_> = text.lines().collect();
    for dropped in 0..lines.len() {
        let kept: Vec<_> =
            lines.iter().enumerate().filter(|&(index, _)| index != dropped).map(|(_, line)| *line).collect();
        room.write("tampered", kept.join("\n") + "\n");
        let run = room.run(&format!("{command} tampered {model}"));
        let shown = format!("without line {}: {}\n{}{}", dropped + 1, lines[dropped], run.stdout, run.stderr);
        assert_eq!(run.code, Some(1), "{shown}");
        assert!(run.stdout.starts_with("REJECTED  "), "{shown}");
    }
}

#[test]
fn a_certificate_without_one_of_its_lines_is_rejected() {
    let room = Room::new();
    room.expect("verify lock.cpds --certificate lock.cert", 0);
    room.expect("check lock.cert lock.cpds", 0);
    every_line_matters(&room, "check", "lock.cert", "lock.cpds");
}

#[test]
fn a_trace_without_one_of_its_lines_is_rejected() {
    let room = Room::new();
    room.expect("verify race.cpds --trace race.trace", 1);
    room.expect("replay race.trace race.cpds", 0);
    every_line_matters(&room, "replay", "race.trace", "race.cpds");
}

/// What is replaced in a trace of race.cpds, and what the answer mentions.
const TAMPERED_TRACES: &[(&str, &str, &str)] = &[
    ("start 0 | 1 1", "start 0 | 2 1", "initial state"),
    ("thread 2 rule 2 :", "thread 1 rule 2 :", "step 3"),
    ("thread 2 rule 2 :", "thread 2 rule 3 :", "step 3"),
    ("thread 2 rule 2 :", "thread 2 rule 9 :", "step 3"),
    ("thread 2 rule 2 :", "thread 7 rule 2 :", "step 3"),
    ("never * | 3 3", "never * | 2 3", "both-critical"),
    ("end 4", "end 3", "4 steps"),
    ("tepui trace 1", "tepui trace 2", "line 1"),
];

#[test]
fn a_tampered_trace_is_rejected_with_its_place() {
    let room = Room::new();
    room.expect("verify race.cpds --trace race.trace", 1);
    let text = room.read_text("race.trace");
    for (from, to, mentioned) in TAMPERED_TRACES {
        let tampered = text.replacen(from, to, 1);
        assert_ne!(tampered, text, "{from}");
        room.write("tampered", tampered);
        let run = room.expect("replay tampered race.cpds", 1);
        assert!(
            run.stdout.starts_with("REJECTED  ") && run.stdout.contains(mentioned),
            "{from} -> {to}: {}",
            run.stdout
        );
    }
}

#[test]
fn a_property_goes_by_what_it_forbids_not_by_its_name() {
    let room = Room::new();
    room.expect("verify race.cpds --trace race.trace", 1);
    room.write("renamed.cpds", room.read_text("race.cpds").replace("both-critical", "mutual-exclusion"));
    let run = room.expect("replay race.trace renamed.cpds", 0);
    assert!(run.stdout.contains("violate mutual-exclusion"), "{}", run.stdout);
}

#[test]
fn a_compressed_certificate_holds_the_plain_one() {
    let room = Room::new();
    room.expect("verify lock.cpds --certificate plain.cert", 0);
    room.expect("verify lock.cpds --certificate packed.cert.gz", 0);
    let (plain, packed) = (room.read("plain.cert"), room.read("packed.cert.gz"));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain);
    room.expect("check packed.cert.gz lock.cpds", 0);
    for length in [2, 10, packed.len() / 2, packed.len() - 1] {
        room.write("damaged.cert.gz", &packed[..length]);
        let run = room.expect("check damaged.cert.gz lock.cpds", 1);
        assert!(run.stdout.contains("damaged"), "{}", run.stdout);
    }
}

#[test]
fn evidence_is_written_only_for_what_was_found() {
    let room = Room::new();
    room.expect("verify lock.cpds --trace x.trace", 0);
    room.expect("verify race.cpds --certificate x.cert", 1);
    room.expect("verify race.cpds --certificate x.cert --trace x.trace --engine contexts --bound-limit 1", 3);
    assert!(!room.path("x.trace").exists() && !room.path("x.cert").exists());
}

const RUNS: usize = 4;

#[test]
fn the_same_question_gets_the_same_bytes_whatever_the_number_of_threads() {
    for (model, code) in [("lock.cpds", 0), ("race.cpds", 1), ("mixed.cpds", 1), ("crowd.cpds", 1), ("relay.pds", 1)] {
        let files = |threads: usize| {
            let room = Room::new();
            let line = format!("verify {model} --threads {threads} --certificate x --trace y --views z");
            room.expect(&line, code);
            ["x", "y", "z"].map(|name| std::fs::read(room.path(name)).ok())
        };
        let expected = files(1);
        assert!(expected[2].is_some(), "{model}");
        for run in 0..RUNS {
            assert!(files(1) == expected && files(2) == expected, "{model}, run {run}");
        }
    }
}

/// Runs a line, and then the command that its report advises, which must be content with what was written.
#[track_caller]
fn follow_the_advice(line: &str, code: i32) {
    let room = Room::new();
    let report = room.expect(line, code).stdout;
    let advice = report.lines().find_map(|line| line.trim().strip_prefix("next: tepui "));
    room.expect(advice.unwrap_or_else(|| panic!("{line} advises nothing: {report}")), 0);
}

#[test]
fn the_advice_of_a_report_can_be_followed() {
    follow_the_advice("verify lock.cpds --certificate x.cert", 0);
    follow_the_advice("verify open.cpds --all-views --certificate x.cert.gz", 0);
    follow_the_advice("verify race.cpds --trace x.trace", 1);
    follow_the_advice("verify mixed.cpds --trace x.trace", 1);
    follow_the_advice("explore relay.pds --bound 4 --trace x.trace", 1);
}

/// A trace for other programs is nothing to replay.
#[test]
fn a_trace_as_json_is_not_to_be_replayed() {
    let room = Room::new();
    let report = room.expect("verify race.cpds --trace race.json", 1).stdout;
    assert!(!report.contains("tepui replay race.json"), "{report}");
    assert!(report.contains("if the name does not end in .json"), "{report}");
}

#[test]
fn judges_work_within_limits() {
    let room = Room::new();
    room.expect("verify lock.cpds --certificate lock.cert", 0);
    room.expect("verify race.cpds --trace race.trace", 1);
    for (line, code) in [("check lock.cert lock.cpds", 0), ("replay race.trace race.cpds", 0)] {
        room.expect(&format!("{line} --timeout 60s --memory 1GiB"), code);
        let late = room.expect(&format!("{line} --timeout 0"), 3);
        assert!(late.stdout.starts_with("UNKNOWN  ") && late.stdout.contains("the time limit"), "{}", late.stdout);
        let full = room.expect(&format!("{line} --memory 1B"), 3);
        assert!(full.stdout.starts_with("UNKNOWN  ") && full.stdout.contains("the memory limit"), "{}", full.stdout);
        room.expect(&format!("{line} --timeout soon"), 2);
    }
}

#[test]
fn the_advice_of_a_report_about_a_selection_can_be_followed() {
    follow_the_advice("verify mixed.cpds --property server-gone --certificate x.cert", 0);
    follow_the_advice("verify lock.cpds --init 'held|enter,idle' --certificate x.cert", 0);
    follow_the_advice("verify lock.cpds --target 'held|idle,idle' --certificate x.cert", 0);
    follow_the_advice("verify lock.cpds --target 'held|work,*' --trace x.trace", 1);
}

/// Threads are created, and each property is violated with another number of them.
#[test]
fn violations_with_different_numbers_of_threads_are_all_told() {
    let room = Room::new();
    room.write(
        "steps.bp",
        "decl a, b := 0;\nvoid one() { a := 1; }\nvoid two() { assert(!a) \"two\"; b := 1; }\n\
         void three() { assert(!b) \"three\"; }\nvoid main() { assert(!a) \"main\"; thread one();\n\
         if (*) { thread two(); if (*) { thread three(); } } }\n",
    );
    let run = room.expect("verify steps.bp --trace steps.trace --certificate steps.cert --self-check", 1);
    for line in ["unsafe  two (2 threads, the fewest)", "unsafe  three (3 threads, the fewest)", "safe    main"] {
        assert!(run.stdout.contains(line), "{}", run.stdout);
    }
    let replayed = room.expect("replay steps.trace steps.bp", 0).stdout;
    assert_eq!(replayed.matches("the program's interpreter agrees").count(), 2, "{replayed}");
    room.expect("check steps.cert steps.bp --property main", 0);
    let stopped = room.expect("verify steps.bp --stop-at-first", 1).stdout;
    assert!(stopped.contains("unsafe  two") && stopped.contains("unknown main"), "{stopped}");
}
