//! Which listed item stands for a value, a letter or a state of a machine.
//!
//! A forgotten value stands for every value. So an item that is listed covers another one if they are equal wherever the
//! listed one knows something. Items of the same shape usually forget the same things: they are found by forgetting these
//! in what is looked for.

use std::collections::HashMap;
use std::hash::Hash;

use tepui_model::queue::Value;
use tepui_model::queue::run::{Letter, Local, Task};

/// Something made of values.
pub(super) trait Valued: Clone + Eq + Hash {
    /// Its values, one after the other.
    fn values(&mut self, each: &mut dyn FnMut(&mut Value));
}

impl Valued for Letter {
    fn values(&mut self, each: &mut dyn FnMut(&mut Value)) {
        each(&mut self.payload);
    }
}

impl Valued for (u32, Local) {
    fn values(&mut self, each: &mut dyn FnMut(&mut Value)) {
        let local = &mut self.1;
        local.variables.iter_mut().for_each(&mut *each);
        local.frames.iter_mut().flat_map(|frame| &mut frame.slots).for_each(&mut *each);
        for task in &mut local.agenda {
            match task {
                Task::Entry(payload) | Task::Run(_, payload) => each(payload),
                Task::Handle(letter) => each(&mut letter.payload),
                Task::Exit | Task::Leave | Task::Enter(_) | Task::Below => {}
            }
        }
        if let Some((_, letter)) = &mut local.pending {
            each(&mut letter.payload);
        }
    }
}

/// A table of items.
pub(super) struct Listed<T> {
    numbers: HashMap<T, u32>,
    /// For each shape which values are forgotten, in the ways that occur.
    forgotten: HashMap<T, Vec<Vec<bool>>>,
}

impl<T: Valued> Listed<T> {
    /// Of all items; none, if one occurs twice.
    pub(super) fn new(items: &[T]) -> Option<Self> {
        let (mut numbers, mut forgotten) = (HashMap::new(), HashMap::<T, Vec<Vec<bool>>>::new());
        for (number, item) in items.iter().enumerate() {
            if numbers.insert(item.clone(), number as u32).is_some() {
                return None;
            }
            let (mut shape, mut pattern) = (item.clone(), Vec::new());
            shape.values(&mut |value| {
                pattern.push(*value == Value::Forgotten);
                *value = Value::Null;
            });
            let patterns = forgotten.entry(shape).or_default();
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        Some(Self { numbers, forgotten })
    }

    /// The items that cover another one.
    pub(super) fn covering(&self, item: &T) -> Vec<u32> {
        let mut shape = item.clone();
        shape.values(&mut |value| *value = Value::Null);
        let patterns = self.forgotten.get(&shape).into_iter().flatten();
        let with = |pattern: &Vec<bool>| {
            let (mut item, mut place) = (item.clone(), 0);
            item.values(&mut |value| {
                if pattern[place] {
                    *value = Value::Forgotten;
                }
                place += 1;
            });
            self.numbers.get(&item).copied()
        };
        patterns.filter_map(with).collect()
    }
}
