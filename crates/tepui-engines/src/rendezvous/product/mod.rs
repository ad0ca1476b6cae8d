//! A communicating system as a concurrent pushdown system, so that everything that is known about those applies.
//!
//! The shared state is a *phase*. In the phase `Run` any thread may start a step; the threads that an action needs then
//! move one after the other, in ascending order, and no other thread can move before the last of them is done. So a
//! state of the product in `Run` is a state of the system, and the others are on the way between two of them, or are
//! stuck because a thread that is needed cannot move; a step of the system is a series of steps of the product.
//!
//! The control state of a thread lies in the top frame of its stack, together with the symbol; the frames beneath hold
//! plain symbols. What comes to light after a pop gets its control state in a step of its own. A frame `floor` at the
//! bottom keeps the stack from becoming empty, so that there is always a place for the control state.
//!
//! Which stacks a query means may depend on more than their tops. So each frame also knows in which node of the query's
//! automata the stack beneath it ends, as far as that matters for what lies above: then whether a whole local state is
//! meant shows in its top frame. A query is answered by a chain of phases: the first of its threads looks at its own top
//! frame and passes on, and so on, until the last one enters the phase `Bad`, which no property of the product allows.
//!
//! Nobody has to believe any of this: what is found about the product is translated back ([`Product::steps`] and
//! [`Product::certificate`]), and judged there.

mod certificate;

use std::collections::{BTreeMap, HashMap, HashSet};

use tepui_model::pushdown::{self, Shared};
use tepui_model::rendezvous::{Action, Control, Local, LocalSet, Model, Move, Nodes, Observers, Rule, Symbol, Thread};

use crate::interner::Interner;

/// A communicating system as a pushdown system, and the way back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Product {
    model: pushdown::Model,
    /// For each rule of each thread the rule of the system that it stands for; those beside it only finish or observe.
    origin: Vec<Vec<Option<u32>>>,
    /// What the symbols of each thread mean, and where the automata can be.
    frames: Vec<Vec<Frame>>,
    places: Vec<Vec<Nodes>>,
}

/// The product of a system's threads. Its properties are those of the system, by their names.
pub fn product(model: &Model) -> Product {
    let Some(product) = product_unless(model, &mut || false) else { unreachable!("nothing stops it") };
    product
}

/// The same, unless it is told to stop on the way: it asks once in a while.
pub fn product_unless(model: &Model, stop: &mut dyn FnMut() -> bool) -> Option<Product> {
    let mut needed = vec![Vec::new(); model.actions().len()];
    for (number, thread) in model.threads().iter().enumerate() {
        thread.knows.iter().for_each(|action| needed[action.0 as usize].push(number));
    }
    let mut build = Build { model, needed: &needed, phases: Interner::default(), threads: Vec::new() };
    build.phases.intern(Phase::Run);
    for thread in 0..model.threads().len() {
        let built = build.thread(thread, stop)?;
        build.threads.push(built);
    }
    Some(build.finish())
}

impl Product {
    /// The pushdown system.
    pub fn model(&self) -> &pushdown::Model {
        &self.model
    }

    /// The steps of the system that steps of the product, given as threads and rules, stand for.
    pub fn steps(&self, system: &Model, steps: impl IntoIterator<Item = (usize, usize)>) -> Vec<Vec<Move>> {
        let mut found: Vec<Vec<Move>> = Vec::new();
        let mut missing = 0;
        for (thread, rule) in steps {
            let Some(rule) = self.origin[thread][rule] else { continue };
            let rule = rule as usize;
            if missing == 0 {
                let action = system.threads()[thread].rules[rule].action;
                missing = action.map_or(1, |action| system.knowing(action).count());
                found.push(Vec::new());
            }
            found.last_mut().into_iter().for_each(|moves| moves.push(Move { thread, rule }));
            missing -= 1;
        }
        found
    }
}

/// A value of the shared state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Phase {
    /// Any thread may start a step.
    Run,
    /// So many of the threads that an action needs have moved.
    Meeting { action: Action, moved: usize },
    /// A thread has popped a frame and will be in a control state; another phase comes next.
    Returning { thread: usize, control: Control, next: u32 },
    /// A thread is writing a right-hand side of more than two symbols.
    Writing { thread: usize },
    /// So many of the threads that a target of a property is about are in their sets.
    Seen { property: usize, target: usize, threads: usize },
    /// The property is violated.
    Bad { property: usize },
}

/// A symbol of the product. The last field of each is where the automata of the queries are beneath the frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Frame {
    Top(Control, Symbol, u32),
    Under(Symbol, u32),
    /// The rule has so many symbols left to write.
    Writing {
        rule: usize,
        left: usize,
        below: u32,
    },
}

/// Where the automata can be that queries run over the stacks of one thread, with numbers.
struct Places<'a> {
    observers: Observers<'a>,
    numbered: Interner<Nodes>,
}

impl<'a> Places<'a> {
    fn of(model: &'a Model, thread: usize) -> Self {
        Self { observers: Observers::new(model.properties(), thread), numbered: Interner::default() }
    }

    /// Where they are beneath the lowest symbol.
    fn ground(&mut self) -> u32 {
        self.numbered.intern(self.observers.ground())
    }

    /// Where they are above a symbol.
    fn above(&mut self, below: u32, symbol: Symbol) -> u32 {
        let above = self.observers.above(&self.numbered[below], symbol);
        self.numbered.intern(above)
    }

    fn meant(&self, set: &LocalSet, (control, symbol, below): (Control, Symbol, u32)) -> bool {
        self.observers.meant(set, control, symbol, &self.numbered[below])
    }
}

/// What has been built of one thread.
#[derive(Default)]
struct Built {
    frames: Interner<Frame>,
    places: Vec<Nodes>,
    rules: Vec<pushdown::Rule>,
    origin: Vec<Option<u32>>,
    init: Vec<u32>,
}

struct Build<'a> {
    model: &'a Model,
    /// The threads that each action needs.
    needed: &'a [Vec<usize>],
    phases: Interner<Phase>,
    threads: Vec<Built>,
}

/// The state of building one thread.
struct Builder<'a, 'b> {
    model: &'a Model,
    needed: &'a [Vec<usize>],
    /// How many rules and frames there were when it was last asked whether to stop.
    asked: usize,
    thread: usize,
    by_head: BTreeMap<(Control, Symbol), Vec<usize>>,
    places: Places<'a>,
    phases: &'b mut Interner<Phase>,
    built: Built,
    /// Phases of returning that have been entered, and frames that may come to light; each with each makes a rule.
    returns: Interner<(Control, u32)>,
    unders: Interner<(Symbol, u32)>,
}

impl<'a> Build<'a> {
    fn thread(&mut self, thread: usize, stop: &mut dyn FnMut() -> bool) -> Option<Built> {
        let mut by_head: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, rule) in self.model.threads()[thread].rules.iter().enumerate() {
            by_head.entry((rule.from, rule.top)).or_default().push(number);
        }
        let mut builder = Builder {
            model: self.model,
            needed: self.needed,
            asked: 0,
            thread,
            by_head,
            places: Places::of(self.model, thread),
            phases: &mut self.phases,
            built: Built::default(),
            returns: Interner::default(),
            unders: Interner::default(),
        };
        builder.start();
        builder.expand(stop)?;
        builder.observe(stop)?;
        Some(Built { places: builder.places.numbered.into_items(), ..builder.built })
    }

    fn finish(self) -> Product {
        let Self { model, phases, threads, .. } = self;
        let shared = pushdown::Names::List(unique(phases.iter().map(|phase| phase_name(model, *phase, &phases))));
        let bad: HashMap<usize, u32> = (phases.iter().zip(0..))
            .filter_map(|(phase, number)| match phase {
                Phase::Bad { property } => Some((*property, number)),
                _ => None,
            })
            .collect();
        let never = |property: usize| {
            let pattern =
                |&phase: &u32| pushdown::Pattern { shared: Some(Shared(phase)), tops: vec![None; threads.len()] };
            bad.get(&property).map(pattern).into_iter().collect()
        };
        let properties = (model.properties().iter().enumerate())
            .map(|(number, property)| pushdown::Property { name: property.name.clone(), never: never(number) })
            .collect();
        let stack = |built: &Built| built.init.iter().map(|&frame| Symbol(frame)).collect();
        let init = pushdown::State { shared: Shared(0), stacks: threads.iter().map(stack).collect() };
        let (mut origin, mut frames, mut places, mut parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (built, thread) in threads.into_iter().zip(model.threads()) {
            parts.push(pushdown::Thread {
                name: thread.name.clone(),
                symbols: unique(built.frames.iter().map(|frame| frame_name(thread, *frame))),
                rules: built.rules,
            });
            origin.push(built.origin);
            frames.push(built.frames.into_items());
            places.push(built.places);
        }
        match pushdown::Model::new(shared, parts, init, properties) {
            Ok(model) => Product { model, origin, frames, places },
            Err(malformed) => unreachable!("the product is well formed: {malformed}"),
        }
    }
}

impl Builder<'_, '_> {
    /// Asks, once in a while, whether to stop: then there is nothing.
    fn go_on(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<()> {
        const ASK_EVERY: usize = 4_096;
        let size = self.built.rules.len() + self.built.frames.len();
        if size < self.asked + ASK_EVERY {
            return Some(());
        }
        self.asked = size;
        (!stop()).then_some(())
    }

    fn frame(&mut self, frame: Frame) -> u32 {
        self.built.frames.intern(frame) + 1
    }

    fn under(&mut self, symbol: Symbol, below: u32) -> u32 {
        self.unders.intern((symbol, below));
        self.frame(Frame::Under(symbol, below))
    }

    /// The frames of the initial stack.
    fn start(&mut self) {
        let Local { control, stack } = &self.model.init()[self.thread];
        let mut below = self.places.ground();
        let symbols: Vec<_> = [Symbol::BOTTOM].into_iter().chain(stack.iter().copied()).collect();
        for (index, &symbol) in symbols.iter().enumerate() {
            let frame = match index + 1 == symbols.len() {
                true => self.frame(Frame::Top(*control, symbol, below)),
                false => self.under(symbol, below),
            };
            self.built.init.push(frame);
            below = self.places.above(below, symbol);
        }
    }

    /// Adds rules until nothing new can come to lie on a stack.
    fn expand(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<()> {
        let (mut frames, mut pairs) = (0, (0, 0));
        loop {
            self.go_on(stop)?;
            if frames < self.built.frames.len() {
                let frame = self.built.frames[frames as u32];
                frames += 1;
                match frame {
                    Frame::Top(control, symbol, below) => {
                        let rules = self.by_head.get(&(control, symbol)).cloned().unwrap_or_default();
                        rules.into_iter().for_each(|rule| self.rule(rule, frame, below));
                    }
                    Frame::Under(..) => {}
                    Frame::Writing { rule, left, below } => {
                        let phase = self.phases.intern(Phase::Writing { thread: self.thread });
                        self.write((phase, frame), (rule, left), below, None);
                    }
                }
                continue;
            }
            let (returns, unders) = (self.returns.len(), self.unders.len());
            if pairs == (returns, unders) {
                return Some(());
            }
            for r in 0..returns {
                self.go_on(stop)?;
                for u in if r < pairs.0 { pairs.1 } else { 0 }..unders {
                    self.come_to_light(self.returns[r as u32], self.unders[u as u32]);
                }
            }
            pairs = (returns, unders);
        }
    }

    fn come_to_light(&mut self, (control, next): (Control, u32), (symbol, below): (Symbol, u32)) {
        let phase = self.phases.intern(Phase::Returning { thread: self.thread, control, next });
        let top = self.frame(Frame::Top(control, symbol, below));
        self.add((phase, Frame::Under(symbol, below)), next, pushdown::Action::Overwrite(Symbol(top)), None);
    }

    /// The phases before and after a rule.
    fn phases_of(&mut self, rule: &Rule) -> (u32, u32) {
        let run = self.phases.intern(Phase::Run);
        let Some(action) = rule.action else { return (run, run) };
        let needed = &self.needed[action.0 as usize];
        let place = needed.iter().position(|&thread| thread == self.thread).unwrap_or(0);
        let mut phase = |moved: usize| match moved == 0 || moved == needed.len() {
            true => run,
            false => self.phases.intern(Phase::Meeting { action, moved }),
        };
        (phase(place), phase(place + 1))
    }

    fn rule(&mut self, number: usize, frame: Frame, below: u32) {
        let rule = &self.model.threads()[self.thread].rules[number];
        let (before, _) = self.phases_of(rule);
        let symbols = rule.right.len() + usize::from(rule.top.is_bottom());
        self.write((before, frame), (number, symbols), below, Some(number as u32));
    }

    /// Writes the topmost `left` symbols of a rule's right-hand side, or two of them and leaves the rest to later.
    fn write(&mut self, head: (u32, Frame), (number, left): (usize, usize), below: u32, origin: Option<u32>) {
        let rule = self.model.threads()[self.thread].rules[number].clone();
        let (_, after) = self.phases_of(&rule);
        let word: Vec<_> =
            rule.right.iter().copied().chain(rule.top.is_bottom().then_some(Symbol::BOTTOM)).take(left).collect();
        let (to, action) = match *word.as_slice() {
            [] => {
                self.returns.intern((rule.to, after));
                let phase = Phase::Returning { thread: self.thread, control: rule.to, next: after };
                (self.phases.intern(phase), pushdown::Action::Pop)
            }
            [symbol] => (after, pushdown::Action::Overwrite(Symbol(self.frame(Frame::Top(rule.to, symbol, below))))),
            [.., lower] => {
                let above = self.places.above(below, lower);
                let lower = self.under(lower, below);
                let (to, top) = match left {
                    2 => (after, Frame::Top(rule.to, word[0], above)),
                    _ => {
                        let phase = self.phases.intern(Phase::Writing { thread: self.thread });
                        (phase, Frame::Writing { rule: number, left: left - 1, below: above })
                    }
                };
                (to, pushdown::Action::Push { top: Symbol(self.frame(top)), below: Symbol(lower) })
            }
        };
        self.add(head, to, action, origin);
    }

    fn add(&mut self, (from, top): (u32, Frame), to: u32, action: pushdown::Action, origin: Option<u32>) {
        let line = origin.map_or(0, |rule| self.model.threads()[self.thread].rules[rule as usize].line);
        let top = Symbol(self.frame(top));
        self.built.rules.push(pushdown::Rule { from: Shared(from), top, to: Shared(to), action, line });
        self.built.origin.push(origin);
    }

    /// Adds the rules with which the thread takes part in answering queries.
    fn observe(&mut self, stop: &mut dyn FnMut() -> bool) -> Option<()> {
        for (property, target) in targets(self.model) {
            self.go_on(stop)?;
            let locals = &self.model.properties()[property].never[target].locals;
            let mut asked: Vec<_> = (0..locals.len()).filter(|&thread| locals[thread].is_some()).collect();
            if asked.is_empty() {
                asked.push(0); // Any state is meant; someone has to say so.
            }
            let Some(place) = asked.iter().position(|&thread| thread == self.thread) else { continue };
            let mut phase = |threads: usize| {
                self.phases.intern(match threads {
                    0 => Phase::Run,
                    _ if threads == asked.len() => Phase::Bad { property },
                    _ => Phase::Seen { property, target, threads },
                })
            };
            let (from, to) = (phase(place), phase(place + 1));
            for frame in self.built.frames.iter().copied().collect::<Vec<_>>() {
                let Frame::Top(control, symbol, below) = frame else { continue };
                let meant = |set: &LocalSet| self.places.meant(set, (control, symbol, below));
                if locals[self.thread].as_ref().is_none_or(meant) {
                    let same = Symbol(self.frame(frame));
                    self.add((from, frame), to, pushdown::Action::Overwrite(same), None);
                }
            }
        }
        Some(())
    }
}

fn targets(model: &Model) -> impl Iterator<Item = (usize, usize)> + use<> {
    let counts: Vec<_> = model.properties().iter().map(|property| property.never.len()).collect();
    counts.into_iter().enumerate().flat_map(|(property, count)| (0..count).map(move |target| (property, target)))
}

fn phase_name(model: &Model, phase: Phase, phases: &Interner<Phase>) -> String {
    match phase {
        Phase::Run => "run".to_owned(),
        Phase::Meeting { action, moved } => format!("{}@{moved}", model.action_name(Some(action))),
        Phase::Returning { thread, control, next } => {
            let next = phases.iter().nth(next as usize).map_or(String::new(), |next| phase_name(model, *next, phases));
            let thread = &model.threads()[thread];
            format!("return@{}@{}@{next}", thread.name, thread.control_name(control))
        }
        Phase::Writing { thread } => format!("write@{}", model.threads()[thread].name),
        Phase::Seen { property, target, threads } => {
            format!("seen@{}@{}@{threads}", model.properties()[property].name, target + 1)
        }
        Phase::Bad { property } => format!("bad@{}", model.properties()[property].name),
    }
}

fn frame_name(thread: &Thread, frame: Frame) -> String {
    let symbol = |symbol: Symbol| if symbol.is_bottom() { "floor" } else { thread.symbol_name(symbol) }.to_owned();
    match frame {
        Frame::Top(control, top, _) => format!("{}@{}", symbol(top), thread.control_name(control)),
        Frame::Under(below, _) => symbol(below),
        Frame::Writing { rule, left, .. } => format!("rule{}@{left}", rule + 1),
    }
}

/// Names that are words of the pushdown notation, and all different.
fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let word = |name: String| name.replace(|c: char| !c.is_ascii_alphanumeric() && !"_'@$".contains(c), "_");
    let mut taken = HashSet::new();
    let mut next: HashMap<String, u64> = HashMap::new();
    let mut list = Vec::new();
    for name in names.map(word) {
        let mut free = name.clone();
        while !taken.insert(free.clone()) {
            let number = next.entry(name.clone()).or_insert(1);
            *number += 1;
            free = format!("{name}${number}");
        }
        list.push(free);
    }
    list
}
