//! The loop over bounds. It exists once, here, and here alone verdicts are built.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use crate::{Budget, Engine, Limit, Proven, Reason, Refuted, Round, Status, Stop, Verdict};

/// What is asked of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The names of the properties, in the engine's order. There is at least one; a run that only collects views gives
    /// a property that nothing violates.
    pub properties: Vec<String>,
    /// The last bound to explore.
    pub bound_limit: Option<u32>,
    /// Whether convergence is looked for. Without it a run is bounded exploration.
    pub prove: bool,
    /// Whether the outcome lists the views that were reached.
    pub list_views: bool,
}

/// The record of one bound: all that a table or a plot needs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Iteration {
    /// The bound.
    pub bound: u32,
    /// States stored.
    pub states: u64,
    /// States that this bound brought.
    pub new_states: u64,
    /// Views reached.
    pub views: u64,
    /// Views that this bound brought.
    pub new_views: u64,
    /// Images computed so far.
    pub steps: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// Whether the convergence test was asked.
    pub tested: bool,
    /// Whether the bound was explored to its end.
    pub complete: bool,
}

/// The answer for one property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PropertyOutcome {
    /// The property's name.
    pub name: String,
    /// The answer.
    pub verdict: Verdict,
}

/// All that a run found out.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The engine that answered.
    pub engine: &'static str,
    /// What its bound counts.
    pub resource: &'static str,
    /// One answer for each property.
    pub properties: Vec<PropertyOutcome>,
    /// One record for each bound.
    pub iterations: Vec<Iteration>,
    /// The smallest bound at which the views are complete; known once convergence is proved.
    pub cutoff: Option<u32>,
    /// Bytes held for the states.
    pub state_bytes: u64,
    /// The views reached, if the task asked for them.
    pub views: Vec<String>,
    /// Work done, the measure of a race.
    pub work: u64,
}

impl Outcome {
    /// The answer to all properties together.
    pub fn status(&self) -> Status {
        Status::of_all(self.properties.iter().map(|property| property.verdict.status()))
    }

    /// Whether no property is left open.
    pub fn conclusive(&self) -> bool {
        self.properties.iter().all(|property| property.verdict.status() != Status::Unknown)
    }

    /// The outcome of an engine that cannot be started on a model.
    pub fn not_applicable(engine: &'static str, resource: &'static str, task: &Task, why: &str) -> Self {
        let unknown = || Verdict::Unknown(Reason::NotApplicable(why.to_owned()));
        let properties = task.properties.iter().map(|name| PropertyOutcome { name: name.clone(), verdict: unknown() });
        Self {
            engine,
            resource,
            properties: properties.collect(),
            iterations: Vec::new(),
            cutoff: None,
            state_bytes: 0,
            views: Vec::new(),
            work: 0,
        }
    }

    /// Takes back every answer of one kind, because the independent check refused it.
    pub fn distrust(&mut self, status: Status, why: &str) {
        for property in self.properties.iter_mut().filter(|property| property.verdict.status() == status) {
            property.verdict = Verdict::Unknown(Reason::SelfCheckFailed(why.to_owned()));
        }
    }
}

/// Runs an engine until every property is answered or a limit is reached.
pub fn drive(engine: &mut dyn Engine, task: &Task, budget: &mut Budget) -> Outcome {
    let verdicts = vec![None; task.properties.len()];
    let mut run = Run { engine, task, verdicts, iterations: Vec::new(), state_bytes: 0, start: Instant::now() };
    let reason = (0..).find_map(|bound| run.one_bound(bound, budget)).flatten();
    run.finish(reason, budget.work())
}

struct Run<'a> {
    engine: &'a mut dyn Engine,
    task: &'a Task,
    verdicts: Vec<Option<Verdict>>,
    iterations: Vec<Iteration>,
    state_bytes: u64,
    start: Instant,
}

impl Run<'_> {
    /// Explores one bound. `Some` ends the run: with a reason for what is still open, or because nothing is.
    fn one_bound(&mut self, bound: u32, budget: &mut Budget) -> Option<Option<Reason>> {
        let round = self.engine.explore(bound, budget);
        self.record(bound, &round);
        if let Err(stop) = self.refute(bound, &round, budget) {
            return Some(Some(stop.into()));
        }
        if let Some(stop) = round.stopped {
            return Some(Some(stop.into()));
        }
        if self.verdicts.iter().all(Option::is_some) {
            return Some(None);
        }
        match self.prove(bound, budget) {
            Err(stop) => Some(Some(stop.into())),
            Ok(true) => Some(None),
            Ok(false) if self.task.bound_limit.is_some_and(|limit| bound >= limit) || bound == u32::MAX => {
                Some(Some(Reason::Limit(Limit::Bound)))
            }
            Ok(false) => None,
        }
    }

    fn record(&mut self, bound: u32, round: &Round) {
        let (states, views) = self.iterations.last().map_or((0, 0), |last| (last.states, last.views));
        self.state_bytes = round.state_bytes;
        self.iterations.push(Iteration {
            bound,
            states: round.states,
            new_states: round.states.saturating_sub(states),
            views: round.views,
            new_views: round.views.saturating_sub(views),
            steps: round.steps,
            seconds: self.start.elapsed().as_secs_f64(),
            tested: false,
            complete: round.stopped.is_none(),
        });
    }

    fn refute(&mut self, bound: u32, round: &Round, budget: &mut Budget) -> Result<(), Stop> {
        for &property in &round.violated {
            if self.verdicts[property].is_none() {
                let trace = self.engine.trace(property, budget)?;
                self.verdicts[property] = Some(Verdict::Unsafe(Refuted::by(bound, trace)));
            }
        }
        Ok(())
    }

    /// Asks for convergence on a plateau. `true`: every open property is proved.
    fn prove(&mut self, bound: u32, budget: &mut Budget) -> Result<bool, Stop> {
        let Some(last) = self.iterations.last_mut() else { return Ok(false) };
        if !self.task.prove || bound == 0 || last.new_views > 0 {
            return Ok(false);
        }
        last.tested = true;
        let evidence = self.engine.converged(budget);
        last.seconds = self.start.elapsed().as_secs_f64();
        let Some(evidence) = evidence?.map(Arc::new) else { return Ok(false) };
        for verdict in self.verdicts.iter_mut().filter(|verdict| verdict.is_none()) {
            *verdict = Some(Verdict::Safe(Proven::by(&evidence)));
        }
        Ok(true)
    }

    fn finish(self, reason: Option<Reason>, work: u64) -> Outcome {
        let open = reason.unwrap_or(Reason::Limit(Limit::Bound));
        let verdict = |verdict: Option<Verdict>| verdict.unwrap_or_else(|| Verdict::Unknown(open.clone()));
        let names = self.task.properties.iter().cloned();
        let properties = names.zip(self.verdicts.into_iter().map(verdict));
        let properties: Vec<_> = properties.map(|(name, verdict)| PropertyOutcome { name, verdict }).collect();
        let proved = properties.iter().any(|property| matches!(property.verdict, Verdict::Safe(_)));
        let last_new = self.iterations.iter().rev().find(|iteration| iteration.new_views > 0);
        Outcome {
            engine: self.engine.name(),
            resource: self.engine.resource(),
            properties,
            cutoff: last_new.filter(|_| proved).map(|iteration| iteration.bound),
            iterations: self.iterations,
            state_bytes: self.state_bytes,
            views: if self.task.list_views { self.engine.views() } else { Vec::new() },
            work,
        }
    }
}
