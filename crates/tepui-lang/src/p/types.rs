//! Types of P, and which values go where.

use tepui_model::queue::{self, Value};

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Type {
    Null,
    Bool,
    Int,
    Float,
    Text,
    Event,
    Machine,
    Any,
    Data,
    Enumeration(usize),
    Foreign(usize),
    /// A reference that only some events may be sent to: the number of the machine or interface.
    Reference(usize),
    Tuple(Vec<Type>),
    Record(Vec<(String, Type)>),
    Seq(Box<Type>),
    Set(Box<Type>),
    Map(Box<Type>, Box<Type>),
    /// What was complained about already: it fits everywhere.
    Wrong,
}

/// What has to be known about references to say which go where.
pub(super) trait References {
    /// Whether the same events may be sent to both.
    fn are_alike(&self, one: usize, other: usize) -> bool;

    /// Whether all events that may be sent to one may be sent to another.
    fn is_wider(&self, one: usize, other: usize) -> bool;
}

impl Type {
    /// Whether a value of another type may be stored where this one is expected.
    pub(super) fn takes(&self, other: &Self, references: &dyn References) -> bool {
        match (self, other) {
            (Self::Wrong | Self::Any, _) | (_, Self::Wrong) => true,
            (Self::Data, _) => !other.has_machines(),
            (Self::Machine, Self::Reference(_) | Self::Null)
            | (Self::Event | Self::Reference(_) | Self::Foreign(_), Self::Null) => true,
            (Self::Reference(one), Self::Reference(two)) => references.are_alike(*one, *two),
            (Self::Tuple(one), Self::Tuple(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.takes(two, references))
            }
            (Self::Record(one), Self::Record(two)) => {
                let fits = |((name, one), (other, two)): (&(String, Self), &(String, Self))| {
                    name == other && one.takes(two, references)
                };
                one.len() == two.len() && one.iter().zip(two).all(fits)
            }
            (Self::Seq(one), Self::Seq(two)) | (Self::Set(one), Self::Set(two)) => one.takes(two, references),
            (Self::Map(key, value), Self::Map(other_key, other_value)) => {
                key.takes(other_key, references) && value.takes(other_value, references)
            }
            _ => self == other,
        }
    }

    /// Whether two values may be compared.
    pub(super) fn is_comparable(&self, other: &Self, references: &dyn References) -> bool {
        self.takes(other, references) || other.takes(self, references)
    }

    fn has_machines(&self) -> bool {
        match self {
            Self::Machine | Self::Reference(_) | Self::Any => true,
            Self::Tuple(parts) => parts.iter().any(Self::has_machines),
            Self::Record(fields) => fields.iter().any(|(_, kind)| kind.has_machines()),
            Self::Seq(element) | Self::Set(element) => element.has_machines(),
            Self::Map(key, value) => key.has_machines() || value.has_machines(),
            _ => false,
        }
    }

    /// Whether a value may have a set or a map in it.
    pub(super) fn may_have_order(&self) -> bool {
        match self {
            Self::Set(_) | Self::Map(..) | Self::Any | Self::Data => true,
            Self::Tuple(parts) => parts.iter().any(Self::may_have_order),
            Self::Record(fields) => fields.iter().any(|(_, kind)| kind.may_have_order()),
            Self::Seq(element) => element.may_have_order(),
            _ => false,
        }
    }

    pub(super) fn is_numeric(&self) -> bool {
        matches!(self, Self::Int | Self::Float | Self::Wrong)
    }
}

/// What types need to know to say what values they have.
pub(super) struct Values<'n> {
    /// The constants of each enumeration.
    pub(super) enumerations: &'n [Vec<(String, i64)>],
    /// The lists of names of records.
    pub(super) records: &'n mut Vec<Vec<String>>,
}

impl Values<'_> {
    /// The number of a list of names.
    pub(super) fn record(&mut self, names: Vec<String>) -> u32 {
        let known = self.records.iter().position(|known| *known == names);
        let number = known.unwrap_or_else(|| {
            self.records.push(names);
            self.records.len() - 1
        });
        number as u32
    }

    /// What a variable of a type starts with.
    pub(super) fn default(&mut self, kind: &Type) -> Value {
        match kind {
            Type::Bool => Value::Bool(false),
            Type::Int => Value::Int(0),
            Type::Float => Value::float(0.0),
            Type::Text => Value::text(""),
            Type::Enumeration(number) => {
                let smallest = self.enumerations[*number].iter().map(|(_, number)| *number).min();
                Value::Constant { of: *number as u32, number: smallest.unwrap_or(0) }
            }
            Type::Tuple(parts) => Value::Tuple(parts.iter().map(|part| self.default(part)).collect()),
            Type::Record(fields) => {
                let number = self.record(fields.iter().map(|(name, _)| name.clone()).collect());
                Value::Record(number, fields.iter().map(|(_, kind)| self.default(kind)).collect())
            }
            Type::Seq(_) => Value::Seq([].into()),
            Type::Set(_) => Value::Set([].into()),
            Type::Map(..) => Value::Map([].into()),
            _ => Value::Null,
        }
    }

    /// What a value of a type looks like.
    pub(super) fn tested(&mut self, kind: &Type) -> queue::Type {
        match kind {
            Type::Bool => queue::Type::Bool,
            Type::Int => queue::Type::Int,
            Type::Float => queue::Type::Float,
            Type::Text => queue::Type::Text,
            Type::Event => queue::Type::Event,
            Type::Machine | Type::Reference(_) => queue::Type::Machine,
            Type::Enumeration(number) => queue::Type::Constant(*number as u32),
            Type::Foreign(_) => queue::Type::Foreign,
            Type::Tuple(parts) => queue::Type::Tuple(parts.iter().map(|part| self.tested(part)).collect()),
            Type::Record(fields) => {
                let names = self.record(fields.iter().map(|(name, _)| name.clone()).collect());
                queue::Type::Record(names, fields.iter().map(|(_, kind)| self.tested(kind)).collect())
            }
            Type::Seq(element) => queue::Type::Seq(Box::new(self.tested(element))),
            Type::Set(element) => queue::Type::Set(Box::new(self.tested(element))),
            Type::Map(key, value) => queue::Type::Map(Box::new(self.tested(key)), Box::new(self.tested(value))),
            Type::Null | Type::Any | Type::Data | Type::Wrong => queue::Type::Any,
        }
    }

    /// All values of a type, if they are few.
    pub(super) fn all(&self, kind: &Type) -> Option<Vec<Value>> {
        match kind {
            Type::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
            Type::Null => Some(vec![Value::Null]),
            Type::Enumeration(number) => {
                let constant = |&(_, value): &(String, i64)| Value::Constant { of: *number as u32, number: value };
                Some(self.enumerations[*number].iter().map(constant).collect())
            }
            _ => None,
        }
    }
}
