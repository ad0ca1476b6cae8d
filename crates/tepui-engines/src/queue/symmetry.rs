//! Machines of a kind may change places: of all rows that differ only in that, one is kept.
//!
//! Nobody can tell machines apart by their numbers ([`Program::has_no_numbers`]), so rows that differ by a renaming lead to
//! rows that do. The one that is kept has its machines in the order of what they are without any references, and among those
//! that are alike the least of all.
//!
//! A machine that keeps references in some order pins the others down: a driver with its clients in a tuple. If it never
//! takes an event, it may still be that the order makes no difference to what it does. Such states of machines are told
//! apart by what they do only: they are *merged*.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::rename::Renaming;
use tepui_model::queue::run::{Choices, Effect, Letter, Local, Waiting};

use super::explorer::Explorer;
use super::summary::{Precision, Queue};
use super::tables::Tables;
use crate::interner::Interner;

/// A search up to symmetry, if that is wanted and helps. Who has waited for how long is forgotten when machines change
/// places, so it does not help to find out whether a spec is hot for ever.
pub(super) fn explorer(
    program: &Arc<Program>,
    errors: &[Error],
    precision: Vec<Precision>,
    longest: usize,
    wanted: bool,
) -> Explorer {
    let explorer = Explorer::new(Arc::clone(program), precision, longest);
    if wanted && !errors.contains(&Error::HotForEver) { explorer.up_to_symmetry() } else { explorer }
}

/// The most renamings that are tried for one row. The checker has the same limit.
const MOST_RENAMINGS: usize = 120;

/// The most states of a machine that are looked at to tell two of them apart.
const MOST_MERGED: usize = 200;

/// Not worked out yet.
const OPEN: u32 = u32::MAX;

/// What is known of renamings.
#[derive(Default)]
pub(super) struct Symmetry {
    renamings: Interner<Box<[u32]>>,
    /// For each renaming the states of machines and the queues with the new numbers.
    locals: Vec<Vec<u32>>,
    queues: Vec<Vec<u32>>,
    letters: FxHashMap<(u32, u32), u32>,
    /// States of machines and queues without any references.
    local_shapes: Shapes<(u32, Local)>,
    letter_shapes: Shapes<Letter>,
    queue_shapes: Shapes<QueueShape>,
    /// What a machine in a place is merged with, if it never takes anything.
    merged: Vec<Vec<u32>>,
    /// For each place, shape and first step those that are told apart.
    apart: FxHashMap<(u32, u32, FirstStep), Vec<u32>>,
    work: Work,
    /// Whether a row was replaced by another one.
    pub(super) acted: bool,
}

/// What is put together for a row.
#[derive(Default)]
struct Work {
    /// Machines in the order of their kinds: the places that there are.
    places: Vec<(u32, u32)>,
    /// The same in the order of their keys.
    sorted: Vec<(Key, u32)>,
    /// For each machine its new place.
    to: Vec<u32>,
    next: Vec<u32>,
    best: Vec<u32>,
}

/// The letters at the head, the marks, and the letters that are counted.
type QueueShape = (Vec<u32>, Vec<(u32, bool)>, Vec<(u32, u8)>);

/// Numbers of things without references.
struct Shapes<T> {
    shapes: Interner<T>,
    of: Vec<u32>,
}

impl<T> Default for Shapes<T> {
    fn default() -> Self {
        Self { shapes: Interner::default(), of: Vec::new() }
    }
}

fn slot(list: &mut Vec<u32>, number: u32) -> &mut u32 {
    if list.len() <= number as usize {
        list.resize(number as usize + 1, OPEN);
    }
    &mut list[number as usize]
}

/// What is one machine's in a row: its kind, its shape, and that of its queue.
type Key = (u32, u32, u32);

impl Symmetry {
    /// Replaces a row by the one that is kept.
    pub(super) fn reduce(&mut self, tables: &mut Tables, queues: &mut Interner<Queue>, row: &mut Vec<u32>) {
        let machines = (row.len() - tables.program().specs.len()) / 2;
        let mut work = std::mem::take(&mut self.work);
        work.places.clear();
        work.places.extend((0..machines).map(|machine| (tables.local_of(row[2 * machine]).0, machine as u32)));
        work.places.sort_unstable();
        if work.places.windows(2).any(|two| two[0].0 == two[1].0) {
            work.sorted.clear();
            for &(kind, machine) in &work.places {
                let (local, queue) = (row[2 * machine as usize], row[2 * machine as usize + 1]);
                let key = (kind, self.local_shape(tables, local), self.queue_shape(tables, queues, queue));
                work.sorted.push((key, machine));
            }
            work.sorted.sort_unstable();
            work.best.clear();
            self.permute(tables, queues, row, &mut work, 0);
            if !work.best.is_empty() && work.best != *row {
                self.acted = true;
                row.clone_from(&work.best);
            }
        }
        self.work = work;
    }

    /// Tries all orders of machines with the same key, from a place on. Too many are not tried at all.
    fn permute(
        &mut self,
        tables: &mut Tables,
        queues: &mut Interner<Queue>,
        row: &[u32],
        work: &mut Work,
        from: usize,
    ) {
        if from == 0 && orders(&work.sorted) > MOST_RENAMINGS {
            return;
        }
        let end = from + work.sorted[from..].iter().take_while(|(key, _)| *key == work.sorted[from].0).count();
        if end <= from + 1 {
            let next = work.sorted[from..].windows(2).position(|two| two[0].0 == two[1].0);
            return match next {
                Some(next) => self.permute(tables, queues, row, work, from + next),
                None => self.rename(tables, queues, row, work),
            };
        }
        for other in from..end {
            work.sorted.swap(from, other);
            self.permute(tables, queues, row, work, from + 1);
            work.sorted.swap(from, other);
        }
    }

    /// Tries one order.
    fn rename(&mut self, tables: &mut Tables, queues: &mut Interner<Queue>, row: &[u32], work: &mut Work) {
        let Work { places, sorted, to, next, best } = work;
        to.clear();
        to.resize(sorted.len(), 0);
        for ((_, machine), (_, place)) in sorted.iter().zip(&*places) {
            to[*machine as usize] = *place;
        }
        let renaming = self.renamings.get(to.as_slice()).unwrap_or_else(|| self.renamings.intern(to.as_slice().into()));
        next.clear();
        next.extend_from_slice(row);
        for (machine, &place) in to.iter().enumerate() {
            let local = self.local(tables, row[2 * machine], to, renaming);
            next[2 * place as usize] = self.merge(tables, place, local);
            next[2 * place as usize + 1] = self.queue(tables, queues, row[2 * machine + 1], to, renaming);
        }
        for spec in 2 * to.len()..row.len() {
            next[spec] = self.local(tables, row[spec], to, renaming);
        }
        if best.is_empty() || *next < *best {
            std::mem::swap(next, best);
        }
    }

    fn local(&mut self, tables: &mut Tables, local: u32, to: &[u32], renaming: u32) -> u32 {
        if self.locals.len() <= renaming as usize {
            self.locals.resize_with(renaming as usize + 1, Vec::new);
        }
        let known = slot(&mut self.locals[renaming as usize], local);
        if *known == OPEN {
            let (kind, own) = tables.local_of(local);
            let (kind, own) = (*kind, renaming_of(tables, to).local(own));
            *known = tables.local(kind, own);
        }
        *known
    }

    fn letter(&mut self, tables: &mut Tables, letter: u32, to: &[u32], renaming: u32) -> u32 {
        *self.letters.entry((renaming, letter)).or_insert_with(|| {
            let renamed = renaming_of(tables, to).letter(tables.letter_of(letter));
            tables.letter(&renamed)
        })
    }

    fn queue(
        &mut self,
        tables: &mut Tables,
        queues: &mut Interner<Queue>,
        queue: u32,
        to: &[u32],
        renaming: u32,
    ) -> u32 {
        if self.queues.len() <= renaming as usize {
            self.queues.resize_with(renaming as usize + 1, Vec::new);
        }
        let known = *slot(&mut self.queues[renaming as usize], queue);
        if known != OPEN {
            return known;
        }
        let own = queues[queue].clone();
        let renamed = queues.intern(mapped(&own, &mut |letter| self.letter(tables, letter, to, renaming)));
        *slot(&mut self.queues[renaming as usize], queue) = renamed;
        renamed
    }

    fn local_shape(&mut self, tables: &Tables, local: u32) -> u32 {
        let Shapes { shapes, of } = &mut self.local_shapes;
        let known = slot(of, local);
        if *known == OPEN {
            let (kind, own) = tables.local_of(local);
            *known = shapes.intern((*kind, without_references(tables).local(own)));
        }
        *known
    }

    fn letter_shape(&mut self, tables: &Tables, letter: u32) -> u32 {
        let Shapes { shapes, of } = &mut self.letter_shapes;
        let known = slot(of, letter);
        if *known == OPEN {
            *known = shapes.intern(without_references(tables).letter(tables.letter_of(letter)));
        }
        *known
    }

    fn queue_shape(&mut self, tables: &Tables, queues: &Interner<Queue>, queue: u32) -> u32 {
        let known = *slot(&mut self.queue_shapes.of, queue);
        if known != OPEN {
            return known;
        }
        let own = &queues[queue];
        let prefix = own.prefix.iter().map(|letter| self.letter_shape(tables, *letter)).collect();
        let marks = own.marks.iter().map(|(letter, last)| (self.letter_shape(tables, *letter), *last)).collect();
        let counts = own.counts.iter().map(|(letter, count)| (self.letter_shape(tables, *letter), *count));
        let mut counts: Vec<_> = counts.collect();
        counts.sort_unstable();
        let shape = self.queue_shapes.shapes.intern((prefix, marks, counts));
        *slot(&mut self.queue_shapes.of, queue) = shape;
        shape
    }

    /// The state that a machine in a place is merged with.
    fn merge(&mut self, tables: &Tables, place: u32, local: u32) -> u32 {
        let rest = tables.rest(local);
        if rest.takes || rest.halted {
            return local;
        }
        if self.merged.len() <= place as usize {
            self.merged.resize_with(place as usize + 1, Vec::new);
        }
        let known = *slot(&mut self.merged[place as usize], local);
        if known != OPEN {
            return known;
        }
        let mut same = local;
        if let Some(first) = first_step(tables, place, local) {
            let shape = self.local_shape(tables, local);
            let apart = self.apart.entry((place, shape, first)).or_default();
            match apart.iter().copied().find(|&other| acts_like(tables, place, local, other)) {
                Some(other) => same = other,
                None => apart.push(local),
            }
        }
        *slot(&mut self.merged[place as usize], local) = same;
        same
    }
}

fn renaming_of<'r>(tables: &Tables, to: &'r [u32]) -> Renaming<'r> {
    Renaming { to, insertion_order: tables.program().rules.insertion_order }
}

/// All machines get the same number.
fn without_references(tables: &Tables) -> Renaming<'static> {
    renaming_of(tables, &[u32::MAX; 256])
}

/// A queue with other letters.
fn mapped(queue: &Queue, letter: &mut dyn FnMut(u32) -> u32) -> Queue {
    Queue {
        prefix: queue.prefix.iter().map(|own| letter(*own)).collect(),
        marks: queue.marks.iter().map(|(own, last)| (letter(*own), *last)).collect(),
        counts: queue.counts.iter().map(|(own, count)| (letter(*own), *count)).collect(),
    }
}

/// How many orders there are of machines with the same key.
fn orders(sorted: &[(Key, u32)]) -> usize {
    let ties = sorted.chunk_by(|one, two| one.0 == two.0).flat_map(|tie| 1..=tie.len());
    ties.fold(1, |all: usize, next| all.saturating_mul(next))
}

/// What specs are told, what happens then, and the number of the state that comes next.
type Does = ((Vec<Letter>, What), Option<usize>);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum What {
    Rests,
    Sends(u32, Letter),
    Fails(Error),
    Stops,
}

/// What a machine may do first.
type FirstStep = BTreeSet<(Vec<Letter>, What)>;

/// What a machine does first in a state, if it never takes anything.
fn first_step(tables: &Tables, place: u32, local: u32) -> Option<FirstStep> {
    let (kind, own) = tables.local_of(local);
    let (mut states, mut first, mut known) = (vec![own.clone()], None, 0);
    while known < states.len() {
        let own = states[known].clone();
        let ways = does(tables.program(), *kind as usize, place, &own, &mut states)?;
        first = first.or_else(|| Some(ways.into_iter().map(|(what, _)| what).collect()));
        known += 1;
    }
    first
}

/// Whether a machine that never takes anything does the same in two states, whatever is chosen.
fn acts_like(tables: &Tables, place: u32, one: u32, two: u32) -> bool {
    let (kind, program) = (tables.local_of(one).0 as usize, tables.program());
    let mut states = vec![tables.local_of(one).1.clone(), tables.local_of(two).1.clone()];
    let mut ways = Vec::new();
    while ways.len() < states.len() {
        let own = states[ways.len()].clone();
        let Some(own) = does(program, kind, place, &own, &mut states) else { return false };
        ways.push(own);
    }
    // All are alike until something tells them apart.
    let mut classes = vec![0; states.len()];
    loop {
        let mut signatures = Interner::default();
        let mut next = Vec::new();
        for (own, class) in ways.iter().zip(&classes) {
            let mut does: Vec<_> = own.iter().map(|(what, to)| (what, to.map(|to| classes[to]))).collect();
            does.sort_unstable();
            does.dedup();
            next.push(signatures.intern((*class, does)));
        }
        if next == classes {
            return classes[0] == classes[1];
        }
        classes = next;
    }
}

/// What a machine does in a state; nothing, if it may take something there, create a machine, or do what cannot be said.
fn does(program: &Program, kind: usize, place: u32, local: &Local, states: &mut Vec<Local>) -> Option<Vec<Does>> {
    if local.waiting(program) != Waiting::Busy {
        return None;
    }
    let (mut choices, mut ways) = (Choices::default(), Vec::new());
    loop {
        let outcome = program.step(kind, place, local, None, &mut choices);
        let what = match outcome.effect {
            Effect::Rests => What::Rests,
            Effect::Sends(target, letter) => What::Sends(target, letter),
            Effect::Fails(error, _) => What::Fails(error),
            Effect::Pruned | Effect::Repeats => What::Stops,
            _ => return None,
        };
        let next = matches!(what, What::Rests | What::Sends(..)).then(|| {
            states.iter().position(|other| *other == outcome.local).unwrap_or_else(|| {
                states.push(outcome.local);
                states.len() - 1
            })
        });
        ways.push(((outcome.told, what), next));
        if states.len() > MOST_MERGED || ways.len() > MOST_MERGED {
            return None;
        }
        if !choices.advance() {
            return Some(ways);
        }
    }
}
