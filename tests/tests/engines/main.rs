//! Every engine against the oracle and against each other, on random small systems.
//!
//! `TEPUI_RANDOM_SYSTEMS=N` runs N systems in each test instead of the usual number.

#![allow(clippy::unwrap_used)]

mod agreement;
mod contexts;
mod delays;
mod families;
mod properties;
mod stopped;

use std::panic::resume_unwind;

use tepui_tests::random::Shape;
use tepui_tests::shrink::{self, Case};

/// Calls a test for one seed after the other, on all cores; returns their number and what was counted on each core.
fn for_each_system<T: Default + Send>(usual: u64, test: impl Fn(u64, &mut T) + Sync) -> (u64, Vec<T>) {
    let count = std::env::var("TEPUI_RANDOM_SYSTEMS").ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let test = &test;
    let tallies = std::thread::scope(|scope| {
        let share = |worker| {
            scope.spawn(move || {
                let mut tally = T::default();
                (worker..count).step_by(workers as usize).for_each(|seed| test(seed, &mut tally));
                tally
            })
        };
        let shares: Vec<_> = (0..workers).map(share).collect();
        shares.into_iter().map(|share| share.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    (count, tallies)
}

/// The same for systems that are drawn with the seeds: one that fails is made smaller before it is reported.
fn for_each_model<C: Case, T: Default + Send>(
    usual: u64,
    draw: impl Fn(u64) -> C + Sync,
    test: impl Fn(&C, u64, &mut T) + Sync,
) -> (u64, Vec<T>) {
    for_each_system(usual, |seed, tally| shrink::check(seed, &draw(seed), |model| test(model, seed, tally)))
}

fn shape_of(seed: u64) -> Shape {
    [Shape::Any, Shape::FiniteContext, Shape::Recursive][seed as usize % 3]
}
