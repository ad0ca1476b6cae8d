//! Values of programs with queues.

use std::cmp::Ordering;
use std::sync::Arc;

/// A value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// Any value: nothing depends on which. What is computed from it is forgotten, too, and no decision may rest on it.
    Forgotten,
    /// An integer of which only the distance to others is known: this much more than a number that is the same for all such
    /// values of a machine. It stands in a slot, never inside another value, and does not leave the machine.
    Distance(i64),
    /// No reference, no event, no data.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer of 64 bits, which wraps around.
    Int(i64),
    /// The bits of a number with a point.
    Float(u64),
    /// A text.
    Text(Arc<str>),
    /// A constant of an enumeration.
    Constant {
        /// The number of the enumeration.
        of: u32,
        /// The number of the constant.
        number: i64,
    },
    /// The number of an event.
    Event(u32),
    /// The index of a machine.
    Machine(u32),
    /// Values without names.
    Tuple(Arc<[Value]>),
    /// Values with names, given by the number of their list.
    Record(u32, Arc<[Value]>),
    /// A sequence.
    Seq(Arc<[Value]>),
    /// A set: in ascending order, or in the order of insertion where the program can see that.
    Set(Arc<[Value]>),
    /// A map from keys to values, ordered like a set.
    Map(Arc<[(Value, Value)]>),
}

impl Value {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// A number with a point.
    pub fn float(number: f64) -> Self {
        // There is one zero, so that equal numbers are equal values.
        Self::Float(if number == 0.0 { 0 } else { number.to_bits() })
    }

    /// Without what only distances say.
    pub(super) fn without_distance(self) -> Self {
        if let Self::Distance(_) = self { Self::Forgotten } else { self }
    }

    /// Whether some part of it is forgotten.
    pub fn has_forgotten(&self) -> bool {
        match self {
            Self::Forgotten | Self::Distance(_) => true,
            Self::Tuple(parts) | Self::Record(_, parts) | Self::Seq(parts) | Self::Set(parts) => {
                parts.iter().any(Self::has_forgotten)
            }
            Self::Map(entries) => entries.iter().any(|(key, value)| key.has_forgotten() || value.has_forgotten()),
            _ => false,
        }
    }

    /// Whether two values are the same: the order of sets and maps makes no difference.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Tuple(one), Self::Tuple(two)) | (Self::Seq(one), Self::Seq(two)) => same_parts(one, two),
            (Self::Record(names, one), Self::Record(others, two)) => names == others && same_parts(one, two),
            (Self::Set(one), Self::Set(two)) => {
                one.len() == two.len() && one.iter().all(|part| two.iter().any(|other| part.is_same(other)))
            }
            (Self::Map(one), Self::Map(two)) => {
                let has = |(key, value): &(Self, Self)| {
                    two.iter().any(|(other, found)| key.is_same(other) && value.is_same(found))
                };
                one.len() == two.len() && one.iter().all(has)
            }
            _ => self == other,
        }
    }

    /// How numbers or texts compare; none, if they are not of the same sort.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => Some(one.cmp(two)),
            (Self::Text(one), Self::Text(two)) => Some(one.cmp(two)),
            (Self::Float(one), Self::Float(two)) => f64::from_bits(*one).partial_cmp(&f64::from_bits(*two)),
            _ => None,
        }
    }
}

fn same_parts(one: &[Value], two: &[Value]) -> bool {
    one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.is_same(two))
}

/// What is at a key, and where.
pub(super) fn find(entries: &[(Value, Value)], key: &Value) -> Option<usize> {
    entries.iter().position(|(other, _)| other.is_same(key))
}

/// Values with another one at a place.
pub(super) fn inserted<T: Clone>(parts: &[T], at: usize, part: T) -> Arc<[T]> {
    let (before, after) = parts.split_at(at);
    before.iter().cloned().chain(std::iter::once(part)).chain(after.iter().cloned()).collect()
}

/// Values without the one at a place.
pub(super) fn removed<T: Clone>(parts: &[T], at: usize) -> Arc<[T]> {
    parts.iter().take(at).chain(parts.iter().skip(at + 1)).cloned().collect()
}

/// Values with another one instead of that at a place.
pub(super) fn replaced<T: Clone>(parts: &[T], at: usize, part: T) -> Arc<[T]> {
    let mut parts: Vec<T> = parts.to_vec();
    parts[at] = part;
    parts.into()
}
