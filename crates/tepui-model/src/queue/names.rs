//! Names, and what may be done with them.
//!
//! A row with names stands for the states in which each is so much more than some integer, the *base*, the same for all. So
//! it stands for the same states if all its names are shifted by a number, because numbers wrap around; and for all that a
//! row without names stands for if integers of that have become names, all with the same base. A map of which an entry is
//! dropped and that is [open](Value::Map) instead stands for what it was, and more.

use super::Value;
use super::run::Local;

impl Value {
    /// Whether there is a name or an atom in it.
    pub(super) fn has_name(&self) -> bool {
        let mut has = false;
        self.names(&mut |_, _| has = true);
        self.atoms(&mut |_| has = true);
        has
    }

    /// Tells each name in it, and whether it belongs to an entry of a map whose key is a name.
    pub fn names(&self, each: &mut dyn FnMut(i64, bool)) {
        match self {
            Self::Name(name) => each(*name, false),
            Self::Tuple(parts) | Self::Record(_, parts) | Self::Seq(parts) | Self::Set(parts) => {
                parts.iter().for_each(|part| part.names(each));
            }
            Self::Map(entries) => entries.iter().for_each(|(key, value)| {
                let named = matches!(key, Self::Name(_));
                [key, value].into_iter().for_each(|part| part.names(&mut |name, own| each(name, own || named)));
            }),
            _ => {}
        }
    }

    /// Whether it is what another value stands for, where names are integers with a base: the one that is given, or any.
    pub fn is_meant_by(&self, named: &Self, base: &mut Option<i64>) -> bool {
        let mut parts = |one: &[Self], two: &[Self]| {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.is_meant_by(two, base))
        };
        match (self, named) {
            (Self::Int(number), Self::Name(name)) => {
                let own = number.wrapping_sub(*name);
                *base.get_or_insert(own) == own
            }
            (_, Self::Atom { .. }) => self == named || self.is_atom_of(named),
            (Self::Tuple(one), Self::Tuple(two))
            | (Self::Seq(one), Self::Seq(two))
            | (Self::Set(one), Self::Set(two)) => parts(one, two),
            (Self::Record(names, one), Self::Record(others, two)) => names == others && parts(one, two),
            (Self::Map(one), Self::Map(two)) => {
                let both = |((key, value), (other, meant)): (&(Self, Self), &(Self, Self))| {
                    key.is_meant_by(other, base) && value.is_meant_by(meant, base)
                };
                one.len() == two.len() && one.iter().zip(two.iter()).all(both)
            }
            _ => self == named,
        }
    }

    /// With all names shifted.
    fn shifted(&self, by: i64, insertion_order: bool) -> Self {
        self.mapped(insertion_order, &|leaf| match leaf {
            Self::Name(name) => Self::Name(name.wrapping_add(by)),
            other => other.clone(),
        })
    }

    /// Without entries of maps whose keys are such names.
    fn without_keys(&self, dead: &dyn Fn(i64) -> bool) -> Self {
        match self {
            Self::Map(entries) if entries.iter().any(|(key, _)| is_dead(key, dead)) => {
                let open = std::iter::once((Self::Forgotten, Self::Forgotten));
                let kept = entries.iter().filter(|(key, _)| *key != Self::Forgotten && !is_dead(key, dead));
                Self::Map(open.chain(kept.cloned()).collect())
            }
            other => other.clone(),
        }
    }
}

fn is_dead(key: &Value, dead: &dyn Fn(i64) -> bool) -> bool {
    matches!(key, Value::Name(name) if dead(*name))
}

/// Something with names in it.
pub trait Named: Clone {
    /// Its values, one after the other.
    fn each_value(&mut self, each: &mut dyn FnMut(&mut Value));

    /// Its names, and whether each belongs to an entry of a map whose key is a name.
    fn names(&self) -> Vec<(i64, bool)> {
        let mut names = Vec::new();
        self.clone().each_value(&mut |value| value.names(&mut |name, key| names.push((name, key))));
        names
    }

    /// Whether it is what another one stands for, where names are integers with a base.
    fn is_meant_by(&self, named: &Self, base: &mut Option<i64>) -> bool
    where
        Self: PartialEq,
    {
        let (mut own, mut other) = (self.clone(), named.clone());
        let mut values = Vec::new();
        own.each_value(&mut |value| values.push(std::mem::replace(value, Value::Null)));
        let (mut values, mut fits) = (values.iter(), true);
        other.each_value(&mut |named| {
            fits &= values.next().is_some_and(|value| value.is_meant_by(named, base));
            *named = Value::Null;
        });
        fits && own == other
    }

    /// With all names shifted.
    #[must_use]
    fn shifted(&self, by: i64, insertion_order: bool) -> Self {
        let mut own = self.clone();
        own.each_value(&mut |value| *value = value.shifted(by, insertion_order));
        own
    }

    /// Without entries of maps whose keys are such names.
    #[must_use]
    fn without_keys(&self, dead: &dyn Fn(i64) -> bool) -> Self {
        let mut own = self.clone();
        own.each_value(&mut |value| *value = value.without_keys(dead));
        own
    }
}

impl Named for Local {
    fn each_value(&mut self, each: &mut dyn FnMut(&mut Value)) {
        self.values_mut(each);
    }
}

impl Named for super::run::Letter {
    fn each_value(&mut self, each: &mut dyn FnMut(&mut Value)) {
        each(&mut self.payload);
    }
}
