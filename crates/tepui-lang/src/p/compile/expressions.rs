//! Expressions: their types, and how they are computed.
//!
//! What has effects (calls, choices, new machines) is executed before the expression that it stands in, from left to right;
//! the rest is evaluated at once.

use tepui_model::queue::run::MOST_CHOICES;
use tepui_model::queue::{Among, Binary, Expression, Instruction, Slot, Unary, Value};

use super::body::{Body, Typed};
use crate::diagnostic::quote;
use crate::p::syntax::{self, Form, Name, Place};
use crate::p::types::{References, Type};

impl Body<'_, '_, '_> {
    pub(super) fn expression(&mut self, expression: &syntax::Expression) -> Typed {
        let place = expression.place;
        let unary = |operator: Unary, value: Expression| Expression::Unary(operator, Box::new(value));
        match &expression.form {
            Form::Bool(value) => (Type::Bool, Self::constant(Value::Bool(*value))),
            Form::Int(value) => (Type::Int, Self::constant(Value::Int(*value))),
            Form::Float(value) => (Type::Float, Self::constant(Value::float(*value))),
            Form::Text(value) => (Type::Text, Self::constant(Value::text(value))),
            Form::Null => (Type::Null, Self::constant(Value::Null)),
            Form::This => {
                self.acts("refer to itself");
                (self.machine.map_or(Type::Machine, Type::Reference), Expression::This)
            }
            Form::Name(name) => self.named(name, place),
            Form::Either { fair } => {
                self.acts("choose");
                let slot = self.temporary(Type::Bool);
                self.emit(Instruction::Choose(Among::Bool { fair: *fair }, slot));
                (Type::Bool, Self::read(slot))
            }
            Form::Choose(among) => self.choice(among.as_deref(), place),
            Form::Field(..) | Form::Item(..) | Form::Index(..) => self.part(expression),
            Form::Call(name, arguments) => self.call(name, arguments, place, true),
            Form::New(machine, arguments) => self.create(machine, arguments, true),
            Form::Not(inner) => {
                let (kind, value) = self.expression(inner);
                self.compiler.require(inner.place, &Type::Bool, &kind);
                (Type::Bool, unary(Unary::Not, value))
            }
            Form::Minus(inner) => {
                let (kind, value) = self.expression(inner);
                if !kind.is_numeric() {
                    self.expect_collection(inner.place, &kind, "a number");
                }
                (kind, unary(Unary::Minus, value))
            }
            Form::Binary(operator, left, right) => self.binary(*operator, left, right, place),
            Form::Cast(inner, kind) => self.cast(inner, kind),
            Form::Convert(inner, kind) => self.convert(inner, kind),
            Form::Keys(inner) | Form::Values(inner) | Form::Size(inner) => self.measured(&expression.form, inner),
            Form::Default(kind) => {
                let kind = self.compiler.type_of(kind);
                let value = self.compiler.values().default(&kind);
                (kind, Self::constant(value))
            }
            Form::Tuple(parts) => {
                let (kinds, values) = parts.iter().map(|part| self.expression(part)).unzip();
                (Type::Tuple(kinds), Expression::Tuple(values))
            }
            Form::Record(fields) => self.record(fields),
            Form::Format(text, parts) => self.format(text, parts),
        }
    }

    fn named(&mut self, name: &str, place: Place) -> Typed {
        if let Some((slot, kind)) = self.variable(name) {
            return (kind, Expression::Read(slot));
        }
        let names = self.compiler.names;
        if let Some(kind) = names.parameters.get(name) {
            let value = self.compiler.setting.parameters.get(name).cloned();
            let value = value.unwrap_or_else(|| self.compiler.values().default(kind));
            return (kind.clone(), Self::constant(value));
        }
        if let Some((of, number)) = names.constant(name) {
            return (Type::Enumeration(of), Self::constant(Value::Constant { of: of as u32, number }));
        }
        if let Some(event) = names.events.get(name) {
            return (Type::Event, Self::constant(Value::Event(*event)));
        }
        let wanted = Name { text: name.to_owned(), place };
        let known = self.known_names();
        let known = known.iter().map(String::as_str).chain(names.events.keys().copied());
        names.unknown("variable or event", &wanted, known, self.compiler.sink);
        (Type::Wrong, Self::constant(Value::Null))
    }

    fn choice(&mut self, among: Option<&syntax::Expression>, place: Place) -> Typed {
        self.acts("choose");
        let Some(among) = among else {
            let slot = self.temporary(Type::Bool);
            self.emit(Instruction::Choose(Among::Bool { fair: false }, slot));
            return (Type::Bool, Self::read(slot));
        };
        if let Form::Int(number) = among.form
            && number > MOST_CHOICES as i64
        {
            self.compiler.error(place, format!("a choice from more than {MOST_CHOICES} values"), "too many");
        }
        let (kind, value) = self.expression(among);
        let kind = match kind {
            Type::Int => Type::Int,
            Type::Seq(element) | Type::Set(element) => *element,
            Type::Map(key, _) => *key,
            other => {
                self.expect_collection(among.place, &other, "a number or a collection");
                Type::Wrong
            }
        };
        let slot = self.temporary(kind.clone());
        self.emit(Instruction::Choose(Among::Of(value), slot));
        (kind, Self::read(slot))
    }

    /// A part of a value.
    fn part(&mut self, expression: &syntax::Expression) -> Typed {
        let wrong = (Type::Wrong, Self::constant(Value::Null));
        match &expression.form {
            Form::Field(inner, field) => {
                let (kind, value) = self.expression(inner);
                let Some((number, kind)) = self.field(&kind, field) else { return wrong };
                (kind, Expression::Item(Box::new(value), number))
            }
            Form::Item(inner, number) => {
                let (kind, value) = self.expression(inner);
                let Some(kind) = self.item(&kind, *number, expression.place) else { return wrong };
                (kind, Expression::Item(Box::new(value), *number))
            }
            Form::Index(inner, key) => {
                let (kind, value) = self.expression(inner);
                let (found, key) = self.expression(key);
                if let Type::Set(_) = kind {
                    self.compiler.sees_order = true;
                }
                let Some(kind) = self.element(&kind, &found, expression.place) else { return wrong };
                (kind, Expression::At(Box::new(value), Box::new(key)))
            }
            _ => wrong,
        }
    }

    /// The place and the type of a field.
    pub(super) fn field(&mut self, kind: &Type, field: &Name) -> Option<(usize, Type)> {
        let Type::Record(fields) = kind else {
            self.expect_collection(field.place, kind, "a tuple with names");
            return None;
        };
        let number = fields.iter().position(|(name, _)| *name == field.text);
        let Some(number) = number else {
            let known = fields.iter().map(|(name, _)| name.as_str());
            self.compiler.names.unknown("field", field, known, self.compiler.sink);
            return None;
        };
        Some((number, fields[number].1.clone()))
    }

    /// The type of an item.
    pub(super) fn item(&mut self, kind: &Type, number: usize, place: Place) -> Option<Type> {
        let parts: Vec<&Type> = match kind {
            Type::Tuple(parts) => parts.iter().collect(),
            Type::Record(fields) => fields.iter().map(|(_, kind)| kind).collect(),
            _ => {
                self.expect_collection(place, kind, "a tuple");
                return None;
            }
        };
        if parts.get(number).is_none() {
            let message = format!("there are {} items, and they are counted from 0", parts.len());
            self.compiler.error(place, message, "there is no such item");
        }
        parts.get(number).map(|part| (*part).clone())
    }

    /// The type of what is at an index or a key.
    pub(super) fn element(&mut self, kind: &Type, key: &Type, place: Place) -> Option<Type> {
        match kind {
            Type::Seq(element) | Type::Set(element) => {
                self.compiler.require(place, &Type::Int, key);
                Some((**element).clone())
            }
            Type::Map(expected, element) => {
                self.compiler.require(place, expected, key);
                Some((**element).clone())
            }
            _ => {
                self.expect_collection(place, kind, "a collection");
                None
            }
        }
    }

    /// Calls a function; where a value is wanted, it is what the function returns.
    pub(super) fn call(&mut self, name: &Name, arguments: &[syntax::Expression], place: Place, wanted: bool) -> Typed {
        let given: Vec<_> = arguments.iter().map(|argument| (argument.place, self.expression(argument))).collect();
        let Some(number) = self.function(&name.text) else {
            let known = self.compiler.names.functions.keys().copied();
            self.compiler.names.unknown("function", name, known, self.compiler.sink);
            return (Type::Wrong, Self::constant(Value::Null));
        };
        let signature = self.compiler.signatures[number].clone();
        if signature.parameters.len() != given.len() {
            let message = format!("{} arguments are expected, {} are given", signature.parameters.len(), given.len());
            self.compiler.error(place, message, "another number");
        }
        for (expected, (place, (found, _))) in signature.parameters.iter().zip(&given) {
            self.compiler.require(*place, expected, found);
        }
        let given: Vec<_> = given.into_iter().map(|(_, given)| given).collect();
        if wanted && signature.result.is_none() {
            self.compiler.error(place, format!("{} returns nothing", quote(&name.text)), "a value is expected");
            return (Type::Wrong, Self::constant(Value::Null));
        }
        self.effects.calls.push((number, place));
        let kind = signature.result.clone().unwrap_or(Type::Null);
        let slot = signature.result.is_some().then(|| self.temporary(kind.clone()));
        if signature.foreign.is_some() {
            given.iter().for_each(|(kind, value)| self.evaluate(kind, value));
        }
        match (signature.foreign, slot) {
            (Some(foreign), Some(slot)) => {
                let all = self.compiler.values().all(&kind);
                let among = all.map_or(Among::Unknown(foreign), Among::These);
                self.emit(Instruction::Choose(among, slot));
            }
            (Some(_), None) => {}
            (None, slot) => {
                let values = given.into_iter().map(|(_, value)| value).collect();
                self.emit(Instruction::Call(number, values, slot));
            }
        }
        (kind, slot.map_or(Self::constant(Value::Null), Self::read))
    }

    /// Evaluates something of which nobody wants the value, because that may fail.
    fn evaluate(&mut self, kind: &Type, value: &Expression) {
        if !matches!(value, Expression::Value(_) | Expression::Read(_) | Expression::This) {
            let slot = self.temporary(kind.clone());
            self.set(Slot::Local(slot), value.clone());
        }
    }

    /// A function of the machine, or one that belongs to none.
    fn function(&self, name: &str) -> Option<usize> {
        let own = self.machine.and_then(|machine| self.compiler.own_function(machine, name));
        own.or_else(|| self.compiler.names.functions.get(name).copied())
    }

    /// Creates a machine.
    pub(super) fn create(&mut self, machine: &Name, arguments: &[syntax::Expression], wanted: bool) -> Typed {
        self.acts("create machines");
        let place = self.place;
        let Some(reference) = self.compiler.names.reference(machine, self.compiler.sink) else {
            arguments.iter().for_each(|argument| _ = self.expression(argument));
            return (Type::Wrong, Self::constant(Value::Null));
        };
        if self.compiler.names.is_spec(reference) {
            self.compiler.error(machine.place, "a spec is not created", "it is attached with `assert .. in`");
        }
        self.effects.creates.push(reference);
        let expected = self.compiler.argument_type(reference);
        let argument = self.payload(&expected, arguments, place.to(machine.place));
        let kind = self.compiler.bound(reference);
        let slot = wanted.then(|| self.temporary(Type::Reference(reference)));
        self.emit(Instruction::New(kind, argument, slot));
        (Type::Reference(reference), slot.map_or(Self::constant(Value::Null), Self::read))
    }

    /// One value, or several as a tuple, for a payload of a type.
    pub(super) fn payload(&mut self, expected: &Type, values: &[syntax::Expression], place: Place) -> Expression {
        let mut given: Vec<_> = values.iter().map(|value| self.expression(value)).collect();
        let place = values.first().map_or(place, |first| first.place);
        let (kind, value) = match given.len() {
            0 => (Type::Null, Self::constant(Value::Null)),
            1 => given.swap_remove(0),
            _ => {
                let (kinds, values) = given.into_iter().unzip();
                (Type::Tuple(kinds), Expression::Tuple(values))
            }
        };
        if values.is_empty() && !expected.takes(&Type::Null, self.compiler.names) {
            let message = format!("a payload of type {} is expected", self.compiler.names.shown(expected));
            self.compiler.error(place, message, "none is given");
        } else {
            self.compiler.require(place, expected, &kind);
        }
        value
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &syntax::Expression,
        right: &syntax::Expression,
        place: Place,
    ) -> Typed {
        let (left_kind, first) = self.expression(left);
        if let Binary::And | Binary::Or = operator {
            return self.connective(operator, (left, left_kind, first), right);
        }
        let (right_kind, second) = self.expression(right);
        let (left_kind, first) = self.numbered(left_kind, first, &right_kind);
        let (right_kind, second) = self.numbered(right_kind, second, &left_kind);
        let kind = self.operated(operator, &left_kind, &right_kind, place);
        (kind, Expression::Binary(operator, Box::new(first), Box::new(second)))
    }

    /// A constant of an enumeration beside an integer, where that is allowed.
    fn numbered(&self, kind: Type, value: Expression, other: &Type) -> Typed {
        match (&kind, other) {
            (Type::Enumeration(_), Type::Int) if self.compiler.setting.numbered => {
                (Type::Int, Expression::Unary(Unary::ToInt, Box::new(value)))
            }
            _ => (kind, value),
        }
    }

    /// The second operand is only looked at if the first one leaves the value open, and so are its effects.
    fn connective(
        &mut self,
        operator: Binary,
        (left, left_kind, first): (&syntax::Expression, Type, Expression),
        right: &syntax::Expression,
    ) -> Typed {
        self.compiler.require(left.place, &Type::Bool, &left_kind);
        let before = self.code.len();
        let slot = self.temporary(Type::Bool);
        self.set(Slot::Local(slot), first.clone());
        let open = match operator {
            Binary::And => Self::read(slot),
            _ => Expression::Unary(Unary::Not, Box::new(Self::read(slot))),
        };
        let skip = self.emit(Instruction::Unless(open, 0));
        let after = self.code.len();
        let (right_kind, second) = self.expression(right);
        self.compiler.require(right.place, &Type::Bool, &right_kind);
        if self.code.len() == after {
            // No effects: it is one expression.
            self.code.truncate(before);
            self.places.truncate(before);
            self.slots.pop();
            return (Type::Bool, Expression::Binary(operator, Box::new(first), Box::new(second)));
        }
        self.set(Slot::Local(slot), second);
        self.land(skip);
        (Type::Bool, Self::read(slot))
    }

    fn cast(&mut self, inner: &syntax::Expression, kind: &syntax::Type) -> Typed {
        let (found, value) = self.expression(inner);
        let wanted = self.compiler.type_of(kind);
        if !found.is_comparable(&wanted, self.compiler.names) {
            let (found, wanted) = (self.compiler.names.shown(&found), self.compiler.names.shown(&wanted));
            self.compiler.error(inner.place, format!("{found} is never {wanted}"), "this cast always fails");
        }
        let tested = self.compiler.values().tested(&wanted);
        (wanted, Expression::Cast(Box::new(value), tested))
    }

    fn convert(&mut self, inner: &syntax::Expression, kind: &syntax::Type) -> Typed {
        let (found, value) = self.expression(inner);
        let wanted = self.compiler.type_of(kind);
        let unary = |operator: Unary, value: Expression| Expression::Unary(operator, Box::new(value));
        let value = match (&found, &wanted) {
            (Type::Wrong, _) | (_, Type::Wrong) => value,
            (Type::Float | Type::Enumeration(_) | Type::Int, Type::Int) => unary(Unary::ToInt, value),
            (Type::Int | Type::Float, Type::Float) => unary(Unary::ToFloat, value),
            (Type::Reference(one), Type::Reference(other)) if self.compiler.names.is_wider(*one, *other) => value,
            (Type::Machine, Type::Reference(_)) => value,
            _ => {
                let (found, wanted) = (self.compiler.names.shown(&found), self.compiler.names.shown(&wanted));
                self.compiler.error(inner.place, format!("{found} does not become {wanted}"), "not possible");
                value
            }
        };
        (wanted, value)
    }

    fn measured(&mut self, form: &Form, inner: &syntax::Expression) -> Typed {
        let (kind, value) = self.expression(inner);
        let (result, operator) = match (form, kind) {
            (Form::Keys(_), Type::Map(key, _)) => (Type::Seq(key), Unary::Keys),
            (Form::Values(_), Type::Map(_, value)) => (Type::Seq(value), Unary::Values),
            (Form::Size(_), Type::Seq(_) | Type::Set(_) | Type::Map(..)) => (Type::Int, Unary::Size),
            (_, kind) => {
                self.expect_collection(
                    inner.place,
                    &kind,
                    if let Form::Size(_) = form { "a collection" } else { "a map" },
                );
                (Type::Wrong, Unary::Size)
            }
        };
        self.compiler.sees_order |= operator != Unary::Size;
        (result, Expression::Unary(operator, Box::new(value)))
    }

    fn record(&mut self, fields: &[(Name, syntax::Expression)]) -> Typed {
        let (mut kinds, mut values) = (Vec::<(String, Type)>::new(), Vec::new());
        for (name, value) in fields {
            if kinds.iter().any(|(other, _)| *other == name.text) {
                self.compiler.error(name.place, format!("two fields are called {}", quote(&name.text)), "again here");
            }
            let (kind, value) = self.expression(value);
            kinds.push((name.text.clone(), kind));
            values.push(value);
        }
        let names = kinds.iter().map(|(name, _)| name.clone()).collect();
        let number = self.compiler.values().record(names);
        (Type::Record(kinds), Expression::Record(number, values))
    }

    /// A text with `{0}`, `{1}` and so on.
    fn format(&mut self, text: &Name, parts: &[syntax::Expression]) -> Typed {
        let only_read = std::mem::take(&mut self.only_read);
        let given: Vec<_> = parts.iter().map(|part| self.expression(part)).collect();
        self.compiler.sees_order |= !only_read && given.iter().any(|(kind, _)| kind.may_have_order());
        let mut order = Vec::new();
        let (mut texts, mut shown, mut rest) = (vec![String::new()], Vec::new(), text.text.as_str());
        while let Some(at) = rest.find(['{', '}']) {
            let (before, mark) = rest.split_at(at);
            if let Some(last) = texts.last_mut() {
                last.push_str(before);
            }
            if mark.starts_with("{{") || mark.starts_with("}}") {
                texts.last_mut().into_iter().for_each(|last| last.push_str(&mark[..1]));
                rest = &mark[2..];
                continue;
            }
            let number = mark.find('}').and_then(|end| Some((end, mark.get(1..end)?.parse::<usize>().ok()?)));
            let Some((end, number)) = number.filter(|(_, number)| *number < given.len()) else {
                let error =
                    text.place.error("a placeholder is a number in braces, of a value that is given", "in this text");
                self.compiler.sink.push(error.hint("`{{` stands for a brace"));
                return (Type::Text, Self::constant(Value::text(&text.text)));
            };
            shown.push(given[number].1.clone());
            order.push(number);
            texts.push(String::new());
            rest = &mark[end + 1..];
        }
        texts.last_mut().into_iter().for_each(|last| last.push_str(rest));
        // All of them are worked out, in the order in which they are given.
        if !order.into_iter().eq(0..given.len()) {
            given.iter().for_each(|(kind, value)| self.evaluate(kind, value));
        }
        (Type::Text, Expression::Format(texts, shown))
    }
}
