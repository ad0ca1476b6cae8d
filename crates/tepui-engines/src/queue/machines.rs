//! Programs with queues as systems: machines are threads, and states are rows of numbers.
//!
//! A row begins with 0. Then each place for a machine has two numbers: one more than that of the machine's own state, or 0 if
//! there is no machine, and that of its queue. Then each spec has one. A row that begins with another number is an error that
//! a step has led to; or, with the last such number, the moment before specs have chosen how to begin.
//!
//! What machines do is worked out when it is asked for first, and gets its numbers then. So such a system is explored by one
//! worker.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tepui_cert::queue::{Step as Listed, Trace};
use tepui_core::Stop;
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::state::Cannot;

use super::cannot_text;
use super::endless;
use super::explorer::next::Next;
use super::explorer::{Explorer, Step};
use super::slice::Needed;
use super::summary::Precision;
use crate::ids::ThreadId;
use crate::system::{PathStep, System};

/// A program as a system.
pub struct Machines {
    program: Arc<Program>,
    /// The errors that are looked for. The first is the row that begins with 1.
    errors: Vec<Error>,
    /// For how many machines there are places.
    places: usize,
    /// How queues are seen at the first level.
    precision: Precision,
    inner: Mutex<Inner>,
}

/// What changes while steps are taken.
pub(super) struct Inner {
    /// States with queues that are known letter by letter.
    pub(super) own: Explorer,
    /// Whether there were more machines than places.
    crowded: bool,
    unknown: Option<Cannot>,
}

impl Machines {
    /// A program, with places for so many machines, in which some errors are looked for.
    pub fn new(program: Arc<Program>, errors: Vec<Error>, places: usize, precision: Precision) -> Self {
        let exact = vec![Precision::EXACT; program.kinds.len()];
        let own = Explorer::new(Arc::clone(&program), exact, usize::MAX);
        let unknown = own.unknown();
        Self { errors, places, precision, inner: Mutex::new(Inner { own, crowded: false, unknown }), program }
    }

    /// Whether there were more machines than places. Then nothing is known.
    pub fn is_crowded(&self) -> bool {
        self.lock().crowded
    }

    /// Whether there is a row before those with which the program begins.
    pub fn begins_in_several_ways(&self) -> bool {
        self.begin(&self.lock().own).len() != 1
    }

    /// The program.
    pub(super) fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// For how many machines there are places.
    pub(super) fn places(&self) -> usize {
        self.places
    }

    /// The errors that are looked for.
    pub(super) fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// How queues are seen at a level: of each level one letter more is known.
    pub(super) fn precision(&self, level: usize) -> Precision {
        Precision { prefix: self.precision.prefix.saturating_add(level - 1), ..self.precision }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn inner(&mut self) -> &mut Inner {
        self.inner.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many numbers a row has.
    pub(super) fn width(&self) -> usize {
        1 + 2 * self.places + self.program.specs.len()
    }

    fn before_all(&self) -> u32 {
        self.errors.len() as u32 + 1
    }

    /// The row of an error, if it is looked for.
    pub(super) fn row_of_error(&self, error: Error) -> Option<Vec<u32>> {
        let number = self.errors.iter().position(|own| *own == error)?;
        Some(self.row_with(number as u32 + 1))
    }

    fn row_with(&self, first: u32) -> Vec<u32> {
        let mut row = vec![0; self.width()];
        row[0] = first;
        row
    }

    /// Writes a row of an explorer as one of the system, if there are enough places.
    pub(super) fn write(&self, state: &[u32], row: &mut Vec<u32>) -> bool {
        let (machines, specs) = state.split_at(state.len() - self.program.specs.len());
        if machines.len() > 2 * self.places {
            return false;
        }
        row.clear();
        row.push(0);
        row.extend(machines.chunks_exact(2).flat_map(|pair| [pair[0] + 1, pair[1]]));
        row.resize(1 + 2 * self.places, 0);
        row.extend_from_slice(specs);
        true
    }

    /// The row of an explorer that a row of the system is, if it is a state.
    pub(super) fn read(&self, row: &[u32]) -> Option<Vec<u32>> {
        let (machines, specs) = row[1..].split_at(2 * self.places);
        let there = machines.chunks_exact(2).take_while(|pair| pair[0] > 0);
        let mut state: Vec<u32> = there.flat_map(|pair| [pair[0] - 1, pair[1]]).collect();
        state.extend_from_slice(specs);
        (row[0] == 0).then_some(state)
    }

    /// The rows with which the program begins.
    fn begin(&self, own: &Explorer) -> Vec<Vec<u32>> {
        let first = own.rows().filter_map(|state| {
            let mut row = Vec::new();
            self.write(&state, &mut row).then_some(row)
        });
        first.chain(own.errors().keys().filter_map(|error| self.row_of_error(*error))).collect()
    }
}

impl Inner {
    /// What keeps the search from going on.
    pub(super) fn stopped(&self) -> Result<(), Stop> {
        match self.unknown {
            _ if self.crowded => Err(Stop::GaveUp("there are more machines than places for them".to_owned())),
            Some(why) => Err(Stop::GaveUp(cannot_text(self.own.tables().program(), why))),
            None => Ok(()),
        }
    }

    /// Notes what cannot be said of a step.
    pub(super) fn note(&mut self, crowded: bool, unknown: Option<Cannot>) {
        self.crowded |= crowded;
        self.unknown = self.unknown.or(unknown);
    }
}

impl System for Machines {
    type News = ();

    fn threads(&self) -> usize {
        self.places
    }

    fn fields(&self) -> Vec<u32> {
        let mut fields = vec![1; self.width()];
        fields[0] = self.before_all();
        fields
    }

    fn initial(&mut self) -> Vec<u32> {
        match self.begin(&self.lock().own).as_slice() {
            [only] => only.clone(),
            _ => self.row_with(self.before_all()),
        }
    }

    fn steps(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        let mut inner = self.lock();
        let machine = thread.index();
        if row[0] == self.before_all() && machine == 0 {
            self.begin(&inner.own).iter().for_each(|row| found(row, thread));
            return true;
        }
        let state = self.read(row).filter(|state| machine < inner.own.machines(state));
        let Some(state) = state else { return false };
        let (mut crowded, mut unknown, mut wrong) = (false, None, Vec::new());
        let moves = inner.own.each_step(&state, machine, &|_| true, &mut |own, _, _, comes| match comes {
            Next::Row(doubts) => {
                wrong.extend(doubts);
                match self.write(own.put_together(), next) {
                    true => found(next, thread),
                    false => crowded = true,
                }
            }
            Next::Errors(errors) => wrong.extend(errors),
            Next::Unknown(why) => unknown = unknown.or(Some(why)),
            Next::Refused | Next::Nothing => {}
        });
        if moves && inner.own.is_in_doubt(&state, machine) {
            wrong.push(Error::Invariant);
        }
        if !moves && machine == 0 {
            let others = 1..inner.own.machines(&state);
            let moves = others.into_iter().any(|other| inner.own.can_move(&state, other));
            wrong.extend(inner.own.wrong_at_end(&state).filter(|_| !moves));
        }
        wrong.into_iter().filter_map(|error| self.row_of_error(error)).for_each(|row| found(&row, thread));
        inner.note(crowded, unknown);
        moves
    }

    fn bytes(&self) -> u64 {
        0
    }
}

impl Machines {
    /// The path through rows to an error as a trace.
    pub(super) fn trace(&self, error: Error, initial: &[u32], path: &[PathStep]) -> Option<Trace> {
        let mut inner = self.lock();
        let own = &mut inner.own;
        let rows: Vec<_> = std::iter::once(initial).chain(path.iter().map(|step| &*step.row)).collect();
        let first = rows.iter().position(|row| row[0] != self.before_all())?;
        let begins = self.read(rows[first]);
        let start = own.chosen_before(begins.as_deref(), error);
        let mut steps = Vec::new();
        for pair in rows[first..].windows(2) {
            let state = self.read(pair[0])?;
            let step = match self.read(pair[1]) {
                Some(to) => {
                    let leads = |own: &Explorer, next: &Next| matches!(next, Next::Row(_)) && own.put_together() == to;
                    Some(own.step_that(&state, &|own, next| leads(own, next))?.0)
                }
                None => own.failing_step(&state, error),
            };
            steps.extend(step);
        }
        let listed = |step: Step| Listed { machine: step.machine as usize, choices: step.choices };
        let steps = steps.into_iter().map(listed).collect();
        let trace =
            Trace { program: self.program.digest(), property: error.name().to_owned(), start, steps, circle: None };
        let told = |trace| endless::told(&self.program, &Needed::of(&self.program), trace);
        Some(if error == Error::Diverges { told(trace) } else { trace })
    }
}
