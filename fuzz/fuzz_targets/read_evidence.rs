//! Any bytes as a certificate or a trace, and what can be read goes through the checker: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tepui_cert::pushdown::{Certificate, Trace};
use tepui_cert::sealed;
use tepui_check::pushdown::{check, replay};
use tepui_lang::pushdown::read_cpds;
use tepui_lang::source::Source;

const MODEL: &str = "shared a b\nthread t * 2 {\n a x -> b y x\n b y -> a -\n}\ninit a | x, x\nnever p: b | x, x\n";

fuzz_target!(|bytes: &[u8]| {
    let model = read_cpds(&Source::new("model", MODEL.as_bytes()), None, None, None).expect("a model").model;
    let text = String::from_utf8_lossy(bytes);
    if let Ok(mut certificate) = Certificate::from_text(&sealed(&format!("{text}\n"))) {
        certificate.model = model.digest();
        let _ = check(&model, &certificate, &|| false);
    }
    for mut trace in Trace::from_text(&text).into_iter().flatten() {
        trace.model = model.digest();
        let _ = replay(&model, &trace);
    }
});
