//! Atoms: of all rows that differ only in how they are numbered, one is kept.
//!
//! A program cannot tell how [atoms](tepui_model::queue::atoms) are numbered, so the first one of a class in a row gets the
//! number 0, the next one 1, and so on: first those of machines and specs, then those in queues. In a queue whose letters
//! have no order they are looked at in the order of their contents. So there may be several rows where one would do, but
//! never one too few.

use rustc_hash::FxHashMap;
use tepui_model::Digest;
use tepui_model::queue::atoms::{Atom, Place, atoms, with_numbers};

use super::summary::Queue;
use super::tables::Tables;
use crate::interner::Interner;

/// What is known of the atoms in states of machines and in queues.
pub(super) struct Atoms {
    /// Where they are chosen.
    pub(super) places: Vec<Place>,
    /// The program in which numbers are chosen there.
    pub(super) program: Digest,
    of: FxHashMap<(bool, u32), Vec<Atom>>,
    numbered: FxHashMap<(bool, u32, Vec<u32>), u32>,
}

impl Atoms {
    pub(super) fn new(places: Vec<Place>, program: Digest) -> Self {
        Self { places, program, of: FxHashMap::default(), numbered: FxHashMap::default() }
    }

    /// The same for another search.
    pub(super) fn again(self) -> Self {
        Self::new(self.places, self.program)
    }

    /// Replaces a row by the one that is kept.
    pub(super) fn reduce(&mut self, tables: &mut Tables, queues: &mut Interner<Queue>, row: &mut [u32]) {
        let machines = row.len() - tables.program().specs.len();
        let is_queue = |place: &usize| *place < machines && place % 2 == 1;
        let order = (0..row.len()).filter(|place| !is_queue(place)).chain((0..row.len()).filter(is_queue));
        // For each atom its new number.
        let mut numbers: Vec<(Atom, u32)> = Vec::new();
        for place in order {
            let key = (is_queue(&place), row[place]);
            let own = self.of.entry(key).or_insert_with(|| match key {
                (true, queue) => in_queue(tables, &queues[queue]),
                (false, local) => atoms(&tables.local_of(local).1),
            });
            if own.is_empty() {
                continue;
            }
            let mut to = Vec::with_capacity(own.len());
            for &atom in &*own {
                let known = numbers.iter().find(|(other, _)| *other == atom).map(|(_, number)| *number);
                to.push(known.unwrap_or_else(|| {
                    let number = numbers.iter().filter(|((class, _), _)| *class == atom.0).count() as u32;
                    numbers.push((atom, number));
                    number
                }));
            }
            if own.iter().zip(&to).any(|((_, old), new)| old != new) {
                row[place] = self.numbered(tables, queues, key, to, &numbers);
            }
        }
    }

    fn numbered(
        &mut self,
        tables: &mut Tables,
        queues: &mut Interner<Queue>,
        (is_queue, number): (bool, u32),
        to: Vec<u32>,
        numbers: &[(Atom, u32)],
    ) -> u32 {
        let key = (is_queue, number, to);
        if let Some(known) = self.numbered.get(&key) {
            return *known;
        }
        let insertion_order = tables.program().rules.insertion_order;
        let new = |atom: Atom| numbers.iter().find(|(other, _)| *other == atom).map_or(atom.1, |(_, number)| *number);
        let found = if is_queue {
            let mut letter = |number: u32| {
                let letter = with_numbers(tables.letter_of(number), &new, insertion_order);
                tables.letter(&letter)
            };
            let renumbered = queues[number].with_letters(&mut letter);
            queues.intern(renumbered)
        } else {
            let (kind, local) = tables.local_of(number);
            let (kind, local) = (*kind, with_numbers(local, &new, insertion_order));
            tables.local(kind, local)
        };
        self.numbered.insert(key, found);
        found
    }
}

fn in_queue(tables: &Tables, queue: &Queue) -> Vec<Atom> {
    let mut counted: Vec<_> = queue.counts.keys().map(|letter| tables.letter_of(*letter)).collect();
    counted.sort_unstable();
    let ordered = queue.prefix.iter().chain(queue.marks.iter().map(|(letter, _)| letter));
    ordered.map(|letter| tables.letter_of(*letter)).chain(counted).flat_map(atoms).collect()
}
