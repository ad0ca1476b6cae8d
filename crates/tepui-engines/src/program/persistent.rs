//! Which threads are explored at a state: a *persistent* set, with as few threads that can move as possible.
//!
//! A set is persistent if what its threads do next does not collide with anything that others may ever do. The least one that
//! has a given thread is found by adding whoever collides. Of the sets that have fewest threads that can move, the one of
//! the thread whose step found the state is taken, else the first. So a thread runs as far as it can before others
//! begin: otherwise it would run in a circle anew wherever the others stand, and each of these circles would have to be
//! opened for them.

use super::footprints::{Footprint, Footprints, Touched};
use super::layout::{Field, Head};
use super::machine::Machine;
use super::system::Programs;
use super::tables::News;
use crate::ids::{ThreadId, Threads};
use crate::pushdown::tree::EMPTY;
use crate::system::{Choice, System};

/// What threads touch, by their stacks.
#[derive(Debug)]
pub(super) struct Touching {
    footprints: Footprints,
    /// For each kind of thread and stack.
    of_stack: Vec<Vec<Touched>>,
    /// The shared variables that may have no value yet.
    open: Vec<(usize, Field)>,
}

impl Programs {
    /// From now on it can be told which threads can wait.
    #[must_use]
    pub fn reducing(mut self) -> Self {
        let code = &self.code;
        let fields = code.shared.fields.iter().copied().enumerate();
        let open = fields.filter(|(number, field)| code.kept.shared.contains(*number) && field.may_be_unset());
        let kinds = self.kind_of.iter().max().map_or(0, |last| last + 1);
        self.touching = Some(Touching {
            open: open.collect(),
            footprints: Footprints::new(&code.program, code.kept.shared.clone()),
            of_stack: vec![Vec::new(); kinds],
        });
        self.note_stacks();
        self
    }

    /// Finds out what is touched with stacks that are new.
    pub(super) fn note_stacks(&mut self) {
        let Some(mut touching) = self.touching.take() else { return };
        let Touching { footprints, of_stack, .. } = &mut touching;
        for (kind, known) in of_stack.iter_mut().enumerate() {
            let stacks = self.tables.stacks(kind);
            for stack in known.len()..stacks.count() {
                let (top, rest) = stacks.split(stack as u32);
                known.push(match top.is_bottom() {
                    true => footprints.of_nobody(),
                    false => footprints.of_frame(&self.source_frame(top), known[rest as usize].ever),
                });
            }
        }
        self.touching = Some(touching);
    }

    /// The threads to explore at a state.
    pub(super) fn persistent(
        &self,
        row: &[u32],
        mover: ThreadId,
        news: &mut News,
        chosen: &mut Vec<ThreadId>,
    ) -> Choice {
        let head = |thread: ThreadId| {
            let (_, top, _) = self.split(row, thread);
            (!top.is_bottom()).then(|| Head(self.tables.frame(top)[0]))
        };
        let heads = || Threads::of(row).filter_map(|thread| Some((thread, head(thread)?)));
        if heads().any(|(_, head)| head.stage().has_failed()) {
            return Choice::Nobody;
        }
        if heads().any(|(_, head)| self.code.is_uninterrupted(head)) {
            return Choice::Alone;
        }
        let mut enabled: Vec<Option<bool>> = vec![None; row.len() - 1];
        let mut next = Vec::new();
        let mut can_move = |thread: ThreadId| {
            let mut ask = || self.expand(thread, row, &mut next, news, &mut |_, _| {});
            *enabled[thread.index()].get_or_insert_with(&mut ask)
        };
        let mut fewest = usize::MAX;
        for thread in [mover].into_iter().chain(Threads::of(row).filter(|&thread| thread != mover)) {
            if row[thread.field()] == EMPTY || !can_move(thread) {
                continue;
            }
            let mut set = Vec::new();
            self.close(row, thread, &mut set);
            let count = set.iter().filter(|&&thread| can_move(thread)).count();
            if count < fewest && !self.may_be_stuck(row, &set) {
                fewest = count;
                std::mem::swap(chosen, &mut set);
            }
            if fewest == 1 {
                break;
            }
        }
        // Who has ended need not be named.
        let all = heads().all(|(thread, _)| chosen.contains(&thread));
        if fewest == usize::MAX || all { Choice::All } else { Choice::Some }
    }

    /// Whether deadlocks are asked for, and it may be that no thread of a set can move.
    fn may_be_stuck(&self, row: &[u32], set: &[ThreadId]) -> bool {
        let asked = (0..self.properties.len()).any(|property| self.is_deadlock(property));
        asked && {
            let words = |symbol| self.tables.frame(symbol);
            let frames = set.iter().map(|&thread| {
                let (top, below) = self.top_two(thread, row[thread.field()]);
                (!top.is_bottom()).then(|| (words(top), below.map(words)))
            });
            self.is_stuck(self.tables.shared(row[0]), &frames.collect::<Vec<_>>(), &mut Machine::default())
        }
    }

    fn touched(&self, row: &[u32], thread: ThreadId) -> Option<Touched> {
        let touching = self.touching.as_ref()?;
        touching.of_stack[self.kind_of[thread.index()]].get(row[thread.field()] as usize).copied()
    }

    /// Adds a thread to a persistent set, and whoever collides.
    pub(super) fn close(&self, row: &[u32], thread: ThreadId, set: &mut Vec<ThreadId>) {
        let Some(touching) = &self.touching else { return };
        let mut unset = Vec::new();
        let shared = self.tables.shared(row[0]);
        for (number, _) in touching.open.iter().filter(|(_, field)| field.code(shared) == field.unset) {
            unset.resize(unset.len().max(number / 64 + 1), 0);
            unset[number / 64] |= 1 << (number % 64);
        }
        let footprint = |number: u32| -> &Footprint { touching.footprints.get(number) };
        let (mut open, mut others) = (vec![thread], Threads::of(row).collect::<Vec<_>>());
        others.retain(|other| *other != thread && !set.contains(other));
        while let Some(thread) = open.pop() {
            set.push(thread);
            let Some(own) = self.touched(row, thread) else { continue };
            others.retain(|&other| {
                let collides = self
                    .touched(row, other)
                    .is_none_or(|other| footprint(own.next).collides(footprint(other.ever), &unset));
                if collides {
                    open.push(other);
                }
                !collides
            });
        }
        set.sort_unstable();
    }
}
