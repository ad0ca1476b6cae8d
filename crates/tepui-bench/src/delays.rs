//! The delays engine beside the published figures for its technique.
//!
//! Every line of the paper is printed, with our figures where the suites hold its file; models without published
//! figures follow. Views have depth 2, as in the paper. Images are counted until the last bound that brings a new
//! view, which is where the final plateau begins, and from there to the end.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use tepui_report::{grouped, seconds};

use crate::published::{Published, Time, lines};
use tepui_cli::bench::name;
use tepui_cli::bench::run::{Measured, Report, Runner};
use tepui_cli::bench::table::{at_least, or_dash, render};

use crate::read;

/// Our own model of the kind that a line of the paper is about: model, and the line's model and threads.
const LIKE: (&str, &str, &str) = ("driver-2-3", "Bluetooth3", "2+3");

const DELAYS: &[&str] = &["--engine", "delays", "--all-views", "--threads", "1", "--view-depth", "2"];
const CLOSURE: &[&str] = &["--engine", "closure", "--all-views", "--threads", "1", "--no-symmetry"];

/// One line of both tables.
#[derive(Serialize)]
struct Row {
    model: String,
    threads: String,
    file: Option<String>,
    /// The line of the paper that is about a model of the same kind, where this is our own model.
    like: Option<String>,
    published: Option<Published>,
    ours: Option<Ours>,
}

/// What was measured.
#[derive(Serialize)]
struct Ours {
    #[serde(flatten)]
    run: Measured,
    /// Rounds and delays at the end.
    rounds: Option<u64>,
    delays: Option<u64>,
    images_before_plateau: u64,
    images_during_plateau: u64,
    every_iteration: Measured,
    closure: Measured,
    without_frontier: Measured,
}

/// The rows as JSON, and the tables.
pub(super) fn make(runner: &Runner, models: &[PathBuf]) -> Result<(Value, String)> {
    let mut rows = Vec::new();
    let (lines, mut rest) = (lines(), models.to_vec());
    for line in lines {
        let file = line.file.and_then(|file| take(&mut rest, file));
        rows.push(Row {
            model: line.model.to_owned(),
            threads: line.threads.to_owned(),
            file: file.as_ref().map(|file| file.display().to_string()),
            like: None,
            published: Some(line),
            ours: file.map(|file| measure(runner, &file)).transpose()?,
        });
        if (line.model, line.threads) == (LIKE.1, LIKE.2)
            && let Some(file) = take(&mut rest, LIKE.0)
        {
            let like = Some(format!("{} {}", LIKE.1, LIKE.2));
            rows.push(Row { threads: LIKE.2.to_owned(), like, ..own(runner, &file)? });
        }
    }
    for file in rest {
        rows.push(own(runner, &file)?);
    }
    Ok((serde_json::to_value(&rows)?, text(runner, &rows)))
}

/// Takes the model with this name out of the list.
fn take(models: &mut Vec<PathBuf>, wanted: &str) -> Option<PathBuf> {
    let index = models.iter().position(|model| name(model) == wanted)?;
    Some(models.remove(index))
}

fn own(runner: &Runner, file: &Path) -> Result<Row> {
    Ok(Row {
        model: name(file),
        threads: read(file)?.threads().len().to_string(),
        file: Some(file.display().to_string()),
        like: None,
        published: None,
        ours: Some(measure(runner, file)?),
    })
}

fn measure(runner: &Runner, file: &Path) -> Result<Ours> {
    let report = runner.fastest(file, DELAYS)?;
    let every = runner.fastest(file, &[DELAYS, &["--closure-every-iteration"]].concat())?;
    let closure = runner.fastest(file, CLOSURE)?;
    // Only its number of images is of interest, and that is the same every time.
    let without_frontier = runner.verify(file, &[DELAYS, &["--no-frontier"]].concat())?;
    let before = images_before_plateau(&report);
    let run = report.measured();
    let bound = |part: &str| report.get("bound_reached")[part].as_u64();
    Ok(Ours {
        rounds: bound("rounds"),
        delays: bound("delays"),
        images_before_plateau: before,
        images_during_plateau: run.images.saturating_sub(before),
        run,
        every_iteration: every.measured(),
        closure: closure.measured(),
        without_frontier: without_frontier.measured(),
    })
}

fn images_before_plateau(report: &Report) -> u64 {
    let growing = report.list("iterations").iter().rfind(|iteration| iteration["new_views"].as_u64() > Some(0));
    growing.and_then(|iteration| iteration["steps"].as_u64()).unwrap_or(0)
}

fn text(runner: &Runner, rows: &[Row]) -> String {
    let mut out = String::from("Rounds and delays: Table 2 of Johnson and Wahl (2021), published and ours\n\n");
    out += &render(TABLE_2, 1, rows.iter().map(table_2));
    out += "\nCalls to Image: Table 3 of Johnson and Wahl (2021), published and ours\n\n";
    out += &render(TABLE_3, 1, rows.iter().map(table_3));
    out += &format!(
        "\nPublished times are from the paper: Java on a 3.2 GHz i5, at most an hour and 8 GB (TO, OOM: out of time, of memory).
The paper waits for a delay plateau one longer than its theorem needs, so its d is larger by one.
Ours: one thread, views of depth 2, at most {} a run; AI: --closure-every-iteration. Beside CUBA stands
our closure engine without symmetry, with views of depth 1. FP: the final plateau; — : no figure.
",
        runner.limit_text(1)
    );
    if rows.iter().any(|row| row.like.is_some()) {
        out += "* Our own model of the same kind as the line above it, not the same file: its figures are no reproduction.\n";
    }
    out
}

const TABLE_2: &[&str] = &[
    "model",
    "threads",
    "views\npublished",
    "\nours",
    "Alg. 1\npublished",
    "\nours",
    "AI\npublished",
    "\nours",
    "CUBA\npublished",
    "closure\nours",
    "r, d\npublished",
    "\nours",
];

const TABLE_3: &[&str] = &[
    "model",
    "threads",
    "images to FP\npublished",
    "\nours",
    "during FP\npublished",
    "\nours",
    "without frontier\npublished",
    "\nours",
];

fn names(row: &Row) -> [String; 2] {
    let mark = if row.like.is_some() { " *" } else { "" };
    [format!("{}{mark}", row.model), row.threads.clone()]
}

fn table_2(row: &Row) -> Vec<String> {
    let (published, ours) = (row.published.as_ref(), row.ours.as_ref());
    let time = |get: fn(&Published) -> Time| published.map(|line| time_text(get(line)));
    let our_time = |get: fn(&Ours) -> &Measured| ours.map(|ours| get(ours).time_text());
    let figures = [
        published.and_then(|line| line.views).map(grouped),
        ours.map(|ours| at_least(ours.run.views, ours.run.is_complete())),
        time(|line| line.seconds),
        our_time(|ours| &ours.run),
        time(|line| line.every_iteration_seconds),
        our_time(|ours| &ours.every_iteration),
        time(|line| line.cuba_seconds),
        our_time(|ours| &ours.closure),
        published.and_then(|line| Some(format!("{}, {}", line.rounds?, line.delays?))),
        ours.filter(|ours| ours.run.is_complete()).and_then(|ours| Some(format!("{}, {}", ours.rounds?, ours.delays?))),
    ];
    names(row).into_iter().chain(figures.map(or_dash)).collect()
}

fn table_3(row: &Row) -> Vec<String> {
    let (published, ours) = (row.published.as_ref(), row.ours.as_ref());
    let images = |get: fn(&Published) -> Option<u64>| published.and_then(get).map(grouped);
    let complete = ours.filter(|ours| ours.run.is_complete());
    let scratch = ours.map(|ours| &ours.without_frontier);
    let figures = [
        images(|line| line.images_before_plateau),
        complete.map(|ours| grouped(ours.images_before_plateau)),
        images(|line| line.images_during_plateau),
        complete.map(|ours| grouped(ours.images_during_plateau)),
        images(|line| line.images_without_frontier),
        scratch.map(|run| at_least(run.images, run.is_complete())),
    ];
    names(row).into_iter().chain(figures.map(or_dash)).collect()
}

fn time_text(time: Time) -> String {
    match time {
        Time::Took(time) => seconds(time),
        Time::Out(why) => why.to_owned(),
    }
}
