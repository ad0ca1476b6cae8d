//! The command line: one file for each command, and what they share.
//!
//! Exit status: 0 safe or accepted, 1 unsafe or rejected, 2 bad usage or bad input, 3 unknown.

mod args;
mod bench;
mod evidence;
mod input;
mod limits;
mod listing;
mod show;
mod show_rendezvous;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;

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
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Good => Self::from(0),
            Exit::Bad => Self::from(1),
            Exit::Unknown => Self::from(3),
        }
    }
}

/// Runs the command that the arguments name.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Command::Verify(args) => verify::verify(args),
        Command::Explore(args) => verify::explore(args),
        Command::Check(args) => evidence::check(args),
        Command::Replay(args) => evidence::replay(args),
        Command::Show(args) => show::show(args),
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

/// Bad input has been explained with its place already; everything else is one line.
fn report_failure(error: &anyhow::Error) {
    match error.downcast_ref::<input::BadInput>() {
        Some(bad) => anstream::eprint!("{}", bad.rendered),
        None => anstream::eprintln!("\u{1b}[1;31merror\u{1b}[0m: {error:#}"),
    }
}

/// Prints to standard output. That nobody listens any more changes nothing about the answer.
fn print(text: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
