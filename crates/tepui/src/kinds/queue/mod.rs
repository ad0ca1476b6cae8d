//! Programs of state machines that send each other events: P, in two dialects.
//!
//! Each instance of a test is a problem of its own. What is asked about it are the sorts of errors that may happen in it.
//! `cover` looks for a proof from above, `queues` raises the length of queues, `closure` goes where a proof needs it, and `walk`
//! tries random executions.

mod errors;
mod growing;
mod log;
mod show;
mod tell;

use std::collections::BTreeSet;
use std::sync::Arc;

use tepui_cert::{Certificate, Trace};
use tepui_check::{Accepted, Rejected};
use tepui_core::{Budget, Facts, Member, Outcome, Portfolio, Query, Reason, Status, Story};
use tepui_engines::queue::cover::Cover;
use tepui_engines::queue::handlers;
use tepui_engines::queue::queues::Queues;
use tepui_engines::queue::walk::Walk;
use tepui_lang::diagnostic::Diagnostic;
use tepui_lang::p::{self, Parsed, TestCase, claims};
use tepui_lang::source::Source;
use tepui_model::Digest;
use tepui_model::queue::evaluate::Error as Wrong;
use tepui_model::queue::{Program, ToldKind};

use growing::Growing;

use super::{
    Answer, Asked, Checked, Detail, EngineInfo, Entry, Field, Kind, Language, Parts, Printed, Read, Replayed, Stopping,
    Summary, of_another_kind, open_because,
};
use crate::run::run;
use crate::{AUTO, CLOSURE, Dialect, Error, Input, Options, PartialOrder, Problem, Reading, Sending};

pub use tepui_engines::queue::cover::FACTS as COVER;
pub use tepui_engines::queue::queues::FACTS as QUEUES;
pub use tepui_engines::queue::summary::{Order as QueueOrder, Precision as QueuePrecision};
pub use tepui_engines::queue::walk::{FACTS as WALK, Options as Walking};

/// How much work `cover` may do alone before queues are raised beside it.
const HEAD_START: u64 = 200_000;

/// After how much work random executions are tried as well.
const HEAD_START_OF_SEARCH: u64 = 1_000_000;

pub(crate) static ENTRY: Entry = Entry {
    what: "a P program",
    plural: "P programs",
    languages: &[
        Language {
            extension: "p",
            summary: "P: state machines that send each other events, in today's dialect and in the old one",
            companions: [None, None],
            several: true,
            parts: None,
            read,
        },
        Language {
            extension: "pproj",
            summary: "project files of P, which say which .p files belong together",
            companions: [None, None],
            several: false,
            parts: Some(parts),
            read: read_project,
        },
    ],
    also_reads: &[],
    engines: &[&SIDE_BY_SIDE, &COVERING, &RAISING, &CLOSING, &WALKING],
    bounded: &QUEUES,
    flags: &[
        "--dialect",
        "--test-case",
        "--send",
        "--ignore-bounds",
        "--all-instances",
        "--attach-specs",
        "--svg",
        "--no-symmetry",
        "--no-partial-order",
        "--queue-invariant",
        "--invariant-file",
        "--assume-invariants",
        "--forget",
    ],
    instead: &[
        ("--target", "assertions and specs say what must not happen"),
        ("--deadlock", "deadlocks are looked for in any case"),
    ],
    forms: &[],
    ask: "attach a spec, or write `assert` where something must hold",
    same_options: Some(
        "give the options that it was made with: --test-case, --dialect, --send, --ignore-bounds, --all-instances, --attach-specs, \
         --queue-invariant, --invariant-file, --assume-invariants, --forget",
    ),
    checks_proofs: true,
};

const OURS: &str = "Tepui";
const PAPER: &str = "Liu, Wahl, Lal: Verifying Asynchronous Event-Driven Programs Using Partial Abstract Transformers";
const SUMMARIES: &[&str] = &["--summary", "--prefix", "--cap"];
const LOTS: &[&str] = &["--schedules", "--steps", "--seed"];

static SIDE_BY_SIDE: EngineInfo = EngineInfo {
    facts: &AUTO,
    summary: super::pushdown::WITH_SYMBOLIC.summary,
    condition: None,
    paper: OURS,
    flags: &["--summary", "--prefix", "--cap", "--seed"],
};

static COVERING: EngineInfo = EngineInfo {
    facts: &COVER,
    summary: "from above: states with summaries of queues, closed under every step, and more precise where that is needed",
    condition: None,
    paper: OURS,
    flags: SUMMARIES,
};

static RAISING: EngineInfo = EngineInfo {
    facts: &QUEUES,
    summary: "from below: states with queues of one event, of two and so on, until their summaries are closed",
    condition: None,
    paper: PAPER,
    flags: SUMMARIES,
};

static CLOSING: EngineInfo = EngineInfo {
    facts: &CLOSURE,
    summary: super::pushdown::CLOSURE.summary,
    condition: None,
    paper: OURS,
    flags: SUMMARIES,
};

static WALKING: EngineInfo = EngineInfo {
    facts: &WALK,
    summary: "random executions, for programs that are too large to prove",
    condition: None,
    paper: OURS,
    flags: LOTS,
};

/// A test of a project.
struct Tested {
    name: String,
    program: Arc<Program>,
    sources: Arc<Vec<Source>>,
    /// Whether `assume` leaves executions out.
    assumes: bool,
    /// The sorts of errors that are asked for.
    asked: Vec<Wrong>,
}

/// In which order the texts of a problem are numbered: those after the model come behind what belongs to other kinds.
const OTHERS: usize = 4;

fn read(input: &Input, reading: &Reading) -> Result<Read, Error> {
    let sources = std::iter::once(&input.main).chain(&input.others).cloned().collect();
    read_sources(sources, reading, |number| if number == 0 { 0 } else { number - 1 + OTHERS })
}

fn read_project(input: &Input, reading: &Reading) -> Result<Read, Error> {
    if input.others.is_empty() {
        let message = "the project has no sources";
        let diagnostics = vec![Diagnostic::error(0, 0..0, message, "name files or folders with `<PFile>`")];
        return Err(Error::Refused { diagnostics, sources: Vec::new() });
    }
    read_sources(input.others.clone(), reading, |number| number + OTHERS)
}

fn parts(source: &Source) -> Result<Parts, Diagnostic> {
    p::read_project(source).map(|project| Parts { files: project.files, includes: project.includes })
}

fn read_sources(sources: Vec<Source>, reading: &Reading, place: impl Fn(usize) -> usize) -> Result<Read, Error> {
    let options = p::Options {
        dialect: reading.dialect.map(dialect).transpose()?,
        send: match reading.sending {
            None => p::Send::AsTheDialect,
            Some(Sending::Atomic) => p::Send::Atomic,
            Some(Sending::Split) => p::Send::Split,
        },
        all_instances: reading.all_instances,
        attach_specs: reading.attach_specs,
    };
    let moved = |mut diagnostic: Diagnostic| {
        diagnostic.source = place(diagnostic.source);
        diagnostic
    };
    let refused =
        |found: Vec<_>| Error::Refused { diagnostics: found.into_iter().map(moved).collect(), sources: Vec::new() };
    let Parsed { tests, warnings, .. } = p::read(&sources, options).map_err(refused)?;
    if tests.is_empty() {
        let why = "there is nothing to verify: the project has no test and no machine called Main";
        let diagnostics =
            vec![Diagnostic::error(place(0), 0..0, why, "declare a test: `test name [main=M]: { ... };`")];
        return Err(Error::Refused { diagnostics, sources: Vec::new() });
    }
    let several = tests.len() > 1;
    let mut wanted = wanted(tests, &reading.test_cases)?;
    for test in &mut wanted {
        claim(&mut test.program, &sources, reading, &place)?;
        test.program.forgets = forgotten(&test.program, &reading.forget)?;
    }
    let sources = Arc::new(sources);
    let problem = |test: TestCase| -> Box<dyn Kind> {
        let mut program = test.program;
        if reading.ignore_bounds {
            program.events.iter_mut().for_each(|bound| *bound = None);
            program.kinds.iter_mut().for_each(|kind| kind.bound = None);
        }
        let name = if several { test.name } else { String::new() };
        let (asked, sources) = (errors::possible(&program), Arc::clone(&sources));
        Box::new(Tested { name, program: Arc::new(program), sources, assumes: test.assumes, asked })
    };
    Ok((wanted.into_iter().map(problem).collect(), warnings.into_iter().map(moved).collect()))
}

/// Adds what is claimed of queues, in comments and otherwise.
fn claim(
    program: &mut Program,
    sources: &[Source],
    reading: &Reading,
    place: &impl Fn(usize) -> usize,
) -> Result<(), Error> {
    let mut found = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        for (from, text) in claims::in_comments(&source.text) {
            found.push(claims::read_claim(text, program).map_err(|unclear| {
                let at = from + unclear.at;
                let message = format!("this is no claim about queues: {}", unclear.message);
                let diagnostics = vec![Diagnostic::error(place(number), at..at, message, "here")];
                Error::Refused { diagnostics, sources: Vec::new() }
            })?);
        }
    }
    for (origin, text) in &reading.claims {
        found.push(claims::read_claim(text, program).map_err(|unclear| {
            let (at, rest) = (unclear.at.min(text.len()), unclear.message);
            Error::Misuse(format!("{origin}: `{text}` is no claim about queues: {rest} (at column {})", at + 1))
        })?);
    }
    program.rules.assume_claims = reading.assume_claims && !found.is_empty();
    program.claims = found;
    Ok(())
}

/// The variables that are to be forgotten.
fn forgotten(program: &Program, names: &[String]) -> Result<BTreeSet<(usize, usize)>, Error> {
    let mut found = BTreeSet::new();
    for name in names {
        let of_kind = |(kind, told): (usize, &ToldKind)| {
            let rest = name.strip_prefix(told.name.as_str())?.strip_prefix('.')?;
            Some((kind, told.variables.iter().position(|variable| variable == rest)?))
        };
        let variable = program.told.kinds.iter().enumerate().find_map(of_kind);
        found.insert(variable.ok_or_else(|| {
            Error::Misuse(format!("there is no variable {name}; write MACHINE.VARIABLE, as in --forget Server.term"))
        })?);
    }
    Ok(found)
}

fn dialect(dialect: Dialect) -> Result<p::Dialect, Error> {
    match dialect {
        Dialect::Old => Ok(p::Dialect::Old),
        Dialect::Today => Ok(p::Dialect::Today),
        Dialect::Tepui | Dialect::Satabs | Dialect::Boppo | Dialect::Getafix => {
            Err(Error::Misuse(format!("the dialects of {} are old and today", ENTRY.plural)))
        }
    }
}

/// The tests that are meant: for each name the instances of the test that is called so, or else those whose names begin so.
fn wanted(tests: Vec<TestCase>, names: &[String]) -> Result<Vec<TestCase>, Error> {
    if names.is_empty() {
        return Ok(tests);
    }
    let mut keep = vec![false; tests.len()];
    for name in names {
        // What is behind the name of a test says which instance it is.
        let exact = |test: &TestCase| test.name == *name || test.name.split(['_', '(', '[']).next() == Some(name);
        let begins = |test: &TestCase| test.name.starts_with(name.as_str());
        let is = |test: &TestCase| if tests.iter().any(exact) { exact(test) } else { begins(test) };
        let before = keep.iter().filter(|kept| **kept).count();
        keep.iter_mut().zip(&tests).for_each(|(keep, test)| *keep |= is(test));
        if keep.iter().filter(|kept| **kept).count() == before && !tests.iter().any(is) {
            let known = tests.iter().map(|test| test.name.clone()).collect();
            return Err(Error::NoSuchTest { name: name.clone(), known });
        }
    }
    Ok(tests.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(test, _)| test).collect())
}

impl From<Program> for Problem {
    fn from(program: Program) -> Self {
        let asked = errors::possible(&program);
        let (name, sources) = (String::new(), Arc::new(Vec::new()));
        Self::built(Box::new(Tested { name, program: Arc::new(program), sources, assumes: false, asked }))
    }
}

impl Tested {
    fn members(&self, options: &Options, query: &Query) -> Vec<Member> {
        let (program, errors) = (|| Arc::clone(&self.program), || self.asked.clone());
        // From below, nothing that matters is forgotten.
        let whole = || match self.program.forgets.is_empty() {
            true => program(),
            false => Arc::new(Program { forgets: BTreeSet::new(), ..Program::clone(&self.program) }),
        };
        let precision = options.queue_precision;
        let symmetry = options.symmetry;
        let cover = || {
            let cover = Cover::new(program(), errors(), precision, symmetry);
            match options.partial_order {
                PartialOrder::Off => cover,
                PartialOrder::Auto => cover.with_partial_order(false),
                PartialOrder::Always => cover.with_partial_order(true),
            }
        };
        let queues = || Queues::new(whole(), errors(), precision.unwrap_or(QueuePrecision::ENDS), symmetry);
        let limit = || query.bound_limit.clone();
        let only = |engine: &'static Facts| *options.engine == *engine;
        // Of `walk` the bound is the number of executions.
        let least = limit().filter(|_| only(&WALK)).and_then(|limit| limit.first().copied()).unwrap_or(u32::MAX);
        let walking = Walking { schedules: options.walking.schedules.min(least), ..options.walking };
        let walk = || Walk::new(whole(), errors(), walking);
        if only(&COVER) {
            vec![Member::new(cover()).within(limit())]
        } else if only(&QUEUES) {
            vec![Member::new(queues()).within(limit())]
        } else if only(&WALK) {
            vec![Member::new(walk())]
        } else if only(&CLOSURE) {
            let precision = precision.unwrap_or(QueuePrecision::ENDS);
            vec![Member::new(Growing::new(whole(), errors(), precision)).within(limit())]
        } else {
            let mut members = vec![Member::new(cover()), Member::after(HEAD_START, queues()).within(limit())];
            // A claim that does not hold ends the run.
            if !self.asked.contains(&Wrong::Invariant) {
                members.push(Member::after(HEAD_START_OF_SEARCH, walk()));
            }
            members
        }
    }

    /// What the answer leaves out.
    fn assumptions(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.assumes {
            remarks.push("executions in which an `assume` does not hold are left out".to_owned());
        }
        let bounded =
            |bound: &Option<tepui_model::queue::Bound>| matches!(bound, Some(tepui_model::queue::Bound::Assume(_)));
        let kinds = self.program.kinds.iter().map(|kind| &kind.bound);
        if self.program.events.iter().chain(kinds).any(bounded) {
            let text = "executions with longer queues than `assume` allows are left out; --ignore-bounds looks at them";
            remarks.push(text.to_owned());
        }
        if self.program.rules.assume_claims {
            let text = "what is claimed of queues is assumed, not proved; without --assume-invariants it has to be proved, too";
            remarks.push(text.to_owned());
        }
        if !self.program.told.foreign.is_empty() {
            let names = self.program.told.foreign.join(", ");
            remarks.push(format!("foreign functions may return any value and do nothing else: {names}"));
        }
        remarks
    }
}

impl Kind for Tested {
    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn digest(&self) -> Digest {
        self.program.digest()
    }

    fn test_case(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty())
    }

    fn property_names(&self) -> Vec<String> {
        errors::possible(&self.program).into_iter().map(|error| error.name().to_owned()).collect()
    }

    fn ask(&mut self, asked: Asked) {
        match asked {
            // What is claimed to help is proved along with whatever is asked.
            Asked::Only(names) => {
                self.asked.retain(|error| *error == Wrong::Invariant || names.iter().any(|name| name == error.name()));
            }
            Asked::Views => self.asked.clear(),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.iter().map(|error| error.name().to_owned()).collect()
    }

    fn verify(&self, options: &Options, budget: &Budget) -> Result<Answer, Error> {
        let query = Query { list_views: false, ..options.query(self.asked()) };
        let mut engine = Portfolio::of(self.members(options, &query), options.cores.threads);
        let (mut outcome, checked) = run(self, &mut *engine, &query, options, budget);
        outcome.remarks.extend(checked.map(|checked| checked.remarks).unwrap_or_default());
        outcome.remarks.extend(self.assumptions());
        Ok(Answer::of(outcome))
    }

    fn check(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected> {
        let Certificate::Queue(certificate) = certificate else {
            return Err(of_another_kind(&ENTRY, "certificate"));
        };
        let properties: Vec<_> = self.asked().into_iter().filter(|name| meant(name)).collect();
        let proved = tepui_check::queue::check(&self.program, &properties, certificate, stop)?;
        let accepted = Accepted::Rows { properties: proved.properties, rows: proved.rows, assumed: self.assumptions() };
        let kinds = certificate.locals.iter().map(|(kind, _)| *kind).collect();
        let missing = handlers::missing(&self.program, &kinds, &proved.handled);
        let remarks = missing.map(|missing| format!("handlers that no execution comes to: {missing}"));
        Ok(Checked { remarks: remarks.into_iter().collect(), ..Checked::of(accepted) })
    }

    fn replay(&self, trace: &Trace, _: Stopping<'_>) -> Result<Replayed, Rejected> {
        let Trace::Queue(trace) = trace else { return Err(of_another_kind(&ENTRY, "trace")) };
        let replayed = tepui_check::queue::replay(&self.program, trace)?;
        let contexts = trace.contexts();
        Ok(Replayed { property: replayed.property, steps: replayed.steps, contexts, confirmed_by: None })
    }

    fn tell(&self, trace: &Trace, detail: Detail) -> Story {
        let Trace::Queue(trace) = trace else { return Story::untold() };
        tell::story(&self.program, &self.sources, trace, detail)
    }

    fn trace_text(&self, trace: &Trace) -> String {
        let Trace::Queue(trace) = trace else { return String::new() };
        let story = tell::story(&self.program, &self.sources, trace, Detail::Short);
        let remark = |number: usize| tell::remark(&story, number);
        trace.to_text(remark)
    }

    fn log(&self, trace: &Trace) -> Option<Vec<Field>> {
        let Trace::Queue(trace) = trace else { return None };
        Some(log::entries(&self.program, trace))
    }

    fn misled(&self, outcome: &Outcome) -> bool {
        let is_claim = |name: &str| name == Wrong::Invariant.name();
        outcome.properties.iter().any(|own| is_claim(&own.name) && own.verdict.status() == Status::Unsafe)
    }

    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        if self.misled(outcome) {
            let text = "a claim about queues does not hold, and nothing is proved with it: mend it, or leave it out";
            return vec![text.to_owned()];
        }
        match open_because(outcome) {
            Some(Reason::GaveUp(_)) if *outcome.engine != WALK => {
                vec!["`tepui explore` with --engine walk tries random executions".to_owned()]
            }
            _ => Vec::new(),
        }
    }

    fn summary(&self) -> Result<Summary, Error> {
        Ok(show::summary(&self.program, self.test_case(), &self.asked()))
    }

    fn print(&self, form: &str) -> Result<Vec<Printed>, Error> {
        Err(Error::Misuse(format!("there is no form {form} of {}", ENTRY.what)))
    }
}
