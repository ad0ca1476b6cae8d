//! The one table of commands and options: help, completions and manual pages derive from it.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tepui::{AUTO, Facts, Policy};

mod commands;

pub(crate) use commands::{
    BenchArgs, BoundingName, CheckArgs, ExploreArgs, ReplayArgs, SequentialName, SequentializeArgs, ShowArgs,
};

// Headings of the help. Every option behind the model names its own: a heading would otherwise hold for all that follow.
const PROGRAMS: &str = "Boolean programs";
const SEARCH: &str = "Search";
const MEETING: &str = "Threads that meet in actions";
const MACHINES: &str = "P programs";
const TASKS: &str = "Asynchronous programs";
const CROWDS: &str = "Any number of threads";
const LIMITS: &str = "Limits";
const OUTPUT: &str = "Output";

const AFTER_HELP: &str = "\
Examples:
  tepui verify driver.bp                         prove all assertions, or show how one fails
  tepui verify driver.cpds                       the same for a pushdown system
  tepui verify x.pds                             with x.init and x.spec beside it
  tepui verify server.rpds                       threads that meet in actions
  tepui verify Project.pproj                     all tests of a P project
  tepui verify x.pds --target '2|5,*'            look for another target
  tepui verify x.cpds --certificate x.cert && tepui check x.cert x.cpds
  tepui verify x.cpds --trace x.trace; tepui replay x.trace x.cpds

Exit status: 0 safe or accepted, 1 unsafe or rejected, 2 bad usage or bad input, 3 unknown.";

/// Proves concurrent programs safe for every schedule, or shows the schedule that breaks them.
#[derive(Parser, Debug)]
#[command(name = "tepui", version, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Prove the properties of a model for every schedule, or show a schedule that breaks them
    #[command(after_help = "Examples:
  tepui verify driver.bp
  tepui verify driver.bp --deadlock --stacks
  tepui verify x.pds --init '0|1,4' --target '0|1,6'
  tepui verify x.cpds --engine contexts-symbolic --timeout 60s --memory 4GiB
  tepui verify x.cpds --format json | jq .verdict

Exit status: 0 safe, 1 unsafe, 2 bad usage or bad input, 3 unknown;
130 after a second Ctrl-C.
States are written q|w1,w2,...: stacks from the bottom up, joined by dots, - for
the empty one. In rules the new top comes first: `q a -> p b c` puts b above c.")]
    Verify(VerifyArgs),
    /// Explore up to a bound, as a bounded checker does; never a proof
    #[command(after_help = "Examples:
  tepui explore driver.cpds --bound 5                  up to 5 contexts
  tepui explore driver.cpds --rounds 8 --delays 3      round-robin with delays
  tepui explore server.bp --bounding delays,contexts   how many executions there are")]
    Explore(ExploreArgs),
    /// Check a certificate with the independent checker
    #[command(after_help = "Example:
  tepui check driver.cert driver.cpds")]
    Check(CheckArgs),
    /// Replay a trace on the model, step by step
    #[command(after_help = "Example:
  tepui replay driver.trace driver.cpds")]
    Replay(ReplayArgs),
    /// Show a model as Tepui understood it, or print it in another form
    #[command(after_help = "Examples:
  tepui show x.bp                                   what its model is like
  tepui show x.bp --format bp                       the program in Tepui's own dialect
  tepui show x.bp --format cpds                     what it is compiled to
  tepui show x.pds
  tepui show x.pds --format cpds
  tepui show x.cpds --format pds --output y.pds     writes y.init and y.spec as well")]
    Show(ShowArgs),
    /// Turn an asynchronous program into a sequential one that fails exactly if it fails with at most K delays
    #[command(after_help = "Examples:
  tepui sequentialize server.bp --delays 1 --output seq.bp && tepui verify seq.bp
  tepui sequentialize server.bp --delays 2 --to c --output seq.c && cbmc seq.c --unwind 4
  tepui verify seq.bp --trace seq.trace
  tepui sequentialize server.bp --delays 1 --back seq.trace --output server.trace && tepui replay server.trace server.bp")]
    Sequentialize(SequentializeArgs),
    /// Run the benchmark tables
    Bench(BenchArgs),
    /// List the engines: what each is for, and where it was published
    Engines,
    /// List the languages that models can be written in
    Languages,
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each command
    Man {
        /// Write the pages into this directory
        #[arg(long)]
        dir: Option<PathBuf>,
    },
}

#[derive(Args, Clone, Debug)]
pub(crate) struct ModelArgs {
    /// The model: a .bp or .cp program, a .cpds, .rpds or .spad file, a .pds file with .init and .spec beside it, a .spec net, a
    /// .tts system with a .prop file beside it, a .pproj project, or .p files or a folder with them
    #[arg(required = true)]
    pub(crate) model: Vec<PathBuf>,
    /// The initial state, as text (0|1.2,4; stacks from the bottom up) or as a file
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) init: Option<String>,
    /// What must never be reached, as text (0|1,*; in .rpds models 'thread at control stack') or as a file; replaces the
    /// model's properties
    #[arg(long, value_name = "TEXT|FILE")]
    pub(crate) target: Option<String>,
    /// Only the property with this name, or those whose names begin with it, besides what --deadlock and --label ask for;
    /// may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) property: Vec<String>,
    /// Leave the properties aside: the question is which views there are
    #[arg(long, conflicts_with_all = ["property", "target", "deadlock", "label"])]
    pub(crate) all_views: bool,
    /// How a .bp or .p program is written; by default it is found out
    #[arg(long, value_enum)]
    pub(crate) dialect: Option<DialectName>,
    /// How many threads a .tts system has at the start; by default any number
    #[arg(long, value_enum, value_name = "NUMBER", help_heading = CROWDS)]
    pub(crate) threads_at_start: Option<AtStartName>,
    #[command(flatten)]
    pub(crate) program: ProgramArgs,
    #[command(flatten)]
    pub(crate) machines: MachineArgs,
}

impl ModelArgs {
    /// A file without options.
    pub(crate) fn of(file: PathBuf) -> Self {
        let (program, machines) = (ProgramArgs::default(), MachineArgs::default());
        let property = Vec::new();
        Self {
            model: vec![file],
            init: None,
            target: None,
            property,
            all_views: false,
            program,
            machines,
            dialect: None,
            threads_at_start: None,
        }
    }

    /// The model as the user named it.
    pub(crate) fn name(&self) -> String {
        self.model.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct MachineArgs {
    /// Only the test with this name, with all its instances, or those whose names begin with it; may be given several times
    /// (-tc for short)
    #[arg(long, alias = "testcase", value_name = "NAME", help_heading = MACHINES)]
    pub(crate) test_case: Vec<String>,
    /// When an event that is sent is in the queue; by default as the dialect says
    #[arg(long, value_enum, value_name = "WHEN", help_heading = MACHINES)]
    pub(crate) send: Option<SendName>,
    /// Leave out the bounds on queues that the text has
    #[arg(long, help_heading = MACHINES)]
    pub(crate) ignore_bounds: bool,
    /// All instances of a parametric test, where it asks for a sample of them
    #[arg(long, help_heading = MACHINES)]
    pub(crate) all_instances: bool,
    /// Attach every spec to every test
    #[arg(long, help_heading = MACHINES)]
    pub(crate) attach_specs: bool,
    /// Claim something of queues, `MACHINE: FORMULA`: it is proved along with everything else, and used; may be given
    /// several times
    #[arg(long, value_name = "CLAIM", help_heading = MACHINES)]
    pub(crate) queue_invariant: Vec<String>,
    /// A file with such claims, one a line
    #[arg(long, value_name = "FILE", help_heading = MACHINES)]
    pub(crate) invariant_file: Option<PathBuf>,
    /// Assume claims about queues instead of proving them
    #[arg(long, help_heading = MACHINES)]
    pub(crate) assume_invariants: bool,
    /// A variable that proofs do without, `MACHINE.VARIABLE`: what depends on it may go either way; may be given several
    /// times
    #[arg(long, value_name = "VARIABLE", help_heading = MACHINES)]
    pub(crate) forget: Vec<String>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AtStartName {
    /// One thread
    One,
    /// One or more
    Any,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendName {
    /// At once
    Atomic,
    /// Others may move after specs have heard of it and before it is there
    Split,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SummaryName {
    /// How often each event occurs
    Bag,
    /// The order in which events occur first
    List,
    /// The order in which they occur first and last
    Ends,
}

#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ProgramArgs {
    /// A label that no thread may reach; may be given several times
    #[arg(long, value_name = "LABEL", help_heading = PROGRAMS)]
    pub(crate) label: Vec<String>,
    /// Look for deadlocks as well: no thread can move, and not all have ended
    #[arg(long, help_heading = PROGRAMS)]
    pub(crate) deadlock: bool,
    /// Where threads are created: the most at the same time; raised from 1 step by step [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = PROGRAMS)]
    pub(crate) max_threads: Option<u32>,
    /// In which order tasks are dispatched; by default as the program says
    #[arg(long, value_enum, help_heading = TASKS)]
    pub(crate) order: Option<OrderName>,
    /// Which numbers the integers of a .cp program are; to leave them is a violation
    #[arg(long, value_name = "LO..HI", value_parser = int_range, allow_hyphen_values = true, help_heading = TASKS)]
    pub(crate) int_range: Option<(i32, i32)>,
    /// Compile every step and every variable, even where no verdict depends on it
    #[arg(long, help_heading = PROGRAMS)]
    pub(crate) no_reduction: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OrderName {
    /// In any order
    Bag,
    /// The one first that has been pending longest
    Fifo,
    /// The one first that has been pending shortest
    Lifo,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CallReturnName {
    /// Every frame that waits for the procedure, whatever the values of its local variables
    Plain,
    /// Frames with values that they may have at the call
    Local,
    /// The same; local variables that are dead after the call do not count
    Live,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DialectName {
    /// With braces
    Tepui,
    /// With begin and end, one procedure, threads that start at labels
    Satabs,
    /// With begin and end, and procedures with results
    Boppo,
    /// The same; `init` runs first, then every procedure that nobody calls is a thread
    Getafix,
    /// P with bounds on events and stacks of states
    Old,
    /// P as it is
    Today,
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    /// The engine; `tepui engines` says what each is for
    #[arg(long, default_value = "auto", value_parser = engine_names(), help_heading = SEARCH)]
    pub(crate) engine: String,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Stop after this much work (images computed); unlike a time limit, it ends every run at the same point
    #[arg(long, value_name = "N", help_heading = LIMITS)]
    pub(crate) work: Option<u64>,
    /// How many threads may work; by default one for each core. The answer does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = SEARCH)]
    pub(crate) threads: Option<u16>,
    /// How many symbols of each stack a view shows (closure, delays); a proof may need more
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = SEARCH)]
    pub(crate) view_depth: u16,
    /// Treat interchangeable threads as different
    #[arg(long, help_heading = SEARCH)]
    pub(crate) no_symmetry: bool,
    /// Delays: compute every bound from the initial state, not from what the last one held back (a baseline)
    #[arg(long, help_heading = SEARCH)]
    pub(crate) no_frontier: bool,
    /// Rendezvous: which threads' languages become more precise, and by how much [default: individual-multi-step]
    #[arg(long, value_name = "POLICY", value_parser = policy_names(), help_heading = MEETING)]
    pub(crate) policy: Option<String>,
    /// Rendezvous: at which ends the words of a language are exact [default: prefix]
    #[arg(long, value_enum, value_name = "KIND", help_heading = MEETING)]
    pub(crate) abstraction: Option<AbstractionName>,
    /// Rendezvous: put the actions that a thread does not know into its language before it is approximated (a baseline)
    #[arg(long, help_heading = MEETING)]
    pub(crate) shuffle_first: bool,
    /// What is known of a queue behind its prefix; by default that is found out, starting with ends (cover, queues)
    #[arg(long, value_enum, value_name = "KIND", help_heading = MACHINES)]
    pub(crate) summary: Option<SummaryName>,
    /// How many events at the head of a queue are known as they are (cover, queues)
    #[arg(long, value_name = "P", help_heading = MACHINES)]
    pub(crate) prefix: Option<u16>,
    /// Up to which number the events behind them are counted (cover, queues)
    #[arg(long, value_name = "C", value_parser = clap::value_parser!(u8).range(..=200), help_heading = MACHINES)]
    pub(crate) cap: Option<u8>,
    /// How many random executions to try (walk) [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = MACHINES)]
    pub(crate) schedules: Option<u32>,
    /// How many steps a random execution may have (walk) [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = MACHINES)]
    pub(crate) steps: Option<u32>,
    /// The seed of random executions (walk) [default: 0]
    #[arg(long, value_name = "S", help_heading = MACHINES)]
    pub(crate) seed: Option<u64>,
    /// The schedulers of tasks whose delays count: rr, rr-reverse, dfs, fifo, lifo, priority, priority:SEED; or bag
    /// (any task may be next, and nothing is delayed), or bounded-bag:MOST (the same, where no more than MOST of a kind are
    /// pending, and others are dropped)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = scheduler_name, help_heading = TASKS)]
    pub(crate) scheduler: Vec<String>,
    /// Draw the execution that breaks a property to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) svg: Option<PathBuf>,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Human, help_heading = OUTPUT)]
    pub(crate) format: Format,
    /// Write the traces of violated properties to this file
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) trace: Option<PathBuf>,
    /// Write the views that were reached to this file, one a line
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) views: Option<PathBuf>,
    /// Check certificate and traces in the same run
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) self_check: bool,
    /// Show the call stack at each step of a program's schedule
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) stacks: bool,
}

/// What a command may use.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LimitArgs {
    /// Stop after this time, with what was learned (60s, 5m, 1h30m, a bare number means seconds)
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = LIMITS)]
    pub(crate) timeout: Option<Duration>,
    /// Stop when the process holds this much memory (4GiB, 500MB, a bare number means bytes); by default 90 % of what
    /// is available
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = LIMITS)]
    pub(crate) memory: Option<u64>,
}

impl RunArgs {
    /// The policy that was chosen.
    pub(crate) fn chosen_policy(&self) -> Option<Policy> {
        let name = self.policy.as_deref()?;
        Policy::ALL.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
    }

    /// The engine that was chosen.
    pub(crate) fn chosen(&self) -> &'static Facts {
        tepui::engine(&self.engine).unwrap_or(&AUTO)
    }
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Explore no bound of the engine beyond this one; without a proof by then, the answer is unknown
    #[arg(long, value_name = "K", help_heading = LIMITS)]
    pub(crate) bound_limit: Option<u32>,
    /// Stop at the first violation, and leave the other properties open
    #[arg(long, help_heading = LIMITS)]
    pub(crate) stop_at_first: bool,
    /// Besides the answer, find the smallest bound: the cutoff of a proof, the bound of a violation (auto only)
    #[arg(long, value_enum, value_name = "RESOURCE", num_args = 0..=1, default_missing_value = "contexts", require_equals = true, help_heading = SEARCH)]
    pub(crate) minimal: Option<Resource>,
    /// Delays: test for closure at every bound, not only on plateaus (a baseline)
    #[arg(long, help_heading = SEARCH)]
    pub(crate) closure_every_iteration: bool,
    /// Where the generator test cuts stacks at first; it goes deeper by itself where that does not do
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000), help_heading = SEARCH)]
    pub(crate) z_depth: u16,
    /// Programs: print what a proof has found out, for each line and for each pair of lines
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) invariant: bool,
    /// Programs and P: explore all threads and machines everywhere, also those that could wait (closure, cover);
    /// --no-reduction implies it
    #[arg(long, help_heading = SEARCH)]
    pub(crate) no_partial_order: bool,
    /// Programs: what the generator test takes for the frames that a return may come back to (contexts, delays); by default
    /// it derives them from the steps that are possible, which is at least as precise
    #[arg(long, value_enum, value_name = "RELATION", help_heading = SEARCH)]
    pub(crate) call_return: Option<CallReturnName>,
    /// A .mch file: which symbol may come to light after which is popped. It is checked, not believed
    #[arg(long, value_name = "FILE", help_heading = SEARCH)]
    pub(crate) matching: Option<PathBuf>,
    /// Write the certificate of a proof to this file; compressed if the name ends in .gz
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub(crate) certificate: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AbstractionName {
    /// At their beginnings
    Prefix,
    /// At their ends
    Suffix,
    /// At both
    Bifix,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Resource {
    /// The fewest contexts
    Contexts,
    /// Rounds and delays: for a violation the fewest, for a proof the first at which all views are there, raised in turn
    Delays,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// For people
    Human,
    /// For programs
    Json,
}

fn policy_names() -> PossibleValuesParser {
    PossibleValuesParser::new(Policy::ALL.iter().map(|(name, _)| *name))
}

fn engine_names() -> PossibleValuesParser {
    PossibleValuesParser::new(tepui::engines().map(|engine| engine.facts.name))
}

fn form_names() -> PossibleValuesParser {
    let summaries = [("human", "A summary for people"), ("json", "A summary for programs")];
    let forms = summaries.into_iter().chain(tepui::forms());
    PossibleValuesParser::new(forms.map(|(name, what)| PossibleValue::new(name).help(what)))
}

/// The first and the last of some numbers.
fn int_range(text: &str) -> Result<(i32, i32), String> {
    let bounds = text.split_once("..").and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)));
    match bounds {
        Some((low, high)) if low <= high => Ok((low, high)),
        _ => Err("a range is like 0..100".to_owned()),
    }
}

/// A scheduler of tasks.
fn scheduler_name(text: &str) -> Result<String, String> {
    let known = "rr, rr-reverse, dfs, fifo, lifo, priority, priority:SEED, bag and bounded-bag:MOST";
    match tepui::Dispatcher::named(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("schedulers are {known}")),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    }
    .ok_or_else(|| "expected a duration such as 60s, 5m or 1h30m".to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    text.parse::<ByteSize>().map(|size| size.0).map_err(|_| "expected a size such as 4GiB or 500MB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_table_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn durations_and_sizes() {
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert!(duration("-1").is_err() && duration("soon").is_err());
        assert_eq!((size("4GiB"), size("500MB"), size("17")), (Ok(4 << 30), Ok(500_000_000), Ok(17)));
        assert!(size("much").is_err());
    }
}
