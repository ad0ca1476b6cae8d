//! Files that are written: none destroys what is read or another one, and the old content stays until the new one is
//! complete.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;

use crate::{Room, Run};

/// Runs a line that must be refused before anything is written; no file of the room changes.
#[track_caller]
fn expect_refusal(room: &Room, line: &str, why: &str) {
    let before = contents(room);
    let run = room.expect(line, 2);
    assert!(run.stderr.contains("cannot write") && run.stderr.contains(why), "tepui {line}: {}", run.stderr);
    assert_eq!(run.stdout, "", "tepui {line} has run");
    assert!(contents(room) == before, "tepui {line} has changed a file");
}

fn contents(room: &Room) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(room.folder.path()).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn the_model_is_never_overwritten() {
    let room = Room::new();
    symlink("race.cpds", room.path("link")).unwrap();
    symlink("link", room.path("link-to-link")).unwrap();
    std::fs::hard_link(room.path("race.cpds"), room.path("hard")).unwrap();
    std::fs::create_dir(room.path("folder")).unwrap();
    symlink("..", room.path("folder/up")).unwrap();
    for name in ["race.cpds", "./race.cpds", "link", "link-to-link", "hard", "folder/up/race.cpds"] {
        for option in ["--trace", "--certificate", "--views"] {
            expect_refusal(&room, &format!("verify race.cpds {option} {name}"), "it is the model");
        }
        expect_refusal(&room, &format!("explore race.cpds --bound 1 --trace {name}"), "it is the model");
    }
    expect_refusal(&room, "show race.cpds --format cpds --output race.cpds", "it is the model");
    expect_refusal(&room, "bench race.cpds --json race.cpds", "it is the model");
}

#[test]
fn no_other_input_is_overwritten() {
    let room = Room::new();
    room.write("start", "0|1,1");
    room.write("goal", "2|3,-");
    std::fs::hard_link(room.path("start"), room.path("other-start")).unwrap();
    let why = "it belongs to the model";
    for option in ["--trace", "--certificate", "--views"] {
        expect_refusal(&room, &format!("verify relay.pds {option} relay.init"), why);
        expect_refusal(&room, &format!("verify relay.pds {option} relay.spec"), why);
        expect_refusal(&room, &format!("verify relay.pds --init start {option} other-start"), why);
        expect_refusal(&room, &format!("verify relay.pds --target goal {option} goal"), why);
        expect_refusal(&room, &format!("verify lock.cpds --matching lock.mch {option} lock.mch"), why);
    }
    symlink("relay.init", room.path("copy.init")).unwrap();
    expect_refusal(&room, "show relay.pds --format pds --output copy.pds", why);
    expect_refusal(&room, "show relay.pds --init start --format cpds --output start", why);
}

#[test]
fn outputs_do_not_overwrite_each_other() {
    let room = Room::new();
    symlink("not-there", room.path("dangling")).unwrap();
    let why = "two outputs cannot share a file";
    expect_refusal(&room, "verify race.cpds --trace x --views x", why);
    expect_refusal(&room, "verify race.cpds --trace x --views ./x", why);
    expect_refusal(&room, "verify race.cpds --trace not-there --views dangling", why);
    expect_refusal(&room, "verify race.cpds --certificate dangling --trace not-there", why);
    room.write("old", "old");
    std::fs::hard_link(room.path("old"), room.path("old-too")).unwrap();
    expect_refusal(&room, "verify race.cpds --trace old --views old-too", why);
}

#[test]
fn the_report_is_not_overwritten() {
    let room = Room::new();
    let out = std::fs::File::create(room.path("out")).unwrap();
    let run = Run::from(room.command("verify race.cpds --trace out").stdout(out).output().unwrap());
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("standard output goes there"), "{}", run.stderr);
}

#[test]
fn folders_and_missing_folders_are_refused() {
    let room = Room::new();
    std::fs::create_dir(room.path("folder")).unwrap();
    expect_refusal(&room, "verify race.cpds --trace folder", "irectory");
    expect_refusal(&room, "verify race.cpds --trace no/folder", "No such file");
}

#[test]
fn links_and_permissions_survive() {
    let room = Room::new();
    room.write("target", "old");
    std::fs::set_permissions(room.path("target"), std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("target", room.path("link")).unwrap();
    room.expect("verify race.cpds --trace link", 1);
    assert!(room.path("link").is_symlink());
    assert!(room.read_text("target").starts_with("tepui trace"));
    assert_eq!(std::fs::metadata(room.path("target")).unwrap().mode() & 0o777, 0o640);
    symlink("new", room.path("dangling")).unwrap();
    room.expect("verify race.cpds --trace dangling", 1);
    assert!(room.path("dangling").is_symlink() && room.read_text("new").starts_with("tepui trace"));
}

/// No space is left for a single byte: the process may even be killed.
#[test]
fn a_failure_leaves_the_old_file() {
    let room = Room::new();
    room.write("race.trace", "old");
    let tepui = env!("CARGO_BIN_EXE_tepui");
    let command = format!("ulimit -f 0; '{tepui}' verify race.cpds --trace race.trace");
    let run = Command::new("sh").args(["-c", &command]).current_dir(room.folder.path()).output().unwrap();
    assert_ne!(run.status.code(), Some(1), "{run:?}");
    assert_eq!(room.read_text("race.trace"), "old");
}

#[test]
fn nothing_is_left_beside_a_file() {
    let room = Room::new();
    let names = |room: &Room| contents(room).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    let before = names(&room);
    room.expect("verify race.cpds --trace race.cpds2 --views views --certificate cert", 1);
    let mut after = names(&room);
    after.retain(|name| !["race.cpds2", "views"].contains(&name.as_str()));
    assert_eq!(after, before);
}

#[test]
fn streams_are_written_directly() {
    let room = Room::new();
    room.expect("verify race.cpds --trace /dev/null --views /dev/null", 1);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    let run = room.expect("verify race.cpds --trace /dev/stdout", 1);
    assert!(run.stdout.contains("tepui trace 1") && run.stdout.contains("UNSAFE  race.cpds"), "{}", run.stdout);
    // Standard output may be a file: trace and report are both there.
    let out = std::fs::File::create(room.path("out")).unwrap();
    room.command("verify race.cpds --trace /dev/stdout").stdout(out).status().unwrap();
    let text = room.read_text("out");
    assert!(text.contains("tepui trace 1") && text.contains("UNSAFE  race.cpds"), "{text}");
    let full = room.expect("verify race.cpds --trace /dev/full", 2);
    assert!(full.stderr.contains("cannot write /dev/full"), "{}", full.stderr);
    assert!(full.stdout.contains("UNSAFE"), "the answer is not lost: {}", full.stdout);
}

#[test]
fn a_named_pipe_is_written_directly() {
    let room = Room::new();
    assert!(Command::new("mkfifo").arg(room.path("pipe")).status().unwrap().success());
    let path = room.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(path).unwrap());
    room.expect("verify race.cpds --trace pipe", 1);
    assert!(reader.join().unwrap().starts_with("tepui trace 1"));
    assert!(!std::fs::metadata(room.path("pipe")).unwrap().is_file());
}

/// A claim that does not hold is bad input, and is shown to be.
#[test]
fn a_claim_that_does_not_hold_is_bad_input() {
    let room = Room::new();
    let text = "event eA; machine Main { start state I { entry { send this, eA; } ignore eA; } }";
    room.write("one.p", text);
    for (claim, exit) in [("Main: #eA <= 1", 0), ("Main: #eA <= 0", 2), ("Main: F eA", 2), ("Main#7: empty", 0)] {
        let line = ["verify", "one.p", "--property", "invariant", "--queue-invariant", claim];
        let output = Command::new(env!("CARGO_BIN_EXE_tepui")).args(line).current_dir(room.folder.path()).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(exit), "{claim}: {output:?}");
        let told = String::from_utf8(output.stdout).unwrap();
        assert!(claim != "Main: #eA <= 0" || told.contains("claim 1 about queues of Main does not hold"), "{told}");
    }
}

/// Traces of P programs in the words of P's own checker: entries with clocks, which only go forward.
#[test]
fn traces_of_p_programs_are_written_for_other_tools() {
    let room = Room::new();
    let text = "type T = (from: machine, n: int); event eA: T; spec S observes eA { start state Cold { on eA goto Warm; } \
                hot state Warm { ignore eA; } } machine Main { start state I { entry { var c: machine; c = new Client(); \
                send c, eA, (from = this, n = 3); } } } \
                machine Client { start state I { on eA goto J; } state J { entry { assert false, \"no\"; } } } \
                test t [main=Main]: assert S in { Main, Client };";
    room.write("one.p", text);
    room.expect("verify one.p --property assert --trace one.trace.json", 1);
    let read = std::fs::read_to_string(room.path("one.trace.json")).unwrap();
    let entries: Vec<serde_json::Value> = serde_json::from_str(&read).unwrap();
    let types: Vec<_> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    let expected = [
        "CreateMonitor",
        "CreateStateMachine",
        "CreateStateMachine",
        "MonitorProcessEvent",
        "MonitorStateTransition",
        "MonitorStateTransition",
        "SendEvent",
        "DequeueEvent",
        "AssertionFailure",
    ];
    assert_eq!(types, expected);
    let send = &entries[6]["details"];
    assert_eq!(send["payload"], serde_json::json!({ "from": "Main(0)", "n": "3" }));
    assert_eq!((&send["sender"], &send["target"]), (&"Main(0)".into(), &"Client(1)".into()));
    let taken = &entries[7]["details"];
    assert_eq!((&taken["id"], &taken["event"]), (&"Client(1)".into(), &"eA".into()));
    assert_eq!(taken["clock"]["Main(0)"], send["clock"]["Main(0)"], "who takes it knows what its sender knew");
    assert!(entries[8]["details"]["error"].as_str().unwrap().contains("no"), "{}", entries[8]);
}
