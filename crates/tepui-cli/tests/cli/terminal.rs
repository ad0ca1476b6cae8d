//! Colours, pipes that nobody reads, and silence where no terminal is.

use std::io::Write as _;

use crate::{Room, Run};

const ESCAPE: char = '\u{1b}';

/// Lines that print in colour on a terminal.
const COLOURFUL: &[&str] = &[
    "verify lock.cpds",
    "verify race.cpds",
    "verify mixed.cpds",
    "verify race.cpds --bound-limit 1",
    "explore race.cpds --bound 3",
    "check race.cpds race.cpds",
    "show doubtful.cpds",
    "verify broken.cpds",
    "verify broken.pds",
    "verify missing.cpds",
    "verify lock.cpds --property unknown",
    "verify lock.cpds --engine unknown",
    "--help",
    "verify --help",
];

/// Runs a line with variables of the environment, and says whether there was colour in what it printed.
fn is_coloured(room: &Room, line: &str, variables: &[&str]) -> bool {
    let mut command = room.command(line);
    command.envs(variables.iter().map(|variable| (variable, "1")));
    let run = Run::from(command.output().unwrap());
    run.stdout.contains(ESCAPE) || run.stderr.contains(ESCAPE)
}

#[test]
fn colour_is_for_terminals_unless_forced() {
    let room = Room::new();
    for line in COLOURFUL {
        assert!(!is_coloured(&room, line, &[]), "{line}, in a pipe");
        assert!(!is_coloured(&room, line, &["NO_COLOR"]), "{line}, without colour");
        assert!(!is_coloured(&room, line, &["NO_COLOR", "CLICOLOR_FORCE"]), "{line}, NO_COLOR prevails");
        assert!(is_coloured(&room, line, &["CLICOLOR_FORCE"]), "{line}, forced");
    }
}

#[test]
fn what_programs_read_is_never_coloured() {
    let room = Room::new();
    room.expect("verify lock.cpds --certificate lock.cert", 0);
    let lines = [
        "verify race.cpds --format json",
        "verify race.cpds --format json --bound-limit 1",
        "show lock.cpds --format json",
        "show lock.cpds --format cpds",
        "show lock.cpds --format pds",
        "completions bash",
        "man",
    ];
    for line in lines {
        assert!(!is_coloured(&room, line, &["CLICOLOR_FORCE"]), "{line}");
    }
    let mut command = room.command("verify race.cpds --trace race.trace");
    command.env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(!room.read_text("race.trace").contains(ESCAPE));
}

#[test]
fn colours_change_nothing_but_colour() {
    let room = Room::new();
    for line in ["verify broken.cpds", "show doubtful.cpds", "engines"] {
        let plain = room.run(line);
        let coloured = Run::from(room.command(line).env("CLICOLOR_FORCE", "1").output().unwrap());
        assert_eq!(stripped(&coloured.stdout), plain.stdout, "{line}");
        assert_eq!(stripped(&coloured.stderr), plain.stderr, "{line}");
    }
}

/// The text without escape sequences.
fn stripped(text: &str) -> String {
    let mut out = anstream::StripStream::new(Vec::new());
    out.write_all(text.as_bytes()).unwrap();
    String::from_utf8(out.into_inner()).unwrap()
}

#[test]
fn a_pipe_sees_no_progress() {
    let run = Room::new().expect("verify heights.cpds --timeout 1s", 3);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_pipe_that_nobody_reads_is_no_reason_to_panic() {
    let room = Room::new();
    room.expect("verify lock.cpds --certificate lock.cert", 0);
    let others = ["engines", "languages", "completions zsh", "man", "--version", "check lock.cert lock.cpds"];
    for line in COLOURFUL.iter().chain(&others) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = Run::from(room.command(line).stdout(writer).output().unwrap());
        assert!(run.code.is_some_and(|code| code <= 3), "{line}: {:?} {}", run.code, run.stderr);
        assert!(!run.stderr.contains("panicked") && !run.stderr.contains("pipe"), "{line}: {}", run.stderr);
    }
}

#[test]
fn errors_that_nobody_reads_are_no_reason_to_panic() {
    let room = Room::new();
    for line in ["verify broken.cpds", "verify missing.cpds", "verify", "show lonely.pds"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = Run::from(room.command(line).stderr(writer).output().unwrap());
        assert_eq!(run.code, Some(2), "{line}");
    }
}
