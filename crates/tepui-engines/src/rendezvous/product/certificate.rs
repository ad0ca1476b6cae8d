//! From a proof about the product to one about the system.
//!
//! Rows in any phase but `Run` are on the way between two states of the system: they are dropped. A frame of the product
//! is one of the certificate, but for those of rules that are being written, which occur in no row that stays.

use std::collections::{BTreeMap, BTreeSet};

use tepui_cert::pushdown::{Certificate, Lemma, LemmaThread, Rows};
use tepui_cert::rendezvous::{Forbidden, Frame, Views};
use tepui_model::rendezvous::{Model, Observers, Property, Symbol};

use super::Product;
use crate::interner::Interner;

/// The number of the phase `Run`.
const RUN: u32 = 0;

impl Product {
    /// The certificate about the system that follows from one about the product; none, if that one speaks of interchangeable
    /// threads, or of regular sets.
    pub fn certificate(&self, system: &Model, proof: &Certificate) -> Option<Views> {
        let proved = |property: &&Property| proof.properties.iter().any(|claimed| claimed.name == property.name);
        let claimed: Vec<_> = system.properties().iter().filter(proved).collect();
        let claims = claimed.iter().map(|property| Forbidden { name: property.name.clone(), never: property.digest() });
        let mut threads: Vec<_> =
            (0..self.frames.len()).map(|thread| Frames::new(self, system, &claimed, thread)).collect();
        let lemmas = proof.lemmas.iter().map(|lemma| translated(&mut threads, lemma)).collect::<Option<_>>()?;
        let frames = threads.into_iter().map(|frames| frames.listed.into_items()).collect();
        Some(Views { model: system.digest(), claims: claims.collect(), frames, lemmas })
    }
}

/// The frames of one thread that are listed.
struct Frames<'a> {
    product: &'a Product,
    thread: usize,
    /// Which of the automata belong to properties that are proved.
    columns: Vec<usize>,
    listed: Interner<Frame>,
}

impl<'a> Frames<'a> {
    fn new(product: &'a Product, system: &Model, claimed: &[&Property], thread: usize) -> Self {
        let all = Observers::new(system.properties(), thread);
        let kept = Observers::new(claimed.iter().copied(), thread);
        let column = |set: &&_| all.sets().iter().position(|known| known == set);
        let columns = kept.sets().iter().filter_map(column).collect();
        Self { product, thread, columns, listed: Interner::default() }
    }

    fn word(&mut self, word: &[Symbol]) -> Option<Vec<Symbol>> {
        word.iter().map(|&symbol| self.symbol(symbol)).collect()
    }

    fn symbol(&mut self, symbol: Symbol) -> Option<Symbol> {
        let Some(index) = (symbol.0 as usize).checked_sub(1) else { return Some(symbol) };
        let (control, symbol, below) = match self.product.frames[self.thread][index] {
            super::Frame::Top(control, symbol, below) => (Some(control), symbol, below),
            super::Frame::Under(symbol, below) => (None, symbol, below),
            super::Frame::Writing { .. } => return None,
        };
        let place = &self.product.places[self.thread][below as usize];
        let nodes = self.columns.iter().map(|&column| place[column]).collect();
        Some(Symbol(self.listed.intern(Frame { control, symbol, nodes }) + 1))
    }
}

fn translated(threads: &mut [Frames<'_>], lemma: &Lemma) -> Option<Lemma> {
    if lemma.threads.iter().any(|part| part.like.is_some()) {
        return None;
    }
    let mut words: Vec<Interner<Vec<Symbol>>> = threads.iter().map(|_| Interner::default()).collect();
    let mut numbers: Vec<BTreeMap<u32, u32>> = vec![BTreeMap::new(); threads.len()];
    let mut rows = BTreeSet::new();
    for row in lemma.views.iter().filter(|row| row[0] == RUN) {
        let mut cells = vec![0];
        for (thread, &word) in row[1..].iter().enumerate() {
            let number = match numbers[thread].get(&word) {
                Some(&number) => number,
                None => {
                    let symbols = threads[thread].word(&lemma.threads[thread].words[word as usize])?;
                    let number = words[thread].intern(symbols);
                    numbers[thread].insert(word, number);
                    number
                }
            };
            cells.push(number);
        }
        rows.insert(cells);
    }
    let views = Rows::of(threads.len() + 1, &rows.into_iter().collect::<Vec<_>>());
    let mut parts = Vec::new();
    for ((frames, part), words) in threads.iter_mut().zip(&lemma.threads).zip(words) {
        let mut below: BTreeMap<Vec<Symbol>, BTreeSet<Symbol>> = BTreeMap::new();
        for (word, symbols) in &part.below {
            if let Some(word) = frames.word(word) {
                below.entry(word).or_default().extend(symbols.iter().filter_map(|&symbol| frames.symbol(symbol)));
            }
        }
        let below = below.into_iter().map(|(word, symbols)| (word, symbols.into_iter().collect())).collect();
        parts.push(LemmaThread { like: None, words: words.into_items(), below });
    }
    Some(Lemma { depth: lemma.depth, threads: parts, views, explored: Vec::new() })
}
