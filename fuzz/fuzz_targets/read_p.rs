//! Any bytes as a program in P, as a project file, as a certificate and as a trace: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tepui_cert::queue::{Certificate, Trace};
use tepui_cert::sealed;
use tepui_check::queue::{check, replay};
use tepui_lang::p::{Options, read, read_project};
use tepui_lang::source::Source;

const PROGRAM: &str = "event e: int; machine Main { var n: seq[int]; start state S { entry { send this, e, 1; } \
    on e do (x: int) { n += (0, x); assert sizeof(n) < 3; goto S; } } }";

fuzz_target!(|bytes: &[u8]| {
    let source = Source::new("x.p", bytes);
    let _ = read_project(&source);
    if let Ok(parsed) = read(std::slice::from_ref(&source), Options::default()) {
        for test in parsed.tests.iter().take(2) {
            if let Ok(state) = test.program.initial() {
                let _ = test.program.steps(&state, 0, 2);
            }
        }
    }
    let parsed = read(&[Source::new("x.p", PROGRAM.as_bytes())], Options::default()).expect("a program");
    let program = &parsed.tests[0].program;
    let text = sealed(&format!("{}\n", String::from_utf8_lossy(bytes)));
    if let Ok(mut certificate) = Certificate::from_text(&text) {
        certificate.program = program.digest();
        let _ = check(program, &[], &certificate, &|| false);
    }
    for mut trace in Trace::from_text(&text).into_iter().flatten() {
        trace.program = program.digest();
        let _ = replay(program, &trace);
    }
});
