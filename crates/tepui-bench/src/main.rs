//! The benchmark tables of the book: what the engines need, each run in a process of its own.
//!
//! A process for each run makes times and peak memory independent of what ran before. Engines run on one core, unless
//! the table is about cores. Of several runs the fastest counts.
//!
//! The document that `--json` writes has a member for each table that was made: `engines`, `delays`, `threads`, `growth`
//! and `rendezvous`, with the rows that the files of these names define; times are in seconds and memory is in bytes.
//! `benches/README.md` describes the members.

mod delays;
mod growth;
mod plot;
mod published;
mod queries;
mod rendezvous;
mod scatter;
mod threads;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Map, Value};

use clap::builder::PossibleValuesParser;
use clap::{Parser, ValueEnum};
use tepui_cli::bench::run::Runner;
use tepui_cli::bench::{FAMILIES, announce_skipped, asks_something, engines, files, require_models};
use tepui_cli::{complain, output, print, shown};
use tepui_lang::pushdown::{CubaInput, read_cpds, read_cuba};
use tepui_lang::source::Source;
use tepui_report::json::to_json;
use tepui_report::visible_lines;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The benchmark tables of the book
#[derive(Parser)]
struct BenchArgs {
    /// Directories of models in any form, or models; by default benches, examples, and cpds in the directory that TEPUI_CORPUS
    /// names
    suite: Vec<PathBuf>,
    /// The tables to print; may be given several times
    #[arg(long, value_enum, value_name = "TABLE", default_values_t = [BenchTable::All])]
    table: Vec<BenchTable>,
    /// The engines of the table of engines; may be given several times
    #[arg(long, default_values = BENCH_ENGINES, value_parser = PossibleValuesParser::new(tepui::engines().map(|engine| engine.facts.name)))]
    engine: Vec<String>,
    /// Write everything that was measured as JSON to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write plots into this directory: growth-stefan.svg, growth-driver.svg and rendezvous-policies.svg
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// What each run may take; those of the table of threads may take ten times as long
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = humantime::parse_duration)]
    timeout: Duration,
    /// Runs of each row, of which the fastest counts; one that takes more than 5 s is not repeated
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
}

const BENCH_ENGINES: [&str; 4] = ["closure", "delays", "contexts-explicit", "contexts-symbolic"];

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum BenchTable {
    /// Every table
    All,
    /// Every model with every engine
    Engines,
    /// The delays engine beside published figures
    Delays,
    /// One thread against two
    Threads,
    /// Cost and the number of a model's threads
    Growth,
    /// Policies of the rendezvous engine, beside published figures and against each other
    Rendezvous,
}

/// Runs are processes of their own, and this program is what they run.
fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == "verify" || word == "check") {
        return tepui_cli::main();
    }
    match bench(&BenchArgs::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {}\n", visible_lines(&format!("{error:#}"))));
            ExitCode::from(2)
        }
    }
}

/// The endings of models whose threads share variables.
const SHARING: &[&str] = &["pds", "cpds", "bp"];

/// The endings of models whose threads meet in actions.
const MEETING: &[&str] = &["rpds", "spad"];

/// The endings of files that belong to a model.
const COMPANIONS: &[&str] = &["init", "spec", "mch"];

/// Makes the tables.
fn bench(args: &BenchArgs) -> Result<()> {
    let wanted = |table| args.table.contains(&table) || args.table.contains(&BenchTable::All);
    if args.svg.is_some() && !wanted(BenchTable::Growth) && !wanted(BenchTable::Rendezvous) {
        bail!("--svg draws the tables of growth and rendezvous: add --table growth or --table rendezvous");
    }
    let suites = suites(&args.suite)?;
    prepare_outputs(args, &suites)?;
    announce(&suites, args, &wanted)?;
    let runner = Runner::new(args.timeout, args.runs)?;
    let mut document = Map::new();
    let result = tables(args, &runner, &suites, &wanted, &mut document);
    // What was measured before a failure is not lost.
    if let Some(path) = &args.json {
        output::write(path, (to_json(&Value::Object(document)) + "\n").as_bytes())?;
    }
    result
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
fn announce(suites: &[PathBuf], args: &BenchArgs, wanted: &dyn Fn(BenchTable) -> bool) -> Result<()> {
    let engines = wanted(BenchTable::Engines);
    let sharing = engines || wanted(BenchTable::Delays) || (wanted(BenchTable::Threads) && !args.suite.is_empty());
    let meeting = engines || wanted(BenchTable::Rendezvous);
    let used = [if sharing { SHARING } else { &[] }, if meeting { MEETING } else { &[] }, COMPANIONS].concat();
    announce_skipped(suites, &used)
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
        match asks_something(&model)? {
            false => complain(&format!("skipped: {} has no query\n", shown(&model))),
            true => kept.push(model),
        }
    }
    Ok(kept)
}

/// Reads a pushdown system.
fn read(file: &Path) -> Result<tepui_model::pushdown::Model> {
    let source = |path: &Path| -> Result<Source> {
        let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", shown(path)))?;
        Ok(Source::new(path.display().to_string(), &bytes))
    };
    let beside = |extension: &str| Some(file.with_extension(extension)).filter(|path| path.exists());
    let main = source(file)?;
    let parsed = match file.extension().is_some_and(|extension| extension == "pds") {
        true => {
            let init = beside("init").map(|path| source(&path)).transpose()?;
            let targets = beside("spec").map(|path| source(&path)).transpose()?;
            read_cuba(CubaInput { pds: &main, init: init.as_ref(), targets: targets.as_ref(), matching: None })
        }
        false => read_cpds(&main, None, None, None),
    };
    Ok(parsed.map_err(|_| anyhow!("{} cannot be read", shown(file)))?.model)
}
