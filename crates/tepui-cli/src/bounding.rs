//! `tepui explore --bounding`: how many executions and states there are with each bound.

use anyhow::{Result, bail};
use serde_json::{Value, json};
use tepui::{Bounding, CountLimits, CountRow, Counted, Dispatcher, Options, Reason};
use tepui_report::grouped;
use tepui_report::json::to_json;

use super::args::{BoundingName, ExploreArgs, Format};
use super::bench::table::render;
use super::verify::Clock;
use super::{Exit, print};

/// The largest bound, if nothing else is said.
const BOUND: u32 = 3;

/// The most pending tasks, if nothing else is said.
const TASKS: u32 = 8;

/// Counts executions and states.
pub(crate) fn compare(args: &ExploreArgs) -> Result<Exit> {
    let clock = Clock::start(&args.run);
    let all = match clock.load(&args.model, None)? {
        Ok(all) => all,
        Err(limit) => return clock.unread(&args.model, &args.run, limit),
    };
    let limits = CountLimits {
        bound: args.bound.unwrap_or(BOUND),
        tasks: args.tasks.unwrap_or(TASKS),
        dispatches: args.dispatches,
    };
    let mut found = Vec::new();
    let boundings = boundings(args);
    if args.bounding.contains(&BoundingName::Delays) && args.run.scheduler.iter().any(|name| !is_delaying(name)) {
        bail!("--bounding delays is for schedulers that delay tasks: bag and bounded-bag dispatch any");
    }
    for (name, bounding) in boundings {
        found.push((name, all[0].problem.executions(&bounding, limits, &clock.budget)?));
    }
    clock.finish();
    all[0].warn();
    print(&match args.run.format {
        Format::Human => table(&found, limits),
        Format::Json => to_json(&Value::from(found.iter().map(listed).collect::<Vec<_>>())) + "\n",
    })?;
    let stopped = found.iter().any(|(_, counted)| counted.stopped.is_some());
    Ok(if stopped { Exit::Unknown } else { Exit::Good })
}

fn is_delaying(scheduler: &str) -> bool {
    matches!(Dispatcher::named(scheduler), Some(Dispatcher::Delaying(_)))
}

/// What is to be compared, with names. Delays count for each scheduler.
fn boundings(args: &ExploreArgs) -> Vec<(String, Bounding)> {
    let named = args.run.scheduler.iter().filter_map(|name| Dispatcher::named(name)).collect::<Vec<_>>();
    let dispatchers = if named.is_empty() { Options::default().schedulers.0 } else { named };
    let mut found = Vec::new();
    for name in &args.bounding {
        let named = |name: &str, bounding| vec![(name.to_owned(), bounding)];
        found.extend(match name {
            BoundingName::Preemptions => named("preemptions", Bounding::Preemptions),
            BoundingName::Contexts => named("contexts", Bounding::Contexts),
            BoundingName::Depth => named("depth", Bounding::Depth),
            BoundingName::Delays => {
                let of = |dispatcher: &Dispatcher| match dispatcher {
                    Dispatcher::Delaying(own) => {
                        Some((format!("delays, {}", own.name()), Bounding::Delays(own.clone())))
                    }
                    Dispatcher::Bag { .. } => None,
                };
                dispatchers.iter().filter_map(of).collect()
            }
        });
    }
    found
}

fn table(found: &[(String, Counted)], limits: CountLimits) -> String {
    let row = |name: &str, counted: &Counted, row: &CountRow| {
        let violated = counted.violated.iter().filter(|(_, bound)| *bound <= row.bound);
        let violated: Vec<_> = violated.map(|(property, _)| property.as_str()).collect();
        let numbers = [row.bound.to_string(), many(row.executions), grouped(row.states)];
        [name.to_owned()].into_iter().chain(numbers).chain([violated.join(", ")]).collect()
    };
    let rows = found.iter().flat_map(|(name, counted)| counted.rows.iter().map(move |own| row(name, counted, own)));
    let mut text = render(&["bound on", "bound", "executions", "states", "violated"], 1, rows);
    if found.iter().any(|(_, counted)| counted.cut) {
        let CountLimits { tasks, dispatches, .. } = limits;
        text += &format!(
            "\nnot all: executions were cut off where more than {tasks} tasks would be pending (--tasks), or more than {dispatches} dispatched (--dispatches)\n"
        );
    }
    for (name, stop) in found.iter().filter_map(|(name, counted)| Some((name, counted.stopped.as_ref()?))) {
        text += &format!("\nnot all: {name}: {}\n", Reason::from(stop.clone()));
    }
    text
}

/// A large number for people.
fn many(number: u128) -> String {
    u64::try_from(number).map_or_else(|_| format!("{:.2e}", number as f64), grouped)
}

fn listed((name, counted): &(String, Counted)) -> Value {
    let rows = counted
        .rows
        .iter()
        .map(|row| json!({ "bound": row.bound, "executions": row.executions as f64, "states": row.states }));
    let violated = counted.violated.iter().map(|(property, bound)| json!({ "property": property, "bound": bound }));
    json!({
        "bounding": name,
        "rows": rows.collect::<Vec<_>>(),
        "violated": violated.collect::<Vec<_>>(),
        "cut": counted.cut,
        "finished": counted.stopped.is_none(),
    })
}
