//! From a trace of the compiled model to an execution of the program.
//!
//! The steps of the model are followed on the interpreter, which knows nothing of the compiler: whenever the model is
//! between two steps of the program, the interpreter must be able to get, with steps of the same thread, to a state that
//! means the same. What the model has forgotten is not compared. So a mistake of the compiler cannot hide: either there
//! is an execution of the program that does what the trace says, or the trace is refused.

use std::collections::HashSet;

use tepui_model::program::Program;
use tepui_model::program::run::{Runner, State, Step};
use tepui_model::pushdown;

use super::compile::{Compiled, DEADLOCK, Frame, Legend, Phase, THREAD_LIMIT, assertion};

/// The most states that are looked at between two states of the model.
const MOST_STATES: usize = 200_000;

/// An execution of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    /// The state at the start, when the threads that are there from the start have been started.
    pub start: State,
    /// The steps, each with the number of the thread that takes it.
    pub steps: Vec<(usize, Step)>,
}

/// The execution of a program that a trace of its model stands for: its states, and the steps between them. The last of
/// the states violates the property.
pub fn retrace(
    program: &Program,
    compiled: &Compiled,
    property: &str,
    start: &pushdown::State,
    steps: &[(usize, &pushdown::State)],
) -> Result<Execution, String> {
    let program = &without_choices_that_do_not_matter(program, &compiled.legend);
    let runner = Runner::new(program);
    let mut follower = Follower::new(&runner, &compiled.legend, start)?;
    for (number, (thread, after)) in steps.iter().enumerate() {
        follower.follow(*thread, after).map_err(|why| format!("step {}: {why}", number + 1))?;
    }
    follower.finish(program, property)
}

/// Where a value may be anything and nothing depends on it, it is 0: that leaves fewer ways to try.
fn without_choices_that_do_not_matter(program: &Program, legend: &Legend) -> Program {
    let mut program = program.clone();
    for (number, variable) in program.shared.iter_mut().enumerate() {
        variable.init = variable.init.or(legend.forgets(number).then_some(0));
    }
    for (number, procedure) in program.procedures.iter_mut().enumerate() {
        let entry = procedure.body.first().copied().unwrap_or(procedure.statements.len());
        for (local, variable) in procedure.locals.iter_mut().enumerate() {
            variable.init = variable.init.or(legend.forgets_local(number, entry, local).then_some(0));
        }
    }
    program
}

/// The number of the state before, a thread, and its step.
type Taken = (usize, usize, Step);

struct Follower<'r, 'p> {
    runner: &'r Runner<'p>,
    legend: &'r Legend,
    /// All states that were reached, each with the number of the one before and the step of a thread that leads to it.
    nodes: Vec<(State, Option<Taken>)>,
    /// Those that mean the same as the model's last state. There are several only as long as values are to be chosen.
    now: Vec<usize>,
    /// For each thread of the model, that of the program.
    threads: Vec<Option<usize>>,
    /// Whether a thread has moved. One that has not may stand a few steps before the point that the model gives it.
    moved: Vec<bool>,
    /// The last state of the model between two steps of the program.
    last: &'r pushdown::State,
    /// Who began the step that is not complete, and how many threads were started in it.
    between: Option<(usize, usize)>,
    phase: Phase,
}

impl<'r, 'p> Follower<'r, 'p> {
    fn new(runner: &'r Runner<'p>, legend: &'r Legend, start: &'r pushdown::State) -> Result<Self, String> {
        let count = start.stacks.len();
        let first = usize::from(legend.main().is_none());
        let threads = match legend.creates_threads() {
            true => (0..count).map(|thread| (thread == 0).then_some(0)).collect(),
            false => (0..count).map(|thread| Some(thread + first)).collect(),
        };
        let mut states = runner.initial();
        if !legend.creates_threads() {
            let there = |state: &State| state.threads.len() == count + first && at_start(runner, legend, state);
            states = states.into_iter().flat_map(|state| alone(runner, state, &there)).collect();
        }
        let phase = legend.phase(start.shared);
        let now = (0..states.len()).collect();
        let nodes = states.into_iter().map(|state| (state, None)).collect();
        let (moved, last) = (vec![false; count], start);
        let mut follower = Self { runner, legend, nodes, now, threads, moved, last, between: None, phase };
        if phase == Phase::Open {
            follower.arrive(0, start)?;
        }
        Ok(follower)
    }

    fn follow(&mut self, thread: usize, after: &'r pushdown::State) -> Result<(), String> {
        let phase = self.legend.phase(after.shared);
        let (actor, started) = self.between.unwrap_or((thread, 0));
        let mut started = started;
        let wakes = after.stacks[thread].last().is_some_and(|&top| self.legend.frame(thread, top).is_some());
        if self.between.is_some() && self.threads[thread].is_none() && wakes {
            let count = self.now.first().map_or(0, |&node| self.nodes[node].0.threads.len());
            (self.threads[thread], self.moved[thread]) = (Some(count + started), true);
            started += 1;
        }
        self.phase = phase;
        match phase {
            Phase::Between => self.between = Some((actor, started)),
            Phase::Open => {
                (self.between, self.last, self.moved[actor]) = (None, after, true);
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
    fn arrive(&mut self, actor: usize, goal: &pushdown::State) -> Result<(), String> {
        let actor = self.threads[actor].ok_or("a thread moves that is not there")?;
        let goal = Goal::new(self.legend, &self.threads, &self.moved, goal);
        let mut level = std::mem::take(&mut self.now);
        let mut seen: HashSet<State> = level.iter().map(|&node| self.nodes[node].0.clone()).collect();
        loop {
            let mut met = level.clone();
            met.retain(|&node| goal.is_met(self.runner, &self.nodes[node].0));
            if !met.is_empty() {
                met.truncate(if goal.choices { met.len() } else { 1 });
                self.now = met;
                return Ok(());
            }
            let mut next = Vec::new();
            level.retain(|&node| actor < self.nodes[node].0.threads.len());
            for node in level {
                for step in self.runner.steps(&self.nodes[node].0, actor) {
                    if !step.failed && seen.insert(step.after.clone()) {
                        next.push(self.nodes.len());
                        self.nodes.push((step.after.clone(), Some((node, actor, step))));
                    }
                }
            }
            level = next;
            if level.is_empty() || seen.len() > MOST_STATES {
                return Err("the program cannot do what its model does".to_owned());
            }
        }
    }

    /// The execution, if its last state violates a property.
    fn finish(mut self, program: &Program, property: &str) -> Result<Execution, String> {
        let stuck = self.now.first().is_some_and(|&node| self.runner.stuck(&self.nodes[node].0));
        if property == DEADLOCK && !stuck {
            for thread in (0..self.moved.len()).filter(|&thread| self.threads[thread].is_some()).collect::<Vec<_>>() {
                self.moved[thread] = true;
                self.arrive(thread, self.last)?;
            }
        }
        let last = *self.now.first().ok_or("there is no last state")?;
        let state = &self.nodes[last].0;
        let labels = self.runner.reached(state);
        let label = labels.iter().any(|&label| program.unreachable[label].label == property);
        let (violated, failure) = match property {
            DEADLOCK => (self.runner.stuck(state), None),
            THREAD_LIMIT => (self.phase == Phase::Full, None),
            _ if label => (true, None),
            _ => {
                let failure = self.failure(program, state, property);
                (failure.is_some(), failure)
            }
        };
        if !violated {
            return Err(format!("the program does not violate {property} there"));
        }
        let before = |&node: &usize| self.nodes[node].1.as_ref().map(|(before, ..)| *before);
        let mut way: Vec<_> = std::iter::successors(Some(last), before).collect();
        way.reverse();
        let taken = |&node: &usize| self.nodes[node].1.as_ref().map(|(_, thread, step)| (*thread, step.clone()));
        let steps = way.iter().filter_map(taken).chain(failure).collect();
        Ok(Execution { start: self.nodes[way[0]].0.clone(), steps })
    }

    /// The step that fails an assertion.
    fn failure(&self, program: &Program, state: &State, property: &str) -> Option<(usize, Step)> {
        let steps = |thread| self.runner.steps(state, thread).into_iter().map(move |step| (thread, step));
        (0..state.threads.len())
            .flat_map(steps)
            .find(|(_, step)| step.failed && assertion(program, step.at) == property)
    }
}

/// Whether `main` stands where the model says that it does at the start, all others being at their beginning.
fn at_start(runner: &Runner<'_>, legend: &Legend, state: &State) -> bool {
    match (legend.main(), state.threads[0].frames.last()) {
        (Some(position), Some(frame)) => {
            runner.first_of(frame.procedure, frame.position) == runner.first_of(frame.procedure, position)
        }
        (None, None) => true,
        _ => false,
    }
}

/// The states that satisfy a condition, the first on each way, when only the first thread moves.
fn alone(runner: &Runner<'_>, state: State, there: &dyn Fn(&State) -> bool) -> Vec<State> {
    let mut seen = HashSet::from([state.clone()]);
    let (mut open, mut found) = (vec![state], Vec::new());
    while let Some(state) = open.pop() {
        if there(&state) {
            found.push(state);
            continue;
        }
        for step in runner.steps(&state, 0).into_iter().filter(|step| !step.failed) {
            if seen.len() < MOST_STATES && seen.insert(step.after.clone()) {
                open.push(step.after);
            }
        }
    }
    found
}

/// A state of the model, in terms of the program.
struct Goal {
    shared: Vec<Option<u32>>,
    /// For each thread of the program that has moved its frames; none, if nothing is known of it.
    threads: Vec<(usize, Option<Vec<Frame>>)>,
    /// Whether values of local variables are still to be chosen.
    choices: bool,
}

impl Goal {
    fn new(legend: &Legend, threads: &[Option<usize>], moved: &[bool], state: &pushdown::State) -> Self {
        let frames = |thread: usize| -> Option<Vec<Frame>> {
            state.stacks[thread].iter().map(|&symbol| legend.frame(thread, symbol)).collect()
        };
        let known = threads.iter().enumerate().filter_map(|(thread, number)| Some((thread, (*number)?)));
        let known: Vec<_> = known.map(|(thread, number)| (thread, number, frames(thread))).collect();
        let choices = known.iter().any(|(.., frames)| frames.is_none());
        let known = known.into_iter().filter(|(thread, ..)| moved[*thread]);
        let threads = known.map(|(_, number, frames)| (number, frames)).collect();
        Self { shared: legend.shared(state.shared), threads, choices }
    }

    fn is_met(&self, runner: &Runner<'_>, state: &State) -> bool {
        agree(&self.shared, &state.shared)
            && self.threads.iter().all(|(thread, frames)| match (state.threads.get(*thread), frames) {
                (Some(_), None) => true,
                (Some(found), Some(frames)) => {
                    let asleep = frames.last().is_some_and(|frame| frame.asleep);
                    frames.len() == found.frames.len()
                        && (asleep || !found.asleep)
                        && frames.iter().enumerate().all(|(depth, frame)| {
                            let top = depth + 1 == frames.len();
                            stands(runner, frame, &found.frames[depth], top) && fails(runner, state, *thread, frame)
                        })
                }
                (None, _) => false,
            })
    }
}

fn agree(known: &[Option<u32>], values: &[u32]) -> bool {
    known.iter().zip(values).all(|(known, value)| known.is_none_or(|known| known == *value))
}

fn stands(runner: &Runner<'_>, frame: &Frame, found: &tepui_model::program::run::Frame, top: bool) -> bool {
    if frame.procedure != found.procedure {
        return false;
    }
    let procedure = frame.procedure;
    let stands_at = runner.first_of(procedure, found.position);
    let same = match top || frame.calling {
        true => stands_at == runner.first_of(procedure, frame.position),
        // The model's frame is already where it goes on.
        false => runner.following(procedure, stands_at) == frame.position,
    };
    same && agree(&frame.locals, &found.locals)
}

fn fails(runner: &Runner<'_>, state: &State, thread: usize, frame: &Frame) -> bool {
    !frame.failed || runner.steps(state, thread).iter().any(|step| step.failed)
}
