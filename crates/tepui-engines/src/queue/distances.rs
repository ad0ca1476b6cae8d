//! Counters that only differ: integers of a machine that grow for ever, and of which nothing matters but how far they are
//! apart.
//!
//! They are only changed by constants and copied to each other, and only asked whether they are equal. Then machines whose
//! counters are as far apart do the same, and only the distances are kept. Nothing here has to be right for an answer to be
//! right: a step that asks for more than a distance cannot be taken, and whoever takes it notices.

use std::collections::BTreeSet;

use tepui_model::queue::run::Local;
use tepui_model::queue::{Binary, Expression, Instruction, Program, Slot, Value};

/// Variables, by their numbers.
type Variables = BTreeSet<usize>;

/// The variables of a kind of machine that are known by their distances, given the functions that it may be in.
pub(super) fn distances(program: &Program, kind: usize, functions: &BTreeSet<usize>) -> Variables {
    let variables = program.kinds[kind].variables.iter().enumerate();
    let mut counters: Variables =
        variables.filter(|(_, value)| matches!(value, Value::Int(_))).map(|(number, _)| number).collect();
    let code = || functions.iter().flat_map(|function| &program.functions[*function].code);
    loop {
        let mut others = Variables::new();
        code().for_each(|instruction| uses(instruction, &counters, &mut others));
        if others.is_empty() {
            break;
        }
        counters.retain(|number| !others.contains(number));
    }
    let grows = |instruction: &Instruction| match instruction {
        Instruction::Set(place, Expression::Binary(..)) => {
            matches!(place.slot, Slot::Variable(number) if counters.contains(&number))
        }
        _ => false,
    };
    if code().any(grows) { counters } else { Variables::new() }
}

/// Keeps the distances of some variables only.
pub(super) fn keep_distances(counters: &Variables, local: &mut Local) {
    let mut first = None;
    for &number in counters {
        if let Some(value @ (Value::Int(_) | Value::Distance(_))) = local.variables.get_mut(number) {
            let (Value::Int(own) | Value::Distance(own)) = *value else { continue };
            *value = Value::Distance(own.wrapping_sub(*first.get_or_insert(own)));
        }
    }
}

/// Finds counters that an instruction uses for more than their distance.
fn uses(instruction: &Instruction, counters: &Variables, found: &mut Variables) {
    if let Instruction::Set(place, value) = instruction
        && let Slot::Variable(number) = place.slot
        && counters.contains(&number)
    {
        if place.path.is_empty() && is_distance(value, counters) {
            return;
        }
        found.insert(number);
    }
    instruction.expressions().into_iter().for_each(|expression| asked(expression, counters, found));
}

/// Whether it is a counter, or a counter and a constant.
fn is_distance(expression: &Expression, counters: &Variables) -> bool {
    match expression {
        Expression::Read(Slot::Variable(number)) => counters.contains(number),
        Expression::Binary(Binary::Plus | Binary::Minus, left, right) => {
            is_distance(left, counters) && matches!(**right, Expression::Value(Value::Int(_)))
        }
        _ => false,
    }
}

/// Finds counters in an expression of which it asks for more than the distance.
fn asked(expression: &Expression, counters: &Variables, found: &mut Variables) {
    match expression {
        Expression::Binary(Binary::Equal | Binary::Unequal, left, right)
            if is_distance(left, counters) && is_distance(right, counters) => {}
        Expression::Read(Slot::Variable(number)) if counters.contains(number) => _ = found.insert(*number),
        Expression::Value(_) | Expression::This | Expression::Read(_) => {}
        Expression::Item(inner, _) | Expression::Unary(_, inner) | Expression::Cast(inner, _) => {
            asked(inner, counters, found);
        }
        Expression::At(left, right) | Expression::Binary(_, left, right) => {
            asked(left, counters, found);
            asked(right, counters, found);
        }
        Expression::Tuple(parts) | Expression::Record(_, parts) | Expression::Format(_, parts) => {
            parts.iter().for_each(|part| asked(part, counters, found));
        }
    }
}
