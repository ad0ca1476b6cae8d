//! A trace with the fewest contexts and, among those, the fewest steps, found backwards.
//!
//! The search keeps no parents: a state may be continued by several threads within one level, each with a history of its
//! own, and a parent for each of them would be the largest part of the memory. Instead the way is found from its end. In a
//! trace with the least number k of contexts, a state in the j-th context has level j, or level j - 1 while the context has
//! not brought anything new yet, and at the end of the context it has level j. So walk backwards over places (state, active thread,
//! j), from all violating states of level k: a step back costs one, a change of the thread, possible where the state has
//! level j - 1, costs nothing. Breadth first, with free moves before costly ones.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::pushdown::{Action, Symbol};

use super::search::Search;
use super::stacks::Stacks;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Place {
    state: u32,
    thread: u16,
    context: u32,
}

/// The steps (thread, rule) from the initial state to a violation of a property that was found.
pub fn shortest(search: &Search<Stacks>, property: usize, budget: &mut Budget) -> Result<Vec<(usize, usize)>, Stop> {
    let Some(violation) = &search.violations[property] else { return Ok(Vec::new()) };
    if violation.level == 0 {
        return Ok(Vec::new());
    }
    Walk::new(search, property, violation.level).run(budget)
}

struct Walk<'a> {
    search: &'a Search<Stacks>,
    before: FxHashMap<(u16, u32), Vec<u32>>,
    /// For each place seen, the place it leads to and the rule taken, if it is not the end or a change of threads.
    seen: FxHashMap<Place, Option<(Place, Option<u32>)>>,
    queue: VecDeque<Place>,
    row: Vec<u32>,
}

impl<'a> Walk<'a> {
    fn new(search: &'a Search<Stacks>, property: usize, level: usize) -> Self {
        let threads = search.compiled.threads();
        let (seen, queue, row) = (FxHashMap::default(), VecDeque::new(), vec![0; threads + 1]);
        let mut walk = Self { search, before: rules_by_target(search), seen, queue, row };
        let property = &search.compiled.model.properties()[property];
        for state in search.states_of(level) {
            search.states.get(state, &mut walk.row);
            let top = |thread: usize| search.locals.top(search.compiled.kind_of[thread], walk.row[thread + 1]);
            if property.forbids(search.compiled.shared(walk.row[0]), top) {
                for thread in 0..threads as u16 {
                    let place = Place { state, thread, context: level as u32 };
                    walk.seen.insert(place, None);
                    walk.queue.push_back(place);
                }
            }
        }
        walk
    }

    fn run(mut self, budget: &mut Budget) -> Result<Vec<(usize, usize)>, Stop> {
        while let Some(place) = self.queue.pop_front() {
            budget.spend(1)?;
            let may_change = self.search.level_of(place.state) < place.context as usize;
            if may_change && place.context == 1 {
                return Ok(self.unroll(place));
            }
            if may_change {
                for thread in (0..self.search.compiled.threads() as u16).filter(|&thread| thread != place.thread) {
                    let earlier = Place { thread, context: place.context - 1, ..place };
                    self.visit(earlier, (place, None), true);
                }
            }
            self.step_back(place);
        }
        Err(Stop::GaveUp("no way back from a violation to the initial state was found; this is a defect".to_owned()))
    }

    fn visit(&mut self, place: Place, leads_to: (Place, Option<u32>), free: bool) {
        if self.seen.contains_key(&place) {
            return;
        }
        self.seen.insert(place, Some(leads_to));
        if free { self.queue.push_front(place) } else { self.queue.push_back(place) }
    }

    fn step_back(&mut self, place: Place) {
        let search = self.search;
        let field = usize::from(place.thread) + 1;
        search.states.get(place.state, &mut self.row);
        let (shared, stack) = (self.row[0], self.row[field]);
        for rule in self.before.get(&(place.thread, shared)).cloned().unwrap_or_default() {
            let Some(earlier) = self.undo(place.thread, rule, stack) else { continue };
            search.states.get(place.state, &mut self.row);
            (self.row[0], self.row[field]) = earlier;
            let Some(state) = search.states.find(&self.row) else { continue };
            let level = search.level_of(state) as u32;
            if level == place.context || level + 1 == place.context {
                self.visit(Place { state, ..place }, (place, Some(rule)), false);
            }
        }
    }

    /// The shared state and the stack from which a rule leads to a stack.
    fn undo(&self, thread: u16, rule: u32, stack: u32) -> Option<(u32, u32)> {
        let (search, thread) = (self.search, usize::from(thread));
        let (kind, locals) = (search.compiled.kind_of[thread], &search.locals);
        let rule = &search.compiled.model.threads()[thread].rules[rule as usize];
        let under =
            |expected: Symbol, stack: u32| (locals.top(kind, stack) == expected).then(|| locals.rest(kind, stack));
        let rest = match rule.action {
            Action::Pop => stack,
            Action::Overwrite(symbol) => under(symbol, stack)?,
            Action::Push { top, below } => under(below, under(top, stack)?)?,
        };
        Some((search.compiled.number(rule.from)?, locals.find(kind, rule.top, rest)?))
    }

    fn unroll(&self, mut place: Place) -> Vec<(usize, usize)> {
        let mut steps = Vec::new();
        while let Some((next, rule)) = self.seen[&place] {
            steps.extend(rule.map(|rule| (usize::from(place.thread), rule as usize)));
            place = next;
        }
        steps
    }
}

/// For each thread and shared state, the rules that lead there.
fn rules_by_target(search: &Search<Stacks>) -> FxHashMap<(u16, u32), Vec<u32>> {
    let mut before: FxHashMap<_, Vec<u32>> = FxHashMap::default();
    for (thread, rules) in (0..).zip(search.compiled.model.threads()) {
        for (index, rule) in (0..).zip(&rules.rules) {
            if let Some(shared) = search.compiled.number(rule.to) {
                before.entry((thread, shared)).or_default().push(index);
            }
        }
    }
    before
}
