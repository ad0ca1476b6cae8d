//! Programs in P in which it matters what comes first: machines that change their states with what they take, and are sent
//! letters by several others.

use std::fmt::Write as _;

use fastrand::Rng;

const EVENTS: [&str; 4] = ["eA", "eB", "eC", "eD"];

/// A program: two to four machines that know those created before them.
pub fn program(rng: &mut Rng) -> String {
    let mut text = String::from("event eA: machine; event eB: machine; event eC: machine; event eD: machine;\n");
    let machines = rng.usize(2..=4);
    text.push_str("machine Main { start state Init { entry { var peers: seq[machine];\n");
    for number in 0..machines {
        let _ = writeln!(text, "    peers += ({number}, new M{number}(peers));");
        if rng.u8(..3) == 0 {
            let _ = writeln!(text, "    {}", send(rng, number + 1, None));
        }
    }
    let _ = writeln!(text, "  }} ignore eA, eB, eC, eD; }} }}");
    for number in 0..machines {
        text.push_str(&machine(rng, number));
    }
    let watched = if rng.u8(..3) == 0 { "assert Watch in " } else { "" };
    if !watched.is_empty() {
        text.push_str(&watch(rng));
    }
    let all = (0..machines).map(|number| format!(", M{number}")).collect::<String>();
    let _ = writeln!(text, "test t [main=Main]: {watched}{{ Main{all} }};");
    text
}

fn machine(rng: &mut Rng, number: usize) -> String {
    let states = rng.usize(1..=3);
    let mut sends = |most: u8| (0..rng.u8(..=most)).map(|_| send(rng, number, None)).collect::<String>();
    let mut text = format!("machine M{number} {{ var peers: seq[machine];\n");
    let first = sends(2);
    let _ = writeln!(text, "  start state Init {{ entry (own: seq[machine]) {{ peers = own; {first}goto S0; }} }}");
    let entries: Vec<_> = (0..states).map(|_| sends(1)).collect();
    for (state, entry) in entries.iter().enumerate() {
        let _ = writeln!(text, "  state S{state} {{ entry {{ {entry}}}");
        for event in EVENTS {
            let _ = writeln!(text, "    {}", handler(rng, event, (number, states)));
        }
        text.push_str("  }\n");
    }
    text + "}\n"
}

/// A spec that asserts that something does not come after something else.
fn watch(rng: &mut Rng) -> String {
    let (one, other) = (EVENTS[rng.usize(..2)], EVENTS[rng.usize(2..4)]);
    format!(
        "spec Watch observes {one}, {other} {{\n  start state Before {{ on {one} goto After; ignore {other}; }}\n  \
         state After {{ ignore {one}; on {other} do {{ assert false; }} }} }}\n"
    )
}

/// Something is sent to one of so many peers, or to who has sent something.
fn send(rng: &mut Rng, peers: usize, who: Option<&str>) -> String {
    let event = EVENTS[rng.usize(..4)];
    match who {
        Some(who) if peers == 0 || rng.bool() => format!("send {who}, {event}, this; "),
        _ if peers == 0 => String::new(),
        _ => format!("send peers[{}], {event}, this; ", rng.usize(..peers)),
    }
}

/// What a state does with an event.
fn handler(rng: &mut Rng, event: &str, (number, states): (usize, usize)) -> String {
    let state = rng.usize(..states);
    match rng.u8(..24) {
        0..=7 => format!("ignore {event};"),
        8..=14 => format!("on {event} goto S{state};"),
        15..=17 => format!("on {event} do (who: machine) {{ {}}}", send(rng, number, Some("who"))),
        18 | 19 => format!("defer {event};"),
        20 => format!("on {event} do {{ raise halt; }}"),
        21 => format!("on {event} do {{ if ($) {{ goto S{state}; }} }}"),
        22 => format!("on {event} do {{ receive {{ case {}: (who: machine) {{ }} }} }}", EVENTS[rng.usize(..4)]),
        _ => format!("on {event} do {{ assert false; }}"),
    }
}
