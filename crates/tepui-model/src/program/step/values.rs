//! Values: operators, stores, and all combinations of what may be.

use std::ops::Deref;
use std::rc::Rc;

use smallvec::smallvec;

use super::{Effect, Few, Frame, Keep, Shared, Slot, Value};
use crate::program::Operator;

pub(super) fn apply(operator: Operator, left: i64, right: i64) -> i64 {
    match operator {
        Operator::And => i64::from(left == 1 && right == 1),
        Operator::Or => i64::from(left == 1 || right == 1),
        Operator::Xor | Operator::Unequal => i64::from(left != right),
        Operator::Implies => i64::from(left == 0 || right == 1),
        Operator::Equal => i64::from(left == right),
        Operator::Less => i64::from(left < right),
        Operator::AtMost => i64::from(left <= right),
        Operator::Greater => i64::from(left > right),
        Operator::AtLeast => i64::from(left >= right),
        // The reader refuses what could overflow, and divisors that are not above 0.
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::Divide => left.div_euclid(right.max(1)),
        Operator::Modulo => left.rem_euclid(right.max(1)),
    }
}

/// Whether the left operand decides, whatever the right one is.
pub(super) fn decided(operator: Operator, left: i64) -> bool {
    match operator {
        Operator::And | Operator::Implies => left == 0,
        Operator::Or => left == 1,
        _ => false,
    }
}

/// The values of a choice with a pair of conditions.
pub(super) fn chosen(pair: (i64, i64)) -> &'static [i64] {
    match pair {
        (1, _) => &[1],
        (_, 1) => &[0],
        _ => &[0, 1],
    }
}

pub(super) fn put(slot: Slot, value: Value, shared: &mut Shared, frame: &mut Frame) {
    match slot {
        Slot::Shared(number) => Rc::make_mut(shared)[number] = value,
        Slot::Local(number) => frame.locals[number] = value,
    }
}

/// Calls back for all ways to take one item from each list.
pub(super) fn product<T: Clone, L: Deref<Target = [T]>>(choices: &[L], keep: &dyn Keep, found: &mut dyn FnMut(&[T])) {
    let mut at: Few<usize> = smallvec![0; choices.len()];
    if choices.iter().any(|list| list.is_empty()) {
        return;
    }
    let mut row: Few<T> = choices.iter().map(|list| list[0].clone()).collect();
    while keep.goes_on() {
        found(&row);
        // The last list runs fastest.
        let Some(place) = (0..choices.len()).rev().find(|&place| at[place] + 1 < choices[place].len()) else { return };
        at[place] += 1;
        row[place] = choices[place][at[place]].clone();
        for later in place + 1..choices.len() {
            at[later] = 0;
            row[later] = choices[later][0].clone();
        }
    }
}

/// Forgets the values that are not kept.
pub(super) fn forget(effect: &mut Effect, keep: &dyn Keep) {
    match effect {
        Effect::Become(frame) | Effect::Wake(frame, _) => keep.forget(frame),
        Effect::Call { caller, callee } => {
            keep.forget(caller);
            keep.forget(callee);
        }
        Effect::Start { next, started } => {
            keep.forget(next);
            started.iter_mut().for_each(|frame| keep.forget(frame));
        }
        Effect::Return(_) | Effect::End | Effect::Fail(_) => {}
    }
}
