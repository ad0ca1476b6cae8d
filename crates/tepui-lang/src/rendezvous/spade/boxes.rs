//! From a set of trees to tuples of sets of stacks.
//!
//! Bottom-up over the tree of `par`s, each value that a subtree can have comes with the tuples of values of its leaves
//! that make it so. These are kept as boxes, a set of values for each leaf; two boxes that differ at one leaf only are
//! one box with the union there. Subtrees without a value are left out, since nothing with them in it is bad.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::algebra::{Budget, Exhausted, Value};
use super::recognizer::Recognizer;
use super::terms::{Step, fold};

/// How many boxes there may be at any time.
const MOST_BOXES: usize = 10_000;

/// How many boxes may wait to be merged.
const MOST_WAITING: usize = 10 * MOST_BOXES;

/// For each leaf the number of a set of values.
type Cells = Vec<u32>;

/// The boxes of each value of a subtree.
type Boxes = BTreeMap<Value, Vec<Cells>>;

/// The tuples of values for which a tree is bad, where each leaf can have only the values that it offers.
pub(super) fn bad_boxes(
    shape: &[Step],
    offers: &[BTreeSet<Value>],
    recognizer: &mut Recognizer,
    budget: &mut Budget,
) -> Result<Vec<Vec<BTreeSet<Value>>>, Exhausted> {
    let mut maker = Maker { choices: Choices::default(), recognizer, budget: *budget };
    let leaves: Vec<Boxes> = offers.iter().map(|values| maker.leaf(values)).collect();
    let root = fold(shape, |leaf| Ok(leaves[leaf].clone()), |left, right| maker.join(&left, &right))?;
    let accepted = root.unwrap_or_default().into_iter().filter(|(value, _)| maker.recognizer.algebra.accepts(*value));
    let accepted = accepted.flat_map(|(_, boxes)| boxes).collect();
    let merged = maker.merge(accepted)?;
    *budget = maker.budget;
    let sets = |cells: &Cells| cells.iter().map(|&cell| maker.choices.sets[cell as usize].clone()).collect();
    Ok(merged.iter().map(sets).collect())
}

/// Sets of values, each of them once.
#[derive(Default)]
struct Choices {
    sets: Vec<BTreeSet<Value>>,
    index: FxHashMap<BTreeSet<Value>, u32>,
}

impl Choices {
    fn number(&mut self, set: BTreeSet<Value>) -> u32 {
        let next = self.sets.len() as u32;
        let found = *self.index.entry(set.clone()).or_insert(next);
        if found == next {
            self.sets.push(set);
        }
        found
    }

    fn union(&mut self, one: u32, other: u32) -> u32 {
        let union = self.sets[one as usize].union(&self.sets[other as usize]).copied().collect();
        self.number(union)
    }
}

struct Maker<'r> {
    choices: Choices,
    recognizer: &'r mut Recognizer,
    budget: Budget,
}

impl Maker<'_> {
    fn leaf(&mut self, values: &BTreeSet<Value>) -> Boxes {
        values.iter().map(|&value| (value, vec![vec![self.choices.number([value].into())]])).collect()
    }

    fn join(&mut self, left: &Boxes, right: &Boxes) -> Result<Boxes, Exhausted> {
        let mut joined = Boxes::new();
        let mut waiting = 0;
        for (&one, first) in left {
            let mut row = Boxes::new();
            for (&other, second) in right {
                let Recognizer { algebra, par, .. } = &mut *self.recognizer;
                if let Some(value) = algebra.combine(par, (one, other), &mut self.budget)? {
                    let boxes = self.product(first, second)?;
                    waiting += boxes.len();
                    row.entry(value).or_default().extend(boxes);
                }
            }
            for (value, boxes) in row {
                let before = boxes.len();
                let merged = self.merge(boxes)?;
                waiting -= before - merged.len();
                joined.entry(value).or_default().extend(merged);
            }
            if waiting > MOST_WAITING {
                return Err(Exhausted);
            }
        }
        let mut total = 0;
        for boxes in joined.values_mut() {
            *boxes = self.merge(std::mem::take(boxes))?;
            total += boxes.len();
        }
        if total > MOST_BOXES { Err(Exhausted) } else { Ok(joined) }
    }

    fn product(&mut self, first: &[Cells], second: &[Cells]) -> Result<Vec<Cells>, Exhausted> {
        let width = first.first().map_or(0, Vec::len) + second.first().map_or(0, Vec::len);
        let count = first.len().saturating_mul(second.len());
        self.budget.spend(count.saturating_mul(10 + width))?;
        if count > MOST_WAITING {
            return Err(Exhausted);
        }
        Ok(first.iter().flat_map(|one| second.iter().map(|other| [one.as_slice(), other].concat())).collect())
    }

    /// Merges boxes that differ at one leaf, until there are none.
    fn merge(&mut self, boxes: Vec<Cells>) -> Result<Vec<Cells>, Exhausted> {
        let width = boxes.first().map_or(0, Vec::len);
        self.budget.spend(boxes.len() * width)?;
        let mut boxes: Vec<_> = boxes.into_iter().map(Hashed::new).collect();
        loop {
            let before = boxes.len();
            for leaf in 0..width {
                if boxes.len() > 1 {
                    boxes = self.merge_at(leaf, boxes)?;
                }
            }
            if boxes.len() == before {
                return Ok(boxes.into_iter().map(|one| one.cells).collect());
            }
        }
    }

    /// Merges boxes that differ at a certain leaf only. The order of the first ones is kept.
    fn merge_at(&mut self, leaf: usize, boxes: Vec<Hashed>) -> Result<Vec<Hashed>, Exhausted> {
        self.budget.spend(20 * boxes.len())?;
        let mut place: FxHashMap<u64, usize> = FxHashMap::default();
        let mut merged: Vec<Hashed> = Vec::new();
        for one in boxes {
            let at = *place.entry(one.hash_without(leaf)).or_insert(merged.len());
            let Some(other) = merged.get_mut(at) else {
                merged.push(one);
                continue;
            };
            self.budget.spend(one.cells.len())?;
            if other.differs_only_at(leaf, &one) {
                let union = self.choices.union(other.cells[leaf], one.cells[leaf]);
                other.put(leaf, union);
            } else {
                merged.push(one);
            }
        }
        Ok(merged)
    }
}

/// A box with the sum of the hashes of its cells, from which one cell is easily taken out.
struct Hashed {
    cells: Cells,
    hash: u64,
}

impl Hashed {
    fn new(cells: Cells) -> Self {
        let hash = cells.iter().enumerate().fold(0_u64, |sum, (leaf, &cell)| sum.wrapping_add(hash(leaf, cell)));
        Self { cells, hash }
    }

    fn hash_without(&self, leaf: usize) -> u64 {
        self.hash.wrapping_sub(hash(leaf, self.cells[leaf]))
    }

    fn differs_only_at(&self, leaf: usize, other: &Self) -> bool {
        self.cells[..leaf] == other.cells[..leaf] && self.cells[leaf + 1..] == other.cells[leaf + 1..]
    }

    fn put(&mut self, leaf: usize, cell: u32) {
        self.hash = self.hash_without(leaf).wrapping_add(hash(leaf, cell));
        self.cells[leaf] = cell;
    }
}

/// A hash of a cell at a leaf, mixed well, since hashes are added up; boxes that collide are compared.
fn hash(leaf: usize, cell: u32) -> u64 {
    let mut mixed = ((leaf as u64) << 32 | u64::from(cell)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
