//! What expressions can be. Each `*` is chosen anew, so the operands of an operator are independent: the values that
//! an expression can have follow from those that its operands can have. An index may be outside of its array, which is
//! one more thing that an expression can be.

use std::collections::BTreeSet;

use super::kinds::Value;
use super::program::{Part, Place, Slot, Term};
use super::tree::Operator;

/// An index is outside of its array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Outside;

/// What an expression can be.
pub(super) type Possible<T = Value> = BTreeSet<Result<T, Outside>>;

/// The values of variables: shared ones, and those of the frame at hand.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) shared: &'a [Value],
    pub(super) locals: &'a [Value],
}

impl Values<'_> {
    pub(super) fn get(&self, slot: Slot) -> &Value {
        match slot {
            Slot::Shared(index) => &self.shared[index],
            Slot::Local(index) => &self.locals[index],
        }
    }
}

/// What a function makes of everything that is possible.
fn each<T: Ord, U: Ord>(possible: &Possible<T>, mut then: impl FnMut(&T) -> Possible<U>) -> Possible<U> {
    let mut all = BTreeSet::new();
    for one in possible {
        match one {
            Ok(value) => all.extend(then(value)),
            Err(outside) => drop(all.insert(Err(*outside))),
        }
    }
    all
}

fn only<T: Ord>(value: T) -> Possible<T> {
    BTreeSet::from([Ok(value)])
}

fn truths(values: &[bool]) -> Possible {
    values.iter().map(|value| Ok(Value::truth(*value))).collect()
}

/// Whether an operator looks at its right side when its left side is known; if not, what the result is.
fn certain(operator: Operator, left: i64) -> Option<bool> {
    match (operator, left) {
        (Operator::And, 0) => Some(false),
        (Operator::Or, 1) | (Operator::Implies, 0) => Some(true),
        _ => None,
    }
}

fn apply(operator: Operator, left: &Value, right: &Value) -> Value {
    match operator {
        Operator::Equal => return Value::truth(left == right),
        Operator::Unequal | Operator::Xor => return Value::truth(left != right),
        _ => {}
    }
    let (left, right) = (left.number(), right.number());
    match operator {
        Operator::And => Value::truth(left == 1 && right == 1),
        Operator::Or => Value::truth(left == 1 || right == 1),
        Operator::Implies => Value::truth(left == 0 || right == 1),
        Operator::Less => Value::truth(left < right),
        Operator::AtMost => Value::truth(left <= right),
        Operator::Greater => Value::truth(left > right),
        Operator::AtLeast => Value::truth(left >= right),
        Operator::Plus => Value::Number(left + right),
        Operator::Minus => Value::Number(left - right),
        Operator::Times => Value::Number(left * right),
        // The right side is above 0, so that these round down.
        Operator::Divide => Value::Number(left.div_euclid(right)),
        Operator::Modulo => Value::Number(left.rem_euclid(right)),
        Operator::Equal | Operator::Unequal | Operator::Xor => unreachable!("they were handled before"),
    }
}

/// What an expression can be; `old` and `new` are the values before and after an assignment.
pub(super) fn possible(term: &Term, old: Values<'_>, new: Values<'_>) -> Possible {
    let of = |term: &Term| possible(term, old, new);
    match term {
        Term::Constant(value) => only(value.clone()),
        Term::Old(place) => each(&paths(place, old, new), |path| only(old.get(place.slot).part(path).clone())),
        Term::New(place) => each(&paths(place, old, new), |path| only(new.get(place.slot).part(path).clone())),
        Term::Any(values) => values.iter().cloned().map(Ok).collect(),
        Term::Not(inner) => each(&of(inner), |value| truths(&[value.number() == 0])),
        Term::Negative(inner) => each(&of(inner), |value| only(Value::Number(-value.number()))),
        Term::Binary(operator, left, right) => each(&of(left), |one| match one {
            Value::Number(number) if certain(*operator, *number).is_some() => {
                truths(certain(*operator, *number).as_slice())
            }
            _ => each(&of(right), |other| only(apply(*operator, one, other))),
        }),
        Term::Choice(parts) => {
            let [condition, yes, no] = &**parts;
            each(&of(condition), |value| of(if value.number() == 1 { yes } else { no }))
        }
        Term::Schoose(parts) => {
            let [positive, negative] = &**parts;
            // 1 if the first holds, otherwise 0 if the second does, otherwise any.
            let unforced = |value: &Value| truths(if value.number() == 1 { &[false] } else { &[false, true] });
            each(&of(positive), |value| match value.number() {
                1 => truths(&[true]),
                _ => each(&of(negative), unforced),
            })
        }
    }
}

/// Where a place can be: the numbers of the parts, from the variable on.
pub(super) fn paths(place: &Place, old: Values<'_>, new: Values<'_>) -> Possible<Vec<usize>> {
    let mut all = only(Vec::new());
    for part in &place.parts {
        let longer = |path: &Vec<usize>, next: usize| only([path.as_slice(), &[next]].concat());
        all = match part {
            Part::Field(field) => each(&all, |path| longer(path, *field)),
            Part::Element(index, size) => {
                let indices = possible(index, old, new);
                each(&all, |path| {
                    each(&indices, |index| match usize::try_from(index.number()) {
                        Ok(index) if index < *size => longer(path, index),
                        _ => BTreeSet::from([Err(Outside)]),
                    })
                })
            }
        };
    }
    all
}

/// Whether a condition can be true.
pub(super) fn can_hold(term: &Term, values: Values<'_>) -> bool {
    possible(term, values, values).contains(&Ok(Value::Number(1)))
}
