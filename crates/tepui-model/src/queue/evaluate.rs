//! Expressions and places.
//!
//! What is computed from a forgotten value is forgotten. Whether an error occurs must not depend on one: then it is
//! [`Trouble::Forgotten`], and nobody may go on. A forgotten value is of its declared type, so that there is a sum of two
//! forgotten integers: what static types do not see, the parts of a value that is cast and the payload of an event that is
//! in a variable, is looked at in each step, and [`Trouble::Mistyped`] if it is something else.
//!
//! Of distances, the sum and the difference with an integer are distances, the difference of two is an integer, and whether
//! two are equal is known, because numbers wrap around. Everything else about them is forgotten, also which is greater. The
//! same is true of names.

use std::cmp::Ordering;

use super::value::{self, any, find, inserted, removed, replaced};
use super::{Binary, Expression, Part, Place, Program, Slot, Type, Unary, Value};

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Error {
    /// An assertion fails.
    Assert,
    /// Nobody handles an event.
    Unhandled,
    /// An event is sent to `null`.
    NullTarget,
    /// `null` is sent, raised or announced.
    NullEvent,
    /// An index that there is not.
    Index,
    /// A key that there is not.
    Key,
    /// A key that there is already.
    DuplicateKey,
    /// A division by zero.
    Division,
    /// A value of another type than a cast says.
    Cast,
    /// Something is asked of `null`.
    Null,
    /// A choice from nothing, or from too much.
    Choose,
    /// More events in a queue than a bound says.
    EventBound,
    /// A longer queue than a bound says.
    MachineBound,
    /// Nothing lies below the state that is left.
    Pop,
    /// An event that the sender may not send or the receiver not get.
    Permission,
    /// A handler that never ends.
    Diverges,
    /// Machines wait, and nothing can move.
    Deadlock,
    /// Something was still to happen at the end.
    HotAtEnd,
    /// What is claimed of a queue is not true.
    Invariant,
    /// Something is to happen and never does, although everybody goes on.
    HotForEver,
}

/// Why there is no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// An error.
    Error(Error),
    /// It depends on a forgotten value.
    Forgotten,
    /// A part of a value is not of the type that it is declared with.
    Mistyped,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// What is known where an expression is evaluated.
pub(super) struct Scope<'s> {
    pub(super) this: u32,
    pub(super) variables: &'s [Value],
    pub(super) locals: &'s [Value],
}

type Evaluated = Result<Value, Trouble>;

/// An index as a place in a list.
fn index(value: &Value, length: usize) -> Result<usize, Trouble> {
    match value {
        Value::Forgotten | Value::Name(_) | Value::Atom { .. } => Err(Trouble::Forgotten),
        Value::Int(number) => usize::try_from(*number).ok().filter(|index| *index < length).ok_or(Error::Index.into()),
        _ => Err(Error::Index.into()),
    }
}

impl Program {
    pub(super) fn value(&self, expression: &Expression, scope: &Scope<'_>) -> Evaluated {
        self.slot_value(expression, scope).map(Value::without_distance)
    }

    /// The same, for a slot: it may be a distance.
    pub(super) fn slot_value(&self, expression: &Expression, scope: &Scope<'_>) -> Evaluated {
        match expression {
            Expression::Value(value) => Ok(value.clone()),
            Expression::Read(Slot::Variable(number)) => Ok(scope.variables[*number].clone()),
            Expression::Read(Slot::Local(number)) => Ok(scope.locals[*number].clone()),
            Expression::This => Ok(Value::Machine(scope.this)),
            Expression::Item(inner, number) => item(&self.value(inner, scope)?, *number),
            Expression::At(inner, key) => at(&self.value(inner, scope)?, &self.value(key, scope)?),
            Expression::Unary(operator, inner) => self.unary(*operator, &self.value(inner, scope)?),
            Expression::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                match self.value(left, scope)? {
                    Value::Bool(left) if left == (*operator == Binary::Or) => Ok(Value::Bool(left)),
                    Value::Bool(_) => self.value(right, scope),
                    // Whether the other side is looked at depends on it.
                    Value::Forgotten => match self.value(right, scope) {
                        Ok(_) => Ok(Value::Forgotten),
                        Err(_) => Err(Trouble::Forgotten),
                    },
                    _ => Err(Error::Null.into()),
                }
            }
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.slot_value(left, scope)?, self.slot_value(right, scope)?);
                match distance(*operator, &left, &right) {
                    Some(value) => Ok(value),
                    None => binary(*operator, &left.without_distance(), &right.without_distance()),
                }
            }
            Expression::Cast(inner, kind) => {
                let value = self.value(inner, scope)?;
                match value {
                    Value::Forgotten if *kind != Type::Any => Err(Trouble::Forgotten),
                    value if fits(&value, kind) => well_typed(value, kind),
                    _ => Err(Error::Cast.into()),
                }
            }
            Expression::Tuple(parts) => Ok(Value::Tuple(self.values(parts, scope)?.into())),
            Expression::Record(names, parts) => Ok(Value::Record(*names, self.values(parts, scope)?.into())),
            Expression::Format(texts, parts) => {
                let parts = self.values(parts, scope)?;
                if let Some(atom) = Value::atom_in_text(texts, &parts) {
                    return Ok(atom);
                }
                if parts.iter().any(|part| part.has_forgotten() || part.has_name()) {
                    return Ok(Value::Forgotten);
                }
                let shown = texts.iter().zip(parts.iter().map(|part| self.shown(part)).chain([String::new()]));
                Ok(Value::text(&shown.map(|(text, part)| text.clone() + &part).collect::<String>()))
            }
        }
    }

    /// What is put into the slots of a function that is called.
    pub(super) fn slot_values(&self, expressions: &[Expression], scope: &Scope<'_>) -> Result<Vec<Value>, Trouble> {
        expressions.iter().map(|expression| self.slot_value(expression, scope)).collect()
    }

    fn values(&self, expressions: &[Expression], scope: &Scope<'_>) -> Result<Vec<Value>, Trouble> {
        expressions.iter().map(|expression| self.value(expression, scope)).collect()
    }

    fn unary(&self, operator: Unary, value: &Value) -> Evaluated {
        Ok(match (operator, value) {
            (Unary::Keys | Unary::Values | Unary::Size, Value::Forgotten) => return Err(Trouble::Forgotten),
            (Unary::Keys | Unary::Values | Unary::Size, _) if value.is_open() => return Err(Trouble::Forgotten),
            (Unary::ToInt, Value::Name(_)) => value.clone(),
            (_, Value::Forgotten | Value::Name(_) | Value::Atom { .. }) => Value::Forgotten,
            (Unary::Not, Value::Bool(holds)) => Value::Bool(!holds),
            (Unary::Minus, Value::Int(number)) => Value::Int(number.wrapping_neg()),
            (Unary::Minus, Value::Float(bits)) => Value::float(-f64::from_bits(*bits)),
            (Unary::Keys, Value::Map(entries)) => Value::Seq(entries.iter().map(|(key, _)| key.clone()).collect()),
            (Unary::Values, Value::Map(entries)) => {
                Value::Seq(entries.iter().map(|(_, value)| value.clone()).collect())
            }
            (Unary::Size, Value::Seq(parts) | Value::Set(parts)) => Value::Int(parts.len() as i64),
            (Unary::Size, Value::Map(entries)) => Value::Int(entries.len() as i64),
            (Unary::ToInt, Value::Constant { number, .. } | Value::Int(number)) => Value::Int(*number),
            (Unary::ToInt, Value::Float(bits)) => Value::Int(f64::from_bits(*bits) as i64),
            (Unary::ToFloat, Value::Int(number)) => Value::float(*number as f64),
            (Unary::ToFloat, Value::Float(_)) => value.clone(),
            _ => return Err(Error::Null.into()),
        })
    }

    /// A value that is changed at the end of a path.
    pub(super) fn changed(
        &self,
        value: &Value,
        path: &[Part],
        scope: &Scope<'_>,
        change: &dyn Fn(Option<&Value>) -> Evaluated,
    ) -> Evaluated {
        let Some((first, rest)) = path.split_first() else { return change(Some(value)) };
        let deeper = |inner: &Value| self.changed(inner, rest, scope, change);
        match (first, value) {
            (_, Value::Forgotten) => Err(Trouble::Forgotten),
            (Part::Item(number), Value::Tuple(parts)) if *number < parts.len() => {
                Ok(Value::Tuple(replaced(parts, *number, deeper(&parts[*number])?)))
            }
            (Part::Item(number), Value::Record(names, parts)) if *number < parts.len() => {
                Ok(Value::Record(*names, replaced(parts, *number, deeper(&parts[*number])?)))
            }
            (Part::At(key), Value::Seq(parts)) => {
                let at = index(&self.value(key, scope)?, parts.len())?;
                Ok(Value::Seq(replaced(parts, at, deeper(&parts[at])?)))
            }
            (Part::At(key), Value::Map(entries)) => {
                let key = known(self.value(key, scope)?)?;
                match find(entries.iter().map(|(key, _)| key), &key)? {
                    value::Place::At(at) => Ok(Value::Map(replaced(entries, at, (key, deeper(&entries[at].1)?)))),
                    // What was there before is not known, if anything was.
                    value::Place::Nowhere { open: true } => {
                        let new = known(deeper(&Value::Forgotten)?)?;
                        Ok(self.with_entry(entries, key, new))
                    }
                    _ if rest.is_empty() => Ok(self.with_entry(entries, key, change(None)?)),
                    _ => Err(Error::Key.into()),
                }
            }
            _ => Err(Error::Null.into()),
        }
    }

    fn with_entry(&self, entries: &[(Value, Value)], key: Value, value: Value) -> Value {
        let at = match self.rules.insertion_order {
            true => entries.len(),
            false => entries.partition_point(|(other, _)| *other < key),
        };
        Value::Map(inserted(entries, at, (key, value)))
    }

    /// Inserts into a sequence at an index, or into a map at a new key.
    pub(super) fn insert(&self, value: &Value, key: Value, part: Value) -> Evaluated {
        match value {
            Value::Forgotten => Err(Trouble::Forgotten),
            Value::Seq(parts) => Ok(Value::Seq(inserted(parts, index(&key, parts.len() + 1)?, part))),
            Value::Map(entries) => {
                let key = known(key)?;
                match find(entries.iter().map(|(key, _)| key), &key)? {
                    value::Place::At(_) => Err(Error::DuplicateKey.into()),
                    value::Place::Nowhere { open: true } => Err(Trouble::Forgotten),
                    value::Place::Nowhere { open: false } => Ok(self.with_entry(entries, key, part)),
                }
            }
            _ => Err(Error::Null.into()),
        }
    }

    /// Adds to a set.
    pub(super) fn add(&self, value: &Value, part: Value) -> Evaluated {
        match value {
            Value::Forgotten => Ok(Value::Forgotten),
            _ if part.has_forgotten() => Ok(Value::Forgotten),
            Value::Set(parts) => {
                if let value::Place::At(_) = find(parts.iter(), &part)? {
                    return Ok(value.clone());
                }
                let at = match self.rules.insertion_order {
                    true => parts.len(),
                    false => parts.partition_point(|other| *other < part),
                };
                Ok(Value::Set(inserted(parts, at, part)))
            }
            _ => Err(Error::Null.into()),
        }
    }

    /// The place that is meant, as a slot and a way from there.
    pub(super) fn stored(
        &self,
        place: &Place,
        scope: &Scope<'_>,
        change: &dyn Fn(Option<&Value>) -> Evaluated,
    ) -> Evaluated {
        let old = match place.slot {
            Slot::Variable(number) => &scope.variables[number],
            Slot::Local(number) => &scope.locals[number],
        };
        self.changed(&old.clone().without_distance(), &place.path, scope, change)
    }

    /// A value as programs print it.
    pub fn shown(&self, value: &Value) -> String {
        let list = |parts: &[Value]| parts.iter().map(|part| self.shown(part)).collect::<Vec<_>>().join(", ");
        match value {
            Value::Forgotten | Value::Distance(_) | Value::Name(_) | Value::Atom { .. } => "_".to_owned(),
            Value::Null => "null".to_owned(),
            Value::Bool(holds) => holds.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Float(bits) => f64::from_bits(*bits).to_string(),
            Value::Text(text) => text.to_string(),
            Value::Constant { of, number } => {
                let constants = self.told.enumerations.get(*of as usize).map(|(_, constants)| constants);
                let named = constants.and_then(|constants| constants.iter().find(|(_, other)| other == number));
                named.map_or_else(|| number.to_string(), |(name, _)| name.clone())
            }
            Value::Event(event) => self.event_name(*event),
            Value::Machine(machine) => format!("#{machine}"),
            Value::Tuple(parts) => format!("({})", list(parts)),
            Value::Record(names, parts) => {
                let names = self.told.records.get(*names as usize);
                let name = |number: usize| names.and_then(|names| names.get(number)).map_or("?", String::as_str);
                let fields =
                    parts.iter().enumerate().map(|(number, part)| format!("{} = {}", name(number), self.shown(part)));
                format!("({})", fields.collect::<Vec<_>>().join(", "))
            }
            Value::Seq(parts) => format!("[{}]", list(parts)),
            Value::Set(parts) => format!("{{{}}}", list(parts)),
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{}: {}", self.shown(key), self.shown(value)));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// What an event is called.
    pub fn event_name(&self, event: u32) -> String {
        self.told.events.get(event as usize).cloned().unwrap_or_else(|| format!("event {event}"))
    }
}

/// A value that is not forgotten, not even in parts.
fn known(value: Value) -> Evaluated {
    if value.has_forgotten() { Err(Trouble::Forgotten) } else { Ok(value) }
}

fn item(value: &Value, number: usize) -> Evaluated {
    match value {
        Value::Forgotten => Ok(Value::Forgotten),
        Value::Tuple(parts) | Value::Record(_, parts) => parts.get(number).cloned().ok_or(Error::Null.into()),
        _ => Err(Error::Null.into()),
    }
}

fn at(value: &Value, key: &Value) -> Evaluated {
    match value {
        Value::Forgotten => Err(Trouble::Forgotten),
        Value::Set(_) if value.is_open() => Err(Trouble::Forgotten),
        Value::Seq(parts) | Value::Set(parts) => Ok(parts[index(key, parts.len())?].clone()),
        Value::Map(entries) => match find(entries.iter().map(|(key, _)| key), key)? {
            value::Place::At(at) => Ok(entries[at].1.clone()),
            value::Place::Nowhere { open: true } => Err(Trouble::Forgotten),
            value::Place::Nowhere { open: false } => Err(Error::Key.into()),
        },
        _ => Err(Error::Null.into()),
    }
}

/// What is known of an operation on distances or names.
fn distance(operator: Binary, left: &Value, right: &Value) -> Option<Value> {
    Some(match (operator, left, right) {
        (Binary::Plus, Value::Name(left), Value::Int(right)) | (Binary::Plus, Value::Int(left), Value::Name(right)) => {
            Value::Name(left.wrapping_add(*right))
        }
        (Binary::Minus, Value::Name(left), Value::Int(right)) => Value::Name(left.wrapping_sub(*right)),
        (Binary::Minus, Value::Name(left), Value::Name(right)) => Value::Int(left.wrapping_sub(*right)),
        (Binary::Plus, Value::Distance(left), Value::Int(right))
        | (Binary::Plus, Value::Int(left), Value::Distance(right)) => Value::Distance(left.wrapping_add(*right)),
        (Binary::Minus, Value::Distance(left), Value::Int(right)) => Value::Distance(left.wrapping_sub(*right)),
        (Binary::Minus, Value::Distance(left), Value::Distance(right)) => Value::Int(left.wrapping_sub(*right)),
        (Binary::Equal, Value::Distance(left), Value::Distance(right)) => Value::Bool(left == right),
        (Binary::Unequal, Value::Distance(left), Value::Distance(right)) => Value::Bool(left != right),
        _ => return None,
    })
}

fn binary(operator: Binary, left: &Value, right: &Value) -> Evaluated {
    let same = |same: Option<bool>| Ok(same.map_or(Value::Forgotten, Value::Bool));
    match (operator, right) {
        (Binary::Divide | Binary::Modulo, Value::Forgotten | Value::Name(_) | Value::Atom { .. }) => {
            return Err(Trouble::Forgotten);
        }
        (Binary::Divide | Binary::Modulo, Value::Int(0)) => return Err(Error::Division.into()),
        (Binary::In, Value::Forgotten) => return Err(Trouble::Forgotten),
        (Binary::In, Value::Seq(parts) | Value::Set(parts)) => {
            let found = any(parts.iter().map(|part| part.same(left)));
            return found.map(Value::Bool).ok_or(Trouble::Forgotten);
        }
        (Binary::In, Value::Map(entries)) => {
            let found = any(entries.iter().map(|(key, _)| key.same(left)));
            return found.map(Value::Bool).ok_or(Trouble::Forgotten);
        }
        (Binary::Equal, _) => return same(left.same(right)),
        (Binary::Unequal, _) => return same(left.same(right).map(|same| !same)),
        _ => {}
    }
    let unknown = |value: &Value| value.has_forgotten() || matches!(value, Value::Name(_) | Value::Atom { .. });
    if unknown(left) || unknown(right) {
        return Ok(Value::Forgotten);
    }
    let order = |wanted: fn(Ordering) -> bool| match (left, right) {
        (Value::Float(_), Value::Float(_)) => Ok(Value::Bool(left.compare(right).is_some_and(wanted))),
        _ => Ok(Value::Bool(wanted(left.compare(right).ok_or(Error::Null)?))),
    };
    match operator {
        Binary::Less => order(Ordering::is_lt),
        Binary::AtMost => order(Ordering::is_le),
        Binary::Greater => order(Ordering::is_gt),
        Binary::AtLeast => order(Ordering::is_ge),
        Binary::Times | Binary::Divide | Binary::Modulo | Binary::Plus | Binary::Minus => {
            arithmetic(operator, left, right)
        }
        Binary::And | Binary::Or | Binary::Equal | Binary::Unequal | Binary::In => Err(Error::Null.into()),
    }
}

fn arithmetic(operator: Binary, left: &Value, right: &Value) -> Evaluated {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Ok(Value::Int(match operator {
            Binary::Times => left.wrapping_mul(*right),
            Binary::Divide => left.wrapping_div(*right),
            Binary::Modulo => left.wrapping_rem(*right),
            Binary::Plus => left.wrapping_add(*right),
            _ => left.wrapping_sub(*right),
        })),
        (Value::Float(left), Value::Float(right)) => {
            let (left, right) = (f64::from_bits(*left), f64::from_bits(*right));
            Ok(Value::float(match operator {
                Binary::Times => left * right,
                Binary::Divide => left / right,
                Binary::Modulo => left % right,
                Binary::Plus => left + right,
                _ => left - right,
            }))
        }
        (Value::Text(left), Value::Text(right)) if operator == Binary::Plus => {
            Ok(Value::text(&format!("{left}{right}")))
        }
        _ => Err(Error::Null.into()),
    }
}

/// Whether a value is of a type; only its outermost part is looked at.
fn fits(value: &Value, kind: &Type) -> bool {
    match (value, kind) {
        (_, Type::Any)
        | (Value::Bool(_), Type::Bool)
        | (Value::Int(_) | Value::Name(_) | Value::Atom { text: false, .. }, Type::Int)
        | (Value::Float(_), Type::Float)
        | (Value::Text(_) | Value::Atom { text: true, .. }, Type::Text)
        | (Value::Event(_) | Value::Null, Type::Event)
        | (Value::Machine(_) | Value::Null, Type::Machine)
        | (Value::Null, Type::Foreign)
        | (Value::Seq(_), Type::Seq(_))
        | (Value::Set(_), Type::Set(_))
        | (Value::Map(_), Type::Map(..)) => true,
        (Value::Constant { of, .. }, Type::Constant(other)) => of == other,
        (Value::Tuple(parts), Type::Tuple(types)) => parts.len() == types.len(),
        (Value::Record(names, _), Type::Record(others, _)) => names == others,
        _ => false,
    }
}

/// A value, if all of its parts are of their types. What is forgotten is taken to be of its type everywhere else: so nothing
/// may go on with a value that is not.
pub(super) fn well_typed(value: Value, kind: &Type) -> Evaluated {
    fn look(value: &Value, kind: &Type) -> Result<(), Trouble> {
        let all = |parts: &[Value], kind: &Type| parts.iter().try_for_each(|part| look(part, kind));
        match (value, kind) {
            (_, Type::Any) => Ok(()),
            (Value::Forgotten | Value::Distance(_), _) => Err(Trouble::Forgotten),
            (value, kind) if !fits(value, kind) => Err(Trouble::Mistyped),
            (Value::Tuple(parts), Type::Tuple(types)) | (Value::Record(_, parts), Type::Record(_, types)) => {
                parts.iter().zip(types).try_for_each(|(part, kind)| look(part, kind))
            }
            (Value::Seq(parts), Type::Seq(kind)) | (Value::Set(parts), Type::Set(kind)) => all(parts, kind),
            (Value::Map(entries), Type::Map(key, kind)) => {
                entries.iter().try_for_each(|(own, value)| look(own, key).and_then(|()| look(value, kind)))
            }
            _ => Ok(()),
        }
    }
    look(&value, kind).map(|()| value)
}

/// What is left of a collection without something.
pub(super) fn without(value: &Value, key: &Value) -> Evaluated {
    match value {
        Value::Forgotten => Err(Trouble::Forgotten),
        Value::Seq(parts) => Ok(Value::Seq(removed(parts, index(key, parts.len())?))),
        Value::Set(parts) => match find(parts.iter(), key)? {
            value::Place::At(at) => Ok(Value::Set(removed(parts, at))),
            value::Place::Nowhere { .. } => Ok(value.clone()),
        },
        Value::Map(entries) => match find(entries.iter().map(|(key, _)| key), key)? {
            value::Place::At(at) => Ok(Value::Map(removed(entries, at))),
            value::Place::Nowhere { .. } => Ok(value.clone()),
        },
        _ => Err(Error::Null.into()),
    }
}

impl Error {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assert => "assert",
            Self::Unhandled => "unhandled",
            Self::NullTarget => "null-target",
            Self::NullEvent => "null-event",
            Self::Index => "index",
            Self::Key => "key",
            Self::DuplicateKey => "duplicate-key",
            Self::Division => "division",
            Self::Cast => "cast",
            Self::Null => "null",
            Self::Choose => "choose",
            Self::EventBound => "event-bound",
            Self::MachineBound => "machine-bound",
            Self::Pop => "pop",
            Self::Permission => "permission",
            Self::Diverges => "diverges",
            Self::Deadlock => "deadlock",
            Self::HotAtEnd => "hot-at-end",
            Self::Invariant => "invariant",
            Self::HotForEver => "liveness",
        }
    }
}
