//! A program with the tables of a certificate, as the check of a lemma sees it: moves are steps of the interpreter, run on.
//!
//! The interpreter does not know which number a thread has. So threads are interchangeable if the states at the start
//! are the same when they change places, and nothing else is asked of them.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_cert::program::Certificate;
use tepui_model::program::step::{Effect, Few, Frame, Results, Runner, Shared, Stage, Value};
use tepui_model::program::{Goal, Program, Property};
use tepui_model::pushdown::Symbol;

use super::Proof;
use super::footprints::Footprints;
use super::passing::{Passing, Watched};
use super::start;
use super::tables::Tables;
use crate::lemma::{Things, Touched};
use crate::system::{Change, Move, NOWHERE, Others, Start, System};
use crate::{Accepted, Rejected};

/// What a thread does: with which symbol on top, and the shared values and results of a return.
pub(super) struct Done {
    pub(super) top: Symbol,
    returned: Option<(Shared, Results)>,
}

type Revealed = FxHashMap<(Shared, Results, Symbol), Rc<[(u32, Symbol)]>>;

/// A program with the tables of a certificate.
pub(super) struct Interpreted<'a> {
    pub(super) program: &'a Program,
    watched: Watched,
    pub(super) tables: Tables<'a>,
    pub(super) runner: Runner<'a>,
    pub(super) initial: Vec<Start>,
    /// For each symbol, whether no other thread may move while it is on top.
    uninterrupted: Vec<bool>,
    pub(super) done: RefCell<Vec<Done>>,
    /// What frames that wait make of results.
    revealed: RefCell<Revealed>,
    /// What was seen to fail: a shared state and a symbol on top for each.
    pub(super) failed: RefCell<FxHashMap<Goal, (u32, Symbol)>>,
    footprints: Footprints<'a>,
}

impl<'a> Interpreted<'a> {
    pub(super) fn new(
        program: &'a Program,
        properties: &[Property],
        certificate: &'a Certificate,
        stop: &'a dyn Fn() -> bool,
    ) -> Result<Self, Rejected> {
        let tables = Tables::new(program, certificate, stop).map_err(|reason| Rejected::new("tables", reason))?;
        let runner = Runner::new(program);
        let held = |frame: &Frame| runner.is_uninterrupted(frame);
        let uninterrupted = std::iter::once(false).chain(certificate.frames.iter().map(held)).collect();
        let mut system = Self {
            program,
            watched: Watched::new(program, properties),
            tables,
            runner,
            initial: Vec::new(),
            uninterrupted,
            done: RefCell::default(),
            revealed: RefCell::default(),
            failed: RefCell::default(),
            footprints: Footprints::new(program, &certificate.kept.shared),
        };
        let places = system.tables.places();
        let initial = start::initial(&system.passing(), places);
        if system.tables.is_stopped() {
            return Err(Rejected::stopped("start"));
        }
        system.initial = initial.map_err(|reason| Rejected::new("start", reason))?;
        Ok(system)
    }

    /// What is proved when everything has been looked at.
    pub(super) fn proof(&self, accepted: Accepted) -> Proof {
        Proof { accepted, unreached: self.tables.unvisited(&self.runner) }
    }

    pub(super) fn passing(&self) -> Passing<'_> {
        Passing { runner: &self.runner, tables: &self.tables, watched: &self.watched }
    }
}

impl System for Interpreted<'_> {
    const TURNS: bool = true;

    fn threads(&self) -> usize {
        self.tables.places()
    }

    fn symbols(&self, _: usize) -> u32 {
        self.tables.symbols()
    }

    fn shared_states(&self) -> u32 {
        self.tables.shared_states()
    }

    fn alike(&self, thread: usize, leader: usize) -> Result<(), &'static str> {
        let all: FxHashSet<_> = self.initial.iter().collect();
        let same = self.initial.iter().all(|(shared, stacks)| {
            let mut stacks = stacks.clone();
            stacks.swap(thread, leader);
            all.contains(&(*shared, stacks))
        });
        if same { Ok(()) } else { Err("does not start like the one it is said to be like") }
    }

    fn initial(&self) -> &[Start] {
        &self.initial
    }

    fn begin(&self) {
        self.failed.borrow_mut().clear();
        self.revealed.borrow_mut().clear();
    }

    fn forget(&self) {
        self.done.borrow_mut().clear();
    }

    fn moves(&self, _: usize, shared: u32, top: Symbol) -> Vec<Move> {
        let (Some(values), Some(frame)) = (self.tables.shared(shared), self.tables.frame(top)) else {
            return Vec::new();
        };
        let passing = self.passing();
        let mut found = Vec::new();
        self.runner.each_step(&values, frame, &self.tables, &mut |values, effect| {
            let (number, mut returned) = (self.done.borrow().len(), None);
            let mut goes_on = |points: Few<(u32, Symbol)>, below: Option<Symbol>, others: Option<Others>| {
                let change = |top: Symbol| Change::Replace([top].into_iter().chain(below).collect());
                let moves = points.into_iter().map(|(to, top)| (to, change(top)));
                found.extend(moves.map(|(to, change)| Move { to, change, others: others.clone(), number }));
            };
            match effect {
                Effect::Become(next) => goes_on(passing.run_on(values, next), None, None),
                Effect::Call { caller, callee } => {
                    let below = self.tables.symbol(&caller).unwrap_or(Symbol(NOWHERE));
                    goes_on(passing.run_on(values, callee), Some(below), None);
                }
                Effect::Start { next, started } => {
                    let begin = |frame: Frame| passing.run_on(values.clone(), frame).into_iter();
                    let started = started.into_iter().map(|frame| begin(frame).map(|(_, symbol)| symbol).collect());
                    goes_on(passing.run_on(values.clone(), next), None, Some(Others::Start(started.collect())));
                }
                Effect::Wake(next, woken) => goes_on(passing.run_on(values, next), None, Some(Others::Wake(woken))),
                Effect::Return(results) => {
                    let to = self.tables.shared_number(&values);
                    found.push(Move { to, change: Change::Pop, others: None, number });
                    returned = Some((values, results));
                }
                Effect::End => {
                    let to = self.tables.shared_number(&values);
                    found.push(Move { to, change: Change::Clear, others: None, number });
                }
                Effect::Fail(failure) => {
                    let at = (frame.procedure, self.runner.first_of(frame.procedure, frame.position));
                    self.failed.borrow_mut().insert(failure.at(at), (shared, top));
                    return;
                }
            }
            self.done.borrow_mut().push(Done { top, returned });
        });
        found
    }

    fn revealed(&self, _: usize, step: &Move, symbol: Symbol) -> Vec<(u32, Symbol)> {
        let done = self.done.borrow();
        let (Some((values, results)), Some(waiting)) = (&done[step.number].returned, self.tables.frame(symbol)) else {
            // Below the first procedure of a thread lies nothing, and that one does not return: it ends.
            return Vec::new();
        };
        let key = (values.clone(), results.clone(), symbol);
        if let Some(known) = self.revealed.borrow().get(&key) {
            return known.to_vec();
        }
        let passing = self.passing();
        let resumed = self.runner.resume(values, waiting, results, &self.tables);
        let mut found = Vec::new();
        for stored in resumed {
            match stored {
                Ok((values, frame)) => found.extend(passing.run_on(values, frame)),
                Err(failure) => {
                    let (at, top) = ((waiting.procedure, waiting.position), done[step.number].top);
                    self.failed.borrow_mut().insert(failure.at(at), (self.tables.shared_number(values), top));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        self.revealed.borrow_mut().insert(key, found.clone().into());
        found
    }

    fn is_uninterrupted(&self, top: Symbol) -> bool {
        self.uninterrupted[top.0 as usize]
    }

    fn woken(&self, top: Symbol, condition: u32) -> Option<Vec<Symbol>> {
        let frame = self.tables.frame(top).filter(|frame| frame.stage == Stage::Asleep(condition))?;
        let awake = Frame { stage: Stage::Running, ..frame.clone() };
        // The values of shared variables are not looked at: what runs on touches its own variables only, unless it is
        // uninterrupted, and one that sleeps uninterrupted is never woken.
        let shared = vec![Value::Forgotten; self.program.shared.len()].into();
        Some(self.passing().run_on(shared, awake).into_iter().map(|(_, symbol)| symbol).collect())
    }

    fn touched(&self, _: usize, stack: &[Symbol]) -> Option<Touched> {
        let frames = stack.iter().filter_map(|&symbol| self.tables.frame(symbol));
        let top = stack.first().and_then(|&symbol| self.tables.frame(symbol));
        Some(self.footprints.touched(top, frames))
    }

    fn unset(&self, shared: u32) -> Things {
        let (values, mut unset) = (self.tables.shared(shared).unwrap_or_default(), Things::default());
        (0..values.len()).filter(|&number| values[number] == Value::Unset).for_each(|number| unset.insert(number));
        unset
    }

    fn stop(&self) -> bool {
        self.tables.is_stopped()
    }
}
