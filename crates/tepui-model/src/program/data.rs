//! Elements of arrays and conditions, and the places that values are stored in.

use super::intervals::Interval;
use super::step::Few;
use super::{Expression, Kind, Slot};

/// An element or a field of one, where an index is not a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// The variable that it is if all indices are 0.
    pub first: Slot,
    /// What values it takes.
    pub kind: Kind,
    /// The indices that are not constants.
    pub indices: Vec<Index>,
    /// How it is written: what stands before, between and after the indices.
    pub text: Vec<String>,
}

/// A condition that is mentioned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The number that it has if all indices are 0.
    pub first: u32,
    /// The indices that are not constants.
    pub indices: Vec<Index>,
    /// How it is written: what stands before, between and after the indices.
    pub text: Vec<String>,
}

/// An index that is not a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Index {
    /// Its value.
    pub value: Expression,
    /// From 0 it must be below this.
    pub count: u32,
    /// How far it is from one element to the next.
    pub stride: usize,
}

/// Where a value goes, if anywhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// Nowhere.
    Nowhere,
    /// To a variable.
    Variable(Slot),
    /// To an element.
    Element(Box<Element>),
}

impl Slot {
    /// The variable that comes so many after this one.
    #[must_use]
    pub fn after(self, distance: usize) -> Self {
        match self {
            Self::Shared(number) => Self::Shared(number + distance),
            Self::Local(number) => Self::Local(number + distance),
        }
    }
}

/// All sums that indices may give whose values lie between bounds.
fn distances(indices: &[Index], bounds: &dyn Fn(&Index) -> Interval) -> Vec<usize> {
    let mut found = vec![0];
    for index in indices {
        let (low, high) = bounds(index);
        let numbers = low.max(0)..=high.min(i64::from(index.count) - 1);
        let each = |&start: &usize| numbers.clone().map(move |number| start + number as usize * index.stride);
        found = found.iter().flat_map(each).collect();
    }
    found
}

/// Bounds of an index of which nothing is known.
fn anywhere(index: &Index) -> Interval {
    (0, i64::from(index.count))
}

impl Element {
    /// All variables that it may be.
    pub fn slots(&self) -> Vec<Slot> {
        self.slots_within(&anywhere)
    }

    /// The same where indices have bounds.
    pub fn slots_within(&self, bounds: &dyn Fn(&Index) -> Interval) -> Vec<Slot> {
        distances(&self.indices, bounds).into_iter().map(|distance| self.first.after(distance)).collect()
    }
}

impl Condition {
    /// The numbers of all conditions that it may be where indices have bounds.
    pub fn numbers_within(&self, bounds: &dyn Fn(&Index) -> Interval) -> Vec<u32> {
        distances(&self.indices, bounds).into_iter().map(|distance| self.first + distance as u32).collect()
    }
}

impl Place {
    /// All variables that it may be.
    pub fn slots(&self) -> Few<Slot> {
        match self {
            Self::Nowhere => Few::new(),
            Self::Variable(slot) => Few::from_elem(*slot, 1),
            Self::Element(element) => element.slots().into(),
        }
    }

    /// Calls back for each index that is not a constant.
    pub fn indices<'a>(&'a self, found: &mut dyn FnMut(&'a Expression)) {
        if let Self::Element(element) = self {
            element.indices.iter().for_each(|index| found(&index.value));
        }
    }

    /// Whether a value goes anywhere.
    pub fn is_somewhere(&self) -> bool {
        *self != Self::Nowhere
    }
}

impl Kind {
    /// The number that the code 0 stands for.
    pub fn lowest(self) -> i64 {
        if let Self::Range(low, _) = self { i64::from(low) } else { 0 }
    }
}
