//! From a schedule to an execution: tasks run in its order, in all ways, until a way leaves behind what it says.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use tepui_cert::program::{Step, Trace};
use tepui_core::{Budget, Stop};
use tepui_model::program::run::State;
use tepui_model::program::step::{Runner, Value};
use tepui_model::program::{Goal, Program, Property, Run, Schedule};

/// A trace of a program that keeps to a schedule.
pub fn follow(program: &Arc<Program>, schedule: &Schedule, budget: &mut Budget) -> Result<Trace, Stop> {
    let runner = Runner::new(program);
    let named = program.properties(false).into_iter().find(|property| property.name == schedule.property);
    let property = named.ok_or_else(|| Stop::defect("a schedule violates a property that there is not"))?;
    let start = runner.initial().into_iter().next().ok_or_else(|| Stop::defect("the program has no start"))?;
    let follower = Follower { runner: &runner, schedule, property: &property };
    let steps = follower.search(start.clone(), budget)?;
    let lost = || Stop::NotConfirmed("no execution of the program keeps to the schedule".to_owned());
    Ok(Trace {
        program: program.digest(),
        property: property.name.clone(),
        start: start.shared.to_vec(),
        hidden: 0,
        scheduler: Some("dfs".to_owned()),
        steps: steps.ok_or_else(lost)?,
    })
}

struct Follower<'a> {
    runner: &'a Runner<'a>,
    schedule: &'a Schedule,
    property: &'a Property,
}

/// Where an execution is after some runs: the state, and for each task of the schedule where it stands in the state, and
/// which tasks it has posted.
#[derive(Clone)]
struct Place {
    state: State,
    threads: Vec<Option<usize>>,
    posts: Vec<Vec<usize>>,
}

/// A state on the way of a run, and the step from the state before.
struct Node {
    state: State,
    before: Option<(usize, Step)>,
}

/// All ways of a run, breadth first.
struct Ways {
    place: Place,
    thread: usize,
    nodes: Vec<Node>,
    open: VecDeque<usize>,
    seen: FxHashSet<State>,
    /// The steps of the runs before.
    taken: usize,
}

impl Follower<'_> {
    /// Depth first over the runs.
    fn search(&self, start: State, budget: &mut Budget) -> Result<Option<Vec<Step>>, Stop> {
        let count = self.schedule.posted.len();
        let mut threads = vec![None; count];
        threads[0] = Some(0);
        let first = Place { state: start, threads, posts: vec![Vec::new(); count] };
        let mut steps: Vec<Step> = Vec::new();
        let mut path: Vec<Ways> = self.ways(first, 0, 0).into_iter().collect();
        while let Some(number) = path.len().checked_sub(1) {
            let ways = &mut path[number];
            steps.truncate(ways.taken);
            let run = &self.schedule.runs[number];
            let Some(end) = self.next_end(ways, run, budget)? else {
                path.pop();
                continue;
            };
            let End { way, state } = end;
            steps.extend(way);
            let Some(state) = state else { return Ok(Some(steps)) };
            let place = self.after(ways, run.task, state);
            path.extend(self.ways(place, number + 1, steps.len()));
        }
        Ok(None)
    }

    /// The ways of a run, if its task is there.
    fn ways(&self, mut place: Place, number: usize, taken: usize) -> Option<Ways> {
        let task = self.schedule.runs.get(number)?.task;
        if let (None, Some((by, nth))) = (place.threads[task], self.schedule.posted[task]) {
            place.threads[task] = Some(*place.posts[by].get(nth)?);
        }
        let thread = place.threads[task]?;
        let nodes = vec![Node { state: place.state.clone(), before: None }];
        let seen = [place.state.clone()].into_iter().collect();
        Some(Ways { place, thread, nodes, open: VecDeque::from([0]), seen, taken })
    }

    /// Where an execution is after a run.
    fn after(&self, ways: &Ways, task: usize, state: State) -> Place {
        let Place { threads, mut posts, state: before } = ways.place.clone();
        posts[task].extend(before.threads.len()..state.threads.len());
        Place { state, threads, posts }
    }

    /// The next way of a run to where it ends as it must.
    fn next_end(&self, ways: &mut Ways, run: &Run, budget: &mut Budget) -> Result<Option<End>, Stop> {
        while let Some(at) = ways.open.pop_front() {
            budget.spend(1)?;
            let state = ways.nodes[at].state.clone();
            // The first task runs from the start; others are dispatched.
            let rests = state.running().is_none() && at > 0;
            if rests {
                if run.leaves.as_ref().is_some_and(|leaves| agree(&state.shared, leaves)) {
                    return Ok(Some(End { way: way(&ways.nodes, at), state: Some(state) }));
                }
                continue;
            }
            let reaches = |goal: &Goal| matches!(goal, Goal::Reached(..)) && self.stands(&state, *goal);
            if run.leaves.is_none() && self.property.never.iter().any(reaches) {
                return Ok(Some(End { way: way(&ways.nodes, at), state: None }));
            }
            for taken in self.runner.steps_of(&state, ways.thread) {
                let result = self.runner.number_of(&state, ways.thread, &taken);
                let result = result.ok_or_else(|| Stop::defect("a step is not one of the program"))?;
                let step = Step { thread: ways.thread, at: taken.at, result, shared: taken.after.shared.to_vec() };
                match taken.failed {
                    Some(goal) if run.leaves.is_none() && self.property.never.contains(&goal) => {
                        let mut steps = way(&ways.nodes, at);
                        steps.push(step);
                        return Ok(Some(End { way: steps, state: None }));
                    }
                    Some(_) => {}
                    None if ways.seen.insert(taken.after.clone()) => {
                        ways.open.push_back(ways.nodes.len());
                        ways.nodes.push(Node { state: taken.after, before: Some((at, step)) });
                    }
                    None => {}
                }
            }
        }
        Ok(None)
    }

    /// Whether a label has been reached.
    fn stands(&self, state: &State, goal: Goal) -> bool {
        let labels = &self.runner.program().unreachable;
        self.runner
            .reached(state)
            .iter()
            .any(|&label| Goal::Reached(labels[label].procedure, labels[label].position) == goal)
    }
}

/// The end of a way: the steps, and the state there, unless the property is violated.
struct End {
    way: Vec<Step>,
    state: Option<State>,
}

/// The steps that lead to a node.
fn way(nodes: &[Node], mut at: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some((before, step)) = &nodes[at].before {
        steps.push(step.clone());
        at = *before;
    }
    steps.reverse();
    steps
}

/// Whether values may be the same. One that nobody has read yet may be any.
fn agree(values: &[Value], others: &[Value]) -> bool {
    let same = |(one, other): (&Value, &Value)| one == other || one.known().is_none() || other.known().is_none();
    values.iter().zip(others).all(same)
}
