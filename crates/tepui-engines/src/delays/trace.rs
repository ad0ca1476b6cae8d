//! A way to a violation within given rounds and delays.
//!
//! The search keeps no parents: a state may have several labels, each with a history of its own. So the turns are taken
//! once more, among states that are known, with a parent for each label, until a violating state turns up.

use tepui_core::{Budget, Stop};

use super::search::Violation;
use crate::explorer::Explorer;
use crate::ids::{Id, StateId, ThreadId};
use crate::system::{Observed, PathStep};

/// A label with its delays, and the place of the label before it in the previous turn.
struct Label {
    state: StateId,
    delays: u16,
    parent: u32,
}

/// The steps to a violation of a property. Passes and delays are left out.
pub fn within<S: Observed>(
    explorer: &Explorer<S>,
    property: usize,
    bounds: Violation,
    budget: &mut Budget,
) -> Result<Vec<PathStep>, Stop> {
    let threads = explorer.system.threads();
    let mut fewest = vec![u16::MAX; explorer.states.len() * threads]; // There are never more delays: see `MOST`.
    let mut turns = vec![vec![Label { state: StateId::INITIAL, delays: 0, parent: 0 }]];
    fewest[0] = 0;
    let mut walk = Walk { explorer, property, row: vec![0; explorer.states.width()], view: Vec::new() };
    walk.view = vec![0; explorer.system.view_fields().len()];
    if walk.violates(StateId::INITIAL) {
        return Ok(Vec::new());
    }
    let mut next_row = Vec::new();
    for turn in 0..bounds.rounds as usize * threads {
        let (thread, next_thread) = (ThreadId::new(turn % threads), ThreadId::new((turn + 1) % threads));
        let mut next: Vec<Label> = Vec::new();
        for (parent, label) in (0..).zip(&turns[turn]) {
            if fewest[label.state.index() * threads + thread.index()] < label.delays {
                continue;
            }
            explorer.states.get(label.state, &mut walk.row);
            let (states, row) = (&explorer.states, walk.row.clone());
            let first = next.len();
            let enabled = explorer.system.steps(thread, &row, &mut next_row, &mut |row, _| {
                if let Some(state) = states.find(row) {
                    next.push(Label { state, delays: label.delays, parent });
                }
            });
            let delays = label.delays + u16::from(enabled);
            if u32::from(delays) <= bounds.delays {
                next.push(Label { state: label.state, delays, parent });
            }
            budget.spend(1 + (next.len() - first) as u64)?;
        }
        next.retain(|label| {
            let known = &mut fewest[label.state.index() * threads + next_thread.index()];
            let better = label.delays < *known;
            *known = label.delays.min(*known);
            better
        });
        let found = walk.first_violation(&next, budget)?;
        turns.push(next);
        if let Some(found) = found {
            return Ok(walk.unroll(&turns, found));
        }
    }
    Err(Stop::defect("no way to a violation was found within its bounds"))
}

struct Walk<'a, S: Observed> {
    explorer: &'a Explorer<S>,
    property: usize,
    row: Vec<u32>,
    view: Vec<u32>,
}

impl<S: Observed> Walk<'_, S> {
    fn violates(&mut self, state: StateId) -> bool {
        self.explorer.states.get(state, &mut self.row);
        self.explorer.system.view(&self.row, &mut self.view);
        self.explorer.system.violates(self.property, &self.view)
    }

    fn first_violation(&mut self, labels: &[Label], budget: &mut Budget) -> Result<Option<usize>, Stop> {
        for (place, label) in labels.iter().enumerate() {
            budget.pass(1)?;
            if self.violates(label.state) {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    fn unroll(&self, turns: &[Vec<Label>], mut index: usize) -> Vec<PathStep> {
        let threads = self.explorer.system.threads();
        let mut steps = Vec::new();
        for turn in (1..turns.len()).rev() {
            let label = &turns[turn][index];
            index = label.parent as usize;
            if turns[turn - 1][index].state != label.state {
                let thread = ThreadId::new((turn - 1) % threads);
                steps.push(PathStep { before: thread, after: thread, row: self.explorer.row(label.state) });
            }
        }
        steps.reverse();
        steps
    }
}
