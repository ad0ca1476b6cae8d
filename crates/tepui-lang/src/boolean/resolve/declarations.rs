//! Declarations: enumerations, constants, kinds, records and variables.

use tepui_model::program::{Conditions, Record, Variable};

use super::places::parts;
use super::syntax::{Declaration, Definition, Init, KindName};
use super::*;

/// The most scalar parts of the shared variables, or of the local ones of a procedure: each takes at least one bit.
const MOST_PARTS: usize = 4_096;

/// The most values of a range.
const MOST_VALUES: i64 = 1 << 16;

/// The lowest and the highest number that may be written.
const NUMBERS: std::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;

/// The code of the value with which a variable starts if nothing else is said: 0, or the lowest number.
pub(in crate::boolean) fn default_code(kind: Kind) -> u32 {
    match kind {
        Kind::Range(low, high) if (low..=high).contains(&0) => low.unsigned_abs(),
        _ => 0,
    }
}

impl Resolver<'_, '_> {
    pub(super) fn enumerations(&mut self) {
        for (name, values) in &self.module.enumerations {
            let mut values_seen: HashSet<&str> = HashSet::new();
            for value in values {
                if !values_seen.insert(&value.text) {
                    self.error(&value.span, format!("the value {} occurs twice", quote(&value.text)), "again here");
                }
            }
            let number = self.program.enumerations.len();
            self.define(name, Shape::Scalar(Kind::Enumeration(number)));
            self.program.enumerations.push(Enumeration {
                name: name.text.clone(),
                values: values.iter().map(|value| value.text.clone()).collect(),
            });
        }
    }

    fn define(&mut self, name: &Name, shape: Shape) {
        if self.kinds.insert(name.text.clone(), shape).is_some() {
            self.error(&name.span, format!("{} is declared twice", quote(&name.text)), "again here");
        }
    }

    /// Constants, kinds and records, each of which may use those above.
    pub(super) fn definitions(&mut self) {
        for definition in &self.module.definitions {
            match definition {
                Definition::Constant(name, value) => {
                    let value = self.constant(value).unwrap_or_default();
                    if self.constants.insert(name.text.clone(), value).is_some() {
                        self.error(&name.span, format!("{} is declared twice", quote(&name.text)), "again here");
                    }
                }
                Definition::Kind(name, kind) => {
                    let shape = self.kind(kind);
                    self.define(name, shape);
                }
                Definition::Record(name, fields) => self.record(name, fields),
            }
        }
        for (name, dimensions) in &self.module.conditions {
            self.conditions(name, dimensions);
        }
    }

    fn record(&mut self, name: &Name, fields: &[Declaration]) {
        let mut found: Vec<(String, Shape)> = Vec::new();
        for field in fields {
            if found.iter().any(|(other, _)| *other == field.name.text) {
                self.error(&field.name.span, format!("{} is declared twice", quote(&field.name.text)), "again here");
            }
            if let Some(init) = &field.init {
                self.error(&init.span(), "a field has no initial value", "every field starts as if declared alone");
            }
            let shape = self.shape(field);
            found.push((field.name.text.clone(), shape));
        }
        if found.is_empty() {
            self.error(&name.span, "a record without fields", "this one");
        }
        let number = self.program.records.len();
        self.program.records.push(Record { name: name.text.clone(), fields: found });
        self.define(name, Shape::Record(number));
    }

    fn conditions(&mut self, name: &Name, dimensions: &[syntax::Expression]) {
        let taken = self.program.conditions.iter().any(|other| other.name == name.text);
        let variable = self.module.shared.iter().any(|declaration| declaration.name.text == name.text);
        if taken || variable || self.constants.contains_key(&name.text) {
            self.error(&name.span, format!("{} is declared twice", quote(&name.text)), "again here");
        }
        let dimensions: Vec<_> = dimensions.iter().map(|dimension| self.dimension(dimension)).collect();
        let size = |conditions: &Conditions| {
            let counts = conditions.dimensions.iter().map(|&dimension| self.program.count(dimension));
            counts.fold(1, u32::saturating_mul)
        };
        let last = self.program.conditions.last();
        let first = last.map_or(1, |last| last.first.saturating_add(size(last)));
        let conditions = Conditions { name: name.text.clone(), dimensions, first };
        if first.saturating_add(size(&conditions)) > MOST_PARTS as u32 {
            self.error(&name.span, format!("more than {MOST_PARTS} conditions are not supported"), "these");
            return;
        }
        self.program.conditions.push(conditions);
    }

    /// What is meant by a kind.
    pub(super) fn kind(&mut self, kind: &KindName) -> Shape {
        match kind {
            KindName::Bool => Shape::Scalar(Kind::Bool),
            KindName::Named(name) => {
                if let Some(shape) = self.kinds.get(&name.text) {
                    return shape.clone();
                }
                let known = self.kinds.keys().map(String::as_str).chain(["bool"]);
                let mut known: Vec<_> = known.collect();
                known.sort_unstable();
                let hint = suggestion(&name.text, known.into_iter(), self.sink.is_full(Severity::Error));
                let message = format!("no kind is called {}", quote(&name.text));
                self.error_with_hint(&name.span, &message, "not declared", hint);
                Shape::Scalar(Kind::Bool)
            }
            KindName::Range(first, last) => {
                let span = first.span.start..last.span.end;
                let bounds = self.constant(first).zip(self.constant(last));
                Shape::Scalar(bounds.map_or(Kind::Bool, |(low, high)| self.range(low, high, &span)))
            }
            KindName::Barrier(threads) => self.barrier(threads),
        }
    }

    pub(super) fn range(&mut self, low: i64, high: i64, span: &Range<usize>) -> Kind {
        let wrong = match high - low {
            _ if low > high => "the last number comes before the first".to_owned(),
            distance if distance >= MOST_VALUES => format!("a range has at most {MOST_VALUES} values"),
            _ => return Kind::Range(low as i32, high as i32),
        };
        self.error(span, wrong, format!("from {low} to {high}"));
        Kind::Bool
    }

    /// The record of a place where so many threads meet.
    fn barrier(&mut self, threads: &syntax::Expression) -> Shape {
        let Some(count) = self.constant(threads) else { return Shape::Scalar(Kind::Bool) };
        if !(1..=MOST_VALUES).contains(&count) {
            self.error(&threads.span, "so many threads cannot meet", format!("1 to {MOST_VALUES}"));
            return Shape::Scalar(Kind::Bool);
        }
        if let Some(&(_, record)) = self.barriers.iter().find(|(threads, _)| *threads == count) {
            return Shape::Record(record);
        }
        let mut name = format!("barrier${count}");
        while self.kinds.contains_key(&name) {
            name.push('$');
        }
        let record = self.program.records.len();
        let fields = [("count", Kind::Range(0, count as i32 - 1)), ("phase", Kind::Bool)];
        let fields = fields.map(|(name, kind)| (name.to_owned(), Shape::Scalar(kind))).to_vec();
        self.program.records.push(Record { name: name.clone(), fields });
        self.kinds.insert(name, Shape::Record(record));
        self.barriers.push((count, record));
        Shape::Record(record)
    }

    /// How many elements an array has: a number, an enumeration, or a range from 0.
    fn dimension(&mut self, written: &syntax::Expression) -> Dimension {
        if let Operation::Place(path) = &written.operation
            && path.steps.is_empty()
            && let Some(shape) = self.kinds.get(&path.name.text)
            && !self.constants.contains_key(&path.name.text)
        {
            match shape {
                Shape::Scalar(Kind::Enumeration(number)) => return Dimension::Enumeration(*number),
                Shape::Scalar(Kind::Range(0, high)) => return Dimension::Count(*high as u32 + 1),
                _ => self.error(&written.span, "indices count from 0, or are the values of an enumeration", "neither"),
            }
            return Dimension::Count(1);
        }
        let count = self.constant(written).unwrap_or(1);
        if !(1..=MOST_VALUES).contains(&count) {
            self.error(&written.span, format!("an array has 1 to {MOST_VALUES} elements"), format!("{count} elements"));
        }
        Dimension::Count(count.clamp(1, MOST_VALUES) as u32)
    }

    fn shape(&mut self, declaration: &Declaration) -> Shape {
        let element = self.kind(&declaration.kind);
        let dimensions: Vec<_> = declaration.dimensions.iter().map(|written| self.dimension(written)).collect();
        dimensions.into_iter().rev().fold(element, |shape, dimension| Shape::Array(dimension, Box::new(shape)))
    }

    pub(super) fn shared(&mut self) {
        let (mut declared, mut variables) = (Vec::new(), Vec::new());
        self.declare(&self.module.shared, &mut declared, &mut variables);
        (self.program.declared, self.program.shared) = (declared, variables);
    }

    /// Adds variables to those that are there.
    pub(super) fn declare(
        &mut self,
        declarations: &[Declaration],
        declared: &mut Vec<Declared>,
        variables: &mut Vec<Variable>,
    ) {
        for declaration in declarations {
            let name = &declaration.name;
            if name.text == "_" {
                self.error(&name.span, "`_` stands for a value that is not wanted", "not a name");
            }
            if declared.iter().any(|other| other.name == name.text) {
                self.error(&name.span, format!("{} is declared twice", quote(&name.text)), "again here");
            }
            self.forbid_constant(name);
            let shape = self.shape(declaration);
            let first = variables.len();
            if first.saturating_add(self.program.parts(&shape)) > MOST_PARTS {
                let message = format!("variables of more than {MOST_PARTS} bits in one place are not supported");
                self.error(&name.span, message, format!("{} values", self.program.parts(&shape)));
                return;
            }
            let inits = self.inits(declaration.init.as_ref(), &shape);
            for ((suffix, kind), init) in parts(&self.program, &shape).into_iter().zip(inits) {
                variables.push(Variable { name: format!("{}{suffix}", name.text), kind, init });
            }
            declared.push(Declared { name: name.text.clone(), shape, first });
        }
    }

    /// A constant must not be hidden.
    pub(super) fn forbid_constant(&mut self, name: &Name) {
        if self.constants.contains_key(&name.text) {
            self.error(&name.span, format!("{} is a constant", quote(&name.text)), "declared again here");
        }
    }

    /// The codes with which the parts of a variable start; none, if they may start with any value.
    fn inits(&mut self, init: Option<&Init>, shape: &Shape) -> Vec<Option<u32>> {
        let kinds: Vec<_> = parts(&self.program, shape).into_iter().map(|(_, kind)| kind).collect();
        match (init, shape) {
            (None, _) if self.dialect.has_braces() => kinds.iter().map(|&kind| Some(default_code(kind))).collect(),
            (None, _) => vec![None; kinds.len()],
            (Some(Init::One(value)), _) if matches!(value.operation, Operation::Any) => vec![None; kinds.len()],
            (Some(Init::One(value)), _) => {
                let scalar = |shape: &Shape| matches!(shape, Shape::Scalar(_));
                let mut inner = shape;
                while let Shape::Array(_, element) = inner {
                    inner = element;
                }
                if !scalar(inner) {
                    self.error(&value.span, "a record starts as its fields do, or with `*`", "this is neither");
                    return vec![None; kinds.len()];
                }
                let code = self.code(value, kinds[0]);
                vec![code; kinds.len()]
            }
            (Some(Init::List(values, span)), Shape::Array(dimension, element)) => {
                let wanted = self.program.count(*dimension) as usize;
                if values.len() != wanted {
                    let message = format!("{} for {}", count(values.len(), "value"), count(wanted, "element"));
                    self.error(span, message, "these");
                    return vec![None; kinds.len()];
                }
                values.iter().flat_map(|value| self.inits(Some(value), element)).collect()
            }
            (Some(Init::List(_, span)), _) => {
                self.error(span, "a list of values is for an array", "this is none");
                vec![None; kinds.len()]
            }
        }
    }

    /// The code of a constant of a kind.
    fn code(&mut self, expression: &syntax::Expression, kind: Kind) -> Option<u32> {
        let found = self.value(expression, &Shape::Scalar(kind), &Scope::outside())?;
        match found.first()? {
            Expression::Value(code, _) => Some(*code),
            Expression::Number(number) => Some((number - kind.lowest()) as u32),
            _ => {
                self.error(&expression.span, "a variable starts with a constant or with `*`", "this is neither");
                None
            }
        }
    }

    /// The value of a constant expression.
    pub(super) fn constant(&mut self, expression: &syntax::Expression) -> Option<i64> {
        let (found, _) = self.scalar(expression, &expressions::Sort::Number, None, &Scope::outside())?;
        match found {
            Expression::Number(number) if NUMBERS.contains(&number) => return Some(number),
            Expression::Number(_) => self.error(&expression.span, "a number beyond 2^31", "too large"),
            _ => self.error(&expression.span, "this must be a constant", "not a constant"),
        }
        None
    }
}
