//! Where a value may be out of range, or an index outside of its array: decided by intervals.
//!
//! The interval of an expression follows from the ranges of the variables that it reads, whatever the program does before. A
//! statement whose intervals fit never fails in this way; for the others there are properties.

use super::{Action, Expression, Index, Kind, Operator, Place, Program, Slot};

/// The lowest and the highest value.
pub type Interval = (i64, i64);

/// The numbers of local variables that are known.
type Given<'g> = dyn Fn(usize) -> Option<i64> + 'g;

impl Program {
    /// The numbers that a kind has.
    pub fn range(&self, kind: Kind) -> Interval {
        (kind.lowest(), kind.lowest() + i64::from(self.values(kind)) - 1)
    }

    /// What an expression in a procedure may be. Where it would not fit into 64 bits, the bounds are the last that do.
    pub fn interval(&self, procedure: usize, expression: &Expression) -> Interval {
        self.interval_given(procedure, expression, &|_| None)
    }

    /// The same where numbers of some local variables are known.
    pub fn interval_given(&self, procedure: usize, expression: &Expression, given: &Given<'_>) -> Interval {
        let of = |expression: &Expression| self.interval_given(procedure, expression, given);
        match expression {
            Expression::Value(code, kind) => {
                let value = kind.lowest() + i64::from(*code);
                (value, value)
            }
            Expression::Number(number) => (*number, *number),
            Expression::Any(kind) => self.range(*kind),
            Expression::Read(slot) | Expression::New(slot) => {
                let known = if let Slot::Local(number) = slot { given(*number) } else { None };
                known.map_or_else(|| self.range(self.variable(procedure, *slot).kind), |known| (known, known))
            }
            Expression::Element(element) | Expression::NewElement(element) => self.range(element.kind),
            Expression::Not(_) | Expression::Choose(..) => (0, 1),
            Expression::Negate(operand) => {
                let (low, high) = of(operand);
                (high.saturating_neg(), low.saturating_neg())
            }
            Expression::Binary(operator, left, right) => combined(*operator, of(left), of(right)),
            Expression::Choice(_, then, otherwise) => {
                let (one, other) = (of(then), of(otherwise));
                (one.0.min(other.0), one.1.max(other.1))
            }
        }
    }

    /// Whether a statement may store a value that is out of range.
    pub fn may_leave_range(&self, procedure: usize, position: usize) -> bool {
        let leaves = |(low, high): Interval, kind: Kind| {
            let (lowest, highest) = self.range(kind);
            low < lowest || high > highest
        };
        let one = |(target, value): (&Place, &Expression)| {
            self.kind_of(procedure, target).is_some_and(|kind| leaves(self.interval(procedure, value), kind))
        };
        let given = |called: usize, arguments: &[Expression]| {
            let parameters = self.procedures[called].locals.iter();
            parameters.zip(arguments).any(|(local, value)| leaves(self.interval(procedure, value), local.kind))
        };
        match &self.procedures[procedure].statements[position].action {
            Action::Assign { targets, values, .. } => targets.iter().zip(values).any(one),
            Action::Call { targets, procedure: called, arguments } => {
                let result = |(number, target): (usize, &Place)| {
                    let (kind, result) = (self.kind_of(procedure, target), self.result_interval(*called, number));
                    kind.zip(result).is_some_and(|(kind, result)| leaves(result, kind))
                };
                given(*called, arguments) || targets.iter().enumerate().any(result)
            }
            Action::Start { procedure: called, arguments, .. } => given(*called, arguments),
            Action::Acquire(place) => self.kind_of(procedure, place).is_some_and(|kind| kind.lowest() > 0),
            _ => false,
        }
    }

    /// Whether an index in a statement may be outside of its array.
    pub fn may_leave_array(&self, procedure: usize, position: usize) -> bool {
        let action = &self.procedures[procedure].statements[position].action;
        let mut leaves = false;
        let mut look = |indices: &[Index]| leaves |= indices.iter().any(|index| self.may_miss(procedure, index));
        action.targets().iter().for_each(|target| {
            if let Place::Element(element) = target {
                look(&element.indices);
            }
        });
        if let Action::SleepOn(condition, _) | Action::Wake { condition, .. } = action {
            look(&condition.indices);
        }
        action.expressions(&mut |expression| expression.elements(&mut |element| look(&element.indices)));
        leaves
    }

    /// Whether an index may be outside of its array.
    pub fn may_miss(&self, procedure: usize, index: &Index) -> bool {
        let (low, high) = self.interval(procedure, &index.value);
        low < 0 || high >= i64::from(index.count)
    }

    /// Whether a statement may fail, other than an assertion.
    pub fn is_doubtful(&self, procedure: usize, position: usize) -> bool {
        self.may_leave_range(procedure, position) || self.may_leave_array(procedure, position)
    }

    /// What a place takes; none, if it is nowhere.
    pub fn kind_of(&self, procedure: usize, place: &Place) -> Option<Kind> {
        match place {
            Place::Nowhere => None,
            Place::Variable(slot) => Some(self.variable(procedure, *slot).kind),
            Place::Element(element) => Some(element.kind),
        }
    }

    /// What a procedure may return as one of its results; none, if it never returns.
    pub fn result_interval(&self, procedure: usize, number: usize) -> Option<Interval> {
        let returned = self.procedures[procedure].statements.iter().filter_map(|statement| match &statement.action {
            Action::Return(values) => values.get(number).map(|value| self.interval(procedure, value)),
            _ => None,
        });
        returned.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }
}

fn combined(operator: Operator, (low, high): Interval, right: Interval) -> Interval {
    match operator {
        Operator::Add => (low.saturating_add(right.0), high.saturating_add(right.1)),
        Operator::Subtract => (low.saturating_sub(right.1), high.saturating_sub(right.0)),
        Operator::Multiply => {
            let all = [low, high].map(|left| [right.0, right.1].map(|right| left.saturating_mul(right)));
            let all = all.as_flattened();
            let least = all.iter().copied().min().unwrap_or_default();
            (least, all.iter().copied().max().unwrap_or_default())
        }
        Operator::Divide => (low.div_euclid(right.0.max(1)), high.div_euclid(right.0.max(1))),
        // Where all numbers have the same quotient, they keep their order.
        Operator::Modulo if low.div_euclid(right.0.max(1)) == high.div_euclid(right.0.max(1)) => {
            (low.rem_euclid(right.0.max(1)), high.rem_euclid(right.0.max(1)))
        }
        Operator::Modulo => (0, right.0.max(1) - 1),
        Operator::And | Operator::Or | Operator::Xor | Operator::Implies => (0, 1),
        Operator::Equal | Operator::Unequal => (0, 1),
        Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast => (0, 1),
    }
}
