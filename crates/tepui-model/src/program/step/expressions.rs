//! Expressions: all values that they may have.

use super::values::{apply, chosen, decided};
use super::{Reading, Runner, Value};
use crate::program::{Expression, Slot};

/// Where variables have their values.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    pub(super) procedure: usize,
    pub(super) shared: &'s [Value],
    pub(super) locals: &'s [Value],
    pub(super) new: Option<(&'s [Value], &'s [Value])>,
}

impl Runner<'_> {
    fn read(&self, slot: Slot, procedure: usize, shared: &[Value], locals: &[Value]) -> Reading<Vec<u32>> {
        let value = match slot {
            Slot::Shared(number) => shared[number],
            Slot::Local(number) => locals[number],
        };
        match value {
            Value::Known(value) => Ok(vec![value]),
            Value::Forgotten => Ok(self.every(self.program.variable(procedure, slot).kind)),
            Value::Unset => Err(slot),
        }
    }

    /// The values that an expression may have.
    pub(super) fn values(&self, expression: &Expression, scope: &Scope<'_>) -> Reading<Vec<u32>> {
        let values = |expression: &Expression| self.values(expression, scope);
        let mut found: Vec<u32> = match expression {
            Expression::Value(value, _) => vec![*value],
            Expression::Any(kind) => self.every(*kind),
            Expression::Read(slot) => self.read(*slot, scope.procedure, scope.shared, scope.locals)?,
            Expression::New(slot) => {
                let (shared, locals) = scope.new.unwrap_or((scope.shared, scope.locals));
                self.read(*slot, scope.procedure, shared, locals)?
            }
            Expression::Not(operand) => values(operand)?.into_iter().map(|value| 1 - value).collect(),
            Expression::Binary(operator, left, right) => {
                let left = values(left)?;
                // The right operand is looked at if some value of the left one leaves something open.
                let right = if left.iter().all(|&left| decided(*operator, left)) { vec![0] } else { values(right)? };
                let pairs = left.iter().flat_map(|&left| right.iter().map(move |&right| (left, right)));
                pairs.map(|(left, right)| u32::from(apply(*operator, left, right))).collect()
            }
            Expression::Choice(condition, then, otherwise) => {
                let branches = values(condition)?.into_iter().map(|value| if value == 1 { then } else { otherwise });
                branches.map(|branch| values(branch)).collect::<Reading<Vec<_>>>()?.concat()
            }
            Expression::Choose(positive, negative) => {
                let positive = values(positive)?;
                let negative = if positive == [1] { vec![0] } else { values(negative)? };
                let pairs = positive.iter().flat_map(|&one| negative.iter().map(move |&other| (one, other)));
                pairs.flat_map(|pair| chosen(pair).iter().copied()).collect()
            }
        };
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}
