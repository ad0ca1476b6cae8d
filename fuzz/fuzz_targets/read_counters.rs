//! Any bytes as a net, as a thread transition system, as a certificate and as a trace: no panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tepui_cert::{Certificate, Trace, sealed};
use tepui_check::counters::{check, replay};
use tepui_lang::counters::{AtStart, read_spec, read_tts};
use tepui_lang::source::Source;

const MODEL: &str = "vars a b c rules a >= 1 -> a' = a - 1, b' = b + 1; b >= 1 -> a' = a + b, b' = 0; init a >= 1, b = 0, c = 1 target b >= 2, c >= 1";

fuzz_target!(|bytes: &[u8]| {
    let source = Source::new("model", bytes);
    let _ = read_spec(&source, Some(&source));
    let _ = read_tts(&source, Some(&source), AtStart::Any);
    let net = read_spec(&Source::new("model", MODEL.as_bytes()), None).expect("a model").net;
    let text = String::from_utf8_lossy(bytes);
    if let Ok(Certificate::Counters(mut certificate)) = Certificate::from_text(&sealed(&format!("{text}\n"))) {
        certificate.model = net.digest();
        let _ = check(&net, &["target".to_owned()], &certificate, &|| false);
    }
    for trace in Trace::from_text(&text).into_iter().flatten() {
        if let Trace::Counters(mut trace) = trace {
            trace.model = net.digest();
            let _ = replay(&net, &trace);
        }
    }
});
