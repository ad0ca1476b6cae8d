//! The steps of single threads as rules of a pushdown system: what one thread does at a point, in a shared state and a mode.

use std::cell::RefCell;

use tepui_model::program::Action;

use super::{Change, Doing, Effect, Mode, Point, Uncompiled};
use crate::program::code::Code;
use crate::program::layout::{Head, Stage};
use crate::program::machine::{Machine, Outcome};
use crate::program::word_rows::WordRows;
use crate::program::{Face, Options, Patience};
use tepui_model::program::Program;

/// The steps of single threads.
pub(super) struct Steps {
    pub(super) code: Code,
    /// Whether frames are told when a procedure that they called returns, even if it returns nothing.
    always_tell: bool,
    pub(super) tables: RefCell<Tables>,
    machine: RefCell<Machine>,
}

/// What the numbers in shared states and points stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) rows: WordRows,
    pub(super) frames: WordRows,
    pub(super) values: WordRows,
}

impl Steps {
    pub(super) fn new(program: &Program, options: Options, patience: &Patience) -> Result<Self, Uncompiled> {
        let code =
            Code::new(program, options, Face::Raw, patience.clone()).map_err(|why| Uncompiled::Unsupported(why.0))?;
        let statements = || code.program.procedures.iter().flat_map(|procedure| &procedure.statements);
        let on_condition = |action: &Action| matches!(action, Action::SleepOn(..) | Action::Wake { .. });
        if statements().any(|statement| on_condition(&statement.action)) {
            let why = "conditions (`wait(c, l)`, `signal`) are for the engine closure only";
            return Err(Uncompiled::NoTable(why.to_owned()));
        }
        let always_tell = tells_always(&code.program);
        Ok(Self { code, always_tell, tables: RefCell::default(), machine: RefCell::default() })
    }

    /// The shared row at the start.
    pub(super) fn start(&self) -> u32 {
        self.tables.borrow_mut().rows.intern(&self.code.start())
    }

    /// The first point of a thread that begins at a position of a procedure.
    pub(super) fn first(&self, procedure: usize, position: usize, arguments: &[u32]) -> Point {
        let first = self.code.first_frame(procedure, position, arguments, &mut self.machine.borrow_mut());
        self.point(&first)
    }

    fn row(&self, words: &[u64]) -> u32 {
        self.tables.borrow_mut().rows.intern(words)
    }

    fn point(&self, frame: &[u64]) -> Point {
        Point { frame: self.tables.borrow_mut().frames.intern(frame), doing: Doing::Plain }
    }

    /// Where a point stands.
    pub(super) fn head(&self, point: Point) -> Head {
        Head(self.tables.borrow().frames.get(point.frame)[0])
    }

    /// Whether no other thread may move while a point is on top.
    pub(super) fn is_uninterrupted(&self, point: Point) -> bool {
        point.doing != Doing::Probed && self.code.is_uninterrupted(self.head(point))
    }

    /// Whether a thread must not be interrupted.
    pub(super) fn is_held(&self, row: u32) -> bool {
        Code::is_held(self.tables.borrow().rows.get(row))
    }

    /// Whether it was stopped, so that steps are missing.
    pub(super) fn is_stopped(&self) -> bool {
        self.machine.borrow().stopped
    }

    /// The line of the statement at which a point stands; at the end that of the procedure's last one.
    pub(super) fn line(&self, point: Point) -> u32 {
        let head = self.head(point);
        let procedure = &self.code.program.procedures[head.procedure()];
        let statement = procedure.statements.get(head.position()).or(procedure.statements.last());
        statement.map_or(procedure.line, |statement| statement.line)
    }

    fn words(&self, row: u32, point: Point) -> (Vec<u64>, Vec<u64>) {
        let tables = self.tables.borrow();
        (tables.rows.get(row).to_vec(), tables.frames.get(point.frame).to_vec())
    }

    /// The steps that a thread can take whose topmost frame is given.
    pub(super) fn steps(&self, (row, mode): Change, point: Point) -> Vec<(Change, Effect)> {
        let (shared, frame) = self.words(row, point);
        let (head, mut found) = (Head(frame[0]), Vec::new());
        let machine = &mut *self.machine.borrow_mut();
        match (mode, head.stage(), point.doing) {
            (Mode::Returned(values, insists), Stage::Storing | Stage::Waiting, Doing::Plain) => {
                let values: Vec<_> =
                    self.tables.borrow().values.get(values).iter().map(|&value| value as i64).collect();
                self.code.returns(&shared, &frame, (&values, insists), machine, &mut |machine| {
                    let change = (self.row(&machine.shared), Mode::Open);
                    found.push((change, Effect::Become(self.point(&machine.frame))));
                });
            }
            (Mode::Ending, Stage::Storing | Stage::Waiting, Doing::Plain) => {
                let mode = if head.is_root() { Mode::Open } else { Mode::Ending };
                found.push(((row, mode), Effect::Leave));
            }
            (Mode::Waking, Stage::Asleep, Doing::Plain) => {
                let awake: Vec<_> = [head.awake().0].into_iter().chain(frame[1..].to_vec()).collect();
                self.code.begin(&awake, machine, &mut |machine| {
                    found.push(((row, mode), Effect::Become(self.point(&machine.frame))));
                });
            }
            (Mode::Waking, _, Doing::Waking) => {
                found.push(((row, Mode::Open), Effect::Become(Point { doing: Doing::Plain, ..point })));
            }
            (Mode::Open, _, Doing::Plain) => self.code.steps(&shared, &frame, machine, &mut |machine, outcome| {
                found.push(self.effect(machine, outcome));
            }),
            _ => {}
        }
        found
    }

    fn effect(&self, machine: &mut Machine, outcome: Outcome) -> (Change, Effect) {
        let open = |mode: Mode| (self.row(&machine.shared), mode);
        match outcome {
            Outcome::Goes | Outcome::Fails | Outcome::Blocked => {
                (open(Mode::Open), Effect::Become(self.point(&machine.frame)))
            }
            Outcome::Calls => {
                let callee = machine.head();
                // A frame that is not told when the procedure returns is already where it goes on.
                if !self.is_told(callee.procedure(), callee.is_under()) {
                    machine.caller[0] = Head(machine.caller[0]).in_stage(Stage::Running).0;
                }
                let (callee, caller) = (self.point(&machine.frame), self.point(&machine.caller));
                (open(Mode::Open), Effect::Call { callee, caller })
            }
            Outcome::Returns => {
                let head = machine.head();
                let mode = match self.is_told(head.procedure(), head.is_under()) {
                    true => {
                        let values: Vec<_> = machine.values.iter().map(|&value| value as u64).collect();
                        let values = self.tables.borrow_mut().values.intern(&values);
                        Mode::Returned(values, head.insists())
                    }
                    false => Mode::Open,
                };
                Code::release(&mut machine.shared);
                ((self.row(&machine.shared), mode), Effect::Leave)
            }
            Outcome::Ends => {
                let mode = if machine.head().is_root() { Mode::Open } else { Mode::Ending };
                (open(mode), Effect::Leave)
            }
            Outcome::Starts(count) => {
                let first = self.point(&machine.started).frame;
                (open(Mode::Starting { first, count }), Effect::Become(self.point(&machine.frame)))
            }
            // Programs with conditions are not turned into tables.
            Outcome::Wakes(..) => {
                let waking = Point { doing: Doing::Waking, ..self.point(&machine.frame) };
                (open(Mode::Waking), Effect::Become(waking))
            }
        }
    }

    /// Whether a frame has to do something when a procedure that it calls, maybe from an atomic block, returns.
    fn is_told(&self, called: usize, under: bool) -> bool {
        self.always_tell || under || self.code.procedures[called].results > 0
    }

    /// What a thread without frames can do: it becomes one that is to be started.
    pub(super) fn awaken(&self, (row, mode): Change) -> Vec<(Change, Point)> {
        let Mode::Starting { first, count } = mode else { return Vec::new() };
        let mode = if count == 1 { Mode::Open } else { Mode::Starting { first, count: count - 1 } };
        let (frame, mut found) = (self.tables.borrow().frames.get(first).to_vec(), Vec::new());
        self.code.begin(&frame, &mut self.machine.borrow_mut(), &mut |machine| {
            found.push(((row, mode), self.point(&machine.frame)));
        });
        found
    }

    /// In which ways variables without a value, which a thread would read, may have one so that it is blocked: the shared
    /// row with these values; and whether it is blocked only if the frame below refuses what it returns, with the frame
    /// that returns.
    pub(super) fn blocked(&self, row: u32, point: Point) -> Vec<(u32, Option<u32>)> {
        let (shared, frame) = self.words(row, point);
        let mut found = Vec::new();
        self.code.settle(&shared, &frame, &mut |shared, frame| {
            let (mut moves, mut returns) = (false, false);
            let machine = &mut *self.machine.borrow_mut();
            self.code.ways(shared, frame, machine, &mut |_, outcome| match outcome {
                Outcome::Returns => returns = true,
                _ => moves = true,
            });
            let told = || self.is_told(Head(frame[0]).procedure(), Head(frame[0]).is_under());
            if !moves && (!returns || told()) {
                let callee = returns.then(|| self.tables.borrow_mut().frames.intern(frame));
                found.push((self.row(shared), callee));
            }
        });
        found
    }

    /// In which ways a frame that waits has no use for anything that a procedure may return: the shared rows.
    pub(super) fn refuses(&self, row: u32, callee: u32, waiting: Point) -> Vec<u32> {
        let (shared, waiting) = self.words(row, waiting);
        let callee = self.tables.borrow().frames.get(callee).to_vec();
        let mut found = Vec::new();
        self.code.settle_enforced(&shared, &waiting, &mut |shared, waiting| {
            let (mut returned, machine) = (Vec::new(), &mut *self.machine.borrow_mut());
            self.code.ways(shared, &callee, machine, &mut |machine, _| {
                returned.push((machine.shared.clone(), machine.values.clone(), machine.head().insists()));
            });
            let accepts = |(shared, values, insists): &(Vec<u64>, Vec<i64>, bool)| {
                self.code.accepts(shared, waiting, (values, *insists), machine)
            };
            let accepted = returned.iter().any(accepts);
            if !accepted {
                found.push(self.row(shared));
            }
        });
        found
    }
}

/// Whether frames are told of every return: atomic sections may cross it, or it may be refused.
pub(in crate::program) fn tells_always(program: &Program) -> bool {
    let mut statements = program.procedures.iter().flat_map(|procedure| &procedure.statements);
    let tells = |action: &Action| matches!(action, Action::AtomicBegin | Action::AtomicEnd | Action::EndThread);
    statements.any(|statement| tells(&statement.action))
        || program.procedures.iter().any(|procedure| procedure.enforced.is_some())
}
