//! Values of programs with queues.

use std::cmp::Ordering;
use std::sync::Arc;

use super::evaluate::Trouble;

/// A value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// Any value: nothing depends on which. What is computed from it is forgotten, too, and no decision may rest on it.
    Forgotten,
    /// An integer of which only the distance to others is known: this much more than a number that is the same for all such
    /// values of a machine. It stands in a slot, never inside another value, and does not leave the machine.
    Distance(i64),
    /// A name: an integer of which only the distance to other names is known, this much more than a number that is the same
    /// for all names in a state of the whole program. It may stand anywhere.
    Name(i64),
    /// One of the numbers that are chosen at a place, of which nothing matters but which are equal; or the text of one.
    Atom {
        /// The place.
        class: u32,
        /// The number, among those that are chosen there.
        number: u32,
        /// Whether it is a text.
        text: bool,
    },
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
    /// A set: in ascending order, or in the order of insertion where the program can see that. If one of its values is
    /// forgotten, it is *open*: there may be any number of others.
    Set(Arc<[Value]>),
    /// A map from keys to values, ordered like a set, and open if a key is forgotten.
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

    /// How many values there are in it.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Tuple(parts) | Self::Record(_, parts) | Self::Seq(parts) | Self::Set(parts) => {
                1 + parts.iter().map(Self::size).sum::<usize>()
            }
            Self::Map(entries) => 1 + entries.iter().map(|(key, value)| key.size() + value.size()).sum::<usize>(),
            Self::Text(text) => 1 + text.len() / 16,
            _ => 1,
        }
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

    /// Whether it is a set or a map of which not everything is known.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Self::Set(parts) => parts.contains(&Self::Forgotten),
            Self::Map(entries) => entries.iter().any(|(key, _)| *key == Self::Forgotten),
            _ => false,
        }
    }

    /// Whether two values are the same, if that is known: the order of sets and maps makes no difference.
    pub fn same(&self, other: &Self) -> Option<bool> {
        match (self, other) {
            (Self::Forgotten | Self::Distance(_), _) | (_, Self::Forgotten | Self::Distance(_)) => None,
            (Self::Name(_), Self::Int(_)) | (Self::Int(_), Self::Name(_)) => None,
            (Self::Atom { .. }, _) | (_, Self::Atom { .. }) => self.same_as_atom(other),
            (Self::Tuple(one), Self::Tuple(two)) | (Self::Seq(one), Self::Seq(two)) => same_parts(one, two),
            (Self::Record(names, _), Self::Record(others, _)) if names != others => Some(false),
            (Self::Record(_, one), Self::Record(_, two)) => same_parts(one, two),
            (Self::Set(_), Self::Set(_)) | (Self::Map(_), Self::Map(_)) if self.is_open() || other.is_open() => None,
            (Self::Set(one), Self::Set(two)) => match one.len() == two.len() {
                true => all(one.iter().map(|part| any(two.iter().map(|other| part.same(other))))),
                false => Some(false),
            },
            (Self::Map(one), Self::Map(two)) => match one.len() == two.len() {
                true => all(one.iter().map(|(key, value)| {
                    let same = |(other, found): &(Self, Self)| all([key.same(other), value.same(found)].into_iter());
                    any(two.iter().map(same))
                })),
                false => Some(false),
            },
            _ => Some(self == other),
        }
    }

    /// The value with other leaves; `leaf` says what becomes of one.
    pub(super) fn mapped(&self, insertion_order: bool, leaf: &dyn Fn(&Self) -> Self) -> Self {
        let mapped = |part: &Self| part.mapped(insertion_order, leaf);
        let parts = |parts: &[Self]| parts.iter().map(mapped).collect::<Vec<_>>();
        match self {
            Self::Tuple(own) => Self::Tuple(parts(own).into()),
            Self::Record(names, own) => Self::Record(*names, parts(own).into()),
            Self::Seq(own) => Self::Seq(parts(own).into()),
            Self::Set(own) => Self::Set(ordered(parts(own), insertion_order)),
            Self::Map(own) => {
                let entries = own.iter().map(|(key, value)| (mapped(key), mapped(value)));
                Self::Map(ordered(entries.collect(), insertion_order))
            }
            other => leaf(other),
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

fn ordered<T: Ord>(mut parts: Vec<T>, insertion_order: bool) -> Arc<[T]> {
    if !insertion_order {
        parts.sort();
    }
    parts.into()
}

fn same_parts(one: &[Value], two: &[Value]) -> Option<bool> {
    if one.len() == two.len() { all(one.iter().zip(two).map(|(one, two)| one.same(two))) } else { Some(false) }
}

/// Whether all of these hold, if that is known.
fn all(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    any(each.map(|holds| holds.map(|holds| !holds))).map(|some| !some)
}

/// Whether one of these holds, if that is known.
pub(super) fn any(mut each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(false);
    let decided = each.find(|holds| {
        known = known.and(*holds);
        *holds == Some(true)
    });
    if decided.is_some() { Some(true) } else { known }
}

/// Where a value is among others, all of which are different.
pub(super) enum Place {
    /// There.
    At(usize),
    /// Not among those that are known; it may be among the others, if there are.
    Nowhere { open: bool },
}

/// Where a value is, if that is known.
pub(super) fn find<'v>(values: impl Iterator<Item = &'v Value>, wanted: &Value) -> Result<Place, Trouble> {
    let (mut open, mut clear) = (false, true);
    for (at, value) in values.enumerate() {
        match value.same(wanted) {
            Some(true) => return Ok(Place::At(at)),
            Some(false) => {}
            None if *value == Value::Forgotten => open = true,
            None => clear = false,
        }
    }
    if clear && !wanted.has_forgotten() { Ok(Place::Nowhere { open }) } else { Err(Trouble::Forgotten) }
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
