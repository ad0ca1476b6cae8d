//! Several steps in one, where nobody can see the difference; and values that nobody will look at again.
//!
//! *Local steps.* A step that reads and writes local variables only, and that cannot be blocked, can be taken at once: no
//! other thread can see whether it has been taken, and it can be taken whatever others do. So in every execution the
//! local steps that follow a step may be moved directly behind it, and the states between them need not be there.
//! Labels that must not be reached are the exception; and an endless loop of local steps must not swallow the step before
//! it: where a way comes back to itself, the thread rests.
//!
//! *Atomic sections.* While a thread is in one, no other moves. What happens there, up to a call or a return, is one
//! step. If the thread is blocked inside, nothing can happen any more, and nothing is lost if the section was not entered
//! at all, and the same holds for a loop without end; unless it is asked for deadlocks, and then the thread rests before
//! steps that may be blocked, and in loops.

use rustc_hash::FxHashMap;
use tepui_model::program::{Action, Expression, Slot};

use super::steps::{Steps, uninterrupted};
use super::{Change, Effect, Mode, Point, Stage};

/// How many points a step may pass: choices of values one after the other would lead to very many states at once.
const FARTHEST: usize = 1_024;

/// What is known of a point that a thread has come to.
struct Visit {
    on_the_way: bool,
    rests: bool,
}

impl Steps<'_> {
    /// What steps of a thread lead to, with the steps that can be taken at once.
    pub(super) fn settled(&self, found: Vec<(Change, Effect)>) -> Vec<(Change, Effect)> {
        if !self.options.reduce {
            return found;
        }
        let mut settled = Vec::new();
        for ((shared, mode), effect) in found {
            let kept = shared & self.kept.shared;
            match effect {
                Effect::Become(point) if matches!(mode, Mode::Calm | Mode::Atomic) => {
                    let points = self.run_on((kept, mode), point).into_iter();
                    settled.extend(points.map(|(change, point)| (change, Effect::Become(point))));
                }
                Effect::Become(point) => settled.push(((kept, self.tidy_mode(mode)), Effect::Become(self.tidy(point)))),
                Effect::Call { callee, caller } => {
                    let caller = self.tidy(caller);
                    let points = self.run_on((kept, mode), callee).into_iter();
                    settled.extend(points.map(|(change, callee)| (change, Effect::Call { callee, caller })));
                }
                Effect::Leave => settled.push(((kept, mode), Effect::Leave)),
            }
        }
        settled
    }

    /// What becomes of a thread that goes on by itself. On a way that comes back to itself, the thread rests where it does.
    pub(super) fn run_on(&self, change: Change, point: Point) -> Vec<(Change, Point)> {
        if self.options.keep_steps || !self.options.reduce {
            return vec![(change, self.tidy(point))];
        }
        if !self.goes_on(change.1, &self.tidy(point)) {
            return vec![(change, self.tidy(point))];
        }
        let mut settled = Vec::new();
        // Where the thread has been: on the way that is followed, or on one that was followed to its end.
        let mut seen: FxHashMap<(Change, Point), Visit> = FxHashMap::default();
        let mut open = vec![(change, self.tidy(point), false)];
        while let Some(((shared, mode), point, leaves)) = open.pop() {
            let here = ((shared, mode), point);
            if leaves {
                seen.entry(here).and_modify(|visit| visit.on_the_way = false);
                continue;
            }
            let goes_on = seen.len() < FARTHEST && self.goes_on(mode, &point);
            let rests = !goes_on || (mode == Mode::Calm || self.options.deadlock);
            match seen.get_mut(&here) {
                // In an atomic section, a loop without end is one that nobody sees.
                Some(visit) if visit.on_the_way && rests && !visit.rests => {
                    visit.rests = true;
                    settled.push(here);
                    continue;
                }
                Some(_) => continue,
                None => drop(seen.insert(here, Visit { on_the_way: goes_on, rests: !goes_on })),
            }
            if !goes_on {
                settled.push(here);
                continue;
            }
            open.push(((shared, mode), point, true));
            let mut found = Vec::new();
            self.execute(shared, point, &mut found);
            for ((shared, mode), effect) in found.into_iter().rev() {
                if let Effect::Become(next) = effect {
                    open.push(((shared & self.kept.shared, mode), self.tidy(next), false));
                }
            }
        }
        settled
    }

    fn goes_on(&self, mode: Mode, point: &Point) -> bool {
        match mode {
            Mode::Atomic => self.goes_on_inside(point),
            Mode::Calm => self.goes_on_alone(point),
            _ => false,
        }
    }

    /// Whether others can neither see nor hinder the next step of a thread.
    pub(super) fn goes_on_alone(&self, point: &Point) -> bool {
        let Some(action) = self.next_action(point) else { return false };
        let local = |expression: &Expression| !reads_shared(expression);
        match action {
            Action::Skip | Action::Goto(_) => true,
            Action::Assign { targets, values, constraint: None } => {
                let own = |target: &Option<Slot>| !matches!(target, Some(Slot::Shared(_)));
                targets.iter().all(own) && values.iter().all(local)
            }
            Action::If(condition, ..) | Action::While(condition, _) | Action::Assert(condition) => local(condition),
            Action::Dead(slots) => slots.iter().all(|slot| matches!(slot, Slot::Local(_))),
            _ => false,
        }
    }

    /// Whether the next step in an atomic section belongs to the one before.
    pub(super) fn goes_on_inside(&self, point: &Point) -> bool {
        let Some(action) = self.next_action(point) else { return false };
        match action {
            Action::Assume(_) | Action::Wait(_) | Action::Lock(_) | Action::Assign { constraint: Some(_), .. } => {
                !self.options.deadlock
            }
            Action::Skip
            | Action::Goto(_)
            | Action::Assign { .. }
            | Action::If(..)
            | Action::While(..)
            | Action::Assert(_)
            | Action::AtomicBegin
            | Action::AtomicEnd
            | Action::Unlock(_)
            | Action::Dead(_) => true,
            _ => false,
        }
    }

    /// The statement that a thread executes next, if nothing forbids to do so at once.
    fn next_action(&self, point: &Point) -> Option<&Action> {
        let procedure = point.procedure as usize;
        let position = self.first_of(procedure, point.position as usize);
        let watched = |at: usize| {
            let targets = &self.program.unreachable;
            targets.iter().any(|target| target.procedure == procedure && target.position == at)
        };
        // A thread that is about to enter an atomic block enters it with a step of its own.
        let enters = position != point.position as usize && !uninterrupted(point);
        let free = point.stage == Stage::Running
            && !enters
            && !watched(position)
            && !watched(point.position as usize)
            && self.program.procedures[procedure].enforced.is_none();
        let inside = self.flows[procedure].atomics(position).next().is_some();
        let action = self.action(&Point { position: position as u32, ..*point });
        action.filter(|_| free && (inside == point.within || uninterrupted(point)))
    }

    /// A point without values that nobody will look at again.
    pub(super) fn tidy(&self, point: Point) -> Point {
        let (procedure, position) = (point.procedure as usize, point.position as usize);
        let kept = match point.stage {
            Stage::Calling => &self.kept.during,
            Stage::Begin => return point,
            _ => &self.kept.at,
        };
        Point { locals: point.locals & kept[procedure][position], ..point }
    }

    fn tidy_mode(&self, mode: Mode) -> Mode {
        match mode {
            Mode::Starting { first, fresh, count, atomic } => {
                Mode::Starting { first: self.tidy(first), fresh, count, atomic }
            }
            mode => mode,
        }
    }
}

fn reads_shared(expression: &Expression) -> bool {
    let mut shared = false;
    expression.slots(&mut |slot| shared |= matches!(slot, Slot::Shared(_)));
    shared
}
