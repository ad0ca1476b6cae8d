//! Executing one statement.

use std::rc::Rc;

use smallvec::smallvec;

use super::expressions::{Scope, Values};
use super::values::{product, put};
use super::{Effect, Failure, Few, Frame, Keep, Reading, Results, Runner, Shared, Stage, Stored, Tell, Value, Woken};
use crate::program::{Action, Block, Expression, Kind, Place, Slot};

/// Is told what storing values leads to.
type Store<'t> = dyn FnMut(Stored) + 't;

/// One step of a frame.
pub(in crate::program) struct Step<'s, 'p> {
    pub(in crate::program) runner: &'s Runner<'p>,
    pub(in crate::program) shared: &'s Shared,
    pub(in crate::program) frame: &'s Frame,
    pub(super) keep: &'s dyn Keep,
}

impl Step<'_, '_> {
    fn scope(&self) -> Scope<'_> {
        Scope { procedure: self.frame.procedure, shared: self.shared, locals: &self.frame.locals, new: None }
    }

    fn values(&self, expressions: &[Expression]) -> Reading<Few<Values>> {
        expressions.iter().map(|expression| self.runner.values(expression, &self.scope())).collect()
    }

    /// The values that some expressions may have. One that is not wanted is not looked at, if nothing in the statement may
    /// be out of range or outside of its array: then any number stands for it.
    fn wanted(
        &self,
        position: usize,
        expressions: &[Expression],
        unwanted: impl Iterator<Item = Option<i64>>,
    ) -> Reading<Few<Values>> {
        let doubtful = self.runner.doubtful[self.frame.procedure][position];
        let values = |(expression, unwanted): (&Expression, Option<i64>)| match unwanted.filter(|_| !doubtful) {
            None => self.runner.values(expression, &self.scope()),
            Some(number) => Ok(Values::one(number)),
        };
        expressions.iter().zip(unwanted).map(values).collect()
    }

    /// The numbers that stand for values that are not wanted in some places.
    fn unwanted<'a>(&'a self, targets: &'a [Place], next: usize) -> impl Iterator<Item = Option<i64>> + 'a {
        let (program, procedure) = (self.runner.program, self.frame.procedure);
        targets.iter().map(move |target| {
            let wanted = target.slots().into_iter().any(|slot| self.keep.wants(procedure, next, slot));
            (!wanted).then(|| program.kind_of(procedure, target).map_or(0, Kind::lowest))
        })
    }

    /// The values that the arguments of a procedure may have; and how giving them may fail.
    fn arguments(
        &self,
        (called, arguments): (usize, &[Expression]),
        position: usize,
        fail: &mut dyn FnMut(Failure),
    ) -> Reading<Few<Few<u32>>> {
        let entry = self.runner.entry(called);
        let kinds = || self.runner.program.procedures[called].locals.iter().map(|local| local.kind);
        let unwanted = (0..)
            .zip(kinds())
            .map(|(number, kind)| (!self.keep.wants(called, entry, Slot::Local(number))).then(|| kind.lowest()));
        let values = self.wanted(position, arguments, unwanted)?;
        let (codes, failures) = self.coded(values.into_iter().zip(kinds().map(Some)));
        failures.into_iter().for_each(fail);
        Ok(codes)
    }

    /// The codes of values that fit, and how storing them may fail; what goes nowhere fits. If no way is left, nothing is.
    fn coded(&self, values: impl Iterator<Item = (Values, Option<Kind>)>) -> (Few<Few<u32>>, Few<Failure>) {
        let (mut codes, mut outside, mut leaves, mut some) = (Few::new(), false, false, true);
        for (values, kind) in values {
            let fitting = self.fitting(&values, kind);
            outside |= values.outside;
            leaves |= fitting.len() < values.numbers.len();
            some &= !values.numbers.is_empty();
            codes.push(fitting);
        }
        // An index that is outside comes before a value that is out of range.
        let failures = [(outside, Failure::Index), (leaves && some, Failure::Range)];
        (codes, failures.into_iter().filter_map(|(fails, failure)| fails.then_some(failure)).collect())
    }

    /// The codes of those values that fit.
    fn fitting(&self, values: &Values, kind: Option<Kind>) -> Few<u32> {
        let (low, high) = kind.map_or((i64::MIN, i64::MAX), |kind| self.runner.program.range(kind));
        let mut codes = Few::new();
        let fits = |number: &&i64| (low..=high).contains(*number);
        values.numbers.iter().filter(fits).for_each(|number| codes.push(number.wrapping_sub(low) as u32));
        codes
    }

    /// Whether a condition may hold, whether it may not, and whether an index may be outside of its array.
    pub(in crate::program) fn may(&self, condition: &Expression) -> Reading<(bool, bool, bool)> {
        let values = self.runner.values(condition, &self.scope())?;
        Ok((values.numbers.contains(&1), values.numbers.contains(&0), values.outside))
    }

    /// The frame when it goes on at a position.
    pub(in crate::program) fn at(&self, position: usize) -> Frame {
        Frame { position, stage: Stage::Running, ..self.frame.clone() }
    }

    /// Executes the statement. If that reads a variable without a value, nothing is told.
    pub(super) fn execute(&self, found: &mut Tell<'_>) -> Reading<()> {
        let (runner, procedure) = (self.runner, self.frame.procedure);
        let position = runner.first_of(procedure, self.frame.position);
        let next = runner.following(procedure, position);
        if runner.program.order.is_some() && self.as_task(position, found)? {
            return Ok(());
        }
        let Some(action) = runner.action(procedure, position) else {
            self.leave(Vec::new(), found);
            return Ok(());
        };
        let go = |may: bool, to: usize, found: &mut Tell<'_>| {
            if may {
                found(Rc::clone(self.shared), Effect::Become(self.at(to)));
            }
        };
        let fail = |fails: bool, failure: Failure, found: &mut Tell<'_>| {
            if fails {
                found(Rc::clone(self.shared), Effect::Fail(failure));
            }
        };
        let branch = |condition: &Expression, yes: usize, no: usize, found: &mut Tell<'_>| {
            let (holds, fails, outside) = self.may(condition)?;
            go(holds, yes, found);
            go(fails, no, found);
            fail(outside, Failure::Index, found);
            Ok(())
        };
        let first = |block: &Block, otherwise: usize| block.first().copied().unwrap_or(otherwise);
        let shared = || Rc::clone(self.shared);
        match action {
            Action::Skip | Action::Yield => go(true, next, found),
            Action::Goto(targets) => targets.iter().for_each(|&to| go(true, to, found)),
            Action::Assume(condition) | Action::Wait(condition) | Action::Assert(condition) => {
                let (holds, fails, outside) = self.may(condition)?;
                go(holds, next, found);
                fail(fails && matches!(action, Action::Assert(_)), Failure::Assertion, found);
                fail(outside, Failure::Index, found);
            }
            Action::If(condition, then, other) => branch(condition, first(then, next), first(other, next), found)?,
            Action::While(condition, body) => branch(condition, first(body, position), next, found)?,
            Action::Atomic(_) => go(true, next, found), // It is empty: the first statement of another one stands for it.
            Action::For(variable, body) => self.loops(*variable, 0, first(body, next), found)?,
            Action::Next(variable, body) => self.next_round(*variable, *body, next, found)?,
            Action::Assign { targets, values, constraint } => {
                let values = match (&targets[..], &values[..], constraint) {
                    // Most assignments are such.
                    ([Place::Variable(slot)], [value], None) => {
                        return self.assign(*slot, value, (position, next), found);
                    }
                    (.., None) => self.wanted(position, values, self.unwanted(targets, next))?,
                    (.., Some(_)) => self.values(values)?,
                };
                let constraint = constraint.as_ref();
                self.store((targets, &values), constraint, next, &mut |stored| self.tell(stored, found))?;
            }
            Action::Dead(slots) => {
                let kind = |slot: &Slot| runner.program.variable(procedure, *slot).kind;
                let any = |slot: &Slot| Values { numbers: runner.every(kind(slot)), outside: false };
                let targets: Vec<_> = slots.iter().map(|&slot| Place::Variable(slot)).collect();
                let values: Vec<_> = slots.iter().map(any).collect();
                self.store((&targets, &values), None, next, &mut |stored| self.tell(stored, found))?;
            }
            Action::Lock(place) => self.take(place, |number| number == 0, 1, next, found)?,
            Action::Unlock(place) => {
                let free = [Values::one(0)];
                self.store((std::slice::from_ref(place), &free), None, next, &mut |stored| self.tell(stored, found))?;
            }
            Action::Acquire(place) => self.take(place, |number| number > 0, -1, next, found)?,
            Action::AtomicBegin | Action::AtomicEnd => {
                let insists = *action == Action::AtomicBegin;
                found(shared(), Effect::Become(Frame { insists, ..self.at(next) }));
            }
            Action::Call { targets, procedure: called, arguments } => {
                let given = (*called, &arguments[..]);
                let given = self.arguments(given, position, &mut |failure| fail(true, failure, found))?;
                self.call(targets, *called, &given, position, found);
            }
            Action::Return(values) => {
                let values = self.values(values)?;
                fail(values.iter().any(|values| values.outside), Failure::Index, found);
                if values.iter().all(|values| !values.numbers.is_empty()) {
                    self.leave(values.into_iter().map(|values| values.numbers).collect(), found);
                }
            }
            Action::Start { procedure: started, arguments, count } => {
                let given = (*started, &arguments[..]);
                let given = self.arguments(given, position, &mut |failure| fail(true, failure, found))?;
                self.start(*started, &given, *count, next, found);
            }
            Action::StartAt(to) => {
                // Both go on with the same values, so one that is still open is given now, if both keep it.
                let wants = |at, slot| self.keep.wants(procedure, at, slot);
                let open = (0..self.frame.locals.len()).filter(|&own| self.frame.locals[own] == Value::Unset);
                if let Some(own) = open.map(Slot::Local).find(|&own| wants(*to, own) && wants(next, own)) {
                    return Err(own);
                }
                let first = Frame { root: true, under: false, insists: false, ..self.at(*to) };
                found(shared(), Effect::Start { next: self.at(next), started: vec![first] });
            }
            Action::EndThread => found(shared(), Effect::End),
            Action::Sleep => found(shared(), Effect::Become(Frame { stage: Stage::Asleep(0), ..self.at(next) })),
            Action::SleepOn(condition, lock) => {
                let (conditions, outside) = runner.conditions(condition, &self.scope())?;
                self.slots(lock)?;
                fail(outside, Failure::Index, found);
                for condition in conditions {
                    let (targets, free) = (std::slice::from_ref(lock), [Values::one(0)]);
                    self.store((targets, &free), None, next, &mut |stored| {
                        let asleep = |frame: Frame| Frame { stage: Stage::Asleep(condition), ..frame };
                        self.tell(stored.map(|(shared, frame)| (shared, asleep(frame))), found);
                    })?;
                }
            }
            Action::Broadcast => found(shared(), Effect::Wake(self.at(next), Woken { condition: 0, all: true })),
            Action::Wake { condition, all } => {
                let (conditions, outside) = runner.conditions(condition, &self.scope())?;
                fail(outside, Failure::Index, found);
                for condition in conditions {
                    found(shared(), Effect::Wake(self.at(next), Woken { condition, all: *all }));
                }
            }
        }
        Ok(())
    }

    /// Stores the value of an expression in a variable. It is at the first of two positions, and goes on at the second.
    fn assign(&self, slot: Slot, value: &Expression, at: (usize, usize), found: &mut Tell<'_>) -> Reading<()> {
        let (procedure, (position, next)) = (self.frame.procedure, at);
        let wanted = self.runner.doubtful[procedure][position] || self.keep.wants(procedure, next, slot);
        let unwanted = || Values::one(self.runner.program.variable(procedure, slot).kind.lowest());
        let values = if wanted { self.runner.values(value, &self.scope())? } else { unwanted() };
        self.store_one(slot, &values, next, &mut |stored| self.tell(stored, found));
        Ok(())
    }

    /// What storing leads to, as an effect.
    fn tell(&self, stored: Stored, found: &mut Tell<'_>) {
        match stored {
            Ok((shared, frame)) => found(shared, Effect::Become(frame)),
            Err(failure) => found(Rc::clone(self.shared), Effect::Fail(failure)),
        }
    }

    /// The variable of a loop becomes the value with a code, and the thread goes on at a position.
    fn loops(&self, variable: usize, code: u32, to: usize, found: &mut Tell<'_>) -> Reading<()> {
        let target = [Place::Variable(Slot::Local(variable))];
        let kind = self.runner.program.procedures[self.frame.procedure].locals[variable].kind;
        let value = [Values::one(kind.lowest() + i64::from(code))];
        self.store((&target, &value), None, to, &mut |stored| self.tell(stored, found))
    }

    /// After a round of a loop: another one with the next value, or the end.
    fn next_round(&self, variable: usize, body: usize, next: usize, found: &mut Tell<'_>) -> Reading<()> {
        let kind = self.runner.program.procedures[self.frame.procedure].locals[variable].kind;
        let last = self.runner.program.values(kind) - 1;
        let values = self.runner.values(&Expression::Read(Slot::Local(variable)), &self.scope())?;
        for number in values.numbers {
            match (number - kind.lowest()) as u32 {
                code if code < last => self.loops(variable, code + 1, body, found)?,
                _ => self.loops(variable, 0, next, found)?,
            }
        }
        Ok(())
    }

    /// Waits until a number is as it must be, and adds something to it.
    fn take(
        &self,
        place: &Place,
        fits: impl Fn(i64) -> bool,
        added: i64,
        next: usize,
        found: &mut Tell<'_>,
    ) -> Reading<()> {
        let (slots, outside) = self.slots(place)?;
        let numbers = slots.iter().map(|&slot| self.numbers(slot)).collect::<Reading<Few<_>>>()?;
        if outside {
            found(Rc::clone(self.shared), Effect::Fail(Failure::Index));
        }
        for (slot, mut numbers) in slots.into_iter().zip(numbers) {
            numbers.retain(|number| fits(*number));
            numbers.iter_mut().for_each(|number| *number += added);
            self.store_one(slot, &Values { numbers, outside: false }, next, &mut |stored| self.tell(stored, found));
        }
        Ok(())
    }

    /// The numbers that a variable may hold.
    pub(in crate::program) fn numbers(&self, slot: Slot) -> Reading<Few<i64>> {
        Ok(self.runner.values(&Expression::Read(slot), &self.scope())?.numbers)
    }

    /// The variables that a place may be, and whether an index may be outside of its array.
    pub(in crate::program) fn slots(&self, place: &Place) -> Reading<(Few<Slot>, bool)> {
        match place {
            Place::Nowhere => Ok((Few::new(), false)),
            Place::Variable(slot) => Ok((smallvec![*slot], false)),
            Place::Element(element) => self.runner.element(element, &self.scope()),
        }
    }

    /// All ways to store values: which variable becomes which of the codes that it may, for each target; and how that may
    /// fail.
    fn ways(&self, targets: &[Place], values: &[Values]) -> Reading<(Few<Way>, Few<Failure>)> {
        let (mut ways, mut wanted) = (Few::new(), Few::new());
        for (target, values) in targets.iter().zip(values) {
            let kind = self.runner.program.kind_of(self.frame.procedure, target);
            let (slots, misses) = self.slots(target)?;
            // A place that is not there is like a value that is not there.
            let numbers = if kind.is_some() && slots.is_empty() { Few::new() } else { values.numbers.clone() };
            wanted.push((Values { numbers, outside: values.outside || misses }, kind));
            ways.push(slots);
        }
        let (codes, failures) = self.coded(wanted.into_iter());
        // A value that goes nowhere only has to be there.
        let matters = |(slots, codes): &Way| !slots.is_empty() || codes.is_empty();
        Ok((ways.into_iter().zip(codes).filter(matters).collect(), failures))
    }

    /// Stores values, each of which may be one of several, and goes on at a position. Old and new values must satisfy the
    /// constraint, if there is one: all are told apart until that is known.
    pub(super) fn store(
        &self,
        (targets, values): (&[Place], &[Values]),
        constraint: Option<&Expression>,
        next: usize,
        found: &mut Store<'_>,
    ) -> Reading<()> {
        if let ([Place::Variable(slot)], [values], None) = (targets, values, constraint) {
            self.store_one(*slot, values, next, found);
            return Ok(());
        }
        let (ways, failures) = self.ways(targets, values)?;
        let mut stored: Few<Stored> = failures.into_iter().map(Err).collect();
        let kept = |slot: Slot, codes: &[u32]| self.keep.stored(self.frame.procedure, next, slot, codes);
        let choices = ways.iter().map(|(slots, codes)| -> Few<(Slot, Value)> {
            let one = |&slot: &Slot| -> Few<(Slot, Value)> {
                match constraint {
                    _ if codes.is_empty() => Few::new(),
                    None => kept(slot, codes).into_iter().map(|value| (slot, value)).collect(),
                    Some(_) => codes.iter().map(|&code| (slot, Value::Known(code))).collect(),
                }
            };
            slots.iter().flat_map(one).collect()
        });
        let mut unset = Ok(());
        product(&choices.collect::<Few<_>>(), self.keep, &mut |chosen| {
            let (mut shared, mut frame) = (Rc::clone(self.shared), self.at(next));
            chosen.iter().for_each(|&(slot, value)| put(slot, value, &mut shared, &mut frame));
            if let Some(constraint) = constraint {
                let scope = Scope { new: Some((&shared[..], &frame.locals[..])), ..self.scope() };
                let holds = self.runner.values(constraint, &scope).map(|values| {
                    if values.outside {
                        stored.push(Err(Failure::Index));
                    }
                    values.numbers.contains(&1)
                });
                if holds != Ok(true) {
                    unset = unset.and(holds.map(|_| ()));
                    return;
                }
                for &(slot, value) in chosen {
                    let codes: Few<_> = value.known().into_iter().collect();
                    kept(slot, &codes).into_iter().for_each(|value| put(slot, value, &mut shared, &mut frame));
                }
            }
            stored.push(Ok((shared, frame)));
        });
        unset.map(|()| stored.into_iter().for_each(found))
    }

    /// The same for one variable: most assignments are such.
    fn store_one(&self, slot: Slot, values: &Values, next: usize, found: &mut Store<'_>) {
        let procedure = self.frame.procedure;
        let codes = self.fitting(values, Some(self.runner.program.variable(procedure, slot).kind));
        let fails = [(values.outside, Failure::Index), (codes.len() < values.numbers.len(), Failure::Range)];
        fails.into_iter().filter(|(fails, _)| *fails).for_each(|(_, failure)| found(Err(failure)));
        let kept = if codes.is_empty() { Few::new() } else { self.keep.stored(procedure, next, slot, &codes) };
        for value in kept.into_iter().take_while(|_| self.keep.goes_on()) {
            let (mut shared, mut frame) = (Rc::clone(self.shared), self.at(next));
            put(slot, value, &mut shared, &mut frame);
            found(Ok((shared, frame)));
        }
    }

    fn call(&self, targets: &[Place], called: usize, arguments: &[Few<u32>], position: usize, found: &mut Tell<'_>) {
        let procedure = self.frame.procedure;
        let (stage, at) = match targets.iter().any(Place::is_somewhere) {
            true => (Stage::Storing, position),
            false => (Stage::Waiting, self.runner.following(procedure, position)),
        };
        let caller = Frame { stage, insists: false, ..self.at(at) };
        let under = self.frame.under || self.runner.is_inside(procedure, position);
        for first in self.runner.first_frames(called, arguments, self.keep) {
            let callee = Frame { root: false, under, insists: self.frame.insists, ..first };
            found(Rc::clone(self.shared), Effect::Call { caller: caller.clone(), callee });
        }
    }

    fn leave(&self, values: Vec<Few<i64>>, found: &mut Tell<'_>) {
        let effect = match self.frame.root {
            true => Effect::End,
            false => Effect::Return(Results { values, insists: self.frame.insists }),
        };
        found(Rc::clone(self.shared), effect);
    }

    /// Arguments are evaluated once for all of the new threads, or tasks, which are pending.
    fn start(&self, started: usize, arguments: &[Few<u32>], count: u32, next: usize, found: &mut Tell<'_>) {
        product(arguments, self.keep, &mut |arguments| {
            let arguments: Vec<_> = arguments.iter().map(|&value| smallvec![value]).collect();
            let choices = vec![self.runner.begun(started, &arguments, self.keep); count as usize];
            product(&choices, self.keep, &mut |started| {
                let started = started.to_vec();
                found(Rc::clone(self.shared), Effect::Start { next: self.at(next), started });
            });
        });
    }
}

/// The variables that a target may be, and the codes that it may become.
type Way = (Few<Slot>, Few<u32>);
