//! Values. They are copied: whoever changes one changes its own.

use std::rc::Rc;

use super::tree::{Definition, Name, Program, Type};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// The bits of a number.
    Float(u64),
    Text(Rc<str>),
    /// A constant: its enumeration and its number.
    Enum(Name, i64),
    Event(Name),
    /// A reference: to which machine, and the name whose permissions it has.
    Machine(usize, Name),
    Tuple(Rc<Vec<Value>>),
    Named(Rc<[Name]>, Rc<Vec<Value>>),
    Seq(Rc<Vec<Value>>),
    Set(Rc<Vec<Value>>),
    Map(Rc<Vec<(Value, Value)>>),
}

use Value::{Bool, Enum, Event, Float, Int, Machine, Map, Named, Null, Seq, Set, Text, Tuple};

/// What goes wrong, by the name of its property.
pub(super) type Wrong = &'static str;

/// Whether two values are equal: sets and maps have no order here.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    let all =
        |one: &[Value], other: &[Value]| one.len() == other.len() && one.iter().zip(other).all(|(a, b)| same(a, b));
    match (one, other) {
        (Machine(one, _), Machine(other, _)) => one == other,
        (Float(one), Float(other)) => f64::from_bits(*one) == f64::from_bits(*other),
        (Tuple(one), Tuple(other)) | (Seq(one), Seq(other)) => all(one, other),
        (Named(names, one), Named(others, other)) => names == others && all(one, other),
        (Set(one), Set(other)) => one.len() == other.len() && one.iter().all(|item| place(other, item).is_some()),
        (Map(one), Map(other)) => {
            let has = |(key, value): &(Value, Value)| entry(other, key).is_some_and(|at| same(&other[at].1, value));
            one.len() == other.len() && one.iter().all(has)
        }
        _ => one == other,
    }
}

/// Where a value is among others.
pub(super) fn place(items: &[Value], wanted: &Value) -> Option<usize> {
    items.iter().position(|item| same(item, wanted))
}

/// Where a key is in a map.
pub(super) fn entry(items: &[(Value, Value)], wanted: &Value) -> Option<usize> {
    items.iter().position(|(key, _)| same(key, wanted))
}

/// What an index must be: a number below another one.
pub(super) fn position(index: &Value, below: usize) -> Result<usize, Wrong> {
    let Int(number) = index else { return Err("null") };
    usize::try_from(*number).ok().filter(|number| *number < below).ok_or("index")
}

impl Program {
    /// The value that a variable of a type has at first.
    pub(super) fn default_of(&self, of: &Type) -> Value {
        match of {
            Type::Bool => Bool(false),
            Type::Int => Int(0),
            Type::Float => Float(0f64.to_bits()),
            Type::Text => Text(Rc::from("")),
            Type::Event | Type::Machine | Type::Any => Null,
            Type::Tuple(parts) => Tuple(Rc::new(parts.iter().map(|part| self.default_of(part)).collect())),
            Type::Named(parts) => {
                let values = parts.iter().map(|(_, part)| self.default_of(part)).collect();
                Named(parts.iter().map(|(name, _)| *name).collect(), Rc::new(values))
            }
            Type::Seq(_) => Seq(Rc::default()),
            Type::Set(_) => Set(Rc::default()),
            Type::Map(..) => Map(Rc::default()),
            Type::Called(name) => match &self.types[name] {
                Definition::Other(other) => self.default_of(other),
                Definition::Enum(numbers) => Enum(*name, numbers.iter().copied().min().unwrap_or(0)),
                Definition::Reference | Definition::Foreign => Null,
            },
        }
    }

    /// All values of a type.
    pub(super) fn all_of(&self, of: &Type) -> Result<Vec<Value>, Wrong> {
        let product = |parts: &[&Type]| {
            parts.iter().try_fold(vec![Vec::new()], |all, part| {
                let own = self.all_of(part)?;
                let with = |whole: &Vec<Value>| {
                    let whole = whole.clone();
                    own.iter().map(move |value| [&whole[..], std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
                };
                Ok(all.iter().flat_map(with).collect::<Vec<_>>())
            })
        };
        match of {
            Type::Bool => Ok(vec![Bool(false), Bool(true)]),
            Type::Tuple(parts) => {
                Ok(product(&parts.iter().collect::<Vec<_>>())?.into_iter().map(|all| Tuple(Rc::new(all))).collect())
            }
            Type::Named(parts) => {
                let names: Rc<[Name]> = parts.iter().map(|(name, _)| *name).collect();
                let all = product(&parts.iter().map(|(_, part)| part).collect::<Vec<_>>())?;
                Ok(all.into_iter().map(|all| Named(names.clone(), Rc::new(all))).collect())
            }
            Type::Called(name) => match &self.types[name] {
                Definition::Other(other) => self.all_of(other),
                Definition::Enum(numbers) => Ok(numbers.iter().map(|number| Enum(*name, *number)).collect()),
                Definition::Reference | Definition::Foreign => Err("it has no end of values"),
            },
            _ => Err("it has no end of values"),
        }
    }

    /// Whether a cast to a type goes well: what is inside of tuples and collections is not looked at.
    pub(super) fn fits(&self, value: &Value, of: &Type) -> bool {
        match (of, value) {
            (Type::Bool, Bool(_)) | (Type::Int, Int(_)) | (Type::Float, Float(_)) | (Type::Text, Text(_)) => true,
            (Type::Event, Event(_) | Null) | (Type::Machine, Machine(..) | Null) | (Type::Any, _) => true,
            (Type::Tuple(parts), Tuple(values)) => parts.len() == values.len(),
            (Type::Named(parts), Named(names, _)) => parts.iter().map(|(name, _)| name).eq(names.iter()),
            (Type::Seq(_), Seq(_)) | (Type::Set(_), Set(_)) | (Type::Map(..), Map(_)) => true,
            (Type::Called(name), _) => match (&self.types[name], value) {
                (Definition::Other(other), _) => self.fits(value, other),
                (Definition::Enum(_), Enum(of, _)) => of == name,
                (Definition::Reference, Machine(..) | Null) | (Definition::Foreign, _) => true,
                _ => false,
            },
            _ => false,
        }
    }

    /// A value as another type has it.
    pub(super) fn converted(&self, value: &Value, to: &Type) -> Value {
        match (to, value) {
            (Type::Int, Float(bits)) => Int(f64::from_bits(*bits) as i64),
            (Type::Int, Enum(_, number)) => Int(*number),
            (Type::Float, Int(number)) => Float((*number as f64).to_bits()),
            (Type::Called(name), _) => match &self.types[name] {
                Definition::Other(other) => self.converted(value, other),
                Definition::Reference => match value {
                    Machine(index, _) => Machine(*index, *name),
                    _ => value.clone(),
                },
                _ => value.clone(),
            },
            _ => value.clone(),
        }
    }

    /// Puts something into a set: at its end, or where it belongs if nothing depends on the order.
    pub(super) fn add(&self, items: &mut Vec<Value>, item: Value) {
        if place(items, &item).is_none() {
            let at = if self.ordered { items.len() } else { items.partition_point(|other| *other < item) };
            items.insert(at, item);
        }
    }

    /// Puts something new into a map.
    pub(super) fn add_entry(&self, items: &mut Vec<(Value, Value)>, key: Value, value: Value) {
        let at = if self.ordered { items.len() } else { items.partition_point(|(other, _)| *other < key) };
        items.insert(at, (key, value));
    }

    /// A value in a text.
    pub(super) fn shown(&self, value: &Value) -> String {
        match value {
            Bool(value) => value.to_string(),
            Int(number) => number.to_string(),
            Float(bits) => f64::from_bits(*bits).to_string(),
            Text(text) => text.to_string(),
            other => format!("{other:?}"),
        }
    }
}
