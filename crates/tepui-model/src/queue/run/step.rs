//! One step of a machine, instruction by instruction.

use std::collections::HashMap;

use super::round::goes_round;
use super::{
    Choices, Effect, Frame, Handled, Letter, Local, MOST_CHOICES, MOST_INSTRUCTIONS, MOST_REMEMBERED, MOST_TOLD, Task,
    Waiting,
};
use crate::queue::evaluate::{Error, Scope, Trouble, well_typed, without};
use crate::queue::{Among, Expression, HALT, Handler, Instruction, NULL, Part, Place, Program, Slot, State, Value};

/// A step under way.
pub(super) struct Run<'p, 'c> {
    pub(super) program: &'p Program,
    pub(super) kind: usize,
    pub(super) this: u32,
    pub(super) local: Local,
    pub(super) told: Vec<Letter>,
    pub(super) says: Vec<String>,
    pub(super) handled: Vec<Handled>,
    /// Where it has been and how much specs had been told there, with the number of choices made before.
    seen: HashMap<(Local, usize), usize>,
    /// After many places, where it was then, and how often it has been compared with that.
    mark: Option<(Local, usize)>,
    /// How much these places remember in all.
    remembered: usize,
    /// Whether the step ends where it may have been before.
    probing: bool,
    pub(super) choices: &'c mut Choices,
}

/// After how many places it is asked whether the step goes round, and how often.
const MANY_PLACES: usize = 1_000;
const MOST_LOOKS: usize = 16;

/// The way to an effect is an error, so that `?` leads there.
type Going<T> = Result<T, Effect>;

impl<'p, 'c> Run<'p, 'c> {
    pub(super) fn new(program: &'p Program, kind: usize, this: u32, local: Local, choices: &'c mut Choices) -> Self {
        let (told, says, handled, seen) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        Self {
            program,
            kind,
            this,
            local,
            told,
            says,
            handled,
            seen,
            mark: None,
            remembered: 0,
            probing: false,
            choices,
        }
    }

    /// A step that ends at the next place where the machine may have been before, with [`Effect::Repeats`].
    pub(super) fn probing(
        program: &'p Program,
        kind: usize,
        this: u32,
        local: Local,
        choices: &'c mut Choices,
    ) -> Self {
        Self { probing: true, ..Self::new(program, kind, this, local, choices) }
    }

    pub(super) fn step(&mut self, taken: Option<&Letter>) -> Going<Effect> {
        if let Some((target, letter)) = self.local.pending.take() {
            return Ok(Effect::Sends(target, letter));
        }
        if let Some(letter) = taken {
            self.take(letter);
        }
        if self.choices.exhausted {
            return Ok(Effect::Endless);
        }
        for _ in 0..MOST_INSTRUCTIONS {
            self.choices.spent += 1;
            if self.local.frames.is_empty() {
                let Some(task) = self.local.agenda.pop() else { return Ok(Effect::Rests) };
                self.perform(task)?;
                if self.local.halted {
                    return Ok(Effect::Rests);
                }
            } else if let Some(effect) = self.instruction()? {
                return Ok(effect);
            }
        }
        Ok(Effect::Endless)
    }

    fn take(&mut self, letter: &Letter) {
        let Waiting::Receive(cases) = self.local.waiting(self.program) else {
            self.local.agenda.push(Task::Handle(letter.clone()));
            return;
        };
        match cases.iter().find(|(named, _)| *named == letter.event) {
            Some((_, to)) => {
                let Some(frame) = self.local.frames.last_mut() else { return };
                let code = &self.program.functions[frame.function as usize].code;
                if let Some(Instruction::Receive(_, slot)) = code.get(frame.at as usize) {
                    frame.slots[*slot] = letter.payload.clone();
                }
                frame.at = *to as u32;
            }
            None => {
                // `halt` ends what is waited in.
                self.local.frames.clear();
                self.local.agenda = vec![Task::Handle(letter.clone())];
            }
        }
    }

    fn top(&self) -> Option<&State> {
        self.local.states.last().map(|&state| &self.program.kinds[self.kind].states[state as usize])
    }

    fn perform(&mut self, task: Task) -> Going<()> {
        match task {
            Task::Exit => {
                if let Some(exit) = self.top().and_then(|state| state.exit) {
                    self.begin(exit, Value::Null);
                }
            }
            Task::Leave => _ = self.local.states.pop(),
            Task::Enter(state) => self.local.states.push(state),
            Task::Entry(payload) => {
                if let Some(entry) = self.top().and_then(|state| state.entry) {
                    self.begin(entry, payload);
                }
            }
            Task::Run(function, payload) => self.begin(function as usize, payload),
            Task::Handle(letter) => self.handle(letter)?,
            Task::Below => {
                if self.local.states.len() < 2 {
                    return self.fail(Error::Pop, "there is no state below");
                }
            }
        }
        Ok(())
    }

    /// Runs a function on the payload of an event.
    fn begin(&mut self, function: usize, payload: Value) {
        let arguments = if self.program.functions[function].parameters == 0 { Vec::new() } else { vec![payload] };
        self.enter(function, arguments, None);
    }

    fn enter(&mut self, function: usize, mut slots: Vec<Value>, into: Option<u32>) {
        slots.resize(self.program.functions[function].slots, Value::Null);
        self.local.frames.push(Frame { function: function as u32, at: 0, slots, into });
    }

    fn handle(&mut self, letter: Letter) -> Going<()> {
        let event = letter.event;
        let handling = self.program.handling(self.kind, &self.local, event);
        self.handled.extend(handling.map(|(state, _)| (self.kind as u32, state, event)));
        match handling.map(|(_, handler)| handler) {
            Some(Handler::Ignore) => {}
            Some(Handler::Do(function)) => self.begin(function, letter.payload),
            Some(Handler::Goto(state, function)) => {
                let payload = letter.payload;
                self.local.agenda.extend([Task::Entry(payload.clone()), Task::Enter(state as u32), Task::Leave]);
                self.local.agenda.extend(function.map(|function| Task::Run(function as u32, payload)));
                self.local.agenda.push(Task::Exit);
            }
            Some(Handler::Push(state)) => {
                self.local.agenda.extend([Task::Entry(letter.payload), Task::Enter(state as u32)]);
            }
            None if event == NULL => {}
            None if !self.local.states.is_empty() => {
                self.local.agenda.extend([Task::Handle(letter), Task::Leave, Task::Exit]);
            }
            None if event == HALT => {
                self.local = Local {
                    states: Vec::new(),
                    frames: Vec::new(),
                    agenda: Vec::new(),
                    variables: Vec::new(),
                    pending: None,
                    halted: true,
                };
            }
            None => return self.fail(Error::Unhandled, &format!("nobody handles {}", self.program.event_name(event))),
        }
        Ok(())
    }

    fn fail<T>(&self, error: Error, message: &str) -> Going<T> {
        Err(Effect::Fails(error, message.to_owned()))
    }

    /// Ends the step if it has been in the same state before and has told the specs nothing since.
    fn has_been_here(&mut self) -> Going<()> {
        if self.probing {
            return Err(Effect::Repeats);
        }
        self.remembered += self.local.size();
        self.choices.spent += self.local.size();
        if self.told.len() > MOST_TOLD || self.remembered > MOST_REMEMBERED {
            return Err(Effect::Endless);
        }
        let made = self.choices.next;
        let Some(before) = self.seen.insert((self.local.clone(), self.told.len()), made) else {
            return self.look_back();
        };
        if self.choices.made[before..made].iter().all(|(.., fair)| fair.is_none()) {
            return self.fail(Error::Diverges, "this goes on for ever");
        }
        match goes_round(self.program, self.kind, self.this, &self.local) {
            Some(true) => self.fail(Error::Diverges, "this goes on for ever"),
            Some(false) => Err(Effect::Repeats),
            None => Err(Effect::Endless),
        }
    }

    /// A step that has been at many places may be in a loop that changes something on which nothing depends.
    fn look_back(&mut self) -> Going<()> {
        if !self.program.forgets.is_empty() {
            // Conditions do not ask for what is forgotten there.
            return Ok(());
        }
        if self.seen.len() == MANY_PLACES {
            self.mark = Some((self.local.clone(), 0));
        } else if let Some((before, tried)) = &mut self.mark
            && *tried < MOST_LOOKS
            && let Some(known) = self.local.common(before)
        {
            *tried += 1;
            if goes_round(self.program, self.kind, self.this, &known) == Some(true) {
                return self.fail(Error::Diverges, "this goes on for ever");
            }
        }
        Ok(())
    }

    fn scope(&self) -> Scope<'_> {
        let locals = self.local.frames.last().map_or(&[][..], |frame| &frame.slots);
        Scope { this: self.this, variables: &self.local.variables, locals }
    }

    fn value(&self, expression: &Expression) -> Going<Value> {
        self.program.value(expression, &self.scope()).map_err(troubled)
    }

    fn slot_value(&self, expression: &Expression) -> Going<Value> {
        self.program.slot_value(expression, &self.scope()).map_err(troubled)
    }

    fn put(&mut self, slot: Slot, value: Value) {
        match slot {
            Slot::Variable(number) => self.local.variables[number] = value,
            Slot::Local(number) => {
                if let Some(frame) = self.local.frames.last_mut() {
                    frame.slots[number] = value;
                }
            }
        }
    }

    fn go(&mut self, at: usize) -> Going<()> {
        let Some(frame) = self.local.frames.last_mut() else { return Ok(()) };
        let back = at <= frame.at as usize;
        frame.at = at as u32;
        if back { self.has_been_here() } else { Ok(()) }
    }

    /// The letter that an event and a payload make; specs and queues get no `null`.
    fn letter(&self, event: &Expression, payload: &Expression) -> Going<Letter> {
        match self.value(event)? {
            Value::Event(number) => {
                let payload = self.value(payload)?;
                let payload = match (event, self.program.payloads.get(number as usize)) {
                    (Expression::Value(_), _) => payload,
                    (_, Some(kind)) => well_typed(payload, kind).map_err(troubled)?,
                    // What is no event of the program is in no state that the program gets to.
                    (_, None) => return Err(Effect::Mistyped),
                };
                Ok(Letter { event: number, payload })
            }
            Value::Forgotten => Err(Effect::Forgotten),
            _ => self.fail(Error::NullEvent, "the event is null"),
        }
    }

    /// Executes one instruction; some end the step.
    fn instruction(&mut self) -> Going<Option<Effect>> {
        let Some(frame) = self.local.frames.last_mut() else { return Ok(None) };
        let program = self.program;
        let Some(instruction) = program.functions[frame.function as usize].code.get(frame.at as usize) else {
            self.leave(None);
            return Ok(None);
        };
        if let Instruction::Receive(..) = instruction {
            return Ok(Some(Effect::Rests));
        }
        frame.at += 1;
        match instruction {
            Instruction::Set(place, expression) => {
                // What is on the left comes first.
                for part in &place.path {
                    if let Part::At(key) = part {
                        self.value(key)?;
                    }
                }
                let value = if place.path.is_empty() { self.slot_value(expression)? } else { self.value(expression)? };
                self.store(place, &|_| Ok(value.clone()))?;
            }
            Instruction::Insert(place, key, expression) => {
                let (key, value) = (self.value(key)?, self.value(expression)?);
                self.store(place, &|old| program.insert(old.ok_or(Error::Key)?, key.clone(), value.clone()))?;
            }
            Instruction::Add(place, expression) => {
                let value = self.value(expression)?;
                self.store(place, &|old| program.add(old.ok_or(Error::Key)?, value.clone()))?;
            }
            Instruction::Remove(place, key) => {
                let key = self.value(key)?;
                self.store(place, &|old| without(old.ok_or(Error::Key)?, &key))?;
            }
            Instruction::Jump(at) => self.go(*at)?,
            Instruction::Unless(condition, at) => {
                if !self.holds(condition)? {
                    self.go(*at)?;
                }
            }
            Instruction::Call(function, arguments, into) => {
                let arguments = program.slot_values(arguments, &self.scope()).map_err(troubled)?;
                self.enter(*function, arguments, into.map(|slot| slot as u32));
                self.has_been_here()?;
            }
            Instruction::Return(expression) => {
                let value = expression.as_ref().map(|expression| self.slot_value(expression)).transpose()?;
                self.leave(value);
            }
            Instruction::Choose(among, into) => {
                let value = self.choose(among)?;
                self.put(Slot::Local(*into), value);
            }
            other => return self.ending(other),
        }
        Ok(None)
    }

    /// Executes an instruction that others may notice, or that ends a handler.
    fn ending(&mut self, instruction: &Instruction) -> Going<Option<Effect>> {
        match instruction {
            Instruction::New(kind, argument, into) => {
                let argument = self.value(argument)?;
                return Ok(Some(Effect::Creates(*kind as u32, argument, into.map(|slot| slot as u32))));
            }
            Instruction::Send(target, event, payload) => return self.send(target, event, payload).map(Some),
            Instruction::Announce(event, payload) => {
                let letter = self.letter(event, payload)?;
                self.told.extend(Some(letter).filter(|letter| self.program.is_heard(self.kind, letter.event)));
            }
            Instruction::Raise(event, payload) => {
                let letter = self.letter(event, payload)?;
                self.local.frames.clear();
                self.local.agenda.push(Task::Handle(letter));
                self.has_been_here()?;
            }
            Instruction::Goto(state, payload) => {
                let payload = self.value(payload)?;
                self.local.frames.clear();
                self.local.agenda.extend([Task::Entry(payload), Task::Enter(*state as u32), Task::Leave, Task::Exit]);
                self.has_been_here()?;
            }
            Instruction::Pop => {
                self.local.frames.clear();
                self.local.agenda.extend([Task::Leave, Task::Below, Task::Exit]);
            }
            Instruction::Assert(condition, message) => {
                let holds = self.holds(condition)?;
                // It fails, whatever becomes of its message.
                let message = || self.value(message).map_or_else(|_| String::new(), |text| self.program.shown(&text));
                return if holds { Ok(None) } else { self.fail(Error::Assert, &message()) };
            }
            Instruction::Assume(condition) => {
                return if self.holds(condition)? { Ok(None) } else { Err(Effect::Pruned) };
            }
            Instruction::Print(message) => {
                let message = self.value(message)?;
                self.says.push(self.program.shown(&message));
            }
            _ => {}
        }
        Ok(None)
    }

    fn send(&mut self, target: &Expression, event: &Expression, payload: &Expression) -> Going<Effect> {
        let target = self.value(target)?;
        let letter = self.letter(event, payload)?;
        let target = match target {
            Value::Machine(target) => target,
            Value::Forgotten => return Err(Effect::Forgotten),
            _ => return self.fail(Error::NullTarget, "the target is null"),
        };
        let sends = self.program.kinds[self.kind].sends.as_ref();
        if sends.is_some_and(|sends| !sends.contains(&letter.event)) {
            let name = self.program.event_name(letter.event);
            return self.fail(Error::Permission, &format!("this machine may not send {name}"));
        }
        let heard = self.program.is_heard(self.kind, letter.event);
        if heard {
            self.told.push(letter.clone());
        }
        if heard && self.program.rules.split_sends {
            self.local.pending = Some((target, letter));
            return Ok(Effect::Rests);
        }
        Ok(Effect::Sends(target, letter))
    }

    fn holds(&mut self, condition: &Expression) -> Going<bool> {
        match self.value(condition)? {
            Value::Bool(holds) => Ok(holds),
            Value::Forgotten if !self.program.forgets.is_empty() => {
                self.choices.choose(2, None).map(|number| number == 1).ok_or(Effect::Pruned)
            }
            Value::Forgotten => Err(Effect::Forgotten),
            _ => self.fail(Error::Null, "the condition is null"),
        }
    }

    /// Returns to the function below.
    fn leave(&mut self, value: Option<Value>) {
        let into = self.local.frames.pop().and_then(|frame| frame.into);
        if let (Some(slot), Some(value)) = (into, value) {
            self.put(Slot::Local(slot as usize), value);
        }
    }

    fn store(&mut self, place: &Place, change: &dyn Fn(Option<&Value>) -> Result<Value, Trouble>) -> Going<()> {
        let value = self.program.stored(place, &self.scope(), change).map_err(troubled)?;
        self.put(place.slot, value);
        Ok(())
    }

    fn choose(&mut self, among: &Among) -> Going<Value> {
        let (values, fair) = match among {
            Among::Bool { fair } => (vec![Value::Bool(false), Value::Bool(true)], *fair),
            Among::These(values) => (values.clone(), false),
            Among::Unknown(function) => return Err(Effect::Foreign(*function)),
            Among::Of(expression) => (self.domain(&self.value(expression)?)?, false),
        };
        if values.is_empty() {
            return self.fail(Error::Choose, "there is nothing to choose from");
        }
        let site = self.local.frames.last().filter(|_| fair).map(|frame| (frame.function, frame.at - 1));
        let number = self.choices.choose(values.len() as u32, site);
        number.map(|number| values[number as usize].clone()).ok_or(Effect::Pruned)
    }

    /// The values that are chosen from.
    fn domain(&self, value: &Value) -> Going<Vec<Value>> {
        let values: Vec<Value> = match value {
            _ if value.is_open() => return Err(Effect::Forgotten),
            Value::Int(0) => vec![Value::Int(0)],
            Value::Int(count) if *count < 0 || *count > MOST_CHOICES as i64 => {
                return self.fail(Error::Choose, &format!("a choice from {count}"));
            }
            Value::Int(count) => (0..*count).map(Value::Int).collect(),
            Value::Seq(parts) | Value::Set(parts) => parts.to_vec(),
            Value::Map(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
            Value::Forgotten | Value::Name(_) | Value::Atom { .. } => return Err(Effect::Forgotten),
            _ => return self.fail(Error::Null, "a choice from null"),
        };
        match values.len() > MOST_CHOICES {
            true => self.fail(Error::Choose, &format!("a choice from {}", values.len())),
            false => Ok(values),
        }
    }
}

fn troubled(trouble: Trouble) -> Effect {
    match trouble {
        Trouble::Forgotten => Effect::Forgotten,
        Trouble::Mistyped => Effect::Mistyped,
        Trouble::Error(error) => {
            let message = match error {
                Error::Index => "there is no such index",
                Error::Key => "there is no such key",
                Error::DuplicateKey => "the key is there already",
                Error::Division => "division by zero",
                Error::Cast => "the value is of another type",
                _ => "there is no such value",
            };
            Effect::Fails(error, message.to_owned())
        }
    }
}
