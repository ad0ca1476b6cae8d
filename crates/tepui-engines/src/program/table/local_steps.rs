//! Several steps in one, where nobody can see the difference; and values that nobody will look at again.
//!
//! *Local steps.* A step that reads and writes local variables only, and that cannot be blocked, can be taken at once: no
//! other thread can see whether it has been taken, and it can be taken whatever others do. So in every execution the
//! local steps that follow a step may be moved directly behind it, and the states between them need not be there.
//! Labels that must not be reached are the exception, and assertions that may fail; and an endless loop of local steps
//! must not swallow the step before it.
//!
//! *Atomic sections.* While a thread is in one, no other moves. What happens there, up to a call or a return, is one
//! step. If the thread is blocked inside, nothing can happen any more, and nothing is lost if the section was not entered
//! at all, and the same holds for a loop without end; unless it is asked for deadlocks, and then the thread rests before
//! steps that may be blocked.
//!
//! Whether a thread *rests* at a point depends on the point alone, never on the way to it: a proof lists the points at which
//! threads rest, and its checker lets a thread pass all others ([`resting`]).

use rustc_hash::FxHashSet;
use tepui_model::program::{Action, Expression, Procedure, Program, Slot};

use super::steps::{Steps, uninterrupted};
use super::{Change, Effect, Mode, Point, Stage};
use tepui_model::program::flow::Flow;

/// After how many results it is asked whether to stop.
const LOOK_EVERY: usize = 4_096;

/// For each procedure, the positions at which a thread may come to stand while another one is uninterrupted: where it is
/// started, or woken. If labels are asked for it must not run on from there, since it might come to a label before its time.
pub(super) fn held_up(program: &Program, flows: &[Flow]) -> Vec<Vec<usize>> {
    let statements = || {
        let procedures = program.procedures.iter().enumerate();
        procedures.flat_map(|(number, procedure)| {
            procedure
                .statements
                .iter()
                .enumerate()
                .map(move |(position, statement)| (number, position, &statement.action))
        })
    };
    let inside = |procedure: usize, position: usize| flows[procedure].atomics(position).next().is_some();
    let calls = |&(number, position, action): &(usize, usize, &Action)| {
        matches!(action, Action::Call { .. }) && inside(number, position)
    };
    let called = |procedure: usize| {
        statements()
            .any(|(_, _, action)| matches!(action, Action::Call { procedure: called, .. } if *called == procedure))
    };
    let anywhere = statements().any(|(_, _, action)| matches!(action, Action::AtomicBegin));
    let by_calls = statements().any(|statement| calls(&statement));
    let mut held_up = vec![Vec::new(); program.procedures.len()];
    if program.unreachable.is_empty() {
        return held_up;
    }
    let mut wakes = false;
    for (number, position, action) in statements() {
        if !(anywhere || inside(number, position) || by_calls && called(number)) {
            continue;
        }
        match action {
            Action::Start { procedure, .. } => held_up[*procedure].push(0),
            Action::StartAt(to) => held_up[number].push(*to),
            Action::Broadcast => wakes = true,
            _ => {}
        }
    }
    for (number, position, _) in statements().filter(|(_, _, action)| wakes && matches!(action, Action::Sleep)) {
        held_up[number].push(flows[number].next[position]);
    }
    held_up
}

/// Positions at which a thread rests that others may interrupt, although the next step is a local one: it is held up there,
/// they cut every loop of local steps, or a return without results leads there.
pub(super) fn resting(
    procedure: &Procedure,
    flow: &Flow,
    held_up: &[usize],
    returned_to: &dyn Fn(usize) -> bool,
) -> Vec<bool> {
    let end = procedure.statements.len();
    let mut rests = vec![false; end + 1];
    held_up.iter().for_each(|&position| rests[position] = true);
    for (position, statement) in procedure.statements.iter().enumerate() {
        if matches!(statement.action, Action::Call { .. }) && returned_to(position) {
            rests[flow.next[position]] = true;
        }
    }
    // Depth first, in the order of the text: where a way of local steps comes back to itself, it does so at the head of a
    // loop.
    let local = |position: usize| procedure.statements.get(position).is_some_and(|s| is_local(&s.action));
    let (mut entered, mut left) = (vec![false; end + 1], vec![false; end + 1]);
    for first in 0..end {
        let mut open = vec![(first, false)];
        while let Some((position, leaves)) = open.pop() {
            if leaves {
                left[position] = true;
            } else if entered[position] {
                rests[position] |= !left[position];
            } else if local(position) && !rests[position] {
                entered[position] = true;
                open.push((position, true));
                open.extend(flow.successors(procedure, position).into_iter().rev().map(|next| (next, false)));
            }
        }
    }
    rests
}

impl Steps<'_> {
    /// What steps of a thread lead to, with the steps that can be taken at once.
    pub(super) fn after_local_steps(&self, found: Vec<(Change, Effect)>) -> Vec<(Change, Effect)> {
        if !self.options.reduce {
            return found;
        }
        let mut rested = Vec::new();
        for ((shared, mode), effect) in found {
            let kept = shared & self.kept.shared;
            match effect {
                Effect::Become(point) if matches!(mode, Mode::Calm | Mode::Atomic) => {
                    let points = self.run_on((kept, mode), point).into_iter();
                    rested.extend(points.map(|(change, point)| (change, Effect::Become(point))));
                }
                // Who starts threads goes on before they are there: they have not moved.
                Effect::Become(point) if matches!(mode, Mode::Starting { .. }) => {
                    let Mode::Starting { first, fresh, count, atomic } = self.tidy_mode(mode) else { continue };
                    let now = if atomic { Mode::Atomic } else { Mode::Calm };
                    rested.extend(self.run_on((kept, now), point).into_iter().map(|((shared, now), point)| {
                        let mode = Mode::Starting { first, fresh, count, atomic: now == Mode::Atomic };
                        ((shared, mode), Effect::Become(point))
                    }));
                }
                Effect::Become(point) => rested.push(((kept, self.tidy_mode(mode)), Effect::Become(self.tidy(point)))),
                Effect::Call { callee, caller } => {
                    let caller = self.tidy(caller);
                    let points = self.run_on((kept, mode), callee).into_iter();
                    rested.extend(points.map(|(change, callee)| (change, Effect::Call { callee, caller })));
                }
                Effect::Leave => rested.push(((kept, mode), Effect::Leave)),
            }
        }
        rested
    }

    /// What becomes of a thread that goes on by itself.
    pub(super) fn run_on(&self, change: Change, point: Point) -> Vec<(Change, Point)> {
        if self.options.keep_steps || !self.options.reduce {
            return vec![(change, self.tidy(point))];
        }
        if !self.goes_on(change.1, &self.tidy(point)) {
            return vec![(change, self.tidy(point))];
        }
        let mut rested = Vec::new();
        let mut seen: FxHashSet<(Change, Point)> = FxHashSet::default();
        let mut open = vec![(change, self.tidy(point))];
        let mut results = 0;
        while let Some(here @ ((shared, mode), point)) = open.pop() {
            if !seen.insert(here) {
                continue; // In an atomic section a loop without end is one that nobody sees; elsewhere there is none.
            }
            if !self.goes_on(mode, &point) {
                rested.push(here);
                continue;
            }
            let mut found = Vec::new();
            self.execute(shared, point, &mut found);
            results += found.len();
            if results >= LOOK_EVERY {
                results = 0;
                if (self.stop)() {
                    return Vec::new(); // Whoever asked looks, too.
                }
            }
            for ((shared, mode), effect) in found.into_iter().rev() {
                if let Effect::Become(next) = effect {
                    open.push(((shared & self.kept.shared, mode), self.tidy(next)));
                }
            }
        }
        rested
    }

    fn goes_on(&self, mode: Mode, point: &Point) -> bool {
        match mode {
            Mode::Atomic => self.goes_on_inside(point),
            Mode::Calm => self.goes_on_alone(point),
            _ => false,
        }
    }

    /// Whether others can neither see nor hinder the next step of a thread, and it is not held up for another reason.
    pub(super) fn goes_on_alone(&self, point: &Point) -> bool {
        let rests = self.rests[point.procedure as usize][point.position as usize];
        !rests && self.next_action(point).is_some_and(|action| is_local(action) && !self.may_fail(action, point))
    }

    /// Whether a point is one at which an assertion may fail: one about shared variables, in some state.
    fn may_fail(&self, action: &Action, point: &Point) -> bool {
        match action {
            Action::Assert(condition) => reads_shared(condition) || self.fails_at(condition, point),
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
            | Action::AtomicBegin
            | Action::AtomicEnd
            | Action::Unlock(_)
            | Action::Dead(_) => true,
            Action::Assert(_) => !self.may_fail(action, point),
            _ => false,
        }
    }

    /// The statement that a thread executes next, if nothing forbids to do so at once.
    fn next_action(&self, point: &Point) -> Option<&Action> {
        let procedure = point.procedure as usize;
        let position = self.first_of(procedure, point.position as usize);
        let watched = || {
            let mut targets = self.program.unreachable.iter().filter(|target| target.procedure == procedure);
            targets.any(|target| self.stands(point, target.position))
        };
        // A thread that is about to enter an atomic block enters it with a step of its own.
        let enters = position != point.position as usize && !uninterrupted(point);
        let free = point.stage == Stage::Running
            && !enters
            && !watched()
            && self.program.procedures[procedure].enforced.is_none();
        self.action(&Point { position: position as u32, ..*point }).filter(|_| free)
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

/// Whether a statement reads and writes local variables only, and cannot block.
fn is_local(action: &Action) -> bool {
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
