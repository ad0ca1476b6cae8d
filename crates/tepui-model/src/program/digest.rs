//! The fingerprint of what a program means. Names, lines and places in the text do not enter it.

use super::{Action, Condition, Element, Expression, Index, Kind, Operator, Place, Procedure, Program, Slot};
use crate::Digest;

impl Program {
    /// The fingerprint of the program as it was resolved: its variables, procedures and statements.
    pub fn digest(&self) -> Digest {
        let mut writer = Writer { bytes: b"program\n".to_vec() };
        writer.list(&self.enumerations, |writer, enumeration| writer.number(enumeration.values.len()));
        writer.list(&self.shared, |writer, variable| writer.variable(variable.kind, variable.init));
        writer.list(&self.procedures, Writer::procedure);
        writer.number(self.main);
        self.order.iter().for_each(|order| writer.bytes.extend(order.name().bytes()));
        Digest::of(&writer.bytes)
    }
}

/// Every item is preceded by its tag, every list by its length, so that no two programs are written alike.
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn number(&mut self, number: usize) {
        self.bytes.extend((number as u64).to_le_bytes());
    }

    fn tag(&mut self, tag: u8) {
        self.bytes.push(tag);
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(items.len());
        items.iter().for_each(|item| write(self, item));
    }

    fn positions(&mut self, positions: &[usize]) {
        self.list(positions, |writer, &position| writer.number(position));
    }

    fn option<T>(&mut self, item: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.tag(u8::from(item.is_some()));
        if let Some(item) = item {
            write(self, item);
        }
    }

    fn kind(&mut self, kind: Kind) {
        match kind {
            Kind::Bool => self.tag(0),
            Kind::Enumeration(number) => {
                self.tag(1);
                self.number(number);
            }
            Kind::Range(low, high) => {
                self.tag(2);
                self.integer(i64::from(low));
                self.integer(i64::from(high));
            }
        }
    }

    fn integer(&mut self, number: i64) {
        self.bytes.extend(number.to_le_bytes());
    }

    fn variable(&mut self, kind: Kind, init: Option<u32>) {
        self.kind(kind);
        self.option(init, |writer, value| writer.number(value as usize));
    }

    fn procedure(&mut self, procedure: &Procedure) {
        self.number(procedure.parameters);
        self.list(&procedure.locals, |writer, variable| writer.variable(variable.kind, variable.init));
        self.list(&procedure.results, |writer, &kind| writer.kind(kind));
        self.option(procedure.enforced.as_ref(), Self::expression);
        self.list(&procedure.statements, |writer, statement| writer.action(&statement.action));
        self.positions(&procedure.body);
    }

    fn slot(&mut self, slot: Slot) {
        let (tag, number) = match slot {
            Slot::Shared(number) => (0, number),
            Slot::Local(number) => (1, number),
        };
        self.tag(tag);
        self.number(number);
    }

    fn places(&mut self, places: &[Place]) {
        self.list(places, Self::place);
    }

    fn place(&mut self, place: &Place) {
        match place {
            Place::Nowhere => self.tag(0),
            Place::Variable(slot) => {
                self.tag(1);
                self.slot(*slot);
            }
            Place::Element(element) => {
                self.tag(2);
                self.element(element);
            }
        }
    }

    fn element(&mut self, element: &Element) {
        self.slot(element.first);
        self.kind(element.kind);
        self.indices(&element.indices);
    }

    fn condition_place(&mut self, condition: &Condition) {
        self.number(condition.first as usize);
        self.indices(&condition.indices);
    }

    fn indices(&mut self, indices: &[Index]) {
        self.list(indices, |writer, index| {
            writer.expression(&index.value);
            writer.number(index.count as usize);
            writer.number(index.stride);
        });
    }

    fn expressions(&mut self, expressions: &[Expression]) {
        self.list(expressions, Self::expression);
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Skip => self.tag(0),
            Action::Goto(targets) => {
                self.tag(1);
                self.positions(targets);
            }
            Action::Assign { targets, values, constraint } => {
                self.tag(2);
                self.places(targets);
                self.expressions(values);
                self.option(constraint.as_ref(), Self::expression);
            }
            Action::Assume(condition) => self.condition(3, condition),
            Action::Wait(condition) => self.condition(4, condition),
            Action::Assert(condition) => self.condition(5, condition),
            Action::If(condition, then, otherwise) => {
                self.condition(6, condition);
                self.positions(then);
                self.positions(otherwise);
            }
            Action::While(condition, body) => {
                self.condition(7, condition);
                self.positions(body);
            }
            Action::Atomic(body) => {
                self.tag(8);
                self.positions(body);
            }
            Action::AtomicBegin => self.tag(9),
            Action::AtomicEnd => self.tag(10),
            Action::Lock(place) => {
                self.tag(11);
                self.place(place);
            }
            Action::Unlock(place) => {
                self.tag(12);
                self.place(place);
            }
            Action::Call { targets, procedure, arguments } => {
                self.tag(13);
                self.places(targets);
                self.number(*procedure);
                self.expressions(arguments);
            }
            Action::Return(values) => {
                self.tag(14);
                self.expressions(values);
            }
            Action::Start { procedure, arguments, count } => {
                self.tag(15);
                self.number(*procedure);
                self.expressions(arguments);
                self.number(*count as usize);
            }
            Action::StartAt(to) => {
                self.tag(16);
                self.number(*to);
            }
            Action::EndThread => self.tag(17),
            Action::Yield => self.tag(26),
            Action::Sleep => self.tag(18),
            Action::Broadcast => self.tag(19),
            Action::Dead(slots) => {
                self.tag(20);
                self.list(slots, |writer, &slot| writer.slot(slot));
            }
            Action::For(variable, body) => {
                self.tag(21);
                self.number(*variable);
                self.positions(body);
            }
            Action::Next(variable, body) => {
                self.tag(22);
                self.number(*variable);
                self.number(*body);
            }
            Action::Acquire(place) => {
                self.tag(23);
                self.place(place);
            }
            Action::SleepOn(condition, lock) => {
                self.tag(24);
                self.condition_place(condition);
                self.place(lock);
            }
            Action::Wake { condition, all } => {
                self.tag(25);
                self.condition_place(condition);
                self.tag(u8::from(*all));
            }
        }
    }

    fn condition(&mut self, tag: u8, condition: &Expression) {
        self.tag(tag);
        self.expression(condition);
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Value(value, kind) => {
                self.tag(0);
                self.number(*value as usize);
                self.kind(*kind);
            }
            Expression::Any(kind) => {
                self.tag(1);
                self.kind(*kind);
            }
            Expression::Read(slot) => {
                self.tag(2);
                self.slot(*slot);
            }
            Expression::New(slot) => {
                self.tag(3);
                self.slot(*slot);
            }
            Expression::Not(operand) => self.condition(4, operand),
            Expression::Binary(operator, left, right) => {
                self.tag(5);
                self.tag(match operator {
                    Operator::And => 0,
                    Operator::Or => 1,
                    Operator::Xor => 2,
                    Operator::Implies => 3,
                    Operator::Equal => 4,
                    Operator::Unequal => 5,
                    Operator::Less => 6,
                    Operator::AtMost => 7,
                    Operator::Greater => 8,
                    Operator::AtLeast => 9,
                    Operator::Add => 10,
                    Operator::Subtract => 11,
                    Operator::Multiply => 12,
                    Operator::Divide => 13,
                    Operator::Modulo => 14,
                });
                self.expression(left);
                self.expression(right);
            }
            Expression::Choice(condition, then, otherwise) => {
                self.condition(6, condition);
                self.expression(then);
                self.expression(otherwise);
            }
            Expression::Choose(positive, negative) => {
                self.condition(7, positive);
                self.expression(negative);
            }
            Expression::Number(number) => {
                self.tag(8);
                self.integer(*number);
            }
            Expression::Element(element) => {
                self.tag(9);
                self.element(element);
            }
            Expression::NewElement(element) => {
                self.tag(10);
                self.element(element);
            }
            Expression::Negate(operand) => self.condition(11, operand),
        }
    }
}
