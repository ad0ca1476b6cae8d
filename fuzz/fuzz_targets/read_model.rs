//! Any bytes, split into the parts that a reader takes: a model or diagnostics, never a panic; and what is printed of a
//! model reads back as the same one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tepui_lang::pushdown::{CubaInput, print_cpds, read_cpds, read_cuba};
use tepui_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let parts: Vec<_> = bytes.splitn(4, |&byte| byte == 0).map(|part| Source::new("fuzz", part)).collect();
    let (main, [init, targets, matching]) = (&parts[0], [1, 2, 3].map(|part| parts.get(part)));
    let cuba = read_cuba(CubaInput { pds: main, init, targets, matching });
    for parsed in [cuba, read_cpds(main, init, targets, matching)].into_iter().flatten() {
        let printed = Source::new("printed", print_cpds(&parsed.model).as_bytes());
        let again = read_cpds(&printed, None, None, None).expect("what was printed can be read");
        assert_eq!(again.model.digest(), parsed.model.digest());
    }
});
