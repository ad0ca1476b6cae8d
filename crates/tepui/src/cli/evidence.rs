//! `tepui check` and `tepui replay`, and how evidence gets to and from files.

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder, read::MultiGzDecoder};
use tepui_cert::{Certificate, Trace};
use tepui_check::Rejected;
use tepui_lang::boolean::THREAD_LIMIT;
use tepui_report::program::tell;
use tepui_report::{bytes as bytes_text, count, grouped};

use super::args::{CheckArgs, ReplayArgs};
use super::input::{Loaded, LoadedProgram, load};
use super::{Exit, print};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// What a compressed file may unpack to.
const LARGEST_TEXT: u64 = 4 << 30;

/// Runs `tepui check`.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit> {
    let loaded = load(&args.model, None)?;
    let certificate = match read_text(&args.certificate)?.map(|text| Certificate::from_text(&text)) {
        Ok(Ok(certificate)) => certificate,
        Ok(Err(unreadable)) => return rejected(&unreadable.to_string()),
        Err(reason) => return rejected(&reason),
    };
    let (model, _) = loaded.with_digest(&certificate.model)?;
    match tepui_check::check(&model, &certificate) {
        Ok(accepted) => {
            let names: Vec<_> = accepted.properties.iter().filter(|name| *name != THREAD_LIMIT).cloned().collect();
            let proves = match names.as_slice() {
                [] => format!("no other than its {} views can be reached", grouped(accepted.views)),
                names => format!("no schedule violates {}", names.join(", ")),
            };
            let (lemmas, views) = (count(accepted.lemmas as u64, "lemma"), count(accepted.views, "view"));
            let size = format!("{lemmas}, {views} of depth {}", accepted.depth);
            print(&format!("\u{1b}[1;32mACCEPTED\u{1b}[0m  {}: {proves} ({size})\n", loaded.file))?;
            Ok(Exit::Good)
        }
        Err(reason) => rejected_of(&loaded, &reason),
    }
}

/// Runs `tepui replay`.
pub(crate) fn replay(args: &ReplayArgs) -> Result<Exit> {
    let loaded = load(&args.model, None)?;
    let traces = match read_text(&args.trace)?.map(|text| Trace::from_text(&text)) {
        Ok(Ok(traces)) => traces,
        Ok(Err(unreadable)) => return rejected(&unreadable.to_string()),
        Err(reason) => return rejected(&reason),
    };
    for trace in &traces {
        let (model, compiled) = loaded.with_digest(&trace.model)?;
        let replayed = match tepui_check::replay(&model, trace) {
            Ok(replayed) => replayed,
            Err(reason) => return rejected_of(&loaded, &reason),
        };
        let says = match loaded.program().zip(compiled.as_ref()) {
            None => {
                let contexts = count(u64::from(replayed.contexts), "context");
                format!("{} in {contexts} violate {}", count(replayed.steps as u64, "step"), replayed.property)
            }
            Some((LoadedProgram { program, source, .. }, compiled)) => {
                match tepui::execution(program, compiled, trace, &replayed.property) {
                    Ok(execution) => {
                        let run = tell(program, source, &execution);
                        let (steps, contexts) = (run.steps.len() as u64, u64::from(run.contexts()));
                        let steps = format!("{} in {}", count(steps, "step"), count(contexts, "context"));
                        format!("{steps} violate {}, and the program's interpreter agrees", replayed.property)
                    }
                    Err(why) => return rejected(&format!("the program's interpreter cannot follow: {why}")),
                }
            }
        };
        print(&format!("\u{1b}[1;32mACCEPTED\u{1b}[0m  {}: {says}\n", loaded.file))?;
    }
    Ok(Exit::Good)
}

/// Of a program there are several models, one for each choice of options.
fn rejected_of(loaded: &Loaded, reason: &Rejected) -> Result<Exit> {
    let hint = match reason.place == "model" && loaded.program().is_some() {
        true => "\n  next: give the options that it was made with: --deadlock, --label, --no-reduction, --max-threads",
        false => "",
    };
    rejected(&format!("{reason}{hint}"))
}

fn rejected(reason: &str) -> Result<Exit> {
    print(&format!("\u{1b}[1;31mREJECTED\u{1b}[0m  {reason}\n"))?;
    Ok(Exit::Bad)
}

/// The text of a file, unpacked if need be. The inner error is about the content.
fn read_text(path: &Path) -> Result<Result<String, String>> {
    let bytes = super::verify::read_bytes(path)?;
    let mut unpacked = Vec::new();
    let bytes = if bytes.starts_with(&GZIP_MAGIC) {
        let mut decoder = MultiGzDecoder::new(bytes.as_slice()).take(LARGEST_TEXT + 1);
        if let Err(error) = decoder.read_to_end(&mut unpacked) {
            return Ok(Err(format!("the compressed file is damaged: {error}")));
        }
        if unpacked.len() as u64 > LARGEST_TEXT {
            return Ok(Err(format!("the compressed file unpacks to more than {}", bytes_text(LARGEST_TEXT))));
        }
        unpacked
    } else {
        bytes
    };
    Ok(String::from_utf8(bytes).map_err(|_| "the file is not text".to_owned()))
}

/// Writes a text to a file, compressed if the name says so. The same text gives the same bytes.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    let packed = || -> std::io::Result<Vec<u8>> {
        let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes())?;
        encoder.finish()
    };
    let bytes = if path.extension().is_some_and(|extension| extension == "gz") { packed()? } else { text.into() };
    std::fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}
