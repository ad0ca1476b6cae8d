//! Does an automaton accept every word of a thread's language?
//!
//! Let the thread run together with an automaton for all words that are *not* accepted. Its language is contained iff
//! this pair cannot get from the thread's initial local state, and a start of the automaton, into the thread's set with
//! the automaton at an end. Which local states can is computed backwards, by saturation: an automaton over stacks, read
//! from the top, starts as one for the local states at the end and gets an edge wherever a rule leads to what can be
//! read already. The induction is over the number of steps: what the saturated automaton accepts contains the end, and
//! whatever gets there by one more rule; so it contains everything that gets there at all.

use std::collections::HashSet;

use tepui_cert::rendezvous::Automaton;
use tepui_model::rendezvous::{Action, Control, LocalSet, Model, StackSet, Symbol};

use super::reader::Reader;
use super::{LOOK_EVERY, Why};

/// A node of the automaton over stacks.
type Node = u32;

/// The most pairs of a control state and a state of an automaton.
const MOST_PAIRS: usize = 20_000_000;

/// A rule: its head, its action, the control state after it and what it writes, top first, the marker included.
struct Rewrite {
    from: Control,
    top: Symbol,
    action: Option<Action>,
    to: Control,
    right: Vec<Symbol>,
}

/// A rule that has been read in part: which, in which state of the other automaton it starts, and how far.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Partial {
    rule: usize,
    state: u32,
    read: usize,
}

struct Saturation<'a> {
    rules: &'a [Rewrite],
    states: u32,
    /// Pairs of a control state and a state of the other automaton come first.
    edges: Vec<Vec<(Symbol, Node)>>,
    known: HashSet<(Node, Symbol, Node)>,
    waiting: Vec<Vec<Partial>>,
    begun: HashSet<(Node, Partial)>,
    fresh: Vec<(Node, Symbol, Node)>,
}

/// Checks that an automaton accepts the language of a thread with respect to a set, `None` for all local states.
pub(super) fn check(
    model: &Model,
    thread: usize,
    set: Option<&LocalSet>,
    automaton: &Automaton,
    stop: &dyn Fn() -> bool,
) -> Result<(), Why> {
    let pairs = model.threads()[thread].controls.len().saturating_mul(automaton.states.len() + 1);
    if pairs > MOST_PAIRS {
        return Err(format!("{pairs} pairs of control states and states of the automaton: too many to check").into());
    }
    let others = Reader::of(model, thread, automaton, true, false);
    let rules = rewrites(model, thread, automaton.reads_all);
    let mut saturation = Saturation::new(model, thread, &rules, &others);
    let last = saturation.end(model, thread, set, &others);
    saturation.run(&others, stop)?;
    let init = &model.init()[thread];
    let word: Vec<_> = init.stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect();
    let missed =
        others.starts.iter().any(|&(_, state)| saturation.reads(saturation.pair(init.control, state), &word, last));
    match missed {
        true => Err("the automaton does not accept the whole language of the thread".to_owned().into()),
        false => Ok(()),
    }
}

/// The rules of a thread; if all actions are read, those that it does not know may happen anywhere.
fn rewrites(model: &Model, thread: usize, reads_all: bool) -> Vec<Rewrite> {
    let thread = &model.threads()[thread];
    let own = thread.rules.iter().map(|rule| {
        let right = rule.right.iter().copied().chain(rule.top.is_bottom().then_some(Symbol::BOTTOM)).collect();
        Rewrite { from: rule.from, top: rule.top, action: rule.action, to: rule.to, right }
    });
    let mut rules: Vec<_> = own.collect();
    let unknown = (0..model.actions().len() as u32).map(Action).filter(|action| !thread.knows.contains(action));
    for action in unknown.filter(|_| reads_all) {
        for control in (0..thread.controls.len() as u32).map(Control) {
            for top in (0..thread.symbol_count()).map(Symbol) {
                rules.push(Rewrite { from: control, top, action: Some(action), to: control, right: vec![top] });
            }
        }
    }
    rules
}

impl<'a> Saturation<'a> {
    fn new(model: &Model, thread: usize, rules: &'a [Rewrite], others: &Reader) -> Self {
        let pairs = model.threads()[thread].controls.len() * others.states() as usize;
        Self {
            rules,
            states: others.states(),
            edges: vec![Vec::new(); pairs],
            known: HashSet::new(),
            waiting: vec![Vec::new(); pairs],
            begun: HashSet::new(),
            fresh: Vec::new(),
        }
    }

    fn pair(&self, control: Control, state: u32) -> Node {
        control.0 * self.states + state
    }

    fn node(&mut self) -> Node {
        self.edges.push(Vec::new());
        self.waiting.push(Vec::new());
        self.edges.len() as Node - 1
    }

    fn add(&mut self, from: Node, symbol: Symbol, to: Node) {
        if self.known.insert((from, symbol, to)) {
            self.edges[from as usize].push((symbol, to));
            self.fresh.push((from, symbol, to));
        }
    }

    /// The automaton for the local states of the set, with the other automaton at an end. Gives the node in which
    /// every stack ends.
    fn end(&mut self, model: &Model, thread: usize, set: Option<&LocalSet>, others: &Reader) -> Node {
        let thread = &model.threads()[thread];
        let last = self.node();
        let all = StackSet::everything(thread.symbol_count());
        for control in (0..thread.controls.len() as u32).map(Control) {
            let Some(stacks) = set.map_or(Some(&all), |set| set.get(&control)) else { continue };
            // Stacks are read from the top here, so the edges of the set are turned around.
            let nodes: Vec<_> = (0..stacks.size()).map(|_| self.node()).collect();
            self.add(nodes[StackSet::START as usize], Symbol::BOTTOM, last);
            let ends: Vec<_> = (0..others.states()).filter(|&state| others.accepting[state as usize]).collect();
            for below in 0..stacks.size() as u32 {
                for &(symbol, above) in stacks.edges(below) {
                    self.add(nodes[above as usize], symbol, nodes[below as usize]);
                    for &state in ends.iter().filter(|_| stacks.accepts(above)) {
                        self.add(self.pair(control, state), symbol, nodes[below as usize]);
                    }
                }
            }
            for &state in ends.iter().filter(|_| stacks.accepts(StackSet::START)) {
                self.add(self.pair(control, state), Symbol::BOTTOM, last);
            }
        }
        last
    }

    fn run(&mut self, others: &Reader, stop: &dyn Fn() -> bool) -> Result<(), Why> {
        self.fresh.clear(); // What is there before any rule is read is found by those that start to read.
        let mut steps = 0_usize;
        let mut look = || {
            steps += 1;
            if steps.is_multiple_of(LOOK_EVERY) && stop() { Err(Why::Stopped) } else { Ok(()) }
        };
        for (number, rule) in self.rules.iter().enumerate() {
            for state in 0..self.states {
                look()?;
                let same = [(Action(0), state)];
                let after = rule.action.map_or(same.as_slice(), |action| others.next(state, action));
                for &(_, next) in after {
                    self.read_on(self.pair(rule.to, next), Partial { rule: number, state, read: 0 });
                }
            }
        }
        while let Some((from, symbol, to)) = self.fresh.pop() {
            look()?;
            for index in 0..self.waiting[from as usize].len() {
                let partial = self.waiting[from as usize][index];
                if self.rules[partial.rule].right[partial.read] == symbol {
                    self.read_on(to, Partial { read: partial.read + 1, ..partial });
                }
            }
        }
        Ok(())
    }

    /// A rule's right-hand side has been read up to a node: what comes next, or the edge that follows.
    fn read_on(&mut self, node: Node, partial: Partial) {
        let mut work = vec![(node, partial)];
        while let Some((node, partial)) = work.pop() {
            let rule = &self.rules[partial.rule];
            let Some(&symbol) = rule.right.get(partial.read) else {
                self.add(self.pair(rule.from, partial.state), rule.top, node);
                continue;
            };
            if !self.begun.insert((node, partial)) {
                continue;
            }
            self.waiting[node as usize].push(partial);
            let next = Partial { read: partial.read + 1, ..partial };
            let reached = self.edges[node as usize].iter().filter(|edge| edge.0 == symbol);
            work.extend(reached.map(|edge| (edge.1, next)));
        }
    }

    /// Whether a word leads from a node to another one.
    fn reads(&self, from: Node, word: &[Symbol], to: Node) -> bool {
        let mut nodes: HashSet<_> = [from].into();
        for &symbol in word {
            let edges = nodes.iter().flat_map(|&node| &self.edges[node as usize]);
            nodes = edges.filter(|edge| edge.0 == symbol).map(|edge| edge.1).collect();
        }
        nodes.contains(&to)
    }
}
