//! From a Boolean program to an outcome.
//!
//! A program whose threads are all there from the start is one model. Where threads are created, their number is a
//! bound like any other: [`Creating`] is an engine whose bound is the number of places for threads, and which lets
//! other engines answer for each number. When places are never wanting, the answer is for any number.

use std::sync::Arc;

use tepui_cert::program::Certificate;
use tepui_core::{Bound, Budget, Engine, Evidence, Limit, Outcome, Reason, Round, Status, Stop, Task, Verdict, drive};
use tepui_lang::boolean::{
    self, CallReturn, Compiled, DEADLOCK, Execution, Lost, THREAD_LIMIT, Uncompiled, compile, creates_threads, retrace,
};
use tepui_model::program::{self, Action, Program};
use tepui_model::pushdown::Property;

use crate::certify::certify;
use crate::selfcheck::refusal;
use crate::verify::{Options, verify};

/// How a program becomes a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiling {
    /// The most threads at the same time, where threads are created.
    pub max_threads: u32,
    /// Whether the model may be made smaller where no verdict depends on it.
    pub reduce: bool,
    /// Whether it is asked for deadlocks.
    pub deadlock: bool,
    /// The properties that are asked for; all, if none is named.
    pub properties: Vec<String>,
    /// Whether the properties are left aside.
    pub no_properties: bool,
    /// Whether every step of the program is a step of the model, so that a proof speaks about every line.
    pub every_step: bool,
    /// The call-return relation that the generator test uses, if not what it derives by itself.
    pub call_return: Option<CallReturn>,
}

impl Default for Compiling {
    fn default() -> Self {
        Self {
            max_threads: 4,
            reduce: true,
            deadlock: false,
            properties: Vec::new(),
            no_properties: false,
            every_step: false,
            call_return: None,
        }
    }
}

/// What was found out about a program.
pub struct Verified {
    /// The outcome.
    pub outcome: Outcome,
    /// The model that it is about; where threads are created, the one with the most places.
    pub compiled: Option<Compiled>,
    /// Models with fewer places, in which violations were found.
    pub smaller: Vec<Compiled>,
    /// For each property the execution that violates it.
    pub executions: Vec<Option<Execution>>,
    /// The proof of what is safe, about the program itself.
    pub certificate: Option<Certificate>,
    /// Statements at which no thread ever stands, if there is a proof: procedures and positions.
    pub unreached: Vec<(usize, usize)>,
}

impl Compiling {
    /// The model of a program with places for some threads, where threads are created.
    pub fn compile(&self, program: &Program, places: u32) -> Result<Compiled, Uncompiled> {
        self.compile_within(program, places, &Budget::unlimited())
    }

    /// The same, unless a limit is reached.
    fn compile_within(&self, program: &Program, places: u32, budget: &Budget) -> Result<Compiled, Uncompiled> {
        let stop = || budget.clone().look().is_err();
        let compiled = compile(program, self.options(places), &stop)?;
        let wanted = |property: &&Property| property.name == THREAD_LIMIT || self.asks_for(program, &property.name);
        let properties = compiled.model.properties().iter().filter(wanted).cloned().collect();
        let Compiled { model, legend } = compiled;
        let model =
            model.with_properties(properties).map_err(|malformed| Uncompiled::Unsupported(malformed.to_string()))?;
        Ok(Compiled { model, legend })
    }

    /// The names of all properties that a program has.
    pub fn property_names(&self, program: &Program) -> Vec<String> {
        program.properties(self.deadlock).into_iter().map(|property| property.name).collect()
    }

    /// The properties that are asked for.
    pub fn properties(&self, program: &Program) -> Vec<program::Property> {
        let mut properties = program.properties(self.deadlock);
        properties.retain(|property| self.asks_for(program, &property.name));
        properties
    }

    /// Whether a property is asked for. Deadlocks and labels are asked for by themselves, whatever else is chosen.
    fn asks_for(&self, program: &Program, name: &String) -> bool {
        let by_itself = name == DEADLOCK || program.unreachable.iter().any(|target| target.label == *name);
        !self.no_properties && (by_itself || self.properties.is_empty() || self.properties.contains(name))
    }

    /// What the compiler is told.
    pub fn options(&self, places: u32) -> boolean::Options {
        let keep_dead = self.call_return.is_some_and(CallReturn::keeps_dead);
        boolean::Options {
            places: places as usize,
            reduce: self.reduce,
            deadlock: self.deadlock,
            keep_dead,
            keep_steps: self.every_step,
        }
    }

    /// All numbers of places that a model of a program may have, smallest first.
    pub fn places(&self, program: &Program) -> std::ops::RangeInclusive<u32> {
        match creates_threads(program, self.reduce) {
            true => 1..=self.max_threads,
            false => 1..=1,
        }
    }
}

/// Verifies the properties of a program. The error is about the program: it has more than can be dealt with.
pub fn verify_program(
    program: &Program,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
) -> Result<Verified, Uncompiled> {
    let mut properties = compiling.property_names(program);
    properties.retain(|name| compiling.asks_for(program, name));
    properties.dedup();
    if properties.is_empty() {
        properties.push("views".to_owned());
    }
    let task = Task {
        properties: properties.clone(),
        bound_limit: Some(vec![compiling.max_threads]),
        prove: options.prove,
        list_views: options.list_views,
        stop_at_first: options.stop_at_first,
    };
    if !creates_threads(program, compiling.reduce) {
        let compiled = match compiling.compile_within(program, 1, budget) {
            Ok(compiled) => compiled,
            Err(why @ Uncompiled::Unsupported(_)) => return Err(why),
            Err(why) => return Ok(Verified::nothing(&task, &unanswered(&why, budget))),
        };
        let outcome = answer(&compiled, compiling, options, budget);
        return Ok(conclude(program, compiling, outcome, (compiled, Vec::new()), budget));
    }
    let traces = vec![None; properties.len()];
    let mut engine = Creating {
        program,
        compiling,
        options,
        properties,
        places: 0,
        now: None,
        traces,
        smaller: Vec::new(),
        failed: None,
    };
    let mut outcome = drive(&mut engine, &task, &mut budget.clone());
    if let Some(why @ Uncompiled::Unsupported(_)) = engine.failed {
        return Err(why);
    }
    let Some((last, compiled)) = engine.now else {
        return Ok(Verified::without_model(outcome));
    };
    outcome.engine = last.engine;
    outcome.stored = last.stored;
    outcome.remarks.extend(last.remarks);
    Ok(conclude(program, compiling, outcome, (compiled, engine.smaller), budget))
}

/// How much work it may cost to look for deadlocks that nobody asked for: less than a twentieth of a second or so.
const DEADLOCK_WORK: u64 = 50_000;

/// The most rules of a model for which that is done: compiling it again is no work, but takes time.
const DEADLOCK_RULES: usize = 4_000;

/// Whether a program is found to get stuck without much ado; unknown, if its model is too large for that.
pub fn gets_stuck(
    program: &Program,
    compiling: &Compiling,
    compiled: Option<&Compiled>,
    budget: &Budget,
) -> Option<bool> {
    let rules = |compiled: &Compiled| compiled.model.threads().iter().map(|thread| thread.rules.len()).sum::<usize>();
    if compiled.is_some_and(|compiled| rules(compiled) > DEADLOCK_RULES) {
        return None;
    }
    let max_threads = compiling.max_threads.min(3);
    let properties = vec![DEADLOCK.to_owned()];
    let compiling = Compiling { deadlock: true, every_step: false, max_threads, properties, ..compiling.clone() };
    let verified = verify_program(program, &compiling, &Options::default(), &budget.with_work(DEADLOCK_WORK)).ok()?;
    let mut properties = verified.outcome.properties.iter();
    match properties.find(|property| property.name == DEADLOCK)?.verdict.status() {
        Status::Safe => Some(false),
        Status::Unsafe => Some(true),
        Status::Unknown => None,
    }
}

/// Why there is no model to ask about.
fn unanswered(why: &Uncompiled, budget: &Budget) -> Reason {
    match (why, budget.clone().look()) {
        (Uncompiled::Stopped, Err(stop)) => stop.into(),
        _ => Reason::GaveUp(why.to_string()),
    }
}

impl Verified {
    /// No answer.
    fn nothing(task: &Task, reason: &Reason) -> Self {
        Self::without_model(Outcome::without_answer("compiler", "symbols", task, reason))
    }

    fn without_model(outcome: Outcome) -> Self {
        let (smaller, executions, unreached) = (Vec::new(), Vec::new(), Vec::new());
        Self { outcome, compiled: None, smaller, executions, certificate: None, unreached }
    }
}

fn answer(compiled: &Compiled, compiling: &Compiling, options: &Options, budget: &Budget) -> Outcome {
    let call_return = compiling.call_return.map(|relation| Arc::new(compiled.call_return(relation)));
    // That there are too few places is no violation to stop at.
    let bounded = compiled.model.properties().iter().any(|property| property.name == THREAD_LIMIT);
    let stop_at_first = options.stop_at_first && !bounded;
    let options = &Options { call_return, stop_at_first, ..options.clone() };
    let task =
        || Task { properties: Vec::new(), bound_limit: None, prove: true, list_views: false, stop_at_first: false };
    // A program has no matching that could be wrong.
    verify(&compiled.model, options, budget)
        .unwrap_or_else(|wrong| Outcome::not_applicable("auto", "symbols", &task(), &wrong.to_string()))
}

/// Executions of the program for all violations, and the proof of the rest on the program itself. An answer that the
/// program's interpreter does not confirm is not believed.
fn conclude(
    program: &Program,
    compiling: &Compiling,
    mut outcome: Outcome,
    (compiled, smaller): (Compiled, Vec<Compiled>),
    budget: &Budget,
) -> Verified {
    let statements = || program.procedures.iter().flat_map(|procedure| &procedure.statements);
    let sleeps = statements().any(|statement| statement.action == Action::Sleep);
    let mut executions = Vec::new();
    let stop = || budget.clone().look().is_err();
    for property in &mut outcome.properties {
        // To wake threads, and to find that all are blocked, the model takes steps that the program does not have.
        if let Verdict::Unsafe(refuted) = &mut property.verdict
            && (sleeps || property.name == DEADLOCK)
            && outcome.resource != "threads"
        {
            *refuted = refuted.clone().without_bound();
        }
        let found = match &property.verdict {
            Verdict::Unsafe(refuted) => {
                let trace = refuted.trace().as_pushdown();
                trace.map(|trace| {
                    let own = smaller.iter().find(|smaller| smaller.model.digest() == trace.model);
                    execution(program, own.unwrap_or(&compiled), trace, &property.name, &stop)
                })
            }
            Verdict::Safe(_) | Verdict::Unknown(_) => None,
        };
        executions.push(match found {
            Some(Ok(execution)) => Some(execution),
            Some(Err(lost)) => {
                property.verdict = Verdict::Unknown(unfollowed(&lost, budget));
                None
            }
            None => None,
        });
    }
    let certified = certified(program, compiling, &mut outcome, &compiled, budget);
    let (certificate, unreached) = certified.unzip();
    let unreached = unreached.unwrap_or_default();
    Verified { outcome, compiled: Some(compiled), smaller, executions, certificate, unreached }
}

/// Why a violation is not believed.
fn unfollowed(lost: &Lost, budget: &Budget) -> Reason {
    match (lost, budget.clone().look()) {
        (Lost::Stopped, Err(stop)) => stop.into(),
        _ => Reason::SelfCheckFailed(format!("the program's interpreter cannot follow a trace: {lost}")),
    }
}

/// The proof about the program, if there is one and its checker accepts it, and what it shows to be unreachable.
fn certified(
    program: &Program,
    compiling: &Compiling,
    outcome: &mut Outcome,
    compiled: &Compiled,
    budget: &Budget,
) -> Option<(Certificate, Vec<(usize, usize)>)> {
    let proof = &outcome.evidence()?.certificate;
    let mut properties = compiling.properties(program);
    properties.retain(|property| outcome.is_safe(&property.name));
    let stop = || budget.clone().look().is_err();
    let reason = match proof.as_pushdown().map(|proof| certify(program, compiled, proof, &properties)) {
        None => Reason::SelfCheckFailed("the proof is not about the model of the program".to_owned()),
        Some(certificate) => match tepui_check::program::check(program, &properties, &certificate, &stop) {
            Ok(proof) => return Some((certificate, proof.unreached)),
            Err(rejected) => refusal(&rejected, budget),
        },
    };
    outcome.take_back(Status::Safe, &reason);
    None
}

/// The execution of a program that a trace of its model stands for. From time to time it is asked whether to stop.
pub fn execution(
    program: &Program,
    compiled: &Compiled,
    trace: &tepui_cert::pushdown::Trace,
    property: &str,
    stop: &dyn Fn() -> bool,
) -> Result<Execution, Lost> {
    let steps: Vec<_> = trace.steps.iter().map(|step| (step.thread, &step.after)).collect();
    retrace(program, compiled, property, &trace.start, &steps, stop)
}

/// An engine whose bound is the number of threads that there may be at the same time.
struct Creating<'a> {
    program: &'a Program,
    compiling: &'a Compiling,
    options: &'a Options,
    properties: Vec<String>,
    places: u32,
    /// The last answer, and what it is about.
    now: Option<(Outcome, Compiled)>,
    /// For each property that is violated, how, and with how many places. It is not asked for again with more of them.
    traces: Vec<Option<(tepui_cert::Trace, u32)>>,
    /// The models before the last in which something was found to be violated.
    smaller: Vec<Compiled>,
    failed: Option<Uncompiled>,
}

impl Creating<'_> {
    fn outcome(&self) -> Option<&Outcome> {
        self.now.as_ref().map(|(outcome, _)| outcome)
    }

    fn verdict(&self, name: &str) -> Option<&Verdict> {
        let properties = &self.outcome()?.properties;
        properties.iter().find(|property| property.name == name).map(|property| &property.verdict)
    }

    /// The model with the places that there are now, and the properties that are open.
    fn compile(&self, budget: &Budget) -> Result<Compiled, Uncompiled> {
        let Compiled { model, legend } = self.compiling.compile_within(self.program, self.places, budget)?;
        let violated =
            |name: &str| self.properties.iter().zip(&self.traces).any(|(own, trace)| own == name && trace.is_some());
        let open = model.properties().iter().filter(|property| !violated(&property.name)).cloned().collect();
        let model = model.with_properties(open).map_err(|malformed| Uncompiled::Unsupported(malformed.to_string()))?;
        Ok(Compiled { model, legend })
    }

    /// Whether some execution wants more threads than there are places for; unknown, if a limit was in the way.
    fn wants_more(&self) -> Option<bool> {
        match self.verdict(THREAD_LIMIT) {
            None | Some(Verdict::Safe(_)) => Some(false),
            Some(Verdict::Unsafe(_)) => Some(true),
            Some(Verdict::Unknown(_)) => None,
        }
    }

    /// Why the answer for these places is not complete.
    fn stop(&self) -> Option<Stop> {
        let unknown = self.outcome()?.properties.iter().find_map(|property| match &property.verdict {
            Verdict::Unknown(reason) => Some(reason.clone()),
            Verdict::Safe(_) | Verdict::Unsafe(_) => None,
        });
        match unknown? {
            // Bounded exploration goes on with more threads.
            Reason::Limit(Limit::Bound) if !self.options.prove => None,
            Reason::Limit(limit) => Some(Stop::Limit(limit)),
            Reason::Untraced { stop, .. } => Some(stop),
            Reason::NothingAsked => None,
            Reason::GaveUp(why) | Reason::NotApplicable(why) | Reason::SelfCheckFailed(why) => Some(Stop::GaveUp(why)),
        }
    }
}

impl Engine for Creating<'_> {
    fn name(&self) -> &'static str {
        self.outcome().map_or("auto", |outcome| outcome.engine)
    }

    fn resource(&self) -> &'static str {
        "threads"
    }

    fn next_bound(&self) -> Bound {
        Bound::on(&["threads"], &[self.places + 1])
    }

    fn explore(&mut self, budget: &mut Budget) -> Round {
        self.places += 1;
        let compiled = match self.compile(budget) {
            Ok(compiled) => compiled,
            Err(why) => {
                let stopped = match budget.look() {
                    Err(stop) => stop,
                    Ok(()) => Stop::GaveUp(why.to_string()),
                };
                self.failed = Some(why);
                return Round { stopped: Some(stopped), ..Round::default() };
            }
        };
        let outcome = answer(&compiled, self.compiling, self.options, budget);
        let last = outcome.iterations.last().cloned();
        for property in &outcome.properties {
            let number = self.properties.iter().position(|name| *name == property.name);
            if let (Some(number), Verdict::Unsafe(refuted)) = (number, &property.verdict) {
                self.traces[number].get_or_insert((refuted.trace().clone(), self.places));
            }
        }
        let violated = (0..self.properties.len()).filter(|&number| self.traces[number].is_some()).collect();
        let state_bytes = outcome.state_bytes;
        let before = self.now.replace((outcome, compiled));
        let traced = self.traces.iter().flatten().any(|(_, places)| places + 1 == self.places);
        self.smaller.extend(before.filter(|_| traced).map(|(_, compiled)| compiled));
        Round {
            states: last.as_ref().map_or(0, |last| last.states),
            views: last.as_ref().map_or(0, |last| last.views),
            steps: last.as_ref().map_or(0, |last| last.steps),
            state_bytes,
            violated,
            exhausted: self.wants_more() == Some(false),
            test_due: self.wants_more() == Some(false),
            stopped: self.stop(),
            ..Round::default()
        }
    }

    fn converged(&mut self, _: &mut Budget) -> Result<Option<Evidence>, Stop> {
        Ok(self.outcome().filter(|_| self.wants_more() == Some(false)).and_then(Outcome::evidence).cloned())
    }

    fn trace(&mut self, property: usize, _: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let Some((trace, places)) = &self.traces[property] else {
            return Err(Stop::GaveUp("the trace is missing".to_owned()));
        };
        // Within another bound, fewer threads may be enough if that is raised.
        let bound = self.options.prove.then(|| Bound::on(&["threads"], &[*places]));
        Ok((trace.clone(), bound))
    }

    fn views(&self, violating: bool, _: &mut Budget) -> Vec<String> {
        let listed = |outcome: &Outcome| if violating { outcome.violating.clone() } else { outcome.views.clone() };
        self.outcome().map(listed).unwrap_or_default()
    }

    fn obstacles(&self) -> Vec<String> {
        let Some(Verdict::Unsafe(refuted)) = self.verdict(THREAD_LIMIT) else {
            return self.outcome().map(|outcome| outcome.obstacles.clone()).unwrap_or_default();
        };
        let line = self.now.as_ref().and_then(|(_, compiled)| {
            let step = refuted.trace().as_pushdown()?.steps.last()?;
            Some(compiled.model.threads().get(step.thread)?.rules.get(step.rule)?.line)
        });
        let line = line.map_or(String::new(), |line| format!(" at line {line}"));
        vec![format!(
            "threads are started{line} while {} run already: nothing is known about more of them at the same time",
            self.places
        )]
    }
}
