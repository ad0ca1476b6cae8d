//! Asynchronous programs: tasks that are posted, run alone until they end or yield, and post others.
//!
//! `counting` decides what can happen in any order of dispatch.

use std::sync::Arc;

use tepui_cert::{Certificate, Trace};
use tepui_check::Rejected;
use tepui_core::{About, Budget, Member, Outcome, Portfolio, Reason, Story};
use tepui_engines::program::tasks::bounding::count;
use tepui_engines::program::tasks::counting::{Counting, unbounded_height};
use tepui_engines::program::tasks::dispatch::Dispatch;
use tepui_engines::program::tasks::scheduled;
use tepui_lang::boolean::{
    Purpose, Sequential, Sequentialized, print_boogie, print_c, print_program, read_c2s, read_program, sequentialize,
};
use tepui_lang::source::Source;
use tepui_model::Digest;
use tepui_model::program::step::Runner;
use tepui_model::program::{Program, Property};

use super::super::pushdown::OURS;
use super::super::{
    Answer, Asked, Checked, Detail, EngineInfo, Entry, Kind, Language, Printed, Read, Replayed, SequentialForm,
    Stopping, Summary, others_that_apply,
};
use super::evidence::{check, evidence_of, replay, trace_of, trace_text};
use super::question::Question;
use super::{about, delays, engines::VIEWS, show, tell};
use crate::run::run;
use crate::{AUTO, Error, Input, Options, Reading};

pub use tepui_engines::program::tasks::bounding::{Bounding, Counted, Limits as CountLimits, Row as CountRow};
pub use tepui_engines::program::tasks::counting::FACTS as COUNTING;
pub use tepui_engines::program::tasks::dispatch::FACTS as DISPATCH;
pub use tepui_model::program::Order;
pub use tepui_model::program::schedulers::{Dispatcher, Scheduler, scheduler};

pub(crate) static ENTRY: Entry = Entry {
    what: "an asynchronous program",
    plural: "asynchronous programs",
    languages: &[Language {
        extension: "cp",
        summary: "asynchronous programs, as c2s reads them: tasks that are posted and yield",
        companions: [None, None],
        several: false,
        parts: None,
        read,
    }],
    also_reads: &["bp"],
    engines: &[&BY_DEFAULT, &DECIDING, &FOLLOWING],
    bounded: &DISPATCH,
    flags: &["--dialect", "--label", "--deadlock", "--order", "--int-range", "--stacks"],
    instead: &[
        ("--target", "assertions and --label say what must not happen"),
        ("--max-threads", "there is no limit on the number of tasks"),
    ],
    forms: &[super::FORM],
    ask: "write `assert(c);` where something must hold, or ask for --deadlock or --label",
    same_options: Some("give the options that it was made with: --deadlock, --label, --order"),
    checks_proofs: true,
};

static BY_DEFAULT: EngineInfo = EngineInfo {
    facts: &AUTO,
    summary: "counting; dispatch beside it where an order is prescribed or deadlocks are asked for",
    condition: None,
    paper: OURS,
    flags: &["--scheduler"],
};

static DECIDING: EngineInfo = EngineInfo {
    facts: &COUNTING,
    summary: "any number of tasks in any order of dispatch: how many of which kind may be pending",
    condition: Some("whose tasks yield with stacks of bounded height"),
    paper: "Karp, Miller, 1969; Jhala, Majumdar, POPL 2007; Ganty, Majumdar, TOPLAS 2012",
    flags: &["--scheduler"],
};

static FOLLOWING: EngineInfo = EngineInfo {
    facts: &DISPATCH,
    summary: "delaying schedulers of tasks: at most so many pending, and so many delayed",
    condition: None,
    paper: "Emmi, Qadeer, Rakamarić, POPL 2011",
    flags: &["--scheduler", "--tasks"],
};

/// An asynchronous program with its text.
pub(super) struct Asynchronous {
    program: Arc<Program>,
    source: Source,
    question: Question,
}

impl Asynchronous {
    pub(super) fn new(program: Program, source: Source) -> Self {
        Self { program: Arc::new(program), source, question: Question::default() }
    }

    /// The properties that are asked for.
    fn asked_for(&self) -> Vec<Property> {
        self.question.properties(&self.program)
    }

    /// The sequential program, as it is written and as it is read.
    fn made_sequential(&self, delays: u32) -> Result<(Sequentialized, Program), Error> {
        let sequential = Sequential { delays, purpose: Purpose::Violations, mistake: None };
        let made = sequentialize(&self.program, &self.source.name, sequential).map_err(Error::Unsupported)?;
        let read = read_program(&Source::new("sequential", made.text.as_bytes()), None, &[]);
        let program = read.map_err(|_| Error::Unsupported("the sequential program cannot be read".to_owned()))?.program;
        Ok((made, program))
    }

    /// The engines that look for an answer. Where the order is prescribed, or deadlocks are asked for, both are needed.
    fn members(&self, options: &Options) -> Vec<Member> {
        let (program, properties) = (|| Arc::clone(&self.program), self.asked_for());
        let schedulers = || options.schedulers.0.clone();
        let counting = || Member::new(Counting::new(program(), properties.clone(), schedulers()));
        let dispatch = || {
            Member::new(
                Dispatch::new(program(), properties.clone(), schedulers()).within(options.bound_limit.as_deref()),
            )
        };
        let limit = || options.bound_limit.clone();
        let counted = self.program.order == Some(Order::Bag)
            && !self.question.deadlock
            && unbounded_height(&self.program).is_none();
        match options.engine {
            engine if *engine == COUNTING => vec![counting().within(limit())],
            engine if *engine == DISPATCH => vec![dispatch().within(limit())],
            _ if counted => vec![counting().within(limit())],
            _ => vec![counting().within(limit()), dispatch().within(limit())],
        }
    }
}

fn read(input: &Input, reading: &Reading) -> Result<Read, Error> {
    let refused = |diagnostics| Error::Refused { diagnostics, sources: Vec::new() };
    if reading.dialect.is_some() {
        return Err(Error::Misuse("--dialect is for .bp and .p files".to_owned()));
    }
    let parsed = read_c2s(&input.main, reading.int_range, &reading.labels).map_err(refused)?;
    Ok((vec![super::problem(parsed.program, input.main.clone(), reading)?], parsed.warnings))
}

impl Kind for Asynchronous {
    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn digest(&self) -> Digest {
        self.program.digest()
    }

    fn property_names(&self) -> Vec<String> {
        self.program.properties(self.question.deadlock).into_iter().map(|property| property.name).collect()
    }

    fn configure(&mut self, reading: &Reading) {
        self.question = Question::of(reading.deadlock);
    }

    fn ask(&mut self, asked: Asked) {
        self.question.ask(asked);
    }

    fn asked(&self) -> Vec<String> {
        self.question.names(&self.program)
    }

    fn verify(&self, options: &Options, budget: &Budget) -> Result<Answer, Error> {
        let mut names = self.asked();
        if names.is_empty() {
            names.push(VIEWS.to_owned());
        }
        let mut engine = Portfolio::of(self.members(options), options.cores.threads);
        let (outcome, checked) = run(self, &mut *engine, &options.query(names), options, budget);
        let mut answer = Answer::of(outcome);
        if options.prove {
            let unreached = checked.map_or(Vec::new(), |checked| checked.unreached);
            let properties = self.asked_for();
            let about = About {
                threads: "any number of tasks".to_owned(),
                unreached: about::unreached(&self.program, &self.source, &properties, &unreached),
                vacuous: about::vacuous(&properties, &answer.outcome, &unreached),
                stuck: None,
            };
            answer.about = Some(about);
        }
        Ok(answer)
    }

    fn check(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected> {
        let mut properties = self.asked_for();
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
        let mut story = tell::tell(&self.program, &self.source, &execution.start, &execution.steps);
        if let Some(scheduler) = trace.scheduler.as_deref().and_then(scheduler) {
            let runner = Runner::new(&self.program);
            delays::mark(&mut story, &*scheduler, &runner, &execution.start, &execution.steps);
        }
        story
    }

    fn trace_text(&self, trace: &Trace) -> String {
        trace_text(&self.program, trace)
    }

    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        let deep = unbounded_height(&self.program).is_some() && !outcome.conclusive();
        let sequential =
            "`tepui sequentialize` makes a program of one thread, for recursion of any depth and so many delays";
        others_that_apply(&ENTRY, outcome).into_iter().chain(deep.then(|| sequential.to_owned())).collect()
    }

    fn summary(&self) -> Result<Summary, Error> {
        let properties = self.asked();
        Ok(show::of_tasks(&self.program, &properties, &self.digest().to_string()))
    }

    fn executions(&self, bounding: &Bounding, limits: CountLimits, budget: &Budget) -> Result<Counted, Error> {
        if self.program.order != Some(Order::Bag) {
            let order = self.program.order.map_or("", Order::name);
            return Err(Error::Misuse(format!("with `tasks {order}` there is nothing to bound")));
        }
        let properties = self.asked_for();
        Ok(count(&self.program, &properties, bounding, limits, &mut budget.clone()))
    }

    fn sequential(&self, delays: u32, form: SequentialForm) -> Result<Printed, Error> {
        let (Sequentialized { text, .. }, program) = self.made_sequential(delays)?;
        let head: String =
            text.lines().take_while(|line| line.starts_with("//")).map(|line| format!("{line}\n")).collect();
        let (extension, printed) = match form {
            SequentialForm::Tepui => ("bp", Ok(text)),
            SequentialForm::C => ("c", print_c(&program, &head)),
            SequentialForm::Boogie => ("bpl", print_boogie(&program, &head)),
        };
        Ok(Printed { extension, text: printed.map_err(Error::Unsupported)? })
    }

    fn schedule(&self, delays: u32, trace: &Trace, budget: &Budget) -> Result<Trace, Error> {
        let (made, sequential) = self.made_sequential(delays)?;
        let Trace::Program(trace) = trace else {
            return Err(Error::Misuse("the trace is not one of a sequential program".to_owned()));
        };
        let stopper = budget.stopper();
        let execution = tepui_check::program::replay(&sequential, trace, &|| stopper.stopped().is_some());
        let execution = execution.map_err(|rejected| {
            let delays = tepui_core::text::count(delays.into(), "delay");
            Error::Misuse(format!("the trace is none of the sequential program for {delays} ({rejected})"))
        })?;
        let schedule = made.schedule(&self.program, &sequential, &execution.start, &execution.steps);
        let found = scheduled::follow(&self.program, &schedule.map_err(Error::Misuse)?, &mut budget.clone());
        found.map(Trace::Program).map_err(|stop| Error::Unsupported(Reason::from(stop).to_string()))
    }

    fn print(&self, form: &str) -> Result<Vec<Printed>, Error> {
        match form == super::FORM.0 {
            true => Ok(vec![Printed { extension: "bp", text: print_program(&self.program) }]),
            false => Err(Error::Misuse(format!("there is no form {form} of {}", ENTRY.what))),
        }
    }
}
