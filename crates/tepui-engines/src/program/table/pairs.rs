//! Which shared states and points occur together.

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_model::program::Action;
use tepui_model::pushdown::{self, Rule, Shared, Symbol};

use super::raw::Steps;
use super::{Compiled, Doing, Effect, Global, Mode, Point, Setup, Uncompiled};
use crate::interner::Interner;
use crate::program::Patience;
use crate::program::layout::Stage;

/// The most rules of a model.
const MOST_RULES: usize = 20_000_000;

/// The most threads.
const MOST_THREADS: usize = 1_000;

/// After how many steps it is asked whether to stop.
pub const LOOK_EVERY: usize = 4_096;

/// Which pairs of shared states and points may occur, and the rules for them.
pub(super) struct Exploration<'s> {
    pub(super) steps: &'s Steps,
    pub(super) globals: Interner<Global>,
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
    pub(super) points: Interner<Point>,
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

impl<'s> Exploration<'s> {
    pub(super) fn new(steps: &'s Steps) -> Result<Self, Uncompiled> {
        let program = &steps.code.program;
        let mut statements = program.procedures.iter().flat_map(|procedure| &procedure.statements);
        let sleeps = statements.any(|statement| statement.action == Action::Sleep);
        let setup = steps.code.setup.as_ref();
        let mut exploration = Self {
            steps,
            globals: Interner::default(),
            kinds: Vec::new(),
            threads: Vec::new(),
            creates: setup.is_none(),
            main: setup.and_then(|setup| setup.main),
            counts_sleepers: sleeps && steps.code.options.deadlock,
            changes: Vec::new(),
            known_changes: FxHashSet::default(),
            open: Vec::new(),
        };
        exploration.begin(setup)?;
        Ok(exploration)
    }

    /// The first shared state, and the threads.
    fn begin(&mut self, setup: Option<&Setup>) -> Result<(), Uncompiled> {
        let code = &self.steps.code;
        let shared = self.steps.start();
        self.globals.intern(Global { shared, mode: Mode::Open, live: u32::from(self.creates), asleep: 0 });
        let wanted = code.threads();
        if wanted.len() > MOST_THREADS {
            return Err(Uncompiled::Unsupported(format!("the program has more than {MOST_THREADS} threads")));
        }
        let mut kinds: FxHashMap<_, usize> = FxHashMap::default();
        for (procedure, position, arguments) in wanted {
            let next = self.kinds.len();
            let kind = *kinds.entry((procedure, position, arguments.clone())).or_insert(next);
            if kind == next {
                let first = self.steps.first(procedure, position, &arguments);
                let mut threads = Threads::default();
                threads.first = 1 + threads.points.intern(first);
                self.kinds.push(threads);
            }
            self.kinds[kind].count += 1;
            self.threads.push(kind);
        }
        debug_assert_eq!(self.creates, setup.is_none());
        if self.creates {
            let others = code.options.places.saturating_sub(1);
            self.threads.extend(std::iter::repeat_n(self.kinds.len(), others));
            self.kinds.push(Threads { count: others, ..Threads::default() });
        }
        Ok(())
    }

    pub(super) fn run(mut self, patience: &Patience) -> Result<Compiled, Uncompiled> {
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
                    return Err(Uncompiled::NoTable(format!("the program's model has more than {MOST_RULES} rules")));
                }
                if patience.ends() || self.steps.is_stopped() {
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
        let (from, places) = (self.globals[global], self.threads.len());
        // With the threads apart from each other, pairs come up that cannot be: a thread where none is left, a free place
        // where all are taken.
        if self.creates && ((point == 0 && from.live as usize >= places) || (point > 0 && from.live == 0)) {
            return 0;
        }
        let change = (from.shared, from.mode);
        if point == 0 {
            for ((shared, mode), first) in self.steps.awaken(change) {
                let to = self.globals.intern(Global { shared, mode, live: from.live + 1, ..from });
                self.push_on_empty(kind, global, to, first, self.steps.line(first));
            }
            if let Mode::Probing(count) = from.mode {
                let to = self.globals.intern(Global { mode: self.probed(count + 1), ..from });
                self.push_on_empty(kind, global, to, PROBED, 0);
            }
            return 1;
        }
        let frame = self.kinds[kind].points[point - 1];
        let line = self.steps.line(frame);
        let head = self.steps.head(frame);
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
            let ends = self.creates && head.is_root() && matches!(effect, Effect::Leave);
            let Some(asleep) = self.asleep(from, frame, &effect) else { continue };
            let to = self.globals.intern(Global { shared, mode, live: from.live - u32::from(ends), asleep });
            match effect {
                Effect::Become(next) => {
                    let next = 1 + self.kinds[kind].points.intern(next);
                    self.rule(kind, (global, point), to, pushdown::Action::Overwrite(Symbol(next)), line);
                    self.add(kind, to, next);
                }
                Effect::Call { callee, caller } => {
                    let (top, below) =
                        (1 + self.kinds[kind].points.intern(callee), 1 + self.kinds[kind].points.intern(caller));
                    let action = pushdown::Action::Push { top: Symbol(top), below: Symbol(below) };
                    self.rule(kind, (global, point), to, action, line);
                    self.add(kind, to, top);
                    let called = self.steps.head(callee).procedure() as u32;
                    if self.kinds[kind].frames.entry(called).or_default().insert(below) {
                        let returns = self.kinds[kind].returns.get(&called).cloned().unwrap_or_default();
                        returns.list.into_iter().for_each(|global| self.add(kind, global, below));
                    }
                }
                Effect::Leave => {
                    self.rule(kind, (global, point), to, pushdown::Action::Pop, line);
                    if head.is_root() {
                        self.add(kind, to, 0);
                    } else {
                        self.returned(kind, head.procedure() as u32, to);
                    }
                }
            }
        }
        self.probe(kind, (global, point), frame);
        count
    }

    /// A procedure returns in a shared state, to any frame that some call of it has left.
    fn returned(&mut self, kind: usize, procedure: u32, to: u32) {
        if self.kinds[kind].returns.entry(procedure).or_default().insert(to) {
            let frames = self.kinds[kind].frames.get(&procedure).cloned().unwrap_or_default();
            frames.list.into_iter().for_each(|below| self.add(kind, to, below));
        }
    }

    fn push_on_empty(&mut self, kind: usize, global: u32, to: u32, first: Point, line: u32) {
        let top = 1 + self.kinds[kind].points.intern(first);
        let action = pushdown::Action::Push { top: Symbol(top), below: Symbol::BOTTOM };
        self.rule(kind, (global, 0), to, action, line);
        self.add(kind, to, top);
    }

    /// How many threads sleep after a step; none if the step must not be: a broadcast ends when all are awake.
    fn asleep(&self, from: Global, point: Point, effect: &Effect) -> Option<u32> {
        let sleeps = |point: Point| point.doing == Doing::Plain && self.steps.head(point).stage() == Stage::Asleep;
        match effect {
            _ if !self.counts_sleepers => Some(0),
            Effect::Become(next) if !sleeps(point) && sleeps(*next) => {
                (from.asleep as usize <= self.threads.len()).then_some(from.asleep + 1)
            }
            Effect::Become(_) if sleeps(point) => from.asleep.checked_sub(1),
            Effect::Become(_) if point.doing == Doing::Waking && from.asleep > 0 => None,
            _ => Some(from.asleep),
        }
    }

    /// A thread that cannot move says so, where it is asked for deadlocks.
    fn probe(&mut self, kind: usize, (global, point): (u32, u32), frame: Point) {
        if !self.steps.code.options.deadlock || frame.doing != Doing::Plain {
            return;
        }
        let from = self.globals[global];
        let (stage, held) = (self.steps.head(frame).stage(), self.steps.is_held(from.shared));
        let count = match from.mode {
            Mode::Refusing { callee, count } if matches!(stage, Stage::Storing | Stage::Waiting) => {
                for shared in self.steps.refuses(from.shared, callee, frame) {
                    self.say_blocked(kind, (global, point), shared, count, held);
                }
                return;
            }
            Mode::Open if self.steps.is_uninterrupted(frame) == held => 0,
            Mode::Probing(count) if !self.steps.is_uninterrupted(frame) => count,
            _ => return,
        };
        match stage {
            Stage::Asleep => return self.say_blocked(kind, (global, point), from.shared, count, held),
            Stage::Running => {}
            _ => return,
        }
        let head = self.steps.head(frame);
        for (shared, callee) in self.steps.blocked(from.shared, frame) {
            let Some(callee) = callee else {
                self.say_blocked(kind, (global, point), shared, count, held);
                continue;
            };
            let to = self.globals.intern(Global { shared, mode: Mode::Refusing { callee, count }, ..from });
            self.rule(kind, (global, point), to, pushdown::Action::Pop, self.steps.line(frame));
            self.returned(kind, head.procedure() as u32, to);
        }
    }

    fn say_blocked(&mut self, kind: usize, (global, point): (u32, u32), shared: u32, count: u32, held: bool) {
        let from = self.globals[global];
        let mode = if held { Mode::Stuck } else { self.probed(count + 1) };
        let to = self.globals.intern(Global { shared, mode, ..from });
        let frame = self.kinds[kind].points[point - 1];
        let next = 1 + self.kinds[kind].points.intern(PROBED);
        let action = pushdown::Action::Overwrite(Symbol(next));
        self.rule(kind, (global, point), to, action, self.steps.line(frame));
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
const PROBED: Point = Point { frame: 0, doing: Doing::Probed };
