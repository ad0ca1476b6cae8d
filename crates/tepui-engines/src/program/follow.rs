//! From a path through rows to an execution of the program, followed on the interpreter.
//!
//! A path goes through canonical rows. Its steps are taken once more without regard to symmetry, so that it is known which
//! thread takes each of them; then the interpreter follows.

use tepui_cert::program::Trace;
use tepui_core::{Budget, Stop};
use tepui_model::program::THREAD_LIMIT;
use tepui_model::program::step::Runner;
use tepui_model::pushdown::Symbol;

use super::layout::{Head, Stage};
use super::retrace::{Beginning, Execution, Follower, Frame, Lost, Situation};
use super::system::Programs;
use crate::ids::{ThreadId, Threads};
use crate::system::PathStep;

/// The trace that takes a path from the initial row to a violation of a property.
pub(super) fn trace(
    system: &Programs,
    property: usize,
    initial: &[u32],
    path: &[PathStep],
    budget: &mut Budget,
) -> Result<Trace, Stop> {
    let name = system.properties.get(property).map_or(THREAD_LIMIT, |property| &property.name);
    let real = real_steps(system, initial, path, budget)?;
    let stop = || budget.clone().look().is_err();
    let attempt = |eager: bool| follow(system, name, initial, &real, eager, &stop);
    let followed = attempt(false).or_else(|lost| match lost {
        Lost::Refused(_) => attempt(true).map_err(|_| lost),
        Lost::Stopped | Lost::TooMany => Err(lost),
    });
    match followed.and_then(|execution| execution.trace(&system.code.given, name)) {
        Ok(trace) => Ok(trace),
        Err(Lost::Stopped) => Err(budget.clone().look().err().unwrap_or_else(|| Stop::defect("nothing stops it"))),
        Err(lost @ Lost::TooMany) => Err(Stop::GaveUp(lost.to_string())),
        Err(lost) => Err(Stop::NotConfirmed(format!("the program's interpreter cannot follow a trace: {lost}"))),
    }
}

/// The steps of a path, each with the thread that takes it and the row afterwards, in which every thread has its own place.
fn real_steps(
    system: &Programs,
    initial: &[u32],
    path: &[PathStep],
    budget: &mut Budget,
) -> Result<Vec<(ThreadId, Vec<u32>)>, Stop> {
    let (mut canonical, mut real, mut found) = (initial.to_vec(), initial.to_vec(), Vec::new());
    let mut last: Option<(ThreadId, ThreadId)> = None;
    for step in path {
        budget.spend(1)?;
        let goes_on = last.filter(|(_, place)| *place == step.before).map(|(thread, _)| thread);
        let stack = canonical[step.before.field()];
        let (group, others) = (system.symmetry.leader(step.before), last.map(|(thread, _)| thread));
        let fits = |&thread: &ThreadId| real[thread.field()] == stack && system.symmetry.leader(thread) == group;
        // One that goes on is the one that moved last; one that does not, is another, if there is one.
        let mut threads: Vec<_> = Threads::of(&real).filter(fits).collect();
        threads.sort_by_key(|&thread| (Some(thread) != goes_on, goes_on.is_none() && Some(thread) == others));
        let next = threads.into_iter().find_map(|thread| {
            let mut next = None;
            system.real_steps(thread, &real, &mut |row| {
                if next.is_none()
                    && system.canonical(row) == step.row
                    && row[thread.field()] == step.row[step.after.field()]
                {
                    next = Some(row.to_vec());
                }
            });
            next.map(|row| (thread, row))
        });
        let (thread, row) = next.ok_or_else(|| Stop::defect("a path has no real threads"))?;
        (canonical, real, last) = (step.row.clone(), row.clone(), Some((thread, step.after)));
        found.push((thread, row));
    }
    Ok(found)
}

fn follow(
    system: &Programs,
    property: &str,
    initial: &[u32],
    steps: &[(ThreadId, Vec<u32>)],
    eager: bool,
    stop: &dyn Fn() -> bool,
) -> Result<Execution, Lost> {
    let code = &system.code;
    let runner = Runner::new(&code.given);
    let beginning = Beginning { creates: code.setup.is_none(), main: code.setup.as_ref().and_then(|setup| setup.main) };
    let mut follower = Follower::new(&runner, &code.kept, &beginning, situation(system, initial), stop)?;
    let (mut before, mut full) = (initial, None);
    for (number, (thread, row)) in steps.iter().enumerate() {
        if follower.fails(property) {
            break;
        }
        full = is_full(system, *thread, row).then_some(thread.index());
        if full.is_some() {
            break;
        }
        if fails_at_return(system, *thread, before, row) {
            break;
        }
        if eager {
            follower.catch_up_all()?;
        }
        let changed = |other: &ThreadId| other != thread && before[other.field()] != row[other.field()];
        let others: Vec<_> = Threads::of(row).filter(changed).map(ThreadId::index).collect();
        follower.follow(thread.index(), &others, situation(system, row)).map_err(|lost| match lost {
            Lost::Refused(why) => Lost::Refused(format!("step {}: {why}", number + 1)),
            other => other,
        })?;
        before = row;
    }
    follower.finish(property, full)
}

fn is_full(system: &Programs, thread: ThreadId, row: &[u32]) -> bool {
    let top = system.top_two(thread, row[thread.field()]).0;
    !top.is_bottom() && Head(system.tables.frame(top)[0]).stage() == Stage::Full
}

/// Whether a thread fails when it returns: for the program it is still where it was.
fn fails_at_return(system: &Programs, thread: ThreadId, before: &[u32], after: &[u32]) -> bool {
    let stacks = system.tables.stacks(system.kind_of[thread.index()]);
    let word = |row: &[u32]| stacks.word(row[thread.field()], usize::MAX);
    let (before, after) = (word(before), word(after));
    let failed = |symbol: Symbol| !symbol.is_bottom() && Head(system.tables.frame(symbol)[0]).failure().is_some();
    after.len() < before.len() && failed(after[0])
}

/// A row, in the terms of the program.
fn situation(system: &Programs, row: &[u32]) -> Situation {
    let frames = |thread: ThreadId| {
        let word = system.tables.stacks(system.kind_of[thread.index()]).word(row[thread.field()], usize::MAX);
        let frame = |&symbol: &_| {
            let frame = system.source_frame(symbol);
            let head = Head(system.tables.frame(symbol)[0]);
            let failed = head.failure();
            // Nothing is kept of one that has failed.
            let locals = if failed.is_some() { Vec::new() } else { frame.locals };
            Frame { procedure: frame.procedure, position: frame.position, locals, failed, stage: frame.stage }
        };
        Some(word.iter().rev().skip(1).map(frame).collect())
    };
    Situation { shared: system.source_values(row[0]), threads: Threads::of(row).map(frames).collect() }
}
