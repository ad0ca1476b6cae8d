//! Any bytes as a certificate about a program: no panic, and nothing is accepted for a program that is wrong.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tepui_cert::{Certificate, sealed};
use tepui_lang::boolean::read_program;
use tepui_lang::source::Source;

/// A program whose assertion fails.
const WRONG: &str = "decl s, t := 0; void p(x) { s := x; p(!x); assert(!s); } void main() { thread p(1); thread p(0); }";

fuzz_target!(|bytes: &[u8]| {
    let source = Source::new("wrong", WRONG.as_bytes());
    let program = read_program(&source, None, &[]).expect("a program").program;
    let properties = program.properties(false);
    let text = sealed(&format!("{}\n", String::from_utf8_lossy(bytes)));
    let Ok(Certificate::Program(mut certificate)) = Certificate::from_text(&text) else { return };
    certificate.program = program.digest();
    certificate.properties = properties.clone();
    let looks = std::cell::Cell::new(0);
    let stop = || looks.replace(looks.get() + 1) > 1_000;
    assert!(tepui_check::program::check(&program, &properties, &certificate, &stop).is_err());
});
