//! Concurrent pushdown systems: threads with stacks that share a variable.

mod engines;
mod show;

use std::borrow::Cow;

use tepui_cert::pushdown::Step;
use tepui_cert::{Certificate, Trace};
use tepui_check::Rejected;
use tepui_core::story::{Move, Situation, Step as Told, Unit};
use tepui_core::{Budget, Outcome, Story, Verdict};
use tepui_engines::{closure, contexts, delays};
use tepui_lang::pushdown::{CubaInput, Matching, Parsed, read_cpds, read_cuba};
use tepui_lang::source::Source;
use tepui_model::Digest;
use tepui_model::pushdown::{Model, Property, State};

use super::{
    Answer, Asked, Checked, Detail, EngineInfo, Entry, Kind, Language, Printed, Read, Replayed, Stopping, Summary,
    of_another_kind, others_that_apply,
};
use crate::run::confirmed;
use crate::{AUTO, Error, Input, Options, Problem, Reading};
pub(super) use engines::{HEAD_START, Setup, WAITING_START};
pub(super) use show::{print, summary};

/// The engines for this kind.
pub(crate) mod engine_facts {
    pub use super::engines::CONTEXTS;
    pub use tepui_engines::closure::FACTS as CLOSURE;
    pub use tepui_engines::contexts::{EXPLICIT, STATES, SYMBOLIC, VIEWS};
    pub use tepui_engines::delays::FACTS as DELAYS;
}

pub(crate) static ENTRY: Entry = Entry {
    what: "a concurrent pushdown system",
    plural: "concurrent pushdown systems",
    languages: LANGUAGES,
    also_reads: &[],
    engines: &[&WITH_SYMBOLIC, &CLOSURE, &DELAYS, &CONTEXTS, &EXPLICIT, &STATES, &VIEWS, &SYMBOLIC],
    bounded: &engines::CONTEXTS,
    flags: &["--init", "--target", "--matching", "--all-views", "--views", "--no-symmetry", "--no-partial-order"],
    instead: &[],
    forms: FORMS,
    ask: "give --target, or write a property into the model",
    same_options: None,
    checks_proofs: false,
};

const LANGUAGES: &[Language] = &[
    Language {
        extension: "cpds",
        summary: "concurrent pushdown systems with names, properties in the same file",
        companions: [None, None],
        several: false,
        parts: None,
        read: read_named,
    },
    Language {
        extension: "pds",
        summary: "concurrent pushdown systems with numbers, as CUBA reads them, with .init and .spec beside",
        companions: [Some("init"), Some("spec")],
        several: false,
        parts: None,
        read: read_numbered,
    },
];

/// The forms of pushdown systems.
pub(super) const FORMS: &[(&str, &str)] = &[
    ("cpds", "A pushdown system with names; of threads that meet in actions their product"),
    ("pds", "The same with numbers"),
    ("init", "The initial state with numbers"),
    ("spec", "The properties with numbers"),
];

const PAPER: &str =
    "Liu, Wahl, Reps: Interprocedural Context-Unbounded Program Analysis Using Observation Sequences (2020)";

/// For engines that have not been published.
pub(super) const OURS: &str = "Tepui's own; see the chapter on the closure engine";

/// Options of every engine that counts contexts.
const OF_CONTEXTS: &[&str] = &["--z-depth", "--call-return"];

pub(super) static WITH_SYMBOLIC: EngineInfo = EngineInfo {
    facts: &AUTO,
    summary: "closure, and after a while contexts-symbolic or rendezvous beside it; with --minimal, the smallest bound as well",
    condition: None,
    paper: OURS,
    flags: &["--view-depth", "--z-depth", "--minimal", "--rounds"],
};

pub(super) static CLOSURE: EngineInfo = EngineInfo {
    facts: &closure::FACTS,
    summary: "one representative of each view, until the views are closed under every step; needs no bound",
    condition: None,
    paper: OURS,
    flags: &["--view-depth"],
};

pub(super) static DELAYS: EngineInfo = EngineInfo {
    facts: &delays::FACTS,
    summary: "round-robin scheduling R(r, d), until a plateau of its views is closed under pops",
    condition: None,
    paper: "Johnson, Wahl: Delay-Bounded Scheduling Without Delay! (2021)",
    flags: &["--view-depth", "--z-depth", "--call-return", "--rounds", "--no-frontier", "--closure-every-iteration"],
};

pub(super) static CONTEXTS: EngineInfo = EngineInfo {
    facts: &engines::CONTEXTS,
    summary: "the context engines that apply, side by side; the one that answers with the least work counts",
    condition: None,
    paper: PAPER,
    flags: OF_CONTEXTS,
};

pub(super) static EXPLICIT: EngineInfo = EngineInfo {
    facts: &contexts::EXPLICIT,
    summary: "enumerated states R_k, until a context brings none or the generator test shows that a plateau is the end",
    condition: FINITE,
    paper: PAPER,
    flags: OF_CONTEXTS,
};

pub(super) static STATES: EngineInfo = EngineInfo {
    facts: &contexts::STATES,
    summary: "enumerated states R_k, until a context brings no new one",
    condition: FINITE,
    paper: PAPER,
    flags: &[],
};

pub(super) static VIEWS: EngineInfo = EngineInfo {
    facts: &contexts::VIEWS,
    summary: "enumerated states, their views T(R_k), until the generator test shows that a plateau is the end",
    condition: FINITE,
    paper: PAPER,
    flags: OF_CONTEXTS,
};

pub(super) static SYMBOLIC: EngineInfo = EngineInfo {
    facts: &contexts::SYMBOLIC,
    summary: "regular sets of stacks S_k (post*), their views T(S_k), with the generator test",
    condition: None,
    paper: PAPER,
    flags: OF_CONTEXTS,
};

const FINITE: Option<&str> = Some("with finite contexts");

/// A model, with what the user claims about it.
struct Pushdown {
    model: Model,
    matching: Option<Matching>,
}

impl From<Model> for Problem {
    fn from(model: Model) -> Self {
        Self::built(Box::new(Pushdown { model, matching: None }))
    }
}

fn read_named(input: &Input, _: &Reading) -> Result<Read, Error> {
    require_states(input)?;
    read(read_cpds(&input.main, input.init.as_ref(), input.target.as_ref(), input.matching.as_ref()))
}

fn read_numbered(input: &Input, _: &Reading) -> Result<Read, Error> {
    require_states(input)?;
    let (init, targets, matching) = (input.init.as_ref(), input.target.as_ref(), input.matching.as_ref());
    read(read_cuba(CubaInput { pds: &input.main, init, targets, matching }))
}

fn read(parsed: Result<Parsed, Vec<tepui_lang::diagnostic::Diagnostic>>) -> Result<Read, Error> {
    let refused = |diagnostics| Error::Refused { diagnostics, sources: Vec::new() };
    let Parsed { model, matching, warnings } = parsed.map_err(refused)?;
    Ok((vec![Box::new(Pushdown { model, matching })], warnings))
}

/// A text that was given in place of a file must look like a state: it may have been meant as the name of a file.
fn require_states(input: &Input) -> Result<(), Error> {
    let given = [&input.init, &input.target].into_iter().flatten();
    let no_state = |source: &&Source| source.name.starts_with("--") && !source.text.contains('|');
    match given.into_iter().find(no_state) {
        Some(Source { name, text }) => {
            let why = "there is no such file, and a state is written q|w1,w2,...";
            Err(Error::Misuse(format!("{name} {text}: {why}")))
        }
        None => Ok(()),
    }
}

impl Kind for Pushdown {
    fn entry(&self) -> &'static Entry {
        &ENTRY
    }

    fn digest(&self) -> Digest {
        self.model.digest()
    }

    fn property_names(&self) -> Vec<String> {
        self.model.properties().iter().map(|property| property.name.clone()).collect()
    }

    fn ask(&mut self, asked: Asked) {
        let wanted = |property: &Property| match &asked {
            Asked::Only(names) => names.contains(&property.name),
            Asked::Views => false,
        };
        self.model = self.model.clone().restricted(wanted);
    }

    fn asked(&self) -> Vec<String> {
        self.property_names()
    }

    fn verify(&self, options: &Options, budget: &Budget) -> Result<Answer, Error> {
        if let Some(matching) = &self.matching
            && let Some(omitted) = engines::omitted(&self.model, matching, &mut budget.clone())
        {
            return Err(explain(&self.model, &omitted));
        }
        let outcome = search(&self.model, options, budget);
        let (mut outcome, _) = confirmed(self, outcome, None, options, budget);
        remark_on_rest(&self.model, &mut outcome);
        Ok(Answer::of(outcome))
    }

    fn check(
        &self,
        certificate: &Certificate,
        meant: &dyn Fn(&str) -> bool,
        stop: Stopping<'_>,
    ) -> Result<Checked, Rejected> {
        let Certificate::Pushdown(certificate) = certificate else {
            return Err(of_another_kind(&ENTRY, "certificate"));
        };
        let model = self.model.clone().restricted(|property| meant(&property.name));
        let accepted = tepui_check::pushdown::check(&model, certificate, stop)?;
        Ok(Checked::of(accepted))
    }

    fn replay(&self, trace: &Trace, _: Stopping<'_>) -> Result<Replayed, Rejected> {
        let Trace::Pushdown(trace) = trace else { return Err(of_another_kind(&ENTRY, "trace")) };
        let tepui_check::Replayed { property, steps, contexts } = tepui_check::pushdown::replay(&self.model, trace)?;
        Ok(Replayed { property, steps, contexts, confirmed_by: None })
    }

    fn tell(&self, trace: &Trace, detail: Detail) -> Story {
        let model = &self.model;
        let state = |state: &State| match detail {
            Detail::Short => Situation::State(model.display_state_cut(state, SHOWN_OF_A_STACK)),
            Detail::Full => Situation::State(model.display_state(state)),
        };
        let step = |step: &Step| {
            let rule = &model.threads()[step.thread].rules[step.rule];
            let text = model.display_rule(step.thread, rule);
            let own =
                Move { actor: step.thread, text, procedure: None, file: None, line: rule.line as usize, column: None };
            Told::new(vec![own], state(&step.after))
        };
        let Trace::Pushdown(trace) = trace else { return Story::untold() };
        let (start, steps) = (state(&trace.start), trace.steps.iter().map(step).collect());
        let actors = model.threads().iter().map(|thread| thread.name.clone()).collect();
        Story { actors, text: "rule", unit: Unit::Contexts, start, steps, end: Vec::new() }.with_contexts()
    }

    fn trace_text(&self, trace: &Trace) -> String {
        let Trace::Pushdown(trace) = trace else { return String::new() };
        trace.to_text(|step| comment(&self.model, step))
    }

    fn advice(&self, outcome: &Outcome) -> Vec<String> {
        shorter(outcome, &|_| true).into_iter().chain(others_that_apply(&ENTRY, outcome)).collect()
    }

    fn summary(&self) -> Result<Summary, Error> {
        Ok(Summary { what: self.entry().what.to_owned(), ..summary(&self.model, self.digest()) })
    }

    fn print(&self, form: &str) -> Result<Vec<Printed>, Error> {
        print(&self.model, form).ok_or_else(|| Error::Misuse(format!("there is no form {form} of {}", ENTRY.what)))
    }
}

/// Symbols shown of a high stack.
const SHOWN_OF_A_STACK: usize = 12;

/// What engines say about a model; the question is which views there are, if it has no property.
fn search(model: &Model, options: &Options, budget: &Budget) -> Outcome {
    let model = with_some_property(model);
    let query = options.query(model.properties().iter().map(|property| property.name.clone()).collect());
    match Setup::new(&model, options, budget, &|engine| engine) {
        Ok(setup) => setup.letting_wait().search(&query),
        Err(refused) => refused.outcome(&query),
    }
}

/// A model without a property gets one that nothing violates.
pub(super) fn with_some_property(model: &Model) -> Cow<'_, Model> {
    if !model.properties().is_empty() {
        return Cow::Borrowed(model);
    }
    let all_views = Property { name: "views".to_owned(), never: Vec::new() };
    model.clone().with_properties(vec![all_views]).map_or(Cow::Borrowed(model), Cow::Owned)
}

/// Says so where no rule is enabled at the start: as a rule that is not what was meant.
pub(super) fn remark_on_rest(model: &Model, outcome: &mut Outcome) {
    let enabled =
        |thread: usize| (0..model.threads()[thread].rules.len()).any(|r| model.step(model.init(), thread, r).is_some());
    let whole = outcome.iterations.last().is_some_and(|last| last.complete);
    if whole && !(0..model.threads().len()).any(enabled) {
        outcome.remarks.insert(0, "no rule is enabled in the initial state: nothing ever happens".to_owned());
    }
}

/// What a trace's text says about a step, behind a `#`.
pub(super) fn comment(model: &Model, step: &Step) -> String {
    let thread = &model.threads()[step.thread];
    let rule = &thread.rules[step.rule];
    let line = if rule.line == 0 { String::new() } else { format!(" (line {})", rule.line) };
    format!("{}: {}{line}: {}", thread.name, model.display_rule(step.thread, rule), model.display_state(&step.after))
}

/// Advice where a violation has more contexts than it may need.
pub(super) fn shorter(outcome: &Outcome, applies: &dyn Fn(&str) -> bool) -> Option<String> {
    let could_be = |verdict: &Verdict| matches!(verdict, Verdict::Unsafe(refuted) if refuted.bound().is_none() && refuted.trace().contexts() > 1);
    let mut properties = outcome.properties.iter();
    let some = properties.any(|property| applies(&property.name) && could_be(&property.verdict));
    (outcome.remarks.is_empty() && some).then(|| "--minimal finds the fewest contexts".to_owned())
}

fn explain(model: &Model, omitted: &engines::Omitted) -> Error {
    let thread = &model.threads()[omitted.thread];
    let (popped, revealed) = (thread.symbol_name(omitted.popped), thread.symbol_name(omitted.revealed));
    Error::WrongMatching(format!(
        "the matching omits a pair that is needed: in thread {}, {revealed} may come to light after {popped} is popped\n  \
         help: add the line `{popped} {revealed}`, or leave --matching out: what may come to light is worked out anyway",
        thread.name
    ))
}
