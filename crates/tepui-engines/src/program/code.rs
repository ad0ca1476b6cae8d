//! A program, made ready to be executed: every variable is a field of a row of words, every statement knows what it needs.
//!
//! This is read off the program's text, in time linear in it; nothing here enumerates values.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tepui_model::program::flow::Flow;
use tepui_model::program::{Action, Procedure, Program, Slot, Variable};

use super::compiler::Compiler;
use super::layout::{Head, Layout, Stage};
use super::local_steps::Passed;
use super::machine::Machine;
use super::setup::Setup;
use super::terms::{Condition, Target, Term, Var};
use super::variables::{Kept, Variables};
use super::{Face, Options, Patience, Unsupported};

/// How many bits of the shared row say something else than values: whether a thread must not be interrupted.
pub const HELD_BITS: u32 = 1;

/// A program, made ready.
#[derive(Debug)]
pub struct Code {
    /// The program as it was given.
    pub given: Arc<Program>,
    /// The program, with the initial values that `main` gives to shared variables before it starts threads.
    pub program: Arc<Program>,
    /// How it was made ready.
    pub options: Options,
    /// Whether to stop in the middle of a step that has very many results.
    pub patience: Patience,
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
    pub enforced: Option<Term>,
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
    /// Whether there may be several ways to store the results of a call.
    pub chooses_at_return: bool,
    /// Whether it may fail other than by an assertion.
    pub doubtful: bool,
    /// Variables that it may read before they have a value.
    pub opens: Vec<Var>,
    /// All of these that decide whether a thread is blocked here: what is enforced before and after it, too.
    pub decisive: Vec<Var>,
    /// Whether it is executed in one way, and nothing is enforced before or after it.
    pub plain: bool,
    /// Whether it changes no other thread.
    pub alone: bool,
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
    Assign(Vec<Store>, Option<Term>),
    /// Goes on if a condition holds.
    Assume(Term),
    /// A condition that must hold.
    Assert(Term),
    /// Goes on here or there.
    Branch(Term, usize, usize),
    /// Begins or ends to insist on not being interrupted.
    Insist(bool),
    /// Waits until a variable is 0 and makes it 1; or, if it is a semaphore, until it is above 0 and takes 1 away.
    Take(Target, bool),
    /// A variable becomes its first value, and the loop begins at a position.
    Loop(Var, usize),
    /// A variable becomes its next value, and the loop goes on at a position; after the last one it is done.
    Next(Var, usize),
    /// Calls a procedure.
    Call {
        /// Where its results go.
        targets: Vec<Option<Target>>,
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
    /// Starts a thread at a position, with a copy of the local variables; those that both read must have values.
    StartAt(usize, Vec<Term>),
    /// Ends the thread.
    EndThread,
    /// Makes a lock 0, if there is one, and sleeps on a condition.
    Sleep(Condition, Option<Target>),
    /// Wakes threads that sleep on a condition, all or one of them.
    Wake(Condition, bool),
}

/// A value that is stored.
#[derive(Debug)]
pub struct Store {
    /// Where it goes, if anywhere.
    pub target: Option<Target>,
    /// The value.
    pub value: Term,
}

impl Op {
    /// The expressions that it evaluates. Those that lead to the targets of a call are evaluated when it returns.
    fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Assign(stores, constraint) => {
                let targets = stores.iter().filter_map(|store| store.target.as_ref()).flat_map(Target::terms);
                targets.chain(stores.iter().map(|store| &store.value)).chain(constraint).collect()
            }
            Self::Assume(condition) | Self::Assert(condition) | Self::Branch(condition, ..) => vec![condition],
            Self::Call { arguments: terms, .. }
            | Self::Return(terms)
            | Self::Start { arguments: terms, .. }
            | Self::StartAt(_, terms) => terms.iter().collect(),
            Self::Take(target, _) => target.terms().collect(),
            Self::Sleep(condition, lock) => {
                condition.indices.iter().map(|index| &index.value).chain(lock.iter().flat_map(Target::terms)).collect()
            }
            Self::Wake(condition, _) => condition.indices.iter().map(|index| &index.value).collect(),
            Self::Goto(_) | Self::Skip | Self::Insist(_) => Vec::new(),
            Self::Loop(..) | Self::Next(..) | Self::EndThread => Vec::new(),
        }
    }

    /// Adds the variables that it may read before they have a value.
    fn opens(&self, found: &mut Vec<Var>) {
        self.terms().into_iter().for_each(|term| term.opens(found));
        if let Self::Take(target, _) = self {
            target.read().opens(found);
        }
    }

    /// Whether there may be several ways to execute it, and how many at most.
    pub(super) fn ways(&self) -> (bool, u64) {
        let (chooses, ways) = match self {
            Self::Goto(targets) => (targets.len() > 1, targets.len() as u64),
            Self::Take(target, _) => (target.read().chooses(), 1),
            _ => (false, 1),
        };
        self.terms().into_iter().fold((chooses, ways), |(chooses, ways), term| {
            (chooses || term.chooses(), ways.saturating_mul(term.ways()))
        })
    }

    /// Whether there may be several ways to store the results of a call.
    fn chooses_at_return(&self) -> bool {
        let Self::Call { targets, .. } = self else { return false };
        targets.iter().flatten().flat_map(Target::terms).any(Term::chooses)
    }
}

impl Code {
    /// Makes a program ready.
    pub fn new(program: &Program, options: Options, face: Face, patience: Patience) -> Result<Self, Unsupported> {
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
        if program.procedures.iter().any(|procedure| procedure.statements.len() >= Head::MOST_STATEMENTS) {
            return Err(Unsupported(format!("a procedure has more than {} statements", Head::MOST_STATEMENTS)));
        }
        let open = |number: usize| program.shared[number].init.is_none() && kept.shared.contains(number);
        let shared = Layout::new(&program, HELD_BITS, &program.shared, open)
            .map_err(|bits| too_many(bits, "that are shared", &program, &program.shared))?;
        let mut code = Self {
            shared_mask: shared.mask(HELD_BITS, kept.shared.iter()),
            given,
            program: Arc::new(program),
            options,
            patience,
            setup,
            kept,
            shared,
            procedures: Vec::new(),
        };
        let runs = procedures_that_run(&code.program);
        let procedure = |(number, flow)| code.procedure(number, flow, runs[number]);
        code.procedures = (0..).zip(&flows).map(procedure).collect::<Result<_, _>>()?;
        code.allow_passing(&flows, face);
        Ok(code)
    }

    fn procedure(&self, number: usize, flow: &Flow, runs: bool) -> Result<ProcedureCode, Unsupported> {
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
            let (action, chooses) = match compiler.op(at, next) {
                // Nobody executes it.
                Err(_) if !runs => (Op::EndThread, false),
                other => other?,
            };
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
                plain: !chooses && !self.enforces_around(procedure, &action),
                alone: !matches!(action, Op::Start { .. } | Op::StartAt(..) | Op::Wake(..)),
                chooses_at_return: action.chooses_at_return(),
                doubtful: at < end && self.program.is_doubtful(number, at),
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

    /// Whether something is enforced before or after a statement of a procedure.
    fn enforces_around(&self, procedure: &Procedure, action: &Op) -> bool {
        let called = if let Op::Call { procedure, .. } = action { Some(*procedure) } else { None };
        procedure.enforced.is_some() || called.is_some_and(|called| self.program.procedures[called].enforced.is_some())
    }

    /// Puts the first frame of a procedure somewhere.
    pub fn enter(&self, procedure: usize, arguments: &[i64], frame: &mut Vec<u64>) {
        let called = &self.procedures[procedure];
        frame.clear();
        frame.extend_from_slice(&called.first);
        for (field, &value) in called.layout.fields[..called.parameters].iter().zip(arguments) {
            field.put(frame, field.code_of(value).unwrap_or_default());
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
        let fields = self.procedures[procedure].layout.fields.iter();
        let arguments: Vec<_> = fields.zip(given).map(|(field, &code)| field.low + i64::from(code)).collect();
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

/// The procedures that `main` calls or starts, by whatever detours.
fn procedures_that_run(program: &Program) -> Vec<bool> {
    let mut runs = vec![false; program.procedures.len()];
    let mut open = vec![program.main];
    while let Some(number) = open.pop() {
        if !std::mem::replace(&mut runs[number], true) {
            open.extend(program.procedures[number].statements.iter().filter_map(|statement| match statement.action {
                Action::Call { procedure, .. } | Action::Start { procedure, .. } => Some(procedure),
                _ => None,
            }));
        }
    }
    runs
}

/// Says which variables take so many bits.
fn too_many(bits: u64, place: &str, program: &Program, variables: &[Variable]) -> Unsupported {
    let size = |variable: &&Variable| super::layout::bits(program, variable.kind);
    let widest = variables.iter().max_by_key(size);
    let widest = widest.map_or(String::new(), |widest| format!("; {} takes {} of them", widest.name, size(&widest)));
    Unsupported(format!("the variables {place} take {bits} bits, and {} is the most{widest}", super::layout::MOST_BITS))
}
