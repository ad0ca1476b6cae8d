//! The JSON of `verify` and `explore`. Names are a contract: they are documented in the book and only ever added to.

use serde::Serialize;
use serde_json::Value;
use tepui_core::{Bound, Iteration, Reason, Verdict};

use crate::Report;

#[derive(Serialize)]
struct Document<'a> {
    tepui_version: &'a str,
    file: &'a str,
    model_digest: String,
    verdict: &'static str,
    reason: Option<Value>,
    engine: &'a str,
    resource: &'a str,
    cutoff: Option<Bound>,
    bound_reached: Option<Bound>,
    views: u64,
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
    warnings: &'a [String],
    properties: Vec<Value>,
    iterations: &'a [Iteration],
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
        model_digest: report.model.digest().to_string(),
        verdict: outcome.status().word(),
        reason: outcome.properties.iter().find_map(|property| reason(&property.verdict)),
        engine: outcome.engine,
        resource: outcome.resource,
        cutoff: outcome.cutoff,
        bound_reached: complete.map(|iteration| iteration.bound),
        views: last.map_or(0, |iteration| iteration.views),
        view_depth: proven.map(|evidence| evidence.view_depth),
        evidence: proven.map(|evidence| serde_json::json!({ "kind": evidence.kind, "because": evidence.because })),
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
        warnings: report.warnings,
        properties: outcome.properties.iter().map(|property| one(report, &property.name, &property.verdict)).collect(),
        iterations: &outcome.iterations,
    };
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn one(report: &Report<'_>, name: &str, verdict: &Verdict) -> Value {
    let mut value = serde_json::json!({ "name": name, "verdict": verdict.status().word() });
    match verdict {
        Verdict::Unsafe(refuted) => {
            let steps: Vec<_> =
                refuted.trace().steps.iter().map(|step| crate::human::step_value(report.model, step)).collect();
            value["bound"] = serde_json::to_value(refuted.bound()).unwrap_or_default();
            value["contexts"] = refuted.trace().contexts().into();
            value["start"] = report.model.display_state(&refuted.trace().start).into();
            value["steps"] = steps.into();
        }
        Verdict::Unknown(_) => value["reason"] = reason(verdict).unwrap_or_default(),
        Verdict::Safe(_) => {}
    }
    value
}

fn reason(verdict: &Verdict) -> Option<Value> {
    let Verdict::Unknown(reason) = verdict else { return None };
    let (kind, message) = match reason {
        Reason::Limit(limit) => (limit.word(), crate::human::limit_text(*limit).to_owned()),
        Reason::GaveUp(why) => ("gave-up", why.clone()),
        Reason::NotApplicable(why) => ("not-applicable", why.clone()),
        Reason::SelfCheckFailed(why) => ("self-check-failed", why.clone()),
    };
    Some(serde_json::json!({ "kind": kind, "message": message }))
}
