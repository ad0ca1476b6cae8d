//! Boolean programs: variables, procedures, threads.
//!
//! A program is compiled to a pushdown system, and the engines for those look for an answer. Proofs and traces come back
//! to the program ([`way_back`]): a proof is one about the source, which the checker judges with the interpreter, and a
//! trace is followed on the interpreter. Only what holds there counts.

mod about;
mod certify;
mod creating;
mod invariant;
mod tell;
mod view;
mod way_back;

use std::sync::Arc;

use tepui_cert::{Certificate, Trace};
use tepui_check::Rejected;
use tepui_core::{About, Budget, Facts, Limit, Outcome, Reason, Stop, Story, Verdict, drive};
use tepui_engines::program::table::{self, Compiled, THREAD_LIMIT, Uncompiled, compile, creates_threads, explain};
use tepui_engines::pushdown::generators::Pairs;
use tepui_lang::boolean::{DEADLOCK, print_program, print_with_remarks, read_program};
use tepui_lang::source::Source;
use tepui_model::Digest;
use tepui_model::program::{Action, Program, Property};
use tepui_model::pushdown;

use super::pushdown::{Setup, remark_on_rest, with_some_property};
use super::{
    Answer, Asked, Checked, Detail, EngineInfo, Entry, Kind, Language, Printed, Read, Replayed, Stopping, Summary,
    of_another_kind, open_because, others_that_apply,
};
use crate::run::confirmed;
use crate::{Error, Input, Options, Problem, Reading};
use creating::{CREATING, Creating};
use way_back::{ToSource, execution};

pub use tepui_engines::program::table::CallReturn;
pub use tepui_lang::boolean::Dialect;

pub(crate) static ENTRY: Entry = Entry {
    what: "a Boolean program",
    plural: "Boolean programs",
    languages: &[Language {
        extension: "bp",
        summary: "concurrent Boolean programs with recursive procedures: Tepui's own dialect, and those of SATABS, Boppo and Getafix",
        companions: None,
        read,
    }],
    engines: ENGINES,
    bounded: &super::CONTEXTS,
    flags: &[
        "--dialect",
        "--label",
        "--deadlock",
        "--max-threads",
        "--no-reduction",
        "--all-views",
        "--views",
        "--stacks",
        "--invariant",
        "--call-return",
        "--no-symmetry",
    ],
    instead: &[("--target", "assertions and --label say what must not happen")],
    forms: &[
        ("bp", "A program in Tepui's dialect, as it was read"),
        ("reduced", "A program after reduction: what is left of it, statement by statement"),
        super::pushdown::FORMS[0],
        super::pushdown::FORMS[1],
        super::pushdown::FORMS[2],
        super::pushdown::FORMS[3],
    ],
    ask: "write `assert(c);` where something must hold, or ask for --deadlock or --label",
    same_options: Some("give the options that it was made with: --deadlock, --label, --no-reduction, --max-threads"),
    checks_proofs: true,
};

const ENGINES: &[&EngineInfo] = {
    use super::pushdown as of;
    &[
        &of::WITH_SYMBOLIC,
        &of::CLOSURE,
        &of::DELAYS,
        &of::CONTEXTS,
        &of::EXPLICIT,
        &of::STATES,
        &of::VIEWS,
        &of::SYMBOLIC,
    ]
};

/// The most threads at the same time, where threads are created and nothing else is said.
const MAX_THREADS: u32 = 4;

/// The places of the model that is shown of a program, where threads are created and nothing else is said.
const PLACES_SHOWN: u32 = 2;

/// A program with its text.
struct BooleanProgram {
    program: Arc<Program>,
    source: Source,
    compiling: Compiling,
    /// The places of the model that is shown, where threads are created.
    places: u32,
}

/// How a program becomes a model.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Compiling {
    /// The most threads at the same time, where threads are created.
    max_threads: u32,
    /// Whether the model may be made smaller where no verdict depends on it.
    reduce: bool,
    /// Whether it is asked for deadlocks.
    deadlock: bool,
    /// The properties that are asked for; all, if none is named.
    properties: Vec<String>,
    /// Whether the properties are left aside.
    no_properties: bool,
    /// Whether every step of the program is a step of the model, so that a proof speaks about every line.
    every_step: bool,
    /// The call-return relation that the generator test uses, if not what it derives by itself.
    call_return: Option<CallReturn>,
    /// Whether nobody will look at proofs.
    without_proofs: bool,
}

impl Compiling {
    fn of(reading: &Reading) -> Self {
        Self {
            max_threads: reading.max_threads.unwrap_or(MAX_THREADS),
            reduce: !reading.no_reduction,
            deadlock: reading.deadlock,
            properties: Vec::new(),
            no_properties: false,
            every_step: false,
            call_return: None,
            without_proofs: false,
        }
    }

    /// The model of a program with places for some threads, where threads are created, unless a limit is reached.
    fn compile(&self, program: &Program, places: u32, stop: Stopping<'_>) -> Result<Compiled, Uncompiled> {
        let Compiled { model, legend } = compile(program, self.options(places), stop)?;
        let wanted =
            |property: &&pushdown::Property| property.name == THREAD_LIMIT || self.asks_for(program, &property.name);
        let properties = model.properties().iter().filter(wanted).cloned().collect();
        let unsupported = |malformed: pushdown::Malformed| Uncompiled::Unsupported(malformed.to_string());
        Ok(Compiled { model: model.with_properties(properties).map_err(unsupported)?, legend })
    }

    /// The properties that are asked for.
    fn properties(&self, program: &Program) -> Vec<Property> {
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
    fn options(&self, places: u32) -> table::Options {
        table::Options {
            places: places as usize,
            reduce: self.reduce,
            deadlock: self.deadlock,
            keep_dead: self.call_return.is_some_and(CallReturn::keeps_dead),
            keep_steps: self.every_step,
        }
    }

    /// All numbers of places that a model of a program may have, smallest first.
    fn places(&self, program: &Program) -> std::ops::RangeInclusive<u32> {
        let most = if creates_threads(program, self.reduce) { self.max_threads } else { 1 };
        1..=most
    }
}

fn read(input: &Input, reading: &Reading) -> Result<Read, Error> {
    let refused = |diagnostics| Error::Refused { diagnostics, sources: Vec::new() };
    let parsed = read_program(&input.main, reading.dialect, &reading.labels).map_err(refused)?;
    Ok((Box::new(BooleanProgram::new(parsed.program, input.main.clone())), parsed.warnings))
}

impl From<Program> for Problem {
    fn from(program: Program) -> Self {
        // Statements without a text are printed where they are told.
        Self::built(Box::new(BooleanProgram::new(program, Source::new("", b""))))
    }
}

impl Kind for BooleanProgram {
    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn digest(&self) -> Digest {
        self.program.digest()
    }

    fn property_names(&self) -> Vec<String> {
        self.program.properties(self.compiling.deadlock).into_iter().map(|property| property.name).collect()
    }

    fn configure(&mut self, reading: &Reading) {
        self.compiling = Compiling::of(reading);
        self.places = reading.max_threads.unwrap_or(PLACES_SHOWN);
    }

    fn ask(&mut self, asked: Asked) {
        match asked {
            Asked::Only(names) => self.compiling.properties = names,
            Asked::Views => self.compiling.no_properties = true,
        }
    }

    fn asked(&self) -> Vec<String> {
        self.compiling.properties(&self.program).into_iter().map(|property| property.name).collect()
    }

    fn require_fitting(&self, options: &Options) -> Result<(), Error> {
        match options.minimal.is_some() && creates_threads(&self.program, self.compiling.reduce) {
            true => Err(Error::Misuse(
                "--minimal is not for programs that create threads: their bound is the number of threads".to_owned(),
            )),
            false => Ok(()),
        }
    }

    fn verify(&self, options: &Options, budget: &Budget) -> Result<Answer, Error> {
        let (call_return, every_step) = (options.call_return, options.invariant);
        let compiling = Compiling { call_return, every_step, ..self.compiling.clone() };
        let (mut outcome, compiled) = search(&self.program, &compiling, options, budget)?;
        forget_bounds(&self.program, &mut outcome);
        let (outcome, checked) = confirmed(self, outcome, options, budget);
        let mut answer = Answer::of(outcome);
        if let Some(Certificate::Program(proof)) = answer.outcome.evidence().map(|evidence| &evidence.certificate)
            && options.invariant
        {
            answer.invariant = invariant::invariant(&self.program, proof, &|| budget.clone().look().is_err());
        }
        let Some(compiled) = compiled else { return Ok(answer) };
        remark_on_rest(&compiled.model, &mut answer.outcome);
        let outcome = &answer.outcome;
        if options.prove {
            let unreached = checked.map_or(Vec::new(), |checked| checked.unreached);
            answer.about = Some(self.about_answer(&compiled, outcome, &unreached, budget));
        }
        answer.violating = outcome.violating.iter().map(|view| view::tell(&self.program, &compiled, view)).collect();
        Ok(answer)
    }

    fn about(&self, budget: &Budget) -> Option<About> {
        Some(About { stuck: self.stuck(None, budget), ..About::default() })
    }

    fn check(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected> {
        let Certificate::Program(certificate) = certificate else {
            let Rejected { place, reason, .. } = of_another_kind(&ENTRY, "certificate");
            return Err(Rejected::new(place, reason + ", or was made by an older version of tepui"));
        };
        let mut properties = self.compiling.properties(&self.program);
        properties.retain(|property| meant(&property.name));
        let proof = tepui_check::program::check(&self.program, &properties, certificate, stop)?;
        Ok(Checked { accepted: proof.accepted, unreached: proof.unreached })
    }

    fn replay(&self, trace: &Trace, stop: Stopping<'_>) -> Result<Replayed, Rejected> {
        // What is read from a file are steps of the compiled model.
        let compiled = if let Trace::Program(trace) = trace { Some(&trace.compiled) } else { None };
        let read = if let Trace::Pushdown(trace) = trace { Some(trace) } else { None };
        let trace = compiled.or(read).ok_or_else(|| of_another_kind(&ENTRY, "trace"))?;
        let compiled = self.with_digest(&trace.model, stop)?;
        let property = tepui_check::pushdown::replay(&compiled.model, trace)?.property;
        let followed = execution(&self.program, &compiled, trace, &property, stop);
        let execution = followed.map_err(|why| Rejected::new("interpreter", format!("it cannot follow: {why}")))?;
        let contexts = tepui_cert::contexts(execution.steps.iter().map(|(thread, _)| *thread));
        Ok(Replayed {
            property,
            steps: execution.steps.len(),
            contexts,
            confirmed_by: Some("the program's interpreter"),
        })
    }

    fn tell(&self, trace: &Trace, _: Detail) -> Story {
        let Trace::Program(trace) = trace else { return Story::untold() };
        tell::tell(&self.program, &self.source, &trace.start, &trace.steps)
    }

    fn trace_text(&self, trace: &Trace) -> String {
        let Trace::Program(trace) = trace else { return String::new() };
        trace.to_text()
    }

    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        // To find that all threads are blocked, the model takes steps that the program does not have.
        let shorter = super::pushdown::shorter(outcome, &|name| name != DEADLOCK);
        let full = *outcome.raised == CREATING && open_because(outcome) == Some(&Reason::Limit(Limit::Bound));
        let more = full.then(|| "--max-threads N allows more simultaneous threads".to_owned());
        [shorter, others_that_apply(&ENTRY, outcome), more].into_iter().flatten().collect()
    }

    fn summary(&self) -> Result<Summary, Error> {
        let model = self.model()?.model;
        let many = |number: usize, one: &str| if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") };
        let sizes = format!(
            "{}, {}",
            many(self.program.shared.len(), "shared variable"),
            many(self.program.procedures.len(), "procedure")
        );
        let threads = match creates_threads(&self.program, self.compiling.reduce) {
            true => format!("\n  threads are created: what follows has places for {}", model.threads().len()),
            false => String::new(),
        };
        let what = format!("a Boolean program with {sizes}; compiled:{threads}");
        Ok(Summary { what, ..super::pushdown::summary(&model, self.digest()) })
    }

    fn print(&self, form: &str) -> Result<Vec<Printed>, Error> {
        let printed = |text: String| Ok(vec![Printed { extension: "bp", text }]);
        match form {
            "bp" => printed(print_program(&self.program)),
            "reduced" => {
                let explained = explain(&self.program, self.compiling.options(self.places));
                let explained = explained.map_err(|why| unsupported(&why))?;
                let head: String = explained.head.iter().map(|line| format!("// {line}\n")).collect();
                let remark = |procedure: usize, position: usize| explained.remark(procedure, position);
                printed(head + "\n" + &print_with_remarks(&self.program, &remark))
            }
            _ => super::pushdown::print(&self.model()?.model, form)
                .ok_or_else(|| Error::Misuse(format!("there is no form {form} of {}", ENTRY.what))),
        }
    }
}

fn unsupported(why: &Uncompiled) -> Error {
    Error::Unsupported(why.to_string())
}

impl BooleanProgram {
    fn new(program: Program, source: Source) -> Self {
        let compiling = Compiling::of(&Reading::default());
        Self { program: Arc::new(program), source, compiling, places: PLACES_SHOWN }
    }

    /// The model that is shown; where threads are created, it has places for a few of them.
    fn model(&self) -> Result<Compiled, Error> {
        self.compiling.compile(&self.program, self.places, &|| false).map_err(|why| unsupported(&why))
    }

    /// The model with a digest: where threads are created, there is one for each number of places.
    fn with_digest(&self, digest: &Digest, stop: Stopping<'_>) -> Result<Compiled, Rejected> {
        // Some call-return relations are about a model that keeps dead values, and an invariant is about every step.
        let keeping = Compiling { call_return: Some(CallReturn::Plain), ..self.compiling.clone() };
        let stepping = Compiling { every_step: true, ..self.compiling.clone() };
        for compiling in [&self.compiling, &keeping, &stepping] {
            for places in compiling.places(&self.program) {
                let compiled = compiling.compile(&self.program, places, stop);
                let compiled = compiled.map_err(|why| Rejected::new("program", why.to_string()))?;
                if compiled.model.digest() == *digest {
                    return Ok(compiled);
                }
            }
        }
        Err(Rejected::new("model", "the trace is about another model (the digests differ)"))
    }
}

/// What engines say about a program, and the model that it is about: where threads are created, the one with the most
/// places. Proofs and traces are about the program; proofs have not been checked.
fn search(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
) -> Result<(Outcome, Option<Arc<Compiled>>), Error> {
    if creates_threads(program, compiling.reduce) {
        return search_creating(program, compiling, options, budget);
    }
    let stop = || budget.clone().look().is_err();
    let compiled = match compiling.compile(program, 1, &stop) {
        Ok(compiled) => Arc::new(compiled),
        Err(why @ Uncompiled::Unsupported(_)) => return Err(unsupported(&why)),
        Err(why) => {
            let query = options.query(names(program, compiling));
            return Ok((Outcome::without_answer(&COMPILER, &query.properties, &unanswered(&why, budget).into()), None));
        }
    };
    let model = with_some_property(&compiled.model);
    let query = options.query(model.properties().iter().map(|property| property.name.clone()).collect());
    let wrap = ToSource::new(program, compiling, &compiled).wrap();
    let outcome = match Setup::new(&model, options, budget, &wrap) {
        Ok(setup) => setup.with_pairs(pairs(&compiled, options)).search(&query),
        Err(refused) => refused.outcome(&query),
    };
    Ok((outcome, Some(compiled)))
}

/// The same where threads are created. What the driver raises is their number; the engine inside has a limit of its own.
fn search_creating(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
) -> Result<(Outcome, Option<Arc<Compiled>>), Error> {
    let names = names(program, compiling);
    let query = tepui_core::Query { bound_limit: Some(vec![compiling.max_threads]), ..options.query(names.clone()) };
    let mut engine = Creating::new(program, compiling, options, names);
    let mut outcome = drive(&mut engine, &query, &mut budget.clone());
    if let Some(why @ Uncompiled::Unsupported(_)) = engine.failed.take() {
        return Err(unsupported(&why));
    }
    let Some((facts, compiled)) = engine.inside() else { return Ok((outcome, None)) };
    outcome.engine = facts;
    Ok((outcome, Some(Arc::clone(compiled))))
}

/// The names of the properties that are asked for; without any, the question is which views there are.
fn names(program: &Program, compiling: &Compiling) -> Vec<String> {
    let mut names: Vec<_> = compiling.properties(program).into_iter().map(|property| property.name).collect();
    names.dedup();
    if names.is_empty() {
        names.push("views".to_owned());
    }
    names
}

/// What a program becomes before any engine sees it.
static COMPILER: Facts = Facts::unbounded("compiler", &["symbols"]);

/// What the generator test is told about returns, where the user chooses.
fn pairs(compiled: &Compiled, options: &Options) -> Option<Pairs> {
    options.call_return.map(|relation| Arc::new(compiled.call_return(relation)))
}

/// Why there is no model to ask about.
fn unanswered(why: &Uncompiled, budget: &Budget) -> Stop {
    match (why, budget.clone().look()) {
        (Uncompiled::Stopped, Err(stop)) => stop,
        _ => Stop::GaveUp(why.to_string()),
    }
}

/// To wake threads, and to find that all are blocked, the model takes steps that the program does not have: its bounds
/// are not those of the program.
fn forget_bounds(program: &Program, outcome: &mut Outcome) {
    let mut statements = program.procedures.iter().flat_map(|procedure| &procedure.statements);
    let sleeps = statements.any(|statement| statement.action == Action::Sleep);
    for property in &mut outcome.properties {
        if let Verdict::Unsafe(refuted) = &mut property.verdict
            && (sleeps || property.name == DEADLOCK)
            && !outcome.raised.restarts
        {
            *refuted = refuted.clone().without_bound();
        }
    }
}
