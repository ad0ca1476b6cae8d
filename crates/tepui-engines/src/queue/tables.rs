//! What machines do, worked out once.
//!
//! The outcome of a step depends on the machine's own state and the letter that it takes only. So states of machines and
//! letters get numbers, and what was worked out for them is remembered: a search over many states of the whole program
//! interprets few steps.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::run::{Choices, Effect, Letter, Local, Outcome, Site, Waiting};
use tepui_model::queue::state::{Cannot, MOST_WAYS};
use tepui_model::queue::{NULL, Program, Temperature, Value};

use super::names;
use super::slice::Needed;
use crate::interner::Interner;

/// One way in which a step may go.
#[derive(PartialEq, Debug)]
pub struct Way {
    /// What is chosen.
    pub choices: Vec<u32>,
    /// The machine afterwards.
    pub local: u32,
    /// Where fair choices stand, and what is chosen there.
    pub fair: Vec<(Site, u32)>,
    /// What specs are told.
    pub told: Vec<u32>,
    /// How it ends.
    pub effect: Ends,
    /// The same, where variables that may hold names get them, if that makes a difference.
    pub named: Option<Box<Way>>,
}

/// How a step ends.
#[derive(PartialEq, Debug)]
pub enum Ends {
    /// The machine rests.
    Rests,
    /// A letter goes to a machine.
    Sends(u32, u32),
    /// A machine of a kind is created with an argument; the creator as it is before its slot is filled.
    Creates(u32, Value, Option<u32>, Box<Local>),
    /// An error.
    Fails(Error),
    /// Nobody looks at it.
    Pruned,
    /// It cannot be said what happens.
    Unknown(Cannot),
}

/// What may become of a spec.
#[derive(Debug)]
pub struct Heard {
    /// What it chooses.
    pub choices: Vec<u32>,
    /// Where that leads.
    pub then: Then,
}

/// Where a spec gets to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Then {
    /// To a state.
    Goes(u32),
    /// To an error.
    Fails(Error),
    /// It cannot be said.
    Unknown(Cannot),
}

/// A machine's state and what is asked of it again and again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rest {
    /// Whether it is about to take a letter.
    pub takes: bool,
    /// Whether it may go on if there is none.
    pub takes_null: bool,
    /// Whether it has halted.
    pub halted: bool,
    /// Whether it stands at a `receive`.
    pub receives: bool,
}

/// States of machines and letters, and what was worked out for them.
pub struct Tables {
    program: Arc<Program>,
    /// The program in which variables get names, and the kinds of machines that have such variables.
    naming: Option<Arc<Program>>,
    named: BTreeSet<u32>,
    needed: Needed,
    locals: Interner<(u32, Local)>,
    rests: Vec<Rest>,
    letters: Interner<Letter>,
    ways: FxHashMap<(u32, u32, u32), Arc<[Way]>>,
    specs: FxHashMap<(u32, u32, u32), Arc<[Heard]>>,
    takes: FxHashMap<(u32, u32), bool>,
}

/// Instead of a letter, where none is taken.
const NO_LETTER: u32 = u32::MAX;

impl Tables {
    /// Of a program.
    pub fn new(program: Arc<Program>) -> Self {
        Self {
            needed: Needed::of(&program),
            program,
            naming: None,
            named: BTreeSet::new(),
            locals: Interner::default(),
            rests: Vec::new(),
            letters: Interner::default(),
            ways: FxHashMap::default(),
            specs: FxHashMap::default(),
            takes: FxHashMap::default(),
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// From now on variables that may hold names get them; says whether there are such.
    pub(super) fn name(&mut self) -> bool {
        let variables = self.needed.names(&self.program);
        let found = !variables.is_empty();
        self.naming = found.then(|| Arc::new(names::naming(&self.program, &variables)));
        self.named = variables.into_iter().map(|(kind, _)| kind).collect();
        self.ways.clear();
        found
    }

    /// The variable that had the most values, with its kind and their number.
    pub(super) fn widest(&self) -> Option<(usize, usize, usize)> {
        let mut values: FxHashMap<(u32, usize), FxHashSet<&Value>> = FxHashMap::default();
        for (kind, local) in self.locals.iter() {
            for (number, value) in local.variables.iter().enumerate() {
                values.entry((*kind, number)).or_default().insert(value);
            }
        }
        let counts = values.into_iter().map(|((kind, number), values)| (values.len(), Reverse(kind), Reverse(number)));
        counts.max().map(|(count, Reverse(kind), Reverse(number))| (kind as usize, number, count))
    }

    /// The number of a machine's state, without what nothing depends on.
    pub fn local(&mut self, kind: u32, mut local: Local) -> u32 {
        self.needed.forget(kind as usize, &mut local);
        let number = self.locals.intern((kind, local));
        if number as usize == self.rests.len() {
            let (kind, local) = &self.locals[number];
            let waiting = local.waiting(&self.program);
            self.rests.push(Rest {
                takes: matches!(waiting, Waiting::Idle | Waiting::Receive(_)),
                takes_null: self.program.takes_null(*kind as usize, local),
                halted: waiting == Waiting::Halted,
                receives: matches!(waiting, Waiting::Receive(_)),
            });
        }
        number
    }

    /// The state with a number, and the kind of the machine.
    pub fn local_of(&self, number: u32) -> &(u32, Local) {
        &self.locals[number]
    }

    /// What is asked of it again and again.
    pub fn rest(&self, local: u32) -> Rest {
        self.rests[local as usize]
    }

    /// The letter with a number.
    pub fn letter_of(&self, number: u32) -> &Letter {
        &self.letters[number]
    }

    /// The number of a letter, without a payload that nobody needs.
    pub fn letter(&mut self, letter: &Letter) -> u32 {
        let letter = self.needed.letter(letter);
        self.letters.intern(letter)
    }

    /// A machine that has just been created.
    pub fn created(&mut self, kind: u32, argument: &Value) -> u32 {
        let program = Arc::clone(&self.program);
        self.created_in(&program, kind, argument)
    }

    /// The same, where variables that may hold names get them.
    pub(super) fn created_with_names(&mut self, kind: u32, argument: &Value) -> u32 {
        let program = Arc::clone(self.naming.as_ref().unwrap_or(&self.program));
        self.created_in(&program, kind, argument)
    }

    fn created_in(&mut self, program: &Program, kind: u32, argument: &Value) -> u32 {
        let argument = self.needed.argument(kind as usize, argument);
        let local = Local::new(program, kind as usize, argument);
        self.local(kind, local)
    }

    /// Whether there is another way if variables get names.
    pub(super) fn has_names(&self, way: &Way) -> bool {
        way.named.is_some() || matches!(way.effect, Ends::Creates(kind, ..) if self.named.contains(&kind))
    }

    /// Whether a machine that is about to take something may take a letter.
    pub fn may_take(&mut self, local: u32, letter: u32) -> bool {
        let event = self.letters[letter].event;
        let (kind, own) = &self.locals[local];
        *self.takes.entry((local, event)).or_insert_with(|| self.program.may_take(*kind as usize, own, event))
    }

    /// The event of a letter.
    pub fn event_of(&self, letter: u32) -> u32 {
        self.letters[letter].event
    }

    /// All ways in which a machine may go on, with a letter that it takes, or with `null` if it is about to take one and
    /// there is none.
    pub fn ways(&mut self, machine: u32, local: u32, letter: Option<u32>) -> Arc<[Way]> {
        let key = (machine, local, letter.unwrap_or(NO_LETTER));
        if let Some(known) = self.ways.get(&key) {
            return Arc::clone(known);
        }
        let (kind, own) = self.locals[local].clone();
        let null = Letter { event: NULL, payload: Value::Null };
        let taken = match letter {
            Some(letter) => Some(self.letters[letter].clone()),
            None => self.rest(local).takes.then_some(null),
        };
        let (program, mut choices, mut ways) = (Arc::clone(&self.program), Choices::default(), Vec::new());
        let naming = self.naming.clone().filter(|_| self.named.contains(&kind));
        let mut told_in_all = 0;
        loop {
            let outcome = program.step(kind as usize, machine, &own, taken.as_ref(), &mut choices);
            told_in_all += outcome.told.len();
            let mut way = self.way(kind, outcome, &choices);
            if let Some(naming) = &naming {
                let mut again = Choices::of(&way.choices);
                let outcome = naming.step(kind as usize, machine, &own, taken.as_ref(), &mut again);
                let named = Way { choices: choices.made(), fair: choices.fair(), ..self.way(kind, outcome, &again) };
                way.named = (named != way).then(|| Box::new(named));
            }
            let local = way.local;
            ways.push(way);
            if ways.len() + told_in_all >= MOST_WAYS {
                let effect = Ends::Unknown(Cannot::Endless);
                ways =
                    vec![Way { choices: Vec::new(), fair: Vec::new(), local, told: Vec::new(), effect, named: None }];
                break;
            }
            if !choices.advance() {
                break;
            }
        }
        let ways: Arc<[Way]> = ways.into();
        self.ways.insert(key, Arc::clone(&ways));
        ways
    }

    fn way(&mut self, kind: u32, outcome: Outcome, choices: &Choices) -> Way {
        let told = outcome.told.iter().map(|letter| self.letter(letter)).collect();
        let effect = match outcome.effect {
            Effect::Rests => Ends::Rests,
            Effect::Sends(target, letter) => Ends::Sends(target, self.letter(&letter)),
            Effect::Creates(kind, argument, into) => {
                Ends::Creates(kind, argument, into, Box::new(outcome.local.clone()))
            }
            Effect::Fails(error, _) => Ends::Fails(error),
            Effect::Pruned | Effect::Repeats => Ends::Pruned,
            Effect::Forgotten => Ends::Unknown(Cannot::Forgotten),
            Effect::Foreign(function) => Ends::Unknown(Cannot::Foreign(function)),
            Effect::Endless => Ends::Unknown(Cannot::Endless),
            Effect::Mistyped => Ends::Unknown(Cannot::Mistyped),
        };
        let local = self.local(kind, outcome.local);
        Way { choices: choices.made(), fair: choices.fair(), local, told, effect, named: None }
    }

    /// What becomes of a spec that hears of a letter, or begins: all that may, each once.
    pub fn hears(&mut self, spec: usize, local: u32, letter: Option<u32>) -> Arc<[Heard]> {
        let key = (spec as u32, local, letter.unwrap_or(NO_LETTER));
        if let Some(known) = self.specs.get(&key) {
            return Arc::clone(known);
        }
        let (kind, own) = self.locals[local].clone();
        let taken = letter.map(|letter| self.letters[letter].clone());
        let program = Arc::clone(&self.program);
        let (mut choices, mut found, mut seen) = (Choices::default(), Vec::new(), FxHashSet::default());
        for tried in 1.. {
            let outcome = program.step_of_spec(spec, &own, taken.as_ref(), &mut choices);
            let then = match outcome.effect {
                Effect::Rests => Then::Goes(self.local(kind, outcome.local)),
                // A scenario that does not fit stays where it is.
                Effect::Fails(..) if program.specs[spec].scenario => Then::Goes(local),
                Effect::Fails(error, _) => Then::Fails(error),
                Effect::Foreign(function) => Then::Unknown(Cannot::Foreign(function)),
                Effect::Endless => Then::Unknown(Cannot::Endless),
                Effect::Mistyped => Then::Unknown(Cannot::Mistyped),
                _ => Then::Unknown(Cannot::Forgotten),
            };
            if seen.insert(then) {
                found.push(Heard { choices: choices.made(), then });
            }
            if tried == MOST_WAYS {
                found = vec![Heard { choices: Vec::new(), then: Then::Unknown(Cannot::Endless) }];
            }
            if tried == MOST_WAYS || !choices.advance() {
                break;
            }
        }
        let found: Arc<[Heard]> = found.into();
        self.specs.insert(key, Arc::clone(&found));
        found
    }

    /// Whether a spec is hot or cold.
    pub fn temperature(&self, spec: usize, local: u32) -> Option<Temperature> {
        self.program.temperature(spec, &self.locals[local].1)
    }

    /// All letters, in the order of their numbers.
    pub fn letters(&self) -> impl Iterator<Item = &Letter> {
        self.letters.iter()
    }

    /// All states of machines, each with the kind of the machine, in the order of their numbers.
    pub fn locals(&self) -> impl Iterator<Item = &(u32, Local)> {
        self.locals.iter()
    }

    /// How many states of machines there are.
    pub fn len(&self) -> usize {
        self.rests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rests.is_empty()
    }
}
