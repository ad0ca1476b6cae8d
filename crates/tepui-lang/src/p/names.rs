//! What is declared, found by its name.

use std::collections::{BTreeSet, HashMap};

use super::syntax::{self, Name, Project, Role, TypeForm};
use super::types::{References, Type};
use crate::diagnostic::{Sink, quote};
use crate::suggestion::suggestion;

/// All declarations of a project.
pub(super) struct Names<'p> {
    pub(super) project: &'p Project,
    types: HashMap<&'p str, Declared>,
    /// The constants of each enumeration.
    pub(super) enumerations: Vec<Vec<(String, i64)>>,
    constants: HashMap<&'p str, (usize, i64)>,
    /// `halt` and `null` come first.
    pub(super) events: HashMap<&'p str, u32>,
    /// The type of each event's payload.
    pub(super) payloads: Vec<Type>,
    sets: HashMap<&'p str, BTreeSet<u32>>,
    /// Machines come before interfaces.
    references: HashMap<&'p str, usize>,
    /// The events that may be sent to machines and interfaces.
    pub(super) receives: Vec<BTreeSet<u32>>,
    pub(super) functions: HashMap<&'p str, usize>,
    pub(super) parameters: HashMap<&'p str, Type>,
}

/// What a name of a type stands for.
#[derive(Clone, Copy)]
enum Declared {
    Meaning(usize),
    Enumeration(usize),
    Reference(usize),
}

/// How deep types may be made of other types.
const DEEPEST: usize = 100;

impl<'p> Names<'p> {
    pub(super) fn of(project: &'p Project, sink: &mut Sink) -> Self {
        let mut names = Self {
            project,
            types: HashMap::new(),
            enumerations: Vec::new(),
            constants: HashMap::new(),
            events: HashMap::from([("halt", 0), ("null", 1)]),
            payloads: vec![Type::Null, Type::Null],
            sets: HashMap::new(),
            references: HashMap::new(),
            receives: Vec::new(),
            functions: HashMap::new(),
            parameters: HashMap::new(),
        };
        names.collect(sink);
        names.mean(sink);
        names.permit(sink);
        names
    }

    /// Declares names, so that all of them are known before any is looked up.
    fn collect(&mut self, sink: &mut Sink) {
        let project = self.project;
        for (number, machine) in project.machines.iter().enumerate() {
            if declare(&mut self.references, &machine.name, number, "machine", sink) {
                declare(&mut self.types, &machine.name, Declared::Reference(number), "type", sink);
            }
        }
        for (number, interface) in (project.machines.len()..).zip(&project.interfaces) {
            if declare(&mut self.references, &interface.name, number, "interface", sink) {
                declare(&mut self.types, &interface.name, Declared::Reference(number), "type", sink);
            }
        }
        for (number, declared) in project.types.iter().enumerate() {
            declare(&mut self.types, &declared.name, Declared::Meaning(number), "type", sink);
        }
        for (number, enumeration) in project.enums.iter().enumerate() {
            declare(&mut self.types, &enumeration.name, Declared::Enumeration(number), "type", sink);
            self.enumerate(number, enumeration, sink);
        }
        for (number, event) in (2..).zip(&project.events) {
            declare(&mut self.events, &event.name, number, "event", sink);
        }
        let (mut tests, mut modules) = (HashMap::new(), HashMap::new());
        for test in project.tests.iter().filter(|test| !test.implementation) {
            declare(&mut tests, &test.name, (), "test", sink);
        }
        project.modules.iter().for_each(|(name, _)| _ = declare(&mut modules, name, (), "module", sink));
        for (number, function) in project.functions.iter().enumerate() {
            declare(&mut self.functions, &function.name, number, "function", sink);
        }
    }

    fn enumerate(&mut self, number: usize, enumeration: &'p syntax::Enumeration, sink: &mut Sink) {
        let numbered = enumeration.constants.iter().filter(|(_, value)| value.is_some()).count();
        if numbered != 0 && numbered != enumeration.constants.len() {
            let message = "either all constants have numbers or none has";
            sink.push(enumeration.name.place.error(message, "in this enumeration"));
        }
        let mut constants = Vec::new();
        for (place, (name, value)) in (0..).zip(&enumeration.constants) {
            let value = value.unwrap_or(place);
            declare(&mut self.constants, name, (number, value), "constant", sink);
            constants.push((name.text.clone(), value));
        }
        self.enumerations.push(constants);
    }

    /// Finds out what payloads and parameters are; what is wrong with a type is said even if nobody uses it.
    fn mean(&mut self, sink: &mut Sink) {
        let project = self.project;
        for meaning in project.types.iter().filter_map(|declared| declared.meaning.as_ref()) {
            self.type_of(meaning, sink);
        }
        for event in &project.events {
            let payload = event.payload.as_ref().map_or(Type::Null, |payload| self.type_of(payload, sink));
            self.payloads.push(payload);
        }
        for parameter in &project.parameters {
            let kind = self.type_of(&parameter.kind, sink);
            if !matches!(kind, Type::Int | Type::Bool | Type::Wrong) {
                sink.push(parameter.kind.place.error("a parameter is an `int` or a `bool`", "this is neither"));
            }
            declare(&mut self.parameters, &parameter.name, kind, "parameter", sink);
        }
    }

    /// Finds out which events may be sent to whom.
    fn permit(&mut self, sink: &mut Sink) {
        let project = self.project;
        for set in &project.sets {
            let events = self.event_set(&set.events, sink);
            declare(&mut self.sets, &set.name, events, "set of events", sink);
        }
        let clauses = project.machines.iter().map(|machine| machine.receives.as_ref());
        let clauses = clauses.chain(project.interfaces.iter().map(|interface| interface.receives.as_ref()));
        for clause in clauses.collect::<Vec<_>>() {
            let events = clause.map_or_else(|| self.all_events(), |events| self.event_set(events, sink));
            self.receives.push(events);
        }
    }

    fn all_events(&self) -> BTreeSet<u32> {
        (0..self.payloads.len() as u32).filter(|&event| event != tepui_model::queue::NULL).collect()
    }

    /// The events of a list of names of events and of sets.
    pub(super) fn event_set(&self, names: &[Name], sink: &mut Sink) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for name in names {
            match (self.sets.get(name.text.as_str()), self.events.get(name.text.as_str())) {
                (Some(set), _) => found.extend(set),
                (None, Some(event)) => _ = found.insert(*event),
                (None, None) => self.unknown("event", name, self.events.keys().copied(), sink),
            }
        }
        found
    }

    /// An event.
    pub(super) fn event(&self, name: &Name, sink: &mut Sink) -> Option<u32> {
        let event = self.events.get(name.text.as_str()).copied();
        if event.is_none() {
            self.unknown("event", name, self.events.keys().copied(), sink);
        }
        event
    }

    /// Complains about a name that nobody knows.
    pub(super) fn unknown<'n>(&self, what: &str, name: &Name, known: impl Iterator<Item = &'n str>, sink: &mut Sink) {
        let message = format!("there is no {what} {}", quote(&name.text));
        let hint = suggestion(&name.text, known, sink.is_full(crate::diagnostic::Severity::Error));
        sink.push(name.place.error(message, "not declared").hint_if(hint));
    }

    /// The machine or interface of a name.
    pub(super) fn reference(&self, name: &Name, sink: &mut Sink) -> Option<usize> {
        let number = self.references.get(name.text.as_str()).copied();
        if number.is_none() {
            self.unknown("machine", name, self.references.keys().copied(), sink);
        }
        number
    }

    pub(super) fn reference_named(&self, name: &str) -> Option<usize> {
        self.references.get(name).copied()
    }

    pub(super) fn constant(&self, name: &str) -> Option<(usize, i64)> {
        self.constants.get(name).copied()
    }

    /// What a machine or interface is called.
    pub(super) fn reference_name(&self, number: usize) -> &'p str {
        match number.checked_sub(self.project.machines.len()) {
            None => &self.project.machines[number].name.text,
            Some(interface) => &self.project.interfaces[interface].name.text,
        }
    }

    pub(super) fn type_of(&self, kind: &syntax::Type, sink: &mut Sink) -> Type {
        self.type_at(kind, 0, sink)
    }

    fn type_at(&self, kind: &syntax::Type, depth: usize, sink: &mut Sink) -> Type {
        if depth > DEEPEST {
            sink.push(kind.place.error("this type is made of itself", "in a circle"));
            return Type::Wrong;
        }
        let mut inner = |kind: &syntax::Type| self.type_at(kind, depth + 1, sink);
        match &kind.form {
            TypeForm::Tuple(parts) => Type::Tuple(parts.iter().map(inner).collect()),
            TypeForm::Record(fields) => {
                let kinds: Vec<_> = fields.iter().map(|(name, kind)| (name.text.clone(), inner(kind))).collect();
                for (number, (name, _)) in fields.iter().enumerate() {
                    if fields[..number].iter().any(|(other, _)| other.text == name.text) {
                        sink.push(
                            name.place.error(format!("two fields are called {}", quote(&name.text)), "again here"),
                        );
                    }
                }
                Type::Record(kinds)
            }
            TypeForm::Seq(element) => Type::Seq(Box::new(inner(element))),
            TypeForm::Set(element) => Type::Set(Box::new(inner(element))),
            TypeForm::Map(key, value) => Type::Map(Box::new(inner(key)), Box::new(inner(value))),
            TypeForm::Named(name) => self.named_type(name, kind, depth, sink),
        }
    }

    fn named_type(&self, name: &str, kind: &syntax::Type, depth: usize, sink: &mut Sink) -> Type {
        match name {
            "bool" => return Type::Bool,
            "int" => return Type::Int,
            "float" => return Type::Float,
            "string" => return Type::Text,
            "event" => return Type::Event,
            "machine" => return Type::Machine,
            "any" => return Type::Any,
            "data" => return Type::Data,
            _ => {}
        }
        match self.types.get(name) {
            Some(Declared::Enumeration(number)) => Type::Enumeration(*number),
            Some(Declared::Reference(number)) => Type::Reference(*number),
            Some(Declared::Meaning(number)) => match &self.project.types[*number].meaning {
                Some(meaning) => self.type_at(meaning, depth + 1, sink),
                None => Type::Foreign(*number),
            },
            None => {
                let name = Name { text: name.to_owned(), place: kind.place };
                self.unknown("type", &name, self.types.keys().copied(), sink);
                Type::Wrong
            }
        }
    }

    /// Whether a machine is a spec, and so not to be created.
    pub(super) fn is_spec(&self, number: usize) -> bool {
        self.project.machines.get(number).is_some_and(|machine| machine.role != Role::Machine)
    }

    /// A type as people write it.
    pub(super) fn shown(&self, kind: &Type) -> String {
        let list = |parts: &[Type]| parts.iter().map(|part| self.shown(part)).collect::<Vec<_>>().join(", ");
        match kind {
            Type::Null => "null".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Int => "int".to_owned(),
            Type::Float => "float".to_owned(),
            Type::Text => "string".to_owned(),
            Type::Event => "event".to_owned(),
            Type::Machine => "machine".to_owned(),
            Type::Any | Type::Wrong => "any".to_owned(),
            Type::Data => "data".to_owned(),
            Type::Enumeration(number) => self.project.enums[*number].name.text.clone(),
            Type::Foreign(number) => self.project.types[*number].name.text.clone(),
            Type::Reference(number) => self.reference_name(*number).to_owned(),
            Type::Tuple(parts) => format!("({})", list(parts)),
            Type::Record(fields) => {
                let fields = fields.iter().map(|(name, kind)| format!("{name}: {}", self.shown(kind)));
                format!("({})", fields.collect::<Vec<_>>().join(", "))
            }
            Type::Seq(element) => format!("seq[{}]", self.shown(element)),
            Type::Set(element) => format!("set[{}]", self.shown(element)),
            Type::Map(key, value) => format!("map[{}, {}]", self.shown(key), self.shown(value)),
        }
    }
}

impl References for Names<'_> {
    fn are_alike(&self, one: usize, other: usize) -> bool {
        self.receives[one] == self.receives[other]
    }

    fn is_wider(&self, one: usize, other: usize) -> bool {
        self.receives[one].is_superset(&self.receives[other])
    }
}

/// Declares a name, unless it is there already; says whether it is not.
fn declare<'p, T>(names: &mut HashMap<&'p str, T>, name: &'p Name, what: T, kind: &str, sink: &mut Sink) -> bool {
    let is_new = !names.contains_key(name.text.as_str());
    if is_new {
        names.insert(&name.text, what);
    } else {
        sink.push(name.place.error(format!("{} is the name of two {kind}s", quote(&name.text)), "declared again"));
    }
    is_new
}
