//! What functions do besides computing, and where that is not allowed.

use super::Compiler;
use crate::p::syntax::Place;

/// What a function does besides computing.
#[derive(Clone, Default, Debug)]
pub(in crate::p) struct Effects {
    /// Where it does what specs may not: send, create, receive, announce, choose, refer to itself.
    pub(in crate::p) acts: Option<(Place, &'static str)>,
    /// Where it leaves the state: `raise`, `goto`, `pop`.
    pub(in crate::p) leaves: Option<Place>,
    /// The functions that it calls, and where.
    pub(in crate::p) calls: Vec<(usize, Place)>,
    /// The machines and interfaces that it creates.
    pub(in crate::p) creates: Vec<usize>,
    /// The events that it sends or announces; none, if it may be any.
    pub(in crate::p) sends: Vec<Option<u32>>,
}

impl Compiler<'_, '_> {
    /// Of a function and all that it calls.
    pub(in crate::p) fn reached(&self, function: usize) -> Vec<usize> {
        let (mut found, mut open) = (vec![function], vec![function]);
        while let Some(one) = open.pop() {
            for (called, _) in &self.effects[one].calls {
                if !found.contains(called) {
                    found.push(*called);
                    open.push(*called);
                }
            }
        }
        found
    }

    /// Complains about functions of a spec that do more than look.
    pub(super) fn require_passive(&mut self, functions: &[usize]) {
        for &function in functions {
            if let Some((place, what)) = self.effects[function].acts {
                self.error(place, format!("a spec does not {what}"), "not allowed in a spec");
            }
            for (called, place) in self.effects[function].calls.clone() {
                let deeper = self.reached(called).into_iter().find_map(|deeper| self.effects[deeper].acts);
                if let Some((_, what)) = deeper.filter(|_| !functions.contains(&called)) {
                    self.error(
                        place,
                        format!("a spec does not {what}, and what it calls does"),
                        "not allowed in a spec",
                    );
                }
            }
        }
    }

    /// Complains about an exit or a transition function that leaves the state.
    pub(super) fn require_staying(&mut self, function: usize, what: &str, place: Place) {
        let leaves = self.reached(function).into_iter().find_map(|reached| self.effects[reached].leaves);
        if leaves.is_some() {
            self.error(place, format!("{what} may not leave the state"), "this one does, or what it calls");
        }
    }
}
