//! What must not happen in a program, and what that is called.

use super::{Action, Program, Statement};

/// The name of the property that some thread can move, or all have ended.
pub const DEADLOCK: &str = "deadlock-freedom";

/// The name of the property that more threads are wanted than there are places for.
pub const THREAD_LIMIT: &str = "thread-limit";

/// Something that must not happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// An assertion fails: its procedure and position.
    Failure(usize, usize),
    /// A statement stores a value that is out of range: its procedure and position.
    Range(usize, usize),
    /// An index of a statement is outside of its array: its procedure and position.
    Index(usize, usize),
    /// A thread gets to a statement: its procedure and position.
    Reached(usize, usize),
    /// No thread can move, and not all have ended.
    Deadlock,
}

/// A property: none of these happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// What must not happen.
    pub never: Vec<Goal>,
}

impl Program {
    /// The properties of the program: its assertions, ranges and indices that are in doubt, the labels that must not be
    /// reached, and that there are no deadlocks, if that is asked for. What has the same name is one property.
    pub fn properties(&self, deadlock: bool) -> Vec<Property> {
        let mut goals = Vec::new();
        for (number, procedure) in self.procedures.iter().enumerate() {
            for (position, statement) in procedure.statements.iter().enumerate() {
                if matches!(statement.action, Action::Assert(_)) {
                    goals.push((self.assertion_name(number, position), Goal::Failure(number, position)));
                }
            }
        }
        goals.extend(self.doubts("range", Self::may_leave_range, Goal::Range));
        goals.extend(self.doubts("index", Self::may_leave_array, Goal::Index));
        let labels = self.unreachable.iter();
        goals.extend(labels.map(|target| (target.label.clone(), Goal::Reached(target.procedure, target.position))));
        goals.extend(deadlock.then(|| (DEADLOCK.to_owned(), Goal::Deadlock)));
        let mut properties: Vec<Property> = Vec::new();
        for (name, goal) in goals {
            match properties.iter_mut().find(|property| property.name == name) {
                Some(property) => property.never.push(goal),
                None => properties.push(Property { name, never: vec![goal] }),
            }
        }
        properties
    }

    /// The goals of all statements that may fail in some way, with the name of the property: it says the line, and the number
    /// of the statement if it is not the first there.
    fn doubts(
        &self,
        what: &str,
        may_fail: impl Fn(&Self, usize, usize) -> bool,
        goal: impl Fn(usize, usize) -> Goal,
    ) -> Vec<(String, Goal)> {
        let (mut found, mut seen) = (Vec::new(), Vec::new());
        for (number, procedure) in self.procedures.iter().enumerate() {
            for (position, statement) in procedure.statements.iter().enumerate() {
                if !may_fail(self, number, position) {
                    continue;
                }
                // A statement that stands for several is one.
                let place = (statement.line, statement.text);
                if !seen.contains(&place) {
                    seen.push(place);
                }
                let on_line = || seen.iter().filter(|(line, _)| *line == statement.line);
                let rank = on_line().position(|(_, text)| *text == statement.text).unwrap_or_default() + 1;
                let name = match rank {
                    1 => format!("{what}@{}", statement.line),
                    _ => format!("{what}@{}.{rank}", statement.line),
                };
                found.push((name, goal(number, position)));
            }
        }
        found
    }

    /// What the property of an assertion is called: the name that it was given, or its procedure and line, with a number
    /// if it is not the first there.
    pub fn assertion_name(&self, procedure: usize, position: usize) -> String {
        let procedure = &self.procedures[procedure];
        if let Some(name) = &procedure.statements[position].property {
            return name.clone();
        }
        let line = procedure.statements[position].line;
        let before = procedure.statements[..position].iter();
        let unnamed = |other: &&Statement| matches!(other.action, Action::Assert(_)) && other.property.is_none();
        let before = before.filter(|other| other.line == line && unnamed(other)).count();
        match before {
            0 => format!("{}@{line}", procedure.name),
            before => format!("{}@{line}.{}", procedure.name, before + 1),
        }
    }
}
