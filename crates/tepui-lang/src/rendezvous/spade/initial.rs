//! The initial terms, one by one.
//!
//! Of an automaton only the useful states matter: those that some term leads to and that lead on to an accepting state.
//! Each term of a useful state is part of an accepted term, and different terms are parts of different ones. So there are
//! finitely many accepted terms iff no useful state can stand below itself; and where a state has too many terms, or too
//! large ones, so has the whole set. Without such a circle, the terms of all states are listed in an order in which what
//! stands below comes first.

use std::collections::BTreeSet;

use crate::diagnostic::{Diagnostic, Sink};

use super::syntax::{Automaton, Body, Language, Transition};
use super::terms::{Node, TermId, Terms, Tree};
use super::token::{Fallible, Token};

/// How many initial terms there may be.
const MOST_TERMS: usize = 64;

/// How many operators and constants the initial terms may have in all.
const MOST_NODES: usize = 10_000;

/// An initial term and the line that states it.
#[derive(Clone, Debug)]
pub(super) struct Initial {
    pub(super) tree: Tree,
    pub(super) line: u32,
}

/// The initial terms that differ as trees of words, at least one. They all have the same shape.
pub(super) fn initial(language: &Language<'_>, terms: &mut Terms, sink: &mut Sink) -> Option<Vec<Initial>> {
    let name = language.name;
    let found: Vec<(TermId, Token<'_>)> = match &language.body {
        Body::Set(set) if set.iter().any(|text| text.nested.is_some()) => return None,
        Body::Set(set) => set.iter().map(|text| (text.term, text.first)).collect(),
        Body::Automaton(automaton) => {
            let listed = Lister::new(automaton, terms).list(name);
            sink.take(listed)?.into_iter().map(|term| (term, name)).collect()
        }
    };
    if found.is_empty() && sink.has_errors() {
        return None;
    }
    let checked = check_size(found.iter().map(|found| found.0), terms, name);
    sink.take(checked)?;
    let trees = trees(&found, terms);
    sink.take(trees)
}

fn trees(found: &[(TermId, Token<'_>)], terms: &Terms) -> Fallible<Vec<Initial>> {
    let mut initial: Vec<Initial> = Vec::new();
    for &(term, place) in found {
        let below_seq = || place.unsupported("par below seq", "in a term of this set");
        let tree = terms.tree(term).ok_or_else(below_seq)?;
        if initial.first().is_some_and(|first| first.tree.shape != tree.shape) {
            let what = "initial terms with different nestings of `par`";
            return Err(place.unsupported(what, "not nested as those before it"));
        }
        if initial.iter().all(|other| other.tree != tree) {
            initial.push(Initial { tree, line: place.line });
        }
    }
    Ok(initial)
}

/// Refuses no terms at all, and too many.
fn check_size(found: impl Iterator<Item = TermId>, terms: &Terms, place: Token<'_>) -> Fallible<()> {
    let (mut count, mut size) = (0, 0_usize);
    for term in found {
        count += 1;
        size = size.saturating_add(terms.size(term));
    }
    match count {
        0 => Err(place.error("there is no initial term", "this set is empty")),
        _ if count > MOST_TERMS || size > MOST_NODES => Err(too_many(place)),
        _ => Ok(()),
    }
}

fn too_many(place: Token<'_>) -> Diagnostic {
    let label = format!("at most {MOST_TERMS} terms with {MOST_NODES} operators in all");
    place.unsupported("so many or so large initial terms", label)
}

/// Lists the terms of an automaton.
struct Lister<'a, 't> {
    automaton: &'a Automaton<'a>,
    terms: &'t mut Terms,
    /// For each state the transitions that lead from it, twice where it stands below twice.
    from: Vec<Vec<usize>>,
    /// For each state the transitions that lead to it.
    into: Vec<Vec<usize>>,
}

impl<'a, 't> Lister<'a, 't> {
    fn new(automaton: &'a Automaton<'a>, terms: &'t mut Terms) -> Self {
        let states = automaton.states.tokens.len();
        let (mut from, mut into) = (vec![Vec::new(); states], vec![Vec::new(); states]);
        for (number, transition) in automaton.transitions.iter().enumerate() {
            transition.node.below().for_each(|state| from[state].push(number));
            into[transition.to].push(number);
        }
        Self { automaton, terms, from, into }
    }

    fn transition(&self, number: usize) -> Transition {
        self.automaton.transitions[number]
    }

    fn list(mut self, place: Token<'_>) -> Fallible<BTreeSet<TermId>> {
        let useful = self.useful();
        let order = self.order(&useful)?;
        let mut lists: Vec<BTreeSet<TermId>> = vec![BTreeSet::new(); useful.len()];
        for state in order {
            lists[state] = self.terms_of(state, &lists).ok_or_else(|| too_many(place))?;
        }
        let mut accepted = BTreeSet::new();
        for &state in &self.automaton.accepting {
            accepted.extend(lists[state].iter().copied());
            if accepted.len() > MOST_TERMS {
                return Err(too_many(place));
            }
        }
        Ok(accepted)
    }

    /// The terms that lead to a state, unless there are too many.
    fn terms_of(&mut self, state: usize, lists: &[BTreeSet<TermId>]) -> Option<BTreeSet<TermId>> {
        let mut found = BTreeSet::new();
        for &number in &self.into[state] {
            let (make, first, second): (fn(TermId, TermId) -> Node<TermId>, _, _) = match self.transition(number).node {
                Node::Idle => {
                    found.insert(self.terms.add(Node::Idle));
                    continue;
                }
                Node::Constant(constant) => {
                    found.insert(self.terms.add(Node::Constant(constant)));
                    continue;
                }
                Node::Seq(first, second) => (Node::Seq, first, second),
                Node::Par(first, second) => (Node::Par, first, second),
            };
            for &left in &lists[first] {
                for &right in &lists[second] {
                    let term = self.terms.add(make(left, right));
                    found.insert(term);
                    if found.len() > MOST_TERMS || self.terms.size(term) > MOST_NODES {
                        return None;
                    }
                }
            }
        }
        (found.len() <= MOST_TERMS).then_some(found)
    }

    /// Which states some term leads to and lead on to an accepting state.
    fn useful(&self) -> Vec<bool> {
        let productive = self.productive();
        let mut useful = vec![false; productive.len()];
        let mut work: Vec<_> = self.automaton.accepting.iter().copied().filter(|&state| productive[state]).collect();
        while let Some(state) = work.pop() {
            if std::mem::replace(&mut useful[state], true) {
                continue;
            }
            for &number in &self.into[state] {
                let below = || self.transition(number).node.below();
                if below().all(|state| productive[state]) {
                    work.extend(below().filter(|&state| !useful[state]));
                }
            }
        }
        useful
    }

    fn productive(&self) -> Vec<bool> {
        let mut productive = vec![false; self.into.len()];
        let leaves = self.automaton.transitions.iter().filter(|transition| transition.node.below().next().is_none());
        let mut work: Vec<_> = leaves.map(|transition| transition.to).collect();
        while let Some(state) = work.pop() {
            if std::mem::replace(&mut productive[state], true) {
                continue;
            }
            for transition in self.from[state].iter().map(|&number| self.transition(number)) {
                if transition.node.below().all(|state| productive[state]) && !productive[transition.to] {
                    work.push(transition.to);
                }
            }
        }
        productive
    }

    /// The useful states, each after those that can stand below it.
    fn order(&self, useful: &[bool]) -> Fallible<Vec<usize>> {
        let mut waiting: Vec<usize> = vec![0; useful.len()];
        for transition in self.inner(useful) {
            waiting[transition.to] += 2;
        }
        let mut order: Vec<_> = (0..useful.len()).filter(|&state| useful[state] && waiting[state] == 0).collect();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            for transition in self.from[state].iter().map(|&number| self.transition(number)) {
                if self.is_inner(transition, useful) {
                    waiting[transition.to] -= 1;
                    if waiting[transition.to] == 0 {
                        order.push(transition.to);
                    }
                }
            }
        }
        match waiting.iter().position(|&waiting| waiting > 0) {
            None => Ok(order),
            Some(state) => Err(self.infinite(state, useful, &waiting)),
        }
    }

    /// The transitions between useful states.
    fn inner(&self, useful: &[bool]) -> impl Iterator<Item = Transition> {
        self.automaton.transitions.iter().copied().filter(|&transition| self.is_inner(transition, useful))
    }

    fn is_inner(&self, transition: Transition, useful: &[bool]) -> bool {
        let mut below = transition.node.below().peekable();
        useful[transition.to] && below.peek().is_some() && below.all(|state| useful[state])
    }

    /// The complaint about a circle, found by going down from one state that waits to another.
    fn infinite(&self, mut state: usize, useful: &[bool], waiting: &[usize]) -> Diagnostic {
        let mut seen = vec![false; waiting.len()];
        while !std::mem::replace(&mut seen[state], true) {
            let inner = self.into[state].iter().map(|&number| self.transition(number));
            let inner = inner.filter(|&transition| self.is_inner(transition, useful));
            let below = inner.flat_map(|transition| transition.node.below()).find(|&below| waiting[below] > 0);
            state = below.unwrap_or(state);
        }
        let place = self.automaton.states.tokens[state];
        let label = "this state can stand below itself, so the terms grow without bound";
        let hint = "the number of processes must be fixed: give a term for each number in a file of its own";
        place.unsupported("`init` is infinite", label).hint(hint)
    }
}
