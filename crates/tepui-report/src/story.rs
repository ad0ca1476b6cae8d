//! Stories, for people and for programs.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use tepui_core::Status;
use tepui_core::story::{Mark, Situation, Step, Story, Unit, Values};
use tepui_core::text::cut;

use crate::human::{BOLD, DIM, colour, paint};
use crate::{chart, count, visible};

/// Steps shown of a long story: so many at its start and at its end.
const SHOWN_AT_ENDS: usize = 25;

/// Whether a step of so many is left out, and how many are, if it is the first one.
fn left_out(index: usize, count: usize) -> Option<Option<usize>> {
    let middle = SHOWN_AT_ENDS..count.saturating_sub(SHOWN_AT_ENDS);
    (middle.len() > 1 && middle.contains(&index)).then(|| (index == middle.start).then_some(middle.len()))
}

/// For people: contexts marked, each step with its line, its text and what it changed. `stacks` adds the calls that the
/// actor is in.
pub(crate) fn render(story: &Story, stacks: bool) -> String {
    if chart::is_chart(story) {
        return chart::render(story);
    }
    let steps: Vec<_> = (1..).zip(&story.steps).filter(|(_, step)| !is_idle(step)).collect();
    let widest =
        |cell: fn(&Step) -> String| steps.iter().map(|(_, step)| cell(step).chars().count()).max().unwrap_or(0);
    let (places, texts) = (widest(place), widest(text));
    let mut out = start(story);
    let (mut context, mut hidden) = (0, false);
    for (index, (number, step)) in steps.iter().enumerate() {
        let begins = index == 0 || actors(steps[index - 1].1) != actors(step);
        context += usize::from(begins);
        if let Some(more) = left_out(index, steps.len()) {
            out.extend(more.map(|more| format!("    {}\n", paint(DIM, &format!("... {more} more steps ...")))));
            hidden = true;
            continue;
        }
        out.push_str(&delays(story, step));
        if story.unit == Unit::Contexts && (std::mem::take(&mut hidden) || begins) {
            let _ = writeln!(out, "  {}", paint(BOLD, &format!("context {context}: {}", visible(&names(story, step)))));
        }
        // A column without any line is left out.
        let place =
            if places == 0 { String::new() } else { format!("{:<width$} ", place(step), width = places.max(9)) };
        let line = format!("    {number:<4} {place}{:<texts$}   {}", visible(&text(step)), says(step));
        let _ = writeln!(out, "{}", line.trim_end());
        out.push_str(&asides(story, step, stacks));
    }
    out.extend(story.end.iter().map(|end| format!("    {}\n", visible(end))));
    if let hidden @ 1.. = story.steps.len() - steps.len() {
        let steps = format!("not shown: {} without effect", count(hidden as u64, "step"));
        let _ = writeln!(out, "    {}", paint(DIM, &steps));
    }
    out
}

/// Whether nothing happens in a step, and there is nothing else to tell of it.
fn is_idle(step: &Step) -> bool {
    let unchanged = matches!(&step.after, Situation::Values(values) if values.is_empty());
    step.is(Mark::Idle) && unchanged && step.violation().is_none() && step.delayed().next().is_none()
}

fn actors(step: &Step) -> Vec<usize> {
    step.moves.iter().map(|own| own.actor).collect()
}

fn start(story: &Story) -> String {
    let situation = match &story.start {
        Situation::Values(values) => values_text(values),
        Situation::State(state) => visible(state).into_owned(),
    };
    if situation.is_empty() { situation } else { format!("    {}\n", paint(DIM, &format!("start: {situation}"))) }
}

fn values_text(values: &Values) -> String {
    let texts: Vec<_> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    visible(&texts.join(", ")).into_owned()
}

fn names(story: &Story, step: &Step) -> String {
    let names = step.moves.iter().filter_map(|own| story.actors.get(own.actor));
    names.cloned().collect::<Vec<_>>().join(", ")
}

fn name(story: &Story, actor: usize) -> &str {
    story.actors.get(actor).map_or("?", String::as_str)
}

/// Who was passed by before a step. This comes before the line with which a context begins, since it happens earlier.
fn delays(story: &Story, step: &Step) -> String {
    step.delayed().map(|actor| format!("    {} is delayed\n", visible(name(story, actor)))).collect()
}

/// The lines of a step; nothing, if it has none.
fn place(step: &Step) -> String {
    let lines: Vec<_> = step.moves.iter().filter(|own| own.line > 0).map(|own| own.line.to_string()).collect();
    if lines.is_empty() { String::new() } else { format!("line {}", lines.join(", ")) }
}

/// What happens in a step. Statements may be long, and their lines tell where the rest is.
fn text(step: &Step) -> String {
    let own = || step.moves.first().map_or("", |own| own.text.as_str());
    let text = step.action.as_deref().unwrap_or_else(own);
    if matches!(step.after, Situation::Values(_)) { cut(text) } else { text.to_owned() }
}

/// What comes of a step.
fn says(step: &Step) -> String {
    if let Some(how) = step.violation() {
        return paint(colour(Status::Unsafe), how);
    }
    match (&step.branch, &step.after) {
        (Some(branch), _) => branch.to_string(),
        (None, Situation::Values(values)) => values_text(values),
        (None, Situation::State(state)) => visible(state).into_owned(),
    }
}

/// What else is told of a step, in lines of its own.
fn asides(story: &Story, step: &Step, stacks: bool) -> String {
    let mut out = String::new();
    for message in &step.messages {
        let sent = match message.from == message.to {
            true => format!("{} to itself: {}", name(story, message.from), message.text),
            false => format!("{} -> {}: {}", name(story, message.from), name(story, message.to), message.text),
        };
        let _ = writeln!(out, "         {}", visible(&sent));
    }
    if stacks && !step.stack.is_empty() {
        let stack: Vec<_> = step.stack.iter().map(|(name, line)| format!("{name}:{line}")).collect();
        let _ = writeln!(out, "         {}", paint(DIM, &format!("in {}", visible(&stack.join(" > ")))));
    }
    out
}

/// For programs: the start and the steps.
pub(crate) fn values(story: &Story) -> (Value, Value) {
    let start = match &story.start {
        Situation::Values(values) => object(values),
        Situation::State(state) => state.as_str().into(),
    };
    (start, story.steps.iter().map(|step| step_value(story, step)).collect())
}

fn object(values: &Values) -> Value {
    values.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
}

/// A step: with the moves of all who take part, where they act together, and else with the one that there is.
fn step_value(story: &Story, step: &Step) -> Value {
    let mut moves: Vec<_> = step.moves.iter().map(|own| move_value(story, own)).collect();
    let mut fields = match &step.action {
        Some(action) => {
            Map::from_iter([("action".to_owned(), action.as_str().into()), ("moves".to_owned(), moves.into())])
        }
        None if moves.is_empty() => Map::new(),
        None => moves.swap_remove(0),
    };
    match &step.after {
        Situation::State(state) => _ = fields.insert("state".to_owned(), state.as_str().into()),
        Situation::Values(changed) => {
            let frame = |(procedure, line): &(String, usize)| json!({ "procedure": procedure, "line": line });
            fields.insert("changed".to_owned(), object(changed));
            fields.insert("stack".to_owned(), step.stack.iter().map(frame).collect());
            fields.insert("branch".to_owned(), step.branch.into());
            fields.insert("failed".to_owned(), step.violation().is_some().into());
        }
    }
    let name = |actor: usize| story.actors.get(actor);
    if !step.messages.is_empty() {
        let message =
            |one: &tepui_core::story::Message| json!({ "from": name(one.from), "to": name(one.to), "text": one.text });
        fields.insert("messages".to_owned(), step.messages.iter().map(message).collect());
    }
    if step.delayed().next().is_some() {
        fields.insert("delayed".to_owned(), step.delayed().map(|actor| json!(name(actor))).collect());
    }
    Value::Object(fields)
}

fn move_value(story: &Story, own: &tepui_core::story::Move) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("thread".to_owned(), story.actors.get(own.actor).cloned().into());
    if let Some(procedure) = &own.procedure {
        fields.insert("procedure".to_owned(), procedure.as_str().into());
    }
    fields.insert(story.text.to_owned(), own.text.as_str().into());
    fields.insert("line".to_owned(), own.line.into());
    if let Some(file) = &own.file {
        fields.insert("file".to_owned(), file.as_str().into());
    }
    if let Some(column) = own.column {
        fields.insert("column".to_owned(), column.into());
    }
    fields
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tepui_core::story::{Message, Move};

    fn sample() -> Story {
        let own = |actor, text: &str| Move {
            actor,
            text: text.to_owned(),
            procedure: None,
            file: None,
            line: 3,
            column: None,
        };
        let step = |actor, text: &str| Step::new(vec![own(actor, text)], Situation::State(format!("after {text}")));
        let message = Message { from: 0, to: 1, text: "ping".to_owned() };
        Story {
            actors: vec!["client".to_owned(), "server".to_owned()],
            text: "rule",
            unit: Unit::Contexts,
            start: Situation::State("at rest".to_owned()),
            steps: vec![Step { messages: vec![message], ..step(0, "send") }, step(1, "receive")],
            end: vec!["all is lost".to_owned()],
        }
        .with_contexts()
    }

    #[test]
    fn messages_are_told() {
        let text = anstream_free(&render(&sample(), false));
        let expected = "    start: at rest\n  context 1: client\n    1    line 3    send      after send\n         \
            client -> server: ping\n  context 2: server\n    2    line 3    receive   after receive\n    all is lost\n";
        assert_eq!(text, expected);
        let (_, steps) = values(&sample());
        assert_eq!(steps[0]["messages"], json!([{ "from": "client", "to": "server", "text": "ping" }]));
        assert_eq!((&steps[1]["thread"], &steps[1]["rule"]), (&json!("server"), &json!("receive")));
    }

    #[test]
    fn delays_are_told() {
        let mut story = sample();
        story.steps[1].marks.push(Mark::Delayed(0));
        let text = anstream_free(&render(&story, false));
        let expected = "client -> server: ping\n    client is delayed\n  context 2: server\n    2    line 3";
        assert!(text.contains(expected), "{text}");
        let (_, steps) = values(&story);
        assert_eq!((&steps[0]["delayed"], &steps[1]["delayed"]), (&Value::Null, &json!(["client"])));
    }

    #[test]
    fn an_idle_step_is_shown_where_someone_is_delayed() {
        let mut story = sample();
        story.steps[0].after = Situation::Values(Vec::new());
        story.steps[0].marks.push(Mark::Idle);
        assert!(anstream_free(&render(&story, false)).contains("not shown: 1 step"));
        story.steps[0].marks.push(Mark::Delayed(1));
        let text = anstream_free(&render(&story, false));
        assert!(text.contains("    server is delayed\n  context 1: client\n    1 "), "{text}");
    }

    /// A text without the codes for colours.
    pub(crate) fn anstream_free(text: &str) -> String {
        let mut parts = text.split('\u{1b}');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |out, part| out + part.split_once('m').map_or("", |(_, rest)| rest))
    }
}
