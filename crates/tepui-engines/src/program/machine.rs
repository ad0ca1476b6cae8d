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

use super::code::{Code, Op, Store};
use super::layout::{Head, Stage};
use super::terms::{Term, Var};

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
    /// It goes on, and all that sleep are woken.
    Wakes,
    /// An assertion fails.
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
    pub values: Vec<u64>,
    /// Which way to take.
    pub choices: Choices,
    /// A variable that was read although it has no value: then the outcome means nothing.
    pub needs: Option<Var>,
    /// How many ways to execute statements there were.
    pub executed: u32,
    /// Whether it was stopped, so that steps are missing.
    pub stopped: bool,
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
    fn read(&mut self, variable: Var) -> u64 {
        let row = if variable.shared { &self.shared } else { &self.frame };
        let code = variable.field.code(row);
        if code == variable.field.unset { self.lack(variable) } else { code }
    }

    /// The value of a variable as it was before the assignment that a constraint belongs to.
    fn read_old(&mut self, variable: Var) -> u64 {
        let Some(old) = &self.old else { return self.read(variable) };
        let code = variable.field.code(if variable.shared { &old.0 } else { &old.1 });
        if code == variable.field.unset { self.lack(variable) } else { code }
    }

    #[cold]
    fn lack(&mut self, variable: Var) -> u64 {
        self.needs.get_or_insert(variable);
        0
    }

    /// Gives a variable a value.
    #[inline]
    pub fn put(&mut self, variable: Var, value: u64) {
        variable.field.put(if variable.shared { &mut self.shared } else { &mut self.frame }, value);
    }

    /// The value of an expression.
    pub fn value(&mut self, term: &Term) -> u64 {
        match term {
            Term::Value(value) => *value,
            Term::Any(ways) => u64::from(self.choices.pick(*ways)),
            Term::Read(variable) if self.old.is_some() => self.read_old(*variable),
            Term::Read(variable) | Term::New(variable) => self.read(*variable),
            Term::Not(operand) => 1 - self.value(operand),
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
            Term::Equal(operands) => u64::from(self.value(&operands[0]) == self.value(&operands[1])),
            Term::Unequal(operands) => u64::from(self.value(&operands[0]) != self.value(&operands[1])),
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
                    u64::from(self.choices.pick(2))
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

    fn assign(&mut self, stores: &[Store], constraint: Option<&Term>) -> bool {
        if let ([store], None) = (stores, constraint) {
            let value = self.value(&store.value);
            store.target.into_iter().for_each(|target| self.put(target, value));
            return true;
        }
        self.evaluate(stores.iter().map(|store| &store.value));
        self.old = constraint.map(|_| Box::new((self.shared.clone(), self.frame.clone())));
        for (index, store) in stores.iter().enumerate() {
            let value = self.values[index];
            store.target.into_iter().for_each(|target| self.put(target, value));
        }
        let holds = constraint.is_none_or(|constraint| self.holds(constraint));
        self.old = None;
        holds
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
        self.perform(machine)
    }

    fn perform(&self, machine: &mut Machine) -> Outcome {
        let head = machine.head();
        let instruction = self.instruction(head);
        let next = instruction.next;
        let to = match &instruction.action {
            Op::Skip => next,
            Op::Goto(targets) => targets[machine.choices.pick(targets.len() as u32) as usize],
            Op::Assign(stores, constraint) => match machine.assign(stores, constraint.as_ref()) {
                true => next,
                false => return Outcome::Blocked,
            },
            Op::Assume(condition) => match machine.holds(condition) {
                true => next,
                false => return Outcome::Blocked,
            },
            Op::Assert(condition) => match machine.holds(condition) {
                true => next,
                false => {
                    machine.set_head(head.at(instruction.at).in_stage(Stage::Failed));
                    machine.frame[1..].fill(0);
                    return Outcome::Fails;
                }
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
            Op::Lock(variable) => match machine.read(*variable) {
                0 => {
                    machine.put(*variable, 1);
                    next
                }
                _ => return Outcome::Blocked,
            },
            Op::Call { targets, procedure, arguments } => {
                machine.evaluate(arguments.iter());
                self.call(machine, targets.iter().any(Option::is_some), *procedure);
                return Outcome::Calls;
            }
            Op::Return(values) => {
                machine.evaluate(values.iter());
                return if head.is_root() { Outcome::Ends } else { Outcome::Returns };
            }
            Op::Start { procedure, arguments, count } => {
                machine.evaluate(arguments.iter());
                self.enter(*procedure, &machine.values, &mut machine.started);
                machine.started[0] = Head(machine.started[0]).root(true).0;
                machine.set_head(head.at(next));
                return Outcome::Starts(*count);
            }
            Op::StartAt(to) => {
                machine.started.clone_from(&machine.frame);
                machine.started[0] = head.at(*to).root(true).under(false).insisting(false).0;
                self.tidy(&mut machine.started);
                machine.set_head(head.at(next));
                return Outcome::Starts(1);
            }
            Op::EndThread => return Outcome::Ends,
            Op::Sleep => {
                machine.set_head(head.at(next).in_stage(Stage::Asleep));
                return Outcome::Goes;
            }
            Op::Broadcast => {
                machine.set_head(head.at(next));
                return Outcome::Wakes;
            }
        };
        machine.set_head(head.at(to));
        Outcome::Goes
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

    /// The frame at hand waits, and the procedure that it has called returns values.
    pub fn resume(&self, machine: &mut Machine, values: &[u64], insists: bool) {
        let head = machine.head();
        let next = match head.stage() {
            Stage::Storing => {
                let instruction = self.instruction(head);
                if let Op::Call { targets, .. } = &instruction.action {
                    for (target, &value) in targets.iter().zip(values) {
                        target.iter().for_each(|&target| machine.put(target, value));
                    }
                }
                instruction.next
            }
            _ => head.position(),
        };
        machine.set_head(head.at(next).in_stage(Stage::Running).insisting(insists));
    }
}
