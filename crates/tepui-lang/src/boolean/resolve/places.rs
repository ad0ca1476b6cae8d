//! Places: variables, elements and fields.

use tepui_model::program::{Condition, Element, Index, Place};

use super::expressions::Sort;
use super::syntax::{Access, Path};
use super::*;

/// A place that was looked up.
pub(super) struct Placed {
    /// The variable that it is if all indices that are not constants are 0.
    pub(super) first: Slot,
    pub(super) indices: Vec<Index>,
    /// What is written before, between and after these indices.
    pub(super) text: Vec<String>,
    pub(super) shape: Shape,
}

/// The scalar parts of something: what follows its name, and their kinds.
pub(in crate::boolean) fn parts(program: &Program, shape: &Shape) -> Vec<(String, Kind)> {
    let within = |prefix: String, shape: &Shape| {
        let inner = parts(program, shape).into_iter();
        inner.map(|(suffix, kind)| (format!("{prefix}{suffix}"), kind)).collect::<Vec<_>>()
    };
    match shape {
        Shape::Scalar(kind) => vec![(String::new(), *kind)],
        Shape::Array(dimension, element) => {
            let each = |number| within(format!("[{}]", index_name(program, *dimension, number)), element);
            (0..program.count(*dimension)).flat_map(each).collect()
        }
        Shape::Record(number) => {
            let fields = program.records[*number].fields.iter();
            fields.flat_map(|(name, shape)| within(format!(".{name}"), shape)).collect()
        }
    }
}

fn index_name(program: &Program, dimension: Dimension, number: u32) -> String {
    match dimension {
        Dimension::Count(_) => number.to_string(),
        Dimension::Enumeration(enumeration) => program.enumerations[enumeration].values[number as usize].clone(),
    }
}

impl Placed {
    /// Its scalar parts.
    pub(super) fn parts(&self, program: &Program) -> Vec<(Place, Kind)> {
        let part = |(distance, (suffix, kind)): (usize, (String, Kind))| {
            let first = self.first.after(distance);
            if self.indices.is_empty() {
                return (Place::Variable(first), kind);
            }
            let (indices, mut text) = (self.indices.clone(), self.text.clone());
            text.last_mut().into_iter().for_each(|last| last.push_str(&suffix));
            (Place::Element(Box::new(Element { first, kind, indices, text })), kind)
        };
        parts(program, &self.shape).into_iter().enumerate().map(part).collect()
    }
}

/// The value of a place.
pub(super) fn read(place: Place, new: bool) -> Expression {
    match (place, new) {
        (Place::Nowhere, _) => Expression::Value(0, Kind::Bool),
        (Place::Variable(slot), false) => Expression::Read(slot),
        (Place::Variable(slot), true) => Expression::New(slot),
        (Place::Element(element), false) => Expression::Element(element),
        (Place::Element(element), true) => Expression::NewElement(element),
    }
}

impl Resolver<'_, '_> {
    /// A variable with a name.
    pub(super) fn find(&self, name: &str, scope: &Scope) -> Option<(Slot, Shape)> {
        if let Some((declared, _)) = scope.loops.iter().rev().find(|(declared, _)| declared.name == name) {
            return Some((Slot::Local(declared.first), declared.shape.clone()));
        }
        let find = |all: &[Declared]| all.iter().find(|declared| declared.name == name).cloned();
        let locals = self.program.procedures.get(scope.procedure).and_then(|procedure| find(&procedure.declared));
        let local = locals.map(|declared| (Slot::Local(declared.first), declared.shape));
        local.or_else(|| find(&self.program.declared).map(|declared| (Slot::Shared(declared.first), declared.shape)))
    }

    /// What a place is made of, where that is certain; says nothing.
    pub(super) fn shape_of_path(&self, path: &Path, scope: &Scope) -> Option<Shape> {
        let (_, mut shape) = self.find(&path.name.text, scope)?;
        for step in &path.steps {
            shape = match (step, shape) {
                (Access::Index(_), Shape::Array(_, element)) => *element,
                (Access::Field(name), Shape::Record(number)) => {
                    let fields = &self.program.records[number].fields;
                    fields.iter().find(|(field, _)| *field == name.text)?.1.clone()
                }
                _ => return None,
            };
        }
        Some(shape)
    }

    /// Looks a place up.
    pub(super) fn placed(&mut self, path: &Path, scope: &Scope) -> Option<Placed> {
        let Some((first, shape)) = self.find(&path.name.text, scope) else {
            self.unknown_variable(&path.name, scope);
            return None;
        };
        let mut placed = Placed { first, indices: Vec::new(), text: vec![path.name.text.clone()], shape };
        for step in &path.steps {
            match step {
                Access::Index(index) => self.enter_array(&mut placed, index, scope)?,
                Access::Field(name) => self.enter_record(&mut placed, name)?,
            }
        }
        Some(placed)
    }

    fn unknown_variable(&mut self, name: &Name, scope: &Scope) {
        let text = &name.text;
        if self.program.conditions.iter().any(|condition| condition.name == *text) {
            self.error(&name.span, format!("{} is a condition", quote(text)), "not a variable");
            return;
        }
        if self.constants.contains_key(text) {
            self.error(&name.span, format!("{} is a constant", quote(text)), "not a variable");
            return;
        }
        if let Some(plain) = text.strip_suffix('$')
            && self.find(plain, scope).is_some()
        {
            let message = format!("{} is the value of `{plain}` in all other threads", quote(text));
            self.error(&name.span, message, "this is not supported");
            return;
        }
        let hint = self.similar_variable(text, scope);
        self.error_with_hint(&name.span, &format!("no variable is called {}", quote(text)), "not declared", hint);
    }

    fn enter_array(&mut self, placed: &mut Placed, index: &syntax::Expression, scope: &Scope) -> Option<()> {
        let Shape::Array(dimension, element) = placed.shape.clone() else {
            self.error(&index.span, "only arrays have elements", "this is no array");
            return None;
        };
        let stride = self.program.parts(&element);
        self.index(&mut placed.indices, &mut placed.text, dimension, stride, index, scope).map(|distance| {
            placed.first = placed.first.after(distance);
            placed.shape = *element;
        })
    }

    /// Adds an index to those that are there. Returns how far a constant one leads.
    fn index(
        &mut self,
        indices: &mut Vec<Index>,
        text: &mut Vec<String>,
        dimension: Dimension,
        stride: usize,
        written: &syntax::Expression,
        scope: &Scope,
    ) -> Option<usize> {
        let sort = match dimension {
            Dimension::Count(_) => Sort::Number,
            Dimension::Enumeration(number) => Sort::Enumeration(number),
        };
        // Indices are read as they were before the step.
        let before = Scope { constraint: false, ..scope.clone() };
        let (value, (low, high)) = self.scalar(written, &sort, None, &before)?;
        let elements = self.program.count(dimension);
        if high < 0 || low >= i64::from(elements) {
            self.error(&written.span, "this index is always outside of its array", format!("0 to {}", elements - 1));
            return None;
        }
        let last = text.last_mut()?;
        match value {
            Expression::Number(number) => {
                last.push_str(&format!("[{number}]"));
                Some(number as usize * stride)
            }
            Expression::Value(code, _) => {
                last.push_str(&format!("[{}]", index_name(&self.program, dimension, code)));
                Some(code as usize * stride)
            }
            value => {
                last.push('[');
                text.push("]".to_owned());
                indices.push(Index { value, count: elements, stride });
                Some(0)
            }
        }
    }

    fn enter_record(&mut self, placed: &mut Placed, name: &Name) -> Option<()> {
        let Shape::Record(number) = placed.shape else {
            self.error(&name.span, "only records have fields", "this is no record");
            return None;
        };
        let fields = self.program.records[number].fields.clone();
        let Some(found) = fields.iter().position(|(field, _)| *field == name.text) else {
            let known = fields.iter().map(|(field, _)| field.as_str());
            let hint = suggestion(&name.text, known, self.sink.is_full(Severity::Error));
            let message = format!("no field is called {}", quote(&name.text));
            self.error_with_hint(&name.span, &message, "not in this record", hint);
            return None;
        };
        let before: usize = fields[..found].iter().map(|(_, shape)| self.program.parts(shape)).sum();
        placed.first = placed.first.after(before);
        placed.shape = fields[found].1.clone();
        placed.text.last_mut()?.push_str(&format!(".{}", name.text));
        Some(())
    }

    /// A place that is one value.
    pub(super) fn scalar_place(&mut self, path: &Path, scope: &Scope) -> Option<(Place, Kind)> {
        let placed = self.placed(path, scope)?;
        if !matches!(placed.shape, Shape::Scalar(_)) {
            self.error(&path.span, "a single value is wanted here", "this is a whole array or record");
            return None;
        }
        placed.parts(&self.program).pop()
    }

    /// A lock or a semaphore: a shared variable of one kind.
    pub(super) fn shared_place(&mut self, path: &Path, scope: &Scope, what: &str, wanted: &Sort) -> Option<Place> {
        let (place, kind) = self.scalar_place(path, scope)?;
        let sort = Sort::of(&Shape::Scalar(kind));
        if sort != *wanted {
            let is = if *wanted == Sort::Bool { "Boolean variable" } else { "number" };
            self.error(&path.span, format!("a {what} is a {is}"), "this is not");
        }
        if place.slots().iter().any(|slot| matches!(slot, Slot::Local(_))) {
            self.error(&path.span, format!("a {what} is a shared variable"), "this one is local");
        }
        Some(place)
    }

    /// What threads sleep on.
    pub(super) fn condition(&mut self, path: &Path, scope: &Scope) -> Option<Condition> {
        let found = self.program.conditions.iter().find(|conditions| conditions.name == path.name.text).cloned();
        let Some(conditions) = found else {
            let known: Vec<_> = self.program.conditions.iter().map(|one| one.name.clone()).collect();
            let known = known.iter().map(String::as_str);
            let hint = suggestion(&path.name.text, known, self.sink.is_full(Severity::Error));
            let message = format!("no condition is called {}", quote(&path.name.text));
            self.error_with_hint(&path.name.span, &message, "not declared with `condition`", hint);
            return None;
        };
        if path.steps.len() != conditions.dimensions.len() {
            let message = format!("{} has {}", quote(&path.name.text), count(conditions.dimensions.len(), "dimension"));
            self.error(&path.span, message, format!("{} here", path.steps.len()));
            return None;
        }
        let (mut first, mut indices, mut text) = (conditions.first, Vec::new(), vec![path.name.text.clone()]);
        for (number, step) in path.steps.iter().enumerate() {
            let inner = conditions.dimensions[number + 1..].iter().map(|&dimension| self.program.count(dimension));
            let stride = inner.product::<u32>() as usize;
            let Access::Index(index) = step else {
                self.error(&path.span, "a condition has no fields", "here");
                return None;
            };
            first += self.index(&mut indices, &mut text, conditions.dimensions[number], stride, index, scope)? as u32;
        }
        Some(Condition { first, indices, text })
    }

    /// Whether a name is that of a variable, a constant or a condition that is known.
    pub(super) fn is_known(&self, name: &str, scope: &Scope) -> bool {
        self.find(name, scope).is_some()
            || self.constants.contains_key(name)
            || self.program.conditions.iter().any(|condition| condition.name == name)
    }

    pub(super) fn similar_variable(&self, name: &str, scope: &Scope) -> Option<String> {
        let locals = self.program.procedures.get(scope.procedure).map_or(&[][..], |procedure| &procedure.declared);
        let loops = scope.loops.iter().map(|(declared, _)| declared);
        let known = loops.chain(locals).chain(&self.program.declared).map(|declared| declared.name.as_str());
        suggestion(name, known, self.sink.is_full(Severity::Error))
    }
}
