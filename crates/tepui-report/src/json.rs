//! The JSON of `verify` and `explore`. Names are a contract: they are documented in the book and only ever added to.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::Value;
use tepui_core::story::Situation;
use tepui_core::{Approximation, Bound, Facts, Invariant, Iteration, Outcome, Reason, Stop, Story, Verdict};

use crate::{Report, about, invariant, story, visible_json};

#[derive(Serialize)]
struct Document<'a> {
    tepui_version: &'a str,
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a str>,
    model_digest: Option<String>,
    verdict: &'static str,
    reason: Option<Value>,
    engine: &'a str,
    resource: String,
    cutoff: Option<Amounts>,
    bound_reached: Option<Amounts>,
    reduced: bool,
    views: Option<u64>,
    view_depth: Option<u32>,
    evidence: Option<Value>,
    states: u64,
    steps: u64,
    seconds: f64,
    peak_memory_bytes: u64,
    state_bytes: u64,
    bytes_per_state: Option<f64>,
    obstacles: &'a [String],
    remarks: &'a [String],
    violating_views: &'a [String],
    self_checked: bool,
    trace: Option<&'a str>,
    certificate: Option<&'a str>,
    views_file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    svg: Option<&'a str>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    about: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant: Option<Value>,
    properties: Vec<Value>,
    iterations: Vec<Record<'a>>,
}

/// A bound: a number where there is one resource, an object where there are several.
struct Amounts(Bound);

impl Serialize for Amounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let &[amount] = self.0.amounts() {
            return serializer.serialize_u32(amount);
        }
        let mut map = serializer.serialize_map(Some(self.0.amounts().len()))?;
        for (resource, amount) in self.0.parts() {
            map.serialize_entry(resource, &amount)?;
        }
        map.end()
    }
}

/// The record of one bound.
#[derive(Serialize)]
struct Record<'a> {
    bound: Amounts,
    states: u64,
    new_states: u64,
    views: Option<u64>,
    new_views: Option<u64>,
    steps: u64,
    open: u64,
    seconds: f64,
    tested: bool,
    complete: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    approximations: Vec<Words<'a>>,
}

/// What a thread is taken for.
#[derive(Serialize)]
struct Words<'a> {
    property: &'a str,
    target: usize,
    lengths: &'a [u32],
    word: Option<&'a [String]>,
}

impl<'a> Record<'a> {
    fn of(outcome: &Outcome, record: &'a Iteration) -> Self {
        let Iteration { states, new_states, views, new_views, steps, open, seconds, tested, complete, .. } = *record;
        let [views, new_views] = [views, new_views].map(|number| outcome.has_views().then_some(number));
        let words = |one: &'a Approximation| Words {
            property: &one.property,
            target: one.target,
            lengths: &one.lengths,
            word: one.word.as_deref(),
        };
        let (bound, approximations) = (Amounts(record.bound), record.approximations.iter().map(words).collect());
        Self { bound, states, new_states, views, new_views, steps, open, seconds, tested, complete, approximations }
    }
}

/// The reports of several tests as one JSON document: the worst verdict, and all of them.
pub fn tests(file: &str, status: tepui_core::Status, reports: &[String]) -> String {
    let tests: Vec<Value> = reports.iter().filter_map(|report| serde_json::from_str(report).ok()).collect();
    let version = env!("CARGO_PKG_VERSION");
    let document = serde_json::json!({
        "tepui_version": version, "file": file, "verdict": status.word(), "tests": tests,
    });
    to_json(&document) + "\n"
}

/// The report as one JSON document.
pub fn render(report: &Report<'_>) -> String {
    let outcome = report.outcome;
    let last = outcome.iterations.last();
    let complete = outcome.iterations.iter().rev().find(|iteration| iteration.complete);
    let proven = outcome.evidence();
    let document = Document {
        tepui_version: env!("CARGO_PKG_VERSION"),
        file: report.file,
        test: report.test,
        model_digest: report.digest.clone(),
        verdict: outcome.status().word(),
        reason: outcome.properties.iter().find_map(|property| reason(&property.verdict, outcome.raised)),
        engine: outcome.engine.name,
        resource: outcome.raised.resources.join(" and "),
        cutoff: outcome.cutoff.map(Amounts),
        bound_reached: complete.map(|iteration| Amounts(iteration.bound)),
        reduced: outcome.reduced,
        views: outcome.has_views().then(|| last.map_or(0, |iteration| iteration.views)),
        view_depth: proven.and_then(|evidence| evidence.view_depth),
        evidence: proven.map(|evidence| {
            let mut fields = serde_json::Map::new();
            fields.insert("kind".to_owned(), evidence.kind.into());
            fields.insert("because".to_owned(), evidence.because.as_str().into());
            fields.extend(evidence.figures.iter().map(|&(name, number)| (name.to_owned(), number.into())));
            fields.into()
        }),
        states: last.map_or(0, |iteration| iteration.states),
        steps: last.map_or(0, |iteration| iteration.steps),
        seconds: report.seconds,
        peak_memory_bytes: report.peak_memory_bytes,
        state_bytes: outcome.state_bytes,
        bytes_per_state: last
            .filter(|last| last.states > 0)
            .map(|last| outcome.state_bytes as f64 / last.states as f64),
        obstacles: &outcome.obstacles,
        remarks: &outcome.remarks,
        violating_views: &outcome.violating,
        self_checked: report.self_checked,
        trace: report.trace,
        certificate: report.certificate,
        views_file: report.views,
        svg: report.svg,
        warnings: (report.warnings.iter().cloned())
            .chain(report.about.iter().flat_map(|own| about::warnings(own)))
            .collect(),
        about: report.about.map(about::json),
        invariant: report.invariant.map(invariant::json),
        properties: (outcome.properties.iter().enumerate())
            .map(|(number, property)| one(report, number, &property.name, &property.verdict))
            .collect(),
        iterations: outcome.iterations.iter().map(|record| Record::of(outcome, record)).collect(),
    };
    to_json(&document)
}

/// A value as text that no terminal obeys.
pub fn to_json(value: &impl Serialize) -> String {
    visible_json(&serde_json::to_string_pretty(value).unwrap_or_default()).into_owned()
}

/// What a proof says about lines of the source.
pub fn invariant(known: &Invariant) -> Value {
    invariant::json(known)
}

/// The schedules of all violations, for programs.
pub fn traces(outcome: &Outcome, stories: &[Option<Story>]) -> String {
    let violated = outcome.properties.iter().zip(stories).filter_map(|(property, told)| {
        let (start, steps) = story::values(told.as_ref()?);
        Some(serde_json::json!({ "property": property.name, "start": start, "steps": steps }))
    });
    let violated: Vec<_> = violated.collect();
    to_json(&violated) + "\n"
}

fn one(report: &Report<'_>, number: usize, name: &str, verdict: &Verdict) -> Value {
    let mut value = serde_json::json!({ "name": name, "verdict": verdict.status().word() });
    match verdict {
        Verdict::Unsafe(refuted) => {
            value["bound"] = serde_json::to_value(refuted.bound().map(Amounts)).unwrap_or_default();
            if let Some(told) = report.story(number) {
                value["contexts"] = told.contexts().into();
                (value["start"], value["steps"]) = story::values(told);
                if !told.end.is_empty() || matches!(told.start, Situation::Values(_)) {
                    value["end"] = told.end.clone().into();
                }
            }
        }
        Verdict::Unknown(_) => value["reason"] = reason(verdict, report.outcome.raised).unwrap_or_default(),
        Verdict::Safe(_) => {
            if let Some(about) = &report.about {
                value["vacuous"] = about.vacuous.iter().any(|vacuous| vacuous == name).into();
            }
        }
    }
    value
}

fn reason(verdict: &Verdict, raised: &Facts) -> Option<Value> {
    let Verdict::Unknown(reason) = verdict else { return None };
    let kind = match reason {
        Reason::Limit(limit) | Reason::Untraced { stop: Stop::Limit(limit), .. } => limit.word(),
        Reason::GaveUp(_) | Reason::Untraced { stop: Stop::GaveUp(_), .. } => "gave-up",
        Reason::NotApplicable(_) | Reason::Untraced { stop: Stop::NotApplicable(_), .. } => "not-applicable",
        Reason::Defect(_) | Reason::Untraced { stop: Stop::Defect(_), .. } => "defect",
        Reason::NothingAsked => "nothing-to-prove",
        Reason::SelfCheckFailed(_) | Reason::Untraced { stop: Stop::NotConfirmed(_), .. } => "self-check-failed",
    };
    let message = match reason {
        Reason::SelfCheckFailed(why) => why.clone(),
        _ => crate::human::reason_text(reason, raised),
    };
    Some(serde_json::json!({ "kind": kind, "message": message }))
}
