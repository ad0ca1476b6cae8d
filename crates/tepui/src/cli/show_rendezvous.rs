//! What `tepui show` says about models whose threads meet in actions.

use std::fmt::Write as _;

use comfy_table::Table;
use tepui_engines::rendezvous::product::product;
use tepui_lang::rendezvous::print_query;
use tepui_model::rendezvous::{Action, Model, Thread};
use tepui_report::json::to_json;
use tepui_report::{count, grouped, visible, visible_lines};

/// Actions that are listed of many.
const MOST_ACTIONS: usize = 40;

/// The longest query that is printed in a summary.
const LONGEST_QUERY: usize = 2_000;

/// A summary for people.
pub(super) fn summary(file: &str, model: &Model) -> String {
    let mut out = format!("{}: a communicating pushdown system\n\n", visible(file));
    let _ = writeln!(out, "  threads        {}", model.threads().len());
    let _ = writeln!(out, "  actions        {}", grouped(model.actions().len() as u64));
    let _ = writeln!(out, "  initial state  {}", model.display_state(model.init(), usize::MAX));
    let product = product(model);
    let phases = count(u64::from(product.model().shared().count()), "phase");
    let rules: usize = product.model().threads().iter().map(|thread| thread.rules.len()).sum();
    let _ = writeln!(out, "  product        {phases}, {}", count(rules as u64, "rule"));
    let _ = writeln!(out, "  digest         {}\n", model.digest());
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["thread", "control states", "symbols", "rules", "internal", "actions"]);
    for thread in model.threads() {
        let numbers =
            [thread.controls.len(), thread.symbols.len(), thread.rules.len(), internal(thread), thread.knows.len()];
        table.add_row([thread.name.clone()].into_iter().chain(numbers.map(|number| number.to_string())));
    }
    out.extend(table.to_string().lines().map(|line| format!(" {}\n", line.trim_end())));
    out.push('\n');
    for (number, action) in model.actions().iter().enumerate().take(MOST_ACTIONS) {
        let _ = writeln!(out, "  action {action}: {}", knowing(model, number).join(", "));
    }
    if model.actions().len() > MOST_ACTIONS {
        let _ = writeln!(out, "  ... and {} more", model.actions().len() - MOST_ACTIONS);
    }
    out.push('\n');
    for property in model.properties() {
        let query = print_query(model, property).ok().filter(|query| query.len() <= LONGEST_QUERY);
        let targets = || format!("reach {}: {}", property.name, count(property.never.len() as u64, "target"));
        let _ = writeln!(out, "  {}", query.unwrap_or_else(targets));
    }
    if model.properties().is_empty() {
        out.push_str("  no query\n");
    }
    visible_lines(&out).into_owned()
}

/// A summary for programs.
pub(super) fn json(file: &str, model: &Model) -> String {
    let threads = model.threads().iter().map(|thread| {
        serde_json::json!({
            "name": thread.name, "control_states": thread.controls.len(), "symbols": thread.symbols.len(),
            "rules": thread.rules.len(), "internal": internal(thread), "actions": thread.knows.len(),
        })
    });
    let actions = model
        .actions()
        .iter()
        .enumerate()
        .map(|(number, name)| serde_json::json!({ "name": name, "threads": knowing(model, number) }));
    let properties = model
        .properties()
        .iter()
        .map(|property| serde_json::json!({ "name": property.name, "targets": property.never.len() }));
    let document = serde_json::json!({
        "tepui_version": env!("CARGO_PKG_VERSION"),
        "file": file,
        "model_digest": model.digest().to_string(),
        "init": model.display_state(model.init(), usize::MAX),
        "threads": threads.collect::<Vec<_>>(),
        "actions": actions.collect::<Vec<_>>(),
        "properties": properties.collect::<Vec<_>>(),
    });
    to_json(&document) + "\n"
}

fn internal(thread: &Thread) -> usize {
    thread.rules.iter().filter(|rule| rule.action.is_none()).count()
}

fn knowing(model: &Model, action: usize) -> Vec<&str> {
    model.knowing(Action(action as u32)).map(|thread| model.threads()[thread].name.as_str()).collect()
}
