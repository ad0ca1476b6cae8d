//! What must not happen in a program, and what that is called.

use super::{Action, Program};

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
        let statements = || {
            let procedures = self.procedures.iter().enumerate();
            procedures.flat_map(|(number, procedure)| (0..procedure.statements.len()).map(move |at| (number, at)))
        };
        let asserts = |&(procedure, at): &(usize, usize)| {
            matches!(self.procedures[procedure].statements[at].action, Action::Assert(_))
        };
        let mut goals: Vec<_> = statements().filter(asserts).map(|(number, at)| Goal::Failure(number, at)).collect();
        let leaves_range = |&(procedure, at): &(usize, usize)| self.may_leave_range(procedure, at);
        goals.extend(statements().filter(leaves_range).map(|(number, at)| Goal::Range(number, at)));
        let leaves_array = |&(procedure, at): &(usize, usize)| self.may_leave_array(procedure, at);
        goals.extend(statements().filter(leaves_array).map(|(number, at)| Goal::Index(number, at)));
        goals.extend(self.unreachable.iter().map(|target| Goal::Reached(target.procedure, target.position)));
        goals.extend(deadlock.then_some(Goal::Deadlock));
        let mut properties: Vec<Property> = Vec::new();
        for (name, goal) in self.names(&goals).into_iter().zip(goals) {
            match properties.iter_mut().find(|property| property.name == name) {
                Some(property) => property.never.push(goal),
                None => properties.push(Property { name, never: vec![goal] }),
            }
        }
        properties
    }
}
