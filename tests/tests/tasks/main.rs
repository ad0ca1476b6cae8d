//! Asynchronous programs: known answers, schedulers and delays, proofs and forgeries of them.
//!
//! `TEPUI_RANDOM_PROGRAMS=N` compares N random programs in each test instead of the usual number.

#![allow(clippy::unwrap_used)]

mod bounding;
mod corral;
mod delays;
mod forgeries;
mod known;
mod others;
mod sequential;

use tepui_lang::boolean::read_program;
use tepui_lang::source::Source;
use tepui_model::program::Program;

fn program(text: &str) -> Program {
    match read_program(&Source::new("tasks.bp", text.as_bytes()), None, &[]) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{errors:?}\n{text}"),
    }
}

/// How many random programs are compared.
fn programs(usual: u64) -> u64 {
    std::env::var("TEPUI_RANDOM_PROGRAMS").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}
