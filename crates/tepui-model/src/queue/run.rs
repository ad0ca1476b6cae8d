//! What one machine does, whatever the others do.
//!
//! A step begins with an event, if the machine is about to take one, and ends just after the next `send` or `new`, or where
//! the machine is about to take another event, or has halted. Its outcome depends on nothing but the machine's own state,
//! the event, and what is chosen on the way.

mod round;
mod step;

use super::evaluate::Error;
use super::{HALT, Handler, Instruction, NULL, Program, Value};
use step::Run;

/// The state of one machine, without its queue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Local {
    /// The states that it is in, the topmost last.
    pub states: Vec<u32>,
    /// The functions that it is in, the innermost last.
    pub frames: Vec<Frame>,
    /// What else is to be done before it takes an event; what comes first stands last.
    pub agenda: Vec<Task>,
    /// Its variables.
    pub variables: Vec<Value>,
    /// What specs have heard of and is not yet in the queue of its receiver.
    pub pending: Option<(u32, Letter)>,
    /// Whether it has halted.
    pub halted: bool,
}

impl Local {
    /// Its values, one after the other.
    pub fn values_mut(&mut self, each: &mut dyn FnMut(&mut Value)) {
        self.variables.iter_mut().for_each(&mut *each);
        self.frames.iter_mut().flat_map(|frame| &mut frame.slots).for_each(&mut *each);
        for task in &mut self.agenda {
            match task {
                Task::Entry(payload) | Task::Run(_, payload) => each(payload),
                Task::Handle(letter) => each(&mut letter.payload),
                Task::Exit | Task::Leave | Task::Enter(_) | Task::Below => {}
            }
        }
        self.pending.iter_mut().for_each(|(_, letter)| each(&mut letter.payload));
    }

    /// What it has in common with another one that stands at the same place: other values are forgotten.
    fn common(&self, other: &Self) -> Option<Self> {
        let blank = |local: &Self| {
            let mut local = local.clone();
            local.values_mut(&mut |value| *value = Value::Forgotten);
            local
        };
        if blank(self) != blank(other) {
            return None;
        }
        let (mut known, mut values) = (self.clone(), Vec::new());
        other.clone().values_mut(&mut |value| values.push(value.clone()));
        let mut values = values.into_iter();
        known.values_mut(&mut |value| {
            if values.next().as_ref() != Some(value) {
                *value = Value::Forgotten;
            }
        });
        Some(known)
    }

    /// How much there is to remember of it, roughly.
    fn size(&self) -> usize {
        let slots = self.frames.iter().flat_map(|frame| &frame.slots);
        let values: usize = self.variables.iter().chain(slots).map(Value::size).sum();
        values + 4 * (self.states.len() + self.frames.len() + self.agenda.len())
    }
}

/// A function that is being executed.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame {
    /// The function.
    pub function: u32,
    /// The next instruction.
    pub at: u32,
    /// What is in its slots.
    pub slots: Vec<Value>,
    /// The slot of the frame below that its result goes to.
    pub into: Option<u32>,
}

/// Something to be done between two functions.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Task {
    /// The exit function of the topmost state runs.
    Exit,
    /// The topmost state is left.
    Leave,
    /// A state is entered on top of the others.
    Enter(u32),
    /// The entry function of the topmost state runs.
    Entry(Value),
    /// A function runs.
    Run(u32, Value),
    /// An event is handled.
    Handle(Letter),
    /// There must be a state below the topmost one.
    Below,
}

/// An event with its payload.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Letter {
    /// The event.
    pub event: u32,
    /// The payload.
    pub payload: Value,
}

/// What a machine is about to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waiting<'p> {
    /// It has something to do.
    Busy,
    /// It takes an event that its states do not defer.
    Idle,
    /// It takes an event that one of these names.
    Receive(&'p [(u32, usize)]),
    /// It has halted.
    Halted,
}

/// Where a choice stands: a function and an instruction.
pub type Site = (u32, u32);

/// What is chosen on the way.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// The numbers that are chosen, each with how many there are and, if it is a fair choice, where it stands.
    made: Vec<(u32, u32, Option<Site>)>,
    next: usize,
    /// Where choices that are not given come from; if it is 0, the first one is made.
    seed: u64,
    /// How much all ways together have taken so far.
    spent: usize,
    /// Whether that is too much to go on with others.
    exhausted: bool,
}

impl Choices {
    /// These.
    pub fn of(made: &[u32]) -> Self {
        Self { made: made.iter().map(|&number| (number, u32::MAX, None)).collect(), ..Self::default() }
    }

    /// Any, as a number has it that is not 0.
    pub fn random(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// A choice that is not given.
    fn fresh(&mut self, count: u32) -> u32 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed % u64::from(count.max(1))) as u32
    }

    /// The next choice: one of so many; nothing, if the one that is given is none of them.
    pub fn choose(&mut self, count: u32, fair: Option<Site>) -> Option<u32> {
        if self.next == self.made.len() {
            let number = self.fresh(count);
            self.made.push((number, count, fair));
        }
        let (number, known, kind) = &mut self.made[self.next];
        (*known, *kind) = (count, fair);
        self.next += 1;
        (*number < count).then_some(*number)
    }

    /// The numbers that were chosen.
    pub fn made(&self) -> Vec<u32> {
        self.made[..self.next].iter().map(|(number, ..)| *number).collect()
    }

    /// The fair choices among them: where each stands, and what was chosen.
    pub fn fair(&self) -> Vec<(Site, u32)> {
        self.made[..self.next].iter().filter_map(|(number, _, site)| Some(((*site)?, *number))).collect()
    }

    /// The next ones, if there are others.
    pub fn advance(&mut self) -> bool {
        self.made.truncate(self.next);
        self.next = 0;
        self.exhausted |= self.spent > MOST_SPENT;
        while let Some((number, count, _)) = self.made.last_mut() {
            *number += 1;
            if *number < *count {
                return true;
            }
            self.made.pop();
        }
        false
    }
}

/// What a step comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The machine afterwards.
    pub local: Local,
    /// What the specs are told on the way, one after the other.
    pub told: Vec<Letter>,
    /// What it says on the way.
    pub says: Vec<String>,
    /// How the step ends.
    pub effect: Effect,
    /// The instruction that was executed last, where a function is not at its end.
    pub at: Option<Site>,
    /// The handlers that were used on the way.
    pub handled: Vec<Handled>,
}

/// A handler: a kind of machine or spec, a state of it, and an event.
pub type Handled = (u32, u32, u32);

/// How a step ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// The machine is about to take an event, or has halted, or goes on with what specs have heard of.
    Rests,
    /// An event goes to a machine.
    Sends(u32, Letter),
    /// A machine of a kind is created, with an argument; its reference goes into a slot of the innermost function.
    Creates(u32, Value, Option<u32>),
    /// Something goes wrong.
    Fails(Error, String),
    /// Nobody looks at such executions.
    Pruned,
    /// The machine has been here before in the same step, and a fair choice will lead it elsewhere.
    Repeats,
    /// What happens depends on a forgotten value.
    Forgotten,
    /// A value is not of the type that it is declared with.
    Mistyped,
    /// It depends on a foreign function that may return anything: its number.
    Foreign(usize),
    /// It takes too long.
    Endless,
}

/// The most instructions of a step.
const MOST_INSTRUCTIONS: usize = 1_000_000;

/// The most that all ways of a step may take: instructions, and values that are remembered.
const MOST_SPENT: usize = 4_000_000;

/// The most that specs are told in a step.
const MOST_TOLD: usize = 300;

/// How many values may be remembered of where a step has been.
const MOST_REMEMBERED: usize = 2_000_000;

/// The most that is chosen from.
pub const MOST_CHOICES: usize = 10_000;

impl Local {
    /// A machine of a kind that has just been created.
    pub fn new(program: &Program, kind: usize, argument: Value) -> Self {
        let own = &program.kinds[kind];
        let agenda = vec![Task::Entry(argument), Task::Enter(own.start as u32)];
        let (states, frames, variables) = (Vec::new(), Vec::new(), own.variables.clone());
        let mut local = Self { states, frames, agenda, variables, pending: None, halted: false };
        program.settle(kind, &mut local, true);
        local
    }

    /// What it is about to do.
    pub fn waiting<'p>(&self, program: &'p Program) -> Waiting<'p> {
        match self.frames.last() {
            _ if self.halted => Waiting::Halted,
            _ if self.pending.is_some() => Waiting::Busy,
            None if self.agenda.is_empty() => Waiting::Idle,
            None => Waiting::Busy,
            Some(frame) => match program.functions[frame.function as usize].code.get(frame.at as usize) {
                Some(Instruction::Receive(cases, _)) => Waiting::Receive(cases),
                _ => Waiting::Busy,
            },
        }
    }
}

impl Program {
    /// Whether a machine that is about to take an event may take this one from its queue.
    pub fn may_take(&self, kind: usize, local: &Local, event: u32) -> bool {
        match local.waiting(self) {
            Waiting::Idle => {
                // A state defers what it says, and takes what it handles, although a state below defers it.
                let mut deferred = false;
                for &state in &local.states {
                    let state = &self.kinds[kind].states[state as usize];
                    deferred = state.defers.contains(&event) || deferred && state.handler(event).is_none();
                }
                !deferred
            }
            Waiting::Receive(cases) => {
                cases.iter().any(|(named, _)| *named == event) || self.rules.today && event == HALT
            }
            Waiting::Busy | Waiting::Halted => false,
        }
    }

    /// Whether it may go on where there is nothing to take.
    pub fn takes_null(&self, kind: usize, local: &Local) -> bool {
        match local.waiting(self) {
            Waiting::Idle => self.handling(kind, local, NULL).is_some(),
            Waiting::Receive(cases) => cases.iter().any(|(named, _)| *named == NULL),
            Waiting::Busy | Waiting::Halted => false,
        }
    }

    /// What is done with an event without leaving a state, and the state that says so.
    fn handling(&self, kind: usize, local: &Local, event: u32) -> Option<(u32, Handler)> {
        for (depth, &number) in local.states.iter().rev().enumerate() {
            let state = &self.kinds[kind].states[number as usize];
            match state.handler(event) {
                Some(handler @ (Handler::Do(_) | Handler::Ignore)) => return Some((number, handler)),
                Some(handler) if depth == 0 => return Some((number, handler)),
                Some(_) => return None,
                None if state.defers.contains(&event) => return None,
                None => {}
            }
        }
        None
    }

    /// Whether an attached spec hears of an event from machines of a kind.
    pub fn is_heard(&self, kind: usize, event: u32) -> bool {
        self.specs.iter().any(|spec| spec.observes.contains(&event) && spec.hears.contains(&kind))
    }

    /// What a machine does in a step. `this` is its reference, and `taken` what it takes, if it is about to take something.
    pub fn step(
        &self,
        kind: usize,
        this: u32,
        local: &Local,
        taken: Option<&Letter>,
        choices: &mut Choices,
    ) -> Outcome {
        let mut run = Run::new(self, kind, this, local.clone(), choices);
        let effect = run.step(taken).unwrap_or_else(|effect| effect);
        let Run { mut local, told, says, handled, .. } = run;
        let at = local.frames.last().and_then(|frame| Some((frame.function, frame.at.checked_sub(1)?)));
        self.settle(kind, &mut local, false);
        Outcome { local, told, says, effect, at, handled }
    }

    /// What a spec does in a state with what it is told, or at its beginning.
    pub fn step_of_spec(&self, spec: usize, local: &Local, told: Option<&Letter>, choices: &mut Choices) -> Outcome {
        self.step(self.specs[spec].kind, u32::MAX, local, told, choices)
    }

    /// Follows jumps, ends of functions, and states that are left and entered without a function: nothing happens there.
    fn settle(&self, kind: usize, local: &mut Local, fresh: bool) {
        loop {
            if let Some(frame) = local.frames.last_mut() {
                match self.functions[frame.function as usize].code.get(frame.at as usize) {
                    Some(Instruction::Jump(to)) if *to != frame.at as usize => frame.at = *to as u32,
                    None | Some(Instruction::Return(None)) => _ = local.frames.pop(),
                    _ => return,
                }
                continue;
            }
            if !fresh {
                return;
            }
            let top = local.states.last().map(|&state| &self.kinds[kind].states[state as usize]);
            match local.agenda.last() {
                Some(Task::Exit) if top.is_none_or(|top| top.exit.is_none()) => {}
                Some(Task::Entry(_)) if top.is_none_or(|top| top.entry.is_none()) => {}
                Some(Task::Leave) => _ = local.states.pop(),
                Some(Task::Enter(state)) => local.states.push(*state),
                _ => return,
            }
            local.agenda.pop();
        }
    }
}
