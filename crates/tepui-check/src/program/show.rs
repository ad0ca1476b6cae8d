//! What things of a program are called, and what is said to people when a proof is refused. Nothing here has to be believed.

use tepui_model::program::Variable;
use tepui_model::program::step::Value;
use tepui_model::pushdown::Symbol;

use super::passing::Lost;
use super::system::{Done, Interpreted};
use crate::show::Show;
use crate::system::Move;

impl Show for Interpreted<'_> {
    fn thread_name(&self, thread: usize) -> String {
        format!("{}", thread + 1)
    }

    fn show_symbol(&self, _: usize, symbol: Symbol) -> String {
        let Some(frame) = self.tables.frame(symbol) else {
            return if symbol.is_bottom() { "-".to_owned() } else { "(a frame that is not listed)".to_owned() };
        };
        let procedure = &self.program.procedures[frame.procedure];
        let place = match procedure.statements.get(frame.position) {
            Some(statement) => format!("{}@{}", procedure.name, statement.line),
            None => format!("{}@end", procedure.name),
        };
        let values = self.show_values(procedure.locals.iter().zip(frame.locals.iter().copied()));
        if values.is_empty() { place } else { format!("{place}({values})") }
    }

    fn show_shared(&self, shared: u32) -> String {
        let Some(values) = self.tables.shared(shared) else { return "(a shared state that is not listed)".to_owned() };
        self.show_values(self.program.shared.iter().zip(values.iter().copied()))
    }

    fn show_initial(&self, number: usize) -> String {
        let (shared, stacks) = &self.initial[number];
        let shown = |stack: &Vec<Symbol>| self.show_symbol(0, stack.first().copied().unwrap_or(Symbol::BOTTOM));
        format!("{}|{}", self.show_shared(*shared), stacks.iter().map(shown).collect::<Vec<_>>().join(","))
    }

    fn show_move(&self, _: usize, step: &Move) -> String {
        self.describe(&self.done.borrow()[step.number])
    }
}

impl Lost {
    /// Says why `main` cannot be followed at the start.
    pub(super) fn at_the_start(&self) -> &'static str {
        match self {
            Self::Seen => "at the start: `main` passes what others may see, or starts too many threads",
            Self::Endless => "at the start: `main` may go on for ever without being seen",
        }
    }
}

impl Interpreted<'_> {
    /// Says which thread fails.
    pub(super) fn fails(&self, shared: u32, top: Symbol) -> String {
        format!("a thread at {} violates it, with {}", self.show_symbol(0, top), self.show_shared(shared))
    }

    fn describe(&self, done: &Done) -> String {
        let Some(frame) = self.tables.frame(done.top) else { return "a step".to_owned() };
        let position = self.runner.first_of(frame.procedure, frame.position);
        let procedure = &self.program.procedures[frame.procedure];
        match procedure.statements.get(position) {
            Some(statement) => format!("line {} in `{}`", statement.line, procedure.name),
            None => format!("the end of `{}`", procedure.name),
        }
    }

    fn show_values<'v>(&self, variables: impl Iterator<Item = (&'v Variable, Value)>) -> String {
        let value = |(variable, value): (&Variable, Value)| {
            let value = match value {
                Value::Known(value) => self.program.value_name(variable.kind, value),
                Value::Unset => "?".to_owned(),
                Value::Forgotten => return None,
            };
            Some(format!("{}={value}", variable.name))
        };
        variables.filter_map(value).collect::<Vec<_>>().join(" ")
    }
}
