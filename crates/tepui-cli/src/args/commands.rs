//! The options of commands other than `verify`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{LIMITS, LimitArgs, ModelArgs, OUTPUT, RunArgs, TASKS, duration, engine_names, form_names};

#[derive(Args, Debug)]
pub(crate) struct ExploreArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The bound; for delays, of both rounds and delays
    #[arg(long, value_name = "K", help_heading = LIMITS)]
    pub(crate) bound: Option<u32>,
    /// The most rounds (delays)
    #[arg(long, value_name = "R", conflicts_with = "bound", help_heading = LIMITS)]
    pub(crate) rounds: Option<u32>,
    /// The most delays (delays, dispatch)
    #[arg(long, value_name = "D", conflicts_with = "bound", help_heading = LIMITS)]
    pub(crate) delays: Option<u32>,
    /// The most pending tasks (dispatch; --bounding, 8)
    #[arg(long, value_name = "B", conflicts_with_all = ["bound", "rounds"], help_heading = LIMITS)]
    pub(crate) tasks: Option<u32>,
    /// Count executions and states for each bound up to --bound (3), in ways to bound a search that are to be compared; with
    /// delays, for each --scheduler
    #[arg(long, value_enum, value_name = "WHAT", value_delimiter = ',', conflicts_with_all = NOT_BOUNDING, help_heading = TASKS)]
    pub(crate) bounding: Vec<BoundingName>,
    /// Cut executions off after so many dispatches (--bounding)
    #[arg(long, value_name = "N", default_value_t = 30, requires = "bounding", help_heading = TASKS)]
    pub(crate) dispatches: u32,
}

/// What says nothing to `--bounding`.
const NOT_BOUNDING: [&str; 7] = ["engine", "rounds", "delays", "trace", "svg", "views", "self_check"];

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BoundingName {
    /// How often a scheduler is made to delay a task
    Delays,
    /// How often a task that has yielded and could go on does not
    Preemptions,
    /// How many times another task goes on
    Contexts,
    /// How many tasks are dispatched
    Depth,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArgs {
    /// The certificate, as `tepui verify --certificate` writes it
    pub(crate) certificate: PathBuf,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ReplayArgs {
    /// The trace, as `tepui verify --trace` writes it
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The form to print
    #[arg(long, default_value = "human", value_parser = form_names(), help_heading = OUTPUT)]
    pub(crate) format: String,
    /// Write to this file instead; a .pds is accompanied by its .init and .spec
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct SequentializeArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// The most delays, of the scheduler dfs
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(..=16), help_heading = LIMITS)]
    pub(crate) delays: u32,
    /// The language of the sequential program
    #[arg(long, value_enum, default_value_t = SequentialName::Bp, help_heading = OUTPUT)]
    pub(crate) to: SequentialName,
    /// A trace of the sequential program, as `tepui verify --trace` writes it: print the trace of the asynchronous program that it
    /// stands for
    #[arg(long, value_name = "TRACE", conflicts_with = "to", help_heading = OUTPUT)]
    pub(crate) back: Option<PathBuf>,
    /// Write to this file instead
    #[arg(short, long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) output: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SequentialName {
    /// A program for tepui
    Bp,
    /// C, for CBMC
    C,
    /// Boogie
    Boogie,
}

#[derive(Args, Debug)]
pub(crate) struct BenchArgs {
    /// Directories of models in any form, or models
    #[arg(required = true)]
    pub(crate) suite: Vec<PathBuf>,
    /// The engines to run; may be given several times
    #[arg(long, default_values = BENCH_ENGINES, value_parser = engine_names())]
    pub(crate) engine: Vec<String>,
    /// Write everything that was measured as JSON to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// What each run may take
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub(crate) timeout: Duration,
    /// Runs of each row, of which the fastest counts; one that takes more than 5 s is not repeated
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) runs: u16,
}

const BENCH_ENGINES: [&str; 4] = ["closure", "delays", "contexts-explicit", "contexts-symbolic"];
