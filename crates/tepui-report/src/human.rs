//! The report for people: the verdict, why, the smallest bound, what to do next; then the schedule, if there is one.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use tepui_core::{Facts, Limit, PropertyOutcome, Reason, Refuted, Status, Stop, Story, Verdict};
use tepui_lang::diagnostic::is_hidden;

use crate::{Report, about, bytes, count, grouped, invariant, seconds, story, visible, visible_lines};

/// Violating views shown of many.
const SHOWN_VIEWS: usize = 8;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

pub(crate) fn colour(status: Status) -> Style {
    let colour = match status {
        Status::Safe => AnsiColor::Green,
        Status::Unsafe => AnsiColor::Red,
        Status::Unknown => AnsiColor::Yellow,
    };
    Style::new().bold().fg_color(Some(colour.into()))
}

pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The report, with colours in it.
pub fn render(report: &Report<'_>) -> String {
    let mut out = headline(report);
    if report.brief && report.outcome.status() == Status::Safe {
        out.extend(facts(report).iter().filter(|(label, _)| BRIEFLY.contains(label)).map(fact_line));
        return out;
    }
    out.push('\n');
    let several = report.outcome.properties.len() > 1;
    if several {
        out.extend(property_lines(report).into_iter().map(|line| format!("  {line}\n")));
        out.push('\n');
    }
    let facts = facts(report);
    if facts.is_empty() {
        out.truncate(out.trim_end().len() + 1);
    }
    out.extend(facts.iter().map(fact_line));
    for (number, property) in report.outcome.properties.iter().enumerate() {
        if property.verdict.status() == Status::Unsafe {
            out.push('\n');
            if several {
                let _ = writeln!(out, "  {}", paint(BOLD, &visible(&property.name)));
            }
            out.push_str(&report.story(number).map_or(String::new(), |told| story::render(told, report.stacks)));
        }
    }
    out.extend(report.invariant.map(invariant::render));
    for next in next_steps(report) {
        let _ = write!(out, "\n  {} {next}", paint(DIM, "next:"));
    }
    out.push('\n');
    out
}

/// What is said where little is.
const BRIEFLY: [&str; 4] = ["why", "proof", "evidence", "note"];

fn fact_line((label, text): &(&str, String)) -> String {
    format!("  {}{}\n", paint(DIM, &format!("{label:<9} ")), visible_lines(text))
}

/// More properties than this are listed together, if they are not violated.
const MANY_PROPERTIES: usize = 6;

/// What became of each property.
fn property_lines(report: &Report<'_>) -> Vec<String> {
    let properties = &report.outcome.properties;
    let many = properties.len() > MANY_PROPERTIES;
    let single = |property: &PropertyOutcome| !many || property.verdict.status() == Status::Unsafe;
    let numbered = properties.iter().enumerate().filter(|(_, property)| single(property));
    let mut lines: Vec<_> = numbered.map(|(number, property)| property_line(report, number, property)).collect();
    for status in [Status::Safe, Status::Unknown] {
        let own = properties.iter().filter(|property| many && property.verdict.status() == status);
        let names: Vec<_> = own.map(|property| visible(&property.name)).collect();
        if !names.is_empty() {
            lines.push(format!("{}{}", paint(colour(status), &format!("{:<8}", status.word())), names.join(", ")));
        }
    }
    lines
}

fn headline(report: &Report<'_>) -> String {
    let status = report.outcome.status();
    let file = match report.test {
        Some(test) => format!("{} {}", visible(report.file), visible(test)),
        None => visible(report.file).into_owned(),
    };
    if report.asks_nothing() {
        let word = paint(colour(status), "NOTHING TO PROVE");
        return format!("{word}  {file}: no property is asked for\n");
    }
    let word = paint(colour(status), &status.word().to_uppercase());
    let open = report.open;
    let says = match status {
        Status::Safe if open => "all views are known; there is no property to violate".to_owned(),
        Status::Safe if report.outcome.properties.len() > MANY_PROPERTIES => {
            format!("no schedule violates any of its {} properties", report.outcome.properties.len())
        }
        Status::Safe => format!("no schedule violates {}", names(report, Status::Safe)),
        Status::Unsafe => match report
            .outcome
            .properties
            .iter()
            .filter(|property| property.verdict.status() == Status::Unsafe)
            .count()
        {
            1 => format!("a schedule violates {}", names(report, Status::Unsafe)),
            _ => format!("schedules violate {}", names(report, Status::Unsafe)),
        },
        Status::Unknown if !report.proving && report.outcome.iterations.is_empty() => "nothing was explored".to_owned(),
        Status::Unknown if !report.proving && stopped_early(report) => {
            "no violation so far; the bound was not reached".to_owned()
        }
        Status::Unknown if !report.proving && open => {
            "explored within the bound; there is no property to violate".to_owned()
        }
        Status::Unknown if !report.proving => {
            "no violation within the bound; bounded exploration proves nothing".to_owned()
        }
        Status::Unknown => "neither a violation nor a proof was found".to_owned(),
    };
    format!("{word}  {file}: {says}\n")
}

/// Whether bounded exploration ended before its bound.
fn stopped_early(report: &Report<'_>) -> bool {
    let mut reasons = report.outcome.properties.iter().filter_map(|property| match &property.verdict {
        Verdict::Unknown(reason) => Some(reason),
        Verdict::Safe(_) | Verdict::Unsafe(_) => None,
    });
    reasons.any(|reason| *reason != Reason::Limit(Limit::Bound))
}

fn names(report: &Report<'_>, status: Status) -> String {
    let with = report.outcome.properties.iter().filter(|property| property.verdict.status() == status);
    with.map(|property| visible(&property.name)).collect::<Vec<_>>().join(", ")
}

fn property_line(report: &Report<'_>, number: usize, property: &PropertyOutcome) -> String {
    let status = property.verdict.status();
    let word = paint(colour(status), &format!("{:<8}", status.word()));
    match &property.verdict {
        Verdict::Unsafe(refuted) => {
            let way = || match report.story(number).map(Story::length) {
                Some((number, unit @ "context")) => format!("with {}", count(number, unit)),
                Some((number, unit)) => format!("in {}", count(number, unit)),
                None => "with a trace".to_owned(),
            };
            let bound = refuted.bound().map_or_else(way, |bound| format!("{bound}, the fewest"));
            format!("{word}{} ({bound})", visible(&property.name))
        }
        Verdict::Safe(_) | Verdict::Unknown(_) => format!("{word}{}", visible(&property.name)),
    }
}

fn facts(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let outcome = report.outcome;
    if report.asks_nothing() {
        return report.about.iter().flat_map(|about| about::facts(about, outcome)).collect();
    }
    let mut facts = Vec::new();
    let several = outcome.properties.len() > 1;
    for (number, property) in outcome.properties.iter().enumerate() {
        let why = match &property.verdict {
            Verdict::Safe(proven) => proven.evidence().because.clone(),
            // With several properties, the lines above say it.
            Verdict::Unsafe(_) if several => continue,
            Verdict::Unsafe(refuted) => refuted_text(refuted, report.story(number)),
            Verdict::Unknown(reason) => reason_text(reason, outcome.raised),
        };
        let label = match property.verdict.status() {
            Status::Safe if several => "proof",
            Status::Unknown if several => "unknown",
            _ => "why",
        };
        if !facts.contains(&(label, why.clone())) {
            facts.push((label, why));
        }
    }
    facts.extend(report.about.iter().flat_map(|about| about::facts(about, outcome)));
    facts.extend(outcome.obstacles.iter().map(|obstacle| ("obstacle", obstacle.clone())));
    facts.extend(violating(report));
    let last = outcome.iterations.last();
    if let (Some(cutoff), Some(last)) = (outcome.cutoff, last) {
        let all = match last.views {
            _ if !outcome.has_views() => "no execution needs".to_owned(),
            1 => "the only view that can be reached does not need".to_owned(),
            views => format!("none of the {} views that can be reached needs", grouped(views)),
        };
        facts.push(("cutoff", format!("{cutoff}: {all} more")));
        if cutoff.amounts().len() > 1 && outcome.evidence().is_some_and(|evidence| evidence.kind != "closure") {
            facts.push(("bound", format!("the plateau that proves it ends at {}", last.bound)));
        }
    } else if last.is_some_and(|last| !last.approximations.is_empty()) {
        facts.extend(refinements(report));
    } else if outcome.reduced && outcome.evidence().is_some() {
        facts.push(("reduced", "steps that cannot disturb others were explored in one order".to_owned()));
    } else if outcome.evidence().is_some() && outcome.status() == Status::Safe && outcome.has_views() {
        let views = last.map_or(0, |last| last.views);
        facts.push(("views", format!("{} can be reached, and no others", views_text(views, outcome.view))));
    } else if let Some(reached) =
        bound_reached(report).filter(|_| !outcome.from_above || outcome.status() != Status::Safe)
    {
        facts.push(("bound", reached));
    }
    if let Some(last) = last {
        let stored = outcome.stored[usize::from(last.states != 1)];
        let views = match last.approximations.is_empty() {
            _ if !outcome.has_views() => String::new(),
            true => format!(", {}", count(last.views, view_word(outcome.view))),
            false => format!(", {} of them", count(last.steps, "combination")),
        };
        let numbers = format!("{} {stored}{views}", grouped(last.states));
        let cost = format!("{}, {}", seconds(report.seconds), bytes(report.peak_memory_bytes));
        facts.push(("engine", format!("{}: {numbers}; {cost}", outcome.engine.name)));
    } else {
        facts.push(("engine", outcome.engine.name.to_owned()));
    }
    facts.extend(outcome.remarks.iter().map(|remark| ("note", remark.clone())));
    facts.extend(written(report));
    facts
}

/// The views that violate a property; those of a program are longer, and have a line each.
fn violating(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let (views, told) = (&report.outcome.violating, report.violating);
    let number = count(views.len() as u64, "violating view");
    let more = views.len() > SHOWN_VIEWS;
    if views.is_empty() {
        return Vec::new();
    }
    if told.is_empty() {
        let shown = views.iter().take(SHOWN_VIEWS).cloned().collect::<Vec<_>>().join("  ");
        return vec![("found", format!("{number}: {shown}{}", if more { " ..." } else { "" }))];
    }
    let lines = told.iter().take(SHOWN_VIEWS).map(|view| ("", view.clone()));
    [("found", number)].into_iter().chain(lines).chain(more.then(|| ("", "...".to_owned()))).collect()
}

/// Rounds shown of many.
const SHOWN_ROUNDS: usize = 6;

/// Queries whose rounds are shown.
const SHOWN_QUERIES: usize = 3;

/// For each target the lengths up to which the threads' words were exact, round by round.
fn refinements(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let records = || report.outcome.iterations.iter().flat_map(|iteration| &iteration.approximations);
    let mut targets: Vec<(&str, usize)> = Vec::new();
    for record in report.outcome.iterations.iter().take(1).flat_map(|first| &first.approximations) {
        targets.push((&record.property, record.target));
    }
    let text = |lengths: &Vec<u32>| match lengths.as_slice() {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => first.to_string(),
        _ => format!("({})", lengths.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
    };
    let mut facts = Vec::new();
    for &(property, target) in targets.iter().take(SHOWN_QUERIES) {
        let own = records().filter(|record| (record.property.as_str(), record.target) == (property, target));
        let mut rounds: Vec<_> = own.map(|record| text(&record.lengths)).collect();
        rounds.dedup();
        let hidden = rounds.len().saturating_sub(SHOWN_ROUNDS);
        let before = if hidden > 0 { format!("... {hidden} more, then ") } else { String::new() };
        let name = if targets.len() > 1 { format!("{property}, target {target}: ") } else { String::new() };
        facts.push(("lengths", format!("{name}{before}{}", rounds[hidden..].join(", "))));
    }
    if targets.len() > SHOWN_QUERIES {
        let more = count((targets.len() - SHOWN_QUERIES) as u64, "more target");
        facts.push(("lengths", format!("... and of {more}")));
    }
    facts
}

/// A number of views; where they are views of something, that comes last.
fn views_text(number: u64, view: &str) -> String {
    match view.split_once(' ') {
        Some((view, of)) => format!("{} {of}", count(number, view)),
        None => count(number, view),
    }
}

/// What a view is, without what it is a view of.
fn view_word(view: &str) -> &str {
    view.split_once(' ').map_or(view, |(view, _)| view)
}

fn refuted_text(refuted: &Refuted, story: Option<&Story>) -> String {
    if story.is_some_and(|story| story.steps.is_empty()) {
        return "the initial state violates the property".to_owned();
    }
    let length = || story.map_or((0, "step"), Story::length);
    match (refuted.bound(), length()) {
        (Some(bound), _) if bound.amounts() == [1] => format!("{bound} is enough"),
        (Some(bound), _) if bound.amounts().len() == 1 => format!("{bound} are enough, and fewer are not"),
        (Some(bound), _) => format!("{bound} are enough, and less of either is not"),
        (None, (1, unit)) => format!("{} is enough", count(1, unit)),
        (None, (number, unit)) => format!("{} are enough", count(number, unit)),
    }
}

fn bound_reached(report: &Report<'_>) -> Option<String> {
    if report.outcome.status() == Status::Unsafe && report.outcome.conclusive() {
        return None;
    }
    let iterations = &report.outcome.iterations;
    let complete = iterations.iter().rev().find(|iteration| iteration.complete)?;
    let newest = iterations.iter().rev().find(|iteration| iteration.complete && iteration.new_views > 0)?;
    let plateau = match complete.bound == newest.bound {
        true => String::new(),
        false => {
            let view = view_word(report.outcome.view);
            format!("; no new {view} beyond {}, which proves nothing", newest.bound)
        }
    };
    let explored = report.outcome.raised.explored.replace("{}", &complete.bound.to_string());
    Some(explored + &plateau)
}

fn written(report: &Report<'_>) -> Vec<(&'static str, String)> {
    let checked = if report.self_checked { " (checked in this run)" } else { "" };
    let mut facts = Vec::new();
    facts.extend(report.certificate.map(|path| ("evidence", format!("{}{checked}", visible(path)))));
    facts.extend(report.trace.map(|path| ("trace", format!("{}{checked}", visible(path)))));
    facts.extend(report.views.map(|path| ("views", visible(path).into_owned())));
    facts.extend(report.svg.map(|path| ("chart", visible(path).into_owned())));
    if report.asked.0 && report.certificate.is_none() {
        facts.push(("evidence", "none written: nothing was proved".to_owned()));
    }
    if report.asked.1 && report.trace.is_none() {
        facts.push(("trace", "none written: nothing was violated".to_owned()));
    }
    if report.asked_invariant && report.invariant.is_none() {
        let why = match report.outcome.evidence() {
            Some(_) => "a limit was reached while it was read off the proof",
            None => "nothing was proved",
        };
        facts.push(("invariant", format!("none: {why}")));
    }
    if facts.is_empty() && report.self_checked && report.outcome.status() != Status::Unknown {
        facts.push(("evidence", "accepted by the independent checker".to_owned()));
    }
    facts
}

/// Why there is no answer, in words; a limit of the bound is about its resource.
pub(crate) fn reason_text(reason: &Reason, raised: &Facts) -> String {
    match reason {
        Reason::Limit(Limit::Bound) => raised.at_limit.to_owned(),
        Reason::Untraced { property, stop: Stop::Limit(Limit::Bound) } => {
            format!("a violation of {property} was found, but no schedule was constructed: {}", raised.at_limit)
        }
        reason => reason.to_string(),
    }
}

fn next_steps(report: &Report<'_>) -> Vec<String> {
    let outcome = report.outcome;
    let reason = outcome.properties.iter().find_map(|property| match &property.verdict {
        Verdict::Unknown(Reason::Untraced { stop, .. }) => Some(Reason::from(stop.clone())),
        Verdict::Unknown(reason) => Some(reason.clone()),
        Verdict::Safe(_) | Verdict::Unsafe(_) => None,
    });
    let mut next = Vec::new();
    match reason {
        Some(Reason::Limit(Limit::Bound)) if !report.proving => {
            next.push(format!("tepui verify {} looks for a proof", report.again));
        }
        Some(Reason::Limit(Limit::Bound)) if !outcome.raised.restarts => {
            next.push("raise --bound-limit, or leave it out".to_owned());
        }
        Some(Reason::Limit(Limit::Time)) => next.push("raise --timeout".to_owned()),
        Some(Reason::Limit(Limit::Work)) => next.push("raise --work".to_owned()),
        Some(Reason::Limit(Limit::Memory)) => next.push("raise --memory, or try another --engine".to_owned()),
        Some(Reason::Limit(Limit::FirstViolation)) => {
            next.push("leave out --stop-at-first to decide the other properties as well".to_owned());
        }
        Some(Reason::Limit(Limit::Interrupt)) => {
            let bound = if report.proving { ", --bound-limit K at a bound" } else { "" };
            next.push(format!("--timeout DURATION stops by itself{bound}"));
        }
        Some(Reason::NothingAsked) => {
            next.push(report.ask.to_owned());
            next.push("--all-views proves which views can be reached".to_owned());
        }
        _ => {}
    }
    let having = |status| outcome.properties.iter().filter(move |property| property.verdict.status() == status);
    if having(Status::Unsafe).next().is_some() {
        next.push(match report.trace {
            Some(path) if path.ends_with(".json") => {
                "--trace FILE writes the schedule for `tepui replay`, if the name does not end in .json".to_owned()
            }
            Some(path) => format!("tepui replay {} {}", quoted(path), report.again),
            None => "--trace FILE writes the schedule for `tepui replay`".to_owned(),
        });
    }
    next.extend(report.advice.iter().cloned());
    if having(Status::Safe).next().is_some() {
        let all = having(Status::Safe).count() == outcome.properties.len();
        let some: String =
            having(Status::Safe).map(|property| format!(" --property {}", quoted(&property.name))).collect();
        let claim = if all { "" } else { some.as_str() };
        if report.open {
            next.push(format!("no property was checked: {}", report.ask));
        }
        next.push(match report.certificate {
            Some(path) => format!("tepui check {} {}{claim}", quoted(path), report.again),
            None => "--certificate FILE writes evidence that `tepui check` verifies".to_owned(),
        });
    }
    next
}

/// A word for a shell. What cannot be seen is spelled out, as most shells read it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/+:,=@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.chars().any(is_hidden) {
        format!("$'{}'", word.chars().map(spelled).collect::<String>())
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A character between `$'` and `'`.
fn spelled(c: char) -> String {
    match c {
        '\'' | '\\' => format!("\\{c}"),
        c if is_hidden(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}
