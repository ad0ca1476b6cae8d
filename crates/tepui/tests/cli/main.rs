//! The command line, as its users meet it: the binary runs in a directory of its own with copies of `tests/models`.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod bench;
mod book;
mod escapes;
mod evidence;
mod files;
mod hostile;
mod json;
mod limits;
mod outputs;
mod terminal;
mod transcripts;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What in the environment would change the output.
const COLOUR_VARIABLES: [&str; 5] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"];

/// A directory to run in.
struct Room(TempDir);

impl Room {
    fn new() -> Self {
        let room = Self(TempDir::new().unwrap());
        for entry in std::fs::read_dir(tests_folder("models")).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), room.path(entry.file_name().to_str().unwrap())).unwrap();
        }
        room
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// The command for a line such as `verify x.cpds --target '0|1,*'`, with nothing connected to a terminal.
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tepui"));
        command.args(words(line)).current_dir(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        COLOUR_VARIABLES.iter().for_each(|variable| _ = command.env_remove(variable));
        command
    }

    fn run(&self, line: &str) -> Run {
        Run::from(self.command(line).output().unwrap())
    }

    /// Runs a line that must end with the given status.
    #[track_caller]
    fn expect(&self, line: &str, code: i32) -> Run {
        let run = self.run(line);
        assert_eq!(run.code, Some(code), "tepui {line}\n{}{}", run.stdout, run.stderr);
        run
    }
}

/// A run that has ended.
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The words of a line; single quotes keep blanks together and are dropped.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, part) in line.split('\'').enumerate() {
        let mut pieces = if index % 2 == 1 { vec![part] } else { part.split(' ').collect() }.into_iter();
        words.last_mut().unwrap().extend(pieces.next());
        words.extend(pieces.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn lines_are_split_into_words() {
    assert_eq!(words("verify  x.pds --target '0|1, *'"), ["verify", "x.pds", "--target", "0|1, *"]);
}
