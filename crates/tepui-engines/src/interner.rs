//! An interner: equal items get equal numbers, in the order in which they are first seen.

use std::borrow::Borrow;
use std::hash::Hash;
use std::ops::Index;

use rustc_hash::FxHashMap;

/// Items with numbers.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    items: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of an item, which is a new one if the item is.
    pub fn intern(&mut self, item: T) -> u32 {
        // Most items are known. They are looked up by reference, because an entry would need a copy of each.
        if let Some(&number) = self.numbers.get(&item) {
            return number;
        }
        let number = self.items.len() as u32;
        self.items.push(item.clone());
        self.numbers.insert(item, number);
        debug_assert_eq!(self.items.len(), self.numbers.len(), "each item has one number");
        number
    }

    /// The number of an item that was interned.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, item: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        self.numbers.get(item).copied()
    }
}

impl<T> Interner<T> {
    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items in the order of their numbers.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items in the order of their numbers, without the numbers.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }
}

impl<T> Index<u32> for Interner<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        &self.items[number as usize]
    }
}
