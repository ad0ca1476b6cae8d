//! Every model with every engine: once for all views, so that every row is a complete computation, and once more for
//! the properties where there are any. A certificate is checked in a process of its own as well, and must not take
//! longer than the run that produced it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use tepui_report::{bytes, count, grouped, seconds};

use super::run::{Measured, Report, Runner};
use super::{name, read, table};
use crate::input::Loaded;

/// Below this many states the process itself outweighs them, and bytes for each state say nothing.
const STATES_WORTH_MEASURING: u64 = 100_000;

/// One line of the table.
#[derive(Serialize)]
struct Row {
    model: String,
    engine: String,
    job: &'static str,
    verdict: String,
    reason: Option<String>,
    bound: Value,
    views: u64,
    states: u64,
    steps: u64,
    seconds: f64,
    peak_memory_bytes: u64,
    bytes_per_state: Option<f64>,
    check_seconds: Option<f64>,
}

/// The rows as JSON, and the table.
pub fn make(runner: &Runner, models: &[PathBuf], engines: &[String]) -> Result<(Value, String)> {
    let mut rows = Vec::new();
    for model in models {
        let jobs = jobs(model)?;
        for engine in engines.iter().filter(|engine| jobs.takes(engine)) {
            for &job in &jobs.names {
                rows.extend(fastest(runner, model, engine, job)?);
            }
        }
    }
    Ok((serde_json::to_value(&rows)?, render(&rows) + &totals(&rows, engines)))
}

/// What can be asked about a model.
struct Jobs {
    names: Vec<&'static str>,
    file: String,
    loaded: Loaded,
}

impl Jobs {
    fn takes(&self, engine: &str) -> bool {
        let fits = |facts| self.loaded.problem.require_fitting(&self.file, facts, &[]).is_ok();
        tepui::engine(engine).is_some_and(fits)
    }
}

/// Some models have no views of their own, only properties.
fn jobs(file: &Path) -> Result<Jobs> {
    let loaded = read(file)?;
    let has_views = tepui::require_fitting(&loaded.file, &["--all-views"]).is_ok();
    let has_properties = !loaded.problem.asked().is_empty();
    let jobs = [("views", has_views), ("properties", has_properties)];
    let names = jobs.into_iter().filter(|(_, possible)| *possible).map(|(name, _)| name).collect();
    Ok(Jobs { names, file: loaded.file.clone(), loaded })
}

/// The fastest of several runs; none, where the engine does not apply.
fn fastest(runner: &Runner, model: &Path, engine: &str, job: &'static str) -> Result<Option<Row>> {
    let mut best: Option<Row> = None;
    for _ in 0..runner.runs {
        let Some((row, last)) = run_once(runner, model, engine, job)? else { return Ok(None) };
        let check = [best.as_ref().and_then(|best| best.check_seconds), row.check_seconds];
        let check_seconds = check.into_iter().flatten().min_by(f64::total_cmp);
        let faster = best.take().into_iter().chain([row]).min_by(|one, other| one.seconds.total_cmp(&other.seconds));
        best = faster.map(|row| Row { check_seconds, ..row });
        if last {
            break;
        }
    }
    Ok(best)
}

/// A run, and whether another one would be of no use.
fn run_once(runner: &Runner, model: &Path, engine: &str, job: &'static str) -> Result<Option<(Row, bool)>> {
    let certificate = runner.scratch("bench.cert");
    let path = certificate.to_string_lossy();
    let mut options = vec!["--engine", engine, "--threads", "1", "--certificate", &path];
    options.extend((job == "views").then_some("--all-views"));
    let report = runner.verify(model, &options)?;
    if report.reason() == Some("not-applicable") {
        return Ok(None);
    }
    let check_seconds = match report.get("certificate").as_str() {
        Some(_) => Some(runner.check(model, &claim(&report, job), &certificate)?),
        None => None,
    };
    let violated = report.list("properties").iter().map(|one| &one["bound"]).find(|bound| !bound.is_null());
    let bound = violated.unwrap_or_else(|| report.get("cutoff")).clone();
    let Measured { verdict, reason, views, states, images: steps, seconds, peak_memory_bytes } = report.measured();
    let row = Row {
        model: name(model),
        engine: engine.to_owned(),
        job,
        verdict,
        reason,
        bound,
        views,
        states,
        steps,
        seconds,
        peak_memory_bytes,
        bytes_per_state: (states >= STATES_WORTH_MEASURING).then(|| peak_memory_bytes as f64 / states as f64),
        check_seconds,
    };
    Ok(Some((row, report.is_final())))
}

/// The options that tell the checker what was proved.
fn claim<'a>(report: &'a Report, job: &str) -> Vec<&'a str> {
    if job == "views" {
        return vec!["--all-views"];
    }
    let safe = report.list("properties").iter().filter(|one| one["verdict"] == "safe");
    safe.filter_map(|one| one["name"].as_str()).flat_map(|name| ["--property", name]).collect()
}

fn render(rows: &[Row]) -> String {
    let header =
        ["model", "engine", "job", "verdict", "bound", "views", "states", "images", "time", "peak", "B/state", "check"];
    let cells = |row: &Row| {
        let reason = row.reason.as_ref().map(|reason| format!(": {reason}"));
        vec![
            row.model.clone(),
            row.engine.clone(),
            row.job.to_owned(),
            row.verdict.clone() + &reason.unwrap_or_default(),
            bound_text(&row.bound),
            grouped(row.views),
            grouped(row.states),
            grouped(row.steps),
            seconds(row.seconds),
            bytes(row.peak_memory_bytes),
            row.bytes_per_state.map(|bytes| format!("{bytes:.0}")).unwrap_or_default(),
            row.check_seconds.map(seconds).unwrap_or_default(),
        ]
    };
    table::render(&header, 4, rows.iter().map(cells))
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
            if of().next().is_none() {
                continue; // The engine applies to none of the models.
            }
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
