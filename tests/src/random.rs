//! Random small systems to compare engines with the oracle on; the same seed gives the same system.
//!
//! Rules drawn blindly are dead for the most part: hardly any run gets anywhere. So a system is grown: a random run of
//! the rules drawn so far is taken, and most new rules start where that run ended. Some are drawn blindly all the same,
//! so that unreachable rules occur too. Forbidden patterns are found in both ways as well. Nothing that decides an
//! answer depends on this, only how telling the comparisons are; a test keeps the shares of the interesting cases up.

use std::collections::BTreeSet;

use fastrand::Rng;
use tepui_model::pushdown::{Action, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

use crate::oracle::{successors, view};

/// Which kind of system is preferred. None of the kinds is guaranteed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// Pops, overwrites and pushes alike.
    Any,
    /// Few pushes, and many changes of the shared state, so that a context seldom goes on for ever.
    FiniteContext,
    /// Many pushes and pops.
    Recursive,
}

/// What the parts of a system are drawn from: the rules of each kind of thread, and which thread is of which kind.
struct Draft {
    shared_count: u32,
    kinds: Vec<Kind>,
    kind_of: Vec<usize>,
    init: State,
}

#[derive(Clone)]
struct Kind {
    symbol_count: u32,
    rules: Vec<Rule>,
}

/// A random system: 1 to 4 shared states, 1 to 4 threads, some of them with equal rules, 1 to 3 symbols and 1 to 8
/// rules a thread, initial stacks of height 0 to 3, and 0 to 3 properties. Symbols are named by their numbers.
pub fn small_model(rng: &mut Rng, shape: Shape) -> Model {
    let mut draft = draft(rng);
    draft.grow(rng, shape, 8);
    let properties = (0..rng.usize(0..=3)).map(|number| draft.property(rng, number)).collect();
    draft.model(properties)
}

/// Which threads are of which kind in systems with equal threads: one group or two, side by side or not, and sometimes
/// one thread of another kind.
const GROUPS: [&[usize]; 14] = [
    &[0, 0],
    &[0, 0],
    &[0, 0, 0],
    &[0, 0, 0],
    &[0, 0, 1],
    &[0, 1, 0],
    &[0, 1, 1],
    &[0, 0, 0, 0],
    &[0, 0, 1, 1],
    &[0, 1, 0, 1],
    &[0, 1, 1, 0],
    &[0, 0, 1, 0],
    &[0, 1, 1, 1],
    &[0, 0, 0, 1],
];

/// A random system with equal threads, for what makes use of them: 2 to 4 threads in one or two groups, those of a group
/// with equal rules and equal initial stacks, 1 to 4 shared states, 1 to 3 symbols and up to 7 rules a thread. In one
/// system of two, one thread of a group is told from the others after all, or only looks so: it has one rule more, less
/// or other, or one symbol more in its initial stack; or its rules are in another order, or one of them is stated
/// twice. Of the 0 to 3 properties some treat the threads of a group alike, some nearly so, and some do not.
pub fn symmetric_model(rng: &mut Rng, shape: Shape) -> Model {
    let groups = GROUPS[rng.usize(0..GROUPS.len())];
    let mut draft = draft_of_groups(rng, groups);
    draft.grow(rng, shape, 6);
    if rng.bool() {
        draft.tell_one_apart(rng, shape);
    }
    let count = rng.usize(0..=3);
    let property = |number| match rng.u32(0..3) {
        0 => draft.property(rng, number),
        _ => draft.property_of_groups(rng, number, groups),
    };
    let properties = (0..count).map(property).collect();
    draft.model(properties)
}

/// Everything but the rules and the properties. A thread is of a new kind, or of the kind of an earlier thread; then it
/// often starts with the same stack, too.
fn draft(rng: &mut Rng) -> Draft {
    let shared_count = rng.u32(1..=4);
    let (mut kinds, mut kind_of, mut stacks): (Vec<Kind>, Vec<usize>, Vec<Vec<Symbol>>) = (vec![], vec![], vec![]);
    for thread in 0..pick(rng, &[1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4]) {
        let model_thread = (thread > 0 && rng.u32(0..3) == 0).then(|| rng.usize(0..thread));
        let kind = model_thread.map_or(kinds.len(), |earlier| kind_of[earlier]);
        if kind == kinds.len() {
            kinds.push(Kind { symbol_count: rng.u32(1..=3), rules: vec![] });
        }
        let fresh = (0..pick(rng, &[0, 1, 1, 1, 2, 3])).map(|_| symbol(rng, &kinds[kind])).collect();
        let stack = match model_thread {
            Some(earlier) if rng.u32(0..4) > 0 => stacks[earlier].clone(),
            _ => fresh,
        };
        kind_of.push(kind);
        stacks.push(stack);
    }
    let init = State { shared: Shared(rng.u32(0..shared_count)), stacks };
    Draft { shared_count, kinds, kind_of, init }
}

/// Everything but the rules and the properties, for threads of the given kinds. Threads of one kind start alike.
fn draft_of_groups(rng: &mut Rng, groups: &[usize]) -> Draft {
    let shared_count = rng.u32(1..=4);
    let (mut kinds, mut stacks): (Vec<Kind>, Vec<Vec<Symbol>>) = (vec![], vec![]);
    for _ in groups.iter().collect::<BTreeSet<_>>() {
        let kind = Kind { symbol_count: rng.u32(1..=3), rules: vec![] };
        stacks.push((0..pick(rng, &[0, 1, 1, 1, 1, 2])).map(|_| symbol(rng, &kind)).collect());
        kinds.push(kind);
    }
    let init = State {
        shared: Shared(rng.u32(0..shared_count)),
        stacks: groups.iter().map(|&kind| stacks[kind].clone()).collect(),
    };
    Draft { shared_count, kinds, kind_of: groups.to_vec(), init }
}

/// The patterns that a pattern becomes when threads of a group change places, itself included, each once.
fn images(pattern: Pattern, groups: &[usize]) -> Vec<Pattern> {
    let mut images = vec![pattern];
    let mut done = 0;
    while let Some(pattern) = images.get(done).cloned() {
        for (i, j) in (0..groups.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let mut image = pattern.clone();
            image.tops.swap(i, j);
            if groups[i] == groups[j] && !images.contains(&image) {
                images.push(image);
            }
        }
        done += 1;
    }
    images
}

fn pick(rng: &mut Rng, from: &[usize]) -> usize {
    from[rng.usize(0..from.len())]
}

fn symbol(rng: &mut Rng, kind: &Kind) -> Symbol {
    Symbol(rng.u32(1..=kind.symbol_count))
}

impl Draft {
    fn model(&self, properties: Vec<Property>) -> Model {
        let thread = |(number, kind): (usize, &usize)| {
            let kind = &self.kinds[*kind];
            let symbols = (1..=kind.symbol_count).map(|symbol| symbol.to_string()).collect();
            Thread { name: format!("t{}", number + 1), symbols, rules: kind.rules.clone() }
        };
        let threads = self.kind_of.iter().enumerate().map(thread).collect();
        Model::new(Names::Numbers(self.shared_count), threads, self.init.clone(), properties)
            .expect("the parts are drawn to fit each other")
    }

    /// Draws 1 to `max_rules` rules for each kind, in a random order of the kinds.
    fn grow(&mut self, rng: &mut Rng, shape: Shape, max_rules: usize) {
        let mut open: Vec<usize> = vec![];
        for kind in 0..self.kinds.len() {
            open.extend(vec![kind; rng.usize(1..=max_rules)]);
        }
        rng.shuffle(&mut open);
        for kind in open {
            let rule = self.rule(rng, shape, kind);
            self.kinds[kind].rules.push(rule);
        }
    }

    /// Gives one thread of a group rules of its own that differ a little from those of the others, or only in the way
    /// they are written, or another initial stack.
    fn tell_one_apart(&mut self, rng: &mut Rng, shape: Shape) {
        let in_group = |&thread: &usize| self.kind_of.iter().filter(|&&kind| kind == self.kind_of[thread]).count() > 1;
        let candidates: Vec<_> = (0..self.kind_of.len()).filter(in_group).collect();
        let thread = pick(rng, &candidates);
        let kind = self.kind_of[thread];
        let Kind { symbol_count, mut rules } = self.kinds[kind].clone();
        let place = rng.usize(0..rules.len());
        match rng.u32(0..7) {
            0 => rules[place] = self.rule(rng, shape, kind),
            1 => rules.insert(place, self.rule(rng, shape, kind)),
            2 => _ = rules.remove(place),
            3 => rng.shuffle(&mut rules),
            4 => rules.push(rules[place]),
            _ => {
                let stack = &mut self.init.stacks[thread];
                stack.insert(rng.usize(0..=stack.len()), symbol(rng, &self.kinds[kind]));
            }
        }
        self.kind_of[thread] = self.kinds.len();
        self.kinds.push(Kind { symbol_count, rules });
    }

    fn shared(&self, rng: &mut Rng) -> Shared {
        Shared(rng.u32(0..self.shared_count))
    }

    /// The end of a random run of the rules so far.
    fn walk(&self, rng: &mut Rng) -> State {
        let model = self.model(vec![]);
        let mut state = self.init.clone();
        for _ in 0..rng.usize(0..=12) {
            let mut next = successors(&model, &state);
            if next.is_empty() {
                break;
            }
            state = next.swap_remove(rng.usize(0..next.len())).2;
        }
        state
    }

    /// A shared state and a top for a rule of a kind to start from: mostly those of a thread of this kind after a run.
    fn head(&self, rng: &mut Rng, kind: usize) -> (Shared, Symbol) {
        if rng.u32(0..6) == 0 {
            return (self.shared(rng), Symbol(rng.u32(0..=self.kinds[kind].symbol_count)));
        }
        let end = self.walk(rng);
        let of_kind: Vec<_> = (0..self.kind_of.len()).filter(|&thread| self.kind_of[thread] == kind).collect();
        let thread = pick(rng, &of_kind);
        (end.shared, view(&end).tops[thread])
    }

    fn rule(&self, rng: &mut Rng, shape: Shape, kind: usize) -> Rule {
        let (from, top) = self.head(rng, kind);
        let (pops, overwrites, pushes) = match shape {
            Shape::Any => (3, 4, 3),
            Shape::FiniteContext => (4, 6, 2),
            Shape::Recursive => (4, 2, 4),
        };
        let mut one = || symbol(rng, &self.kinds[kind]);
        let (first, second) = (one(), one());
        let drawn = rng.u32(0..pops + overwrites + pushes);
        let action = if top.is_bottom() {
            // A stack that stays empty is dull: on the empty stack two rules of three push.
            match rng.u32(0..3) {
                0 => Action::Overwrite(Symbol::BOTTOM),
                _ => Action::Push { top: first, below: Symbol::BOTTOM },
            }
        } else if drawn < pops {
            Action::Pop
        } else if drawn < pops + overwrites {
            Action::Overwrite(first)
        } else {
            Action::Push { top: first, below: second }
        };
        let to = match self.shared(rng) {
            same if same == from && shape == Shape::FiniteContext => self.shared(rng),
            other => other,
        };
        Rule { from, top, to, action, line: 0 }
    }

    /// A property of 1 to 3 patterns, rarely of none.
    fn property(&self, rng: &mut Rng, number: usize) -> Property {
        let never = (0..pick(rng, &[1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 0])).map(|_| self.pattern(rng)).collect();
        Property { name: format!("p{}", number + 1), never }
    }

    /// A property that treats the threads of a group alike: one pattern with equal entries for them, or a pattern in
    /// all the orders of them, rarely but one.
    fn property_of_groups(&self, rng: &mut Rng, number: usize, groups: &[usize]) -> Property {
        let mut pattern = self.pattern(rng);
        let mut never = if rng.u32(0..3) == 0 {
            let first = |group| groups.iter().position(|other| other == group);
            pattern.tops = groups.iter().filter_map(first).map(|first| pattern.tops[first]).collect();
            vec![pattern]
        } else {
            images(pattern, groups)
        };
        rng.shuffle(&mut never);
        if never.len() > 1 && rng.u32(0..5) == 0 {
            never.pop();
        }
        Property { name: format!("p{}", number + 1), never }
    }

    /// A pattern with wildcards, one time in three of a view that is reachable, and else of any view.
    fn pattern(&self, rng: &mut Rng) -> Pattern {
        let mut end = self.walk(rng);
        if rng.u32(0..3) > 0 {
            let blind = |kind: &usize| vec![symbol(rng, &self.kinds[*kind]); rng.usize(0..2)];
            end.stacks = self.kind_of.iter().map(blind).collect();
            end.shared = self.shared(rng);
        }
        let view = view(&end);
        let mut some = || rng.u32(0..6) > 0;
        Pattern {
            shared: some().then_some(view.shared),
            tops: view.tops.into_iter().map(|top| some().then_some(top)).collect(),
        }
    }
}
