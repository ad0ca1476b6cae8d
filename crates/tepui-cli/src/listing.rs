//! `tepui engines`, `languages`, `completions` and `man`: what there is to say about the tool itself.

use std::path::Path;

use anyhow::{Context as _, Result};
use clap::CommandFactory as _;
use clap_complete::Shell;

use super::args::Cli;
use super::{Exit, output, print, shown};

/// Runs `tepui engines`.
pub(crate) fn engines() -> Result<Exit> {
    for engine in tepui::engines() {
        print(&format!(
            "{}\n  {}\n  applies to: {}\n  bound: {}\n  after: {}\n\n",
            engine.facts.name,
            engine.summary,
            tepui::applies_to(engine.facts),
            engine.facts.resources.join(" and "),
            engine.paper
        ))?;
    }
    Ok(Exit::Good)
}

/// Runs `tepui languages`.
pub(crate) fn languages() -> Result<Exit> {
    for language in tepui::languages() {
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
            std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", shown(directory)))?;
            let mut command = Cli::command().disable_help_subcommand(true);
            command.build();
            for command in command.get_subcommands().chain([&command]) {
                let page = clap_mangen::Man::new(command.clone());
                output::write(&directory.join(page.get_filename()), manual(&page)?.as_bytes())?;
            }
        }
        None => print(&manual(&clap_mangen::Man::new(Cli::command()))?)?,
    }
    Ok(Exit::Good)
}

/// A manual page. What stands at its end are examples, which are lines and not prose.
fn manual(page: &clap_mangen::Man) -> Result<String> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = String::from_utf8(text)?;
    let Some((before, rest)) = text.split_once(EXAMPLES) else { return Ok(text) };
    let (examples, after) = rest.split_at(rest.find("\n.SH ").map_or(rest.len(), |end| end + 1));
    Ok(format!("{before}{EXAMPLES}.nf\n{}\n.fi\n{after}", examples.trim_end()))
}

/// How the section with the text after the options begins.
const EXAMPLES: &str = ".SH EXTRA\n";
