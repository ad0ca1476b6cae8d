//! Transcripts: files of commands with what they print.
//!
//! In `tests/transcripts/*.md` every line of a code block that starts with `$ ` is a command; below it stand its exit
//! status as `? 1` unless that is 0, then standard output, then standard error. Besides `tepui` there is `cat`. Times
//! and memory are replaced by `[COST]`, digests by `[DIGEST]`, and `[..]` stands for anything within a line. The
//! commands of a file run one after the other in one directory. `SNAPSHOTS=overwrite cargo test -p tepui` writes the
//! files anew.

use std::fmt::Write as _;
use std::path::Path;

use snapbox::{Assert, Data};

use crate::{Room, tests_folder};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn commands_print_what_the_transcripts_say() {
    let mut paths: Vec<_> =
        std::fs::read_dir(tests_folder("transcripts")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let failed: Vec<_> = paths.iter().filter_map(|path| check(path).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn check(path: &Path) -> Result<(), String> {
    let expected = std::fs::read_to_string(path).unwrap();
    let assert = Assert::new().action_env("SNAPSHOTS");
    let data = Data::read_from(path, None);
    assert.try_eq(Some(&path.display()), replay(&expected).into(), data).map_err(|error| error.to_string())
}

/// The transcript as it is now: prose and commands as they stand, with fresh output.
fn replay(transcript: &str) -> String {
    let room = Room::new();
    let (mut out, mut inside) = (String::new(), false);
    for line in transcript.lines() {
        if line.starts_with("```") {
            inside = !inside;
        }
        if !inside || line.starts_with("```") {
            let _ = writeln!(out, "{line}");
        } else if let Some(command) = line.strip_prefix("$ ") {
            let _ = write!(out, "{line}\n{}", answer(&room, command));
        }
    }
    out
}

fn answer(room: &Room, command: &str) -> String {
    match command.split_once(' ') {
        Some(("tepui", line)) => shown(room, line),
        Some(("cat", file)) => masked(&room.read_text(file)),
        _ => panic!("a transcript runs tepui and cat, not {command}"),
    }
}

fn shown(room: &Room, line: &str) -> String {
    let run = room.run(line);
    let status = match run.code {
        Some(0) => String::new(),
        Some(code) => format!("? {code}\n"),
        None => "? killed\n".to_owned(),
    };
    status + &masked(&run.stdout) + &masked(&run.stderr)
}

/// The text without what differs from run to run.
fn masked(text: &str) -> String {
    text.lines().map(|line| masked_line(line.trim_end()) + "\n").collect()
}

fn masked_line(line: &str) -> String {
    let line = line.replace(VERSION, "[VERSION]");
    let line = match line.split_once("; ") {
        Some((counts, _)) if line.trim_start().starts_with("engine ") => format!("{counts}; [COST]"),
        _ => line,
    };
    let is_digest = |word: &&str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digest = line.split(|c: char| !c.is_ascii_alphanumeric()).find(is_digest).map(str::to_owned);
    digest.map_or(line.clone(), |digest| line.replace(&digest, "[DIGEST]"))
}
