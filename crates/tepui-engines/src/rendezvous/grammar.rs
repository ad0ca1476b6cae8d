//! The language of a pushdown thread, as a grammar.
//!
//! What a thread does between the moment when a symbol γ lies on top, with control state p, and the moment when γ and
//! everything that came above it is gone, with control state q, does not depend on what lies beneath. So there is a
//! nonterminal (p, γ, q) for the words of actions that lead there, and a rule `p γ -> p' w1 ... wm : a` gives it the
//! productions `a (p', w1, q1) (q1, w2, q2) ... (q', wm, q)`. That a run ends *before* γ is gone, in a set of local
//! states, is the same with a node of the set's automaton in the place of q: the automaton reads what is left of the
//! stack. Which nonterminals derive any word is found by saturation, from the end of runs backwards, and only those
//! are kept, and of those only the ones that the initial local state can use.
//!
//! The marker of the empty stack is an ordinary last symbol here.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use tepui_core::{Budget, Stop};
use tepui_model::rendezvous::{Action, Control, LocalSet, Model, StackSet, Symbol};

/// One way to derive words from a nonterminal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Production {
    /// The rule of the thread that is taken first, if any is.
    pub(super) rule: Option<u32>,
    /// What follows.
    pub(super) items: Vec<Item>,
}

/// A part of a production.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Item {
    /// An action, by its number in the alphabet.
    Letter(u32),
    /// The words of a nonterminal.
    Nonterminal(u32),
}

/// A grammar in which every nonterminal derives some word and is needed for some word of the whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Grammar {
    /// The actions that words consist of.
    pub(super) alphabet: Vec<Action>,
    /// The productions of each nonterminal; the first nonterminal is the start. None at all, if there is no word.
    pub(super) productions: Vec<Vec<Production>>,
}

impl Grammar {
    /// The language of a thread with respect to a set of local states, `None` for all. If it is `shuffled`, the actions
    /// that the thread does not know may happen anywhere.
    pub(super) fn new(
        model: &Model,
        thread: usize,
        set: Option<&LocalSet>,
        shuffled: bool,
        budget: &mut Budget,
    ) -> Result<Self, Stop> {
        let knows = &model.threads()[thread].knows;
        let all = (0..model.actions().len() as u32).map(Action);
        let alphabet: Vec<_> = all.filter(|action| shuffled || knows.contains(action)).collect();
        let mut saturation = Saturation::new(model, thread, &alphabet, shuffled);
        saturation.end(model, thread, set);
        saturation.run(budget)?;
        let init = &model.init()[thread];
        let word: Vec<_> = init.stack.iter().rev().copied().chain([Symbol::BOTTOM]).collect();
        let start = saturation.start(init.control.0, &word, budget)?;
        Ok(Self { alphabet, productions: trimmed(&saturation.productions, start) })
    }

    /// The grammar of the same words, read from the back.
    #[must_use]
    pub(super) fn reversed(&self) -> Self {
        let turn = |production: &Production| Production {
            rule: production.rule,
            items: production.items.iter().rev().copied().collect(),
        };
        let productions = self.productions.iter().map(|all| all.iter().map(turn).collect()).collect();
        Self { alphabet: self.alphabet.clone(), productions }
    }

    /// For each nonterminal whether it derives the empty word.
    pub(super) fn nullable(&self) -> Vec<bool> {
        let mut nullable = vec![false; self.productions.len()];
        loop {
            let before = nullable.clone();
            for (number, productions) in self.productions.iter().enumerate() {
                let empty = |item: &Item| matches!(item, Item::Nonterminal(other) if nullable[*other as usize]);
                nullable[number] |= productions.iter().any(|production| production.items.iter().all(empty));
            }
            if nullable == before {
                return nullable;
            }
        }
    }
}

/// A node of the automaton over stacks: a control state, a node of the set's automata, or the end.
type Node = u32;

struct Rewrite {
    rule: Option<u32>,
    head: (Node, Symbol),
    letter: Option<u32>,
    to: Node,
    right: Vec<Symbol>,
}

/// A rule whose right-hand side has been read in part.
#[derive(Clone)]
struct Partial {
    rewrite: usize,
    read: usize,
    items: Vec<Item>,
}

struct Saturation {
    rules: Vec<Rewrite>,
    controls: u32,
    end: Node,
    /// Edges that have met everyone who waited for them.
    edges: Vec<Vec<(Symbol, Node)>>,
    waiting: Vec<Vec<Partial>>,
    queue: VecDeque<(Node, Symbol, Node)>,
    /// The nonterminal of an edge that leaves a control state; what leaves other nodes derives the empty word only.
    nonterminals: FxHashMap<(Node, Symbol, Node), u32>,
    productions: Vec<Vec<Production>>,
}

impl Saturation {
    fn new(model: &Model, thread: usize, alphabet: &[Action], shuffled: bool) -> Self {
        let thread = &model.threads()[thread];
        let letter = |action: Action| alphabet.binary_search(&action).ok().map(|letter| letter as u32);
        let own = thread.rules.iter().zip(0..).map(|(rule, number)| Rewrite {
            rule: Some(number),
            head: (rule.from.0, rule.top),
            letter: rule.action.and_then(letter),
            to: rule.to.0,
            right: rule.right.iter().copied().chain(rule.top.is_bottom().then_some(Symbol::BOTTOM)).collect(),
        });
        let mut rules: Vec<_> = own.collect();
        let (controls, symbols) = (thread.controls.len() as u32, thread.symbol_count());
        for &action in alphabet.iter().filter(|action| shuffled && !thread.knows.contains(action)) {
            let heads = (0..controls).flat_map(|control| (0..symbols).map(move |symbol| (control, Symbol(symbol))));
            rules.extend(heads.map(|head| Rewrite {
                rule: None,
                head,
                letter: letter(action),
                to: head.0,
                right: vec![head.1],
            }));
        }
        let nodes = controls as usize + 1;
        Self {
            rules,
            controls,
            end: controls,
            edges: vec![Vec::new(); nodes],
            waiting: vec![Vec::new(); nodes],
            queue: VecDeque::new(),
            nonterminals: FxHashMap::default(),
            productions: Vec::new(),
        }
    }

    fn node(&mut self) -> Node {
        self.edges.push(Vec::new());
        self.waiting.push(Vec::new());
        self.edges.len() as Node - 1
    }

    /// The local states in which a run may end. Stacks are read from the top, the edges of the sets are turned around.
    fn end(&mut self, model: &Model, thread: usize, set: Option<&LocalSet>) {
        let all = StackSet::everything(model.threads()[thread].symbol_count());
        let mut copies: FxHashMap<&StackSet, Vec<Node>> = FxHashMap::default();
        for control in 0..self.controls {
            let Some(stacks) = set.map_or(Some(&all), |set| set.get(&Control(control))) else { continue };
            if !copies.contains_key(stacks) {
                let nodes: Vec<_> = (0..stacks.size()).map(|_| self.node()).collect();
                self.queue.push_back((nodes[StackSet::START as usize], Symbol::BOTTOM, self.end));
                for below in 0..stacks.size() {
                    for &(symbol, above) in stacks.edges(below as u32) {
                        self.queue.push_back((nodes[above as usize], symbol, nodes[below]));
                    }
                }
                copies.insert(stacks, nodes);
            }
            let nodes = &copies[stacks];
            let mut ends = Vec::new();
            for (&node, below) in nodes.iter().zip(0..) {
                let edges = stacks.edges(below).iter().filter(|edge| stacks.accepts(edge.1));
                ends.extend(edges.map(|edge| (control, edge.0, node)));
            }
            ends.extend(stacks.accepts(StackSet::START).then_some((control, Symbol::BOTTOM, self.end)));
            ends.into_iter().for_each(|edge| self.produce(edge, Production { rule: None, items: Vec::new() }));
        }
    }

    fn produce(&mut self, edge: (Node, Symbol, Node), production: Production) {
        let next = self.productions.len() as u32;
        let number = *self.nonterminals.entry(edge).or_insert(next);
        if number == next {
            self.productions.push(Vec::new());
            self.queue.push_back(edge);
        }
        self.productions[number as usize].push(production);
    }

    fn run(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        for rewrite in 0..self.rules.len() {
            let items = self.rules[rewrite].letter.map(Item::Letter).into_iter().collect();
            self.read_on(self.rules[rewrite].to, Partial { rewrite, read: 0, items }, budget)?;
        }
        while let Some((from, symbol, to)) = self.queue.pop_front() {
            self.edges[from as usize].push((symbol, to));
            for index in 0..self.waiting[from as usize].len() {
                let partial = &self.waiting[from as usize][index];
                if self.rules[partial.rewrite].right[partial.read] == symbol {
                    let next = self.after(partial, (from, symbol, to));
                    self.read_on(to, next, budget)?;
                }
            }
            budget.spend(1)?;
        }
        Ok(())
    }

    fn after(&self, partial: &Partial, edge: (Node, Symbol, Node)) -> Partial {
        let item = self.nonterminals.get(&edge).map(|&number| Item::Nonterminal(number));
        let items = partial.items.iter().copied().chain(item).collect();
        Partial { rewrite: partial.rewrite, read: partial.read + 1, items }
    }

    /// A rule's right-hand side has been read up to a node: what comes next, or the production that follows.
    fn read_on(&mut self, node: Node, partial: Partial, budget: &mut Budget) -> Result<(), Stop> {
        let mut work = vec![(node, partial)];
        while let Some((node, partial)) = work.pop() {
            budget.spend(1)?;
            let Rewrite { rule, head, right, .. } = &self.rules[partial.rewrite];
            let Some(&symbol) = right.get(partial.read) else {
                let edge = (head.0, head.1, node);
                self.produce(edge, Production { rule: *rule, items: partial.items });
                continue;
            };
            let reached = self.edges[node as usize].iter().filter(|edge| edge.0 == symbol);
            work.extend(reached.map(|edge| (edge.1, self.after(&partial, (node, symbol, edge.1)))));
            self.waiting[node as usize].push(partial);
        }
        Ok(())
    }

    /// The nonterminal for runs from the initial local state, if there is any.
    fn start(&mut self, control: Node, word: &[Symbol], budget: &mut Budget) -> Result<Option<u32>, Stop> {
        // From back to front, the nodes from which the rest of the word can be read, each with a nonterminal for it.
        let mut rest: FxHashMap<Node, Option<u32>> = [(self.end, None)].into_iter().collect();
        for (position, &symbol) in word.iter().enumerate().rev() {
            let nodes = if position == 0 { control..control + 1 } else { 0..self.edges.len() as Node };
            let mut before = FxHashMap::default();
            for node in nodes {
                budget.spend(1)?;
                let mut productions = Vec::new();
                for &(_, to) in self.edges[node as usize].iter().filter(|edge| edge.0 == symbol) {
                    let Some(&after) = rest.get(&to) else { continue };
                    let own = self.nonterminals.get(&(node, symbol, to)).copied();
                    let items = own.into_iter().chain(after).map(Item::Nonterminal).collect();
                    productions.push(Production { rule: None, items });
                }
                if !productions.is_empty() {
                    self.productions.push(productions);
                    before.insert(node, Some(self.productions.len() as u32 - 1));
                }
            }
            rest = before;
        }
        Ok(rest.get(&control).copied().flatten())
    }
}

/// The productions that are needed, numbered from the start.
fn trimmed(productions: &[Vec<Production>], start: Option<u32>) -> Vec<Vec<Production>> {
    let Some(start) = start else { return Vec::new() };
    let mut numbers: FxHashMap<u32, u32> = [(start, 0)].into_iter().collect();
    let mut order = vec![start];
    let mut result: Vec<Vec<Production>> = Vec::new();
    while result.len() < order.len() {
        let mut own: Vec<Production> = Vec::new();
        for production in &productions[order[result.len()] as usize] {
            let mut renumber = |item: &Item| match *item {
                Item::Letter(letter) => Item::Letter(letter),
                Item::Nonterminal(old) => {
                    let next = order.len() as u32;
                    let new = *numbers.entry(old).or_insert(next);
                    if new == next {
                        order.push(old);
                    }
                    Item::Nonterminal(new)
                }
            };
            let items = production.items.iter().map(&mut renumber).collect();
            own.push(Production { rule: production.rule, items });
        }
        result.push(own);
    }
    result
}
