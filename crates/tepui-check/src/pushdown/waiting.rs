//! What threads of a pushdown system touch: which of their rules can change places.
//!
//! The things that threads have in common are *heads*, here: threads with a symbol on top. What a thread may ever do reads the
//! heads that it may ever show. What it does next writes those of which a rule does not *commute* with its own rules. A rule of
//! another thread, from a shared state q to a shared state r, commutes with those of a head if
//!
//! 1. for each that leads from r to a shared state s, one with the same effect on the stack leads from q to some t, from where the
//!    rule of the other, with its effect, leads to s: so a step comes earlier;
//! 2. for each that leads from q to a shared state t, one with the same effect leads from r to some s, and the rule of the other
//!    leads from t to s: so a step is put in front, and neither thread loses what it can do.
//!
//! Properties may be about several threads, and about the shared state. A head is *seen* if some pattern covers a state before one
//! of its rules is applied and, as far as that shows, not afterwards. What is seen writes all heads: then no thread waits that
//! can ever move.

use tepui_model::pushdown::{Action, Pattern, Rule, Shared, Symbol};

use super::system::Rules;
use crate::lemma::{Footprint, Things, Touched};
use crate::system::System as _;

/// For each symbol of a thread those that its rules write when it is on top.
pub(super) type Written = Vec<Vec<Symbol>>;

impl Rules<'_> {
    /// What a thread touches whose stack has some symbols, the top first, and may have some of the others.
    pub(super) fn touched_by(&self, thread: usize, stack: &[Symbol]) -> Option<Touched> {
        let top = *stack.first()?;
        let mut known = self.writes.borrow_mut();
        let writes = known.entry((thread, top)).or_insert_with(|| self.written(thread, top)).clone();
        let mut known = self.written.borrow_mut();
        let written = known.entry(thread).or_insert_with(|| self.written_above(thread));
        // All that may come to be on top, whatever the shared state is.
        let mut ever = Footprint::default();
        let (mut seen, mut open) = (vec![false; written.len()], [stack, &[Symbol::BOTTOM]].concat());
        while let Some(symbol) = open.pop() {
            if !std::mem::replace(&mut seen[symbol.0 as usize], true) {
                ever.reads.insert(self.head(thread, symbol));
                open.extend(&written[symbol.0 as usize]);
            }
        }
        Some(Touched { next: Footprint { reads: Things::default(), writes }, ever })
    }

    /// The number of a head.
    fn head(&self, thread: usize, symbol: Symbol) -> usize {
        self.first_head[thread] + symbol.0 as usize
    }

    /// The heads that do not commute with one.
    fn written(&self, thread: usize, top: Symbol) -> Things {
        let (mut heads, is_seen) = (Things::default(), self.is_seen(thread, top));
        for (number, other) in self.model.threads().iter().enumerate() {
            let collide = |rule: &&Rule| is_seen || !self.commutes((thread, top), (number, rule));
            let colliding = other.rules.iter().filter(collide);
            colliding.for_each(|rule| heads.insert(self.head(number, rule.top)));
        }
        heads
    }

    /// Where rules with a symbol on top lead to, and with what effect.
    fn results(&self, thread: usize, shared: Shared, top: Symbol) -> impl Iterator<Item = (Shared, Action)> {
        let rules = self.by_head[thread].get(&(shared.0, top)).map_or(&[][..], Vec::as_slice);
        rules.iter().map(move |&rule| &self.model.threads()[thread].rules[rule]).map(|rule| (rule.to, rule.action))
    }

    /// Whether a rule of another thread commutes with those of a head.
    fn commutes(&self, (thread, top): (usize, Symbol), (other, rule): (usize, &Rule)) -> bool {
        let (before, after) = (rule.from, rule.to);
        let leads =
            |from: Shared, to: Shared| self.results(other, from, rule.top).any(|found| found == (to, rule.action));
        let mut later = self.results(thread, after, top);
        let mut earlier = self.results(thread, before, top);
        later.all(|(last, effect)| {
            self.results(thread, before, top).any(|(between, same)| same == effect && leads(between, last))
        }) && earlier.all(|(between, effect)| {
            self.results(thread, after, top).any(|(last, same)| same == effect && leads(between, last))
        })
    }

    /// Whether some pattern may cover a state before a rule of a head is applied and not afterwards. Those of interchangeable
    /// threads count for all of them.
    fn is_seen(&self, thread: usize, top: Symbol) -> bool {
        let places: Vec<_> = (0..self.threads()).filter(|&place| self.alike(place, thread).is_ok()).collect();
        let shows = |pattern: &Pattern, place: usize, shared: Shared, top: Option<Symbol>| {
            pattern.shared.is_none_or(|wanted| wanted == shared)
                && pattern.tops[place].is_none_or(|wanted| Some(wanted) == top)
        };
        let patterns = || self.model.properties().iter().flat_map(|property| &property.never);
        let mut rules = self.model.threads()[thread].rules.iter().filter(|rule| rule.top == top);
        rules.any(|rule| {
            let next = match rule.action {
                Action::Pop => None,
                Action::Overwrite(symbol) | Action::Push { top: symbol, .. } => Some(symbol),
            };
            patterns().any(|pattern| {
                let hides = |&place: &usize| {
                    shows(pattern, place, rule.from, Some(top)) && !shows(pattern, place, rule.to, next)
                };
                places.iter().any(hides)
            })
        })
    }

    /// For each symbol what rules of a thread write that have it on top.
    fn written_above(&self, thread: usize) -> Written {
        let mut written = vec![Vec::new(); self.symbols(thread) as usize];
        for rule in &self.model.threads()[thread].rules {
            match rule.action {
                Action::Pop => {}
                Action::Overwrite(symbol) => written[rule.top.0 as usize].push(symbol),
                Action::Push { top, below } => written[rule.top.0 as usize].extend([top, below]),
            }
        }
        written
    }
}
