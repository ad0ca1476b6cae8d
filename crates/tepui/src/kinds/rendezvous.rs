//! Communicating pushdown systems: threads that share nothing and meet in actions.
//!
//! There are two ways to an answer. The product of the threads is a pushdown system, so closure applies to it: a fair
//! search that finds shallow violations at once, and often enough a proof. And the languages of the threads can be
//! compared, by the engine that this kind of model is known for. Both run side by side, and the outcome names the one that
//! answered with the least work. What the product proves is translated back, and no proof counts before the checker has
//! accepted it.

use std::sync::Arc;

use tepui_cert::rendezvous::{Certificate, Step, Trace};
use tepui_check::Rejected;
use tepui_core::story::{Move, Situation, Step as Told, Unit};
use tepui_core::text::{count, grouped};
use tepui_core::{
    Budget, Deferred, Engine, Limit, Member, Notes, Outcome, Portfolio, Query, Reason, Stop, Story, Translated, WayBack,
};
use tepui_engines::closure::{self, Closure};
use tepui_engines::pushdown::compiled::Compiled;
use tepui_engines::rendezvous::product::{Product, product, product_unless};
use tepui_engines::rendezvous::{Rendezvous, approximate};
use tepui_engines::workers::{Cores, Pooled};
use tepui_lang::rendezvous::{Parsed, print_query, print_rpds, read_rpds, read_spade};
use tepui_model::Digest;
use tepui_model::rendezvous::{Action, Model, Property, State, Target, Thread};

use super::pushdown::{self, OURS};
use super::{
    Answer, Asked, Checked, Detail, EngineInfo, Entry, Field, Kind, Language, Printed, Read, Replayed, Stopping,
    Summary, of_another_kind, open_because,
};
use crate::run::run;
use crate::{AUTO, Error, Input, Options, Problem, Reading};

pub use tepui_engines::rendezvous::{Abstraction, FACTS as LANGUAGES, Options as Refinement, Policy};

/// How much work closure may do alone before languages are compared beside it: a fraction of a second.
const HEAD_START_OF_CLOSURE: u64 = 500_000;

/// How much work may go into languages alone before there is a search beside it: a second or so.
const HEAD_START_OF_LANGUAGES: u64 = 4_000_000;

/// How deep the search beside languages looks into stacks: it is there for what is shallow, and ends when they give up.
const DEPTH_BESIDE_LANGUAGES: u32 = 64;

/// The most targets of a property of which it is asked whether a thread alone could get there.
const MOST_DOUBTED: usize = 20;

pub(crate) static ENTRY: Entry = Entry {
    what: "a communicating pushdown system",
    plural: "communicating pushdown systems",
    languages: FILES,
    also_reads: &[],
    engines: &[&WITH_LANGUAGES, &pushdown::CLOSURE, &BY_LANGUAGES],
    bounded: &LANGUAGES,
    flags: &["--target"],
    instead: &[("--engine", "`tepui show --format cpds` makes a pushdown system of the product of its threads")],
    forms: FORMS,
    ask: "give --target, or write a property into the model",
    same_options: None,
    checks_proofs: true,
};

const FILES: &[Language] = &[
    Language {
        extension: "rpds",
        summary: "communicating pushdown systems: threads that share nothing and meet in actions and handshakes",
        companions: [None, None],
        several: false,
        parts: None,
        read: read_named,
    },
    Language {
        extension: "spad",
        summary: "the same as SPADE reads them, where no rule creates a process and the initial set is finite",
        companions: [None, None],
        several: false,
        parts: None,
        read: read_algebra,
    },
];

const FORMS: &[(&str, &str)] = &[
    ("rpds", "A communicating pushdown system"),
    pushdown::FORMS[0],
    pushdown::FORMS[1],
    pushdown::FORMS[2],
    pushdown::FORMS[3],
];

/// Options of the engine that compares languages.
const REFINING: &[&str] = &["--policy", "--abstraction", "--shuffle-first"];

static WITH_LANGUAGES: EngineInfo = EngineInfo {
    facts: &AUTO,
    summary: pushdown::WITH_SYMBOLIC.summary,
    condition: None,
    paper: OURS,
    flags: REFINING,
};

static BY_LANGUAGES: EngineInfo = EngineInfo {
    facts: &LANGUAGES,
    summary: "the threads' languages of actions, exact up to a length, until they have no word in common",
    condition: None,
    paper: "Kidd, Reps, Touili: Improving Communicating Pushdown System Model Checking",
    flags: REFINING,
};

/// A model.
struct Communicating(Arc<Model>);

impl From<Model> for Problem {
    fn from(model: Model) -> Self {
        Self::built(Box::new(Communicating(Arc::new(model))))
    }
}

fn read_named(input: &Input, _: &Reading) -> Result<Read, Error> {
    read(read_rpds(&input.main, input.target.as_ref()))
}

fn read_algebra(input: &Input, _: &Reading) -> Result<Read, Error> {
    if input.target.is_some() {
        let why = "--target is not for .spad files: `tepui show --format rpds` makes a .rpds file";
        return Err(Error::Misuse(why.to_owned()));
    }
    read(read_spade(&input.main))
}

fn read(parsed: Result<Parsed, Vec<tepui_lang::diagnostic::Diagnostic>>) -> Result<Read, Error> {
    // The second source of these readers is the target.
    let moved = |mut diagnostic: tepui_lang::diagnostic::Diagnostic| {
        diagnostic.source = if diagnostic.source == 1 { 2 } else { diagnostic.source };
        diagnostic
    };
    let refused =
        |found: Vec<_>| Error::Refused { diagnostics: found.into_iter().map(moved).collect(), sources: Vec::new() };
    let Parsed { model, warnings } = parsed.map_err(refused)?;
    Ok((vec![Box::new(Communicating(Arc::new(model)))], warnings.into_iter().map(moved).collect()))
}

impl Kind for Communicating {
    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn digest(&self) -> Digest {
        self.0.digest()
    }

    fn property_names(&self) -> Vec<String> {
        self.0.properties().iter().map(|property| property.name.clone()).collect()
    }

    fn ask(&mut self, asked: Asked) {
        let wanted = |property: &Property| match &asked {
            Asked::Only(names) => names.contains(&property.name),
            Asked::Views => false,
        };
        self.0 = Arc::new(self.0.as_ref().clone().restricted(wanted));
    }

    fn asked(&self) -> Vec<String> {
        self.property_names()
    }

    fn verify(&self, options: &Options, budget: &Budget) -> Result<Answer, Error> {
        let query = Query { list_views: false, ..options.query(self.asked()) };
        let mut engine = Portfolio::of(members(&self.0, options, &query), options.cores.threads);
        let (mut outcome, _) = run(self, &mut *engine, &query, options, budget);
        let doubtful = out_of_reach(&self.0, &outcome, budget);
        outcome.remarks.extend(doubtful);
        Ok(Answer::of(outcome))
    }

    fn check(
        &self,
        certificate: &tepui_cert::Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected> {
        let tepui_cert::Certificate::Rendezvous(certificate) = certificate else {
            return Err(of_another_kind(&ENTRY, "certificate"));
        };
        let model = self.0.as_ref().clone().restricted(|property| meant(&property.name));
        let accepted = tepui_check::rendezvous::check(&model, certificate, stop)?;
        Ok(Checked::of(accepted))
    }

    fn replay(&self, trace: &tepui_cert::Trace, _: Stopping<'_>) -> Result<Replayed, Rejected> {
        let tepui_cert::Trace::Rendezvous(trace) = trace else { return Err(of_another_kind(&ENTRY, "trace")) };
        let tepui_check::Replayed { property, steps, contexts } = tepui_check::rendezvous::replay(&self.0, trace)?;
        Ok(Replayed { property, steps, contexts, confirmed_by: None })
    }

    fn tell(&self, trace: &tepui_cert::Trace, detail: Detail) -> Story {
        let model = self.0.as_ref();
        let everyone: Vec<usize> = (0..model.threads().len()).collect();
        let tepui_cert::Trace::Rendezvous(trace) = trace else { return Story::untold() };
        let start = situation(model, &trace.start, &everyone, detail);
        let steps = trace.steps.iter().map(|step| told(model, step, detail)).collect();
        let actors = model.threads().iter().map(|thread| thread.name.clone()).collect();
        Story { actors, text: "rule", unit: Unit::Steps, start, steps, end: Vec::new() }.with_contexts()
    }

    fn trace_text(&self, trace: &tepui_cert::Trace) -> String {
        let tepui_cert::Trace::Rendezvous(trace) = trace else { return String::new() };
        trace.to_text(|step| comment(&self.0, step))
    }

    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        let gave_up = matches!(open_because(outcome), Some(Reason::GaveUp(_))) && *outcome.engine == LANGUAGES;
        let otherwise = || "try --abstraction suffix or bifix, or leave --engine out".to_owned();
        gave_up.then(otherwise).into_iter().collect()
    }

    fn summary(&self) -> Result<Summary, Error> {
        Ok(summary(&self.0))
    }

    fn print(&self, form: &str) -> Result<Vec<Printed>, Error> {
        if form == "rpds" {
            let text = print_rpds(&self.0)
                .map_err(|error| Error::Unsupported(format!("the model cannot be printed in this form: {error}")))?;
            return Ok(vec![Printed { extension: "rpds", text }]);
        }
        let printed = pushdown::print(product(&self.0).model(), form);
        printed.ok_or_else(|| Error::Misuse(format!("there is no form {form} of {}", ENTRY.what)))
    }
}

/// Symbols shown of a high stack.
const SHOWN_OF_A_STACK: usize = 12;

/// A state; where little is to be told, only those of some threads.
fn situation(model: &Model, state: &State, threads: &[usize], detail: Detail) -> Situation {
    let local = |&thread: &usize| {
        let local = model.display_local(thread, &state[thread], SHOWN_OF_A_STACK);
        format!("{}: {local}", model.threads()[thread].name)
    };
    Situation::State(match detail {
        Detail::Short => threads.iter().map(local).collect::<Vec<_>>().join(", "),
        Detail::Full => model.display_state(state, usize::MAX),
    })
}

fn told(model: &Model, step: &Step, detail: Detail) -> Told {
    let rules = step.moves.iter().filter_map(|own| Some((own.thread, model.rule(*own)?)));
    let moves = rules.map(|(thread, rule)| {
        let text = model.display_rule(thread, rule);
        Move { actor: thread, text, procedure: None, file: None, line: rule.line as usize, column: None }
    });
    let action = step.moves.first().and_then(|own| model.rule(*own)).and_then(|rule| rule.action);
    let threads: Vec<_> = step.moves.iter().map(|own| own.thread).collect();
    let action = Some(model.action_name(action).to_owned());
    Told { action, ..Told::new(moves.collect(), situation(model, &step.after, &threads, detail)) }
}

/// What a trace's text says about a step, behind a `#`.
fn comment(model: &Model, step: &Step) -> String {
    let line = |line: u32| if line == 0 { String::new() } else { format!(" (line {line})") };
    let moves: Vec<_> = (step.moves.iter())
        .filter_map(|own| {
            let rule = model.rule(*own)?;
            let thread = &model.threads()[own.thread].name;
            Some(format!("{thread}: {}{}", model.display_rule(own.thread, rule), line(rule.line)))
        })
        .collect();
    format!("{}: {}", moves.join("; "), model.display_state(&step.after, usize::MAX))
}

/// The engines that the options choose.
fn members(model: &Arc<Model>, options: &Options, query: &Query) -> Vec<Member> {
    let languages = |after: u64| {
        Member::after(after, Rendezvous::new(Arc::clone(model), options.refinement)).within(query.bound_limit.clone())
    };
    let closure = |after: u64, limit: Option<Vec<u32>>| {
        let build = building(model, options.cores);
        Member::after(after, Deferred::new(&closure::FACTS, build)).within(limit)
    };
    let by_languages = *options.engine == LANGUAGES;
    let mut members = if *options.engine == closure::FACTS {
        vec![closure(0, query.bound_limit.clone())]
    } else if by_languages {
        vec![languages(0), closure(HEAD_START_OF_LANGUAGES, Some(vec![DEPTH_BESIDE_LANGUAGES]))]
    } else {
        vec![closure(0, query.bound_limit.clone()), languages(HEAD_START_OF_CLOSURE)]
    };
    if !options.prove || (by_languages && options.bound_limit.is_some()) {
        members.truncate(1); // The bound is one of the engine that was chosen.
    }
    members
}

/// Closure on the product of the threads.
fn building(
    model: &Arc<Model>,
    cores: Cores,
) -> impl FnOnce(&mut Budget) -> Result<Box<dyn Engine>, Stop> + Send + 'static {
    let model = Arc::clone(model);
    move |budget| {
        let Some(product) = product_unless(&model, &mut || budget.look().is_err()) else {
            return Err(budget.look().err().unwrap_or(Stop::Limit(Limit::Interrupt)));
        };
        // Threads that meet are told apart by their proofs.
        let chosen = closure::Options { view_depth: 1, symmetry: false, waiting: false, cores };
        let engine = Pooled::new(Closure::new(Compiled::new(product.model()), chosen), cores);
        Ok(Box::new(Translated::new(Box::new(engine), ToThreads { product, model })))
    }
}

/// Properties that hold because, for each of their targets, a thread would not get there even if all others did what it
/// wants: as a rule the query is not what was meant.
fn out_of_reach(model: &Arc<Model>, outcome: &Outcome, budget: &Budget) -> Vec<String> {
    let alone = |target: &Target| {
        (0..target.locals.len()).find(|&thread| {
            let set = target.locals[thread].as_ref();
            let automata = approximate(model, thread, set, 1, Refinement::default(), &mut budget.clone());
            automata.is_ok_and(|automata| automata.iter().any(|automaton| automaton.states.is_empty()))
        })
    };
    let few = |property: &&Property| (1..=MOST_DOUBTED).contains(&property.never.len());
    let remark = |property: &Property| {
        let threads: Option<Vec<_>> = property.never.iter().map(alone).collect();
        let thread = &model.threads()[*threads?.first()?].name;
        Some(format!("{}: thread {thread} would not get there even if all others helped it", property.name))
    };
    model
        .properties()
        .iter()
        .filter(|property| outcome.is_safe(&property.name))
        .filter(few)
        .filter_map(remark)
        .collect()
}

/// The way back from the product of the threads.
struct ToThreads {
    product: Product,
    model: Arc<Model>,
}

impl WayBack for ToThreads {
    fn certificate(&self, proof: tepui_cert::Certificate, _: &mut Budget) -> Result<tepui_cert::Certificate, Stop> {
        let defect = || Stop::defect("a proof about the product cannot be translated");
        let proof = tepui_cert::pushdown::Certificate::try_from(proof).map_err(|_| defect())?;
        let views = self.product.certificate(&self.model, &proof).ok_or_else(defect)?;
        Ok(Certificate::Views(views).into())
    }

    fn trace(&self, property: usize, found: tepui_cert::Trace, budget: &mut Budget) -> Result<tepui_cert::Trace, Stop> {
        let defect = || Stop::defect("a trace of the product does not execute");
        let found = tepui_cert::pushdown::Trace::try_from(found).map_err(|_| defect())?;
        let steps = found.steps.iter().map(|step| (step.thread, step.rule));
        let stated = &self.model.properties()[property];
        let mut trace = Trace {
            model: self.model.digest(),
            property: stated.name.clone(),
            never: stated.digest(),
            start: self.model.init().clone(),
            steps: Vec::new(),
        };
        for moves in self.product.steps(&self.model, steps) {
            budget.spend(1)?;
            let after = self.model.step(trace.last(), &moves).ok_or_else(defect)?;
            trace.steps.push(Step { moves, after });
        }
        Ok(trace.into())
    }

    fn views(&self, _: Vec<String>) -> Vec<String> {
        Vec::new() // Views of the product mean nothing to anyone.
    }

    fn notes(&self, notes: Notes) -> Notes {
        let stored = ["state of the product", "states of the product"];
        Notes { stored, view: "view of the product", ..notes }
    }
}

/// Actions that are listed of many.
const MOST_ACTIONS: usize = 40;

/// The longest query that is printed in a summary.
const LONGEST_QUERY: usize = 2_000;

fn summary(model: &Model) -> Summary {
    let product = product(model);
    let phases = product.model().shared().count();
    let rules: usize = product.model().threads().iter().map(|thread| thread.rules.len()).sum();
    let facts = vec![
        ("threads", model.threads().len().to_string()),
        ("actions", grouped(model.actions().len() as u64)),
        ("initial state", model.display_state(model.init(), usize::MAX)),
        ("product", format!("{}, {}", count(u64::from(phases), "phase"), count(rules as u64, "rule"))),
        ("digest", model.digest().to_string()),
    ];
    let mut threads =
        vec![["thread", "control states", "symbols", "rules", "internal", "actions"].map(str::to_owned).to_vec()];
    for thread in model.threads() {
        let numbers = sizes(thread).map(|(_, number)| number.to_string());
        threads.push([thread.name.clone()].into_iter().chain(numbers).collect());
    }
    let mut lines: Vec<_> = (model.actions().iter().enumerate().take(MOST_ACTIONS))
        .map(|(number, action)| format!("action {action}: {}", knowing(model, number).join(", ")))
        .collect();
    if model.actions().len() > MOST_ACTIONS {
        lines.push(format!("... and {} more", model.actions().len() - MOST_ACTIONS));
    }
    lines.push(String::new());
    for property in model.properties() {
        let query = print_query(model, property).ok().filter(|query| query.len() <= LONGEST_QUERY);
        let targets = || format!("reach {}: {}", property.name, count(property.never.len() as u64, "target"));
        lines.push(query.unwrap_or_else(targets));
    }
    if model.properties().is_empty() {
        lines.push("no query".to_owned());
    }
    Summary { what: ENTRY.what.to_owned(), facts, threads, lines, fields: fields(model) }
}

fn fields(model: &Model) -> Vec<(&'static str, Field)> {
    let text = |text: &String| Field::Text(text.clone());
    let threads = model.threads().iter().map(|thread| {
        let sizes = sizes(thread).map(|(name, number)| (name, Field::Number(number as u64)));
        Field::Object([("name", text(&thread.name))].into_iter().chain(sizes).collect())
    });
    let actions = model.actions().iter().enumerate().map(|(number, name)| {
        let threads = knowing(model, number).into_iter().map(|name| Field::Text(name.to_owned())).collect();
        Field::Object(vec![("name", text(name)), ("threads", Field::List(threads))])
    });
    let properties = model.properties().iter().map(|property| {
        Field::Object(vec![("name", text(&property.name)), ("targets", Field::Number(property.never.len() as u64))])
    });
    vec![
        ("model_digest", Field::Text(model.digest().to_string())),
        ("init", Field::Text(model.display_state(model.init(), usize::MAX))),
        ("threads", Field::List(threads.collect())),
        ("actions", Field::List(actions.collect())),
        ("properties", Field::List(properties.collect())),
    ]
}

fn sizes(thread: &Thread) -> [(&'static str, usize); 5] {
    let internal = thread.rules.iter().filter(|rule| rule.action.is_none()).count();
    [
        ("control_states", thread.controls.len()),
        ("symbols", thread.symbols.len()),
        ("rules", thread.rules.len()),
        ("internal", internal),
        ("actions", thread.knows.len()),
    ]
}

fn knowing(model: &Model, action: usize) -> Vec<&str> {
    model.knowing(Action(action as u32)).map(|thread| model.threads()[thread].name.as_str()).collect()
}
