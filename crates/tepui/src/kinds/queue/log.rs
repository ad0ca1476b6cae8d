//! Executions in the words of P's own checker, so that what draws its traces draws ours: a list of entries, each with a type
//! and details, and with a vector clock of the machines.

use std::collections::{BTreeMap, VecDeque};

use tepui_cert::queue::Trace;
use tepui_model::queue::run::{Choices, Letter, Local, Waiting};
use tepui_model::queue::state::{Happens, State, Step, Takes};
use tepui_model::queue::{Program, Temperature, Value};

use super::super::Field;

/// How far machines have come, by their names.
type Clock = BTreeMap<String, u64>;

/// The entries of an execution.
pub(super) fn entries(program: &Program, trace: &Trace) -> Vec<Field> {
    let mut log = Log { program, names: Vec::new(), clocks: BTreeMap::new(), queues: Vec::new(), entries: Vec::new() };
    for spec in &program.specs {
        let name = program.told.kinds[spec.kind].name.clone();
        log.add("CreateMonitor", &name, format!("{name} was created."), vec![text("monitor", &name)]);
    }
    match program.initial(&mut Choices::of(&trace.start)) {
        Ok(state) => log.run(state, trace),
        Err(Happens::Error(violation)) => log.fails(&violation.message),
        Err(_) => {}
    }
    log.entries
}

struct Log<'p> {
    program: &'p Program,
    /// Of machines, by their numbers.
    names: Vec<String>,
    clocks: BTreeMap<String, Clock>,
    /// What is in the queue of each machine, with the clock of its sender then.
    queues: Vec<VecDeque<(Letter, Clock)>>,
    entries: Vec<Field>,
}

impl Log<'_> {
    fn run(&mut self, mut state: State, trace: &Trace) {
        self.create(&state, None);
        for step in &trace.steps {
            if step.machine >= state.machines.len() {
                return;
            }
            let mut choices = Choices::of(&step.choices);
            let Some(taken) = self.program.step_of(&state, step.machine, usize::MAX, &mut choices) else { return };
            self.step(&state, &taken);
            match taken.result {
                Happens::State(next) => {
                    self.create(&next, Some((step.machine, &state)));
                    state = next;
                }
                Happens::Error(violation) => return self.fails(&violation.message),
                Happens::Pruned | Happens::Refused | Happens::Unknown(_) => return,
            }
        }
        let mut wrong = self.program.end(&state).into_iter();
        if let Some(violation) = wrong.find(|violation| violation.error.name() == trace.property) {
            self.fails(&violation.message);
        }
    }

    /// Machines that there were not before.
    fn create(&mut self, state: &State, by: Option<(usize, &State)>) {
        for (number, machine) in state.machines.iter().enumerate().skip(self.names.len()) {
            let name = format!("{}({number})", self.program.told.kinds[machine.kind as usize].name);
            let mut details = vec![text("id", &name)];
            let mut says = format!("{name} was created.");
            if let Some((creator, before)) = by {
                let kind = &self.program.told.kinds[before.machines[creator].kind as usize].name;
                says = format!("{name} was created by {}.", self.names[creator]);
                details.extend([text("creatorName", &self.names[creator]), text("creatorType", kind)]);
            }
            self.names.push(name.clone());
            self.queues.push(VecDeque::new());
            self.add("CreateStateMachine", &name, says, details);
        }
    }

    fn step(&mut self, before: &State, step: &Step) {
        let (number, machine) = (step.machine, &before.machines[step.machine]);
        let (name, kind) = (self.names[number].clone(), machine.kind as usize);
        let from = self.state_of(kind, &machine.local);
        match (&step.taken, self.program.takes(machine)) {
            (Some(_), Takes::Null) => {
                let says = format!("{name} found nothing to take in state '{from}'.");
                self.add("DefaultEventHandler", &name, says, vec![text("id", &name), text("state", &from)]);
            }
            (Some(letter), _) => self.takes(number, &from, letter, &machine.local),
            (None, _) => {}
        }
        for says in &step.says {
            self.add("Print", &name, says.clone(), vec![text("id", &name)]);
        }
        let after = match &step.result {
            Happens::State(next) => Some(&next.machines[number]),
            _ => None,
        };
        let to = after.map_or_else(|| from.clone(), |after| self.state_of(kind, &after.local));
        if from != to {
            let says = format!("{name} goes from state '{from}' to state '{to}'.");
            let details = vec![text("id", &name), text("startState", &from), text("endState", &to)];
            self.add("GotoState", &name, says, details);
            self.enters(&name, &from, false);
            self.enters(&name, &to, true);
        }
        self.heard(before, step);
        if let Some((target, letter)) = &step.sent {
            self.sends(&name, &from, (*target as usize, letter), before);
        }
        if after.is_some_and(|after| after.local.halted) && !machine.local.halted {
            let left = self.queues[number].len();
            let says = format!("{name} halted with {left} events in its queue.");
            self.add("Halt", &name, says, vec![text("id", &name), ("haltInboxSize", Field::Number(left as u64))]);
            self.queues[number].clear();
        }
    }

    fn takes(&mut self, number: usize, state: &str, letter: &Letter, local: &Local) {
        let name = self.names[number].clone();
        let place = self.queues[number].iter().position(|(own, _)| own == letter);
        if let Some((_, sent)) = place.and_then(|place| self.queues[number].remove(place)) {
            let own = self.clocks.entry(name.clone()).or_default();
            for (other, time) in sent {
                let known = own.entry(other).or_insert(0);
                *known = time.max(*known);
            }
        }
        let waits = matches!(local.waiting(self.program), Waiting::Receive(_));
        let says = format!("'{name}' dequeued event '{}' in state '{state}'.", self.letter(letter));
        let mut details = vec![text("id", &name), text("state", state)];
        details.extend(self.event(letter));
        details.extend(waits.then_some(("wasBlocked", Field::Flag(true))));
        self.add(if waits { "ReceiveEvent" } else { "DequeueEvent" }, &name, says, details);
    }

    fn sends(&mut self, name: &str, state: &str, (target, letter): (usize, &Letter), before: &State) {
        let to = self.names.get(target).cloned().unwrap_or_else(|| format!("?({target})"));
        let halted = before.machines.get(target).is_some_and(|machine| machine.local.halted);
        let mut says = format!("'{name}' in state '{state}' sent event '{}' to '{to}'", self.letter(letter));
        says += if halted { " which has halted." } else { "." };
        let mut details = vec![text("sender", name), text("state", state), text("target", &to)];
        details.extend(self.event(letter));
        details.push(("isTargetHalted", Field::Flag(halted)));
        self.add("SendEvent", name, says, details);
        let now = self.clocks.get(name).cloned().unwrap_or_default();
        if let Some(queue) = self.queues.get_mut(target).filter(|_| !halted) {
            queue.push_back((letter.clone(), now));
        }
    }

    /// What specs hear, and where that leads them.
    fn heard(&mut self, before: &State, step: &Step) {
        let program = self.program;
        let sender = self.names[step.machine].clone();
        let hears = before.machines[step.machine].kind as usize;
        let (mut specs, mut heard) = (before.specs.clone(), step.heard.iter());
        for letter in &step.told {
            for (number, spec) in program.specs.iter().enumerate() {
                if !spec.observes.contains(&letter.event) || !spec.hears.contains(&hears) {
                    continue;
                }
                let (name, from) = (&program.told.kinds[spec.kind].name, self.state_of(spec.kind, &specs[number]));
                let says = format!("{name} is processing event '{}' in state '{from}'.", self.letter(letter));
                let mut details = vec![text("monitor", name), text("state", &from), text("sender", &sender)];
                details.extend(self.event(letter));
                self.add("MonitorProcessEvent", name, says, details);
                let Some((_, after)) = heard.next() else { return };
                let to = self.state_of(spec.kind, after);
                if from != to {
                    self.moves(number, name, (&from, &specs[number]), false);
                    self.moves(number, name, (&to, after), true);
                }
                specs[number] = after.clone();
            }
        }
    }

    /// A spec enters or leaves a state.
    fn moves(&mut self, spec: usize, name: &str, (state, local): (&str, &Local), entry: bool) {
        let says = format!("{name} {} state '{state}'.", if entry { "enters" } else { "exits" });
        let mut details = vec![text("monitor", name), text("state", state), ("isEntry", Field::Flag(entry))];
        let hot = match self.program.temperature(spec, local) {
            Some(Temperature::Hot) => Some(true),
            Some(Temperature::Cold) => Some(false),
            _ => None,
        };
        details.extend(hot.map(|hot| ("isInHotState", Field::Flag(hot))));
        self.add("MonitorStateTransition", name, says, details);
    }

    fn enters(&mut self, name: &str, state: &str, entry: bool) {
        let says = format!("{name} {} state '{state}'.", if entry { "enters" } else { "exits" });
        let details = vec![text("id", name), text("state", state), ("isEntry", Field::Flag(entry))];
        self.add("StateTransition", name, says, details);
    }

    fn fails(&mut self, message: &str) {
        let details = vec![text("log", message), text("error", message)];
        self.entries.push(entry("AssertionFailure", details));
    }

    /// An entry about a machine or a spec, whose clock goes on.
    fn add(&mut self, kind: &str, name: &str, says: String, details: Vec<(&'static str, Field)>) {
        let clock = self.clocks.entry(name.to_owned()).or_default();
        *clock.entry(name.to_owned()).or_insert(0) += 1;
        let clock = clock.iter().map(|(name, time)| (name.clone(), Field::Number(*time))).collect();
        let all = std::iter::once(("log", Field::Text(says))).chain(details);
        self.entries.push(entry(kind, all.chain([("clock", Field::Named(clock))]).collect()));
    }

    fn state_of(&self, kind: usize, local: &Local) -> String {
        let states = &self.program.told.kinds[kind].states;
        local.states.last().and_then(|top| states.get(*top as usize)).cloned().unwrap_or_default()
    }

    fn letter(&self, letter: &Letter) -> String {
        let name = self.program.event_name(letter.event);
        match &letter.payload {
            Value::Null => name,
            payload => format!("{name} with payload ({})", self.program.shown(payload)),
        }
    }

    fn event(&self, letter: &Letter) -> Vec<(&'static str, Field)> {
        let mut details = vec![text("event", &self.program.event_name(letter.event))];
        if letter.payload != Value::Null {
            details.push(("payload", self.value(&letter.payload)));
        }
        details
    }

    /// A value; what is in it has names or an order, and everything else is a text.
    fn value(&self, value: &Value) -> Field {
        let program = self.program;
        match value {
            Value::Machine(machine) => {
                let name = self.names.get(*machine as usize).cloned();
                Field::Text(name.unwrap_or_else(|| program.shown(value)))
            }
            Value::Record(names, parts) => {
                let names = program.told.records.get(*names as usize).into_iter().flatten().cloned();
                Field::Named(names.zip(parts.iter().map(|part| self.value(part))).collect())
            }
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (program.shown(key), self.value(value)));
                Field::Named(entries.collect())
            }
            Value::Tuple(parts) | Value::Seq(parts) | Value::Set(parts) => {
                Field::List(parts.iter().map(|part| self.value(part)).collect())
            }
            _ => Field::Text(program.shown(value)),
        }
    }
}

fn text(name: &'static str, text: &str) -> (&'static str, Field) {
    (name, Field::Text(text.to_owned()))
}

fn entry(kind: &str, details: Vec<(&'static str, Field)>) -> Field {
    Field::Object(vec![("type", Field::Text(kind.to_owned())), ("details", Field::Object(details))])
}
