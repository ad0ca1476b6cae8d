//! The book does not go stale: its commands run, print what it says they print, and its links lead somewhere.
//!
//! Blocks marked `console` hold commands behind `$ ` with their output, blocks marked `sh` commands alone. They run
//! in the project's root, with `/tmp` replaced by a directory of their own. Commands that need `cargo`, or `jq` where
//! it is not installed, are left out. `SNAPSHOTS=overwrite cargo test -p tepui` writes the outputs anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let folder = root().join("docs/src");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// A page in pieces, alternately text and the inside of code blocks, whose first line is the mark.
fn pieces(page: &str) -> Vec<String> {
    page.split("```").map(str::to_owned).collect()
}

fn runnable(command: &str) -> bool {
    let jq = Command::new("jq").arg("--version").output().is_ok();
    !command.contains("cargo ") && (jq || !command.contains("jq "))
}

fn run(command: &str, scratch: &str) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_tepui")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command.replace("/tmp/", scratch)).current_dir(root()).env("PATH", path);
    for name in crate::room::COLOUR_VARIABLES {
        shell.env_remove(name);
    }
    let output = shell.output().unwrap();
    assert!(matches!(output.status.code(), Some(0..=3)), "{command}");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap().replace(scratch, "/tmp/")
}

fn masked(output: &str) -> String {
    let line = |line: &str| match line.split_once("; ") {
        Some((counts, _)) if line.trim_start().starts_with("engine ") => counts.to_owned(),
        _ => line.to_owned(),
    };
    output.trim_end().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the commands of a block; returns the block with the outputs as they are now, and what differs.
fn rerun(block: &str, scratch: &str) -> (String, Vec<String>) {
    let Some(body) = block.strip_prefix("console\n") else {
        let commands = block.strip_prefix("sh\n").filter(|commands| runnable(commands));
        commands.iter().for_each(|commands| drop(run(commands, scratch)));
        return (block.to_owned(), Vec::new());
    };
    let (mut now, mut differences) = (String::from("console\n"), Vec::new());
    for part in body.split("$ ").skip(1) {
        let (command, expected) = part.split_once('\n').unwrap();
        let output = if runnable(command) { run(command, scratch) } else { expected.to_owned() };
        if masked(&output) == masked(expected) {
            now += &format!("$ {part}");
        } else {
            now += &format!("$ {command}\n{}\n", output.trim_end());
            differences.push(format!("$ {command}\n{output}\ninstead of\n{expected}"));
        }
    }
    (now, differences)
}

#[test]
fn its_commands_print_what_it_says() {
    let overwrite = std::env::var("SNAPSHOTS").is_ok_and(|value| value == "overwrite");
    let mut differences = Vec::new();
    for page in pages() {
        let scratch = TempDir::new().unwrap();
        let scratch = format!("{}/", scratch.path().display());
        std::fs::create_dir_all(&scratch).unwrap();
        let mut pieces = pieces(&std::fs::read_to_string(&page).unwrap());
        for block in pieces.iter_mut().skip(1).step_by(2) {
            let (now, found) = rerun(block, &scratch);
            *block = now;
            differences.extend(found);
        }
        if overwrite {
            std::fs::write(&page, pieces.join("```")).unwrap();
        }
        std::fs::remove_dir_all(&scratch).unwrap();
    }
    assert!(overwrite || differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn its_links_lead_somewhere() {
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        let prose: String = pieces(&text).into_iter().step_by(2).collect();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.starts_with('#')) {
            let file = target.split('#').next().unwrap();
            assert!(page.parent().unwrap().join(file).exists(), "{} links to {target}", page.display());
        }
    }
}

#[test]
fn it_documents_every_field_of_the_json() {
    let page = std::fs::read_to_string(root().join("docs/src/json.md")).unwrap();
    let text = run("tepui verify examples/stutter.cpds --format json", "/nowhere/");
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let parts = [&document, &document["properties"][0], &document["iterations"][0]];
    for name in parts.iter().flat_map(|part| part.as_object().unwrap().keys()) {
        assert!(page.contains(&format!("`{name}`")), "{name} is not documented");
    }
}
