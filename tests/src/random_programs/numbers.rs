//! Expressions that are numbers, or whole arrays and records.

use super::data::{Found, Scalar, Shape, fits};
use super::{Kind, Writer};

/// A number as it is written, and between which numbers it is.
pub(super) struct Number {
    pub(super) text: String,
    pub(super) low: i64,
    pub(super) high: i64,
    /// Whether it needs no brackets, whatever stands beside it.
    tight: bool,
}

/// Whether no number is between two and between two others.
pub(super) fn apart((low, high): (i64, i64), (least, most): (i64, i64)) -> bool {
    high < least || most < low
}

impl Number {
    fn new(text: String, low: i64, high: i64) -> Self {
        Self { text, low, high, tight: true }
    }

    /// With brackets, if it needs some.
    fn bracketed(&self) -> String {
        if self.tight { self.text.clone() } else { format!("({})", self.text) }
    }
}

impl Writer<'_> {
    /// A number in a range.
    pub(super) fn literal(&mut self, low: i64, high: i64) -> String {
        let named = self.data.constant.is_some_and(|constant| low <= constant && constant <= high);
        if named && self.one_in(4) { "N".to_owned() } else { self.rng.i64(low..=high).to_string() }
    }

    /// Something that stands beside an operator.
    pub(super) fn number_place(&mut self, depth: usize) -> Number {
        let loops: Vec<_> = self.now.loops.iter().filter(|(_, range)| range.is_some()).cloned().collect();
        if let (Some((name, Some((low, high)))), true) = (loops.last().cloned(), self.one_in(2)) {
            return Number::new(name, low, high);
        }
        match (self.place(Scalar::Number, depth), self.rng.usize(..4)) {
            (Some(Found { text, shape: Shape::Range(low, high), .. }), 0..=2) => Number::new(text, low, high),
            _ => {
                let number = self.rng.i64(0..=3);
                match self.data.constant.filter(|constant| *constant == number) {
                    Some(_) => Number::new("N".to_owned(), number, number),
                    None => Number::new(number.to_string(), number, number),
                }
            }
        }
    }

    /// The same, at times with a sign, a choice or brackets around something.
    fn number_operand(&mut self, depth: usize) -> Number {
        match self.rng.usize(..7) {
            0 => self.negative(depth),
            1 if depth > 0 && self.one_in(2) => {
                let (condition, one, other) = (self.known(), self.sum(depth - 1), self.sum(depth - 1));
                let text = format!("({condition} ? {} : {})", one.text, other.text);
                Number::new(text, one.low.min(other.low), one.high.max(other.high))
            }
            2 if depth > 0 => {
                let Number { text, low, high, .. } = self.sum(depth - 1);
                Number::new(format!("({text})"), low, high)
            }
            _ => self.number_place(depth),
        }
    }

    fn negative(&mut self, depth: usize) -> Number {
        let Number { text, low, high, .. } = self.number_place(depth);
        Number::new(format!("-{text}"), -high, -low)
    }

    /// Operators without brackets: sums of products.
    pub(super) fn sum(&mut self, depth: usize) -> Number {
        let mut sum = self.product(depth);
        for _ in 0..[0, 0, 0, 1, 1, 1, 2][self.rng.usize(..7)] {
            let minus = self.one_in(2);
            let next = self.product(depth);
            let (low, high) = if minus { (-next.high, -next.low) } else { (next.low, next.high) };
            let text = format!("{} {} {}", sum.text, if minus { "-" } else { "+" }, next.text);
            sum = Number { text, low: sum.low + low, high: sum.high + high, tight: false };
        }
        sum
    }

    fn product(&mut self, depth: usize) -> Number {
        let mut product = self.number_operand(depth);
        for _ in 0..[0, 0, 0, 0, 0, 0, 1, 1, 2][self.rng.usize(..9)] {
            let Number { text, low, high, .. } = product;
            let divisor = self.rng.i64(2..=3);
            let written = if self.data.constant == Some(divisor) { "N".to_owned() } else { divisor.to_string() };
            let several = low.div_euclid(divisor) != high.div_euclid(divisor);
            product = match self.rng.usize(..3) {
                0 if several => Number { text: format!("{text} % {written}"), low: 0, high: divisor - 1, tight: false },
                1 => Number {
                    text: format!("{text} / {written}"),
                    low: low.div_euclid(divisor),
                    high: high.div_euclid(divisor),
                    tight: false,
                },
                _ => {
                    let next = self.number_operand(0);
                    let ends = [low * next.low, low * next.high, high * next.low, high * next.high];
                    let (low, high) = (ends.into_iter().min().unwrap_or(0), ends.into_iter().max().unwrap_or(0));
                    Number { text: format!("{text} * {}", next.text), low, high, tight: false }
                }
            };
        }
        product
    }

    /// A number that is to be stored where there is room for some: as a rule one that fits.
    pub(super) fn number_for(&mut self, range: (i64, i64), star: bool) -> String {
        let Number { text, low, high, .. } = match self.rng.usize(..10) {
            0 if star => return "*".to_owned(),
            0..=2 => return self.literal(range.0, range.1),
            3 => {
                let (condition, one, other) = (self.known(), self.sum(1), self.sum(0));
                let text = format!("{condition} ? {} : {}", one.text, other.text);
                Number { text, low: one.low.min(other.low), high: one.high.max(other.high), tight: false }
            }
            4 | 5 => {
                // Around in a circle.
                let (place, size) = (self.number_place(1), range.1 - range.0 + 1);
                let (low, high) = (place.low + 1, place.high + 1);
                if range.0 != 0 || low.div_euclid(size) == high.div_euclid(size) {
                    return self.literal(range.0, range.1);
                }
                return format!("({} + 1) % {size}", place.text);
            }
            6 | 7 => self.number_place(1),
            _ => self.sum(1),
        };
        if apart((low, high), range) { self.literal(range.0, range.1) } else { text }
    }

    /// A comparison of numbers, or of whole arrays or records.
    pub(super) fn number_comparison(&mut self) -> String {
        if self.one_in(4)
            && let Some(comparison) = self.whole_comparison()
        {
            return comparison;
        }
        let operator = self.pick(&["<", "<=", ">", ">=", "=", "=", "==", "!="]);
        let depth = self.rng.usize(..2);
        let one = self.sum(depth);
        if matches!(operator, "=" | "!=")
            && self.one_in(8)
            && let Some(Found { text, shape: Shape::Range(..), .. }) = self.place(Scalar::Number, 1)
        {
            return format!("{text} {operator} *");
        }
        let other = if self.one_in(3) { self.negative(0) } else { self.sum(0) };
        let (one, other) = match self.rng.usize(..4) {
            0 => (one.bracketed(), other.text),
            1 => (one.text, other.bracketed()),
            _ => (one.text, other.text),
        };
        format!("{one} {operator} {other}")
    }

    fn whole_comparison(&mut self) -> Option<String> {
        let variables = self.data_variables();
        let whole = |shape: &Shape| matches!(shape, Shape::Array(..) | Shape::Record(_));
        let whole: Vec<_> = variables.into_iter().filter(|(_, shape)| whole(shape)).collect();
        if whole.is_empty() {
            return None;
        }
        let (one, shape) = whole[self.rng.usize(..whole.len())].clone();
        let other = self.whole(&shape)?;
        let operator = self.pick(&["=", "!="]);
        let other = if self.one_in(6) { "*".to_owned() } else { other };
        Some(format!("{one} {operator} {other}"))
    }

    /// Something that is true or false, and about data.
    pub(super) fn data_truth(&mut self) -> String {
        match (self.rng.usize(..3), self.place(Scalar::Boolean, 1)) {
            (0, Some(place)) => place.text,
            _ => format!("({})", self.number_comparison()),
        }
    }

    /// A value of a shape, to be stored.
    pub(super) fn shaped(&mut self, shape: &Shape) -> String {
        match shape {
            Shape::Boolean => self.boolean(),
            Shape::Colour => self.value(Kind::Colour),
            Shape::Range(low, high) => self.number_for((*low, *high), true),
            Shape::Array(..) | Shape::Record(_) => self.shaped_whole(shape),
        }
    }

    fn shaped_whole(&mut self, shape: &Shape) -> String {
        let (one, other) = (self.whole(shape), self.whole(shape));
        match (self.rng.usize(..6), one, other) {
            (0 | 1, Some(one), Some(other)) => {
                let condition = self.known();
                format!("{condition} ? {one} : {other}")
            }
            (2..=4, Some(one), _) => self.element_of(shape).unwrap_or(one),
            (_, Some(one), _) if !self.few(shape) => one,
            _ => "*".to_owned(),
        }
    }

    /// How many values a shape has.
    pub(super) fn values_of(&self, shape: &Shape) -> i64 {
        match shape {
            Shape::Boolean => 2,
            Shape::Colour => self.colours.len() as i64,
            Shape::Range(low, high) => high - low + 1,
            Shape::Array(index, element) => self.values_of(element).pow(self.size(*index) as u32),
            Shape::Record(number) => {
                self.data.records[*number].iter().map(|(_, field)| self.values_of(field)).product()
            }
        }
    }

    /// An element of an array that is an array or a record, if there is one.
    fn element_of(&mut self, shape: &Shape) -> Option<String> {
        let variables = self.data_variables();
        let element = |(name, other): (String, Shape)| match other {
            Shape::Array(index, element) if fits(&element, shape) => Some((name, index)),
            _ => None,
        };
        let arrays: Vec<_> = variables.into_iter().filter_map(element).collect();
        if arrays.is_empty() || self.one_in(2) {
            return None;
        }
        let (name, index) = arrays[self.rng.usize(..arrays.len())].clone();
        let certain = std::mem::replace(&mut self.now.certain, true);
        let index = self.index(index, 1);
        self.now.certain = certain;
        Some(format!("{name}[{index}]"))
    }
}
