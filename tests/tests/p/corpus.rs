//! P programs that others wrote, with what is known about them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tepui_engines::queue::explorer::Explorer;
use tepui_engines::queue::summary::Precision;
use tepui_lang::p::{Dialect, Options, Parsed, Send, TestCase, read, read_project};
use tepui_lang::source::Source;
use tepui_model::queue::Program;
use tepui_tests::corpus::corpus;
use tepui_tests::queues::{Explored, explore};

/// All sources of a project, or under a folder, in the order of their names.
pub(super) fn sources(folder: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    let project = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "pproj");
    let entries = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    match entries.filter(project).collect::<Vec<_>>().as_slice() {
        [project] => include(project, &mut files),
        _ => collect(folder, &mut files),
    }
    files.sort();
    files.dedup();
    files.iter().map(|file| Source::new(file.display().to_string(), &std::fs::read(file).unwrap())).collect()
}

/// The sources of a project and of those that it includes.
fn include(project: &Path, files: &mut Vec<PathBuf>) {
    let source = Source::new("project", &std::fs::read(project).unwrap());
    let read = read_project(&source).unwrap();
    let folder = project.parent().unwrap();
    for file in read.files.iter().map(|file| folder.join(file)).filter(|file| file.exists()) {
        collect(&file, files);
    }
    read.includes.iter().for_each(|other| include(&folder.join(other), files));
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "p") {
            collect(&path, files);
        }
    }
}

/// The rows of a table, by the names of its columns.
pub(super) fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    lines.map(|line| head.iter().cloned().zip(line).collect()).collect()
}

fn read_all(path: &Path, dialect: Dialect) -> Result<Parsed, String> {
    let sources = sources(path);
    read(&sources, Options { dialect: Some(dialect), ..Options::default() }).map_err(|errors| {
        let shown = errors.iter().map(|error| {
            let (line, column) = sources[error.source].position(error.span.start);
            format!("{}:{line}:{column}: {} ({})", sources[error.source].name, error.message, error.label)
        });
        shown.collect::<Vec<_>>().join("\n")
    })
}

#[test]
#[ignore = "needs the corpus"]
fn programs_of_today_are_read_or_refused() {
    let folder = corpus().join("p/today");
    let (mut wrong, mut counts) = (Vec::new(), BTreeMap::<String, usize>::new());
    for row in table(&folder.join("expected.tsv")) {
        // Those without a test are for another back end of P.
        if row["class"] == "no-test" {
            continue;
        }
        let refused = row["class"] == "static-error";
        *counts.entry(row["class"].clone()).or_default() += 1;
        match (read_all(&folder.join(&row["path"]), Dialect::Today), refused) {
            (Ok(_), true) => wrong.push(format!("{}: not refused; {}", row["path"], row["detail"])),
            (Err(why), false) => wrong.push(format!("{}: {why}", row["path"])),
            _ => {}
        }
    }
    println!("{counts:?}");
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs the corpus"]
fn programs_of_the_old_dialect_are_read() {
    let folder = corpus().join("p/old");
    let rows = table(&folder.join("expected.tsv"));
    assert!(rows.len() >= 14);
    for row in rows {
        let read = read_all(&folder.join(&row["dir"]), Dialect::Old);
        assert!(read.is_ok(), "{}: {}", row["dir"], read.err().unwrap_or_default());
    }
}

/// What is wrong with what an exploration found, given what is known.
fn judge(found: &Explored, verdict: &str, kind: &str) -> Option<String> {
    let errors: Vec<_> = found.errors.iter().map(|(error, (steps, _))| (error.name(), *steps)).collect();
    let shown =
        format!("{} states, complete: {}, unknown: {:?}, {errors:?}", found.states, found.complete, found.unknown);
    match verdict {
        "unsafe" => {
            let named = kind.replace(' ', "-");
            let shortest = errors.iter().min_by_key(|(_, steps)| *steps);
            shortest.is_none_or(|(name, _)| *name != named).then(|| format!("expected {kind}: {shown}"))
        }
        _ => (!errors.is_empty()).then(|| format!("expected no error: {shown}")),
    }
}

/// How the engine's search differs from the slow one.
fn differs(program: &Program, found: &Explored) -> Option<String> {
    let precision = vec![Precision::EXACT; program.kinds.len()];
    let mut explorer = Explorer::new(Arc::new(program.clone()), precision, 8);
    let done = explorer.run(&mut |_| false);
    let (errors, expected): (Vec<_>, Vec<_>) = (explorer.errors().keys().collect(), found.errors.keys().collect());
    let same = done && errors == expected && explorer.len() <= found.states.max(1) && !explorer.has_refused();
    (!same).then(|| format!("{} states and {errors:?}, {} and {expected:?}", explorer.len(), found.states))
}

#[test]
#[ignore = "needs the corpus"]
fn programs_of_today_do_what_is_known() {
    let folder = corpus().join("p/today");
    let (mut wrong, mut complete, mut partial) = (Vec::new(), 0, 0);
    for row in table(&folder.join("expected.tsv")) {
        let small = row["path"].starts_with("regression");
        if !small || !matches!(row["oracle"].as_str(), "safe" | "unsafe") || row["kind"] == "liveness" {
            continue;
        }
        let sources = sources(&folder.join(&row["path"]));
        let options = Options { dialect: Some(Dialect::Today), send: Send::Atomic, ..Options::default() };
        let Ok(parsed) = read(&sources, options) else { panic!("{} is not read", row["path"]) };
        let wanted = |test: &&TestCase| row["test"].is_empty() || test.name == row["test"];
        let Some(test) = parsed.tests.iter().find(wanted) else {
            wrong.push(format!("{}: there is no test {}", row["path"], row["test"]));
            continue;
        };
        let found = explore(&test.program, 8, 3_000);
        complete += usize::from(found.complete);
        partial += usize::from(!found.complete);
        wrong.extend(judge(&found, &row["oracle"], &row["kind"]).map(|why| format!("{}: {why}", row["path"])));
        if found.complete {
            wrong.extend(differs(&test.program, &found).map(|why| format!("{}: {why}", row["path"])));
        }
    }
    println!("{complete} complete, {partial} not");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs the corpus"]
fn programs_of_the_old_dialect_do_what_is_known() {
    let folder = corpus().join("p/old");
    let mut wrong = Vec::new();
    for row in table(&folder.join("expected.tsv")) {
        let sources = sources(&folder.join(&row["dir"]));
        let options = Options { dialect: Some(Dialect::Old), ..Options::default() };
        let Ok(parsed) = read(&sources, options) else { panic!("{} is not read", row["dir"]) };
        let [test] = parsed.tests.as_slice() else { panic!("{}: {} tests", row["dir"], parsed.tests.len()) };
        let found = explore(&test.program, 2, 4_000);
        let kind = row["error"].split(':').next().unwrap_or_default();
        let kind = if kind.starts_with("a step that never ends") { "diverges" } else { kind };
        println!("{}: {} states, {:?}", row["name"], found.states, found.errors.keys());
        // Its error is too deep for this search.
        if row["name"] != "TokenRing-buggy" {
            wrong.extend(judge(&found, &row["verdict"], kind).map(|why| format!("{}: {why}", row["dir"])));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[ignore = "needs the corpus"]
fn parametric_tests_have_the_instances_that_are_known() {
    let folder = corpus().join("p/today/regression/Feature1SMLevelDecls/Correct/ParamTest");
    let names = std::fs::read_to_string(folder.join("ExpectedParametricTests.txt")).unwrap();
    let parsed = read_all(&folder, Dialect::Today).unwrap();
    let found: Vec<_> = parsed.tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(found, names.lines().map(str::trim).filter(|name| !name.is_empty()).collect::<Vec<_>>());
}
