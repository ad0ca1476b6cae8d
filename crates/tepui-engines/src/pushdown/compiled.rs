//! A pushdown model, compiled for searching.
//!
//! Shared states are renumbered to those that the initial state and the rules mention, so that nothing here grows
//! with the number that a file declares. Threads with the same rules are of one *kind* and share its tables. A kind's
//! rules are grouped by head (shared state and top of the stack); duplicates are dropped, the first one stays.

use rustc_hash::FxHashMap;
use tepui_model::pushdown::{Action, Model, Shared, Symbol, View};

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
    used: Vec<Shared>,
}

impl Compiled {
    /// Compiles a model.
    pub fn new(model: &Model) -> Self {
        let mut used: Vec<_> =
            model.threads().iter().flat_map(|thread| &thread.rules).flat_map(|r| [r.from, r.to]).collect();
        used.push(model.init().shared);
        used.sort_unstable();
        used.dedup();
        let number: FxHashMap<_, _> = used.iter().copied().zip(0..).collect();
        let mut compiled = Self {
            model: model.clone(),
            kind_of: Vec::new(),
            kinds: Vec::new(),
            init: number[&model.init().shared],
            used,
        };
        let mut samples: Vec<usize> = Vec::new();
        for (index, thread) in model.threads().iter().enumerate() {
            let known = samples.iter().position(|&sample| model.threads()[sample].behaves_like(thread));
            compiled.kind_of.push(known.unwrap_or(samples.len()));
            if known.is_none() {
                samples.push(index);
                compiled.kinds.push(compile_kind(model, index, &number));
            }
        }
        compiled
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.kind_of.len()
    }

    /// The rules of a thread.
    pub fn kind(&self, thread: usize) -> &Kind {
        &self.kinds[self.kind_of[thread]]
    }

    /// How many shared states there are.
    pub fn shared_count(&self) -> u32 {
        self.used.len() as u32
    }

    /// The model's number of a shared state.
    pub fn shared(&self, shared: u32) -> Shared {
        self.used[shared as usize]
    }

    /// The number here of one of the model's shared states, if it is in use.
    pub fn number(&self, shared: Shared) -> Option<u32> {
        self.used.binary_search(&shared).ok().map(|number| number as u32)
    }

    /// A view from its row: shared state, then tops.
    pub fn view(&self, row: &[u32]) -> View {
        View { shared: self.shared(row[0]), tops: row[1..].iter().copied().map(Symbol).collect() }
    }

    /// A row of the initial state's stacks, top first, the marker at the end.
    pub fn initial_words(&self) -> impl Iterator<Item = Vec<Symbol>> + '_ {
        let word = |stack: &Vec<Symbol>| stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect();
        self.model.init().stacks.iter().map(word)
    }
}

fn compile_kind(model: &Model, thread: usize, number: &FxHashMap<Shared, u32>) -> Kind {
    let thread = &model.threads()[thread];
    let mut order: Vec<u32> = (0..thread.rules.len() as u32).collect();
    let head = |&rule: &u32| {
        let rule = &thread.rules[rule as usize];
        (number[&rule.from], rule.top.0)
    };
    order.sort_by_key(head);
    let mut kind = Kind { heads: FxHashMap::default(), moves: Vec::new(), symbols: thread.symbol_count() };
    for group in order.chunk_by(|one, other| head(one) == head(other)) {
        let start = kind.moves.len();
        for &index in group {
            let rule = &thread.rules[index as usize];
            let to = number[&rule.to];
            if !kind.moves[start..].iter().any(|old| (old.to, old.action) == (to, rule.action)) {
                kind.moves.push(Move { to, action: rule.action, rule: index });
            }
        }
        kind.heads.insert(head(&group[0]), (start as u32, kind.moves.len() as u32));
    }
    kind
}
