//! Reachable states, states within a number of contexts or of rounds and delays, views, and finiteness of contexts, by
//! plain enumeration.
//!
//! Each function is its definition written as a loop over ordered sets of whole states: no abstraction, no packing, no
//! shortcut by symmetry or subsumption, and no call into the model's own step function. A set that was cut off by a
//! [`Cap`] is a set of really reachable states all the same, and always says that it was cut off.

use std::collections::BTreeSet;

use tepui_model::pushdown::{Action, Model, Pattern, Property, Rule, Shared, State, Symbol, Thread, View};

/// Where an enumeration gives up. The initial state is kept however high its stacks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cap {
    /// The greatest height of a stack; a step to a state with a higher one is left out.
    pub height: usize,
    /// The greatest number of different states; a step to one more is left out.
    pub states: usize,
}

impl Cap {
    /// Whether a state may join `known`.
    fn admits(self, known: &BTreeSet<State>, state: &State) -> bool {
        known.contains(state)
            || known.len() < self.states && state.stacks.iter().all(|stack| stack.len() <= self.height)
    }
}

/// The states within 0, 1, 2, ... contexts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bounded {
    /// At index `k`, the states reachable with at most `k` contexts: `R_0 ⊆ R_1 ⊆ ...`.
    pub levels: Vec<BTreeSet<State>>,
    /// Whether the levels are complete; otherwise the cap cut something off and they are subsets.
    pub exact: bool,
}

impl Bounded {
    /// The least index of a level with a state that the property forbids. For levels that are not exact this is an
    /// upper bound of the true number, and `None` means nothing.
    pub fn first_violation(&self, property: &Property) -> Option<usize> {
        self.levels.iter().position(|level| level.iter().any(|state| violates(property, state)))
    }
}

/// The states under round-robin scheduling within any number of rounds and delays up to some bounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// At `[r][d]`, the states `R(r, d)` reachable within `r` rounds and `d` delays.
    pub cells: Vec<Vec<BTreeSet<State>>>,
    /// Whether the cells are complete; otherwise the cap cut something off and they are subsets.
    pub exact: bool,
}

impl Grid {
    /// The views of `R(r, d)`.
    pub fn views(&self, r: usize, d: usize) -> BTreeSet<View> {
        views(&self.cells[r][d])
    }

    /// The pairs `(r, d)` with a state in `R(r, d)` that the property forbids, such that no other pair with as few or
    /// fewer of both has one; in the order of rounds. For cells that are not exact, each pair is really enough to
    /// violate the property, but there may be smaller ones.
    pub fn first_violation(&self, property: &Property) -> Vec<(usize, usize)> {
        let mut violated = vec![];
        for (r, row) in self.cells.iter().enumerate() {
            for (d, cell) in row.iter().enumerate() {
                if cell.iter().any(|state| violates(property, state)) {
                    violated.push((r, d));
                }
            }
        }
        let least = |&(r, d): &(usize, usize)| {
            !violated.iter().any(|&(fewer_r, fewer_d)| (fewer_r, fewer_d) != (r, d) && fewer_r <= r && fewer_d <= d)
        };
        violated.iter().copied().filter(least).collect()
    }
}

/// All steps from a state: the thread, the number of the rule in it, and the state afterwards. Duplicate rules give
/// one entry each.
pub fn successors(model: &Model, state: &State) -> Vec<(usize, usize, State)> {
    let mut found = Vec::new();
    for (thread, Thread { rules, .. }) in model.threads().iter().enumerate() {
        for (number, rule) in rules.iter().enumerate() {
            if let Some((shared, stack)) = fire(rule, state.shared, &state.stacks[thread]) {
                let mut next = State { shared, stacks: state.stacks.clone() };
                next.stacks[thread] = stack;
                found.push((thread, number, next));
            }
        }
    }
    found
}

/// What a rule makes of a shared state and the stack of its thread, if it is enabled. The rule replaces the top by a
/// word of length 0, 1 or 2. `BOTTOM` may be read from an empty stack and may be part of that word, but is not stored.
fn fire(rule: &Rule, shared: Shared, stack: &[Symbol]) -> Option<(Shared, Vec<Symbol>)> {
    let (top, rest) = match stack {
        [] => (Symbol::BOTTOM, stack),
        [rest @ .., top] => (*top, rest),
    };
    let word = match rule.action {
        Action::Pop => vec![],
        Action::Overwrite(symbol) => vec![symbol],
        Action::Push { top, below } => vec![below, top],
    };
    let written = word.into_iter().filter(|&symbol| symbol != Symbol::BOTTOM);
    let enabled = shared == rule.from && top == rule.top;
    enabled.then(|| (rule.to, rest.iter().copied().chain(written).collect()))
}

/// The states reachable with at most 0, 1, ..., `k_max` contexts, a context being consecutive steps of one thread.
///
/// A search over triples: the number of contexts so far, the thread that took the last step, and the state. A step of
/// the same thread continues the context, a step of another one opens the next.
pub fn contexts(model: &Model, k_max: usize, cap: Cap) -> Bounded {
    let start = (0, None, model.init().clone());
    let mut states = BTreeSet::from([model.init().clone()]);
    let mut seen = BTreeSet::from([start.clone()]);
    let mut pending = BTreeSet::from([start]);
    let mut exact = true;
    while let Some((used, last, state)) = pending.pop_first() {
        for (thread, _, next) in successors(model, &state) {
            let used = if last == Some(thread) { used } else { used + 1 };
            if used > k_max {
                continue;
            }
            if !cap.admits(&states, &next) {
                exact = false;
                continue;
            }
            states.insert(next.clone());
            let triple = (used, Some(thread), next);
            if seen.insert(triple.clone()) {
                pending.insert(triple);
            }
        }
    }
    let within = |k| seen.iter().filter(|(used, ..)| *used <= k).map(|(.., state)| state.clone()).collect();
    Bounded { levels: (0..=k_max).map(within).collect(), exact }
}

/// The states reachable within `r` rounds and `d` delays, for all `r` up to `r_max` and `d` up to `d_max`
/// (Johnson and Wahl, Definition 1).
///
/// Turns go round: of `n` threads, turn `t` is that of thread `t mod n`, and a round is `n` turns. In its turn a thread
/// with an enabled rule takes one step, or it is delayed: it takes none, and that costs one delay. A thread without an
/// enabled rule lets its turn pass, which costs nothing. `R(r, d)` holds the states after at most `r n` turns with at
/// most `d` delays.
///
/// A search over triples: the number of turns so far, the number of delays, and the state. A thread whose steps are all
/// cut off by the cap has an enabled rule all the same, and its turn does not pass for nothing.
pub fn round_robin(model: &Model, r_max: usize, d_max: usize, cap: Cap) -> Grid {
    let threads = model.threads().len();
    let start = (0, 0, model.init().clone());
    let mut states = BTreeSet::from([model.init().clone()]);
    let mut seen = BTreeSet::from([start.clone()]);
    let mut pending = BTreeSet::from([start]);
    let mut exact = true;
    while let Some((turns, delays, state)) = pending.pop_first() {
        if turns == r_max * threads {
            continue;
        }
        let of_thread = successors(model, &state).into_iter().filter(|(thread, ..)| *thread == turns % threads);
        let steps: Vec<_> = of_thread.map(|(.., next)| next).collect();
        let mut next = vec![];
        if steps.is_empty() {
            next.push((turns + 1, delays, state));
        } else if delays < d_max {
            next.push((turns + 1, delays + 1, state));
        }
        for state in steps {
            if cap.admits(&states, &state) {
                states.insert(state.clone());
                next.push((turns + 1, delays, state));
            } else {
                exact = false;
            }
        }
        pending.extend(next.into_iter().filter(|triple| seen.insert(triple.clone())));
    }
    let within = |r, d| {
        let inside = |(turns, delays, _): &&(usize, usize, State)| *turns <= r * threads && *delays <= d;
        seen.iter().filter(inside).map(|(.., state)| state.clone()).collect()
    };
    Grid { cells: (0..=r_max).map(|r| (0..=d_max).map(|d| within(r, d)).collect()).collect(), exact }
}

/// The states reachable under any schedule, and whether these are all.
pub fn reachable(model: &Model, cap: Cap) -> (BTreeSet<State>, bool) {
    let mut states = BTreeSet::from([model.init().clone()]);
    let mut pending = vec![model.init().clone()];
    let mut exact = true;
    while let Some(state) = pending.pop() {
        for (_, _, next) in successors(model, &state) {
            if !cap.admits(&states, &next) {
                exact = false;
            } else if states.insert(next.clone()) {
                pending.push(next);
            }
        }
    }
    (states, exact)
}

/// The views of states: the shared state and the top of each stack, `BOTTOM` for an empty one.
pub fn views<'a>(states: impl IntoIterator<Item = &'a State>) -> BTreeSet<View> {
    states.into_iter().map(view).collect()
}

/// The views of depth `depth`: the shared state and the top `depth` symbols of each stack, top first, fewer where the
/// stack is lower. `BOTTOM` does not appear: an empty stack gives an empty list.
pub fn views_at_depth<'a>(
    states: impl IntoIterator<Item = &'a State>,
    depth: usize,
) -> BTreeSet<(Shared, Vec<Vec<Symbol>>)> {
    let cut = |stack: &Vec<Symbol>| stack.iter().rev().take(depth).copied().collect();
    states.into_iter().map(|state| (state.shared, state.stacks.iter().map(cut).collect())).collect()
}

/// The view of one state.
pub fn view(state: &State) -> View {
    let top = |stack: &Vec<Symbol>| stack.last().copied().unwrap_or(Symbol::BOTTOM);
    View { shared: state.shared, tops: state.stacks.iter().map(top).collect() }
}

/// Whether a state is forbidden by a property: whether its view matches one of the patterns.
pub fn violates(property: &Property, state: &State) -> bool {
    let View { shared, tops } = view(state);
    let covers = |pattern: &Pattern| {
        let shared_fits = pattern.shared.is_none() || pattern.shared == Some(shared);
        let mut pairs = pattern.tops.iter().zip(&tops);
        shared_fits && pairs.all(|(wanted, top)| wanted.is_none() || *wanted == Some(*top))
    };
    property.never.iter().any(covers)
}

/// The least number of contexts that leads to a violation and, with so many contexts, the least number of steps: the
/// states are visited in the order of these costs, each with every thread that may have moved last. `None` if no
/// violation is found before the cap is reached.
pub fn cheapest(model: &Model, property: &Property, cap: Cap) -> Option<(usize, usize)> {
    let mut visited = BTreeSet::new();
    let mut waiting = BTreeSet::from([((0, 0), None, model.init().clone())]);
    while let Some(((contexts, steps), last, state)) = waiting.pop_first() {
        if violates(property, &state) {
            return Some((contexts, steps));
        }
        if !visited.insert((last, state.clone())) {
            continue;
        }
        if visited.len() > cap.states {
            return None;
        }
        for (thread, _, next) in successors(model, &state) {
            let cost = (contexts + usize::from(last != Some(thread)), steps + 1);
            if next.stacks.iter().all(|stack| stack.len() <= cap.height) {
                waiting.insert((cost, Some(thread), next));
            }
        }
    }
    None
}

/// The least number of contexts, at most `k_max`, with which a state is reachable that the property forbids. If the cap
/// cuts something off this is an upper bound, and `None` means nothing; [`contexts`] with
/// [`Bounded::first_violation`] tells the two cases apart.
pub fn fewest_contexts(model: &Model, property: &Property, k_max: usize, cap: Cap) -> Option<usize> {
    contexts(model, k_max, cap).first_violation(property)
}

/// For each thread, whether it reaches only finitely many pairs of shared state and stack by steps of its own from
/// all starts together, a start being any shared state with any stack of height 0 or 1. `None` if more than
/// `max_pairs` pairs were found before the answer showed.
///
/// The answer is read off the height of the stack. Let `N` be the number of pairs of a shared state and a symbol,
/// `BOTTOM` not counted.
/// - If no stack is higher than `N`, there are finitely many pairs, because finitely many stacks are that low.
/// - If a run ends with a stack of height `h > N`, take for each height `i` in `1..=h` the last moment at which the
///   stack has height `i`. There is one, because the run starts at height 0 or 1 and a step changes the height by at
///   most 1; and from then on the lowest `i - 1` symbols stay as they are. At each of these `h` moments write down the
///   shared state and the top of the stack. Two of the `h > N` notes are equal, say for `i < j`: between the two
///   moments the thread got from a shared state and a top to the same ones, `j - i` higher, without looking beneath.
///   It can do so again and again, so there are infinitely many pairs.
pub fn finite_context(model: &Model, max_pairs: usize) -> Vec<Option<bool>> {
    let finite = |thread: &Thread| {
        let bound = model.shared().count() as usize * thread.symbols.len();
        height_alone_at_most(model, thread, bound, max_pairs)
    };
    model.threads().iter().map(finite).collect()
}

/// Whether no stack of a thread that runs alone, from all starts of [`finite_context`], is higher than `bound`. The
/// highest stacks are looked at first: that decides nothing, but finds a tall stack soon.
fn height_alone_at_most(model: &Model, thread: &Thread, bound: usize, max_pairs: usize) -> Option<bool> {
    let mut seen = BTreeSet::new();
    for shared in (0..model.shared().count()).map(Shared) {
        seen.insert((0, shared, vec![]));
        seen.extend((1..thread.symbol_count()).map(|symbol| (1, shared, vec![Symbol(symbol)])));
    }
    let mut pending = seen.clone();
    while let Some((height, shared, stack)) = pending.pop_last() {
        if height > bound {
            return Some(false);
        }
        if seen.len() > max_pairs {
            return None;
        }
        for (shared, stack) in thread.rules.iter().filter_map(|rule| fire(rule, shared, &stack)) {
            let next = (stack.len(), shared, stack);
            if seen.insert(next.clone()) {
                pending.insert(next);
            }
        }
    }
    Some(true)
}
