//! What statements touch, read off the text of a program.
//!
//! Threads have in common: the shared variables, the places that threads are started in, and what they sleep on. An element of
//! an array is all that its indices may be. A parameter that is never assigned keeps its value as long as its frame
//! lives, so that `fork[(i + 1) % N]` may be one element.
//!
//! * Who starts a thread writes the places, who ends reads them; a thread that has ended is one that may be started.
//! * Who wakes threads writes the condition, who goes to sleep or sleeps reads it.
//! * A return stores results where the calls of its procedure want them.
//! * What a procedure enforces is read with each of its steps, and when others return to it or call it.
//!
//! What a thread does next ends where it may be interrupted: an atomic block is one step. What it may ever do is what control
//! can get to from any of its frames, in procedures that are called and threads that are started, too.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_model::program::step::{Frame, Runner, Stage};
use tepui_model::program::{Action, Condition, Element, Expression, Index, Place, Program, Slot};

use crate::lemma::{Footprint, Touched};

/// A position of a procedure, with the numbers of local variables that are known and never change.
type Point = (usize, usize, Rc<[Option<i64>]>);

/// Footprints of a program.
pub(super) struct Footprints<'p> {
    runner: Runner<'p>,
    /// The shared variables whose values are kept: others may have any value.
    kept: &'p [usize],
    /// For each procedure and parameter whether it is never assigned.
    constant: Vec<Vec<bool>>,
    ever: RefCell<FxHashMap<Point, Rc<Footprint>>>,
}

impl<'p> Footprints<'p> {
    pub(super) fn new(program: &'p Program, kept: &'p [usize]) -> Self {
        let constant = program.procedures.iter().map(|procedure| {
            let mut constant = vec![true; procedure.parameters];
            let mut assigned = |slot: Slot| {
                if let Slot::Local(number) = slot {
                    constant.get_mut(number).into_iter().for_each(|constant| *constant = false);
                }
            };
            for statement in &procedure.statements {
                statement.action.targets().iter().flat_map(Place::slots).for_each(&mut assigned);
                match &statement.action {
                    Action::Dead(slots) => slots.iter().copied().for_each(&mut assigned),
                    Action::For(variable, _) => assigned(Slot::Local(*variable)),
                    _ => {}
                }
            }
            constant
        });
        let (runner, constant) = (Runner::new(program), constant.collect());
        Self { runner, kept, constant, ever: RefCell::default() }
    }

    /// What a thread touches, given the frame on top, if there is one, and all that it has and may have.
    pub(super) fn touched<'f>(&self, top: Option<&Frame>, frames: impl Iterator<Item = &'f Frame>) -> Touched {
        let (mut next, mut ever) = (Footprint::default(), Footprint::default());
        frames.for_each(|frame| ever.add(&self.ever(&self.point(frame))));
        match top {
            None => next.reads.insert(self.places()),
            Some(Frame { stage: Stage::Asleep(condition), .. }) => {
                next.reads.insert(self.condition(*condition));
                ever.add(&next);
            }
            Some(frame) => next = self.next(&self.point(frame)).unwrap_or_else(|| ever.clone()),
        }
        Touched { next, ever }
    }

    /// Shared variables come first, then the places for threads, then what threads sleep on.
    fn places(&self) -> usize {
        self.runner.program().shared.len()
    }

    fn condition(&self, number: u32) -> usize {
        self.places() + 1 + number as usize
    }

    /// Where a frame goes on, by itself or when the procedure that it waits for has returned.
    fn point(&self, frame: &Frame) -> Point {
        let position = match frame.stage {
            Stage::Storing => self.runner.following(frame.procedure, frame.position),
            _ => frame.position,
        };
        let locals = &self.runner.program().procedures[frame.procedure].locals;
        let known = self.constant[frame.procedure].iter().zip(locals.iter().zip(&frame.locals));
        let known = known.map(|(constant, (variable, value))| {
            value.known().filter(|_| *constant).map(|code| variable.kind.lowest() + i64::from(code))
        });
        (frame.procedure, position, known.collect())
    }

    /// What may ever happen from a point on. It is found out for later points first, from which less is to be seen.
    fn ever(&self, point: &Point) -> Rc<Footprint> {
        for point in self.look(point.clone(), &mut Footprint::default()).into_iter().rev() {
            let mut found = Footprint::default();
            self.look(point.clone(), &mut found);
            self.ever.borrow_mut().insert(point, Rc::new(found));
        }
        Rc::clone(&self.ever.borrow()[point])
    }

    /// Adds what may ever happen from a point on; returns the points from which that was not known.
    fn look(&self, point: Point, found: &mut Footprint) -> BTreeSet<Point> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![point]);
        while let Some(point) = open.pop() {
            if let Some(known) = self.ever.borrow().get(&point) {
                found.add(known);
            } else if seen.insert(point.clone()) {
                self.add_statement(&point, found);
                open.extend(self.after(&point).chain(self.entered(&point)));
            }
        }
        seen
    }

    /// What happens from a point on until the thread may be interrupted; nothing, if that may be anything, since others are
    /// called in an atomic section, or its end is not that of a block.
    fn next(&self, (procedure, position, known): &Point) -> Option<Footprint> {
        let first = (*procedure, self.runner.first_of(*procedure, *position), Rc::clone(known));
        let (mut found, mut seen, mut open) = (Footprint::default(), FxHashSet::default(), vec![first]);
        while let Some(point) = open.pop() {
            seen.insert(point.clone());
            self.add_statement(&point, &mut found);
            let inside = self.runner.is_inside(point.0, point.1);
            if self.action(&point) == Some(&Action::AtomicBegin) || (inside && self.entered(&point).is_some()) {
                return None;
            }
            let goes_on = |next: &Point| inside && self.runner.is_inside(next.0, next.1) && !seen.contains(next);
            open.extend(self.after(&point).filter(goes_on));
        }
        Some(found)
    }

    fn action(&self, (procedure, position, _): &Point) -> Option<&'p Action> {
        self.runner.action(*procedure, *position)
    }

    /// Where the procedure may go on.
    fn after(&self, (procedure, position, known): &Point) -> impl Iterator<Item = Point> {
        let (procedure, known) = (*procedure, Rc::clone(known));
        let next = self.runner.successors(procedure, *position).into_iter();
        next.map(move |position| (procedure, position, Rc::clone(&known)))
    }

    /// Where the procedure begins that is called or that a new thread runs.
    fn entered(&self, point: &Point) -> Option<Point> {
        let (Action::Call { procedure, .. } | Action::Start { procedure, .. }) = self.action(point)? else {
            return None;
        };
        Some((*procedure, self.runner.entry(*procedure), Rc::from([])))
    }

    fn interval(&self, (procedure, _, known): &Point, expression: &Expression) -> (i64, i64) {
        self.runner.program().interval_given(*procedure, expression, &|number| known.get(number).copied().flatten())
    }

    /// Adds what the statement at a point touches.
    fn add_statement(&self, point: &Point, found: &mut Footprint) {
        let procedure = &self.runner.program().procedures[point.0];
        procedure.enforced.iter().for_each(|condition| self.add_reads(point, condition, found));
        let Some(action) = self.action(point) else { return self.add_return(point.0, found) };
        action.expressions(&mut |expression| self.add_reads(point, expression, found));
        let stored = if let Action::Call { .. } = action { &[] } else { action.targets() };
        stored.iter().for_each(|target| self.add_write(point, target, found));
        match action {
            Action::Return(_) => self.add_return(point.0, found),
            Action::EndThread => found.reads.insert(self.places()),
            Action::Start { .. } | Action::StartAt(_) => found.writes.insert(self.places()),
            Action::Call { procedure, .. } => {
                let enforced = &self.runner.program().procedures[*procedure].enforced;
                enforced.iter().for_each(|condition| self.add_reads(&(*procedure, 0, Rc::from([])), condition, found));
            }
            Action::Sleep => found.reads.insert(self.condition(0)),
            Action::Broadcast => found.writes.insert(self.condition(0)),
            Action::SleepOn(condition, _) => {
                self.conditions(point, condition).for_each(|number| found.reads.insert(number));
            }
            Action::Wake { condition, .. } => {
                self.conditions(point, condition).for_each(|number| found.writes.insert(number));
            }
            Action::Dead(slots) => {
                slots.iter().for_each(|&slot| self.add_write(point, &Place::Variable(slot), found));
            }
            _ => {}
        }
    }

    /// Adds what happens when a procedure returns, whoever has called it, or its thread ends.
    fn add_return(&self, procedure: usize, found: &mut Footprint) {
        found.reads.insert(self.places());
        for (number, caller) in self.runner.program().procedures.iter().enumerate() {
            for statement in &caller.statements {
                if let Action::Call { targets, procedure: called, .. } = &statement.action
                    && *called == procedure
                {
                    let point = (number, 0, Rc::from([]));
                    caller.enforced.iter().for_each(|condition| self.add_reads(&point, condition, found));
                    for target in targets {
                        target.indices(&mut |index| self.add_reads(&point, index, found));
                        self.add_write(&point, target, found);
                    }
                }
            }
        }
    }

    fn add_reads(&self, point: &Point, expression: &Expression, found: &mut Footprint) {
        expression.parts(&mut |part| {
            let slots = match part {
                Expression::Read(slot) | Expression::New(slot) => vec![*slot],
                Expression::Element(element) | Expression::NewElement(element) => self.slots(point, element),
                _ => Vec::new(),
            };
            self.shared(&slots).for_each(|number| found.reads.insert(number));
        });
    }

    fn add_write(&self, point: &Point, place: &Place, found: &mut Footprint) {
        let slots =
            if let Place::Element(element) = place { self.slots(point, element) } else { place.slots().into_vec() };
        self.shared(&slots).for_each(|number| found.writes.insert(number));
    }

    /// Those of some variables that are shared and kept.
    fn shared(&self, slots: &[Slot]) -> impl Iterator<Item = usize> {
        let kept = |slot: &Slot| match *slot {
            Slot::Shared(number) if self.kept.binary_search(&number).is_ok() => Some(number),
            Slot::Shared(_) | Slot::Local(_) => None,
        };
        slots.iter().filter_map(kept)
    }

    /// The variables that an element may be.
    fn slots(&self, point: &Point, element: &Element) -> Vec<Slot> {
        element.slots_within(&|index: &Index| self.interval(point, &index.value))
    }

    fn conditions(&self, point: &Point, condition: &Condition) -> impl Iterator<Item = usize> {
        let numbers = condition.numbers_within(&|index: &Index| self.interval(point, &index.value));
        numbers.into_iter().map(|number| self.condition(number))
    }
}
