//! Where control goes: for each statement those that may come next.

use super::{Action, Procedure};

/// The flow of control in a procedure.
#[derive(Debug)]
pub struct Flow {
    /// For each statement the one that follows when it is done; the number of statements stands for the end.
    pub next: Vec<usize>,
    /// For each statement the innermost atomic block around it.
    pub atomic: Vec<Option<usize>>,
}

impl Flow {
    /// The flow of control in a procedure.
    pub fn of(procedure: &Procedure) -> Self {
        let end = procedure.statements.len();
        let mut flow = Self { next: vec![end; end], atomic: vec![None; end] };
        flow.block(procedure, &procedure.body, end, None);
        flow
    }

    fn block(&mut self, procedure: &Procedure, block: &[usize], after: usize, atomic: Option<usize>) {
        for (index, &position) in block.iter().enumerate() {
            let next = block.get(index + 1).copied().unwrap_or(after);
            (self.next[position], self.atomic[position]) = (next, atomic);
            match &procedure.statements[position].action {
                Action::If(_, then, otherwise) => {
                    self.block(procedure, then, next, atomic);
                    self.block(procedure, otherwise, next, atomic);
                }
                Action::While(_, body) => self.block(procedure, body, position, atomic),
                Action::For(_, body) => self.block(procedure, body, next, atomic),
                Action::Atomic(body) => self.block(procedure, body, next, Some(position)),
                _ => {}
            }
        }
    }

    /// The statements that may come directly after one.
    pub fn successors(&self, procedure: &Procedure, position: usize) -> Vec<usize> {
        let first = |block: &[usize], otherwise: usize| block.first().copied().unwrap_or(otherwise);
        let Some(statement) = procedure.statements.get(position) else { return Vec::new() };
        let next = self.next[position];
        match &statement.action {
            Action::Goto(targets) => targets.clone(),
            Action::If(_, then, otherwise) => vec![first(then, next), first(otherwise, next)],
            Action::While(_, body) => vec![first(body, position), next],
            Action::Atomic(body) | Action::For(_, body) => vec![first(body, next)],
            Action::Next(_, first) => vec![*first, next],
            Action::StartAt(to) => vec![next, *to],
            Action::Return(_) | Action::EndThread => Vec::new(),
            _ => vec![next],
        }
    }
}
