//! From a way through runs to an execution on the interpreter.
//!
//! Runs forget values that do not matter, and leave values open that are not read where they matter. So an execution is looked for that
//! shows the same where something is known: step by step, and with another result where it turns out to lead nowhere.

use rustc_hash::FxHashSet;
use tepui_cert::program::{Step, Trace};
use tepui_core::{Budget, Stop};
use tepui_model::program::run::{State, Step as Taken};
use tepui_model::program::step::{Frame, Keep, Runner, Value};
use tepui_model::program::{Goal, Property};

use super::runs::{Form, How, Ledger, Runs};
use super::{ENDED, Machine};

/// A point on the way of a task: what it has posted with the step that leads there, too.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    shared: u32,
    stack: u32,
    posted: Vec<u32>,
}

/// The way of a task from its dispatch.
pub(super) type Way = Vec<Seen>;

/// The way to an item; where entries are nested, through the calls that lead to each, the outermost first.
pub(super) fn way<L: Ledger>(machine: &mut Machine, runs: &Runs<L>, calls: &[(u32, u32)], item: u32) -> Way {
    let (mut found, mut below) = (Way::new(), ENDED);
    for &(call, caller) in calls {
        unfold(machine, runs, call, below, &mut found);
        below = if below == ENDED { caller } else { machine.above(below, caller) };
    }
    unfold(machine, runs, item, below, &mut found);
    found
}

impl<L: Ledger> Runs<L> {
    /// The way from an entry to something that must not happen, in it or in what it calls.
    pub(super) fn way_to_failure(&self, machine: &mut Machine, entry: u32, goal: Goal) -> Option<Way> {
        let passed = self.passed(entry);
        let fails = |entry: u32| {
            let failures = &self.entries[entry as usize].failures;
            failures.iter().copied().find(|&item| self.items[item as usize].form == Form::Failed(goal))
        };
        let (mut at, item) = passed.iter().find_map(|&(entry, _)| Some((entry, fails(entry)?)))?;
        let mut calls = Vec::new();
        while let Some((_, Some((call, caller)))) = passed.iter().find(|(own, _)| *own == at) {
            calls.push((*call, *caller));
            at = self.items[*call as usize].entry;
        }
        calls.reverse();
        Some(way(machine, self, &calls, item))
    }
}

/// What is still to be told of a way, the last first.
enum Rest {
    /// All that leads to an item, and the item, above some frames.
    Item(u32, u32),
    /// A point.
    Point(Seen),
}

fn unfold<L: Ledger>(machine: &mut Machine, runs: &Runs<L>, item: u32, below: u32, found: &mut Way) {
    let mut rest = vec![Rest::Item(item, below)];
    while let Some(next) = rest.pop() {
        let (item, below) = match next {
            Rest::Point(seen) => {
                found.push(seen);
                continue;
            }
            Rest::Item(item, below) => (item, below),
        };
        let own = &runs.items[item as usize];
        let how = &runs.how[item as usize];
        let posted = if let How::Step { posted, .. } = how { posted.to_vec() } else { Vec::new() };
        let whole = |machine: &mut Machine, stack| match (stack, below) {
            (ENDED, _) => ENDED,
            (stack, ENDED) => stack,
            (stack, below) => machine.above(below, stack),
        };
        let point = match own.form {
            Form::Begun => Some(runs.entries[own.entry as usize].point.1),
            Form::Stack(stack) => Some(stack),
            Form::Returned(_) | Form::Failed(_) => None,
        };
        let seen = point.map(|stack| Seen { shared: own.shared, stack: whole(machine, stack), posted });
        match *how {
            How::Start => rest.extend(seen.map(Rest::Point)),
            How::Step { from, .. } => {
                rest.extend(seen.map(Rest::Point));
                rest.push(Rest::Item(from, below));
            }
            How::Call { from, caller, exit } => {
                let returned = matches!(runs.items[exit as usize].form, Form::Returned(_));
                rest.extend(seen.filter(|_| returned).map(Rest::Point));
                let caller = whole(machine, caller);
                rest.push(Rest::Item(exit, caller));
                rest.push(Rest::Item(from, below));
            }
        }
    }
}

/// Follows ways of tasks, one dispatch after the other, to something that must not happen.
pub(super) fn follow(
    machine: &Machine,
    runner: &Runner<'_>,
    ways: &[Way],
    goal: Goal,
    property: &Property,
    budget: &mut Budget,
) -> Result<Trace, Stop> {
    let start = runner.initial().into_iter().next().ok_or_else(|| Stop::defect("the program has no start"))?;
    let mut follower = Follower { machine, runner, ways, goal, dead: FxHashSet::default() };
    let steps = follower.search(start.clone(), budget)?;
    let lost = || Stop::NotConfirmed("an execution of tasks could not be followed on the interpreter".to_owned());
    let (program, property) = (machine.program.digest(), property.name.clone());
    let (start, steps) = (start.shared.to_vec(), steps.ok_or_else(lost)?);
    Ok(Trace { program, property, start, hidden: 0, scheduler: None, steps })
}

/// How far an execution is: the dispatch, the next point of its way, and the task.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct At {
    way: usize,
    point: usize,
    task: usize,
}

struct Follower<'a, 'r> {
    machine: &'a Machine,
    runner: &'a Runner<'r>,
    ways: &'a [Way],
    goal: Goal,
    /// What leads nowhere.
    dead: FxHashSet<(At, State)>,
}

/// Where an execution may go on, and the step that leads there.
type Next = (At, State, Option<Step>);

/// A place on the way, the step that leads there, and where it is left to try to go on.
struct Choice {
    at: At,
    state: State,
    step: Option<Step>,
    left: Vec<Next>,
}

impl Follower<'_, '_> {
    /// Depth first, with memory of what leads nowhere.
    fn search(&mut self, start: State, budget: &mut Budget) -> Result<Option<Vec<Step>>, Stop> {
        let mut path = vec![self.choice((At { way: 0, point: 1, task: 0 }, start, None))];
        while let Some(last) = path.last_mut() {
            budget.spend(1)?;
            let Some(next) = last.left.pop() else {
                path.pop().into_iter().for_each(|done| _ = self.dead.insert((done.at, done.state)));
                continue;
            };
            if next.0.way == self.ways.len() {
                let steps = path.into_iter().filter_map(|choice| choice.step).chain(next.2);
                return Ok(Some(steps.collect()));
            }
            if self.dead.is_empty() || !self.dead.contains(&(next.0, next.1.clone())) {
                let choice = self.choice(next);
                path.push(choice);
            }
        }
        Ok(None)
    }

    fn choice(&self, (at, state, step): Next) -> Choice {
        let mut left = self.next(at, &state);
        left.reverse();
        Choice { at, state, step, left }
    }

    /// What may come next: a step on the way of a task, or the next dispatch.
    fn next(&self, at: At, state: &State) -> Vec<Next> {
        let way = &self.ways[at.way];
        if let Some(seen) = way.get(at.point) {
            let fits = |taken: &Taken| taken.failed.is_none() && self.shows(taken, state, at.task, seen);
            return self.taken(state, at.task, &fits, At { point: at.point + 1, ..at });
        }
        if at.way + 1 == self.ways.len() {
            let end = At { way: self.ways.len(), point: 0, task: 0 };
            return match self.goal {
                Goal::Reached(..) => vec![(end, state.clone(), None)],
                Goal::Deadlock => self.runner.stuck(state).map(|_| (end, state.clone(), None)).into_iter().collect(),
                goal => self.taken(state, at.task, &|taken| taken.failed == Some(goal), end),
            };
        }
        let stack = self.ways[at.way + 1].first().map_or(ENDED, |seen| seen.stack);
        let pending = state.pending.iter().copied().filter(|&task| self.is(&state.threads[task], stack));
        pending.map(|task| (At { way: at.way + 1, point: 1, task }, state.clone(), None)).collect()
    }

    /// Steps of a task that fit.
    fn taken(&self, state: &State, task: usize, fits: &dyn Fn(&Taken) -> bool, next: At) -> Vec<Next> {
        let step = |taken: Taken| {
            let (result, shared) = (self.runner.number_of(state, task, &taken)?, taken.after.shared.to_vec());
            Some((next, taken.after, Some(Step { thread: task, at: taken.at, result, shared })))
        };
        self.runner.steps_of(state, task).into_iter().filter(fits).filter_map(step).collect()
    }

    /// Whether a step shows what is known of it.
    fn shows(&self, taken: &Taken, before: &State, task: usize, seen: &Seen) -> bool {
        let posted = &taken.after.threads[before.threads.len()..];
        agree(&taken.after.shared, &self.machine.shared[seen.shared])
            && self.is(&taken.after.threads[task], seen.stack)
            && posted.len() == seen.posted.len()
            && posted.iter().zip(&seen.posted).all(|(task, &stack)| self.is(task, stack))
    }

    /// Whether a task has a stack, as far as it is known.
    fn is(&self, task: &[Frame], stack: u32) -> bool {
        let known = &self.machine.stacks[stack];
        task.len() == known.len() && task.iter().zip(known.iter()).all(|(frame, known)| self.fits(frame, known))
    }

    fn fits(&self, frame: &Frame, known: &Frame) -> bool {
        let mut own = frame.clone();
        self.machine.kept.forget(&mut own);
        let bare = |frame: &Frame| Frame { locals: Vec::new(), ..frame.clone() };
        bare(&own) == bare(known) && agree(&own.locals, &known.locals)
    }
}

/// Whether values are those that are known. One that is left open may have been given meanwhile.
fn agree(values: &[Value], known: &[Value]) -> bool {
    values.iter().zip(known).all(|(value, known)| value == known || known.known().is_none())
}
