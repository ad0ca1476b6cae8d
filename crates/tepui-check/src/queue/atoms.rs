//! Rows with atoms, in the form in which they are listed: of each class, the first one in a row has the number 0, the next
//! one 1, and so on. States of machines and specs come first, then queues.
//!
//! A program cannot tell how [atoms](tepui_model::queue::atoms) are numbered. So if a step leads to a row, and the same row
//! with other numbers is listed, then whatever the program does from there is what it does from that row, with other numbers.

use std::collections::BTreeMap;

use tepui_cert::queue::Queue;
use tepui_model::queue::atoms::{Atom, atoms, with_numbers};

use super::Checker;
use super::names::with_letters;

impl Checker<'_> {
    /// The row with its atoms numbered in the order in which they occur.
    pub(super) fn with_atoms_in_order(&mut self, mut row: Vec<u32>) -> Option<Vec<u32>> {
        let (queues, mut order): (Vec<_>, Vec<_>) = (0..row.len()).partition(|&place| self.is_queue(&row, place));
        order.extend(queues);
        let mut numbers: BTreeMap<Atom, u32> = BTreeMap::new();
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        for place in order {
            let is_queue = self.is_queue(&row, place);
            let own = self.atoms_of(is_queue, row[place])?;
            for atom in &own {
                numbers.entry(*atom).or_insert_with(|| {
                    let next = next.entry(atom.0).or_insert(0);
                    *next += 1;
                    *next - 1
                });
            }
            if own.iter().any(|atom| numbers[atom] != atom.1) {
                row[place] = self.numbered(is_queue, row[place], &own, &numbers)?;
            }
        }
        Some(row)
    }

    /// The atoms of a state of a machine, or of a queue.
    fn atoms_of(&self, is_queue: bool, number: u32) -> Option<Vec<Atom>> {
        if !is_queue {
            return Some(atoms(&self.certificate.locals.get(number as usize)?.1));
        }
        let letters = &self.certificate.letters;
        let Queue { prefix, marks, counts } = self.certificate.queues.get(number as usize)?;
        let mut counted: Vec<_> = counts.iter().map(|(letter, _)| &letters[*letter as usize]).collect();
        counted.sort_unstable();
        let ordered = prefix.iter().chain(marks.iter().map(|(letter, _)| letter));
        let ordered = ordered.map(|letter| &letters[*letter as usize]);
        Some(ordered.chain(counted).flat_map(atoms).collect())
    }

    /// A state of a machine, or a queue, with other numbers for its atoms.
    fn numbered(&mut self, is_queue: bool, number: u32, own: &[Atom], numbers: &BTreeMap<Atom, u32>) -> Option<u32> {
        let key = (is_queue, number, own.iter().map(|atom| numbers[atom]).collect());
        if let Some(known) = self.numbered.get(&key) {
            return *known;
        }
        let (insertion_order, to) = (self.program.rules.insertion_order, |atom: Atom| numbers[&atom]);
        let found = if is_queue {
            let letters = &self.certificate.letters;
            let letter =
                |letter: u32| self.letters.number(&with_numbers(&letters[letter as usize], &to, insertion_order));
            let queue = self.certificate.queues.get(number as usize)?;
            with_letters(queue, &letter).and_then(|queue| {
                let number = self.queues.number(queue);
                self.queues.listed(number).first().copied()
            })
        } else {
            let (kind, local) = self.certificate.locals.get(number as usize)?;
            self.locals.number(&(*kind, with_numbers(local, &to, insertion_order)))
        };
        self.numbered.insert(key, found);
        found
    }
}
