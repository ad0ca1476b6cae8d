//! The exact answers known for a corpus of published systems, read from the table that comes with the corpus.
//!
//! The corpus is not part of the project. Tests that want it are marked `#[ignore = "needs the corpus"]`, so that nobody
//! takes them for passed where it is not there; `.ci/run` runs them where it is. A table that cannot be read is an error,
//! so that no test passes because a row was lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What is known of the view that a system's specification names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetK {
    /// There is no specification.
    None,
    /// No number of contexts reaches the view.
    Unreachable,
    /// The least number of contexts that reaches the view.
    At(u32),
}

/// One row of the table: a system and its answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpectedRow {
    /// The name of the system's files, without extension.
    pub file: String,
    /// The number of threads.
    pub threads: usize,
    /// The number of shared states.
    pub shared_states: u32,
    /// The number of rules of each thread.
    pub rules: Vec<usize>,
    /// Whether every thread has finite contexts.
    pub fcr: bool,
    /// A letter for each thread, where the table gives them: `y` for finite contexts, `n` otherwise.
    pub fcr_threads: Option<String>,
    /// The number of reachable states, if there are finitely many.
    pub states: Option<u64>,
    /// The least number of contexts that reaches all states, if there is one.
    pub k_states_collapse: Option<u32>,
    /// The number of reachable views of depth 1.
    pub views_depth1: u64,
    /// The number of reachable views of depth 2.
    pub views_top2: u64,
    /// The least number of contexts that reaches all views of depth 1.
    pub k_views_complete: u32,
    /// The view that the specification names.
    pub target: Option<String>,
    /// How many contexts that view takes.
    pub target_k: TargetK,
    /// The number of views of depth 1 within 0, 1, 2, ... contexts.
    pub views_per_k: Vec<u64>,
}

/// The directory of the corpus, if it is there: what the environment variable `TEPUI_CORPUS` names, else
/// `../shared/corpus` from the root of the project.
pub fn corpus_dir() -> Option<PathBuf> {
    let beside = || Some(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("../shared/corpus"));
    std::env::var_os("TEPUI_CORPUS").map(PathBuf::from).or_else(beside).filter(|directory| directory.is_dir())
}

/// The directory of the corpus.
///
/// # Panics
/// If it is not there.
#[allow(clippy::expect_used, reason = "a test that needs the corpus fails without it")]
pub fn corpus() -> PathBuf {
    corpus_dir().expect("the corpus: set TEPUI_CORPUS to its directory")
}

/// The rows of the table of concurrent pushdown systems.
///
/// # Panics
/// If the corpus is not there, or the table cannot be read.
pub fn expected_cpds() -> Vec<ExpectedRow> {
    let path = corpus().join("cpds/expected.tsv");
    let rows = std::fs::read_to_string(&path).map_err(|error| error.to_string()).and_then(|text| parse(&text));
    rows.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The rows of a table whose first line names the columns.
fn parse(text: &str) -> Result<Vec<ExpectedRow>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, header) = lines.next().ok_or("the table is empty")?;
    let names: Vec<_> = header.split('\t').map(str::trim).collect();
    let row = |(number, line): (usize, &str)| {
        let fields: Vec<_> = line.split('\t').map(str::trim).collect();
        if fields.len() != names.len() {
            return Err(format!("line {}: {} fields for {} columns", number + 1, fields.len(), names.len()));
        }
        let cells = Cells(names.iter().copied().zip(fields).collect());
        cells.row().map_err(|error| format!("line {}: {error}", number + 1))
    };
    lines.map(row).collect()
}

/// The fields of one line by the names of their columns.
struct Cells<'a>(BTreeMap<&'a str, &'a str>);

impl Cells<'_> {
    fn row(&self) -> Result<ExpectedRow, String> {
        let (fcr, fcr_threads) = self.fcr()?;
        Ok(ExpectedRow {
            file: self.text("file")?.to_owned(),
            threads: self.number("threads")?,
            shared_states: self.number("shared_states")?,
            rules: self.list("rules", '+')?,
            fcr,
            fcr_threads,
            states: self.states()?,
            k_states_collapse: self
                .present("k_states_collapse")?
                .map(|_| self.number("k_states_collapse"))
                .transpose()?,
            views_depth1: self.number("views_depth1")?,
            views_top2: self.number("views_top2")?,
            k_views_complete: self.number("k_views_complete")?,
            target: self.present("target")?.map(str::to_owned),
            target_k: match self.text("target_k")? {
                "-" => TargetK::None,
                "unreach" => TargetK::Unreachable,
                _ => TargetK::At(self.number("target_k")?),
            },
            views_per_k: self.list("views_per_k", ' ')?,
        })
    }

    fn text(&self, column: &str) -> Result<&str, String> {
        self.0.get(column).copied().ok_or_else(|| format!("no column {column}"))
    }

    /// The field, unless it is the sign for nothing.
    fn present(&self, column: &str) -> Result<Option<&str>, String> {
        self.text(column).map(|text| (text != "-").then_some(text))
    }

    fn number<T: FromStr>(&self, column: &str) -> Result<T, String> {
        number(column, self.text(column)?)
    }

    fn list<T: FromStr>(&self, column: &str, separator: char) -> Result<Vec<T>, String> {
        self.text(column)?.split(separator).map(|part| number(column, part)).collect()
    }

    /// `yes` or `no`, and the letters in brackets behind it.
    fn fcr(&self) -> Result<(bool, Option<String>), String> {
        let text = self.text("fcr")?;
        let (answer, letters) = match text.split_once('(') {
            Some((answer, letters)) => (answer, letters.strip_suffix(')').map(str::to_owned)),
            None => (text, None),
        };
        match answer {
            "yes" => Ok((true, letters)),
            "no" => Ok((false, letters)),
            _ => Err(format!("{text} in column fcr")),
        }
    }

    /// A number, or a remark for a set that is infinite or not known to be finite.
    fn states(&self) -> Result<Option<u64>, String> {
        let text = self.text("states")?;
        let unbounded = text.starts_with("inf") || text.starts_with("grows");
        if unbounded { Ok(None) } else { number("states", text).map(Some) }
    }
}

fn number<T: FromStr>(column: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{text} in column {column}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "threads\tfile\tshared_states\trules\tfcr\tstates\tk_states_collapse\tviews_depth1\tviews_top2\t\
                          k_views_complete\ttarget\ttarget_k\tviews_per_k\n";

    #[test]
    fn columns_are_found_by_name() {
        let text = format!("{HEADER}2\tone\t3\t5+7\tyes\t12\t4\t8\t10\t3\t0|1,2\t2\t1 4 8\n");
        let row = ExpectedRow {
            file: "one".to_owned(),
            threads: 2,
            shared_states: 3,
            rules: vec![5, 7],
            fcr: true,
            fcr_threads: None,
            states: Some(12),
            k_states_collapse: Some(4),
            views_depth1: 8,
            views_top2: 10,
            k_views_complete: 3,
            target: Some("0|1,2".to_owned()),
            target_k: TargetK::At(2),
            views_per_k: vec![1, 4, 8],
        };
        assert_eq!(parse(&text), Ok(vec![row]));
    }

    #[test]
    fn what_is_not_known_is_none() {
        let text = format!("{HEADER}2\tone\t3\t5+7\tno(yn)\tgrows@k9:7\t-\t8\t10\t3\t-\t-\t1\n\n");
        let row = parse(&text).unwrap().remove(0);
        assert_eq!((row.fcr, row.fcr_threads.as_deref()), (false, Some("yn")));
        assert_eq!((row.states, row.k_states_collapse, row.target, row.target_k), (None, None, None, TargetK::None));
    }

    #[test]
    fn a_broken_table_is_refused() {
        let bad = "2\tone\t3\t5+7\tno\tmany\t-\t8\t10\t3\t-\t-\t1";
        assert_eq!(parse(&format!("{HEADER}{bad}")), Err("line 2: many in column states".to_owned()));
        assert_eq!(parse(&format!("{HEADER}2\tone")), Err("line 2: 2 fields for 13 columns".to_owned()));
        assert_eq!(parse("file\none"), Err("line 2: no column fcr".to_owned()));
        assert!(parse("").is_err());
    }
}
