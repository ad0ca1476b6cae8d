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
//! A lemma may have groups of interchangeable threads, see [`Groups`]. A row stands for its orbit then, and the set is
//! that of all views in the orbits of the rows. Let a permutation move the stacks of a state within the groups.
//!
//! * What it makes of a reachable state is reachable as well. It leaves the initial state as it is, because the stacks
//!   of a group are equal there; and it makes a step of one thread a step of another of the group, which has the rule
//!   too.
//! * Hence the canonical rows are enough. Let a step lead from a reachable state to a next one, and let the view of the
//!   first be in the set. Some permutation makes this view a row, and if several threads of a group have the word of the
//!   thread that moves, it makes that one the first of them. The permuted states are reachable, a step leads from one to
//!   the other, and so the view of the permuted next state is among the results that are looked at for this row. It is
//!   of the same orbit as the view of the next state itself: if the canonical row of the orbit is there, both are in the
//!   set.
//! * If that row is not there, it is enough that an earlier lemma excludes one view of the orbit, whatever groups the
//!   earlier lemma has: this view is the view of another permutation of the next state, which would be reachable too.
//!   The one that is tried is the missing row itself, in which a word without a number comes last in its group.
//! * What lies below a word is listed once for a group. It lies there in the permuted states as well, in the stack of
//!   another thread of the group, and what is new there is looked at in the same step.
//! * A reachable state whose view a pattern matches has its view in the orbit of a row. So a row avoids a pattern if no
//!   permutation of it matches: if in some group more threads are wanted with a symbol on top than have it.
//!
//! What a step does depends on the shared state and one thread's word only, so it is worked out once for each such
//! pair, and for each view it remains to look up the results.

use rustc_hash::FxHashMap;
use tepui_cert::pushdown::Lemma;
use tepui_model::pushdown::{Action, Model, Pattern, Property, Shared, Symbol};

use super::groups::Groups;
use super::projection::Exclusion;
use super::table::Index;

type Word<'a> = &'a [Symbol];

/// A lemma that has been proved.
pub(super) struct Checked<'a> {
    pub(super) lemma: &'a Lemma,
    pub(super) groups: Groups,
    index: Index,
    /// The words and what lies below them, at the leader of each group.
    words: Vec<FxHashMap<Word<'a>, u32>>,
    below: Vec<FxHashMap<Word<'a>, Vec<Symbol>>>,
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
pub(super) fn check<'a>(model: &Model, lemma: &'a Lemma, earlier: &[Checked<'a>]) -> Result<Checked<'a>, String> {
    let checked = Checked::well_formed(model, lemma)?;
    checked.holds_initially(model)?;
    checked.is_closed(model, earlier)?;
    Ok(checked)
}

impl<'a> Checked<'a> {
    /// The number of views, or the largest number if there are more.
    pub(super) fn views(&self) -> u64 {
        match self.groups.are_trivial() {
            true => self.orbits() as u64,
            false => self.lemma.views.iter().fold(0, |sum, row| sum.saturating_add(self.groups.orbit(row))),
        }
    }

    /// The number of orbits.
    pub(super) fn orbits(&self) -> usize {
        self.lemma.views.len()
    }

    /// The depth of the views.
    pub(super) fn depth(&self) -> u32 {
        self.lemma.depth
    }

    /// Whether no view violates a property.
    pub(super) fn avoids(&self, model: &Model, property: &Property) -> Result<(), String> {
        let wanted: Vec<_> = property.never.iter().map(|pattern| Wanted::new(&self.groups, pattern)).collect();
        let mut tops = Vec::new();
        let mut violates = |row: &[u32]| wanted.iter().any(|wanted| wanted.matches(self, row, &mut tops));
        match self.lemma.views.iter().find(|row| violates(row)) {
            Some(row) if self.groups.are_trivial() => Err(format!("the view {} violates it", self.show(model, row))),
            Some(row) => Err(format!("the view {}, or a permutation of it, violates it", self.show(model, row))),
            None => Ok(()),
        }
    }

    /// The symbols of a word.
    pub(super) fn word(&self, thread: usize, number: u32) -> Word<'a> {
        &self.lemma.threads[self.groups.leader(thread)].words[number as usize]
    }

    fn well_formed(model: &Model, lemma: &'a Lemma) -> Result<Self, String> {
        let threads = model.threads();
        if lemma.depth == 0 || lemma.threads.len() != threads.len() || lemma.views.width() != threads.len() + 1 {
            return Err(format!("it does not have the shape of a lemma about {} threads", threads.len()));
        }
        let groups = Groups::new(model, lemma)?;
        let (mut words, mut below) = (Vec::new(), Vec::new());
        for (thread, part) in lemma.threads.iter().enumerate() {
            let symbols = threads[thread].symbol_count();
            if let Some(word) = part.words.iter().find(|word| !is_word(word, lemma.depth, symbols)) {
                return Err(format!("thread {} has no word {}", threads[thread].name, show_word(model, thread, word)));
            }
            words.push(part.words.iter().map(Vec::as_slice).zip(0..).collect::<FxHashMap<_, _>>());
            if part.below.iter().flat_map(|(_, listed)| listed).any(|symbol| symbol.0 >= symbols) {
                return Err(format!("thread {} lists a symbol that does not exist", threads[thread].name));
            }
            let listed = part.below.iter().map(|(word, symbols)| (word.as_slice(), as_set(symbols)));
            below.push(listed.collect::<FxHashMap<_, _>>());
            if words[thread].len() != part.words.len() || below[thread].len() != part.below.len() {
                return Err(format!("thread {} lists a word twice", threads[thread].name));
            }
        }
        check_rows(model, lemma, &groups)?;
        let index = Index::of(&lemma.views).map_err(|row| format!("row {} occurs twice", row + 1))?;
        Ok(Self { lemma, groups, index, words, below })
    }

    /// The initial stacks of a group are equal, so the row of the initial view is canonical.
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
            row.push(self.words[self.groups.leader(thread)].get(word).copied().unwrap_or(u32::MAX));
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
        let mut next = Vec::new();
        for row in self.lemma.views.iter() {
            next.clear();
            next.extend_from_slice(row);
            for thread in (0..model.threads().len()).filter(|&thread| !self.groups.repeats(row, thread)) {
                let pair = (self.groups.leader(thread), row[0], row[thread + 1]);
                let consequences = match memo.entry(pair) {
                    std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                    std::collections::hash_map::Entry::Vacant(vacant) => vacant.insert(
                        self.consequences(model, &rules, pair)
                            .map_err(|(rule, reason)| self.blame(model, row, (thread, rule), &reason))?,
                    ),
                };
                let mut place = thread;
                for consequence in consequences.iter() {
                    next[0] = consequence.to;
                    place = self.groups.put(&mut next, place, consequence.known.unwrap_or(u32::MAX));
                    if consequence.known.is_some() && self.index.contains(&self.lemma.views, &next) {
                        continue;
                    }
                    let changed = (place, consequence.word.as_slice());
                    if !exclusions.iter_mut().any(|exclusion| exclusion.excludes(&next, changed)) {
                        let missing = format!("leads to {}, which is missing", self.show_with(model, &next, changed));
                        return Err(self.blame(model, row, (thread, consequence.rule), &missing));
                    }
                }
                next[0] = row[0];
                self.groups.put(&mut next, place, row[thread + 1]);
            }
        }
        Ok(())
    }

    /// All that the threads of a leader's group can do in a shared state with a word. The error names the rule that
    /// brings something below a word that is not listed there.
    fn consequences(
        &self,
        model: &Model,
        rules: &Rules,
        (leader, shared, word): (usize, u32, u32),
    ) -> Result<Vec<Consequence>, (usize, String)> {
        let depth = self.lemma.depth as usize;
        let word = self.word(leader, word);
        let open = word.len() == depth && !word[depth - 1].is_bottom();
        let beneath = self.below[leader].get(word).filter(|_| open).map_or(&[][..], Vec::as_slice);
        let mut found = Vec::new();
        for &rule in rules.at(leader, shared, word[0]) {
            let step = &model.threads()[leader].rules[rule];
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
                        self.require_below(model, leader, &changed, symbol).map_err(unlisted)?;
                    }
                    results.push(changed);
                }
                Action::Push { top, below } => {
                    let lower = with_top(&[below]);
                    for &symbol in beneath {
                        self.require_below(model, leader, &lower, symbol).map_err(unlisted)?;
                    }
                    let mut pushed = with_top(&[top, below]);
                    if pushed.len() > depth {
                        self.require_below(model, leader, &pushed[..depth], pushed[depth]).map_err(unlisted)?;
                        pushed.truncate(depth);
                    }
                    results.push(pushed);
                }
            }
            found.extend(results.into_iter().map(|word| {
                let known = self.words[leader].get(word.as_slice()).copied();
                Consequence { rule, to: step.to.0, known, word }
            }));
        }
        Ok(found)
    }

    fn require_below(&self, model: &Model, thread: usize, word: Word<'_>, symbol: Symbol) -> Result<(), String> {
        let below = &self.below[self.groups.leader(thread)];
        match below.get(word).is_some_and(|listed| listed.binary_search(&symbol).is_ok()) {
            true => Ok(()),
            false => Err(format!(
                "{} may come to lie below {}, which is not listed",
                model.threads()[thread].symbol_name(symbol),
                show_word(model, thread, word)
            )),
        }
    }

    /// Says what is wrong with a step of a thread by a rule of its leader.
    fn blame(&self, model: &Model, row: &[u32], (thread, rule): (usize, usize), reason: &str) -> String {
        let leader = self.groups.leader(thread);
        let owner = &model.threads()[leader];
        let line = match owner.rules[rule].line {
            0 => String::new(),
            line => format!(" (line {line})"),
        };
        let rule = model.display_rule(leader, &owner.rules[rule]);
        let taken = match thread == leader {
            true => String::new(),
            false => format!(", taken by {}", model.threads()[thread].name),
        };
        format!("at view {}, rule `{rule}` of thread {}{line}{taken}: {reason}", self.show(model, row), owner.name)
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

/// A pattern for orbits: the symbols that it wants on top in each group, in ascending order.
struct Wanted {
    shared: Option<Shared>,
    groups: Vec<(usize, Vec<Symbol>)>,
}

impl Wanted {
    fn new(groups: &Groups, pattern: &Pattern) -> Self {
        let wanted = |leader: usize| {
            let mut symbols: Vec<_> = groups.members(leader).filter_map(|thread| pattern.tops[thread]).collect();
            symbols.sort_unstable();
            (leader, symbols)
        };
        let leaders = (0..pattern.tops.len()).filter(|&thread| groups.leader(thread) == thread);
        let groups = leaders.map(wanted).filter(|(_, symbols)| !symbols.is_empty()).collect();
        Self { shared: pattern.shared, groups }
    }

    /// Whether a view in the orbit of a row matches. Both lists of symbols ascend, so one walk along the tops finds each
    /// wanted symbol at a place of its own, if it can be found.
    fn matches(&self, lemma: &Checked<'_>, row: &[u32], tops: &mut Vec<Symbol>) -> bool {
        let top = |thread: usize| lemma.word(thread, row[thread + 1])[0];
        self.shared.is_none_or(|shared| shared.0 == row[0])
            && self.groups.iter().all(|(leader, wanted)| {
                if lemma.groups.is_alone(*leader) {
                    return wanted == &[top(*leader)];
                }
                tops.clear();
                tops.extend(lemma.groups.members(*leader).map(top));
                tops.sort_unstable();
                let mut tops = tops.iter();
                wanted.iter().all(|symbol| tops.any(|top| top == symbol))
            })
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

/// Whether every row names what exists, and is canonical.
fn check_rows(model: &Model, lemma: &Lemma, groups: &Groups) -> Result<(), String> {
    let shared = model.shared().count();
    let words = |thread: usize| lemma.threads[groups.leader(thread)].words.len();
    let words: Vec<_> = (0..lemma.threads.len()).map(words).collect();
    let exists =
        |row: &[u32]| row[0] < shared && row[1..].iter().zip(&words).all(|(&word, &words)| (word as usize) < words);
    if let Some(row) = lemma.views.iter().find(|row| !exists(row)) {
        return Err(format!("the row {row:?} names a shared state or word that does not exist"));
    }
    match lemma.views.iter().find(|row| !groups.is_canonical(row)) {
        Some(row) => Err(format!("the row {row:?} does not list interchangeable threads in ascending order")),
        None => Ok(()),
    }
}

/// At most `depth` symbols, of which the last may be the marker and must be if there are fewer.
fn is_word(word: &[Symbol], depth: u32, symbols: u32) -> bool {
    let Some((last, upper)) = word.split_last() else { return false };
    let complete = word.len() == depth as usize || (word.len() < depth as usize && last.is_bottom());
    complete && last.0 < symbols && upper.iter().all(|symbol| !symbol.is_bottom() && symbol.0 < symbols)
}

/// Symbols in ascending order, none twice.
fn as_set(symbols: &[Symbol]) -> Vec<Symbol> {
    let mut set = symbols.to_vec();
    set.sort_unstable();
    set.dedup();
    set
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
