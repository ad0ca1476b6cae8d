//! `tepui bench`: tables of what the engines need, each run in a process of its own.
//!
//! A process for each run makes times and peak memory independent of what ran before. Engines run on one core, unless
//! the table is about cores. Of several runs the fastest counts.
//!
//! The document that `--json` writes has a member for each table that was made: `engines`, `delays`, `threads`, `growth`
//! and `rendezvous`, with the rows that the files of these names define; times are in seconds and memory is in bytes.
//! `benches/README.md` describes the members.

mod delays;
mod engines;
mod growth;
mod plot;
mod published;
mod queries;
mod rendezvous;
mod run;
mod scatter;
mod table;
mod threads;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use super::args::{BenchArgs, BenchTable, ModelArgs, ProgramArgs};
use super::input::{Loaded, load};
use super::{Exit, complain, output, print, shown};
use run::Runner;
use tepui_model::pushdown::Model;
use tepui_report::json::to_json;
use tepui_report::visible;

/// Where the families of models that can be scaled stand in a suite.
const FAMILIES: &str = "families";

/// The endings of models whose threads share variables.
const SHARING: &[&str] = &["pds", "cpds", "bp"];

/// The endings of models whose threads meet in actions.
const MEETING: &[&str] = &["rpds", "spad"];

/// The endings of files that belong to a model.
const COMPANIONS: &[&str] = &["init", "spec", "mch"];

/// Names that are listed of many.
const MOST_NAMES: usize = 8;

/// Runs `tepui bench`.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit> {
    let wanted = |table| args.table.contains(&table) || args.table.contains(&BenchTable::All);
    if args.svg.is_some() && !wanted(BenchTable::Growth) && !wanted(BenchTable::Rendezvous) {
        bail!("--svg draws the tables of growth and rendezvous: add --table growth or --table rendezvous");
    }
    let suites = suites(&args.suite)?;
    prepare_outputs(args, &suites)?;
    announce_skipped(&suites, args, &wanted)?;
    let runner = Runner::new(args.timeout, args.runs)?;
    let mut document = Map::new();
    let result = tables(args, &runner, &suites, &wanted, &mut document);
    // What was measured before a failure is not lost.
    if let Some(path) = &args.json {
        output::write(path, (to_json(&Value::Object(document)) + "\n").as_bytes())?;
    }
    result.map(|()| Exit::Good)
}

fn prepare_outputs(args: &BenchArgs, suites: &[PathBuf]) -> Result<()> {
    let mut outputs: Vec<_> = args.json.iter().cloned().collect();
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", shown(folder)))?;
        outputs.extend(PLOTS.map(|name| folder.join(name)));
    }
    let families = suites.iter().map(|suite| suite.join(FAMILIES)).filter(|folder| folder.is_dir());
    let read: Vec<_> = suites.iter().cloned().chain(families).collect();
    output::prepare(&files(&read, &[SHARING, MEETING, COMPANIONS].concat())?, &outputs)
}

/// The plots that there may be.
const PLOTS: [&str; 3] = ["growth-stefan.svg", "growth-driver.svg", "rendezvous-policies.svg"];

/// Says what is in the suites and in none of the tables.
fn announce_skipped(suites: &[PathBuf], args: &BenchArgs, wanted: &dyn Fn(BenchTable) -> bool) -> Result<()> {
    let engines = wanted(BenchTable::Engines);
    let sharing = engines || wanted(BenchTable::Delays) || (wanted(BenchTable::Threads) && !args.suite.is_empty());
    let meeting = engines || wanted(BenchTable::Rendezvous);
    let used = [if sharing { SHARING } else { &[] }, if meeting { MEETING } else { &[] }, COMPANIONS].concat();
    for suite in suites.iter().filter(|suite| suite.is_dir()) {
        let mut names = Vec::new();
        for path in entries(suite)? {
            let name = visible(&path.file_name().unwrap_or_default().to_string_lossy()).into_owned();
            match path.is_dir() {
                true if name != FAMILIES => names.push(name + "/"),
                false if !has_ending(&path, &used) => names.push(name),
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

fn tables(
    args: &BenchArgs,
    runner: &Runner,
    suites: &[PathBuf],
    wanted: &dyn Fn(BenchTable) -> bool,
    document: &mut Map<String, Value>,
) -> Result<()> {
    let mut add = |name: &str, made: Result<(Value, String)>| -> Result<()> {
        let (rows, text) = made?;
        let gap = if document.is_empty() { "" } else { "\n" };
        print(&format!("{gap}{text}"))?;
        document.insert(name.to_owned(), rows);
        Ok(())
    };
    // A table that was not asked for by name is left out where there is nothing to put into it.
    let worthwhile = |table, models: &[PathBuf]| wanted(table) && (!models.is_empty() || args.table.contains(&table));
    let sharing = files(suites, SHARING)?;
    let meeting = match wanted(BenchTable::Engines) || wanted(BenchTable::Rendezvous) {
        true => with_queries(files(suites, MEETING)?)?,
        false => Vec::new(),
    };
    if wanted(BenchTable::Engines) {
        let models = [sharing.as_slice(), &meeting].concat();
        require_models(suites, &models)?;
        add("engines", engines::make(runner, &models, &args.engine))?;
    }
    if worthwhile(BenchTable::Delays, &sharing) {
        require_models(suites, &sharing)?;
        add("delays", delays::make(runner, &sharing))?;
    }
    let long = if args.suite.is_empty() { long_models() } else { sharing.clone() };
    if worthwhile(BenchTable::Threads, &sharing) {
        require_models(suites, &sharing)?;
        add("threads", threads::make(runner, &long))?;
    }
    if wanted(BenchTable::Growth) {
        add("growth", growth::make(runner, suites, args.svg.as_deref()))?;
    }
    if wanted(BenchTable::Rendezvous) {
        // The family belongs to no suite: it is for those who name none.
        let family = if args.suite.is_empty() { queries::family() } else { Vec::new() };
        if !meeting.is_empty() || args.table.contains(&BenchTable::Rendezvous) {
            add("rendezvous", rendezvous::make(runner, &meeting, &family, args.svg.as_deref()))?;
        }
    }
    Ok(())
}

/// The models that take long enough for a second thread to matter.
fn long_models() -> Vec<PathBuf> {
    [PathBuf::from("benches/driver-3-3.cpds")].into_iter().filter(|path| path.is_file()).collect()
}

/// The suites that were named, or `benches`, `examples` and the corpus that the environment names.
fn suites(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let corpus = std::env::var_os("TEPUI_CORPUS")
        .filter(|corpus| !corpus.is_empty())
        .map(|corpus| Path::new(&corpus).join("cpds"));
    if let Some(corpus) = corpus.as_ref().filter(|corpus| !corpus.is_dir()) {
        bail!("TEPUI_CORPUS names a directory with models in cpds, but there is no {}", shown(corpus));
    }
    let here = ["benches", "examples"].map(PathBuf::from).into_iter().filter(|path| path.is_dir());
    let suites: Vec<_> = here.chain(corpus).collect();
    if suites.is_empty() {
        bail!(
            "there is no directory benches or examples here, and TEPUI_CORPUS names none: name a directory of models"
        );
    }
    Ok(suites)
}

/// Threads that meet are asked about queries and nothing else.
fn with_queries(models: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let mut kept = Vec::new();
    for model in models {
        match read_any(&model)?.model()?.property_names().is_empty() {
            true => complain(&format!("skipped: {} has no query\n", shown(&model))),
            false => kept.push(model),
        }
    }
    Ok(kept)
}

fn require_models(suites: &[PathBuf], models: &[PathBuf]) -> Result<()> {
    if models.is_empty() {
        let looked_at: Vec<_> = suites.iter().map(|suite| shown(suite)).collect();
        bail!("no models found in {}: name a directory of .bp, .cpds or .pds files", looked_at.join(", "));
    }
    Ok(())
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|extension| endings.iter().any(|wanted| extension.eq_ignore_ascii_case(wanted)))
}

/// The files of the suites, each of which is a directory or a file, with one of these endings. A file that was named and
/// has none that is known is for those who look for any: they will say what is wrong with it.
fn files(suites: &[PathBuf], endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for suite in suites {
        if suite.is_file() {
            let unknown = endings.contains(&"cpds") && !has_ending(suite, MEETING);
            found.extend(Some(suite.clone()).filter(|path| has_ending(path, endings) || unknown));
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

/// The name of a model in a table.
fn name(model: &Path) -> String {
    visible(&model.file_stem().unwrap_or_default().to_string_lossy()).into_owned()
}

/// Reads a model as the runs will.
fn read_any(file: &Path) -> Result<Loaded> {
    let model = file.to_owned();
    let program = ProgramArgs::default();
    load(&ModelArgs { model, init: None, target: None, property: Vec::new(), all_views: false, program }, None)
}

/// Reads a model whose threads share variables.
fn read(file: &Path) -> Result<Model> {
    match read_any(file)?.model()? {
        tepui_model::Model::Pushdown(model) => Ok(model),
        tepui_model::Model::Rendezvous(_) => bail!("{}: its threads share no variable", shown(file)),
    }
}
