//! From a proof about the compiled model to one about the program.
//!
//! Rows in which the model is in the middle of something that is one step of the program are dropped, and so are rows
//! with a thread that has failed: failing changes nothing, so the row before it stays. The rest is translated, with the values that
//! the model does not keep left open. Several symbols may mean the same frame: then their words are merged.
//!
//! Nothing here has to be right for a proof to be right: the checker judges what comes out.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use tepui_cert::program::Certificate;
use tepui_cert::pushdown::{self, Language, Lemma, LemmaThread, Regular, RegularThread, Row, Rows};
use tepui_engines::interner::Interner;
use tepui_engines::program::certificate::kept;
use tepui_engines::program::table::{Compiled, Legend, Phase};
use tepui_model::program::step::{Frame, Value};
use tepui_model::program::{Program, Property};
use tepui_model::pushdown::{Shared, Symbol};

/// The certificate about a program that follows from one about its model.
pub(super) fn certify(
    program: &Program,
    compiled: &Compiled,
    proof: &pushdown::Certificate,
    properties: &[Property],
) -> Certificate {
    let proved = |property: &&Property| proof.properties.iter().any(|claimed| claimed.name == property.name);
    let (shared, shared_numbers, frames) = (Interner::default(), FxHashMap::default(), Interner::default());
    let mut tables = Tables { legend: &compiled.legend, shared, shared_numbers, frames };
    let translated: Vec<_> = proof.lemmas.iter().map(|lemma| Translated::new(&mut tables, lemma)).collect();
    let mut lemmas: Vec<_> = translated.into_iter().map(|lemma| lemma.finish(&mut tables)).collect();
    let mut regular = proof.regular.as_ref().map(|regular| regular_sets(&mut tables, regular));
    let numbers = |values: Vec<Value>| values.into_iter().map(Value::number).collect::<Row>();
    let shared: Vec<_> = tables.shared.into_items().into_iter().map(numbers).collect();
    let (shared, ranks) = Rows::of(program.shared.len(), &shared).ranked();
    let tables_of_rows = lemmas.iter_mut().map(|lemma| &mut lemma.views);
    for rows in tables_of_rows.chain(regular.iter_mut().map(|regular| &mut regular.rows)) {
        let mut ranked: Vec<_> = rows.iter().collect();
        ranked.iter_mut().for_each(|row| row[0] = ranks[row[0] as usize]);
        ranked.sort_unstable();
        *rows = Rows::of(rows.width(), &ranked);
    }
    Certificate {
        program: program.digest(),
        properties: properties.iter().filter(proved).cloned().collect(),
        kept: kept(compiled.legend.kept()),
        shared,
        frames: tables.frames.into_items(),
        lemmas,
        regular,
        crowd: None,
        tasks: None,
    }
}

struct Tables<'l> {
    legend: &'l Legend,
    shared: Interner<Vec<Value>>,
    /// The numbers of the model's shared states, where they are known.
    shared_numbers: FxHashMap<u32, u32>,
    frames: Interner<Frame>,
}

impl Tables<'_> {
    /// The number of a shared state of the model.
    fn shared(&mut self, shared: u32) -> u32 {
        *self.shared_numbers.entry(shared).or_insert_with(|| self.shared.intern(self.legend.shared(Shared(shared))))
    }

    /// The symbol of a frame.
    fn symbol(&mut self, frame: Frame) -> Symbol {
        Symbol(self.frames.intern(frame) + 1)
    }

    fn below(&mut self, thread: usize, symbol: Symbol) -> Option<Symbol> {
        if symbol.is_bottom() {
            return Some(symbol);
        }
        self.legend.below(thread, symbol).map(|frame| self.symbol(frame))
    }

    fn top(&mut self, thread: usize, symbol: Symbol) -> Option<Symbol> {
        if symbol.is_bottom() {
            return Some(symbol);
        }
        self.legend.on_top(thread, symbol).map(|frame| self.symbol(frame))
    }

    /// A word of the model with its frames.
    fn word(&mut self, thread: usize, word: &[Symbol]) -> Option<Vec<Symbol>> {
        let (first, rest) = word.split_first()?;
        let top = self.top(thread, *first)?;
        let rest = rest.iter().map(|&symbol| self.below(thread, symbol)).collect::<Option<Vec<_>>>()?;
        Some([top].into_iter().chain(rest).collect())
    }
}

/// A lemma whose rows and words are translated; what lies below words comes last, when all frames that are listed are
/// known.
struct Translated<'a> {
    lemma: &'a Lemma,
    words: Vec<Vec<Vec<Symbol>>>,
    views: Rows,
}

impl<'a> Translated<'a> {
    fn new(tables: &mut Tables<'_>, lemma: &'a Lemma) -> Self {
        let like: Vec<_> = lemma.threads.iter().map(|part| part.like).collect();
        let leaders: Vec<_> = like.iter().enumerate().map(|(thread, like)| like.unwrap_or(thread)).collect();
        let groups = groups(&like);
        // Only words that occur in rows that stay may bring frames into the table: a frame that is listed is seen.
        let legend = tables.legend;
        let on_top =
            |thread: usize, word: &Vec<Symbol>| word[0].is_bottom() || legend.on_top(thread, word[0]).is_some();
        let calm = |(thread, part): (usize, &LemmaThread)| -> Vec<bool> {
            part.words.iter().map(|word| on_top(thread, word)).collect()
        };
        let calm: Vec<Vec<bool>> = lemma.threads.iter().enumerate().map(calm).collect();
        let is_calm = |row: &[u32]| row[1..].iter().zip(&leaders).all(|(&word, &leader)| calm[leader][word as usize]);
        let stays = |row: &Row| legend.phase(Shared(row[0])) == Phase::Open && is_calm(row);
        let mut numbers: Vec<Vec<Option<u32>>> =
            lemma.threads.iter().map(|part| vec![None; part.words.len()]).collect();
        let mut words: Vec<Interner<Vec<Symbol>>> = lemma.threads.iter().map(|_| Interner::default()).collect();
        let mut translated: Vec<Vec<u32>> = Vec::new();
        for row in lemma.views.iter().filter(stays) {
            let mut cells = Vec::with_capacity(row.len());
            cells.push(tables.shared(row[0]));
            for (&word, &leader) in row[1..].iter().zip(&leaders) {
                let number = &mut numbers[leader][word as usize];
                if number.is_none() {
                    let symbols = tables.word(leader, &lemma.threads[leader].words[word as usize]);
                    *number = symbols.map(|symbols| words[leader].intern(symbols));
                }
                cells.extend(*number);
            }
            if cells.len() == row.len() {
                sort_groups(&groups, &mut cells);
                translated.push(cells);
            }
        }
        translated.sort_unstable();
        translated.dedup();
        let views = Rows::of(lemma.threads.len() + 1, &translated);
        Self { lemma, words: words.into_iter().map(Interner::into_items).collect(), views }
    }

    fn finish(self, tables: &mut Tables<'_>) -> Lemma {
        let mut threads = Vec::new();
        for (thread, (part, words)) in self.lemma.threads.iter().zip(self.words).enumerate() {
            let below = if part.like.is_some() { Vec::new() } else { below(tables, thread, part) };
            threads.push(LemmaThread { like: part.like, words, below });
        }
        Lemma { depth: self.lemma.depth, threads, views: self.views, explored: Vec::new() }
    }
}

/// The places of rows that belong to interchangeable threads, group by group.
fn groups(like: &[Option<usize>]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (thread, like) in like.iter().enumerate() {
        groups.entry(like.unwrap_or(thread)).or_default().push(thread + 1);
    }
    groups.into_values().filter(|places| places.len() > 1).collect()
}

/// Cells of interchangeable threads ascend.
fn sort_groups(groups: &[Vec<usize>], cells: &mut [u32]) {
    for places in groups {
        let mut sorted: Vec<_> = places.iter().map(|&place| cells[place]).collect();
        sorted.sort_unstable();
        places.iter().zip(sorted).for_each(|(&place, cell)| cells[place] = cell);
    }
}

/// Rows of regular sets, translated.
fn regular_sets(tables: &mut Tables<'_>, regular: &Regular) -> Regular {
    let like: Vec<_> = regular.threads.iter().map(|thread| thread.like).collect();
    let leader = |thread: usize| like[thread].unwrap_or(thread);
    let groups = groups(&like);
    let open = |row: &Row| tables.legend.phase(Shared(row[0])) == Phase::Open;
    let mut rows: Vec<_> = regular.rows.iter().filter(open).collect();
    // Only rows that stay may bring frames into the table.
    let legend = tables.legend;
    rows.retain(|row| {
        row[1..].iter().enumerate().all(|(thread, &cell)| {
            let language = &regular.threads[leader(thread)].languages[cell as usize];
            language.states[0]
                .iter()
                .any(|(symbol, _)| symbol.is_bottom() || legend.on_top(leader(thread), *symbol).is_some())
        })
    });
    let mut numbers: Vec<FxHashMap<u32, Option<u32>>> = vec![FxHashMap::default(); like.len()];
    let mut languages: Vec<Interner<Language>> = like.iter().map(|_| Interner::default()).collect();
    let mut translated = Vec::new();
    for row in rows {
        let mut cells = vec![tables.shared(row[0])];
        for (thread, &cell) in row[1..].iter().enumerate() {
            let leader = leader(thread);
            let number = *numbers[leader].entry(cell).or_insert_with(|| {
                let language = &regular.threads[leader].languages[cell as usize];
                over_frames(tables, leader, language).map(|language| languages[leader].intern(language))
            });
            cells.extend(number);
        }
        if cells.len() == row.len() {
            sort_groups(&groups, &mut cells);
            translated.push(cells);
        }
    }
    translated.sort_unstable();
    translated.dedup();
    let rows = Rows::of(like.len() + 1, &translated);
    let threads = like.iter().zip(languages);
    let threads =
        threads.map(|(like, languages)| RegularThread { like: *like, languages: languages.into_items() }).collect();
    Regular { threads, rows }
}

/// A language over frames: symbols that mean the same frame are merged, and the automaton is made deterministic again. None,
/// if no word is left.
fn over_frames(tables: &mut Tables<'_>, thread: usize, language: &Language) -> Option<Language> {
    /// The start, where symbols are on top.
    const START: u32 = u32::MAX;
    let mut subsets: Interner<Vec<u32>> = Interner::default();
    subsets.intern(vec![START]);
    let mut states: Vec<BTreeMap<Symbol, Option<u32>>> = Vec::new();
    while let Some(subset) = subsets.iter().nth(states.len()).cloned() {
        let mut targets: BTreeMap<Symbol, BTreeSet<u32>> = BTreeMap::new();
        let mut edges = BTreeMap::new();
        for state in subset {
            for &(symbol, to) in &language.states[if state == START { 0 } else { state as usize }] {
                let symbol = if state == START { tables.top(thread, symbol) } else { tables.below(thread, symbol) };
                match (symbol, to) {
                    (Some(symbol), Some(to)) => _ = targets.entry(symbol).or_default().insert(to),
                    (Some(symbol), None) => _ = edges.insert(symbol, None),
                    (None, _) => {}
                }
            }
        }
        for (symbol, targets) in targets {
            edges.insert(symbol, Some(subsets.intern(targets.into_iter().collect())));
        }
        states.push(edges);
    }
    pruned(&states)
}

/// The automaton without states from which no word ends.
fn pruned(states: &[BTreeMap<Symbol, Option<u32>>]) -> Option<Language> {
    let mut ends = vec![false; states.len()];
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (state, edges) in states.iter().enumerate() {
            let now = edges.values().any(|to| to.is_none_or(|to| ends[to as usize]));
            changed |= now != std::mem::replace(&mut ends[state], now);
        }
    }
    if !ends[0] {
        return None;
    }
    let mut number = vec![0; states.len()];
    (0..states.len()).filter(|&state| ends[state]).zip(0..).for_each(|(state, next)| number[state] = next);
    let kept = states.iter().zip(&ends).filter(|(_, ends)| **ends);
    let edges = kept.map(|(edges, _)| {
        let stays = edges.iter().filter(|(_, to)| to.is_none_or(|to| ends[to as usize]));
        stays.map(|(&symbol, to)| (symbol, to.map(|to| number[to as usize]))).collect()
    });
    Some(Language { states: edges.collect() })
}

/// What lies below words. A word of the model may be one on top of a stack or one further down.
fn below(tables: &mut Tables<'_>, thread: usize, part: &LemmaThread) -> Vec<(Vec<Symbol>, Vec<Symbol>)> {
    let mut found: BTreeMap<Vec<Symbol>, BTreeSet<Symbol>> = BTreeMap::new();
    // All frames that wait are listed before it is asked which of them may be on top of a word.
    let mut lower = Vec::new();
    for (word, symbols) in &part.below {
        let symbols: Vec<_> = symbols.iter().filter_map(|&symbol| tables.below(thread, symbol)).collect();
        let rest: Option<Vec<_>> = word[1..].iter().map(|&symbol| tables.below(thread, symbol)).collect();
        lower.extend(rest.map(|rest| (word, rest, symbols)));
    }
    for (word, rest, symbols) in lower {
        let listed = |frame: Option<Frame>| frame.and_then(|frame| tables.frames.get(&frame));
        let tops = [tables.legend.on_top(thread, word[0]), tables.legend.below(thread, word[0])].map(listed);
        for top in tops.into_iter().flatten() {
            let word = [Symbol(top + 1)].into_iter().chain(rest.iter().copied()).collect();
            found.entry(word).or_default().extend(&symbols);
        }
    }
    found.into_iter().map(|(word, symbols)| (word, symbols.into_iter().collect())).collect()
}
