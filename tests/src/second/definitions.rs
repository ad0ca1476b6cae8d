//! Constants, kinds and records: what their names mean, and what variables are at first.

use std::collections::BTreeMap;

use super::Dialect;
use super::kinds::{Dimension, Interval, Kind, Value, lists};
use super::tree::{self, Definition, Expression, Initial, Operator, Tree, Variable};

pub(super) type Resolved<T> = Result<T, String>;

/// Numbers that are written are between these.
const MOST: i64 = 1 << 31;

/// How many bits variables may take.
const BITS: usize = 4096;

/// What names mean that are not those of variables.
pub(super) struct Names {
    dialect: Dialect,
    constants: BTreeMap<String, i64>,
    kinds: BTreeMap<String, Kind>,
    /// The values of enumerations.
    values: BTreeMap<String, (Kind, i64)>,
}

impl Names {
    pub(super) fn of(tree: &Tree, dialect: Dialect) -> Resolved<Self> {
        let (constants, kinds, values) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut names = Self { dialect, constants, kinds, values };
        for (name, values) in &tree.enumerations {
            let kind = Kind::Enumeration(name.clone(), values.len());
            for (number, value) in values.iter().enumerate() {
                names.values.entry(value.clone()).or_insert((kind.clone(), number as i64));
            }
            names.define(name, kind)?;
        }
        for definition in &tree.definitions {
            match definition {
                Definition::Constant(name, value) => {
                    let value = names.number(value)?;
                    if names.constants.insert(name.clone(), value).is_some() {
                        return Err(format!("two constants are called {name}"));
                    }
                }
                Definition::Kind(name, kind) => names.define(name, names.kind(kind)?)?,
                Definition::Record(name, fields) => names.define(name, names.record(name, fields)?)?,
            }
        }
        Ok(names)
    }

    fn define(&mut self, name: &str, kind: Kind) -> Resolved<()> {
        match self.kinds.insert(name.to_owned(), kind) {
            Some(_) => Err(format!("two kinds are called {name}")),
            None => Ok(()),
        }
    }

    fn record(&self, name: &str, fields: &[Variable]) -> Resolved<Kind> {
        let mut known = Vec::<(String, Kind)>::new();
        for field in fields {
            if known.iter().any(|(other, _)| *other == field.name) {
                return Err(format!("{name} has two fields {}", field.name));
            }
            known.push((field.name.clone(), self.variable(field)?));
        }
        match known.is_empty() {
            true => Err(format!("{name} has no fields")),
            false => Ok(Kind::Record(name.to_owned(), known)),
        }
    }

    /// A constant, if there is one of this name.
    pub(super) fn constant(&self, name: &str) -> Option<i64> {
        self.constants.get(name).copied()
    }

    /// A value of an enumeration, if there is one of this name.
    pub(super) fn value(&self, name: &str) -> Option<&(Kind, i64)> {
        self.values.get(name)
    }

    /// What an expression of constants is.
    pub(super) fn number(&self, expression: &Expression) -> Resolved<i64> {
        let number = match expression {
            Expression::Number(number) => *number,
            Expression::Old(place) if place.parts.is_empty() => {
                self.constant(&place.name).ok_or_else(|| format!("no constant is called {}", place.name))?
            }
            Expression::Negative(inner) => -self.number(inner)?,
            Expression::Binary(operator, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left.saturating_mul(right),
                    Operator::Divide | Operator::Modulo if right <= 0 => return Err("division by 0 or less".to_owned()),
                    Operator::Divide => left.div_euclid(right),
                    Operator::Modulo => left.rem_euclid(right),
                    _ => return Err(format!("{expression:?} is no constant number")),
                }
            }
            _ => return Err(format!("{expression:?} is no constant number")),
        };
        if number.abs() <= MOST { Ok(number) } else { Err(format!("{number} is too much")) }
    }

    /// The bounds of a range, which may be empty.
    pub(super) fn bounds(&self, low: &Expression, high: &Expression) -> Resolved<Interval> {
        let interval = Interval { low: self.number(low)?, high: self.number(high)? };
        match interval.high - interval.low < 65_536 {
            true => Ok(interval),
            false => Err("a range has too many values".to_owned()),
        }
    }

    pub(super) fn kind(&self, kind: &tree::Kind) -> Resolved<Kind> {
        Ok(match kind {
            tree::Kind::Boolean => Kind::Boolean,
            tree::Kind::Named(name) => {
                self.kinds.get(name).cloned().ok_or_else(|| format!("no kind is called {name}"))?
            }
            tree::Kind::Range(low, high) => match self.bounds(low, high)? {
                Interval { low, high } if low > high => return Err("a range is empty".to_owned()),
                interval => Kind::Number(interval),
            },
            tree::Kind::Semaphore => Kind::Number(Interval { low: 0, high: 255 }),
            tree::Kind::Barrier(threads) => {
                let threads = self.number(threads)?;
                if !(1..=65_536).contains(&threads) {
                    return Err(format!("{threads} threads cannot meet"));
                }
                let count = ("count".to_owned(), Kind::Number(Interval { low: 0, high: threads - 1 }));
                // No name has a space.
                Kind::Record(format!("barrier {threads}"), vec![count, ("phase".to_owned(), Kind::Boolean)])
            }
            tree::Kind::Condition => Kind::Condition,
        })
    }

    /// What the indices of an array are: a size, an enumeration, or a range that begins with 0.
    fn dimension(&self, dimension: &Expression) -> Resolved<Dimension> {
        if let Expression::Old(place) = dimension
            && place.parts.is_empty()
            && let Some(kind) = self.kinds.get(&place.name)
        {
            return match kind {
                Kind::Enumeration(name, size) => Ok(Dimension { size: *size, enumeration: Some(name.clone()) }),
                Kind::Number(Interval { low: 0, high }) => {
                    Ok(Dimension { size: *high as usize + 1, enumeration: None })
                }
                _ => Err(format!("{} is not for indices", place.name)),
            };
        }
        let size = self.number(dimension)?;
        match usize::try_from(size) {
            Ok(size) if size > 0 => Ok(Dimension { size, enumeration: None }),
            _ => Err(format!("no array has {size} elements")),
        }
    }

    /// What a variable takes.
    pub(super) fn variable(&self, variable: &Variable) -> Resolved<Kind> {
        let mut kind = self.kind(&variable.kind)?;
        for dimension in variable.dimensions.iter().rev() {
            kind = Kind::Array(self.dimension(dimension)?, Box::new(kind));
        }
        match bits(&kind) > BITS {
            true => Err(format!("{} is too large", variable.name)),
            false => Ok(kind),
        }
    }

    /// What a variable may be at first.
    pub(super) fn initial(&self, variable: &Variable) -> Resolved<Vec<Value>> {
        let kind = self.variable(variable)?;
        match &variable.initial {
            Initial::Unsaid if self.dialect.braces() => Ok(vec![kind.first()]),
            Initial::Unsaid => kind.all(),
            written => self.written(written, &kind, true).map_err(|why| format!("{}: {why}", variable.name)),
        }
    }

    /// What is written as a value. One value is that of all elements, if it is not in a list.
    fn written(&self, initial: &Initial, kind: &Kind, fills: bool) -> Resolved<Vec<Value>> {
        match (initial, kind) {
            (_, Kind::Condition) => Err("a condition has no value".to_owned()),
            (Initial::Value(Expression::Any), _) => kind.all(),
            (Initial::Value(_), Kind::Array(dimension, element)) if fills => {
                let values = self.written(initial, element, fills)?;
                Ok(values.into_iter().map(|value| Value::List(vec![value; dimension.size])).collect())
            }
            (Initial::Value(value), _) => Ok(vec![Value::Number(self.scalar(value, kind)?)]),
            (Initial::List(list), Kind::Array(dimension, element)) if list.len() == dimension.size => {
                let sets =
                    list.iter().map(|value| self.written(value, element, false)).collect::<Resolved<Vec<_>>>()?;
                Ok(lists(&sets))
            }
            (Initial::List(_) | Initial::Unsaid, _) => Err("that is no value for it".to_owned()),
        }
    }

    fn scalar(&self, value: &Expression, kind: &Kind) -> Resolved<i64> {
        match (kind, value) {
            (Kind::Boolean, Expression::Truth(truth)) => Ok(i64::from(*truth)),
            (Kind::Boolean, Expression::Number(number @ (0 | 1))) => Ok(*number),
            (Kind::Enumeration(..), Expression::Old(place)) if place.parts.is_empty() => {
                match self.value(&place.name) {
                    Some((own, number)) if own == kind => Ok(*number),
                    _ => Err(format!("{} is no value of it", place.name)),
                }
            }
            (Kind::Number(range), _) => {
                let number = self.number(value)?;
                let inside = Interval::only(number).inside(*range);
                if inside { Ok(number) } else { Err(format!("{number} is out of range")) }
            }
            _ => Err(format!("{value:?} is no value for it")),
        }
    }
}

/// How many bits a variable takes.
pub(super) fn bits(kind: &Kind) -> usize {
    let needed = |values: i64| (i64::BITS - (values - 1).leading_zeros()) as usize;
    match kind {
        Kind::Boolean => 1,
        Kind::Enumeration(_, count) => needed(*count as i64),
        Kind::Number(range) => needed(range.high - range.low + 1),
        Kind::Array(dimension, element) => dimension.size.saturating_mul(bits(element)),
        Kind::Record(_, fields) => fields.iter().fold(0, |sum, (_, field)| sum.saturating_add(bits(field))),
        Kind::Condition => 0,
    }
}

/// An error if variables take too many bits together.
pub(super) fn fit<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Resolved<()> {
    match kinds.map(bits).fold(0, usize::saturating_add) > BITS {
        true => Err("the variables take too many bits".to_owned()),
        false => Ok(()),
    }
}
