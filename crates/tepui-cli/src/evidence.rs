//! `tepui check` and `tepui replay`, and how evidence gets to and from files.

use std::io::{Read as _, Write as _};
use std::path::Path;

use anyhow::Result;
use flate2::{Compression, GzBuilder, read::MultiGzDecoder};
use tepui::{Accepted, Certificate, Digest, Refusal, Replayed, Trace};
use tepui_report::{bytes as bytes_text, count, grouped, visible};

use super::args::{CheckArgs, LimitArgs, ReplayArgs};
use super::input::{Loaded, load_all};
use super::limits::{Limits, within};
use super::{Exit, output, print};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// What a compressed file may unpack to.
const LARGEST_TEXT: u64 = 4 << 30;

/// What a judge says, and how the command ends.
type Judgement = (String, Exit);

/// Runs `tepui check`.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit> {
    let (limits, file, args) = (args.limits, visible(&args.model.name()).into_owned(), args.clone());
    judge(&limits, &file, move |stop| checked(&args, stop))
}

/// Runs `tepui replay`.
pub(crate) fn replay(args: &ReplayArgs) -> Result<Exit> {
    let (limits, file, args) = (args.limits, visible(&args.model.name()).into_owned(), args.clone());
    judge(&limits, &file, move |stop| replayed(&args, stop))
}

/// Asks a judge within limits. Whoever does not look at the signal to stop is left behind when a limit is reached.
fn judge(
    limits: &LimitArgs,
    file: &str,
    judge: impl FnOnce(&dyn Fn() -> bool) -> Result<Judgement> + Send + 'static,
) -> Result<Exit> {
    let (says, exit) = match within(Limits::of(limits, false), judge) {
        Ok(judgement) => judgement?,
        Err(limit) => (format!("\u{1b}[1;33mUNKNOWN\u{1b}[0m  {file}: {limit}\n"), Exit::Unknown),
    };
    print(&says)?;
    Ok(exit)
}

fn checked(args: &CheckArgs, stop: &dyn Fn() -> bool) -> Result<Judgement> {
    let all = load_all(&args.model, None)?;
    let certificate = match read_text(&args.certificate)?.map(|text| Certificate::from_text(&text)) {
        Ok(Ok(certificate)) => certificate,
        Ok(Err(unreadable)) => return rejected(&unreadable.to_string()),
        Err(reason) => return rejected(&reason),
    };
    let loaded = meant(&all, certificate.model());
    match loaded.problem.check(&certificate, stop) {
        Ok(checked) => Ok((accepted_of(loaded, &proves(&checked.accepted)), Exit::Good)),
        Err(refusal) => rejected_of(loaded, &refusal, "--certificate"),
    }
}

/// What an accepted certificate proves, and how.
fn proves(accepted: &Accepted) -> String {
    let claim = |properties: &[String]| {
        (!properties.is_empty()).then(|| format!("no schedule violates {}", properties.join(", ")))
    };
    match accepted {
        Accepted::Views(accepted) => {
            let others = || format!("no views other than its {} can be reached", grouped(accepted.views));
            let (lemmas, views) = (count(accepted.lemmas as u64, "lemma"), count(accepted.views, "view"));
            let proves = claim(&accepted.properties).unwrap_or_else(others);
            let reduced = if accepted.reduced { ", where some threads wait" } else { "" };
            format!("{proves} ({lemmas}, {views} of depth {}{reduced})", accepted.depth)
        }
        Accepted::Regular { properties, rows, languages } => {
            let others = || "no states but those of its rows can be reached".to_owned();
            let proves = claim(properties).unwrap_or_else(others);
            format!("{proves} ({} of {})", count(*rows as u64, "row"), count(*languages as u64, "regular set"))
        }
        Accepted::Rows { properties, rows, assumed } => {
            let others = || "no states but those of its rows can be reached".to_owned();
            let rows = count(*rows as u64, "abstract state");
            let assumed: String = assumed.iter().map(|assumed| format!("; note: {assumed}")).collect();
            format!("{} ({rows}, for queues of any length){assumed}", claim(properties).unwrap_or_else(others))
        }
        Accepted::Lemmas(accepted) => {
            let nothing = || "nothing is claimed".to_owned();
            let lemmas = match accepted.lemmas {
                1 => "1 lemma".to_owned(),
                many => format!("{} lemmas", grouped(many as u64)),
            };
            format!("{} ({lemmas}, for any number of threads)", claim(&accepted.properties).unwrap_or_else(nothing))
        }
        Accepted::Tasks(accepted) => {
            let nothing = || "nothing is claimed".to_owned();
            let entries = match accepted.entries {
                1 => "1 entry".to_owned(),
                many => format!("{} entries", grouped(many as u64)),
            };
            let markings = count(accepted.markings as u64, "marking");
            format!("{} ({entries}, {markings})", claim(&accepted.properties).unwrap_or_else(nothing))
        }
        Accepted::Languages(compared) => {
            let nothing = || "nothing is claimed".to_owned();
            let automata = match compared.automata {
                1 => "1 automaton".to_owned(),
                many => format!("{} automata", grouped(many as u64)),
            };
            format!(
                "{} ({automata} with {})",
                claim(&compared.properties).unwrap_or_else(nothing),
                count(compared.states as u64, "state")
            )
        }
    }
}

fn replayed(args: &ReplayArgs, stop: &dyn Fn() -> bool) -> Result<Judgement> {
    let all = load_all(&args.model, None)?;
    let mut says = String::new();
    let traces = match read_text(&args.trace)?.map(|text| Trace::from_text(&text)) {
        Ok(Ok(traces)) => traces,
        Ok(Err(unreadable)) => return rejected(&unreadable.to_string()),
        Err(reason) => return rejected(&reason),
    };
    for trace in &traces {
        let (text, exit) = replayed_one(meant(&all, trace.model()), trace, stop)?;
        says += &text;
        // When the signal comes, nobody waits for what is said.
        if exit != Exit::Good || stop() {
            return Ok((says, exit));
        }
    }
    Ok((says, Exit::Good))
}

fn replayed_one(loaded: &Loaded, trace: &Trace, stop: &dyn Fn() -> bool) -> Result<Judgement> {
    match loaded.problem.replay(trace, stop) {
        Ok(Replayed { property, steps, contexts, confirmed_by }) => {
            let length = format!("{} in {}", count(steps as u64, "step"), count(u64::from(contexts), "context"));
            let agrees = confirmed_by.map_or(String::new(), |who| format!(", and {who} agrees"));
            Ok((accepted_of(loaded, &format!("{length} violate {property}{agrees}")), Exit::Good))
        }
        Err(refusal) => rejected_of(loaded, &refusal, "--trace"),
    }
}

fn accepted_of(loaded: &Loaded, says: &str) -> String {
    format!("\u{1b}[1;32mACCEPTED\u{1b}[0m  {}: {}\n", visible(&loaded.name()), visible(says))
}

/// The test that evidence is about. If it is about none, the first one may say so.
fn meant(all: &[Loaded], digest: Digest) -> &Loaded {
    let same = |loaded: &&Loaded| loaded.problem.digest() == digest;
    all.iter().find(same).unwrap_or(&all[0])
}

/// Of one text there may be several models, one for each choice of options.
fn rejected_of(loaded: &Loaded, refusal: &Refusal, option: &str) -> Result<Judgement> {
    let next = match refusal {
        Refusal::Rejected(rejected) if rejected.place == "model" => {
            loaded.problem.same_options().map(|options| format!("  next: {options}\n"))
        }
        Refusal::Rejected(rejected) if rejected.place == "kind" => {
            Some(format!("  next: make a new one with `tepui verify {} {option} FILE`\n", loaded.again))
        }
        Refusal::Rejected(rejected) if rejected.place.starts_with("property ") => {
            Some("  next: --property NAME judges the property that it was made for\n".to_owned())
        }
        _ => None,
    };
    rejected(&refusal.to_string()).map(|(says, exit)| (says + &next.unwrap_or_default(), exit))
}

fn rejected(reason: &str) -> Result<Judgement> {
    Ok((format!("\u{1b}[1;31mREJECTED\u{1b}[0m  {}\n", visible(reason)), Exit::Bad))
}

/// The text of a file, unpacked if need be. The inner error is about the content.
pub(crate) fn read_text(path: &Path) -> Result<Result<String, String>> {
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
    output::write(path, &bytes)
}
