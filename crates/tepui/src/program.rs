//! From a Boolean program to an outcome.
//!
//! A program whose threads are all there from the start is one model. Where threads are created, their number is a
//! bound like any other: [`Creating`] is an engine whose bound is the number of places for threads, and which lets
//! other engines answer for each number. When places are never wanting, the answer is for any number.

use std::sync::Arc;

use tepui_cert::program::Certificate;
use tepui_core::{
    Bound, Budget, Engine, Evidence, Facts, Limit, Notes, Outcome, Query, Reason, Round, Status, Stop, Verdict, drive,
};
use tepui_lang::boolean::{
    self, CallReturn, Compiled, DEADLOCK, Execution, Lost, THREAD_LIMIT, Uncompiled, compile, creates_threads, retrace,
};
use tepui_model::program::{self, Action, Program};
use tepui_model::pushdown::Property;

use crate::certify::certify;
use crate::selfcheck::refusal;
use crate::verify::{Options, engine, verify};

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
    let (outcome, models) = search(program, compiling, options, budget)?;
    Ok(match models {
        Some(models) => conclude(program, compiling, outcome, models, budget),
        None => Verified::without_model(outcome),
    })
}

/// The models that an answer is about: the last one, and those before it in which something was found.
type Models = (Compiled, Vec<Compiled>);

/// What engines say about the models of a program. Nothing of it has been held against the program itself.
fn search(
    program: &Program,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
) -> Result<(Outcome, Option<Models>), Uncompiled> {
    let mut properties = compiling.property_names(program);
    properties.retain(|name| compiling.asks_for(program, name));
    properties.dedup();
    if properties.is_empty() {
        properties.push("views".to_owned());
    }
    // What the driver raises where threads are created is their number; the engine inside has a limit of its own.
    let query = Query { bound_limit: Some(vec![compiling.max_threads]), ..options.query(properties.clone()) };
    if !creates_threads(program, compiling.reduce) {
        let compiled = match compiling.compile_within(program, 1, budget) {
            Ok(compiled) => compiled,
            Err(why @ Uncompiled::Unsupported(_)) => return Err(why),
            Err(why) => {
                let outcome = Outcome::without_answer(&COMPILER, &query, &unanswered(&why, budget).into());
                return Ok((outcome, None));
            }
        };
        let outcome = answer(&compiled, compiling, options, budget);
        return Ok((outcome, Some((compiled, Vec::new()))));
    }
    let mut engine = Creating::new(program, compiling, options, properties);
    let mut outcome = drive(&mut engine, &query, &mut budget.clone());
    if let Some(why @ Uncompiled::Unsupported(_)) = engine.failed {
        return Err(why);
    }
    let Some(Model { engine: inside, compiled, .. }) = engine.model else {
        return Ok((outcome, None));
    };
    outcome.engine = inside.facts();
    Ok((outcome, Some((compiled, engine.smaller))))
}

/// How much work it may cost to look for deadlocks that nobody asked for: some hundredths of a second at most.
const DEADLOCK_WORK: u64 = 20_000;

/// The most rules of a model for which that is done: compiling it again is no work, but takes time.
const DEADLOCK_RULES: usize = 4_000;

/// Whether a program is found to get stuck without much ado.
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
    let budget = &budget.with_work(DEADLOCK_WORK);
    let (outcome, models) = search(program, &compiling, &Options::default(), budget).ok()?;
    let status = |outcome: &Outcome| {
        let property = outcome.properties.iter().find(|property| property.name == DEADLOCK);
        property.map(|property| property.verdict.status())
    };
    // A warning is a claim, and must hold of the program itself. That there is none claims nothing: no proof is checked.
    if status(&outcome)? != Status::Unsafe {
        return None;
    }
    let Verified { outcome, .. } = conclude(program, &compiling, outcome, models?, budget);
    (status(&outcome)? == Status::Unsafe).then_some(true)
}

/// Why there is no model to ask about.
fn unanswered(why: &Uncompiled, budget: &Budget) -> Stop {
    match (why, budget.clone().look()) {
        (Uncompiled::Stopped, Err(stop)) => stop,
        _ => Stop::GaveUp(why.to_string()),
    }
}

impl Verified {
    fn without_model(outcome: Outcome) -> Self {
        let (smaller, executions, unreached) = (Vec::new(), Vec::new(), Vec::new());
        Self { outcome, compiled: None, smaller, executions, certificate: None, unreached }
    }
}

/// What a program becomes before any engine sees it.
static COMPILER: Facts = Facts::unbounded("compiler", &["symbols"]);

fn answer(compiled: &Compiled, compiling: &Compiling, options: &Options, budget: &Budget) -> Outcome {
    let options = &with_call_return(compiled, compiling, options);
    // A program has no matching that could be wrong.
    verify(&compiled.model, options, budget).unwrap_or_else(|wrong| {
        let query = options.query(Vec::new());
        Outcome::without_answer(&COMPILER, &query, &Stop::defect(&wrong.to_string()).into())
    })
}

fn with_call_return(compiled: &Compiled, compiling: &Compiling, options: &Options) -> Options {
    let call_return = compiling.call_return.map(|relation| Arc::new(compiled.call_return(relation)));
    Options { call_return, ..options.clone() }
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
            && !outcome.raised.restarts
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

/// The number of threads is the bound.
static CREATING: Facts = Facts {
    restarts: true,
    at_limit: [
        "the limit of threads at the same time was reached",
        "--max-threads N looks at more threads at the same time",
    ],
    ..Facts::new("auto", &["threads"])
};

/// The same, where the engine inside is bounded as well.
static CREATING_WITHIN_BOUNDS: Facts = Facts { explored: "explored up to the bound, with up to {}", ..CREATING };

/// An engine whose bound is the number of threads that there may be at the same time: it holds an engine for the present
/// number, and hands on its rounds. Properties that are violated with fewer threads are not asked for again.
struct Creating<'a> {
    program: &'a Program,
    compiling: &'a Compiling,
    options: &'a Options,
    properties: Vec<String>,
    places: u32,
    model: Option<Model>,
    /// For each property whether there is a trace.
    traced: Vec<bool>,
    /// The models before the present one in which something was found to be violated.
    smaller: Vec<Compiled>,
    failed: Option<Uncompiled>,
}

/// The model with the present number of places.
struct Model {
    engine: Box<dyn Engine>,
    compiled: Compiled,
    /// The last round.
    last: Option<Round>,
    /// Whether a trace belongs to it.
    traced: bool,
    /// Whether all is known about this number.
    done: bool,
    /// Where threads are started for which there are no places, if that happens.
    full: Option<Full>,
}

/// More threads are wanted than there are places; at which line, if that is known.
#[derive(Clone, Copy)]
struct Full(Option<u32>);

impl Model {
    fn names(&self) -> impl Iterator<Item = &String> {
        self.compiled.model.properties().iter().map(|property| &property.name)
    }

    /// Notes that there are too few places, if the round shows it.
    fn look_for_more(&mut self, round: &Round, budget: &mut Budget) {
        let Some(own) = self.names().position(|name| name == THREAD_LIMIT) else { return };
        if self.full.is_some() || !round.violated.contains(&own) {
            return;
        }
        let trace = budget.with_grace(|budget| self.engine.trace(own, budget));
        let line = trace.ok().and_then(|(trace, _)| {
            let step = trace.as_pushdown()?.steps.last()?;
            Some(self.compiled.model.threads().get(step.thread)?.rules.get(step.rule)?.line)
        });
        self.full = Some(Full(line));
    }
}

impl<'a> Creating<'a> {
    fn new(program: &'a Program, compiling: &'a Compiling, options: &'a Options, properties: Vec<String>) -> Self {
        let traced = vec![false; properties.len()];
        let (model, smaller, failed) = (None, Vec::new(), None);
        Self { program, compiling, options, properties, places: 0, model, traced, smaller, failed }
    }

    /// The model with the places that there are now, and the properties that are open.
    fn compile(&self, budget: &Budget) -> Result<Compiled, Uncompiled> {
        let Compiled { model, legend } = self.compiling.compile_within(self.program, self.places, budget)?;
        let violated =
            |name: &str| self.properties.iter().zip(&self.traced).any(|(own, traced)| own == name && *traced);
        let open = model.properties().iter().filter(|property| !violated(&property.name)).cloned().collect();
        let model = model.with_properties(open).map_err(|malformed| Uncompiled::Unsupported(malformed.to_string()))?;
        Ok(Compiled { model, legend })
    }

    /// Goes on to the next number.
    fn raise(&mut self, budget: &Budget) -> Result<(), Stop> {
        self.places += 1;
        let compiled = self.compile(budget).map_err(|why| {
            let stop = unanswered(&why, budget);
            self.failed = Some(why);
            stop
        })?;
        let options = with_call_return(&compiled, self.compiling, self.options);
        let engine = engine(&compiled.model, &options, budget).map_err(|refused| refused.stop)?;
        let model = Model { engine, compiled, last: None, traced: false, done: false, full: None };
        self.smaller.extend(self.model.replace(model).filter(|model| model.traced).map(|model| model.compiled));
        Ok(())
    }

    fn bound(&self, places: u32) -> Bound {
        CREATING.bound(&[places])
    }

    fn own_facts(&self) -> &'static Facts {
        if self.options.prove { &CREATING } else { &CREATING_WITHIN_BOUNDS }
    }

    fn wants_more(&self) -> bool {
        self.model.as_ref().is_some_and(|model| model.full.is_some())
    }

    /// A round of the engine inside, as one about the program.
    fn told(&self, round: Round, again: bool) -> Round {
        let inside: Vec<&String> = self.model.iter().flat_map(Model::names).collect();
        let violated = |number: &usize| {
            self.traced[*number]
                || round.violated.iter().any(|&own| inside.get(own) == Some(&&self.properties[*number]))
        };
        Round {
            by: self.own_facts(),
            bound: self.bound(self.places),
            violated: (0..self.properties.len()).filter(violated).collect(),
            exhausted: round.exhausted && !self.wants_more(),
            test_due: round.test_due && !self.wants_more(),
            again,
            ..round
        }
    }
}

impl Engine for Creating<'_> {
    fn facts(&self) -> &'static Facts {
        self.own_facts()
    }

    fn next_bound(&self) -> Option<Bound> {
        let more = self.model.as_ref().is_none_or(|model| model.done);
        Some(self.bound(self.places + u32::from(more)))
    }

    fn explore(&mut self, budget: &mut Budget) -> Result<Round, Stop> {
        if self.model.as_ref().is_none_or(|model| model.done) {
            self.raise(budget)?;
        }
        let (prove, limit) = (self.options.prove, self.options.bound_limit.as_deref());
        let Some(model) = &mut self.model else { return Err(Stop::defect("there is no model")) };
        if limit.zip(model.engine.next_bound()).is_some_and(|(limit, bound)| bound.exceeds(limit)) {
            // Bounded exploration goes on with more threads.
            let last = model.last.clone().filter(|_| !prove).ok_or(Stop::Limit(Limit::Bound))?;
            model.done = true;
            return Ok(self.told(last, true));
        }
        let round = model.engine.explore(budget)?;
        model.look_for_more(&round, budget);
        let closed = match prove && model.full.is_some() && round.test_due {
            true => model.engine.converged(budget)?.is_some(),
            false => false,
        };
        model.done = closed || (round.exhausted && (model.full.is_some() || !prove));
        // Of several engines, one may have seen less than another had before.
        let views = model.last.as_ref().map_or(0, |last| last.views).max(round.views);
        let again = model.last.replace(Round { views, ..round.clone() }).is_some();
        Ok(self.told(Round { views, ..round }, again))
    }

    fn converged(&mut self, budget: &mut Budget) -> Result<Option<Evidence>, Stop> {
        self.model.as_mut().map_or(Ok(None), |model| model.engine.converged(budget))
    }

    fn trace(&mut self, property: usize, budget: &mut Budget) -> Result<(tepui_cert::Trace, Option<Bound>), Stop> {
        let Some(model) = &mut self.model else { return Err(Stop::defect("there is no model")) };
        let name = &self.properties[property];
        let Some(own) = model.compiled.model.properties().iter().position(|property| property.name == *name) else {
            return Err(Stop::defect("a property is not one of the model"));
        };
        let (trace, _) = model.engine.trace(own, budget)?;
        (self.traced[property], model.traced) = (true, true);
        // Within another bound, fewer threads may be enough if that is raised.
        Ok((trace, self.options.prove.then(|| self.bound(self.places))))
    }

    fn views(&self, violating: bool, budget: &mut Budget) -> Vec<String> {
        self.model.as_ref().map(|model| model.engine.views(violating, budget)).unwrap_or_default()
    }

    fn notes(&self) -> Notes {
        let Some(model) = &self.model else { return Notes::default() };
        let mut notes = model.engine.notes();
        if let Some(Full(line)) = model.full {
            let line = line.map_or(String::new(), |line| format!(" at line {line}"));
            notes.obstacles = vec![format!(
                "threads are started{line} while {} run already: nothing is known about more of them at the same time",
                self.places
            )];
        }
        notes
    }
}
