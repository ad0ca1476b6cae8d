//! Other numbers for machines.
//!
//! A program can store references, send them and ask whether they are equal, and nothing else. So if machines of a kind
//! change places, and every reference to them is changed along, a step is still a step: nobody can tell the difference. The
//! exceptions are texts with references in them, where they decide something, and references that stand in the program.

use super::run::{Letter, Local};
use super::{Among, Expression, Instruction, Program, Value};

/// For each machine its new number. Machines behind the end keep theirs.
pub struct Renaming<'r> {
    /// The numbers.
    pub to: &'r [u32],
    /// Whether sets and maps are kept in the order of insertion.
    pub insertion_order: bool,
}

impl Renaming<'_> {
    fn machine(&self, machine: u32) -> u32 {
        self.to.get(machine as usize).copied().unwrap_or(machine)
    }

    /// A value with the new numbers.
    pub fn value(&self, value: &Value) -> Value {
        value.mapped(self.insertion_order, &|leaf| match leaf {
            Value::Machine(machine) => Value::Machine(self.machine(*machine)),
            other => other.clone(),
        })
    }

    /// A letter with the new numbers.
    pub fn letter(&self, letter: &Letter) -> Letter {
        Letter { event: letter.event, payload: self.value(&letter.payload) }
    }

    /// A state of a machine with the new numbers.
    pub fn local(&self, local: &Local) -> Local {
        let mut local = local.clone();
        local.values_mut(&mut |value| *value = self.value(value));
        local.pending.iter_mut().for_each(|(to, _)| *to = self.machine(*to));
        local
    }
}

impl Program {
    /// Whether nobody can tell machines apart by their numbers.
    pub fn has_no_numbers(&self) -> bool {
        let variables = self.kinds.iter().flat_map(|kind| &kind.variables);
        let code = self.functions.iter().flat_map(|function| &function.code);
        let claims = self.claims.iter().all(|claim| claim.machine.is_none());
        claims && variables.into_iter().all(has_no_machine) && code.into_iter().all(is_without_numbers)
    }
}

fn has_no_machine(value: &Value) -> bool {
    match value {
        Value::Machine(_) => false,
        Value::Tuple(parts) | Value::Record(_, parts) | Value::Seq(parts) | Value::Set(parts) => {
            parts.iter().all(has_no_machine)
        }
        Value::Map(entries) => entries.iter().all(|(key, value)| has_no_machine(key) && has_no_machine(value)),
        _ => true,
    }
}

fn is_without_numbers(instruction: &Instruction) -> bool {
    let chosen = match instruction {
        Instruction::Choose(Among::These(values), _) => values.iter().all(has_no_machine),
        _ => true,
    };
    chosen && instruction.expressions().into_iter().all(fits)
}

/// Whether an expression has no reference in it, and no text with values.
fn fits(expression: &Expression) -> bool {
    match expression {
        Expression::Value(value) => has_no_machine(value),
        Expression::Read(_) | Expression::This => true,
        Expression::Item(inner, _) | Expression::Unary(_, inner) | Expression::Cast(inner, _) => fits(inner),
        Expression::At(left, right) | Expression::Binary(_, left, right) => fits(left) && fits(right),
        Expression::Tuple(parts) | Expression::Record(_, parts) => parts.iter().all(fits),
        Expression::Format(..) => false,
    }
}
