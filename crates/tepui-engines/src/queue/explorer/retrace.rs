//! The way to a row. They are not stored, but looked for again.

use tepui_model::queue::evaluate::Error;

use super::specs::{AT_START, Turns};
use super::{Explorer, Next, Step};

/// The way to a row.
pub(in crate::queue) struct Path {
    /// What specs choose before the first step.
    pub start: Vec<u32>,
    /// The steps.
    pub steps: Vec<Step>,
    /// What is taken in each step, and from where.
    pub taken: Vec<Took>,
}

/// What a machine takes in a step, if it takes something, and the number of its queue before.
#[derive(Clone, Copy)]
pub(in crate::queue) struct Took {
    pub letter: Option<u32>,
    pub queue: u32,
}

impl Explorer {
    /// The way to a row, and to an error from there. Machines may have changed places on the way.
    pub(in crate::queue) fn way_to(&mut self, row: u32, error: Option<Error>) -> Path {
        if row == AT_START {
            let start = error.and_then(|error| self.failing.get(&error).cloned()).unwrap_or_default();
            return Path { start, steps: Vec::new(), taken: Vec::new() };
        }
        let before = |row: &u32| self.before.get(*row as usize).copied().filter(|before| before != row);
        let mut rows: Vec<_> = std::iter::successors(Some(row), before).collect();
        rows.reverse();
        let (start, mut real) = (self.starts[rows[0] as usize].clone(), self.rows.get(rows[0]));
        let (mut steps, mut taken) = (Vec::new(), Vec::new());
        let took = |step: &Step, row: &[u32]| Took { letter: step.letter, queue: row[2 * step.machine as usize + 1] };
        for (number, at) in rows.iter().enumerate() {
            match (rows.get(number + 1), error) {
                (Some(&to), _) => {
                    let found = self.step_that(&real, &|own, next| {
                        matches!(next, Next::Row(_)) && {
                            own.reduce();
                            own.rows.find(&own.next) == Some(to)
                        }
                    });
                    if let Some((step, next)) = found {
                        taken.push(took(&step, &real));
                        steps.push(Step { from: *at, ..step });
                        real = next;
                    }
                }
                (None, Some(error)) => {
                    if let Some(step) = self.failing_step(&real, error) {
                        taken.push(took(&step, &real));
                        steps.push(Step { from: *at, ..step });
                    }
                }
                (None, None) => {}
            }
        }
        Path { start, steps, taken }
    }

    /// What specs choose to get to a first row, or else to an error at once.
    pub(in crate::queue) fn chosen_before(&self, row: Option<&[u32]>, error: Error) -> Vec<u32> {
        let first = row.and_then(|row| self.starts.get(self.rows.find(row)? as usize));
        first.or_else(|| self.failing.get(&error)).cloned().unwrap_or_default()
    }

    /// A step from a row that leads to an error. There is none if it is one that nobody can move.
    pub(in crate::queue) fn failing_step(&mut self, row: &[u32], error: Error) -> Option<Step> {
        let found = self.step_that(row, &|_, next| match next {
            Next::Row(found) | Next::Errors(found) => found.contains(&error),
            _ => false,
        });
        let doubtful = error == Error::Invariant && found.is_none();
        if doubtful { self.doubtful_step(row) } else { found.map(|(step, _)| step) }
    }

    /// A step that begins with taking something, after which a claim may not hold.
    fn doubtful_step(&mut self, row: &[u32]) -> Option<Step> {
        let machine = (0..self.machines(row)).find(|&machine| {
            self.tables.rest(row[2 * machine]).takes
                && self.taken(machine, row[2 * machine], row[2 * machine + 1]).doubt
        })?;
        let letter =
            self.taken(machine, row[2 * machine], row[2 * machine + 1]).letters.first().map(|(letter, _)| *letter);
        Some(Step { from: 0, machine: machine as u32, letter, choices: Vec::new() })
    }

    /// A step from a row that is wanted, and where it leads.
    pub(in crate::queue) fn step_that(
        &mut self,
        row: &[u32],
        wanted: &dyn Fn(&mut Self, &Next) -> bool,
    ) -> Option<(Step, Vec<u32>)> {
        for machine in 0..self.machines(row) {
            let mut found = Vec::new();
            self.takes(row, machine, &mut found);
            for (letter, queue) in found {
                let ways = self.tables.ways(machine as u32, row[2 * machine], letter);
                // What is chosen again and again may be of no use where more is known of the machine.
                let mut ways: Vec<_> = ways.iter().collect();
                ways.sort_by_key(|way| way.choices.len());
                for way in ways {
                    let mut turns = Turns::default();
                    loop {
                        let next = self.next(row, machine, queue, way, &mut turns);
                        let choices = self.choices_of(way);
                        if self.names.is_some() && matches!(next, Next::Row(_)) {
                            self.reduce();
                        }
                        let led = self.next.clone();
                        if wanted(self, &next) {
                            return Some((Step { from: 0, machine: machine as u32, letter, choices }, led));
                        }
                        if !turns.advance() {
                            break;
                        }
                    }
                }
            }
        }
        None
    }
}
