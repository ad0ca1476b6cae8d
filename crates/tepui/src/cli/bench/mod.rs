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
use super::input::load;
use super::{Exit, print};
use run::Runner;
use tepui_model::pushdown::Model;

/// Where the families of models that can be scaled stand in a suite.
const FAMILIES: &str = "families";

/// Runs `tepui bench`.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit> {
    let wanted = |table| args.table.contains(&table) || args.table.contains(&BenchTable::All);
    if args.svg.is_some() && !wanted(BenchTable::Growth) && !wanted(BenchTable::Rendezvous) {
        bail!("--svg draws the tables of growth and rendezvous: add --table growth or --table rendezvous");
    }
    let runner = Runner::new(args.timeout, args.runs)?;
    let mut document = Map::new();
    let result = tables(args, &runner, &wanted, &mut document);
    // What was measured before a failure is not lost.
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&Value::Object(document))? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    result.map(|()| Exit::Good)
}

fn tables(
    args: &BenchArgs,
    runner: &Runner,
    wanted: &dyn Fn(BenchTable) -> bool,
    document: &mut Map<String, Value>,
) -> Result<()> {
    let suites = suites(&args.suite)?;
    let mut add = |name: &str, made: Result<(Value, String)>| -> Result<()> {
        let (rows, text) = made?;
        let gap = if document.is_empty() { "" } else { "\n" };
        print(&format!("{gap}{text}"))?;
        document.insert(name.to_owned(), rows);
        Ok(())
    };
    if wanted(BenchTable::Engines) {
        add("engines", engines::make(runner, &models(&suites)?, &args.engine))?;
    }
    if wanted(BenchTable::Delays) {
        add("delays", delays::make(runner, &models(&suites)?))?;
    }
    if wanted(BenchTable::Threads) {
        let chosen = if args.suite.is_empty() { long_models() } else { models(&suites)? };
        add("threads", threads::make(runner, &chosen))?;
    }
    if wanted(BenchTable::Growth) {
        add("growth", growth::make(runner, &suites, args.svg.as_deref()))?;
    }
    if wanted(BenchTable::Rendezvous) {
        let models = files(&suites, &["rpds"])?;
        // The family belongs to no suite: it is for those who name none.
        let family = if args.suite.is_empty() { queries::family() } else { Vec::new() };
        if !models.is_empty() || args.table.contains(&BenchTable::Rendezvous) {
            add("rendezvous", rendezvous::make(runner, &models, &family, args.svg.as_deref()))?;
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
        bail!("TEPUI_CORPUS names a directory with models in cpds, but there is no {}", corpus.display());
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

/// The models of the suites whose threads share a variable.
fn models(suites: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let models = files(suites, &["pds", "cpds"])?;
    if models.is_empty() {
        let looked_at: Vec<_> = suites.iter().map(|suite| suite.display().to_string()).collect();
        bail!("no models found in {}: name a directory of .cpds or .pds files", looked_at.join(", "));
    }
    Ok(models)
}

/// The files of the suites, each of which is a directory or a file, with one of these extensions.
fn files(suites: &[PathBuf], extensions: &[&str]) -> Result<Vec<PathBuf>> {
    let fits =
        |path: &Path| path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted));
    let mut found = Vec::new();
    for suite in suites {
        if suite.is_file() {
            found.extend(Some(suite.clone()).filter(|path| fits(path) || extensions.contains(&"cpds")));
            continue;
        }
        let entries = std::fs::read_dir(suite).with_context(|| format!("cannot read {}", suite.display()))?;
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        files.retain(|path| fits(path));
        files.sort();
        found.extend(files);
    }
    Ok(found)
}

/// The name of a model in a table.
fn name(model: &Path) -> String {
    model.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a model as the runs will.
fn read(file: &Path) -> Result<Model> {
    let model = file.to_owned();
    let program = ProgramArgs::default();
    let args = ModelArgs { model, init: None, target: None, property: Vec::new(), all_views: false, program };
    match load(&args, None)?.model()? {
        tepui_model::Model::Pushdown(model) => Ok(model),
        tepui_model::Model::Rendezvous(_) => bail!("{}: its threads share no variable", file.display()),
    }
}
