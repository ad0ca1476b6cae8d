//! What a program does, step by step.
//!
//! This interpreter is made to be obviously right, not to be fast: it walks through the statements as they are written.
//! What the compiler makes of a program is compared with it, and traces are replayed on it.
//!
//! * A thread stands at a statement. Executing it is one step; for `if` and `while` that is the evaluation of the
//!   condition. Reaching the end of a procedure and returning from there is one more.
//! * A step that cannot be taken, since a condition does not hold, a lock is taken or no value satisfies a constraint,
//!   is not there; the thread is blocked until others change that.
//! * `*` is any value; every value leads to a step of its own.
//! * An atomic block is entered with its first step: that, too, may be blocked while others go on. From then on until
//!   control leaves the block no other thread moves, even if the thread is blocked inside.
//! * A thread that returns from its first procedure has ended.

use super::{Action, Block, Expression, Kind, Operator, Place, Program, Slot};

/// A state: everything that the future depends on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// The values of the shared variables.
    pub shared: Vec<u32>,
    /// The threads, in the order in which they were started.
    pub threads: Vec<Thread>,
    /// The thread that no other may interrupt.
    pub atomic: Option<usize>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Thread {
    /// The procedures that it is in, the last one called at the end. None, if it has ended.
    pub frames: Vec<Frame>,
    /// Whether it sleeps until a broadcast.
    pub asleep: bool,
    /// Whether it is between the beginning and the end of an atomic section.
    pub insists: bool,
}

/// A procedure under execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame {
    /// The procedure.
    pub procedure: usize,
    /// The statement at which it stands.
    pub position: usize,
    /// The values of the local variables.
    pub locals: Vec<u32>,
}

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The statement that was executed: the procedure and the position.
    pub at: (usize, usize),
    /// Whether an assertion failed. Then nothing changed.
    pub failed: bool,
    /// The state afterwards.
    pub after: State,
}

/// A program with what is needed to run it.
pub struct Runner<'p> {
    program: &'p Program,
    /// For each procedure and statement the one that follows when it is done, and the outermost atomic block around it.
    surroundings: Vec<Vec<(usize, Option<usize>)>>,
}

impl<'p> Runner<'p> {
    /// Gets ready to run a program.
    pub fn new(program: &'p Program) -> Self {
        let surroundings = program.procedures.iter().map(|procedure| {
            let end = procedure.statements.len();
            let mut found = vec![(end, None); end + 1];
            let mut blocks: Vec<(&Block, usize, Option<usize>)> = vec![(&procedure.body, end, None)];
            while let Some((block, after, atomic)) = blocks.pop() {
                for (index, &position) in block.iter().enumerate() {
                    let next = block.get(index + 1).copied().unwrap_or(after);
                    found[position] = (next, atomic);
                    match &procedure.statements[position].action {
                        Action::If(_, then, otherwise) => {
                            blocks.extend([(then, next, atomic), (otherwise, next, atomic)]);
                        }
                        Action::While(_, body) => blocks.push((body, position, atomic)),
                        Action::Atomic(body) => blocks.push((body, next, atomic.or(Some(position)))),
                        _ => {}
                    }
                }
            }
            found
        });
        Self { program, surroundings: surroundings.collect() }
    }

    /// The states in which the program may start.
    pub fn initial(&self) -> Vec<State> {
        let shared = self.any_of(self.program.shared.iter().map(|variable| (variable.kind, variable.init)));
        let frames = self.entered(self.program.main, &[]);
        let pairs = shared.iter().flat_map(|shared| frames.iter().map(move |frame| (shared, frame)));
        let start = |(shared, frame): (&Vec<u32>, &Frame)| {
            let thread = Thread { frames: vec![frame.clone()], ..Thread::default() };
            State { shared: shared.clone(), threads: vec![thread], atomic: None }
        };
        pairs.map(start).collect()
    }

    /// All steps that a thread can take.
    pub fn steps(&self, state: &State, thread: usize) -> Vec<Step> {
        let busy = state.atomic.is_some_and(|holder| holder != thread);
        let Some(frame) = state.threads[thread].frames.last().filter(|_| !busy && !state.threads[thread].asleep) else {
            return Vec::new();
        };
        let at = (frame.procedure, self.first_of(frame.procedure, frame.position));
        if !self.enforced(state, thread) {
            return Vec::new();
        }
        let mut steps = Vec::new();
        self.execute(state, thread, at, &mut |failed, after| steps.push(Step { at, failed, after }));
        steps.retain(|step| step.after.threads[thread].frames.is_empty() || self.enforced(&step.after, thread));
        steps.dedup();
        steps
    }

    /// The labels, of those that must not be reached, at which a thread stands.
    pub fn reached(&self, state: &State) -> Vec<usize> {
        let stands = |target: &super::Target| {
            let tops = state.threads.iter().filter_map(|thread| thread.frames.last());
            tops.into_iter().any(|frame| {
                let position = self.first_of(frame.procedure, frame.position);
                frame.procedure == target.procedure
                    && (frame.position == target.position || position == target.position)
            })
        };
        (0..).zip(&self.program.unreachable).filter(|(_, target)| stands(target)).map(|(index, _)| index).collect()
    }

    /// Whether some thread has not ended and none can take a step.
    pub fn stuck(&self, state: &State) -> bool {
        state.threads.iter().any(|thread| !thread.frames.is_empty())
            && (0..state.threads.len()).all(|thread| self.steps(state, thread).is_empty())
    }

    /// The position at which a procedure goes on when the statement at one is done.
    pub fn following(&self, procedure: usize, position: usize) -> usize {
        self.surroundings[procedure][position].0
    }

    /// The statement to execute at a position: an atomic block is entered with its first statement.
    pub fn first_of(&self, procedure: usize, position: usize) -> usize {
        match self.program.procedures[procedure].statements.get(position).map(|statement| &statement.action) {
            Some(Action::Atomic(block)) => {
                let next = block.first().copied().unwrap_or(self.surroundings[procedure][position].0);
                self.first_of(procedure, next)
            }
            _ => position,
        }
    }

    fn enforced(&self, state: &State, thread: usize) -> bool {
        let Some(frame) = state.threads[thread].frames.last() else { return true };
        match &self.program.procedures[frame.procedure].enforced {
            Some(condition) => self.values(condition, &Scope::of(state, frame)).contains(&1),
            None => true,
        }
    }

    fn execute(&self, state: &State, thread: usize, at: (usize, usize), found: &mut dyn FnMut(bool, State)) {
        let (procedure, position) = at;
        let Some(frame) = state.threads[thread].frames.last() else { return };
        let scope = Scope::of(state, frame);
        let next = self.surroundings[procedure][position].0;
        let go = |mut after: State, to: usize| {
            if let Some(frame) = after.threads[thread].frames.last_mut() {
                frame.position = to;
            }
            self.settle_atomic(&mut after, thread, Some((position, to)));
            after
        };
        let holds = |condition: &Expression| self.values(condition, &scope).contains(&1);
        let fails = |condition: &Expression| self.values(condition, &scope).contains(&0);
        let Some(statement) = self.program.procedures[procedure].statements.get(position) else {
            return self.leave(state, thread, &[], found);
        };
        match &statement.action {
            Action::Skip => found(false, go(state.clone(), next)),
            Action::Goto(targets) => targets.iter().for_each(|&to| found(false, go(state.clone(), to))),
            Action::Assign { targets, values, constraint } => {
                let values: Vec<_> = values.iter().map(|value| self.values(value, &scope)).collect();
                for values in product(&values) {
                    let mut after = state.clone();
                    store(&mut after, thread, targets, &values);
                    let satisfied = constraint.as_ref().is_none_or(|constraint| {
                        let new = after.threads[thread].frames.last().map(|frame| (&after.shared, &frame.locals));
                        self.values(constraint, &Scope { new, ..scope }).contains(&1)
                    });
                    if satisfied {
                        found(false, go(after, next));
                    }
                }
            }
            Action::Assume(condition) | Action::Wait(condition) => {
                if holds(condition) {
                    found(false, go(state.clone(), next));
                }
            }
            Action::Assert(condition) => {
                if holds(condition) {
                    found(false, go(state.clone(), next));
                }
                if fails(condition) {
                    found(true, state.clone());
                }
            }
            Action::If(condition, then, otherwise) => {
                let branch = |block: &Block| go(state.clone(), block.first().copied().unwrap_or(next));
                if holds(condition) {
                    found(false, branch(then));
                }
                if fails(condition) {
                    found(false, branch(otherwise));
                }
            }
            Action::While(condition, body) => {
                if holds(condition) {
                    found(false, go(state.clone(), body.first().copied().unwrap_or(position)));
                }
                if fails(condition) {
                    found(false, go(state.clone(), next));
                }
            }
            Action::Atomic(_) => {} // Its first statement stands for it.
            Action::AtomicBegin | Action::AtomicEnd => {
                let mut after = state.clone();
                after.threads[thread].insists = statement.action == Action::AtomicBegin;
                found(false, go(after, next));
            }
            Action::Lock(slot) => {
                if scope.read(*slot) == 0 {
                    let mut after = state.clone();
                    store(&mut after, thread, &[Some(*slot)], &[1]);
                    found(false, go(after, next));
                }
            }
            Action::Unlock(slot) => {
                let mut after = state.clone();
                store(&mut after, thread, &[Some(*slot)], &[0]);
                found(false, go(after, next));
            }
            Action::Call { procedure, arguments, .. } => {
                let arguments: Vec<_> = arguments.iter().map(|value| self.values(value, &scope)).collect();
                for arguments in product(&arguments) {
                    for frame in self.entered(*procedure, &arguments) {
                        let mut after = state.clone();
                        after.threads[thread].frames.push(frame);
                        self.settle_atomic(&mut after, thread, None);
                        found(false, after);
                    }
                }
            }
            Action::Return(values) => {
                let values: Vec<_> = values.iter().map(|value| self.values(value, &scope)).collect();
                product(&values).iter().for_each(|values| self.leave(state, thread, values, found));
            }
            Action::Start { procedure, arguments, count } => {
                let arguments: Vec<_> = arguments.iter().map(|value| self.values(value, &scope)).collect();
                for arguments in product(&arguments) {
                    let choices = vec![self.entered(*procedure, &arguments); *count as usize];
                    for frames in product(&choices) {
                        let mut after = state.clone();
                        let threads =
                            frames.into_iter().map(|frame| Thread { frames: vec![frame], ..Thread::default() });
                        after.threads.extend(threads);
                        found(false, go(after, next));
                    }
                }
            }
            Action::StartAt(to) => {
                let mut after = state.clone();
                let frame = Frame { position: *to, ..frame.clone() };
                after.threads.push(Thread { frames: vec![frame], ..Thread::default() });
                found(false, go(after, next));
            }
            Action::EndThread => {
                let mut after = state.clone();
                after.threads[thread] = Thread::default();
                self.settle_atomic(&mut after, thread, None);
                found(false, after);
            }
            Action::Sleep => {
                let mut after = go(state.clone(), next);
                after.threads[thread].asleep = true;
                found(false, after);
            }
            Action::Broadcast => {
                let mut after = go(state.clone(), next);
                after.threads.iter_mut().for_each(|thread| thread.asleep = false);
                found(false, after);
            }
            Action::Dead(slots) => {
                let kinds = slots.iter().map(|&slot| (self.program.variable(procedure, slot).kind, None));
                let targets: Vec<_> = slots.iter().map(|&slot| Some(slot)).collect();
                for values in self.any_of(kinds) {
                    let mut after = state.clone();
                    store(&mut after, thread, &targets, &values);
                    found(false, go(after, next));
                }
            }
        }
    }

    /// Returns from a procedure with some results.
    fn leave(&self, state: &State, thread: usize, results: &[u32], found: &mut dyn FnMut(bool, State)) {
        let mut after = state.clone();
        after.threads[thread].frames.pop();
        let Some(caller) = after.threads[thread].frames.last().cloned() else {
            after.threads[thread] = Thread::default();
            self.settle_atomic(&mut after, thread, None);
            return found(false, after);
        };
        let call = self.first_of(caller.procedure, caller.position);
        if let Action::Call { targets, .. } = &self.program.procedures[caller.procedure].statements[call].action {
            store(&mut after, thread, targets, results);
        }
        let to = self.surroundings[caller.procedure][call].0;
        if let Some(frame) = after.threads[thread].frames.last_mut() {
            frame.position = to;
        }
        self.settle_atomic(&mut after, thread, Some((call, to)));
        found(false, after);
    }

    /// Finds out whether a thread that has just moved may be interrupted. It stays uninterrupted if it went from one
    /// statement of an atomic block to another, or has called a procedure from one.
    fn settle_atomic(&self, state: &mut State, thread: usize, moved: Option<(usize, usize)>) {
        let Thread { frames, insists, .. } = &state.threads[thread];
        let atomic = |frame: &Frame, position: usize| self.surroundings[frame.procedure][position].1;
        let calls = frames.iter().rev().skip(1);
        let mut waiting = calls.map(|frame| (frame, self.first_of(frame.procedure, frame.position)));
        let within = waiting.any(|(frame, call)| atomic(frame, call).is_some())
            || frames.last().zip(moved).is_some_and(|(frame, (from, to))| {
                atomic(frame, from).is_some() && atomic(frame, from) == atomic(frame, to)
            });
        state.atomic = (*insists || within).then_some(thread);
    }

    /// The frames of a procedure that is entered with some arguments.
    fn entered(&self, procedure: usize, arguments: &[u32]) -> Vec<Frame> {
        let Some(called) = self.program.procedures.get(procedure) else { return Vec::new() };
        let given = arguments.iter().map(|&value| Some(value)).chain(std::iter::repeat(None));
        let locals = called.locals.iter().zip(given);
        let locals = locals.map(|(variable, given)| (variable.kind, given.or(variable.init)));
        let position = called.body.first().copied().unwrap_or(called.statements.len());
        self.any_of(locals).into_iter().map(|locals| Frame { procedure, position, locals }).collect()
    }

    /// All ways to give values to variables, some of which are fixed.
    fn any_of(&self, variables: impl Iterator<Item = (Kind, Option<u32>)>) -> Vec<Vec<u32>> {
        let choices = variables.map(|(kind, fixed)| match fixed {
            Some(value) => vec![value],
            None => (0..self.program.values(kind)).collect(),
        });
        product(&choices.collect::<Vec<_>>())
    }

    /// The values that an expression may have.
    fn values(&self, expression: &Expression, scope: &Scope<'_>) -> Vec<u32> {
        let values = |expression: &Expression| self.values(expression, scope);
        let mut found: Vec<u32> = match expression {
            Expression::Value(value, _) => vec![*value],
            Expression::Any(kind) => (0..self.program.values(*kind)).collect(),
            Expression::Read(slot) => vec![scope.read(*slot)],
            Expression::New(slot) => vec![scope.read_new(*slot)],
            Expression::Not(operand) => values(operand).into_iter().map(|value| 1 - value).collect(),
            Expression::Binary(operator, left, right) => {
                let pairs = product(&[values(left), values(right)]);
                pairs.into_iter().map(|pair| u32::from(apply(*operator, pair[0], pair[1]))).collect()
            }
            Expression::Choice(condition, then, otherwise) => {
                let branches = values(condition).into_iter().map(|value| if value == 1 { then } else { otherwise });
                branches.flat_map(|branch| values(branch)).collect()
            }
            Expression::Choose(positive, negative) => {
                let pairs = product(&[values(positive), values(negative)]);
                let choose = |pair: Vec<u32>| match (pair[0], pair[1]) {
                    (1, _) => vec![1],
                    (_, 1) => vec![0],
                    _ => vec![0, 1],
                };
                pairs.into_iter().flat_map(choose).collect()
            }
        };
        found.sort_unstable();
        found.dedup();
        found
    }
}

fn apply(operator: Operator, left: u32, right: u32) -> bool {
    match operator {
        Operator::And => left == 1 && right == 1,
        Operator::Or => left == 1 || right == 1,
        Operator::Xor | Operator::Unequal => left != right,
        Operator::Implies => left == 0 || right == 1,
        Operator::Equal => left == right,
    }
}

/// Where variables have their values.
#[derive(Clone, Copy)]
struct Scope<'s> {
    shared: &'s Vec<u32>,
    locals: &'s Vec<u32>,
    new: Option<(&'s Vec<u32>, &'s Vec<u32>)>,
}

impl<'s> Scope<'s> {
    fn of(state: &'s State, frame: &'s Frame) -> Self {
        Self { shared: &state.shared, locals: &frame.locals, new: None }
    }

    fn read(&self, slot: Slot) -> u32 {
        match slot {
            Slot::Shared(number) => self.shared[number],
            Slot::Local(number) => self.locals[number],
        }
    }

    fn read_new(&self, slot: Slot) -> u32 {
        let (shared, locals) = self.new.unwrap_or((self.shared, self.locals));
        Scope { shared, locals, new: None }.read(slot)
    }
}

/// Stores values in the topmost procedure of a thread.
fn store(state: &mut State, thread: usize, targets: &[Place], values: &[u32]) {
    for (target, &value) in targets.iter().zip(values) {
        match target {
            Some(Slot::Shared(number)) => state.shared[*number] = value,
            Some(Slot::Local(number)) => {
                if let Some(frame) = state.threads[thread].frames.last_mut() {
                    frame.locals[*number] = value;
                }
            }
            None => {}
        }
    }
}

/// All ways to take one item from each list.
fn product<T: Clone>(choices: &[Vec<T>]) -> Vec<Vec<T>> {
    choices.iter().fold(vec![Vec::new()], |rows, choices| {
        let extend = |row: &Vec<T>| {
            let row = row.clone();
            choices
                .iter()
                .map(move |choice| row.iter().cloned().chain([choice.clone()]).collect::<Vec<T>>())
                .collect::<Vec<_>>()
        };
        rows.iter().flat_map(extend).collect()
    })
}
