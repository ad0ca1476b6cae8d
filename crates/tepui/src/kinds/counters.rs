//! Any number of threads in finitely many places: nets, and thread transition systems.
//!
//! `coverability` decides what is asked, for every number of threads; a violation is told with the fewest threads, if they
//! can be found with little work. `threads` looks for violations with one thread, with two and so on.

use std::collections::VecDeque;
use std::sync::Arc;

use tepui_cert::counters::{Step as Taken, Trace as Steps};
use tepui_cert::{Certificate, Trace};
use tepui_check::{Accepted, Rejected};
use tepui_core::story::{Move, Situation, Step as Told, Unit};
use tepui_core::text::{count, grouped};
use tepui_core::{Budget, Facts, Member, Outcome, Portfolio, Query, Story};
use tepui_engines::counters::coverability::Coverability;
use tepui_engines::counters::few::Few;
use tepui_lang::counters::{AtStart, Parsed, print_spec, read_spec, read_tts};
use tepui_lang::diagnostic::Diagnostic;
use tepui_model::Digest;
use tepui_model::counters::{Bag, Net, Pattern, Step};
use tepui_model::pushdown::{Malformed, Names};

use super::pushdown::OURS;
use super::{
    Answer, Asked, Checked, Detail, EngineInfo, Entry, Field, Kind, Language, Printed, Read, Replayed, Stopping,
    Summary, of_another_kind, others_that_apply,
};
use crate::run::run;
use crate::{AUTO, Error, Input, Options, Problem, Reading};

pub use tepui_engines::counters::coverability::FACTS as COVERABILITY;
pub use tepui_engines::counters::few::FACTS as THREADS;
pub use tepui_lang::counters::AtStart as ThreadsAtStart;

pub(crate) static ENTRY: Entry = Entry {
    what: "a system of any number of threads",
    plural: "systems of any number of threads",
    languages: &[
        Language {
            extension: "spec",
            summary: "Petri nets with transfers, as MIST reads them: counters, and what must not be covered",
            companions: [None, None],
            several: false,
            parts: None,
            read: read_net,
        },
        Language {
            extension: "tts",
            summary: "thread transition systems, as BFC reads them, with what must not be covered in a .prop file",
            companions: [None, Some("prop")],
            several: false,
            parts: None,
            read: read_threads,
        },
    ],
    also_reads: &[],
    engines: &[&BY_DEFAULT, &DECIDING, &RAISING],
    bounded: &THREADS,
    flags: &["--target", "--threads-at-start"],
    instead: &[("--init", "the start stands in the model; --threads-at-start is for .tts files")],
    forms: &[("net", "A .spec net")],
    ask: "give --target, or write what must not be covered beside the model",
    same_options: Some("give the options that it was made with: --target, --threads-at-start"),
    checks_proofs: true,
};

static BY_DEFAULT: EngineInfo =
    EngineInfo { facts: &AUTO, summary: "coverability", condition: None, paper: OURS, flags: &[] };

pub(crate) const DECIDING: EngineInfo = EngineInfo {
    facts: &COVERABILITY,
    summary: "any number of threads: weights and views of a few threads from above, backwards and forwards between them",
    condition: None,
    paper: OURS,
    flags: &[],
};

static RAISING: EngineInfo = EngineInfo {
    facts: &THREADS,
    summary: "from below: all states with one thread, with two and so on",
    condition: None,
    paper: OURS,
    flags: &[],
};

/// A model, with what is asked about it.
struct Crowd {
    net: Arc<Net>,
    /// How many threads there are at the start, where the text leaves that open.
    at_start: Option<AtStart>,
}

fn read_net(input: &Input, _: &Reading) -> Result<Read, Error> {
    problem(read_spec(&input.main, input.target.as_ref()), None)
}

fn read_threads(input: &Input, reading: &Reading) -> Result<Read, Error> {
    let at_start = reading.threads_at_start;
    problem(read_tts(&input.main, input.target.as_ref(), at_start), Some(at_start))
}

fn problem(parsed: Result<Parsed, Vec<Diagnostic>>, at_start: Option<AtStart>) -> Result<Read, Error> {
    let parsed = parsed.map_err(|diagnostics| Error::Refused { diagnostics, sources: Vec::new() })?;
    Ok((vec![Box::new(Crowd { net: Arc::new(parsed.net), at_start })], parsed.warnings))
}

impl TryFrom<Net> for Problem {
    type Error = Malformed;

    fn try_from(net: Net) -> Result<Self, Malformed> {
        Ok(Self::built(Box::new(Crowd { net: Arc::new(net.well_formed()?), at_start: None })))
    }
}

fn members(net: &Arc<Net>, options: &Options, query: &Query) -> Vec<Member> {
    let only = |engine: &'static Facts| *options.engine == *engine;
    let limit = || query.bound_limit.clone();
    match only(&THREADS) {
        true => vec![Member::new(Few::new(Arc::clone(net))).within(limit())],
        false => vec![Member::new(Coverability::new(Arc::clone(net))).within(limit())],
    }
}

impl Kind for Crowd {
    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn digest(&self) -> Digest {
        self.net.digest()
    }

    fn property_names(&self) -> Vec<String> {
        self.net.properties.iter().map(|property| property.name.clone()).collect()
    }

    fn ask(&mut self, asked: Asked) {
        let net = Arc::make_mut(&mut self.net);
        match asked {
            Asked::Only(names) => net.properties.retain(|property| names.contains(&property.name)),
            Asked::Views => net.properties.clear(),
        }
    }

    fn asked(&self) -> Vec<String> {
        self.property_names()
    }

    fn verify(&self, options: &Options, budget: &Budget) -> Result<Answer, Error> {
        let query = Query { list_views: false, ..options.query(self.asked()) };
        let mut engine = Portfolio::of(members(&self.net, options, &query), options.cores.threads);
        let (mut outcome, _) = run(self, &mut *engine, &query, options, budget);
        outcome.remarks.extend(self.at_start.map(|at_start| match at_start {
            AtStart::One => "one thread at the start; --threads-at-start any begins with any number".to_owned(),
            AtStart::Any => "any number of threads at the start; --threads-at-start one begins with one".to_owned(),
        }));
        Ok(Answer::of(outcome))
    }

    fn check(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected> {
        let Certificate::Counters(certificate) = certificate else {
            return Err(of_another_kind(&ENTRY, "certificate"));
        };
        let properties: Vec<_> = self.asked().into_iter().filter(|name| meant(name)).collect();
        let proved = tepui_check::counters::check(&self.net, &properties, certificate, stop)?;
        Ok(Checked::of(Accepted::Lemmas(proved)))
    }

    fn replay(&self, trace: &Trace, _: Stopping<'_>) -> Result<Replayed, Rejected> {
        let Trace::Counters(trace) = trace else { return Err(of_another_kind(&ENTRY, "trace")) };
        let replayed = tepui_check::counters::replay(&self.net, trace)?;
        let (property, steps, contexts) = (replayed.property, replayed.steps, replayed.contexts);
        Ok(Replayed { property, steps, contexts, confirmed_by: None })
    }

    fn tell(&self, trace: &Trace, _: Detail) -> Story {
        if let Trace::Counters(trace) = trace { story(&self.net, trace) } else { Story::untold() }
    }

    fn trace_text(&self, trace: &Trace) -> String {
        let Trace::Counters(trace) = trace else { return String::new() };
        let comment = |step: &Taken| {
            let own = &self.net.steps[step.number as usize];
            format!("line {}: {}", own.line, step_text(&self.net, own))
        };
        trace.to_text(comment)
    }

    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        others_that_apply(&ENTRY, outcome).into_iter().collect()
    }

    fn summary(&self) -> Result<Summary, Error> {
        Ok(summary(&self.net))
    }

    fn print(&self, form: &str) -> Result<Vec<Printed>, Error> {
        if form != "net" {
            return Err(Error::Misuse(format!("there is no form {form} of {}", ENTRY.what)));
        }
        let text = print_spec(&self.net).map_err(Error::Unsupported)?;
        Ok(vec![Printed { extension: "spec", text }])
    }
}

/// The most threads that are told apart in a story.
const TOLD_APART: u64 = 200;

/// A trace, told: threads in a place are told apart by the order in which they came there.
fn story(net: &Net, trace: &Steps) -> Story {
    let mut actors = Actors { names: Vec::new(), at: vec![VecDeque::new(); net.counts.len()] };
    let few = trace.threads() <= TOLD_APART;
    if few {
        actors.begin(&trace.start.counts);
    } else {
        actors.names.push("threads".to_owned());
    }
    let steps = trace.steps.iter().map(|step| {
        let own = &net.steps[step.number as usize];
        let movers = if few { actors.step(own) } else { vec![0] };
        let text = step_text(net, own);
        let part = |actor: usize| Move {
            actor,
            text: text.clone(),
            procedure: None,
            file: None,
            line: own.line as usize,
            column: None,
        };
        Told::new(movers.into_iter().map(part).collect(), Situation::State(state_text(net, &step.after)))
    });
    let steps = steps.collect();
    let start = Situation::State(state_text(net, &trace.start));
    Story { actors: actors.names, text: "rule", unit: Unit::Steps, start, steps, end: Vec::new() }
}

/// Who is where.
struct Actors {
    names: Vec<String>,
    at: Vec<VecDeque<usize>>,
}

impl Actors {
    fn begin(&mut self, counts: &Bag) {
        for &(place, number) in counts {
            for _ in 0..number {
                let actor = self.actor();
                self.at[place as usize].push_back(actor);
            }
        }
    }

    fn actor(&mut self) -> usize {
        self.names.push(format!("thread {}", self.names.len() + 1));
        self.names.len() - 1
    }

    /// Takes a step; those who are taken are put, as far as that goes.
    fn step(&mut self, step: &Step) -> Vec<usize> {
        let mut taken = Vec::new();
        for &(place, number) in &step.taken {
            taken.extend((0..number).filter_map(|_| self.at[place as usize].pop_front()));
        }
        let moved: Vec<_> =
            (step.moves.iter()).map(|&(from, to)| (std::mem::take(&mut self.at[from as usize]), to)).collect();
        for (threads, to) in moved.into_iter().filter_map(|(threads, to)| Some((threads, to?))) {
            self.at[to as usize].extend(threads);
        }
        let mut free: VecDeque<_> = taken.iter().copied().collect();
        for &(place, number) in &step.put {
            for _ in 0..number {
                let actor = free.pop_front().unwrap_or_else(|| self.actor());
                self.at[place as usize].push_back(actor);
            }
        }
        taken
    }
}

/// A shared state and how many threads are where.
fn state_text(net: &Net, state: &Pattern) -> String {
    let counts = bag_text(net, &state.counts);
    let counts = if counts.is_empty() { "nobody".to_owned() } else { counts };
    if net.shared.count() > 1 { format!("{} | {counts}", name(&net.shared, state.shared)) } else { counts }
}

fn bag_text(net: &Net, bag: &Bag) -> String {
    let one = |&(place, number): &(u32, u32)| match number {
        1 => name(&net.places, place),
        _ => format!("{}*{number}", name(&net.places, place)),
    };
    bag.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn name(names: &Names, number: u32) -> String {
    match names {
        Names::Numbers(_) => number.to_string(),
        Names::List(names) => names.get(number as usize).cloned().unwrap_or_default(),
    }
}

fn step_text(net: &Net, step: &Step) -> String {
    let side = |shared: u32, bag: &Bag| state_text(net, &Pattern { shared, counts: bag.clone() });
    let moves = step.moves.iter().map(|&(from, to)| {
        let to = to.map_or("nowhere".to_owned(), |to| name(&net.places, to));
        format!(", all of {} to {to}", name(&net.places, from))
    });
    format!("{} -> {}{}", side(step.from, &step.taken), side(step.to, &step.put), moves.collect::<String>())
}

fn summary(net: &Net) -> Summary {
    let starts: Vec<_> = (0..).zip(&net.counts).filter(|(_, count)| count.least > 0 || count.or_more).collect();
    let start = |&(place, count): &(u32, &tepui_model::counters::Count)| {
        let more = if count.or_more { " or more" } else { "" };
        format!("{}{more} in {}", count.least, name(&net.places, place))
    };
    let moving = net.steps.iter().filter(|step| !step.moves.is_empty()).count() as u64;
    let facts = vec![
        ("shared states", grouped(u64::from(net.shared.count()))),
        ("places", grouped(u64::from(net.places.count()))),
        (
            "steps",
            format!("{}, {} of them move everybody in a place", grouped(net.steps.len() as u64), grouped(moving)),
        ),
        ("start", starts.iter().map(start).collect::<Vec<_>>().join(", ")),
        ("digest", net.digest().to_string()),
    ];
    let patterns = |property: &tepui_model::counters::Property| {
        property
            .never
            .iter()
            .map(|pattern| format!("{} never covers {}", property.name, state_text(net, pattern)))
            .collect::<Vec<_>>()
    };
    let mut lines: Vec<_> = net.properties.iter().flat_map(patterns).collect();
    if lines.is_empty() {
        lines.push("nothing is forbidden".to_owned());
    }
    let properties = net.properties.iter().map(|property| {
        let patterns = Field::Number(property.never.len() as u64);
        Field::Object(vec![("name", Field::Text(property.name.clone())), ("targets", patterns)])
    });
    let fields = vec![
        ("model_digest", Field::Text(net.digest().to_string())),
        ("shared_states", Field::Number(u64::from(net.shared.count()))),
        ("places", Field::Number(u64::from(net.places.count()))),
        ("steps", Field::Number(net.steps.len() as u64)),
        ("properties", Field::List(properties.collect())),
    ];
    let what = format!("{}, {}", ENTRY.what, count(net.properties.len() as u64, "property"));
    Summary { what, facts, threads: Vec::new(), lines, fields }
}
