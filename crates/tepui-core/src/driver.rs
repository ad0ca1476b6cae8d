//! The loop over bounds. It exists once, here, and here alone verdicts are built.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use crate::{
    Approximation, Bound, Budget, Engine, Evidence, Limit, Proven, Reason, Refuted, Round, Status, Stop, Verdict,
};

/// What is asked of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// The names of the properties, in the engine's order. There is at least one; a run that only collects views gives
    /// a property that nothing violates.
    pub properties: Vec<String>,
    /// The last bound to explore: an amount of each resource, or one for all of them.
    pub bound_limit: Option<Vec<u32>>,
    /// Whether convergence is looked for. Without it a run is bounded exploration, which goes up to the limit even if
    /// all properties are violated before, and lists what violates them.
    pub prove: bool,
    /// Whether the outcome lists the views that were reached.
    pub list_views: bool,
    /// Whether the first violation ends the run, even if other properties are open. It matters where proofs are looked for.
    pub stop_at_first: bool,
}

/// How many records are kept before those of long plateaus are thinned out.
const MANY_ITERATIONS: usize = 512;

/// The record of one bound: all that a table or a plot needs. A run through very many bounds keeps all that brought new
/// views, and of the others evenly spaced ones.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Iteration {
    /// The bound.
    pub bound: Bound,
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
    /// Views that a proof still has to account for, where the engine counts them.
    pub open: u64,
    /// Seconds since the start.
    pub seconds: f64,
    /// Whether the convergence test was asked.
    pub tested: bool,
    /// Whether the bound was explored to its end.
    pub complete: bool,
    /// What the engine took the threads for, where it approximates them from above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approximations: Vec<Approximation>,
    #[serde(skip)]
    round: u32,
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
    /// What is stored and counted as states, in words for one and for many: states, or sets of them.
    pub stored: [&'static str; 2],
    /// One answer for each property.
    pub properties: Vec<PropertyOutcome>,
    /// One record for each bound.
    pub iterations: Vec<Iteration>,
    /// The smallest bound at which the views are complete; known once convergence is proved.
    pub cutoff: Option<Bound>,
    /// Bytes held for the states.
    pub state_bytes: u64,
    /// The views reached, if the task asked for them.
    pub views: Vec<String>,
    /// The views reached that violate a property, after bounded exploration.
    pub violating: Vec<String>,
    /// What stands in the way of a proof, where none was found.
    pub obstacles: Vec<String>,
    /// What else there is to say.
    pub remarks: Vec<String>,
    /// Work done, the measure of a race.
    pub work: u64,
}

impl Outcome {
    /// The answer to all properties together.
    pub fn status(&self) -> Status {
        Status::of_all(self.properties.iter().map(|property| property.verdict.status()))
    }

    /// The evidence behind the properties that are safe; it is the same for all of them.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.properties.iter().find_map(|property| match &property.verdict {
            Verdict::Safe(proven) => Some(proven.evidence()),
            Verdict::Unsafe(_) | Verdict::Unknown(_) => None,
        })
    }

    /// The same with the bounds of violations that an engine has found which did not come to its end.
    pub fn with_bounds_of(mut self, unfinished: &Self) -> Self {
        for (property, other) in self.properties.iter_mut().zip(&unfinished.properties) {
            if property.verdict.status() == Status::Unsafe && other.verdict.status() == Status::Unsafe {
                property.verdict = other.verdict.clone();
            }
        }
        let explored = unfinished.iterations.iter().rev().find(|iteration| iteration.complete);
        let so_far =
            explored.map_or("nothing was explored".to_owned(), |last| format!("explored up to {}", last.bound));
        self.remarks.push(format!("the engine that knows bounds did not come to its end: {so_far}"));
        self
    }

    /// Whether no property is left open, unless that is what was asked for.
    pub fn conclusive(&self) -> bool {
        let asked_for = Verdict::Unknown(Reason::Limit(Limit::FirstViolation));
        let open = |verdict: &Verdict| verdict.status() == Status::Unknown && *verdict != asked_for;
        !self.properties.iter().any(|property| open(&property.verdict))
    }

    /// The outcome of an engine that cannot be started on a model.
    pub fn not_applicable(engine: &'static str, resource: &'static str, task: &Task, why: &str) -> Self {
        Self::without_answer(engine, resource, task, &Reason::NotApplicable(why.to_owned()))
    }

    /// The outcome where nothing could be explored.
    pub fn without_answer(engine: &'static str, resource: &'static str, task: &Task, reason: &Reason) -> Self {
        let unknown = || Verdict::Unknown(reason.clone());
        let properties = task.properties.iter().map(|name| PropertyOutcome { name: name.clone(), verdict: unknown() });
        Self {
            engine,
            resource,
            stored: ["state", "states"],
            properties: properties.collect(),
            iterations: Vec::new(),
            cutoff: None,
            state_bytes: 0,
            views: Vec::new(),
            violating: Vec::new(),
            obstacles: Vec::new(),
            remarks: Vec::new(),
            work: 0,
        }
    }

    /// Whether another run has the same answers.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let answers = |outcome: &Self| -> Vec<_> {
            outcome.properties.iter().map(|property| (property.name.clone(), property.verdict.status())).collect()
        };
        answers(self) == answers(other)
    }

    /// What two runs say about a property, if one says that it holds and the other that it does not.
    pub fn contradiction(&self, other: &Self) -> Option<String> {
        let pairs = self.properties.iter().zip(&other.properties);
        let differ = |(one, other): &(&PropertyOutcome, &PropertyOutcome)| {
            one.verdict.claims().zip(other.verdict.claims()).is_some_and(|(one, other)| one != other)
        };
        let (one, another) = pairs.into_iter().find(differ)?;
        let says = |holds: bool| if holds { "proves it" } else { "violates it" };
        Some(format!(
            "the engines do not agree about {}: {} {}, and {} {}",
            one.name,
            self.engine,
            says(one.verdict.claims()?),
            other.engine,
            says(another.verdict.claims()?)
        ))
    }

    /// Takes back every answer, because another run contradicts one of them.
    #[must_use]
    pub fn disputed(mut self, why: &str) -> Self {
        for property in &mut self.properties {
            property.verdict = Verdict::Unknown(Reason::SelfCheckFailed(why.to_owned()));
        }
        self.cutoff = None;
        self
    }

    /// The outcome of two runs: a violation that the other one found is a violation, unless nothing is open any more.
    #[must_use]
    pub(crate) fn joined_by(mut self, other: &Self) -> Self {
        if let Some(why) = self.contradiction(other) {
            return self.disputed(&why);
        }
        if self.conclusive() {
            return self;
        }
        for (own, others) in self.properties.iter_mut().zip(&other.properties) {
            if own.verdict.status() == Status::Unknown && others.verdict.status() == Status::Unsafe {
                own.verdict = others.verdict.clone();
                self.remarks.push(format!("the violation of {} was found by the engine {}", own.name, other.engine));
            }
        }
        self
    }

    /// Takes back every answer of one kind.
    pub fn take_back(&mut self, status: Status, reason: &Reason) {
        for property in self.properties.iter_mut().filter(|property| property.verdict.status() == status) {
            property.verdict = Verdict::Unknown(reason.clone());
        }
    }

    /// Whether a property is proved.
    pub fn is_safe(&self, name: &str) -> bool {
        let mut properties = self.properties.iter();
        properties.any(|property| property.name == name && property.verdict.status() == Status::Safe)
    }
}

/// Runs an engine until every property is answered or a limit is reached.
pub fn drive(engine: &mut dyn Engine, task: &Task, budget: &mut Budget) -> Outcome {
    let mut run = Run {
        verdicts: vec![None; task.properties.len()],
        untraced: vec![None; task.properties.len()],
        engine,
        task,
        iterations: Vec::new(),
        state_bytes: 0,
        start: Instant::now(),
        before: (0, 0),
        round: 0,
        stride: 1,
        quiet_records: 0,
    };
    let reason = loop {
        if let Some(reason) = run.one_bound(budget) {
            break reason;
        }
    };
    if reason.is_some() && task.prove {
        run.prove_some(budget);
    }
    run.finish(reason, budget)
}

struct Run<'a> {
    engine: &'a mut dyn Engine,
    task: &'a Task,
    verdicts: Vec<Option<Verdict>>,
    /// For each property why a violation that was found has no trace.
    untraced: Vec<Option<Stop>>,
    iterations: Vec<Iteration>,
    state_bytes: u64,
    start: Instant,
    /// States and views before the last bound.
    before: (u64, u64),
    /// Records of plateaus are kept for every so many-th round; so many there are.
    round: u32,
    stride: u32,
    quiet_records: usize,
}

impl Run<'_> {
    /// Explores one bound. `Some` ends the run: with a reason for what is still open, or because nothing is.
    fn one_bound(&mut self, budget: &mut Budget) -> Option<Option<Reason>> {
        let (bound, limit) = (self.engine.next_bound(), self.task.bound_limit.as_deref());
        if limit.is_some_and(|limit| bound.exceeds(limit)) || self.round == u32::MAX {
            return Some(Some(Reason::Limit(Limit::Bound)));
        }
        let round = self.engine.explore(budget);
        self.record(bound, &round);
        let stopped = self.refute(&round, budget);
        if self.task.prove && self.task.stop_at_first && self.verdicts.iter().any(Option::is_some) {
            return Some(Some(Reason::Limit(Limit::FirstViolation)));
        }
        if let Err(stop) = stopped {
            return Some(Some(stop.into()));
        }
        if let Some(stop) = round.stopped.clone() {
            return Some(Some(stop.into()));
        }
        if self.task.prove && (0..self.verdicts.len()).all(|property| !self.is_open(property)) {
            return Some(None);
        }
        if let Some(limit) = limit.filter(|_| round.exhausted && !self.task.prove) {
            // What is left are empty bounds: they are explored by saying so.
            if bound.raised_to(limit) != bound {
                self.record(bound.raised_to(limit), &round);
            }
            return Some(Some(Reason::Limit(Limit::Bound)));
        }
        match self.prove(&round, budget) {
            Err(stop) => Some(Some(stop.into())),
            Ok(true) => Some(None),
            Ok(false) => None,
        }
    }

    fn record(&mut self, bound: Bound, round: &Round) {
        let (states, views) = std::mem::replace(&mut self.before, (round.states, round.views));
        self.thin_out();
        self.state_bytes = round.state_bytes;
        self.iterations.push(Iteration {
            bound,
            states: round.states,
            new_states: round.states.saturating_sub(states),
            views: round.views,
            new_views: round.views.saturating_sub(views),
            steps: round.steps,
            open: round.open,
            seconds: self.start.elapsed().as_secs_f64(),
            tested: false,
            complete: round.stopped.is_none(),
            approximations: round.approximations.clone(),
            round: self.round,
        });
        self.round += 1;
    }

    /// Lets go of the record before the next one, if it is one of too many.
    fn thin_out(&mut self) {
        let stride = self.stride;
        if self.iterations.pop_if(|last| last.new_views == 0 && !last.round.is_multiple_of(stride)).is_none() {
            self.quiet_records += usize::from(self.iterations.last().is_some_and(|last| last.new_views == 0));
        }
        if self.quiet_records >= MANY_ITERATIONS {
            let stride = self.stride.saturating_mul(2);
            self.iterations.retain(|record| record.new_views > 0 || record.round.is_multiple_of(stride));
            self.quiet_records = self.iterations.iter().filter(|record| record.new_views == 0).count();
            self.stride = stride;
        }
    }

    /// Whether nothing is known about a property yet.
    fn is_open(&self, property: usize) -> bool {
        self.verdicts[property].is_none() && self.untraced[property].is_none()
    }

    /// Gets traces for violations that are new. An error is a limit; a trace that cannot be had otherwise is no reason to
    /// leave the other properties open.
    fn refute(&mut self, round: &Round, budget: &mut Budget) -> Result<(), Stop> {
        let mut stopped = Ok(());
        for &property in &round.violated {
            if !self.is_open(property) {
                continue;
            }
            match budget.with_grace(|budget| self.engine.trace(property, budget)) {
                Ok((trace, bound)) => self.verdicts[property] = Some(Verdict::Unsafe(Refuted::by(bound, trace))),
                Err(stop) => {
                    if matches!(stop, Stop::Limit(_)) {
                        stopped = Err(stop.clone());
                    }
                    self.untraced[property] = Some(stop);
                }
            }
        }
        stopped
    }

    /// Asks for convergence where a test is due. `true`: every open property is proved.
    fn prove(&mut self, round: &Round, budget: &mut Budget) -> Result<bool, Stop> {
        let Some(last) = self.iterations.last_mut() else { return Ok(false) };
        if !self.task.prove || !round.test_due {
            return Ok(false);
        }
        last.tested = true;
        let evidence = self.engine.converged(budget);
        last.seconds = self.start.elapsed().as_secs_f64();
        let Some(evidence) = evidence?.map(Arc::new) else { return Ok(false) };
        for property in 0..self.verdicts.len() {
            if self.is_open(property) && !round.violated.contains(&property) {
                self.verdicts[property] = Some(Verdict::Safe(Proven::by(&evidence)));
            }
        }
        Ok(true)
    }

    /// Keeps what is proved although other properties are open.
    fn prove_some(&mut self, budget: &mut Budget) {
        let Ok(Some((proved, evidence))) = budget.with_grace(|budget| self.engine.proved(budget)) else { return };
        let evidence = Arc::new(evidence);
        for property in proved {
            if self.is_open(property) {
                self.verdicts[property] = Some(Verdict::Safe(Proven::by(&evidence)));
            }
        }
    }

    fn finish(self, reason: Option<Reason>, budget: &mut Budget) -> Outcome {
        let open = reason.unwrap_or(Reason::Limit(Limit::Bound));
        let known = self.verdicts.into_iter().zip(self.untraced);
        let verdict = |(name, (verdict, untraced)): (&String, (Option<Verdict>, Option<Stop>))| {
            let untraced = untraced.map(|stop| Reason::Untraced { property: name.clone(), stop });
            let verdict = verdict.unwrap_or_else(|| Verdict::Unknown(untraced.unwrap_or_else(|| open.clone())));
            PropertyOutcome { name: name.clone(), verdict }
        };
        let properties: Vec<_> = self.task.properties.iter().zip(known).map(verdict).collect();
        let proved = properties.iter().any(|property| matches!(property.verdict, Verdict::Safe(_)));
        let open = properties.iter().any(|property| property.verdict.status() == Status::Unknown);
        let known = proved && self.engine.limits_schedules();
        let mut listed = |violating: bool| budget.with_grace(|budget| self.engine.views(violating, budget));
        let last_new = self.iterations.iter().rev().find(|iteration| iteration.new_views > 0);
        Outcome {
            engine: self.engine.name(),
            resource: self.engine.resource(),
            stored: self.engine.stored(),
            properties,
            cutoff: last_new.filter(|_| known).map(|iteration| iteration.bound),
            iterations: self.iterations,
            state_bytes: self.state_bytes,
            views: if self.task.list_views { listed(false) } else { Vec::new() },
            violating: if self.task.prove { Vec::new() } else { listed(true) },
            obstacles: if open && self.task.prove { self.engine.obstacles() } else { Vec::new() },
            remarks: self.engine.remarks(),
            work: budget.work(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tepui_cert::Trace;
    use tepui_cert::pushdown::Certificate;
    use tepui_model::Digest;
    use tepui_model::pushdown::{Property, Shared, State};

    /// An engine that follows a script: the number of views at each bound, and whether a plateau there is the end.
    struct Script {
        views: Vec<u64>,
        converges_at: Option<u32>,
        violated_at: Option<u32>,
        stops_at: Option<u32>,
        traceless: Option<Stop>,
        next: u32,
    }

    impl Engine for Script {
        fn name(&self) -> &'static str {
            "script"
        }

        fn resource(&self) -> &'static str {
            "pages"
        }

        fn next_bound(&self) -> Bound {
            Bound::on(&["pages"], &[self.next])
        }

        fn explore(&mut self, _: &mut Budget) -> Round {
            let bound = self.next;
            self.next += 1;
            let at = |bound: u32| self.views.get(bound as usize).or(self.views.last()).copied().unwrap_or(0);
            let test_due = bound > 0 && at(bound) == at(bound - 1);
            let views = self.views.get(bound as usize).or(self.views.last()).copied().unwrap_or(0);
            let violated = if self.violated_at.is_some_and(|at| bound >= at) { vec![0] } else { Vec::new() };
            let stopped = self.stops_at.filter(|&at| bound >= at).map(|_| Stop::Limit(Limit::Time));
            Round { views, states: u64::from(bound), violated, stopped, test_due, ..Round::default() }
        }

        fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
            let certificate =
                Certificate { model: Digest::of(b""), properties: Vec::new(), lemmas: Vec::new(), regular: None }
                    .into();
            let evidence =
                Evidence { certificate, because: "the script ends".to_owned(), kind: "script", view_depth: Some(1) };
            Ok(self.converges_at.filter(|&at| self.next > at).map(|_| evidence))
        }

        fn trace(&mut self, _: usize, _: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
            self.traceless.clone().map_or(Ok(()), Err)?;
            let start = State { shared: Shared(0), stacks: Vec::new() };
            let property = Property { name: "p".to_owned(), never: Vec::new() };
            let trace = tepui_cert::pushdown::Trace { model: Digest::of(b""), property, start, steps: Vec::new() };
            Ok((trace.into(), Some(Bound::on(&["pages"], &[self.next - 1]))))
        }

        fn views(&self, _: bool, _: &mut Budget) -> Vec<String> {
            Vec::new()
        }
    }

    fn script(views: &[u64]) -> Script {
        Script {
            views: views.to_vec(),
            converges_at: None,
            violated_at: None,
            stops_at: None,
            traceless: None,
            next: 0,
        }
    }

    fn task(properties: usize, limit: Option<u32>) -> Task {
        let properties = (0..properties).map(|number| format!("p{number}")).collect();
        let bound_limit = limit.map(|limit| vec![limit]);
        Task { properties, bound_limit, prove: true, list_views: false, stop_at_first: false }
    }

    fn run(mut engine: Script, properties: usize, limit: Option<u32>) -> Outcome {
        drive(&mut engine, &task(properties, limit), &mut Budget::unlimited())
    }

    fn statuses(outcome: &Outcome) -> Vec<Status> {
        outcome.properties.iter().map(|property| property.verdict.status()).collect()
    }

    #[test]
    fn a_plateau_is_not_a_proof() {
        let outcome = run(Script { converges_at: Some(5), ..script(&[1, 4, 4, 4, 6]) }, 1, None);
        assert_eq!((outcome.status(), outcome.cutoff.map(|k| k.first())), (Status::Safe, Some(4)));
        let tested: Vec<_> = outcome.iterations.iter().filter(|it| it.tested).map(|it| it.bound.first()).collect();
        assert_eq!(tested, [2, 3, 5]);
    }

    #[test]
    fn limits_become_unknown_and_nothing_else() {
        let bounded = run(script(&[1, 2, 2]), 1, Some(3));
        assert_eq!(bounded.properties[0].verdict, Verdict::Unknown(Reason::Limit(Limit::Bound)));
        assert_eq!(bounded.iterations.last().map(|last| last.bound.first()), Some(3));
        let stopped = run(Script { stops_at: Some(1), converges_at: Some(0), ..script(&[1, 1]) }, 1, None);
        assert_eq!(stopped.properties[0].verdict, Verdict::Unknown(Reason::Limit(Limit::Time)));
        assert_eq!(stopped.cutoff, None);
    }

    #[test]
    fn a_violation_found_before_a_limit_is_kept() {
        let outcome = run(Script { stops_at: Some(2), violated_at: Some(2), ..script(&[1, 2, 3]) }, 2, None);
        assert_eq!(statuses(&outcome), [Status::Unsafe, Status::Unknown]);
        assert!(
            matches!(&outcome.properties[0].verdict, Verdict::Unsafe(refuted) if refuted.bound().unwrap().first() == 2)
        );
    }

    #[test]
    fn an_unsafe_property_does_not_end_the_proof_of_another() {
        let engine = Script { converges_at: Some(0), violated_at: Some(1), ..script(&[1, 2, 3, 3]) };
        let outcome = run(engine, 2, None);
        assert_eq!(statuses(&outcome), [Status::Unsafe, Status::Safe]);
        assert_eq!((outcome.status(), outcome.cutoff.map(|k| k.first())), (Status::Unsafe, Some(2)));
    }

    #[test]
    fn a_violation_without_a_trace_is_told_and_never_proved() {
        for (stop, rest) in
            [(Stop::Limit(Limit::Memory), Status::Unknown), (Stop::GaveUp("the way is lost".to_owned()), Status::Safe)]
        {
            let traceless = Some(stop.clone());
            let engine = Script { converges_at: Some(0), violated_at: Some(1), traceless, ..script(&[1, 2, 3, 3]) };
            let outcome = run(engine, 2, None);
            let untraced = Verdict::Unknown(Reason::Untraced { property: "p0".to_owned(), stop });
            assert_eq!(outcome.properties[0].verdict, untraced);
            assert_eq!((statuses(&outcome), outcome.conclusive()), (vec![Status::Unknown, rest], false));
        }
    }

    #[test]
    fn the_first_violation_ends_a_run_that_asks_for_no_more() {
        let mut engine = Script { converges_at: Some(0), violated_at: Some(1), ..script(&[1, 2, 3, 3]) };
        let task = Task { stop_at_first: true, ..task(2, None) };
        let outcome = drive(&mut engine, &task, &mut Budget::unlimited());
        assert_eq!(outcome.properties[1].verdict, Verdict::Unknown(Reason::Limit(Limit::FirstViolation)));
        assert!(outcome.status() == Status::Unsafe && outcome.conclusive() && outcome.iterations.len() == 2);
    }

    #[test]
    fn what_one_run_refutes_is_refuted_and_contradictions_show() {
        let violated = || run(Script { violated_at: Some(1), ..script(&[1, 2, 2]) }, 2, Some(3));
        let open = || run(script(&[1, 2, 2]), 2, Some(3));
        let safe = || run(Script { converges_at: Some(2), ..script(&[1, 2, 2]) }, 2, Some(3));
        let joined = open().joined_by(&violated());
        assert_eq!((statuses(&joined), joined.remarks.len()), (vec![Status::Unsafe, Status::Unknown], 1));
        assert_eq!(violated().joined_by(&open()).properties, violated().properties);
        for disputed in [safe().joined_by(&violated()), violated().joined_by(&safe())] {
            let doubt = |property: &PropertyOutcome| matches!(&property.verdict, Verdict::Unknown(Reason::SelfCheckFailed(why)) if why.contains("about p0"));
            assert!(disputed.properties.iter().all(doubt) && disputed.cutoff.is_none(), "{disputed:?}");
        }
    }

    #[test]
    fn very_many_bounds_leave_few_records() {
        let outcome = run(script(&[1, 2, 2, 3]), 1, Some(100_000));
        let bounds: Vec<_> = outcome.iterations.iter().map(|iteration| iteration.bound.first()).collect();
        assert!(bounds.len() <= MANY_ITERATIONS + 4, "{}", bounds.len());
        assert_eq!((bounds[..3].to_vec(), bounds.last()), (vec![0, 1, 3], Some(&100_000)));
    }
}
