//! The rendezvous engine: policies beside the published figures for them, and against each other on a family of queries.
//!
//! Languages are compared alone, without the closure search that `auto` would run first. The published models are not
//! known; ours are of the same drivers, so times and lengths compare in kind only.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::Value;
use tepui::Policy;
use tepui_report::{count, seconds};

use crate::queries::Query;
use crate::scatter::{Panel, Scatter};
use tepui_cli::bench::name;
use tepui_cli::bench::run::{Measured, Report, Runner};
use tepui_cli::bench::table::{or_dash, render};
use tepui_cli::{output, shown};

/// What Kidd, Reps and Touili published for three versions of the driver: our model of the same kind, the times of the
/// four policies in seconds, and the lengths of the last round of the fourth.
const PUBLISHED: [(&str, &str, [f64; 4], &str); 3] = [
    ("bluetooth1", "BT1", [2.76, 2.61, 1.52, 1.41], "(4 5 4 6 4)"),
    ("bluetooth2-two", "BT2", [135.57, 117.32, 130.27, 110.7], "(9 4 7 7 4 7)"),
    ("bluetooth3", "BT3", [7.48, 4.82, 7.12, 4.51], "(7 4 7 7 4 7)"),
];

/// One model with every policy.
#[derive(Serialize)]
struct Row {
    model: String,
    like: Option<&'static str>,
    published_seconds: Option<[f64; 4]>,
    published_lengths: Option<&'static str>,
    policies: Vec<ByPolicy>,
    /// The default way, closure first.
    auto: Measured,
    auto_engine: String,
}

/// One policy.
#[derive(Serialize)]
struct ByPolicy {
    policy: &'static str,
    #[serde(flatten)]
    run: Measured,
    /// For each round the lengths of the first query, thread by thread.
    lengths: Vec<Vec<u64>>,
}

/// One query of the family with every policy, in the order of the policies.
#[derive(Serialize)]
struct Compared {
    query: String,
    verdict: String,
    policies: Vec<Measured>,
}

/// The rows as JSON, and the tables.
pub(super) fn make(
    runner: &Runner,
    models: &[PathBuf],
    family: &[Query],
    svg: Option<&Path>,
) -> Result<(Value, String)> {
    let rows = models.iter().map(|model| row(runner, model)).collect::<Result<Vec<_>>>()?;
    let compared = compare(runner, family)?;
    if let Some(folder) = svg.filter(|_| !family.is_empty()) {
        let path = folder.join("rendezvous-policies.svg");
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", shown(folder)))?;
        output::write(&path, plot(&compared).draw().as_bytes())?;
    }
    let document = serde_json::json!({ "models": rows, "queries": compared });
    Ok((document, text(runner, &rows, &compared)))
}

/// Languages alone: a bound makes sure that nothing runs beside them.
fn options(policy: &str) -> [&str; 8] {
    ["--engine", "rendezvous", "--policy", policy, "--bound-limit", "1000", "--threads", "1"]
}

fn row(runner: &Runner, model: &Path) -> Result<Row> {
    let published = PUBLISHED.iter().find(|published| published.0 == name(model));
    let mut policies = Vec::new();
    for (policy, _) in Policy::ALL {
        let report = runner.fastest(model, &options(policy))?;
        policies.push(ByPolicy { policy, run: report.measured(), lengths: lengths(&report) });
    }
    let auto = runner.fastest(model, &["--threads", "1"])?;
    Ok(Row {
        model: name(model),
        like: published.map(|published| published.1),
        published_seconds: published.map(|published| published.2),
        published_lengths: published.map(|published| published.3),
        policies,
        auto: auto.measured(),
        auto_engine: auto.get("engine").as_str().unwrap_or_default().to_owned(),
    })
}

fn lengths(report: &Report) -> Vec<Vec<u64>> {
    let first = |iteration: &Value| -> Vec<u64> {
        let lengths = iteration["approximations"][0]["lengths"].as_array();
        lengths.into_iter().flatten().filter_map(Value::as_u64).collect()
    };
    report.list("iterations").iter().map(first).collect()
}

fn compare(runner: &Runner, family: &[Query]) -> Result<Vec<Compared>> {
    let mut compared = Vec::new();
    for query in family {
        let path = runner.scratch("query.rpds");
        std::fs::write(&path, &query.text).with_context(|| format!("cannot write {}", shown(&path)))?;
        let mut policies = Vec::new();
        for (policy, _) in Policy::ALL {
            policies.push(runner.verify(&path, &options(policy))?.measured());
        }
        let verdict = policies.iter().map(|run| run.verdict.as_str()).find(|verdict| *verdict != "unknown");
        compared.push(Compared {
            query: query.name.clone(),
            verdict: verdict.unwrap_or("unknown").to_owned(),
            policies,
        });
    }
    Ok(compared)
}

/// How many times as fast as succinct a policy is, for the queries that both decide.
fn speedups(compared: &[Compared], policy: usize) -> Vec<f64> {
    let decided = |run: &Measured| run.verdict != "unknown";
    let both = compared.iter().filter(|one| decided(&one.policies[0]) && decided(&one.policies[policy]));
    let mut speedups: Vec<_> = both.map(|one| one.policies[0].seconds / one.policies[policy].seconds).collect();
    speedups.sort_by(f64::total_cmp);
    speedups
}

fn text(runner: &Runner, rows: &[Row], compared: &[Compared]) -> String {
    let limit = runner.limit_text(1);
    let mut out = format!(
        "rendezvous: seconds of each policy, in brackets what Kidd, Reps and Touili published; at most {limit}\n\n"
    );
    let header: Vec<_> =
        ["model", "like", "verdict"].into_iter().chain(Policy::ALL.map(|(name, _)| name)).chain(["auto"]).collect();
    out += &render(&header, 3, rows.iter().map(times));
    out += "\nlengths up to which words are exact, round by round, with individual-multi-step; of several targets those of the first\n\n";
    out += &render(&["model", "like", "rounds", "published, last round"], 4, rows.iter().map(rounds));
    if compared.is_empty() {
        return out;
    }
    let decided = compared.iter().filter(|one| one.verdict != "unknown").count();
    out += &format!(
        "\n{} of a generated family, {decided} decided; times as fast as succinct where both decide:\n\n",
        count(compared.len() as u64, "query").replace("querys", "queries"),
    );
    let policies = Policy::ALL.iter().enumerate().skip(1).map(|(index, (name, _))| {
        let speedups = speedups(compared, index);
        let at = |share: usize| speedups.get(speedups.len().saturating_sub(1) * share / 100).copied().unwrap_or(0.0);
        let slower = speedups.iter().filter(|speedup| **speedup < 1.0).count();
        let undecided = compared.iter().filter(|one| one.policies[index].verdict == "unknown").count();
        let times = |share| format!("{:.2}", at(share));
        vec![(*name).to_owned(), times(0), times(50), times(100), slower.to_string(), undecided.to_string()]
    });
    out += &render(&["policy", "least", "median", "most", "slower", "undecided"], 1, policies);
    let total = |index: usize| compared.iter().map(|one| one.policies[index].seconds).sum::<f64>();
    let totals: Vec<_> =
        Policy::ALL.iter().enumerate().map(|(i, (name, _))| format!("{name} {}", seconds(total(i)))).collect();
    out + &format!("\nall together: {}\n", totals.join(", "))
}

fn times(row: &Row) -> Vec<String> {
    let time = |(index, one): (usize, &ByPolicy)| {
        let own = match one.run.verdict.as_str() {
            "unknown" => or_dash(None),
            _ => seconds(one.run.seconds),
        };
        let published = row.published_seconds.and_then(|times| times.get(index).copied());
        published.map_or(own.clone(), |published| format!("{own} ({published} s)"))
    };
    let auto = match row.auto.verdict.as_str() {
        "unknown" => or_dash(None),
        _ => format!("{}, {}", seconds(row.auto.seconds), row.auto_engine),
    };
    let first = [row.model.clone(), or_dash(row.like.map(str::to_owned)), row.auto.verdict.clone()];
    first.into_iter().chain(row.policies.iter().enumerate().map(time)).chain([auto]).collect()
}

fn rounds(row: &Row) -> Vec<String> {
    let index = Policy::ALL.iter().position(|(_, policy)| *policy == Policy::IndividualMultiStep).unwrap_or(0);
    let text =
        |lengths: &Vec<u64>| format!("({})", lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let all: Vec<_> = row.policies[index].lengths.iter().map(text).collect();
    let shown = match all.as_slice() {
        [first, .., before, last] if all.len() > 12 => format!("{first} ... {before} {last}, {} rounds", all.len()),
        all => all.join(" "),
    };
    let published = row.published_lengths.map(str::to_owned);
    vec![row.model.clone(), or_dash(row.like.map(str::to_owned)), shown, or_dash(published)]
}

fn plot(compared: &[Compared]) -> Scatter {
    let panel = |(index, (name, _)): (usize, &(&'static str, Policy))| {
        let decided = |run: &Measured| run.verdict != "unknown";
        let both = compared.iter().filter(|one| decided(&one.policies[0]) && decided(&one.policies[index]));
        let speedups = speedups(compared, index);
        Panel {
            title: (*name).to_owned(),
            median: speedups.get(speedups.len() / 2).copied(),
            points: both.map(|one| (one.policies[index].seconds, one.policies[0].seconds)).collect(),
        }
    };
    Scatter {
        title: format!("Policies of refinement on {} queries", compared.len()),
        note: "time of succinct upwards, time of the other policy to the right; above the diagonal the other one is faster".to_owned(),
        panels: Policy::ALL.iter().enumerate().skip(1).map(panel).collect(),
    }
}
