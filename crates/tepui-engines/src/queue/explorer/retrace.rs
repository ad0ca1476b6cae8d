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
}

impl Explorer {
    /// The way to a row, and to an error from there. Machines may have changed places on the way.
    pub(in crate::queue) fn way_to(&mut self, row: u32, error: Option<Error>) -> Path {
        if row == AT_START {
            let start = error.and_then(|error| self.failing.get(&error).cloned()).unwrap_or_default();
            return Path { start, steps: Vec::new() };
        }
        let before = |row: &u32| self.before.get(*row as usize).copied().filter(|before| before != row);
        let mut rows: Vec<_> = std::iter::successors(Some(row), before).collect();
        rows.reverse();
        let (start, mut real) = (self.starts[rows[0] as usize].clone(), self.rows.get(rows[0]));
        let mut steps = Vec::new();
        for (number, at) in rows.iter().enumerate() {
            let found = match rows.get(number + 1) {
                Some(&to) => self.step_that(&real, &|own, next| {
                    matches!(next, Next::Row(_)) && {
                        own.reduce();
                        own.rows.find(&own.next) == Some(to)
                    }
                }),
                None => self.step_that(&real, &|_, next| match next {
                    Next::Row(found) | Next::Errors(found) => error.is_some_and(|error| found.contains(&error)),
                    _ => false,
                }),
            };
            if let Some((step, next)) = found {
                steps.push(Step { from: *at, ..step });
                real = next;
            } else if error == Some(Error::Invariant) && number + 1 == rows.len() {
                steps.extend(self.doubtful_step(&real, *at));
            }
        }
        Path { start, steps }
    }

    /// A step that begins with taking something, after which a claim may not hold.
    fn doubtful_step(&mut self, row: &[u32], from: u32) -> Option<Step> {
        let machine = (0..self.machines(row)).find(|&machine| {
            self.tables.rest(row[2 * machine]).takes && self.taken(row[2 * machine], row[2 * machine + 1]).doubt
        })?;
        let letter = self.taken(row[2 * machine], row[2 * machine + 1]).letters.first().map(|(letter, _)| *letter);
        Some(Step { from, machine: machine as u32, letter, choices: Vec::new() })
    }

    /// A step from a row that is wanted, and where it leads.
    fn step_that(&mut self, row: &[u32], wanted: &dyn Fn(&mut Self, &Next) -> bool) -> Option<(Step, Vec<u32>)> {
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
