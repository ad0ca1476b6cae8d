//! Sets of words that are exact up to a length and arbitrary from there on, as minimal deterministic automata.
//!
//! At *level* r a language is represented by its words of less than r letters and by the beginnings of r letters of all
//! others, after which anything may follow. A node says whether the empty word is in the set, and gives for each letter
//! the node of what may follow it, one level lower. Equal sets have equal nodes, because nodes are shared and because
//! two of them have one form only: [`NONE`], the empty set, and [`ANY`], all words. At level 0 there are no others: a
//! language is cut to the question whether it has any word.
//!
//! So a node and what it leads to is the minimal automaton of its set, and there is no way to hold a list of words. The
//! operations remember their results, and cost as many steps as there are pairs of nodes that meet.

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;
use tepui_core::{Budget, Stop};

/// The empty set.
pub(super) const NONE: u32 = 0;
/// All words.
pub(super) const ANY: u32 = 1;

/// The nodes of all sets over one alphabet.
pub(super) struct Words {
    letters: usize,
    /// For each node whether the empty word is in it, then what follows each letter.
    rows: Vec<u32>,
    table: HashTable<u32>,
    unions: FxHashMap<(u32, u32), u32>,
    cuts: FxHashMap<(u32, u32), u32>,
    joins: FxHashMap<(u32, u32, u32), u32>,
}

impl Words {
    /// No sets but the two that are always there.
    pub(super) fn new(letters: usize) -> Self {
        let mut rows = vec![NONE; letters + 1];
        rows[0] = 0;
        rows.push(1);
        rows.extend(std::iter::repeat_n(ANY, letters));
        Self {
            letters,
            rows,
            table: HashTable::new(),
            unions: FxHashMap::default(),
            cuts: FxHashMap::default(),
            joins: FxHashMap::default(),
        }
    }

    /// Whether the empty word is in a set.
    pub(super) fn accepts(&self, node: u32) -> bool {
        self.rows[node as usize * (self.letters + 1)] != 0
    }

    /// What may follow a letter.
    pub(super) fn next(&self, node: u32, letter: u32) -> u32 {
        self.row(node)[letter as usize + 1]
    }

    /// How many letters there are.
    pub(super) fn letters(&self) -> u32 {
        self.letters as u32
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len() / (self.letters + 1)
    }

    /// Bytes held, the results of operations included.
    pub(super) fn bytes(&self) -> u64 {
        let remembered = (self.unions.capacity() + self.cuts.capacity()) * 13 + self.joins.capacity() * 17;
        (self.rows.capacity() * 4 + self.table.capacity() * 5 + remembered) as u64
    }

    fn row(&self, node: u32) -> &[u32] {
        &self.rows[node as usize * (self.letters + 1)..][..self.letters + 1]
    }

    /// The set with a row.
    fn intern(&mut self, row: &[u32]) -> u32 {
        if row[0] == 0 && row[1..].iter().all(|&next| next == NONE) {
            return NONE;
        }
        if row[0] != 0 && row[1..].iter().all(|&next| next == ANY) {
            return ANY;
        }
        let (hash, width) = (hash(row), self.letters + 1);
        let rows = &self.rows;
        let same = |&node: &u32| rows[node as usize * width..][..width] == *row;
        if let Some(&node) = self.table.find(hash, same) {
            return node;
        }
        let node = self.len() as u32;
        self.rows.extend_from_slice(row);
        let rows = &self.rows;
        let rehash = |&node: &u32| self::hash(&rows[node as usize * width..][..width]);
        self.table.insert_unique(hash, node, rehash);
        node
    }

    /// The set of the empty word only.
    pub(super) fn empty_word(&mut self) -> u32 {
        let mut row = vec![NONE; self.letters + 1];
        row[0] = 1;
        self.intern(&row)
    }

    /// The words that start with a letter and go on with a set.
    pub(super) fn after_letter(&mut self, letter: u32, rest: u32) -> u32 {
        let mut row = vec![NONE; self.letters + 1];
        row[letter as usize + 1] = rest;
        self.intern(&row)
    }

    /// The words of either set; both have the same level.
    pub(super) fn union(&mut self, one: u32, other: u32, budget: &mut Budget) -> Result<u32, Stop> {
        let (one, other) = (one.min(other), one.max(other));
        match (one, other) {
            (NONE, other) => return Ok(other),
            (ANY, _) => return Ok(ANY),
            _ if one == other => return Ok(one),
            _ => {}
        }
        if let Some(&known) = self.unions.get(&(one, other)) {
            return Ok(known);
        }
        budget.spend(1)?;
        let mut row = vec![u32::from(self.accepts(one) || self.accepts(other))];
        for letter in 0..self.letters as u32 {
            row.push(self.union(self.next(one, letter), self.next(other, letter), budget)?);
        }
        let result = self.intern(&row);
        self.unions.insert((one, other), result);
        Ok(result)
    }

    /// A set of some level at a lower one.
    pub(super) fn cut(&mut self, set: u32, level: u32, budget: &mut Budget) -> Result<u32, Stop> {
        match (set, level) {
            (NONE | ANY, _) => return Ok(set),
            (_, 0) => return Ok(ANY),
            _ => {}
        }
        if let Some(&known) = self.cuts.get(&(set, level)) {
            return Ok(known);
        }
        budget.spend(1)?;
        let mut row = vec![u32::from(self.accepts(set))];
        for letter in 0..self.letters as u32 {
            row.push(self.cut(self.next(set, letter), level - 1, budget)?);
        }
        let result = self.intern(&row);
        self.cuts.insert((set, level), result);
        Ok(result)
    }

    /// A word of a set of this level, followed by a word of another set, which has at least the level that is left then.
    pub(super) fn join(&mut self, first: u32, second: u32, level: u32, budget: &mut Budget) -> Result<u32, Stop> {
        if first == NONE || second == NONE {
            return Ok(NONE);
        }
        if level == 0 {
            return Ok(ANY);
        }
        if let Some(&known) = self.joins.get(&(first, second, level)) {
            return Ok(known);
        }
        budget.spend(1)?;
        let mut row = vec![0];
        for letter in 0..self.letters as u32 {
            row.push(self.join(self.next(first, letter), second, level - 1, budget)?);
        }
        let mut result = self.intern(&row);
        if self.accepts(first) {
            let second = self.cut(second, level, budget)?;
            result = self.union(result, second, budget)?;
        }
        self.joins.insert((first, second, level), result);
        Ok(result)
    }
}

fn hash(row: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    row.iter().for_each(|&number| hasher.write_u32(number));
    hasher.finish()
}
