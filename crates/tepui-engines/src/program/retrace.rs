//! From what an engine has found to an execution of the program.
//!
//! The steps are followed on the interpreter, which knows nothing of the engine: after each of them the interpreter must be
//! able to get, with steps of the same thread, to a state that means the same. So a mistake cannot hide: either there is
//! an execution of the program that does what the engine says, or it is refused.
//!
//! That is done twice. First with the values that the engine has forgotten left open, so that nothing has to be guessed:
//! one way of statements is found. Then this way is gone with values for all variables; where the engine has a value it
//! is the one, elsewhere the first that is possible.
//!
//! For an engine a thread that is started or woken is at once where its own steps lead it. In the program it takes them
//! when it is its turn; only if that is too late, since another thread is not to be interrupted any more, as soon as it can.

mod goal;
mod raw;
mod steer;

pub use raw::retrace;

use rustc_hash::FxHashSet;
use tepui_cert::program::Trace;
use tepui_model::program::run::{State, Step};
use tepui_model::program::step::Runner;
use tepui_model::program::{DEADLOCK, Program};

use super::variables::Kept;
pub use goal::{Frame, Situation};
use goal::{Goal, is_at_start};

/// After how many states it is asked whether to stop.
const LOOK_EVERY: usize = 256;

/// An execution of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    /// The first state, in which `main` begins.
    pub start: State,
    /// The steps, each with the number of the thread that takes it.
    pub steps: Vec<(usize, Step)>,
    /// How many of them only start the threads that are there from the start.
    pub hidden: usize,
}

impl Execution {
    /// The trace of this execution.
    pub fn trace(&self, program: &Program, property: &str) -> Result<Trace, Lost> {
        let runner = Runner::new(program);
        let (mut before, mut steps) = (&self.start, Vec::new());
        for (thread, taken) in &self.steps {
            let results = runner.steps_to(before, *thread, &taken.after.shared).ok_or(Lost::TooMany)?;
            let result = results.iter().position(|step| step == taken).ok_or("a step is not one of the program")?;
            let shared = taken.after.shared.to_vec();
            steps.push(tepui_cert::program::Step { thread: *thread, at: taken.at, result, shared });
            before = &taken.after;
        }
        let (program, property) = (program.digest(), property.to_owned());
        Ok(Trace { program, property, start: self.start.shared.to_vec(), hidden: self.hidden, scheduler: None, steps })
    }
}

/// Why there is no execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lost {
    /// The program cannot do what the trace says.
    Refused(String),
    /// The caller wanted it to end.
    Stopped,
    /// A statement can be executed in too many ways to tell them apart.
    TooMany,
}

impl From<&str> for Lost {
    fn from(why: &str) -> Self {
        Self::Refused(why.to_owned())
    }
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(why) => f.write_str(why),
            Self::Stopped => f.write_str("a limit was reached while the trace was followed"),
            Self::TooMany => f.write_str("a statement on the way can be executed in more than 262144 ways"),
        }
    }
}

/// A state with open values, and how it was reached.
struct Node {
    state: State,
    /// The number of the state before, and the thread that took the step.
    before: Option<(usize, usize)>,
}

/// A way of the program: states with open values, each with the thread that takes the step to it.
struct Way {
    /// The first state, in which `main` begins.
    first: State,
    /// The steps, those before the start of the execution included.
    steps: Vec<(usize, State)>,
    /// How many of them come before the start.
    hidden: usize,
    /// The thread for which there is no place to start another one at the end.
    full: Option<usize>,
}

/// Where the threads of an engine are at the start.
pub(super) struct Beginning {
    /// Whether threads are created: then `main` is the first one, and the others are places.
    pub(super) creates: bool,
    /// Where `main` stands, if it is a thread from the start.
    pub(super) main: Option<usize>,
}

/// Follows an engine on the interpreter.
pub(super) struct Follower<'r, 'p> {
    runner: &'r Runner<'p>,
    kept: &'r Kept,
    creates: bool,
    /// All states that were reached.
    nodes: Vec<Node>,
    /// Those that mean the same as the engine's last state. There are several only as long as the engine does not show
    /// which values were chosen.
    now: Vec<usize>,
    /// How many of the nodes come before the start.
    hidden: usize,
    /// For each thread of the engine, that of the program.
    threads: Vec<Option<usize>>,
    /// Whether a thread is where the engine says. One that is not stands some steps of its own before.
    arrived: Vec<bool>,
    /// The last state of the engine between two steps of the program.
    last: Situation,
    stop: &'r dyn Fn() -> bool,
}

impl<'r, 'p> Follower<'r, 'p> {
    pub(super) fn new(
        runner: &'r Runner<'p>,
        kept: &'r Kept,
        beginning: &Beginning,
        start: Situation,
        stop: &'r dyn Fn() -> bool,
    ) -> Result<Self, Lost> {
        let count = start.threads.len();
        let first = usize::from(beginning.main.is_none());
        let threads = match beginning.creates {
            true => (0..count).map(|thread| (thread == 0).then_some(0)).collect(),
            false => (0..count).map(|thread| Some(thread + first)).collect(),
        };
        let initial = runner.initial_keeping(kept);
        let nodes: Vec<_> = initial.into_iter().map(|state| Node { state, before: None }).collect();
        let now = (0..nodes.len()).collect();
        let (creates, arrived) = (beginning.creates, vec![false; count]);
        let mut follower = Self { runner, kept, creates, nodes, now, hidden: 0, threads, arrived, last: start, stop };
        if !creates {
            follower.begin(count + first, beginning.main)?;
        }
        follower.hidden = follower.nodes.len();
        follower.keep_matching();
        Ok(follower)
    }

    /// Lets `main` start the threads that are there from the start.
    fn begin(&mut self, threads: usize, main: Option<usize>) -> Result<(), Lost> {
        let mut seen: FxHashSet<State> = self.now.iter().map(|&node| self.nodes[node].state.clone()).collect();
        let (mut open, mut found) = (std::mem::take(&mut self.now), Vec::new());
        while let Some(node) = open.pop() {
            let state = &self.nodes[node].state;
            if state.threads.len() == threads && is_at_start(self.runner, main, state) {
                found.push(node);
                continue;
            }
            open.extend(self.expand(node, 0, &mut seen)?);
        }
        found.sort_unstable();
        self.now = found;
        Ok(())
    }

    /// Adds the states that a thread leads to from another.
    fn expand(&mut self, node: usize, thread: usize, seen: &mut FxHashSet<State>) -> Result<Vec<usize>, Lost> {
        if seen.len().is_multiple_of(LOOK_EVERY) && (self.stop)() {
            return Err(Lost::Stopped);
        }
        let steps = self.runner.steps_keeping(&self.nodes[node].state, thread, self.kept);
        let mut found = Vec::new();
        for step in steps.into_iter().filter(|step| step.failed.is_none()) {
            if seen.insert(step.after.clone()) {
                found.push(self.nodes.len());
                self.nodes.push(Node { state: step.after, before: Some((node, thread)) });
            }
        }
        Ok(found)
    }

    /// Leaves out states that disagree with the model.
    fn keep_matching(&mut self) {
        let goal = Goal::new(&self.threads, &self.arrived, &self.last);
        let (runner, nodes) = (self.runner, &self.nodes);
        self.now.retain(|&node| goal.is_met(runner, &nodes[node].state));
    }

    /// A thread takes a step of the program, after which the engine is in another state. `others` are the threads that the
    /// step has changed besides: they were started or woken.
    pub(super) fn follow(&mut self, actor: usize, others: &[usize], after: Situation) -> Result<(), Lost> {
        let mut count = self.now.first().map_or(0, |&node| self.nodes[node].state.threads.len());
        let woken: Vec<_> = others.iter().filter_map(|&other| self.threads[other]).collect();
        for &other in others {
            // It stands where it was put, for the engine some steps further on.
            self.arrived[other] = false;
            if self.threads[other].is_none() {
                self.threads[other] = Some(count);
                count += 1;
            }
        }
        self.arrived[actor] = true;
        self.last = after;
        self.arrive(actor, woken)?;
        for thread in 0..self.threads.len() {
            if self.creates && self.last.threads[thread].as_ref().is_some_and(Vec::is_empty) {
                self.threads[thread] = None;
            }
        }
        Ok(())
    }

    /// Lets a thread go on until the state means what the engine says, and those that it wakes are awake.
    fn arrive(&mut self, actor: usize, woken: Vec<usize>) -> Result<(), Lost> {
        let height = self.last.threads[actor].as_ref().map_or(0, Vec::len);
        let actor = self.threads[actor].ok_or("a thread moves that is not there")?;
        let goal = Goal::new(&self.threads, &self.arrived, &self.last).of(actor, woken);
        let mut level = std::mem::take(&mut self.now);
        let frames = |node: &Node| node.state.threads.get(actor).map_or(0, Vec::len);
        let highest = level.iter().map(|&node| frames(&self.nodes[node])).max().unwrap_or(0).max(height);
        let mut seen: FxHashSet<State> = level.iter().map(|&node| self.nodes[node].state.clone()).collect();
        while !level.is_empty() {
            let mut met = level.clone();
            met.retain(|&node| goal.is_met(self.runner, &self.nodes[node].state));
            if !met.is_empty() {
                // What a thread has chosen that the engine shows further on will be known when it gets there.
                let open = self.threads.iter().zip(&self.arrived).any(|(thread, arrived)| thread.is_some() && !arrived);
                met.truncate(if goal.has_choices() || open { met.len() } else { 1 });
                self.now = met;
                return Ok(());
            }
            let mut next = Vec::new();
            for node in level {
                if actor < self.nodes[node].state.threads.len() && frames(&self.nodes[node]) <= highest {
                    next.extend(self.expand(node, actor, &mut seen)?);
                }
            }
            level = next;
        }
        Err("the program cannot do what its model does".into())
    }

    /// Lets threads that stand before the point that the engine gives them go there, as far as they can.
    fn catch_up(&mut self, wanted: impl Fn(usize) -> bool) -> Result<(), Lost> {
        for thread in 0..self.threads.len() {
            let behind = self.threads[thread].is_some() && !self.arrived[thread] && !self.is_open(thread);
            if !behind || !wanted(thread) {
                continue;
            }
            let before = self.now.clone();
            self.arrived[thread] = true;
            match self.arrive(thread, Vec::new()) {
                Err(Lost::Refused(_)) => (self.now, self.arrived[thread]) = (before, false),
                other => other?,
            }
        }
        Ok(())
    }

    /// Whether it is not known where the engine has a thread.
    fn is_open(&self, thread: usize) -> bool {
        self.last.threads[thread].is_none()
    }

    /// Lets threads that stand before their points go there, all that can.
    pub(super) fn catch_up_all(&mut self) -> Result<(), Lost> {
        self.catch_up(|_| true)
    }

    /// Whether a statement has failed by which a property is violated.
    pub(super) fn fails(&self, property: &str) -> bool {
        let failed = |frames: &Vec<Frame>| frames.last().and_then(|top| top.failed);
        let failed: Vec<_> = self.last.threads.iter().flatten().filter_map(failed).collect();
        if failed.is_empty() {
            return false;
        }
        let properties = self.runner.program().properties(false);
        let wanted = properties.iter().find(|other| other.name == property);
        wanted.is_some_and(|wanted| failed.iter().any(|goal| wanted.never.contains(goal)))
    }

    /// The execution that ends in the last state, and violates a property there; `full` is the thread that wants to start
    /// another one for which there is no place, if that is what happens.
    pub(super) fn finish(mut self, property: &str, full: Option<usize>) -> Result<Execution, Lost> {
        let (runner, program) = (self.runner, self.runner.program());
        let labels: Vec<_> = program.unreachable.iter().filter(|target| target.label == property).collect();
        let stands = |frames: &Vec<Frame>| {
            frames.last().is_some_and(|frame| {
                let stands: Vec<_> = runner.stands_at(frame.procedure, frame.position).collect();
                labels.iter().any(|label| label.procedure == frame.procedure && stands.contains(&label.position))
            })
        };
        let standing: Vec<_> = self.last.threads.iter().map(|frames| frames.as_ref().is_some_and(stands)).collect();
        self.catch_up(|thread| property == DEADLOCK || standing[thread] || full == Some(thread))?;
        let full = full.and_then(|thread| self.threads[thread]);
        let mut node = *self.now.first().ok_or("there is no last state")?;
        let (mut steps, mut hidden) = (Vec::new(), 0);
        while let Some((before, thread)) = self.nodes[node].before {
            hidden += usize::from(node < self.hidden);
            steps.push((thread, self.nodes[node].state.clone()));
            node = before;
        }
        steps.reverse();
        let way = Way { first: self.nodes[node].state.clone(), steps, hidden, full };
        steer::execution(runner, self.kept, property, &way, self.stop)
    }
}
