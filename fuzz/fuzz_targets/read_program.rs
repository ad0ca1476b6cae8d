//! Any bytes as a Boolean program in each dialect: a program or diagnostics, never a panic; what is printed reads back,
//! and what was read can be compiled, or there is a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tepui_engines::program::table::{Options, compile};
use tepui_lang::boolean::{Dialect, print_program, read_program};
use tepui_lang::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let source = Source::new("fuzz", bytes);
    for dialect in [Dialect::Tepui, Dialect::Satabs, Dialect::Boppo, Dialect::Getafix] {
        let Ok(parsed) = read_program(&source, Some(dialect), &[]) else { continue };
        let printed = Source::new("printed", print_program(&parsed.program).as_bytes());
        read_program(&printed, Some(Dialect::Tepui), &[]).expect("what was printed can be read");
        let looks = std::cell::Cell::new(0);
        let stop = || looks.replace(looks.get() + 1) > 20;
        let _ = compile(&parsed.program, Options::default(), &stop);
    }
});
