//! Which threads of a program can wait while others are explored.
//!
//! What a thread may ever do is what its topmost frame may, and what all frames may that were ever seen to wait for a
//! procedure in threads of its kind: a view does not show which of them lie below. So more becomes known as the search goes on,
//! and sets that were [persistent](crate::persistent) have to be completed.

use super::footprints::{Footprints, Touched};
use super::layout::{Field, Head};
use super::machine::Machine;
use super::system::Programs;
use super::tables::News;
use crate::ids::{ThreadId, Threads};
use crate::persistent::Disturbing;
use crate::pushdown::tree::EMPTY;
use crate::system::{Choice, System};

/// What threads touch, by their stacks.
#[derive(Debug)]
pub(super) struct Touching {
    footprints: Footprints,
    /// For each kind of thread and stack.
    of_stack: Vec<Vec<Touched>>,
    /// For each kind of thread what all frames may do that lie below others.
    below: Vec<u32>,
    /// How often that has grown.
    grown: usize,
    /// The shared variables that may have no value yet.
    open: Vec<(usize, Field)>,
    /// For each footprint a bit for each with which it collides, if all variables have values and there are not very many.
    collisions: Vec<Vec<u64>>,
}

/// The most footprints that are all compared with each other.
const COMPARED: usize = 1 << 11;

impl Touching {
    /// Compares footprints that are new with all.
    fn compare(&mut self) {
        let (known, count) = (self.collisions.len(), self.footprints.count());
        if count > COMPARED {
            self.collisions.clear();
            return;
        }
        self.collisions.resize(count, Vec::new());
        for (one, bits) in self.collisions.iter_mut().enumerate() {
            bits.resize(count.div_ceil(64), 0);
            for other in if one < known { known..count } else { 0..count } {
                let [own, their] = [one, other].map(|number| self.footprints.get(number as u32));
                bits[other / 64] |= u64::from(own.collides(their, &[])) << (other % 64);
            }
        }
    }
}

impl Programs {
    /// From now on it can be told which threads can wait.
    #[must_use]
    pub fn reducing(mut self) -> Self {
        let code = &self.code;
        let fields = code.shared.fields.iter().copied().enumerate();
        let open = fields.filter(|(number, field)| code.kept.shared.contains(*number) && field.may_be_unset());
        let kinds = self.kind_of.iter().max().map_or(0, |last| last + 1);
        let mut footprints = Footprints::new(&code.program, code.kept.shared.clone());
        let nothing = footprints.of_nobody().ever;
        self.touching = Some(Touching {
            open: open.collect(),
            footprints,
            of_stack: vec![Vec::new(); kinds],
            below: vec![nothing; kinds],
            grown: 0,
            collisions: Vec::new(),
        });
        self.note_stacks();
        self
    }

    /// Finds out what is touched with stacks that are new.
    pub(super) fn note_stacks(&mut self) {
        let Some(mut touching) = self.touching.take() else { return };
        let Touching { footprints, of_stack, below, grown, .. } = &mut touching;
        for (kind, known) in of_stack.iter_mut().enumerate() {
            let stacks = self.tables.stacks(kind);
            for stack in known.len()..stacks.count() {
                let (top, rest) = stacks.split(stack as u32);
                if top.is_bottom() {
                    known.push(footprints.of_nobody());
                    continue;
                }
                let lower = known[rest as usize].ever;
                known.push(footprints.of_frame(&self.source_frame(top), lower));
                let more = footprints.joined(below[kind], lower);
                *grown += usize::from(std::mem::replace(&mut below[kind], more) != more);
            }
        }
        touching.compare();
        self.touching = Some(touching);
    }

    /// The threads to explore at a state.
    pub(super) fn persistent(
        &self,
        row: &[u32],
        mover: Option<ThreadId>,
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
        let Some(mover) = mover else { return Choice::All };
        let mut next = Vec::new();
        let can_move = |thread: ThreadId| {
            row[thread.field()] != EMPTY && self.expand(thread, row, &mut next, news, &mut |_, _| {})
        };
        let will_do = |set: &[ThreadId]| !self.may_be_stuck(row, set);
        let found = Disturbances::new(self, row).fewest(mover, can_move, will_do, chosen);
        // Who has ended need not be named.
        let all = heads().all(|(thread, _)| chosen.contains(&thread));
        if !found || all { Choice::All } else { Choice::Some }
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

    /// Adds whoever collides with threads of a set.
    pub(super) fn close(&self, row: &[u32], set: &mut Vec<ThreadId>) {
        Disturbances::new(self, row).close(set, |_| true);
    }

    /// How often more has become known of what threads may ever do.
    pub(super) fn times_grown(&self) -> usize {
        self.touching.as_ref().map_or(0, |touching| touching.grown)
    }
}

/// What threads touch at a state.
struct Disturbances<'a> {
    touching: Option<&'a Touching>,
    /// For each thread; and what lies below its topmost frame may touch.
    touched: Vec<Option<(Touched, u32)>>,
    /// The shared variables that have no value yet.
    unset: Vec<u64>,
}

impl<'a> Disturbances<'a> {
    fn new(system: &'a Programs, row: &[u32]) -> Self {
        let Some(touching) = &system.touching else {
            return Self { touching: None, touched: vec![None; row.len() - 1], unset: Vec::new() };
        };
        let mut unset = Vec::new();
        let shared = system.tables.shared(row[0]);
        for (number, _) in touching.open.iter().filter(|(_, field)| field.code(shared) == field.unset) {
            unset.resize(unset.len().max(number / 64 + 1), 0);
            unset[number / 64] |= 1 << (number % 64);
        }
        let touched = Threads::of(row).map(|thread| {
            let (kind, stack) = (system.kind_of[thread.index()], row[thread.field()]);
            let touched = *touching.of_stack[kind].get(stack as usize)?;
            Some((touched, if stack == EMPTY { touched.ever } else { touching.below[kind] }))
        });
        Self { touching: Some(touching), touched: touched.collect(), unset }
    }
}

impl Disturbing for Disturbances<'_> {
    fn threads(&self) -> usize {
        self.touched.len()
    }

    #[inline]
    fn collides(&self, thread: ThreadId, other: ThreadId) -> bool {
        let (Some(touching), Some((own, below)), Some((other, others_below))) =
            (self.touching, self.touched[thread.index()], self.touched[other.index()])
        else {
            return true;
        };
        let collide = |one: u32, other: u32| match touching.collisions.get(one as usize) {
            Some(known) if self.unset.is_empty() => known[other as usize / 64] >> (other % 64) & 1 == 1,
            _ => touching.footprints.get(one).collides(touching.footprints.get(other), &self.unset),
        };
        // What it does next may be all that it ever does.
        collide(own.next, other.ever)
            || touching.grown > 0
                && (collide(own.next, others_below)
                    || own.next == own.ever && (collide(below, other.ever) || collide(below, others_below)))
    }
}
