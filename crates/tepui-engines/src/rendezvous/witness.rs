//! From a word to a run: which rules a thread takes to perform it.
//!
//! The word is parsed with the thread's grammar, and the lightest derivation is chosen, the one with the fewest rules.
//! Facts are "this much of this production derives the part of the word from i to j"; they are found in the order of
//! their weight, so the first time a fact is found its weight is the least. A rule stands at the front of its production,
//! so the rules of a derivation, from left to right, are those of a run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_core::{Budget, Stop};

use super::grammar::{Grammar, Item};

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Fact {
    /// A nonterminal derives a part of the word.
    Whole { nonterminal: u32, from: u32, to: u32 },
    /// The first items of a production do.
    Part { nonterminal: u32, production: u32, items: u32, from: u32, to: u32 },
}

/// Why a fact holds: the part without its last item, and the nonterminal that this item is; or the part that is a whole.
type Why = (Option<Fact>, Option<Fact>);

struct Parser<'a> {
    grammar: &'a Grammar,
    word: &'a [u32],
    heap: BinaryHeap<Reverse<(u64, Fact)>>,
    why: FxHashMap<Fact, (u64, Why)>,
    settled: FxHashSet<Fact>,
    /// Parts that wait for a nonterminal at a position.
    waiting: FxHashMap<(u32, u32), Vec<Fact>>,
    /// Where nonterminals that have been parsed at a position end.
    ends: FxHashMap<(u32, u32), Vec<u32>>,
    expected: FxHashSet<(u32, u32)>,
}

/// The rules of a run that performs a word, given in letters; `None` if there is no such run.
pub(super) fn run(grammar: &Grammar, word: &[u32], budget: &mut Budget) -> Result<Option<Vec<u32>>, Stop> {
    if grammar.productions.is_empty() {
        return Ok(None);
    }
    let mut parser = Parser {
        grammar,
        word,
        heap: BinaryHeap::new(),
        why: FxHashMap::default(),
        settled: FxHashSet::default(),
        waiting: FxHashMap::default(),
        ends: FxHashMap::default(),
        expected: FxHashSet::default(),
    };
    let goal = Fact::Whole { nonterminal: 0, from: 0, to: word.len() as u32 };
    parser.expect(0, 0);
    while let Some(Reverse((weight, fact))) = parser.heap.pop() {
        budget.spend(1)?;
        if !parser.settled.insert(fact) {
            continue;
        }
        if fact == goal {
            return Ok(Some(parser.rules(goal)));
        }
        parser.conclude(weight, fact);
    }
    Ok(None)
}

impl Parser<'_> {
    fn find(&mut self, weight: u64, fact: Fact, why: Why) {
        let known = self.why.get(&fact).is_some_and(|(best, _)| *best <= weight);
        if !known && !self.settled.contains(&fact) {
            self.why.insert(fact, (weight, why));
            self.heap.push(Reverse((weight, fact)));
        }
    }

    fn expect(&mut self, nonterminal: u32, from: u32) {
        if !self.expected.insert((nonterminal, from)) {
            return;
        }
        for production in 0..self.grammar.productions[nonterminal as usize].len() as u32 {
            let rule = self.grammar.productions[nonterminal as usize][production as usize].rule;
            let part = Fact::Part { nonterminal, production, items: 0, from, to: from };
            self.find(u64::from(rule.is_some()), part, (None, None));
        }
    }

    fn conclude(&mut self, weight: u64, fact: Fact) {
        match fact {
            Fact::Whole { nonterminal, from, to } => {
                self.ends.entry((nonterminal, from)).or_default().push(to);
                for part in self.waiting.get(&(nonterminal, from)).cloned().unwrap_or_default() {
                    self.extend(part, Some((weight, fact)), to);
                }
            }
            Fact::Part { nonterminal, production, items, from, to } => {
                let all = &self.grammar.productions[nonterminal as usize][production as usize].items;
                match all.get(items as usize) {
                    None => self.find(weight, Fact::Whole { nonterminal, from, to }, (Some(fact), None)),
                    Some(&Item::Letter(letter)) => {
                        if self.word.get(to as usize) == Some(&letter) {
                            self.extend(fact, None, to + 1);
                        }
                    }
                    Some(&Item::Nonterminal(next)) => {
                        self.waiting.entry((next, to)).or_default().push(fact);
                        for end in self.ends.get(&(next, to)).cloned().unwrap_or_default() {
                            let whole = Fact::Whole { nonterminal: next, from: to, to: end };
                            let (weight, _) = self.why[&whole];
                            self.extend(fact, Some((weight, whole)), end);
                        }
                        self.expect(next, to);
                    }
                }
            }
        }
    }

    /// A part with one more item.
    fn extend(&mut self, part: Fact, item: Option<(u64, Fact)>, end: u32) {
        let Fact::Part { nonterminal, production, items, from, .. } = part else { return };
        let longer = Fact::Part { nonterminal, production, items: items + 1, from, to: end };
        let weight = self.why[&part].0 + item.map_or(0, |(weight, _)| weight);
        self.find(weight, longer, (Some(part), item.map(|(_, fact)| fact)));
    }

    /// The rules of a derivation, from left to right.
    fn rules(&self, goal: Fact) -> Vec<u32> {
        let mut rules = Vec::new();
        let mut work = vec![goal];
        while let Some(fact) = work.pop() {
            // Those that come last are found first: the list is turned around at the end.
            let (_, (before, item)) = &self.why[&fact];
            if let Fact::Part { nonterminal, production, items: 0, .. } = fact {
                rules.extend(self.grammar.productions[nonterminal as usize][production as usize].rule);
            }
            work.extend(before.iter().chain(item));
        }
        rules.reverse();
        rules
    }
}
