//! The views at the start.
//!
//! A program starts with `main` alone. If the frame with which `main` begins is not listed, `main` runs on before anything
//! is seen: as long as it is the only thread, every statement but calls and returns may be passed, since nobody else is
//! there. Once it has started a thread, only what others can neither see nor hinder, further starts whose arguments depend on
//! nothing shared, and its end: a thread that runs before another one is started might as well run afterwards.
//! Then the threads that have not ended take places, in the order in which they were started.

use tepui_model::program::Action;
use tepui_model::program::step::{Effect, Few, Frame, Shared, Stage};
use tepui_model::pushdown::Symbol;

use super::passing::{Passing, follow, is_local, reads_locals_only};
use crate::system::{NOWHERE, Start};

/// The shared values, `main` if it has not ended, and the threads that it has started.
type Begun = (Shared, Option<Frame>, Vec<Frame>);

/// The states at the start, each with the symbols of its threads; or why there are none.
pub(super) fn initial(passing: &Passing<'_>, places: usize) -> Result<Vec<Start>, String> {
    let mut found = Vec::new();
    let (shared, frames) = passing.runner.start(passing.tables);
    for main in frames {
        for state in begun(passing, (shared.clone(), Some(main), Vec::new()), places)? {
            found.extend(placed(passing, state, places)?);
        }
        if passing.tables.is_stopped() {
            break;
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The states in which `main` has run on to a frame that is listed, or to its end, and has started no more threads than there are
/// places.
fn begun(passing: &Passing<'_>, state: Begun, places: usize) -> Result<Few<Begun>, String> {
    let rests = |state: &Begun| {
        state.1.iter().for_each(|main| passing.tables.visit(main));
        state.1.as_ref().is_none_or(|main| passing.tables.symbol(main).is_some()).then(|| state.clone())
    };
    // While `main` is alone nobody waits for it, whatever it does without end.
    let may_go_on = |(_, _, started): &Begun| started.is_empty();
    let stopped = || passing.tables.is_stopped();
    // Otherwise a loop that starts threads would never end.
    let few = |states: &Vec<Begun>| states.iter().all(|state| state.2.len() <= places);
    let passed = |state: &Begun, next: &mut dyn FnMut(Begun)| {
        passed(passing, state).filter(few).map(|states| states.into_iter().for_each(next))
    };
    follow(state, rests, passed, may_go_on, stopped).map_err(|lost| lost.at_the_start().to_owned())
}

/// What a step of `main` leads to that may be passed at the start.
fn passed(passing: &Passing<'_>, (shared, main, before): &Begun) -> Option<Vec<Begun>> {
    let main = main.as_ref()?;
    let runner = passing.runner;
    let action = runner.action(main.procedure, runner.first_of(main.procedure, main.position));
    // Nothing keeps it from a step, and others need not wait for it.
    let free = !runner.is_uninterrupted(main) && passing.is_plain(main);
    let fits = match action {
        _ if main.stage != Stage::Running || passing.watched.watches(runner, main) => false,
        Some(Action::Call { .. }) => false,
        _ if before.is_empty() => !(passing.watched.deadlock && passing.may_block(shared, main)),
        None | Some(Action::Return(_) | Action::EndThread) => free,
        Some(Action::Start { arguments, .. }) => free && arguments.iter().all(reads_locals_only),
        Some(action) => free && is_local(action),
    };
    let steps = fits.then(|| runner.steps(shared, main, passing.tables))?;
    let next = |(shared, effect)| match effect {
        // Nobody sleeps as long as `main` is alone.
        Effect::Become(main) | Effect::Wake(main, _) => Some((shared, Some(main), before.clone())),
        Effect::Start { next, started } => Some((shared, Some(next), [before.clone(), started].concat())),
        Effect::End => Some((shared, None, before.clone())),
        Effect::Call { .. } | Effect::Return(_) | Effect::Fail(_) => None,
    };
    steps.into_iter().map(next).collect()
}

/// The threads that have not ended, each in a place of its own and run on.
fn placed(passing: &Passing<'_>, (shared, main, started): Begun, places: usize) -> Result<Vec<Start>, String> {
    let mut rows = vec![(passing.tables.shared_number(&shared), Vec::new())];
    for frame in main.into_iter().chain(started) {
        let results = passing.run_on(shared.clone(), frame);
        let extended = |(shared, stacks): &Start| {
            let (shared, stacks) = (*shared, stacks.clone());
            results.iter().map(move |&(_, symbol)| {
                let stack = vec![symbol];
                (shared, stacks.iter().cloned().chain([stack]).collect::<Vec<_>>())
            })
        };
        rows = rows.iter().flat_map(extended).collect();
        if passing.tables.is_stopped() {
            return Ok(Vec::new());
        }
    }
    if rows.iter().any(|(_, stacks)| stacks.len() > places) {
        return Err("at the start: there are more threads than places".to_owned());
    }
    if rows.iter().any(|(shared, stacks)| *shared == NOWHERE || stacks.contains(&vec![Symbol(NOWHERE)])) {
        return Err("at the start: a shared state or a frame is not listed".to_owned());
    }
    rows.iter_mut().for_each(|(_, stacks)| stacks.resize(places, Vec::new()));
    Ok(rows)
}
