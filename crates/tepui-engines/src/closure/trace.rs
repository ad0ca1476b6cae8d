//! A way to a violation among the states reached, with the fewest contexts that these allow.
//!
//! The search keeps no parents, and its order has nothing to do with contexts. So the states that it stored are walked
//! once more, context by context: from all states that the last context reached for the first time, each thread runs
//! as far as stored states go. A place of the walk is a state and the thread that moved last. What the search did not
//! store may allow a shorter way: the result is an upper bound, and exact where all states are stored.

use tepui_core::{Budget, Stop};

use crate::explorer::Explorer;
use crate::pushdown::stacks::Stacks;
use crate::pushdown::system::Pushdown;
use crate::system::System as _;

const NOWHERE: u32 = u32::MAX;

/// How a place was reached: from which place, and where the thread that moved stood before.
#[derive(Clone, Copy)]
struct Step {
    state: u32,
    last: u16,
    mover: u16,
}

/// A path to a violation of a property: for each step the place of its thread before and afterwards, and the state
/// afterwards. The error is a limit, or that there is no violation.
pub fn fewest_contexts(
    explorer: &Explorer<Pushdown<Stacks>>,
    property: usize,
    budget: &mut Budget,
) -> Result<Vec<(usize, usize, u32)>, Stop> {
    let threads = explorer.system.threads();
    let mut walk = Walk {
        explorer,
        threads,
        steps: vec![Step { state: NOWHERE, last: 0, mover: 0 }; explorer.states.len() * threads],
        entered: vec![NOWHERE; explorer.states.len()],
        row: vec![0; explorer.states.width()],
        next: Vec::new(),
    };
    walk.entered[0] = 0;
    if walk.violates(property, 0) {
        return Ok(Vec::new());
    }
    let mut seeds = vec![0];
    while !seeds.is_empty() {
        let mut runs: Vec<(u32, u16)> = Vec::new();
        for &seed in &seeds {
            for thread in 0..threads as u16 {
                if walk.steps[seed as usize * threads + usize::from(thread)].state == NOWHERE {
                    runs.extend(walk.step((seed, thread), walk.entered[seed as usize] as u16, budget)?);
                }
            }
        }
        seeds.clear();
        let mut at = 0;
        while at < runs.len() {
            let (state, place) = runs[at];
            at += 1;
            if walk.entered[state as usize] == NOWHERE {
                walk.entered[state as usize] = u32::from(place);
                seeds.push(state);
                if walk.violates(property, state) {
                    return Ok(walk.unroll(state, place));
                }
            }
            runs.extend(walk.step((state, place), place, budget)?);
        }
    }
    Err(Stop::GaveUp("no way to a violation was found among the states reached; this is a defect".to_owned()))
}

struct Walk<'a> {
    explorer: &'a Explorer<Pushdown<Stacks>>,
    threads: usize,
    /// For each state and each place of the thread that moved last.
    steps: Vec<Step>,
    /// For each state, which thread moved last when it was first entered.
    entered: Vec<u32>,
    row: Vec<u32>,
    next: Vec<u32>,
}

impl Walk<'_> {
    /// What a thread reaches in one step from a state where another one, or the same, moved last.
    fn step(&mut self, (state, mover): (u32, u16), last: u16, budget: &mut Budget) -> Result<Vec<(u32, u16)>, Stop> {
        self.explorer.states.get(state, &mut self.row);
        let mut reached = Vec::new();
        let (states, steps, threads) = (&self.explorer.states, &mut self.steps, self.threads);
        self.explorer.system.steps(usize::from(mover), &self.row, &mut self.next, &mut |row, place| {
            let Some(number) = states.find(row) else { return };
            let step = &mut steps[number as usize * threads + place];
            if step.state == NOWHERE && number != 0 {
                *step = Step { state, last, mover };
                reached.push((number, place as u16));
            }
        });
        budget.spend(1 + reached.len() as u64)?;
        Ok(reached)
    }

    fn violates(&mut self, property: usize, state: u32) -> bool {
        self.explorer.states.get(state, &mut self.row);
        let system = &self.explorer.system;
        let tops = (1..self.row.len()).map(|field| system.tops(field - 1, self.row[field])[0]);
        let view: Vec<_> = [self.row[0]].into_iter().chain(tops).collect();
        system.compiled.violates(&system.compiled.model.properties()[property], &system.symmetry, &view)
    }

    fn unroll(&self, mut state: u32, mut place: u16) -> Vec<(usize, usize, u32)> {
        let mut path = Vec::new();
        while state != 0 {
            let step = self.steps[state as usize * self.threads + usize::from(place)];
            path.push((usize::from(step.mover), usize::from(place), state));
            (state, place) = (step.state, step.last);
        }
        path.reverse();
        path
    }
}
