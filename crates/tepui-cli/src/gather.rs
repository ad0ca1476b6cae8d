//! Finding the files of a model: one, several, all in a folder, or those that a project names.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use tepui::source::Source;
use tepui::{Error, Language};
use tepui_report::visible;

use super::input::refused;
use super::{complain, shown};

/// What a model is read from.
pub(crate) struct Gathered {
    pub(crate) main: Source,
    pub(crate) others: Vec<Source>,
    /// The files.
    pub(crate) inputs: Vec<PathBuf>,
}

/// The texts of a model that was named on the command line.
pub(crate) fn gather(named: &[PathBuf]) -> Result<Gathered> {
    let [only] = named else { return several(named) };
    if only.is_dir() {
        return match projects(only)?.as_slice() {
            [] => several(named),
            [project] => self::project(project),
            many => {
                let names: Vec<_> = many.iter().map(|path| shown(path)).collect();
                bail!("{} has several projects, name one: {}", shown(only), names.join(", "))
            }
        };
    }
    if language(only).is_some_and(|language| language.parts.is_some()) {
        return project(only);
    }
    Ok(Gathered { main: read(only)?, others: Vec::new(), inputs: vec![only.clone()] })
}

/// Several files, and all in some folders, as one model.
fn several(named: &[PathBuf]) -> Result<Gathered> {
    let mut files = Vec::new();
    for path in named {
        let before = files.len();
        collect(path, &mut files)?;
        if files.len() == before {
            bail!("{} has no files that make up a model; name a file", shown(path));
        }
    }
    if let Some(alone) = files.iter().find(|file| !language(file).is_some_and(|language| language.several)) {
        bail!("{} is a model of its own: name it alone", shown(alone));
    }
    gathered(None, files)
}

/// The files that a project names, and those of the projects that it includes.
fn project(file: &Path) -> Result<Gathered> {
    let (mut files, mut known, mut open) = (Vec::new(), Vec::new(), vec![file.to_owned()]);
    while let Some(project) = open.pop() {
        let same = project.canonicalize().with_context(|| format!("cannot read {}", shown(&project)))?;
        if known.contains(&same) {
            continue;
        }
        known.push(same);
        let source = read(&project)?;
        let Some(parts) = language(&project).and_then(|language| language.parts) else {
            bail!("{} is no project", shown(&project));
        };
        let wrong = |found| Error::Refused { diagnostics: vec![found], sources: vec![Some(source.clone())] };
        let parts = parts(&source).map_err(|found| refused(wrong(found)))?;
        let folder = project.parent().unwrap_or(Path::new(""));
        for name in &parts.files {
            match beside(folder, name) {
                Ok(path) => collect(&path, &mut files)?,
                // Folders of foreign code come and go.
                Err(error) => {
                    let warning = "\u{1b}[1;33mwarning\u{1b}[0m";
                    complain(&format!("{warning}: {} names {}: {error}\n", shown(&project), visible(name)));
                }
            }
        }
        for name in &parts.includes {
            open.push(beside(folder, name).with_context(|| format!("{} includes {name}", shown(&project)))?);
        }
    }
    gathered(Some(file), files)
}

/// A path that a project names: relative to itself, or else to the current folder. Either slash parts folders.
fn beside(folder: &Path, name: &str) -> Result<PathBuf> {
    let name = name.replace('\\', "/");
    let own = folder.join(&name);
    let path = if own.exists() { own } else { PathBuf::from(&name) };
    if path.exists() { Ok(path) } else { bail!("there is no such file or folder") }
}

fn gathered(project: Option<&Path>, mut files: Vec<PathBuf>) -> Result<Gathered> {
    files.sort();
    files.dedup_by_key(|file| file.canonicalize().unwrap_or_else(|_| file.clone()));
    let mut others = files.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
    let main = project.map_or_else(|| Ok(others.remove(0)), read)?;
    let inputs = project.map(Path::to_owned).into_iter().chain(files).collect();
    Ok(Gathered { main, others, inputs })
}

/// The projects in a folder.
fn projects(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_project = |path: &PathBuf| language(path).is_some_and(|language| language.parts.is_some());
    Ok(entries(folder)?.into_iter().filter(is_project).collect())
}

/// A file, or all in a folder and below that may be part of a model. Hidden ones are passed over.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in entries(path)? {
        let is_part = language(&entry).is_some_and(|language| language.several);
        // A folder that is a link may lead back to where it stands.
        if entry.is_dir() && !entry.is_symlink() || is_part {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

/// What is in a folder and not hidden, in the order of the names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", shown(folder)))?;
    let mut paths = read.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')));
    paths.sort();
    Ok(paths)
}

fn language(path: &Path) -> Option<&'static Language> {
    let extension = path.extension()?.to_str()?;
    tepui::languages().find(|language| language.extension.eq_ignore_ascii_case(extension))
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<Source> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", shown(path)))?;
    Ok(Source::new(path.display().to_string(), &bytes))
}
