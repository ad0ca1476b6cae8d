//! The words of a grammar, level by level.
//!
//! The words of a nonterminal at level r follow from its productions. Behind an action, and behind a nonterminal that
//! does not derive the empty word, only level r-1 is needed, which is known already. So the equations of a level depend
//! on each other only through the beginnings of productions; their least solution is found by repeating those whose
//! beginnings have changed. Raising the level keeps all that has been computed.

use std::collections::BTreeSet;

use tepui_core::{Budget, Stop};

use super::grammar::{Grammar, Item};
use super::words::{ANY, NONE, Words};

/// The language of a grammar, as far as it has been computed.
pub(super) struct Language {
    grammar: Grammar,
    words: Words,
    nullable: Vec<bool>,
    /// For each nonterminal those that have it at the beginning of a production.
    begun_by: Vec<Vec<u32>>,
    /// The place of each nonterminal in the order of computation: what others begin with comes first.
    place: Vec<u32>,
    /// The nonterminals in that order.
    order: Vec<u32>,
    /// For each level the set of each nonterminal.
    levels: Vec<Vec<u32>>,
}

impl Language {
    /// The language at level 0.
    pub(super) fn new(grammar: Grammar) -> Self {
        let nullable = grammar.nullable();
        let count = grammar.productions.len();
        let mut begun_by: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (number, productions) in grammar.productions.iter().enumerate() {
            for begin in productions.iter().flat_map(|production| beginnings(&production.items, &nullable)) {
                if begun_by[begin as usize].last() != Some(&(number as u32)) {
                    begun_by[begin as usize].push(number as u32);
                }
            }
        }
        let order = beginnings_first(&begun_by);
        let mut place = vec![0; count];
        (order.iter().zip(0..)).for_each(|(&number, position)| place[number as usize] = position);
        let words = Words::new(grammar.alphabet.len());
        Self { nullable, begun_by, place, order, levels: vec![vec![ANY; count]], words, grammar }
    }

    /// The sets of words.
    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// The grammar.
    pub(super) fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The whole language at a level that has been reached.
    pub(super) fn at(&self, level: u32) -> u32 {
        self.levels[level as usize].first().copied().unwrap_or(NONE)
    }

    /// Computes all levels up to this one.
    pub(super) fn raise(&mut self, level: u32, budget: &mut Budget) -> Result<(), Stop> {
        while self.levels.len() <= level as usize {
            let next = self.next_level(budget)?;
            self.levels.push(next);
        }
        Ok(())
    }

    fn next_level(&mut self, budget: &mut Budget) -> Result<Vec<u32>, Stop> {
        let level = self.levels.len() as u32;
        let mut sets = vec![NONE; self.grammar.productions.len()];
        let mut due: BTreeSet<u32> = (0..sets.len() as u32).collect();
        let mut first = vec![true; sets.len()];
        while let Some(position) = due.pop_first() {
            let number = self.order[position as usize] as usize;
            let mut set = sets[number];
            for production in 0..self.grammar.productions[number].len() {
                let items = &self.grammar.productions[number][production].items;
                // What depends on nothing of this level does not change any more.
                if first[number] || beginnings(items, &self.nullable).next().is_some() {
                    let items = items.clone();
                    let derived = self.derive(&items, level, &sets, budget)?;
                    set = self.words.union(set, derived, budget)?;
                }
            }
            first[number] = false;
            if set != sets[number] {
                sets[number] = set;
                due.extend(self.begun_by[number].iter().map(|&other| self.place[other as usize]));
            }
        }
        Ok(sets)
    }

    /// The words of a series of items at a level, of which `sets` are the sets so far.
    fn derive(&mut self, items: &[Item], level: u32, sets: &[u32], budget: &mut Budget) -> Result<u32, Stop> {
        if level == 0 {
            return Ok(ANY);
        }
        let Some((first, rest)) = items.split_first() else { return Ok(self.words.empty_word()) };
        match *first {
            Item::Letter(letter) => {
                let rest = self.derive(rest, level - 1, sets, budget)?;
                Ok(self.words.after_letter(letter, rest))
            }
            Item::Nonterminal(number) => {
                let own = match level as usize == self.levels.len() {
                    true => sets[number as usize],
                    false => self.levels[level as usize][number as usize],
                };
                if rest.is_empty() || own == NONE {
                    return Ok(own);
                }
                let below = if self.nullable[number as usize] { level } else { level - 1 };
                let rest = self.derive(rest, below, sets, budget)?;
                self.words.join(own, rest, level, budget)
            }
        }
    }
}

/// The nonterminals of a production that are needed at its own level.
fn beginnings<'a>(items: &'a [Item], nullable: &'a [bool]) -> impl Iterator<Item = u32> + 'a {
    let mut over = false;
    items.iter().map_while(move |item| match *item {
        Item::Nonterminal(number) if !over => {
            over = !nullable[number as usize];
            Some(number)
        }
        _ => None,
    })
}

/// An order in which what others begin with comes first, as far as that is possible.
fn beginnings_first(begun_by: &[Vec<u32>]) -> Vec<u32> {
    let mut order = Vec::new();
    let mut seen = vec![false; begun_by.len()];
    for root in 0..begun_by.len() as u32 {
        let mut stack = vec![(root, 0)];
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        while let Some((number, next)) = stack.pop() {
            match begun_by[number as usize].get(next) {
                None => order.push(number),
                Some(&other) => {
                    stack.push((number, next + 1));
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        stack.push((other, 0));
                    }
                }
            }
        }
    }
    order.reverse();
    order
}
