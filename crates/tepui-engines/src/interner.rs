//! An interner: equal items get equal numbers, in the order in which they are first seen.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::ops::Index;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

/// Items with numbers. Each is stored once; the table has their numbers only.
#[derive(Clone, Debug)]
pub struct Interner<T> {
    items: Vec<T>,
    numbers: HashTable<u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { items: Vec::new(), numbers: HashTable::new() }
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The number of an item, which is a new one if the item is.
    pub fn intern(&mut self, item: T) -> u32 {
        let Self { items, numbers } = self;
        let hash = |item: &T| FxBuildHasher.hash_one(item);
        let known = |number: &u32| items[*number as usize] == item;
        let entry = numbers.entry(hash(&item), known, |&number| hash(&items[number as usize]));
        let number = *entry.or_insert(items.len() as u32).get();
        if number as usize == items.len() {
            items.push(item);
        }
        debug_assert_eq!(items.len(), numbers.len(), "each item has one number");
        number
    }

    /// The number of an item that was interned.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, item: &Q) -> Option<u32>
    where
        T: Borrow<Q>,
    {
        let known = |number: &u32| self.items[*number as usize].borrow() == item;
        self.numbers.find(FxBuildHasher.hash_one(item), known).copied()
    }
}

impl<T> Interner<T> {
    /// No items yet, and room for so many.
    pub fn with_capacity(items: usize) -> Self {
        Self { items: Vec::with_capacity(items), numbers: HashTable::with_capacity(items) }
    }

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
