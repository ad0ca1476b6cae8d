//! How cost grows with the number of threads: families of models, scaled, with a line for each engine. A line ends
//! with the first run that does not come to its end.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::Value;
use tepui_report::{bytes, seconds};

use crate::plot::{Line, Plot, Point};
use tepui_cli::bench::run::{Measured, Runner};
use tepui_cli::bench::table::{at_least, render};
use tepui_cli::bench::{FAMILIES, name};
use tepui_cli::{output, shown};

/// A family, and what is run for it.
struct Family {
    name: &'static str,
    /// The counts of its threads, for each model.
    sizes: &'static [&'static [usize]],
    /// What is compared: a label, options, and the largest number of threads.
    engines: &'static [(&'static str, &'static [&'static str], usize)],
}

const CLOSURE: (&str, &[&str], usize) = ("closure", &["--engine", "closure"], usize::MAX);
const DELAYS: (&str, &[&str], usize) = ("delays", &["--engine", "delays"], usize::MAX);
const PLAIN: &[&str] = &["--engine", "closure", "--no-symmetry"];

const PLAN: &[Family] = &[
    Family {
        name: "stefan",
        sizes: &[&[2], &[3], &[4], &[5], &[6], &[7], &[8], &[9], &[10], &[11], &[12], &[13], &[14], &[15], &[16]],
        engines: &[
            CLOSURE,
            ("closure --no-symmetry", PLAIN, 8),
            ("contexts-symbolic", &["--engine", "contexts-symbolic"], usize::MAX),
            DELAYS,
        ],
    },
    Family {
        name: "driver",
        sizes: &[&[1, 1], &[1, 2], &[2, 1], &[2, 2], &[2, 3], &[3, 3]],
        engines: &[
            CLOSURE,
            ("closure --no-symmetry", PLAIN, usize::MAX),
            ("contexts-explicit", &["--engine", "contexts-explicit"], usize::MAX),
            DELAYS,
        ],
    },
];

/// One line of the table.
#[derive(Serialize)]
struct Row {
    family: &'static str,
    /// The number of threads.
    threads: usize,
    /// The same, by kinds: `2+3`.
    counts: String,
    engine: &'static str,
    #[serde(flatten)]
    run: Measured,
}

/// The rows as JSON, and the table. Plots go into a directory, where one is named.
pub(super) fn make(runner: &Runner, suites: &[PathBuf], plots: Option<&Path>) -> Result<(Value, String)> {
    if let Some(folder) = plots {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", shown(folder)))?;
    }
    let (mut all, mut written) = (Vec::new(), Vec::new());
    for family in PLAN {
        let Some(file) = find(suites, family.name) else { continue };
        let rows = measure(runner, family, &file)?;
        if let Some(folder) = plots {
            let path = folder.join(format!("growth-{}.svg", family.name));
            output::write(&path, plot(runner, family, &rows).svg().as_bytes())?;
            written.push(format!("plot: {}\n", shown(&path)));
        }
        all.extend(rows);
    }
    Ok((serde_json::to_value(&all)?, text(runner, &all) + &written.concat()))
}

/// The file of a family: a suite itself, or in the folder of families of a suite.
fn find(suites: &[PathBuf], family: &str) -> Option<PathBuf> {
    let named = |suite: &PathBuf| suite.is_file() && name(suite) == family;
    let inside = |suite: &PathBuf| suite.join(FAMILIES).join(format!("{family}.cpds"));
    suites.iter().map(|suite| if named(suite) { suite.clone() } else { inside(suite) }).find(|path| path.is_file())
}

fn measure(runner: &Runner, family: &Family, file: &Path) -> Result<Vec<Row>> {
    let source = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", shown(file)))?;
    let mut rows = Vec::new();
    for &(engine, options, largest) in family.engines {
        let options = [options, &["--all-views", "--threads", "1"]].concat();
        for &sizes in family.sizes.iter().filter(|sizes| sizes.iter().sum::<usize>() <= largest) {
            let model = runner.scratch(&format!("{}-{}.cpds", family.name, counts(sizes)));
            let scaled = scale(&source, sizes).with_context(|| format!("cannot scale {}", shown(file)))?;
            std::fs::write(&model, scaled).with_context(|| format!("cannot write {}", shown(&model)))?;
            let run = runner.fastest(&model, &options)?.measured();
            let last = !run.is_complete();
            rows.push(Row { family: family.name, threads: sizes.iter().sum(), counts: counts(sizes), engine, run });
            if last {
                break;
            }
        }
    }
    Ok(rows)
}

fn counts(sizes: &[usize]) -> String {
    sizes.iter().map(usize::to_string).collect::<Vec<_>>().join("+")
}

/// The model of a family with other numbers of threads. The line `# scale:` names the threads; the k-th count in the
/// lines `init` and `never` belongs to the k-th of them.
fn scale(source: &str, sizes: &[usize]) -> Result<String> {
    let names = source.lines().find_map(|line| line.strip_prefix("# scale:")).context("there is no line `# scale:`")?;
    let names: Vec<_> = names.split_whitespace().collect();
    if names.len() != sizes.len() {
        bail!("the line `# scale:` names {} threads, not {}", names.len(), sizes.len());
    }
    let mut seen = Vec::new();
    let mut out = String::with_capacity(source.len() + 16);
    for line in source.lines() {
        let code = line.split('#').next().unwrap_or_default();
        if let Some((thread, rest)) = code.strip_prefix("thread ").and_then(|rest| rest.split_once('*')) {
            let index = names.iter().position(|&name| name == thread.trim());
            let index = index.with_context(|| format!("thread {} is not to be scaled", thread.trim()))?;
            let rest = rest.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
            seen.push(index);
            out += &format!("thread {} * {}{rest}", names[index], sizes[index]);
        } else if ["init ", "never "].iter().any(|word| code.starts_with(word)) {
            out += &scale_state(code, sizes).with_context(|| format!("the line `{line}` has other counts"))?;
        } else {
            out += line;
        }
        out.push('\n');
    }
    seen.sort_unstable();
    if !seen.iter().copied().eq(0..sizes.len()) {
        bail!("not every thread of the line `# scale:` is there once, with a count");
    }
    Ok(out)
}

/// A state with a count for each kind of thread: `q | a * 2, b * 1`.
fn scale_state(line: &str, sizes: &[usize]) -> Option<String> {
    let (head, stacks) = line.split_once('|')?;
    let stacks: Vec<_> = stacks.split(',').collect();
    if stacks.len() != sizes.len() {
        return None;
    }
    let scaled = stacks.into_iter().zip(sizes).map(|(stack, size)| {
        let (stack, count) = stack.rsplit_once('*')?;
        count.trim().parse::<usize>().ok()?;
        Some(format!("{stack}* {size}"))
    });
    Some(format!("{head}|{}", scaled.collect::<Option<Vec<_>>>()?.join(",")))
}

fn text(runner: &Runner, rows: &[Row]) -> String {
    let limit = runner.limit_text(1);
    let title = format!("Growth with the number of threads: all views, one core, at most {limit} a run\n\n");
    if rows.is_empty() {
        let files = PLAN.iter().map(|family| format!("{FAMILIES}/{}.cpds", family.name)).collect::<Vec<_>>();
        return title + &format!("no family found: name a directory with {}\n", files.join(" or "));
    }
    let header = ["family", "engine", "verdict", "threads", "states", "views", "time", "peak"];
    let cells = |row: &Row| {
        let complete = row.run.is_complete();
        vec![
            row.family.to_owned(),
            row.engine.to_owned(),
            row.run.verdict_text(),
            row.counts.clone(),
            at_least(row.run.states, complete),
            at_least(row.run.views, complete),
            seconds(row.run.seconds),
            bytes(row.run.peak_memory_bytes),
        ]
    };
    title + &render(&header, 3, rows.iter().map(cells))
}

fn plot(runner: &Runner, family: &Family, rows: &[Row]) -> Plot {
    let line = |&(label, _, largest): &(&'static str, _, usize)| {
        let of = rows.iter().filter(|row| row.engine == label);
        let points = of.filter(|row| row.run.is_complete()).filter_map(|row| {
            let place = family.sizes.iter().position(|sizes| counts(sizes) == row.counts)?;
            let run = &row.run;
            Some(Point { place, values: [run.states as f64, run.seconds, run.peak_memory_bytes as f64] })
        });
        let largest = (largest < usize::MAX).then(|| format!(" (up to {largest})"));
        Line { label: format!("{label}{}", largest.unwrap_or_default()), points: points.collect() }
    };
    let limit = runner.limit_text(1);
    Plot {
        title: format!("{}: cost and the number of threads", family.name),
        note: format!("All views, one core; a line ends before the first run over {limit}. Logarithmic scales."),
        places: family.sizes.iter().map(|sizes| counts(sizes)).collect(),
        lines: family.engines.iter().map(line).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use tepui_model::pushdown::Model;

    fn benches() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches")
    }

    fn scaled(family: &str, sizes: &[usize]) -> Model {
        let folder = tempfile::tempdir().expect("a directory");
        let source = std::fs::read_to_string(benches().join(format!("families/{family}.cpds"))).expect("the family");
        let path = folder.path().join("scaled.cpds");
        std::fs::write(&path, scale(&source, sizes).expect("it can be scaled")).expect("it can be written");
        read(&path).expect("it is a model")
    }

    #[test]
    fn every_size_of_every_family_is_a_model() {
        for family in PLAN {
            for sizes in family.sizes {
                let model = scaled(family.name, sizes);
                assert_eq!(model.threads().len(), sizes.iter().sum::<usize>(), "{} {sizes:?}", family.name);
            }
        }
    }

    #[test]
    fn scaled_models_are_those_that_were_written_out() {
        let written =
            [("driver", &[2, 3][..], "driver-2-3"), ("driver", &[3, 3], "driver-3-3"), ("stefan", &[8], "stefan-8")];
        for (family, sizes, file) in written {
            let (ours, theirs) =
                (scaled(family, sizes), read(&benches().join(format!("{file}.cpds"))).expect("a model"));
            assert_eq!(ours.digest(), theirs.digest(), "{file}");
            assert_eq!(ours.properties().len(), theirs.properties().len(), "{file}");
        }
    }

    #[test]
    fn what_cannot_be_scaled_is_refused() {
        let good = "# scale: a b\nthread a * 1 {\n}\nthread b * 2 {\n}\ninit q | x * 1, y * 2\n";
        let scaled = scale(good, &[3, 4]).expect("it can be scaled");
        assert_eq!(scaled, "# scale: a b\nthread a * 3 {\n}\nthread b * 4 {\n}\ninit q | x * 3, y * 4\n");
        let without_counts = good.replace(" * 1, y * 2", ", y");
        let bad = [&good[13..], &good.replace("a b", "a"), &good.replace("thread b", "thread c"), &without_counts];
        for bad in bad {
            assert!(scale(bad, &[3, 4]).is_err(), "{bad}");
        }
    }
}
