//! Random programs in P: a few machines that send each other events, with whatever the language has for queues.

mod expressions;
pub mod races;
pub mod rich;
mod types;
mod writer;

use std::fmt::Write as _;

use fastrand::Rng;

/// The events; some carry a number.
const EVENTS: [&str; 4] = ["eA", "eB", "eC", "eD"];

/// A program: two or three machines, small enough to be explored.
pub fn program(rng: &mut Rng) -> String {
    let mut text = String::from("event eA; event eB; event eC: int; event eD; event eUnit;\n");
    let machines = rng.usize(2..=3);
    let twins = rng.u8(..3) == 0;
    let _ = writeln!(text, "machine Main {{\n  {VARIABLES}");
    let _ = writeln!(text, "  start state Init {{ entry {{");
    for number in 1..machines {
        let kind = if twins { 1 } else { number };
        let _ = writeln!(text, "    peers += (sizeof(peers), new M{kind}(this));");
    }
    let drives = twins && machines == 3 && rng.bool();
    if drives {
        text.push_str("    new Driver((one = peers[0], two = peers[1]));\n");
        text.push_str(["    peers = default(seq[machine]);\n", ""][rng.usize(..2)]);
    }
    let machines = if twins { 2 } else { machines };
    let ticks = rng.u8(..3) == 0;
    text.push_str(if ticks { "    new Ticker();\n" } else { "" });
    let _ = writeln!(text, "{}  }}\n{} }}", block(rng, 2), handlers(rng, true));
    let _ = writeln!(text, "{}{}}}", state(rng, "Other"), HELPER);
    for number in 1..machines {
        let _ = writeln!(text, "machine M{number} {{\n  {VARIABLES}");
        let _ = writeln!(text, "  start state Init {{ entry (m: machine) {{ peers += (0, m);\n{}  }}", block(rng, 1));
        let _ = writeln!(text, "{} }}\n{}{}}}", handlers(rng, false), state(rng, "Other"), HELPER);
    }
    if ticks {
        text.push_str(&ticker(rng));
    }
    if drives {
        text.push_str(&driver(rng));
    }
    if rng.bool() {
        let _ = writeln!(text, "spec S observes eB, eC {{ var k: int;");
        let temperature = |rng: &mut Rng| ["", "", "hot ", "cold "][rng.usize(..4)];
        let counts = rng.bool();
        let count = if counts { format!("k = k + 1; assert k < {};", rng.u8(2..5)) } else { String::new() };
        let _ = writeln!(text, "  start {}state I {{ on eB do {{ {count} }}", temperature(rng));
        let back = ["ignore eB; on eC goto I;", "on eB goto I; ignore eC;", "on eB goto J; on eC goto H;"];
        let _ = writeln!(text, "    on eC goto H; }}\n  hot state H {{ {} }}", back[rng.usize(..3)]);
        let _ = writeln!(text, "  {}state J {{ on eB goto I; ignore eC; }} }}", temperature(rng));
        let mut all: Vec<_> = (1..machines).map(|number| format!("M{number}")).collect();
        all.extend(ticks.then(|| "Ticker".to_owned()));
        all.extend(drives.then(|| "Driver".to_owned()));
        let _ = writeln!(text, "test t [main=Main]: assert S in {{ Main, {} }};", all.join(", "));
    }
    text
}

/// The same, where machines and specs ask foreign functions, which may return anything.
pub fn asking(rng: &mut Rng, text: &str) -> String {
    let asks = ["Ask()", "!Ask()", "Which() == RED", "Which() != Which()"];
    let ask = asks[rng.usize(..asks.len())];
    let other = asks[rng.usize(..asks.len())];
    let count = if rng.bool() { format!("k = k + 1; if ({ask}) {{ k = 0; }}") } else { String::new() };
    let leave = if rng.bool() { format!("if ({other}) {{ goto H; }}") } else { String::new() };
    let mut text = text.replace("state I { on eB do {", &format!("state I {{ on eB do {{ {count} {leave}"));
    if rng.bool() {
        text = text.replace("state I {", &format!("state I {{ entry {{ if ({other}) {{ k = 1; }} }} "));
    }
    if rng.bool() {
        text = text.replace("n = Twice(n);", &format!("if ({ask}) {{ n = Twice(n); }}"));
    }
    format!("enum tColor {{ RED, GREEN, BLUE }}\nfun Ask(): bool;\nfun Which(): tColor;\n{text}")
}

const VARIABLES: &str = "var peers: seq[machine]; var n: int; var up: int; var down: int;";

/// A machine that takes nothing, and may treat two others alike.
fn driver(rng: &mut Rng) -> String {
    let (one, two) = (EVENTS[rng.usize(..2)], EVENTS[rng.usize(..2)]);
    let again = if rng.bool() { "while (i < 2) { i = i + 1; " } else { "{ " };
    format!(
        "machine Driver {{ start state Run {{ entry (c: (one: machine, two: machine)) {{ var i: int; {again}\n  \
         if ($) {{ send c.one, {one}; }} else {{ send c.two, {two}; }} }} }} }} }}\n"
    )
}

/// A machine that goes on for ever, and tells specs something now and then.
fn ticker(rng: &mut Rng) -> String {
    let mut say = || ["announce eB;", "announce eC, 0;", "announce eB; announce eC, 1;", ""][rng.usize(..4)];
    let (first, second) = (say(), say());
    let choice = ["$", "$$", "true"][rng.usize(..3)];
    let other = if rng.bool() { "on null do { send this, eD; } on eD do { send this, eUnit; }" } else { "" };
    let next = if other.is_empty() { "send this, eUnit;" } else { "" };
    format!(
        "machine Ticker {{ start state Run {{ entry {{ send this, eUnit; }}\n  \
         on eUnit do {{ if ({choice}) {{ {first} }} else {{ {second} }} {next} }} {other} }} }}\n"
    )
}

const HELPER: &str = "  fun Twice(x: int): int { if (x > 1) { return 0; } return x + 1; }\n";

fn state(rng: &mut Rng, name: &str) -> String {
    format!("  state {name} {{ entry {{\n{}  }}\n{} }}\n", block(rng, 1), handlers(rng, false))
}

/// What a state does with events; as a rule with all of them.
fn handlers(rng: &mut Rng, first: bool) -> String {
    let mut text = String::new();
    for event in EVENTS.iter().chain(&["eUnit"]) {
        let number = *event == "eC";
        match rng.u8(..12) {
            0..=3 => _ = writeln!(text, "    ignore {event};"),
            4..=5 if *event != "eUnit" => _ = writeln!(text, "    defer {event};"),
            6 if number => _ = writeln!(text, "    on {event} do (x: int) {{ n = Twice(x);\n{}    }}", block(rng, 1)),
            6 | 7 => _ = writeln!(text, "    on {event} do {{\n{}    }}", block(rng, 1)),
            8 => _ = writeln!(text, "    on {event} goto Other with {{ n = 0; }}"),
            9 | 10 => _ = writeln!(text, "    on {event} goto Other;"),
            _ if first || rng.bool() => _ = writeln!(text, "    ignore {event};"),
            _ => {}
        }
    }
    if rng.u8(..6) == 0 {
        let _ =
            writeln!(text, "    on null do {{ if (n < 2) {{ n = n + 1; send this, eUnit; }} else {{ raise halt; }} }}");
    }
    if rng.u8(..6) == 0 {
        text.push_str("    exit { n = 0; }\n");
    }
    text
}

/// Statements.
fn block(rng: &mut Rng, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..rng.usize(0..3) {
        let event = EVENTS[rng.usize(..EVENTS.len())];
        let payload = if event == "eC" { ", n" } else { "" };
        let line = match rng.u8(..17) {
            0..=4 => format!("if (sizeof(peers) > 0) {{ send peers[0], {event}{payload}; }}"),
            5 => format!("if (sizeof(peers) > 0) {{ send choose(peers), {event}{payload}; }}"),
            6 => format!("send this, {event}{payload};"),
            7 => "n = Twice(n);".to_owned(),
            8 if depth > 0 => {
                let choice = ["$", "$$"][rng.usize(..2)];
                format!("if ({choice}) {{\n{}    }} else {{\n{}    }}", block(rng, depth - 1), block(rng, depth - 1))
            }
            9 => format!("assert n < {};", rng.u8(2..4)),
            10 if depth > 0 => {
                let null = if rng.bool() { "case null: { }" } else { "" };
                format!("receive {{ case {event}: {{\n{}    }} {null} }}", block(rng, 0))
            }
            11 => "raise eUnit;".to_owned(),
            12 if rng.u8(..4) == 0 => "raise halt;".to_owned(),
            13 => "if (sizeof(peers) > 0) { send peers[0], halt; }".to_owned(),
            14 => ["up = up + 1;", "down = down + 1;", "up = up + 1; down = down + 1;"][rng.usize(..3)].to_owned(),
            15 => format!("assert up != down + {};", rng.u8(1..3)),
            16 => ["if (up == down) { up = up + 1; }", "down = up - 1;", "if (up > 2) { up = 0; }"][rng.usize(..3)]
                .to_owned(),
            _ => "announce eB;".to_owned(),
        };
        let ends = line.starts_with("raise");
        let _ = writeln!(text, "      {line}");
        if ends {
            break;
        }
    }
    text
}

/// A formula about queues.
pub fn formula(rng: &mut Rng, depth: usize) -> String {
    let event = EVENTS[rng.usize(..EVENTS.len())];
    let comparison = ["<", "<=", "=", "!=", ">=", ">"][rng.usize(..6)];
    let (form, number) = (rng.u8(..9), rng.u8(..3));
    let mut inner = || formula(rng, depth.saturating_sub(1));
    match (depth, form) {
        (0, 0..3) => event.to_owned(),
        (0, 3) => "empty".to_owned(),
        (0, 4) => "true".to_owned(),
        (0, _) => format!("#{event} {comparison} {number}"),
        (_, 0) => format!("!({})", inner()),
        (_, 1) => format!("({}) & ({})", inner(), inner()),
        (_, 2) => format!("({}) | ({})", inner(), inner()),
        (_, 3) => format!("({}) => ({})", inner(), inner()),
        (_, 4) => format!("X ({})", inner()),
        (_, 5) => format!("F ({})", inner()),
        _ => format!("G ({})", inner()),
    }
}
