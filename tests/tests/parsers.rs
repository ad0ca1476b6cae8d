//! Texts that are no evidence, or almost: reading them, and checking what could be read, neither panics nor takes
//! long nor takes much memory, and what was read is printed such that it reads the same.
//!
//! Valid certificates and traces are changed byte by byte, word by word and line by line; the seal of a certificate
//! is put right again in most cases, since otherwise nothing behind it would ever be tried. `TEPUI_RANDOM_TEXTS=N`
//! tries N texts of each sort instead of the usual number.

use std::time::{Duration, Instant};

use fastrand::Rng;
use tepui::{Options, SYMBOLIC};
use tepui_cert::pushdown::{Certificate, Rows, Trace};
use tepui_check::pushdown::{check, replay};
use tepui_core::{Budget, Verdict};
use tepui_model::Digest;
use tepui_model::pushdown::Model;
use tepui_tests::facade::{pushdown_trace, verify};
use tepui_tests::random::{Shape, small_model};

const DEFAULT_TEXTS: usize = 100_000;
const SEEDS: u64 = 60;
const LONGEST: Duration = Duration::from_secs(20);
const MOST_MEMORY: u64 = 1 << 30;

/// Words that a reader of numbers, ranges and stacks may stumble over.
const WORDS: [&str; 24] = [
    "0",
    "1",
    "2",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "+1",
    "-",
    "0-4294967295",
    "1-0",
    ":",
    "|",
    "*",
    "#",
    ".",
    "1..1",
    "1.2.3.4.5.6.7.8.9",
    "\u{e4}",
    "\u{0}",
    "\t",
];

const LINES: [&str; 12] = [
    "thread 1",
    "words",
    "words 0 1",
    "below 1 :",
    "below 1 : 0 1",
    "views 0",
    "views 18446744073709551615",
    "0 0 : 0-1",
    "lemma depth 4294967295 threads 65535",
    "never * | * *",
    "step thread 1 rule 1 : 0 | - -",
    "end 0",
];

struct Valid {
    model: Model,
    text: String,
}

fn texts() -> usize {
    std::env::var("TEPUI_RANDOM_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(DEFAULT_TEXTS)
}

/// The certificates and the traces of some small systems.
fn evidence() -> (Vec<Valid>, Vec<Valid>) {
    let (mut certificates, mut traces) = (Vec::new(), Vec::new());
    for seed in 0..SEEDS {
        let model = small_model(&mut Rng::with_seed(seed), Shape::Recursive);
        let cores = tepui::Cores::new(1);
        let options = Options { engine: &SYMBOLIC, bound_limit: Some(vec![4]), cores, ..Options::default() };
        for property in verify(&model, &options, &Budget::unlimited()).expect("there is no matching").properties {
            let model = model.clone();
            match property.verdict {
                Verdict::Safe(proven) => {
                    certificates.push(Valid { model, text: proven.evidence().certificate.to_text() });
                }
                Verdict::Unsafe(refuted) => {
                    let text = pushdown_trace(refuted.trace()).to_text(|step| format!("rule {}", step.rule));
                    traces.push(Valid { model, text });
                }
                Verdict::Unknown(_) => {}
            }
        }
    }
    assert!(certificates.len() > 10 && traces.len() > 10);
    (certificates, traces)
}

fn pick<'a>(rng: &mut Rng, from: &[&'a str]) -> &'a str {
    from[rng.usize(0..from.len())]
}

/// Changes some bytes; what is no longer text is replaced.
fn change_bytes(text: &str, rng: &mut Rng) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..rng.usize(1..=3) {
        let at = rng.usize(0..bytes.len());
        match rng.u32(0..3) {
            0 => bytes[at] = rng.u8(..),
            1 => bytes[at] = b"0123456789 .:|-#\n"[rng.usize(0..17)],
            _ => _ = bytes.remove(at),
        }
        if bytes.is_empty() {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Changes some words, which blanks separate, of one line.
fn change_words(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    let line = rng.usize(0..lines.len());
    let mut words: Vec<_> = lines[line].split(' ').collect();
    let at = rng.usize(0..words.len());
    match rng.u32(0..4) {
        0 => _ = words.remove(at),
        1 => words.insert(at, pick(rng, &WORDS)),
        _ => words[at] = pick(rng, &WORDS),
    }
    lines[line] = words.join(" ");
    lines.join("\n") + "\n"
}

fn change_lines(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<_> = text.lines().collect();
    let (one, other) = (rng.usize(0..lines.len()), rng.usize(0..lines.len()));
    match rng.u32(0..5) {
        0 => _ = lines.remove(one),
        1 => lines.swap(one, other),
        2 => lines.insert(other, lines[one]),
        3 => lines.insert(one, pick(rng, &LINES)),
        _ => lines.truncate(one),
    }
    lines.join("\n") + "\n"
}

fn random_text(rng: &mut Rng) -> String {
    let bytes: Vec<_> = (0..rng.usize(0..200)).map(|_| rng.u8(..)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn change(valid: &[Valid], rng: &mut Rng) -> String {
    let mut text = valid[rng.usize(0..valid.len())].text.clone();
    for _ in 0..rng.usize(1..=3) {
        text = match rng.u32(0..20) {
            0 => random_text(rng),
            1..=5 if !text.is_empty() => change_bytes(&text, rng),
            6..=13 if text.lines().count() > 0 => change_words(&text, rng),
            _ if text.lines().count() > 0 => change_lines(&text, rng),
            _ => random_text(rng),
        };
    }
    text
}

/// The text with a seal that fits.
fn sealed(text: &str) -> String {
    let body = match text.rfind("end ") {
        Some(at) if at == 0 || text.as_bytes()[at - 1] == b'\n' => &text[..at],
        _ => text,
    };
    format!("{body}end {}\n", Digest::of(body.as_bytes()))
}

/// The rows in the order in which they are printed.
fn sorted(table: &Rows) -> Rows {
    let mut rows: Vec<_> = table.iter().collect();
    rows.sort_unstable();
    let mut sorted = Rows::new(table.width());
    rows.into_iter().for_each(|row| sorted.push(row));
    sorted
}

fn read_certificate(text: &str, models: &[Valid]) -> bool {
    let Ok(mut certificate) = Certificate::from_text(text) else { return false };
    for lemma in &mut certificate.lemmas {
        lemma.views = sorted(&lemma.views);
    }
    if let Some(regular) = &mut certificate.regular {
        regular.rows = sorted(&regular.rows);
    }
    assert_eq!(Certificate::from_text(&certificate.to_text()).as_ref(), Ok(&certificate), "{text}");
    for Valid { model, .. } in models {
        certificate.model = model.digest();
        let _ = check(model, &certificate, &|| false);
    }
    true
}

fn read_traces(text: &str, models: &[Valid]) -> bool {
    let Ok(traces) = Trace::from_text(text) else { return false };
    for mut trace in traces {
        let read = Trace::from_text(&trace.to_text(|_| String::new()));
        assert_eq!(read.as_deref(), Ok(std::slice::from_ref(&trace)), "{text}");
        for Valid { model, .. } in models {
            trace.model = model.digest();
            let _ = replay(model, &trace);
        }
    }
    true
}

/// Tries many texts; returns how many of them could be read.
fn try_all(seed: u64, mut make: impl FnMut(&mut Rng) -> String, read: impl Fn(&str) -> bool) -> usize {
    let mut rng = Rng::with_seed(seed);
    let mut readable = 0;
    for _ in 0..texts() {
        let text = make(&mut rng);
        let start = Instant::now();
        readable += usize::from(read(&text));
        assert!(start.elapsed() < LONGEST, "{:?} for\n{text}", start.elapsed());
    }
    if let Some(peak) = peak_memory() {
        assert!(peak < MOST_MEMORY, "{peak} bytes were held");
    }
    readable
}

/// The most memory that this process ever held, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|number| number * 1024)
}

#[test]
fn no_text_upsets_the_reader_of_certificates() {
    let (certificates, _) = evidence();
    let seal = |text: String, rng: &mut Rng| if rng.u32(0..8) > 0 { sealed(&text) } else { text };
    let make = |rng: &mut Rng| {
        let text = change(&certificates, rng);
        seal(text, rng)
    };
    let readable = try_all(1, make, |text| read_certificate(text, &certificates));
    println!("{readable} of {} changed certificates can be read", texts());
    assert!(readable > texts() / 50, "the seal is not put right: {readable}");
}

#[test]
fn no_text_upsets_the_reader_of_traces() {
    let (_, traces) = evidence();
    let readable = try_all(2, |rng| change(&traces, rng), |text| read_traces(text, &traces));
    println!("{readable} of {} changed traces can be read", texts());
    assert!(readable > texts() / 50, "{readable}");
}

#[test]
fn large_numbers_take_no_memory() {
    let head = format!("tepui certificate 1\nmodel {}\n", Digest::of(b""));
    let bodies = [
        "lemma depth 1 threads 65535\n",
        "lemma depth 4294967295 threads 1\nthread 1\nwords 0\nviews 18446744073709551615\n",
        "lemma depth 1 threads 1\nthread 1\nwords 0\nviews 4294967295\n0 : 0-4294967295\n",
        "lemma depth 1 threads 1\nthread 1\nwords 0\nviews 2\n0 : 4294967295-4294967295\n",
        "lemma depth 1 threads 1\nthread 1\nwords 0\nviews 1\n4294967295 : 0\n",
        "lemma depth 1 threads 0\nviews 0\n",
        "lemma depth 1 threads 1\nthread 1\nwords\nviews 0\n",
    ];
    let (certificates, _) = evidence();
    for body in bodies {
        read_certificate(&sealed(&format!("{head}{body}")), &certificates);
    }
    let digest = Digest::of(b"");
    for state in ["4294967295 | 4294967295.4294967295", "0 |", "0 | - - -", "0 | 1.", "0 | .1", "|", "0"] {
        let text = format!("tepui trace 1\nmodel {digest}\nproperty p\nstart {state}\nend 0\n");
        read_traces(&text, &certificates);
    }
}
