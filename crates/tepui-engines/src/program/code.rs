//! A program, made ready to be executed: every variable is a field of a row of words, every statement knows what it needs.
//!
//! This is read off the program's text, in time linear in it; nothing here enumerates values.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tepui_model::program::flow::Flow;
use tepui_model::program::{Action, Expression, Kind, Operator, Procedure, Program, Slot, Variable};

use super::layout::{Field, Head, Layout, Stage};
use super::local_steps::Passed;
use super::machine::Machine;
use super::setup::Setup;
use super::variables::{Kept, Variables};
use super::{Face, Options, Unsupported};

/// How many bits of the shared row say something else than values: whether a thread must not be interrupted.
pub const HELD_BITS: u32 = 1;

/// The most ways to execute a statement.
const MOST_WAYS: u64 = 1 << 18;

/// A program, made ready.
#[derive(Debug)]
pub struct Code {
    /// The program as it was given.
    pub given: Arc<Program>,
    /// The program, with the initial values that `main` gives to shared variables before it starts threads.
    pub program: Arc<Program>,
    /// How it was made ready.
    pub options: Options,
    /// The threads from the start; none, if threads are created.
    pub setup: Option<Setup>,
    /// Which values are kept.
    pub kept: Kept,
    /// Where the shared variables lie.
    pub shared: Layout,
    /// The bits of the shared row that are kept.
    pub shared_mask: Vec<u64>,
    /// The procedures.
    pub procedures: Vec<ProcedureCode>,
}

/// A procedure, made ready.
#[derive(Debug)]
pub struct ProcedureCode {
    /// Where its local variables lie in a frame.
    pub layout: Layout,
    /// Where it begins.
    pub entry: usize,
    /// Its first frame, but for the values of the parameters.
    first: Vec<u64>,
    parameters: usize,
    /// How many results it has.
    pub results: usize,
    /// What holds before and after each of its steps.
    pub enforced: Option<Condition>,
    /// What it does at each position, with the end.
    pub instructions: Vec<Instruction>,
}

/// What a thread does at a position.
#[derive(Debug)]
pub struct Instruction {
    /// The position of the statement that is executed: an atomic block is entered with its first one.
    pub at: usize,
    /// What it does.
    pub action: Op,
    /// Where the procedure goes on when it is done.
    pub next: usize,
    /// Whether there may be several ways to execute it.
    pub chooses: bool,
    /// Variables that it may read before they have a value.
    pub opens: Vec<Var>,
    /// All of these that decide whether a thread is blocked here: what is enforced before and after it, too.
    pub decisive: Vec<Var>,
    /// Whether the position lies in an atomic block.
    pub inside: bool,
    /// Whether the statement lies in an atomic block.
    pub executed_inside: bool,
    /// Whether a thread goes on from here that others may interrupt, and one that nobody may.
    pub passed: [Passed; 2],
    /// The bits of a frame that are kept here.
    pub mask: Vec<u64>,
    /// The bits that are kept while a call at this position lasts whose results are stored.
    pub during: Vec<u64>,
}

/// A statement.
#[derive(Debug)]
pub enum Op {
    /// Nothing.
    Skip,
    /// Goes on at one of these positions.
    Goto(Vec<usize>),
    /// Assigns all values at once.
    Assign(Vec<Store>, Option<Condition>),
    /// Goes on if a condition holds.
    Assume(Condition),
    /// A condition that must hold.
    Assert(Condition),
    /// Goes on here or there.
    Branch(Condition, usize, usize),
    /// Begins or ends to insist on not being interrupted.
    Insist(bool),
    /// Waits until a variable is 0 and makes it 1.
    Lock(Var),
    /// Calls a procedure.
    Call {
        /// Where its results go.
        targets: Vec<Option<Var>>,
        /// The procedure.
        procedure: usize,
        /// The values of its parameters.
        arguments: Vec<Term>,
    },
    /// Ends the procedure; at its end without values.
    Return(Vec<Term>),
    /// Starts threads that run a procedure.
    Start {
        /// The procedure.
        procedure: usize,
        /// The values of its parameters.
        arguments: Vec<Term>,
        /// How many.
        count: u32,
    },
    /// Starts a thread at a position, with a copy of the local variables.
    StartAt(usize),
    /// Ends the thread.
    EndThread,
    /// Sleeps until a broadcast.
    Sleep,
    /// Wakes all threads that sleep.
    Broadcast,
}

/// A value that is stored.
#[derive(Debug)]
pub struct Store {
    /// Where it goes, if anywhere.
    pub target: Option<Var>,
    /// The value.
    pub value: Term,
}

/// An expression that is true or false.
pub type Condition = Term;

/// A variable: where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Var {
    /// Whether it is a shared one.
    pub shared: bool,
    /// Where it lies in the shared row or in the frame.
    pub field: Field,
}

impl Var {
    /// Whether it has no value yet.
    #[inline]
    pub fn is_unset(self, shared: &[u64], frame: &[u64]) -> bool {
        self.field.code(if self.shared { shared } else { frame }) == self.field.unset
    }
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Term {
    /// A value.
    Value(u64),
    /// One of so many values.
    Any(u32),
    /// The value of a variable.
    Read(Var),
    /// In a constraint, its new value.
    New(Var),
    /// The other truth value.
    Not(Box<Self>),
    /// The right operand is looked at if the left one is 1.
    And(Box<[Self; 2]>),
    /// The right operand is looked at if the left one is 0.
    Or(Box<[Self; 2]>),
    /// The right operand is looked at if the left one is 1.
    Implies(Box<[Self; 2]>),
    /// Whether values are equal.
    Equal(Box<[Self; 2]>),
    /// Whether they are not.
    Unequal(Box<[Self; 2]>),
    /// The second if the first is 1, else the third.
    Choice(Box<[Self; 3]>),
    /// 1 if the first is 1, else 0 if the second is 1, else any.
    Choose(Box<[Self; 2]>),
}

impl Term {
    /// Whether there may be several values.
    fn chooses(&self) -> bool {
        match self {
            Self::Value(_) => false,
            Self::Any(ways) => *ways > 1,
            Self::Read(variable) | Self::New(variable) => variable.field.may_be_unset(),
            Self::Not(operand) => operand.chooses(),
            Self::And(operands) | Self::Or(operands) | Self::Implies(operands) => operands.iter().any(Self::chooses),
            Self::Equal(operands) | Self::Unequal(operands) => operands.iter().any(Self::chooses),
            Self::Choice(parts) => parts.iter().any(Self::chooses),
            Self::Choose(_) => true,
        }
    }

    /// Adds the variables that it may read before they have a value.
    pub(super) fn opens(&self, found: &mut Vec<Var>) {
        let mut all = |parts: &[Self]| parts.iter().for_each(|part| part.opens(found));
        match self {
            Self::Value(_) | Self::Any(_) => {}
            Self::Read(variable) | Self::New(variable) => {
                if variable.field.may_be_unset() && !found.contains(variable) {
                    found.push(*variable);
                }
            }
            Self::Not(operand) => operand.opens(found),
            Self::And(parts) | Self::Or(parts) | Self::Implies(parts) => all(&**parts),
            Self::Equal(parts) | Self::Unequal(parts) | Self::Choose(parts) => all(&**parts),
            Self::Choice(parts) => all(&**parts),
        }
    }

    /// At most how many ways there are to evaluate it, apart from variables that have no value yet.
    fn ways(&self) -> u64 {
        let all = |parts: &[Self]| parts.iter().fold(1, |ways: u64, part| ways.saturating_mul(part.ways()));
        match self {
            Self::Value(_) | Self::Read(_) | Self::New(_) => 1,
            Self::Any(ways) => u64::from(*ways),
            Self::Not(operand) => operand.ways(),
            Self::And(operands) | Self::Or(operands) | Self::Implies(operands) => all(&**operands),
            Self::Equal(operands) | Self::Unequal(operands) => all(&**operands),
            Self::Choice(parts) => parts[0].ways().saturating_mul(parts[1].ways().max(parts[2].ways())),
            Self::Choose(operands) => all(&**operands).saturating_mul(2),
        }
    }

    /// Whether it may have both truth values, whatever the variables are.
    fn is_any(&self) -> bool {
        matches!(self, Self::Any(2))
    }
}

impl Op {
    /// The expressions that it evaluates.
    fn terms(&self) -> Box<dyn Iterator<Item = &Term> + '_> {
        match self {
            Self::Assign(stores, constraint) => Box::new(stores.iter().map(|store| &store.value).chain(constraint)),
            Self::Assume(condition) | Self::Assert(condition) | Self::Branch(condition, ..) => {
                Box::new(std::iter::once(condition))
            }
            Self::Call { arguments: terms, .. } | Self::Return(terms) | Self::Start { arguments: terms, .. } => {
                Box::new(terms.iter())
            }
            Self::Goto(_) | Self::Lock(_) | Self::Skip | Self::Insist(_) | Self::StartAt(_) => Box::new([].iter()),
            Self::EndThread | Self::Sleep | Self::Broadcast => Box::new([].iter()),
        }
    }

    /// Adds the variables that it may read before they have a value.
    fn opens(&self, found: &mut Vec<Var>) {
        self.terms().for_each(|term| term.opens(found));
        if let Self::Lock(variable) = self {
            Term::Read(*variable).opens(found);
        }
    }

    /// Whether there may be several ways to execute it, and how many at most.
    fn ways(&self) -> (bool, u64) {
        let (chooses, ways) = match self {
            Self::Goto(targets) => (targets.len() > 1, targets.len() as u64),
            Self::Lock(variable) => (variable.field.may_be_unset(), 1),
            _ => (false, 1),
        };
        self.terms().fold((chooses, ways), |(chooses, ways), term| {
            (chooses || term.chooses(), ways.saturating_mul(term.ways()))
        })
    }
}

impl Code {
    /// Makes a program ready.
    pub fn new(program: &Program, options: Options, face: Face) -> Result<Self, Unsupported> {
        let setup = Setup::of(program).filter(|setup| options.reduce || setup.started.is_empty());
        let given = Arc::new(program.clone());
        let mut program = program.clone();
        if let Some(setup) = &setup {
            program.shared.iter_mut().zip(&setup.shared).for_each(|(variable, init)| variable.init = *init);
        }
        let flows: Vec<_> = program.procedures.iter().map(Flow::of).collect();
        let kept = match options.reduce {
            true => Kept::what_matters(&program, &flows, options.keep_dead),
            false => Kept::all(&program),
        };
        if program.procedures.len() > Head::MOST_PROCEDURES {
            return Err(Unsupported(format!("the program has more than {} procedures", Head::MOST_PROCEDURES)));
        }
        let open = |number: usize| program.shared[number].init.is_none() && kept.shared.contains(number);
        let shared = Layout::new(&program, HELD_BITS, &program.shared, open)
            .map_err(|bits| too_many(bits, "that are shared", &program, &program.shared))?;
        let mut code = Self {
            shared_mask: shared.mask(HELD_BITS, kept.shared.iter()),
            given,
            program: Arc::new(program),
            options,
            setup,
            kept,
            shared,
            procedures: Vec::new(),
        };
        code.procedures =
            (0..).zip(&flows).map(|(number, flow)| code.procedure(number, flow)).collect::<Result<_, _>>()?;
        code.allow_passing(&flows, face);
        Ok(code)
    }

    fn procedure(&self, number: usize, flow: &Flow) -> Result<ProcedureCode, Unsupported> {
        let procedure = &self.program.procedures[number];
        let (kept, during) = (&self.kept.at[number], &self.kept.during[number]);
        let entry = procedure.body.first().copied().unwrap_or(procedure.statements.len());
        // Parameters are given; others that start with any value have none until they are read.
        let open = |local: usize| {
            local >= procedure.parameters && procedure.locals[local].init.is_none() && kept[entry].contains(local)
        };
        let layout = Layout::new(&self.program, Head::BITS, &procedure.locals, open)
            .map_err(|bits| too_many(bits, &format!("of {}", procedure.name), &self.program, &procedure.locals))?;
        let compiler = Compiler { code: self, number, position: entry, procedure, layout: &layout };
        let mask = |kept: &Variables| layout.mask(Head::BITS, kept.iter());
        let mut first = vec![0; layout.words];
        first[0] = Head::new(number, entry).0;
        for (local, variable) in procedure.locals.iter().enumerate().filter(|(local, _)| kept[entry].contains(*local)) {
            let field = layout.fields[local];
            field.put(&mut first, variable.init.map_or(if open(local) { field.unset } else { 0 }, u64::from));
        }
        let end = procedure.statements.len();
        let enforced = procedure.enforced.as_ref().map(|condition| compiler.term(condition));
        let mut instructions = Vec::with_capacity(end + 1);
        for position in 0..=end {
            let at = compiler.first_of(position);
            let next = flow.next.get(at).copied().unwrap_or(end);
            let compiler = Compiler { position, ..compiler };
            let (action, chooses) = compiler.op(at, next)?;
            let mut opens = Vec::new();
            action.opens(&mut opens);
            let mut decisive = opens.clone();
            enforced.iter().for_each(|condition| condition.opens(&mut decisive));
            if let Op::Call { procedure: called, .. } = &action
                && let Some(condition) = &self.program.procedures[*called].enforced
            {
                condition.slots(&mut |slot| {
                    if let Slot::Shared(_) = slot {
                        Term::Read(compiler.variable(slot)).opens(&mut decisive);
                    }
                });
            }
            let inside = |position: usize| flow.atomics(position).next().is_some();
            instructions.push(Instruction {
                at,
                next,
                chooses,
                opens,
                decisive,
                inside: inside(position),
                executed_inside: inside(at),
                passed: [Passed::Never; 2],
                action,
                mask: mask(&kept[position]),
                during: mask(&during[position]),
            });
        }
        let (parameters, results) = (procedure.parameters, procedure.results.len());
        Ok(ProcedureCode { entry, first, parameters, results, enforced, instructions, layout })
    }

    /// Puts the first frame of a procedure somewhere.
    pub fn enter(&self, procedure: usize, arguments: &[u64], frame: &mut Vec<u64>) {
        let called = &self.procedures[procedure];
        frame.clear();
        frame.extend_from_slice(&called.first);
        for (field, &value) in called.layout.fields[..called.parameters].iter().zip(arguments) {
            field.put(frame, value);
        }
        self.tidy(frame);
    }

    /// The threads at the start: procedure, position and arguments; where threads are created, `main` alone.
    pub fn threads(&self) -> Vec<(usize, usize, Vec<u32>)> {
        let entry = |procedure: usize| self.procedures[procedure].entry;
        let Some(setup) = &self.setup else {
            return vec![(self.program.main, entry(self.program.main), Vec::new())];
        };
        let main = setup.main.map(|position| (self.program.main, position, Vec::new()));
        let started = setup.started.iter().map(|(number, given)| (*number, entry(*number), given.clone()));
        main.into_iter().chain(started).collect()
    }

    /// What threads are called: after the procedure that they run; where threads are created, all but the first are places.
    pub fn thread_names(&self) -> Vec<String> {
        let threads = self.threads();
        let plain = threads.iter().map(|(procedure, ..)| self.program.procedures[*procedure].name.as_str());
        let places = if self.setup.is_none() { self.options.places.saturating_sub(1) } else { 0 };
        let plain: Vec<_> = plain.chain(std::iter::repeat_n("thread", places)).collect();
        let alone = |name: &str| name != "thread" && plain.iter().filter(|other| **other == name).count() == 1;
        let mut used: FxHashMap<&str, usize> = FxHashMap::default();
        let numbered = plain.iter().map(|name| {
            let count = used.entry(name).or_insert(0);
            *count += 1;
            if alone(name) { (*name).to_owned() } else { format!("{name}#{count}") }
        });
        numbered.collect()
    }

    /// The first frame of a thread that is there from the start, where it rests.
    pub fn first_frame(&self, procedure: usize, position: usize, given: &[u32], machine: &mut Machine) -> Vec<u64> {
        let mut frame = Vec::new();
        let arguments: Vec<_> = given.iter().copied().map(u64::from).collect();
        self.enter(procedure, &arguments, &mut frame);
        frame[0] = Head(frame[0]).at(position).root(true).0;
        let mut first = frame.clone();
        self.begin(&frame, machine, &mut |machine| first.clone_from(&machine.frame));
        first
    }

    /// The shared row at the start.
    pub fn start(&self) -> Vec<u64> {
        let mut row = vec![0; self.shared.words];
        for (variable, field) in self.program.shared.iter().zip(&self.shared.fields) {
            // Where a variable is not kept there is no code for one that has no value yet.
            let open = if field.may_be_unset() { field.unset } else { 0 };
            field.put(&mut row, variable.init.map_or(open, u64::from));
        }
        row.iter_mut().zip(&self.shared_mask).for_each(|(word, mask)| *word &= mask);
        row
    }

    /// Forgets the values of a frame that are not kept.
    #[inline]
    pub fn tidy(&self, frame: &mut [u64]) {
        let head = Head(frame[0]);
        let instruction = &self.procedures[head.procedure()].instructions[head.position()];
        let mask = if head.stage() == Stage::Storing { &instruction.during } else { &instruction.mask };
        frame[1..].iter_mut().zip(&mask[1..]).for_each(|(word, mask)| *word &= mask);
    }

    /// The instruction at which a frame stands.
    #[inline]
    pub fn instruction(&self, head: Head) -> &Instruction {
        &self.procedures[head.procedure()].instructions[head.position()]
    }

    /// Whether no other thread may move while a frame is on top of its thread.
    #[inline]
    pub fn is_uninterrupted(&self, head: Head) -> bool {
        head.is_under() || head.insists() || self.instruction(head).inside
    }
}

/// Says which variables take so many bits.
fn too_many(bits: u64, place: &str, program: &Program, variables: &[Variable]) -> Unsupported {
    let size = |variable: &&Variable| super::layout::bits(program, variable.kind);
    let widest = variables.iter().max_by_key(size);
    let widest = widest.map_or(String::new(), |widest| format!("; {} takes {} of them", widest.name, size(&widest)));
    Unsupported(format!("the variables {place} take {bits} bits, and {} is the most{widest}", super::layout::MOST_BITS))
}

/// Makes the statements of a procedure ready.
#[derive(Clone, Copy)]
struct Compiler<'a> {
    code: &'a Code,
    number: usize,
    /// Where the thread stands.
    position: usize,
    procedure: &'a Procedure,
    layout: &'a Layout,
}

impl Compiler<'_> {
    /// The statement to execute at a position: an atomic block is entered with its first one, if it has one.
    fn first_of(&self, mut position: usize) -> usize {
        while let Some(Action::Atomic(block)) = self.procedure.statements.get(position).map(|s| &s.action)
            && let Some(&first) = block.first()
        {
            position = first;
        }
        position
    }

    /// What is done at a position, and whether there may be several ways.
    fn op(&self, position: usize, next: usize) -> Result<(Op, bool), Unsupported> {
        let Some(statement) = self.procedure.statements.get(position) else {
            return Ok((Op::Return(Vec::new()), false));
        };
        let first = |block: &[usize], otherwise: usize| block.first().copied().unwrap_or(otherwise);
        let terms = |expressions: &[Expression]| expressions.iter().map(|e| self.term(e)).collect::<Vec<_>>();
        let op = match &statement.action {
            Action::Skip | Action::Atomic(_) => Op::Skip, // An atomic block is empty here.
            Action::Goto(targets) => Op::Goto(targets.clone()),
            Action::Assign { targets, values, constraint } => {
                let stores = targets.iter().zip(values).map(|(target, value)| Store {
                    target: target.map(|slot| self.variable(slot)),
                    value: match constraint {
                        None => self.stored(*target, value, next),
                        Some(_) => self.term(value),
                    },
                });
                Op::Assign(stores.collect(), constraint.as_ref().map(|constraint| self.term(constraint)))
            }
            Action::Assume(condition) | Action::Wait(condition) => Op::Assume(self.term(condition)),
            Action::Assert(condition) => Op::Assert(self.term(condition)),
            Action::If(condition, then, otherwise) => {
                Op::Branch(self.term(condition), first(then, next), first(otherwise, next))
            }
            Action::While(condition, body) => Op::Branch(self.term(condition), first(body, position), next),
            Action::AtomicBegin => Op::Insist(true),
            Action::AtomicEnd => Op::Insist(false),
            Action::Lock(slot) => Op::Lock(self.variable(*slot)),
            Action::Unlock(slot) => {
                Op::Assign(vec![Store { target: Some(self.variable(*slot)), value: Term::Value(0) }], None)
            }
            Action::Call { targets, procedure, arguments } => Op::Call {
                targets: targets.iter().map(|target| target.map(|slot| self.variable(slot))).collect(),
                procedure: *procedure,
                arguments: self.arguments(*procedure, arguments),
            },
            Action::Return(values) => Op::Return(terms(values)),
            Action::Start { procedure, arguments, count } => {
                Op::Start { procedure: *procedure, arguments: self.arguments(*procedure, arguments), count: *count }
            }
            Action::StartAt(to) => Op::StartAt(*to),
            Action::EndThread => Op::EndThread,
            Action::Sleep => Op::Sleep,
            Action::Broadcast => Op::Broadcast,
            Action::Dead(slots) => {
                let stores = slots.iter().map(|&slot| Store {
                    target: Some(self.variable(slot)),
                    value: self.stored(Some(slot), &Expression::Any(self.kind(slot)), next),
                });
                Op::Assign(stores.collect(), None)
            }
        };
        let (chooses, ways) = op.ways();
        match ways > MOST_WAYS {
            true => Err(Unsupported(format!("line {} can be executed in more than {MOST_WAYS} ways", statement.line))),
            false => Ok((op, chooses)),
        }
    }

    fn kind(&self, slot: Slot) -> Kind {
        match slot {
            Slot::Shared(number) => self.code.program.shared[number].kind,
            Slot::Local(number) => self.procedure.locals[number].kind,
        }
    }

    fn variable(&self, slot: Slot) -> Var {
        match slot {
            Slot::Shared(number) => Var { shared: true, field: self.code.shared.fields[number] },
            Slot::Local(number) => Var { shared: false, field: self.layout.fields[number] },
        }
    }

    /// A value that is stored. Where it is not kept it is not even looked at.
    fn stored(&self, target: Option<Slot>, value: &Expression, next: usize) -> Term {
        let kept = target.is_some_and(|slot| self.keeps(self.number, next, slot));
        if kept { self.term(value) } else { Term::Value(0) }
    }

    /// The values of parameters, as far as they are kept.
    fn arguments(&self, called: usize, arguments: &[Expression]) -> Vec<Term> {
        let procedure = &self.code.program.procedures[called];
        let entry = procedure.body.first().copied().unwrap_or(procedure.statements.len());
        let term = |(number, argument): (usize, &Expression)| match self.keeps(called, entry, Slot::Local(number)) {
            true => self.term(argument),
            false => Term::Value(0),
        };
        arguments.iter().enumerate().map(term).collect()
    }

    fn keeps(&self, procedure: usize, position: usize, slot: Slot) -> bool {
        match slot {
            Slot::Shared(number) => self.code.kept.shared.contains(number),
            Slot::Local(number) => self.code.kept.at[procedure][position].contains(number),
        }
    }

    /// The value of a variable; where it is not kept, it may be any.
    fn read(&self, slot: Slot) -> Term {
        match self.keeps(self.number, self.position, slot) {
            true => Term::Read(self.variable(slot)),
            false => Term::Any(self.code.program.values(self.kind(slot))),
        }
    }

    fn term(&self, expression: &Expression) -> Term {
        let two = |left: &Expression, right: &Expression| Box::new([self.term(left), self.term(right)]);
        match expression {
            Expression::Value(value, _) => Term::Value(u64::from(*value)),
            Expression::Any(kind) => Term::Any(self.code.program.values(*kind)),
            Expression::Read(slot) => self.read(*slot),
            Expression::New(slot) => Term::New(self.variable(*slot)),
            Expression::Not(operand) => match self.term(operand) {
                any if any.is_any() => any,
                operand => Term::Not(Box::new(operand)),
            },
            Expression::Binary(operator, left, right) => {
                let operands = two(left, right);
                let constant = operands.iter().all(|operand| matches!(operand, Term::Any(2)));
                match operator {
                    // What has any value in each way has any value.
                    _ if constant => Term::Any(2),
                    Operator::And => Term::And(operands),
                    Operator::Or => Term::Or(operands),
                    Operator::Implies => Term::Implies(operands),
                    Operator::Equal => Term::Equal(operands),
                    Operator::Xor | Operator::Unequal => Term::Unequal(operands),
                }
            }
            Expression::Choice(condition, then, otherwise) => {
                Term::Choice(Box::new([self.term(condition), self.term(then), self.term(otherwise)]))
            }
            Expression::Choose(positive, negative) => Term::Choose(two(positive, negative)),
        }
    }
}
