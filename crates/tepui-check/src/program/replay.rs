//! Replaying traces of programs on the interpreter.

use tepui_cert::program::{Step, Trace};
use tepui_model::program::run::{self, State};
use tepui_model::program::step::{Runner, Value};
use tepui_model::program::{DEADLOCK, Goal, Program};

use crate::Rejected;

/// An execution that a trace stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    /// The state at the start, after the steps that are hidden.
    pub start: State,
    /// The steps that are told, each with the number of the thread that takes it.
    pub steps: Vec<(usize, run::Step)>,
}

/// Follows a trace, and looks whether the property is violated in the end. From time to time it is asked whether to stop.
pub fn replay(program: &Program, trace: &Trace, stop: &dyn Fn() -> bool) -> Result<Execution, Rejected> {
    if trace.program != program.digest() {
        return Err(Rejected::new("program", "the trace is about another program (the digests differ)"));
    }
    let runner = Runner::new(program);
    let mut state = start(&runner, &trace.start)?;
    let (mut first, mut steps) = (state.clone(), Vec::new());
    for (number, step) in trace.steps.iter().enumerate() {
        let place = || format!("step {}", number + 1);
        if stop() {
            return Err(Rejected::stopped(place()));
        }
        if steps.last().is_some_and(|(_, last): &(usize, run::Step)| last.failed.is_some()) {
            return Err(Rejected::new(place(), "nothing comes after a step that fails"));
        }
        let taken = take(&runner, &state, step).map_err(|why| Rejected::new(place(), why))?;
        state = taken.after.clone();
        match number < trace.hidden {
            true if taken.failed.is_some() => return Err(Rejected::new(place(), "a step that fails is hidden")),
            true => first = state.clone(),
            false => steps.push((step.thread, taken)),
        }
    }
    if trace.hidden > trace.steps.len() {
        return Err(Rejected::new("trace", "more steps are hidden than there are"));
    }
    let failed = steps.last().and_then(|(_, step)| step.failed);
    match violates(&runner, &state, failed, &trace.property) {
        true => Ok(Execution { start: first, steps }),
        false => Err(Rejected::new("property", format!("{} is not violated in the end", trace.property))),
    }
}

/// The state at the start.
fn start(runner: &Runner<'_>, values: &[Value]) -> Result<State, Rejected> {
    let program = runner.program();
    let fits = values.len() == program.shared.len()
        && program.shared.iter().zip(values).all(|(variable, value)| match (variable.init, value) {
            (Some(init), value) => *value == Value::Known(init),
            (None, Value::Known(value)) => *value < program.values(variable.kind),
            (None, Value::Unset) => true,
            (None, Value::Forgotten) => false,
        });
    let initial = runner.initial().into_iter().next().filter(|_| fits);
    let initial = initial.ok_or_else(|| Rejected::new("start", "the program does not start with these values"))?;
    Ok(State { shared: values.into(), ..initial })
}

/// The step that a trace says is taken.
fn take(runner: &Runner<'_>, state: &State, step: &Step) -> Result<run::Step, String> {
    if step.thread >= state.threads.len() {
        return Err(format!("there is no thread {}", step.thread + 1));
    }
    let results = runner.steps_to(state, step.thread, &step.shared).ok_or("it can be taken in too many ways")?;
    let count = results.len();
    let taken = results.into_iter().nth(step.result);
    let taken = taken.ok_or_else(|| format!("{count} results have these values, and this is none of them"))?;
    if taken.at != step.at {
        return Err("the thread stands at another statement".to_owned());
    }
    if taken.after.shared[..] != step.shared {
        return Err("the shared variables have other values afterwards".to_owned());
    }
    Ok(taken)
}

fn violates(runner: &Runner<'_>, last: &State, failed: Option<Goal>, property: &str) -> bool {
    let program = runner.program();
    if let Some(failed) = failed {
        return program.properties(false).iter().any(|one| one.name == property && one.never.contains(&failed));
    }
    runner.reached(last).iter().any(|&label| program.unreachable[label].label == property)
        || property == DEADLOCK && runner.stuck(last).is_some()
}
