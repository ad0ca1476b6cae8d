//! Interchangeable threads: which there are, what their permutations are, and lemmas that make use of them.

use std::collections::{BTreeMap, BTreeSet};

use tepui_cert::pushdown::{Lemma, LemmaThread};
use tepui_model::pushdown::{Model, Symbol};

use crate::judge::*;
use crate::proofs::rows;

/// Whether two threads have as many symbols, the same rules, however often and in whatever order, and equal stacks.
pub(crate) fn interchangeable(model: &Model, one: usize, other: usize) -> bool {
    let rules = |thread: usize| -> BTreeSet<_> {
        model.threads()[thread].rules.iter().map(|rule| (rule.from, rule.top, rule.to, rule.action)).collect()
    };
    let symbols = |thread: usize| model.threads()[thread].symbol_count();
    let stack = |thread: usize| &model.init().stacks[thread];
    (symbols(one), rules(one), stack(one)) == (symbols(other), rules(other), stack(other))
}

/// For each thread the first one with which it is interchangeable.
pub(crate) fn largest_groups(model: &Model) -> Vec<usize> {
    let first =
        |thread| (0..=thread).find(|&earlier| interchangeable(model, earlier, thread)).expect("itself at least");
    (0..model.threads().len()).map(first).collect()
}

/// A row with the words of each group in every order.
pub(crate) fn arrangements(leaders: &[usize], row: &[u32]) -> BTreeSet<Vec<u32>> {
    let mut found = BTreeSet::from([row.to_vec()]);
    let mut open = vec![row.to_vec()];
    while let Some(row) = open.pop() {
        for (one, other) in pairs(leaders) {
            let mut swapped = row.clone();
            swapped.swap(one + 1, other + 1);
            if found.insert(swapped.clone()) {
                open.push(swapped);
            }
        }
    }
    found
}

/// All pairs of threads of one group.
pub(crate) fn pairs(leaders: &[usize]) -> Vec<(usize, usize)> {
    let pair = |other: usize| (0..other).map(move |one| (one, other));
    (0..leaders.len()).flat_map(pair).filter(|&(one, other)| leaders[one] == leaders[other]).collect()
}

/// A row with the words of each group in ascending order.
pub(crate) fn sort(leaders: &[usize], row: &[u32]) -> Vec<u32> {
    arrangements(leaders, row).into_iter().next().expect("the row itself at least")
}

/// The groups that a lemma claims, whether they are right or not.
pub(crate) fn claimed_groups(lemma: &Lemma) -> Vec<usize> {
    lemma.threads.iter().enumerate().map(|(thread, part)| part.like.unwrap_or(thread)).collect()
}

impl Claim {
    /// The claim in the form of a certificate.
    pub(crate) fn lemma(&self) -> Lemma {
        self.folded(&(0..self.leaders.len()).collect::<Vec<_>>())
    }

    /// The claim in the form of a certificate with groups. It says more than the claim if the groups are wrong.
    pub(crate) fn folded(&self, leaders: &[usize]) -> Lemma {
        let members = |leader: usize| (0..leaders.len()).filter(move |&thread| leaders[thread] == leader);
        let words = |leader: usize| -> Vec<_> {
            let words = |thread: usize| self.views.iter().map(move |view| view.1[thread].clone());
            members(leader).flat_map(words).collect::<BTreeSet<_>>().into_iter().collect()
        };
        let words: Vec<Vec<Word>> = (0..leaders.len()).map(words).collect();
        let number = |(word, &leader): (&Word, &usize)| {
            words[leader].iter().position(|own| own == word).expect("the word of a view") as u32
        };
        let row = |view: &WordView| -> Vec<u32> {
            [view.0].into_iter().chain(view.1.iter().zip(leaders).map(number)).collect()
        };
        let views: BTreeSet<_> = self.views.iter().map(|view| sort(leaders, &row(view))).collect();
        let part = |thread: usize| match leaders[thread] == thread {
            true => LemmaThread {
                like: None,
                words: words[thread].iter().map(|word| symbols(word)).collect(),
                below: self.below_of(&members(thread).collect::<Vec<_>>()),
            },
            false => LemmaThread { like: Some(leaders[thread]), ..LemmaThread::default() },
        };
        let threads = (0..leaders.len()).map(part).collect();
        Lemma { depth: self.depth as u32, threads, views: rows(leaders.len() + 1, views), explored: Vec::new() }
    }

    /// What lies below the words of some threads.
    fn below_of(&self, members: &[usize]) -> Vec<(Vec<Symbol>, Vec<Symbol>)> {
        let mut listed = BTreeMap::<&Word, BTreeSet<u32>>::new();
        for ((_, word), below) in self.below.iter().filter(|((thread, _), _)| members.contains(thread)) {
            listed.entry(word).or_default().extend(below);
        }
        listed.into_iter().map(|(word, below)| (symbols(word), below.into_iter().map(Symbol).collect())).collect()
    }
}
