//! The command line: one file for each command, and what they share. Files, environment, terminal and exit codes are
//! touched here and nowhere else.
//!
//! Exit status: 0 safe or accepted, 1 unsafe or rejected, 2 bad usage or bad input, also a claim that does not hold, 3 unknown.

mod args;
pub mod bench;
mod bounding;
mod evidence;
mod gather;
mod input;
mod limits;
mod listing;
pub mod output;
mod show;
mod verify;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser as _;
use tepui_report::{guarded, visible, visible_lines};

use args::{Cli, Command};

/// How a command ended, as a process tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Safe, accepted, or simply done.
    Good,
    /// Unsafe, or rejected.
    Bad,
    /// Unknown.
    Unknown,
    /// Bad input, which showed only in the end.
    Misled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Good => Self::from(0),
            Exit::Bad => Self::from(1),
            Exit::Misled => Self::from(2),
            Exit::Unknown => Self::from(3),
        }
    }
}

/// Runs the command that the arguments name.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse_from(arguments()) {
        Ok(cli) => cli,
        Err(error) => return report_misuse(error),
    };
    let result = match &cli.command {
        Command::Verify(args) => verify::verify(args),
        Command::Explore(args) => verify::explore(args),
        Command::Check(args) => evidence::check(args),
        Command::Replay(args) => evidence::replay(args),
        Command::Show(args) => show::show(args),
        Command::Sequentialize(args) => show::sequentialize(args),
        Command::Bench(args) => bench::bench(args),
        Command::Engines => listing::engines(),
        Command::Languages => listing::languages(),
        Command::Completions { shell } => listing::completions(*shell),
        Command::Man { dir } => listing::man(dir.as_deref()),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            report_failure(&error);
            ExitCode::from(2)
        }
    }
}

/// The arguments. Users of P write `-tc` for a test case.
fn arguments() -> impl Iterator<Item = OsString> {
    std::env::args_os().map(|word| if word == "-tc" { OsString::from("--test-case") } else { word })
}

/// What is wrong with the arguments, or the help that they ask for. Arguments may be names of files that somebody else
/// chose, so they are made visible and read again for the message.
fn report_misuse(error: clap::Error) -> ExitCode {
    let arguments = arguments().map(|word| OsString::from(visible(&word.to_string_lossy()).as_ref()));
    let error = Cli::try_parse_from(arguments).err().unwrap_or(error);
    // Nobody listens: there is no other way to say it.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Bad input has been explained with its place already; everything else is one line.
fn report_failure(error: &anyhow::Error) {
    match error.downcast_ref::<input::BadInput>() {
        Some(bad) => complain(&bad.rendered),
        None => complain(&format!("\u{1b}[1;31merror\u{1b}[0m: {}\n", visible_lines(&format!("{error:#}")))),
    }
}

/// Prints to standard error.
pub fn complain(text: &str) {
    anstream::eprint!("{}", guarded(text));
}

/// The name of a file, for people.
pub fn shown(path: &Path) -> String {
    visible(&path.display().to_string()).into_owned()
}

/// Prints to standard output. That nobody listens any more changes nothing about the answer.
pub fn print(text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut out = anstream::stdout().lock();
    match out.write_all(guarded(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
