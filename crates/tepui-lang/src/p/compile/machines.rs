//! Machines: their states, and what these do with events.

use tepui_model::queue::{self, Handler, Kind, NULL, State, Temperature, Told, ToldFunction, ToldKind};

use super::Compiler;
use crate::diagnostic::quote;
use crate::p::syntax::{self, Bound, Function, Item, Machine, Name, Place, Role};
use crate::p::types::Type;

/// Everything that is declared, compiled.
pub(in crate::p) struct Compiled {
    pub(in crate::p) kinds: Vec<Kind>,
    pub(in crate::p) functions: Vec<queue::Function>,
    /// For each event what its payload is.
    pub(in crate::p) payloads: Vec<queue::Type>,
    pub(in crate::p) told: Told,
    /// For each machine and interface what is given to one that is created.
    pub(in crate::p) arguments: Vec<Type>,
    /// For each machine what it creates.
    pub(in crate::p) creates: Vec<Vec<usize>>,
    /// For each machine what it sends or announces; none, where it may be any event.
    pub(in crate::p) sends: Vec<Vec<Option<u32>>>,
    /// For each spec what it observes.
    pub(in crate::p) observes: Vec<Vec<u32>>,
    pub(in crate::p) sees_order: bool,
    pub(in crate::p) assumes: bool,
}

/// What a machine has besides its states.
struct Parts {
    number: usize,
    variables: Vec<(String, Type)>,
    /// The functions that belong to it.
    functions: Vec<usize>,
}

/// Where a function that handles something is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Entry,
    Exit,
    Do,
    Transition,
}

impl Compiler<'_, '_> {
    /// Compiles everything that is declared.
    pub(in crate::p) fn all(mut self) -> Compiled {
        let project = self.names.project;
        project.functions.iter().for_each(|function| _ = self.announce(function));
        for machine in &project.machines {
            machine.functions.iter().for_each(|function| _ = self.announce(function));
        }
        for (number, function) in project.functions.iter().enumerate() {
            self.compile(number, function, None, &[]);
        }
        let mut next = project.functions.len();
        let (mut kinds, mut told, mut creates, mut sends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, machine) in project.machines.iter().enumerate() {
            let (kind, names, functions) = self.machine(number, machine, next);
            next += machine.functions.len();
            kinds.push(kind);
            told.push(names);
            let mut reached: Vec<_> = functions.into_iter().flat_map(|function| self.reached(function)).collect();
            reached.sort_unstable();
            reached.dedup();
            creates.push(reached.iter().flat_map(|&one| self.effects[one].creates.clone()).collect());
            sends.push(reached.iter().flat_map(|&one| self.effects[one].sends.clone()).collect());
        }
        let observes = |machine: &Machine| self.names.event_set(&machine.observes, self.sink).into_iter().collect();
        let observes = project.machines.iter().map(observes).collect();
        let empty = || (queue::Function { parameters: 0, slots: 0, code: Vec::new() }, ToldFunction::default());
        let references = project.machines.len() + project.interfaces.len();
        let arguments = (0..references).map(|reference| self.argument_type(reference)).collect();
        let names = self.names;
        let payloads = names.payloads.iter().map(|kind| self.values().tested(kind)).collect();
        let functions = self.functions.into_iter().map(|function| function.unwrap_or_else(empty));
        let (functions, told_functions) = functions.unzip();
        let events = ["halt", "null"].into_iter().map(str::to_owned);
        let enumerations = project.enums.iter().map(|own| own.name.text.clone()).zip(self.names.enumerations.clone());
        let told = Told {
            events: events.chain(project.events.iter().map(|event| event.name.text.clone())).collect(),
            kinds: told,
            functions: told_functions,
            enumerations: enumerations.collect(),
            records: self.records,
            foreign: self.foreign,
        };
        let (sees_order, assumes) = (self.sees_order, self.assumes);
        Compiled { kinds, functions, payloads, told, arguments, creates, sends, observes, sees_order, assumes }
    }

    fn machine(&mut self, number: usize, machine: &Machine, first: usize) -> (Kind, ToldKind, Vec<usize>) {
        let mut variables: Vec<(String, Type)> = Vec::new();
        for field in &machine.variables {
            if variables.iter().any(|(name, _)| *name == field.name.text) {
                self.error(
                    field.name.place,
                    format!("{} is declared twice", quote(&field.name.text)),
                    "declared again",
                );
            }
            variables.push((field.name.text.clone(), self.type_of(&field.kind)));
        }
        let functions: Vec<_> = (first..first + machine.functions.len()).collect();
        for (index, function) in machine.functions.iter().enumerate() {
            if machine.functions[..index].iter().any(|other| other.name.text == function.name.text) {
                let message = format!("{} is the name of two functions", quote(&function.name.text));
                self.error(function.name.place, message, "declared again");
            }
            self.compile(functions[index], function, Some(number), &variables);
        }
        let mut parts = Parts { number, variables, functions };
        let states: Vec<_> = machine.states.iter().map(|state| self.state(machine, state, &mut parts)).collect();
        let start = self.start(machine);
        if machine.role != Role::Machine {
            self.require_passive(&parts.functions);
        }
        let defaults = parts.variables.iter().map(|(_, kind)| self.values().default(kind)).collect();
        let sends = machine.sends.as_ref().map(|sends| self.names.event_set(sends, self.sink).into_iter().collect());
        let receives = machine.receives.as_ref().map(|_| self.names.receives[number].iter().copied().collect());
        let kind = Kind { states, start, variables: defaults, bound: machine.bound.map(bound), receives, sends };
        let names = ToldKind {
            name: machine.name.text.clone(),
            states: machine.states.iter().map(|state| state.name.text.clone()).collect(),
            variables: parts.variables.iter().map(|(name, _)| name.clone()).collect(),
        };
        (kind, names, parts.functions)
    }

    /// The start state: there is exactly one.
    fn start(&mut self, machine: &Machine) -> usize {
        let starts: Vec<_> = machine.states.iter().enumerate().filter(|(_, state)| state.start).collect();
        match starts.as_slice() {
            [] => self.error(machine.name.place, "there is no start state", "in this machine"),
            [_] => {}
            [_, (_, second), ..] => self.error(second.name.place, "there are two start states", "the second one"),
        }
        for (index, state) in machine.states.iter().enumerate() {
            if machine.states[..index].iter().any(|other| other.name.text == state.name.text) {
                let message = format!("{} is the name of two states", quote(&state.name.text));
                self.error(state.name.place, message, "declared again");
            }
        }
        starts.first().map_or(0, |(number, _)| *number)
    }

    fn state(&mut self, machine: &Machine, written: &syntax::State, parts: &mut Parts) -> State {
        let mut state = State::default();
        if let Some((temperature, place)) = written.temperature {
            if machine.role == Role::Machine {
                self.error(place, "only states of specs are hot or cold", "this is a machine");
            }
            state.temperature = Some(match temperature {
                syntax::Temperature::Hot => Temperature::Hot,
                syntax::Temperature::Cold => Temperature::Cold,
            });
        }
        let mut handled = Vec::new();
        for (item, place) in &written.items {
            self.item(machine, item, *place, (&mut state, &mut handled), parts);
        }
        state
    }

    fn item(
        &mut self,
        machine: &Machine,
        item: &Item,
        place: Place,
        (state, handled): (&mut State, &mut Vec<u32>),
        parts: &mut Parts,
    ) {
        let (events, spec) = (self.events_of(item, machine, handled), machine.role != Role::Machine);
        match item {
            Item::Entry(handler) => {
                if state.entry.is_some() {
                    self.error(place, "there are two entry functions", "the second one");
                }
                state.entry = self.handler(machine, handler, Use::Entry, None, parts);
            }
            Item::Exit(handler) => {
                if state.exit.is_some() {
                    self.error(place, "there are two exit functions", "the second one");
                }
                state.exit = self.handler(machine, handler, Use::Exit, None, parts);
            }
            Item::Defer(_) => {
                if spec {
                    self.error(place, "a spec defers nothing", "it has no queue");
                }
                state.defers.extend(events);
            }
            Item::Ignore(_) => state.handlers.extend(events.into_iter().map(|event| (event, Handler::Ignore))),
            Item::Do(_, handler) => {
                if let Some(function) = self.handler(machine, handler, Use::Do, Some(&events), parts) {
                    state.handlers.extend(events.into_iter().map(|event| (event, Handler::Do(function))));
                }
            }
            Item::Goto(_, to, with) => {
                let function =
                    with.as_ref().and_then(|with| self.handler(machine, with, Use::Transition, Some(&events), parts));
                let Some(to) = self.transition(machine, parts.number, to, &events) else { return };
                state.handlers.extend(events.into_iter().map(|event| (event, Handler::Goto(to, function))));
            }
            Item::Push(_, to) => {
                let Some(to) = self.transition(machine, parts.number, to, &events) else { return };
                state.handlers.extend(events.into_iter().map(|event| (event, Handler::Push(to))));
            }
        }
    }

    /// The events that an item is about, none of which may have been treated before.
    fn events_of(&mut self, item: &Item, machine: &Machine, handled: &mut Vec<u32>) -> Vec<u32> {
        let (names, takes_null): (&[Name], bool) = match item {
            Item::Entry(_) | Item::Exit(_) => return Vec::new(),
            Item::Defer(names) | Item::Ignore(names) => (names, false),
            Item::Do(names, _) | Item::Goto(names, ..) | Item::Push(names, _) => (names, machine.role == Role::Machine),
        };
        let mut found = Vec::new();
        for name in names {
            // Sets of events stand for all of them where they are deferred or ignored.
            let events: Vec<u32> = match takes_null || self.names.events.contains_key(name.text.as_str()) {
                true => self.names.event(name, self.sink).into_iter().collect(),
                false => self.names.event_set(std::slice::from_ref(name), self.sink).into_iter().collect(),
            };
            for event in events {
                if event == NULL && !takes_null {
                    self.error(name.place, "`null` is never in a queue", "not allowed here");
                }
                if handled.contains(&event) {
                    let message = format!("the state does two things with {}", quote(&name.text));
                    self.error(name.place, message, "again here");
                }
                handled.push(event);
                found.push(event);
            }
        }
        found
    }

    /// The state that events lead to; its entry function must take what they carry.
    fn transition(&mut self, machine: &Machine, number: usize, name: &Name, events: &[u32]) -> Option<usize> {
        let Some(to) = machine.states.iter().position(|state| state.name.text == name.text) else {
            let known = machine.states.iter().map(|state| state.name.text.as_str());
            self.names.unknown("state", name, known, self.sink);
            return None;
        };
        let expected = self.entry_type(number, to);
        for &event in events {
            if expected != Type::Null {
                self.require_carried(name.place, &expected, event);
            }
        }
        Some(to)
    }

    /// A function that is run by itself, with the payload of an event, if there is one.
    fn handler(
        &mut self,
        machine: &Machine,
        handler: &syntax::Handler,
        used: Use,
        events: Option<&[u32]>,
        parts: &mut Parts,
    ) -> Option<usize> {
        let (number, place, parameters) = match handler {
            syntax::Handler::Written(function) => {
                let number = self.announce(function);
                self.compile(number, function, Some(parts.number), &parts.variables);
                parts.functions.push(number);
                (number, function.name.place, &function.parameters)
            }
            syntax::Handler::Named(name) => {
                let Some(index) = machine.functions.iter().position(|own| own.name.text == name.text) else {
                    self.misses(machine, name);
                    return None;
                };
                let function = &machine.functions[index];
                if function.body.is_none() {
                    self.error(name.place, "a foreign function handles no event", "it is declared without a body");
                }
                (parts.functions[index], name.place, &function.parameters)
            }
        };
        let most = if used == Use::Exit { 0 } else { 1 };
        if parameters.len() > most {
            let message = if most == 0 { "an exit function has no parameter" } else { "a handler has one parameter" };
            self.error(parameters[most].name.place, message, "one too many");
        }
        if let (Some(parameter), Some(events)) = (self.signatures[number].parameters.first().cloned(), events) {
            for &event in events {
                self.require_carried(place, &parameter, event);
            }
        }
        match used {
            Use::Exit => self.require_staying(number, "an exit function", place),
            Use::Transition => self.require_staying(number, "a transition function", place),
            Use::Entry | Use::Do => {}
        }
        Some(number)
    }

    fn misses(&mut self, machine: &Machine, name: &Name) {
        if self.names.functions.contains_key(name.text.as_str()) {
            let message = format!("{} belongs to no machine", quote(&name.text));
            self.error(name.place, message, "a handler is a function of its machine");
            return;
        }
        let known = machine.functions.iter().map(|function| function.name.text.as_str());
        self.names.unknown("function", name, known, self.sink);
    }

    /// What the entry function of a state takes.
    pub(super) fn entry_type(&mut self, machine: usize, state: usize) -> Type {
        let machine = &self.names.project.machines[machine];
        let entry = machine.states[state].items.iter().find_map(|(item, _)| match item {
            Item::Entry(handler) => Some(handler),
            _ => None,
        });
        let function: Option<&Function> = entry.and_then(|handler| match handler {
            syntax::Handler::Written(function) => Some(&**function),
            syntax::Handler::Named(name) => machine.functions.iter().find(|own| own.name.text == name.text),
        });
        match function.and_then(|function| function.parameters.first()) {
            Some(parameter) => self.type_of(&parameter.kind),
            None => Type::Null,
        }
    }

    /// What a machine or an interface takes when it is created.
    pub(super) fn argument_type(&mut self, reference: usize) -> Type {
        let machines = self.names.project.machines.len();
        if let Some(interface) = reference.checked_sub(machines) {
            let payload = self.names.project.interfaces[interface].payload.as_ref();
            return payload.map_or(Type::Null, |payload| self.names.type_of(payload, self.sink));
        }
        let states = &self.names.project.machines[reference].states;
        states.iter().position(|state| state.start).map_or(Type::Null, |start| self.entry_type(reference, start))
    }

    /// The kind that is created for a machine or an interface.
    pub(super) fn bound(&self, reference: usize) -> usize {
        let bound = self.setting.bindings.get(&reference).copied().unwrap_or(reference);
        // An interface that nobody is bound to is complained about where the test is.
        if bound < self.names.project.machines.len() { bound } else { 0 }
    }

    /// A function of a machine.
    pub(super) fn own_function(&self, machine: usize, name: &str) -> Option<usize> {
        let project = self.names.project;
        let before: usize = project.machines[..machine].iter().map(|machine| machine.functions.len()).sum();
        let index = project.machines[machine].functions.iter().position(|function| function.name.text == name)?;
        Some(project.functions.len() + before + index)
    }
}

pub(in crate::p) fn bound(bound: Bound) -> queue::Bound {
    match bound {
        Bound::Assume(most) => queue::Bound::Assume(most),
        Bound::Assert(most) => queue::Bound::Assert(most),
    }
}
