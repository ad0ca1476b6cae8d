//! Which shared states and points occur together.

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_model::program::Action;
use tepui_model::pushdown::{self, Rule, Shared, Symbol};

use super::setup::Setup;
use super::steps::{Steps, uninterrupted};
use super::{Compiled, Effect, Global, Mode, Point, Stage, Uncompiled};

/// The most rules of a model.
const MOST_RULES: usize = 20_000_000;

/// The most threads.
const MOST_THREADS: usize = 1_000;

/// After how many steps limits are looked at.
const LOOK_EVERY: usize = 4_096;

/// Which pairs of shared states and points may occur, and the rules for them.
pub(super) struct Exploration<'s, 'p> {
    pub(super) steps: &'s Steps<'p>,
    pub(super) globals: Numbered<Global>,
    pub(super) kinds: Vec<Threads>,
    /// The kind of each thread.
    pub(super) threads: Vec<usize>,
    /// Whether threads are created.
    pub(super) creates: bool,
    /// Where `main` stands at the start, if it is a thread.
    pub(super) main: Option<usize>,
    /// Whether it is counted how many threads sleep.
    counts_sleepers: bool,
    /// For each shared state, those that some step leads to from it, and which kind of thread takes it.
    changes: Vec<Vec<(u32, usize)>>,
    known_changes: FxHashSet<(u32, u32, usize)>,
    open: Vec<(usize, u32, u32)>,
}

/// What is known of threads of one kind: those that run the same procedure with the same arguments. Point 0 is that of a
/// thread without frames.
#[derive(Default)]
pub(super) struct Threads {
    pub(super) procedure: usize,
    pub(super) points: Numbered<Point>,
    /// The point at the start.
    pub(super) first: u32,
    pub(super) rules: Vec<Rule>,
    /// How many threads there are of this kind.
    pub(super) count: usize,
    pairs: FxHashSet<(u32, u32)>,
    /// For each shared state the points that may occur with it.
    at: Vec<Vec<u32>>,
    /// For each procedure the frames below it, and the shared states in which it returns.
    frames: FxHashMap<u32, Linked>,
    returns: FxHashMap<u32, Linked>,
}

/// A set that remembers the order.
#[derive(Default, Clone)]
struct Linked {
    set: FxHashSet<u32>,
    list: Vec<u32>,
}

impl Linked {
    fn insert(&mut self, number: u32) -> bool {
        let new = self.set.insert(number);
        if new {
            self.list.push(number);
        }
        new
    }
}

/// Things with numbers, in the order in which they were found.
pub(super) struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    pub(super) list: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { numbers: FxHashMap::default(), list: Vec::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    fn number(&mut self, item: T) -> u32 {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(item).or_insert(next);
        if number == next {
            self.list.push(item);
        }
        number
    }
}

impl<'s, 'p> Exploration<'s, 'p> {
    pub(super) fn new(steps: &'s Steps<'p>, setup: Option<&Setup>) -> Result<Self, Uncompiled> {
        let statements = || steps.program.procedures.iter().flat_map(|procedure| &procedure.statements);
        let sleeps = statements().any(|statement| statement.action == Action::Sleep);
        let mut exploration = Self {
            steps,
            globals: Numbered::default(),
            kinds: Vec::new(),
            threads: Vec::new(),
            creates: setup.is_none(),
            main: setup.and_then(|setup| setup.main),
            counts_sleepers: sleeps && steps.options.deadlock,
            changes: Vec::new(),
            known_changes: FxHashSet::default(),
            open: Vec::new(),
        };
        exploration.begin(setup)?;
        Ok(exploration)
    }

    /// The first shared state, and the threads.
    fn begin(&mut self, setup: Option<&Setup>) -> Result<(), Uncompiled> {
        let program = self.steps.program;
        let mut shared = 0;
        for (number, variable) in program.shared.iter().enumerate() {
            self.steps.shared.set(&mut shared, number, variable.init.unwrap_or(0));
        }
        let chosen = program.shared.iter().any(|variable| variable.init.is_none());
        let mode = if chosen { Mode::Begin } else { Mode::Calm };
        let shared = if chosen { 0 } else { shared & self.steps.kept.shared };
        self.globals.number(Global { shared, mode, live: u32::from(self.creates), asleep: 0 });
        let start = |body: &[usize], end: usize| body.first().copied().unwrap_or(end);
        let entry = |number: usize| {
            let procedure = &program.procedures[number];
            start(&procedure.body, procedure.statements.len())
        };
        let none = Vec::new();
        let mut wanted: Vec<(usize, usize, &[u32])> = Vec::new();
        match setup {
            Some(setup) => {
                wanted.extend(setup.main.map(|position| (program.main, position, none.as_slice())));
                wanted.extend(setup.started.iter().map(|(number, given)| (*number, entry(*number), given.as_slice())));
            }
            None => wanted.push((program.main, entry(program.main), &none)),
        }
        if wanted.len() > MOST_THREADS {
            return Err(Uncompiled::Unsupported(format!("the program has more than {MOST_THREADS} threads")));
        }
        let mut kinds: FxHashMap<(usize, usize, &[u32]), usize> = FxHashMap::default();
        for (procedure, position, arguments) in wanted {
            let next = self.kinds.len();
            let kind = *kinds.entry((procedure, position, arguments)).or_insert(next);
            if kind == next {
                let points = self.steps.first(procedure, arguments).into_iter();
                let points: Vec<_> = points.map(|point| Point { position: position as u32, ..point }).collect();
                let first = match points[..] {
                    // Local steps at the very beginning are not seen either.
                    [point, ..] => match (&points[1..], &self.steps.run_on((shared, Mode::Calm), point)[..]) {
                        ([], [(_, only)]) => *only,
                        _ => Point { stage: Stage::Begin, ..point },
                    },
                    [] => return Err(Uncompiled::Unsupported("a thread has no first point".to_owned())),
                };
                let mut threads = Threads { procedure, ..Threads::default() };
                threads.first = 1 + threads.points.number(first);
                self.kinds.push(threads);
            }
            self.kinds[kind].count += 1;
            self.threads.push(kind);
        }
        if self.creates {
            let others = self.steps.options.places.saturating_sub(1);
            self.threads.extend(std::iter::repeat_n(self.kinds.len(), others));
            self.kinds.push(Threads { count: others, ..Threads::default() });
        }
        Ok(())
    }

    pub(super) fn run(mut self, stop: &dyn Fn() -> bool) -> Result<Compiled, Uncompiled> {
        for kind in 0..self.kinds.len() {
            if self.kinds[kind].count > 0 {
                self.add(kind, 0, self.kinds[kind].first);
            }
        }
        let mut work = 0;
        while let Some((kind, global, point)) = self.open.pop() {
            work += 1 + self.expand(kind, global, point);
            if work >= LOOK_EVERY {
                work = 0;
                if self.kinds.iter().map(|threads| threads.rules.len()).sum::<usize>() > MOST_RULES {
                    return Err(Uncompiled::TooLarge(format!("the program's model has more than {MOST_RULES} rules")));
                }
                if stop() {
                    return Err(Uncompiled::Stopped);
                }
            }
        }
        self.compiled()
    }

    /// A thread of some kind may be at a point in a shared state, and in all that others make of it.
    fn add(&mut self, kind: usize, global: u32, point: u32) {
        let mut todo = vec![(global, point)];
        while let Some((global, point)) = todo.pop() {
            let threads = &mut self.kinds[kind];
            if !threads.pairs.insert((global, point)) {
                continue;
            }
            if threads.at.len() <= global as usize {
                threads.at.resize(global as usize + 1, Vec::new());
            }
            threads.at[global as usize].push(point);
            self.open.push((kind, global, point));
            for &(to, by) in self.changes.get(global as usize).into_iter().flatten() {
                if by != kind || self.kinds[kind].count > 1 {
                    todo.push((to, point));
                }
            }
        }
    }

    /// A thread of some kind may change the shared state.
    fn change(&mut self, kind: usize, from: u32, to: u32) {
        if self.changes.len() <= from as usize {
            self.changes.resize(from as usize + 1, Vec::new());
        }
        if from == to || !self.known_changes.insert((from, to, kind)) {
            return;
        }
        self.changes[from as usize].push((to, kind));
        for other in 0..self.kinds.len() {
            if kind != other || self.kinds[kind].count > 1 {
                let points = self.kinds[other].at.get(from as usize).cloned().unwrap_or_default();
                points.into_iter().for_each(|point| self.add(other, to, point));
            }
        }
    }

    /// Takes all steps of a pair; returns how many.
    fn expand(&mut self, kind: usize, global: u32, point: u32) -> usize {
        let (from, places) = (self.globals.list[global as usize], self.threads.len());
        // With the threads apart from each other, pairs come up that cannot be: a thread where none is left, a free place
        // where all are taken.
        if self.creates && ((point == 0 && from.live as usize >= places) || (point > 0 && from.live == 0)) {
            return 0;
        }
        let change = (from.shared, from.mode);
        if point == 0 {
            for ((shared, mode), first) in self.steps.awaken(change) {
                let to = self.globals.number(Global { shared, mode, live: from.live + 1, ..from });
                self.push_on_empty(kind, global, to, first, self.steps.line(&first));
            }
            if let Mode::Probing(count) = from.mode {
                let to = self.globals.number(Global { mode: self.probed(count + 1), ..from });
                self.push_on_empty(kind, global, to, PROBED, 0);
            }
            return 1;
        }
        let frame = self.kinds[kind].points.list[point as usize - 1];
        let line = if frame.stage == Stage::Begin { 0 } else { self.steps.line(&frame) };
        let steps = self.steps.steps(change, frame);
        let count = steps.len();
        for ((shared, mode), effect) in steps {
            // Where there is no place for a thread, the one that starts it stays where it is.
            let (mode, effect) = match mode {
                Mode::Starting { count, .. } if (from.live + count) as usize > places => {
                    (Mode::Full, Effect::Become(frame))
                }
                mode => (mode, effect),
            };
            let ends = self.creates && frame.root && matches!(effect, Effect::Leave);
            let Some(asleep) = self.asleep(from, frame.stage, &effect) else { continue };
            let to = self.globals.number(Global { shared, mode, live: from.live - u32::from(ends), asleep });
            match effect {
                Effect::Become(next) => {
                    let next = 1 + self.kinds[kind].points.number(next);
                    self.rule(kind, (global, point), to, pushdown::Action::Overwrite(Symbol(next)), line);
                    self.add(kind, to, next);
                }
                Effect::Call { callee, caller } => {
                    let (top, below) =
                        (1 + self.kinds[kind].points.number(callee), 1 + self.kinds[kind].points.number(caller));
                    let action = pushdown::Action::Push { top: Symbol(top), below: Symbol(below) };
                    self.rule(kind, (global, point), to, action, line);
                    self.add(kind, to, top);
                    if self.kinds[kind].frames.entry(callee.procedure).or_default().insert(below) {
                        let returns = self.kinds[kind].returns.get(&callee.procedure).cloned().unwrap_or_default();
                        returns.list.into_iter().for_each(|global| self.add(kind, global, below));
                    }
                }
                Effect::Leave => {
                    self.rule(kind, (global, point), to, pushdown::Action::Pop, line);
                    if frame.root {
                        self.add(kind, to, 0);
                    } else if self.kinds[kind].returns.entry(frame.procedure).or_default().insert(to) {
                        let frames = self.kinds[kind].frames.get(&frame.procedure).cloned().unwrap_or_default();
                        frames.list.into_iter().for_each(|below| self.add(kind, to, below));
                    }
                }
            }
        }
        self.probe(kind, (global, point), frame);
        count
    }

    fn push_on_empty(&mut self, kind: usize, global: u32, to: u32, first: Point, line: u32) {
        let top = 1 + self.kinds[kind].points.number(first);
        let action = pushdown::Action::Push { top: Symbol(top), below: Symbol::BOTTOM };
        self.rule(kind, (global, 0), to, action, line);
        self.add(kind, to, top);
    }

    /// How many threads sleep after a step; none if the step must not be: a broadcast ends when all are awake.
    fn asleep(&self, from: Global, stage: Stage, effect: &Effect) -> Option<u32> {
        match effect {
            _ if !self.counts_sleepers => Some(0),
            Effect::Become(next) if stage != Stage::Asleep && next.stage == Stage::Asleep => {
                (from.asleep as usize <= self.threads.len()).then_some(from.asleep + 1)
            }
            Effect::Become(_) if stage == Stage::Asleep => from.asleep.checked_sub(1),
            Effect::Become(_) if stage == Stage::Waking && from.asleep > 0 => None,
            _ => Some(from.asleep),
        }
    }

    /// A thread that cannot move says so, where it is asked for deadlocks.
    fn probe(&mut self, kind: usize, (global, point): (u32, u32), frame: Point) {
        if !self.steps.options.deadlock {
            return;
        }
        let from = self.globals.list[global as usize];
        let (count, atomic) = match (from.mode, frame.stage) {
            (Mode::Refusing { callee, count, atomic }, Stage::Calling) => {
                if self.steps.refuses(from.shared, callee, frame) {
                    self.say_blocked(kind, (global, point), count, atomic);
                }
                return;
            }
            (Mode::Calm, _) if !uninterrupted(&frame) => (0, false),
            (Mode::Atomic, _) if uninterrupted(&frame) => (0, true),
            (Mode::Probing(count), _) if !uninterrupted(&frame) => (count, false),
            _ => return,
        };
        match frame.stage {
            Stage::Asleep => return self.say_blocked(kind, (global, point), count, atomic),
            Stage::Running => {}
            _ => return,
        }
        let mut steps = Vec::new();
        self.steps.execute(from.shared, frame, &mut steps);
        let returns = !frame.root && steps.iter().all(|(_, effect)| matches!(effect, Effect::Leave));
        if steps.is_empty() {
            self.say_blocked(kind, (global, point), count, atomic);
        } else if returns && steps.iter().all(|((_, mode), _)| matches!(mode, Mode::Returned(..))) {
            let mode = Mode::Refusing { callee: frame, count, atomic };
            let to = self.globals.number(Global { mode, ..from });
            let line = self.steps.line(&frame);
            self.rule(kind, (global, point), to, pushdown::Action::Pop, line);
            if self.kinds[kind].returns.entry(frame.procedure).or_default().insert(to) {
                let frames = self.kinds[kind].frames.get(&frame.procedure).cloned().unwrap_or_default();
                frames.list.into_iter().for_each(|below| self.add(kind, to, below));
            }
        }
    }

    fn say_blocked(&mut self, kind: usize, (global, point): (u32, u32), count: u32, atomic: bool) {
        let from = self.globals.list[global as usize];
        let mode = if atomic { Mode::Stuck } else { self.probed(count + 1) };
        let to = self.globals.number(Global { mode, ..from });
        let next = 1 + self.kinds[kind].points.number(PROBED);
        let line = self.steps.line(&self.kinds[kind].points.list[point as usize - 1]);
        self.rule(kind, (global, point), to, pushdown::Action::Overwrite(Symbol(next)), line);
        self.add(kind, to, next);
    }

    fn probed(&self, count: u32) -> Mode {
        if count as usize >= self.threads.len() { Mode::Stuck } else { Mode::Probing(count) }
    }

    fn rule(&mut self, kind: usize, (from, top): (u32, u32), to: u32, action: pushdown::Action, line: u32) {
        self.kinds[kind].rules.push(Rule { from: Shared(from), top: Symbol(top), to: Shared(to), action, line });
        self.change(kind, from, to);
    }
}

/// The point of a thread that has found that it cannot move.
const PROBED: Point = Point {
    procedure: 0,
    position: 0,
    locals: 0,
    root: true,
    under: false,
    within: false,
    insists: false,
    stage: Stage::Probed,
};
