//! Whether a lemma's views avoid what must not happen.
//!
//! Frames at which an assertion may fail, or that stand at a label, are never passed, so they are in the views. A view is
//! taken for a deadlock if some thread has not ended and each thread has, or sleeps, or is kept from moving by one that is
//! uninterrupted, or *may* be blocked: for some value of a variable that is not known, or for some frame that may lie
//! below, if it returns.

use rustc_hash::FxHashMap;
use tepui_model::program::step::{Effect, Frame, Stage};
use tepui_model::program::{Action, Goal, Place, Property, Slot};
use tepui_model::pushdown::Symbol;

use super::system::Interpreted;
use crate::lemma::{Checked, System};
use crate::regular;

/// After how many views the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// Whether no view of a lemma violates a property.
pub(super) fn avoids(system: &Interpreted<'_>, lemma: &Checked<'_>, property: &Property) -> Result<(), String> {
    let mut heads: FxHashMap<(u32, Symbol), bool> = FxHashMap::default();
    let mut blocked: FxHashMap<(usize, u32, u32), bool> = FxHashMap::default();
    let deadlock = property.never.contains(&Goal::Deadlock);
    for (number, row) in lemma.lemma.views.iter().enumerate() {
        if number.is_multiple_of(LOOK_EVERY) && system.is_stopped() {
            return Ok(()); // The caller looks, too.
        }
        let violated = (0..row.len() - 1).any(|thread| {
            let top = lemma.word(thread, row[thread + 1])[0];
            *heads.entry((row[0], top)).or_insert_with(|| violates(system, row[0], top, property))
        });
        if violated || (deadlock && may_be_stuck(system, lemma, row, &mut blocked)) {
            return Err(format!("the view {} violates it", lemma.show(system, row)));
        }
    }
    Ok(())
}

/// Whether no row of regular sets violates a property. A row may be stuck if each of its threads may be unable to move, one of
/// which has not ended, or if one that is uninterrupted may be.
pub(super) fn rows_avoid(
    system: &Interpreted<'_>,
    rows: &regular::Checked<'_, '_, Interpreted<'_>>,
    property: &Property,
) -> Result<(), String> {
    let deadlock = property.never.contains(&Goal::Deadlock);
    for row in rows.rows() {
        let tops: Vec<_> = (0..row.len() - 1).map(|thread| rows.tops(thread, row)).collect();
        let violated = tops.iter().flatten().any(|(top, _)| violates(system, row[0], *top, property));
        let stuck = || {
            let blocked = |(top, below): &(Symbol, Vec<Symbol>)| may_be_blocked(system, row[0], *top, below);
            let holds = tops.iter().flatten().any(|top| system.is_uninterrupted(top.0) && blocked(top));
            let can_rest = tops.iter().all(|tops| tops.iter().any(blocked));
            let alive = tops.iter().flatten().any(|top| !top.0.is_bottom() && blocked(top));
            holds || (can_rest && alive)
        };
        if violated || (deadlock && stuck()) {
            return Err(format!("the row {} violates it", rows.show(row)));
        }
        if system.is_stopped() {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether a thread violates a property that has a symbol on top.
fn violates(system: &Interpreted<'_>, shared: u32, top: Symbol, property: &Property) -> bool {
    let (Some(values), Some(frame)) = (system.tables.shared(shared), system.tables.frame(top)) else {
        return false;
    };
    let runner = &system.runner;
    let stands = runner.stands_at(frame.procedure, frame.position);
    let next = stands.last().copied().unwrap_or(frame.position);
    property.never.iter().any(|goal| match *goal {
        Goal::Reached(procedure, position) => procedure == frame.procedure && stands.contains(&position),
        Goal::Failure(procedure, position) => {
            (procedure, position) == (frame.procedure, next)
                && runner.steps(values, frame, &system.tables).iter().any(|(_, effect)| *effect == Effect::Fail)
        }
        Goal::Deadlock => false,
    })
}

fn may_be_stuck(
    system: &Interpreted<'_>,
    lemma: &Checked<'_>,
    row: &[u32],
    blocked: &mut FxHashMap<(usize, u32, u32), bool>,
) -> bool {
    let threads = 0..row.len() - 1;
    let top = |thread: usize| lemma.word(thread, row[thread + 1])[0];
    let holds = |&thread: &usize| system.is_uninterrupted(top(thread));
    let (holder, others) = (threads.clone().find(holds), threads.clone().filter(holds).count() > 1);
    let alive = threads.clone().any(|thread| !top(thread).is_bottom());
    alive
        && threads.into_iter().all(|thread| {
            let waits = others || holder.is_some_and(|holder| holder != thread);
            waits || {
                let key = (lemma.groups.leader(thread), row[0], row[thread + 1]);
                *blocked.entry(key).or_insert_with(|| {
                    let word = lemma.word(thread, row[thread + 1]);
                    // What lies below: the next symbol of the word, or anything that is listed below it.
                    let lower = match word {
                        [_, below, ..] => std::slice::from_ref(below),
                        _ => lemma.beneath(thread, word),
                    };
                    may_be_blocked(system, row[0], word[0], lower)
                })
            }
        })
}

/// Whether a thread that has its turn may have no step, with a symbol on top and some that may lie below it.
fn may_be_blocked(system: &Interpreted<'_>, shared: u32, top: Symbol, lower: &[Symbol]) -> bool {
    let Some(frame) = system.tables.frame(top) else { return true }; // It has ended.
    let Some(values) = system.tables.shared(shared) else { return true };
    if frame.stage != Stage::Running || system.passing().may_block(values, frame) {
        return true;
    }
    let refuses = |symbol: &Symbol| {
        let Some(waiting) = system.tables.frame(*symbol) else { return false };
        refuses(system, shared, frame, waiting)
    };
    system.runner.steps(values, frame, &system.tables).iter().all(|(_, effect)| matches!(effect, Effect::Return(_)))
        && lower.iter().any(refuses)
}

/// Whether a frame that waits may have no use for anything that the procedure above returns.
fn refuses(system: &Interpreted<'_>, shared: u32, frame: &Frame, waiting: &Frame) -> bool {
    let procedure = &system.runner.program().procedures[waiting.procedure];
    let Some(values) = system.tables.shared(shared) else { return true };
    let Some(enforced) = &procedure.enforced else { return false };
    // Where something is not known that is returned or that the condition reads, it may not hold.
    let stored: &[Place] = match system.runner.action(waiting.procedure, waiting.position) {
        Some(Action::Call { targets, .. }) if waiting.stage == Stage::Storing => targets,
        _ => &[],
    };
    let mut unknown = !system.passing().unknown(values, frame).is_empty();
    enforced.slots(&mut |slot| {
        let value = match slot {
            Slot::Shared(number) => values[number],
            Slot::Local(number) => waiting.locals[number],
        };
        unknown |= value.is_none() && !stored.contains(&Some(slot));
    });
    let returned = system.runner.steps(values, frame, &system.tables);
    unknown
        || returned.iter().all(|(values, effect)| match effect {
            Effect::Return(results) => system.runner.resume(values, waiting, results, &system.tables).is_empty(),
            _ => false,
        })
}
