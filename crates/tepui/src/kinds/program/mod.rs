//! Programs: finite data, procedures, threads.
//!
//! A program is compiled to a pushdown system, and the engines for those look for an answer. Proofs and traces come back
//! to the program ([`way_back`]): a proof is one about the source, which the checker judges with the interpreter, and a
//! trace is followed on the interpreter. Only what holds there counts.

mod about;
mod certify;
mod creating;
mod delays;
mod engines;
mod evidence;
mod invariant;
mod question;
mod show;
mod tasks;
mod tell;
mod view;
mod way_back;

use std::sync::{Arc, OnceLock};

use tepui_cert::{Certificate, Trace};
use tepui_check::Rejected;
use tepui_core::{
    About, Budget, Limit, Member, Outcome, Portfolio, PropertyOutcome, Query, Reason, Status, Stop, Story, Verdict,
    drive,
};
use tepui_engines::program::code::Code;
use tepui_engines::program::crowd::Crowd;
use tepui_engines::program::system::Programs;
use tepui_engines::program::table::{self, Compiled, THREAD_LIMIT, Uncompiled, compile, creates_threads, explain};
use tepui_engines::program::{Face, Patience};
use tepui_lang::boolean::{self, DEADLOCK, print_program, print_with_remarks, read_program};
use tepui_lang::source::Source;
use tepui_model::Digest;
use tepui_model::program::{Action, Goal, Program, Property};
use tepui_model::pushdown;

use super::counters::COVERABILITY;
use super::{
    Answer, Asked, Checked, Detail, EngineInfo, Entry, Kind, Language, Printed, Read, Replayed, Stopping, Summary,
    open_because, others_that_apply,
};
use crate::run::confirmed;
use crate::{AUTO, Dialect, Error, Input, Options, Problem, Reading};
use creating::{CREATING, Creating};
use engines::{Engines, VIEWS};
use evidence::{check, evidence_of, replay, trace_of, trace_text};
use question::Question;
use tasks::Asynchronous;

pub(crate) use tasks::ENTRY as TASKS;
pub use tasks::{
    Bounding, COUNTING, CountLimits, CountRow, Counted, DISPATCH, Dispatcher, Order, Scheduler, scheduler,
};
pub use tepui_engines::program::table::CallReturn;

pub(crate) static ENTRY: Entry = Entry {
    what: "a Boolean program",
    plural: "Boolean programs",
    languages: &[Language {
        extension: "bp",
        summary: "concurrent Boolean programs with recursive procedures: Tepui's own dialect, and those of SATABS, Boppo and Getafix",
        companions: [None, None],
        several: false,
        parts: None,
        read,
    }],
    also_reads: &[],
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
        "--no-partial-order",
    ],
    instead: &[("--target", "assertions and --label say what must not happen")],
    forms: &[
        FORM,
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

/// The form in which every program can be printed.
const FORM: (&str, &str) = ("bp", "A program in Tepui's dialect, as it was read");

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
        &CROWDS,
    ]
};

/// Proofs for any number of threads.
static CROWDS: EngineInfo = EngineInfo { condition: Some("in which threads are created"), ..super::counters::DECIDING };

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
    /// The most threads at the same time, where threads are created and something is said about it.
    max_threads: Option<u32>,
    /// Whether the model may be made smaller where no verdict depends on it.
    reduce: bool,
    /// What is asked.
    question: Question,
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
            max_threads: reading.max_threads,
            reduce: !reading.no_reduction,
            question: Question::of(reading.deadlock),
            every_step: false,
            call_return: None,
            without_proofs: false,
        }
    }

    /// The most threads at the same time, where threads are created.
    fn most_threads(&self) -> u32 {
        self.max_threads.unwrap_or(MAX_THREADS)
    }

    /// The model of a program with places for some threads, where threads are created, unless a limit is reached.
    fn compile(&self, program: &Program, places: u32, patience: &Patience) -> Result<Compiled, Uncompiled> {
        let Compiled { model, legend } = compile(program, self.options(places), patience)?;
        let wanted = |property: &&pushdown::Property| {
            property.name == THREAD_LIMIT || self.question.asks_for(program, &property.name)
        };
        let properties = model.properties().iter().filter(wanted).cloned().collect();
        let unsupported = |malformed: pushdown::Malformed| Uncompiled::Unsupported(malformed.to_string());
        Ok(Compiled { model: model.with_properties(properties).map_err(unsupported)?, legend })
    }

    /// The properties that are asked for.
    fn properties(&self, program: &Program) -> Vec<Property> {
        self.question.properties(program)
    }

    /// What the compiler is told.
    fn options(&self, places: u32) -> table::Options {
        table::Options {
            places: places as usize,
            reduce: self.reduce,
            deadlock: self.question.deadlock,
            keep_dead: self.call_return.is_some_and(CallReturn::keeps_dead),
            keep_steps: self.every_step,
        }
    }
}

/// A dialect of programs.
fn dialect(dialect: Dialect) -> Result<boolean::Dialect, Error> {
    match dialect {
        Dialect::Tepui => Ok(boolean::Dialect::Tepui),
        Dialect::Satabs => Ok(boolean::Dialect::Satabs),
        Dialect::Boppo => Ok(boolean::Dialect::Boppo),
        Dialect::Getafix => Ok(boolean::Dialect::Getafix),
        Dialect::Old | Dialect::Today => {
            Err(Error::Misuse(format!("the dialects of {} are tepui, satabs, boppo and getafix", ENTRY.plural)))
        }
    }
}

fn read(input: &Input, reading: &Reading) -> Result<Read, Error> {
    let refused = |diagnostics| Error::Refused { diagnostics, sources: Vec::new() };
    let dialect = reading.dialect.map(dialect).transpose()?;
    let parsed = read_program(&input.main, dialect, &reading.labels).map_err(refused)?;
    Ok((vec![problem(parsed.program, input.main.clone(), reading)?], parsed.warnings))
}

/// A program of threads, or one of tasks, which are dispatched in the order that is asked for, if any is.
fn problem(mut program: Program, source: Source, reading: &Reading) -> Result<Box<dyn Kind>, Error> {
    match (program.order, reading.order) {
        (None, Some(_)) => Err(Error::Misuse(format!("--order is only for {}", tasks::ENTRY.plural))),
        (None, None) => Ok(Box::new(BooleanProgram::new(program, source))),
        (own, order) => {
            program.order = order.or(own);
            Ok(Box::new(Asynchronous::new(program, source)))
        }
    }
}

impl From<Program> for Problem {
    fn from(program: Program) -> Self {
        // Statements without a text are printed where they are told.
        let source = Source::new("", b"");
        Self::built(match program.order {
            None => Box::new(BooleanProgram::new(program, source)),
            Some(_) => Box::new(Asynchronous::new(program, source)),
        })
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
        self.program.properties(self.compiling.question.deadlock).into_iter().map(|property| property.name).collect()
    }

    fn configure(&mut self, reading: &Reading) {
        self.compiling = Compiling::of(reading);
        self.places = reading.max_threads.unwrap_or(PLACES_SHOWN);
    }

    fn ask(&mut self, asked: Asked) {
        self.compiling.question.ask(asked);
    }

    fn asked(&self) -> Vec<String> {
        self.compiling.question.names(&self.program)
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
        let (mut outcome, code) = search(&self.program, &compiling, options, budget)?;
        forget_bounds(&self.program, &mut outcome);
        let (outcome, checked) = confirmed(self, outcome, None, options, budget);
        let mut answer = Answer::of(outcome);
        if let Some(Certificate::Program(proof)) = answer.outcome.evidence().map(|evidence| &evidence.certificate)
            && options.invariant
        {
            answer.invariant = invariant::invariant(&self.program, proof, &|| budget.clone().look().is_err());
        }
        remark_on_rest(&code, &mut answer.outcome);
        if options.prove {
            let unreached = checked.map_or(Vec::new(), |checked| checked.unreached);
            answer.about = Some(self.about_answer(&code, &answer.outcome, &unreached, budget));
        }
        answer.violating.clone_from(&answer.outcome.violating);
        Ok(answer)
    }

    fn about(&self, budget: &Budget) -> Option<About> {
        Some(About { stuck: self.stuck(budget), ..About::default() })
    }

    fn check(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected> {
        let mut properties = self.compiling.properties(&self.program);
        properties.retain(|property| meant(&property.name));
        check(&self.program, &properties, evidence_of(&ENTRY, certificate)?, stop)
    }

    fn replay(&self, trace: &Trace, stop: Stopping<'_>) -> Result<Replayed, Rejected> {
        replay(&self.program, trace_of(&ENTRY, trace)?, stop)
    }

    fn tell(&self, trace: &Trace, _: Detail) -> Story {
        let Trace::Program(trace) = trace else { return Story::untold() };
        let Ok(execution) = tepui_check::program::replay(&self.program, trace, &|| false) else {
            return Story::untold();
        };
        tell::tell(&self.program, &self.source, &execution.start, &execution.steps)
    }

    fn trace_text(&self, trace: &Trace) -> String {
        trace_text(&self.program, trace)
    }

    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        // To find that all threads are blocked, the model takes steps that the program does not have.
        let sleeps = sleeps(&self.program);
        let shorter = super::pushdown::shorter(outcome, &|name| name != DEADLOCK && !sleeps);
        let raised = [&CREATING, &COVERABILITY].contains(&outcome.raised);
        let full = raised && open_because(outcome) == Some(&Reason::Limit(Limit::Bound));
        let more = full.then(|| "--max-threads N allows more simultaneous threads".to_owned());
        [shorter, others_that_apply(&ENTRY, outcome), more].into_iter().flatten().collect()
    }

    fn summary(&self) -> Result<Summary, Error> {
        let options = self.compiling.options(self.places);
        let code = Code::new(&self.program, options, Face::Composed, Patience::default());
        let code = code.map_err(|why| Error::Unsupported(why.0))?;
        Ok(show::summary(&self.program, &code, &self.compiling, &self.digest().to_string()))
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
        self.compiling.compile(&self.program, self.places, &Patience::default()).map_err(|why| unsupported(&why))
    }
}

/// Says so where no thread can move at the start: as a rule that is not what was meant.
fn remark_on_rest(code: &Arc<Code>, outcome: &mut Outcome) {
    let whole = outcome.iterations.last().is_some_and(|last| last.complete);
    if whole && Programs::new(Arc::clone(code), false, Vec::new()).is_at_rest() {
        outcome.remarks.insert(0, "no thread can move at the start: nothing ever happens".to_owned());
    }
}

/// What engines say about a program, and the program as they saw it: where threads are created, with the most places. Proofs
/// and traces are about the program; proofs have not been checked.
fn search(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
) -> Result<(Outcome, Arc<Code>), Error> {
    if creates_threads(program, compiling.reduce) {
        return search_creating(program, compiling, options, budget);
    }
    let engines = Engines::new(program, compiling, options, 1, compiling.properties(program), budget)?;
    if *options.engine == COVERABILITY {
        let why = Reason::NotApplicable("all threads of the program are there from the start".to_owned());
        let outcome = Outcome::without_answer(&COVERABILITY, &names(program, compiling), &why);
        return Ok((outcome, engines.code));
    }
    let outcome = engines.search(&options.query(names(program, compiling)), budget)?;
    Ok((outcome, engines.code))
}

/// The same where threads are created. If it is asked for an invariant, which proofs for any number of threads do not tell, these
/// come last.
fn search_creating(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
) -> Result<(Outcome, Arc<Code>), Error> {
    let found = raise_threads(program, compiling, options, budget)?;
    if !options.invariant || *options.engine != AUTO || found.0.conclusive() || budget.clone().look().is_err() {
        return Ok(found);
    }
    let options = Options { invariant: false, ..options.clone() };
    let (mut outcome, code) = raise_threads(program, compiling, &options, budget)?;
    if outcome.evidence().is_some() {
        outcome.remarks.push("a proof for any number of threads tells no invariant".to_owned());
    }
    Ok((outcome, code))
}

/// What the driver raises is the number of threads; the engine inside has a limit of its own. Where a proof for any number of them
/// may be found, it is looked for beside that.
fn raise_threads(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
) -> Result<(Outcome, Arc<Code>), Error> {
    let names = names(program, compiling);
    let creating = Creating::new(program, compiling, options, names.clone(), budget)?;
    let (inside, most) = (creating.inside(), vec![compiling.most_threads()]);
    let enough = Arc::new(OnceLock::new());
    let mut outcome = match crowd(program, compiling, options, &enough, budget) {
        None if *options.engine == COVERABILITY => {
            let why = Reason::NotApplicable("no property is asked for that it can prove".to_owned());
            Outcome::without_answer(&COVERABILITY, &names, &why)
        }
        Some(mut crowd) if *options.engine == COVERABILITY => {
            drive(&mut crowd, &options.query(names), &mut budget.clone())
        }
        None => {
            let query = Query { bound_limit: Some(most), ..options.query(names) };
            drive(&mut { creating }, &query, &mut budget.clone())
        }
        Some(crowd) => {
            let crowd = Member::new(crowd).within(options.bound_limit.clone());
            let members = vec![Member::new(creating).within(Some(most)), crowd];
            let query = Query { bound_limit: None, ..options.query(names) };
            drive(&mut *Portfolio::of(members, options.cores.threads), &query, &mut budget.clone())
        }
    };
    let (engine, code) = inside.look();
    if outcome.raised.resources == CREATING.resources {
        outcome.engine = engine.unwrap_or(outcome.engine);
    }
    // What is raised has no name of its own.
    if let Some(engine) = engine {
        let named =
            |remark: &mut String| *remark = remark.replace(" the engine auto", &format!(" the engine {}", engine.name));
        outcome.remarks.iter_mut().for_each(named);
    }
    let more = compiling.max_threads.is_none() && *options.engine == AUTO;
    match enough.get().filter(|_| more) {
        Some(others) => with_more_threads(program, compiling, options, budget, (outcome, code), *others),
        None => Ok((outcome, code)),
    }
}

/// There are violations with so many threads besides `main`: those that are still open are looked for with up to that number.
fn with_more_threads(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    budget: &Budget,
    (mut outcome, code): (Outcome, Arc<Code>),
    others: u64,
) -> Result<(Outcome, Arc<Code>), Error> {
    let open = outcome.properties.iter().filter(|property| property.verdict.status() == Status::Unknown);
    let open: Vec<_> = open.map(|property| property.name.clone()).collect();
    let most = u32::try_from(others).unwrap_or(u32::MAX).saturating_add(1);
    if open.is_empty() || most <= compiling.most_threads() || budget.clone().look().is_err() {
        return Ok((outcome, code));
    }
    let compiling = Compiling { question: compiling.question.only(open), max_threads: Some(most), ..compiling.clone() };
    let (more, code) = raise_threads(program, &compiling, options, budget)?;
    // There is one piece of evidence in the end: what is proved already is not given up for less.
    let proved = outcome.evidence().is_some();
    let counts = |own: &&PropertyOutcome| !proved || own.verdict.status() != Status::Safe;
    let found = |name: &str| more.properties.iter().filter(counts).find(|property| property.name == name).cloned();
    let properties = outcome.properties.into_iter().map(|own| found(&own.name).unwrap_or(own)).collect();
    let work = outcome.work + more.work;
    outcome = Outcome { properties, work, ..more };
    Ok((outcome, code))
}

/// Who looks for a proof for any number of threads, if only a verdict is asked for.
fn crowd(
    program: &Arc<Program>,
    compiling: &Compiling,
    options: &Options,
    enough: &Arc<OnceLock<u64>>,
    budget: &Budget,
) -> Option<Crowd> {
    let Options { engine, view_depth, prove, list_views, invariant, call_return, .. } = *options;
    let properties = compiling.properties(program);
    let asks = properties.iter().any(|property| !property.never.contains(&Goal::Deadlock));
    let verdict_only = prove && !list_views && !invariant && call_return.is_none();
    if ![&AUTO, &COVERABILITY].contains(&engine) || !asks || !verdict_only {
        return None;
    }
    // Threads that are woken together go on one by one, if each step is seen.
    let keep_steps = compiling.every_step || sleeps(program);
    let made = table::Options { keep_steps, ..compiling.options(1) };
    let code = Code::new(program, made, Face::Composed, Patience::of(budget, 0)).ok()?;
    Some(Crowd::new(Arc::new(code), properties, view_depth, Arc::clone(enough)))
}

/// The names of the properties that are asked for; without any, the question is which views there are.
fn names(program: &Program, compiling: &Compiling) -> Vec<String> {
    let mut names = compiling.question.names(program);
    names.dedup();
    if names.is_empty() {
        names.push(VIEWS.to_owned());
    }
    names
}

/// Why there is no model to ask about.
fn unanswered(why: &Uncompiled, budget: &Budget) -> Stop {
    match (why, budget.clone().look()) {
        (Uncompiled::Stopped, Err(stop)) => stop,
        (Uncompiled::NoTable(_), _) => Stop::NotApplicable(why.to_string()),
        _ => Stop::GaveUp(why.to_string()),
    }
}

/// To wake threads, and to find that all are blocked, the model takes steps that the program does not have: its bounds
/// are not those of the program.
fn forget_bounds(program: &Program, outcome: &mut Outcome) {
    let sleeps = sleeps(program);
    for property in &mut outcome.properties {
        if let Verdict::Unsafe(refuted) = &mut property.verdict
            && (sleeps || property.name == DEADLOCK)
            && !outcome.raised.restarts
        {
            *refuted = refuted.clone().without_bound();
        }
    }
}

/// Whether threads of a program sleep.
fn sleeps(program: &Program) -> bool {
    let mut statements = program.procedures.iter().flat_map(|procedure| &procedure.statements);
    statements.any(|statement| matches!(statement.action, Action::Sleep | Action::SleepOn(..)))
}
