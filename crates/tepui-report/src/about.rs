//! What an answer about a program is about: which threads, which memory, what no execution reaches, and whether it can get
//! stuck, which nobody asked.

use serde_json::{Value, json};
use tepui_core::{Outcome, Status};
use tepui_lang::boolean::print_head;
use tepui_lang::source::Source;
use tepui_model::program::{Action, Goal, Program, Property};

use crate::cut;

/// What an answer about a program is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct About {
    /// The threads.
    pub threads: String,
    /// What no execution reaches, if there is a proof.
    pub unreached: Vec<Unreached>,
    /// Properties that hold only because what they forbid stands where no execution comes.
    pub vacuous: Vec<String>,
    /// Whether the program can get stuck, if that was looked for without being asked for.
    pub stuck: Option<bool>,
}

/// Statements one after the other that no execution reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unreached {
    /// The procedure.
    pub procedure: String,
    /// The lines of the first and the last one.
    pub lines: (usize, usize),
    /// The first one.
    pub statement: String,
}

/// Stretches shown of many.
const SHOWN: usize = 6;

impl About {
    /// What a proof leaves out: statements at which no thread ever stands.
    pub fn with_unreached(
        mut self,
        program: &Program,
        source: &Source,
        properties: &[Property],
        outcome: &Outcome,
        unreached: &[(usize, usize)],
    ) -> Self {
        // That a label is not reached is what was asked for.
        let goals = || properties.iter().flat_map(|property| &property.never);
        let asked = |place: &&(usize, usize)| !goals().any(|goal| *goal == Goal::Reached(place.0, place.1));
        for &(procedure, position) in unreached.iter().filter(asked) {
            let (name, statement) =
                (&program.procedures[procedure].name, &program.procedures[procedure].statements[position]);
            let line = source.position(statement.text.0 as usize).0;
            match self.unreached.last_mut() {
                Some(last) if last.procedure == *name && line <= last.lines.1 + 1 => last.lines.1 = line,
                _ => self.unreached.push(Unreached {
                    procedure: name.clone(),
                    lines: (line, line),
                    statement: cut(&print_head(program, procedure, position)),
                }),
            }
        }
        let safe = |name: &str| outcome.is_safe(name);
        let empty = |goal: &Goal| matches!(*goal, Goal::Failure(procedure, position) if unreached.contains(&(procedure, position)));
        let vacuous = |property: &&Property| {
            !property.never.is_empty() && property.never.iter().all(empty) && safe(&property.name)
        };
        self.vacuous = properties.iter().filter(vacuous).map(|property| property.name.clone()).collect();
        self
    }

    /// The lines of the report.
    pub(crate) fn facts(&self, outcome: &Outcome) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        if outcome.properties.iter().any(|property| property.verdict.status() == Status::Safe) {
            facts.push(("for", format!("{}; sequentially consistent memory", self.threads)));
        }
        let line = |one: &Unreached| match one.lines {
            (first, last) if first == last => {
                format!("line {first} of {} is never reached: {}", one.procedure, one.statement)
            }
            (first, last) => {
                format!("lines {first} to {last} of {} are never reached: {} ...", one.procedure, one.statement)
            }
        };
        facts.extend(self.unreached.iter().take(SHOWN).map(|one| ("never", line(one))));
        if let more @ 1.. = self.unreached.len().saturating_sub(SHOWN) {
            facts.push(("never", format!("... and {more} more; --format json lists them")));
        }
        facts.extend(self.warnings().into_iter().map(|warning| ("warning", warning)));
        facts
    }

    /// What may not be as it was meant.
    pub fn warnings(&self) -> Vec<String> {
        let vacuous = self.vacuous.iter().map(|name| format!("{name} holds only because no execution reaches it"));
        let stuck = (self.stuck == Some(true)).then(|| "the program can get stuck: --deadlock shows how".to_owned());
        vacuous.chain(stuck).collect()
    }

    pub(crate) fn json(&self) -> Value {
        let one = |one: &Unreached| json!({ "procedure": one.procedure, "first_line": one.lines.0, "last_line": one.lines.1, "statement": one.statement });
        json!({
            "threads": self.threads,
            "memory_model": "sequentially-consistent",
            "unreached": self.unreached.iter().map(one).collect::<Vec<_>>(),
            "can_get_stuck": self.stuck,
        })
    }
}

/// Whether a thread of a program may have to wait.
pub fn may_block(program: &Program) -> bool {
    let statements = program.procedures.iter().flat_map(|procedure| &procedure.statements);
    program.procedures.iter().any(|procedure| procedure.enforced.is_some())
        || statements.into_iter().any(|statement| {
            matches!(
                statement.action,
                Action::Assume(_)
                    | Action::Wait(_)
                    | Action::Lock(_)
                    | Action::Sleep
                    | Action::Assign { constraint: Some(_), .. }
            )
        })
}
