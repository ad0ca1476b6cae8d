//! What specs hear. One that depends on what a foreign function returns may go on in several ways: each leads to a row.

use std::sync::Arc;

use tepui_model::queue::run::Choices;
use tepui_model::queue::state::{Cannot, MOST_WAYS};
use tepui_model::queue::{Temperature, Value};

use super::{Explorer, Next};
use crate::queue::summary::Queue;
use crate::queue::tables::Then;

/// Instead of a row, where specs fail at once.
pub(super) const AT_START: u32 = u32::MAX;

/// The ways in which specs may go on, one after the other.
#[derive(Default)]
pub(super) struct Turns {
    which: Choices,
    tried: usize,
}

impl Turns {
    /// The same way again.
    pub(super) fn again(&self) -> Self {
        Self { which: Choices::of(&self.which.made()), tried: 0 }
    }

    /// The next one, if there is another.
    pub(super) fn advance(&mut self) -> bool {
        self.tried += 1;
        self.tried <= MOST_WAYS && self.which.advance()
    }
}

impl Explorer {
    /// The first rows.
    pub(super) fn begin(&mut self) {
        let program = Arc::clone(self.tables.program());
        let main = self.tables.created(program.main as u32, &Value::Null);
        let empty = self.queues.intern(Queue::default());
        let fresh: Vec<_> =
            program.specs.iter().map(|spec| self.tables.created(spec.kind as u32, &Value::Null)).collect();
        let mut turns = Turns::default();
        loop {
            self.next = [&[main, empty], &fresh[..]].concat();
            self.hush();
            let wrong = (0..fresh.len()).find_map(|spec| self.hears(spec, 2 + spec, None, &mut turns));
            match wrong {
                None => self.first(program.main as u32),
                Some(Next::Unknown(why)) => self.unknown = self.unknown.or(Some(why)),
                Some(Next::Errors(found)) => found.into_iter().for_each(|error| {
                    self.errors.entry(error).or_insert(AT_START);
                    self.failing.entry(error).or_insert_with(|| self.chosen.clone());
                }),
                Some(_) => {}
            }
            if !turns.advance() {
                return;
            }
        }
    }

    /// The row that was put together is a first one.
    fn first(&mut self, main: u32) {
        if self.names.is_some() {
            let before = self.next.clone();
            self.next[0] = self.tables.created_with_names(main, &Value::Null);
            self.give_names(&before);
        }
        self.reduce();
        let (row, new) = self.rows.intern(&self.next);
        if new {
            self.before.push(row);
            self.starts.push(self.chosen.clone());
        }
    }

    /// Nothing has been heard so far.
    fn hush(&mut self) {
        self.chosen.clear();
        self.passed.clear();
        self.passed.resize(self.tables.program().specs.len(), [false; 2]);
    }

    /// Specs hear of what they observe.
    pub(super) fn tell(&mut self, local: u32, told: &[u32], turns: &mut Turns) -> Option<Next> {
        self.hush();
        if told.is_empty() {
            return None;
        }
        let program = Arc::clone(self.tables.program());
        let (kind, first) = (self.tables.local_of(local).0 as usize, self.next.len() - program.specs.len());
        for &letter in told {
            let event = self.tables.event_of(letter);
            for (number, spec) in program.specs.iter().enumerate() {
                if spec.observes.contains(&event) && spec.hears.contains(&kind) {
                    let wrong = self.hears(number, first + number, Some(letter), turns);
                    if wrong.is_some() {
                        return wrong;
                    }
                }
            }
        }
        None
    }

    /// A spec, whose state stands at a place of the row that is put together, hears a letter, or begins.
    fn hears(&mut self, spec: usize, place: usize, letter: Option<u32>, turns: &mut Turns) -> Option<Next> {
        let may = self.tables.hears(spec, self.next[place], letter);
        let which = match &*may {
            [_] => 0,
            _ if turns.tried >= MOST_WAYS => return Some(Next::Unknown(Cannot::Endless)),
            _ => match turns.which.choose(may.len() as u32, None) {
                Some(which) => which as usize,
                None => return Some(Next::Unknown(Cannot::Forgotten)),
            },
        };
        self.chosen.extend_from_slice(&may[which].choices);
        match may[which].then {
            Then::Goes(local) => {
                let temperature = self.tables.temperature(spec, local);
                self.passed[spec][0] |= temperature == Some(Temperature::Hot);
                self.passed[spec][1] |= temperature == Some(Temperature::Cold);
                self.next[place] = local;
                None
            }
            Then::Fails(error) => Some(Next::Errors(vec![error])),
            Then::Unknown(why) => Some(Next::Unknown(why)),
        }
    }
}
