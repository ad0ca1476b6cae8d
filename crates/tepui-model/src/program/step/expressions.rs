//! Expressions: all values that they may have.

use smallvec::smallvec;

use super::values::{apply, chosen, decided};
use super::{Few, Reading, Runner, Value};
use crate::program::{Condition, Element, Expression, Index, Slot};

/// Where variables have their values.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) procedure: usize,
    pub(super) shared: &'s [Value],
    pub(super) locals: &'s [Value],
    pub(super) new: Option<(&'s [Value], &'s [Value])>,
}

/// What an expression may be.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Values {
    /// Its values.
    pub(super) numbers: Few<i64>,
    /// Whether an index may be outside of its array.
    pub(super) outside: bool,
}

impl Values {
    /// One value.
    pub(super) fn one(number: i64) -> Self {
        Self { numbers: smallvec![number], outside: false }
    }

    fn of(mut numbers: Few<i64>, outside: bool) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        Self { numbers, outside }
    }
}

impl Runner<'_> {
    fn read(&self, slot: Slot, procedure: usize, shared: &[Value], locals: &[Value]) -> Reading<Values> {
        let value = match slot {
            Slot::Shared(number) => shared[number],
            Slot::Local(number) => locals[number],
        };
        let kind = self.program.variable(procedure, slot).kind;
        match value {
            Value::Known(code) => Ok(Values::one(kind.lowest() + i64::from(code))),
            Value::Forgotten => Ok(Values::of(self.every(kind), false)),
            Value::Unset => Err(slot),
        }
    }

    /// How far indices may lead, and whether one may be outside of its array.
    fn distances(&self, indices: &[Index], scope: &Scope<'_>) -> Reading<Values> {
        let mut found = Values::one(0);
        for index in indices {
            let values = self.values(&index.value, scope)?;
            let inside = |number: &&i64| (0..i64::from(index.count)).contains(*number);
            found.outside |= values.outside || !values.numbers.iter().all(|number| inside(&number));
            let steps = || values.numbers.iter().filter(inside).map(|number| number * index.stride as i64);
            found.numbers = found.numbers.iter().flat_map(|start| steps().map(move |step| start + step)).collect();
        }
        Ok(found)
    }

    /// The variables that an element may be, and whether an index may be outside.
    pub(super) fn element(&self, element: &Element, scope: &Scope<'_>) -> Reading<(Few<Slot>, bool)> {
        let Values { numbers, outside } = self.distances(&element.indices, scope)?;
        Ok((numbers.iter().map(|&distance| element.first.after(distance as usize)).collect(), outside))
    }

    /// The conditions that one may be, and whether an index may be outside.
    pub(super) fn conditions(&self, condition: &Condition, scope: &Scope<'_>) -> Reading<(Few<u32>, bool)> {
        let Values { numbers, outside } = self.distances(&condition.indices, scope)?;
        Ok((numbers.iter().map(|&distance| condition.first + distance as u32).collect(), outside))
    }

    fn read_element(&self, element: &Element, scope: &Scope<'_>, new: bool) -> Reading<Values> {
        let (slots, outside) = self.element(element, scope)?;
        let (shared, locals) = scope.new.filter(|_| new).unwrap_or((scope.shared, scope.locals));
        let mut numbers = Few::new();
        for slot in slots {
            numbers.extend(self.read(slot, scope.procedure, shared, locals)?.numbers);
        }
        Ok(Values::of(numbers, outside))
    }

    /// The values that an expression may have.
    pub(super) fn values(&self, expression: &Expression, scope: &Scope<'_>) -> Reading<Values> {
        let values = |expression: &Expression| self.values(expression, scope);
        Ok(match expression {
            Expression::Value(code, kind) => Values::one(kind.lowest() + i64::from(*code)),
            Expression::Number(number) => Values::one(*number),
            Expression::Any(kind) => Values::of(self.every(*kind), false),
            Expression::Read(slot) => self.read(*slot, scope.procedure, scope.shared, scope.locals)?,
            Expression::New(slot) => {
                let (shared, locals) = scope.new.unwrap_or((scope.shared, scope.locals));
                self.read(*slot, scope.procedure, shared, locals)?
            }
            Expression::Element(element) => self.read_element(element, scope, false)?,
            Expression::NewElement(element) => self.read_element(element, scope, true)?,
            Expression::Not(operand) => {
                let operand = values(operand)?;
                Values::of(operand.numbers.iter().map(|value| 1 - value).collect(), operand.outside)
            }
            Expression::Negate(operand) => {
                let operand = values(operand)?;
                Values::of(operand.numbers.iter().map(|value| -value).collect(), operand.outside)
            }
            Expression::Binary(operator, left, right) => {
                let left = values(left)?;
                // The right operand is looked at if some value of the left one leaves something open.
                let open = left.numbers.iter().any(|&left| !decided(*operator, left));
                let right = if open { values(right)? } else { Values::one(0) };
                // What the left one decides has a value even if the right one has none.
                let certain = left.numbers.iter().filter(|&&left| decided(*operator, left));
                let certain = certain.map(|&left| apply(*operator, left, 0));
                let pairs = left.numbers.iter().flat_map(|&left| right.numbers.iter().map(move |&right| (left, right)));
                let found = pairs.map(|(left, right)| apply(*operator, left, right)).chain(certain).collect();
                Values::of(found, left.outside || right.outside)
            }
            Expression::Choice(condition, then, otherwise) => {
                let condition = values(condition)?;
                let mut found = Values { numbers: Few::new(), outside: condition.outside };
                for value in condition.numbers {
                    let branch = values(if value == 1 { then } else { otherwise })?;
                    found.numbers.extend(branch.numbers);
                    found.outside |= branch.outside;
                }
                Values::of(found.numbers, found.outside)
            }
            Expression::Choose(positive, negative) => {
                let positive = values(positive)?;
                let negative = if positive.numbers[..] == [1] { Values::one(0) } else { values(negative)? };
                let certain = positive.numbers.iter().filter(|&&one| one == 1).copied();
                let pairs =
                    positive.numbers.iter().flat_map(|&one| negative.numbers.iter().map(move |&two| (one, two)));
                let found = pairs.flat_map(|pair| chosen(pair).iter().copied()).chain(certain).collect();
                Values::of(found, positive.outside || negative.outside)
            }
        })
    }
}
