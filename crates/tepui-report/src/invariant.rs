//! What a proof says about lines of the source, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};
use tepui_core::story::Values;
use tepui_core::{Invariant, Place};

use crate::visible_lines;

/// The most pairs of lines that are listed for people.
const MOST_PAIRS: usize = 200;

/// Characters shown of a statement.
const SHOWN_OF_A_STATEMENT: usize = 33;

fn name(place: &Place) -> String {
    match place.line {
        None => format!("the end of {}", place.procedure),
        Some((line, 1)) => format!("{}:{line}", place.procedure),
        Some((line, number)) => format!("{}:{line}.{number}", place.procedure),
    }
}

fn text(values: &Values) -> String {
    values.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

/// For people.
pub(crate) fn render(invariant: &Invariant) -> String {
    let mut out = "\n  invariant: what holds between any two steps, once the threads are started\n".to_owned();
    if !invariant.always.is_empty() {
        let _ = writeln!(out, "    always: {}", text(&invariant.always));
    }
    let mut procedure = None;
    for (place, values) in &invariant.lines {
        if procedure.replace(place.number.0) != Some(place.number.0) {
            let _ = writeln!(out, "    when a thread is in {}", place.procedure);
        }
        let _ = writeln!(out, "{}", at_line(place, values).trim_end());
    }
    out.push_str(&pairs(invariant));
    visible_lines(&out).into_owned()
}

fn at_line(place: &Place, values: &Values) -> String {
    let line = place.line.map_or("end".to_owned(), |(line, _)| format!("line {line}"));
    let short: String = place.statement.chars().take(SHOWN_OF_A_STATEMENT).collect();
    let more = if short.len() < place.statement.len() { "..." } else { "" };
    format!("      {line:<9} {:<38}{}", format!("{short}{more}"), text(values))
}

/// What is known of pairs of lines: first those at which no two threads are at the same time.
fn pairs(invariant: &Invariant) -> String {
    let mut out = String::new();
    let (never, mut known): (Vec<_>, Vec<_>) = invariant.pairs.iter().partition(|(.., values)| values.is_none());
    known.retain(|(.., values)| values.as_ref().is_some_and(|values| !values.is_empty()));
    if !never.is_empty() {
        out.push_str("    no two threads are at the same time at\n");
    }
    let mut beside: BTreeMap<&Place, Vec<String>> = BTreeMap::new();
    for (one, other, _) in never.iter().take(MOST_PAIRS) {
        beside.entry(one).or_default().push(name(other));
    }
    for (one, others) in beside {
        let _ = writeln!(out, "      {} and {}", name(one), others.join(", "));
    }
    if !known.is_empty() {
        out.push_str("    when one thread is at the first and another at the second\n");
    }
    for (one, other, values) in known.iter().take(MOST_PAIRS) {
        let _ = writeln!(out, "      {}, {}: {}", name(one), name(other), values.as_ref().map_or(String::new(), text));
    }
    if let hidden @ 1.. = never.len().saturating_sub(MOST_PAIRS) + known.len().saturating_sub(MOST_PAIRS) {
        let _ = writeln!(out, "    ... and {hidden} more pairs; --format json lists all");
    }
    out
}

/// For programs.
pub(crate) fn json(invariant: &Invariant) -> Value {
    let values = |values: &Values| -> Value {
        values.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
    };
    let place = |place: &Place| {
        let (line, number) = place.line.unzip();
        json!({ "procedure": place.procedure, "line": line, "number": number })
    };
    let lines = invariant.lines.iter().map(|(line, known)| {
        let mut value = place(line);
        value["values"] = values(known);
        value
    });
    let pairs = invariant.pairs.iter().map(|(one, other, known)| {
        let facts = known.as_ref().map_or_else(|| json!({}), values);
        json!({ "first": place(one), "second": place(other), "together": known.is_some(), "values": facts })
    });
    json!({
        "always": values(&invariant.always),
        "lines": lines.collect::<Vec<_>>(),
        "pairs": pairs.collect::<Vec<_>>(),
    })
}
