//! The instances of a parametric test.

use std::collections::{HashMap, HashSet};

use tepui_model::queue::{Binary, Value};

use super::names::Names;
use super::syntax::{Expression, Form, Parametric};
use super::types::Type;
use crate::diagnostic::{Sink, quote};

/// The most instances of a test.
const MOST: usize = 10_000;

type Assignment = HashMap<String, Value>;

/// The assignments of values to parameters that a test stands for.
pub(super) fn instances(parametric: &Parametric, names: &Names<'_>, all: bool, sink: &mut Sink) -> Vec<Assignment> {
    let mut lists = Vec::new();
    for (name, values) in &parametric.values {
        if !names.parameters.contains_key(name.text.as_str()) {
            names.unknown("parameter", name, names.parameters.keys().copied(), sink);
        }
        let mut list = Vec::new();
        for value in values {
            let fits = |found: &Value| {
                let numeric = matches!(found, Value::Int(_));
                names.parameters.get(name.text.as_str()).is_none_or(|kind| (*kind == Type::Int) == numeric)
            };
            match evaluate(value, &HashMap::new()) {
                Some(found) if fits(&found) => list.push(found),
                Some(_) => {
                    let kind = names.parameters.get(name.text.as_str()).map(|kind| names.shown(kind));
                    let message = format!("{} is {}", quote(&name.text), kind.unwrap_or_default());
                    sink.push(value.place.error(message, "of another type"));
                }
                None => sink.push(value.place.error("a value of a parameter is a number or a Boolean", "neither")),
            }
        }
        if list.is_empty() {
            sink.push(name.place.error(format!("{} has no value", quote(&name.text)), "its list is empty"));
        }
        lists.push((name.text.clone(), list));
    }
    let size = lists.iter().try_fold(1_usize, |size, (_, list)| size.checked_mul(list.len()));
    let place = parametric.values.first().map(|(name, _)| name.place).unwrap_or_default();
    if size.is_none_or(|size| size > MOST) {
        sink.push(place.error(format!("the test has more than {MOST} instances"), "too many"));
        return Vec::new();
    }
    let mut found = product(&lists);
    if let Some(assume) = &parametric.assume {
        found.retain(|values| evaluate(assume, values) == Some(Value::Bool(true)));
    }
    if found.is_empty() && !sink.has_errors() {
        sink.push(place.error("the assumption excludes every instance", "of this test"));
    }
    match parametric.wise {
        Some((width, _)) if !all && (width as usize) < lists.len() => covering(&found, &lists, width as usize),
        _ => found,
    }
}

/// All assignments; the first parameter changes fastest.
fn product(lists: &[(String, Vec<Value>)]) -> Vec<Assignment> {
    let mut found = vec![Assignment::new()];
    for (name, list) in lists.iter().rev() {
        let with = |values: &Assignment, value: &Value| {
            let mut values = values.clone();
            values.insert(name.clone(), value.clone());
            values
        };
        found =
            found.iter().flat_map(|values| list.iter().map(|value| with(values, value)).collect::<Vec<_>>()).collect();
    }
    found
}

/// Few assignments in which all combinations of a number of parameters occur that occur at all.
fn covering(all: &[Assignment], lists: &[(String, Vec<Value>)], width: usize) -> Vec<Assignment> {
    let groups = combinations(lists.len(), width);
    let tuples = |values: &Assignment| -> Vec<(usize, Vec<Value>)> {
        let tuple = |group: &Vec<usize>| group.iter().map(|&at| values[&lists[at].0].clone()).collect();
        groups.iter().enumerate().map(|(number, group)| (number, tuple(group))).collect()
    };
    let mut open: HashSet<_> = all.iter().flat_map(tuples).collect();
    let mut chosen = Vec::new();
    while !open.is_empty() {
        let gain = |values: &&Assignment| tuples(values).iter().filter(|tuple| open.contains(*tuple)).count();
        // Of equals the first one.
        let Some(best) = all.iter().rev().max_by_key(gain) else { break };
        tuples(best).iter().for_each(|tuple| _ = open.remove(tuple));
        chosen.push(best.clone());
    }
    chosen
}

/// All ascending lists of so many numbers below a number.
fn combinations(count: usize, width: usize) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..width {
        let longer = |list: &Vec<usize>| {
            let first = list.last().map_or(0, |last| last + 1);
            (first..count).map(|next| [list.as_slice(), &[next]].concat()).collect::<Vec<_>>()
        };
        found = found.iter().flat_map(longer).collect();
    }
    found
}

/// What an instance is called.
pub(super) fn named(test: &str, parametric: &Parametric, values: &Assignment) -> String {
    let part = |(name, _): &(super::syntax::Name, _)| {
        let value = match values.get(&name.text) {
            Some(Value::Int(number)) if *number < 0 => format!("neg{}", number.unsigned_abs()),
            Some(Value::Int(number)) => number.to_string(),
            Some(Value::Bool(value)) => value.to_string(),
            _ => String::new(),
        };
        format!("{}_{value}", name.text)
    };
    format!("{test}___{}", parametric.values.iter().map(part).collect::<Vec<_>>().join("__"))
}

/// The value of an expression over parameters.
fn evaluate(expression: &Expression, values: &Assignment) -> Option<Value> {
    let inner = |expression: &Expression| evaluate(expression, values);
    match &expression.form {
        Form::Bool(value) => Some(Value::Bool(*value)),
        Form::Int(value) => Some(Value::Int(*value)),
        Form::Name(name) => values.get(name).cloned(),
        Form::Not(operand) => match inner(operand)? {
            Value::Bool(value) => Some(Value::Bool(!value)),
            _ => None,
        },
        Form::Minus(operand) => match inner(operand)? {
            Value::Int(value) => Some(Value::Int(value.wrapping_neg())),
            _ => None,
        },
        Form::Binary(operator, left, right) => operate(*operator, &inner(left)?, &inner(right)?),
        _ => None,
    }
}

fn operate(operator: Binary, left: &Value, right: &Value) -> Option<Value> {
    let value = match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Value::Bool(match operator {
            Binary::And => *left && *right,
            Binary::Or => *left || *right,
            Binary::Equal => left == right,
            Binary::Unequal => left != right,
            _ => return None,
        }),
        (Value::Int(left), Value::Int(right)) => match operator {
            Binary::Plus => Value::Int(left.wrapping_add(*right)),
            Binary::Minus => Value::Int(left.wrapping_sub(*right)),
            Binary::Times => Value::Int(left.wrapping_mul(*right)),
            Binary::Divide => Value::Int(left.checked_div(*right)?),
            Binary::Modulo => Value::Int(left.checked_rem(*right)?),
            Binary::Less => Value::Bool(left < right),
            Binary::AtMost => Value::Bool(left <= right),
            Binary::Greater => Value::Bool(left > right),
            Binary::AtLeast => Value::Bool(left >= right),
            Binary::Equal => Value::Bool(left == right),
            Binary::Unequal => Value::Bool(left != right),
            Binary::And | Binary::Or | Binary::In => return None,
        },
        _ => return None,
    };
    Some(value)
}
