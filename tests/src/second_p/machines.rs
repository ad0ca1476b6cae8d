//! Reading: machines, specs, their states and functions.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::Token;
use super::parser::{Parser, Read};
use super::tree::{Action, Definition, Function, Handler, Kind, Name, Sort, StateOf, Temperature};

impl Parser {
    pub(super) fn kind(&mut self, word: &str) -> Read<()> {
        self.uses(word);
        let name = self.name()?;
        let sort = match word {
            "machine" => Sort::Machine,
            "spec" => Sort::Spec,
            _ => Sort::Scenario,
        };
        let mut kind = Kind {
            name,
            sort,
            variables: Vec::new(),
            functions: BTreeMap::new(),
            states: BTreeMap::new(),
            start: name,
            observes: BTreeSet::new(),
            receives: None,
            sends: None,
            bound: self.bound()?,
        };
        if self.word("observes") {
            kind.observes = self.events()?;
        }
        self.permissions(&mut kind)?;
        self.want("{")?;
        self.inside = true;
        while !self.sign("}") {
            self.member(&mut kind)?;
        }
        self.inside = false;
        if kind.start == name {
            return Err("a machine without a start state".to_owned());
        }
        self.program.types.insert(name, Definition::Reference);
        self.program.kinds.push(kind);
        Ok(())
    }

    fn permissions(&mut self, kind: &mut Kind) -> Read<()> {
        loop {
            let receives = self.is_word("receives");
            if !self.word("receives") && !self.word("sends") {
                return Ok(());
            }
            self.uses(if receives { "receives" } else { "sends" });
            let events = if self.is_sign(";") { BTreeSet::new() } else { self.events()? };
            self.want(";")?;
            *(if receives { &mut kind.receives } else { &mut kind.sends }) = Some(events);
        }
    }

    fn member(&mut self, kind: &mut Kind) -> Read<()> {
        if self.word("var") {
            self.uses("variable of a machine");
            let names = self.names()?;
            self.want(":")?;
            let of = self.a_type()?;
            kind.variables.extend(names.into_iter().map(|name| (name, of.clone())));
            return self.want(";");
        }
        if self.word("fun") {
            self.uses("function of a machine");
            let function = self.function()?;
            kind.functions.extend(function);
            return Ok(());
        }
        self.state(kind)
    }

    fn state(&mut self, kind: &mut Kind) -> Read<()> {
        let (mut start, mut state) = (false, StateOf::default());
        while !self.word("state") {
            if self.word("start") {
                start = true;
            } else if self.word("hot") {
                self.uses("hot");
                state.temperature = Some(Temperature::Hot);
            } else if self.word("cold") {
                self.uses("cold");
                state.temperature = Some(Temperature::Cold);
            } else {
                return self.fail("a state");
            }
        }
        let name = self.name()?;
        if start && kind.start != kind.name {
            return Err("two start states".to_owned());
        }
        if start {
            kind.start = name;
        }
        self.want("{")?;
        while !self.sign("}") {
            self.item(&mut state)?;
        }
        kind.states.insert(name, state);
        Ok(())
    }

    fn item(&mut self, state: &mut StateOf) -> Read<()> {
        if self.word("entry") {
            let entry = self.handler("entry")?;
            return twice(state.entry.replace(entry).is_some());
        }
        if self.word("exit") {
            let exit = self.handler("exit")?;
            return twice(state.exit.replace(exit).is_some());
        }
        if self.word("on") {
            let events = self.names()?;
            self.uses(if events.len() > 1 { "on several events" } else { "on an event" });
            for event in &events {
                self.special(*event, "on");
            }
            let action = self.action()?;
            return twice(put(state, events, &action));
        }
        let deferred = self.is_word("defer");
        if self.word("defer") || self.word("ignore") {
            self.uses(if deferred { "defer" } else { "ignore" });
            let events = self.names()?;
            events.iter().for_each(|event| self.special(*event, "skip"));
            self.want(";")?;
            return twice(put(state, events, if deferred { &Action::Defer } else { &Action::Ignore }));
        }
        self.fail("an item of a state")
    }

    /// Counts events that are not declared.
    pub(super) fn special(&mut self, event: Name, place: &str) {
        if let Some(word) = ["null", "halt"].get(event as usize) {
            self.uses(&format!("{place} {word}"));
        }
    }

    fn action(&mut self) -> Read<Action> {
        if self.word("do") {
            return self.handler("do").map(Action::Do);
        }
        if self.program.old && self.word("push") {
            self.uses("old: push");
            let state = self.name()?;
            self.want(";")?;
            return Ok(Action::Push(state));
        }
        self.want_word("goto")?;
        let state = self.name()?;
        if self.word("with") {
            return Ok(Action::Goto(state, Some(self.handler("goto with")?)));
        }
        self.uses("on goto");
        self.want(";")?;
        Ok(Action::Goto(state, None))
    }

    /// A function written here, or the name of one.
    fn handler(&mut self, place: &str) -> Read<Handler> {
        if let Token::Word(_) = self.peek() {
            self.uses(&format!("{place}: by name"));
            let name = self.name()?;
            self.want(";")?;
            return Ok(Handler::Called(name));
        }
        let parameters = if self.sign("(") { self.parameters()? } else { Vec::new() };
        self.uses(&format!("{place}: {}", if parameters.is_empty() { "without parameter" } else { "with parameter" }));
        let body = self.body()?;
        self.sign(";");
        Ok(Handler::Here(self.new_function(parameters, body)))
    }

    fn new_function(&mut self, parameters: Vec<Name>, body: usize) -> usize {
        self.program.functions.push(Function { parameters, body, inside: self.inside });
        self.program.functions.len() - 1
    }

    /// Parameters up to the closing bracket.
    pub(super) fn parameters(&mut self) -> Read<Vec<Name>> {
        let mut names = Vec::new();
        while !self.sign(")") {
            names.push(self.name()?);
            self.want(":")?;
            self.a_type()?;
            if !self.sign(",") && !self.is_sign(")") {
                return self.fail(")");
            }
        }
        Ok(names)
    }

    /// A function; nothing, if it is written elsewhere.
    pub(super) fn function(&mut self) -> Read<Option<(Name, usize)>> {
        let name = self.name()?;
        self.want("(")?;
        let parameters = self.parameters()?;
        self.uses(["no parameters", "one parameter", "several parameters"][parameters.len().min(2)]);
        let result = if self.sign(":") { Some(self.a_type()?) } else { None };
        self.uses(["function without a result", "function with a result"][usize::from(result.is_some())]);
        if self.sign(";") {
            self.uses("foreign function");
            self.program.foreign.insert(name, result);
            return Ok(None);
        }
        let body = self.body()?;
        Ok(Some((name, self.new_function(parameters, body))))
    }
}

fn twice(there: bool) -> Read<()> {
    if there { Err("something is there twice in a state".to_owned()) } else { Ok(()) }
}

/// Puts an action for events; whether there was one already.
fn put(state: &mut StateOf, events: Vec<Name>, action: &Action) -> bool {
    events.into_iter().filter(|event| state.actions.insert(*event, action.clone()).is_some()).count() > 0
}
