//! Whether a lemma's views avoid what must not happen.
//!
//! Frames at which something may fail, or that stand at a label, are never passed, so they are in the views. Failing is
//! a step, which was noted when the steps from all views were looked at. What is returned may be out of the range of the
//! variable that it goes to: that is a failure of the call.
//!
//! A view is taken for a deadlock if some thread has not ended and each thread has, or sleeps, or is kept from moving by
//! one that is uninterrupted, or *may* be blocked: for some value of a variable that is not known, or for some frame that
//! may lie below, if it returns. A shared variable that has no value yet has the same one for all threads.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tepui_model::program::step::{Effect, Frame, Point, Shared, Stage, Value};
use tepui_model::program::{Action, Goal, Place, Property, Slot};
use tepui_model::pushdown::Symbol;

use super::passing::MOST_WAYS;
use super::system::Interpreted;
use crate::lemma::Checked;

/// After how many views the caller is asked whether to stop.
const LOOK_EVERY: usize = 1_024;

/// Whether no view of a lemma violates a property. If one does: which property, and why.
pub(super) fn avoids(lemma: &Checked<'_, Interpreted<'_>>, properties: &[Property]) -> Result<(), (usize, String)> {
    let system = lemma.system;
    failed(system, properties)?;
    let labels = labels(system, properties);
    let deadlock = properties.iter().position(|property| property.never.contains(&Goal::Deadlock));
    let mut blocked: FxHashMap<(usize, u32, u32), bool> = FxHashMap::default();
    for (number, row) in lemma.lemma.views.iter().enumerate() {
        let row = row.as_slice();
        if number.is_multiple_of(LOOK_EVERY) && system.tables.is_stopped() {
            return Ok(()); // The caller looks, too.
        }
        let mut tops = (0..row.len() - 1).map(|thread| lemma.word(thread, row[thread + 1])[0]);
        let violated = tops.find_map(|top| labels[top.0 as usize]);
        let stuck = || deadlock.filter(|_| may_be_stuck(lemma, (number, row), &mut blocked));
        if let Some(property) = violated.or_else(stuck) {
            return Err((property, format!("the view {} violates it", lemma.show(row))));
        }
    }
    Ok(())
}

/// Whether nothing has failed that must not, in all that threads were seen to do.
pub(super) fn failed(system: &Interpreted<'_>, properties: &[Property]) -> Result<(), (usize, String)> {
    let failed = system.failed.borrow();
    let violated = |property: &Property| property.never.iter().find_map(|goal| failed.get(goal));
    let found = properties.iter().enumerate().find_map(|(number, property)| Some((number, violated(property)?)));
    let Some((number, (shared, top))) = found else { return Ok(()) };
    Err((number, system.fails(*shared, *top)))
}

/// For each symbol the property that is violated if it is on top, because it stands where it must not.
pub(super) fn labels(system: &Interpreted<'_>, properties: &[Property]) -> Vec<Option<usize>> {
    let label = |frame: &Frame| {
        let is_at = |label| system.runner.is_at(frame, label);
        let stands_at = |goal: &Goal| matches!(*goal, Goal::Reached(procedure, at) if is_at((procedure, at)));
        properties.iter().position(|property| property.never.iter().any(stands_at))
    };
    (0..system.tables.symbols()).map(|symbol| system.tables.frame(Symbol(symbol)).and_then(label)).collect()
}

/// What may lie below the top of a thread in a view: the next symbol of the word, or anything that is listed below it.
fn lower<'l>(lemma: &'l Checked<'_, Interpreted<'_>>, thread: usize, row: &[u32]) -> &'l [Symbol] {
    match lemma.word(thread, row[thread + 1]) {
        [_, below, ..] => std::slice::from_ref(below),
        word => lemma.beneath(thread, word),
    }
}

fn may_be_stuck(
    lemma: &Checked<'_, Interpreted<'_>>,
    (number, row): (usize, &[u32]),
    blocked: &mut FxHashMap<(usize, u32, u32), bool>,
) -> bool {
    let (system, threads) = (lemma.system, 0..row.len() - 1);
    let word = |thread: usize| lemma.word(thread, row[thread + 1]);
    let lower = |thread: usize| lower(lemma, thread, row);
    let Some(values) = system.tables.shared(row[0]) else { return true };
    let holders = lemma.holders(row);
    let mut tops = threads.clone().map(|thread| word(thread)[0]);
    let Some(someone) = tops.find_map(|top| system.tables.frame(top)) else { return false };
    // Where only some threads are explored, one of these must be able to move.
    let mut moving = threads.filter(|&thread| holders.let_move(thread) && lemma.explores(number, thread));
    if !values.contains(&Value::Unset) {
        return moving.all(|thread| {
            let key = (lemma.groups.leader(thread), row[0], row[thread + 1]);
            *blocked.entry(key).or_insert_with(|| may_be_blocked(system, &values, word(thread)[0], lower(thread)))
        });
    }
    let moving: Vec<_> = moving.collect();
    let unset = |(values, _): &Point| {
        moving.iter().find_map(|&thread| mentioned(system, values, word(thread)[0], lower(thread)))
    };
    let blocked = |values: &Shared, thread: usize| may_be_blocked(system, values, word(thread)[0], lower(thread));
    let stuck = |(values, _): &Point| moving.iter().all(|&thread| blocked(values, thread));
    system.passing().for_some(&(Rc::clone(&values), someone.clone()), MOST_WAYS, &unset, &stuck)
}

/// A shared variable without a value on which it may depend whether a thread is blocked.
pub(super) fn mentioned(system: &Interpreted<'_>, values: &Shared, top: Symbol, lower: &[Symbol]) -> Option<Slot> {
    let frame = system.tables.frame(top).filter(|frame| frame.stage == Stage::Running)?;
    let is_unset = |slot: Slot, _| matches!(slot, Slot::Shared(number) if values[number] == Value::Unset);
    let mut slots = Vec::new();
    for waiting in lower.iter().filter_map(|&symbol| system.tables.frame(symbol)) {
        let enforced = &system.program.procedures[waiting.procedure].enforced;
        enforced.iter().for_each(|condition| condition.slots(&mut |slot| slots.push(slot)));
    }
    let own = system.passing().unknown(&(Rc::clone(values), frame.clone()), &is_unset);
    own.or_else(|| slots.into_iter().find(|&slot| is_unset(slot, Value::Unset)))
}

/// Whether a thread that has its turn may have no step, with a symbol on top and some that may lie below it.
pub(super) fn may_be_blocked(system: &Interpreted<'_>, values: &Shared, top: Symbol, lower: &[Symbol]) -> bool {
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
fn refuses(system: &Interpreted<'_>, values: &Shared, frame: &Frame, waiting: &Frame) -> bool {
    let procedure = &system.runner.program().procedures[waiting.procedure];
    let Some(enforced) = &procedure.enforced else { return false };
    let stored: &[Place] = match system.runner.action(waiting.procedure, waiting.position) {
        Some(Action::Call { targets, .. }) if waiting.stage == Stage::Storing => targets,
        _ => &[],
    };
    let mut slots = Vec::new();
    enforced.slots(&mut |slot| slots.push(slot));
    let is_stored = |slot: &Slot| stored.iter().any(|place| place.slots().contains(slot));
    let (stored, kept): (Vec<_>, Vec<_>) = slots.into_iter().partition(is_stored);
    let is_known = |(values, waiting): &Point, slot: Slot| match slot {
        Slot::Shared(number) => values[number].known().is_some(),
        Slot::Local(number) => waiting.locals[number].known().is_some(),
    };
    let unknown = |point: &Point| kept.iter().copied().find(|&slot| !is_known(point, slot));
    system.passing().for_some(&(Rc::clone(values), waiting.clone()), MOST_WAYS, &unknown, &|(values, waiting)| {
        let returned = system.runner.steps(values, frame, &system.tables);
        let mut refused = returned.iter().map(|(values, effect)| match effect {
            Effect::Return(results) => system.runner.resume(values, waiting, results, &system.tables).is_empty(),
            _ => false,
        });
        // Of what is not known and comes back to what the condition reads, any value may be the one.
        let open = system.passing().unknown(&(values.clone(), frame.clone()), &|_, value| value.known().is_none());
        match !stored.is_empty() && open.is_some() {
            true => refused.any(|refused| refused),
            false => refused.all(|refused| refused),
        }
    })
}
