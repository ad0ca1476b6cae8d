//! Traces as schedules, for people and for programs.

use std::fmt::Write as _;

use serde_json::Value;
use tepui_cert::{Trace, pushdown as shared, rendezvous as meeting};
use tepui_model::{Model, pushdown, rendezvous};

use crate::human::{BOLD, DIM, paint};
use crate::visible;

/// Steps shown of a long trace: so many at its start and at its end.
pub(crate) const SHOWN_AT_ENDS: usize = 25;

/// Symbols shown of a high stack.
const SHOWN_OF_A_STACK: usize = 12;

/// A trace as a schedule.
pub(crate) fn render(model: &Model, trace: &Trace) -> String {
    match (model, trace) {
        (Model::Pushdown(model), Trace::Pushdown(trace)) => of_pushdown(model, trace),
        (Model::Rendezvous(model), Trace::Rendezvous(trace)) => of_rendezvous(model, trace),
        _ => String::new(),
    }
}

/// The start and the steps of a trace, for machines.
pub(crate) fn values(model: &Model, trace: &Trace) -> (Value, Value) {
    match (model, trace) {
        (Model::Pushdown(model), Trace::Pushdown(trace)) => {
            let steps = trace.steps.iter().map(|step| pushdown_value(model, step)).collect();
            (model.display_state(&trace.start).into(), steps)
        }
        (Model::Rendezvous(model), Trace::Rendezvous(trace)) => {
            let steps = trace.steps.iter().map(|step| rendezvous_value(model, step)).collect();
            (model.display_state(&trace.start, usize::MAX).into(), steps)
        }
        _ => (Value::Null, Value::Null),
    }
}

/// The middle of a long list is left out: whether this entry is, and if it is the first one, how many are.
fn left_out(index: usize, count: usize) -> Option<Option<usize>> {
    let middle = SHOWN_AT_ENDS..count.saturating_sub(SHOWN_AT_ENDS);
    (middle.len() > 1 && middle.contains(&index)).then(|| (index == middle.start).then_some(middle.len()))
}

fn gap(count: usize) -> String {
    format!("    {}\n", paint(DIM, &format!("... {count} more steps ...")))
}

/// Contexts marked, each step with its thread, its rule, the rule's line and the state after it.
fn of_pushdown(model: &pushdown::Model, trace: &shared::Trace) -> String {
    let rule_width = trace.steps.iter().map(|step| rule_text(model, step).len()).max().unwrap_or(0);
    let state = |state: &pushdown::State| visible(&model.display_state_cut(state, SHOWN_OF_A_STACK)).into_owned();
    let mut out = format!("    {:<4} {:<rule_width$} {:>10}   {}\n", "", "start", "", state(&trace.start));
    let (mut context, mut active, mut hidden) = (0, None, false);
    for (index, step) in trace.steps.iter().enumerate() {
        let switched = active != Some(step.thread);
        if switched {
            (context, active) = (context + 1, Some(step.thread));
        }
        if let Some(more) = left_out(index, trace.steps.len()) {
            out.extend(more.map(gap));
            hidden = true;
            continue;
        }
        if switched || std::mem::take(&mut hidden) {
            let name = &model.threads()[step.thread].name;
            let _ = writeln!(out, "  {}", paint(BOLD, &format!("context {context}: {}", visible(name))));
        }
        let line = model.threads()[step.thread].rules[step.rule].line;
        let line = if line == 0 { String::new() } else { format!("line {line}") };
        let (rule, state) = (rule_text(model, step), state(&step.after));
        let _ = writeln!(out, "    {:<4} {:<rule_width$} {line:>10}   {state}", index + 1, visible(&rule));
    }
    out
}

fn rule_text(model: &pushdown::Model, step: &shared::Step) -> String {
    model.display_rule(step.thread, &model.threads()[step.thread].rules[step.rule])
}

fn pushdown_value(model: &pushdown::Model, step: &shared::Step) -> Value {
    serde_json::json!({
        "thread": model.threads()[step.thread].name,
        "rule": rule_text(model, step),
        "line": model.threads()[step.thread].rules[step.rule].line,
        "state": model.display_state(&step.after),
    })
}

/// Each step with its action, the lines of its rules, and where the threads that took part are then.
fn of_rendezvous(model: &rendezvous::Model, trace: &meeting::Trace) -> String {
    let local = |thread: usize, state: &rendezvous::State| {
        let local = model.display_local(thread, &state[thread], SHOWN_OF_A_STACK);
        format!("{}: {local}", model.threads()[thread].name)
    };
    let rows: Vec<_> = (trace.steps.iter())
        .map(|step| {
            let after: Vec<_> = step.moves.iter().map(|own| local(own.thread, &step.after)).collect();
            let mut lines: Vec<_> =
                step.moves.iter().filter_map(|own| model.rule(*own)).map(|rule| rule.line).collect();
            lines.retain(|&line| line > 0);
            let lines: Vec<_> = lines.iter().map(ToString::to_string).collect();
            let lines = if lines.is_empty() { String::new() } else { format!("line {}", lines.join(", ")) };
            (model.action_name(action(model, step)), lines, after.join(", "))
        })
        .collect();
    let width = |cell: fn(&(&str, String, String)) -> usize| rows.iter().map(cell).max().unwrap_or(0);
    let (actions, lines) = (width(|row| row.0.chars().count()).max(5), width(|row| row.1.len()));
    let start: Vec<_> = (0..trace.start.len()).map(|thread| local(thread, &trace.start)).collect();
    let mut out = format!("    {:<4} {:<actions$}  {:<lines$}   {}\n", "", "start", "", visible(&start.join(", ")));
    for (index, (action, line, after)) in rows.iter().enumerate() {
        if let Some(more) = left_out(index, rows.len()) {
            out.extend(more.map(gap));
            continue;
        }
        let (action, after) = (visible(action), visible(after));
        let _ = writeln!(out, "    {:<4} {action:<actions$}  {line:<lines$}   {after}", index + 1);
    }
    out
}

fn action(model: &rendezvous::Model, step: &meeting::Step) -> Option<rendezvous::Action> {
    step.moves.first().and_then(|own| model.rule(*own)).and_then(|rule| rule.action)
}

fn rendezvous_value(model: &rendezvous::Model, step: &meeting::Step) -> Value {
    let moves = step.moves.iter().filter_map(|own| {
        let rule = model.rule(*own)?;
        let thread = &model.threads()[own.thread].name;
        Some(serde_json::json!({ "thread": thread, "rule": model.display_rule(own.thread, rule), "line": rule.line }))
    });
    serde_json::json!({
        "action": model.action_name(action(model, step)),
        "moves": moves.collect::<Vec<_>>(),
        "state": model.display_state(&step.after, usize::MAX),
    })
}

/// What a trace's text says about a step, behind a `#`.
pub fn pushdown_comment(model: &pushdown::Model, step: &shared::Step) -> String {
    let thread = &model.threads()[step.thread];
    let line = line_text(thread.rules[step.rule].line);
    format!("{}: {}{line}: {}", thread.name, rule_text(model, step), model.display_state(&step.after))
}

/// The same for a step of several threads.
pub fn rendezvous_comment(model: &rendezvous::Model, step: &meeting::Step) -> String {
    let moves: Vec<_> = (step.moves.iter())
        .filter_map(|own| {
            let rule = model.rule(*own)?;
            let thread = &model.threads()[own.thread].name;
            Some(format!("{thread}: {}{}", model.display_rule(own.thread, rule), line_text(rule.line)))
        })
        .collect();
    format!("{}: {}", moves.join("; "), model.display_state(&step.after, usize::MAX))
}

fn line_text(line: u32) -> String {
    if line == 0 { String::new() } else { format!(" (line {line})") }
}
