//! What an answer is about.

use serde_json::{Value, json};
use tepui_core::text::cut;
use tepui_core::{About, Outcome, Status, Unreached};

/// Stretches shown of many.
const SHOWN: usize = 6;

/// The lines of the report.
pub(crate) fn facts(about: &About, outcome: &Outcome) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if outcome.properties.iter().any(|property| property.verdict.status() == Status::Safe) {
        facts.push(("for", format!("{}; sequentially consistent memory", about.threads)));
    }
    let line = |one: &Unreached| match one.lines {
        (first, last) if first == last => {
            format!("line {first} of {} is never reached: {}", one.procedure, cut(&one.statement))
        }
        (first, last) => {
            format!("lines {first} to {last} of {} are never reached: {} ...", one.procedure, cut(&one.statement))
        }
    };
    facts.extend(about.unreached.iter().take(SHOWN).map(|one| ("never", line(one))));
    if let more @ 1.. = about.unreached.len().saturating_sub(SHOWN) {
        facts.push(("never", format!("... and {more} more; --format json lists them")));
    }
    facts.extend(warnings(about).into_iter().map(|warning| ("warning", warning)));
    facts
}

/// What may not be as it was meant.
pub(crate) fn warnings(about: &About) -> Vec<String> {
    let vacuous = about.vacuous.iter().map(|name| format!("{name} holds only because no execution reaches it"));
    let stuck = (about.stuck == Some(true)).then(|| "the program can get stuck: --deadlock shows how".to_owned());
    vacuous.chain(stuck).collect()
}

pub(crate) fn json(about: &About) -> Value {
    let one = |one: &Unreached| json!({ "procedure": one.procedure, "first_line": one.lines.0, "last_line": one.lines.1, "statement": cut(&one.statement) });
    json!({
        "threads": about.threads,
        "memory_model": "sequentially-consistent",
        "unreached": about.unreached.iter().map(one).collect::<Vec<_>>(),
        "can_get_stuck": about.stuck,
    })
}
