//! The tables of a certificate: the numbers of shared states and frames, and what is kept.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tepui_cert::program::{Certificate, Positions};
use tepui_model::program::step::{Frame, Keep, Runner, Shared, Stage, Value};
use tepui_model::program::{Program, Slot, Variable};
use tepui_model::pushdown::Symbol;

use crate::system::NOWHERE;

/// After how many results the caller is asked whether to stop.
const LOOK_EVERY: u32 = 1_024;

/// The tables of a certificate that fit its program.
pub(super) struct Tables<'c> {
    certificate: &'c Certificate,
    /// For each procedure and position the frames that are listed. As a rule there is none or one.
    frames: Vec<Vec<FxHashMap<&'c Frame, Symbol>>>,
    /// For each procedure and position, whether threads have come there.
    visited: RefCell<Vec<Vec<bool>>>,
    /// The shared state that was asked for last.
    recent: RefCell<(u32, Shared)>,
    asks: Cell<u32>,
    stopped: Cell<bool>,
    stop: &'c dyn Fn() -> bool,
}

impl<'c> Tables<'c> {
    pub(super) fn new(
        program: &Program,
        certificate: &'c Certificate,
        stop: &'c dyn Fn() -> bool,
    ) -> Result<Self, String> {
        fits(program, certificate)?;
        let positions = || program.procedures.iter().map(|procedure| procedure.statements.len() + 1);
        let mut frames: Vec<_> = positions().map(|positions| vec![FxHashMap::default(); positions]).collect();
        for (frame, symbol) in certificate.frames.iter().zip((1..).map(Symbol)) {
            if frames[frame.procedure][frame.position].insert(frame, symbol).is_some() {
                return Err("a frame is listed twice".to_owned());
            }
        }
        let visited = RefCell::new(positions().map(|positions| vec![false; positions]).collect());
        let (recent, asks, stopped) = (RefCell::new((NOWHERE, Rc::default())), Cell::default(), Cell::default());
        Ok(Self { certificate, frames, visited, recent, asks, stopped, stop })
    }

    /// Notes that a thread may come to a frame.
    pub(super) fn visit(&self, frame: &Frame) {
        self.visited.borrow_mut()[frame.procedure][frame.position] = true;
    }

    /// The statements at which no thread ever stands, if all that threads can do has been looked at.
    pub(super) fn unvisited(&self, runner: &Runner<'_>) -> Vec<(usize, usize)> {
        let visited = self.visited.borrow();
        let mut unvisited = Vec::new();
        for (procedure, visited) in visited.iter().enumerate() {
            let came = (0..visited.len()).filter(|&position| visited[position]);
            let stood: FxHashSet<_> = came.flat_map(|position| runner.stands_at(procedure, position)).collect();
            let never = (0..visited.len() - 1).filter(|position| !stood.contains(position));
            unvisited.extend(never.map(|position| (procedure, position)));
        }
        unvisited
    }

    /// The number of a shared state, if it is listed.
    pub(super) fn shared_number(&self, values: &Shared) -> u32 {
        let (number, known) = &*self.recent.borrow();
        // Most steps leave it as it was.
        if *number != NOWHERE && Rc::ptr_eq(known, values) {
            return *number;
        }
        let states = &self.certificate.shared;
        states.find(values.iter().copied().map(Value::number), 0..states.len()).map_or(NOWHERE, |number| number as u32)
    }

    /// The symbol of a frame, if it is listed.
    #[inline]
    pub(super) fn symbol(&self, frame: &Frame) -> Option<Symbol> {
        let listed = &self.frames[frame.procedure][frame.position];
        if listed.is_empty() { None } else { listed.get(frame).copied() }
    }

    /// The shared state with a number.
    pub(super) fn shared(&self, number: u32) -> Option<Shared> {
        if number >= self.shared_states() {
            return None;
        }
        let mut recent = self.recent.borrow_mut();
        if recent.0 != number {
            *recent = (number, self.certificate.shared.numbers(number as usize).map(Value::of).collect());
        }
        Some(Rc::clone(&recent.1))
    }

    /// The frame with a symbol.
    pub(super) fn frame(&self, symbol: Symbol) -> Option<&'c Frame> {
        self.certificate.frames.get((symbol.0 as usize).checked_sub(1)?)
    }

    pub(super) fn symbols(&self) -> u32 {
        self.certificate.frames.len() as u32 + 1
    }

    pub(super) fn shared_states(&self) -> u32 {
        self.certificate.shared.len() as u32
    }

    /// How many threads the lemmas speak of; in a crowd one that is always in sight, and one of the others.
    pub(super) fn places(&self) -> usize {
        let Certificate { lemmas, regular, crowd, .. } = self.certificate;
        let regular = || regular.as_ref().map_or(crowd.iter().len() * 2, |regular| regular.threads.len());
        lemmas.first().map_or_else(regular, |lemma| lemma.threads.len())
    }

    /// Whether the caller wants to stop.
    pub(super) fn is_stopped(&self) -> bool {
        if !self.stopped.get() && (self.stop)() {
            self.stopped.set(true);
        }
        self.stopped.get()
    }
}

impl Keep for Tables<'_> {
    fn wants(&self, procedure: usize, position: usize, slot: Slot) -> bool {
        match slot {
            Slot::Shared(number) => self.certificate.kept.shared.binary_search(&number).is_ok(),
            Slot::Local(number) => keeps(&self.certificate.kept.locals[procedure], position, number),
        }
    }

    fn forget(&self, frame: &mut Frame) {
        let positions = match frame.stage {
            Stage::Storing => &self.certificate.kept.storing[frame.procedure],
            _ => &self.certificate.kept.locals[frame.procedure],
        };
        for (number, value) in frame.locals.iter_mut().enumerate() {
            if !keeps(positions, frame.position, number) {
                *value = Value::Forgotten;
            }
        }
    }

    fn goes_on(&self) -> bool {
        self.asks.set(self.asks.get().wrapping_add(1));
        if self.asks.get().is_multiple_of(LOOK_EVERY) { !self.is_stopped() } else { !self.stopped.get() }
    }
}

fn keeps(positions: &Positions, position: usize, number: usize) -> bool {
    positions.get(&position).is_some_and(|kept| kept.binary_search(&number).is_ok())
}

/// Whether everything that a certificate mentions is there in the program.
fn fits(program: &Program, certificate: &Certificate) -> Result<(), String> {
    let Certificate { kept, shared, frames, .. } = certificate;
    let procedures = program.procedures.len();
    if kept.locals.len() != procedures || kept.storing.len() != procedures {
        return Err(format!("it does not say what is kept in each of {procedures} procedures"));
    }
    let lists = kept.locals.iter().chain(&kept.storing).flat_map(Positions::values).chain([&kept.shared]);
    if lists.into_iter().any(|list| !list.is_sorted()) {
        return Err("variables that are kept are not in ascending order".to_owned());
    }
    let fits = |(own, value): (&Variable, Value)| value.known().is_none_or(|code| code < program.values(own.kind));
    let have = |variables: &[Variable], values: &[Value]| {
        variables.len() == values.len() && variables.iter().zip(values.iter().copied()).all(fits)
    };
    let are = |state: usize| program.shared.iter().zip(shared.numbers(state).map(Value::of)).all(fits);
    let are = (0..shared.len()).all(are) && shared.ascends() && shared.len() < NOWHERE as usize;
    if shared.width() != program.shared.len() || !are {
        return Err("the shared states do not have a value for each variable, in ascending order".to_owned());
    }
    let is_frame = |frame: &Frame| {
        program.procedures.get(frame.procedure).is_some_and(|procedure| {
            frame.position <= procedure.statements.len() && have(&procedure.locals, &frame.locals)
        })
    };
    if !frames.iter().all(is_frame) || frames.len() >= NOWHERE as usize - 1 {
        return Err("a frame is none of the program".to_owned());
    }
    Ok(())
}
