//! From the words of an `.rpds` text to a model: which names exist, what labels mean, and what queries stand for.

use std::collections::{BTreeSet, HashMap, HashSet};

use tepui_model::rendezvous::{Control, Local, LocalSet, Model, Property, Symbol, Target, Thread};

use super::handshakes::{Label, Sketch, SketchRule, pair_up};
use super::lints;
use super::rpds::{Block, File, MAIN, MOST, Reach, RuleText, Side};
use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::suggestion::suggestion;
use crate::token::Fallible;

/// The most tuples that a query may stand for, and the most rules that handshakes may.
const MOST_TUPLES: usize = 1_000;
const MOST_RULES: usize = 200_000;

impl File<'_> {
    /// The model, if nothing is wrong.
    pub(super) fn assemble(&self, sink: &mut Sink) -> Option<Model> {
        let count: usize = self.blocks.iter().map(|block| block.copies.unwrap_or(1) as usize).sum();
        if count > MOST {
            sink.push(Diagnostic::error(MAIN, 0..0, format!("{count} threads"), "").hint(format!("at most {MOST}")));
            return None;
        }
        let mut threads: HashMap<String, Vec<usize>> = HashMap::new();
        let mut copies = 0;
        for block in &self.blocks {
            let numbers: Vec<_> = (copies..).take(block.names().len()).collect();
            copies += numbers.len();
            let mut known = HashSet::new();
            for (name, &number) in block.names().into_iter().zip(&numbers) {
                if threads.insert(name.clone(), vec![number]).is_some() || !known.insert(name.clone()) {
                    sink.push(block.name.error(format!("two threads are named {}", quote(&name)), "again here"));
                }
            }
            if block.copies.is_some() && threads.insert(block.name.text.to_owned(), numbers).is_some() {
                sink.push(block.name.error(format!("two threads are named {}", quote(block.name.text)), "again here"));
            }
        }
        let labels = self.labels(&threads, sink);
        let mut sketches = Vec::new();
        let mut init = Vec::new();
        for block in &self.blocks {
            let first = sketches.len();
            for name in block.names() {
                let (sketch, local) = sketch(block, name, sketches.len(), &labels, first == sketches.len(), sink);
                sketches.push(sketch);
                init.push(local);
            }
            lints::warn(block, sink);
        }
        if sink.has_errors() {
            return None;
        }
        self.warn_about_labels(&sketches, &labels, sink);
        if paired_rules(&sketches, self.handshakes.len()) > MOST_RULES {
            let message = format!("handshakes between all these threads need more than {MOST_RULES} rules");
            sink.push(Diagnostic::error(MAIN, 0..0, message, ""));
            return None;
        }
        let actions = self.actions.iter().map(|(name, _)| name.text.to_owned()).collect();
        let handshakes: Vec<_> = self.handshakes.iter().map(|name| name.text.to_owned()).collect();
        let (actions, paired) = pair_up(actions, &handshakes, sketches);
        let mut named = HashSet::new();
        if let Some(twice) = actions.iter().find(|name| !named.insert(*name)) {
            let message = format!("two actions are named {}", quote(twice));
            sink.push(Diagnostic::error(MAIN, 0..0, message, "").hint("handshakes are named `a@sender@receiver`"));
        }
        let properties: Vec<_> =
            self.reaches.iter().filter_map(|reach| sink.take(property(reach, &threads, &paired, false))).collect();
        if sink.has_errors() {
            return None;
        }
        let model = Model::new(actions, paired, init, properties);
        sink.take(model.map_err(|malformed| Diagnostic::error(MAIN, 0..0, malformed.to_string(), "")))
    }

    fn labels(&self, threads: &HashMap<String, Vec<usize>>, sink: &mut Sink) -> Labels {
        let mut labels = Labels::default();
        for (number, (action, listed)) in self.actions.iter().enumerate() {
            let mut knowing = BTreeSet::new();
            for thread in listed {
                match threads.get(thread.text) {
                    Some(numbers) => knowing.extend(numbers),
                    None => {
                        let full = sink.is_full(Severity::Error);
                        let hint = suggestion(thread.text, threads.keys().map(String::as_str), full);
                        sink.push(
                            thread.error(format!("there is no thread {}", quote(thread.text)), "unknown").hint_if(hint),
                        );
                    }
                }
            }
            if labels.actions.insert(action.text.to_owned(), (number, knowing)).is_some() {
                sink.push(action.error(format!("action {} is declared twice", quote(action.text)), "again here"));
            }
        }
        for (number, name) in self.handshakes.iter().enumerate() {
            let twice = labels.handshakes.insert(name.text.to_owned(), number).is_some();
            if twice || labels.actions.contains_key(name.text) {
                sink.push(name.error(format!("{} is declared twice", quote(name.text)), "again here"));
            }
        }
        labels
    }

    fn warn_about_labels(&self, sketches: &[Sketch], labels: &Labels, sink: &mut Sink) {
        for (action, _) in &self.actions {
            let Some((number, knowing)) = labels.actions.get(action.text) else { continue };
            let label = Label::Action(*number);
            let without = knowing.iter().find(|&&thread| sketches[thread].rules.iter().all(|rule| rule.label != label));
            if let Some(&thread) = without {
                let message =
                    format!("thread {} knows {} but has no rule for it", sketches[thread].name, quote(action.text));
                sink.push(action.warning(message, "so this action never happens"));
            }
        }
        for (number, name) in self.handshakes.iter().enumerate() {
            let has = |one: &Sketch, label: Label| one.rules.iter().any(|rule| rule.label == label);
            let with = |label: Label| (0..sketches.len()).filter(|&one| has(&sketches[one], label)).collect::<Vec<_>>();
            let says = match (with(Label::Send(number)).as_slice(), with(Label::Receive(number)).as_slice()) {
                ([], []) => "is never used",
                (_, []) => "is sent and never received",
                ([], _) => "is received and never sent",
                ([one], [other]) if one == other => "is sent and received by one thread only",
                _ => continue,
            };
            sink.push(name.warning(format!("handshake {} {says}", quote(name.text)), "so it never happens"));
        }
    }
}

/// How many rules handshakes unfold to.
fn paired_rules(sketches: &[Sketch], handshakes: usize) -> usize {
    let (mut send, mut receive) = (vec![0_usize; handshakes], vec![0_usize; handshakes]);
    for rule in sketches.iter().flat_map(|sketch| &sketch.rules) {
        match rule.label {
            Label::Send(number) => send[number] += 1,
            Label::Receive(number) => receive[number] += 1,
            Label::Internal | Label::Action(_) => {}
        }
    }
    let plain: usize = sketches.iter().map(|sketch| sketch.rules.len()).sum();
    let pairs = send.iter().zip(&receive).map(|(send, receive)| send.saturating_mul(*receive).saturating_mul(2));
    pairs.fold(plain, usize::saturating_add)
}

/// What labels mean.
#[derive(Default)]
struct Labels {
    /// The number of each action, and the threads that know it.
    actions: HashMap<String, (usize, BTreeSet<usize>)>,
    handshakes: HashMap<String, usize>,
}

/// The thread that a block, or a copy of it, stands for. What is wrong with it is said of the first copy.
fn sketch(
    block: &Block<'_>,
    name: String,
    number: usize,
    labels: &Labels,
    first: bool,
    sink: &mut Sink,
) -> (Sketch, Local) {
    let mut scope = Scope::default();
    block.controls.iter().for_each(|control| _ = scope.control(control.text));
    block.symbols.iter().for_each(|symbol| _ = scope.symbol(symbol.text));
    let local = match &block.init {
        Some((control, stack)) => {
            let control = scope.control(control.text);
            Local { control, stack: stack.iter().map(|symbol| scope.symbol(symbol.text)).collect() }
        }
        None => {
            if first && block.headed && block.braced && !block.seen_init {
                let message = format!("thread {} has no initial local state", quote(block.name.text));
                sink.push(
                    block
                        .name
                        .error(message, "no `init` in its block")
                        .hint("write `init control stack`, `-` for the empty stack"),
                );
            }
            Local { control: Control(0), stack: Vec::new() }
        }
    };
    let mut rules = Vec::new();
    for rule in &block.rules {
        let label = label(rule, block, number, labels, sink);
        let label = sink.take(label);
        rules.push(SketchRule {
            from: scope.control(rule.from.text),
            top: rule.top.map_or(Symbol::BOTTOM, |top| scope.symbol(top.text)),
            label: label.unwrap_or(Label::Internal),
            to: scope.control(rule.to.text),
            right: rule.right.iter().map(|symbol| scope.symbol(symbol.text)).collect(),
            line: rule.line,
        });
    }
    let knows =
        labels.actions.values().filter(|(_, threads)| threads.contains(&number)).map(|(action, _)| *action).collect();
    (Sketch { name, controls: scope.controls, symbols: scope.symbols, knows, rules }, local)
}

fn label(rule: &RuleText<'_>, block: &Block<'_>, thread: usize, labels: &Labels, sink: &Sink) -> Fallible<Label> {
    let Some((action, side)) = rule.label else { return Ok(Label::Internal) };
    let (known, shaken) = (labels.actions.get(action.text), labels.handshakes.get(action.text));
    match (side, known, shaken) {
        (Side::Together, Some((number, threads)), _) if threads.contains(&thread) => Ok(Label::Action(*number)),
        (Side::Together, Some(_), _) => {
            let message = format!("thread {} does not know action {}", quote(block.name.text), quote(action.text));
            Err(action
                .error(message, "not one of its actions")
                .hint("add the thread to the line that declares the action"))
        }
        (Side::Send, _, Some(number)) => Ok(Label::Send(*number)),
        (Side::Receive, _, Some(number)) => Ok(Label::Receive(*number)),
        (Side::Together, None, Some(_)) => {
            let error = action.error(format!("{} is a handshake", quote(action.text)), "send or receive?");
            Err(error.hint(format!("write `{0}!` or `{0}?`", action.text)))
        }
        (Side::Send | Side::Receive, Some(_), None) => {
            let error = action
                .error(format!("{} is an action of all who know it", quote(action.text)), "no sender or receiver");
            Err(error.hint(format!("leave the mark away, or declare `handshake {}`", action.text)))
        }
        (_, None, None) => {
            let full = sink.is_full(Severity::Error);
            let mut names: Vec<_> = labels.actions.keys().chain(labels.handshakes.keys()).map(String::as_str).collect();
            names.sort_unstable();
            let hint = suggestion(action.text, names.into_iter(), full);
            let hint = hint.unwrap_or_else(|| format!("declare it: `action {0}: ...` or `handshake {0}`", action.text));
            Err(action.error(format!("unknown action {}", quote(action.text)), "not declared").hint(hint))
        }
    }
}

/// The names that a thread uses, numbered in the order of their first use.
#[derive(Default)]
struct Scope {
    controls: Vec<String>,
    symbols: Vec<String>,
    numbers: HashMap<(bool, String), u32>,
}

impl Scope {
    fn control(&mut self, name: &str) -> Control {
        let next = self.controls.len() as u32;
        let number = *self.numbers.entry((true, name.to_owned())).or_insert(next);
        if number == next {
            self.controls.push(name.to_owned());
        }
        Control(number)
    }

    fn symbol(&mut self, name: &str) -> Symbol {
        let next = self.symbols.len() as u32;
        let number = *self.numbers.entry((false, name.to_owned())).or_insert(next);
        if number == next {
            self.symbols.push(name.to_owned());
        }
        Symbol(number + 1)
    }
}

/// The property of a query. Where a name stands for several threads, any of them is meant, and different ones where it
/// occurs several times.
fn property(
    reach: &Reach<'_>,
    names: &HashMap<String, Vec<usize>>,
    threads: &[Thread],
    full: bool,
) -> Fallible<Property> {
    let mut never: Vec<Target> = Vec::new();
    for tuple in &reach.tuples {
        let mut partial: Vec<Vec<Option<LocalSet>>> = vec![vec![None; threads.len()]];
        for entry in tuple {
            let Some(numbers) = names.get(entry.thread.text) else {
                let hint = suggestion(entry.thread.text, names.keys().map(String::as_str), full);
                let message = format!("there is no thread {}", quote(entry.thread.text));
                return Err(entry.thread.error(message, "unknown").hint_if(hint));
            };
            let mut next = Vec::new();
            for &number in numbers {
                let set = entry.set(&threads[number], full)?;
                let free = partial.iter().filter(|locals| locals[number].is_none());
                next.extend(free.map(|locals| {
                    let mut locals = locals.clone();
                    locals[number] = Some(set.clone());
                    locals
                }));
                if next.len() > MOST_TUPLES {
                    let message = format!("the query stands for more than {MOST_TUPLES} tuples of threads");
                    return Err(reach.place.error(message, "too many"));
                }
            }
            if next.is_empty() {
                let message = format!("more is said of {} than there are threads", quote(entry.thread.text));
                return Err(entry
                    .thread
                    .error(message, "one too many")
                    .hint("several sets of one thread are written with `|`; `thread name * 2` makes two threads"));
            }
            partial = next;
        }
        for locals in partial {
            let target = Target { locals };
            if !never.contains(&target) && target.locals.iter().flatten().all(|set| !set.is_empty()) {
                never.push(target);
            }
        }
    }
    Ok(Property { name: reach.name.clone(), never })
}
