//! Executing statements.
//!
//! A [`Machine`] is the shared row and one frame. Executing a statement changes them in place. Where there are several ways
//! (`*`, a jump to one of several labels, a variable that has no value yet), the machine follows a list of *choices*: each
//! time it has to choose it takes the next digit, and adds one if there is none. Whoever wants all ways executes the
//! statement again with the next list, until there is none. So there is one evaluator, and it returns one value.
//!
//! *No value yet.* A variable that starts with any value has none until it is written or read. If a statement reads one, in
//! any way to execute it, the machine stops and says which; whoever executes gives it each value in turn, and it keeps
//! that ([`steps`](super::steps)). Expressions are evaluated from left to right, and no further than it takes to know
//! their value. Nobody can tell a value that was not read from one that was not chosen, so nothing is lost, and nothing is
//! enumerated that nobody reads.

use tepui_core::{Budget, Limit, Stop};
use tepui_model::program::Operator;

use super::code::{Code, Op, Store};
use super::layout::{Head, Stage};
use super::terms::{Element, Index, Target, Term, Var};

/// Which way to take wherever there are several.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// For each choice the way that is taken, and how many there are.
    digits: Vec<(u32, u32)>,
    next: usize,
}

impl Choices {
    /// Chooses one of so many ways.
    #[inline]
    fn pick(&mut self, ways: u32) -> u32 {
        if ways <= 1 {
            return 0;
        }
        if self.next == self.digits.len() {
            self.digits.push((0, ways));
        }
        let (digit, count) = self.digits[self.next];
        debug_assert_eq!(count, ways, "the same choices come to the same place");
        self.next += 1;
        digit
    }

    /// Goes on to the next list of choices; says whether there is one.
    pub fn advance(&mut self) -> bool {
        self.next = 0;
        while let Some((digit, ways)) = self.digits.last_mut() {
            *digit += 1;
            if digit < ways {
                return true;
            }
            self.digits.pop();
        }
        false
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.digits.clear();
        self.next = 0;
    }
}

/// What executing a statement comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It cannot be executed.
    Blocked,
    /// The thread goes on with the frame at hand.
    Goes,
    /// It goes on with the frame of a procedure that it has called; the caller waits.
    Calls,
    /// It returns the values at hand.
    Returns,
    /// It ends, with all its frames.
    Ends,
    /// It goes on, and so many threads begin with the frame that is to be started.
    Starts(u32),
    /// It goes on, and those that sleep on a condition are woken, all or one of them.
    Wakes(u32, bool),
    /// It fails, in the way that the frame at hand says.
    Fails,
}

/// The shared row and a frame, and what the execution of a statement brings besides.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The shared row.
    pub shared: Vec<u64>,
    /// The frame.
    pub frame: Vec<u64>,
    /// The frame that waits for the one at hand, after a call.
    pub caller: Vec<u64>,
    /// The first frame of threads that are started.
    pub started: Vec<u64>,
    /// The values that are returned.
    pub values: Vec<i64>,
    /// Which way to take.
    pub choices: Choices,
    /// A variable that was read although it has no value: then the outcome means nothing.
    pub needs: Option<Var>,
    /// How many ways to execute statements there were.
    pub executed: u32,
    /// Whether it was stopped, so that steps are missing.
    pub stopped: bool,
    /// Whether an index was outside of its array: then the statement fails.
    outside: bool,
    /// Where values go that are about to be stored.
    places: Vec<Option<(Var, u64)>>,
    /// In a constraint, the shared row and the frame as they were.
    old: Option<Box<(Vec<u64>, Vec<u64>)>>,
}

impl Machine {
    /// Gets a shared row and a frame.
    #[inline]
    pub fn load(&mut self, shared: &[u64], frame: &[u64]) {
        copy(&mut self.shared, shared);
        copy(&mut self.frame, frame);
    }

    /// Fails if it was stopped, so that steps are missing.
    pub fn require_all_steps(&self, budget: &mut Budget) -> Result<(), Stop> {
        if !self.stopped {
            return Ok(());
        }
        budget.look()?;
        Err(Stop::Limit(Limit::Interrupt))
    }

    /// Where the frame stands.
    #[inline]
    pub fn head(&self) -> Head {
        Head(self.frame[0])
    }

    /// Puts it elsewhere.
    #[inline]
    pub fn set_head(&mut self, head: Head) {
        self.frame[0] = head.0;
    }

    /// The value of a variable.
    #[inline]
    fn read(&mut self, variable: Var) -> i64 {
        let row = if variable.shared { &self.shared } else { &self.frame };
        let code = variable.field.code(row);
        if code == variable.field.unset { self.lack(variable) } else { variable.field.low + code as i64 }
    }

    /// The value of a variable as it was before the assignment that a constraint belongs to.
    fn read_old(&mut self, variable: Var) -> i64 {
        let Some(old) = &self.old else { return self.read(variable) };
        let code = variable.field.code(if variable.shared { &old.0 } else { &old.1 });
        if code == variable.field.unset { self.lack(variable) } else { variable.field.low + code as i64 }
    }

    #[cold]
    fn lack(&mut self, variable: Var) -> i64 {
        self.needs.get_or_insert(variable);
        variable.field.low
    }

    /// How far indices lead; none, if one is outside of its array.
    fn distance(&mut self, indices: &[Index]) -> Option<usize> {
        let (mut distance, mut inside) = (0, true);
        for index in indices {
            let value = self.value(&index.value);
            inside &= (0..i64::from(index.count)).contains(&value);
            distance += value.max(0) as usize * index.stride;
        }
        self.outside |= !inside;
        inside.then_some(distance)
    }

    fn element(&mut self, element: &Element, new: bool) -> i64 {
        let Some(distance) = self.distance(&element.indices) else { return element.any.0 };
        match element.variables[distance] {
            Some(variable) if new || self.old.is_none() => self.read(variable),
            Some(variable) => self.read_old(variable),
            None => element.any.0 + i64::from(self.choices.pick(element.any.1)),
        }
    }

    /// The variable that a target is; none, if an index is outside of its array or if it is not kept.
    fn target(&mut self, target: &Target) -> Option<Var> {
        match target {
            Target::Variable(variable) => Some(*variable),
            Target::Element(element) => element.variables[self.distance(&element.indices)?],
        }
    }

    /// Gives a variable the value with a code.
    #[inline]
    pub fn put(&mut self, variable: Var, code: u64) {
        variable.field.put(if variable.shared { &mut self.shared } else { &mut self.frame }, code);
    }

    /// The value of an expression.
    pub fn value(&mut self, term: &Term) -> i64 {
        match term {
            Term::Value(value) => *value,
            Term::Any(low, ways) => low + i64::from(self.choices.pick(*ways)),
            Term::Read(variable) if self.old.is_some() => self.read_old(*variable),
            Term::Read(variable) | Term::New(variable) => self.read(*variable),
            Term::Element(element) => self.element(element, false),
            Term::NewElement(element) => self.element(element, true),
            Term::Not(operand) => 1 - self.value(operand),
            Term::Negate(operand) => -self.value(operand),
            Term::Numbers(operator, operands) => {
                let (left, right) = (self.value(&operands[0]), self.value(&operands[1]));
                computed(*operator, left, right)
            }
            Term::And(operands) => match self.value(&operands[0]) {
                0 => 0,
                _ => self.value(&operands[1]),
            },
            Term::Or(operands) => match self.value(&operands[0]) {
                0 => self.value(&operands[1]),
                _ => 1,
            },
            Term::Implies(operands) => match self.value(&operands[0]) {
                0 => 1,
                _ => self.value(&operands[1]),
            },
            Term::Equal(operands) => i64::from(self.value(&operands[0]) == self.value(&operands[1])),
            Term::Unequal(operands) => i64::from(self.value(&operands[0]) != self.value(&operands[1])),
            Term::Choice(parts) => {
                let condition = self.value(&parts[0]);
                self.value(&parts[if condition == 1 { 1 } else { 2 }])
            }
            Term::Choose(operands) => {
                if self.value(&operands[0]) == 1 {
                    1
                } else if self.value(&operands[1]) == 1 {
                    0
                } else {
                    i64::from(self.choices.pick(2))
                }
            }
        }
    }

    #[inline]
    fn holds(&mut self, condition: &Term) -> bool {
        self.value(condition) == 1
    }

    /// Evaluates expressions, all in the state at hand; the values are left in `values`.
    fn evaluate<'t>(&mut self, terms: impl Iterator<Item = &'t Term>) {
        self.values.clear();
        for term in terms {
            let value = self.value(term);
            self.values.push(value);
        }
    }

    /// Stores values, all at once. Says what became of that.
    fn assign(&mut self, stores: &[Store], constraint: Option<&Term>) -> Stored {
        if let ([Store { target: Some(Target::Variable(target)), value }], None) = (stores, constraint) {
            let value = self.value(value);
            return match target.field.code_of(value) {
                _ if self.outside => Stored::OutOfArray,
                Some(code) => {
                    self.put(*target, code);
                    Stored::Done
                }
                None => Stored::OutOfRange,
            };
        }
        self.evaluate(stores.iter().map(|store| &store.value));
        let values = std::mem::take(&mut self.values);
        let stored = self.store(stores.iter().map(|store| store.target.as_ref()), &values, constraint);
        self.values = values;
        stored
    }

    /// Stores values in some places, if new and old ones satisfy a constraint.
    fn store<'t>(
        &mut self,
        targets: impl Iterator<Item = Option<&'t Target>>,
        values: &[i64],
        constraint: Option<&Term>,
    ) -> Stored {
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        let mut fits = true;
        for (target, &value) in targets.zip(values) {
            let Some(target) = target else { continue };
            let (low, count) = target.range();
            fits &= (0..i64::from(count)).contains(&(value - low));
            let variable = self.target(target);
            places.push(variable.map(|variable| (variable, (value - low) as u64)));
        }
        let stored = match (self.outside, fits) {
            (true, _) => Stored::OutOfArray,
            (_, false) => Stored::OutOfRange,
            _ => self.store_all(&places, constraint),
        };
        self.places = places;
        stored
    }

    fn store_all(&mut self, places: &[Option<(Var, u64)>], constraint: Option<&Term>) -> Stored {
        self.old = constraint.map(|_| Box::new((self.shared.clone(), self.frame.clone())));
        places.iter().flatten().for_each(|&(variable, code)| self.put(variable, code));
        let holds = constraint.is_none_or(|constraint| self.holds(constraint));
        self.old = None;
        match holds {
            _ if self.outside => Stored::OutOfArray,
            true => Stored::Done,
            false => Stored::Refused,
        }
    }
}

/// What became of values that were to be stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stored {
    Done,
    /// The constraint does not hold.
    Refused,
    /// One of them is out of range.
    OutOfRange,
    /// An index is outside of its array.
    OutOfArray,
}

/// What an operator makes of two numbers.
pub(super) fn computed(operator: Operator, left: i64, right: i64) -> i64 {
    match operator {
        Operator::Less => i64::from(left < right),
        Operator::AtMost => i64::from(left <= right),
        Operator::Greater => i64::from(left > right),
        Operator::AtLeast => i64::from(left >= right),
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left.div_euclid(right),
        Operator::Modulo => left.rem_euclid(right),
        Operator::Equal => i64::from(left == right),
        Operator::Unequal => i64::from(left != right),
        // Those of Booleans are terms of their own.
        _ => left + right,
    }
}

/// Makes a row the same as another. Most rows are of one or two words, and a call would cost more than that.
#[inline]
pub(super) fn copy(to: &mut Vec<u64>, from: &[u64]) {
    match (to.as_mut_slice(), from) {
        ([to], [from]) => *to = *from,
        ([to, next], [from, after]) => (*to, *next) = (*from, *after),
        _ => {
            to.clear();
            to.extend_from_slice(from);
        }
    }
}

impl Code {
    /// Executes the statement at which the frame at hand stands, with the machine's choices.
    pub fn execute(&self, machine: &mut Machine) -> Outcome {
        machine.needs = None;
        machine.outside = false;
        let head = machine.head();
        let outcome = self.perform(machine);
        if machine.outside {
            machine.set_head(head);
            return self.fail(machine, Stage::OutOfArray);
        }
        outcome
    }

    /// The frame at hand fails at its statement.
    #[cold]
    fn fail(&self, machine: &mut Machine, stage: Stage) -> Outcome {
        let head = machine.head();
        machine.set_head(head.at(self.instruction(head).at).in_stage(stage));
        machine.frame[1..].fill(0);
        Outcome::Fails
    }

    fn perform(&self, machine: &mut Machine) -> Outcome {
        let head = machine.head();
        let instruction = self.instruction(head);
        let next = instruction.next;
        let to = match &instruction.action {
            Op::Skip => next,
            Op::Goto(targets) => targets[machine.choices.pick(targets.len() as u32) as usize],
            Op::Assign(stores, constraint) => match machine.assign(stores, constraint.as_ref()) {
                Stored::Done => next,
                Stored::Refused => return Outcome::Blocked,
                Stored::OutOfRange => return self.fail(machine, Stage::OutOfRange),
                Stored::OutOfArray => return Outcome::Fails,
            },
            Op::Assume(condition) => match machine.holds(condition) {
                true => next,
                false => return Outcome::Blocked,
            },
            Op::Assert(condition) => match machine.holds(condition) {
                true => next,
                false if machine.outside => return Outcome::Fails,
                false => return self.fail(machine, Stage::Failed),
            },
            Op::Branch(condition, then, otherwise) => {
                if machine.holds(condition) {
                    *then
                } else {
                    *otherwise
                }
            }
            Op::Insist(insists) => {
                machine.set_head(head.insisting(*insists).at(next));
                return Outcome::Goes;
            }
            Op::Take(target, semaphore) => {
                let Some(variable) = machine.target(target) else { return Outcome::Blocked };
                match (machine.read(variable), *semaphore) {
                    (0, false) => machine.put(variable, 1),
                    (1.., true) => {
                        let code = variable.field.code(if variable.shared { &machine.shared } else { &machine.frame });
                        let Some(less) = code.checked_sub(1) else { return self.fail(machine, Stage::OutOfRange) };
                        machine.put(variable, less);
                    }
                    _ => return Outcome::Blocked,
                }
                next
            }
            Op::Loop(variable, to) => {
                machine.put(*variable, 0);
                *to
            }
            Op::Next(variable, body) => {
                let field = variable.field;
                let code = field.code(&machine.frame) + 1;
                let more = code < u64::from(field.values);
                machine.put(*variable, if more { code } else { 0 });
                if more { *body } else { next }
            }
            Op::Call { targets, procedure, arguments } => {
                machine.evaluate(arguments.iter());
                if machine.outside || !self.fits(*procedure, &machine.values) {
                    return self.fail(machine, Stage::OutOfRange);
                }
                self.call(machine, targets.iter().any(Option::is_some), *procedure);
                return Outcome::Calls;
            }
            Op::Return(values) => {
                machine.evaluate(values.iter());
                return if head.is_root() { Outcome::Ends } else { Outcome::Returns };
            }
            Op::Start { procedure, arguments, count } => {
                machine.evaluate(arguments.iter());
                if machine.outside || !self.fits(*procedure, &machine.values) {
                    return self.fail(machine, Stage::OutOfRange);
                }
                self.enter(*procedure, &machine.values, &mut machine.started);
                machine.started[0] = Head(machine.started[0]).root(true).0;
                machine.set_head(head.at(next));
                return Outcome::Starts(*count);
            }
            Op::StartAt(to, copied) => {
                machine.evaluate(copied.iter());
                machine.started.clone_from(&machine.frame);
                machine.started[0] = head.at(*to).root(true).under(false).insisting(false).0;
                self.tidy(&mut machine.started);
                machine.set_head(head.at(next));
                return Outcome::Starts(1);
            }
            Op::EndThread => return Outcome::Ends,
            Op::Sleep(condition, lock) => {
                let condition = condition.first + machine.distance(&condition.indices).unwrap_or_default() as u32;
                let stored = machine.store(std::iter::once(lock.as_ref()), &[0], None);
                if stored == Stored::Done {
                    machine.set_head(head.at(next).asleep(condition));
                }
                return Outcome::Goes;
            }
            Op::Wake(condition, all) => {
                let condition = condition.first + machine.distance(&condition.indices).unwrap_or_default() as u32;
                machine.set_head(head.at(next));
                return Outcome::Wakes(condition, *all);
            }
        };
        machine.set_head(head.at(to));
        Outcome::Goes
    }

    /// Whether arguments are in the ranges of the parameters.
    fn fits(&self, procedure: usize, arguments: &[i64]) -> bool {
        let fields = self.procedures[procedure].layout.fields.iter();
        fields.zip(arguments).all(|(field, &value)| field.code_of(value).is_some())
    }

    /// Calls a procedure with the values at hand.
    fn call(&self, machine: &mut Machine, stores: bool, procedure: usize) {
        let head = machine.head();
        let instruction = self.instruction(head);
        std::mem::swap(&mut machine.caller, &mut machine.frame);
        let waiting = match stores {
            true => head.at(instruction.at).in_stage(Stage::Storing),
            false => head.at(instruction.next).in_stage(Stage::Waiting),
        };
        machine.caller[0] = waiting.insisting(false).0;
        self.tidy(&mut machine.caller);
        self.enter(procedure, &machine.values, &mut machine.frame);
        let under = head.is_under() || instruction.executed_inside;
        machine.set_head(machine.head().under(under).insisting(head.insists()));
    }

    /// The frame at hand waits, and the procedure that it has called returns values. Storing them may fail.
    pub fn resume(&self, machine: &mut Machine, values: &[i64], insists: bool) -> Outcome {
        machine.needs = None;
        machine.outside = false;
        let head = machine.head();
        let next = match head.stage() {
            Stage::Storing => {
                let instruction = self.instruction(head);
                if let Op::Call { targets, .. } = &instruction.action {
                    match machine.store(targets.iter().map(Option::as_ref), values, None) {
                        Stored::OutOfRange => return self.fail(machine, Stage::OutOfRange),
                        Stored::OutOfArray => return self.fail(machine, Stage::OutOfArray),
                        Stored::Done | Stored::Refused => {}
                    }
                }
                instruction.next
            }
            _ => head.position(),
        };
        machine.set_head(head.at(next).in_stage(Stage::Running).insisting(insists));
        Outcome::Goes
    }
}
