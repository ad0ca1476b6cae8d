//! `tepui engines`, `languages`, `completions` and `man`: what there is to say about the tool itself.

use std::path::Path;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;
use tepui::{ENGINES, LANGUAGES};

use super::args::Cli;
use super::{Exit, print};

/// Runs `tepui engines`.
pub(crate) fn engines() -> Result<Exit> {
    for engine in ENGINES {
        print(&format!(
            "{}\n  {}\n  applies to: {}\n  bound: {}\n  after: {}\n\n",
            engine.name, engine.summary, engine.applies, engine.resource, engine.paper
        ))?;
    }
    Ok(Exit::Good)
}

/// Runs `tepui languages`.
pub(crate) fn languages() -> Result<Exit> {
    for language in LANGUAGES {
        print(&format!(".{:<6}{}\n", language.extension, language.summary))?;
    }
    Ok(Exit::Good)
}

/// Runs `tepui completions`.
pub(crate) fn completions(shell: Shell) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "tepui", &mut script);
    print(&String::from_utf8(script)?)?;
    Ok(Exit::Good)
}

/// Runs `tepui man`.
pub(crate) fn man(directory: Option<&Path>) -> Result<Exit> {
    match directory {
        Some(directory) => {
            std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
            clap_mangen::generate_to(Cli::command(), directory)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            print(&String::from_utf8(page)?)?;
        }
    }
    Ok(Exit::Good)
}
