//! Steps from any row, one after the other, for those who do not search.

use super::next::Next;
use super::specs::Turns;
use super::{Explorer, Step};
use crate::queue::summary::Queue;
use crate::queue::tables::Way;

/// Where a step leads.
pub(in crate::queue) struct Led<'w> {
    pub(in crate::queue) way: &'w Way,
    pub(in crate::queue) to: u32,
    /// For each spec whether it was hot and whether it was cold on the way there.
    pub(in crate::queue) passed: &'w [[bool; 2]],
}

/// Told of each step.
type Each<'s> = &'s mut dyn FnMut(&dyn Fn() -> Step, &Led<'_>);

/// Told of each step, what is taken, and what comes of it.
type EachStep<'s> = &'s mut dyn FnMut(&mut Explorer, Option<u32>, &Way, Next);

impl Explorer {
    /// All steps from a row to rows that are known, each with where it leads and how specs were on the way; says which
    /// machines cannot move.
    pub(in crate::queue) fn steps_from(&mut self, from: u32, each: Each<'_>) -> Vec<bool> {
        let before = self.rows.get(from);
        let mut stuck = Vec::new();
        for machine in 0..self.machines(&before) {
            stuck.push(!self.each_step(&before, machine, &|_| true, &mut |own, letter, way, next| {
                if matches!(next, Next::Row(_)) {
                    own.reduce();
                    let step = || Step { from, machine: machine as u32, letter, choices: own.choices_of(way) };
                    let found = own.rows.find(&own.next).into_iter();
                    found.for_each(|to| each(&step, &Led { way, to, passed: &own.passed }));
                }
            }));
        }
        stuck
    }

    /// All steps of a machine from any row, if it takes one of some letters or nothing: what comes of each, and the row that
    /// was put together. Says whether it can move.
    pub(in crate::queue) fn each_step(
        &mut self,
        row: &[u32],
        machine: usize,
        taking: &dyn Fn(Option<u32>) -> bool,
        each: EachStep<'_>,
    ) -> bool {
        let mut found = Vec::new();
        let moves = self.takes(row, machine, &mut found);
        for (letter, queue) in found.into_iter().filter(|(letter, _)| taking(*letter)) {
            let ways = self.tables.ways(machine as u32, row[2 * machine], letter);
            for way in ways.iter() {
                let mut turns = Turns::default();
                loop {
                    let next = self.next(row, machine, queue, way, &mut turns);
                    each(self, letter, way, next);
                    if !turns.advance() {
                        break;
                    }
                }
            }
        }
        moves
    }

    /// What is chosen on a way, and by specs that have just heard of it.
    pub(super) fn choices_of(&self, way: &Way) -> Vec<u32> {
        [&way.choices[..], &self.chosen[..]].concat()
    }

    /// Whether a machine can move.
    pub(in crate::queue) fn can_move(&mut self, row: &[u32], machine: usize) -> bool {
        self.takes(row, machine, &mut Vec::new())
    }

    /// The row that was put together last.
    pub(in crate::queue) fn put_together(&self) -> &[u32] {
        &self.next
    }

    /// Another search has worked out what machines do, and lends it.
    pub(in crate::queue) fn swap_tables(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.tables, &mut other.tables);
    }

    /// The number of a queue of which all letters are known, as it is seen here by a kind of machine.
    pub(in crate::queue) fn seen(&mut self, kind: usize, queue: &Queue) -> u32 {
        self.queues.intern(self.precision[kind].of(&queue.prefix))
    }

    /// How many queues have occurred.
    pub(in crate::queue) fn queue_count(&self) -> usize {
        self.queues.len()
    }
}
