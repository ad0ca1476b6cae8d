//! Values, and what variables and expressions can be.
//!
//! A value is a number, or a list of values: those of the elements of an array or of the fields of a record. A truth
//! value is 0 or 1, and a value of an enumeration is its number. The kind of an expression has the numbers that it can
//! be as far as the ranges of what it reads tell: all ranges are one kind, and only storing a value cares about the
//! numbers.

/// A value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Value {
    Number(i64),
    List(Vec<Value>),
}

impl Value {
    pub(super) fn truth(value: bool) -> Self {
        Self::Number(i64::from(value))
    }

    /// The number that a value must be.
    pub(super) fn number(&self) -> i64 {
        match self {
            Self::Number(number) => *number,
            Self::List(_) => panic!("{self:?} is no number"),
        }
    }

    /// The part at the end of a path.
    pub(super) fn part(&self, path: &[usize]) -> &Self {
        match (self, path) {
            (_, []) => self,
            (Self::List(parts), [first, rest @ ..]) => parts[*first].part(rest),
            (Self::Number(_), _) => panic!("{self:?} has no parts"),
        }
    }

    pub(super) fn part_mut(&mut self, path: &[usize]) -> &mut Self {
        match (self, path) {
            (value, []) => value,
            (Self::List(parts), [first, rest @ ..]) => parts[*first].part_mut(rest),
            (Self::Number(_), _) => panic!("a number has no parts"),
        }
    }
}

/// All numbers between two, and these.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    pub(super) low: i64,
    pub(super) high: i64,
}

/// What is computed stays between these.
const MOST: i128 = 1 << 62;

impl Interval {
    pub(super) fn only(number: i64) -> Self {
        Self { low: number, high: number }
    }

    pub(super) fn inside(self, other: Self) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// Whether no number is in both.
    pub(super) fn apart(self, other: Self) -> bool {
        self.high < other.low || other.high < self.low
    }

    fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The smallest one with some numbers; an error if they are too large.
    fn of(numbers: &[i128]) -> Result<Self, String> {
        let (low, high) = (numbers.iter().min().unwrap_or(&0), numbers.iter().max().unwrap_or(&0));
        if *low < -MOST || *high > MOST {
            return Err("what is computed may be too large".to_owned());
        }
        Ok(Self { low: *low as i64, high: *high as i64 })
    }

    fn ends(self) -> [i128; 2] {
        [i128::from(self.low), i128::from(self.high)]
    }

    pub(super) fn plus(self, other: Self) -> Result<Self, String> {
        let ([a, b], [c, d]) = (self.ends(), other.ends());
        Self::of(&[a + c, b + d])
    }

    pub(super) fn minus(self, other: Self) -> Result<Self, String> {
        let ([a, b], [c, d]) = (self.ends(), other.ends());
        Self::of(&[a - d, b - c])
    }

    pub(super) fn times(self, other: Self) -> Result<Self, String> {
        let ([a, b], [c, d]) = (self.ends(), other.ends());
        Self::of(&[a * c, a * d, b * c, b * d])
    }

    /// Divided by a number above 0.
    pub(super) fn divided(self, by: i64) -> Self {
        Self { low: self.low.div_euclid(by), high: self.high.div_euclid(by) }
    }

    /// What is left over: all numbers below the divisor, unless they all have the same quotient.
    pub(super) fn modulo(self, by: i64) -> Self {
        let Self { low, high } = self.divided(by);
        match low == high {
            true => Self { low: self.low.rem_euclid(by), high: self.high.rem_euclid(by) },
            false => Self { low: 0, high: by - 1 },
        }
    }
}

/// What the indices of an array are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Dimension {
    pub(super) size: usize,
    /// The enumeration; without one, they are numbers from 0.
    pub(super) enumeration: Option<String>,
}

/// What a variable takes, or what an expression can be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Boolean,
    /// The name, and how many values there are.
    Enumeration(String, usize),
    Number(Interval),
    Array(Dimension, Box<Kind>),
    /// The name, and the fields.
    Record(String, Vec<(String, Kind)>),
    /// What threads sleep on. It has no value.
    Condition,
}

/// How many values there may be to choose from.
const CHOICES: usize = 1 << 18;

impl Kind {
    /// The kind of all numbers.
    pub(super) fn number() -> Self {
        Self::Number(Interval { low: i64::MIN, high: i64::MAX })
    }

    /// The numbers that something can be, if it is a number.
    pub(super) fn interval(&self) -> Option<Interval> {
        match self {
            Self::Number(interval) => Some(*interval),
            _ => None,
        }
    }

    /// Whether it has parts.
    pub(super) fn whole(&self) -> bool {
        matches!(self, Self::Array(..) | Self::Record(..))
    }

    /// Whether two kinds are the same, whatever ranges they have.
    pub(super) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Boolean, Self::Boolean) | (Self::Number(_), Self::Number(_)) => true,
            (Self::Enumeration(one, _), Self::Enumeration(two, _)) | (Self::Record(one, _), Self::Record(two, _)) => {
                one == two
            }
            (Self::Array(one, elements), Self::Array(two, others)) => one == two && elements.same(others),
            _ => false,
        }
    }

    /// Whether something holds for all pairs of intervals of two kinds that are the same.
    fn all_pairs(&self, other: &Self, holds: fn(Interval, Interval) -> bool) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => holds(*one, *two),
            (Self::Array(_, one), Self::Array(_, two)) => one.all_pairs(two, holds),
            (Self::Record(_, one), Self::Record(_, two)) => {
                one.iter().zip(two).all(|((_, one), (_, two))| one.all_pairs(two, holds))
            }
            _ => true,
        }
    }

    /// Whether all that something can be fits a place.
    pub(super) fn inside(&self, place: &Self) -> bool {
        self.all_pairs(place, Interval::inside)
    }

    /// Whether something fits a place in no case.
    pub(super) fn never_inside(&self, place: &Self) -> bool {
        !self.all_pairs(place, |value, range| !value.apart(range))
    }

    /// What is one or the other.
    pub(super) fn hull(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => Self::Number(one.hull(*two)),
            (Self::Array(dimension, one), Self::Array(_, two)) => {
                Self::Array(dimension.clone(), Box::new(one.hull(two)))
            }
            _ => self.clone(),
        }
    }

    /// Whether a value fits a place.
    pub(super) fn holds(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Number(range), Value::Number(number)) => Interval::only(*number).inside(*range),
            (Self::Array(_, element), Value::List(values)) => values.iter().all(|value| element.holds(value)),
            (Self::Record(_, fields), Value::List(values)) => {
                fields.iter().zip(values).all(|((_, field), value)| field.holds(value))
            }
            _ => true,
        }
    }

    /// The value of what starts without one: 0 if it is in the range, else the lowest number.
    pub(super) fn first(&self) -> Value {
        match self {
            Self::Number(range) if Interval::only(0).inside(*range) => Value::Number(0),
            Self::Number(range) => Value::Number(range.low),
            Self::Array(dimension, element) => Value::List(vec![element.first(); dimension.size]),
            Self::Record(_, fields) => Value::List(fields.iter().map(|(_, field)| field.first()).collect()),
            Self::Boolean | Self::Enumeration(..) | Self::Condition => Value::Number(0),
        }
    }

    /// How many values there are.
    fn count(&self) -> usize {
        match self {
            Self::Boolean => 2,
            Self::Enumeration(_, count) => *count,
            Self::Number(range) => usize::try_from(range.high.saturating_sub(range.low)).unwrap_or(0).saturating_add(1),
            Self::Array(dimension, element) => element.count().saturating_pow(dimension.size as u32),
            Self::Record(_, fields) => fields.iter().fold(1, |count, (_, field)| count.saturating_mul(field.count())),
            Self::Condition => 1,
        }
    }

    /// All values; an error if they are too many.
    pub(super) fn all(&self) -> Result<Vec<Value>, String> {
        if self.count() > CHOICES {
            return Err("there are too many values to choose from".to_owned());
        }
        Ok(match self {
            Self::Number(range) => (range.low..=range.high).map(Value::Number).collect(),
            Self::Array(dimension, element) => lists(&vec![element.all()?; dimension.size]),
            Self::Record(_, fields) => {
                lists(&fields.iter().map(|(_, field)| field.all()).collect::<Result<Vec<_>, _>>()?)
            }
            _ => (0..self.count() as i64).map(Value::Number).collect(),
        })
    }
}

/// All ways to choose one of each.
pub(super) fn choices<T: Clone>(sets: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut chosen = vec![Vec::new()];
    for set in sets {
        let longer = |start: &Vec<T>| {
            let start = start.clone();
            set.iter().map(move |value| [start.as_slice(), std::slice::from_ref(value)].concat()).collect::<Vec<_>>()
        };
        chosen = chosen.iter().flat_map(longer).collect();
    }
    chosen
}

/// All lists with one of each.
pub(super) fn lists(sets: &[Vec<Value>]) -> Vec<Value> {
    choices(sets).into_iter().map(Value::List).collect()
}
