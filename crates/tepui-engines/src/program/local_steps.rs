//! Several steps in one, where nobody can see the difference; and values that nobody will look at again.
//!
//! *Local steps.* A step that reads and writes local variables only, and that cannot be blocked, can be taken at once: no
//! other thread can see whether it has been taken, and it can be taken whatever others do. So in every execution the
//! local steps that follow a step may be moved directly behind it, and the states between them need not be there.
//! Labels that must not be reached are the exception, and assertions that may fail; and an endless loop of local steps
//! must not swallow the step before it.
//!
//! *One thread.* In a program that starts no threads there is nobody else, and a step may read and write shared variables
//! as well. Ways meet where control flow does, and there the thread rests: what follows is looked at once. It does so at every
//! third place only: with choices in a row that make a difference there are fewer states, and where they make none, 14 steps
//! are taken instead of 6.
//!
//! *Atomic sections.* While a thread is in one, no other moves. What happens there, up to a call or a return, is one
//! step. If the thread is blocked inside, nothing can happen any more, and nothing is lost if the section was not entered
//! at all, and the same holds for a loop without end; unless it is asked for deadlocks, and then the thread rests before
//! steps that may be blocked.
//!
//! Whether a thread *rests* at a point depends on the point alone, never on the way to it: a proof lists the points at which
//! threads rest, and its checker lets a thread pass all others ([`Passed`]).

use tepui_model::program::flow::Flow;
use tepui_model::program::{Action, Expression, Place, Procedure, Program, Slot};

use super::Face;
use super::code::{Code, Op};
use super::layout::{Head, Stage};
use super::machine::{Machine, Outcome};
use super::table::tells_always;

/// Whether a thread goes on from a position without being seen there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// It rests.
    Never,
    /// It goes on.
    Always,
    /// It goes on unless the statement there, which is about local variables, may fail.
    UnlessFails,
}

/// For each procedure, the positions at which a thread may come to stand while another one is uninterrupted: where it is
/// started, or woken. If labels are asked for it must not run on from there, since it might come to a label before its time.
fn held_up(program: &Program, flows: &[Flow]) -> Vec<Vec<usize>> {
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
            Action::Broadcast | Action::Wake { .. } => wakes = true,
            _ => {}
        }
    }
    let sleeps = |action: &Action| matches!(action, Action::Sleep | Action::SleepOn(..));
    for (number, position, _) in statements().filter(|(_, _, action)| wakes && sleeps(action)) {
        held_up[number].push(flows[number].next[position]);
    }
    held_up
}

/// Adds positions that cut every loop of steps that are passed.
fn cut_loops(procedure: &Procedure, flow: &Flow, passes: impl Fn(usize) -> bool, rests: &mut [bool]) {
    let end = procedure.statements.len();
    // Depth first, in the order of the text: where a way of such steps comes back to itself, it does so at the head of a
    // loop.
    let (mut entered, mut left) = (vec![false; end + 1], vec![false; end + 1]);
    for first in 0..end {
        let mut open = vec![(first, false)];
        while let Some((position, leaves)) = open.pop() {
            if leaves {
                left[position] = true;
            } else if entered[position] {
                rests[position] |= !left[position];
            } else if passes(position) && !rests[position] {
                entered[position] = true;
                open.push((position, true));
                open.extend(flow.successors(procedure, position).into_iter().rev().map(|next| (next, false)));
            }
        }
    }
}

/// For each position whether control comes there from several others.
fn joins(procedure: &Procedure, flow: &Flow) -> Vec<bool> {
    let mut ways = vec![0; procedure.statements.len() + 1];
    let all = (0..procedure.statements.len()).flat_map(|position| flow.successors(procedure, position));
    all.for_each(|position| ways[position] += 1);
    ways.into_iter().map(|ways| ways > 1).collect()
}

impl Code {
    /// Finds out from which positions threads go on.
    pub(super) fn allow_passing(&mut self, flows: &[Flow], face: Face) {
        if !self.options.reduce || self.options.keep_steps {
            return;
        }
        let program = std::sync::Arc::clone(&self.program);
        let held_up = held_up(&program, flows);
        for (number, (procedure, flow)) in program.procedures.iter().zip(flows).enumerate() {
            let mut rests = vec![false; procedure.statements.len() + 1];
            held_up[number].iter().for_each(|&position| rests[position] = true);
            if face == Face::Raw {
                self.rest_after_calls(procedure, flow, &mut rests);
            }
            let one_thread = !program.starts_threads();
            if one_thread {
                let joins = rests.iter_mut().zip(joins(procedure, flow)).filter(|(_, joins)| *joins);
                joins.skip(2).step_by(3).for_each(|(rests, _)| *rests = true);
            }
            let is_passed = |position: usize| {
                let action = procedure.statements.get(position).map(|statement| &statement.action);
                action.is_some_and(|action| is_local(action) || one_thread && self.belongs_to_section(action))
            };
            cut_loops(procedure, flow, is_passed, &mut rests);
            let may_pass = |position: usize, alone: bool| {
                self.may_pass(procedure, number, position, alone.then(|| is_passed(position)))
            };
            // Threads from the start begin in one way: where there are several, they rest at the beginning.
            for entry in self.entries(number) {
                let alone = |position: usize| !rests[position] && may_pass(position, true) != Passed::Never;
                // One thread may change shared variables on its way.
                if one_thread || self.branches_from(procedure, flow, entry, &alone, number) {
                    rests[entry] = true;
                }
            }
            let found: Vec<_> = (0..rests.len())
                .map(|position| {
                    let alone = if rests[position] { Passed::Never } else { may_pass(position, true) };
                    [alone, may_pass(position, false)]
                })
                .collect();
            let instructions = self.procedures[number].instructions.iter_mut();
            instructions.zip(found).for_each(|(instruction, passed)| instruction.passed = passed);
        }
    }

    /// As a rule of a pushdown system, a return that leaves nothing behind ends where the caller goes on.
    fn rest_after_calls(&self, procedure: &Procedure, flow: &Flow, rests: &mut [bool]) {
        let always = tells_always(&self.program);
        for (position, statement) in procedure.statements.iter().enumerate() {
            if let Action::Call { procedure: called, .. } = &statement.action {
                let inside = flow.atomics(position).next().is_some();
                rests[flow.next[position]] |= !always && !inside && self.program.procedures[*called].results.is_empty();
            }
        }
    }

    /// Where threads that are there from the start begin in a procedure.
    fn entries(&self, number: usize) -> Vec<usize> {
        let entry = self.procedures[number].entry;
        let Some(setup) = &self.setup else {
            return if number == self.program.main { vec![entry] } else { Vec::new() };
        };
        let started = setup.started.iter().any(|(procedure, _)| *procedure == number).then_some(entry);
        setup.main.filter(|_| number == self.program.main).into_iter().chain(started).collect()
    }

    /// Whether there are several ways to go on alone from a position.
    fn branches_from(
        &self,
        procedure: &Procedure,
        flow: &Flow,
        entry: usize,
        alone: &dyn Fn(usize) -> bool,
        number: usize,
    ) -> bool {
        let (mut open, mut seen) = (vec![entry], vec![false; procedure.statements.len() + 1]);
        while let Some(position) = open.pop() {
            if std::mem::replace(&mut seen[position], true) || !alone(position) {
                continue;
            }
            if self.procedures[number].instructions[position].chooses {
                return true;
            }
            open.extend(flow.successors(procedure, position));
        }
        false
    }

    /// Whether nothing but where it stands keeps a thread from going on: one that others may interrupt, of which `unseen` says
    /// whether they do not see the statement, or one that nobody may.
    fn may_pass(&self, procedure: &Procedure, number: usize, position: usize, unseen: Option<bool>) -> Passed {
        let at = self.procedures[number].instructions[position].at;
        let Some(action) = procedure.statements.get(at).map(|statement| &statement.action) else {
            return Passed::Never;
        };
        let watched = self
            .program
            .unreachable
            .iter()
            .any(|target| target.procedure == number && stands(procedure, position, target.position));
        // A thread that is about to enter an atomic block enters it with a step of its own.
        if procedure.enforced.is_some() || watched || unseen.is_some() && at != position {
            return Passed::Never;
        }
        match action {
            // A frame rests always or never, and whether this fails is not seen from the frame, not even in a section.
            Action::Assert(condition) if reads_shared(condition) => Passed::Never,
            Action::Assert(_) => Passed::UnlessFails,
            action if self.program.is_doubtful(number, at) => {
                if is_local(action) {
                    Passed::UnlessFails
                } else {
                    Passed::Never
                }
            }
            action if unseen.unwrap_or_else(|| self.belongs_to_section(action)) => Passed::Always,
            _ => Passed::Never,
        }
    }

    /// Whether a statement in an atomic section belongs to the step before.
    fn belongs_to_section(&self, action: &Action) -> bool {
        match action {
            Action::Assume(_) | Action::Wait(_) | Action::Lock(_) | Action::Acquire(_) => !self.options.deadlock,
            Action::Assign { constraint: Some(_), .. } => !self.options.deadlock,
            Action::Skip
            | Action::Goto(_)
            | Action::Assign { .. }
            | Action::If(..)
            | Action::While(..)
            | Action::AtomicBegin
            | Action::AtomicEnd
            | Action::For(..)
            | Action::Next(..)
            | Action::Unlock(_)
            | Action::Dead(_) => true,
            _ => false,
        }
    }

    /// Whether the thread at hand goes on without being seen.
    #[inline]
    pub(super) fn goes_on(&self, machine: &mut Machine) -> bool {
        let head = machine.head();
        if head.stage() != Stage::Running {
            return false;
        }
        let instruction = self.instruction(head);
        match instruction.passed[usize::from(self.is_uninterrupted(head))] {
            Passed::Never => false,
            Passed::Always => true,
            Passed::UnlessFails => !self.may_fail(machine, head),
        }
    }

    /// Whether the statement at hand, which is about local variables, may fail.
    fn may_fail(&self, machine: &mut Machine, head: Head) -> bool {
        let instruction = self.instruction(head);
        if let Op::Assert(condition) = &instruction.action
            && !instruction.chooses
            && !instruction.doubtful
        {
            return machine.value(condition) == 0;
        }
        let (shared, frame) = (machine.shared.clone(), machine.frame.clone());
        let outer = std::mem::take(&mut machine.choices);
        let mut fails = false;
        self.settle(&shared, &frame, &mut |shared, frame| {
            machine.choices.clear();
            loop {
                machine.load(shared, frame);
                fails |= self.execute(machine) == Outcome::Fails;
                if fails || !machine.choices.advance() {
                    break;
                }
            }
        });
        machine.load(&shared, &frame);
        machine.choices = outer;
        fails
    }
}

/// Whether a thread at a position stands at another: there, at an atomic block that begins there, or at the statement that
/// it executes next.
pub(super) fn stands(procedure: &Procedure, mut at: usize, position: usize) -> bool {
    while at != position {
        let Some(Action::Atomic(block)) = procedure.statements.get(at).map(|statement| &statement.action) else {
            return false;
        };
        let Some(&first) = block.first() else { return false };
        at = first;
    }
    true
}

fn reads_shared(expression: &Expression) -> bool {
    let mut shared = false;
    expression.slots(&mut |slot| shared |= matches!(slot, Slot::Shared(_)));
    shared
}

/// Whether a place is local, and so is all that leads to it.
fn is_own(place: &Place) -> bool {
    let mut own = place.slots().iter().all(|slot| matches!(slot, Slot::Local(_)));
    place.indices(&mut |index| own &= !reads_shared(index));
    own
}

/// Whether a statement reads and writes local variables only, and cannot block.
fn is_local(action: &Action) -> bool {
    let local = |expression: &Expression| !reads_shared(expression);
    match action {
        Action::Skip | Action::Goto(_) => true,
        Action::Assign { targets, values, constraint: None } => targets.iter().all(is_own) && values.iter().all(local),
        Action::For(..) | Action::Next(..) => true,
        Action::If(condition, ..) | Action::While(condition, _) | Action::Assert(condition) => local(condition),
        Action::Dead(slots) => slots.iter().all(|slot| matches!(slot, Slot::Local(_))),
        _ => false,
    }
}
