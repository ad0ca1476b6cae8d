//! Where control may get to, and what lies around a statement.

use super::Procedure;
use super::flow::Flow;

impl Flow {
    /// For each statement, and the end, whether control may get there.
    pub fn reachable(&self, procedure: &Procedure) -> Vec<bool> {
        let end = procedure.statements.len();
        let mut reached = vec![false; end + 1];
        let mut open = vec![procedure.body.first().copied().unwrap_or(end)];
        while let Some(position) = open.pop() {
            if !std::mem::replace(&mut reached[position], true) {
                open.extend(self.successors(procedure, position));
            }
        }
        reached
    }

    /// The atomic blocks around a statement, innermost first.
    pub fn atomics(&self, position: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.atomic.get(position).copied().flatten(), |&around| self.atomic[around])
    }
}
