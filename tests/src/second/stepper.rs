//! The steps of a thread: what they store, where they lead, and what they violate.
//!
//! All that a statement reads is evaluated first; then an index that is outside violates a property, then a value that
//! is out of the range of the place where it goes, and only then the constraint is looked at and all is stored. A
//! violation is no step: nothing comes after it.

use std::collections::BTreeSet;

use super::explore::{Bed, Explorer, Frame, Group, Pending, Thread, joined};
use super::kinds::{Kind, Value, choices};
use super::position::{advance, round, settle, statement};
use super::program::{Block, Path, Place, Slot, Statement, Step, Term};
use super::tree::Operation;
use super::values::{Outside, Values, paths, possible};

/// Whom a step wakes.
pub(super) enum Wakes {
    Nobody,
    /// All that sleep there.
    All(Bed),
    /// One of them, if there is one.
    One(Bed),
}

/// A step of a thread: what it becomes, which threads it adds, and what it does to the rest.
pub(super) struct Move {
    pub(super) shared: Vec<Value>,
    pub(super) thread: Thread,
    pub(super) added: Vec<Thread>,
    pub(super) wakes: Wakes,
    pub(super) labels: Vec<String>,
}

/// Something that is possible, or an index that is outside.
type Chosen<T> = Result<T, Outside>;

/// A thread at a statement.
pub(super) struct Stepper<'a, 'b> {
    explorer: &'b Explorer<'a>,
    thread: &'b Thread,
    shared: &'b [Value],
    top: &'b Frame,
    values: Values<'b>,
    steps: Vec<Move>,
    violated: BTreeSet<String>,
}

impl<'a, 'b> Stepper<'a, 'b> {
    /// For a thread that has entered the blocks that begin where it stands.
    pub(super) fn new(explorer: &'b Explorer<'a>, thread: &'b Thread, shared: &'b [Value]) -> Self {
        let top = &thread.frames[thread.frames.len() - 1];
        let values = Values { shared, locals: &top.locals };
        Self { explorer, thread, shared, top, values, steps: Vec::new(), violated: BTreeSet::new() }
    }

    /// All steps, whatever is enforced, and the names of the properties that are violated.
    pub(super) fn run(mut self) -> (Vec<Move>, BTreeSet<String>) {
        let body = self.body(self.top);
        match (statement(body, &self.top.path), round(body, &self.top.path)) {
            (Some(statement), _) => self.execute(statement),
            (None, Some(Statement { step: Step::For(slot, values, _), .. })) => self.next_round(*slot, values),
            (None, _) => {
                let results = &self.explorer.program.procedures[self.top.procedure].results;
                let any: Vec<_> = results.iter().map(|kind| kind.all().unwrap_or_default()).collect();
                self.leave(&choices(&any));
            }
        }
        (self.steps, self.violated)
    }

    fn body(&self, frame: &Frame) -> &'a Block {
        &self.explorer.program.procedures[frame.procedure].body
    }

    fn execute(&mut self, statement: &'a Statement) {
        let number = statement.number;
        match &statement.step {
            Step::Change { targets, values, constraint } => {
                self.change(number, targets, values, constraint.as_ref());
            }
            Step::Operate { operation, target, place, operands } => {
                self.operate(number, *operation, target.as_ref(), place, operands);
            }
            Step::Call { callee, arguments, .. } => self.call(number, *callee, arguments),
            Step::Return(results) => {
                let results = self.known(number, results);
                self.leave(&results);
            }
            Step::If(condition, _) => self.branch(number, condition, |value| Some(1 - u16::from(value))),
            Step::While(condition, _) => self.branch(number, condition, |value| value.then_some(0)),
            Step::For(slot, values, _) => self.first_round(*slot, values),
            Step::Goto(targets) => targets.iter().for_each(|target| self.steps.push(self.jump(target))),
            Step::Assert(condition, name) => self.assert(number, condition, name),
            Step::AtomicBegin => self.with(|thread| thread.section = true),
            Step::AtomicEnd => self.with(|thread| thread.section = false),
            Step::Sleep(None) => self.with(|thread| thread.sleeps = Some(None)),
            Step::Sleep(Some((on, lock))) => self.sleep(number, on, lock),
            Step::Broadcast(None) => self.steps.push(Move { wakes: Wakes::All(None), ..self.forward() }),
            Step::Broadcast(Some(on)) => self.wake(number, on, Wakes::All),
            Step::Signal(on) => self.wake(number, on, Wakes::One),
            Step::Start { callee, arguments, count } => self.start(number, *callee, arguments, *count),
            Step::StartAt(target) => self.start_at(target),
            Step::Yield if self.runs() => self.yields(),
            Step::Yield => self.with(|thread| thread.pending = None),
            Step::Wait(condition) => self.wait(number, condition),
            Step::Exit => self.steps.push(self.ended(self.thread.frames.len())),
            // The others were entered, so that something in them comes next.
            Step::Atomic(_) => self.steps.push(self.forward()),
        }
    }

    /// Notes that an index of a statement is outside.
    fn outside(&mut self, number: usize) {
        let doubts = self.explorer.program.doubts.get(&number);
        let name = doubts.and_then(|doubts| doubts.index.clone());
        self.violated.insert(name.unwrap_or_else(|| format!("index of statement {number}, which was not in doubt")));
    }

    /// Whether values fit their places; if not, that is noted.
    fn fits<'v>(&mut self, number: usize, mut stored: impl Iterator<Item = (&'v Value, &'v Kind)>) -> bool {
        let fits = stored.all(|(value, kind)| kind.holds(value));
        if !fits {
            let doubts = self.explorer.program.doubts.get(&number);
            let name = doubts.and_then(|doubts| doubts.range.clone());
            let name = name.unwrap_or_else(|| format!("range of statement {number}, which was not in doubt"));
            self.violated.insert(name);
        }
        fits
    }

    /// Each way to choose what some expressions are, if no index in them is outside.
    fn known(&mut self, number: usize, terms: &[Term]) -> Vec<Vec<Value>> {
        let sets: Vec<_> = terms.iter().map(|term| self.possible(term)).collect();
        choices(&sets).into_iter().filter_map(|chosen| self.inside(number, chosen)).collect()
    }

    fn possible(&self, term: &Term) -> Vec<Chosen<Value>> {
        possible(term, self.values, self.values).into_iter().collect()
    }

    fn inside<T>(&mut self, number: usize, chosen: Vec<Chosen<T>>) -> Option<Vec<T>> {
        let known = chosen.into_iter().collect::<Result<Vec<_>, _>>();
        if known.is_err() {
            self.outside(number);
        }
        known.ok()
    }

    /// Each way to choose where places are and what expressions are, if no index is outside.
    fn located(&mut self, number: usize, places: &[&Place], terms: &[Term]) -> Vec<(Vec<Vec<usize>>, Vec<Value>)> {
        let sets: Vec<_> = places.iter().map(|place| paths(place, self.values, self.values)).collect();
        let sets: Vec<Vec<_>> = sets.into_iter().map(|set| set.into_iter().collect()).collect();
        let terms: Vec<_> = terms.iter().map(|term| self.possible(term)).collect();
        let mut all = Vec::new();
        for places in choices(&sets) {
            let Some(places) = self.inside(number, places) else { continue };
            for values in choices(&terms) {
                let values = self.inside(number, values);
                all.extend(values.map(|values| (places.clone(), values)));
            }
        }
        all
    }

    /// A step that changes nothing but where the thread is.
    fn to(&self, to: impl FnOnce(&Block, &mut Path) -> Vec<String>) -> Move {
        let mut thread = self.thread.clone();
        let mut labels = Vec::new();
        if let Some(top) = thread.frames.last_mut() {
            labels = to(self.body(top), &mut top.path);
        }
        Move { shared: self.shared.to_vec(), thread, added: Vec::new(), wakes: Wakes::Nobody, labels }
    }

    /// On to the next statement; a task that had yielded runs again.
    fn forward(&self) -> Move {
        let mut step = self.to(advance);
        step.thread.pending = None;
        step
    }

    fn jump(&self, target: &Path) -> Move {
        self.to(|body, path| {
            path.clone_from(target);
            settle(body, path)
        })
    }

    fn with(&mut self, change: impl FnOnce(&mut Thread)) {
        let mut step = self.forward();
        change(&mut step.thread);
        self.steps.push(step);
    }

    /// Goes into one of the statement's blocks, or on, for each value of a condition.
    fn branch(&mut self, number: usize, condition: &Term, block: impl Fn(bool) -> Option<u16>) {
        for value in self.possible(condition) {
            let Ok(value) = value else {
                self.outside(number);
                continue;
            };
            let step = match block(value.number() == 1) {
                Some(branch) => self.jump(&[self.top.path.as_slice(), &[branch, 0]].concat()),
                None => self.forward(),
            };
            self.steps.push(step);
        }
    }

    fn assert(&mut self, number: usize, condition: &Term, name: &str) {
        for value in self.possible(condition) {
            match value {
                Ok(Value::Number(1)) => self.steps.push(self.forward()),
                Ok(_) => drop(self.violated.insert(name.to_owned())),
                Err(Outside) => self.outside(number),
            }
        }
    }

    /// Begins a loop with the first value; if there is none, the loop does nothing.
    fn first_round(&mut self, slot: usize, values: &[Value]) {
        let step = match values.first() {
            Some(first) => {
                let mut step = self.jump(&[self.top.path.as_slice(), &[0, 0]].concat());
                store(&mut step, Slot::Local(slot), &[], first);
                step
            }
            None => self.forward(),
        };
        self.steps.push(step);
    }

    /// Goes on with the next value of a loop, or out of it.
    fn next_round(&mut self, slot: usize, values: &[Value]) {
        let around = &self.top.path[..self.top.path.len() - 2];
        let now = values.iter().position(|value| *value == self.top.locals[slot]);
        let step = match now.and_then(|now| values.get(now + 1)) {
            Some(next) => {
                let mut step = self.jump(&[around, &[0, 0]].concat());
                store(&mut step, Slot::Local(slot), &[], next);
                step
            }
            None => self.to(|body, path| {
                path.truncate(around.len());
                advance(body, path)
            }),
        };
        self.steps.push(step);
    }

    fn change(&mut self, number: usize, targets: &[Place], terms: &[Term], constraint: Option<&Term>) {
        let places: Vec<_> = targets.iter().collect();
        for (paths, values) in self.located(number, &places, terms) {
            if !self.fits(number, values.iter().zip(targets.iter().map(|target| &target.kind))) {
                continue;
            }
            let mut step = self.forward();
            for ((target, path), value) in targets.iter().zip(&paths).zip(&values) {
                store(&mut step, target.slot, path, value);
            }
            if self.allowed(number, &step, constraint) {
                self.steps.push(step);
            }
        }
    }

    /// Whether a constraint can hold after a step.
    fn allowed(&mut self, number: usize, step: &Move, constraint: Option<&Term>) -> bool {
        let Some(constraint) = constraint else { return true };
        let locals = step.thread.frames.last().map_or(&[][..], |top| &top.locals);
        let holds = possible(constraint, self.values, Values { shared: &step.shared, locals });
        if holds.contains(&Err(Outside)) {
            self.outside(number);
        }
        holds.contains(&Ok(Value::Number(1)))
    }

    fn operate(
        &mut self,
        number: usize,
        operation: Operation,
        target: Option<&Place>,
        place: &Place,
        operands: &[Term],
    ) {
        let places: Vec<_> = target.into_iter().chain([place]).collect();
        for (paths, operands) in self.located(number, &places, operands) {
            let old = self.values.get(place.slot).part(&paths[paths.len() - 1]).clone();
            let Some((new, result)) = operated(operation, &old, &operands) else {
                if self.runs() {
                    self.yields();
                }
                continue;
            };
            // The results go to the places, in their order; what is not stored is not checked.
            let mut stored = Vec::new();
            stored.extend(target.map(|target| (target, &paths[0], result)));
            stored.extend(new.map(|new| (place, &paths[paths.len() - 1], new)));
            if self.fits(number, stored.iter().map(|(place, _, value)| (value, &place.kind))) {
                let mut step = self.forward();
                stored.iter().for_each(|(place, path, value)| store(&mut step, place.slot, path, value));
                self.steps.push(step);
            }
        }
    }

    /// Whether it is a task that runs.
    fn runs(&self) -> bool {
        self.explorer.program.tasks.is_some() && self.thread.pending.is_none()
    }

    /// The task is pending, where it is.
    fn yields(&mut self) {
        let mut step = self.to(|_, _| Vec::new());
        step.thread.pending = Some(Pending::Yielded);
        self.steps.push(step);
    }

    fn wait(&mut self, number: usize, condition: &Term) {
        for value in self.possible(condition) {
            match value {
                Ok(Value::Number(1)) => self.steps.push(self.forward()),
                Ok(_) if self.runs() => self.yields(),
                Ok(_) => {}
                Err(Outside) => self.outside(number),
            }
        }
    }

    fn sleep(&mut self, number: usize, on: &Place, lock: &Place) {
        for (paths, _) in self.located(number, &[on, lock], &[]) {
            let mut step = self.forward();
            store(&mut step, lock.slot, &paths[1], &Value::Number(0));
            step.thread.sleeps = Some(bed(on, &paths[0]));
            self.steps.push(step);
        }
    }

    fn wake(&mut self, number: usize, on: &Place, wakes: fn(Bed) -> Wakes) {
        for (paths, _) in self.located(number, &[on], &[]) {
            self.steps.push(Move { wakes: wakes(bed(on, &paths[0])), ..self.forward() });
        }
    }

    /// The arguments that a procedure may be called with.
    fn arguments(&mut self, number: usize, callee: usize, terms: &[Term]) -> Vec<Vec<Value>> {
        let parameters = &self.explorer.program.procedures[callee].parameters;
        let mut all = self.known(number, terms);
        all.retain(|arguments| self.fits(number, arguments.iter().zip(parameters)));
        all
    }

    fn call(&mut self, number: usize, callee: usize, arguments: &[Term]) {
        for arguments in self.arguments(number, callee, arguments) {
            for (frame, labels) in self.explorer.frames(callee, &arguments) {
                let mut step = self.to(|_, _| labels);
                step.thread.frames.push(frame);
                self.steps.push(step);
            }
        }
    }

    /// Leaves the procedure with any of some results.
    fn leave(&mut self, results: &[Vec<Value>]) {
        let Some(caller) = self.thread.frames.len().checked_sub(2) else {
            if !results.is_empty() {
                self.finish();
            }
            return;
        };
        let frame = &self.thread.frames[caller];
        let body = self.body(frame);
        let Some(Statement { step: Step::Call { targets, .. }, number, .. }) = statement(body, &frame.path) else {
            return;
        };
        let wanted: Vec<_> = targets.iter().flatten().collect();
        let values = Values { shared: self.shared, locals: &frame.locals };
        let sets: Vec<Vec<_>> = wanted.iter().map(|place| paths(place, values, values).into_iter().collect()).collect();
        for paths in choices(&sets) {
            let Some(paths) = self.inside(*number, paths) else { continue };
            for results in results {
                self.leave_with(*number, targets, &paths, results);
            }
        }
    }

    /// Stores results where the caller wants them, and goes on there.
    fn leave_with(&mut self, number: usize, targets: &[Option<Place>], paths: &[Vec<usize>], results: &[Value]) {
        let wanted = targets.iter().zip(results).filter_map(|(target, value)| Some((target.as_ref()?, value)));
        let wanted: Vec<_> = wanted.collect();
        if !self.fits(number, wanted.iter().map(|(place, value)| (*value, &place.kind))) {
            return;
        }
        let mut step = self.ended(1);
        for ((place, value), path) in wanted.into_iter().zip(paths) {
            store(&mut step, place.slot, path, value);
        }
        if let Some(caller) = step.thread.frames.last_mut() {
            step.labels = advance(self.body(caller), &mut caller.path);
        }
        self.steps.push(step);
    }

    /// Returns from the first procedure. If that is the one before all others, those start.
    fn finish(&mut self) {
        if !self.thread.opens {
            return self.steps.push(self.ended(1));
        }
        for (added, labels) in self.explorer.groups(&self.explorer.program.then) {
            self.steps.push(Move { added, labels, ..self.ended(1) });
        }
    }

    /// Without its topmost frames.
    fn ended(&self, frames: usize) -> Move {
        let mut step = self.to(|_, _| Vec::new());
        step.thread.frames.truncate(self.thread.frames.len() - frames);
        step
    }

    fn start(&mut self, number: usize, callee: usize, arguments: &[Term], count: usize) {
        for arguments in self.arguments(number, callee, arguments) {
            let started = self.explorer.frames(callee, &arguments);
            let groups: Vec<Group> =
                (0..count).fold(vec![(Vec::new(), Vec::new())], |groups, _| joined(&groups, &started));
            for (mut added, mut more) in groups {
                let step = self.forward();
                if self.explorer.program.tasks.is_some() {
                    // What is pending has not got anywhere.
                    more.clear();
                    added.iter_mut().for_each(|task| task.pending = Some(Pending::Posted));
                }
                let labels = [step.labels, more].concat();
                self.steps.push(Move { added, labels, ..self.forward() });
            }
        }
    }

    fn start_at(&mut self, target: &Path) {
        let mut step = self.forward();
        let jumped = self.jump(target);
        let frames = jumped.thread.frames.last().cloned().into_iter().collect();
        step.added.push(Thread { frames, section: false, sleeps: None, opens: false, pending: None });
        step.labels.extend(jumped.labels);
        self.steps.push(step);
    }
}

/// What threads sleep on, if they sleep on a condition.
fn bed(condition: &Place, path: &[usize]) -> Bed {
    match condition.slot {
        Slot::Shared(number) => Some((number, path.to_vec())),
        Slot::Local(_) => None,
    }
}

/// What an operation makes of a value: what is stored instead, if anything, and its result. Nothing, if it has to wait.
fn operated(operation: Operation, old: &Value, operands: &[Value]) -> Option<(Option<Value>, Value)> {
    let none = Value::Number(0);
    match operation {
        Operation::Lock if old.number() == 1 => None,
        Operation::Lock => Some((Some(Value::Number(1)), none)),
        Operation::Unlock => Some((Some(Value::Number(0)), none)),
        Operation::Acquire if old.number() <= 0 => None,
        Operation::Acquire => Some((Some(Value::Number(old.number() - 1)), none)),
        Operation::FetchAdd => Some((Some(Value::Number(old.number() + operands[0].number())), old.clone())),
        Operation::Cas if *old == operands[0] => Some((Some(operands[1].clone()), Value::Number(1))),
        Operation::Cas => Some((None, none)),
    }
}

fn store(step: &mut Move, slot: Slot, path: &[usize], value: &Value) {
    let variable = match (slot, step.thread.frames.last_mut()) {
        (Slot::Shared(index), _) => &mut step.shared[index],
        (Slot::Local(index), Some(top)) => &mut top.locals[index],
        (Slot::Local(_), None) => return,
    };
    variable.part_mut(path).clone_from(value);
}
