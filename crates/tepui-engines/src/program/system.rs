//! A program as a system of threads: a row is a shared row and, for each thread, its stack of frames.
//!
//! A step is one of the program: a return with what the frame below makes of it, a start with the places that the new
//! threads take, a broadcast with all that it wakes, the end of a thread with all its frames. Where threads are created there
//! are places for them; a thread that is started takes an empty one, any of those that are not interchangeable. If there is
//! none, the thread that starts others fails in its own way.

use std::sync::Arc;

use tepui_core::{Budget, Stop};
use tepui_model::program::{Action, Property};
use tepui_model::pushdown::Symbol;

use super::cache::Results;
use super::code::Code;
use super::layout::{Head, Stage};
use super::machine::{Machine, Outcome};
use super::persistent::Touching;
use super::tables::{News, Tables};
use crate::ids::{ThreadId, Threads};
use crate::pushdown::tree::EMPTY;
use crate::symmetry::Symmetry;
use crate::system::{Choice, System};
use crate::workers::Workers;

/// A program as a system.
#[derive(Debug)]
pub struct Programs {
    /// The program, made ready.
    pub code: Arc<Code>,
    /// What has numbers.
    pub tables: Tables,
    /// Which threads are interchangeable: those that begin in the same way.
    pub symmetry: Symmetry,
    /// For each thread its kind.
    pub kind_of: Vec<usize>,
    /// What must not happen.
    pub properties: Vec<Property>,
    /// Whether it must not happen that there is no place for a thread; that is one more property then.
    pub limited: bool,
    /// What threads touch, if it is to be told which of them can wait.
    pub(super) touching: Option<Touching>,
    /// For each frame what is known of it.
    facts: Vec<Facts>,
    initial: Vec<u32>,
}

/// What is known of a frame.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Whether it violates a property that is asked for.
    bad: bool,
    /// Whether a thread can take a step there if it has its turn, whatever the values are.
    moves: bool,
    /// Whether it returns to another frame, if the thread goes on.
    returns: bool,
}

impl Programs {
    /// A program with places for as many threads as its options say, where threads are created.
    pub fn new(code: Arc<Code>, symmetric: bool, properties: Vec<Property>) -> Self {
        let wanted = code.threads();
        let creates = code.setup.is_none();
        let places = if creates { code.options.places.max(1) } else { wanted.len() };
        let mut labels: Vec<_> = wanted.into_iter().map(Some).collect();
        labels.resize(places, None);
        let mut kinds: Vec<&Option<_>> = Vec::new();
        let mut kind_of = Vec::new();
        for label in &labels {
            let known = kinds.iter().position(|kind| *kind == label);
            kind_of.push(known.unwrap_or(kinds.len()));
            if known.is_none() {
                kinds.push(label);
            }
        }
        let symmetry = if symmetric { Symmetry::by_label(&kind_of) } else { Symmetry::none(places) };
        let mut tables = Tables::new(code.shared.words, kinds.len());
        let mut initial = vec![tables.add_shared(&code.start())];
        let mut machine = Machine::default();
        for (label, &kind) in labels.iter().zip(&kind_of) {
            let Some((procedure, position, arguments)) = label else {
                initial.push(EMPTY);
                continue;
            };
            let first = code.first_frame(*procedure, *position, arguments, &mut machine);
            let frame = tables.add_frame(&first);
            initial.push(tables.add_stack(kind, frame));
        }
        symmetry.canonicalise(&mut initial);
        let (touching, facts) = (None, Vec::new());
        let mut system =
            Self { code, tables, symmetry, kind_of, properties, limited: creates, touching, facts, initial };
        system.note_frames();
        system
    }

    /// Finds out about frames that are new.
    fn note_frames(&mut self) {
        for number in self.facts.len()..self.tables.frame_count() {
            let symbol = Symbol(number as u32 + 1);
            let head = Head(self.tables.frame(symbol)[0]);
            let bad = (0..self.property_count()).any(|property| self.is_bad(property, symbol));
            let moves = head.stage() == Stage::Running && self.code.never_blocks(head);
            self.facts.push(Facts { bad, moves, returns: self.code.may_return(head) });
        }
    }

    /// The symbol of a frame that is added if it is not there.
    pub fn add_frame(&mut self, frame: &[u64]) -> Symbol {
        let symbol = self.tables.add_frame(frame);
        self.note_frames();
        symbol
    }

    /// Gives numbers to frames that are new.
    pub fn admit_frames(&mut self, news: &mut [News]) {
        self.tables.admit_frames(news);
        self.note_frames();
    }

    /// The stack of a thread at the start.
    pub fn initial_stack(&self, thread: ThreadId) -> u32 {
        self.initial[thread.field()]
    }

    /// Whether a frame on top may violate a property by that alone.
    #[inline]
    pub fn may_be_bad(&self, symbol: Symbol) -> bool {
        !symbol.is_bottom() && self.facts[symbol.0 as usize - 1].bad
    }

    /// Whether a thread with a frame on top can take a step, whatever the values are.
    #[inline]
    pub fn moves_for_sure(&self, shared: u32, symbol: Symbol) -> bool {
        !symbol.is_bottom() && self.facts[symbol.0 as usize - 1].moves && {
            let head = Head(self.tables.frame(symbol)[0]);
            self.code.has_turn(self.tables.shared(shared), head)
        }
    }

    /// Whether it matters that a frame may refuse what is returned to it.
    pub fn sees_refusals(&self) -> bool {
        let mut procedures = self.code.procedures.iter();
        (0..self.properties.len()).any(|property| self.is_deadlock(property))
            && procedures.any(|procedure| procedure.enforced.is_some())
    }

    /// Whether no thread can move at the start.
    pub fn is_at_rest(&self) -> bool {
        let mut moves = false;
        Threads::of(&self.initial).for_each(|thread| {
            moves |= self.expand(thread, &self.initial, &mut Vec::new(), &mut News::of_one_question(), &mut |_, _| {});
        });
        !moves
    }

    /// Whether no thread ever calls a procedure.
    pub fn is_flat(&self) -> bool {
        let program = &self.code.program;
        let (mut open, mut seen) = (vec![program.main], vec![false; program.procedures.len()]);
        open.extend(self.code.threads().into_iter().map(|(procedure, ..)| procedure));
        while let Some(procedure) = open.pop() {
            if std::mem::replace(&mut seen[procedure], true) {
                continue;
            }
            for statement in &program.procedures[procedure].statements {
                match &statement.action {
                    Action::Call { .. } => return false,
                    Action::Start { procedure, .. } => open.push(*procedure),
                    _ => {}
                }
            }
        }
        true
    }

    /// How many properties there are.
    pub fn property_count(&self) -> usize {
        self.properties.len() + usize::from(self.limited)
    }

    /// The stack and the kind of a thread in a row.
    #[inline]
    pub(super) fn split(&self, row: &[u32], thread: ThreadId) -> (usize, Symbol, u32) {
        let kind = self.kind_of[thread.index()];
        let (top, rest) = self.tables.stacks(kind).split(row[thread.field()]);
        (kind, top, rest)
    }

    /// Rows in which a thread has moved as the machine says, and what that makes of others.
    fn moved(
        &self,
        (row, thread): (&[u32], ThreadId),
        outcome: Outcome,
        machine: &mut Machine,
        news: &mut News,
        next: &mut Vec<u32>,
        found: &mut dyn FnMut(&[u32], ThreadId),
    ) {
        let (kind, _, rest) = self.split(row, thread);
        next.clear();
        next.extend_from_slice(row);
        let shared = self.tables.shared(row[0]);
        if shared != machine.shared {
            next[0] = self.tables.find_shared(&machine.shared, news);
        }
        let own = |below: u32, machine: &Machine, news: &mut News| {
            let top = self.tables.find_frame(&machine.frame, news);
            self.tables.find_stack(kind, top, below, news)
        };
        next[thread.field()] = match outcome {
            Outcome::Ends => EMPTY,
            Outcome::Calls => {
                let caller = self.tables.find_frame(&machine.caller, news);
                let below = self.tables.find_stack(kind, caller, rest, news);
                own(below, machine, news)
            }
            _ => own(rest, machine, news),
        };
        match outcome {
            Outcome::Starts(count) => self.started((row, thread), count, machine, news, next, found),
            Outcome::Wakes(condition, all) => {
                self.woken((row, thread), (condition, all), machine, news, next, found);
            }
            _ => found(next, thread),
        }
    }

    /// A thread returns to the frame below.
    fn returned(
        &self,
        (row, thread): (&[u32], ThreadId),
        machine: &mut Machine,
        news: &mut News,
        next: &mut Vec<u32>,
        found: &mut dyn FnMut(&[u32], ThreadId),
    ) {
        let (kind, _, rest) = self.split(row, thread);
        let (below, lower) = self.tables.stacks(kind).split(rest);
        let (shared, values) = (machine.shared.clone(), machine.values.clone());
        let insists = machine.head().insists();
        self.code.returns(&shared, self.tables.frame(below), (&values, insists), machine, &mut |machine| {
            next.clear();
            next.extend_from_slice(row);
            next[0] = self.tables.find_shared(&machine.shared, news);
            let top = self.tables.find_frame(&machine.frame, news);
            next[thread.field()] = self.tables.find_stack(kind, top, lower, news);
            found(next, thread);
        });
    }

    /// Threads are started: each takes any empty place, of those that are interchangeable the first.
    fn started(
        &self,
        (row, thread): (&[u32], ThreadId),
        count: u32,
        machine: &mut Machine,
        news: &mut News,
        next: &mut Vec<u32>,
        found: &mut dyn FnMut(&[u32], ThreadId),
    ) {
        let is_empty = |row: &[u32], place: ThreadId| row[place.field()] == EMPTY && place != thread;
        if (Threads::of(row).filter(|&place| is_empty(row, place)).count() as u64) < u64::from(count) {
            return self.full((row, thread), machine, news, next, found);
        }
        let (mut first, mut frames) = (std::mem::take(&mut machine.started), Vec::new());
        self.code.begin(&first, machine, &mut |machine| frames.push(self.tables.find_frame(&machine.frame, news)));
        std::mem::swap(&mut first, &mut machine.started);
        let mut rows = vec![next.clone()];
        for _ in 0..count {
            let mut more = Vec::new();
            for row in &rows {
                let mut taken = Vec::new();
                for place in Threads::of(row).filter(|&place| is_empty(row, place)) {
                    let leader = self.symmetry.leader(place);
                    if taken.contains(&leader) {
                        continue;
                    }
                    taken.push(leader);
                    for &frame in &frames {
                        let mut row = row.clone();
                        row[place.field()] = self.tables.find_stack(self.kind_of[place.index()], frame, EMPTY, news);
                        more.push(row);
                    }
                }
            }
            rows = more;
        }
        rows.iter().for_each(|row| found(row, thread));
    }

    /// There is no place for a thread that is to be started: the one that starts it stays where it is.
    fn full(
        &self,
        (row, thread): (&[u32], ThreadId),
        machine: &mut Machine,
        news: &mut News,
        next: &mut Vec<u32>,
        found: &mut dyn FnMut(&[u32], ThreadId),
    ) {
        let (kind, top, rest) = self.split(row, thread);
        machine.frame.clear();
        machine.frame.extend_from_slice(self.tables.frame(top));
        machine.frame[1..].fill(0);
        machine.set_head(machine.head().in_stage(Stage::Full));
        next.clear();
        next.extend_from_slice(row);
        let top = self.tables.find_frame(&machine.frame, news);
        next[thread.field()] = self.tables.find_stack(kind, top, rest, news);
        found(next, thread);
    }

    /// Threads that sleep on a condition are woken, all or one of them, and go on by themselves.
    fn woken(
        &self,
        (row, thread): (&[u32], ThreadId),
        (condition, all): (u32, bool),
        machine: &mut Machine,
        news: &mut News,
        next: &[u32],
        found: &mut dyn FnMut(&[u32], ThreadId),
    ) {
        let (mut rows, mut singles, mut alike) = (vec![next.to_vec()], Vec::new(), Vec::new());
        for other in Threads::of(row).filter(|&other| other != thread) {
            let (kind, top, rest) = self.split(row, other);
            let Some(awake) = self.awake(top, condition) else { continue };
            let mut stacks = Vec::new();
            self.code.begin(&awake, machine, &mut |machine| {
                let top = self.tables.find_frame(&machine.frame, news);
                stacks.push(self.tables.find_stack(kind, top, rest, news));
            });
            let with = |row: &Vec<u32>| {
                let row = row.clone();
                stacks.iter().map(move |&stack| {
                    let mut row = row.clone();
                    row[other.field()] = stack;
                    row
                })
            };
            match all {
                true => rows = rows.iter().flat_map(with).collect(),
                // One of those that are alike stands for all of them.
                false if alike.contains(&(self.symmetry.leader(other), row[other.field()])) => {}
                false => {
                    alike.push((self.symmetry.leader(other), row[other.field()]));
                    singles.extend(with(&rows[0]));
                }
            }
        }
        let rows = if all || singles.is_empty() { rows } else { singles };
        rows.iter().for_each(|row| found(row, thread));
    }

    /// The rows that a thread leads to, as they are; those with something that has no number are left out.
    pub fn real_steps(&self, thread: ThreadId, row: &[u32], found: &mut dyn FnMut(&[u32])) {
        let (_, top, _) = self.split(row, thread);
        if !top.is_bottom() {
            let known = &mut |row: &[u32], _| {
                if !News::is_new(row) {
                    found(row);
                }
            };
            self.take(top, (row, thread), &mut Vec::new(), &mut News::of_one_question(), known);
        }
    }

    /// A row in canonical order.
    pub fn canonical(&self, row: &[u32]) -> Vec<u32> {
        let mut row = row.to_vec();
        self.symmetry.canonicalise(&mut row);
        row
    }

    /// Takes all steps of a thread with a frame on top.
    #[inline]
    fn take(
        &self,
        top: Symbol,
        (row, thread): (&[u32], ThreadId),
        next: &mut Vec<u32>,
        news: &mut News,
        found: &mut dyn FnMut(&[u32], ThreadId),
    ) {
        let mut machine = std::mem::take(&mut news.machine);
        let (shared, frame) = (self.tables.shared(row[0]), self.tables.frame(top));
        self.code.steps(shared, frame, &mut machine, &mut |machine, outcome| match outcome {
            Outcome::Returns => self.returned((row, thread), machine, news, next, found),
            outcome => self.moved((row, thread), outcome, machine, news, next, found),
        });
        news.machine = machine;
    }

    /// Whether a frame on top may return to another one.
    #[inline]
    pub fn may_return(&self, symbol: Symbol) -> bool {
        !symbol.is_bottom() && self.facts[symbol.0 as usize - 1].returns
    }
}

impl System for Programs {
    type News = News;
    const ADMITS: bool = true;

    fn threads(&self) -> usize {
        self.kind_of.len()
    }

    fn fields(&self) -> Vec<u32> {
        vec![1; self.initial.len()]
    }

    fn initial(&mut self) -> Vec<u32> {
        self.initial.clone()
    }

    fn steps(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        let mut news = News::of_one_question();
        let mut canonical = Vec::new();
        self.expand(thread, row, next, &mut news, &mut |row, place| {
            if !News::is_new(row) {
                canonical.clear();
                canonical.extend_from_slice(row);
                let place = self.canonicalise(&mut canonical, place);
                found(&canonical, place);
            }
        })
    }

    #[inline]
    fn expand(
        &self,
        thread: ThreadId,
        row: &[u32],
        next: &mut Vec<u32>,
        news: &mut News,
        found: &mut impl FnMut(&[u32], ThreadId),
    ) -> bool {
        let (_, top, _) = self.split(row, thread);
        if top.is_bottom() || self.symmetry.repeats(row, thread) {
            return false;
        }
        let key = (row[0], row[thread.field()], self.kind_of[thread.index()] as u32);
        if let Some(results) = news.cache.get(key) {
            for &(shared, stack) in results.all() {
                next.clear();
                next.extend_from_slice(row);
                (next[0], next[thread.field()]) = (shared, stack);
                found(next, thread);
            }
            return !results.all().is_empty();
        }
        let (mut results, mut known, mut enabled) = (Results::none(), true, false);
        self.take(top, (row, thread), next, news, &mut |row, place| {
            enabled = true;
            let result = [row[0], row[thread.field()]];
            known &= !News::is_new(&result);
            results.push((result[0], result[1]));
            found(row, place);
        });
        if known && self.code.instruction(Head(self.tables.frame(top)[0])).alone {
            news.cache.put(key, results);
        }
        enabled
    }

    fn recycle(news: &mut News) {
        news.clear();
    }

    fn admit(&mut self, news: &mut [News], workers: &Workers, budget: &mut Budget) -> Result<(), Stop> {
        news.iter().try_for_each(|news| news.machine.require_all_steps(budget))?;
        self.tables.admit(news, workers);
        self.note_frames();
        self.note_stacks();
        Ok(())
    }

    #[inline]
    fn settle(&self, news: &News, row: &mut [u32], place: ThreadId) -> ThreadId {
        news.settle(row);
        self.canonicalise(row, place)
    }

    fn reduces(&self) -> bool {
        self.touching.is_some()
    }

    fn choose(&self, row: &[u32], mover: Option<ThreadId>, news: &mut News, chosen: &mut Vec<ThreadId>) -> Choice {
        self.persistent(row, mover, news, chosen)
    }

    fn alike(&self, thread: ThreadId) -> Option<&[ThreadId]> {
        self.symmetry.group(thread)
    }

    fn can_move(&self, row: &[u32], thread: ThreadId) -> bool {
        let (_, top, _) = self.split(row, thread);
        self.may_return(top) || self.expand(thread, row, &mut Vec::new(), &mut News::of_one_question(), &mut |_, _| {})
    }

    fn complete(&self, row: &[u32], chosen: &mut Vec<ThreadId>) {
        self.close(row, chosen);
    }

    fn futures(&self) -> usize {
        self.times_grown()
    }

    fn bytes(&self) -> u64 {
        self.tables.bytes()
    }
}

impl Programs {
    /// Makes a row canonical; returns where the stack of a thread is now, the first place where there are equal ones.
    #[inline]
    fn canonicalise(&self, row: &mut [u32], place: ThreadId) -> ThreadId {
        if self.symmetry.is_trivial() {
            return place;
        }
        let stack = row[place.field()];
        self.symmetry.canonicalise(row);
        self.symmetry.place_of(row, place, stack).unwrap_or(place)
    }
}
