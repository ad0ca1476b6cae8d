//! All states of a program, one after the other, within limits.
//!
//! A state has the values of the shared variables and the threads that have not ended, in an order that does not depend
//! on which came first: nobody can tell two threads apart but by what they do next.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::kinds::{Value, choices};
use super::position::{enter, in_atomic, settle};
use super::program::{Order, Path, Program};
use super::stepper::{Stepper, Wakes};
use super::values::{Values, can_hold};

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
    /// The names of the properties that are violated, and of the labels that are reached.
    pub violated: BTreeSet<String>,
    /// Whether there is a deadlock.
    pub stuck: bool,
    /// Whether no limit was in the way.
    pub complete: bool,
    /// How many states there are.
    pub states: usize,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Frame {
    pub(super) procedure: usize,
    pub(super) path: Path,
    pub(super) locals: Vec<Value>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Thread {
    pub(super) frames: Vec<Frame>,
    /// Between `atomic_begin` and `atomic_end`.
    pub(super) section: bool,
    /// What it sleeps on.
    pub(super) sleeps: Option<Bed>,
    /// Whether the others start when this one has returned.
    pub(super) opens: bool,
    /// Whether it is a task that does not run.
    pub(super) pending: Option<Pending>,
}

/// Why a task does not run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Pending {
    /// It has not begun.
    Posted,
    /// It has yielded at the statement where it is.
    Yielded,
}

/// What a thread sleeps on: the number of a shared variable and the indices there, or nothing that has a name.
pub(super) type Bed = Option<(usize, Vec<usize>)>;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    shared: Vec<Value>,
    threads: Vec<Thread>,
}

/// Threads that start together, and the labels that they reach.
pub(super) type Group = (Vec<Thread>, Vec<String>);

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

pub(super) struct Explorer<'a> {
    pub(super) program: &'a Program,
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
    pub(super) fn groups(&self, procedures: &[usize]) -> Vec<Group> {
        let mut groups = vec![(Vec::new(), Vec::new())];
        for &number in procedures {
            // Those that are not called have Booleans only.
            let parameters = self.program.procedures[number].parameters.iter();
            let all = choices(&parameters.map(|kind| kind.all().unwrap_or_default()).collect::<Vec<_>>());
            let started: Vec<_> = all.iter().flat_map(|arguments| self.frames(number, arguments)).collect();
            groups = joined(&groups, &started);
        }
        groups
    }

    /// The frames that a procedure may begin with, and the labels that are reached.
    pub(super) fn frames(&self, number: usize, arguments: &[Value]) -> Vec<(Frame, Vec<String>)> {
        let procedure = &self.program.procedures[number];
        let mut path = vec![0];
        let labels = settle(&procedure.body, &mut path);
        let locals = choices(&procedure.locals);
        let frame = |others: Vec<Value>| {
            let locals = [arguments, &others].concat();
            (Frame { procedure: number, path: path.clone(), locals }, labels.clone())
        };
        locals.into_iter().map(frame).collect()
    }

    /// Whether the next statement of a thread has a label. One that sleeps has not got there.
    fn stands_at(&self, thread: &Thread, label: &str) -> bool {
        let labels = thread.frames.last().filter(|_| thread.sleeps.is_none()).map(|top| {
            let body = &self.program.procedures[top.procedure].body;
            settle(body, &mut top.path.clone())
        });
        labels.is_some_and(|labels| labels.iter().any(|own| own == label))
    }

    /// Adds a state that was reached.
    fn add(&mut self, mut state: State, labels: &[String]) {
        state.threads.retain(|thread| !thread.frames.is_empty());
        if matches!(self.program.tasks, None | Some(Order::Bag)) {
            state.threads.sort_unstable();
        }
        let few_frames = state.threads.iter().all(|thread| thread.frames.len() <= self.limits.frames);
        if !few_frames || state.threads.len() > self.limits.threads {
            self.found.complete = false;
            return;
        }
        let reached = labels.iter().filter(|label| self.labels.contains(label.as_str()));
        self.found.violated.extend(reached.cloned());
        for label in &self.program.exclusive {
            if state.threads.iter().filter(|thread| self.stands_at(thread, label)).count() > 1 {
                self.found.violated.insert(format!("exclusive-{label}"));
            }
        }
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

    /// What a program with tasks does: one runs alone, or one of those that are pending is dispatched.
    fn visit_tasks(&mut self, state: &State, order: Order) {
        if let Some(running) = state.threads.iter().position(|task| task.pending.is_none()) {
            self.visit_thread(state, running);
            return;
        }
        let mut all: Vec<_> = (0..state.threads.len()).collect();
        if order == Order::Lifo {
            all.reverse();
        }
        let mut moved = false;
        for task in all {
            moved |= self.dispatch(state, task);
            if moved && order != Order::Bag {
                break;
            }
        }
        self.found.stuck |= !moved && !state.threads.is_empty();
    }

    /// Dispatches a task, if it is not blocked.
    fn dispatch(&mut self, state: &State, index: usize) -> bool {
        let task = &state.threads[index];
        let Some(top) = task.frames.last() else { return false };
        if task.pending == Some(Pending::Yielded) {
            return self.visit_thread(state, index);
        }
        if !self.enforced(top, &state.shared) {
            return false;
        }
        let labels = settle(&self.program.procedures[top.procedure].body, &mut top.path.clone());
        let mut next = state.clone();
        next.threads[index].pending = None;
        self.add(next, &labels);
        true
    }

    fn visit(&mut self, state: &State) {
        if let Some(order) = self.program.tasks {
            return self.visit_tasks(state, order);
        }
        let holder = state.threads.iter().position(|thread| self.in_section(thread));
        let mut moved = false;
        for index in 0..state.threads.len() {
            let thread = &state.threads[index];
            let twin = index > 0 && state.threads[index - 1] == *thread;
            if holder.is_some_and(|holder| holder != index) || thread.sleeps.is_some() || twin {
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
        let (steps, violated) = Stepper::new(self, &thread, &state.shared).run();
        let mut moved = !violated.is_empty();
        self.found.violated.extend(violated);
        for step in steps {
            let top = step.thread.frames.last();
            if top.is_some_and(|top| !self.enforced(top, &step.shared)) {
                continue;
            }
            moved = true;
            for mut threads in woken(&state.threads, &step.wakes) {
                threads[index] = step.thread.clone();
                threads.extend(step.added.iter().cloned());
                if step.thread.pending.is_some() {
                    // It is the last one that became pending.
                    threads[index..].rotate_left(1);
                }
                self.add(State { shared: step.shared.clone(), threads }, &step.labels);
            }
        }
        moved
    }

    fn in_section(&self, thread: &Thread) -> bool {
        let inside = |frame: &Frame| in_atomic(&self.program.procedures[frame.procedure].body, &frame.path);
        thread.section || thread.frames.iter().any(inside)
    }

    /// Whether the condition of a frame's procedure holds.
    fn enforced(&self, frame: &Frame, shared: &[Value]) -> bool {
        let values = Values { shared, locals: &frame.locals };
        self.program.procedures[frame.procedure].enforced.iter().all(|condition| can_hold(condition, values))
    }
}

/// What threads become when some of them are woken: each way to choose, if one is.
fn woken(threads: &[Thread], wakes: &Wakes) -> Vec<Vec<Thread>> {
    let wake = |chosen: &dyn Fn(usize) -> bool| {
        let mut threads = threads.to_vec();
        threads.iter_mut().enumerate().filter(|(index, _)| chosen(*index)).for_each(|(_, thread)| thread.sleeps = None);
        threads
    };
    let sleeps = |index: usize, bed: &Bed| threads[index].sleeps.as_ref() == Some(bed);
    match wakes {
        Wakes::Nobody => vec![threads.to_vec()],
        Wakes::All(bed) => vec![wake(&|index| sleeps(index, bed))],
        Wakes::One(bed) => {
            let sleepers: Vec<_> = (0..threads.len()).filter(|index| sleeps(*index, bed)).collect();
            if sleepers.is_empty() {
                return vec![threads.to_vec()];
            }
            sleepers.into_iter().map(|sleeper| wake(&|index| index == sleeper)).collect()
        }
    }
}

/// All groups, each with each of some threads added.
pub(super) fn joined(groups: &[Group], started: &[(Frame, Vec<String>)]) -> Vec<Group> {
    let with = |(threads, labels): &Group, (frame, more): &(Frame, Vec<String>)| {
        let thread = Thread { frames: vec![frame.clone()], section: false, sleeps: None, opens: false, pending: None };
        ([threads.as_slice(), &[thread]].concat(), [labels.as_slice(), more].concat())
    };
    groups.iter().flat_map(|group| started.iter().map(move |start| with(group, start))).collect()
}
