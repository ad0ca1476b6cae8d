//! Any bytes as a Boolean program in each dialect: a program or diagnostics, never a panic; what is printed reads back,
//! and what was read can be compiled, or there is a reason.
#![no_main]

use std::sync::atomic::{AtomicU32, Ordering};

use libfuzzer_sys::fuzz_target;
use tepui_engines::program::Patience;
use tepui_engines::program::table::{Options, compile};
use tepui_lang::boolean::{Dialect, print_program, read_program};
use tepui_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::new("fuzz", bytes);
    for dialect in [Dialect::Tepui, Dialect::Satabs, Dialect::Boppo, Dialect::Getafix] {
        let Ok(parsed) = read_program(&source, Some(dialect), &[]) else { continue };
        let printed = Source::new("printed", print_program(&parsed.program).as_bytes());
        read_program(&printed, Some(Dialect::Tepui), &[]).expect("what was printed can be read");
        let looks = AtomicU32::new(0);
        let patience = Patience::until(move || looks.fetch_add(1, Ordering::Relaxed) > 20);
        let _ = compile(&parsed.program, Options::default(), &patience);
    }
});
