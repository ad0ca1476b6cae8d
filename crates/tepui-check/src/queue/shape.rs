//! Which states of machines a program may have, as far as the numbers in them go: the interpreter relies on these.

use std::collections::BTreeSet;

use tepui_model::queue::run::{Frame, Letter, Local, Task};
use tepui_model::queue::{Handler, Instruction, Program, Value};

use super::cover::Valued;

/// What the numbers in a state of a machine may be.
pub(super) struct Shapes<'p> {
    program: &'p Program,
    /// For each kind the functions that it may be in.
    functions: Vec<BTreeSet<usize>>,
}

impl<'p> Shapes<'p> {
    /// Those of a program.
    pub(super) fn of(program: &'p Program) -> Self {
        let functions = (0..program.kinds.len()).map(|kind| functions_of(program, kind)).collect();
        Self { program, functions }
    }

    /// Whether all events in a value are events of the program.
    pub(super) fn has_events(&self, value: &Value) -> bool {
        match value {
            Value::Event(event) => (*event as usize) < self.program.events.len(),
            Value::Tuple(parts) | Value::Record(_, parts) | Value::Seq(parts) | Value::Set(parts) => {
                parts.iter().all(|part| self.has_events(part))
            }
            Value::Map(entries) => entries.iter().all(|(key, value)| self.has_events(key) && self.has_events(value)),
            _ => true,
        }
    }

    /// Whether a machine of a kind may be in a state.
    pub(super) fn fits(&self, kind: u32, local: &Local) -> bool {
        let Some(own) = self.program.kinds.get(kind as usize) else { return false };
        let functions = &self.functions[kind as usize];
        let state = |state: u32| (state as usize) < own.states.len();
        let event = |letter: &Letter| (letter.event as usize) < self.program.events.len();
        let agenda = local.agenda.iter().all(|task| match task {
            Task::Enter(number) => state(*number),
            Task::Run(number, _) => functions.contains(&(*number as usize)),
            Task::Handle(letter) => event(letter),
            Task::Exit | Task::Leave | Task::Entry(_) | Task::Below => true,
        });
        let ended = local.frames.is_empty() && local.agenda.is_empty() && local.variables.is_empty();
        let variables = local.halted && ended || local.variables.len() == own.variables.len();
        let pending = local.pending.as_ref().is_none_or(|(_, letter)| event(letter));
        let mut events = true;
        (kind, local.clone()).values(&mut |value| events &= self.has_events(value));
        let frames = self.frames_fit(functions, &local.frames);
        local.states.iter().all(|&number| state(number)) && frames && agenda && variables && pending && events
    }

    fn frames_fit(&self, functions: &BTreeSet<usize>, frames: &[Frame]) -> bool {
        let mut below = None;
        frames.iter().all(|frame| {
            let function = Some(frame.function as usize).filter(|function| functions.contains(function));
            let function = function.map(|function| &self.program.functions[function]);
            let fits = function.is_some_and(|function| {
                frame.slots.len() == function.slots && frame.at as usize <= function.code.len()
            });
            // What it returns has a place.
            let returns = frame.into.is_none_or(|into| below.is_some_and(|slots| (into as usize) < slots));
            below = Some(frame.slots.len());
            fits && returns
        })
    }
}

/// The functions that a machine of a kind may be in.
fn functions_of(program: &Program, kind: usize) -> BTreeSet<usize> {
    let mut open = Vec::new();
    for state in &program.kinds[kind].states {
        open.extend([state.entry, state.exit].into_iter().flatten());
        for (_, handler) in &state.handlers {
            match handler {
                Handler::Do(function) | Handler::Goto(_, Some(function)) => open.push(*function),
                Handler::Goto(_, None) | Handler::Ignore | Handler::Push(_) => {}
            }
        }
    }
    let mut found = BTreeSet::new();
    while let Some(function) = open.pop() {
        if found.insert(function) {
            let called = program.functions[function].code.iter();
            open.extend(called.filter_map(|own| match own {
                Instruction::Call(called, ..) => Some(*called),
                _ => None,
            }));
        }
    }
    found
}
