//! Finding and reading a model with everything that belongs to it.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use tepui::diagnostic::{Diagnostic, Severity};
use tepui::source::Source;
use tepui::{Dialect, Error, Input, Order, Problem, Reading, Sending, ThreadsAtStart};
use tepui_report::count;
use tepui_report::diagnostics::render;
use tepui_report::human::quoted;

use super::args::{AtStartName, DialectName, MachineArgs, ModelArgs, OrderName, SendName};
use super::complain;
use super::gather::{Gathered, gather, read};

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

/// A problem that was read.
pub(crate) struct Loaded {
    pub(crate) problem: Problem,
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

/// Reads a problem, restricted to the properties that were asked for.
pub(crate) fn load(args: &ModelArgs) -> Result<Loaded> {
    let mut all = load_all(args, None)?;
    match all.len() {
        1 => Ok(all.swap_remove(0)),
        _ => {
            let names = all.iter().filter_map(|loaded| loaded.problem.test_case()).map(str::to_owned).collect();
            Err(Error::SeveralTests { names }.into())
        }
    }
}

/// Reads a problem, or one for each test.
pub(crate) fn load_all(args: &ModelArgs, matching: Option<&Path>) -> Result<Vec<Loaded>> {
    let Gathered { main, others, mut inputs } = gather(&args.model)?;
    let given: Vec<_> = args.given().into_iter().chain(matching.map(|_| "--matching")).collect();
    tepui::require_fitting(&main.name, &given)?;
    let companions = companions(&args.model[0]);
    let mut beside = |number: usize| -> Result<Option<Source>> {
        let Some(path) = companions[number].map(|name| args.model[0].with_extension(name)) else { return Ok(None) };
        if !path.exists() {
            return Ok(None);
        }
        let source = read(&path)?;
        inputs.push(path);
        Ok(Some(source))
    };
    let init = text_or_file(args.init.as_deref(), "--init")?.map_or_else(|| beside(0), |source| Ok(Some(source)))?;
    let target =
        text_or_file(args.target.as_deref(), "--target")?.map_or_else(|| beside(1), |source| Ok(Some(source)))?;
    // A text that is no file's name does no harm among the files.
    inputs.extend([&args.init, &args.target].into_iter().flatten().map(PathBuf::from).filter(|path| path.is_file()));
    inputs.extend(matching.map(Path::to_owned));
    let matching = matching.map(read).transpose()?;
    let input = Input { main, init, target, matching, others };
    let problems = Problem::read_all(&input, &args.reading()?).map_err(refused)?;
    // What fits the language may not fit the kind of model that it was.
    problems.iter().try_for_each(|problem| problem.require_fitting_model(&input.main.name, &given))?;
    Ok(problems.into_iter().map(|problem| loaded(problem, args, &inputs)).collect())
}

fn loaded(problem: Problem, args: &ModelArgs, inputs: &[PathBuf]) -> Loaded {
    let said = |severity: fn(Severity) -> bool| {
        problem.diagnostics.iter().filter(move |diagnostic| severity(diagnostic.severity))
    };
    let sources: Vec<_> = problem.sources.iter().map(Option::as_ref).collect();
    let one = |diagnostic: &Diagnostic| render(std::slice::from_ref(diagnostic), &sources);
    Loaded {
        warnings: said(|severity| severity != Severity::Note).map(one).collect(),
        notes: said(|severity| severity == Severity::Note).map(one).collect(),
        warning_lines: said(|severity| severity != Severity::Note).map(|warning| line(warning, &sources)).collect(),
        again: again(args, problem.test_case()),
        all_views: args.all_views,
        file: args.name(),
        inputs: inputs.to_vec(),
        problem,
    }
}

/// The extensions of files that belong to a model of its language, if they stand beside it.
fn companions(model: &Path) -> [Option<&'static str>; 2] {
    let extension = model.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let language = tepui::languages().find(|language| language.extension.eq_ignore_ascii_case(extension));
    language.map_or([None, None], |language| language.companions)
}

/// A diagnostic in one line.
fn line(diagnostic: &Diagnostic, sources: &[Option<&Source>]) -> String {
    let Some(source) = sources.get(diagnostic.source).copied().flatten() else { return diagnostic.message.clone() };
    let (line, column) = source.position(diagnostic.span.start);
    format!("{}:{line}:{column}: {}", source.name, diagnostic.message)
}

/// What is wrong with a text is shown with its place.
pub(crate) fn refused(error: Error) -> anyhow::Error {
    match error {
        Error::Refused { diagnostics, sources } => {
            let sources: Vec<_> = sources.iter().map(Option::as_ref).collect();
            let errors = count(diagnostics.len() as u64, "error");
            BadInput { rendered: format!("{}\n{errors}\n", render(&diagnostics, &sources)) }.into()
        }
        other => other.into(),
    }
}

impl Loaded {
    /// The file, and the test where there are several.
    pub(crate) fn name(&self) -> String {
        self.problem.test_case().map_or_else(|| self.file.clone(), |test| format!("{} {test}", self.file))
    }

    /// Whether there is a question: a property, or which views there are.
    pub(crate) fn asks_something(&self) -> bool {
        self.all_views || !self.problem.asked().is_empty()
    }

    /// Prints the warnings: an answer may be worth less than it seems.
    pub(crate) fn warn(&self) {
        self.warnings.iter().take(MOST_WARNINGS).for_each(|warning| complain(warning));
        if let more @ 1.. = self.warnings.len().saturating_sub(MOST_WARNINGS) {
            complain(&format!("... and {}\n", count(more as u64, "more warning")));
        }
    }
}

/// The files and the options that select what is verified, for a shell; and the test, where there are several.
pub(crate) fn again(args: &ModelArgs, test: Option<&str>) -> String {
    let mut words: Vec<_> = args.model.iter().map(|path| path.display().to_string()).collect();
    words.extend(test.into_iter().flat_map(|test| ["--test-case".to_owned(), test.to_owned()]));
    let options = [("--init", &args.init), ("--target", &args.target)];
    words.extend(options.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value.clone()?])).flatten());
    words.extend(args.property.iter().flat_map(|name| ["--property".to_owned(), name.clone()]));
    words.extend(args.all_views.then(|| "--all-views".to_owned()));
    let program = &args.program;
    words.extend(program.label.iter().flat_map(|label| ["--label".to_owned(), label.clone()]));
    words.extend(program.deadlock.then(|| "--deadlock".to_owned()));
    words.extend(program.no_reduction.then(|| "--no-reduction".to_owned()));
    words.extend(program.max_threads.iter().flat_map(|most| ["--max-threads".to_owned(), most.to_string()]));
    let range = program.int_range.map(|(low, high)| format!("{low}..{high}"));
    words.extend(range.into_iter().flat_map(|range| ["--int-range".to_owned(), range]));
    let machines = &args.machines;
    words.extend(machines.ignore_bounds.then(|| "--ignore-bounds".to_owned()));
    words.extend(machines.all_instances.then(|| "--all-instances".to_owned()));
    words.extend(machines.attach_specs.then(|| "--attach-specs".to_owned()));
    words.extend(machines.queue_invariant.iter().flat_map(|claim| ["--queue-invariant".to_owned(), claim.clone()]));
    let file = machines.invariant_file.iter().map(|file| file.display().to_string());
    words.extend(file.flat_map(|file| ["--invariant-file".to_owned(), file]));
    words.extend(machines.assume_invariants.then(|| "--assume-invariants".to_owned()));
    words.extend(machines.forget.iter().flat_map(|variable| ["--forget".to_owned(), variable.clone()]));
    let dialect = args.dialect.and_then(|dialect| clap::ValueEnum::to_possible_value(&dialect));
    let send = machines.send.and_then(|send| clap::ValueEnum::to_possible_value(&send));
    let at_start = args.threads_at_start.and_then(|name| clap::ValueEnum::to_possible_value(&name));
    let order = program.order.and_then(|order| clap::ValueEnum::to_possible_value(&order));
    let named = [("--dialect", dialect), ("--send", send), ("--threads-at-start", at_start), ("--order", order)];
    for (option, value) in named {
        words.extend(value.iter().flat_map(|value| [option.to_owned(), value.get_name().to_owned()]));
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

impl MachineArgs {
    /// What is claimed of queues, each with where it is said. Lines that are empty or comments say nothing.
    fn claims(&self) -> Result<Vec<(String, String)>> {
        let given = self.queue_invariant.iter().map(|claim| ("--queue-invariant".to_owned(), claim.clone()));
        let mut claims: Vec<_> = given.collect();
        if let Some(path) = &self.invariant_file {
            for (number, line) in read(path)?.text.lines().enumerate() {
                let claim = line.trim();
                if !claim.is_empty() && !claim.starts_with("//") {
                    claims.push((format!("{}:{}", path.display(), number + 1), claim.to_owned()));
                }
            }
        }
        Ok(claims)
    }
}

impl ModelArgs {
    /// How the text is to be read.
    fn reading(&self) -> Result<Reading> {
        let program = &self.program;
        Ok(Reading {
            properties: self.property.clone(),
            all_views: self.all_views,
            dialect: self.dialect.map(|name| match name {
                DialectName::Tepui => Dialect::Tepui,
                DialectName::Satabs => Dialect::Satabs,
                DialectName::Boppo => Dialect::Boppo,
                DialectName::Getafix => Dialect::Getafix,
                DialectName::Old => Dialect::Old,
                DialectName::Today => Dialect::Today,
            }),
            labels: program.label.clone(),
            deadlock: program.deadlock,
            order: program.order.map(|name| match name {
                OrderName::Bag => Order::Bag,
                OrderName::Fifo => Order::Fifo,
                OrderName::Lifo => Order::Lifo,
            }),
            int_range: program.int_range,
            max_threads: program.max_threads,
            no_reduction: program.no_reduction,
            test_cases: self.machines.test_case.clone(),
            sending: self.machines.send.map(|name| match name {
                SendName::Atomic => Sending::Atomic,
                SendName::Split => Sending::Split,
            }),
            ignore_bounds: self.machines.ignore_bounds,
            all_instances: self.machines.all_instances,
            attach_specs: self.machines.attach_specs,
            claims: self.machines.claims()?,
            assume_claims: self.machines.assume_invariants,
            forget: self.machines.forget.clone(),
            threads_at_start: match self.threads_at_start {
                Some(AtStartName::One) => ThreadsAtStart::One,
                Some(AtStartName::Any) | None => ThreadsAtStart::Any,
            },
        })
    }

    /// The options that were given and may not make sense for the model.
    pub(crate) fn given(&self) -> Vec<&'static str> {
        let program = &self.program;
        let options = [
            ("--init", self.init.is_some()),
            ("--target", self.target.is_some()),
            ("--all-views", self.all_views),
            ("--dialect", self.dialect.is_some()),
            ("--label", !program.label.is_empty()),
            ("--deadlock", program.deadlock),
            ("--int-range", program.int_range.is_some()),
            ("--order", program.order.is_some()),
            ("--max-threads", program.max_threads.is_some()),
            ("--no-reduction", program.no_reduction),
            ("--test-case", !self.machines.test_case.is_empty()),
            ("--send", self.machines.send.is_some()),
            ("--ignore-bounds", self.machines.ignore_bounds),
            ("--all-instances", self.machines.all_instances),
            ("--attach-specs", self.machines.attach_specs),
            ("--queue-invariant", !self.machines.queue_invariant.is_empty()),
            ("--invariant-file", self.machines.invariant_file.is_some()),
            ("--assume-invariants", self.machines.assume_invariants),
            ("--forget", !self.machines.forget.is_empty()),
            ("--threads-at-start", self.threads_at_start.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

/// What an option gives: the content of a file, or a text.
fn text_or_file(given: Option<&str>, option: &str) -> Result<Option<Source>> {
    match given {
        Some(given) if Path::new(given).is_file() => read(Path::new(given)).map(Some),
        given => Ok(given.map(|given| Source::new(option, given.as_bytes()))),
    }
}
