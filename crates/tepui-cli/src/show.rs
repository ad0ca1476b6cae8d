//! `tepui show`: the model as it was understood, or in another form.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use comfy_table::Table;
use serde_json::{Map, Value};
use tepui::{Budget, Field, Printed, SequentialForm, Summary, Trace};
use tepui_report::json::to_json;
use tepui_report::{visible, visible_lines};

use super::args::{SequentialName, SequentializeArgs, ShowArgs};
use super::evidence::read_text;
use super::input::{Loaded, load, load_all};
use super::{Exit, complain, output, print, shown as file_name};

/// Runs `tepui show`.
pub(crate) fn show(args: &ShowArgs) -> Result<Exit> {
    if matches!(args.format.as_str(), "human" | "json") {
        return show_all(args);
    }
    let loaded = load(&args.model)?;
    finish(args, &loaded, &printed(&loaded, &args.format)?)
}

/// Runs `tepui sequentialize`.
pub(crate) fn sequentialize(args: &SequentializeArgs) -> Result<Exit> {
    let loaded = load(&args.model)?;
    let form = match args.to {
        SequentialName::Bp => SequentialForm::Tepui,
        SequentialName::C => SequentialForm::C,
        SequentialName::Boogie => SequentialForm::Boogie,
    };
    let text = match &args.back {
        Some(trace) => schedule(&loaded, args.delays, trace)?,
        None => loaded.problem.sequential(args.delays, form)?.text,
    };
    match &args.output {
        Some(path) => {
            output::prepare(&loaded.inputs, std::slice::from_ref(path))?;
            output::write(path, text.as_bytes())?;
        }
        None => print(&text)?,
    }
    loaded.warnings.iter().chain(&loaded.notes).for_each(|diagnostic| complain(diagnostic));
    Ok(Exit::Good)
}

/// The trace of an asynchronous program that one of its sequential program stands for.
fn schedule(loaded: &Loaded, delays: u32, file: &Path) -> Result<String> {
    let traces = match read_text(file)?.map(|text| Trace::from_text(&text)) {
        Ok(Ok(traces)) => traces,
        Ok(Err(unreadable)) => bail!("{}: {unreadable}", file_name(file)),
        Err(reason) => bail!("{}: {reason}", file_name(file)),
    };
    let found = traces.iter().map(|trace| {
        let found = loaded.problem.schedule(delays, trace, &Budget::unlimited())?;
        Ok(loaded.problem.trace_text(&found))
    });
    found.collect()
}

/// Shows what there is to say about a model, or about each of its tests.
fn show_all(args: &ShowArgs) -> Result<Exit> {
    let all = load_all(&args.model, None)?;
    let summaries = all.iter().map(|loaded| Ok(loaded.problem.summary()?)).collect::<Result<Vec<_>>>()?;
    let pairs = || all.iter().zip(&summaries);
    let text = match (args.format == "json", all.len()) {
        (true, 1) => to_json(&json(&all[0], &summaries[0])) + "\n",
        (true, _) => to_json(&pairs().map(|(loaded, one)| json(loaded, one).into()).collect::<Vec<Value>>()) + "\n",
        (false, _) => pairs().map(|(loaded, one)| summary(loaded, one)).collect::<Vec<_>>().join("\n"),
    };
    let extension = if args.format == "json" { "json" } else { "" };
    finish(args, &all[0], &[Printed { extension, text }])
}

/// Prints, or writes to files, and says what is strange about the model.
fn finish(args: &ShowArgs, loaded: &Loaded, printed: &[Printed]) -> Result<Exit> {
    match (&args.output, printed) {
        (Some(path), files) => write_all(loaded, path, &args.format, files)?,
        (None, [first, ..]) => print(&first.text)?,
        (None, []) => {}
    }
    loaded.warnings.iter().chain(&loaded.notes).for_each(|diagnostic| complain(diagnostic));
    Ok(Exit::Good)
}

fn printed(loaded: &Loaded, form: &str) -> Result<Vec<Printed>> {
    let mut forms = loaded.problem.forms();
    if !forms.any(|known| known == form) {
        let known: Vec<_> = loaded.problem.forms().collect();
        let (file, what) = (visible(&loaded.file), loaded.problem.what());
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        bail!("{file} is {what}, which has no form {form}; it has: {known}");
    }
    Ok(loaded.problem.print(form)?)
}

/// Writes the file that was asked for, and those that belong to it.
fn write_all(loaded: &Loaded, path: &Path, form: &str, files: &[Printed]) -> Result<()> {
    require_fitting_name(path, form, files)?;
    let mut outputs: Vec<(PathBuf, &str)> = Vec::new();
    for (number, Printed { extension, text }) in files.iter().enumerate() {
        let own = if number == 0 { path.to_owned() } else { path.with_extension(extension) };
        outputs.push((own, text));
    }
    if let Some(extension) = left_over(path, files) {
        let (path, beside) = (file_name(path), file_name(&path.with_extension(extension)));
        bail!("{path} has no property, but {beside} exists and would be read with it");
    }
    output::prepare(&loaded.inputs, &outputs.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>())?;
    outputs.iter().try_for_each(|(path, text)| output::write(path, text.as_bytes()))
}

/// A file beside the one to be written that would be taken for a part of it.
fn left_over(path: &Path, files: &[Printed]) -> Option<&'static str> {
    let first = files.first()?.extension;
    let language = tepui::languages().find(|language| language.extension == first)?;
    let absent = |own: &&str| files.iter().all(|file| file.extension != *own);
    language.companions.into_iter().flatten().filter(absent).find(|extension| path.with_extension(extension).exists())
}

/// What a file's name promises must be in it.
fn require_fitting_name(path: &Path, form: &str, files: &[Printed]) -> Result<()> {
    let promised = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let written = files.first().map_or("", |file| file.extension);
    if promised != form && promised != written && tepui::forms().any(|(known, _)| known == promised) {
        bail!("a .{promised} file needs --format {promised}");
    }
    if files.len() > 1 && promised != written {
        bail!("the name of a file in the form {form} ends in .{written}");
    }
    Ok(())
}

/// A summary for people.
fn summary(loaded: &Loaded, summary: &Summary) -> String {
    let mut out = format!("{}: {}\n\n", visible(&loaded.name()), summary.what);
    for (label, fact) in &summary.facts {
        let _ = writeln!(out, "  {label:<14} {fact}");
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut rows = summary.threads.iter();
    table.set_header(rows.next().into_iter().flatten());
    rows.for_each(|row| _ = table.add_row(row));
    out.push('\n');
    out.extend(table.to_string().lines().map(|line| format!(" {}\n", line.trim_end())));
    out.push('\n');
    out.extend(summary.lines.iter().map(|line| format!("  {line}").trim_end().to_owned() + "\n"));
    visible_lines(out.trim_end()).into_owned() + "\n"
}

/// A summary for programs.
fn json(loaded: &Loaded, summary: &Summary) -> Map<String, Value> {
    let mut document = Map::new();
    document.insert("tepui_version".to_owned(), env!("CARGO_PKG_VERSION").into());
    document.insert("file".to_owned(), loaded.file.as_str().into());
    document.extend(summary.fields.iter().map(|(name, field)| ((*name).to_owned(), value(field.clone()))));
    document
}

/// A value as JSON.
pub(crate) fn value(field: Field) -> Value {
    match field {
        Field::Number(number) => number.into(),
        Field::Flag(flag) => flag.into(),
        Field::Text(text) => text.into(),
        Field::List(fields) => fields.into_iter().map(value).collect(),
        Field::Named(fields) => fields.into_iter().map(|(name, field)| (name, value(field))).collect(),
        Field::Object(fields) => fields.into_iter().map(|(name, field)| (name.to_owned(), value(field))).collect(),
    }
}
