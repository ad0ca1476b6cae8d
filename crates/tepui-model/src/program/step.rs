//! What one thread does next: a function of the shared values and of its topmost frame.
//!
//! This interpreter is made to be obviously right, not to be fast: it walks through the statements as they are written.
//! Executions are followed on it ([`run`](super::run)), and the checker of certificates gets its steps from here.
//!
//! * A thread stands at a statement. Executing it is one step; for `if` and `while` that is the evaluation of the
//!   condition. Reaching the end of a procedure and returning from there is one more.
//! * A step that cannot be taken, since a condition does not hold, a lock is taken or no value satisfies a constraint,
//!   is not there; the thread is blocked until others change that.
//! * `*` is any value; every value leads to a step of its own.
//! * An atomic block is entered with its first statement. A thread is *uninterrupted* as long as it stands inside a
//!   block, in a procedure that was called from one, or between `atomic_begin` and `atomic_end`.
//!
//! *No value yet.* A variable that may start with any value has none until it is written or read. If a statement reads such
//! a variable, in any way to execute it, the variable is given each value first, and keeps it. Expressions are evaluated from
//! left to right, and no further than it takes to know their value: `&`, `|`, `=>` and `? :` look at an operand only if
//! those before it leave something open. What is enforced before and after a statement is read for itself.
//!
//! *Forgotten values.* A variable may have a value that is not known: reading it gives every value, each time anew. So what
//! is found for a frame with forgotten values contains what is found for each frame that agrees with it. [`Keep`] says which
//! values are known afterwards.

pub(super) mod execute;
mod expressions;
mod values;

use std::rc::Rc;

use smallvec::{SmallVec, smallvec};

use super::flow::Flow;
use super::{Action, Goal, Kind, Program, Slot};
use execute::Step;
use expressions::{Scope, Values};
use values::{forget, product, put};

/// The value of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Value {
    /// It has one that is not known: any will do.
    Forgotten,
    /// It has none yet: whoever reads it gives it one.
    Unset,
    /// It is known: this is its code.
    Known(u32),
}

// Shared states are looked up by their values: one number for each is half of what would be derived.
impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u32(self.number());
    }
}

impl Value {
    /// The value as a number: 0 if it is forgotten, 1 if there is none yet, and two more than its code.
    pub fn number(self) -> u32 {
        self.known().map_or(u32::from(self == Self::Unset), |code| code.saturating_add(2))
    }

    /// The value with a number.
    pub fn of(number: u32) -> Self {
        let open = if number == 1 { Self::Unset } else { Self::Forgotten };
        number.checked_sub(2).map_or(open, Self::Known)
    }

    /// The code of the value, if it is known.
    pub fn known(self) -> Option<u32> {
        if let Self::Known(value) = self { Some(value) } else { None }
    }
}

/// The values of the shared variables. Most steps leave them as they are.
pub type Shared = Rc<[Value]>;

/// A list that seldom has more than two items, which then need no memory of their own.
pub type Few<T> = SmallVec<[T; 2]>;

/// What depends on the values of variables: or a variable that has none and would have to be given one first.
pub(super) type Reading<T> = Result<T, Slot>;

/// A procedure under execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame {
    /// The procedure.
    pub procedure: usize,
    /// The statement at which it stands.
    pub position: usize,
    /// The values of the local variables.
    pub locals: Vec<Value>,
    /// What it does.
    pub stage: Stage,
    /// Whether it is the first procedure of its thread.
    pub root: bool,
    /// Whether it was called, by whatever detours, from an atomic block.
    pub under: bool,
    /// Whether its thread is between `atomic_begin` and `atomic_end`. The topmost frame knows.
    pub insists: bool,
}

/// What a frame does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// It is about to execute the statement at its position.
    Running,
    /// It sleeps on the condition with a number; 0 stands for none.
    Asleep(u32),
    /// It waits for a procedure, whose results go to the targets of the call at its position.
    Storing,
    /// It waits for a procedure whose results nobody wants, and goes on at its position.
    Waiting,
    /// It is that of a task that was posted, and will begin at its position.
    Posted,
    /// It is that of a task that has yielded at its position.
    Yielded,
}

/// What a step leads to.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// The frame becomes another one.
    Become(Frame),
    /// It waits for a procedure that is called.
    Call {
        /// The frame that waits.
        caller: Frame,
        /// That of the procedure.
        callee: Frame,
    },
    /// It is left; what the frame below makes of the results, [`Runner::resume`] says.
    Return(Results),
    /// The thread ends with all its frames.
    End,
    /// It goes on, and threads are started.
    Start {
        /// The frame that goes on.
        next: Frame,
        /// The first frames of the new threads.
        started: Vec<Frame>,
    },
    /// It goes on, and threads that sleep are woken.
    Wake(Frame, Woken),
    /// It fails. Nothing changes.
    Fail(Failure),
}

/// Which threads are woken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Woken {
    /// Those that sleep on the condition with this number.
    pub condition: u32,
    /// Whether all of them are; if not, one is, if there is one.
    pub all: bool,
}

/// How a statement may fail.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Failure {
    /// What it asserts does not hold.
    Assertion,
    /// It would store a value that is out of range.
    Range,
    /// An index is outside of its array.
    Index,
}

impl Failure {
    /// What must not happen, at a statement.
    pub fn at(self, (procedure, position): (usize, usize)) -> Goal {
        match self {
            Self::Assertion => Goal::Failure(procedure, position),
            Self::Range => Goal::Range(procedure, position),
            Self::Index => Goal::Index(procedure, position),
        }
    }
}

/// What a procedure returns.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Results {
    /// The numbers that each result may be, independently of the others.
    pub values: Vec<Few<i64>>,
    /// Whether the thread is between `atomic_begin` and `atomic_end`.
    pub insists: bool,
}

/// Which values are known after a step.
pub trait Keep {
    /// Whether the value of a variable is told apart from others in the frame that will stand at a position. If not, what
    /// would be stored there is not even looked at.
    fn wants(&self, _procedure: usize, _position: usize, _slot: Slot) -> bool {
        true
    }

    /// Given the codes of the values that may be stored in a variable of the frame that will stand at a position: those
    /// that are told apart, or a single one that is forgotten.
    fn stored(&self, procedure: usize, position: usize, slot: Slot, values: &[u32]) -> Few<Value> {
        match self.wants(procedure, position, slot) {
            true => values.iter().copied().map(Value::Known).collect(),
            false => smallvec![Value::Forgotten],
        }
    }

    /// What a variable holds that starts with any value, in the frame that will stand at a position.
    fn unset(&self, procedure: usize, position: usize, slot: Slot) -> Value {
        if self.wants(procedure, position, slot) { Value::Unset } else { Value::Forgotten }
    }

    /// Forgets what is not kept of a frame.
    fn forget(&self, _frame: &mut Frame) {}

    /// Asked before each of many results; if not, those that are left are left out, and the caller knows.
    fn goes_on(&self) -> bool {
        true
    }
}

/// Every value is kept.
pub struct KeepAll;

impl Keep for KeepAll {}

/// A program with what is needed to run it.
pub struct Runner<'p> {
    program: &'p Program,
    /// For each procedure where control goes.
    flows: Vec<Flow>,
    /// For each procedure and statement whether it may fail by a value out of range or an index outside of its array.
    doubtful: Vec<Vec<bool>>,
}

/// A step: the values of the shared variables afterwards, and what becomes of the thread.
pub type Found = (Shared, Effect);

/// Is told what a step leads to.
pub type Tell<'t> = dyn FnMut(Shared, Effect) + 't;

/// What a frame makes of a return: the shared values and the frame, or how storing the results fails.
pub type Resumed = Vec<Stored>;

/// What storing values leads to.
pub type Stored = Result<Point, Failure>;

/// A thread with the shared values that it sees.
pub type Point = (Shared, Frame);

impl<'p> Runner<'p> {
    /// Gets ready to run a program.
    pub fn new(program: &'p Program) -> Self {
        let doubtful = program.procedures.iter().enumerate().map(|(number, procedure)| {
            (0..procedure.statements.len()).map(|position| program.is_doubtful(number, position)).collect()
        });
        let flows = program.procedures.iter().map(Flow::of).collect();
        Self { program, flows, doubtful: doubtful.collect() }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The position at which a procedure goes on when the statement at one is done.
    pub fn following(&self, procedure: usize, position: usize) -> usize {
        self.flows[procedure].next.get(position).copied().unwrap_or(position)
    }

    /// The statements that may come directly after the one at a position.
    pub fn successors(&self, procedure: usize, position: usize) -> Vec<usize> {
        self.flows[procedure].successors(&self.program.procedures[procedure], position)
    }

    /// Where a thread stands that is at a position: there, at each atomic block that begins there, and at the statement
    /// that it executes next, which comes last.
    pub fn stands_at(&self, procedure: usize, position: usize) -> impl Iterator<Item = usize> {
        let first = move |&at: &usize| match self.action(procedure, at) {
            Some(Action::Atomic(block)) => block.first().copied(),
            _ => None,
        };
        std::iter::successors(Some(position), first)
    }

    /// Whether a thread with a frame on top stands at a statement. One that sleeps stands at the next one.
    pub fn is_at(&self, frame: &Frame, (procedure, position): (usize, usize)) -> bool {
        frame.procedure == procedure && self.stands_at(procedure, frame.position).any(|at| at == position)
    }

    /// The statement to execute at a position: an atomic block is entered with its first statement, if it has one.
    pub fn first_of(&self, procedure: usize, position: usize) -> usize {
        self.stands_at(procedure, position).last().unwrap_or(position)
    }

    /// Whether a position lies in an atomic block.
    pub fn is_inside(&self, procedure: usize, position: usize) -> bool {
        self.flows[procedure].atomic.get(position).is_some_and(Option::is_some)
    }

    /// Whether no other thread may move while this frame is on top of its thread.
    pub fn is_uninterrupted(&self, frame: &Frame) -> bool {
        frame.under || frame.insists || self.is_inside(frame.procedure, frame.position)
    }

    /// The first frames of a thread that runs a procedure with some arguments, given by their codes.
    pub(crate) fn first_frames(&self, procedure: usize, arguments: &[Few<u32>], keep: &dyn Keep) -> Vec<Frame> {
        let position = self.entry(procedure);
        let blank = Frame {
            procedure,
            position,
            locals: Vec::new(),
            stage: Stage::Running,
            root: true,
            under: false,
            insists: false,
        };
        let given = arguments.iter().map(Some).chain(std::iter::repeat(None));
        let variables = self.program.procedures[procedure].locals.iter().zip(given).enumerate();
        let choices = variables.map(|(number, (variable, given))| {
            let slot = Slot::Local(number);
            match (given, variable.init) {
                (Some(values), _) if values.is_empty() => Few::new(),
                (Some(values), _) => keep.stored(procedure, position, slot, values),
                (None, Some(init)) => keep.stored(procedure, position, slot, &[init]),
                (None, None) => smallvec![keep.unset(procedure, position, slot)],
            }
        });
        let mut frames = Vec::new();
        product(&choices.collect::<Vec<_>>(), keep, &mut |locals| {
            frames.push(Frame { locals: locals.to_vec(), ..blank.clone() });
        });
        frames
    }

    /// The values of the shared variables at the start, and the frames with which `main` may begin.
    pub fn start(&self, keep: &dyn Keep) -> (Shared, Vec<Frame>) {
        let (main, position) = (self.program.main, self.entry(self.program.main));
        let shared = self.program.shared.iter().enumerate().map(|(number, variable)| {
            let slot = Slot::Shared(number);
            match variable.init {
                Some(value) => keep.stored(main, position, slot, &[value])[0],
                None => keep.unset(main, position, slot),
            }
        });
        (shared.collect(), self.first_frames(main, &[], keep))
    }

    /// The position at which a procedure begins.
    pub fn entry(&self, procedure: usize) -> usize {
        let called = &self.program.procedures[procedure];
        called.body.first().copied().unwrap_or(called.statements.len())
    }

    /// All that a thread can do whose topmost frame is given, if others let it.
    pub fn steps(&self, shared: &Shared, frame: &Frame, keep: &dyn Keep) -> Vec<Found> {
        let mut found = Vec::new();
        self.each_step(shared, frame, keep, &mut |shared, effect| found.push((shared, effect)));
        found.dedup();
        found
    }

    /// Calls back for all that a thread can do; for some of it more than once.
    pub fn each_step(&self, shared: &Shared, frame: &Frame, keep: &dyn Keep, found: &mut Tell<'_>) {
        match self.program.procedures[frame.procedure].enforced {
            _ if !frame.stage.may_step() => {}
            None => self.execute(shared, frame, keep, found),
            Some(_) => {
                for (shared, frame) in self.enforcing(Rc::clone(shared), frame.clone()) {
                    self.execute(&shared, &frame, keep, found);
                }
            }
        }
    }

    /// A variable without a value that the statement at a frame reads.
    pub fn wants(&self, shared: &Shared, frame: &Frame, keep: &dyn Keep) -> Option<Slot> {
        Step { runner: self, shared, frame, keep }.execute(&mut |_, _| {}).err()
    }

    /// All ways to execute the statement at a frame. If one of them reads a variable that has no value, nothing has been
    /// told, and each value is tried.
    fn execute(&self, shared: &Shared, frame: &Frame, keep: &dyn Keep, found: &mut Tell<'_>) {
        let known = &mut |shared, mut effect| {
            forget(&mut effect, keep);
            found(shared, effect);
        };
        let step = Step { runner: self, shared, frame, keep };
        if let Err(unset) = step.execute(&mut |shared, effect| self.allowed(shared, effect, known)) {
            for (shared, frame) in self.given_values(unset, shared, frame).take_while(|_| keep.goes_on()) {
                self.execute(&shared, &frame, keep, found);
            }
        }
    }

    /// The shared values and a frame with each value for a variable.
    pub fn given_values(&self, slot: Slot, shared: &Shared, frame: &Frame) -> impl Iterator<Item = Point> + use<'p> {
        let values = self.program.values(self.program.variable(frame.procedure, slot).kind);
        let (shared, frame) = (Rc::clone(shared), frame.clone());
        (0..values).map(move |value| {
            let (mut shared, mut frame) = (Rc::clone(&shared), frame.clone());
            put(slot, Value::Known(value), &mut shared, &mut frame);
            (shared, frame)
        })
    }

    /// An effect in all ways in which what the procedure on top enforces holds after it.
    fn allowed(&self, shared: Shared, effect: Effect, found: &mut Tell<'_>) {
        let (top, with): (&Frame, &dyn Fn(Frame) -> Effect) = match &effect {
            Effect::Become(frame) => (frame, &Effect::Become),
            Effect::Wake(frame, woken) => (frame, &|frame| Effect::Wake(frame, *woken)),
            Effect::Start { next, started } => (next, &|next| Effect::Start { next, started: started.clone() }),
            Effect::Call { caller, callee } => (callee, &|callee| Effect::Call { caller: caller.clone(), callee }),
            Effect::Return(_) | Effect::End | Effect::Fail(_) => return found(shared, effect),
        };
        if self.program.procedures[top.procedure].enforced.is_none() {
            return found(shared, effect);
        }
        let allowed = self.enforcing(shared, top.clone()).into_iter();
        allowed.for_each(|(shared, frame)| found(shared, with(frame)));
    }

    /// All ways in which what the procedure of a frame enforces may hold. If that reads a variable that has no value, each
    /// value is tried.
    fn enforcing(&self, shared: Shared, frame: Frame) -> Vec<Point> {
        let Some(condition) = &self.program.procedures[frame.procedure].enforced else { return vec![(shared, frame)] };
        let scope = Scope { procedure: frame.procedure, shared: &shared, locals: &frame.locals, new: None };
        match self.values(condition, &scope) {
            Ok(values) if values.numbers.contains(&1) => vec![(shared, frame)],
            Ok(_) => Vec::new(),
            Err(unset) => {
                let tried = self.given_values(unset, &shared, &frame);
                tried.flat_map(|(shared, frame)| self.enforcing(shared, frame)).collect()
            }
        }
    }

    /// What becomes of a frame that waits when the procedure that it has called returns. Nothing, if its `enforce` does
    /// not allow that: then the procedure does not return. The targets of the call may be what fails.
    pub fn resume(&self, shared: &Shared, waiting: &Frame, results: &Results, keep: &dyn Keep) -> Resumed {
        self.stored(shared, waiting, results, keep).unwrap_or_else(|unset| {
            let given = self.given_values(unset, shared, waiting);
            given.flat_map(|(shared, waiting)| self.resume(&shared, &waiting, results, keep)).collect()
        })
    }

    fn stored(&self, shared: &Shared, waiting: &Frame, results: &Results, keep: &dyn Keep) -> Reading<Resumed> {
        let (mut found, procedure) = (Vec::new(), waiting.procedure);
        let (targets, position) = match (waiting.stage, self.action(procedure, waiting.position)) {
            (Stage::Storing, Some(Action::Call { targets, .. })) => {
                (&targets[..], self.following(procedure, waiting.position))
            }
            (Stage::Waiting, _) => (&[][..], waiting.position),
            _ => return Ok(found),
        };
        let next = Frame { position, stage: Stage::Running, insists: results.insists, ..waiting.clone() };
        let step = Step { runner: self, shared, frame: &next, keep };
        let values: Vec<_> =
            results.values.iter().map(|numbers| Values { numbers: numbers.clone(), outside: false }).collect();
        step.store((targets, &values), None, position, &mut |stored| match stored {
            Ok((shared, frame)) => {
                for (shared, mut frame) in self.enforcing(shared, frame) {
                    keep.forget(&mut frame);
                    found.push(Ok((shared, frame)));
                }
            }
            Err(failure) => found.push(Err(failure)),
        })?;
        Ok(found)
    }

    /// The action at a position; none at the end of a procedure.
    pub fn action(&self, procedure: usize, position: usize) -> Option<&'p Action> {
        self.program.procedures[procedure].statements.get(position).map(|statement| &statement.action)
    }

    fn every(&self, kind: Kind) -> Few<i64> {
        let (low, high) = self.program.range(kind);
        (low..=high).collect()
    }
}
