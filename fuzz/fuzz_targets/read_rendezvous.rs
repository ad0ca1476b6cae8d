//! Any bytes as a communicating system, as a certificate and as a trace: no panic, and what is printed reads back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tepui_cert::{Certificate, Trace, rendezvous, sealed};
use tepui_check::rendezvous::{check, replay};
use tepui_lang::rendezvous::{print_rpds, read_rpds, read_spade};
use tepui_lang::source::Source;

const MODEL: &str = "action a: t, u\nthread t {\n init p x\n p x -> p x x : a\n p x -> q -\n}\nthread u {\n init p -\n p - -> p - : a\n}\nreach r: t at q x";

fuzz_target!(|bytes: &[u8]| {
    let source = Source::new("model", bytes);
    for parsed in [read_rpds(&source, None), read_spade(&source)].into_iter().flatten() {
        if let Ok(printed) = print_rpds(&parsed.model) {
            let again = read_rpds(&Source::new("printed", printed.as_bytes()), None).expect("what is printed reads back");
            assert_eq!(again.model.digest(), parsed.model.digest());
        }
    }
    let model = read_rpds(&Source::new("model", MODEL.as_bytes()), None).expect("a model").model;
    let digest = model.digest();
    let text = String::from_utf8_lossy(bytes);
    if let Ok(Certificate::Rendezvous(mut certificate)) = Certificate::from_text(&sealed(&format!("{text}\n"))) {
        match &mut certificate {
            rendezvous::Certificate::Languages(languages) => languages.model = digest,
            rendezvous::Certificate::Views(views) => views.model = digest,
        }
        let _ = check(&model, &certificate, &|| false);
    }
    for trace in Trace::from_text(&text).into_iter().flatten() {
        if let Trace::Rendezvous(mut trace) = trace {
            trace.model = digest;
            let _ = replay(&model, &trace);
        }
    }
});
