//! A pushdown model, compiled for searching.
//!
//! Shared states are renumbered to those that the initial state and the rules mention, so that nothing here grows
//! with the number that a file declares. Threads with the same rules, in whatever order, are of one *kind* and share its
//! tables. A kind's rules are grouped by head (shared state and top of the stack); duplicates are dropped, the first
//! one stays.

use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use tepui_core::Budget;
use tepui_model::pushdown::{Action, Model, Property, Rule, Shared, Symbol, Thread, View};

use crate::ids::{Id, ThreadId, Threads};
use crate::packed::PackedSet;
use crate::symmetry::Symmetry;

/// How many symbols are listed at most if listing fewer views says as much.
const MOST_LISTED: u64 = 10_000_000;

/// What it costs to list a view, beside other efforts.
const LISTED_EFFORT: u64 = 16;

/// A rule, as seen from its head.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The shared state afterwards.
    pub to: u32,
    /// What happens to the stack.
    pub action: Action,
    /// The rule's number in the model.
    pub rule: u32,
}

/// The rules of threads that behave alike.
#[derive(Clone, Debug)]
pub struct Kind {
    heads: FxHashMap<(u32, u32), (u32, u32)>,
    moves: Vec<Move>,
    /// For each symbol whether there are rules for it.
    moving: Vec<bool>,
    /// The number of stack symbols, the marker of the empty stack included.
    pub symbols: u32,
}

impl Kind {
    /// What a thread may do in a shared state with a symbol on top.
    pub fn moves(&self, shared: u32, top: Symbol) -> &[Move] {
        match self.heads.get(&(shared, top.0)) {
            Some(&(start, end)) => &self.moves[start as usize..end as usize],
            None => &[],
        }
    }

    /// How many rules there are.
    pub fn size(&self) -> usize {
        self.moves.len()
    }

    /// Whether there are rules for a symbol on top, in any shared state.
    pub(crate) fn may_move(&self, top: Symbol) -> bool {
        self.moving[top.0 as usize]
    }

    /// All heads that have rules, in ascending order.
    pub fn heads(&self) -> Vec<(u32, Symbol)> {
        let mut heads: Vec<_> = self.heads.keys().map(|&(shared, top)| (shared, Symbol(top))).collect();
        heads.sort_unstable();
        heads
    }
}

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The model itself.
    pub model: Model,
    /// For each thread, the number of its kind.
    pub kind_of: Vec<usize>,
    /// The kinds.
    pub kinds: Vec<Kind>,
    /// The initial shared state.
    pub init: u32,
    /// For each kind, a thread of it.
    samples: Vec<usize>,
    used: Vec<Shared>,
}

/// What a rule says.
type Meaning = (Shared, Symbol, Shared, Action);

/// Rules as a set, in ascending order.
type Rules = Vec<Meaning>;

/// What a thread can do.
fn meanings(thread: &Thread) -> Rules {
    let mut rules: Vec<_> = thread.rules.iter().map(meaning).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// Something that is the same for threads with the same rules, in whatever order, and hardly ever for others.
fn extremes(thread: &Thread) -> Option<(u64, u64)> {
    let hashes = || thread.rules.iter().map(|rule| FxBuildHasher.hash_one(meaning(rule)));
    hashes().min().zip(hashes().max())
}

/// What a rule does.
fn meaning(rule: &Rule) -> Meaning {
    (rule.from, rule.top, rule.to, rule.action)
}

/// After how many rules it is asked whether to stop.
const LOOK_EVERY: usize = 1 << 16;

impl Compiled {
    /// Compiles a model.
    pub fn new(model: &Model) -> Self {
        let Some(compiled) = Self::new_unless(model, &|| false) else { unreachable!("nothing stops it") };
        compiled
    }

    /// The same, unless it is told to stop on the way: it asks once in a while.
    pub fn new_unless(model: &Model, stop: &dyn Fn() -> bool) -> Option<Self> {
        let mut used = vec![model.init().shared];
        for thread in model.threads() {
            let mut own: Vec<_> = thread.rules.iter().flat_map(|rule| [rule.from, rule.to]).collect();
            own.sort_unstable();
            own.dedup();
            used.append(&mut own);
            if stop() {
                return None;
            }
        }
        used.sort_unstable();
        used.dedup();
        let number: FxHashMap<_, _> = used.iter().copied().zip(0..).collect();
        let mut compiled = Self {
            model: model.clone(),
            kind_of: Vec::new(),
            kinds: Vec::new(),
            init: number[&model.init().shared],
            samples: Vec::new(),
            used,
        };
        // Of threads that resemble each other, the rules are compared; those of a kind are sorted for that when needed.
        let mut known: FxHashMap<_, Vec<(usize, Option<Rules>)>> = FxHashMap::default();
        for (index, thread) in model.threads().iter().enumerate() {
            if stop() {
                return None;
            }
            let resembling = known.entry((thread.symbol_count(), extremes(thread))).or_default();
            let own = if resembling.is_empty() { Vec::new() } else { meanings(thread) };
            let kind = resembling.iter_mut().find_map(|(kind, rules)| {
                let sample = &model.threads()[compiled.samples[*kind]];
                (*rules.get_or_insert_with(|| meanings(sample)) == own).then_some(*kind)
            });
            compiled.kind_of.push(kind.unwrap_or(compiled.kinds.len()));
            if kind.is_none() {
                resembling.push((compiled.kinds.len(), None));
                compiled.samples.push(index);
                compiled.kinds.push(compile_kind(thread, &number, stop)?);
            }
        }
        Some(compiled)
    }

    /// A thread's own number of a rule that is given by its number in the thread after which the kind was compiled.
    pub(crate) fn own_rule(&self, thread: ThreadId, rule: usize) -> usize {
        let sample = self.samples[self.kind_of[thread.index()]];
        let wanted = meaning(&self.model.threads()[sample].rules[rule]);
        let same = |rule: &Rule| meaning(rule) == wanted;
        let own = &self.model.threads()[thread.index()].rules;
        if own.get(rule).is_some_and(same) { rule } else { own.iter().position(same).unwrap_or(rule) }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.kind_of.len()
    }

    /// The rules of a thread.
    pub fn kind(&self, thread: ThreadId) -> &Kind {
        &self.kinds[self.kind_of[thread.index()]]
    }

    /// How many shared states there are.
    pub fn shared_count(&self) -> u32 {
        self.used.len() as u32
    }

    /// The model's number of a shared state.
    pub fn shared(&self, shared: u32) -> Shared {
        self.used[shared as usize]
    }

    /// The model's numbers of shared states, and the largest one.
    pub(crate) fn shared_numbers(&self) -> (impl Fn(u32) -> u32 + Sync + '_, u32) {
        (|shared| self.shared(shared).0, self.used.last().map_or(0, |last| last.0))
    }

    /// The number here of one of the model's shared states, if it is in use.
    pub fn number(&self, shared: Shared) -> Option<u32> {
        self.used.binary_search(&shared).ok().map(|number| number as u32)
    }

    /// A view from its row: shared state, then tops.
    pub fn view(&self, row: &[u32]) -> View {
        View { shared: self.shared(row[0]), tops: row[1..].iter().copied().map(Symbol).collect() }
    }

    /// Whether no stack is ever higher than one symbol.
    pub fn is_flat(&self) -> bool {
        let rules = self.model.threads().iter().flat_map(|thread| &thread.rules);
        let flat = |rule: &Rule| !matches!(rule.action, Action::Push { below, .. } if !below.is_bottom());
        self.model.init().stacks.iter().all(|stack| stack.len() <= 1) && rules.into_iter().all(flat)
    }

    /// Whether a view, given in parts, violates a property, itself or with interchangeable threads permuted.
    pub fn violates(
        &self,
        property: &Property,
        symmetry: &Symmetry,
        shared: u32,
        top: impl Fn(ThreadId) -> Symbol,
    ) -> bool {
        property.never.iter().any(|pattern| symmetry.covers(pattern, self.shared(shared), &top))
    }

    /// Which threads are interchangeable: those of one kind that start with the same stack.
    pub fn symmetry(&self) -> Symmetry {
        let labels: Vec<_> = self.kind_of.iter().zip(&self.model.init().stacks).collect();
        Symmetry::by_label(&labels)
    }

    /// The views in a set, in the notation of the model, sorted: all that arise by permuting interchangeable threads,
    /// unless these are too many. Then one of each orbit is listed, after a line that says so.
    ///
    /// A view is a row of a shared state and the number of a word for each thread; `word` gives the symbols of a word, top
    /// first. Only views that violate a property are listed, if that is asked for.
    pub fn list_views<I: Id>(
        &self,
        views: &PackedSet<I>,
        symmetry: &Symmetry,
        word: impl Fn(ThreadId, u32) -> Vec<Symbol>,
        violating: bool,
        budget: &mut Budget,
    ) -> Vec<String> {
        let violates = |row: &[u32], symmetry: &Symmetry| {
            let tops: Vec<_> =
                Threads::all(self.threads()).map(|thread| word(thread, row[thread.field()])[0]).collect();
            let properties = self.model.properties();
            properties.iter().any(|property| self.violates(property, symmetry, row[0], |thread| tops[thread.index()]))
        };
        let (mut row, mut orbits, mut symbols) = (vec![0; views.width()], Vec::new(), 0_u64);
        let mut stopped = false;
        for view in views.ids() {
            views.get(view, &mut row);
            if !violating || violates(&row, symmetry) {
                orbits.push(view);
                symbols = symbols.saturating_add(symmetry.orbit(&row).saturating_mul(self.threads() as u64));
            }
            stopped = budget.pass(LISTED_EFFORT).is_err();
            if stopped {
                break;
            }
        }
        let unfold = symbols <= MOST_LISTED || symmetry.is_trivial();
        let none = Symmetry::none(self.threads());
        let mut listed: Vec<(Shared, Vec<Vec<Symbol>>)> = Vec::new();
        let mut list = |row: &[u32], symmetry: &Symmetry| {
            if !violating || violates(row, symmetry) {
                let words = Threads::all(self.threads()).map(|thread| word(thread, row[thread.field()])).collect();
                listed.push((self.shared(row[0]), words));
            }
        };
        for view in orbits {
            views.get(view, &mut row);
            match unfold {
                true => symmetry.unfold(&row, &mut |row| list(row, &none)),
                false => list(&row, symmetry),
            }
            let effort = if unfold { symmetry.orbit(&row).saturating_mul(LISTED_EFFORT) } else { LISTED_EFFORT };
            stopped |= budget.pass(effort).is_err();
            if stopped {
                break;
            }
        }
        listed.sort_unstable();
        let orbits = (!unfold).then(|| "# one of each orbit: interchangeable threads may be permuted".to_owned());
        let shown = listed.iter().map(|(shared, words)| self.show_view(*shared, words));
        let cut = stopped.then(|| "# a limit was reached: the list is not complete".to_owned());
        orbits.into_iter().chain(shown).chain(cut).collect()
    }

    /// A view in the notation of the model.
    pub(crate) fn show_view(&self, shared: Shared, words: &[Vec<Symbol>]) -> String {
        let words: Vec<_> =
            self.model.threads().iter().zip(words).map(|(thread, word)| show_word(thread, word)).collect();
        format!("{}|{}", self.model.shared_name(shared), words.join(","))
    }

    /// A row of the initial state's stacks, top first, the marker at the end.
    pub(crate) fn initial_words(&self) -> impl Iterator<Item = Vec<Symbol>> + '_ {
        let word = |stack: &Vec<Symbol>| stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect();
        self.model.init().stacks.iter().map(word)
    }
}

/// A word as stacks are written, from bottom to top; with dots before it where it shows more than a top and more may lie
/// below.
fn show_word(thread: &Thread, word: &[Symbol]) -> String {
    let name = |&symbol: &Symbol| thread.symbol_name(symbol);
    match word {
        [top] => name(top).to_owned(),
        [upper @ .., last] if last.is_bottom() => upper.iter().rev().map(name).collect::<Vec<_>>().join("."),
        _ => format!("..{}", word.iter().rev().map(name).collect::<Vec<_>>().join(".")),
    }
}

fn compile_kind(thread: &Thread, number: &FxHashMap<Shared, u32>, stop: &dyn Fn() -> bool) -> Option<Kind> {
    let mut order: Vec<u32> = (0..thread.rules.len() as u32).collect();
    let head = |&rule: &u32| {
        let rule = &thread.rules[rule as usize];
        (rule.from, rule.top.0)
    };
    order.sort_by_key(head);
    let mut looked = 0;
    let (symbols, mut moving) = (thread.symbol_count(), vec![false; thread.symbol_count() as usize]);
    thread.rules.iter().for_each(|rule| moving[rule.top.0 as usize] = true);
    let mut kind = Kind { heads: FxHashMap::default(), moves: Vec::new(), moving, symbols };
    for group in order.chunk_by(|one, other| head(one) == head(other)) {
        let start = kind.moves.len();
        let mut known = FxHashSet::default();
        for &index in group {
            let rule = &thread.rules[index as usize];
            let to = number[&rule.to];
            if known.insert((to, rule.action)) {
                kind.moves.push(Move { to, action: rule.action, rule: index });
            }
        }
        let (from, top) = head(&group[0]);
        kind.heads.insert((number[&from], top), (start as u32, kind.moves.len() as u32));
        if start >= looked + LOOK_EVERY {
            looked = start;
            if stop() {
                return None;
            }
        }
    }
    Some(kind)
}
