//! Finding and reading a model with everything that belongs to it.

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use tepui_lang::diagnostic::Diagnostic;
use tepui_lang::pushdown::{CubaInput, Matching, Parsed, read_cpds, read_cuba};
use tepui_lang::source::Source;
use tepui_model::pushdown::Model;
use tepui_report::diagnostics::render;

use super::args::ModelArgs;

/// Input that was refused, with the explanation for the user.
#[derive(Debug)]
pub(crate) struct BadInput {
    pub(crate) rendered: String,
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl std::error::Error for BadInput {}

/// A model that was read.
pub(crate) struct Loaded {
    pub(crate) model: Model,
    pub(crate) matching: Option<Matching>,
    /// The rendered warnings.
    pub(crate) warnings: Vec<String>,
    /// The model's file as the user gave it.
    pub(crate) file: String,
}

/// Reads a model, restricted to the properties that were asked for.
pub(crate) fn load(args: &ModelArgs, matching: Option<&Path>) -> Result<Loaded> {
    let main = read(&args.model)?;
    let init = text_or_file(args.init.as_deref(), "--init")?;
    let targets = text_or_file(args.target.as_deref(), "--target")?;
    let matching = matching.map(read).transpose()?;
    let (init, targets, parsed) = match args.model.extension().and_then(|extension| extension.to_str()) {
        Some("cpds") => {
            let parsed = read_cpds(&main, init.as_ref(), targets.as_ref(), matching.as_ref());
            (init, targets, parsed)
        }
        Some("pds") => {
            let init = init.map_or_else(|| beside(&args.model, "init"), |source| Ok(Some(source)))?;
            let targets = targets.map_or_else(|| beside(&args.model, "spec"), |source| Ok(Some(source)))?;
            let input =
                CubaInput { pds: &main, init: init.as_ref(), targets: targets.as_ref(), matching: matching.as_ref() };
            let parsed = read_cuba(input);
            (init, targets, parsed)
        }
        _ => bail!("{} is neither a .cpds nor a .pds file; `tepui languages` lists what can be read", main.name),
    };
    let sources = [Some(&main), init.as_ref(), targets.as_ref(), matching.as_ref()];
    let Parsed { model, matching, warnings } = parsed.map_err(|errors| refuse(&errors, &sources))?;
    let render_one = |warning: &Diagnostic| render(std::slice::from_ref(warning), &sources);
    Ok(Loaded {
        model: select(model, args)?,
        matching,
        warnings: warnings.iter().map(render_one).collect(),
        file: main.name.clone(),
    })
}

impl Loaded {
    /// Says that there were warnings, without drowning the answer in them.
    pub(crate) fn mention_warnings(&self) {
        let count = self.warnings.len();
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            eprintln!("note: {count} warning{s} about {0}; `tepui show {0}` shows them", self.file);
        }
    }
}

fn refuse(errors: &[Diagnostic], sources: &[Option<&Source>]) -> BadInput {
    let count = errors.len();
    let s = if count == 1 { "" } else { "s" };
    BadInput { rendered: format!("{}\n{count} error{s}; nothing was verified\n", render(errors, sources)) }
}

fn read(path: &Path) -> Result<Source> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Source::new(path.display().to_string(), &bytes))
}

/// The file with another extension beside the model, if there is one.
fn beside(model: &Path, extension: &str) -> Result<Option<Source>> {
    let path = model.with_extension(extension);
    if path.exists() { read(&path).map(Some) } else { Ok(None) }
}

fn text_or_file(given: Option<&str>, option: &str) -> Result<Option<Source>> {
    match given {
        Some(given) if Path::new(given).is_file() => read(Path::new(given)).map(Some),
        Some(given) => Ok(Some(Source::new(option, given.as_bytes()))),
        None => Ok(None),
    }
}

fn select(model: Model, args: &ModelArgs) -> Result<Model> {
    let names = &args.property;
    if args.all_views {
        return Ok(model.with_properties(Vec::new())?);
    }
    if names.is_empty() {
        return Ok(model);
    }
    let known: Vec<_> = model.properties().iter().map(|property| property.name.clone()).collect();
    if let Some(unknown) = names.iter().find(|&name| !known.contains(name)) {
        let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bail!("the model has no property {unknown}; it has: {list}");
    }
    let chosen = model.properties().iter().filter(|property| names.contains(&property.name)).cloned().collect();
    Ok(model.with_properties(chosen)?)
}
