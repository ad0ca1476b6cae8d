//! Finding and reading a model with everything that belongs to it.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tepui::Compiling;
use tepui_lang::boolean::{CallReturn, Compiled, Dialect, read_program};
use tepui_lang::diagnostic::{Diagnostic, Severity};
use tepui_lang::pushdown::{CubaInput, Matching, Parsed, read_cpds, read_cuba};
use tepui_lang::rendezvous::{read_rpds, read_spade};
use tepui_lang::source::Source;
use tepui_model::program::Program;
use tepui_model::{Digest, Model};
use tepui_report::diagnostics::render;
use tepui_report::human::quoted;
use tepui_report::{count, visible};

use super::args::{DialectName, ModelArgs};
use super::{complain, shown};

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

/// The most warnings that are printed before a run.
const MOST_WARNINGS: usize = 5;

/// The places of the model that is shown of a program, where threads are created and nothing else is said.
const PLACES_SHOWN: u32 = 2;

/// A program with what is needed to speak about it.
pub(crate) struct LoadedProgram {
    pub(crate) program: Program,
    pub(crate) source: Source,
    pub(crate) compiling: Compiling,
    /// The places of the model that is shown, where threads are created.
    pub(crate) places: u32,
}

/// A model, or a program of which there are models.
pub(crate) enum Subject {
    Model(Model),
    Program(LoadedProgram),
}

/// A model that was read.
pub(crate) struct Loaded {
    pub(crate) subject: Subject,
    pub(crate) matching: Option<Matching>,
    /// The rendered warnings.
    pub(crate) warnings: Vec<String>,
    /// The rendered notes, which are of interest only to those who ask about the model.
    pub(crate) notes: Vec<String>,
    /// The warnings in one line each.
    pub(crate) warning_lines: Vec<String>,
    /// The file and the options that select what is verified, for a shell.
    pub(crate) again: String,
    /// Whether it is asked for all views instead of properties.
    pub(crate) all_views: bool,
    /// The model's file as the user gave it.
    pub(crate) file: String,
    /// The files that were read, the model's first.
    pub(crate) inputs: Vec<PathBuf>,
}

/// Reads a model, restricted to the properties that were asked for.
pub(crate) fn load(args: &ModelArgs, matching: Option<&Path>) -> Result<Loaded> {
    let mut loaded = load_any(args, matching)?;
    loaded.inputs = inputs(args, matching);
    Ok(loaded)
}

/// The files that belong to a model; a text that is no file's name does no harm among them.
fn inputs(args: &ModelArgs, matching: Option<&Path>) -> Vec<PathBuf> {
    let beside = ["init", "spec"].map(|extension| args.model.with_extension(extension));
    let is_pds = args.model.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pds"));
    let given = [&args.init, &args.target].into_iter().flatten().map(PathBuf::from).filter(|path| path.is_file());
    let beside = beside.into_iter().filter(|path| is_pds && path.is_file());
    [args.model.clone()].into_iter().chain(beside).chain(given).chain(matching.map(Path::to_owned)).collect()
}

fn load_any(args: &ModelArgs, matching: Option<&Path>) -> Result<Loaded> {
    let main = read(&args.model)?;
    let extension = args.model.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    if extension.as_deref() == Some("bp") {
        return load_program(main, args, matching);
    }
    args.refuse_program_options(&main.name)?;
    if let Some(form @ ("rpds" | "spad")) = extension.as_deref() {
        return load_rendezvous(&main, form, args, matching);
    }
    let init = text_or_file(args.init.as_deref(), "--init")?;
    let targets = text_or_file(args.target.as_deref(), "--target")?;
    let matching = matching.map(read).transpose()?;
    let (init, targets, parsed) = match extension.as_deref() {
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
        _ => {
            bail!(
                "{} is no .bp, .cpds, .pds, .rpds or .spad file; `tepui languages` lists what can be read",
                visible(&main.name)
            )
        }
    };
    let sources = [Some(&main), init.as_ref(), targets.as_ref(), matching.as_ref()];
    let Parsed { model, matching, warnings } = parsed.map_err(|errors| refuse(&errors, &sources))?;
    let said = Said::of(&warnings, &sources, &main);
    Ok(Loaded {
        subject: Subject::Model(select(Model::Pushdown(model), args)?),
        matching,
        warning_lines: said.warning_lines,
        warnings: said.warnings,
        notes: said.notes,
        again: again(args),
        all_views: args.all_views,
        file: main.name.clone(),
        inputs: Vec::new(),
    })
}

/// What a reader had to say besides the model, rendered.
struct Said {
    warnings: Vec<String>,
    notes: Vec<String>,
    warning_lines: Vec<String>,
}

impl Said {
    fn of(diagnostics: &[Diagnostic], sources: &[Option<&Source>], main: &Source) -> Self {
        let render_one = |warning: &Diagnostic| render(std::slice::from_ref(warning), sources);
        let (notes, warnings): (Vec<_>, Vec<_>) =
            diagnostics.iter().partition(|diagnostic| diagnostic.severity == Severity::Note);
        let one_line = |warning: &&Diagnostic| {
            let source = sources.get(warning.source).copied().flatten().unwrap_or(main);
            let (line, column) = source.position(warning.span.start);
            format!("{}:{line}:{column}: {}", source.name, warning.message)
        };
        Self {
            warning_lines: warnings.iter().map(one_line).collect(),
            warnings: warnings.into_iter().map(render_one).collect(),
            notes: notes.into_iter().map(render_one).collect(),
        }
    }
}

fn load_rendezvous(main: &Source, form: &str, args: &ModelArgs, matching: Option<&Path>) -> Result<Loaded> {
    let given = [("--init", args.init.is_some()), ("--matching", matching.is_some()), ("--all-views", args.all_views)];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        bail!(
            "{option} is only for threads that share a variable, and those of {} meet in actions",
            visible(&main.name)
        );
    }
    let target = match args.target.as_deref() {
        Some(_) if form == "spad" => {
            bail!("--target is not for .spad files: `tepui show --format rpds` makes a .rpds file")
        }
        Some(given) if Path::new(given).is_file() => Some(read(Path::new(given))?),
        given => given.map(|given| Source::new("--target", given.as_bytes())),
    };
    let parsed = if form == "rpds" { read_rpds(main, target.as_ref()) } else { read_spade(main) };
    let sources = [Some(main), target.as_ref()];
    let parsed = parsed.map_err(|errors| refuse(&errors, &sources))?;
    let said = Said::of(&parsed.warnings, &sources, main);
    Ok(Loaded {
        subject: Subject::Model(select(Model::Rendezvous(parsed.model), args)?),
        matching: None,
        warning_lines: said.warning_lines,
        warnings: said.warnings,
        notes: said.notes,
        again: again(args),
        all_views: args.all_views,
        file: main.name.clone(),
        inputs: Vec::new(),
    })
}

fn load_program(source: Source, args: &ModelArgs, matching: Option<&Path>) -> Result<Loaded> {
    let given =
        [("--init", args.init.is_some()), ("--target", args.target.is_some()), ("--matching", matching.is_some())];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        bail!("{option} is not for programs: assertions and --label say what must not happen");
    }
    let options = &args.program;
    let dialect = match options.dialect {
        None => None,
        Some(DialectName::Tepui) => Some(Dialect::Tepui),
        Some(DialectName::Satabs) => Some(Dialect::Satabs),
        Some(DialectName::Boppo) => Some(Dialect::Boppo),
        Some(DialectName::Getafix) => Some(Dialect::Getafix),
    };
    let sources = [Some(&source)];
    let parsed = read_program(&source, dialect, &options.label).map_err(|errors| refuse(&errors, &sources))?;
    let said = Said::of(&parsed.warnings, &sources, &source);
    let program = parsed.program;
    let compiling = Compiling {
        max_threads: options.max_threads.unwrap_or(Compiling::default().max_threads),
        reduce: !options.no_reduction,
        deadlock: options.deadlock,
        properties: args.property.clone(),
        no_properties: args.all_views,
        every_step: false,
        call_return: None,
    };
    let places = options.max_threads.unwrap_or(PLACES_SHOWN);
    let compiling =
        Compiling { properties: selected(&args.property, &compiling.property_names(&program))?, ..compiling };
    Ok(Loaded {
        matching: None,
        warning_lines: said.warning_lines,
        warnings: said.warnings,
        notes: said.notes,
        again: again(args),
        all_views: args.all_views,
        file: source.name.clone(),
        inputs: Vec::new(),
        subject: Subject::Program(LoadedProgram { program, source, compiling, places }),
    })
}

impl LoadedProgram {
    /// The model with a digest: where threads are created, there is one for each number of places.
    fn with_digest(&self, digest: &Digest) -> Result<Option<Compiled>> {
        // Some call-return relations are about a model that keeps dead values, and an invariant is about every step.
        let keeping = Compiling { call_return: Some(CallReturn::Plain), ..self.compiling.clone() };
        let stepping = Compiling { every_step: true, ..self.compiling.clone() };
        for compiling in [&self.compiling, &keeping, &stepping] {
            for places in compiling.places(&self.program) {
                let compiled = compiling.compile(&self.program, places)?;
                if compiled.model.digest() == *digest {
                    return Ok(Some(compiled));
                }
            }
        }
        Ok(None)
    }
}

impl Loaded {
    /// The program, if it is one.
    pub(crate) fn program(&self) -> Option<&LoadedProgram> {
        match &self.subject {
            Subject::Model(_) => None,
            Subject::Program(program) => Some(program),
        }
    }

    /// The model; that of a program, where threads are created, has places for a few of them.
    pub(crate) fn model(&self) -> Result<Model> {
        match &self.subject {
            Subject::Model(model) => Ok(model.clone()),
            Subject::Program(LoadedProgram { program, compiling, places, .. }) => {
                Ok(Model::Pushdown(compiling.compile(program, *places)?.model))
            }
        }
    }

    /// The model with a digest, if there is one, and else any; with its legend, if it is that of a program.
    pub(crate) fn with_digest(&self, digest: &Digest) -> Result<(Model, Option<Compiled>)> {
        match &self.subject {
            Subject::Model(model) => Ok((model.clone(), None)),
            Subject::Program(program) => Ok(match program.with_digest(digest)? {
                Some(compiled) => (Model::Pushdown(compiled.model.clone()), Some(compiled)),
                None => (self.model()?, None),
            }),
        }
    }

    /// Whether there is a question: a property, or which views there are.
    pub(crate) fn asks_something(&self) -> bool {
        self.all_views
            || match &self.subject {
                Subject::Model(model) => !model.property_names().is_empty(),
                Subject::Program(LoadedProgram { program, compiling, .. }) => !compiling.properties(program).is_empty(),
            }
    }

    /// The fingerprint of the model or the program.
    pub(crate) fn digest(&self) -> Option<String> {
        Some(match &self.subject {
            Subject::Model(model) => model.digest().to_string(),
            Subject::Program(LoadedProgram { program, .. }) => program.digest().to_string(),
        })
    }

    /// Prints the warnings: an answer may be worth less than it seems.
    pub(crate) fn warn(&self) {
        self.warnings.iter().take(MOST_WARNINGS).for_each(|warning| complain(warning));
        if let more @ 1.. = self.warnings.len().saturating_sub(MOST_WARNINGS) {
            complain(&format!("... and {}\n", count(more as u64, "more warning")));
        }
    }
}

/// The file and the options that select what is verified, for a shell.
pub(crate) fn again(args: &ModelArgs) -> String {
    let mut words = vec![args.model.display().to_string()];
    let options = [("--init", &args.init), ("--target", &args.target)];
    words.extend(options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value.clone()?])).flatten());
    words.extend(args.property.iter().flat_map(|name| ["--property".to_owned(), name.clone()]));
    words.extend(args.all_views.then(|| "--all-views".to_owned()));
    let program = &args.program;
    words.extend(program.label.iter().flat_map(|label| ["--label".to_owned(), label.clone()]));
    words.extend(program.deadlock.then(|| "--deadlock".to_owned()));
    words.extend(program.no_reduction.then(|| "--no-reduction".to_owned()));
    words.extend(program.max_threads.iter().flat_map(|most| ["--max-threads".to_owned(), most.to_string()]));
    let dialect = program.dialect.and_then(|dialect| clap::ValueEnum::to_possible_value(&dialect));
    words.extend(dialect.iter().flat_map(|dialect| ["--dialect".to_owned(), dialect.get_name().to_owned()]));
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

impl ModelArgs {
    fn refuse_program_options(&self, file: &str) -> Result<()> {
        let program = &self.program;
        let given = [
            ("--dialect", program.dialect.is_some()),
            ("--label", !program.label.is_empty()),
            ("--deadlock", program.deadlock),
            ("--max-threads", program.max_threads.is_some()),
            ("--no-reduction", program.no_reduction),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => bail!("{option} is only for programs, and {} is no .bp file", visible(file)),
            None => Ok(()),
        }
    }
}

fn refuse(errors: &[Diagnostic], sources: &[Option<&Source>]) -> BadInput {
    BadInput { rendered: format!("{}\n{}\n", render(errors, sources), count(errors.len() as u64, "error")) }
}

fn read(path: &Path) -> Result<Source> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", shown(path)))?;
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
        Some(given) if !given.contains('|') => {
            bail!("{option} {}: there is no such file, and a state is written q|w1,w2,...", visible(given))
        }
        Some(given) => Ok(Some(Source::new(option, given.as_bytes()))),
        None => Ok(None),
    }
}

fn select(model: Model, args: &ModelArgs) -> Result<Model> {
    if args.all_views {
        return Ok(model.restricted(|_| false));
    }
    if args.property.is_empty() {
        return Ok(model);
    }
    let known: Vec<_> = model.property_names().into_iter().map(str::to_owned).collect();
    let wanted = selected(&args.property, &known)?;
    Ok(model.restricted(|name| wanted.iter().any(|wanted| wanted == name)))
}

/// The properties that are asked for: the one with a name, or else all whose names begin with it.
fn selected(names: &[String], known: &[String]) -> Result<Vec<String>> {
    let mut selected = Vec::new();
    for name in names {
        let exact = known.contains(name);
        let found = known.iter().filter(|known| if exact { *known == name } else { known.starts_with(name.as_str()) });
        let before = selected.len();
        selected.extend(found.cloned());
        if selected.len() == before {
            let list = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            bail!("the model has no property {}; it has: {}", visible(name), visible(&list));
        }
    }
    Ok(selected)
}
