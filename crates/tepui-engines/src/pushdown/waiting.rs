//! Which threads of a pushdown model can wait while others are explored.
//!
//! A *head* is a kind of thread with a symbol on top. Two heads of two threads collide if their rules do not commute: if, in
//! some shared state, the second thread takes a step, and the first one can do something afterwards that it could not do
//! before with the same effect, or the other way round, or what both make of the shared state depends on who comes first. That is
//! worked out for all pairs of heads before the search, where it costs little beside it. A head at which a property may notice a step
//! collides with all heads, since a step of a thread that is explored is put in front of those of others.
//!
//! What a thread may ever do is what the symbols of its stack may become, whatever the shared state is, and what may lie below
//! those in sight: all that was ever seen below a symbol in threads of its kind. So more becomes known as the search goes on,
//! and sets that were [persistent](crate::persistent) have to be completed.

use rustc_hash::FxHashMap;
use tepui_model::pushdown::{Action, Pattern, Symbol};

use super::compiled::{Compiled, Kind, Move};
use super::system::Locals;
use crate::ids::{ThreadId, Threads};
use crate::interner::Interner;
use crate::persistent::Disturbing;
use crate::symmetry::Symmetry;
use crate::system::Choice;

/// Sets of heads, as bits.
type Heads = Vec<u64>;

/// The most heads, and the most rules that are compared with heads.
const MOST: (usize, usize) = (1 << 12, 1 << 22);

/// What is known of heads and stacks.
pub(super) struct Waiting {
    /// For each kind the number of its first head.
    first: Vec<usize>,
    /// For each head those that it collides with.
    collisions: Vec<Heads>,
    /// For each head those that its symbol may lead to, as the number of a set.
    leads_to: Vec<u32>,
    sets: Interner<Heads>,
    joined: FxHashMap<(u32, u32), u32>,
    /// For each kind and local what its threads may ever show.
    ever: Vec<Vec<u32>>,
    /// For each kind what all symbols may ever show that lie below others.
    below: Vec<u32>,
    /// How often that has grown.
    pub(super) grown: usize,
}

impl Waiting {
    /// What is known of a model before any stack is; nothing, if it would cost too much, or if no two threads have heads that
    /// do not collide.
    pub(super) fn new(compiled: &Compiled) -> Option<Self> {
        let count = |first: &mut usize, kind: &Kind| Some(std::mem::replace(first, *first + kind.symbols as usize));
        let first: Vec<_> = compiled.kinds.iter().scan(0, count).collect();
        let heads: usize = compiled.kinds.iter().map(|kind| kind.symbols as usize).sum();
        let rules: usize = compiled.kinds.iter().map(Kind::size).sum();
        if compiled.threads() < 2 || heads > MOST.0 || heads.saturating_mul(rules) > MOST.1 {
            return None;
        }
        let rules = compiled.kinds.iter().map(Kind::heads).collect();
        let collisions = Colliding { compiled, first: &first, heads, rules }.all();
        let mut sets = Interner::default();
        let mut leads_to = Vec::with_capacity(heads);
        for (kind, &first) in compiled.kinds.iter().zip(&first) {
            leads_to.extend(futures(kind, first, heads).into_iter().map(|set| sets.intern(set)));
        }
        let below = first.iter().map(|&first| leads_to[first]).collect();
        let ever = vec![Vec::new(); compiled.kinds.len()];
        let waiting = Self { first, collisions, leads_to, sets, joined: FxHashMap::default(), ever, below, grown: 0 };
        waiting.may_help(compiled).then_some(waiting)
    }

    /// Whether some head of a thread collides with none that another thread has.
    fn may_help(&self, compiled: &Compiled) -> bool {
        let own = |kind: usize| self.first[kind]..self.first[kind] + compiled.kinds[kind].symbols as usize;
        let kinds = &compiled.kind_of;
        let apart = |one: usize, other: usize| {
            let moves = |head: &usize| compiled.kinds[one].may_move(Symbol((head - self.first[one]) as u32));
            own(one).filter(moves).any(|head| !own(other).any(|other| has(&self.collisions[head], other)))
        };
        let several = |kind: usize| kinds.iter().filter(|&&own| own == kind).count() > 1;
        (0..self.first.len())
            .any(|one| (0..self.first.len()).any(|other| (one != other || several(one)) && apart(one, other)))
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let words = self.leads_to.len().div_ceil(64) * (self.collisions.len() + self.sets.len());
        let locals: usize = self.ever.iter().map(|ever| ever.capacity() * 4).sum();
        (words * 8 + locals + self.joined.capacity() * 13) as u64
    }

    /// Finds out what may become of locals that are new.
    pub(super) fn note(&mut self, locals: &impl Locals) {
        for kind in 0..self.first.len() {
            for local in self.ever[kind].len()..locals.count(kind) {
                let Some((top, rest)) = locals.split(kind, local as u32) else { return };
                let own = self.leads_to[self.first[kind] + top.0 as usize];
                if top.is_bottom() {
                    self.ever[kind].push(own);
                    continue;
                }
                let lower = self.ever[kind][rest as usize];
                let (ever, more) = (self.join(own, lower), self.join(self.below[kind], lower));
                self.ever[kind].push(ever);
                self.grown += usize::from(std::mem::replace(&mut self.below[kind], more) != more);
            }
        }
    }

    fn join(&mut self, one: u32, other: u32) -> u32 {
        if one == other {
            return one;
        }
        let sets = &mut self.sets;
        *self.joined.entry((one, other)).or_insert_with(|| {
            let both = sets[one].iter().zip(&sets[other]).map(|(one, other)| one | other).collect();
            sets.intern(both)
        })
    }

    /// The threads to explore at a state to which a step of some thread led first.
    pub(super) fn choose(
        &self,
        (compiled, symmetry, locals): (&Compiled, &Symmetry, &impl Locals),
        row: &[u32],
        mover: ThreadId,
        chosen: &mut Vec<ThreadId>,
    ) -> Choice {
        let disturbances = self.at(compiled, locals, row);
        let can_move = |thread: ThreadId| {
            !symmetry.repeats(row, thread) && !compiled.kind(thread).moves(row[0], disturbances.top(thread)).is_empty()
        };
        let found = disturbances.fewest(mover, can_move, |_| true, chosen);
        // Who can never move need not be named.
        let idle = |thread: ThreadId| self.sets[disturbances.threads[thread.index()].1].iter().all(|word| *word == 0);
        let all = Threads::of(row).all(|thread| chosen.contains(&thread) || idle(thread));
        if !found || all { Choice::All } else { Choice::Some }
    }

    /// Adds whoever collides with threads of a set.
    pub(super) fn complete(&self, compiled: &Compiled, locals: &impl Locals, row: &[u32], set: &mut Vec<ThreadId>) {
        self.at(compiled, locals, row).close(set, |_| true);
    }

    fn at(&self, compiled: &Compiled, locals: &impl Locals, row: &[u32]) -> Disturbances<'_> {
        let thread = |thread: ThreadId| {
            let (kind, local) = (compiled.kind_of[thread.index()], row[thread.field()]);
            let top = locals.split(kind, local).map_or(Symbol::BOTTOM, |(top, _)| top);
            let ever = self.ever[kind][local as usize];
            let below = if top.is_bottom() { ever } else { self.below[kind] };
            (self.first[kind] + top.0 as usize, ever, below, top)
        };
        Disturbances { waiting: self, threads: Threads::of(row).map(thread).collect() }
    }
}

/// The heads of threads at a state, what they may ever show, and what what lies below may.
struct Disturbances<'a> {
    waiting: &'a Waiting,
    threads: Vec<(usize, u32, u32, Symbol)>,
}

impl Disturbances<'_> {
    fn top(&self, thread: ThreadId) -> Symbol {
        self.threads[thread.index()].3
    }
}

impl Disturbing for Disturbances<'_> {
    fn threads(&self) -> usize {
        self.threads.len()
    }

    #[inline]
    fn collides(&self, thread: ThreadId, other: ThreadId) -> bool {
        let (own, (_, ever, below, _)) = (self.threads[thread.index()].0, self.threads[other.index()]);
        let collisions = &self.waiting.collisions[own];
        let meets = |set: u32| self.waiting.sets[set].iter().zip(collisions).any(|(word, other)| word & other != 0);
        meets(ever) || self.waiting.grown > 0 && meets(below)
    }
}

/// Which heads collide.
struct Colliding<'a> {
    compiled: &'a Compiled,
    first: &'a [usize],
    heads: usize,
    /// For each kind the shared states and symbols that have rules.
    rules: Vec<Vec<(u32, Symbol)>>,
}

impl Colliding<'_> {
    fn all(&self) -> Vec<Heads> {
        let kinds = &self.compiled.kinds;
        let mut collisions = Vec::with_capacity(self.heads);
        for (number, kind) in kinds.iter().enumerate() {
            let is_seen = self.are_seen(number);
            for top in (0..kind.symbols).map(Symbol) {
                let mut heads = vec![0; self.heads.div_ceil(64)];
                for ((other, rules), &first) in kinds.iter().zip(&self.rules).zip(self.first) {
                    for &(shared, symbol) in rules {
                        let head = first + symbol.0 as usize;
                        let known = has(&heads, head);
                        if !known && (is_seen[top.0 as usize] || !commute((kind, top), (other, shared, symbol))) {
                            set(&mut heads, head);
                        }
                    }
                }
                collisions.push(heads);
            }
        }
        collisions
    }

    /// For each symbol of a kind whether a pattern may cover a state before some step at it, and not afterwards.
    fn are_seen(&self, kind: usize) -> Vec<bool> {
        let Compiled { model, kind_of, kinds, .. } = self.compiled;
        let places: Vec<_> = (0..kind_of.len()).filter(|&thread| kind_of[thread] == kind).collect();
        let covers = |pattern: &Pattern, place: usize, shared: u32, top: Option<Symbol>| {
            pattern.shared.is_none_or(|wanted| wanted == self.compiled.shared(shared))
                && pattern.tops[place].is_none_or(|wanted| top == Some(wanted))
        };
        let leaves = |(shared, top): (u32, Symbol), step: &Move| {
            let next = match step.action {
                Action::Pop => None,
                Action::Overwrite(symbol) | Action::Push { top: symbol, .. } => Some(symbol),
            };
            let mut patterns = model.properties().iter().flat_map(|property| &property.never);
            patterns.any(|pattern| {
                let left = |&place: &usize| {
                    covers(pattern, place, shared, Some(top)) && !covers(pattern, place, step.to, next)
                };
                places.iter().any(left)
            })
        };
        let mut seen = vec![false; kinds[kind].symbols as usize];
        for &head in &self.rules[kind] {
            seen[head.1.0 as usize] |= kinds[kind].moves(head.0, head.1).iter().any(|step| leaves(head, step));
        }
        seen
    }
}

/// Whether the steps of a head commute with those of another thread at some shared state and symbol.
fn commute((kind, top): (&Kind, Symbol), (other, shared, symbol): (&Kind, u32, Symbol)) -> bool {
    let same = |one: &Move, next: &Move| one.action == next.action;
    other.moves(shared, symbol).iter().all(|theirs| {
        let (before, after) = (kind.moves(shared, top), kind.moves(theirs.to, top));
        // Whether the other thread still gets to a shared state after a step that was put in front of its own.
        let leads = |from: &Move, to: &Move| {
            other.moves(from.to, symbol).iter().any(|again| again.to == to.to && same(again, theirs))
        };
        after.iter().all(|late| before.iter().any(|early| same(early, late) && leads(early, late)))
            && before.iter().all(|early| after.iter().any(|late| same(early, late) && leads(early, late)))
    })
}

/// For each symbol of a kind the heads that it may lead to, of those that have rules; that the stack becomes empty included.
fn futures(kind: &Kind, first: usize, heads: usize) -> Vec<Heads> {
    let symbols = kind.symbols as usize;
    let mut writes: Vec<Vec<Symbol>> = vec![Vec::new(); symbols];
    for (shared, top) in kind.heads() {
        for step in kind.moves(shared, top) {
            match step.action {
                Action::Pop => {}
                Action::Overwrite(symbol) => writes[top.0 as usize].push(symbol),
                Action::Push { top: upper, below } => writes[top.0 as usize].extend([upper, below]),
            }
        }
    }
    for written in &mut writes {
        written.sort_unstable();
        written.dedup();
    }
    let future = |symbol: usize| {
        let (mut found, mut seen) = (vec![0; heads.div_ceil(64)], vec![false; symbols]);
        let mut open = vec![Symbol(symbol as u32), Symbol::BOTTOM];
        while let Some(symbol) = open.pop() {
            if !std::mem::replace(&mut seen[symbol.0 as usize], true) {
                open.extend(&writes[symbol.0 as usize]);
                if kind.may_move(symbol) {
                    set(&mut found, first + symbol.0 as usize);
                }
            }
        }
        found
    };
    (0..symbols).map(future).collect()
}

fn has(heads: &[u64], head: usize) -> bool {
    heads[head / 64] >> (head % 64) & 1 == 1
}

fn set(heads: &mut [u64], head: usize) {
    heads[head / 64] |= 1 << (head % 64);
}
