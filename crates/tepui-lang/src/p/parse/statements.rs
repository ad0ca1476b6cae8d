//! Statements.

use super::*;
use crate::p::syntax::{Form, Statement};

impl Parser<'_, '_> {
    /// Statements up to a brace, which stays.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while self.now().kind != Kind::CloseBrace && self.now().kind != Kind::End {
            let before = self.at;
            match self.statement() {
                Ok(statement) => statements.push(statement),
                Err(error) => {
                    self.sink.push(error);
                    self.recover_inside(before);
                }
            }
        }
        statements
    }

    fn statement(&mut self) -> Fallible<Statement> {
        let place = self.now().place;
        let action = self.nested(Self::action)?;
        Ok(Statement { place: place.to(self.before().place), action })
    }

    fn action(&mut self) -> Fallible<Action> {
        let token = self.now();
        let action = match token.text {
            "{" => {
                self.next();
                let block = self.statements();
                self.expect(Kind::CloseBrace, "`}`")?;
                return Ok(Action::Block(block));
            }
            ";" => Action::Nothing,
            "if" => return self.branch(),
            "while" => {
                self.next();
                let condition = self.condition()?;
                self.loop_invariants()?;
                return Ok(Action::While(condition, Box::new(self.statement()?)));
            }
            "foreach" => return self.foreach(),
            "receive" => return self.receive(),
            "break" => self.alone(Action::Break),
            "continue" => self.alone(Action::Continue),
            "return" => {
                self.next();
                Action::Return(if self.now().kind == Kind::Semicolon { None } else { Some(self.expression()?) })
            }
            "new" => self.creation()?,
            "send" | "announce" | "raise" | "goto" => self.leaving()?,
            "assert" | "print" => self.saying()?,
            "assume" if self.peek().kind != Kind::Becomes => self.saying()?,
            "pop" if self.peek().kind == Kind::Semicolon => {
                self.particular(true, "`pop`", token.place);
                self.alone(Action::Pop)
            }
            _ => self.change()?,
        };
        self.semicolon()?;
        Ok(action)
    }

    fn alone(&mut self, action: Action) -> Action {
        self.next();
        action
    }

    /// An expression in parentheses.
    fn condition(&mut self) -> Fallible<Expression> {
        self.expect(Kind::Open, "`(` and a condition")?;
        let condition = self.expression()?;
        self.expect(Kind::Close, "`)`")?;
        Ok(condition)
    }

    fn branch(&mut self) -> Fallible<Action> {
        self.next();
        let condition = self.condition()?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.word("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(Action::If(condition, then, otherwise))
    }

    fn foreach(&mut self) -> Fallible<Action> {
        let token = self.next();
        self.particular(false, "`foreach`", token.place);
        self.expect(Kind::Open, "`(` and a variable")?;
        let variable = self.name("a variable")?;
        self.expect_word("in")?;
        let over = self.expression()?;
        self.expect(Kind::Close, "`)`")?;
        self.loop_invariants()?;
        Ok(Action::Foreach(variable, over, Box::new(self.statement()?)))
    }

    /// What the deductive back end wants to know of a loop.
    fn loop_invariants(&mut self) -> Fallible<()> {
        while self.now().is("invariant") {
            let place = self.now().place;
            self.project.deductive.get_or_insert(place);
            self.pass_line()?;
        }
        Ok(())
    }

    fn receive(&mut self) -> Fallible<Action> {
        self.next();
        self.expect(Kind::OpenBrace, "`{` and cases")?;
        let mut cases = Vec::new();
        while self.word("case") {
            let mut events = vec![self.event_name()?];
            while self.take(Kind::Comma) {
                events.push(self.event_name()?);
            }
            self.expect(Kind::Colon, "`:` and what to do")?;
            cases.push((events, self.unnamed()?));
        }
        if cases.is_empty() {
            return Err(self.unexpected("`case`"));
        }
        self.expect(Kind::CloseBrace, "`case` or `}`")?;
        Ok(Action::Receive(cases))
    }

    fn creation(&mut self) -> Fallible<Action> {
        self.next();
        let machine = self.name("a machine")?;
        Ok(Action::New(machine, self.arguments()?))
    }

    /// What sends an event or ends a handler.
    fn leaving(&mut self) -> Fallible<Action> {
        match self.next().text {
            "goto" => {
                let state = self.name("a state")?;
                Ok(Action::Goto(state, self.payload()?))
            }
            "raise" => {
                let event = self.expression()?;
                Ok(Action::Raise(event, self.payload()?))
            }
            "announce" => {
                let event = self.expression()?;
                Ok(Action::Announce(event, self.payload()?))
            }
            _ => {
                let target = self.expression()?;
                self.expect(Kind::Comma, "`,` and an event")?;
                let event = self.expression()?;
                Ok(Action::Send(target, event, self.payload()?))
            }
        }
    }

    /// What follows the event: a comma and values, if there are any.
    fn payload(&mut self) -> Fallible<Vec<Expression>> {
        if !self.take(Kind::Comma) {
            return Ok(Vec::new());
        }
        self.expressions_before(Kind::Semicolon)
    }

    fn saying(&mut self) -> Fallible<Action> {
        let token = self.next();
        let first = self.expression()?;
        if token.text == "print" {
            return Ok(Action::Print(first));
        }
        let message = if self.take(Kind::Comma) { Some(self.expression()?) } else { None };
        if token.text == "assert" {
            return Ok(Action::Assert(first, message));
        }
        self.particular(false, "`assume`", token.place);
        Ok(Action::Assume(first, message))
    }

    /// What begins with an expression: an assignment, an insertion, a removal, or a call.
    fn change(&mut self) -> Fallible<Action> {
        let place = self.expression()?;
        match self.now().kind {
            Kind::Becomes => {
                self.next();
                Ok(Action::Assign(place, self.expression()?))
            }
            Kind::Insert => {
                self.next();
                self.expect(Kind::Open, "`(` and what to insert")?;
                let first = self.expression()?;
                let action = match self.take(Kind::Comma) {
                    true => Action::Insert(place, first, self.expression()?),
                    false => Action::Add(place, first),
                };
                self.expect(Kind::Close, "`)`")?;
                Ok(action)
            }
            Kind::Remove => {
                self.next();
                Ok(Action::Remove(place, self.expression()?))
            }
            _ => match place.form {
                Form::Call(name, arguments) => Ok(Action::Call(name, arguments)),
                _ => Err(self.unexpected("`=`, `+=` or `-=`")),
            },
        }
    }
}
