//! Whether a lemma's views avoid what must not happen.
//!
//! Frames at which something may fail, or that stand at a label, are never passed, so they are in the views. Failing is
//! a step, so nothing fails while another thread is uninterrupted. What is returned may be out of the range of the variable that
//! it goes to: that is a failure of the call.
//!
//! A view is taken for a deadlock if some thread has not ended and each thread has, or sleeps, or is kept from moving by
//! one that is uninterrupted, or *may* be blocked: for some value of a variable that is not known, or for some frame that
//! may lie below, if it returns. A shared variable that has no value yet has the same one for all threads.

use rustc_hash::FxHashMap;
use tepui_model::program::step::{Effect, Failure, Frame, Stage, Value};
use tepui_model::program::{Action, Goal, Place, Property, Slot};
use tepui_model::pushdown::Symbol;

use super::system::Interpreted;
use crate::lemma::{Checked, System};
use crate::regular;

/// After how many views the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// The most ways to give values to variables that have none that are tried at once.
const MOST_GIVEN: usize = 1 << 16;

/// Whether no view of a lemma violates a property. If one does: which property, and why.
pub(super) fn avoids(
    system: &Interpreted<'_>,
    lemma: &Checked<'_>,
    properties: &[Property],
) -> Result<(), (usize, String)> {
    let dangers = dangers(system, properties);
    let deadlock = properties.iter().position(|property| property.never.contains(&Goal::Deadlock));
    let mut failing: FxHashMap<(u32, Symbol), Option<usize>> = FxHashMap::default();
    let mut blocked: FxHashMap<(usize, u32, u32), bool> = FxHashMap::default();
    for (number, row) in lemma.lemma.views.iter().enumerate() {
        if number.is_multiple_of(LOOK_EVERY) && system.is_stopped() {
            return Ok(()); // The caller looks, too.
        }
        let violated = (0..row.len() - 1).find_map(|thread| {
            let top = lemma.word(thread, row[thread + 1])[0];
            match dangers[top.0 as usize] {
                Danger::None => None,
                Danger::Standing(property) => Some(property),
                Danger::Failing { returns } => {
                    let own = || may_fail(system, row[0], top, &[], properties);
                    let own = *failing.entry((row[0], top)).or_insert_with(own);
                    let at_return = || may_fail(system, row[0], top, lower(lemma, thread, row), properties);
                    let failed = own.or_else(|| if returns { at_return() } else { None });
                    failed.filter(|_| lemma.holders(system, row).let_move(thread))
                }
            }
        });
        let stuck = || deadlock.filter(|_| may_be_stuck(system, lemma, (number, row), &mut blocked));
        if let Some(property) = violated.or_else(stuck) {
            return Err((property, format!("the view {} violates it", lemma.show(system, row))));
        }
    }
    Ok(())
}

/// Whether no row of regular sets violates a property. A row may be stuck if each of its threads may be unable to move, one of
/// which has not ended, or if one that is uninterrupted may be.
pub(super) fn rows_avoid(
    system: &Interpreted<'_>,
    rows: &regular::Checked<'_, '_, Interpreted<'_>>,
    properties: &[Property],
) -> Result<(), (usize, String)> {
    let dangers = dangers(system, properties);
    let deadlock = properties.iter().position(|property| property.never.contains(&Goal::Deadlock));
    for row in rows.rows() {
        let tops: Vec<_> = (0..row.len() - 1).map(|thread| rows.tops(thread, row)).collect();
        let can_be_interrupted =
            |tops: &Vec<(Symbol, Vec<Symbol>)>| tops.iter().any(|top| !system.is_uninterrupted(top.0));
        let may_move =
            |thread: usize| tops.iter().enumerate().all(|(other, tops)| other == thread || can_be_interrupted(tops));
        let violated = tops.iter().enumerate().find_map(|(thread, tops)| {
            tops.iter().find_map(|(top, below)| match dangers[top.0 as usize] {
                Danger::None => None,
                Danger::Standing(property) => Some(property),
                Danger::Failing { .. } => {
                    may_fail(system, row[0], *top, below, properties).filter(|_| may_move(thread))
                }
            })
        });
        let stuck = || {
            let values = system.tables.shared(row[0]);
            let blocked = |(top, below): &(Symbol, Vec<Symbol>)| {
                values.is_none_or(|values| may_be_blocked(system, values, *top, below))
            };
            let holds = tops.iter().flatten().any(|top| system.is_uninterrupted(top.0) && blocked(top));
            let can_rest = tops.iter().all(|tops| tops.iter().any(blocked));
            let alive = tops.iter().flatten().any(|top| !top.0.is_bottom() && blocked(top));
            holds || (can_rest && alive)
        };
        if let Some(property) = violated.or_else(|| deadlock.filter(|_| stuck())) {
            return Err((property, format!("the row {} violates it", rows.show(row))));
        }
        if system.is_stopped() {
            return Ok(());
        }
    }
    Ok(())
}

/// What a thread may violate that has a certain symbol on top.
#[derive(Clone, Copy)]
enum Danger {
    None,
    /// Something, if it fails there when it has its turn; if it returns, it depends on what lies below.
    Failing {
        returns: bool,
    },
    /// This property, whatever it does.
    Standing(usize),
}

/// The dangers of all symbols.
fn dangers(system: &Interpreted<'_>, properties: &[Property]) -> Vec<Danger> {
    let goals = || properties.iter().flat_map(|property| &property.never);
    // Calls whose targets are in doubt.
    let called = |goal: &Goal| match *goal {
        Goal::Range(procedure, position) | Goal::Index(procedure, position) => {
            match system.runner.action(procedure, position) {
                Some(Action::Call { procedure, .. }) => Some(*procedure),
                _ => None,
            }
        }
        _ => None,
    };
    let called: Vec<_> = goals().filter_map(called).collect();
    let danger = |frame: &Frame| {
        let stands = system.runner.stands_at(frame.procedure, frame.position);
        let next = stands.last().copied().unwrap_or(frame.position);
        let stands_at = |goal: &Goal| match *goal {
            Goal::Reached(procedure, position) => procedure == frame.procedure && stands.contains(&position),
            _ => false,
        };
        let standing = properties.iter().position(|property| property.never.iter().any(stands_at));
        let fails = |failure: Failure| goals().any(|goal| *goal == failure.at((frame.procedure, next)));
        let own = [Failure::Assertion, Failure::Range, Failure::Index].into_iter().any(fails);
        let action = system.runner.action(frame.procedure, next);
        let returns = called.contains(&frame.procedure) && matches!(action, Some(Action::Return(_)));
        match standing {
            Some(property) => Danger::Standing(property),
            None if own || returns => Danger::Failing { returns },
            None => Danger::None,
        }
    };
    let symbols = (0..system.tables.symbols()).map(Symbol);
    symbols.map(|symbol| system.tables.frame(symbol).map_or(Danger::None, danger)).collect()
}

/// The property that may be violated by a failure of a thread with a symbol on top and some that may lie below it.
fn may_fail(
    system: &Interpreted<'_>,
    shared: u32,
    top: Symbol,
    lower: &[Symbol],
    properties: &[Property],
) -> Option<usize> {
    let (values, frame) = system.tables.shared(shared).zip(system.tables.frame(top))?;
    let at = (frame.procedure, system.runner.first_of(frame.procedure, frame.position));
    let mut failed = Vec::new();
    for (values, effect) in system.runner.steps(values, frame, &system.tables) {
        match effect {
            Effect::Fail(failure) => failed.push(failure.at(at)),
            Effect::Return(results) => {
                for waiting in lower.iter().filter_map(|&symbol| system.tables.frame(symbol)) {
                    let resumed = system.runner.resume(&values, waiting, &results, &system.tables);
                    let failures = resumed.into_iter().filter_map(Result::err);
                    failed.extend(failures.map(|failure| failure.at((waiting.procedure, waiting.position))));
                }
            }
            _ => {}
        }
    }
    properties.iter().position(|property| property.never.iter().any(|goal| failed.contains(goal)))
}

/// What may lie below the top of a thread in a view: the next symbol of the word, or anything that is listed below it.
fn lower<'l>(lemma: &'l Checked<'_>, thread: usize, row: &[u32]) -> &'l [Symbol] {
    match lemma.word(thread, row[thread + 1]) {
        [_, below, ..] => std::slice::from_ref(below),
        word => lemma.beneath(thread, word),
    }
}

fn may_be_stuck(
    system: &Interpreted<'_>,
    lemma: &Checked<'_>,
    (number, row): (usize, &[u32]),
    blocked: &mut FxHashMap<(usize, u32, u32), bool>,
) -> bool {
    let threads = 0..row.len() - 1;
    let word = |thread: usize| lemma.word(thread, row[thread + 1]);
    let lower = |thread: usize| lower(lemma, thread, row);
    let Some(values) = system.tables.shared(row[0]) else { return true };
    let holders = lemma.holders(system, row);
    if threads.clone().all(|thread| word(thread)[0].is_bottom()) {
        return false;
    }
    // Where only some threads are explored, one of these must be able to move.
    let mut moving = threads.filter(|&thread| holders.let_move(thread) && lemma.explores(number, thread));
    if !values.contains(&Value::Unset) {
        return moving.all(|thread| {
            let key = (lemma.groups.leader(thread), row[0], row[thread + 1]);
            *blocked.entry(key).or_insert_with(|| may_be_blocked(system, values, word(thread)[0], lower(thread)))
        });
    }
    let moving: Vec<_> = moving.collect();
    let mut unset: Vec<usize> = moving.iter().flat_map(|&t| mentioned(system, values, word(t)[0], lower(t))).collect();
    unset.sort_unstable();
    unset.dedup();
    let given = with_values(system, values, &unset);
    given.is_none_or(|given| {
        let stuck = |values: &Vec<Value>| {
            moving.iter().all(|&thread| may_be_blocked(system, values, word(thread)[0], lower(thread)))
        };
        given.iter().any(stuck)
    })
}

/// Shared variables without a value on which it may depend whether a thread is blocked.
fn mentioned(system: &Interpreted<'_>, values: &[Value], top: Symbol, lower: &[Symbol]) -> Vec<usize> {
    let Some(frame) = system.tables.frame(top).filter(|frame| frame.stage == Stage::Running) else { return Vec::new() };
    let mut slots = system.passing().unknown(values, frame);
    for waiting in lower.iter().filter_map(|&symbol| system.tables.frame(symbol)) {
        let enforced = &system.program.procedures[waiting.procedure].enforced;
        enforced.iter().for_each(|condition| condition.slots(&mut |slot| slots.push(slot)));
    }
    let shared = |slot: Slot| if let Slot::Shared(number) = slot { Some(number) } else { None };
    slots.into_iter().filter_map(shared).filter(|&number| values[number] == Value::Unset).collect()
}

/// The shared values with every value of some variables; nothing, if that would be too many.
fn with_values(system: &Interpreted<'_>, values: &[Value], unset: &[usize]) -> Option<Vec<Vec<Value>>> {
    let mut given = vec![values.to_vec()];
    for &number in unset {
        let count = system.program.values(system.program.shared[number].kind);
        let with = |values: &Vec<Value>| {
            let values = values.clone();
            (0..count).map(move |value| {
                let mut values = values.clone();
                values[number] = Value::Known(value);
                values
            })
        };
        given = given.iter().flat_map(with).collect();
        if given.len() > MOST_GIVEN || system.is_stopped() {
            return None;
        }
    }
    Some(given)
}

/// Whether a thread that has its turn may have no step, with a symbol on top and some that may lie below it.
fn may_be_blocked(system: &Interpreted<'_>, values: &[Value], top: Symbol, lower: &[Symbol]) -> bool {
    let Some(frame) = system.tables.frame(top) else { return true }; // It has ended.
    if frame.stage != Stage::Running || system.passing().may_block(values, frame) {
        return true;
    }
    let refuses = |symbol: &Symbol| {
        let Some(waiting) = system.tables.frame(*symbol) else { return false };
        refuses(system, values, frame, waiting)
    };
    system.runner.steps(values, frame, &system.tables).iter().all(|(_, effect)| matches!(effect, Effect::Return(_)))
        && lower.iter().any(refuses)
}

/// Whether a frame that waits may have no use for anything that the procedure above returns.
fn refuses(system: &Interpreted<'_>, values: &[Value], frame: &Frame, waiting: &Frame) -> bool {
    let procedure = &system.runner.program().procedures[waiting.procedure];
    let Some(enforced) = &procedure.enforced else { return false };
    let stored: &[Place] = match system.runner.action(waiting.procedure, waiting.position) {
        Some(Action::Call { targets, .. }) if waiting.stage == Stage::Storing => targets,
        _ => &[],
    };
    let (mut unknown, mut overwritten) = (Vec::new(), false);
    enforced.slots(&mut |slot| match slot {
        _ if stored.iter().any(|place| place.slots().contains(&slot)) => overwritten = true,
        Slot::Shared(number) if values[number].known().is_none() => unknown.push(slot),
        Slot::Local(number) if waiting.locals[number].known().is_none() => unknown.push(slot),
        Slot::Shared(_) | Slot::Local(_) => {}
    });
    unknown.sort_unstable();
    unknown.dedup();
    let Some(points) = system.passing().known(values, waiting, &unknown) else { return true };
    points.iter().any(|(values, waiting)| {
        let returned = system.runner.steps(values, frame, &system.tables);
        let mut refused = returned.iter().map(|(values, effect)| match effect {
            Effect::Return(results) => system.runner.resume(values, waiting, results, &system.tables).is_empty(),
            _ => false,
        });
        // Of what is not known and comes back to what the condition reads, any value may be the one.
        match overwritten && !system.passing().unknown(values, frame).is_empty() {
            true => refused.any(|refused| refused),
            false => refused.all(|refused| refused),
        }
    })
}
