//! Values: operators, stores, and all combinations of what may be.

use super::{Effect, Frame, Keep, Place, Slot, Value};
use crate::program::Operator;

pub(super) fn apply(operator: Operator, left: u32, right: u32) -> bool {
    match operator {
        Operator::And => left == 1 && right == 1,
        Operator::Or => left == 1 || right == 1,
        Operator::Xor | Operator::Unequal => left != right,
        Operator::Implies => left == 0 || right == 1,
        Operator::Equal => left == right,
    }
}

/// Whether the left operand decides, whatever the right one is.
pub(super) fn decided(operator: Operator, left: u32) -> bool {
    match operator {
        Operator::And | Operator::Implies => left == 0,
        Operator::Or => left == 1,
        Operator::Xor | Operator::Unequal | Operator::Equal => false,
    }
}

/// The values of a choice with a pair of conditions.
pub(super) fn chosen(pair: (u32, u32)) -> &'static [u32] {
    match pair {
        (1, _) => &[1],
        (_, 1) => &[0],
        _ => &[0, 1],
    }
}

/// What is stored, and where: some results are not wanted.
pub(super) fn stored(targets: &[Place], values: &[Vec<u32>]) -> (Vec<Slot>, Vec<Vec<u32>>) {
    targets.iter().zip(values).filter_map(|(target, values)| Some(((*target)?, values.clone()))).unzip()
}

pub(super) fn put(slot: Slot, value: Value, shared: &mut [Value], frame: &mut Frame) {
    match slot {
        Slot::Shared(number) => shared[number] = value,
        Slot::Local(number) => frame.locals[number] = value,
    }
}

/// Calls back for all ways to take one item from each list.
pub(super) fn product<T: Clone>(choices: &[Vec<T>], keep: &dyn Keep, found: &mut dyn FnMut(&[T])) {
    let mut at = vec![0; choices.len()];
    if choices.iter().any(Vec::is_empty) {
        return;
    }
    let mut row: Vec<T> = choices.iter().map(|list| list[0].clone()).collect();
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

/// The effect without the values that are not kept.
pub(super) fn forgotten(mut effect: Effect, keep: &dyn Keep) -> Effect {
    match &mut effect {
        Effect::Become(frame) | Effect::Wake(frame) => keep.forget(frame),
        Effect::Call { caller, callee } => {
            keep.forget(caller);
            keep.forget(callee);
        }
        Effect::Start { next, started } => {
            keep.forget(next);
            started.iter_mut().for_each(|frame| keep.forget(frame));
        }
        Effect::Return(_) | Effect::End | Effect::Fail => {}
    }
    effect
}
