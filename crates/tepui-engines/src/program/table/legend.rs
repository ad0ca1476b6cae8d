//! What the numbers of a compiled model mean in terms of the program.

use tepui_model::program::step;
use tepui_model::pushdown::{Shared, Symbol};

use super::layout::{Layout, Values};
use super::{Global, Mode, Point, Stage};

/// What the shared states and symbols of a compiled model mean.
#[derive(Clone, Debug)]
pub struct Legend {
    pub(super) globals: Vec<Global>,
    pub(super) shared: (Layout, Values),
    /// For each kind of thread its points.
    pub(super) points: Vec<Vec<Point>>,
    /// For each procedure.
    pub(super) locals: Vec<Layout>,
    pub(super) kept: Vec<Vec<Values>>,
    pub(super) during: Vec<Vec<Values>>,
    /// For each procedure and position of a call whose results nobody stores, where it goes on.
    pub(super) stores: Vec<Vec<Option<usize>>>,
    /// The kind of each thread.
    pub(super) threads: Vec<usize>,
    /// Whether threads are created while others run.
    pub(super) creates: bool,
    /// Where `main` stands at the start, if it is a thread.
    pub(super) main: Option<usize>,
}

/// What is going on in a shared state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Some thread may take a step of its program.
    Open,
    /// A step of the program is not complete.
    Between,
    /// There was no place for a thread.
    Full,
    /// Nothing can happen any more.
    Stuck,
}

/// The values of variables; none, if a value is not kept, since nothing depends on it.
pub type Meaning = Vec<Option<u32>>;

/// What a symbol means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The procedure.
    pub procedure: usize,
    /// The position.
    pub position: usize,
    /// The values of the local variables.
    pub locals: Meaning,
    /// Whether an assertion has failed there.
    pub failed: bool,
    /// Whether the thread sleeps.
    pub asleep: bool,
    /// Whether it waits for a procedure that it has called.
    pub calling: bool,
}

impl Legend {
    /// Whether threads are created while others run, so that there are places for them instead of threads.
    pub fn creates_threads(&self) -> bool {
        self.creates
    }

    /// Where `main` stands at the start, if it is a thread.
    pub fn main(&self) -> Option<usize> {
        self.main
    }

    /// What is going on in a shared state.
    pub fn phase(&self, shared: Shared) -> Phase {
        match self.globals[shared.0 as usize].mode {
            Mode::Calm | Mode::Atomic => Phase::Open,
            Mode::Full => Phase::Full,
            Mode::Stuck => Phase::Stuck,
            Mode::Returned(..)
            | Mode::Starting { .. }
            | Mode::Waking(_)
            | Mode::Refusing { .. }
            | Mode::Ending
            | Mode::Probing(_)
            | Mode::Begin => Phase::Between,
        }
    }

    /// The values of the shared variables.
    pub fn shared(&self, shared: Shared) -> Meaning {
        let (layout, kept) = &self.shared;
        let global = self.globals[shared.0 as usize];
        // Before the start no variable has a value.
        let kept = if global.mode == Mode::Begin { 0 } else { *kept };
        layout.meaning(global.shared, kept)
    }

    /// What a symbol of a thread means; none, if it is not about the program.
    pub fn frame(&self, thread: usize, symbol: Symbol) -> Option<Frame> {
        let point = *self.points[self.threads[thread]].get((symbol.0 as usize).checked_sub(1)?)?;
        let (procedure, position) = (point.procedure as usize, point.position as usize);
        let kept = match point.stage {
            Stage::Begin | Stage::Probed => return None,
            Stage::Failed => 0,
            Stage::Calling => self.during[procedure][position],
            Stage::Running | Stage::Asleep | Stage::Waking => self.kept[procedure][position],
        };
        Some(Frame {
            procedure,
            position,
            locals: self.locals[procedure].meaning(point.locals, kept),
            failed: point.stage == Stage::Failed,
            asleep: point.stage == Stage::Asleep,
            calling: point.stage == Stage::Calling,
        })
    }

    /// The frame of the program that a symbol stands for on top of a stack; none, if the model is in the middle of
    /// something there.
    pub fn on_top(&self, thread: usize, symbol: Symbol) -> Option<step::Frame> {
        let point = self.point(thread, symbol)?;
        let stage = match point.stage {
            Stage::Running => step::Stage::Running,
            Stage::Asleep => step::Stage::Asleep,
            Stage::Calling | Stage::Waking | Stage::Failed | Stage::Begin | Stage::Probed => return None,
        };
        Some(self.source_frame(point, point.position as usize, stage, point.insists))
    }

    /// The frame of the program that a symbol stands for below others: it waits for a procedure that it has called.
    pub fn below(&self, thread: usize, symbol: Symbol) -> Option<step::Frame> {
        let point = self.point(thread, symbol)?;
        let position = point.position as usize;
        match point.stage {
            // The frame is already where it goes on.
            Stage::Running => Some(self.source_frame(point, position, step::Stage::Waiting, false)),
            Stage::Calling => {
                let next = self.stores[point.procedure as usize][position];
                Some(match next {
                    None => self.source_frame(point, position, step::Stage::Storing, false),
                    Some(next) => self.source_frame(point, next, step::Stage::Waiting, false),
                })
            }
            _ => None,
        }
    }

    fn point(&self, thread: usize, symbol: Symbol) -> Option<&Point> {
        self.points[self.threads[thread]].get((symbol.0 as usize).checked_sub(1)?)
    }

    fn source_frame(&self, point: &Point, position: usize, stage: step::Stage, insists: bool) -> step::Frame {
        let procedure = point.procedure as usize;
        let kept = match stage {
            step::Stage::Storing => self.during[procedure][position],
            _ => self.kept[procedure][position],
        };
        step::Frame {
            procedure,
            position,
            locals: self.locals[procedure].meaning(point.locals, kept),
            stage,
            root: point.root,
            under: point.under,
            insists,
        }
    }

    /// Whether nothing is known of a variable since nothing depends on it.
    pub fn forgets(&self, number: usize) -> bool {
        let (layout, kept) = &self.shared;
        layout.mask(std::iter::once(number)) & !kept != 0
    }

    /// Whether nothing is known of a local variable while a frame waits at a position for results that it stores.
    pub fn forgets_during(&self, procedure: usize, position: usize, number: usize) -> bool {
        self.locals[procedure].mask(std::iter::once(number)) & !self.during[procedure][position] != 0
    }

    /// Whether nothing is known of a local variable at a position.
    pub fn forgets_local(&self, procedure: usize, position: usize, number: usize) -> bool {
        self.locals[procedure].mask(std::iter::once(number)) & !self.kept[procedure][position] != 0
    }
}
