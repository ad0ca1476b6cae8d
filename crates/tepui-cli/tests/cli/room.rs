//! Where commands are run.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// What in the environment would change the output.
pub(crate) const COLOUR_VARIABLES: [&str; 5] = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM"];

/// A directory to run in.
pub(crate) struct Room {
    pub(crate) folder: TempDir,
    binary: &'static str,
}

impl Room {
    /// A directory for runs of a binary.
    pub(crate) fn of(binary: &'static str) -> Self {
        let room = Self { folder: TempDir::new().unwrap(), binary };
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tepui-cli/tests/models");
        for entry in std::fs::read_dir(models).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), room.path(entry.file_name().to_str().unwrap())).unwrap();
        }
        room
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    /// The command for a line such as `verify x.cpds --target '0|1,*'`, with nothing connected to a terminal, and in a
    /// world without a corpus.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = Command::new(self.binary);
        command.args(words(line)).current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        COLOUR_VARIABLES.iter().for_each(|variable| _ = command.env_remove(variable));
        command.env_remove("TEPUI_CORPUS");
        command
    }

    pub(crate) fn run(&self, line: &str) -> Run {
        Run::from(self.command(line).output().unwrap())
    }

    /// Runs a line that must end with the given status.
    #[track_caller]
    pub(crate) fn expect(&self, line: &str, code: i32) -> Run {
        let run = self.run(line);
        assert_eq!(run.code, Some(code), "{} {line}\n{}{}", self.binary, run.stdout, run.stderr);
        run
    }
}

/// A run that has ended.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

/// The words of a line; single quotes keep blanks together and are dropped.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for (index, part) in line.split('\'').enumerate() {
        let mut pieces = if index % 2 == 1 { vec![part] } else { part.split(' ').collect() }.into_iter();
        words.last_mut().unwrap().extend(pieces.next());
        words.extend(pieces.map(str::to_owned));
    }
    words.retain(|word| !word.is_empty());
    words
}
