//! The leaves of the initial term as threads.
//!
//! A leaf is a stack, and a rule `x -> w` is one of a pushdown system with a single control state `run`. A rule
//! `seq(x, y) -> w` takes two symbols off the stack, so it becomes two: the first takes `x` off and remembers it in a
//! control state of its own, the second goes back to `run`. Nobody else is needed for the first half, so it can always be
//! put off until just before the second: what can be reached with all threads in `run` is the same.
//!
//! Where there are several initial terms, all threads begin in `start` and choose one of them together.

use std::collections::{BTreeMap, BTreeSet};

use tepui_model::rendezvous::{Control, Local, Symbol};

use crate::rendezvous::handshakes::{Label, Sketch, SketchRule};

use super::algebra::Exhausted;
use super::initial::Initial;
use super::syntax::{File, RuleText};
use super::terms::Constant;

/// The control state in which a thread's stack is its term.
pub(super) const RUN: Control = Control(0);

/// How many rules all threads together may have.
const MOST_RULES: usize = 200_000;

/// How long looking for the partners of handshakes may take, in comparisons.
const MOST_COMPARISONS: usize = 300_000_000;

/// The threads, not yet woven together.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) sketches: Vec<Sketch>,
    pub(super) init: Vec<Local>,
    /// The constants of each thread in the order of their symbols, which are numbered from 1.
    pub(super) alphabets: Vec<Vec<Constant>>,
    /// The actions that choose an initial term.
    pub(super) choices: Vec<String>,
}

/// Makes a thread of each leaf.
pub(super) fn team(file: &File<'_>, initial: &[Initial]) -> Result<Team, Exhausted> {
    let index = RuleIndex::of(file);
    let leaves = initial.first().map_or(0, |first| first.tree.leaves.len());
    let choices =
        if initial.len() > 1 { (1..=initial.len()).map(|number| format!("choose@{number}")).collect() } else { vec![] };
    let mut team = Team { sketches: Vec::new(), init: Vec::new(), alphabets: Vec::new(), choices };
    let mut rules = 0;
    for (leaf, name) in (0..leaves).zip(names(file, initial)) {
        let words: Vec<_> = initial.iter().map(|one| (one.tree.leaves[leaf].as_slice(), one.line)).collect();
        let alphabet = index.closure(words.iter().flat_map(|word| word.0).copied());
        let mut builder = Builder::new(file, &alphabet, words.len() > 1);
        let init = builder.begin(&words);
        index.usable(&alphabet).for_each(|rule| builder.rule(rule));
        rules += builder.rules.len();
        if rules > MOST_RULES {
            return Err(Exhausted);
        }
        team.sketches.push(builder.finish(name));
        team.init.push(init);
        team.alphabets.push(alphabet.into_iter().collect());
    }
    if weaving(file.actions.tokens.len(), &team.sketches) > MOST_COMPARISONS { Err(Exhausted) } else { Ok(team) }
}

/// How many comparisons weaving takes, about.
fn weaving(handshakes: usize, sketches: &[Sketch]) -> usize {
    let rules: usize = sketches.iter().map(|sketch| sketch.rules.len()).sum();
    let (mut senders, mut receivers) = (vec![0_usize; handshakes], vec![0_usize; handshakes]);
    for sketch in sketches {
        let (mut sent, mut received) = (BTreeSet::new(), BTreeSet::new());
        for rule in &sketch.rules {
            match rule.label {
                Label::Send(handshake) => drop(sent.insert(handshake)),
                Label::Receive(handshake) => drop(received.insert(handshake)),
                Label::Internal | Label::Action(_) => {}
            }
        }
        sent.into_iter().for_each(|handshake| senders[handshake] += 1);
        received.into_iter().for_each(|handshake| receivers[handshake] += 1);
    }
    let pairs: usize = senders.iter().zip(&receivers).map(|(senders, receivers)| senders * receivers).sum();
    let searches: usize = senders.iter().map(|senders| senders + 1).sum();
    rules.saturating_mul(pairs.saturating_add(searches))
}

/// The names of the threads: what is on top of their first stacks, numbered where that is the same.
fn names(file: &File<'_>, initial: &[Initial]) -> Vec<String> {
    let leaves = initial.first().map_or(&[][..], |first| &first.tree.leaves);
    let top = |word: &Vec<Constant>| word.first().map_or("idle", |&constant| file.constants.name(constant));
    let tops: Vec<_> = leaves.iter().map(top).collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    tops.iter().for_each(|top| *count.entry(top).or_default() += 1);
    let mut given: BTreeMap<&str, usize> = BTreeMap::new();
    let mut numbered = Vec::new();
    for top in tops {
        let number = given.entry(top).or_default();
        *number += 1;
        let alone = count.get(top) == Some(&1);
        numbered.push(if alone { top.to_owned() } else { format!("{top}/{number}") });
    }
    numbered
}

/// Which rules a constant is replaced by.
struct RuleIndex<'f> {
    rules: &'f [RuleText],
    by_constant: Vec<Vec<usize>>,
}

impl<'f> RuleIndex<'f> {
    fn of(file: &'f File<'_>) -> Self {
        let mut by_constant = vec![Vec::new(); file.constants.tokens.len()];
        for (number, rule) in file.rules.iter().enumerate() {
            for constant in [Some(rule.top), rule.below].into_iter().flatten() {
                by_constant[constant].push(number);
            }
        }
        Self { rules: &file.rules, by_constant }
    }

    /// All constants that can come onto a stack that some are on.
    fn closure(&self, first: impl Iterator<Item = Constant>) -> BTreeSet<Constant> {
        let mut found = BTreeSet::new();
        let mut work: Vec<_> = first.collect();
        while let Some(constant) = work.pop() {
            if !found.insert(constant) {
                continue;
            }
            for rule in self.by_constant[constant].iter().map(|&number| &self.rules[number]) {
                if enabled(rule, &found) {
                    work.extend(rule.right.iter().filter(|constant| !found.contains(constant)));
                }
            }
        }
        found
    }

    /// The rules over some constants, in the order of the source.
    fn usable(&self, alphabet: &BTreeSet<Constant>) -> impl Iterator<Item = &'f RuleText> {
        let numbers: BTreeSet<usize> =
            alphabet.iter().flat_map(|&constant| &self.by_constant[constant]).copied().collect();
        let usable: Vec<_> = numbers.into_iter().map(|number| &self.rules[number]).collect();
        let alphabet = alphabet.clone();
        usable.into_iter().filter(move |rule| enabled(rule, &alphabet))
    }
}

fn enabled(rule: &RuleText, alphabet: &BTreeSet<Constant>) -> bool {
    alphabet.contains(&rule.top) && rule.below.is_none_or(|below| alphabet.contains(&below))
}

/// Puts one thread together.
struct Builder {
    controls: Vec<String>,
    symbols: BTreeMap<Constant, (Symbol, String)>,
    after: BTreeMap<Constant, Control>,
    knows: BTreeSet<usize>,
    rules: Vec<SketchRule>,
}

impl Builder {
    fn new(file: &File<'_>, alphabet: &BTreeSet<Constant>, chooses: bool) -> Self {
        // In Tepui's own form `_` stands for any symbol.
        let name = |constant| match file.constants.name(constant) {
            "_" => "@_".to_owned(),
            name => name.to_owned(),
        };
        let symbol = |(number, &constant)| (constant, (Symbol(number), name(constant)));
        let start = chooses.then(|| "start".to_owned());
        Self {
            controls: [Some("run".to_owned()), start].into_iter().flatten().collect(),
            symbols: (1..).zip(alphabet).map(symbol).collect(),
            after: BTreeMap::new(),
            knows: BTreeSet::new(),
            rules: Vec::new(),
        }
    }

    /// The initial local state: the only word, or the start where one of several is chosen.
    fn begin(&mut self, words: &[(&[Constant], u32)]) -> Local {
        if let [(word, _)] = words {
            let mut stack = self.word(word);
            stack.reverse();
            return Local { control: RUN, stack };
        }
        let start = Control(1);
        for (action, (word, line)) in words.iter().enumerate() {
            let right = self.word(word);
            self.knows.insert(action);
            let label = Label::Action(action);
            self.rules.push(SketchRule { from: start, top: Symbol::BOTTOM, label, to: RUN, right, line: *line });
        }
        Local { control: start, stack: Vec::new() }
    }

    fn rule(&mut self, rule: &RuleText) {
        let right = self.word(&rule.right);
        let (from, top) = match rule.below {
            None => (RUN, rule.top),
            Some(below) => (self.after(rule), below),
        };
        let top = self.symbol(top);
        self.rules.push(SketchRule { from, top, label: rule.label, to: RUN, right, line: rule.line });
    }

    /// The control state in which a rule's first constant has been taken off, and the rule that leads there.
    fn after(&mut self, rule: &RuleText) -> Control {
        if let Some(&control) = self.after.get(&rule.top) {
            return control;
        }
        let control = Control(self.controls.len() as u32);
        let name = self.symbols.get(&rule.top).map_or("?", |symbol| symbol.1.as_str());
        self.controls.push(format!("after_{name}"));
        self.after.insert(rule.top, control);
        let (top, label) = (self.symbol(rule.top), Label::Internal);
        self.rules.push(SketchRule { from: RUN, top, label, to: control, right: Vec::new(), line: rule.line });
        control
    }

    fn symbol(&self, constant: Constant) -> Symbol {
        self.symbols.get(&constant).map_or(Symbol::BOTTOM, |symbol| symbol.0)
    }

    fn word(&self, word: &[Constant]) -> Vec<Symbol> {
        word.iter().map(|&constant| self.symbol(constant)).collect()
    }

    fn finish(self, name: String) -> Sketch {
        let symbols = self.symbols.into_values().map(|symbol| symbol.1).collect();
        Sketch { name, controls: self.controls, symbols, knows: self.knows, rules: self.rules }
    }
}
