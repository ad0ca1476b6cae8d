//! What a single thread does at a point, in a shared state.

use tepui_model::program::{Action, Expression, Kind, Operator, Place, Program, Slot, Variable};

use super::layout::{Layout, Values};
use super::local_steps::{held_up, resting};
use super::variables::Kept;
use super::{Change, Effect, Mode, Options, Point, Stage, Uncompiled};
use tepui_model::program::flow::Flow;

/// The steps of single threads.
pub(super) struct Steps<'p> {
    pub(super) program: &'p Program,
    pub(super) flows: Vec<Flow>,
    pub(super) shared: Layout,
    pub(super) locals: Vec<Layout>,
    /// Whether frames are told when a procedure that they called returns, even if it returns nothing.
    always_tell: bool,
    pub(super) kept: Kept,
    /// For each procedure the positions at which threads rest for want of another place.
    pub(super) rests: Vec<Vec<bool>>,
    pub(super) options: Options,
    /// Whether to stop.
    pub(super) stop: &'p dyn Fn() -> bool,
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
    pub(super) fn new(program: &'p Program, options: Options, stop: &'p dyn Fn() -> bool) -> Result<Self, Uncompiled> {
        let too_many = |place: &str| {
            Uncompiled::Unsupported(format!("the variables {place} take more than {} bits", Values::BITS))
        };
        let shared = Layout::of(program, program.shared.iter().map(|variable| variable.kind));
        let locals = program.procedures.iter().map(|procedure| {
            let layout = Layout::of(program, procedure.locals.iter().map(|variable| variable.kind));
            layout.ok_or_else(|| too_many(&format!("of {}", procedure.name)))
        });
        let locals: Vec<_> = locals.collect::<Result<_, _>>()?;
        let shared = shared.ok_or_else(|| too_many("that are shared"))?;
        let results = program.procedures.iter().map(|procedure| Layout::of(program, procedure.results.iter().copied()));
        if results.into_iter().any(|layout| layout.is_none()) {
            return Err(too_many("that a procedure returns"));
        }
        let statements = || program.procedures.iter().flat_map(|procedure| &procedure.statements);
        let tells = |action: &Action| matches!(action, Action::AtomicBegin | Action::AtomicEnd | Action::EndThread);
        let always_tell = statements().any(|statement| tells(&statement.action))
            || program.procedures.iter().any(|procedure| procedure.enforced.is_some());
        let flows: Vec<_> = program.procedures.iter().map(Flow::of).collect();
        let kept = match options.reduce {
            true => Kept::what_matters(program, &flows, &shared, &locals, options.keep_dead),
            false => Kept::all(program),
        };
        let rests =
            program.procedures.iter().zip(&flows).zip(held_up(program, &flows)).map(|((procedure, flow), held_up)| {
                let untold = |call: usize| {
                    let Action::Call { procedure: called, .. } = &procedure.statements[call].action else {
                        return false;
                    };
                    let inside = flow.atomics(call).next().is_some();
                    !always_tell && !inside && program.procedures[*called].results.is_empty()
                };
                resting(procedure, flow, &held_up, &untold)
            });
        let rests = rests.collect();
        let steps = Self { program, flows, shared, locals, always_tell, kept, rests, options, stop };
        steps.require_few_choices().map(|()| steps)
    }

    /// Refuses programs with a step that leads to very many states, one for each way to choose values.
    fn require_few_choices(&self) -> Result<(), Uncompiled> {
        const MOST: u64 = 1 << 18;
        let values = |kind: Kind| u64::from(self.program.values(kind));
        let refuse = |what: String| Err(Uncompiled::Unsupported(format!("{what} in more than {MOST} ways")));
        let free = |layout: &Layout, kept: Values, variables: &[Variable], given: usize| {
            let chosen = variables.iter().enumerate().skip(given).filter(|(number, variable)| {
                variable.init.is_none() && layout.mask(std::iter::once(*number)) & kept != 0
            });
            chosen.fold(1_u64, |product, (_, variable)| product.saturating_mul(values(variable.kind)))
        };
        if free(&self.shared, self.kept.shared, &self.program.shared, 0) > MOST {
            return refuse("the shared variables may start".to_owned());
        }
        for (number, procedure) in self.program.procedures.iter().enumerate() {
            let entry = procedure.body.first().copied().unwrap_or(procedure.statements.len());
            let kept = self.kept.at[number][entry];
            if free(&self.locals[number], kept, &procedure.locals, procedure.parameters) > MOST {
                return refuse(format!("the variables of {} may start", procedure.name));
            }
            for statement in &procedure.statements {
                let choices = |expressions: &[Expression]| {
                    expressions.iter().map(|expression| outcomes(self.program, expression)).fold(1, u64::saturating_mul)
                };
                let ways = match &statement.action {
                    Action::Assign { values, .. } | Action::Return(values) => choices(values),
                    Action::Call { arguments, .. } | Action::Start { arguments, .. } => choices(arguments),
                    Action::Dead(slots) => {
                        let kinds = slots.iter().map(|&slot| values(self.program.variable(number, slot).kind));
                        kinds.fold(1, u64::saturating_mul)
                    }
                    _ => 1,
                };
                if ways > MOST {
                    return refuse(format!("line {} can be executed", statement.line));
                }
            }
        }
        Ok(())
    }

    pub(super) fn action(&self, point: &Point) -> Option<&'p Action> {
        let statements = &self.program.procedures[point.procedure as usize].statements;
        statements.get(point.position as usize).map(|statement| &statement.action)
    }

    /// The line of the statement at which a point stands; at the end that of the procedure's last one.
    pub(super) fn line(&self, point: &Point) -> u32 {
        let procedure = &self.program.procedures[point.procedure as usize];
        let statement = procedure.statements.get(point.position as usize).or(procedure.statements.last());
        statement.map_or(procedure.line, |statement| statement.line)
    }

    /// The statement to execute at a position: an atomic block is entered with its first one, if it has one.
    pub(super) fn first_of(&self, procedure: usize, position: usize) -> usize {
        match self.program.procedures[procedure].statements.get(position).map(|statement| &statement.action) {
            Some(Action::Atomic(block)) if !block.is_empty() => self.first_of(procedure, block[0]),
            _ => position,
        }
    }

    /// Whether a thread at a point stands at a position: there, at an atomic block that begins there, or at the statement
    /// that it executes next.
    pub(super) fn stands(&self, point: &Point, position: usize) -> bool {
        let (procedure, mut at) = (point.procedure as usize, point.position as usize);
        let statements = &self.program.procedures[procedure].statements;
        while at != position {
            let Some(Action::Atomic(block)) = statements.get(at).map(|statement| &statement.action) else {
                return false;
            };
            let Some(&first) = block.first() else { return false };
            at = first;
        }
        true
    }

    /// Whether an assertion about local variables may fail at a point.
    pub(super) fn fails_at(&self, condition: &Expression, point: &Point) -> bool {
        let scope = Scope { procedure: point.procedure as usize, shared: 0, locals: point.locals, new: (0, 0) };
        self.values(condition, &scope).contains(&0)
    }

    /// The first points of a thread that runs a procedure.
    pub(super) fn first(&self, procedure: usize, arguments: &[u32]) -> Vec<Point> {
        self.entered(procedure, arguments, true, false, false)
    }

    /// The first points of a procedure.
    fn entered(&self, procedure: usize, arguments: &[u32], root: bool, under: bool, insists: bool) -> Vec<Point> {
        let called = &self.program.procedures[procedure];
        let position = called.body.first().copied().unwrap_or(called.statements.len()) as u32;
        let kept = self.kept.at[procedure][position as usize];
        let given = arguments.iter().map(|&value| Some(value)).chain(std::iter::repeat(None));
        let variables = called.locals.iter().zip(given).enumerate().map(|(number, (variable, given))| {
            let forgotten = self.locals[procedure].mask(std::iter::once(number)) & kept == 0;
            (variable.kind, given.or(variable.init).or(forgotten.then_some(0)))
        });
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

    /// The steps that a thread can take whose topmost frame is given.
    pub(super) fn steps(&self, (shared, mode): Change, point: Point) -> Vec<(Change, Effect)> {
        let mut found = Vec::new();
        match (mode, point.stage) {
            (Mode::Begin, _) => {
                let variables = self.program.shared.iter().enumerate().map(|(number, variable)| {
                    let forgotten = self.shared.mask(std::iter::once(number)) & self.kept.shared == 0;
                    (variable.kind, variable.init.or(forgotten.then_some(0)))
                });
                let all = self.shared.all(self.program, variables).into_iter();
                found.extend(all.map(|shared| ((shared, Mode::Calm), Effect::Become(point))));
            }
            (Mode::Calm, Stage::Begin) => {
                let arguments = self.arguments(&point);
                let first = self.first(point.procedure as usize, &arguments).into_iter();
                let first = first.map(|first| Point { position: point.position, ..first });
                found.extend(first.map(|first| ((shared, Mode::Calm), Effect::Become(first))));
            }
            (Mode::Returned(results, insists), Stage::Calling) => {
                self.take_results((shared, point), results, insists, &mut found);
            }
            (Mode::Ending, Stage::Calling) => {
                let mode = if point.root { Mode::Calm } else { Mode::Ending };
                found.push(((shared, mode), Effect::Leave));
            }
            (Mode::Waking(_), Stage::Asleep) => {
                let awake = Point { stage: Stage::Running, ..point };
                let points = self.run_on((shared, Mode::Calm), awake).into_iter();
                found.extend(points.map(|(_, point)| ((shared, mode), Effect::Become(point))));
            }
            (Mode::Waking(atomic), Stage::Waking) => {
                let mode = if atomic { Mode::Atomic } else { Mode::Calm };
                found.push(((shared, mode), Effect::Become(Point { stage: Stage::Running, ..point })));
            }
            (Mode::Calm, Stage::Running) if !uninterrupted(&point) => self.execute(shared, point, &mut found),
            (Mode::Atomic, Stage::Running) if uninterrupted(&point) => self.execute(shared, point, &mut found),
            _ => {}
        }
        self.after_local_steps(found)
    }

    /// The values of the parameters.
    fn arguments(&self, point: &Point) -> Vec<u32> {
        let procedure = point.procedure as usize;
        let parameters = 0..self.program.procedures[procedure].parameters;
        parameters.map(|number| self.locals[procedure].get(point.locals, number)).collect()
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
        self.go(shared, point, self.flows[procedure].next[call], found);
    }

    /// A thread goes on at a position of the same procedure, after it has executed a statement.
    fn go(&self, shared: Values, point: Point, to: usize, found: &mut Vec<(Change, Effect)>) {
        let within = self.flows[point.procedure as usize].atomics(to).next().is_some();
        let point = Point { position: to as u32, within, ..point };
        if self.enforced(&point, shared) {
            found.push(((shared, mode_of(&point)), Effect::Become(point)));
        }
    }

    pub(super) fn execute(&self, shared: Values, point: Point, found: &mut Vec<(Change, Effect)>) {
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
            Action::Skip => self.go(shared, point, next, found),
            Action::Goto(targets) => targets.iter().for_each(|&to| self.go(shared, point, to, found)),
            Action::Assign { targets, values, constraint } => {
                for values in self.all_values(values, &scope) {
                    let new = self.store(&scope, targets, &values);
                    let holds = |constraint| self.values(constraint, &Scope { new, ..scope }).contains(&1);
                    if constraint.as_ref().is_none_or(holds) {
                        self.go(new.0, Point { locals: new.1, ..point }, next, found);
                    }
                }
            }
            Action::Assume(condition) | Action::Wait(condition) => {
                if may(condition, 1) {
                    self.go(shared, point, next, found);
                }
            }
            Action::Assert(condition) => {
                if may(condition, 1) {
                    self.go(shared, point, next, found);
                }
                if may(condition, 0) {
                    let failed = Point { position: position as u32, locals: 0, stage: Stage::Failed, ..point };
                    found.push(((shared, mode_of(&point)), Effect::Become(failed)));
                }
            }
            Action::If(condition, then, otherwise) => {
                if may(condition, 1) {
                    self.go(shared, point, first(then, next), found);
                }
                if may(condition, 0) {
                    self.go(shared, point, first(otherwise, next), found);
                }
            }
            Action::While(condition, body) => {
                if may(condition, 1) {
                    self.go(shared, point, first(body, position), found);
                }
                if may(condition, 0) {
                    self.go(shared, point, next, found);
                }
            }
            Action::Atomic(_) => self.go(shared, point, next, found), // It is empty.
            Action::AtomicBegin | Action::AtomicEnd => {
                let insists = matches!(action, Action::AtomicBegin);
                self.go(shared, Point { insists, ..point }, next, found);
            }
            Action::Lock(slot) => {
                if self.read(*slot, procedure, shared, point.locals) == 0 {
                    let (shared, locals) = self.store(&scope, &[Some(*slot)], &[1]);
                    self.go(shared, Point { locals, ..point }, next, found);
                }
            }
            Action::Unlock(slot) => {
                let (shared, locals) = self.store(&scope, &[Some(*slot)], &[0]);
                self.go(shared, Point { locals, ..point }, next, found);
            }
            Action::Call { procedure: called, arguments, .. } => {
                let under = point.under || flow.atomics(position).next().is_some();
                let told = self.is_told(*called, under);
                let caller = match told {
                    true => {
                        let flags = Point { within: false, insists: false, ..point };
                        Point { position: position as u32, stage: Stage::Calling, ..flags }
                    }
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
                    if let Some(&first) = self.first(*started, &arguments).first() {
                        self.start((shared, point), next, (first, true), *count, found);
                    }
                }
            }
            Action::StartAt(to) => {
                let flags = Point { root: true, under: false, within: false, insists: false, ..point };
                let first = Point { position: *to as u32, ..flags };
                self.start((shared, point), next, (first, false), 1, found);
            }
            Action::EndThread if point.root => found.push(((shared, Mode::Calm), Effect::Leave)),
            Action::EndThread => found.push(((shared, Mode::Ending), Effect::Leave)),
            Action::Sleep => {
                let first = found.len();
                self.go(shared, point, next, found);
                found[first..].iter_mut().for_each(|(_, effect)| set_stage(effect, Stage::Asleep));
            }
            Action::Broadcast => {
                let first = found.len();
                self.go(shared, point, next, found);
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
                    self.go(shared, Point { locals, ..point }, next, found);
                }
            }
        }
    }

    /// For each procedure and position of a call whose results nobody stores, where it goes on.
    pub(super) fn going_on(&self) -> Vec<Vec<Option<usize>>> {
        let procedures = self.program.procedures.iter().zip(&self.flows);
        let next = |action: &Action, next: usize| match action {
            Action::Call { targets, .. } if targets.iter().all(Option::is_none) => Some(next),
            _ => None,
        };
        let each = procedures.map(|(procedure, flow)| {
            procedure
                .statements
                .iter()
                .zip(&flow.next)
                .map(|(statement, &after)| next(&statement.action, after))
                .collect()
        });
        each.collect()
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
        next: usize,
        (first, fresh): (Point, bool),
        count: u32,
        found: &mut Vec<(Change, Effect)>,
    ) {
        let before = found.len();
        self.go(shared, point, next, found);
        for ((_, mode), _) in &mut found[before..] {
            *mode = Mode::Starting { first, fresh, count, atomic: *mode == Mode::Atomic };
        }
    }

    /// What a thread without frames can do: it becomes one that is to be started.
    pub(super) fn awaken(&self, (shared, mode): Change) -> Vec<(Change, Point)> {
        let Mode::Starting { first, fresh, count, atomic } = mode else { return Vec::new() };
        let points = match fresh {
            true => self.first(first.procedure as usize, &self.arguments(&first)),
            false => vec![first],
        };
        let mode = match count {
            1 if atomic => Mode::Atomic,
            1 => Mode::Calm,
            _ => Mode::Starting { first, fresh, count: count - 1, atomic },
        };
        let points = points.into_iter().flat_map(|point| self.run_on((shared, Mode::Calm), point));
        points.map(|(_, point)| ((shared, mode), point)).collect()
    }

    /// Whether a frame that waits has no use for anything that a procedure may return.
    pub(super) fn refuses(&self, shared: Values, callee: Point, waiting: Point) -> bool {
        let mut returned = Vec::new();
        self.execute(shared, callee, &mut returned);
        returned.into_iter().all(|((shared, mode), _)| {
            let mut found = Vec::new();
            if let Mode::Returned(results, insists) = mode {
                self.take_results((shared, waiting), results, insists, &mut found);
            }
            found.is_empty()
        })
    }
}

/// At most how many values an expression may have.
fn outcomes(program: &Program, expression: &Expression) -> u64 {
    let of = |expression: &Expression| outcomes(program, expression);
    match expression {
        Expression::Value(..) | Expression::Read(_) | Expression::New(_) => 1,
        Expression::Any(kind) => u64::from(program.values(*kind)),
        Expression::Not(operand) => of(operand),
        Expression::Binary(_, left, right) => of(left).max(of(right)).min(2),
        Expression::Choose(..) => 2,
        Expression::Choice(condition, then, otherwise) => match of(condition) {
            1 => of(then).max(of(otherwise)),
            _ => of(then) + of(otherwise),
        },
    }
}

/// Whether no other thread may move while this frame is on top of its thread.
pub(super) fn uninterrupted(point: &Point) -> bool {
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
