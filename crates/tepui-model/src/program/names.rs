//! What values and properties are called.

use super::{Action, DEADLOCK, Goal, Kind, Program, Statement};

impl Program {
    /// The name of the value with a code.
    pub fn value_name(&self, kind: Kind, value: u32) -> String {
        match kind {
            Kind::Bool => value.to_string(),
            Kind::Enumeration(number) => self.enumerations[number].values[value as usize].clone(),
            Kind::Range(low, _) => (i64::from(low) + i64::from(value)).to_string(),
        }
    }

    /// What the properties are called that goals belong to.
    pub(super) fn names(&self, goals: &[Goal]) -> Vec<String> {
        let mut labels = self.unreachable.iter();
        let name = |goal: &Goal| match *goal {
            Goal::Failure(procedure, position) => self.assertion_name(procedure, position),
            Goal::Range(procedure, position) => self.doubt_name("range", (procedure, position), goals),
            Goal::Index(procedure, position) => self.doubt_name("index", (procedure, position), goals),
            Goal::Reached(..) => labels.next().map_or(String::new(), |target| target.label.clone()),
            Goal::Deadlock => DEADLOCK.to_owned(),
        };
        goals.iter().map(name).collect()
    }

    /// What it is called that a statement fails other than by an assertion: it says the line, and the number of the
    /// statement among all that fail in this way, if it is not the first there.
    fn doubt_name(&self, what: &str, (procedure, position): (usize, usize), goals: &[Goal]) -> String {
        let statement = |(procedure, position): (usize, usize)| &self.procedures[procedure].statements[position];
        let own = statement((procedure, position));
        let alike = goals.iter().filter_map(|goal| match *goal {
            Goal::Range(procedure, position) if what == "range" => Some((procedure, position)),
            Goal::Index(procedure, position) if what == "index" => Some((procedure, position)),
            _ => None,
        });
        // A statement that stands for several is one.
        let mut seen = Vec::new();
        for other in alike.map(statement).filter(|other| other.line == own.line) {
            if !seen.contains(&other.text) {
                seen.push(other.text);
            }
        }
        match seen.iter().position(|text| *text == own.text).unwrap_or_default() {
            0 => format!("{what}@{}", own.line),
            before => format!("{what}@{}.{}", own.line, before + 1),
        }
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
