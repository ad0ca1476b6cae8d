//! One lemma: is its set of views inductive, relative to the lemmas before it?
//!
//! Claim, proved by induction over the steps of an execution: the view of every reachable state is in the lemma's
//! set, and whatever lies directly below a word of `depth` real symbols, anywhere in a reachable stack, is listed as
//! *below* that word.
//!
//! * At the start: the initial view is in the set, and every stretch of `depth + 1` symbols of an initial stack is
//!   listed.
//! * A step changes the top of one stack. An overwrite or a push leads to one definite view, a pop to one for each
//!   symbol listed below the popped word. Each of these views must be in the set, unless an earlier lemma, which has
//!   been proved for all reachable states, excludes it. And every new stretch of `depth + 1` symbols must be listed:
//!   after an overwrite or a push, the changed topmost word has below it what the old one had.
//!
//! What a step does depends on the shared state and one thread's word only, so it is worked out once for each such
//! pair, and for each view it remains to look up the results.

use rustc_hash::FxHashMap;
use tepui_cert::Lemma;
use tepui_model::pushdown::{Action, Model, Property, Shared, Symbol};

use crate::projection::Exclusion;
use crate::table::Index;

type Word<'a> = &'a [Symbol];

/// A lemma that has been proved.
pub(crate) struct Checked<'a> {
    pub(crate) lemma: &'a Lemma,
    index: Index,
    words: Vec<FxHashMap<Word<'a>, u32>>,
    below: Vec<FxHashMap<Word<'a>, &'a [Symbol]>>,
}

/// What one rule makes of a thread's word.
struct Consequence {
    rule: usize,
    to: u32,
    /// The number of the new word, if it has one.
    known: Option<u32>,
    word: Vec<Symbol>,
}

/// Checks a lemma; the error says at which view and rule it fails.
pub(crate) fn check<'a>(model: &Model, lemma: &'a Lemma, earlier: &[Checked<'a>]) -> Result<Checked<'a>, String> {
    let checked = Checked::well_formed(model, lemma)?;
    checked.holds_initially(model)?;
    checked.is_closed(model, earlier)?;
    Ok(checked)
}

impl<'a> Checked<'a> {
    /// The number of views.
    pub(crate) fn len(&self) -> usize {
        self.lemma.views.len()
    }

    /// The depth of the views.
    pub(crate) fn depth(&self) -> u32 {
        self.lemma.depth
    }

    /// Whether no view violates a property.
    pub(crate) fn avoids(&self, model: &Model, property: &Property) -> Result<(), String> {
        let top = |row: &[u32], thread: usize| self.word(thread, row[thread + 1])[0];
        match self.lemma.views.iter().find(|row| property.forbids(Shared(row[0]), |thread| top(row, thread))) {
            Some(row) => Err(format!("the view {} violates it", self.show(model, row))),
            None => Ok(()),
        }
    }

    /// The symbols of a word.
    pub(crate) fn word(&self, thread: usize, number: u32) -> Word<'a> {
        &self.lemma.threads[thread].words[number as usize]
    }

    fn well_formed(model: &Model, lemma: &'a Lemma) -> Result<Self, String> {
        let threads = model.threads();
        if lemma.depth == 0 || lemma.threads.len() != threads.len() || lemma.views.width() != threads.len() + 1 {
            return Err(format!("it does not have the shape of a lemma about {} threads", threads.len()));
        }
        let (mut words, mut below) = (Vec::new(), Vec::new());
        for (thread, part) in lemma.threads.iter().enumerate() {
            let symbols = threads[thread].symbol_count();
            if let Some(word) = part.words.iter().find(|word| !is_word(word, lemma.depth, symbols)) {
                return Err(format!("thread {} has no word {}", threads[thread].name, show_word(model, thread, word)));
            }
            words.push(part.words.iter().map(Vec::as_slice).zip(0..).collect::<FxHashMap<_, _>>());
            let listed = part.below.iter().map(|(word, symbols)| (word.as_slice(), symbols.as_slice()));
            below.push(listed.collect::<FxHashMap<_, _>>());
            if words[thread].len() != part.words.len() || below[thread].len() != part.below.len() {
                return Err(format!("thread {} lists a word twice", threads[thread].name));
            }
        }
        let shared = model.shared().count();
        let in_range = |row: &[u32]| {
            row[0] < shared && row[1..].iter().zip(&words).all(|(&word, words)| (word as usize) < words.len())
        };
        if let Some(row) = lemma.views.iter().find(|row| !in_range(row)) {
            return Err(format!("the row {row:?} names a shared state or word that does not exist"));
        }
        let index = Index::of(&lemma.views).map_err(|row| format!("row {} occurs twice", row + 1))?;
        Ok(Self { lemma, index, words, below })
    }

    fn holds_initially(&self, model: &Model) -> Result<(), String> {
        let depth = self.lemma.depth as usize;
        let init = model.init();
        let mut row = vec![init.shared.0];
        for (thread, stack) in init.stacks.iter().enumerate() {
            let stack: Vec<_> = stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect();
            for stretch in stack.windows(depth.saturating_add(1)) {
                self.require_below(model, thread, &stretch[..depth], stretch[depth])
                    .map_err(|missing| format!("the initial stack of {}: {missing}", model.threads()[thread].name))?;
            }
            let word = &stack[..depth.min(stack.len())];
            row.push(self.words[thread].get(word).copied().unwrap_or(u32::MAX));
        }
        match self.index.contains(&self.lemma.views, &row) {
            true => Ok(()),
            false => Err(format!("the initial view, that of {}, is missing", model.display_state(init))),
        }
    }

    fn is_closed(&self, model: &Model, earlier: &[Checked<'a>]) -> Result<(), String> {
        let rules = Rules::new(model);
        let mut exclusions: Vec<Exclusion<'_, '_>> = earlier.iter().map(|lemma| Exclusion::new(lemma, self)).collect();
        let mut memo: FxHashMap<(usize, u32, u32), Vec<Consequence>> = FxHashMap::default();
        for row in self.lemma.views.iter() {
            let mut next = row.to_vec();
            for thread in 0..model.threads().len() {
                let pair = (thread, row[0], row[thread + 1]);
                let consequences = match memo.entry(pair) {
                    std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                    std::collections::hash_map::Entry::Vacant(vacant) => vacant.insert(
                        self.consequences(model, &rules, pair)
                            .map_err(|(rule, reason)| self.blame(model, row, (thread, rule), &reason))?,
                    ),
                };
                for consequence in consequences {
                    next[0] = consequence.to;
                    next[thread + 1] = consequence.known.unwrap_or(u32::MAX);
                    if consequence.known.is_some() && self.index.contains(&self.lemma.views, &next) {
                        continue;
                    }
                    let changed = (thread, consequence.word.as_slice());
                    if !exclusions.iter_mut().any(|exclusion| exclusion.excludes(&next, changed)) {
                        let missing = format!("leads to {}, which is missing", self.show_with(model, &next, changed));
                        return Err(self.blame(model, row, (thread, consequence.rule), &missing));
                    }
                }
                (next[0], next[thread + 1]) = (row[0], row[thread + 1]);
            }
        }
        Ok(())
    }

    /// All that a thread can do in a shared state with a word. The error names the rule that brings something below a
    /// word that is not listed there.
    fn consequences(
        &self,
        model: &Model,
        rules: &Rules,
        (thread, shared, word): (usize, u32, u32),
    ) -> Result<Vec<Consequence>, (usize, String)> {
        let depth = self.lemma.depth as usize;
        let word = self.word(thread, word);
        let open = word.len() == depth && !word[depth - 1].is_bottom();
        let beneath = self.below[thread].get(word).copied().filter(|_| open).unwrap_or(&[]);
        let mut found = Vec::new();
        for &rule in rules.at(thread, shared, word[0]) {
            let step = &model.threads()[thread].rules[rule];
            let with_top = |top: &[Symbol]| -> Vec<Symbol> { top.iter().chain(&word[1..]).copied().collect() };
            let unlisted = |missing: String| (rule, missing);
            let mut results = Vec::new();
            match step.action {
                Action::Pop if open => {
                    results.extend(beneath.iter().map(|&symbol| [&word[1..], &[symbol]].concat()));
                }
                Action::Pop => results.push(word[1..].to_vec()),
                Action::Overwrite(symbol) => {
                    let changed = with_top(&[symbol]);
                    for &symbol in beneath {
                        self.require_below(model, thread, &changed, symbol).map_err(unlisted)?;
                    }
                    results.push(changed);
                }
                Action::Push { top, below } => {
                    let lower = with_top(&[below]);
                    for &symbol in beneath {
                        self.require_below(model, thread, &lower, symbol).map_err(unlisted)?;
                    }
                    let mut pushed = with_top(&[top, below]);
                    if pushed.len() > depth {
                        self.require_below(model, thread, &pushed[..depth], pushed[depth]).map_err(unlisted)?;
                        pushed.truncate(depth);
                    }
                    results.push(pushed);
                }
            }
            found.extend(results.into_iter().map(|word| {
                let known = self.words[thread].get(word.as_slice()).copied();
                Consequence { rule, to: step.to.0, known, word }
            }));
        }
        Ok(found)
    }

    fn require_below(&self, model: &Model, thread: usize, word: Word<'_>, symbol: Symbol) -> Result<(), String> {
        match self.below[thread].get(word).is_some_and(|listed| listed.contains(&symbol)) {
            true => Ok(()),
            false => Err(format!(
                "{} may come to lie below {}, which is not listed",
                model.threads()[thread].symbol_name(symbol),
                show_word(model, thread, word)
            )),
        }
    }

    fn blame(&self, model: &Model, row: &[u32], (thread, rule): (usize, usize), reason: &str) -> String {
        let owner = &model.threads()[thread];
        let line = match owner.rules[rule].line {
            0 => String::new(),
            line => format!(" (line {line})"),
        };
        let rule = model.display_rule(thread, &owner.rules[rule]);
        format!("at view {}, rule `{rule}` of thread {}{line}: {reason}", self.show(model, row), owner.name)
    }

    fn show(&self, model: &Model, row: &[u32]) -> String {
        let words: Vec<_> =
            (0..row.len() - 1).map(|thread| show_word(model, thread, self.word(thread, row[thread + 1]))).collect();
        format!("{}|{}", model.shared_name(Shared(row[0])), words.join(","))
    }

    fn show_with(&self, model: &Model, row: &[u32], (changed, word): (usize, Word<'_>)) -> String {
        let word = |thread: usize| if thread == changed { word } else { self.word(thread, row[thread + 1]) };
        let words: Vec<_> = (0..row.len() - 1).map(|thread| show_word(model, thread, word(thread))).collect();
        format!("{}|{}", model.shared_name(Shared(row[0])), words.join(","))
    }
}

/// The rules of all threads by head.
struct Rules(Vec<FxHashMap<(u32, Symbol), Vec<usize>>>);

impl Rules {
    fn new(model: &Model) -> Self {
        let by_head = |thread: &tepui_model::pushdown::Thread| {
            let mut heads: FxHashMap<_, Vec<usize>> = FxHashMap::default();
            for (index, rule) in thread.rules.iter().enumerate() {
                heads.entry((rule.from.0, rule.top)).or_default().push(index);
            }
            heads
        };
        Self(model.threads().iter().map(by_head).collect())
    }

    fn at(&self, thread: usize, shared: u32, top: Symbol) -> &[usize] {
        self.0[thread].get(&(shared, top)).map_or(&[], Vec::as_slice)
    }
}

/// At most `depth` symbols, of which the last may be the marker and must be if there are fewer.
fn is_word(word: &[Symbol], depth: u32, symbols: u32) -> bool {
    let Some((last, upper)) = word.split_last() else { return false };
    let complete = word.len() == depth as usize || (word.len() < depth as usize && last.is_bottom());
    complete && last.0 < symbols && upper.iter().all(|symbol| !symbol.is_bottom() && symbol.0 < symbols)
}

/// A word for people: from bottom to top, as stacks are written, with `..` where more may lie below.
fn show_word(model: &Model, thread: usize, word: &[Symbol]) -> String {
    let name = |symbol: &Symbol| model.threads()[thread].symbol_name(*symbol).to_owned();
    match word.split_last() {
        Some((last, upper)) if last.is_bottom() && !upper.is_empty() => {
            upper.iter().rev().map(name).collect::<Vec<_>>().join(".")
        }
        Some((last, [])) if last.is_bottom() => "-".to_owned(),
        _ => ["..".to_owned()].into_iter().chain(word.iter().rev().map(name)).collect::<Vec<_>>().join("."),
    }
}
