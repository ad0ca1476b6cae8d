//! One run in a process of its own, and the report that it printed.

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use serde_json::Value;
use tepui_report::{seconds, visible_lines};

use crate::{complain, shown};

/// A run that took longer than this is not repeated: little of its time is chance.
const LONG: f64 = 5.0;

/// Starts runs.
pub struct Runner {
    /// What a run may take.
    pub timeout: Duration,
    /// How often a run is made.
    pub runs: u16,
    program: PathBuf,
    scratch: Scratch,
    progress: bool,
}

/// A directory that lasts as long as this value.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // It holds nothing of worth, and where it is the system cleans up.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The report of a run, as JSON.
pub struct Report(Value);

/// What every table keeps of a run.
#[derive(Serialize, Clone, Debug)]
pub struct Measured {
    /// The verdict.
    pub verdict: String,
    /// Why the verdict is unknown: `timeout`, `memory-limit`, `not-applicable` and so on.
    pub reason: Option<String>,
    /// Views reached.
    pub views: u64,
    /// States stored.
    pub states: u64,
    /// Calls of the successor function.
    pub images: u64,
    /// Seconds of wall-clock time.
    pub seconds: f64,
    /// The most memory that the process held.
    pub peak_memory_bytes: u64,
}

impl Runner {
    /// Runs with a time limit, each made so often.
    pub fn new(timeout: Duration, runs: u16) -> Result<Self> {
        let scratch = std::env::temp_dir().join(format!("tepui-bench-{}", std::process::id()));
        std::fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", shown(&scratch)))?;
        Ok(Self {
            timeout,
            runs,
            program: std::env::current_exe()?,
            scratch: Scratch(scratch),
            progress: std::io::stderr().is_terminal(),
        })
    }

    /// A path for a file that is forgotten in the end.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.0.join(name)
    }

    /// What a run may take, in words, or some times as much.
    pub fn limit_text(&self, times: u32) -> String {
        format!("{} s", self.timeout.saturating_mul(times).as_secs_f64())
    }

    /// Verifies a model once.
    pub fn verify(&self, model: &Path, options: &[impl AsRef<OsStr>]) -> Result<Report> {
        self.verify_within(self.timeout, model, options)
    }

    /// Verifies a model once, with a time limit of its own.
    pub fn verify_within(&self, timeout: Duration, model: &Path, options: &[impl AsRef<OsStr>]) -> Result<Report> {
        let run = |all_views: bool| {
            let mut command = Command::new(&self.program);
            command.arg("verify").arg(model).args(options).args(["--format", "json"]);
            command.args(["--timeout", &timeout.as_secs_f64().to_string()]);
            command.args(all_views.then_some("--all-views"));
            let output = self.output(&mut command)?;
            match (output.status.code(), serde_json::from_slice::<Value>(&output.stdout)) {
                (Some(0 | 1 | 3), Ok(report)) => Ok(report),
                _ => bail!("{}", failure(&command, &output)),
            }
        };
        // A model that asks nothing is asked for its views.
        let report = run(false)?;
        if report["reason"]["kind"] == "nothing-to-prove" { run(true).map(Report) } else { Ok(Report(report)) }
    }

    /// Verifies a model several times; the fastest counts.
    pub fn fastest(&self, model: &Path, options: &[impl AsRef<OsStr>]) -> Result<Report> {
        let mut best = self.verify(model, options)?;
        for _ in 1..self.runs {
            if best.is_final() {
                break;
            }
            let next = self.verify(model, options)?;
            if next.seconds() < best.seconds() {
                best = next;
            }
        }
        Ok(best)
    }

    /// Checks a certificate; returns the seconds that the process took.
    pub fn check(&self, model: &Path, claim: &[&str], certificate: &Path) -> Result<f64> {
        let mut command = Command::new(&self.program);
        command.arg("check").arg(certificate).arg(model).args(claim);
        let start = Instant::now();
        let output = self.output(&mut command)?;
        if !output.status.success() {
            bail!("the certificate was refused: {}", failure(&command, &output));
        }
        Ok(start.elapsed().as_secs_f64())
    }

    fn output(&self, command: &mut Command) -> Result<Output> {
        if self.progress {
            complain(&(words(command) + "\n"));
        }
        command.output().with_context(|| format!("cannot run {}", shown(&self.program)))
    }
}

/// The command as a user would type it.
fn words(command: &Command) -> String {
    let words = command.get_args().map(|word| tepui_report::human::quoted(&word.to_string_lossy()));
    format!("tepui {}", words.collect::<Vec<_>>().join(" "))
}

fn failure(command: &Command, output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let said = if output.stderr.is_empty() { text(&output.stdout) } else { text(&output.stderr) };
    let said: String = said.chars().take(2000).collect();
    format!("`{}` failed ({}): {}", words(command), output.status, visible_lines(&said))
}

impl Report {
    /// A number of the report.
    pub fn number(&self, name: &str) -> u64 {
        self.0[name].as_u64().unwrap_or(0)
    }

    /// A member of the report.
    pub fn get(&self, name: &str) -> &Value {
        &self.0[name]
    }

    /// The members of a list of the report.
    pub fn list(&self, name: &str) -> &[Value] {
        self.0[name].as_array().map_or(&[], Vec::as_slice)
    }

    /// Why the verdict is unknown.
    pub fn reason(&self) -> Option<&str> {
        self.0["reason"]["kind"].as_str()
    }

    /// The seconds of the run.
    pub fn seconds(&self) -> f64 {
        self.0["seconds"].as_f64().unwrap_or(0.0)
    }

    /// Whether there is nothing to be gained by another run.
    pub fn is_final(&self) -> bool {
        self.reason().is_some() || self.seconds() > LONG
    }

    /// What every table keeps.
    pub fn measured(&self) -> Measured {
        Measured {
            verdict: self.0["verdict"].as_str().unwrap_or("?").to_owned(),
            reason: self.reason().map(str::to_owned),
            views: self.number("views"),
            states: self.number("states"),
            images: self.number("steps"),
            seconds: self.seconds(),
            peak_memory_bytes: self.number("peak_memory_bytes"),
        }
    }
}

impl Measured {
    /// Whether the run came to its end.
    pub fn is_complete(&self) -> bool {
        self.reason.is_none()
    }

    /// The verdict, with the reason where there is none.
    pub fn verdict_text(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{}: {reason}", self.verdict),
            None => self.verdict.clone(),
        }
    }

    /// The time, or why there is none.
    pub fn time_text(&self) -> String {
        self.reason.clone().unwrap_or_else(|| seconds(self.seconds))
    }
}
