//! The loop over bounds. It exists once, here, and here alone verdicts are built.

use std::sync::Arc;
use std::time::Instant;

use crate::contract::Contract;
use crate::outcome::Records;
use crate::{
    Budget, Engine, Facts, Limit, Outcome, PropertyOutcome, Proven, Reason, Refuted, Round, Status, Stop, Verdict,
};

/// What is asked of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
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

impl Query {
    /// Whether properties hold, without a limit on bounds.
    pub fn new(properties: Vec<String>) -> Self {
        Self { properties, bound_limit: None, prove: true, list_views: false, stop_at_first: false }
    }
}

/// Asked whether evidence for some properties is to be believed, while others are still open.
pub type Believes<'b> = &'b mut dyn FnMut(&Arc<crate::Evidence>, &[usize]) -> bool;

/// Runs an engine until every property is answered or a limit is reached.
pub fn drive(engine: &mut dyn Engine, query: &Query, budget: &mut Budget) -> Outcome {
    drive_believing(engine, query, budget, &mut |_, _| true)
}

/// The same, but evidence for some properties counts only if it is believed. It is worth asking at once: when the run ends
/// at a limit, there may be no time left to look at it.
pub fn drive_believing(engine: &mut dyn Engine, query: &Query, budget: &mut Budget, believes: Believes<'_>) -> Outcome {
    match cfg!(debug_assertions) {
        true => run(&mut Contract::of(engine), query, budget, believes),
        false => run(engine, query, budget, believes),
    }
}

fn run(engine: &mut dyn Engine, query: &Query, budget: &mut Budget, believes: Believes<'_>) -> Outcome {
    let mut run = Run {
        believes,
        answers: query.properties.iter().map(|_| Answer::Open).collect(),
        disputed: None,
        engine,
        query,
        records: Vec::new(),
        start: Instant::now(),
        last: 0,
    };
    let reason = loop {
        if let Some(reason) = run.one_bound(budget) {
            break reason;
        }
    };
    if reason.is_some() && query.prove {
        run.prove_some(budget);
    }
    run.finish(reason, budget)
}

/// What is known of a property.
enum Answer {
    Open,
    /// It is decided, by an engine.
    Decided(Verdict, &'static Facts),
    /// Engines have found a violation, but no way to it; why the last of them has not.
    Untraced(Stop, Vec<&'static Facts>),
}

impl Answer {
    fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

struct Run<'a> {
    engine: &'a mut dyn Engine,
    believes: Believes<'a>,
    query: &'a Query,
    answers: Vec<Answer>,
    /// How two engines contradict each other.
    disputed: Option<String>,
    /// The records of each engine that has made a round, and whose the last one was.
    records: Vec<Records>,
    last: usize,
    start: Instant,
}

impl Run<'_> {
    /// Explores one bound. `Some` ends the run: with a reason for what is still open, or because nothing is.
    fn one_bound(&mut self, budget: &mut Budget) -> Option<Option<Reason>> {
        let limit = self.query.bound_limit.as_deref();
        if limit.zip(self.engine.next_bound()).is_some_and(|(limit, bound)| bound.exceeds(limit)) {
            return Some(Some(Reason::Limit(Limit::Bound)));
        }
        // Bounds with nothing to do are no work, but there may be very many of them.
        let round = match budget.pass(1).and_then(|()| self.engine.explore(budget)) {
            Ok(round) => round,
            Err(stop) => return Some(Some(stop.into())),
        };
        self.record(&round);
        let refuted = self.refute(&round, budget);
        let violated = |answer: &Answer| matches!(answer, Answer::Decided(Verdict::Unsafe(_), _));
        if self.query.prove && self.query.stop_at_first && self.answers.iter().any(violated) {
            return Some(Some(Reason::Limit(Limit::FirstViolation)));
        }
        if let Err(stop) = refuted {
            return Some(Some(stop.into()));
        }
        if let Some(stop) = round.stopped.clone().filter(|_| !round.goes_on) {
            return Some(Some(stop.into()));
        }
        if self.query.prove && !self.answers.iter().any(Answer::is_open) {
            return Some(None);
        }
        if let Some(limit) = limit.filter(|_| round.exhausted && !self.query.prove) {
            // What is left are empty bounds: they are explored by saying so.
            let bound = round.bound.raised_to(limit);
            if bound != round.bound {
                self.record(&Round { bound, ..round });
            }
            return Some(Some(Reason::Limit(Limit::Bound)));
        }
        match self.prove(&round, budget) {
            Err(stop) => return Some(Some(stop.into())),
            Ok(true) => return Some(None),
            Ok(false) => {}
        }
        if self.query.prove && round.some_due {
            self.prove_some(budget);
        }
        (self.query.prove && !self.answers.iter().any(Answer::is_open)).then_some(None)
    }

    fn record(&mut self, round: &Round) {
        let known = self.records.iter().position(|records| records.by == round.by);
        self.last = known.unwrap_or_else(|| {
            self.records.push(Records::new(round.by));
            self.records.len() - 1
        });
        self.records[self.last].add(round, self.start);
    }

    /// Gets traces for violations that are new. An error is a limit; a trace that cannot be had otherwise is no reason to
    /// leave the other properties open, and another engine may know one.
    fn refute(&mut self, round: &Round, budget: &mut Budget) -> Result<(), Stop> {
        let mut stopped = Ok(());
        for &property in &round.violated {
            // Each engine is asked once.
            let mut asked = Vec::new();
            match &self.answers[property] {
                Answer::Open => {}
                Answer::Untraced(_, by) if !by.contains(&round.by) => asked.clone_from(by),
                Answer::Decided(Verdict::Safe(_), by) => {
                    self.dispute(property, (round.by, "violates it"), (by, "proves it"));
                    continue;
                }
                Answer::Untraced(..) | Answer::Decided(..) => continue,
            }
            self.answers[property] = match budget.with_grace(|budget| self.engine.trace(property, budget)) {
                Ok((trace, bound)) => Answer::Decided(Verdict::Unsafe(Refuted::by(bound, trace)), round.by),
                Err(stop) => {
                    if matches!(stop, Stop::Limit(_)) {
                        stopped = Err(stop.clone());
                    }
                    asked.push(round.by);
                    Answer::Untraced(stop, asked)
                }
            };
        }
        stopped
    }

    fn dispute(&mut self, property: usize, one: (&Facts, &str), another: (&Facts, &str)) {
        let name = &self.query.properties[property];
        let (one, another) = (format!("{} {}", one.0.name, one.1), format!("{} {}", another.0.name, another.1));
        self.disputed.get_or_insert(format!("the engines do not agree about {name}: {one}, and {another}"));
    }

    /// Asks for convergence where a test is due. `true`: every open property is proved.
    fn prove(&mut self, round: &Round, budget: &mut Budget) -> Result<bool, Stop> {
        if !self.query.prove || !round.test_due {
            return Ok(false);
        }
        let evidence = self.engine.converged(budget);
        if let Some(last) = self.records[self.last].iterations.last_mut() {
            last.tested = true;
            last.seconds = self.start.elapsed().as_secs_f64();
        }
        let Some(evidence) = evidence?.map(Arc::new) else { return Ok(false) };
        for property in (0..self.answers.len()).filter(|property| !round.violated.contains(property)) {
            // What was proved before is proved again, by the same evidence as the rest.
            if let Answer::Decided(Verdict::Safe(_), _) = self.answers[property] {
                self.answers[property] = Answer::Open;
            }
            self.proved(property, &Proven::by(&evidence), round.by);
        }
        Ok(true)
    }

    /// An engine has proved a property. If another one has found a violation of it, one of them is wrong.
    fn proved(&mut self, property: usize, proven: &Proven, by: &'static Facts) {
        match &self.answers[property] {
            Answer::Open => self.answers[property] = Answer::Decided(Verdict::Safe(proven.clone()), by),
            Answer::Decided(Verdict::Unsafe(_), other) if *other != by => {
                self.dispute(property, (by, "proves it"), (other, "violates it"));
            }
            Answer::Untraced(_, others) if !others.contains(&by) => {
                self.dispute(property, (by, "proves it"), (others[0], "violates it"));
            }
            Answer::Decided(..) | Answer::Untraced(..) => {}
        }
    }

    /// Keeps what is proved although other properties are open.
    fn prove_some(&mut self, budget: &mut Budget) {
        let Ok(Some((proved, evidence))) = budget.with_grace(|budget| self.engine.proved(budget)) else { return };
        let (evidence, by) = (Arc::new(evidence), self.engine.facts());
        let mut known = self.answers.iter().filter(|answer| matches!(answer, Answer::Decided(Verdict::Safe(_), _)));
        // There is one piece of evidence in the end. What is proved already is not given up for less.
        if known.clone().count() >= proved.len() && known.next().is_some() || !(self.believes)(&evidence, &proved) {
            return;
        }
        let proven = Proven::by(&evidence);
        for answer in &mut self.answers {
            if let Answer::Decided(Verdict::Safe(_), _) = answer {
                *answer = Answer::Open;
            }
        }
        proved.into_iter().for_each(|property| self.proved(property, &proven, by));
    }

    fn finish(mut self, reason: Option<Reason>, budget: &mut Budget) -> Outcome {
        let open = reason.unwrap_or(Reason::Limit(Limit::Bound));
        let (engine, mut notes) = (self.engine.facts(), self.engine.notes());
        let mut properties = Vec::new();
        for (name, answer) in self.query.properties.iter().zip(self.answers) {
            let verdict = match answer {
                Answer::Open => Verdict::Unknown(open.clone()),
                Answer::Untraced(stop @ Stop::NotConfirmed(_), _) => Verdict::Unknown(stop.into()),
                Answer::Untraced(stop, _) => Verdict::Unknown(Reason::Untraced { property: name.clone(), stop }),
                Answer::Decided(verdict, by) => {
                    if by != engine && verdict.status() == Status::Unsafe && self.records.iter().any(|own| own.by == by)
                    {
                        notes.remarks.push(format!("the violation of {name} was found by the engine {}", by.name));
                    }
                    verdict
                }
            };
            properties.push(PropertyOutcome { name: name.clone(), verdict });
        }
        let proved = properties.iter().any(|property| matches!(property.verdict, Verdict::Safe(_)));
        let open = properties.iter().any(|property| property.verdict.status() == Status::Unknown);
        let mut listed = |violating: bool| budget.with_grace(|budget| self.engine.views(violating, budget));
        let own = self.records.iter().position(|records| records.by == engine);
        let Records { iterations, state_bytes, .. } =
            own.map_or_else(|| Records::new(engine), |own| self.records.swap_remove(own));
        let last_new = iterations.iter().rev().find(|iteration| iteration.new_views > 0);
        let outcome = Outcome {
            engine,
            raised: engine,
            stored: notes.stored,
            view: notes.view,
            reduced: notes.reduced,
            from_above: notes.from_above,
            properties,
            cutoff: last_new.filter(|_| proved && engine.limits_schedules).map(|iteration| iteration.bound),
            iterations,
            state_bytes,
            views: if self.query.list_views { listed(false) } else { Vec::new() },
            violating: if self.query.prove { Vec::new() } else { listed(true) },
            obstacles: if open && self.query.prove { notes.obstacles } else { Vec::new() },
            remarks: notes.remarks,
            work: budget.work(),
        };
        match self.disputed {
            Some(why) => outcome.disputed(&why),
            None => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::MANY_ITERATIONS;
    use crate::{Bound, Evidence};
    use tepui_cert::Trace;
    use tepui_cert::pushdown::Certificate;
    use tepui_model::Digest;
    use tepui_model::pushdown::{Property, Shared, State};

    static SCRIPT: Facts = Facts::new("script", &["pages"]);

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
        fn facts(&self) -> &'static Facts {
            &SCRIPT
        }

        fn next_bound(&self) -> Option<Bound> {
            Some(SCRIPT.bound(&[self.next]))
        }

        fn explore(&mut self, _: &mut Budget) -> Result<Round, Stop> {
            let bound = self.next;
            self.next += 1;
            let at = |bound: u32| self.views.get(bound as usize).or(self.views.last()).copied().unwrap_or(0);
            let test_due = bound > 0 && at(bound) == at(bound - 1);
            let views = self.views.get(bound as usize).or(self.views.last()).copied().unwrap_or(0);
            let violated = if self.violated_at.is_some_and(|at| bound >= at) { vec![0] } else { Vec::new() };
            let stopped = self.stops_at.filter(|&at| bound >= at).map(|_| Stop::Limit(Limit::Time));
            let (test_due, states) = (test_due && stopped.is_none(), u64::from(bound));
            let empty = Round::empty(&SCRIPT, SCRIPT.bound(&[bound]));
            Ok(Round { views, states, violated, stopped, test_due, ..empty })
        }

        fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
            let certificate =
                Certificate { model: Digest::of(b""), properties: Vec::new(), lemmas: Vec::new(), regular: None };
            let evidence = Evidence::new(certificate, "the script ends".to_owned(), "script");
            Ok(self.converges_at.filter(|&at| self.next > at).map(|_| evidence))
        }

        fn trace(&mut self, _: usize, _: &mut Budget) -> Result<(Trace, Option<Bound>), Stop> {
            self.traceless.clone().map_or(Ok(()), Err)?;
            let start = State { shared: Shared(0), stacks: Vec::new() };
            let property = Property { name: "p".to_owned(), never: Vec::new() };
            let trace = tepui_cert::pushdown::Trace { model: Digest::of(b""), property, start, steps: Vec::new() };
            Ok((trace.into(), Some(SCRIPT.bound(&[self.next - 1]))))
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

    fn query(properties: usize, limit: Option<u32>) -> Query {
        let properties = (0..properties).map(|number| format!("p{number}")).collect();
        Query { bound_limit: limit.map(|limit| vec![limit]), ..Query::new(properties) }
    }

    fn run(mut engine: Script, properties: usize, limit: Option<u32>) -> Outcome {
        drive(&mut engine, &query(properties, limit), &mut Budget::unlimited())
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
        let query = Query { stop_at_first: true, ..query(2, None) };
        let outcome = drive(&mut engine, &query, &mut Budget::unlimited());
        assert_eq!(outcome.properties[1].verdict, Verdict::Unknown(Reason::Limit(Limit::FirstViolation)));
        assert!(outcome.status() == Status::Unsafe && outcome.conclusive() && outcome.iterations.len() == 2);
    }

    #[test]
    fn very_many_bounds_leave_few_records() {
        let outcome = run(script(&[1, 2, 2, 3]), 1, Some(100_000));
        let bounds: Vec<_> = outcome.iterations.iter().map(|iteration| iteration.bound.first()).collect();
        assert!(bounds.len() <= MANY_ITERATIONS + 4, "{}", bounds.len());
        assert_eq!((bounds[..3].to_vec(), bounds.last()), (vec![0, 1, 3], Some(&100_000)));
    }
}
