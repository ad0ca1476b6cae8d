//! Programs of machines with queues.

mod atoms;
mod claims;
pub mod cover;
mod distances;
mod endless;
mod evidence;
pub mod explorer;
mod follow;
pub mod handlers;
mod liveness;
pub mod machines;
mod names;
pub mod queues;
pub mod slice;
mod suggest;
pub mod summary;
mod symmetry;
pub mod tables;
pub mod views;
pub mod walk;

use tepui_core::{Budget, Stop};
use tepui_model::queue::Program;
use tepui_model::queue::state::Cannot;

use explorer::Explorer;

/// Lets a search go on within a budget. What it says is whether it came to its end; it may also stop by itself before.
fn spend_on(
    explorer: &mut Explorer,
    budget: &mut Budget,
    search: impl FnOnce(&mut Explorer, &mut dyn FnMut(&Explorer) -> bool) -> bool,
) -> Result<bool, Stop> {
    let (mut spent, mut stopped) = (explorer.steps(), None);
    let done = search(explorer, &mut |own| {
        let news = own.steps() - spent;
        spent = own.steps();
        stopped = budget.spend(news + 1).err();
        stopped.is_some()
    });
    match (stopped, explorer.unknown()) {
        (Some(stop), _) => Err(stop),
        (None, Some(why)) => Err(Stop::GaveUp(cannot_text(explorer.tables().program(), why))),
        (None, None) => Ok(done),
    }
}

/// Why it cannot be said what happens, in words.
fn cannot_text(program: &Program, why: Cannot) -> String {
    match why {
        Cannot::Forgotten => "what happens depends on a value that is not known".to_owned(),
        Cannot::Foreign(function) => {
            let name = program.told.foreign.get(function).map_or("?", String::as_str);
            format!("the foreign function {name} may return infinitely many values")
        }
        Cannot::Mistyped => {
            "a value is not of the type that it is declared with: a cast does not look at parts, and nobody \
             looks at what is sent with an event in a variable"
                .to_owned()
        }
        Cannot::Endless => "a step takes too long, or goes in too many ways".to_owned(),
    }
}
