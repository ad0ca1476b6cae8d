//! What the numbers of a compiled model mean in terms of the program.

use tepui_model::program::step::{self, Value};
use tepui_model::pushdown::{Shared, Symbol};

use super::raw::Tables;
use super::{Doing, Global, Mode, Point};
use crate::program::certificate::values as meaning;
use crate::program::layout::{Field, Head, Stage};
use crate::program::retrace::Frame;
use crate::program::variables::{Kept, Variables};

/// What the shared states and symbols of a compiled model mean.
#[derive(Clone, Debug)]
pub struct Legend {
    pub(super) globals: Vec<Global>,
    pub(super) tables: Tables,
    /// For each kind of thread its points.
    pub(super) points: Vec<Vec<Point>>,
    pub(super) shared: Vec<Field>,
    /// For each procedure.
    pub(super) locals: Vec<Vec<Field>>,
    pub(super) kept: Kept,
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

/// The values of variables. Those that are not kept, since nothing depends on them, are forgotten.
pub type Meaning = Vec<Value>;

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
            Mode::Open => Phase::Open,
            Mode::Full => Phase::Full,
            Mode::Stuck => Phase::Stuck,
            Mode::Returned(..)
            | Mode::Starting { .. }
            | Mode::Waking
            | Mode::Refusing { .. }
            | Mode::Ending
            | Mode::Probing(_) => Phase::Between,
        }
    }

    /// The values of the shared variables.
    pub fn shared(&self, shared: Shared) -> Meaning {
        let row = self.tables.rows.get(self.globals[shared.0 as usize].shared);
        meaning(&self.shared, row, &self.kept.shared)
    }

    /// What a symbol of a thread means; none, if it is not about the program.
    pub fn frame(&self, thread: usize, symbol: Symbol) -> Option<Frame> {
        let point = self.point(thread, symbol).filter(|point| point.doing != Doing::Probed)?;
        let words = self.tables.frames.get(point.frame);
        let head = Head(words[0]);
        let (procedure, position) = (head.procedure(), head.position());
        let none = Variables::default();
        let kept = match head.stage() {
            stage if stage.has_failed() => &none,
            Stage::Storing => &self.kept.during[procedure][position],
            _ => &self.kept.at[procedure][position],
        };
        Some(Frame {
            procedure,
            position,
            locals: meaning(&self.locals[procedure], words, kept),
            failed: head.failure(),
            stage: match head.stage() {
                Stage::Asleep => step::Stage::Asleep(head.condition()),
                Stage::Storing => step::Stage::Storing,
                Stage::Waiting => step::Stage::Waiting,
                _ => step::Stage::Running,
            },
        })
    }

    /// The frame of the program that a symbol stands for on top of a stack; none, if the model is in the middle of
    /// something there.
    pub fn on_top(&self, thread: usize, symbol: Symbol) -> Option<step::Frame> {
        let point = self.point(thread, symbol).filter(|point| point.doing == Doing::Plain)?;
        let words = self.tables.frames.get(point.frame);
        let head = Head(words[0]);
        let stage = match head.stage() {
            Stage::Running => step::Stage::Running,
            Stage::Asleep => step::Stage::Asleep(head.condition()),
            _ => return None,
        };
        Some(self.source_frame(words, stage))
    }

    /// The frame of the program that a symbol stands for below others: it waits for a procedure that it has called.
    pub fn below(&self, thread: usize, symbol: Symbol) -> Option<step::Frame> {
        let point = self.point(thread, symbol).filter(|point| point.doing == Doing::Plain)?;
        let words = self.tables.frames.get(point.frame);
        let stage = match Head(words[0]).stage() {
            // The frame is already where it goes on.
            Stage::Running | Stage::Waiting => step::Stage::Waiting,
            Stage::Storing => step::Stage::Storing,
            _ => return None,
        };
        Some(self.source_frame(words, stage))
    }

    fn point(&self, thread: usize, symbol: Symbol) -> Option<Point> {
        self.points[self.threads[thread]].get((symbol.0 as usize).checked_sub(1)?).copied()
    }

    fn source_frame(&self, words: &[u64], stage: step::Stage) -> step::Frame {
        let head = Head(words[0]);
        let (procedure, position) = (head.procedure(), head.position());
        let waits = matches!(stage, step::Stage::Storing | step::Stage::Waiting);
        let kept = match stage {
            step::Stage::Storing => &self.kept.during[procedure][position],
            _ => &self.kept.at[procedure][position],
        };
        step::Frame {
            procedure,
            position,
            locals: meaning(&self.locals[procedure], words, kept),
            stage,
            root: head.is_root(),
            under: head.is_under(),
            insists: head.insists() && !waits,
        }
    }

    /// Which values are kept.
    pub fn kept(&self) -> &Kept {
        &self.kept
    }
}
