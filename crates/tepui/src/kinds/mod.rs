//! The kinds of models: all that the product has to know of each.
//!
//! A kind is a file or folder here, with an [`Entry`] that lists its languages, engines and options, and a type that
//! implements [`Kind`]: a problem of that kind, read from a text or built in code. Everything outside of this folder
//! speaks to the trait. The list of kinds is `tepui_model::kinds!`.

mod counters;
mod program;
mod pushdown;
mod queue;
mod rendezvous;

use tepui_cert::{Certificate, Trace};
use tepui_check::{Accepted, Rejected};
use tepui_core::{About, Budget, Facts, Invariant, Outcome, Reason, Story, Verdict};
use tepui_lang::diagnostic::Diagnostic;
use tepui_lang::source::Source;
use tepui_model::Digest;

use crate::error::list;
use crate::{AUTO, Error, Input, Options, Reading};

pub use counters::{COVERABILITY, THREADS, ThreadsAtStart};
pub use program::{
    Bounding, COUNTING, CallReturn, CountLimits, CountRow, Counted, DISPATCH, Dispatcher, Order, Scheduler, scheduler,
};
pub use pushdown::engine_facts::*;
pub use queue::{COVER, QUEUES, QueueOrder, QueuePrecision, WALK, Walking};
pub use rendezvous::{Abstraction, LANGUAGES as RENDEZVOUS, Policy, Refinement};

macro_rules! entries {
    ($($Kind:ident => $kind:ident),*) => {
        /// All kinds. Programs are of two: with threads, or with tasks.
        pub(crate) static KINDS: &[&Entry] = &[$(&$kind::ENTRY),*, &program::TASKS];

        /// The models of each kind, to be built in code.
        pub(crate) mod models {
            pub use tepui_model::{$($kind),*};
        }
    };
}

tepui_model::kinds!(entries);

/// What is true of all problems of a kind.
pub(crate) struct Entry {
    /// What a problem of this kind is, as in "x.cpds is a concurrent pushdown system".
    pub(crate) what: &'static str,
    /// The same for many.
    pub(crate) plural: &'static str,
    /// The languages in which they are written.
    pub(crate) languages: &'static [Language],
    /// The extensions of languages of other kinds in which they are written, too.
    pub(crate) also_reads: &'static [&'static str],
    /// The engines that apply.
    pub(crate) engines: &'static [&'static EngineInfo],
    /// The engine for bounded exploration where none is chosen.
    pub(crate) bounded: &'static Facts,
    /// The options on the command line that make sense for this kind, whatever the engine is, but not for all.
    pub(crate) flags: &'static [&'static str],
    /// What to do instead of giving an option or choosing an engine that is for other kinds.
    pub(crate) instead: &'static [(&'static str, &'static str)],
    /// The forms in which they can be printed, each with what it is.
    pub(crate) forms: &'static [(&'static str, &'static str)],
    /// How to ask for something, where nothing is asked for.
    pub(crate) ask: &'static str,
    /// How to give the options that evidence was made with, if it is about a model with other options.
    pub(crate) same_options: Option<&'static str>,
    /// Whether a proof counts only after the checker has accepted it in the same run.
    pub(crate) checks_proofs: bool,
}

impl Entry {
    /// Whether a language has models of this kind.
    pub(crate) fn reads(&self, language: &Language) -> bool {
        let own = |own: &Language| own.extension == language.extension;
        self.languages.iter().any(own) || self.also_reads.contains(&language.extension)
    }
}

/// A language that models are written in.
pub struct Language {
    /// The file name's extension.
    pub extension: &'static str,
    /// What it is.
    pub summary: &'static str,
    /// The extensions of files that belong to a model if they stand beside it: the initial state, what must not be reached.
    pub companions: [Option<&'static str>; 2],
    /// Whether several files, or all in a folder, may be one model.
    pub several: bool,
    /// What a file names that is no model itself, but says which files are one.
    pub parts: Option<ReadParts>,
    pub(crate) read: fn(&Input, &Reading) -> Result<Read, Error>,
}

/// Reads what a project names.
pub type ReadParts = fn(&Source) -> Result<Parts, Diagnostic>;

/// The files that a project is made of, as it names them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// Files and folders with sources.
    pub files: Vec<String>,
    /// Other projects.
    pub includes: Vec<String>,
}

/// What a reader makes of a text: a problem, or one for each test, and what it has to say about it.
pub(crate) type Read = (Vec<Box<dyn Kind>>, Vec<Diagnostic>);

/// An engine, for one kind of model or several.
#[derive(Debug)]
pub struct EngineInfo {
    /// What is true of it on every model: its name, what its bound limits.
    pub facts: &'static Facts,
    /// What it does.
    pub summary: &'static str,
    /// When it applies, if not always.
    pub condition: Option<&'static str>,
    /// Where the technique was published.
    pub paper: &'static str,
    /// The options on the command line that mean something to it, but not to every engine.
    pub flags: &'static [&'static str],
}

/// How much is told of the states in a story.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// What fits into a line.
    Short,
    /// Everything.
    Full,
}

/// Which properties are asked for.
pub(crate) enum Asked {
    /// Those with these names.
    Only(Vec<String>),
    /// None: the question is which views there are.
    Views,
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdicts, with how they were reached.
    pub outcome: Outcome,
    /// What they are about, where that can be told in the terms of a source.
    pub about: Option<About>,
    /// What the proof says about each line, if that was asked for and there is one.
    pub invariant: Option<Invariant>,
    /// The violating views of bounded exploration in the terms of the source, where they have such.
    pub violating: Vec<String>,
}

impl Answer {
    pub(crate) fn of(outcome: Outcome) -> Self {
        Self { outcome, about: None, invariant: None, violating: Vec::new() }
    }
}

/// What an accepted certificate proves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The properties, and how they are proved.
    pub accepted: Accepted,
    /// Statements at which no thread ever stands: procedures and positions.
    pub unreached: Vec<(usize, usize)>,
    /// What else it shows, in words.
    pub remarks: Vec<String>,
}

impl Checked {
    /// Properties, and nothing else.
    pub(crate) fn of(accepted: Accepted) -> Self {
        Self { accepted, unreached: Vec::new(), remarks: Vec::new() }
    }
}

/// What an accepted trace shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replayed {
    /// The property that is violated.
    pub property: String,
    /// The number of steps.
    pub steps: usize,
    /// The number of contexts.
    pub contexts: u32,
    /// Who else agrees.
    pub confirmed_by: Option<&'static str>,
}

/// What there is to say about a model without verifying it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// What it is.
    pub what: String,
    /// Facts with their labels.
    pub facts: Vec<(&'static str, String)>,
    /// Its threads as a table, with the head first.
    pub threads: Vec<Vec<String>>,
    /// What comes below, line by line.
    pub lines: Vec<String>,
    /// All of it for programs.
    pub fields: Vec<(&'static str, Field)>,
}

/// A value in a summary for programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    /// A number.
    Number(u64),
    /// A truth value.
    Flag(bool),
    /// A text.
    Text(String),
    /// Several values.
    List(Vec<Field>),
    /// Values with names.
    Object(Vec<(&'static str, Field)>),
    /// Values with names that come from a model.
    Named(Vec<(String, Field)>),
}

/// A text to be written to a file: the extension that belongs to it, and the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The extension.
    pub extension: &'static str,
    /// The text.
    pub text: String,
}

/// The language of a sequential program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SequentialForm {
    /// A program of ours.
    Tepui,
    /// C, for bounded model checkers.
    C,
    /// Boogie.
    Boogie,
}

/// From time to time asked whether to stop.
pub(crate) type Stopping<'a> = &'a dyn Fn() -> bool;

/// A problem of one kind: a model, what is asked about it, and what belongs to it where it was read from a text.
pub(crate) trait Kind: Send + Sync {
    /// What is true of all problems of the kind.
    fn entry(&self) -> &'static Entry;

    /// The fingerprint of what was read, which certificates name.
    fn digest(&self) -> Digest;

    /// What it is called, where one text has several problems.
    fn test_case(&self) -> Option<&str> {
        None
    }

    /// The names of all properties that there are.
    fn property_names(&self) -> Vec<String>;

    /// Takes over how it is to be read, where that matters after the text was read.
    fn configure(&mut self, _reading: &Reading) {}

    /// Restricts what is asked for.
    fn ask(&mut self, asked: Asked);

    /// The names of the properties that are asked for.
    fn asked(&self) -> Vec<String>;

    /// Refuses options that do not fit this very problem.
    fn require_fitting(&self, _options: &Options) -> Result<(), Error> {
        Ok(())
    }

    /// Looks for an answer.
    fn verify(&self, options: &Options, budget: &Budget) -> Result<Answer, Error>;

    /// What there is to say where nothing is asked for.
    fn about(&self, _budget: &Budget) -> Option<About> {
        None
    }

    /// Decides whether a certificate proves those of the properties asked for that are meant.
    fn check(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected>;

    /// Executes a trace.
    fn replay(&self, trace: &Trace, stop: Stopping<'_>) -> Result<Replayed, Rejected>;

    /// Tells a trace.
    fn tell(&self, trace: &Trace, detail: Detail) -> Story;

    /// The text form of a trace, with remarks for people.
    fn trace_text(&self, trace: &Trace) -> String;

    /// A trace as other tools for the language of the model write it, if there are such: a list of entries.
    fn log(&self, _: &Trace) -> Option<Vec<Field>> {
        None
    }

    /// What might be worth trying besides, after an answer.
    fn advice(&self, outcome: &Outcome) -> Vec<String>;

    /// Whether something that was given to help turned out to be wrong, and not the model.
    fn misled(&self, _: &Outcome) -> bool {
        false
    }

    /// What there is to say about the model.
    fn summary(&self) -> Result<Summary, Error>;

    /// The model in one of the forms of its kind, first, and what belongs to it.
    fn print(&self, form: &str) -> Result<Vec<Printed>, Error>;

    /// How many executions there are with a bound.
    fn executions(&self, _bounding: &Bounding, _limits: CountLimits, _budget: &Budget) -> Result<Counted, Error> {
        Err(Error::Misuse(format!(
            "executions are counted of {}, and this is {}",
            program::TASKS.plural,
            self.entry().what
        )))
    }

    /// The schedule that a trace of the sequential program for so many delays stands for.
    fn schedule(&self, delays: u32, _trace: &Trace, _budget: &Budget) -> Result<Trace, Error> {
        self.sequential(delays, SequentialForm::Tepui).and(Err(Error::Misuse("there are no tasks".to_owned())))
    }

    /// A sequential program that fails exactly if this one fails with at most so many delays.
    fn sequential(&self, _delays: u32, _form: SequentialForm) -> Result<Printed, Error> {
        Err(Error::Misuse(format!(
            "only {} can be made sequential, and this is {}",
            program::TASKS.plural,
            self.entry().what
        )))
    }
}

/// Why a run ended with open properties, if it did.
pub(crate) fn open_because(outcome: &Outcome) -> Option<&Reason> {
    outcome.properties.iter().find_map(|property| match &property.verdict {
        Verdict::Unknown(reason) => Some(reason),
        Verdict::Safe(_) | Verdict::Unsafe(_) => None,
    })
}

/// The engines of a kind that apply to every model of it, where the one that was chosen does not.
pub(crate) fn others_that_apply(entry: &Entry, outcome: &Outcome) -> Option<String> {
    let always = |engine: &&&EngineInfo| engine.condition.is_none() && *engine.facts != AUTO;
    let names = || entry.engines.iter().filter(always).map(|engine| engine.facts.name.to_owned()).collect::<Vec<_>>();
    let refused = matches!(open_because(outcome), Some(Reason::NotApplicable(_)));
    refused.then(|| format!("use --engine {}", list(&names(), "or")))
}

/// Evidence about a model of another kind.
pub(crate) fn of_another_kind(entry: &Entry, evidence: &str) -> Rejected {
    Rejected::new("kind", format!("the {evidence} is not about {}", entry.what))
}
