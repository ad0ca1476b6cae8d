//! No text makes a reader panic, and what it says points into the text.
//!
//! Valid texts are damaged at random, many times over, and fed to both readers, each as every source. The seed is
//! fixed: a failure prints the texts that caused it.

use fastrand::Rng;
use tepui_lang::diagnostic::{Diagnostic, LIMIT, Severity};
use tepui_lang::pushdown::{Parsed, print_cpds, print_init, print_pds, print_spec};

use crate::{Texts, random, roundtrip};

/// Pieces that mean something somewhere, or nothing anywhere.
const PIECES: [&str; 42] = [
    "0",
    "1",
    "7",
    "a",
    "main",
    "65535",
    "65536",
    "4294967295",
    "4294967296",
    "4000000000",
    "99999999999999999999",
    "-",
    "->",
    "|",
    ",",
    ".",
    "..",
    "*",
    ":",
    "{",
    "}",
    "#",
    "\n",
    "\r\n",
    "\t",
    " ",
    "or",
    "never ",
    "never x-1: ",
    "init ",
    "shared ",
    "shared 0..",
    "thread ",
    "thread t * ",
    "stack ",
    "PDA",
    "PDA 1 2\n",
    "\u{fffd}",
    "é",
    "→",
    "\0",
    "'@$_",
];

#[derive(Clone)]
struct Bytes([Option<Vec<u8>>; 4]);

impl Bytes {
    fn texts(&self) -> Texts {
        let [main, init, targets, matching] = self.0.each_ref().map(Option::as_deref);
        Texts::new(main.unwrap_or_default(), init, targets, matching)
    }
}

/// Valid texts for either reader, from a random model.
fn valid(rng: &mut Rng) -> Bytes {
    let model = random::model(rng.u64(..));
    let matching = "PDA\n1 1\n".repeat(model.threads().len());
    let sources = match rng.bool() {
        true => [Some(print_cpds(&model)), None, None, Some(matching)],
        false => [Some(print_pds(&model)), Some(print_init(&model)), Some(print_spec(&model)), Some(matching)],
    };
    let mut bytes = Bytes(sources.map(|text| text.map(String::into_bytes)));
    for source in bytes.0.iter_mut().skip(1).filter(|_| rng.u8(..5) == 0) {
        *source = None;
    }
    bytes
}

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let (from, to) = (place(rng, bytes), place(rng, bytes));
    let (from, to) = (from.min(to), from.max(to).min(from.min(to) + rng.usize(..30)));
    let piece = PIECES[rng.usize(..PIECES.len())].as_bytes();
    match rng.u8(..9) {
        0 => drop(bytes.drain(from..to)),
        1 => drop(bytes.splice(to..to, bytes[from..to].to_vec())),
        2 if from < to => bytes.swap(from, to - 1),
        3 => drop(bytes.splice(from..from, [rng.u8(..)])),
        4 => bytes.truncate(to),
        5 => drop(bytes.splice(from..to, piece.iter().copied())),
        6 => replace_word(rng, bytes, from),
        7 => swap_lines(rng, bytes),
        _ => drop(bytes.splice(from..from, piece.iter().copied())),
    }
}

fn place(rng: &mut Rng, bytes: &[u8]) -> usize {
    rng.usize(..=bytes.len())
}

/// Puts a piece in place of the word at a position.
fn replace_word(rng: &mut Rng, bytes: &mut Vec<u8>, at: usize) {
    let inside = |byte: &&u8| byte.is_ascii_alphanumeric();
    let from = at - bytes[..at].iter().rev().take_while(inside).count();
    let to = at + bytes[at..].iter().take_while(inside).count();
    bytes.splice(from..to, PIECES[rng.usize(..PIECES.len())].bytes());
}

fn swap_lines(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let mut lines: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
    let (one, other) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    lines.swap(one, other);
    *bytes = lines.join(&b'\n');
}

fn sound(texts: &Texts, diagnostic: &Diagnostic) -> bool {
    let Some(Some(source)) = texts.0.get(diagnostic.source) else { return false };
    source.text.get(diagnostic.span.clone()).is_some() && !diagnostic.message.is_empty()
}

/// What must hold of every reading.
fn judge(texts: &Texts, result: &Result<Parsed, Vec<Diagnostic>>) {
    let said = match result {
        Ok(parsed) => &parsed.warnings,
        Err(errors) => errors,
    };
    assert!(said.len() <= LIMIT + 1 && said.iter().all(|diagnostic| sound(texts, diagnostic)), "{said:?}");
    match result {
        Ok(parsed) => {
            roundtrip::check(&parsed.model);
            let sections = parsed.matching.as_ref().map(|matching| matching.0.len());
            assert!(sections.is_none_or(|sections| sections == parsed.model.threads().len()));
        }
        Err(errors) => assert!(errors.iter().any(|error| error.severity == Severity::Error)),
    }
}

/// Runs both readers; the number of those that accept.
fn run(bytes: &Bytes) -> usize {
    let texts = bytes.texts();
    let outcome = std::panic::catch_unwind(|| {
        let results = [texts.cuba(), texts.cpds()];
        results.iter().for_each(|result| judge(&texts, result));
        results.iter().filter(|result| result.is_ok()).count()
    });
    outcome.unwrap_or_else(|_| panic!("these texts do harm:\n{texts:#?}"))
}

#[test]
fn damaged_texts_do_no_harm() {
    let rng = &mut Rng::with_seed(0x7e9);
    let (mut accepted, runs) = (0, 40_000);
    for _ in 0..runs {
        let mut bytes = valid(rng);
        for _ in 0..rng.usize(1..5) {
            let source = rng.usize(..4);
            bytes.0[source].iter_mut().for_each(|source| mutate(rng, source));
        }
        accepted += run(&bytes);
    }
    assert!(accepted > runs / 10 && accepted < runs, "{accepted} of {runs} were accepted: the damage is of no use");
}

#[test]
fn random_texts_do_no_harm() {
    let rng = &mut Rng::with_seed(0x7ea);
    for _ in 0..20_000 {
        let sources = std::array::from_fn(|_| {
            let mut text = Vec::new();
            for _ in 0..rng.usize(..40) {
                match rng.u8(..10) {
                    0 => text.push(rng.u8(..)),
                    _ => text.extend(PIECES[rng.usize(..PIECES.len())].bytes().chain(rng.bool().then_some(b' '))),
                }
            }
            Some(text)
        });
        run(&Bytes(sources));
    }
}

#[test]
fn length_is_no_harm() {
    let long = |piece: &str| piece.repeat(300_000 / piece.len()).into_bytes();
    let (cpds, pds) = (b"shared q\nthread t {\nq a -> q b\n}\ninit q | a\n".to_vec(), b"2\nPDA\n0 1 -> 1 1\n".to_vec());
    for piece in
        PIECES.into_iter().chain(["a.", "a,", "1.", "1,", "0|1 or ", "{ }", "a-", "thread t {", "x y -> ", "%,"])
    {
        for (start, init) in [(&cpds, "init q | "), (&pds, "0|")] {
            let main = [start.as_slice(), &long(piece)].concat();
            run(&Bytes([Some(main), None, None, None]));
            let other = [init.as_bytes(), &long(piece)].concat();
            run(&Bytes([Some(start.clone()), Some(other.clone()), Some(other), Some(long(piece))]));
        }
    }
}

#[test]
fn many_unknown_names_are_no_harm() {
    let names = |letter: &str| (0..30_000).map(|number| format!("{letter}{number}")).collect::<Vec<_>>();
    let rules: String = names("a").iter().map(|name| format!("q {name} -> q -\n")).collect();
    let stack = names("a").join(" ");
    let init = names("b").join(".");
    for stack in [String::new(), format!("stack {stack}\n")] {
        let text = format!("shared q r\nthread t {{\n{stack}{rules}\n}}\ninit q | {init}\nnever q | {init}");
        run(&Bytes([Some(text.into_bytes()), None, None, None]));
    }
}
