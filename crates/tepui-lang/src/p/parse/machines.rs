//! Machines, their states, and functions.

use super::*;
use crate::p::syntax::{Body, Handler, Item, Machine, Role, State, Temperature};

/// What functions that have no name are called.
const UNNAMED: &str = "handler";

impl Parser<'_, '_> {
    pub(super) fn machine(&mut self) -> Fallible<Machine> {
        let token = self.next();
        let role = match token.text {
            "machine" => Role::Machine,
            "spec" => Role::Spec,
            _ => {
                self.particular(false, "`scenario`", token.place);
                Role::Scenario
            }
        };
        let name = self.name("the name of a machine")?;
        let bound = if role == Role::Machine { self.bound()? } else { None };
        let (mut receives, mut sends, mut observes) = (None, None, Vec::new());
        if role != Role::Machine {
            self.expect_word("observes")?;
            observes = self.events_before(Kind::OpenBrace)?;
        }
        while self.now().is("receives") || self.now().is("sends") {
            let receiving = self.next().text == "receives";
            let events = self.events_before(Kind::Semicolon)?;
            self.semicolon()?;
            // Several clauses count together.
            let clause: &mut Option<Vec<Name>> = if receiving { &mut receives } else { &mut sends };
            clause.get_or_insert_default().extend(events);
        }
        let mut machine = Machine {
            role,
            name,
            bound,
            receives,
            sends,
            observes,
            variables: Vec::new(),
            functions: Vec::new(),
            states: Vec::new(),
        };
        self.expect(Kind::OpenBrace, "`{` and the states")?;
        while self.now().kind != Kind::CloseBrace && self.now().kind != Kind::End {
            let before = self.at;
            if let Err(error) = self.part(&mut machine) {
                self.sink.push(error);
                self.recover_inside(before);
            }
        }
        self.expect(Kind::CloseBrace, "`}`")?;
        Ok(machine)
    }

    fn part(&mut self, machine: &mut Machine) -> Fallible<()> {
        match self.now().text {
            "var" => {
                self.next();
                let fields = self.fields()?;
                machine.variables.extend(fields);
                self.semicolon()
            }
            "fun" => {
                let function = self.function()?;
                machine.functions.push(function);
                Ok(())
            }
            "start" | "hot" | "cold" | "state" => {
                let state = self.state()?;
                machine.states.push(state);
                Ok(())
            }
            _ => Err(self.unexpected("a variable, a function or a state")),
        }
    }

    fn state(&mut self) -> Fallible<State> {
        let start = self.word("start");
        let token = self.now();
        let temperature = match token.text {
            "hot" => Some((Temperature::Hot, token.place)),
            "cold" => Some((Temperature::Cold, token.place)),
            _ => None,
        };
        if temperature.is_some() {
            self.next();
        }
        let start = self.word("start") || start;
        self.expect_word("state")?;
        let name = self.name("the name of a state")?;
        self.expect(Kind::OpenBrace, "`{` and what the state does")?;
        let mut items = Vec::new();
        while self.now().kind != Kind::CloseBrace && self.now().kind != Kind::End {
            let (before, place) = (self.at, self.now().place);
            match self.item() {
                Ok(item) => items.push((item, place.to(self.before().place))),
                Err(error) => {
                    self.sink.push(error);
                    self.recover_inside(before);
                }
            }
        }
        self.expect(Kind::CloseBrace, "`}`")?;
        Ok(State { name, start, temperature, items })
    }

    fn item(&mut self) -> Fallible<Item> {
        match self.now().text {
            "entry" => {
                self.next();
                Ok(Item::Entry(self.handler()?))
            }
            "exit" => {
                self.next();
                Ok(Item::Exit(self.handler()?))
            }
            "defer" => {
                self.next();
                let events = self.events_before(Kind::Semicolon)?;
                self.semicolon()?;
                Ok(Item::Defer(events))
            }
            "ignore" => {
                self.next();
                let events = self.events_before(Kind::Semicolon)?;
                self.semicolon()?;
                Ok(Item::Ignore(events))
            }
            "on" => self.on(),
            _ => Err(self.unexpected("`entry`, `exit`, `on`, `defer` or `ignore`")),
        }
    }

    fn on(&mut self) -> Fallible<Item> {
        self.next();
        let mut events = vec![self.event_name()?];
        while self.take(Kind::Comma) {
            events.push(self.event_name()?);
        }
        let token = self.now();
        match token.text {
            "do" => {
                self.next();
                Ok(Item::Do(events, self.handler()?))
            }
            "goto" => {
                self.next();
                let state = self.name("a state")?;
                if self.word("with") {
                    return Ok(Item::Goto(events, state, Some(self.handler()?)));
                }
                self.semicolon()?;
                Ok(Item::Goto(events, state, None))
            }
            "push" => {
                self.particular(true, "`push`", token.place);
                self.next();
                let state = self.name("a state")?;
                self.semicolon()?;
                Ok(Item::Push(events, state))
            }
            _ => Err(self.unexpected("`do` or `goto`")),
        }
    }

    /// `f;`, `{ .. }` or `(x: T) { .. }`.
    fn handler(&mut self) -> Fallible<Handler> {
        if self.now().kind == Kind::Word {
            let name = self.name("a function")?;
            self.semicolon()?;
            return Ok(Handler::Named(name));
        }
        Ok(Handler::Written(Box::new(self.unnamed()?)))
    }

    /// A function without a name.
    pub(super) fn unnamed(&mut self) -> Fallible<Function> {
        let name = Name { text: UNNAMED.to_owned(), place: self.now().place };
        let parameters = if self.now().kind == Kind::Open { self.parameters()? } else { Vec::new() };
        let body = Some(self.body()?);
        // Some end with a semicolon, which means nothing.
        self.take(Kind::Semicolon);
        Ok(Function { name, parameters, result: None, creates: Vec::new(), body })
    }

    fn parameters(&mut self) -> Fallible<Vec<Field>> {
        self.expect(Kind::Open, "`(` and the parameters")?;
        let mut parameters = Vec::new();
        while self.now().kind != Kind::Close {
            let name = self.name("a parameter")?;
            self.expect(Kind::Colon, "`:` and the type")?;
            parameters.push(Field { name, kind: self.type_()? });
            if !self.take(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::Close, "`,` or `)`")?;
        Ok(parameters)
    }

    pub(super) fn function(&mut self) -> Fallible<Function> {
        self.next();
        let name = self.name("the name of a function")?;
        let parameters = self.parameters()?;
        let mut result = if self.take(Kind::Colon) { Some(self.type_()?) } else { None };
        let creates = if self.word("creates") { self.names()? } else { Vec::new() };
        if self.word("return") {
            // The result of a foreign function, with a name for its contract.
            self.expect(Kind::Open, "`(` and the result")?;
            self.name("a name for the result")?;
            self.expect(Kind::Colon, "`:` and its type")?;
            result = Some(self.type_()?);
            self.expect(Kind::Close, "`)`")?;
        }
        let foreign = self.take(Kind::Semicolon);
        while self.now().is("requires") || self.now().is("ensures") {
            let place = self.now().place;
            self.project.deductive.get_or_insert(place);
            self.pass_line()?;
        }
        let body = if foreign { None } else { Some(self.body()?) };
        Ok(Function { name, parameters, result, creates, body })
    }

    /// Variables and statements in braces.
    fn body(&mut self) -> Fallible<Body> {
        self.expect(Kind::OpenBrace, "`{` and statements")?;
        let mut locals = Vec::new();
        while self.now().is("var") {
            self.next();
            let fields = self.fields()?;
            locals.extend(fields);
            self.semicolon()?;
        }
        let statements = self.statements();
        let end = self.expect(Kind::CloseBrace, "`}`")?.place;
        Ok(Body { locals, statements, end })
    }
}
