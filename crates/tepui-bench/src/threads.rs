//! One thread against two, for runs that take long. The answer must not depend on it: verdict, states, views and the
//! bytes of the certificate are compared.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;
use tepui_report::count;

use tepui_cli::bench::name;
use tepui_cli::bench::run::{Measured, Report, Runner};
use tepui_cli::bench::table::{at_least, or_dash, render};
use tepui_cli::shown;

const ENGINES: &[&str] = &["closure", "delays", "contexts-explicit"];

/// A run of this table may take this many times as long as others.
const PATIENCE: u32 = 10;

/// One line of the table.
#[derive(Serialize)]
struct Row {
    model: String,
    engine: &'static str,
    one: Measured,
    two: Measured,
    /// The time with one thread, divided by the time with two.
    speedup: Option<f64>,
    certificate_bytes: Option<u64>,
    /// Whether both answered the same; nothing, where one of them did not come to its end.
    same: Option<bool>,
    /// What differs between the two.
    differences: Vec<&'static str>,
}

/// The rows as JSON, and the table.
pub(super) fn make(runner: &Runner, models: &[PathBuf]) -> Result<(Value, String)> {
    let mut rows = Vec::new();
    for model in models {
        for engine in ENGINES {
            rows.extend(measure(runner, model, engine)?);
        }
    }
    Ok((serde_json::to_value(&rows)?, text(runner, &rows)))
}

/// The fastest runs, made alternately however long they take, since what is asked for is a ratio; none, where the engine
/// does not apply.
fn measure(runner: &Runner, model: &Path, engine: &'static str) -> Result<Option<Row>> {
    let certificates = [runner.scratch("one.cert"), runner.scratch("two.cert")];
    let mut best: [Option<Report>; 2] = [None, None];
    for _ in 0..runner.runs {
        let mut last = false;
        for ((best, threads), certificate) in best.iter_mut().zip(["1", "2"]).zip(&certificates) {
            let report = run_once(runner, model, engine, threads, certificate)?;
            if report.reason() == Some("not-applicable") {
                return Ok(None);
            }
            last |= !report.measured().is_complete();
            if best.as_ref().is_none_or(|best| report.seconds() < best.seconds()) {
                *best = Some(report);
            }
        }
        if last {
            break;
        }
    }
    let [Some(one), Some(two)] = best else { return Ok(None) };
    Ok(Some(compare(model, engine, &one.measured(), &two.measured(), &certificates)?))
}

fn run_once(runner: &Runner, model: &Path, engine: &str, threads: &str, certificate: &Path) -> Result<Report> {
    let path = certificate.to_string_lossy();
    let options = ["--engine", engine, "--all-views", "--no-symmetry", "--threads", threads, "--certificate", &path];
    runner.verify_within(runner.timeout.saturating_mul(PATIENCE), model, &options)
}

fn compare(model: &Path, engine: &'static str, one: &Measured, two: &Measured, files: &[PathBuf; 2]) -> Result<Row> {
    let complete = one.is_complete() && two.is_complete();
    let mut differences = Vec::new();
    let mut certificate_bytes = None;
    if complete {
        let read = |path: &PathBuf| std::fs::read(path).with_context(|| format!("cannot read {}", shown(path)));
        let (first, second) = (read(&files[0])?, read(&files[1])?);
        let equal = [
            ("verdict", one.verdict == two.verdict),
            ("states", one.states == two.states),
            ("views", one.views == two.views),
            ("certificate", first == second),
        ];
        differences.extend(equal.into_iter().filter(|(_, equal)| !equal).map(|(what, _)| what));
        certificate_bytes = Some(first.len() as u64);
    }
    Ok(Row {
        model: name(model),
        engine,
        speedup: (complete && two.seconds > 0.0).then(|| one.seconds / two.seconds),
        certificate_bytes,
        same: complete.then_some(differences.is_empty()),
        differences,
        one: one.clone(),
        two: two.clone(),
    })
}

fn text(runner: &Runner, rows: &[Row]) -> String {
    let limit = runner.limit_text(PATIENCE);
    let title = format!("One thread and two, all views, without symmetry, at most {limit} a run\n\n");
    if rows.is_empty() {
        return title + "no model to run: name one, or run where benches/driver-3-3.cpds is\n";
    }
    let header = ["model", "engine", "verdict", "states", "views", "one thread", "two threads", "ratio", "answers"];
    let different = rows.iter().filter(|row| row.same == Some(false)).count();
    let compared = rows.iter().filter(|row| row.same.is_some()).count() as u64;
    let verdict = match (compared, different) {
        (0, _) => "no run was finished with both, so nothing was compared".to_owned(),
        (_, 0) => {
            format!("{} compared: verdict, states, views and certificate bytes are equal", count(compared, "answer"))
        }
        _ => format!("{} compared, of which {different} DIFFER", count(compared, "answer")),
    };
    format!("{title}{}\n{verdict}\n", render(&header, 3, rows.iter().map(cells)))
}

fn cells(row: &Row) -> Vec<String> {
    let answers = match row.same {
        Some(true) => "equal".to_owned(),
        Some(false) => format!("DIFFERENT {}", row.differences.join(", ")),
        None => "not compared".to_owned(),
    };
    let unfinished = [&row.one, &row.two].into_iter().find(|run| !run.is_complete());
    let shown = unfinished.unwrap_or(&row.one);
    vec![
        row.model.clone(),
        row.engine.to_owned(),
        shown.verdict_text(),
        at_least(shown.states, shown.is_complete()),
        at_least(shown.views, shown.is_complete()),
        row.one.time_text(),
        row.two.time_text(),
        or_dash(row.speedup.map(|ratio| format!("{ratio:.2}"))),
        answers,
    ]
}
