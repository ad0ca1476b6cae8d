//! All states of a program, one after the other, within limits.
//!
//! A state has the values of the shared variables and the threads that have not ended, in an order that does not depend
//! on which came first: nobody can tell two threads apart but by what they do next.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::position::{advance, enter, in_atomic, settle, statement};
use super::program::{Path, Program, Set, Slot, Step, Term};
use super::values::{Values, can_hold, choices, members, possible};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most threads that there are at the same time.
    pub threads: usize,
    /// The most frames of a thread.
    pub frames: usize,
    /// The most states.
    pub states: usize,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The names of the assertions that fail, and of the labels that are reached.
    pub violated: BTreeSet<String>,
    /// Whether there is a deadlock.
    pub stuck: bool,
    /// Whether no limit was in the way.
    pub complete: bool,
    /// How many states there are.
    pub states: usize,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Frame {
    procedure: usize,
    path: Path,
    locals: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Thread {
    frames: Vec<Frame>,
    /// Between `atomic_begin` and `atomic_end`.
    section: bool,
    sleeps: bool,
    /// Whether the others start when this one has returned.
    opens: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    shared: Vec<u8>,
    threads: Vec<Thread>,
}

/// A step of a thread: what it becomes, which threads it adds, and what it does to the rest.
struct Move {
    shared: Vec<u8>,
    thread: Thread,
    added: Vec<Thread>,
    wakes: bool,
    labels: Vec<String>,
}

/// Explores a program, and looks for some labels.
pub fn explore(program: &Program, labels: &[&str], limits: Limits) -> Found {
    let mut explorer = Explorer {
        program,
        limits,
        labels: labels.iter().copied().collect(),
        seen: HashSet::new(),
        queue: VecDeque::new(),
        found: Found { complete: true, ..Found::default() },
    };
    explorer.start();
    while let Some(state) = explorer.queue.pop_front() {
        explorer.visit(&state);
    }
    explorer.found.states = explorer.seen.len();
    explorer.found
}

struct Explorer<'a> {
    program: &'a Program,
    limits: Limits,
    labels: BTreeSet<&'a str>,
    seen: HashSet<State>,
    queue: VecDeque<State>,
    found: Found,
}

impl<'a> Explorer<'a> {
    fn start(&mut self) {
        let waits = !self.program.then.is_empty();
        for shared in choices(&self.program.shared) {
            let mut begun = false;
            for (mut threads, labels) in self.groups(&self.program.first) {
                let held = |thread: &Thread| thread.frames.iter().all(|frame| self.enforced(frame, &shared));
                if self.program.begins_with_a_call && !threads.iter().all(held) {
                    continue;
                }
                begun = true;
                threads.iter_mut().for_each(|thread| thread.opens = waits);
                self.add(State { shared: shared.clone(), threads }, &labels);
            }
            self.found.stuck |= !begun;
        }
    }

    /// Threads that run some procedures, whose parameters may be anything, with the labels that they reach.
    fn groups(&self, procedures: &[usize]) -> Vec<(Vec<Thread>, Vec<String>)> {
        let mut groups = vec![(Vec::new(), Vec::new())];
        for &number in procedures {
            let procedure = &self.program.procedures[number];
            let all = choices(&procedure.locals[..procedure.parameters]);
            let started: Vec<_> = all.iter().flat_map(|arguments| self.frames(number, arguments)).collect();
            groups = joined(&groups, &started);
        }
        groups
    }

    /// The frames that a procedure may begin with, and the labels that are reached.
    fn frames(&self, number: usize, arguments: &[u8]) -> Vec<(Frame, Vec<String>)> {
        let procedure = &self.program.procedures[number];
        let mut path = vec![0];
        let labels = settle(&procedure.body, &mut path);
        let locals = choices(&procedure.locals[procedure.parameters..]);
        let frame = |others: Vec<u8>| {
            let locals = [arguments, &others].concat();
            (Frame { procedure: number, path: path.clone(), locals }, labels.clone())
        };
        locals.into_iter().map(frame).collect()
    }

    /// Adds a state that was reached.
    fn add(&mut self, mut state: State, labels: &[String]) {
        state.threads.retain(|thread| !thread.frames.is_empty());
        state.threads.sort_unstable();
        let few_frames = state.threads.iter().all(|thread| thread.frames.len() <= self.limits.frames);
        if !few_frames || state.threads.len() > self.limits.threads {
            self.found.complete = false;
            return;
        }
        let reached = labels.iter().filter(|label| self.labels.contains(label.as_str()));
        self.found.violated.extend(reached.cloned());
        if self.seen.contains(&state) {
            return;
        }
        if self.seen.len() >= self.limits.states {
            self.found.complete = false;
            return;
        }
        self.seen.insert(state.clone());
        self.queue.push_back(state);
    }

    fn visit(&mut self, state: &State) {
        let holder = state.threads.iter().position(|thread| self.in_section(thread));
        let mut moved = false;
        for index in 0..state.threads.len() {
            let thread = &state.threads[index];
            let twin = index > 0 && state.threads[index - 1] == *thread;
            if holder.is_some_and(|holder| holder != index) || thread.sleeps || twin {
                continue;
            }
            moved |= self.visit_thread(state, index);
        }
        self.found.stuck |= !moved && !state.threads.is_empty();
    }

    /// Takes all steps of a thread. Returns whether there are any.
    fn visit_thread(&mut self, state: &State, index: usize) -> bool {
        let thread = &state.threads[index];
        let Some(top) = thread.frames.last() else { return false };
        if !self.enforced(top, &state.shared) {
            return false;
        }
        let mut thread = thread.clone();
        if let Some(top) = thread.frames.last_mut() {
            enter(&self.program.procedures[top.procedure].body, &mut top.path);
        }
        let mut moved = self.fails(&thread, &state.shared);
        for step in self.moves(&thread, &state.shared) {
            let top = step.thread.frames.last();
            if top.is_some_and(|top| !self.enforced(top, &step.shared)) {
                continue;
            }
            moved = true;
            let mut threads = state.threads.clone();
            if step.wakes {
                threads.iter_mut().for_each(|thread| thread.sleeps = false);
            }
            threads[index] = step.thread;
            threads.extend(step.added);
            self.add(State { shared: step.shared, threads }, &step.labels);
        }
        moved
    }

    fn in_section(&self, thread: &Thread) -> bool {
        let inside = |frame: &Frame| in_atomic(&self.program.procedures[frame.procedure].body, &frame.path);
        thread.section || thread.frames.iter().any(inside)
    }

    /// Whether the condition of a frame's procedure holds.
    fn enforced(&self, frame: &Frame, shared: &[u8]) -> bool {
        let values = Values { shared, locals: &frame.locals };
        self.program.procedures[frame.procedure].enforced.iter().all(|condition| can_hold(condition, values))
    }

    /// The statement that a thread executes next; none at the closing brace.
    fn next(&self, thread: &Thread) -> Option<&'a Step> {
        let top = thread.frames.last()?;
        statement(&self.program.procedures[top.procedure].body, &top.path).map(|statement| &statement.step)
    }

    /// Whether a thread is at an assertion that can fail, which is noted.
    fn fails(&mut self, thread: &Thread, shared: &[u8]) -> bool {
        let (Some(Step::Assert(condition, name)), Some(top)) = (self.next(thread), thread.frames.last()) else {
            return false;
        };
        let values = Values { shared, locals: &top.locals };
        let fails = possible(condition, values, values) & 0b01 != 0;
        if fails {
            self.found.violated.insert(name.clone());
        }
        fails
    }

    /// The steps of a thread that has entered the blocks that begin where it stands, whatever is enforced.
    fn moves(&self, thread: &Thread, shared: &[u8]) -> Vec<Move> {
        let Some(top) = thread.frames.last() else { return Vec::new() };
        let values = Values { shared, locals: &top.locals };
        let on = Stepper { explorer: self, thread, shared, values, path: &top.path };
        let Some(step) = self.next(thread) else {
            return on.leave(&self.program.procedures[top.procedure].results);
        };
        match step {
            Step::Change { targets, values, constraint } => on.change(targets, values, constraint.as_ref()),
            Step::Call { callee, arguments, .. } => on.call(*callee, arguments),
            Step::Return(results) => on.leave(&on.sets(results)),
            Step::If(condition, _) => on.branch(condition, |value| Some(1 - u16::from(value))),
            Step::While(condition, _) => on.branch(condition, |value| (value == 1).then_some(0)),
            Step::Goto(targets) => targets.iter().map(|target| on.jump(target)).collect(),
            Step::Assert(condition, _) if can_hold(condition, on.values) => vec![on.forward()],
            Step::Assert(..) => Vec::new(),
            Step::AtomicBegin => vec![on.with(|thread| thread.section = true)],
            Step::AtomicEnd => vec![on.with(|thread| thread.section = false)],
            Step::Sleep => vec![on.with(|thread| thread.sleeps = true)],
            Step::Broadcast => vec![Move { wakes: true, ..on.forward() }],
            Step::Start { callee, arguments, count } => on.start(*callee, arguments, *count),
            Step::StartAt(target) => vec![on.start_at(target)],
            Step::Exit => vec![on.ended(thread.frames.len())],
            // The others were entered, so that something in them comes next.
            Step::Atomic(_) => vec![on.forward()],
        }
    }
}

/// All groups, each with each of some threads added.
fn joined(groups: &[(Vec<Thread>, Vec<String>)], started: &[(Frame, Vec<String>)]) -> Vec<(Vec<Thread>, Vec<String>)> {
    let with = |(threads, labels): &(Vec<Thread>, Vec<String>), (frame, more): &(Frame, Vec<String>)| {
        let thread = Thread { frames: vec![frame.clone()], section: false, sleeps: false, opens: false };
        ([threads.as_slice(), &[thread]].concat(), [labels.as_slice(), more].concat())
    };
    groups.iter().flat_map(|group| started.iter().map(move |start| with(group, start))).collect()
}

/// A thread at a statement.
struct Stepper<'a, 'b> {
    explorer: &'b Explorer<'a>,
    thread: &'b Thread,
    shared: &'b [u8],
    values: Values<'b>,
    path: &'b Path,
}

impl Stepper<'_, '_> {
    fn sets(&self, terms: &[Term]) -> Vec<Set> {
        terms.iter().map(|term| possible(term, self.values, self.values)).collect()
    }

    /// A step that changes nothing but where the thread is.
    fn to(&self, to: impl FnOnce(&super::program::Block, &mut Path) -> Vec<String>) -> Move {
        let mut thread = self.thread.clone();
        let mut labels = Vec::new();
        if let Some(top) = thread.frames.last_mut() {
            labels = to(&self.explorer.program.procedures[top.procedure].body, &mut top.path);
        }
        Move { shared: self.shared.to_vec(), thread, added: Vec::new(), wakes: false, labels }
    }

    fn forward(&self) -> Move {
        self.to(advance)
    }

    fn jump(&self, target: &Path) -> Move {
        self.to(|body, path| {
            path.clone_from(target);
            settle(body, path)
        })
    }

    fn with(&self, change: impl FnOnce(&mut Thread)) -> Move {
        let mut step = self.forward();
        change(&mut step.thread);
        step
    }

    /// Goes into one of the statement's blocks, or on, for each value of a condition.
    fn branch(&self, condition: &Term, block: impl Fn(u8) -> Option<u16>) -> Vec<Move> {
        let go = |value| match block(value) {
            Some(branch) => self.jump(&[self.path.as_slice(), &[branch, 0]].concat()),
            None => self.forward(),
        };
        members(possible(condition, self.values, self.values)).map(go).collect()
    }

    fn change(&self, targets: &[Slot], terms: &[Term], constraint: Option<&Term>) -> Vec<Move> {
        let store = |values: Vec<u8>| {
            let mut step = self.forward();
            for (slot, value) in targets.iter().zip(values) {
                store(&mut step.shared, &mut step.thread, *slot, value);
            }
            step
        };
        let allowed = |step: &Move| {
            let locals = step.thread.frames.last().map_or(&[][..], |top| &top.locals);
            let new = Values { shared: &step.shared, locals };
            constraint.is_none_or(|constraint| possible(constraint, self.values, new) & 0b10 != 0)
        };
        choices(&self.sets(terms)).into_iter().map(store).filter(allowed).collect()
    }

    fn call(&self, callee: usize, arguments: &[Term]) -> Vec<Move> {
        let all = choices(&self.sets(arguments));
        let frames = all.iter().flat_map(|arguments| self.explorer.frames(callee, arguments));
        let entered = |(frame, labels)| {
            let mut step = self.to(|_, _| labels);
            step.thread.frames.push(frame);
            step
        };
        frames.map(entered).collect()
    }

    /// Leaves the procedure with any of the results that are possible.
    fn leave(&self, results: &[Set]) -> Vec<Move> {
        let Some(caller) = self.thread.frames.len().checked_sub(2) else { return self.finish() };
        let body = &self.explorer.program.procedures[self.thread.frames[caller].procedure].body;
        let calling = statement(body, &self.thread.frames[caller].path);
        let Some(Step::Call { targets, .. }) = calling.map(|statement| &statement.step) else { return Vec::new() };
        let left = |values: Vec<u8>| {
            let mut step = self.ended(1);
            for (slot, value) in targets.iter().zip(values) {
                if let Some(slot) = slot {
                    store(&mut step.shared, &mut step.thread, *slot, value);
                }
            }
            step.labels = advance(body, &mut step.thread.frames[caller].path);
            step
        };
        choices(results).into_iter().map(left).collect()
    }

    /// Returns from the first procedure. If that is the one before all others, those start.
    fn finish(&self) -> Vec<Move> {
        if !self.thread.opens {
            return vec![self.ended(1)];
        }
        let groups = self.explorer.groups(&self.explorer.program.then);
        groups.into_iter().map(|(added, labels)| Move { added, labels, ..self.ended(1) }).collect()
    }

    /// Without its topmost frames.
    fn ended(&self, frames: usize) -> Move {
        let mut step = self.to(|_, _| Vec::new());
        step.thread.frames.truncate(self.thread.frames.len() - frames);
        step
    }

    fn start(&self, callee: usize, arguments: &[Term], count: usize) -> Vec<Move> {
        let mut steps = Vec::new();
        for arguments in choices(&self.sets(arguments)) {
            let started = self.explorer.frames(callee, &arguments);
            let groups = (0..count).fold(vec![(Vec::new(), Vec::new())], |groups, _| joined(&groups, &started));
            for (added, more) in groups {
                let mut step = self.forward();
                (step.added, step.labels) = (added, [step.labels, more].concat());
                steps.push(step);
            }
        }
        steps
    }

    fn start_at(&self, target: &Path) -> Move {
        let mut step = self.forward();
        let jumped = self.jump(target);
        let frames = jumped.thread.frames.last().cloned().into_iter().collect();
        step.added.push(Thread { frames, section: false, sleeps: false, opens: false });
        step.labels.extend(jumped.labels);
        step
    }
}

fn store(shared: &mut [u8], thread: &mut Thread, slot: Slot, value: u8) {
    match (slot, thread.frames.last_mut()) {
        (Slot::Shared(index), _) => shared[index] = value,
        (Slot::Local(index), Some(top)) => top.locals[index] = value,
        (Slot::Local(_), None) => {}
    }
}
