//! `tepui bench`: what the engines need on a suite of models, each run in a process of its own.
//!
//! A process for each run makes times and peak memory independent of what ran before. Engines run on one core. Of several
//! runs the fastest counts. The document that `--json` writes has one member, `engines`, with the rows that
//! `engines.rs` defines; times are in seconds and memory is in bytes.

pub mod engines;
pub mod run;
pub mod table;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tepui_report::json::to_json;
use tepui_report::visible;

use super::args::{BenchArgs, ModelArgs};
use super::input::{Loaded, load};
use super::{Exit, complain, output, print, shown};
use run::Runner;

/// Names that are listed of many.
const MOST_NAMES: usize = 8;

/// Runs `tepui bench`.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit> {
    let endings: Vec<_> = tepui::languages().map(|language| language.extension).collect();
    let companions = tepui::languages().flat_map(|language| language.companions).flatten();
    let known: Vec<_> = endings.iter().copied().chain(companions).collect();
    output::prepare(&files(&args.suite, &known)?, &args.json.iter().cloned().collect::<Vec<_>>())?;
    announce_skipped(&args.suite, &known)?;
    let mut models = files(&args.suite, &endings)?;
    models.retain(|path| !belongs_to_another(path));
    require_models(&args.suite, &models)?;
    let runner = Runner::new(args.timeout, args.runs)?;
    let (rows, text) = engines::make(&runner, &models, &args.engine)?;
    print(&text)?;
    if let Some(path) = &args.json {
        let document = serde_json::json!({ "engines": rows });
        output::write(path, (to_json(&document) + "\n").as_bytes())?;
    }
    Ok(Exit::Good)
}

/// Says what is in the suites and is no model.
pub fn announce_skipped(suites: &[PathBuf], used: &[&str]) -> Result<()> {
    for suite in suites.iter().filter(|suite| suite.is_dir()) {
        let mut names = Vec::new();
        for path in entries(suite)? {
            let name = visible(&path.file_name().unwrap_or_default().to_string_lossy()).into_owned();
            match path.is_dir() {
                true if name != FAMILIES => names.push(name + "/"),
                false if !has_ending(&path, used) => names.push(name),
                _ => {}
            }
        }
        if let more @ 1.. = names.len().saturating_sub(MOST_NAMES) {
            names.truncate(MOST_NAMES);
            names.push(format!("{more} more"));
        }
        if !names.is_empty() {
            complain(&format!("skipped in {}: {}\n", shown(suite), names.join(", ")));
        }
    }
    Ok(())
}

/// Where the families of models that can be scaled stand in a suite.
pub const FAMILIES: &str = "families";

/// Refuses suites without models.
pub fn require_models(suites: &[PathBuf], models: &[PathBuf]) -> Result<()> {
    if models.is_empty() {
        let looked_at: Vec<_> = suites.iter().map(|suite| shown(suite)).collect();
        bail!("no models found in {}: name a directory of models", looked_at.join(", "));
    }
    Ok(())
}

/// Whether a file has one of these endings.
pub fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|extension| endings.iter().any(|wanted| extension.eq_ignore_ascii_case(wanted)))
}

/// The files of the suites, each of which is a directory or a file, with one of these endings. A file that was named and
/// has none that is known is for those who look for any: they will say what is wrong with it.
pub fn files(suites: &[PathBuf], endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for suite in suites {
        if suite.is_file() {
            let known = tepui::languages().any(|language| has_ending(suite, &[language.extension]));
            found.extend(Some(suite.clone()).filter(|path| has_ending(path, endings) || !known));
            continue;
        }
        found.extend(entries(suite)?.into_iter().filter(|path| path.is_file() && has_ending(path, endings)));
    }
    Ok(found)
}

fn entries(suite: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(suite).with_context(|| format!("cannot read {}", shown(suite)))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

/// Whether a file belongs to a model of another language that stands beside it.
fn belongs_to_another(path: &Path) -> bool {
    let companion =
        |language: &&tepui::Language| language.companions.iter().flatten().any(|own| has_ending(path, &[own]));
    tepui::languages().filter(companion).any(|language| path.with_extension(language.extension).is_file())
}

/// The name of a model in a table.
pub fn name(model: &Path) -> String {
    visible(&model.file_stem().unwrap_or_default().to_string_lossy()).into_owned()
}

/// Reads a model as the runs will.
fn read(file: &Path) -> Result<Loaded> {
    load(&ModelArgs::of(file.to_owned()))
}

/// Whether something is asked about a model.
pub fn asks_something(file: &Path) -> Result<bool> {
    Ok(!read(file)?.problem.asked().is_empty())
}
