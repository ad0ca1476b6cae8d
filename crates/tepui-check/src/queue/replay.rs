//! Traces of programs with queues: the steps are taken, and what they claim must happen.

use std::collections::{BTreeMap, BTreeSet};

use tepui_cert::queue::{Circle, Step as Listed, Trace};
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Choices, Letter, Local, Site};
use tepui_model::queue::state::{Happens, Machine, State, Step, Takes};
use tepui_model::queue::{Program, Temperature, Value};

use super::cover::Valued as _;
use super::shape::Shapes;
use crate::Rejected;

/// What an accepted trace shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The error.
    pub property: String,
    /// What there is to say about it.
    pub message: String,
    /// How many steps lead to it.
    pub steps: usize,
}

/// Takes the steps of a trace; the last one must lead to the error that it claims, or to a state that is one, or back to
/// where a circle begins on which a spec is hot.
pub fn replay(program: &Program, trace: &Trace) -> Result<Replayed, Rejected> {
    // What a proof may leave out decides something here.
    if !program.forgets.is_empty() {
        return replay(&Program { forgets: BTreeSet::new(), ..program.clone() }, trace);
    }
    if trace.program != program.digest() {
        return Err(Rejected::new("model", "the trace is about another program"));
    }
    let shown = |message: String| Replayed { property: trace.property.clone(), message, steps: trace.steps.len() };
    let mut choices = Choices::of(&trace.start);
    let start = program.initial(&mut choices);
    if choices.made() != trace.start {
        return Err(Rejected::new("start", "something else is chosen"));
    }
    if let Some(circle) = &trace.circle {
        let start = start.map_err(|_| Rejected::new("start", "the program does not begin"))?;
        return goes_round(program, trace, circle, start).map(shown);
    }
    let mut state = match start {
        Ok(state) => state,
        Err(Happens::Error(violation)) if violation.error.name() == trace.property && trace.steps.is_empty() => {
            return Ok(shown(violation.message));
        }
        Err(_) => return Err(Rejected::new("start", "the program does not begin")),
    };
    for (number, step) in trace.steps.iter().enumerate() {
        let last = number + 1 == trace.steps.len();
        match taken(program, &state, number, step)?.result {
            Happens::State(next) => state = next,
            Happens::Error(violation) if violation.error.name() == trace.property && last => {
                return Ok(shown(violation.message));
            }
            other => return Err(refused(number, &other)),
        }
    }
    let mut wrong = program.end(&state).into_iter();
    match wrong.find(|violation| violation.error.name() == trace.property) {
        Some(violation) => Ok(shown(violation.message)),
        None => Err(Rejected::new("end", "the last state is no error")),
    }
}

/// Takes a step, with the choices that are listed and no others.
fn taken(program: &Program, state: &State, number: usize, step: &Listed) -> Result<Step, Rejected> {
    let wrong = |reason: &str| Rejected::new(format!("step {}", number + 1), reason);
    if step.machine >= state.machines.len() {
        return Err(wrong("there is no such machine"));
    }
    let mut choices = Choices::of(&step.choices);
    let taken = program.step_of(state, step.machine, usize::MAX, &mut choices);
    let taken = taken.ok_or_else(|| wrong("the machine cannot move"))?;
    if taken.choices == step.choices { Ok(taken) } else { Err(wrong("something else is chosen")) }
}

/// Why the trace ends where it should not.
fn refused(number: usize, happens: &Happens) -> Rejected {
    let reason = match happens {
        Happens::State(_) => "it goes on",
        Happens::Error(_) => "another error happens",
        Happens::Pruned | Happens::Refused => "nobody looks at such an execution",
        Happens::Unknown(_) => "it cannot be said what happens",
    };
    Rejected::new(format!("step {}", number + 1), reason)
}

/// Takes steps up to a circle and around it once. The circle begins in a state of which some values may be forgotten. No
/// step may depend on these, and at its end the circle must be where it began, as far as that is known: so it can be gone
/// through for ever. It must be fair, and hot; or it is one step that goes on for ever.
fn goes_round(program: &Program, trace: &Trace, circle: &Circle, mut state: State) -> Result<String, Rejected> {
    let wrong = |reason: &str| Rejected::new("circle", reason);
    let endless = trace.property == Error::Diverges.name() && circle.after + 1 == trace.steps.len();
    if !endless && trace.property != Error::HotForEver.name() || circle.after >= trace.steps.len() {
        return Err(wrong("nothing goes round"));
    }
    let shapes = Shapes::of(program);
    let local = |machine: &Machine| {
        let events = machine.queue.iter().all(|letter| (letter.event as usize) < program.events.len());
        events && shapes.fits(machine.kind, &machine.local)
    };
    let spec = |(number, own): (usize, &Local)| shapes.fits(program.specs[number].kind as u32, own);
    let specs = circle.state.specs.len() == program.specs.len() && circle.state.specs.iter().enumerate().all(spec);
    if !circle.state.machines.iter().all(local) || !specs {
        return Err(wrong("the program has no such state"));
    }
    for (number, step) in trace.steps[..circle.after].iter().enumerate() {
        match taken(program, &state, number, step)?.result {
            Happens::State(next) => state = next,
            other => return Err(refused(number, &other)),
        }
    }
    if !covers(program, &circle.state, &state) {
        return Err(wrong("it does not begin where the steps before it lead"));
    }
    if endless {
        return match taken(program, &circle.state, circle.after, &trace.steps[circle.after])?.result {
            Happens::Error(violation) if violation.error == Error::Diverges => Ok(violation.message),
            other => Err(refused(circle.after, &other)),
        };
    }
    let mut seen = Seen::new(program, &circle.state);
    state = circle.state.clone();
    for (number, step) in trace.steps.iter().enumerate().skip(circle.after) {
        let taken = taken(program, &state, number, step)?;
        seen.step(program, &taken);
        match taken.result {
            Happens::State(next) => state = next,
            other => return Err(refused(number, &other)),
        }
        seen.state(program, &state);
    }
    if !covers(program, &circle.state, &state) {
        return Err(wrong("it does not end where it begins"));
    }
    seen.verdict(program).map_err(wrong)
}

/// What is seen on the way round.
struct Seen {
    /// Machines that moved, or could not at some time.
    moved: BTreeSet<usize>,
    machines: usize,
    fair: BTreeMap<(usize, Site), BTreeSet<u32>>,
    /// For each spec whether it was hot and whether it was cold.
    specs: Vec<(bool, bool)>,
}

impl Seen {
    fn new(program: &Program, state: &State) -> Self {
        let specs = vec![(false, false); program.specs.len()];
        let mut seen = Self { moved: BTreeSet::new(), machines: state.machines.len(), fair: BTreeMap::new(), specs };
        seen.state(program, state);
        seen
    }

    fn state(&mut self, program: &Program, state: &State) {
        let stuck = |machine: &usize| program.takes(&state.machines[*machine]) == Takes::Stuck;
        self.moved.extend((0..state.machines.len()).filter(stuck));
        state.specs.iter().enumerate().for_each(|(number, local)| self.spec(program, number, local));
    }

    fn spec(&mut self, program: &Program, number: usize, local: &Local) {
        let temperature = program.temperature(number, local);
        self.specs[number].0 |= temperature == Some(Temperature::Hot);
        self.specs[number].1 |= temperature == Some(Temperature::Cold);
    }

    fn step(&mut self, program: &Program, step: &Step) {
        self.moved.insert(step.machine);
        for (site, value) in &step.fair {
            self.fair.entry((step.machine, *site)).or_default().insert(*value);
        }
        step.heard.iter().for_each(|(number, local)| self.spec(program, *number, local));
    }

    fn verdict(&self, program: &Program) -> Result<String, &'static str> {
        if self.moved.len() < self.machines {
            return Err("a machine that can always move never does");
        }
        if self.fair.values().any(|values| values.len() < 2) {
            return Err("a fair choice goes only one way");
        }
        let hot = self.specs.iter().position(|(hot, cold)| *hot && !*cold);
        let hot = hot.ok_or("no spec is hot and never cold")?;
        Ok(format!("{} stays hot for ever", program.told.kinds[program.specs[hot].kind].name))
    }
}

/// Whether a state is another one wherever it knows something.
fn covers(program: &Program, known: &State, state: &State) -> bool {
    let local = |kind: u32, known: &Local, own: &Local| {
        let (mut values, mut known, mut own) = (Vec::new(), (kind, known.clone()), (kind, own.clone()));
        known.values(&mut |value| values.push(value.clone()));
        let mut values = values.into_iter();
        own.values(&mut |value| {
            if values.next() == Some(Value::Forgotten) {
                *value = Value::Forgotten;
            }
        });
        known == own
    };
    let letter = |known: &Letter, own: &Letter| {
        known.event == own.event && (known.payload == Value::Forgotten || known.payload == own.payload)
    };
    let machine = |(known, own): (&Machine, &Machine)| {
        let queues = known.queue.len() == own.queue.len();
        let letters = known.queue.iter().zip(&own.queue).all(|(known, own)| letter(known, own));
        known.kind == own.kind && queues && letters && local(known.kind, &known.local, &own.local)
    };
    let spec = |(number, (known, own)): (usize, (&Local, &Local))| local(program.specs[number].kind as u32, known, own);
    known.machines.len() == state.machines.len()
        && known.machines.iter().zip(&state.machines).all(machine)
        && known.specs.iter().zip(&state.specs).enumerate().all(spec)
}
