//! Files that a run writes: none of them destroys what the run reads or another one of them, and none is left half
//! written.
//!
//! Files are compared by identity, not by name: links of both kinds lead to the same file under other names. A file is
//! written beside its place and then renamed, so that a crash or a full disk leaves the old one. Streams (pipes, devices,
//! standard output) are written directly.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::shown;

/// How many symbolic links lead to a file at most.
const MOST_LINKS: usize = 40;

/// Names that are tried for the file beside the place.
const MOST_NAMES: usize = 100;

/// What makes a file the same file.
#[derive(PartialEq, Eq, Debug)]
enum Identity {
    /// Device and number of a file that exists.
    Existing(u64, u64),
    /// Where a file would be.
    Place(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(found) => Self::of_existing(path, &found),
            Err(_) => Self::Place(place(path)),
        }
    }

    #[cfg(unix)]
    fn of_existing(_: &Path, found: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self::Existing(found.dev(), found.ino())
    }

    #[cfg(not(unix))]
    fn of_existing(path: &Path, _: &fs::Metadata) -> Self {
        Self::Place(place(path))
    }
}

/// The file that a path leads to, whether it exists or not: links are followed, and the folder has one name only.
fn place(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = folder(&path).join(target);
    }
    let name = path.file_name().map(ToOwned::to_owned).unwrap_or_default();
    match folder(&path).canonicalize() {
        Ok(folder) => folder.join(name),
        Err(_) => std::path::absolute(&path).unwrap_or(path),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a path stands for something that bytes are sent to, not for a file that holds them. A descriptor may belong to a
/// file, but whoever opened it goes on writing there.
fn is_stream(path: &Path) -> bool {
    let descriptor = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|start| path.starts_with(start));
    descriptor || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// A result must not be lost because its file cannot be written, nor must it destroy the model: looks before the run. The
/// first input is the model.
pub fn prepare(inputs: &[PathBuf], outputs: &[PathBuf]) -> Result<()> {
    for (index, path) in outputs.iter().enumerate() {
        if path == Path::new("-") {
            bail!("cannot write to -: the report is on standard output, name a file");
        }
        if is_stream(path) {
            continue;
        }
        if let Some(why) = clash(path, inputs, &outputs[..index]) {
            bail!("cannot write {}: {why}", shown(path));
        }
        try_out(path).with_context(|| format!("cannot write {}", shown(path)))?;
    }
    Ok(())
}

/// Why a file must not be written.
fn clash(path: &Path, inputs: &[PathBuf], others: &[PathBuf]) -> Option<&'static str> {
    let identity = Identity::of(path);
    let same = |other: &PathBuf| Identity::of(other) == identity;
    let to_stdout = || fs::metadata(path).is_ok() && Identity::of(Path::new("/dev/stdout")) == identity;
    match inputs {
        [model, ..] if same(model) => Some("it is the model"),
        inputs if inputs.iter().any(same) => Some("it belongs to the model"),
        _ if others.iter().any(same) => Some("two outputs cannot share a file"),
        _ if to_stdout() => Some("standard output goes there"),
        _ => None,
    }
}

/// Finds out whether a file can be written, without changing it.
fn try_out(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Ok(_) => drop(OpenOptions::new().append(true).open(path)?),
        Err(_) => {}
    }
    let (beside, _) = beside(&place(path))?;
    fs::remove_file(beside)
}

/// A new file in the same folder.
fn beside(place: &Path) -> io::Result<(PathBuf, File)> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let mut last = ErrorKind::AlreadyExists.into();
    for number in 0..MOST_NAMES {
        let path = place.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Writes a file: the whole new content is there in the end, or the old one still is.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = if is_stream(path) { send(path, bytes) } else { replace(&place(path), bytes) };
    written.with_context(|| format!("cannot write {}", shown(path)))
}

fn send(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let sent = match path.to_str() {
        Some("/dev/stdout") => io::stdout().write_all(bytes).and_then(|()| io::stdout().flush()),
        Some("/dev/stderr") => io::stderr().write_all(bytes),
        _ => OpenOptions::new().write(true).open(path)?.write_all(bytes),
    };
    match sent {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        sent => sent,
    }
}

fn replace(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let (beside, mut file) = beside(place)?;
    let kept = fs::metadata(place).ok().map(|old| old.permissions());
    let complete = kept
        .map_or(Ok(()), |permissions| fs::set_permissions(&beside, permissions))
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&beside, place));
    if complete.is_err() {
        // The failure is reported; that something is left over beside the file as well is of less interest.
        let _ = fs::remove_file(&beside);
    }
    complete
}
