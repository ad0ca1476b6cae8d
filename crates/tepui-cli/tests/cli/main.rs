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
mod room;
mod suite;
mod terminal;
mod transcripts;

use std::path::{Path, PathBuf};

use room::{Room, Run, words};

impl Room {
    fn new() -> Self {
        Self::of(env!("CARGO_BIN_EXE_tepui"))
    }
}

fn tests_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

#[test]
fn lines_are_split_into_words() {
    assert_eq!(words("verify  x.pds --target '0|1, *'"), ["verify", "x.pds", "--target", "0|1, *"]);
}
