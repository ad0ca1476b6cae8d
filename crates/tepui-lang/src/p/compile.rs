//! From declarations to a program: names are resolved, types are checked, and functions become instructions.
//!
//! All machines are compiled, whether a test uses them or not, so that all that is wrong is reported. What a test adds is
//! who is created where (its bindings) and the values of its parameters.

mod body;
mod effects;
mod expressions;
mod machines;
mod operators;
mod statements;

use std::collections::HashMap;

use tepui_model::queue::{Function, ToldFunction, Value};

use super::names::Names;
use super::syntax::{self, Place};
use super::types::{Type, Values};
use crate::diagnostic::Sink;

pub(super) use effects::Effects;
pub(super) use machines::{Compiled, bound};

/// What a test says that declarations leave open.
#[derive(Default)]
pub(super) struct Setting {
    /// What is created for machines and interfaces, where that is not themselves.
    pub(super) bindings: HashMap<usize, usize>,
    /// The values of parameters.
    pub(super) parameters: HashMap<String, Value>,
    /// Whether constants of enumerations count as integers beside integers, as in the old dialect.
    pub(super) numbered: bool,
}

/// What callers have to know of a function.
#[derive(Clone)]
pub(super) struct Signature {
    pub(super) parameters: Vec<Type>,
    pub(super) result: Option<Type>,
    /// The number among foreign functions, if it is one.
    pub(super) foreign: Option<usize>,
}

/// A project that is being compiled.
pub(super) struct Compiler<'n, 'p> {
    pub(super) names: &'n Names<'p>,
    pub(super) setting: &'n Setting,
    pub(super) sink: &'n mut Sink,
    pub(super) signatures: Vec<Signature>,
    /// For each function its code, once it is compiled.
    pub(super) functions: Vec<Option<(Function, ToldFunction)>>,
    /// For each function what it does besides computing, and whom it calls from where.
    pub(super) effects: Vec<Effects>,
    pub(super) foreign: Vec<String>,
    pub(super) records: Vec<Vec<String>>,
    /// Whether the order of a set or a map can be seen.
    pub(super) sees_order: bool,
    /// Whether executions are left out by `assume`.
    pub(super) assumes: bool,
}

impl<'n, 'p> Compiler<'n, 'p> {
    pub(super) fn new(names: &'n Names<'p>, setting: &'n Setting, sink: &'n mut Sink) -> Self {
        Self {
            names,
            setting,
            sink,
            signatures: Vec::new(),
            functions: Vec::new(),
            effects: Vec::new(),
            foreign: Vec::new(),
            records: Vec::new(),
            sees_order: false,
            assumes: false,
        }
    }

    pub(super) fn values(&mut self) -> Values<'_> {
        Values { enumerations: &self.names.enumerations, records: &mut self.records }
    }

    pub(super) fn type_of(&mut self, kind: &syntax::Type) -> Type {
        self.names.type_of(kind, self.sink)
    }

    pub(super) fn error(&mut self, place: Place, message: impl Into<String>, label: impl Into<String>) {
        self.sink.push(place.error(message, label));
    }

    /// Makes room for a function, and remembers what callers have to know.
    pub(super) fn announce(&mut self, function: &syntax::Function) -> usize {
        let parameters = function.parameters.iter().map(|parameter| self.names.type_of(&parameter.kind, self.sink));
        let parameters = parameters.collect();
        let result = function.result.as_ref().map(|result| self.names.type_of(result, self.sink));
        let foreign = function.body.is_none().then(|| {
            self.foreign.push(function.name.text.clone());
            self.foreign.len() - 1
        });
        self.signatures.push(Signature { parameters, result, foreign });
        self.functions.push(None);
        let creates = function.creates.iter().filter_map(|name| self.names.reference(name, self.sink)).collect();
        self.effects.push(Effects { creates, ..Effects::default() });
        self.signatures.len() - 1
    }

    /// Complains if an event does not carry what is taken there.
    pub(super) fn require_carried(&mut self, place: Place, taken: &Type, event: u32) {
        let carried = &self.names.payloads[event as usize];
        if !taken.takes(carried, self.names) {
            let what = if *carried == Type::Null { "nothing".to_owned() } else { self.names.shown(carried) };
            let message = format!("this event carries {what}, and {} is taken here", self.names.shown(taken));
            self.error(place, message, "of another type");
        }
    }

    /// Complains if a value of a type does not go where another is expected.
    pub(super) fn require(&mut self, place: Place, expected: &Type, found: &Type) {
        if !expected.takes(found, self.names) {
            let message = format!("expected {}, found {}", self.names.shown(expected), self.names.shown(found));
            self.error(place, message, "of another type");
        }
    }
}
