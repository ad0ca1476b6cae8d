//! A trace with the fewest contexts and, among those, the fewest steps, found backwards.
//!
//! The search keeps no parents: a state may be continued by several threads within one level, each with a history of
//! its own, and a parent for each of them would be the largest part of the memory. Instead the way is found from its
//! end. In a trace with the least number k of contexts, a state in the j-th context has level j, or level j - 1 while
//! the context has not brought anything new yet, and at the end of the context it has level j. So walk backwards over
//! places (state, active thread, j), from all violating states of level k: a step back costs one, a change of the
//! thread, possible where the state has level j - 1, costs nothing. Breadth first, with free moves before costly
//! ones, where a way counts only if no shorter one turned up while it waited.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::search::Search;
use crate::ids::{StateId, ThreadId, Threads};
use crate::pushdown::prefilter::Prefilter;
use crate::pushdown::stacks::Stacks;
use crate::pushdown::top_views::TopViews;
use crate::pushdown::trace::Found;
use crate::system::PathStep;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    state: StateId,
    thread: ThreadId,
    context: u32,
}

/// The steps from the initial state to a violation of a property that was found.
pub(crate) fn shortest(
    search: &Search<TopViews<Stacks>>,
    property: usize,
    budget: &mut Budget,
) -> Result<Vec<Found>, Stop> {
    let Some(violation) = &search.violations[property] else { return Ok(Vec::new()) };
    if violation.level == 0 {
        return Ok(Vec::new());
    }
    let path = Walk::new(search, property, violation.level, budget)?.run(budget)?;
    Ok(search.explorer.system.system.real_steps(&search.explorer.row(StateId::INITIAL), &path))
}

struct Walk<'a> {
    search: &'a Search<TopViews<Stacks>>,
    rules: RulesByResult,
    best: FxHashMap<Place, Known>,
    queue: VecDeque<(Place, u32)>,
    row: Vec<u32>,
}

/// The best way known from a place to the end: its length, and its first move, unless this is the end. A move without a
/// rule is a change of threads.
#[derive(Clone, Copy)]
struct Known {
    steps: u32,
    first: Option<(Place, Option<u32>)>,
}

impl<'a> Walk<'a> {
    fn new(
        search: &'a Search<TopViews<Stacks>>,
        property: usize,
        level: usize,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let (compiled, threads) = (search.compiled(), search.compiled().threads());
        let (best, queue, row) = (FxHashMap::default(), VecDeque::new(), vec![0; threads + 1]);
        let mut walk = Self { search, rules: rules_by_result(search), best, queue, row };
        let property = &compiled.model.properties()[property];
        let prefilter = Prefilter::of(compiled, search.symmetry(), std::slice::from_ref(property));
        for state in search.states_of(level) {
            budget.pass(1)?;
            search.explorer.states.get(state, &mut walk.row);
            let top =
                |thread: ThreadId| search.locals().top(compiled.kind_of[thread.index()], walk.row[thread.field()]);
            let may_violate = prefilter.include(walk.row[0], |thread| top(thread).0);
            if may_violate && compiled.violates(property, search.symmetry(), walk.row[0], top) {
                for thread in Threads::all(threads) {
                    let place = Place { state, thread, context: level as u32 };
                    walk.best.insert(place, Known { steps: 0, first: None });
                    walk.queue.push_back((place, 0));
                }
            }
        }
        Ok(walk)
    }

    fn run(mut self, budget: &mut Budget) -> Result<Vec<PathStep>, Stop> {
        while let Some((place, steps)) = self.queue.pop_front() {
            budget.spend(1)?;
            if self.best[&place].steps < steps {
                continue; // A shorter way was found while this one waited.
            }
            let may_change = self.search.level_of(place.state) < place.context as usize;
            if may_change && place.context == 1 {
                return Ok(self.unroll(place));
            }
            if may_change {
                for thread in Threads::all(self.search.compiled().threads()).filter(|&thread| thread != place.thread) {
                    let earlier = Place { thread, context: place.context - 1, ..place };
                    self.reach(earlier, Known { steps, first: Some((place, None)) });
                }
            }
            self.step_back(place, steps, budget)?;
        }
        Err(Stop::defect("no way back from a violation to the initial state was found"))
    }

    /// Notes a way from a place, if it is the shortest so far. Free moves are followed before costly ones.
    fn reach(&mut self, place: Place, way: Known) {
        if self.best.get(&place).is_some_and(|known| known.steps <= way.steps) {
            return;
        }
        self.best.insert(place, way);
        match way.first {
            Some((_, Some(_))) => self.queue.push_back((place, way.steps)),
            _ => self.queue.push_front((place, way.steps)),
        }
    }

    fn step_back(&mut self, place: Place, steps: u32, budget: &mut Budget) -> Result<(), Stop> {
        let search = self.search;
        let thread = place.thread;
        search.explorer.states.get(place.state, &mut self.row);
        let (shared, stack) = (self.row[0], self.row[thread.field()]);
        let top = search.locals().top(search.compiled().kind_of[thread.index()], stack);
        let rules = [Some(top), None].map(|top| self.rules.get(&(thread, shared, top)).cloned().unwrap_or_default());
        for rule in rules.into_iter().flatten() {
            budget.spend(1)?;
            let Some(earlier) = self.undo(thread, rule, stack) else { continue };
            let mut before = self.row.clone();
            (before[0], before[thread.field()]) = earlier;
            let thread = search.symmetry().canonicalise_at(&mut before, thread);
            let Some(state) = search.explorer.states.find(&before) else { continue };
            let level = search.level_of(state) as u32;
            if level == place.context || level + 1 == place.context {
                let earlier = Place { state, thread, ..place };
                self.reach(earlier, Known { steps: steps + 1, first: Some((place, Some(rule))) });
            }
        }
        Ok(())
    }

    /// The shared state and the stack from which a rule leads to a stack.
    fn undo(&self, thread: ThreadId, rule: u32, stack: u32) -> Option<(u32, u32)> {
        let search = self.search;
        let (kind, locals) = (search.compiled().kind_of[thread.index()], search.locals());
        let rule = &search.compiled().model.threads()[thread.index()].rules[rule as usize];
        let under =
            |expected: Symbol, stack: u32| (locals.top(kind, stack) == expected).then(|| locals.rest(kind, stack));
        let rest = match rule.action {
            Action::Pop => stack,
            Action::Overwrite(symbol) => under(symbol, stack)?,
            Action::Push { top, below } => under(below, under(top, stack)?)?,
        };
        Some((search.compiled().number(rule.from)?, locals.find(kind, rule.top, rest)?))
    }

    /// The steps from a place to the end.
    fn unroll(&self, mut place: Place) -> Vec<PathStep> {
        let mut steps = Vec::new();
        while let Some((next, rule)) = self.best[&place].first {
            if rule.is_some() {
                let row = self.search.explorer.row(next.state);
                steps.push(PathStep { before: place.thread, after: next.thread, row });
            }
            place = next;
        }
        steps
    }
}

/// For each thread, shared state and top of the stack, the rules that lead there; those that pop are listed without a
/// top.
type RulesByResult = FxHashMap<(ThreadId, u32, Option<Symbol>), Vec<u32>>;

fn rules_by_result(search: &Search<TopViews<Stacks>>) -> RulesByResult {
    let mut rules = RulesByResult::default();
    for (thread, owner) in Threads::all(search.compiled().threads()).zip(search.compiled().model.threads()) {
        for (index, rule) in (0..).zip(&owner.rules) {
            let top = match rule.action {
                Action::Pop => None,
                Action::Overwrite(top) | Action::Push { top, .. } => Some(top),
            };
            if let Some(shared) = search.compiled().number(rule.to) {
                rules.entry((thread, shared, top)).or_default().push(index);
            }
        }
    }
    rules
}
