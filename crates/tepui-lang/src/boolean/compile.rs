//! From programs to pushdown systems.
//!
//! A shared state is a valuation of the shared variables with a [`Mode`]; a stack symbol is a [`Point`]: a position in a
//! procedure with the values of the local variables. Most statements overwrite the top of the stack; a call pushes, a
//! return pops. Three things take several steps of the pushdown system, between which no other thread moves; the mode
//! says what is going on:
//!
//! * *Results.* A return pops and leaves the results in the mode; the caller, whose frame is now on top, takes them.
//! * *Starting a thread.* The mode carries the first point of the new thread; a thread whose stack is empty takes it.
//! * *Waking.* A broadcast sets the mode; threads that sleep may wake in it, until the one that broadcasts ends it.
//!   That some go on sleeping does no harm: one that is awake need not move either.
//!
//! *Atomic sections.* While a thread is in one, the mode says so, and so do the points of this thread and of no other.
//!
//! Only pairs of a shared state and a point that may occur together get rules. Which may is computed with the threads
//! apart from each other: a thread's pairs are closed under its own steps and under the changes of shared states by
//! others; a return may bring any frame to light that some call of the same procedure has left. So the pairs are more than
//! those that really occur, but twenty shared variables do not mean a million shared states.

use std::collections::{HashMap, HashSet};

use tepui_model::program::{Action, Expression, Kind, Operator, Place, Program, Slot};
use tepui_model::pushdown::{self, Model, Names, Pattern, Property, Rule, Shared, State, Symbol, Thread};

use super::flow::Flow;

/// Values of variables, packed.
type Values = u128;

/// What is going on besides the shared variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Mode {
    /// Nothing.
    Calm,
    /// Some thread is in an atomic section.
    Atomic,
    /// A procedure has returned these results, and whether its thread insists on not being interrupted.
    Returned(Values, bool),
    /// So many threads are to be started at a point, whether the values of local variables other than parameters are
    /// still to be chosen, and whether the starter is in an atomic section.
    Starting { first: Point, fresh: bool, count: u32, atomic: bool },
    /// A broadcast, and whether its thread is in an atomic section.
    Waking(bool),
    /// A thread ends with all its frames.
    Ending,
    /// A thread is to be started, and there is no place for it.
    Full,
    /// Variables have no value yet.
    Begin,
}

/// A stack symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Point {
    procedure: u32,
    position: u32,
    locals: Values,
    /// Whether it is the first procedure of its thread.
    root: bool,
    /// Whether it was called from an atomic block.
    under: bool,
    /// Whether it is inside an atomic block of its own.
    within: bool,
    /// Whether its thread is between the beginning and the end of an atomic section.
    insists: bool,
    stage: Stage,
}

/// What a frame does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    /// It runs.
    Running,
    /// It waits for a procedure that it has called.
    Calling,
    /// It sleeps.
    Asleep,
    /// It wakes others.
    Waking,
    /// An assertion has failed.
    Failed,
    /// Nothing has begun.
    Begin,
}

/// A shared state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Global {
    shared: Values,
    mode: Mode,
    /// How many threads have not ended.
    live: u32,
}

/// The values of the shared variables after a step, and the mode.
type Change = (Values, Mode);

/// What a step does to the stack.
enum Effect {
    Become(Point),
    Call { callee: Point, caller: Point },
    Leave,
}

/// Where the values of some variables lie in a packed word.
struct Layout {
    fields: Vec<(u32, u32)>,
}

impl Layout {
    /// None, if they do not fit.
    fn of(program: &Program, kinds: impl Iterator<Item = Kind>) -> Option<Self> {
        let mut shift = 0;
        let field = |kind: Kind| {
            let width = 32 - (program.values(kind).max(2) - 1).leading_zeros();
            shift += width;
            (shift - width, width)
        };
        let fields = kinds.map(field).collect();
        (shift <= Values::BITS).then_some(Self { fields })
    }

    fn get(&self, values: Values, number: usize) -> u32 {
        let (shift, width) = self.fields[number];
        (values >> shift) as u32 & ((1 << width) - 1)
    }

    fn set(&self, values: &mut Values, number: usize, value: u32) {
        let (shift, width) = self.fields[number];
        let mask = ((1 << width) - 1) << shift;
        *values = (*values & !mask) | Values::from(value) << shift;
    }

    /// All ways to give values to variables, where some are fixed.
    fn all(&self, program: &Program, variables: impl Iterator<Item = (Kind, Option<u32>)>) -> Vec<Values> {
        let mut found = vec![0];
        for (number, (kind, fixed)) in variables.enumerate() {
            let choices: Vec<_> = fixed.map_or((0..program.values(kind)).collect(), |value| vec![value]);
            let extend = |values: Values| {
                choices.iter().map(move |&value| {
                    let mut values = values;
                    self.set(&mut values, number, value);
                    values
                })
            };
            found = found.into_iter().flat_map(extend).collect();
        }
        found
    }
}

/// Why a program cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooLarge(String);

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TooLarge {}

/// The most rules of a model.
const MOST_RULES: usize = 20_000_000;

/// The name of the property that more threads are wanted than there are places for.
pub const THREAD_LIMIT: &str = "thread-limit";

/// The pushdown system of a program, with places for some threads at the same time. Where that is too few, the property
/// [`THREAD_LIMIT`] is violated. Each assertion is a property, and so is each label that must not be reached.
pub fn compile(program: &Program, places: usize) -> Result<Model, TooLarge> {
    let steps = Steps::new(program)?;
    Exploration::new(&steps, places).run()
}

/// The steps of single threads.
struct Steps<'p> {
    program: &'p Program,
    flows: Vec<Flow>,
    shared: Layout,
    locals: Vec<Layout>,
    /// Whether frames are told when a procedure that they called returns, even if it returns nothing.
    always_tell: bool,
}

/// The variables that an expression is about.
#[derive(Clone, Copy)]
struct Scope {
    procedure: usize,
    shared: Values,
    locals: Values,
    new: (Values, Values),
}

impl<'p> Steps<'p> {
    fn new(program: &'p Program) -> Result<Self, TooLarge> {
        let too_many = |place: &str| TooLarge(format!("the variables {place} take more than {} bits", Values::BITS));
        let shared = Layout::of(program, program.shared.iter().map(|variable| variable.kind));
        let locals = program.procedures.iter().map(|procedure| {
            let layout = Layout::of(program, procedure.locals.iter().map(|variable| variable.kind));
            layout.ok_or_else(|| too_many(&format!("of {}", procedure.name)))
        });
        let locals = locals.collect::<Result<_, _>>()?;
        let results = program.procedures.iter().map(|procedure| Layout::of(program, procedure.results.iter().copied()));
        if results.into_iter().any(|layout| layout.is_none()) {
            return Err(too_many("that a procedure returns"));
        }
        let statements = || program.procedures.iter().flat_map(|procedure| &procedure.statements);
        let tells = |action: &Action| matches!(action, Action::AtomicBegin | Action::AtomicEnd | Action::EndThread);
        let always_tell = statements().any(|statement| tells(&statement.action))
            || program.procedures.iter().any(|procedure| procedure.enforced.is_some());
        Ok(Self {
            program,
            flows: program.procedures.iter().map(Flow::of).collect(),
            shared: shared.ok_or_else(|| too_many("that are shared"))?,
            locals,
            always_tell,
        })
    }

    fn action(&self, point: &Point) -> Option<&'p Action> {
        let statements = &self.program.procedures[point.procedure as usize].statements;
        statements.get(point.position as usize).map(|statement| &statement.action)
    }

    /// The line of the statement at which a point stands; at the end that of the procedure's last one.
    fn line(&self, point: &Point) -> u32 {
        let procedure = &self.program.procedures[point.procedure as usize];
        let statement = procedure.statements.get(point.position as usize).or(procedure.statements.last());
        statement.map_or(procedure.line, |statement| statement.line)
    }

    /// The statement to execute at a position: an atomic block is entered with its first one.
    fn first_of(&self, procedure: usize, position: usize) -> usize {
        match self.program.procedures[procedure].statements.get(position).map(|statement| &statement.action) {
            Some(Action::Atomic(block)) => {
                self.first_of(procedure, block.first().copied().unwrap_or(self.flows[procedure].next[position]))
            }
            _ => position,
        }
    }

    /// The first points of a procedure.
    fn entered(&self, procedure: usize, arguments: &[u32], root: bool, under: bool, insists: bool) -> Vec<Point> {
        let called = &self.program.procedures[procedure];
        let given = arguments.iter().map(|&value| Some(value)).chain(std::iter::repeat(None));
        let variables = called.locals.iter().zip(given);
        let variables = variables.map(|(variable, given)| (variable.kind, given.or(variable.init)));
        let position = called.body.first().copied().unwrap_or(called.statements.len()) as u32;
        let values = self.locals[procedure].all(self.program, variables);
        let point = |locals| Point {
            procedure: procedure as u32,
            position,
            locals,
            root,
            under,
            within: false,
            insists,
            stage: Stage::Running,
        };
        values.into_iter().map(point).collect()
    }

    /// All values that an expression may have.
    fn values(&self, expression: &Expression, scope: &Scope) -> Vec<u32> {
        let both = |left: &Expression, right: &Expression| {
            let (left, right) = (self.values(left, scope), self.values(right, scope));
            left.iter().flat_map(|&left| right.iter().map(move |&right| (left, right))).collect::<Vec<_>>()
        };
        let mut found: Vec<u32> = match expression {
            Expression::Value(value, _) => vec![*value],
            Expression::Any(kind) => (0..self.program.values(*kind)).collect(),
            Expression::Read(slot) => vec![self.read(*slot, scope.procedure, scope.shared, scope.locals)],
            Expression::New(slot) => vec![self.read(*slot, scope.procedure, scope.new.0, scope.new.1)],
            Expression::Not(operand) => self.values(operand, scope).into_iter().map(|value| 1 - value).collect(),
            Expression::Binary(operator, left, right) => {
                let apply = |(left, right): (u32, u32)| match operator {
                    Operator::And => left & right,
                    Operator::Or => left | right,
                    Operator::Implies => (1 - left) | right,
                    Operator::Xor | Operator::Unequal => u32::from(left != right),
                    Operator::Equal => u32::from(left == right),
                };
                both(left, right).into_iter().map(apply).collect()
            }
            Expression::Choice(condition, then, otherwise) => {
                let branches = self.values(condition, scope).into_iter();
                branches.flat_map(|value| self.values(if value == 1 { then } else { otherwise }, scope)).collect()
            }
            Expression::Choose(positive, negative) => {
                let choose = |pair: (u32, u32)| match pair {
                    (1, _) => vec![1],
                    (_, 1) => vec![0],
                    _ => vec![0, 1],
                };
                both(positive, negative).into_iter().flat_map(choose).collect()
            }
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    fn read(&self, slot: Slot, procedure: usize, shared: Values, locals: Values) -> u32 {
        match slot {
            Slot::Shared(number) => self.shared.get(shared, number),
            Slot::Local(number) => self.locals[procedure].get(locals, number),
        }
    }

    fn store(&self, scope: &Scope, targets: &[Place], values: &[u32]) -> (Values, Values) {
        let (mut shared, mut locals) = (scope.shared, scope.locals);
        for (target, &value) in targets.iter().zip(values) {
            match target {
                Some(Slot::Shared(number)) => self.shared.set(&mut shared, *number, value),
                Some(Slot::Local(number)) => self.locals[scope.procedure].set(&mut locals, *number, value),
                None => {}
            }
        }
        (shared, locals)
    }

    /// All ways to evaluate some expressions.
    fn all_values(&self, expressions: &[Expression], scope: &Scope) -> Vec<Vec<u32>> {
        expressions.iter().fold(vec![Vec::new()], |rows, expression| {
            let values = self.values(expression, scope);
            let extend = |row: &Vec<u32>| {
                let row = row.clone();
                values.iter().map(move |&value| row.iter().copied().chain([value]).collect()).collect::<Vec<Vec<_>>>()
            };
            rows.iter().flat_map(extend).collect()
        })
    }

    fn enforced(&self, point: &Point, shared: Values) -> bool {
        let procedure = point.procedure as usize;
        let scope = Scope { procedure, shared, locals: point.locals, new: (0, 0) };
        let condition = &self.program.procedures[procedure].enforced;
        condition.as_ref().is_none_or(|condition| self.values(condition, &scope).contains(&1))
    }

    /// All steps that a thread can take whose topmost frame is given.
    fn steps(&self, Global { shared, mode, .. }: Global, point: Point) -> Vec<(Change, Effect)> {
        let mut found = Vec::new();
        match (mode, point.stage) {
            (Mode::Begin, Stage::Begin) => self.begin(&mut found),
            (Mode::Returned(results, insists), Stage::Calling) => {
                self.take_results((shared, point), results, insists, &mut found);
            }
            (Mode::Ending, Stage::Calling) => {
                let mode = if point.root { Mode::Calm } else { Mode::Ending };
                found.push(((shared, mode), Effect::Leave));
            }
            (Mode::Waking(_), Stage::Asleep) => {
                found.push(((shared, mode), Effect::Become(Point { stage: Stage::Running, ..point })));
            }
            (Mode::Waking(atomic), Stage::Waking) => {
                let mode = if atomic { Mode::Atomic } else { Mode::Calm };
                found.push(((shared, mode), Effect::Become(Point { stage: Stage::Running, ..point })));
            }
            (Mode::Calm, Stage::Running) if !uninterrupted(&point) => self.execute(shared, point, &mut found),
            (Mode::Atomic, Stage::Running) if uninterrupted(&point) => self.execute(shared, point, &mut found),
            _ => {}
        }
        found
    }

    fn begin(&self, found: &mut Vec<(Change, Effect)>) {
        let variables = self.program.shared.iter().map(|variable| (variable.kind, variable.init));
        for shared in self.shared.all(self.program, variables) {
            for point in self.entered(self.program.main, &[], true, false, false) {
                found.push(((shared, Mode::Calm), Effect::Become(point)));
            }
        }
    }

    /// The caller goes on after a procedure has returned.
    fn take_results(
        &self,
        (shared, point): (Values, Point),
        results: Values,
        insists: bool,
        found: &mut Vec<(Change, Effect)>,
    ) {
        let procedure = point.procedure as usize;
        let call = self.first_of(procedure, point.position as usize);
        let Action::Call { targets, procedure: called, .. } =
            &self.program.procedures[procedure].statements[call].action
        else {
            return;
        };
        let scope = Scope { procedure, shared, locals: point.locals, new: (0, 0) };
        let kinds = &self.program.procedures[*called].results;
        let Some(layout) = Layout::of(self.program, kinds.iter().copied()) else { return };
        let results: Vec<_> = (0..kinds.len()).map(|number| layout.get(results, number)).collect();
        let (shared, locals) = self.store(&scope, targets, &results);
        let point = Point { locals, insists, stage: Stage::Running, ..point };
        self.go(shared, point, call, self.flows[procedure].next[call], found);
    }

    /// A thread goes on at a position of the same procedure, after it has executed a statement.
    fn go(&self, shared: Values, point: Point, from: usize, to: usize, found: &mut Vec<(Change, Effect)>) {
        let flow = &self.flows[point.procedure as usize];
        let outermost = |position: usize| flow.atomics(position).last();
        let within = outermost(from).is_some() && outermost(from) == outermost(to);
        let point = Point { position: to as u32, within, ..point };
        if self.enforced(&point, shared) {
            found.push(((shared, mode_of(&point)), Effect::Become(point)));
        }
    }

    fn execute(&self, shared: Values, point: Point, found: &mut Vec<(Change, Effect)>) {
        if !self.enforced(&point, shared) {
            return;
        }
        let procedure = point.procedure as usize;
        let position = self.first_of(procedure, point.position as usize);
        let Some(action) = self.action(&Point { position: position as u32, ..point }) else {
            return self.leave(shared, point, &[], found);
        };
        let flow = &self.flows[procedure];
        let next = flow.next[position];
        let scope = Scope { procedure, shared, locals: point.locals, new: (0, 0) };
        let may = |condition: &Expression, value: u32| self.values(condition, &scope).contains(&value);
        let first = |block: &[usize], otherwise: usize| block.first().copied().unwrap_or(otherwise);
        match action {
            Action::Skip => self.go(shared, point, position, next, found),
            Action::Goto(targets) => targets.iter().for_each(|&to| self.go(shared, point, position, to, found)),
            Action::Assign { targets, values, constraint } => {
                for values in self.all_values(values, &scope) {
                    let new = self.store(&scope, targets, &values);
                    let holds = |constraint| self.values(constraint, &Scope { new, ..scope }).contains(&1);
                    if constraint.as_ref().is_none_or(holds) {
                        self.go(new.0, Point { locals: new.1, ..point }, position, next, found);
                    }
                }
            }
            Action::Assume(condition) | Action::Wait(condition) => {
                if may(condition, 1) {
                    self.go(shared, point, position, next, found);
                }
            }
            Action::Assert(condition) => {
                if may(condition, 1) {
                    self.go(shared, point, position, next, found);
                }
                if may(condition, 0) {
                    let failed = Point { position: position as u32, locals: 0, stage: Stage::Failed, ..point };
                    found.push(((shared, mode_of(&point)), Effect::Become(failed)));
                }
            }
            Action::If(condition, then, otherwise) => {
                if may(condition, 1) {
                    self.go(shared, point, position, first(then, next), found);
                }
                if may(condition, 0) {
                    self.go(shared, point, position, first(otherwise, next), found);
                }
            }
            Action::While(condition, body) => {
                if may(condition, 1) {
                    self.go(shared, point, position, first(body, position), found);
                }
                if may(condition, 0) {
                    self.go(shared, point, position, next, found);
                }
            }
            Action::Atomic(_) => {}
            Action::AtomicBegin | Action::AtomicEnd => {
                let insists = matches!(action, Action::AtomicBegin);
                self.go(shared, Point { insists, ..point }, position, next, found);
            }
            Action::Lock(slot) => {
                if self.read(*slot, procedure, shared, point.locals) == 0 {
                    let (shared, locals) = self.store(&scope, &[Some(*slot)], &[1]);
                    self.go(shared, Point { locals, ..point }, position, next, found);
                }
            }
            Action::Unlock(slot) => {
                let (shared, locals) = self.store(&scope, &[Some(*slot)], &[0]);
                self.go(shared, Point { locals, ..point }, position, next, found);
            }
            Action::Call { procedure: called, arguments, .. } => {
                let under = point.under || flow.atomics(position).next().is_some();
                let told = self.is_told(*called, under);
                let caller = match told {
                    true => Point { position: position as u32, stage: Stage::Calling, within: false, ..point },
                    false => Point { position: next as u32, within: false, ..point },
                };
                for arguments in self.all_values(arguments, &scope) {
                    for callee in self.entered(*called, &arguments, false, under, point.insists) {
                        if self.enforced(&callee, shared) {
                            found.push(((shared, mode_of(&callee)), Effect::Call { callee, caller }));
                        }
                    }
                }
            }
            Action::Return(values) => {
                self.all_values(values, &scope).iter().for_each(|values| self.leave(shared, point, values, found));
            }
            Action::Start { procedure: started, arguments, count } => {
                for arguments in self.all_values(arguments, &scope) {
                    let entered = self.entered(*started, &arguments, true, false, false);
                    if let Some(&first) = entered.first() {
                        self.start((shared, point), (position, next), (first, true), *count, found);
                    }
                }
            }
            Action::StartAt(to) => {
                let flags = Point { root: true, under: false, within: false, insists: false, ..point };
                let first = Point { position: *to as u32, ..flags };
                self.start((shared, point), (position, next), (first, false), 1, found);
            }
            Action::EndThread if point.root => found.push(((shared, Mode::Calm), Effect::Leave)),
            Action::EndThread => found.push(((shared, Mode::Ending), Effect::Leave)),
            Action::Sleep => {
                let first = found.len();
                self.go(shared, point, position, next, found);
                found[first..].iter_mut().for_each(|(_, effect)| set_stage(effect, Stage::Asleep));
            }
            Action::Broadcast => {
                let first = found.len();
                self.go(shared, point, position, next, found);
                for ((_, mode), effect) in &mut found[first..] {
                    *mode = Mode::Waking(*mode == Mode::Atomic);
                    set_stage(effect, Stage::Waking);
                }
            }
            Action::Dead(slots) => {
                let targets: Vec<_> = slots.iter().map(|&slot| Some(slot)).collect();
                let any = |&slot: &Slot| Expression::Any(self.program.variable(procedure, slot).kind);
                let values: Vec<_> = slots.iter().map(any).collect();
                for values in self.all_values(&values, &scope) {
                    let (shared, locals) = self.store(&scope, &targets, &values);
                    self.go(shared, Point { locals, ..point }, position, next, found);
                }
            }
        }
    }

    /// Whether a frame has to do something when a procedure that it calls, maybe from an atomic block, returns.
    fn is_told(&self, called: usize, under: bool) -> bool {
        self.always_tell || under || !self.program.procedures[called].results.is_empty()
    }

    fn leave(&self, shared: Values, point: Point, results: &[u32], found: &mut Vec<(Change, Effect)>) {
        let procedure = point.procedure as usize;
        let mode = if point.root {
            Mode::Calm
        } else if self.is_told(procedure, point.under) {
            let kinds = &self.program.procedures[procedure].results;
            let Some(layout) = Layout::of(self.program, kinds.iter().copied()) else { return };
            let mut packed = 0;
            results.iter().enumerate().for_each(|(number, &value)| layout.set(&mut packed, number, value));
            Mode::Returned(packed, point.insists)
        } else {
            Mode::Calm
        };
        found.push(((shared, mode), Effect::Leave));
    }

    /// A thread starts others and goes on.
    fn start(
        &self,
        (shared, point): (Values, Point),
        (position, next): (usize, usize),
        (first, fresh): (Point, bool),
        count: u32,
        found: &mut Vec<(Change, Effect)>,
    ) {
        let before = found.len();
        self.go(shared, point, position, next, found);
        for ((_, mode), _) in &mut found[before..] {
            *mode = Mode::Starting { first, fresh, count, atomic: *mode == Mode::Atomic };
        }
    }

    /// What a thread without frames can do: it becomes one that is to be started.
    fn awaken(&self, Global { shared, mode, .. }: Global) -> Vec<(Change, Point)> {
        let Mode::Starting { first, fresh, count, atomic } = mode else { return Vec::new() };
        let procedure = first.procedure as usize;
        let points = if fresh {
            let given = (0..self.program.procedures[procedure].parameters)
                .map(|number| self.locals[procedure].get(first.locals, number));
            self.entered(procedure, &given.collect::<Vec<_>>(), true, false, false)
        } else {
            vec![first]
        };
        let mode = match count {
            1 if atomic => Mode::Atomic,
            1 => Mode::Calm,
            _ => Mode::Starting { first, fresh, count: count - 1, atomic },
        };
        points.into_iter().map(|point| ((shared, mode), point)).collect()
    }
}

/// Whether no other thread may move while this frame is on top of its thread.
fn uninterrupted(point: &Point) -> bool {
    point.under || point.within || point.insists
}

fn mode_of(point: &Point) -> Mode {
    if uninterrupted(point) { Mode::Atomic } else { Mode::Calm }
}

fn set_stage(effect: &mut Effect, stage: Stage) {
    if let Effect::Become(point) = effect {
        point.stage = stage;
    }
}

/// Which pairs of shared states and points may occur, and the rules for them.
struct Exploration<'s, 'p> {
    steps: &'s Steps<'p>,
    globals: Numbered<Global>,
    /// The first thread, and the others.
    kinds: [Threads; 2],
    /// For each shared state, those that some step leads to from it, and which kind of thread takes it.
    changes: Vec<Vec<(u32, usize)>>,
    /// How many threads there are besides the first.
    others: usize,
    open: Vec<(usize, u32, u32)>,
}

/// What is known of threads of one kind. Point 0 is that of a thread without frames.
#[derive(Default)]
struct Threads {
    points: Numbered<Point>,
    pairs: HashSet<(u32, u32)>,
    /// For each shared state the points that may occur with it.
    at: Vec<Vec<u32>>,
    /// For each procedure the frames below it, and the shared states in which it returns.
    frames: HashMap<u32, Vec<u32>>,
    returns: HashMap<u32, Vec<u32>>,
    rules: Vec<Rule>,
}

/// Things with numbers, in the order in which they were found.
struct Numbered<T> {
    numbers: HashMap<T, u32>,
    list: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), list: Vec::new() }
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
    fn new(steps: &'s Steps<'p>, places: usize) -> Self {
        Self {
            steps,
            globals: Numbered::default(),
            kinds: [Threads::default(), Threads::default()],
            changes: Vec::new(),
            others: places.saturating_sub(1),
            open: Vec::new(),
        }
    }

    fn run(mut self) -> Result<Model, TooLarge> {
        let nowhere = Point {
            procedure: 0,
            position: 0,
            locals: 0,
            root: true,
            under: false,
            within: false,
            insists: false,
            stage: Stage::Begin,
        };
        let begin = self.globals.number(Global { shared: 0, mode: Mode::Begin, live: 1 });
        let first = 1 + self.kinds[0].points.number(nowhere);
        self.add(0, begin, first);
        if self.others > 0 {
            self.add(1, begin, 0);
        }
        while let Some((kind, global, point)) = self.open.pop() {
            self.expand(kind, global, point);
            if self.kinds.iter().map(|threads| threads.rules.len()).sum::<usize>() > MOST_RULES {
                return Err(TooLarge(format!("the program has more than {MOST_RULES} rules")));
            }
        }
        self.model()
    }

    /// A thread of some kind may be at a point in a shared state, and in all that others make of it.
    fn add(&mut self, kind: usize, global: u32, point: u32) {
        let mut todo = vec![(kind, global, point)];
        while let Some((kind, global, point)) = todo.pop() {
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
                if by != kind || (kind == 1 && self.others > 1) {
                    todo.push((kind, to, point)); // See `disturbs`.
                }
            }
        }
    }

    /// Whether steps of threads of one kind happen while a thread of another, or another of the same, stands still.
    fn disturbs(&self, by: usize, kind: usize) -> bool {
        by != kind || (kind == 1 && self.others > 1)
    }

    /// A thread of some kind may change the shared state.
    fn change(&mut self, kind: usize, from: u32, to: u32) {
        if self.changes.len() <= from as usize {
            self.changes.resize(from as usize + 1, Vec::new());
        }
        if from == to || self.changes[from as usize].contains(&(to, kind)) {
            return;
        }
        self.changes[from as usize].push((to, kind));
        for other in 0..2 {
            if self.disturbs(kind, other) {
                let points = self.kinds[other].at.get(from as usize).cloned().unwrap_or_default();
                points.into_iter().for_each(|point| self.add(other, to, point));
            }
        }
    }

    fn expand(&mut self, kind: usize, global: u32, point: u32) {
        let from = self.globals.list[global as usize];
        // With the threads apart from each other, pairs come up that cannot be: a thread where none is left, a free place
        // where all are taken.
        if (point == 0 && from.live as usize > self.others) || (point > 0 && from.live == 0) {
            return;
        }
        if point == 0 {
            for ((shared, mode), first) in self.steps.awaken(from) {
                let to = self.globals.number(Global { shared, mode, live: from.live + 1 });
                let top = 1 + self.kinds[kind].points.number(first);
                let action = pushdown::Action::Push { top: Symbol(top), below: Symbol::BOTTOM };
                self.rule(kind, (global, point), to, action, self.steps.line(&first));
                self.add(kind, to, top);
            }
            return;
        }
        let frame = self.kinds[kind].points.list[point as usize - 1];
        let line = if frame.stage == Stage::Begin { 0 } else { self.steps.line(&frame) };
        for ((shared, mode), effect) in self.steps.steps(from, frame) {
            let mode = match mode {
                Mode::Starting { count, .. } if (from.live + count) as usize > 1 + self.others => Mode::Full,
                mode => mode,
            };
            let live = from.live - u32::from(frame.root && matches!(effect, Effect::Leave));
            let to = self.globals.number(Global { shared, mode, live });
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
                    let frames = self.kinds[kind].frames.entry(callee.procedure).or_default();
                    if !frames.contains(&below) {
                        frames.push(below);
                        let returns = self.kinds[kind].returns.get(&callee.procedure).cloned().unwrap_or_default();
                        returns.into_iter().for_each(|global| self.add(kind, global, below));
                    }
                }
                Effect::Leave => {
                    self.rule(kind, (global, point), to, pushdown::Action::Pop, line);
                    if frame.root {
                        self.add(kind, to, 0);
                        continue;
                    }
                    let returns = self.kinds[kind].returns.entry(frame.procedure).or_default();
                    if !returns.contains(&to) {
                        returns.push(to);
                        let frames = self.kinds[kind].frames.get(&frame.procedure).cloned().unwrap_or_default();
                        frames.into_iter().for_each(|below| self.add(kind, to, below));
                    }
                }
            }
        }
    }

    fn rule(&mut self, kind: usize, (from, top): (u32, u32), to: u32, action: pushdown::Action, line: u32) {
        self.kinds[kind].rules.push(Rule { from: Shared(from), top: Symbol(top), to: Shared(to), action, line });
        self.change(kind, from, to);
    }

    fn model(self) -> Result<Model, TooLarge> {
        let program = self.steps.program;
        let count = 1 + self.others;
        let mut threads = Vec::new();
        for index in 0..count {
            let kind = &self.kinds[index.min(1)];
            let name = if index == 0 { "main".to_owned() } else { format!("thread#{index}") };
            let symbols = names(kind.points.list.iter().map(|point| self.point_name(point)));
            threads.push(Thread { name, symbols, rules: kind.rules.clone() });
        }
        let (mut properties, mut mentioned): (Vec<Property>, Vec<String>) = (Vec::new(), Vec::new());
        let mut forbid = |name: String, shared: Option<u32>, tops: Vec<Option<Symbol>>| {
            let pattern = Pattern { shared: shared.map(Shared), tops };
            match properties.iter_mut().find(|property| property.name == name) {
                Some(property) => property.never.push(pattern),
                None => properties.push(Property { name, never: vec![pattern] }),
            }
        };
        for (procedure, one) in program.procedures.iter().enumerate() {
            for (position, statement) in one.statements.iter().enumerate() {
                let target = program
                    .unreachable
                    .iter()
                    .find(|target| target.procedure == procedure && target.position == position);
                let assertion = matches!(statement.action, Action::Assert(_));
                let stands = |point: &Point, stage: Stage| {
                    let at = (point.procedure as usize, point.position as usize);
                    let first = self.steps.first_of(at.0, at.1);
                    at.0 == procedure && (at.1 == position || first == position) && point.stage == stage
                };
                let name = format!("{}@{}", one.name, statement.line);
                let awake = [Stage::Running, Stage::Asleep, Stage::Waking];
                let wanted = [(assertion.then_some(&name), &awake[..0]), (target.map(|target| &target.label), &awake)];
                for (name, stages) in wanted.into_iter().filter_map(|(name, stages)| Some((name?, stages))) {
                    let bad = |point: &Point| match stages {
                        [] => stands(point, Stage::Failed),
                        stages => stages.iter().any(|&stage| stands(point, stage)),
                    };
                    for thread in 0..count {
                        for (symbol, _) in
                            (1..).zip(&self.kinds[thread.min(1)].points.list).filter(|(_, point)| bad(point))
                        {
                            let mut tops = vec![None; count];
                            tops[thread] = Some(Symbol(symbol));
                            forbid(name.clone(), None, tops);
                        }
                    }
                    mentioned.push(name.clone());
                }
            }
        }
        for (global, _) in (0..).zip(&self.globals.list).filter(|(_, global)| global.mode == Mode::Full) {
            forbid(THREAD_LIMIT.to_owned(), Some(global), vec![None; count]);
        }
        // What no point can violate is a property all the same.
        for name in mentioned {
            if properties.iter().all(|property| property.name != name) {
                properties.push(Property { name, never: Vec::new() });
            }
        }
        let shared = Names::List(names(self.globals.list.iter().map(|global| self.global_name(global))));
        let init = State {
            shared: Shared(0),
            stacks: (0..count).map(|index| if index == 0 { vec![Symbol(1)] } else { Vec::new() }).collect(),
        };
        Model::new(shared, threads, init, properties).map_err(|malformed| TooLarge(malformed.to_string()))
    }

    fn global_name(&self, global: &Global) -> String {
        let program = self.steps.program;
        let variables = program.shared.iter().enumerate();
        let values = variables.map(|(number, variable)| {
            let value = self.steps.shared.get(global.shared, number);
            format!("{}_{}", variable.name, program.value_name(variable.kind, value))
        });
        let mode = match global.mode {
            Mode::Calm => None,
            Mode::Atomic => Some("atomic"),
            Mode::Returned(..) => Some("returned"),
            Mode::Starting { .. } => Some("starting"),
            Mode::Waking(_) => Some("waking"),
            Mode::Ending => Some("ending"),
            Mode::Full => Some("full"),
            Mode::Begin => return "begin".to_owned(),
        };
        let live = (self.others > 0).then(|| format!("threads_{}", global.live));
        let parts: Vec<_> = values.chain(mode.map(str::to_owned)).chain(live).collect();
        if parts.is_empty() { "calm".to_owned() } else { parts.join("'") }
    }

    fn point_name(&self, point: &Point) -> String {
        if point.stage == Stage::Begin {
            return "begin".to_owned();
        }
        let (number, program) = (point.procedure as usize, self.steps.program);
        let procedure = &program.procedures[number];
        let mut name = match procedure.statements.get(point.position as usize) {
            Some(statement) => format!("{}@{}", procedure.name, statement.line),
            None => format!("{}@end", procedure.name),
        };
        if point.stage == Stage::Failed {
            return name + "'failed";
        }
        for (local, variable) in procedure.locals.iter().enumerate() {
            let value = self.steps.locals[number].get(point.locals, local);
            name += &format!("'{}_{}", variable.name, program.value_name(variable.kind, value));
        }
        name
    }
}

/// Names in the alphabet of models, each one once.
fn names(wanted: impl Iterator<Item = String>) -> Vec<String> {
    let mut used: HashMap<String, u32> = HashMap::new();
    let fits = |mark: char| mark.is_ascii_alphanumeric() || "_'@$".contains(mark);
    let unique = |name: String| {
        let name: String = name.chars().map(|mark| if fits(mark) { mark } else { '_' }).collect();
        let count = used.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { name } else { format!("{name}$${count}") }
    };
    wanted.map(unique).collect()
}
