//! From words to a model.
//!
//! The readers leave a [`Draft`]: what the text says, in words. Here the words find their numbers. Symbols take two
//! steps. First they get provisional numbers: those of a block's rules (or of its `stack` line) are shared by all
//! threads that the block stands for, those that only the initial state or a property mentions belong to one thread.
//! When all has been read each thread keeps the symbols that occur for it and numbers them anew: by value where names
//! are numerals, in the order of the `stack` line if there is one, else by first occurrence. A symbol that occurs
//! nowhere is no part of the model, so that every form can carry every model.
//!
//! Repetition lets a short text ask for a large model. Whatever is unfolded is paid for from one [`Budget`].

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tepui_model::pushdown::{Action, Malformed, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

use crate::diagnostic::{Diagnostic, Severity, Sink, quote};
use crate::pushdown::lints;
use crate::pushdown::names::{Form, Interner, SharedNames};
use crate::pushdown::syntax::{Entry, PropertyText, Right, RuleText, StateText};
use crate::suggestion::suggestion;
use crate::token::{Kind, Token};

/// The most threads that a model may have.
pub(super) const MOST_THREADS: u32 = u16::MAX as u32;

/// How much repetition may add to a model, in rules, letters of symbols and entries of states together.
const MOST_UNFOLDED: u64 = 1 << 22;

/// What a text says, in words. What could not be read is missing, and has been reported.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) form: Form,
    pub(super) shared: Option<SharedNames>,
    pub(super) blocks: Vec<Block<'a>>,
    /// Whether the number of threads is as the author meant it.
    pub(super) counted: bool,
    pub(super) init: Option<StateText<'a>>,
    pub(super) properties: Vec<PropertyText<'a>>,
    /// Whether to tell about symbols that are declared and not used.
    pub(super) warn_unused: bool,
}

/// A thread in words, or several with the same rules.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) threads: Vec<String>,
    pub(super) place: Token<'a>,
    pub(super) stack: Option<Vec<Token<'a>>>,
    /// The least and the largest symbol, as the text declares without obligation.
    pub(super) range: Option<(u32, u32)>,
    pub(super) rules: Vec<RuleText<'a>>,
}

/// Makes the model, unless there was or is any error.
pub(super) fn assemble(draft: &Draft<'_>, sink: &mut Sink) -> Option<Model> {
    let mut table = Table::new(draft, sink);
    let init = draft.init.as_ref().and_then(|init| table.state(init, sink));
    let properties = table.properties(&draft.properties, sink);
    if draft.warn_unused {
        table.warn_unused(&draft.blocks, sink);
    }
    let shared = draft.shared.as_ref()?;
    if sink.has_errors() {
        return None;
    }
    lints::warn(draft, sink);
    let model = table.finish(shared.names().clone(), init?, properties);
    let place = draft.blocks.first()?.place;
    sink.take(model.map_err(|malformed| place.error(malformed.to_string(), "")))
}

/// A block with provisional numbers.
struct Alphabet<'a> {
    names: Interner<'a>,
    /// Whether there is a `stack` line, so that the names are all there are.
    closed: bool,
    in_rules: Vec<bool>,
    mentioned: Vec<bool>,
    rules: Vec<Rule>,
}

/// One thread, and what only the initial state and the properties say of it.
struct Instance<'a> {
    block: usize,
    name: String,
    used: HashSet<u32>,
    extras: Interner<'a>,
}

/// What is left of the room for repetition.
struct Budget(u64);

impl Budget {
    fn take(&mut self, amount: u64) -> bool {
        let left = self.0.checked_sub(amount);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

struct Table<'a, 'd> {
    form: Form,
    shared: Option<&'d SharedNames>,
    counted: bool,
    alphabets: Vec<Alphabet<'a>>,
    instances: Vec<Instance<'a>>,
    budget: Budget,
}

impl<'a, 'd> Table<'a, 'd> {
    fn new(draft: &'d Draft<'a>, sink: &mut Sink) -> Self {
        let mut table = Self {
            form: draft.form,
            shared: draft.shared.as_ref(),
            counted: draft.counted && !draft.blocks.is_empty(),
            alphabets: Vec::new(),
            instances: Vec::new(),
            budget: Budget(MOST_UNFOLDED),
        };
        draft.blocks.iter().for_each(|block| table.add_block(block, sink));
        table
    }

    fn add_block(&mut self, block: &Block<'a>, sink: &mut Sink) {
        let alphabet = self.alphabet(block, sink);
        let letters = alphabet.names.names().iter().map(|name| name.len() + 1).sum::<usize>();
        let size = (alphabet.rules.len() + letters) as u64;
        let number = self.alphabets.len();
        self.alphabets.push(alphabet);
        let copies = block.threads.len() as u64;
        if copies > 1 && !self.budget.take(copies.saturating_mul(size)) {
            sink.push(too_large(block.place, block.place.span()));
        }
        self.instances.extend(block.threads.iter().map(|name| Instance {
            block: number,
            name: name.clone(),
            used: HashSet::new(),
            extras: Interner::default(),
        }));
    }

    fn alphabet(&self, block: &Block<'a>, sink: &mut Sink) -> Alphabet<'a> {
        let mut names = Interner::default();
        for symbol in block.stack.iter().flatten() {
            if !names.intern(symbol.text).1 {
                sink.push(symbol.error(format!("symbol {} is declared twice", quote(symbol.text)), "again here"));
            }
        }
        let closed = block.stack.is_some();
        let mut alphabet = Alphabet { names, closed, in_rules: Vec::new(), mentioned: Vec::new(), rules: Vec::new() };
        for rule in &block.rules {
            let resolved = self.rule(rule, &mut alphabet, sink);
            alphabet.rules.extend(resolved);
        }
        alphabet.in_rules.resize(alphabet.names.len(), false);
        alphabet.mentioned.clone_from(&alphabet.in_rules);
        warn_range(block, sink);
        warn_duplicates(block, &alphabet, sink);
        alphabet
    }

    fn rule(&self, text: &RuleText<'a>, alphabet: &mut Alphabet<'a>, sink: &mut Sink) -> Option<Rule> {
        let from = self.shared(text.from, sink);
        let to = self.shared(text.to, sink);
        let mut symbols = [Symbol::BOTTOM; 3];
        let mut complete = true;
        // The right side of a rule on the empty stack starts one place later, as if `-` were a symbol on the left.
        let offset = usize::from(text.top.is_none());
        for (symbol, token) in symbols[offset..].iter_mut().zip(text.symbols()) {
            match self.rule_symbol(token, alphabet, sink) {
                Some(found) => *symbol = found,
                None => complete = false,
            }
        }
        let [top, first, second] = symbols;
        let action = match text.right {
            Right::Nothing if top.is_bottom() => Action::Overwrite(Symbol::BOTTOM),
            Right::Nothing => Action::Pop,
            Right::One(_) if top.is_bottom() => Action::Push { top: first, below: Symbol::BOTTOM },
            Right::One(_) => Action::Overwrite(first),
            Right::Two { .. } => Action::Push { top: first, below: second },
        };
        complete.then_some(Rule { from: from?, top, to: to?, action, line: text.line })
    }

    fn rule_symbol(&self, token: Token<'a>, alphabet: &mut Alphabet<'a>, sink: &mut Sink) -> Option<Symbol> {
        let key = sink.take(self.form.key(token))?;
        let id = match alphabet.names.get(key) {
            Some(id) => id,
            None if alphabet.closed => {
                sink.push(unknown_symbol(token, alphabet, sink));
                return None;
            }
            None => alphabet.names.intern(key).0,
        };
        let length = alphabet.in_rules.len().max(id as usize + 1);
        alphabet.in_rules.resize(length, false);
        alphabet.in_rules[id as usize] = true;
        Some(Symbol(id + 1))
    }

    fn shared(&self, word: Token<'_>, sink: &mut Sink) -> Option<Shared> {
        match self.shared {
            Some(shared) => shared.find(word, self.form, sink).map(Shared),
            None => None,
        }
    }

    fn state(&mut self, text: &StateText<'a>, sink: &mut Sink) -> Option<State> {
        let shared = self.shared(text.shared, sink);
        let mut stacks = Vec::new();
        self.each_entry(text, sink, |table, thread, entry, first, sink| {
            let mut stack = Vec::new();
            for &token in entry.stack.iter().flatten() {
                stack.extend(table.symbol(thread, token, first, sink));
            }
            stacks.push(stack);
        })?;
        Some(State { shared: shared?, stacks })
    }

    fn pattern(&mut self, text: &StateText<'a>, sink: &mut Sink) -> Option<Pattern> {
        let open = text.shared.kind == Kind::Star;
        let shared = if open { None } else { Some(self.shared(text.shared, sink)) };
        let mut tops = Vec::new();
        self.each_entry(text, sink, |table, thread, entry, first, sink| {
            tops.push(entry.stack.as_ref().map(|stack| table.top(thread, stack, first, sink)));
        })?;
        let shared = match shared {
            Some(shared) => Some(shared?),
            None => None,
        };
        Some(Pattern { shared, tops })
    }

    fn properties(&mut self, texts: &[PropertyText<'a>], sink: &mut Sink) -> Vec<Property> {
        let mut names = HashSet::new();
        let mut properties = Vec::new();
        for (position, text) in (1..).zip(texts) {
            let (name, span) = text.name.clone().unwrap_or_else(|| (format!("never-{position}"), text.place.span()));
            if !names.insert(name.clone()) {
                let message = format!("two properties are named {}", quote(&name));
                sink.push(Diagnostic::error(text.place.source, span, message, "again here"));
            }
            let mut never = Vec::new();
            for pattern in &text.never {
                never.extend(self.pattern(pattern, sink));
            }
            properties.push(Property { name, never });
        }
        properties
    }

    /// Goes through the threads with the entry for each, which must be as many. The flag says whether the entry meets
    /// the thread's block for the first time: later complaints would only repeat it.
    fn each_entry(
        &mut self,
        text: &StateText<'a>,
        sink: &mut Sink,
        mut visit: impl FnMut(&mut Self, usize, &Entry<'a>, bool, &mut Sink),
    ) -> Option<()> {
        if !self.fits(text, sink) {
            return None;
        }
        let mut thread = 0;
        for entry in &text.entries {
            for copy in 0..entry.count {
                let first = copy == 0 || self.instances[thread - 1].block != self.instances[thread].block;
                visit(self, thread, entry, first, sink);
                thread += 1;
            }
        }
        Some(())
    }

    /// Whether a state has as many stacks as there are threads, and is not too large when unfolded.
    fn fits(&mut self, text: &StateText<'a>, sink: &mut Sink) -> bool {
        let (expected, found) = (self.instances.len(), text.count());
        if found != expected as u64 {
            if self.counted {
                sink.push(self.miscounted(text, found));
            }
            return false;
        }
        let repeated = text.entries.iter().filter(|entry| entry.count > 1);
        let fits = self.budget.take(repeated.map(Entry::size).fold(0, u64::saturating_add));
        if !fits {
            sink.push(too_large(text.shared, text.span.clone()));
        }
        fits
    }

    fn miscounted(&self, text: &StateText<'_>, found: u64) -> Diagnostic {
        const MOST_NAMED: usize = 8;
        let expected = self.instances.len();
        let plural = if expected == 1 { "" } else { "s" };
        let message = format!("expected {expected} stack{plural}, found {found}");
        let mut names: Vec<_> = self.instances.iter().take(MOST_NAMED).map(|thread| thread.name.as_str()).collect();
        if expected > MOST_NAMED {
            names.push("...");
        }
        let error = Diagnostic::error(text.shared.source, text.span.clone(), message, "one stack for each thread");
        error.hint(format!("the threads are {}", names.join(", ")))
    }

    /// The symbol a word names for a thread. Where symbols are not declared it may be a new one. Only the `first`
    /// thread of those that share a word is worth a message.
    fn symbol(&mut self, thread: usize, token: Token<'a>, first: bool, sink: &mut Sink) -> Option<Symbol> {
        let key = match self.form.key(token) {
            Err(_) if !first => return None,
            key => sink.take(key)?,
        };
        let instance = &mut self.instances[thread];
        let alphabet = &mut self.alphabets[instance.block];
        if let Some(id) = alphabet.names.get(key) {
            alphabet.mentioned[id as usize] = true;
            if alphabet.closed {
                instance.used.insert(id);
            }
            return Some(Symbol(id + 1));
        }
        if alphabet.closed {
            if first {
                sink.push(unknown_symbol(token, alphabet, sink));
            }
            return None;
        }
        let (extra, new) = instance.extras.intern(key);
        if new && first {
            sink.push(unruled(token, &instance.name, alphabet, sink));
        }
        u32::try_from(alphabet.names.len()).ok()?.checked_add(extra)?.checked_add(1).map(Symbol)
    }

    /// The top of a stack in a pattern; symbols beneath must exist but are not looked at.
    fn top(&mut self, thread: usize, stack: &[Token<'a>], first: bool, sink: &mut Sink) -> Symbol {
        let Some((&top, beneath)) = stack.split_last() else {
            return Symbol::BOTTOM;
        };
        for &token in beneath.iter().filter(|_| first) {
            self.check_beneath(thread, token, sink);
        }
        if first && !beneath.is_empty() && self.form == Form::Words {
            let message = format!("only the top {} of this stack is looked at", quote(top.text));
            sink.push(top.warning(message, "a property speaks of tops"));
        }
        self.symbol(thread, top, first, sink).unwrap_or(Symbol::BOTTOM)
    }

    fn check_beneath(&self, thread: usize, token: Token<'a>, sink: &mut Sink) {
        let alphabet = &self.alphabets[self.instances[thread].block];
        if let Some(key) = sink.take(self.form.key(token))
            && alphabet.closed
            && alphabet.names.get(key).is_none()
        {
            sink.push(unknown_symbol(token, alphabet, sink));
        }
    }

    fn warn_unused(&self, blocks: &[Block<'_>], sink: &mut Sink) {
        for (block, alphabet) in blocks.iter().zip(&self.alphabets) {
            let declared = block.stack.iter().flatten();
            for symbol in declared.filter(|symbol| alphabet.lacks(symbol.text)) {
                let message = format!("symbol {} is never used", quote(symbol.text));
                sink.push(symbol.warning(message, "left out of the model"));
            }
        }
    }

    fn finish(self, shared: Names, mut init: State, mut properties: Vec<Property>) -> Result<Model, Malformed> {
        let mut threads = Vec::new();
        for (number, instance) in self.instances.into_iter().enumerate() {
            let alphabet = &self.alphabets[instance.block];
            let (symbols, renumbered) = renumber(alphabet, &instance, self.form);
            let new = |symbol: Symbol| Symbol(renumbered[symbol.0 as usize]);
            let rules = alphabet.rules.iter().map(|rule| map_rule(rule, new)).collect();
            init.stacks[number].iter_mut().for_each(|symbol| *symbol = new(*symbol));
            for pattern in properties.iter_mut().flat_map(|property| &mut property.never) {
                pattern.tops[number] = pattern.tops[number].map(new);
            }
            threads.push(Thread { name: instance.name, symbols, rules });
        }
        Model::new(shared, threads, init, properties)
    }
}

impl Alphabet<'_> {
    fn lacks(&self, name: &str) -> bool {
        self.names.get(name).is_some_and(|id| !self.mentioned[id as usize])
    }
}

/// The names of the symbols that a thread keeps, and the final number of each provisional one.
fn renumber(alphabet: &Alphabet<'_>, instance: &Instance<'_>, form: Form) -> (Vec<String>, Vec<u32>) {
    let kept = |id: &u32| !alphabet.closed || alphabet.in_rules[*id as usize] || instance.used.contains(id);
    let names = alphabet.names.names().iter().chain(instance.extras.names());
    let mut order: Vec<_> =
        (0_u32..).zip(names).filter(|(id, _)| *id as usize >= alphabet.names.len() || kept(id)).collect();
    if form == Form::Numerals {
        order.sort_by_key(|(_, name)| (name.len(), **name));
    }
    let mut renumbered = vec![0; alphabet.names.len() + instance.extras.len() + 1];
    for (number, (id, _)) in (1..).zip(&order) {
        renumbered[*id as usize + 1] = number;
    }
    (order.iter().map(|(_, name)| (**name).to_owned()).collect(), renumbered)
}

fn map_rule(rule: &Rule, new: impl Fn(Symbol) -> Symbol) -> Rule {
    let action = match rule.action {
        Action::Pop => Action::Pop,
        Action::Overwrite(symbol) => Action::Overwrite(new(symbol)),
        Action::Push { top, below } => Action::Push { top: new(top), below: new(below) },
    };
    Rule { top: new(rule.top), action, ..*rule }
}

fn too_large(place: Token<'_>, span: Range<usize>) -> Diagnostic {
    Diagnostic::error(place.source, span, "repetition makes the model too large", "no room for so many copies")
}

fn unknown_symbol(token: Token<'_>, alphabet: &Alphabet<'_>, sink: &Sink) -> Diagnostic {
    let hint = suggestion(token.text, alphabet.names.names().iter().copied(), sink.is_full(Severity::Error));
    token.error(format!("unknown symbol {}", quote(token.text)), "not in the `stack` line").hint_if(hint)
}

fn unruled(token: Token<'_>, thread: &str, alphabet: &Alphabet<'_>, sink: &Sink) -> Diagnostic {
    let hint = suggestion(token.text, alphabet.names.names().iter().copied(), sink.is_full(Severity::Warning));
    let message = format!("no rule of thread {} mentions symbol {}", quote(thread), quote(token.text));
    token.warning(message, "a slip of the pen?").hint_if(hint)
}

fn warn_range(block: &Block<'_>, sink: &mut Sink) {
    let Some((least, largest)) = block.range else { return };
    let outside = |symbol: &Token<'_>| symbol.number().is_ok_and(|number| number < least || number > largest);
    if let Some(symbol) = block.rules.iter().flat_map(RuleText::symbols).find(outside) {
        let name = block.threads.first().map_or("?", String::as_str);
        let message = format!("thread {} uses symbol {} outside its range", quote(name), symbol.digits());
        sink.push(symbol.warning(message, format!("declared are {least} to {largest}")).note());
    }
}

fn warn_duplicates(block: &Block<'_>, alphabet: &Alphabet<'_>, sink: &mut Sink) {
    let mut seen = HashMap::new();
    let mut repeated = Vec::new();
    for rule in &alphabet.rules {
        let before = seen.entry((rule.from, rule.top, rule.to, rule.action)).or_insert(rule.line);
        if *before != rule.line {
            repeated.push((*before, rule.line));
        }
    }
    let Some(&(before, line)) = repeated.first() else { return };
    let Some(text) = block.rules.iter().find(|rule| rule.line == line) else { return };
    let name = block.threads.first().map_or("?", String::as_str);
    let message = match repeated.len() {
        1 => format!("thread {} states a rule twice", quote(name)),
        count => format!("thread {} repeats {count} rules", quote(name)),
    };
    let label = format!("the same as line {before}");
    sink.push(Diagnostic::warning(text.from.source, text.span.clone(), message, label).note());
}
