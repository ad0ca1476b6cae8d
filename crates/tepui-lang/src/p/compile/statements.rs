//! Statements become instructions.

use tepui_model::queue::{Binary, Expression, Instruction, Slot, Unary, Value};

use super::body::Body;
use crate::diagnostic::quote;
use crate::p::syntax::{self, Action, Name, Place, Statement};
use crate::p::types::Type;

impl Body<'_, '_, '_> {
    /// Compiles statements; says whether the end of the last one can be reached.
    pub(super) fn block(&mut self, statements: &[Statement]) -> bool {
        let mut reached = true;
        for statement in statements {
            reached &= self.statement(statement);
        }
        reached
    }

    fn statement(&mut self, statement: &Statement) -> bool {
        self.place = statement.place;
        match &statement.action {
            Action::Nothing => {}
            Action::Block(block) => return self.block(block),
            Action::If(condition, then, otherwise) => return self.branch(condition, then, otherwise.as_deref()),
            Action::While(condition, body) => return self.repeat(condition, body),
            Action::Foreach(variable, over, body) => self.foreach(variable, over, body),
            Action::Break | Action::Continue => return self.jump(&statement.action),
            Action::Return(value) => return self.leave(value.as_ref()),
            Action::Call(name, arguments) => {
                self.call(name, arguments, statement.place, false);
            }
            Action::New(machine, arguments) => _ = self.create(machine, arguments, false),
            Action::Receive(cases) => return self.receive(cases),
            Action::Assign(..) | Action::Insert(..) | Action::Add(..) | Action::Remove(..) => {
                self.change(&statement.action);
            }
            Action::Send(..) | Action::Announce(..) => self.tell(&statement.action),
            Action::Raise(..) | Action::Goto(..) | Action::Pop => {
                self.end(&statement.action);
                return false;
            }
            Action::Assert(..) | Action::Assume(..) | Action::Print(_) => return self.say(&statement.action),
        }
        true
    }

    fn condition(&mut self, condition: &syntax::Expression) -> Expression {
        let (kind, value) = self.expression(condition);
        self.compiler.require(condition.place, &Type::Bool, &kind);
        value
    }

    fn branch(&mut self, condition: &syntax::Expression, then: &Statement, otherwise: Option<&Statement>) -> bool {
        let condition = self.condition(condition);
        let skip = self.emit(Instruction::Unless(condition, 0));
        let first = self.statement(then);
        let Some(otherwise) = otherwise else {
            self.land(skip);
            return true;
        };
        let over = self.emit(Instruction::Jump(0));
        self.land(skip);
        let second = self.statement(otherwise);
        self.land(over);
        first || second
    }

    fn repeat(&mut self, condition: &syntax::Expression, body: &Statement) -> bool {
        let endless = matches!(condition.form, syntax::Form::Bool(true));
        let start = self.code.len();
        let condition = self.condition(condition);
        let leave = self.emit(Instruction::Unless(condition, 0));
        let broken = self.round(body, start);
        self.land(leave);
        !endless || broken
    }

    /// The body of a loop that goes on at `start`; says whether it is left by `break`.
    fn round(&mut self, body: &Statement, start: usize) -> bool {
        self.loops.push((Vec::new(), Vec::new()));
        self.statement(body);
        self.emit(Instruction::Jump(start));
        let (breaks, continues) = self.loops.pop().unwrap_or_default();
        for jump in &continues {
            self.code[*jump] = Instruction::Jump(start);
        }
        // What leaves the loop lands behind it: there the caller puts nothing but the end.
        for jump in &breaks {
            self.land(*jump);
        }
        !breaks.is_empty()
    }

    fn foreach(&mut self, variable: &Name, over: &syntax::Expression, body: &Statement) {
        let (kind, value) = self.expression(over);
        let (element, value) = match kind {
            Type::Seq(element) => (*element, value),
            Type::Set(element) => {
                self.compiler.sees_order = true;
                (*element, value)
            }
            Type::Map(key, _) => {
                self.compiler.sees_order = true;
                (*key, Expression::Unary(Unary::Keys, Box::new(value)))
            }
            Type::Wrong => (Type::Wrong, value),
            other => {
                let message = format!("expected a collection, found {}", self.compiler.names.shown(&other));
                self.compiler.error(over.place, message, "nothing to run through");
                (Type::Wrong, value)
            }
        };
        let (all, next) = (self.kept(Type::Any, value), self.kept(Type::Int, Self::constant(Value::Int(0))));
        let start = self.code.len();
        let size = Expression::Unary(Unary::Size, Box::new(Self::read(all)));
        let more = Expression::Binary(Binary::Less, Box::new(Self::read(next)), Box::new(size));
        let leave = self.emit(Instruction::Unless(more, 0));
        let item = Expression::At(Box::new(Self::read(all)), Box::new(Self::read(next)));
        match self.variable(&variable.text) {
            Some((slot, kind)) => {
                self.compiler.require(variable.place, &kind, &element);
                self.set(slot, item);
            }
            None => {
                let message = format!("there is no variable {}", quote(&variable.text));
                let error = variable.place.error(message, "not declared");
                self.compiler.sink.push(error.hint("the variable of a `foreach` is declared before"));
            }
        }
        let one = Box::new(Self::constant(Value::Int(1)));
        self.set(Slot::Local(next), Expression::Binary(Binary::Plus, Box::new(Self::read(next)), one));
        self.round(body, start);
        self.land(leave);
    }

    fn jump(&mut self, action: &Action) -> bool {
        let jump = self.emit(Instruction::Jump(0));
        let breaks = matches!(action, Action::Break);
        match self.loops.last_mut() {
            Some((outside, _)) if breaks => outside.push(jump),
            Some((_, again)) => again.push(jump),
            None => {
                let what = if breaks { "break" } else { "continue" };
                self.compiler.error(self.place, format!("`{what}` stands outside of a loop"), "no loop around it");
            }
        }
        false
    }

    fn leave(&mut self, value: Option<&syntax::Expression>) -> bool {
        let place = self.place;
        let result = self.result.clone();
        let value = value.map(|value| (value.place, self.expression(value)));
        match (&result, &value) {
            (Some(expected), Some((place, (found, _)))) => self.compiler.require(*place, expected, found),
            (None, Some((place, (found, _)))) if *found != Type::Wrong => {
                self.compiler.error(*place, "this function returns nothing", "a value is returned");
            }
            (Some(_), None) => self.compiler.error(place, "a value is expected", "nothing is returned"),
            _ => {}
        }
        self.emit(Instruction::Return(value.map(|(_, (_, value))| value)));
        false
    }

    fn change(&mut self, action: &Action) {
        let (Action::Assign(place, _) | Action::Insert(place, ..) | Action::Add(place, _) | Action::Remove(place, _)) =
            action
        else {
            return;
        };
        let target = self.target(place);
        let (kind, target) = target.unwrap_or_else(|| {
            let nowhere = tepui_model::queue::Place { slot: Slot::Local(0), path: Vec::new() };
            (Type::Wrong, nowhere)
        });
        match action {
            Action::Assign(_, value) => {
                let (found, computed) = self.expression(value);
                self.compiler.require(value.place, &kind, &found);
                self.emit(Instruction::Set(target, computed));
            }
            Action::Insert(_, key, value) => {
                let (key_kind, at) = self.expression(key);
                let (found, computed) = self.expression(value);
                match &kind {
                    Type::Seq(element) => {
                        self.compiler.require(key.place, &Type::Int, &key_kind);
                        self.compiler.require(value.place, element, &found);
                    }
                    Type::Map(expected, element) => {
                        self.compiler.require(key.place, expected, &key_kind);
                        self.compiler.require(value.place, element, &found);
                    }
                    other => self.expect_collection(place.place, other, "a sequence or a map"),
                }
                self.emit(Instruction::Insert(target, at, computed));
            }
            Action::Add(_, value) => {
                let (found, computed) = self.expression(value);
                match &kind {
                    Type::Set(element) => self.compiler.require(value.place, element, &found),
                    other => self.expect_collection(place.place, other, "a set"),
                }
                self.emit(Instruction::Add(target, computed));
            }
            Action::Remove(_, key) => {
                let (found, computed) = self.expression(key);
                match &kind {
                    Type::Seq(_) => self.compiler.require(key.place, &Type::Int, &found),
                    Type::Map(expected, _) | Type::Set(expected) => {
                        self.compiler.require(key.place, expected, &found);
                    }
                    other => self.expect_collection(place.place, other, "a collection"),
                }
                self.emit(Instruction::Remove(target, computed));
            }
            _ => {}
        }
    }

    pub(super) fn expect_collection(&mut self, place: Place, found: &Type, what: &str) {
        if *found != Type::Wrong {
            let message = format!("expected {what}, found {}", self.compiler.names.shown(found));
            self.compiler.error(place, message, "of another type");
        }
    }

    /// An event and what its payload must be: what it was declared with, or anything if it is not known which it is.
    fn event(&mut self, event: &syntax::Expression) -> (Expression, Type) {
        let literal = match &event.form {
            syntax::Form::Name(name) if self.variable(name).is_none() => {
                self.compiler.names.events.get(name.as_str()).copied()
            }
            _ => None,
        };
        if matches!(event.form, syntax::Form::Null) {
            self.compiler.error(event.place, "`null` is no event", "an event is expected");
        }
        let (kind, value) = self.expression(event);
        self.compiler.require(event.place, &Type::Event, &kind);
        let literal = literal.or_else(|| self.literal(&value));
        let payload = literal.map_or(Type::Any, |event| self.compiler.names.payloads[event as usize].clone());
        (value, payload)
    }

    fn literal(&self, event: &Expression) -> Option<u32> {
        if let Expression::Value(Value::Event(event)) = event { Some(*event) } else { None }
    }

    fn tell(&mut self, action: &Action) {
        let place = self.place;
        match action {
            Action::Send(target, event, payload) => {
                self.acts("send");
                let (kind, to) = self.expression(target);
                let is_machine = matches!(kind, Type::Machine | Type::Reference(_) | Type::Wrong | Type::Null);
                if !is_machine {
                    self.expect_collection(target.place, &kind, "a machine");
                }
                let (event, expected) = self.event(event);
                let payload = self.payload(&expected, payload, place);
                self.effects.sends.push(self.literal(&event));
                self.emit(Instruction::Send(to, event, payload));
            }
            Action::Announce(event, payload) => {
                self.acts("announce");
                let (event, expected) = self.event(event);
                let payload = self.payload(&expected, payload, place);
                self.effects.sends.push(self.literal(&event));
                self.emit(Instruction::Announce(event, payload));
            }
            _ => {}
        }
    }

    /// What ends a handler.
    fn end(&mut self, action: &Action) {
        let place = self.place;
        self.effects.leaves.get_or_insert(place);
        match action {
            Action::Raise(event, payload) => {
                let (event, expected) = self.event(event);
                let payload = self.payload(&expected, payload, place);
                self.emit(Instruction::Raise(event, payload));
            }
            Action::Goto(state, payload) => {
                let Some(number) = self.state(state) else { return };
                let expected = self.entry_of(number);
                let payload = self.payload(&expected, payload, place);
                self.emit(Instruction::Goto(number, payload));
            }
            _ => _ = self.emit(Instruction::Pop),
        }
    }

    /// The number of a state of the machine.
    fn state(&mut self, name: &Name) -> Option<usize> {
        let states = self.machine.map(|machine| &self.compiler.names.project.machines[machine].states);
        let number = states.and_then(|states| states.iter().position(|state| state.name.text == name.text));
        if number.is_none() {
            let known = states.into_iter().flatten().map(|state| state.name.text.as_str());
            self.compiler.names.unknown("state", name, known, self.compiler.sink);
        }
        number
    }

    /// What the entry function of a state takes.
    fn entry_of(&mut self, state: usize) -> Type {
        match self.machine {
            Some(machine) => self.compiler.entry_type(machine, state),
            None => Type::Null,
        }
    }

    fn say(&mut self, action: &Action) -> bool {
        match action {
            Action::Assert(condition, message) | Action::Assume(condition, message) => {
                let never = matches!(condition.form, syntax::Form::Bool(false));
                let holds = self.condition(condition);
                // A message is only worked out where the condition does not hold.
                let negated = Expression::Unary(Unary::Not, Box::new(holds.clone()));
                let skip = self.emit(Instruction::Unless(negated, 0));
                let message = message.as_ref().map(|message| self.message(message));
                let works = self.code.len() > skip + 1;
                // What is done for the message changes nothing about that.
                let holds = if works { Self::constant(Value::Bool(false)) } else { holds };
                if !works {
                    self.code.pop();
                    self.places.pop();
                }
                if let Action::Assert(..) = action {
                    let message = message.unwrap_or(Self::constant(Value::text("")));
                    self.emit(Instruction::Assert(holds, message));
                } else {
                    self.compiler.assumes = true;
                    self.emit(Instruction::Assume(holds));
                }
                if works {
                    self.land(skip);
                }
                !never
            }
            Action::Print(message) => {
                let value = self.message(message);
                self.emit(Instruction::Print(value));
                true
            }
            _ => true,
        }
    }

    /// A text that people read, and nobody else: it may show in which order a set is kept.
    fn message(&mut self, message: &syntax::Expression) -> Expression {
        self.only_read = matches!(message.form, syntax::Form::Format(..));
        let (kind, value) = self.expression(message);
        self.compiler.require(message.place, &Type::Text, &kind);
        value
    }

    fn receive(&mut self, cases: &[(Vec<Name>, syntax::Function)]) -> bool {
        self.acts("receive");
        let payload = self.temporary(Type::Any);
        let at = self.emit(Instruction::Receive(Vec::new(), payload));
        let (mut table, mut ends, mut reached) = (Vec::new(), Vec::new(), false);
        for (names, handler) in cases {
            let start = self.code.len();
            let events = self.cases(names, &mut table, start);
            let visible = self.visible.len();
            if handler.parameters.len() > 1 {
                self.compiler.error(handler.parameters[1].name.place, "a case has one parameter", "one too many");
            }
            if let Some(parameter) = handler.parameters.first() {
                let kind = self.compiler.type_of(&parameter.kind);
                for event in events {
                    self.compiler.require_carried(parameter.kind.place, &kind, event);
                }
                let slot = self.declare(&parameter.name, kind);
                self.set(Slot::Local(slot), Self::read(payload));
            }
            if let Some(body) = &handler.body {
                self.locals(&body.locals);
                reached |= self.block(&body.statements);
            }
            self.visible.truncate(visible);
            ends.push(self.emit(Instruction::Jump(0)));
        }
        ends.into_iter().for_each(|end| self.land(end));
        self.code[at] = Instruction::Receive(table, payload);
        reached
    }

    /// The events of a case, each of which leads to its start.
    fn cases(&mut self, names: &[Name], table: &mut Vec<(u32, usize)>, start: usize) -> Vec<u32> {
        let mut events = Vec::new();
        for name in names {
            let Some(event) = self.compiler.names.event(name, self.compiler.sink) else { continue };
            if table.iter().any(|(other, _)| *other == event) {
                let message = format!("there are two cases for {}", quote(&name.text));
                self.compiler.error(name.place, message, "again here");
            }
            table.push((event, start));
            events.push(event);
        }
        events
    }

    pub(super) fn acts(&mut self, what: &'static str) {
        let place = self.place;
        self.effects.acts.get_or_insert((place, what));
    }
}
