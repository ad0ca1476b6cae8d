//! `tepui show`: the model as it was understood, or in another form.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use comfy_table::Table;
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::pushdown::finite_context::finite_context;
use tepui_engines::rendezvous::product::product;
use tepui_lang::boolean::{creates_threads, explain, print_program};
use tepui_lang::pushdown::{print_cpds, print_init, print_pds, print_spec};
use tepui_lang::rendezvous::print_rpds;
use tepui_model::pushdown::{self, Action, Thread};
use tepui_model::{Digest, Model};
use tepui_report::json::to_json;
use tepui_report::{count, grouped, visible, visible_lines};

use super::args::{ShowArgs, ShowFormat};
use super::input::{Loaded, LoadedProgram, load};
use super::{Exit, complain, output, print, show_rendezvous, shown as file_name};

/// Runs `tepui show`.
pub(crate) fn show(args: &ShowArgs) -> Result<Exit> {
    let loaded = load(&args.model, None)?;
    let shown = loaded.model()?;
    let text = match (args.format, &shown) {
        (ShowFormat::Human, Model::Rendezvous(model)) => show_rendezvous::summary(&loaded.file, model),
        (ShowFormat::Json, Model::Rendezvous(model)) => show_rendezvous::json(&loaded.file, model),
        (ShowFormat::Rpds, Model::Rendezvous(model)) => {
            print_rpds(model).with_context(|| format!("{} cannot be printed in this form", visible(&loaded.file)))?
        }
        (format, Model::Rendezvous(model)) => of_pushdown(&loaded, product(model).model(), format)?,
        (format, Model::Pushdown(model)) => of_pushdown(&loaded, model, format)?,
    };
    match &args.output {
        None => print(&text)?,
        Some(path) => write_all(&loaded, &shown, path, args.format, &text)?,
    }
    loaded.warnings.iter().chain(&loaded.notes).for_each(|diagnostic| complain(diagnostic));
    Ok(Exit::Good)
}

fn of_pushdown(loaded: &Loaded, model: &pushdown::Model, format: ShowFormat) -> Result<String> {
    Ok(match format {
        ShowFormat::Human => summary(loaded, model),
        ShowFormat::Json => json(loaded, model),
        ShowFormat::Rpds => {
            bail!("the threads of {} share variables: they do not meet in actions", visible(&loaded.file))
        }
        ShowFormat::Bp => print_program(&program(loaded)?.program),
        ShowFormat::Reduced => {
            let LoadedProgram { program, compiling, places, .. } = program(loaded)?;
            explain(program, compiling.options(*places))?
        }
        ShowFormat::Cpds => print_cpds(model),
        ShowFormat::Pds => print_pds(model),
        ShowFormat::Init => print_init(model),
        ShowFormat::Spec => print_spec(model),
    })
}

fn program(loaded: &Loaded) -> Result<&LoadedProgram> {
    loaded.program().with_context(|| format!("{} is no program", visible(&loaded.file)))
}

/// Writes the file that was asked for, and those that belong to it.
fn write_all(loaded: &Loaded, shown: &Model, path: &Path, format: ShowFormat, text: &str) -> Result<()> {
    require_fitting_name(path, format)?;
    let mut files = vec![(path.to_owned(), text.to_owned())];
    if format == ShowFormat::Pds {
        files.extend(companions(shown, path)?);
    }
    output::prepare(&loaded.inputs, &files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>())?;
    files.iter().try_for_each(|(path, text)| output::write(path, text.as_bytes()))
}

/// The initial state and the properties of a model in the form with numbers.
fn companions(shown: &Model, path: &Path) -> Result<Vec<(PathBuf, String)>> {
    let model = &match shown {
        Model::Pushdown(model) => model.clone(),
        Model::Rendezvous(model) => product(model).model().clone(),
    };
    let (init, spec) = (path.with_extension("init"), path.with_extension("spec"));
    let mut files = vec![(init, print_init(model))];
    if !model.properties().is_empty() {
        files.push((spec, print_spec(model)));
    } else if spec.exists() {
        let (path, spec) = (file_name(path), file_name(&spec));
        bail!("{path} has no property, but {spec} exists and would be read with it");
    }
    Ok(files)
}

/// What a file's name promises must be in it.
fn require_fitting_name(output: &Path, format: ShowFormat) -> Result<()> {
    let promised = match output.extension().and_then(|extension| extension.to_str()) {
        Some("bp") if format == ShowFormat::Reduced => None,
        Some("bp") => Some((ShowFormat::Bp, "bp")),
        Some("cpds") => Some((ShowFormat::Cpds, "cpds")),
        Some("pds") => Some((ShowFormat::Pds, "pds")),
        Some("rpds") => Some((ShowFormat::Rpds, "rpds")),
        Some("init") => Some((ShowFormat::Init, "init")),
        Some("spec") => Some((ShowFormat::Spec, "spec")),
        _ => None,
    };
    match promised {
        Some((promised, name)) if promised != format => bail!("a .{name} file needs --format {name}"),
        None if format == ShowFormat::Pds => bail!("the name of a file in this form ends in .pds"),
        _ => Ok(()),
    }
}

/// How many rules of a thread pop, overwrite, push, and start from the empty stack.
fn rule_counts(thread: &Thread) -> [usize; 4] {
    let mut counts = [0; 4];
    for rule in &thread.rules {
        let index = match rule.action {
            _ if rule.top.is_bottom() => 3,
            Action::Pop => 0,
            Action::Overwrite(_) => 1,
            Action::Push { .. } => 2,
        };
        counts[index] += 1;
    }
    counts
}

/// The number of views that shared states and symbols allow for.
fn conceivable_views(model: &pushdown::Model) -> String {
    let mut factors = model.threads().iter().map(|thread| u64::from(thread.symbol_count()));
    let exact = factors.try_fold(u64::from(model.shared().count()), u64::checked_mul);
    exact.map_or_else(|| "more than 10^19".to_owned(), grouped)
}

fn summary(loaded: &Loaded, model: &pushdown::Model) -> String {
    let finite = finite_context(&Compiled::new(model));
    let mut out = match loaded.program() {
        None => format!("{}: a concurrent pushdown system\n\n", visible(&loaded.file)),
        Some(LoadedProgram { program, compiling, .. }) => {
            let (shared, procedures) = (program.shared.len() as u64, program.procedures.len() as u64);
            let sizes = format!("{}, {}", count(shared, "shared variable"), count(procedures, "procedure"));
            let threads = match creates_threads(program, compiling.reduce) {
                true => format!("  threads are created: what follows has places for {}\n", model.threads().len()),
                false => String::new(),
            };
            format!("{}: a Boolean program with {sizes}; compiled:\n{threads}\n", visible(&loaded.file))
        }
    };
    let _ = writeln!(out, "  shared states  {}", grouped(u64::from(model.shared().count())));
    let _ = writeln!(out, "  threads        {}", model.threads().len());
    let _ = writeln!(out, "  initial state  {}", model.display_state(model.init()));
    let _ = writeln!(out, "  views          at most {}", conceivable_views(model));
    let finite_all = finite.iter().all(|&finite| finite);
    let engines = match finite_all {
        true => "yes: a context reaches finitely many states",
        false => "no: a context may reach infinitely many states, so contexts-explicit does not apply",
    };
    let _ = writeln!(out, "  finite context {engines}");
    for group in Compiled::new(model).symmetry().groups() {
        let names: Vec<_> = group.iter().map(|&thread| model.threads()[thread].name.as_str()).collect();
        let _ = writeln!(out, "  alike          {}", names.join(", "));
    }
    let _ = writeln!(out, "  digest         {}\n", digest(loaded, model));
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["thread", "symbols", "rules", "pop", "overwrite", "push", "on empty", "finite context"]);
    for (thread, finite) in model.threads().iter().zip(finite) {
        let [pop, overwrite, push, empty] = rule_counts(thread);
        let numbers = [thread.symbols.len(), thread.rules.len(), pop, overwrite, push, empty].map(|n| n.to_string());
        let finite = if finite { "yes" } else { "no" };
        table.add_row([thread.name.clone()].into_iter().chain(numbers).chain([finite.to_owned()]));
    }
    out.extend(table.to_string().lines().map(|line| format!(" {}\n", line.trim_end())));
    if model.properties().is_empty() {
        out.push_str("\n  no property: `tepui verify` computes all views\n");
    }
    for property in model.properties() {
        let patterns: Vec<_> = property.never.iter().map(|pattern| model.display_pattern(pattern)).collect();
        let patterns = match patterns.as_slice() {
            [] => "nothing in the model can violate it".to_owned(),
            patterns => patterns.join(" or "),
        };
        let _ = write!(out, "\n  never {}: {patterns}", property.name);
    }
    visible_lines(out.trim_end()).into_owned() + "\n"
}

/// The fingerprint that certificates name: of a program that of its source.
fn digest(loaded: &Loaded, model: &pushdown::Model) -> Digest {
    loaded.program().map_or_else(|| model.digest(), |loaded| loaded.program.digest())
}

fn json(loaded: &Loaded, model: &pushdown::Model) -> String {
    let finite = finite_context(&Compiled::new(model));
    let threads = model.threads().iter().zip(&finite).map(|(thread, finite)| {
        let [pop, overwrite, push, empty] = rule_counts(thread);
        serde_json::json!({
            "name": thread.name, "symbols": thread.symbols.len(), "rules": thread.rules.len(), "pop": pop,
            "overwrite": overwrite, "push": push, "on_empty": empty, "finite_context": finite,
        })
    });
    let properties = model.properties().iter().map(|property| {
        let never: Vec<_> = property.never.iter().map(|pattern| model.display_pattern(pattern)).collect();
        serde_json::json!({ "name": property.name, "never": never })
    });
    let document = serde_json::json!({
        "tepui_version": env!("CARGO_PKG_VERSION"),
        "file": loaded.file,
        "model_digest": digest(loaded, model).to_string(),
        "shared_states": model.shared().count(),
        "init": model.display_state(model.init()),
        "finite_context": finite.iter().all(|&finite| finite),
        "threads": threads.collect::<Vec<_>>(),
        "properties": properties.collect::<Vec<_>>(),
    });
    to_json(&document) + "\n"
}
