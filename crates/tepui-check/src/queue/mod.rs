//! Programs with queues: closed sets of rows, and steps to an error.
//!
//! A row stands for states of the program: the machines do what its states of machines say, where a forgotten value is any
//! value; and each queue is one that its summary stands for. The checker takes every step from every row with the program's
//! own interpreter. No step may depend on a forgotten value. What a step leads to must be covered by a row again, and the
//! first state must be. Then every state that can be reached is covered, by induction, and an error that no step from a row
//! leads to does not happen.

mod cover;
mod liveness;
mod replay;
mod summary;

pub use replay::{Replayed, replay};

use std::collections::HashMap;

use tepui_cert::queue::{Certificate, Queue};
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Choices, Effect, Letter, Local, Site, Task, Waiting};
use tepui_model::queue::state::{Happens, State};
use tepui_model::queue::{Bound, NULL, Program, Temperature, Value};

use crate::Rejected;
use cover::Listed;
use liveness::{Graph, Passed};

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proved {
    /// The errors that do not happen.
    pub properties: Vec<String>,
    /// How many rows it takes.
    pub rows: usize,
}

/// Decides whether a certificate proves that some errors, given by their names, do not happen.
pub fn check(
    program: &Program,
    properties: &[String],
    certificate: &Certificate,
    stop: &dyn Fn() -> bool,
) -> Result<Proved, Rejected> {
    if certificate.program != program.digest() {
        return Err(Rejected::new("model", "the certificate is about another program"));
    }
    if let Some(name) = properties.iter().find(|name| !certificate.properties.contains(name)) {
        return Err(Rejected::new(format!("property {name}"), "the certificate makes no claim about it"));
    }
    let mut checker = Checker::new(program, certificate)?;
    checker.start()?;
    for (number, row) in certificate.rows.iter().enumerate() {
        if stop() {
            return Err(Rejected::stopped(format!("row {number}")));
        }
        checker.row(number as u32, row).map_err(|reason| Rejected::new(format!("row {number}"), reason))?;
    }
    if let Some(graph) = checker.graph {
        liveness::check(program, &graph, stop)?;
    }
    Ok(Proved { properties: properties.to_vec(), rows: certificate.rows.len() })
}

/// The most ways in which one step may go.
const MOST_WAYS: usize = 1 << 17;

/// The most rows that are tried for one state.
const MOST_COVERING: usize = 1_000;

/// What is wrong with a row.
type Wrong = String;

struct Checker<'c> {
    program: &'c Program,
    certificate: &'c Certificate,
    letters: Listed<Letter>,
    locals: Listed<(u32, Local)>,
    queues: HashMap<&'c Queue, u32>,
    rows: HashMap<&'c [u32], u32>,
    /// The steps between rows, where it is claimed that no spec is hot for ever.
    graph: Option<Graph>,
    /// What steps come to, by the machine, its state and the letter.
    known: HashMap<(usize, u32, Option<u32>), Vec<Way>>,
}

/// What a step comes to.
#[derive(Clone)]
struct Way {
    local: Local,
    fair: Vec<(Site, u32)>,
    told: Vec<Letter>,
    effect: Effect,
}

impl<'c> Checker<'c> {
    fn new(program: &'c Program, certificate: &'c Certificate) -> Result<Self, Rejected> {
        let wrong = |place: &str, reason: &str| Rejected::new(place, reason);
        if certificate.precision.len() != program.kinds.len() {
            return Err(wrong("kinds", "the program has another number of kinds of machines"));
        }
        if certificate.letters.iter().any(|letter| letter.event as usize >= program.events.len()) {
            return Err(wrong("letters", "there is no such event"));
        }
        if !certificate.locals.iter().all(|(kind, local)| has_shape(program, *kind, local)) {
            return Err(wrong("locals", "the program has no such state of a machine"));
        }
        let letters = Listed::new(&certificate.letters).ok_or_else(|| wrong("letters", "one is listed twice"))?;
        let locals = Listed::new(&certificate.locals).ok_or_else(|| wrong("locals", "one is listed twice"))?;
        let known = |letter: &u32| (*letter as usize) < certificate.letters.len();
        for queue in &certificate.queues {
            let marks = queue.marks.iter().map(|(letter, _)| letter);
            let counts = queue.counts.iter().map(|(letter, _)| letter);
            if !queue.prefix.iter().chain(marks).chain(counts).all(known) {
                return Err(wrong("queues", "there is no such letter"));
            }
        }
        let queues = certificate.queues.iter().zip(0..).collect();
        let rows = certificate.rows.iter().map(|row| &**row).zip(0..).collect();
        let claims = |error: Error| certificate.properties.iter().any(|name| name == error.name());
        let graph = claims(Error::HotForEver).then(Graph::default);
        Ok(Self { program, certificate, letters, locals, queues, rows, graph, known: HashMap::new() })
    }

    /// The first state must be covered.
    fn start(&self) -> Result<(), Rejected> {
        let wrong = |reason: &str| Rejected::new("start", reason);
        let state = match self.program.initial() {
            Ok(state) => state,
            Err(Happens::Error(violation)) if !self.claims(violation.error) => return Ok(()),
            Err(_) => return Err(wrong("the program fails before it begins")),
        };
        let State { machines, specs } = state;
        let mut parts = Vec::new();
        for machine in machines {
            parts.push(self.locals.covering(&(machine.kind, machine.local)));
            parts.push(self.queues.get(&Queue::default()).copied().into_iter().collect());
        }
        for (spec, local) in self.program.specs.iter().zip(specs) {
            parts.push(self.locals.covering(&(spec.kind as u32, local)));
        }
        self.covering(&parts).map(|_| ()).ok_or_else(|| wrong("no row covers the first state"))
    }

    /// A row that is made of one of the numbers at each place.
    fn covering(&self, parts: &[Vec<u32>]) -> Option<u32> {
        // As a rule there is one number at each place.
        let mut rows: Vec<Vec<u32>> = vec![Vec::new()];
        for numbers in parts {
            if rows.len() * numbers.len() > MOST_COVERING {
                return None;
            }
            rows = rows.iter().flat_map(|row| numbers.iter().map(|number| [&row[..], &[*number]].concat())).collect();
        }
        rows.iter().find_map(|row| self.rows.get(&row[..]).copied())
    }

    fn claims(&self, error: Error) -> bool {
        self.certificate.properties.iter().any(|name| name == error.name())
    }

    fn local(&self, number: u32) -> Result<&'c (u32, Local), Wrong> {
        self.certificate.locals.get(number as usize).ok_or_else(|| "there is no such state of a machine".to_owned())
    }

    fn queue(&self, number: u32) -> Result<&'c Queue, Wrong> {
        self.certificate.queues.get(number as usize).ok_or_else(|| "there is no such queue".to_owned())
    }

    /// All steps from a row must lead to rows.
    fn row(&mut self, number: u32, row: &[u32]) -> Result<(), Wrong> {
        let specs = self.program.specs.len();
        let Some(machines) = row.len().checked_sub(specs).filter(|rest| rest % 2 == 0 && *rest > 0) else {
            return Err("it has not two numbers for each machine and one for each spec".to_owned());
        };
        for (number, spec) in self.program.specs.iter().enumerate() {
            if self.local(row[machines + number])?.0 as usize != spec.kind {
                return Err("the state of a spec is one of another kind".to_owned());
            }
        }
        if self.graph.is_some() {
            let specs = &row[machines..];
            let temperature = |(spec, local): (usize, &u32)| Ok(self.program.temperature(spec, &self.local(*local)?.1));
            let temperatures = specs.iter().enumerate().map(temperature).collect::<Result<_, Wrong>>()?;
            if let Some(graph) = &mut self.graph {
                graph.node(number, temperatures);
            }
        }
        let mut moved = false;
        for machine in 0..machines / 2 {
            let moves = self.machine(row, machine)?;
            self.graph.iter_mut().for_each(|graph| graph.can_move(moves));
            moved |= moves;
        }
        if moved { Ok(()) } else { self.end(row, machines) }
    }

    /// The steps of one machine; says whether it can move.
    fn machine(&mut self, row: &[u32], machine: usize) -> Result<bool, Wrong> {
        let (kind, local) = self.local(row[2 * machine])?;
        let queue = self.queue(row[2 * machine + 1])?;
        let program = self.program;
        match local.waiting(program) {
            Waiting::Halted => return Ok(false),
            Waiting::Busy => {
                self.steps(row, machine, None, queue)?;
                return Ok(true);
            }
            Waiting::Idle | Waiting::Receive(_) => {}
        }
        let letters = &self.certificate.letters;
        let takes = |letter: u32| program.may_take(*kind as usize, local, letters[letter as usize].event);
        let taken = summary::take(&self.certificate.precision[*kind as usize], queue, &takes);
        for (letter, left) in &taken {
            self.steps(row, machine, Some(*letter), left)?;
        }
        if !taken.is_empty() {
            return Ok(true);
        }
        let null = program.takes_null(*kind as usize, local);
        if null {
            self.steps(row, machine, None, queue)?;
        }
        Ok(null)
    }

    fn steps(&mut self, row: &[u32], machine: usize, letter: Option<u32>, queue: &Queue) -> Result<(), Wrong> {
        let key = (machine, row[2 * machine], letter);
        if !self.known.contains_key(&key) {
            let ways = self.ways(machine, row[2 * machine], letter)?;
            self.known.insert(key, ways);
        }
        for way in self.known[&key].clone() {
            self.way(row, machine, queue, way)?;
        }
        Ok(())
    }

    /// What a machine does, in all ways.
    fn ways(&self, machine: usize, local: u32, letter: Option<u32>) -> Result<Vec<Way>, Wrong> {
        let (kind, local) = self.local(local)?;
        let waits = !matches!(local.waiting(self.program), Waiting::Busy);
        let null = || Letter { event: NULL, payload: Value::Null };
        let taken = match letter {
            Some(letter) => Some(self.certificate.letters[letter as usize].clone()),
            None => waits.then(null),
        };
        let (mut choices, mut ways) = (Choices::default(), Vec::new());
        loop {
            let outcome = self.program.step(*kind as usize, machine as u32, local, taken.as_ref(), &mut choices);
            let fair = choices.fair();
            ways.push(Way { local: outcome.local, fair, told: outcome.told, effect: outcome.effect });
            if ways.len() >= MOST_WAYS {
                return Err("a step goes in too many ways".to_owned());
            }
            if !choices.advance() {
                return Ok(ways);
            }
        }
    }

    /// What a step comes to must be covered.
    fn way(&mut self, row: &[u32], machine: usize, queue: &Queue, way: Way) -> Result<(), Wrong> {
        let (kind, _) = self.local(row[2 * machine])?;
        let first_spec = row.len() - self.program.specs.len();
        // The parts that change, by their places.
        let mut changed: HashMap<usize, Vec<u32>> = HashMap::new();
        let mut passed = vec![Passed::default(); self.program.specs.len()];
        let told = self.tell(&row[first_spec..], *kind as usize, &way.told, &mut passed)?;
        let Some(specs) = told else { return Ok(()) };
        for (number, local) in specs {
            changed.insert(first_spec + number, self.locals.covering(&(self.program.specs[number].kind as u32, local)));
        }
        let mut local = way.local;
        let mut queues = HashMap::from([(machine, if local.halted { Queue::default() } else { queue.clone() })]);
        let mut created = None;
        match way.effect {
            Effect::Rests => {}
            Effect::Sends(target, letter) => {
                let halts = local.halted && target as usize == machine;
                if !halts && !self.append(row, target as usize, &letter, &mut queues)? {
                    return Ok(());
                }
            }
            Effect::Creates(kind, argument, into) => {
                if let (Some(slot), Some(frame)) = (into, local.frames.last_mut()) {
                    frame.slots[slot as usize] = Value::Machine((first_spec / 2) as u32);
                }
                created = Some((kind, Local::new(self.program, kind as usize, argument)));
            }
            Effect::Fails(error, _) => return self.fails(error),
            Effect::Pruned | Effect::Repeats => return Ok(()),
            Effect::Forgotten => return Err("a step depends on a forgotten value".to_owned()),
            Effect::Foreign(_) => return Err("a step depends on a foreign function".to_owned()),
            Effect::Endless => return Err("a step takes too long".to_owned()),
        }
        changed.insert(2 * machine, self.locals.covering(&(*kind, local)));
        for (machine, queue) in queues {
            changed.insert(2 * machine + 1, self.queues.get(&queue).copied().into_iter().collect());
        }
        let mut parts: Vec<Vec<u32>> =
            row.iter().enumerate().map(|(place, number)| changed.remove(&place).unwrap_or(vec![*number])).collect();
        if let Some(fresh) = created {
            let empty = self.queues.get(&Queue::default()).copied().into_iter().collect();
            parts.splice(first_spec..first_spec, [self.locals.covering(&fresh), empty]);
        }
        let to = self.covering(&parts).ok_or_else(|| format!("a step of machine {machine} leads out of the rows"))?;
        self.graph.iter_mut().for_each(|graph| graph.edge(to, machine, &way.fair, &passed));
        Ok(())
    }

    fn fails(&self, error: Error) -> Result<(), Wrong> {
        if self.claims(error) { Err(format!("a step leads to the error {}", error.name())) } else { Ok(()) }
    }

    /// What becomes of the specs; none, if one of them ends the execution with an error that nothing is claimed of.
    fn tell(
        &self,
        specs: &[u32],
        kind: usize,
        told: &[Letter],
        passed: &mut [Passed],
    ) -> Result<Option<Vec<(usize, Local)>>, Wrong> {
        let mut changed: HashMap<usize, Local> = HashMap::new();
        for letter in told {
            for (number, spec) in self.program.specs.iter().enumerate() {
                if !spec.observes.contains(&letter.event) || !spec.hears.contains(&kind) {
                    continue;
                }
                let listed = &self.local(specs[number])?.1;
                let local = changed.get(&number).unwrap_or(listed);
                let outcome = self.program.step(spec.kind, u32::MAX, local, Some(letter), &mut Choices::default());
                match outcome.effect {
                    Effect::Rests => {
                        passed[number].note(self.program.temperature(number, &outcome.local));
                        changed.insert(number, outcome.local);
                    }
                    Effect::Fails(..) if spec.scenario => {}
                    Effect::Fails(error, _) => return self.fails(error).map(|()| None),
                    _ => return Err("what a spec does cannot be said".to_owned()),
                }
            }
        }
        Ok(Some(changed.into_iter().collect()))
    }

    /// A letter goes to a machine; says whether the execution goes on.
    fn append(
        &self,
        row: &[u32],
        target: usize,
        letter: &Letter,
        queues: &mut HashMap<usize, Queue>,
    ) -> Result<bool, Wrong> {
        let machines = (row.len() - self.program.specs.len()) / 2;
        if target >= machines {
            return Err("something is sent to a machine that is not there".to_owned());
        }
        let (kind, local) = self.local(row[2 * target])?;
        let own = &self.program.kinds[*kind as usize];
        if own.receives.as_ref().is_some_and(|receives| !receives.contains(&letter.event)) {
            return self.fails(Error::Permission).map(|()| false);
        }
        if local.halted {
            return Ok(true);
        }
        let listed = self.queue(row[2 * target + 1])?;
        let queue = queues.get(&target).unwrap_or(listed);
        let precision = &self.certificate.precision[*kind as usize];
        let letters = &self.certificate.letters;
        let same = summary::count(precision, queue, &|other| letters[other as usize].event == letter.event);
        let all = summary::count(precision, queue, &|_| true);
        let bounds = [
            (self.program.events[letter.event as usize], same, Error::EventBound),
            (own.bound, all, Error::MachineBound),
        ];
        for (bound, (least, exact), error) in bounds {
            match bound {
                Some(Bound::Assume(most)) if least >= most as usize => return Ok(false),
                Some(Bound::Assert(most)) if least >= most as usize => return self.fails(error).map(|()| false),
                // It may be too much, and it may not.
                Some(Bound::Assert(_)) if !exact => self.fails(error)?,
                _ => {}
            }
        }
        let covering = self.letters.covering(letter);
        let [number] = covering.as_slice() else { return Err("a letter that is sent is not listed once".to_owned()) };
        queues.insert(target, summary::push(precision, queue, *number));
        Ok(true)
    }

    /// No machine can move.
    fn end(&self, row: &[u32], machines: usize) -> Result<(), Wrong> {
        let mut waits = false;
        for machine in 0..machines / 2 {
            let (_, local) = self.local(row[2 * machine])?;
            waits |= matches!(local.waiting(self.program), Waiting::Receive(_));
        }
        if waits && self.program.rules.today {
            return self.fails(Error::Deadlock);
        }
        for number in 0..self.program.specs.len() {
            let (_, local) = self.local(row[machines + number])?;
            if self.program.temperature(number, local) == Some(Temperature::Hot) {
                return self.fails(Error::HotAtEnd);
            }
        }
        Ok(())
    }
}

/// Whether the program may have such a state of a machine, as far as the numbers in it go.
fn has_shape(program: &Program, kind: u32, local: &Local) -> bool {
    let Some(own) = program.kinds.get(kind as usize) else { return false };
    let state = |state: u32| (state as usize) < own.states.len();
    let function = |function: u32| (function as usize) < program.functions.len();
    let event = |letter: &Letter| (letter.event as usize) < program.events.len();
    let mut below = None;
    let frames = local.frames.iter().all(|frame| {
        let fits = program
            .functions
            .get(frame.function as usize)
            .is_some_and(|function| frame.slots.len() == function.slots && frame.at as usize <= function.code.len());
        // What it returns has a place.
        let returns = frame.into.is_none_or(|into| below.is_some_and(|slots| (into as usize) < slots));
        below = Some(frame.slots.len());
        fits && returns
    });
    let agenda = local.agenda.iter().all(|task| match task {
        Task::Enter(number) => state(*number),
        Task::Run(number, _) => function(*number),
        Task::Handle(letter) => event(letter),
        Task::Exit | Task::Leave | Task::Entry(_) | Task::Below => true,
    });
    let variables = local.halted && local.variables.is_empty() || local.variables.len() == own.variables.len();
    let pending = local.pending.as_ref().is_none_or(|(_, letter)| event(letter));
    local.states.iter().all(|&number| state(number)) && frames && agenda && variables && pending
}
