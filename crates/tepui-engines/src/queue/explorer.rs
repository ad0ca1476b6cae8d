//! States of a whole program, one after the other: what is known of them, and where they lead.
//!
//! A state is a row of numbers: for each machine its own state and its queue, and for each spec its state. Queues are known
//! with a precision. Where it is [exact](Precision::EXACT), these are the states of the program, with queues up to a length:
//! what is sent to a full queue is refused, and tried again when queues may be longer. Otherwise a row stands for many
//! states, and the rows that are found are closed: whatever the program does from one of these states leads to one of
//! these rows.

mod each;
mod harmless;
mod named;
pub(super) mod next;
mod permission;
mod retrace;
mod specs;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tepui_cert::queue::language::Fate;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::habits::Habits;
use tepui_model::queue::state::Cannot;
use tepui_model::queue::{Bound, Program, Temperature, Value};

use super::atoms::Atoms;
use super::claims;
use super::names::Names;
use super::summary::{Precision, Queue};
use super::symmetry::Symmetry;
use super::tables::{Ends, Tables, Way};
use crate::interner::Interner;
use crate::rows::Rows;
use next::Next;
pub(super) use retrace::{Path, Took};
use specs::Turns;

/// What may be taken from a queue.
struct Taken {
    /// The letters, each with the queue that is left.
    letters: Vec<(u32, u32)>,
    /// Whether something can be taken at all: what is left may be known to be impossible.
    some: bool,
    /// Whether a claim may not hold of what is left.
    doubt: bool,
}

/// A step from a row.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The row before.
    pub from: u32,
    /// The machine.
    pub machine: u32,
    /// What it takes.
    pub letter: Option<u32>,
    /// What is chosen.
    pub choices: Vec<u32>,
}

/// A search.
pub struct Explorer {
    tables: Tables,
    /// For each kind of machine.
    precision: Vec<Precision>,
    /// How long queues may be.
    longest: usize,
    queues: Interner<Queue>,
    /// What a machine may take from a queue, by their numbers: the letters, each with the queue that is left.
    taken: FxHashMap<(u32, u32, u32), Arc<Taken>>,
    /// What a queue becomes with a letter more, for each kind of machine, and what becomes of claims.
    longer: FxHashMap<(u32, u32, u32, u32), (u32, Fate)>,
    /// For each machine two numbers, its own state and its queue, then one for each spec.
    rows: Rows,
    /// For each row that from which it was found first; for the first ones themselves.
    before: Vec<u32>,
    /// What specs choose to get to the first rows, and to errors at once.
    starts: Vec<Vec<u32>>,
    failing: BTreeMap<Error, Vec<u32>>,
    /// The row that is being put together.
    next: Vec<u32>,
    /// For each spec whether it was hot and whether it was cold on the way there.
    passed: Vec<[bool; 2]>,
    /// What specs chose on the way there.
    chosen: Vec<u32>,
    /// How many rows have been looked at.
    done: usize,
    /// Rows from which something was refused, with the machine.
    refused: Vec<(u32, u32)>,
    /// For each sort of error the row from which it was found first.
    errors: BTreeMap<Error, u32>,
    unknown: Option<Cannot>,
    steps: u64,
    /// If of rows in which machines have changed places one is kept.
    symmetry: Option<Symmetry>,
    /// What machines make of events, if others wait while a machine takes harmless steps.
    partial_order: Option<Arc<[Habits]>>,
    /// If some integers are names.
    names: Option<Names>,
    /// If some numbers that are chosen are atoms.
    atoms: Option<Atoms>,
}

/// How many steps are taken from a row before it is asked again whether to stop.
const AT_ONCE: u64 = 256;

/// From time to time asked whether to stop.
pub type Stop<'s> = &'s mut dyn FnMut(&Explorer) -> bool;

impl Explorer {
    /// A search at the start of a program.
    pub fn new(program: Arc<Program>, precision: Vec<Precision>, longest: usize) -> Self {
        Self::with(Tables::new(program), precision, longest, None)
    }

    /// The same from the start, with another precision. What machines do is not worked out again.
    #[must_use]
    pub fn again(self, precision: Vec<Precision>) -> Self {
        let fresh = self.symmetry.map(|_| Symmetry::default());
        let partial_order = self.partial_order;
        let names = self.names.map(|_| Names::default());
        let atoms = self.atoms.map(Atoms::again);
        Self { symmetry: fresh, partial_order, atoms, ..Self::with(self.tables, precision, self.longest, names) }
    }

    /// The number of a row.
    pub(super) fn number(&self, row: &[u32]) -> Option<u32> {
        self.rows.find(row)
    }

    /// The same, but of rows in which machines of a kind have changed places one is kept, if nobody can tell them apart.
    #[must_use]
    pub fn up_to_symmetry(self) -> Self {
        let symmetry = self.tables.program().has_no_numbers().then(Symmetry::default);
        Self { symmetry, ..self }
    }

    /// Whether rows stand for those in which machines have changed places, and there are such.
    pub fn is_up_to_symmetry(&self) -> bool {
        self.symmetry.as_ref().is_some_and(|symmetry| symmetry.acted)
    }

    /// Whether the search is one up to symmetry.
    pub(super) fn has_symmetry(&self) -> bool {
        self.symmetry.is_some()
    }

    /// Replaces the row that was put together by the one that is kept.
    fn reduce(&mut self) {
        if let Some(symmetry) = &mut self.symmetry {
            symmetry.reduce(&mut self.tables, &mut self.queues, &mut self.next);
        }
        if let Some(names) = &mut self.names {
            names.reduce(&mut self.tables, &mut self.queues, &mut self.next);
        }
        if let Some(atoms) = &mut self.atoms {
            atoms.reduce(&mut self.tables, &mut self.queues, &mut self.next);
        }
    }

    fn with(tables: Tables, precision: Vec<Precision>, longest: usize, names: Option<Names>) -> Self {
        let mut explorer = Self {
            tables,
            precision,
            longest,
            queues: Interner::default(),
            taken: FxHashMap::default(),
            longer: FxHashMap::default(),
            rows: Rows::default(),
            before: Vec::new(),
            starts: Vec::new(),
            failing: BTreeMap::new(),
            next: Vec::new(),
            passed: Vec::new(),
            chosen: Vec::new(),
            done: 0,
            refused: Vec::new(),
            errors: BTreeMap::new(),
            unknown: None,
            steps: 0,
            symmetry: None,
            partial_order: None,
            names,
            atoms: None,
        };
        explorer.begin();
        explorer
    }

    /// Looks at rows until none is left, or something ends the search; says whether none is left.
    pub fn run(&mut self, stop: Stop<'_>) -> bool {
        while self.done < self.rows.len() && self.unknown.is_none() {
            if stop(self) {
                return false;
            }
            let row = self.rows.get(self.done as u32);
            if !self.expand(self.done as u32, &row, stop) {
                return false;
            }
            self.done += 1;
        }
        self.unknown.is_none()
    }

    /// Lets queues be longer, and tries what was refused again; says whether nothing is left.
    pub fn raise(&mut self, longest: usize, stop: Stop<'_>) -> bool {
        self.longest = longest;
        let refused = std::mem::take(&mut self.refused);
        for (at, (number, machine)) in refused.iter().enumerate() {
            let row = self.rows.get(*number);
            if stop(self) || self.moves(*number, &row, *machine as usize, stop).is_none() {
                self.refused.extend_from_slice(&refused[at..]);
                return false;
            }
        }
        self.run(stop)
    }

    pub(super) fn machines(&self, row: &[u32]) -> usize {
        (row.len() - self.tables.program().specs.len()) / 2
    }

    /// All steps from a row; says whether these are all.
    fn expand(&mut self, number: u32, row: &[u32], stop: Stop<'_>) -> bool {
        if self.has_partial_order()
            && let Some(machine) = self.goes_first(row)
        {
            return self.moves(number, row, machine, stop).is_some();
        }
        let mut moved = false;
        for machine in 0..self.machines(row) {
            match self.moves(number, row, machine, stop) {
                Some(moves) => moved |= moves,
                None => return false,
            }
        }
        if !moved {
            self.end(number, row);
        }
        true
    }

    /// All steps of a machine; says whether it can move, unless the search is stopped meanwhile.
    fn moves(&mut self, number: u32, row: &[u32], machine: usize, stop: Stop<'_>) -> Option<bool> {
        let mut found = Vec::new();
        let moved = self.takes(row, machine, &mut found);
        if moved && self.is_in_doubt(row, machine) {
            self.errors.entry(Error::Invariant).or_insert(number);
        }
        for (letter, queue) in found {
            if !self.ways(number, row, (machine, letter, queue), stop) {
                return None;
            }
        }
        Some(moved)
    }

    /// Whether a claim may not hold of what is left of a machine's queue.
    pub(super) fn is_in_doubt(&self, row: &[u32], machine: usize) -> bool {
        self.taken.get(&(row[2 * machine], row[2 * machine + 1], self.apart(machine))).is_some_and(|taken| taken.doubt)
    }

    /// What a machine may take, each with the queue that is left; says whether it can move.
    fn takes(&mut self, row: &[u32], machine: usize, found: &mut Vec<(Option<u32>, u32)>) -> bool {
        let (local, queue) = (row[2 * machine], row[2 * machine + 1]);
        let rest = self.tables.rest(local);
        if rest.halted {
            return false;
        }
        if rest.takes {
            let taken = self.taken(machine, local, queue);
            found.extend(taken.letters.iter().map(|(letter, left)| (Some(*letter), *left)));
            if taken.some {
                return true;
            }
        }
        if found.is_empty() && (!rest.takes || rest.takes_null) {
            found.push((None, queue));
        }
        !found.is_empty()
    }

    /// The number of a machine, if something is claimed of some machines only.
    fn apart(&self, machine: usize) -> u32 {
        let of_one = self.tables.program().claims.iter().any(|claim| claim.machine.is_some());
        if of_one { machine as u32 } else { 0 }
    }

    /// What a machine may take from a queue.
    fn taken(&mut self, machine: usize, local: u32, queue: u32) -> Arc<Taken> {
        let key = (local, queue, self.apart(machine));
        if let Some(known) = self.taken.get(&key) {
            return Arc::clone(known);
        }
        let (kind, known) = (self.tables.local_of(local).0 as usize, self.queues[queue].clone());
        let marked = known.marks.iter().map(|(letter, _)| *letter);
        let letters: Vec<u32> =
            known.prefix.iter().copied().chain(marked).chain(known.counts.keys().copied()).collect();
        let takes: FxHashMap<u32, bool> =
            letters.into_iter().map(|letter| (letter, self.tables.may_take(local, letter))).collect();
        let may = |letter: u32| takes.get(&letter).copied().unwrap_or(false);
        let precision = self.precision[kind];
        let found = precision.take(&known, &may);
        let mut taken = Taken { letters: Vec::new(), some: !found.is_empty(), doubt: false };
        for (letter, left) in found {
            let fate = claims::take(&self.tables, (kind, machine), &precision, (&known, &left), letter, &may);
            taken.doubt |= fate.may_fail;
            if fate.may_hold {
                taken.letters.push((letter, self.queues.intern(left)));
            }
        }
        let taken = Arc::new(taken);
        self.taken.insert(key, Arc::clone(&taken));
        taken
    }

    /// All steps of a machine that takes a letter; says whether these are all.
    fn ways(&mut self, number: u32, row: &[u32], taking: (usize, Option<u32>, u32), stop: Stop<'_>) -> bool {
        let (machine, letter, queue) = taking;
        let ways = self.tables.ways(machine as u32, row[2 * machine], letter);
        let first = self.steps;
        for way in ways.iter() {
            let mut turns = Turns::default();
            loop {
                self.steps += 1;
                if (self.steps - first).is_multiple_of(AT_ONCE) && stop(self) {
                    return false;
                }
                match self.next(row, machine, queue, way, &mut turns) {
                    Next::Row(doubts) => {
                        doubts.into_iter().for_each(|error| _ = self.errors.entry(error).or_insert(number));
                        self.reduce();
                        if self.rows.intern(&self.next).1 {
                            self.before.push(number);
                        }
                    }
                    Next::Errors(found) => {
                        found.into_iter().for_each(|error| _ = self.errors.entry(error).or_insert(number));
                    }
                    Next::Refused => {
                        if self.refused.last() != Some(&(number, machine as u32)) {
                            self.refused.push((number, machine as u32));
                        }
                    }
                    Next::Nothing => {}
                    Next::Unknown(why) => self.unknown = self.unknown.or(Some(why)),
                }
                if !turns.advance() {
                    break;
                }
            }
        }
        true
    }

    /// Puts the row together that a way leads to, with names for integers where these get their first values.
    fn next(&mut self, row: &[u32], machine: usize, queue: u32, way: &Way, turns: &mut Turns) -> Next {
        let next = self.next_with(row, machine, queue, (way, false), turns);
        if self.names.is_none() || !matches!(next, Next::Row(_)) || !self.tables.has_names(way) {
            return next;
        }
        let before = self.next.clone();
        let named = way.named.as_deref().unwrap_or(way);
        match self.next_with(row, machine, queue, (named, true), &mut turns.again()) {
            Next::Row(_) if self.give_names(&before) => next,
            _ => Next::Unknown(Cannot::Forgotten),
        }
    }

    fn next_with(
        &mut self,
        row: &[u32],
        machine: usize,
        queue: u32,
        (way, named): (&Way, bool),
        turns: &mut Turns,
    ) -> Next {
        self.next.clear();
        self.next.extend_from_slice(row);
        (self.next[2 * machine], self.next[2 * machine + 1]) = (way.local, queue);
        if self.tables.rest(way.local).halted {
            self.next[2 * machine + 1] = self.queues.intern(Queue::default());
        }
        let forbidden = self.forbidden(row, way);
        let unheard = forbidden.is_some_and(|heard| heard);
        let told = &way.told[..way.told.len().saturating_sub(usize::from(unheard))];
        if let Some(wrong) = self.tell(way.local, told, turns) {
            return wrong;
        }
        if forbidden.is_some() {
            return Next::Errors(vec![Error::Permission]);
        }
        match &way.effect {
            Ends::Rests => Next::Row(Vec::new()),
            Ends::Sends(target, letter) => self.append(*target as usize, *letter),
            Ends::Creates(kind, argument, into, local) => {
                let machines = self.machines(row);
                let mut local = (**local).clone();
                if let (Some(slot), Some(frame)) = (into, local.frames.last_mut()) {
                    frame.slots[*slot as usize] = Value::Machine(machines as u32);
                }
                let own = self.tables.local_of(way.local).0;
                self.next[2 * machine] = self.tables.local(own, local);
                let created = match named {
                    true => self.tables.created_with_names(*kind, argument),
                    false => self.tables.created(*kind, argument),
                };
                let empty = self.queues.intern(Queue::default());
                self.next.splice(2 * machines..2 * machines, [created, empty]);
                Next::Row(Vec::new())
            }
            Ends::Fails(error) => Next::Errors(vec![*error]),
            Ends::Pruned => Next::Nothing,
            Ends::Unknown(why) => Next::Unknown(*why),
        }
    }

    fn append(&mut self, target: usize, letter: u32) -> Next {
        let (local, queue) = (self.next[2 * target], self.next[2 * target + 1]);
        let kind = self.tables.local_of(local).0 as usize;
        let (program, event) = (self.tables.program(), self.tables.event_of(letter));
        if self.tables.rest(local).halted || self.is_useless(kind, event) {
            return Next::Row(Vec::new());
        }
        let (known, precision) = (&self.queues[queue], self.precision[kind]);
        let bounds =
            [(program.events[event as usize], Error::EventBound), (program.kinds[kind].bound, Error::MachineBound)];
        let (mut doubts, full) = (Vec::new(), known.prefix.len() >= self.longest);
        for (bound, error) in bounds.into_iter().filter(|(bound, _)| bound.is_some()) {
            let counts = |other: u32| error == Error::MachineBound || self.tables.event_of(other) == event;
            let (least, exact) = precision.count(known, &counts);
            match bound {
                Some(Bound::Assume(most)) if least >= most as usize => return Next::without_row(doubts),
                // Nobody knows yet: in a longer queue it would be one too many.
                Some(Bound::Assert(_)) if full => {}
                Some(Bound::Assert(most)) if least >= most as usize => {
                    doubts.push(error);
                    return Next::Errors(doubts);
                }
                // What is not known may be too much, and may not.
                Some(Bound::Assert(_)) if !exact => doubts.push(error),
                _ => {}
            }
        }
        if full {
            return Next::Refused;
        }
        let key = (kind as u32, queue, letter, self.apart(target));
        let (longer, fate) = match self.longer.get(&key) {
            Some(known) => *known,
            None => {
                let fate = claims::push(&self.tables, (kind, target), &precision, &self.queues[queue], letter);
                let longer = self.queues.intern(precision.push(&self.queues[queue], letter));
                *self.longer.entry(key).or_insert((longer, fate))
            }
        };
        self.next[2 * target + 1] = longer;
        doubts.extend(fate.may_fail.then_some(Error::Invariant));
        if fate.may_hold { Next::Row(doubts) } else { Next::without_row(doubts) }
    }

    /// No machine can move.
    fn end(&mut self, number: u32, row: &[u32]) {
        for error in self.wrong_at_end(row) {
            self.errors.entry(error).or_insert(number);
        }
    }

    /// What is wrong with a row in which no machine can move.
    pub(super) fn wrong_at_end(&self, row: &[u32]) -> impl Iterator<Item = Error> + use<> {
        let program = self.tables.program();
        let waits = (0..self.machines(row)).any(|machine| self.tables.rest(row[2 * machine]).receives);
        let first = row.len() - program.specs.len();
        let hot = (0..program.specs.len())
            .any(|spec| self.tables.temperature(spec, row[first + spec]) == Some(Temperature::Hot));
        let wrong = [(waits && program.rules.today, Error::Deadlock), (hot, Error::HotAtEnd)];
        wrong.into_iter().filter_map(|(wrong, error)| wrong.then_some(error))
    }

    /// Whether a spec is hot or cold in a row.
    pub(super) fn temperature(&self, row: u32, spec: usize) -> Option<Temperature> {
        let (row, specs) = (self.rows.get(row), self.tables.program().specs.len());
        self.tables.temperature(spec, row[row.len() - specs + spec])
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.len() == 0
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// How many bytes rows take, with what is stored for each.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.before.capacity() * 4
    }

    /// Whether something was refused because a queue was full.
    pub fn has_refused(&self) -> bool {
        !self.refused.is_empty()
    }

    /// The errors that were found, each with the row from which it was found first, if there is one.
    pub fn errors(&self) -> &BTreeMap<Error, u32> {
        &self.errors
    }

    /// What cannot be said, if something cannot.
    pub fn unknown(&self) -> Option<Cannot> {
        self.unknown
    }

    /// How precisely queues are known, for each kind of machine.
    pub fn precisions(&self) -> &[Precision] {
        &self.precision
    }

    /// The rows in the order in which they were found.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u32>> {
        self.rows.iter()
    }

    /// A row.
    pub fn row(&self, number: u32) -> Vec<u32> {
        self.rows.get(number)
    }

    /// The queues that occur.
    pub fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.queues.iter()
    }

    /// The queue with a number.
    pub fn queue(&self, number: u32) -> &Queue {
        &self.queues[number]
    }

    /// The row that is kept for another one, whose queues have numbers of their own.
    pub(super) fn kept(&mut self, symmetry: &mut Symmetry, queues: &mut Interner<Queue>, row: &mut Vec<u32>) {
        if self.symmetry.is_some() {
            symmetry.reduce(&mut self.tables, queues, row);
        }
    }

    /// The tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }
}
