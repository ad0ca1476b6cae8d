//! Running on: from a frame that is not listed to those that are.
//!
//! A frame that is not listed is *passed*: its own results are taken instead. That is allowed
//!
//! * where the thread may be interrupted, if the statement reads and writes local variables only and always has a
//!   result: others can neither see nor hinder it. No way through such frames may meet one of them again;
//! * where it is uninterrupted, or no statement of the program starts another thread, for every statement that stays in the procedure and concerns no other thread. Ways that
//!   meet again or are blocked are dropped.
//!
//! Never where something may fail, at a label that is asked for, and, if deadlocks are asked for, where some value of a
//! variable that is not known might block the thread.

use std::hash::Hash;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::smallvec;
use tepui_model::program::step::{Effect, Few, Frame, Point, Runner, Shared, Stage, Value};
use tepui_model::program::{Action, Expression, Goal, Place, Program, Property, Slot};
use tepui_model::pushdown::Symbol;

use super::tables::Tables;
use crate::system::NOWHERE;

/// So many points are passed before it is remembered where ways have been.
const SHORT: usize = 32;

/// The most ways to give values to variables without a known one that are tried at once.
pub(super) const MOST_WAYS: usize = 1 << 16;

/// What is asked for, as far as frames must not be passed because of it.
pub(super) struct Watched {
    /// Statements that must not be reached.
    labels: Vec<(usize, usize)>,
    /// Whether deadlocks are asked for.
    pub(super) deadlock: bool,
    /// Whether `main` is the only thread.
    is_alone: bool,
}

impl Watched {
    pub(super) fn new(program: &Program, properties: &[Property]) -> Self {
        let goals = || properties.iter().flat_map(|property| &property.never);
        let label = |goal: &Goal| {
            if let Goal::Reached(procedure, position) = *goal { Some((procedure, position)) } else { None }
        };
        let deadlock = goals().any(|goal| *goal == Goal::Deadlock);
        Self { labels: goals().filter_map(label).collect(), deadlock, is_alone: !program.starts_threads() }
    }

    /// Whether a frame stands at a label that is asked for.
    pub(super) fn watches(&self, runner: &Runner<'_>, frame: &Frame) -> bool {
        self.labels.iter().any(|&label| runner.is_at(frame, label))
    }
}

/// A variable of a point that is to be given values, if there is one.
pub(super) type Asks<'f> = &'f dyn Fn(&Point) -> Option<Slot>;

/// Runs frames on.
pub(super) struct Passing<'a> {
    pub(super) runner: &'a Runner<'a>,
    pub(super) tables: &'a Tables<'a>,
    pub(super) watched: &'a Watched,
}

/// Why ways cannot be followed to their ends.
pub(super) enum Lost {
    /// Something may not be passed.
    Seen,
    /// A way has no end, and that matters.
    Endless,
}

/// Follows all ways from a point to where they rest, through points that may be passed, and tells what `rests` makes of the
/// points there. A way that comes back to where it has been is dropped, if it may go on for ever there.
pub(super) fn follow<P: Clone + Eq + Hash, R>(
    first: P,
    rests: impl Fn(&P) -> Option<R>,
    passed: impl Fn(&P, &mut dyn FnMut(P)) -> Option<()>,
    may_go_on: impl Fn(&P) -> bool,
    stopped: impl Fn() -> bool,
) -> Result<Few<R>, Lost> {
    let mut found = Few::new();
    let go_on = |point: P, found: &mut Few<R>, open: &mut Few<P>| match rests(&point) {
        Some(end) => found.push(end),
        None => open.push(point),
    };
    // Most ways are short: only if they are not is it remembered where they have been.
    let mut open = Few::new();
    go_on(first, &mut found, &mut open);
    for _ in 0..SHORT {
        let Some(point) = open.pop() else { return Ok(found) };
        passed(&point, &mut |next| go_on(next, &mut found, &mut open)).ok_or(Lost::Seen)?;
    }
    // Points that ways have been at, and whether these have been followed to their ends.
    let mut visits: FxHashMap<P, bool> = FxHashMap::default();
    let mut open: Vec<_> = open.into_iter().map(|point| (point, false)).collect();
    while let Some((point, leaves)) = open.pop() {
        if leaves {
            visits.insert(point, true);
        } else {
            match visits.get(&point) {
                Some(false) if !may_go_on(&point) => return Err(Lost::Endless),
                Some(_) => continue,
                None => {}
            }
            let mut others = Few::new();
            passed(&point, &mut |next| go_on(next, &mut found, &mut others)).ok_or(Lost::Seen)?;
            if !others.is_empty() {
                visits.insert(point.clone(), false);
                open.push((point, true));
                open.extend(others.into_iter().map(|point| (point, false)));
            }
            if stopped() {
                break;
            }
        }
    }
    Ok(found)
}

impl Passing<'_> {
    /// The listed frames, with shared states, that a thread runs on to. One that must not be passed is nowhere.
    pub(super) fn run_on(&self, shared: Shared, frame: Frame) -> Few<(u32, Symbol)> {
        let rests = |(shared, frame): &Point| {
            self.tables.visit(frame);
            self.tables.symbol(frame).map(|symbol| (self.tables.shared_number(shared), symbol))
        };
        // In an atomic section nobody sees a loop without end; elsewhere it would hide what others do.
        let may_go_on = |(_, frame): &Point| self.is_unhindered(frame);
        let stopped = || self.tables.is_stopped();
        let passed = |point: &Point, next: &mut dyn FnMut(Point)| self.passed(point, next);
        let found = follow((shared, frame), rests, passed, may_go_on, stopped);
        let mut found = found.unwrap_or_else(|_| smallvec![(NOWHERE, Symbol(NOWHERE))]);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Calls back for what a frame leads to; nothing, if it may not be passed.
    fn passed(&self, (shared, frame): &Point, next: &mut dyn FnMut(Point)) -> Option<()> {
        let mut passes = self.may_pass(shared, frame);
        if passes {
            self.runner.each_step(shared, frame, self.tables, &mut |shared, effect| match effect {
                Effect::Become(frame) => next((shared, frame)),
                _ => passes = false,
            });
        }
        passes.then_some(())
    }

    /// Whether the statement of a frame is one that may be passed. That no assertion fails is seen by its results.
    fn may_pass(&self, shared: &Shared, frame: &Frame) -> bool {
        let runner = self.runner;
        let action = runner.action(frame.procedure, runner.first_of(frame.procedure, frame.position));
        let (Some(action), Stage::Running) = (action, frame.stage) else { return false };
        let is_seen = matches!(action, Action::Atomic(_) | Action::Sleep | Action::SleepOn(..));
        if is_seen || self.watched.watches(runner, frame) {
            return false;
        }
        match self.is_unhindered(frame) {
            true => !(self.watched.deadlock && self.may_block(shared, frame)),
            // Others can neither see nor hinder it.
            false => self.is_plain(frame) && is_local(action),
        }
    }

    /// Whether nobody else moves: a thread is uninterrupted, or there is no other.
    fn is_unhindered(&self, frame: &Frame) -> bool {
        self.watched.is_alone || self.runner.is_uninterrupted(frame)
    }

    /// Whether nothing is enforced around the statement of a frame, and no atomic block is entered with it, which others see.
    pub(super) fn is_plain(&self, frame: &Frame) -> bool {
        let enters = matches!(self.runner.action(frame.procedure, frame.position), Some(Action::Atomic(_)));
        !enters && self.runner.program().procedures[frame.procedure].enforced.is_none()
    }

    /// Whether a thread has no step, whatever others do, for some value of a variable that is not known.
    pub(super) fn may_block(&self, shared: &Shared, frame: &Frame) -> bool {
        let unknown = |point: &Point| self.unknown(point, &|_, value| value.known().is_none());
        let blocked = |(shared, frame): &Point| self.runner.steps(shared, frame, self.tables).is_empty();
        self.for_some(&(Rc::clone(shared), frame.clone()), MOST_WAYS, &unknown, &blocked)
    }

    /// Whether something holds of a point with some values of variables, one after the other, as long as there is one to be
    /// asked about. If that would be too many points, it may.
    pub(super) fn for_some(&self, point: &Point, most: usize, asks: Asks<'_>, holds: &dyn Fn(&Point) -> bool) -> bool {
        let Some(slot) = asks(point) else { return holds(point) };
        let given: Vec<_> = self.runner.given_values(slot, &point.0, &point.1).collect();
        let most = most / given.len().max(1);
        most == 0 || self.tables.is_stopped() || given.iter().any(|point| self.for_some(point, most, asks, holds))
    }

    /// A variable on which it depends whether a thread is blocked, of those whose values matter.
    pub(super) fn unknown(&self, (shared, frame): &Point, matters: &dyn Fn(Slot, Value) -> bool) -> Option<Slot> {
        let enforced = |procedure: usize| self.runner.program().procedures[procedure].enforced.iter();
        let value = |slot: Slot| match slot {
            Slot::Shared(number) => shared[number],
            Slot::Local(number) => frame.locals[number],
        };
        let mut slots = Vec::new();
        enforced(frame.procedure).for_each(|condition| condition.slots(&mut |slot| slots.push(slot)));
        match self.runner.action(frame.procedure, self.runner.first_of(frame.procedure, frame.position)) {
            Some(Action::Assert(_) | Action::If(..) | Action::While(..) | Action::Next(..)) | None => {}
            Some(Action::Start { .. } | Action::Unlock(_) | Action::SleepOn(..) | Action::Wake { .. }) => {}
            // What is stored or returned decides whether what is enforced afterwards holds. Of variables without a value, the
            // one that is read first matters, and others once that has one.
            Some(action) => {
                action.slots(&mut |slot| slots.extend(Some(slot).filter(|slot| value(*slot) != Value::Unset)));
                slots.extend(self.runner.wants(shared, frame, self.tables));
                if let Action::Call { procedure, .. } = action {
                    let shared = |slot: &Slot| matches!(slot, Slot::Shared(_));
                    enforced(*procedure)
                        .for_each(|condition| condition.slots(&mut |slot| slots.extend(Some(slot).filter(shared))));
                }
            }
        }
        slots.into_iter().find(|&slot| matters(slot, value(slot)))
    }
}

/// Whether a statement reads and writes local variables only and has a result for each of their values.
pub(super) fn is_local(action: &Action) -> bool {
    match action {
        Action::Skip | Action::For(..) | Action::Next(..) => true,
        Action::Goto(targets) => !targets.is_empty(),
        Action::Assign { targets, values, constraint: None } => {
            let own = |target: &Place| target.slots().iter().all(|slot| matches!(slot, Slot::Local(_)));
            let mut local = targets.iter().all(own) && values.iter().all(reads_locals_only);
            targets.iter().for_each(|target| target.indices(&mut |index| local &= reads_locals_only(index)));
            local
        }
        Action::If(condition, ..) | Action::While(condition, _) | Action::Assert(condition) => {
            reads_locals_only(condition)
        }
        Action::Dead(slots) => slots.iter().all(|slot| matches!(slot, Slot::Local(_))),
        _ => false,
    }
}

/// Whether an expression reads no shared variable.
pub(super) fn reads_locals_only(expression: &Expression) -> bool {
    let mut only = true;
    expression.slots(&mut |slot| only &= matches!(slot, Slot::Local(_)));
    only
}
