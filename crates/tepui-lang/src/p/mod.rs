//! P: protocols written as state machines with queues, in the dialect of today and in the old one.
//!
//! A project is read in one go: all its sources are parsed (`parse`), names are collected (`names`), and everything that is
//! declared is compiled (`compile`) once for each instance of a test (`modules`, `instances`).

pub mod claims;
mod compile;
mod instances;
mod modules;
mod names;
mod parse;
mod project;
mod syntax;
mod token;
mod types;

use tepui_model::queue::Program;

use crate::diagnostic::{Diagnostic, Sink};
use crate::source::Source;
use compile::{Compiler, Setting};
use modules::Tests;
use names::Names;
use parse::Parser;
use syntax::Project;

pub use project::{ProjectFile, read_project};

/// The dialects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// P 1, with bounds on events and stacks of states.
    Old,
    /// P 3.
    Today,
}

/// Whether an event is in the queue as soon as specs have heard of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Send {
    /// As in the dialect: in the old one it is.
    #[default]
    AsTheDialect,
    /// It is.
    Atomic,
    /// Other machines may move in between.
    Split,
}

/// How a project is to be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The dialect; found out from the text, if it is not given.
    pub dialect: Option<Dialect>,
    /// When events are in queues.
    pub send: Send,
    /// Whether tests that are samples of their instances stand for all of them.
    pub all_instances: bool,
    /// Whether specs that a test does not attach are attached to it all the same.
    pub attach_specs: bool,
}

/// A project that was read.
#[derive(Debug)]
pub struct Parsed {
    /// The dialect that it is written in.
    pub dialect: Dialect,
    /// The instances of its tests. One without a name is that of a project without tests.
    pub tests: Vec<TestCase>,
    /// What is strange.
    pub warnings: Vec<Diagnostic>,
}

/// An instance of a test.
#[derive(Debug)]
pub struct TestCase {
    /// What it is called.
    pub name: String,
    /// What is tested.
    pub program: Program,
    /// Whether `assume` leaves executions out.
    pub assumes: bool,
}

/// The largest source.
const LARGEST: usize = 1 << 30;

/// Reads the sources of a project. Diagnostics number them in this order.
pub fn read(sources: &[Source], options: Options) -> Result<Parsed, Vec<Diagnostic>> {
    let (mut sink, mut project) = (Sink::default(), Project::default());
    for (number, source) in sources.iter().enumerate() {
        if source.text.len() > LARGEST {
            return Err(vec![Diagnostic::error(number, 0..0, "the source is larger than 1 GiB", "too large")]);
        }
        let tokens = token::tokens(number, source, &mut sink);
        Parser::new(tokens, &mut project, &mut sink).source();
    }
    let dialect = dialect(&project, options.dialect, &mut sink);
    if sink.has_errors() {
        return Err(sink.into_errors());
    }
    let names = Names::of(&project, &mut sink);
    let setting = Setting { numbered: dialect == Dialect::Old, ..Setting::default() };
    let compiled = Compiler::new(&names, &setting, &mut sink).all();
    let mut tests = Vec::new();
    if !sink.has_errors() {
        let (today, Options { send, all_instances, attach_specs, .. }) = (dialect == Dialect::Today, options);
        let (names, compiled, sink) = (&names, &compiled, &mut sink);
        tests = Tests { names, compiled, today, send, all_instances, attach_specs, around: Vec::new(), sink }.all();
    }
    if let Some(place) = project.deductive {
        let message = "what only the deductive back end of P reads is passed over";
        sink.push(place.warning(message, "the first of it").note());
    }
    match sink.has_errors() {
        true => Err(sink.into_errors()),
        false => Ok(Parsed { dialect, tests, warnings: sink.into_warnings() }),
    }
}

/// The dialect of a project; what only the other one has is refused.
fn dialect(project: &Project, given: Option<Dialect>, sink: &mut Sink) -> Dialect {
    let decisive = project.particular.iter().find(|particular| particular.old);
    let dialect = given.unwrap_or(if decisive.is_some() { Dialect::Old } else { Dialect::Today });
    for particular in project.particular.iter().filter(|other| other.old != (dialect == Dialect::Old)) {
        let (here, there) = match dialect {
            Dialect::Old => ("the old dialect", "today"),
            Dialect::Today => ("today's dialect", "old"),
        };
        let error =
            particular.place.error(format!("{} is not in {here}", particular.what), "only the other one has it");
        let because = decisive.filter(|_| given.is_none()).map(|decisive| {
            format!("{} makes it a project in the old dialect; --dialect today reads it otherwise", decisive.what)
        });
        sink.push(error.hint(because.unwrap_or_else(|| format!("--dialect {there} reads it"))));
    }
    dialect
}
