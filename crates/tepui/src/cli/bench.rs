//! `tepui bench`: every model of a suite with every engine, each run in a process of its own.
//!
//! A process for each run makes times and peak memory independent of what ran before. Engines run on one core. Runs
//! are made for all views, so that every row is a complete computation, and once more for the properties where there
//! are any. A certificate is checked in a process of its own as well, and must not take longer than the run that
//! produced it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use comfy_table::{CellAlignment, Table};
use serde::Serialize;
use serde_json::Value;
use tepui_report::{bytes, count, grouped, seconds};

use super::args::{BenchArgs, ModelArgs};
use super::input::load;
use super::{Exit, print};

/// Below this many states the process itself outweighs them, and bytes for each state say nothing.
const STATES_WORTH_MEASURING: u64 = 100_000;

/// One line of the table.
#[derive(Serialize)]
struct Row {
    model: String,
    engine: String,
    job: &'static str,
    verdict: String,
    bound: Value,
    views: u64,
    states: u64,
    steps: u64,
    seconds: f64,
    peak_memory_bytes: u64,
    bytes_per_state: Option<f64>,
    check_seconds: Option<f64>,
}

/// Runs `tepui bench`.
pub(crate) fn bench(args: &BenchArgs) -> Result<Exit> {
    let models = models(&args.suite)?;
    let scratch = std::env::temp_dir().join(format!("tepui-bench-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let rows = run_all(&models, args, &scratch.join("bench.cert"));
    std::fs::remove_dir_all(&scratch)?;
    let rows = rows?;
    print(&table(&rows))?;
    print(&totals(&rows, &args.engine))?;
    if let Some(path) = &args.json {
        let text = serde_json::to_string_pretty(&rows)? + "\n";
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(Exit::Good)
}

/// The models of the suites, or of `examples`, `benches` and the corpus that the environment names.
fn models(suites: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let corpus = std::env::var_os("TEPUI_CORPUS").map(|corpus| Path::new(&corpus).join("cpds"));
    let usual = ["benches", "examples"].map(PathBuf::from).into_iter().chain(corpus).filter(|path| path.is_dir());
    let suites: Vec<_> = if suites.is_empty() { usual.collect() } else { suites.to_vec() };
    if suites.is_empty() {
        bail!(
            "there is no directory benches or examples here, and TEPUI_CORPUS names none: name a directory of models"
        );
    }
    let mut models = Vec::new();
    let looked_at: Vec<_> = suites.iter().map(|suite| suite.display().to_string()).collect();
    for suite in suites {
        if suite.is_file() {
            models.push(suite);
            continue;
        }
        let entries = std::fs::read_dir(&suite).with_context(|| format!("cannot read {}", suite.display()))?;
        let mut files = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        files.retain(|path| path.extension().is_some_and(|extension| extension == "pds" || extension == "cpds"));
        files.sort();
        models.extend(files);
    }
    if models.is_empty() {
        bail!("no models found in {}: name a directory of .cpds or .pds files", looked_at.join(", "));
    }
    Ok(models)
}

fn run_all(models: &[PathBuf], args: &BenchArgs, certificate: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for model in models {
        let given =
            ModelArgs { model: model.clone(), init: None, target: None, property: Vec::new(), all_views: false };
        let properties = !load(&given, None)?.model.properties().is_empty();
        for engine in &args.engine {
            for job in ["views", "properties"] {
                if job == "views" || properties {
                    rows.extend(fastest(model, engine, job, args, certificate)?);
                }
            }
        }
    }
    Ok(rows)
}

/// The fastest of several runs; none, where the engine does not apply.
fn fastest(model: &Path, engine: &str, job: &'static str, args: &BenchArgs, certificate: &Path) -> Result<Option<Row>> {
    let mut best: Option<Row> = None;
    for _ in 0..args.runs {
        let Some(row) = run_once(model, engine, job, &args.timeout, certificate)? else { return Ok(None) };
        let check = [best.as_ref().and_then(|best| best.check_seconds), row.check_seconds];
        let check_seconds = check.into_iter().flatten().min_by(f64::total_cmp);
        let faster = best.take().into_iter().chain([row]).min_by(|one, other| one.seconds.total_cmp(&other.seconds));
        best = faster.map(|row| Row { check_seconds, ..row });
    }
    Ok(best)
}

fn run_once(model: &Path, engine: &str, job: &'static str, timeout: &str, certificate: &Path) -> Result<Option<Row>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("verify").arg(model).args(["--engine", engine, "--threads", "1", "--format", "json"]);
    command.args(["--timeout", timeout]).arg("--certificate").arg(certificate);
    command.args((job == "views").then_some("--all-views"));
    let output = command.output()?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{}: {}", model.display(), String::from_utf8_lossy(&output.stderr)))?;
    if report["reason"]["kind"] == "not-applicable" {
        return Ok(None);
    }
    let number = |name: &str| report[name].as_u64().unwrap_or(0);
    let violated = report["properties"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| one["bound"].clone())
        .find(|bound| !bound.is_null());
    let safe = report["properties"].as_array().into_iter().flatten().filter(|one| one["verdict"] == "safe");
    let safe: Vec<_> = safe.filter_map(|one| one["name"].as_str()).collect();
    let claim =
        if job == "views" { vec!["--all-views"] } else { safe.into_iter().flat_map(|p| ["--property", p]).collect() };
    let check_seconds = match report["certificate"].as_str() {
        Some(_) => Some(check(model, &claim, certificate)?),
        None => None,
    };
    let (states, peak) = (number("states"), number("peak_memory_bytes"));
    Ok(Some(Row {
        model: model.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        engine: engine.to_owned(),
        job,
        verdict: report["verdict"].as_str().unwrap_or("?").to_owned(),
        bound: violated.unwrap_or_else(|| report["cutoff"].clone()),
        views: number("views"),
        states,
        steps: number("steps"),
        seconds: report["seconds"].as_f64().unwrap_or(0.0),
        peak_memory_bytes: peak,
        bytes_per_state: (states >= STATES_WORTH_MEASURING).then(|| peak as f64 / states as f64),
        check_seconds,
    }))
}

fn check(model: &Path, claim: &[&str], certificate: &Path) -> Result<f64> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("check").arg(certificate).arg(model).args(claim);
    let start = Instant::now();
    let output = command.output()?;
    if !output.status.success() {
        bail!("{}: the certificate was refused: {}", model.display(), String::from_utf8_lossy(&output.stdout));
    }
    Ok(start.elapsed().as_secs_f64())
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "model", "engine", "job", "verdict", "bound", "views", "states", "images", "time", "peak", "B/state", "check",
    ]);
    for row in rows {
        let optional = |number: Option<String>| number.unwrap_or_default();
        table.add_row([
            row.model.clone(),
            row.engine.clone(),
            row.job.to_owned(),
            row.verdict.clone(),
            bound_text(&row.bound),
            grouped(row.views),
            grouped(row.states),
            grouped(row.steps),
            seconds(row.seconds),
            bytes(row.peak_memory_bytes),
            optional(row.bytes_per_state.map(|bytes| format!("{bytes:.0}"))),
            optional(row.check_seconds.map(seconds)),
        ]);
    }
    table.column_iter_mut().skip(4).for_each(|column| {
        column.set_cell_alignment(CellAlignment::Right);
    });
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// A number, or the numbers of an object.
fn bound_text(bound: &Value) -> String {
    match bound {
        Value::Null => String::new(),
        Value::Object(parts) => parts.values().map(Value::to_string).collect::<Vec<_>>().join(", "),
        number => number.to_string(),
    }
}

fn totals(rows: &[Row], engines: &[String]) -> String {
    let mut out = String::from("\n");
    for job in ["views", "properties"] {
        for engine in engines {
            let of = || rows.iter().filter(|row| (&row.engine, row.job) == (engine, job));
            let total: f64 = of().map(|row| row.seconds).sum();
            let open = of().filter(|row| row.verdict == "unknown").count();
            let rows = count(of().count() as u64, "row");
            out += &format!("{engine}, {job}: {rows}, {open} unknown, {} together\n", seconds(total));
        }
    }
    let long = || rows.iter().filter(|row| row.seconds > 0.1 && row.check_seconds.is_some());
    let slow: Vec<_> =
        long().filter(|row| row.check_seconds > Some(row.seconds)).map(|row| row.model.as_str()).collect();
    match (long().count(), slow.as_slice()) {
        (0, _) => out,
        (_, []) => out + "no certificate takes longer to check than to find, among runs over 0.1 s\n",
        (_, names) => out + &format!("slower to check than to find: {}\n", names.join(", ")),
    }
}
