//! No text makes the reader panic, and what it says points into the text.

use fastrand::Rng;
use tepui_lang::diagnostic::LIMIT;
use tepui_lang::rendezvous::{print_rpds, read_rpds};
use tepui_lang::source::Source;

use super::{MODEL, roundtrip};

const PIECES: [&str; 34] = [
    "a",
    "p",
    "7",
    "4294967296",
    "-",
    "->",
    "|",
    ",",
    ".",
    "..",
    "*",
    "+",
    "?",
    "!",
    ":",
    "{",
    "}",
    "(",
    ")",
    "#",
    "\n",
    "_",
    " at ",
    " or ",
    "init ",
    "thread t * ",
    "thread t {\n",
    "action ",
    "handshake ",
    "reach x: ",
    "stack ",
    "control ",
    "\u{fffd}",
    "é",
];

#[test]
fn damaged_texts() {
    let mut rng = Rng::with_seed(5);
    let mut read = 0;
    for round in 0..20_000 {
        let mut text = match rng.u8(0..3) {
            0 => print_rpds(&roundtrip::random(&mut rng)).unwrap(),
            _ => MODEL.to_owned(),
        };
        for _ in 0..rng.usize(1..=4) {
            let place = |rng: &mut Rng, text: &str| {
                let at = rng.usize(0..=text.len());
                (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
            };
            let (from, to) = (place(&mut rng, &text), place(&mut rng, &text));
            match rng.u8(0..4) {
                0 => text.insert_str(from, PIECES[rng.usize(0..PIECES.len())]),
                1 => text.truncate(from),
                2 if from.abs_diff(to) < 12 => text.replace_range(from.min(to)..from.max(to), ""),
                _ => {
                    let copied = text[from.min(to)..from.max(to)].to_owned();
                    text.insert_str(from, &copied);
                }
            }
        }
        match read_rpds(&Source::new("main", text.as_bytes()), None) {
            Ok(parsed) => {
                read += 1;
                let printed = print_rpds(&parsed.model).unwrap();
                let again = read_rpds(&Source::new("printed", printed.as_bytes()), None);
                let again = again.unwrap_or_else(|errors| panic!("round {round}: {errors:?}\n{text}\n---\n{printed}"));
                assert_eq!(again.model.digest(), parsed.model.digest(), "round {round}\n{text}\n---\n{printed}");
            }
            Err(errors) => {
                assert!(!errors.is_empty() && errors.len() <= LIMIT + 1, "round {round}\n{text}");
                for error in &errors {
                    let span = error.span.clone();
                    assert!(span.start <= span.end && text.get(span).is_some(), "round {round}: {error:?}\n{text}");
                }
            }
        }
    }
    assert!(read > 200, "{read}");
}
