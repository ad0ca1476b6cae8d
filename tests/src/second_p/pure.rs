//! Expressions without effects: the rest of an expression, once its calls and choices have values; and assignments.

use std::rc::Rc;

use super::state::Machine;
use super::tree::{Access, Expr, ExprId, Name, Operator, Place, Program};
use super::values::Value::{Bool, Enum, Float, Int, Map, Named, Null, Seq, Set, Text, Tuple};
use super::values::{Value, Wrong, entry, place, position, same};

/// Who evaluates, and the values of what was done before.
pub(super) struct Reader<'a> {
    pub(super) program: &'a Program,
    pub(super) machine: &'a Machine,
    pub(super) this: usize,
    pub(super) done: &'a [(ExprId, Value)],
}

impl Reader<'_> {
    pub(super) fn value(&self, id: ExprId) -> Result<Value, Wrong> {
        if let Some((_, value)) = self.done.iter().find(|(done, _)| *done == id) {
            return Ok(value.clone());
        }
        match &self.program.exprs[id] {
            Expr::Constant(value) => Ok(value.clone()),
            Expr::Name(name) => Ok(self.variable(*name)),
            Expr::This => Ok(Value::Machine(self.this, self.program.kinds[self.machine.kind].name)),
            Expr::Field(inner, name) => field(&self.value(*inner)?, *name),
            Expr::Position(inner, at) => match self.value(*inner)? {
                Tuple(values) => values.get(*at).cloned().ok_or("null"),
                Named(_, values) => values.get(*at).cloned().ok_or("null"),
                _ => Err("null"),
            },
            Expr::Index(inner, index) => self.element(*inner, *index),
            Expr::Negative(inner) => match self.value(*inner)? {
                Int(number) => Ok(Int(number.wrapping_neg())),
                Float(bits) => Ok(Float((-f64::from_bits(bits)).to_bits())),
                _ => Err("null"),
            },
            Expr::Not(inner) => self.truth(*inner).map(|value| Bool(!value)),
            Expr::Binary(operator, left, right) => self.binary(*operator, *left, *right),
            Expr::Cast(inner, of) => {
                let value = self.value(*inner)?;
                if self.program.fits(&value, of) { Ok(value) } else { Err("cast") }
            }
            Expr::Convert(inner, to) => Ok(self.program.converted(&self.value(*inner)?, to)),
            Expr::Default(of) => Ok(self.program.default_of(of)),
            Expr::Tuple(parts) => self.values(parts).map(|values| Tuple(Rc::new(values))),
            Expr::Named(names, parts) => self.values(parts).map(|values| Named(names.clone(), Rc::new(values))),
            Expr::Format(text, parts) => self.formatted(text, parts),
            Expr::Size(inner) | Expr::Keys(inner) | Expr::Values(inner) => self.measured(id, *inner),
            Expr::Either(_) | Expr::Choose(_) | Expr::Call(..) | Expr::New(..) => unreachable!("done before"),
        }
    }

    pub(super) fn values(&self, ids: &[ExprId]) -> Result<Vec<Value>, Wrong> {
        ids.iter().map(|id| self.value(*id)).collect()
    }

    pub(super) fn truth(&self, id: ExprId) -> Result<bool, Wrong> {
        match self.value(id)? {
            Bool(value) => Ok(value),
            _ => Err("null"),
        }
    }

    /// A local variable, else one of the machine, else a constant.
    fn variable(&self, name: Name) -> Value {
        let frame = self.machine.frames.last();
        let local = frame.and_then(|frame| frame.locals.iter().rev().find(|(local, _)| *local == name));
        let inside = frame.is_none_or(|frame| self.program.functions[frame.function].inside);
        let own = || self.machine.variables.iter().find(|(own, _)| inside && *own == name);
        match local.or_else(own) {
            Some((_, value)) => value.clone(),
            None => self.program.constants.get(&name).cloned().unwrap_or(Null),
        }
    }

    fn element(&self, inner: ExprId, index: ExprId) -> Result<Value, Wrong> {
        let (collection, index) = (self.value(inner)?, self.value(index)?);
        match collection {
            Seq(items) | Set(items) => position(&index, items.len()).map(|at| items[at].clone()),
            Map(items) => entry(&items, &index).map(|at| items[at].1.clone()).ok_or("key"),
            _ => Err("null"),
        }
    }

    fn measured(&self, id: ExprId, inner: ExprId) -> Result<Value, Wrong> {
        let value = self.value(inner)?;
        match (&self.program.exprs[id], value) {
            (Expr::Size(_), Seq(items) | Set(items)) => Ok(Int(items.len() as i64)),
            (Expr::Size(_), Map(items)) => Ok(Int(items.len() as i64)),
            (Expr::Keys(_), Map(items)) => Ok(Seq(Rc::new(items.iter().map(|(key, _)| key.clone()).collect()))),
            (Expr::Values(_), Map(items)) => Ok(Seq(Rc::new(items.iter().map(|(_, value)| value.clone()).collect()))),
            _ => Err("null"),
        }
    }

    fn formatted(&self, text: &str, parts: &[ExprId]) -> Result<Value, Wrong> {
        let mut text = text.to_owned();
        for (number, value) in self.values(parts)?.iter().enumerate() {
            text = text.replace(&format!("{{{number}}}"), &self.program.shown(value));
        }
        Ok(Text(Rc::from(text)))
    }

    fn binary(&self, operator: Operator, left: ExprId, right: ExprId) -> Result<Value, Wrong> {
        match operator {
            Operator::And => return Ok(Bool(self.truth(left)? && self.truth(right)?)),
            Operator::Or => return Ok(Bool(self.truth(left)? || self.truth(right)?)),
            _ => {}
        }
        let (one, other) = (self.value(left)?, self.value(right)?);
        match (operator, &one, &other) {
            (Operator::Equal, ..) => Ok(Bool(same(&one, &other))),
            (Operator::Unequal, ..) => Ok(Bool(!same(&one, &other))),
            (Operator::In, _, Seq(items) | Set(items)) => Ok(Bool(place(items, &one).is_some())),
            (Operator::In, _, Map(items)) => Ok(Bool(entry(items, &one).is_some())),
            (_, Int(one) | Enum(_, one), Int(other) | Enum(_, other)) => of_ints(operator, *one, *other),
            (_, Float(one), Float(other)) => of_floats(operator, f64::from_bits(*one), f64::from_bits(*other)),
            (Operator::Plus, Text(one), Text(other)) => Ok(Text(Rc::from(format!("{one}{other}")))),
            (_, Text(one), Text(other)) => compared(operator, one.cmp(other)),
            _ => Err("null"),
        }
    }
}

fn compared(operator: Operator, order: std::cmp::Ordering) -> Result<Value, Wrong> {
    match operator {
        Operator::Less => Ok(Bool(order.is_lt())),
        Operator::LessEqual => Ok(Bool(order.is_le())),
        Operator::Greater => Ok(Bool(order.is_gt())),
        Operator::GreaterEqual => Ok(Bool(order.is_ge())),
        _ => Err("null"),
    }
}

fn of_ints(operator: Operator, one: i64, other: i64) -> Result<Value, Wrong> {
    match operator {
        Operator::Times => Ok(Int(one.wrapping_mul(other))),
        Operator::Plus => Ok(Int(one.wrapping_add(other))),
        Operator::Minus => Ok(Int(one.wrapping_sub(other))),
        Operator::Over | Operator::Rest if other == 0 => Err("division"),
        Operator::Over => Ok(Int(one.wrapping_div(other))),
        Operator::Rest => Ok(Int(one.wrapping_rem(other))),
        _ => compared(operator, one.cmp(&other)),
    }
}

fn of_floats(operator: Operator, one: f64, other: f64) -> Result<Value, Wrong> {
    let number = match operator {
        Operator::Times => one * other,
        Operator::Plus => one + other,
        Operator::Minus => one - other,
        Operator::Over => one / other,
        Operator::Rest => one % other,
        // What is not a number is not less, and not greater.
        _ => return one.partial_cmp(&other).map_or(Ok(Bool(false)), |order| compared(operator, order)),
    };
    Ok(Float(number.to_bits()))
}

fn field(value: &Value, name: Name) -> Result<Value, Wrong> {
    let Named(names, values) = value else { return Err("null") };
    names.iter().position(|other| *other == name).map(|at| values[at].clone()).ok_or("null")
}

/// How a place is changed.
pub(super) enum Change {
    Assign,
    Insert,
    Add,
    Remove,
}

/// Changes a place: first the values of its indices, then those that it is changed with.
pub(super) fn change(
    program: &Program,
    machine: &mut Machine,
    place: &Place,
    how: &Change,
    values: Vec<Value>,
) -> Result<(), Wrong> {
    let mut values = values.into_iter();
    let root = root(program, machine, place.variable).ok_or("null")?;
    let target = descend(program, root, &place.way, &mut values, matches!(how, Change::Assign))?;
    let (first, second) = (values.next().ok_or("null")?, values.next());
    match how {
        Change::Assign => {
            *target = first;
            Ok(())
        }
        Change::Insert => insert(program, target, first, second.ok_or("null")?),
        Change::Add => match target {
            Set(items) => {
                program.add(Rc::make_mut(items), first);
                Ok(())
            }
            _ => Err("null"),
        },
        Change::Remove => remove(target, &first),
    }
}

fn root<'a>(program: &Program, machine: &'a mut Machine, name: Name) -> Option<&'a mut Value> {
    let inside = machine.frames.last().is_none_or(|frame| program.functions[frame.function].inside);
    let locals = machine.frames.last_mut().map(|frame| &mut frame.locals);
    let local = locals.and_then(|locals| locals.iter_mut().rev().find(|(local, _)| *local == name));
    let own = machine.variables.iter_mut().find(|(own, _)| inside && *own == name);
    local.or(own).map(|(_, value)| value)
}

/// Goes into a value. The last index of an assignment may make an entry of a map.
fn descend<'a>(
    program: &Program,
    value: &'a mut Value,
    way: &[Access],
    indices: &mut impl Iterator<Item = Value>,
    assigns: bool,
) -> Result<&'a mut Value, Wrong> {
    let Some((access, rest)) = way.split_first() else { return Ok(value) };
    let inner = match (access, value) {
        (Access::Field(name), Named(names, values)) => {
            let at = names.iter().position(|other| other == name).ok_or("null")?;
            &mut Rc::make_mut(values)[at]
        }
        (Access::Position(at), Tuple(values) | Named(_, values)) => &mut Rc::make_mut(values)[*at],
        (Access::Index, Seq(items)) => {
            let at = position(&indices.next().ok_or("null")?, items.len())?;
            &mut Rc::make_mut(items)[at]
        }
        (Access::Index, Map(items)) => {
            let key = indices.next().ok_or("null")?;
            let items = Rc::make_mut(items);
            if entry(items, &key).is_none() && assigns && rest.is_empty() {
                program.add_entry(items, key.clone(), Null);
            }
            let at = entry(items, &key).ok_or("key")?;
            &mut items[at].1
        }
        _ => return Err("null"),
    };
    descend(program, inner, rest, indices, assigns)
}

fn insert(program: &Program, target: &mut Value, at: Value, value: Value) -> Result<(), Wrong> {
    match target {
        Seq(items) => {
            let at = position(&at, items.len() + 1)?;
            Rc::make_mut(items).insert(at, value);
            Ok(())
        }
        Map(items) if entry(items, &at).is_some() => Err("duplicate-key"),
        Map(items) => {
            program.add_entry(Rc::make_mut(items), at, value);
            Ok(())
        }
        _ => Err("null"),
    }
}

fn remove(target: &mut Value, what: &Value) -> Result<(), Wrong> {
    match target {
        Seq(items) => {
            let at = position(what, items.len())?;
            Rc::make_mut(items).remove(at);
        }
        Set(items) => {
            if let Some(at) = place(items, what) {
                Rc::make_mut(items).remove(at);
            }
        }
        Map(items) => {
            if let Some(at) = entry(items, what) {
                Rc::make_mut(items).remove(at);
            }
        }
        _ => return Err("null"),
    }
    Ok(())
}
