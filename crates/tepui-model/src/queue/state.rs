//! What a program does: its machines, one at a time, and its specs.

use super::evaluate::Error;
use super::formula::Claim;
use super::run::{Choices, Effect, Handled, Letter, Local, Site, Waiting};
use super::{Bound, NULL, Program, Temperature, Value};

/// A machine with its queue.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Machine {
    /// Its kind.
    pub kind: u32,
    /// What it is doing.
    pub local: Local,
    /// The events that have been sent to it and not been taken, the oldest first.
    pub queue: Vec<Letter>,
}

/// A state of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// The machines in the order of their creation: a reference is an index.
    pub machines: Vec<Machine>,
    /// The specs that are attached, in their order.
    pub specs: Vec<Local>,
}

/// What a machine does in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The machine.
    pub machine: usize,
    /// What was chosen, by the machine and then by specs that heard of it.
    pub choices: Vec<u32>,
    /// Where fair choices stand, and what was chosen there.
    pub fair: Vec<(Site, u32)>,
    /// What it took.
    pub taken: Option<Letter>,
    /// What it says.
    pub says: Vec<String>,
    /// What specs were told.
    pub told: Vec<Letter>,
    /// Specs that heard of it, with the state of each afterwards, one after the other.
    pub heard: Vec<(usize, Local)>,
    /// Whom it sent something.
    pub sent: Option<(u32, Letter)>,
    /// The handlers that it used, and those that specs did.
    pub handled: Vec<Handled>,
    /// What comes of it.
    pub result: Happens,
}

/// What comes of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Happens {
    /// Another state.
    State(State),
    /// An error.
    Error(Violation),
    /// Nothing: nobody looks at such executions.
    Pruned,
    /// A queue is as long as it may be in this exploration.
    Refused,
    /// It cannot be said what.
    Unknown(Cannot),
}

/// Why it cannot be said what happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cannot {
    /// A value was forgotten that it depends on.
    Forgotten,
    /// A value is not of the type that it is declared with.
    Mistyped,
    /// A foreign function, by its number, may return anything.
    Foreign(usize),
    /// The step takes too long.
    Endless,
}

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What sort of error it is.
    pub error: Error,
    /// What there is to say about it.
    pub message: String,
    /// The spec that noticed it, by its number among those that are attached.
    pub spec: Option<usize>,
}

/// What a machine begins a step with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// It cannot move.
    Stuck,
    /// It goes on with what it is doing.
    Nothing,
    /// `null`: there is nothing else to take.
    Null,
    /// The letter at a place in its queue.
    Letter(usize),
}

/// What specs hear of a step.
struct Hearing<'s> {
    told: &'s [Letter],
    /// What is chosen, the machine's own choices first.
    choices: &'s mut Choices,
    /// Those that heard something, with what became of them.
    heard: &'s mut Vec<(usize, Local)>,
    /// The handlers that were used.
    handled: &'s mut Vec<Handled>,
}

/// The most ways in which one step may go, with what specs are told on them.
pub const MOST_WAYS: usize = 1 << 17;

impl Program {
    /// All first states, each with what specs chose. Or a spec fails at once.
    pub fn starts(&self) -> Vec<(Vec<u32>, Result<State, Happens>)> {
        let (mut starts, mut choices) = (Vec::new(), Choices::default());
        loop {
            let start = self.initial(&mut choices);
            starts.push((choices.made(), start));
            if starts.len() >= MOST_WAYS {
                return vec![(Vec::new(), Err(Happens::Unknown(Cannot::Endless)))];
            }
            if !choices.advance() {
                return starts;
            }
        }
    }

    /// The first state: specs have entered their start states, and the first machine exists. Or a spec fails at once.
    pub fn initial(&self, choices: &mut Choices) -> Result<State, Happens> {
        let mut specs = Vec::new();
        for (number, spec) in self.specs.iter().enumerate() {
            let fresh = Local::new(self, spec.kind, Value::Null);
            specs.push(self.spec_runs(number, &fresh, None, choices, &mut Vec::new())?);
        }
        let local = Local::new(self, self.main, Value::Null);
        Ok(State { machines: vec![Machine { kind: self.main as u32, local, queue: Vec::new() }], specs })
    }

    /// The handlers that specs use before the first step.
    pub fn handled_at_first(&self) -> Vec<Handled> {
        let mut handled = Vec::new();
        for (number, spec) in self.specs.iter().enumerate() {
            let (fresh, mut choices) = (Local::new(self, spec.kind, Value::Null), Choices::default());
            for _ in 0..MOST_WAYS {
                handled.extend(self.step_of_spec(number, &fresh, None, &mut choices).handled);
                if !choices.advance() {
                    break;
                }
            }
        }
        handled
    }

    /// A spec handles an event, or begins.
    fn spec_runs(
        &self,
        number: usize,
        local: &Local,
        letter: Option<&Letter>,
        choices: &mut Choices,
        handled: &mut Vec<Handled>,
    ) -> Result<Local, Happens> {
        let spec = &self.specs[number];
        let outcome = self.step_of_spec(number, local, letter, choices);
        handled.extend(outcome.handled);
        match outcome.effect {
            Effect::Rests => Ok(outcome.local),
            // A scenario that does not fit stays where it is.
            Effect::Fails(..) if spec.scenario => Ok(local.clone()),
            Effect::Fails(error, message) => Err(Happens::Error(Violation { error, message, spec: Some(number) })),
            other => Err(cannot(&other)),
        }
    }

    /// What a machine begins a step with.
    pub fn takes(&self, machine: &Machine) -> Takes {
        let (kind, local) = (machine.kind as usize, &machine.local);
        match local.waiting(self) {
            Waiting::Halted => Takes::Stuck,
            Waiting::Busy => Takes::Nothing,
            Waiting::Idle | Waiting::Receive(_) => {
                let first = machine.queue.iter().position(|letter| self.may_take(kind, local, letter.event));
                match first {
                    Some(place) => Takes::Letter(place),
                    None if self.takes_null(kind, local) => Takes::Null,
                    None => Takes::Stuck,
                }
            }
        }
    }

    /// All that a machine can do in a state. Where its queue would become longer than `longest`, a send is refused.
    pub fn steps(&self, state: &State, machine: usize, longest: usize) -> Vec<Step> {
        let (mut steps, mut choices, mut told) = (Vec::new(), Choices::default(), 0);
        while let Some(step) = self.step_of(state, machine, longest, &mut choices) {
            told += step.told.len();
            steps.push(step);
            if steps.len() + told >= MOST_WAYS {
                steps.truncate(1);
                steps[0].result = Happens::Unknown(Cannot::Endless);
                break;
            }
            if !choices.advance() {
                break;
            }
        }
        steps
    }

    /// What a machine does with given choices; nothing, if it cannot move.
    pub fn step_of(&self, state: &State, machine: usize, longest: usize, choices: &mut Choices) -> Option<Step> {
        let acting = &state.machines[machine];
        let (place, taken) = match self.takes(acting) {
            Takes::Stuck => return None,
            Takes::Nothing => (None, None),
            Takes::Null => (None, Some(Letter { event: NULL, payload: Value::Null })),
            Takes::Letter(place) => (Some(place), Some(acting.queue[place].clone())),
        };
        let outcome = self.step(acting.kind as usize, machine as u32, &acting.local, taken.as_ref(), choices);
        let mut after = state.clone();
        if let Some(place) = place {
            after.machines[machine].queue.remove(place);
        }
        after.machines[machine].local = outcome.local;
        if after.machines[machine].local.halted {
            after.machines[machine].queue.clear();
        }
        let sent = match &outcome.effect {
            Effect::Sends(target, letter) => Some((*target, letter.clone())),
            _ => None,
        };
        let (mut heard, mut handled) = (Vec::new(), outcome.handled);
        let broken = place.filter(|_| !self.claims.is_empty()).and_then(|place| {
            let mut queue = acting.queue.clone();
            queue.remove(place);
            self.broken_claim((acting.kind as usize, machine), &queue)
        });
        let result = broken.unwrap_or_else(|| {
            let hearing = Hearing { told: &outcome.told, choices, heard: &mut heard, handled: &mut handled };
            self.happens(after, machine, outcome.effect, longest, hearing)
        });
        let (choices, fair, says, told) = (choices.made(), choices.fair(), outcome.says, outcome.told);
        Some(Step { machine, choices, fair, taken, says, told, heard, sent, handled, result })
    }

    /// What comes of a step, after specs have heard of it.
    fn happens(
        &self,
        mut after: State,
        machine: usize,
        effect: Effect,
        longest: usize,
        hearing: Hearing<'_>,
    ) -> Happens {
        let Hearing { told, choices, heard, handled } = hearing;
        let kind = after.machines[machine].kind as usize;
        // Whether the receiver may get what is sent is asked before specs hear of it.
        let sent = match &effect {
            Effect::Sends(target, letter) => Some((*target, letter.event)),
            _ => after.machines[machine].local.pending.as_ref().map(|(target, letter)| (*target, letter.event)),
        };
        let receiver = |target: u32| after.machines.get(target as usize).map(|machine| machine.kind as usize);
        let forbidden = sent.filter(|(to, event)| receiver(*to).is_some_and(|to| !self.may_get(to, *event)));
        let unheard = forbidden.is_some_and(|(_, event)| self.is_heard(kind, event));
        for letter in &told[..told.len().saturating_sub(usize::from(unheard))] {
            for (number, spec) in self.specs.iter().enumerate() {
                if !spec.observes.contains(&letter.event) || !spec.hears.contains(&kind) {
                    continue;
                }
                match self.spec_runs(number, &after.specs[number], Some(letter), choices, handled) {
                    Ok(local) => {
                        heard.push((number, local.clone()));
                        after.specs[number] = local;
                    }
                    Err(happens) => return happens,
                }
            }
        }
        if let Some((_, event)) = forbidden {
            let message = format!("the receiver may not be sent {}", self.event_name(event));
            return Happens::Error(Violation { error: Error::Permission, message, spec: None });
        }
        match effect {
            Effect::Rests => Happens::State(after),
            Effect::Sends(target, letter) => self.append(after, target as usize, letter, longest),
            Effect::Creates(kind, argument, into) => {
                let reference = Value::Machine(after.machines.len() as u32);
                if let (Some(slot), Some(frame)) = (into, after.machines[machine].local.frames.last_mut()) {
                    frame.slots[slot as usize] = reference;
                }
                let local = Local::new(self, kind as usize, argument);
                after.machines.push(Machine { kind, local, queue: Vec::new() });
                Happens::State(after)
            }
            Effect::Fails(error, message) => Happens::Error(Violation { error, message, spec: None }),
            Effect::Pruned | Effect::Repeats => Happens::Pruned,
            other => cannot(&other),
        }
    }

    /// Whether machines of a kind may get an event.
    pub fn may_get(&self, kind: usize, event: u32) -> bool {
        self.kinds[kind].receives.as_ref().is_none_or(|receives| receives.contains(&event))
    }

    fn append(&self, mut after: State, target: usize, letter: Letter, longest: usize) -> Happens {
        let Some(receiver) = after.machines.get_mut(target) else { return Happens::Unknown(Cannot::Forgotten) };
        let kind = &self.kinds[receiver.kind as usize];
        if receiver.local.halted {
            return Happens::State(after);
        }
        if receiver.queue.len() >= longest {
            return Happens::Refused;
        }
        let same = receiver.queue.iter().filter(|other| other.event == letter.event).count();
        let bounds = [
            (self.events[letter.event as usize], same, Error::EventBound),
            (kind.bound, receiver.queue.len(), Error::MachineBound),
        ];
        for (bound, count, error) in bounds {
            match bound {
                Some(Bound::Assume(most)) if count >= most as usize => return Happens::Pruned,
                Some(Bound::Assert(most)) if count >= most as usize => {
                    let message = format!("more than {most} in the queue");
                    return Happens::Error(Violation { error, message, spec: None });
                }
                _ => {}
            }
        }
        receiver.queue.push(letter);
        match self.broken_claim((receiver.kind as usize, target), &receiver.queue) {
            Some(broken) => broken,
            None => Happens::State(after),
        }
    }

    /// What comes of a queue of which something is claimed that is not true.
    fn broken_claim(&self, (kind, machine): (usize, usize), queue: &[Letter]) -> Option<Happens> {
        let events = || queue.iter().map(|letter| letter.event);
        let broken = |claim: &Claim| claim.is_about(kind, machine) && !claim.formula.holds(events());
        let number = self.claims.iter().position(broken)?;
        if self.rules.assume_claims {
            return Some(Happens::Pruned);
        }
        let name = &self.told.kinds[kind].name;
        let message = format!("claim {} about queues of {name} does not hold", number + 1);
        Some(Happens::Error(Violation { error: Error::Invariant, message, spec: None }))
    }

    /// Whether a spec in a state is hot or cold. A scenario is neither.
    pub fn temperature(&self, spec: usize, local: &Local) -> Option<Temperature> {
        let states = &self.kinds[self.specs[spec].kind].states;
        let top = local.states.last().filter(|_| !self.specs[spec].scenario)?;
        states[*top as usize].temperature
    }

    /// What is wrong with a state in which no machine can move.
    pub fn end(&self, state: &State) -> Vec<Violation> {
        if state.machines.iter().any(|machine| self.takes(machine) != Takes::Stuck) {
            return Vec::new();
        }
        let mut wrong = Vec::new();
        let waits = |machine: &Machine| matches!(machine.local.waiting(self), Waiting::Receive(_));
        if let Some(machine) = state.machines.iter().position(waits).filter(|_| self.rules.today) {
            let name = &self.told.kinds[state.machines[machine].kind as usize].name;
            let message = format!("{name}#{machine} waits for ever");
            wrong.push(Violation { error: Error::Deadlock, message, spec: None });
        }
        let hot = |(number, local): &(usize, &Local)| self.temperature(*number, local) == Some(Temperature::Hot);
        if let Some((number, _)) = state.specs.iter().enumerate().find(hot) {
            let message = format!("{} is still hot", self.told.kinds[self.specs[number].kind].name);
            wrong.push(Violation { error: Error::HotAtEnd, message, spec: Some(number) });
        }
        wrong
    }
}

fn cannot(effect: &Effect) -> Happens {
    Happens::Unknown(match effect {
        Effect::Foreign(function) => Cannot::Foreign(*function),
        Effect::Endless => Cannot::Endless,
        Effect::Mistyped => Cannot::Mistyped,
        _ => Cannot::Forgotten,
    })
}
