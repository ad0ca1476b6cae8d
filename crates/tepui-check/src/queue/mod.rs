//! Programs with queues: closed sets of rows, and steps to an error.
//!
//! A row stands for states of the program: the machines do what its states of machines say, where a forgotten value is any
//! value; and each queue is one that its summary stands for. The checker takes every step from every row with the program's own
//! interpreter, and specs hear of it in every way in which they may. Nothing may depend on a forgotten value. What a step
//! leads to must be covered by a row again, and the first states must be. Then every state that can be reached is covered, by
//! induction, and an error that no step from a row leads to does not happen.

mod atoms;
mod cover;
mod harmless;
mod liveness;
mod names;
mod queues;
mod replay;
mod sending;
mod shape;
mod specs;
mod summary;
mod symmetry;

pub use replay::{Replayed, replay};

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use tepui_cert::queue::language::{Claims, Fate, Known};
use tepui_cert::queue::{Certificate, Precision, Queue};
use tepui_model::queue::atoms::Atom;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::formula::Formula;
use tepui_model::queue::habits::Habits;
use tepui_model::queue::run::{Choices, Effect, Handled, Letter, Local, Site, Waiting};
use tepui_model::queue::state::{Happens, MOST_WAYS, State};
use tepui_model::queue::{NULL, Program, Temperature, Value};

use crate::Rejected;
use cover::Listed;
use liveness::{Graph, Passed};
use queues::{Queues, Taken};
use sending::Sent;
use shape::Shapes;
use specs::{Heard, Telling};
use symmetry::Orbits;

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proved {
    /// The errors that do not happen.
    pub properties: Vec<String>,
    /// How many rows it takes.
    pub rows: usize,
    /// The handlers that may be used: no execution uses another one.
    pub handled: BTreeSet<Handled>,
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
    let with_atoms = match certificate.atoms.is_empty() {
        true => None,
        false => Some(program.with_atoms(&certificate.atoms).ok_or_else(|| {
            Rejected::new("atom", "something else is done there than to choose a number below a constant")
        })?),
    };
    let program = with_atoms.as_ref().unwrap_or(program);
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
    Ok(Proved { properties: properties.to_vec(), rows: certificate.rows.len(), handled: checker.handled })
}

/// The most rows that are tried for one state.
const MOST_COVERING: usize = 1_000;

const TOO_MANY: &str = "a step goes in too many ways";

/// What is wrong with a row.
type Wrong = String;

struct Checker<'c> {
    program: &'c Program,
    certificate: &'c Certificate,
    letters: Listed<Letter>,
    locals: Listed<(u32, Local)>,
    queues: Queues,
    rows: FxHashMap<&'c [u32], u32>,
    /// The rows up to renaming, where they stand for more.
    orbits: Option<Orbits<'c>>,
    /// The steps between rows, where it is claimed that no spec is hot for ever.
    graph: Option<Graph>,
    /// What steps come to, by the machine, its state and the letter.
    known: FxHashMap<(usize, u32, Option<u32>), Rc<[Way]>>,
    /// What becomes of specs, by their states and what they are told by a kind of machine.
    heard: FxHashMap<Telling, Rc<[Heard]>>,
    /// Rows for which others stand.
    named: FxHashMap<u32, u32>,
    /// What states of machines and queues become if their names are shifted.
    shifted: FxHashMap<(bool, u32, i64), Option<u32>>,
    /// The atoms of states of machines and of queues.
    atoms: FxHashMap<(bool, u32), Rc<[Atom]>>,
    /// What they become if their atoms get other numbers, one after the other.
    numbered: FxHashMap<(bool, u32, Vec<u32>), Option<u32>>,
    /// What machines make of events, where some may go first.
    habits: Vec<Habits>,
    /// The handlers that were used.
    handled: BTreeSet<Handled>,
}

/// What a step comes to.
struct Way {
    local: Local,
    /// The numbers of the states that cover it.
    locals: Vec<u32>,
    fair: Vec<(Site, u32)>,
    told: Rc<[Letter]>,
    effect: Effect,
    /// The number of the letter that is sent, if it is listed once.
    letter: Option<u32>,
}

impl<'c> Checker<'c> {
    fn new(program: &'c Program, certificate: &'c Certificate) -> Result<Self, Rejected> {
        let wrong = |place: &str, reason: &str| Rejected::new(place, reason);
        if certificate.precision.len() != program.kinds.len() {
            return Err(wrong("kinds", "the program has another number of kinds of machines"));
        }
        if certificate.precision.iter().any(|precision| precision.cap > Precision::MOST_COUNTED) {
            return Err(wrong("kinds", "nobody counts so far"));
        }
        if certificate.letters.iter().any(|letter| letter.event as usize >= program.events.len()) {
            return Err(wrong("letters", "there is no such event"));
        }
        if certificate.letters.iter().any(|letter| matches!(letter.payload, Value::Distance(_))) {
            return Err(wrong("letters", "a distance means nothing outside a machine"));
        }
        let shapes = Shapes::of(program);
        let events = |letter: &Letter| shapes.has_events(&letter.payload);
        if !certificate.letters.iter().all(events) {
            return Err(wrong("letters", "there is no such event"));
        }
        if !certificate.locals.iter().all(|(kind, local)| shapes.fits(*kind, local)) {
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
        let rows = certificate.rows.iter().map(|row| &**row).zip(0..);
        let claims = |error: Error| certificate.properties.iter().any(|name| name == error.name());
        let graph = claims(Error::HotForEver).then(Graph::default);
        if certificate.partial_order && (graph.is_some() || !program.claims.is_empty()) {
            return Err(wrong(
                "partial-order",
                "not all rows are there that liveness or a claim about queues depends on",
            ));
        }
        let others = certificate.symmetric || !certificate.named.is_empty() || graph.is_some();
        if !certificate.atoms.is_empty() && others {
            return Err(wrong("atom", "there are names, or machines change places, or it is about liveness"));
        }
        let orbits = match certificate.symmetric {
            true if !program.has_no_numbers() => {
                return Err(wrong("symmetric", "machines of the program can be told apart by their numbers"));
            }
            true if !certificate.named.is_empty() => {
                return Err(wrong("symmetric", "there are names"));
            }
            true if graph.is_some() => {
                return Err(wrong("symmetric", "who has waited is forgotten when machines change places"));
            }
            true => Some(Orbits::new(program, certificate).ok_or_else(|| wrong("rows", "a number has no meaning"))?),
            false => None,
        };
        Ok(Self {
            program,
            certificate,
            letters,
            locals,
            queues: Queues::new(certificate),
            rows: if orbits.is_some() { FxHashMap::default() } else { rows.collect() },
            orbits,
            graph,
            known: FxHashMap::default(),
            heard: FxHashMap::default(),
            named: certificate.named.iter().copied().collect(),
            shifted: FxHashMap::default(),
            atoms: FxHashMap::default(),
            numbered: FxHashMap::default(),
            habits: if certificate.partial_order { program.habits() } else { Vec::new() },
            handled: program.handled_at_first().into_iter().collect(),
        })
    }

    /// The first states must be covered.
    fn start(&mut self) -> Result<(), Rejected> {
        self.program.starts().into_iter().try_for_each(|(_, start)| match start {
            Ok(state) => self.first(state),
            Err(Happens::Error(violation)) if !self.claims(violation.error) => Ok(()),
            Err(_) => Err(Rejected::new("start", "the program fails before it begins")),
        })
    }

    fn first(&mut self, state: State) -> Result<(), Rejected> {
        let (mut row, mut parts) = (Vec::new(), Vec::new());
        let empty = self.queues.number(Queue::default());
        for machine in state.machines {
            parts.push((row.len(), self.locals.covering(&(machine.kind, machine.local))));
            parts.push((row.len() + 1, self.queues.listed(empty)));
            row.extend([0, 0]);
        }
        for (spec, local) in self.program.specs.iter().zip(state.specs) {
            parts.push((row.len(), self.locals.covering(&(spec.kind as u32, local))));
            row.push(0);
        }
        self.covering(row, &parts).map(|_| ()).ok_or_else(|| Rejected::new("start", "no row covers a first state"))
    }

    /// A row with one of some numbers at each of some places, and otherwise as given.
    fn covering(&mut self, row: Vec<u32>, parts: &[(usize, Vec<u32>)]) -> Option<u32> {
        // As a rule there is one number at each place.
        let mut rows = vec![row];
        for (place, numbers) in parts {
            if let ([row], [number]) = (rows.as_mut_slice(), numbers.as_slice()) {
                row[*place] = *number;
                continue;
            }
            if rows.len() * numbers.len() > MOST_COVERING {
                return None;
            }
            let with = |row: &Vec<u32>, number: u32| {
                let mut row = row.clone();
                row[*place] = number;
                row
            };
            rows = rows.iter().flat_map(|row| numbers.iter().map(move |number| with(row, *number))).collect();
        }
        rows.into_iter().find_map(|row| match &self.orbits {
            _ if !self.certificate.atoms.is_empty() => {
                self.with_atoms_in_order(row).and_then(|row| self.rows.get(&row[..]).copied())
            }
            Some(orbits) => orbits.find(&row),
            None if self.named.is_empty() => self.rows.get(&row[..]).copied(),
            None => {
                let found = self.as_listed(row).and_then(|row| self.rows.get(&row[..]).copied());
                found.map(|row| self.named.get(&row).copied().unwrap_or(row))
            }
        })
    }

    fn claims(&self, error: Error) -> bool {
        self.certificate.properties.iter().any(|name| name == error.name())
    }

    fn local(&self, number: u32) -> Result<&'c (u32, Local), Wrong> {
        self.certificate.locals.get(number as usize).ok_or_else(|| "there is no such state of a machine".to_owned())
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
        if let Some(by) = self.named.get(&number) {
            // Somebody has to take the steps.
            let other = self.certificate.rows.get(*by as usize).filter(|_| !self.named.contains_key(by));
            let meant = other.and_then(|by| self.is_meant_by(row, by));
            return if meant == Some(true) { Ok(()) } else { Err(format!("row {by} does not stand for it")) };
        }
        if self.certificate.partial_order
            && let Some(machine) = self.goes_first(row, machines / 2)?
        {
            return self.machine(row, machine).map(|_| ());
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
        let queue = row[2 * machine + 1];
        if self.queues.listed(queue).is_empty() {
            return Err("there is no such queue".to_owned());
        }
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
        let taken = self.offered(row[2 * machine], queue)?;
        for (letter, left) in &*taken {
            if self.may_leave((*kind as usize, machine, queue), (*letter, *left), &takes)? {
                self.steps(row, machine, Some(*letter), *left)?;
            }
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

    /// What a machine in a state may take from a queue, each with what is left.
    fn offered(&mut self, number: u32, queue: u32) -> Result<Taken, Wrong> {
        let (kind, local) = self.local(number)?;
        let (program, letters) = (self.program, &self.certificate.letters);
        let takes = |letter: u32| program.may_take(*kind as usize, local, letters[letter as usize].event);
        let precision = &self.certificate.precision[*kind as usize];
        Ok(self.queues.take((number, queue), precision, &takes).unwrap_or_default())
    }

    /// Whether all claims may hold. If one may not, nothing is proved, because claims are relied on.
    fn claimed(&self, fate: Fate) -> Result<bool, Wrong> {
        match fate.may_fail && !self.program.rules.assume_claims {
            true => Err(format!("a step leads to the error {}", Error::Invariant.name())),
            false => Ok(fate.may_hold),
        }
    }

    fn formulas(&self, kind: usize, machine: usize) -> Vec<&'c Formula> {
        self.program.claims.iter().filter(|claim| claim.is_about(kind, machine)).map(|claim| &claim.formula).collect()
    }

    /// Whether something may be left of a queue when a letter is taken, if all that is claimed holds.
    fn may_leave(
        &self,
        (kind, machine, queue): (usize, usize, u32),
        (letter, left): (u32, u32),
        takes: &dyn Fn(u32) -> bool,
    ) -> Result<bool, Wrong> {
        let formulas = self.formulas(kind, machine);
        if formulas.is_empty() {
            return Ok(true);
        }
        let event = |letter: u32| self.certificate.letters[letter as usize].event;
        let known = |number: u32| {
            let queue = self.queues.get(number).ok_or("there is no such queue")?;
            Ok::<_, Wrong>(Known { precision: &self.certificate.precision[kind], queue })
        };
        let claims = Claims { formulas: &formulas, event: &event };
        self.claimed(claims.take(known(queue)?, known(left)?, letter, takes))
    }

    fn steps(&mut self, row: &[u32], machine: usize, letter: Option<u32>, queue: u32) -> Result<(), Wrong> {
        let ways = self.ways(machine, row[2 * machine], letter)?;
        ways.iter().try_for_each(|way| self.way(row, machine, queue, way))
    }

    /// What a machine does, in all ways.
    fn ways(&mut self, machine: usize, local: u32, letter: Option<u32>) -> Result<Rc<[Way]>, Wrong> {
        let key = (machine, local, letter);
        if let Some(known) = self.known.get(&key) {
            return Ok(Rc::clone(known));
        }
        let ways: Rc<[Way]> = self.worked_out(machine, local, letter)?.into();
        self.known.insert(key, Rc::clone(&ways));
        Ok(ways)
    }

    fn worked_out(&mut self, machine: usize, local: u32, letter: Option<u32>) -> Result<Vec<Way>, Wrong> {
        let (kind, local) = self.local(local)?;
        let waits = !matches!(local.waiting(self.program), Waiting::Busy);
        let null = || Letter { event: NULL, payload: Value::Null };
        let taken = match letter {
            Some(letter) => Some(self.certificate.letters[letter as usize].clone()),
            None => waits.then(null),
        };
        let (mut choices, mut ways, mut told_in_all) = (Choices::default(), Vec::new(), 0);
        loop {
            let outcome = self.program.step(*kind as usize, machine as u32, local, taken.as_ref(), &mut choices);
            told_in_all += outcome.told.len();
            self.handled.extend(outcome.handled);
            let (local, told, fair) = (outcome.local, outcome.told.into(), choices.fair());
            let locals = self.locals.covering(&(*kind, local.clone()));
            let letter = match &outcome.effect {
                Effect::Sends(_, letter) => self.letters.covering(letter),
                _ => Vec::new(),
            };
            let letter = if let [letter] = letter.as_slice() { Some(*letter) } else { None };
            ways.push(Way { local, locals, fair, told, effect: outcome.effect, letter });
            if ways.len() + told_in_all >= MOST_WAYS {
                return Err(TOO_MANY.to_owned());
            }
            if !choices.advance() {
                return Ok(ways);
            }
        }
    }

    /// What a step comes to must be covered.
    fn way(&mut self, row: &[u32], machine: usize, queue: u32, way: &Way) -> Result<(), Wrong> {
        let (kind, _) = self.local(row[2 * machine])?;
        let first_spec = row.len() - self.program.specs.len();
        let forbidden = self.forbidden(&row[..first_spec], way);
        let told = match forbidden {
            Some(event) if self.program.is_heard(*kind as usize, event) => {
                Rc::from(&way.told[..way.told.len().saturating_sub(1)])
            }
            _ => Rc::clone(&way.told),
        };
        let heard = self.tell(&row[first_spec..], *kind as usize, &told)?;
        heard.iter().try_for_each(|heard| match heard {
            Heard::Fails(error) => self.fails(*error),
            Heard::Goes(..) if forbidden.is_some() => self.fails(Error::Permission),
            Heard::Goes(specs, passed) => self.leads(row, (machine, *kind), queue, way, (specs, passed)),
        })
    }

    /// The same, after specs have heard of it.
    fn leads(
        &mut self,
        row: &[u32],
        (machine, kind): (usize, u32),
        queue: u32,
        way: &Way,
        (specs, passed): (&[(usize, Vec<u32>)], &[Passed]),
    ) -> Result<(), Wrong> {
        let first_spec = row.len() - self.program.specs.len();
        // The parts that change, by their places.
        let mut parts: Vec<_> = specs.iter().map(|(number, locals)| (first_spec + number, locals.clone())).collect();
        let empty = self.queues.number(Queue::default());
        let own = if way.local.halted { empty } else { queue };
        let (mut next, mut own_locals, mut own_queue) = (row.to_vec(), way.locals.clone(), own);
        match &way.effect {
            Effect::Rests => {}
            Effect::Sends(target, letter) => {
                let target = *target as usize;
                let (to_itself, halts) = (target == machine, way.local.halted && target == machine);
                let before = to_itself.then_some(own_queue);
                if !halts {
                    match self.append(row, target, letter, way.letter, before)? {
                        Sent::Ends => return Ok(()),
                        Sent::Lost => {}
                        Sent::Queue(longer) if to_itself => own_queue = longer,
                        Sent::Queue(longer) => parts.push((2 * target + 1, self.queues.listed(longer))),
                    }
                }
            }
            Effect::Creates(created, argument, into) => {
                let mut local = way.local.clone();
                if let (Some(slot), Some(frame)) = (into, local.frames.last_mut()) {
                    frame.slots[*slot as usize] = Value::Machine((first_spec / 2) as u32);
                }
                own_locals = self.locals.covering(&(kind, local));
                let fresh = (*created, Local::new(self.program, *created as usize, argument.clone()));
                next.splice(first_spec..first_spec, [0, 0]);
                parts.iter_mut().for_each(|(place, _)| *place += 2);
                parts.push((first_spec, self.locals.covering(&fresh)));
                parts.push((first_spec + 1, self.queues.listed(empty)));
            }
            Effect::Fails(error, _) => return self.fails(*error),
            Effect::Pruned | Effect::Repeats => return Ok(()),
            Effect::Forgotten => return Err("a step depends on a forgotten value, and --forget names none".to_owned()),
            Effect::Mistyped => return Err("a value is not of the type that it is declared with".to_owned()),
            Effect::Foreign(_) => return Err("a step depends on a foreign function".to_owned()),
            Effect::Endless => return Err("a step takes too long".to_owned()),
        }
        parts.push((2 * machine, own_locals));
        parts.push((2 * machine + 1, self.queues.listed(own_queue)));
        let out = || format!("a step of machine {machine} leads out of the rows");
        let to = self.covering(next, &parts).ok_or_else(out)?;
        self.graph.iter_mut().for_each(|graph| graph.edge(to, machine, &way.fair, passed));
        Ok(())
    }

    fn fails(&self, error: Error) -> Result<(), Wrong> {
        if self.claims(error) { Err(format!("a step leads to the error {}", error.name())) } else { Ok(()) }
    }

    /// No machine can move.
    fn end(&self, row: &[u32], machines: usize) -> Result<(), Wrong> {
        let mut waits = false;
        for machine in 0..machines / 2 {
            let (_, local) = self.local(row[2 * machine])?;
            waits |= matches!(local.waiting(self.program), Waiting::Receive(_));
        }
        if waits && self.program.rules.today {
            self.fails(Error::Deadlock)?;
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
