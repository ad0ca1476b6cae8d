//! Communicating pushdown systems: threads with a stack each and no shared state, which synchronise on actions.
//!
//! Each thread has control states of its own. A rule replaces the top of the stack by a word, changes the control state,
//! and is labelled with an action or is internal. An action is *known* to some threads, and happens only if all of them
//! take a rule with its label at the same time; the others stand still. An internal step is taken by one thread alone.
//!
//! A query is a tuple of regular sets, one for each thread, of configurations (a control state and a stack); a property
//! forbids the states in which every thread is in its set, for any of several tuples. As in [`crate::pushdown`], the
//! empty stack is legal, [`Symbol::BOTTOM`] stands for it where a top is asked for, and stacks are listed from bottom to
//! top.

mod observers;
mod stacks;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::Digest;
pub use crate::pushdown::{Malformed, Symbol};
pub use observers::{Nodes, Observers};
pub use stacks::{Draft, StackSet, TooLarge};

/// A control state of one thread; equal numbers in different threads are unrelated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Control(pub u32);

/// An action that threads synchronise on, `0..model.actions().len()`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Action(pub u32);

/// One rule of a thread: enabled when the thread is in `from` and `top` lies on its stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// The control state in which the rule is enabled.
    pub from: Control,
    /// The top for which the rule is enabled, `BOTTOM` for the empty stack.
    pub top: Symbol,
    /// The action, or none if the step is internal.
    pub action: Option<Action>,
    /// The control state afterwards.
    pub to: Control,
    /// What replaces the top, the new top first; on the empty stack, what is put there.
    pub right: Vec<Symbol>,
    /// The line of the source that states the rule, 0 if there is none.
    pub line: u32,
}

/// One thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The thread's name in messages.
    pub name: String,
    /// Names of the control states `0, 1, ...`.
    pub controls: Vec<String>,
    /// Names of the symbols `1, 2, ...`; the marker `BOTTOM` has none and is printed as `-`.
    pub symbols: Vec<String>,
    /// The actions that need this thread.
    pub knows: BTreeSet<Action>,
    /// The rules in the order of the source.
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

    /// The name of a control state.
    pub fn control_name(&self, control: Control) -> &str {
        self.controls.get(control.0 as usize).map_or("?", String::as_str)
    }
}

/// Where one thread is: its control state, and its stack from bottom to top.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Local {
    /// The control state.
    pub control: Control,
    /// The stack from bottom to top, without the `BOTTOM` marker.
    pub stack: Vec<Symbol>,
}

impl Local {
    /// What the thread sees on top of its stack.
    pub fn top(&self) -> Symbol {
        self.stack.last().copied().unwrap_or(Symbol::BOTTOM)
    }

    /// The local state after a rule, if it is enabled.
    pub fn after(&self, rule: &Rule) -> Option<Self> {
        if self.control != rule.from || self.top() != rule.top {
            return None;
        }
        let mut stack = self.stack.clone();
        stack.pop();
        stack.extend(rule.right.iter().rev());
        Some(Self { control: rule.to, stack })
    }
}

/// A whole state: one local state for each thread.
pub type State = Vec<Local>;

/// One thread's part in a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Move {
    /// The thread.
    pub thread: usize,
    /// The rule that it takes.
    pub rule: usize,
}

/// A regular set of local states of one thread: the stacks that occur with each control state, none of them empty.
pub type LocalSet = BTreeMap<Control, StackSet>;

/// A set of states: for each thread the local states that are meant, `None` for all.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// One entry for each thread.
    pub locals: Vec<Option<LocalSet>>,
}

impl Target {
    /// Whether a state is meant.
    pub fn contains(&self, state: &State) -> bool {
        self.locals.iter().zip(state).all(|(set, local)| {
            set.as_ref().is_none_or(|set| set.get(&local.control).is_some_and(|set| set.contains(&local.stack)))
        })
    }
}

/// A safety property: no reachable state is in one of the targets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// The property's name in messages and on the command line.
    pub name: String,
    /// The forbidden states; a property without a target forbids nothing.
    pub never: Vec<Target>,
}

impl Property {
    /// Whether a state is forbidden.
    pub fn forbids(&self, state: &State) -> bool {
        self.never.iter().any(|target| target.contains(state))
    }

    /// The fingerprint of what is forbidden. The name does not enter it.
    pub fn digest(&self) -> Digest {
        let mut bytes = b"tepui rendezvous property 1\0".to_vec();
        let mut put = |number: u32| bytes.extend(number.to_le_bytes());
        put(self.never.len() as u32);
        for target in &self.never {
            put(target.locals.len() as u32);
            for set in &target.locals {
                let Some(set) = set else {
                    put(u32::MAX);
                    continue;
                };
                put(set.len() as u32);
                for (control, stacks) in set {
                    put(control.0);
                    put(stacks.size() as u32);
                    for node in 0..stacks.size() as u32 {
                        put(u32::from(stacks.accepts(node)));
                        put(stacks.edges(node).len() as u32);
                        stacks
                            .edges(node)
                            .iter()
                            .for_each(|&(symbol, to)| [symbol.0, to].into_iter().for_each(&mut put));
                    }
                }
            }
        }
        Digest::of(&bytes)
    }
}

/// A communicating pushdown system with its initial state and its properties. Built by [`Model::new`], which guarantees
/// that every number is in range and every rule well formed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    actions: Vec<String>,
    threads: Vec<Thread>,
    init: State,
    properties: Vec<Property>,
    /// All properties that were stated; some may have been left out since.
    stated: Vec<Property>,
}

impl Model {
    /// Puts a model together, and refuses parts that do not fit each other.
    pub fn new(
        actions: Vec<String>,
        threads: Vec<Thread>,
        init: State,
        properties: Vec<Property>,
    ) -> Result<Self, Malformed> {
        let stated = properties.clone();
        let model = Self { actions, threads, init, properties, stated };
        model.validate().map_err(Malformed::because).map(|()| model)
    }

    /// All properties that were stated, those that have been left out included: a proof may be about more than what is
    /// asked for.
    pub fn stated(&self) -> &[Property] {
        &self.stated
    }

    /// The same system with only those of its properties that are wanted.
    #[must_use]
    pub fn restricted(mut self, wanted: impl Fn(&Property) -> bool) -> Self {
        self.properties.retain(wanted);
        self
    }

    /// The same system with other properties.
    pub fn with_properties(self, properties: Vec<Property>) -> Result<Self, Malformed> {
        Self::new(self.actions, self.threads, self.init, properties)
    }

    /// Names of the actions.
    pub fn actions(&self) -> &[String] {
        &self.actions
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

    /// The name of an action, or the word for an internal step.
    pub fn action_name(&self, action: Option<Action>) -> &str {
        action.map_or("tau", |action| self.actions.get(action.0 as usize).map_or("?", String::as_str))
    }

    /// The threads that an action needs.
    pub fn knowing(&self, action: Action) -> impl Iterator<Item = usize> + '_ {
        (self.threads.iter().enumerate())
            .filter(move |(_, thread)| thread.knows.contains(&action))
            .map(|(index, _)| index)
    }

    /// The rule of a move.
    pub fn rule(&self, Move { thread, rule }: Move) -> Option<&Rule> {
        self.threads.get(thread)?.rules.get(rule)
    }

    /// The action of a step: that of all its moves, which must be those of the threads that know it, in ascending order.
    /// The outer `None` means that these moves make no step.
    pub(crate) fn action_of(&self, moves: &[Move]) -> Option<Option<Action>> {
        let action = self.rule(*moves.first()?)?.action;
        let fits = match action {
            None => moves.len() == 1,
            Some(action) => self.knowing(action).eq(moves.iter().map(|step| step.thread)),
        };
        (fits && moves.iter().all(|&step| self.rule(step).is_some_and(|rule| rule.action == action))).then_some(action)
    }

    /// The state after a step, if it is one and is enabled. This is the reference semantics: replaying uses it, engines
    /// compile their own and are compared with it.
    pub fn step(&self, state: &State, moves: &[Move]) -> Option<State> {
        self.action_of(moves)?;
        let mut next = state.clone();
        for &step in moves {
            next[step.thread] = state[step.thread].after(self.rule(step)?)?;
        }
        Some(next)
    }

    /// The fingerprint of actions, threads, rules and initial state. Names, source lines and properties do not enter it.
    pub fn digest(&self) -> Digest {
        let mut bytes = b"tepui rendezvous 1\0".to_vec();
        let mut put = |number: u32| bytes.extend(number.to_le_bytes());
        put(self.actions.len() as u32);
        put(self.threads.len() as u32);
        for thread in &self.threads {
            put(thread.controls.len() as u32);
            put(thread.symbol_count());
            put(thread.knows.len() as u32);
            thread.knows.iter().for_each(|action| put(action.0));
            put(thread.rules.len() as u32);
            for rule in &thread.rules {
                let action = rule.action.map_or(u32::MAX, |action| action.0);
                [rule.from.0, rule.top.0, action, rule.to.0, rule.right.len() as u32].into_iter().for_each(&mut put);
                rule.right.iter().for_each(|symbol| put(symbol.0));
            }
        }
        for local in &self.init {
            put(local.control.0);
            put(local.stack.len() as u32);
            local.stack.iter().for_each(|symbol| put(symbol.0));
        }
        Digest::of(&bytes)
    }

    /// A local state as `control stack`: the stack from bottom to top, joined by dots, `-` for the empty one; of a high
    /// stack at most `limit` symbols, the topmost. The control state is left out where the thread has only one.
    pub fn display_local(&self, thread: usize, local: &Local, limit: usize) -> String {
        let thread = &self.threads[thread];
        let hidden = local.stack.len().saturating_sub(limit);
        let names = local.stack[hidden..].iter().map(|&symbol| thread.symbol_name(symbol).to_owned());
        let stack: Vec<_> = (hidden > 0).then(|| format!("({hidden} more)")).into_iter().chain(names).collect();
        let stack = if stack.is_empty() { "-".to_owned() } else { stack.join(".") };
        match thread.controls.len() {
            0 | 1 => stack,
            _ => format!("{} {stack}", thread.control_name(local.control)),
        }
    }

    /// A state as its local states, separated by bars.
    pub fn display_state(&self, state: &State, limit: usize) -> String {
        let locals = state.iter().enumerate().map(|(thread, local)| self.display_local(thread, local, limit));
        locals.collect::<Vec<_>>().join(" | ")
    }

    /// A rule as `p a -> q w : action`, in the notation of the input files.
    pub fn display_rule(&self, thread: usize, rule: &Rule) -> String {
        let thread = &self.threads[thread];
        let right: Vec<_> = rule.right.iter().map(|&symbol| thread.symbol_name(symbol)).collect();
        let right = if right.is_empty() { "-".to_owned() } else { right.join(" ") };
        let label = rule.action.map_or(String::new(), |_| format!(" : {}", self.action_name(rule.action)));
        let (from, top, to) =
            (thread.control_name(rule.from), thread.symbol_name(rule.top), thread.control_name(rule.to));
        format!("{from} {top} -> {to} {right}{label}")
    }

    fn validate(&self) -> Result<(), String> {
        if self.threads.is_empty() {
            return Err("a model needs at least one thread".to_owned());
        }
        if self.threads.len() > usize::from(u16::MAX) {
            return Err(format!("{} threads, more than the {} supported", self.threads.len(), u16::MAX));
        }
        for thread in &self.threads {
            if let Some(rule) = thread.rules.iter().find(|rule| !well_formed(thread, rule)) {
                return Err(format!("thread {} has the ill-formed rule {rule:?}", thread.name));
            }
            if thread.knows.iter().any(|action| action.0 as usize >= self.actions.len()) {
                return Err(format!("thread {} knows an action that does not exist", thread.name));
            }
        }
        let known: BTreeSet<_> = self.threads.iter().flat_map(|thread| &thread.knows).collect();
        let unknown = |action: &usize| !known.contains(&Action(*action as u32));
        if let Some(action) = (0..self.actions.len()).find(unknown) {
            return Err(format!("no thread knows action {}", self.actions[action]));
        }
        let in_range = |(local, thread): (&Local, &Thread)| {
            (local.control.0 as usize) < thread.controls.len()
                && local.stack.iter().all(|&symbol| !symbol.is_bottom() && symbol.0 < thread.symbol_count())
        };
        if self.init.len() != self.threads.len() || !self.init.iter().zip(&self.threads).all(in_range) {
            return Err("the initial state does not fit the threads".to_owned());
        }
        for property in &self.properties {
            if !property.never.iter().all(|target| self.target_fits(target)) {
                return Err(format!("property {} does not fit the threads", property.name));
            }
        }
        Ok(())
    }

    fn target_fits(&self, target: &Target) -> bool {
        let fits = |(set, thread): (&Option<LocalSet>, &Thread)| {
            set.iter().flatten().all(|(control, stacks)| {
                (control.0 as usize) < thread.controls.len() && stacks.fits(thread.symbol_count()) && !stacks.is_empty()
            })
        };
        target.locals.len() == self.threads.len() && target.locals.iter().zip(&self.threads).all(fits)
    }
}

fn well_formed(thread: &Thread, rule: &Rule) -> bool {
    let control = |control: Control| (control.0 as usize) < thread.controls.len();
    let symbol = |symbol: &Symbol| !symbol.is_bottom() && symbol.0 < thread.symbol_count();
    control(rule.from)
        && control(rule.to)
        && rule.top.0 < thread.symbol_count()
        && rule.right.iter().all(symbol)
        && rule.action.is_none_or(|action| thread.knows.contains(&action))
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} rule {}", self.thread.saturating_add(1), self.rule.saturating_add(1))
    }
}
