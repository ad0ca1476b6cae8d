//! From a trace of the compiled model to an execution of the program.
//!
//! The steps of the model are followed on the interpreter, which knows nothing of the compiler: whenever the model is
//! between two steps of the program, the interpreter must be able to get, with steps of the same thread, to a state that
//! means the same. So a mistake of the compiler cannot hide: either there is an execution of the program that does what
//! the trace says, or the trace is refused.
//!
//! That is done twice. First with the values that the model has forgotten left open, so that nothing has to be guessed:
//! one way of statements is found. Then this way is gone with values for all variables; where the model has a value it
//! is the one, elsewhere the first that is possible.

mod goal;
mod steer;

use rustc_hash::FxHashSet;
use tepui_model::program::run::{State, Step};
use tepui_model::program::step::Runner;
use tepui_model::program::{DEADLOCK, Program};
use tepui_model::pushdown;

use super::table::{Compiled, Legend, Phase};
use goal::{Goal, is_at_start};
use steer::Forgetting;

/// After how many states it is asked whether to stop.
const LOOK_EVERY: usize = 256;

/// An execution of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    /// The state at the start, when the threads that are there from the start have been started.
    pub start: State,
    /// The steps, each with the number of the thread that takes it.
    pub steps: Vec<(usize, Step)>,
}

/// Why there is no execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lost {
    /// The program cannot do what the trace says.
    Refused(String),
    /// The caller wanted it to end.
    Stopped,
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
        }
    }
}

/// The execution of a program that a trace of its model stands for: its states, and the steps between them. The last of
/// the states violates the property. From time to time it is asked whether to stop.
///
/// In the model a thread that is started or woken is at once where its own steps lead it. In the program it takes them
/// when it is its turn; only if that is too late, since another thread is not to be interrupted any more, as soon as it can.
pub fn retrace(
    program: &Program,
    compiled: &Compiled,
    property: &str,
    start: &pushdown::State,
    steps: &[(usize, &pushdown::State)],
    stop: &dyn Fn() -> bool,
) -> Result<Execution, Lost> {
    let attempt = |eager: bool| {
        let runner = Runner::new(program);
        let mut follower = Follower::new(&runner, &compiled.legend, start, stop)?;
        for (number, (thread, after)) in steps.iter().enumerate() {
            if follower.fails(property) {
                break;
            }
            if eager {
                follower.catch_up(|_| true)?;
            }
            follower.follow(*thread, after).map_err(|lost| match lost {
                Lost::Refused(why) => Lost::Refused(format!("step {}: {why}", number + 1)),
                Lost::Stopped => Lost::Stopped,
            })?;
        }
        let way = follower.finish(property)?;
        let forgetting = Forgetting { kept: compiled.legend.kept() };
        steer::execution(&runner, &forgetting, property, &way, stop)
    };
    attempt(false).or_else(|lost| match lost {
        Lost::Refused(_) => attempt(true).map_err(|_| lost),
        Lost::Stopped => Err(lost),
    })
}

/// A state with open values, and how it was reached.
struct Node {
    state: State,
    /// The number of the state before, and the thread that took the step.
    before: Option<(usize, usize)>,
}

/// A way of the program: states with open values, each with the thread that takes the step to it.
pub(super) struct Way {
    /// The first state, in which `main` begins.
    first: State,
    /// The steps, those before the start of the execution included.
    steps: Vec<(usize, State)>,
    /// How many of them come before the start.
    hidden: usize,
    /// Whether there was no place for a thread at the end.
    full: bool,
}

struct Follower<'r, 'p> {
    runner: &'r Runner<'p>,
    legend: &'r Legend,
    forgetting: Forgetting<'r>,
    /// All states that were reached.
    nodes: Vec<Node>,
    /// Those that mean the same as the model's last state. There are several only as long as values are to be chosen, or
    /// the model does not show which were.
    now: Vec<usize>,
    /// How many of the nodes come before the start.
    hidden: usize,
    /// For each thread of the model, that of the program.
    threads: Vec<Option<usize>>,
    /// Whether a thread is where the model says. One that is not stands some steps of its own before.
    arrived: Vec<bool>,
    /// The last state of the model between two steps of the program, and the last of all.
    last: &'r pushdown::State,
    latest: &'r pushdown::State,
    /// Who began the step that is not complete, and how many threads were started in it.
    between: Option<(usize, usize)>,
    phase: Phase,
    stop: &'r dyn Fn() -> bool,
}

impl<'r, 'p> Follower<'r, 'p> {
    fn new(
        runner: &'r Runner<'p>,
        legend: &'r Legend,
        start: &'r pushdown::State,
        stop: &'r dyn Fn() -> bool,
    ) -> Result<Self, Lost> {
        let count = start.stacks.len();
        let first = usize::from(legend.main().is_none());
        let threads = match legend.creates_threads() {
            true => (0..count).map(|thread| (thread == 0).then_some(0)).collect(),
            false => (0..count).map(|thread| Some(thread + first)).collect(),
        };
        let forgetting = Forgetting { kept: legend.kept() };
        let initial = runner.initial_keeping(&forgetting);
        let nodes: Vec<_> = initial.into_iter().map(|state| Node { state, before: None }).collect();
        let (now, phase) = ((0..nodes.len()).collect(), legend.phase(start.shared));
        let mut follower = Self {
            runner,
            legend,
            forgetting,
            nodes,
            now,
            hidden: 0,
            threads,
            arrived: vec![false; count],
            last: start,
            latest: start,
            between: None,
            phase,
            stop,
        };
        if !legend.creates_threads() {
            follower.begin(count + first)?;
        }
        follower.hidden = follower.nodes.len();
        if phase == Phase::Open {
            follower.keep_matching(start);
        }
        Ok(follower)
    }

    /// Lets `main` start the threads that are there from the start.
    fn begin(&mut self, threads: usize) -> Result<(), Lost> {
        let mut seen: FxHashSet<State> = self.now.iter().map(|&node| self.nodes[node].state.clone()).collect();
        let (mut open, mut found) = (std::mem::take(&mut self.now), Vec::new());
        while let Some(node) = open.pop() {
            let state = &self.nodes[node].state;
            if state.threads.len() == threads && is_at_start(self.runner, self.legend, state) {
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
        let steps = self.runner.steps_keeping(&self.nodes[node].state, thread, &self.forgetting);
        let mut found = Vec::new();
        for step in steps.into_iter().filter(|step| !step.failed) {
            if seen.insert(step.after.clone()) {
                found.push(self.nodes.len());
                self.nodes.push(Node { state: step.after, before: Some((node, thread)) });
            }
        }
        Ok(found)
    }

    /// Leaves out states that disagree with the model.
    fn keep_matching(&mut self, model: &pushdown::State) {
        let goal = Goal::new(self.legend, &self.threads, &self.arrived, model);
        let (runner, nodes) = (self.runner, &self.nodes);
        self.now.retain(|&node| goal.is_met(runner, &nodes[node].state));
    }

    fn follow(&mut self, thread: usize, after: &'r pushdown::State) -> Result<(), Lost> {
        let phase = self.legend.phase(after.shared);
        let (actor, mut started) = self.between.unwrap_or((thread, 0));
        let shows = after.stacks[thread].last().is_some_and(|&top| self.legend.frame(thread, top).is_some());
        if self.between.is_some() && thread != actor {
            // It was started or woken: it stands where it was put, the model some steps further on.
            self.arrived[thread] = false;
            if self.threads[thread].is_none() && shows {
                let count = self.now.first().map_or(0, |&node| self.nodes[node].state.threads.len());
                self.threads[thread] = Some(count + started);
                started += 1;
            }
        }
        (self.phase, self.latest) = (phase, after);
        match phase {
            Phase::Between => self.between = Some((actor, started)),
            Phase::Open => {
                (self.between, self.last, self.arrived[actor]) = (None, after, true);
                self.arrive(actor, after)?;
                for (thread, stack) in after.stacks.iter().enumerate() {
                    if self.legend.creates_threads() && stack.is_empty() {
                        self.threads[thread] = None;
                    }
                }
            }
            Phase::Full | Phase::Stuck => {}
        }
        Ok(())
    }

    /// Lets a thread go on until the state means what the model says.
    fn arrive(&mut self, actor: usize, model: &pushdown::State) -> Result<(), Lost> {
        let height = model.stacks[actor].len();
        let actor = self.threads[actor].ok_or("a thread moves that is not there")?;
        let goal = Goal::new(self.legend, &self.threads, &self.arrived, model).of(actor);
        let mut level = std::mem::take(&mut self.now);
        let frames = |node: &Node| node.state.threads.get(actor).map_or(0, Vec::len);
        let highest = level.iter().map(|&node| frames(&self.nodes[node])).max().unwrap_or(0).max(height);
        let mut seen: FxHashSet<State> = level.iter().map(|&node| self.nodes[node].state.clone()).collect();
        while !level.is_empty() {
            let mut met = level.clone();
            met.retain(|&node| goal.is_met(self.runner, &self.nodes[node].state));
            if !met.is_empty() {
                // What a thread has chosen that the model shows further on will be known when it gets there.
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

    /// Lets threads that stand before the point that the model gives them go there, as far as they can.
    fn catch_up(&mut self, wanted: impl Fn(usize) -> bool) -> Result<(), Lost> {
        for thread in 0..self.threads.len() {
            let behind = self.threads[thread].is_some() && !self.arrived[thread] && !self.is_open(thread);
            if !behind || !wanted(thread) {
                continue;
            }
            let before = self.now.clone();
            self.arrived[thread] = true;
            match self.arrive(thread, self.last) {
                Err(Lost::Refused(_)) => (self.now, self.arrived[thread]) = (before, false),
                other => other?,
            }
        }
        Ok(())
    }

    /// Whether the model has not yet chosen the values with which a thread begins.
    fn is_open(&self, thread: usize) -> bool {
        self.last.stacks[thread].iter().any(|&symbol| self.legend.frame(thread, symbol).is_none())
    }

    /// Whether an assertion of a property has failed.
    fn fails(&self, property: &str) -> bool {
        let failed = |(thread, stack): (usize, &Vec<pushdown::Symbol>)| {
            let frame = self.legend.frame(thread, *stack.last()?)?;
            Some(frame.failed && self.runner.program().assertion_name(frame.procedure, frame.position) == property)
        };
        self.between.is_none() && self.last.stacks.iter().enumerate().any(|stack| failed(stack).unwrap_or(false))
    }

    /// The way to the last state.
    fn finish(mut self, property: &str) -> Result<Way, Lost> {
        let program = self.runner.program();
        let labels: Vec<_> = program.unreachable.iter().filter(|target| target.label == property).collect();
        // A thread may reach a label before what it does, or what started it, is complete in the model.
        if let Some((actor, _)) = self.between
            && !labels.is_empty()
        {
            self.arrived[actor] = true;
            self.arrive(actor, self.latest)?;
            self.last = self.latest;
        }
        let (runner, legend, last) = (self.runner, self.legend, self.last);
        let stands = |thread: usize| {
            let top = last.stacks[thread].last().and_then(|&top| legend.frame(thread, top));
            top.is_some_and(|frame| {
                let stands = runner.stands_at(frame.procedure, frame.position);
                labels.iter().any(|label| label.procedure == frame.procedure && stands.contains(&label.position))
            })
        };
        self.catch_up(|thread| property == DEADLOCK || stands(thread))?;
        let mut node = *self.now.first().ok_or("there is no last state")?;
        let (mut steps, mut hidden) = (Vec::new(), 0);
        while let Some((before, thread)) = self.nodes[node].before {
            hidden += usize::from(node < self.hidden);
            steps.push((thread, self.nodes[node].state.clone()));
            node = before;
        }
        steps.reverse();
        Ok(Way { first: self.nodes[node].state.clone(), steps, hidden, full: self.phase == Phase::Full })
    }
}
