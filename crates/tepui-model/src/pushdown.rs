//! Concurrent pushdown systems: threads with a stack each, that share one finite-state variable.
//!
//! A state is a shared state `q` and one stack for each thread. A thread looks at its *head*, the pair of `q` and the
//! top of its stack, and may pop the top, overwrite it, or overwrite it and push one more symbol; each rule may
//! change `q`. The empty stack is a legal situation of its own: the reserved symbol [`Symbol::BOTTOM`] stands for it
//! wherever a top is asked for, so that a rule on the empty stack is a rule on `BOTTOM`, and "push on empty" is a
//! push that leaves `BOTTOM` beneath. A stack, in this crate, lists its real symbols from bottom to top, without the
//! marker.
//!
//! What is observed of a state is its [`View`]: the shared state and the top of each stack.

use std::fmt;

use crate::Digest;

/// A value of the shared variable, `0..model.shared_count()`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Shared(pub u32);

/// A stack symbol of one thread; equal numbers in different threads are unrelated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol(pub u32);

impl Symbol {
    /// What a thread sees when its stack is empty.
    pub const BOTTOM: Self = Self(0);

    /// Whether this is the marker of the empty stack.
    pub fn is_bottom(self) -> bool {
        self == Self::BOTTOM
    }
}

/// What a rule does to the top of the stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Action {
    /// Removes the top.
    Pop,
    /// Replaces the top. `BOTTOM` is replaced by `BOTTOM` only.
    Overwrite(Symbol),
    /// Replaces the old top by `below` and puts `top` above it. On the empty stack `below` is `BOTTOM`.
    Push {
        /// The new top.
        top: Symbol,
        /// What replaces the old top, directly beneath the new one.
        below: Symbol,
    },
}

/// One rule of a thread: enabled when the shared state is `from` and the top of the thread's stack is `top`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// The shared state in which the rule is enabled.
    pub from: Shared,
    /// The top of the stack for which the rule is enabled, `BOTTOM` for the empty stack.
    pub top: Symbol,
    /// The shared state afterwards.
    pub to: Shared,
    /// What happens to the stack.
    pub action: Action,
    /// The line of the source that states the rule, 0 if there is none.
    pub line: u32,
}

/// The names of a set `0..n`, or no names but the numbers themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Names {
    /// `0..n`, printed as decimal numbers.
    Numbers(u32),
    /// One name for each element.
    List(Vec<String>),
}

impl Names {
    /// How many elements there are.
    pub fn count(&self) -> u32 {
        match self {
            Self::Numbers(count) => *count,
            Self::List(names) => u32::try_from(names.len()).unwrap_or(u32::MAX),
        }
    }
}

/// One pushdown thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The thread's name in messages.
    pub name: String,
    /// Names of the symbols `1, 2, ...`; the marker `BOTTOM` has none and is printed as `-`.
    pub symbols: Vec<String>,
    /// The rules in the order of the source; duplicates are kept.
    pub rules: Vec<Rule>,
}

impl Thread {
    /// The number of symbols, `BOTTOM` included.
    pub fn symbol_count(&self) -> u32 {
        u32::try_from(self.symbols.len() + 1).unwrap_or(u32::MAX)
    }

    /// The name of a symbol.
    pub fn symbol_name(&self, symbol: Symbol) -> &str {
        match symbol.0 {
            0 => "-",
            number => self.symbols.get(number as usize - 1).map_or("?", String::as_str),
        }
    }

    /// Whether two threads have the same rules over the same number of symbols, whatever their names and lines.
    pub fn behaves_like(&self, other: &Self) -> bool {
        let meaning = |rule: &Rule| (rule.from, rule.top, rule.to, rule.action);
        self.symbols.len() == other.symbols.len() && self.rules.iter().map(meaning).eq(other.rules.iter().map(meaning))
    }
}

/// A whole state: the shared state, and each thread's stack from bottom to top.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// The shared state.
    pub shared: Shared,
    /// One stack for each thread, from bottom to top, without the `BOTTOM` marker.
    pub stacks: Vec<Vec<Symbol>>,
}

impl State {
    /// What a thread sees on top of its stack.
    pub fn top(&self, thread: usize) -> Symbol {
        self.stacks[thread].last().copied().unwrap_or(Symbol::BOTTOM)
    }

    /// What is observed of the state.
    pub fn view(&self) -> View {
        View { shared: self.shared, tops: (0..self.stacks.len()).map(|thread| self.top(thread)).collect() }
    }
}

/// The view of a state: its shared state and the top of each stack.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct View {
    /// The shared state.
    pub shared: Shared,
    /// The top of each stack.
    pub tops: Vec<Symbol>,
}

/// A set of views: `None` matches anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pattern {
    /// The shared state that is meant.
    pub shared: Option<Shared>,
    /// The tops that are meant, one entry for each thread.
    pub tops: Vec<Option<Symbol>>,
}

impl Pattern {
    /// Whether the pattern covers a view, given in parts.
    pub fn matches(&self, shared: Shared, top: impl Fn(usize) -> Symbol) -> bool {
        self.shared.is_none_or(|wanted| wanted == shared)
            && self.tops.iter().enumerate().all(|(thread, wanted)| wanted.is_none_or(|wanted| wanted == top(thread)))
    }
}

/// A safety property: no reachable view matches any of the patterns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// The property's name in messages and on the command line.
    pub name: String,
    /// The forbidden views; a property without a pattern forbids nothing.
    pub never: Vec<Pattern>,
}

impl Property {
    /// Whether a view, given in parts, is forbidden.
    pub fn forbids(&self, shared: Shared, top: impl Fn(usize) -> Symbol) -> bool {
        self.never.iter().any(|pattern| pattern.matches(shared, &top))
    }
}

/// A concurrent pushdown system with its initial state and its properties. Built by [`Model::new`], which guarantees
/// that every number is in range and every rule well formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    shared: Names,
    threads: Vec<Thread>,
    init: State,
    properties: Vec<Property>,
}

/// Why parts do not make a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed(String);

impl Malformed {
    pub(crate) fn because(why: String) -> Self {
        Self(why)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Malformed {}

impl Model {
    /// Puts a model together, and refuses parts that do not fit each other.
    pub fn new(shared: Names, threads: Vec<Thread>, init: State, properties: Vec<Property>) -> Result<Self, Malformed> {
        let model = Self { shared, threads, init, properties };
        model.validate().map(|()| model)
    }

    /// The same system with only those of its properties that are wanted.
    #[must_use]
    pub fn restricted(mut self, wanted: impl Fn(&Property) -> bool) -> Self {
        self.properties.retain(wanted);
        self
    }

    /// The same system with other properties.
    pub fn with_properties(self, properties: Vec<Property>) -> Result<Self, Malformed> {
        Self::new(self.shared, self.threads, self.init, properties)
    }

    /// Names of the shared states.
    pub fn shared(&self) -> &Names {
        &self.shared
    }

    /// The threads.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The initial state.
    pub fn init(&self) -> &State {
        &self.init
    }

    /// The properties.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// The step that `rule` of `thread` takes from `state`, if it is enabled there. This is the reference semantics:
    /// replaying uses it, engines compile their own and are compared with it.
    pub fn step(&self, state: &State, thread: usize, rule: usize) -> Option<State> {
        let rule = self.threads.get(thread)?.rules.get(rule)?;
        if state.shared != rule.from || state.top(thread) != rule.top {
            return None;
        }
        let mut next = state.clone();
        next.shared = rule.to;
        let stack = &mut next.stacks[thread];
        stack.pop();
        match rule.action {
            Action::Pop => {}
            Action::Overwrite(symbol) => stack.extend((!symbol.is_bottom()).then_some(symbol)),
            Action::Push { top, below } => {
                stack.extend((!below.is_bottom()).then_some(below));
                stack.push(top);
            }
        }
        Some(next)
    }

    /// The fingerprint of shared states, threads, rules and initial state. Names, source lines and properties do not
    /// enter it.
    pub fn digest(&self) -> Digest {
        let mut bytes = b"tepui pushdown 1\0".to_vec();
        let mut put = |number: u32| bytes.extend(number.to_le_bytes());
        put(self.shared.count());
        put(self.threads.len() as u32);
        for thread in &self.threads {
            put(thread.symbol_count());
            put(thread.rules.len() as u32);
            for rule in &thread.rules {
                let (kind, first, second) = match rule.action {
                    Action::Pop => (0, 0, 0),
                    Action::Overwrite(symbol) => (1, symbol.0, 0),
                    Action::Push { top, below } => (2, top.0, below.0),
                };
                [rule.from.0, rule.top.0, rule.to.0, kind, first, second].into_iter().for_each(&mut put);
            }
        }
        put(self.init.shared.0);
        for stack in &self.init.stacks {
            put(stack.len() as u32);
            stack.iter().for_each(|symbol| put(symbol.0));
        }
        Digest::of(&bytes)
    }

    /// The name of a shared state.
    pub fn shared_name(&self, shared: Shared) -> String {
        match &self.shared {
            Names::Numbers(_) => shared.0.to_string(),
            Names::List(names) => names.get(shared.0 as usize).map_or("?", String::as_str).to_owned(),
        }
    }

    /// A state as `q|w1,w2,...`: stacks from bottom to top, joined by dots, `-` for the empty one.
    pub fn display_state(&self, state: &State) -> String {
        self.display_state_cut(state, usize::MAX)
    }

    /// The same, with at most so many symbols of each stack: the topmost, after the number of those left out.
    pub fn display_state_cut(&self, state: &State, limit: usize) -> String {
        self.display_parts(state.shared, |thread| {
            let stack = &state.stacks[thread];
            let hidden = stack.len().saturating_sub(limit);
            let names = stack[hidden..].iter().map(|&symbol| self.threads[thread].symbol_name(symbol).to_owned());
            let hidden = (hidden > 0).then(|| format!("({hidden} more)"));
            match hidden.into_iter().chain(names).collect::<Vec<_>>() {
                names if names.is_empty() => "-".to_owned(),
                names => names.join("."),
            }
        })
    }

    /// A view as `q|a,b,...`, `-` for the empty stack.
    pub fn display_view(&self, shared: Shared, top: impl Fn(usize) -> Symbol) -> String {
        self.display_parts(shared, |thread| self.threads[thread].symbol_name(top(thread)).to_owned())
    }

    /// A pattern as `q|a,*,...`.
    pub fn display_pattern(&self, pattern: &Pattern) -> String {
        let shared = pattern.shared.map_or("*".to_owned(), |shared| self.shared_name(shared));
        let tops: Vec<_> = (pattern.tops.iter().zip(&self.threads))
            .map(|(top, thread)| top.map_or("*", |symbol| thread.symbol_name(symbol)))
            .collect();
        format!("{shared}|{}", tops.join(","))
    }

    /// A rule as `q a -> p w`, in the notation of the input files.
    pub fn display_rule(&self, thread: usize, rule: &Rule) -> String {
        let name = |symbol| self.threads[thread].symbol_name(symbol);
        let right = match rule.action {
            Action::Pop => "-".to_owned(),
            Action::Overwrite(symbol) => name(symbol).to_owned(),
            Action::Push { top, below } if below.is_bottom() => name(top).to_owned(),
            Action::Push { top, below } => format!("{} {}", name(top), name(below)),
        };
        format!("{} {} -> {} {right}", self.shared_name(rule.from), name(rule.top), self.shared_name(rule.to))
    }

    fn display_parts(&self, shared: Shared, local: impl Fn(usize) -> String) -> String {
        let locals: Vec<_> = (0..self.threads.len()).map(local).collect();
        format!("{}|{}", self.shared_name(shared), locals.join(","))
    }

    fn validate(&self) -> Result<(), Malformed> {
        let fail = |what: String| Err(Malformed(what));
        if self.threads.is_empty() {
            return fail("a model needs at least one thread".to_owned());
        }
        if self.threads.len() > usize::from(u16::MAX) {
            return fail(format!("{} threads, more than the {} supported", self.threads.len(), u16::MAX));
        }
        for thread in &self.threads {
            if let Some(rule) = thread.rules.iter().find(|rule| !self.well_formed(thread, rule)) {
                return fail(format!("thread {} has the ill-formed rule {rule:?}", thread.name));
            }
        }
        let in_range = |(stack, thread): (&Vec<Symbol>, &Thread)| {
            stack.iter().all(|&symbol| !symbol.is_bottom() && symbol.0 < thread.symbol_count())
        };
        if self.init.shared.0 >= self.shared.count()
            || self.init.stacks.len() != self.threads.len()
            || !self.init.stacks.iter().zip(&self.threads).all(in_range)
        {
            return fail("the initial state does not fit the threads".to_owned());
        }
        for property in &self.properties {
            if !property.never.iter().all(|pattern| self.pattern_fits(pattern)) {
                return fail(format!("property {} does not fit the threads", property.name));
            }
        }
        Ok(())
    }

    fn pattern_fits(&self, pattern: &Pattern) -> bool {
        pattern.shared.is_none_or(|shared| shared.0 < self.shared.count())
            && pattern.tops.len() == self.threads.len()
            && (pattern.tops.iter().zip(&self.threads))
                .all(|(top, thread)| top.is_none_or(|symbol| symbol.0 < thread.symbol_count()))
    }

    fn well_formed(&self, thread: &Thread, rule: &Rule) -> bool {
        let known = |symbol: Symbol| symbol.0 < thread.symbol_count();
        let shared = |shared: Shared| shared.0 < self.shared.count();
        let stack = match rule.action {
            Action::Pop => !rule.top.is_bottom(),
            Action::Overwrite(symbol) => known(symbol) && symbol.is_bottom() == rule.top.is_bottom(),
            Action::Push { top, below } => {
                known(top) && known(below) && !top.is_bottom() && below.is_bottom() == rule.top.is_bottom()
            }
        };
        stack && known(rule.top) && shared(rule.from) && shared(rule.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(from: u32, top: u32, to: u32, action: Action) -> Rule {
        Rule { from: Shared(from), top: Symbol(top), to: Shared(to), action, line: 0 }
    }

    fn model(rules: Vec<Rule>, stack: &[u32]) -> Result<Model, Malformed> {
        let thread = Thread { name: "t".to_owned(), symbols: vec!["a".to_owned(), "b".to_owned()], rules };
        let stacks = vec![stack.iter().copied().map(Symbol).collect()];
        Model::new(Names::Numbers(2), vec![thread], State { shared: Shared(0), stacks }, Vec::new())
    }

    #[test]
    fn each_kind_of_rule_takes_its_step() {
        let push = Action::Push { top: Symbol(2), below: Symbol(1) };
        let start = Action::Push { top: Symbol(1), below: Symbol::BOTTOM };
        let rules = vec![
            rule(0, 1, 1, Action::Pop),
            rule(0, 1, 1, Action::Overwrite(Symbol(2))),
            rule(0, 1, 1, push),
            rule(0, 0, 1, Action::Overwrite(Symbol::BOTTOM)),
            rule(0, 0, 1, start),
        ];
        let model = model(rules, &[2, 1]).unwrap();
        let after = |state: &State, rule| model.step(state, 0, rule).map(|state| model.display_state(&state));
        let full = model.init().clone();
        let empty = State { shared: Shared(0), stacks: vec![Vec::new()] };
        let shown = |rule| (after(&full, rule), after(&empty, rule));
        assert_eq!(shown(0), (Some("1|b".to_owned()), None));
        assert_eq!(shown(1), (Some("1|b.b".to_owned()), None));
        assert_eq!(shown(2), (Some("1|b.a.b".to_owned()), None));
        assert_eq!(shown(3), (None, Some("1|-".to_owned())));
        assert_eq!(shown(4), (None, Some("1|a".to_owned())));
        assert_eq!(shown(5), (None, None));
    }

    #[test]
    fn ill_formed_parts_are_refused() {
        let bottom_push = Action::Push { top: Symbol::BOTTOM, below: Symbol(1) };
        let mixed_push = Action::Push { top: Symbol(1), below: Symbol::BOTTOM };
        for bad in [
            rule(2, 1, 0, Action::Pop),
            rule(0, 3, 0, Action::Pop),
            rule(0, 1, 2, Action::Pop),
            rule(0, 0, 0, Action::Pop),
            rule(0, 0, 0, Action::Overwrite(Symbol(1))),
            rule(0, 1, 0, Action::Overwrite(Symbol::BOTTOM)),
            rule(0, 1, 0, bottom_push),
            rule(0, 1, 0, mixed_push),
        ] {
            assert!(model(vec![bad], &[1]).is_err(), "{bad:?}");
        }
        assert!(model(Vec::new(), &[0]).is_err());
        assert!(model(Vec::new(), &[3]).is_err());
    }

    #[test]
    fn the_digest_sees_meaning_and_not_names() {
        let one = model(vec![rule(0, 1, 1, Action::Pop)], &[1]).unwrap();
        let mut renamed = one.clone();
        renamed.threads[0].name = "other".to_owned();
        renamed.threads[0].rules[0].line = 7;
        assert_eq!(one.digest(), renamed.digest());
        let other = model(vec![rule(0, 1, 0, Action::Pop)], &[1]).unwrap();
        assert_ne!(one.digest(), other.digest());
        assert_ne!(one.digest(), model(vec![rule(0, 1, 1, Action::Pop)], &[2]).unwrap().digest());
    }
}
