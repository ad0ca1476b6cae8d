//! Queues with numbers. Those of the certificate come first; what becomes of them may be another one, with a higher number.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use tepui_cert::queue::{Certificate, Precision, Queue};

use super::summary;

/// Queues, and what is known of them.
pub(super) struct Queues {
    items: Vec<Queue>,
    numbers: FxHashMap<Queue, u32>,
    listed: u32,
    /// By a machine's state and its queue.
    taken: FxHashMap<(u32, u32), Taken>,
    /// By the kind of the machine, its queue and the letter.
    longer: FxHashMap<(u32, u32, u32), u32>,
}

/// Letters that may be taken, each with the queue that is left.
pub(super) type Taken = Rc<[(u32, u32)]>;

impl Queues {
    /// Of a certificate.
    pub(super) fn new(certificate: &Certificate) -> Self {
        let (items, numbers) = (certificate.queues.clone(), certificate.queues.iter().cloned().zip(0..).collect());
        let listed = items.len() as u32;
        Self { items, numbers, listed, taken: FxHashMap::default(), longer: FxHashMap::default() }
    }

    pub(super) fn number(&mut self, queue: Queue) -> u32 {
        let Self { items, numbers, .. } = self;
        *numbers.entry(queue).or_insert_with_key(|queue| {
            items.push(queue.clone());
            items.len() as u32 - 1
        })
    }

    pub(super) fn get(&self, number: u32) -> Option<&Queue> {
        self.items.get(number as usize)
    }

    /// A queue that a row may have.
    pub(super) fn listed(&self, number: u32) -> Vec<u32> {
        if number < self.listed { vec![number] } else { Vec::new() }
    }

    /// What a machine in a state may take.
    pub(super) fn take(
        &mut self,
        (local, queue): (u32, u32),
        precision: &Precision,
        takes: &dyn Fn(u32) -> bool,
    ) -> Option<Taken> {
        if let Some(known) = self.taken.get(&(local, queue)) {
            return Some(Rc::clone(known));
        }
        let taken = summary::take(precision, self.get(queue)?, takes).into_iter();
        let taken: Taken = taken.map(|(letter, left)| (letter, self.number(left))).collect();
        self.taken.insert((local, queue), Rc::clone(&taken));
        Some(taken)
    }

    /// A queue with a letter more.
    pub(super) fn push(&mut self, kind: u32, precision: &Precision, queue: u32, letter: u32) -> Option<u32> {
        let key = (kind, queue, letter);
        if let Some(known) = self.longer.get(&key) {
            return Some(*known);
        }
        let longer = summary::push(precision, self.get(queue)?, letter);
        let longer = self.number(longer);
        self.longer.insert(key, longer);
        Some(longer)
    }
}
