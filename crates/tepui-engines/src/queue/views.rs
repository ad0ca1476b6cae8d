//! The abstraction for queues: states of machines as they are, and of each queue its first letters and a summary of the rest.
//!
//! At level b a view knows b - 1 letters of each queue, besides those that the user has asked for. What a machine does when it
//! takes nothing respects views: it depends on its own state, and whatever it sends makes one summary of another. What it may
//! take, and what is left then, depends on the queue that the view stands for, and so does whether a bound is kept or a claim
//! holds. So a view owes all that the steps of its machines may lead to where they take something, or where there are
//! bounds or claims at all.
//!
//! From a level on that is greater than the length of a state's queues, no other state has its view.

use std::ops::Range;

use rustc_hash::FxHashMap;
use tepui_cert::queue::{Certificate, Trace};
use tepui_core::{Budget, Stop};
use tepui_model::queue::evaluate::Error;
use tepui_model::queue::state::Cannot;

use super::cannot_text;
use super::cover::{UNFOUNDED, told};
use super::explorer::Explorer;
use super::explorer::next::Next;
use super::liveness::hot_for_ever;
use super::machines::Machines;
use super::spend_on;
use crate::abstraction::{Abstraction, Describe, Key};
use crate::explored::{Chosen, Explored};
use crate::ids::{Id, ThreadId, ViewId};
use crate::obligations::Targets;
use crate::packed::PackedSet;
use crate::system::PathStep;
use crate::workers::Workers;

/// Views of queues of one level.
pub struct QueueViews {
    level: usize,
    /// Steps between views. It borrows from the system what machines do.
    own: Explorer,
    /// For each queue of the system the number of what is seen of it.
    seen: Vec<u32>,
    /// What the views owe that were learned from last.
    owed: FxHashMap<Box<[u32]>, Vec<Owed>>,
}

/// A view that is owed: who takes what, and where that leads.
struct Owed {
    why: Taking,
    row: Vec<u32>,
}

/// A machine, what it takes, and the queue from which it takes it.
#[derive(Clone, Copy)]
pub struct Taking {
    machine: usize,
    letter: Option<u32>,
    local: u32,
    queue: u32,
}

impl QueueViews {
    /// What a view owes.
    fn owed_by(&mut self, system: &Machines, view: &[u32]) -> Result<Vec<Owed>, Stop> {
        let Some(state) = system.read(view) else { return Ok(Vec::new()) };
        let program = system.program();
        let bounds = program.events.iter().chain(program.kinds.iter().map(|kind| &kind.bound));
        let respects = program.claims.is_empty() && bounds.flatten().next().is_none();
        let (mut found, mut row, mut crowded, mut unknown) = (Vec::new(), Vec::new(), false, None::<Cannot>);
        for machine in 0..self.own.machines(&state) {
            let (local, queue) = (state[2 * machine], state[2 * machine + 1]);
            let first = found.len();
            let taking = |letter: Option<u32>| letter.is_some() || !respects;
            let why = |letter| Taking { machine, letter, local, queue };
            let moves = self.own.each_step(&state, machine, &taking, &mut |own, letter, _, comes| {
                let mut errors = Vec::new();
                match comes {
                    Next::Row(doubts) => {
                        errors = doubts;
                        match system.write(own.put_together(), &mut row) {
                            true => found.push(Owed { why: why(letter), row: row.clone() }),
                            false => crowded = true,
                        }
                    }
                    Next::Errors(wrong) => errors = wrong,
                    Next::Unknown(cannot) => unknown = unknown.or(Some(cannot)),
                    Next::Refused | Next::Nothing => {}
                }
                let rows = errors.into_iter().filter_map(|error| system.row_of_error(error));
                found.extend(rows.map(|row| Owed { why: why(letter), row }));
            });
            if moves && self.own.is_in_doubt(&state, machine) {
                let letter = found.get(first).and_then(|owed| owed.why.letter);
                let row = system.row_of_error(Error::Invariant);
                found.extend(row.map(|row| Owed { why: why(letter), row }));
            }
        }
        match unknown {
            _ if crowded => Err(Stop::GaveUp("there may be more machines than places for them".to_owned())),
            Some(cannot) => Err(Stop::GaveUp(cannot_text(program, cannot))),
            None => Ok(found),
        }
    }
}

impl Abstraction<Machines> for QueueViews {
    type Fact = ();
    type Why = Taking;
    type Prefilter = ();
    type Certificate = Certificate;
    type Trace = Trace;

    fn new(system: &Machines, level: usize) -> Self {
        let precision = vec![system.precision(level); system.program().kinds.len()];
        let own = Explorer::new(system.program().clone(), precision, usize::MAX);
        Self { level, own, seen: Vec::new(), owed: FxHashMap::default() }
    }

    fn level(&self) -> usize {
        self.level
    }

    fn fields(&self, system: &Machines) -> Vec<u32> {
        vec![1; system.width()]
    }

    fn prepare(&mut self, system: &Machines, _: &mut Budget) -> Result<(), Stop> {
        let inner = system.lock();
        inner.stopped()?;
        for number in self.seen.len()..inner.own.queue_count() {
            let seen = self.own.seen(0, inner.own.queue(number as u32));
            self.seen.push(seen);
        }
        Ok(())
    }

    fn view(&self, system: &Machines, row: &[u32], view: &mut [u32]) {
        view.copy_from_slice(row);
        if row[0] == 0 {
            let queues = view[1..].iter_mut().skip(1).step_by(2);
            queues.take(system.places()).for_each(|queue| *queue = self.seen[*queue as usize]);
        }
    }

    fn properties(system: &Machines) -> usize {
        system.errors().len()
    }

    fn prefilter(_: &Machines, _: Range<usize>) {}

    fn may_violate(&self, _: &Machines, (): &(), view: &[u32]) -> bool {
        view[0] > 0
    }

    fn violates(&self, _: &Machines, property: usize, view: &[u32]) -> bool {
        view[0] as usize == property + 1
    }

    fn state_violates(_: &Machines, (): &(), property: usize, row: &[u32]) -> bool {
        row[0] as usize == property + 1
    }

    fn learn(
        &mut self,
        system: &mut Machines,
        views: &PackedSet<ViewId>,
        which: &[ViewId],
        _: &Explored,
        _: &Workers,
        budget: &mut Budget,
    ) -> Result<(), Stop> {
        self.owed.clear();
        self.own.swap_tables(&mut system.inner().own);
        let mut view = vec![0; views.width()];
        let learned = which.iter().try_for_each(|number| {
            views.get(*number, &mut view);
            let owed = self.owed_by(system, &view)?;
            budget.spend(owed.len() as u64)?;
            self.owed.insert(view.clone().into(), owed);
            Ok(())
        });
        self.own.swap_tables(&mut system.inner().own);
        learned
    }

    fn next_fact(&mut self) -> Option<()> {
        None
    }

    fn key((): ()) -> Key {
        (ThreadId(0), 0)
    }

    fn watches(&self, _: &Machines, _: &[u32], _: Chosen<'_>, _: &mut Vec<Key>) {}

    fn owed(&self, _: &Machines, view: &[u32], _: Chosen<'_>, targets: &mut Targets<Taking>) {
        for owed in self.owed.get(view).into_iter().flatten() {
            targets.add(view, owed.why).copy_from_slice(&owed.row);
        }
    }

    fn owed_for(&self, _: &Machines, (): (), _: &[u32], _: Chosen<'_>, _: &mut Targets<Taking>) {}

    /// The views are all that the steps between views lead to, and nothing else. So the certificate is made of these.
    fn certificate(
        &self,
        system: &Machines,
        views: PackedSet<ViewId>,
        _: Option<Explored>,
        violated: &[bool],
        _: &Workers,
        budget: &mut Budget,
    ) -> Result<Certificate, Stop> {
        let precision = self.own.precisions().to_vec();
        let mut rows = Explorer::new(system.program().clone(), precision, usize::MAX);
        let most = views.len();
        let done = spend_on(&mut rows, budget, |rows, stop| rows.run(&mut |own| own.len() > most || stop(own)))?;
        let kept = system.errors().iter().zip(violated).filter(|(_, violated)| !**violated);
        let mut claims: Vec<Error> = kept.map(|(error, _)| *error).collect();
        if !done || claims.iter().any(|error| rows.errors().contains_key(error)) {
            return Err(Stop::defect("the views are not closed"));
        }
        if rows.errors().contains_key(&Error::Invariant) {
            return Err(Stop::GaveUp(UNFOUNDED.to_owned()));
        }
        if claims.contains(&Error::HotForEver) && hot_for_ever(&mut rows, budget)?.is_some() {
            claims.retain(|error| *error != Error::HotForEver);
        }
        Ok(rows.certificate(&claims))
    }

    fn trace(
        system: &Machines,
        property: usize,
        initial: &[u32],
        path: &[PathStep],
        _: &mut Budget,
    ) -> Result<Trace, Stop> {
        let trace = system.trace(system.errors()[property], initial, path);
        trace.ok_or_else(|| Stop::defect("a path is none of the program"))
    }

    fn bytes(&self) -> u64 {
        (self.seen.capacity() * 4) as u64
    }
}

impl Describe<Machines> for QueueViews {
    fn because(system: &Machines, level: usize) -> String {
        let precision = vec![system.precision(level); system.program().kinds.len()];
        let known = told(system.program(), &precision);
        format!("the states reached show all that there is to see, with queues of any length ({known})")
    }

    fn unmet(level: usize, open: usize) -> String {
        format!("at level {level}, views that steps may lead to have not been reached: {open}")
    }

    fn explain(&self, system: &Machines, _: &[u32], why: Taking) -> String {
        let inner = system.lock();
        let (tables, program) = (inner.own.tables(), system.program());
        let (kind, local) = tables.local_of(why.local);
        let own = &program.told.kinds[*kind as usize];
        let state = local.states.last().map_or("?", |state| &own.states[*state as usize]);
        let machine = format!("{}#{} in {state}", own.name, why.machine);
        match why.letter {
            Some(letter) => {
                let name = |letter: u32| program.event_name(tables.event_of(letter));
                let queue = self.own.queue(why.queue).text(&name);
                format!("{machine} may take {} if what is known of its queue is: {queue}", name(letter))
            }
            None => format!("{machine} may go on, if bounds and claims allow it"),
        }
    }

    fn list<I: Id>(&self, _: &Machines, _: &PackedSet<I>, _: bool, _: &Workers, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }
}
