//! Which listed item stands for a value, a letter or a state of a machine.
//!
//! A forgotten value stands for every value. So an item that is listed covers another one if they are equal wherever the
//! listed one knows something. Items of the same shape usually forget the same things: they are found by forgetting these
//! in what is looked for. Distances stand for all integers that are so far apart: integers, or distances, at the same places
//! are covered if they are, and the first distance of a listed item is 0.

use std::collections::HashMap;
use std::hash::Hash;

use tepui_model::queue::Value;
use tepui_model::queue::run::{Letter, Local};

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
        self.1.values_mut(each);
    }
}

/// A table of items.
pub(super) struct Listed<T> {
    numbers: HashMap<T, u32>,
    /// For each shape what is known of its values, in the ways that occur.
    patterns: HashMap<T, Vec<Vec<Known>>>,
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    /// All of it.
    All,
    /// How far it is from others.
    Distance,
    /// Nothing.
    Nothing,
}

/// What is left of a value if no more than something is to be known of it. The first one of which the distance is known
/// says what distances are taken from.
fn reduced(value: Value, known: Known, first: &mut Option<Value>) -> Option<Value> {
    let number = match (known, &value) {
        // Where all is known, a distance is too little.
        (Known::All, Value::Distance(_)) => return None,
        (Known::All, _) => return Some(value),
        (Known::Nothing, _) => return Some(Value::Forgotten),
        (Known::Distance, Value::Int(number) | Value::Distance(number)) => *number,
        (Known::Distance, _) => return None,
    };
    match (first.get_or_insert_with(|| value.clone()), &value) {
        (Value::Int(from), Value::Int(_)) | (Value::Distance(from), Value::Distance(_)) => {
            Some(Value::Distance(number.wrapping_sub(*from)))
        }
        _ => None,
    }
}

impl<T: Valued> Listed<T> {
    /// Of all items; none, if one occurs twice.
    pub(super) fn new(items: &[T]) -> Option<Self> {
        let (mut numbers, mut patterns) = (HashMap::new(), HashMap::<T, Vec<Vec<Known>>>::new());
        for (number, item) in items.iter().enumerate() {
            if numbers.insert(item.clone(), number as u32).is_some() {
                return None;
            }
            let (mut shape, mut pattern) = (item.clone(), Vec::new());
            shape.values(&mut |value| {
                pattern.push(match value {
                    Value::Forgotten => Known::Nothing,
                    Value::Distance(_) => Known::Distance,
                    _ => Known::All,
                });
                *value = Value::Null;
            });
            let patterns = patterns.entry(shape).or_default();
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        Some(Self { numbers, patterns })
    }

    /// The number of an item.
    pub(super) fn number(&self, item: &T) -> Option<u32> {
        self.numbers.get(item).copied()
    }

    /// The items that cover another one.
    pub(super) fn covering(&self, item: &T) -> Vec<u32> {
        let least = |pattern: &Vec<Known>| least(item, pattern);
        let items = self.patterns_of(item).iter().filter_map(least);
        items.filter_map(|item| self.numbers.get(&item).copied()).collect()
    }

    fn patterns_of(&self, item: &T) -> &[Vec<Known>] {
        let mut shape = item.clone();
        shape.values(&mut |value| *value = Value::Null);
        self.patterns.get(&shape).map_or(&[], |patterns| patterns)
    }
}

/// What is left of an item if no more is known of its values.
fn least<T: Valued>(item: &T, pattern: &[Known]) -> Option<T> {
    let (mut item, mut known, mut first, mut fits) = (item.clone(), pattern.iter(), None, true);
    item.values(&mut |value| {
        let own = known.next().and_then(|&known| reduced(value.clone(), known, &mut first));
        fits &= own.is_some();
        *value = own.unwrap_or(Value::Forgotten);
    });
    fits.then_some(item)
}
