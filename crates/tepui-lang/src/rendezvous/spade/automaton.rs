//! The automaton of `bad` as a reader of stacks.
//!
//! A stack is a word, but the automaton reads terms, and a word can be bracketed in many ways. The values of all words
//! are generated from those of the constants; if the composition of these values is associative, then the value of a word
//! does not depend on the bracketing, and a constant on top of a stack just composes its value with that of the stack.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;

use super::algebra::{Algebra, Budget, Exhausted, NEUTRAL, Pairs, Value};
use super::recognizer::{EMPTY, Reader, Recognizer};
use super::syntax::{Automaton, Names};
use super::terms::{Constant, Node};
use super::token::{Fallible, Token};

/// How many values words may have.
const MOST_VALUES: usize = 200;

/// The recognizer of an automaton, on stacks over some constants.
pub(super) fn recognizer(
    automaton: &Automaton<'_>,
    place: Token<'_>,
    used: &[Constant],
    constants: &Names<'_>,
    budget: &mut Budget,
) -> Fallible<Recognizer> {
    let idle = Idle::of(automaton);
    let accepting = automaton.accepting.iter().copied().collect();
    let accepts_idle = automaton.accepting.iter().any(|&state| idle.is_idle[state]);
    let mut algebra = Algebra::new(idle.silent, accepting, accepts_idle);
    let mut words = Words { values: constant_values(automaton, used, &mut algebra), products: Vec::new() };
    let seq = pairs(automaton, |node| if let Node::Seq(one, other) = node { Some((one, other)) } else { None });
    let too_large = || place.unsupported("so large an automaton", format!("words have more than {MOST_VALUES} values"));
    words.generate(&seq, &mut algebra, budget).map_err(|Exhausted| too_large())?;
    if let Some(triple) = words.bracketed() {
        return Err(words.not_associative(triple, place, constants));
    }
    let par = pairs(automaton, |node| if let Node::Par(one, other) = node { Some((one, other)) } else { None });
    Ok(Recognizer { reader: words.reader(), algebra, par })
}

fn pairs(automaton: &Automaton<'_>, of: impl Fn(Node<usize>) -> Option<(usize, usize)>) -> Pairs {
    let mut pairs = Pairs::default();
    for transition in &automaton.transitions {
        if let Some(pair) = of(transition.node) {
            pairs.entry(pair).or_default().push(transition.to);
        }
    }
    pairs.values_mut().for_each(|states| {
        states.sort_unstable();
        states.dedup();
    });
    pairs
}

/// The values of the constants that have one.
fn constant_values(automaton: &Automaton<'_>, used: &[Constant], algebra: &mut Algebra) -> BTreeMap<Constant, Value> {
    let mut states: BTreeMap<Constant, Vec<usize>> = used.iter().map(|&constant| (constant, Vec::new())).collect();
    for transition in &automaton.transitions {
        if let Node::Constant(constant) = transition.node
            && let Some(states) = states.get_mut(&constant)
        {
            states.push(transition.to);
        }
    }
    let valued = states.into_iter().filter_map(|(constant, states)| Some((constant, algebra.value(states)?)));
    valued.collect()
}

/// What `idle` does in an automaton.
struct Idle {
    is_idle: Vec<bool>,
    silent: Vec<Vec<usize>>,
}

impl Idle {
    fn of(automaton: &Automaton<'_>) -> Self {
        let states = automaton.states.tokens.len();
        let mut beside: Vec<Vec<(usize, usize)>> = vec![Vec::new(); states];
        let mut work = Vec::new();
        for transition in &automaton.transitions {
            match transition.node {
                Node::Idle => work.push(transition.to),
                Node::Constant(_) => {}
                Node::Seq(one, other) | Node::Par(one, other) => {
                    beside[one].push((other, transition.to));
                    beside[other].push((one, transition.to));
                }
            }
        }
        let mut idle = Self { is_idle: vec![false; states], silent: vec![Vec::new(); states] };
        while let Some(state) = work.pop() {
            if std::mem::replace(&mut idle.is_idle[state], true) {
                continue;
            }
            work.extend(&idle.silent[state]);
            for &(other, to) in &beside[state] {
                idle.silent[other].push(to);
                if idle.is_idle[other] {
                    work.push(to);
                }
            }
        }
        idle.silent.iter_mut().for_each(|states| {
            states.sort_unstable();
            states.dedup();
        });
        idle
    }
}

/// The values of words and how they compose. They have the numbers from 1, without a gap.
struct Words {
    /// The values of the constants.
    values: BTreeMap<Constant, Value>,
    /// Row by row: the value of a word of the first value on top of one of the second.
    products: Vec<Vec<Option<Value>>>,
}

impl Words {
    fn generate(&mut self, seq: &Pairs, algebra: &mut Algebra, budget: &mut Budget) -> Result<(), Exhausted> {
        self.products.push(Vec::new());
        let mut done = 1;
        while done < algebra.count() {
            if algebra.count() > MOST_VALUES + 1 {
                return Err(Exhausted);
            }
            let mut row = vec![None];
            for other in 1..done {
                self.products[other].push(algebra.combine(seq, (other, done), budget)?);
                row.push(algebra.combine(seq, (done, other), budget)?);
            }
            row.push(algebra.combine(seq, (done, done), budget)?);
            self.products.push(row);
            done += 1;
        }
        Ok(())
    }

    fn product(&self, left: Option<Value>, right: Option<Value>) -> Option<Value> {
        self.products[left?][right?]
    }

    /// Three values that compose in two ways, if there are such.
    fn bracketed(&self) -> Option<[Value; 3]> {
        let values = 1..self.products.len();
        let pairs = values.clone().flat_map(|first| values.clone().map(move |second| (first, second)));
        pairs.into_iter().find_map(|(first, second)| {
            let mut third = values.clone();
            let left = self.products[first][second];
            let differs = |third: &Value| {
                let right = self.products[second][*third];
                self.product(left, Some(*third)) != self.product(Some(first), right)
            };
            third.find(differs).map(|third| [first, second, third])
        })
    }

    fn not_associative(&self, triple: [Value; 3], place: Token<'_>, constants: &Names<'_>) -> Diagnostic {
        let name = |value: Value| self.values.iter().find(|pair| *pair.1 == value).map(|pair| constants.name(*pair.0));
        let label = match triple.map(name) {
            [Some(a), Some(b), Some(c)] => format!("for `{a}`, `{b}` and `{c}`, for instance"),
            _ => "for some a, b and c".to_owned(),
        };
        let what = "the automaton tells seq(a, seq(b, c)) from seq(seq(a, b), c)";
        place.unsupported(what, label).hint("a stack is a word and has no brackets")
    }

    /// Values as nodes; the neutral one has the number of the empty stack.
    fn reader(&self) -> Reader {
        let mut edges = vec![BTreeMap::new(); self.products.len()];
        edges[EMPTY] = self.values.clone();
        for (node, edges) in edges.iter_mut().enumerate().skip(1) {
            let above = self.values.iter().map(|(&constant, &value)| (constant, self.products[value][node]));
            edges.extend(above.filter_map(|(constant, value)| Some((constant, value?))));
        }
        let values = (0..self.products.len()).map(Some).collect();
        Reader { edges, values }
    }
}

const _: () = assert!(EMPTY == NEUTRAL, "the reader's nodes are values");
