//! What a run found out.

use std::time::Instant;

use tepui_cert::Trace;

use crate::{Approximation, Bound, Evidence, Facts, Limit, Reason, Round, Status, Verdict};

/// The record of one bound: all that a table or a plot needs. A run through very many bounds keeps all that brought new
/// views, and of the others evenly spaced ones.
#[derive(Clone, PartialEq, Debug)]
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
    pub approximations: Vec<Approximation>,
    /// Which of the engine's rounds it was.
    round: u32,
}

/// How many records are kept before those of long plateaus are thinned out.
pub(crate) const MANY_ITERATIONS: usize = 512;

/// The records of one engine.
pub(crate) struct Records {
    pub(crate) by: &'static Facts,
    pub(crate) iterations: Vec<Iteration>,
    pub(crate) state_bytes: u64,
    /// States and views at the bound before the last one, and at the last one.
    before: [(u64, u64); 2],
    /// Records of plateaus are kept for every so many-th round; so many there are.
    rounds: u32,
    stride: u32,
    quiet: usize,
}

impl Records {
    pub(crate) fn new(by: &'static Facts) -> Self {
        Self { by, iterations: Vec::new(), state_bytes: 0, before: [(0, 0); 2], rounds: 0, stride: 1, quiet: 0 }
    }

    pub(crate) fn add(&mut self, round: &Round, start: Instant) {
        if round.again {
            self.iterations.pop();
        } else {
            self.before[0] = self.before[1];
            self.thin_out();
        }
        let (states, views) = self.before[0];
        self.before[1] = (round.states, round.views);
        self.state_bytes = round.state_bytes;
        self.iterations.push(Iteration {
            bound: round.bound,
            states: round.states,
            new_states: round.states.saturating_sub(states),
            views: round.views,
            new_views: round.views.saturating_sub(views),
            steps: round.steps,
            open: round.open,
            seconds: start.elapsed().as_secs_f64(),
            tested: false,
            complete: round.stopped.is_none(),
            approximations: round.approximations.clone(),
            round: self.rounds,
        });
        self.rounds = self.rounds.saturating_add(1);
    }

    /// Lets go of the record before the next one, if it is one of too many.
    fn thin_out(&mut self) {
        let stride = self.stride;
        if self.iterations.pop_if(|last| last.new_views == 0 && !last.round.is_multiple_of(stride)).is_none() {
            self.quiet += usize::from(self.iterations.last().is_some_and(|last| last.new_views == 0));
        }
        if self.quiet >= MANY_ITERATIONS {
            let stride = self.stride.saturating_mul(2);
            self.iterations.retain(|record| record.new_views > 0 || record.round.is_multiple_of(stride));
            self.quiet = self.iterations.iter().filter(|record| record.new_views == 0).count();
            self.stride = stride;
        }
    }
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
    pub engine: &'static Facts,
    /// The engine whose bounds were raised: the one that answered, or one around it.
    pub raised: &'static Facts,
    /// What is stored and counted as states, in words for one and for many: states, or sets of them.
    pub stored: [&'static str; 2],
    /// What is seen of a state.
    pub view: &'static str,
    /// Whether threads were left to wait where that hides no violation: then there may be more states and views.
    pub reduced: bool,
    /// Whether what is stored covers all states and more, so that no view is claimed to be reached.
    pub from_above: bool,
    /// One answer for each property.
    pub properties: Vec<PropertyOutcome>,
    /// One record for each bound.
    pub iterations: Vec<Iteration>,
    /// The smallest bound at which the views are complete; known once convergence is proved.
    pub cutoff: Option<Bound>,
    /// Bytes held for the states.
    pub state_bytes: u64,
    /// The views reached, if the query asks for them.
    pub views: Vec<String>,
    /// The views reached that violate a property, after bounded exploration.
    pub violating: Vec<String>,
    /// What stands in the way of a proof, where none was found.
    pub obstacles: Vec<String>,
    /// What else there is to say.
    pub remarks: Vec<String>,
    /// Work done, whoever did it.
    pub work: u64,
}

impl Outcome {
    /// Whether numbers of views mean something: those that can be reached.
    pub fn has_views(&self) -> bool {
        !self.reduced && !self.from_above
    }

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

    /// The trace to the first of the violations.
    pub fn trace(&self) -> Option<&Trace> {
        self.properties.iter().find_map(|property| match &property.verdict {
            Verdict::Unsafe(refuted) => Some(refuted.trace()),
            Verdict::Safe(_) | Verdict::Unknown(_) => None,
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

    /// The outcome where nothing could be explored.
    pub fn without_answer(engine: &'static Facts, properties: &[String], reason: &Reason) -> Self {
        let unknown = || Verdict::Unknown(reason.clone());
        let properties = properties.iter().map(|name| PropertyOutcome { name: name.clone(), verdict: unknown() });
        Self {
            engine,
            raised: engine,
            stored: ["state", "states"],
            view: "view",
            reduced: false,
            from_above: false,
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
            self.engine.name,
            says(one.verdict.claims()?),
            other.engine.name,
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

    /// Takes back every answer of one kind.
    pub fn take_back(&mut self, status: Status, reason: &Reason) {
        for property in self.properties.iter_mut().filter(|property| property.verdict.status() == status) {
            property.verdict = Verdict::Unknown(reason.clone());
        }
        if status == Status::Safe {
            self.cutoff = None;
        }
    }

    /// Whether a property is proved.
    pub fn is_safe(&self, name: &str) -> bool {
        let mut properties = self.properties.iter();
        properties.any(|property| property.name == name && property.verdict.status() == Status::Safe)
    }
}
