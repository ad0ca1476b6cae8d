//! A family of queries about communicating systems, of the kind that checks of atomicity produce.
//!
//! Two workers touch a shared place twice each, in a critical section or not, after they have taken and given back some
//! locks; an observer waits for the touches in a certain order. Locks are threads too. A query asks whether the observer
//! gets to its end: whether the touches of the workers can be interleaved in this order.

use std::fmt::Write as _;

/// How the touches are protected.
const DISCIPLINES: [&str; 3] = ["same-lock", "no-lock", "two-locks"];

/// The orders of touches: which worker touches first, second, and so on.
const ORDERS: [&str; 6] = ["12", "121", "1221", "1212", "21", "2112"];

/// How often a worker takes and gives back a lock before it touches anything.
const ROUNDS: [usize; 5] = [0, 4, 8, 12, 16];

/// A query: its name, and the text of its model.
pub(super) struct Query {
    pub(super) name: String,
    pub(super) text: String,
}

/// The whole family.
pub(super) fn family() -> Vec<Query> {
    let mut queries = Vec::new();
    for rounds in ROUNDS {
        for locks in 1..=2 {
            for recursive in [false, true] {
                for discipline in DISCIPLINES {
                    for order in ORDERS {
                        let calls = if recursive { "recursive" } else { "flat" };
                        let name = format!("{discipline}-{order}-{rounds}-{locks}-{calls}");
                        queries.push(Query { name, text: text(rounds, locks, recursive, discipline, order) });
                    }
                }
            }
        }
    }
    queries
}

fn text(rounds: usize, locks: usize, recursive: bool, discipline: &str, order: &str) -> String {
    let mut out = String::from("action touch1: worker1, observer\naction touch2: worker2, observer\n");
    let all = locks.max(2);
    let names: Vec<_> = (1..=all).flat_map(|lock| [format!("take{lock}"), format!("give{lock}")]).collect();
    let _ = writeln!(out, "handshake {}", names.join(", "));
    for lock in 1..=all {
        let _ = writeln!(out, "thread lock{lock} {{\n  init free -\n  free - -> taken - : take{lock}?");
        let _ = writeln!(out, "  taken - -> free - : give{lock}?\n}}");
    }
    for worker in 1..=2 {
        let _ = writeln!(out, "thread worker{worker} {{\n  init run begin");
        if recursive {
            out.push_str("  run begin -> run begin end\n");
        }
        let held = match discipline {
            "same-lock" => Some(1),
            "two-locks" => Some(worker),
            _ => None,
        };
        // What the worker does, one after the other.
        let mut actions = Vec::new();
        for round in 0..rounds {
            let lock = round % locks + 1;
            actions.extend([format!("take{lock}!"), format!("give{lock}!")]);
        }
        actions.extend(held.map(|lock| format!("take{lock}!")));
        actions.extend([format!("touch{worker}"), format!("touch{worker}")]);
        actions.extend(held.map(|lock| format!("give{lock}!")));
        let mut at = "begin".to_owned();
        for (number, action) in actions.iter().enumerate() {
            let next = if number + 1 == actions.len() { "end".to_owned() } else { format!("n{number}") };
            let _ = writeln!(out, "  run {at} -> run {next} : {action}");
            at = next;
        }
        out.push_str("  run end -> run -\n}\n");
    }
    out.push_str("thread observer {\n  init seen0 -\n");
    for (number, worker) in order.chars().enumerate() {
        let _ = writeln!(out, "  seen{number} - -> seen{} - : touch{worker}", number + 1);
    }
    let _ = writeln!(out, "}}\nreach order: observer at seen{}", order.len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use tepui_lang::rendezvous::read_rpds;
    use tepui_lang::source::Source;

    #[test]
    fn every_query_is_a_model_without_slips() {
        let family = family();
        assert!(family.len() >= 300, "{}", family.len());
        let names: std::collections::HashSet<_> = family.iter().map(|query| &query.name).collect();
        assert_eq!(names.len(), family.len());
        for Query { name, text } in &family {
            let parsed = read_rpds(&Source::new(name.as_str(), text.as_bytes()), None);
            let parsed = parsed.unwrap_or_else(|errors| panic!("{name}: {errors:?}\n{text}"));
            // Where there is one discipline only, a lock may be left over.
            let slips = parsed.warnings.iter().filter(|warning| !warning.message.starts_with("handshake"));
            assert_eq!(slips.count(), 0, "{name}: {:?}", parsed.warnings);
        }
    }
}
