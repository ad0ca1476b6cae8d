//! What of a state matters: values that nothing depends on are forgotten.
//!
//! A value is *needed* at a point if it decides something later on: a branch, an assertion, who gets which event, whether an
//! index is there. What only leads to other values is needed where those are. This is found out backwards, for each kind of
//! machine, until nothing changes. Nothing here has to be right for an answer to be right: no decision may rest on a
//! forgotten value, and whoever takes a step notices.

use std::collections::{BTreeSet, HashMap};

use tepui_model::queue::run::{Frame, Letter, Local, Task};
use tepui_model::queue::{Among, Binary, Expression, HALT, Handler, Instruction, Part, Program, Slot, Unary, Value};

use super::distances::{distances, keep_distances};
use super::names;

type Slots = BTreeSet<Slot>;

/// What is needed.
#[derive(Debug)]
pub struct Needed {
    /// For each kind, function and instruction.
    at: Vec<HashMap<(usize, usize), Slots>>,
    /// For each kind and state, while it waits for an event.
    idle: Vec<Vec<Slots>>,
    /// For each event its payload.
    payloads: Vec<bool>,
    /// For each kind the argument that it is created with.
    arguments: Vec<bool>,
    /// For each kind all variables that are needed somewhere.
    anywhere: Vec<Slots>,
    /// For each kind the variables of which only distances matter.
    distances: Vec<BTreeSet<usize>>,
    /// What is not kept although it is needed.
    forgets: BTreeSet<(usize, usize)>,
}

/// The analysis under way.
struct Analysis<'p> {
    program: &'p Program,
    needed: Needed,
    /// For each kind and function what is needed when it ends.
    after: Vec<HashMap<usize, Slots>>,
    /// For each kind and function, whether its result is.
    results: Vec<HashMap<usize, bool>>,
    changed: bool,
}

impl Needed {
    /// Of a program.
    pub fn of(program: &Program) -> Self {
        let kinds = program.kinds.len();
        let needed = Self {
            at: vec![HashMap::new(); kinds],
            idle: program.kinds.iter().map(|kind| vec![Slots::new(); kind.states.len()]).collect(),
            payloads: vec![false; program.events.len()],
            arguments: vec![false; kinds],
            anywhere: vec![Slots::new(); kinds],
            distances: vec![BTreeSet::new(); kinds],
            forgets: program.forgets.clone(),
        };
        let (after, results) = (vec![HashMap::new(); kinds], vec![HashMap::new(); kinds]);
        let mut analysis = Analysis { program, needed, after, results, changed: true };
        while std::mem::take(&mut analysis.changed) {
            (0..kinds).for_each(|kind| analysis.kind(kind));
        }
        let mut needed = analysis.needed;
        // A circle is one of states, and with distances it would not be.
        let states = program.specs.iter().flat_map(|spec| &program.kinds[spec.kind].states);
        if !states.into_iter().any(|state| state.temperature.is_some()) {
            for kind in 0..kinds {
                let functions = needed.at[kind].keys().map(|(function, _)| *function).collect();
                needed.distances[kind] = distances(program, kind, &functions);
            }
        }
        needed
    }

    /// The variables that may hold names.
    pub(super) fn names(&self, program: &Program) -> names::Variables {
        let functions = |kind: usize| self.at[kind].keys().map(|(function, _)| *function).collect();
        let mut found = names::variables(program, &functions);
        let kept = |kind: usize, number: usize| {
            !self.distances[kind].contains(&number) && !self.forgets.contains(&(kind, number))
        };
        found.retain(|(kind, number)| kept(*kind as usize, *number as usize));
        found
    }

    /// Forgets what is not needed of a machine.
    pub fn forget(&self, kind: usize, local: &mut Local) {
        let none = Slots::new();
        let point = |frame: &Frame| self.at[kind].get(&(frame.function as usize, frame.at as usize));
        let variables = match local.frames.last() {
            Some(frame) => point(frame).unwrap_or(&none).clone(),
            None if local.agenda.is_empty() => {
                local.states.iter().flat_map(|&state| self.idle[kind][state as usize].iter().copied()).collect()
            }
            None => self.anywhere[kind].clone(),
        };
        for (number, value) in local.variables.iter_mut().enumerate() {
            if !variables.contains(&Slot::Variable(number)) || self.forgets.contains(&(kind, number)) {
                *value = Value::Forgotten;
            }
        }
        keep_distances(&self.distances[kind], local);
        let into: Vec<_> = local.frames.iter().skip(1).map(|frame| frame.into).chain([None]).collect();
        for (frame, into) in local.frames.iter_mut().zip(into) {
            let needed = self.at[kind].get(&(frame.function as usize, frame.at as usize)).unwrap_or(&none);
            for (number, value) in frame.slots.iter_mut().enumerate() {
                if !needed.contains(&Slot::Local(number)) || into == Some(number as u32) {
                    *value = Value::Forgotten;
                }
            }
        }
        for task in &mut local.agenda {
            if let Task::Handle(letter) = task {
                *letter = self.letter(letter);
            }
        }
        if let Some((_, letter)) = &mut local.pending {
            *letter = self.letter(letter);
        }
    }

    /// A letter without a payload that nobody needs.
    pub fn letter(&self, letter: &Letter) -> Letter {
        let kept = self.payloads[letter.event as usize];
        Letter { event: letter.event, payload: if kept { letter.payload.clone() } else { Value::Forgotten } }
    }

    /// An argument, unless nobody needs it.
    pub fn argument(&self, kind: usize, argument: &Value) -> Value {
        if self.arguments[kind] { argument.clone() } else { Value::Forgotten }
    }
}

impl Analysis<'_> {
    fn kind(&mut self, kind: usize) {
        let own = &self.program.kinds[kind];
        let mut used: Vec<usize> = Vec::new();
        for (number, state) in own.states.iter().enumerate() {
            let mut idle = Slots::new();
            // An event that nobody handles leads to the exit function.
            idle.extend(self.chain(kind, &[state.exit], None));
            for (event, handler) in &state.handlers {
                let (functions, end): (Vec<Option<usize>>, Option<usize>) = match handler {
                    Handler::Ignore => (Vec::new(), Some(number)),
                    Handler::Do(function) => (vec![Some(*function)], Some(number)),
                    Handler::Goto(to, function) => (vec![state.exit, *function, own.states[*to].entry], Some(*to)),
                    Handler::Push(to) => (vec![own.states[*to].entry], Some(*to)),
                };
                idle.extend(self.chain(kind, &functions, end));
                let taking = match handler {
                    Handler::Goto(to, function) => vec![*function, own.states[*to].entry],
                    _ => functions.clone(),
                };
                let needs = taking.iter().flatten().any(|function| self.takes(kind, *function));
                self.need_payload(*event, needs);
                used.extend(functions.into_iter().flatten());
            }
            used.extend([state.entry, state.exit].into_iter().flatten());
            if let Some(entry) = state.entry {
                self.chain(kind, &[Some(entry)], Some(number));
            }
            let pushes = own.states.iter().flat_map(|state| &state.handlers);
            if pushes.clone().any(|(_, handler)| matches!(handler, Handler::Push(_))) {
                idle.extend(self.needed.anywhere[kind].iter().copied());
            }
            let variables = idle.into_iter().filter(|slot| matches!(slot, Slot::Variable(_))).collect();
            self.changed |= add(&mut self.needed.idle[kind][number], &variables);
            self.changed |= add(&mut self.needed.anywhere[kind], &variables);
        }
        let wanted = own.states[own.start].entry.is_some_and(|entry| self.takes(kind, entry));
        self.changed |= wanted && !std::mem::replace(&mut self.needed.arguments[kind], true);
        let mut number = 0;
        while number < used.len() {
            let called = self.function(kind, used[number]);
            used.extend(called.into_iter().filter(|called| !used.contains(called)).collect::<Vec<_>>());
            number += 1;
        }
    }

    fn need_payload(&mut self, event: u32, needs: bool) {
        self.changed |= needs && !std::mem::replace(&mut self.needed.payloads[event as usize], true);
    }

    /// Whether a function needs its first parameter.
    fn takes(&self, kind: usize, function: usize) -> bool {
        let first = self.needed.at[kind].get(&(function, 0));
        self.program.functions[function].parameters > 0 && first.is_some_and(|first| first.contains(&Slot::Local(0)))
    }

    /// The variables that are needed before some functions that run one after the other, and before waiting in a state.
    fn chain(&mut self, kind: usize, functions: &[Option<usize>], end: Option<usize>) -> Slots {
        let mut needed = end.map_or_else(Slots::new, |end| self.needed.idle[kind][end].clone());
        for function in functions.iter().rev().flatten() {
            let after = self.after[kind].entry(*function).or_default();
            self.changed |= add(after, &needed);
            needed = self.needed.at[kind].get(&(*function, 0)).cloned().unwrap_or_default();
            needed.retain(|slot| matches!(slot, Slot::Variable(_)));
        }
        needed
    }

    /// What is needed in a function; returns those that it calls.
    fn function(&mut self, kind: usize, function: usize) -> Vec<usize> {
        let code = &self.program.functions[function].code;
        let end = self.after[kind].get(&function).cloned().unwrap_or_default();
        self.note(kind, (function, code.len()), &end);
        let mut called = Vec::new();
        for (at, instruction) in code.iter().enumerate().rev() {
            if let Instruction::Call(other, ..) = instruction {
                called.push(*other);
            }
            let needed = self.before(kind, function, at, instruction);
            self.note(kind, (function, at), &needed);
        }
        called
    }

    fn note(&mut self, kind: usize, point: (usize, usize), needed: &Slots) {
        let variables = needed.iter().copied().filter(|slot| matches!(slot, Slot::Variable(_))).collect();
        self.changed |= add(&mut self.needed.anywhere[kind], &variables);
        self.changed |= add(self.needed.at[kind].entry(point).or_default(), needed);
    }

    fn at(&self, kind: usize, function: usize, at: usize) -> Slots {
        self.needed.at[kind].get(&(function, at)).cloned().unwrap_or_default()
    }

    /// What is needed before an instruction.
    fn before(&mut self, kind: usize, function: usize, at: usize, instruction: &Instruction) -> Slots {
        let mut needed = self.at(kind, function, at + 1);
        match instruction {
            Instruction::Set(..) | Instruction::Insert(..) | Instruction::Add(..) | Instruction::Remove(..) => {
                changes(instruction, &mut needed);
            }
            Instruction::Jump(to) => return self.at(kind, function, *to),
            Instruction::Unless(condition, to) => {
                needed.extend(self.at(kind, function, *to));
                reads(condition, true, &mut needed);
            }
            Instruction::Call(other, arguments, into) => return self.call(kind, *other, arguments, *into, needed),
            Instruction::Return(value) => {
                needed = self.after[kind].get(&function).cloned().unwrap_or_default();
                let wanted = self.results[kind].get(&function).copied().unwrap_or(false);
                value.iter().for_each(|value| reads(value, wanted, &mut needed));
            }
            Instruction::Choose(among, into) => {
                needed.remove(&Slot::Local(*into));
                if let Among::Of(value) = among {
                    reads(value, true, &mut needed);
                }
            }
            Instruction::New(other, argument, into) => {
                into.iter().for_each(|slot| _ = needed.remove(&Slot::Local(*slot)));
                reads(argument, self.needed.arguments[*other], &mut needed);
            }
            Instruction::Send(target, event, payload) => {
                reads(target, true, &mut needed);
                self.letter(event, payload, &mut needed);
            }
            Instruction::Announce(event, payload) => self.letter(event, payload, &mut needed),
            Instruction::Raise(event, payload) => {
                needed = match event {
                    Expression::Value(Value::Event(event)) => self.handled(kind, *event),
                    _ => self.needed.anywhere[kind].clone(),
                };
                self.letter(event, payload, &mut needed);
            }
            Instruction::Goto(state, payload) => return self.goto(kind, *state, payload),
            Instruction::Pop => needed = self.needed.anywhere[kind].clone(),
            Instruction::Receive(cases, slot) => return self.receive(kind, function, cases, *slot),
            Instruction::Assert(condition, message) => {
                reads(condition, true, &mut needed);
                reads(message, false, &mut needed);
            }
            Instruction::Assume(condition) => reads(condition, true, &mut needed),
            Instruction::Print(message) => reads(message, false, &mut needed),
        }
        needed
    }

    fn call(
        &mut self,
        kind: usize,
        other: usize,
        arguments: &[Expression],
        into: Option<usize>,
        mut needed: Slots,
    ) -> Slots {
        let wanted = into.is_some_and(|into| needed.contains(&Slot::Local(into)));
        let result = self.results[kind].entry(other).or_default();
        self.changed |= wanted && !std::mem::replace(result, true);
        let variables: Slots = needed.iter().copied().filter(|slot| matches!(slot, Slot::Variable(_))).collect();
        self.changed |= add(self.after[kind].entry(other).or_default(), &variables);
        let entry = self.at(kind, other, 0);
        needed.retain(|slot| matches!(slot, Slot::Local(_)));
        into.iter().for_each(|into| _ = needed.remove(&Slot::Local(*into)));
        needed.extend(entry.iter().copied().filter(|slot| matches!(slot, Slot::Variable(_))));
        for (number, argument) in arguments.iter().enumerate() {
            reads(argument, entry.contains(&Slot::Local(number)), &mut needed);
        }
        needed
    }

    /// An event and its payload.
    fn letter(&self, event: &Expression, payload: &Expression, needed: &mut Slots) {
        reads(event, true, needed);
        let wanted = match event {
            Expression::Value(Value::Event(event)) => self.needed.payloads[*event as usize],
            _ => true,
        };
        reads(payload, wanted, needed);
    }

    /// What is needed where an event is handled, in any state.
    fn handled(&mut self, kind: usize, event: u32) -> Slots {
        let own = &self.program.kinds[kind];
        let mut needed = Slots::new();
        for (number, state) in own.states.iter().enumerate() {
            needed.extend(match state.handler(event) {
                Some(Handler::Ignore) => self.needed.idle[kind][number].clone(),
                Some(Handler::Do(function)) => self.chain(kind, &[Some(function)], Some(number)),
                Some(Handler::Goto(to, function)) => {
                    self.chain(kind, &[state.exit, function, own.states[to].entry], Some(to))
                }
                Some(Handler::Push(to)) => self.chain(kind, &[own.states[to].entry], Some(to)),
                None => self.chain(kind, &[state.exit], None),
            });
        }
        needed
    }

    /// Any state may be the one that is left.
    fn goto(&mut self, kind: usize, state: usize, payload: &Expression) -> Slots {
        let own = &self.program.kinds[kind];
        let entry = own.states[state].entry;
        let exits: BTreeSet<_> = own.states.iter().filter_map(|state| state.exit).collect();
        let mut needed = self.chain(kind, &[entry], Some(state));
        for exit in exits {
            needed.extend(self.chain(kind, &[Some(exit), entry], Some(state)));
        }
        let wanted = entry.is_some_and(|entry| self.takes(kind, entry));
        reads(payload, wanted, &mut needed);
        needed
    }

    fn receive(&mut self, kind: usize, function: usize, cases: &[(u32, usize)], slot: usize) -> Slots {
        let mut needed = if self.program.rules.today { self.handled(kind, HALT) } else { Slots::new() };
        for (event, to) in cases {
            let case = self.at(kind, function, *to);
            self.need_payload(*event, case.contains(&Slot::Local(slot)));
            needed.extend(case);
        }
        needed.remove(&Slot::Local(slot));
        needed
    }
}

/// What is needed before something is stored. Where it may fail, what decides that is needed in any case.
fn changes(instruction: &Instruction, needed: &mut Slots) {
    let (Instruction::Set(place, value)
    | Instruction::Insert(place, _, value)
    | Instruction::Add(place, value)
    | Instruction::Remove(place, value)) = instruction
    else {
        return;
    };
    let wanted = needed.contains(&place.slot);
    let keys = place.path.iter().filter_map(|part| if let Part::At(key) = part { Some(key) } else { None });
    let keys: Vec<_> = keys.collect();
    if let (Instruction::Set(..), true) = (instruction, place.path.is_empty()) {
        needed.remove(&place.slot);
    }
    let fails = matches!(instruction, Instruction::Insert(..) | Instruction::Remove(..)) || !keys.is_empty();
    if fails {
        needed.insert(place.slot);
    }
    keys.into_iter().for_each(|key| reads(key, true, needed));
    if let Instruction::Insert(_, key, _) = instruction {
        reads(key, true, needed);
    }
    reads(value, wanted || matches!(instruction, Instruction::Remove(..)), needed);
}

/// Adds slots; says whether that changed anything.
fn add(slots: &mut Slots, others: &Slots) -> bool {
    let before = slots.len();
    slots.extend(others.iter().copied());
    slots.len() > before
}

/// What an expression reads, if it is wanted; otherwise only what decides whether it has a value at all.
fn reads(expression: &Expression, wanted: bool, found: &mut Slots) {
    match expression {
        Expression::Read(slot) => {
            if wanted {
                found.insert(*slot);
            }
        }
        Expression::Value(_) | Expression::This => {}
        Expression::Item(inner, _) => reads(inner, wanted, found),
        Expression::At(inner, key) => {
            reads(inner, true, found);
            reads(key, true, found);
        }
        Expression::Unary(operator, inner) => {
            let fails = matches!(operator, Unary::Keys | Unary::Values | Unary::Size);
            reads(inner, wanted || fails, found);
        }
        Expression::Binary(operator, left, right) => {
            let divides = matches!(operator, Binary::Divide | Binary::Modulo);
            let inside = *operator == Binary::In;
            reads(left, wanted || inside, found);
            reads(right, wanted || divides || inside, found);
        }
        Expression::Cast(inner, _) => reads(inner, true, found),
        Expression::Tuple(parts) | Expression::Record(_, parts) | Expression::Format(_, parts) => {
            parts.iter().for_each(|part| reads(part, wanted, found));
        }
    }
}
