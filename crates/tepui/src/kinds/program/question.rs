//! What is asked of a program, whether it has threads or tasks.

use tepui_lang::boolean::DEADLOCK;
use tepui_model::program::{Program, Property};

use super::super::Asked;

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Question {
    /// Whether it is asked for deadlocks.
    pub(super) deadlock: bool,
    /// The properties that are asked for; all, if none is named.
    only: Vec<String>,
    /// Whether the properties are left aside.
    no_properties: bool,
}

impl Question {
    pub(super) fn of(deadlock: bool) -> Self {
        Self { deadlock, ..Self::default() }
    }

    pub(super) fn ask(&mut self, asked: Asked) {
        match asked {
            Asked::Only(names) => self.only = names,
            Asked::Views => self.no_properties = true,
        }
    }

    /// The same about some properties only.
    pub(super) fn only(&self, names: Vec<String>) -> Self {
        Self { only: names, ..self.clone() }
    }

    /// The properties that are asked for.
    pub(super) fn properties(&self, program: &Program) -> Vec<Property> {
        let mut properties = program.properties(self.deadlock);
        properties.retain(|property| self.asks_for(program, &property.name));
        properties
    }

    /// The names of the properties that are asked for.
    pub(super) fn names(&self, program: &Program) -> Vec<String> {
        self.properties(program).into_iter().map(|property| property.name).collect()
    }

    /// Whether a property is asked for. Deadlocks and labels are asked for by themselves, whatever else is chosen.
    pub(super) fn asks_for(&self, program: &Program, name: &str) -> bool {
        let by_itself = name == DEADLOCK || program.unreachable.iter().any(|target| target.label == *name);
        !self.no_properties && (by_itself || self.only.is_empty() || self.only.iter().any(|other| other == name))
    }
}
