//! Rows with atoms, in the form in which they are listed: of each class, the first one in a row has the number 0, the next
//! one 1, and so on. States of machines and specs come first, then queues.
//!
//! A program cannot tell how [atoms](tepui_model::queue::atoms) are numbered. So if a step leads to a row, and the same row
//! with other numbers is listed, then whatever the program does from there is what it does from that row, with other numbers.

use std::rc::Rc;

use tepui_cert::queue::Queue;
use tepui_model::queue::atoms::{Atom, atoms, with_numbers};

use super::Checker;
use super::names::with_letters;

/// For each atom its new number. There are few.
type Numbers = Vec<(Atom, u32)>;

fn number_of(numbers: &Numbers, atom: Atom) -> u32 {
    numbers.iter().find(|(known, _)| *known == atom).map_or(atom.1, |(_, number)| *number)
}

impl Checker<'_> {
    /// The row with its atoms numbered in the order in which they occur.
    pub(super) fn with_atoms_in_order(&mut self, mut row: Vec<u32>) -> Option<Vec<u32>> {
        let (queues, mut order): (Vec<_>, Vec<_>) = (0..row.len()).partition(|&place| self.is_queue(&row, place));
        order.extend(queues);
        let mut numbers = Numbers::new();
        for place in order {
            let is_queue = self.is_queue(&row, place);
            let own = self.atoms_of(is_queue, row[place])?;
            for atom in &*own {
                if numbers.iter().all(|(known, _)| known != atom) {
                    let next = numbers.iter().filter(|((class, _), _)| *class == atom.0).count();
                    numbers.push((*atom, next as u32));
                }
            }
            if own.iter().any(|atom| number_of(&numbers, *atom) != atom.1) {
                row[place] = self.numbered(is_queue, row[place], &own, &numbers)?;
            }
        }
        Some(row)
    }

    /// The atoms of a state of a machine, or of a queue.
    fn atoms_of(&mut self, is_queue: bool, number: u32) -> Option<Rc<[Atom]>> {
        if let Some(known) = self.atoms.get(&(is_queue, number)) {
            return Some(Rc::clone(known));
        }
        let found: Rc<[Atom]> = if is_queue {
            let letters = &self.certificate.letters;
            let Queue { prefix, marks, counts } = self.certificate.queues.get(number as usize)?;
            let mut counted: Vec<_> = counts.iter().map(|(letter, _)| &letters[*letter as usize]).collect();
            counted.sort_unstable();
            let ordered = prefix.iter().chain(marks.iter().map(|(letter, _)| letter));
            let ordered = ordered.map(|letter| &letters[*letter as usize]);
            ordered.chain(counted).flat_map(atoms).collect()
        } else {
            atoms(&self.certificate.locals.get(number as usize)?.1).into()
        };
        self.atoms.insert((is_queue, number), Rc::clone(&found));
        Some(found)
    }

    /// A state of a machine, or a queue, with other numbers for its atoms.
    fn numbered(&mut self, is_queue: bool, number: u32, own: &[Atom], numbers: &Numbers) -> Option<u32> {
        let key = (is_queue, number, own.iter().map(|atom| number_of(numbers, *atom)).collect());
        if let Some(known) = self.numbered.get(&key) {
            return *known;
        }
        let (insertion_order, to) = (self.program.rules.insertion_order, |atom: Atom| number_of(numbers, atom));
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
