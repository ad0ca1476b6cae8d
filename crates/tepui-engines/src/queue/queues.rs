//! From below: queues of one event, of two, of three.
//!
//! `R_k` are the states that are reached with queues of at most k events. What was sent to a full queue is kept, and tried
//! again when queues may be longer. If nothing was refused, these are all states, with queues of any length. Otherwise the
//! engine looks at *views*: states in which queues are summarised. When a longer queue shows no new view, it tests whether
//! the views are closed under every step. Closed views are exactly those of all queue lengths: the least closed set of rows
//! contains every view, so it is enough that it has no more rows than there are views.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tepui_cert::queue::Trace;
use tepui_core::text::count;
use tepui_core::{Bound, Budget, Engine, Evidence, Facts, Notes, Round, Stop};
use tepui_model::queue::Program;
use tepui_model::queue::evaluate::Error;

use super::cover::{UNFOUNDED, rows_text, told};
use super::explorer::Explorer;
use super::liveness::hot_for_ever;
use super::spend_on;
use super::summary::{Precision, Queue};
use super::symmetry::{Symmetry, explorer};
use crate::interner::Interner;
use crate::rows::Rows;

/// What is true of it on every program.
pub static FACTS: Facts =
    Facts { explored: "explored completely with queues of up to {}", ..Facts::new("queues", &["events"]) };

/// The engine.
pub struct Queues {
    program: Arc<Program>,
    errors: Vec<Error>,
    explorer: Explorer,
    views: Views,
    /// The rows of the closure test, which is continued when there are more views.
    test: Option<Explorer>,
    bound: u32,
    /// Whether the search up to that bound is to go on.
    unfinished: bool,
    /// The bound at which an error was found first.
    found: BTreeMap<Error, u32>,
    /// A circle on which a spec is hot for ever.
    circle: Option<Trace>,
    /// How many views there were at the bound before, and how many states when the present one began.
    views_before: usize,
    states_before: usize,
}

/// The views of states.
struct Views {
    precision: Precision,
    queues: Interner<Queue>,
    /// The summary of a queue that is known letter by letter, by their numbers.
    summaries: FxHashMap<u32, u32>,
    rows: Rows,
    /// How many states have been viewed.
    done: usize,
    symmetry: Symmetry,
}

impl Views {
    fn extend(&mut self, explorer: &mut Explorer, budget: &mut Budget) -> Result<(), Stop> {
        let specs = explorer.tables().program().specs.len();
        while self.done < explorer.len() {
            budget.pass(1)?;
            let mut view = explorer.row(self.done as u32);
            let machines = view.len() - specs;
            for queue in view[..machines].iter_mut().skip(1).step_by(2) {
                *queue = self.summary(explorer, *queue);
            }
            explorer.kept(&mut self.symmetry, &mut self.queues, &mut view);
            self.rows.intern(&view);
            self.done += 1;
        }
        Ok(())
    }

    fn summary(&mut self, explorer: &Explorer, queue: u32) -> u32 {
        let Self { precision, queues, summaries, .. } = self;
        *summaries.entry(queue).or_insert_with(|| queues.intern(precision.of(&explorer.queue(queue).prefix)))
    }
}

impl Queues {
    /// Explores a program with queues of 1, 2, 3 events and so on, and sees them with a precision.
    pub fn new(program: Arc<Program>, errors: Vec<Error>, precision: Precision, symmetry: bool) -> Self {
        let exact = vec![Precision::EXACT; program.kinds.len()];
        let views = Views {
            precision,
            queues: Interner::default(),
            summaries: FxHashMap::default(),
            rows: Rows::default(),
            done: 0,
            symmetry: Symmetry::default(),
        };
        Self {
            explorer: explorer(&program, &errors, exact, 0, symmetry),
            program,
            errors,
            views,
            test: None,
            bound: 0,
            unfinished: false,
            found: BTreeMap::new(),
            circle: None,
            views_before: 0,
            states_before: 0,
        }
    }

    /// How many views there are. If these are all states, each is its own view.
    fn viewed(&self) -> usize {
        if self.explorer.has_refused() { self.views.rows.len() } else { self.explorer.len() }
    }

    /// Looks at the views of new states. If these are all states, nobody asks for views.
    fn view(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        if self.explorer.has_refused() { self.views.extend(&mut self.explorer, budget) } else { Ok(()) }
    }

    fn round(&mut self) -> Round {
        let bound = self.bound;
        for error in self.explorer.errors().keys() {
            self.found.entry(*error).or_insert(bound);
        }
        let violated = (0..).zip(&self.errors).filter(|(_, error)| self.found.contains_key(error));
        Round {
            states: self.explorer.len() as u64,
            views: self.viewed() as u64,
            steps: self.explorer.steps(),
            state_bytes: (self.explorer.bytes() + self.views.rows.bytes()) as u64,
            violated: violated.map(|(number, _)| number).collect(),
            ..Round::empty(&FACTS, FACTS.bound(&[bound]))
        }
    }

    /// Looks for a circle on which a spec is hot, if that is asked.
    fn look_for_circles(&mut self, budget: &mut Budget) -> Result<(), Stop> {
        if self.circle.is_some() || !self.errors.contains(&Error::HotForEver) {
            return Ok(());
        }
        if let Some(circle) = hot_for_ever(&mut self.explorer, budget)? {
            self.circle = Some(self.explorer.circle(circle));
            self.found.entry(Error::HotForEver).or_insert(self.bound);
        }
        Ok(())
    }

    /// Whether the views are closed: the least closed set of rows has no more.
    fn closed(&mut self, budget: &mut Budget) -> Result<Option<&Explorer>, Stop> {
        let (program, precision, views) = (Arc::clone(&self.program), self.views.precision, self.views.rows.len());
        let (errors, precision) = (&self.errors, vec![precision; program.kinds.len()]);
        let symmetry = self.explorer.has_symmetry();
        let test = self.test.get_or_insert_with(|| explorer(&program, errors, precision, usize::MAX, symmetry));
        let fails = |own: &Explorer| own.len() > views || own.errors().keys().any(|error| errors.contains(error));
        let done = spend_on(test, budget, |test, stop| test.run(&mut |own| fails(own) || stop(own)))?;
        let mut closed = done && test.len() == views && !fails(test);
        if closed && errors.contains(&Error::HotForEver) {
            closed = hot_for_ever(test, budget)?.is_none();
        }
        Ok(self.test.as_ref().filter(|_| closed))
    }

    fn claims(&self) -> Vec<Error> {
        self.errors.iter().copied().filter(|error| !self.found.contains_key(error)).collect()
    }
}

impl Engine for Queues {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn next_bound(&self) -> Option<Bound> {
        Some(FACTS.bound(&[self.bound + u32::from(!self.unfinished)]))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        if self.found.contains_key(&Error::Invariant) {
            return Err(Stop::GaveUp(UNFOUNDED.to_owned()));
        }
        let again = std::mem::take(&mut self.unfinished);
        self.bound += u32::from(!again);
        let longest = self.bound as usize;
        if !again {
            self.states_before = self.explorer.len();
        }
        // What is found is told before the search goes on.
        let errors = &self.errors;
        let found = |own: &Explorer| errors.iter().filter(|error| own.errors().contains_key(error)).count();
        let known = found(&self.explorer);
        let ran = spend_on(&mut self.explorer, budget, |explorer, stop| {
            explorer.raise(longest, &mut |own| found(own) > known || stop(own))
        });
        let done = ran == Ok(true);
        self.unfinished = ran == Ok(false);
        if self.unfinished {
            // Its views are looked at when all states are there.
            return Ok(Round { again, views: self.views_before as u64, ..self.round() });
        }
        let viewed = ran.and_then(|_| self.view(budget));
        let viewed = viewed.and_then(|()| self.look_for_circles(budget));
        budget.progress(self.bound, self.explorer.len() as u64, self.viewed() as u64);
        let mut round = Round { again, ..self.round() };
        if let Err(stop) = viewed {
            round.stopped = Some(stop);
            return Ok(round);
        }
        round.exhausted = done && !self.explorer.has_refused();
        let (views, grown) = (self.views.rows.len(), self.explorer.len() > self.states_before);
        let plateau = done && self.bound > 1 && views == self.views_before && grown;
        if done {
            self.views_before = views;
        }
        round.test_due = round.exhausted || plateau;
        Ok(round)
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        let claims = self.claims();
        if self.found.contains_key(&Error::Invariant) {
            // What was left out because of a claim is left out wrongly.
            return Ok(None);
        }
        if !self.explorer.has_refused() {
            let symmetric = if self.explorer.is_up_to_symmetry() { " up to symmetry" } else { "" };
            let states = count(self.explorer.len() as u64, "state") + symmetric;
            let because = match self.bound {
                1 => format!("no queue ever has more than 1 event: {states} are all there are"),
                bound => format!("no queue ever has more than {bound} events: {states} are all there are"),
            };
            let certificate = self.explorer.certificate(&claims);
            return Ok(Some(Evidence::new(certificate, because, "finite")));
        }
        let precision = self.views.precision;
        let known = told(&self.program, &vec![precision; self.program.kinds.len()]);
        let Some(rows) = self.closed(budget)? else { return Ok(None) };
        let exactly = if rows.len() == 1 { "is exactly that" } else { "are exactly those" };
        let because = format!("{} {exactly} of every queue length ({known})", rows_text(rows.len()));
        let certificate = rows.certificate(&claims);
        Ok(Some(Evidence::new(certificate, because, "views")))
    }

    fn trace(&mut self, property: usize, _: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let error = self.errors.get(property).copied();
        let found = error.and_then(|error| {
            let trace = if error == Error::HotForEver { self.circle.clone() } else { self.explorer.trace(error) };
            Some((trace?, *self.found.get(&error)?))
        });
        let (trace, bound) = found.ok_or_else(|| Stop::defect("a trace is asked for where none was found"))?;
        Ok((trace.into(), Some(FACTS.bound(&[bound]))))
    }

    fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
        Vec::new()
    }

    fn notes(&self) -> Notes {
        let obstacle = || "longer queues show no new view, but what follows from the views has more".to_owned();
        let tried = self.test.is_some();
        Notes { obstacles: tried.then(obstacle).into_iter().collect(), ..Notes::default() }
    }
}
