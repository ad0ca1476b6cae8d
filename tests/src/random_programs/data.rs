//! Numbers, arrays and records: what is declared, and places in them.
//!
//! What is written is right as far as it must be: it is known between which numbers an expression is, so that no value
//! is always out of range and no index is always outside. At times they are, and often they may be.

use super::numbers::{Number, apart};
use super::{Kind, Variable, Writer};

/// What is in a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Boolean,
    Colour,
    Range(i64, i64),
    Array(Index, Box<Shape>),
    /// The number of a record.
    Record(usize),
}

/// What the indices of an array are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Index {
    Size(i64),
    Colour,
}

/// What a place is wanted for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scalar {
    Boolean,
    Colour,
    Number,
}

/// What a program has beside Booleans and enumerations.
#[derive(Default)]
pub(super) struct Data {
    /// The constant `N`, if there is one.
    pub(super) constant: Option<i64>,
    /// The largest number of the kind `K`, which begins with 0, if there is one.
    pub(super) kind: Option<i64>,
    /// The fields of records.
    pub(super) records: Vec<Vec<(String, Shape)>>,
    /// The shapes that variables have.
    pub(super) shapes: Vec<Shape>,
    /// Names of what threads wait for, with the sizes of arrays.
    pub(super) locks: Vec<(String, Option<i64>)>,
    pub(super) semaphores: Vec<(String, Option<i64>)>,
    pub(super) barriers: Vec<(String, Option<i64>)>,
    pub(super) conditions: Vec<(String, Option<i64>)>,
}

/// A place, and what is there.
pub(super) struct Found {
    pub(super) text: String,
    /// The variable that it is part of.
    pub(super) root: String,
    pub(super) shape: Shape,
}

impl Writer<'_> {
    /// Declares constants, kinds and records, and decides which shapes there are.
    pub(super) fn put_definitions(&mut self) {
        if self.one_in(2) {
            let constant = self.rng.i64(2..=3);
            self.data.constant = Some(constant);
            let other = self.pick(&["M = 1", "M = N - 1", "M = 2 * N - 3", "M = -N"]);
            self.put(&format!("const N = {constant};"));
            if self.one_in(2) {
                self.put(&format!("const {other};"));
            }
        }
        if self.one_in(2) {
            let high = self.data.constant.map_or(2, |constant| constant - 1);
            let written = if self.data.constant.is_some() { "N-1".to_owned() } else { high.to_string() };
            self.data.kind = Some(high);
            self.put(&format!("kind K = 0..{written};"));
        }
        for number in 0..[0, 1, 1, 2][self.rng.usize(..4)] {
            self.put_record(number);
        }
        for _ in 0..2 {
            let shapes: Vec<_> = (0..8).map(|_| self.shape(2)).collect();
            self.data.shapes.extend(shapes.into_iter().find(|shape| self.values_of(shape) <= 100));
        }
        let range = self.range();
        self.data.shapes.push(range);
        if !self.data.records.is_empty() {
            let record = self.rng.usize(..self.data.records.len());
            self.data.shapes.push(Shape::Record(record));
        }
    }

    fn put_record(&mut self, number: usize) {
        let mut fields = vec![("full".to_owned(), Shape::Boolean)];
        let range = if self.one_in(3) { self.range() } else { Shape::Range(0, 1) };
        fields.push(("value".to_owned(), range.clone()));
        match self.rng.usize(..4) {
            0 if number > 0 => fields.push(("inner".to_owned(), Shape::Record(0))),
            1 => fields[1].1 = Shape::Array(Index::Size(2), Box::new(range)),
            2 if !self.colours.is_empty() => fields[0].1 = Shape::Colour,
            3 => fields.insert(1, ("next".to_owned(), range)),
            _ => {}
        }
        let mut written = String::new();
        let mut index = 0;
        while index < fields.len() {
            let (name, shape) = &fields[index];
            let together = fields.get(index + 1).is_some_and(|(_, next)| next == shape && *shape != Shape::Boolean);
            let (name, shape) = (name.clone(), shape.clone());
            let suffix = if together { ",".to_owned() } else { self.shape_suffix(&shape, false) + ";" };
            written += &format!(" {name}{suffix}");
            index += 1;
        }
        self.data.records.push(fields);
        self.put(&format!("record R{number} {{{written} }}"));
    }

    /// A range with few numbers.
    fn range(&mut self) -> Shape {
        let low = [0, 0, 0, 0, 1, -1, -2][self.rng.usize(..7)];
        let high = low + [1, 1, 2, 2, 3, 4][self.rng.usize(..6)];
        if let Some(high) = self.data.kind.filter(|_| self.rng.usize(..3) == 0) {
            return Shape::Range(0, high);
        }
        Shape::Range(low, high)
    }

    fn shape(&mut self, depth: usize) -> Shape {
        match self.rng.usize(..if depth == 0 { 4 } else { 10 }) {
            0 | 1 => self.range(),
            2 if !self.colours.is_empty() && depth < 2 => Shape::Colour,
            2 if depth < 2 => Shape::Boolean,
            0..=3 => self.range(),
            4 if !self.data.records.is_empty() => Shape::Record(self.rng.usize(..self.data.records.len())),
            _ => {
                let index = match self.rng.usize(..4) {
                    0 if !self.colours.is_empty() => Index::Colour,
                    1 if depth == 2 => Index::Size(3),
                    _ => Index::Size(2),
                };
                let inner = if self.one_in(4) { depth - 1 } else { 0 };
                let element = self.shape(inner);
                Shape::Array(index, Box::new(element))
            }
        }
    }

    /// What follows the name of a variable: what its indices are, and what it takes.
    pub(super) fn shape_suffix(&mut self, shape: &Shape, colon: bool) -> String {
        match shape {
            Shape::Array(index, element) => {
                let index = match index {
                    Index::Colour => "Colour".to_owned(),
                    Index::Size(size) if self.data.constant == Some(*size) && self.one_in(2) => "N".to_owned(),
                    Index::Size(size) if self.data.kind == Some(*size - 1) && self.one_in(2) => "K".to_owned(),
                    Index::Size(size) if self.one_in(8) => format!("{} + 1", size - 1),
                    Index::Size(size) => size.to_string(),
                };
                let suffix = self.shape_suffix(element, colon);
                format!("[{index}]{suffix}")
            }
            Shape::Boolean if colon || self.one_in(4) => ": bool".to_owned(),
            Shape::Boolean => String::new(),
            _ => format!(": {}", self.shape_name(shape)),
        }
    }

    /// A kind as it is written.
    pub(super) fn shape_name(&mut self, shape: &Shape) -> String {
        match shape {
            Shape::Boolean => "bool".to_owned(),
            Shape::Colour => "Colour".to_owned(),
            Shape::Range(0, high) if self.data.kind == Some(*high) && !self.one_in(4) => "K".to_owned(),
            Shape::Range(low, high) if self.data.constant == Some(*high) && self.one_in(2) => format!("{low}..N"),
            Shape::Range(low, high) => format!("{low}..{high}"),
            Shape::Array(_, element) => self.shape_name(element),
            Shape::Record(number) => format!("R{number}"),
        }
    }

    /// A kind that is made of numbers, arrays or records; for results, no array.
    pub(super) fn data_kind(&mut self, result: bool) -> Kind {
        let shapes = &self.data.shapes;
        let fit = |index: &usize| !result || !matches!(shapes[*index], Shape::Array(..));
        let fitting: Vec<_> = (0..shapes.len()).filter(fit).collect();
        Kind::Data(fitting[self.rng.usize(..fitting.len())])
    }

    /// Whether a variable gets no value where it is declared: the only one of a record is `*`.
    pub(super) fn valueless(&mut self, kind: Kind) -> bool {
        let Kind::Data(shape) = kind else { return false };
        let shape = self.data.shapes[shape].clone();
        has_record(&shape) && (!self.few(&shape) || !self.one_in(3))
    }

    /// Whether there are few enough values for `*`.
    pub(super) fn few(&self, shape: &Shape) -> bool {
        self.values_of(shape) <= 16
    }

    /// What a variable may be at first; `*` if nothing else can be written.
    pub(super) fn initial_shape(&mut self, shape: &Shape) -> String {
        match shape {
            Shape::Boolean => self.constant().to_owned(),
            Shape::Colour => self.value_of(Kind::Colour),
            Shape::Range(low, high) => self.literal(*low, *high),
            Shape::Record(_) => "*".to_owned(),
            Shape::Array(_, element) if has_record(element) => "*".to_owned(),
            Shape::Array(..) if self.one_in(2) => {
                let mut inner = shape;
                while let Shape::Array(_, element) = inner {
                    inner = element;
                }
                self.initial_shape(&inner.clone())
            }
            Shape::Array(index, element) => self.initial_list(*index, element),
        }
    }

    /// A list with a value for each element.
    fn initial_list(&mut self, index: Index, element: &Shape) -> String {
        let values: Vec<_> = (0..self.size(index))
            .map(|_| match element {
                Shape::Array(index, element) => self.initial_list(*index, element),
                _ => self.initial_shape(element),
            })
            .collect();
        format!("[{}]", values.join(", "))
    }

    pub(super) fn size(&self, index: Index) -> i64 {
        match index {
            Index::Size(size) => size,
            Index::Colour => self.colours.len() as i64,
        }
    }

    /// The variables with parts or numbers that can be seen.
    pub(super) fn data_variables(&self) -> Vec<(String, Shape)> {
        let local = |name: &str| self.now.locals.iter().any(|local| local.name == name);
        let shared = self.shared.iter().filter(|variable| !local(&variable.name) && self.may_mention(&variable.name));
        let shape = |variable: &Variable| match variable.kind {
            Kind::Data(number) => Some((variable.name.clone(), self.data.shapes[number].clone())),
            _ => None,
        };
        shared.chain(&self.now.locals).filter_map(shape).collect()
    }

    /// A place of some sort, if there is one.
    pub(super) fn place(&mut self, scalar: Scalar, depth: usize) -> Option<Found> {
        let variables = self.data_variables();
        let fitting: Vec<_> = variables.into_iter().filter(|(_, shape)| self.has(shape, scalar)).collect();
        if fitting.is_empty() {
            return None;
        }
        let (root, shape) = fitting[self.rng.usize(..fitting.len())].clone();
        let (mut text, mut shape) = (root.clone(), shape);
        loop {
            shape = match shape {
                Shape::Array(index, element) => {
                    let index = self.index(index, depth);
                    text += &format!("[{index}]");
                    *element
                }
                Shape::Record(number) => {
                    let fields = self.data.records[number].clone();
                    let fields: Vec<_> = fields.into_iter().filter(|(_, shape)| self.has(shape, scalar)).collect();
                    let (name, shape) = fields[self.rng.usize(..fields.len())].clone();
                    text += &format!(".{name}");
                    shape
                }
                shape => return Some(Found { text, root, shape }),
            };
        }
    }

    /// Whether there is something of some sort in a shape.
    fn has(&self, shape: &Shape, scalar: Scalar) -> bool {
        match shape {
            Shape::Boolean => scalar == Scalar::Boolean,
            Shape::Colour => scalar == Scalar::Colour,
            Shape::Range(..) => scalar == Scalar::Number,
            Shape::Array(_, element) => self.has(element, scalar),
            Shape::Record(number) => self.data.records[*number].iter().any(|(_, field)| self.has(field, scalar)),
        }
    }

    /// An index: as a rule one that is inside.
    pub(super) fn index(&mut self, index: Index, depth: usize) -> String {
        let size = match index {
            Index::Colour => return self.colour(),
            Index::Size(size) => size,
        };
        let choice = self.rng.usize(..8);
        if depth == 0 || self.now.certain || choice < 2 {
            return self.literal(0, size - 1);
        }
        let Number { text, low, high, .. } = match choice {
            2 => self.sum(depth - 1),
            3 if !self.now.starless => {
                let condition = if self.one_in(3) { "*".to_owned() } else { self.known() };
                return format!("{condition} ? {} : {}", self.literal(0, size - 1), self.literal(0, size - 1));
            }
            _ => self.number_place(depth - 1),
        };
        if low.div_euclid(size) != high.div_euclid(size) && self.one_in(3) {
            return format!("({text}) % {size}");
        }
        if apart((low, high), (0, size - 1)) { self.literal(0, size - 1) } else { text }
    }

    /// A value of the enumeration with a name: of a loop, of a variable or itself.
    fn colour(&mut self) -> String {
        let loops: Vec<_> = self.now.loops.iter().filter(|(_, range)| range.is_none()).cloned().collect();
        let variable = self.variable(Kind::Colour);
        match (self.rng.usize(..3), variable) {
            (0, _) if !loops.is_empty() => loops[self.rng.usize(..loops.len())].0.clone(),
            (1, Some(variable)) => variable,
            _ => self.value_of(Kind::Colour),
        }
    }

    /// The number of a shape that a whole variable of another one can be stored in, and its name.
    pub(super) fn whole(&mut self, shape: &Shape) -> Option<String> {
        let variables = self.data_variables();
        let fitting: Vec<_> = variables.into_iter().filter(|(_, other)| fits(other, shape)).collect();
        (!fitting.is_empty()).then(|| fitting[self.rng.usize(..fitting.len())].0.clone())
    }
}

/// Whether a shape is a record, or has some in it.
fn has_record(shape: &Shape) -> bool {
    match shape {
        Shape::Record(_) => true,
        Shape::Array(_, element) => has_record(element),
        _ => false,
    }
}

/// Whether something of one shape may be stored in another.
pub(super) fn fits(one: &Shape, other: &Shape) -> bool {
    match (one, other) {
        (Shape::Range(low, high), Shape::Range(least, most)) => !apart((*low, *high), (*least, *most)),
        (Shape::Array(one, elements), Shape::Array(other, others)) => one == other && fits(elements, others),
        _ => one == other,
    }
}
